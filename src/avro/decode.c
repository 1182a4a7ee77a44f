/* Running a plan: one pass over a datum, in the writer's order. */
#include <inttypes.h>

#include "avro/plan_node.h"

typedef struct decoder {
    firn_avro_cursor *cursor;
    firn_arena *arena;
    bool copy;
    firn_error *error;
} decoder;

static const firn_avro_schema map_key_schema = {.kind = FIRN_AVRO_STRING};

static firn_status decode_node(decoder *d, const firn_avro_node *node, uint8_t *base);
static firn_status decode_value(decoder *d, const firn_avro_schema *schema, int depth,
                                firn_avro_value *out);

/**
 * A growing array in the arena: doubled, so that many small blocks don't cost the square of their
 * number.
 */
typedef struct growing {
    void *items;
    size_t count;
    size_t capacity;
} growing;

/** Room for `more` items, zeroed; their number has been checked against the bytes that are left. An array of none is not NULL either. */
static firn_status grow(decoder *d, growing *array, int64_t more, size_t item_size) {
    size_t count = 0;
    if ((uint64_t)more > SIZE_MAX || __builtin_add_overflow(array->count, (size_t)more, &count)) {
        return firn_avro_corrupt(d->cursor, "count of a block is out of range", d->error);
    }
    if (array->items != NULL && count <= array->capacity) return FIRN_OK;
    if (array->capacity <= SIZE_MAX / 2 && count < array->capacity * 2) count = array->capacity * 2;
    void *grown = firn_arena_alloc(d->arena, count, item_size);
    if (grown == NULL) return firn_fail_memory(d->error);
    if (array->count > 0) memcpy(grown, array->items, array->count * item_size);
    array->items = grown;
    array->capacity = count;
    return FIRN_OK;
}

/** Where a block stated its size, its items must have taken exactly that. */
static firn_status check_block_end(const decoder *d, size_t start, int64_t byte_size) {
    if (byte_size < 0 || d->cursor->position - start == (uint64_t)byte_size) return FIRN_OK;
    return firn_avro_corrupt(d->cursor, "items of a block do not take the size that it states",
                             d->error);
}

static firn_status keep(decoder *d, firn_slice *bytes) {
    if (!d->copy || bytes->size == 0) return FIRN_OK;
    void *copy = firn_arena_memdup(d->arena, bytes->data, bytes->size);
    if (copy == NULL) return firn_fail_memory(d->error);
    *bytes = firn_slice_of(copy, bytes->size);
    return FIRN_OK;
}

static firn_status read_slice(decoder *d, const firn_avro_schema *schema, firn_slice *out) {
    if (schema->kind == FIRN_AVRO_FIXED) {
        FIRN_TRY(firn_avro_get_fixed(d->cursor, schema->fixed_size, out, d->error));
    } else {
        FIRN_TRY(firn_avro_get_bytes(d->cursor, out, d->error));
    }
    return keep(d, out);
}

static firn_status read_integer(decoder *d, const firn_avro_schema *schema, int64_t *out) {
    if (schema->kind == FIRN_AVRO_LONG) return firn_avro_get_long(d->cursor, out, d->error);
    int32_t value = 0;
    FIRN_TRY(firn_avro_get_int(d->cursor, &value, d->error));
    if (schema->kind == FIRN_AVRO_ENUM && (value < 0 || (size_t)value >= schema->count)) {
        return firn_avro_corrupt(d->cursor, "enum has no such symbol", d->error);
    }
    *out = value;
    return FIRN_OK;
}

static firn_status read_text(decoder *d, const char **out) {
    firn_slice bytes;
    FIRN_TRY(firn_avro_get_bytes(d->cursor, &bytes, d->error));
    if (memchr(bytes.data, 0, bytes.size) != NULL) {
        return firn_avro_corrupt(d->cursor, "text holds a zero byte", d->error);
    }
    char *text = firn_arena_strndup(d->arena, (const char *)bytes.data, bytes.size);
    if (text == NULL) return firn_fail_memory(d->error);
    *out = text;
    return FIRN_OK;
}

static firn_status decode_record(decoder *d, const firn_avro_node *node, uint8_t *base,
                                 uint8_t *values) {
    for (size_t i = 0; i < node->step_count; i++) {
        const firn_avro_step *step = &node->steps[i];
        if (step->node == NULL) {
            FIRN_TRY(firn_avro_skip(d->cursor, step->skip, d->error));
        } else {
            FIRN_TRY(decode_node(d, step->node, step->to_values ? values : base));
        }
    }
    return FIRN_OK;
}

