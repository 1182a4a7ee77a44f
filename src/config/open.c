#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/nearest.h"
#include "config/config_internal.h"

/* Names that are compared for a message. */
#define SHOWN_NAMES 256

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

/* *key: the setting that is at fault; NULL: that one is missing. */
static firn_status find_sqlite_path(const firn_catalog_config *catalog, const char **key,
                                    const char **path, firn_error *error) {
    const char *uri = firn_catalog_config_property(catalog, "uri");
    const char *type = firn_catalog_config_property(catalog, "type");
    const char *implementation = firn_catalog_config_property(catalog, "py-catalog-impl");
    *key = type == NULL ? NULL : "type";
    if (type == NULL && implementation != NULL) {
        *key = "py-catalog-impl";
        return firn_fail(error, FIRN_UNSUPPORTED, "%s is Python code that firn can't run",
                         implementation);
    }
    if (type == NULL && uri == NULL) {
        return firn_fail(error, FIRN_INVALID, "it has neither type nor uri; set both");
    }
    if (type == NULL) {
        *key = "uri";
        type = infer_type(uri);
    }
    if (type == NULL) {
        return firn_fail(error, FIRN_INVALID, "the type can't be told from the uri; set type");
    }
    if (strcasecmp(type, "sql") != 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "catalogs of type %s are not in this version of firn; it opens type sql "
                         "with an SQLite file",
                         type);
    }
    *key = uri == NULL ? NULL : "uri";
    if (uri == NULL) {
        return firn_fail(error, FIRN_INVALID, "it has no uri; set it to sqlite:///… and a file");
    }
    if (strncasecmp(uri, "postgres", strlen("postgres")) == 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "SQL catalogs in PostgreSQL are not in this version of firn; it opens "
                         "sqlite:///… files");
    }
    /* A URI may hold a password. */
    if (strncasecmp(uri, "sqlite", strlen("sqlite")) != 0) {
        return firn_fail(error, FIRN_INVALID, "is no SQLite URI (sqlite:///… and a file)");
    }
    return firn_config_sqlite_path(uri, path, error);
}

firn_status firn_config_resolve(const firn_catalog_config *catalog, const char **path,
                                firn_error *error) {
    const char *key = NULL;
    firn_status status = find_sqlite_path(catalog, &key, path, error);
    if (status == FIRN_OK) return FIRN_OK;
    const char *where = catalog->source;
    for (size_t i = 0; key != NULL && i < catalog->property_count; i++) {
        if (strcmp(catalog->properties[i].key, key) == 0) where = catalog->properties[i].source;
    }
    return firn_error_wrap(error, status, "%s: catalogs.%s%s%s", where, catalog->name,
                           key == NULL ? "" : ".", key == NULL ? "" : key);
}

static firn_status open_configured(const firn_catalog_config *catalog, const open_request *request,
                                   firn_catalog **out, firn_error *error) {
    const char *path = NULL;
    FIRN_TRY(firn_config_resolve(catalog, &path, error));
    firn_status status = open_sql(path, firn_catalog_config_property(catalog, "warehouse"),
                                  catalog->name, request, out, error);
    return firn_error_wrap(error, status, "catalog \"%s\"", catalog->name);
}

/* Names for messages, "none" where there are none; what doesn't fit, also when memory is out, is cut off. */
static void append_name(firn_buffer *names, const char *name) {
    (void)firn_buffer_printf(names, NULL, "%s%s", names->size == 0 ? "" : ", ", name);
}

static int shown(const firn_buffer *names, const char **text) {
    *text = names->size == 0 ? "none" : (const char *)names->data;
    return names->size == 0 ? 4 : (int)names->size;
}

static const char *nearest_catalog(const firn_config *config, const char *name,
                                   char note[FIRN_NEAREST_NOTE_SIZE]) {
    const char *names[SHOWN_NAMES];
    size_t count = config->catalogs.count < SHOWN_NAMES ? config->catalogs.count : SHOWN_NAMES;
    for (size_t i = 0; i < count; i++) names[i] = config->catalogs.items[i]->view.name;
    return firn_nearest_note(note, name, names, count, "", "");
}

const char *firn_config_nearest_lake(const firn_config *config, const char *table) {
    const char *names[SHOWN_NAMES];
    size_t count = config->lakes.count < SHOWN_NAMES ? config->lakes.count : SHOWN_NAMES;
    for (size_t i = 0; i < count; i++) names[i] = config->lakes.items[i]->view.table;
    return firn_nearest(table, names, count);
}

firn_status firn_config_fail_unknown(const firn_config *config, const char *where,
                                     const char *argument, firn_error *error) {
    firn_buffer names = firn_buffer_with_maximum(300);
    firn_buffer lakes = firn_buffer_with_maximum(300);
    char note[FIRN_NEAREST_NOTE_SIZE];
    const char *known = NULL;
    const char *tables = NULL;
    for (size_t i = 0; i < config->catalogs.count; i++) {
        append_name(&names, config->catalogs.items[i]->view.name);
    }
    for (size_t i = 0; i < config->lakes.count; i++) {
        append_name(&lakes, config->lakes.items[i]->view.table);
    }
    int length = shown(&names, &known);
    int lakes_length = shown(&lakes, &tables);
    if (argument == NULL) {
        bool none = config->lakes.count == 0;
        firn_fail(error, FIRN_INVALID,
                  "no catalog named \"default\" is configured (configured: %.*s%s%.*s); name one "
                  "by the option catalog: a configured name or an SQLite file",
                  length, known, none ? "" : "; tables under lakes: ", none ? 0 : lakes_length,
                  tables);
    } else {
        firn_fail(error, FIRN_INVALID,
                  "%s %s: neither a configured catalog (configured: %.*s) nor an SQLite file%s",
                  where, argument, length, known, nearest_catalog(config, argument, note));
    }
    firn_buffer_release(&names);
    firn_buffer_release(&lakes);
    return FIRN_INVALID;
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

bool firn_config_names_file(const char *argument) {
    struct stat facts;
    return strchr(argument, '/') != NULL || stat(argument, &facts) == 0 ||
           ends_like_database(argument);
}

firn_status firn_config_open_catalog(const firn_config *config, const char *catalog_argument,
                                     const char *catalog_name, bool read_only, bool create,
                                     firn_storage *storage, firn_catalog **out, firn_error *error) {
    open_request request = {catalog_name, read_only, create, storage};
    const firn_catalog_config *catalog = catalog_argument == NULL
                                             ? firn_config_default_catalog(config)
                                             : firn_config_catalog(config, catalog_argument);
    if (catalog != NULL) return open_configured(catalog, &request, out, error);
    if (catalog_argument == NULL) return firn_config_fail_unknown(config, NULL, NULL, error);
    if (strncasecmp(catalog_argument, "sqlite", 6) == 0 &&
        strstr(catalog_argument, "://") != NULL) {
        const char *path = NULL;
        FIRN_TRY(firn_config_sqlite_path(catalog_argument, &path, error));
        return open_sql(path, NULL, NULL, &request, out, error);
    }
    if (strstr(catalog_argument, "://") != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "catalog %s: this version of firn opens SQLite files (sqlite:///…) and "
                         "configured catalogs",
                         catalog_argument);
    }
    if (!firn_config_names_file(catalog_argument)) {
        return firn_config_fail_unknown(config, "catalog", catalog_argument, error);
    }
    return open_sql(catalog_argument, NULL, NULL, &request, out, error);
}
