#include <string.h>

#include "iceberg/primitive.h"
#include "lake/schema_union_internal.h"

/*
 * A file's schema as columns: lists and maps by structure, whatever their inner names (LogicalTypes.md, "Lists" and "Maps"), as
 * the projection takes them when rows are read.
 */

typedef struct file_reader {
    firn_schema_union *schemas;
    const char *location;
    const char *with_id, *without_id; /* a column of each kind; NULL: none so far */
    firn_map *ids;                    /* in use, to the column's name */
    firn_error *error;
} file_reader;

static firn_status read_node(file_reader *reader, const firn_union_path *path, int depth,
                             const firn_parquet_node *node, const firn_union_column **out);
static firn_status read_content(file_reader *reader, const firn_union_path *path, int depth,
                                const firn_parquet_node *node, firn_union_column *column);

static bool is_group(const firn_parquet_node *node) {
    return !node->element->has_type;
}

static bool is_repeated(const firn_parquet_node *node) {
    return node->element->repetition == FIRN_PARQUET_REPEATED;
}

static firn_status refuse(file_reader *reader, const firn_union_path *path, const char *problem) {
    return firn_union_fail(reader->schemas, reader->location, path, reader->error, "%s", problem);
}

static const firn_union_column **new_children(file_reader *reader, firn_union_column *column,
                                              size_t count) {
    const firn_union_column **children =
        firn_arena_alloc(reader->schemas->scratch, count, sizeof *children);
    column->children = children;
    column->child_count = count;
    return children;
}

static firn_status claim_id(file_reader *reader, const firn_union_path *path, int32_t id,
                            const char *name) {
    firn_slice key = firn_slice_of(&id, sizeof id);
    const char *other = firn_map_get(reader->ids, key, NULL);
    if (other == NULL) return firn_map_set(reader->ids, key, (void *)name, reader->error);
    return firn_union_fail(reader->schemas, reader->location, path, reader->error,
                           "column \"%s\" has the same field id, %d", other, id);
}

/* Every column must have an id, or none: readers go by ids as soon as a file has any, and find nothing where one is missing. */
static firn_status take_id(file_reader *reader, const firn_union_path *path,
                           const firn_parquet_node *node, firn_union_column *column) {
    bool has_id = node->element->has_field_id && node->element->field_id >= 0;
    column->id = has_id ? node->element->field_id : -1;
    const char *text = firn_union_path_text(path, reader->schemas->scratch);
    if (text == NULL) return firn_fail_memory(reader->error);
    if (has_id && reader->with_id == NULL) reader->with_id = text;
    if (!has_id && reader->without_id == NULL) reader->without_id = text;
    if (reader->with_id != NULL && reader->without_id != NULL) {
        return firn_fail(reader->error, FIRN_INVALID,
                         "%s: column \"%s\" has a field id and \"%s\" has none; readers would find "
                         "nulls in the latter. The file must be written anew, with all ids or none",
                         reader->location, reader->with_id, reader->without_id);
    }
    return has_id ? claim_id(reader, path, column->id, text) : FIRN_OK;
}

/* The group between a list or map and its members needs no id; old writers gave it one, which must not be another column's. */
static firn_status check_inner_group(file_reader *reader, const firn_union_path *path,
                                     const firn_parquet_node *node) {
    if (node->element->logical.kind == FIRN_PARQUET_LOGICAL_VARIANT) {
        return refuse(reader, path, "a variant where a list or map has its members");
    }
    if (!node->element->has_field_id || node->element->field_id < 0) return FIRN_OK;
    return claim_id(reader, path, node->element->field_id, node->element->name);
}

static firn_status read_struct(file_reader *reader, const firn_union_path *path, int depth,
                               const firn_parquet_node *node, firn_union_column *column) {
    column->kind = FIRN_TYPE_STRUCT;
    if (node->child_count == 0) return refuse(reader, path, "a group without columns");
    const firn_union_column **children = new_children(reader, column, node->child_count);
    if (children == NULL) return firn_fail_memory(reader->error);
    for (size_t i = 0; i < node->child_count; i++) {
        firn_union_path below = {.parent = path, .name = node->children[i]->element->name};
        FIRN_TRY(read_node(reader, &below, depth + 1, node->children[i], &children[i]));
    }
    return FIRN_OK;
}

