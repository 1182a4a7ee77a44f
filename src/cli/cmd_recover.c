#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/registration.h"
#include "lake/recover.h"
#include "report/table_facts.h"

/** A name may only be given anew where what it points at is gone. *dangling: that is so; NULL: the name is free. */
static firn_status check_name(firn_invocation *invocation, firn_table_name name,
                              const char *argument, const char **dangling, firn_error *error) {
    firn_storage_stat stat;
    bool found = false;
    char *location = NULL;
    *dangling = NULL;
    FIRN_TRY(firn_catalog_find(invocation->catalog, name, &found, &location, error));
    if (!found) return FIRN_OK;
    if (location != NULL) {
        const char *kept = firn_report_copy(invocation->report, location);
        firn_free(location);
        FIRN_TRY(firn_report_status(invocation->report, error));
        firn_status status = firn_storage_stat_file(invocation->storage, kept, &stat, error);
        if (status == FIRN_NOT_FOUND) {
            if (error != NULL) firn_error_clear(error);
            *dangling = kept;
            return FIRN_OK;
        }
        FIRN_TRY(status);
    }
    return firn_fail(error, FIRN_EXISTS,
                     "%s: there is a table %s already, and its metadata file is there; choose "
                     "another name",
                     firn_catalog_describe(invocation->catalog), argument);
}

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

/** Files that are gone leave no other trace. */
static void warn(firn_section *section, const firn_recovery *found, const char *dangling) {
    if (dangling != NULL) {
        firn_section_line(section, "The catalog's own file is gone. Commits that came after the "
                                   "newest file that is there are lost.");
    } else if (found->hint_names_none) {
        firn_section_line(section, "version-hint.text names a file that is not there: a newer one "
                                   "may be lost.");
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
    warn(root, found, dangling);
    if (acts) return;
    if (absent) firn_section_line(root, "The catalog file does not exist yet and would be made.");
    firn_section_line(root, "Nothing was changed. Add --yes to do it.");
}

static firn_status enter(firn_invocation *invocation, firn_table_name name,
                         const firn_recovery *found, const char *dangling, firn_error *error) {
    if (dangling != NULL) {
        return firn_catalog_repoint(invocation->catalog, name, dangling, found->metadata_location,
                                    error);
    }
    return firn_catalog_register(invocation->catalog, name, found->metadata_location, error);
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
    FIRN_CHECK(firn_invocation_load_storage(invocation, error));
    FIRN_CHECK(
        firn_recover_find(invocation->storage, invocation->options->arguments[1], &found, error));
    FIRN_CHECK(firn_registration_open(invocation, argument, acts, &absent, error));
    FIRN_CHECK(firn_invocation_new_report(invocation, error));
    FIRN_CHECK(check_name(invocation, name, argument, &dangling, error));
    fill_report(invocation, argument, &found, dangling, acts, absent);
    FIRN_CHECK(firn_report_status(invocation->report, error));
    if (acts) {
        FIRN_CHECK(enter(invocation, name, &found, dangling, error));
        invocation->done = "the table was recovered";
    }
out:
    firn_recovery_release(&found);
    return status;
}
