#include "iceberg/delete_index.h"

#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/location.h"
#include "base/map.h"
#include "base/vector.h"

/* Reserved field id of the column file_path of position delete files ("Reserved Field IDs"). */
#define FILE_PATH_ID 2147483546
/* Bounds are cut to this many characters unless a table asks for more (write.metadata.metrics.default). */
#define USUAL_BOUND_LENGTH 16

/* ---- what one delete file says about itself ---- */

static bool has_zero(firn_slice text) {
    return text.size != 0 && memchr(text.data, 0, text.size) != NULL;
}

static size_t characters(firn_slice text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) count += (text.data[i] & 0xC0) != 0x80;
    return count;
}

static bool has_data_file_ending(firn_slice path) {
    static const char *const endings[] = {".parquet", ".avro", ".orc"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        if (path.size > length &&
            strncasecmp((const char *)path.data + path.size - length, endings[i], length) == 0) {
            return true;
        }
    }
    return false;
}

static bool path_bounds(const firn_data_file *file, firn_slice *lower, firn_slice *upper) {
    return firn_bound_map_get(&file->lower_bounds, FILE_PATH_ID, lower) &&
           firn_bound_map_get(&file->upper_bounds, FILE_PATH_ID, upper);
}

/*
 * A cut upper bound is rounded up, so equal bounds are whole; but some writers cut both and round neither. Where that may have
 * happened the file is taken to hold several paths: reading it tells.
 */
bool firn_delete_single_file(const firn_data_file *deletes, firn_slice *path) {
    if (deletes->content != FIRN_CONTENT_POSITION_DELETES) return false;
    if (deletes->referenced_data_file != NULL) {
        *path = firn_slice_text(deletes->referenced_data_file);
        return true;
    }
    firn_slice lower, upper;
    if (!path_bounds(deletes, &lower, &upper) || !firn_slice_equal(lower, upper)) return false;
    if (has_zero(lower) || characters(lower) <= USUAL_BOUND_LENGTH) return false;
    *path = lower;
    return has_data_file_ending(lower);
}

/* ---- locations ---- */

