#include "parquet/file_reader.h"

#include "base/alloc.h"
#include "codec/codec.h"
#include "parquet/metadata_internal.h"
#include "parquet/page_codec.h"

static firn_status check_path(const firn_parquet_file *file, size_t row_group,
                              const firn_parquet_leaf *leaf, const firn_parquet_column_chunk *chunk,
                              firn_error *error) {
    bool same = chunk->path_length == leaf->path_length;
    for (size_t i = 0; same && i < leaf->path_length; i++) {
        same = strcmp(chunk->path_in_schema[i], leaf->path[i]->element->name) == 0;
    }
    if (same) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: row group %zu: column %d has another path_in_schema than the schema's %s",
                     file->source.name, row_group, leaf->index, leaf->dotted_path);
}

static firn_status check_chunk(const firn_parquet_file *file, size_t row_group, size_t index,
                               firn_error *error) {
    const firn_parquet_row_group *group = &file->metadata->row_groups[row_group];
    const firn_parquet_column_chunk *chunk = &group->columns[index];
    const firn_parquet_leaf *leaf = &file->schema->leaves[index];
    if (!chunk->has_metadata) return FIRN_OK;
    FIRN_TRY(check_path(file, row_group, leaf, chunk, error));
    if (chunk->type != leaf->node->element->type) {
        return firn_fail(
            error, FIRN_CORRUPT, "%s: row group %zu: column %s: type %s where the schema has %s",
            file->source.name, row_group, leaf->dotted_path, firn_parquet_type_name(chunk->type),
            firn_parquet_type_name(leaf->node->element->type));
    }
    bool flat = leaf->maximum_repetition_level == 0;
    if (flat ? chunk->num_values != group->num_rows : chunk->num_values < group->num_rows) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: row group %zu: column %s: num_values %lld does not fit %lld rows",
                         file->source.name, row_group, leaf->dotted_path,
                         (long long)chunk->num_values, (long long)group->num_rows);
    }
    return FIRN_OK;
}

/* Some writers leave the file's num_rows 0; the row groups' own numbers are what counts. */
static firn_status use_summed_rows(firn_parquet_file *file, int64_t rows, firn_error *error) {
    firn_parquet_file_metadata *metadata =
        firn_arena_memdup(file->arena, file->metadata, sizeof *metadata);
    if (metadata == NULL) return firn_fail_memory(error);
    metadata->num_rows = rows;
    file->metadata = metadata;
    return FIRN_OK;
}

static firn_status check_row_groups(firn_parquet_file *file, firn_error *error) {
    const firn_parquet_file_metadata *metadata = file->metadata;
    int64_t rows = 0;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        const firn_parquet_row_group *group = &metadata->row_groups[i];
        if (group->column_count != file->schema->leaf_count) {
            return firn_fail(error, FIRN_CORRUPT,
                             "%s: row group %zu has %zu columns where the schema has %zu",
                             file->source.name, i, group->column_count, file->schema->leaf_count);
        }
        for (size_t j = 0; j < group->column_count; j++) FIRN_TRY(check_chunk(file, i, j, error));
        if (__builtin_add_overflow(rows, group->num_rows, &rows)) {
            return firn_fail(error, FIRN_CORRUPT, "%s: the row groups' num_rows overflow",
                             file->source.name);
        }
    }
    if (rows == metadata->num_rows) return FIRN_OK;
    if (metadata->num_rows == 0) return use_summed_rows(file, rows, error);
    return firn_fail(error, FIRN_CORRUPT, "%s: num_rows is %lld but the row groups have %lld",
                     file->source.name, (long long)metadata->num_rows, (long long)rows);
}

/* `footer` NULL: read it. */
static firn_status open_file(const firn_read_at *source, const firn_slice *footer,
                             firn_parquet_known_schemas *known, firn_arena *arena,
                             firn_parquet_file **out, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_parquet_known_schema *shared = NULL;
    firn_parquet_file *file = firn_alloc_zeroed(1, sizeof *file);
    if (arena == NULL) arena = firn_arena_new();
    if (file == NULL || arena == NULL) {
        firn_arena_free(arena);
        firn_free(file);
        return firn_fail_memory(error);
    }
    file->source = *source;
    file->arena = arena;
    if (footer == NULL) {
        FIRN_CHECK(firn_parquet_read_footer(&file->source, file->arena, &file->metadata, error));
    } else {
        firn_thrift_reader reader = firn_parquet_footer_reader(
            *footer, source->size - 8 - footer->size, source->name, file->arena);
        FIRN_CHECK(
            firn_parquet_read_file_metadata(&reader, known, &shared, &file->metadata, error));
    }
    if (shared != NULL) {
        file->schema = shared->schema;
        file->known_schema = shared->number;
    } else {
        FIRN_CHECK(firn_parquet_schema_build(file->metadata->schema, file->metadata->schema_count,
                                             source->name, file->arena, &file->schema, error));
    }
    FIRN_CHECK(check_row_groups(file, error));
    *out = file;
    return FIRN_OK;
out:
    firn_parquet_file_close(file);
    return status;
}

