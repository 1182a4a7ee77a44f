#include "cli/commands.h"
#include "cli/registration.h"
#include "report/table_facts.h"

/* Fails with EXISTS, as registering itself would. */
static firn_status check_free(firn_invocation *invocation, firn_table_name name,
                              const char *argument, firn_error *error) {
    bool found = false;
    FIRN_TRY(firn_catalog_find(invocation->catalog, name, &found, NULL, error));
    if (!found) return FIRN_OK;
    return firn_fail(error, FIRN_EXISTS, "%s: there is a table %s already; choose another name",
                     firn_catalog_describe(invocation->catalog), argument);
}

/* Reads what is to be registered, by a catalog of its own. *location and *metadata are in `pointer`. */
static firn_status read_metadata(firn_invocation *invocation, const char *argument,
                                 firn_table_pointer *pointer, firn_error *error) {
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    firn_catalog *catalog = NULL;
    FIRN_TRY(firn_catalog_path_open(argument, invocation->storage, &catalog, error));
    firn_table_name name = {"", argument};
    firn_status status = firn_catalog_load(catalog, name, pointer, error);
    firn_catalog_close(catalog);
    return status;
}

firn_status firn_registration_open(firn_invocation *invocation, const char *table, bool acts,
                                   bool *absent, firn_error *error) {
    firn_status status = firn_invocation_open_catalog(invocation, table, !acts, false, error);
    *absent = status == FIRN_NOT_FOUND;
    /* INVALID: also a file that is still empty. */
    if (!*absent && status != FIRN_INVALID) return status;
    firn_error_clear(error);
    return firn_invocation_open_catalog(invocation, table, !acts, true, error);
}

static void fill_report(firn_invocation *invocation, const char *name,
                        const firn_table_pointer *pointer, bool acts, bool absent) {
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    const firn_table_metadata *metadata = pointer->metadata;
    const char *catalog = firn_catalog_describe(invocation->catalog);
    firn_section_line(root, "%s %s as %s", acts ? "Registered" : "Would register",
                      pointer->metadata_location, name);
    firn_section_add(root, "preview", NULL, firn_cell_boolean(!acts));
    firn_section_add(root, "registered", NULL, firn_cell_boolean(acts));
    firn_section_add(root, "table", NULL, firn_cell_text(name));
    firn_section_add(root, "catalog", "  catalog",
                     firn_cell_text(firn_report_copy(report, catalog)));
    firn_section_add(root, "makes_catalog", NULL, firn_cell_boolean(absent));
    firn_section_add(root, "metadata_location", "  metadata file",
                     firn_cell_text(firn_report_copy(report, pointer->metadata_location)));
    firn_section_add(root, "location", "  location",
                     firn_cell_text(firn_report_copy(report, metadata->location)));
    firn_section_add(root, "table_uuid", "  uuid",
                     firn_cell_text(firn_report_copy(report, metadata->table_uuid)));
    firn_section_add(root, "format_version", "  format version",
                     firn_cell_integer(metadata->format_version));
    firn_section_add(root, "snapshot_count", "  snapshots",
                     firn_cell_count((int64_t)metadata->snapshot_count));
    if (acts) return;
    firn_section_line(root, "%s", "");
    if (absent) firn_section_line(root, "The catalog file does not exist yet and would be made.");
    firn_section_line(root, "Nothing was changed. Add --yes to do it.");
}

firn_status firn_command_catalog_register(firn_invocation *invocation, firn_error *error) {
    const char *argument = invocation->options->arguments[0];
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {0};
    if (firn_table_argument_is_path(argument)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is a path; the first argument is the new name: firn catalog "
                         "register NAME METADATA",
                         argument);
    }
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, &name, error));
    firn_table_pointer pointer = {0};
    bool acts = firn_invocation_acts(invocation);
    bool absent = false;
    firn_status status = FIRN_OK;
    FIRN_CHECK(read_metadata(invocation, invocation->options->arguments[1], &pointer, error));
    FIRN_CHECK(firn_registration_open(invocation, argument, acts, &absent, error));
    FIRN_CHECK(check_free(invocation, name, argument, error));
    FIRN_CHECK(firn_invocation_new_report(invocation, error));
    fill_report(invocation, argument, &pointer, acts, absent);
    FIRN_CHECK(firn_report_status(invocation->report, error));
    if (acts) {
        FIRN_CHECK(
            firn_catalog_register(invocation->catalog, name, pointer.metadata_location, error));
        invocation->done = "the table was registered";
    }
out:
    firn_table_pointer_release(&pointer);
    return status;
}
