#include "catalog/sql_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/cancel.h"

#define BUSY_MS 30000

static int busy_milliseconds(void) {
    const char *text = getenv("FIRN_SQLITE_BUSY_MS");
    if (text == NULL || text[0] == '\0') return BUSY_MS;
    char *end = NULL;
    long value = strtol(text, &end, 10);
    return *end != '\0' || value < 0 || value > INT_MAX ? BUSY_MS : (int)value;
}

/* Called while another program holds a lock; 0 gives up. */
static int wait_for_lock(void *context, int calls) {
    enum { STEP_MS = 10 };
    if (firn_cancel_requested() != 0 || calls >= (int)(intptr_t)context / STEP_MS) return 0;
    sqlite3_sleep(STEP_MS);
    return 1;
}

int firn_sql_let_cancel(firn_sql_connection *connection, bool allowed) {
    connection->cancellable = allowed;
    if (!allowed) return sqlite3_busy_timeout(connection->handle, connection->busy_ms);
    void *context = (void *)(intptr_t)connection->busy_ms;
    return sqlite3_busy_handler(connection->handle, wait_for_lock, context);
}

/* SQLite's own text does not say why. */
static firn_status fail_opening(const firn_sql_connection *connection, const char *text,
                                firn_error *error) {
    int reason = connection->handle == NULL ? 0 : sqlite3_system_errno(connection->handle);
    if (reason == 0) return firn_fail(error, FIRN_IO, "%s: %s", connection->path, text);
    return firn_fail_errno(error, FIRN_IO, reason, "%s can't be opened", connection->path);
}

static firn_status fail(const firn_sql_connection *connection, int code, firn_error *error) {
    const char *text =
        connection->handle == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(connection->handle);
    const char *path = connection->path;
    switch (code & 0xFF) {
    case SQLITE_NOMEM: return firn_fail_memory(error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (connection->cancellable) FIRN_TRY(firn_cancel_check(error));
        firn_fail(error, FIRN_CONFLICT, "%s stayed locked by another program for %d ms: %s", path,
                  connection->busy_ms, text);
        if (error != NULL) error->retryable = true;
        return FIRN_CONFLICT;
    case SQLITE_NOTADB: return firn_fail(error, FIRN_CORRUPT, "%s is no SQLite file", path);
    case SQLITE_CORRUPT: return firn_fail(error, FIRN_CORRUPT, "%s: %s", path, text);
    case SQLITE_CONSTRAINT: return firn_fail(error, FIRN_EXISTS, "%s: %s", path, text);
    case SQLITE_READONLY: return firn_fail(error, FIRN_IO, "%s can't be written: %s", path, text);
    case SQLITE_CANTOPEN: return fail_opening(connection, text, error);
    default: return firn_fail(error, FIRN_IO, "%s: SQLite error %d: %s", path, code, text);
    }
}

firn_status firn_sql_prepare(const firn_sql_connection *connection, const char *sql,
                             const char *const *parameters, int count, sqlite3_stmt **out,
                             firn_error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection->handle, sql, -1, &statement, NULL);
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        code = parameters[i] == NULL
                   ? sqlite3_bind_null(statement, i + 1)
                   : sqlite3_bind_text(statement, i + 1, parameters[i], -1, SQLITE_TRANSIENT);
    }
    if (code != SQLITE_OK) {
        firn_status status = fail(connection, code, error);
        sqlite3_finalize(statement);
        return status;
    }
    *out = statement;
    return FIRN_OK;
}

firn_status firn_sql_step(const firn_sql_connection *connection, sqlite3_stmt *statement, bool *row,
                          firn_error *error) {
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return FIRN_OK;
    return fail(connection, code, error);
}

