#include "catalog/directory_versions.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/random.h"
#include "catalog/metadata_file.h"

#define HINT_MAXIMUM ((size_t)4096)
#define HINT_WAIT_MS 200

char *firn_version_file_name(int64_t number, firn_version_spelling spelling) {
    static const char *const endings[FIRN_VERSION_SPELLINGS] = {
        ".metadata.json", ".gz.metadata.json", ".metadata.json.gz"};
    return firn_format("v%" PRId64 "%s", number, endings[spelling]);
}

/*
 * A version number: digits, no leading zero (no writer makes one), within Java's int. -1 for none.
 */
static int64_t number_at(const char *text, const char **end) {
    int64_t number = 0;
    const char *at = text;
    while (*at >= '0' && *at <= '9' && number <= INT32_MAX) number = number * 10 + (*at++ - '0');
    *end = at;
    bool padded = at - text > 1 && text[0] == '0';
    return at == text || padded || number > INT32_MAX ? -1 : number;
}

int64_t firn_version_of_name(const char *name) {
    if (name[0] != 'v') return -1;
    const char *end = NULL;
    int64_t number = number_at(name + 1, &end);
    bool known = *end == '\0' || strcmp(end, ".metadata.json") == 0 ||
                 strcmp(end, ".gz.metadata.json") == 0 || strcmp(end, ".metadata.json.gz") == 0;
    return known ? number : -1;
}

/*
 * A temporary file of a directory catalog is "<uuid>.metadata.json": eight hexadecimal digits,
 * which may all be decimal, stand before its first dash.
 */
static bool is_uuid(const char *text, size_t length) {
    if (length != FIRN_UUID_TEXT_SIZE - 1) return false;
    return text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-';
}

int64_t firn_catalog_version_of_name(const char *name) {
    if (!firn_is_metadata_file_name(name)) return -1;
    size_t stem = strcspn(name, ".");
    if (is_uuid(name, stem)) return -1;
    int64_t number = 0;
    size_t digits = 0;
    while (name[digits] >= '0' && name[digits] <= '9' && number <= INT32_MAX) {
        number = number * 10 + (name[digits++] - '0');
    }
    return digits == 0 || name[digits] != '-' || number > INT32_MAX ? -1 : number;
}

static char *join(const char *folder, const char *name) {
    return firn_format("%s/%s", folder, name);
}

static firn_status exists(firn_storage *storage, const char *folder, const char *name, bool *there,
                          firn_error *error) {
    char *location = join(folder, name);
    if (location == NULL) return firn_fail_memory(error);
    firn_storage_stat stat;
    firn_error problem;
    firn_status status = firn_storage_stat_file(storage, location, &stat, &problem);
    firn_free(location);
    *there = status == FIRN_OK;
    if (status == FIRN_OK || status == FIRN_NOT_FOUND) return FIRN_OK;
    if (error != NULL) *error = problem;
    return status;
}

