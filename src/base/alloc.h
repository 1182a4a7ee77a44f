/**
 * All heap allocation. Overflow-checked, countable, and failable for tests. Thread-safe.
 * Libraries that allocate for us (Jansson, SQLite) are routed here where they allow it.
 */
#ifndef FIRN_BASE_ALLOC_H
#define FIRN_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/** Each returns NULL when memory is out, `count * size` overflows or a test asked for a failure. Size 0 gives a valid pointer. */
void *firn_alloc(size_t size);
void *firn_alloc_zeroed(size_t count, size_t size);
void *firn_alloc_array(size_t count, size_t size);
void *firn_realloc(void *pointer, size_t size);
void *firn_realloc_array(void *pointer, size_t count, size_t size);
char *firn_strdup(const char *text);
char *firn_strndup(const char *text, size_t length);
/** printf into a new string; NULL when memory is out. */
char *firn_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** NULL is allowed. */
void firn_free(void *pointer);

/** Calls of an allocating function since the process began. */
uint64_t firn_alloc_calls(void);

/**
 * For tests: the allocation that is `after` calls from now fails (1 = the next one), and with
 * `and_following` every later one too. 0 switches it off. The environment variable
 * FIRN_FAIL_ALLOC=N (or N+) does the same for a whole process.
 */
void firn_alloc_fail_after(uint64_t after, int and_following);

#endif
