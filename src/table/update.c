#include "table/update.h"

#include <strings.h>

#include "base/alloc.h"
#include "table/commit_internal.h"

typedef struct update_work {
    firn_table *table;
    firn_journal *journal;
    const firn_update_source *source;
    char *uuid;
} update_work;

static firn_status announced(void *context, const char *location, firn_error *error) {
    return firn_journal_add(context, location, error);
}

static firn_status make_update(const update_work *work, firn_table_update *update,
                               firn_error *error) {
    FIRN_TRY(firn_table_update_init(update, error));
    FIRN_TRY(firn_require_uuid(update, work->table->metadata->table_uuid, error));
    update->announce = announced;
    update->announce_context = work->journal;
    return work->source->build(work->source->context, work->table, update, error);
}

static bool is_empty(const firn_table_update *update) {
    return json_array_size(update->updates) == 0;
}

static firn_status reload(const update_work *work, firn_error *error) {
    FIRN_TRY(firn_table_reload(work->table, error));
    const char *uuid = work->table->metadata->table_uuid;
    /* An upgrade gives a uuid to a table that had none. */
    if (work->uuid[0] == '\0' || (uuid != NULL && strcasecmp(uuid, work->uuid) == 0)) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: another table has taken its place meanwhile; run this again",
                     work->table->display_name);
}

/** Without a snapshot to look for, the outcome is told by what the table has become: whoever made it so, it is as it shall be. */
static firn_status settle(const update_work *work, const firn_error *cause, firn_error *error) {
    firn_table_update update = {0};
    bool holds = reload(work, NULL) == FIRN_OK && make_update(work, &update, NULL) == FIRN_OK &&
                 is_empty(&update);
    firn_table_update_release(&update);
    if (holds) return FIRN_OK;
    return firn_fail(error, FIRN_COMMIT_UNKNOWN,
                     "table %s: whether the change was committed can't be told; every file is "
                     "kept: %s",
                     work->table->display_name, cause->message);
}

static firn_status attempt(const update_work *work, bool *changed, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_table *table = work->table;
    firn_table_update update = {0};
    firn_table_pointer committed = {0};
    firn_error cause;
    firn_error_clear(&cause);
    *changed = false;
    FIRN_CHECK(make_update(work, &update, error));
    if (is_empty(&update)) goto out;
    *changed = true;
    status = firn_catalog_commit(table->catalog, firn_table_own_name(table), &table->pointer,
                                 &update, &committed, &cause);
    if (status == FIRN_OK) {
        status = firn_table_adopt(table, &committed, error);
    } else if (status == FIRN_COMMIT_UNKNOWN) {
        status = settle(work, &cause, error);
    } else if (error != NULL) {
        *error = cause;
    }
out:
    firn_table_update_release(&update);
    return status;
}

static firn_status try_until_done(const update_work *work, bool *changed, firn_error *error) {
    firn_commit_retry retry;
    FIRN_TRY(firn_commit_retry_init(&retry, work->table->metadata, error));
    for (int number = 1;; number++) {
        bool more = false;
        firn_status status = attempt(work, changed, error);
        if (status != FIRN_CONFLICT) return status;
        FIRN_TRY(firn_commit_retry_wait(&retry, number, &more, error));
        if (!more) return status;
        if (error != NULL) firn_error_clear(error);
        FIRN_TRY(reload(work, error));
    }
}

firn_status firn_table_commit_update(firn_table *table, firn_journal *journal,
                                     const firn_update_source *source, bool *changed,
                                     firn_error *error) {
    const char *uuid = table->metadata->table_uuid;
    update_work work = {table, journal, source, firn_strdup(uuid == NULL ? "" : uuid)};
    *changed = false;
    if (work.uuid == NULL) return firn_fail_memory(error);
    firn_status status = try_until_done(&work, changed, error);
    if (status == FIRN_OK && *changed) {
        firn_commit_refresh_version_hint(table, journal);
    } else if (status == FIRN_COMMIT_UNKNOWN) {
        /* Should this fail, the journal still names the file, and reachability protects it if it landed. */
        (void)firn_journal_keep(journal, NULL);
    }
    firn_free(work.uuid);
    return firn_error_wrap(error, status, "commit");
}
