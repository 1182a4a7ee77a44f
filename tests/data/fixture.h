/** Table metadata for tests, from pieces of JSON. */
#ifndef FIRN_TESTS_DATA_FIXTURE_H
#define FIRN_TESTS_DATA_FIXTURE_H

#include "support/check.h"

#include "base/alloc.h"
#include "base/json.h"
#include "iceberg/metadata.h"

/** Pieces of table metadata; what is NULL gets a plain default. Fields are JSON texts. */
typedef struct fixture {
    int format_version; /**< 0: 2 */
    const char *location;
    const char *schema;      /**< the list of fields */
    const char *spec;        /**< the list of partition fields */
    const char *sort_fields; /**< the list of sort fields, of order 1, the default one */
    const char *properties;  /**< an object */
} fixture;

static inline const char *or_else(const char *text, const char *otherwise) {
    return text == NULL ? otherwise : text;
}

/** Owned: firn_table_metadata_free. */
static inline firn_table_metadata *fixture_metadata(const fixture *pieces) {
    firn_error error = {0};
    firn_json_setup();
    char *text = firn_format(
        "{\"format-version\": %d, \"table-uuid\": \"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
        "\"location\": \"%s\", \"last-sequence-number\": 0, \"last-updated-ms\": 1,"
        "\"last-column-id\": 1000, \"current-schema-id\": 0, \"next-row-id\": 0,"
        "\"schemas\": [{\"type\": \"struct\", \"schema-id\": 0, \"fields\": %s}],"
        "\"default-spec-id\": 0, \"partition-specs\": [{\"spec-id\": 0, \"fields\": %s}],"
        "\"last-partition-id\": 1100, \"default-sort-order-id\": %d,"
        "\"sort-orders\": [{\"order-id\": %d, \"fields\": %s}], \"properties\": %s}",
        pieces->format_version == 0 ? 2 : pieces->format_version,
        or_else(pieces->location, "/wh/db/t"),
        or_else(pieces->schema,
                "[{\"id\": 1, \"name\": \"a\", \"required\": false, \"type\": \"int\"}]"),
        or_else(pieces->spec, "[]"), pieces->sort_fields == NULL ? 0 : 1,
        pieces->sort_fields == NULL ? 0 : 1, or_else(pieces->sort_fields, "[]"),
        or_else(pieces->properties, "{}"));
    assert_non_null(text);
    firn_table_metadata *metadata = NULL;
    check_ok(firn_table_metadata_parse(firn_slice_text(text), "fixture", &metadata, &error),
             &error);
    firn_free(text);
    return metadata;
}

#endif
