/** The SQLite catalog's parts; for sql.c and sql_commit.c. */
#ifndef FIRN_CATALOG_SQL_H
#define FIRN_CATALOG_SQL_H

#include "catalog/catalog.h"
#include "catalog/sql_connection.h"

typedef struct firn_sql_catalog {
    firn_storage *storage; /**< borrowed */
    char *path;            /**< absolute */
    char *name;            /**< catalog_name in the file */
    char *description;
    bool read_only;
    bool create; /**< it may not be there yet */
} firn_sql_catalog;

/** A row of iceberg_tables. */
typedef struct firn_sql_row {
    bool found;
    bool is_table; /**< iceberg_type is 'TABLE' or NULL, or there is no such column */
    char *metadata_location, *previous_metadata_location; /**< owned; NULL for SQL's NULL */
} firn_sql_row;

/** Reads the row of a table over a connection of its own. Release with firn_sql_row_release. */
firn_status firn_sql_read_row(const firn_sql_catalog *catalog, firn_sql_mode mode,
                              firn_table_name name, firn_sql_row *out, firn_error *error);
void firn_sql_row_release(firn_sql_row *row);

/** Makes what of the file and its tables is not there yet. */
firn_status firn_sql_make(const firn_sql_catalog *catalog, firn_error *error);
/** INVALID unless iceberg_tables is there. */
firn_status firn_sql_check_tables(const firn_sql_connection *connection, firn_error *error);
/** UNSUPPORTED for a catalog opened for reading, IO for a file that can't be written. */
firn_status firn_sql_check_writable(void *implementation, firn_table_name name, firn_error *error);

/** NOT_FOUND that says which name may be meant, or which catalogs the file has where this one is empty. */
firn_status firn_sql_fail_absent(const firn_sql_catalog *catalog, firn_table_name name,
                                 firn_error *error);

/* The operations that list, as in firn_catalog_operations. */
firn_status firn_sql_list(void *implementation,
                          firn_status (*visit)(void *context, firn_table_name name,
                                               const char *metadata_location, firn_error *error),
                          void *context, firn_error *error);
firn_status firn_sql_names(void *implementation, char **out, firn_error *error);

/* The operations that write, as in firn_catalog_operations. */
firn_status firn_sql_commit(void *implementation, firn_table_name name,
                            const firn_table_pointer *base, const firn_table_update *update,
                            firn_table_pointer *out, firn_error *error);
firn_status firn_sql_create(void *implementation, firn_table_name name,
                            firn_table_metadata *metadata, const firn_table_update *announcer,
                            firn_table_pointer *out, firn_error *error);
firn_status firn_sql_register(void *implementation, firn_table_name name,
                              const char *metadata_location, firn_error *error);
firn_status firn_sql_repoint(void *implementation, firn_table_name name, const char *old_location,
                             const char *new_location, firn_error *error);

/** "a.b.table", or the table alone, into `text`. */
#define FIRN_SQL_NAME_SIZE 512
const char *firn_sql_name(firn_table_name name, char text[FIRN_SQL_NAME_SIZE]);

#endif
