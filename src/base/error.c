#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *firn_status_text(firn_status status) {
    switch (status) {
#define STATUS_TEXT(name, number, text)                                                            \
    case FIRN_##name: return text;
        FIRN_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *firn_status_name(firn_status status) {
    switch (status) {
#define STATUS_NAME(name, number, text)                                                            \
    case FIRN_##name: return #name;
        FIRN_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "UNKNOWN";
}

void firn_error_clear(firn_error *error) {
    if (error == NULL) return;
    *error = (firn_error){.code = FIRN_OK, .byte_offset = -1};
}

/* A cut message ends in "..." and never within a UTF-8 sequence. */
static void mark_cut(char *message, size_t size) {
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)message[end] & 0xC0U) == 0x80U) end--;
    memcpy(message + end, "...", 4);
}

/* The message is built aside, since its arguments may point into the message it replaces. */
static void set_message(firn_error *error, firn_status code, const char *format,
                        va_list arguments) {
    char message[FIRN_ERROR_MESSAGE_SIZE];
    int length = vsnprintf(message, sizeof message, format, arguments);
    if (length < 0) memcpy(message, "?", 2);
    if (length >= (int)sizeof message) mark_cut(message, sizeof message);
    firn_error_clear(error);
    error->code = code;
    memcpy(error->message, message, sizeof message);
}

static void append_message(firn_error *error, const char *format, ...) FIRN_PRINTF(2, 3);

static void append_message(firn_error *error, const char *format, ...) {
    size_t used = strlen(error->message);
    size_t room = sizeof error->message - used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->message + used, room, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length >= room) mark_cut(error->message, sizeof error->message);
}

firn_status firn_fail(firn_error *error, firn_status code, const char *format, ...) {
    if (error == NULL) return code;
    va_list arguments;
    va_start(arguments, format);
    set_message(error, code, format, arguments);
    va_end(arguments);
    error->retryable = code == FIRN_TIMEOUT || code == FIRN_THROTTLED;
    return code;
}

firn_status firn_fail_at(firn_error *error, firn_status code, int64_t byte_offset,
                         const char *format, ...) {
    if (error == NULL) return code;
    va_list arguments;
    va_start(arguments, format);
    set_message(error, code, format, arguments);
    va_end(arguments);
    error->byte_offset = byte_offset;
    append_message(error, " at byte %lld", (long long)byte_offset);
    return code;
}

firn_status firn_fail_errno(firn_error *error, firn_status code, int system_errno,
                            const char *format, ...) {
    if (error == NULL) return code;
    va_list arguments;
    va_start(arguments, format);
    set_message(error, code, format, arguments);
    va_end(arguments);
    error->system_errno = system_errno;
    /* strerrordesc_np, unlike strerror, depends on no locale and is thread-safe. */
    const char *description = strerrordesc_np(system_errno);
    if (description != NULL) {
        append_message(error, ": %s", description);
    } else {
        append_message(error, ": system error %d", system_errno);
    }
    return code;
}

firn_status firn_fail_memory(firn_error *error) {
    return firn_fail(error, FIRN_NO_MEMORY, "out of memory");
}

firn_status firn_error_wrap(firn_error *error, firn_status status, const char *format, ...) {
    if (status == FIRN_OK || error == NULL) return status;
    char inner[FIRN_ERROR_MESSAGE_SIZE];
    memcpy(inner, error->message, sizeof inner);
    char context[FIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    if (length < 0) return status;
    if (length >= (int)sizeof context) mark_cut(context, sizeof context);
    error->message[0] = '\0';
    append_message(error, "%s: %s", context, inner);
    return status;
}

firn_status firn_error_hint(firn_error *error, firn_status status, const char *format, ...) {
    if (status == FIRN_OK || error == NULL) return status;
    char hint[FIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(hint, sizeof hint, format, arguments);
    va_end(arguments);
    if (length < 0) return status;
    if (length >= (int)sizeof hint) mark_cut(hint, sizeof hint);
    append_message(error, "; %s", hint);
    return status;
}
