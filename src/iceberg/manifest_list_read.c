/* Manifest lists (specification, "Manifest Lists"): columns by id, whatever the header claims. */
#include <inttypes.h>

#include "avro/reader.h"
#include "base/log.h"
#include "base/vector.h"
#include "iceberg/manifest_internal.h"

typedef struct raw_summary {
    bool contains_null, has_contains_null;
    bool contains_nan, has_contains_nan;
    firn_slice lower_bound, upper_bound;
} raw_summary;

typedef struct raw_manifest {
    firn_manifest_file file; /**< the fields that need no second look go straight here */
    int32_t content;
    bool has_counts[6];
    firn_avro_list partitions; /**< of raw_summary */
} raw_manifest;

#define AT(member) offsetof(raw_summary, member)
#define NO_FLAG FIRN_AVRO_NO_FLAG

static const firn_avro_target summary_fields[] = {
    {.id = 509,
     .name = "contains_null",
     .into = FIRN_AVRO_INTO_BOOL,
     .offset = AT(contains_null),
     .present = AT(has_contains_null)},
    {.id = 518,
     .name = "contains_nan",
     .into = FIRN_AVRO_INTO_BOOL,
     .offset = AT(contains_nan),
     .present = AT(has_contains_nan)},
    {.id = 510,
     .name = "lower_bound",
     .into = FIRN_AVRO_INTO_BYTES,
     .offset = AT(lower_bound),
     .present = NO_FLAG},
    {.id = 511,
     .name = "upper_bound",
     .into = FIRN_AVRO_INTO_BYTES,
     .offset = AT(upper_bound),
     .present = NO_FLAG},
};

static const firn_avro_target summary_item = {.id = FIRN_AVRO_NO_ID,
                                              .into = FIRN_AVRO_INTO_RECORD,
                                              .present = NO_FLAG,
                                              .required = true,
                                              .children = summary_fields,
                                              .child_count = 4};

#undef AT
#define AT(member) offsetof(raw_manifest, member)

/* Names of 504 to 506 before the specification settled on shorter ones. */
static const char *const old_added[] = {"added_data_files_count", NULL};
static const char *const old_existing[] = {"existing_data_files_count", NULL};
static const char *const old_deleted[] = {"deleted_data_files_count", NULL};

#define NUMBER(number, text, member, flag)                                                         \
    {                                                                                              \
        .id = (number), .name = (text), .into = FIRN_AVRO_INTO_INT64, .offset = AT(file.member),   \
        .present = (flag)                                                                          \
    }
#define COUNT(number, text, old, member, index)                                                    \
    {                                                                                              \
        .id = (number), .name = (text), .other_names = (old), .into = FIRN_AVRO_INTO_INT64,        \
        .offset = AT(file.member), .present = AT(has_counts) + (index)                             \
    }

static const firn_avro_target list_fields[] = {
    {.id = 500,
     .name = "manifest_path",
     .into = FIRN_AVRO_INTO_TEXT,
     .offset = AT(file.path),
     .present = NO_FLAG,
     .required = true},
    {.id = 501,
     .name = "manifest_length",
     .into = FIRN_AVRO_INTO_INT64,
     .offset = AT(file.length),
     .present = NO_FLAG,
     .required = true},
    {.id = 502,
     .name = "partition_spec_id",
     .into = FIRN_AVRO_INTO_INT32,
     .offset = AT(file.partition_spec_id),
     .present = NO_FLAG,
     .required = true},
    {.id = 517,
     .name = "content",
     .into = FIRN_AVRO_INTO_INT32,
     .offset = AT(content),
     .present = NO_FLAG},
    NUMBER(515, "sequence_number", sequence_number, NO_FLAG),
    NUMBER(516, "min_sequence_number", min_sequence_number, NO_FLAG),
    NUMBER(503, "added_snapshot_id", added_snapshot_id, AT(file.has_added_snapshot_id)),
    COUNT(504, "added_files_count", old_added, added_files_count, 0),
    COUNT(505, "existing_files_count", old_existing, existing_files_count, 1),
    COUNT(506, "deleted_files_count", old_deleted, deleted_files_count, 2),
    COUNT(512, "added_rows_count", NULL, added_rows_count, 3),
    COUNT(513, "existing_rows_count", NULL, existing_rows_count, 4),
    COUNT(514, "deleted_rows_count", NULL, deleted_rows_count, 5),
    {.id = 507,
     .name = "partitions",
     .into = FIRN_AVRO_INTO_LIST,
     .offset = AT(partitions),
     .present = NO_FLAG,
     .item_size = sizeof(raw_summary),
     .children = &summary_item,
     .child_count = 1},
    {.id = 519,
     .name = "key_metadata",
     .into = FIRN_AVRO_INTO_BYTES,
     .offset = AT(file.key_metadata),
     .present = NO_FLAG},
    NUMBER(520, "first_row_id", first_row_id, AT(file.has_first_row_id)),
};

