#include "cli/session.h"

#include <string.h>

#define MAXIMUM_NAME 1024

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

bool firn_argument_is_path(const char *argument) {
    static const char ending[] = ".metadata.json";
    size_t length = strlen(argument);
    if (strchr(argument, '/') != NULL) return true;
    if (length < sizeof ending - 1) return false;
    return strcmp(argument + length - (sizeof ending - 1), ending) == 0;
}

/* A name must not have empty parts: "a..b", ".b", "a.". */
static bool has_empty_part(const char *argument) {
    size_t length = strlen(argument);
    return length == 0 || argument[0] == '.' || argument[length - 1] == '.' ||
           strstr(argument, "..") != NULL;
}

firn_status firn_table_name_parse(const char *argument, char *namespace_room, size_t size,
                                  firn_table_name *out, firn_error *error) {
    if (has_empty_part(argument)) {
        return firn_fail(error, FIRN_INVALID,
                         "\"%s\" is no table name; it is namespace.table, or a path with a \"/\" "
                         "in it",
                         argument);
    }
    const char *dot = strrchr(argument, '.');
    size_t length = dot == NULL ? 0 : (size_t)(dot - argument);
    if (length >= size) {
        return firn_fail(error, FIRN_LIMIT, "the namespace of \"%.60s…\" is too long", argument);
    }
    if (length > 0) memcpy(namespace_room, argument, length);
    namespace_room[length] = '\0';
    out->namespace_name = namespace_room;
    out->name = dot == NULL ? argument : dot + 1;
    return FIRN_OK;
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
    if (firn_argument_is_path(argument)) return open_by_path(session, argument, error);
    char namespace_name[MAXIMUM_NAME];
    firn_table_name name = {0};
    FIRN_TRY(firn_table_name_parse(argument, namespace_name, sizeof namespace_name, &name, error));
    FIRN_TRY(firn_session_open_catalog(session, read_only, false, error));
    return firn_table_open(session->catalog, session->storage, name, argument,
                           session->options->ref, &session->table, error);
}
