#include "lake/schema_union.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "iceberg/primitive.h"
#include "lake/columns.h"
#include "lake/schema_union_internal.h"

/* A key of 100,000 columns with long names stays below it. */
#define LARGEST_KEY ((size_t)256 << 20)

const char *firn_union_path_text(const firn_union_path *path, firn_arena *arena) {
    if (path->parent == NULL) return firn_arena_strdup(arena, path->name);
    const char *parent = firn_union_path_text(path->parent, arena);
    return parent == NULL ? NULL : firn_arena_format(arena, "%s.%s", parent, path->name);
}

firn_status firn_union_fail(const firn_schema_union *schemas, const char *location,
                            const firn_union_path *path, firn_error *error, const char *format,
                            ...) {
    char message[FIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *column = firn_union_path_text(path, schemas->scratch);
    return firn_fail(error, FIRN_INVALID, "%s: column \"%s\": %s", location,
                     column == NULL ? path->name : column, message);
}

firn_status firn_schema_union_new(const firn_schema *base, int32_t last_column_id,
                                  int format_version, const firn_name_mapping *mapping,
                                  firn_schema_union **out, firn_error *error) {
    firn_schema_union *schemas = firn_alloc_zeroed(1, sizeof *schemas);
    if (schemas == NULL) return firn_fail_memory(error);
    schemas->arena = firn_arena_new();
    schemas->scratch = firn_arena_new();
    schemas->made = firn_arena_new();
    schemas->seen = firn_map_new();
    schemas->key = firn_buffer_with_maximum(LARGEST_KEY);
    schemas->base = base;
    schemas->mapping = mapping;
    schemas->format_version = format_version;
    schemas->last_column_id = last_column_id;
    bool made = schemas->arena != NULL && schemas->scratch != NULL && schemas->made != NULL &&
                schemas->seen != NULL;
    if (made) schemas->root = firn_union_of_schema(base, schemas->arena);
    if (schemas->root == NULL) {
        firn_schema_union_free(schemas);
        return firn_fail_memory(error);
    }
    schemas->base_root = schemas->root;
    firn_schema_union_mark(schemas);
    *out = schemas;
    return FIRN_OK;
}

void firn_schema_union_free(firn_schema_union *schemas) {
    if (schemas == NULL) return;
    firn_arena_free(schemas->arena);
    firn_arena_free(schemas->scratch);
    firn_arena_free(schemas->made);
    firn_map_free(schemas->seen);
    firn_buffer_release(&schemas->key);
    firn_vector_release(&schemas->surprises);
    firn_free(schemas);
}

/* Ids that are still to be given must fit, too. */
static firn_status check_ids(const firn_schema_union *schemas, const firn_union_column *root,
                             const char *location, firn_error *error) {
    int64_t last = firn_union_highest_id(root);
    if (last < schemas->last_column_id) last = schemas->last_column_id;
    if (last + firn_union_without_id(root) <= FIRN_HIGHEST_FIELD_ID) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s: no field ids are left above the file's highest, %lld", location,
                     (long long)last);
}

/* The null count of a leaf over all row groups; -1: the footer does not say. */
static int64_t nulls_of(const firn_parquet_file *file, size_t leaf) {
    int64_t count = 0;
    for (size_t i = 0; file->metadata != NULL && i < file->metadata->row_group_count; i++) {
        const firn_parquet_statistics *statistics =
            &file->metadata->row_groups[i].columns[leaf].statistics;
        if (!statistics->has_null_count || statistics->null_count < 0) return -1;
        if (__builtin_add_overflow(count, statistics->null_count, &count)) return -1;
    }
    return count;
}

/* A null in a column that the table requires would make the table unreadable at that row. */
static firn_status check_nulls(const firn_union_guard *guard, const firn_parquet_file *file,
                               const char *location, firn_error *error) {
    for (size_t i = 0; i < guard->count; i++) {
        size_t index = (size_t)guard->leaves[i];
        const firn_parquet_leaf *leaf = &file->schema->leaves[index];
        int64_t nulls = leaf->maximum_definition_level == 0 ? 0 : nulls_of(file, index);
        if (nulls == 0) continue;
        return firn_fail(error, FIRN_INVALID, "%s: column \"%s\": the table requires it, and %s",
                         location, leaf->dotted_path,
                         nulls > 0 ? "the file has nulls in it"
                                   : "the file's footer does not say whether it has nulls in it");
    }
    return FIRN_OK;
}

/* What can fail comes first, so that a failure leaves the union as it was. */
static firn_status accept(firn_union_merge *merge, const firn_union_column *root,
                          firn_union_guard *guard, firn_error *error) {
    firn_schema_union *schemas = merge->schemas;
    FIRN_TRY(firn_vector_reserve(&schemas->surprises, error,
                                 schemas->surprises.count + merge->surprises.count));
    FIRN_TRY(firn_map_set(schemas->seen, firn_buffer_slice(&schemas->key), guard, error));
    for (size_t i = 0; i < merge->surprises.count; i++) {
        schemas->surprises.items[schemas->surprises.count++] = merge->surprises.items[i];
    }
    if (schemas->root != root) schemas->schema = NULL;
    schemas->root = root;
    if (schemas->first_location == NULL) schemas->first_location = merge->location;
    return FIRN_OK;
}

