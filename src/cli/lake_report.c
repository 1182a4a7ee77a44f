#include "cli/lake_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/error_report.h"
#include "report/format.h"
#include "report/table_facts.h"

/* Longer lists are cut in text. */
#define LONGEST_LIST 20

static firn_cell copied(firn_report *report, const char *text) {
    return text == NULL ? firn_cell_null() : firn_cell_text(firn_report_copy(report, text));
}

static firn_cell counted(size_t count) {
    return firn_cell_count((int64_t)count);
}

/* --- lists: whole in JSON, cut in text ----------------------------------------------------------- */

typedef struct findings_list {
    const char *key, *heading;
    const firn_sync_finding *items;
    size_t count;
} findings_list;

static firn_cell snapshot_ids(firn_report *report, const firn_sync_finding *finding) {
    json_t *ids = json_array();
    for (size_t i = 0; i < finding->snapshots && i < FIRN_SYNC_SNAPSHOTS; i++) {
        if (ids != NULL) json_array_append_new(ids, json_integer(finding->snapshot_ids[i]));
    }
    return firn_cell_json(firn_report_json(report, ids), NULL);
}

/* "17, 18 and 3 more" */
static firn_cell named_by(firn_report *report, const firn_sync_finding *finding) {
    char text[FIRN_SYNC_SNAPSHOTS * 24 + 40] = "";
    size_t length = 0;
    size_t shown =
        finding->snapshots < FIRN_SYNC_SNAPSHOTS ? finding->snapshots : FIRN_SYNC_SNAPSHOTS;
    if (shown == 0) return firn_cell_null();
    for (size_t i = 0; i < shown; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64,
                                   i == 0 ? "" : ", ", finding->snapshot_ids[i]);
    }
    if (finding->snapshots > shown) {
        snprintf(text + length, sizeof text - length, " and %zu more", finding->snapshots - shown);
    }
    return copied(report, text);
}

static void add_all(firn_section *root, const findings_list *list) {
    static const firn_column columns[] = {{"file", NULL},      {"unit", NULL},
                                          {"reason", NULL},    {"done", NULL},
                                          {"snapshots", NULL}, {"snapshot_ids", NULL}};
    firn_report *report = firn_section_report(root);
    firn_rows *rows = firn_section_rows(root, list->key, "", columns, 6, NULL);
    for (size_t i = 0; i < list->count; i++) {
        const firn_sync_finding *finding = &list->items[i];
        const firn_cell cells[] = {
            copied(report, finding->location), copied(report, finding->unit),
            copied(report, finding->reason),   copied(report, finding->done),
            counted(finding->snapshots),       snapshot_ids(report, finding)};
        firn_rows_add(rows, cells);
    }
}

#define FILE_COLUMN                                                                                \
    { NULL, "file" }
#define UNIT_COLUMN                                                                                \
    { NULL, "unit" }
#define REASON_COLUMN                                                                              \
    { NULL, "reason" }
#define DONE_COLUMN                                                                                \
    { NULL, "done" }
#define SNAPSHOTS_COLUMN                                                                           \
    { NULL, "named by snapshots" }

