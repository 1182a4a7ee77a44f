/* register and sync. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/lake_options.h"
#include "cli/lake_report.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "lake/sync.h"

/* What a run on one table was asked to do. Text is borrowed from the command line and the configuration. */
typedef struct lake_request {
    const char *table;
    const char *catalog; /* NULL: the default one */
    firn_sync_options options;
    const char **texts;        /* owned: locations, rules */
    firn_property *properties; /* owned; keys are owned, too */
} lake_request;

static void release_request(lake_request *request) {
    for (size_t i = 0; i < request->options.property_count; i++) {
        firn_free((void *)(uintptr_t)request->properties[i].key);
    }
    firn_free(request->properties);
    firn_free(request->texts);
    *request = (lake_request){0};
}

/* --- from the command line and the configuration ------------------------------------------------- */

static const char *setting(const char *flag, const firn_lake_config *lake, const char *key) {
    return flag != NULL ? flag : firn_lake_config_setting(lake, key);
}

static int64_t number(int64_t flag, int64_t unset, const firn_lake_config *lake, const char *key,
                      int64_t otherwise) {
    if (flag != unset) return flag;
    const char *text = firn_lake_config_setting(lake, key);
    return text == NULL ? otherwise : strtoll(text, NULL, 10);
}

static firn_status policy(const char *option, const char *text, bool overwrite,
                          firn_lake_policy *out, firn_error *error) {
    static const char *const names[] = {"error", "report", "delete", "overwrite"};
    static const firn_lake_policy values[] = {FIRN_LAKE_ERROR, FIRN_LAKE_REPORT, FIRN_LAKE_DELETE,
                                              FIRN_LAKE_OVERWRITE};
    size_t count = overwrite ? 4 : 3;
    *out = FIRN_LAKE_ERROR;
    if (text == NULL) return FIRN_OK;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = values[i];
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "option --%s: \"%s\" is none of error, report, %sdelete",
                     option, text, overwrite ? "overwrite, " : "");
}

static firn_status add_property(lake_request *request, const char *key, size_t key_length,
                                const char *value, firn_error *error) {
    char *copy = firn_strndup(key, key_length);
    if (copy == NULL) return firn_fail_memory(error);
    request->properties[request->options.property_count++] = (firn_property){copy, value};
    return FIRN_OK;
}

static firn_status take_properties(lake_request *request, const firn_options *given,
                                   const firn_lake_config *lake, firn_error *error) {
    static const char prefix[] = "properties.";
    size_t configured = lake == NULL ? 0 : lake->setting_count;
    request->properties =
        firn_alloc_array(configured + given->property.count + 1, sizeof *request->properties);
    if (request->properties == NULL) return firn_fail_memory(error);
    request->options.properties = request->properties;
    for (size_t i = 0; i < configured; i++) {
        const char *key = lake->settings[i].key;
        if (strncmp(key, prefix, sizeof prefix - 1) != 0) continue;
        key += sizeof prefix - 1;
        FIRN_TRY(add_property(request, key, strlen(key), lake->settings[i].value, error));
    }
    /* The last one of a key counts. */
    for (size_t i = 0; i < given->property.count; i++) {
        const char *text = given->property.items[i];
        const char *equals = strchr(text, '=');
        if (equals == NULL || equals == text) {
            return firn_fail(error, FIRN_INVALID,
                             "option --property: \"%s\" is no property; it is KEY=VALUE", text);
        }
        FIRN_TRY(add_property(request, text, (size_t)(equals - text), equals + 1, error));
    }
    return FIRN_OK;
}

/* Items of a list: the flag's, else those that the configuration has under `key`. */
static size_t take_texts(const firn_option_list *flag, const firn_lake_config *lake,
                         const char *key, const char **out) {
    size_t count = 0;
    for (size_t i = 0; flag != NULL && i < flag->count; i++) out[count++] = flag->items[i];
    for (size_t i = 0; count == 0 && lake != NULL && i < lake->setting_count; i++) {
        if (strcmp(lake->settings[i].key, key) != 0) continue;
        for (; i < lake->setting_count && strcmp(lake->settings[i].key, key) == 0; i++) {
            out[count++] = lake->settings[i].value;
        }
    }
    return count;
}

