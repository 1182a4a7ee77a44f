#include "avro/writer.h"

#include "avro/encode.h"
#include "avro/schema.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/random.h"

#define SYNC_SIZE 16
#define DEFAULT_BLOCK_BYTES 64000
/* With a pool: as many whatever its threads are, so that the same records make the same file. */
#define BLOCKS_AT_ONCE 4

/* On its way out. */
typedef struct open_block {
    firn_buffer records; /**< encoded */
    firn_buffer packed;  /**< the same, compressed */
    int64_t count;
} open_block;

struct firn_avro_writer {
    firn_write_to destination;
    firn_avro_write_options options;
    uint8_t sync[SYNC_SIZE];
    firn_buffer header; /**< entries of the header's map, encoded */
    int64_t header_count;
    bool header_written;
    firn_pool *pool;                   /**< NULL: blocks are compressed one by one */
    open_block blocks[BLOCKS_AT_ONCE]; /**< all before `filling` are full */
    size_t filling;
    firn_buffer output; /**< of a block on its way out */
    uint64_t written;
    int64_t count;
};

static const char *codec_name(firn_codec codec) {
    switch (codec) {
    case FIRN_CODEC_UNCOMPRESSED: return "null";
    case FIRN_CODEC_DEFLATE: return "deflate";
    case FIRN_CODEC_SNAPPY: return "snappy";
    case FIRN_CODEC_ZSTD: return "zstandard";
    default: return NULL;
    }
}

static firn_status put_entry(firn_avro_writer *writer, const char *key, firn_slice value,
                             firn_error *error) {
    FIRN_TRY(firn_avro_put_text(&writer->header, key, error));
    FIRN_TRY(firn_avro_put_bytes(&writer->header, value, error));
    writer->header_count++;
    return FIRN_OK;
}

static firn_status check_schema(firn_slice schema, firn_error *error) {
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    const firn_avro_schema *ignored;
    firn_status status =
        firn_avro_schema_parse(schema, "schema to be written", arena, &ignored, error);
    firn_arena_free(arena);
    return status;
}

static firn_status open_writer(firn_avro_writer *writer, firn_slice schema, firn_error *error) {
    const char *codec = codec_name(writer->options.codec);
    if (codec == NULL) {
        return firn_fail(error, FIRN_INVALID, "Avro files can't be written with codec %s",
                         firn_codec_name(writer->options.codec));
    }
    FIRN_TRY(check_schema(schema, error));
    FIRN_TRY(firn_random_bytes(writer->sync, sizeof writer->sync, error));
    FIRN_TRY(put_entry(writer, "avro.schema", schema, error));
    return put_entry(writer, "avro.codec", firn_slice_text(codec), error);
}

firn_status firn_avro_writer_new(firn_slice schema, const firn_avro_write_options *options,
                                 const firn_write_to *destination, firn_avro_writer **out,
                                 firn_error *error) {
    firn_avro_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->destination = *destination;
    writer->options = options != NULL ? *options
                                      : (firn_avro_write_options){FIRN_CODEC_DEFLATE,
                                                                  FIRN_CODEC_LEVEL_DEFAULT, 0};
    if (writer->options.block_bytes == 0) writer->options.block_bytes = DEFAULT_BLOCK_BYTES;
    writer->header = writer->output = firn_buffer_with_maximum(SIZE_MAX / 4);
    for (size_t i = 0; i < BLOCKS_AT_ONCE; i++) {
        writer->blocks[i].records = writer->blocks[i].packed =
            firn_buffer_with_maximum(SIZE_MAX / 4);
    }
    firn_status status = open_writer(writer, schema, error);
    if (status != FIRN_OK) {
        firn_avro_writer_free(writer);
        return status;
    }
    *out = writer;
    return FIRN_OK;
}

void firn_avro_writer_free(firn_avro_writer *writer) {
    if (writer == NULL) return;
    firn_buffer_release(&writer->header);
    firn_buffer_release(&writer->output);
    for (size_t i = 0; i < BLOCKS_AT_ONCE; i++) {
        firn_buffer_release(&writer->blocks[i].records);
        firn_buffer_release(&writer->blocks[i].packed);
    }
    firn_free(writer);
}

void firn_avro_writer_use_pool(firn_avro_writer *writer, firn_pool *pool) {
    writer->pool = pool;
}

firn_status firn_avro_writer_set_metadata(firn_avro_writer *writer, const char *key,
                                          firn_slice value, firn_error *error) {
    if (writer->header_written) {
        return firn_fail(error, FIRN_INVALID, "Avro header is already written: %s comes too late",
                         key);
    }
    if (strncmp(key, "avro.", 5) == 0) {
        return firn_fail(error, FIRN_INVALID, "Avro header key %s is reserved", key);
    }
    return put_entry(writer, key, value, error);
}

