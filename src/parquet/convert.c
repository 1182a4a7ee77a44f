#include "parquet/convert.h"

#include "base/bytes.h"

#define MICROS_PER_DAY INT64_C(86400000000)
/* Julian day number of 1970-01-01, from which INT96 timestamps count (LogicalTypes.md keeps no rule; the value is universal). */
#define JULIAN_DAY_OF_EPOCH 2440588
/* Holds every decimal of 38 digits. */
#define LONGEST_DECIMAL 16

void firn_parquet_converter_init(firn_parquet_converter *converter) {
    *converter = (firn_parquet_converter){.conversion = FIRN_PARQUET_CONVERT_NONE};
    converter->bytes = firn_buffer_with_maximum(SIZE_MAX);
    converter->slices = firn_buffer_with_maximum(SIZE_MAX);
}

void firn_parquet_converter_release(firn_parquet_converter *converter) {
    firn_buffer_release(&converter->bytes);
    firn_buffer_release(&converter->slices);
}

static bool is_decimal_type(firn_parquet_physical_type type) {
    return type == FIRN_PARQUET_INT32 || type == FIRN_PARQUET_INT64 ||
           type == FIRN_PARQUET_BYTE_ARRAY || type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
}

static bool is_possible(const firn_parquet_converter *converter) {
    firn_parquet_physical_type from = converter->input->type;
    firn_parquet_physical_type to = converter->output->type;
    switch (converter->conversion) {
    case FIRN_PARQUET_CONVERT_NONE:
        return from == to && (from != FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY ||
                              converter->input->type_length == converter->output->type_length);
    case FIRN_PARQUET_CONVERT_INT32_TO_INT64:
    case FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS:
        return from == FIRN_PARQUET_INT32 && to == FIRN_PARQUET_INT64;
    case FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP:
        return from == FIRN_PARQUET_INT32 && to == FIRN_PARQUET_INT64 && converter->factor > 0;
    case FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE:
        return from == FIRN_PARQUET_FLOAT && to == FIRN_PARQUET_DOUBLE;
    case FIRN_PARQUET_CONVERT_DECIMAL: return is_decimal_type(from) && is_decimal_type(to);
    case FIRN_PARQUET_CONVERT_INT96_TO_MICROS:
        return from == FIRN_PARQUET_INT96 && to == FIRN_PARQUET_INT64;
    case FIRN_PARQUET_CONVERT_SCALE_UP:
    case FIRN_PARQUET_CONVERT_SCALE_DOWN:
        return from == FIRN_PARQUET_INT64 && to == FIRN_PARQUET_INT64 && converter->factor > 0;
    }
    return false;
}

firn_status firn_parquet_converter_set(firn_parquet_converter *converter,
                                       const firn_parquet_leaf_mapping *mapping,
                                       const firn_parquet_schema_element *input,
                                       const firn_parquet_schema_element *output,
                                       firn_error *error) {
    converter->conversion = mapping->conversion;
    converter->factor = mapping->factor;
    converter->input = input;
    converter->output = output;
    if (is_possible(converter)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "no conversion %d from %s to %s",
                     (int)mapping->conversion, firn_parquet_type_name(input->type),
                     firn_parquet_type_name(output->type));
}

static firn_status out_of_range(firn_error *error, const char *what) {
    return firn_fail(error, FIRN_CORRUPT, "a %s is out of the range of the table's type", what);
}

static void widen_integers(const firn_parquet_values *in, bool is_unsigned, uint8_t *out) {
    for (size_t i = 0; i < in->count; i++) {
        uint32_t bits = firn_load_le32(in->fixed + i * 4);
        firn_store_le64(out + i * 8, is_unsigned ? bits : (uint64_t)(int64_t)(int32_t)bits);
    }
}

static void widen_floats(const firn_parquet_values *in, uint8_t *out) {
    for (size_t i = 0; i < in->count; i++) {
        double value = (double)firn_float_of_bits(firn_load_le32(in->fixed + i * 4));
        firn_store_le64(out + i * 8, firn_bits_of_double(value));
    }
}

static firn_status scale_up(const firn_parquet_values *in, int64_t factor, uint8_t *out,
                            firn_error *error) {
    bool overflow = false;
    for (size_t i = 0; i < in->count; i++) {
        int64_t value = (int64_t)firn_load_le64(in->fixed + i * 8);
        overflow |= __builtin_mul_overflow(value, factor, &value);
        firn_store_le64(out + i * 8, (uint64_t)value);
    }
    return overflow ? out_of_range(error, "time") : FIRN_OK;
}

