/**
 * Reading an object container file (Avro specification, "Object Container Files"): the header, then
 * blocks in order, then records within a block. Not thread-safe; several readers may share one
 * file.
 */
#ifndef FIRN_AVRO_READER_H
#define FIRN_AVRO_READER_H

#include "avro/plan.h"
#include "base/buffer.h"
#include "base/read_at.h"

typedef struct firn_avro_reader firn_avro_reader;

/** Largest size of a block, compressed or not, unless options say otherwise. */
#define FIRN_AVRO_MAX_BLOCK_BYTES ((size_t)1 << 30)
/** Largest size of the header with the schema in it. */
#define FIRN_AVRO_MAX_HEADER_BYTES ((size_t)64 << 20)

/**
 * Reads the header and parses the schema. `file` is copied; what it refers to must outlive the
 * reader. `maximum_block_bytes` 0: FIRN_AVRO_MAX_BLOCK_BYTES. UNSUPPORTED names a codec other than
 * null, deflate, snappy and zstandard.
 */
firn_status firn_avro_reader_open(const firn_read_at *file, size_t maximum_block_bytes,
                                  firn_avro_reader **out, firn_error *error);

/**
 * The schema of the file that was read last. The files of a table mostly have the same one, word for word, which is then parsed once. Begins zeroed; release
 * with firn_avro_known_schema_release. Not thread-safe.
 */
typedef struct firn_avro_known_schema {
    firn_arena *arena; /**< owns the others */
    firn_slice text;
    const firn_avro_schema *schema;
} firn_avro_known_schema;
void firn_avro_known_schema_release(firn_avro_known_schema *known);

/** The same, with a schema from `known` where it is the file's, and otherwise put there: one reader at a time. */
firn_status firn_avro_reader_open_known(const firn_read_at *file, size_t maximum_block_bytes,
                                        firn_avro_known_schema *known, firn_avro_reader **out,
                                        firn_error *error);
/** NULL is allowed. */
void firn_avro_reader_free(firn_avro_reader *reader);

/** The writer's schema; lives as long as the reader, or what was known. */
const firn_avro_schema *firn_avro_reader_schema(const firn_avro_reader *reader);
/** The name that the codec has in the header, "null" where it is absent. */
const char *firn_avro_reader_codec(const firn_avro_reader *reader);
/**
 * A header entry by key; false when absent. Where a key occurs twice the last one counts. Borrowed.
 */
bool firn_avro_reader_metadata(const firn_avro_reader *reader, const char *key, firn_slice *out);
/** Entry `index` of the header, in file order; false behind the last. */
bool firn_avro_reader_metadata_at(const firn_avro_reader *reader, size_t index, firn_slice *key,
                                  firn_slice *value);

/**
 * Decodes the next record (see firn_avro_decode: `record` has been zeroed by the caller). *more is
 * false, and `record` untouched, at the end of the file. Without `copy` slices are valid until the
 * next call that enters another block. A block whose records do not take all of its bytes is
 * CORRUPT.
 */
firn_status firn_avro_reader_next(firn_avro_reader *reader, const firn_avro_plan *plan,
                                  firn_arena *arena, bool copy, void *record, bool *more,
                                  firn_error *error);

/** Takes exactly one datum of the writer's schema off the cursor. What it borrows is valid until the next call that enters another block. */
typedef firn_status (*firn_avro_datum_visitor)(void *context, firn_avro_cursor *cursor,
                                               firn_error *error);
/** Like firn_avro_reader_next, for a caller that decodes by itself: values need no memory then. */
firn_status firn_avro_reader_visit(firn_avro_reader *reader, firn_avro_datum_visitor visit,
                                   void *context, bool *more, firn_error *error);

/** Number of records, from the heads of the blocks alone; does not move the reader. */
firn_status firn_avro_reader_count(firn_avro_reader *reader, int64_t *out, firn_error *error);

/** Records decoded so far. */
int64_t firn_avro_reader_position(const firn_avro_reader *reader);

#endif
