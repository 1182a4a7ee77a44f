/*
 * Manifests (specification, "Manifests", "Sequence Number Inheritance", "First Row ID
 * Inheritance"). Each file is decoded by its own schema, field by field id; neither the table's
 * version, nor the order of the columns, nor the header decides anything.
 */
#include <inttypes.h>
#include <strings.h>

#include "avro/reader.h"
#include "base/alloc.h"
#include "iceberg/manifest_internal.h"

/** What one record holds, before inheritance. */
typedef struct raw_entry {
    int32_t status;
    int64_t snapshot_id, sequence_number, file_sequence_number;
    bool has_snapshot_id, has_sequence_number, has_file_sequence_number;
    int32_t content;
    bool has_content;
    firn_data_file file; /**< the fields that need no second look go straight here */
    bool has_content_size;
    firn_avro_pairs column_sizes, value_counts, null_value_counts, nan_value_counts;
    firn_avro_pairs lower_bounds, upper_bounds;
    firn_avro_list split_offsets, equality_ids;
    firn_avro_value partition[]; /**< by field of the spec */
} raw_entry;

#define AT(member) offsetof(raw_entry, member)
#define NO_FLAG FIRN_AVRO_NO_FLAG
#define PLAIN(number, text, kind, member, flag, due)                                               \
    {                                                                                              \
        .id = (number), .name = (text), .into = FIRN_AVRO_INTO_##kind, .offset = AT(member),       \
        .present = (flag), .required = (due)                                                       \
    }
#define KEY(number)                                                                                \
    {                                                                                              \
        .id = (number), .name = "key", .into = FIRN_AVRO_INTO_INT32, .present = NO_FLAG,           \
        .required = true                                                                           \
    }
#define COUNT_PAIR(key, value)                                                                     \
    {                                                                                              \
        KEY(key), {                                                                                \
            .id = (value), .name = "value", .into = FIRN_AVRO_INTO_INT64, .present = NO_FLAG,      \
            .required = true                                                                       \
        }                                                                                          \
    }
/* A bound of null is as good as none. */
#define BOUND_PAIR(key, value)                                                                     \
    {                                                                                              \
        KEY(key), {                                                                                \
            .id = (value), .name = "value", .into = FIRN_AVRO_INTO_BYTES, .present = NO_FLAG       \
        }                                                                                          \
    }
#define PAIRS(number, text, member, pair, size)                                                    \
    {                                                                                              \
        .id = (number), .name = (text), .into = FIRN_AVRO_INTO_PAIRS, .offset = AT(member),        \
        .present = NO_FLAG, .item_size = sizeof(int32_t), .value_size = (size),                    \
        .children = (pair), .child_count = 2                                                       \
    }
#define LIST(number, text, member, item, size)                                                     \
    {                                                                                              \
        .id = (number), .name = (text), .into = FIRN_AVRO_INTO_LIST, .offset = AT(member),         \
        .present = NO_FLAG, .item_size = (size), .children = (item), .child_count = 1              \
    }

static const firn_avro_target column_size_pair[] = COUNT_PAIR(117, 118);
static const firn_avro_target value_count_pair[] = COUNT_PAIR(119, 120);
static const firn_avro_target null_count_pair[] = COUNT_PAIR(121, 122);
static const firn_avro_target nan_count_pair[] = COUNT_PAIR(138, 139);
static const firn_avro_target lower_bound_pair[] = BOUND_PAIR(126, 127);
static const firn_avro_target upper_bound_pair[] = BOUND_PAIR(129, 130);

static const firn_avro_target long_item = {
    .id = FIRN_AVRO_NO_ID, .into = FIRN_AVRO_INTO_INT64, .present = NO_FLAG, .required = true};
/* Ids of columns: declared long by some writers. */
static const firn_avro_target int_item = {
    .id = FIRN_AVRO_NO_ID, .into = FIRN_AVRO_INTO_INT32, .present = NO_FLAG, .required = true};

/*
 * The fields of data_file, whose offsets count from the entry; the partition struct is added per
 * spec.
 */
