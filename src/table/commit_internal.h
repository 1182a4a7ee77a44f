/** Shared by the parts of a commit; not for other folders. */
#ifndef FIRN_TABLE_COMMIT_INTERNAL_H
#define FIRN_TABLE_COMMIT_INTERNAL_H

#include "base/map.h"
#include "base/vector.h"
#include "table/commit.h"

/** An entry on its way into a manifest. Two that are alike give the same bytes, whatever became of `entry` meanwhile. */
typedef struct firn_packed_item {
    const firn_manifest_entry *entry;  /**< NULL for a carried one of an earlier attempt */
    const firn_manifest_file *carried; /**< the manifest that it comes from; NULL: an added file */
    size_t ordinal;                    /**< in `carried` */
    bool goes;                         /**< carried as DELETED */
    bool restated;                     /**< the entry stays as it is, as EXISTING */
} firn_packed_item;

/** A manifest of this commit, with what it was made of, so that a later attempt can tell that it would write the same again. */
typedef struct firn_written_manifest {
    firn_manifest_file file;
    const firn_packed_item *items;
    size_t item_count;
    bool deletes;
    int format_version;
    bool used; /**< by the change as it is now */
} firn_written_manifest;

typedef struct firn_commit_work {
    firn_table *table;
    firn_journal *journal;
    const firn_change_source *source;
    firn_file_change change; /**< as it was built last */
    firn_arena *arena;       /**< for all attempts */
    char *folder;            /**< of metadata */
    char *table_uuid;        /**< when the commit began; "": the table had none */
    int64_t pinned;          /**< snapshot when the commit began */
    int64_t snapshot_id;     /**< of the new snapshot, the same in every attempt */
    bool has_added;          /**< the id is that of manifests written beforehand */
    char uuid[37];           /**< part of file names */
    int64_t parent;          /**< snapshot that the change was built for */
    int format_version;      /**< that the change was built for */
    size_t file_number;
    FIRN_VECTOR(firn_manifest_file) manifests; /**< of the new snapshot, in list order */
    FIRN_VECTOR(firn_written_manifest) written;
    FIRN_VECTOR(const char *) lists; /**< one per attempt */
    firn_map *
        added_before; /**< paths of files that earlier changes added, each with itself; NULL: none */
    size_t kept, replaced;
    int attempts;
} firn_commit_work;

/** Fills work->manifests for work->change: added files first, then survivors and removals, then what is carried by reference. */
firn_status firn_commit_write_manifests(firn_commit_work *work, firn_error *error);
/** Keeps what is needed to tell which manifests of work->change the next change can use; what the change points to may go then. */
firn_status firn_commit_remember_manifests(firn_commit_work *work, firn_error *error);
/** Deletes what earlier attempts wrote and the last one has no use for. The outcome is known; what can't be deleted is reported only. */
void firn_commit_remove_abandoned(const firn_commit_work *work);

/** v3: no row id that is given is one that the table may give again, and manifests that will be given ids have the rows that they are counted to have. Counts that are not known are filled in. */
firn_status firn_commit_check_row_ids(firn_commit_work *work, firn_error *error);

/** A snapshot id that the table has not. */
firn_status firn_commit_choose_snapshot_id(const firn_table_metadata *metadata, int64_t *out,
                                           firn_error *error);
/** commit.manifest.target-size-bytes, or its default. */
firn_status firn_commit_manifest_target(const firn_table_metadata *metadata, int64_t *bytes,
                                        firn_error *error);
/** Finishes a manifest and puts it at `path` (borrowed by *file, which lies in `arena`), announced to the journal first. */
firn_status firn_commit_put_manifest(firn_table *table, firn_journal *journal, const char *path,
                                     firn_manifest_writer *writer, firn_arena *arena,
                                     firn_manifest_file *file, firn_error *error);

/** Takes the snapshot id of manifests that were written beforehand. CONFLICT: the table has changed so that they don't fit it any more. INVALID: they are not the ones of the build before. */
firn_status firn_commit_take_added(firn_commit_work *work, bool moved, firn_error *error);
/** Whether the table, loaded anew, has the specs of the manifests that this commit wrote. CONFLICT. */
firn_status firn_commit_check_specs(const firn_commit_work *work, firn_error *error);

/** After a commit: the version hint of a table that has one follows. What fails is logged, since the commit stands. */
void firn_commit_refresh_version_hint(firn_table *table, firn_journal *journal);

/** One attempt: manifest list, metadata, pointer. Outcomes as firn_catalog_commit's. */
firn_status firn_commit_attempt(firn_commit_work *work, firn_table_pointer *committed,
                                firn_error *error);

/** The snapshot's summary object; owned. `parent` nullable. */
firn_status firn_commit_summary(const firn_commit_work *work, const firn_snapshot *parent,
                                json_t **out, firn_error *error);

/** Loads the table and says whether the change has to be made anew. CONFLICT: this is not the history that the commit began on. */
firn_status firn_commit_reload(firn_commit_work *work, bool *moved, firn_error *error);
/**
 * An attempt's outcome was not learnt: looks for the snapshot. OK: it took effect, and the table is loaded. CONFLICT: it did not, and can't any more. COMMIT_UNKNOWN: neither can be shown; `cause` is the reason.
 */
firn_status firn_commit_settle(firn_commit_work *work, const firn_error *cause, firn_error *error);

/** commit.retry.* of a table, and how long it has been. */
typedef struct firn_commit_retry {
    int64_t retries, min_wait_ms, max_wait_ms, total_timeout_ms;
    int64_t started_ns;
} firn_commit_retry;

firn_status firn_commit_retry_init(firn_commit_retry *retry, const firn_table_metadata *metadata,
                                   firn_error *error);
/** Waits before attempt `number` + 1. *more is false when there is to be none. CANCELLED when a stop is asked for meanwhile. */
firn_status firn_commit_retry_wait(const firn_commit_retry *retry, int number, bool *more,
                                   firn_error *error);

static inline int64_t firn_commit_head(const firn_table *table) {
    return table->snapshot == NULL ? FIRN_NO_SNAPSHOT : table->snapshot->snapshot_id;
}

/** Manifests that were written beforehand. */
static inline size_t firn_commit_added_count(const firn_commit_work *work) {
    return work->change.added_manifests == NULL ? 0 : work->change.added_manifests->count;
}

static inline int64_t firn_commit_next_sequence_number(const firn_table_metadata *metadata) {
    return metadata->format_version == 1 ? 0 : metadata->last_sequence_number + 1;
}

#endif
