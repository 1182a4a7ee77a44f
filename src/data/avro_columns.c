#include "data/avro_columns.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

/* Named types can be used again and again, so that a short schema can stand for endless columns. */
#define MOST_ELEMENTS 20000
#define DEEPEST 100

typedef FIRN_VECTOR(firn_parquet_schema_element) element_list;

typedef struct builder {
    const char *location;
    firn_arena *arena;
    element_list elements;
    size_t leaf_count;
    const firn_avro_schema *open[DEEPEST]; /* records that the present one lies in */
    size_t depth;
} builder;

/* One column that is to be made. */
typedef struct column_place {
    const firn_avro_schema *schema; /* as the file has it; may be a union */
    const char *name;
    int32_t id;
    const char *path; /* for messages */
    int repetition_level;
} column_place;

static firn_status unsupported(const builder *build, const column_place *place, firn_error *error,
                               const char *problem) {
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: column \"%s\" of the Avro file: %s",
                     build->location, place->path, problem);
}

static firn_status add_element(builder *build, firn_parquet_schema_element element,
                               firn_error *error) {
    if (build->elements.count == MOST_ELEMENTS) {
        return firn_fail(error, FIRN_LIMIT, "%s: the Avro schema has more than %d columns",
                         build->location, MOST_ELEMENTS);
    }
    return firn_vector_push(&build->elements, error, element);
}

/* Takes null out of a union: *schema becomes the other branch, null where there is no other. */
static firn_status open_union(const builder *build, const column_place *place,
                              const firn_avro_schema **schema, firn_avro_option *option,
                              firn_error *error) {
    *option = (firn_avro_option){NULL, FIRN_AVRO_NO_BRANCH};
    if ((*schema)->kind != FIRN_AVRO_UNION) return FIRN_OK;
    const firn_avro_schema *whole = *schema;
    const firn_avro_schema *other = NULL;
    option->schema = whole;
    for (size_t i = 0; i < whole->count; i++) {
        const firn_avro_schema *branch = whole->branches[i];
        bool is_null = branch->kind == FIRN_AVRO_NULL;
        if (is_null ? option->null_branch != FIRN_AVRO_NO_BRANCH : other != NULL) {
            return unsupported(build, place, error, "a union of more than null and one other type");
        }
        if (is_null) option->null_branch = i;
        if (!is_null) other = branch;
    }
    if (other == NULL && option->null_branch == FIRN_AVRO_NO_BRANCH) {
        return unsupported(build, place, error, "a union of nothing");
    }
    *schema = other != NULL ? other : whole->branches[option->null_branch];
    return FIRN_OK;
}

static firn_parquet_logical_type timed(firn_parquet_logical_kind kind, firn_parquet_time_unit unit,
                                       bool adjusted) {
    return (firn_parquet_logical_type){.kind = kind, .unit = unit, .adjusted_to_utc = adjusted};
}

/* By Avro's own rule a timestamp is an instant; Iceberg's attribute tells otherwise. */
static firn_parquet_logical_type instant(const firn_avro_schema *schema,
                                         firn_parquet_time_unit unit) {
    bool adjusted = !schema->has_adjust_to_utc || schema->adjust_to_utc;
    return timed(FIRN_PARQUET_LOGICAL_TIMESTAMP, unit, adjusted);
}

