/** A run of sync, as its steps share it; not for other folders. */
#ifndef FIRN_LAKE_SYNC_INTERNAL_H
#define FIRN_LAKE_SYNC_INTERNAL_H

#include "base/map.h"
#include "data/projection.h"
#include "lake/columns.h"
#include "lake/entry.h"
#include "lake/footers.h"
#include "lake/sync.h"

/** The table property by which files without field ids are read (specification, "Name Mapping Serialization"). */
#define FIRN_SYNC_MAPPING_PROPERTY "schema.name-mapping.default"

/** What becomes of a file that is to be read. */
typedef enum firn_sync_state {
    FIRN_SYNC_PENDING,
    FIRN_SYNC_BAD,   /**< can't be added; result->bad says why */
    FIRN_SYNC_TAKEN, /**< another run added it meanwhile */
    FIRN_SYNC_DONE,  /**< committed (a preview: would be) */
    FIRN_SYNC_LATER  /**< beyond the limit: not looked at by this run */
} firn_sync_state;

/** What a file of the listing is to the table. */
typedef enum firn_sync_class {
    FIRN_SYNC_NEW_FILE,
    FIRN_SYNC_KNOWN_FILE,
    FIRN_SYNC_REPLACED_FILE,
    FIRN_SYNC_ADOPTED_FILE /**< of a unit that a property says is in */
} firn_sync_class;

/** What a bad file was held against. */
typedef enum firn_sync_fault {
    FIRN_SYNC_FAULT_OWN,     /**< itself, or the whole plan */
    FIRN_SYNC_FAULT_UNIT,    /**< another file of its unit is bad */
    FIRN_SYNC_FAULT_COLUMNS, /**< the columns of the files before it */
    FIRN_SYNC_FAULT_PATHS    /**< the paths of the files before it */
} firn_sync_fault;

/** A partition. */
typedef struct firn_sync_tuple {
    const firn_value *values;
    bool counted; /**< in result->partitions */
} firn_sync_tuple;

/** What is known of a file that is to be read. There may be millions: it is kept small. */
typedef struct firn_sync_fact {
    uint8_t state;   /**< firn_sync_state */
    uint8_t proof;   /**< firn_lake_proof */
    uint8_t fault;   /**< firn_sync_fault, of a bad one */
    bool overwrites; /**< a replaced file: its live entry goes */
    int64_t rows;
    firn_sync_tuple *tuple; /**< proved; shared by the files of a partition */
} firn_sync_fact;

/** A run of files that are added by one commit: whole units, or all files. */
typedef struct firn_sync_batch {
    size_t first, count;           /**< of work->files */
    size_t first_unit, unit_count; /**< of work->units */
} firn_sync_batch;

/** A unit with files to add. */
typedef struct firn_sync_unit {
    uint32_t unit;       /**< of the listing */
    size_t first, count; /**< of work->files */
} firn_sync_unit;

/** Files that have the same columns. */
typedef struct firn_sync_shape {
    firn_lake_columns columns;
    const firn_lake_entry_plan *plan;
} firn_sync_shape;

/** A file of a table that others filled, modified after the commit that added it. */
typedef struct firn_sync_untold {
    size_t index; /**< in the listing */
    const firn_lake_file *file;
} firn_sync_untold;