firn_status firn_version_exists(firn_storage *storage, const char *folder, int64_t number,
                                firn_version_spelling except, bool *there, firn_error *error) {
    *there = false;
    for (int i = 0; i < FIRN_VERSION_SPELLINGS && !*there; i++) {
        if (i == (int)except) continue;
        char *name = firn_version_file_name(number, (firn_version_spelling)i);
        if (name == NULL) return firn_fail_memory(error);
        firn_status status = exists(storage, folder, name, there, error);
        firn_free(name);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

/*
 * Two names of one version are fine when they hold the same metadata: a copy in another spelling.
 */
static firn_status check_same(firn_storage *storage, const char *folder, const char *first,
                              const char *second, firn_error *error) {
    char *locations[2] = {join(folder, first), join(folder, second)};
    firn_table_metadata *parsed[2] = {NULL, NULL};
    firn_status status = FIRN_OK;
    for (int i = 0; i < 2; i++) {
        if (locations[i] == NULL) {
            status = firn_fail_memory(error);
            goto out;
        }
        FIRN_CHECK(firn_metadata_file_read(storage, locations[i], &parsed[i], error));
    }
    if (!json_equal(parsed[0]->json, parsed[1]->json)) {
        status = firn_fail(error, FIRN_CORRUPT,
                           "%s and %s claim to be the same version but differ; find out which one "
                           "is right and move the other one away",
                           locations[0], locations[1]);
    }
out:
    for (int i = 0; i < 2; i++) {
        firn_table_metadata_free(parsed[i]);
        firn_free(locations[i]);
    }
    return status;
}

firn_status firn_find_version_file(firn_storage *storage, const char *folder, int64_t number,
                                   char **name, firn_error *error) {
    char *first = NULL;
    for (int i = 0; i < FIRN_VERSION_SPELLINGS; i++) {
        char *spelled = firn_version_file_name(number, (firn_version_spelling)i);
        bool there = false;
        firn_status status = spelled == NULL ? firn_fail_memory(error)
                                             : exists(storage, folder, spelled, &there, error);
        if (status == FIRN_OK && there && first == NULL) {
            first = spelled;
            continue;
        }
        if (status == FIRN_OK && there) {
            status = check_same(storage, folder, first, spelled, error);
        }
        firn_free(spelled);
        if (status != FIRN_OK) {
            firn_free(first);
            return status;
        }
    }
    *name = first;
    return FIRN_OK;
}

/* What a listing of the metadata folder shows. */
typedef struct scan {
    size_t prefix;
    int64_t highest; /* of v<N>, or -1 */
    int64_t other_highest;
    char *other;  /* of the highest number of another catalog's names */
    char *second; /* another one with the same number */
} scan;

static firn_status note(void *context, const char *location, const firn_storage_stat *stat,
                        firn_error *error) {
    (void)stat;
    scan *seen = context;
    const char *name = firn_location_file_name(location);
    if ((size_t)(name - location) != seen->prefix || !firn_is_metadata_file_name(name)) {
        return FIRN_OK;
    }
    int64_t number = firn_version_of_name(name);
    if (number > seen->highest) seen->highest = number;
    if (number >= 0) return FIRN_OK;
    number = firn_catalog_version_of_name(name);
    if (number < 0 || number < seen->other_highest) return FIRN_OK;
    char *copy = firn_strdup(name);
    if (copy == NULL) return firn_fail_memory(error);
    firn_free(seen->second);
    seen->second = NULL;
    if (number == seen->other_highest) {
        seen->second = copy;
    } else {
        firn_free(seen->other);
        seen->other = copy;
        seen->other_highest = number;
    }
    return FIRN_OK;
}

static void release_scan(scan *seen) {
    firn_free(seen->other);
    firn_free(seen->second);
}

static firn_status scan_folder(firn_storage *storage, const char *folder, scan *seen,
                               firn_error *error) {
    *seen = (scan){.prefix = strlen(folder) + 1, .highest = -1, .other_highest = -1};
    firn_status status = firn_storage_list(storage, folder, note, seen, error);
    if (status != FIRN_OK) {
        release_scan(seen);
        *seen = (scan){0};
    }
    return status;
}

firn_status firn_find_catalog_version(firn_storage *storage, const char *folder, char **name,
                                      int64_t *number, firn_error *error) {
    scan seen;
    FIRN_TRY(scan_folder(storage, folder, &seen, error));
    *name = seen.other;
    *number = seen.other_highest;
    firn_free(seen.second);
    return FIRN_OK;
}

/*
 * The hint's text without white space around it; *hint NULL when there is none, or nothing in it.
 */
static firn_status read_hint(firn_storage *storage, const char *folder, char **hint,
                             firn_error *error) {
    *hint = NULL;
    char *location = join(folder, FIRN_VERSION_HINT);
    if (location == NULL) return firn_fail_memory(error);
    firn_buffer text = firn_buffer_with_maximum(HINT_MAXIMUM);
    firn_error problem;
    firn_status status = firn_storage_read_all(storage, location, &text, &problem);
    if (status == FIRN_OK) {
        const uint8_t *from = text.data;
        size_t size = text.size;
        while (size > 0 && from[size - 1] <= ' ') size--;
        while (size > 0 && from[0] <= ' ') from++, size--;
        if (size > 0) {
            *hint = firn_strndup((const char *)from, size);
            if (*hint == NULL) status = firn_fail_memory(error);
        }
    } else if (status == FIRN_NOT_FOUND) {
        status = FIRN_OK;
    } else if (error != NULL) {
        *error = problem;
    }
    firn_buffer_release(&text);
    firn_free(location);
    return status;
}

static void wait_for_hint(void) {
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)HINT_WAIT_MS * 1000000};
    nanosleep(&pause, NULL);
}

/* From a version that is there to the last one that follows without a gap. Takes `name` over. */
static firn_status follow(firn_storage *storage, const char *folder, int64_t number,
                          firn_directory_version *out, firn_error *error) {
    for (bool next = true; next;) {
        FIRN_TRY(
            firn_version_exists(storage, folder, number + 1, FIRN_VERSION_SPELLINGS, &next, error));
        if (next) number++;
    }
    char *name = NULL;
    FIRN_TRY(firn_find_version_file(storage, folder, number, &name, error));
    if (name == NULL) {
        return firn_fail(error, FIRN_NOT_FOUND,
                         "version %" PRId64 " in %s went away while it was looked at; try again",
                         number, folder);
    }
    *out = (firn_directory_version){.name = name, .number = number};
    return FIRN_OK;
}

/* The hinted version is the oldest that can be current: without its file a lower one never is. */
static firn_status fail_hinted_missing(firn_storage *storage, const char *folder, const char *name,
                                       firn_error *error) {
    char *location = join(folder, name);
    if (location == NULL) return firn_fail_memory(error);
    firn_table_metadata *metadata = NULL;
    firn_status status = firn_metadata_file_read(storage, location, &metadata, error);
    if (status == FIRN_OK) {
        firn_table_metadata_free(metadata);
        status = firn_fail(error, FIRN_NOT_FOUND, "%s appeared while it was looked for; try again",
                           location);
    }
    firn_free(location);
    return status;
}

