#include <float.h>
#include <math.h>

#include "base/bytes.h"
#include "parquet/statistics.h"

static firn_parquet_order order_of_integer(const firn_parquet_schema_element *element) {
    bool is_unsigned =
        element->logical.kind == FIRN_PARQUET_LOGICAL_INTEGER && !element->logical.is_signed;
    if (element->type == FIRN_PARQUET_INT32) {
        return is_unsigned ? FIRN_PARQUET_ORDER_UINT32 : FIRN_PARQUET_ORDER_INT32;
    }
    return is_unsigned ? FIRN_PARQUET_ORDER_UINT64 : FIRN_PARQUET_ORDER_INT64;
}

static firn_parquet_order order_of_bytes(const firn_parquet_schema_element *element) {
    switch (element->logical.kind) {
    case FIRN_PARQUET_LOGICAL_NONE:
    case FIRN_PARQUET_LOGICAL_STRING:
    case FIRN_PARQUET_LOGICAL_ENUM:
    case FIRN_PARQUET_LOGICAL_JSON:
    case FIRN_PARQUET_LOGICAL_BSON:
    case FIRN_PARQUET_LOGICAL_UUID: return FIRN_PARQUET_ORDER_BYTES;
    case FIRN_PARQUET_LOGICAL_DECIMAL: return FIRN_PARQUET_ORDER_DECIMAL;
    case FIRN_PARQUET_LOGICAL_FLOAT16:
        if (element->type == FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY && element->type_length == 2) {
            return FIRN_PARQUET_ORDER_FLOAT16;
        }
        return FIRN_PARQUET_ORDER_NONE;
    default: return FIRN_PARQUET_ORDER_NONE;
    }
}

firn_parquet_order firn_parquet_order_of(const firn_parquet_schema_element *element) {
    if (element->logical.kind == FIRN_PARQUET_LOGICAL_UNKNOWN) return FIRN_PARQUET_ORDER_NONE;
    switch (element->type) {
    case FIRN_PARQUET_BOOLEAN: return FIRN_PARQUET_ORDER_BOOLEAN;
    case FIRN_PARQUET_INT32:
    case FIRN_PARQUET_INT64: return order_of_integer(element);
    case FIRN_PARQUET_INT96: return FIRN_PARQUET_ORDER_NONE;
    case FIRN_PARQUET_FLOAT: return FIRN_PARQUET_ORDER_FLOAT;
    case FIRN_PARQUET_DOUBLE: return FIRN_PARQUET_ORDER_DOUBLE;
    case FIRN_PARQUET_BYTE_ARRAY:
    case FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY: return order_of_bytes(element);
    }
    return FIRN_PARQUET_ORDER_NONE;
}

