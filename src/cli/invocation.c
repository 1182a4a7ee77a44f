#include "cli/invocation.h"

#include <string.h>

void firn_invocation_close(firn_invocation *invocation) {
    firn_report_free(invocation->report);
    firn_table_close(invocation->table);
    if (invocation->catalog != NULL) firn_catalog_close(invocation->catalog);
    firn_pool_free(invocation->pool);
    if (invocation->storage != NULL) firn_storage_free(invocation->storage);
    firn_config_free(invocation->config);
    *invocation = (firn_invocation){0};
}

firn_status firn_invocation_load_config(firn_invocation *invocation, firn_error *error) {
    if (invocation->config != NULL) return FIRN_OK;
    return firn_config_load(invocation->options->config, &invocation->config, error);
}

firn_status firn_invocation_load_storage(firn_invocation *invocation, firn_error *error) {
    if (invocation->storage != NULL) return FIRN_OK;
    return invocation->open_storage(&invocation->storage, error);
}

firn_status firn_invocation_load_pool(firn_invocation *invocation, firn_error *error) {
    if (invocation->pool != NULL) return FIRN_OK;
    return firn_pool_new((size_t)invocation->options->threads, &invocation->pool, error);
}

firn_status firn_invocation_new_report(firn_invocation *invocation, firn_error *error) {
    return firn_report_new(invocation->verb->name, &invocation->report, error);
}

const char *firn_invocation_catalog(const firn_invocation *invocation, const char *table) {
    const char *flag = invocation->options->catalog;
    if (flag != NULL || table == NULL) return flag;
    return firn_lake_config_setting(firn_config_lake(invocation->config, table), "catalog");
}

firn_status firn_invocation_open_catalog(firn_invocation *invocation, const char *table,
                                         bool read_only, bool create, firn_error *error) {
    FIRN_TRY(firn_invocation_load_config(invocation, error));
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    const char *catalog = firn_invocation_catalog(invocation, table);
    firn_status status = firn_config_open_catalog(
        invocation->config, catalog, invocation->options->catalog_name, read_only, create,
        invocation->storage, &invocation->catalog, error);
    if (status == FIRN_OK || catalog != NULL || table == NULL) return status;
    if (firn_config_default_catalog(invocation->config) != NULL) return status;
    const char *near = firn_config_nearest_lake(invocation->config, table);
    return near == NULL ? status : firn_error_hint(error, status, "is %s meant?", near);
}

firn_status firn_invocation_check_path(const firn_invocation *invocation, const char *argument,
                                       firn_error *error) {
    const firn_options *options = invocation->options;
    if (options->catalog == NULL && options->catalog_name == NULL) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s is a path, which needs no %s; a table of a catalog is named "
                     "namespace.table",
                     argument, options->catalog != NULL ? "--catalog" : "--catalog-name");
}

static firn_status open_by_path(firn_invocation *invocation, const char *argument,
                                firn_error *error) {
    FIRN_TRY(firn_invocation_check_path(invocation, argument, error));
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    FIRN_TRY(firn_catalog_path_open(argument, invocation->storage, &invocation->catalog, error));
    firn_table_name name = {"", argument};
    return firn_table_open(invocation->catalog, invocation->storage, name, argument,
                           invocation->options->ref, &invocation->table, error);
}

firn_status firn_invocation_open_table(firn_invocation *invocation, const char *argument,
                                       bool read_only, firn_error *error) {
    if (firn_table_argument_is_path(argument)) return open_by_path(invocation, argument, error);
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {0};
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, &name, error));
    FIRN_TRY(firn_invocation_open_catalog(invocation, argument, read_only, false, error));
    return firn_table_open(invocation->catalog, invocation->storage, name, argument,
                           invocation->options->ref, &invocation->table, error);
}

firn_status firn_invocation_open_file(firn_invocation *invocation, const char *path,
                                      firn_storage_file **out, firn_error *error) {
    firn_status status = firn_storage_open(invocation->storage, path, out, error);
    if (status != FIRN_NOT_FOUND || strpbrk(path, "*?[{") == NULL) return status;
    return firn_error_hint(error, status,
                           "a pattern is the shell's to expand: it matches nothing, or stands in "
                           "quotes");
}
