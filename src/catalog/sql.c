#include "catalog/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "catalog/metadata_file.h"

const char *firn_sql_name(firn_table_name name, char text[FIRN_SQL_NAME_SIZE]) {
    bool dot = name.namespace_name[0] != '\0';
    snprintf(text, FIRN_SQL_NAME_SIZE, "%s%s%s", name.namespace_name, dot ? "." : "", name.name);
    return text;
}

firn_status firn_sql_check_tables(const firn_sql_connection *connection, firn_error *error) {
    if (connection->has_tables) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s is no Iceberg catalog: it has no table named iceberg_tables",
                     connection->path);
}

void firn_sql_row_release(firn_sql_row *row) {
    firn_free(row->metadata_location);
    firn_free(row->previous_metadata_location);
    *row = (firn_sql_row){0};
}

static firn_status take_row(const firn_sql_connection *connection, sqlite3_stmt *statement,
                            firn_sql_row *row, firn_error *error) {
    char *type = NULL;
    row->found = true;
    FIRN_TRY(firn_sql_text(connection, statement, 0, &row->metadata_location, error));
    FIRN_TRY(firn_sql_text(connection, statement, 1, &row->previous_metadata_location, error));
    FIRN_TRY(firn_sql_text(connection, statement, 2, &type, error));
    row->is_table = type == NULL || strcmp(type, "TABLE") == 0;
    firn_free(type);
    return FIRN_OK;
}

/* Names of catalogs that a message shows. */
#define MOST_NAMES_BYTES 600

/* *absent: the catalog is still to be made, and has no tables; nothing is open then. */
static firn_status connect_to_tables(const firn_sql_catalog *catalog, firn_sql_mode mode,
                                     firn_sql_connection *out, bool *absent, firn_error *error) {
    firn_status status = firn_sql_connect(catalog->path, mode, out, error);
    *absent = catalog->create && status == FIRN_NOT_FOUND;
    if (*absent) {
        if (error != NULL) firn_error_clear(error);
        return FIRN_OK;
    }
    FIRN_TRY(status);
    *absent = catalog->create && !out->has_tables;
    if (!*absent) status = firn_sql_check_tables(out, error);
    if (*absent || status != FIRN_OK) firn_sql_disconnect(out);
    return status;
}

firn_status firn_sql_read_row(const firn_sql_catalog *catalog, firn_sql_mode mode,
                              firn_table_name name, firn_sql_row *out, firn_error *error) {
    static const char with_type[] =
        "SELECT metadata_location, previous_metadata_location, iceberg_type FROM iceberg_tables "
        "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";
    static const char without_type[] =
        "SELECT metadata_location, previous_metadata_location, NULL FROM iceberg_tables "
        "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?";
    firn_sql_connection connection;
    bool absent = false;
    *out = (firn_sql_row){0};
    FIRN_TRY(connect_to_tables(catalog, mode, &connection, &absent, error));
    if (absent) return FIRN_OK;
    firn_sql_row row = {0};
    sqlite3_stmt *statement = NULL;
    const char *const parameters[] = {catalog->name, name.namespace_name, name.name};
    bool there = false;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_sql_prepare(&connection, connection.has_type ? with_type : without_type,
                                parameters, 3, &statement, error));
    FIRN_CHECK(firn_sql_step(&connection, statement, &there, error));
    if (there) FIRN_CHECK(take_row(&connection, statement, &row, error));
    *out = row;
out:
    sqlite3_finalize(statement);
    firn_sql_disconnect(&connection);
    if (status != FIRN_OK) firn_sql_row_release(&row);
    return status;
}

/* The table's row, or NOT_FOUND saying what is there instead. */
static firn_status find_table(const firn_sql_catalog *catalog, firn_table_name name,
                              firn_sql_row *row, firn_error *error) {
    char text[FIRN_SQL_NAME_SIZE];
    FIRN_TRY(firn_sql_read_row(catalog, FIRN_SQL_READ, name, row, error));
    if (row->found && row->is_table && row->metadata_location != NULL) return FIRN_OK;
    firn_status status =
        firn_fail(error, FIRN_NOT_FOUND, "%s: %s %s", catalog->description,
                  row->found && !row->is_table ? "a view, not a table, is named"
                                               : "no metadata file is recorded for",
                  firn_sql_name(name, text));
    if (!row->found) status = firn_sql_fail_absent(catalog, name, error);
    firn_sql_row_release(row);
    return status;
}

