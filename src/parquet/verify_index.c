/* Page indexes against pages (PageIndex.md; parquet.thrift, OffsetIndex and ColumnIndex). */
#include "parquet/verify_internal.h"

#include "base/plural.h"

static firn_status check_location(firn_parquet_check *check, const firn_parquet_page *page,
                                  size_t entry, bool begins_row, firn_error *error) {
    const firn_parquet_page_location *location = &check->indexes.offset_index.pages[entry];
    uint64_t size = page->header_bytes.size + page->body.size;
    if ((uint64_t)location->compressed_page_size != size) {
        FIRN_TRY(firn_parquet_find(check, "offset_index", true, error,
                                   "the page takes %llu bytes but the offset index says %d",
                                   (unsigned long long)size, (int)location->compressed_page_size));
    }
    if (!begins_row) {
        FIRN_TRY(firn_parquet_find(check, "offset_index", true, error,
                                   "the page begins within a row, which an offset index forbids"));
    } else if (location->first_row_index != check->whole.rows) {
        FIRN_TRY(firn_parquet_find(check, "offset_index", true, error,
                                   "the page begins with row %lld but the offset index says %lld",
                                   (long long)check->whole.rows,
                                   (long long)location->first_row_index));
    }
    const int64_t *unencoded = check->indexes.offset_index.unencoded_byte_array_bytes;
    if (unencoded == NULL || check->leaf->node->element->type != FIRN_PARQUET_BYTE_ARRAY ||
        unencoded[entry] == check->page.unencoded_bytes) {
        return FIRN_OK;
    }
    return firn_parquet_find(check, "size_statistics", true, error,
                             "the page's byte arrays have %lld bytes but the offset index says "
                             "%lld",
                             (long long)check->page.unencoded_bytes, (long long)unencoded[entry]);
}

static firn_status check_histogram(firn_parquet_check *check, const int64_t *told,
                                   size_t told_count, const int64_t *found, size_t levels,
                                   size_t entry, const char *what, firn_error *error) {
    if (told == NULL || told_count == 0 || (entry + 1) * levels > told_count) return FIRN_OK;
    for (size_t i = 0; i < levels; i++) {
        int64_t count = told[entry * levels + i];
        if (count == found[i]) continue;
        return firn_parquet_find(check, "size_statistics", true, error,
                                 "%s level %zu occurs %lld times but the column index says %lld",
                                 what, i, (long long)found[i], (long long)count);
    }
    return FIRN_OK;
}

static firn_status check_bounds(firn_parquet_check *check, size_t entry, firn_error *error) {
    const firn_parquet_column_index *index = &check->indexes.column_index;
    firn_parquet_bound_room least, greatest;
    firn_slice smallest = firn_parquet_bounds_minimum(&check->page.bounds, &least);
    firn_slice largest = firn_parquet_bounds_maximum(&check->page.bounds, &greatest);
    if (smallest.data == NULL) return FIRN_OK;
    if (firn_parquet_compare(check->order, index->min_values[entry], smallest) > 0) {
        FIRN_TRY(firn_parquet_find(check, "column_index", true, error,
                                   "the minimum is %s but the column index says %s",
                                   firn_parquet_check_text(check, smallest),
                                   firn_parquet_check_text(check, index->min_values[entry])));
    }
    if (firn_parquet_compare(check->order, index->max_values[entry], largest) >= 0) return FIRN_OK;
    return firn_parquet_find(check, "column_index", true, error,
                             "the maximum is %s but the column index says %s",
                             firn_parquet_check_text(check, largest),
                             firn_parquet_check_text(check, index->max_values[entry]));
}

static firn_status check_entry(firn_parquet_check *check, size_t entry, firn_error *error) {
    const firn_parquet_column_index *index = &check->indexes.column_index;
    const firn_parquet_tally *page = &check->page;
    int64_t nulls = page->levels - page->values;
    if (entry >= index->page_count) return FIRN_OK; /* told with the chunk */
    if (index->null_counts != NULL &&
        !firn_parquet_null_count_fits(check, page, index->null_counts[entry])) {
        FIRN_TRY(firn_parquet_find(check, "column_index", true, error,
                                   "the nulls are %lld but the column index says %lld",
                                   (long long)nulls, (long long)index->null_counts[entry]));
    }
    if (index->nan_counts != NULL && firn_parquet_order_has_nan(check->order) &&
        index->nan_counts[entry] != page->bounds.nan_count) {
        FIRN_TRY(firn_parquet_find(check, "column_index", true, error,
                                   "the NaN values are %lld but the column index says %lld",
                                   (long long)page->bounds.nan_count,
                                   (long long)index->nan_counts[entry]));
    }
    FIRN_TRY(check_histogram(check, index->definition_level_histograms,
                             index->definition_level_histograms_count, page->definition_levels,
                             check->leaf->maximum_definition_level + 1U, entry, "definition",
                             error));
    FIRN_TRY(check_histogram(check, index->repetition_level_histograms,
                             index->repetition_level_histograms_count, page->repetition_levels,
                             check->leaf->maximum_repetition_level + 1U, entry, "repetition",
                             error));
    if (!index->null_pages[entry]) return check_bounds(check, entry, error);
    if (page->values == 0) return FIRN_OK;
    return firn_parquet_find(
        check, "column_index", true, error,
        "the page has %lld value%s but the column index says that all are null",
        (long long)page->values, firn_plural((uint64_t)page->values));
}

firn_status firn_parquet_check_page_indexes(firn_parquet_check *check,
                                            const firn_parquet_page *page, bool begins_row,
                                            firn_error *error) {
    size_t entry = check->next_location;
    if (check->indexes.has_offset_index) {
        const firn_parquet_offset_index *index = &check->indexes.offset_index;
        bool there =
            entry < index->page_count && (uint64_t)index->pages[entry].offset == page->file_offset;
        /* Empty pages are in no index of some writers. */
        if (!there && check->page.levels == 0) return FIRN_OK;
        if (!there) {
            return firn_parquet_find(check, "offset_index", true, error,
                                     "the page is not where the offset index has one");
        }
        FIRN_TRY(check_location(check, page, entry, begins_row, error));
    } else if (check->page.levels == 0) {
        return FIRN_OK;
    }
    check->next_location++;
    return check->indexes.has_column_index ? check_entry(check, entry, error) : FIRN_OK;
}
