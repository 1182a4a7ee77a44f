#include "avro/cursor.h"

#include "base/bytes.h"

firn_avro_cursor firn_avro_cursor_of(firn_slice bytes, const char *name) {
    firn_avro_cursor cursor = {.data = bytes.data, .size = bytes.size, .name = name};
    cursor.budget = FIRN_AVRO_BUDGET_BASE;
    if (bytes.size < (size_t)1 << 50) {
        cursor.budget += (int64_t)bytes.size * FIRN_AVRO_BUDGET_PER_BYTE;
    }
    return cursor;
}

static firn_status fail(const firn_avro_cursor *cursor, firn_status code, const char *message,
                        firn_error *error) {
    if (!cursor->decompressed) {
        int64_t offset = (int64_t)(cursor->file_offset + cursor->position);
        return firn_fail_at(error, code, offset, "%s: %s", cursor->name, message);
    }
    return firn_fail_at(error, code, (int64_t)cursor->file_offset,
                        "%s: %s (byte %zu of the decompressed data) in the block", cursor->name,
                        message, cursor->position);
}

firn_status firn_avro_corrupt(const firn_avro_cursor *cursor, const char *message,
                              firn_error *error) {
    return fail(cursor, FIRN_CORRUPT, message, error);
}

firn_status firn_avro_overspent(const firn_avro_cursor *cursor, firn_error *error) {
    return fail(cursor, FIRN_LIMIT, "too many values that take no bytes", error);
}

firn_status firn_avro_get_boolean(firn_avro_cursor *cursor, bool *out, firn_error *error) {
    if (firn_avro_remaining(cursor) < 1) return firn_avro_corrupt(cursor, "data ends early", error);
    uint8_t byte = cursor->data[cursor->position];
    if (byte > 1) return firn_avro_corrupt(cursor, "boolean is neither 0 nor 1", error);
    *out = byte == 1;
    cursor->position++;
    return FIRN_OK;
}

firn_status firn_avro_get_long_of_bytes(firn_avro_cursor *cursor, int64_t *out, firn_error *error) {
    uint64_t bits = 0;
    size_t position = cursor->position;
    for (unsigned shift = 0;; shift += 7) {
        if (position >= cursor->size) return firn_avro_corrupt(cursor, "data ends early", error);
        uint8_t byte = cursor->data[position++];
        /* The tenth byte holds the one bit that is left of 64. */
        if (shift == 63 && byte > 1) {
            return firn_avro_corrupt(cursor, "integer of more than 64 bits", error);
        }
        bits |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) break;
    }
    cursor->position = position;
    uint64_t value = (bits >> 1) ^ (0 - (bits & 1));
    memcpy(out, &value, sizeof value);
    return FIRN_OK;
}

firn_status firn_avro_get_int(firn_avro_cursor *cursor, int32_t *out, firn_error *error) {
    size_t start = cursor->position;
    int64_t value = 0;
    FIRN_TRY(firn_avro_get_long(cursor, &value, error));
    if (value < INT32_MIN || value > INT32_MAX) {
        cursor->position = start;
        return firn_avro_corrupt(cursor, "integer of more than 32 bits", error);
    }
    *out = (int32_t)value;
    return FIRN_OK;
}

firn_status firn_avro_get_fixed(firn_avro_cursor *cursor, size_t size, firn_slice *out,
                                firn_error *error) {
    static const uint8_t nothing[1];
    if (size > firn_avro_remaining(cursor)) {
        return firn_avro_corrupt(cursor, "data ends early", error);
    }
    *out = size == 0 ? firn_slice_of(nothing, 0)
                     : firn_slice_of(cursor->data + cursor->position, size);
    cursor->position += size;
    return FIRN_OK;
}

firn_status firn_avro_get_float(firn_avro_cursor *cursor, float *out, firn_error *error) {
    firn_slice bytes;
    FIRN_TRY(firn_avro_get_fixed(cursor, 4, &bytes, error));
    *out = firn_float_of_bits(firn_load_le32(bytes.data));
    return FIRN_OK;
}

firn_status firn_avro_get_double(firn_avro_cursor *cursor, double *out, firn_error *error) {
    firn_slice bytes;
    FIRN_TRY(firn_avro_get_fixed(cursor, 8, &bytes, error));
    *out = firn_double_of_bits(firn_load_le64(bytes.data));
    return FIRN_OK;
}

firn_status firn_avro_get_bytes(firn_avro_cursor *cursor, firn_slice *out, firn_error *error) {
    size_t start = cursor->position;
    int64_t size = 0;
    FIRN_TRY(firn_avro_get_long(cursor, &size, error));
    if (size < 0 || (uint64_t)size > firn_avro_remaining(cursor)) {
        cursor->position = start;
        return firn_avro_corrupt(cursor, "length runs beyond the data", error);
    }
    return firn_avro_get_fixed(cursor, (size_t)size, out, error);
}

firn_status firn_avro_get_branch(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                                 size_t *index, firn_error *error) {
    size_t start = cursor->position;
    int64_t branch = 0;
    FIRN_TRY(firn_avro_get_long(cursor, &branch, error));
    if (branch < 0 || (uint64_t)branch >= schema->count) {
        cursor->position = start;
        return firn_avro_corrupt(cursor, "union has no such branch", error);
    }
    *index = (size_t)branch;
    return FIRN_OK;
}

