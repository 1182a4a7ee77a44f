#include "base/alloc.h"
#include "data/equality_deletes.h"

#define BLOCK_ROWS 4096

/* One equality delete file on its way into the set. */
typedef struct delete_load {
    firn_equality_work *work;
    firn_key_reader reader;
    firn_key_stage stage;
    uint32_t scope, rank;
    firn_key_range *ranges; /* one per column */
    firn_buffer key;        /* canonical form of one row */
    uint64_t hashes[BLOCK_ROWS];
} delete_load;

/* ---- bounds of the keys ---- */

static bool has_trusted_bounds(firn_type_kind kind) {
    return kind == FIRN_TYPE_INT || kind == FIRN_TYPE_LONG || kind == FIRN_TYPE_DATE;
}

static const firn_field *field_of_leaf(const firn_equality_key *key, size_t leaf) {
    int32_t id = key->output->leaves[leaf].node->element->field_id;
    return firn_schema_find(key->schema, id);
}

static void widen_range(firn_key_range *range, const firn_key_column *column, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t number = firn_key_value_number(column, column->row + i);
        if (number == FIRN_KEY_NULL) {
            range->has_null = true;
            continue;
        }
        uint64_t bits = firn_key_load(&column->values, number);
        int64_t value =
            column->values.width == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
        if (!range->any || value < range->minimum) range->minimum = value;
        if (!range->any || value > range->maximum) range->maximum = value;
        range->any = true;
    }
}

static void join_ranges(delete_load *load) {
    firn_key_set *set = load->work->set;
    pthread_mutex_lock(&set->range_lock);
    for (size_t i = 0; i < load->reader.column_count; i++) {
        const firn_key_range *more = &load->ranges[i];
        firn_key_range *range = &set->ranges[i];
        range->known = more->known;
        range->has_null |= more->has_null;
        if (!more->any) continue;
        if (!range->any || more->minimum < range->minimum) range->minimum = more->minimum;
        if (!range->any || more->maximum > range->maximum) range->maximum = more->maximum;
        range->any = true;
    }
    pthread_mutex_unlock(&set->range_lock);
}

/* ---- rows ---- */

static firn_status add_narrow(delete_load *load, size_t count, firn_error *error) {
    const firn_key_column *column = &load->reader.columns[0];
    for (size_t i = 0; i < count; i++) {
        uint32_t number = firn_key_value_number(column, column->row + i);
        bool is_null = number == FIRN_KEY_NULL;
        uint64_t key = is_null ? 0 : firn_key_load(&column->values, number);
        uint32_t scope = load->scope | (is_null ? FIRN_KEY_NULL_SCOPE : 0);
        uint64_t hash = firn_key_narrow_hash(load->work->set, key, scope);
        FIRN_TRY(firn_key_stage_add_narrow(&load->stage, hash, key, scope, load->rank, error));
    }
    return FIRN_OK;
}

static firn_status add_wide(delete_load *load, size_t count, firn_error *error) {
    const firn_key_set *set = load->work->set;
    firn_key_reader_hash(&load->reader, set->seed, count, load->hashes);
    for (size_t i = 0; i < count; i++) {
        firn_buffer_clear(&load->key);
        FIRN_TRY(firn_key_reader_append(&load->reader, i, &load->key, error));
        uint64_t hash = firn_key_scoped_hash(set, load->hashes[i], load->scope);
        FIRN_TRY(firn_key_stage_add_wide(&load->stage, hash, firn_buffer_slice(&load->key),
                                         load->scope, load->rank, error));
    }
    return FIRN_OK;
}

static firn_status add_row_group(delete_load *load, size_t row_group, firn_error *error) {
    firn_key_reader *reader = &load->reader;
    FIRN_TRY(firn_key_reader_start(reader, row_group, error));
    for (;;) {
        size_t count = 0;
        FIRN_TRY(firn_key_reader_next(reader, BLOCK_ROWS, &count, error));
        if (count == 0) return FIRN_OK;
        for (size_t i = 0; i < reader->column_count; i++) {
            if (!load->ranges[i].known) continue;
            widen_range(&load->ranges[i], &reader->columns[i], count);
        }
        FIRN_TRY(load->work->set->narrow ? add_narrow(load, count, error)
                                         : add_wide(load, count, error));
        firn_key_reader_advance(reader, count);
    }
}

/* ---- files ---- */

