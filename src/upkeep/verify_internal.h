/** Shared by the parts of verify; not for other folders. */
#ifndef FIRN_UPKEEP_VERIFY_INTERNAL_H
#define FIRN_UPKEEP_VERIFY_INTERNAL_H

#include "base/map.h"
#include "iceberg/name_mapping.h"
#include "table/ledger_property.h"
#include "upkeep/verify.h"

/** A data or delete file that a manifest names, once for each path, offset and size. */
typedef struct firn_verify_file {
    firn_data_file file;
    bool current; /**< a ref's snapshot names it so */
} firn_verify_file;

typedef struct firn_verifier {
    firn_table *table;
    const firn_verify_options *options;
    firn_verification *out;
    const firn_name_mapping *name_mapping; /**< the table's; NULL: none, or none that can be read */
    firn_map *manifests;                   /**< paths that were read */
    firn_map *paths;                       /**< of `files` */
    bool current; /**< the snapshots that are walked are those of refs, which come first */
    FIRN_VECTOR(firn_verify_file) files;
} firn_verifier;

/** Adds a finding; the message is formatted, `file` is copied. */
firn_status firn_verify_add(firn_verification *out, firn_error *error,
                            firn_verify_severity severity, const char *kind, const char *file,
                            const char *advice, const char *format, ...) FIRN_PRINTF(7, 8);
/** Takes findings back, from the number on. */
void firn_verify_forget(firn_verification *out, size_t first);
/** Makes a failure a finding where it tells of the file, not of the machine or the way to it: then OK. */
firn_status firn_verify_take(firn_verification *out, firn_status status, firn_error *problem,
                             const char *kind, const char *file, const char *advice,
                             firn_error *error);
/** Whether the file is there, and has `size` bytes (-1: not known). *exists false: it became a finding. */
firn_status firn_verify_exists(firn_table *table, firn_verification *out, const char *what,
                               const char *path, int64_t size, firn_verify_severity severity,
                               bool is_data, bool *exists, firn_error *error);

firn_status firn_verify_metadata(firn_verifier *verifier, firn_error *error);
/** Manifest list and manifests of a snapshot; collects `files`. */
firn_status firn_verify_snapshot(firn_verifier *verifier, const firn_snapshot *snapshot,
                                 firn_error *error);
firn_status firn_verify_manifest(firn_verifier *verifier, const firn_manifest_file *manifest,
                                 firn_error *error);
/** Footers of all collected files, on the pool. */
firn_status firn_verify_files(firn_verifier *verifier, firn_error *error);
/** One file, by itself; any thread. */
firn_status firn_verify_data_file(firn_verifier *verifier, const firn_data_file *file,
                                  firn_verification *out, firn_error *error);
/** A Parquet file's footer against the manifest. */
firn_status firn_verify_footer(firn_verifier *verifier, const firn_data_file *file,
                               firn_verification *out, firn_error *error);
/** What is live in a snapshot, taken together: totals, duplicates, deletes, row ids. */
firn_status firn_verify_live(firn_verifier *verifier, const firn_snapshot *snapshot,
                             const char *ref, firn_error *error);
firn_status firn_verify_deletes(firn_verifier *verifier, const firn_live_files *files,
                                const char *ref, firn_error *error);
firn_status firn_verify_row_ids(firn_verifier *verifier, const firn_snapshot *snapshot,
                                const firn_live_files *files, const char *ref, firn_error *error);

#define FIRN_VERIFY_RESTORE                                                                        \
    "restore the file from a copy, or roll the table back to a snapshot that does not name it"
#define FIRN_VERIFY_WRITER "look for the writer that made it, and rewrite what it wrote"

#define FIRN_VERIFY_EXPIRE                                                                         \
    "only older snapshots name it so: expire them with the engine that writes the table (Spark's " \
    "expire_snapshots procedure, PyIceberg's maintenance.expire_snapshots)"

#endif
