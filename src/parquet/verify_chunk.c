/* One column chunk: first its pages as they stand (sizes, CRCs, encodings), then what they hold. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/plural.h"
#include "codec/codec.h"
#include "parquet/value_text.h"
#include "parquet/verify_internal.h"

firn_status firn_parquet_find(firn_parquet_check *check, const char *kind, bool of_page,
                              firn_error *error, const char *format, ...) {
    if (check->findings.count >= FIRN_PARQUET_FINDINGS_PER_CHUNK) {
        check->findings_left_out++;
        return FIRN_OK;
    }
    char text[FIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    firn_parquet_finding finding = {
        .kind = kind,
        .row_group = (int64_t)check->row_group,
        .column = check->leaf->index,
        .page = of_page ? check->page_number : -1,
        .byte_offset = of_page ? check->page_offset : -1,
        .column_name = firn_arena_strdup(check->arena, check->leaf->dotted_path),
        .message = firn_arena_strdup(check->arena, text),
    };
    if (finding.column_name == NULL || finding.message == NULL) return firn_fail_memory(error);
    return firn_vector_push(&check->findings, error, finding);
}

const char *firn_parquet_check_text(firn_parquet_check *check, firn_slice value) {
    firn_buffer text = firn_buffer_with_maximum(4096);
    const char *copy = NULL;
    if (firn_parquet_value_text(check->leaf->node->element, value, &text, NULL) == FIRN_OK) {
        copy = firn_arena_strndup(check->arena, (const char *)text.data, text.size);
    }
    firn_buffer_release(&text);
    return copy == NULL ? "?" : copy;
}

/* A reader's message without the file, row group and column at its start, which a finding has by itself. */
static const char *without_place(const firn_parquet_check *check, const char *message) {
    char place[FIRN_ERROR_MESSAGE_SIZE];
    int length =
        snprintf(place, sizeof place, "%s: row group %zu: column %s: ", check->file->source.name,
                 check->row_group, check->leaf->dotted_path);
    bool starts =
        length > 0 && (size_t)length < sizeof place && strncmp(message, place, (size_t)length) == 0;
    return starts ? message + length : message;
}

/* What is wrong with the file becomes a finding and ends the chunk; other failures stay errors. */
static firn_status find_failure(firn_parquet_check *check, firn_status status,
                                const firn_error *problem, bool *ended, firn_error *error) {
    *ended = status != FIRN_OK;
    if (status == FIRN_OK) return FIRN_OK;
    if (status != FIRN_CORRUPT && status != FIRN_UNSUPPORTED && status != FIRN_LIMIT) {
        if (error != NULL) *error = *problem;
        return status;
    }
    return firn_parquet_find(check, status == FIRN_UNSUPPORTED ? "unsupported" : "page", true,
                             error, "%s", without_place(check, problem->message));
}

/* What the pages' headers told. */
typedef struct page_sums {
    int64_t levels, compressed, uncompressed;
    int64_t by_encoding[FIRN_PARQUET_ALP + 1]; /* data pages */
    int64_t dictionary_pages;
    bool broken;
} page_sums;

static firn_status take_header(firn_parquet_check *check, const firn_parquet_page *page,
                               page_sums *sums, firn_error *error) {
    const firn_parquet_page_header *header = &page->header;
    bool v1 = header->type == FIRN_PARQUET_DATA_PAGE;
    bool v2 = header->type == FIRN_PARQUET_DATA_PAGE_V2;
    sums->compressed += (int64_t)(page->header_bytes.size + page->body.size);
    sums->uncompressed += (int64_t)page->header_bytes.size + header->uncompressed_size;
    if (header->type == FIRN_PARQUET_DICTIONARY_PAGE) sums->dictionary_pages++;
    check->page_number = v1 || v2 ? check->data_pages : -1;
    check->page_offset = (int64_t)page->file_offset;
    if (v1 || v2) {
        check->data_pages++;
        sums->levels += header->num_values;
        if ((unsigned)header->encoding <= FIRN_PARQUET_ALP) {
            sums->by_encoding[header->encoding]++;
        }
    }
    if (!header->has_crc) return FIRN_OK;
    check->crcs++;
    uint32_t found = firn_crc32(0, page->body);
    if (found == header->crc) return FIRN_OK;
    sums->broken = true;
    return firn_parquet_find(check, "crc", true, error, "the page's CRC is %08lx but it says %08lx",
                             (unsigned long)found, (unsigned long)header->crc);
}

