#include "iceberg/manifest_fixture.h"

#include <math.h>

#include "avro/reader.h"

/*
 * What format/spec.md says a file of each version has, for format versions 1, 2, 3 in turn:
 * r required, o optional, . must not be written. `parent` 0 is the record itself.
 */
typedef struct spec_field {
    int32_t id, parent;
    const char *name, *type, *versions;
} spec_field;

static const spec_field entry_table[] = {
    {0, -1, "status", "int", "rrr"},
    {1, -1, "snapshot_id", "long", "roo"},
    {3, -1, "sequence_number", "long", ".oo"},
    {4, -1, "file_sequence_number", "long", ".oo"},
    {2, -1, "data_file", "record", "rrr"},
    {134, 2, "content", "int", ".rr"},
    {100, 2, "file_path", "string", "rrr"},
    {101, 2, "file_format", "string", "rrr"},
    {102, 2, "partition", "record", "rrr"},
    {103, 2, "record_count", "long", "rrr"},
    {104, 2, "file_size_in_bytes", "long", "rrr"},
    {105, 2, "block_size_in_bytes", "long", "r.."},
    {108, 2, "column_sizes", "map<117: int, 118: long>", "ooo"},
    {109, 2, "value_counts", "map<119: int, 120: long>", "ooo"},
    {110, 2, "null_value_counts", "map<121: int, 122: long>", "ooo"},
    {137, 2, "nan_value_counts", "map<138: int, 139: long>", "ooo"},
    {125, 2, "lower_bounds", "map<126: int, 127: bytes>", "ooo"},
    {128, 2, "upper_bounds", "map<129: int, 130: bytes>", "ooo"},
    {131, 2, "key_metadata", "bytes", "ooo"},
    {132, 2, "split_offsets", "list<133: long>", "ooo"},
    {135, 2, "equality_ids", "list<136: int>", ".oo"},
    {140, 2, "sort_order_id", "int", "ooo"},
    {142, 2, "first_row_id", "long", "..o"},
    {143, 2, "referenced_data_file", "string", ".oo"},
    {144, 2, "content_offset", "long", "..o"},
    {145, 2, "content_size_in_bytes", "long", "..o"},
};

static const spec_field list_table[] = {
    {500, -1, "manifest_path", "string", "rrr"},
    {501, -1, "manifest_length", "long", "rrr"},
    {502, -1, "partition_spec_id", "int", "rrr"},
    {517, -1, "content", "int", ".rr"},
    {515, -1, "sequence_number", "long", ".rr"},
    {516, -1, "min_sequence_number", "long", ".rr"},
    {503, -1, "added_snapshot_id", "long", "rrr"},
    {504, -1, "added_files_count", "int", "orr"},
    {505, -1, "existing_files_count", "int", "orr"},
    {506, -1, "deleted_files_count", "int", "orr"},
    {512, -1, "added_rows_count", "long", "orr"},
    {513, -1, "existing_rows_count", "long", "orr"},
    {514, -1, "deleted_rows_count", "long", "orr"},
    {507, -1, "partitions", "list<508: record>", "ooo"},
    {509, 507, "contains_null", "boolean", "rrr"},
    {518, 507, "contains_nan", "boolean", "ooo"},
    {510, 507, "lower_bound", "bytes", "ooo"},
    {511, 507, "upper_bound", "bytes", "ooo"},
    {519, -1, "key_metadata", "bytes", "ooo"},
    {520, -1, "first_row_id", "long", "..o"},
};

static void type_text(const firn_avro_schema *schema, char out[100]) {
    if (schema->kind == FIRN_AVRO_ARRAY && schema->logical == FIRN_AVRO_LOGICAL_MAP) {
        const firn_avro_field *pair = schema->items->fields;
        assert_int_equal(schema->items->count, 2);
        assert_string_equal(pair[0].name, "key");
        assert_string_equal(pair[1].name, "value");
        snprintf(out, 100, "map<%d: %s, %d: %s>", pair[0].id,
                 firn_avro_kind_name(pair[0].schema->kind), pair[1].id,
                 firn_avro_kind_name(pair[1].schema->kind));
    } else if (schema->kind == FIRN_AVRO_ARRAY) {
        snprintf(out, 100, "list<%d: %s>", schema->element_id,
                 firn_avro_kind_name(schema->items->kind));
    } else {
        snprintf(out, 100, "%s", firn_avro_kind_name(schema->kind));
    }
}

