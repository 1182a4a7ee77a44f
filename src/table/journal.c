/**
 * Records, one after another: "file <length> <location>\n" and "keep\n" behind a header line. A record that a crash cut short is ignored: it was not
 * durable, so what it names was never created.
 */
#include "table/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/vector.h"
#include "codec/codec.h"
#include "table/reachable.h"

#define HEADER "firn-journal 1"
#define MAXIMUM_JOURNAL ((size_t)256 << 20)
#define LOCK_POLL_NS 50000000L

struct firn_journal {
    int file;
    char *path;
    char host[256];
    pthread_mutex_t mutex;
    FIRN_VECTOR(char *) locations; /* recorded by this run */
};

/* --- where it lies ---------------------------------------------------------------------------- */

static char *state_folder(void) {
    const char *folder = getenv("FIRN_STATE_DIR");
    if (folder != NULL && folder[0] != '\0') return firn_strdup(folder);
    folder = getenv("XDG_STATE_HOME");
    if (folder != NULL && folder[0] != '\0') return firn_format("%s/firn", folder);
    folder = getenv("HOME");
    if (folder != NULL && folder[0] != '\0') return firn_format("%s/.local/state/firn", folder);
    return firn_strdup("");
}

static firn_status make_folders(char *folder, firn_error *error) {
    for (char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash != NULL) *slash = '\0';
        int failed = mkdir(folder, 0700) != 0 && errno != EEXIST;
        int reason = errno;
        if (slash != NULL) *slash = '/';
        if (failed) {
            return firn_fail_errno(error, FIRN_IO, reason,
                                   "can't make the state folder %s; set FIRN_STATE_DIR to a folder "
                                   "that can be written",
                                   folder);
        }
        if (slash == NULL) return FIRN_OK;
    }
}

