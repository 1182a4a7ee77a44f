#include <string.h>

#include "catalog/catalog.h"

#define METADATA_ENDING ".metadata.json"

bool firn_table_argument_is_path(const char *argument) {
    size_t length = strlen(argument), ending = strlen(METADATA_ENDING);
    if (strchr(argument, '/') != NULL) return true;
    return length >= ending && strcmp(argument + length - ending, METADATA_ENDING) == 0;
}

/* A name must not have empty parts: "a..b", ".b", "a.". */
static bool has_empty_part(const char *argument) {
    size_t length = strlen(argument);
    return length == 0 || argument[0] == '.' || argument[length - 1] == '.' ||
           strstr(argument, "..") != NULL;
}

firn_status firn_table_name_parse(const char *argument, char *namespace_room, firn_table_name *out,
                                  firn_error *error) {
    if (has_empty_part(argument)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is no table name; it is namespace.table, or a path with a \"/\" "
                         "in it",
                         argument);
    }
    const char *dot = strrchr(argument, '.');
    size_t length = dot == NULL ? 0 : (size_t)(dot - argument);
    if (length >= FIRN_NAMESPACE_SIZE) {
        return firn_fail(error, FIRN_LIMIT, "the namespace of \"%.60s…\" is too long", argument);
    }
    if (length > 0) memcpy(namespace_room, argument, length);
    namespace_room[length] = '\0';
    out->namespace_name = namespace_room;
    out->name = dot == NULL ? argument : dot + 1;
    return FIRN_OK;
}

firn_status firn_table_name_check_new(firn_table_name name, firn_error *error) {
    bool bare = name.namespace_name == NULL || name.namespace_name[0] == '\0';
    if (!bare || firn_table_argument_is_path(name.name)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "\"%s\" has no namespace, and other programs can't open such a table; name it "
                     "namespace.table",
                     name.name);
}