static firn_status walk_headers(firn_parquet_check *check, firn_parquet_chunk_reader *reader,
                                page_sums *sums, firn_error *error) {
    for (;;) {
        const firn_parquet_page *page = NULL;
        firn_error problem = {0};
        bool ended = false;
        FIRN_TRY(firn_cancel_check(error));
        firn_status status = firn_parquet_chunk_reader_next_raw(reader, &page, &problem);
        if (status != FIRN_OK) {
            check->page_number = check->data_pages;
            check->page_offset = problem.byte_offset;
            sums->broken = true;
        }
        FIRN_TRY(find_failure(check, status, &problem, &ended, error));
        if (ended || page == NULL) return FIRN_OK;
        FIRN_TRY(take_header(check, page, sums, error));
    }
}

static firn_status check_number(firn_parquet_check *check, const char *kind, const char *what,
                                int64_t found, int64_t told, firn_error *error) {
    if (found == told) return FIRN_OK;
    return firn_parquet_find(check, kind, false, error,
                             "%s is %lld in the footer but %lld by the pages", what,
                             (long long)told, (long long)found);
}

/* `encodings` and `encoding_stats`: readers skip chunks by them. Of pages of version 2, some writers say there that they are of version 1. */
static firn_status check_encodings(firn_parquet_check *check, const page_sums *sums,
                                   firn_error *error) {
    const firn_parquet_column_chunk *chunk = check->chunk;
    for (int encoding = 0; encoding <= FIRN_PARQUET_ALP; encoding++) {
        bool listed = false;
        int64_t told = 0;
        for (size_t i = 0; i < chunk->encoding_count; i++) {
            listed = listed || (int)chunk->encodings[i] == encoding;
        }
        for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
            const firn_parquet_page_encoding_stats *stats = &chunk->encoding_stats[i];
            bool data = stats->page_type == FIRN_PARQUET_DATA_PAGE ||
                        stats->page_type == FIRN_PARQUET_DATA_PAGE_V2;
            if (data && (int)stats->encoding == encoding) told += stats->count;
        }
        const char *name = firn_parquet_encoding_name((firn_parquet_encoding)encoding);
        int64_t found = sums->by_encoding[encoding];
        if (found > 0 && !listed) {
            FIRN_TRY(firn_parquet_find(check, "encodings", false, error,
                                       "%lld page%s encoded as %s, which the footer does not list",
                                       (long long)found, found == 1 ? " is" : "s are", name));
        }
        if (chunk->encoding_stats_count == 0 || told == found) continue;
        FIRN_TRY(firn_parquet_find(check, "encodings", false, error,
                                   "%lld page%s encoded as %s but encoding_stats says %lld",
                                   (long long)found, found == 1 ? " is" : "s are", name,
                                   (long long)told));
    }
    return FIRN_OK;
}

static firn_status check_sums(firn_parquet_check *check, const page_sums *sums, firn_error *error) {
    const firn_parquet_column_chunk *chunk = check->chunk;
    FIRN_TRY(check_number(check, "footer", "num_values", sums->levels, chunk->num_values, error));
    FIRN_TRY(check_number(check, "footer", "total_compressed_size", sums->compressed,
                          chunk->total_compressed_size, error));
    FIRN_TRY(check_number(check, "footer", "total_uncompressed_size", sums->uncompressed,
                          chunk->total_uncompressed_size, error));
    return check_encodings(check, sums, error);
}

