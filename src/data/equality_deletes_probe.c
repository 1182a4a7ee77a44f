#include "base/alloc.h"
#include "data/equality_deletes.h"

#define BLOCK_ROWS FIRN_DELETES_RUN

/* Rows between asking memory for a slot, or its mark, and looking at it. */
#define AHEAD 16

/* One data file whose rows are looked up. */
typedef struct data_probe {
    firn_equality_work *work;
    size_t data;
    uint32_t scopes[2]; /* those whose deletes are newer than the file */
    size_t scope_count;
    uint32_t threshold; /* a key of a higher rank deletes the row */
    firn_key_reader reader;
    /* Rank of each entry of the narrow column's dictionary. */
    uint32_t *ranks;
    size_t rank_capacity;
    uint64_t dictionary; /* reader->dictionaries that `ranks` are of */
    uint32_t highest;    /* of the rows found */
    firn_buffer key;
    size_t found_count;
    uint64_t found[BLOCK_ROWS];
    uint64_t hashes[BLOCK_ROWS];
} data_probe;

/* ---- narrow keys ---- */

static uint32_t rank_of(const data_probe *probe, uint64_t key, bool is_null) {
    const firn_key_set *set = probe->work->set;
    uint32_t best = 0;
    for (size_t i = 0; i < probe->scope_count; i++) {
        uint32_t scope = probe->scopes[i] | (is_null ? FIRN_KEY_NULL_SCOPE : 0);
        uint64_t hash = firn_key_narrow_hash(set, key, scope);
        uint32_t rank = firn_key_set_find_narrow(set, hash, key, scope);
        if (rank > best) best = rank;
    }
    return best;
}

static void note(data_probe *probe, uint64_t row, uint32_t rank) {
    if (rank <= probe->threshold) return;
    if (rank > probe->highest) probe->highest = rank;
    probe->found[probe->found_count++] = row;
}

static void ask_for_mark(const firn_key_set *set, uint64_t hash) {
    const firn_key_shard *shard = &set->shards[firn_key_shard_of(hash)];
    if (shard->count != 0) __builtin_prefetch(&shard->marks[firn_key_home(shard, hash)]);
}

static void ask_for_slot(const firn_key_set *set, uint64_t hash) {
    const firn_key_shard *shard = &set->shards[firn_key_shard_of(hash)];
    if (!firn_key_is_marked(shard, hash)) return;
    __builtin_prefetch(&shard->slots[firn_key_home(shard, hash)]);
}

/* For the hashes that come after `at`: a mark first, and then, where it is set, the slot. */
static void look_ahead(const firn_key_set *set, const uint64_t *hashes, size_t at, size_t count) {
    if (at + 2 * AHEAD < count) ask_for_mark(set, hashes[at + 2 * AHEAD]);
    if (at + AHEAD < count) ask_for_slot(set, hashes[at + AHEAD]);
}

/* Raises the ranks of a dictionary's entries to those that they have in one scope. */
static void rank_values(data_probe *probe, const firn_parquet_values *values, size_t count,
                        uint32_t scope) {
    const firn_key_set *set = probe->work->set;
    for (size_t first = 0; first < count; first += BLOCK_ROWS) {
        size_t rows = count - first < BLOCK_ROWS ? count - first : BLOCK_ROWS;
        for (size_t i = 0; i < rows; i++) {
            uint64_t key = firn_key_load(values, (uint32_t)(first + i));
            probe->hashes[i] = firn_key_narrow_hash(set, key, scope);
        }
        for (size_t i = 0; i < rows; i++) {
            look_ahead(set, probe->hashes, i, rows);
            uint64_t key = firn_key_load(values, (uint32_t)(first + i));
            uint32_t rank = firn_key_set_find_narrow(set, probe->hashes[i], key, scope);
            if (rank > probe->ranks[first + i]) probe->ranks[first + i] = rank;
        }
    }
}

static firn_status rank_dictionary(data_probe *probe, firn_error *error) {
    const firn_key_column *column = &probe->reader.columns[0];
    if (probe->ranks != NULL && probe->dictionary == probe->reader.dictionaries) return FIRN_OK;
    size_t count = column->values.count;
    if (count >= probe->rank_capacity) {
        uint32_t *more = firn_realloc_array(probe->ranks, count + 1, sizeof *more);
        if (more == NULL) return firn_fail_memory(error);
        probe->ranks = more;
        probe->rank_capacity = count + 1;
    }
    memset(probe->ranks, 0, count * sizeof *probe->ranks);
    for (size_t i = 0; i < probe->scope_count; i++) {
        rank_values(probe, &column->values, count, probe->scopes[i]);
    }
    probe->dictionary = probe->reader.dictionaries;
    return FIRN_OK;
}

