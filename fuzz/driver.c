/*
 * Runs a fuzz target without libFuzzer: on nothing, on every file of the arguments (folders are walked),
 * and on damaged copies of each. driver [--damaged=N] PATH...
 */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define LARGEST_FILE ((size_t)64 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned damaged_copies;
static unsigned files_run;

static uint64_t random_state;

/* splitmix64; the same numbers in each run. */
static uint64_t next_random(uint64_t below) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return (z ^ z >> 31) % below;
}

/* The target gets memory of exactly the input's size, so that a sanitizer sees a read past its end. */
static void run(const uint8_t *data, size_t size) {
    firn_buffer exact = firn_buffer_with_maximum(size);
    if (firn_buffer_append(&exact, data, size, NULL) != FIRN_OK) exit(1);
    LLVMFuzzerTestOneInput(exact.data, size);
    firn_buffer_release(&exact);
}

static void run_damaged(firn_buffer *content) {
    random_state = content->size;
    for (unsigned i = 0; i < damaged_copies && content->size > 0; i++) {
        firn_buffer copy = firn_buffer_with_maximum(content->size);
        if (firn_buffer_append(&copy, content->data, content->size, NULL) != FIRN_OK) exit(1);
        if (next_random(4) == 0) copy.size = (size_t)next_random(copy.size) + 1;
        for (uint64_t changes = 1 + next_random(4); changes > 0; changes--) {
            uint8_t *at = &copy.data[next_random(copy.size)];
            if (next_random(2) == 0) {
                *at ^= (uint8_t)(1U << next_random(8));
            } else {
                *at = (uint8_t)(next_random(2) == 0 ? 0xFF : next_random(256));
            }
        }
        run(copy.data, copy.size);
        firn_buffer_release(&copy);
    }
}

static int run_file(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info;
    (void)place;
    if (kind != FTW_F) return 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s can't be opened\n", path);
        return 1;
    }
    firn_buffer content = firn_buffer_with_maximum(LARGEST_FILE);
    size_t got = 0;
    do {
        if (firn_buffer_reserve(&content, 65536, NULL) != FIRN_OK) exit(1);
        got = fread(content.data + content.size, 1, 65536, file);
        content.size += got;
    } while (got > 0);
    fclose(file);
    run(content.data, content.size);
    run_damaged(&content);
    firn_buffer_release(&content);
    files_run++;
    return 0;
}

int main(int count, char **arguments) {
    static const char damaged[] = "--damaged=";
    run(NULL, 0);
    for (int i = 1; i < count; i++) {
        if (strncmp(arguments[i], damaged, sizeof damaged - 1) == 0) {
            damaged_copies = (unsigned)strtoul(arguments[i] + sizeof damaged - 1, NULL, 10);
            continue;
        }
        if (nftw(arguments[i], run_file, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s can't be read\n", arguments[i]);
            return 1;
        }
    }
    printf("%u files\n", files_run);
    return 0;
}