/* Columns that would be empty are left out. */
static void add_some(firn_section *root, const findings_list *list) {
    static const firn_column columns[8][5] = {
        {FILE_COLUMN, REASON_COLUMN},
        {FILE_COLUMN, REASON_COLUMN, SNAPSHOTS_COLUMN},
        {FILE_COLUMN, REASON_COLUMN, DONE_COLUMN},
        {FILE_COLUMN, REASON_COLUMN, DONE_COLUMN, SNAPSHOTS_COLUMN},
        {FILE_COLUMN, UNIT_COLUMN, REASON_COLUMN},
        {FILE_COLUMN, UNIT_COLUMN, REASON_COLUMN, SNAPSHOTS_COLUMN},
        {FILE_COLUMN, UNIT_COLUMN, REASON_COLUMN, DONE_COLUMN},
        {FILE_COLUMN, UNIT_COLUMN, REASON_COLUMN, DONE_COLUMN, SNAPSHOTS_COLUMN}};
    firn_report *report = firn_section_report(root);
    bool units = false, done = false, snapshots = false;
    for (size_t i = 0; i < list->count; i++) {
        units = units || list->items[i].unit != NULL;
        done = done || list->items[i].done != NULL;
        snapshots = snapshots || list->items[i].snapshots > 0;
    }
    size_t which = (units ? 4U : 0U) + (done ? 2U : 0U) + (snapshots ? 1U : 0U);
    size_t count = 2U + (units ? 1U : 0U) + (done ? 1U : 0U) + (snapshots ? 1U : 0U);
    firn_rows *rows = firn_section_rows(root, NULL, list->heading, columns[which], count, NULL);
    for (size_t i = 0; i < list->count && i < LONGEST_LIST; i++) {
        const firn_sync_finding *finding = &list->items[i];
        firn_cell cells[5];
        count = 0;
        cells[count++] = copied(report, finding->location);
        if (units) cells[count++] = copied(report, finding->unit);
        cells[count++] = copied(report, finding->reason);
        if (done) cells[count++] = copied(report, finding->done);
        if (snapshots) cells[count++] = named_by(report, finding);
        firn_rows_add(rows, cells);
    }
    if (list->count > LONGEST_LIST) {
        firn_section_line(root, "  and %zu more", list->count - LONGEST_LIST);
    }
}

static void add_findings(firn_section *root, const findings_list *list) {
    add_all(root, list);
    if (list->count > 0) add_some(root, list);
}

static void add_ignored(firn_section *root, const firn_sync_result *result) {
    static const firn_column json[] = {{"file", NULL}, {"reason", NULL}};
    static const firn_column text[] = {{NULL, "file"}, {NULL, "reason"}};
    firn_report *report = firn_section_report(root);
    firn_rows *all = firn_section_rows(root, "ignored", "", json, 2, NULL);
    firn_rows *some = NULL;
    if (result->ignored.count > 0) {
        some = firn_section_rows(root, NULL, "Ignored", text, 2, NULL);
    }
    for (size_t i = 0; i < result->ignored.count; i++) {
        const firn_cell cells[] = {copied(report, result->ignored.items[i].location),
                                   copied(report, result->ignored.items[i].reason)};
        firn_rows_add(all, cells);
        if (i < LONGEST_LIST) firn_rows_add(some, cells);
    }
    if (result->ignored.count > LONGEST_LIST) {
        firn_section_line(root, "  and %zu more", result->ignored.count - LONGEST_LIST);
    }
}

static void add_columns(firn_section *root, const firn_sync_result *result) {
    static const firn_column columns[] = {
        {"column", "column"}, {"what", "what"}, {"file", "first seen in"}};
    firn_report *report = firn_section_report(root);
    bool none = result->surprises.count == 0;
    firn_rows *rows = firn_section_rows(root, "columns", none ? NULL : "Columns", columns, 3, NULL);
    for (size_t i = 0; i < result->surprises.count; i++) {
        const firn_schema_surprise *surprise = &result->surprises.items[i];
        const firn_cell cells[] = {copied(report, surprise->column), copied(report, surprise->what),
                                   copied(report, surprise->location)};
        firn_rows_add(rows, cells);
    }
}

static void add_commits(firn_section *root, const firn_sync_result *result) {
    static const firn_column json[] = {{"snapshot_id", NULL},   {"sequence_number", NULL},
                                       {"units", NULL},         {"files", NULL},
                                       {"rows", NULL},          {"bytes", NULL},
                                       {"files_removed", NULL}, {"rows_removed", NULL}};
    static const firn_column text[] = {{NULL, "snapshot"},
                                       {NULL, "sequence number"},
                                       {NULL, "units"},
                                       {NULL, "files"},
                                       {NULL, "rows"},
                                       {NULL, "size"},
                                       {NULL, "files taken out"},
                                       {NULL, "rows taken out"}};
    firn_rows *all = firn_section_rows(root, "commits", "", json, 8, NULL);
    firn_rows *some = NULL;
    size_t count = result->commits.count;
    /* Most runs take nothing out. */
    size_t columns = result->files_removed > 0 ? 8 : 6;
    if (count > 0) some = firn_section_rows(root, NULL, "Commits", text, columns, NULL);
    for (size_t i = 0; i < count; i++) {
        const firn_sync_commit *commit = &result->commits.items[i];
        const firn_cell cells[] = {firn_cell_integer(commit->snapshot_id),
                                   firn_cell_integer(commit->sequence_number),
                                   counted(commit->units),
                                   counted(commit->files),
                                   firn_cell_count(commit->rows),
                                   firn_cell_bytes(commit->bytes),
                                   counted(commit->files_removed),
                                   firn_cell_count(commit->rows_removed)};
        firn_rows_add(all, cells);
        if (i < LONGEST_LIST) firn_rows_add(some, cells);
    }
    if (count > LONGEST_LIST) firn_section_line(root, "  and %zu more", count - LONGEST_LIST);
}

