/** What the files that make up the chunk reader share. */
#ifndef FIRN_PARQUET_CHUNK_READER_INTERNAL_H
#define FIRN_PARQUET_CHUNK_READER_INTERNAL_H

#include "codec/codec.h"
#include "parquet/chunk_reader.h"
#include "parquet/decode.h"
#include "parquet/page_window.h"

/** Levels in one page; above: LIMIT. As many rows as a row group of any known writer has, and runs make them cheap to claim. */
#define FIRN_PARQUET_MAXIMUM_PAGE_LEVELS (1 << 26)

/** How far the current page has been taken apart. */
typedef enum firn_parquet_page_state {
    FIRN_PARQUET_PAGE_NONE,
    FIRN_PARQUET_PAGE_RAW,
    FIRN_PARQUET_PAGE_SPLIT, /* decompressed; its three parts are known */
    FIRN_PARQUET_PAGE_LEVELS /* levels are decoded */
} firn_parquet_page_state;

struct firn_parquet_chunk_reader {
    const firn_parquet_file *file;
    const firn_parquet_leaf *leaf;
    const firn_parquet_column_chunk *chunk;
    size_t row_group;
    bool codec_known;
    firn_codec codec;

    firn_parquet_window window;
    uint64_t position; /* in the file: the next page's header */
    int64_t levels;    /* in the pages up to `position` */
    bool any_page;
    size_t data_pages; /* so far */

    firn_parquet_page page;
    firn_parquet_page_state state;
    firn_parquet_scratch body; /* the page, decompressed */
    firn_slice repetition_part, definition_part, value_part;
    firn_parquet_scratch repetition_levels, definition_levels, indices;
    size_t value_count; /* levels at the maximum definition level */
    firn_parquet_value_store store;

    bool has_dictionary;
    uint64_t dictionary_id;
    firn_parquet_values dictionary;
    firn_parquet_scratch dictionary_body;
    firn_parquet_page dictionary_page;         /* as in the file */
    firn_parquet_scratch dictionary_as_stored; /* its body, where the window's bytes move */
    bool
        dictionary_is_known; /* by the caller: its entries are not decoded, only their number counts */
    size_t known_count;
    firn_parquet_value_store dictionary_store;
};

/** "file: row group 0: column a.b: page at byte N: " before the error's message; its byte offset becomes the page's. */
firn_status firn_parquet_page_wrap(const firn_parquet_chunk_reader *reader, firn_status status,
                                   firn_error *error);

/** The body of a dictionary page, decompressed and decoded (page_body.c). The body is `borrowed` when it outlives the reader. */
firn_status firn_parquet_load_dictionary(firn_parquet_chunk_reader *reader, bool borrowed,
                                         firn_error *error);
/** Decompresses the current page and finds its parts (page_body.c). */
firn_status firn_parquet_split_page(firn_parquet_chunk_reader *reader, firn_error *error);

#endif
