#include "cli/commands.h"

#include "base/alloc.h"
#include "report/report.h"

typedef struct listing {
    firn_report *report;
    firn_rows *rows;
    int64_t count;
} listing;

static firn_status add_table(void *context, firn_table_name name, const char *metadata_location,
                             firn_error *error) {
    listing *list = context;
    bool bare = name.namespace_name == NULL || name.namespace_name[0] == '\0';
    const char *namespace_name = bare ? "" : firn_report_copy(list->report, name.namespace_name);
    const char *full =
        firn_report_format(list->report, "%s%s%s", namespace_name, bare ? "" : ".", name.name);
    const firn_cell cells[] = {
        firn_cell_text(full),
        firn_cell_text(namespace_name),
        firn_cell_text(firn_report_copy(list->report, name.name)),
        firn_cell_text(firn_report_copy(list->report, metadata_location)),
    };
    firn_rows_add(list->rows, cells);
    list->count++;
    return firn_report_status(list->report, error);
}

/* "no tables in X": of a name that the file does not have it is the name that is wrong. */
static firn_status tell_nothing(firn_invocation *invocation, firn_section *root,
                                const char *catalog, firn_error *error) {
    const char *wanted = invocation->options->catalog_name;
    char *names = NULL;
    FIRN_TRY(firn_catalog_names(invocation->catalog, &names, error));
    if (wanted == NULL || names[0] == '\0') {
        firn_section_line(root, "no tables in %s", catalog);
    } else {
        firn_section_line(root, "no tables in %s; the file holds: %s", catalog, names);
    }
    const char *kept = firn_report_copy(invocation->report, names);
    firn_section_add(root, "catalog_names", NULL, firn_cell_text(kept));
    firn_free(names);
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_tables(firn_invocation *invocation, firn_error *error) {
    static const firn_column columns[] = {{"table", "table"},
                                          {"namespace", NULL},
                                          {"name", NULL},
                                          {"metadata_location", "metadata file"}};
    FIRN_TRY(firn_invocation_open_catalog(invocation, NULL, true, false, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    const char *catalog =
        firn_report_copy(invocation->report, firn_catalog_describe(invocation->catalog));
    firn_section_add(root, "catalog", NULL, firn_cell_text(catalog));
    listing list = {.report = invocation->report};
    list.rows = firn_section_rows(root, "tables", NULL, columns, 4, NULL);
    FIRN_TRY(firn_catalog_list(invocation->catalog, add_table, &list, error));
    return list.count > 0 ? FIRN_OK : tell_nothing(invocation, root, catalog, error);
}