static firn_status sql_load(void *implementation, firn_table_name name, firn_table_pointer *out,
                            firn_error *error) {
    const firn_sql_catalog *catalog = implementation;
    firn_sql_row row = {0};
    FIRN_TRY(find_table(catalog, name, &row, error));
    firn_table_metadata *metadata = NULL;
    firn_status status =
        firn_metadata_file_read(catalog->storage, row.metadata_location, &metadata, error);
    if (status == FIRN_OK) {
        out->metadata = metadata;
        out->metadata_location = row.metadata_location;
        row.metadata_location = NULL;
    }
    firn_sql_row_release(&row);
    return status;
}

static firn_status visit_row(const firn_sql_connection *connection, sqlite3_stmt *statement,
                             firn_status (*visit)(void *context, firn_table_name name,
                                                  const char *metadata_location, firn_error *error),
                             void *context, firn_error *error) {
    char *texts[3] = {NULL, NULL, NULL};
    firn_status status = FIRN_OK;
    for (int i = 0; i < 3 && status == FIRN_OK; i++) {
        status = firn_sql_text(connection, statement, i, &texts[i], error);
    }
    if (status == FIRN_OK) {
        firn_table_name name = {texts[0] == NULL ? "" : texts[0], texts[1] == NULL ? "" : texts[1]};
        status = visit(context, name, texts[2], error);
    }
    for (int i = 0; i < 3; i++) firn_free(texts[i]);
    return status;
}

firn_status firn_sql_list(void *implementation,
                          firn_status (*visit)(void *context, firn_table_name name,
                                               const char *metadata_location, firn_error *error),
                          void *context, firn_error *error) {
    static const char with_type[] =
        "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables WHERE "
        "catalog_name = ? AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
    static const char without_type[] = "SELECT table_namespace, table_name, metadata_location FROM "
                                       "iceberg_tables WHERE catalog_name = ?";
    const firn_sql_catalog *catalog = implementation;
    firn_sql_connection connection;
    bool absent = false;
    FIRN_TRY(connect_to_tables(catalog, FIRN_SQL_READ, &connection, &absent, error));
    if (absent) return FIRN_OK;
    sqlite3_stmt *statement = NULL;
    const char *const parameters[] = {catalog->name};
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_sql_prepare(&connection, connection.has_type ? with_type : without_type,
                                parameters, 1, &statement, error));
    for (bool row = false;;) {
        FIRN_CHECK(firn_sql_step(&connection, statement, &row, error));
        if (!row) break;
        FIRN_CHECK(visit_row(&connection, statement, visit, context, error));
    }
out:
    sqlite3_finalize(statement);
    firn_sql_disconnect(&connection);
    return status;
}

firn_status firn_sql_check_writable(void *implementation, firn_table_name name, firn_error *error) {
    (void)name;
    const firn_sql_catalog *catalog = implementation;
    if (catalog->read_only) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s is opened for reading only",
                         catalog->description);
    }
    char *folder = firn_strndup(catalog->path, firn_location_folder_length(catalog->path) + 1);
    if (folder == NULL) return firn_fail_memory(error);
    bool absent = catalog->create && access(catalog->path, F_OK) != 0;
    /* SQLite writes its journal beside the file. */
    bool writable = (absent || faccessat(AT_FDCWD, catalog->path, W_OK, AT_EACCESS) == 0) &&
                    faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) == 0;
    firn_free(folder);
    if (writable) return FIRN_OK;
    return firn_fail(error, FIRN_IO,
                     "%s can't be written: the file and its folder must be writable by this user",
                     catalog->description);
}

static const char *sql_describe(void *implementation) {
    const firn_sql_catalog *catalog = implementation;
    return catalog->description;
}

/* The path without symbolic links; that of a file which is still to be made as it will be. Owned. */
static char *real_path(const char *path) {
    char real[PATH_MAX];
    if (realpath(path, real) != NULL) return firn_strdup(real);
    size_t length = firn_location_folder_length(path);
    char *folder = firn_strndup(path, length + 1);
    if (folder == NULL) return NULL;
    bool there = realpath(folder, real) != NULL;
    firn_free(folder);
    if (!there) return firn_strdup(path);
    return firn_format("%s%s", strcmp(real, "/") == 0 ? "" : real, path + length);
}

