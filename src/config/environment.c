#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "config/config_internal.h"

/*
 * PREFIX NAME "__" PROPERTY. As PyIceberg reads it, in any case: "_" stands for "-", and "__" within the
 * property for ".".
 */
typedef struct variable {
    const char *text; /* up to the "=" */
    size_t length;
    const char *value;
    char *name, *property; /* in the arena */
} variable;

static const char *find_separator(const char *text, size_t length) {
    for (size_t i = 0; i + 1 < length; i++) {
        if (text[i] == '_' && text[i + 1] == '_') return text + i;
    }
    return NULL;
}

static char *decode(firn_arena *arena, const char *text, size_t length, bool dots) {
    char *out = firn_arena_alloc(arena, length + 1, 1);
    if (out == NULL) return NULL;
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        char letter = text[i];
        if (dots && letter == '_' && i + 1 < length && text[i + 1] == '_') {
            out[size++] = '.';
            i++;
        } else {
            out[size++] = letter == '_' ? '-' : (char)tolower((unsigned char)letter);
        }
    }
    return out;
}

/* *matches: the variable has the prefix and both parts. */
static firn_status split(firn_arena *arena, const char *entry, const char *prefix, variable *out,
                         bool *matches, firn_error *error) {
    *matches = false;
    const char *equals = strchr(entry, '=');
    size_t prefix_length = strlen(prefix);
    if (equals == NULL || strncasecmp(entry, prefix, prefix_length) != 0) return FIRN_OK;
    const char *rest = entry + prefix_length;
    size_t rest_length = (size_t)(equals - rest);
    const char *separator = find_separator(rest, rest_length);
    if (separator == NULL || separator == rest || separator + 2 == equals) return FIRN_OK;
    out->text = entry;
    out->length = (size_t)(equals - entry);
    out->value = equals + 1;
    out->name = decode(arena, rest, (size_t)(separator - rest), false);
    out->property = decode(arena, separator + 2, (size_t)(equals - separator - 2), true);
    if (out->name == NULL || out->property == NULL) return firn_fail_memory(error);
    *matches = true;
    return FIRN_OK;
}

/* Settings that PyIceberg spells with "_" in its files; in the environment they can't be told apart. */
static const char *file_spelling(const char *property) {
    static const char *const spellings[] = {
        "pool_pre_ping",     "init_catalog_tables",   "region_name",      "botocore_session",
        "aws_access_key_id", "aws_secret_access_key", "aws_session_token"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        const char *a = spellings[i];
        const char *b = property;
        while (*a != '\0' && (*a == *b || (*a == '_' && *b == '-'))) a++, b++;
        if (*a == '\0' && *b == '\0') return spellings[i];
    }
    return property;
}

static firn_status apply(firn_config *config, const variable *setting, bool strict,
                         firn_error *error) {
    const char *source =
        firn_arena_format(config->arena, "environment %.*s", (int)setting->length, setting->text);
    if (source == NULL) return firn_fail_memory(error);
    const char *property = file_spelling(setting->property);
    if (strict) FIRN_TRY(firn_config_check_property(source, property, error));
    firn_catalog_draft *catalog = firn_config_find(config, setting->name);
    if (catalog == NULL) {
        FIRN_TRY(firn_config_add_catalog(config, setting->name, source, &catalog, error));
        catalog->foreign = !strict;
    }
    return firn_config_set(config, catalog, property, setting->value, source, error);
}

static firn_status apply_all(firn_config *config, char *const *environment, const char *prefix,
                             bool strict, firn_error *error) {
    for (size_t i = 0; environment[i] != NULL; i++) {
        variable setting = {0};
        bool matches = false;
        FIRN_TRY(split(config->arena, environment[i], prefix, &setting, &matches, error));
        /* An empty value says nothing, as for PyIceberg. */
        if (matches && setting.value[0] != '\0') FIRN_TRY(apply(config, &setting, strict, error));
    }
    return FIRN_OK;
}

firn_status firn_config_read_environment(firn_config *config, char *const *environment,
                                         firn_error *error) {
    if (environment == NULL) return FIRN_OK;
    FIRN_TRY(apply_all(config, environment, "PYICEBERG_CATALOG__", false, error));
    return apply_all(config, environment, "FIRN_CATALOG__", true, error);
}
