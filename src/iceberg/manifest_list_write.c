/* Writing manifest lists (specification, "Manifest Lists", "First Row ID Assignment"). */
#include <inttypes.h>
#include <stdio.h>

#include "avro/encode.h"
#include "avro/writer.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/manifest_internal.h"

#define ALL FIRN_IN_ALL
#define V2_ON (FIRN_IN_V2 | FIRN_IN_V3)

static const firn_manifest_field list_fields[] = {
    {500, "manifest_path", FIRN_SHAPE_STRING, 0, ALL, ALL},
    {501, "manifest_length", FIRN_SHAPE_LONG, 0, ALL, ALL},
    {502, "partition_spec_id", FIRN_SHAPE_INT, 0, ALL, ALL},
    {517, "content", FIRN_SHAPE_INT, 0, V2_ON, V2_ON},
    {515, "sequence_number", FIRN_SHAPE_LONG, 0, V2_ON, V2_ON},
    {516, "min_sequence_number", FIRN_SHAPE_LONG, 0, V2_ON, V2_ON},
    {503, "added_snapshot_id", FIRN_SHAPE_LONG, 0, ALL, ALL},
    {504, "added_files_count", FIRN_SHAPE_INT, 0, ALL, V2_ON},
    {505, "existing_files_count", FIRN_SHAPE_INT, 0, ALL, V2_ON},
    {506, "deleted_files_count", FIRN_SHAPE_INT, 0, ALL, V2_ON},
    {512, "added_rows_count", FIRN_SHAPE_LONG, 0, ALL, V2_ON},
    {513, "existing_rows_count", FIRN_SHAPE_LONG, 0, ALL, V2_ON},
    {514, "deleted_rows_count", FIRN_SHAPE_LONG, 0, ALL, V2_ON},
    {507, "partitions", FIRN_SHAPE_SUMMARIES, 508, ALL, 0},
    {519, "key_metadata", FIRN_SHAPE_BYTES, 0, ALL, 0},
    {520, "first_row_id", FIRN_SHAPE_LONG, 0, FIRN_IN_V3, 0},
};
#define FIELD_COUNT (sizeof list_fields / sizeof *list_fields)

/** What the whole list needs to know. */
typedef struct list_writer {
    int format_version;
    int64_t sequence_number; /**< of the snapshot */
    bool optional[FIELD_COUNT];
    int64_t next_row_id;
    firn_error *error;
} list_writer;

/** A count field's value, -1 where it is unknown; for any other field 0. */
static int64_t count_of(const firn_manifest_file *file, int32_t id) {
    switch (id) {
    case 504: return file->added_files_count;
    case 505: return file->existing_files_count;
    case 506: return file->deleted_files_count;
    case 512: return file->added_rows_count;
    case 513: return file->existing_rows_count;
    case 514: return file->deleted_rows_count;
    default: return 0;
    }
}

/**
 * A count that nobody knows (v1 lists may leave it out) is never made up: then the column is
 * optional in this list, as readers of v1 lists expect it to be.
 */
static void choose_optional(list_writer *w, const firn_manifest_file *manifests, size_t count) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        w->optional[i] = !firn_manifest_field_required(&list_fields[i], w->format_version);
        for (size_t j = 0; j < count; j++) {
            if (count_of(&manifests[j], list_fields[i].id) < 0) w->optional[i] = true;
        }
    }
}

