#include "data/equality_deletes.h"

/* Fields from below the root down to one. */
typedef struct field_path {
    const firn_field **fields;
    size_t count;
} field_path;

/* What of a schema belongs to the key: a field with those below it that do. */
typedef struct key_node {
    const firn_field *field;
    struct key_node *children, *next;
    size_t child_count;
} key_node;

typedef struct key_builder {
    const firn_table_metadata *metadata;
    firn_arena *arena;
    firn_equality_key *key;
    key_node root;
} key_builder;

/* Recursion is bounded by the nesting limit of firn_type_parse. */
static bool find_path(const firn_type *type, int32_t id, field_path *path) {
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        size_t depth = path->count++;
        path->fields[depth] = field;
        if (field->id == id || find_path(field->type, id, path)) return true;
        path->count = depth;
    }
    return false;
}

static size_t depth_of(const firn_type *type) {
    size_t deepest = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        size_t below = depth_of(type->fields[i].type) + 1;
        if (below > deepest) deepest = below;
    }
    return deepest;
}

/*
 * The current schema, else the last one with the widest type: a dropped column still counts ("Equality Delete Files"). Keys are
 * compared in the wider type, so that none is cut to a narrower one.
 */
static const firn_schema *schema_with(const firn_table_metadata *metadata, int32_t id) {
    if (firn_schema_find(metadata->schema, id) != NULL) return metadata->schema;
    const firn_schema *best = NULL;
    for (size_t i = 0; i < metadata->schema_count; i++) {
        const firn_field *field = firn_schema_find(metadata->schemas[i], id);
        if (field == NULL) continue;
        if (best == NULL || firn_type_can_promote(firn_schema_find(best, id)->type, field->type,
                                                  metadata->format_version)) {
            best = metadata->schemas[i];
        }
    }
    return best;
}

static firn_status check_field(const field_path *path, const char *name, firn_error *error) {
    for (size_t i = 0; i + 1 < path->count; i++) {
        if (path->fields[i]->type->kind == FIRN_TYPE_STRUCT) continue;
        return firn_fail(error, FIRN_CORRUPT,
                         "equality deletes by \"%s\", which lies within a list or map", name);
    }
    const firn_type *type = path->fields[path->count - 1]->type;
    switch (type->kind) {
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE:
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "equality deletes by \"%s\", a %s: the specification forbids them", name,
                         type->text);
    case FIRN_TYPE_UNKNOWN:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY:
    case FIRN_TYPE_STRUCT:
    case FIRN_TYPE_LIST:
    case FIRN_TYPE_MAP:
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "equality deletes by \"%s\", which is no column of a plain type", name);
    default: return FIRN_OK;
    }
}

static key_node *child_of(key_builder *builder, key_node *parent, const firn_field *field) {
    key_node **link = &parent->children;
    while (*link != NULL && (*link)->field->id != field->id) link = &(*link)->next;
    if (*link != NULL) return *link;
    *link = firn_arena_alloc(builder->arena, 1, sizeof **link);
    if (*link == NULL) return NULL;
    (*link)->field = field;
    parent->child_count++;
    return *link;
}

static firn_status add_name(key_builder *builder, const char *name, firn_error *error) {
    firn_equality_key *key = builder->key;
    key->name =
        key->name == NULL ? name : firn_arena_format(builder->arena, "%s, %s", key->name, name);
    return key->name == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status add_column(key_builder *builder, int32_t id, firn_error *error) {
    const firn_schema *schema = schema_with(builder->metadata, id);
    if (schema == NULL) {
        return firn_fail(error, FIRN_CORRUPT,
                         "equality deletes by field id %d, which no schema of the table has", id);
    }
    const char *name = firn_schema_full_name(schema, id, builder->arena);
    size_t depth = depth_of(&schema->root);
    field_path path = {firn_arena_alloc(builder->arena, depth, sizeof *path.fields), 0};
    if (name == NULL || path.fields == NULL) return firn_fail_memory(error);
    find_path(&schema->root, id, &path);
    FIRN_TRY(check_field(&path, name, error));
    FIRN_TRY(add_name(builder, name, error));
    key_node *node = &builder->root;
    for (size_t i = 0; i < path.count; i++) {
        node = child_of(builder, node, path.fields[i]);
        if (node == NULL) return firn_fail_memory(error);
    }
    return FIRN_OK;
}

/* Everything is optional here: a null, or a column that a file lacks, is a key like others. */
static firn_status make_fields(key_builder *builder, const key_node *node, firn_type *type,
                               firn_error *error) {
    firn_field *fields = firn_arena_alloc(builder->arena, node->child_count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    size_t count = 0;
    for (const key_node *child = node->children; child != NULL; child = child->next) {
        firn_field *field = &fields[count++];
        *field = *child->field;
        field->required = false;
        if (child->children == NULL) continue;
        firn_type *below = firn_arena_alloc(builder->arena, 1, sizeof *below);
        if (below == NULL) return firn_fail_memory(error);
        below->kind = FIRN_TYPE_STRUCT;
        FIRN_TRY(make_fields(builder, child, below, error));
        field->type = below;
    }
    type->fields = fields;
    type->field_count = count;
    return FIRN_OK;
}

static firn_status make_output(key_builder *builder, firn_error *error) {
    firn_schema *schema = firn_arena_alloc(builder->arena, 1, sizeof *schema);
    if (schema == NULL) return firn_fail_memory(error);
    schema->root.kind = FIRN_TYPE_STRUCT;
    FIRN_TRY(make_fields(builder, &builder->root, &schema->root, error));
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    FIRN_TRY(firn_parquet_elements_of_schema(schema, builder->arena, &elements, &count, error));
    builder->key->schema = schema;
    return firn_parquet_schema_build(elements, count, "the key columns", builder->arena,
                                     &builder->key->output, error);
}

firn_status firn_equality_key_schema(const firn_table_metadata *metadata, firn_arena *arena,
                                     firn_equality_key *key, firn_error *error) {
    key_builder builder = {.metadata = metadata, .arena = arena, .key = key};
    for (size_t i = 0; i < key->id_count; i++) FIRN_TRY(add_column(&builder, key->ids[i], error));
    FIRN_TRY(make_output(&builder, error));
    FIRN_TRY(firn_name_mapping_of_table(metadata, arena, &key->mapping, error));
    const firn_parquet_schema_element *first = key->output->leaves[0].node->element;
    uint32_t width = firn_parquet_value_width(first->type, first->type_length);
    key->narrow = key->output->leaf_count == 1 && width > 0 && width <= 8;
    return FIRN_OK;
}
