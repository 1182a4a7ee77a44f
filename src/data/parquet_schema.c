#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"
#include "data/plain_value.h"
#include "data/projection.h"

typedef FIRN_VECTOR(firn_parquet_schema_element) element_list;

typedef struct builder {
    element_list elements;
    const firn_parquet_schema *like; /* nullable: whose variants are taken as a model */
    firn_arena *arena;
} builder;

static bool is_name_start(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

const char *firn_parquet_column_name(const char *name, firn_arena *arena) {
    size_t length = strlen(name);
    char *text = firn_arena_alloc(arena, length * 4 + 1, 1);
    if (text == NULL) return NULL;
    static const char digits[] = "0123456789ABCDEF";
    char *end = text;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        if (is_name_start(c) || (i > 0 && is_digit(c))) {
            *end++ = (char)c;
            continue;
        }
        *end++ = '_';
        if (is_digit(c)) {
            *end++ = (char)c;
            continue;
        }
        *end++ = 'x';
        if (c >= 16) *end++ = digits[c >> 4];
        *end++ = digits[c & 15];
    }
    *end = '\0';
    return text;
}

static bool is_taken(const char *const *names, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}

/* Names of a struct's columns, one per field; a name that would then stand there twice stays as it is. */
static firn_status file_names(const firn_type *type, firn_arena *arena, const char ***out,
                              firn_error *error) {
    const char **names = firn_arena_alloc(arena, type->field_count + 1, sizeof *names);
    if (names == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < type->field_count; i++) {
        const char *own = type->fields[i].name;
        names[i] = firn_parquet_column_name(own, arena);
        if (names[i] == NULL) return firn_fail_memory(error);
        if (strcmp(names[i], own) == 0) continue;
        bool clashes = is_taken(names, i, names[i]);
        for (size_t j = 0; j < type->field_count && !clashes; j++) {
            clashes = j != i && strcmp(type->fields[j].name, names[i]) == 0;
        }
        if (clashes) names[i] = own;
    }
    *out = names;
    return FIRN_OK;
}

static firn_status add_group(builder *build, const char *name, bool has_id, int32_t id,
                             firn_parquet_repetition repetition, size_t children,
                             firn_parquet_logical_kind kind, firn_error *error) {
    firn_parquet_schema_element element = {.name = name,
                                           .has_repetition = true,
                                           .repetition = repetition,
                                           .num_children = (int32_t)children,
                                           .has_field_id = has_id,
                                           .field_id = id,
                                           .logical = {.kind = kind}};
    return firn_vector_push(&build->elements, error, element);
}

static firn_status add_field(builder *build, const firn_field *field, const char *name,
                             firn_error *error);

static size_t stored_fields(const firn_type *type) {
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].type->kind != FIRN_TYPE_UNKNOWN) count++;
    }
    return count;
}

static firn_status add_fields(builder *build, const firn_type *type, const char *of,
                              firn_error *error) {
    if (stored_fields(type) == 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s has no field that a Parquet file could store; add a column of a known "
                         "type first",
                         of);
    }
    const char **names = NULL;
    FIRN_TRY(file_names(type, build->arena, &names, error));
    for (size_t i = 0; i < type->field_count; i++) {
        if (type->fields[i].type->kind == FIRN_TYPE_UNKNOWN) continue;
        FIRN_TRY(add_field(build, &type->fields[i], names[i], error));
    }
    return FIRN_OK;
}

static firn_status add_copy(builder *build, const firn_parquet_node *node, firn_error *error) {
    firn_parquet_schema_element element = *node->element;
    element.name = firn_arena_strdup(build->arena, element.name);
    if (element.name == NULL) return firn_fail_memory(error);
    element.has_field_id = false;
    element.field_id = 0;
    element.logical.crs = NULL;
    FIRN_TRY(firn_vector_push(&build->elements, error, element));
    for (size_t i = 0; i < node->child_count; i++) {
        FIRN_TRY(add_copy(build, node->children[i], error));
    }
    return FIRN_OK;
}

static firn_status add_variant(builder *build, const firn_field *field, const char *name,
                               firn_parquet_repetition repetition, firn_error *error) {
    const firn_parquet_node *model =
        build->like == NULL ? NULL : firn_variant_node(build->like, field->id);
    size_t children = model == NULL ? 2 : model->child_count;
    FIRN_TRY(add_group(build, name, true, field->id, repetition, children,
                       FIRN_PARQUET_LOGICAL_VARIANT, error));
    build->elements.items[build->elements.count - 1].logical.specification_version = 1;
    for (size_t i = 0; model != NULL && i < children; i++) {
        FIRN_TRY(add_copy(build, model->children[i], error));
    }
    if (model != NULL) return FIRN_OK;
    firn_parquet_schema_element element = {.name = "metadata",
                                           .has_repetition = true,
                                           .repetition = FIRN_PARQUET_REQUIRED,
                                           .has_type = true,
                                           .type = FIRN_PARQUET_BYTE_ARRAY};
    FIRN_TRY(firn_vector_push(&build->elements, error, element));
    element.name = "value";
    return firn_vector_push(&build->elements, error, element);
}