static const firn_avro_target file_fields[] = {
    PLAIN(134, "content", INT32, content, AT(has_content), false),
    PLAIN(100, "file_path", TEXT, file.path, NO_FLAG, true),
    PLAIN(101, "file_format", TEXT, file.format_text, NO_FLAG, true),
    PLAIN(103, "record_count", INT64, file.record_count, NO_FLAG, true),
    PLAIN(104, "file_size_in_bytes", INT64, file.file_size_in_bytes, NO_FLAG, true),
    PAIRS(137, "nan_value_counts", nan_value_counts, nan_count_pair, sizeof(int64_t)),
    PLAIN(131, "key_metadata", BYTES, file.key_metadata, NO_FLAG, false),
    LIST(135, "equality_ids", equality_ids, &int_item, sizeof(int32_t)),
    PLAIN(140, "sort_order_id", INT32, file.sort_order_id, AT(file.has_sort_order_id), false),
    PLAIN(142, "first_row_id", INT64, file.first_row_id, AT(file.has_first_row_id), false),
    PLAIN(143, "referenced_data_file", TEXT, file.referenced_data_file, NO_FLAG, false),
    PLAIN(144, "content_offset", INT64, file.content_offset, AT(file.has_content_offset), false),
    PLAIN(145, "content_size_in_bytes", INT64, file.content_size_in_bytes, AT(has_content_size),
          false),
    /* From here on: what firn_data_file_drop_metrics leaves out. */
    PAIRS(108, "column_sizes", column_sizes, column_size_pair, sizeof(int64_t)),
    PAIRS(109, "value_counts", value_counts, value_count_pair, sizeof(int64_t)),
    PAIRS(110, "null_value_counts", null_value_counts, null_count_pair, sizeof(int64_t)),
    PAIRS(125, "lower_bounds", lower_bounds, lower_bound_pair, sizeof(firn_slice)),
    PAIRS(128, "upper_bounds", upper_bounds, upper_bound_pair, sizeof(firn_slice)),
    LIST(132, "split_offsets", split_offsets, &long_item, sizeof(int64_t)),
};
#define FILE_FIELD_COUNT (sizeof file_fields / sizeof *file_fields)
#define METRICS_FIELD_COUNT ((size_t)6)

static const firn_avro_target entry_fields[] = {
    PLAIN(0, "status", INT32, status, NO_FLAG, true),
    PLAIN(1, "snapshot_id", INT64, snapshot_id, AT(has_snapshot_id), false),
    PLAIN(3, "sequence_number", INT64, sequence_number, AT(has_sequence_number), false),
    PLAIN(4, "file_sequence_number", INT64, file_sequence_number, AT(has_file_sequence_number),
          false),
};
#define ENTRY_FIELD_COUNT (sizeof entry_fields / sizeof *entry_fields)

/** Everything that walking one manifest needs. */
typedef struct walk {
    const char *name;
    const firn_manifest_file *manifest;
    const firn_partition_spec *spec; /**< never NULL; of no fields where the table has lost it */
    firn_manifest_metrics metrics;
    firn_arena *arena;       /**< what entries point to: the caller's, or `entry_arena` */
    firn_arena *entry_arena; /**< of one entry at a time; NULL: the caller keeps them */
    firn_arena *scratch;     /**< plan and targets */
    firn_avro_reader *reader;
    const firn_avro_plan *plan;
    raw_entry *raw;
    size_t raw_size;
    bool first_version; /**< the file has neither content nor sequence numbers: a v1 manifest */
    int64_t next_row_id;
    firn_error *error;
} walk;

static const char *const *other_names(walk *w, const firn_partition_field *field) {
    char *safe = firn_arena_alloc(w->scratch, FIRN_AVRO_NAME_SIZE(strlen(field->name)), 1);
    const char **names = firn_arena_alloc(w->scratch, 2, sizeof *names);
    if (safe == NULL || names == NULL) return NULL;
    firn_avro_safe_name(field->name, safe);
    names[0] = safe;
    return names;
}

/**
 * What is null by its nature: void, and a column of type unknown (appendix A: "null or omitted").
 */
static bool may_be_left_out(const firn_partition_field *field) {
    return field->transform.kind == FIRN_TRANSFORM_VOID ||
           (field->result_type != NULL && field->result_type->kind == FIRN_TYPE_UNKNOWN);
}

/**
 * Null is a partition like any other, so that a field which the file lacks must not read as null.
 */
