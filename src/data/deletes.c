#include "data/deletes.h"

#include "base/alloc.h"
#include "base/vector.h"
#include "data/deletes_internal.h"

typedef FIRN_VECTOR(size_t) number_list;
typedef FIRN_VECTOR(firn_deletes_vector) vector_list;

/* ---- gathering positions ---- */

static firn_roaring **set_of(firn_deletes_work *work, size_t data, firn_error *error) {
    firn_roaring **set = &work->out->in_memory[data];
    if (*set == NULL) *set = firn_roaring_new();
    if (*set == NULL) firn_fail_memory(error);
    return *set == NULL ? NULL : set;
}

static void note_sequence_number(firn_deletes_work *work, size_t data, int64_t sequence_number) {
    int64_t *largest = &work->out->largest_sequence_number[data];
    if (sequence_number > *largest) *largest = sequence_number;
}

/* A position behind the manifest's last row deletes nothing only if the manifest counts rightly: else the row would live again
   once its delete file is replaced. Data file `data` is locked. */
static firn_status check_last_row(firn_deletes_work *work, size_t data, firn_error *error) {
    if (work->rows_checked[data]) return FIRN_OK;
    const firn_data_file *file = &firn_deletes_data(work, data)->file;
    firn_data_source *source = NULL;
    firn_status status = firn_deletes_open(work, file, &source, error);
    if (status == FIRN_OK)
        status = firn_data_source_check_rows(source, work->request->table->metadata, file, error);
    firn_data_source_close(source);
    if (status == FIRN_OK) work->rows_checked[data] = true;
    return status;
}

/* Data file `data` is locked. */
static firn_status take_past_end(firn_deletes_work *work, size_t data, uint64_t position,
                                 size_t number, firn_error *error) {
    FIRN_TRY(check_last_row(work, data, error));
    if (number == FIRN_DELETES_SEVERAL) return FIRN_OK;
    firn_deletes_past_end *known = &work->out->past_end[number];
    if (known->data != NULL && known->position >= position) return FIRN_OK;
    *known = (firn_deletes_past_end){work->request->data[data], position};
    return FIRN_OK;
}

void firn_deletes_leave(firn_deletes_work *work, uint64_t row) {
    uint64_t least = atomic_load(&work->next_row);
    while (row < least && !atomic_compare_exchange_weak(&work->next_row, &least, row)) continue;
}

static firn_status add_locked(firn_deletes_work *work, size_t data, const uint64_t *positions,
                              size_t count, firn_deletes_origin origin, firn_error *error) {
    int64_t rows = firn_deletes_data(work, data)->file.record_count;
    firn_roaring **set = set_of(work, data, error);
    if (set == NULL) return FIRN_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (positions[i] >= (uint64_t)rows) {
            FIRN_TRY(take_past_end(work, data, positions[i], origin.number, error));
            continue;
        }
        if (positions[i] >= work->end_row) firn_deletes_leave(work, positions[i]);
        if (positions[i] < work->first_row || positions[i] >= work->end_row) continue;
        FIRN_TRY(firn_roaring_add(*set, positions[i], error));
        note_sequence_number(work, data, origin.sequence_number);
    }
    return FIRN_OK;
}

firn_status firn_deletes_add(firn_deletes_work *work, size_t data, const uint64_t *positions,
                             size_t count, firn_deletes_origin origin, firn_error *error) {
    if (count == 0) return FIRN_OK;
    pthread_mutex_t *lock = &work->locks[data % FIRN_DELETES_LOCKS];
    pthread_mutex_lock(lock);
    firn_status status = add_locked(work, data, positions, count, origin, error);
    pthread_mutex_unlock(lock);
    return status;
}

static firn_status take_out(firn_roaring *set, uint64_t first, uint64_t end, firn_error *error) {
    firn_roaring *gone = firn_roaring_new();
    if (gone == NULL) return firn_fail_memory(error);
    firn_status status = firn_roaring_add_range(gone, first, end, error);
    if (status == FIRN_OK) status = firn_roaring_remove_all(set, gone, error);
    firn_roaring_free(gone);
    return status;
}

/* Takes out what lies behind the last row, and what is not asked for. */
static firn_status trim_locked(firn_deletes_work *work, size_t data, firn_roaring *set,
                               const firn_roaring_part *part, size_t number, firn_error *error) {
    uint64_t end = (uint64_t)firn_deletes_data(work, data)->file.record_count;
    uint64_t left = 0;
    if (part->count > 0 && part->greatest >= end) {
        FIRN_TRY(take_past_end(work, data, part->greatest, number, error));
    }
    if (firn_roaring_take(set, work->end_row, end, &left, 1) == 1) firn_deletes_leave(work, left);
    if (part->behind < end) firn_deletes_leave(work, part->behind);
    if (end > work->end_row) end = work->end_row;
    uint64_t greatest = 0;
    if (firn_roaring_maximum(set, &greatest) && greatest >= end) {
        FIRN_TRY(take_out(set, end, greatest + 1, error));
    }
    return take_out(set, 0, work->first_row, error);
}

