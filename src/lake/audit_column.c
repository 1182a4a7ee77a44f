/** What the values of a column are, as a footer would say it if it knew everything. */
#include <math.h>

#include "base/alloc.h"
#include "data/plain_value.h"
#include "data/projection_internal.h"
#include "data/row_cursor.h"
#include "lake/audit_internal.h"
#include "parquet/chunk_reader.h"

/* Dates become timestamps from this format version on; whether the table allows it was looked at before. */
#define NEWEST_FORMAT_VERSION 3

/** What is known of an entry of a dictionary. */
enum { NEW, ORDINARY, NOT_A_NUMBER };

typedef struct column_reading {
    const firn_parquet_file *file;
    size_t leaf;
    firn_parquet_leaf_mapping mapping;
    firn_row_cursor cursor; /**< only turns values of batches into those of the table's type */
    firn_parquet_chunk_reader *reader;
    uint8_t *seen; /**< of the present chunk's dictionary */
    size_t seen_count;
    firn_buffer lower, upper; /**< bytes of the bounds */
    firn_lake_column_facts facts;
} column_reading;

static bool is_nan(const firn_value *value) {
    return (value->kind == FIRN_TYPE_FLOAT && isnan(value->as.float32)) ||
           (value->kind == FIRN_TYPE_DOUBLE && isnan(value->as.float64));
}

static bool has_bytes(const firn_value *value) {
    return value->kind == FIRN_TYPE_STRING || value->kind == FIRN_TYPE_BINARY ||
           value->kind == FIRN_TYPE_FIXED || value->kind == FIRN_TYPE_UUID;
}

static firn_status keep(const firn_value *value, firn_buffer *room, bool *has, firn_value *bound,
                        firn_error *error) {
    *bound = *value;
    *has = true;
    if (!has_bytes(value)) return FIRN_OK;
    firn_buffer_clear(room);
    FIRN_TRY(firn_buffer_append(room, value->as.bytes.data, value->as.bytes.size, error));
    bound->as.bytes = firn_buffer_slice(room);
    return FIRN_OK;
}

static firn_status take(column_reading *run, const firn_value *value, firn_error *error) {
    firn_lake_column_facts *facts = &run->facts;
    if (!facts->has_lower || firn_value_compare(value, &facts->lower) < 0) {
        FIRN_TRY(keep(value, &run->lower, &facts->has_lower, &facts->lower, error));
    }
    if (!facts->has_upper || firn_value_compare(value, &facts->upper) > 0) {
        FIRN_TRY(keep(value, &run->upper, &facts->has_upper, &facts->upper, error));
    }
    return FIRN_OK;
}

static firn_status look_at(column_reading *run, size_t index, uint8_t *what, firn_error *error) {
    firn_value value = {0};
    run->cursor.value_index = index;
    FIRN_TRY(firn_row_cursor_value(&run->cursor, &value, error));
    *what = is_nan(&value) ? NOT_A_NUMBER : ORDINARY;
    return *what == NOT_A_NUMBER ? FIRN_OK : take(run, &value, error);
}

static firn_status take_batch(column_reading *run, const firn_parquet_batch *batch,
                              firn_error *error) {
    bool dictionary = batch->indices != NULL;
    if (dictionary && run->seen == NULL) {
        run->seen = firn_alloc_zeroed(batch->values.count + 1, 1);
        if (run->seen == NULL) return firn_fail_memory(error);
        run->seen_count = batch->values.count;
    }
    run->cursor.batch =
        (firn_parquet_batch){.values = batch->values, .value_count = batch->values.count};
    for (size_t i = 0; i < batch->value_count; i++) {
        size_t index = dictionary ? batch->indices[i] : i;
        bool kept = dictionary && index < run->seen_count;
        uint8_t what = kept ? run->seen[index] : NEW;
        if (what == NEW) FIRN_TRY(look_at(run, index, &what, error));
        if (kept) run->seen[index] = what;
        run->facts.nans += what == NOT_A_NUMBER ? 1 : 0;
    }
    return FIRN_OK;
}

static firn_status read_pages(column_reading *run, int64_t *values, firn_error *error) {
    for (;;) {
        const firn_parquet_page *page = NULL;
        firn_parquet_batch batch = {0};
        FIRN_TRY(firn_parquet_chunk_reader_next(run->reader, &page, error));
        if (page == NULL) return FIRN_OK;
        FIRN_TRY(firn_parquet_chunk_reader_decode(run->reader, &batch, error));
        *values += (int64_t)batch.value_count;
        FIRN_TRY(take_batch(run, &batch, error));
    }
}

