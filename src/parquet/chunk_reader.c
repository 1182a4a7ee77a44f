#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "parquet/chunk_reader_internal.h"
#include "parquet/metadata_internal.h"
#include "parquet/page_codec.h"

/* Page headers are small, but for statistics, which some writers don't shorten. */
#define FIRST_HEADER_SIZE ((uint64_t)512)
#define MAXIMUM_HEADER_SIZE ((uint64_t)16 << 20)

firn_status firn_parquet_chunk_reader_open(const firn_parquet_file *file, size_t row_group,
                                           size_t leaf, firn_parquet_chunk_reader **out,
                                           firn_error *error) {
    firn_parquet_chunk_reader *reader = firn_alloc_zeroed(1, sizeof *reader);
    if (reader == NULL) return firn_fail_memory(error);
    firn_status status = firn_parquet_chunk_reader_reset(reader, file, row_group, leaf, error);
    if (status != FIRN_OK) {
        firn_parquet_chunk_reader_close(reader);
        return status;
    }
    *out = reader;
    return FIRN_OK;
}

void firn_parquet_chunk_reader_close(firn_parquet_chunk_reader *reader) {
    if (reader == NULL) return;
    firn_parquet_window_release(&reader->window);
    firn_parquet_scratch_release(&reader->body);
    firn_parquet_scratch_release(&reader->repetition_levels);
    firn_parquet_scratch_release(&reader->definition_levels);
    firn_parquet_scratch_release(&reader->indices);
    firn_parquet_value_store_release(&reader->store);
    firn_parquet_scratch_release(&reader->dictionary_body);
    firn_parquet_scratch_release(&reader->dictionary_as_stored);
    firn_parquet_value_store_release(&reader->dictionary_store);
    firn_free(reader);
}

firn_status firn_parquet_chunk_reader_reset(firn_parquet_chunk_reader *reader,
                                            const firn_parquet_file *file, size_t row_group,
                                            size_t leaf, firn_error *error) {
    uint64_t offset = 0;
    uint64_t size = 0;
    reader->state = FIRN_PARQUET_PAGE_NONE;
    reader->chunk = NULL;
    FIRN_TRY(firn_parquet_chunk_readable(file, row_group, leaf, error));
    FIRN_TRY(firn_parquet_chunk_range(file, row_group, leaf, &offset, &size, error));
    reader->file = file;
    reader->leaf = &file->schema->leaves[leaf];
    reader->chunk = &file->metadata->row_groups[row_group].columns[leaf];
    reader->row_group = row_group;
    reader->codec_known = firn_parquet_codec_of(reader->chunk->compression, &reader->codec) &&
                          firn_codec_can_read(reader->codec);
    firn_parquet_window_reset(&reader->window, &file->source, offset, offset + size);
    reader->position = offset;
    reader->levels = 0;
    reader->any_page = false;
    reader->data_pages = 0;
    reader->has_dictionary = false;
    reader->dictionary_is_known = false;
    reader->dictionary_page = (firn_parquet_page){0};
    const firn_parquet_schema_element *element = reader->leaf->node->element;
    reader->dictionary = (firn_parquet_values){
        .type = element->type,
        .width = firn_parquet_value_width(element->type, element->type_length)};
    return FIRN_OK;
}

firn_status firn_parquet_page_wrap(const firn_parquet_chunk_reader *reader, firn_status status,
                                   firn_error *error) {
    if (status == FIRN_OK) return FIRN_OK;
    if (error != NULL && error->byte_offset < 0) {
        error->byte_offset = (int64_t)reader->page.file_offset;
    }
    return firn_error_wrap(error, status, "%s: row group %zu: column %s: page at byte %" PRIu64,
                           reader->file->source.name, reader->row_group, reader->leaf->dotted_path,
                           reader->page.file_offset);
}

static firn_status parse_header(firn_parquet_chunk_reader *reader, firn_slice bytes,
                                size_t *header_size, firn_error *error) {
    return firn_parquet_page_header_at(bytes, reader->position, "page header", &reader->page.header,
                                       header_size, error);
}

/* A header's length is known only once it is parsed: more and more bytes are offered until it fits. */
static firn_status read_header(firn_parquet_chunk_reader *reader, size_t *header_size,
                               firn_error *error) {
    uint64_t rest = reader->window.end - reader->position;
    uint64_t offered = firn_parquet_window_ready(&reader->window, reader->position);
    if (offered < FIRST_HEADER_SIZE) offered = FIRST_HEADER_SIZE;
    if (offered > MAXIMUM_HEADER_SIZE) offered = MAXIMUM_HEADER_SIZE;
    for (;;) {
        if (offered > rest) offered = rest;
        firn_slice bytes = {0};
        bool borrowed = false;
        FIRN_TRY(firn_parquet_window_get(&reader->window, reader->position, offered, &bytes,
                                         &borrowed, error));
        firn_error problem = {0};
        firn_status status = parse_header(reader, bytes, header_size, &problem);
        if (status == FIRN_OK) return FIRN_OK;
        if (offered == rest || offered >= MAXIMUM_HEADER_SIZE) {
            if (error != NULL) *error = problem;
            return firn_error_wrap(error, status, "%s: row group %zu: column %s",
                                   reader->file->source.name, reader->row_group,
                                   reader->leaf->dotted_path);
        }
        offered *= 4;
    }
}

