/*
 * What was asked for of a new table, held against the one that is there. A command line that made it is run again and again: what it
 * asks for is there by then, unless somebody changed the table since, which is told. What a table never had is refused.
 */
#include <string.h>

#include "base/alloc.h"
#include "lake/sync_internal.h"

#define FOR_NEW_TABLES "which is for new tables"

static firn_status check_location(const firn_sync_work *work, firn_error *error) {
    const char *there = work->table->metadata->location;
    const char *wanted = work->options->location;
    char *first = NULL, *second = NULL;
    firn_status status = FIRN_OK;
    if (wanted == NULL) return FIRN_OK;
    FIRN_CHECK(firn_lake_resolved_key(there, &first, error));
    FIRN_CHECK(firn_lake_resolved_key(wanted, &second, error));
    if (strcmp(first, second) != 0) {
        status = firn_fail(error, FIRN_INVALID,
                           "table %s lies at %s, not at %s as --location (location in firn.yaml) "
                           "asks, " FOR_NEW_TABLES "; firn moves no table. Leave it out, or give "
                           "the new table another name",
                           work->display_name, there, wanted);
    }
out:
    firn_free(first);
    firn_free(second);
    return status;
}

static firn_status check_version(const firn_sync_work *work, firn_error *error) {
    int there = work->table->metadata->format_version;
    int wanted = work->options->format_version;
    if (wanted <= there) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "table %s is of format version %d, not %d as --format-version "
                     "(format-version in firn.yaml) asks, " FOR_NEW_TABLES
                     "; \"firn upgrade %.60s --to %d\" raises it",
                     work->display_name, there, wanted, work->display_name, wanted);
}

/* Runs change these themselves as files come in. */
static bool is_kept_up(const firn_sync_work *work, const char *key) {
    const char *units = work->options->unit_property;
    return strcmp(key, FIRN_SYNC_MAPPING_PROPERTY) == 0 ||
           (units != NULL && strcmp(key, units) == 0);
}

/* The last one of a key counts. */
static bool is_said_again(const firn_sync_options *options, size_t index) {
    for (size_t i = index + 1; i < options->property_count; i++) {
        if (strcmp(options->properties[i].key, options->properties[index].key) == 0) return true;
    }
    return false;
}

static void tell_property(const firn_sync_work *work, const firn_property *wanted) {
    const char *there = firn_table_metadata_property(work->table->metadata, wanted->key);
    if (there != NULL && strcmp(there, wanted->value) == 0) return;
    firn_sync_warn(work,
                   "it has %s %.100s%s%.200s, not %.200s as --property (properties in firn.yaml) "
                   "asks, " FOR_NEW_TABLES ": it stays as it is",
                   there == NULL ? "no property" : "the property", wanted->key,
                   there == NULL ? "" : "=", there == NULL ? "" : there, wanted->value);
}

void firn_sync_tell_wishes(const firn_sync_work *work) {
    const firn_sync_options *options = work->options;
    int version = work->table->metadata->format_version;
    if (options->format_version != 0 && options->format_version < version) {
        firn_sync_warn(work,
                       "it is of format version %d, not %d as --format-version (format-version in "
                       "firn.yaml) asks, " FOR_NEW_TABLES ": it stays as it is",
                       version, options->format_version);
    }
    for (size_t i = 0; i < options->property_count; i++) {
        const firn_property *property = &options->properties[i];
        if (is_said_again(options, i) || is_kept_up(work, property->key)) continue;
        tell_property(work, property);
    }
}

firn_status firn_sync_check_wishes(firn_sync_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    FIRN_TRY(check_location(work, error));
    FIRN_TRY(check_version(work, error));
    return firn_lake_layout_check_spec(work->layout, metadata->schema, metadata->default_spec,
                                       error);
}
