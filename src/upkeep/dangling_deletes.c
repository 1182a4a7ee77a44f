#include "upkeep/dangling_deletes.h"

#include "base/alloc.h"
#include "base/location.h"
#include "base/machine.h"
#include "base/map.h"
#include "data/deletes.h"
#include "upkeep/delete_change.h"

typedef struct planner {
    firn_table *table;
    const firn_dangling_deletes_options *options;
    firn_dangling_deletes_plan *out;
    firn_pool *pool;
    bool *
        used; /* of each live delete file: it is in force for a live data file, or has to be read to know */
    firn_map *locations; /* keys of live data files */
} planner;

/* --- by metadata ------------------------------------------------------------------------------- */

static void mark_found(void *context, size_t data, const size_t *found, size_t count) {
    planner *plan = context;
    (void)data;
    for (size_t i = 0; i < count; i++) plan->used[found[i]] = true;
}

static firn_status mark_used(planner *plan, firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    plan->used = firn_arena_alloc(plan->out->arena, files->delete_count, sizeof *plan->used);
    if (plan->used == NULL) return firn_fail_memory(error);
    return firn_delete_visit_data(plan->table, files, mark_found, plan, error);
}

/*
 * The index leaves out position deletes of a data file that has a vector. They are not in force, yet they are about a live file: they stay until
 * rewrite-deletes takes them out.
 */
static void mark_hidden(planner *plan) {
    const firn_live_files *files = &plan->out->files;
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_manifest_entry *deletes = &files->deletes[i].entry;
        if (plan->used[i] || deletes->file.content != FIRN_CONTENT_POSITION_DELETES) continue;
        if (firn_data_file_is_vector(&deletes->file)) continue;
        for (size_t j = 0; j < files->data_count && !plan->used[i]; j++) {
            plan->used[i] =
                firn_delete_may_apply(plan->table->metadata, deletes, &files->data[j].entry);
        }
    }
}

static bool has_vectors(const firn_live_files *files) {
    for (size_t i = 0; i < files->delete_count; i++) {
        if (firn_data_file_is_vector(&files->deletes[i].entry.file)) return true;
    }
    return false;
}

/* --- by reading -------------------------------------------------------------------------------- */

/* The live data files that one delete file may be about, in `out`, which has room for all. */
static size_t candidates(const planner *plan, const firn_manifest_entry *deletes,
                         const firn_live_file **out) {
    const firn_live_files *files = &plan->out->files;
    size_t count = 0;
    for (size_t i = 0; i < files->data_count; i++) {
        const firn_live_file *data = &files->data[i];
        if (firn_delete_may_apply(plan->table->metadata, deletes, &data->entry)) {
            out[count++] = data;
        }
    }
    return count;
}

/* Whether a position delete file takes a row of a live data file: looked up as if it were the only one. */
static firn_status takes_rows(planner *plan, firn_live_file *deletes, const firn_live_file **data,
                              bool *out, firn_error *error) {
    firn_deletes found = {0};
    firn_live_files alone = plan->out->files;
    alone.deletes = deletes;
    alone.delete_count = 1;
    int64_t memory = plan->options->memory_bytes;
    firn_deletes_request request = {.table = plan->table,
                                    .files = &alone,
                                    .data = data,
                                    .data_count = candidates(plan, &deletes->entry, data),
                                    .positions = true,
                                    .pool = plan->pool,
                                    .memory_bytes =
                                        memory > 0 ? memory : firn_machine_memory() / 4};
    firn_status status = firn_deletes_resolve(&request, &found, error);
    *out = false;
    for (size_t i = 0; status == FIRN_OK && i < found.data_count; i++) {
        *out = *out || firn_deletes_row_count(&found, i) > 0;
    }
    firn_deletes_release(&found);
    plan->out->files_read++;
    return status;
}

static firn_status add(planner *plan, size_t number, const char *reason) {
    firn_dangling_deletes_plan *out = plan->out;
    const firn_live_file *deletes = &out->files.deletes[number];
    const firn_data_file *file = &deletes->entry.file;
    out->dangling[out->dangling_count++] = (firn_dangling_delete){deletes, reason};
    out->dangling_bytes +=
        firn_data_file_is_vector(file) ? file->content_size_in_bytes : file->file_size_in_bytes;
    if (file->content == FIRN_CONTENT_EQUALITY_DELETES) {
        out->equality_files++;
    } else if (firn_data_file_is_vector(file)) {
        out->vectors++;
    } else {
        out->position_files++;
    }
    return FIRN_OK;
}

