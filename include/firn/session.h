/**
 * A session: configuration, storage and the catalogs that tables are found through. What the library does starts here.
 *
 *     firn_session_options options;
 *     firn_session_options_init(&options);
 *     options.catalog = "/data/catalog.db";
 *     firn_session *session = NULL;
 *     firn_error error = {0};
 *     if (firn_session_open(&options, &session, &error) != FIRN_OK) …
 *
 * A session and what was opened through it belong to one thread at a time.
 */
#ifndef FIRN_SESSION_H
#define FIRN_SESSION_H

#include <stddef.h>

#include "firn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct firn_session firn_session;
typedef struct firn_table firn_table;

typedef struct firn_session_options {
    size_t size;             /**< of this struct, set by firn_session_options_init */
    const char *config_path; /**< NULL: firn.yaml as the program finds it */
    const char *catalog; /**< as --catalog: a configured name or an SQLite file; NULL: "default" */
    const char *catalog_name; /**< as --catalog-name; NULL: the only one in the file */
} firn_session_options;

FIRN_API void firn_session_options_init(firn_session_options *options);

/** Reads the configuration. Catalogs are opened when a table is asked for. `options` may be NULL. */
FIRN_API firn_status firn_session_open(const firn_session_options *options, firn_session **out,
                                       firn_error *error);
/** Closes the session; its tables must be closed before. NULL is allowed. */
FIRN_API void firn_session_close(firn_session *session);

/**
 * Opens a table: "namespace.name" in the session's catalog, or a path (it contains a '/', or ends in .metadata.json). `ref` is a
 * branch or tag, NULL for main. The table stays pinned to the snapshot that it was opened at. NOT_FOUND, INVALID, CORRUPT, IO.
 */
FIRN_API firn_status firn_session_table(firn_session *session, const char *name, const char *ref,
                                        firn_table **out, firn_error *error);
/** NULL is allowed. */
FIRN_API void firn_table_close(firn_table *table);

/** Asks all work of this process to stop at the next safe point; it then returns CANCELLED and leaves nothing behind. `reason` is a signal number above 0, or 0 to withdraw. Async-signal-safe. */
FIRN_API void firn_cancel_request(int reason);

/** "0.1.0". */
FIRN_API const char *firn_version(void);

#ifdef __cplusplus
}
#endif

#endif
