/* Statistics against values (parquet.thrift, Statistics). Bounds may be wider than the values unless they say that they are exact. */
#include "parquet/statistics_trust.h"
#include "parquet/verify_internal.h"

static const char *holder(bool of_page) {
    return of_page ? "the page's statistics" : "the footer's statistics";
}

/*
 * Whether min_value and max_value are a promise. That goes further than what may be built on (statistics_trust.h): without column_orders readers
 * take them at their word where a type has only one order, and a known fault of the writer is a fault all the more.
 */
static bool order_is_defined(const firn_parquet_check *check) {
    const firn_parquet_file_metadata *metadata = check->file->metadata;
    if (check->order == FIRN_PARQUET_ORDER_NONE) return false;
    if (metadata->column_orders == NULL) return firn_parquet_order_is_signed(check->order);
    return firn_parquet_has_type_order(metadata, (size_t)check->leaf->index);
}

static firn_status check_side(firn_parquet_check *check, firn_slice bound, firn_slice value,
                              bool is_minimum, bool exact, bool of_page, firn_error *error) {
    const char *side = is_minimum ? "minimum" : "maximum";
    int order = firn_parquet_compare(check->order, bound, value);
    if (is_minimum ? order > 0 : order < 0) {
        return firn_parquet_find(check, "statistics", of_page, error, "the %s is %s but %s say %s",
                                 side, firn_parquet_check_text(check, value), holder(of_page),
                                 firn_parquet_check_text(check, bound));
    }
    if (!exact || order == 0) return FIRN_OK;
    return firn_parquet_find(check, "statistics", of_page, error,
                             "the %s is %s but %s say that it is exactly %s", side,
                             firn_parquet_check_text(check, value), holder(of_page),
                             firn_parquet_check_text(check, bound));
}

static firn_status check_pair(firn_parquet_check *check, firn_slice minimum, firn_slice maximum,
                              const firn_parquet_statistics *statistics,
                              const firn_parquet_tally *tally, bool of_page, firn_error *error) {
    const firn_parquet_schema_element *element = check->leaf->node->element;
    const firn_slice bounds[] = {minimum, maximum};
    for (int i = 0; i < 2; i++) {
        if (bounds[i].data == NULL || firn_parquet_bound_fits(element, bounds[i])) continue;
        FIRN_TRY(firn_parquet_find(check, "statistics", of_page, error,
                                   "the %s in %s is no value that can bound the column: %s",
                                   i == 0 ? "minimum" : "maximum", holder(of_page),
                                   firn_parquet_check_text(check, bounds[i])));
        return FIRN_OK;
    }
    firn_parquet_bound_room least, greatest;
    firn_slice smallest = firn_parquet_bounds_minimum(&tally->bounds, &least);
    firn_slice largest = firn_parquet_bounds_maximum(&tally->bounds, &greatest);
    if (smallest.data == NULL) return FIRN_OK;
    if (minimum.data != NULL) {
        bool exact = statistics->has_min_exact && statistics->min_exact;
        FIRN_TRY(check_side(check, minimum, smallest, true, exact, of_page, error));
    }
    if (maximum.data == NULL) return FIRN_OK;
    bool exact = statistics->has_max_exact && statistics->max_exact;
    return check_side(check, maximum, largest, false, exact, of_page, error);
}

static firn_status check_count(firn_parquet_check *check, bool present, int64_t told, int64_t found,
                               const char *what, bool of_page, firn_error *error) {
    if (!present || told == found) return FIRN_OK;
    return firn_parquet_find(check, "statistics", of_page, error,
                             "there are %lld %s but %s say %lld", (long long)found, what,
                             holder(of_page), (long long)told);
}

bool firn_parquet_null_count_fits(const firn_parquet_check *check, const firn_parquet_tally *tally,
                                  int64_t told) {
    int64_t most = tally->levels - tally->values, least = most;
    const firn_parquet_schema_element *element = check->leaf->node->element;
    if (check->leaf->maximum_repetition_level > 0) {
        least = element->repetition == FIRN_PARQUET_OPTIONAL
                    ? tally->definition_levels[check->leaf->maximum_definition_level - 1]
                    : 0;
    }
    return told >= least && told <= most;
}

firn_status firn_parquet_check_statistics(firn_parquet_check *check,
                                          const firn_parquet_statistics *statistics,
                                          const firn_parquet_tally *tally, bool of_page,
                                          firn_error *error) {
    if (statistics->has_null_count &&
        !firn_parquet_null_count_fits(check, tally, statistics->null_count)) {
        FIRN_TRY(check_count(check, true, statistics->null_count, tally->levels - tally->values,
                             "nulls", of_page, error));
    }
    if (firn_parquet_order_has_nan(check->order)) {
        FIRN_TRY(check_count(check, statistics->has_nan_count, statistics->nan_count,
                             tally->bounds.nan_count, "NaN values", of_page, error));
    }
    if (statistics->has_distinct_count &&
        (statistics->distinct_count < 0 || statistics->distinct_count > tally->values)) {
        FIRN_TRY(
            firn_parquet_find(check, "statistics", of_page, error, "%lld distinct values of %lld",
                              (long long)statistics->distinct_count, (long long)tally->values));
    }
    if (order_is_defined(check)) {
        FIRN_TRY(check_pair(check, statistics->min_value, statistics->max_value, statistics, tally,
                            of_page, error));
    }
    /* The deprecated pair was compared as signed, so that it means something for signed types only. */
    if (!firn_parquet_order_is_signed(check->order)) return FIRN_OK;
    firn_parquet_statistics deprecated = {0};
    return check_pair(check, statistics->deprecated_min, statistics->deprecated_max, &deprecated,
                      tally, of_page, error);
}
