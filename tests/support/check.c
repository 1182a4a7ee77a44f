#include "support/check.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

void check_ok_at(firn_status status, const firn_error *error, const char *file, int line) {
    if (status == FIRN_OK) return;
    print_error("%s (%d): %s\n", firn_status_name(status), (int)status,
                error == NULL ? "" : error->message);
    _fail(file, line);
}

void check_fails_at(firn_status status, firn_status code, const firn_error *error, const char *part,
                    const char *file, int line) {
    bool right = status == code;
    if (right && error != NULL) right = error->code == code;
    if (right && part != NULL) right = error != NULL && strstr(error->message, part) != NULL;
    if (right) return;
    print_error("expected %s with \"%s\", got %s: %s\n", firn_status_name(code),
                part == NULL ? "" : part, firn_status_name(status),
                error == NULL || status == FIRN_OK ? "" : error->message);
    _fail(file, line);
}

void check_each_allocation(firn_status (*body)(void *context, firn_error *error), void *context) {
    for (uint64_t failing = 1;; failing++) {
        firn_error error;
        firn_error_clear(&error);
        uint64_t before = firn_alloc_calls();
        firn_alloc_fail_after(failing, 0);
        firn_status status = body(context, &error);
        firn_alloc_fail_after(0, 0);
        if (firn_alloc_calls() - before < failing) {
            check_ok(status, &error);
            return;
        }
        if (status != FIRN_OK) check_fails(status, FIRN_NO_MEMORY, &error, NULL);
    }
}

test_generator test_generator_new(void) {
    const char *text = getenv("FIRN_TEST_SEED");
    uint64_t seed = text == NULL ? 20260131 : strtoull(text, NULL, 10);
    print_message("FIRN_TEST_SEED=%llu\n", (unsigned long long)seed);
    return (test_generator){seed};
}

/* splitmix64 */
uint64_t test_generator_next(test_generator *random) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

uint64_t test_generator_below(test_generator *random, uint64_t below) {
    return test_generator_next(random) % below;
}

firn_buffer test_read_file(const char *path) {
    firn_buffer content = firn_buffer_with_maximum((size_t)1 << 32);
    firn_error error;
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s: %s", path, strerror(errno));
    size_t got = 0;
    do {
        check_ok(firn_buffer_reserve(&content, 65536, &error), &error);
        got = fread(content.data + content.size, 1, 65536, file);
        content.size += got;
    } while (got > 0);
    if (ferror(file)) fail_msg("%s can't be read", path);
    fclose(file);
    return content;
}

void test_write_file(const char *path, firn_slice content) {
    FILE *file = fopen(path, "wb");
    if (file == NULL) fail_msg("%s: %s", path, strerror(errno));
    if (content.size > 0)
        assert_int_equal(fwrite(content.data, 1, content.size, file), content.size);
    assert_int_equal(fclose(file), 0);
}

char *test_folder_new(void) {
    const char *parent = getenv("TMPDIR");
    char *folder = firn_format("%s/firn-test-XXXXXX", parent == NULL ? "/tmp" : parent);
    assert_non_null(folder);
    if (mkdtemp(folder) == NULL) fail_msg("%s: %s", folder, strerror(errno));
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void test_folder_remove(char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    firn_free(folder);
}

const char *test_corpus(void) {
    const char *folder = getenv("FIRN_CORPUS");
#ifdef FIRN_CORPUS_DIR
    if (folder == NULL || folder[0] == '\0') folder = FIRN_CORPUS_DIR;
#endif
    if (folder != NULL && folder[0] != '\0' && access(folder, R_OK) == 0) return folder;
    if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_CORPUS names no readable folder");
    print_message("skipped: FIRN_CORPUS names no readable folder\n");
    skip();
    return NULL;
}