static firn_status read_row_group(column_reading *run, size_t row_group, firn_error *error) {
    const firn_parquet_column_chunk *chunk =
        &run->file->metadata->row_groups[row_group].columns[run->leaf];
    int64_t values = 0;
    run->facts.values += chunk->num_values;
    run->facts.compressed_size += chunk->total_compressed_size;
    if (chunk->num_values == 0) return FIRN_OK;
    FIRN_TRY(firn_parquet_chunk_supported(run->file, row_group, run->leaf, error));
    FIRN_TRY(
        run->reader == NULL
            ? firn_parquet_chunk_reader_open(run->file, row_group, run->leaf, &run->reader, error)
            : firn_parquet_chunk_reader_reset(run->reader, run->file, row_group, run->leaf, error));
    firn_free(run->seen);
    run->seen = NULL;
    FIRN_TRY(read_pages(run, &values, error));
    run->facts.nulls += chunk->num_values - values;
    return FIRN_OK;
}

static firn_status prepare(const firn_auditor *auditor, const firn_audit_file *file,
                           const firn_field *field, column_reading *run, firn_error *error) {
    const firn_parquet_leaf *leaf = &run->file->schema->leaves[run->leaf];
    firn_parquet_schema_element own = {0};
    firn_projector projector = {.schema = auditor->table->metadata->schema,
                                .file = run->file,
                                .location = file->file->location,
                                .format_version = NEWEST_FORMAT_VERSION,
                                .arena = auditor->scratch};
    FIRN_TRY(firn_plain_form_of_type(field->type, &own, error));
    FIRN_TRY(firn_projection_conversion(&projector, field, leaf->node->element, &own,
                                        &run->mapping.conversion, &run->mapping.factor, error));
    run->cursor = (firn_row_cursor){.location = file->file->location,
                                    .type = field->type,
                                    .output = leaf,
                                    .input = leaf,
                                    .mapping = &run->mapping};
    return FIRN_OK;
}

static firn_status finish(column_reading *run, firn_arena *arena, firn_lake_column_facts *out,
                          firn_error *error) {
    *out = run->facts;
    out->lower_exact = out->has_lower;
    out->upper_exact = out->has_upper;
    if (out->has_lower) FIRN_TRY(firn_value_copy(&run->facts.lower, arena, &out->lower, error));
    if (out->has_upper) FIRN_TRY(firn_value_copy(&run->facts.upper, arena, &out->upper, error));
    return FIRN_OK;
}

static firn_status read_file(const firn_auditor *auditor, const firn_audit_file *file,
                             const firn_field *field, column_reading *run, firn_error *error) {
    FIRN_TRY(prepare(auditor, file, field, run, error));
    for (size_t i = 0; i < run->file->metadata->row_group_count; i++) {
        FIRN_TRY(read_row_group(run, i, error));
    }
    return FIRN_OK;
}

firn_status firn_audit_read_column(const firn_auditor *auditor, const firn_audit_file *file,
                                   size_t leaf, const firn_field *field, firn_arena *arena,
                                   firn_lake_column_facts *out, firn_error *error) {
    firn_storage_file *opened = NULL;
    const char *location = file->file->location;
    firn_status status = firn_storage_open(auditor->table->storage, location, &opened, error);
    if (status != FIRN_OK) return status;
    /* The footer that is known already holds for the bytes as long as they are the same. */
    firn_parquet_file readable = *file->parquet;
    readable.source = *firn_storage_file_source(opened);
    column_reading run = {.file = &readable,
                          .leaf = leaf,
                          .lower = firn_buffer_with_maximum((size_t)1 << 31),
                          .upper = firn_buffer_with_maximum((size_t)1 << 31)};
    if (file->file->size < 0 || readable.source.size != (uint64_t)file->file->size) {
        status = firn_fail(error, FIRN_CONFLICT,
                           "%s: the file changed while it was looked at: run again", location);
    } else {
        status = read_file(auditor, file, field, &run, error);
    }
    if (status == FIRN_OK) status = finish(&run, arena, out, error);
    firn_parquet_chunk_reader_close(run.reader);
    firn_free(run.seen);
    firn_buffer_release(&run.lower);
    firn_buffer_release(&run.upper);
    firn_storage_close(opened);
    return firn_error_wrap(error, status, "column \"%s\"",
                           file->parquet->schema->leaves[leaf].dotted_path);
}
