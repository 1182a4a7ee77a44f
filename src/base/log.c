#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 4096

static atomic_int highest_level = FIRN_LOG_WARNING;

void firn_log_set_level(firn_log_level level) {
    atomic_store(&highest_level, (int)level);
}

static const char *level_name(firn_log_level level) {
    switch (level) {
    case FIRN_LOG_ERROR: return "error";
    case FIRN_LOG_WARNING: return "warning";
    case FIRN_LOG_INFO: return "info";
    case FIRN_LOG_DEBUG: return "debug";
    }
    return "log";
}

/* Names from tables and file systems must not be able to steer a terminal or forge a line. */
static void disarm(char *text) {
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    }
}

void firn_log(firn_log_level level, const char *format, ...) {
    if ((int)level > atomic_load_explicit(&highest_level, memory_order_relaxed)) return;
    char message[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    disarm(message);
    /* One call, so that lines of several threads don't mix. */
    fprintf(stderr, "firn: %s: %s\n", level_name(level), message);
}