static firn_status send(firn_avro_writer *writer, firn_error *error) {
    FIRN_TRY(writer->destination.write(writer->destination.context, writer->output.data,
                                       writer->output.size, error));
    writer->written += writer->output.size;
    firn_buffer_clear(&writer->output);
    return FIRN_OK;
}

static firn_status write_header(firn_avro_writer *writer, firn_error *error) {
    if (writer->header_written) return FIRN_OK;
    firn_buffer *out = &writer->output;
    firn_buffer_clear(out);
    FIRN_TRY(firn_buffer_append(out, "Obj\1", 4, error));
    FIRN_TRY(firn_avro_put_long(out, writer->header_count, error));
    FIRN_TRY(firn_buffer_append(out, writer->header.data, writer->header.size, error));
    FIRN_TRY(firn_avro_put_long(out, 0, error));
    FIRN_TRY(firn_buffer_append(out, writer->sync, SYNC_SIZE, error));
    FIRN_TRY(send(writer, error));
    writer->header_written = true;
    return FIRN_OK;
}

static firn_status pack(void *context, size_t index, firn_error *error) {
    firn_avro_writer *writer = context;
    firn_slice plain = firn_buffer_slice(&writer->blocks[index].records);
    firn_buffer *packed = &writer->blocks[index].packed;
    if (writer->options.codec == FIRN_CODEC_UNCOMPRESSED) return FIRN_OK;
    firn_buffer_clear(packed);
    FIRN_TRY(
        firn_codec_compress(writer->options.codec, writer->options.level, plain, packed, error));
    if (writer->options.codec != FIRN_CODEC_SNAPPY) return FIRN_OK;
    uint8_t checksum[4];
    firn_store_be32(checksum, firn_crc32(0, plain));
    return firn_buffer_append(packed, checksum, sizeof checksum, error);
}

static firn_status send_block(firn_avro_writer *writer, open_block *block, firn_error *error) {
    bool plain = writer->options.codec == FIRN_CODEC_UNCOMPRESSED;
    firn_slice data = firn_buffer_slice(plain ? &block->records : &block->packed);
    firn_buffer *out = &writer->output;
    firn_buffer_clear(out);
    FIRN_TRY(firn_avro_put_long(out, block->count, error));
    FIRN_TRY(firn_avro_put_bytes(out, data, error));
    FIRN_TRY(firn_buffer_append(out, writer->sync, SYNC_SIZE, error));
    FIRN_TRY(send(writer, error));
    firn_buffer_clear(&block->records);
    block->count = 0;
    return FIRN_OK;
}

static firn_status write_blocks(firn_avro_writer *writer, firn_error *error) {
    FIRN_TRY(write_header(writer, error));
    size_t count = writer->filling;
    if (count < BLOCKS_AT_ONCE && writer->blocks[count].count > 0) count++;
    if (count > 1) {
        FIRN_TRY(firn_pool_each(writer->pool, count, pack, writer, error));
    } else if (count == 1) {
        FIRN_TRY(pack(writer, 0, error));
    }
    for (size_t i = 0; i < count; i++) FIRN_TRY(send_block(writer, &writer->blocks[i], error));
    writer->filling = 0;
    return FIRN_OK;
}

firn_status firn_avro_writer_add(firn_avro_writer *writer, firn_slice record, firn_error *error) {
    /* Only after a failure are all of them full. */
    if (writer->filling == BLOCKS_AT_ONCE) FIRN_TRY(write_blocks(writer, error));
    open_block *block = &writer->blocks[writer->filling];
    FIRN_TRY(firn_buffer_append(&block->records, record.data, record.size, error));
    block->count++;
    writer->count++;
    if (block->records.size < writer->options.block_bytes) return FIRN_OK;
    writer->filling++;
    bool more = writer->pool != NULL && writer->filling < BLOCKS_AT_ONCE;
    return more ? FIRN_OK : write_blocks(writer, error);
}

uint64_t firn_avro_writer_size(const firn_avro_writer *writer) {
    uint64_t size = writer->written + (writer->header_written ? 0 : writer->header.size);
    for (size_t i = 0; i < BLOCKS_AT_ONCE; i++) size += writer->blocks[i].records.size;
    return size;
}

int64_t firn_avro_writer_count(const firn_avro_writer *writer) {
    return writer->count;
}

firn_status firn_avro_writer_finish(firn_avro_writer *writer, uint64_t *size, firn_error *error) {
    FIRN_TRY(write_blocks(writer, error));
    if (size != NULL) *size = writer->written;
    return FIRN_OK;
}

static firn_status append_to_buffer(void *context, const void *data, size_t size,
                                    firn_error *error) {
    return firn_buffer_append(context, data, size, error);
}

firn_write_to firn_avro_to_buffer(firn_buffer *buffer) {
    return (firn_write_to){append_to_buffer, buffer};
}
