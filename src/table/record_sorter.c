/** An external merge sort: runs that fit into memory are sorted and put down one after the other, then read side by side. */
#include "table/record_sorter.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/spool.h"
#include "base/vector.h"

#define LEAST_MEMORY ((size_t)64 << 10)
#define LEAST_WINDOW ((size_t)16 << 10)
#define LARGEST_WINDOW ((size_t)1 << 20)
#define RECORD_MAXIMUM ((size_t)UINT32_MAX)

/** A sorted run in the spool, of which a window lies in memory. */
typedef struct run {
    uint64_t next, end; /* of what is still to be read */
    uint8_t *window;
    size_t capacity, at, size; /* the window holds `size` bytes, those before `at` are used up */
    firn_record_view record;
} run;

struct firn_record_sorter {
    size_t memory_bytes;
    firn_arena *arena; /* records of the run that grows */
    FIRN_VECTOR(const uint8_t *) records;
    size_t given; /* how many of `records` were, where there are no runs */
    firn_buffer scratch;
    firn_spool *spool;
    uint64_t spooled;
    firn_read_at file;
    FIRN_VECTOR(run) runs;
    FIRN_VECTOR(run *) heap; /* of runs that have a record, the smallest one first */
    bool taken;              /* the first one's record was given out */
};

firn_status firn_record_sorter_new(size_t memory_bytes, firn_record_sorter **out,
                                   firn_error *error) {
    firn_record_sorter *sorter = firn_alloc_zeroed(1, sizeof *sorter);
    if (sorter == NULL) return firn_fail_memory(error);
    sorter->memory_bytes = memory_bytes < LEAST_MEMORY ? LEAST_MEMORY : memory_bytes;
    sorter->scratch = firn_buffer_with_maximum(RECORD_MAXIMUM);
    sorter->arena = firn_arena_new();
    if (sorter->arena == NULL) {
        firn_record_sorter_free(sorter);
        return firn_fail_memory(error);
    }
    *out = sorter;
    return FIRN_OK;
}

void firn_record_sorter_free(firn_record_sorter *sorter) {
    if (sorter == NULL) return;
    for (size_t i = 0; i < sorter->runs.count; i++) firn_free(sorter->runs.items[i].window);
    firn_vector_release(&sorter->runs);
    firn_vector_release(&sorter->heap);
    firn_vector_release(&sorter->records);
    firn_buffer_release(&sorter->scratch);
    firn_spool_free(sorter->spool);
    firn_arena_free(sorter->arena);
    firn_free(sorter);
}

/* --- runs --------------------------------------------------------------------------------------- */

static firn_record_view view_of(const uint8_t *record) {
    firn_record_view view = {0};
    /* Packed by this process a moment ago. */
    (void)firn_record_look(firn_slice_of(record, firn_record_size(record)), &view, NULL);
    return view;
}

static int by_key(const void *a, const void *b) {
    firn_record_view left = view_of(*(const uint8_t *const *)a);
    firn_record_view right = view_of(*(const uint8_t *const *)b);
    return firn_slice_compare(left.key, right.key);
}

static void sort_records(firn_record_sorter *sorter) {
    if (sorter->records.count < 2) return;
    qsort(sorter->records.items, sorter->records.count, sizeof *sorter->records.items, by_key);
}

static firn_status flush(firn_record_sorter *sorter, firn_error *error) {
    firn_buffer *bytes = &sorter->scratch;
    FIRN_TRY(firn_spool_write(sorter->spool, bytes->data, bytes->size, error));
    sorter->spooled += bytes->size;
    firn_buffer_clear(bytes);
    return FIRN_OK;
}

/** Puts the records that are in memory down as a run. */
static firn_status spill(firn_record_sorter *sorter, firn_error *error) {
    if (sorter->records.count == 0) return FIRN_OK;
    if (sorter->spool == NULL) FIRN_TRY(firn_spool_new(0, &sorter->spool, error));
    run added = {.next = sorter->spooled};
    sort_records(sorter);
    firn_buffer_clear(&sorter->scratch);
    for (size_t i = 0; i < sorter->records.count; i++) {
        const uint8_t *record = sorter->records.items[i];
        FIRN_TRY(firn_buffer_append(&sorter->scratch, record, firn_record_size(record), error));
        if (sorter->scratch.size >= LEAST_WINDOW) FIRN_TRY(flush(sorter, error));
    }
    FIRN_TRY(flush(sorter, error));
    added.end = sorter->spooled;
    FIRN_TRY(firn_vector_push(&sorter->runs, error, added));
    sorter->records.count = 0;
    firn_arena_clear(sorter->arena);
    return FIRN_OK;
}

firn_status firn_record_sorter_add(firn_record_sorter *sorter, const firn_data_file *file,
                                   firn_error *error) {
    firn_buffer_clear(&sorter->scratch);
    FIRN_TRY(firn_record_pack(file, &sorter->scratch, error));
    size_t held =
        firn_arena_bytes(sorter->arena) + sorter->records.count * sizeof *sorter->records.items;
    if (held + sorter->scratch.size > sorter->memory_bytes) {
        FIRN_TRY(spill(sorter, error));
        firn_buffer_clear(&sorter->scratch);
        FIRN_TRY(firn_record_pack(file, &sorter->scratch, error));
    }
    const uint8_t *record =
        firn_arena_memdup(sorter->arena, sorter->scratch.data, sorter->scratch.size);
    if (record == NULL) return firn_fail_memory(error);
    return firn_vector_push(&sorter->records, error, record);
}

