/**
 * The pages of one column chunk, raw or decoded. One reader per thread. Pages are walked from the chunk's start and values
 * counted up to num_values; page indexes are not needed. CRCs are checked where present.
 */
#ifndef FIRN_PARQUET_CHUNK_READER_H
#define FIRN_PARQUET_CHUNK_READER_H

#include "parquet/batch.h"
#include "parquet/file_reader.h"

typedef struct firn_parquet_chunk_reader firn_parquet_chunk_reader;

typedef struct firn_parquet_page {
    firn_parquet_page_header header;
    firn_slice header_bytes; /**< as in the file */
    firn_slice body;         /**< compressed_size bytes as in the file */
    uint64_t file_offset;    /**< of the header */
    int64_t first_level;     /**< levels of the chunk before this page */
    size_t number;           /**< of this data page in the chunk, from 0 */
} firn_parquet_page;

firn_status firn_parquet_chunk_reader_open(const firn_parquet_file *file, size_t row_group,
                                           size_t leaf, firn_parquet_chunk_reader **out,
                                           firn_error *error);
void firn_parquet_chunk_reader_close(firn_parquet_chunk_reader *reader);
/** Starts over on another chunk, keeping the buffers. */
firn_status firn_parquet_chunk_reader_reset(firn_parquet_chunk_reader *reader,
                                            const firn_parquet_file *file, size_t row_group,
                                            size_t leaf, firn_error *error);

/**
 * The next data page, raw; a dictionary page is loaded on the way and index pages are skipped. *page is NULL at the end. Valid until the
 * next call. Empty pages (0 values) are returned like any other.
 */
firn_status firn_parquet_chunk_reader_next(firn_parquet_chunk_reader *reader,
                                           const firn_parquet_page **page, firn_error *error);

/**
 * The next page of any type, as it stands in the file: no dictionary is loaded and no CRC checked, so that broken chunks can be
 * looked at too. A reader used so decodes nothing. *page is NULL once all values were passed, or the chunk ends.
 */
firn_status firn_parquet_chunk_reader_next_raw(firn_parquet_chunk_reader *reader,
                                               const firn_parquet_page **page, firn_error *error);

/** Decodes the page that firn_parquet_chunk_reader_next gave last. Dictionary-encoded pages give indices. Values of the batch are valid until the next call. */
firn_status firn_parquet_chunk_reader_decode(firn_parquet_chunk_reader *reader,
                                             firn_parquet_batch *batch, firn_error *error);

/** The chunk's dictionary, decoded; count 0 when it has none (known after the first firn_parquet_chunk_reader_next). */
const firn_parquet_values *
firn_parquet_chunk_reader_dictionary(const firn_parquet_chunk_reader *reader);

/**
 * Loads the dictionary page, if the chunk begins with one, without a data page: firn_parquet_chunk_reader_dictionary then
 * holds it. Only right after open or reset.
 */
firn_status firn_parquet_chunk_reader_load_dictionary(firn_parquet_chunk_reader *reader,
                                                      firn_error *error);
/**
 * For a caller that knows the dictionary from another pass: it is not decompressed, and batches give indices below `count`
 * without values. CORRUPT when the page then holds another number of values. Only right after open or reset.
 */
void firn_parquet_chunk_reader_skip_dictionary(firn_parquet_chunk_reader *reader, size_t count);
/** The same for a caller that knows nothing of the dictionary: indices below whatever its header says. */
void firn_parquet_chunk_reader_leave_dictionary(firn_parquet_chunk_reader *reader);
/** The dictionary page as it is in the file, valid until the next reset; body.data NULL when there is none (or none yet). */
const firn_parquet_page *
firn_parquet_chunk_reader_dictionary_page(const firn_parquet_chunk_reader *reader);
/** The encoded values of the current page, decompressed, without levels. Valid until the next call. */
firn_status firn_parquet_chunk_reader_value_part(firn_parquet_chunk_reader *reader, firn_slice *raw,
                                                 firn_error *error);

/** Only the levels of the current page (for a missing sibling, or to count rows); the batch has value_count but no values. */
firn_status firn_parquet_chunk_reader_decode_levels(firn_parquet_chunk_reader *reader,
                                                    firn_parquet_batch *batch, firn_error *error);

#endif
