/** The metadata file against itself, and the files that only it names. */
#include "data/projection.h"
#include "upkeep/verify_internal.h"

static firn_status check_log(firn_verifier *verifier, firn_error *error) {
    const firn_table_metadata *metadata = verifier->table->metadata;
    for (size_t i = 0; i < metadata->metadata_log_count; i++) {
        bool exists = false;
        verifier->out->metadata_files++;
        FIRN_TRY(firn_verify_exists(verifier->table, verifier->out, "a metadata file of the log",
                                    metadata->metadata_log[i].metadata_file, -1,
                                    FIRN_VERIFY_WARNING, false, &exists, error));
    }
    return FIRN_OK;
}

static firn_status check_statistics(firn_verifier *verifier, const char *key, firn_error *error) {
    const json_t *list = json_object_get(verifier->table->metadata->json, key);
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)list, index, item) {
        const char *path = json_string_value(json_object_get(item, "statistics-path"));
        const json_t *size = json_object_get(item, "file-size-in-bytes");
        bool exists = false;
        if (path == NULL) continue;
        verifier->out->statistics_files++;
        FIRN_TRY(firn_verify_exists(verifier->table, verifier->out, "a statistics file", path,
                                    json_is_integer(size) ? json_integer_value(size) : -1,
                                    FIRN_VERIFY_WARNING, false, &exists, error));
    }
    return FIRN_OK;
}

static firn_status check_snapshot(firn_verifier *verifier, const firn_snapshot *snapshot,
                                  firn_error *error) {
    const firn_table_metadata *metadata = verifier->table->metadata;
    long long id = (long long)snapshot->snapshot_id;
    if (snapshot->sequence_number > metadata->last_sequence_number) {
        FIRN_TRY(firn_verify_add(
            verifier->out, error, FIRN_VERIFY_ERROR, "sequence",
            verifier->table->pointer.metadata_location, FIRN_VERIFY_WRITER,
            "snapshot %lld has sequence number %lld, above last-sequence-number %lld", id,
            (long long)snapshot->sequence_number, (long long)metadata->last_sequence_number));
    }
    int64_t end = 0;
    if (!snapshot->has_first_row_id || !snapshot->has_added_rows) return FIRN_OK;
    /* Parsing has made next_row_id at least every id that a snapshot assigned; what the document says counts here. */
    const json_t *next = json_object_get(metadata->json, "next-row-id");
    bool fits = !__builtin_add_overflow(snapshot->first_row_id, snapshot->added_rows, &end);
    if (fits && json_is_integer(next) && end <= json_integer_value(next)) return FIRN_OK;
    return firn_verify_add(verifier->out, error, FIRN_VERIFY_ERROR, "row-ids",
                           verifier->table->pointer.metadata_location, FIRN_VERIFY_WRITER,
                           "snapshot %lld assigned row ids up to %lld, and next-row-id is %lld", id,
                           (long long)end, (long long)json_integer_value(next));
}

static firn_status read_name_mapping(firn_verifier *verifier, firn_error *error) {
    const firn_table *table = verifier->table;
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_name_mapping_of_table(table->metadata, verifier->out->arena,
                                                    &verifier->name_mapping, &problem);
    if (status != FIRN_OK) verifier->name_mapping = NULL;
    return firn_verify_take(verifier->out, status, &problem, "mapping",
                            table->pointer.metadata_location, FIRN_VERIFY_WRITER, error);
}

firn_status firn_verify_metadata(firn_verifier *verifier, firn_error *error) {
    const firn_table_metadata *metadata = verifier->table->metadata;
    verifier->out->metadata_files++;
    FIRN_TRY(check_log(verifier, error));
    FIRN_TRY(check_statistics(verifier, "statistics", error));
    FIRN_TRY(check_statistics(verifier, "partition-statistics", error));
    FIRN_TRY(read_name_mapping(verifier, error));
    for (size_t i = 0; i < metadata->snapshot_count; i++) {
        FIRN_TRY(check_snapshot(verifier, &metadata->snapshots[i], error));
    }
    return FIRN_OK;
}
