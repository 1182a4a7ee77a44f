/** A table in use: loaded through its catalog and pinned to one snapshot of one ref (design, section 6.3). Single-threaded. */
#ifndef FIRN_TABLE_TABLE_H
#define FIRN_TABLE_TABLE_H

#include "base/threads.h"
#include "catalog/catalog.h"
#include "firn/session.h"
#include "iceberg/expression.h"

struct firn_table {
    firn_storage *storage; /**< borrowed */
    firn_catalog *catalog; /**< borrowed */
    char *namespace_name, *name;
    char *display_name; /**< "a.b", or the path; for messages */
    firn_table_pointer pointer;
    const firn_table_metadata *metadata; /**< of pointer */
    char *ref;                           /**< "main" unless asked otherwise */
    const firn_snapshot *snapshot; /**< the ref's head, or NULL: the table has no rows there */
};

/** Loads and pins. `ref` NULL: main. A ref that does not exist is NOT_FOUND, but main of a table without snapshots is fine. */
firn_status firn_table_open(firn_catalog *catalog, firn_storage *storage, firn_table_name name,
                            const char *display_name, const char *ref, firn_table **out,
                            firn_error *error);
/** NULL is allowed. */
void firn_table_close(firn_table *table);
/** Loads the newest state from the catalog and pins the ref's head anew. Everything borrowed from the old state becomes invalid. */
firn_status firn_table_reload(firn_table *table, firn_error *error);
/** The same, but where the catalog still names the metadata file that is loaded, all stays as it is. */
firn_status firn_table_refresh(firn_table *table, firn_error *error);
/** Takes a state over (after a commit) and pins the ref's head anew. */
firn_status firn_table_adopt(firn_table *table, firn_table_pointer *pointer, firn_error *error);
/** Puts "table NAME: " before the message, unless it begins so. */
firn_status firn_table_error_wrap(const firn_table *table, firn_status status, firn_error *error);
/** The name by which the catalog knows the table; borrowed. */
firn_table_name firn_table_own_name(const firn_table *table);

/** Manifests of a snapshot in list order, from its manifest list or its v1 `manifests` (then lengths come from the files). In `arena`. */
firn_status firn_table_manifests(firn_table *table, const firn_snapshot *snapshot,
                                 firn_arena *arena, const firn_manifest_file **out, size_t *count,
                                 firn_error *error);

/** Entries of one manifest, DELETED ones too; all memory in `arena`. */
firn_status firn_table_read_manifest(firn_table *table, const firn_manifest_file *manifest,
                                     firn_arena *arena, firn_manifest_visitor visit, void *context,
                                     firn_error *error);
/** The same; `known` and `metrics` as for firn_manifest_read_known. */
firn_status firn_table_read_manifest_known(firn_table *table, const firn_manifest_file *manifest,
                                           firn_avro_known_schema *known,
                                           firn_manifest_metrics metrics, firn_arena *arena,
                                           firn_manifest_visitor visit, void *context,
                                           firn_error *error);

/** A live file with the manifest that names it. */
typedef struct firn_live_file {
    firn_manifest_entry entry;
    size_t manifest_index;
    size_t ordinal; /**< of the entry among all entries of its manifest */
    /** A data file may hold rows of the filter, a delete file may apply to one of a partition that may; true without a filter. */
    bool may_match;
} firn_live_file;

typedef struct firn_live_files {
    firn_arena *arena;
    int64_t snapshot_id; /**< FIRN_NO_SNAPSHOT: of an empty table */
    const firn_manifest_file *manifests;
    size_t manifest_count;
    firn_live_file *data; /**< live data files, in manifest order */
    size_t data_count;
    firn_live_file *deletes; /**< live delete files */
    size_t delete_count;
    size_t manifests_opened; /**< each is here as a whole, the others are not at all */
    bool filtered;           /**< by a filter */
    bool without_metrics;    /**< see firn_table_live_files_matching; no commit takes them */
} firn_live_files;

/**
 * All live files of a snapshot (NULL: none); their bytes and rows add up without overflow, or it is
 * CORRUPT. Release with firn_live_files_release.
 */
firn_status firn_table_live_files(firn_table *table, const firn_snapshot *snapshot,
                                  firn_live_files *out, firn_error *error);
/** Likewise, but manifests that `known` (nullable) has of another snapshot of the table are not read again (where a filter chose, those that it left out are). What comes from there points into `known`, which has to live longer than `out`. */
firn_status firn_table_live_files_after(firn_table *table, const firn_snapshot *snapshot,
                                        const firn_live_files *known, firn_live_files *out,
                                        firn_error *error);
/**
 * Those of the manifests whose partition summaries may match a filter (NULL: of all); the other manifests are not opened. What is here of a partition that may match is complete, its delete files
 * too: only what global equality deletes reach beyond that is not.
 */
firn_status firn_table_live_files_where(firn_table *table, const firn_snapshot *snapshot,
                                        const firn_expression *filter, firn_live_files *out,
                                        firn_error *error);
/**
 * The same by a filter's text (see firn_expression_parse; NULL: all) on the columns of the current schema. FIRN_METRICS_NAN_COUNTS is for a mere look at them: it takes half the time and memory. Metrics are there
 * nevertheless where the snapshot has manifests of deletes, since bounds tell which files equality deletes can't reach.
 */
firn_status firn_table_live_files_matching(firn_table *table, const firn_snapshot *snapshot,
                                           const char *where, firn_manifest_metrics metrics,
                                           firn_live_files *out, firn_error *error);
/**
 * Makes `files`, which no filter has made fewer, those of another snapshot of the same table, or of the same one after a reload. Manifests never change, so what it has of those that both snapshots name is not read again. What pointed into `files` points to
 * what was before and stays readable until the release. On failure `files` is as it was.
 */
firn_status firn_table_live_files_move(firn_table *table, const firn_snapshot *snapshot,
                                       firn_live_files *files, firn_error *error);
/** INVALID where metrics were left out: what a commit writes of them would be lost. */
firn_status firn_live_files_check_metrics(const firn_live_files *files, firn_error *error);
void firn_live_files_release(firn_live_files *files);

/** Refuses by name (UNSUPPORTED) what the verb `what` can't change. Looks at metadata only. */
firn_status firn_table_check_supported(const firn_table *table, const char *what,
                                       firn_error *error);

#endif
