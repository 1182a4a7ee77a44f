/* Writing manifests (specification, "Manifests"). */
#include <inttypes.h>
#include <stdio.h>

#include "avro/writer.h"
#include "base/alloc.h"
#include "iceberg/json_copy.h"
#include "iceberg/manifest_internal.h"

struct firn_manifest_writer {
    int format_version;
    const firn_partition_spec *spec;
    bool deletes;
    int64_t snapshot_id;
    firn_arena *arena; /**< what the summaries keep */
    firn_avro_writer *avro;
    firn_buffer file;   /**< the file so far */
    firn_buffer record; /**< an entry on its way */
    firn_summary *summaries;
    int64_t files[3], rows[3]; /**< by status */
    bool has_minimum;
    int64_t minimum; /**< of the data sequence numbers of live entries that have one */
};

/**
 * The fields as the table's metadata has them, where each has its id (v1 may leave it out); else
 * NULL.
 */
static json_t *fields_of_metadata(const firn_table_metadata *metadata, int32_t spec_id) {
    const json_t *specs = json_object_get(metadata->json, "partition-specs");
    json_t *fields = json_object_get(firn_json_find_by_id(specs, "spec-id", spec_id), "fields");
    if (!json_is_array(fields)) return NULL;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        if (!json_is_integer(json_object_get(json_array_get(fields, i), "field-id"))) return NULL;
    }
    return json_incref(fields);
}

static firn_status field_to_json(const firn_partition_field *field, json_t *list,
                                 firn_error *error) {
    json_t *json = json_object();
    if (json == NULL) return firn_fail_memory(error);
    firn_status status = firn_json_set_text(json, "name", field->name, error);
    if (status == FIRN_OK) {
        status = firn_json_set_text(json, "transform", field->transform.text, error);
    }
    if (status == FIRN_OK) status = firn_json_set_int(json, "source-id", field->source_id, error);
    if (status == FIRN_OK) status = firn_json_set_int(json, "field-id", field->field_id, error);
    if (status == FIRN_OK) return firn_json_append(list, json, error);
    json_decref(json);
    return status;
}

static firn_status spec_fields(const firn_table_metadata *metadata, const firn_partition_spec *spec,
                               json_t **out, firn_error *error) {
    *out = metadata->json == NULL ? NULL : fields_of_metadata(metadata, spec->spec_id);
    if (*out != NULL) return FIRN_OK;
    json_t *list = json_array();
    if (list == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < spec->field_count; i++) {
        firn_status status = field_to_json(&spec->fields[i], list, error);
        if (status == FIRN_OK) continue;
        json_decref(list);
        return status;
    }
    *out = list;
    return FIRN_OK;
}

/** Takes over a reference to `value`, which may be NULL: then memory is out. */
static firn_status set_json(firn_avro_writer *avro, const char *key, json_t *value,
                            firn_error *error) {
    if (value == NULL) return firn_fail_memory(error);
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX / 4);
    firn_status status = firn_json_write(value, 0, &text, error);
    if (status == FIRN_OK) {
        status = firn_avro_writer_set_metadata(avro, key, firn_buffer_slice(&text), error);
    }
    firn_buffer_release(&text);
    json_decref(value);
    return status;
}

static firn_status set_number(firn_avro_writer *avro, const char *key, int64_t value,
                              firn_error *error) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    return firn_avro_writer_set_metadata(avro, key, firn_slice_text(text), error);
}

static firn_status set_header(firn_manifest_writer *writer, const firn_table_metadata *metadata,
                              firn_error *error) {
    json_t *fields = NULL;
    firn_avro_writer *avro = writer->avro;
    FIRN_TRY(set_json(avro, "schema", firn_schema_to_json(metadata->schema), error));
    FIRN_TRY(set_number(avro, "schema-id", metadata->schema->schema_id, error));
    FIRN_TRY(spec_fields(metadata, writer->spec, &fields, error));
    FIRN_TRY(set_json(avro, "partition-spec", fields, error));
    FIRN_TRY(set_number(avro, "partition-spec-id", writer->spec->spec_id, error));
    FIRN_TRY(set_number(avro, "format-version", writer->format_version, error));
    if (writer->format_version == 1) return FIRN_OK;
    const char *content = writer->deletes ? "deletes" : "data";
    return firn_avro_writer_set_metadata(avro, "content", firn_slice_text(content), error);
}

