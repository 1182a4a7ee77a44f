/**
 * A region that is freed as a whole: parsed metadata lives in the arena of its document and is immutable
 * once parsing is done. Not thread-safe while it grows. Under AddressSanitizer every allocation is its own block.
 */
#ifndef FIRN_BASE_ARENA_H
#define FIRN_BASE_ARENA_H

#include <stddef.h>

typedef struct firn_arena firn_arena;

/** NULL when memory is out. */
firn_arena *firn_arena_new(void);
void firn_arena_free(firn_arena *arena);
/** Frees what was allocated, and keeps some of the memory for what comes next. */
void firn_arena_clear(firn_arena *arena);

/** Zeroed, aligned for any type; NULL when memory is out or `count * size` overflows. */
void *firn_arena_alloc(firn_arena *arena, size_t count, size_t size);
char *firn_arena_strdup(firn_arena *arena, const char *text);
char *firn_arena_strndup(firn_arena *arena, const char *text, size_t length);
void *firn_arena_memdup(firn_arena *arena, const void *data, size_t size);
char *firn_arena_format(firn_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Runs `release(context)` when the arena is freed, last registered first. 0, or -1 when memory is out (then release has run). */
int firn_arena_on_free(firn_arena *arena, void (*release)(void *), void *context);

/** Bytes that the arena holds from the heap. */
size_t firn_arena_bytes(const firn_arena *arena);

#endif
