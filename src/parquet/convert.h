/** Values of one physical form turned into another, as rewrite.h names the conversions. Not thread-safe. */
#ifndef FIRN_PARQUET_CONVERT_H
#define FIRN_PARQUET_CONVERT_H

#include "base/buffer.h"
#include "parquet/batch.h"
#include "parquet/rewrite.h"

typedef struct firn_parquet_converter {
    firn_parquet_conversion conversion;
    int64_t factor;
    const firn_parquet_schema_element *input, *output;
    firn_buffer bytes;  /**< converted values; of byte arrays, their bytes */
    firn_buffer slices; /**< of byte arrays, an array of firn_slice */
} firn_parquet_converter;

void firn_parquet_converter_init(firn_parquet_converter *converter);
void firn_parquet_converter_release(firn_parquet_converter *converter);

/** What the next calls convert. INVALID when the conversion does not go from `input` to `output`. */
firn_status firn_parquet_converter_set(firn_parquet_converter *converter,
                                       const firn_parquet_leaf_mapping *mapping,
                                       const firn_parquet_schema_element *input,
                                       const firn_parquet_schema_element *output,
                                       firn_error *error);

/** *out borrows from the converter until the next call. A value without a counterpart is CORRUPT. */
firn_status firn_parquet_converter_run(firn_parquet_converter *converter,
                                       const firn_parquet_values *in, firn_parquet_values *out,
                                       firn_error *error);

#endif
