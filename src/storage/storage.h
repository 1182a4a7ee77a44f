/**
 * Storage behind one interface (design, section 5). Locations are opaque bytes as tables record
 * them: "file:/x", "file:///x" and bare paths name local files, literally (never percent-decoded,
 * never rewritten). All calls are thread-safe; a writer belongs to one thread at a time.
 */
#ifndef FIRN_STORAGE_STORAGE_H
#define FIRN_STORAGE_STORAGE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/location.h"
#include "base/read_at.h"

typedef struct firn_storage firn_storage;
typedef struct firn_storage_file firn_storage_file;
typedef struct firn_storage_writer firn_storage_writer;

typedef struct firn_storage_stat {
    uint64_t size;
    int64_t modified_ns; /**< since 1970-01-01T00:00:00Z, as exact as the store keeps it */
} firn_storage_stat;

/** Counters of everything that went through a storage; `syncs` counts files made durable. */
typedef struct firn_storage_counters {
    uint64_t reads, bytes_read, writes, bytes_written, files_created, files_deleted, syncs;
} firn_storage_counters;

/** Called for each regular file below a prefix; `location` is spelled like the prefix asked for. */
typedef firn_status (*firn_storage_list_visitor)(void *context, const char *location,
                                                 const firn_storage_stat *stat, firn_error *error);

/** Whether anything below a folder (spelled like the prefix asked for) is wanted. */
typedef bool (*firn_storage_list_filter)(void *context, const char *folder);

/** What a listing meets and does not list. */
typedef enum firn_storage_other {
    FIRN_STORAGE_LINK,    /**< a symbolic link, to whatever */
    FIRN_STORAGE_SPECIAL, /**< a FIFO, a socket, a device */
    FIRN_STORAGE_TOO_DEEP /**< a folder whose path is too long to be opened */
} firn_storage_other;
typedef firn_status (*firn_storage_list_other)(void *context, const char *location,
                                               firn_storage_other what, firn_error *error);

/** What a backend provides; callers use the functions below. A backend keeps `implementation`. */
typedef struct firn_storage_operations {
    firn_status (*stat)(void *implementation, const char *location, firn_storage_stat *out,
                        firn_error *error);
    firn_status (*open)(void *implementation, const char *location, void **file, uint64_t *size,
                        firn_error *error);
    firn_status (*read)(void *implementation, void *file, uint64_t offset, void *out, size_t size,
                        firn_error *error);
    const uint8_t *(*borrow)(void *implementation, void *file, uint64_t offset, size_t size);
    void (*close)(void *implementation, void *file);
    firn_status (*create)(void *implementation, const char *location, void **writer,
                          firn_error *error);
    firn_status (*write)(void *implementation, void *writer, const void *data, size_t size,
                         firn_error *error);
    /** Synced to disk and closed; its folder is synced too. */
    firn_status (*finish)(void *implementation, void *writer, firn_error *error);
    void (*abort)(void *implementation, void *writer);
    firn_status (*create_exclusive)(void *implementation, const char *location, firn_slice bytes,
                                    firn_error *error);
    firn_status (*replace)(void *implementation, const char *location, firn_slice bytes,
                           firn_error *error);
    firn_status (*delete_file)(void *implementation, const char *location, firn_error *error);
    firn_status (*list)(void *implementation, const char *prefix, firn_storage_list_visitor visit,
                        void *context, firn_error *error);
    /** NULL, or `list` that need not look into folders for which `enter` (nullable) says no, and tells `other` (nullable) of what it does not list. */
    firn_status (*list_within)(void *implementation, const char *prefix,
                               firn_storage_list_filter enter, firn_storage_list_visitor visit,
                               firn_storage_list_other other, void *context, firn_error *error);
    void (*free)(void *implementation);
} firn_storage_operations;

/** Takes `implementation` over. */
firn_status firn_storage_new(const firn_storage_operations *operations, void *implementation,
                             firn_storage **out, firn_error *error);
void firn_storage_free(firn_storage *storage);

