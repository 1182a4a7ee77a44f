#include <string.h>

#include "data/projection.h"
#include "iceberg/primitive.h"
#include "lake/schema_union_internal.h"

/* A file's columns beside those that are there. Nothing that is there is changed: what differs is made anew. */

/* One struct's fields while a file's are taken in. */
typedef struct member_list {
    const firn_union_column *have;
    FIRN_VECTOR(const firn_union_column *) columns; /* those of `have` first */
    FIRN_VECTOR(const firn_union_column *) taken;   /* by column of `have`: the file's, or NULL */
    const firn_name_mapping *scope;                 /* NULL: the mapping says nothing here */
    bool changed;
    size_t left_out;
    size_t reserved; /* of those, the ones with ids of metadata columns */
} member_list;

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(const char *a, const char *b) {
    for (; *a != '\0' && lower(*a) == lower(*b); a++, b++) {
    }
    return lower(*a) == lower(*b);
}

const firn_union_column *firn_union_same_letters(const firn_union_column *const *list, size_t count,
                                                 const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (same_letters(list[i]->name, name)) return list[i];
    }
    return NULL;
}

static bool is_told(const firn_schema_surprise *list, size_t count, const char *column,
                    const char *what) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].column, column) == 0 && strcmp(list[i].what, what) == 0) return true;
    }
    return false;
}

firn_status firn_union_tell(firn_union_merge *merge, const firn_union_path *path, const char *what,
                            const char *location) {
    firn_schema_union *schemas = merge->schemas;
    const char *column = firn_union_path_text(path, schemas->scratch);
    if (column == NULL || what == NULL) return firn_fail_memory(merge->error);
    if (is_told(schemas->surprises.items, schemas->surprises.count, column, what) ||
        is_told(merge->surprises.items, merge->surprises.count, column, what)) {
        return FIRN_OK;
    }
    firn_schema_surprise surprise = {.column = firn_arena_strdup(schemas->arena, column),
                                     .what = firn_arena_strdup(schemas->arena, what),
                                     .location = location};
    if (surprise.column == NULL || surprise.what == NULL) return firn_fail_memory(merge->error);
    return firn_vector_push(&merge->surprises, merge->error, surprise);
}

const char *firn_union_origin(const firn_union_column *have) {
    if (have->location != NULL) return have->location;
    return have->path_only ? "what the paths say" : "the table";
}

static firn_status refuse_types(firn_union_merge *merge, const firn_union_path *path,
                                const firn_union_column *have, const firn_union_column *file) {
    return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                           "the file has %s and %s has %s; there is no promotion between them",
                           firn_union_type_text(file), firn_union_origin(have),
                           firn_union_type_text(have));
}

static const firn_union_column *copy_of(firn_union_merge *merge, firn_union_column copy) {
    return firn_arena_memdup(merge->schemas->arena, &copy, sizeof copy);
}

static firn_status merge_column(firn_union_merge *merge, const firn_union_path *path,
                                const firn_name_mapping *scope, const firn_union_column *have,
                                const firn_union_column *file, const firn_union_column **out);

/* What the file is silent about, the table may know: bytes without an annotation, and INT96, which does not tell instants from local times. */
static bool is_told_by_table(const firn_union_column *have, const firn_union_column *file) {
    if (have->base == NULL || !file->bare) return false;
    switch (have->kind) {
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return file->kind == FIRN_TYPE_BINARY;
    case FIRN_TYPE_UUID: return file->kind == FIRN_TYPE_FIXED && file->type->length == 16;
    case FIRN_TYPE_TIMESTAMP: return file->kind == FIRN_TYPE_TIMESTAMPTZ;
    default: return false;
    }
}

/*
 * A date of a table that is there may be what a partition is made of; day(date) and day(timestamp) are alike, bucket's hashes
 * are not ("Schema Evolution"). So only dates of files become timestamps.
 */
static bool may_promote(const firn_union_merge *merge, const firn_union_column *have,
                        const firn_type *to) {
    if (have->kind == FIRN_TYPE_DATE && have->base != NULL && to->kind != FIRN_TYPE_DATE) {
        return false;
    }
    return firn_type_can_promote(have->type, to, merge->schemas->format_version);
}