static bool half_is_nan(uint16_t bits) {
    return (bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0;
}

/* Maps the sign-and-magnitude form onto integers of the same order; both zeros become 0. */
static int half_rank(uint16_t bits) {
    int magnitude = bits & 0x7FFF;
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

static int compare_decimals(firn_slice a, firn_slice b) {
    bool a_negative = a.size != 0 && (a.data[0] & 0x80) != 0;
    bool b_negative = b.size != 0 && (b.data[0] & 0x80) != 0;
    if (a_negative != b_negative) return a_negative ? -1 : 1;
    uint8_t fill = a_negative ? 0xFF : 0;
    size_t size = a.size > b.size ? a.size : b.size;
    for (size_t i = 0; i < size; i++) {
        uint8_t x = i < size - a.size ? fill : a.data[i - (size - a.size)];
        uint8_t y = i < size - b.size ? fill : b.data[i - (size - b.size)];
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

#define FIRN_COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

int firn_parquet_compare(firn_parquet_order order, firn_slice a, firn_slice b) {
    switch (order) {
    case FIRN_PARQUET_ORDER_NONE: return 0;
    case FIRN_PARQUET_ORDER_BOOLEAN: return FIRN_COMPARE(a.data[0], b.data[0]);
    case FIRN_PARQUET_ORDER_INT32:
        return FIRN_COMPARE((int32_t)firn_load_le32(a.data), (int32_t)firn_load_le32(b.data));
    case FIRN_PARQUET_ORDER_UINT32:
        return FIRN_COMPARE(firn_load_le32(a.data), firn_load_le32(b.data));
    case FIRN_PARQUET_ORDER_INT64:
        return FIRN_COMPARE((int64_t)firn_load_le64(a.data), (int64_t)firn_load_le64(b.data));
    case FIRN_PARQUET_ORDER_UINT64:
        return FIRN_COMPARE(firn_load_le64(a.data), firn_load_le64(b.data));
    case FIRN_PARQUET_ORDER_FLOAT:
        return FIRN_COMPARE(firn_float_of_bits(firn_load_le32(a.data)),
                            firn_float_of_bits(firn_load_le32(b.data)));
    case FIRN_PARQUET_ORDER_DOUBLE:
        return FIRN_COMPARE(firn_double_of_bits(firn_load_le64(a.data)),
                            firn_double_of_bits(firn_load_le64(b.data)));
    case FIRN_PARQUET_ORDER_FLOAT16:
        return FIRN_COMPARE(half_rank(firn_load_le16(a.data)), half_rank(firn_load_le16(b.data)));
    case FIRN_PARQUET_ORDER_BYTES: return firn_slice_compare(a, b);
    case FIRN_PARQUET_ORDER_DECIMAL: return compare_decimals(a, b);
    }
    return 0;
}

bool firn_parquet_is_nan(firn_parquet_order order, firn_slice value) {
    switch (order) {
    case FIRN_PARQUET_ORDER_FLOAT:
        return isnan(firn_float_of_bits(firn_load_le32(value.data))) != 0;
    case FIRN_PARQUET_ORDER_DOUBLE:
        return isnan(firn_double_of_bits(firn_load_le64(value.data))) != 0;
    case FIRN_PARQUET_ORDER_FLOAT16: return half_is_nan(firn_load_le16(value.data));
    default: return false;
    }
}

void firn_parquet_bounds_clear(firn_parquet_bounds *bounds) {
    bounds->present = false;
    bounds->nan_count = 0;
    /* Outside of every value, so that the first one replaces both. */
    bounds->least_i = INT64_MAX;
    bounds->greatest_i = INT64_MIN;
    bounds->least_u = UINT64_MAX;
    bounds->greatest_u = 0;
    bounds->least_d = INFINITY;
    bounds->greatest_d = -INFINITY;
    firn_buffer_clear(&bounds->least_bytes);
    firn_buffer_clear(&bounds->greatest_bytes);
}

void firn_parquet_bounds_init(firn_parquet_bounds *bounds, firn_parquet_order order) {
    *bounds = (firn_parquet_bounds){.order = order};
    bounds->least_bytes = firn_buffer_with_maximum(INT32_MAX);
    bounds->greatest_bytes = firn_buffer_with_maximum(INT32_MAX);
    firn_parquet_bounds_clear(bounds);
}

void firn_parquet_bounds_release(firn_parquet_bounds *bounds) {
    firn_buffer_release(&bounds->least_bytes);
    firn_buffer_release(&bounds->greatest_bytes);
}

/*
 * range_##name: the least and greatest of `count` values, taken in four lanes so that no value waits for the one before it. A
 * comparison with NaN is false, so that NaN never enters.
 */
#define LANES 4
#define FIRN_DEFINE_RANGE(name, T)                                                                 \
    static void range_##name(const uint8_t *values, size_t count, T *least, T *greatest) {         \
        T low[LANES], high[LANES];                                                                 \
        for (size_t lane = 0; lane < LANES; lane++) low[lane] = *least, high[lane] = *greatest;    \
        size_t i = 0;                                                                              \
        for (; count - i >= LANES; i += LANES) {                                                   \
            for (size_t lane = 0; lane < LANES; lane++) {                                          \
                T value;                                                                           \
                memcpy(&value, values + (i + lane) * sizeof value, sizeof value);                  \
                low[lane] = value < low[lane] ? value : low[lane];                                 \
                high[lane] = value > high[lane] ? value : high[lane];                              \
            }                                                                                      \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            T value;                                                                               \
            memcpy(&value, values + i * sizeof value, sizeof value);                               \
            low[0] = value < low[0] ? value : low[0];                                              \
            high[0] = value > high[0] ? value : high[0];                                           \
        }                                                                                          \
        for (size_t lane = 0; lane < LANES; lane++) {                                              \
            *least = low[lane] < *least ? low[lane] : *least;                                      \
            *greatest = high[lane] > *greatest ? high[lane] : *greatest;                           \
        }                                                                                          \
    }

FIRN_DEFINE_RANGE(uint8, uint8_t)
FIRN_DEFINE_RANGE(int32, int32_t)
FIRN_DEFINE_RANGE(uint32, uint32_t)
FIRN_DEFINE_RANGE(int64, int64_t)
FIRN_DEFINE_RANGE(uint64, uint64_t)
FIRN_DEFINE_RANGE(float, float)
FIRN_DEFINE_RANGE(double, double)

static size_t count_nan_floats(const uint8_t *values, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i * 4, 4);
        found += (bits & 0x7FFFFFFFU) > 0x7F800000U;
    }
    return found;
}

static size_t count_nan_doubles(const uint8_t *values, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, values + i * 8, 8);
        found += (bits & INT64_MAX) > UINT64_C(0x7FF0000000000000);
    }
    return found;
}

