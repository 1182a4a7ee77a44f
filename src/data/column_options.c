/* What the table's properties ask of single columns, which they name by their full name. */
#include <string.h>
#include <strings.h>

#include "data/write_options.h"

/* parquet-java's own, which Iceberg hands on: of all columns that have no word of their own. */
#define DICTIONARIES "parquet.enable.dictionary"
#define DICTIONARY "write.parquet.dict-encoding-enabled.column."
#define STATISTICS "write.parquet.stats-enabled.column."
#define FILTER "write.parquet.bloom-filter-enabled.column."
#define SHARE "write.parquet.bloom-filter-fpp.column."
#define MAXIMUM "write.parquet.bloom-filter-max-bytes"

#define DEFAULT_SHARE 0.01
#define DEFAULT_MAXIMUM 1048576

const firn_property *firn_data_column_property(const firn_table_metadata *metadata,
                                               const char *prefix, const char *name) {
    size_t length = strlen(prefix);
    for (size_t i = 0; i < metadata->property_count; i++) {
        const firn_property *property = &metadata->properties[i];
        if (strncmp(property->key, prefix, length) == 0 &&
            strcmp(property->key + length, name) == 0) {
            return property;
        }
    }
    return NULL;
}

bool firn_data_column_has_statistics(const firn_table_metadata *metadata, const char *name) {
    const firn_property *property = firn_data_column_property(metadata, STATISTICS, name);
    return property == NULL || strcasecmp(property->value, "false") != 0;
}

/* *out keeps what holds where the table does not say. */
static firn_status read_enabled(const firn_property *property, bool *out, firn_error *error) {
    if (property == NULL) return FIRN_OK;
    *out = strcasecmp(property->value, "true") == 0;
    if (*out || strcasecmp(property->value, "false") == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "table property %s is \"%s\", neither true nor false",
                     property->key, property->value);
}

/* A decimal number with digits, a point and an exponent as they may be; the locale has no say in it. */
static bool parse_share(const char *text, double *out) {
    double value = 0, scale = 1;
    bool digits = false, fraction = false;
    const char *c = text;
    for (; (*c >= '0' && *c <= '9') || (*c == '.' && !fraction); c++) {
        if (*c == '.') {
            fraction = true;
            continue;
        }
        digits = true;
        value = value * 10 + (*c - '0');
        if (fraction) scale *= 10;
    }
    if (!digits || c - text > 64) return false;
    if (*c == 'e' || *c == 'E') {
        bool negative = c[1] == '-';
        c += negative || c[1] == '+' ? 2 : 1;
        if (c[0] < '0' || c[0] > '9') return false;
        int exponent = *c++ - '0';
        if (*c >= '0' && *c <= '9') exponent = exponent * 10 + (*c++ - '0');
        for (; exponent > 0; exponent--) *(negative ? &scale : &value) *= 10;
    }
    *out = value / scale;
    return *c == '\0' && *out > 0 && *out < 1;
}

static firn_status read_share(const firn_property *property, double *out, firn_error *error) {
    *out = DEFAULT_SHARE;
    if (property == NULL || parse_share(property->value, out)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table property %s is \"%s\"; it must lie between 0 and 1", property->key,
                     property->value);
}

static firn_status read_maximum(const firn_table_metadata *metadata, int32_t *out,
                                firn_error *error) {
    int64_t value = 0;
    FIRN_TRY(firn_table_metadata_property_int(metadata, MAXIMUM, DEFAULT_MAXIMUM, &value, error));
    if (value < FIRN_PARQUET_BLOOM_BLOCK_SIZE) {
        return firn_fail(error, FIRN_INVALID, "table property %s is %lld; the least is %d", MAXIMUM,
                         (long long)value, FIRN_PARQUET_BLOOM_BLOCK_SIZE);
    }
    *out =
        value > FIRN_PARQUET_BLOOM_MAXIMUM_SIZE ? FIRN_PARQUET_BLOOM_MAXIMUM_SIZE : (int32_t)value;
    return FIRN_OK;
}

static bool any_property(const firn_table_metadata *metadata) {
    static const char *const prefixes[] = {DICTIONARIES, DICTIONARY, STATISTICS, FILTER};
    for (size_t i = 0; i < metadata->property_count; i++) {
        const char *key = metadata->properties[i].key;
        for (size_t j = 0; j < sizeof prefixes / sizeof *prefixes; j++) {
            if (strncmp(key, prefixes[j], strlen(prefixes[j])) == 0) return true;
        }
    }
    return false;
}

static firn_status read_column(const firn_table_metadata *metadata, const char *name,
                               firn_parquet_column_options *out, firn_error *error) {
    bool dictionary = !out->no_dictionary, statistics = true;
    firn_parquet_bloom_options *filter = &out->bloom_filter;
    FIRN_TRY(
        read_enabled(firn_data_column_property(metadata, DICTIONARY, name), &dictionary, error));
    FIRN_TRY(
        read_enabled(firn_data_column_property(metadata, STATISTICS, name), &statistics, error));
    FIRN_TRY(
        read_enabled(firn_data_column_property(metadata, FILTER, name), &filter->enabled, error));
    FIRN_TRY(read_share(firn_data_column_property(metadata, SHARE, name), &filter->false_positives,
                        error));
    out->no_dictionary = !dictionary;
    out->no_statistics = !statistics;
    return FIRN_OK;
}

firn_status firn_data_column_options(const firn_table_metadata *metadata, const firn_schema *schema,
                                     const int32_t *leaf_field_ids, size_t leaf_count,
                                     firn_arena *arena, const firn_parquet_column_options **out,
                                     firn_error *error) {
    *out = NULL;
    int32_t maximum = 0;
    FIRN_TRY(read_maximum(metadata, &maximum, error));
    if (!any_property(metadata)) return FIRN_OK;
    bool dictionaries = true;
    FIRN_TRY(
        read_enabled(firn_data_column_property(metadata, DICTIONARIES, ""), &dictionaries, error));
    firn_parquet_column_options *options = firn_arena_alloc(arena, leaf_count, sizeof *options);
    if (options == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaf_count; i++) {
        options[i] = (firn_parquet_column_options){.no_dictionary = !dictionaries,
                                                   .bloom_filter.maximum_bytes = maximum};
        if (leaf_field_ids[i] < 0) continue;
        const char *name = firn_schema_full_name(schema, leaf_field_ids[i], arena);
        if (name == NULL) return firn_fail_memory(error);
        FIRN_TRY(read_column(metadata, name, &options[i], error));
    }
    *out = options;
    return FIRN_OK;
}
