/** Small tables for the tests of catalogs. */
#ifndef FIRN_TESTS_CATALOG_TABLES_H
#define FIRN_TESTS_CATALOG_TABLES_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "catalog/catalog.h"
#include "support/check.h"

/** Metadata of an empty table with one column and, unless NULL, one property. */
static inline firn_status new_table(const char *location, const char *key, const char *value,
                                    firn_table_metadata **out, firn_error *error) {
    static const char schema[] = "{\"type\":\"struct\",\"fields\":[{\"id\":1,\"name\":\"x\","
                                 "\"required\":false,\"type\":\"long\"}]}";
    firn_json_setup();
    json_t *fields = NULL;
    FIRN_TRY(firn_json_parse(firn_slice_text(schema), "schema", &fields, error));
    json_t *properties = json_object();
    firn_status status = properties == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK && key != NULL) {
        status = firn_json_set_text(properties, key, value, error);
    }
    if (status != FIRN_OK) {
        json_decref(fields);
        json_decref(properties);
        return status;
    }
    return firn_table_metadata_create(2, location, fields, NULL, properties, 1700000000000, out,
                                      error);
}

/** One attempt to set a property. */
static inline firn_status set_property(firn_catalog *catalog, firn_table_name name,
                                       const firn_table_pointer *base, const char *key,
                                       const char *value, firn_table_pointer *out,
                                       firn_error *error) {
    firn_table_update update;
    FIRN_TRY(firn_table_update_init(&update, error));
    json_t *properties = json_object();
    firn_status status = properties == NULL ? firn_fail_memory(error)
                                            : firn_json_set_text(properties, key, value, error);
    if (status == FIRN_OK) {
        status = firn_update_set_properties(&update, properties, error);
    } else {
        json_decref(properties);
    }
    if (status == FIRN_OK) status = firn_catalog_commit(catalog, name, base, &update, out, error);
    firn_table_update_release(&update);
    return status;
}

/** Without memory to read back what was committed, the outcome is unknown. */
static inline firn_status as_memory(firn_status status, firn_error *error) {
    bool unknown = status == FIRN_COMMIT_UNKNOWN && strstr(error->message, "out of memory") != NULL;
    return unknown ? firn_fail_memory(error) : status;
}

static inline void check_property(const firn_table_metadata *metadata, const char *key,
                                  const char *value) {
    const char *is = firn_table_metadata_property(metadata, key);
    if (value == NULL) {
        assert_null(is);
        return;
    }
    assert_non_null(is);
    assert_string_equal(is, value);
}

typedef struct file_count {
    const char *part;
    size_t count;
} file_count;

static inline firn_status count_file(void *context, const char *location,
                                     const firn_storage_stat *stat, firn_error *error) {
    (void)stat;
    (void)error;
    file_count *files = context;
    if (strstr(location, files->part) != NULL) files->count++;
    return FIRN_OK;
}

/** How many files below a folder have `part` in their location. */
static inline size_t count_files(firn_storage *storage, const char *folder, const char *part) {
    file_count files = {.part = part};
    firn_error error = {0};
    check_ok(firn_storage_list(storage, folder, count_file, &files, &error), &error);
    return files.count;
}

/** Runs SQL on a file; the first column of the last row, or NULL; free with firn_free. */
static inline char *run_sql(const char *path, const char *sql) {
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    char *result = NULL;
    for (const char *rest = sql; *rest != '\0';) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(handle, rest, -1, &statement, &rest) != SQLITE_OK) {
            fail_msg("%s: %s", sql, sqlite3_errmsg(handle));
        }
        while (sqlite3_step(statement) == SQLITE_ROW) {
            firn_free(result);
            const char *text = (const char *)sqlite3_column_text(statement, 0);
            result = text == NULL ? NULL : firn_strdup(text);
        }
        assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    }
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
    return result;
}

static inline void check_sql(const char *path, const char *sql, const char *expected) {
    char *result = run_sql(path, sql);
    if (expected == NULL) {
        assert_null(result);
    } else {
        assert_non_null(result);
        assert_string_equal(result, expected);
    }
    firn_free(result);
}

#endif
