/**
 * firn.yaml and what stands in for it: which catalogs there are, with which settings, and where each
 * setting comes from (design, section 12).
 */
#ifndef FIRN_CONFIG_CONFIG_H
#define FIRN_CONFIG_CONFIG_H

#include "catalog/catalog.h"

typedef struct firn_config firn_config;

/** A setting of a catalog, named as PyIceberg names it. */
typedef struct firn_config_property {
    const char *key, *value;
    const char *source; /**< "environment FIRN_CATALOG__…", "/x/firn.yaml line 3" */
} firn_config_property;

typedef struct firn_catalog_config {
    const char *name;
    const firn_config_property *properties; /**< "type", "uri", "warehouse", … */
    size_t property_count;
    const char *source; /**< what named the catalog */
} firn_catalog_config;

/**
 * Reads every file that exists of `path` (from --config; NULL: $FIRN_CONFIG), ./firn.yaml,
 * $XDG_CONFIG_HOME/firn/firn.yaml, ~/.config/firn/firn.yaml and /etc/firn/firn.yaml. A catalog is taken whole
 * from the first file that names it. Where none names a catalog, PyIceberg's own configuration is read:
 * the first .pyiceberg.yaml of $PYICEBERG_HOME, the home folder, the working folder. On top come, setting
 * by setting, FIRN_CATALOG__NAME__PROPERTY and below it PYICEBERG_CATALOG__NAME__PROPERTY from the
 * environment.
 *
 * INVALID: `path` can't be read; an unknown key (named with its line and the nearest known key); a value
 * of the wrong shape; a firn.yaml that holds a secret and may be read by others.
 */
firn_status firn_config_load(const char *path, firn_config **out, firn_error *error);
void firn_config_free(firn_config *config);

size_t firn_config_catalog_count(const firn_config *config);
const firn_catalog_config *firn_config_catalog_at(const firn_config *config, size_t index);
/** NULL when no catalog has this name; case does not matter, as for PyIceberg. */
const firn_catalog_config *firn_config_catalog(const firn_config *config, const char *name);
/** The one that is meant where none is named: that named "default", else the only one that is configured; NULL. */
const firn_catalog_config *firn_config_default_catalog(const firn_config *config);
/** The value of a setting, or NULL. */
const char *firn_catalog_config_property(const firn_catalog_config *catalog, const char *key);

/** What `lakes` says of one table: settings by the names of their keys, those of mappings below as "source.folder" and "properties.NAME". A key that takes a list ("partition", "source.folder") stands once for each of its items. */
typedef struct firn_lake_config {
    const char *table;
    const firn_config_property *settings; /**< values are checked, but for partition rules */
    size_t setting_count;
    const char *source; /**< where it stands */
} firn_lake_config;

size_t firn_config_lake_count(const firn_config *config);
const firn_lake_config *firn_config_lake_at(const firn_config *config, size_t index);
/** NULL when there is no entry for the table. An entry is taken whole from the first file that has it. */
const firn_lake_config *firn_config_lake(const firn_config *config, const char *table);
/** The table under `lakes` whose name is most like this one, for a message; NULL: none is. Borrowed. */
const char *firn_config_nearest_lake(const firn_config *config, const char *table);
/** The first value under a key, or NULL; `lake` nullable. */
const char *firn_lake_config_setting(const firn_lake_config *lake, const char *key);

/**
 * INVALID, naming the place, where a catalog is none that firn can open (those of PyIceberg's own configuration may be other
 * programs'), or where an entry of `lakes` has no source, or names a catalog that is neither configured nor can be an SQLite file.
 */
firn_status firn_config_check(const firn_config *config, firn_error *error);

/** The files that were read, the one of highest precedence first. */
size_t firn_config_file_count(const firn_config *config);
const char *firn_config_file_at(const firn_config *config, size_t index);

/** Whether a setting must not be shown: keys, tokens, passwords, a URI with a password in it. */
bool firn_config_is_secret(const char *key, const char *value);

/**
 * Opens what `--catalog` (and --catalog-name) mean: a configured name, or an SQLite file (a path, or
 * sqlite:///…); NULL: firn_config_default_catalog, INVALID when there is none. `create`: an SQLite file
 * that isn't there yet is made with its first table, not before. Kinds of catalog that this version can't open are UNSUPPORTED by name.
 */
firn_status firn_config_open_catalog(const firn_config *config, const char *catalog_argument,
                                     const char *catalog_name, bool read_only, bool create,
                                     firn_storage *storage, firn_catalog **out, firn_error *error);

/**
 * The file that an SQLite URI as SQLAlchemy spells it names: "sqlite:///x" is relative to the working
 * folder, "sqlite:////x" absolute. Borrowed from `uri`. INVALID for anything else, memory included.
 */
firn_status firn_config_sqlite_path(const char *uri, const char **path, firn_error *error);

#endif
