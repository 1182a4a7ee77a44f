/** Which metadata file is the newest one that was committed, as far as the files themselves can prove it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/plural.h"
#include "catalog/directory_versions.h"
#include "catalog/metadata_file.h"
#include "lake/recover_internal.h"

/** The files that led to the newest one, which comes first. Not all of them are still there. */
typedef struct chain {
    firn_recover_search *search;
    const firn_recover_file *newest;
    FIRN_VECTOR(const char *) names;
    firn_map *places;       /* of each name in `names`, one more */
    int64_t oldest_time_ms; /* of the last name */
    bool whole;             /* it goes back to the file that the table was made with */
} chain;

#define REGISTER                                                                                   \
    "; nothing was changed. Enter the one that is right with \"firn catalog register NAME FILE\""

static const firn_recover_file *find_file(const firn_recover_search *search, const char *name) {
    for (size_t i = 0; i < search->files.count; i++) {
        if (strcmp(search->files.items[i].name, name) == 0) return &search->files.items[i];
    }
    return NULL;
}

static firn_status add_name(chain *c, const char *name, int64_t time_ms, bool *added,
                            firn_error *error) {
    *added = !firn_map_has_text(c->places, name);
    if (!*added) return FIRN_OK;
    const char *copy = firn_arena_strdup(c->search->arena, name);
    if (copy == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_vector_push(&c->names, error, copy));
    c->oldest_time_ms = time_ms;
    return firn_map_set_text(c->places, copy, (void *)(uintptr_t)c->names.count, error);
}

/** Adds what a file's log has beyond the chain's present end, newest first. */
static firn_status add_log(chain *c, const firn_recover_file *file, bool *more, firn_error *error) {
    firn_table_metadata *metadata = NULL;
    firn_status status = FIRN_OK;
    *more = false;
    FIRN_TRY(firn_metadata_file_read(c->search->storage, file->facts.location, &metadata, error));
    c->whole = metadata->metadata_log_count == 0;
    for (size_t i = metadata->metadata_log_count; i > 0; i--) {
        const firn_log_entry *entry = &metadata->metadata_log[i - 1];
        bool added = false;
        FIRN_CHECK(add_name(c, firn_location_file_name(entry->metadata_file), entry->timestamp_ms,
                            &added, error));
        *more = *more || added;
    }
out:
    firn_table_metadata_free(metadata);
    return status;
}

/** Logs are trimmed, so the oldest file that is still there is asked for what came before it. */
static firn_status build_chain(chain *c, firn_error *error) {
    bool more = false;
    const firn_recover_file *at = c->newest;
    FIRN_TRY(add_name(c, at->name, at->facts.last_updated_ms, &more, error));
    while (more && at != NULL && at->readable) {
        FIRN_TRY(add_log(c, at, &more, error));
        if (more) at = find_file(c->search, c->names.items[c->names.count - 1]);
    }
    return FIRN_OK;
}

/** Place in the chain, 0 for the newest; false: not in it. */
static bool place_of(const chain *c, const char *name, size_t *place) {
    uintptr_t number = (uintptr_t)firn_map_get_text(c->places, name);
    if (number == 0) return false;
    *place = (size_t)number - 1;
    return true;
}

static firn_status set_verdict(firn_recover_search *search, firn_recover_file *file,
                               const char *before, const char *name, const char *after,
                               firn_error *error) {
    file->facts.verdict = firn_arena_format(search->arena, "%s%s%s", before, name, after);
    return file->facts.verdict == NULL ? firn_fail_memory(error) : FIRN_OK;
}

#define DESCRIPTION_SIZE 320

static void describe(const firn_recover_file *file, char text[DESCRIPTION_SIZE]) {
    char rows[48] = "rows not counted", snapshot[48] = "no snapshot", time[40];
    if (file->facts.total_records >= 0) {
        snprintf(rows, sizeof rows, "%" PRId64 " row%s", file->facts.total_records,
                 firn_plural((uint64_t)file->facts.total_records));
    }
    if (file->facts.snapshot_id != FIRN_NO_SNAPSHOT) {
        snprintf(snapshot, sizeof snapshot, "snapshot %" PRId64, file->facts.snapshot_id);
    }
    firn_clock_format_ms(file->facts.last_updated_ms, time, sizeof time);
    snprintf(text, DESCRIPTION_SIZE, "%.120s (%s, %s, last updated %s)", file->name, snapshot, rows,
             time);
}

static firn_status fail_equal(const chain *c, const firn_recover_file *file, const char *why,
                              firn_error *error) {
    char one[DESCRIPTION_SIZE], other[DESCRIPTION_SIZE];
    describe(c->newest, one);
    describe(file, other);
    const char *hint = c->search->hint;
    return firn_fail(error, FIRN_UNSAFE, "%s: %s and %s %s%s%.80s%s" REGISTER, c->search->folder,
                     one, other, why,
                     hint == NULL ? "" : " (version-hint.text, which proves nothing, says ",
                     hint == NULL ? "" : hint, hint == NULL ? "" : ")");
}

