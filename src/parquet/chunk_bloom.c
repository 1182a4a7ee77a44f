/*
 * The Bloom filter of a chunk being written. Values of PLAIN pages are hashed as they come, those of dictionary pages once, at the
 * end, by their entries. What reaches the chunk another way is not in the filter; then there is none.
 */
#include "base/alloc.h"
#include "parquet/chunk_writer_internal.h"

const firn_parquet_bloom_options *
firn_parquet_bloom_options_of(const firn_parquet_write_options *options,
                              const firn_parquet_leaf *leaf) {
    if (leaf->node->element->type == FIRN_PARQUET_BOOLEAN) return NULL;
    const firn_parquet_column_options *column = firn_parquet_column_options_of(options, leaf);
    return column->bloom_filter.enabled ? &column->bloom_filter : NULL;
}

firn_status firn_parquet_bloom_take(firn_parquet_chunk_writer *writer,
                                    const firn_parquet_values *values, const uint32_t *indices,
                                    size_t first, size_t count, firn_error *error) {
    if (!writer->has_bloom_filter) return FIRN_OK;
    writer->hashed_values += (int64_t)count;
    return firn_parquet_bloom_builder_add_values(&writer->bloom_filter, values, indices, first,
                                                 count, error);
}

static firn_status take_dictionary(firn_parquet_chunk_writer *writer, firn_error *error) {
    for (uint32_t i = 0; i < writer->dictionary.count; i++) {
        firn_slice entry = firn_parquet_dictionary_entry(&writer->dictionary, i);
        FIRN_TRY(firn_parquet_bloom_builder_add(&writer->bloom_filter,
                                                firn_parquet_bloom_hash(entry), error));
    }
    return FIRN_OK;
}

firn_status firn_parquet_bloom_finish(firn_parquet_chunk_writer *writer, firn_buffer *out,
                                      firn_error *error) {
    if (!writer->has_bloom_filter) return FIRN_OK;
    if (writer->hashed_values != writer->level_count - writer->null_count) return FIRN_OK;
    if (writer->encoding_pages[FIRN_PARQUET_RLE_DICTIONARY] > 0) {
        FIRN_TRY(take_dictionary(writer, error));
    }
    return firn_parquet_bloom_builder_finish(&writer->bloom_filter, out, error);
}