/* Header and body of the page at `position`, both held at once. */
static firn_status read_page(firn_parquet_chunk_reader *reader, bool *borrowed, firn_error *error) {
    firn_parquet_page *page = &reader->page;
    size_t header_size = 0;
    page->file_offset = reader->position;
    FIRN_TRY(read_header(reader, &header_size, error));
    uint64_t size = header_size + (uint64_t)page->header.compressed_size;
    uint64_t rest = reader->window.end - reader->position;
    if (size > rest) {
        return firn_parquet_page_wrap(reader,
                                      firn_fail(error, FIRN_CORRUPT,
                                                "the page's %" PRIu64
                                                " bytes pass the chunk's end, %" PRIu64 " bytes on",
                                                size, rest),
                                      error);
    }
    firn_slice bytes = {0};
    FIRN_TRY(
        firn_parquet_window_get(&reader->window, reader->position, size, &bytes, borrowed, error));
    page->header_bytes = firn_slice_of(bytes.data, header_size);
    page->body = firn_slice_of(bytes.data + header_size, bytes.size - header_size);
    /* The header's statistics point into bytes that may have moved. */
    FIRN_TRY(parse_header(reader, page->header_bytes, &header_size, error));
    reader->position += size;
    return FIRN_OK;
}

static firn_status check_crc(const firn_parquet_page *page, firn_error *error) {
    if (!page->header.has_crc) return FIRN_OK;
    uint32_t found = firn_crc32(0, page->body);
    if (found == page->header.crc) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "the page's CRC is %08" PRIx32 " but its header says %08" PRIx32, found,
                     page->header.crc);
}

/* Old writers leave a dictionary page's header out of the chunk's size (PARQUET-816); values are counted, so a longer chunk does no harm. */
static void extend_window(firn_parquet_chunk_reader *reader) {
    uint64_t behind = reader->file->source.size - reader->window.end;
    uint64_t header_size = reader->page.header_bytes.size;
    reader->window.end += behind < header_size ? behind : header_size;
}

static firn_status keep_dictionary_page(firn_parquet_chunk_reader *reader, bool borrowed,
                                        firn_error *error) {
    firn_slice body = reader->page.body;
    reader->dictionary_page = reader->page;
    /* They point into bytes that may move, and a dictionary has none that matter. */
    reader->dictionary_page.header.statistics = (firn_parquet_statistics){0};
    if (borrowed) return FIRN_OK;
    FIRN_TRY(firn_parquet_scratch_ensure(&reader->dictionary_as_stored, body.size, 1, error));
    if (body.size > 0) memcpy(reader->dictionary_as_stored.data, body.data, body.size);
    reader->dictionary_page.body.data = reader->dictionary_as_stored.data;
    reader->dictionary_page.header_bytes = (firn_slice){0};
    return FIRN_OK;
}

static firn_status note_known_dictionary(firn_parquet_chunk_reader *reader, firn_error *error) {
    if (reader->page.header.num_values < 0) {
        return firn_fail(error, FIRN_CORRUPT, "a dictionary of %d values",
                         (int)reader->page.header.num_values);
    }
    size_t count = (size_t)reader->page.header.num_values;
    if (reader->known_count != SIZE_MAX && reader->known_count != count) {
        return firn_fail(error, FIRN_CORRUPT, "the dictionary has %d values, and had %zu before",
                         (int)reader->page.header.num_values, reader->known_count);
    }
    reader->has_dictionary = true;
    reader->dictionary.count = count;
    return FIRN_OK;
}

static firn_status take_dictionary(firn_parquet_chunk_reader *reader, bool borrowed,
                                   firn_error *error) {
    if (reader->any_page) {
        return firn_fail(error, FIRN_CORRUPT, "a dictionary page that is not the chunk's first");
    }
    FIRN_TRY(check_crc(&reader->page, error));
    FIRN_TRY(keep_dictionary_page(reader, borrowed, error));
    if (reader->dictionary_is_known) {
        FIRN_TRY(note_known_dictionary(reader, error));
    } else {
        FIRN_TRY(firn_parquet_load_dictionary(reader, borrowed, error));
    }
    extend_window(reader);
    return FIRN_OK;
}

static firn_status take_data_page(firn_parquet_chunk_reader *reader, firn_error *error) {
    const firn_parquet_page_header *header = &reader->page.header;
    if (header->num_values > reader->chunk->num_values - reader->levels) {
        return firn_fail(error, FIRN_CORRUPT,
                         "num_values %d takes the chunk past its %lld values, at %lld",
                         (int)header->num_values, (long long)reader->chunk->num_values,
                         (long long)reader->levels);
    }
    if (header->num_values > FIRN_PARQUET_MAXIMUM_PAGE_LEVELS) {
        return firn_fail(error, FIRN_LIMIT, "%d values in one page; the limit is %d",
                         (int)header->num_values, FIRN_PARQUET_MAXIMUM_PAGE_LEVELS);
    }
    FIRN_TRY(check_crc(&reader->page, error));
    reader->page.first_level = reader->levels;
    reader->page.number = reader->data_pages++;
    reader->levels += header->num_values;
    reader->state = FIRN_PARQUET_PAGE_RAW;
    return FIRN_OK;
}

