#include "catalog/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vector.h"

void firn_table_pointer_release(firn_table_pointer *pointer) {
    firn_free(pointer->metadata_location);
    firn_table_metadata_free(pointer->metadata);
    *pointer = (firn_table_pointer){NULL, NULL};
}

void firn_catalog_close(firn_catalog *catalog) {
    if (catalog == NULL) return;
    catalog->operations->free(catalog->implementation);
    firn_free(catalog);
}

typedef struct listed_table {
    char *namespace_name, *name, *metadata_location;
} listed_table;

typedef struct table_list {
    FIRN_VECTOR(listed_table) tables;
} table_list;

static void release_listed(listed_table *table) {
    firn_free(table->namespace_name);
    firn_free(table->name);
    firn_free(table->metadata_location);
}

static firn_status collect(void *context, firn_table_name name, const char *metadata_location,
                           firn_error *error) {
    table_list *list = context;
    listed_table table = {.namespace_name = firn_strdup(name.namespace_name),
                          .name = firn_strdup(name.name)};
    bool complete = table.namespace_name != NULL && table.name != NULL;
    if (metadata_location != NULL) {
        table.metadata_location = firn_strdup(metadata_location);
        complete = complete && table.metadata_location != NULL;
    }
    firn_status status = FIRN_OK;
    if (complete) {
        status = firn_vector_push(&list->tables, error, table);
    } else {
        status = firn_fail_memory(error);
    }
    if (status != FIRN_OK) release_listed(&table);
    return status;
}

static int by_name(const void *left, const void *right) {
    const listed_table *a = left;
    const listed_table *b = right;
    int order = strcmp(a->namespace_name, b->namespace_name);
    return order != 0 ? order : strcmp(a->name, b->name);
}

firn_status firn_catalog_list(firn_catalog *catalog,
                              firn_status (*visit)(void *context, firn_table_name name,
                                                   const char *metadata_location,
                                                   firn_error *error),
                              void *context, firn_error *error) {
    table_list list = {0};
    firn_status status = catalog->operations->list(catalog->implementation, collect, &list, error);
    if (status != FIRN_OK) goto out;
    if (list.tables.count > 1) {
        qsort(list.tables.items, list.tables.count, sizeof list.tables.items[0], by_name);
    }
    for (size_t i = 0; i < list.tables.count; i++) {
        const listed_table *table = &list.tables.items[i];
        firn_table_name name = {table->namespace_name, table->name};
        FIRN_CHECK(visit(context, name, table->metadata_location, error));
    }
out:
    for (size_t i = 0; i < list.tables.count; i++) release_listed(&list.tables.items[i]);
    firn_vector_release(&list.tables);
    return status;
}

/* A namespace that is not given is the empty one. */
static firn_table_name complete(firn_table_name name) {
    if (name.namespace_name == NULL) name.namespace_name = "";
    if (name.name == NULL) name.name = "";
    return name;
}

firn_status firn_catalog_load(firn_catalog *catalog, firn_table_name name, firn_table_pointer *out,
                              firn_error *error) {
    return catalog->operations->load(catalog->implementation, complete(name), out, error);
}

typedef struct name_search {
    firn_table_name wanted;
    bool found;
    bool wants_location;
    char *location; /* owned */
} name_search;

static firn_status match_name(void *context, firn_table_name name, const char *metadata_location,
                              firn_error *error) {
    name_search *search = context;
    firn_table_name whole = complete(name);
    if (search->found || strcmp(whole.namespace_name, search->wanted.namespace_name) != 0 ||
        strcmp(whole.name, search->wanted.name) != 0) {
        return FIRN_OK;
    }
    search->found = true;
    if (!search->wants_location || metadata_location == NULL) return FIRN_OK;
    search->location = firn_strdup(metadata_location);
    return search->location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_catalog_find(firn_catalog *catalog, firn_table_name name, bool *found,
                              char **metadata_location, firn_error *error) {
    name_search search = {.wanted = complete(name), .wants_location = metadata_location != NULL};
    *found = false;
    if (metadata_location != NULL) *metadata_location = NULL;
    firn_status status = firn_catalog_list(catalog, match_name, &search, error);
    if (status != FIRN_OK) {
        firn_free(search.location);
        return status;
    }
    *found = search.found;
    if (metadata_location != NULL) *metadata_location = search.location;
    return FIRN_OK;
}

firn_status firn_catalog_commit(firn_catalog *catalog, firn_table_name name,
                                const firn_table_pointer *base, const firn_table_update *update,
                                firn_table_pointer *out, firn_error *error) {
    return catalog->operations->commit(catalog->implementation, complete(name), base, update, out,
                                       error);
}

firn_status firn_catalog_create_announced(firn_catalog *catalog, firn_table_name name,
                                          firn_table_metadata *metadata,
                                          const firn_table_update *announcer,
                                          firn_table_pointer *out, firn_error *error) {
    return catalog->operations->create(catalog->implementation, complete(name), metadata, announcer,
                                       out, error);
}

firn_status firn_catalog_create(firn_catalog *catalog, firn_table_name name,
                                firn_table_metadata *metadata, firn_table_pointer *out,
                                firn_error *error) {
    return firn_catalog_create_announced(catalog, name, metadata, NULL, out, error);
}

firn_status firn_catalog_register(firn_catalog *catalog, firn_table_name name,
                                  const char *metadata_location, firn_error *error) {
    return catalog->operations->register_table(catalog->implementation, complete(name),
                                               metadata_location, error);
}

firn_status firn_catalog_repoint(firn_catalog *catalog, firn_table_name name,
                                 const char *old_location, const char *new_location,
                                 firn_error *error) {
    if (catalog->operations->repoint == NULL) {
        return firn_fail(error, FIRN_UNSUPPORTED, "%s: pointers can't be set in it",
                         firn_catalog_describe(catalog));
    }
    return catalog->operations->repoint(catalog->implementation, complete(name), old_location,
                                        new_location, error);
}

firn_status firn_catalog_check_writable(firn_catalog *catalog, firn_table_name name,
                                        firn_error *error) {
    return catalog->operations->check_writable(catalog->implementation, complete(name), error);
}

const char *firn_catalog_describe(const firn_catalog *catalog) {
    return catalog->operations->describe(catalog->implementation);
}

const char *firn_catalog_absent_file(const firn_catalog *catalog) {
    return catalog->operations->absent_file == NULL
               ? NULL
               : catalog->operations->absent_file(catalog->implementation);
}

firn_status firn_catalog_identity(const firn_catalog *catalog, firn_table_name name, char **out,
                                  firn_error *error) {
    if (catalog->operations->identity != NULL) {
        return catalog->operations->identity(catalog->implementation, complete(name), out, error);
    }
    *out = firn_strdup("");
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_catalog_names(const firn_catalog *catalog, char **out, firn_error *error) {
    if (catalog->operations->names != NULL) {
        return catalog->operations->names(catalog->implementation, out, error);
    }
    *out = firn_strdup("");
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}
