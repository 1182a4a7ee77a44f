#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "data/metrics.h"
#include "data/write_options.h"

#define COLUMN_PREFIX "write.metadata.metrics.column."
#define DEFAULT_KEY "write.metadata.metrics.default"
#define LIMIT_KEY "write.metadata.metrics.max-inferred-column-defaults"
#define LIMIT_DEFAULT 100

static const firn_metrics_mode default_mode = {FIRN_METRICS_TRUNCATE, 16};

static bool parse_truncate(const char *text, firn_metrics_mode *out) {
    static const char prefix[] = "truncate(";
    size_t length = sizeof prefix - 1;
    if (strncasecmp(text, prefix, length) != 0) return false;
    int64_t number = 0;
    const char *digit = text + length;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        number = number * 10 + (*digit - '0');
        if (number > INT32_MAX) return false;
    }
    if (number == 0 || strcmp(digit, ")") != 0) return false;
    *out = (firn_metrics_mode){FIRN_METRICS_TRUNCATE, (int32_t)number};
    return true;
}

/* A mode that can't be read is ignored, as Iceberg's own writers do: it only shapes metrics. */
static firn_metrics_mode parse_mode(const char *key, const char *text, firn_metrics_mode fallback) {
    firn_metrics_mode mode = {FIRN_METRICS_NONE, 0};
    if (strcasecmp(text, "none") == 0) return mode;
    mode.kind = FIRN_METRICS_COUNTS;
    if (strcasecmp(text, "counts") == 0) return mode;
    mode.kind = FIRN_METRICS_FULL;
    if (strcasecmp(text, "full") == 0) return mode;
    if (parse_truncate(text, &mode)) return mode;
    firn_log_warning("table property %s: \"%s\" is no metrics mode; ignored", key, text);
    return fallback;
}

static size_t count_leaves(const firn_type *type) {
    size_t count = 0;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_type *inner = type->fields[i].type;
        count += firn_type_is_nested(inner->kind) ? count_leaves(inner) : 1;
    }
    return count;
}

/* Columns that get metrics where there are more than the limit: a struct's own first, then what lies below its fields. */
static firn_status choose(const firn_type *type, size_t limit, firn_map *chosen,
                          firn_error *error) {
    for (size_t i = 0; i < type->field_count; i++) {
        if (firn_map_count(chosen) >= limit) return FIRN_OK;
        if (firn_type_is_nested(type->fields[i].type->kind)) continue;
        FIRN_TRY(firn_map_set_int(chosen, type->fields[i].id, chosen, error));
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (!firn_type_is_nested(type->fields[i].type->kind)) continue;
        FIRN_TRY(choose(type->fields[i].type, limit, chosen, error));
    }
    return FIRN_OK;
}

/* Whether the field, at any depth below `type`, lies in a list or a map; false also when it is not there. */
static bool is_below_repeated(const firn_type *type, int32_t field_id, bool repeated) {
    bool below = repeated || type->kind == FIRN_TYPE_LIST || type->kind == FIRN_TYPE_MAP;
    for (size_t i = 0; i < type->field_count; i++) {
        const firn_field *field = &type->fields[i];
        if (field->id == field_id) return below;
        if (firn_type_is_nested(field->type->kind) &&
            is_below_repeated(field->type, field_id, below)) {
            return true;
        }
    }
    return false;
}

static bool preserves_order(firn_transform_kind kind) {
    switch (kind) {
    case FIRN_TRANSFORM_IDENTITY:
    case FIRN_TRANSFORM_TRUNCATE:
    case FIRN_TRANSFORM_YEAR:
    case FIRN_TRANSFORM_MONTH:
    case FIRN_TRANSFORM_DAY:
    case FIRN_TRANSFORM_HOUR: return true;
    default: return false;
    }
}

static bool is_sort_column(const firn_table_metadata *metadata, int32_t field_id) {
    const firn_sort_order *order =
        firn_table_metadata_sort_order(metadata, metadata->default_sort_order_id);
    if (order == NULL) return false;
    for (size_t i = 0; i < order->field_count; i++) {
        if (order->fields[i].source_id == field_id &&
            preserves_order(order->fields[i].transform.kind)) {
            return true;
        }
    }
    return false;
}