/* --- facts --------------------------------------------------------------------------------------- */

/* Programs are told what was added, people also what would be. */
static void add_done(firn_section *section, bool shown, size_t count, bool preview) {
    firn_section_add(section, "added", shown && !preview ? "added" : NULL,
                     counted(preview ? 0 : count));
    if (shown && preview) firn_section_add(section, NULL, "to be added", counted(count));
}

static void add_units(firn_section *root, const firn_sync_result *result, bool preview) {
    bool shown = result->told_apart && result->units_listed > 0;
    firn_section *units = firn_section_child(root, "units", shown ? "Units" : NULL);
    firn_section_add(units, "listed", shown ? "listed" : NULL, counted(result->units_listed));
    firn_section_add(units, "known", shown ? "added before" : NULL, counted(result->units_known));
    firn_section_add(units, "pending", shown ? "with new files" : NULL,
                     counted(result->units_pending));
    add_done(units, shown, result->units_added, preview);
}

static void add_files(firn_section *root, const firn_sync_result *result, bool preview) {
    size_t rolled_back = result->files_rolled_back;
    size_t ignored = result->ignored.count;
    bool shown = result->told_apart;
    firn_section *files = firn_section_child(root, "files", shown ? "Files" : NULL);
    firn_section_add(files, "listed", shown ? "listed" : NULL, counted(result->files_listed));
    firn_section_add(files, "known", shown ? "added before" : NULL, counted(result->files_known));
    firn_section_add(files, "new", shown ? "new" : NULL, counted(result->files_new));
    add_done(files, shown, result->files_added, preview);
    bool removed = shown && result->files_removed > 0;
    const char *taken_out = preview ? "to be taken out" : "taken out";
    firn_section_add(files, "removed", removed && !preview ? taken_out : NULL,
                     counted(preview ? 0 : result->files_removed));
    if (removed && preview) {
        firn_section_add(files, NULL, taken_out, counted(result->files_removed));
    }
    firn_section_add(files, "rolled_back",
                     shown && rolled_back > 0 ? "undone by a roll-back" : NULL,
                     counted(rolled_back));
    firn_section_add(files, "ignored", shown && ignored > 0 ? "ignored" : NULL, counted(ignored));
}

static void add_sums(firn_section *root, const firn_sync_result *result, bool preview) {
    bool any = result->files_added > 0 || result->rows_added > 0;
    bool expected = result->rows_expected >= 0;
    firn_section_add(root, "rows_added", any ? (preview ? "rows to add" : "rows added") : NULL,
                     firn_cell_count(result->rows_added));
    firn_section_add(root, "rows_expected", any && expected ? "rows by the manifest" : NULL,
                     expected ? firn_cell_count(result->rows_expected) : firn_cell_null());
    bool removed = result->files_removed > 0;
    firn_section_add(root, "rows_removed",
                     removed ? (preview ? "rows to take out" : "rows taken out") : NULL,
                     firn_cell_count(result->rows_removed));
    firn_section_add(root, "bytes_added", any ? "size" : NULL,
                     firn_cell_bytes(result->bytes_added));
    firn_section_add(root, "partitions", result->partitions > 0 ? "partitions" : NULL,
                     counted(result->partitions));
}