static firn_status promote(firn_union_merge *merge, const firn_union_path *path,
                           const firn_union_column *have, const firn_union_column *file,
                           firn_union_column *copy) {
    firn_schema_union *schemas = merge->schemas;
    const char *what = firn_arena_format(schemas->scratch, "promoted from %s to %s",
                                         have->type->text, file->type->text);
    FIRN_TRY(firn_union_tell(merge, path, what, merge->location));
    copy->type = firn_union_copy_type(file->type, schemas->arena);
    copy->kind = file->kind;
    copy->location = merge->location;
    return copy->type == NULL ? firn_fail_memory(merge->error) : FIRN_OK;
}

static firn_status merge_leaf(firn_union_merge *merge, const firn_union_path *path,
                              const firn_union_column *have, const firn_union_column *file,
                              firn_union_column *copy) {
    if (firn_type_equal(have->type, file->type)) return FIRN_OK;
    if (is_told_by_table(have, file)) return FIRN_OK;
    if (may_promote(merge, have, file->type)) return promote(merge, path, have, file, copy);
    if (firn_type_can_promote(file->type, have->type, merge->schemas->format_version)) {
        return FIRN_OK;
    }
    return refuse_types(merge, path, have, file);
}

/* The first entry with this id; NULL: none. */
static const firn_mapped_field *mapped_id(const firn_name_mapping *scope, int32_t id) {
    size_t count = 0;
    const firn_mapped_field *const *found = firn_name_mapping_find_id(scope, id, &count);
    return count == 0 ? NULL : found[0];
}

/* Lists and maps: "element", "key" and "value". */
static firn_status merge_inner(firn_union_merge *merge, const firn_union_path *path,
                               const firn_name_mapping *scope, const firn_union_column *have,
                               const firn_union_column *file, firn_union_column *copy) {
    const firn_union_column *children[2] = {NULL, NULL};
    bool changed = false;
    for (size_t i = 0; i < have->child_count; i++) {
        const firn_union_column *mine = have->children[i];
        firn_union_path below = {.parent = path, .name = mine->name, .nullable = true};
        FIRN_TRY(merge_column(merge, &below,
                              firn_name_mapping_below(firn_name_mapping_find(scope, mine->name)),
                              mine, file->children[i], &children[i]));
        changed = changed || children[i] != mine;
    }
    if (!changed) return FIRN_OK;
    copy->children =
        firn_arena_memdup(merge->schemas->arena, children, have->child_count * sizeof *children);
    return copy->children == NULL ? firn_fail_memory(merge->error) : FIRN_OK;
}

/* Whether two types are the same, ids and names of files left aside. */
static bool is_alike(const firn_union_column *a, const firn_union_column *b) {
    if (a->kind != b->kind || a->child_count != b->child_count) return false;
    if (a->type != NULL && !firn_type_equal(a->type, b->type)) return false;
    for (size_t i = 0; i < a->child_count; i++) {
        if (a->kind == FIRN_TYPE_STRUCT &&
            strcmp(a->children[i]->name, b->children[i]->name) != 0) {
            return false;
        }
        if (!is_alike(a->children[i], b->children[i])) return false;
    }
    return true;
}

/* Keys are what a map is looked up by; fields may not be added to them ("Schema Evolution" changes structs, and values only). */
static firn_status check_key(firn_union_merge *merge, const firn_union_path *path,
                             const firn_union_column *have, const firn_union_column *file) {
    if (is_alike(have, file) || is_told_by_table(have, file)) return FIRN_OK;
    firn_union_path below = {.parent = path, .name = "key"};
    return firn_union_fail(merge->schemas, merge->location, &below, merge->error,
                           "the file has %s and %s has %s; keys of maps can't be promoted",
                           firn_union_type_text(file), firn_union_origin(have),
                           firn_union_type_text(have));
}

static firn_status check_id(firn_union_merge *merge, const firn_union_path *path,
                            const firn_union_column *have, const firn_union_column *file) {
    if (file->id < 0 || file->id == have->id) return FIRN_OK;
    if (have->id >= 0) {
        return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                               "the file gives it field id %d, and %s has it as %d; such a file "
                               "can't be registered in place",
                               file->id, firn_union_origin(have), have->id);
    }
    if (firn_union_find_id(merge->schemas->root, file->id) == NULL) return FIRN_OK;
    return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                           "the file gives it field id %d, which is another column's", file->id);
}

static firn_status merge_members(firn_union_merge *merge, const firn_union_path *path,
                                 const firn_name_mapping *scope, const firn_union_column *have,
                                 const firn_union_column *file, firn_union_column *copy);