firn_status firn_sql_execute(const firn_sql_connection *connection, const char *sql,
                             const char *const *parameters, int count, firn_error *error) {
    sqlite3_stmt *statement = NULL;
    FIRN_TRY(firn_sql_prepare(connection, sql, parameters, count, &statement, error));
    bool row = true;
    firn_status status = FIRN_OK;
    while (row && status == FIRN_OK) status = firn_sql_step(connection, statement, &row, error);
    sqlite3_finalize(statement);
    return status;
}

firn_status firn_sql_text(const firn_sql_connection *connection, sqlite3_stmt *statement,
                          int column, char **out, firn_error *error) {
    *out = NULL;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return FIRN_OK;
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text == NULL) return firn_fail_memory(error);
    size_t length = (size_t)sqlite3_column_bytes(statement, column);
    if (memchr(text, '\0', length) != NULL) {
        return firn_fail(error, FIRN_CORRUPT, "%s: column %s holds a zero byte", connection->path,
                         sqlite3_column_name(statement, column));
    }
    *out = firn_strndup(text, length);
    return *out == NULL ? firn_fail_memory(error) : FIRN_OK;
}

/* Whether a table is there, and whether it has iceberg_type. `pragma` is a constant. */
static firn_status look_at_table(firn_sql_connection *connection, const char *pragma, bool *there,
                                 bool *has_type, int *code, firn_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    *there = false;
    firn_status status = firn_sql_prepare(connection, pragma, NULL, 0, &statement, error);
    if (status == FIRN_OK) status = firn_sql_step(connection, statement, &row, error);
    while (status == FIRN_OK && row) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        *there = true;
        if (name != NULL && sqlite3_stricmp(name, "iceberg_type") == 0) *has_type = true;
        status = firn_sql_step(connection, statement, &row, error);
    }
    *code = sqlite3_errcode(connection->handle) & 0xFF;
    sqlite3_finalize(statement);
    return status;
}

static firn_status look_at_layout(firn_sql_connection *connection, int *code, firn_error *error) {
    bool ignored = false;
    connection->has_type = false;
    FIRN_TRY(look_at_table(connection, "PRAGMA table_info(iceberg_tables)", &connection->has_tables,
                           &connection->has_type, code, error));
    return look_at_table(connection, "PRAGMA table_info(iceberg_namespace_properties)",
                         &connection->has_namespaces, &ignored, code, error);
}

/* `name` is an absolute path, which SQLite never takes for a URI, or a URI with SQLITE_OPEN_URI. */
static firn_status open_handle(firn_sql_connection *connection, const char *name, int flags,
                               firn_error *error) {
    int code = sqlite3_open_v2(name, &connection->handle, flags | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (code == SQLITE_OK) code = sqlite3_extended_result_codes(connection->handle, 1);
    if (code == SQLITE_OK) code = firn_sql_let_cancel(connection, connection->cancellable);
    return code == SQLITE_OK ? FIRN_OK : fail(connection, code, error);
}

/* Whether a journal or a write-ahead log beside the file has content that belongs to it. */
static firn_status has_companion(const char *path, const char *ending, bool *out,
                                 firn_error *error) {
    char *name = firn_format("%s%s", path, ending);
    if (name == NULL) return firn_fail_memory(error);
    struct stat status;
    *out = stat(name, &status) == 0 && status.st_size > 0;
    firn_free(name);
    return FIRN_OK;
}

static firn_status uri_of(const char *path, char **out, firn_error *error) {
    static const char digits[] = "0123456789ABCDEF";
    firn_buffer uri = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_buffer_append_text(&uri, "file://", error));
    for (const char *at = path; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '/' || c == '.' || c == '-' || c == '_';
        if (plain) {
            FIRN_CHECK(firn_buffer_append_byte(&uri, c, error));
        } else {
            char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
            FIRN_CHECK(firn_buffer_append(&uri, escape, sizeof escape, error));
        }
    }
    FIRN_CHECK(firn_buffer_append_text(&uri, "?immutable=1", error));
    *out = firn_buffer_take_text(&uri);
    if (*out == NULL) status = firn_fail_memory(error);
out:
    firn_buffer_release(&uri);
    return status;
}