static firn_status probe_dictionary(data_probe *probe, uint64_t first, size_t count,
                                    firn_error *error) {
    const firn_key_column *column = &probe->reader.columns[0];
    FIRN_TRY(rank_dictionary(probe, error));
    uint32_t null_rank = rank_of(probe, 0, true);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = firn_key_value_number(column, column->row + i);
        note(probe, first + i, number == FIRN_KEY_NULL ? null_rank : probe->ranks[number]);
    }
    return FIRN_OK;
}

/* The usual case: no dictionary, no nulls, one scope. */
static void probe_plain(data_probe *probe, uint64_t first, size_t count) {
    const firn_key_set *set = probe->work->set;
    const firn_key_column *column = &probe->reader.columns[0];
    uint32_t scope = probe->scopes[0];
    for (size_t i = 0; i < count; i++) {
        uint64_t key = firn_key_load(&column->values, (uint32_t)(column->row + i));
        probe->hashes[i] = firn_key_narrow_hash(set, key, scope);
    }
    for (size_t i = 0; i < count; i++) {
        look_ahead(set, probe->hashes, i, count);
        uint64_t key = firn_key_load(&column->values, (uint32_t)(column->row + i));
        note(probe, first + i, firn_key_set_find_narrow(set, probe->hashes[i], key, scope));
    }
}

static firn_status probe_narrow(data_probe *probe, uint64_t first, size_t count,
                                firn_error *error) {
    const firn_key_column *column = &probe->reader.columns[0];
    if (column->from_dictionary) return probe_dictionary(probe, first, count, error);
    if (column->index == NULL && probe->scope_count == 1) {
        probe_plain(probe, first, count);
        return FIRN_OK;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = firn_key_value_number(column, column->row + i);
        bool is_null = number == FIRN_KEY_NULL;
        uint64_t key = is_null ? 0 : firn_key_load(&column->values, number);
        note(probe, first + i, rank_of(probe, key, is_null));
    }
    return FIRN_OK;
}

/* ---- wide keys ---- */

static firn_status probe_row(data_probe *probe, uint64_t first, size_t row, firn_error *error) {
    const firn_key_set *set = probe->work->set;
    uint32_t best = 0;
    bool has_key = false;
    for (size_t i = 0; i < probe->scope_count; i++) {
        uint32_t scope = probe->scopes[i];
        uint64_t hash = firn_key_scoped_hash(set, probe->hashes[row], scope);
        if (!firn_key_set_may_have(set, hash)) continue;
        if (!has_key) {
            firn_buffer_clear(&probe->key);
            FIRN_TRY(firn_key_reader_append(&probe->reader, row, &probe->key, error));
            has_key = true;
        }
        uint32_t rank = firn_key_set_find_wide(set, hash, firn_buffer_slice(&probe->key), scope);
        if (rank > best) best = rank;
    }
    note(probe, first + row, best);
    return FIRN_OK;
}

static firn_status probe_wide(data_probe *probe, uint64_t first, size_t count, firn_error *error) {
    const firn_key_set *set = probe->work->set;
    firn_key_reader_hash(&probe->reader, set->seed, count, probe->hashes);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            ask_for_mark(set,
                         firn_key_scoped_hash(set, probe->hashes[i + AHEAD], probe->scopes[0]));
        }
        FIRN_TRY(probe_row(probe, first, i, error));
    }
    return FIRN_OK;
}

/* ---- files ---- */

static firn_status hand_over(data_probe *probe, firn_error *error) {
    if (probe->found_count == 0) return FIRN_OK;
    firn_deletes_origin origin = {FIRN_DELETES_SEVERAL,
                                  probe->work->key->sequence_numbers[probe->highest - 1]};
    firn_status status = firn_deletes_add(probe->work->deletes, probe->data, probe->found,
                                          probe->found_count, origin, error);
    probe->found_count = 0;
    return status;
}

static firn_status probe_row_group(data_probe *probe, size_t row_group, uint64_t first,
                                   firn_error *error) {
    firn_key_reader *reader = &probe->reader;
    FIRN_TRY(firn_key_reader_start(reader, row_group, error));
    for (;;) {
        size_t count = 0;
        FIRN_TRY(firn_key_reader_next(reader, BLOCK_ROWS, &count, error));
        if (count == 0) return FIRN_OK;
        FIRN_TRY(probe->work->set->narrow ? probe_narrow(probe, first, count, error)
                                          : probe_wide(probe, first, count, error));
        FIRN_TRY(hand_over(probe, error));
        firn_key_reader_advance(reader, count);
        first += count;
    }
}

