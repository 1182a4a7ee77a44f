/** An Avro data or delete file turned into Parquet, row by row in its order. Internal to data. */
#ifndef FIRN_DATA_AVRO_FILE_H
#define FIRN_DATA_AVRO_FILE_H

#include "base/read_at.h"

/** Writes the Parquet form of `avro` to `destination`. Memory is bounded by a few row groups and the largest row. */
firn_status firn_avro_file_to_parquet(const firn_read_at *avro, const firn_write_to *destination,
                                      firn_error *error);

#endif
