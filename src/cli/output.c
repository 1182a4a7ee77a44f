#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"

static firn_status write_all(void *context, const void *data, size_t size, firn_error *error) {
    (void)context;
    const char *at = data;
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, at, size);
        if (written < 0 && errno != EINTR) {
            return firn_fail_errno(error, FIRN_IO, errno, "standard output can't be written");
        }
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
        /* A reader that does not read must not hold who wants to stop. */
        if (size > 0) FIRN_TRY(firn_cancel_check(error));
    }
    return FIRN_OK;
}

firn_write_to firn_standard_output(void) {
    return (firn_write_to){write_all, NULL};
}

firn_status firn_print(const char *text, firn_error *error) {
    return write_all(NULL, text, strlen(text), error);
}

firn_status firn_close_output(firn_error *error) {
    if (close(STDOUT_FILENO) == 0 || errno == EBADF) return FIRN_OK;
    return firn_fail_errno(error, FIRN_IO, errno, "standard output can't be written");
}

void firn_print_error_line(const char *message) {
    char line[FIRN_ERROR_MESSAGE_SIZE + 16];
    snprintf(line, sizeof line, "firn: %s", message);
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    }
    fprintf(stderr, "%s\n", line);
}
