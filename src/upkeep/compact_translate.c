/** From rows of inputs to rows of outputs. */
#include "upkeep/compact_internal.h"

#define ROWS_AT_ONCE 1024

static int64_t rows_before(const firn_compact_group *group, size_t input) {
    firn_rewrite_group counted = {.inputs = group->files, .deletes = &group->deletes};
    int64_t rows = 0;
    for (size_t i = 0; i < input; i++) {
        rows += group->files[i]->entry.file.record_count - firn_rewrite_rows_deleted(&counted, i);
    }
    return rows;
}

/** The outputs as runs of rows, and where in them the last look-up ended: rows come in rising order. */
typedef struct output_walk {
    const firn_compact_done *done;
    firn_roaring **sets;
    size_t output;
    int64_t first_row; /* of the output, among the rows of all */
} output_walk;

static firn_status mark_row(output_walk *walk, int64_t row, firn_error *error) {
    const firn_compact_done *done = walk->done;
    while (walk->output < done->output_count &&
           row - walk->first_row >= done->outputs[walk->output].file.record_count) {
        walk->first_row += done->outputs[walk->output].file.record_count;
        walk->output++;
    }
    if (walk->output == done->output_count) {
        return firn_fail(error, FIRN_CORRUPT,
                         "row %lld of a group has no place in its outputs, which have %lld rows",
                         (long long)row, (long long)walk->first_row);
    }
    firn_roaring **set = &walk->sets[walk->output];
    if (*set == NULL) *set = firn_roaring_new();
    if (*set == NULL) return firn_fail_memory(error);
    return firn_roaring_add(*set, (uint64_t)(row - walk->first_row), error);
}

static firn_status translate(const firn_compact_done *done, size_t input,
                             const firn_roaring *dropped, const firn_roaring *positions,
                             firn_roaring **sets, firn_error *error) {
    const firn_compact_group *group = done->group;
    uint64_t end = (uint64_t)group->files[input]->entry.file.record_count;
    uint64_t rows[ROWS_AT_ONCE];
    uint64_t next = 0; /* rows below it are counted in `kept` */
    int64_t kept = rows_before(group, input);
    output_walk walk = {.done = done, .sets = sets};
    for (;;) {
        size_t count = firn_roaring_take(positions, next, end, rows, ROWS_AT_ONCE);
        for (size_t i = 0; i < count; i++) {
            uint64_t gone = firn_roaring_count_range(dropped, next, rows[i]);
            kept += (int64_t)(rows[i] - next - gone);
            FIRN_TRY(mark_row(&walk, kept, error));
            next = rows[i];
        }
        if (count < ROWS_AT_ONCE) return FIRN_OK;
        /* The last row itself is counted with those that follow. */
        kept++;
        next++;
    }
}

firn_status firn_compact_translate(const firn_compact_done *done, size_t input,
                                   const firn_roaring *positions, firn_roaring **sets,
                                   firn_error *error) {
    firn_deletes_rows dropped;
    firn_status status =
        firn_deletes_rows_of(&done->group->deletes, input, 0, UINT64_MAX, &dropped, error);
    if (status == FIRN_OK) status = translate(done, input, dropped.set, positions, sets, error);
    firn_deletes_rows_release(&dropped);
    return status;
}
