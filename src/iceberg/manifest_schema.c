/*
 * The Avro form of manifest entries (specification, "Manifest Entry Fields", "Data File Fields",
 * appendix A). One table gives both the schema and the order in which values are encoded.
 */
#include <inttypes.h>
#include <stdio.h>

#include "avro/encode.h"
#include "base/alloc.h"
#include "base/json.h"
#include "iceberg/decimal.h"
#include "iceberg/manifest_fields.h"
#include "iceberg/manifest_internal.h"

#define ALL FIRN_IN_ALL
#define V2_ON (FIRN_IN_V2 | FIRN_IN_V3)

static const firn_manifest_field entry_fields[] = {
    {0, "status", FIRN_SHAPE_INT, 0, ALL, ALL},
    {1, "snapshot_id", FIRN_SHAPE_LONG, 0, ALL, FIRN_IN_V1},
    {3, "sequence_number", FIRN_SHAPE_LONG, 0, V2_ON, 0},
    {4, "file_sequence_number", FIRN_SHAPE_LONG, 0, V2_ON, 0},
};
#define ENTRY_FIELD_COUNT (sizeof entry_fields / sizeof *entry_fields)

static const firn_manifest_field file_fields[] = {
    {134, "content", FIRN_SHAPE_INT, 0, V2_ON, V2_ON},
    {100, "file_path", FIRN_SHAPE_STRING, 0, ALL, ALL},
    {101, "file_format", FIRN_SHAPE_STRING, 0, ALL, ALL},
    {102, "partition", FIRN_SHAPE_PARTITION, 0, ALL, ALL},
    {103, "record_count", FIRN_SHAPE_LONG, 0, ALL, ALL},
    {104, "file_size_in_bytes", FIRN_SHAPE_LONG, 0, ALL, ALL},
    {105, "block_size_in_bytes", FIRN_SHAPE_LONG, 0, FIRN_IN_V1, FIRN_IN_V1},
    {108, "column_sizes", FIRN_SHAPE_COUNTS, 117, ALL, 0},
    {109, "value_counts", FIRN_SHAPE_COUNTS, 119, ALL, 0},
    {110, "null_value_counts", FIRN_SHAPE_COUNTS, 121, ALL, 0},
    {137, "nan_value_counts", FIRN_SHAPE_COUNTS, 138, ALL, 0},
    {125, "lower_bounds", FIRN_SHAPE_BOUNDS, 126, ALL, 0},
    {128, "upper_bounds", FIRN_SHAPE_BOUNDS, 129, ALL, 0},
    {131, "key_metadata", FIRN_SHAPE_BYTES, 0, ALL, 0},
    {132, "split_offsets", FIRN_SHAPE_LONGS, 133, ALL, 0},
    {135, "equality_ids", FIRN_SHAPE_INTS, 136, V2_ON, 0},
    {140, "sort_order_id", FIRN_SHAPE_INT, 0, ALL, 0},
    {142, "first_row_id", FIRN_SHAPE_LONG, 0, FIRN_IN_V3, 0},
    {143, "referenced_data_file", FIRN_SHAPE_STRING, 0, V2_ON, 0},
    {144, "content_offset", FIRN_SHAPE_LONG, 0, FIRN_IN_V3, 0},
    {145, "content_size_in_bytes", FIRN_SHAPE_LONG, 0, FIRN_IN_V3, 0},
};
#define FILE_FIELD_COUNT (sizeof file_fields / sizeof *file_fields)

/** "Always write a default in v1": what the column holds means nothing. */
#define BLOCK_SIZE_IN_BYTES ((int64_t)64 * 1024 * 1024)

/**
 * Bytes of the smallest fixed that holds every decimal of a precision (appendix A,
 * minBytesRequired).
 */
static size_t decimal_size(int32_t precision) {
    firn_int128 highest = 1;
    for (int32_t i = 0; i < precision && i < 38; i++) highest *= 10;
    uint8_t bytes[16];
    return firn_decimal_to_bytes(highest - 1, bytes);
}

/**
 * An Avro type of a field's values. Avro wants each name defined once, and not every reader follows
 * a reference to a defined name, so that a repeated type gets a name of its own: `suffix`.
 */