static firn_status decode_list(decoder *d, const firn_avro_node *node, firn_avro_list *list) {
    size_t item_size = node->target->item_size;
    growing array = {0};
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(d->cursor, node->writer, &count, &byte_size, d->error));
        if (count == 0) break;
        size_t start = d->cursor->position;
        FIRN_TRY(grow(d, &array, count, item_size));
        for (int64_t i = 0; i < count; i++) {
            FIRN_TRY(decode_node(d, node->item, (uint8_t *)array.items + array.count * item_size));
            array.count++;
        }
        FIRN_TRY(check_block_end(d, start, byte_size));
    }
    FIRN_TRY(grow(d, &array, 0, item_size));
    list->items = array.items;
    list->count = array.count;
    return FIRN_OK;
}

static firn_status decode_pair(decoder *d, const firn_avro_node *node, uint8_t *key,
                               uint8_t *value) {
    const firn_avro_schema *items = node->writer->items;
    if (node->pair_record != NULL && items->kind == FIRN_AVRO_UNION) {
        size_t branch = 0;
        FIRN_TRY(firn_avro_get_branch(d->cursor, items, &branch, d->error));
        if (items->branches[branch] != node->pair_record) {
            return firn_avro_corrupt(d->cursor, "entry is null and may not be", d->error);
        }
    }
    if (node->pair_record != NULL) return decode_record(d, node, key, value);
    firn_slice text;
    FIRN_TRY(firn_avro_get_bytes(d->cursor, &text, d->error));
    FIRN_TRY(keep(d, &text));
    memcpy(key, &text, sizeof text);
    return decode_node(d, node->item, value);
}

/* Metrics, which are most of a manifest: without a look at the plan for every number. */
static firn_status decode_plain_pairs(decoder *d, const firn_avro_node *node, int64_t count,
                                      int32_t *keys, void *values) {
    bool numbers = node->steps[1].node->target->into == FIRN_AVRO_INTO_INT64;
    for (int64_t i = 0; i < count; i++) {
        int64_t key = 0;
        if (!firn_avro_spend(d->cursor)) return firn_avro_overspent(d->cursor, d->error);
        FIRN_TRY(firn_avro_get_long(d->cursor, &key, d->error));
        if (key < INT32_MIN || key > INT32_MAX) {
            return firn_avro_corrupt(d->cursor, "integer of more than 32 bits", d->error);
        }
        keys[i] = (int32_t)key;
        if (numbers) {
            FIRN_TRY(firn_avro_get_long(d->cursor, (int64_t *)values + i, d->error));
            continue;
        }
        FIRN_TRY(firn_avro_get_bytes(d->cursor, (firn_slice *)values + i, d->error));
        FIRN_TRY(keep(d, (firn_slice *)values + i));
    }
    return FIRN_OK;
}

static firn_status decode_block_of_pairs(decoder *d, const firn_avro_node *node, int64_t count,
                                         uint8_t *keys, uint8_t *values) {
    if (node->plain_pairs) return decode_plain_pairs(d, node, count, (void *)keys, values);
    for (int64_t i = 0; i < count; i++) {
        if (!firn_avro_spend(d->cursor)) return firn_avro_overspent(d->cursor, d->error);
        FIRN_TRY(decode_pair(d, node, keys, values));
        keys += node->target->item_size;
        values += node->target->value_size;
    }
    return FIRN_OK;
}

static firn_status decode_pairs(decoder *d, const firn_avro_node *node, firn_avro_pairs *pairs) {
    size_t key_size = node->target->item_size;
    size_t value_size = node->target->value_size;
    growing keys = {0};
    growing values = {0};
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(d->cursor, node->writer, &count, &byte_size, d->error));
        if (count == 0) break;
        size_t start = d->cursor->position;
        FIRN_TRY(grow(d, &keys, count, key_size));
        FIRN_TRY(grow(d, &values, count, value_size));
        FIRN_TRY(decode_block_of_pairs(d, node, count,
                                       (uint8_t *)keys.items + keys.count * key_size,
                                       (uint8_t *)values.items + values.count * value_size));
        keys.count += (size_t)count;
        values.count += (size_t)count;
        FIRN_TRY(check_block_end(d, start, byte_size));
    }
    FIRN_TRY(grow(d, &keys, 0, key_size));
    FIRN_TRY(grow(d, &values, 0, value_size));
    *pairs = (firn_avro_pairs){keys.items, values.items, keys.count};
    return FIRN_OK;
}

