#include <stdio.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "puffin/deletion_vector.h"
#include "support/check.h"

static firn_buffer corpus_file(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/deletion-vectors/%s", test_corpus(), name);
    return test_read_file(path);
}

typedef struct stretch {
    uint64_t first, end; /* [first, end) */
    uint64_t step;
} stretch;

static void check_positions(const firn_roaring *set, const stretch *stretches, size_t count) {
    firn_error error;
    firn_roaring *expected = firn_roaring_new();
    for (size_t i = 0; i < count; i++) {
        for (uint64_t at = stretches[i].first; at < stretches[i].end; at += stretches[i].step) {
            check_ok(firn_roaring_add(expected, at, &error), &error);
        }
    }
    assert_int_equal(firn_roaring_count(set), firn_roaring_count(expected));
    assert_true(firn_roaring_contains_all(set, expected));
    firn_roaring_free(expected);
}

#define KEY(n) ((uint64_t)(n) << 32)
#define PART(n) ((uint64_t)(n) << 16)

static const struct {
    const char *name;
    size_t count;
    stretch stretches[10];
} vectors[] = {
    {"empty-position-index.bin", 0, {{0, 0, 1}}},
    {"small-alternating-values-position-index.bin", 1, {{1, 10, 2}}},
    {"small-and-large-values-position-index.bin", 2, {{100, 102, 1}, {2147483747, 2147483749, 1}}},
    {"all-container-types-position-index.bin",
     6,
     {{5, 8, 2},
      {PART(1) + 1, PART(1) + 1000, 1},
      {PART(2) + 1, PART(2) + 65535, 1},
      {KEY(1) + 10, KEY(1) + 21, 10},
      {KEY(1) + PART(1) + 10, KEY(1) + PART(1) + 500, 1},
      {KEY(1) + PART(2) + 1, KEY(1) + PART(2) + 65535, 1}}},
};

static const struct {
    const char *name;
    size_t count;
    stretch stretches[10];
} bitmaps[] = {
    {"64mapempty.bin", 0, {{0, 0, 1}}},
    {"64map32bitvals.bin", 1, {{0, 10, 1}}},
    {"64mapspreadvals.bin",
     10,
     {{KEY(0), KEY(0) + 10, 1},
      {KEY(1), KEY(1) + 10, 1},
      {KEY(2), KEY(2) + 10, 1},
      {KEY(3), KEY(3) + 10, 1},
      {KEY(4), KEY(4) + 10, 1},
      {KEY(5), KEY(5) + 10, 1},
      {KEY(6), KEY(6) + 10, 1},
      {KEY(7), KEY(7) + 10, 1},
      {KEY(8), KEY(8) + 10, 1},
      {KEY(9), KEY(9) + 10, 1}}},
};

/* Java's bytes give the positions, and the positions Java's bytes. */
static void test_corpus_vectors(void **state) {
    (void)state;
    firn_error error;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        firn_roaring *set = NULL;
        firn_buffer bytes = corpus_file(vectors[i].name);
        firn_buffer written = firn_buffer_with_maximum((size_t)1 << 20);
        check_ok(firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 4, &set, &error),
                 &error);
        check_positions(set, vectors[i].stretches, vectors[i].count);
        check_ok(firn_deletion_vector_write(set, &written, &error), &error);
        assert_true(firn_slice_equal(firn_buffer_slice(&bytes), firn_buffer_slice(&written)));
        firn_roaring_free(set);
        firn_buffer_release(&bytes);
        firn_buffer_release(&written);
    }
}

static void test_corpus_bitmaps(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = NULL;
    for (size_t i = 0; i < sizeof bitmaps / sizeof *bitmaps; i++) {
        firn_buffer bytes = corpus_file(bitmaps[i].name);
        check_ok(firn_roaring_read(firn_buffer_slice(&bytes), "f", &set, &error), &error);
        check_positions(set, bitmaps[i].stretches, bitmaps[i].count);
        firn_roaring_free(set);
        firn_buffer_release(&bytes);
    }
    /* Its bytes went through a text: every one above 7F is EF BF BD. */
    firn_buffer bad = corpus_file("64maphighvals.bin");
    check_fails(firn_roaring_read(firn_buffer_slice(&bad), "bad", &set, &error), FIRN_CORRUPT,
                &error, "bad: roaring bitmap: a key is above 2^31 - 1");
    firn_buffer_release(&bad);
}

/* A file that gives its bytes only as copies. */
static firn_status read_copy(void *context, uint64_t offset, void *out, size_t size,
                             firn_error *error) {
    const firn_buffer *bytes = context;
    (void)error;
    memcpy(out, bytes->data + offset, size);
    return FIRN_OK;
}

/* Positions [first, end) of a vector that lies at byte 3 of a file, against those of the whole vector. */
static void check_part(firn_buffer *bytes, const firn_roaring *whole, uint64_t first,
                       uint64_t end) {
    firn_error error;
    firn_read_at file = {
        .read = read_copy, .context = bytes, .size = bytes->size, .name = "part.puffin"};
    firn_roaring_part part = {.first = first, .end = end};
    firn_roaring *set = NULL;
    uint64_t greatest = 0, behind = 0;
    check_ok(firn_deletion_vector_read_part(&file, 3, bytes->size - 3, &part, &set, &error),
             &error);
    assert_int_equal(part.count, firn_roaring_count(whole));
    (void)firn_roaring_maximum(whole, &greatest);
    assert_int_equal(part.greatest, greatest);
    assert_int_equal(firn_roaring_count_range(set, first, end),
                     firn_roaring_count_range(whole, first, end));
    assert_true(firn_roaring_contains_all(whole, set));
    uint64_t containers_end = end > UINT64_MAX - 65535 ? end : (end + 65535) / 65536 * 65536;
    assert_int_equal(firn_roaring_count_range(set, containers_end, UINT64_MAX), 0);
    bool more = firn_roaring_take(whole, containers_end, UINT64_MAX, &behind, 1) == 1;
    assert_int_equal(part.behind, more ? behind / 65536 * 65536 : UINT64_MAX);
    firn_roaring_free(set);
}

