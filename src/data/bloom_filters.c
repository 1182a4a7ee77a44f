/* Bloom filters by the table's properties, which name columns by their full name. */
#include <string.h>
#include <strings.h>

#include "data/write_options.h"

#define ENABLED "write.parquet.bloom-filter-enabled.column."
#define SHARE "write.parquet.bloom-filter-fpp.column."
#define MAXIMUM "write.parquet.bloom-filter-max-bytes"

#define DEFAULT_SHARE 0.01
#define DEFAULT_MAXIMUM 1048576

static const firn_property *find(const firn_table_metadata *metadata, const char *prefix,
                                 const char *name) {
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

static firn_status read_enabled(const firn_property *property, bool *out, firn_error *error) {
    *out = false;
    if (property == NULL || strcasecmp(property->value, "false") == 0) return FIRN_OK;
    *out = strcasecmp(property->value, "true") == 0;
    if (*out) return FIRN_OK;
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
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (strncmp(metadata->properties[i].key, ENABLED, sizeof ENABLED - 1) == 0) return true;
    }
    return false;
}

firn_status firn_data_bloom_filters(const firn_table_metadata *metadata, const firn_schema *schema,
                                    const int32_t *leaf_field_ids, size_t leaf_count,
                                    firn_arena *arena, const firn_parquet_bloom_options **out,
                                    firn_error *error) {
    *out = NULL;
    int32_t maximum = 0;
    FIRN_TRY(read_maximum(metadata, &maximum, error));
    if (!any_property(metadata)) return FIRN_OK;
    firn_parquet_bloom_options *options = firn_arena_alloc(arena, leaf_count, sizeof *options);
    if (options == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < leaf_count; i++) {
        options[i] = (firn_parquet_bloom_options){0};
        if (leaf_field_ids[i] < 0) continue;
        const char *name = firn_schema_full_name(schema, leaf_field_ids[i], arena);
        if (name == NULL) return firn_fail_memory(error);
        options[i].maximum_bytes = maximum;
        FIRN_TRY(read_enabled(find(metadata, ENABLED, name), &options[i].enabled, error));
        FIRN_TRY(read_share(find(metadata, SHARE, name), &options[i].false_positives, error));
    }
    *out = options;
    return FIRN_OK;
}