static firn_parquet_logical_type logical_type_of(const firn_avro_schema *schema) {
    firn_parquet_logical_type none = {.kind = FIRN_PARQUET_LOGICAL_NONE};
    const firn_parquet_logical_kind local = FIRN_PARQUET_LOGICAL_TIMESTAMP;
    switch (schema->logical) {
    case FIRN_AVRO_LOGICAL_DECIMAL:
        return (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_DECIMAL,
                                           .precision = schema->precision,
                                           .scale = schema->scale};
    case FIRN_AVRO_LOGICAL_UUID:
        if (schema->kind != FIRN_AVRO_FIXED) break;
        return (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_UUID};
    case FIRN_AVRO_LOGICAL_DATE:
        return (firn_parquet_logical_type){.kind = FIRN_PARQUET_LOGICAL_DATE};
    case FIRN_AVRO_LOGICAL_TIME_MILLIS:
        return timed(FIRN_PARQUET_LOGICAL_TIME, FIRN_PARQUET_MILLIS, false);
    case FIRN_AVRO_LOGICAL_TIME_MICROS:
        return timed(FIRN_PARQUET_LOGICAL_TIME, FIRN_PARQUET_MICROS, false);
    case FIRN_AVRO_LOGICAL_TIMESTAMP_MILLIS: return instant(schema, FIRN_PARQUET_MILLIS);
    case FIRN_AVRO_LOGICAL_TIMESTAMP_MICROS: return instant(schema, FIRN_PARQUET_MICROS);
    case FIRN_AVRO_LOGICAL_TIMESTAMP_NANOS: return instant(schema, FIRN_PARQUET_NANOS);
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MILLIS: return timed(local, FIRN_PARQUET_MILLIS, false);
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_MICROS: return timed(local, FIRN_PARQUET_MICROS, false);
    case FIRN_AVRO_LOGICAL_LOCAL_TIMESTAMP_NANOS: return timed(local, FIRN_PARQUET_NANOS, false);
    case FIRN_AVRO_LOGICAL_NONE:
    case FIRN_AVRO_LOGICAL_MAP: break;
    }
    if (schema->kind == FIRN_AVRO_STRING) none.kind = FIRN_PARQUET_LOGICAL_STRING;
    if (schema->kind == FIRN_AVRO_ENUM) none.kind = FIRN_PARQUET_LOGICAL_ENUM;
    if (schema->kind == FIRN_AVRO_NULL) none.kind = FIRN_PARQUET_LOGICAL_NULL;
    return none;
}

static firn_parquet_physical_type physical_type_of(firn_avro_kind kind) {
    switch (kind) {
    case FIRN_AVRO_BOOLEAN: return FIRN_PARQUET_BOOLEAN;
    case FIRN_AVRO_LONG: return FIRN_PARQUET_INT64;
    case FIRN_AVRO_FLOAT: return FIRN_PARQUET_FLOAT;
    case FIRN_AVRO_DOUBLE: return FIRN_PARQUET_DOUBLE;
    case FIRN_AVRO_FIXED: return FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
    case FIRN_AVRO_BYTES:
    case FIRN_AVRO_STRING:
    case FIRN_AVRO_ENUM: return FIRN_PARQUET_BYTE_ARRAY;
    default: return FIRN_PARQUET_INT32;
    }
}

static firn_parquet_schema_element group_element(const column_place *place, bool optional,
                                                 size_t children, firn_parquet_logical_kind kind) {
    return (firn_parquet_schema_element){.name = place->name,
                                         .has_repetition = true,
                                         .repetition = optional ? FIRN_PARQUET_OPTIONAL
                                                                : FIRN_PARQUET_REQUIRED,
                                         .num_children = (int32_t)children,
                                         .has_field_id = place->id != FIRN_AVRO_NO_ID,
                                         .field_id = place->id,
                                         .logical = {.kind = kind}};
}

static firn_parquet_schema_element repeated_element(const char *name, size_t children) {
    return (firn_parquet_schema_element){.name = name,
                                         .has_repetition = true,
                                         .repetition = FIRN_PARQUET_REPEATED,
                                         .num_children = (int32_t)children};
}

static firn_status add_leaf(builder *build, const column_place *place, bool optional,
                            firn_avro_column *column, firn_error *error) {
    const firn_avro_schema *schema = column->schema;
    if (schema->kind == FIRN_AVRO_FIXED && schema->fixed_size == 0) {
        return unsupported(build, place, error, "a fixed of no bytes");
    }
    column->shape = FIRN_AVRO_SHAPE_LEAF;
    build->leaf_count++;
    optional = optional || schema->kind == FIRN_AVRO_NULL;
    firn_parquet_schema_element element =
        group_element(place, optional, 0, FIRN_PARQUET_LOGICAL_NONE);
    element.has_type = true;
    element.type = physical_type_of(schema->kind);
    element.type_length = schema->kind == FIRN_AVRO_FIXED ? (int32_t)schema->fixed_size : 0;
    element.logical = logical_type_of(schema);
    return add_element(build, element, error);
}