static void test_parts(void **state) {
    (void)state;
    firn_error error;
    static const uint64_t edges[] = {0, 65536, 3 * 65536 + 7, (uint64_t)1 << 32, UINT64_MAX};
    const size_t count = sizeof edges / sizeof *edges;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        firn_roaring *whole = NULL;
        firn_buffer blob = corpus_file(vectors[i].name);
        check_ok(firn_deletion_vector_read(firn_buffer_slice(&blob), "f", 4, &whole, &error),
                 &error);
        firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
        check_ok(firn_buffer_append(&bytes, "xyz", 3, &error), &error);
        check_ok(firn_buffer_append(&bytes, blob.data, blob.size, &error), &error);
        for (size_t pair = 0; pair < count * count; pair++) {
            check_part(&bytes, whole, edges[pair / count], edges[pair % count]);
        }
        firn_roaring_free(whole);
        firn_buffer_release(&blob);
        firn_buffer_release(&bytes);
    }
}

/* Longer than what is in memory at a time. */
static void test_large_part(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *whole = firn_roaring_new();
    for (uint64_t at = 0; at < 40 * 65536; at += 1 + at % 3) {
        check_ok(firn_roaring_add(whole, at, &error), &error);
    }
    firn_buffer bytes = firn_buffer_with_maximum(SIZE_MAX);
    check_ok(firn_buffer_append(&bytes, "xyz", 3, &error), &error);
    check_ok(firn_deletion_vector_write(whole, &bytes, &error), &error);
    assert_true(bytes.size > 300000);
    check_part(&bytes, whole, 0, UINT64_MAX);
    check_part(&bytes, whole, 7 * 65536, 9 * 65536);
    bytes.data[200000] ^= 1;
    firn_read_at file = {
        .read = read_copy, .context = &bytes, .size = bytes.size, .name = "part.puffin"};
    firn_roaring_part part = {.first = 0, .end = 65536};
    firn_roaring *set = NULL;
    check_fails(firn_deletion_vector_read_part(&file, 3, bytes.size - 3, &part, &set, &error),
                FIRN_CORRUPT, &error, "the CRC-32 is wrong");
    firn_roaring_free(whole);
    firn_buffer_release(&bytes);
}

/* No part of a blob and no blob with a bit turned over is one. */
static void test_damage(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = NULL;
    firn_buffer bytes = corpus_file("all-container-types-position-index.bin");
    for (size_t size = 0; size < bytes.size; size++) {
        check_fails(
            firn_deletion_vector_read(firn_slice_of(bytes.data, size), "f", 0, &set, &error),
            FIRN_CORRUPT, &error, "f: deletion vector");
    }
    for (size_t bit = 0; bit < bytes.size * 8; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        check_fails(firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 0, &set, &error),
                    FIRN_CORRUPT, &error, "f: deletion vector");
        bytes.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    bytes.data[bytes.size - 1] ^= 1;
    check_fails(firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 100, &set, &error),
                FIRN_CORRUPT, &error, "the CRC-32 is wrong");
    assert_int_equal(error.byte_offset, 100 + (int64_t)bytes.size - 4);
    bytes.data[5] ^= 1;
    check_fails(firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 0, &set, &error),
                FIRN_CORRUPT, &error, "magic");
    bytes.data[3] ^= 1;
    check_fails(firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 0, &set, &error),
                FIRN_CORRUPT, &error, "its length is not the blob's");
    firn_buffer_release(&bytes);
}

/* A right frame around a wrong bitmap. */
static void test_bad_bitmap_in_a_good_frame(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = NULL;
    firn_buffer bytes = corpus_file("small-alternating-values-position-index.bin");
    size_t size = bytes.size - 8;
    bytes.data[bytes.size - 6] = 1;
    firn_store_be32(bytes.data + bytes.size - 4,
                    firn_crc32(0, firn_slice_of(bytes.data + 4, size)));
    check_fails(
        firn_deletion_vector_read(firn_buffer_slice(&bytes), "f", 8, &set, &error), FIRN_CORRUPT,
        &error,
        "deletion vector at byte 8: f: roaring bitmap: the values of an array do not ascend");
    firn_buffer_release(&bytes);
}

static void test_limit_of_the_buffer(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = firn_roaring_new();
    firn_buffer out = firn_buffer_with_maximum(40);
    check_ok(firn_buffer_append_text(&out, "before", &error), &error);
    for (uint64_t i = 0; i < 100; i++) check_ok(firn_roaring_add(set, i * 3, &error), &error);
    check_fails(firn_deletion_vector_write(set, &out, &error), FIRN_LIMIT, &error, NULL);
    assert_int_equal(out.size, 6);
    firn_buffer_release(&out);
    firn_roaring_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_large_part),
        cmocka_unit_test(test_corpus_vectors),
        cmocka_unit_test(test_corpus_bitmaps),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bad_bitmap_in_a_good_frame),
        cmocka_unit_test(test_limit_of_the_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
