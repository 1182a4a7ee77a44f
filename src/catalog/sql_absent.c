/* What is said where a catalog has no table of a name. */
#include "base/alloc.h"
#include "catalog/near_names.h"
#include "catalog/sql.h"

firn_status firn_sql_fail_absent(const firn_sql_catalog *catalog, firn_table_name name,
                                 firn_error *error) {
    char text[FIRN_SQL_NAME_SIZE];
    char note[FIRN_NEAREST_NOTE_SIZE];
    firn_near_names names = {0};
    char *catalogs = NULL;
    void *implementation = (void *)catalog;
    firn_sql_name(name, text);
    firn_status status = firn_sql_list(implementation, firn_near_names_add, &names, error);
    if (status == FIRN_OK && names.items.count == 0) {
        status = firn_sql_names(implementation, &catalogs, error);
    }
    if (status == FIRN_OK) {
        bool others = catalogs != NULL && catalogs[0] != '\0';
        status = firn_fail(error, FIRN_NOT_FOUND, "%s: there is no table %s%s",
                           catalog->description, text, firn_near_names_note(&names, text, note));
        status = others ? firn_error_hint(error, status,
                                          "no table at all, but the file holds the catalogs: %s "
                                          "(option catalog-name)",
                                          catalogs)
                        : firn_error_hint(error, status,
                                          "'firn tables --catalog %s --catalog-name %s' lists what "
                                          "there is",
                                          catalog->path, catalog->name);
    }
    firn_near_names_release(&names);
    firn_free(catalogs);
    return status;
}