typedef struct source_flag {
    const char *option, *key; /* key: in the configuration */
    const char *value;
    firn_lake_source_kind kind;
} source_flag;

static firn_status take_flags(firn_lake_source *source, const firn_options *given,
                              const char **texts, bool *found, firn_error *error) {
    const source_flag flags[] = {
        {"--glob", NULL, given->glob, FIRN_LAKE_GLOB},
        {"--from", NULL, given->from, FIRN_LAKE_LIST},
        {"--manifest", NULL, given->manifest, FIRN_LAKE_MANIFEST},
    };
    const char *first = given->argument_count > 1 ? "files and folders" : NULL;
    for (size_t i = 1; i < given->argument_count; i++) texts[i - 1] = given->arguments[i];
    source->kind = FIRN_LAKE_PATHS;
    source->location_count = first == NULL ? 0 : given->argument_count - 1;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (flags[i].value == NULL) continue;
        if (first != NULL) {
            return firn_fail(error, FIRN_INVALID, "%s and %s: the source is one of them", first,
                             flags[i].option);
        }
        first = flags[i].option;
        source->kind = flags[i].kind;
        source->location_count = 1;
        texts[0] = flags[i].value;
    }
    *found = first != NULL;
    return FIRN_OK;
}

static bool take_configured(firn_lake_source *source, const firn_lake_config *lake,
                            const char **texts) {
    static const source_flag kinds[] = {
        {NULL, "source.folder", NULL, FIRN_LAKE_PATHS},
        {NULL, "source.glob", NULL, FIRN_LAKE_GLOB},
        {NULL, "source.list", NULL, FIRN_LAKE_LIST},
        {NULL, "source.manifest", NULL, FIRN_LAKE_MANIFEST},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t count = take_texts(NULL, lake, kinds[i].key, texts);
        if (count == 0) continue;
        source->kind = kinds[i].kind;
        source->location_count = count;
        return true;
    }
    return false;
}

static firn_status lacks_source(const firn_invocation *invocation, const lake_request *request,
                                firn_error *error) {
    bool once = request->options.once;
    const char *near = once ? NULL : firn_config_nearest_lake(invocation->config, request->table);
    firn_status status = firn_fail(
        error, FIRN_INVALID, "%s %s: no source is given; name files or folders, or say %s",
        invocation->verb->name, request->table,
        once ? "--glob or --from"
             : "--glob, --from or --manifest, or enter the table under lakes in firn.yaml");
    return near == NULL ? status : firn_error_hint(error, status, "is %s meant?", near);
}

static firn_status take_source(lake_request *request, const firn_invocation *invocation,
                               const firn_lake_config *lake, const char **texts,
                               firn_error *error) {
    const firn_options *given = invocation->options;
    firn_lake_source *source = &request->options.source;
    bool found = false;
    source->locations = texts;
    FIRN_TRY(take_flags(source, given, texts, &found, error));
    if (!found && !request->options.once) found = take_configured(source, lake, texts);
    if (!found) return lacks_source(invocation, request, error);
    const firn_lake_config *rest = request->options.once ? NULL : lake;
    source->blames_paths = request->options.once;
    source->base = setting(given->base, rest, "source.base");
    source->unit_column = setting(given->unit_column, rest, "source.unit-column");
    source->rows_column = setting(given->rows_column, rest, "source.rows-column");
    source->path_column = setting(given->path_column, rest, "source.path-column");
    source->unit_folder = setting(given->unit_folder, rest, "source.unit-folder");
    /* Without a TABLE they are for those that have such a source. */
    if (given->argument_count == 0) return FIRN_OK;
    return firn_lake_options_check_source(invocation, source->kind, error);
}

static firn_status take_numbers(firn_sync_options *options, const firn_options *given,
                                const firn_lake_config *lake, firn_error *error) {
    if (given->format_version > 3) {
        return firn_fail(error, FIRN_INVALID,
                         "option --format-version: a table is of version 1, 2 "
                         "or 3");
    }
    options->format_version = (int)number(given->format_version, 0, lake, "format-version", 0);
    options->batch = (size_t)number(given->batch, 0, lake, "batch", 0);
    options->limit = (size_t)number(given->limit, 0, lake, "limit", 0);
    options->retries = (size_t)number(given->retries, -1, lake, "retries", 3);
    options->memory_bytes = given->memory_bytes;
    options->lock_timeout_ms = given->lock_timeout_ms < 0 ? 0 : given->lock_timeout_ms;
    return FIRN_OK;
}

