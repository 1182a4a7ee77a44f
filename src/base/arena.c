#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* Under AddressSanitizer each allocation is a block of its own, so that an overrun is seen. */
#if defined(__SANITIZE_ADDRESS__)
#define ONE_BLOCK_EACH true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_BLOCK_EACH true
#endif
#endif
#ifndef ONE_BLOCK_EACH
#define ONE_BLOCK_EACH false
#endif

#define ALIGNMENT ((size_t) _Alignof(max_align_t))
#define FIRST_BLOCK_SIZE ((size_t)4096)
#define LARGEST_BLOCK_SIZE ((size_t)1024 * 1024)

typedef struct block {
    struct block *next;
    size_t size; /* bytes of data[] */
    size_t used;
    _Alignas(max_align_t) uint8_t data[];
} block;

typedef struct on_free {
    struct on_free *next;
    void (*release)(void *);
    void *context;
} on_free;

struct firn_arena {
    block *blocks; /* the one that is being filled stands first */
    on_free *releases;
    size_t next_block_size;
    size_t bytes;
};

firn_arena *firn_arena_new(void) {
    firn_arena *arena = firn_alloc_zeroed(1, sizeof *arena);
    if (arena == NULL) return NULL;
    arena->next_block_size = FIRST_BLOCK_SIZE;
    arena->bytes = sizeof *arena;
    return arena;
}

/* Frees all blocks but `kept`, which may be NULL. */
static void release_all(firn_arena *arena, const block *kept) {
    /* The records lie in the blocks: all of them run before any block goes. */
    for (on_free *record = arena->releases; record != NULL; record = record->next) {
        record->release(record->context);
    }
    arena->releases = NULL;
    block *current = arena->blocks;
    while (current != NULL) {
        block *next = current->next;
        if (current != kept) {
            arena->bytes -= sizeof *current + current->size;
            firn_free(current);
        }
        current = next;
    }
}

void firn_arena_free(firn_arena *arena) {
    if (arena == NULL) return;
    release_all(arena, NULL);
    firn_free(arena);
}

void firn_arena_clear(firn_arena *arena) {
    /* The block that is being filled is the largest but for those of one allocation each. */
    block *kept = ONE_BLOCK_EACH ? NULL : arena->blocks;
    release_all(arena, kept);
    arena->blocks = kept;
    if (kept == NULL) return;
    kept->next = NULL;
    kept->used = 0;
}

static block *add_block(firn_arena *arena, size_t size) {
    size_t total = 0;
    if (__builtin_add_overflow(size, sizeof(block), &total)) return NULL;
    block *added = firn_alloc(total);
    if (added == NULL) return NULL;
    added->size = size;
    added->used = 0;
    arena->bytes += total;
    return added;
}

/* A block for one large allocation goes behind the one being filled, whose room stays in use. */
static void *alloc_apart(firn_arena *arena, size_t size) {
    block *apart = add_block(arena, size);
    if (apart == NULL) return NULL;
    apart->used = size;
    if (arena->blocks == NULL) {
        apart->next = NULL;
        arena->blocks = apart;
    } else {
        apart->next = arena->blocks->next;
        arena->blocks->next = apart;
    }
    return apart->data;
}

/* `alignment` is a power of two, at most ALIGNMENT, where each block's bytes begin. */
static void *alloc_aligned(firn_arena *arena, size_t size, size_t alignment) {
    if (ONE_BLOCK_EACH) return alloc_apart(arena, size);
    if (size > SIZE_MAX - ALIGNMENT) return NULL;
    if (size == 0) size = 1; /* no two allocations are at one address */
    block *current = arena->blocks;
    size_t start = current == NULL ? 0 : (current->used + alignment - 1) / alignment * alignment;
    if (current == NULL || start > current->size || current->size - start < size) {
        if (size > arena->next_block_size / 4) return alloc_apart(arena, size);
        current = add_block(arena, arena->next_block_size);
        if (current == NULL) return NULL;
        current->next = arena->blocks;
        arena->blocks = current;
        if (arena->next_block_size < LARGEST_BLOCK_SIZE) arena->next_block_size *= 2;
        start = 0;
    }
    current->used = start + size;
    return current->data + start;
}

static void *alloc_bytes(firn_arena *arena, size_t size) {
    return alloc_aligned(arena, size, ALIGNMENT);
}

/* Texts lie close together: there may be a million of them. */
static char *alloc_text(firn_arena *arena, size_t size) {
    return alloc_aligned(arena, size, 1);
}

void *firn_arena_alloc(firn_arena *arena, size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    void *result = alloc_bytes(arena, total);
    if (result != NULL && total != 0) memset(result, 0, total);
    return result;
}

char *firn_arena_strdup(firn_arena *arena, const char *text) {
    return firn_arena_strndup(arena, text, strlen(text));
}

char *firn_arena_strndup(firn_arena *arena, const char *text, size_t length) {
    size_t size = 0;
    if (__builtin_add_overflow(length, 1, &size)) return NULL;
    char *copy = alloc_text(arena, size);
    if (copy == NULL) return NULL;
    if (length != 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void *firn_arena_memdup(firn_arena *arena, const void *data, size_t size) {
    void *copy = alloc_bytes(arena, size);
    if (copy != NULL && size != 0) memcpy(copy, data, size);
    return copy;
}

char *firn_arena_format(firn_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) return NULL;
    char *text = alloc_text(arena, (size_t)length + 1);
    if (text == NULL) return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

int firn_arena_on_free(firn_arena *arena, void (*release)(void *), void *context) {
    on_free *record = alloc_bytes(arena, sizeof *record);
    if (record == NULL) {
        release(context);
        return -1;
    }
    *record = (on_free){arena->releases, release, context};
    arena->releases = record;
    return 0;
}

size_t firn_arena_bytes(const firn_arena *arena) {
    return arena->bytes;
}
