/**
 * One output column chunk, built in memory: encodes batches, takes raw pages, keeps statistics and page index. It knows
 * nothing of the file, so chunks of a row group can be built in parallel, one writer per thread, and handed to the file writer in leaf order.
 */
#ifndef FIRN_PARQUET_CHUNK_WRITER_H
#define FIRN_PARQUET_CHUNK_WRITER_H

#include "parquet/batch.h"
#include "parquet/bloom_filter.h"
#include "parquet/chunk_reader.h"
#include "parquet/schema.h"

/** What is wanted of one column, beside what holds for all; zero: nothing else. */
typedef struct firn_parquet_column_options {
    /** Pages of a leaf that gets one are not copied, since their values must be hashed. */
    firn_parquet_bloom_options bloom_filter;
    bool no_dictionary;
    /** No statistics, size statistics or column index. Readers then know nothing of its values but their number. */
    bool no_statistics;
} firn_parquet_column_options;

/** How bytes are laid out; from the table's write.parquet.* properties. */
typedef struct firn_parquet_write_options {
    firn_parquet_compression compression;
    int compression_level;   /**< FIRN_CODEC_LEVEL_DEFAULT: the codec's default */
    int32_t page_size_bytes; /**< uncompressed; write.parquet.page-size-bytes, 1 MiB */
    int32_t page_row_limit;  /**< write.parquet.page-row-limit, 20000 */
    /** Rows of a page of dictionary indices; 0: page_row_limit. Larger ones read faster, and such pages are small. */
    int32_t index_page_row_limit;
    int32_t dictionary_size_bytes; /**< write.parquet.dict-size-bytes, 2 MiB; 0: no dictionary */
    int page_version;              /**< 1 or 2 */
    /**
     * Of values that no dictionary holds, unless PLAIN is much smaller; a rewrite takes it from its inputs, whatever stands here. One that the
     * leaf's type can't have, or that only dictionaries and booleans have, means PLAIN.
     */
    firn_parquet_encoding value_encoding;
    /**
     * Whether such integers and BYTE_ARRAYs may go as DELTA_BINARY_PACKED and DELTA_BYTE_ARRAY, where these are much smaller: what parquet-java
     * does with write.parquet.page-version v2. Many readers take neither, so without it they are only kept.
     */
    bool delta_encodings;
    bool write_page_index;
    bool write_crc;
    const firn_parquet_column_options
        *columns; /**< NULL, or one per leaf of the output; borrowed */
    size_t column_count;
} firn_parquet_write_options;

void firn_parquet_write_options_init(firn_parquet_write_options *options);

/** What the options ask for the leaf beside what holds for all; never NULL. */
const firn_parquet_column_options *
firn_parquet_column_options_of(const firn_parquet_write_options *options,
                               const firn_parquet_leaf *leaf);

/** Bytes that the leaf's dictionary may have; 0: it gets none, by the options or since it is BOOLEAN. */
int32_t firn_parquet_dictionary_size_of(const firn_parquet_write_options *options,
                                        const firn_parquet_leaf *leaf);

/** What the options ask for the leaf; NULL: no Bloom filter. Columns of BOOLEAN have none. */
const firn_parquet_bloom_options *
firn_parquet_bloom_options_of(const firn_parquet_write_options *options,
                              const firn_parquet_leaf *leaf);

typedef struct firn_parquet_chunk_writer firn_parquet_chunk_writer;

/** `leaf` (of the output schema) and `options` are borrowed and must outlive the writer. */
firn_status firn_parquet_chunk_writer_new(const firn_parquet_leaf *leaf,
                                          const firn_parquet_write_options *options,
                                          firn_parquet_chunk_writer **out, firn_error *error);
void firn_parquet_chunk_writer_free(firn_parquet_chunk_writer *writer);

/**
 * Encodes a batch: levels are in terms of the output leaf. Dictionary batches are remapped: each entry of the input's dictionary is looked up
 * once, each value only translated. Falls back to PLAIN when the dictionary passes its limit or does not pay (design, section 14).
 * A null where the leaf is required is CORRUPT.
 */
firn_status firn_parquet_chunk_writer_append(firn_parquet_chunk_writer *writer,
                                             const firn_parquet_batch *batch, firn_error *error);

/**
 * Takes a data page as it is (header rewritten, body copied): the caller has made sure that it is PLAIN (no dictionary), of the leaf's
 * physical type, maximum levels and the writer's codec, that it begins and ends at row boundaries, and gives its counts. `minimum`/`maximum` data == NULL: unknown, then the chunk's
 * bounds come from firn_parquet_chunk_writer_merge_statistics.
 */
firn_status firn_parquet_chunk_writer_append_page(firn_parquet_chunk_writer *writer,
                                                  const firn_parquet_page *page, int64_t row_count,
                                                  int64_t null_count, firn_error *error);

/**
 * Chunk-level statistics of an input whose pages were appended raw: bounds (NULL data: unknown, so the output's are left out), exact unless the values
 * may be narrower, and NaN count (-1: unknown).
 */
firn_status firn_parquet_chunk_writer_merge_statistics(firn_parquet_chunk_writer *writer,
                                                       firn_slice minimum, firn_slice maximum,
                                                       bool exact, int64_t nan_count,
                                                       firn_error *error);

/** What a finished chunk holds, for Iceberg's metrics. Slices belong to the chunk. */
typedef struct firn_parquet_chunk_counts {
    int64_t level_count, row_count,
        null_count;    /**< null_count: levels below the maximum definition level */
    int64_t nan_count; /**< -1: unknown */
    firn_slice minimum,
        maximum; /**< PLAIN form, untruncated up to 4 KiB each (longer ones: left out); data == NULL: none or unknown. NaN excluded; zeros as -0 / +0 */
    bool bounds_inexact;                 /**< they may be no values of the chunk */
    int64_t bytes_copied, bytes_encoded; /**< compressed page bytes, by the way that they went */
} firn_parquet_chunk_counts;

/** A finished chunk: bytes and metadata with offsets relative to the chunk's start. */
typedef struct firn_parquet_chunk {
    firn_buffer dictionary; /**< the dictionary page, which comes first in the file; empty: none */
    firn_buffer bytes;      /**< the data pages */
    firn_arena *arena;      /**< owns what follows */
    firn_parquet_column_chunk metadata;
    firn_parquet_offset_index offset_index;
    bool has_column_index;
    firn_parquet_column_index column_index;
    firn_buffer bloom_filter; /**< header and bitset; empty: none */
    firn_parquet_chunk_counts counts;
} firn_parquet_chunk;

/** Flushes pages and dictionary. The writer can then only be freed. */
firn_status firn_parquet_chunk_writer_finish(firn_parquet_chunk_writer *writer,
                                             firn_parquet_chunk *out, firn_error *error);
void firn_parquet_chunk_release(firn_parquet_chunk *chunk);

/** Whether all values that come now go out PLAIN: no dictionary was wanted, it did not pay, or it is full. */
bool firn_parquet_chunk_writer_is_plain(const firn_parquet_chunk_writer *writer);

/** Makes room for about `size` more bytes of data pages. */
firn_status firn_parquet_chunk_writer_expect(firn_parquet_chunk_writer *writer, size_t size,
                                             firn_error *error);

/** Bytes held by the writer now, for the memory limit. */
size_t firn_parquet_chunk_writer_memory(const firn_parquet_chunk_writer *writer);

#endif
