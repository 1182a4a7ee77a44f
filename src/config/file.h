/** A configuration file while it is read; internal to config. */
#ifndef FIRN_CONFIG_FILE_H
#define FIRN_CONFIG_FILE_H

#include <sys/types.h>
#include <yaml.h>

#include "config/config_internal.h"

typedef struct firn_config_file {
    firn_config *config;
    const char *path;
    firn_config_dialect dialect;
    mode_t mode;
    yaml_document_t document;
} firn_config_file;

unsigned long firn_config_line(const yaml_node_t *node);
/** The text of a scalar, or NULL: for other nodes, and for text with a NUL inside. */
const char *firn_config_text(const yaml_node_t *node);
/** Whether nothing, ~ or null stands there. */
bool firn_config_is_empty(const yaml_node_t *node);

typedef firn_status (*firn_config_visitor)(firn_config_file *file, void *context,
                                           const yaml_node_t *key_node, const char *key,
                                           yaml_node_t *value, firn_error *error);
/** Calls `visit` for each pair of a mapping; keys must be text, and differ. */
firn_status firn_config_each_pair(firn_config_file *file, const yaml_node_t *mapping,
                                  const char *what, firn_config_visitor visit, void *context,
                                  firn_error *error);

/** Reads one entry of the section `lakes` (a visitor). */
firn_status firn_config_read_lake(firn_config_file *file, void *context,
                                  const yaml_node_t *key_node, const char *key, yaml_node_t *value,
                                  firn_error *error);

#endif