static firn_status fail_null(decoder *d, const firn_avro_target *target) {
    firn_status status = firn_avro_corrupt(d->cursor, "value is null and may not be", d->error);
    if (target->name == NULL) return status;
    return firn_error_wrap(d->error, status, "field %s (id %" PRId32 ")", target->name, target->id);
}

static firn_status decode_branch(decoder *d, const firn_avro_node *node, uint8_t *base) {
    size_t index = 0;
    FIRN_TRY(firn_avro_get_branch(d->cursor, node->writer, &index, d->error));
    if (node->branches[index] != NULL) return decode_node(d, node->branches[index], base);
    if (node->writer->branches[index]->kind != FIRN_AVRO_NULL) {
        return firn_avro_corrupt(d->cursor, "value is of a type that does not fit", d->error);
    }
    return node->target->required ? fail_null(d, node->target) : FIRN_OK;
}

static firn_status decode_scalar(decoder *d, const firn_avro_node *node, uint8_t *at) {
    int64_t integer = 0;
    firn_slice bytes = {0};
    const char *text = NULL;
    float float32 = 0;
    double float64 = 0;
    bool boolean = false;
    switch (node->target->into) {
    case FIRN_AVRO_INTO_BOOL:
        FIRN_TRY(firn_avro_get_boolean(d->cursor, &boolean, d->error));
        memcpy(at, &boolean, sizeof boolean);
        return FIRN_OK;
    case FIRN_AVRO_INTO_INT32: {
        FIRN_TRY(read_integer(d, node->writer, &integer));
        if (integer < INT32_MIN || integer > INT32_MAX) {
            return firn_avro_corrupt(d->cursor, "value does not fit into 32 bits", d->error);
        }
        int32_t narrow = (int32_t)integer;
        memcpy(at, &narrow, sizeof narrow);
        return FIRN_OK;
    }
    case FIRN_AVRO_INTO_INT64:
        FIRN_TRY(read_integer(d, node->writer, &integer));
        memcpy(at, &integer, sizeof integer);
        return FIRN_OK;
    case FIRN_AVRO_INTO_FLOAT:
        FIRN_TRY(firn_avro_get_float(d->cursor, &float32, d->error));
        memcpy(at, &float32, sizeof float32);
        return FIRN_OK;
    case FIRN_AVRO_INTO_DOUBLE:
        if (node->writer->kind == FIRN_AVRO_FLOAT) {
            FIRN_TRY(firn_avro_get_float(d->cursor, &float32, d->error));
            float64 = (double)float32;
        } else {
            FIRN_TRY(firn_avro_get_double(d->cursor, &float64, d->error));
        }
        memcpy(at, &float64, sizeof float64);
        return FIRN_OK;
    case FIRN_AVRO_INTO_BYTES:
        FIRN_TRY(read_slice(d, node->writer, &bytes));
        memcpy(at, &bytes, sizeof bytes);
        return FIRN_OK;
    case FIRN_AVRO_INTO_TEXT:
        FIRN_TRY(read_text(d, &text));
        memcpy(at, &text, sizeof text);
        return FIRN_OK;
    default: return firn_avro_corrupt(d->cursor, "target of an unknown kind", d->error);
    }
}

static firn_status decode_content(decoder *d, const firn_avro_node *node, uint8_t *base) {
    const firn_avro_target *target = node->target;
    uint8_t *at = base + target->offset;
    firn_avro_value value = {0};
    firn_avro_list list = {0};
    firn_avro_pairs pairs = {0};
    switch (target->into) {
    case FIRN_AVRO_INTO_RECORD: return decode_record(d, node, at, NULL);
    case FIRN_AVRO_INTO_LIST:
        FIRN_TRY(decode_list(d, node, &list));
        memcpy(at, &list, sizeof list);
        return FIRN_OK;
    case FIRN_AVRO_INTO_PAIRS:
        FIRN_TRY(decode_pairs(d, node, &pairs));
        memcpy(at, &pairs, sizeof pairs);
        return FIRN_OK;
    case FIRN_AVRO_INTO_VALUE:
        FIRN_TRY(decode_value(d, node->writer, 0, &value));
        memcpy(at, &value, sizeof value);
        return FIRN_OK;
    default: return decode_scalar(d, node, at);
    }
}

