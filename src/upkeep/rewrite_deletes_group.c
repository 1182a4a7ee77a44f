/** The partitions of a table's data and delete files. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vector.h"
#include "upkeep/rewrite_deletes_internal.h"

typedef struct grouping {
    firn_delete_planner *plan;
    firn_map *numbers; /* of groups, plus 1, by spec id and tuple */
    firn_buffer key;
    FIRN_VECTOR(firn_delete_group) groups; /* in the order in which they were met */
} grouping;

static firn_status partition_text(grouping *work, firn_delete_group *group, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 30);
    FIRN_CHECK(firn_partition_path(group->spec, group->sample->partition, &text, error));
    group->partition_text =
        firn_arena_strndup(work->plan->out->arena, (const char *)text.data, text.size);
    if (group->partition_text == NULL) status = firn_fail_memory(error);
out:
    firn_buffer_release(&text);
    return status;
}

static firn_status group_of(grouping *work, const firn_data_file *file, size_t *out,
                            firn_error *error) {
    firn_buffer_clear(&work->key);
    FIRN_TRY(firn_buffer_append(&work->key, &file->spec_id, sizeof file->spec_id, error));
    FIRN_TRY(firn_value_key(file->partition, file->partition_count, &work->key, error));
    firn_slice key = firn_buffer_slice(&work->key);
    size_t found = (size_t)(uintptr_t)firn_map_get(work->numbers, key, NULL);
    if (found != 0) {
        *out = found - 1;
        return FIRN_OK;
    }
    firn_delete_group group = {.sample = file};
    group.spec = firn_table_metadata_spec(work->plan->table->metadata, file->spec_id);
    if (group.spec == NULL) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the table has no partition spec %d", file->path,
                         (int)file->spec_id);
    }
    FIRN_TRY(partition_text(work, &group, error));
    FIRN_TRY(firn_vector_push(&work->groups, error, group));
    *out = work->groups.count - 1;
    return firn_map_set(work->numbers, key, (void *)(uintptr_t)work->groups.count, error);
}

static firn_status group_all(grouping *work, firn_error *error) {
    firn_delete_planner *plan = work->plan;
    const firn_live_files *files = &plan->out->files;
    for (size_t i = 0; i < files->data_count; i++) {
        FIRN_TRY(group_of(work, &files->data[i].entry.file, &plan->data_groups[i], error));
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        plan->delete_groups[i] = FIRN_NO_GROUP;
        if (firn_is_equality(&files->deletes[i])) continue;
        FIRN_TRY(group_of(work, &files->deletes[i].entry.file, &plan->delete_groups[i], error));
    }
    return FIRN_OK;
}

static int order_values(const firn_value *a, const firn_value *b) {
    if (a->is_null || b->is_null) return (int)b->is_null - (int)a->is_null;
    return firn_value_compare(a, b);
}

/* A group with the number that it was met under. */
typedef struct numbered {
    firn_delete_group group;
    size_t number;
} numbered;

static int order_groups(const void *left, const void *right) {
    const firn_delete_group *a = &((const numbered *)left)->group;
    const firn_delete_group *b = &((const numbered *)right)->group;
    if (a->spec->spec_id != b->spec->spec_id) return a->spec->spec_id < b->spec->spec_id ? -1 : 1;
    for (size_t i = 0; i < a->spec->field_count; i++) {
        int order = order_values(&a->sample->partition[i], &b->sample->partition[i]);
        if (order != 0) return order;
    }
    return 0;
}

static void renumber(size_t *groups, size_t count, const size_t *places) {
    for (size_t i = 0; i < count; i++) {
        if (groups[i] != FIRN_NO_GROUP) groups[i] = places[groups[i]];
    }
}

/* Into the plan, in their order. */
static firn_status take_groups(grouping *work, firn_error *error) {
    firn_rewrite_deletes_plan *out = work->plan->out;
    size_t count = work->groups.count;
    numbered *sorted = firn_arena_alloc(out->arena, count, sizeof *sorted);
    size_t *places = firn_arena_alloc(out->arena, count, sizeof *places);
    out->groups = firn_arena_alloc(out->arena, count, sizeof *out->groups);
    if (sorted == NULL || places == NULL || out->groups == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) sorted[i] = (numbered){work->groups.items[i], i};
    if (count > 1) qsort(sorted, count, sizeof *sorted, order_groups);
    for (size_t i = 0; i < count; i++) {
        out->groups[i] = sorted[i].group;
        places[sorted[i].number] = i;
    }
    out->group_count = count;
    renumber(work->plan->data_groups, out->files.data_count, places);
    renumber(work->plan->delete_groups, out->files.delete_count, places);
    return FIRN_OK;
}

firn_status firn_rewrite_deletes_group(firn_delete_planner *plan, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_live_files *files = &plan->out->files;
    grouping work = {
        .plan = plan, .numbers = firn_map_new(), .key = firn_buffer_with_maximum((size_t)1 << 30)};
    plan->data_groups =
        firn_arena_alloc(plan->out->arena, files->data_count, sizeof *plan->data_groups);
    plan->delete_groups =
        firn_arena_alloc(plan->out->arena, files->delete_count, sizeof *plan->delete_groups);
    if (work.numbers == NULL || plan->data_groups == NULL || plan->delete_groups == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(group_all(&work, error));
    status = take_groups(&work, error);
out:
    firn_map_free(work.numbers);
    firn_buffer_release(&work.key);
    firn_vector_release(&work.groups);
    return status;
}
