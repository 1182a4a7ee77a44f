/** The live files of a snapshot, taken together. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/plural.h"
#include "data/deletes.h"
#include "upkeep/verify_internal.h"

static firn_status check_duplicates(firn_verifier *verifier, const firn_live_files *files,
                                    const char *ref, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_map *seen = firn_map_new();
    if (seen == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) {
        const char *path = files->data[i].entry.file.path;
        if (firn_map_has_text(seen, path)) {
            FIRN_CHECK(
                firn_verify_add(verifier->out, error, FIRN_VERIFY_ERROR, "duplicate", path,
                                "roll back to the snapshot before it was added a second time",
                                "is live twice in %s: its rows may be read twice", ref));
        }
        FIRN_CHECK(firn_map_set_text(seen, path, verifier, error));
    }
out:
    firn_map_free(seen);
    return status;
}

typedef struct totals {
    int64_t data_files, delete_files, records, bytes, position_deletes, equality_deletes;
} totals;

static totals add_up(const firn_live_files *files) {
    totals sum = {(int64_t)files->data_count, (int64_t)files->delete_count, 0, 0, 0, 0};
    for (size_t i = 0; i < files->data_count; i++) {
        sum.records += files->data[i].entry.file.record_count;
        sum.bytes += files->data[i].entry.file.file_size_in_bytes;
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_data_file *file = &files->deletes[i].entry.file;
        bool equality = file->content == FIRN_CONTENT_EQUALITY_DELETES;
        /* Of a vector its own bytes count, not those of the Puffin file around it. */
        sum.bytes +=
            file->has_content_offset ? file->content_size_in_bytes : file->file_size_in_bytes;
        *(equality ? &sum.equality_deletes : &sum.position_deletes) += file->record_count;
    }
    return sum;
}

/** Only what engines show: wrong totals lead no reader astray. */
static firn_status check_totals(firn_verifier *verifier, const firn_snapshot *snapshot,
                                const firn_live_files *files, firn_error *error) {
    totals sum = add_up(files);
    const struct {
        const char *key;
        int64_t found;
    } checks[] = {{"total-data-files", sum.data_files},
                  {"total-delete-files", sum.delete_files},
                  {"total-records", sum.records},
                  {"total-position-deletes", sum.position_deletes},
                  {"total-equality-deletes", sum.equality_deletes},
                  {"total-files-size", sum.bytes}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *text = json_string_value(json_object_get(snapshot->summary, checks[i].key));
        if (text == NULL || strtoll(text, NULL, 10) == checks[i].found) continue;
        FIRN_TRY(firn_verify_add(verifier->out, error, FIRN_VERIFY_WARNING, "summary",
                                 verifier->table->pointer.metadata_location,
                                 "nothing for its rows; a writer that leaves the total out starts "
                                 "it anew",
                                 "the summary of snapshot %" PRId64
                                 " has %s %s, and it is %" PRId64,
                                 snapshot->snapshot_id, checks[i].key, text, checks[i].found));
    }
    return FIRN_OK;
}

/** Such a position takes no row from any reader; whether the row that it was meant for lives, nobody can tell. */
static firn_status tell_past_end(firn_verifier *verifier, const firn_live_files *files,
                                 const firn_deletes *deletes, const char *ref, firn_error *error) {
    for (size_t i = 0; deletes->past_end != NULL && i < files->delete_count; i++) {
        const firn_deletes_past_end *past = &deletes->past_end[i];
        if (past->data == NULL) continue;
        FIRN_TRY(firn_verify_add(verifier->out, error, FIRN_VERIFY_WARNING, "positions",
                                 files->deletes[i].entry.file.path, FIRN_VERIFY_WRITER,
                                 "in %s it deletes position %" PRIu64 " of %s, which has %" PRId64
                                 " row%s, from position 0 on",
                                 ref, past->position, past->data->entry.file.path,
                                 past->data->entry.file.record_count,
                                 firn_plural((uint64_t)past->data->entry.file.record_count)));
    }
    return FIRN_OK;
}

/** Reads every delete file and looks up what it deletes. */
static firn_status resolve(firn_verifier *verifier, const firn_live_files *files, const char *ref,
                           firn_error *error) {
    firn_deletes deletes = {0};
    firn_error problem;
    firn_error_clear(&problem);
    const firn_live_file **data = firn_alloc_array(files->data_count, sizeof *data);
    if (data == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) data[i] = &files->data[i];
    firn_deletes_request request = {.table = verifier->table,
                                    .files = files,
                                    .data = data,
                                    .data_count = files->data_count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = verifier->options->pool,
                                    .memory_bytes = verifier->options->memory_bytes};
    firn_status status = firn_deletes_resolve(&request, &deletes, &problem);
    status = firn_verify_take(verifier->out, status, &problem, "deletes", NULL, FIRN_VERIFY_RESTORE,
                              error);
    if (status == FIRN_OK) status = tell_past_end(verifier, files, &deletes, ref, error);
    firn_deletes_release(&deletes);
    firn_free(data);
    return status;
}

firn_status firn_verify_live(firn_verifier *verifier, const firn_snapshot *snapshot,
                             const char *ref, firn_error *error) {
    firn_live_files files = {0};
    firn_error problem;
    firn_error_clear(&problem);
    if (snapshot == NULL) return FIRN_OK;
    size_t faults = verifier->out->counts[FIRN_VERIFY_ERROR];
    firn_status status = firn_table_live_files(verifier->table, snapshot, &files, &problem);
    if (status != FIRN_OK) {
        size_t before = verifier->out->findings.count;
        status = firn_verify_take(verifier->out, status, &problem, "live-files", NULL,
                                  FIRN_VERIFY_WRITER, error);
        /* What can't be read has been told by itself; what only shows here has not. */
        if (faults > 0) firn_verify_forget(verifier->out, before);
        return status;
    }
    FIRN_CHECK(check_duplicates(verifier, &files, ref, error));
    FIRN_CHECK(check_totals(verifier, snapshot, &files, error));
    FIRN_CHECK(firn_verify_deletes(verifier, &files, ref, error));
    FIRN_CHECK(firn_verify_row_ids(verifier, snapshot, &files, ref, error));
    if (verifier->options->deep && files.delete_count > 0) {
        FIRN_CHECK(resolve(verifier, &files, ref, error));
    }
out:
    firn_live_files_release(&files);
    return status;
}
