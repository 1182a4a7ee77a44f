/**
 * What most tests need: cmocka with what it wants included before it, checks that print the error's
 * message, failing each allocation in turn, seeded random numbers, files, folders and the corpus.
 */
#ifndef FIRN_TESTS_CHECK_H
#define FIRN_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/slice.h"

/** The status is OK, else the test fails with the error's message. */
#define check_ok(status, error) check_ok_at((status), (error), __FILE__, __LINE__)
void check_ok_at(firn_status status, const firn_error *error, const char *file, int line);

/** The status is `code` and the message, where `part` is not NULL, holds that text. */
#define check_fails(status, code, error, part)                                                     \
    check_fails_at((status), (code), (error), (part), __FILE__, __LINE__)
void check_fails_at(firn_status status, firn_status code, const firn_error *error, const char *part,
                    const char *file, int line);

/**
 * Runs `body` with its 1st, 2nd, … allocation failing until none is left to fail. Each run must return OK
 * or NO_MEMORY (and free what it made: the sanitizer looks); the last one OK.
 */
void check_each_allocation(firn_status (*body)(void *context, firn_error *error), void *context);

/** A seeded generator. The seed is FIRN_TEST_SEED or a constant, and is printed. */
typedef struct test_generator {
    uint64_t state;
} test_generator;
test_generator test_generator_new(void);
uint64_t test_generator_next(test_generator *random);
/** 0 … below-1. */
uint64_t test_generator_below(test_generator *random, uint64_t below);

/** The whole file; the test fails when it can't be read. Free with firn_buffer_release. */
firn_buffer test_read_file(const char *path);
void test_write_file(const char *path, firn_slice content);
/** A new empty folder under TMPDIR or /tmp; give it to test_folder_remove, which frees the text too. */
char *test_folder_new(void);
void test_folder_remove(char *folder);

/**
 * The corpus's folder: FIRN_CORPUS in the environment, else what was configured. Without one the test
 * is skipped, or fails where FIRN_CI is set.
 */
const char *test_corpus(void);

#endif