static firn_status merge_content(firn_union_merge *merge, const firn_union_path *path,
                                 const firn_name_mapping *scope, const firn_union_column *have,
                                 const firn_union_column *file, firn_union_column *copy) {
    bool nested = firn_type_is_nested(have->kind);
    if (nested || firn_type_is_nested(file->kind)) {
        if (have->kind != file->kind) return refuse_types(merge, path, have, file);
    }
    if (have->kind == FIRN_TYPE_STRUCT) return merge_members(merge, path, scope, have, file, copy);
    if (have->kind == FIRN_TYPE_MAP) {
        FIRN_TRY(check_key(merge, path, have->children[0], file->children[0]));
    }
    return nested ? merge_inner(merge, path, scope, have, file, copy)
                  : merge_leaf(merge, path, have, file, copy);
}

/* From format version 3 on a table may have columns without a type, which may get any. */
static firn_status give_type(firn_union_merge *merge, const firn_union_path *path,
                             const firn_union_column *have, const firn_union_column *file,
                             const firn_union_column **out) {
    const firn_union_column *made = NULL;
    FIRN_TRY(firn_union_new_column(merge, path, file, &made));
    const char *what = firn_arena_format(merge->schemas->scratch, "promoted from unknown to %s",
                                         firn_union_type_text(file));
    FIRN_TRY(firn_union_tell(merge, path, what, merge->location));
    firn_union_column copy = *made;
    copy.name = have->name;
    copy.id = have->id >= 0 ? have->id : made->id;
    copy.base = have->base;
    *out = copy_of(merge, copy);
    return *out == NULL ? firn_fail_memory(merge->error) : FIRN_OK;
}

static firn_status merge_column(firn_union_merge *merge, const firn_union_path *path,
                                const firn_name_mapping *scope, const firn_union_column *have,
                                const firn_union_column *file, const firn_union_column **out) {
    *out = have;
    FIRN_TRY(check_id(merge, path, have, file));
    if (file->note != NULL) {
        FIRN_TRY(firn_union_tell(merge, path, file->note, merge->location));
    }
    firn_union_column copy = *have;
    if (copy.id < 0) copy.id = file->id;
    copy.path_only = false;
    if (have->kind == FIRN_TYPE_UNKNOWN) return give_type(merge, path, have, file, out);
    FIRN_TRY(merge_content(merge, path, scope, have, file, &copy));
    bool changed = copy.id != have->id || copy.path_only != have->path_only ||
                   copy.type != have->type || copy.children != have->children;
    if (!changed) return FIRN_OK;
    *out = copy_of(merge, copy);
    return *out == NULL ? firn_fail_memory(merge->error) : FIRN_OK;
}

#define NOT_THERE SIZE_MAX

static size_t find_by_id(const firn_union_column *have, int32_t id) {
    for (size_t i = 0; i < have->child_count; i++) {
        if (have->children[i]->id == id) return i;
    }
    return NOT_THERE;
}

static size_t find_by_name(const firn_union_column *have, const char *name) {
    for (size_t i = 0; i < have->child_count; i++) {
        if (strcmp(have->children[i]->name, name) == 0) return i;
    }
    return NOT_THERE;
}

static firn_status leave_out(firn_union_merge *merge, member_list *members,
                             const firn_union_path *path, const char *why) {
    members->left_out++;
    return firn_union_tell(merge, path, why, merge->location);
}

/*
 * A column is called as the table calls it, or as its mapping says it was called. Another name under a known id is more
 * likely the id of another writer's table, and its values would be taken for another column's.
 */
static firn_status check_name(firn_union_merge *merge, const member_list *members,
                              const firn_union_path *path, const firn_union_column *have) {
    if (strcmp(path->name, have->name) == 0) return FIRN_OK;
    const firn_mapped_field *mapped = firn_name_mapping_find(members->scope, path->name);
    if (mapped != NULL && mapped->has_field_id && mapped->field_id == have->id) return FIRN_OK;
    if (have->base != NULL) {
        const char *written = firn_parquet_column_name(have->name, merge->schemas->scratch);
        if (written == NULL) return firn_fail_memory(merge->error);
        if (strcmp(written, path->name) == 0) return FIRN_OK;
    }
    return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                           "the file gives it field id %d, which is that of \"%s\" in %s; where it "
                           "is the same column under an older name, add that name to "
                           "schema.name-mapping.default",
                           have->id, have->name, firn_union_origin(have));
}

