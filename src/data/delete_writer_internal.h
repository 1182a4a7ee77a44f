/** What the two forms of written deletes share. Internal to data. */
#ifndef FIRN_DATA_DELETE_WRITER_INTERNAL_H
#define FIRN_DATA_DELETE_WRITER_INTERNAL_H

#include "base/vector.h"
#include "data/delete_writer.h"

typedef struct firn_delete_writer {
    firn_table *table;
    firn_journal *journal; /**< nullable */
    const char *run_id;
    size_t number;
    int64_t target_bytes;
    bool by_file;                    /**< v2: one delete file per data file */
    const firn_deleted_rows **items; /**< those that are not empty, by spec id, tuple and path */
    size_t item_count;
    const firn_deleted_rows *loaded_item; /**< whose set was loaded last */
    firn_roaring *loaded;
    firn_arena *arena;
    FIRN_VECTOR(firn_data_file) out;
} firn_delete_writer;

/** Names a new file in the journal. Location in the writer's arena. */
firn_status firn_delete_writer_location(firn_delete_writer *writer, const firn_partition_spec *spec,
                                        const firn_value *partition, const char *ending,
                                        const char **out, firn_error *error);
/** The positions of an item; borrowed, until those of another are asked for. */
firn_status firn_delete_writer_set(firn_delete_writer *writer, const firn_deleted_rows *item,
                                   const firn_roaring **out, firn_error *error);
/** What was loaded for the last item goes. */
void firn_delete_writer_forget_set(firn_delete_writer *writer);
static inline uint64_t firn_deleted_rows_count(const firn_deleted_rows *item) {
    return item->sets == NULL ? firn_roaring_count(item->positions) : item->place.count;
}
/** What every entry has: the tuple is that of `data`. */
firn_status firn_delete_writer_entry(const firn_delete_writer *writer, const firn_data_file *data,
                                     const char *location, firn_file_format format,
                                     firn_data_file *out, firn_error *error);
bool firn_same_partition(const firn_data_file *a, const firn_data_file *b);

/** Parquet files for items first … end - 1, which are of one spec id and tuple. */
firn_status firn_delete_writer_positions(firn_delete_writer *writer, size_t first, size_t end,
                                         firn_error *error);
/** Puffin files for all items. */
firn_status firn_delete_writer_vectors(firn_delete_writer *writer, firn_error *error);

#endif