static firn_status probe_rows(data_probe *probe, firn_error *error) {
    firn_deletes_work *work = probe->work->deletes;
    const firn_parquet_file_metadata *metadata = probe->reader.file->metadata;
    uint64_t first = 0;
    for (size_t i = 0; i < metadata->row_group_count; i++) {
        uint64_t end = first + (uint64_t)metadata->row_groups[i].num_rows;
        bool behind = first >= work->end_row && first < end;
        if (behind) firn_deletes_leave(work, first);
        if (!behind && end > work->first_row) FIRN_TRY(probe_row_group(probe, i, first, error));
        first = end;
    }
    firn_deletes_count(probe->work->deletes, 0, 0, probe->reader.bytes_read);
    return FIRN_OK;
}

static int64_t integer_of(const firn_value *value) {
    bool narrow = value->kind == FIRN_TYPE_INT || value->kind == FIRN_TYPE_DATE;
    return narrow ? value->as.int32 : value->as.int64;
}

/* Whether the file's bounds of one column tell that it holds none of the keys. Nulls have no bounds. */
static bool excludes(const firn_data_file *file, const firn_key_range *range,
                     const firn_field *field) {
    firn_slice lower, upper;
    firn_value least, greatest;
    if (!range->known || range->has_null || field == NULL) return false;
    if (!range->any) return true;
    if (!firn_bound_map_get(&file->lower_bounds, field->id, &lower) ||
        !firn_bound_map_get(&file->upper_bounds, field->id, &upper)) {
        return false;
    }
    if (firn_value_from_bytes(field->type, lower, &least, NULL) != FIRN_OK ||
        firn_value_from_bytes(field->type, upper, &greatest, NULL) != FIRN_OK) {
        return false;
    }
    int64_t minimum = integer_of(&least);
    int64_t maximum = integer_of(&greatest);
    if (minimum > maximum) return false;
    return maximum < range->minimum || minimum > range->maximum;
}

static bool has_none_of_the_keys(const firn_equality_work *work, const firn_data_file *file) {
    for (size_t i = 0; i < work->key->output->leaf_count; i++) {
        int32_t id = work->key->output->leaves[i].node->element->field_id;
        if (excludes(file, &work->set->ranges[i], firn_schema_find(work->key->schema, id))) {
            return true;
        }
    }
    return false;
}

static void choose_scopes(data_probe *probe, int64_t sequence_number) {
    const firn_equality_work *work = probe->work;
    uint32_t own = work->data_scopes[probe->data];
    if (work->newest[FIRN_GLOBAL_SCOPE] > sequence_number) {
        probe->scopes[probe->scope_count++] = FIRN_GLOBAL_SCOPE;
    }
    if (own != UINT32_MAX && own != FIRN_GLOBAL_SCOPE && work->newest[own] > sequence_number) {
        probe->scopes[probe->scope_count++] = own;
    }
}

static firn_status probe_data(data_probe *probe, const firn_data_file *file, firn_error *error) {
    const firn_equality_work *work = probe->work;
    const firn_table_metadata *metadata = work->deletes->request->table->metadata;
    firn_data_source *source = NULL;
    firn_status status;
    FIRN_CHECK(firn_deletes_open(work->deletes, file, &source, error));
    FIRN_CHECK(firn_data_source_check_rows(source, metadata, file, error));
    FIRN_CHECK(firn_key_reader_open(
        &probe->reader, work->key, file, firn_table_metadata_spec(metadata, file->spec_id),
        metadata->format_version, firn_data_source_parquet(source), error));
    status = probe_rows(probe, error);
out:
    firn_key_reader_release(&probe->reader);
    firn_data_source_close(source);
    return status;
}

static firn_status probe_file(void *context, size_t index, firn_error *error) {
    firn_equality_work *work = context;
    const firn_manifest_entry *entry = firn_deletes_data(work->deletes, index);
    data_probe *probe = firn_alloc_zeroed(1, sizeof *probe);
    if (probe == NULL) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    probe->work = work;
    probe->data = index;
    probe->threshold = firn_equality_rank(work->key, entry->sequence_number);
    probe->key = firn_buffer_with_maximum(SIZE_MAX);
    choose_scopes(probe, entry->sequence_number);
    if (probe->scope_count > 0 && !has_none_of_the_keys(work, &entry->file)) {
        status = probe_data(probe, &entry->file, error);
    }
    firn_buffer_release(&probe->key);
    firn_free(probe->ranks);
    firn_free(probe);
    return status;
}

firn_status firn_equality_probe(firn_equality_work *work, firn_error *error) {
    const firn_deletes_request *request = work->deletes->request;
    if (work->set->memory == 0) return FIRN_OK; /* no keys */
    return firn_pool_each(request->pool, request->data_count, probe_file, work, error);
}