/* The place of a file's column that has an id; NOT_THERE: it is new, or left out. */
static firn_status place_by_id(firn_union_merge *merge, member_list *members,
                               const firn_union_path *path, const firn_union_column *file,
                               size_t *place, bool *left_out) {
    firn_schema_union *schemas = merge->schemas;
    *place = find_by_id(members->have, file->id);
    if (*place != NOT_THERE) {
        return check_name(merge, members, path, members->have->children[*place]);
    }
    if (file->id > FIRN_HIGHEST_FIELD_ID) {
        *left_out = true;
        members->reserved++;
        return leave_out(merge, members, path, "left out: a metadata column");
    }
    if (firn_union_find_id(schemas->root, file->id) != NULL) {
        return firn_union_fail(schemas, merge->location, path, merge->error,
                               "the file gives it field id %d, which is another column's",
                               file->id);
    }
    *place = find_by_name(members->have, file->name);
    bool is_new = schemas->base == NULL || file->id > schemas->last_column_id;
    if (*place != NOT_THERE || is_new) return FIRN_OK;
    *left_out = true;
    return leave_out(merge, members, path,
                     "left out: its field id is of a column that was dropped");
}

static firn_status place_by_name(firn_union_merge *merge, member_list *members,
                                 const firn_union_path *path, const firn_union_column *file,
                                 size_t *place, bool *left_out) {
    const firn_mapped_field *mapped = firn_name_mapping_find(members->scope, file->name);
    if (mapped == NULL) {
        *place = find_by_name(members->have, file->name);
        return FIRN_OK;
    }
    *place = mapped->has_field_id ? find_by_id(members->have, mapped->field_id) : NOT_THERE;
    if (*place == NOT_THERE) {
        *left_out = true;
        return leave_out(merge, members, path,
                         "left out: the name mapping has it for no column of the table");
    }
    const char *name = members->have->children[*place]->name;
    if (strcmp(name, file->name) == 0) return FIRN_OK;
    firn_union_path at = {.parent = path->parent, .name = name};
    const char *what =
        firn_arena_format(merge->schemas->scratch, "called \"%s\" in files", file->name);
    return firn_union_tell(merge, &at, what, merge->location);
}

firn_status firn_union_refuse_letters(firn_union_merge *merge, const firn_union_path *path,
                                      const firn_union_column *other) {
    if (strcmp(path->name, other->name) == 0) {
        return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                               "the file has two columns of this name; readers can't tell one from "
                               "the other, and the file must be written anew");
    }
    return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                           "%s has \"%s\"; names that differ in letter case alone are one column "
                           "to many engines",
                           firn_union_origin(other), other->name);
}

static firn_status add_member(firn_union_merge *merge, member_list *members,
                              const firn_union_path *path, const firn_union_column *file) {
    firn_schema_union *schemas = merge->schemas;
    const firn_union_column *other =
        firn_union_same_letters(members->columns.items, members->columns.count, file->name);
    if (other != NULL) return firn_union_refuse_letters(merge, path, other);
    const firn_union_column *made = NULL;
    FIRN_TRY(firn_union_new_column(merge, path, file, &made));
    members->changed = true;
    FIRN_TRY(firn_vector_push(&members->columns, merge->error, made));
    if (schemas->base != NULL) return firn_union_tell(merge, path, "new column", merge->location);
    if (schemas->first_location == NULL) return FIRN_OK;
    return firn_union_tell(merge, path, "missing in files", schemas->first_location);
}

static firn_status merge_member(firn_union_merge *merge, member_list *members, size_t place,
                                const firn_union_path *parent, const firn_union_column *file) {
    const firn_union_column *have = members->have->children[place];
    bool nullable = !have->required || (parent != NULL && parent->nullable);
    firn_union_path path = {.parent = parent, .name = have->name, .nullable = nullable};
    if (members->taken.items[place] != NULL) {
        return firn_union_fail(merge->schemas, merge->location, &path, merge->error,
                               "the file has two columns for it, \"%s\" and \"%s\"",
                               members->taken.items[place]->name, file->name);
    }
    members->taken.items[place] = file;
    if (have->required && file->optional) {
        FIRN_TRY(firn_union_tell(merge, &path, "required in the table, optional in files",
                                 merge->location));
    }
    if (!nullable && !firn_type_is_nested(file->kind)) {
        FIRN_TRY(firn_vector_push(&merge->required, merge->error, file->leaf));
    }
    const firn_mapped_field *mapped =
        file->id < 0 ? firn_name_mapping_find(members->scope, file->name) : NULL;
    if (mapped == NULL && have->id >= 0) mapped = mapped_id(members->scope, have->id);
    const firn_union_column *merged = NULL;
    FIRN_TRY(merge_column(merge, &path, firn_name_mapping_below(mapped), have, file, &merged));
    members->changed = members->changed || merged != have;
    members->columns.items[place] = merged;
    return FIRN_OK;
}

