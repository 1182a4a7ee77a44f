#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/location.h"
#include "base/map.h"
#include "data/deletes_internal.h"
#include "parquet/chunk_reader.h"

/* Reserved field ids of position delete files ("Position Delete Files"). */
#define FILE_PATH_ID 2147483546
#define POS_ID 2147483545

/* ---- from recorded paths to data files of the request ---- */

/* Values are the number of a data file of the request + 1. */
typedef struct path_map {
    firn_map *recorded; /* by the path as the manifest has it */
    firn_map *keys;     /* by the key of the location, for other spellings of it */
} path_map;

static void *value_of(size_t data) {
    return (void *)(uintptr_t)(data + 1);
}

static void path_map_release(path_map *map) {
    firn_map_free(map->recorded);
    firn_map_free(map->keys);
}

static firn_status path_map_add(path_map *map, const char *path, size_t data, firn_error *error) {
    FIRN_TRY(firn_map_set_text(map->recorded, path, value_of(data), error));
    char *key = firn_location_key(path);
    if (key == NULL) return firn_fail_memory(error);
    bool taken = firn_map_has_text(map->keys, key);
    firn_status status = firn_map_set_text(map->keys, key, value_of(data), error);
    firn_free(key);
    if (status == FIRN_OK && taken) {
        return firn_fail(error, FIRN_CORRUPT,
                         "data file %s is live twice: which of the two a position delete means "
                         "can't be told",
                         path);
    }
    return status;
}

static firn_status path_map_make(const firn_deletes_work *work, path_map *map, firn_error *error) {
    map->recorded = firn_map_new();
    map->keys = firn_map_new();
    if (map->recorded == NULL || map->keys == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < work->request->data_count; i++) {
        FIRN_TRY(path_map_add(map, firn_deletes_data(work, i)->file.path, i, error));
    }
    return FIRN_OK;
}

firn_status firn_deletes_check_paths(const firn_deletes_request *request, firn_error *error) {
    const firn_deletes_work work = {.request = request};
    path_map paths = {0};
    firn_status status = path_map_make(&work, &paths, error);
    path_map_release(&paths);
    return status;
}