/* A key for a path; owned. */
static firn_status location_key(firn_slice path, char **out, firn_error *error) {
    char *text = firn_strndup((const char *)path.data, path.size);
    if (text == NULL) return firn_fail_memory(error);
    *out = firn_location_key(text);
    firn_free(text);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* Out of memory counts as "may be the same". */
static bool same_location(firn_slice recorded, const char *path) {
    if (firn_slice_equal(recorded, firn_slice_text(path))) return true;
    char *key = NULL;
    if (location_key(recorded, &key, NULL) != FIRN_OK) return true;
    char *other = firn_location_key(path);
    bool same = other == NULL || strcmp(key, other) == 0;
    firn_free(other);
    firn_free(key);
    return same;
}

/* Where the part behind the scheme begins: "s3://" 5, "file:/x" 5, "/x" 0. */
static size_t scheme_length(firn_slice path) {
    for (size_t i = 0; i < path.size; i++) {
        if (path.data[i] == '/') return 0;
        if (path.data[i] != ':') continue;
        size_t end = i + 1;
        if (end + 1 < path.size && path.data[end] == '/' && path.data[end + 1] == '/') end += 2;
        return end;
    }
    return 0;
}

/* Whether another spelling of the same location differs in nothing but its scheme: then text order is location order. */
static bool is_plain(firn_slice path, size_t scheme) {
    for (size_t i = scheme; i + 1 < path.size; i++) {
        if (path.data[i] != '/') continue;
        if (path.data[i + 1] == '/' || path.data[i + 1] == '.') return i == scheme;
    }
    return true;
}

static bool comparable(firn_slice bound, firn_slice path) {
    size_t scheme = scheme_length(path);
    return scheme_length(bound) == scheme && bound.size >= scheme &&
           memcmp(bound.data, path.data, scheme) == 0 && is_plain(bound, scheme) &&
           is_plain(path, scheme);
}

/* An upper bound that is a prefix of the path has been cut without rounding up: it says nothing. */
static bool is_prefix(firn_slice prefix, firn_slice path) {
    return prefix.size <= path.size && memcmp(prefix.data, path.data, prefix.size) == 0;
}

/* Whether the bounds of file_path leave it open that the path occurs. Inverted ones say nothing. */
static bool within_bounds(const firn_data_file *deletes, const char *data_path) {
    firn_slice lower, upper;
    firn_slice path = firn_slice_text(data_path);
    if (!path_bounds(deletes, &lower, &upper) || lower.size == 0 || upper.size == 0) return true;
    if (firn_slice_compare(lower, upper) > 0) return true;
    if (!comparable(lower, path) || !comparable(upper, path)) return true;
    if (firn_slice_compare(lower, path) > 0) return false;
    return firn_slice_compare(path, upper) <= 0 || is_prefix(upper, path);
}

/* ---- the rule for one pair ---- */

static bool is_global(const firn_table_metadata *metadata, const firn_data_file *deletes) {
    const firn_partition_spec *spec = firn_table_metadata_spec(metadata, deletes->spec_id);
    return spec == NULL ? deletes->partition_count == 0
                        : firn_partition_spec_is_unpartitioned(spec);
}

static bool same_partition(const firn_data_file *a, const firn_data_file *b) {
    if (a->spec_id != b->spec_id || a->partition_count != b->partition_count) return false;
    for (size_t i = 0; i < a->partition_count; i++) {
        if (!firn_value_equal(&a->partition[i], &b->partition[i])) return false;
    }
    return true;
}

bool firn_delete_may_apply(const firn_table_metadata *metadata, const firn_manifest_entry *deletes,
                           const firn_manifest_entry *data) {
    const firn_data_file *file = &deletes->file;
    if (file->content == FIRN_CONTENT_EQUALITY_DELETES) {
        return data->sequence_number < deletes->sequence_number &&
               (is_global(metadata, file) || same_partition(file, &data->file));
    }
    if (file->content != FIRN_CONTENT_POSITION_DELETES) return false;
    if (data->sequence_number > deletes->sequence_number) return false;
    if (!same_partition(file, &data->file)) return false;
    firn_slice path;
    if (firn_delete_single_file(file, &path)) return same_location(path, data->file.path);
    return !firn_data_file_is_vector(file) && within_bounds(file, data->file.path);
}

/* ---- the index ---- */

/* Numbers of delete files; sorted by sequence number once the index is built. */
typedef FIRN_VECTOR(size_t) number_list;

/* Delete files of one spec id and tuple. */
typedef struct bucket {
    number_list equality, positions; /* positions: those that are not for one file */
} bucket;

/* Position deletes and vectors for one data file. */
typedef struct file_bucket {
    number_list positions, vectors;
} file_bucket;

struct firn_delete_index {
    const firn_table_metadata *metadata;
    const firn_manifest_entry *const *deletes;
    number_list global;
    firn_map *partitions; /* spec id and tuple → bucket */
    firn_map *files;      /* key of the location → file_bucket */
};

static firn_status partition_key(const firn_data_file *file, firn_buffer *key, firn_error *error) {
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &file->spec_id, sizeof file->spec_id, error));
    return firn_value_key(file->partition, file->partition_count, key, error);
}

/* The map's value for a key, made (zeroed) where there is none. */
static firn_status value_of(firn_map *map, firn_slice key, size_t size, void **out,
                            firn_error *error) {
    *out = firn_map_get(map, key, NULL);
    if (*out != NULL) return FIRN_OK;
    *out = firn_alloc_zeroed(1, size);
    if (*out == NULL) return firn_fail_memory(error);
    firn_status status = firn_map_set(map, key, *out, error);
    if (status != FIRN_OK) {
        firn_free(*out);
        *out = NULL;
    }
    return status;
}

static firn_status add_to_partition(firn_delete_index *index, size_t number, firn_buffer *key,
                                    firn_error *error) {
    const firn_data_file *file = &index->deletes[number]->file;
    void *found = NULL;
    FIRN_TRY(partition_key(file, key, error));
    FIRN_TRY(value_of(index->partitions, firn_buffer_slice(key), sizeof(bucket), &found, error));
    bucket *partition = found;
    return file->content == FIRN_CONTENT_EQUALITY_DELETES
               ? firn_vector_push(&partition->equality, error, number)
               : firn_vector_push(&partition->positions, error, number);
}

static firn_status add_to_file(firn_delete_index *index, size_t number, firn_slice path,
                               firn_error *error) {
    char *key = NULL;
    FIRN_TRY(location_key(path, &key, error));
    void *found = NULL;
    firn_status status;
    FIRN_CHECK(value_of(index->files, firn_slice_text(key), sizeof(file_bucket), &found, error));
    file_bucket *file = found;
    status = firn_data_file_is_vector(&index->deletes[number]->file)
                 ? firn_vector_push(&file->vectors, error, number)
                 : firn_vector_push(&file->positions, error, number);
out:
    firn_free(key);
    return status;
}

