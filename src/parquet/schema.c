#include "parquet/schema.h"

#include "base/buffer.h"

/* Far above any table's; keeps what is made per leaf within bounds. */
#define MAXIMUM_NODES 100000
/* Paths are kept per leaf, so deep nesting and long names multiply. */
#define MAXIMUM_PATH_BYTES ((size_t)64 << 20)

typedef struct builder {
    const firn_parquet_schema_element *elements;
    size_t count;
    size_t next;       /* element to take */
    size_t children;   /* sum of num_children so far: below count */
    size_t path_bytes; /* of all leaves so far */
    const char *name;
    firn_arena *arena;
    firn_parquet_leaf *leaves;
    size_t leaf_count;
    const firn_parquet_node
        *path[FIRN_PARQUET_MAX_LEVEL]; /* below the root, down to the present node */
    size_t depth;
} builder;

static firn_status corrupt(const builder *build, firn_error *error, const char *element,
                           const char *problem) {
    return firn_fail(error, FIRN_CORRUPT, "%s: schema element %zu (\"%s\"): %s", build->name,
                     build->next, element, problem);
}

static firn_status check_element(builder *build, const firn_parquet_schema_element *element,
                                 bool is_root, firn_error *error) {
    if (element->num_children < 0) {
        return corrupt(build, error, element->name, "num_children is negative");
    }
    if (element->has_type && (element->num_children > 0 || is_root)) {
        return corrupt(build, error, element->name, "a group has a physical type");
    }
    if (!is_root && !element->has_repetition) {
        return corrupt(build, error, element->name, "repetition_type is missing");
    }
    if (element->has_type && element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY &&
        element->type_length <= 0) {
        return corrupt(build, error, element->name, "type_length is not positive");
    }
    /* Every element but the root is one node's child; this also bounds the lists of children. */
    build->children += (size_t)element->num_children;
    if (build->children >= build->count) {
        return corrupt(build, error, element->name, "more children than there are elements");
    }
    return FIRN_OK;
}

static size_t dotted_length(const builder *build) {
    size_t length = 0;
    for (size_t i = 0; i < build->depth; i++) length += strlen(build->path[i]->element->name) + 1;
    return length;
}

static const char *dotted_path(const builder *build, size_t length) {
    char *text = firn_arena_alloc(build->arena, length, 1);
    if (text == NULL) return NULL;
    char *end = text;
    for (size_t i = 0; i < build->depth; i++) {
        const char *part = build->path[i]->element->name;
        size_t size = strlen(part);
        if (i > 0) *end++ = '.';
        if (size > 0) memcpy(end, part, size);
        end += size;
    }
    return text;
}

static firn_status add_leaf(builder *build, const firn_parquet_node *node, firn_error *error) {
    firn_parquet_leaf *leaf = &build->leaves[build->leaf_count];
    *leaf = (firn_parquet_leaf){.node = node,
                                .index = (int32_t)build->leaf_count,
                                .maximum_definition_level = node->definition_level,
                                .maximum_repetition_level = node->repetition_level,
                                .path_length = build->depth};
    size_t length = dotted_length(build);
    size_t path_size = build->depth * sizeof *build->path;
    build->path_bytes += length + path_size;
    if (build->path_bytes > MAXIMUM_PATH_BYTES) {
        return firn_fail(error, FIRN_LIMIT, "%s: the paths of the schema's columns are too long",
                         build->name);
    }
    leaf->path = firn_arena_memdup(build->arena, build->path, path_size);
    leaf->dotted_path = dotted_path(build, length);
    if (leaf->path == NULL || leaf->dotted_path == NULL) return firn_fail_memory(error);
    build->leaf_count++;
    return FIRN_OK;
}

static firn_status build_node(builder *build, const firn_parquet_node *parent,
                              const firn_parquet_node **out, firn_error *error);

static firn_status build_children(builder *build, firn_parquet_node *node, firn_error *error) {
    size_t count = (size_t)node->element->num_children;
    if (count == 0) return FIRN_OK;
    const firn_parquet_node **children = firn_arena_alloc(build->arena, count, sizeof *children);
    if (children == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(build_node(build, node, &children[i], error));
    }
    node->children = children;
    node->child_count = count;
    return FIRN_OK;
}

/* Recursion ends at FIRN_PARQUET_MAX_LEVEL, which also bounds both levels. */
static firn_status build_node(builder *build, const firn_parquet_node *parent,
                              const firn_parquet_node **out, firn_error *error) {
    if (build->next == build->count) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the schema ends before the last child of \"%s\"",
                         build->name, parent == NULL ? "" : parent->element->name);
    }
    const firn_parquet_schema_element *element = &build->elements[build->next++];
    FIRN_TRY(check_element(build, element, parent == NULL, error));
    firn_parquet_node *node = firn_arena_alloc(build->arena, 1, sizeof *node);
    if (node == NULL) return firn_fail_memory(error);
    *out = node;
    node->element = element;
    node->parent = parent;
    node->first_leaf = (int32_t)build->leaf_count;
    if (parent == NULL) {
        FIRN_TRY(build_children(build, node, error));
        node->leaf_count = (int32_t)build->leaf_count;
        return FIRN_OK;
    }
    if (build->depth == FIRN_PARQUET_MAX_LEVEL) {
        return firn_fail(error, FIRN_LIMIT, "%s: the schema is nested more than %d levels deep",
                         build->name, FIRN_PARQUET_MAX_LEVEL);
    }
    bool optional = element->repetition == FIRN_PARQUET_OPTIONAL;
    bool repeated = element->repetition == FIRN_PARQUET_REPEATED;
    node->definition_level = (uint8_t)(parent->definition_level + (optional || repeated));
    node->repetition_level = (uint8_t)(parent->repetition_level + repeated);
    build->path[build->depth++] = node;
    FIRN_TRY(element->has_type ? add_leaf(build, node, error) : build_children(build, node, error));
    build->depth--;
    node->leaf_count = (int32_t)build->leaf_count - node->first_leaf;
    return FIRN_OK;
}

firn_status firn_parquet_schema_build(const firn_parquet_schema_element *elements, size_t count,
                                      const char *name, firn_arena *arena,
                                      const firn_parquet_schema **out, firn_error *error) {
    if (count > MAXIMUM_NODES) {
        return firn_fail(error, FIRN_LIMIT, "%s: a schema of %zu elements; the limit is %d", name,
                         count, MAXIMUM_NODES);
    }
    firn_parquet_schema *schema = firn_arena_alloc(arena, 1, sizeof *schema);
    firn_parquet_leaf *leaves = firn_arena_alloc(arena, count == 0 ? 1 : count, sizeof *leaves);
    if (schema == NULL || leaves == NULL) return firn_fail_memory(error);
    builder build = {
        .elements = elements, .count = count, .name = name, .arena = arena, .leaves = leaves};
    FIRN_TRY(build_node(&build, NULL, &schema->root, error));
    if (build.next != count) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the schema has %zu elements after its tree",
                         name, count - build.next);
    }
    schema->leaves = leaves;
    schema->leaf_count = build.leaf_count;
    *out = schema;
    return FIRN_OK;
}