/* Parts are told apart by their lengths: names may hold any character. */
static firn_status sql_identity(void *implementation, firn_table_name name, char **out,
                                firn_error *error) {
    const firn_sql_catalog *catalog = implementation;
    char *path = real_path(catalog->path);
    if (path == NULL) return firn_fail_memory(error);
    *out = firn_format("sqlite %zu %zu %zu %zu\n%s\n%s\n%s\n%s", strlen(path),
                       strlen(catalog->name), strlen(name.namespace_name), strlen(name.name), path,
                       catalog->name, name.namespace_name, name.name);
    firn_free(path);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static void sql_free(void *implementation) {
    firn_sql_catalog *catalog = implementation;
    firn_free(catalog->path);
    firn_free(catalog->name);
    firn_free(catalog->description);
    firn_free(catalog);
}

/* Layout V1. A catalog that is there already is not altered. */
static firn_status make_tables(const firn_sql_connection *connection, firn_error *error) {
    static const char tables[] =
        "CREATE TABLE IF NOT EXISTS iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
        "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
        "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
        "iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))";
    static const char properties[] =
        "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (catalog_name VARCHAR(255) NOT "
        "NULL, namespace VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, "
        "property_value VARCHAR(1000) NOT NULL, PRIMARY KEY (catalog_name, namespace, "
        "property_key))";
    FIRN_TRY(firn_sql_execute(connection, "BEGIN IMMEDIATE", NULL, 0, error));
    FIRN_TRY(firn_sql_execute(connection, tables, NULL, 0, error));
    FIRN_TRY(firn_sql_execute(connection, properties, NULL, 0, error));
    return firn_sql_execute(connection, "COMMIT", NULL, 0, error);
}

firn_status firn_sql_make(const firn_sql_catalog *catalog, firn_error *error) {
    firn_sql_connection connection;
    if (!catalog->create) return FIRN_OK;
    FIRN_TRY(firn_sql_connect(catalog->path, FIRN_SQL_CREATE, &connection, error));
    firn_status status = connection.has_tables ? FIRN_OK : make_tables(&connection, error);
    firn_sql_disconnect(&connection);
    return status;
}

/* The catalogs in the file, from tables and namespaces; `names` cuts off what is too long. `first` gets the first one, owned. */
static firn_status list_names(const firn_sql_connection *connection, firn_buffer *names,
                              size_t *count, char **first, firn_error *error) {
    static const char tables[] = "SELECT DISTINCT catalog_name FROM iceberg_tables ORDER BY 1";
    static const char both[] = "SELECT catalog_name FROM iceberg_tables UNION "
                               "SELECT catalog_name FROM iceberg_namespace_properties ORDER BY 1";
    sqlite3_stmt *statement = NULL;
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_sql_prepare(connection, connection->has_namespaces ? both : tables, NULL, 0,
                                &statement, error));
    for (bool row = false;;) {
        FIRN_CHECK(firn_sql_step(connection, statement, &row, error));
        if (!row) break;
        char *text = NULL;
        FIRN_CHECK(firn_sql_text(connection, statement, 0, &text, error));
        if (text == NULL) continue;
        status = firn_buffer_printf(names, NULL, "%s%s", *count == 0 ? "" : ", ", text);
        if ((*count)++ == 0) {
            *first = text;
        } else {
            firn_free(text);
        }
        if (status == FIRN_NO_MEMORY) {
            status = firn_fail_memory(error);
            goto out;
        }
        status = FIRN_OK;
    }
out:
    sqlite3_finalize(statement);
    return status;
}

/* `name` gets the only catalog in the file, or is NULL. */
static firn_status find_name(const firn_sql_connection *connection, char **name,
                             firn_error *error) {
    firn_buffer names = firn_buffer_with_maximum(MOST_NAMES_BYTES);
    size_t count = 0;
    firn_status status = list_names(connection, &names, &count, name, error);
    if (status == FIRN_OK && count > 1) {
        status = firn_fail(
            error, FIRN_INVALID,
            "%s holds %zu catalogs (%.*s): name the one that is meant (option catalog-name)",
            connection->path, count, (int)names.size, (const char *)names.data);
    }
    firn_buffer_release(&names);
    return status;
}

