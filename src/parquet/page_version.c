/*
 * Which version the data pages of a file are of. Footers should tell, by encoding_stats; but Arrow's writer, and so PyIceberg's, names
 * v1 there whatever it wrote, so a page header has the last word.
 */
#include "parquet/file_reader.h"

/* Room for a page header with statistics. */
#define HEADER_SIZE ((uint64_t)8 << 10)

static bool stats_name_v2(const firn_parquet_column_chunk *chunk) {
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        if (chunk->encoding_stats[i].page_type == FIRN_PARQUET_DATA_PAGE_V2) return true;
    }
    return false;
}

static bool read_header(const firn_parquet_file *file, uint64_t offset, uint64_t end,
                        firn_parquet_page_header *out, size_t *consumed) {
    const firn_read_at *source = &file->source;
    uint8_t room[HEADER_SIZE];
    if (offset >= end) return false;
    size_t size = (size_t)(end - offset < HEADER_SIZE ? end - offset : HEADER_SIZE);
    const uint8_t *bytes =
        source->borrow != NULL ? source->borrow(source->context, offset, size) : NULL;
    if (bytes == NULL) {
        if (firn_read_at_exact(source, offset, room, size, NULL) != FIRN_OK) return false;
        bytes = room;
    }
    return firn_parquet_parse_page_header(firn_slice_of(bytes, size), source->name, out, consumed,
                                          NULL) == FIRN_OK;
}

int firn_parquet_chunk_page_version(const firn_parquet_file *file, size_t row_group, size_t leaf) {
    uint64_t offset = 0, size = 0;
    firn_parquet_page_header header;
    size_t consumed = 0;
    if (firn_parquet_chunk_range(file, row_group, leaf, &offset, &size, NULL) != FIRN_OK) return 1;
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[row_group].columns[leaf];
    if (stats_name_v2(chunk)) return 2;
    uint64_t end = offset + size;
    uint64_t hint = (uint64_t)chunk->data_page_offset;
    if (chunk->data_page_offset > 0 && hint > offset && hint < end) offset = hint;
    if (!read_header(file, offset, end, &header, &consumed)) return 1;
    if (header.type == FIRN_PARQUET_DICTIONARY_PAGE) {
        /* The offset was the dictionary's. */
        if (header.compressed_size < 0) return 1;
        offset += consumed + (uint64_t)header.compressed_size;
        if (!read_header(file, offset, end, &header, &consumed)) return 1;
    }
    return header.type == FIRN_PARQUET_DATA_PAGE_V2 ? 2 : 1;
}

int firn_parquet_file_page_version(const firn_parquet_file *file) {
    const firn_parquet_file_metadata *metadata = file->metadata;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &metadata->row_groups[i];
        for (size_t j = 0; j < group->column_count; j++) {
            const firn_parquet_column_chunk *chunk = &group->columns[j];
            if (chunk->num_values == 0 || !chunk->has_metadata || chunk->file_path != NULL)
                continue;
            return firn_parquet_chunk_page_version(file, i, j);
        }
    }
    return 1;
}