typedef struct firn_sync_work {
    firn_catalog *catalog;
    firn_storage *storage;
    firn_table_name name;
    const char *display_name, *warehouse;
    const firn_sync_options *options;
    bool acts;
    firn_sync_result *result;
    firn_arena *arena; /**< for the run */

    firn_lake_listing listing;
    bool listed_again; /**< after the ledger was loaded */
    firn_map *bad_names,
        *bad_units;       /**< of what can't be listed: locations, and units that wait for them */
    size_t found_entries; /**< of the ledger, that the listing has */
    firn_lake_layout *layout;
    firn_table *table; /**< NULL: not there (yet) */
    firn_journal *journal;
    firn_ledger *ledger;
    size_t unread_entries; /**< committed since the ledger was loaded */
    bool ledger_restored;  /**< a rebuilt ledger was committed: it can be loaded again */
    bool from_history;     /**< the table had no ledger: this one is made from its snapshots */
    bool ledger_grew;      /**< something was adopted that the next commit has to write */
    FIRN_VECTOR(firn_ledger_entry) adopted;
    FIRN_VECTOR(const char *) adopted_units;
    FIRN_VECTOR(firn_sync_untold) untold;

    /* New files, by unit, then those that overwrite. The first `new_count` of the former are chosen, those beyond the limit are not. The listing's own where all of it is new. */
    const firn_lake_file *files;
    firn_sync_fact *facts;
    size_t new_count, first_overwrite, file_count;
    firn_sync_unit *units;
    size_t unit_count; /**< that are chosen; result->units_pending of them are there */
    FIRN_VECTOR(firn_sync_batch) batches;
    size_t next_batch; /**< that is to be committed */
    firn_lake_footers *footers;

    /* Replaced and missing files on which a policy acts: entries of the ledger as it was when the run began. */
    FIRN_VECTOR(const firn_lake_file *) replaced_files;
    FIRN_VECTOR(firn_ledger_entry) replaced_entries;
    FIRN_VECTOR(firn_ledger_entry) missing_entries;
    firn_map *
        acted_on; /**< by location: the firn_sync_fact of a replaced file that is overwritten, no value for one that is deleted */

    /* What files are planned against; renewed when the table's schema or spec changed. */
    /* Of the chosen new files those before the first batch that can't be committed, and those that overwrite. */
    size_t planned_count;
    firn_schema_union *schemas;
    firn_table_metadata *planned;
    firn_arena *plan_arena;
    const firn_name_mapping *mapping;
    char *mapping_text; /**< to be set; NULL: stays */
    const firn_lake_binding *binding;
    firn_map *shapes; /**< by firn_lake_columns_key */
    /** The same by firn_parquet_file.known_schema, of `footers`. */
    const firn_sync_shape *known_shapes[FIRN_PARQUET_MAXIMUM_KNOWN_SCHEMAS + 1];
    firn_map *tuples; /**< by firn_value_key; in `plan_arena` */
    int32_t base_schema_id, base_spec_id;
    bool must_update; /**< schema or mapping, before the next append */

    firn_map *walked; /**< manifests whose live files were looked at */
} firn_sync_work;

/* sync_table.c */
/** Opens the table where there is one. */
firn_status firn_sync_open_table(firn_sync_work *work, firn_error *error);
/** Where a new table goes, checked against the source; in `arena`. */
firn_status firn_sync_new_location(firn_sync_work *work, const char **out, firn_error *error);
/** Makes the planned table, and opens it. EXISTS: another one came first. */
firn_status firn_sync_create(firn_sync_work *work, firn_error *error);
/** Brings schema and name mapping of the table to what is planned. CONFLICT: the table has moved on, plan anew. */
firn_status firn_sync_update_table(firn_sync_work *work, firn_error *error);

/* sync_wishes.c */
/** INVALID: a location, version or partition that was asked for of a new table and that the one which is there never had. */
firn_status firn_sync_check_wishes(firn_sync_work *work, firn_error *error);
/** Warns of what was changed in the table since it was made as asked: properties, a version that was raised. */
void firn_sync_tell_wishes(const firn_sync_work *work);

/* sync.c */
/** Logs a warning ("table T: …") and keeps it for the report. */
void firn_sync_warn(const firn_sync_work *work, const char *format, ...) FIRN_PRINTF(2, 3);
/** Lists the source, in place of what was listed before. */
firn_status firn_sync_list(firn_sync_work *work, firn_error *error);

/* sync_missing.c */
/** Notes entries of the ledger that the source speaks of and has no more; `seen`: one per entry, that the listing has it, or (set here) that it is missing. */
firn_status firn_sync_find_missing(firn_sync_work *work, uint8_t *seen, firn_error *error);
/** Looks again, right before the commit: whether the ledger, as it is by now, has the same entry and the file is still not there. */
firn_status firn_sync_still_missing(const firn_sync_work *work, const firn_ledger_entry *entry,
                                    bool *out, firn_error *error);
/** Whether a ledger that was made of history has the entry of a file that the table's own writers made. */
bool firn_sync_is_tables_own(const firn_sync_work *work, const firn_ledger_entry *entry);
/** Whether no other run has given up or added the file since `entry` was copied. */
bool firn_sync_still_added(const firn_sync_work *work, const firn_ledger_entry *entry);