static firn_status open_writer(firn_manifest_writer *writer, const firn_table_metadata *metadata,
                               firn_error *error) {
    if (writer->format_version < 1 || writer->format_version > 3) {
        return firn_fail(error, FIRN_UNSUPPORTED, "manifests of format version %d can't be written",
                         writer->format_version);
    }
    if (writer->deletes && writer->format_version == 1) {
        return firn_fail(error, FIRN_INVALID, "a table of format version 1 has no delete files");
    }
    writer->arena = firn_arena_new();
    if (writer->arena == NULL) return firn_fail_memory(error);
    size_t count = writer->spec->field_count;
    writer->summaries = firn_arena_alloc(writer->arena, count, sizeof *writer->summaries);
    if (writer->summaries == NULL) return firn_fail_memory(error);
    firn_buffer schema = firn_buffer_with_maximum(SIZE_MAX / 4);
    firn_write_to to = firn_avro_to_buffer(&writer->file);
    firn_status status =
        firn_manifest_entry_schema(writer->format_version, writer->spec, &schema, error);
    if (status == FIRN_OK) {
        status = firn_avro_writer_new(firn_buffer_slice(&schema), NULL, &to, &writer->avro, error);
    }
    firn_buffer_release(&schema);
    return status == FIRN_OK ? set_header(writer, metadata, error) : status;
}

firn_status firn_manifest_writer_new(const firn_table_metadata *metadata,
                                     const firn_partition_spec *spec, bool deletes,
                                     int64_t snapshot_id, firn_manifest_writer **out,
                                     firn_error *error) {
    firn_manifest_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->format_version = metadata->format_version;
    writer->spec = spec;
    writer->deletes = deletes;
    writer->snapshot_id = snapshot_id;
    writer->file = firn_buffer_with_maximum(SIZE_MAX / 4);
    writer->record = firn_buffer_with_maximum(SIZE_MAX / 4);
    firn_status status = open_writer(writer, metadata, error);
    if (status != FIRN_OK) {
        firn_manifest_writer_free(writer);
        return status;
    }
    *out = writer;
    return FIRN_OK;
}

void firn_manifest_writer_free(firn_manifest_writer *writer) {
    if (writer == NULL) return;
    firn_avro_writer_free(writer->avro);
    firn_buffer_release(&writer->file);
    firn_buffer_release(&writer->record);
    firn_arena_free(writer->arena);
    firn_free(writer);
}

void firn_manifest_writer_use_pool(firn_manifest_writer *writer, firn_pool *pool) {
    firn_avro_writer_use_pool(writer->avro, pool);
}

/**
 * Who added a file, or took it away, is the writer's snapshot; EXISTING entries keep what they
 * have.
 */
static firn_status complete(const firn_manifest_writer *writer, const firn_manifest_entry *entry,
                            firn_manifest_entry *out, firn_error *error) {
    *out = *entry;
    bool existing = entry->status == FIRN_ENTRY_EXISTING;
    if (existing && !entry->has_snapshot_id) {
        return firn_fail(error, FIRN_INVALID, "%s: an EXISTING entry has no snapshot id",
                         entry->file.path);
    }
    if (existing && !entry->has_sequence_number && writer->format_version > 1) {
        return firn_fail(error, FIRN_INVALID, "%s: an EXISTING entry has no sequence number",
                         entry->file.path);
    }
    if (!existing) {
        out->has_snapshot_id = true;
        out->snapshot_id = writer->snapshot_id;
    }
    if (entry->status == FIRN_ENTRY_ADDED) {
        /* Both are the snapshot's, and are not known before the commit is. */
        out->has_file_sequence_number = false;
        out->file.has_first_row_id = false;
    }
    if (out->file.format_text == NULL) {
        out->file.format_text = firn_file_format_name(entry->file.format);
    }
    return FIRN_OK;
}

static firn_status check_content(const firn_manifest_writer *writer,
                                 const firn_manifest_entry *entry, firn_error *error) {
    bool deletes = entry->file.content != FIRN_CONTENT_DATA;
    if (entry->status < FIRN_ENTRY_EXISTING || entry->status > FIRN_ENTRY_DELETED) {
        return firn_fail(error, FIRN_INVALID, "%s: entry of an unknown status", entry->file.path);
    }
    if (deletes == writer->deletes) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s: a %s file in a manifest of %s", entry->file.path,
                     deletes ? "delete" : "data", deletes ? "data" : "deletes");
}

