#include "data/equality_deletes.h"

#include <stdlib.h>

#include "base/alloc.h"

#define LEAST_LIMIT ((size_t)64 << 10)

/* All equality deletes that may matter, put in order. */
typedef struct plan {
    firn_deletes_work *work;
    FIRN_VECTOR(size_t) deletes; /* those that may apply to a data file of the request */
    firn_map *scope_numbers;     /* spec id and tuple → scope number */
    uint32_t *scopes;            /* of each delete file of the snapshot */
    uint32_t *data_scopes;       /* of each data file of the request */
    int64_t *oldest;             /* least sequence number of the data files, per scope */
    size_t scope_count;
    firn_map *keys; /* equality ids → firn_equality_key, in the work's arena */
} plan;

/* ---- scopes ---- */

static firn_status scope_key(const firn_data_file *file, firn_buffer *key, firn_error *error) {
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &file->spec_id, sizeof file->spec_id, error));
    return firn_value_key(file->partition, file->partition_count, key, error);
}

static bool is_global(const plan *p, const firn_data_file *file) {
    const firn_partition_spec *spec =
        firn_table_metadata_spec(p->work->request->table->metadata, file->spec_id);
    return spec == NULL ? file->partition_count == 0 : firn_partition_spec_is_unpartitioned(spec);
}

static firn_status number_scope(plan *p, size_t number, firn_buffer *key, firn_error *error) {
    const firn_data_file *file = &firn_deletes_delete(p->work, number)->file;
    if (is_global(p, file)) {
        p->scopes[number] = FIRN_GLOBAL_SCOPE;
        return FIRN_OK;
    }
    FIRN_TRY(scope_key(file, key, error));
    uintptr_t known = (uintptr_t)firn_map_get(p->scope_numbers, firn_buffer_slice(key), NULL);
    if (known == 0) {
        known = p->scope_count++;
        FIRN_TRY(firn_map_set(p->scope_numbers, firn_buffer_slice(key), (void *)known, error));
    }
    p->scopes[number] = (uint32_t)known;
    return FIRN_OK;
}

static firn_status number_data(plan *p, size_t data, firn_buffer *key, firn_error *error) {
    const firn_manifest_entry *entry = firn_deletes_data(p->work, data);
    FIRN_TRY(scope_key(&entry->file, key, error));
    uintptr_t known = (uintptr_t)firn_map_get(p->scope_numbers, firn_buffer_slice(key), NULL);
    p->data_scopes[data] = known == 0 ? UINT32_MAX : (uint32_t)known;
    int64_t sequence_number = entry->sequence_number;
    if (sequence_number < p->oldest[FIRN_GLOBAL_SCOPE]) {
        p->oldest[FIRN_GLOBAL_SCOPE] = sequence_number;
    }
    if (known != 0 && sequence_number < p->oldest[known]) p->oldest[known] = sequence_number;
    return FIRN_OK;
}

static firn_status number_scopes(plan *p, firn_buffer *key, firn_error *error) {
    const firn_live_files *files = p->work->request->files;
    size_t data_count = p->work->request->data_count;
    p->scope_count = 1;
    p->scope_numbers = firn_map_new();
    p->scopes = firn_arena_alloc(p->work->arena, files->delete_count + 1, sizeof *p->scopes);
    p->data_scopes = firn_arena_alloc(p->work->arena, data_count + 1, sizeof *p->data_scopes);
    if (p->scope_numbers == NULL || p->scopes == NULL || p->data_scopes == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        if (files->deletes[i].entry.file.content != FIRN_CONTENT_EQUALITY_DELETES) continue;
        FIRN_TRY(number_scope(p, i, key, error));
    }
    p->oldest = firn_arena_alloc(p->work->arena, p->scope_count, sizeof *p->oldest);
    if (p->oldest == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < p->scope_count; i++) p->oldest[i] = INT64_MAX;
    for (size_t i = 0; i < data_count; i++) FIRN_TRY(number_data(p, i, key, error));
    return FIRN_OK;
}

/* ---- keys ---- */

static int by_id(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left;
    int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* The equality ids of a delete file, ascending, each once. */
static firn_status sorted_ids(const plan *p, const firn_data_file *file, int32_t **out,
                              size_t *count, firn_error *error) {
    if (file->equality_id_count == 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: an equality delete file without equality_ids",
                         file->path);
    }
    int32_t *ids = firn_arena_memdup(p->work->arena, file->equality_ids,
                                     file->equality_id_count * sizeof *ids);
    if (ids == NULL) return firn_fail_memory(error);
    qsort(ids, file->equality_id_count, sizeof *ids, by_id);
    *count = 0;
    for (size_t i = 0; i < file->equality_id_count; i++) {
        if (*count == 0 || ids[*count - 1] != ids[i]) ids[(*count)++] = ids[i];
    }
    *out = ids;
    return FIRN_OK;
}

static firn_status add_to_key(plan *p, size_t number, firn_error *error) {
    const firn_data_file *file = &firn_deletes_delete(p->work, number)->file;
    int32_t *ids = NULL;
    size_t count = 0;
    FIRN_TRY(sorted_ids(p, file, &ids, &count, error));
    firn_slice bytes = firn_slice_of(ids, count * sizeof *ids);
    firn_equality_key *key = firn_map_get(p->keys, bytes, NULL);
    if (key == NULL) {
        key = firn_arena_alloc(p->work->arena, 1, sizeof *key);
        if (key == NULL) return firn_fail_memory(error);
        key->ids = ids;
        key->id_count = count;
        FIRN_TRY(firn_map_set(p->keys, bytes, key, error));
        firn_status status =
            firn_equality_key_schema(p->work->request->table->metadata, p->work->arena, key, error);
        if (status != FIRN_OK) return firn_error_wrap(error, status, "%s", file->path);
    }
    return firn_vector_push(&key->deletes, error, number);
}