/* Rules 1 to 4 of "Backward-compatibility rules": the repeated node is the element itself. */
static bool is_element(const firn_parquet_node *list, const firn_parquet_node *repeated) {
    if (!is_group(repeated) || repeated->child_count != 1) return true;
    if (is_repeated(repeated->children[0])) return true;
    const char *name = repeated->element->name;
    const char *parent = list->element->name;
    size_t length = strlen(parent);
    return strcmp(name, "array") == 0 ||
           (strncmp(name, parent, length) == 0 && strcmp(name + length, "_tuple") == 0);
}

/* A list's element, key or value, under the specification's name for it. */
static firn_status read_member(file_reader *reader, const firn_union_path *path, int depth,
                               const char *name, const firn_parquet_node *node, bool is_required,
                               const firn_union_column **out) {
    firn_union_column *member = firn_arena_alloc(reader->schemas->scratch, 1, sizeof *member);
    if (member == NULL) return firn_fail_memory(reader->error);
    firn_union_path below = {.parent = path, .name = name};
    member->name = name;
    member->location = reader->location;
    member->optional = !is_required;
    FIRN_TRY(take_id(reader, &below, node, member));
    *out = member;
    return read_content(reader, &below, depth + 1, node, member);
}

static firn_status read_list(file_reader *reader, const firn_union_path *path, int depth,
                             const firn_parquet_node *node, firn_union_column *column) {
    column->kind = FIRN_TYPE_LIST;
    if (node->child_count != 1 || !is_repeated(node->children[0])) {
        return refuse(reader, path, "a list whose structure none of Parquet's rules describes");
    }
    const firn_parquet_node *repeated = node->children[0];
    bool two_level = is_element(node, repeated);
    const firn_parquet_node *element = two_level ? repeated : repeated->children[0];
    if (!two_level) FIRN_TRY(check_inner_group(reader, path, repeated));
    const firn_union_column **children = new_children(reader, column, 1);
    if (children == NULL) return firn_fail_memory(reader->error);
    bool required = two_level || element->element->repetition == FIRN_PARQUET_REQUIRED;
    FIRN_TRY(read_member(reader, path, depth, "element", element, required, &children[0]));
    return FIRN_OK;
}

static firn_status read_map(file_reader *reader, const firn_union_path *path, int depth,
                            const firn_parquet_node *node, firn_union_column *column) {
    column->kind = FIRN_TYPE_MAP;
    bool fits =
        node->child_count == 1 && is_repeated(node->children[0]) && is_group(node->children[0]);
    const firn_parquet_node *pair = fits ? node->children[0] : NULL;
    if (pair != NULL && pair->child_count == 1) {
        return refuse(reader, path, "a map without values; Iceberg has none");
    }
    fits = fits && pair->child_count == 2 && !is_repeated(pair->children[0]) &&
           !is_repeated(pair->children[1]);
    if (!fits) {
        return refuse(reader, path, "a map whose structure none of Parquet's rules describes");
    }
    FIRN_TRY(check_inner_group(reader, path, pair));
    const firn_union_column **children = new_children(reader, column, 2);
    if (children == NULL) return firn_fail_memory(reader->error);
    bool required = pair->children[1]->element->repetition == FIRN_PARQUET_REQUIRED;
    FIRN_TRY(read_member(reader, path, depth, "key", pair->children[0], true, &children[0]));
    FIRN_TRY(read_member(reader, path, depth, "value", pair->children[1], required, &children[1]));
    return FIRN_OK;
}

static bool is_variant_part(const firn_parquet_node *node, const char *name) {
    const firn_parquet_schema_element *element = node->element;
    return element->has_type && element->type == FIRN_PARQUET_BYTE_ARRAY &&
           element->repetition == FIRN_PARQUET_REQUIRED &&
           element->logical.kind == FIRN_PARQUET_LOGICAL_NONE && strcmp(element->name, name) == 0;
}