static firn_status count_entry(firn_manifest_writer *writer, const firn_manifest_entry *entry,
                               firn_error *error) {
    int64_t *rows = &writer->rows[entry->status];
    writer->files[entry->status]++;
    if (__builtin_add_overflow(*rows, entry->file.record_count, rows)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: number of rows is out of range",
                         entry->file.path);
    }
    for (size_t i = 0; i < writer->spec->field_count; i++) {
        FIRN_TRY(firn_summary_add(&writer->summaries[i], &entry->file.partition[i], writer->arena,
                                  error));
    }
    if (entry->status == FIRN_ENTRY_DELETED || !entry->has_sequence_number) return FIRN_OK;
    if (!writer->has_minimum || entry->sequence_number < writer->minimum) {
        writer->minimum = entry->sequence_number;
    }
    writer->has_minimum = true;
    return FIRN_OK;
}

firn_status firn_manifest_writer_add(firn_manifest_writer *writer, const firn_manifest_entry *entry,
                                     firn_error *error) {
    firn_manifest_entry completed;
    FIRN_TRY(check_content(writer, entry, error));
    FIRN_TRY(complete(writer, entry, &completed, error));
    firn_buffer_clear(&writer->record);
    FIRN_TRY(firn_error_wrap(error,
                             firn_manifest_entry_encode(writer->format_version, writer->spec,
                                                        &completed, &writer->record, error),
                             "%s", entry->file.path));
    FIRN_TRY(firn_avro_writer_add(writer->avro, firn_buffer_slice(&writer->record), error));
    return count_entry(writer, &completed, error);
}

size_t firn_manifest_writer_size(const firn_manifest_writer *writer) {
    return (size_t)firn_avro_writer_size(writer->avro);
}

size_t firn_manifest_writer_count(const firn_manifest_writer *writer) {
    return (size_t)firn_avro_writer_count(writer->avro);
}

static firn_status describe(const firn_manifest_writer *writer, firn_arena *arena,
                            firn_manifest_file *entry, firn_error *error) {
    size_t count = writer->spec->field_count;
    firn_partition_summary *summaries = firn_arena_alloc(arena, count, sizeof *summaries);
    if (summaries == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_summary_finish(&writer->summaries[i], arena, &summaries[i], error));
    }
    bool first_version = writer->format_version == 1;
    /* Numbers that are still to be inherited are larger than any that is known. */
    int64_t minimum = writer->has_minimum ? writer->minimum : -1;
    *entry = (firn_manifest_file){.length = (int64_t)writer->file.size,
                                  .partition_spec_id = writer->spec->spec_id,
                                  .content = writer->deletes ? FIRN_CONTENT_POSITION_DELETES
                                                             : FIRN_CONTENT_DATA,
                                  .sequence_number = first_version ? 0 : -1,
                                  .min_sequence_number = first_version ? 0 : minimum,
                                  .added_snapshot_id = writer->snapshot_id,
                                  .has_added_snapshot_id = true,
                                  .added_files_count = writer->files[FIRN_ENTRY_ADDED],
                                  .existing_files_count = writer->files[FIRN_ENTRY_EXISTING],
                                  .deleted_files_count = writer->files[FIRN_ENTRY_DELETED],
                                  .added_rows_count = writer->rows[FIRN_ENTRY_ADDED],
                                  .existing_rows_count = writer->rows[FIRN_ENTRY_EXISTING],
                                  .deleted_rows_count = writer->rows[FIRN_ENTRY_DELETED],
                                  .partitions = summaries,
                                  .partition_count = count};
    return FIRN_OK;
}

firn_status firn_manifest_writer_finish(firn_manifest_writer *writer, firn_buffer *out,
                                        firn_arena *arena, firn_manifest_file *entry,
                                        firn_error *error) {
    FIRN_TRY(firn_avro_writer_finish(writer->avro, NULL, error));
    FIRN_TRY(firn_buffer_append(out, writer->file.data, writer->file.size, error));
    return describe(writer, arena, entry, error);
}
