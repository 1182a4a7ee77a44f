/* Bit-packing and the hybrid at every width, against encoders that go bit by bit. */
#include "support/check.h"

#include "parquet/bit_unpack.h"
#include "parquet/decode.h"

#define MOST_VALUES 600

static uint64_t mask_of(unsigned width) {
    return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

/* Lowest bits first. Memory of exactly the size, so that a sanitizer sees reads past it. */
static firn_buffer pack(const uint64_t *values, size_t count, unsigned width) {
    firn_error error = {0};
    size_t size = firn_parquet_packed_size(count, width);
    firn_buffer out = firn_buffer_with_maximum(size);
    for (size_t i = 0; i < size; i++) check_ok(firn_buffer_append_byte(&out, 0, &error), &error);
    for (size_t i = 0; i < count * width; i++) {
        uint8_t bit = (uint8_t)(values[i / width] >> (i % width) & 1);
        out.data[i / 8] |= (uint8_t)(bit << (i % 8));
    }
    firn_buffer exact = firn_buffer_with_maximum(size);
    check_ok(firn_buffer_reserve(&exact, size, &error), &error);
    check_ok(firn_buffer_append(&exact, out.data, out.size, &error), &error);
    firn_buffer_release(&out);
    return exact;
}

static void draw(test_generator *random, uint64_t *values, size_t count, unsigned width) {
    for (size_t i = 0; i < count; i++) values[i] = test_generator_next(random) & mask_of(width);
}

static void unpacks_every_width(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    uint64_t values[MOST_VALUES];
    uint64_t wide[MOST_VALUES + 8];
    uint32_t narrow[MOST_VALUES + 8];
    uint8_t bytes[MOST_VALUES + 8];
    for (unsigned width = 1; width <= 64; width++) {
        for (size_t count = 0; count < 140; count++) {
            draw(&random, values, count, width);
            firn_buffer packed = pack(values, count, width);
            firn_parquet_unpack_64(packed.data, packed.size, width, count, wide);
            if (width <= 32) {
                firn_parquet_unpack_32(packed.data, packed.size, width, count, narrow);
            }
            if (width <= 8) {
                firn_parquet_unpack_bytes(packed.data, packed.size, width, count, bytes);
            }
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(wide[i], values[i]);
                if (width <= 32) assert_int_equal(narrow[i], values[i]);
                if (width <= 8) assert_int_equal(bytes[i], values[i]);
            }
            firn_buffer_release(&packed);
        }
    }
}

static void put_varint(firn_buffer *out, uint64_t value) {
    firn_error error = {0};
    for (; value >= 0x80; value >>= 7) {
        check_ok(firn_buffer_append_byte(out, (uint8_t)(value | 0x80), &error), &error);
    }
    check_ok(firn_buffer_append_byte(out, (uint8_t)value, &error), &error);
}

/* Random runs of both kinds that give `count` values in all; packed runs but the last hold whole groups. */
static firn_buffer encode(test_generator *random, uint64_t *values, size_t count, unsigned width) {
    firn_error error = {0};
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    for (size_t done = 0; done < count;) {
        size_t run = 1 + test_generator_below(random, 40);
        if (test_generator_below(random, 2) == 0) {
            uint64_t value = values[done];
            /* A run may be longer than what is left of the page. */
            put_varint(&out, run << 1);
            for (unsigned i = 0; i < (width + 7) / 8; i++) {
                check_ok(firn_buffer_append_byte(&out, (uint8_t)(value >> (8 * i)), &error),
                         &error);
            }
            for (size_t i = 0; i < run && done < count; i++) values[done++] = value;
            continue;
        }
        size_t groups = (run + 7) / 8;
        uint64_t packed_values[48] = {0};
        put_varint(&out, groups << 1 | 1);
        for (size_t i = 0; i < groups * 8 && done < count; i++) packed_values[i] = values[done++];
        firn_buffer packed = pack(packed_values, groups * 8, width);
        check_ok(firn_buffer_append(&out, packed.data, packed.size, &error), &error);
        firn_buffer_release(&packed);
    }
    return out;
}

static void decodes_hybrid_indices_of_every_width(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    uint64_t values[MOST_VALUES];
    uint32_t decoded[MOST_VALUES + 8];
    for (unsigned width = 1; width <= 32; width++) {
        for (size_t count = 1; count <= 300; count += 1 + test_generator_below(&random, 3)) {
            draw(&random, values, count, width);
            firn_buffer encoded = encode(&random, values, count, width);
            size_t limit = (size_t)1 << width;
            check_ok(firn_parquet_decode_hybrid_indices(firn_buffer_slice(&encoded), width, limit,
                                                        count, decoded, &error),
                     &error);
            uint64_t highest = 0;
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(decoded[i], values[i]);
                if (values[i] > highest) highest = values[i];
            }
            /* The smallest dictionary that holds them all will do; one entry less will not. */
            check_ok(firn_parquet_decode_hybrid_indices(firn_buffer_slice(&encoded), width,
                                                        (size_t)highest + 1, count, decoded,
                                                        &error),
                     &error);
            check_fails(firn_parquet_decode_hybrid_indices(firn_buffer_slice(&encoded), width,
                                                           (size_t)highest, count, decoded, &error),
                        FIRN_CORRUPT, &error, "dictionary");
            firn_buffer_release(&encoded);
        }
    }
}

