/*
 * Manifests of other writers' tables, entry by entry. corpus_manifests.txt has what PyIceberg reads
 * of each table's current snapshot: status, snapshot id, sequence numbers, content, file, format,
 * rows, bytes, number of lower bounds, bytes of upper bounds, partition values.
 */
#include "iceberg/fixture.h"

#include <inttypes.h>

#include "iceberg/manifest.h"

typedef struct dump {
    firn_buffer text;
} dump;

static size_t with_bounds; /* entries */

static void put_value(firn_buffer *out, const firn_value *value) {
    firn_error error;
    firn_status status = FIRN_OK;
    if (value->is_null) {
        status = firn_buffer_append_text(out, "null", &error);
    } else if (value->kind == FIRN_TYPE_BOOLEAN) {
        status = firn_buffer_append_text(out, value->as.boolean ? "true" : "false", &error);
    } else if (value->kind == FIRN_TYPE_INT || value->kind == FIRN_TYPE_DATE) {
        status = firn_buffer_printf(out, &error, "%" PRId32, value->as.int32);
    } else if (value->kind == FIRN_TYPE_FLOAT) {
        status = firn_buffer_printf(out, &error, "%.9g", (double)value->as.float32);
    } else if (value->kind == FIRN_TYPE_DOUBLE) {
        status = firn_buffer_printf(out, &error, "%.9g", value->as.float64);
    } else if (value->kind == FIRN_TYPE_DECIMAL) {
        status = firn_buffer_printf(out, &error, "%" PRId64, (int64_t)value->as.decimal);
    } else if (value->kind >= FIRN_TYPE_STRING) {
        for (size_t i = 0; i < value->as.bytes.size && status == FIRN_OK; i++) {
            status = firn_buffer_printf(out, &error, "%02x", value->as.bytes.data[i]);
        }
    } else {
        status = firn_buffer_printf(out, &error, "%" PRId64, value->as.int64);
    }
    check_ok(status, &error);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static firn_status print_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    firn_buffer *out = &((dump *)context)->text;
    const firn_data_file *file = &entry->file;
    size_t upper = 0;
    for (size_t i = 0; i < file->upper_bounds.count; i++)
        upper += file->upper_bounds.bounds[i].size;
    assert_true(entry->has_snapshot_id && entry->has_sequence_number);
    FIRN_TRY(firn_buffer_printf(
        out, error,
        "%d %" PRId64 " %" PRId64 " %" PRId64 " %d %s %s %" PRId64 " %" PRId64 " %zu %zu ",
        (int)entry->status, entry->snapshot_id, entry->sequence_number, entry->file_sequence_number,
        (int)file->content, base_name(file->path), firn_file_format_name(file->format),
        file->record_count, file->file_size_in_bytes, file->lower_bounds.count, upper));
    for (size_t i = 0; i < file->partition_count; i++) {
        if (i > 0) FIRN_TRY(firn_buffer_append_text(out, ",", error));
        put_value(out, &file->partition[i]);
    }
    return firn_buffer_append_text(out, file->partition_count == 0 ? "-\n" : "\n", error);
}

/** A file of a table's metadata folder, whatever folder its recorded path is in. */
static firn_buffer read_beside(const char *metadata_path, const char *recorded) {
    char path[1000];
    int folder = (int)(base_name(metadata_path) - metadata_path);
    snprintf(path, sizeof path, "%.*s%s", folder, metadata_path, base_name(recorded));
    return test_read_file(path);
}

typedef struct entry_list {
    firn_manifest_entry items[200];
    size_t count;
} entry_list;

static firn_status keep_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    entry_list *list = context;
    (void)error;
    assert_true(list->count < sizeof list->items / sizeof *list->items);
    list->items[list->count++] = *entry;
    return FIRN_OK;
}

static void read_with(firn_slice bytes, const firn_manifest_file *manifest,
                      const firn_partition_spec *spec, firn_manifest_metrics metrics,
                      firn_arena *arena, entry_list *out) {
    firn_error error;
    out->count = 0;
    check_ok(firn_manifest_read_known(bytes, manifest, spec, NULL, metrics, arena, keep_entry, out,
                                      &error),
             &error);
}

/* Entries without their metrics are those with them, less these. */
static void check_without_metrics(firn_slice bytes, const firn_manifest_file *manifest,
                                  const firn_partition_spec *spec, firn_arena *arena) {
    static entry_list whole, light;
    read_with(bytes, manifest, spec, FIRN_METRICS_ALL, arena, &whole);
    read_with(bytes, manifest, spec, FIRN_METRICS_NAN_COUNTS, arena, &light);
    assert_int_equal(whole.count, light.count);
    for (size_t i = 0; i < whole.count; i++) {
        firn_data_file expected = whole.items[i].file;
        with_bounds += expected.lower_bounds.present;
        firn_data_file_drop_metrics(&expected);
        assert_true(firn_data_file_equal(&expected, &light.items[i].file));
        assert_int_equal(whole.items[i].sequence_number, light.items[i].sequence_number);
        assert_int_equal(whole.items[i].status, light.items[i].status);
    }
}

