/**
 * The current version of a table that lies in a folder, found without a catalog: by
 * version-hint.text and the names of the metadata files, as Iceberg's directory catalog
 * (HadoopCatalog) and others leave them.
 */
#ifndef FIRN_CATALOG_DIRECTORY_VERSIONS_H
#define FIRN_CATALOG_DIRECTORY_VERSIONS_H

#include "storage/storage.h"

#define FIRN_VERSION_HINT "version-hint.text"

/** How the file of version N may be spelled, in the order in which readers look. */
typedef enum firn_version_spelling {
    FIRN_VERSION_PLAIN,    /**< v<N>.metadata.json */
    FIRN_VERSION_GZIP,     /**< v<N>.gz.metadata.json */
    FIRN_VERSION_OLD_GZIP, /**< v<N>.metadata.json.gz */
    FIRN_VERSION_SPELLINGS
} firn_version_spelling;

typedef struct firn_directory_version {
    char *name;     /**< file name in the metadata folder; owned */
    int64_t number; /**< N of v<N>; -1 for a file that another catalog named */
} firn_directory_version;

/** The name of version `number`; owned, NULL when memory is out. */
char *firn_version_file_name(int64_t number, firn_version_spelling spelling);
/** N of "v<N>" with or without the ending of a metadata file; -1 for any other name. */
int64_t firn_version_of_name(const char *name);
/**
 * NNNNN of "NNNNN-<uuid>.metadata.json", as other catalogs name their files; -1 for any other name.
 */
int64_t firn_catalog_version_of_name(const char *name);

/**
 * The one file of version `number` in the metadata folder; *name is NULL when there is none, else
 * owned. Two spellings with different content: CORRUPT naming both.
 */
firn_status firn_find_version_file(firn_storage *storage, const char *folder, int64_t number,
                                   char **name, firn_error *error);
/**
 * Whether any spelling of version `number` but `except` (FIRN_VERSION_SPELLINGS for none) is there.
 */
firn_status firn_version_exists(firn_storage *storage, const char *folder, int64_t number,
                                firn_version_spelling except, bool *exists, firn_error *error);

/**
 * The current version in the metadata folder. NOT_FOUND: no metadata files, or the current one is
 * missing (then the newest candidates are named). CORRUPT: two files claim to be current. *waited:
 * a missing hint is waited for once, since another writer may be about to replace it.
 */
firn_status firn_find_current_version(firn_storage *storage, const char *folder, bool *waited,
                                      firn_directory_version *out, firn_error *error);

/** Name of the newest file that another catalog named, with its number; *name NULL when none. */
firn_status firn_find_catalog_version(firn_storage *storage, const char *folder, char **name,
                                      int64_t *number, firn_error *error);

#endif
