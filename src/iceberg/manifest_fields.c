#include "iceberg/manifest_fields.h"

#include <inttypes.h>

firn_status firn_manifest_put_field(firn_buffer *out, bool first, const char *name, int32_t id,
                                    const char *type, bool optional, firn_error *error) {
    FIRN_TRY(
        firn_buffer_printf(out, error, "%s{\"name\":\"%s\",\"type\":", first ? "" : ",", name));
    FIRN_TRY(firn_buffer_append_text(out, optional ? "[\"null\"," : "", error));
    FIRN_TRY(firn_buffer_append_text(out, type, error));
    FIRN_TRY(firn_buffer_append_text(out, optional ? "],\"default\":null" : "", error));
    return firn_buffer_printf(out, error, ",\"field-id\":%" PRId32 "}", id);
}

static firn_status put_map(firn_buffer *type, int32_t key, const char *value, firn_error *error) {
    return firn_buffer_printf(
        type, error,
        "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"k%" PRId32 "_v%" PRId32
        "\",\"fields\":[{\"name\":\"key\",\"type\":\"int\",\"field-id\":%" PRId32
        "},{\"name\":\"value\",\"type\":\"%s\",\"field-id\":%" PRId32
        "}]},\"logicalType\":\"map\"}",
        key, key + 1, key, value, key + 1);
}

static firn_status put_list(firn_buffer *type, int32_t element, const char *items,
                            firn_error *error) {
    return firn_buffer_printf(type, error,
                              "{\"type\":\"array\",\"items\":\"%s\",\"element-id\":%" PRId32 "}",
                              items, element);
}

/* Of a field_summary: 509, 518, 510, 511 in the order of Iceberg's own files. */
static firn_status put_summaries(firn_buffer *type, int32_t element, firn_error *error) {
    FIRN_TRY(firn_buffer_printf(type, error,
                                "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":"
                                "\"r%" PRId32 "\",\"fields\":[",
                                element));
    FIRN_TRY(
        firn_manifest_put_field(type, true, "contains_null", 509, "\"boolean\"", false, error));
    FIRN_TRY(firn_manifest_put_field(type, false, "contains_nan", 518, "\"boolean\"", true, error));
    FIRN_TRY(firn_manifest_put_field(type, false, "lower_bound", 510, "\"bytes\"", true, error));
    FIRN_TRY(firn_manifest_put_field(type, false, "upper_bound", 511, "\"bytes\"", true, error));
    return firn_buffer_printf(type, error, "]},\"element-id\":%" PRId32 "}", element);
}

static firn_status put_type(firn_buffer *type, const firn_manifest_field *field,
                            firn_error *error) {
    switch (field->shape) {
    case FIRN_SHAPE_BOOLEAN: return firn_buffer_append_text(type, "\"boolean\"", error);
    case FIRN_SHAPE_INT: return firn_buffer_append_text(type, "\"int\"", error);
    case FIRN_SHAPE_LONG: return firn_buffer_append_text(type, "\"long\"", error);
    case FIRN_SHAPE_STRING: return firn_buffer_append_text(type, "\"string\"", error);
    case FIRN_SHAPE_BYTES: return firn_buffer_append_text(type, "\"bytes\"", error);
    case FIRN_SHAPE_COUNTS: return put_map(type, field->inner, "long", error);
    case FIRN_SHAPE_BOUNDS: return put_map(type, field->inner, "bytes", error);
    case FIRN_SHAPE_LONGS: return put_list(type, field->inner, "long", error);
    case FIRN_SHAPE_INTS: return put_list(type, field->inner, "int", error);
    case FIRN_SHAPE_SUMMARIES: return put_summaries(type, field->inner, error);
    case FIRN_SHAPE_PARTITION: break;
    }
    return firn_fail(error, FIRN_INVALID, "field %s has no type of its own", field->name);
}

firn_status firn_manifest_put_shape(firn_buffer *out, bool first, const firn_manifest_field *field,
                                    bool optional, firn_error *error) {
    firn_buffer type = firn_buffer_with_maximum((size_t)1 << 20);
    firn_status status = put_type(&type, field, error);
    if (status == FIRN_OK) status = firn_buffer_append_byte(&type, 0, error);
    if (status == FIRN_OK) {
        status = firn_manifest_put_field(out, first, field->name, field->id,
                                         (const char *)type.data, optional, error);
    }
    firn_buffer_release(&type);
    return status;
}
