/** firn.yaml and what stands in for it: which catalog is meant, and with which settings (design, section 12). */
#ifndef FIRN_CONFIG_CONFIG_H
#define FIRN_CONFIG_CONFIG_H

#include "catalog/catalog.h"

typedef struct firn_config firn_config;

typedef struct firn_config_property {
    const char *key, *value;
    const char *source; /**< "flag", "environment FIRN_…", "/x/firn.yaml line 3", … */
} firn_config_property;

typedef struct firn_catalog_config {
    const char *name;
    const firn_config_property *properties; /**< "type", "uri", "warehouse", … as PyIceberg names them */
    size_t property_count;
    const char *source;
} firn_catalog_config;

/**
 * Loads by precedence: `path` (from --config) or $FIRN_CONFIG, ./firn.yaml, ~/.config/firn/firn.yaml, /etc/firn/firn.yaml; environment FIRN_CATALOG__NAME__PROPERTY and
 * PYICEBERG_CATALOG__NAME__PROPERTY on top; PyIceberg's own configuration (.pyiceberg.yaml in $PYICEBERG_HOME, the home folder, the working folder) where no firn.yaml names a catalog. Unknown keys are INVALID and name the
 * nearest known key; files with secrets must be 0600.
 */
firn_status firn_config_load(const char *path, firn_config **out, firn_error *error);
void firn_config_free(firn_config *config);

size_t firn_config_catalog_count(const firn_config *config);
const firn_catalog_config *firn_config_catalog_at(const firn_config *config, size_t index);
/** NULL when no catalog has this name. */
const firn_catalog_config *firn_config_catalog(const firn_config *config, const char *name);
const char *firn_catalog_config_property(const firn_catalog_config *catalog, const char *key);
/** The file that was read, or NULL. */
const char *firn_config_path(const firn_config *config);

/**
 * Opens what `--catalog` (and --catalog-name) mean: a configured name, or an SQLite file (a path, or sqlite:///…); NULL: the catalog named "default", INVALID when there is none.
 * `create`: an SQLite file named by a flag may be made.
 */
firn_status firn_config_open_catalog(const firn_config *config, const char *catalog_argument,
                                     const char *catalog_name, bool read_only, bool create,
                                     firn_storage *storage, firn_catalog **out,
                                     firn_error *error);

#endif
