/* A finished chunk's metadata: dictionary page, statistics, page index. Everything it names lies in the chunk's arena. */
#include "base/alloc.h"
#include "parquet/chunk_writer_internal.h"

/* Longest bound that is handed on for Iceberg's metrics. */
#define LONGEST_COUNTED_BOUND 4096

static bool has_dictionary_page(const firn_parquet_chunk_writer *writer) {
    return writer->encoding_pages[FIRN_PARQUET_RLE_DICTIONARY] > 0;
}

static firn_status write_dictionary_page(firn_parquet_chunk_writer *writer, firn_buffer *out,
                                         firn_error *error) {
    firn_slice raw = firn_buffer_slice(&writer->dictionary.bytes);
    firn_slice body = raw;
    if (writer->codec != FIRN_CODEC_UNCOMPRESSED) {
        firn_buffer_clear(&writer->compressed);
        FIRN_TRY(firn_codec_compress(writer->codec, writer->options->compression_level, raw,
                                     &writer->compressed, error));
        body = firn_buffer_slice(&writer->compressed);
    }
    firn_parquet_page_header header = {
        .type = FIRN_PARQUET_DICTIONARY_PAGE,
        .uncompressed_size = (int32_t)raw.size,
        .compressed_size = (int32_t)body.size,
        .has_crc = writer->options->write_crc,
        .num_values = (int32_t)writer->dictionary.count,
        .encoding = FIRN_PARQUET_PLAIN,
    };
    if (header.has_crc) header.crc = firn_crc32(0, body);
    FIRN_TRY(firn_parquet_write_page_header(&header, out, error));
    writer->uncompressed_size += (int64_t)(out->size + raw.size);
    FIRN_TRY(firn_buffer_append(out, body.data, body.size, error));
    writer->bytes_encoded += (int64_t)out->size;
    return FIRN_OK;
}

