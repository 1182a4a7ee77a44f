#include <string.h>

#include "lake/schema_union_internal.h"

/*
 * Full names, of all columns at any depth: two that are equal make a schema that Iceberg's own libraries refuse to load, as "a.b" beside a struct
 * "a" with a member "b" does, or "l.element" beside a list "l".
 */

typedef struct name_index {
    firn_map *names;      /* full names in small letters, to columns */
    const char *location; /* the file that is taken in; NULL: paths */
    firn_arena *arena;
    firn_error *error;
} name_index;

static const char *small_letters(const char *text, firn_arena *arena) {
    char *copy = firn_arena_strdup(arena, text);
    for (char *c = copy; c != NULL && *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    }
    return copy;
}

static firn_status refuse(const name_index *index, const char *name, const firn_union_column *a,
                          const firn_union_column *b) {
    const char *separator = index->location == NULL ? "" : ": ";
    return firn_fail(index->error, FIRN_INVALID,
                     "%s%scolumn \"%s\": two columns would have this full name, the one of %s and "
                     "the other of %s; no two may in a table's schema, where \"a.b\" is the name "
                     "of the member b of a, too: give one of them another name",
                     index->location == NULL ? "" : index->location, separator, name,
                     firn_union_origin(a), firn_union_origin(b));
}

/* What a table has already is left to those who made it. */
static firn_status add(const name_index *index, const char *prefix,
                       const firn_union_column *parent) {
    for (size_t i = 0; i < parent->child_count; i++) {
        const firn_union_column *column = parent->children[i];
        const char *name = prefix == NULL
                               ? column->name
                               : firn_arena_format(index->arena, "%s.%s", prefix, column->name);
        const char *key = name == NULL ? NULL : small_letters(name, index->arena);
        if (key == NULL) return firn_fail_memory(index->error);
        const firn_union_column *other = firn_map_get_text(index->names, key);
        if (other != NULL && (column->base == NULL || other->base == NULL)) {
            return refuse(index, name, other, column);
        }
        FIRN_TRY(firn_map_set_text(index->names, key, (void *)column, index->error));
        FIRN_TRY(add(index, name, column));
    }
    return FIRN_OK;
}

firn_status firn_union_check_names(const firn_schema_union *schemas, const firn_union_column *root,
                                   const char *location, firn_error *error) {
    name_index index = {
        .names = firn_map_new(), .location = location, .arena = schemas->scratch, .error = error};
    if (index.names == NULL) return firn_fail_memory(error);
    firn_status status = add(&index, NULL, root);
    firn_map_free(index.names);
    return status;
}
