/* The section `lakes`: which tables follow which sources, and how. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "config/file.h"

typedef enum value_kind {
    VALUE_TEXT,
    VALUE_TEXTS,    /* one, or a list */
    VALUE_COUNT,    /* above 0 */
    VALUE_NUMBER,   /* 0 or more */
    VALUE_VERSION,  /* a format version */
    VALUE_BOOLEAN,  /* true or false */
    VALUE_REPLACED, /* a policy for replaced files */
    VALUE_MISSING,  /* a policy for missing files */
    VALUE_SOURCE,   /* a mapping of the keys below */
    VALUE_ANY       /* a mapping of any keys */
} value_kind;

typedef struct known_key {
    const char *name;
    value_kind kind;
} known_key;

static const known_key lake_keys[] = {
    {"catalog", VALUE_TEXT},         {"source", VALUE_SOURCE},
    {"location", VALUE_TEXT},        {"format-version", VALUE_VERSION},
    {"partition", VALUE_TEXTS},      {"properties", VALUE_ANY},
    {"batch", VALUE_COUNT},          {"limit", VALUE_COUNT},
    {"retries", VALUE_NUMBER},       {"unit-property", VALUE_TEXT},
    {"on-replaced", VALUE_REPLACED}, {"on-missing", VALUE_MISSING},
    {"skip-bad", VALUE_BOOLEAN},
};

/* The first four say what the source is: one of them may stand. */
#define SOURCE_KINDS 4
static const known_key source_keys[] = {
    {"folder", VALUE_TEXTS},     {"glob", VALUE_TEXT},        {"list", VALUE_TEXT},
    {"manifest", VALUE_TEXT},    {"base", VALUE_TEXT},        {"unit-column", VALUE_TEXT},
    {"rows-column", VALUE_TEXT}, {"path-column", VALUE_TEXT}, {"unit-folder", VALUE_TEXT},
};

/* A mapping within an entry while it is read. */
typedef struct lake_mapping {
    firn_lake_draft *lake;
    const known_key *keys; /* NULL: any */
    size_t key_count;
    const char *prefix; /* of the settings' names */
    const char *what;   /* for messages */
} lake_mapping;

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static firn_status add(firn_config *config, firn_lake_draft *lake, const char *prefix,
                       const char *key, const char *value, const char *where, firn_error *error) {
    firn_config_property setting = {
        firn_arena_format(config->arena, "%s%s", prefix, key),
        firn_arena_strdup(config->arena, value),
        where,
    };
    if (setting.key == NULL || setting.value == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_vector_push(&lake->settings, error, setting));
    lake->view.settings = lake->settings.items;
    lake->view.setting_count = lake->settings.count;
    return FIRN_OK;
}

static bool is_number(const char *text, bool zero) {
    size_t length = strlen(text);
    return length > 0 && length < 10 && strspn(text, "0123456789") == length &&
           (zero || strspn(text, "0") != length);
}

/* What a value of the kind looks like, or NULL when this one is good. */
static const char *wanted(value_kind kind, const char *text) {
    switch (kind) {
    case VALUE_COUNT: return is_number(text, false) ? NULL : "a whole number above 0";
    case VALUE_NUMBER: return is_number(text, true) ? NULL : "a whole number";
    case VALUE_VERSION:
        return strlen(text) == 1 && strchr("123", text[0]) != NULL ? NULL : "1, 2 or 3";
    case VALUE_BOOLEAN:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? NULL : "true or false";
    case VALUE_REPLACED:
        if (strcmp(text, "overwrite") == 0) return NULL;
        return wanted(VALUE_MISSING, text) == NULL ? NULL : "error, report, overwrite or delete";
    case VALUE_MISSING:
        return strcmp(text, "error") == 0 || strcmp(text, "report") == 0 ||
                       strcmp(text, "delete") == 0
                   ? NULL
                   : "error, report or delete";
    case VALUE_TEXT:
    case VALUE_TEXTS: return text[0] != '\0' ? NULL : "text";
    case VALUE_SOURCE:
    case VALUE_ANY: break;
    }
    return NULL;
}

