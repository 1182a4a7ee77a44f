#include <limits.h>

#include "base/bytes.h"
#include "parquet/encode.h"

/* Room for `count` values of `width` bytes, and where they go. */
static firn_status reserve_fixed(firn_buffer *out, size_t count, size_t width, uint8_t **position,
                                 firn_error *error) {
    size_t size;
    if (__builtin_mul_overflow(count, width, &size)) {
        return firn_fail(error, FIRN_LIMIT, "%zu values of %zu bytes do not fit a page", count,
                         width);
    }
    FIRN_TRY(firn_buffer_reserve(out, size, error));
    *position = out->data + out->size;
    out->size += size;
    return FIRN_OK;
}

/* The two widths of nearly all columns get loops with a constant size, which compile to plain moves. */
static void gather_fixed(const uint8_t *from, size_t width, const uint32_t *indices, size_t count,
                         uint8_t *to) {
    if (width == 8) {
        for (size_t i = 0; i < count; i++) memcpy(to + i * 8, from + (size_t)indices[i] * 8, 8);
        return;
    }
    if (width == 4) {
        for (size_t i = 0; i < count; i++) memcpy(to + i * 4, from + (size_t)indices[i] * 4, 4);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * width, from + (size_t)indices[i] * width, width);
    }
}

static firn_status reserve_slices(const firn_slice *slices, const uint32_t *indices, size_t count,
                                  firn_buffer *out, firn_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        size_t size = slices[indices != NULL ? indices[i] : i].size;
        if (size > INT32_MAX || __builtin_add_overflow(total, size + 4, &total)) {
            return firn_fail(error, FIRN_LIMIT, "a value of %zu bytes does not fit a page", size);
        }
    }
    return firn_buffer_reserve(out, total, error);
}

static uint8_t *put_slice(firn_slice slice, uint8_t *to) {
    firn_store_le32(to, (uint32_t)slice.size);
    if (slice.size != 0) memcpy(to + 4, slice.data, slice.size);
    return to + 4 + slice.size;
}

firn_status firn_parquet_encode_plain(const firn_parquet_values *values, size_t first, size_t count,
                                      firn_buffer *out, firn_error *error) {
    if (count == 0) return FIRN_OK;
    if (values->type == FIRN_PARQUET_BYTE_ARRAY) {
        const firn_slice *slices = values->slices + first;
        FIRN_TRY(reserve_slices(slices, NULL, count, out, error));
        uint8_t *to = out->data + out->size;
        for (size_t i = 0; i < count; i++) to = put_slice(slices[i], to);
        out->size = (size_t)(to - out->data);
        return FIRN_OK;
    }
    uint8_t *to = NULL;
    FIRN_TRY(reserve_fixed(out, count, values->width, &to, error));
    if (values->width != 0) {
        memcpy(to, values->fixed + first * values->width, count * values->width);
    }
    return FIRN_OK;
}

/* Neighbours of a dictionary's body that are wanted in its order: they move together, lengths and all. */
typedef struct body_run {
    const uint8_t *from;
    size_t size, count;
} body_run;

static body_run run_at(const firn_slice *slices, const uint32_t *indices, size_t most) {
    size_t count = 1;
    while (count < most && indices[count] == indices[0] + count) count++;
    const uint8_t *from = slices[indices[0]].data - 4;
    firn_slice last = slices[indices[count - 1]];
    return (body_run){from, (size_t)(last.data + last.size - from), count};
}

/* A dictionary in which hardly an entry is used twice comes out in long runs. */
static firn_status gather_body(const firn_slice *slices, const uint32_t *indices, size_t count,
                               firn_buffer *out, firn_error *error) {
    for (size_t i = 0; i < count;) {
        body_run run = run_at(slices, indices + i, count - i);
        FIRN_TRY(firn_buffer_append(out, run.from, run.size, error));
        i += run.count;
    }
    return FIRN_OK;
}

firn_status firn_parquet_encode_plain_indexed(const firn_parquet_values *values,
                                              const uint32_t *indices, size_t count,
                                              firn_buffer *out, firn_error *error) {
    if (count == 0) return FIRN_OK;
    if (values->type == FIRN_PARQUET_BYTE_ARRAY && values->slices_are_plain) {
        return gather_body(values->slices, indices, count, out, error);
    }
    if (values->type == FIRN_PARQUET_BYTE_ARRAY) {
        FIRN_TRY(reserve_slices(values->slices, indices, count, out, error));
        uint8_t *to = out->data + out->size;
        for (size_t i = 0; i < count; i++) to = put_slice(values->slices[indices[i]], to);
        out->size = (size_t)(to - out->data);
        return FIRN_OK;
    }
    uint8_t *to = NULL;
    FIRN_TRY(reserve_fixed(out, count, values->width, &to, error));
    if (values->width != 0) gather_fixed(values->fixed, values->width, indices, count, to);
    return FIRN_OK;
}

firn_status firn_parquet_encode_booleans(const uint8_t *values, size_t count, firn_buffer *out,
                                         firn_error *error) {
    uint8_t *to = NULL;
    FIRN_TRY(reserve_fixed(out, count / 8 + (count % 8 != 0), 1, &to, error));
    for (size_t i = 0; i < count; i += 8) {
        size_t end = count - i < 8 ? count - i : 8;
        unsigned byte = 0;
        for (size_t j = 0; j < end; j++) byte |= (values[i + j] & 1U) << j;
        *to++ = (uint8_t)byte;
    }
    return FIRN_OK;
}
