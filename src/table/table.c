#include "table/table.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

static const char *display_of(const firn_table *table) {
    return table->display_name;
}

firn_status firn_table_error_wrap(const firn_table *table, firn_status status, firn_error *error) {
    static const char word[] = "table ";
    if (status == FIRN_OK || error == NULL) return status;
    const char *name = error->message + sizeof word - 1;
    size_t length = strlen(table->display_name);
    bool named = strncmp(error->message, word, sizeof word - 1) == 0 &&
                 strncmp(name, table->display_name, length) == 0 && name[length] == ':';
    return named ? status : firn_error_wrap(error, status, "table %s", table->display_name);
}

/** Finds the ref's head; main of a table without snapshots is an empty table. */
static firn_status pin(firn_table *table, firn_error *error) {
    const firn_snapshot_ref *ref = firn_table_metadata_ref(table->metadata, table->ref);
    table->snapshot = NULL;
    if (ref == NULL) {
        if (strcmp(table->ref, "main") == 0) return FIRN_OK;
        return firn_fail(error, FIRN_NOT_FOUND,
                         "table %s: has no branch or tag '%s'; 'firn refs' lists what there is",
                         display_of(table), table->ref);
    }
    table->snapshot = firn_table_metadata_snapshot(table->metadata, ref->snapshot_id);
    if (table->snapshot == NULL) {
        return firn_fail(error, FIRN_CORRUPT,
                         "table %s: ref '%s' names snapshot %lld, which is missing",
                         display_of(table), table->ref, (long long)ref->snapshot_id);
    }
    return FIRN_OK;
}

firn_status firn_table_open(firn_catalog *catalog, firn_storage *storage, firn_table_name name,
                            const char *display_name, const char *ref, firn_table **out,
                            firn_error *error) {
    firn_status status = FIRN_OK;
    firn_table *table = firn_alloc_zeroed(1, sizeof *table);
    if (table == NULL) return firn_fail_memory(error);
    table->storage = storage;
    table->catalog = catalog;
    table->namespace_name = firn_strdup(name.namespace_name == NULL ? "" : name.namespace_name);
    table->name = firn_strdup(name.name == NULL ? "" : name.name);
    table->display_name = firn_strdup(display_name);
    table->ref = firn_strdup(ref == NULL ? "main" : ref);
    if (table->namespace_name == NULL || table->name == NULL || table->display_name == NULL ||
        table->ref == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_table_reload(table, error));
    *out = table;
    table = NULL;
out:
    firn_table_close(table);
    return status;
}

firn_status firn_table_reload(firn_table *table, firn_error *error) {
    firn_table_pointer fresh = {0};
    firn_status status =
        firn_catalog_load(table->catalog, firn_table_own_name(table), &fresh, error);
    if (status != FIRN_OK) {
        return firn_table_error_wrap(table, status, error);
    }
    return firn_table_adopt(table, &fresh, error);
}

firn_status firn_table_refresh(firn_table *table, firn_error *error) {
    firn_table_pointer fresh = {0};
    firn_status status =
        firn_catalog_load(table->catalog, firn_table_own_name(table), &fresh, error);
    if (status != FIRN_OK) {
        return firn_table_error_wrap(table, status, error);
    }
    if (strcmp(fresh.metadata_location, table->pointer.metadata_location) == 0) {
        firn_table_pointer_release(&fresh);
        return FIRN_OK;
    }
    return firn_table_adopt(table, &fresh, error);
}

firn_status firn_table_adopt(firn_table *table, firn_table_pointer *pointer, firn_error *error) {
    firn_table_pointer_release(&table->pointer);
    table->pointer = *pointer;
    *pointer = (firn_table_pointer){0};
    table->metadata = table->pointer.metadata;
    return pin(table, error);
}

firn_table_name firn_table_own_name(const firn_table *table) {
    return (firn_table_name){table->namespace_name, table->name};
}

void firn_table_close(firn_table *table) {
    if (table == NULL) return;
    firn_table_pointer_release(&table->pointer);
    firn_free(table->namespace_name);
    firn_free(table->name);
    firn_free(table->display_name);
    firn_free(table->ref);
    firn_free(table);
}

firn_status firn_table_check_supported(const firn_table *table, const char *what,
                                       firn_error *error) {
    const firn_table_metadata *metadata = table->metadata;
    if (metadata->has_encryption_keys) {
        return firn_fail(
            error, FIRN_UNSUPPORTED,
            "table %s: is encrypted (encryption-keys in its metadata); %s can't work on it",
            display_of(table), what);
    }
    const char *format = firn_table_metadata_property(metadata, "write.format.default");
    if (format != NULL && strcasecmp(format, "parquet") != 0) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "table %s: property write.format.default is '%s'; %s writes parquet only",
                         display_of(table), format, what);
    }
    return FIRN_OK;
}
