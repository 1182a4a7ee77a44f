#include "avro/schema.h"

static const char *const kind_names[] = {"null",   "boolean", "int",    "long",   "float",
                                         "double", "bytes",   "string", "record", "enum",
                                         "array",  "map",     "union",  "fixed"};

const char *firn_avro_kind_name(firn_avro_kind kind) {
    size_t index = (size_t)kind;
    return index < sizeof kind_names / sizeof *kind_names ? kind_names[index] : "unknown";
}

const firn_avro_field *firn_avro_field_by_id(const firn_avro_schema *record, int32_t id) {
    if (record->kind != FIRN_AVRO_RECORD || id == FIRN_AVRO_NO_ID) return NULL;
    for (size_t i = 0; i < record->count; i++) {
        if (record->fields[i].id == id) return &record->fields[i];
    }
    return NULL;
}

const firn_avro_field *firn_avro_field_by_name(const firn_avro_schema *record, const char *name) {
    if (record->kind != FIRN_AVRO_RECORD) return NULL;
    for (size_t i = 0; i < record->count; i++) {
        const char *original = record->fields[i].iceberg_name;
        if (original != NULL && strcmp(original, name) == 0) return &record->fields[i];
    }
    for (size_t i = 0; i < record->count; i++) {
        if (strcmp(record->fields[i].name, name) == 0) return &record->fields[i];
    }
    return NULL;
}

bool firn_avro_record_has_ids(const firn_avro_schema *record) {
    if (record->kind != FIRN_AVRO_RECORD) return false;
    for (size_t i = 0; i < record->count; i++) {
        if (record->fields[i].id != FIRN_AVRO_NO_ID) return true;
    }
    return false;
}

const firn_avro_schema *firn_avro_schema_non_null(const firn_avro_schema *schema) {
    if (schema->kind != FIRN_AVRO_UNION || schema->count != 2) return schema;
    if (schema->branches[0]->kind == FIRN_AVRO_NULL) return schema->branches[1];
    if (schema->branches[1]->kind == FIRN_AVRO_NULL) return schema->branches[0];
    return schema;
}
