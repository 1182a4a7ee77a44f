#include "cli/commands.h"

static void add_files(firn_section *root, const firn_config *config) {
    static const firn_column columns[] = {{"path", "file"}};
    firn_report *report = firn_section_report(root);
    firn_rows *rows =
        firn_section_rows(root, "files", "Files read, the first counts most", columns, 1, "none");
    for (size_t i = 0; i < firn_config_file_count(config); i++) {
        const firn_cell cell =
            firn_cell_text(firn_report_copy(report, firn_config_file_at(config, i)));
        firn_rows_add(rows, &cell);
    }
}

firn_status firn_command_config_show(firn_session *session, firn_error *error) {
    static const firn_column columns[] = {{"catalog", "catalog"},
                                          {"setting", "setting"},
                                          {"value", "value"},
                                          {"source", "comes from"}};
    FIRN_TRY(firn_session_load_config(session, error));
    FIRN_TRY(firn_session_new_report(session, error));
    firn_section *root = firn_report_root(session->report);
    add_files(root, session->config);
    firn_rows *rows = firn_section_rows(root, "settings", "Catalogs", columns, 4, "none");
    for (size_t i = 0; i < firn_config_catalog_count(session->config); i++) {
        const firn_catalog_config *catalog = firn_config_catalog_at(session->config, i);
        for (size_t j = 0; j < catalog->property_count; j++) {
            const firn_config_property *property = &catalog->properties[j];
            bool secret = firn_config_is_secret(property->key, property->value);
            const firn_cell cells[] = {
                firn_cell_text(catalog->name),
                firn_cell_text(property->key),
                firn_cell_text(secret ? "(secret)" : property->value),
                firn_cell_text(property->source),
            };
            firn_rows_add(rows, cells);
        }
    }
    return firn_report_status(session->report, error);
}

firn_status firn_command_config_validate(firn_session *session, firn_error *error) {
    const char *path = session->options->config;
    if (session->options->argument_count > 0) path = session->options->arguments[0];
    FIRN_TRY(firn_config_load(path, &session->config, error));
    FIRN_TRY(firn_session_new_report(session, error));
    firn_section *root = firn_report_root(session->report);
    size_t count = firn_config_catalog_count(session->config);
    firn_section_add(root, "valid", NULL, firn_cell_boolean(true));
    firn_section_add(root, "catalogs", NULL, firn_cell_count((int64_t)count));
    firn_section_line(root, "The configuration is valid: %zu catalog%s.", count,
                      count == 1 ? "" : "s");
    add_files(root, session->config);
    return firn_report_status(session->report, error);
}
