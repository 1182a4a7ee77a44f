/* Bitmaps made byte by byte: golden ones, and each fault that a reader has to see. */
#include <stdio.h>

#include "puffin/roaring.h"
#include "support/check.h"

/* "3a30 0000" as bytes; blanks are skipped. */
static size_t from_hex(const char *text, uint8_t *out) {
    size_t count = 0;
    for (; *text != 0; text++) {
        unsigned byte = 0;
        if (*text == ' ') continue;
        assert_int_equal(sscanf(text, "%2x", &byte), 1);
        out[count++] = (uint8_t)byte;
        text++;
    }
    return count;
}

#define ONE "0100000000000000 00000000 "
#define ARRAY_1_2 "3a300000 01000000 00000100 10000000 01000200"

static const struct {
    const char *hex, *message;
} faults[] = {
    {"", "it is cut short"},
    {"01000000000000", "it is cut short"},
    {"0100000000000000", "more bitmaps are stated than there is room for"},
    {"ffffffffffffffff" ARRAY_1_2, "more bitmaps are stated than there is room for"},
    {"0000000000000000 00", "bytes follow it"},
    {ONE ARRAY_1_2 "00", "bytes follow it"},
    {ONE "39300000 01000000", "the cookie is neither 12346 nor 12347"},
    {ONE "3a300100 01000000", "the cookie is neither 12346 nor 12347"},
    {ONE "3a300000 01000100", "more than 65536 containers"},
    {ONE "3a300000 00000100", "it is cut short"},
    {"0100000000000000 00000080" ARRAY_1_2, "a key is above 2^31 - 1"},
    {"0200000000000000 01000000" ARRAY_1_2 "01000000" ARRAY_1_2, "the bitmaps' keys do not ascend"},
    {"0200000000000000 01000000" ARRAY_1_2 "00000000" ARRAY_1_2, "the bitmaps' keys do not ascend"},
    {ONE "3a300000 01000000 00000100 10000000 02000100", "the values of an array do not ascend"},
    {ONE "3a300000 01000000 00000100 10000000 02000200", "the values of an array do not ascend"},
    {ONE "3a300000 01000000 00000100 11000000 01000200", "where the offset header says"},
    {ONE "3a300000 01000000 00000200 10000000 01000200", "it is cut short"},
    {ONE "3a300000 02000000 00000000 00000000 18000000 1a000000 0100 0100",
     "the containers' keys do not ascend"},
    {ONE "3a300000 02000000 01000000 00000000 18000000 1a000000 0100 0100",
     "the containers' keys do not ascend"},
    {ONE "3b300000 01 00000100 0100 0500 0200", "runs have not as many positions"},
    {ONE "3b300000 01 00000000 0000", "runs have not as many positions"},
    {ONE "3b300000 01 00000100 0100 ffff 0100", "a run goes beyond its container"},
    {ONE "3b300000 01 00000400 0200 0100 0200 0300 0100", "runs overlap or do not ascend"},
    {ONE "3b300000 01 00000400 0200 0500 0200 0100 0100", "runs overlap or do not ascend"},
    {ONE "3b300000 01 00000400 0200 0500 0200", "it is cut short"},
};

static void test_faults(void **state) {
    (void)state;
    firn_error error;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        uint8_t bytes[256];
        firn_roaring *set = NULL;
        size_t size = from_hex(faults[i].hex, bytes);
        check_fails(firn_roaring_read(firn_slice_of(bytes, size), "f", &set, &error), FIRN_CORRUPT,
                    &error, faults[i].message);
        assert_non_null(strstr(error.message, "f: roaring bitmap: "));
        assert_null(set);
    }
}