static firn_status add_column(builder *build, const column_place *place,
                              const firn_avro_column **out, firn_error *error);

/* `children` of `column`, from the fields of a record. */
static firn_status add_fields(builder *build, const column_place *place,
                              const firn_avro_schema *record, firn_avro_column *column,
                              firn_error *error) {
    for (size_t i = 0; i < build->depth; i++) {
        if (build->open[i] == record) {
            return unsupported(build, place, error, "a type that holds itself");
        }
    }
    if (record->count == 0) return unsupported(build, place, error, "a record without fields");
    if (build->depth == DEEPEST) {
        return firn_fail(error, FIRN_LIMIT, "%s: the Avro schema is nested too deep",
                         build->location);
    }
    const firn_avro_column **children =
        firn_arena_alloc(build->arena, record->count, sizeof *children);
    if (children == NULL) return firn_fail_memory(error);
    column->children = children;
    column->child_count = record->count;
    build->open[build->depth++] = record;
    for (size_t i = 0; i < record->count; i++) {
        const firn_avro_field *field = &record->fields[i];
        column_place member = {field->schema, field->name, field->id, field->name,
                               place->repetition_level};
        if (*place->path != '\0') {
            member.path = firn_arena_format(build->arena, "%s.%s", place->path, field->name);
            if (member.path == NULL) return firn_fail_memory(error);
        }
        FIRN_TRY(add_column(build, &member, &children[i], error));
    }
    build->depth--;
    return FIRN_OK;
}

static firn_status add_members(builder *build, const column_place *members, size_t count,
                               firn_avro_column *column, firn_error *error) {
    const firn_avro_column **children = firn_arena_alloc(build->arena, count, sizeof *children);
    if (children == NULL) return firn_fail_memory(error);
    column->children = children;
    column->child_count = count;
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(add_column(build, &members[i], &children[i], error));
    }
    return FIRN_OK;
}

static const char *path_below(const builder *build, const column_place *place, const char *name) {
    return firn_arena_format(build->arena, "%s.%s", place->path, name);
}

static firn_status add_list(builder *build, const column_place *place, bool optional,
                            firn_avro_column *column, firn_error *error) {
    column->shape = FIRN_AVRO_SHAPE_LIST;
    FIRN_TRY(
        add_element(build, group_element(place, optional, 1, FIRN_PARQUET_LOGICAL_LIST), error));
    FIRN_TRY(add_element(build, repeated_element("list", 1), error));
    column_place element = {column->schema->items, "element", column->schema->element_id,
                            path_below(build, place, "element"), place->repetition_level + 1};
    if (element.path == NULL) return firn_fail_memory(error);
    return add_members(build, &element, 1, column, error);
}

static firn_status add_map(builder *build, const column_place *place, bool optional,
                           firn_avro_column *column, firn_error *error) {
    static const firn_avro_schema text = {.kind = FIRN_AVRO_STRING};
    column->shape = FIRN_AVRO_SHAPE_MAP;
    FIRN_TRY(
        add_element(build, group_element(place, optional, 1, FIRN_PARQUET_LOGICAL_MAP), error));
    FIRN_TRY(add_element(build, repeated_element("key_value", 2), error));
    int level = place->repetition_level + 1;
    column_place members[] = {
        {&text, "key", column->schema->key_id, path_below(build, place, "key"), level},
        {column->schema->items, "value", column->schema->value_id,
         path_below(build, place, "value"), level}};
    if (members[0].path == NULL || members[1].path == NULL) return firn_fail_memory(error);
    return add_members(build, members, 2, column, error);
}

