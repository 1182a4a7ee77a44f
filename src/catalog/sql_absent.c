/* What is said where a catalog has no table of a name. */
#include "catalog/sql.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/vector.h"

/* Names that are compared. */
#define SHOWN_NAMES 256

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

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot == NULL ? name : dot + 1;
}

/* The nearest name of the namespace, else the table that another namespace has by this name. */
static void write_note(char note[FIRN_NEAREST_NOTE_SIZE], const char *name,
                       const name_vector *names) {
    const char *last = last_part(name);
    const char *found = NULL;
    const char *mates[SHOWN_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < names->count && count < SHOWN_NAMES; i++) {
        const char *other = names->items[i];
        const char *part = last_part(other);
        bool mate = part - other == last - name && strncmp(other, name, (size_t)(last - name)) == 0;
        if (mate) mates[count++] = part;
        if (strcmp(part, last) == 0) found = other;
    }
    const char *nearest = firn_nearest(last, mates, count);
    note[0] = '\0';
    if (nearest != NULL) {
        snprintf(note, FIRN_NEAREST_NOTE_SIZE, "; the nearest one is %.*s%.100s",
                 (int)(last - name), name, nearest);
    } else if (found != NULL) {
        snprintf(note, FIRN_NEAREST_NOTE_SIZE, "; there is %.100s", found);
    }
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
        write_note(note, text, &names);
        bool others = catalogs != NULL && catalogs[0] != '\0';
        status = firn_fail(error, FIRN_NOT_FOUND, "%s: there is no table %s%s",
                           catalog->description, text, note);
        status = others ? firn_error_hint(error, status,
                                          "no table at all, but the file holds the catalogs: %s "
                                          "(option catalog-name)",
                                          catalogs)
                        : firn_error_hint(error, status,
                                          "'firn tables --catalog %s --catalog-name %s' lists what "
                                          "there is",
                                          catalog->path, catalog->name);
    }
    for (size_t i = 0; i < names.count; i++) firn_free(names.items[i]);
    firn_vector_release(&names);
    firn_free(catalogs);
    return status;
}
