/** A commit: the change is built, its manifests are written, and the pointer is swapped, again and again while others come first. */
#include "table/commit.h"

#include <strings.h>

#include "base/alloc.h"
#include "base/random.h"
#include "table/commit_internal.h"

firn_status firn_commit_choose_snapshot_id(const firn_table_metadata *metadata, int64_t *out,
                                           firn_error *error) {
    do {
        FIRN_TRY(firn_random_id(out, error));
    } while (firn_table_metadata_snapshot(metadata, *out) != NULL);
    return FIRN_OK;
}

static firn_status refuse_tag(const firn_table *table, firn_error *error) {
    const firn_snapshot_ref *ref = firn_table_metadata_ref(table->metadata, table->ref);
    if (ref == NULL || ref->is_branch) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table %s: '%s' is a tag; only branches can be committed to",
                     table->display_name, table->ref);
}

static firn_status begin(firn_commit_work *work, firn_error *error) {
    const firn_table *table = work->table;
    const firn_table_metadata *metadata = table->metadata;
    work->arena = firn_arena_new();
    if (work->arena == NULL) return firn_fail_memory(error);
    work->pinned = firn_commit_head(table);
    work->table_uuid =
        firn_arena_strdup(work->arena, metadata->table_uuid == NULL ? "" : metadata->table_uuid);
    if (work->table_uuid == NULL) return firn_fail_memory(error);
    FIRN_TRY(refuse_tag(table, error));
    FIRN_TRY(firn_uuid_random(work->uuid, error));
    return firn_commit_choose_snapshot_id(metadata, &work->snapshot_id, error);
}

static firn_status build(firn_commit_work *work, bool moved, firn_error *error) {
    work->change = (firn_file_change){0};
    work->format_version = work->table->metadata->format_version;
    work->parent = firn_commit_head(work->table);
    FIRN_TRY(work->source->build(work->source->context, work->table, moved, &work->change, error));
    FIRN_TRY(firn_commit_take_added(work, moved, error));
    FIRN_TRY(firn_commit_write_manifests(work, error));
    return firn_commit_check_row_ids(work, error);
}

/** Where metadata goes may be changed by a property while others commit. */
static firn_status find_folder(firn_commit_work *work, firn_error *error) {
    firn_free(work->folder);
    work->folder = NULL;
    return firn_metadata_folder(work->table->metadata, &work->folder, error);
}

static firn_status try_once(firn_commit_work *work, firn_error *error) {
    firn_table_pointer committed = {0};
    firn_error cause;
    firn_error_clear(&cause);
    work->attempts++;
    firn_status status = firn_commit_attempt(work, &committed, &cause);
    if (status == FIRN_OK) return firn_table_adopt(work->table, &committed, error);
    if (status == FIRN_COMMIT_UNKNOWN) return firn_commit_settle(work, &cause, error);
    if (error != NULL) *error = cause;
    return status;
}

/** The table was loaded anew after a conflict. */
static firn_status follow(firn_commit_work *work, firn_error *error) {
    bool moved = false;
    FIRN_TRY(firn_commit_reload(work, &moved, error));
    FIRN_TRY(find_folder(work, error));
    if (!moved) return firn_commit_check_specs(work, error);
    FIRN_TRY(firn_commit_remember_manifests(work, error));
    return build(work, true, error);
}

static firn_status try_until_done(firn_commit_work *work, firn_commit_result *out,
                                  firn_error *error) {
    firn_commit_retry retry;
    FIRN_TRY(firn_commit_retry_init(&retry, work->table->metadata, error));
    FIRN_TRY(find_folder(work, error));
    FIRN_TRY(build(work, false, error));
    for (;;) {
        bool more = false;
        out->sequence_number = firn_commit_next_sequence_number(work->table->metadata);
        firn_status status = try_once(work, error);
        if (status != FIRN_CONFLICT) return status;
        FIRN_TRY(firn_commit_retry_wait(&retry, work->attempts, &more, error));
        if (!more) return status;
        if (error != NULL) firn_error_clear(error);
        FIRN_TRY(follow(work, error));
    }
}

static void report(const firn_commit_work *work, firn_commit_result *out) {
    out->snapshot_id = work->snapshot_id;
    out->attempts = work->attempts;
    out->manifests_kept = work->kept;
    out->manifests_written = firn_commit_added_count(work);
    for (size_t i = 0; i < work->written.count; i++) {
        out->manifests_written += work->written.items[i].used ? 1 : 0;
    }
}

firn_status firn_table_commit_changes(firn_table *table, firn_journal *journal,
                                      const firn_change_source *source, firn_commit_result *out,
                                      firn_error *error) {
    firn_commit_work work = {.table = table, .journal = journal, .source = source};
    *out = (firn_commit_result){0};
    firn_status status = begin(&work, error);
    if (status == FIRN_OK) status = try_until_done(&work, out, error);
    report(&work, out);
    if (status == FIRN_OK) {
        firn_commit_remove_abandoned(&work);
        firn_commit_refresh_version_hint(table, journal);
    } else if (status == FIRN_COMMIT_UNKNOWN) {
        /* Should this fail, the journal still names the files, and reachability protects what landed. */
        (void)firn_journal_keep(journal, NULL);
    }
    firn_vector_release(&work.manifests);
    firn_vector_release(&work.written);
    firn_vector_release(&work.lists);
    firn_map_free(work.added_before);
    firn_free(work.folder);
    firn_arena_free(work.arena);
    return firn_error_wrap(error, status, "commit");
}

static firn_status build_fixed(void *context, firn_table *table, bool moved,
                               firn_file_change *change, firn_error *error) {
    if (moved) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: another writer committed to '%s' meanwhile; run this again",
                         table->display_name, table->ref);
    }
    *change = *(const firn_file_change *)context;
    return FIRN_OK;
}

firn_status firn_table_commit_files(firn_table *table, firn_journal *journal,
                                    const firn_file_change *change, firn_commit_result *out,
                                    firn_error *error) {
    firn_change_source source = {build_fixed, (void *)(uintptr_t)change};
    return firn_table_commit_changes(table, journal, &source, out, error);
}
