#include "codec/codec.h"

#include <string.h>

#include "base/alloc.h"
#include "base/threads.h"
#include "codec/vectors.h"
#include "support/check.h"

#define CODECS ((int)FIRN_CODEC_LZ4_FRAME + 1)
#define MANY ((size_t)1 << 30)

static const struct {
    firn_codec codec;
    firn_slice data;
} vectors[] = {
#define VECTOR(codec, name)                                                                        \
    {                                                                                              \
        FIRN_CODEC_##codec, {                                                                      \
            vector_##name, sizeof vector_##name                                                    \
        }                                                                                          \
    }
    VECTOR(GZIP, gzip),
    VECTOR(GZIP, gzip_members),
    VECTOR(GZIP, zlib),
    VECTOR(DEFLATE, deflate),
    VECTOR(DEFLATE, deflate_rest),
    VECTOR(SNAPPY, snappy),
    VECTOR(BROTLI, brotli),
    VECTOR(ZSTD, zstd),
    VECTOR(ZSTD, zstd_unsized),
    VECTOR(LZ4_RAW, lz4_raw),
    VECTOR(LZ4_HADOOP, lz4_raw),
    VECTOR(LZ4_HADOOP, hadoop),
    VECTOR(LZ4_HADOOP, hadoop_frames),
    VECTOR(LZ4_HADOOP, hadoop_blocks),
#undef VECTOR
};
#define VECTORS (sizeof vectors / sizeof *vectors)

static void test_reads_what_others_wrote(void **state) {
    (void)state;
    size_t size = sizeof vector_text - 1;
    for (size_t i = 0; i < VECTORS; i++) {
        uint8_t out[sizeof vector_text];
        firn_error error;
        check_ok(firn_codec_decompress(vectors[i].codec, vectors[i].data, out, size, &error),
                 &error);
        assert_memory_equal(out, vector_text, size);
        firn_buffer grown = firn_buffer_with_maximum(size);
        check_ok(firn_codec_decompress_growing(vectors[i].codec, vectors[i].data, &grown, &error),
                 &error);
        assert_true(firn_slice_equal(firn_buffer_slice(&grown), firn_slice_text(vector_text)));
        firn_buffer_release(&grown);
    }
}

static void test_size_must_be_exact(void **state) {
    (void)state;
    uint8_t out[sizeof vector_text + 10];
    size_t size = sizeof vector_text - 1;
    for (size_t i = 0; i < VECTORS; i++) {
        static const int wrong[] = {-1, 1, 10, -100};
        for (size_t j = 0; j < sizeof wrong / sizeof *wrong; j++) {
            firn_error error;
            size_t stated = (size_t)((int)size + wrong[j]);
            check_fails(
                firn_codec_decompress(vectors[i].codec, vectors[i].data, out, stated, &error),
                FIRN_CORRUPT, &error, firn_codec_name(vectors[i].codec));
        }
        firn_error error;
        check_fails(firn_codec_decompress(vectors[i].codec, vectors[i].data, NULL, 0, &error),
                    FIRN_CORRUPT, &error, NULL);
    }
}

static void test_growth_is_bounded(void **state) {
    (void)state;
    size_t size = sizeof vector_text - 1;
    for (size_t i = 0; i < VECTORS; i++) {
        firn_buffer out = firn_buffer_with_maximum(size + 3);
        firn_error error;
        check_ok(firn_buffer_append_text(&out, "four", &error), &error);
        check_fails(firn_codec_decompress_growing(vectors[i].codec, vectors[i].data, &out, &error),
                    FIRN_LIMIT, &error, NULL);
        assert_int_equal(out.size, 4);
        firn_buffer_release(&out);
    }
}

/* Cut and changed inputs end in an error, or in what some other input gives: never in a crash. */
static void test_damaged_input(void **state) {
    (void)state;
    size_t size = sizeof vector_text - 1;
    for (size_t i = 0; i < VECTORS; i++) {
        firn_slice whole = vectors[i].data;
        for (size_t cut = 0; cut < whole.size; cut++) {
            /* A copy of its own: the sanitizer sees a read past its end. */
            uint8_t *copy = firn_alloc(cut);
            if (cut > 0) memcpy(copy, whole.data, cut);
            uint8_t out[sizeof vector_text];
            firn_status status =
                firn_codec_decompress(vectors[i].codec, firn_slice_of(copy, cut), out, size, NULL);
            bool only_trailer_cut =
                vectors[i].data.data == vector_deflate_rest && cut >= sizeof vector_deflate;
            assert_int_equal(status, only_trailer_cut ? FIRN_OK : FIRN_CORRUPT);
            firn_free(copy);
        }
        for (size_t at = 0; at < whole.size; at++) {
            for (int bit = 0; bit < 8; bit++) {
                uint8_t *copy = firn_alloc(whole.size);
                memcpy(copy, whole.data, whole.size);
                copy[at] ^= (uint8_t)(1U << bit);
                firn_slice changed = firn_slice_of(copy, whole.size);
                uint8_t out[sizeof vector_text];
                (void)firn_codec_decompress(vectors[i].codec, changed, out, size, NULL);
                firn_buffer grown = firn_buffer_with_maximum(1 << 20);
                (void)firn_codec_decompress_growing(vectors[i].codec, changed, &grown, NULL);
                firn_buffer_release(&grown);
                firn_free(copy);
            }
        }
    }
}