static int by_value(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static firn_status number_sequences(const plan *p, firn_equality_key *key, firn_error *error) {
    size_t count = key->deletes.count;
    int64_t *numbers = firn_arena_alloc(p->work->arena, count, sizeof *numbers);
    if (numbers == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = firn_deletes_delete(p->work, key->deletes.items[i])->sequence_number;
    }
    qsort(numbers, count, sizeof *numbers, by_value);
    key->sequence_numbers = numbers;
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || numbers[i] != key->sequence_numbers[key->sequence_number_count - 1];
        if (first) key->sequence_numbers[key->sequence_number_count++] = numbers[i];
    }
    return FIRN_OK;
}

/* Delete files newer than some data file in their reach, by key. */
static firn_status choose_deletes(plan *p, firn_error *error) {
    const firn_live_files *files = p->work->request->files;
    p->keys = firn_map_new();
    if (p->keys == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->delete_count; i++) {
        const firn_manifest_entry *entry = &files->deletes[i].entry;
        if (entry->file.content != FIRN_CONTENT_EQUALITY_DELETES) continue;
        if (entry->sequence_number <= p->oldest[p->scopes[i]]) continue;
        p->work->out->used[i] = true;
        FIRN_TRY(add_to_key(p, i, error));
    }
    for (size_t i = 0; i < firn_map_count(p->keys); i++) {
        FIRN_TRY(number_sequences(p, firn_map_value_at(p->keys, i), error));
    }
    return FIRN_OK;
}

/* ---- one key after the other ---- */

static firn_status set_newest(const plan *p, firn_equality_work *work, firn_error *error) {
    int64_t *newest = firn_arena_alloc(p->work->arena, p->scope_count, sizeof *newest);
    if (newest == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < p->scope_count; i++) newest[i] = -1;
    for (size_t i = 0; i < work->key->deletes.count; i++) {
        size_t number = work->key->deletes.items[i];
        int64_t sequence_number = firn_deletes_delete(p->work, number)->sequence_number;
        int64_t *of_scope = &newest[p->scopes[number]];
        if (sequence_number > *of_scope) *of_scope = sequence_number;
    }
    work->newest = newest;
    return FIRN_OK;
}

/* As many shards as fit make a pass. */
static firn_status run_passes(firn_equality_work *work, firn_error *error) {
    firn_key_set *set = work->set;
    for (size_t shard = 0; shard < FIRN_KEY_SHARDS;) {
        firn_key_set_clear(set);
        size_t expected = 0;
        do {
            expected += firn_key_set_expected(set, shard);
            FIRN_TRY(firn_key_set_load(set, shard, error));
            shard++;
        } while (shard < FIRN_KEY_SHARDS &&
                 expected + firn_key_set_expected(set, shard) <= set->limit);
        FIRN_TRY(firn_equality_probe(work, error));
    }
    return FIRN_OK;
}

static size_t set_limit(const firn_deletes_request *request) {
    int64_t memory =
        request->memory_bytes > 0 ? request->memory_bytes : FIRN_DELETES_DEFAULT_MEMORY;
    /* The rest is for the positions found. */
    size_t limit = (size_t)memory / 2;
    return limit < LEAST_LIMIT ? LEAST_LIMIT : limit;
}

static firn_status resolve_key(const plan *p, firn_equality_key *key, firn_error *error) {
    firn_key_set *set = firn_alloc_zeroed(1, sizeof *set);
    if (set == NULL) return firn_fail_memory(error);
    firn_equality_work work = {.deletes = p->work,
                               .key = key,
                               .set = set,
                               .scopes = p->scopes,
                               .data_scopes = p->data_scopes};
    firn_status status = firn_key_set_init(set, key, set_limit(p->work->request), error);
    if (status == FIRN_OK) status = set_newest(p, &work, error);
    if (status == FIRN_OK) status = firn_equality_load(&work, error);
    if (status == FIRN_OK) {
        status = set->spilling ? run_passes(&work, error) : firn_equality_probe(&work, error);
    }
    firn_key_set_release(set);
    firn_free(set);
    return firn_error_wrap(error, status, "equality deletes by %s", key->name);
}

firn_status firn_deletes_read_equality(firn_deletes_work *work, firn_error *error) {
    plan p = {.work = work};
    firn_buffer key = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status;
    FIRN_CHECK(number_scopes(&p, &key, error));
    FIRN_CHECK(choose_deletes(&p, error));
    for (size_t i = 0; i < firn_map_count(p.keys); i++) {
        FIRN_CHECK(resolve_key(&p, firn_map_value_at(p.keys, i), error));
    }
out:
    for (size_t i = 0; p.keys != NULL && i < firn_map_count(p.keys); i++) {
        firn_equality_key *of = firn_map_value_at(p.keys, i);
        firn_vector_release(&of->deletes);
    }
    firn_map_free(p.keys);
    firn_map_free(p.scope_numbers);
    firn_buffer_release(&key);
    return status;
}
