#include "data/avro_shred.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/vector.h"

/* Parquet's pages hold no more of one row than this. */
#define MOST_BYTES ((size_t)INT32_MAX)

typedef struct leaf_stream {
    const firn_parquet_leaf *leaf;
    firn_parquet_physical_type type;
    uint32_t width; /* 0: byte arrays */
    firn_buffer definition_levels, repetition_levels;
    firn_buffer bytes;              /* of all values, end to end */
    FIRN_VECTOR(size_t) ends;       /* byte arrays: where each value ends */
    FIRN_VECTOR(firn_slice) slices; /* made for a batch */
    size_t level_count, value_count;
} leaf_stream;

struct firn_avro_shredder {
    const firn_avro_column *root;
    leaf_stream *streams;
    size_t leaf_count;
    size_t held;
};

/* What one record is taken apart with. */
typedef struct shred_run {
    firn_avro_shredder *shredder;
    firn_avro_cursor *cursor;
    firn_error *error;
} shred_run;

firn_status firn_avro_shredder_new(const firn_avro_columns *columns,
                                   const firn_parquet_schema *schema, firn_avro_shredder **out,
                                   firn_error *error) {
    firn_avro_shredder *shredder = firn_alloc_zeroed(1, sizeof *shredder);
    if (shredder == NULL) return firn_fail_memory(error);
    shredder->root = columns->root;
    shredder->streams = firn_alloc_zeroed(schema->leaf_count, sizeof *shredder->streams);
    if (shredder->streams == NULL) {
        firn_free(shredder);
        return firn_fail_memory(error);
    }
    shredder->leaf_count = schema->leaf_count;
    for (size_t i = 0; i < schema->leaf_count; i++) {
        leaf_stream *stream = &shredder->streams[i];
        const firn_parquet_schema_element *element = schema->leaves[i].node->element;
        stream->leaf = &schema->leaves[i];
        stream->type = element->type;
        stream->width = firn_parquet_value_width(element->type, element->type_length);
        stream->definition_levels = firn_buffer_with_maximum(MOST_BYTES);
        stream->repetition_levels = firn_buffer_with_maximum(MOST_BYTES);
        stream->bytes = firn_buffer_with_maximum(MOST_BYTES);
    }
    *out = shredder;
    return FIRN_OK;
}

void firn_avro_shredder_free(firn_avro_shredder *shredder) {
    if (shredder == NULL) return;
    for (size_t i = 0; i < shredder->leaf_count; i++) {
        leaf_stream *stream = &shredder->streams[i];
        firn_buffer_release(&stream->definition_levels);
        firn_buffer_release(&stream->repetition_levels);
        firn_buffer_release(&stream->bytes);
        firn_vector_release(&stream->ends);
        firn_vector_release(&stream->slices);
    }
    firn_free(shredder->streams);
    firn_free(shredder);
}

size_t firn_avro_shredder_held(const firn_avro_shredder *shredder) {
    return shredder->held;
}

void firn_avro_shredder_clear(firn_avro_shredder *shredder) {
    for (size_t i = 0; i < shredder->leaf_count; i++) {
        leaf_stream *stream = &shredder->streams[i];
        firn_buffer_clear(&stream->definition_levels);
        firn_buffer_clear(&stream->repetition_levels);
        firn_buffer_clear(&stream->bytes);
        stream->ends.count = 0;
        stream->level_count = stream->value_count = 0;
    }
    shredder->held = 0;
}

static firn_status put_levels(shred_run *run, leaf_stream *stream, uint8_t repetition,
                              uint8_t definition) {
    if (stream->leaf->maximum_definition_level > 0) {
        FIRN_TRY(firn_buffer_append_byte(&stream->definition_levels, definition, run->error));
    }
    if (stream->leaf->maximum_repetition_level > 0) {
        FIRN_TRY(firn_buffer_append_byte(&stream->repetition_levels, repetition, run->error));
    }
    stream->level_count++;
    run->shredder->held += 2;
    return FIRN_OK;
}

