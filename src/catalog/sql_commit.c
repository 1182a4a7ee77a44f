#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "catalog/metadata_file.h"
#include "catalog/sql.h"
#include "storage/fault.h"

/* One change of the pointer. `old_location` NULL: a new row. */
typedef struct pointer_swap {
    const firn_sql_catalog *catalog;
    firn_table_name name;
    const char *old_location, *new_location;
} pointer_swap;

static firn_status update_row(const pointer_swap *swap, const firn_sql_connection *connection,
                              firn_error *error) {
#define UPDATE_ROW                                                                                 \
    "UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ? "             \
    "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?"
    static const char with_type[] =
        UPDATE_ROW " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)";
    static const char without_type[] = UPDATE_ROW;
#undef UPDATE_ROW
    const char *const parameters[] = {swap->new_location,  swap->old_location,
                                      swap->catalog->name, swap->name.namespace_name,
                                      swap->name.name,     swap->old_location};
    FIRN_TRY(firn_sql_execute(connection, connection->has_type ? with_type : without_type,
                              parameters, 6, error));
    int changed = sqlite3_changes(connection->handle);
    if (changed == 1) return FIRN_OK;
    char text[FIRN_SQL_NAME_SIZE];
    return firn_fail(error, FIRN_CONFLICT,
                     "%s: table %s no longer is at %s: another writer committed first (%d rows "
                     "matched)",
                     swap->catalog->description, firn_sql_name(swap->name, text),
                     swap->old_location, changed);
}

static firn_status insert_row(const pointer_swap *swap, const firn_sql_connection *connection,
                              firn_error *error) {
#define INSERT_ROW                                                                                 \
    "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, "   \
    "previous_metadata_location"
    static const char with_type[] = INSERT_ROW ", iceberg_type) VALUES (?, ?, ?, ?, NULL, 'TABLE')";
    static const char without_type[] = INSERT_ROW ") VALUES (?, ?, ?, ?, NULL)";
#undef INSERT_ROW
    const char *const parameters[] = {swap->catalog->name, swap->name.namespace_name,
                                      swap->name.name, swap->new_location};
    firn_status status = firn_sql_execute(
        connection, connection->has_type ? with_type : without_type, parameters, 4, error);
    if (status != FIRN_EXISTS) return status;
    char text[FIRN_SQL_NAME_SIZE];
    return firn_fail(error, FIRN_EXISTS, "%s: there is a table or view %s already",
                     swap->catalog->description, firn_sql_name(swap->name, text));
}

/* The transaction. *uncertain is set once COMMIT was asked for: a failure then proves nothing. */
static firn_status run_transaction(const pointer_swap *swap, firn_sql_connection *connection,
                                   bool *uncertain, firn_error *error) {
    const char *what = swap->new_location;
    /*
     * Also the folder's entry of the journal: a commit that was reported must outlive a power cut.
     */
    FIRN_TRY(firn_sql_execute(connection, "PRAGMA synchronous=EXTRA", NULL, 0, error));
    (void)firn_sql_let_cancel(connection, true);
    FIRN_TRY(firn_sql_execute(connection, "BEGIN IMMEDIATE", NULL, 0, error));
    FIRN_TRY(firn_fault_point("catalog", what, false, error));
    FIRN_TRY(swap->old_location == NULL ? insert_row(swap, connection, error)
                                        : update_row(swap, connection, error));
    FIRN_TRY(firn_fault_point("catalog", what, true, error));
    /* A commit that was asked for is not given up for a signal. */
    (void)firn_sql_let_cancel(connection, false);
    *uncertain = true;
    FIRN_TRY(firn_fault_point("catalog", what, false, error));
    FIRN_TRY(firn_sql_execute(connection, "COMMIT", NULL, 0, error));
    return firn_fault_point("catalog", what, true, error);
}

static bool log_has(const firn_table_metadata *metadata, const char *location) {
    for (size_t i = 0; i < metadata->metadata_log_count; i++) {
        if (strcmp(metadata->metadata_log[i].metadata_file, location) == 0) return true;
    }
    return false;
}

typedef enum outcome { OUTCOME_DONE, OUTCOME_NOT_DONE, OUTCOME_UNKNOWN } outcome;

/*
 * The row names neither our file nor the old one. Ours was current if it is in the metadata log. It
 * never was if the log reaches back to the old one without it. A log that was trimmed further
 * proves nothing.
 */
static outcome settle_by_log(const pointer_swap *swap, const char *current) {
    firn_table_metadata *metadata = NULL;
    if (firn_metadata_file_read(swap->catalog->storage, current, &metadata, NULL) != FIRN_OK) {
        return OUTCOME_UNKNOWN;
    }
    outcome result = OUTCOME_UNKNOWN;
    if (log_has(metadata, swap->new_location)) {
        result = OUTCOME_DONE;
    } else if (swap->old_location != NULL && log_has(metadata, swap->old_location)) {
        result = OUTCOME_NOT_DONE;
    }
    firn_table_metadata_free(metadata);
    return result;
}

/*
 * Reads the row again over a fresh connection; it may write, so that a half-done commit is undone.
 */
static outcome settle(const pointer_swap *swap) {
    firn_sql_row row = {0};
    if (firn_sql_read_row(swap->catalog, FIRN_SQL_WRITE, swap->name, &row, NULL) != FIRN_OK) {
        return OUTCOME_UNKNOWN;
    }
    outcome result = OUTCOME_UNKNOWN;
    const char *current = row.metadata_location;
    const char *previous = row.previous_metadata_location;
    if (current == NULL) {
        /* A missing row: never made, or removed since; only the former is sure. */
        if (!row.found && swap->old_location == NULL) result = OUTCOME_NOT_DONE;
    } else if (strcmp(current, swap->new_location) == 0 ||
               (previous != NULL && strcmp(previous, swap->new_location) == 0)) {
        result = OUTCOME_DONE;
    } else if (swap->old_location != NULL && strcmp(current, swap->old_location) == 0) {
        result = OUTCOME_NOT_DONE;
    } else {
        result = settle_by_log(swap, current);
    }
    firn_sql_row_release(&row);
    return result;
}

