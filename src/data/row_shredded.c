#include "data/row_shredded.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "data/variant_text.h"
#include "iceberg/primitive.h"

/* ---- types ---- */

static firn_type_kind kind_of(const firn_parquet_schema_element *element) {
    const firn_parquet_logical_type *logical = &element->logical;
    bool nanos = logical->unit == FIRN_PARQUET_NANOS;
    switch (logical->kind) {
    case FIRN_PARQUET_LOGICAL_STRING: return FIRN_TYPE_STRING;
    case FIRN_PARQUET_LOGICAL_DATE: return FIRN_TYPE_DATE;
    case FIRN_PARQUET_LOGICAL_TIME: return FIRN_TYPE_TIME;
    case FIRN_PARQUET_LOGICAL_UUID: return FIRN_TYPE_UUID;
    case FIRN_PARQUET_LOGICAL_DECIMAL: return FIRN_TYPE_DECIMAL;
    case FIRN_PARQUET_LOGICAL_TIMESTAMP:
        if (logical->adjusted_to_utc)
            return nanos ? FIRN_TYPE_TIMESTAMPTZ_NS : FIRN_TYPE_TIMESTAMPTZ;
        return nanos ? FIRN_TYPE_TIMESTAMP_NS : FIRN_TYPE_TIMESTAMP;
    case FIRN_PARQUET_LOGICAL_INTEGER:
        if (!logical->is_signed) return FIRN_TYPE_UNKNOWN;
        break;
    case FIRN_PARQUET_LOGICAL_NONE: break;
    default: return FIRN_TYPE_UNKNOWN;
    }
    switch (element->type) {
    case FIRN_PARQUET_BOOLEAN: return FIRN_TYPE_BOOLEAN;
    case FIRN_PARQUET_INT32: return FIRN_TYPE_INT;
    case FIRN_PARQUET_INT64: return FIRN_TYPE_LONG;
    case FIRN_PARQUET_FLOAT: return FIRN_TYPE_FLOAT;
    case FIRN_PARQUET_DOUBLE: return FIRN_TYPE_DOUBLE;
    case FIRN_PARQUET_BYTE_ARRAY: return FIRN_TYPE_BINARY;
    default: return FIRN_TYPE_UNKNOWN;
    }
}

/* The precision tells firn how the number is stored, whatever fewer digits the annotation speaks of. */
static firn_status decimal_type(const firn_parquet_schema_element *element, firn_arena *arena,
                                const firn_type **out, firn_error *error) {
    firn_type *type = firn_arena_alloc(arena, 1, sizeof *type);
    if (type == NULL) return firn_fail_memory(error);
    type->kind = FIRN_TYPE_DECIMAL;
    type->text = "decimal";
    type->scale = element->logical.scale;
    type->precision = 38;
    if (element->type == FIRN_PARQUET_INT32) type->precision = 9;
    if (element->type == FIRN_PARQUET_INT64) type->precision = 18;
    *out = type;
    return FIRN_OK;
}

firn_status firn_shredded_leaf_type(const firn_parquet_leaf *leaf, firn_arena *arena,
                                    const firn_type **out, firn_error *error) {
    const firn_parquet_schema_element *element = leaf->node->element;
    *out = firn_primitive_type(FIRN_TYPE_BINARY);
    if (strcmp(element->name, "typed_value") != 0) return FIRN_OK;
    firn_type_kind kind = kind_of(element);
    if (kind == FIRN_TYPE_DECIMAL) return decimal_type(element, arena, out, error);
    if (kind == FIRN_TYPE_UNKNOWN) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "column \"%s\": of a type that variants are not shredded into",
                         leaf->dotted_path);
    }
    *out = firn_primitive_type(kind);
    return FIRN_OK;
}

/* ---- parts ---- */

typedef struct assembly {
    firn_row_cursor *cursors;
    firn_slice metadata;
    firn_error *error;
} assembly;

/* A group of value and typed_value: a variant, a member of an object, or an element. */
typedef struct parts {
    const firn_parquet_node *value, *typed; /* NULL: there is none */
} parts;

static parts parts_of(const firn_parquet_node *group) {
    parts found = {NULL, NULL};
    for (size_t i = 0; i < group->child_count; i++) {
        const firn_parquet_node *child = group->children[i];
        if (strcmp(child->element->name, "value") == 0) found.value = child;
        if (strcmp(child->element->name, "typed_value") == 0) found.typed = child;
    }
    return found;
}

static firn_row_cursor *cursor_of(const assembly *work, const firn_parquet_node *node) {
    return &work->cursors[node->first_leaf];
}

static bool is_defined(const assembly *work, const firn_parquet_node *node) {
    if (node == NULL) return false;
    const firn_row_cursor *cursor = cursor_of(work, node);
    return cursor->has_entry && cursor->definition_level >= node->definition_level;
}

static firn_status contradiction(const assembly *work, const firn_parquet_node *node,
                                 const char *problem) {
    const firn_row_cursor *cursor = cursor_of(work, node);
    return firn_fail(work->error, FIRN_CORRUPT, "%s: column \"%s\": shredded variant: %s",
                     cursor->location, cursor->output->dotted_path, problem);
}

