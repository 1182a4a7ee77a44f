/* What is said where a catalog has no table of a name. */
#include "catalog/sql.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/vector.h"

typedef FIRN_VECTOR(char *) name_vector;

static firn_status add_name(void *context, firn_table_name name, const char *metadata_location,
                            firn_error *error) {
    (void)metadata_location;
    char text[FIRN_SQL_NAME_SIZE];
    char *copy = firn_strdup(firn_sql_name(name, text));
    if (copy == NULL) return firn_fail_memory(error);
    firn_status status = firn_vector_push((name_vector *)context, error, copy);
    if (status != FIRN_OK) firn_free(copy);
    return status;
}

firn_status firn_sql_fail_absent(const firn_sql_catalog *catalog, firn_table_name name,
                                 firn_error *error) {
    char text[FIRN_SQL_NAME_SIZE];
    char note[FIRN_NEAREST_NOTE_SIZE] = "";
    name_vector names = {0};
    char *catalogs = NULL;
    void *implementation = (void *)catalog;
    firn_sql_name(name, text);
    firn_status status = firn_sql_list(implementation, add_name, &names, error);
    if (status == FIRN_OK && names.count == 0) {
        status = firn_sql_names(implementation, &catalogs, error);
    }
    if (status == FIRN_OK) {
        firn_nearest_note(note, text, (const char *const *)names.items, names.count, "", "");
        bool others = catalogs != NULL && catalogs[0] != '\0';
        status = firn_fail(error, FIRN_NOT_FOUND,
                           "%s: there is no table %s%s%s%s; 'firn tables --catalog %s "
                           "--catalog-name %s' lists what there is",
                           catalog->description, text, note,
                           others ? "; the file holds the catalogs: " : "", others ? catalogs : "",
                           catalog->path, catalog->name);
    }
    for (size_t i = 0; i < names.count; i++) firn_free(names.items[i]);
    firn_vector_release(&names);
    firn_free(catalogs);
    return status;
}