static int64_t floor_divide(int64_t value, int64_t divisor) {
    int64_t quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

static void scale_down(const firn_parquet_values *in, int64_t factor, uint8_t *out) {
    for (size_t i = 0; i < in->count; i++) {
        int64_t value = (int64_t)firn_load_le64(in->fixed + i * 8);
        firn_store_le64(out + i * 8, (uint64_t)floor_divide(value, factor));
    }
}

static void time_to_micros(const firn_parquet_values *in, uint8_t *out) {
    for (size_t i = 0; i < in->count; i++) {
        int64_t millis = (int32_t)firn_load_le32(in->fixed + i * 4);
        firn_store_le64(out + i * 8, (uint64_t)(millis * 1000));
    }
}

static firn_status dates_to_timestamps(const firn_parquet_values *in, int64_t factor, uint8_t *out,
                                       firn_error *error) {
    bool overflow = false;
    for (size_t i = 0; i < in->count; i++) {
        int64_t value = (int32_t)firn_load_le32(in->fixed + i * 4);
        overflow |= __builtin_mul_overflow(value, factor, &value);
        firn_store_le64(out + i * 8, (uint64_t)value);
    }
    return overflow ? out_of_range(error, "date") : FIRN_OK;
}

/* INT96: nanoseconds of the day, then the Julian day. */
static firn_status int96_to_micros(const firn_parquet_values *in, uint8_t *out, firn_error *error) {
    bool overflow = false;
    for (size_t i = 0; i < in->count; i++) {
        const uint8_t *value = in->fixed + i * 12;
        int64_t day = (int64_t)(int32_t)firn_load_le32(value + 8) - JULIAN_DAY_OF_EPOCH;
        int64_t micros = floor_divide((int64_t)firn_load_le64(value), 1000);
        int64_t start;
        overflow |= __builtin_mul_overflow(day, MICROS_PER_DAY, &start);
        overflow |= __builtin_add_overflow(start, micros, &micros);
        firn_store_le64(out + i * 8, (uint64_t)micros);
    }
    return overflow ? out_of_range(error, "timestamp") : FIRN_OK;
}

/* A decimal as big-endian two's complement of LONGEST_DECIMAL bytes. */
static bool load_decimal(const firn_parquet_values *in, size_t index,
                         uint8_t out[LONGEST_DECIMAL]) {
    uint8_t native[8];
    firn_slice value;
    if (in->type == FIRN_PARQUET_BYTE_ARRAY) {
        value = in->slices[index];
    } else if (in->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY) {
        value = firn_slice_of(in->fixed + index * in->width, in->width);
    } else if (in->type == FIRN_PARQUET_INT32) {
        firn_store_be32(native, firn_load_le32(in->fixed + index * 4));
        value = firn_slice_of(native, 4);
    } else {
        firn_store_be64(native, firn_load_le64(in->fixed + index * 8));
        value = firn_slice_of(native, 8);
    }
    uint8_t sign = value.size != 0 && (value.data[0] & 0x80) != 0 ? 0xFF : 0;
    while (value.size > LONGEST_DECIMAL && value.data[0] == sign) {
        value = firn_slice_of(value.data + 1, value.size - 1);
    }
    if (value.size > LONGEST_DECIMAL) return false;
    memset(out, sign, LONGEST_DECIMAL);
    if (value.size != 0) memcpy(out + LONGEST_DECIMAL - value.size, value.data, value.size);
    return ((out[0] ^ sign) & 0x80) == 0;
}

/* The fewest bytes that keep the value. */
static size_t shortest_decimal(const uint8_t value[LONGEST_DECIMAL]) {
    size_t size = LONGEST_DECIMAL;
    uint8_t sign = (value[0] & 0x80) != 0 ? 0xFF : 0;
    while (size > 1 && value[LONGEST_DECIMAL - size] == sign &&
           ((value[LONGEST_DECIMAL - size + 1] ^ sign) & 0x80) == 0) {
        size--;
    }
    return size;
}

/* Stores the value in `width` bytes: little-endian for integers, big-endian else. False when it does not fit. */
static bool store_decimal(const uint8_t value[LONGEST_DECIMAL], firn_parquet_physical_type type,
                          size_t width, uint8_t *out) {
    if (shortest_decimal(value) > width) return false;
    uint8_t sign = (value[0] & 0x80) != 0 ? 0xFF : 0;
    bool is_integer = type == FIRN_PARQUET_INT32 || type == FIRN_PARQUET_INT64;
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = i < LONGEST_DECIMAL ? value[LONGEST_DECIMAL - 1 - i] : sign;
        out[is_integer ? i : width - 1 - i] = byte;
    }
    return true;
}

