/**
 * Catalogs: who holds the pointer to a table's current metadata file, and how it is swapped
 * (design, section 6.2). Not thread-safe: one handle per thread.
 */
#ifndef FIRN_CATALOG_CATALOG_H
#define FIRN_CATALOG_CATALOG_H

#include "iceberg/update.h"
#include "storage/storage.h"

typedef struct firn_catalog firn_catalog;

/** "a.b.table": everything before the last dot is the namespace (levels joined by "."). */
typedef struct firn_table_name {
    const char *namespace_name; /**< "" for none */
    const char *name;
} firn_table_name;

/**
 * Whether a table argument means a path: it contains a '/', or ends in .metadata.json (design,
 * section 13).
 */
bool firn_table_argument_is_path(const char *argument);
/** Longest namespace of a table named on a command line or through the library, with its zero. */
#define FIRN_NAMESPACE_SIZE 1024
/** Splits "a.b.table" at its last dot. `namespace_room` (FIRN_NAMESPACE_SIZE bytes) and `argument` are what *out points into. INVALID for an empty part. */
firn_status firn_table_name_parse(const char *argument, char *namespace_room, firn_table_name *out,
                                  firn_error *error);

/** INVALID for a new name of a catalog without a namespace: PyIceberg, for one, opens no such table. Paths are good. */
firn_status firn_table_name_check_new(firn_table_name name, firn_error *error);

/** The current metadata of a table as its catalog sees it. */
typedef struct firn_table_pointer {
    char *metadata_location;       /**< owned */
    firn_table_metadata *metadata; /**< owned */
} firn_table_pointer;

void firn_table_pointer_release(firn_table_pointer *pointer);

typedef struct firn_catalog_operations {
    firn_status (*list)(void *implementation,
                        firn_status (*visit)(void *context, firn_table_name name,
                                             const char *metadata_location, firn_error *error),
                        void *context, firn_error *error);
    firn_status (*load)(void *implementation, firn_table_name name, firn_table_pointer *out,
                        firn_error *error);
    firn_status (*commit)(void *implementation, firn_table_name name,
                          const firn_table_pointer *base, const firn_table_update *update,
                          firn_table_pointer *out, firn_error *error);
    firn_status (*create)(void *implementation, firn_table_name name, firn_table_metadata *metadata,
                          const firn_table_update *announcer, firn_table_pointer *out,
                          firn_error *error);
    firn_status (*register_table)(void *implementation, firn_table_name name,
                                  const char *metadata_location, firn_error *error);
    /** NULL: pointers can't be set. */
    firn_status (*repoint)(void *implementation, firn_table_name name, const char *old_location,
                           const char *new_location, firn_error *error);
    firn_status (*check_writable)(void *implementation, firn_table_name name, firn_error *error);
    const char *(*describe)(void *implementation);
    /** NULL: the table's location says all. */
    firn_status (*identity)(void *implementation, firn_table_name name, char **out,
                            firn_error *error);
    /** NULL: no catalog of the kind is made with its first table. */
    const char *(*absent_file)(void *implementation);
    /** NULL: none shares its store with others. */
    firn_status (*names)(void *implementation, char **out, firn_error *error);
    void (*free)(void *implementation);
} firn_catalog_operations;

struct firn_catalog {
    const firn_catalog_operations *operations;
    void *implementation;
};

void firn_catalog_close(firn_catalog *catalog);

/**
 * Every table, sorted by namespace and name; views are left out. `metadata_location` is NULL where
 * the catalog has a name without a pointer. The visitor may use the catalog.
 */
firn_status firn_catalog_list(firn_catalog *catalog,
                              firn_status (*visit)(void *context, firn_table_name name,
                                                   const char *metadata_location,
                                                   firn_error *error),
                              void *context, firn_error *error);

/**
 * Whether the catalog has the name, though its metadata file may be gone. `metadata_location` (nullable) gets the pointer,
 * owned (firn_free); NULL where there is none.
 */
firn_status firn_catalog_find(firn_catalog *catalog, firn_table_name name, bool *found,
                              char **metadata_location, firn_error *error);

/**
 * NOT_FOUND when the catalog has no such table; when the pointer names a missing file: NOT_FOUND
 * saying so, with the newest metadata files of the folder as candidates, never an empty table.
 */
firn_status firn_catalog_load(firn_catalog *catalog, firn_table_name name, firn_table_pointer *out,
                              firn_error *error);

