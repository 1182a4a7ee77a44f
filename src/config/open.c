#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "config/config_internal.h"

typedef struct open_request {
    const char *catalog_name;
    bool read_only, create;
    firn_storage *storage;
} open_request;

firn_status firn_config_sqlite_path(const char *uri, const char **path, firn_error *error) {
    static const char *const prefixes[] = {"sqlite:///", "sqlite+pysqlite:///"};
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncasecmp(uri, prefixes[i], length) == 0) rest = uri + length;
    }
    if (rest == NULL && strncasecmp(uri, "sqlite", strlen("sqlite")) == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: an SQLite catalog is named sqlite:///relative/path or "
                         "sqlite:////absolute/path",
                         uri);
    }
    if (rest == NULL) return firn_fail(error, FIRN_INVALID, "%s: is no SQLite URI", uri);
    if (rest[0] == '\0' || strcmp(rest, ":memory:") == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "%s: a catalog in memory ends with the program that made it; name a file",
                         uri);
    }
    if (strchr(rest, '?') != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: parameters after \"?\" are not supported",
                         uri);
    }
    *path = rest;
    return FIRN_OK;
}

/* As PyIceberg infers a type that is not given. */
static const char *infer_type(const char *uri) {
    if (strncasecmp(uri, "http", 4) == 0) return "rest";
    if (strncasecmp(uri, "thrift", 6) == 0) return "hive";
    if (strncasecmp(uri, "sqlite", 6) == 0) return "sql";
    if (strncasecmp(uri, "postgres", 8) == 0) return "sql";
    return NULL;
}

/* The SQL catalog names its rows; where a file holds several names the configured one is meant. */
static firn_status open_sql(const char *path, const char *warehouse, const char *configured_name,
                            const open_request *request, firn_catalog **out, firn_error *error) {
    firn_sql_options options = {
        .path = path,
        .catalog_name = request->catalog_name,
        .new_name = configured_name,
        .warehouse = warehouse,
        .create = request->create,
        .read_only = request->read_only,
    };
    firn_status status = firn_catalog_sql_open(&options, request->storage, out, error);
    if (status != FIRN_INVALID || options.catalog_name != NULL || configured_name == NULL) {
        return status;
    }
    options.catalog_name = configured_name;
    firn_error second;
    firn_error_clear(&second);
    if (firn_catalog_sql_open(&options, request->storage, out, &second) == FIRN_OK) return FIRN_OK;
    return status;
}

static firn_status open_configured(const firn_catalog_config *catalog, const open_request *request,
                                   firn_catalog **out, firn_error *error) {
    const char *uri = firn_catalog_config_property(catalog, "uri");
    const char *type = firn_catalog_config_property(catalog, "type");
    const char *implementation = firn_catalog_config_property(catalog, "py-catalog-impl");
    if (type == NULL && implementation != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "py-catalog-impl %s is Python code that firn can't "
                         "run",
                         implementation);
    }
    if (type == NULL && uri != NULL) type = infer_type(uri);
    if (type == NULL) {
        return firn_fail(error, FIRN_INVALID, "%s; set type and uri (%s)",
                         uri == NULL ? "it has neither type nor uri"
                                     : "its type can't be told from its uri",
                         catalog->source);
    }
    if (strcasecmp(type, "sql") != 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "catalogs of type %s are not in this version of firn; it opens type sql "
                         "with an SQLite file",
                         type);
    }
    if (uri == NULL) {
        return firn_fail(error, FIRN_INVALID, "it has no uri (%s)", catalog->source);
    }
    if (strncasecmp(uri, "postgres", strlen("postgres")) == 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "SQL catalogs in PostgreSQL are not in this version of firn; it opens "
                         "sqlite:///… files");
    }
    const char *path = NULL;
    FIRN_TRY(firn_config_sqlite_path(uri, &path, error));
    return open_sql(path, firn_catalog_config_property(catalog, "warehouse"), catalog->name,
                    request, out, error);
}

