#include <string.h>
#include <strings.h>

#include "iceberg/update.h"

#define WHAT "table requirement"

typedef firn_status (*check_function)(const json_t *requirement, const firn_table_metadata *base,
                                      firn_error *error);

static firn_status check_uuid(const json_t *requirement, const firn_table_metadata *base,
                              firn_error *error) {
    const char *uuid = NULL;
    FIRN_TRY(firn_json_text(requirement, WHAT, "uuid", &uuid, error));
    if (base->table_uuid != NULL && strcasecmp(base->table_uuid, uuid) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT,
                     "assert-table-uuid: the table is %s now, not %.100s: it was replaced",
                     base->table_uuid == NULL ? "one without uuid" : base->table_uuid, uuid);
}

static firn_status check_ref(const json_t *requirement, const firn_table_metadata *base,
                             firn_error *error) {
    const char *name = NULL;
    int64_t wanted = FIRN_NO_SNAPSHOT;
    FIRN_TRY(firn_json_text(requirement, WHAT, "ref", &name, error));
    FIRN_TRY(firn_json_int64_optional(requirement, WHAT, "snapshot-id", &wanted, NULL, error));
    const firn_snapshot_ref *ref = firn_table_metadata_ref(base, name);
    int64_t actual = ref == NULL ? FIRN_NO_SNAPSHOT : ref->snapshot_id;
    if (actual == wanted) return FIRN_OK;
    if (wanted == FIRN_NO_SNAPSHOT) {
        return firn_fail(error, FIRN_CONFLICT,
                         "assert-ref-snapshot-id: \"%.100s\" exists by now, at snapshot %lld", name,
                         (long long)actual);
    }
    if (actual == FIRN_NO_SNAPSHOT) {
        return firn_fail(error, FIRN_CONFLICT, "assert-ref-snapshot-id: \"%.100s\" is gone", name);
    }
    return firn_fail(error, FIRN_CONFLICT,
                     "assert-ref-snapshot-id: \"%.100s\" is at snapshot %lld, not at %lld", name,
                     (long long)actual, (long long)wanted);
}

/* The requirements that compare one number. */
static firn_status check_id(const json_t *requirement, const char *type, const char *key,
                            int32_t actual, firn_error *error) {
    int32_t wanted = 0;
    FIRN_TRY(firn_json_int32(requirement, WHAT, key, &wanted, error));
    if (actual == wanted) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT, "%s: it is %d, not %d", type, actual, wanted);
}

static firn_status check_field_id(const json_t *requirement, const firn_table_metadata *base,
                                  firn_error *error) {
    return check_id(requirement, "assert-last-assigned-field-id", "last-assigned-field-id",
                    base->last_column_id, error);
}

static firn_status check_schema(const json_t *requirement, const firn_table_metadata *base,
                                firn_error *error) {
    return check_id(requirement, "assert-current-schema-id", "current-schema-id",
                    base->schema->schema_id, error);
}

static firn_status check_partition_id(const json_t *requirement, const firn_table_metadata *base,
                                      firn_error *error) {
    return check_id(requirement, "assert-last-assigned-partition-id", "last-assigned-partition-id",
                    base->last_partition_id, error);
}

static firn_status check_spec(const json_t *requirement, const firn_table_metadata *base,
                              firn_error *error) {
    return check_id(requirement, "assert-default-spec-id", "default-spec-id",
                    base->default_spec->spec_id, error);
}

static firn_status check_order(const json_t *requirement, const firn_table_metadata *base,
                               firn_error *error) {
    return check_id(requirement, "assert-default-sort-order-id", "default-sort-order-id",
                    base->default_sort_order_id, error);
}

static const struct {
    const char *type;
    check_function check;
} checks[] = {
    {"assert-table-uuid", check_uuid},
    {"assert-ref-snapshot-id", check_ref},
    {"assert-last-assigned-field-id", check_field_id},
    {"assert-current-schema-id", check_schema},
    {"assert-last-assigned-partition-id", check_partition_id},
    {"assert-default-spec-id", check_spec},
    {"assert-default-sort-order-id", check_order},
};

static firn_status check_one(const json_t *requirement, const firn_table_metadata *base,
                             firn_error *error) {
    const char *type = NULL;
    FIRN_TRY(firn_json_text(requirement, WHAT, "type", &type, error));
    if (strcmp(type, "assert-create") == 0) {
        if (base == NULL) return FIRN_OK;
        return firn_fail(error, FIRN_CONFLICT, "assert-create: the table exists by now");
    }
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (strcmp(type, checks[i].type) != 0) continue;
        if (base != NULL) return checks[i].check(requirement, base, error);
        return firn_fail(error, FIRN_CONFLICT, "%s: the table does not exist", type);
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "the requirement %.100s is not known to firn", type);
}

firn_status firn_table_update_check(const firn_table_update *update,
                                    const firn_table_metadata *base, firn_error *error) {
    size_t count = json_array_size(update->requirements);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(check_one(json_array_get(update->requirements, i), base, error));
    }
    return FIRN_OK;
}
