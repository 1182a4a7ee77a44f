/* Whatever the bytes are, reading them ends, stays within them, and says what is wrong. */
#include "support/check.h"

#include <stdlib.h>

#include "avro/encode.h"
#include "avro/reader.h"
#include "avro/writer.h"
#include "support/fx_avro.h"

static const firn_avro_target anything = {
    .id = FIRN_AVRO_NO_ID, .into = FIRN_AVRO_INTO_VALUE, .present = FIRN_AVRO_NO_FLAG};
/* Wants one field that is not there, so that all others are passed over. */
static const firn_avro_target absent = {
    .id = 999999, .name = "absent", .into = FIRN_AVRO_INTO_INT32, .present = FIRN_AVRO_NO_FLAG};
static const firn_avro_target nothing = {.id = FIRN_AVRO_NO_ID,
                                         .into = FIRN_AVRO_INTO_RECORD,
                                         .present = FIRN_AVRO_NO_FLAG,
                                         .children = &absent,
                                         .child_count = 1};

static firn_status read_all(firn_slice bytes, const firn_avro_target *target, int64_t *count,
                            firn_error *error) {
    /* An exact copy, so that the sanitizer sees a read behind the end. */
    uint8_t *copy = malloc(bytes.size + (bytes.size == 0));
    memcpy(copy, bytes.data, bytes.size);
    firn_memory_file memory = {copy, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, "bad.avro");
    firn_avro_reader *reader = NULL;
    firn_arena *arena = firn_arena_new();
    const firn_avro_plan *plan;
    firn_status status;
    FIRN_CHECK(firn_avro_reader_open(&file, 1 << 20, &reader, error));
    FIRN_CHECK(firn_avro_plan_new(firn_avro_reader_schema(reader), target, "bad.avro", arena, &plan,
                                  error));
    for (bool more = true; more;) {
        firn_avro_value value = {0};
        FIRN_CHECK(firn_avro_reader_next(reader, plan, arena, false, &value, &more, error));
    }
    if (count != NULL) *count = firn_avro_reader_position(reader);
out:
    firn_avro_reader_free(reader);
    firn_arena_free(arena);
    free(copy);
    return status;
}

static const char schema[] =
    "{\"type\":\"record\",\"name\":\"row\",\"fields\":["
    "{\"name\":\"a\",\"type\":[\"null\",\"int\"]},{\"name\":\"b\",\"type\":\"string\"},"
    "{\"name\":\"c\",\"type\":{\"type\":\"array\",\"items\":[\"null\",\"double\"]}},"
    "{\"name\":\"d\",\"type\":{\"type\":\"map\",\"values\":\"bytes\"}},"
    "{\"name\":\"e\",\"type\":{\"type\":\"fixed\",\"name\":\"f\",\"size\":2}},"
    "{\"name\":\"g\",\"type\":{\"type\":\"enum\",\"name\":\"h\",\"symbols\":[\"x\",\"y\"]}}]}";
static const char rows[] =
    "[{\"a\":1,\"b\":\"one\",\"c\":[1,null],\"d\":{\"k\":\"00ff\"},\"e\":\"abcd\",\"g\":1},"
    "{\"b\":\"\",\"c\":[],\"d\":{},\"e\":\"0000\",\"g\":0},"
    "{\"a\":-5,\"b\":\"three\",\"c\":[3],\"d\":{\"x\":\"\",\"y\":\"11\"},\"e\":\"ffff\",\"g\":0}]";

static void test_truncation(void **state) {
    (void)state;
    for (int variant = 0; variant < 2; variant++) {
        fx_avro how = {.schema = schema, .records_per_block = 1, .signed_counts = variant == 1};
        fx_bytes file = fx_avro_file(&how, rows);
        int64_t whole = 0;
        firn_error error;
        check_ok(read_all(firn_slice_of(file.data, file.size), &anything, &whole, &error), &error);
        assert_int_equal(whole, 3);
        size_t clean_ends = 0;
        for (size_t size = 0; size < file.size; size++) {
            int64_t count = -1;
            firn_slice cut = firn_slice_of(file.data, size);
            if (read_all(cut, &anything, &count, &error) == FIRN_OK) {
                /* only where a block ends */
                assert_true(count < 3);
                clean_ends++;
            } else {
                assert_int_equal(error.code, FIRN_CORRUPT);
                assert_non_null(strstr(error.message, "bad.avro"));
            }
        }
        assert_int_equal(clean_ends, 3);
        free(file.data);
    }
}