static void check_field(const firn_avro_field *field, char mode, const spec_field *expected) {
    assert_string_equal(field->name, expected->name);
    bool optional = field->schema->kind == FIRN_AVRO_UNION;
    assert_int_equal(optional, mode == 'o');
    if (optional) assert_int_equal(field->schema->branches[0]->kind, FIRN_AVRO_NULL);
    char text[100];
    type_text(firn_avro_schema_non_null(field->schema), text);
    assert_string_equal(text, expected->type);
}

/** The record is exactly what the table says below `parent`. */
static void check_record(const firn_avro_schema *record, int version, const spec_field *table,
                         size_t count, int32_t parent) {
    size_t due = 0;
    for (size_t i = 0; i < count; i++) {
        if (table[i].parent != parent || table[i].versions[version - 1] == '.') continue;
        const firn_avro_field *field = firn_avro_field_by_id(record, table[i].id);
        if (field == NULL) fail_msg("version %d has no %s", version, table[i].name);
        check_field(field, table[i].versions[version - 1], &table[i]);
        due++;
        const firn_avro_schema *inner = firn_avro_schema_non_null(field->schema);
        if (inner->kind == FIRN_AVRO_ARRAY) inner = inner->items;
        if (inner->kind == FIRN_AVRO_RECORD && (table[i].id == 2 || table[i].id == 507)) {
            check_record(inner, version, table, count, table[i].id);
        }
    }
    assert_int_equal(record->count, due);
}

static firn_avro_reader *open_avro(firn_slice bytes, firn_memory_file *memory) {
    firn_error error;
    *memory = (firn_memory_file){bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(memory, "m.avro");
    firn_avro_reader *reader = NULL;
    check_ok(firn_avro_reader_open(&file, 0, &reader, &error), &error);
    return reader;
}

static firn_status write_entries(const firn_table_metadata *metadata, bool deletes,
                                 const firn_manifest_entry *entries, size_t count, firn_buffer *out,
                                 firn_arena *arena, firn_manifest_file *file, firn_error *error) {
    firn_manifest_writer *writer = NULL;
    firn_status status;
    FIRN_CHECK(
        firn_manifest_writer_new(metadata, metadata->default_spec, deletes, 88, &writer, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(firn_manifest_writer_add(writer, &entries[i], error));
    }
    assert_int_equal(firn_manifest_writer_count(writer), count);
    assert_true(firn_manifest_writer_size(writer) > 1000);
    FIRN_CHECK(firn_manifest_writer_finish(writer, out, arena, file, error));
    file->path = "m.avro";
out:
    firn_manifest_writer_free(writer);
    return status;
}

static void test_schemas(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        firn_error error;
        firn_table_metadata *metadata = fx_every_type(version);
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        firn_arena *arena = firn_arena_new();
        firn_manifest_file file;
        firn_memory_file memory;
        check_ok(write_entries(metadata, false, NULL, 0, &out, arena, &file, &error), &error);
        firn_avro_reader *reader = open_avro(firn_buffer_slice(&out), &memory);
        const firn_avro_schema *schema = firn_avro_reader_schema(reader);
        check_record(schema, version, entry_table, sizeof entry_table / sizeof *entry_table, -1);
        assert_string_equal(firn_avro_reader_codec(reader), "deflate");
        firn_avro_reader_free(reader);
        firn_buffer_clear(&out);
        check_ok(
            firn_manifest_list_write(metadata, 88, false, 0, 5, &file, 1, 0, NULL, &out, &error),
            &error);
        reader = open_avro(firn_buffer_slice(&out), &memory);
        check_record(firn_avro_reader_schema(reader), version, list_table,
                     sizeof list_table / sizeof *list_table, -1);
        firn_avro_reader_free(reader);
        firn_buffer_release(&out);
        firn_arena_free(arena);
        firn_table_metadata_free(metadata);
    }
}

static void check_header(const firn_avro_reader *reader, const char *key, const char *value) {
    firn_slice found;
    bool present = firn_avro_reader_metadata(reader, key, &found);
    if (value == NULL) {
        assert_false(present);
        return;
    }
    assert_true(present);
    assert_int_equal(found.size, strlen(value));
    assert_memory_equal(found.data, value, found.size);
}

static void test_header(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        firn_error error;
        firn_table_metadata *metadata = fx_every_type(version);
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        firn_arena *arena = firn_arena_new();
        firn_manifest_file file;
        firn_memory_file memory;
        check_ok(write_entries(metadata, version == 3, NULL, 0, &out, arena, &file, &error),
                 &error);
        firn_avro_reader *reader = open_avro(firn_buffer_slice(&out), &memory);
        char text[2] = {(char)('0' + version), '\0'};
        check_header(reader, "format-version", text);
        check_header(reader, "schema-id", "4");
        check_header(reader, "partition-spec-id", "2");
        check_header(reader, "content", version == 1 ? NULL : version == 2 ? "data" : "deletes");
        firn_slice json;
        json_t *value = NULL;
        assert_true(firn_avro_reader_metadata(reader, "schema", &json));
        check_ok(firn_json_parse(json, "schema", &value, &error), &error);
        assert_int_equal(json_array_size(json_object_get(value, "fields")), FX_TYPE_COUNT);
        json_decref(value);
        assert_true(firn_avro_reader_metadata(reader, "partition-spec", &json));
        check_ok(firn_json_parse(json, "spec", &value, &error), &error);
        assert_true(json_is_array(value));
        const json_t *field = json_array_get(value, 1);
        assert_string_equal(json_string_value(json_object_get(field, "name")), "😎");
        assert_int_equal(json_integer_value(json_object_get(field, "field-id")), 1001);
        json_decref(value);
        firn_avro_reader_free(reader);
        firn_buffer_release(&out);
        firn_arena_free(arena);
        firn_table_metadata_free(metadata);
    }
}