/* News is only that a run makes one of history: nothing else shows that it commits. */
static void add_ledger(firn_section *root, const firn_sync_result *result, bool shown) {
    static const char *const names[] = {NULL, "begun", "rebuilt"};
    const char *made = names[result->ledger_made];
    const char *label = result->ledger_written
                            ? "ledger made of the table's history, entries"
                            : "ledger to be made of the table's history, entries";
    bool told = made != NULL && shown;
    firn_section *ledger = firn_section_child(root, "ledger", NULL);
    firn_section_add(ledger, "made", NULL, made == NULL ? firn_cell_null() : firn_cell_text(made));
    firn_section_add(ledger, "written", NULL, firn_cell_boolean(result->ledger_written));
    firn_section_add(ledger, "segments", NULL, counted(result->ledger_segments));
    firn_section_add(ledger, "entries", NULL, counted(result->ledger_entries));
    if (told) firn_section_add(root, NULL, label, counted(result->ledger_entries));
}

static void add_proofs(firn_section *root, const firn_sync_result *result) {
    bool any = result->files_added > 0;
    firn_section *proof = firn_section_child(root, "proof", any ? "Partitions proved" : NULL);
    firn_section_add(proof, "by_footer", any ? "by footers" : NULL,
                     counted(result->proved_by_footer));
    firn_section_add(proof, "by_column", any ? "by reading a column" : NULL,
                     counted(result->proved_by_column));
    firn_section_add(proof, "asserted", any ? "said by paths alone" : NULL,
                     counted(result->asserted));
    firn_section_add(root, "footers_read", NULL, counted(result->footers_read));
    firn_section_add(root, "stale_position_deletes",
                     result->stale_position_deletes > 0 ? "position delete files that no longer "
                                                          "reach overwritten files"
                                                        : NULL,
                     counted(result->stale_position_deletes));
}

static void add_shape(firn_section *root, const firn_sync_result *result, bool shown) {
    if (result->metadata == NULL) {
        firn_section_add(root, "schema", NULL, firn_cell_null());
        firn_section_add(root, "partition_spec", NULL, firn_cell_null());
        return;
    }
    const firn_table_metadata *metadata = result->metadata;
    if (!shown) {
        /* What is there already is no news for people. */
        firn_section *part = firn_section_quiet(root, "schema");
        firn_facts_add_schema(part, metadata->schema);
        part = firn_section_quiet(root, "partition_spec");
        firn_facts_add_spec(part, metadata->default_spec, metadata->schema);
        return;
    }
    firn_section *part = firn_section_child(root, "schema", "Schema");
    firn_facts_add_schema(part, metadata->schema);
    part = firn_section_child(root, "partition_spec", "Partition spec");
    firn_facts_add_spec(part, metadata->default_spec, metadata->schema);
}

static void add_head(firn_section *root, const char *table, const firn_sync_result *result,
                     bool preview) {
    firn_report *report = firn_section_report(root);
    const char *label = "location";
    if (result->creates && preview) label = "would be made at";
    if (result->created) label = "made at";
    /* What was to be made, and was not, is nowhere. */
    bool nowhere = result->location == NULL || (result->creates && !preview && !result->created);
    firn_section_add(root, "table", "table", copied(report, table));
    firn_section_add(root, "preview", NULL, firn_cell_boolean(preview));
    firn_section_add(root, "creates", NULL, firn_cell_boolean(result->creates));
    firn_section_add(root, "created", NULL, firn_cell_boolean(result->created));
    firn_section_add(root, "evolves", result->evolves ? "schema changes" : NULL,
                     firn_cell_boolean(result->evolves));
    firn_section_add(root, "location", nowhere ? NULL : label, copied(report, result->location));
}

