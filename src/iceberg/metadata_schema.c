#include "base/map.h"
#include "iceberg/metadata_parse.h"
#include "iceberg/spec_parse.h"

#define WHAT FIRN_METADATA_WHAT

/* Partition field ids are above this one ("Partition Evolution"). */
#define LAST_PARTITION_ID_OF_NONE 999

static int64_t schema_id_at(const void *items, size_t index) {
    const firn_schema *const *schemas = items;
    return schemas[index]->schema_id;
}

/* Room for one more than the list has, for v1's lone schema. */
static firn_status parse_schema_list(firn_table_metadata *metadata, const json_t *list,
                                     firn_error *error) {
    size_t count = json_array_size(list);
    const firn_schema **schemas = firn_arena_alloc(metadata->arena, count + 1, sizeof *schemas);
    if (schemas == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_error_wrap(error,
                                 firn_schema_parse(json_array_get(list, i), "schema",
                                                   metadata->arena, &schemas[i], error),
                                 "schemas[%zu]", i));
    }
    metadata->schemas = schemas;
    metadata->schema_count = count;
    return firn_check_unique(schemas, count, schema_id_at, "schema-id", error);
}

/*
 * v1 without current-schema-id: `schema` is current. It is one of the list, or joins it; of two that share an
 * id but not their fields it can't be told which one snapshots mean.
 */
static firn_status adopt_lone_schema(firn_table_metadata *metadata, firn_error *error) {
    const firn_schema *schema = NULL;
    json_t *json = NULL;
    FIRN_TRY(firn_json_object(metadata->json, WHAT, "schema", &json, error));
    FIRN_TRY(firn_schema_parse(json, "schema", metadata->arena, &schema, error));
    const firn_schema *listed = firn_table_metadata_schema(metadata, schema->schema_id);
    if (listed != NULL && !firn_type_equal(&listed->root, &schema->root)) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: field current-schema-id: is missing, and schema %d of the list is "
                         "not the current one",
                         WHAT, schema->schema_id);
    }
    if (listed == NULL) {
        /* parse_schema_list left room for it. */
        ((const firn_schema **)metadata->schemas)[metadata->schema_count++] = schema;
        listed = schema;
    }
    metadata->schema = listed;
    return FIRN_OK;
}

static firn_status choose_current_schema(firn_table_metadata *metadata, firn_error *error) {
    int32_t id = 0;
    bool found = false;
    FIRN_TRY(
        firn_json_int32_optional(metadata->json, WHAT, "current-schema-id", &id, &found, error));
    if (metadata->format_version == 1 && (!found || metadata->schema_count == 0)) {
        return adopt_lone_schema(metadata, error);
    }
    FIRN_TRY(firn_json_int32(metadata->json, WHAT, "current-schema-id", &id, error));
    metadata->schema = firn_table_metadata_schema(metadata, id);
    if (metadata->schema != NULL) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "%s: field current-schema-id: there is no schema %d",
                     WHAT, id);
}

firn_status firn_metadata_parse_schemas(firn_table_metadata *metadata, firn_error *error) {
    json_t *list = NULL;
    if (metadata->format_version == 1) {
        FIRN_TRY(firn_json_array_optional(metadata->json, WHAT, "schemas", &list, NULL, error));
    } else {
        FIRN_TRY(firn_json_array(metadata->json, WHAT, "schemas", &list, error));
    }
    FIRN_TRY(parse_schema_list(metadata, list, error));
    FIRN_TRY(choose_current_schema(metadata, error));
    FIRN_TRY(
        firn_json_int32(metadata->json, WHAT, "last-column-id", &metadata->last_column_id, error));
    for (size_t i = 0; i < metadata->schema_count; i++) {
        int32_t highest = firn_schema_highest_id(metadata->schemas[i]);
        if (highest > metadata->last_column_id) metadata->last_column_id = highest;
    }
    return FIRN_OK;
}

static int64_t spec_id_at(const void *items, size_t index) {
    const firn_partition_spec *const *specs = items;
    return specs[index]->spec_id;
}

static firn_status parse_spec(firn_table_metadata *metadata, const json_t *json,
                              firn_binding *binding, firn_partition_spec *out, firn_error *error) {
    json_t *fields = NULL;
    FIRN_TRY(firn_json_int32(json, "partition spec", "spec-id", &out->spec_id, error));
    FIRN_TRY(firn_json_array(json, "partition spec", "fields", &fields, error));
    return firn_error_wrap(error,
                           firn_partition_fields_parse(fields, metadata->format_version == 1,
                                                       binding, metadata->arena, out, error),
                           "partition spec %d", out->spec_id);
}

static firn_status parse_spec_list(firn_table_metadata *metadata, const json_t *list,
                                   firn_binding *binding, firn_error *error) {
    size_t count = json_array_size(list);
    const firn_partition_spec **specs = firn_arena_alloc(metadata->arena, count, sizeof *specs);
    firn_partition_spec *items = firn_arena_alloc(metadata->arena, count, sizeof *items);
    if (specs == NULL || items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_error_wrap(
            error, parse_spec(metadata, json_array_get(list, i), binding, &items[i], error),
            "partition-specs[%zu]", i));
        specs[i] = &items[i];
    }
    metadata->specs = specs;
    metadata->spec_count = count;
    return firn_check_unique(specs, count, spec_id_at, "spec-id", error);
}

