/*
 * Positions within a memory limit. Sets of as many data files as have room are found at a time, those of a larger file for a range of its rows at
 * a time, and laid down in a spool, until somebody asks for them. Delete files are read once each time.
 */
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/vector.h"
#include "data/deletes_internal.h"
#include "data/position_sets.h"

/* Rows that share a container of a set of positions, and what one takes: a bitmap and what describes it. */
#define CONTAINER_ROWS ((uint64_t)65536)
#define CONTAINER_BYTES ((uint64_t)8192 + 64)
/* What a position takes that shares its container with no other: the container, and an array of a few. */
#define POSITION_BYTES ((uint64_t)96)
#define SET_BYTES ((uint64_t)256)
/* Of the limit, the share that the spool keeps in memory. */
#define SPOOL_SHARE 8
/* No ranges of fewer rows: each reads the delete files again. */
#define LEAST_CONTAINERS ((uint64_t)16)
/* Rows of a part, which is read as a whole: as many as a row group of firn's has. */
#define PART_ROWS (16 * CONTAINER_ROWS)

/* A run of rows of a data file, and its positions. */
typedef struct deletes_part {
    uint64_t first_row, end_row;
    firn_position_place place;
} deletes_part;

struct firn_deletes_parts {
    firn_position_sets *sets;
    FIRN_VECTOR(deletes_part) items; /* by data file and row */
    size_t *starts;                  /* of each data file, and where the last one's end */
};

/* ---- how much memory sets may take ---- */

static uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b) {
    uint64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t rows_of(const firn_deletes_request *request, size_t data) {
    int64_t rows = request->data[data]->entry.file.record_count;
    return rows < 0 ? 0 : (uint64_t)rows;
}

static uint64_t dense_bytes(uint64_t rows) {
    return plus(times(rows / CONTAINER_ROWS + 1, CONTAINER_BYTES), SET_BYTES);
}

/* Equality deletes may take every row; a position delete file no more than it has, all of one data file. */
static uint64_t expected_bytes(const firn_deletes_request *request, size_t data,
                               const size_t *found, size_t count) {
    uint64_t rows = rows_of(request, data);
    uint64_t positions = 0;
    for (size_t i = 0; i < count; i++) {
        const firn_data_file *deletes = &request->files->deletes[found[i]].entry.file;
        bool equality = deletes->content == FIRN_CONTENT_EQUALITY_DELETES;
        if (equality ? !request->equality : !request->positions) continue;
        int64_t some = equality ? (int64_t)rows : deletes->record_count;
        positions = plus(positions, some < 0 ? 0 : (uint64_t)some);
    }
    uint64_t dense = dense_bytes(rows);
    uint64_t sparse = plus(times(positions, POSITION_BYTES), positions == 0 ? 0 : SET_BYTES);
    return dense < sparse ? dense : sparse;
}

static firn_status expect(const firn_deletes_request *request, uint64_t *bytes, firn_error *error) {
    const firn_live_files *files = request->files;
    firn_status status = FIRN_OK;
    firn_delete_index *index = NULL;
    firn_arena *scratch = firn_arena_new();
    const firn_manifest_entry **entries =
        firn_alloc_array(files->delete_count + 1, sizeof *entries);
    if (scratch == NULL || entries == NULL) FIRN_CHECK(firn_fail_memory(error));
    for (size_t i = 0; i < files->delete_count; i++) entries[i] = &files->deletes[i].entry;
    FIRN_CHECK(firn_delete_index_new(request->table->metadata, entries, files->delete_count, &index,
                                     error));
    for (size_t i = 0; i < request->data_count; i++) {
        const size_t *found = NULL;
        size_t count = 0;
        firn_arena_clear(scratch);
        FIRN_CHECK(firn_delete_index_find(index, &request->data[i]->entry, scratch, &found, &count,
                                          error));
        bytes[i] = expected_bytes(request, i, found, count);
    }
out:
    firn_delete_index_free(index);
    firn_free(entries);
    firn_arena_free(scratch);
    return status;
}

/* ---- part by part ---- */

typedef struct in_parts {
    const firn_deletes_request *request;
    firn_deletes *out;
    firn_deletes_parts *parts;
    uint64_t *bytes; /* that the set of each data file may take */
    uint64_t limit;
} in_parts;

/* Rows [first_row, end_row) of a data file; the first is a multiple of what a container has. */
static firn_status keep(in_parts *work, size_t data, uint64_t first_row, uint64_t end_row,
                        firn_error *error) {
    firn_roaring **set = &work->out->in_memory[data];
    uint64_t position = 0;
    while (firn_roaring_take(*set, first_row, end_row, &position, 1) == 1) {
        deletes_part part = {.first_row = position / CONTAINER_ROWS * CONTAINER_ROWS,
                             .end_row = end_row};
        if (end_row - part.first_row > PART_ROWS) part.end_row = part.first_row + PART_ROWS;
        FIRN_TRY(firn_position_sets_add_range(work->parts->sets, *set, part.first_row, part.end_row,
                                              &part.place, error));
        FIRN_TRY(firn_vector_push(&work->parts->items, error, part));
        first_row = part.end_row;
    }
    firn_roaring_free(*set);
    *set = NULL;
    return FIRN_OK;
}

/* Data files [first, end), as if they alone had been asked for. */
static firn_status resolve_some(in_parts *work, size_t first, size_t end, uint64_t first_row,
                                uint64_t end_row, uint64_t *next_row, firn_error *error) {
    firn_deletes *out = work->out;
    firn_deletes_request request = *work->request;
    request.data += first;
    request.data_count = end - first;
    firn_deletes some = *out;
    some.in_memory += first;
    some.largest_sequence_number += first;
    some.data_count = end - first;
    FIRN_TRY(firn_cancel_check(error));
    firn_status status =
        firn_deletes_resolve_rows(&request, first_row, end_row, next_row, &some, error);
    out->delete_files_read = some.delete_files_read;
    out->delete_bytes_read = some.delete_bytes_read;
    out->data_bytes_read = some.data_bytes_read;
    return status;
}

static firn_status resolve_whole_files(in_parts *work, size_t first, size_t *end,
                                       firn_error *error) {
    uint64_t bytes = work->bytes[first];
    uint64_t next_row = 0;
    for (*end = first + 1; *end < work->request->data_count; ++*end) {
        bytes = plus(bytes, work->bytes[*end]);
        if (bytes > work->limit) break;
    }
    FIRN_TRY(resolve_some(work, first, *end, 0, UINT64_MAX, &next_row, error));
    for (size_t i = first; i < *end; i++) {
        work->parts->starts[i] = work->parts->items.count;
        FIRN_TRY(keep(work, i, 0, rows_of(work->request, i), error));
    }
    return FIRN_OK;
}

static firn_status resolve_ranges(in_parts *work, size_t data, firn_error *error) {
    uint64_t containers = work->limit / CONTAINER_BYTES;
    if (containers < LEAST_CONTAINERS) containers = LEAST_CONTAINERS;
    uint64_t step = containers * CONTAINER_ROWS;
    uint64_t rows = rows_of(work->request, data);
    work->parts->starts[data] = work->parts->items.count;
    for (uint64_t first = 0, next = 0; first < rows;
         first = next / CONTAINER_ROWS * CONTAINER_ROWS) {
        uint64_t end = rows - first > step ? first + step : rows;
        FIRN_TRY(resolve_some(work, data, data + 1, first, end, &next, error));
        FIRN_TRY(keep(work, data, first, end, error));
        if (next == UINT64_MAX) return FIRN_OK;
    }
    return FIRN_OK;
}

static bool has_position_files(const firn_live_files *files) {
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_data_file *file = &files->deletes[i].entry.file;
        if (file->content == FIRN_CONTENT_POSITION_DELETES && file->format != FIRN_FILE_PUFFIN) {
            return true;
        }
    }
    return false;
}

