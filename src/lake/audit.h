/**
 * What can be wrong with files that were registered in place, in any table, whoever did it (design, section 9): the same file twice, partitions that the file does not have, bounds that leave out values, files that can't be read by name.
 */
#ifndef FIRN_LAKE_AUDIT_H
#define FIRN_LAKE_AUDIT_H

#include "base/threads.h"
#include "base/vector.h"
#include "table/journal.h"

typedef enum firn_audit_kind {
    FIRN_AUDIT_DUPLICATE, /**< live more than once, however the path is spelled: every row counts twice */
    FIRN_AUDIT_PARTITION, /**< the tuple is not that of the file's rows, or the file has rows of several */
    FIRN_AUDIT_BOUNDS, /**< a bound, null count or NaN count of the manifest is wrong: filters lose rows */
    FIRN_AUDIT_ROWS,      /**< the record count or the size is wrong */
    FIRN_AUDIT_MAPPING,   /**< the file has columns without ids and the table no mapping for them */
    FIRN_AUDIT_SCHEMA,    /**< the file can't be read as the table: types, ids */
    FIRN_AUDIT_MISSING,   /**< the file is not there or unreadable */
    FIRN_AUDIT_UNDECIDED, /**< the footer alone can't tell (no note where `deep`) */
    FIRN_AUDIT_KIND_COUNT
} firn_audit_kind;

typedef struct firn_audit_finding {
    firn_audit_kind kind;
    const char *file;
    const char *message;
    bool fixable; /**< by writing the manifest anew */
} firn_audit_finding;

typedef struct firn_audit_options {
    bool
        deep; /**< read columns where the footer does not settle it, and compare bounds with values */
    int64_t memory_bytes, lock_timeout_ms;
    firn_pool *pool;
} firn_audit_options;

typedef struct firn_audit {
    firn_arena *arena;
    FIRN_VECTOR(firn_audit_finding) findings;
    size_t counts[FIRN_AUDIT_KIND_COUNT];
    size_t data_files, footers, columns_read;
    /* firn_audit_fix */
    size_t files_fixed, manifests_written;
    bool mapping_written, committed;
    int64_t snapshot_id;
} firn_audit;

/** Looks at the live files of the ref. Faults are findings; the call fails only where looking does. Release `out` also then. */
firn_status firn_audit_table(firn_table *table, const firn_audit_options *options, firn_audit *out,
                             firn_error *error);
/**
 * The same, then repairs in one commit what manifests can repair: doubled entries go but for one (the oldest), partitions and bounds are set right, a mapping is written. A file of two partitions can't be repaired and stays.
 */
firn_status firn_audit_fix(firn_table *table, const firn_audit_options *options, firn_audit *out,
                           firn_error *error);
void firn_audit_release(firn_audit *audit);

#endif