static void add_signed(firn_parquet_bounds *bounds, int64_t least, int64_t greatest) {
    if (least < bounds->least_i) bounds->least_i = least;
    if (greatest > bounds->greatest_i) bounds->greatest_i = greatest;
}

static void add_unsigned(firn_parquet_bounds *bounds, uint64_t least, uint64_t greatest) {
    if (least < bounds->least_u) bounds->least_u = least;
    if (greatest > bounds->greatest_u) bounds->greatest_u = greatest;
}

static void add_floats(firn_parquet_bounds *bounds, const uint8_t *values, size_t count) {
    float least = INFINITY, greatest = -INFINITY;
    range_float(values, count, &least, &greatest);
    if (least < bounds->least_d) bounds->least_d = least;
    if (greatest > bounds->greatest_d) bounds->greatest_d = greatest;
    size_t nan_count = count_nan_floats(values, count);
    bounds->nan_count += (int64_t)nan_count;
    bounds->present |= nan_count < count;
}

static void add_doubles(firn_parquet_bounds *bounds, const uint8_t *values, size_t count) {
    range_double(values, count, &bounds->least_d, &bounds->greatest_d);
    size_t nan_count = count_nan_doubles(values, count);
    bounds->nan_count += (int64_t)nan_count;
    bounds->present |= nan_count < count;
}

static firn_status replace(firn_buffer *buffer, firn_slice value, firn_error *error) {
    firn_buffer_clear(buffer);
    /* An empty value still needs bytes to point at. */
    FIRN_TRY(firn_buffer_reserve(buffer, value.size + 1, error));
    return firn_buffer_append(buffer, value.data, value.size, error);
}

static firn_status add_bytes(firn_parquet_bounds *bounds, firn_slice value, firn_error *error) {
    if (firn_parquet_is_nan(bounds->order, value)) {
        bounds->nan_count++;
        return FIRN_OK;
    }
    if (!bounds->present) {
        FIRN_TRY(replace(&bounds->least_bytes, value, error));
        FIRN_TRY(replace(&bounds->greatest_bytes, value, error));
        bounds->present = true;
        return FIRN_OK;
    }
    firn_slice least = firn_buffer_slice(&bounds->least_bytes);
    if (firn_parquet_compare(bounds->order, value, least) < 0) {
        return replace(&bounds->least_bytes, value, error);
    }
    firn_slice greatest = firn_buffer_slice(&bounds->greatest_bytes);
    if (firn_parquet_compare(bounds->order, value, greatest) > 0) {
        return replace(&bounds->greatest_bytes, value, error);
    }
    return FIRN_OK;
}

static firn_status add_fixed_bytes(firn_parquet_bounds *bounds, const uint8_t *values, size_t width,
                                   size_t count, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(add_bytes(bounds, firn_slice_of(values + i * width, width), error));
    }
    return FIRN_OK;
}