static firn_status put_fixed_type(const firn_type *type, const char *suffix, firn_buffer *out,
                                  firn_error *error) {
    switch (type->kind) {
    case FIRN_TYPE_UUID:
        return firn_buffer_printf(out, error,
                                  "{\"type\":\"fixed\",\"name\":\"uuid_fixed%s\",\"size\":16,"
                                  "\"logicalType\":\"uuid\"}",
                                  suffix);
    case FIRN_TYPE_FIXED:
        return firn_buffer_printf(out, error,
                                  "{\"type\":\"fixed\",\"name\":\"fixed_%" PRId32
                                  "%s\",\"size\":%" PRId32 "}",
                                  type->length, suffix, type->length);
    case FIRN_TYPE_DECIMAL:
        return firn_buffer_printf(
            out, error,
            "{\"type\":\"fixed\",\"name\":\"decimal_%" PRId32 "_%" PRId32
            "%s\",\"size\":%zu,\"logicalType\":\"decimal\",\"precision\":%" PRId32
            ",\"scale\":%" PRId32 "}",
            type->precision, type->scale, suffix, decimal_size(type->precision), type->precision,
            type->scale);
    default: return firn_buffer_append_text(out, "\"null\"", error);
    }
}

static firn_status put_partition_type(const firn_type *type, const char *suffix, firn_buffer *out,
                                      firn_error *error) {
    static const char *const zone[2] = {"false", "true"};
    const char *unit = "micros";
    int zoned = type->kind == FIRN_TYPE_TIMESTAMPTZ || type->kind == FIRN_TYPE_TIMESTAMPTZ_NS;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN:
    case FIRN_TYPE_INT:
    case FIRN_TYPE_LONG:
    case FIRN_TYPE_FLOAT:
    case FIRN_TYPE_DOUBLE:
    case FIRN_TYPE_STRING: return firn_buffer_printf(out, error, "\"%s\"", type->text);
    case FIRN_TYPE_BINARY: return firn_buffer_append_text(out, "\"bytes\"", error);
    case FIRN_TYPE_DATE:
        return firn_buffer_append_text(out, "{\"type\":\"int\",\"logicalType\":\"date\"}", error);
    case FIRN_TYPE_TIME:
        return firn_buffer_append_text(out, "{\"type\":\"long\",\"logicalType\":\"time-micros\"}",
                                       error);
    case FIRN_TYPE_TIMESTAMP_NS:
    case FIRN_TYPE_TIMESTAMPTZ_NS: unit = "nanos"; /* fall through */
    case FIRN_TYPE_TIMESTAMP:
    case FIRN_TYPE_TIMESTAMPTZ:
        return firn_buffer_printf(out, error,
                                  "{\"type\":\"long\",\"logicalType\":\"timestamp-%s\","
                                  "\"adjust-to-utc\":%s}",
                                  unit, zone[zoned]);
    default: return put_fixed_type(type, suffix, out, error);
    }
}

/** What a field is written as where nothing tells its type: then it can hold nothing but null. */
static const firn_type *written_type(const firn_partition_field *field) {
    static const firn_type text = {.kind = FIRN_TYPE_STRING, .text = "string"};
    const firn_type *type = firn_partition_stored_type(field);
    return type == NULL ? &text : type;
}

static bool type_defined_before(const firn_partition_spec *spec, size_t index) {
    const firn_type *type = written_type(&spec->fields[index]);
    for (size_t i = 0; i < index; i++) {
        if (firn_type_equal(written_type(&spec->fields[i]), type)) return true;
    }
    return false;
}

/** Two fields whose safe names collide are told apart by their ids. */
static bool name_taken(const firn_partition_spec *spec, size_t index, const char *safe,
                       char *other) {
    for (size_t i = 0; i < spec->field_count; i++) {
        if (i == index) continue;
        firn_avro_safe_name(spec->fields[i].name, other);
        if (strcmp(safe, other) == 0) return true;
    }
    return false;
}

static firn_status put_original_name(const char *name, firn_buffer *out, firn_error *error) {
    json_t *text = json_string(name);
    if (text == NULL) return firn_fail_memory(error);
    firn_status status = firn_buffer_append_text(out, ",\"iceberg-field-name\":", error);
    if (status == FIRN_OK) status = firn_json_write(text, 0, out, error);
    json_decref(text);
    return status;
}

