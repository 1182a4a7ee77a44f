/** What the parts of config share. */
#ifndef FIRN_CONFIG_CONFIG_INTERNAL_H
#define FIRN_CONFIG_CONFIG_INTERNAL_H

#include "base/arena.h"
#include "base/vector.h"
#include "config/config.h"

/** A catalog while settings are still being gathered; `view` is kept in step. */
typedef struct firn_catalog_draft {
    firn_catalog_config view;
    FIRN_VECTOR(firn_config_property) properties;
    bool foreign; /**< PyIceberg's configuration named it */
} firn_catalog_draft;

/** An entry of `lakes` while it is read; `view` is kept in step. */
typedef struct firn_lake_draft {
    firn_lake_config view;
    FIRN_VECTOR(firn_config_property) settings;
} firn_lake_draft;

struct firn_config {
    firn_arena *arena; /**< owns all text */
    FIRN_VECTOR(firn_catalog_draft *) catalogs;
    FIRN_VECTOR(firn_lake_draft *) lakes;
    FIRN_VECTOR(const char *) files;
};

/** The file of the whole machine; a variable so that tests can have their own. */
extern const char *firn_config_system_file;

/** The catalog of this name as far as PyIceberg tells names apart (case, "_" and "-" are alike); NULL. */
firn_catalog_draft *firn_config_find(const firn_config *config, const char *name);
firn_status firn_config_add_catalog(firn_config *config, const char *name, const char *source,
                                    firn_catalog_draft **out, firn_error *error);
/** Sets or replaces; everything is copied. */
firn_status firn_config_set(firn_config *config, firn_catalog_draft *catalog, const char *key,
                            const char *value, const char *source, firn_error *error);

/** INVALID, naming the nearest, unless `key` is a setting that a catalog may have. `where` begins the message. */
firn_status firn_config_check_property(const char *where, const char *key, firn_error *error);

/** The SQLite file of a catalog. INVALID or UNSUPPORTED, naming the setting and where it stands, for one that firn can't open. */
firn_status firn_config_resolve(const firn_catalog_config *catalog, const char **path,
                                firn_error *error);
/** Whether what stands in a catalog's place can be an SQLite file. */
bool firn_config_names_file(const char *argument);
/** INVALID: no catalog has this name, and it can't be a file; NULL: there is none named default. `where`: what says the argument. */
firn_status firn_config_fail_unknown(const firn_config *config, const char *where,
                                     const char *argument, firn_error *error);
/** Whether it says what the table follows. */
bool firn_config_lake_has_source(const firn_lake_config *lake);

typedef enum firn_config_dialect {
    FIRN_CONFIG_FIRN,     /**< firn.yaml: unknown keys are errors */
    FIRN_CONFIG_PYICEBERG /**< .pyiceberg.yaml: only `catalog` is looked at */
} firn_config_dialect;

/**
 * Reads one file. *found tells whether there is one; its catalogs are added unless a file read before
 * named them.
 */
firn_status firn_config_read_file(firn_config *config, const char *path,
                                  firn_config_dialect dialect, bool *found, firn_error *error);

/** Settings from `environment` ("NAME=value" strings, NULL at the end). */
firn_status firn_config_read_environment(firn_config *config, char *const *environment,
                                         firn_error *error);

#endif