firn_status firn_parquet_bounds_add_fixed(firn_parquet_bounds *bounds, const uint8_t *values,
                                          size_t width, size_t count, firn_error *error) {
    if (count == 0) return FIRN_OK;
    switch (bounds->order) {
    case FIRN_PARQUET_ORDER_NONE: return FIRN_OK;
    case FIRN_PARQUET_ORDER_BOOLEAN: {
        uint8_t least = UINT8_MAX, greatest = 0;
        range_uint8(values, count, &least, &greatest);
        add_signed(bounds, least, greatest);
        break;
    }
    case FIRN_PARQUET_ORDER_INT32: {
        int32_t least = INT32_MAX, greatest = INT32_MIN;
        range_int32(values, count, &least, &greatest);
        add_signed(bounds, least, greatest);
        break;
    }
    case FIRN_PARQUET_ORDER_UINT32: {
        uint32_t least = UINT32_MAX, greatest = 0;
        range_uint32(values, count, &least, &greatest);
        add_unsigned(bounds, least, greatest);
        break;
    }
    case FIRN_PARQUET_ORDER_INT64:
        range_int64(values, count, &bounds->least_i, &bounds->greatest_i);
        break;
    case FIRN_PARQUET_ORDER_UINT64:
        range_uint64(values, count, &bounds->least_u, &bounds->greatest_u);
        break;
    case FIRN_PARQUET_ORDER_FLOAT: add_floats(bounds, values, count); return FIRN_OK;
    case FIRN_PARQUET_ORDER_DOUBLE: add_doubles(bounds, values, count); return FIRN_OK;
    case FIRN_PARQUET_ORDER_FLOAT16:
    case FIRN_PARQUET_ORDER_BYTES:
    case FIRN_PARQUET_ORDER_DECIMAL: return add_fixed_bytes(bounds, values, width, count, error);
    }
    bounds->present = true;
    return FIRN_OK;
}

/* The first eight bytes as a number of the same order; equal numbers leave the order open. */
static inline uint64_t prefix_of(firn_slice slice) {
    if (slice.size >= 8) return firn_load_be64(slice.data);
    uint64_t prefix = 0;
    for (size_t i = 0; i < slice.size; i++) prefix |= (uint64_t)slice.data[i] << (56 - 8 * i);
    return prefix;
}

firn_status firn_parquet_bounds_add_slices(firn_parquet_bounds *bounds, const firn_slice *slices,
                                           const uint32_t *indices, size_t count,
                                           firn_error *error) {
    if (count == 0 || bounds->order == FIRN_PARQUET_ORDER_NONE) return FIRN_OK;
    if (bounds->order != FIRN_PARQUET_ORDER_BYTES) {
        for (size_t i = 0; i < count; i++) {
            FIRN_TRY(add_bytes(bounds, slices[indices != NULL ? indices[i] : i], error));
        }
        return FIRN_OK;
    }
    firn_slice least = slices[indices != NULL ? indices[0] : 0];
    firn_slice greatest = least;
    uint64_t least_prefix = prefix_of(least), greatest_prefix = least_prefix;
    for (size_t i = 1; i < count; i++) {
        firn_slice value = slices[indices != NULL ? indices[i] : i];
        uint64_t prefix = prefix_of(value);
        if (prefix <= least_prefix &&
            (prefix < least_prefix || firn_slice_compare(value, least) < 0)) {
            least = value;
            least_prefix = prefix;
        }
        if (prefix >= greatest_prefix &&
            (prefix > greatest_prefix || firn_slice_compare(value, greatest) > 0)) {
            greatest = value;
            greatest_prefix = prefix;
        }
    }
    FIRN_TRY(add_bytes(bounds, least, error));
    return add_bytes(bounds, greatest, error);
}

firn_status firn_parquet_bounds_add_value(firn_parquet_bounds *bounds, firn_slice value,
                                          firn_error *error) {
    switch (bounds->order) {
    case FIRN_PARQUET_ORDER_FLOAT16:
    case FIRN_PARQUET_ORDER_BYTES:
    case FIRN_PARQUET_ORDER_DECIMAL: return add_bytes(bounds, value, error);
    default: return firn_parquet_bounds_add_fixed(bounds, value.data, value.size, 1, error);
    }
}

