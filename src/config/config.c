#include "config/config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "config/config_internal.h"

const char *firn_config_system_file = "/etc/firn/firn.yaml";

static bool same_name(const char *a, const char *b) {
    for (; *a != '\0' && *b != '\0'; a++, b++) {
        char left = *a == '_' ? '-' : *a;
        char right = *b == '_' ? '-' : *b;
        if (strncasecmp(&left, &right, 1) != 0) return false;
    }
    return *a == *b;
}

firn_catalog_draft *firn_config_find(const firn_config *config, const char *name) {
    for (size_t i = 0; i < config->catalogs.count; i++) {
        firn_catalog_draft *catalog = config->catalogs.items[i];
        if (strcmp(catalog->view.name, name) == 0) return catalog;
    }
    for (size_t i = 0; i < config->catalogs.count; i++) {
        firn_catalog_draft *catalog = config->catalogs.items[i];
        if (same_name(catalog->view.name, name)) return catalog;
    }
    return NULL;
}

firn_status firn_config_add_catalog(firn_config *config, const char *name, const char *source,
                                    firn_catalog_draft **out, firn_error *error) {
    firn_catalog_draft *catalog = firn_arena_alloc(config->arena, 1, sizeof *catalog);
    if (catalog == NULL) return firn_fail_memory(error);
    catalog->view.name = firn_arena_strdup(config->arena, name);
    catalog->view.source = firn_arena_strdup(config->arena, source);
    if (catalog->view.name == NULL || catalog->view.source == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_vector_push(&config->catalogs, error, catalog));
    *out = catalog;
    return FIRN_OK;
}

firn_status firn_config_set(firn_config *config, firn_catalog_draft *catalog, const char *key,
                            const char *value, const char *source, firn_error *error) {
    firn_config_property property = {
        firn_arena_strdup(config->arena, key),
        firn_arena_strdup(config->arena, value),
        firn_arena_strdup(config->arena, source),
    };
    if (property.key == NULL || property.value == NULL || property.source == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < catalog->properties.count; i++) {
        if (strcmp(catalog->properties.items[i].key, key) != 0) continue;
        catalog->properties.items[i] = property;
        return FIRN_OK;
    }
    FIRN_TRY(firn_vector_push(&catalog->properties, error, property));
    catalog->view.properties = catalog->properties.items;
    catalog->view.property_count = catalog->properties.count;
    return FIRN_OK;
}

/* `folder`/`name` in the arena; NULL when memory is out. */
static const char *join(firn_config *config, const char *folder, const char *name) {
    return firn_arena_format(config->arena, "%s/%s", folder, name);
}

static firn_status read_joined(firn_config *config, const char *folder, const char *name,
                               firn_config_dialect dialect, bool *found, firn_error *error) {
    *found = false;
    if (folder == NULL || folder[0] == '\0') return FIRN_OK;
    const char *path = join(config, folder, name);
    if (path == NULL) return firn_fail_memory(error);
    return firn_config_read_file(config, path, dialect, found, error);
}

static firn_status read_firn_files(firn_config *config, const char *path, firn_error *error) {
    bool found = false;
    bool from_flag = path != NULL;
    if (path == NULL) path = getenv("FIRN_CONFIG");
    if (path != NULL && path[0] != '\0') {
        FIRN_TRY(firn_config_read_file(config, path, FIRN_CONFIG_FIRN, &found, error));
        if (!found) {
            return firn_fail(error, FIRN_INVALID, "%s%s: there is no such file",
                             from_flag ? "" : "FIRN_CONFIG: ", path);
        }
    }
    FIRN_TRY(firn_config_read_file(config, "firn.yaml", FIRN_CONFIG_FIRN, &found, error));
    const char *folder = getenv("XDG_CONFIG_HOME");
    if (folder != NULL && folder[0] == '/') {
        FIRN_TRY(read_joined(config, folder, "firn/firn.yaml", FIRN_CONFIG_FIRN, &found, error));
    }
    FIRN_TRY(read_joined(config, getenv("HOME"), ".config/firn/firn.yaml", FIRN_CONFIG_FIRN, &found,
                         error));
    return firn_config_read_file(config, firn_config_system_file, FIRN_CONFIG_FIRN, &found, error);
}

/* PyIceberg takes the first file that says anything. */
static firn_status read_pyiceberg_file(firn_config *config, firn_error *error) {
    const char *const folders[] = {getenv("PYICEBERG_HOME"), getenv("HOME"), "."};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        bool found = false;
        FIRN_TRY(read_joined(config, folders[i], ".pyiceberg.yaml", FIRN_CONFIG_PYICEBERG, &found,
                             error));
        if (found) return FIRN_OK;
    }
    return FIRN_OK;
}

firn_status firn_config_load(const char *path, firn_config **out, firn_error *error) {
    *out = NULL;
    firn_status status = FIRN_OK;
    firn_config *config = firn_alloc_zeroed(1, sizeof *config);
    if (config == NULL) return firn_fail_memory(error);
    config->arena = firn_arena_new();
    if (config->arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(read_firn_files(config, path, error));
    if (config->catalogs.count == 0) FIRN_CHECK(read_pyiceberg_file(config, error));
    FIRN_CHECK(firn_config_read_environment(config, environ, error));
out:
    if (status != FIRN_OK) {
        firn_config_free(config);
        return status;
    }
    *out = config;
    return FIRN_OK;
}

void firn_config_free(firn_config *config) {
    if (config == NULL) return;
    for (size_t i = 0; i < config->catalogs.count; i++) {
        firn_vector_release(&config->catalogs.items[i]->properties);
    }
    firn_vector_release(&config->catalogs);
    for (size_t i = 0; i < config->lakes.count; i++) {
        firn_vector_release(&config->lakes.items[i]->settings);
    }
    firn_vector_release(&config->lakes);
    firn_vector_release(&config->files);
    firn_arena_free(config->arena);
    firn_free(config);
}

size_t firn_config_catalog_count(const firn_config *config) {
    return config->catalogs.count;
}

const firn_catalog_config *firn_config_catalog_at(const firn_config *config, size_t index) {
    return &config->catalogs.items[index]->view;
}

const firn_catalog_config *firn_config_catalog(const firn_config *config, const char *name) {
    const firn_catalog_draft *catalog = firn_config_find(config, name);
    return catalog == NULL ? NULL : &catalog->view;
}

const firn_catalog_config *firn_config_default_catalog(const firn_config *config) {
    const firn_catalog_config *named = firn_config_catalog(config, "default");
    if (named != NULL || firn_config_catalog_count(config) != 1) return named;
    return firn_config_catalog_at(config, 0);
}

const char *firn_catalog_config_property(const firn_catalog_config *catalog, const char *key) {
    for (size_t i = 0; i < catalog->property_count; i++) {
        if (strcmp(catalog->properties[i].key, key) == 0) return catalog->properties[i].value;
    }
    return NULL;
}

size_t firn_config_file_count(const firn_config *config) {
    return config->files.count;
}

const char *firn_config_file_at(const firn_config *config, size_t index) {
    return config->files.items[index];
}
