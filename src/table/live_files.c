/** The live files of a snapshot. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vector.h"
#include "table/live_filter.h"

typedef FIRN_VECTOR(firn_live_file) live_file_vector;

typedef struct live_walk {
    live_file_vector data, deletes;
    firn_arena *arena;             /* of what is kept */
    const firn_data_file *last;    /* that was copied into it; NULL: none */
    const firn_file_filter *where; /* of this manifest's spec; NULL: all */
    bool light;                    /* metrics are of no use once the filter has seen them */
    bool global_deletes; /* delete files of this manifest's spec are for every partition */
    size_t manifest_index, ordinal;
    int64_t bytes, rows;
    bool counted_empty;            /* the list says that no file of this manifest is live */
    firn_avro_known_schema schema; /* of the manifest before */
} live_walk;

/** Some readers go by the list's counts and skip such a manifest, others read its rows: a table that is two tables can't be told right. */
static firn_status refuse_uncounted(const live_walk *walk, const firn_data_file *file,
                                    firn_error *error) {
    if (!walk->counted_empty) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "file %s is live in it, but the manifest list counts neither added nor "
                     "existing files (added_files_count, existing_files_count)",
                     file->path);
}

/** Whoever adds up live files may rely on it that bytes and rows of all of them fit. */
static firn_status count_live(live_walk *walk, const firn_data_file *file, firn_error *error) {
    if (__builtin_add_overflow(walk->bytes, file->file_size_in_bytes, &walk->bytes)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "file %s: file_size_in_bytes %lld makes the live files larger than 2^63",
                         file->path, (long long)file->file_size_in_bytes);
    }
    if (__builtin_add_overflow(walk->rows, file->record_count, &walk->rows)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "file %s: record_count %lld makes the live rows more than 2^63",
                         file->path, (long long)file->record_count);
    }
    return FIRN_OK;
}

static firn_status push_live(live_walk *walk, const firn_live_file *live, firn_error *error) {
    FIRN_TRY(refuse_uncounted(walk, &live->entry.file, error));
    FIRN_TRY(count_live(walk, &live->entry.file, error));
    live_file_vector *list =
        live->entry.file.content == FIRN_CONTENT_DATA ? &walk->data : &walk->deletes;
    FIRN_TRY(firn_vector_push(list, error, *live));
    walk->last = &list->items[list->count - 1].entry.file;
    return FIRN_OK;
}

/** Delete files go by their partition only: their metrics are of rows that they delete, and all rows of a matching data file count. */
static bool may_match(const live_walk *walk, const firn_data_file *file) {
    if (walk->where == NULL) return true;
    if (file->content == FIRN_CONTENT_DATA) {
        return firn_file_filter_may_match_file(walk->where, file);
    }
    return walk->global_deletes || firn_file_filter_may_match_partition(
                                       walk->where, file->partition, file->partition_count);
}

static firn_status visit_live(void *context, const firn_manifest_entry *entry, firn_error *error) {
    live_walk *walk = context;
    firn_live_file live = {*entry, walk->manifest_index, walk->ordinal++, true};
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    live.may_match = may_match(walk, &entry->file);
    if (walk->light) firn_data_file_drop_metrics(&live.entry.file);
    FIRN_TRY(firn_data_file_copy_like(&live.entry.file, walk->last, walk->arena, &live.entry.file,
                                      error));
    return push_live(walk, &live, error);
}

/** Not for skipping it: a commit drops what carries nothing, and a count that lies would drop live files. An unknown count is -1. */
static bool counted_empty(const firn_manifest_file *manifest) {
    return manifest->added_files_count == 0 && manifest->existing_files_count == 0;
}

/** The list itself becomes the arena's: there may be many files. */
static firn_status into_arena(live_file_vector *vector, firn_arena *arena, firn_live_file **out,
                              size_t *count, firn_error *error) {
    /* Never NULL, also for none. */
    FIRN_TRY(firn_vector_reserve(vector, error, 1));
    *out = vector->items;
    *count = vector->count;
    *vector = (live_file_vector){0};
    return firn_arena_on_free(arena, firn_free, *out) == 0 ? FIRN_OK : firn_fail_memory(error);
}

/** Live files of the manifests of an earlier snapshot, by the manifests' paths. */
typedef struct known_manifests {
    const firn_live_files *files; /* NULL: none */
    firn_map *indexes;            /* of manifests, plus 1 */
    size_t *data, *deletes;       /* where each manifest's files begin; one more at the end */
} known_manifests;

static void find_starts(const firn_live_file *files, size_t count, size_t manifest_count,
                        size_t *starts) {
    size_t at = 0;
    for (size_t i = 0; i <= manifest_count; i++) {
        while (at < count && files[at].manifest_index < i) at++;
        starts[i] = at;
    }
}