static firn_status decimals_to_fixed(const firn_parquet_values *in, firn_parquet_values *out,
                                     uint8_t *to, firn_error *error) {
    for (size_t i = 0; i < in->count; i++) {
        uint8_t value[LONGEST_DECIMAL];
        if (!load_decimal(in, i, value) ||
            !store_decimal(value, out->type, out->width, to + i * out->width)) {
            return out_of_range(error, "decimal");
        }
    }
    return FIRN_OK;
}

static firn_status decimals_to_slices(firn_parquet_converter *converter,
                                      const firn_parquet_values *in, firn_parquet_values *out,
                                      firn_error *error) {
    size_t count = in->count;
    if (count > SIZE_MAX / sizeof(firn_slice)) return firn_fail_memory(error);
    FIRN_TRY(firn_buffer_reserve(&converter->bytes, count * LONGEST_DECIMAL, error));
    FIRN_TRY(firn_buffer_reserve(&converter->slices, count * sizeof(firn_slice) + 1, error));
    firn_slice *slices = (firn_slice *)(void *)converter->slices.data;
    for (size_t i = 0; i < count; i++) {
        uint8_t *value = converter->bytes.data + i * LONGEST_DECIMAL;
        if (!load_decimal(in, i, value)) return out_of_range(error, "decimal");
        size_t size = shortest_decimal(value);
        slices[i] = firn_slice_of(value + LONGEST_DECIMAL - size, size);
    }
    out->slices = slices;
    return FIRN_OK;
}

static firn_status run_fixed(firn_parquet_converter *converter, const firn_parquet_values *in,
                             firn_parquet_values *out, firn_error *error) {
    size_t size;
    if (__builtin_mul_overflow(in->count, (size_t)out->width, &size)) {
        return firn_fail_memory(error);
    }
    FIRN_TRY(firn_buffer_reserve(&converter->bytes, size + 1, error));
    uint8_t *to = converter->bytes.data;
    out->fixed = to;
    switch (converter->conversion) {
    case FIRN_PARQUET_CONVERT_NONE: break;
    case FIRN_PARQUET_CONVERT_INT32_TO_INT64:
        widen_integers(in,
                       converter->input->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER &&
                           !converter->input->logical.is_signed,
                       to);
        break;
    case FIRN_PARQUET_CONVERT_FLOAT_TO_DOUBLE: widen_floats(in, to); break;
    case FIRN_PARQUET_CONVERT_DECIMAL: return decimals_to_fixed(in, out, to, error);
    case FIRN_PARQUET_CONVERT_INT96_TO_MICROS: return int96_to_micros(in, to, error);
    case FIRN_PARQUET_CONVERT_SCALE_UP: return scale_up(in, converter->factor, to, error);
    case FIRN_PARQUET_CONVERT_SCALE_DOWN: scale_down(in, converter->factor, to); break;
    case FIRN_PARQUET_CONVERT_INT32_TIME_TO_MICROS: time_to_micros(in, to); break;
    case FIRN_PARQUET_CONVERT_DATE_TO_TIMESTAMP:
        return dates_to_timestamps(in, converter->factor, to, error);
    }
    return FIRN_OK;
}

firn_status firn_parquet_converter_run(firn_parquet_converter *converter,
                                       const firn_parquet_values *in, firn_parquet_values *out,
                                       firn_error *error) {
    if (converter->conversion == FIRN_PARQUET_CONVERT_NONE) {
        *out = *in;
        return FIRN_OK;
    }
    *out = (firn_parquet_values){
        .type = converter->output->type,
        .width = firn_parquet_value_width(converter->output->type, converter->output->type_length),
        .count = in->count,
    };
    if (out->type == FIRN_PARQUET_BYTE_ARRAY) {
        return decimals_to_slices(converter, in, out, error);
    }
    return run_fixed(converter, in, out, error);
}