firn_status firn_parquet_chunk_reader_next(firn_parquet_chunk_reader *reader,
                                           const firn_parquet_page **page, firn_error *error) {
    *page = NULL;
    reader->state = FIRN_PARQUET_PAGE_NONE;
    if (reader->chunk == NULL) {
        return firn_fail(error, FIRN_INVALID, "the reader was not put on a column chunk");
    }
    while (reader->levels < reader->chunk->num_values) {
        if (reader->position == reader->window.end) {
            return firn_fail_at(error, FIRN_CORRUPT, (int64_t)reader->position,
                                "%s: row group %zu: column %s: the pages end after %lld of %lld "
                                "values",
                                reader->file->source.name, reader->row_group,
                                reader->leaf->dotted_path, (long long)reader->levels,
                                (long long)reader->chunk->num_values);
        }
        bool borrowed = false;
        FIRN_TRY(read_page(reader, &borrowed, error));
        switch (reader->page.header.type) {
        case FIRN_PARQUET_DATA_PAGE:
        case FIRN_PARQUET_DATA_PAGE_V2:
            FIRN_TRY(firn_parquet_page_wrap(reader, take_data_page(reader, error), error));
            reader->any_page = true;
            *page = &reader->page;
            return FIRN_OK;
        case FIRN_PARQUET_DICTIONARY_PAGE:
            FIRN_TRY(
                firn_parquet_page_wrap(reader, take_dictionary(reader, borrowed, error), error));
            reader->any_page = true;
            break;
        /* README.md, "Extensibility": further page types can be skipped safely. */
        case FIRN_PARQUET_INDEX_PAGE:
        default: break;
        }
    }
    return FIRN_OK;
}

firn_status firn_parquet_chunk_reader_next_raw(firn_parquet_chunk_reader *reader,
                                               const firn_parquet_page **page, firn_error *error) {
    *page = NULL;
    reader->state = FIRN_PARQUET_PAGE_NONE;
    if (reader->chunk == NULL) {
        return firn_fail(error, FIRN_INVALID, "the reader was not put on a column chunk");
    }
    /* A chunk without values may have pages all the same, as far as the footer says that it goes. */
    uint64_t passed = reader->position - reader->window.begin;
    bool done =
        reader->levels >= reader->chunk->num_values &&
        (reader->chunk->num_values > 0 || passed >= (uint64_t)reader->chunk->total_compressed_size);
    if (done || reader->position >= reader->window.end) return FIRN_OK;
    bool borrowed = false;
    FIRN_TRY(read_page(reader, &borrowed, error));
    firn_parquet_page_type type = reader->page.header.type;
    reader->page.first_level = reader->levels;
    if (type == FIRN_PARQUET_DICTIONARY_PAGE) extend_window(reader);
    if (type == FIRN_PARQUET_DATA_PAGE || type == FIRN_PARQUET_DATA_PAGE_V2) {
        reader->levels += reader->page.header.num_values;
    }
    *page = &reader->page;
    return FIRN_OK;
}

firn_status firn_parquet_chunk_reader_load_dictionary(firn_parquet_chunk_reader *reader,
                                                      firn_error *error) {
    if (reader->chunk == NULL || reader->any_page) {
        return firn_fail(error, FIRN_INVALID, "the reader is not at a chunk's first page");
    }
    if (reader->chunk->num_values <= 0 || reader->position == reader->window.end) return FIRN_OK;
    bool borrowed = false;
    FIRN_TRY(read_page(reader, &borrowed, error));
    if (reader->page.header.type != FIRN_PARQUET_DICTIONARY_PAGE) {
        reader->position = reader->page.file_offset;
        return FIRN_OK;
    }
    FIRN_TRY(firn_parquet_page_wrap(reader, take_dictionary(reader, borrowed, error), error));
    reader->any_page = true;
    return FIRN_OK;
}

void firn_parquet_chunk_reader_skip_dictionary(firn_parquet_chunk_reader *reader, size_t count) {
    reader->dictionary_is_known = true;
    reader->known_count = count;
}

void firn_parquet_chunk_reader_leave_dictionary(firn_parquet_chunk_reader *reader) {
    firn_parquet_chunk_reader_skip_dictionary(reader, SIZE_MAX);
}

const firn_parquet_page *
firn_parquet_chunk_reader_dictionary_page(const firn_parquet_chunk_reader *reader) {
    return &reader->dictionary_page;
}

const firn_parquet_values *
firn_parquet_chunk_reader_dictionary(const firn_parquet_chunk_reader *reader) {
    return &reader->dictionary;
}
