/**
 * The parts of the catalog of a table named by its path; for directory.c and directory_commit.c.
 */
#ifndef FIRN_CATALOG_DIRECTORY_H
#define FIRN_CATALOG_DIRECTORY_H

#include "catalog/catalog.h"

typedef struct firn_directory_catalog {
    firn_storage *storage; /**< borrowed */
    char *path;            /**< as given, without trailing slashes */
    char *folder;          /**< its metadata folder; NULL: `path` is a metadata file */
    char *description;
    bool waited; /**< a missing version hint was waited for already */
} firn_directory_catalog;

/**
 * UNSUPPORTED, saying why and what to do, unless a new version may be written after `base`: it is a
 * v<N> file in the folder that its own location names, and nothing shows that another catalog holds
 * the table.
 */
firn_status firn_directory_check_committable(const firn_directory_catalog *catalog,
                                             const firn_table_pointer *base, firn_error *error);

/** The operation, as in firn_catalog_operations. */
firn_status firn_directory_commit(void *implementation, firn_table_name name,
                                  const firn_table_pointer *base, const firn_table_update *update,
                                  firn_table_pointer *out, firn_error *error);

#endif
