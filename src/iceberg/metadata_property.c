#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "iceberg/metadata.h"

const char *firn_table_metadata_property(const firn_table_metadata *metadata, const char *key) {
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (strcmp(metadata->properties[i].key, key) == 0) return metadata->properties[i].value;
    }
    return NULL;
}

firn_status firn_table_metadata_property_int(const firn_table_metadata *metadata, const char *key,
                                             int64_t otherwise, int64_t *out, firn_error *error) {
    const char *text = firn_table_metadata_property(metadata, key);
    if (text == NULL) {
        *out = otherwise;
        return FIRN_OK;
    }
    /* strtoll alone would take leading white space and an empty text. */
    bool begins = (*text >= '0' && *text <= '9') || *text == '-' || *text == '+';
    char *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!begins || *end != '\0' || end == text || errno != 0) {
        return firn_fail(error, FIRN_INVALID,
                         "table property %s: \"%.100s\" is no whole number; set it to one or "
                         "remove it",
                         key, text);
    }
    *out = value;
    return FIRN_OK;
}

firn_status firn_table_metadata_property_bool(const firn_table_metadata *metadata, const char *key,
                                              bool otherwise, bool *out, firn_error *error) {
    const char *text = firn_table_metadata_property(metadata, key);
    if (text == NULL) {
        *out = otherwise;
        return FIRN_OK;
    }
    *out = strcasecmp(text, "true") == 0;
    if (*out || strcasecmp(text, "false") == 0) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table property %s: \"%.100s\" is neither true nor false; set it to one of "
                     "them or remove it",
                     key, text);
}
