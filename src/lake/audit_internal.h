/** Shared by the parts of the audit; not for other files. */
#ifndef FIRN_LAKE_AUDIT_INTERNAL_H
#define FIRN_LAKE_AUDIT_INTERNAL_H

#include "base/map.h"
#include "iceberg/delete_index.h"
#include "iceberg/name_mapping.h"
#include "lake/audit.h"
#include "lake/columns.h"
#include "lake/facts.h"
#include "lake/footers.h"
#include "table/ledger_property.h"

/** A live data file's entry, and what is to become of it. */
typedef struct firn_audit_entry {
    const firn_live_file *live;
    size_t next; /**< another entry of the same file; SIZE_MAX: none */
    bool goes;
    bool linked;                 /**< symbolic links or ".." are in its path */
    const firn_data_file *fixed; /**< as it should be; NULL: it is right, or can't be helped */
} firn_audit_entry;

/** What files with the same columns have in common. */
typedef struct firn_audit_class {
    firn_lake_columns columns;
    bool unmapped; /**< names alone tell some of its columns, and the table's mapping does not */
    const char *problem; /**< why it can't be read as the table; NULL */
} firn_audit_class;

typedef struct firn_auditor {
    firn_table *table;
    const firn_audit_options *options;
    firn_audit *out;
    firn_live_files files;
    firn_audit_entry *entries; /**< by data file */
    /* Each file once: the entry that stays, and the file as it is on disk. */
    firn_lake_file *listed;
    size_t *heads;
    size_t listed_count;
    const firn_name_mapping *mapping; /**< the table's; NULL */
    const firn_name_mapping *whole;   /**< as it should be */
    firn_map *classes;
    firn_delete_index *deletes;
    firn_arena *scratch; /**< of one file */
    size_t unmapped;     /**< files */
    const char *first_unmapped;
} firn_auditor;

/** Looks; what is to be done is in `entries` afterwards. Release also after a failure. */
firn_status firn_auditor_run(firn_auditor *auditor, firn_table *table,
                             const firn_audit_options *options, firn_audit *out, firn_error *error);
void firn_auditor_release(firn_auditor *auditor);

/** Adds a finding; the message is formatted, `file` copied. */
firn_status firn_audit_add(firn_audit *out, firn_audit_kind kind, const char *file, bool fixable,
                           firn_error *error, const char *format, ...) FIRN_PRINTF(6, 7);
/** Makes a failure that tells of the file a finding: then OK. */
firn_status firn_audit_take(const firn_auditor *auditor, firn_status status,
                            const firn_error *problem, const char *file, firn_error *error);

/** Finds files that are live more than once, lists each once, and says which entry stays. */
firn_status firn_audit_list_files(firn_auditor *auditor, firn_error *error);
/** Looks into the listed files. */
firn_status firn_audit_look_into_files(firn_auditor *auditor, firn_error *error);

/** Whether no delete file that goes by partition reaches the file, neither as its entry is nor as it would be. */
firn_status firn_audit_may_move(firn_auditor *auditor, const firn_manifest_entry *now,
                                const firn_data_file *then, bool *out, firn_error *error);

/** A file that is looked into. */
typedef struct firn_audit_file {
    const firn_lake_file *file;
    const firn_parquet_file *parquet;
    const firn_lake_columns *columns;
    firn_audit_entry *entry;
    firn_data_file fixed; /**< begins as the entry is */
    bool changed;         /**< it differs, and may */
} firn_audit_file;

/** The tuple against the rows. */
firn_status firn_audit_partition(firn_auditor *auditor, firn_audit_file *file, firn_error *error);
/** The column metrics against the footer, or (deep) the values. */
firn_status firn_audit_bounds(firn_auditor *auditor, firn_audit_file *file, firn_error *error);

/** The facts of a column from its values: bounds are exact, NaNs counted. Bytes in `arena`. The leaf is not below a list or map. */
firn_status firn_audit_read_column(const firn_auditor *auditor, const firn_audit_file *file,
                                   size_t leaf, const firn_field *field, firn_arena *arena,
                                   firn_lake_column_facts *out, firn_error *error);

#endif