static firn_status decode_node(decoder *d, const firn_avro_node *node, uint8_t *base) {
    if (!firn_avro_spend(d->cursor)) return firn_avro_overspent(d->cursor, d->error);
    const firn_avro_target *target = node->target;
    if (target->into != FIRN_AVRO_INTO_VALUE) {
        if (node->writer->kind == FIRN_AVRO_UNION) return decode_branch(d, node, base);
        if (node->writer->kind == FIRN_AVRO_NULL) {
            return target->required ? fail_null(d, target) : FIRN_OK;
        }
    }
    firn_status status = decode_content(d, node, base);
    if (status != FIRN_OK) {
        if (target->name == NULL) return status;
        return firn_error_wrap(d->error, status, "field %s (id %" PRId32 ")", target->name,
                               target->id);
    }
    if (target->present != FIRN_AVRO_NO_FLAG) {
        bool present = true;
        memcpy(base + target->present, &present, sizeof present);
    }
    return FIRN_OK;
}

static firn_status decode_value_record(decoder *d, const firn_avro_schema *schema, int depth,
                                       firn_avro_value *out) {
    firn_avro_value *items = firn_arena_alloc(d->arena, schema->count, sizeof *items);
    if (items == NULL) return firn_fail_memory(d->error);
    for (size_t i = 0; i < schema->count; i++) {
        FIRN_TRY(decode_value(d, schema->fields[i].schema, depth + 1, &items[i]));
    }
    out->as.list.items = items;
    out->as.list.count = schema->count;
    return FIRN_OK;
}

static firn_status decode_value_items(decoder *d, const firn_avro_schema *schema, int depth,
                                      firn_avro_value *out) {
    bool is_map = schema->kind == FIRN_AVRO_MAP;
    growing array = {0};
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(d->cursor, schema, &count, &byte_size, d->error));
        if (count == 0) break;
        size_t start = d->cursor->position;
        /* The count is bounded by the bytes or the budget, so that twice of it still fits. */
        FIRN_TRY(grow(d, &array, is_map ? 2 * count : count, sizeof(firn_avro_value)));
        firn_avro_value *values = array.items;
        for (int64_t i = 0; i < count; i++) {
            if (is_map) {
                firn_avro_value *key = &values[array.count++];
                key->schema = &map_key_schema;
                FIRN_TRY(read_slice(d, &map_key_schema, &key->as.bytes));
            }
            FIRN_TRY(decode_value(d, schema->items, depth + 1, &values[array.count]));
            array.count++;
        }
        FIRN_TRY(check_block_end(d, start, byte_size));
    }
    out->as.list.items = array.items;
    out->as.list.count = array.count;
    return FIRN_OK;
}

static firn_status decode_value(decoder *d, const firn_avro_schema *schema, int depth,
                                firn_avro_value *out) {
    if (!firn_avro_spend(d->cursor)) return firn_avro_overspent(d->cursor, d->error);
    if (depth > FIRN_AVRO_MAX_VALUE_DEPTH) {
        return firn_avro_corrupt(d->cursor, "values nested too deep", d->error);
    }
    size_t branch = 0;
    if (schema->kind == FIRN_AVRO_UNION) {
        FIRN_TRY(firn_avro_get_branch(d->cursor, schema, &branch, d->error));
        return decode_value(d, schema->branches[branch], depth + 1, out);
    }
    out->schema = schema;
    switch (schema->kind) {
    case FIRN_AVRO_NULL: return FIRN_OK;
    case FIRN_AVRO_BOOLEAN: return firn_avro_get_boolean(d->cursor, &out->as.boolean, d->error);
    case FIRN_AVRO_INT:
    case FIRN_AVRO_LONG:
    case FIRN_AVRO_ENUM: return read_integer(d, schema, &out->as.integer);
    case FIRN_AVRO_FLOAT: return firn_avro_get_float(d->cursor, &out->as.float32, d->error);
    case FIRN_AVRO_DOUBLE: return firn_avro_get_double(d->cursor, &out->as.float64, d->error);
    case FIRN_AVRO_BYTES:
    case FIRN_AVRO_STRING:
    case FIRN_AVRO_FIXED: return read_slice(d, schema, &out->as.bytes);
    case FIRN_AVRO_RECORD: return decode_value_record(d, schema, depth, out);
    case FIRN_AVRO_ARRAY:
    case FIRN_AVRO_MAP: return decode_value_items(d, schema, depth, out);
    case FIRN_AVRO_UNION: break;
    }
    return firn_avro_corrupt(d->cursor, "schema of an unknown kind", d->error);
}

firn_status firn_avro_decode(const firn_avro_plan *plan, firn_avro_cursor *cursor,
                             firn_arena *arena, bool copy, void *record, firn_error *error) {
    decoder d = {cursor, arena, copy, error};
    return decode_node(&d, plan->root, record);
}
