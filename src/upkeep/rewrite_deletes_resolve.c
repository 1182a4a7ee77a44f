/** Deleted rows of many data files under the memory limit. */
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/machine.h"
#include "upkeep/delete_change.h"
#include "upkeep/rewrite_deletes_internal.h"

/* Rows that share a container of a set of positions, and what one takes: a bitmap and what describes it. */
#define CONTAINER_ROWS 65536
#define CONTAINER_BYTES (8192 + 64)
/* What a position takes that shares its container with no other: the container, and an array of a few. */
#define POSITION_BYTES 96
#define SET_BYTES 256

int64_t firn_rewrite_deletes_memory(const firn_rewrite_deletes_options *options) {
    return options->memory_bytes > 0 ? options->memory_bytes : firn_machine_memory() / 4;
}

static int64_t times(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

typedef struct estimation {
    const firn_live_files *files;
    int64_t *bytes; /* of each live data file: what its set takes at most */
} estimation;

/* Equality deletes may take every row; a position delete file no more than it has, all of one data file. */
static void estimate(void *context, size_t data, const size_t *found, size_t count) {
    const estimation *work = context;
    int64_t rows = work->files->data[data].entry.file.record_count;
    int64_t positions = 0;
    for (size_t i = 0; i < count; i++) {
        const firn_live_file *deletes = &work->files->deletes[found[i]];
        int64_t some = firn_is_equality(deletes) ? rows : deletes->entry.file.record_count;
        positions = plus(positions, some < 0 ? 0 : some);
    }
    int64_t containers = rows < 0 ? 0 : rows / CONTAINER_ROWS + 1;
    int64_t dense = times(containers, CONTAINER_BYTES);
    int64_t sparse = times(positions, POSITION_BYTES);
    work->bytes[data] = plus(dense < sparse ? dense : sparse, SET_BYTES);
}

static firn_status resolve_some(const firn_deletes_request *request, size_t first,
                                firn_deletes_taker take, void *context, firn_error *error) {
    firn_deletes deletes = {0};
    firn_status status;
    FIRN_CHECK(firn_cancel_check(error));
    FIRN_CHECK(firn_deletes_resolve(request, &deletes, error));
    for (size_t i = 0; i < request->data_count; i++) {
        FIRN_CHECK(take(context, first + i, deletes.positions[i],
                        deletes.largest_sequence_number[i], error));
        firn_roaring_free(deletes.positions[i]);
        deletes.positions[i] = NULL;
    }
out:
    firn_deletes_release(&deletes);
    return status;
}

firn_status firn_rewrite_deletes_resolve(firn_table *table, const firn_live_files *files,
                                         const firn_live_file *const *data, size_t count,
                                         const firn_rewrite_deletes_options *options,
                                         firn_deletes_taker take, void *context,
                                         firn_error *error) {
    firn_status status = FIRN_OK;
    firn_pool *pool = NULL;
    int64_t memory = firn_rewrite_deletes_memory(options);
    if (count == 0) return FIRN_OK;
    estimation work = {files, firn_alloc_zeroed(files->data_count, sizeof *work.bytes)};
    if (work.bytes == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_delete_visit_data(table, files, estimate, &work, error));
    FIRN_CHECK(firn_pool_new(options->threads, &pool, error));
    for (size_t first = 0, end = 0; first < count; first = end) {
        int64_t bytes = 0;
        for (; end < count; end++) {
            bytes = plus(bytes, work.bytes[data[end] - files->data]);
            if (end > first && bytes > memory / 4) break;
        }
        firn_deletes_request request = {.table = table,
                                        .files = files,
                                        .data = data + first,
                                        .data_count = end - first,
                                        .positions = true,
                                        .equality = true,
                                        .pool = pool,
                                        .memory_bytes = memory / 4 > 0 ? memory / 4 : 1};
        FIRN_CHECK(resolve_some(&request, first, take, context, error));
    }
out:
    firn_free(work.bytes);
    firn_pool_free(pool);
    return status;
}
