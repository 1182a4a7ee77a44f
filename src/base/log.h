/** Log lines on stderr. Thread-safe. Never holds secrets. */
#ifndef FIRN_BASE_LOG_H
#define FIRN_BASE_LOG_H

typedef enum firn_log_level {
    FIRN_LOG_ERROR,
    FIRN_LOG_WARNING,
    FIRN_LOG_INFO,
    FIRN_LOG_DEBUG
} firn_log_level;

/** Default: warnings and errors. */
void firn_log_set_level(firn_log_level level);
void firn_log(firn_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define firn_log_warning(...) firn_log(FIRN_LOG_WARNING, __VA_ARGS__)
#define firn_log_info(...) firn_log(FIRN_LOG_INFO, __VA_ARGS__)
#define firn_log_debug(...) firn_log(FIRN_LOG_DEBUG, __VA_ARGS__)

#endif
