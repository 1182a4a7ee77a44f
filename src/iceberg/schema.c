#include <string.h>

#include "iceberg/primitive.h"
#include "iceberg/types.h"

/* Recursion in this file is bounded by the nesting limit of firn_type_parse. */

static const firn_field *find_in(const firn_type *type, int32_t field_id) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (field->id == field_id) return field;
        const firn_field *below = find_in(field->type, field_id);
        if (below != NULL) return below;
    }
    return NULL;
}

const firn_field *firn_schema_find(const firn_schema *schema, int32_t field_id) {
    return find_in(&schema->root, field_id);
}

/* A name may itself contain dots, so every field whose name begins the text is tried. */
static const firn_field *find_name_in(const firn_type *type, const char *dotted_name) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        size_t length = strlen(field->name);
        if (strncmp(dotted_name, field->name, length) != 0) continue;
        if (dotted_name[length] == '\0') return field;
        if (dotted_name[length] != '.') continue;
        const firn_field *below = find_name_in(field->type, dotted_name + length + 1);
        if (below != NULL) return below;
    }
    return NULL;
}

const firn_field *firn_schema_find_name(const firn_schema *schema, const char *dotted_name) {
    return find_name_in(&schema->root, dotted_name);
}

/* Sets *found where the id lies below `type`; the name is NULL when memory is out. */
static const char *full_name_in(const firn_type *type, int32_t field_id, const char *prefix,
                                firn_arena *arena, bool *found) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        bool here = field->id == field_id;
        if (!here && find_in(field->type, field_id) == NULL) continue;
        const char *name = prefix == NULL ? firn_arena_strdup(arena, field->name)
                                          : firn_arena_format(arena, "%s.%s", prefix, field->name);
        if (here || name == NULL) {
            *found = true;
            return name;
        }
        return full_name_in(field->type, field_id, name, arena, found);
    }
    return NULL;
}

const char *firn_schema_full_name(const firn_schema *schema, int32_t field_id, firn_arena *arena) {
    bool found = false;
    return full_name_in(&schema->root, field_id, NULL, arena, &found);
}

static int32_t highest_id_in(const firn_type *type) {
    int32_t highest = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (field->id > highest && field->id <= FIRN_HIGHEST_FIELD_ID) highest = field->id;
        int32_t below = highest_id_in(field->type);
        if (below > highest) highest = below;
    }
    return highest;
}

int32_t firn_schema_highest_id(const firn_schema *schema) {
    return highest_id_in(&schema->root);
}

bool firn_type_has_kind(const firn_type *type, firn_type_kind kind) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_type *inner = type->fields[i].type;
        if (inner->kind == kind || firn_type_has_kind(inner, kind)) return true;
    }
    return false;
}

static bool field_equal(const firn_field *a, const firn_field *b) {
    return a->id == b->id && a->required == b->required && strcmp(a->name, b->name) == 0 &&
           firn_type_equal(a->type, b->type);
}

bool firn_type_equal(const firn_type *a, const firn_type *b) {
    if (a == b) return true;
    if (a->kind != b->kind) return false;
    if (!firn_type_is_nested(a->kind)) return strcmp(a->text, b->text) == 0;
    if (a->field_count != b->field_count) return false;
    for (size_t i = 0; i < a->field_count; i++) {
        if (!field_equal(&a->fields[i], &b->fields[i])) return false;
    }
    return true;
}

bool firn_type_can_promote(const firn_type *from, const firn_type *to, int format_version) {
    if (firn_type_equal(from, to)) return true;
    switch (from->kind) {
    case FIRN_TYPE_INT: return to->kind == FIRN_TYPE_LONG;
    case FIRN_TYPE_FLOAT: return to->kind == FIRN_TYPE_DOUBLE;
    case FIRN_TYPE_DECIMAL:
        return to->kind == FIRN_TYPE_DECIMAL && to->scale == from->scale &&
               to->precision > from->precision;
    case FIRN_TYPE_DATE:
        return format_version >= 3 &&
               (to->kind == FIRN_TYPE_TIMESTAMP || to->kind == FIRN_TYPE_TIMESTAMP_NS);
    case FIRN_TYPE_UNKNOWN: return format_version >= 3;
    default: return false;
    }
}