firn_status firn_avro_get_block(firn_avro_cursor *cursor, const firn_avro_schema *collection,
                                int64_t *count, int64_t *byte_size, firn_error *error) {
    size_t start = cursor->position;
    *byte_size = -1;
    FIRN_TRY(firn_avro_get_long(cursor, count, error));
    if (*count < 0) {
        if (*count == INT64_MIN) {
            cursor->position = start;
            return firn_avro_corrupt(cursor, "count of a block is out of range", error);
        }
        *count = -*count;
        FIRN_TRY(firn_avro_get_long(cursor, byte_size, error));
        if (*byte_size < 0 || (uint64_t)*byte_size > firn_avro_remaining(cursor)) {
            cursor->position = start;
            return firn_avro_corrupt(cursor, "size of a block runs beyond the data", error);
        }
    }
    /* An entry of a map has a key, of at least its length's byte. */
    bool may_be_empty = collection->kind == FIRN_AVRO_ARRAY && collection->items->may_be_empty;
    uint64_t most = *byte_size >= 0 ? (uint64_t)*byte_size : firn_avro_remaining(cursor);
    if (may_be_empty) most = cursor->budget < 0 ? 0 : (uint64_t)cursor->budget;
    if ((uint64_t)*count > most) {
        cursor->position = start;
        if (may_be_empty) return firn_avro_overspent(cursor, error);
        return firn_avro_corrupt(cursor, "count of a block is more than its bytes hold", error);
    }
    return FIRN_OK;
}

static firn_status skip_value(firn_avro_cursor *cursor, const firn_avro_schema *schema, int depth,
                              firn_error *error);

/** An integer in its full width: what is passed over need not be put together. */
static inline firn_status skip_integer(firn_avro_cursor *cursor, firn_error *error) {
    int64_t integer = 0;
    if (firn_avro_remaining(cursor) < sizeof(uint64_t)) {
        return firn_avro_get_long(cursor, &integer, error);
    }
    uint64_t ends = ~firn_load_le64(cursor->data + cursor->position) & 0x8080808080808080U;
    if (ends == 0) return firn_avro_get_long(cursor, &integer, error);
    cursor->position += (size_t)__builtin_ctzll(ends) / 8 + 1;
    return FIRN_OK;
}

/** Metrics, which are most of a manifest, are records of an integer and an integer or bytes. */
static inline firn_status skip_item(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                                    int depth, firn_error *error) {
    if (schema->kind != FIRN_AVRO_RECORD) return skip_value(cursor, schema, depth, error);
    if (!firn_avro_spend(cursor)) return firn_avro_overspent(cursor, error);
    for (size_t i = 0; i < schema->count; i++) {
        const firn_avro_schema *field = schema->fields[i].schema;
        firn_slice bytes;
        if (field->kind == FIRN_AVRO_INT || field->kind == FIRN_AVRO_LONG) {
            FIRN_TRY(skip_integer(cursor, error));
        } else if (field->kind == FIRN_AVRO_BYTES) {
            FIRN_TRY(firn_avro_get_bytes(cursor, &bytes, error));
        } else {
            FIRN_TRY(skip_value(cursor, field, depth + 1, error));
        }
    }
    return FIRN_OK;
}

static firn_status skip_collection(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                                   int depth, firn_error *error) {
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(cursor, schema, &count, &byte_size, error));
        if (count == 0) return FIRN_OK;
        if (byte_size >= 0) {
            cursor->position += (size_t)byte_size;
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            firn_slice key;
            if (schema->kind == FIRN_AVRO_MAP) FIRN_TRY(firn_avro_get_bytes(cursor, &key, error));
            FIRN_TRY(skip_item(cursor, schema->items, depth + 1, error));
        }
    }
}

static firn_status skip_record(firn_avro_cursor *cursor, const firn_avro_schema *schema, int depth,
                               firn_error *error) {
    for (size_t i = 0; i < schema->count; i++) {
        FIRN_TRY(skip_value(cursor, schema->fields[i].schema, depth + 1, error));
    }
    return FIRN_OK;
}

static firn_status skip_value(firn_avro_cursor *cursor, const firn_avro_schema *schema, int depth,
                              firn_error *error) {
    if (!firn_avro_spend(cursor)) return firn_avro_overspent(cursor, error);
    if (depth > FIRN_AVRO_MAX_VALUE_DEPTH) {
        return fail(cursor, FIRN_LIMIT, "values nested too deep", error);
    }
    firn_slice bytes;
    bool boolean = false;
    size_t branch = 0;
    switch (schema->kind) {
    case FIRN_AVRO_NULL: return FIRN_OK;
    case FIRN_AVRO_BOOLEAN: return firn_avro_get_boolean(cursor, &boolean, error);
    case FIRN_AVRO_INT:
    case FIRN_AVRO_ENUM:
    case FIRN_AVRO_LONG: return skip_integer(cursor, error);
    case FIRN_AVRO_FLOAT: return firn_avro_get_fixed(cursor, 4, &bytes, error);
    case FIRN_AVRO_DOUBLE: return firn_avro_get_fixed(cursor, 8, &bytes, error);
    case FIRN_AVRO_BYTES:
    case FIRN_AVRO_STRING: return firn_avro_get_bytes(cursor, &bytes, error);
    case FIRN_AVRO_FIXED: return firn_avro_get_fixed(cursor, schema->fixed_size, &bytes, error);
    case FIRN_AVRO_RECORD: return skip_record(cursor, schema, depth, error);
    case FIRN_AVRO_ARRAY:
    case FIRN_AVRO_MAP: return skip_collection(cursor, schema, depth, error);
    case FIRN_AVRO_UNION:
        FIRN_TRY(firn_avro_get_branch(cursor, schema, &branch, error));
        return skip_value(cursor, schema->branches[branch], depth + 1, error);
    }
    return firn_avro_corrupt(cursor, "schema of an unknown kind", error);
}

firn_status firn_avro_skip(firn_avro_cursor *cursor, const firn_avro_schema *schema,
                           firn_error *error) {
    return skip_value(cursor, schema, 0, error);
}