/* The configured names for messages; what doesn't fit when memory is out is cut off. `where`: what says the argument. */
static firn_status fail_unknown(const firn_config *config, const char *where, const char *argument,
                                firn_error *error) {
    firn_buffer names = firn_buffer_with_maximum(512);
    for (size_t i = 0; i < config->catalogs.count; i++) {
        const char *name = config->catalogs.items[i]->view.name;
        if (firn_buffer_printf(&names, NULL, "%s%s", i == 0 ? "" : ", ", name) != FIRN_OK) break;
    }
    const char *known = names.size == 0 ? "none" : (const char *)names.data;
    int length = names.size == 0 ? 4 : (int)names.size;
    firn_status status = FIRN_OK;
    if (argument == NULL) {
        status =
            firn_fail(error, FIRN_INVALID,
                      "no catalog named \"default\" is configured (configured: %.*s); name one "
                      "with --catalog, as a configured name or an SQLite file",
                      length, known);
    } else {
        status = firn_fail(error, FIRN_INVALID,
                           "%s %s: neither a configured catalog (configured: %.*s) nor an SQLite "
                           "file",
                           where, argument, length, known);
    }
    firn_buffer_release(&names);
    return status;
}

static bool looks_like_file(const char *argument) {
    struct stat facts;
    return strchr(argument, '/') != NULL || stat(argument, &facts) == 0;
}

/* Names of files that a flag may make without a slash in them. */
static bool ends_like_database(const char *argument) {
    static const char *const endings[] = {".db", ".sqlite", ".sqlite3"};
    size_t length = strlen(argument);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(argument + length - ending, endings[i]) == 0) return true;
    }
    return false;
}

firn_status firn_config_check_lakes(const firn_config *config, firn_error *error) {
    for (size_t i = 0; i < config->lakes.count; i++) {
        const firn_lake_config *lake = &config->lakes.items[i]->view;
        for (size_t j = 0; j < lake->setting_count; j++) {
            const firn_config_property *setting = &lake->settings[j];
            if (strcmp(setting->key, "catalog") != 0) continue;
            const char *name = setting->value;
            if (firn_config_catalog(config, name) != NULL || strstr(name, "://") != NULL) continue;
            if (looks_like_file(name) || ends_like_database(name)) continue;
            char where[512];
            snprintf(where, sizeof where, "%.300s: lakes.%.100s.catalog:", setting->source,
                     lake->table);
            return fail_unknown(config, where, name, error);
        }
    }
    return FIRN_OK;
}

firn_status firn_config_open_catalog(const firn_config *config, const char *catalog_argument,
                                     const char *catalog_name, bool read_only, bool create,
                                     firn_storage *storage, firn_catalog **out, firn_error *error) {
    open_request request = {catalog_name, read_only, create, storage};
    const char *name = catalog_argument == NULL ? "default" : catalog_argument;
    const firn_catalog_config *catalog = firn_config_catalog(config, name);
    if (catalog != NULL) {
        firn_status status = open_configured(catalog, &request, out, error);
        return firn_error_wrap(error, status, "catalog \"%s\"", catalog->name);
    }
    if (catalog_argument == NULL) return fail_unknown(config, NULL, NULL, error);
    if (strncasecmp(catalog_argument, "sqlite", 6) == 0 &&
        strstr(catalog_argument, "://") != NULL) {
        const char *path = NULL;
        FIRN_TRY(firn_config_sqlite_path(catalog_argument, &path, error));
        return open_sql(path, NULL, NULL, &request, out, error);
    }
    if (strstr(catalog_argument, "://") != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "--catalog %s: this version of firn opens SQLite files (sqlite:///…) and "
                         "configured catalogs",
                         catalog_argument);
    }
    if (!looks_like_file(catalog_argument) && !ends_like_database(catalog_argument)) {
        return fail_unknown(config, "--catalog", catalog_argument, error);
    }
    return open_sql(catalog_argument, NULL, NULL, &request, out, error);
}
