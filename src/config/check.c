/* What a run would only find out when it needs the catalog or the lake. */
#include <stdio.h>
#include <string.h>

#include "config/config_internal.h"

static firn_status check_catalogs(const firn_config *config, firn_error *error) {
    for (size_t i = 0; i < config->catalogs.count; i++) {
        const firn_catalog_draft *catalog = config->catalogs.items[i];
        const char *path = NULL;
        if (catalog->foreign) continue;
        firn_status status = firn_config_resolve(&catalog->view, &path, error);
        if (status == FIRN_OK) continue;
        if (error != NULL) error->code = FIRN_INVALID;
        return FIRN_INVALID;
    }
    return FIRN_OK;
}

static firn_status check_lake_catalog(const firn_config *config, const firn_lake_config *lake,
                                      const firn_config_property *setting, firn_error *error) {
    const char *name = setting->value;
    if (firn_config_catalog(config, name) != NULL || strstr(name, "://") != NULL) return FIRN_OK;
    if (firn_config_names_file(name)) return FIRN_OK;
    char where[512];
    snprintf(where, sizeof where, "%.300s: lakes.%.100s.catalog:", setting->source, lake->table);
    return firn_config_fail_unknown(config, where, name, error);
}

static firn_status check_lake(const firn_config *config, const firn_lake_config *lake,
                              firn_error *error) {
    for (size_t i = 0; i < lake->setting_count; i++) {
        const firn_config_property *setting = &lake->settings[i];
        if (strcmp(setting->key, "catalog") != 0) continue;
        FIRN_TRY(check_lake_catalog(config, lake, setting, error));
    }
    if (firn_config_lake_has_source(lake)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: lakes.%s has no source; it is a mapping with one of folder, glob, list "
                     "and manifest",
                     lake->source, lake->table);
}

firn_status firn_config_check(const firn_config *config, firn_error *error) {
    FIRN_TRY(check_catalogs(config, error));
    for (size_t i = 0; i < config->lakes.count; i++) {
        FIRN_TRY(check_lake(config, &config->lakes.items[i]->view, error));
    }
    return FIRN_OK;
}