/* 0: none of the request. */
static firn_status path_map_find(const path_map *map, firn_slice path, size_t *out,
                                 firn_error *error) {
    *out = (size_t)(uintptr_t)firn_map_get(map->recorded, path, NULL);
    if (*out != 0 || path.size == 0 || memchr(path.data, 0, path.size) != NULL) return FIRN_OK;
    char *text = firn_strndup((const char *)path.data, path.size);
    char *key = text == NULL ? NULL : firn_location_key(text);
    if (key != NULL) *out = (size_t)(uintptr_t)firn_map_get_text(map->keys, key);
    firn_free(text);
    firn_free(key);
    return key == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* ---- one position delete file ---- */

/* One of the two columns: a page at a time. */
typedef struct column {
    const firn_parquet_leaf *leaf;
    firn_parquet_chunk_reader *reader;
    firn_parquet_batch batch;
    size_t next; /* within the batch */
} delete_column;

#define NO_TARGET UINT32_MAX

typedef struct delete_reader {
    firn_deletes_work *work;
    const path_map *paths;
    const firn_manifest_entry *entry;
    firn_deletes_origin origin; /* the entry's */
    firn_manifest_entry scope;  /* the entry without its bounds: what is read rules */
    const firn_parquet_file *file;
    delete_column path, pos;
    /* The request's data file of each entry of the path column's dictionary. */
    uint32_t *targets;
    size_t target_count;
    bool has_targets;
    uint64_t dictionary_id;
    /* The same of the path seen last, where there is no dictionary. */
    firn_buffer last_path;
    bool has_last;
    uint32_t last_target;
    /* Positions of one data file that were not handed over yet. */
    uint32_t run_target;
    size_t run_count;
    uint64_t run[FIRN_DELETES_RUN];
} delete_reader;

static firn_status corrupt(const delete_reader *reader, firn_error *error, const char *problem) {
    return firn_fail(error, FIRN_CORRUPT, "position delete file %s: %s", reader->entry->file.path,
                     problem);
}

/* A top-level column by its id; by name in files without ids. */
static const firn_parquet_leaf *find_leaf(const firn_parquet_schema *schema, int32_t id,
                                          const char *name) {
    const firn_parquet_leaf *named = NULL;
    for (size_t i = 0; i < schema->leaf_count; i++) {
        const firn_parquet_leaf *leaf = &schema->leaves[i];
        const firn_parquet_schema_element *element = leaf->node->element;
        if (leaf->path_length != 1) continue;
        if (element->has_field_id && element->field_id == id) return leaf;
        if (!element->has_field_id && strcmp(element->name, name) == 0) named = leaf;
    }
    return named;
}

static firn_status find_columns(delete_reader *reader, firn_error *error) {
    reader->path.leaf = find_leaf(reader->file->schema, FILE_PATH_ID, "file_path");
    reader->pos.leaf = find_leaf(reader->file->schema, POS_ID, "pos");
    if (reader->path.leaf == NULL || reader->pos.leaf == NULL) {
        return corrupt(reader, error, "it has not both columns, file_path and pos");
    }
    if (reader->path.leaf->node->element->type != FIRN_PARQUET_BYTE_ARRAY ||
        reader->pos.leaf->node->element->type != FIRN_PARQUET_INT64 ||
        reader->path.leaf->maximum_repetition_level != 0 ||
        reader->pos.leaf->maximum_repetition_level != 0) {
        return corrupt(reader, error, "file_path is no string, or pos no long");
    }
    return FIRN_OK;
}

static firn_status start(const delete_reader *reader, delete_column *column, size_t row_group,
                         firn_error *error) {
    column->batch = (firn_parquet_batch){0};
    column->next = 0;
    size_t leaf = (size_t)column->leaf->index;
    if (column->reader != NULL) {
        return firn_parquet_chunk_reader_reset(column->reader, reader->file, row_group, leaf,
                                               error);
    }
    return firn_parquet_chunk_reader_open(reader->file, row_group, leaf, &column->reader, error);
}

/* Makes sure that there is an entry; an empty batch at the end of the chunk. */
static firn_status fill(const delete_reader *reader, delete_column *column, firn_error *error) {
    while (column->next == column->batch.level_count) {
        const firn_parquet_page *page = NULL;
        column->batch = (firn_parquet_batch){0};
        column->next = 0;
        FIRN_TRY(firn_parquet_chunk_reader_next(column->reader, &page, error));
        if (page == NULL) return FIRN_OK;
        FIRN_TRY(firn_parquet_chunk_reader_decode(column->reader, &column->batch, error));
        if (column->batch.value_count != column->batch.level_count) {
            return corrupt(reader, error, "a null in file_path or pos");
        }
    }
    return FIRN_OK;
}

/* The data file of the request that a path means, if these deletes apply to it. */
static firn_status resolve_path(const delete_reader *reader, firn_slice path, uint32_t *target,
                                firn_error *error) {
    size_t found = 0;
    *target = NO_TARGET;
    FIRN_TRY(path_map_find(reader->paths, path, &found, error));
    if (found == 0 || reader->work->has_vector[found - 1]) return FIRN_OK;
    if (firn_delete_may_apply(reader->work->request->table->metadata, &reader->scope,
                              firn_deletes_data(reader->work, found - 1))) {
        *target = (uint32_t)(found - 1);
    }
    return FIRN_OK;
}

static firn_status resolve_dictionary(delete_reader *reader, firn_error *error) {
    const firn_parquet_batch *batch = &reader->path.batch;
    if (batch->indices == NULL) return FIRN_OK;
    if (reader->has_targets && reader->dictionary_id == batch->dictionary_id) return FIRN_OK;
    if (batch->values.count > reader->target_count) {
        uint32_t *more = firn_realloc_array(reader->targets, batch->values.count, sizeof *more);
        if (more == NULL) return firn_fail_memory(error);
        reader->targets = more;
        reader->target_count = batch->values.count;
    }
    for (size_t i = 0; i < batch->values.count; i++) {
        FIRN_TRY(resolve_path(reader, batch->values.slices[i], &reader->targets[i], error));
    }
    reader->has_targets = true;
    reader->dictionary_id = batch->dictionary_id;
    return FIRN_OK;
}

static firn_status target_of(delete_reader *reader, size_t row, uint32_t *target,
                             firn_error *error) {
    const firn_parquet_batch *batch = &reader->path.batch;
    if (batch->indices != NULL) {
        *target = reader->targets[batch->indices[row]];
        return FIRN_OK;
    }
    firn_slice path = batch->values.slices[row];
    if (!reader->has_last || !firn_slice_equal(path, firn_buffer_slice(&reader->last_path))) {
        firn_buffer_clear(&reader->last_path);
        FIRN_TRY(firn_buffer_append(&reader->last_path, path.data, path.size, error));
        FIRN_TRY(resolve_path(reader, path, &reader->last_target, error));
        reader->has_last = true;
    }
    *target = reader->last_target;
    return FIRN_OK;
}

static firn_status hand_over(delete_reader *reader, firn_error *error) {
    size_t count = reader->run_count;
    reader->run_count = 0;
    if (count == 0) return FIRN_OK;
    return firn_deletes_add(reader->work, reader->run_target, reader->run, count, reader->origin,
                            error);
}

static firn_status read_row(delete_reader *reader, size_t path_row, size_t pos_row,
                            firn_error *error) {
    uint32_t target = NO_TARGET;
    FIRN_TRY(target_of(reader, path_row, &target, error));
    if (target == NO_TARGET) return FIRN_OK;
    const firn_parquet_batch *batch = &reader->pos.batch;
    size_t value = batch->indices == NULL ? pos_row : batch->indices[pos_row];
    int64_t position = (int64_t)firn_load_le64(batch->values.fixed + value * 8);
    if (position < 0) return corrupt(reader, error, "a position below 0");
    if (target != reader->run_target || reader->run_count == FIRN_DELETES_RUN) {
        FIRN_TRY(hand_over(reader, error));
    }
    reader->run_target = target;
    reader->run[reader->run_count++] = (uint64_t)position;
    return FIRN_OK;
}

static firn_status read_row_group(delete_reader *reader, size_t row_group, firn_error *error) {
    FIRN_TRY(start(reader, &reader->path, row_group, error));
    FIRN_TRY(start(reader, &reader->pos, row_group, error));
    reader->has_targets = false;
    for (;;) {
        FIRN_TRY(fill(reader, &reader->path, error));
        FIRN_TRY(fill(reader, &reader->pos, error));
        size_t paths = reader->path.batch.level_count - reader->path.next;
        size_t positions = reader->pos.batch.level_count - reader->pos.next;
        size_t count = paths < positions ? paths : positions;
        if (count == 0) {
            if (paths == positions) return FIRN_OK;
            return corrupt(reader, error, "file_path and pos are not equally long");
        }
        FIRN_TRY(resolve_dictionary(reader, error));
        for (size_t i = 0; i < count; i++) {
            FIRN_TRY(read_row(reader, reader->path.next + i, reader->pos.next + i, error));
        }
        reader->path.next += count;
        reader->pos.next += count;
    }
}

static firn_status read_rows(delete_reader *reader, firn_error *error) {
    FIRN_TRY(find_columns(reader, error));
    int64_t bytes = 0;
    for (size_t i = 0; i < reader->file->metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &reader->file->metadata->row_groups[i];
        FIRN_TRY(read_row_group(reader, i, error));
        bytes += group->columns[reader->path.leaf->index].total_compressed_size +
                 group->columns[reader->pos.leaf->index].total_compressed_size;
    }
    FIRN_TRY(hand_over(reader, error));
    firn_deletes_count(reader->work, 1, bytes, 0);
    return FIRN_OK;
}

typedef struct positions_task {
    firn_deletes_work *work;
    const path_map *paths;
    const size_t *numbers;
} positions_task;

static firn_status read_file(void *context, size_t index, firn_error *error) {
    const positions_task *task = context;
    const firn_manifest_entry *entry = firn_deletes_delete(task->work, task->numbers[index]);
    firn_data_source *source = NULL;
    delete_reader *reader = firn_alloc_zeroed(1, sizeof *reader);
    if (reader == NULL) return firn_fail_memory(error);
    firn_status status;
    *reader = (delete_reader){.work = task->work,
                              .paths = task->paths,
                              .entry = entry,
                              .origin = {task->numbers[index], entry->sequence_number},
                              .scope = *entry,
                              .last_path = firn_buffer_with_maximum(SIZE_MAX)};
    reader->scope.file.lower_bounds = (firn_bound_map){0};
    reader->scope.file.upper_bounds = (firn_bound_map){0};
    FIRN_CHECK(firn_deletes_open(task->work, &entry->file, &source, error));
    reader->file = firn_data_source_parquet(source);
    status = read_rows(reader, error);
out:
    if (reader->path.reader != NULL) firn_parquet_chunk_reader_close(reader->path.reader);
    if (reader->pos.reader != NULL) firn_parquet_chunk_reader_close(reader->pos.reader);
    firn_buffer_release(&reader->last_path);
    firn_free(reader->targets);
    firn_free(reader);
    firn_data_source_close(source);
    return status;
}

firn_status firn_deletes_read_positions(firn_deletes_work *work, const size_t *numbers,
                                        size_t count, firn_error *error) {
    if (count == 0) return FIRN_OK;
    path_map paths = {0};
    firn_status status = path_map_make(work, &paths, error);
    if (status == FIRN_OK) {
        positions_task task = {work, &paths, numbers};
        status = firn_pool_each(work->request->pool, count, read_file, &task, error);
    }
    path_map_release(&paths);
    return status;
}