static firn_status read_scalar(firn_config_file *file, const lake_mapping *mapping, const char *key,
                               value_kind kind, const yaml_node_t *value, const char *where,
                               firn_error *error) {
    const char *text = firn_config_text(value);
    const char *problem = "text or a number";
    if (text != NULL && !firn_config_is_empty(value)) problem = wanted(kind, text);
    if (problem == NULL) {
        return add(file->config, mapping->lake, mapping->prefix, key, text, where, error);
    }
    return firn_fail(error, FIRN_INVALID, "%s: lakes.%s.%s%s must be %s", where,
                     mapping->lake->view.table, mapping->prefix, key, problem);
}

static firn_status read_texts(firn_config_file *file, const lake_mapping *mapping, const char *key,
                              const yaml_node_t *value, const char *where, firn_error *error) {
    if (value->type != YAML_SEQUENCE_NODE) {
        return read_scalar(file, mapping, key, VALUE_TEXTS, value, where, error);
    }
    const yaml_node_item_t *item = value->data.sequence.items.start;
    for (; item < value->data.sequence.items.top; item++) {
        const yaml_node_t *node = yaml_document_get_node(&file->document, *item);
        where = firn_arena_format(file->config->arena, "%s line %lu", file->path,
                                  firn_config_line(node));
        if (where == NULL) return firn_fail_memory(error);
        FIRN_TRY(read_scalar(file, mapping, key, VALUE_TEXTS, node, where, error));
    }
    return FIRN_OK;
}

static firn_status fail_key(const lake_mapping *mapping, const char *key, const char *where,
                            firn_error *error) {
    const char *names[COUNT_OF(lake_keys) + COUNT_OF(source_keys)];
    for (size_t i = 0; i < mapping->key_count; i++) names[i] = mapping->keys[i].name;
    char note[FIRN_NEAREST_NOTE_SIZE];
    return firn_fail(error, FIRN_INVALID, "%s: %s has no key \"%s\"%s", where, mapping->what, key,
                     firn_nearest_note(note, key, names, mapping->key_count, "\"", "\""));
}

static firn_status read_pair(firn_config_file *file, void *context, const yaml_node_t *key_node,
                             const char *key, yaml_node_t *value, firn_error *error) {
    const lake_mapping *mapping = context;
    firn_arena *arena = file->config->arena;
    const char *where =
        firn_arena_format(arena, "%s line %lu", file->path, firn_config_line(key_node));
    if (where == NULL) return firn_fail_memory(error);
    value_kind kind = VALUE_TEXT;
    size_t index = 0;
    while (index < mapping->key_count && strcmp(mapping->keys[index].name, key) != 0) index++;
    if (mapping->keys != NULL) {
        if (index == mapping->key_count) return fail_key(mapping, key, where, error);
        kind = mapping->keys[index].kind;
    }
    if (kind == VALUE_TEXTS) return read_texts(file, mapping, key, value, where, error);
    if (kind != VALUE_SOURCE && kind != VALUE_ANY) {
        return read_scalar(file, mapping, key, kind, value, where, error);
    }
    lake_mapping inner = {
        .lake = mapping->lake,
        .prefix = kind == VALUE_SOURCE ? "source." : "properties.",
        .what = firn_arena_format(arena, "lakes.%s.%s", mapping->lake->view.table, key)};
    if (inner.what == NULL) return firn_fail_memory(error);
    if (kind == VALUE_SOURCE) {
        inner.keys = source_keys;
        inner.key_count = COUNT_OF(source_keys);
    }
    return firn_config_each_pair(file, value, inner.what, read_pair, &inner, error);
}

/* A source is one thing: the second kind of it is an error. */
static firn_status check_source(const firn_lake_draft *lake, firn_error *error) {
    const char *found = NULL;
    for (size_t i = 0; i < lake->settings.count; i++) {
        const firn_config_property *setting = &lake->settings.items[i];
        if (strncmp(setting->key, "source.", strlen("source.")) != 0) continue;
        const char *key = setting->key + strlen("source.");
        for (size_t j = 0; j < SOURCE_KINDS; j++) {
            if (strcmp(key, source_keys[j].name) != 0) continue;
            if (found != NULL && strcmp(found, key) != 0) {
                return firn_fail(error, FIRN_INVALID,
                                 "%s: lakes.%s.source has both %s and %s; a source is one of "
                                 "folder, glob, list and manifest",
                                 setting->source, lake->view.table, found, key);
            }
            found = key;
        }
    }
    return FIRN_OK;
}