static void flip(firn_slice bytes, test_generator *random, int rounds) {
    uint8_t *copy = malloc(bytes.size);
    firn_error error;
    for (int round = 0; round < rounds; round++) {
        memcpy(copy, bytes.data, bytes.size);
        uint64_t flips = 1 + test_generator_below(random, 3);
        for (uint64_t i = 0; i < flips; i++) {
            uint64_t bit = test_generator_below(random, bytes.size * 8);
            copy[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        }
        const firn_avro_target *target = (round & 1) != 0 ? &anything : &nothing;
        firn_status status = read_all(firn_slice_of(copy, bytes.size), target, NULL, &error);
        if (status != FIRN_OK && status != FIRN_CORRUPT && status != FIRN_LIMIT &&
            status != FIRN_UNSUPPORTED) {
            fail_msg("round %d: %s", round, error.message);
        }
    }
    free(copy);
}

static void test_bit_flips(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (int variant = 0; variant < 2; variant++) {
        fx_avro how = {.schema = schema, .records_per_block = 2, .signed_counts = variant == 1};
        fx_bytes file = fx_avro_file(&how, rows);
        flip(firn_slice_of(file.data, file.size), &random, 4000);
        free(file.data);
    }
    static const firn_codec codecs[] = {FIRN_CODEC_DEFLATE, FIRN_CODEC_SNAPPY, FIRN_CODEC_ZSTD};
    for (size_t i = 0; i < 3; i++) {
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        firn_write_to to = firn_avro_to_buffer(&out);
        firn_avro_write_options options = {codecs[i], FIRN_CODEC_LEVEL_DEFAULT, 0};
        firn_avro_writer *writer = NULL;
        firn_error error;
        check_ok(
            firn_avro_writer_new(firn_slice_text("\"string\""), &options, &to, &writer, &error),
            &error);
        for (int j = 0; j < 50; j++) {
            check_ok(firn_avro_writer_add(writer, firn_slice_text("\x06xyz"), &error), &error);
        }
        check_ok(firn_avro_writer_finish(writer, NULL, &error), &error);
        firn_avro_writer_free(writer);
        int64_t count = 0;
        check_ok(read_all(firn_buffer_slice(&out), &anything, &count, &error), &error);
        assert_int_equal(count, 50);
        flip(firn_buffer_slice(&out), &random, 2000);
        firn_buffer_release(&out);
    }
}

static void reads_as(const char *schema_text, const char *encode_schema, const char *values,
                     const firn_avro_target *target, firn_status code, const char *part) {
    firn_error error;
    fx_avro how = {.schema = schema_text, .encode_schema = encode_schema};
    fx_bytes file = fx_avro_file(&how, values);
    firn_status status = read_all(firn_slice_of(file.data, file.size), target, NULL, &error);
    if (code == FIRN_OK) {
        check_ok(status, &error);
    } else {
        check_fails(status, code, &error, part);
        assert_non_null(strstr(error.message, "bad.avro"));
    }
    free(file.data);
}

static void test_branches_and_symbols(void **state) {
    (void)state;
    const char *enumeration = "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"x\"]}";
    reads_as(enumeration, NULL, "[0]", &anything, FIRN_OK, NULL);
    reads_as(enumeration, NULL, "[1]", &anything, FIRN_CORRUPT, "symbol");
    reads_as(enumeration, NULL, "[-1]", &anything, FIRN_CORRUPT, "symbol");
    reads_as("[\"null\",\"int\"]", "\"long\"", "[4]", &anything, FIRN_CORRUPT, "branch");
    reads_as("[\"null\",\"int\"]", "\"long\"", "[-1]", &anything, FIRN_CORRUPT, "branch");
    reads_as("\"int\"", "\"long\"", "[2147483648]", &anything, FIRN_CORRUPT, "32 bits");
    reads_as("\"int\"", "[\"null\",\"long\"]", "[5]", &anything, FIRN_CORRUPT, "last record");
    reads_as("\"string\"", "\"long\"", "[200]", &anything, FIRN_CORRUPT, "length");
    reads_as("[]", "\"long\"", "[0]", &anything, FIRN_CORRUPT, "branch");
}

static void test_endless_schemas(void **state) {
    (void)state;
    /* A record that holds itself takes no bytes and never ends. */
    reads_as("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"r\",\"type\":\"r\"}]}",
             "\"int\"", "[0]", &anything, FIRN_CORRUPT, "too deep");
    reads_as("{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"r\",\"type\":\"r\"}]}",
             "\"int\"", "[0]", &nothing, FIRN_LIMIT, "too deep");
    /* Two to the power of forty nulls out of no bytes at all. */
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    firn_error error;
    for (int i = 0; i < 40; i++) {
        check_ok(firn_buffer_printf(&text, &error,
                                    "{\"type\":\"record\",\"name\":\"r%d\",\"fields\":["
                                    "{\"name\":\"a\",\"type\":",
                                    i),
                 &error);
    }
    check_ok(firn_buffer_append_text(&text, "\"null\"", &error), &error);
    for (int i = 39; i >= 0; i--) {
        if (i == 39) {
            check_ok(
                firn_buffer_append_text(&text, "},{\"name\":\"b\",\"type\":\"null\"}]}", &error),
                &error);
        } else {
            check_ok(
                firn_buffer_printf(&text, &error, "},{\"name\":\"b\",\"type\":\"r%d\"}]}", i + 1),
                &error);
        }
    }
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    reads_as((const char *)text.data, "\"null\"", "[null]", &anything, FIRN_LIMIT, "no bytes");
    reads_as((const char *)text.data, "\"null\"", "[null]", &nothing, FIRN_LIMIT, "no bytes");
    firn_buffer_release(&text);
}

static void test_deep_data(void **state) {
    (void)state;
    const char *list = "{\"type\":\"record\",\"name\":\"r\",\"fields\":["
                       "{\"name\":\"next\",\"type\":[\"null\",\"r\"]}]}";
    reads_as(list, NULL, "[{\"next\":{\"next\":{}}}]", &anything, FIRN_OK, NULL);
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    firn_error error;
    /* one byte a level: branch 1 */
    check_ok(firn_buffer_append_text(&text, "[\"", &error), &error);
    for (int i = 0; i < 10000; i++) {
        check_ok(firn_buffer_append_text(&text, "02", &error), &error);
    }
    check_ok(firn_buffer_append_text(&text, "00\"]", &error), &error);
    check_ok(firn_buffer_append_byte(&text, 0, &error), &error);
    const char *raw = "{\"type\":\"fixed\",\"name\":\"x\",\"size\":10001}";
    reads_as(list, raw, (const char *)text.data, &anything, FIRN_CORRUPT, "too deep");
    reads_as(list, raw, (const char *)text.data, &nothing, FIRN_LIMIT, "too deep");
    firn_buffer_release(&text);
}

/* A header and one block whose head is given. */
static void block_fails(int64_t count, int64_t size, firn_slice data, bool good_sync,
                        firn_status code, const char *part) {
    firn_error error;
    fx_avro how = {.schema = "\"int\""};
    fx_bytes head = fx_avro_file(&how, "[]");
    firn_buffer file = firn_buffer_with_maximum(1 << 20);
    check_ok(firn_buffer_append(&file, head.data, head.size, &error), &error);
    check_ok(firn_avro_put_long(&file, count, &error), &error);
    check_ok(firn_avro_put_long(&file, size, &error), &error);
    check_ok(firn_buffer_append(&file, data.data, data.size, &error), &error);
    check_ok(firn_buffer_append(&file, head.data + head.size - 16, 16, &error), &error);
    if (!good_sync) file.data[file.size - 1] ^= 1;
    firn_status status = read_all(firn_buffer_slice(&file), &anything, NULL, &error);
    if (code == FIRN_OK) {
        check_ok(status, &error);
    } else {
        check_fails(status, code, &error, part);
        assert_true(error.byte_offset >= (int64_t)head.size);
    }
    firn_buffer_release(&file);
    free(head.data);
}

static void test_block_heads(void **state) {
    (void)state;
    firn_slice two = firn_slice_of("\x02\x04", 2);
    block_fails(2, 2, two, true, FIRN_OK, NULL);
    block_fails(2, 2, two, false, FIRN_CORRUPT, "sync");
    block_fails(1, 2, two, true, FIRN_CORRUPT, "last record");
    block_fails(3, 2, two, true, FIRN_CORRUPT, "ends early");
    block_fails(0, 2, two, true, FIRN_CORRUPT, "without records");
    block_fails(-2, 2, two, true, FIRN_CORRUPT, "negative");
    block_fails(2, -2, two, true, FIRN_CORRUPT, "end of the file");
    block_fails(2, 1, two, true, FIRN_CORRUPT, "sync");
    block_fails(2, 3, two, true, FIRN_CORRUPT, "end of the file");
    block_fails(2, INT64_MAX, two, true, FIRN_CORRUPT, "end of the file");
    block_fails(INT64_MAX, 2, two, true, FIRN_CORRUPT, "ends early");
    block_fails(0, 0, firn_slice_of("", 0), true, FIRN_OK, NULL);
}

static void test_not_avro(void **state) {
    (void)state;
    firn_error error;
    check_fails(read_all(firn_slice_text(""), &anything, NULL, &error), FIRN_CORRUPT, &error,
                "too short");
    check_fails(read_all(firn_slice_text("PAR1.....................PAR1"), &anything, NULL, &error),
                FIRN_CORRUPT, &error, "not an Avro file");
    check_fails(read_all(firn_slice_of("Obj\1\0________________", 21), &anything, NULL, &error),
                FIRN_CORRUPT, &error, "avro.schema");
}

static void test_bomb(void **state) {
    (void)state;
    firn_error error;
    firn_buffer zeros = firn_buffer_with_maximum(8 << 20);
    check_ok(firn_buffer_reserve(&zeros, 4 << 20, &error), &error);
    memset(zeros.data, 0, 4 << 20);
    zeros.size = 4 << 20;
    static const firn_codec codecs[] = {FIRN_CODEC_DEFLATE, FIRN_CODEC_SNAPPY, FIRN_CODEC_ZSTD};
    for (size_t i = 0; i < 3; i++) {
        firn_buffer out = firn_buffer_with_maximum(8 << 20);
        firn_write_to to = firn_avro_to_buffer(&out);
        firn_avro_write_options options = {codecs[i], FIRN_CODEC_LEVEL_DEFAULT, 0};
        firn_avro_writer *writer = NULL;
        check_ok(firn_avro_writer_new(firn_slice_text("\"int\""), &options, &to, &writer, &error),
                 &error);
        check_ok(firn_avro_writer_add(writer, firn_buffer_slice(&zeros), &error), &error);
        check_ok(firn_avro_writer_finish(writer, NULL, &error), &error);
        firn_avro_writer_free(writer);
        check_fails(read_all(firn_buffer_slice(&out), &anything, NULL, &error), FIRN_LIMIT, &error,
                    "bad.avro");
        firn_buffer_release(&out);
    }
    firn_buffer_release(&zeros);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_bit_flips),
        cmocka_unit_test(test_branches_and_symbols),
        cmocka_unit_test(test_endless_schemas),
        cmocka_unit_test(test_deep_data),
        cmocka_unit_test(test_block_heads),
        cmocka_unit_test(test_not_avro),
        cmocka_unit_test(test_bomb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
