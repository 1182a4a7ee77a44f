#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "cli/commands.h"
#include "lake/layout.h"

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

static void add_lakes(firn_section *root, const firn_config *config) {
    static const firn_column columns[] = {
        {"table", "table"}, {"setting", "setting"}, {"value", "value"}, {"source", "comes from"}};
    size_t count = firn_config_lake_count(config);
    firn_rows *rows = firn_section_rows(root, "lakes", count == 0 ? "" : "Lakes", columns, 4, NULL);
    for (size_t i = 0; i < count; i++) {
        const firn_lake_config *lake = firn_config_lake_at(config, i);
        for (size_t j = 0; j < lake->setting_count; j++) {
            const firn_config_property *setting = &lake->settings[j];
            const firn_cell cells[] = {
                firn_cell_text(lake->table),
                firn_cell_text(setting->key),
                firn_cell_text(setting->value),
                firn_cell_text(setting->source),
            };
            firn_rows_add(rows, cells);
        }
    }
}

firn_status firn_command_config_show(firn_invocation *invocation, firn_error *error) {
    static const firn_column columns[] = {{"catalog", "catalog"},
                                          {"setting", "setting"},
                                          {"value", "value"},
                                          {"source", "comes from"}};
    FIRN_TRY(firn_invocation_load_config(invocation, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    add_files(root, invocation->config);
    firn_rows *rows = firn_section_rows(root, "settings", "Catalogs", columns, 4, "none");
    for (size_t i = 0; i < firn_config_catalog_count(invocation->config); i++) {
        const firn_catalog_config *catalog = firn_config_catalog_at(invocation->config, i);
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
    add_lakes(root, invocation->config);
    return firn_report_status(invocation->report, error);
}

/* Rules are read one by one, so that the message names the line of the one that is wrong. */
static firn_status check_rules(const firn_lake_config *lake, firn_error *error) {
    const char **rules = firn_alloc_array(lake->setting_count + 1, sizeof *rules);
    if (rules == NULL) return firn_fail_memory(error);
    size_t count = 0;
    firn_status status = FIRN_OK;
    for (size_t i = 0; i < lake->setting_count && status == FIRN_OK; i++) {
        const firn_config_property *setting = &lake->settings[i];
        if (strcmp(setting->key, "partition") != 0) continue;
        firn_lake_layout *layout = NULL;
        rules[count++] = setting->value;
        status = firn_lake_layout_new(rules, count, &layout, error);
        firn_lake_layout_free(layout);
        firn_error_wrap(error, status, "%s: lakes.%s.partition", setting->source, lake->table);
    }
    firn_free(rules);
    return status;
}

static firn_status check_table(const firn_lake_config *lake, firn_error *error) {
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name;
    if (firn_table_argument_is_path(lake->table)) return FIRN_OK;
    firn_status status = firn_table_name_parse(lake->table, namespace_name, &name, error);
    if (status == FIRN_OK) status = firn_table_name_check_new(name, error);
    return firn_error_wrap(error, status, "%s: lakes", lake->source);
}

static firn_status check(const firn_config *config, firn_error *error) {
    FIRN_TRY(firn_config_check(config, error));
    for (size_t i = 0; i < firn_config_lake_count(config); i++) {
        FIRN_TRY(check_table(firn_config_lake_at(config, i), error));
        FIRN_TRY(check_rules(firn_config_lake_at(config, i), error));
    }
    return FIRN_OK;
}

firn_status firn_command_config_validate(firn_invocation *invocation, firn_error *error) {
    const char *path = invocation->options->config;
    if (invocation->options->argument_count > 0) path = invocation->options->arguments[0];
    FIRN_TRY(firn_config_load(path, &invocation->config, error));
    FIRN_TRY(check(invocation->config, error));
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    size_t count = firn_config_catalog_count(invocation->config);
    firn_section_add(root, "valid", NULL, firn_cell_boolean(true));
    size_t lakes = firn_config_lake_count(invocation->config);
    firn_section_add(root, "catalogs", NULL, firn_cell_count((int64_t)count));
    firn_section_add(root, "lakes", NULL, firn_cell_count((int64_t)lakes));
    if (lakes == 0) {
        firn_section_line(root, "The configuration is valid: %zu catalog%s.", count,
                          firn_plural(count));
    } else {
        firn_section_line(root, "The configuration is valid: %zu catalog%s, %zu lake%s.", count,
                          firn_plural(count), lakes, firn_plural(lakes));
    }
    add_files(root, invocation->config);
    return firn_report_status(invocation->report, error);
}