static firn_slice value_at(const firn_parquet_batch *batch, size_t i) {
    size_t at = batch->indices != NULL ? batch->indices[i] : i;
    if (batch->values.type == FIRN_PARQUET_BYTE_ARRAY) return batch->values.slices[at];
    return firn_slice_of(batch->values.fixed + at * batch->values.width, batch->values.width);
}

static firn_status add_values(firn_parquet_check *check, const firn_parquet_batch *batch,
                              firn_error *error) {
    firn_parquet_tally *page = &check->page;
    bool is_byte_array = batch->values.type == FIRN_PARQUET_BYTE_ARRAY;
    if (is_byte_array && batch->value_count > 0) {
        FIRN_TRY(firn_parquet_bounds_add_slices(&page->bounds, batch->values.slices, batch->indices,
                                                batch->value_count, error));
    } else if (batch->indices == NULL && batch->value_count > 0) {
        FIRN_TRY(firn_parquet_bounds_add_fixed(&page->bounds, batch->values.fixed,
                                               batch->values.width, batch->value_count, error));
    }
    for (size_t i = 0; i < batch->value_count; i++) {
        firn_slice value = value_at(batch, i);
        page->unencoded_bytes += is_byte_array ? (int64_t)value.size : 0;
        if (batch->indices != NULL && !is_byte_array) {
            FIRN_TRY(firn_parquet_bounds_add_value(&page->bounds, value, error));
        }
        if (!check->indexes.has_bloom_filter ||
            firn_parquet_bloom_filter_check(&check->indexes.bloom_filter,
                                            firn_parquet_bloom_hash(value))) {
            continue;
        }
        if (check->missed_values++ == 0) {
            check->missed_value = firn_parquet_check_text(check, value);
        }
    }
    return FIRN_OK;
}

static void clear_tally(firn_parquet_tally *tally) {
    firn_parquet_bounds bounds = tally->bounds;
    *tally = (firn_parquet_tally){.bounds = bounds};
    firn_parquet_bounds_clear(&tally->bounds);
}

static firn_status take_batch(firn_parquet_check *check, const firn_parquet_batch *batch,
                              firn_error *error) {
    firn_parquet_tally *page = &check->page;
    clear_tally(page);
    page->levels = (int64_t)batch->level_count;
    page->values = (int64_t)batch->value_count;
    page->rows = page->levels;
    for (size_t i = 0; i < batch->level_count; i++) {
        page->definition_levels[batch->definition_levels == NULL ? 0
                                                                 : batch->definition_levels[i]]++;
        page->repetition_levels[batch->repetition_levels == NULL ? 0
                                                                 : batch->repetition_levels[i]]++;
    }
    if (batch->repetition_levels != NULL) page->rows = page->repetition_levels[0];
    return add_values(check, batch, error);
}

static firn_status add_to_whole(firn_parquet_check *check, firn_error *error) {
    firn_parquet_tally *whole = &check->whole;
    const firn_parquet_tally *page = &check->page;
    whole->levels += page->levels;
    whole->values += page->values;
    whole->rows += page->rows;
    whole->unencoded_bytes += page->unencoded_bytes;
    for (int i = 0; i < 256; i++) {
        whole->definition_levels[i] += page->definition_levels[i];
        whole->repetition_levels[i] += page->repetition_levels[i];
    }
    return firn_parquet_bounds_merge(&whole->bounds, &page->bounds, error);
}

static firn_status check_v2_header(firn_parquet_check *check, const firn_parquet_page *page,
                                   bool begins_row, firn_error *error) {
    const firn_parquet_page_header *header = &page->header;
    int64_t nulls = check->page.levels - check->page.values;
    if (header->type != FIRN_PARQUET_DATA_PAGE_V2) return FIRN_OK;
    if (!firn_parquet_null_count_fits(check, &check->page, header->num_nulls)) {
        FIRN_TRY(firn_parquet_find(check, "page", true, error,
                                   "the nulls are %lld but the header says %d", (long long)nulls,
                                   (int)header->num_nulls));
    }
    if (!begins_row && check->page.levels > 0) {
        FIRN_TRY(firn_parquet_find(check, "page", true, error,
                                   "the page begins within a row, which a v2 page must not"));
    }
    if (header->num_rows == check->page.rows) return FIRN_OK;
    return firn_parquet_find(check, "page", true, error, "the rows are %lld but the header says %d",
                             (long long)check->page.rows, (int)header->num_rows);
}