/* Steps over one entry of each leaf at or below a node that is not defined. */
static firn_status step_over(const assembly *work, const firn_parquet_node *node, uint8_t level) {
    for (int32_t i = 0; node != NULL && i < node->leaf_count; i++) {
        firn_row_cursor *cursor = &work->cursors[node->first_leaf + i];
        if (!cursor->has_entry || cursor->definition_level >= level) {
            return contradiction(work, node, "its columns' levels do not agree");
        }
        FIRN_TRY(firn_row_cursor_next(cursor, work->error));
    }
    return FIRN_OK;
}

static firn_status value_bytes(const assembly *work, const firn_parquet_node *node,
                               firn_slice *out) {
    firn_value value = {0};
    FIRN_TRY(firn_row_cursor_value(cursor_of(work, node), &value, work->error));
    *out = value.as.bytes;
    return FIRN_OK;
}

/* As a variant's primitive values are printed: decimals are numbers, without zeros at their end. */
static firn_status print_primitive(const assembly *work, const firn_parquet_node *typed,
                                   firn_buffer *out) {
    firn_row_cursor *cursor = cursor_of(work, typed);
    firn_value value = {0};
    FIRN_TRY(firn_row_cursor_value(cursor, &value, work->error));
    firn_type type = *cursor->type;
    bool decimal = type.kind == FIRN_TYPE_DECIMAL;
    while (decimal && type.scale > 0 && value.as.decimal % 10 == 0) {
        value.as.decimal /= 10;
        type.scale--;
    }
    FIRN_TRY(firn_value_print(&type, &value, !decimal, out, work->error));
    return firn_row_cursor_next(cursor, work->error);
}

static firn_status print_parts(const assembly *work, const firn_parquet_node *group,
                               firn_buffer *out, bool *present);

/* ---- arrays ---- */

static firn_status repeats(const assembly *work, const firn_parquet_node *repeated, bool *out) {
    for (int32_t i = 0; i < repeated->leaf_count; i++) {
        const firn_row_cursor *cursor = &work->cursors[repeated->first_leaf + i];
        bool again = cursor->has_entry && cursor->repetition_level == repeated->repetition_level;
        if (i == 0) *out = again;
        if (again != *out) {
            return contradiction(work, repeated, "its columns' levels do not agree");
        }
    }
    return FIRN_OK;
}

static firn_status print_array(const assembly *work, const firn_parquet_node *typed,
                               firn_buffer *out) {
    const firn_parquet_node *repeated = typed->children[0];
    if (!is_defined(work, repeated)) {
        FIRN_TRY(step_over(work, typed, repeated->definition_level));
        return firn_buffer_append_text(out, "[]", work->error);
    }
    bool again = true;
    for (bool first = true; again; first = false) {
        bool present = true;
        FIRN_TRY(firn_buffer_append_byte(out, first ? '[' : ',', work->error));
        FIRN_TRY(print_parts(work, repeated->children[0], out, &present));
        if (!present) FIRN_TRY(firn_buffer_append_text(out, "null", work->error));
        FIRN_TRY(repeats(work, repeated, &again));
    }
    return firn_buffer_append_byte(out, ']', work->error);
}

/* ---- objects ---- */

/* A member: its name, and where its text lies. */
typedef struct member {
    firn_slice name;
    size_t start, end;
} member;

typedef struct object {
    const assembly *work;
    const firn_parquet_node *typed;
    firn_buffer texts;
    FIRN_VECTOR(member) members;
} object;

static int by_name(const void *left, const void *right) {
    return firn_slice_compare(((const member *)left)->name, ((const member *)right)->name);
}

static firn_status add_rest(void *context, firn_slice name, firn_slice value, firn_error *error) {
    object *made = context;
    for (size_t i = 0; i < made->typed->child_count; i++) {
        if (!firn_slice_equal(name, firn_slice_text(made->typed->children[i]->element->name)))
            continue;
        return contradiction(made->work, made->typed,
                             "a member that has columns of its own is also among the rest");
    }
    size_t start = made->texts.size;
    FIRN_TRY(firn_variant_print(made->work->metadata, value, &made->texts, error));
    return firn_vector_push(&made->members, error, (member){name, start, made->texts.size});
}

static firn_status gather(object *made, const firn_parquet_node *rest) {
    const assembly *work = made->work;
    for (size_t i = 0; i < made->typed->child_count; i++) {
        const firn_parquet_node *child = made->typed->children[i];
        bool present = true;
        size_t start = made->texts.size;
        FIRN_TRY(print_parts(work, child, &made->texts, &present));
        if (!present) continue;
        FIRN_TRY(firn_vector_push(
            &made->members, work->error,
            (member){firn_slice_text(child->element->name), start, made->texts.size}));
    }
    if (!is_defined(work, rest))
        return step_over(work, rest, rest == NULL ? 0 : rest->definition_level);
    firn_slice value;
    FIRN_TRY(value_bytes(work, rest, &value));
    FIRN_TRY(firn_variant_visit_object(work->metadata, value, add_rest, made, work->error));
    /* The names are borrowed from the metadata, which stays until the whole variant is printed. */
    return firn_row_cursor_next(cursor_of(work, rest), work->error);
}