/* Valid forms that firn itself does not write. */
static void test_unusual_forms(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        uint64_t count;
    } cases[] = {
        {ONE "3a300000 00000000", 0},
        {ONE "3b300000 00 00000100 01000200", 2},
        {ONE "3b300000 01 00000400 0200 0100 0100 0300 0200", 5}, /* runs that touch */
        {ONE "3b300000 01 00000000 0100 0900 0000", 1},
    };
    firn_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[256];
        firn_roaring *set = NULL;
        size_t size = from_hex(cases[i].hex, bytes);
        check_ok(firn_roaring_read(firn_slice_of(bytes, size), "f", &set, &error), &error);
        assert_int_equal(firn_roaring_count(set), cases[i].count);
        check_ok(firn_roaring_add_range(set, 100, 105, &error), &error);
        assert_int_equal(firn_roaring_count(set), cases[i].count + 5);
        firn_roaring_free(set);
    }
}

static void check_golden(const firn_roaring *set, const char *hex) {
    firn_error error;
    uint8_t bytes[256];
    size_t size = from_hex(hex, bytes);
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 20);
    check_ok(firn_roaring_write(set, &out, &error), &error);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.data, bytes, size);
    firn_buffer_release(&out);
}

static void test_golden(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = firn_roaring_new();
    check_golden(set, "0000000000000000");
    check_golden(NULL, "0000000000000000");
    check_ok(firn_roaring_add(set, 2, &error), &error);
    check_ok(firn_roaring_add(set, 1, &error), &error);
    check_golden(set, ONE ARRAY_1_2);
    /* With runs and fewer than four containers there is no offset header, with four there is. */
    check_ok(firn_roaring_add_range(set, 65536, 65536 + 10, &error), &error);
    check_golden(set, ONE "3b300100 02 00000100 01000900 01000200 0100 0000 0900");
    check_ok(firn_roaring_add(set, 3 * 65536, &error), &error);
    check_ok(firn_roaring_add(set, 4 * 65536 + 5, &error), &error);
    check_golden(set, ONE "3b300300 02 00000100 01000900 03000000 04000000"
                          "25000000 29000000 2f000000 31000000"
                          "01000200 0100 0000 0900 0000 0500");
    check_ok(firn_roaring_add(set, ((uint64_t)9 << 32) + 7, &error), &error);
    check_golden(set, "0200000000000000 00000000"
                      "3b300300 02 00000100 01000900 03000000 04000000"
                      "25000000 29000000 2f000000 31000000"
                      "01000200 0100 0000 0900 0000 0500"
                      "09000000 3a300000 01000000 00000000 10000000 0700");
    firn_roaring_free(set);
}

/* More runs than a container of runs may have, which others may write. */
static void test_too_many_runs(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 20);
    uint8_t head[64];
    size_t size = from_hex(ONE "3b300000 01 0000 b70b b80b", head);
    check_ok(firn_buffer_append(&bytes, head, size, &error), &error);
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t run[4] = {(uint8_t)(i * 5), (uint8_t)(i * 5 >> 8), 0, 0};
        check_ok(firn_buffer_append(&bytes, run, sizeof run, &error), &error);
    }
    check_ok(firn_roaring_read(firn_buffer_slice(&bytes), "f", &set, &error), &error);
    assert_int_equal(firn_roaring_count(set), 3000);
    assert_true(firn_roaring_contains(set, 5 * 2999));
    firn_roaring_free(set);
    firn_buffer_release(&bytes);
}

/* A bitmap's cardinality is its own. */
static void test_cardinality_of_words(void **state) {
    (void)state;
    firn_error error;
    firn_roaring *set = firn_roaring_new();
    firn_roaring *back = NULL;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)1 << 20);
    for (uint64_t i = 0; i < 65536; i += 3) check_ok(firn_roaring_add(set, i, &error), &error);
    check_ok(firn_roaring_write(set, &bytes, &error), &error);
    bytes.data[bytes.size - 1] ^= 0x01;
    check_fails(firn_roaring_read(firn_buffer_slice(&bytes), "f", &back, &error), FIRN_CORRUPT,
                &error, "a bitmap has not as many positions as its header says");
    firn_buffer_release(&bytes);
    firn_roaring_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_unusual_forms),
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_too_many_runs),
        cmocka_unit_test(test_cardinality_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