static firn_status check_page(firn_parquet_check *check, const firn_parquet_page *page,
                              const firn_parquet_batch *batch, firn_error *error) {
    bool begins_row = batch->repetition_levels == NULL || batch->level_count == 0 ||
                      batch->repetition_levels[0] == 0;
    FIRN_TRY(take_batch(check, batch, error));
    FIRN_TRY(check_v2_header(check, page, begins_row, error));
    FIRN_TRY(
        firn_parquet_check_statistics(check, &page->header.statistics, &check->page, true, error));
    FIRN_TRY(firn_parquet_check_page_indexes(check, page, begins_row, error));
    return add_to_whole(check, error);
}

static firn_status decode_pages(firn_parquet_check *check, firn_parquet_chunk_reader *reader,
                                bool *ended, firn_error *error) {
    check->page_number = -1;
    for (;;) {
        const firn_parquet_page *page = NULL;
        firn_parquet_batch batch;
        firn_error problem = {0};
        FIRN_TRY(firn_cancel_check(error));
        check->page_number++;
        firn_status status = firn_parquet_chunk_reader_next(reader, &page, &problem);
        check->page_offset = page != NULL ? (int64_t)page->file_offset : problem.byte_offset;
        if (status == FIRN_OK && page == NULL) return FIRN_OK;
        if (status == FIRN_OK) status = firn_parquet_chunk_reader_decode(reader, &batch, &problem);
        FIRN_TRY(find_failure(check, status, &problem, ended, error));
        if (*ended) return FIRN_OK;
        FIRN_TRY(check_page(check, page, &batch, error));
    }
}

static firn_status check_histogram(firn_parquet_check *check, const int64_t *told,
                                   size_t told_count, const int64_t *found, size_t levels,
                                   const char *what, firn_error *error) {
    if (told == NULL || told_count == 0) return FIRN_OK;
    if (told_count != levels) {
        return firn_parquet_find(check, "size_statistics", false, error,
                                 "the histogram of %s levels has %zu entries for %zu levels", what,
                                 told_count, levels);
    }
    for (size_t i = 0; i < levels; i++) {
        if (told[i] == found[i]) continue;
        return firn_parquet_find(check, "size_statistics", false, error,
                                 "%s level %zu occurs %lld times but the footer says %lld", what, i,
                                 (long long)found[i], (long long)told[i]);
    }
    return FIRN_OK;
}

static firn_status check_size_statistics(firn_parquet_check *check, firn_error *error) {
    const firn_parquet_column_chunk *chunk = check->chunk;
    if (chunk->has_unencoded_byte_array_bytes &&
        check->leaf->node->element->type == FIRN_PARQUET_BYTE_ARRAY) {
        FIRN_TRY(check_number(check, "size_statistics", "unencoded_byte_array_data_bytes",
                              check->whole.unencoded_bytes, chunk->unencoded_byte_array_bytes,
                              error));
    }
    FIRN_TRY(check_histogram(check, chunk->definition_level_histogram,
                             chunk->definition_level_histogram_count,
                             check->whole.definition_levels,
                             check->leaf->maximum_definition_level + 1U, "definition", error));
    return check_histogram(check, chunk->repetition_level_histogram,
                           chunk->repetition_level_histogram_count, check->whole.repetition_levels,
                           check->leaf->maximum_repetition_level + 1U, "repetition", error);
}