/* sync_restore.c */
/** Whether no listing has shown the file since the ledger was made of history: unit and time may be lacking. */
bool firn_sync_has_history_alone(const firn_ledger_entry *entry);
/** The entry with what the file, as it is listed, tells and history did not: unit and time. False: there was nothing to restore. Texts are the listing's and the entry's. */
bool firn_sync_restore(const firn_sync_work *work, const firn_lake_file *file,
                       const firn_ledger_entry *entry, firn_ledger_entry *out);
/**
 * Whether the file may be the one that was taken out before the ledger was made of history, since nothing shows that it was modified afterwards. Added again it would bring back rows that a policy took out.
 */
bool firn_sync_is_doubtful(const firn_lake_file *file, const firn_ledger_entry *entry);
/** Adopts the units, by their folders, of what was taken out before the ledger was made of history. */
firn_status firn_sync_restore_removed(firn_sync_work *work, firn_error *error);
/** Says that a ledger that is made anew lacks what this source does not list; `seen`: as firn_sync_find_missing left it. */
void firn_sync_warn_of_history_alone(const firn_sync_work *work, const uint8_t *seen);
bool firn_sync_has_unit_folders(const firn_sync_work *work);
/** A set of the names of listed units; owned. */
firn_status firn_sync_name_units(const firn_sync_work *work, firn_map **out, firn_error *error);

/* sync_bad.c */
/** Notes what of the listing can't be listed. */
firn_status firn_sync_note_unlisted(firn_sync_work *work, firn_error *error);
/** Whether the source names a file, or has the unit (nullable), but can't list all of it. */
bool firn_sync_is_unlisted(const firn_sync_work *work, const char *location, const char *unit);
bool firn_sync_is_bad_unit(const firn_sync_work *work, const char *unit);
/** Into the report. */
firn_status firn_sync_tell_unlisted(firn_sync_work *work, firn_error *error);
/** BLOCKED, without skip_bad, where something of these units (NULL: of the source) can't be listed. */
firn_status firn_sync_refuse_unlisted(const firn_sync_work *work, const firn_sync_unit *units,
                                      size_t count, firn_error *error);

/* sync_same.c */
/** Notes new files as bad that are, behind symbolic links, others of the source or of the ledger. */
firn_status firn_sync_refuse_same(firn_sync_work *work, firn_error *error);

/* sync_choose.c */
/** Takes new files, by the firn_sync_class of each, and chooses as many as the limit allows. */
firn_status firn_sync_choose(firn_sync_work *work, const uint8_t *classes, firn_error *error);
/** Once the chosen ones were looked at: those that are bad don't count for the limit. *again: others are chosen now, to be planned anew. */
firn_status firn_sync_choose_again(firn_sync_work *work, bool *again, firn_error *error);
/** Whether the unit waits as a whole, with --skip-bad. */
bool firn_sync_has_bad_file(const firn_sync_work *work, const firn_sync_unit *unit);
/** Of what is chosen, in place of those that were cut before. */
firn_status firn_sync_cut_batches(firn_sync_work *work, firn_error *error);
/** Visits the footers of files that the plan is for; `activity` is what is told of it. */
firn_status firn_sync_visit(const firn_sync_work *work, const char *activity,
                            firn_lake_footer_visitor visit, void *context, firn_error *error);

/* sync_plan.c */
/** Loads the ledger, with what is adopted. */
firn_status firn_sync_load_ledger(firn_sync_work *work, firn_error *error);
/** Tells new, known, replaced and missing files, and chooses of the new ones. */
firn_status firn_sync_classify(firn_sync_work *work, firn_error *error);
/** After others committed: files that they added are not ours to add any more. */
firn_status firn_sync_drop_taken(firn_sync_work *work, firn_error *error);
/** The ledger's entry for a file; its snapshot is filled in by who writes it. */
firn_ledger_entry firn_sync_entry_of(const firn_sync_work *work, const firn_lake_file *file,
                                     int64_t rows);
/** A copy that lives as long as the result; NULL for NULL, or when memory is out. */
const char *firn_sync_keep(firn_sync_work *work, const char *text);
const char *firn_sync_unit_name(const firn_sync_work *work, const firn_lake_file *file);
/** A copy of an entry that lives as long as the result: the ledger is loaded anew after each commit. */
firn_status firn_sync_copy_entry(firn_sync_work *work, const firn_ledger_entry *entry,
                                 firn_ledger_entry *out, firn_error *error);

