/**
 * Status codes and the error that a fallible function describes.
 *
 * A fallible function returns a firn_status (FIRN_OK is 0) and takes a caller-owned, nullable firn_error
 * last. On success the error is left untouched. Nothing is kept in thread-local or global state.
 */
#ifndef FIRN_ERROR_H
#define FIRN_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "firn/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Every status: X(name, number, text). Numbers are stable. */
#define FIRN_STATUS_LIST(X)                                                                        \
    X(OK, 0, "ok")                                                                                 \
    X(INVALID, 1, "invalid argument, usage or configuration")                                      \
    X(CORRUPT, 2, "corrupt input")                                                                 \
    X(UNSUPPORTED, 3, "not supported")                                                             \
    X(NOT_FOUND, 4, "not found")                                                                   \
    X(EXISTS, 5, "already exists")                                                                 \
    X(IO, 6, "input or output failed")                                                             \
    X(AUTH, 7, "not authorized")                                                                   \
    X(TIMEOUT, 8, "timed out")                                                                     \
    X(THROTTLED, 9, "throttled")                                                                   \
    X(NO_MEMORY, 10, "out of memory")                                                              \
    X(LIMIT, 11, "limit exceeded")                                                                 \
    X(CANCELLED, 12, "cancelled")                                                                  \
    X(CONFLICT, 13, "commit conflict")                                                             \
    X(COMMIT_UNKNOWN, 14, "outcome of the commit unknown")                                         \
    X(BLOCKED, 15, "table blocked")                                                                \
    X(UNSAFE, 16, "stopped for safety")

typedef enum firn_status {
#define FIRN_STATUS_ENUM(name, number, text) FIRN_##name = number,
    FIRN_STATUS_LIST(FIRN_STATUS_ENUM)
#undef FIRN_STATUS_ENUM
} firn_status;

/** Longest message, with its context chain, including the terminating zero. */
#define FIRN_ERROR_MESSAGE_SIZE 1024

typedef struct firn_error {
    firn_status code;
    int system_errno;    /**< errno of a failed system call, else 0 */
    int http_status;     /**< status of an HTTP answer, else 0 */
    int64_t byte_offset; /**< offset in the file that `message` names, else -1 */
    bool retryable;      /**< the same call may succeed later */
    char message[FIRN_ERROR_MESSAGE_SIZE];
} firn_error;

/** A constant text for a status, never NULL. */
FIRN_API const char *firn_status_text(firn_status status);

/** The status as its upper-case name without prefix, e.g. "NOT_FOUND", never NULL. */
FIRN_API const char *firn_status_name(firn_status status);

/** Makes *error say "no error". */
FIRN_API void firn_error_clear(firn_error *error);

#ifdef __cplusplus
}
#endif

#endif
