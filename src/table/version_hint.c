#include "table/version_hint.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "catalog/directory_versions.h"
#include "catalog/metadata_file.h"
#include "table/commit_internal.h"

#define ENDING ".metadata.json"
#define HINT_MAXIMUM ((size_t)4096)
#define LOOKS 4 /* at the pointer, after the hint was replaced */

/** What the hint is to say of a metadata file; owned, NULL when memory is out. */
static char *hint_text(const char *metadata_location) {
    const char *name = firn_location_file_name(metadata_location);
    size_t length = strlen(name);
    return firn_strndup(name, length - strlen(ENDING));
}

/** Readers of a hint put ".metadata.json" behind it: other names, and v<N> of directory catalogs, are none that it could say. */
static bool can_be_named(const char *metadata_location) {
    const char *name = firn_location_file_name(metadata_location);
    size_t length = strlen(name);
    return firn_version_of_name(name) < 0 && length > strlen(ENDING) &&
           strcmp(name + length - strlen(ENDING), ENDING) == 0;
}

/** Whether a metadata file lies where readers of a bare folder look for it. */
static firn_status lies_in_folder(const char *folder, const char *metadata_location, bool *out,
                                  firn_error *error) {
    char *parent = firn_strndup(metadata_location, firn_location_folder_length(metadata_location));
    char *left = parent == NULL ? NULL : firn_location_key(parent);
    char *right = firn_location_key(folder);
    bool complete = left != NULL && right != NULL;
    *out = complete && strcmp(left, right) == 0;
    firn_free(parent);
    firn_free(left);
    firn_free(right);
    return complete ? FIRN_OK : firn_fail_memory(error);
}

/** The hint as it is; *found is false when there is none. One that is too long is there, and wrong. */
static firn_status read_hint(firn_storage *storage, const char *location, firn_buffer *text,
                             bool *found, firn_error *error) {
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_storage_read_all(storage, location, text, &problem);
    *found = status == FIRN_OK || status == FIRN_LIMIT;
    if (*found || status == FIRN_NOT_FOUND) return FIRN_OK;
    if (error != NULL) *error = problem;
    return status;
}

/** The file under its temporary name would be left behind by a kill. */
static firn_status announce(firn_journal *journal, const char *location, firn_error *error) {
    char *temporary = NULL;
    if (journal == NULL) return FIRN_OK;
    FIRN_TRY(firn_storage_temporary_name(location, &temporary, error));
    firn_status status = FIRN_OK;
    if (!firn_journal_has(journal, temporary)) status = firn_journal_add(journal, temporary, error);
    firn_free(temporary);
    return status;
}

/** *replaced: the hint said something else before. */
static firn_status set_hint(firn_table *table, firn_journal *journal, const char *location,
                            const char *metadata_location, bool create, bool *replaced,
                            firn_error *error) {
    firn_status status = FIRN_OK;
    bool found = false;
    firn_buffer before = firn_buffer_with_maximum(HINT_MAXIMUM);
    char *text = hint_text(metadata_location);
    *replaced = false;
    if (text == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(read_hint(table->storage, location, &before, &found, error));
    if (!found && !create) goto out;
    if (found && firn_slice_equal(firn_buffer_slice(&before), firn_slice_text(text))) goto out;
    FIRN_CHECK(announce(journal, location, error));
    *replaced = true;
    FIRN_CHECK(firn_storage_replace(table->storage, location, firn_slice_text(text), error));
out:
    firn_buffer_release(&before);
    firn_free(text);
    return status;
}

/** Another commit may have come in between, and its hint before ours. */
static firn_status follow_pointer(firn_table *table, firn_journal *journal, const char *folder,
                                  const char *location, bool create, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_table_pointer fresh = {0};
    const char *at = table->pointer.metadata_location;
    for (int look = 0; look < LOOKS; look++) {
        bool inside = false, replaced = false;
        FIRN_CHECK(lies_in_folder(folder, at, &inside, error));
        if (!inside || !can_be_named(at)) break;
        FIRN_CHECK(set_hint(table, journal, location, at, create, &replaced, error));
        if (!replaced) break;
        firn_table_pointer_release(&fresh);
        FIRN_CHECK(firn_catalog_load(table->catalog, firn_table_own_name(table), &fresh, error));
        at = fresh.metadata_location;
    }
out:
    firn_table_pointer_release(&fresh);
    return status;
}

static firn_status refresh(firn_table *table, firn_journal *journal, bool create,
                           firn_error *error) {
    char *folder = firn_format("%s/metadata", table->metadata->location);
    char *location = folder == NULL ? NULL : firn_format("%s/" FIRN_VERSION_HINT, folder);
    firn_status status = location == NULL
                             ? firn_fail_memory(error)
                             : follow_pointer(table, journal, folder, location, create, error);
    firn_free(folder);
    firn_free(location);
    return firn_error_wrap(error, status, "table %s: version hint", table->display_name);
}

firn_status firn_table_refresh_version_hint(firn_table *table, firn_journal *journal, bool create,
                                            firn_error *error) {
    return refresh(table, journal, create, error);
}

void firn_commit_refresh_version_hint(firn_table *table, firn_journal *journal) {
    firn_error problem;
    firn_error_clear(&problem);
    if (refresh(table, journal, false, &problem) == FIRN_OK) return;
    firn_log_warning("the commit went through, but the version hint may name an older state; the "
                     "next commit sets it: %s",
                     problem.message);
}