/** Notes a file as replaced since `entry`; the reason lives as long as the result. */
firn_status firn_sync_add_replaced(firn_sync_work *work, const firn_lake_file *file,
                                   const firn_ledger_entry *entry, const char *reason,
                                   firn_error *error);

/* sync_doubt.c */
/** Of a file that was taken out, as far as history tells, and may lie there still: its firn_sync_class by the policy, which settles it. */
firn_status firn_sync_take_removed(firn_sync_work *work, const firn_lake_file *file,
                                   const firn_ledger_entry *entry, uint8_t *class,
                                   firn_error *error);
/** Of `untold` files: one that has as many rows as were added is that file. */
firn_status firn_sync_ask_footers(firn_sync_work *work, uint8_t *classes, firn_error *error);

/* sync_units.c */
/** What a unit's files add up to. */
typedef struct firn_sync_unit_rows {
    int64_t in; /**< of listed files, as they are once the policies acted */
    int64_t
        gone; /**< of files that were taken out, or that the source has no more, as they were added */
    size_t files_gone;
    bool in_known, gone_known;
} firn_sync_unit_rows;
/** CORRUPT where the sum overflows. */
firn_status firn_sync_add_rows(int64_t *sum, int64_t rows, firn_error *error);
/** Notes replaced files on which a policy will act, for counting. */
firn_status firn_sync_note_acted_on(firn_sync_work *work, firn_error *error);
/** Counts a unit, with those of the `chosen` files (NULL: none) that are pending. What is gone is left out where the rest is what the manifest says. */
firn_status firn_sync_count_unit(const firn_sync_work *work, const firn_lake_unit *unit,
                                 const firn_sync_unit *chosen, firn_sync_unit_rows *out,
                                 firn_error *error);
/** Whether a manifest's count is that of the files that are in, or of all that the unit had; true also where that isn't known. */
bool firn_sync_unit_fits(const firn_sync_unit_rows *rows, int64_t counted);
/** Notes a unit that was added, and doesn't fit its manifest any more, as changed. */
firn_status firn_sync_compare_unit(firn_sync_work *work, const uint8_t *classes,
                                   const firn_lake_unit *unit, firn_error *error);
/** BLOCKED: a unit of which files are overwritten has not as many rows then, with those to be added, as its manifest says. */
firn_status firn_sync_reconcile_overwritten(const firn_sync_work *work, firn_error *error);
/** BLOCKED: the unit's rows, with those to be added, are not as many as its manifest says. */
firn_status firn_sync_reconcile_unit(const firn_sync_work *work, const firn_sync_unit *chosen,
                                     firn_error *error);

/* sync_property.c */
/** BLOCKED where the property of units is of a form in which one of the chosen units can't be named. */
firn_status firn_sync_check_unit_names(const firn_sync_work *work, firn_error *error);
/** Sets the property of units, where one is kept up, with more units; into the commit's `properties`. */
firn_status firn_sync_add_to_property(const firn_sync_work *work, const char *const *units,
                                      size_t count, firn_arena *arena, json_t *properties,
                                      firn_error *error);
/** The same without the units of which the entries that a commit removes were the last files. */
firn_status firn_sync_take_from_property(const firn_sync_work *work,
                                         const firn_ledger_entry *entries, size_t count,
                                         firn_arena *arena, json_t *properties, firn_error *error);

/* sync_live.c */
/** A live file that is the same as one asked for. */
typedef struct firn_sync_live {
    bool live;
    int64_t snapshot_id, sequence_number, size, rows;
} firn_sync_live;
/** Looks which of the files are live now; `out` is zeroed, one for each. Manifests that were walked before are not read again: what was live in them was told then. */
firn_status firn_sync_find_live(firn_sync_work *work, const firn_lake_file *const *files,
                                size_t count, firn_sync_live *out, firn_error *error);

/* sync_prepare.c */
/** Reads footers, finds the schema, the spec and each file's partition, as the files want it that will be added, and no others. */
firn_status firn_sync_prepare(firn_sync_work *work, firn_error *error);
/** The first pending file that the plan is for; the number of files: none. */
size_t firn_sync_first_planned(const firn_sync_work *work);
/** The unit waits as a whole. */
void firn_sync_leave_out(firn_sync_work *work, const firn_sync_unit *unit);

/* sync_readable.c */
/** INVALID: what not all readers could read, in an error that names file and column. UNSUPPORTED: what can't be decoded. */
firn_status firn_sync_check_readable(const firn_lake_footer *footer, firn_error *error);