/* *positions becomes NULL where it is taken as it is. */
static firn_status add_set_locked(firn_deletes_work *work, size_t data, firn_roaring **positions,
                                  const firn_roaring_part *part, firn_deletes_origin origin,
                                  firn_error *error) {
    firn_roaring **set = &work->out->in_memory[data];
    FIRN_TRY(trim_locked(work, data, *positions, part, origin.number, error));
    if (firn_roaring_count(*positions) == 0) return FIRN_OK;
    note_sequence_number(work, data, origin.sequence_number);
    if (*set != NULL) return firn_roaring_add_all(*set, *positions, error);
    *set = *positions;
    *positions = NULL;
    return FIRN_OK;
}

firn_status firn_deletes_add_set(firn_deletes_work *work, size_t data, firn_roaring *positions,
                                 const firn_roaring_part *part, firn_deletes_origin origin,
                                 firn_error *error) {
    pthread_mutex_t *lock = &work->locks[data % FIRN_DELETES_LOCKS];
    pthread_mutex_lock(lock);
    firn_status status = add_set_locked(work, data, &positions, part, origin, error);
    pthread_mutex_unlock(lock);
    firn_roaring_free(positions);
    return status;
}

void firn_deletes_count(firn_deletes_work *work, int64_t delete_files, int64_t delete_bytes,
                        int64_t data_bytes) {
    pthread_mutex_lock(&work->counters);
    work->out->delete_files_read += delete_files;
    work->out->delete_bytes_read += delete_bytes;
    work->out->data_bytes_read += data_bytes;
    pthread_mutex_unlock(&work->counters);
}

firn_status firn_deletes_open(const firn_deletes_work *work, const firn_data_file *file,
                              firn_data_source **out, firn_error *error) {
    if (file->record_count < 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: the manifest counts %lld rows", file->path,
                         (long long)file->record_count);
    }
    return firn_data_source_open(work->request->table->storage, file, out, error);
}

/* ---- which delete files there are to read ---- */

/* Position deletes and vectors of the snapshot, for an index over them alone. */
typedef struct position_deletes {
    const firn_manifest_entry **entries;
    size_t *numbers; /* of each, in files->deletes */
    size_t count;
} position_deletes;

static firn_status list_positions(firn_deletes_work *work, position_deletes *out,
                                  firn_error *error) {
    const firn_live_files *files = work->request->files;
    out->entries = firn_arena_alloc(work->arena, files->delete_count + 1, sizeof *out->entries);
    out->numbers = firn_arena_alloc(work->arena, files->delete_count + 1, sizeof *out->numbers);
    if (out->entries == NULL || out->numbers == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->delete_count; i++) {
        if (files->deletes[i].entry.file.content != FIRN_CONTENT_POSITION_DELETES) continue;
        out->numbers[out->count] = i;
        out->entries[out->count++] = &files->deletes[i].entry;
    }
    return FIRN_OK;
}

/* What applies to one data file: its vector, and marks in `used` for the rest. */
static firn_status look_up(firn_deletes_work *work, const firn_delete_index *index,
                           const position_deletes *deletes, size_t data, firn_arena *scratch,
                           vector_list *vectors, firn_error *error) {
    const size_t *found = NULL;
    size_t count = 0;
    FIRN_TRY(firn_delete_index_find(index, firn_deletes_data(work, data), scratch, &found, &count,
                                    error));
    for (size_t i = 0; i < count; i++) {
        size_t number = deletes->numbers[found[i]];
        work->out->used[number] = work->applies[number] = true;
        if (deletes->entries[found[i]]->file.format != FIRN_FILE_PUFFIN) continue;
        work->has_vector[data] = true;
        FIRN_TRY(firn_vector_push(vectors, error, (firn_deletes_vector){number, data}));
    }
    return FIRN_OK;
}

static firn_status look_all_up(firn_deletes_work *work, const position_deletes *deletes,
                               vector_list *vectors, firn_error *error) {
    firn_delete_index *index = NULL;
    firn_arena *scratch = NULL;
    firn_status status;
    FIRN_CHECK(firn_delete_index_new(work->request->table->metadata, deletes->entries,
                                     deletes->count, &index, error));
    for (size_t i = 0; i < work->request->data_count; i++) {
        /* What one look-up found is marked and done with. */
        if (i % 1024 == 0) {
            firn_arena_free(scratch);
            scratch = firn_arena_new();
            if (scratch == NULL) {
                status = firn_fail_memory(error);
                goto out;
            }
        }
        FIRN_CHECK(look_up(work, index, deletes, i, scratch, vectors, error));
    }
out:
    firn_arena_free(scratch);
    firn_delete_index_free(index);
    return status;
}