/* --- merging ------------------------------------------------------------------------------------ */

static firn_status grow_window(run *r, size_t wanted, firn_error *error) {
    if (wanted <= r->capacity) return FIRN_OK;
    uint8_t *grown = firn_realloc(r->window, wanted);
    if (grown == NULL) return firn_fail_memory(error);
    r->window = grown;
    r->capacity = wanted;
    return FIRN_OK;
}

/** Makes the window hold `wanted` bytes from `at` on, and as many more as it has room for. CORRUPT where the run ends before. */
static firn_status need(const firn_record_sorter *sorter, run *r, size_t wanted,
                        firn_error *error) {
    size_t left = r->size - r->at;
    if (left >= wanted) return FIRN_OK;
    if (wanted - left > r->end - r->next) {
        return firn_fail(error, FIRN_CORRUPT, "a run of sorted entries ends within a record");
    }
    if (left > 0) memmove(r->window, r->window + r->at, left);
    r->at = 0;
    r->size = left;
    FIRN_TRY(grow_window(r, wanted, error));
    size_t more = r->capacity - left;
    if (more > r->end - r->next) more = (size_t)(r->end - r->next);
    FIRN_TRY(firn_read_at_exact(&sorter->file, r->next, r->window + left, more, error));
    r->next += more;
    r->size += more;
    return FIRN_OK;
}

/** Goes to the run's next record; *more is false at its end. */
static firn_status advance(const firn_record_sorter *sorter, run *r, bool *more,
                           firn_error *error) {
    *more = r->at < r->size || r->next < r->end;
    if (!*more) return FIRN_OK;
    FIRN_TRY(need(sorter, r, FIRN_RECORD_HEADER_SIZE, error));
    size_t size = firn_record_size(r->window + r->at);
    FIRN_TRY(need(sorter, r, size, error));
    FIRN_TRY(firn_record_look(firn_slice_of(r->window + r->at, size), &r->record, error));
    r->at += size;
    return FIRN_OK;
}

static bool comes_before(const run *a, const run *b) {
    return firn_slice_compare(a->record.key, b->record.key) < 0;
}

static void sift_down(firn_record_sorter *sorter, size_t at) {
    run **heap = sorter->heap.items;
    for (;;) {
        size_t smallest = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < sorter->heap.count && comes_before(heap[child], heap[smallest])) {
                smallest = child;
            }
        }
        if (smallest == at) return;
        run *moved = heap[at];
        heap[at] = heap[smallest];
        heap[smallest] = moved;
        at = smallest;
    }
}

static size_t window_size(const firn_record_sorter *sorter) {
    size_t size = sorter->memory_bytes / sorter->runs.count;
    if (size > LARGEST_WINDOW) return LARGEST_WINDOW;
    return size < LEAST_WINDOW ? LEAST_WINDOW : size;
}

static firn_status start_runs(firn_record_sorter *sorter, firn_error *error) {
    sorter->file = firn_spool_bytes(sorter->spool, "a temporary file of sorted entries");
    for (size_t i = 0; i < sorter->runs.count; i++) {
        run *r = &sorter->runs.items[i];
        bool more = false;
        FIRN_TRY(grow_window(r, window_size(sorter), error));
        FIRN_TRY(advance(sorter, r, &more, error));
        FIRN_TRY(firn_vector_push(&sorter->heap, error, r));
    }
    for (size_t i = sorter->heap.count; i > 0; i--) sift_down(sorter, i - 1);
    return FIRN_OK;
}

firn_status firn_record_sorter_start(firn_record_sorter *sorter, firn_error *error) {
    if (sorter->runs.count == 0) {
        sort_records(sorter);
        return FIRN_OK;
    }
    FIRN_TRY(spill(sorter, error));
    firn_vector_release(&sorter->records);
    firn_buffer_release(&sorter->scratch);
    firn_arena_free(sorter->arena);
    sorter->arena = NULL;
    return start_runs(sorter, error);
}

static firn_status drop_taken(firn_record_sorter *sorter, firn_error *error) {
    bool more = false;
    FIRN_TRY(advance(sorter, sorter->heap.items[0], &more, error));
    if (!more) sorter->heap.items[0] = sorter->heap.items[--sorter->heap.count];
    sift_down(sorter, 0);
    return FIRN_OK;
}

firn_status firn_record_sorter_next(firn_record_sorter *sorter, firn_record_view *out, bool *more,
                                    firn_error *error) {
    if (sorter->runs.count == 0) {
        *more = sorter->given < sorter->records.count;
        if (*more) *out = view_of(sorter->records.items[sorter->given++]);
        return FIRN_OK;
    }
    if (sorter->taken) FIRN_TRY(drop_taken(sorter, error));
    sorter->taken = *more = sorter->heap.count > 0;
    if (*more) *out = sorter->heap.items[0]->record;
    return FIRN_OK;
}