/* What holds for columns that no property names. */
typedef struct mode_defaults {
    firn_metrics_mode mode;
    firn_map *chosen; /* NULL: the mode holds for all */
} mode_defaults;

static firn_status read_defaults(const firn_table_metadata *metadata, const firn_schema *schema,
                                 mode_defaults *out, firn_error *error) {
    out->mode = default_mode;
    const char *text = firn_table_metadata_property(metadata, DEFAULT_KEY);
    if (text != NULL) {
        out->mode = parse_mode(DEFAULT_KEY, text, default_mode);
        return FIRN_OK;
    }
    int64_t limit = LIMIT_DEFAULT;
    FIRN_TRY(firn_table_metadata_property_int(metadata, LIMIT_KEY, LIMIT_DEFAULT, &limit, error));
    if (limit < 0) limit = LIMIT_DEFAULT;
    if (count_leaves(&schema->root) <= (uint64_t)limit) return FIRN_OK;
    out->chosen = firn_map_new();
    if (out->chosen == NULL) return firn_fail_memory(error);
    return choose(&schema->root, (size_t)limit, out->chosen, error);
}

static firn_metrics_mode mode_of(const firn_table_metadata *metadata, const mode_defaults *defaults,
                                 int32_t field_id, const char *name) {
    firn_metrics_mode mode = defaults->mode;
    if (defaults->chosen != NULL && firn_map_get_int(defaults->chosen, field_id) == NULL) {
        mode = (firn_metrics_mode){FIRN_METRICS_NONE, 0};
    }
    if ((mode.kind == FIRN_METRICS_NONE || mode.kind == FIRN_METRICS_COUNTS) &&
        is_sort_column(metadata, field_id)) {
        mode = default_mode;
    }
    const firn_property *property = firn_data_column_property(metadata, COLUMN_PREFIX, name);
    if (property != NULL) mode = parse_mode(property->key, property->value, defaults->mode);
    /* What no file shall tell of its values, its entry shall not tell either. */
    if (mode.kind > FIRN_METRICS_SIZES && !firn_data_column_has_statistics(metadata, name)) {
        mode = (firn_metrics_mode){FIRN_METRICS_SIZES, 0};
    }
    return mode;
}

firn_status firn_metrics_modes(const firn_table_metadata *metadata, const firn_schema *schema,
                               const int32_t *leaf_field_ids, size_t leaf_count,
                               firn_metrics_mode *modes, firn_error *error) {
    mode_defaults defaults = {0};
    firn_arena *names = firn_arena_new();
    firn_status status = FIRN_OK;
    if (names == NULL) return firn_fail_memory(error);
    FIRN_CHECK(read_defaults(metadata, schema, &defaults, error));
    for (size_t i = 0; i < leaf_count; i++) {
        if (leaf_field_ids[i] < 0) {
            modes[i] = (firn_metrics_mode){FIRN_METRICS_NONE, 0};
            continue;
        }
        const char *name = firn_schema_full_name(schema, leaf_field_ids[i], names);
        if (name == NULL) {
            status =
                firn_schema_find(schema, leaf_field_ids[i]) == NULL
                    ? firn_fail(error, FIRN_INVALID, "no column has field id %d", leaf_field_ids[i])
                    : firn_fail_memory(error);
            goto out;
        }
        modes[i] = mode_of(metadata, &defaults, leaf_field_ids[i], name);
        bool bounds = modes[i].kind == FIRN_METRICS_TRUNCATE || modes[i].kind == FIRN_METRICS_FULL;
        if (bounds && is_below_repeated(&schema->root, leaf_field_ids[i], false)) {
            modes[i] = (firn_metrics_mode){FIRN_METRICS_COUNTS, 0};
        }
    }
out:
    firn_map_free(defaults.chosen);
    firn_arena_free(names);
    return status;
}