static firn_status alloc(firn_parquet_chunk_writer *writer, size_t count, size_t size, void **out,
                         firn_error *error) {
    *out = firn_arena_alloc(writer->arena, count, size);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status set_path(firn_parquet_chunk_writer *writer, firn_parquet_column_chunk *metadata,
                            firn_error *error) {
    const firn_parquet_leaf *leaf = writer->leaf;
    void *path;
    FIRN_TRY(alloc(writer, leaf->path_length, sizeof(char *), &path, error));
    metadata->path_in_schema = path;
    metadata->path_length = leaf->path_length;
    for (size_t i = 0; i < leaf->path_length; i++) {
        char *name = firn_arena_strdup(writer->arena, leaf->path[i]->element->name);
        if (name == NULL) return firn_fail_memory(error);
        metadata->path_in_schema[i] = name;
    }
    return FIRN_OK;
}

/* `encodings` and `encoding_stats` name exactly what the pages hold, since readers prune by them. */
static firn_status set_encodings(firn_parquet_chunk_writer *writer,
                                 firn_parquet_column_chunk *metadata, firn_error *error) {
    void *memory;
    FIRN_TRY(
        alloc(writer, FIRN_PARQUET_ENCODING_LIMIT, sizeof(firn_parquet_encoding), &memory, error));
    firn_parquet_encoding *encodings = memory;
    FIRN_TRY(alloc(writer, FIRN_PARQUET_ENCODING_LIMIT + 1,
                   sizeof(firn_parquet_page_encoding_stats), &memory, error));
    firn_parquet_page_encoding_stats *stats = memory;
    bool used[FIRN_PARQUET_ENCODING_LIMIT] = {false};
    used[FIRN_PARQUET_RLE] =
        writer->pages.count > 0 &&
        (writer->leaf->maximum_definition_level > 0 || writer->leaf->maximum_repetition_level > 0);
    if (has_dictionary_page(writer)) {
        used[FIRN_PARQUET_PLAIN] = true;
        stats[metadata->encoding_stats_count++] =
            (firn_parquet_page_encoding_stats){FIRN_PARQUET_DICTIONARY_PAGE, FIRN_PARQUET_PLAIN, 1};
    }
    firn_parquet_page_type type =
        writer->options->page_version == 2 ? FIRN_PARQUET_DATA_PAGE_V2 : FIRN_PARQUET_DATA_PAGE;
    for (int i = 0; i < FIRN_PARQUET_ENCODING_LIMIT; i++) {
        firn_parquet_encoding encoding = (firn_parquet_encoding)i;
        if (writer->encoding_pages[i] > 0) {
            used[i] = true;
            stats[metadata->encoding_stats_count++] =
                (firn_parquet_page_encoding_stats){type, encoding, writer->encoding_pages[i]};
        }
        if (used[i]) encodings[metadata->encoding_count++] = encoding;
    }
    metadata->encodings = encodings;
    metadata->encoding_stats = stats;
    return FIRN_OK;
}

/* The sums of the pages' histograms. */
static firn_status sum_histograms(firn_parquet_chunk_writer *writer, const int64_t *pages,
                                  size_t size, const int64_t **out, size_t *out_count,
                                  firn_error *error) {
    void *memory;
    FIRN_TRY(alloc(writer, size, sizeof(int64_t), &memory, error));
    int64_t *sums = memory;
    for (size_t i = 0; i < writer->pages.count * size; i++) sums[i % size] += pages[i];
    *out = sums;
    *out_count = size;
    return FIRN_OK;
}

static firn_status set_size_statistics(firn_parquet_chunk_writer *writer,
                                       firn_parquet_column_chunk *metadata, firn_error *error) {
    const firn_parquet_leaf *leaf = writer->leaf;
    if (!writer->keeps_statistics) return FIRN_OK;
    metadata->has_unencoded_byte_array_bytes =
        writer->element->type == FIRN_PARQUET_BYTE_ARRAY && writer->unencoded_known;
    metadata->unencoded_byte_array_bytes = writer->unencoded_bytes;
    if (!firn_parquet_keeps_histograms(leaf) || !writer->histograms_known) return FIRN_OK;
    FIRN_TRY(sum_histograms(
        writer, writer->page_definition_histograms.items, leaf->maximum_definition_level + 1U,
        &metadata->definition_level_histogram, &metadata->definition_level_histogram_count, error));
    if (leaf->maximum_repetition_level == 0) return FIRN_OK;
    return sum_histograms(
        writer, writer->page_repetition_histograms.items, leaf->maximum_repetition_level + 1U,
        &metadata->repetition_level_histogram, &metadata->repetition_level_histogram_count, error);
}

static firn_status copy_slice(firn_parquet_chunk_writer *writer, firn_slice slice, firn_slice *out,
                              firn_error *error) {
    if (slice.data == NULL) return FIRN_OK;
    void *copy = firn_arena_memdup(writer->arena, slice.data, slice.size);
    if (copy == NULL) return firn_fail_memory(error);
    *out = firn_slice_of(copy, slice.size);
    return FIRN_OK;
}

static bool nan_count_is_known(const firn_parquet_chunk_writer *writer) {
    return writer->keeps_statistics && !writer->nan_count_unknown && writer->uncovered_values == 0;
}

/* Statistics for the footer, shortened, and for the caller, whole up to a limit. */
static firn_status set_statistics(firn_parquet_chunk_writer *writer, firn_parquet_chunk *out,
                                  firn_error *error) {
    firn_parquet_statistics *statistics = &out->metadata.statistics;
    if (!writer->keeps_statistics) return FIRN_OK;
    statistics->has_null_count = true;
    statistics->null_count = writer->null_count;
    if (firn_parquet_order_has_nan(writer->order) && nan_count_is_known(writer)) {
        statistics->has_nan_count = true;
        statistics->nan_count = writer->bounds.nan_count;
    }
    if (writer->bounds_unknown || writer->uncovered_values != 0) return FIRN_OK;
    firn_parquet_bound_room minimum_room, maximum_room;
    firn_slice minimum = firn_parquet_bounds_minimum(&writer->bounds, &minimum_room);
    firn_slice maximum = firn_parquet_bounds_maximum(&writer->bounds, &maximum_room);
    if (minimum.data == NULL) return FIRN_OK;
    if (minimum.size <= LONGEST_COUNTED_BOUND) {
        FIRN_TRY(copy_slice(writer, minimum, &out->counts.minimum, error));
    }
    if (maximum.size <= LONGEST_COUNTED_BOUND) {
        FIRN_TRY(copy_slice(writer, maximum, &out->counts.maximum, error));
    }
    uint8_t room[FIRN_PARQUET_BOUND_LENGTH];
    statistics->has_min_exact = true;
    minimum = firn_parquet_shorten_minimum(writer->element, minimum, &statistics->min_exact);
    maximum = firn_parquet_shorten_maximum(writer->element, maximum, room, &statistics->max_exact);
    statistics->has_max_exact = maximum.data != NULL;
    out->counts.bounds_inexact =
        writer->bounds_inexact ||
        (writer->bounds_merged && writer->element->type == FIRN_PARQUET_BYTE_ARRAY);
    if (writer->bounds_inexact) {
        statistics->min_exact = statistics->max_exact = false;
    } else if (writer->bounds_merged && writer->element->type == FIRN_PARQUET_BYTE_ARRAY) {
        /* Another writer may have shortened byte arrays without saying so. */
        statistics->has_min_exact = statistics->has_max_exact = false;
    }
    FIRN_TRY(copy_slice(writer, minimum, &statistics->min_value, error));
    return copy_slice(writer, maximum, &statistics->max_value, error);
}

static firn_status set_offset_index(firn_parquet_chunk_writer *writer, firn_parquet_chunk *out,
                                    firn_error *error) {
    if (!writer->options->write_page_index || writer->pages.count == 0) return FIRN_OK;
    size_t count = writer->pages.count;
    bool sizes = writer->keeps_statistics && writer->element->type == FIRN_PARQUET_BYTE_ARRAY &&
                 writer->unencoded_known;
    void *memory;
    FIRN_TRY(alloc(writer, count, sizeof(firn_parquet_page_location), &memory, error));
    firn_parquet_page_location *pages = memory;
    FIRN_TRY(alloc(writer, sizes ? count : 0, sizeof(int64_t), &memory, error));
    int64_t *unencoded = memory;
    for (size_t i = 0; i < count; i++) {
        const firn_parquet_page_record *record = &writer->pages.items[i];
        pages[i] = (firn_parquet_page_location){
            .offset = (int64_t)(out->dictionary.size + record->offset),
            .compressed_page_size = record->size,
            .first_row_index = record->first_row,
        };
        if (sizes) unencoded[i] = record->unencoded_bytes;
    }
    out->offset_index =
        (firn_parquet_offset_index){.pages = pages,
                                    .page_count = count,
                                    .unencoded_byte_array_bytes = sizes ? unencoded : NULL};
    return FIRN_OK;
}

/* Over the pages that have values; a column without any is in order. */
static firn_parquet_boundary_order boundary_order_of(const firn_parquet_chunk_writer *writer) {
    bool ascending = true, descending = true;
    const firn_parquet_page_record *before = NULL;
    for (size_t i = 0; i < writer->pages.count; i++) {
        const firn_parquet_page_record *record = &writer->pages.items[i];
        if (record->all_null) continue;
        if (before != NULL) {
            int minimum = firn_parquet_compare(writer->order, before->minimum, record->minimum);
            int maximum = firn_parquet_compare(writer->order, before->maximum, record->maximum);
            ascending = ascending && minimum <= 0 && maximum <= 0;
            descending = descending && minimum >= 0 && maximum >= 0;
        }
        before = record;
    }
    if (ascending) return FIRN_PARQUET_ASCENDING;
    return descending ? FIRN_PARQUET_DESCENDING : FIRN_PARQUET_UNORDERED;
}

/* An entry that can't be given (copied, only NaN, undefined order) forbids the whole index (parquet.thrift, ColumnIndex). */
static bool may_have_column_index(const firn_parquet_chunk_writer *writer) {
    if (!writer->options->write_page_index || writer->pages.count == 0) return false;
    if (writer->order == FIRN_PARQUET_ORDER_NONE) return false;
    for (size_t i = 0; i < writer->pages.count; i++) {
        const firn_parquet_page_record *record = &writer->pages.items[i];
        if (!record->all_null && !record->has_bounds) return false;
    }
    return true;
}

static firn_status set_page_histograms(firn_parquet_chunk_writer *writer,
                                       firn_parquet_column_index *index, firn_error *error) {
    const firn_parquet_leaf *leaf = writer->leaf;
    if (!firn_parquet_keeps_histograms(leaf) || !writer->histograms_known) return FIRN_OK;
    size_t count = writer->page_definition_histograms.count;
    index->definition_level_histograms = firn_arena_memdup(
        writer->arena, writer->page_definition_histograms.items, count * sizeof(int64_t));
    index->definition_level_histograms_count = count;
    if (index->definition_level_histograms == NULL) return firn_fail_memory(error);
    if (leaf->maximum_repetition_level == 0) return FIRN_OK;
    count = writer->page_repetition_histograms.count;
    index->repetition_level_histograms = firn_arena_memdup(
        writer->arena, writer->page_repetition_histograms.items, count * sizeof(int64_t));
    index->repetition_level_histograms_count = count;
    return index->repetition_level_histograms == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status set_column_index(firn_parquet_chunk_writer *writer, firn_parquet_chunk *out,
                                    firn_error *error) {
    if (!may_have_column_index(writer)) return FIRN_OK;
    size_t count = writer->pages.count;
    void *null_pages, *minima, *maxima, *null_counts, *nan_counts;
    FIRN_TRY(alloc(writer, count, sizeof(bool), &null_pages, error));
    FIRN_TRY(alloc(writer, count, sizeof(firn_slice), &minima, error));
    FIRN_TRY(alloc(writer, count, sizeof(firn_slice), &maxima, error));
    FIRN_TRY(alloc(writer, count, sizeof(int64_t), &null_counts, error));
    FIRN_TRY(alloc(writer, count, sizeof(int64_t), &nan_counts, error));
    bool counts_nan = firn_parquet_order_has_nan(writer->order);
    for (size_t i = 0; i < count; i++) {
        const firn_parquet_page_record *record = &writer->pages.items[i];
        ((bool *)null_pages)[i] = record->all_null;
        ((firn_slice *)minima)[i] = record->minimum;
        ((firn_slice *)maxima)[i] = record->maximum;
        ((int64_t *)null_counts)[i] = record->null_count;
        ((int64_t *)nan_counts)[i] = record->nan_count;
        counts_nan = counts_nan && !record->nan_unknown;
    }
    out->column_index = (firn_parquet_column_index){
        .null_pages = null_pages,
        .min_values = minima,
        .max_values = maxima,
        .page_count = count,
        .boundary_order = boundary_order_of(writer),
        .null_counts = null_counts,
        .nan_counts = counts_nan ? nan_counts : NULL,
    };
    out->has_column_index = true;
    return set_page_histograms(writer, &out->column_index, error);
}

static firn_status fill_metadata(firn_parquet_chunk_writer *writer, firn_parquet_chunk *out,
                                 firn_error *error) {
    firn_parquet_column_chunk *metadata = &out->metadata;
    metadata->has_metadata = true;
    metadata->type = writer->element->type;
    metadata->compression = writer->options->compression;
    metadata->num_values = writer->level_count;
    metadata->total_uncompressed_size = writer->uncompressed_size;
    metadata->total_compressed_size = (int64_t)(out->dictionary.size + writer->bytes.size);
    metadata->data_page_offset = (int64_t)out->dictionary.size;
    metadata->has_dictionary_page_offset = out->dictionary.size > 0;
    FIRN_TRY(set_path(writer, metadata, error));
    FIRN_TRY(set_encodings(writer, metadata, error));
    FIRN_TRY(set_size_statistics(writer, metadata, error));
    out->counts = (firn_parquet_chunk_counts){
        .level_count = writer->level_count,
        .row_count = writer->row_count,
        .null_count = writer->null_count,
        .nan_count = nan_count_is_known(writer) ? writer->bounds.nan_count : -1,
        .bytes_copied = writer->bytes_copied,
        .bytes_encoded = writer->bytes_encoded,
    };
    FIRN_TRY(set_statistics(writer, out, error));
    FIRN_TRY(set_offset_index(writer, out, error));
    return set_column_index(writer, out, error);
}

static firn_status finish(firn_parquet_chunk_writer *writer, firn_parquet_chunk *out,
                          firn_error *error) {
    FIRN_TRY(firn_parquet_end_open_page(writer, error));
    if (has_dictionary_page(writer)) {
        FIRN_TRY(write_dictionary_page(writer, &out->dictionary, error));
    }
    FIRN_TRY(firn_parquet_bloom_finish(writer, &out->bloom_filter, error));
    return fill_metadata(writer, out, error);
}

firn_status firn_parquet_chunk_writer_finish(firn_parquet_chunk_writer *writer,
                                             firn_parquet_chunk *out, firn_error *error) {
    firn_parquet_chunk chunk = {.dictionary = firn_buffer_with_maximum(INT32_MAX),
                                .bloom_filter = firn_buffer_with_maximum(INT32_MAX)};
    firn_status status = finish(writer, &chunk, error);
    if (status != FIRN_OK) {
        firn_buffer_release(&chunk.dictionary);
        firn_buffer_release(&chunk.bloom_filter);
        return firn_error_wrap(error, status, "column %s", writer->leaf->dotted_path);
    }
    chunk.bytes = writer->bytes;
    writer->bytes = firn_buffer_with_maximum(0);
    chunk.arena = writer->arena;
    writer->arena = NULL;
    *out = chunk;
    return FIRN_OK;
}

void firn_parquet_chunk_release(firn_parquet_chunk *chunk) {
    firn_buffer_release(&chunk->dictionary);
    firn_buffer_release(&chunk->bytes);
    firn_buffer_release(&chunk->bloom_filter);
    firn_arena_free(chunk->arena);
    *chunk = (firn_parquet_chunk){0};
}