static firn_status check_whole(firn_parquet_check *check, firn_error *error) {
    if (check->whole.rows != check->group->num_rows) {
        FIRN_TRY(firn_parquet_find(
            check, "footer", false, error, "the column has %lld row%s but its row group %lld",
            (long long)check->whole.rows, firn_plural((uint64_t)check->whole.rows),
            (long long)check->group->num_rows));
    }
    FIRN_TRY(firn_parquet_check_statistics(check, &check->chunk->statistics, &check->whole, false,
                                           error));
    FIRN_TRY(check_size_statistics(check, error));
    size_t pages = check->indexes.has_offset_index   ? check->indexes.offset_index.page_count
                   : check->indexes.has_column_index ? check->indexes.column_index.page_count
                                                     : check->next_location;
    if (check->next_location < pages) {
        FIRN_TRY(firn_parquet_find(
            check, check->indexes.has_offset_index ? "offset_index" : "column_index", false, error,
            "the index has %zu page%s but the column %zu", pages, firn_plural(pages),
            check->next_location));
    }
    if (check->missed_values == 0) return FIRN_OK;
    return firn_parquet_find(check, "bloom_filter", false, error,
                             "the Bloom filter lacks %lld of %lld values, %s among them",
                             (long long)check->missed_values, (long long)check->whole.values,
                             check->missed_value);
}

/* That an index can't be used is a fault where it contradicts something; where its order is undefined it is only useless. */
static firn_status find_index_problems(firn_parquet_check *check, firn_error *error) {
    const firn_parquet_chunk_indexes *indexes = &check->indexes;
    if (indexes->offset_index_problem != NULL) {
        FIRN_TRY(firn_parquet_find(check, "offset_index", false, error,
                                   "the offset index is broken: %s",
                                   indexes->offset_index_problem));
    }
    if (indexes->column_index_problem != NULL && !indexes->column_index_undefined) {
        FIRN_TRY(firn_parquet_find(check, "column_index", false, error,
                                   "the column index is broken: %s",
                                   indexes->column_index_problem));
    }
    if (indexes->bloom_filter_problem == NULL) return FIRN_OK;
    return firn_parquet_find(check, "bloom_filter", false, error, "the Bloom filter is broken: %s",
                             indexes->bloom_filter_problem);
}

static firn_status check_with(firn_parquet_check *check, firn_parquet_chunk_reader *reader,
                              firn_error *error) {
    page_sums sums = {0};
    bool ended = false;
    FIRN_TRY(walk_headers(check, reader, &sums, error));
    if (sums.broken) return FIRN_OK;
    FIRN_TRY(check_sums(check, &sums, error));
    FIRN_TRY(firn_parquet_chunk_indexes_read(check->file, check->row_group,
                                             (size_t)check->leaf->index, FIRN_PARQUET_FETCH_ALL,
                                             check->arena, &check->indexes, error));
    FIRN_TRY(find_index_problems(check, error));
    FIRN_TRY(firn_parquet_chunk_reader_reset(reader, check->file, check->row_group,
                                             (size_t)check->leaf->index, error));
    FIRN_TRY(decode_pages(check, reader, &ended, error));
    return ended ? FIRN_OK : check_whole(check, error);
}

firn_status firn_parquet_check_chunk(firn_parquet_check *check, firn_error *error) {
    firn_parquet_chunk_reader *reader = NULL;
    firn_error problem = {0};
    bool ended = false;
    firn_parquet_bounds_init(&check->page.bounds, check->order);
    firn_parquet_bounds_init(&check->whole.bounds, check->order);
    check->page_number = -1;
    check->page_offset = -1;
    firn_status status = firn_parquet_chunk_reader_open(
        check->file, check->row_group, (size_t)check->leaf->index, &reader, &problem);
    status = find_failure(check, status, &problem, &ended, error);
    if (status == FIRN_OK && !ended) status = check_with(check, reader, error);
    firn_parquet_chunk_reader_close(reader);
    firn_parquet_bounds_release(&check->page.bounds);
    firn_parquet_bounds_release(&check->whole.bounds);
    return status;
}