static firn_status fill_request(lake_request *request, const firn_invocation *invocation,
                                const firn_lake_config *lake, firn_error *error) {
    const firn_options *given = invocation->options;
    firn_sync_options *options = &request->options;
    size_t configured = lake == NULL ? 0 : lake->setting_count;
    size_t room = given->argument_count + given->partition.count + 2 * configured + 4;
    request->texts = firn_alloc_array(room, sizeof(const char *));
    if (request->texts == NULL) return firn_fail_memory(error);
    FIRN_TRY(take_source(request, invocation, lake, request->texts, error));
    const char **rules = request->texts + options->source.location_count;
    options->rules = rules;
    options->rule_count = take_texts(&given->partition, lake, "partition", rules);
    const char *skip = firn_lake_config_setting(lake, "skip-bad");
    request->catalog = setting(given->catalog, lake, "catalog");
    options->ref = given->ref;
    options->location = setting(given->location, lake, "location");
    options->unit_property = setting(given->unit_property, lake, "unit-property");
    options->skip_bad = given->skip_bad || (skip != NULL && strcmp(skip, "true") == 0);
    options->rebuild_ledger = given->rebuild_ledger;
    options->force = given->force;
    options->pool = invocation->pool;
    FIRN_TRY(take_numbers(options, given, lake, error));
    FIRN_TRY(take_properties(request, given, lake, error));
    FIRN_TRY(policy("on-replaced", setting(given->on_replaced, lake, "on-replaced"), true,
                    &options->on_replaced, error));
    FIRN_TRY(policy("on-missing", setting(given->on_missing, lake, "on-missing"), false,
                    &options->on_missing, error));
    return firn_lake_options_check_missing(request->table, options, given->on_missing != NULL,
                                           error);
}

/* --- one table ----------------------------------------------------------------------------------- */

/* A catalog file that does not exist yet is made with the first table. */
static firn_status open_catalog(firn_invocation *invocation, const lake_request *request, bool acts,
                                firn_catalog **out, firn_error *error) {
    if (firn_table_argument_is_path(request->table)) {
        FIRN_TRY(firn_invocation_check_path(invocation, request->table, error));
        return firn_catalog_path_open(request->table, invocation->storage, out, error);
    }
    return firn_config_open_catalog(invocation->config, request->catalog,
                                    invocation->options->catalog_name, !acts, true,
                                    invocation->storage, out, error);
}

static const char *find_warehouse(const firn_invocation *invocation, const lake_request *request) {
    const firn_config *config = invocation->config;
    const firn_catalog_config *catalog = request->catalog == NULL
                                             ? firn_config_default_catalog(config)
                                             : firn_config_catalog(config, request->catalog);
    return catalog == NULL ? NULL : firn_catalog_config_property(catalog, "warehouse");
}

static firn_status run_request(firn_invocation *invocation, const lake_request *request,
                               firn_section *section, int *exit_code, firn_error *error) {
    bool acts = firn_invocation_acts(invocation);
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {"", request->table};
    firn_catalog *catalog = NULL;
    firn_sync_result result;
    if (!firn_table_argument_is_path(request->table)) {
        FIRN_TRY(firn_table_name_parse(request->table, namespace_name, &name, error));
    }
    FIRN_TRY(open_catalog(invocation, request, acts, &catalog, error));
    firn_progress progress;
    firn_sync_options options = request->options;
    firn_progress_begin(&progress, NULL, 0,
                        !invocation->options->no_progress && !invocation->options->json);
    options.progress = (firn_sync_progress){firn_progress_tell, &progress};
    firn_status status =
        firn_sync_run(catalog, invocation->storage, name, request->table,
                      find_warehouse(invocation, request), &options, acts, &result, error);
    firn_progress_end(&progress);
    if (result.created || result.commits.count > 0) {
        invocation->done = "files were added to the table";
    }
    firn_report_sync(section, request->table, &result, !acts, status, error);
    invocation->tells_failure = status != FIRN_OK && status != FIRN_NO_MEMORY;
    *exit_code = status != FIRN_OK       ? firn_exit_code(status)
                 : result.bad.count == 0 ? 0
                                         : FIRN_EXIT_PARTLY;
    firn_sync_result_release(&result);
    firn_catalog_close(catalog);
    return status;
}