/** The local disk. */
firn_status firn_storage_local(firn_storage **out, firn_error *error);
/** Files in memory, for tests; any location. */
firn_status firn_storage_memory(firn_storage **out, firn_error *error);

/**
 * NOT_FOUND when absent; UNSUPPORTED for schemes that this build can't reach, naming the scheme;
 * INVALID for what is no regular file, and names that none can have (too long, links in a circle).
 */
firn_status firn_storage_stat_file(firn_storage *storage, const char *location,
                                   firn_storage_stat *out, firn_error *error);

/**
 * Opens for positional reads. Only regular files are opened (else IO: what names a file is often a
 * table, not the user), and nothing else can make the call wait. `firn_storage_file_source` gives
 * the read_at view, valid until closed.
 */
firn_status firn_storage_open(firn_storage *storage, const char *location, firn_storage_file **out,
                              firn_error *error);
void firn_storage_close(firn_storage_file *file);
const firn_read_at *firn_storage_file_source(const firn_storage_file *file);

/** Appends a whole file to `out` (bounded by its maximum: LIMIT). */
firn_status firn_storage_read_all(firn_storage *storage, const char *location, firn_buffer *out,
                                  firn_error *error);

/**
 * A new file, written in order. Parent folders are made. EXISTS when it is there already. Not
 * durable nor complete before finish.
 */
firn_status firn_storage_create(firn_storage *storage, const char *location,
                                firn_storage_writer **out, firn_error *error);
firn_status firn_storage_write(firn_storage_writer *writer, const void *data, size_t size,
                               firn_error *error);
/**
 * Makes the file complete and durable, folder entry included. Frees the writer, also on failure;
 * then the file is removed.
 */
firn_status firn_storage_finish(firn_storage_writer *writer, firn_error *error);
/** Gives the file up and removes it. Frees the writer. NULL is allowed. */
void firn_storage_abort(firn_storage_writer *writer);
/** create + write + finish. */
firn_status firn_storage_put(firn_storage *storage, const char *location, firn_slice bytes,
                             firn_error *error);

/**
 * A file that is complete and durable when it appears, or EXISTS when another one is there (local:
 * temporary file, sync, renameat2(RENAME_NOREPLACE) or link). After any other failure the file may
 * be there all the same (its folder could not be synced, say): read it back to know.
 */
firn_status firn_storage_create_exclusive(firn_storage *storage, const char *location,
                                          firn_slice bytes, firn_error *error);
/**
 * The temporary file that the two calls around this one fill first on a local disk, and that a crash may leave
 * behind: in the same folder, the same for all calls of a process for this location, of no other
 * process. A journal can name it beforehand. Owned (firn_free).
 */
firn_status firn_storage_temporary_name(const char *location, char **out, firn_error *error);
/** Replaces or creates atomically (version hints). */
firn_status firn_storage_replace(firn_storage *storage, const char *location, firn_slice bytes,
                                 firn_error *error);
/** A file that is gone already is no error. The checksum companion ".NAME.crc" goes with it. */
firn_status firn_storage_delete(firn_storage *storage, const char *location, firn_error *error);
/**
 * Regular files below the folder `prefix`, recursively, in no particular order; symbolic links
 * below it are not followed and not listed. An absent folder lists nothing; one that can't be read
 * fails.
 */
firn_status firn_storage_list(firn_storage *storage, const char *prefix,
                              firn_storage_list_visitor visit, void *context, firn_error *error);
/**
 * The same, without looking into folders for which `enter` says no, where the backend has folders: files below them may be
 * visited all the same. A folder that isn't entered need not be readable. `enter` and `other` may be NULL; without `other` a folder
 * whose path is too long fails.
 */
firn_status firn_storage_list_within(firn_storage *storage, const char *prefix,
                                     firn_storage_list_filter enter,
                                     firn_storage_list_visitor visit, firn_storage_list_other other,
                                     void *context, firn_error *error);

firn_storage_counters firn_storage_count(const firn_storage *storage);

#endif