/* One entry without value for each leaf of a column. */
static firn_status put_nothing(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                               uint8_t definition) {
    leaf_stream *streams = run->shredder->streams + column->first_leaf;
    for (size_t i = 0; i < column->leaf_count; i++) {
        FIRN_TRY(put_levels(run, &streams[i], repetition, definition));
    }
    return FIRN_OK;
}

static firn_status put_bytes(shred_run *run, leaf_stream *stream, const void *data, size_t size) {
    FIRN_TRY(firn_buffer_append(&stream->bytes, data, size, run->error));
    run->shredder->held += size;
    if (stream->width == 0) {
        FIRN_TRY(firn_vector_push(&stream->ends, run->error, stream->bytes.size));
        run->shredder->held += sizeof(size_t);
    }
    stream->value_count++;
    return FIRN_OK;
}

static firn_status take_text(shred_run *run, leaf_stream *stream) {
    firn_slice bytes;
    FIRN_TRY(firn_avro_get_bytes(run->cursor, &bytes, run->error));
    return put_bytes(run, stream, bytes.data, bytes.size);
}

static firn_status take_number(shred_run *run, leaf_stream *stream, firn_avro_kind kind) {
    uint8_t plain[8];
    int32_t int32 = 0;
    int64_t int64 = 0;
    bool boolean = false;
    switch (kind) {
    case FIRN_AVRO_BOOLEAN:
        FIRN_TRY(firn_avro_get_boolean(run->cursor, &boolean, run->error));
        plain[0] = boolean ? 1 : 0;
        break;
    case FIRN_AVRO_INT:
        FIRN_TRY(firn_avro_get_int(run->cursor, &int32, run->error));
        firn_store_le32(plain, (uint32_t)int32);
        break;
    default:
        FIRN_TRY(firn_avro_get_long(run->cursor, &int64, run->error));
        firn_store_le64(plain, (uint64_t)int64);
        break;
    }
    return put_bytes(run, stream, plain, stream->width);
}

static firn_status take_symbol(shred_run *run, leaf_stream *stream,
                               const firn_avro_schema *schema) {
    int32_t index = 0;
    FIRN_TRY(firn_avro_get_int(run->cursor, &index, run->error));
    if (index < 0 || (size_t)index >= schema->count) {
        return firn_avro_corrupt(run->cursor, "enum has no such symbol", run->error);
    }
    const char *symbol = schema->symbols[index];
    return put_bytes(run, stream, symbol, strlen(symbol));
}

/* `definition` is the leaf's highest level, but for a null. */
static firn_status take_leaf(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                             uint8_t definition) {
    leaf_stream *stream = &run->shredder->streams[column->first_leaf];
    firn_slice bytes;
    FIRN_TRY(put_levels(run, stream, repetition, definition));
    switch (column->schema->kind) {
    case FIRN_AVRO_NULL: return FIRN_OK;
    case FIRN_AVRO_BYTES:
    case FIRN_AVRO_STRING: return take_text(run, stream);
    case FIRN_AVRO_ENUM: return take_symbol(run, stream, column->schema);
    /* Little-endian in both formats. */
    case FIRN_AVRO_FLOAT:
    case FIRN_AVRO_DOUBLE:
    case FIRN_AVRO_FIXED:
        FIRN_TRY(firn_avro_get_fixed(run->cursor, stream->width, &bytes, run->error));
        return put_bytes(run, stream, bytes.data, bytes.size);
    default: return take_number(run, stream, column->schema->kind);
    }
}

static firn_status take_column(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                               uint8_t definition);

static firn_status take_children(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                                 uint8_t definition) {
    for (size_t i = 0; i < column->child_count; i++) {
        FIRN_TRY(take_column(run, column->children[i], repetition, definition));
    }
    return FIRN_OK;
}

/* The number of a union's branch, where there is one. */
static firn_status take_branch(shred_run *run, const firn_avro_option *option, bool *is_null) {
    *is_null = false;
    if (option->schema == NULL) return FIRN_OK;
    size_t branch = 0;
    FIRN_TRY(firn_avro_get_branch(run->cursor, option->schema, &branch, run->error));
    *is_null = branch == option->null_branch;
    return FIRN_OK;
}

