#include "lake/schema_union_internal.h"

static firn_status new_members(firn_union_merge *merge, const firn_union_path *path,
                               const firn_union_column *file, firn_union_column *column) {
    const firn_union_column **children =
        firn_arena_alloc(merge->schemas->arena, file->child_count, sizeof *children);
    if (children == NULL) return firn_fail_memory(merge->error);
    for (size_t i = 0; i < file->child_count; i++) {
        const firn_union_column *member = file->children[i];
        firn_union_path below = {.parent = path, .name = member->name};
        const firn_union_column *other = firn_union_same_letters(file->children, i, member->name);
        if (file->kind == FIRN_TYPE_STRUCT && other != NULL) {
            return firn_union_refuse_letters(merge, &below, other);
        }
        FIRN_TRY(firn_union_new_column(merge, &below, member, &children[i]));
    }
    column->children = children;
    column->child_count = file->child_count;
    return FIRN_OK;
}

/*
 * Optional, whatever the file says: files to come may have nulls. Keys of maps are never null ("Nested Types"); the schema's
 * own form leaves no choice there.
 */
firn_status firn_union_new_column(firn_union_merge *merge, const firn_union_path *path,
                                  const firn_union_column *file, const firn_union_column **out) {
    firn_schema_union *schemas = merge->schemas;
    firn_union_column *column = firn_arena_alloc(schemas->arena, 1, sizeof *column);
    if (column == NULL) return firn_fail_memory(merge->error);
    if (file->note != NULL) FIRN_TRY(firn_union_tell(merge, path, file->note, merge->location));
    column->name = firn_arena_strdup(schemas->arena, file->name);
    column->id = file->id;
    column->kind = file->kind;
    column->location = merge->location;
    if (file->type != NULL) column->type = firn_union_copy_type(file->type, schemas->arena);
    if (column->name == NULL || (file->type != NULL && column->type == NULL)) {
        return firn_fail_memory(merge->error);
    }
    if (file->child_count > 0) FIRN_TRY(new_members(merge, path, file, column));
    *out = column;
    return FIRN_OK;
}