firn_status firn_parquet_bounds_merge(firn_parquet_bounds *bounds, const firn_parquet_bounds *other,
                                      firn_error *error) {
    bounds->nan_count += other->nan_count;
    if (!other->present) return FIRN_OK;
    firn_parquet_bound_room room;
    int64_t nan_count = bounds->nan_count;
    FIRN_TRY(
        firn_parquet_bounds_add_value(bounds, firn_parquet_bounds_minimum(other, &room), error));
    FIRN_TRY(
        firn_parquet_bounds_add_value(bounds, firn_parquet_bounds_maximum(other, &room), error));
    bounds->nan_count = nan_count;
    return FIRN_OK;
}

/* `zero`: -0.0 for a minimum and +0.0 for a maximum, whichever of the two was seen. */
static firn_slice put_float(double value, double zero, bool is_double,
                            firn_parquet_bound_room *room) {
    if (value == 0) value = zero;
    if (is_double) {
        firn_store_le64(room->bytes, firn_bits_of_double(value));
        return firn_slice_of(room->bytes, 8);
    }
    firn_store_le32(room->bytes, firn_bits_of_float((float)value));
    return firn_slice_of(room->bytes, 4);
}

static firn_slice put_half(firn_slice value, uint16_t zero, firn_parquet_bound_room *room) {
    uint16_t bits = firn_load_le16(value.data);
    firn_store_le16(room->bytes, half_rank(bits) == 0 ? zero : bits);
    return firn_slice_of(room->bytes, 2);
}

static firn_slice put_bound(const firn_parquet_bounds *bounds, bool is_minimum,
                            firn_parquet_bound_room *room) {
    if (!bounds->present) return firn_slice_of(NULL, 0);
    const firn_buffer *bytes = is_minimum ? &bounds->least_bytes : &bounds->greatest_bytes;
    int64_t i = is_minimum ? bounds->least_i : bounds->greatest_i;
    uint64_t u = is_minimum ? bounds->least_u : bounds->greatest_u;
    double d = is_minimum ? bounds->least_d : bounds->greatest_d;
    double zero = is_minimum ? -0.0 : 0.0;
    switch (bounds->order) {
    case FIRN_PARQUET_ORDER_NONE: return firn_slice_of(NULL, 0);
    case FIRN_PARQUET_ORDER_BOOLEAN:
        room->bytes[0] = (uint8_t)i;
        return firn_slice_of(room->bytes, 1);
    case FIRN_PARQUET_ORDER_INT32:
        firn_store_le32(room->bytes, (uint32_t)i);
        return firn_slice_of(room->bytes, 4);
    case FIRN_PARQUET_ORDER_UINT32:
        firn_store_le32(room->bytes, (uint32_t)u);
        return firn_slice_of(room->bytes, 4);
    case FIRN_PARQUET_ORDER_INT64:
        firn_store_le64(room->bytes, (uint64_t)i);
        return firn_slice_of(room->bytes, 8);
    case FIRN_PARQUET_ORDER_UINT64:
        firn_store_le64(room->bytes, u);
        return firn_slice_of(room->bytes, 8);
    case FIRN_PARQUET_ORDER_FLOAT: return put_float(d, zero, false, room);
    case FIRN_PARQUET_ORDER_DOUBLE: return put_float(d, zero, true, room);
    case FIRN_PARQUET_ORDER_FLOAT16:
        return put_half(firn_buffer_slice(bytes), is_minimum ? 0x8000 : 0, room);
    case FIRN_PARQUET_ORDER_BYTES:
    case FIRN_PARQUET_ORDER_DECIMAL: return firn_buffer_slice(bytes);
    }
    return firn_slice_of(NULL, 0);
}

firn_slice firn_parquet_bounds_minimum(const firn_parquet_bounds *bounds,
                                       firn_parquet_bound_room *room) {
    return put_bound(bounds, true, room);
}

firn_slice firn_parquet_bounds_maximum(const firn_parquet_bounds *bounds,
                                       firn_parquet_bound_room *room) {
    return put_bound(bounds, false, room);
}