static firn_status put_partition_field(const firn_partition_spec *spec, size_t index, char *names,
                                       size_t name_size, firn_buffer *out, firn_error *error) {
    const firn_partition_field *field = &spec->fields[index];
    const firn_type *type = written_type(field);
    char *safe = names;
    char suffix[16];
    firn_avro_safe_name(field->name, safe);
    bool taken = name_taken(spec, index, safe, names + name_size);
    FIRN_TRY(firn_buffer_printf(out, error, "%s{\"name\":\"%s", index == 0 ? "" : ",", safe));
    if (taken) FIRN_TRY(firn_buffer_printf(out, error, "_%" PRId32, field->field_id));
    FIRN_TRY(firn_buffer_append_text(out, "\",\"type\":", error));
    if (type->kind == FIRN_TYPE_UNKNOWN) {
        FIRN_TRY(firn_buffer_append_text(out, "\"null\"", error));
    } else {
        FIRN_TRY(firn_buffer_append_text(out, "[\"null\",", error));
        snprintf(suffix, sizeof suffix, "_%" PRId32, field->field_id);
        if (!type_defined_before(spec, index)) suffix[0] = '\0';
        FIRN_TRY(put_partition_type(type, suffix, out, error));
        FIRN_TRY(firn_buffer_append_text(out, "]", error));
    }
    FIRN_TRY(
        firn_buffer_printf(out, error, ",\"default\":null,\"field-id\":%" PRId32, field->field_id));
    if (taken || strcmp(safe, field->name) != 0) {
        FIRN_TRY(put_original_name(field->name, out, error));
    }
    return firn_buffer_append_text(out, "}", error);
}

static firn_status put_partition(const firn_partition_spec *spec, firn_buffer *out,
                                 firn_error *error) {
    size_t longest = 0;
    for (size_t i = 0; i < spec->field_count; i++) {
        size_t length = strlen(spec->fields[i].name);
        if (length > longest) longest = length;
    }
    size_t name_size = FIRN_AVRO_NAME_SIZE(longest);
    char *names = firn_alloc_array(2, name_size);
    if (names == NULL) return firn_fail_memory(error);
    firn_status status = firn_buffer_append_text(
        out,
        ",{\"name\":\"partition\",\"type\":{\"type\":\"record\",\"name\":\"r102\",\"fields\":[",
        error);
    for (size_t i = 0; status == FIRN_OK && i < spec->field_count; i++) {
        status = put_partition_field(spec, i, names, name_size, out, error);
    }
    if (status == FIRN_OK) status = firn_buffer_append_text(out, "]},\"field-id\":102}", error);
    firn_free(names);
    return status;
}

firn_status firn_manifest_entry_schema(int format_version, const firn_partition_spec *spec,
                                       firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_buffer_append_text(
        out, "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":[", error));
    for (size_t i = 0; i < ENTRY_FIELD_COUNT; i++) {
        const firn_manifest_field *field = &entry_fields[i];
        if (!firn_manifest_field_in(field, format_version)) continue;
        bool optional = !firn_manifest_field_required(field, format_version);
        FIRN_TRY(firn_manifest_put_shape(out, i == 0, field, optional, error));
    }
    FIRN_TRY(firn_buffer_append_text(
        out, ",{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":[",
        error));
    bool first = true;
    for (size_t i = 0; i < FILE_FIELD_COUNT; i++) {
        const firn_manifest_field *field = &file_fields[i];
        if (!firn_manifest_field_in(field, format_version)) continue;
        if (field->shape == FIRN_SHAPE_PARTITION) {
            FIRN_TRY(put_partition(spec, out, error));
        } else {
            bool optional = !firn_manifest_field_required(field, format_version);
            FIRN_TRY(firn_manifest_put_shape(out, first, field, optional, error));
        }
        first = false;
    }
    return firn_buffer_append_text(out, "]},\"field-id\":2}]}", error);
}

/* Encoding. */

static firn_status put_optional_long(firn_buffer *out, bool required, bool present, int64_t value,
                                     firn_error *error) {
    if (!required) FIRN_TRY(firn_avro_put_long(out, present ? 1 : 0, error));
    return required || present ? firn_avro_put_long(out, value, error) : FIRN_OK;
}

static firn_status put_optional_bytes(firn_buffer *out, const void *data, size_t size,
                                      firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, data == NULL ? 0 : 1, error));
    return data == NULL ? FIRN_OK : firn_avro_put_bytes(out, firn_slice_of(data, size), error);
}

static firn_status put_counts(firn_buffer *out, const firn_count_map *map, firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, map->present ? 1 : 0, error));
    if (!map->present) return FIRN_OK;
    if (map->count > 0) FIRN_TRY(firn_avro_put_long(out, (int64_t)map->count, error));
    for (size_t i = 0; i < map->count; i++) {
        FIRN_TRY(firn_avro_put_long(out, map->ids[i], error));
        FIRN_TRY(firn_avro_put_long(out, map->counts[i], error));
    }
    return firn_avro_put_long(out, 0, error);
}