static firn_status known_open(known_manifests *known, const firn_live_files *files,
                              firn_error *error) {
    if (files == NULL) return FIRN_OK;
    known->files = files;
    known->indexes = firn_map_new();
    known->data = firn_alloc_array(files->manifest_count + 1, sizeof *known->data);
    known->deletes = firn_alloc_array(files->manifest_count + 1, sizeof *known->deletes);
    if (known->indexes == NULL || known->data == NULL || known->deletes == NULL) {
        return firn_fail_memory(error);
    }
    find_starts(files->data, files->data_count, files->manifest_count, known->data);
    find_starts(files->deletes, files->delete_count, files->manifest_count, known->deletes);
    for (size_t i = 0; i < files->manifest_count; i++) {
        FIRN_TRY(firn_map_set_text(known->indexes, files->manifests[i].path,
                                   (void *)(uintptr_t)(i + 1), error));
    }
    return FIRN_OK;
}

static void known_release(known_manifests *known) {
    firn_map_free(known->indexes);
    firn_free(known->data);
    firn_free(known->deletes);
}

/** What entries inherit must be the same as well: an upgraded table's next snapshot gives row ids to manifests that had none. */
static bool resolves_alike(const firn_manifest_file *a, const firn_manifest_file *b) {
    return a->length == b->length && a->content == b->content &&
           a->partition_spec_id == b->partition_spec_id &&
           a->sequence_number == b->sequence_number &&
           a->has_added_snapshot_id == b->has_added_snapshot_id &&
           a->added_snapshot_id == b->added_snapshot_id &&
           a->has_first_row_id == b->has_first_row_id && a->first_row_id == b->first_row_id;
}

/** Of files that a filter has chosen, manifests that were not opened have none, whatever is in them; opened ones have all. */
static bool was_opened(const known_manifests *known, size_t i) {
    return !known->files->filtered || known->data[i] < known->data[i + 1] ||
           known->deletes[i] < known->deletes[i + 1];
}

static firn_status take_known(live_walk *walk, const firn_live_file *files, size_t begin,
                              size_t end, firn_error *error) {
    for (size_t i = begin; i < end; i++) {
        firn_live_file live = files[i];
        live.manifest_index = walk->manifest_index;
        FIRN_TRY(push_live(walk, &live, error));
    }
    return FIRN_OK;
}

static firn_status walk_manifest(firn_table *table, const firn_manifest_file *manifest,
                                 const known_manifests *known, live_walk *walk, firn_error *error) {
    size_t found =
        known->files == NULL ? 0 : (uintptr_t)firn_map_get_text(known->indexes, manifest->path);
    if (found == 0 || !resolves_alike(manifest, &known->files->manifests[found - 1]) ||
        !was_opened(known, found - 1)) {
        firn_manifest_metrics metrics =
            walk->light && walk->where == NULL ? FIRN_METRICS_NAN_COUNTS : FIRN_METRICS_ALL;
        return firn_table_read_manifest_known(table, manifest, &walk->schema, metrics, NULL,
                                              visit_live, walk, error);
    }
    size_t i = found - 1;
    FIRN_TRY(take_known(walk, known->files->data, known->data[i], known->data[i + 1], error));
    return take_known(walk, known->files->deletes, known->deletes[i], known->deletes[i + 1], error);
}

/** A spec that is lost is left to the reader of the manifest. */
static firn_status choose_filter(firn_live_filter *filter, const firn_manifest_file *manifest,
                                 live_walk *walk, bool *opens, firn_error *error) {
    const firn_partition_spec *spec = NULL;
    *opens = true;
    walk->where = NULL;
    if (filter == NULL) return FIRN_OK;
    FIRN_TRY(
        firn_live_filter_of_spec(filter, manifest->partition_spec_id, &spec, &walk->where, error));
    if (spec == NULL) return FIRN_OK;
    walk->global_deletes = firn_partition_spec_is_unpartitioned(spec);
    bool global = manifest->content != FIRN_CONTENT_DATA && walk->global_deletes;
    *opens = global || firn_file_filter_may_match_manifest(walk->where, manifest);
    return FIRN_OK;
}

static firn_status walk_manifests(firn_table *table, const known_manifests *known,
                                  firn_live_filter *filter, live_walk *walk, firn_live_files *out,
                                  firn_error *error) {
    for (size_t i = 0; i < out->manifest_count; i++) {
        const firn_manifest_file *manifest = &out->manifests[i];
        bool opens = false;
        walk->counted_empty = counted_empty(manifest);
        walk->manifest_index = i;
        walk->ordinal = 0;
        walk->last = NULL; /* the lists may have moved */
        FIRN_TRY(choose_filter(filter, manifest, walk, &opens, error));
        if (!opens) continue;
        out->manifests_opened++;
        FIRN_TRY(walk_manifest(table, manifest, known, walk, error));
    }
    return FIRN_OK;
}