static const firn_avro_target list_record = {
    .id = FIRN_AVRO_NO_ID,
    .into = FIRN_AVRO_INTO_RECORD,
    .present = NO_FLAG,
    .required = true,
    .children = list_fields,
    .child_count = sizeof list_fields / sizeof *list_fields,
};

firn_status firn_manifest_check_magic(firn_slice bytes, const char *name, firn_error *error) {
    if (bytes.size < 4 || memcmp(bytes.data, "AGS1", 4) != 0) return FIRN_OK;
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file is encrypted, which is not supported",
                     name);
}

void firn_manifest_warn_named(const firn_avro_plan *plan, const char *name) {
    const char *example = NULL;
    size_t count = firn_avro_plan_named_count(plan, &example);
    if (count == 0) return;
    firn_log_warning("%s: %zu fields have no field id and are read by name, such as %s", name,
                     count, example);
}

static firn_status copy_summaries(const raw_manifest *raw, firn_arena *arena,
                                  firn_manifest_file *out, firn_error *error) {
    if (raw->partitions.items == NULL) return FIRN_OK;
    const raw_summary *from = raw->partitions.items;
    size_t count = raw->partitions.count;
    firn_partition_summary *to = firn_arena_alloc(arena, count, sizeof *to);
    if (to == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        /* Unknown means that there may be one. */
        to[i].contains_null = !from[i].has_contains_null || from[i].contains_null;
        to[i].has_contains_nan = from[i].has_contains_nan;
        to[i].contains_nan = from[i].contains_nan;
        to[i].lower_bound = from[i].lower_bound;
        to[i].upper_bound = from[i].upper_bound;
    }
    out->partitions = to;
    out->partition_count = count;
    return FIRN_OK;
}

static firn_status finish_manifest(const raw_manifest *raw, const char *name, firn_arena *arena,
                                   firn_manifest_file *out, firn_error *error) {
    *out = raw->file;
    if (raw->content != 0 && raw->content != 1) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: manifest %s: field content (id 517): %" PRId32
                         " is neither 0 (data) nor 1 (deletes)",
                         name, out->path, raw->content);
    }
    out->content = raw->content == 0 ? FIRN_CONTENT_DATA : FIRN_CONTENT_POSITION_DELETES;
    int64_t *counts[6] = {&out->added_files_count,   &out->existing_files_count,
                          &out->deleted_files_count, &out->added_rows_count,
                          &out->existing_rows_count, &out->deleted_rows_count};
    for (size_t i = 0; i < 6; i++) {
        if (!raw->has_counts[i] || *counts[i] < 0) *counts[i] = -1;
    }
    return copy_summaries(raw, arena, out, error);
}

static firn_status read_all(firn_avro_reader *reader, const firn_avro_plan *plan, const char *name,
                            firn_arena *arena, const firn_manifest_file **out, size_t *out_count,
                            firn_error *error) {
    FIRN_VECTOR(firn_manifest_file) files = {0};
    firn_status status = FIRN_OK;
    for (;;) {
        raw_manifest raw = {0};
        bool more = false;
        firn_manifest_file file;
        FIRN_CHECK(firn_avro_reader_next(reader, plan, arena, true, &raw, &more, error));
        if (!more) break;
        FIRN_CHECK(finish_manifest(&raw, name, arena, &file, error));
        FIRN_CHECK(firn_vector_push(&files, error, file));
    }
    firn_manifest_file *kept = firn_arena_alloc(arena, files.count, sizeof *kept);
    if (kept == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    if (files.count > 0) memcpy(kept, files.items, files.count * sizeof *kept);
    *out = kept;
    *out_count = files.count;
out:
    firn_vector_release(&files);
    return status;
}

firn_status firn_manifest_list_read(firn_slice bytes, const char *name, firn_arena *arena,
                                    const firn_manifest_file **out, size_t *count,
                                    firn_error *error) {
    FIRN_TRY(firn_manifest_check_magic(bytes, name, error));
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, name);
    firn_avro_reader *reader = NULL;
    /* The plan refers to the reader's schema and is not needed beyond it. */
    firn_arena *scratch = firn_arena_new();
    if (scratch == NULL) return firn_fail_memory(error);
    const firn_avro_plan *plan;
    firn_status status;
    FIRN_CHECK(firn_avro_reader_open(&file, 0, &reader, error));
    FIRN_CHECK(firn_avro_plan_new(firn_avro_reader_schema(reader), &list_record, name, scratch,
                                  &plan, error));
    firn_manifest_warn_named(plan, name);
    FIRN_CHECK(read_all(reader, plan, name, arena, out, count, error));
out:
    firn_avro_reader_free(reader);
    firn_arena_free(scratch);
    return status;
}
