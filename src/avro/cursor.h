/**
 * Checked reading of Avro's binary encoding (Avro specification, "Binary Encoding"). A cursor never
 * reads outside its bytes; every failure is CORRUPT (or LIMIT) and names the file and the byte. Not
 * thread-safe.
 */
#ifndef FIRN_AVRO_CURSOR_H
#define FIRN_AVRO_CURSOR_H

#include "avro/schema.h"

typedef struct firn_avro_cursor {
    const uint8_t *data;
    size_t size;
    size_t position; /**< never above size */
    /**
     * Values that may still be visited. Values of no bytes (nulls, empty records) would otherwise
     * let a few bytes keep a reader busy for ever.
     */
    int64_t budget;
    const char *name; /**< of the file, for messages */
    uint64_t
        /**
         * of the first byte in the file where data is a part of the file itself; else of the block
         */
        file_offset;
    bool decompressed; /**< data is a block's decompressed content */
} firn_avro_cursor;

/** How many values `size` more bytes entitle a reader to visit. */
#define FIRN_AVRO_BUDGET_BASE ((int64_t)1 << 20)
#define FIRN_AVRO_BUDGET_PER_BYTE 64

/** A cursor over bytes that stand alone, such as one encoded datum. */
firn_avro_cursor firn_avro_cursor_of(firn_slice bytes, const char *name);

static inline size_t firn_avro_remaining(const firn_avro_cursor *cursor) {
    return cursor->size - cursor->position;
}

/** CORRUPT at the present position: "NAME: `message` at byte N". */
firn_status firn_avro_corrupt(const firn_avro_cursor *cursor, const char *message,
                              firn_error *error);

firn_status firn_avro_get_boolean(firn_avro_cursor *cursor, bool *out, firn_error *error);
/** CORRUPT where the number does not fit. */
firn_status firn_avro_get_int(firn_avro_cursor *cursor, int32_t *out, firn_error *error);
firn_status firn_avro_get_long_of_bytes(firn_avro_cursor *cursor, int64_t *out, firn_error *error);
static inline firn_status firn_avro_get_long(firn_avro_cursor *cursor, int64_t *out,
                                             firn_error *error) {
    /* Most are of one byte: lengths, ids, branches. */
    if (cursor->position < cursor->size && cursor->data[cursor->position] < 0x80) {
        int64_t byte = cursor->data[cursor->position++];
        *out = (byte >> 1) ^ -(byte & 1);
        return FIRN_OK;
    }
    return firn_avro_get_long_of_bytes(cursor, out, error);
}
firn_status firn_avro_get_float(firn_avro_cursor *cursor, float *out, firn_error *error);
firn_status firn_avro_get_double(firn_avro_cursor *cursor, double *out, firn_error *error);
/** Bytes or string; borrowed from the cursor's bytes; `data` is never NULL. */
firn_status firn_avro_get_bytes(firn_avro_cursor *cursor, firn_slice *out, firn_error *error);
firn_status firn_avro_get_fixed(firn_avro_cursor *cursor, size_t size, firn_slice *out,
                                firn_error *error);
/** The branch's schema. */
firn_status firn_avro_get_branch(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                                 size_t *index, firn_error *error);

/**
 * The head of the next block of an array or map: how many items follow, 0 at the end. A negative
 * count is made positive and *byte_size is the size that the block states, else -1. More items than
 * the bytes left could hold are CORRUPT.
 */
firn_status firn_avro_get_block(firn_avro_cursor *cursor, const firn_avro_schema *collection,
                                int64_t *count, int64_t *byte_size, firn_error *error);

/** Passes over one value. */
firn_status firn_avro_skip(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                           firn_error *error);

/** Takes one visited value off the budget: LIMIT when it is used up. */
static inline bool firn_avro_spend(firn_avro_cursor *cursor) {
    return --cursor->budget >= 0;
}
firn_status firn_avro_overspent(const firn_avro_cursor *cursor, firn_error *error);

/** Levels of values within values beyond which a datum is refused. */
#define FIRN_AVRO_MAX_VALUE_DEPTH 256

#endif
