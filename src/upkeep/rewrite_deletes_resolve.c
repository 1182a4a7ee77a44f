/** Deleted rows of many data files under the memory limit. */
#include "base/cancel.h"
#include "base/machine.h"
#include "upkeep/rewrite_deletes_internal.h"

int64_t firn_rewrite_deletes_memory(const firn_rewrite_deletes_options *options) {
    return options->memory_bytes > 0 ? options->memory_bytes : firn_machine_memory() / 4;
}

static firn_status take_all(firn_deletes *deletes, firn_deletes_taker take, void *context,
                            firn_error *error) {
    for (size_t i = 0; i < deletes->data_count; i++) {
        firn_roaring *positions = NULL;
        FIRN_TRY(firn_cancel_check(error));
        FIRN_TRY(firn_deletes_take(deletes, i, &positions, error));
        firn_status status =
            take(context, i, positions, deletes->largest_sequence_number[i], error);
        firn_roaring_free(positions);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

firn_status firn_rewrite_deletes_resolve(firn_table *table, const firn_live_files *files,
                                         const firn_live_file *const *data, size_t count,
                                         const firn_rewrite_deletes_options *options,
                                         firn_deletes_taker take, void *context,
                                         firn_error *error) {
    firn_status status = FIRN_OK;
    firn_pool *pool = NULL;
    firn_deletes deletes = {0};
    int64_t memory = firn_rewrite_deletes_memory(options) / 2;
    if (count == 0) return FIRN_OK;
    FIRN_CHECK(firn_pool_new(options->threads, &pool, error));
    firn_deletes_request request = {.table = table,
                                    .files = files,
                                    .data = data,
                                    .data_count = count,
                                    .positions = true,
                                    .equality = true,
                                    .pool = pool,
                                    .memory_bytes = memory > 0 ? memory : 1};
    FIRN_CHECK(firn_deletes_resolve(&request, &deletes, error));
    status = take_all(&deletes, take, context, error);
out:
    firn_deletes_release(&deletes);
    firn_pool_free(pool);
    return status;
}
