/* Whether two data files are described alike. */
#include <string.h>

#include "iceberg/manifest.h"

static bool equal_texts(const char *a, const char *b) {
    if (a == NULL || b == NULL) return a == b;
    return strcmp(a, b) == 0;
}

/** Absent and empty are two things. */
static bool equal_bytes(firn_slice a, firn_slice b) {
    return (a.data == NULL) == (b.data == NULL) && firn_slice_equal(a, b);
}

static bool equal_runs(const void *a, size_t a_count, const void *b, size_t b_count, size_t size) {
    if (a_count != b_count || (a == NULL) != (b == NULL)) return false;
    return a_count == 0 || memcmp(a, b, a_count * size) == 0;
}

static bool equal_counts(const firn_count_map *a, const firn_count_map *b) {
    return a->present == b->present &&
           equal_runs(a->ids, a->count, b->ids, b->count, sizeof *a->ids) &&
           equal_runs(a->counts, a->count, b->counts, b->count, sizeof *a->counts);
}

static bool equal_bounds(const firn_bound_map *a, const firn_bound_map *b) {
    if (a->present != b->present ||
        !equal_runs(a->ids, a->count, b->ids, b->count, sizeof *a->ids)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!equal_bytes(a->bounds[i], b->bounds[i])) return false;
    }
    return true;
}

static bool equal_partitions(const firn_data_file *a, const firn_data_file *b) {
    if (a->spec_id != b->spec_id || a->partition_count != b->partition_count) return false;
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!firn_value_equal(&a->partition[i], &b->partition[i])) return false;
    }
    return true;
}

static bool equal_metrics(const firn_data_file *a, const firn_data_file *b) {
    return equal_counts(&a->column_sizes, &b->column_sizes) &&
           equal_counts(&a->value_counts, &b->value_counts) &&
           equal_counts(&a->null_value_counts, &b->null_value_counts) &&
           equal_counts(&a->nan_value_counts, &b->nan_value_counts) &&
           equal_bounds(&a->lower_bounds, &b->lower_bounds) &&
           equal_bounds(&a->upper_bounds, &b->upper_bounds);
}

/** A number that may be absent. */
static bool equal_numbers(bool has_a, int64_t a, bool has_b, int64_t b) {
    return has_a == has_b && (!has_a || a == b);
}

static bool equal_lists(const firn_data_file *a, const firn_data_file *b) {
    return equal_runs(a->split_offsets, a->split_offset_count, b->split_offsets,
                      b->split_offset_count, sizeof *a->split_offsets) &&
           equal_runs(a->equality_ids, a->equality_id_count, b->equality_ids, b->equality_id_count,
                      sizeof *a->equality_ids);
}

static bool equal_places(const firn_data_file *a, const firn_data_file *b) {
    return equal_texts(a->referenced_data_file, b->referenced_data_file) &&
           equal_numbers(a->has_content_offset, a->content_offset, b->has_content_offset,
                         b->content_offset) &&
           equal_numbers(a->has_content_offset, a->content_size_in_bytes, b->has_content_offset,
                         b->content_size_in_bytes);
}

bool firn_data_file_equal(const firn_data_file *a, const firn_data_file *b) {
    return a->content == b->content && equal_texts(a->path, b->path) && a->format == b->format &&
           equal_texts(a->format_text, b->format_text) && equal_partitions(a, b) &&
           a->record_count == b->record_count && a->file_size_in_bytes == b->file_size_in_bytes &&
           equal_metrics(a, b) && equal_bytes(a->key_metadata, b->key_metadata) &&
           equal_lists(a, b) &&
           equal_numbers(a->has_sort_order_id, a->sort_order_id, b->has_sort_order_id,
                         b->sort_order_id) &&
           equal_numbers(a->has_first_row_id, a->first_row_id, b->has_first_row_id,
                         b->first_row_id) &&
           equal_places(a, b);
}
