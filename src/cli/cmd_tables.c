#include "cli/commands.h"

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
    list.rows =
        firn_section_rows(root, "tables", NULL, columns, 4,
                          firn_report_format(invocation->report, "no tables in %s", catalog));
    return firn_catalog_list(invocation->catalog, add_table, &list, error);
}
