/** Data files of many partitions, made from their number, for tests of batches of manifests. */
#ifndef FIRN_TESTS_TABLE_BATCH_FILES_H
#define FIRN_TESTS_TABLE_BATCH_FILES_H

#include <stdio.h>

#include "table/manifest_batch.h"
#include "table/table_fixture.h"

#define BATCH_COLUMNS 2

typedef struct batch_file {
    char path[96], text[40];
    firn_value partition[2];
    int32_t ids[BATCH_COLUMNS];
    int64_t counts[BATCH_COLUMNS], nulls[BATCH_COLUMNS], offsets[2];
    firn_slice lower[BATCH_COLUMNS], upper[BATCH_COLUMNS];
    firn_data_file file;
} batch_file;

/** File `number` of partition `partition`; two of nine partitions have a null in their tuple. */
static inline void batch_file_make(batch_file *out, size_t number, size_t partition) {
    *out = (batch_file){.ids = {1, 2},
                        .counts = {(int64_t)number, 7},
                        .nulls = {0, -1},
                        .offsets = {4, 1 + (int64_t)number}};
    snprintf(out->path, sizeof out->path, "/no/where/data/%zu/f%08zu.parquet", partition, number);
    snprintf(out->text, sizeof out->text, "partition %zu", partition / 3);
    out->partition[0] = (firn_value){.kind = FIRN_TYPE_STRING,
                                     .is_null = partition % 9 == 4,
                                     .as.bytes = firn_slice_text(out->text)};
    out->partition[1] = (firn_value){.kind = FIRN_TYPE_LONG,
                                     .is_null = partition % 9 == 5,
                                     .as.int64 = 1000 - (int64_t)partition};
    out->lower[1] = firn_slice_of("a\0b", 3);
    out->upper[0] = firn_slice_of(out->text, 8);
    out->upper[1] = firn_slice_of("", 0);
    out->file = (firn_data_file){
        .path = out->path,
        .format = FIRN_FILE_PARQUET,
        .format_text = "PARQUET",
        .partition = out->partition,
        .partition_count = 2,
        .record_count = (int64_t)(number % 5),
        .file_size_in_bytes = 100 + (int64_t)number,
        .column_sizes = {out->ids, out->counts, 1, true},
        .value_counts = {out->ids, out->counts, BATCH_COLUMNS, true},
        .null_value_counts = {out->ids, out->nulls, BATCH_COLUMNS, true},
        .lower_bounds = {out->ids + 1, out->lower + 1, 1, true},
        .upper_bounds = {out->ids, out->upper, BATCH_COLUMNS, true},
        .split_offsets = number % 3 == 0 ? NULL : out->offsets,
        .split_offset_count = number % 3 == 0 ? 0 : 2,
        .has_sort_order_id = number % 2 == 0,
        .sort_order_id = 0,
    };
}

/** Takes away the metrics, which are none of a file that could be. */
static inline void batch_file_strip(firn_data_file *file) {
    file->value_counts = file->null_value_counts = (firn_count_map){0};
    file->lower_bounds = file->upper_bounds = (firn_bound_map){0};
}

/** Adds files 0 … count-1, spread over the partitions, in a shuffled order. */
static inline firn_status batch_add(firn_manifest_batch *batch, size_t count, size_t partitions,
                                    bool metrics, firn_error *error) {
    batch_file made;
    for (size_t i = 0; i < count; i++) {
        /* A prime that no test's count has as a factor: each number comes once. */
        size_t number = i * 7919 % count;
        batch_file_make(&made, number, number % partitions);
        if (!metrics) batch_file_strip(&made.file);
        FIRN_TRY(firn_manifest_batch_add(batch, &made.file, error));
    }
    return FIRN_OK;
}

static inline firn_status batch_property(table_fixture *f, firn_table_update *update,
                                         firn_error *error) {
    (void)f;
    return firn_update_set_properties(
        update, json_pack("{s:s}", "commit.manifest.target-size-bytes", "4000"), error);
}

/** A partitioned table with manifests of 4,000 bytes; *writer is loaded. */
static inline table_fixture *batch_table(int format_version) {
    table_fixture *f = fixture_new_partitioned(format_version);
    fixture_update(f, batch_property);
    check_ok(firn_table_reload(f->table, &f->error), &f->error);
    return f;
}

#endif