/**
 * One attempt: checks requirements against `base`, applies the update, writes the new metadata
 * file, syncs, swaps the pointer. OK: *out is the new state. CONFLICT: the pointer moved (or a
 * requirement failed, or the catalog is locked) and nothing changed; our metadata file is removed.
 * COMMIT_UNKNOWN: can't be told; nothing is removed. Any other failure: nothing changed for sure.
 */
firn_status firn_catalog_commit(firn_catalog *catalog, firn_table_name name,
                                const firn_table_pointer *base, const firn_table_update *update,
                                firn_table_pointer *out, firn_error *error);

/** Writes the first metadata file of a new table and its pointer; EXISTS. Takes `metadata` over. */
firn_status firn_catalog_create(firn_catalog *catalog, firn_table_name name,
                                firn_table_metadata *metadata, firn_table_pointer *out,
                                firn_error *error);
/** The same; `announcer` (nullable) has the function that is called before the metadata file is made. */
firn_status firn_catalog_create_announced(firn_catalog *catalog, firn_table_name name,
                                          firn_table_metadata *metadata,
                                          const firn_table_update *announcer,
                                          firn_table_pointer *out, firn_error *error);
/**
 * Points a new name at an existing metadata file (read and checked first); EXISTS. A relative path
 * is recorded as an absolute one.
 */
firn_status firn_catalog_register(firn_catalog *catalog, firn_table_name name,
                                  const char *metadata_location, firn_error *error);
/**
 * Makes a name that points at `old_location` point at another metadata file (read and checked first),
 * for a pointer whose file is lost; CONFLICT when it no longer points there, UNSUPPORTED.
 */
firn_status firn_catalog_repoint(firn_catalog *catalog, firn_table_name name,
                                 const char *old_location, const char *new_location,
                                 firn_error *error);
/**
 * UNSUPPORTED with what to do instead when tables named like this can't be committed to (read-only
 * paths, catalogs that can't be written). Changes nothing.
 */
firn_status firn_catalog_check_writable(firn_catalog *catalog, firn_table_name name,
                                        firn_error *error);
/** "SQLite catalog 'default' in /x/catalog.db" … */
const char *firn_catalog_describe(const firn_catalog *catalog);
/** The file of a catalog that is not there yet, and that the first table would make; NULL: it is there, or is no file. */
const char *firn_catalog_absent_file(const firn_catalog *catalog);
/** The names of all catalogs in the same store, with commas between, cut off where they are many; owned (firn_free). "": there is none, or the kind of catalog has no names. */
firn_status firn_catalog_names(const firn_catalog *catalog, char **out, firn_error *error);
/**
 * Tells one pointer from every other one: the same table may be registered under several names and
 * in several catalogs, each of which moves on its own. Equal for the same file by another path.
 * Owned (firn_free).
 */
firn_status firn_catalog_identity(const firn_catalog *catalog, firn_table_name name, char **out,
                                  firn_error *error);

/* The catalogs. `storage` is borrowed. */

typedef struct firn_sql_options {
    const char *path; /**< SQLite file */
    /** NULL: the only one in the file (`new_name` in an empty one); INVALID when there are several. */
    const char *catalog_name;
    const char *new_name;  /**< of the catalog in a file that has none yet; NULL: "default" */
    const char *warehouse; /**< NULL, or where new tables go; for callers, not used here */
    /** A file that is absent, or has no catalog in it, is one without tables: the first one makes it. A run that fails before that leaves nothing behind. */
    bool create;
    bool read_only;
} firn_sql_options;

/**
 * SQLite in PyIceberg's and Java's layout: V1, V0 accepted, never altered; `iceberg_type` 'TABLE'
 * or NULL. NOT_FOUND when the file is absent and `create` is false, IO when it couldn't be made. `path` is a plain path, never a
 * URI. A lock is waited for 30 s (FIRN_SQLITE_BUSY_MS in the environment overrides it for tests),
 * then CONFLICT.
 */
firn_status firn_catalog_sql_open(const firn_sql_options *options, firn_storage *storage,
                                  firn_catalog **out, firn_error *error);

/**
 * A table by path: a folder of a directory table (its current metadata is v<N>[.gz].metadata.json),
 * or read-only: any other folder with metadata, or a metadata file. Table names are ignored by this
 * catalog. NOT_FOUND when no table is there; CORRUPT naming both when two files claim to be
 * current.
 */
firn_status firn_catalog_path_open(const char *path, firn_storage *storage, firn_catalog **out,
                                   firn_error *error);

/** "<location>/metadata", or write.metadata.path; owned (firn_free). */
firn_status firn_metadata_folder(const firn_table_metadata *metadata, char **out,
                                 firn_error *error);

#endif