/* The kind of the source, NULL: none is named. */
static const char *kind_of_source(const firn_lake_config *lake) {
    for (size_t i = 0; i < SOURCE_KINDS; i++) {
        char key[32];
        snprintf(key, sizeof key, "source.%s", source_keys[i].name);
        if (firn_lake_config_setting(lake, key) != NULL) return source_keys[i].name;
    }
    return NULL;
}

/* What could have no effect beside the source is a mistake. Where none is named, one of the command line may go with it. */
static firn_status check_rest(const firn_lake_draft *lake, firn_error *error) {
    static const struct {
        const char *key;
        bool lists; /* for lists as well as manifests */
    } keys[] = {{"source.base", true},
                {"source.unit-column", false},
                {"source.rows-column", false},
                {"source.path-column", false},
                {"source.unit-folder", false},
                {"unit-property", false},
                {"batch", false}};
    const char *kind = kind_of_source(&lake->view);
    bool manifest = kind == NULL || strcmp(kind, "manifest") == 0;
    for (size_t i = 0; i < lake->settings.count && !manifest; i++) {
        const firn_config_property *setting = &lake->settings.items[i];
        for (size_t j = 0; j < COUNT_OF(keys); j++) {
            if (strcmp(setting->key, keys[j].key) != 0) continue;
            if (keys[j].lists && strcmp(kind, "list") == 0) continue;
            return firn_fail(error, FIRN_INVALID,
                             "%s: lakes.%s.%s is for a source that is a manifest%s, and this one "
                             "is a %s: leave it out",
                             setting->source, lake->view.table, setting->key,
                             keys[j].lists ? " or a list" : "", kind);
        }
    }
    return FIRN_OK;
}

bool firn_config_lake_has_source(const firn_lake_config *lake) {
    return kind_of_source(lake) != NULL;
}

static bool is_known(const firn_config *config, const char *table) {
    return firn_config_lake(config, table) != NULL;
}

firn_status firn_config_read_lake(firn_config_file *file, void *context,
                                  const yaml_node_t *key_node, const char *key, yaml_node_t *value,
                                  firn_error *error) {
    (void)context;
    firn_config *config = file->config;
    firn_arena *arena = config->arena;
    firn_lake_draft *lake = firn_arena_alloc(arena, 1, sizeof *lake);
    if (lake == NULL) return firn_fail_memory(error);
    lake->view.table = firn_arena_strdup(arena, key);
    lake->view.source =
        firn_arena_format(arena, "%s line %lu", file->path, firn_config_line(key_node));
    const char *what = firn_arena_format(arena, "lakes.%s", key);
    if (lake->view.table == NULL || lake->view.source == NULL || what == NULL) {
        return firn_fail_memory(error);
    }
    /* An entry that a file of higher precedence has is still checked, then dropped. */
    bool known = is_known(config, key);
    FIRN_TRY(firn_vector_push(&config->lakes, error, lake));
    lake_mapping mapping = {lake, lake_keys, COUNT_OF(lake_keys), "", what};
    firn_status status = firn_config_each_pair(file, value, what, read_pair, &mapping, error);
    if (status == FIRN_OK) status = check_source(lake, error);
    if (status == FIRN_OK) status = check_rest(lake, error);
    if (known) {
        config->lakes.count--;
        firn_vector_release(&lake->settings);
    }
    return status;
}

size_t firn_config_lake_count(const firn_config *config) {
    return config->lakes.count;
}

const firn_lake_config *firn_config_lake_at(const firn_config *config, size_t index) {
    return &config->lakes.items[index]->view;
}

const firn_lake_config *firn_config_lake(const firn_config *config, const char *table) {
    for (size_t i = 0; i < config->lakes.count; i++) {
        const firn_lake_draft *lake = config->lakes.items[i];
        if (strcmp(lake->view.table, table) == 0) return &lake->view;
    }
    return NULL;
}

const char *firn_lake_config_setting(const firn_lake_config *lake, const char *key) {
    for (size_t i = 0; lake != NULL && i < lake->setting_count; i++) {
        if (strcmp(lake->settings[i].key, key) == 0) return lake->settings[i].value;
    }
    return NULL;
}
