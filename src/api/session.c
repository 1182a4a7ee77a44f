#include "firn/session.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/vector.h"
#include "config/config.h"
#include "firn/version.h"
#include "table/table.h"

struct firn_session {
    firn_config *config;
    firn_storage *storage;
    char *catalog_argument, *catalog_name;
    firn_catalog *catalog;             /* of the session; opened when first needed */
    FIRN_VECTOR(firn_catalog *) paths; /* one for each table opened by path */
};

void firn_session_options_init(firn_session_options *options) {
    *options = (firn_session_options){.size = sizeof *options};
}

const char *firn_version(void) {
    return FIRN_VERSION;
}

static firn_status copy_text(const char *text, char **out, firn_error *error) {
    if (text == NULL) return FIRN_OK;
    *out = firn_strdup(text);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_session_open(const firn_session_options *options, firn_session **out,
                              firn_error *error) {
    firn_session_options defaults;
    firn_session_options_init(&defaults);
    if (options == NULL) options = &defaults;
    if (options->size < sizeof defaults) {
        return firn_fail(error, FIRN_INVALID,
                         "session options are not initialised; call firn_session_options_init");
    }
    firn_json_setup();
    firn_status status = FIRN_OK;
    firn_session *session = firn_alloc_zeroed(1, sizeof *session);
    if (session == NULL) return firn_fail_memory(error);
    FIRN_CHECK(copy_text(options->catalog, &session->catalog_argument, error));
    FIRN_CHECK(copy_text(options->catalog_name, &session->catalog_name, error));
    FIRN_CHECK(firn_config_load(options->config_path, &session->config, error));
    FIRN_CHECK(firn_storage_local(&session->storage, error));
    *out = session;
    session = NULL;
out:
    firn_session_close(session);
    return status;
}

void firn_session_close(firn_session *session) {
    if (session == NULL) return;
    for (size_t i = 0; i < session->paths.count; i++) {
        firn_catalog_close(session->paths.items[i]);
    }
    firn_vector_release(&session->paths);
    if (session->catalog != NULL) firn_catalog_close(session->catalog);
    if (session->storage != NULL) firn_storage_free(session->storage);
    firn_config_free(session->config);
    firn_free(session->catalog_argument);
    firn_free(session->catalog_name);
    firn_free(session);
}

static firn_status open_path(firn_session *session, const char *path, firn_catalog **out,
                             firn_error *error) {
    FIRN_TRY(firn_vector_reserve(&session->paths, error, session->paths.count + 1));
    FIRN_TRY(firn_catalog_path_open(path, session->storage, out, error));
    return firn_vector_push(&session->paths, error, *out);
}

static firn_status open_named(firn_session *session, firn_catalog **out, firn_error *error) {
    if (session->catalog == NULL) {
        FIRN_TRY(firn_config_open_catalog(session->config, session->catalog_argument,
                                          session->catalog_name, false, false, session->storage,
                                          &session->catalog, error));
    }
    *out = session->catalog;
    return FIRN_OK;
}

firn_status firn_session_table(firn_session *session, const char *name, const char *ref,
                               firn_table **out, firn_error *error) {
    firn_catalog *catalog = NULL;
    firn_table_name parts = {NULL, NULL};
    char namespace_name[FIRN_NAMESPACE_SIZE];
    if (firn_table_argument_is_path(name)) {
        FIRN_TRY(open_path(session, name, &catalog, error));
    } else {
        FIRN_TRY(firn_table_name_parse(name, namespace_name, &parts, error));
        FIRN_TRY(open_named(session, &catalog, error));
    }
    return firn_table_open(catalog, session->storage, parts, name, ref, out, error);
}
