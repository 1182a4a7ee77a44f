#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/location.h"
#include "base/map.h"
#include "data/deletes_internal.h"
#include "puffin/deletion_vector.h"
#include "puffin/puffin.h"

/* A vector is told from others by its file, offset and length ("Deletion Vectors"): many may lie in one file. */

/* Vectors of one Puffin file: a run of the sorted list. */
typedef struct puffin_run {
    const firn_deletes_vector *vectors;
    size_t count;
} puffin_run;

typedef struct vector_task {
    firn_deletes_work *work;
    const puffin_run *runs;
} vector_task;

/* An open Puffin file. */
typedef struct open_puffin {
    firn_storage_file *file;
    firn_read_at source;
    firn_arena *arena;
    firn_puffin_footer footer;
    firn_map *blobs; /* by offset */
} open_puffin;

static void release(open_puffin *puffin) {
    firn_map_free(puffin->blobs);
    if (puffin->file != NULL) firn_storage_close(puffin->file);
    firn_arena_free(puffin->arena);
}

static firn_status open(firn_deletes_work *work, const firn_data_file *vector, open_puffin *puffin,
                        firn_error *error) {
    if (vector->key_metadata.data != NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: the file is encrypted (key_metadata)",
                         vector->path);
    }
    puffin->arena = firn_arena_new();
    puffin->blobs = firn_map_new();
    if (puffin->arena == NULL || puffin->blobs == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_storage_open(work->request->table->storage, vector->path, &puffin->file, error));
    puffin->source = *firn_storage_file_source(puffin->file);
    FIRN_TRY(firn_puffin_footer_read(&puffin->source, puffin->arena, &puffin->footer, error));
    for (size_t i = 0; i < puffin->footer.blob_count; i++) {
        const firn_puffin_blob *blob = &puffin->footer.blobs[i];
        FIRN_TRY(firn_map_set_int(puffin->blobs, blob->offset, (void *)blob, error));
    }
    return FIRN_OK;
}

static firn_status differs(const firn_data_file *vector, firn_error *error, const char *what) {
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: the deletion vector at byte %" PRId64
                     " for %s: %s; the manifest and the file contradict each other",
                     vector->path, vector->content_offset, vector->referenced_data_file, what);
}

static const char *text_property(const firn_puffin_blob *blob, const char *key) {
    if (blob->properties == NULL) return NULL;
    return json_string_value(json_object_get(blob->properties, key));
}

static firn_status same_file(const char *a, const char *b, bool *same, firn_error *error) {
    char *left = firn_location_key(a);
    char *right = firn_location_key(b);
    *same = left != NULL && right != NULL && strcmp(left, right) == 0;
    firn_status status = left == NULL || right == NULL ? firn_fail_memory(error) : FIRN_OK;
    firn_free(left);
    firn_free(right);
    return status;
}

/* What the footer says of the blob against what the manifest says. */
static firn_status check_blob(const open_puffin *puffin, const firn_data_file *vector,
                              firn_error *error) {
    const firn_puffin_blob *blob = firn_map_get_int(puffin->blobs, vector->content_offset);
    if (blob == NULL) return differs(vector, error, "the Puffin file lists no blob there");
    if (blob->length != vector->content_size_in_bytes) {
        return differs(vector, error, "the lengths are not the same");
    }
    if (strcmp(blob->type, FIRN_DELETION_VECTOR_TYPE) != 0) {
        return differs(vector, error, "the blob is of another type");
    }
    if (blob->compression_codec != NULL) return differs(vector, error, "the blob is compressed");
    const char *referenced = text_property(blob, "referenced-data-file");
    bool same = true;
    if (referenced != NULL) {
        FIRN_TRY(same_file(referenced, vector->referenced_data_file, &same, error));
    }
    return same ? FIRN_OK : differs(vector, error, "the blob names another data file");
}