/* Names that Java would have written, but ASCII only; two that collide are told apart. */
static void test_partition_schema(void **state) {
    (void)state;
    static const char *const expected[FX_TYPE_COUNT] = {
        "plain",         "_xD83D_xDE0E", "a_x2Eb_1002", "_9col",     "_xE9", "a_x2Eb_1005",
        "with_x20space", "_x",           "p8",          "p9",        "p10",  "p11",
        "p12",           "p13",          "p14",         "quote_x22d"};
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(2);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_file file;
    firn_memory_file memory;
    check_ok(write_entries(metadata, false, NULL, 0, &out, arena, &file, &error), &error);
    firn_avro_reader *reader = open_avro(firn_buffer_slice(&out), &memory);
    const firn_avro_field *data_file = firn_avro_field_by_id(firn_avro_reader_schema(reader), 2);
    const firn_avro_field *partition = firn_avro_field_by_id(data_file->schema, 102);
    assert_int_equal(partition->schema->count, FX_TYPE_COUNT);
    for (size_t i = 0; i < FX_TYPE_COUNT; i++) {
        const firn_avro_field *field = &partition->schema->fields[i];
        const char *original = metadata->default_spec->fields[i].name;
        assert_string_equal(field->name, expected[i]);
        assert_int_equal(field->id, 1000 + (int)i);
        if (strcmp(field->name, original) == 0) {
            assert_null(field->iceberg_name);
        } else {
            assert_string_equal(field->iceberg_name, original);
        }
    }
    const firn_avro_field *f = partition->schema->fields;
    /* Not every reader follows a reference to a type that is defined before. */
    assert_string_equal(firn_avro_schema_non_null(f[5].schema)->name, "decimal_9_2");
    assert_string_equal(firn_avro_schema_non_null(f[6].schema)->name, "decimal_9_2_1006");
    assert_int_equal(firn_avro_schema_non_null(f[5].schema)->fixed_size, 4);
    assert_int_equal(firn_avro_schema_non_null(f[15].schema)->fixed_size, 16);
    assert_int_equal(firn_avro_schema_non_null(f[12].schema)->logical, FIRN_AVRO_LOGICAL_UUID);
    firn_avro_reader_free(reader);
    firn_buffer_release(&out);
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

typedef struct seen {
    firn_manifest_entry entries[8];
    size_t count;
} seen;

static firn_status keep(void *context, const firn_manifest_entry *entry, firn_error *error) {
    seen *s = context;
    (void)error;
    assert_true(s->count < 8);
    s->entries[s->count++] = *entry;
    return FIRN_OK;
}

static void same_counts(const firn_count_map *a, const firn_count_map *b) {
    assert_int_equal(a->present, b->present);
    assert_int_equal(a->count, b->count);
    if (a->count == 0) return;
    assert_memory_equal(a->ids, b->ids, a->count * sizeof *a->ids);
    assert_memory_equal(a->counts, b->counts, a->count * sizeof *a->counts);
}

static void same_bounds(const firn_bound_map *a, const firn_bound_map *b) {
    assert_int_equal(a->present, b->present);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->ids[i], b->ids[i]);
        assert_true(firn_slice_equal(a->bounds[i], b->bounds[i]));
    }
}