static void test_trailing_bytes(void **state) {
    (void)state;
    size_t size = sizeof vector_text - 1;
    for (size_t i = 0; i < VECTORS; i++) {
        uint8_t longer[400] = {0};
        memcpy(longer, vectors[i].data.data, vectors[i].data.size);
        uint8_t out[sizeof vector_text];
        firn_error error;
        firn_slice input = firn_slice_of(longer, vectors[i].data.size + 9);
        check_fails(firn_codec_decompress(vectors[i].codec, input, out, size, &error), FIRN_CORRUPT,
                    &error, NULL);
    }
}

/* Claims of much from little are refused before anything is allocated for them. */
static void test_claims_are_not_believed(void **state) {
    (void)state;
    static const uint8_t snappy[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x00, 0x61};
    static const uint8_t hadoop[] = {0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0};
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0xA0, 0, 0, 0, 0x40, 1, 0, 0};
    static const struct {
        firn_codec codec;
        firn_slice data;
    } claims[] = {{FIRN_CODEC_SNAPPY, {snappy, sizeof snappy}},
                  {FIRN_CODEC_LZ4_HADOOP, {hadoop, sizeof hadoop}},
                  {FIRN_CODEC_ZSTD, {zstd, sizeof zstd}}};
    for (size_t i = 0; i < 3; i++) {
        firn_error error;
        firn_buffer out = firn_buffer_with_maximum(MANY * 4);
        check_fails(firn_codec_decompress_growing(claims[i].codec, claims[i].data, &out, &error),
                    FIRN_CORRUPT, &error, firn_codec_name(claims[i].codec));
        assert_true(out.capacity < 1 << 20);
        firn_buffer_release(&out);
    }
}

static firn_buffer random_input(test_generator *random, size_t size) {
    firn_buffer input = firn_buffer_with_maximum(MANY);
    firn_error error;
    check_ok(firn_buffer_reserve(&input, size, &error), &error);
    uint64_t variety = 1 + test_generator_below(random, 255);
    while (input.size < size) {
        uint64_t run = 1 + test_generator_below(random, 20);
        uint8_t byte = (uint8_t)test_generator_below(random, variety);
        for (; run > 0 && input.size < size; run--) input.data[input.size++] = byte;
    }
    return input;
}

static firn_status there_and_back(firn_codec codec, int level, firn_slice input,
                                  firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer packed = firn_buffer_with_maximum(MANY);
    firn_buffer grown = firn_buffer_with_maximum(MANY);
    uint8_t *out = firn_alloc(input.size);
    if (out == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_buffer_append_text(&packed, "before", error));
    FIRN_CHECK(firn_codec_compress(codec, level, input, &packed, error));
    assert_memory_equal(packed.data, "before", 6);
    firn_slice middle = firn_slice_of(packed.data + 6, packed.size - 6);
    FIRN_CHECK(firn_codec_decompress(codec, middle, out, input.size, error));
    if (input.size > 0) assert_memory_equal(out, input.data, input.size);
    FIRN_CHECK(firn_codec_decompress_growing(codec, middle, &grown, error));
    assert_true(firn_slice_equal(firn_buffer_slice(&grown), input));
out:
    firn_free(out);
    firn_buffer_release(&packed);
    firn_buffer_release(&grown);
    return status;
}

static void test_there_and_back(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 15, 100, 4096, 65535, 65536, 65537, 300000};
    test_generator random = test_generator_new();
    for (int codec = 0; codec < CODECS; codec++) {
        assert_true(firn_codec_can_read((firn_codec)codec));
        assert_true(firn_codec_can_write((firn_codec)codec));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            firn_buffer input = random_input(&random, sizes[i]);
            firn_error error;
            check_ok(there_and_back((firn_codec)codec, FIRN_CODEC_LEVEL_DEFAULT,
                                    firn_buffer_slice(&input), &error),
                     &error);
            firn_buffer_release(&input);
        }
    }
}

