/**
 * Schemas that many files share: each is read and made into a tree once. The files of a lake have few; that a footer holds a known one shows in the serialized bytes. Thread-safe; bounded, so that files of a
 * schema each cost no more memory than without.
 */
#ifndef FIRN_PARQUET_KNOWN_SCHEMAS_H
#define FIRN_PARQUET_KNOWN_SCHEMAS_H

#include "parquet/schema.h"

/** Files whose schema is none of the first ones have one of their own. */
#define FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS 64

typedef struct firn_parquet_known_schemas firn_parquet_known_schemas;

firn_status firn_parquet_known_schemas_new(firn_parquet_known_schemas **out, firn_error *error);
/** Not before the files that were opened with it are closed. NULL is allowed. */
void firn_parquet_known_schemas_free(firn_parquet_known_schemas *schemas);

#endif