static firn_status list_locations(planner *plan, firn_error *error) {
    const firn_live_files *files = &plan->out->files;
    plan->locations = firn_map_new();
    if (plan->locations == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->data_count; i++) {
        char *key = firn_location_key(files->data[i].entry.file.path);
        if (key == NULL) return firn_fail_memory(error);
        firn_status status = firn_map_set_text(plan->locations, key, plan, error);
        firn_free(key);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

static firn_status reason_of(planner *plan, const firn_data_file *file, const char **out,
                             firn_error *error) {
    *out = "no live data file is within its reach";
    if (file->content == FIRN_CONTENT_EQUALITY_DELETES) {
        *out = "no live data file of its partition is older";
        return FIRN_OK;
    }
    char *key = NULL;
    FIRN_TRY(firn_delete_single_key(file, &key, error));
    if (key == NULL) return FIRN_OK;
    *out = "its data file is not live";
    firn_status status = plan->locations == NULL ? list_locations(plan, error) : FIRN_OK;
    if (status == FIRN_OK && firn_map_has_text(plan->locations, key)) {
        *out = "it is older than its data file, or of another partition";
    }
    firn_free(key);
    return status;
}

static firn_status judge(planner *plan, size_t number, const firn_live_file **data,
                         firn_error *error) {
    firn_live_file *deletes = &plan->out->files.deletes[number];
    firn_slice path;
    bool takes = true;
    if (!plan->used[number]) {
        const char *reason = NULL;
        FIRN_TRY(reason_of(plan, &deletes->entry.file, &reason, error));
        return add(plan, number, reason);
    }
    if (deletes->entry.file.content != FIRN_CONTENT_POSITION_DELETES) return FIRN_OK;
    if (firn_delete_single_file(&deletes->entry.file, &path)) return FIRN_OK;
    FIRN_TRY(takes_rows(plan, deletes, data, &takes, error));
    if (takes) return FIRN_OK;
    return add(plan, number, "none of the rows that it names is in a live data file");
}

static firn_status judge_all(planner *plan, firn_error *error) {
    firn_dangling_deletes_plan *out = plan->out;
    out->dangling = firn_arena_alloc(out->arena, out->files.delete_count, sizeof *out->dangling);
    const firn_live_file **data = firn_arena_alloc(out->arena, out->files.data_count, sizeof *data);
    if (out->dangling == NULL || data == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->files.delete_count; i++) {
        FIRN_TRY(judge(plan, i, data, error));
    }
    return FIRN_OK;
}

static firn_status make_plan(planner *plan, firn_error *error) {
    firn_table *table = plan->table;
    FIRN_TRY(firn_table_check_supported(table, "removing dangling deletes", error));
    FIRN_TRY(firn_table_live_files(table, table->snapshot, &plan->out->files, error));
    FIRN_TRY(mark_used(plan, error));
    if (has_vectors(&plan->out->files)) mark_hidden(plan);
    FIRN_TRY(firn_pool_new(plan->options->threads, &plan->pool, error));
    firn_status status = judge_all(plan, error);
    firn_pool_free(plan->pool);
    firn_map_free(plan->locations);
    return status;
}

firn_status firn_dangling_deletes_plan_table(firn_table *table,
                                             const firn_dangling_deletes_options *options,
                                             firn_dangling_deletes_plan **out, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    *out = NULL;
    if (arena == NULL) return firn_fail_memory(error);
    firn_dangling_deletes_plan *plan = firn_arena_alloc(arena, 1, sizeof *plan);
    if (plan == NULL) {
        firn_arena_free(arena);
        return firn_fail_memory(error);
    }
    plan->arena = arena;
    plan->metadata = table->metadata;
    planner work = {.table = table, .options = options, .out = plan};
    firn_status status = make_plan(&work, error);
    if (status != FIRN_OK) {
        firn_dangling_deletes_plan_free(plan);
        return firn_table_error_wrap(table, status, error);
    }
    *out = plan;
    return FIRN_OK;
}

void firn_dangling_deletes_plan_free(firn_dangling_deletes_plan *plan) {
    if (plan == NULL) return;
    firn_live_files_release(&plan->files);
    firn_arena_free(plan->arena);
}