/* The footer was checked against the file's size, and the length against the footer. */
static firn_status read_blob(const open_puffin *puffin, const firn_data_file *vector,
                             firn_roaring_part *part, firn_roaring **out, firn_error *error) {
    FIRN_TRY(check_blob(puffin, vector, error));
    FIRN_TRY(firn_deletion_vector_read_part(&puffin->source, (uint64_t)vector->content_offset,
                                            (size_t)vector->content_size_in_bytes, part, out,
                                            error));
    if (part->count == (uint64_t)vector->record_count) return FIRN_OK;
    firn_roaring_free(*out);
    *out = NULL;
    return differs(vector, error, "the number of positions is not the record count");
}

static firn_status read_vector(firn_deletes_work *work, const open_puffin *puffin,
                               const firn_deletes_vector *vector, firn_error *error) {
    const firn_manifest_entry *entry = firn_deletes_delete(work, vector->number);
    if (!entry->file.has_content_offset) {
        return firn_fail(error, FIRN_CORRUPT,
                         "%s: a deletion vector without content_offset in its manifest",
                         entry->file.path);
    }
    firn_roaring *positions = NULL;
    firn_roaring_part part = {.first = work->first_row, .end = work->end_row};
    FIRN_TRY(read_blob(puffin, &entry->file, &part, &positions, error));
    FIRN_TRY(firn_deletes_add_set(work, vector->data, positions, &part,
                                  (firn_deletes_origin){vector->number, entry->sequence_number},
                                  error));
    firn_deletes_count(work, 1, entry->file.content_size_in_bytes, 0);
    return FIRN_OK;
}

static firn_status read_run(void *context, size_t index, firn_error *error) {
    const vector_task *task = context;
    const puffin_run *run = &task->runs[index];
    const firn_data_file *first = &firn_deletes_delete(task->work, run->vectors[0].number)->file;
    open_puffin puffin = {0};
    firn_status status;
    FIRN_CHECK(open(task->work, first, &puffin, error));
    for (size_t i = 0; i < run->count; i++) {
        FIRN_CHECK(read_vector(task->work, &puffin, &run->vectors[i], error));
    }
out:
    release(&puffin);
    return status;
}

/* A vector with the name of its file, for sorting. */
typedef struct named_vector {
    const char *path;
    firn_deletes_vector vector;
} named_vector;

static int by_path(const void *left, const void *right) {
    const named_vector *a = left;
    const named_vector *b = right;
    int order = strcmp(a->path, b->path);
    if (order != 0) return order;
    return (a->vector.data > b->vector.data) - (a->vector.data < b->vector.data);
}

/* Puts vectors of one file next to each other; *runs are in the work's arena. */
static firn_status group(firn_deletes_work *work, firn_deletes_vector *vectors, size_t count,
                         puffin_run **runs, size_t *run_count, firn_error *error) {
    named_vector *named = firn_alloc_array(count, sizeof *named);
    *runs = firn_arena_alloc(work->arena, count, sizeof **runs);
    *run_count = 0;
    if (named == NULL || *runs == NULL) {
        firn_free(named);
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        named[i] =
            (named_vector){firn_deletes_delete(work, vectors[i].number)->file.path, vectors[i]};
    }
    qsort(named, count, sizeof *named, by_path);
    for (size_t i = 0; i < count; i++) {
        vectors[i] = named[i].vector;
        bool starts = i == 0 || strcmp(named[i].path, named[i - 1].path) != 0;
        if (starts) (*runs)[(*run_count)++] = (puffin_run){&vectors[i], 0};
        (*runs)[*run_count - 1].count++;
    }
    firn_free(named);
    return FIRN_OK;
}

firn_status firn_deletes_read_vectors(firn_deletes_work *work, firn_deletes_vector *vectors,
                                      size_t count, firn_error *error) {
    if (count == 0) return FIRN_OK;
    puffin_run *runs = NULL;
    size_t run_count = 0;
    FIRN_TRY(group(work, vectors, count, &runs, &run_count, error));
    vector_task task = {work, runs};
    return firn_pool_each(work->request->pool, run_count, read_run, &task, error);
}