static firn_status find_by_number(firn_storage *storage, const char *folder, int64_t hinted,
                                  firn_directory_version *out, firn_error *error) {
    bool there = false;
    FIRN_TRY(firn_version_exists(storage, folder, hinted, FIRN_VERSION_SPELLINGS, &there, error));
    if (there) return follow(storage, folder, hinted, out, error);
    /*
     * A hint that fell behind: its version was deleted since as an old one, newer ones are there.
     */
    scan seen;
    FIRN_TRY(scan_folder(storage, folder, &seen, error));
    int64_t highest = seen.highest;
    release_scan(&seen);
    if (highest > hinted) return follow(storage, folder, highest, out, error);
    char *name = firn_version_file_name(hinted, FIRN_VERSION_PLAIN);
    if (name == NULL) return firn_fail_memory(error);
    firn_status status = fail_hinted_missing(storage, folder, name, error);
    firn_free(name);
    return status;
}

/* A hint with a name, whole or without its ending, as some writers leave it for readers without a
 * catalog. It names the version that a catalog holds, so nothing newer is looked for. */
static firn_status find_by_name(firn_storage *storage, const char *folder, const char *hint,
                                firn_directory_version *out, firn_error *error) {
    static const char *const endings[] = {"", ".metadata.json", ".gz.metadata.json",
                                          ".metadata.json.gz"};
    if (strchr(hint, '/') != NULL || hint[0] == '.') {
        return firn_fail(error, FIRN_CORRUPT, "%s/" FIRN_VERSION_HINT ": \"%.100s\" is no version",
                         folder, hint);
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *name = firn_format("%s%s", hint, endings[i]);
        if (name == NULL) return firn_fail_memory(error);
        bool there = false;
        firn_status status = FIRN_OK;
        if (firn_is_metadata_file_name(name)) {
            status = exists(storage, folder, name, &there, error);
        }
        if (status == FIRN_OK && there) {
            *out = (firn_directory_version){.name = name, .number = -1};
            return FIRN_OK;
        }
        firn_free(name);
        FIRN_TRY(status);
    }
    char *name =
        firn_format("%s%s", hint, firn_is_metadata_file_name(hint) ? "" : ".metadata.json");
    if (name == NULL) return firn_fail_memory(error);
    firn_status status = fail_hinted_missing(storage, folder, name, error);
    firn_free(name);
    return status;
}

/* Who names the metadata folder means the table's. */
static bool is_twice(const char *folder) {
    static const char twice[] = "/metadata/metadata";
    size_t length = strlen(folder);
    return length >= sizeof twice - 1 && strcmp(folder + length - (sizeof twice - 1), twice) == 0;
}

/* Without a hint: the highest v<N>, else the newest of another catalog's names. */
static firn_status find_by_listing(firn_storage *storage, const char *folder, scan *seen,
                                   firn_directory_version *out, firn_error *error) {
    if (seen->highest >= 0) return follow(storage, folder, seen->highest, out, error);
    if (seen->other == NULL) {
        return firn_fail(
            error, FIRN_NOT_FOUND,
            "there is no table: no metadata file (*.metadata.json) in %s; %s", folder,
            is_twice(folder)
                ? "name the folder above it"
                : "a folder of Parquet files becomes a table by firn register or firn sync");
    }
    if (seen->second != NULL) {
        return firn_fail(
            error, FIRN_CORRUPT,
            "%s and %s in %s have the same version number: which one is current only "
            "the table's catalog knows; name the table through it (option catalog), or "
            "name the metadata file",
            seen->other, seen->second, folder);
    }
    *out = (firn_directory_version){.name = seen->other, .number = -1};
    seen->other = NULL;
    return FIRN_OK;
}

static firn_status find_by_hint(firn_storage *storage, const char *folder, const char *hint,
                                firn_directory_version *out, firn_error *error) {
    const char *end = NULL;
    int64_t number = number_at(hint, &end);
    if (number < 0 || *end != '\0') number = firn_version_of_name(hint);
    return number >= 0 ? find_by_number(storage, folder, number, out, error)
                       : find_by_name(storage, folder, hint, out, error);
}

firn_status firn_find_current_version(firn_storage *storage, const char *folder, bool *waited,
                                      firn_directory_version *out, firn_error *error) {
    char *hint = NULL;
    FIRN_TRY(read_hint(storage, folder, &hint, error));
    firn_status status = FIRN_OK;
    scan seen = {0};
    if (hint == NULL) {
        FIRN_CHECK(scan_folder(storage, folder, &seen, error));
        if (seen.highest >= 0 && !*waited) {
            *waited = true;
            wait_for_hint();
            FIRN_CHECK(read_hint(storage, folder, &hint, error));
            release_scan(&seen);
            FIRN_CHECK(scan_folder(storage, folder, &seen, error));
        }
    }
    status = hint == NULL ? find_by_listing(storage, folder, &seen, out, error)
                          : find_by_hint(storage, folder, hint, out, error);
out:
    release_scan(&seen);
    firn_free(hint);
    return status;
}
