/** What live files say of each other: deletes of data files, and row ids. */
#include <inttypes.h>
#include <stdlib.h>

#include "iceberg/delete_index.h"
#include "upkeep/verify_internal.h"

static firn_status mark_used(firn_verifier *verifier, const firn_live_files *files,
                             const firn_delete_index *index, bool *used, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) {
        const size_t *found = NULL;
        size_t count = 0;
        firn_error problem;
        firn_error_clear(&problem);
        firn_arena_clear(arena);
        status =
            firn_delete_index_find(index, &files->data[i].entry, arena, &found, &count, &problem);
        FIRN_CHECK(firn_verify_take(verifier->out, status, &problem, "vector",
                                    files->data[i].entry.file.path, FIRN_VERIFY_WRITER, error));
        for (size_t j = 0; status == FIRN_OK && j < count; j++) used[found[j]] = true;
    }
out:
    firn_arena_free(arena);
    return status;
}

static firn_status tell_dangling(firn_verifier *verifier, const firn_live_files *files,
                                 const bool *used, const char *ref, firn_error *error) {
    for (size_t i = 0; i < files->delete_count; i++) {
        if (used[i]) continue;
        FIRN_TRY(firn_verify_add(verifier->out, error, FIRN_VERIFY_NOTE, "dangling",
                                 files->deletes[i].entry.file.path,
                                 "firn remove-dangling-deletes takes it out",
                                 "a delete file of %s that deletes nothing any more", ref));
    }
    return FIRN_OK;
}

firn_status firn_verify_deletes(firn_verifier *verifier, const firn_live_files *files,
                                const char *ref, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_delete_index *index = NULL;
    if (files->delete_count == 0) return FIRN_OK;
    bool *used = firn_alloc_zeroed(files->delete_count, sizeof *used);
    const firn_manifest_entry **entries = firn_alloc_array(files->delete_count, sizeof *entries);
    if (used == NULL || entries == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->delete_count; i++) entries[i] = &files->deletes[i].entry;
    firn_error problem;
    firn_error_clear(&problem);
    status = firn_delete_index_new(verifier->table->metadata, entries, files->delete_count, &index,
                                   &problem);
    FIRN_CHECK(firn_verify_take(verifier->out, status, &problem, "deletes", NULL,
                                FIRN_VERIFY_WRITER, error));
    if (index == NULL) goto out;
    FIRN_CHECK(mark_used(verifier, files, index, used, error));
    FIRN_CHECK(tell_dangling(verifier, files, used, ref, error));
out:
    firn_delete_index_free(index);
    firn_free(used);
    firn_free(entries);
    return status;
}

static int order_row_ids(const void *left, const void *right) {
    const firn_data_file *a = *(const firn_data_file *const *)left;
    const firn_data_file *b = *(const firn_data_file *const *)right;
    return (a->first_row_id > b->first_row_id) - (a->first_row_id < b->first_row_id);
}

static firn_status check_range(firn_verifier *verifier, const firn_data_file *file,
                               const firn_data_file *before, firn_error *error) {
    const json_t *next = json_object_get(verifier->table->metadata->json, "next-row-id");
    int64_t end = 0;
    bool fits = file->first_row_id >= 0 &&
                !__builtin_add_overflow(file->first_row_id, file->record_count, &end);
    if (!fits || end > json_integer_value(next)) {
        FIRN_TRY(firn_verify_add(
            verifier->out, error, FIRN_VERIFY_ERROR, "row-ids", file->path, FIRN_VERIFY_WRITER,
            "its row ids begin at %" PRId64 ", and end above next-row-id", file->first_row_id));
    }
    if (before == NULL || before->first_row_id + before->record_count <= file->first_row_id) {
        return FIRN_OK;
    }
    return firn_verify_add(verifier->out, error, FIRN_VERIFY_ERROR, "row-ids", file->path,
                           FIRN_VERIFY_WRITER,
                           "its row ids, from %" PRId64 " on, are those of file %s, too",
                           file->first_row_id, before->path);
}

/** A table has row ids from its first snapshot of format 3 on; until then files have none. */
firn_status firn_verify_row_ids(firn_verifier *verifier, const firn_snapshot *snapshot,
                                const firn_live_files *files, const char *ref, firn_error *error) {
    firn_status status = FIRN_OK;
    size_t count = 0;
    if (verifier->table->metadata->format_version < 3 || !snapshot->has_first_row_id) {
        return FIRN_OK;
    }
    const firn_data_file **sorted = firn_alloc_array(files->data_count, sizeof *sorted);
    if (sorted == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) {
        const firn_data_file *file = &files->data[i].entry.file;
        if (file->has_first_row_id) {
            if (file->record_count > 0) sorted[count++] = file;
            continue;
        }
        FIRN_CHECK(firn_verify_add(verifier->out, error, FIRN_VERIFY_ERROR, "row-ids", file->path,
                                   FIRN_VERIFY_WRITER, "has no row ids in %s", ref));
    }
    if (count > 1) qsort(sorted, count, sizeof *sorted, order_row_ids);
    for (size_t i = 0; i < count; i++) {
        FIRN_CHECK(check_range(verifier, sorted[i], i == 0 ? NULL : sorted[i - 1], error));
    }
out:
    firn_free(sorted);
    return status;
}