static firn_status put_bounds(firn_buffer *out, const firn_bound_map *map, firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, map->present ? 1 : 0, error));
    if (!map->present) return FIRN_OK;
    int64_t count = 0;
    for (size_t i = 0; i < map->count; i++) count += map->bounds[i].data != NULL;
    if (count > 0) FIRN_TRY(firn_avro_put_long(out, count, error));
    for (size_t i = 0; i < map->count; i++) {
        if (map->bounds[i].data == NULL) continue;
        FIRN_TRY(firn_avro_put_long(out, map->ids[i], error));
        FIRN_TRY(firn_avro_put_bytes(out, map->bounds[i], error));
    }
    return firn_avro_put_long(out, 0, error);
}

static firn_status put_longs(firn_buffer *out, const int64_t *items, size_t count,
                             firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, items == NULL ? 0 : 1, error));
    if (items == NULL) return FIRN_OK;
    if (count > 0) FIRN_TRY(firn_avro_put_long(out, (int64_t)count, error));
    for (size_t i = 0; i < count; i++) FIRN_TRY(firn_avro_put_long(out, items[i], error));
    return firn_avro_put_long(out, 0, error);
}

static firn_status put_ints(firn_buffer *out, const int32_t *items, size_t count,
                            firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, items == NULL ? 0 : 1, error));
    if (items == NULL) return FIRN_OK;
    if (count > 0) FIRN_TRY(firn_avro_put_long(out, (int64_t)count, error));
    for (size_t i = 0; i < count; i++) FIRN_TRY(firn_avro_put_long(out, items[i], error));
    return firn_avro_put_long(out, 0, error);
}

/** Sign-extended to the size that the precision asks for. */
static firn_status put_decimal(firn_buffer *out, const firn_type *type, firn_int128 unscaled,
                               firn_error *error) {
    if (!firn_decimal_fits(unscaled, type->precision)) {
        return firn_fail(error, FIRN_CORRUPT, "a value has more digits than %s", type->text);
    }
    uint8_t bytes[16];
    uint8_t padded[16];
    size_t length = firn_decimal_to_bytes(unscaled, bytes);
    size_t size = decimal_size(type->precision);
    if (length > size) return firn_fail(error, FIRN_CORRUPT, "a value is no %s", type->text);
    memset(padded, unscaled < 0 ? 0xff : 0, sizeof padded);
    memcpy(padded + size - length, bytes, length);
    return firn_avro_put_fixed(out, firn_slice_of(padded, size), error);
}

static firn_status put_partition_value(firn_buffer *out, const firn_type *type,
                                       const firn_value *value, firn_error *error) {
    size_t size = value->as.bytes.size;
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: return firn_avro_put_boolean(out, value->as.boolean, error);
    case FIRN_TYPE_INT:
    case FIRN_TYPE_DATE: return firn_avro_put_long(out, value->as.int32, error);
    case FIRN_TYPE_FLOAT: return firn_avro_put_float(out, value->as.float32, error);
    case FIRN_TYPE_DOUBLE: return firn_avro_put_double(out, value->as.float64, error);
    case FIRN_TYPE_DECIMAL: return put_decimal(out, type, value->as.decimal, error);
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_BINARY: return firn_avro_put_bytes(out, value->as.bytes, error);
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
        if (size != (type->kind == FIRN_TYPE_UUID ? 16 : (size_t)type->length)) {
            return firn_fail(error, FIRN_CORRUPT, "%zu bytes are no %s", size, type->text);
        }
        return firn_avro_put_fixed(out, value->as.bytes, error);
    default: return firn_avro_put_long(out, value->as.int64, error);
    }
}

