/** Filling in a firn_error (include/firn/error.h) and passing it up. */
#ifndef FIRN_BASE_ERROR_H
#define FIRN_BASE_ERROR_H

#include "firn/error.h"

/**
 * Describes a failure and returns `code`, so that `return firn_fail(error, FIRN_CORRUPT, …)` is the
 * usual form. `error` may be NULL. Messages name the file, the field and what to do next.
 */
firn_status firn_fail(firn_error *error, firn_status code, const char *format, ...)
    FIRN_PRINTF(3, 4);

/** Like firn_fail, with the byte offset at which the input is wrong (appended as " at byte N"). */
firn_status firn_fail_at(firn_error *error, firn_status code, int64_t byte_offset,
                         const char *format, ...) FIRN_PRINTF(4, 5);

/** Like firn_fail for a failed system call: keeps `system_errno` and appends its text (": …"). */
firn_status firn_fail_errno(firn_error *error, firn_status code, int system_errno,
                            const char *format, ...) FIRN_PRINTF(4, 5);

/** The error for a failed allocation; sets code NO_MEMORY. Never allocates. */
firn_status firn_fail_memory(firn_error *error);

/**
 * Puts "context: " before the message of an error that is passed up, and returns `status` unchanged.
 * Does nothing for FIRN_OK. The chain reads from the outside in: "table a.b: manifest m: entry 7: …".
 */
firn_status firn_error_wrap(firn_error *error, firn_status status, const char *format, ...)
    FIRN_PRINTF(3, 4);

/** Puts "; " and what to do, or what may have been meant, behind the message; else as firn_error_wrap. */
firn_status firn_error_hint(firn_error *error, firn_status status, const char *format, ...)
    FIRN_PRINTF(3, 4);

/** Returns from the enclosing function when the expression fails. For use where nothing is held. */
#define FIRN_TRY(expression)                                                                       \
    do {                                                                                           \
        firn_status firn_try_status = (expression);                                                \
        if (firn_try_status != FIRN_OK) return firn_try_status;                                    \
    } while (0)

/** Sets the local `status` and jumps to the label `out` when the expression fails. */
#define FIRN_CHECK(expression)                                                                     \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != FIRN_OK) goto out;                                                           \
    } while (0)

#endif