/* sync_schema.c */
/** Begins a plan: the union of columns. */
firn_status firn_sync_unite(firn_sync_work *work, firn_error *error);
/** From the union to schema, mapping and spec, and each file's partition. */
firn_status firn_sync_plan(firn_sync_work *work, firn_error *error);
/** Whether the table is still what files were planned against. */
bool firn_sync_plan_holds(const firn_sync_work *work);
void firn_sync_plan_release(firn_sync_work *work);
/** Why a file is bad; "" where nothing was noted. Borrowed from the result. */
const char *firn_sync_reason_of_bad(const firn_sync_work *work, size_t index);
/** Notes a file as bad. */
firn_status firn_sync_add_bad(firn_sync_work *work, size_t index, const char *reason,
                              firn_error *error);

/* sync_entry.c */
/** How to read files with the columns of `footer`. INVALID and the like: the file can't be read as the table. */
firn_status firn_sync_shape_of(firn_sync_work *work, const firn_lake_footer *footer,
                               const firn_sync_shape **out, firn_error *error);
/** Proves partitions of pending files. */
firn_status firn_sync_prove(firn_sync_work *work, firn_error *error);
/** The manifest entry of a file whose partition was proved; in `arena`. */
firn_status firn_sync_entry(firn_sync_work *work, const firn_lake_footer *footer, firn_arena *arena,
                            firn_data_file *out, firn_error *error);

/* sync_retry.c */
typedef firn_status (*firn_sync_step)(firn_sync_work *work, void *context, firn_error *error);
/** Runs a step that ends with a commit, again after what may pass by itself: the table is loaded and looked at anew before. */
firn_status firn_sync_try(firn_sync_work *work, firn_sync_step step, void *context,
                          firn_error *error);
/** Files that others added since are dropped, and if need be all is planned anew. */
firn_status firn_sync_follow(firn_sync_work *work, firn_error *error);

/* sync_batch.c */
/** Tells the first batch, of those to come, that can't be committed; the number of batches: all can. */
firn_status firn_sync_find_refused(firn_sync_work *work, size_t *out, firn_error *error);
/** BLOCKED: says how many files are bad, and of the first one why. */
firn_status firn_sync_refuse_for(const firn_sync_work *work, const char *location,
                                 const char *reason, firn_error *error);
/** Fails where the first batch would, before anything is committed. */
firn_status firn_sync_check_first_batch(firn_sync_work *work, firn_error *error);
/** Adds the batches, each in a commit of its own; a preview only counts them. */
firn_status firn_sync_batches(firn_sync_work *work, firn_error *error);
/** Another commit of ours is in the table. */
firn_status firn_sync_note_commit(firn_sync_work *work, const firn_sync_commit *commit,
                                  firn_error *error);
/** Records what was adopted, if no commit did. */
firn_status firn_sync_save_ledger(firn_sync_work *work, firn_error *error);
/** What a ledger commit sets: the properties (owned by the caller) for the entries that are added. */
firn_status firn_sync_ledger_properties(firn_sync_work *work, firn_ledger_entries entries,
                                        int64_t snapshot_id, firn_arena *arena, json_t **out,
                                        const char **text, firn_error *error);

/* sync_history.c */
/** Fills in which snapshots name replaced and missing files. */
firn_status firn_sync_find_snapshots(firn_sync_work *work, firn_error *error);

/* sync_policy.c */
/** Fails for replaced and missing files whose policy is error, or acts on those of the other policies, in one commit. */
firn_status firn_sync_check_policies(firn_sync_work *work, firn_error *error);
firn_status firn_sync_apply_policies(firn_sync_work *work, firn_error *error);

static inline void firn_sync_tell(const firn_sync_work *work, const char *activity, size_t done,
                                  size_t total) {
    const firn_sync_progress *progress = &work->options->progress;
    if (progress->tell != NULL) progress->tell(progress->context, activity, done, total);
}

static inline size_t firn_sync_memory(const firn_sync_work *work, unsigned parts) {
    return (size_t)work->options->memory_bytes / parts;
}

/** Whether a failure is the file's, not the run's. */
static inline bool firn_sync_is_files_fault(firn_status status) {
    return status == FIRN_INVALID || status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED ||
           status == FIRN_NOT_FOUND || status == FIRN_LIMIT || status == FIRN_CONFLICT;
}

#endif
