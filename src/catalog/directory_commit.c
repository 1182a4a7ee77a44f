#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "catalog/directory.h"
#include "catalog/directory_versions.h"
#include "catalog/metadata_file.h"

/* One attempt to become version `number`. */
typedef struct version_attempt {
    firn_directory_catalog *catalog;
    int64_t number;
    firn_version_spelling spelling;
    char *folder; /* of the metadata files, spelled as the table spells itself */
    char *location;
    firn_buffer bytes;
    firn_table_metadata *next;
} version_attempt;

static firn_status fail_taken(const version_attempt *attempt, firn_error *error) {
    return firn_fail(error, FIRN_CONFLICT, "%s: another writer committed version %" PRId64 " first",
                     attempt->catalog->path, attempt->number);
}

static firn_status fail_unknown(const version_attempt *attempt, const firn_error *cause,
                                firn_error *error) {
    return firn_fail(error, FIRN_COMMIT_UNKNOWN,
                     "whether %s became the table's metadata can't be told; every file is kept: %s",
                     attempt->location, cause->message);
}

/* The base must still be the current version, in whatever spelling the next one would come. */
static firn_status check_current(const version_attempt *attempt, const firn_table_pointer *base,
                                 firn_error *error) {
    bool taken = false;
    FIRN_TRY(firn_version_exists(attempt->catalog->storage, attempt->folder, attempt->number,
                                 FIRN_VERSION_SPELLINGS, &taken, error));
    if (taken) return fail_taken(attempt, error);
    firn_directory_version current = {0};
    FIRN_TRY(firn_find_current_version(attempt->catalog->storage, attempt->folder,
                                       &attempt->catalog->waited, &current, error));
    const char *name = firn_location_file_name(base->metadata_location);
    bool same = current.number == attempt->number - 1 && strcmp(current.name, name) == 0;
    firn_free(current.name);
    return same ? FIRN_OK : fail_taken(attempt, error);
}

typedef enum found { FOUND_OURS, FOUND_OTHER, FOUND_NONE, FOUND_UNKNOWN } found;

static found read_back(const version_attempt *attempt, firn_error *cause) {
    firn_buffer bytes = firn_buffer_with_maximum(FIRN_METADATA_FILE_MAXIMUM);
    firn_status status =
        firn_storage_read_all(attempt->catalog->storage, attempt->location, &bytes, cause);
    found result = FOUND_UNKNOWN;
    if (status == FIRN_OK) {
        bool ours = firn_slice_equal(firn_buffer_slice(&bytes), firn_buffer_slice(&attempt->bytes));
        result = ours ? FOUND_OURS : FOUND_OTHER;
    } else if (status == FIRN_NOT_FOUND) {
        result = FOUND_NONE;
    }
    firn_buffer_release(&bytes);
    return result;
}

/* The version's own name is not announced: another writer may take it. */
static firn_status announce_temporary(const firn_table_update *update, const char *location,
                                      firn_error *error) {
    char *temporary = NULL;
    FIRN_TRY(firn_storage_temporary_name(location, &temporary, error));
    firn_status status = firn_announce_file(update, temporary, error);
    firn_free(temporary);
    return status;
}

/* Of all that this commit makes; the hint's before the commit, since nothing may fail after it. */
static firn_status announce(const version_attempt *attempt, const firn_table_update *update,
                            firn_error *error) {
    FIRN_TRY(announce_temporary(update, attempt->location, error));
    char *hint = firn_format("%s/" FIRN_VERSION_HINT, attempt->folder);
    if (hint == NULL) return firn_fail_memory(error);
    firn_status status = announce_temporary(update, hint, error);
    firn_free(hint);
    return status;
}

/* The commit point. A failure other than EXISTS may have left the file: it is read to know. */
static firn_status create_version(const version_attempt *attempt, firn_error *error) {
    firn_error cause;
    firn_error_clear(&cause);
    firn_status status = firn_storage_create_exclusive(attempt->catalog->storage, attempt->location,
                                                       firn_buffer_slice(&attempt->bytes), &cause);
    if (status == FIRN_OK) return FIRN_OK;
    if (status == FIRN_EXISTS) return fail_taken(attempt, error);
    firn_error ignored;
    switch (read_back(attempt, &ignored)) {
    case FOUND_OURS:
        firn_log_warning("%s is there although its creation was reported as failed: %s",
                         attempt->location, cause.message);
        return FIRN_OK;
    case FOUND_OTHER: return fail_taken(attempt, error);
    case FOUND_NONE:
        if (error != NULL) *error = cause;
        return status;
    case FOUND_UNKNOWN: break;
    }
    return fail_unknown(attempt, &cause, error);
}

/*
 * The same version in another spelling: somebody changed write.metadata.compression-codec at the
 * same time. Ours is taken back unless a next version stands on one of the two.
 */
