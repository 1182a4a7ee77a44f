/** Puffin files (Iceberg's Puffin specification): a footer that lists blobs, and the blobs' bytes. */
#ifndef FIRN_PUFFIN_PUFFIN_H
#define FIRN_PUFFIN_PUFFIN_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/read_at.h"

typedef struct firn_puffin_blob {
    const char *type; /**< "deletion-vector-v1", "apache-datasketches-theta-v1", … */
    const int32_t *fields;
    size_t field_count;
    int64_t snapshot_id, sequence_number; /**< -1 both for deletion vectors */
    int64_t offset, length;
    const char *compression_codec; /**< NULL: none; "lz4", "zstd" */
    const json_t *properties;      /**< borrowed; NULL: none */
} firn_puffin_blob;

typedef struct firn_puffin_footer {
    const firn_puffin_blob *blobs;
    size_t blob_count;
    const json_t *properties; /**< NULL: none */
} firn_puffin_footer;

/**
 * Reads the footer from the file's end; it lives in `arena`. CORRUPT names the byte: wrong magic at either end or before the footer, a size outside the file, blobs that reach
 * outside it, unknown flags, footer text that is no JSON. A compressed footer is read where the codec is lz4.
 */
firn_status firn_puffin_footer_read(const firn_read_at *file, firn_arena *arena,
                                    firn_puffin_footer *out, firn_error *error);

/** Writes a Puffin file into memory: magic, blobs one by one, footer. */
typedef struct firn_puffin_writer firn_puffin_writer;

firn_status firn_puffin_writer_new(firn_puffin_writer **out, firn_error *error);
void firn_puffin_writer_free(firn_puffin_writer *writer);
/** Adds a blob as it is; *offset gets where it lies. `properties` is borrowed and nullable; `fields` are the field ids. */
firn_status firn_puffin_writer_add(firn_puffin_writer *writer, const char *type,
                                   const int32_t *fields, size_t field_count, int64_t snapshot_id,
                                   int64_t sequence_number, const json_t *properties,
                                   firn_slice bytes, int64_t *offset, firn_error *error);
/** Bytes so far. */
size_t firn_puffin_writer_size(const firn_puffin_writer *writer);
/** Makes `out` the whole file, after which the writer has none any more, also on failure; `created_by` goes into the footer's properties. */
firn_status firn_puffin_writer_finish(firn_puffin_writer *writer, const char *created_by,
                                      firn_buffer *out, firn_error *error);

#endif