static bool has_delete_manifests(const firn_live_files *files) {
    for (size_t i = 0; i < files->manifest_count; i++) {
        if (files->manifests[i].content != FIRN_CONTENT_DATA) return true;
    }
    return false;
}

/** Everything goes into `arena`; `out` has no arena of its own yet. */
static firn_status collect(firn_table *table, const firn_snapshot *snapshot,
                           const firn_live_files *files, firn_live_filter *filter,
                           firn_manifest_metrics metrics, firn_arena *arena, firn_live_files *out,
                           firn_error *error) {
    firn_status status = FIRN_OK;
    live_walk walk = {.arena = arena};
    known_manifests known = {0};
    *out = (firn_live_files){.filtered = filter != NULL};
    out->snapshot_id = snapshot == NULL ? FIRN_NO_SNAPSHOT : snapshot->snapshot_id;
    FIRN_CHECK(known_open(&known, files, error));
    FIRN_CHECK(
        firn_table_manifests(table, snapshot, arena, &out->manifests, &out->manifest_count, error));
    walk.light = metrics == FIRN_METRICS_NAN_COUNTS && !has_delete_manifests(out);
    out->without_metrics = walk.light;
    FIRN_CHECK(walk_manifests(table, &known, filter, &walk, out, error));
    FIRN_CHECK(into_arena(&walk.data, arena, &out->data, &out->data_count, error));
    FIRN_CHECK(into_arena(&walk.deletes, arena, &out->deletes, &out->delete_count, error));
out:
    known_release(&known);
    firn_avro_known_schema_release(&walk.schema);
    firn_vector_release(&walk.data);
    firn_vector_release(&walk.deletes);
    return status;
}

firn_status firn_live_files_check_metrics(const firn_live_files *files, firn_error *error) {
    if (!files->without_metrics) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "live files were listed without their metrics, for a look only");
}

/** `known` and `filter`: at most one of them. */
static firn_status open_files(firn_table *table, const firn_snapshot *snapshot,
                              const firn_live_files *known, const firn_expression *filter,
                              firn_manifest_metrics metrics, firn_live_files *out,
                              firn_error *error) {
    *out = (firn_live_files){0};
    if (known != NULL) FIRN_TRY(firn_live_files_check_metrics(known, error));
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_live_filter where = {table->metadata, filter, arena, NULL};
    firn_status status =
        collect(table, snapshot, known, filter == NULL ? NULL : &where, metrics, arena, out, error);
    if (status != FIRN_OK) {
        firn_arena_free(arena);
        *out = (firn_live_files){0};
        return status;
    }
    out->arena = arena;
    return FIRN_OK;
}

firn_status firn_table_live_files_where(firn_table *table, const firn_snapshot *snapshot,
                                        const firn_expression *filter, firn_live_files *out,
                                        firn_error *error) {
    return open_files(table, snapshot, NULL, filter, FIRN_METRICS_ALL, out, error);
}

firn_status firn_table_live_files_after(firn_table *table, const firn_snapshot *snapshot,
                                        const firn_live_files *known, firn_live_files *out,
                                        firn_error *error) {
    return open_files(table, snapshot, known, NULL, FIRN_METRICS_ALL, out, error);
}

firn_status firn_table_live_files(firn_table *table, const firn_snapshot *snapshot,
                                  firn_live_files *out, firn_error *error) {
    return open_files(table, snapshot, NULL, NULL, FIRN_METRICS_ALL, out, error);
}

firn_status firn_table_live_files_matching(firn_table *table, const firn_snapshot *snapshot,
                                           const char *where, firn_manifest_metrics metrics,
                                           firn_live_files *out, firn_error *error) {
    *out = (firn_live_files){0};
    if (where == NULL) return open_files(table, snapshot, NULL, NULL, metrics, out, error);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_expression *filter = NULL;
    firn_status status =
        firn_expression_parse(where, table->metadata->schema, arena, &filter, error);
    if (status == FIRN_OK) {
        status = open_files(table, snapshot, NULL, filter, metrics, out, error);
    }
    firn_arena_free(arena);
    return status;
}

firn_status firn_table_live_files_move(firn_table *table, const firn_snapshot *snapshot,
                                       firn_live_files *files, firn_error *error) {
    firn_live_files moved;
    if (files->filtered) {
        return firn_fail(error, FIRN_INVALID, "live files that a filter made fewer can't be moved");
    }
    FIRN_TRY(firn_live_files_check_metrics(files, error));
    FIRN_TRY(collect(table, snapshot, files, NULL, FIRN_METRICS_ALL, files->arena, &moved, error));
    moved.arena = files->arena;
    *files = moved;
    return FIRN_OK;
}

void firn_live_files_release(firn_live_files *files) {
    firn_arena_free(files->arena);
    *files = (firn_live_files){0};
}