static firn_status run_table(firn_invocation *invocation, const char *table,
                             const firn_lake_config *lake, firn_section *section, int *exit_code,
                             firn_error *error) {
    lake_request request = {.table = table};
    request.options.once = invocation->verb->run == firn_command_register;
    firn_status status = fill_request(&request, invocation, lake, error);
    if (status == FIRN_OK) status = run_request(invocation, &request, section, exit_code, error);
    *exit_code = status == FIRN_OK ? *exit_code : firn_exit_code(status);
    release_request(&request);
    return status;
}

static firn_status begin(firn_invocation *invocation, firn_error *error) {
    FIRN_TRY(firn_invocation_load_config(invocation, error));
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    FIRN_TRY(firn_invocation_load_pool(invocation, error));
    return firn_invocation_new_report(invocation, error);
}

static firn_status run_one(firn_invocation *invocation, firn_error *error) {
    const char *table = invocation->options->arguments[0];
    const firn_lake_config *lake = firn_config_lake(invocation->config, table);
    FIRN_TRY(run_table(invocation, table, lake, firn_report_root(invocation->report),
                       &invocation->exit_code, error));
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_register(firn_invocation *invocation, firn_error *error) {
    FIRN_TRY(begin(invocation, error));
    return run_one(invocation, error);
}

/* --- every table of the configuration ------------------------------------------------------------ */

/* 7 and 4 go before all else; where every table ends the same it is that, and else "in part". */
static int worse(int a, int b) {
    if (a == 7 || b == 7) return 7;
    if (a == 4 || b == 4) return 4;
    return a == b ? a : FIRN_EXIT_PARTLY;
}

static void tell_failure(firn_invocation *invocation, firn_section *section, const char *table,
                         firn_status status, const firn_error *failure) {
    firn_report *report = invocation->report;
    if (invocation->tells_failure) {
        firn_section_line(section, "failed: %s", failure->message);
        return;
    }
    const firn_sync_result nothing = {.rows_expected = -1};
    firn_report_sync(section, firn_report_copy(report, table), &nothing,
                     !firn_invocation_acts(invocation), status, failure);
    firn_section_line(section, "failed: %s", failure->message);
}

static firn_status run_all(firn_invocation *invocation, firn_error *error) {
    size_t count = firn_config_lake_count(invocation->config);
    if (count == 0) {
        return firn_fail(error, FIRN_INVALID,
                         "sync: no table is named, and the configuration has no lakes");
    }
    firn_section *root = firn_report_root(invocation->report);
    firn_section *tables = firn_section_child(root, "tables", NULL);
    for (size_t i = 0; i < count; i++) {
        const firn_lake_config *lake = firn_config_lake_at(invocation->config, i);
        const char *name = firn_report_copy(invocation->report, lake->table);
        firn_section *section = firn_section_child(tables, name, name);
        int exit_code = 0;
        firn_error failure;
        firn_error_clear(&failure);
        invocation->tells_failure = false;
        firn_status status =
            run_table(invocation, lake->table, lake, section, &exit_code, &failure);
        if (status == FIRN_CANCELLED || status == FIRN_NO_MEMORY) {
            if (error != NULL) *error = failure;
            return status;
        }
        if (status != FIRN_OK) firn_print_error_line(failure.message);
        if (status != FIRN_OK) tell_failure(invocation, section, lake->table, status, &failure);
        invocation->exit_code = i == 0 ? exit_code : worse(invocation->exit_code, exit_code);
    }
    invocation->tells_failure = false;
    return firn_report_status(invocation->report, error);
}

firn_status firn_command_sync(firn_invocation *invocation, firn_error *error) {
    FIRN_TRY(begin(invocation, error));
    if (invocation->options->argument_count > 0) return run_one(invocation, error);
    const firn_options *given = invocation->options;
    if (given->glob != NULL || given->from != NULL || given->manifest != NULL ||
        given->location != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "sync: --glob, --from, --manifest and --location need a TABLE");
    }
    FIRN_TRY(firn_lake_options_check_all(invocation, error));
    return run_all(invocation, error);
}