/** A file that the chain's oldest log entry is newer than can't have been the last one. */
static bool is_older(const chain *c, const firn_recover_file *file) {
    const char *oldest = c->names.items[c->names.count - 1];
    int64_t version = firn_metadata_location_version(oldest) - 1;
    return c->names.count > 1 && file->facts.version >= 0 && file->facts.version < version &&
           file->facts.last_updated_ms < c->oldest_time_ms;
}

/** An end that is not the newest: it must be shown that it was never committed. */
static firn_status judge_end(chain *c, firn_recover_file *file, firn_error *error) {
    size_t place = 0;
    firn_recover_search *search = c->search;
    bool known = file->base != NULL && place_of(c, file->base, &place);
    if (known && place > 1) {
        return set_verdict(search, file, "not committed: ", c->names.items[place - 1],
                           " came next instead", error);
    }
    if (file->base == NULL && c->whole && c->names.count > 1) {
        return set_verdict(search, file, "not committed: the table was made with ",
                           c->names.items[c->names.count - 1], "", error);
    }
    if (!known && is_older(c, file)) {
        return set_verdict(search, file, "not committed: older than ",
                           c->names.items[c->names.count - 1],
                           ", with which the log of the newest begins", error);
    }
    FIRN_TRY(set_verdict(search, file, "as new as ", c->newest->name, "", error));
    return fail_equal(c, file,
                      known ? "were made from the same file, and which one was committed can't be "
                              "told"
                            : "both end a line of commits",
                      error);
}

/** One that can't be read might be anything that its version allows. */
static firn_status judge_unreadable(const chain *c, const firn_recover_file *file,
                                    firn_error *error) {
    size_t place = 0;
    if (place_of(c, file->name, &place) ||
        (file->facts.version >= 0 && file->facts.version < c->newest->facts.version)) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_UNSAFE,
                     "%s: %s can't be read and may be newer than %s, the newest one that can "
                     "(%.300s)" REGISTER,
                     c->search->folder, file->name, c->newest->name, file->facts.verdict);
}

static firn_status judge_file(chain *c, firn_recover_file *file, firn_error *error) {
    size_t place = 0;
    if (!file->readable) return judge_unreadable(c, file, error);
    if (file == c->newest) {
        file->facts.verdict = "newest";
    } else if (place_of(c, file->name, &place)) {
        file->facts.verdict = "ancestor of the newest";
    } else if (firn_recover_is_end(c->search, file)) {
        return judge_end(c, file, error);
    } else {
        file->facts.verdict = "ancestor of one that is not the newest";
    }
    return FIRN_OK;
}

/** Every file gets its verdict; the first failure is the one that is reported. */
static firn_status judge_all(chain *c, firn_error *error) {
    firn_status first = FIRN_OK;
    for (size_t i = 0; i < c->search->files.count; i++) {
        firn_error problem;
        firn_error_clear(&problem);
        firn_status status = judge_file(c, &c->search->files.items[i], &problem);
        if (status == FIRN_OK || (first != FIRN_OK && status != FIRN_NO_MEMORY)) continue;
        first = status;
        if (error != NULL) *error = problem;
    }
    return first;
}

/* A table without a uuid may get one later, and doesn't lose it again. */
static bool same_uuid(const firn_recover_file *file, const firn_recover_file *newest) {
    return file->uuid[0] == '\0' || strcasecmp(file->uuid, newest->uuid) == 0;
}

/** Which table is meant is not for firn to say. */
static firn_status check_one_table(firn_recover_search *search, const firn_recover_file *newest,
                                   firn_error *error) {
    const firn_recover_file *other = NULL;
    for (size_t i = search->files.count; i > 0; i--) {
        firn_recover_file *file = &search->files.items[i - 1];
        if (!file->readable || same_uuid(file, newest)) continue;
        file->facts.verdict = "of another table";
        if (firn_recover_is_end(search, file)) other = file;
    }
    if (other == NULL) return FIRN_OK;
    chain two = {.search = search, .newest = newest};
    return fail_equal(&two, other, "are of two tables (table-uuid)", error);
}

static firn_status check_place(const firn_recover_search *search, const firn_recover_file *newest,
                               firn_error *error) {
    char *here = firn_location_key(search->folder);
    char *there = firn_location_key(newest->folder);
    bool complete = here != NULL && there != NULL;
    bool same = complete && strcmp(here, there) == 0;
    firn_free(here);
    firn_free(there);
    if (!complete) return firn_fail_memory(error);
    if (same) return FIRN_OK;
    return firn_fail(
        error, FIRN_UNSAFE,
        "%s: the table of %s keeps its metadata in %s, so what lies here is a copy, or "
        "older; recover it from there" REGISTER,
        search->folder, newest->name, newest->folder);
}

