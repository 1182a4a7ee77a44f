#include <string.h>

#include "cli/commands.h"
#include "cli/registration.h"
#include "lake/recover.h"
#include "report/table_facts.h"

static void add_candidates(firn_report *report, const firn_recovery *found) {
    static const firn_column columns[] = {
        {"metadata_location", NULL}, {"file", "metadata file"},
        {"version", NULL},           {"last_updated_ms", "last updated"},
        {"snapshot_id", "snapshot"}, {"total_records", "rows"},
        {"verdict", "verdict"}};
    firn_rows *rows = firn_section_rows(firn_report_root(report), "candidates",
                                        "Metadata files, newest first:", columns, 7, "none");
    for (size_t i = 0; i < found->candidate_count; i++) {
        const firn_recover_candidate *file = &found->candidates[i];
        const char *location = firn_report_copy(report, file->location);
        const char *slash = location == NULL ? NULL : strrchr(location, '/');
        bool known = file->snapshot_id != FIRN_NO_SNAPSHOT;
        const firn_cell cells[] = {
            firn_cell_text(location),
            firn_cell_text(slash == NULL ? location : slash + 1),
            file->version < 0 ? firn_cell_null() : firn_cell_integer(file->version),
            file->last_updated_ms == 0 ? firn_cell_null() : firn_cell_time(file->last_updated_ms),
            known ? firn_cell_integer(file->snapshot_id) : firn_cell_null(),
            file->total_records < 0 ? firn_cell_null() : firn_cell_count(file->total_records),
            firn_cell_text(firn_report_copy(report, file->verdict)),
        };
        firn_rows_add(rows, cells);
    }
}

static void fill_report(firn_invocation *invocation, const char *name, const firn_recovery *found,
                        const char *dangling, bool acts, bool absent) {
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    const char *catalog = firn_catalog_describe(invocation->catalog);
    firn_section_line(root, "%s %s", acts ? "Recovered" : "Would recover", name);
    firn_section_add(root, "preview", NULL, firn_cell_boolean(!acts));
    firn_section_add(root, "recovered", NULL, firn_cell_boolean(acts));
    firn_section_add(root, "table", NULL, firn_cell_text(name));
    firn_section_add(root, "catalog", "  catalog",
                     firn_cell_text(firn_report_copy(report, catalog)));
    firn_section_add(root, "makes_catalog", NULL, firn_cell_boolean(absent));
    firn_section_add(root, "replaces", dangling == NULL ? NULL : "  instead of",
                     firn_cell_text(dangling));
    firn_section_add(root, "version_hint", found->hint == NULL ? NULL : "  version-hint.text",
                     firn_cell_text(firn_report_copy(report, found->hint)));
    firn_section_add(root, "version_hint_names_a_missing_file", NULL,
                     firn_cell_boolean(found->hint_names_none));
    add_candidates(report, found);
    firn_section_line(root, "%s", "");
    firn_section_add(root, "metadata_location", "metadata file",
                     firn_cell_text(firn_report_copy(report, found->metadata_location)));
    if (dangling != NULL) {
        firn_section_line(root, "The file that the catalog names is gone; it was an older one.");
    }
    if (acts) return;
    if (absent) firn_section_line(root, "The catalog file does not exist yet and would be made.");
    firn_section_line(root, "Nothing was changed. Add --yes to do it.");
}

firn_status firn_command_catalog_recover(firn_invocation *invocation, firn_error *error) {
    const char *argument = invocation->options->arguments[0];
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {0};
    if (firn_table_argument_is_path(argument)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is a path; the first argument is the table's name: firn catalog "
                         "recover NAME LOCATION",
                         argument);
    }
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, &name, error));
    firn_status status = FIRN_OK;
    firn_recovery found = {0};
    const char *dangling = NULL;
    bool acts = firn_invocation_acts(invocation);
    bool absent = false;
    FIRN_CHECK(firn_registration_open(invocation, argument, acts, &absent, error));
    FIRN_CHECK(firn_invocation_new_report(invocation, error));
    FIRN_CHECK(firn_registration_check_name(invocation, name, argument, &dangling, error));
    FIRN_CHECK(firn_recover_find(invocation->storage, invocation->options->arguments[1], dangling,
                                 &found, error));
    FIRN_CHECK(
        firn_registration_check_alone(invocation, name, found.metadata_location, NULL, error));
    fill_report(invocation, argument, &found, dangling, acts, absent);
    FIRN_CHECK(firn_report_status(invocation->report, error));
    if (acts) {
        FIRN_CHECK(
            firn_registration_enter(invocation, name, found.metadata_location, dangling, error));
        invocation->done = "the table was recovered";
    }
out:
    firn_recovery_release(&found);
    return status;
}