static void test_levels(void **state) {
    (void)state;
    static const struct {
        firn_codec codec;
        int lowest;
        int highest;
    } ranges[] = {{FIRN_CODEC_GZIP, 0, 9},
                  {FIRN_CODEC_DEFLATE, 0, 9},
                  {FIRN_CODEC_BROTLI, 0, 11},
                  {FIRN_CODEC_ZSTD, -131072, 22}};
    firn_slice input = firn_slice_text(vector_text);
    firn_error error;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        check_ok(there_and_back(ranges[i].codec, ranges[i].lowest, input, &error), &error);
        check_ok(there_and_back(ranges[i].codec, ranges[i].highest, input, &error), &error);
        check_fails(there_and_back(ranges[i].codec, ranges[i].lowest - 1, input, &error),
                    FIRN_INVALID, &error, firn_codec_name(ranges[i].codec));
        check_fails(there_and_back(ranges[i].codec, ranges[i].highest + 1, input, &error),
                    FIRN_INVALID, &error, "levels");
    }
    check_ok(there_and_back(FIRN_CODEC_SNAPPY, 99, input, &error), &error);
}

static void test_frames_in_a_row(void **state) {
    (void)state;
    static const firn_codec codecs[] = {FIRN_CODEC_ZSTD, FIRN_CODEC_GZIP, FIRN_CODEC_LZ4_HADOOP};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        firn_error error;
        firn_buffer packed = firn_buffer_with_maximum(MANY);
        firn_slice part = firn_slice_text(VECTOR_PART);
        for (int j = 0; j < 3; j++) {
            check_ok(
                firn_codec_compress(codecs[i], FIRN_CODEC_LEVEL_DEFAULT, part, &packed, &error),
                &error);
        }
        uint8_t out[sizeof vector_text];
        check_ok(firn_codec_decompress(codecs[i], firn_buffer_slice(&packed), out,
                                       sizeof vector_text - 1, &error),
                 &error);
        assert_memory_equal(out, vector_text, sizeof vector_text - 1);
        firn_buffer grown = firn_buffer_with_maximum(MANY);
        check_ok(
            firn_codec_decompress_growing(codecs[i], firn_buffer_slice(&packed), &grown, &error),
            &error);
        assert_true(firn_slice_equal(firn_buffer_slice(&grown), firn_slice_text(vector_text)));
        firn_buffer_release(&grown);
        firn_buffer_release(&packed);
    }
}

static void test_nothing_and_unknown(void **state) {
    (void)state;
    firn_error error;
    firn_slice nothing = {NULL, 0};
    for (int codec = 0; codec < CODECS; codec++) {
        uint8_t out[1];
        check_ok(firn_codec_decompress((firn_codec)codec, nothing, NULL, 0, &error), &error);
        check_fails(firn_codec_decompress((firn_codec)codec, nothing, out, 1, &error), FIRN_CORRUPT,
                    &error, NULL);
        check_ok(there_and_back((firn_codec)codec, FIRN_CODEC_LEVEL_DEFAULT, nothing, &error),
                 &error);
    }
    firn_codec unknown = (firn_codec)99;
    firn_buffer out = firn_buffer_with_maximum(10);
    assert_false(firn_codec_can_read(unknown));
    assert_string_equal(firn_codec_name(unknown), "unknown");
    check_fails(firn_codec_decompress(unknown, nothing, NULL, 0, &error), FIRN_UNSUPPORTED, &error,
                "99");
    check_fails(firn_codec_decompress_growing(unknown, nothing, &out, &error), FIRN_UNSUPPORTED,
                &error, NULL);
    check_fails(firn_codec_compress(unknown, 0, nothing, &out, &error), FIRN_UNSUPPORTED, &error,
                NULL);
    firn_slice large = {(const uint8_t *)vector_text, (size_t)INT32_MAX + 1};
    check_fails(firn_codec_compress(FIRN_CODEC_SNAPPY, 0, large, &out, &error), FIRN_LIMIT, &error,
                NULL);
}

static firn_status with_codec(void *context, firn_error *error) {
    const firn_codec *codec = context;
    return there_and_back(*codec, FIRN_CODEC_LEVEL_DEFAULT, firn_slice_text(vector_text), error);
}

static void test_failing_allocations(void **state) {
    (void)state;
    for (int i = 0; i < CODECS; i++) {
        firn_codec codec = (firn_codec)i;
        check_each_allocation(with_codec, &codec);
    }
}

static firn_status in_a_pool(void *context, size_t index, firn_error *error) {
    const firn_buffer *input = context;
    return there_and_back((firn_codec)(index % (size_t)CODECS), FIRN_CODEC_LEVEL_DEFAULT,
                          firn_slice_of(input->data, input->size - index), error);
}