/* Members by their names, in whose order an object that is not shredded has them. */
static firn_status print_object(const assembly *work, const parts *of, firn_buffer *out) {
    object made = {.work = work, .typed = of->typed, .texts = firn_buffer_with_maximum(SIZE_MAX)};
    firn_status status = gather(&made, of->value);
    if (status == FIRN_OK) status = firn_buffer_append_byte(out, '{', work->error);
    if (made.members.count > 1) {
        qsort(made.members.items, made.members.count, sizeof *made.members.items, by_name);
    }
    for (size_t i = 0; i < made.members.count && status == FIRN_OK; i++) {
        const member *one = &made.members.items[i];
        firn_value name = {.kind = FIRN_TYPE_STRING, .as.bytes = one->name};
        if (i > 0) FIRN_CHECK(firn_buffer_append_byte(out, ',', work->error));
        FIRN_CHECK(
            firn_value_print(firn_primitive_type(FIRN_TYPE_STRING), &name, true, out, work->error));
        FIRN_CHECK(firn_buffer_append_byte(out, ':', work->error));
        status = firn_buffer_append(out, made.texts.data + one->start, one->end - one->start,
                                    work->error);
    }
    if (status == FIRN_OK) status = firn_buffer_append_byte(out, '}', work->error);
out:
    firn_vector_release(&made.members);
    firn_buffer_release(&made.texts);
    return status;
}

/* ---- the whole ---- */

static firn_status print_typed(const assembly *work, const parts *of, firn_buffer *out) {
    const firn_parquet_node *typed = of->typed;
    bool array =
        !typed->element->has_type && typed->element->logical.kind == FIRN_PARQUET_LOGICAL_LIST;
    if (!typed->element->has_type && !array) return print_object(work, of, out);
    if (is_defined(work, of->value)) {
        return contradiction(work, typed, "a value that is no object has two forms");
    }
    FIRN_TRY(step_over(work, of->value, of->value == NULL ? 0 : of->value->definition_level));
    return array ? print_array(work, typed, out) : print_primitive(work, typed, out);
}

/* `present` is false where neither part is there: a member that its object lacks. */
static firn_status print_parts(const assembly *work, const firn_parquet_node *group,
                               firn_buffer *out, bool *present) {
    parts of = parts_of(group);
    if (is_defined(work, of.typed)) return print_typed(work, &of, out);
    FIRN_TRY(step_over(work, of.typed, of.typed == NULL ? 0 : of.typed->definition_level));
    *present = is_defined(work, of.value);
    if (!*present) {
        return step_over(work, of.value, of.value == NULL ? 0 : of.value->definition_level);
    }
    firn_slice value;
    FIRN_TRY(value_bytes(work, of.value, &value));
    FIRN_TRY(firn_variant_print(work->metadata, value, out, work->error));
    return firn_row_cursor_next(cursor_of(work, of.value), work->error);
}

static const firn_parquet_node *metadata_of(const firn_parquet_node *node) {
    for (size_t i = 0; i < node->child_count; i++) {
        if (strcmp(node->children[i]->element->name, "metadata") == 0) return node->children[i];
    }
    return NULL;
}

/* Lists must have the form that VariantShredding.md gives them: everything else here walks by it. */
static bool is_well_formed(const firn_parquet_node *group) {
    parts of = parts_of(group);
    if (group->element->has_type || (of.value != NULL && !of.value->element->has_type))
        return false;
    if (of.value != NULL && of.value->leaf_count != 1) return false;
    if (of.typed == NULL || of.typed->element->has_type)
        return of.value != NULL || of.typed != NULL;
    if (of.typed->element->logical.kind == FIRN_PARQUET_LOGICAL_LIST) {
        if (of.typed->child_count != 1 || of.typed->children[0]->child_count != 1) return false;
        return of.typed->children[0]->element->repetition == FIRN_PARQUET_REPEATED &&
               is_well_formed(of.typed->children[0]->children[0]);
    }
    for (size_t i = 0; i < of.typed->child_count; i++) {
        if (!is_well_formed(of.typed->children[i])) return false;
    }
    return true;
}

firn_status firn_shredded_print(firn_row_cursor *cursors, const firn_parquet_node *node,
                                firn_buffer *out, firn_error *error) {
    assembly work = {.cursors = cursors, .error = error};
    const firn_parquet_node *metadata = metadata_of(node);
    bool present = true;
    if (metadata == NULL || !metadata->element->has_type || !is_well_formed(node)) {
        return contradiction(&work, node, "its columns are not those of one");
    }
    if (!is_defined(&work, metadata)) return contradiction(&work, node, "it has no metadata");
    FIRN_TRY(value_bytes(&work, metadata, &work.metadata));
    FIRN_TRY(print_parts(&work, node, out, &present));
    if (!present) FIRN_TRY(firn_buffer_append_text(out, "null", error));
    return firn_row_cursor_next(cursor_of(&work, metadata), error);
}
