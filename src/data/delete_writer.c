#include "data/delete_writer.h"

#include <stdlib.h>
#include <strings.h>

#include "base/alloc.h"
#include "data/delete_writer_internal.h"
#include "data/location.h"

#define MIB ((int64_t)1 << 20)

firn_status firn_delete_writer_location(firn_delete_writer *writer, const firn_partition_spec *spec,
                                        const firn_value *partition, const char *ending,
                                        const char **out, firn_error *error) {
    char *location = NULL;
    const char *name = firn_arena_format(writer->arena, "%s-%zu-%zu-deletes.%s", writer->run_id,
                                         writer->number, writer->out.count + 1, ending);
    if (name == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_location_new_data_file(writer->table->metadata, spec, partition, name, &location,
                                         error));
    *out = firn_arena_strdup(writer->arena, location);
    firn_free(location);
    if (*out == NULL) return firn_fail_memory(error);
    return writer->journal == NULL ? FIRN_OK : firn_journal_add(writer->journal, *out, error);
}

firn_status firn_delete_writer_entry(const firn_delete_writer *writer, const firn_data_file *data,
                                     const char *location, firn_file_format format,
                                     firn_data_file *out, firn_error *error) {
    firn_value *partition =
        firn_arena_alloc(writer->arena, data->partition_count + 1, sizeof *partition);
    if (partition == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < data->partition_count; i++) {
        FIRN_TRY(firn_value_copy(&data->partition[i], writer->arena, &partition[i], error));
    }
    *out = (firn_data_file){.content = FIRN_CONTENT_POSITION_DELETES,
                            .path = location,
                            .format = format,
                            .format_text = firn_file_format_name(format),
                            .spec_id = data->spec_id,
                            .partition = partition,
                            .partition_count = data->partition_count};
    return FIRN_OK;
}

void firn_delete_writer_forget_set(firn_delete_writer *writer) {
    firn_roaring_free(writer->loaded);
    writer->loaded = NULL;
    writer->loaded_item = NULL;
}

firn_status firn_delete_writer_set(firn_delete_writer *writer, const firn_deleted_rows *item,
                                   const firn_roaring **out, firn_error *error) {
    *out = item->positions;
    if (item->sets == NULL) return FIRN_OK;
    if (writer->loaded_item != item) {
        firn_delete_writer_forget_set(writer);
        FIRN_TRY(firn_position_sets_load(item->sets, &item->place, &writer->loaded, error));
        writer->loaded_item = item;
    }
    *out = writer->loaded;
    return FIRN_OK;
}

static int compare_tuples(const firn_data_file *a, const firn_data_file *b) {
    for (size_t i = 0; i < a->partition_count && i < b->partition_count; i++) {
        const firn_value *left = &a->partition[i];
        const firn_value *right = &b->partition[i];
        if (left->is_null || right->is_null) {
            if (left->is_null != right->is_null) return left->is_null ? -1 : 1;
            continue;
        }
        int order = firn_value_compare(left, right);
        if (order != 0) return order;
    }
    return (a->partition_count > b->partition_count) - (a->partition_count < b->partition_count);
}

bool firn_same_partition(const firn_data_file *a, const firn_data_file *b) {
    return a->spec_id == b->spec_id && compare_tuples(a, b) == 0;
}

static int by_place(const void *left, const void *right) {
    const firn_data_file *a = (*(const firn_deleted_rows *const *)left)->data;
    const firn_data_file *b = (*(const firn_deleted_rows *const *)right)->data;
    if (a->spec_id != b->spec_id) return a->spec_id < b->spec_id ? -1 : 1;
    int order = compare_tuples(a, b);
    return order != 0 ? order : strcmp(a->path, b->path);
}

static firn_status take_items(firn_delete_writer *writer, const firn_deleted_rows *items,
                              size_t count, firn_error *error) {
    writer->items = firn_alloc_array(count, sizeof(const firn_deleted_rows *));
    if (writer->items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (firn_deleted_rows_count(&items[i]) == 0) continue;
        writer->items[writer->item_count++] = &items[i];
    }
    if (writer->item_count > 1) {
        qsort(writer->items, writer->item_count, sizeof(const firn_deleted_rows *), by_place);
    }
    return FIRN_OK;
}

static firn_status read_properties(firn_delete_writer *writer, firn_error *error) {
    static const char granularity_key[] = "write.delete.granularity";
    static const char size_key[] = "write.delete.target-file-size-bytes";
    const firn_table_metadata *metadata = writer->table->metadata;
    if (metadata->format_version < 2) {
        return firn_fail(error, FIRN_INVALID,
                         "a table of format version 1 can't have delete files");
    }
    FIRN_TRY(firn_table_metadata_property_int(metadata, size_key, 64 * MIB, &writer->target_bytes,
                                              error));
    if (writer->target_bytes < 1) {
        return firn_fail(error, FIRN_INVALID, "table property %s is %lld; the least is 1", size_key,
                         (long long)writer->target_bytes);
    }
    const char *granularity = firn_table_metadata_property(metadata, granularity_key);
    writer->by_file = granularity != NULL && strcasecmp(granularity, "file") == 0;
    if (granularity == NULL || writer->by_file || strcasecmp(granularity, "partition") == 0) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "table property %s is \"%s\", neither file nor partition",
                     granularity_key, granularity);
}

static firn_status write_positions(firn_delete_writer *writer, firn_error *error) {
    for (size_t first = 0; first < writer->item_count;) {
        size_t end = first + 1;
        while (end < writer->item_count && !writer->by_file &&
               firn_same_partition(writer->items[first]->data, writer->items[end]->data)) {
            end++;
        }
        FIRN_TRY(firn_delete_writer_positions(writer, first, end, error));
        first = end;
    }
    return FIRN_OK;
}

firn_status firn_deleted_rows_write(firn_table *table, firn_journal *journal, const char *run_id,
                                    size_t number, const firn_deleted_rows *items, size_t count,
                                    firn_arena *arena, firn_data_file **out, size_t *out_count,
                                    firn_error *error) {
    *out = NULL;
    *out_count = 0;
    firn_delete_writer writer = {
        .table = table, .journal = journal, .run_id = run_id, .number = number, .arena = arena};
    firn_status status;
    FIRN_CHECK(read_properties(&writer, error));
    FIRN_CHECK(take_items(&writer, items, count, error));
    FIRN_CHECK(table->metadata->format_version >= 3 ? firn_delete_writer_vectors(&writer, error)
                                                    : write_positions(&writer, error));
    if (writer.out.count == 0) goto out;
    *out = firn_arena_memdup(arena, writer.out.items, writer.out.count * sizeof **out);
    if (*out == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    *out_count = writer.out.count;
out:
    firn_vector_release(&writer.out);
    firn_free((void *)writer.items);
    firn_roaring_free(writer.loaded);
    return status;
}
