#include <stdio.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "puffin/deletion_vector.h"
#include "puffin/puffin.h"
#include "support/check.h"

static firn_buffer corpus_file(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/puffin/%s", test_corpus(), name);
    return test_read_file(path);
}

static firn_status read_footer(firn_slice bytes, firn_arena *arena, firn_puffin_footer *out,
                               firn_error *error) {
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, "f.puffin");
    return firn_puffin_footer_read(&file, arena, out, error);
}

static void check_refused(firn_slice bytes, const char *message) {
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    check_fails(read_footer(bytes, arena, &footer, &error), FIRN_CORRUPT, &error, message);
    assert_non_null(strstr(error.message, "f.puffin"));
    firn_arena_free(arena);
}

static const char blob_one[] = "abcdefghi";
static const char blob_two[] = "some blob \0 binary data \xf0\x9f\xa4\xaf that is not very very "
                               "very very very very long, is it?";

static void check_sample(const char *name, bool compressed) {
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    firn_buffer bytes = corpus_file(name);
    check_ok(read_footer(firn_buffer_slice(&bytes), arena, &footer, &error), &error);
    assert_int_equal(footer.blob_count, 2);
    assert_string_equal(json_string_value(json_object_get(footer.properties, "created-by")),
                        "Test 1234");
    static const char *const types[] = {"some-blob", "some-other-blob"};
    const firn_slice content[] = {firn_slice_of(blob_one, sizeof blob_one - 1),
                                  firn_slice_of(blob_two, sizeof blob_two - 1)};
    for (size_t i = 0; i < 2; i++) {
        const firn_puffin_blob *blob = &footer.blobs[i];
        assert_string_equal(blob->type, types[i]);
        assert_int_equal(blob->field_count, 1);
        assert_int_equal(blob->fields[0], (int)i + 1);
        assert_int_equal(blob->snapshot_id, 2);
        assert_int_equal(blob->sequence_number, 1);
        assert_null(blob->properties);
        firn_slice stored = firn_slice_of(bytes.data + blob->offset, (size_t)blob->length);
        uint8_t plain[128];
        firn_codec codec = compressed ? FIRN_CODEC_ZSTD : FIRN_CODEC_UNCOMPRESSED;
        if (compressed) assert_string_equal(blob->compression_codec, "zstd");
        if (!compressed) assert_null(blob->compression_codec);
        check_ok(firn_codec_decompress(codec, stored, plain, content[i].size, &error), &error);
        assert_memory_equal(plain, content[i].data, content[i].size);
    }
    firn_buffer_release(&bytes);
    firn_arena_free(arena);
}

static void test_corpus_files(void **state) {
    (void)state;
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    check_sample("sample-metric-data-uncompressed.bin", false);
    check_sample("sample-metric-data-compressed-zstd.bin", true);
    firn_buffer bytes = corpus_file("empty-puffin-uncompressed.bin");
    check_ok(read_footer(firn_buffer_slice(&bytes), arena, &footer, &error), &error);
    assert_int_equal(footer.blob_count, 0);
    assert_null(footer.properties);
    firn_buffer_release(&bytes);
    firn_arena_free(arena);
}

/* A file whose footer holds `payload`, after `gap` bytes of blobs. */
static firn_buffer file_with(firn_slice payload, size_t gap, uint32_t flags) {
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 24);
    uint8_t end[8];
    check_ok(firn_buffer_append_text(&out, "PFA1", &error), &error);
    for (size_t i = 0; i < gap; i++) check_ok(firn_buffer_append_byte(&out, 'x', &error), &error);
    check_ok(firn_buffer_append_text(&out, "PFA1", &error), &error);
    check_ok(firn_buffer_append(&out, payload.data, payload.size, &error), &error);
    firn_store_le32(end, (uint32_t)payload.size);
    firn_store_le32(end + 4, flags);
    check_ok(firn_buffer_append(&out, end, sizeof end, &error), &error);
    check_ok(firn_buffer_append_text(&out, "PFA1", &error), &error);
    return out;
}

