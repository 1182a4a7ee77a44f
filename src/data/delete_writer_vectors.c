#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "data/delete_writer_internal.h"
#include "puffin/deletion_vector.h"
#include "puffin/puffin.h"

#define CREATED_BY "firn version 0.1.0"

/* A Puffin file while vectors are added to it: its entries are those from `first` on. */
typedef struct puffin_output {
    firn_delete_writer *writer;
    firn_puffin_writer *puffin;
    size_t first;
    const char *location;
} puffin_output;

static firn_status blob_properties(const firn_deleted_rows *item, json_t **out, firn_error *error) {
    char cardinality[24];
    snprintf(cardinality, sizeof cardinality, "%" PRIu64, firn_deleted_rows_count(item));
    *out = json_object();
    if (*out == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_json_set_text(*out, "referenced-data-file", item->data->path, error));
    return firn_json_set_text(*out, "cardinality", cardinality, error);
}

static firn_status add_entry(puffin_output *output, const firn_deleted_rows *item, int64_t offset,
                             size_t size, firn_error *error) {
    firn_delete_writer *writer = output->writer;
    firn_data_file entry;
    FIRN_TRY(firn_delete_writer_entry(writer, item->data, output->location, FIRN_FILE_PUFFIN,
                                      &entry, error));
    entry.referenced_data_file = firn_arena_strdup(writer->arena, item->data->path);
    if (entry.referenced_data_file == NULL) return firn_fail_memory(error);
    entry.record_count = (int64_t)firn_deleted_rows_count(item);
    entry.has_content_offset = true;
    entry.content_offset = offset;
    entry.content_size_in_bytes = (int64_t)size;
    return firn_vector_push(&writer->out, error, entry);
}

static firn_status add_vector(puffin_output *output, const firn_deleted_rows *item,
                              firn_error *error) {
    static const int32_t fields[] = {FIRN_ROW_POSITION_FIELD_ID};
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
    json_t *properties = NULL;
    const firn_roaring *set = NULL;
    int64_t offset = 0;
    firn_status status;
    FIRN_CHECK(firn_delete_writer_set(output->writer, item, &set, error));
    FIRN_CHECK(blob_properties(item, &properties, error));
    FIRN_CHECK(firn_deletion_vector_write(set, &bytes, error));
    firn_delete_writer_forget_set(output->writer);
    FIRN_CHECK(firn_puffin_writer_add(output->puffin, FIRN_DELETION_VECTOR_TYPE, fields, 1, -1, -1,
                                      properties, firn_buffer_slice(&bytes), &offset, error));
    status = add_entry(output, item, offset, bytes.size, error);
out:
    json_decref(properties);
    firn_buffer_release(&bytes);
    return status;
}

static firn_status finish(puffin_output *output, firn_error *error) {
    firn_delete_writer *writer = output->writer;
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status;
    FIRN_CHECK(firn_puffin_writer_finish(output->puffin, CREATED_BY, &bytes, error));
    FIRN_CHECK(firn_storage_put(writer->table->storage, output->location, firn_buffer_slice(&bytes),
                                error));
    for (size_t i = output->first; i < writer->out.count; i++) {
        writer->out.items[i].file_size_in_bytes = (int64_t)bytes.size;
    }
out:
    firn_buffer_release(&bytes);
    return status;
}

/* One file; *next gets the first item that is not in it. */
static firn_status write_file(firn_delete_writer *writer, size_t *next, firn_error *error) {
    /* Vectors of several partitions share a file: it lies in none of their folders. */
    static const firn_partition_spec unpartitioned = {0};
    puffin_output output = {.writer = writer, .first = writer->out.count};
    firn_status status;
    FIRN_CHECK(firn_puffin_writer_new(&output.puffin, error));
    FIRN_CHECK(firn_delete_writer_location(writer, &unpartitioned, NULL, "puffin", &output.location,
                                           error));
    do {
        FIRN_CHECK(add_vector(&output, writer->items[*next], error));
        (*next)++;
    } while (*next < writer->item_count &&
             (int64_t)firn_puffin_writer_size(output.puffin) < writer->target_bytes);
    status = finish(&output, error);
out:
    firn_puffin_writer_free(output.puffin);
    return status;
}

firn_status firn_delete_writer_vectors(firn_delete_writer *writer, firn_error *error) {
    for (size_t i = 0; i < writer->item_count; i++) {
        const firn_position_sets *sets = writer->items[i]->sets;
        if (sets == NULL || firn_position_sets_memory(sets) >= (size_t)writer->target_bytes)
            continue;
        writer->target_bytes = (int64_t)firn_position_sets_memory(sets);
    }
    for (size_t next = 0; next < writer->item_count;) {
        FIRN_TRY(write_file(writer, &next, error));
    }
    return FIRN_OK;
}