/** Hash of all that must be equal for two runs to have the same journal, see journal_path. */
static firn_status journal_key(const firn_table *table, uint64_t *out, firn_error *error) {
    firn_status status = FIRN_OK;
    char *location = firn_location_key(table->metadata->location);
    char *identity = NULL, *key = NULL;
    FIRN_CHECK(firn_catalog_identity(table->catalog, firn_table_own_name(table), &identity, error));
    key = location == NULL ? NULL : firn_format("%s\n%s", location, identity);
    if (key == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    *out = firn_xxhash64(firn_slice_text(key));
out:
    firn_free(location);
    firn_free(identity);
    firn_free(key);
    return status;
}

/**
 * Keyed by uuid, location and the catalog's pointer. A copy of a table has the same uuid elsewhere; one that is registered twice has the same location,
 * but what a run committed through one catalog is unreachable from the other, whose run must not take it for leftovers.
 */
static firn_status journal_path_in(const firn_table *table, const char *folder, char **out,
                                   firn_error *error) {
    uint64_t key = 0;
    FIRN_TRY(journal_key(table, &key, error));
    const char *uuid = table->metadata->table_uuid;
    *out = firn_format("%s/%s-%016llx.journal", folder, uuid == NULL ? "no-uuid" : uuid,
                       (unsigned long long)key);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/** The same, in a folder that is made where it is not there. */
static firn_status journal_path(const firn_table *table, char **out, firn_error *error) {
    firn_status status = FIRN_OK;
    char *folder = state_folder();
    if (folder == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    if (folder[0] == '\0') {
        status = firn_fail(
            error, FIRN_INVALID,
            "no folder for the journal; set FIRN_STATE_DIR to a folder that can be written");
        goto out;
    }
    FIRN_CHECK(make_folders(folder, error));
    status = journal_path_in(table, folder, out, error);
out:
    firn_free(folder);
    return status;
}

/* --- reading what an earlier run left ---------------------------------------------------------- */

typedef struct journal_content {
    firn_buffer bytes;
    char host[256];
    long long process;
    bool keep;
    FIRN_VECTOR(char *) locations; /* zero-terminated inside `bytes` */
} journal_content;

static void content_release(journal_content *content) {
    firn_vector_release(&content->locations);
    firn_buffer_release(&content->bytes);
}

static firn_status read_whole(int file, const char *path, firn_buffer *out, firn_error *error) {
    for (;;) {
        FIRN_TRY(firn_buffer_reserve(out, 65536, error));
        ssize_t got = pread(file, out->data + out->size, 65536, (off_t)out->size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            return firn_fail_errno(error, FIRN_IO, errno, "journal %s: can't be read", path);
        if (got == 0) return FIRN_OK;
        out->size += (size_t)got;
    }
}

/** One record; returns the bytes after it, or NULL at a cut or foreign record. */
static char *parse_record(char *at, char *end, journal_content *content, firn_error *error,
                          firn_status *status) {
    if ((size_t)(end - at) >= 5 && memcmp(at, "keep\n", 5) == 0) {
        content->keep = true;
        return at + 5;
    }
    if ((size_t)(end - at) < 6 || memcmp(at, "file ", 5) != 0) return NULL;
    char *text = NULL;
    unsigned long long length = strtoull(at + 5, &text, 10);
    if (text == at + 5 || text >= end || *text != ' ') return NULL;
    text++;
    if (length >= (size_t)(end - text) || text[length] != '\n') return NULL;
    text[length] = '\0';
    *status = firn_vector_push(&content->locations, error, text);
    return *status == FIRN_OK ? text + length + 1 : NULL;
}

static firn_status parse_content(journal_content *content, firn_error *error) {
    firn_status status = FIRN_OK;
    char *text = (char *)content->bytes.data;
    char *newline = content->bytes.size == 0 ? NULL : memchr(text, '\n', content->bytes.size);
    if (newline == NULL) return FIRN_OK;
    *newline = '\0';
    if (sscanf(text, HEADER " %255s %lld", content->host, &content->process) != 2) return FIRN_OK;
    char *end = text + content->bytes.size;
    for (char *at = newline + 1; at != NULL && at < end;) {
        at = parse_record(at, end, content, error, &status);
    }
    return status;
}

static firn_status load_content(int file, const char *path, journal_content *content,
                                firn_error *error) {
    *content = (journal_content){.bytes = firn_buffer_with_maximum(MAXIMUM_JOURNAL)};
    FIRN_TRY(read_whole(file, path, &content->bytes, error));
    /* Number parsing below stops at a zero at the latest. */
    FIRN_TRY(firn_buffer_append_byte(&content->bytes, 0, error));
    content->bytes.size--;
    return parse_content(content, error);
}

/* --- locking ----------------------------------------------------------------------------------- */

static firn_status fail_locked(const firn_journal *journal, const firn_table *table,
                               firn_error *error) {
    journal_content content;
    firn_status status = load_content(journal->file, journal->path, &content, NULL);
    long long process = status == FIRN_OK ? content.process : 0;
    content_release(&content);
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: process %lld is changing it; run this again when it is done, or "
                     "wait for it (option lock-timeout)",
                     table->display_name, process);
}

static firn_status lock(firn_journal *journal, const firn_table *table, int64_t timeout_ms,
                        firn_error *error) {
    int64_t start = firn_clock_monotonic_ns();
    while (flock(journal->file, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) {
            return firn_fail_errno(error, FIRN_IO, errno, "journal %s: can't be locked",
                                   journal->path);
        }
        FIRN_TRY(firn_cancel_check(error));
        if ((firn_clock_monotonic_ns() - start) / 1000000 >= timeout_ms) {
            return fail_locked(journal, table, error);
        }
        struct timespec pause = {0, LOCK_POLL_NS};
        nanosleep(&pause, NULL);
    }
    return FIRN_OK;
}

/* --- writing ----------------------------------------------------------------------------------- */

static firn_status append(firn_journal *journal, const char *data, size_t size, firn_error *error) {
    while (size > 0) {
        ssize_t put = write(journal->file, data, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            return firn_fail_errno(error, FIRN_IO, errno, "journal %s: can't be written",
                                   journal->path);
        }
        data += put;
        size -= (size_t)put;
    }
    if (fdatasync(journal->file) != 0) {
        return firn_fail_errno(error, FIRN_IO, errno, "journal %s: can't be synced", journal->path);
    }
    return FIRN_OK;
}

static firn_status start_over(firn_journal *journal, firn_error *error) {
    char header[512];
    if (ftruncate(journal->file, 0) != 0) {
        return firn_fail_errno(error, FIRN_IO, errno, "journal %s: can't be emptied",
                               journal->path);
    }
    int length =
        snprintf(header, sizeof header, HEADER " %s %lld\n", journal->host, (long long)getpid());
    return append(journal, header, (size_t)length, error);
}

/* --- settling an earlier run ------------------------------------------------------------------- */

/**
 * Whether the table refers to anything of the run: then its commit took effect. The metadata file that it made may have fallen out of the log since, and
 * is kept all the same: it was the table once, and somebody may know it by its name.
 */
static bool took_effect(const firn_map *candidates) {
    for (size_t i = 0; i < firn_map_count(candidates); i++) {
        if (firn_map_value_at(candidates, i) != NULL) return true;
    }
    return false;
}

static bool is_metadata_file(const char *location) {
    static const char ending[] = ".metadata.json";
    size_t length = strlen(location);
    return length >= sizeof ending - 1 &&
           strcmp(location + length - (sizeof ending - 1), ending) == 0;
}

static firn_status remove_recorded(firn_storage *storage, const journal_content *content,
                                   firn_error *error) {
    for (size_t i = 0; i < content->locations.count; i++) {
        FIRN_TRY(firn_storage_delete(storage, content->locations.items[i], error));
    }
    return FIRN_OK;
}

static firn_status remove_unreachable(firn_table *table, const journal_content *content,
                                      size_t *removed, firn_error *error) {
    firn_status status = FIRN_OK;
    char *key = NULL;
    firn_map *candidates = firn_map_new();
    if (candidates == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < content->locations.count; i++) {
        key = firn_location_key(content->locations.items[i]);
        if (key == NULL) {
            status = firn_fail_memory(error);
            goto out;
        }
        FIRN_CHECK(firn_map_set_text(candidates, key, NULL, error));
        firn_free(key);
        key = NULL;
    }
    FIRN_CHECK(firn_table_mark_reachable(table, candidates, error));
    bool committed = took_effect(candidates);
    for (size_t i = 0; i < content->locations.count; i++) {
        const char *location = content->locations.items[i];
        if (committed && is_metadata_file(location)) continue;
        key = firn_location_key(location);
        if (key == NULL) {
            status = firn_fail_memory(error);
            goto out;
        }
        if (firn_map_get_text(candidates, key) == NULL) {
            FIRN_CHECK(firn_storage_delete(table->storage, location, error));
            if (removed != NULL) (*removed)++;
        }
        firn_free(key);
        key = NULL;
    }
out:
    firn_free(key);
    firn_map_free(candidates);
    return status;
}

/* `table` NULL: there is none, so nothing refers to anything. */
static firn_status settle(firn_journal *journal, firn_table *table, firn_storage *storage,
                          size_t *removed, firn_error *error) {
    journal_content content;
    firn_status status = load_content(journal->file, journal->path, &content, error);
    if (status != FIRN_OK || content.locations.count == 0) goto out;
    if (strcmp(content.host, journal->host) != 0) {
        status =
            firn_fail(error, FIRN_BLOCKED,
                      "journal %s: a run on host %s left it; run firn there, or delete the file "
                      "once no run is alive",
                      journal->path, content.host);
        goto out;
    }
    if (content.keep) {
        firn_log_warning("an earlier run of process %lld did not learn the outcome of its commit; "
                         "its files are kept",
                         content.process);
        goto out;
    }
    FIRN_CHECK(table == NULL ? remove_recorded(storage, &content, error)
                             : remove_unreachable(table, &content, removed, error));
out:
    content_release(&content);
    return status;
}

/* --- the interface ----------------------------------------------------------------------------- */

static firn_status sync_folder_of(const char *path, firn_error *error) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL || slash == path ? firn_strdup(slash == NULL ? "." : "/")
                                                  : firn_strndup(path, (size_t)(slash - path));
    if (folder == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0) {
        status = firn_fail_errno(error, FIRN_IO, errno, "folder %s: can't be synced", folder);
    }
    if (file >= 0) close(file);
    firn_free(folder);
    return status;
}

static void name_host(char *host, size_t size) {
    if (gethostname(host, size - 1) != 0 || host[0] == '\0') snprintf(host, size, "unknown");
}

/** A journal that can't be read is left to the run that needs one. The lock is tried last, so that a run that begins now rarely meets it. */
static bool file_has_leftovers(int file, const char *path) {
    char host[256] = {0};
    journal_content content;
    name_host(host, sizeof host);
    bool found = load_content(file, path, &content, NULL) == FIRN_OK &&
                 content.locations.count > 0 && strcmp(content.host, host) == 0;
    content_release(&content);
    return found && flock(file, LOCK_SH | LOCK_NB) == 0;
}

firn_status firn_journal_has_leftovers(const firn_table *table, bool *out, firn_error *error) {
    firn_status status = FIRN_OK;
    char *folder = state_folder();
    char *path = NULL;
    *out = false;
    if (folder == NULL) return firn_fail_memory(error);
    if (folder[0] == '\0') goto out;
    FIRN_CHECK(journal_path_in(table, folder, &path, error));
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) goto out;
    *out = file_has_leftovers(file, path);
    close(file);
out:
    firn_free(folder);
    firn_free(path);
    return status;
}

/* Opens and locks; a file that is not there is made if `flags` say so, else *out is NULL. */
static firn_status open_locked(const firn_table *table, int flags, int64_t lock_timeout_ms,
                               firn_journal **out, firn_error *error) {
    firn_status status = FIRN_OK;
    *out = NULL;
    firn_journal *journal = firn_alloc_zeroed(1, sizeof *journal);
    if (journal == NULL) return firn_fail_memory(error);
    journal->file = -1;
    pthread_mutex_init(&journal->mutex, NULL);
    name_host(journal->host, sizeof journal->host);
    FIRN_CHECK(journal_path(table, &journal->path, error));
    journal->file = open(journal->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (journal->file < 0 && errno == ENOENT && flags == 0) goto out;
    if (journal->file < 0) {
        status = firn_fail_errno(error, FIRN_IO, errno,
                                 "journal %s: can't be opened; set FIRN_STATE_DIR to a folder that "
                                 "can be written",
                                 journal->path);
        goto out;
    }
    FIRN_CHECK(lock(journal, table, lock_timeout_ms, error));
    *out = journal;
    journal = NULL;
out:
    firn_journal_close(journal);
    return status;
}

firn_status firn_journal_open(firn_table *table, int64_t lock_timeout_ms, firn_journal **out,
                              size_t *removed, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_journal *journal = NULL;
    if (removed != NULL) *removed = 0;
    FIRN_CHECK(open_locked(table, O_CREAT, lock_timeout_ms, &journal, error));
    /* Whoever held the lock, or was killed, may have committed after this table was loaded. */
    FIRN_CHECK(firn_table_refresh(table, error));
    FIRN_CHECK(settle(journal, table, table->storage, removed, error));
    FIRN_CHECK(start_over(journal, error));
    FIRN_CHECK(sync_folder_of(journal->path, error));
    *out = journal;
    journal = NULL;
out:
    firn_journal_close(journal);
    return status;
}

firn_status firn_journal_open_new(firn_catalog *catalog, firn_table_name name,
                                  const char *display_name, const char *location, bool must_exist,
                                  int64_t lock_timeout_ms, firn_journal **out, firn_error *error) {
    firn_table_metadata metadata = {.location = location, .table_uuid = "new"};
    firn_table table = {
        .catalog = catalog,
        .namespace_name = (char *)(uintptr_t)name.namespace_name,
        .name = (char *)(uintptr_t)name.name,
        .display_name = (char *)(uintptr_t)display_name,
        .metadata = &metadata,
    };
    return open_locked(&table, must_exist ? 0 : O_CREAT, lock_timeout_ms, out, error);
}

firn_status firn_journal_settle_new(firn_journal *journal, firn_table *table, firn_storage *storage,
                                    firn_error *error) {
    FIRN_TRY(settle(journal, table, storage, NULL, error));
    FIRN_TRY(start_over(journal, error));
    return sync_folder_of(journal->path, error);
}

firn_status firn_journal_add(firn_journal *journal, const char *location, firn_error *error) {
    char *copy = firn_strdup(location);
    char *record = firn_format("file %zu %s\n", strlen(location), location);
    firn_status status = FIRN_OK;
    if (copy == NULL || record == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    pthread_mutex_lock(&journal->mutex);
    status = firn_vector_push(&journal->locations, error, copy);
    if (status == FIRN_OK) {
        copy = NULL;
        status = append(journal, record, strlen(record), error);
    }
    pthread_mutex_unlock(&journal->mutex);
out:
    firn_free(copy);
    firn_free(record);
    return status;
}

bool firn_journal_has(firn_journal *journal, const char *location) {
    bool found = false;
    pthread_mutex_lock(&journal->mutex);
    for (size_t i = 0; i < journal->locations.count && !found; i++) {
        found = strcmp(journal->locations.items[i], location) == 0;
    }
    pthread_mutex_unlock(&journal->mutex);
    return found;
}

firn_status firn_journal_keep(firn_journal *journal, firn_error *error) {
    return append(journal, "keep\n", 5, error);
}

static void forget(firn_journal *journal) {
    for (size_t i = 0; i < journal->locations.count; i++) firn_free(journal->locations.items[i]);
    firn_vector_release(&journal->locations);
}

firn_status firn_journal_discard(firn_journal *journal, firn_storage *storage, firn_error *error) {
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < journal->locations.count; i++) {
        firn_status one = firn_storage_delete(storage, journal->locations.items[i],
                                              status == FIRN_OK ? error : NULL);
        if (status == FIRN_OK) status = one;
    }
    /* What could not be deleted stays in the journal for the next run. */
    return status == FIRN_OK ? firn_journal_done(journal, error) : status;
}

firn_status firn_journal_done(firn_journal *journal, firn_error *error) {
    forget(journal);
    return start_over(journal, error);
}

void firn_journal_end(firn_journal *journal, firn_storage *storage, firn_status status) {
    firn_error problem = {0};
    firn_status ended = FIRN_OK;
    if (status == FIRN_OK) {
        ended = firn_journal_done(journal, &problem);
    } else if (status != FIRN_COMMIT_UNKNOWN) {
        ended = firn_journal_discard(journal, storage, &problem);
    }
    /* What stays in the journal is settled by the next run, after it has looked what is live. */
    if (ended != FIRN_OK) firn_log_warning("%s", problem.message);
}

void firn_journal_close(firn_journal *journal) {
    if (journal == NULL) return;
    if (journal->file >= 0) close(journal->file);
    forget(journal);
    firn_free(journal->path);
    pthread_mutex_destroy(&journal->mutex);
    firn_free(journal);
}
