#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest.h"
#include "config/file.h"

#define MAXIMUM_FILE_SIZE ((size_t)1 << 20)

typedef firn_config_file config_file;

unsigned long firn_config_line(const yaml_node_t *node) {
    return (unsigned long)node->start_mark.line + 1;
}

const char *firn_config_text(const yaml_node_t *node) {
    if (node == NULL || node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

bool firn_config_is_empty(const yaml_node_t *node) {
    const char *text = firn_config_text(node);
    if (text == NULL || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    return text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

static firn_status check_repeated(config_file *file, const yaml_node_t *mapping,
                                  const yaml_node_pair_t *pair, const char *key,
                                  firn_error *error) {
    const yaml_node_pair_t *earlier = mapping->data.mapping.pairs.start;
    for (; earlier < pair; earlier++) {
        const char *other = firn_config_text(yaml_document_get_node(&file->document, earlier->key));
        if (other == NULL || strcmp(other, key) != 0) continue;
        const yaml_node_t *node = yaml_document_get_node(&file->document, pair->key);
        return firn_fail(error, FIRN_INVALID, "%s line %lu: \"%s\" stands here twice", file->path,
                         firn_config_line(node), key);
    }
    return FIRN_OK;
}

firn_status firn_config_each_pair(config_file *file, const yaml_node_t *mapping, const char *what,
                                  firn_config_visitor visit, void *context, firn_error *error) {
    if (firn_config_is_empty(mapping)) return FIRN_OK;
    if (mapping->type != YAML_MAPPING_NODE) {
        return firn_fail(error, FIRN_INVALID,
                         "%s line %lu: %s must be a mapping of names to values", file->path,
                         firn_config_line(mapping), what);
    }
    const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
    for (; pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key_node = yaml_document_get_node(&file->document, pair->key);
        const char *key = firn_config_text(key_node);
        if (key == NULL || key[0] == '\0') {
            return firn_fail(error, FIRN_INVALID, "%s line %lu: a key of %s must be a name",
                             file->path, firn_config_line(key_node), what);
        }
        FIRN_TRY(check_repeated(file, mapping, pair, key, error));
        yaml_node_t *value = yaml_document_get_node(&file->document, pair->value);
        FIRN_TRY(visit(file, context, key_node, key, value, error));
    }
    return FIRN_OK;
}

static firn_status check_mode(const config_file *file, const char *catalog, const char *key,
                              unsigned long line, firn_error *error) {
    if ((file->mode & 077) == 0) return FIRN_OK;
    if (file->dialect == FIRN_CONFIG_PYICEBERG) {
        firn_log_warning("%s line %lu holds a secret and may be read by other users; chmod 600 it",
                         file->path, line);
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID,
                     "%s line %lu: catalogs.%s.%s is a secret, and other users may read the file; "
                     "chmod 600 it, or put the secret in the environment",
                     file->path, line, catalog, key);
}

static firn_status read_property(config_file *file, void *context, const yaml_node_t *key_node,
                                 const char *key, yaml_node_t *value, firn_error *error) {
    firn_catalog_draft *catalog = context;
    unsigned long line = firn_config_line(key_node);
    const char *text = firn_config_text(value);
    const char *where = firn_arena_format(file->config->arena, "%s line %lu", file->path, line);
    if (where == NULL) return firn_fail_memory(error);
    if (file->dialect == FIRN_CONFIG_FIRN) {
        FIRN_TRY(firn_config_check_property(where, key, error));
        if (text == NULL || firn_config_is_empty(value)) {
            return firn_fail(error, FIRN_INVALID, "%s: catalogs.%s.%s must be text or a number",
                             where, catalog->view.name, key);
        }
    }
    if (text == NULL || firn_config_is_empty(value)) return FIRN_OK;
    if (firn_config_is_secret(key, text)) {
        FIRN_TRY(check_mode(file, catalog->view.name, key, line, error));
    }
    return firn_config_set(file->config, catalog, key, text, where, error);
}

static firn_status read_catalog(config_file *file, void *context, const yaml_node_t *key_node,
                                const char *key, yaml_node_t *value, firn_error *error) {
    (void)context;
    firn_config *config = file->config;
    const char *where =
        firn_arena_format(config->arena, "%s line %lu", file->path, firn_config_line(key_node));
    const char *what = firn_arena_format(config->arena, "catalog \"%s\"", key);
    if (where == NULL || what == NULL) return firn_fail_memory(error);
    /* A catalog that a file of higher precedence named is still checked, then dropped. */
    bool known = firn_config_find(config, key) != NULL;
    firn_catalog_draft *catalog = NULL;
    FIRN_TRY(firn_config_add_catalog(config, key, where, &catalog, error));
    catalog->foreign = file->dialect == FIRN_CONFIG_PYICEBERG;
    firn_status status = firn_config_each_pair(file, value, what, read_property, catalog, error);
    if (known) {
        config->catalogs.count--;
        firn_vector_release(&catalog->properties);
    }
    return status;
}

static firn_status ignore_pair(config_file *file, void *context, const yaml_node_t *key_node,
                               const char *key, yaml_node_t *value, firn_error *error) {
    (void)file, (void)context, (void)key_node, (void)key, (void)value, (void)error;
    return FIRN_OK;
}

static firn_status read_section(config_file *file, void *context, const yaml_node_t *key_node,
                                const char *key, yaml_node_t *value, firn_error *error) {
    static const char *const sections[] = {"catalogs", "upkeep", "lakes", "views", "serve"};
    (void)context;
    if (file->dialect == FIRN_CONFIG_PYICEBERG) {
        if (strcasecmp(key, "catalog") != 0) return FIRN_OK;
        return firn_config_each_pair(file, value, "catalog", read_catalog, NULL, error);
    }
    if (strcmp(key, "catalogs") == 0) {
        return firn_config_each_pair(file, value, "catalogs", read_catalog, NULL, error);
    }
    if (strcmp(key, "lakes") == 0) {
        return firn_config_each_pair(file, value, "lakes", firn_config_read_lake, NULL, error);
    }
    size_t count = sizeof sections / sizeof *sections;
    for (size_t i = 1; i < count; i++) {
        /* What stands in these sections belongs to verbs of later versions. */
        if (strcmp(key, sections[i]) == 0) {
            return firn_config_each_pair(file, value, key, ignore_pair, NULL, error);
        }
    }
    char note[FIRN_NEAREST_NOTE_SIZE];
    return firn_fail(error, FIRN_INVALID, "%s line %lu: there is no section \"%s\"%s", file->path,
                     firn_config_line(key_node), key,
                     firn_nearest_note(note, key, sections, count, "\"", "\""));
}

static firn_status fail_syntax(const char *path, const yaml_parser_t *parser, firn_error *error) {
    if (parser->error == YAML_MEMORY_ERROR) return firn_fail_memory(error);
    return firn_fail(error, FIRN_INVALID, "%s line %lu: not valid YAML: %s%s%s", path,
                     (unsigned long)parser->problem_mark.line + 1,
                     parser->context == NULL ? "" : parser->context,
                     parser->context == NULL ? "" : ": ",
                     parser->problem == NULL ? "unknown reason" : parser->problem);
}

/* There must be no second document, so that nothing is silently left out. */
static firn_status check_single(const char *path, yaml_parser_t *parser, firn_error *error) {
    yaml_document_t document;
    if (yaml_parser_load(parser, &document) == 0) return fail_syntax(path, parser, error);
    const yaml_node_t *root = yaml_document_get_root_node(&document);
    unsigned long line = root == NULL ? 0 : firn_config_line(root);
    yaml_document_delete(&document);
    if (line == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s line %lu: a second document begins; one is allowed",
                     path, line);
}

static firn_status interpret(config_file *file, firn_slice text, bool *says_something,
                             firn_error *error) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) return firn_fail_memory(error);
    firn_status status = FIRN_OK;
    bool loaded = false;
    yaml_parser_set_input_string(&parser, text.size == 0 ? (const unsigned char *)"" : text.data,
                                 text.size);
    if (yaml_parser_load(&parser, &file->document) == 0) {
        status = fail_syntax(file->path, &parser, error);
        goto out;
    }
    loaded = true;
    const yaml_node_t *root = yaml_document_get_root_node(&file->document);
    *says_something = root != NULL && !firn_config_is_empty(root);
    if (root == NULL) goto out;
    FIRN_CHECK(firn_config_each_pair(file, root, "the file", read_section, NULL, error));
    FIRN_CHECK(check_single(file->path, &parser, error));
out:
    if (loaded) yaml_document_delete(&file->document);
    yaml_parser_delete(&parser);
    return status;
}

static firn_status read_descriptor(int descriptor, const char *path, mode_t *mode, firn_buffer *out,
                                   firn_error *error) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0) {
        return firn_fail_errno(error, FIRN_IO, errno, "%s", path);
    }
    if (!S_ISREG(facts.st_mode)) {
        return firn_fail(error, FIRN_INVALID, "%s: is no regular file", path);
    }
    *mode = facts.st_mode;
    for (;;) {
        FIRN_TRY(firn_error_wrap(error, firn_buffer_reserve(out, 4096, error), "%s", path));
        ssize_t size = read(descriptor, out->data + out->size, 4096);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return firn_fail_errno(error, FIRN_IO, errno, "%s", path);
        if (size == 0) return FIRN_OK;
        out->size += (size_t)size;
    }
}

firn_status firn_config_read_file(firn_config *config, const char *path,
                                  firn_config_dialect dialect, bool *found, firn_error *error) {
    *found = false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) return FIRN_OK;
    if (descriptor < 0) return firn_fail_errno(error, FIRN_INVALID, errno, "%s", path);
    config_file file = {.config = config, .dialect = dialect};
    firn_buffer text = firn_buffer_with_maximum(MAXIMUM_FILE_SIZE);
    firn_status status = FIRN_OK;
    char real[PATH_MAX];
    bool resolved = realpath(path, real) != NULL;
    file.path = firn_arena_strdup(config->arena, resolved ? real : path);
    if (file.path == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(read_descriptor(descriptor, file.path, &file.mode, &text, error));
    bool says_something = false;
    FIRN_CHECK(interpret(&file, firn_buffer_slice(&text), &says_something, error));
    FIRN_CHECK(firn_vector_push(&config->files, error, file.path));
    *found = dialect == FIRN_CONFIG_FIRN || says_something;
out:
    firn_buffer_release(&text);
    close(descriptor);
    return status;
}
