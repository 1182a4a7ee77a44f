#include "base/alloc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t calls;

/* Allocations left until one fails; 0: none does. */
static atomic_uint_fast64_t fail_countdown;
static atomic_bool fail_following;
static pthread_once_t environment_once = PTHREAD_ONCE_INIT;

static void read_environment(void) {
    const char *text = getenv("FIRN_FAIL_ALLOC");
    if (text == NULL) return;
    char *end = NULL;
    unsigned long long after = strtoull(text, &end, 10);
    atomic_store(&fail_following, *end == '+');
    atomic_store(&fail_countdown, after);
}

/* Counts a call; true when a test wants this one to fail. */
static bool must_fail(void) {
    pthread_once(&environment_once, read_environment);
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    uint_fast64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left != 0) {
        /* The countdown rests at 1 while every later allocation is to fail too. */
        bool fails = left == 1;
        if (fails && atomic_load(&fail_following)) return true;
        if (atomic_compare_exchange_weak(&fail_countdown, &left, left - 1)) return fails;
    }
    return false;
}

void *firn_alloc(size_t size) {
    if (must_fail()) return NULL;
    return malloc(size == 0 ? 1 : size);
}

void *firn_alloc_zeroed(size_t count, size_t size) {
    /* Checked here, since a sanitizer's calloc may end the process instead. */
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total) || must_fail()) return NULL;
    return calloc(1, total == 0 ? 1 : total);
}

void *firn_alloc_array(size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    return firn_alloc(total);
}

void *firn_realloc(void *pointer, size_t size) {
    if (must_fail()) return NULL;
    return realloc(pointer, size == 0 ? 1 : size);
}

void *firn_realloc_array(void *pointer, size_t count, size_t size) {
    size_t total = 0;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    return firn_realloc(pointer, total);
}

char *firn_strdup(const char *text) {
    return firn_strndup(text, strlen(text));
}

char *firn_strndup(const char *text, size_t length) {
    size_t size = 0;
    if (__builtin_add_overflow(length, 1, &size)) return NULL;
    char *copy = firn_alloc(size);
    if (copy == NULL) return NULL;
    if (length != 0) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *firn_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) return NULL;
    char *text = firn_alloc((size_t)length + 1);
    if (text == NULL) return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void firn_free(void *pointer) {
    free(pointer);
}

uint64_t firn_alloc_calls(void) {
    return atomic_load(&calls);
}

void firn_alloc_fail_after(uint64_t after, int and_following) {
    /* The environment is read first, so that it can't overwrite what a test sets here. */
    pthread_once(&environment_once, read_environment);
    atomic_store(&fail_following, and_following != 0);
    atomic_store(&fail_countdown, after);
}
