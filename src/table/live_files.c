/** The live files of a snapshot. */
#include <string.h>

#include "base/map.h"
#include "base/vector.h"
#include "table/table.h"

typedef FIRN_VECTOR(firn_live_file) live_file_vector;

typedef struct live_walk {
    live_file_vector data, deletes;
    size_t manifest_index, ordinal;
    int64_t bytes, rows;
    bool counted_empty; /* the list says that no file of this manifest is live */
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

static firn_status add_live(live_walk *walk, const firn_manifest_entry *entry, size_t ordinal,
                            firn_error *error) {
    FIRN_TRY(refuse_uncounted(walk, &entry->file, error));
    FIRN_TRY(count_live(walk, &entry->file, error));
    firn_live_file live = {*entry, walk->manifest_index, ordinal};
    if (entry->file.content == FIRN_CONTENT_DATA) {
        return firn_vector_push(&walk->data, error, live);
    }
    return firn_vector_push(&walk->deletes, error, live);
}

static firn_status visit_live(void *context, const firn_manifest_entry *entry, firn_error *error) {
    live_walk *walk = context;
    size_t ordinal = walk->ordinal++;
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    return add_live(walk, entry, ordinal, error);
}

/** Not for skipping it: a commit drops what carries nothing, and a count that lies would drop live files. An unknown count is -1. */
static bool counted_empty(const firn_manifest_file *manifest) {
    return manifest->added_files_count == 0 && manifest->existing_files_count == 0;
}

static firn_status into_arena(const live_file_vector *vector, firn_arena *arena,
                              firn_live_file **out, size_t *count, firn_error *error) {
    *out = firn_arena_alloc(arena, vector->count, sizeof **out);
    if (*out == NULL) return firn_fail_memory(error);
    if (vector->count > 0) memcpy(*out, vector->items, vector->count * sizeof **out);
    *count = vector->count;
    return FIRN_OK;
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

static firn_status take_known(live_walk *walk, const firn_live_file *files, size_t begin,
                              size_t end, firn_error *error) {
    for (size_t i = begin; i < end; i++) {
        FIRN_TRY(add_live(walk, &files[i].entry, files[i].ordinal, error));
    }
    return FIRN_OK;
}

static firn_status walk_manifest(firn_table *table, const firn_manifest_file *manifest,
                                 const known_manifests *known, firn_arena *arena, live_walk *walk,
                                 firn_error *error) {
    size_t found =
        known->files == NULL ? 0 : (uintptr_t)firn_map_get_text(known->indexes, manifest->path);
    if (found == 0 || !resolves_alike(manifest, &known->files->manifests[found - 1])) {
        return firn_table_read_manifest(table, manifest, arena, visit_live, walk, error);
    }
    size_t i = found - 1;
    FIRN_TRY(take_known(walk, known->files->data, known->data[i], known->data[i + 1], error));
    return take_known(walk, known->files->deletes, known->deletes[i], known->deletes[i + 1], error);
}

/** Everything goes into `arena`; `out` has no arena of its own yet. */
static firn_status collect(firn_table *table, const firn_snapshot *snapshot,
                           const firn_live_files *files, firn_arena *arena, firn_live_files *out,
                           firn_error *error) {
    firn_status status = FIRN_OK;
    live_walk walk = {0};
    known_manifests known = {0};
    *out = (firn_live_files){0};
    out->snapshot_id = snapshot == NULL ? FIRN_NO_SNAPSHOT : snapshot->snapshot_id;
    FIRN_CHECK(known_open(&known, files, error));
    FIRN_CHECK(
        firn_table_manifests(table, snapshot, arena, &out->manifests, &out->manifest_count, error));
    for (size_t i = 0; i < out->manifest_count; i++) {
        walk.counted_empty = counted_empty(&out->manifests[i]);
        walk.manifest_index = i;
        walk.ordinal = 0;
        FIRN_CHECK(walk_manifest(table, &out->manifests[i], &known, arena, &walk, error));
    }
    FIRN_CHECK(into_arena(&walk.data, arena, &out->data, &out->data_count, error));
    FIRN_CHECK(into_arena(&walk.deletes, arena, &out->deletes, &out->delete_count, error));
out:
    known_release(&known);
    firn_vector_release(&walk.data);
    firn_vector_release(&walk.deletes);
    return status;
}

firn_status firn_table_live_files(firn_table *table, const firn_snapshot *snapshot,
                                  firn_live_files *out, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    *out = (firn_live_files){0};
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = collect(table, snapshot, NULL, arena, out, error);
    if (status != FIRN_OK) {
        firn_arena_free(arena);
        *out = (firn_live_files){0};
        return status;
    }
    out->arena = arena;
    return FIRN_OK;
}

firn_status firn_table_live_files_move(firn_table *table, const firn_snapshot *snapshot,
                                       firn_live_files *files, firn_error *error) {
    firn_live_files moved;
    FIRN_TRY(collect(table, snapshot, files, files->arena, &moved, error));
    moved.arena = files->arena;
    *files = moved;
    return FIRN_OK;
}

void firn_live_files_release(firn_live_files *files) {
    firn_arena_free(files->arena);
    *files = (firn_live_files){0};
}
