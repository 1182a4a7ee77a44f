/** Sorts records of data files (data_file_record.h) under a memory limit; for manifest_batch.c. */
#ifndef FIRN_TABLE_RECORD_SORTER_H
#define FIRN_TABLE_RECORD_SORTER_H

#include "table/data_file_record.h"

typedef struct firn_record_sorter firn_record_sorter;

/** About `memory_bytes` (at least 64 KiB) are held; what is more waits in a temporary file (base/spool.h). */
firn_status firn_record_sorter_new(size_t memory_bytes, firn_record_sorter **out,
                                   firn_error *error);
/** NULL is allowed. */
void firn_record_sorter_free(firn_record_sorter *sorter);

/** Copies the data file. Not after firn_record_sorter_start. */
firn_status firn_record_sorter_add(firn_record_sorter *sorter, const firn_data_file *file,
                                   firn_error *error);

/** Everything was added. */
firn_status firn_record_sorter_start(firn_record_sorter *sorter, firn_error *error);

/** The next record in order, valid until the next call; false in *more after the last one. */
firn_status firn_record_sorter_next(firn_record_sorter *sorter, firn_record_view *out, bool *more,
                                    firn_error *error);

#endif