static firn_status put_tuple(firn_buffer *out, const firn_partition_spec *spec,
                             const firn_data_file *file, firn_error *error) {
    if (file->partition_count != spec->field_count) {
        return firn_fail(error, FIRN_INVALID, "%zu partition values for a spec of %zu fields",
                         file->partition_count, spec->field_count);
    }
    for (size_t i = 0; i < spec->field_count; i++) {
        const firn_partition_field *field = &spec->fields[i];
        const firn_value *value = &file->partition[i];
        const firn_type *type = written_type(field);
        bool is_void = field->transform.kind == FIRN_TRANSFORM_VOID;
        if (type->kind == FIRN_TYPE_UNKNOWN) continue;
        FIRN_TRY(firn_avro_put_long(out, value->is_null || is_void ? 0 : 1, error));
        if (value->is_null || is_void) continue;
        if (firn_partition_stored_type(field) == NULL) {
            return firn_fail(error, FIRN_UNSUPPORTED,
                             "partition field %s (id %" PRId32 "): nothing tells the type of its "
                             "values any more, so that they can't be written",
                             field->name, field->field_id);
        }
        if (value->kind != type->kind) {
            return firn_fail(error, FIRN_INVALID,
                             "partition field %s (id %" PRId32 "): the value is no %s", field->name,
                             field->field_id, type->text);
        }
        FIRN_TRY(firn_error_wrap(error, put_partition_value(out, type, value, error),
                                 "partition field %s (id %" PRId32 ")", field->name,
                                 field->field_id));
    }
    return FIRN_OK;
}

static firn_status put_file_field(firn_buffer *out, const firn_manifest_field *field,
                                  const firn_partition_spec *spec, const firn_data_file *file,
                                  firn_error *error) {
    const char *reference = file->referenced_data_file;
    switch (field->id) {
    case 134: return firn_avro_put_long(out, (int64_t)file->content, error);
    case 100: return firn_avro_put_text(out, file->path, error);
    case 101: return firn_avro_put_text(out, file->format_text, error);
    case 102: return put_tuple(out, spec, file, error);
    case 103: return firn_avro_put_long(out, file->record_count, error);
    case 104: return firn_avro_put_long(out, file->file_size_in_bytes, error);
    case 105: return firn_avro_put_long(out, BLOCK_SIZE_IN_BYTES, error);
    case 108: return put_counts(out, &file->column_sizes, error);
    case 109: return put_counts(out, &file->value_counts, error);
    case 110: return put_counts(out, &file->null_value_counts, error);
    case 137: return put_counts(out, &file->nan_value_counts, error);
    case 125: return put_bounds(out, &file->lower_bounds, error);
    case 128: return put_bounds(out, &file->upper_bounds, error);
    case 131:
        return put_optional_bytes(out, file->key_metadata.data, file->key_metadata.size, error);
    case 132: return put_longs(out, file->split_offsets, file->split_offset_count, error);
    case 135: return put_ints(out, file->equality_ids, file->equality_id_count, error);
    case 140:
        return put_optional_long(out, false, file->has_sort_order_id, file->sort_order_id, error);
    case 142:
        return put_optional_long(out, false, file->has_first_row_id, file->first_row_id, error);
    case 143:
        return put_optional_bytes(out, reference, reference == NULL ? 0 : strlen(reference), error);
    case 144:
        return put_optional_long(out, false, file->has_content_offset, file->content_offset, error);
    case 145:
        return put_optional_long(out, false, file->has_content_offset, file->content_size_in_bytes,
                                 error);
    default: return firn_fail(error, FIRN_INVALID, "field %s is not known", field->name);
    }
}

firn_status firn_manifest_entry_encode(int format_version, const firn_partition_spec *spec,
                                       const firn_manifest_entry *entry, firn_buffer *out,
                                       firn_error *error) {
    bool first_version = format_version == 1;
    FIRN_TRY(firn_avro_put_long(out, (int64_t)entry->status, error));
    FIRN_TRY(
        put_optional_long(out, first_version, entry->has_snapshot_id, entry->snapshot_id, error));
    if (!first_version) {
        FIRN_TRY(put_optional_long(out, false, entry->has_sequence_number, entry->sequence_number,
                                   error));
        FIRN_TRY(put_optional_long(out, false, entry->has_file_sequence_number,
                                   entry->file_sequence_number, error));
    }
    for (size_t i = 0; i < FILE_FIELD_COUNT; i++) {
        if (!firn_manifest_field_in(&file_fields[i], format_version)) continue;
        FIRN_TRY(put_file_field(out, &file_fields[i], spec, &entry->file, error));
    }
    return FIRN_OK;
}