static void read_manifest(const char *path, const firn_table_metadata *metadata,
                          const firn_manifest_file *manifest, firn_arena *arena, dump *out) {
    firn_error error;
    firn_buffer bytes = read_beside(path, manifest->path);
    /* Paths within this one were edited after it was written. */
    if (strstr(path, "big_query") == NULL) assert_int_equal(manifest->length, bytes.size);
    check_ok(firn_manifest_read(firn_buffer_slice(&bytes), manifest,
                                firn_table_metadata_spec(metadata, manifest->partition_spec_id),
                                arena, print_entry, out, &error),
             &error);
    check_without_metrics(firn_buffer_slice(&bytes), manifest,
                          firn_table_metadata_spec(metadata, manifest->partition_spec_id), arena);
    firn_buffer_release(&bytes);
}

static void read_snapshot(const char *path, const firn_table_metadata *metadata,
                          const firn_snapshot *snapshot, dump *out) {
    firn_error error;
    firn_arena *arena = firn_arena_new();
    const firn_manifest_file *files = NULL;
    size_t count = 0;
    if (snapshot->manifest_list != NULL) {
        firn_buffer list = read_beside(path, snapshot->manifest_list);
        check_ok(
            firn_manifest_list_read(firn_buffer_slice(&list), path, arena, &files, &count, &error),
            &error);
        firn_buffer_release(&list);
    }
    for (size_t i = 0; i < count; i++) read_manifest(path, metadata, &files[i], arena, out);
    for (size_t i = 0; i < snapshot->manifest_count; i++) {
        firn_manifest_file described;
        firn_buffer bytes = read_beside(path, snapshot->manifests[i]);
        check_ok(firn_manifest_describe(firn_buffer_slice(&bytes), snapshot->manifests[i],
                                        snapshot->snapshot_id, arena, &described, &error),
                 &error);
        firn_buffer_release(&bytes);
        read_manifest(path, metadata, &described, arena, out);
    }
    firn_arena_free(arena);
}

static firn_buffer dump_table(const char *name) {
    firn_error error;
    char path[1000];
    dump out = {firn_buffer_with_maximum(1 << 20)};
    snprintf(path, sizeof path, "%s/%s", test_corpus(), name);
    firn_buffer json = test_read_file(path);
    firn_table_metadata *metadata = NULL;
    check_ok(firn_table_metadata_parse(firn_buffer_slice(&json), name, &metadata, &error), &error);
    firn_buffer_release(&json);
    const firn_snapshot *snapshot =
        firn_table_metadata_snapshot(metadata, metadata->current_snapshot_id);
    assert_non_null(snapshot);
    read_snapshot(path, metadata, snapshot, &out);
    firn_table_metadata_free(metadata);
    check_ok(firn_buffer_append_byte(&out.text, 0, &error), &error);
    return out.text;
}

static void test_entries(void **state) {
    (void)state;
    test_corpus();
    FILE *list = fopen(FIRN_SOURCE_DIR "/tests/iceberg/corpus_manifests.txt", "r");
    assert_non_null(list);
    char line[2000];
    size_t tables = 0;
    while (fgets(line, sizeof line, list) != NULL) {
        char name[500];
        int entries = 0;
        assert_int_equal(sscanf(line, "table %499s %d", name, &entries), 2);
        firn_buffer found = dump_table(name);
        const char *at = (const char *)found.data;
        for (int i = 0; i < entries; i++) {
            assert_non_null(fgets(line, sizeof line, list));
            if (strncmp(at, line, strlen(line)) != 0) {
                fail_msg("%s\nexpected %sfound %.500s", name, line, at);
            }
            at += strlen(line);
        }
        assert_string_equal(at, "");
        firn_buffer_release(&found);
        tables++;
    }
    fclose(list);
    assert_true(tables > 25);
    assert_true(with_bounds > 100);
}

/* Everything nullable, no ids in maps, neither snapshot ids nor sequence numbers. */
static void test_big_query(void **state) {
    (void)state;
    firn_buffer found = dump_table("tables/big_query_error/metadata/v1749025517.metadata.json");
    print_message("%s", (const char *)found.data);
    assert_non_null(strstr((const char *)found.data, "-00001.parquet PARQUET 2 956 1 8 -\n"));
    firn_buffer_release(&found);
}

/* A v1 snapshot without a manifest list. */
static void test_embedded_manifests(void **state) {
    (void)state;
    firn_buffer found =
        dump_table("tables/iceberg_v1_deprecated/default/legacy_v1/metadata/v2.metadata.json");
    print_message("%s", (const char *)found.data);
    assert_true(found.size > 10);
    firn_buffer_release(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_big_query),
        cmocka_unit_test(test_embedded_manifests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