static firn_status read_variant(file_reader *reader, const firn_union_path *path,
                                const firn_parquet_node *node, firn_union_column *column) {
    if (reader->schemas->format_version < 3) {
        return refuse(reader, path,
                      "variants are there from format version 3 on; make the table with "
                      "--format-version 3");
    }
    /* A shredded variant is found by its id when it is read. */
    bool plain = node->child_count == 2 && is_variant_part(node->children[0], "metadata") &&
                 is_variant_part(node->children[1], "value");
    if (column->id < 0 && !plain) {
        return refuse(reader, path, "a shredded variant in a file without field ids can't be read");
    }
    if (node->leaf_count < 1) return refuse(reader, path, "a group without columns");
    column->leaf = node->first_leaf;
    column->kind = FIRN_TYPE_VARIANT;
    column->type = firn_primitive_type(FIRN_TYPE_VARIANT);
    return FIRN_OK;
}

static firn_status read_leaf(file_reader *reader, const firn_union_path *path,
                             const firn_parquet_node *node, firn_union_column *column) {
    firn_schema_union *schemas = reader->schemas;
    column->leaf = node->first_leaf;
    const char *problem =
        firn_union_leaf(node->element, schemas->format_version, schemas->scratch, column);
    if (problem != NULL) return refuse(reader, path, problem);
    return column->type == NULL ? firn_fail_memory(reader->error) : FIRN_OK;
}

/* What a column is, its repetition left aside. */
static firn_status read_content(file_reader *reader, const firn_union_path *path, int depth,
                                const firn_parquet_node *node, firn_union_column *column) {
    if (depth > FIRN_UNION_DEEPEST) return refuse(reader, path, "nested too deep");
    if (!is_group(node)) return read_leaf(reader, path, node, column);
    switch (node->element->logical.kind) {
    case FIRN_PARQUET_LOGICAL_NONE: return read_struct(reader, path, depth, node, column);
    case FIRN_PARQUET_LOGICAL_LIST: return read_list(reader, path, depth, node, column);
    case FIRN_PARQUET_LOGICAL_MAP:
    case FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE: return read_map(reader, path, depth, node, column);
    case FIRN_PARQUET_LOGICAL_VARIANT: return read_variant(reader, path, node, column);
    default: return refuse(reader, path, "a group with an annotation that is none for groups");
    }
}

/* A repeated column outside of a list: a required list of required elements ("Lists"). */
static firn_status read_bare_list(file_reader *reader, const firn_union_path *path, int depth,
                                  const firn_parquet_node *node, firn_union_column *column) {
    const firn_union_column **children = new_children(reader, column, 1);
    firn_union_column *element = firn_arena_alloc(reader->schemas->scratch, 1, sizeof *element);
    if (children == NULL || element == NULL) return firn_fail_memory(reader->error);
    firn_union_path below = {.parent = path, .name = "element"};
    *element = (firn_union_column){.name = "element", .id = -1, .location = reader->location};
    column->kind = FIRN_TYPE_LIST;
    column->note = "a repeated column without a list around it";
    children[0] = element;
    FIRN_TRY(read_content(reader, &below, depth + 1, node, element));
    return FIRN_OK;
}

static firn_status read_node(file_reader *reader, const firn_union_path *path, int depth,
                             const firn_parquet_node *node, const firn_union_column **out) {
    firn_union_column *column = firn_arena_alloc(reader->schemas->scratch, 1, sizeof *column);
    if (column == NULL) return firn_fail_memory(reader->error);
    *out = column;
    column->name = node->element->name;
    column->location = reader->location;
    column->optional = node->element->repetition == FIRN_PARQUET_OPTIONAL;
    if (*column->name == '\0') return refuse(reader, path, "a column without a name");
    FIRN_TRY(take_id(reader, path, node, column));
    return is_repeated(node) ? read_bare_list(reader, path, depth, node, column)
                             : read_content(reader, path, depth, node, column);
}

firn_status firn_union_file_columns(firn_schema_union *schemas, const firn_parquet_file *file,
                                    const char *location, const firn_union_column **out,
                                    firn_error *error) {
    const firn_parquet_node *node = file->schema->root;
    if (node->child_count == 0) {
        return firn_fail(error, FIRN_INVALID, "%s: the file has no columns", location);
    }
    file_reader reader = {
        .schemas = schemas, .location = location, .ids = firn_map_new(), .error = error};
    firn_status status = FIRN_OK;
    firn_union_column *root = firn_arena_alloc(schemas->scratch, 1, sizeof *root);
    if (root == NULL || reader.ids == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    /* The root's annotation means nothing. */
    FIRN_CHECK(read_struct(&reader, NULL, 0, node, root));
    *out = root;
out:
    firn_map_free(reader.ids);
    return status;
}