static void test_many_threads(void **state) {
    (void)state;
    firn_error error;
    firn_pool *pool = NULL;
    test_generator random = test_generator_new();
    firn_buffer input = random_input(&random, 20000);
    check_ok(firn_pool_new(4, &pool, &error), &error);
    check_ok(firn_pool_each(pool, 400, in_a_pool, &input, &error), &error);
    firn_pool_free(pool);
    firn_buffer_release(&input);
}

static const firn_codec joinable[] = {FIRN_CODEC_ZSTD, FIRN_CODEC_SNAPPY, FIRN_CODEC_UNCOMPRESSED};

/* Parts, compressed or stored, of any size, joined: what comes out is the parts in their order. */
static void test_joined_parts(void **state) {
    (void)state;
    firn_error error;
    static const size_t sizes[] = {0, 1, 127, 128, 70000, 131072, 131073, 300000};
    for (size_t c = 0; c < 3; c++) {
        assert_true(firn_codec_can_join(joinable[c]));
        firn_buffer whole = firn_buffer_with_maximum(MANY);
        firn_buffer parts = firn_buffer_with_maximum(MANY);
        firn_buffer part = firn_buffer_with_maximum(MANY);
        for (size_t i = 0; i < 16; i++) {
            size_t begin = whole.size, size = sizes[i % 8];
            for (size_t j = 0; j < size; j++) {
                check_ok(firn_buffer_append_byte(&whole, (uint8_t)(j * j / (i + 3)), &error),
                         &error);
            }
            firn_slice raw = firn_slice_of(whole.data + begin, size);
            firn_buffer_clear(&part);
            if (i < 8) {
                check_ok(
                    firn_codec_compress(joinable[c], FIRN_CODEC_LEVEL_DEFAULT, raw, &part, &error),
                    &error);
            } else {
                check_ok(firn_codec_store(joinable[c], raw, &part, &error), &error);
            }
            check_ok(
                firn_codec_join_add(joinable[c], firn_buffer_slice(&part), size, &parts, &error),
                &error);
            if (joinable[c] != FIRN_CODEC_UNCOMPRESSED && size > 1) {
                size_t before = parts.size;
                assert_int_equal(firn_codec_join_add(joinable[c], firn_buffer_slice(&part),
                                                     size + 1, &parts, &error),
                                 FIRN_CORRUPT);
                assert_int_equal(parts.size, before);
            }
        }
        firn_buffer joined = firn_buffer_with_maximum(MANY);
        check_ok(firn_codec_join_begin(joinable[c], whole.size, &joined, &error), &error);
        check_ok(firn_buffer_append(&joined, parts.data, parts.size, &error), &error);
        uint8_t *out = firn_alloc(whole.size);
        assert_non_null(out);
        check_ok(
            firn_codec_decompress(joinable[c], firn_buffer_slice(&joined), out, whole.size, &error),
            &error);
        assert_memory_equal(out, whole.data, whole.size);
        firn_free(out);
        firn_buffer_release(&joined);
        firn_buffer_release(&part);
        firn_buffer_release(&parts);
        firn_buffer_release(&whole);
    }
}

static void test_what_can_not_be_joined(void **state) {
    (void)state;
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1000);
    static const uint8_t bad[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00};
    firn_slice damaged = firn_slice_of(bad, sizeof bad);
    assert_false(firn_codec_can_join(FIRN_CODEC_GZIP));
    assert_int_equal(firn_codec_join_begin(FIRN_CODEC_GZIP, 1, &out, &error), FIRN_INVALID);
    assert_int_equal(firn_codec_store(FIRN_CODEC_BROTLI, damaged, &out, &error), FIRN_INVALID);
    assert_int_equal(firn_codec_join_add(FIRN_CODEC_LZ4_RAW, damaged, 8, &out, &error),
                     FIRN_INVALID);
    assert_int_equal(firn_codec_join_add(FIRN_CODEC_ZSTD, damaged, 8, &out, &error), FIRN_CORRUPT);
    assert_int_equal(firn_codec_join_add(FIRN_CODEC_SNAPPY, damaged, 8, &out, &error),
                     FIRN_CORRUPT);
    assert_int_equal(firn_codec_join_add(FIRN_CODEC_UNCOMPRESSED, damaged, 9, &out, &error),
                     FIRN_CORRUPT);
    assert_int_equal(out.size, 0);
    firn_buffer_release(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_what_others_wrote),
        cmocka_unit_test(test_size_must_be_exact),
        cmocka_unit_test(test_growth_is_bounded),
        cmocka_unit_test(test_damaged_input),
        cmocka_unit_test(test_trailing_bytes),
        cmocka_unit_test(test_claims_are_not_believed),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_frames_in_a_row),
        cmocka_unit_test(test_joined_parts),
        cmocka_unit_test(test_what_can_not_be_joined),
        cmocka_unit_test(test_nothing_and_unknown),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
