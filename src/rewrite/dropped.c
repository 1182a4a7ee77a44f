#include "rewrite/dropped.h"

#include "base/alloc.h"

__extension__ typedef __int128 wide;

int64_t firn_rewrite_rows_deleted(const firn_rewrite_group *group, size_t input) {
    return (int64_t)firn_deletes_row_count(group->deletes, input);
}

firn_status firn_rewrite_without_dropped(const firn_rewrite_group *group, int64_t first_row,
                                         firn_plan_unit *unit, bool *any, firn_error *error) {
    *any = false;
    if (unit->rows <= 0) return FIRN_OK;
    uint64_t first = (uint64_t)first_row;
    uint64_t end = first + (uint64_t)unit->rows;
    firn_deletes_rows deleted;
    firn_status status =
        firn_deletes_rows_of(group->deletes, unit->input, first, end, &deleted, error);
    wide kept = unit->rows - (int64_t)firn_roaring_count_range(deleted.set, first, end);
    firn_deletes_rows_release(&deleted);
    unit->compressed = (int64_t)(kept * unit->compressed / unit->rows);
    unit->uncompressed = (int64_t)(kept * unit->uncompressed / unit->rows);
    *any = kept > 0;
    return status;
}

static uint64_t first_row_of(const firn_parquet_piece *piece) {
    int64_t row = 0;
    for (size_t i = 0; i < piece->row_group; i++)
        row += piece->file->metadata->row_groups[i].num_rows;
    return (uint64_t)row;
}

static firn_status take_dropped(const firn_roaring *deleted, uint64_t start,
                                firn_parquet_piece *piece, firn_error *error) {
    uint64_t first = start + (uint64_t)piece->first_row;
    uint64_t end = first + (uint64_t)piece->row_count;
    uint64_t count = firn_roaring_count_range(deleted, first, end);
    if (count == 0) return FIRN_OK;
    uint64_t *rows = firn_alloc_array(count, sizeof *rows);
    if (rows == NULL) return firn_fail_memory(error);
    (void)firn_roaring_take(deleted, first, end, rows, count);
    for (size_t i = 0; i < count; i++) rows[i] -= start;
    /* Numbers below 2^63 are the same in both types. */
    piece->dropped_rows = (const int64_t *)rows;
    piece->dropped_count = count;
    return FIRN_OK;
}

firn_status firn_rewrite_find_dropped(const firn_rewrite_group *group, size_t input,
                                      firn_parquet_piece *piece, firn_error *error) {
    if (firn_rewrite_rows_deleted(group, input) == 0) return FIRN_OK;
    uint64_t start = first_row_of(piece);
    uint64_t first = start + (uint64_t)piece->first_row;
    uint64_t end = first + (uint64_t)piece->row_count;
    firn_deletes_rows deleted;
    firn_status status = firn_deletes_rows_of(group->deletes, input, first, end, &deleted, error);
    if (status == FIRN_OK) status = take_dropped(deleted.set, start, piece, error);
    firn_deletes_rows_release(&deleted);
    return status;
}

void firn_rewrite_release_dropped(firn_parquet_piece *pieces, size_t count) {
    for (size_t i = 0; i < count; i++) firn_free((void *)(uintptr_t)pieces[i].dropped_rows);
}

int64_t firn_rewrite_rows_kept(const firn_parquet_piece *pieces, size_t count) {
    int64_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        rows += pieces[i].row_count - (int64_t)pieces[i].dropped_count;
    }
    return rows;
}
