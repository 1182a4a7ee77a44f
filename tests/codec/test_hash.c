#include <zlib.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "support/check.h"

/* Made with zlib, mmh3 and libxxhash over bytes i * 7 mod 256. */
static const struct {
    size_t size;
    uint32_t crc32;
    uint32_t murmur3;
    uint64_t xxhash64;
} known[] = {
    {0, 0x00000000U, 0x00000000U, 0xef46db3751d8e999U},
    {1, 0xd202ef8dU, 0x514e28b7U, 0xe934a84adb052768U},
    {3, 0x57b862d2U, 0xfdacc918U, 0x9ff70a635a6209abU},
    {4, 0xd75500fcU, 0x21c37ad3U, 0xae5acdc00a55ac41U},
    {5, 0x72df58f5U, 0xd61a8c3aU, 0x8ad58ce18a6fd093U},
    {7, 0x28b012a9U, 0x515e2eaaU, 0xd734a6b26f3da63eU},
    {8, 0x2cfe44e9U, 0x44b45168U, 0x87116b3365b924ebU},
    {11, 0x7a7b1dbaU, 0x46536f3fU, 0x3a5d6dc1b218a5b6U},
    {12, 0xf1a1f32fU, 0x829dd6e9U, 0x14b8433b9a14e611U},
    {15, 0xc356fbb9U, 0x128269e6U, 0x02c53ab1e360882fU},
    {16, 0x54126ba2U, 0xd81b3cdaU, 0xed1dd2fac0a31fbcU},
    {31, 0xf4837cb8U, 0xe4407bd1U, 0x0f187c62b1e722b7U},
    {32, 0xe8433d3fU, 0x7199aa05U, 0x91b0cb0931a8c629U},
    {33, 0xc48663f5U, 0x32393d2aU, 0x931b043cf8d65b94U},
    {36, 0xa7c26848U, 0x56e454c2U, 0xff889616afdd68c2U},
    {40, 0xd6f769efU, 0xa0adb613U, 0x6bc927279e6a3044U},
    {47, 0x833e7072U, 0xffd8600bU, 0x980974feb2a7370dU},
    {63, 0xfd395ff8U, 0x5e017161U, 0x219110bf13e2fa26U},
    {64, 0xd324a7d4U, 0xae18557dU, 0xbf3052e3445775d0U},
    {71, 0xf0198f46U, 0xbc5a1c13U, 0xa076db31239c3ea4U},
    {100, 0x821d3e85U, 0xf1f89764U, 0x8e2272c08247d5dbU},
};

static void test_known_hashes(void **state) {
    (void)state;
    uint8_t bytes[101];
    /* An odd address: nothing may be loaded as a word. */
    uint8_t *odd = bytes + 1;
    for (size_t i = 0; i < 100; i++) odd[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        firn_slice data = firn_slice_of(odd, known[i].size);
        assert_true(firn_crc32(0, data) == known[i].crc32);
        assert_true(firn_murmur3_32(data) == known[i].murmur3);
        assert_true(firn_xxhash64(data) == known[i].xxhash64);
    }
}

static void test_crc32_continues(void **state) {
    (void)state;
    assert_true(firn_crc32(0, firn_slice_text("123456789")) == 0xCBF43926U);
    uint32_t crc = firn_crc32(0, firn_slice_text("1234"));
    crc = firn_crc32(crc, firn_slice_of(NULL, 0));
    assert_true(firn_crc32(crc, firn_slice_text("56789")) == 0xCBF43926U);
    assert_true(firn_xxhash64(firn_slice_of(NULL, 0)) == 0xef46db3751d8e999U);
    assert_true(firn_murmur3_32(firn_slice_of(NULL, 0)) == 0);
}

/* Long inputs go another way than short ones: every length and place against zlib, in one piece and in two. */
static void test_crc32_of_long_data(void **state) {
    (void)state;
    static uint8_t bytes[4096];
    uint32_t dice = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        dice = dice * 1664525U + 1013904223U;
        bytes[i] = (uint8_t)(dice >> 24);
    }
    for (size_t size = 0; size < 1100; size++) {
        const uint8_t *from = bytes + size % 17;
        uint32_t wanted = (uint32_t)crc32_z(0, from, size);
        assert_true(firn_crc32(0, firn_slice_of(from, size)) == wanted);
        uint32_t begun = firn_crc32(0, firn_slice_of(from, size / 3));
        assert_true(firn_crc32(begun, firn_slice_of(from + size / 3, size - size / 3)) == wanted);
    }
    uint32_t wanted = (uint32_t)crc32_z(0, bytes, sizeof bytes);
    assert_true(firn_crc32(0, firn_slice_of(bytes, sizeof bytes)) == wanted);
}

/* Iceberg specification, appendix B. */
static void test_bucket_hashes_of_the_specification(void **state) {
    (void)state;
    uint8_t bytes[8];
    firn_store_le64(bytes, 34);
    assert_int_equal((int32_t)firn_murmur3_32(firn_slice_of(bytes, 8)), 2017239379);
    firn_store_le64(bytes, 17486);
    assert_int_equal((int32_t)firn_murmur3_32(firn_slice_of(bytes, 8)), -653330422);
    assert_int_equal((int32_t)firn_murmur3_32(firn_slice_text("iceberg")), 1210000089);
    assert_int_equal((int32_t)firn_murmur3_32(firn_slice_of("\0\1\2\3", 4)), -188683207);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_hashes),
        cmocka_unit_test(test_crc32_continues),
        cmocka_unit_test(test_crc32_of_long_data),
        cmocka_unit_test(test_bucket_hashes_of_the_specification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
