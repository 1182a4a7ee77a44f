/**
 * Makes a table follow a source (design, section 9): what is new is added in place, in batches of whole units, and what was replaced or has vanished is seen. Registering is the same for files that are named once.
 *
 * The order of a run: list the source → load the ledger → tell new, known, replaced, missing → read the new files' footers → make or evolve the schema, the name mapping and (new tables) the partition spec → prove partitions, make entries → per batch: manifests, ledger segment, one
 * commit. A batch that conflicts is planned anew from the footers that are there.
 */
#ifndef FIRN_LAKE_SYNC_H
#define FIRN_LAKE_SYNC_H

#include "base/vector.h"
#include "lake/ledger.h"
#include "lake/proof.h"
#include "lake/schema_union.h"

typedef enum firn_lake_policy {
    FIRN_LAKE_ERROR, /**< nothing is done, the files are named (exit 3) */
    FIRN_LAKE_REPORT,
    FIRN_LAKE_OVERWRITE, /**< replaced files only */
    FIRN_LAKE_DELETE
} firn_lake_policy;

/** Is told how far a run has come, from the thread that runs it, for each file. */
typedef struct firn_sync_progress {
    /** `done` of `total` files; NULL: nobody listens. */
    void (*tell)(void *context, const char *activity, size_t done, size_t total);
    void *context;
} firn_sync_progress;

typedef struct firn_sync_options {
    firn_lake_source source;
    const char *ref; /**< NULL: main */
    bool once;       /**< register: what is missing from the source is no concern */
    /* A table that is not there yet. One that is must have it already, so that a run can be repeated, but what was changed since is told and kept; `rules` also say where its spec's values stand in paths. */
    const char *location; /**< NULL: below the catalog's warehouse */
    int format_version;   /**< 0: not said, which is 2 for a new one */
    const char *const *rules;
    size_t rule_count;
    const firn_property
        *properties; /**< beside those that are always set: name mapping, gc.enabled=false */
    size_t property_count;
    /* Units. */
    size_t batch;   /**< units in a commit; 0: 5. A source without units is one batch */
    size_t limit;   /**< most units in this run (files, where there are no units); 0: no limit */
    size_t retries; /**< of a batch, after what may pass by itself */
    const char *unit_property; /**< NULL: none kept up; one that is found is adopted all the same */
    firn_lake_policy on_replaced, on_missing;
    bool skip_bad, rebuild_ledger;
    bool
        force; /**< on_missing DELETE: also where most of what was added is gone; a partial ledger (lake/ledger.h) is taken for a whole one */
    int64_t memory_bytes, lock_timeout_ms;
    firn_sync_progress progress;
    firn_pool *pool;
} firn_sync_options;

#define FIRN_SYNC_SNAPSHOTS 16

/** A file and what is to be said of it. */
typedef struct firn_sync_finding {
    const char *location;
    const char *unit; /**< NULL: none */
    const char
        *reason; /**< why it is bad; replaced: what differs; NULL where there is nothing to say */
    const char *
        done; /**< "reported", "overwritten", "deleted" (a preview: "would be …"), "left out"; NULL: nothing */
    /** Retained snapshots that name the file, of replaced and missing ones: how many, and the ids of the first FIRN_SYNC_SNAPSHOTS. */
    size_t snapshots;
    const int64_t *snapshot_ids;
} firn_sync_finding;

/** A unit that was added whole, of which the manifest counts rows now that are neither those that were added nor those that are left. */
typedef struct firn_sync_changed_unit {
    const char *unit;
    int64_t rows;      /**< that were added */
    int64_t rows_gone; /**< of them: in files that were taken out, or that the source has no more */
    int64_t rows_now;  /**< by the manifest */
} firn_sync_changed_unit;

typedef struct firn_sync_commit {
    int64_t snapshot_id, sequence_number;
    size_t units, files;
    int64_t rows, bytes;
    size_t files_removed;
    int64_t rows_removed;
} firn_sync_commit;

/** How a run came by its ledger. */
typedef enum firn_sync_ledger {
    FIRN_SYNC_LEDGER_KEPT,   /**< it was there, or begins with the files that the run adds */
    FIRN_SYNC_LEDGER_BEGUN,  /**< from the history of a table that others filled */
    FIRN_SYNC_LEDGER_REBUILT /**< from the history, in place of one that was lost */
} firn_sync_ledger;

/** What a run found and did; a preview fills all but the commits. Texts in the arena. */
typedef struct firn_sync_result {
    firn_arena *arena;
    bool
        told_apart; /**< the source was listed and held against the ledger: counts of files and units say something */
    bool creates, created, evolves;           /**< the table; its schema */
    const char *location, *metadata_location; /**< NULL: not there (yet) */
    firn_table_metadata *
        metadata; /**< owned; the table as the run leaves it, or (a preview) would; NULL: not known */
    size_t units_listed, units_known, units_pending, units_added;
    size_t files_listed, files_known, files_new, files_added, files_rolled_back;
    int64_t rows_added, rows_expected /* by the manifest; -1: unknown */, bytes_added;
    size_t proved_by_footer, proved_by_column, asserted;
    size_t partitions;
    /** Data files that were replaced or missing and were taken out (a preview: would be), and the rows that they record. */
    size_t files_removed;
    int64_t rows_removed;
    size_t stale_position_deletes; /**< delete files that may name files that were overwritten */
    size_t ledger_segments, ledger_entries;
    firn_sync_ledger ledger_made; /**< or would be */
    bool ledger_written;          /**< the one that was made was committed */
    size_t footers_read;
    FIRN_VECTOR(firn_sync_finding) bad, replaced, missing;
    FIRN_VECTOR(firn_sync_changed_unit) changed_units; /**< on_replaced ERROR: BLOCKED */
    FIRN_VECTOR(firn_lake_ignored) ignored;
    FIRN_VECTOR(firn_schema_surprise) surprises;
    FIRN_VECTOR(firn_sync_commit) commits;
    FIRN_VECTOR(const char *) warnings; /**< were logged, too */
} firn_sync_result;

/**
 * One run. `acts` false: looks at everything and changes nothing; it fails where a run would. Release `out` also after a failure: it says how far the run came.
 * BLOCKED: bad files without skip_bad, rows that differ from the manifest's counts, partitions that can't be proved (nothing of that batch is committed, batches before it stay); replaced or missing files by policy; files to register that are live already. INVALID: a rule that can't be read, single files with a policy for missing ones, a location that won't do, something that was asked for of a new table and that the one which is there never had (what was changed since is a warning). UNSAFE:
 * the ledger is lost, or so much of the source is gone that it is more likely not there at all. CONFLICT, COMMIT_UNKNOWN as for any commit.
 */
firn_status firn_sync_run(firn_catalog *catalog, firn_storage *storage, firn_table_name name,
                          const char *display_name, const char *warehouse,
                          const firn_sync_options *options, bool acts, firn_sync_result *out,
                          firn_error *error);
void firn_sync_result_release(firn_sync_result *result);

#endif