static firn_status resolve_all(in_parts *work, firn_error *error) {
    size_t count = work->request->data_count;
    if (work->request->positions && has_position_files(work->request->files)) {
        FIRN_TRY(firn_deletes_check_paths(work->request, error));
    }
    for (size_t first = 0, end = 0; first < count; first = end) {
        if (work->bytes[first] <= work->limit) {
            FIRN_TRY(resolve_whole_files(work, first, &end, error));
        } else {
            FIRN_TRY(resolve_ranges(work, first, error));
            end = first + 1;
        }
    }
    work->parts->starts[count] = work->parts->items.count;
    return FIRN_OK;
}

static firn_status parts_new(size_t data_count, size_t memory_bytes, firn_deletes_parts **out,
                             firn_error *error) {
    firn_deletes_parts *parts = firn_alloc_zeroed(1, sizeof *parts);
    if (parts == NULL) return firn_fail_memory(error);
    *out = parts;
    parts->starts = firn_alloc_zeroed(data_count + 1, sizeof *parts->starts);
    if (parts->starts == NULL) return firn_fail_memory(error);
    return firn_position_sets_new(memory_bytes, &parts->sets, error);
}

void firn_deletes_parts_free(firn_deletes_parts *parts) {
    if (parts == NULL) return;
    firn_position_sets_free(parts->sets);
    firn_vector_release(&parts->items);
    firn_free(parts->starts);
    firn_free(parts);
}

/* By rows alone, which is often enough to know that there is room. */
static bool has_room(const firn_deletes_request *request, uint64_t limit) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < request->data_count; i++) {
        bytes = plus(bytes, dense_bytes(rows_of(request, i)));
    }
    return bytes <= limit;
}

static firn_status find_room(in_parts *work, bool *has, firn_error *error) {
    uint64_t bytes = 0;
    FIRN_TRY(expect(work->request, work->bytes, error));
    for (size_t i = 0; i < work->request->data_count; i++) bytes = plus(bytes, work->bytes[i]);
    *has = bytes <= work->limit;
    return FIRN_OK;
}