static firn_status add_list(builder *build, const firn_field *field, const char *name,
                            firn_parquet_repetition repetition, firn_error *error) {
    const firn_field *element = &field->type->fields[0];
    if (element->type->kind == FIRN_TYPE_UNKNOWN) {
        return firn_fail(error, FIRN_UNSUPPORTED, "list \"%s\" of unknown can't be stored",
                         field->name);
    }
    FIRN_TRY(
        add_group(build, name, true, field->id, repetition, 1, FIRN_PARQUET_LOGICAL_LIST, error));
    FIRN_TRY(add_group(build, "list", false, 0, FIRN_PARQUET_REPEATED, 1, FIRN_PARQUET_LOGICAL_NONE,
                       error));
    return add_field(build, element, "element", error);
}

static firn_status add_map(builder *build, const firn_field *field, const char *name,
                           firn_parquet_repetition repetition, firn_error *error) {
    const firn_field *fields = field->type->fields;
    if (fields[0].type->kind == FIRN_TYPE_UNKNOWN || fields[1].type->kind == FIRN_TYPE_UNKNOWN) {
        return firn_fail(error, FIRN_UNSUPPORTED, "map \"%s\" of unknown can't be stored",
                         field->name);
    }
    FIRN_TRY(
        add_group(build, name, true, field->id, repetition, 1, FIRN_PARQUET_LOGICAL_MAP, error));
    FIRN_TRY(add_group(build, "key_value", false, 0, FIRN_PARQUET_REPEATED, 2,
                       FIRN_PARQUET_LOGICAL_NONE, error));
    /* Keys are required whatever the schema says ("Nested Types"). */
    firn_field key = fields[0];
    key.required = true;
    FIRN_TRY(add_field(build, &key, "key", error));
    return add_field(build, &fields[1], "value", error);
}

static firn_status add_field(builder *build, const firn_field *field, const char *name,
                             firn_error *error) {
    firn_parquet_repetition repetition =
        field->required ? FIRN_PARQUET_REQUIRED : FIRN_PARQUET_OPTIONAL;
    switch (field->type->kind) {
    case FIRN_TYPE_STRUCT:
        FIRN_TRY(add_group(build, name, true, field->id, repetition, stored_fields(field->type),
                           FIRN_PARQUET_LOGICAL_NONE, error));
        return add_fields(build, field->type, field->name, error);
    case FIRN_TYPE_LIST: return add_list(build, field, name, repetition, error);
    case FIRN_TYPE_MAP: return add_map(build, field, name, repetition, error);
    case FIRN_TYPE_VARIANT: return add_variant(build, field, name, repetition, error);
    default: break;
    }
    firn_parquet_schema_element element = {.name = name,
                                           .has_repetition = true,
                                           .repetition = repetition,
                                           .has_field_id = true,
                                           .field_id = field->id};
    firn_status status = firn_plain_form_of_type(field->type, &element, error);
    if (status != FIRN_OK) return firn_error_wrap(error, status, "column \"%s\"", field->name);
    return firn_vector_push(&build->elements, error, element);
}

firn_status firn_parquet_elements_of_schema(const firn_schema *schema, firn_arena *arena,
                                            const firn_parquet_schema_element **out, size_t *count,
                                            firn_error *error) {
    return firn_parquet_elements_like(schema, NULL, arena, out, count, error);
}

firn_status firn_parquet_elements_like(const firn_schema *schema, const firn_parquet_schema *like,
                                       firn_arena *arena, const firn_parquet_schema_element **out,
                                       size_t *count, firn_error *error) {
    builder build = {.arena = arena, .like = like};
    firn_parquet_schema_element root = {.name = "table",
                                        .num_children = (int32_t)stored_fields(&schema->root)};
    firn_status status;
    FIRN_CHECK(firn_vector_push(&build.elements, error, root));
    FIRN_CHECK(add_fields(&build, &schema->root, "the table's schema", error));
    *out = firn_arena_memdup(arena, build.elements.items,
                             build.elements.count * sizeof *build.elements.items);
    *count = build.elements.count;
    if (*out == NULL) status = firn_fail_memory(error);
out:
    firn_vector_release(&build.elements);
    return status;
}