static firn_status partition_targets(walk *w, firn_avro_target *out) {
    size_t count = w->spec->field_count;
    firn_avro_target *fields = firn_arena_alloc(w->scratch, count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(w->error);
    for (size_t i = 0; i < count; i++) {
        const firn_partition_field *field = &w->spec->fields[i];
        fields[i] = (firn_avro_target){.id = field->field_id,
                                       .name = field->name,
                                       .other_names = other_names(w, field),
                                       .into = FIRN_AVRO_INTO_VALUE,
                                       .offset = AT(partition) + i * sizeof(firn_avro_value),
                                       .present = NO_FLAG,
                                       .required = !may_be_left_out(field)};
        if (fields[i].other_names == NULL) return firn_fail_memory(w->error);
    }
    *out = (firn_avro_target){.id = 102,
                              .name = "partition",
                              .into = FIRN_AVRO_INTO_RECORD,
                              .present = NO_FLAG,
                              .required = count > 0,
                              .children = fields,
                              .child_count = count};
    return FIRN_OK;
}

static firn_status entry_target(walk *w, firn_avro_target *out) {
    size_t count = FILE_FIELD_COUNT;
    if (w->metrics == FIRN_METRICS_NAN_COUNTS) count -= METRICS_FIELD_COUNT;
    firn_avro_target *file = firn_arena_alloc(w->scratch, count + 1, sizeof *file);
    firn_avro_target *entry = firn_arena_alloc(w->scratch, ENTRY_FIELD_COUNT + 1, sizeof *entry);
    if (file == NULL || entry == NULL) return firn_fail_memory(w->error);
    memcpy(file, file_fields, count * sizeof *file);
    FIRN_TRY(partition_targets(w, &file[count]));
    memcpy(entry, entry_fields, sizeof entry_fields);
    entry[ENTRY_FIELD_COUNT] = (firn_avro_target){.id = 2,
                                                  .name = "data_file",
                                                  .into = FIRN_AVRO_INTO_RECORD,
                                                  .present = NO_FLAG,
                                                  .required = true,
                                                  .children = file,
                                                  .child_count = count + 1};
    *out = (firn_avro_target){.id = FIRN_AVRO_NO_ID,
                              .into = FIRN_AVRO_INTO_RECORD,
                              .present = NO_FLAG,
                              .required = true,
                              .children = entry,
                              .child_count = ENTRY_FIELD_COUNT + 1};
    return FIRN_OK;
}

static const firn_avro_field *find(const firn_avro_schema *record, int32_t id, const char *name) {
    const firn_avro_field *field = firn_avro_field_by_id(record, id);
    if (field != NULL) return field;
    field = firn_avro_field_by_name(record, name);
    return field != NULL && field->id == FIRN_AVRO_NO_ID ? field : NULL;
}

static const firn_avro_schema *data_file_schema(const walk *w) {
    const firn_avro_schema *entry = firn_avro_reader_schema(w->reader);
    const firn_avro_field *field = find(firn_avro_schema_non_null(entry), 2, "data_file");
    return field == NULL ? entry : firn_avro_schema_non_null(field->schema);
}

/** Without its spec a manifest can be read only if it is of an unpartitioned one. */
static firn_status check_lost_spec(const walk *w) {
    const firn_avro_field *field = find(data_file_schema(w), 102, "partition");
    if (field == NULL || firn_avro_schema_non_null(field->schema)->count == 0) return FIRN_OK;
    return firn_fail(w->error, FIRN_CORRUPT,
                     "%s: partition spec %" PRId32 " is not in the table's metadata", w->name,
                     w->manifest->partition_spec_id);
}

static firn_status prepare(walk *w, bool has_spec) {
    if (!has_spec) FIRN_TRY(check_lost_spec(w));
    const firn_avro_schema *entry = firn_avro_schema_non_null(firn_avro_reader_schema(w->reader));
    w->first_version = find(entry, 3, "sequence_number") == NULL &&
                       find(data_file_schema(w), 134, "content") == NULL;
    firn_avro_target *target = firn_arena_alloc(w->scratch, 1, sizeof *target);
    if (target == NULL) return firn_fail_memory(w->error);
    FIRN_TRY(entry_target(w, target));
    FIRN_TRY(firn_avro_plan_new(firn_avro_reader_schema(w->reader), target, w->name, w->scratch,
                                &w->plan, w->error));
    firn_manifest_warn_named(w->plan, w->name);
    w->raw_size = sizeof *w->raw + w->spec->field_count * sizeof(firn_avro_value);
    w->raw = firn_arena_alloc(w->scratch, 1, w->raw_size);
    return w->raw == NULL ? firn_fail_memory(w->error) : FIRN_OK;
}

static firn_status bad_field(const walk *w, const char *field, int64_t value) {
    return firn_fail(w->error, FIRN_CORRUPT, "field %s: %" PRId64 " is not possible", field, value);
}

/**
 * A null number of an ADDED entry is the manifest's; so is one of any entry of a manifest whose own
 * number is 0 (upgraded from v1). Beyond that a v1 manifest has 0, and what else lacks its number
 * is broken.
 */
static firn_status resolve_sequence_numbers(const walk *w, firn_manifest_entry *out) {
    const raw_entry *raw = w->raw;
    int64_t inherited = w->manifest->sequence_number;
    bool inherits = raw->status == FIRN_ENTRY_ADDED || inherited == 0 || w->first_version;
    if (raw->status != FIRN_ENTRY_ADDED) inherited = 0;
    out->has_sequence_number = raw->has_sequence_number || inherits;
    out->sequence_number = raw->has_sequence_number ? raw->sequence_number : inherited;
    out->has_file_sequence_number = raw->has_file_sequence_number || inherits;
    out->file_sequence_number =
        raw->has_file_sequence_number ? raw->file_sequence_number : inherited;
    if (!out->has_sequence_number) out->sequence_number = 0;
    if (!out->has_file_sequence_number) out->file_sequence_number = 0;
    if (out->has_sequence_number || raw->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    return firn_fail(w->error, FIRN_CORRUPT,
                     "field sequence_number (id 3): an EXISTING entry has none; only ADDED entries "
                     "inherit it");
}

/**
 * Live files without an id take the next ones of the manifest, in order; DELETED ones take none.
 */
static firn_status resolve_first_row_id(walk *w, firn_manifest_entry *out) {
    firn_data_file *file = &out->file;
    if (file->content != FIRN_CONTENT_DATA) {
        file->has_first_row_id = false;
        file->first_row_id = 0;
        return FIRN_OK;
    }
    if (file->has_first_row_id || !w->manifest->has_first_row_id ||
        out->status == FIRN_ENTRY_DELETED) {
        return FIRN_OK;
    }
    file->has_first_row_id = true;
    file->first_row_id = w->next_row_id;
    if (__builtin_add_overflow(w->next_row_id, file->record_count, &w->next_row_id)) {
        return bad_field(w, "record_count (id 103)", file->record_count);
    }
    return FIRN_OK;
}

static firn_status resolve_content(const walk *w, firn_data_file *file) {
    const raw_entry *raw = w->raw;
    if (!raw->has_content && w->manifest->content != FIRN_CONTENT_DATA) {
        return firn_fail(w->error, FIRN_CORRUPT,
                         "field content (id 134) is missing in a manifest of deletes");
    }
    if (raw->has_content && (raw->content < 0 || raw->content > 2)) {
        return bad_field(w, "content (id 134)", raw->content);
    }
    file->content = raw->has_content ? (firn_content)raw->content : FIRN_CONTENT_DATA;
    return FIRN_OK;
}

static firn_file_format format_of(const char *text) {
    if (strcasecmp(text, "parquet") == 0) return FIRN_FILE_PARQUET;
    if (strcasecmp(text, "avro") == 0) return FIRN_FILE_AVRO;
    if (strcasecmp(text, "orc") == 0) return FIRN_FILE_ORC;
    if (strcasecmp(text, "puffin") == 0) return FIRN_FILE_PUFFIN;
    return FIRN_FILE_OTHER;
}

static firn_count_map count_map(const firn_avro_pairs *pairs) {
    return (firn_count_map){pairs->keys, pairs->values, pairs->count, pairs->keys != NULL};
}

static firn_bound_map bound_map(const firn_avro_pairs *pairs) {
    return (firn_bound_map){pairs->keys, pairs->values, pairs->count, pairs->keys != NULL};
}

static firn_status resolve_partition(const walk *w, firn_data_file *file) {
    size_t count = w->spec->field_count;
    firn_value *values = firn_arena_alloc(w->arena, count, sizeof *values);
    if (values == NULL) return firn_fail_memory(w->error);
    for (size_t i = 0; i < count; i++) {
        const firn_partition_field *field = &w->spec->fields[i];
        firn_status status =
            firn_partition_value_from_avro(&w->raw->partition[i], firn_partition_stored_type(field),
                                           w->arena, &values[i], w->error);
        if (status != FIRN_OK) {
            return firn_error_wrap(w->error, status, "partition field %s (id %" PRId32 ")",
                                   field->name, field->field_id);
        }
    }
    file->spec_id = w->manifest->partition_spec_id;
    file->partition = values;
    file->partition_count = count;
    return FIRN_OK;
}

static firn_status resolve(walk *w, firn_manifest_entry *out) {
    const raw_entry *raw = w->raw;
    firn_data_file *file = &out->file;
    if (raw->status < FIRN_ENTRY_EXISTING || raw->status > FIRN_ENTRY_DELETED) {
        return bad_field(w, "status (id 0)", raw->status);
    }
    out->status = (firn_entry_status)raw->status;
    out->has_snapshot_id = raw->has_snapshot_id || w->manifest->has_added_snapshot_id;
    out->snapshot_id = raw->has_snapshot_id ? raw->snapshot_id : w->manifest->added_snapshot_id;
    FIRN_TRY(resolve_sequence_numbers(w, out));
    *file = raw->file;
    if (file->record_count < 0) return bad_field(w, "record_count (id 103)", file->record_count);
    if (file->file_size_in_bytes < 0) {
        return bad_field(w, "file_size_in_bytes (id 104)", file->file_size_in_bytes);
    }
    FIRN_TRY(resolve_content(w, file));
    FIRN_TRY(resolve_first_row_id(w, out));
    if (file->has_content_offset &&
        (file->content_offset < 0 || !raw->has_content_size || file->content_size_in_bytes < 0)) {
        return bad_field(w, "content_offset (id 144) or content_size_in_bytes (id 145)",
                         file->content_offset);
    }
    file->format = format_of(file->format_text);
    file->column_sizes = count_map(&raw->column_sizes);
    file->value_counts = count_map(&raw->value_counts);
    file->null_value_counts = count_map(&raw->null_value_counts);
    file->nan_value_counts = count_map(&raw->nan_value_counts);
    file->lower_bounds = bound_map(&raw->lower_bounds);
    file->upper_bounds = bound_map(&raw->upper_bounds);
    file->split_offsets = raw->split_offsets.items;
    file->split_offset_count = raw->split_offsets.count;
    file->equality_ids = raw->equality_ids.items;
    file->equality_id_count = raw->equality_ids.count;
    return resolve_partition(w, file);
}

static firn_status visit_all(walk *w, firn_manifest_visitor visit, void *context) {
    for (;;) {
        bool more = false;
        bool keeps = w->entry_arena == NULL;
        memset(w->raw, 0, w->raw_size);
        if (!keeps) firn_arena_clear(w->entry_arena);
        int64_t position = firn_avro_reader_position(w->reader);
        FIRN_TRY(
            firn_avro_reader_next(w->reader, w->plan, w->arena, keeps, w->raw, &more, w->error));
        if (!more) return FIRN_OK;
        firn_manifest_entry entry = {0};
        firn_status status = resolve(w, &entry);
        if (status != FIRN_OK) {
            return firn_error_wrap(w->error, status, "%s: entry %" PRId64, w->name, position);
        }
        FIRN_TRY(visit(context, &entry, w->error));
    }
}

firn_status firn_manifest_read(firn_slice bytes, const firn_manifest_file *manifest,
                               const firn_partition_spec *spec, firn_arena *arena,
                               firn_manifest_visitor visit, void *context, firn_error *error) {
    return firn_manifest_read_known(bytes, manifest, spec, NULL, FIRN_METRICS_ALL, arena, visit,
                                    context, error);
}

firn_status firn_manifest_read_known(firn_slice bytes, const firn_manifest_file *manifest,
                                     const firn_partition_spec *spec, firn_avro_known_schema *known,
                                     firn_manifest_metrics metrics, firn_arena *arena,
                                     firn_manifest_visitor visit, void *context,
                                     firn_error *error) {
    static const firn_partition_spec no_fields = {0};
    FIRN_TRY(firn_manifest_check_magic(bytes, manifest->path, error));
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, manifest->path);
    walk w = {.name = manifest->path,
              .manifest = manifest,
              .spec = spec == NULL ? &no_fields : spec,
              .metrics = metrics,
              .arena = arena,
              .next_row_id = manifest->first_row_id,
              .error = error};
    firn_status status;
    w.scratch = firn_arena_new();
    if (arena == NULL) w.arena = w.entry_arena = firn_arena_new();
    if (w.scratch == NULL || w.arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_avro_reader_open_known(&file, 0, known, &w.reader, error));
    FIRN_CHECK(prepare(&w, spec != NULL));
    FIRN_CHECK(visit_all(&w, visit, context));
out:
    firn_avro_reader_free(w.reader);
    firn_arena_free(w.scratch);
    firn_arena_free(w.entry_arena);
    return status;
}