static void refuse_payload(const char *payload, const char *message) {
    firn_buffer bytes = file_with(firn_slice_text(payload), 10, 0);
    check_refused(firn_buffer_slice(&bytes), message);
    firn_buffer_release(&bytes);
}

#define BLOB(offset, length)                                                                       \
    "{\"blobs\":[{\"type\":\"t\",\"fields\":[1],\"snapshot-id\":1,\"sequence-number\":1,"          \
    "\"offset\":" offset ",\"length\":" length "}]}"

static void test_bad_payloads(void **state) {
    (void)state;
    refuse_payload("", "footer at byte 18");
    refuse_payload("[]", "footer: is not an object");
    refuse_payload("{}", "field blobs");
    refuse_payload("{\"blobs\":[7]}", "blob 0: is not an object");
    refuse_payload("{\"blobs\":[{}]}", "blob 0: field type");
    refuse_payload("{\"blobs\":[],\"properties\":{\"a\":1}}", "property a is not a text");
    refuse_payload("{\"blobs\":[{\"type\":\"t\",\"fields\":[99999999999]}]}", "no field id at 0");
    refuse_payload("{\"blobs\":[]", "footer at byte 18");
    refuse_payload(BLOB("3", "1"), "reach outside the blobs, which end at byte 14");
    refuse_payload(BLOB("4", "11"), "reach outside");
    refuse_payload(BLOB("15", "0"), "reach outside");
    refuse_payload(BLOB("4", "-1"), "reach outside");
    refuse_payload(BLOB("-4", "1"), "reach outside");
    refuse_payload(BLOB("9223372036854775807", "9223372036854775807"), "reach outside");
    firn_buffer good = file_with(firn_slice_text(BLOB("4", "10")), 10, 0);
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    check_ok(read_footer(firn_buffer_slice(&good), arena, &footer, &error), &error);
    firn_arena_free(arena);
    firn_buffer_release(&good);
}