firn_status firn_sql_names(void *implementation, char **out, firn_error *error) {
    const firn_sql_catalog *catalog = implementation;
    firn_sql_connection connection;
    bool absent = false;
    *out = NULL;
    FIRN_TRY(connect_to_tables(catalog, FIRN_SQL_READ, &connection, &absent, error));
    firn_buffer names = firn_buffer_with_maximum(MOST_NAMES_BYTES);
    size_t count = 0;
    char *first = NULL;
    firn_status status = absent ? FIRN_OK : list_names(&connection, &names, &count, &first, error);
    if (status == FIRN_OK) {
        *out = firn_strndup(names.size == 0 ? "" : (const char *)names.data, names.size);
        if (*out == NULL) status = firn_fail_memory(error);
    }
    firn_free(first);
    firn_buffer_release(&names);
    if (!absent) firn_sql_disconnect(&connection);
    return status;
}

static const char *sql_absent_file(void *implementation) {
    const firn_sql_catalog *catalog = implementation;
    return faccessat(AT_FDCWD, catalog->path, F_OK, 0) != 0 && errno == ENOENT ? catalog->path
                                                                               : NULL;
}

/* Said before anything is done, as far as it can be told. */
static firn_status check_makeable(const char *path, firn_error *error) {
    char *folder = firn_strndup(path, firn_location_folder_length(path) + 1);
    if (folder == NULL) return firn_fail_memory(error);
    int code = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    firn_status status = FIRN_OK;
    if (code == ENOENT) {
        status =
            firn_fail(error, FIRN_IO,
                      "%s can't be created: the folder %s is missing; make it first", path, folder);
    }
    firn_free(folder);
    if (code == 0 || status != FIRN_OK) return status;
    return firn_fail_errno(error, FIRN_IO, code, "%s can't be created", path);
}

static firn_status find_present_name(const firn_sql_options *options, const char *path, char **name,
                                     firn_error *error) {
    firn_sql_connection connection;
    firn_status status = firn_sql_connect(path, FIRN_SQL_READ, &connection, error);
    if (options->create && status == FIRN_NOT_FOUND) {
        if (error != NULL) firn_error_clear(error);
        return check_makeable(path, error);
    }
    FIRN_TRY(status);
    if (!connection.has_tables && options->create) goto out;
    FIRN_CHECK(firn_sql_check_tables(&connection, error));
    if (options->catalog_name == NULL) FIRN_CHECK(find_name(&connection, name, error));
out:
    firn_sql_disconnect(&connection);
    return status;
}

static firn_status choose_name(const firn_sql_options *options, const char *path, char **name,
                               firn_error *error) {
    const char *chosen = options->catalog_name;
    FIRN_TRY(find_present_name(options, path, name, error));
    if (*name != NULL) return FIRN_OK;
    if (chosen == NULL) chosen = options->new_name;
    *name = firn_strdup(chosen == NULL ? "default" : chosen);
    return *name == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status absolute_path(const char *path, char **out, firn_error *error) {
    char folder[PATH_MAX];
    if (path[0] == '\0') return firn_fail(error, FIRN_INVALID, "the SQLite file has no name");
    if (path[0] == '/') {
        *out = firn_strdup(path);
    } else {
        if (getcwd(folder, sizeof folder) == NULL) folder[0] = '\0';
        *out = firn_format("%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", path);
    }
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_catalog_sql_open(const firn_sql_options *options, firn_storage *storage,
                                  firn_catalog **out, firn_error *error) {
    static const firn_catalog_operations operations = {
        .list = firn_sql_list,
        .load = sql_load,
        .commit = firn_sql_commit,
        .create = firn_sql_create,
        .register_table = firn_sql_register,
        .repoint = firn_sql_repoint,
        .check_writable = firn_sql_check_writable,
        .describe = sql_describe,
        .absent_file = sql_absent_file,
        .identity = sql_identity,
        .names = firn_sql_names,
        .free = sql_free,
    };
    firn_catalog *catalog = firn_alloc_zeroed(1, sizeof *catalog);
    firn_sql_catalog *sql = firn_alloc_zeroed(1, sizeof *sql);
    firn_status status = FIRN_OK;
    if (catalog == NULL || sql == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    sql->storage = storage;
    sql->read_only = options->read_only;
    sql->create = options->create;
    FIRN_CHECK(absolute_path(options->path, &sql->path, error));
    FIRN_CHECK(choose_name(options, sql->path, &sql->name, error));
    sql->description = firn_format("SQLite catalog '%s' in %s", sql->name, sql->path);
    if (sql->description == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    *catalog = (firn_catalog){&operations, sql};
    *out = catalog;
    return FIRN_OK;
out:
    if (sql != NULL) sql_free(sql);
    firn_free(catalog);
    return status;
}
