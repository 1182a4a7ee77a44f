#include "cli/lake_options.h"

#include <string.h>

#define KIND(name) (1U << (name))
#define MANIFEST KIND(FIRN_LAKE_MANIFEST)
#define NAMES (MANIFEST | KIND(FIRN_LAKE_LIST))

typedef struct source_option {
    const char *name;
    bool given;
    unsigned kinds;
} source_option;

static const char *for_what(const source_option *option) {
    return option->kinds == NAMES ? "relative locations in a list (--from) or a manifest, and of "
                                    "--unit-folder"
                                  : "the units of a manifest";
}

/* The first option that is given and for none of `kinds`. */
static bool find_idle(const firn_options *given, unsigned kinds, source_option *out) {
    const source_option options[] = {
        {"--base", given->base != NULL, NAMES},
        {"--unit-column", given->unit_column != NULL, MANIFEST},
        {"--rows-column", given->rows_column != NULL, MANIFEST},
        {"--path-column", given->path_column != NULL, MANIFEST},
        {"--unit-folder", given->unit_folder != NULL, MANIFEST},
        {"--unit-property", given->unit_property != NULL, MANIFEST},
        {"--batch", given->batch > 0, MANIFEST},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given || (options[i].kinds & kinds) != 0) continue;
        *out = options[i];
        return true;
    }
    return false;
}

firn_status firn_lake_options_check_source(const firn_invocation *invocation,
                                           firn_lake_source_kind kind, firn_error *error) {
    static const char *const kinds[] = {"files and folders", "a pattern", "a list", "a manifest"};
    source_option idle;
    if (!find_idle(invocation->options, KIND(kind), &idle)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s %s: %s is for %s, and the source is %s: leave it out",
                     invocation->verb->name, invocation->options->arguments[0], idle.name,
                     for_what(&idle), kinds[kind]);
}

firn_status firn_lake_options_check_all(const firn_invocation *invocation, firn_error *error) {
    unsigned kinds = 0;
    source_option idle;
    for (size_t i = 0; i < firn_config_lake_count(invocation->config); i++) {
        const firn_lake_config *lake = firn_config_lake_at(invocation->config, i);
        if (firn_lake_config_setting(lake, "source.manifest") != NULL) kinds |= MANIFEST;
        if (firn_lake_config_setting(lake, "source.list") != NULL) kinds |= KIND(FIRN_LAKE_LIST);
    }
    if (!find_idle(invocation->options, kinds, &idle)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "sync: %s is for %s, and no table under lakes has such a source: leave it out",
                     idle.name, for_what(&idle));
}

/* Of what a pipe doesn't name nobody knows whether it is gone: the policy would never do anything. */
firn_status firn_lake_options_check_missing(const char *table, const firn_sync_options *options,
                                            bool by_option, firn_error *error) {
    const firn_lake_source *source = &options->source;
    bool streamed = source->kind == FIRN_LAKE_LIST && strcmp(source->locations[0], "-") == 0;
    if (options->once || !streamed || options->on_missing == FIRN_LAKE_ERROR) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "sync %s: --from - and --on-missing %s: standard input lists what is there to "
                     "add, and nothing is missed that it lacks. Give the whole list as a file "
                     "(--from FILE), or %s",
                     table, options->on_missing == FIRN_LAKE_DELETE ? "delete" : "report",
                     by_option ? "leave --on-missing out"
                               : "say --on-missing error, which goes before the configuration");
}