static firn_status read_positions(firn_deletes_work *work, firn_error *error) {
    position_deletes deletes = {0};
    vector_list vectors = {0};
    number_list files = {0};
    firn_status status;
    FIRN_CHECK(list_positions(work, &deletes, error));
    if (deletes.count == 0) goto out;
    FIRN_CHECK(look_all_up(work, &deletes, &vectors, error));
    for (size_t i = 0; i < deletes.count; i++) {
        if (!work->applies[deletes.numbers[i]]) continue;
        if (deletes.entries[i]->file.format == FIRN_FILE_PUFFIN) continue;
        FIRN_CHECK(firn_vector_push(&files, error, deletes.numbers[i]));
    }
    FIRN_CHECK(firn_deletes_read_vectors(work, vectors.items, vectors.count, error));
    FIRN_CHECK(firn_deletes_read_positions(work, files.items, files.count, error));
out:
    firn_vector_release(&vectors);
    firn_vector_release(&files);
    return status;
}

/* ---- the whole ---- */

static void drop_empty_sets(firn_deletes *out) {
    for (size_t i = 0; i < out->data_count; i++) {
        if (firn_roaring_count(out->in_memory[i]) != 0) continue;
        firn_roaring_free(out->in_memory[i]);
        out->in_memory[i] = NULL;
    }
}

static firn_status prepare_work(firn_deletes_work *work, firn_error *error) {
    size_t count = work->request->data_count;
    work->arena = firn_arena_new();
    if (work->arena == NULL) return firn_fail_memory(error);
    work->has_vector = firn_arena_alloc(work->arena, count + 1, sizeof *work->has_vector);
    work->rows_checked = firn_arena_alloc(work->arena, count + 1, sizeof *work->rows_checked);
    work->applies = firn_arena_alloc(work->arena, work->request->files->delete_count + 1,
                                     sizeof *work->applies);
    if (work->has_vector == NULL || work->rows_checked == NULL || work->applies == NULL) {
        return firn_fail_memory(error);
    }
    return FIRN_OK;
}

firn_status firn_deletes_resolve_rows(const firn_deletes_request *request, uint64_t first_row,
                                      uint64_t end_row, uint64_t *next_row, firn_deletes *out,
                                      firn_error *error) {
    firn_deletes_work work = {.request = request,
                              .out = out,
                              .first_row = first_row,
                              .end_row = end_row,
                              .next_row = UINT64_MAX};
    for (size_t i = 0; i < FIRN_DELETES_LOCKS; i++) pthread_mutex_init(&work.locks[i], NULL);
    pthread_mutex_init(&work.counters, NULL);
    firn_status status;
    FIRN_CHECK(prepare_work(&work, error));
    if (request->positions) FIRN_CHECK(read_positions(&work, error));
    if (request->equality) FIRN_CHECK(firn_deletes_read_equality(&work, error));
    drop_empty_sets(out);
    *next_row = atomic_load(&work.next_row);
out:
    for (size_t i = 0; i < FIRN_DELETES_LOCKS; i++) pthread_mutex_destroy(&work.locks[i]);
    pthread_mutex_destroy(&work.counters);
    firn_arena_free(work.arena);
    return status;
}

static firn_status prepare(const firn_deletes_request *request, firn_deletes *out,
                           firn_error *error) {
    size_t count = request->data_count;
    out->data_count = count;
    out->in_memory = firn_alloc_zeroed(count, sizeof(firn_roaring *));
    out->largest_sequence_number = firn_alloc_array(count, sizeof *out->largest_sequence_number);
    out->used = firn_alloc_zeroed(request->files->delete_count, sizeof *out->used);
    out->past_end = firn_alloc_zeroed(request->files->delete_count, sizeof *out->past_end);
    if (out->in_memory == NULL || out->largest_sequence_number == NULL || out->used == NULL ||
        out->past_end == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) out->largest_sequence_number[i] = -1;
    return FIRN_OK;
}

firn_status firn_deletes_resolve(const firn_deletes_request *request, firn_deletes *out,
                                 firn_error *error) {
    *out = (firn_deletes){0};
    FIRN_TRY(prepare(request, out, error));
    return firn_deletes_resolve_in_parts(request, out, error);
}

void firn_deletes_release(firn_deletes *deletes) {
    for (size_t i = 0; deletes->in_memory != NULL && i < deletes->data_count; i++) {
        firn_roaring_free(deletes->in_memory[i]);
    }
    firn_free(deletes->in_memory);
    firn_free(deletes->largest_sequence_number);
    firn_free(deletes->used);
    firn_free(deletes->past_end);
    firn_deletes_parts_free(deletes->parts);
    *deletes = (firn_deletes){0};
}