firn_status firn_deletes_resolve_in_parts(const firn_deletes_request *request, firn_deletes *out,
                                          firn_error *error) {
    int64_t memory =
        request->memory_bytes > 0 ? request->memory_bytes : FIRN_DELETES_DEFAULT_MEMORY;
    in_parts work = {.request = request, .out = out, .limit = (uint64_t)memory / 2};
    firn_status status = FIRN_OK;
    bool has = has_room(request, work.limit);
    if (!has) {
        work.bytes = firn_alloc_array(request->data_count, sizeof *work.bytes);
        if (work.bytes == NULL) return firn_fail_memory(error);
        FIRN_CHECK(find_room(&work, &has, error));
    }
    if (has) {
        uint64_t next_row = 0;
        status = firn_deletes_resolve_rows(request, 0, UINT64_MAX, &next_row, out, error);
        goto out;
    }
    FIRN_CHECK(
        parts_new(request->data_count, (size_t)(work.limit / SPOOL_SHARE), &out->parts, error));
    work.parts = out->parts;
    status = resolve_all(&work, error);
out:
    firn_free(work.bytes);
    return status;
}

/* ---- asking for them ---- */

static const deletes_part *parts_of(const firn_deletes *deletes, size_t data, size_t *count) {
    const firn_deletes_parts *parts = deletes->parts;
    size_t first = parts->starts[deletes->first_in_parts + data];
    *count = parts->starts[deletes->first_in_parts + data + 1] - first;
    return *count == 0 ? NULL : parts->items.items + first;
}

uint64_t firn_deletes_row_count(const firn_deletes *deletes, size_t data) {
    if (deletes == NULL || deletes->in_memory == NULL) return 0;
    if (deletes->parts == NULL) return firn_roaring_count(deletes->in_memory[data]);
    size_t count = 0;
    uint64_t rows = 0;
    const deletes_part *parts = parts_of(deletes, data, &count);
    for (size_t i = 0; i < count; i++) rows += parts[i].place.count;
    return rows;
}

static firn_status add_part(const firn_deletes *deletes, const deletes_part *part,
                            firn_roaring **set, firn_error *error) {
    firn_roaring *more = NULL;
    FIRN_TRY(firn_position_sets_load(deletes->parts->sets, &part->place, &more, error));
    if (*set == NULL) {
        *set = more;
        return FIRN_OK;
    }
    firn_status status = firn_roaring_add_all(*set, more, error);
    firn_roaring_free(more);
    return status;
}

static firn_status load(const firn_deletes *deletes, size_t data, uint64_t first, uint64_t end,
                        firn_roaring **out, firn_error *error) {
    size_t count = 0;
    const deletes_part *parts = parts_of(deletes, data, &count);
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < count && status == FIRN_OK; i++) {
        if (parts[i].end_row <= first || parts[i].first_row >= end) continue;
        status = add_part(deletes, &parts[i], out, error);
    }
    return status;
}

firn_status firn_deletes_rows_of(const firn_deletes *deletes, size_t data, uint64_t first,
                                 uint64_t end, firn_deletes_rows *out, firn_error *error) {
    *out = (firn_deletes_rows){0};
    if (deletes == NULL || deletes->in_memory == NULL) return FIRN_OK;
    if (deletes->parts == NULL) {
        out->set = deletes->in_memory[data];
        return FIRN_OK;
    }
    firn_status status = load(deletes, data, first, end, &out->own, error);
    out->set = out->own;
    return status;
}

void firn_deletes_rows_release(firn_deletes_rows *rows) {
    firn_roaring_free(rows->own);
    *rows = (firn_deletes_rows){0};
}

firn_status firn_deletes_take(firn_deletes *deletes, size_t data, firn_roaring **out,
                              firn_error *error) {
    *out = NULL;
    if (deletes->in_memory == NULL) return FIRN_OK;
    if (deletes->parts == NULL) {
        *out = deletes->in_memory[data];
        deletes->in_memory[data] = NULL;
        return FIRN_OK;
    }
    firn_status status = load(deletes, data, 0, UINT64_MAX, out, error);
    if (status == FIRN_OK) return FIRN_OK;
    firn_roaring_free(*out);
    *out = NULL;
    return status;
}

firn_deletes firn_deletes_behind(const firn_deletes *deletes, size_t first) {
    firn_deletes out = deletes == NULL ? (firn_deletes){0} : *deletes;
    if (out.in_memory == NULL) return out;
    out.in_memory += first;
    out.largest_sequence_number += first;
    out.data_count -= first;
    out.first_in_parts += first;
    return out;
}

size_t firn_deletes_memory(const firn_deletes *deletes) {
    size_t bytes = 0;
    if (deletes->parts != NULL) {
        return firn_position_sets_memory(deletes->parts->sets) +
               deletes->parts->items.capacity * sizeof *deletes->parts->items.items;
    }
    for (size_t i = 0; deletes->in_memory != NULL && i < deletes->data_count; i++) {
        bytes += firn_roaring_memory(deletes->in_memory[i]);
    }
    return bytes;
}