/* Maps whose keys are not text: an array of records (appendix A, "Maps with non-string keys"). */
static firn_status add_pairs(builder *build, const column_place *place, bool optional,
                             firn_avro_column *column, firn_error *error) {
    column->shape = FIRN_AVRO_SHAPE_PAIRS;
    const firn_avro_schema *record = column->schema->items;
    FIRN_TRY(open_union(build, place, &record, &column->item_option, error));
    if (record->kind != FIRN_AVRO_RECORD || record->count != 2) {
        return unsupported(build, place, error, "a map whose items are not pairs of key and value");
    }
    FIRN_TRY(
        add_element(build, group_element(place, optional, 1, FIRN_PARQUET_LOGICAL_MAP), error));
    FIRN_TRY(add_element(build, repeated_element("key_value", 2), error));
    column_place inner = *place;
    inner.repetition_level++;
    return add_fields(build, &inner, record, column, error);
}

static firn_status add_record(builder *build, const column_place *place, bool optional,
                              firn_avro_column *column, firn_error *error) {
    column->shape = FIRN_AVRO_SHAPE_RECORD;
    size_t count = column->schema->count;
    FIRN_TRY(add_element(build, group_element(place, optional, count, FIRN_PARQUET_LOGICAL_NONE),
                         error));
    return add_fields(build, place, column->schema, column, error);
}

static firn_status add_content(builder *build, const column_place *place, bool optional,
                               firn_avro_column *column, firn_error *error) {
    switch (column->schema->kind) {
    case FIRN_AVRO_RECORD: return add_record(build, place, optional, column, error);
    case FIRN_AVRO_MAP: return add_map(build, place, optional, column, error);
    case FIRN_AVRO_ARRAY:
        return column->schema->logical == FIRN_AVRO_LOGICAL_MAP
                   ? add_pairs(build, place, optional, column, error)
                   : add_list(build, place, optional, column, error);
    default: return add_leaf(build, place, optional, column, error);
    }
}

static firn_status add_column(builder *build, const column_place *place,
                              const firn_avro_column **out, firn_error *error) {
    firn_avro_column *column = firn_arena_alloc(build->arena, 1, sizeof *column);
    if (column == NULL) return firn_fail_memory(error);
    column->schema = place->schema;
    column->first_leaf = build->leaf_count;
    /* Far below what a byte holds: every level is one of at most two per level of the schema. */
    if (place->repetition_level >= DEEPEST) {
        return firn_fail(error, FIRN_LIMIT, "%s: the Avro schema is nested too deep",
                         build->location);
    }
    column->repetition_level = (uint8_t)(place->repetition_level + 1);
    FIRN_TRY(open_union(build, place, &column->schema, &column->option, error));
    bool optional = column->option.null_branch != FIRN_AVRO_NO_BRANCH;
    FIRN_TRY(add_content(build, place, optional, column, error));
    column->leaf_count = build->leaf_count - column->first_leaf;
    *out = column;
    return FIRN_OK;
}

static firn_status add_root(builder *build, const firn_avro_schema *schema, firn_avro_columns *out,
                            firn_error *error) {
    firn_avro_column *root = firn_arena_alloc(build->arena, 1, sizeof *root);
    if (root == NULL) return firn_fail_memory(error);
    root->shape = FIRN_AVRO_SHAPE_RECORD;
    root->schema = schema;
    root->option.null_branch = FIRN_AVRO_NO_BRANCH;
    column_place place = {.schema = schema, .name = "table", .id = FIRN_AVRO_NO_ID, .path = ""};
    firn_parquet_schema_element element = {.name = "table", .num_children = (int32_t)schema->count};
    FIRN_TRY(add_element(build, element, error));
    FIRN_TRY(add_fields(build, &place, schema, root, error));
    root->leaf_count = build->leaf_count;
    out->root = root;
    out->element_count = build->elements.count;
    out->elements = firn_arena_memdup(build->arena, build->elements.items,
                                      build->elements.count * sizeof *build->elements.items);
    return out->elements == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_avro_columns_of(const firn_avro_schema *schema, const char *location,
                                 firn_arena *arena, firn_avro_columns *out, firn_error *error) {
    if (schema->kind != FIRN_AVRO_RECORD) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: the Avro file holds values of type %s, not "
                         "records",
                         location, firn_avro_kind_name(schema->kind));
    }
    builder build = {.location = location, .arena = arena};
    firn_status status = add_root(&build, schema, out, error);
    firn_vector_release(&build.elements);
    return status;
}