static void test_bad_frames(void **state) {
    (void)state;
    firn_buffer bytes = file_with(firn_slice_text("{\"blobs\":[]}"), 0, 0);
    for (size_t size = 0; size < bytes.size; size++) {
        check_refused(firn_slice_of(bytes.data, size), "is ");
    }
    static const struct {
        size_t at;
        const char *message;
    } cases[] = {{0, "does not begin with PFA1"},   {4, "the footer does not begin with PFA1"},
                 {20, "the footer does not begin"}, {23, "the footer's size is larger"},
                 {25, "flags that are not known"},  {27, "flags that are not known"},
                 {28, "it does not end with PFA1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes.data[cases[i].at] ^= 4;
        check_refused(firn_buffer_slice(&bytes), cases[i].message);
        bytes.data[cases[i].at] ^= 4;
    }
    firn_buffer_release(&bytes);
}

static void test_compressed_footer(void **state) {
    (void)state;
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    firn_buffer packed = firn_buffer_with_maximum((size_t)1 << 20);
    check_ok(firn_codec_compress(FIRN_CODEC_LZ4_FRAME, FIRN_CODEC_LEVEL_DEFAULT,
                                 firn_slice_text(BLOB("5", "2")), &packed, &error),
             &error);
    firn_buffer bytes = file_with(firn_buffer_slice(&packed), 10, 1);
    check_ok(read_footer(firn_buffer_slice(&bytes), arena, &footer, &error), &error);
    assert_int_equal(footer.blobs[0].offset, 5);
    firn_buffer_release(&bytes);
    packed.size--;
    bytes = file_with(firn_buffer_slice(&packed), 10, 1);
    check_refused(firn_buffer_slice(&bytes), "lz4_frame");
    firn_buffer_release(&bytes);
    firn_buffer_release(&packed);
    firn_arena_free(arena);
}

/* A footer larger than what is read at once. */
static void test_large_footer(void **state) {
    (void)state;
    firn_error error;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    firn_buffer payload = firn_buffer_with_maximum((size_t)1 << 24);
    check_ok(firn_buffer_append_text(&payload, "{\"blobs\":[", &error), &error);
    for (int i = 0; i < 2000; i++) {
        check_ok(firn_buffer_printf(&payload, &error,
                                    "%s{\"type\":\"t\",\"fields\":[],\"snapshot-id\":%d,"
                                    "\"sequence-number\":1,\"offset\":4,\"length\":0}",
                                    i == 0 ? "" : ",", i),
                 &error);
    }
    check_ok(firn_buffer_append_text(&payload, "]}", &error), &error);
    firn_buffer bytes = file_with(firn_buffer_slice(&payload), 5, 0);
    check_ok(read_footer(firn_buffer_slice(&bytes), arena, &footer, &error), &error);
    assert_int_equal(footer.blob_count, 2000);
    assert_int_equal(footer.blobs[1999].snapshot_id, 1999);
    firn_buffer_release(&payload);
    firn_buffer_release(&bytes);
    firn_arena_free(arena);
}

static firn_status write_one(void *context, firn_error *error) {
    firn_buffer *out = context;
    static const int32_t fields[] = {FIRN_ROW_POSITION_FIELD_ID};
    firn_status status = FIRN_OK;
    firn_puffin_writer *writer = NULL;
    int64_t offset = 0;
    json_t *properties = json_object();
    firn_buffer_clear(out);
    if (properties == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_json_set_text(properties, "cardinality", "2", error));
    FIRN_CHECK(firn_puffin_writer_new(&writer, error));
    FIRN_CHECK(firn_puffin_writer_add(writer, FIRN_DELETION_VECTOR_TYPE, fields, 1, -1, -1,
                                      properties, firn_slice_text("first"), &offset, error));
    assert_int_equal(offset, 4);
    FIRN_CHECK(firn_puffin_writer_add(writer, "other", NULL, 0, 7, 8, NULL,
                                      firn_slice_text("second"), &offset, error));
    assert_int_equal(offset, 9);
    assert_int_equal(firn_puffin_writer_size(writer), 15);
    FIRN_CHECK(firn_puffin_writer_finish(writer, "firn 1", out, error));
out:
    firn_puffin_writer_free(writer);
    json_decref(properties);
    return status;
}

static void test_written_bytes(void **state) {
    (void)state;
    static const char payload[] =
        "{\"blobs\":[{\"type\":\"deletion-vector-v1\",\"fields\":[2147483645],\"snapshot-id\":-1,"
        "\"sequence-number\":-1,\"offset\":4,\"length\":5,\"properties\":{\"cardinality\":\"2\"}},"
        "{\"type\":\"other\",\"fields\":[],\"snapshot-id\":7,\"sequence-number\":8,\"offset\":9,"
        "\"length\":6}],\"properties\":{\"created-by\":\"firn 1\"}}";
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 20);
    check_ok(write_one(&out, &error), &error);
    firn_buffer expected = file_with(firn_slice_text(payload), 11, 0);
    memcpy(expected.data + 4, "firstsecond", 11);
    assert_int_equal(out.size, expected.size);
    assert_memory_equal(out.data, expected.data, out.size);
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    check_ok(read_footer(firn_buffer_slice(&out), arena, &footer, &error), &error);
    assert_int_equal(footer.blob_count, 2);
    assert_int_equal(footer.blobs[0].fields[0], FIRN_ROW_POSITION_FIELD_ID);
    firn_arena_free(arena);
    firn_buffer_release(&expected);
    firn_buffer_release(&out);
}

static firn_status read_one(void *context, firn_error *error) {
    firn_buffer *bytes = context;
    firn_puffin_footer footer;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = read_footer(firn_buffer_slice(bytes), arena, &footer, error);
    firn_arena_free(arena);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum((size_t)1 << 20);
    check_each_allocation(write_one, &out);
    check_ok(write_one(&out, &error), &error);
    check_each_allocation(read_one, &out);
    firn_buffer_release(&out);
}

int main(void) {
    firn_json_setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus_files),        cmocka_unit_test(test_bad_payloads),
        cmocka_unit_test(test_bad_frames),          cmocka_unit_test(test_compressed_footer),
        cmocka_unit_test(test_large_footer),        cmocka_unit_test(test_written_bytes),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
