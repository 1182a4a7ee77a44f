/*
 * Which encoding the inputs have for values that no dictionary holds. What has to be encoded anew keeps it: whoever reads the inputs reads
 * the output, and no one else need be able to.
 */
#include "parquet/encode.h"
#include "parquet/rewrite_internal.h"

/* Encodings that the writer has an encoder for are all below; bytes of PLAIN stand at 0. */
#define ENCODINGS (FIRN_PARQUET_BYTE_STREAM_SPLIT + 1)

typedef struct bytes_by_encoding {
    double bytes[ENCODINGS];
} bytes_by_encoding;

static void add_bytes(bytes_by_encoding *sum, firn_parquet_encoding encoding,
                      firn_parquet_physical_type type, double bytes) {
    if (firn_parquet_is_dictionary_encoding(encoding)) return;
    bool kept = firn_parquet_encoder_of(encoding, type) != NULL;
    sum->bytes[kept ? encoding : FIRN_PARQUET_PLAIN] += bytes;
}

/* Without statistics of pages a chunk only lists its encodings, and those of levels and of the dictionary's own page are among them. */
static void add_listed(bytes_by_encoding *sum, const firn_parquet_column_chunk *chunk,
                       firn_parquet_physical_type type) {
    bool dictionary = false;
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        firn_parquet_encoding encoding = chunk->encodings[i];
        dictionary |= firn_parquet_is_dictionary_encoding(encoding);
        if (firn_parquet_encoder_of(encoding, type) == NULL) continue;
        add_bytes(sum, encoding, type, (double)chunk->total_compressed_size);
        return;
    }
    if (!dictionary) add_bytes(sum, FIRN_PARQUET_PLAIN, type, (double)chunk->total_compressed_size);
}

static void add_chunk(bytes_by_encoding *sum, const firn_parquet_column_chunk *chunk,
                      firn_parquet_physical_type type) {
    int64_t pages = 0;
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        if (firn_parquet_counts_data_pages(&chunk->encoding_stats[i])) {
            pages += chunk->encoding_stats[i].count;
        }
    }
    if (pages == 0) {
        add_listed(sum, chunk, type);
        return;
    }
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
        if (!firn_parquet_counts_data_pages(stats)) continue;
        double share = (double)stats->count / (double)pages;
        add_bytes(sum, stats->encoding, type, share * (double)chunk->total_compressed_size);
    }
}

firn_parquet_encoding firn_parquet_encoding_of_inputs(const firn_parquet_rewriter *rewriter,
                                                      const firn_parquet_piece *pieces,
                                                      size_t piece_count) {
    bytes_by_encoding sum = {0};
    firn_parquet_physical_type type = rewriter->output->node->element->type;
    for (size_t i = 0; i < piece_count; i++) {
        const firn_parquet_leaf_mapping *mapping = &pieces[i].mappings[rewriter->leaf_index];
        if (mapping->input_leaf < 0 || mapping->levels_only) continue;
        const firn_parquet_row_group *group =
            &pieces[i].file->metadata->row_groups[pieces[i].row_group];
        add_chunk(&sum, &group->columns[mapping->input_leaf], type);
    }
    int most = FIRN_PARQUET_PLAIN;
    for (int i = 0; i < ENCODINGS; i++) {
        if (sum.bytes[i] > sum.bytes[most]) most = i;
    }
    return (firn_parquet_encoding)most;
}