static firn_status add(firn_delete_index *index, size_t number, firn_buffer *key,
                       firn_error *error) {
    const firn_data_file *file = &index->deletes[number]->file;
    if (file->content == FIRN_CONTENT_DATA) {
        return firn_fail(error, FIRN_INVALID, "%s: a data file among delete files", file->path);
    }
    firn_slice path;
    if (firn_delete_single_file(file, &path)) return add_to_file(index, number, path, error);
    if (firn_data_file_is_vector(file)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: a deletion vector without referenced_data_file",
                         file->path);
    }
    if (file->content == FIRN_CONTENT_EQUALITY_DELETES && is_global(index->metadata, file)) {
        return firn_vector_push(&index->global, error, number);
    }
    return add_to_partition(index, number, key, error);
}

/* qsort has no context: sequence numbers travel with the numbers. */
typedef struct sort_item {
    int64_t sequence_number;
    size_t number;
} sort_item;

static int by_sequence(const void *left, const void *right) {
    const sort_item *a = left;
    const sort_item *b = right;
    if (a->sequence_number != b->sequence_number) {
        return a->sequence_number < b->sequence_number ? -1 : 1;
    }
    return (a->number > b->number) - (a->number < b->number);
}

static firn_status sort(const firn_delete_index *index, number_list *list, firn_error *error) {
    if (list->count < 2) return FIRN_OK;
    sort_item *items = firn_alloc_array(list->count, sizeof *items);
    if (items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < list->count; i++) {
        items[i] = (sort_item){index->deletes[list->items[i]]->sequence_number, list->items[i]};
    }
    qsort(items, list->count, sizeof *items, by_sequence);
    for (size_t i = 0; i < list->count; i++) list->items[i] = items[i].number;
    firn_free(items);
    return FIRN_OK;
}

static firn_status sort_all(firn_delete_index *index, firn_error *error) {
    FIRN_TRY(sort(index, &index->global, error));
    for (size_t i = 0; i < firn_map_count(index->partitions); i++) {
        bucket *partition = firn_map_value_at(index->partitions, i);
        FIRN_TRY(sort(index, &partition->equality, error));
        FIRN_TRY(sort(index, &partition->positions, error));
    }
    for (size_t i = 0; i < firn_map_count(index->files); i++) {
        file_bucket *file = firn_map_value_at(index->files, i);
        FIRN_TRY(sort(index, &file->positions, error));
        FIRN_TRY(sort(index, &file->vectors, error));
    }
    return FIRN_OK;
}

firn_status firn_delete_index_new(const firn_table_metadata *metadata,
                                  const firn_manifest_entry *const *deletes, size_t count,
                                  firn_delete_index **out, firn_error *error) {
    *out = NULL;
    firn_buffer key = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status;
    firn_delete_index *index = firn_alloc_zeroed(1, sizeof *index);
    if (index == NULL) return firn_fail_memory(error);
    *index = (firn_delete_index){.metadata = metadata,
                                 .deletes = deletes,
                                 .partitions = firn_map_new(),
                                 .files = firn_map_new()};
    if (index->partitions == NULL || index->files == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < count; i++) FIRN_CHECK(add(index, i, &key, error));
    status = sort_all(index, error);
out:
    firn_buffer_release(&key);
    if (status == FIRN_OK) {
        *out = index;
    } else {
        firn_delete_index_free(index);
    }
    return status;
}

void firn_delete_index_free(firn_delete_index *index) {
    if (index == NULL) return;
    for (size_t i = 0; index->partitions != NULL && i < firn_map_count(index->partitions); i++) {
        bucket *partition = firn_map_value_at(index->partitions, i);
        firn_vector_release(&partition->equality);
        firn_vector_release(&partition->positions);
        firn_free(partition);
    }
    for (size_t i = 0; index->files != NULL && i < firn_map_count(index->files); i++) {
        file_bucket *file = firn_map_value_at(index->files, i);
        firn_vector_release(&file->positions);
        firn_vector_release(&file->vectors);
        firn_free(file);
    }
    if (index->partitions != NULL) firn_map_free(index->partitions);
    if (index->files != NULL) firn_map_free(index->files);
    firn_vector_release(&index->global);
    firn_free(index);
}

/* ---- looking up ---- */

/* The delete files that apply to `data`, while they are gathered. */
typedef struct search {
    const firn_delete_index *index;
    const firn_manifest_entry *data;
    number_list found;
} search;