static firn_status take_item(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                             uint8_t definition) {
    bool is_null = false;
    if (!firn_avro_spend(run->cursor)) return firn_avro_overspent(run->cursor, run->error);
    if (column->shape == FIRN_AVRO_SHAPE_PAIRS) {
        FIRN_TRY(take_branch(run, &column->item_option, &is_null));
        if (is_null) return firn_avro_corrupt(run->cursor, "a pair of a map is null", run->error);
    }
    return take_children(run, column, repetition, definition);
}

/* Items of an array or map: the first one of a list stands at the list's own repetition level. */
static firn_status take_items(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                              uint8_t definition) {
    uint8_t level = repetition;
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(run->cursor, column->schema, &count, &byte_size, run->error));
        if (count == 0) break;
        size_t start = run->cursor->position;
        for (int64_t i = 0; i < count; i++) {
            FIRN_TRY(take_item(run, column, level, (uint8_t)(definition + 1)));
            level = column->repetition_level;
        }
        if (byte_size >= 0 && run->cursor->position - start != (uint64_t)byte_size) {
            return firn_avro_corrupt(
                run->cursor, "items of a block do not take the size that it states", run->error);
        }
    }
    /* Nothing was put: the list is there, and empty. */
    return level == repetition ? put_nothing(run, column, repetition, definition) : FIRN_OK;
}

static firn_status take_column(shred_run *run, const firn_avro_column *column, uint8_t repetition,
                               uint8_t definition) {
    bool is_null = false;
    if (!firn_avro_spend(run->cursor)) return firn_avro_overspent(run->cursor, run->error);
    FIRN_TRY(take_branch(run, &column->option, &is_null));
    if (is_null) return put_nothing(run, column, repetition, definition);
    if (column->option.null_branch != FIRN_AVRO_NO_BRANCH) definition++;
    switch (column->shape) {
    case FIRN_AVRO_SHAPE_RECORD: return take_children(run, column, repetition, definition);
    case FIRN_AVRO_SHAPE_LIST:
    case FIRN_AVRO_SHAPE_PAIRS:
    case FIRN_AVRO_SHAPE_MAP: return take_items(run, column, repetition, definition);
    case FIRN_AVRO_SHAPE_LEAF: break;
    }
    return take_leaf(run, column, repetition, definition);
}

firn_status firn_avro_shredder_take(void *context, firn_avro_cursor *cursor, firn_error *error) {
    shred_run run = {context, cursor, error};
    return take_column(&run, run.shredder->root, 0, 0);
}

static firn_status make_slices(leaf_stream *stream, firn_error *error) {
    static const uint8_t nothing[1];
    FIRN_TRY(firn_vector_reserve(&stream->slices, error, stream->value_count + 1));
    const uint8_t *bytes = stream->bytes.data == NULL ? nothing : stream->bytes.data;
    size_t start = 0;
    for (size_t i = 0; i < stream->value_count; i++) {
        size_t end = stream->ends.items[i];
        stream->slices.items[i] = firn_slice_of(bytes + start, end - start);
        start = end;
    }
    return FIRN_OK;
}

firn_status firn_avro_shredder_batch(firn_avro_shredder *shredder, size_t leaf,
                                     firn_parquet_batch *out, firn_error *error) {
    leaf_stream *stream = &shredder->streams[leaf];
    *out = (firn_parquet_batch){
        .level_count = stream->level_count,
        .value_count = stream->value_count,
        .values = {.type = stream->type, .width = stream->width, .count = stream->value_count}};
    if (stream->leaf->maximum_definition_level > 0) {
        out->definition_levels = stream->definition_levels.data;
    }
    if (stream->leaf->maximum_repetition_level > 0) {
        out->repetition_levels = stream->repetition_levels.data;
    }
    if (stream->width > 0) {
        out->values.fixed = stream->bytes.data;
        return FIRN_OK;
    }
    FIRN_TRY(make_slices(stream, error));
    out->values.slices = stream->slices.items;
    return FIRN_OK;
}
