#include "cli/session.h"

#include <string.h>

void firn_session_close(firn_session *session) {
    firn_report_free(session->report);
    firn_table_close(session->table);
    if (session->catalog != NULL) firn_catalog_close(session->catalog);
    firn_pool_free(session->pool);
    if (session->storage != NULL) firn_storage_free(session->storage);
    firn_config_free(session->config);
    *session = (firn_session){0};
}

firn_status firn_session_load_config(firn_session *session, firn_error *error) {
    if (session->config != NULL) return FIRN_OK;
    return firn_config_load(session->options->config, &session->config, error);
}

firn_status firn_session_load_storage(firn_session *session, firn_error *error) {
    if (session->storage != NULL) return FIRN_OK;
    return session->open_storage(&session->storage, error);
}

firn_status firn_session_load_pool(firn_session *session, firn_error *error) {
    if (session->pool != NULL) return FIRN_OK;
    return firn_pool_new((size_t)session->options->threads, &session->pool, error);
}

firn_status firn_session_new_report(firn_session *session, firn_error *error) {
    return firn_report_new(session->verb->name, &session->report, error);
}

firn_status firn_session_open_catalog(firn_session *session, bool read_only, bool create,
                                      firn_error *error) {
    FIRN_TRY(firn_session_load_config(session, error));
    FIRN_TRY(firn_session_load_storage(session, error));
    return firn_config_open_catalog(session->config, session->options->catalog,
                                    session->options->catalog_name, read_only, create,
                                    session->storage, &session->catalog, error);
}

static firn_status open_by_path(firn_session *session, const char *argument, firn_error *error) {
    if (session->options->catalog != NULL) {
        return firn_fail(error, FIRN_INVALID,
                         "%s is a path, which needs no --catalog; a table of a catalog is named "
                         "namespace.table",
                         argument);
    }
    FIRN_TRY(firn_session_load_storage(session, error));
    FIRN_TRY(firn_catalog_path_open(argument, session->storage, &session->catalog, error));
    firn_table_name name = {"", argument};
    return firn_table_open(session->catalog, session->storage, name, argument,
                           session->options->ref, &session->table, error);
}

firn_status firn_session_open_table(firn_session *session, const char *argument, bool read_only,
                                    firn_error *error) {
    if (firn_table_argument_is_path(argument)) return open_by_path(session, argument, error);
    char namespace_name[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {0};
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, &name, error));
    FIRN_TRY(firn_session_open_catalog(session, read_only, false, error));
    return firn_table_open(session->catalog, session->storage, name, argument,
                           session->options->ref, &session->table, error);
}