/** A writer that gives up removes what it wrote, at times all but the metadata file. */
static firn_status check_list(const firn_recover_search *search, const firn_recover_file *newest,
                              firn_error *error) {
    firn_storage_stat stat;
    if (newest->list == NULL) return FIRN_OK;
    firn_status status = firn_storage_stat_file(search->storage, newest->list, &stat, error);
    if (status != FIRN_NOT_FOUND) return status;
    return firn_fail(
        error, FIRN_UNSAFE,
        "%s: %s looks like the newest one, but its manifest list %s is missing: it was "
        "not committed, or files are lost" REGISTER,
        search->folder, newest->name, newest->list);
}

/* --- what names a file that is gone ---------------------------------------------------------------- */

bool firn_recover_means(const char *claim, const char *name) {
    size_t length = strlen(claim);
    if (strcmp(claim, name) == 0) return true;
    if (strncmp(name, claim, length) == 0 && name[length] == '.') return true;
    return *name == 'v' && strncmp(name + 1, claim, length) == 0 && name[length + 1] == '.';
}

/** -1: it doesn't tell. */
static int64_t version_of_claim(const char *claim) {
    size_t digits = strspn(claim, "0123456789");
    if (digits > 0 && digits < 18 && claim[digits] == '\0') return strtoll(claim, NULL, 10);
    return firn_metadata_location_version(claim) - 1;
}

/** Each commit counts the version up by one, and what was committed before the newest one is in the chain's log, or older than it. */
static bool is_older_claim(const chain *c, const char *claim) {
    int64_t version = version_of_claim(claim);
    for (size_t i = 0; i < c->names.count; i++) {
        if (firn_recover_means(claim, c->names.items[i])) return true;
    }
    return version >= 0 && version < c->newest->facts.version;
}

/** Whoever named a file took it for committed: without it the newest one that is left need not be the last. */
static firn_status check_claim(const chain *c, const char *by, const char *claim,
                               firn_error *error) {
    char newest[DESCRIPTION_SIZE];
    if (claim == NULL || *claim == '\0' || is_older_claim(c, claim)) return FIRN_OK;
    for (size_t i = 0; i < c->search->files.count; i++) {
        if (firn_recover_means(claim, c->search->files.items[i].name)) return FIRN_OK;
    }
    describe(c->newest, newest);
    return firn_fail(error, FIRN_UNSAFE,
                     "%s: %s names %.120s, which is not there; %s is the newest one that is, and "
                     "what was committed after it would be lost; nothing was changed. Bring the "
                     "file back, or enter the one that is there with \"firn catalog register NAME "
                     "%s\"",
                     c->search->folder, by, claim, newest, c->newest->facts.location);
}

static firn_status check_claims(const chain *c, firn_error *error) {
    const char *pointer = c->search->pointer;
    if (pointer != NULL) pointer = firn_location_file_name(pointer);
    FIRN_TRY(check_claim(c, "the catalog", pointer, error));
    return check_claim(c, FIRN_VERSION_HINT, c->search->hint, error);
}

static firn_status fail_directory(const firn_recover_search *search, const char *name,
                                  firn_error *error) {
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "%s: %s is of a directory table, whose folder itself is its catalog, so that "
                     "none can be lost; name the table by its path, or move it into a catalog with "
                     "\"firn catalog register NAME FOLDER\"",
                     search->folder, name);
}

static const firn_recover_file *newest_end(const firn_recover_search *search) {
    for (size_t i = 0; i < search->files.count; i++) {
        if (firn_recover_is_end(search, &search->files.items[i])) return &search->files.items[i];
    }
    return NULL;
}

static firn_status judge(chain *c, firn_error *error) {
    firn_recover_search *search = c->search;
    const firn_recover_file *first = &search->files.items[0];
    if (c->newest == NULL) {
        if (firn_version_of_name(first->name) >= 0)
            return fail_directory(search, first->name, error);
        return firn_fail(error, FIRN_UNSAFE,
                         "%s: none of its metadata files is the last one (%s: %.300s)" REGISTER,
                         search->folder, first->name,
                         first->facts.verdict == NULL ? "names are in a circle"
                                                      : first->facts.verdict);
    }
    c->places = firn_map_new();
    if (c->places == NULL) return firn_fail_memory(error);
    FIRN_TRY(check_one_table(search, c->newest, error));
    FIRN_TRY(build_chain(c, error));
    FIRN_TRY(judge_all(c, error));
    FIRN_TRY(check_claims(c, error));
    if (firn_version_of_name(c->newest->name) >= 0) {
        return fail_directory(search, c->newest->name, error);
    }
    FIRN_TRY(check_place(search, c->newest, error));
    return check_list(search, c->newest, error);
}

firn_status firn_recover_judge(firn_recover_search *search, const firn_recover_file **newest,
                               firn_error *error) {
    chain c = {.search = search, .newest = newest_end(search)};
    firn_status status = judge(&c, error);
    *newest = c.newest;
    firn_vector_release(&c.names);
    firn_map_free(c.places);
    return status;
}