static void same_text(const char *a, const char *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL) assert_string_equal(a, b);
}

/** The same file, less what format version `version` can't hold. */
static void same_file(const firn_data_file *a, const firn_data_file *b, int version) {
    assert_int_equal(a->content, b->content);
    assert_string_equal(a->path, b->path);
    assert_string_equal(a->format_text, b->format_text);
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->spec_id, b->spec_id);
    assert_int_equal(a->partition_count, b->partition_count);
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!firn_value_equal(&a->partition[i], &b->partition[i])) fail_msg("value %zu", i);
        assert_int_equal(a->partition[i].kind, b->partition[i].kind);
    }
    assert_true(a->record_count == b->record_count);
    assert_true(a->file_size_in_bytes == b->file_size_in_bytes);
    same_counts(&a->column_sizes, &b->column_sizes);
    same_counts(&a->value_counts, &b->value_counts);
    same_counts(&a->null_value_counts, &b->null_value_counts);
    same_counts(&a->nan_value_counts, &b->nan_value_counts);
    same_bounds(&a->lower_bounds, &b->lower_bounds);
    same_bounds(&a->upper_bounds, &b->upper_bounds);
    assert_true(firn_slice_equal(a->key_metadata, b->key_metadata));
    assert_int_equal(a->split_offset_count, b->split_offset_count);
    if (a->split_offset_count > 0) assert_true(a->split_offsets[1] == b->split_offsets[1]);
    assert_int_equal(a->equality_id_count, b->equality_id_count);
    if (a->equality_id_count > 0) assert_int_equal(a->equality_ids[0], b->equality_ids[0]);
    assert_int_equal(a->has_sort_order_id, b->has_sort_order_id);
    assert_int_equal(a->sort_order_id, b->sort_order_id);
    if (version >= 2) same_text(a->referenced_data_file, b->referenced_data_file);
    if (version < 3) return;
    assert_int_equal(a->has_first_row_id, b->has_first_row_id);
    assert_true(a->first_row_id == b->first_row_id);
    assert_int_equal(a->has_content_offset, b->has_content_offset);
    assert_true(a->content_offset == b->content_offset);
    assert_true(a->content_size_in_bytes == b->content_size_in_bytes);
}

