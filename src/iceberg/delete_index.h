/** Which delete files apply to which data files (specification, "Scan Planning" and "Delete Formats"; design 6.4). Immutable once built; any thread may look. */
#ifndef FIRN_ICEBERG_DELETE_INDEX_H
#define FIRN_ICEBERG_DELETE_INDEX_H

#include "iceberg/manifest.h"

/**
 * The rule for one pair, exactly as the specification has it: sequence numbers (0 is a value), spec id and tuple, equality deletes of unpartitioned specs are global, referenced_data_file, bounds of
 * file_path (equal and whole: one file; inverted or cut: may match). "May": a position delete file without a referenced file has to be read to know. A deletion vector applies
 * only to the file that it references. That a deletion vector replaces position deletes of its file is left to the index.
 */
bool firn_delete_may_apply(const firn_table_metadata *metadata, const firn_manifest_entry *deletes,
                           const firn_manifest_entry *data);

/**
 * Whether a position delete file or vector is for one data file only; *path gets that file's, as recorded (borrowed, not zero-terminated). By referenced_data_file, else equal bounds of
 * file_path that can't have been cut: longer than 16 characters, with the ending of a data file. Locations are the same where their keys are (base/location.h).
 */
bool firn_delete_single_file(const firn_data_file *deletes, firn_slice *path);

typedef struct firn_delete_index firn_delete_index;

/** `deletes[i]` are borrowed and must outlive the index. Deleted rows of format v1 don't exist: an empty index is fine. */
firn_status firn_delete_index_new(const firn_table_metadata *metadata,
                                  const firn_manifest_entry *const *deletes, size_t count,
                                  firn_delete_index **out, firn_error *error);
/** NULL is allowed. */
void firn_delete_index_free(firn_delete_index *index);

/**
 * Delete files that may apply to a data file, as numbers into `deletes`, ascending, in `arena`. Where a deletion vector applies, position delete files are left out; two vectors
 * for one file are CORRUPT, naming both.
 */
firn_status firn_delete_index_find(const firn_delete_index *index, const firn_manifest_entry *data,
                                   firn_arena *arena, const size_t **out, size_t *count,
                                   firn_error *error);

#endif