/* v1 with `partition-spec` alone: the list of its fields, as spec 0. */
static firn_status adopt_lone_spec(firn_table_metadata *metadata, firn_binding *binding,
                                   firn_error *error) {
    json_t *fields = NULL;
    FIRN_TRY(firn_json_array(metadata->json, WHAT, "partition-spec", &fields, error));
    const firn_partition_spec **specs = firn_arena_alloc(metadata->arena, 1, sizeof *specs);
    firn_partition_spec *spec = firn_arena_alloc(metadata->arena, 1, sizeof *spec);
    if (specs == NULL || spec == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_error_wrap(
        error, firn_partition_fields_parse(fields, true, binding, metadata->arena, spec, error),
        "partition-spec"));
    specs[0] = spec;
    metadata->specs = specs;
    metadata->spec_count = 1;
    metadata->default_spec = spec;
    return FIRN_OK;
}

static firn_status choose_default_spec(firn_table_metadata *metadata, firn_error *error) {
    int32_t id = 0;
    bool found = false;
    FIRN_TRY(firn_json_int32_optional(metadata->json, WHAT, "default-spec-id", &id, &found, error));
    if (!found && metadata->format_version > 1) {
        return firn_json_int32(metadata->json, WHAT, "default-spec-id", &id, error);
    }
    /* v1 may leave it out: specs are numbered upwards, so the newest one is in use. */
    for (size_t i = 0; !found && i < metadata->spec_count; i++) {
        const firn_partition_spec *spec = metadata->specs[i];
        if (i == 0 || spec->spec_id > id) id = spec->spec_id;
    }
    metadata->default_spec = firn_table_metadata_spec(metadata, id);
    if (metadata->default_spec != NULL) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: field default-spec-id: there is no partition spec %d", WHAT, id);
}

static firn_status parse_last_partition_id(firn_table_metadata *metadata, firn_error *error) {
    int32_t last = LAST_PARTITION_ID_OF_NONE;
    if (metadata->format_version == 1) {
        FIRN_TRY(firn_json_int32_optional(metadata->json, WHAT, "last-partition-id", &last, NULL,
                                          error));
    } else {
        FIRN_TRY(firn_json_int32(metadata->json, WHAT, "last-partition-id", &last, error));
    }
    if (last < LAST_PARTITION_ID_OF_NONE) last = LAST_PARTITION_ID_OF_NONE;
    for (size_t i = 0; i < metadata->spec_count; i++) {
        const firn_partition_spec *spec = metadata->specs[i];
        for (size_t j = 0; j < spec->field_count; j++) {
            if (spec->fields[j].field_id > last) last = spec->fields[j].field_id;
        }
    }
    metadata->last_partition_id = last;
    return FIRN_OK;
}

firn_status firn_metadata_parse_specs(firn_table_metadata *metadata, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_binding binding = {metadata->schema, metadata->schemas, metadata->schema_count, NULL};
    json_t *list = NULL;
    FIRN_CHECK(
        firn_json_array_optional(metadata->json, WHAT, "partition-specs", &list, NULL, error));
    if (metadata->format_version == 1 && json_array_size(list) == 0) {
        FIRN_CHECK(adopt_lone_spec(metadata, &binding, error));
    } else {
        FIRN_CHECK(firn_json_array(metadata->json, WHAT, "partition-specs", &list, error));
        FIRN_CHECK(parse_spec_list(metadata, list, &binding, error));
        FIRN_CHECK(choose_default_spec(metadata, error));
    }
    FIRN_CHECK(parse_last_partition_id(metadata, error));
out:
    firn_map_free(binding.types);
    return status;
}

static int64_t order_id_at(const void *items, size_t index) {
    const firn_sort_order *const *orders = items;
    return orders[index]->order_id;
}

static firn_status parse_order_list(firn_table_metadata *metadata, const json_t *list,
                                    firn_error *error) {
    size_t count = json_array_size(list);
    const firn_sort_order **orders = firn_arena_alloc(metadata->arena, count, sizeof *orders);
    firn_sort_order *items = firn_arena_alloc(metadata->arena, count, sizeof *items);
    if (orders == NULL || items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_error_wrap(
            error,
            firn_sort_order_parse(json_array_get(list, i), metadata->arena, &items[i], error),
            "sort-orders[%zu]", i));
        orders[i] = &items[i];
    }
    metadata->sort_orders = orders;
    metadata->sort_order_count = count;
    return firn_check_unique(orders, count, order_id_at, "order-id", error);
}

firn_status firn_metadata_parse_sort_orders(firn_table_metadata *metadata, firn_error *error) {
    json_t *list = NULL;
    int32_t id = 0;
    if (metadata->format_version == 1) {
        FIRN_TRY(firn_json_array_optional(metadata->json, WHAT, "sort-orders", &list, NULL, error));
        FIRN_TRY(firn_json_int32_optional(metadata->json, WHAT, "default-sort-order-id", &id, NULL,
                                          error));
    } else {
        FIRN_TRY(firn_json_array(metadata->json, WHAT, "sort-orders", &list, error));
        FIRN_TRY(firn_json_int32(metadata->json, WHAT, "default-sort-order-id", &id, error));
    }
    FIRN_TRY(parse_order_list(metadata, list, error));
    /* 0 is the unsorted order, listed or not. */
    if (id != 0 && firn_table_metadata_sort_order(metadata, id) == NULL) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: field default-sort-order-id: there is no sort order %d", WHAT, id);
    }
    metadata->default_sort_order_id = id;
    return FIRN_OK;
}