static void round_trip(int version, firn_content content, bool null) {
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(version);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_file file;
    firn_value values[FX_TYPE_COUNT];
    fx_values(values, null);
    firn_manifest_entry entry = fx_entry(content, values);
    seen s = {0};
    check_ok(write_entries(metadata, content != FIRN_CONTENT_DATA, &entry, 1, &out, arena, &file,
                           &error),
             &error);
    file.sequence_number = version == 1 ? 0 : 9;
    check_ok(firn_manifest_read(firn_buffer_slice(&out), &file, metadata->default_spec, arena, keep,
                                &s, &error),
             &error);
    assert_int_equal(s.count, 1);
    same_file(&entry.file, &s.entries[0].file, version);
    assert_true(s.entries[0].snapshot_id == 21);
    assert_true(s.entries[0].sequence_number == (version == 1 ? 0 : 2));
    assert_true(s.entries[0].file_sequence_number == (version == 1 ? 0 : 3));
    firn_data_file copy;
    check_ok(firn_data_file_copy(&s.entries[0].file, arena, &copy, &error), &error);
    same_file(&s.entries[0].file, &copy, 3);
    firn_buffer_release(&out);
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

static void test_round_trip(void **state) {
    (void)state;
    for (int null = 0; null < 2; null++) {
        for (int version = 1; version <= 3; version++) {
            round_trip(version, FIRN_CONTENT_DATA, null == 1);
            if (version == 1) continue;
            round_trip(version, FIRN_CONTENT_POSITION_DELETES, null == 1);
            round_trip(version, FIRN_CONTENT_EQUALITY_DELETES, null == 1);
        }
    }
}

/* Numbers of ADDED entries are inherited; EXISTING and DELETED ones keep theirs; 0 is a number. */
static void test_numbers(void **state) {
    (void)state;
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(3);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_file file;
    firn_value values[FX_TYPE_COUNT];
    fx_values(values, false);
    firn_manifest_entry entries[4];
    for (size_t i = 0; i < 4; i++) entries[i] = fx_entry(FIRN_CONTENT_DATA, values);
    entries[0].status = FIRN_ENTRY_ADDED;
    entries[0].has_sequence_number = false;
    entries[1].status = FIRN_ENTRY_ADDED;
    entries[1].sequence_number = 7;
    entries[2].status = FIRN_ENTRY_DELETED;
    entries[2].sequence_number = 0;
    entries[3].sequence_number = 5;
    check_ok(write_entries(metadata, false, entries, 4, &out, arena, &file, &error), &error);
    assert_true(file.sequence_number == -1 && file.min_sequence_number == 5);
    assert_true(file.added_files_count == 2 && file.existing_files_count == 1);
    assert_true(file.deleted_files_count == 1 && file.added_rows_count == 10);
    assert_true(file.existing_rows_count == 5 && file.deleted_rows_count == 5);
    assert_true(file.length == (int64_t)out.size && file.partition_spec_id == 2);
    file.sequence_number = 9;
    file.has_first_row_id = true;
    file.first_row_id = 500;
    seen s = {0};
    check_ok(firn_manifest_read(firn_buffer_slice(&out), &file, metadata->default_spec, arena, keep,
                                &s, &error),
             &error);
    assert_true(s.entries[0].snapshot_id == 88 && s.entries[0].sequence_number == 9);
    assert_true(s.entries[0].file_sequence_number == 9 && s.entries[0].file.first_row_id == 500);
    assert_true(s.entries[1].sequence_number == 7 && s.entries[1].file_sequence_number == 9);
    assert_true(s.entries[1].file.first_row_id == 505);
    assert_true(s.entries[2].snapshot_id == 88 && s.entries[2].sequence_number == 0);
    assert_true(s.entries[2].file.first_row_id == 40);
    assert_true(s.entries[3].snapshot_id == 21 && s.entries[3].sequence_number == 5);
    firn_buffer_release(&out);
    /* iceberg-go PR#1147: 0 is a sequence number like any other */
    entries[3].sequence_number = 0;
    check_ok(write_entries(metadata, false, entries, 4, &out, arena, &file, &error), &error);
    assert_true(file.min_sequence_number == 0);
    firn_buffer_release(&out);
    check_ok(write_entries(metadata, false, entries, 1, &out, arena, &file, &error), &error);
    assert_true(file.min_sequence_number == -1);
    firn_buffer_release(&out);
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

static void test_summaries(void **state) {
    (void)state;
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(2);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_file file;
    firn_value values[3][FX_TYPE_COUNT];
    firn_manifest_entry entries[3];
    for (size_t i = 0; i < 3; i++) {
        fx_values(values[i], i == 2);
        entries[i] = fx_entry(FIRN_CONTENT_DATA, values[i]);
    }
    values[1][1].as.int32 = 3;
    values[1][3].as.float32 = 0.0F;
    values[1][4].as.float64 = (double)NAN;
    values[1][5].as.decimal = 5;
    check_ok(write_entries(metadata, false, entries, 3, &out, arena, &file, &error), &error);
    assert_int_equal(file.partition_count, FX_TYPE_COUNT);
    for (size_t i = 0; i < FX_TYPE_COUNT; i++) {
        assert_true(file.partitions[i].contains_null && file.partitions[i].has_contains_nan);
        assert_int_equal(file.partitions[i].contains_nan, i == 4);
        assert_non_null(file.partitions[i].lower_bound.data);
    }
    assert_memory_equal(file.partitions[1].lower_bound.data, "\xfb\xff\xff\xff", 4);
    assert_memory_equal(file.partitions[1].upper_bound.data, "\3\0\0\0", 4);
    assert_memory_equal(file.partitions[3].lower_bound.data, "\0\0\0\x80", 4);
    assert_memory_equal(file.partitions[3].upper_bound.data, "\0\0\0\0", 4);
    assert_true(firn_slice_equal(file.partitions[5].lower_bound, firn_slice_of("\xf0\xc9\xa7", 3)));
    assert_true(firn_slice_equal(file.partitions[5].upper_bound, firn_slice_of("\5", 1)));
    assert_int_equal(file.partitions[14].lower_bound.size, 0);
    firn_buffer_release(&out);
    check_ok(write_entries(metadata, false, &entries[2], 1, &out, arena, &file, &error), &error);
    assert_null(file.partitions[0].lower_bound.data);
    firn_buffer_release(&out);
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

static void refused(const firn_table_metadata *metadata, bool deletes,
                    const firn_manifest_entry *entry, firn_status code, const char *part) {
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_file file;
    check_fails(write_entries(metadata, deletes, entry, 1, &out, arena, &file, &error), code,
                &error, part);
    firn_buffer_release(&out);
    firn_arena_free(arena);
}

static void test_refused(void **state) {
    (void)state;
    firn_table_metadata *metadata = fx_every_type(2);
    firn_table_metadata *first = fx_every_type(1);
    firn_value values[FX_TYPE_COUNT];
    fx_values(values, false);
    firn_manifest_entry entry = fx_entry(FIRN_CONTENT_DATA, values);
    refused(first, true, &entry, FIRN_INVALID, "version 1");
    refused(metadata, true, &entry, FIRN_INVALID, "manifest of deletes");
    entry.has_sequence_number = false;
    refused(metadata, false, &entry, FIRN_INVALID, "no sequence number");
    entry.has_sequence_number = true;
    entry.has_snapshot_id = false;
    refused(metadata, false, &entry, FIRN_INVALID, "no snapshot id");
    entry.has_snapshot_id = true;
    entry.file.partition_count = 3;
    refused(metadata, false, &entry, FIRN_INVALID, "3 partition values");
    entry.file.partition_count = FX_TYPE_COUNT;
    values[1].kind = FIRN_TYPE_LONG;
    refused(metadata, false, &entry, FIRN_INVALID, "(id 1001)");
    fx_values(values, false);
    values[5].as.decimal = 1000000000;
    refused(metadata, false, &entry, FIRN_CORRUPT, "decimal(9,2)");
    fx_values(values, false);
    values[13].as.bytes.size = 2;
    refused(metadata, false, &entry, FIRN_CORRUPT, "fixed[3]");
    firn_table_metadata_free(metadata);
    firn_table_metadata_free(first);
}

static firn_status write_and_read(void *context, firn_error *error) {
    const firn_table_metadata *metadata = context;
    firn_value values[FX_TYPE_COUNT];
    fx_values(values, false);
    firn_manifest_entry entry = fx_entry(FIRN_CONTENT_EQUALITY_DELETES, values);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_buffer list = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_manifest_file file;
    const firn_manifest_file *files;
    size_t count = 0;
    seen s = {0};
    firn_data_file copy;
    firn_status status;
    FIRN_CHECK(write_entries(metadata, true, &entry, 1, &out, arena, &file, error));
    FIRN_CHECK(firn_manifest_list_write(metadata, 88, true, 1, 5, &file, 1, 0, NULL, &list, error));
    FIRN_CHECK(
        firn_manifest_list_read(firn_buffer_slice(&list), "l.avro", arena, &files, &count, error));
    FIRN_CHECK(firn_manifest_read(firn_buffer_slice(&out), &files[0], metadata->default_spec, arena,
                                  keep, &s, error));
    FIRN_CHECK(firn_data_file_copy(&s.entries[0].file, arena, &copy, error));
    same_file(&entry.file, &copy, 3);
out:
    firn_buffer_release(&out);
    firn_buffer_release(&list);
    firn_arena_free(arena);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    firn_table_metadata *metadata = fx_every_type(3);
    check_each_allocation(write_and_read, metadata);
    firn_table_metadata_free(metadata);
}

static void check_name(const char *name, const char *expected) {
    char out[FIRN_AVRO_NAME_SIZE(64)];
    firn_avro_safe_name(name, out);
    assert_string_equal(out, expected);
}

static void test_names(void **state) {
    (void)state;
    check_name("plain_9", "plain_9");
    check_name("9col", "_9col");
    check_name("", "_");
    check_name("😎", "_xD83D_xDE0E");
    check_name("é", "_xE9");
    check_name("a.b c", "a_x2Eb_x20c");
    check_name("\xff\xc3", "_xFF_xC3");
    check_name("\xe2\x82", "_xE2_x82");
    check_name("€", "_x20AC");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemas),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_partition_schema),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_summaries),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
