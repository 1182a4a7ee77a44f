/**
 * Writing an object container file (Avro specification, "Object Container Files"). The schema's
 * text goes into the header as it is given, so that every attribute is kept. Not thread-safe.
 */
#ifndef FIRN_AVRO_WRITER_H
#define FIRN_AVRO_WRITER_H

#include "base/buffer.h"
#include "base/read_at.h"
#include "base/threads.h"
#include "codec/codec.h"

typedef struct firn_avro_writer firn_avro_writer;

typedef struct firn_avro_write_options {
    firn_codec codec;   /**< UNCOMPRESSED, DEFLATE, SNAPPY or ZSTD */
    int level;          /**< of the codec, or FIRN_CODEC_LEVEL_DEFAULT */
    size_t block_bytes; /**< a block ends when its records reach this size; 0: 64,000 */
} firn_avro_write_options;

/**
 * `schema` is JSON text, checked for being a schema and copied; what it means is for the caller and
 * its records to agree on. `destination` is copied; nothing is written before the first block is.
 * Options NULL: deflate. INVALID for another codec.
 */
firn_status firn_avro_writer_new(firn_slice schema, const firn_avro_write_options *options,
                                 const firn_write_to *destination, firn_avro_writer **out,
                                 firn_error *error);
void firn_avro_writer_free(firn_avro_writer *writer);

/** Before the first record: blocks are compressed by the pool (borrowed), a few at a time. The writer's size then counts those that wait uncompressed. */
void firn_avro_writer_use_pool(firn_avro_writer *writer, firn_pool *pool);

/**
 * A header entry, copied, in the order of the calls; INVALID once the header is written. Keys
 * beginning with "avro." are taken.
 */
firn_status firn_avro_writer_set_metadata(firn_avro_writer *writer, const char *key,
                                          firn_slice value, firn_error *error);

/** One record, encoded (encode.h). */
firn_status firn_avro_writer_add(firn_avro_writer *writer, firn_slice record, firn_error *error);

/** Bytes written, and those of blocks that are not, before compression. */
uint64_t firn_avro_writer_size(const firn_avro_writer *writer);
int64_t firn_avro_writer_count(const firn_avro_writer *writer);

/** Writes what is left; a file without records has a header only. `size` of the file: nullable. */
firn_status firn_avro_writer_finish(firn_avro_writer *writer, uint64_t *size, firn_error *error);

/** A destination that appends to a buffer, which must outlive it. */
firn_write_to firn_avro_to_buffer(firn_buffer *buffer);

#endif