static firn_status take_member(firn_union_merge *merge, member_list *members,
                               const firn_union_path *parent, const firn_union_column *file) {
    firn_union_path path = {.parent = parent, .name = file->name};
    size_t place = NOT_THERE;
    bool left_out = false;
    FIRN_TRY(file->id >= 0 ? place_by_id(merge, members, &path, file, &place, &left_out)
                           : place_by_name(merge, members, &path, file, &place, &left_out));
    if (left_out) return FIRN_OK;
    if (place != NOT_THERE) return merge_member(merge, members, place, parent, file);
    return add_member(merge, members, &path, file);
}

static firn_status tell_missing(firn_union_merge *merge, const member_list *members,
                                const firn_union_path *parent) {
    for (size_t i = 0; i < members->have->child_count; i++) {
        const firn_union_column *have = members->have->children[i];
        if (members->taken.items[i] != NULL || have->path_only) continue;
        firn_union_path path = {.parent = parent, .name = have->name};
        FIRN_TRY(firn_union_tell(merge, &path, "missing in files", merge->location));
    }
    return FIRN_OK;
}

/* Ids that are the table's by nothing are of another table. */
static firn_status check_any_taken(firn_union_merge *merge, const member_list *members,
                                   const firn_union_path *path) {
    if (members->left_out == 0 || members->changed) return FIRN_OK;
    for (size_t i = 0; i < members->taken.count; i++) {
        if (members->taken.items[i] != NULL) return FIRN_OK;
    }
    const char *problem = "is one of the table's: neither by field id nor by "
                          "schema.name-mapping.default";
    if (members->reserved == members->left_out) {
        problem = "holds data: their field ids are reserved for metadata columns, as those of "
                  "files of position deletes are";
    }
    if (path != NULL) {
        return firn_union_fail(merge->schemas, merge->location, path, merge->error,
                               "none of the struct's columns in the file %s", problem);
    }
    return firn_fail(merge->error, FIRN_INVALID, "%s: none of the file's columns %s",
                     merge->location, problem);
}

static firn_status take_members(firn_union_merge *merge, const firn_union_path *path,
                                member_list *members, const firn_union_column *file) {
    size_t count = members->have->child_count;
    FIRN_TRY(firn_vector_reserve(&members->columns, merge->error, count + 1));
    FIRN_TRY(firn_vector_reserve(&members->taken, merge->error, count + 1));
    for (size_t i = 0; i < count; i++) {
        members->columns.items[members->columns.count++] = members->have->children[i];
        members->taken.items[members->taken.count++] = NULL;
    }
    for (size_t i = 0; i < file->child_count; i++) {
        FIRN_TRY(take_member(merge, members, path, file->children[i]));
    }
    FIRN_TRY(check_any_taken(merge, members, path));
    return tell_missing(merge, members, path);
}

/* Fields of structs, by id or name, in the order in which they came. */
static firn_status merge_members(firn_union_merge *merge, const firn_union_path *path,
                                 const firn_name_mapping *scope, const firn_union_column *have,
                                 const firn_union_column *file, firn_union_column *copy) {
    member_list members = {.have = have, .scope = scope};
    firn_status status = take_members(merge, path, &members, file);
    if (status == FIRN_OK && members.changed) {
        copy->child_count = members.columns.count;
        copy->children = firn_arena_memdup(merge->schemas->arena, members.columns.items,
                                           copy->child_count * sizeof *members.columns.items);
        if (copy->children == NULL) status = firn_fail_memory(merge->error);
    }
    firn_vector_release(&members.columns);
    firn_vector_release(&members.taken);
    return status;
}

firn_status firn_union_merge_file(firn_union_merge *merge, const firn_union_column *file,
                                  const firn_union_column **out) {
    firn_schema_union *schemas = merge->schemas;
    const firn_name_mapping *scope = firn_name_mapping_scope(schemas->mapping);
    firn_union_column copy = *schemas->root;
    FIRN_TRY(merge_members(merge, NULL, scope, schemas->root, file, &copy));
    *out = schemas->root;
    if (copy.children == schemas->root->children) return FIRN_OK;
    *out = copy_of(merge, copy);
    return *out == NULL ? firn_fail_memory(merge->error) : FIRN_OK;
}
