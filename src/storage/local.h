/** The parts of the local disk's storage (storage/storage.h); for local_*.c and their tests. */
#ifndef FIRN_STORAGE_LOCAL_H
#define FIRN_STORAGE_LOCAL_H

#include <sys/stat.h>

#include "storage/storage.h"

/** The local path of a location; UNSUPPORTED, naming the scheme, for any other. */
firn_status firn_local_path(const char *location, const char **path, firn_error *error);

/** Makes the folders above `path` that are missing; each new one's entry is synced. */
firn_status firn_local_make_parents(const char *path, const char *location, firn_error *error);
/** Syncs the folder that `path` lies in. */
firn_status firn_local_sync_parent(const char *path, const char *location, firn_error *error);
/** Removes the checksum companion ".NAME.crc" if there is one; never fails. */
void firn_local_remove_checksum(const char *path);

/** Writes all of it, whatever write(2) takes at once; errno on failure, 0 on success. */
int firn_local_write_all(int descriptor, const void *data, size_t size);

/**
 * Gives `temporary` the name `path` unless that name is taken (EXISTS); `temporary` is gone
 * afterwards only on success. With `by_link` the fallback for file systems without RENAME_NOREPLACE
 * is used.
 */
firn_status firn_local_publish(const char *temporary, const char *path, const char *location,
                               bool by_link, firn_error *error);

/* The operations, as in firn_storage_operations. */
firn_status firn_local_create(void *implementation, const char *location, void **writer,
                              firn_error *error);
firn_status firn_local_write(void *implementation, void *writer, const void *data, size_t size,
                             firn_error *error);
firn_status firn_local_finish(void *implementation, void *writer, firn_error *error);
void firn_local_abort(void *implementation, void *writer);
firn_status firn_local_create_exclusive(void *implementation, const char *location,
                                        firn_slice bytes, firn_error *error);
firn_status firn_local_replace(void *implementation, const char *location, firn_slice bytes,
                               firn_error *error);
/** When a file was modified; times that don't fit come as the nearest one that does. */
int64_t firn_local_modified_ns(const struct stat *status);
firn_status firn_local_list_within(void *implementation, const char *prefix,
                                   firn_storage_list_filter enter, firn_storage_list_visitor visit,
                                   firn_storage_list_other other, void *context, firn_error *error);
firn_status firn_local_list(void *implementation, const char *prefix,
                            firn_storage_list_visitor visit, void *context, firn_error *error);

#endif