/*
 * OK, or COMMIT_UNKNOWN, or any other failure: then the pointer surely is not at the new location.
 */
static firn_status run_swap(const pointer_swap *swap, firn_error *error) {
    firn_sql_connection connection;
    firn_error cause;
    firn_error_clear(&cause);
    bool uncertain = false;
    firn_status status = FIRN_OK;
    if (swap->old_location == NULL) status = firn_sql_make(swap->catalog, &cause);
    if (status == FIRN_OK) {
        status = firn_sql_connect(swap->catalog->path, FIRN_SQL_WRITE, &connection, &cause);
    }
    if (status == FIRN_OK) {
        status = firn_sql_check_tables(&connection, &cause);
        if (status == FIRN_OK) status = run_transaction(swap, &connection, &uncertain, &cause);
        firn_sql_disconnect(&connection);
    }
    if (status == FIRN_OK) return FIRN_OK;
    outcome result = uncertain ? settle(swap) : OUTCOME_NOT_DONE;
    if (result == OUTCOME_DONE) {
        firn_log_warning("%s: the commit is there although it was reported as failed: %s",
                         swap->catalog->description, cause.message);
        return FIRN_OK;
    }
    if (result == OUTCOME_UNKNOWN) {
        return firn_fail(error, FIRN_COMMIT_UNKNOWN,
                         "%s: whether %s became the table's metadata can't be told; every file is "
                         "kept: %s",
                         swap->catalog->description, swap->new_location, cause.message);
    }
    if (error != NULL) *error = cause;
    return status;
}

/* Writes `next` and swaps the pointer to it. Takes `next` over, also on failure. */
static firn_status write_and_swap(pointer_swap *swap, int64_t version,
                                  const firn_table_update *update, firn_table_metadata *next,
                                  firn_table_pointer *out, firn_error *error) {
    firn_storage *storage = swap->catalog->storage;
    char *location = NULL;
    firn_status status = firn_metadata_file_write(storage, next, version, update, &location, error);
    if (status == FIRN_OK) {
        swap->new_location = location;
        status = run_swap(swap, error);
        if (status != FIRN_OK && status != FIRN_COMMIT_UNKNOWN &&
            firn_storage_delete(storage, location, NULL) != FIRN_OK) {
            firn_log_warning("%s, which was not committed, can't be deleted", location);
        }
    }
    if (status != FIRN_OK) {
        firn_free(location);
        firn_table_metadata_free(next);
        return status;
    }
    *out = (firn_table_pointer){.metadata_location = location, .metadata = next};
    return FIRN_OK;
}

static firn_status check_read_only(const firn_sql_catalog *catalog, firn_error *error) {
    if (!catalog->read_only) return FIRN_OK;
    return firn_sql_check_writable((void *)(uintptr_t)catalog, (firn_table_name){"", ""}, error);
}

firn_status firn_sql_commit(void *implementation, firn_table_name name,
                            const firn_table_pointer *base, const firn_table_update *update,
                            firn_table_pointer *out, firn_error *error) {
    const firn_sql_catalog *catalog = implementation;
    FIRN_TRY(check_read_only(catalog, error));
    FIRN_TRY(firn_table_update_check(update, base->metadata, error));
    firn_table_metadata *next = NULL;
    FIRN_TRY(firn_table_update_apply(update, base->metadata, base->metadata_location,
                                     firn_clock_now_ms(), &next, error));
    pointer_swap swap = {.catalog = catalog, .name = name, .old_location = base->metadata_location};
    int64_t version = firn_metadata_location_version(base->metadata_location);
    return write_and_swap(&swap, version, update, next, out, error);
}

firn_status firn_sql_create(void *implementation, firn_table_name name,
                            firn_table_metadata *metadata, const firn_table_update *announcer,
                            firn_table_pointer *out, firn_error *error) {
    const firn_sql_catalog *catalog = implementation;
    firn_status status = check_read_only(catalog, error);
    if (status != FIRN_OK) {
        firn_table_metadata_free(metadata);
        return status;
    }
    pointer_swap swap = {.catalog = catalog, .name = name};
    return write_and_swap(&swap, 0, announcer, metadata, out, error);
}

/* `old_location` NULL: a new name. */
static firn_status point_at(const firn_sql_catalog *catalog, firn_table_name name,
                            const char *old_location, const char *metadata_location,
                            firn_error *error) {
    FIRN_TRY(check_read_only(catalog, error));
    firn_table_metadata *metadata = NULL;
    FIRN_TRY(firn_metadata_file_read(catalog->storage, metadata_location, &metadata, error));
    firn_table_metadata_free(metadata);
    char *location = firn_location_absolute(metadata_location);
    if (location == NULL) return firn_fail_memory(error);
    pointer_swap swap = {
        .catalog = catalog, .name = name, .old_location = old_location, .new_location = location};
    firn_status status = run_swap(&swap, error);
    firn_free(location);
    return status;
}

firn_status firn_sql_register(void *implementation, firn_table_name name,
                              const char *metadata_location, firn_error *error) {
    return point_at(implementation, name, NULL, metadata_location, error);
}

firn_status firn_sql_repoint(void *implementation, firn_table_name name, const char *old_location,
                             const char *new_location, firn_error *error) {
    return point_at(implementation, name, old_location, new_location, error);
}