static void decodes_hybrid_levels_of_every_width(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    uint64_t values[MOST_VALUES];
    uint8_t decoded[MOST_VALUES + 8];
    for (unsigned maximum = 1; maximum <= 251; maximum += maximum < 9 ? 1 : 11) {
        unsigned width = firn_parquet_level_width((uint8_t)maximum);
        for (size_t count = 1; count <= 500; count += 1 + test_generator_below(&random, 7)) {
            size_t expected = 0;
            for (size_t i = 0; i < count; i++) {
                values[i] = test_generator_below(&random, maximum + 1);
            }
            firn_buffer encoded = encode(&random, values, count, width);
            size_t found = 0;
            check_ok(firn_parquet_decode_hybrid_bytes(firn_buffer_slice(&encoded), width,
                                                      (uint8_t)maximum, count, decoded, &found,
                                                      &error),
                     &error);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(decoded[i], values[i]);
                expected += values[i] == maximum;
            }
            assert_int_equal(found, expected);
            firn_buffer_release(&encoded);
        }
    }
}

static void refuses_hybrids_cut_anywhere(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    uint64_t values[MOST_VALUES];
    uint32_t decoded[MOST_VALUES + 8];
    for (unsigned width = 1; width <= 32; width++) {
        draw(&random, values, 100, width);
        firn_buffer encoded = encode(&random, values, 100, width);
        bool refused = false;
        for (size_t size = encoded.size; size-- > 0;) {
            /* A copy of exactly the size, for the sanitizer. */
            firn_buffer cut = firn_buffer_with_maximum(size);
            check_ok(firn_buffer_append(&cut, encoded.data, size, &error), &error);
            firn_status status = firn_parquet_decode_hybrid_indices(firn_buffer_slice(&cut), width,
                                                                    SIZE_MAX, 100, decoded, &error);
            assert_true(status == FIRN_OK || status == FIRN_CORRUPT);
            /* Padding of the last group may be missing: then the values are still there. */
            assert_false(refused && status == FIRN_OK);
            refused = status != FIRN_OK;
            for (size_t i = 0; i < 100 && !refused; i++) assert_int_equal(decoded[i], values[i]);
            firn_buffer_release(&cut);
        }
        firn_buffer_release(&encoded);
    }
}

static void refuses_levels_above_the_maximum(void **state) {
    (void)state;
    firn_error error = {0};
    uint8_t out[64];
    size_t found = 0;
    /* Width 2, maximum 2: a run of 3s, and a packed 3 in ninth place. */
    static const uint8_t run[] = {8 << 1, 3};
    static const uint8_t packed[] = {2 << 1 | 1, 0x24, 0x24, 0x03, 0x00};
    check_fails(firn_parquet_decode_hybrid_bytes(firn_slice_of(run, sizeof run), 2, 2, 8, out,
                                                 &found, &error),
                FIRN_CORRUPT, &error, "above the column's maximum");
    check_ok(firn_parquet_decode_hybrid_bytes(firn_slice_of(packed, sizeof packed), 2, 2, 8, out,
                                              &found, &error),
             &error);
    check_fails(firn_parquet_decode_hybrid_bytes(firn_slice_of(packed, sizeof packed), 2, 2, 9, out,
                                                 &found, &error),
                FIRN_CORRUPT, &error, "above the column's maximum");
}

/* Highest bits first, as the deprecated levels are packed. */
static void decodes_deprecated_bit_packed_levels(void **state) {
    (void)state;
    firn_error error = {0};
    test_generator random = test_generator_new();
    for (unsigned maximum = 1; maximum <= 250; maximum += 1 + maximum / 4) {
        unsigned width = firn_parquet_level_width((uint8_t)maximum);
        for (size_t count = 1; count < 70; count++) {
            uint8_t values[70];
            uint8_t packed[80] = {0};
            uint8_t decoded[80];
            size_t expected = 0;
            size_t found = 0;
            size_t consumed = 0;
            for (size_t i = 0; i < count; i++) {
                values[i] = (uint8_t)test_generator_below(&random, maximum + 1);
                expected += values[i] == maximum;
                for (unsigned j = 0; j < width; j++) {
                    size_t bit = i * width + j;
                    uint8_t one = values[i] >> (width - 1 - j) & 1;
                    packed[bit / 8] |= (uint8_t)(one << (7 - bit % 8));
                }
            }
            size_t size = (count * width + 7) / 8;
            check_ok(firn_parquet_decode_bit_packed(firn_slice_of(packed, size), width,
                                                    (uint8_t)maximum, count, decoded, &found,
                                                    &consumed, &error),
                     &error);
            assert_memory_equal(decoded, values, count);
            assert_int_equal(found, expected);
            assert_int_equal(consumed, size);
            check_fails(firn_parquet_decode_bit_packed(firn_slice_of(packed, size - 1), width,
                                                       (uint8_t)maximum, count, decoded, &found,
                                                       &consumed, &error),
                        FIRN_CORRUPT, &error, NULL);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_every_width),
        cmocka_unit_test(decodes_hybrid_indices_of_every_width),
        cmocka_unit_test(decodes_hybrid_levels_of_every_width),
        cmocka_unit_test(refuses_hybrids_cut_anywhere),
        cmocka_unit_test(refuses_levels_above_the_maximum),
        cmocka_unit_test(decodes_deprecated_bit_packed_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