static firn_status put_schema(const list_writer *w, firn_buffer *out) {
    FIRN_TRY(firn_buffer_append_text(
        out, "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":[", w->error));
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!firn_manifest_field_in(&list_fields[i], w->format_version)) continue;
        FIRN_TRY(firn_manifest_put_shape(out, i == 0, &list_fields[i], w->optional[i], w->error));
    }
    return firn_buffer_append_text(out, "]}", w->error);
}

static firn_status put_long(const list_writer *w, firn_buffer *out, size_t field, bool present,
                            int64_t value) {
    if (w->optional[field]) FIRN_TRY(firn_avro_put_long(out, present ? 1 : 0, w->error));
    return present ? firn_avro_put_long(out, value, w->error) : FIRN_OK;
}

static firn_status put_bytes(const list_writer *w, firn_buffer *out, firn_slice bytes) {
    FIRN_TRY(firn_avro_put_long(out, bytes.data == NULL ? 0 : 1, w->error));
    return bytes.data == NULL ? FIRN_OK : firn_avro_put_bytes(out, bytes, w->error);
}

static firn_status put_summaries(const list_writer *w, firn_buffer *out,
                                 const firn_manifest_file *file) {
    FIRN_TRY(firn_avro_put_long(out, file->partitions == NULL ? 0 : 1, w->error));
    if (file->partitions == NULL) return FIRN_OK;
    if (file->partition_count > 0) {
        FIRN_TRY(firn_avro_put_long(out, (int64_t)file->partition_count, w->error));
    }
    for (size_t i = 0; i < file->partition_count; i++) {
        const firn_partition_summary *summary = &file->partitions[i];
        FIRN_TRY(firn_avro_put_boolean(out, summary->contains_null, w->error));
        FIRN_TRY(firn_avro_put_long(out, summary->has_contains_nan ? 1 : 0, w->error));
        if (summary->has_contains_nan) {
            FIRN_TRY(firn_avro_put_boolean(out, summary->contains_nan, w->error));
        }
        FIRN_TRY(put_bytes(w, out, summary->lower_bound));
        FIRN_TRY(put_bytes(w, out, summary->upper_bound));
    }
    return firn_avro_put_long(out, 0, w->error);
}

/**
 * Data manifests without a first row id get the next ones, for all rows that may have to inherit
 * one.
 */
static firn_status put_first_row_id(list_writer *w, firn_buffer *out, size_t field,
                                    const firn_manifest_file *file) {
    if (file->content != FIRN_CONTENT_DATA) return put_long(w, out, field, false, 0);
    if (file->has_first_row_id) return put_long(w, out, field, true, file->first_row_id);
    int64_t rows = 0;
    if (file->added_rows_count < 0 || file->existing_rows_count < 0) {
        return firn_fail(w->error, FIRN_INVALID,
                         "manifest %s: its numbers of rows must be known before row ids are given "
                         "out",
                         file->path);
    }
    FIRN_TRY(put_long(w, out, field, true, w->next_row_id));
    if (__builtin_add_overflow(file->added_rows_count, file->existing_rows_count, &rows) ||
        __builtin_add_overflow(w->next_row_id, rows, &w->next_row_id)) {
        return firn_fail(w->error, FIRN_LIMIT, "manifest %s: row ids are used up", file->path);
    }
    return FIRN_OK;
}

static int64_t number_or(int64_t value, int64_t otherwise) {
    return value < 0 ? otherwise : value;
}

static firn_status put_field(list_writer *w, firn_buffer *out, size_t field,
                             const firn_manifest_file *file) {
    switch (list_fields[field].id) {
    case 500: return firn_avro_put_text(out, file->path, w->error);
    case 501: return put_long(w, out, field, true, file->length);
    case 502: return put_long(w, out, field, true, file->partition_spec_id);
    case 517: return put_long(w, out, field, true, file->content == FIRN_CONTENT_DATA ? 0 : 1);
    case 515:
        return put_long(w, out, field, true, number_or(file->sequence_number, w->sequence_number));
    case 516:
        return put_long(w, out, field, true,
                        number_or(file->min_sequence_number, w->sequence_number));
    case 503: return put_long(w, out, field, true, file->added_snapshot_id);
    case 507: return put_summaries(w, out, file);
    case 519: return put_bytes(w, out, file->key_metadata);
    case 520: return put_first_row_id(w, out, field, file);
    default: {
        int64_t count = count_of(file, list_fields[field].id);
        if (list_fields[field].shape == FIRN_SHAPE_INT && count > INT32_MAX) {
            return firn_fail(w->error, FIRN_LIMIT, "manifest %s: more than 2^31 files", file->path);
        }
        return put_long(w, out, field, count >= 0, count);
    }
    }
}

static firn_status put_manifest(list_writer *w, firn_buffer *out, const firn_manifest_file *file) {
    if (file->path == NULL || file->length <= 0 || !file->has_added_snapshot_id) {
        return firn_fail(w->error, FIRN_INVALID,
                         "manifest %s: path, length or the snapshot that added it is not known",
                         file->path == NULL ? "" : file->path);
    }
    if (w->format_version == 1 && file->content != FIRN_CONTENT_DATA) {
        return firn_fail(w->error, FIRN_INVALID,
                         "manifest %s: a table of format version 1 has no delete files",
                         file->path);
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!firn_manifest_field_in(&list_fields[i], w->format_version)) continue;
        FIRN_TRY(put_field(w, out, i, file));
    }
    return FIRN_OK;
}

