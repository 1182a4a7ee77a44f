/**
 * FX-AVRO: makes Avro container files for tests, from a schema's text taken verbatim and records in
 * JSON. It shares no code with src/avro, so that it also serves as a check on it. Aborts on a
 * mistake of a test.
 */
#ifndef FIRN_TESTS_FX_AVRO_H
#define FIRN_TESTS_FX_AVRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fx_avro {
    const char *schema;          /**< goes into the header as it is */
    const char *encode_schema;   /**< how records are encoded; NULL: by `schema` */
    const char *codec;           /**< header value; NULL: no such key. Data is never compressed. */
    const char *const *metadata; /**< key, value, key, value …, NULL; may be NULL */
    size_t records_per_block;    /**< 0: all in one */
    bool
        /** blocks of arrays and maps have negative counts and sizes; one item a block */
        signed_counts;
    bool empty_blocks; /**< a block without records before and after each block */
} fx_avro;

typedef struct fx_bytes {
    uint8_t *data; /**< free() */
    size_t size;
} fx_bytes;

/**
 * `records` is a JSON array. Records and maps are objects, bytes and fixed are hexadecimal strings,
 * enums are positions; the branch of a union is chosen by the JSON kind, or {"@": branch, "value":
 * …} states it. A field that is absent from an object is null.
 */
fx_bytes fx_avro_file(const fx_avro *how, const char *records);

/** One value, encoded. */
fx_bytes fx_avro_datum(const char *schema, const char *value, bool signed_counts);

#endif