static firn_status reopen(firn_sql_connection *connection, const char *name, int flags,
                          firn_error *error) {
    sqlite3_close(connection->handle);
    connection->handle = NULL;
    FIRN_TRY(open_handle(connection, name, flags, error));
    int code = 0;
    return look_at_layout(connection, &code, error);
}

/*
 * What to do when plain reading failed. A journal with content is of a transaction that a crash cut
 * short: every reader must undo it first, which needs to write. A file in write-ahead mode needs
 * its companions even for reading, and they can't be made in a read-only folder; without content in
 * them the file alone is the whole state, and may be read as one that does not change (connections
 * live for one operation, so nothing stale is kept).
 */
static firn_status read_otherwise(firn_sql_connection *connection, firn_error *error) {
    const char *path = connection->path;
    bool wal = false;
    bool journal = false;
    FIRN_TRY(has_companion(path, "-wal", &wal, error));
    FIRN_TRY(has_companion(path, "-journal", &journal, error));
    if (journal && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) {
        return reopen(connection, path, SQLITE_OPEN_READWRITE, error);
    }
    if (wal || journal) {
        return firn_fail(error, FIRN_IO,
                         "%s can't be read without writing, since %s%s has changes that belong to "
                         "it; copy both files to a folder that can be written",
                         path, path, wal ? "-wal" : "-journal");
    }
    char *uri = NULL;
    FIRN_TRY(uri_of(path, &uri, error));
    firn_status status = reopen(connection, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error);
    firn_free(uri);
    return status;
}

/* SQLite would open a FIFO and wait, or make a file of its own: look first. */
static firn_status check_file(const char *path, firn_sql_mode mode, firn_error *error) {
    struct stat status;
    if (stat(path, &status) == 0) {
        if (S_ISREG(status.st_mode)) return FIRN_OK;
        return firn_fail(error, FIRN_INVALID, "%s is no regular file", path);
    }
    int code = errno;
    if ((code == ENOENT || code == ENOTDIR) && mode != FIRN_SQL_CREATE) {
        return firn_fail(error, FIRN_NOT_FOUND, "there is no SQLite catalog %s", path);
    }
    if (code != ENOENT) return firn_fail_errno(error, FIRN_IO, code, "%s can't be opened", path);
    /* SQLite itself would make it 0644 whatever the umask allows. */
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) {
        return firn_fail_errno(error, FIRN_IO, errno, "%s can't be created", path);
    }
    if (descriptor >= 0) close(descriptor);
    return FIRN_OK;
}

firn_status firn_sql_connect(const char *path, firn_sql_mode mode, firn_sql_connection *out,
                             firn_error *error) {
    firn_sql_connection connection = {
        .path = path, .busy_ms = busy_milliseconds(), .cancellable = mode != FIRN_SQL_WRITE};
    FIRN_TRY(check_file(path, mode, error));
    int code = SQLITE_OK;
    int flags = mode == FIRN_SQL_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    firn_status status = open_handle(&connection, path, flags, error);
    if (status == FIRN_OK) status = look_at_layout(&connection, &code, error);
    if (status != FIRN_OK && mode == FIRN_SQL_READ &&
        (code == SQLITE_CANTOPEN || code == SQLITE_READONLY)) {
        status = read_otherwise(&connection, error);
    }
    if (status == FIRN_OK && mode != FIRN_SQL_READ &&
        sqlite3_db_readonly(connection.handle, "main") == 1) {
        status = firn_fail(error, FIRN_IO, "%s can't be written by this user", path);
    }
    if (status != FIRN_OK) {
        sqlite3_close(connection.handle);
        return status;
    }
    *out = connection;
    return FIRN_OK;
}

void firn_sql_disconnect(firn_sql_connection *connection) {
    sqlite3_close(connection->handle);
    connection->handle = NULL;
}