static firn_status set_number(firn_avro_writer *avro, const char *key, int64_t value,
                              firn_error *error) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return firn_avro_writer_set_metadata(avro, key, firn_slice_text(text), error);
}

/* The specification asks for none of these keys; Iceberg's own libraries write them. */
static firn_status set_header(const list_writer *w, firn_avro_writer *avro, int64_t snapshot_id,
                              bool has_parent, int64_t parent_snapshot_id) {
    FIRN_TRY(set_number(avro, "snapshot-id", snapshot_id, w->error));
    if (has_parent) {
        FIRN_TRY(set_number(avro, "parent-snapshot-id", parent_snapshot_id, w->error));
    } else {
        FIRN_TRY(firn_avro_writer_set_metadata(avro, "parent-snapshot-id", firn_slice_text("null"),
                                               w->error));
    }
    if (w->format_version > 1) {
        FIRN_TRY(set_number(avro, "sequence-number", w->sequence_number, w->error));
    }
    if (w->format_version > 2) {
        FIRN_TRY(set_number(avro, "first-row-id", w->next_row_id, w->error));
    }
    return set_number(avro, "format-version", w->format_version, w->error);
}

firn_status firn_manifest_list_write(const firn_table_metadata *metadata, int64_t snapshot_id,
                                     bool has_parent, int64_t parent_snapshot_id,
                                     int64_t sequence_number, const firn_manifest_file *manifests,
                                     size_t count, int64_t first_row_id, int64_t *next_row_id,
                                     firn_buffer *out, firn_error *error) {
    list_writer w = {.format_version = metadata->format_version,
                     .sequence_number = sequence_number,
                     .next_row_id = first_row_id,
                     .error = error};
    if (w.format_version < 1 || w.format_version > 3) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "manifest lists of format version %d can't be written", w.format_version);
    }
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX / 4);
    firn_avro_writer *avro = NULL;
    firn_write_to to = firn_avro_to_buffer(out);
    firn_status status;
    choose_optional(&w, manifests, count);
    FIRN_CHECK(put_schema(&w, &text));
    FIRN_CHECK(firn_avro_writer_new(firn_buffer_slice(&text), NULL, &to, &avro, error));
    FIRN_CHECK(set_header(&w, avro, snapshot_id, has_parent, parent_snapshot_id));
    for (size_t i = 0; i < count; i++) {
        firn_buffer_clear(&text);
        FIRN_CHECK(put_manifest(&w, &text, &manifests[i]));
        FIRN_CHECK(firn_avro_writer_add(avro, firn_buffer_slice(&text), error));
    }
    FIRN_CHECK(firn_avro_writer_finish(avro, NULL, error));
    if (next_row_id != NULL) *next_row_id = w.next_row_id;
out:
    firn_avro_writer_free(avro);
    firn_buffer_release(&text);
    return status;
}
