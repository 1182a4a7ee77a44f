/** One connection to an SQLite catalog: the only place that calls SQLite. */
#ifndef FIRN_CATALOG_SQL_CONNECTION_H
#define FIRN_CATALOG_SQL_CONNECTION_H

#include <sqlite3.h>

#include "base/error.h"

typedef struct firn_sql_connection {
    sqlite3 *handle;
    const char *path; /**< borrowed, absolute */
    int busy_ms;
    bool cancellable;    /**< a signal ends waiting for a lock: CANCELLED */
    bool has_tables;     /**< iceberg_tables is there */
    bool has_namespaces; /**< iceberg_namespace_properties is there */
    bool has_type;       /**< layout V1: with the column iceberg_type */
} firn_sql_connection;

typedef enum firn_sql_mode { FIRN_SQL_READ, FIRN_SQL_WRITE, FIRN_SQL_CREATE } firn_sql_mode;

/**
 * Opens and looks at the layout. READ never writes (save to undo what a crash left half done), and
 * works in a folder that can't be written. WRITE is UNSUPPORTED when the file can't be written.
 * CREATE makes the file where it is absent. NOT_FOUND; INVALID for what is no regular file; CORRUPT
 * for what is no SQLite file; CONFLICT when it stays locked.
 */
firn_status firn_sql_connect(const char *path, firn_sql_mode mode, firn_sql_connection *out,
                             firn_error *error);
/**
 * Whether a signal ends waiting for a lock from now on. At first it does, except for WRITE: what
 * settles a commit must not stop half way. An SQLite code.
 */
int firn_sql_let_cancel(firn_sql_connection *connection, bool allowed);
/** An open transaction is rolled back. */
void firn_sql_disconnect(firn_sql_connection *connection);

/** A statement with its text parameters bound, NULL for SQL's NULL; free with sqlite3_finalize. */
firn_status firn_sql_prepare(const firn_sql_connection *connection, const char *sql,
                             const char *const *parameters, int count, sqlite3_stmt **out,
                             firn_error *error);
/** *row false at the end. EXISTS where a key is taken. */
firn_status firn_sql_step(const firn_sql_connection *connection, sqlite3_stmt *statement, bool *row,
                          firn_error *error);
/** Runs a statement to its end, and finalizes it. */
firn_status firn_sql_execute(const firn_sql_connection *connection, const char *sql,
                             const char *const *parameters, int count, firn_error *error);
/** The text of a column; *out NULL for SQL's NULL, else owned (firn_free). */
firn_status firn_sql_text(const firn_sql_connection *connection, sqlite3_stmt *statement,
                          int column, char **out, firn_error *error);

#endif