firn_status firn_parquet_file_open(const firn_read_at *source, firn_parquet_file **out,
                                   firn_error *error) {
    return open_file(source, NULL, NULL, NULL, out, error);
}

firn_status firn_parquet_file_open_footer(const firn_read_at *source, firn_slice footer,
                                          firn_parquet_known_schemas *known, firn_arena *arena,
                                          firn_parquet_file **out, firn_error *error) {
    return open_file(source, &footer, known, arena, out, error);
}

void firn_parquet_file_close(firn_parquet_file *file) {
    if (file != NULL) firn_arena_free(firn_parquet_file_close_keeping(file));
}

firn_arena *firn_parquet_file_close_keeping(firn_parquet_file *file) {
    firn_arena *arena = file->arena;
    firn_arena_clear(arena);
    firn_free(file);
    return arena;
}

static firn_status check_index(const firn_parquet_file *file, size_t row_group, size_t leaf,
                               firn_error *error) {
    if (row_group < file->metadata->row_group_count && leaf < file->schema->leaf_count) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "%s: there is no column chunk %zu in a row group %zu",
                     file->source.name, leaf, row_group);
}

firn_status firn_parquet_chunk_range(const firn_parquet_file *file, size_t row_group, size_t leaf,
                                     uint64_t *offset, uint64_t *size, firn_error *error) {
    FIRN_TRY(check_index(file, row_group, leaf, error));
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[row_group].columns[leaf];
    *offset = 0;
    *size = 0;
    if (chunk->num_values == 0 && chunk->total_compressed_size == 0) return FIRN_OK;
    int64_t start = chunk->data_page_offset;
    if (chunk->has_dictionary_page_offset && chunk->dictionary_page_offset > 0 &&
        (start <= 0 || chunk->dictionary_page_offset < start)) {
        start = chunk->dictionary_page_offset;
    }
    uint64_t file_size = file->source.size;
    if (start <= 0 || (uint64_t)start > file_size ||
        (uint64_t)chunk->total_compressed_size > file_size - (uint64_t)start) {
        return firn_fail_at(error, FIRN_CORRUPT, start,
                            "%s: row group %zu: column %s: %lld bytes lie outside the file, from",
                            file->source.name, row_group, file->schema->leaves[leaf].dotted_path,
                            (long long)chunk->total_compressed_size);
    }
    *offset = (uint64_t)start;
    *size = (uint64_t)chunk->total_compressed_size;
    return FIRN_OK;
}

static firn_status refuse(const firn_parquet_file *file, size_t row_group, size_t leaf,
                          firn_error *error, const char *what, const char *name, int number) {
    return firn_fail(error, FIRN_UNSUPPORTED,
                     "%s: row group %zu: column %s: %s %s (%d) is not supported", file->source.name,
                     row_group, file->schema->leaves[leaf].dotted_path, what, name, number);
}

firn_status firn_parquet_chunk_readable(const firn_parquet_file *file, size_t row_group,
                                        size_t leaf, firn_error *error) {
    FIRN_TRY(check_index(file, row_group, leaf, error));
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[row_group].columns[leaf];
    const char *column = file->schema->leaves[leaf].dotted_path;
    if (chunk->encrypted) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: row group %zu: column %s is encrypted; firn does not read encrypted "
                         "Parquet",
                         file->source.name, row_group, column);
    }
    if (chunk->file_path != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: row group %zu: column %s lies in another file (%s), which is not "
                         "supported",
                         file->source.name, row_group, column, chunk->file_path);
    }
    return FIRN_OK;
}

static bool encoding_known(firn_parquet_encoding encoding) {
    return encoding >= FIRN_PARQUET_PLAIN && encoding <= FIRN_PARQUET_BYTE_STREAM_SPLIT &&
           (int)encoding != 1;
}

firn_status firn_parquet_chunk_supported(const firn_parquet_file *file, size_t row_group,
                                         size_t leaf, firn_error *error) {
    FIRN_TRY(firn_parquet_chunk_readable(file, row_group, leaf, error));
    const firn_parquet_column_chunk *chunk = &file->metadata->row_groups[row_group].columns[leaf];
    firn_codec codec = FIRN_CODEC_UNCOMPRESSED;
    if (!firn_parquet_codec_of(chunk->compression, &codec) || !firn_codec_can_read(codec)) {
        return refuse(file, row_group, leaf, error, "codec",
                      firn_parquet_compression_name(chunk->compression), (int)chunk->compression);
    }
    for (size_t i = 0; i < chunk->encoding_count; i++) {
        firn_parquet_encoding encoding = chunk->encodings[i];
        if (encoding_known(encoding)) continue;
        return refuse(file, row_group, leaf, error, "encoding",
                      firn_parquet_encoding_name(encoding), (int)encoding);
    }
    for (size_t i = 0; i < chunk->encoding_stats_count; i++) {
        firn_parquet_encoding encoding = chunk->encoding_stats[i].encoding;
        if (encoding_known(encoding) && encoding != FIRN_PARQUET_BIT_PACKED) continue;
        return refuse(file, row_group, leaf, error, "encoding",
                      firn_parquet_encoding_name(encoding), (int)encoding);
    }
    return FIRN_OK;
}