/* First place in the list whose sequence number is at least `least`. */
static size_t first_at_least(const firn_delete_index *index, const number_list *list,
                             int64_t least) {
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->deletes[list->items[middle]]->sequence_number < least) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static firn_status take_equality(search *find, const number_list *list, firn_error *error) {
    /* Strictly newer; no sequence number is above the greatest. */
    if (find->data->sequence_number == INT64_MAX) return FIRN_OK;
    size_t first = first_at_least(find->index, list, find->data->sequence_number + 1);
    for (size_t i = first; i < list->count; i++) {
        FIRN_TRY(firn_vector_push(&find->found, error, list->items[i]));
    }
    return FIRN_OK;
}

/* Position deletes that may hold rows of several files: the tuple is the bucket's. */
static firn_status take_positions(search *find, const number_list *list, firn_error *error) {
    size_t first = first_at_least(find->index, list, find->data->sequence_number);
    for (size_t i = first; i < list->count; i++) {
        const firn_data_file *file = &find->index->deletes[list->items[i]]->file;
        if (!within_bounds(file, find->data->file.path)) continue;
        FIRN_TRY(firn_vector_push(&find->found, error, list->items[i]));
    }
    return FIRN_OK;
}

/* Deletes for this one file: the tuple is still to be compared. */
static firn_status take_own(search *find, const number_list *list, firn_error *error) {
    size_t first = first_at_least(find->index, list, find->data->sequence_number);
    for (size_t i = first; i < list->count; i++) {
        const firn_data_file *file = &find->index->deletes[list->items[i]]->file;
        if (!same_partition(file, &find->data->file)) continue;
        FIRN_TRY(firn_vector_push(&find->found, error, list->items[i]));
    }
    return FIRN_OK;
}

static firn_status take_vector(search *find, const file_bucket *own, bool *applies,
                               firn_error *error) {
    size_t before = find->found.count;
    FIRN_TRY(take_own(find, &own->vectors, error));
    *applies = find->found.count > before;
    if (find->found.count <= before + 1) return FIRN_OK;
    const firn_data_file *first = &find->index->deletes[find->found.items[before]]->file;
    const firn_data_file *second = &find->index->deletes[find->found.items[before + 1]]->file;
    return firn_fail(error, FIRN_CORRUPT,
                     "data file %s has two deletion vectors, in %s at %lld and in %s at %lld; at "
                     "most one is allowed",
                     find->data->file.path, first->path, (long long)first->content_offset,
                     second->path, (long long)second->content_offset);
}

static firn_status gather(search *find, const bucket *partition, const file_bucket *own,
                          firn_error *error) {
    FIRN_TRY(take_equality(find, &find->index->global, error));
    if (partition != NULL) FIRN_TRY(take_equality(find, &partition->equality, error));
    bool vector = false;
    if (own != NULL) FIRN_TRY(take_vector(find, own, &vector, error));
    /* A vector holds all position deletes of its file ("Deletion Vectors"). */
    if (vector) return FIRN_OK;
    if (own != NULL) FIRN_TRY(take_own(find, &own->positions, error));
    return partition == NULL ? FIRN_OK : take_positions(find, &partition->positions, error);
}

static int by_number(const void *left, const void *right) {
    size_t a = *(const size_t *)left;
    size_t b = *(const size_t *)right;
    return (a > b) - (a < b);
}

static firn_status own_bucket(const firn_delete_index *index, const char *path, file_bucket **out,
                              firn_error *error) {
    *out = NULL;
    if (firn_map_count(index->files) == 0) return FIRN_OK;
    char *key = firn_location_key(path);
    if (key == NULL) return firn_fail_memory(error);
    *out = firn_map_get_text(index->files, key);
    firn_free(key);
    return FIRN_OK;
}

firn_status firn_delete_index_find(const firn_delete_index *index, const firn_manifest_entry *data,
                                   firn_arena *arena, const size_t **out, size_t *count,
                                   firn_error *error) {
    *out = NULL;
    *count = 0;
    search find = {.index = index, .data = data};
    firn_buffer key = firn_buffer_with_maximum(SIZE_MAX);
    file_bucket *own = NULL;
    firn_status status;
    FIRN_CHECK(partition_key(&data->file, &key, error));
    FIRN_CHECK(own_bucket(index, data->file.path, &own, error));
    FIRN_CHECK(
        gather(&find, firn_map_get(index->partitions, firn_buffer_slice(&key), NULL), own, error));
    if (find.found.count == 0) goto out;
    qsort(find.found.items, find.found.count, sizeof *find.found.items, by_number);
    *out = firn_arena_memdup(arena, find.found.items, find.found.count * sizeof *find.found.items);
    *count = *out == NULL ? 0 : find.found.count;
    if (*out == NULL) status = firn_fail_memory(error);
out:
    firn_buffer_release(&key);
    firn_vector_release(&find.found);
    return status;
}
