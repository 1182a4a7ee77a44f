/** Where a table is after an attempt that did not go through, or whose outcome was not learnt (design, 6.3 items 2 and 5). */
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "table/commit_internal.h"

#define LOADS 3 /* of a table whose commit's outcome is to be learnt */

static bool is_same_table(const firn_commit_work *work) {
    const char *uuid = work->table->metadata->table_uuid;
    return strcasecmp(work->table_uuid, uuid == NULL ? "" : uuid) == 0;
}

/** Whether `ancestor` is reached from the ref's head over parents that are all there. FIRN_NO_SNAPSHOT: whether the first snapshot is. */
static bool descends_from(const firn_table *table, int64_t ancestor) {
    const firn_table_metadata *metadata = table->metadata;
    const firn_snapshot *at = table->snapshot;
    if (firn_commit_head(table) == ancestor) return true;
    /* Parents may form a circle in what others wrote. */
    for (size_t steps = 0; at != NULL && steps < metadata->snapshot_count; steps++) {
        if (!at->has_parent) return ancestor == FIRN_NO_SNAPSHOT;
        if (at->parent_snapshot_id == ancestor) return true;
        at = firn_table_metadata_snapshot(metadata, at->parent_snapshot_id);
    }
    return false;
}

firn_status firn_commit_reload(firn_commit_work *work, bool *moved, firn_error *error) {
    firn_table *table = work->table;
    FIRN_TRY(firn_table_reload(table, error));
    if (!is_same_table(work)) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: another table has taken its place meanwhile; run this again",
                         table->display_name);
    }
    if (!descends_from(table, work->pinned)) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: '%s' no longer leads back to snapshot %lld (it was rolled "
                         "back, replaced or expired meanwhile); run this again",
                         table->display_name, table->ref, (long long)work->pinned);
    }
    *moved = firn_commit_head(table) != work->parent ||
             table->metadata->format_version != work->format_version;
    return FIRN_OK;
}

static firn_status fail_unknown(const firn_commit_work *work, const firn_error *cause,
                                firn_error *error) {
    return firn_fail(error, FIRN_COMMIT_UNKNOWN,
                     "table %s: whether snapshot %lld was committed can't be told; every file is "
                     "kept: %s",
                     work->table->display_name, (long long)work->snapshot_id, cause->message);
}

static firn_status load_patiently(firn_commit_work *work) {
    firn_commit_retry retry;
    firn_status status = firn_commit_retry_init(&retry, work->table->metadata, NULL);
    if (status != FIRN_OK) return status;
    for (int number = 1;; number++) {
        bool more = false;
        status = firn_table_reload(work->table, NULL);
        if (status == FIRN_OK || number == LOADS) return status;
        if (firn_commit_retry_wait(&retry, number, &more, NULL) != FIRN_OK || !more) return status;
    }
}

firn_status firn_commit_settle(firn_commit_work *work, const firn_error *cause, firn_error *error) {
    firn_table *table = work->table;
    if (load_patiently(work) != FIRN_OK || !is_same_table(work)) {
        return fail_unknown(work, cause, error);
    }
    if (firn_table_metadata_snapshot(table->metadata, work->snapshot_id) != NULL) {
        firn_log_warning("table %s: snapshot %lld is there although its commit was reported as "
                         "failed: %s",
                         table->display_name, (long long)work->snapshot_id, cause->message);
        return FIRN_OK;
    }
    /*
     * What was asked for needs the ref at its parent. As long as it is there, the request may still be on its way. A head that
     * came after it, without ours among its ancestors, means that ours never was; a gap among them could be ours, expired.
     */
    if (firn_commit_head(table) == work->parent || !descends_from(table, work->parent)) {
        return fail_unknown(work, cause, error);
    }
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: another writer committed to '%s' first (%s); run this again",
                     table->display_name, table->ref, cause->message);
}