static bool names_id(const firn_parquet_schema *schema, int32_t id) {
    for (size_t i = 0; i < schema->leaf_count; i++) {
        const firn_parquet_schema_element *element = schema->leaves[i].node->element;
        if (element->has_field_id && element->field_id == id) return true;
    }
    return false;
}

/* A column that the delete file lacks must not pass for null: that would delete all rows that have null there. */
static firn_status check_columns(const delete_load *load, firn_error *error) {
    const firn_key_reader *reader = &load->reader;
    for (size_t i = 0; i < reader->column_count; i++) {
        const firn_key_column *column = &reader->columns[i];
        int32_t id = column->output->node->element->field_id;
        bool has_values = column->input != NULL && !column->mapping->levels_only;
        if (has_values || names_id(reader->file->schema, id)) continue;
        return firn_fail(error, FIRN_CORRUPT,
                         "equality delete file %s lacks column \"%s\" (field id %d), which is one "
                         "of its equality_ids",
                         reader->location, column->output->dotted_path, (int)id);
    }
    return FIRN_OK;
}

static firn_status add_rows(delete_load *load, firn_error *error) {
    FIRN_TRY(check_columns(load, error));
    size_t count = load->reader.column_count;
    load->ranges = firn_arena_alloc(load->reader.arena, count, sizeof *load->ranges);
    if (load->ranges == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const firn_field *field = field_of_leaf(load->work->key, i);
        load->ranges[i].known = field != NULL && has_trusted_bounds(field->type->kind);
    }
    const firn_parquet_file_metadata *metadata = load->reader.file->metadata;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        FIRN_TRY(add_row_group(load, i, error));
    }
    FIRN_TRY(firn_key_stage_flush(&load->stage, error));
    join_ranges(load);
    firn_deletes_count(load->work->deletes, 1, load->reader.bytes_read, 0);
    return FIRN_OK;
}

static firn_status load_file(void *context, size_t index, firn_error *error) {
    firn_equality_work *work = context;
    size_t number = work->key->deletes.items[index];
    const firn_manifest_entry *entry = firn_deletes_delete(work->deletes, number);
    const firn_table_metadata *metadata = work->deletes->request->table->metadata;
    firn_data_source *source = NULL;
    delete_load *load = firn_alloc_zeroed(1, sizeof *load);
    if (load == NULL) return firn_fail_memory(error);
    firn_status status;
    load->work = work;
    load->scope = work->scopes[number];
    load->rank = firn_equality_rank(work->key, entry->sequence_number);
    load->key = firn_buffer_with_maximum(SIZE_MAX);
    firn_key_stage_init(&load->stage, work->set);
    FIRN_CHECK(firn_deletes_open(work->deletes, &entry->file, &source, error));
    FIRN_CHECK(firn_key_reader_open(&load->reader, work->key, &entry->file,
                                    firn_table_metadata_spec(metadata, entry->file.spec_id),
                                    metadata->format_version, firn_data_source_parquet(source),
                                    error));
    status = add_rows(load, error);
out:
    firn_key_reader_release(&load->reader);
    firn_key_stage_release(&load->stage);
    firn_buffer_release(&load->key);
    firn_free(load);
    firn_data_source_close(source);
    return status;
}

/* What the keys will about take in memory, by the manifest's counts. */
static bool looks_too_large(const firn_equality_work *work) {
    uint64_t bytes_per_key = work->set->narrow ? 28 : 96;
    uint64_t limit = work->set->limit;
    uint64_t sum = 0;
    for (size_t i = 0; i < work->key->deletes.count; i++) {
        size_t number = work->key->deletes.items[i];
        uint64_t rows = (uint64_t)firn_deletes_delete(work->deletes, number)->file.record_count;
        if (rows > limit || sum > limit) return true;
        sum += rows * bytes_per_key;
    }
    return sum > limit;
}

firn_status firn_equality_load(firn_equality_work *work, firn_error *error) {
    firn_pool *pool = work->deletes->request->pool;
    size_t count = work->key->deletes.count;
    if (looks_too_large(work)) FIRN_TRY(firn_key_set_spill(work->set, error));
    firn_status status = firn_pool_each(pool, count, load_file, work, error);
    if (status == FIRN_OK || !work->set->outgrown) return status;
    /* The manifest's counts were too low: once more, with room on the disk. */
    FIRN_TRY(firn_key_set_spill(work->set, error));
    return firn_pool_each(pool, count, load_file, work, error);
}
