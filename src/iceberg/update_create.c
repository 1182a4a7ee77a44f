#include "base/alloc.h"
#include "base/random.h"
#include "iceberg/json_copy.h"
#include "iceberg/update_apply.h"

typedef struct new_table {
    int format_version;
    const char *location;
    json_t *schema, *spec, *properties; /**< owned */
    int64_t now_ms;
    int32_t last_column_id, last_partition_id;
    json_t *document; /**< owned */
} new_table;

/* [item]; takes it over. */
static json_t *list_of(json_t *item) {
    json_t *list = json_array();
    if (list != NULL && item != NULL && json_array_append(list, item) != 0) {
        json_decref(list);
        list = NULL;
    }
    json_decref(item);
    return list;
}

static firn_status prepare_schema(new_table *table, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_schema *parsed = NULL;
    firn_status status = firn_schema_parse(table->schema, "schema", arena, &parsed, error);
    if (status == FIRN_OK) status = firn_check_full_names(parsed, arena, error);
    if (status == FIRN_OK) table->last_column_id = firn_schema_highest_id(parsed);
    firn_arena_free(arena);
    if (status != FIRN_OK) return status;
    return firn_json_set_int(table->schema, "schema-id", 0, error);
}

/* Numbers fields without an id by position; no spec means unpartitioned. */
static firn_status prepare_spec(new_table *table, firn_error *error) {
    if (table->spec == NULL) {
        table->spec = json_object();
        if (table->spec == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_json_set(table->spec, "fields", json_array(), error));
    }
    json_t *fields = NULL;
    FIRN_TRY(firn_json_array(table->spec, "partition spec", "fields", &fields, error));
    table->last_partition_id = 999;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        json_t *field = json_array_get(fields, i);
        int32_t id = 1000 + (int32_t)i;
        bool found = false;
        FIRN_TRY(
            firn_json_int32_optional(field, "partition field", "field-id", &id, &found, error));
        if (!found) FIRN_TRY(firn_json_set_int(field, "field-id", id, error));
        if (id > table->last_partition_id) table->last_partition_id = id;
    }
    return firn_json_set_int(table->spec, "spec-id", 0, error);
}

static firn_status put_schema_and_spec(new_table *table, firn_error *error) {
    json_t *json = table->document;
    FIRN_TRY(firn_json_set_int(json, "last-column-id", table->last_column_id, error));
    if (table->format_version == 1) {
        FIRN_TRY(firn_json_set(json, "schema", json_incref(table->schema), error));
        FIRN_TRY(firn_json_set(json, "partition-spec",
                               json_incref(json_object_get(table->spec, "fields")), error));
    }
    FIRN_TRY(firn_json_set_int(json, "current-schema-id", 0, error));
    FIRN_TRY(firn_json_set(json, "schemas", list_of(json_incref(table->schema)), error));
    FIRN_TRY(firn_json_set_int(json, "default-spec-id", 0, error));
    FIRN_TRY(firn_json_set(json, "partition-specs", list_of(json_incref(table->spec)), error));
    FIRN_TRY(firn_json_set_int(json, "last-partition-id", table->last_partition_id, error));
    FIRN_TRY(firn_json_set_int(json, "default-sort-order-id", 0, error));
    json_t *unsorted = json_object();
    FIRN_TRY(firn_json_set(json, "sort-orders", list_of(unsorted), error));
    unsorted = json_array_get(json_object_get(json, "sort-orders"), 0);
    if (unsorted == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_json_set_int(unsorted, "order-id", 0, error));
    return firn_json_set(unsorted, "fields", json_array(), error);
}

static firn_status put_identity(new_table *table, firn_error *error) {
    char uuid[FIRN_UUID_TEXT_SIZE];
    json_t *json = table->document;
    FIRN_TRY(firn_uuid_random(uuid, error));
    FIRN_TRY(firn_json_set_int(json, "format-version", table->format_version, error));
    FIRN_TRY(firn_json_set_text(json, "table-uuid", uuid, error));
    FIRN_TRY(firn_json_set_text(json, "location", table->location, error));
    if (table->format_version > 1) {
        FIRN_TRY(firn_json_set_int(json, "last-sequence-number", 0, error));
    }
    return firn_json_set_int(json, "last-updated-ms", table->now_ms, error);
}

static firn_status put_history(new_table *table, firn_error *error) {
    json_t *json = table->document;
    json_t *properties = table->properties == NULL ? json_object() : table->properties;
    table->properties = NULL;
    FIRN_TRY(firn_json_set(json, "properties", properties, error));
    /* Older readers of v1 and v2 want the key, and -1. */
    json_t *none = table->format_version >= 3 ? json_null() : json_integer(FIRN_NO_SNAPSHOT);
    FIRN_TRY(firn_json_set(json, "current-snapshot-id", none, error));
    if (table->format_version >= 3) FIRN_TRY(firn_json_set_int(json, "next-row-id", 0, error));
    FIRN_TRY(firn_json_set(json, "refs", json_object(), error));
    FIRN_TRY(firn_json_set(json, "snapshots", json_array(), error));
    FIRN_TRY(firn_json_set(json, "snapshot-log", json_array(), error));
    return firn_json_set(json, "metadata-log", json_array(), error);
}

static firn_status build(new_table *table, firn_table_metadata **out, firn_error *error) {
    if (table->format_version < 1 || table->format_version > 3) {
        return firn_fail(error, FIRN_UNSUPPORTED, "format version %d", table->format_version);
    }
    FIRN_TRY(prepare_schema(table, error));
    FIRN_TRY(prepare_spec(table, error));
    table->document = json_object();
    if (table->document == NULL) return firn_fail_memory(error);
    FIRN_TRY(put_identity(table, error));
    FIRN_TRY(put_schema_and_spec(table, error));
    FIRN_TRY(put_history(table, error));
    json_t *document = table->document;
    table->document = NULL;
    FIRN_TRY(firn_table_metadata_from_json(document, "the new table", out, error));
    firn_status status = firn_partition_spec_check((*out)->default_spec, error);
    if (status == FIRN_OK) return FIRN_OK;
    firn_table_metadata_free(*out);
    *out = NULL;
    return status;
}

/* A copy of what the caller gave, which may still be in use elsewhere; NULL stays NULL. */
static firn_status own(json_t *given, json_t **out, firn_error *error) {
    *out = given == NULL ? NULL : firn_json_copy_deep(given);
    json_decref(given);
    return given != NULL && *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_table_metadata_create(int format_version, const char *location, json_t *schema,
                                       json_t *spec, json_t *properties, int64_t now_ms,
                                       firn_table_metadata **out, firn_error *error) {
    firn_json_setup();
    new_table table = {.format_version = format_version, .location = location, .now_ms = now_ms};
    firn_status status = own(schema, &table.schema, error);
    firn_status second = own(spec, &table.spec, error);
    firn_status third = own(properties, &table.properties, error);
    if (status == FIRN_OK) status = second != FIRN_OK ? second : third;
    if (status == FIRN_OK) status = build(&table, out, error);
    /* Whatever is wrong came with the arguments. */
    if (status == FIRN_CORRUPT) {
        status = FIRN_INVALID;
        if (error != NULL) error->code = status;
    }
    json_decref(table.schema);
    json_decref(table.spec);
    json_decref(table.properties);
    json_decref(table.document);
    return status;
}