static void add_changed_units(firn_section *root, const firn_sync_result *result) {
    static const firn_column json[] = {
        {"unit", NULL}, {"rows", NULL}, {"rows_gone", NULL}, {"rows_now", NULL}};
    static const firn_column text[] = {{NULL, "unit"},
                                       {NULL, "rows added"},
                                       {NULL, "of them gone"},
                                       {NULL, "rows by the manifest"}};
    firn_report *report = firn_section_report(root);
    size_t count = result->changed_units.count;
    firn_rows *all = firn_section_rows(root, "changed_units", "", json, 4, NULL);
    firn_rows *some = NULL;
    if (count > 0)
        some = firn_section_rows(root, NULL, "Units of other rows by now", text, 4, NULL);
    for (size_t i = 0; i < count; i++) {
        const firn_sync_changed_unit *unit = &result->changed_units.items[i];
        const firn_cell cells[] = {copied(report, unit->unit), firn_cell_integer(unit->rows),
                                   firn_cell_integer(unit->rows_gone),
                                   firn_cell_integer(unit->rows_now)};
        firn_rows_add(all, cells);
        if (i < LONGEST_LIST) firn_rows_add(some, cells);
    }
    if (count > LONGEST_LIST) firn_section_line(root, "  and %zu more", count - LONGEST_LIST);
}

/* People have them on standard error. */
static void add_warnings(firn_section *root, const firn_sync_result *result) {
    static const firn_column columns[] = {{"message", NULL}};
    firn_report *report = firn_section_report(root);
    firn_rows *rows = firn_section_rows(root, "warnings", "", columns, 1, NULL);
    for (size_t i = 0; i < result->warnings.count; i++) {
        const firn_cell cells[] = {copied(report, result->warnings.items[i])};
        firn_rows_add(rows, cells);
    }
}

static bool is_nothing(const firn_sync_result *result) {
    return result->files_added == 0 && result->commits.count == 0 && result->bad.count == 0 &&
           result->replaced.count == 0 && result->missing.count == 0 &&
           result->changed_units.count == 0 && !result->creates &&
           result->ledger_made == FIRN_SYNC_LEDGER_KEPT;
}

static bool has_planned(const firn_sync_finding *findings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *done = findings[i].done;
        if (done != NULL && strncmp(done, "would be", strlen("would be")) == 0) return true;
    }
    return false;
}

/* Whether a run with --yes would change anything: what is left out or only reported is shown, and that is all. */
static bool would_change(const firn_sync_result *result) {
    return result->files_added > 0 || result->creates || result->evolves ||
           result->ledger_made != FIRN_SYNC_LEDGER_KEPT ||
           has_planned(result->replaced.items, result->replaced.count) ||
           has_planned(result->missing.items, result->missing.count);
}

static void add_closing(firn_section *root, const firn_sync_result *result, bool preview,
                        firn_status status) {
    firn_section_line(root, "%s", "");
    if (status == FIRN_OK && is_nothing(result)) {
        bool empty = result->told_apart && result->files_listed == 0;
        const char *text = "Nothing to do.";
        if (empty) text = "The source has no files: nothing to do.";
        if (empty && result->location == NULL) {
            text = "The source has no files, and the table is not there: nothing to do.";
        }
        firn_section_line(root, "%s", text);
    } else if (status == FIRN_OK && preview) {
        firn_section_line(root, would_change(result)
                                    ? "Nothing was changed. Add --yes to do it."
                                    : "Nothing was changed, and nothing would be with --yes.");
    }
    if (result->metadata_location != NULL) {
        firn_section_line(root, "%s", result->metadata_location);
    }
}

void firn_report_sync(firn_section *root, const char *table, const firn_sync_result *result,
                      bool preview, firn_status status, const firn_error *failure) {
    firn_report *report = firn_section_report(root);
    const findings_list lists[] = {
        {"bad", "Files that can't be added", result->bad.items, result->bad.count},
        {"replaced", "Replaced since they were added", result->replaced.items,
         result->replaced.count},
        {"missing", "Added, and gone from the source", result->missing.items,
         result->missing.count},
    };
    add_head(root, table, result, preview);
    firn_section_add(root, "metadata_location", NULL, copied(report, result->metadata_location));
    add_sums(root, result, preview);
    add_units(root, result, preview);
    add_files(root, result, preview);
    add_ledger(root, result, result->ledger_written || (preview && status == FIRN_OK));
    add_proofs(root, result);
    add_shape(root, result, result->creates || result->evolves);
    add_columns(root, result);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) add_findings(root, &lists[i]);
    add_changed_units(root, result);
    add_ignored(root, result);
    add_commits(root, result);
    add_warnings(root, result);
    if (status != FIRN_OK) firn_report_add_error(root, status, failure);
    add_closing(root, result, preview, status);
}