static firn_status take_in(firn_union_merge *merge, const firn_parquet_file *file,
                           firn_error *error) {
    firn_schema_union *schemas = merge->schemas;
    const firn_union_column *columns = NULL;
    const firn_union_column *root = NULL;
    FIRN_TRY(firn_union_file_columns(schemas, file, merge->location, &columns, error));
    FIRN_TRY(firn_union_merge_file(merge, columns, &root));
    FIRN_TRY(check_ids(schemas, root, merge->location, error));
    if (root != schemas->root) {
        FIRN_TRY(firn_union_check_names(schemas, root, merge->location, error));
    }
    firn_union_guard *guard = firn_arena_alloc(schemas->arena, 1, sizeof *guard);
    if (guard == NULL) return firn_fail_memory(error);
    guard->count = merge->required.count;
    if (guard->count > 0) {
        guard->leaves = firn_arena_memdup(schemas->arena, merge->required.items,
                                          guard->count * sizeof *guard->leaves);
        if (guard->leaves == NULL) return firn_fail_memory(error);
    }
    FIRN_TRY(check_nulls(guard, file, merge->location, error));
    return accept(merge, root, guard, error);
}

firn_status firn_schema_union_add(firn_schema_union *schemas, const firn_parquet_file *file,
                                  const char *location, firn_error *error) {
    firn_buffer_clear(&schemas->key);
    FIRN_TRY(firn_lake_columns_key(file, &schemas->key, error));
    const firn_union_guard *known =
        firn_map_get(schemas->seen, firn_buffer_slice(&schemas->key), NULL);
    if (known != NULL) return check_nulls(known, file, location, error);
    firn_arena_clear(schemas->scratch);
    firn_union_merge merge = {.schemas = schemas,
                              .location = firn_arena_strdup(schemas->arena, location),
                              .error = error};
    if (merge.location == NULL) return firn_fail_memory(error);
    firn_status status = take_in(&merge, file, error);
    firn_vector_release(&merge.surprises);
    firn_vector_release(&merge.required);
    return status;
}

void firn_schema_union_mark(firn_schema_union *schemas) {
    schemas->mark.root = schemas->root;
    schemas->mark.first_location = schemas->first_location;
    schemas->mark.surprise_count = schemas->surprises.count;
}

firn_status firn_schema_union_go_back(firn_schema_union *schemas, firn_error *error) {
    /* Files that come next are looked at in full again. */
    firn_map *seen = firn_map_new();
    if (seen == NULL) return firn_fail_memory(error);
    firn_map_free(schemas->seen);
    schemas->seen = seen;
    if (schemas->root != schemas->mark.root) schemas->schema = NULL;
    schemas->root = schemas->mark.root;
    schemas->first_location = schemas->mark.first_location;
    schemas->surprises.count = schemas->mark.surprise_count;
    return FIRN_OK;
}

firn_status firn_schema_union_add_column(firn_schema_union *schemas, const char *name,
                                         const firn_type *type, firn_error *error) {
    const firn_union_column *root = schemas->root;
    const firn_union_column *other =
        firn_union_same_letters(root->children, root->child_count, name);
    if (other != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "column \"%s\" of the paths: there is a column \"%s\" already", name,
                         other->name);
    }
    if (firn_type_is_nested(type->kind)) {
        return firn_fail(error, FIRN_INVALID,
                         "column \"%s\" of the paths: paths hold no structs, lists and maps", name);
    }
    firn_arena *arena = schemas->arena;
    size_t count = root->child_count;
    firn_union_column *column = firn_arena_alloc(arena, 1, sizeof *column);
    firn_union_column *copy = firn_arena_memdup(arena, root, sizeof *root);
    const firn_union_column **children = firn_arena_alloc(arena, count + 1, sizeof *children);
    if (column == NULL || copy == NULL || children == NULL) return firn_fail_memory(error);
    *column = (firn_union_column){.name = firn_arena_strdup(arena, name),
                                  .id = -1,
                                  .kind = type->kind,
                                  .type = firn_union_copy_type(type, arena),
                                  .path_only = true};
    if (column->name == NULL || column->type == NULL) return firn_fail_memory(error);
    if (count > 0) memcpy(children, root->children, count * sizeof *children);
    children[count] = column;
    copy->children = children;
    copy->child_count = count + 1;
    FIRN_TRY(check_ids(schemas, copy, name, error));
    FIRN_TRY(firn_union_check_names(schemas, copy, NULL, error));
    schemas->root = copy;
    schemas->schema = NULL;
    return FIRN_OK;
}

const firn_schema *firn_schema_union_schema(firn_schema_union *schemas) {
    if (schemas->schema != NULL) return schemas->schema;
    /* Ids that were once told stay. */
    const firn_union_column *root =
        firn_union_with_ids(schemas->root, schemas->last_column_id, schemas->arena);
    if (root == NULL) return NULL;
    schemas->root = root;
    firn_arena_clear(schemas->made);
    schemas->schema = firn_union_make_schema(root, schemas->base, schemas->made);
    return schemas->schema;
}

bool firn_schema_union_changed(const firn_schema_union *schemas) {
    return schemas->root != schemas->base_root;
}

int32_t firn_schema_union_last_column_id(const firn_schema_union *schemas) {
    int64_t highest = firn_union_highest_id(schemas->root);
    if (highest < schemas->last_column_id) highest = schemas->last_column_id;
    return (int32_t)(highest + firn_union_without_id(schemas->root));
}

const firn_schema_surprise *firn_schema_union_surprises(const firn_schema_union *schemas,
                                                        size_t *count) {
    *count = schemas->surprises.count;
    return schemas->surprises.items;
}
