/** Data files as compact records that sort by spec, partition and path; for manifest_batch.c. */
#ifndef FIRN_TABLE_DATA_FILE_RECORD_H
#define FIRN_TABLE_DATA_FILE_RECORD_H

#include "iceberg/manifest.h"

/** Bytes before a record's key: the record's size, the key's, and how much of the key is spec and partition. */
#define FIRN_RECORD_HEADER_SIZE ((size_t)12)

/** A record's parts, borrowed from it. */
typedef struct firn_record_view {
    firn_slice whole;
    firn_slice key;       /**< spec, partition, path: compared as bytes, records are in order */
    firn_slice partition; /**< the key's beginning: spec and partition */
} firn_record_view;

/** Appends a record of a data file (INVALID: a delete file). First row id is left out: it is given by the commit. */
firn_status firn_record_pack(const firn_data_file *file, firn_buffer *out, firn_error *error);

/** The size of the record that begins with these FIRN_RECORD_HEADER_SIZE bytes, header included. */
size_t firn_record_size(const uint8_t *header);

/** Looks at a whole record. CORRUPT: it can't be one of firn_record_pack's. */
firn_status firn_record_look(firn_slice record, firn_record_view *out, firn_error *error);

/** The data file; lists are in `arena`, texts and bytes are borrowed from the record. CORRUPT as above. */
firn_status firn_record_unpack(const firn_record_view *record, firn_arena *arena,
                               firn_data_file *out, firn_error *error);

#endif
