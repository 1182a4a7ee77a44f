#include <string.h>

#include "catalog/catalog.h"

#define METADATA_ENDING ".metadata.json"

bool firn_table_argument_is_path(const char *argument) {
    size_t length = strlen(argument), ending = strlen(METADATA_ENDING);
    if (strchr(argument, '/') != NULL) return true;
    return length >= ending && strcmp(argument + length - ending, METADATA_ENDING) == 0;
}

firn_table_name firn_table_name_split(char *text) {
    char *dot = strrchr(text, '.');
    if (dot == NULL) return (firn_table_name){"", text};
    *dot = '\0';
    return (firn_table_name){text, dot + 1};
}
