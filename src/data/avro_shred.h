/**
 * Avro records taken apart into one stream of levels and values per leaf, as Parquet has them. Internal to data.
 */
#ifndef FIRN_DATA_AVRO_SHRED_H
#define FIRN_DATA_AVRO_SHRED_H

#include "avro/cursor.h"
#include "data/avro_columns.h"
#include "parquet/batch.h"
#include "parquet/schema.h"

typedef struct firn_avro_shredder firn_avro_shredder;

/** `schema` is made of the columns' elements; both are borrowed. */
firn_status firn_avro_shredder_new(const firn_avro_columns *columns,
                                   const firn_parquet_schema *schema, firn_avro_shredder **out,
                                   firn_error *error);
/** NULL is allowed. */
void firn_avro_shredder_free(firn_avro_shredder *shredder);

/** Takes one record off the cursor. `context` is the shredder (firn_avro_datum_visitor). */
firn_status firn_avro_shredder_take(void *context, firn_avro_cursor *cursor, firn_error *error);

/** Bytes that the records held take. */
size_t firn_avro_shredder_held(const firn_avro_shredder *shredder);

/** What a leaf got since the last clear; valid until the next call but for other leaves. */
firn_status firn_avro_shredder_batch(firn_avro_shredder *shredder, size_t leaf,
                                     firn_parquet_batch *out, firn_error *error);
/** Forgets the records held, of all leaves. */
void firn_avro_shredder_clear(firn_avro_shredder *shredder);

#endif