static firn_status check_other_spellings(const version_attempt *attempt, firn_error *error) {
    firn_storage *storage = attempt->catalog->storage;
    firn_error cause;
    firn_error_clear(&cause);
    bool other = false;
    bool next = false;
    firn_status status = firn_version_exists(storage, attempt->folder, attempt->number,
                                             attempt->spelling, &other, &cause);
    if (status == FIRN_OK && !other) return FIRN_OK;
    if (status == FIRN_OK) {
        status = firn_version_exists(storage, attempt->folder, attempt->number + 1,
                                     FIRN_VERSION_SPELLINGS, &next, &cause);
    }
    if (status == FIRN_OK && next) {
        firn_fail(&cause, FIRN_CONFLICT, "version %" PRId64 " is there in two spellings",
                  attempt->number);
    }
    if (status == FIRN_OK && !next) {
        status = firn_storage_delete(storage, attempt->location, &cause);
        if (status == FIRN_OK) return fail_taken(attempt, error);
    }
    return fail_unknown(attempt, &cause, error);
}

/* Where a rename can replace a file (HadoopCatalog on a local disk), the last writer wins. */
static firn_status check_ours(const version_attempt *attempt, firn_error *error) {
    firn_error cause;
    firn_error_clear(&cause);
    switch (read_back(attempt, &cause)) {
    case FOUND_OURS: return FIRN_OK;
    case FOUND_OTHER: return fail_taken(attempt, error);
    case FOUND_NONE:
    case FOUND_UNKNOWN: break;
    }
    return fail_unknown(attempt, &cause, error);
}

/* Readers look forward from the hint, so one that stays behind costs them a little time only. */
static void replace_hint(const version_attempt *attempt) {
    firn_error problem;
    firn_error_clear(&problem);
    char *location = firn_format("%s/" FIRN_VERSION_HINT, attempt->folder);
    char *text = firn_format("%" PRId64, attempt->number);
    firn_status status = FIRN_OK;
    if (location != NULL && text != NULL) {
        status = firn_storage_replace(attempt->catalog->storage, location, firn_slice_text(text),
                                      &problem);
    } else {
        status = firn_fail_memory(&problem);
    }
    if (status != FIRN_OK) {
        firn_log_warning("version %" PRId64 " of %s is committed, but " FIRN_VERSION_HINT
                         " could not be replaced: %s",
                         attempt->number, attempt->catalog->path, problem.message);
    }
    firn_free(location);
    firn_free(text);
}

/* What the new version is called and what is in it. */
static firn_status prepare(version_attempt *attempt, const firn_table_pointer *base,
                           const firn_table_update *update, firn_error *error) {
    FIRN_TRY(firn_table_update_apply(update, base->metadata, base->metadata_location,
                                     firn_clock_now_ms(), &attempt->next, error));
    if (strcmp(attempt->next->location, base->metadata->location) != 0) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: a table without a catalog can't be moved",
                         attempt->catalog->path);
    }
    if (firn_table_metadata_property(attempt->next, "write.metadata.path") != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: a table without a catalog can't have write.metadata.path",
                         attempt->catalog->path);
    }
    bool gzip = false;
    FIRN_TRY(firn_metadata_file_is_gzip(attempt->next, &gzip, error));
    attempt->spelling = gzip ? FIRN_VERSION_GZIP : FIRN_VERSION_PLAIN;
    char *name = firn_version_file_name(attempt->number, attempt->spelling);
    if (name == NULL) return firn_fail_memory(error);
    attempt->location = firn_format("%s/%s", attempt->folder, name);
    firn_free(name);
    if (attempt->location == NULL) return firn_fail_memory(error);
    return firn_metadata_file_serialize(attempt->next, attempt->location, gzip, &attempt->bytes,
                                        error);
}

firn_status firn_directory_commit(void *implementation, firn_table_name name,
                                  const firn_table_pointer *base, const firn_table_update *update,
                                  firn_table_pointer *out, firn_error *error) {
    (void)name;
    const char *base_location = base->metadata_location;
    version_attempt attempt = {.catalog = implementation,
                               .number =
                                   firn_version_of_name(firn_location_file_name(base_location)) + 1,
                               .bytes = firn_buffer_with_maximum(FIRN_METADATA_FILE_MAXIMUM)};
    FIRN_TRY(firn_directory_check_committable(attempt.catalog, base, error));
    FIRN_TRY(firn_table_update_check(update, base->metadata, error));
    firn_status status = FIRN_OK;
    attempt.folder = firn_strndup(base_location, firn_location_folder_length(base_location));
    if (attempt.folder == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(check_current(&attempt, base, error));
    FIRN_CHECK(prepare(&attempt, base, update, error));
    FIRN_CHECK(announce(&attempt, update, error));
    FIRN_CHECK(create_version(&attempt, error));
    FIRN_CHECK(check_other_spellings(&attempt, error));
    FIRN_CHECK(check_ours(&attempt, error));
    replace_hint(&attempt);
    *out = (firn_table_pointer){.metadata_location = attempt.location, .metadata = attempt.next};
    attempt.location = NULL;
    attempt.next = NULL;
out:
    firn_buffer_release(&attempt.bytes);
    firn_free(attempt.folder);
    firn_free(attempt.location);
    firn_table_metadata_free(attempt.next);
    return status;
}
