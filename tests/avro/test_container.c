#include "support/check.h"

#include <stdlib.h>

#include "avro/encode.h"
#include "avro/reader.h"
#include "avro/writer.h"
#include "support/fx_avro.h"

typedef struct row {
    int64_t id;
    bool has_id;
    const char *name;
    firn_slice raw;
    firn_avro_list numbers;
    firn_avro_pairs counts;
    struct {
        double score;
        bool has_score;
    } inner;
    firn_avro_value any;
} row;

static const firn_avro_target number_item = {.id = FIRN_AVRO_NO_ID,
                                             .into = FIRN_AVRO_INTO_INT64,
                                             .present = FIRN_AVRO_NO_FLAG,
                                             .required = true};
static const firn_avro_target pair_children[] = {
    {.id = 10,
     .name = "key",
     .into = FIRN_AVRO_INTO_INT32,
     .present = FIRN_AVRO_NO_FLAG,
     .required = true},
    {.id = 11,
     .name = "value",
     .into = FIRN_AVRO_INTO_INT64,
     .present = FIRN_AVRO_NO_FLAG,
     .required = true},
};
static const firn_avro_target inner_children[] = {
    {.id = 8,
     .name = "score",
     .into = FIRN_AVRO_INTO_DOUBLE,
     .offset = 0,
     .present = offsetof(row, inner.has_score) - offsetof(row, inner)},
};
static const firn_avro_target row_children[] = {
    {.id = 1,
     .name = "id",
     .into = FIRN_AVRO_INTO_INT64,
     .offset = offsetof(row, id),
     .present = offsetof(row, has_id)},
    {.id = 2,
     .name = "name",
     .into = FIRN_AVRO_INTO_TEXT,
     .offset = offsetof(row, name),
     .present = FIRN_AVRO_NO_FLAG,
     .required = true},
    {.id = 3,
     .name = "raw",
     .into = FIRN_AVRO_INTO_BYTES,
     .offset = offsetof(row, raw),
     .present = FIRN_AVRO_NO_FLAG},
    {.id = 4,
     .name = "numbers",
     .into = FIRN_AVRO_INTO_LIST,
     .offset = offsetof(row, numbers),
     .present = FIRN_AVRO_NO_FLAG,
     .item_size = sizeof(int64_t),
     .children = &number_item,
     .child_count = 1},
    {.id = 5,
     .name = "counts",
     .into = FIRN_AVRO_INTO_PAIRS,
     .offset = offsetof(row, counts),
     .present = FIRN_AVRO_NO_FLAG,
     .item_size = sizeof(int32_t),
     .value_size = sizeof(int64_t),
     .children = pair_children,
     .child_count = 2},
    {.id = 6,
     .name = "inner",
     .into = FIRN_AVRO_INTO_RECORD,
     .offset = offsetof(row, inner),
     .present = FIRN_AVRO_NO_FLAG,
     .children = inner_children,
     .child_count = 1},
    {.id = 7,
     .name = "any",
     .into = FIRN_AVRO_INTO_VALUE,
     .offset = offsetof(row, any),
     .present = FIRN_AVRO_NO_FLAG},
};
static const firn_avro_target row_target = {.id = FIRN_AVRO_NO_ID,
                                            .into = FIRN_AVRO_INTO_RECORD,
                                            .present = FIRN_AVRO_NO_FLAG,
                                            .children = row_children,
                                            .child_count =
                                                sizeof row_children / sizeof *row_children};

static const char row_schema[] =
    "{\"type\":\"record\",\"name\":\"row\",\"fields\":["
    "{\"name\":\"unknown\",\"type\":{\"type\":\"map\",\"values\":[\"string\",\"null\"]}},"
    "{\"name\":\"any\",\"type\":[\"null\",{\"type\":\"map\",\"values\":[\"null\",\"float\"]}],"
    "\"field-id\":7},"
    "{\"name\":\"inner\",\"type\":{\"type\":\"record\",\"name\":\"in\",\"fields\":["
    "{\"name\":\"score\",\"type\":[\"float\",\"null\"],\"field-id\":8},"
    "{\"name\":\"more\",\"type\":\"double\"}]},\"field-id\":6},"
    "{\"name\":\"id\",\"type\":[\"int\",\"null\"],\"field-id\":1},"
    "{\"name\":\"name\",\"type\":[\"null\",\"string\"],\"field-id\":2},"
    "{\"name\":\"raw\",\"type\":[\"null\",{\"type\":\"fixed\",\"name\":\"f3\",\"size\":3}],"
    "\"field-id\":3},"
    "{\"name\":\"numbers\",\"type\":[\"null\",{\"type\":\"array\",\"items\":\"int\","
    "\"element-id\":9}],\"field-id\":4},"
    "{\"name\":\"counts\",\"type\":[\"null\",{\"type\":\"array\",\"logicalType\":\"map\",\"items\":"
    "{\"type\":\"record\",\"name\":\"kv\",\"fields\":["
    "{\"name\":\"value\",\"type\":\"long\",\"field-id\":11},"
    "{\"name\":\"key\",\"type\":\"int\",\"field-id\":10}]}}],\"field-id\":5}]}";

static const char row_values[] =
    "[{\"unknown\":{\"x\":null,\"y\":\"why\"},\"any\":{\"p\":1.5,\"q\":null},"
    "\"inner\":{\"score\":0.25,\"more\":9},\"id\":-3,\"name\":\"first\",\"raw\":\"010203\","
    "\"numbers\":[1,-70000,3],\"counts\":[{\"key\":1,\"value\":-1},{\"key\":99,\"value\":"
    "5000000000}]},"
    "{\"unknown\":{},\"inner\":{\"more\":1},\"name\":\"second\",\"numbers\":[],\"counts\":[]},"
    "{\"unknown\":{},\"inner\":{\"more\":1},\"name\":\"third\"}]";

static void check_first(const row *r) {
    assert_true(r->has_id && r->id == -3);
    assert_string_equal(r->name, "first");
    assert_int_equal(r->raw.size, 3);
    assert_memory_equal(r->raw.data, "\1\2\3", 3);
    assert_int_equal(r->numbers.count, 3);
    assert_true(((const int64_t *)r->numbers.items)[1] == -70000);
    assert_int_equal(r->counts.count, 2);
    assert_int_equal(((const int32_t *)r->counts.keys)[1], 99);
    assert_true(((const int64_t *)r->counts.values)[0] == -1);
    assert_true(((const int64_t *)r->counts.values)[1] == 5000000000);
    assert_true(r->inner.has_score && r->inner.score == 0.25);
    assert_int_equal(r->any.schema->kind, FIRN_AVRO_MAP);
    assert_int_equal(r->any.as.list.count, 4);
    const firn_avro_value *items = r->any.as.list.items;
    assert_true(firn_slice_equal(items[0].as.bytes, firn_slice_text("p")));
    assert_true(items[1].as.float32 == 1.5F);
    assert_true(firn_avro_value_is_null(&items[3]));
}

static void check_rest(const row *second, const row *third) {
    assert_false(second->has_id);
    assert_null(second->raw.data);
    assert_non_null(second->numbers.items);
    assert_int_equal(second->numbers.count, 0);
    assert_non_null(second->counts.keys);
    assert_false(second->inner.has_score);
    assert_true(firn_avro_value_is_null(&second->any));
    assert_string_equal(third->name, "third");
    assert_null(third->numbers.items);
    assert_null(third->counts.keys);
}

/* Reads all three rows; `direct` false: through read() alone, as from a store. */
static firn_status read_rows(firn_slice bytes, bool direct, firn_error *error) {
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, "rows.avro");
    if (!direct) file.borrow = NULL;
    firn_avro_reader *reader = NULL;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    row rows[4] = {0};
    size_t count = 0;
    bool more = true;
    firn_status status;
    const firn_avro_plan *plan;
    FIRN_CHECK(firn_avro_reader_open(&file, 0, &reader, error));
    FIRN_CHECK(firn_avro_plan_new(firn_avro_reader_schema(reader), &row_target, "rows.avro", arena,
                                  &plan, error));
    int64_t total = 0;
    FIRN_CHECK(firn_avro_reader_count(reader, &total, error));
    assert_int_equal(total, 3);
    for (;;) {
        FIRN_CHECK(firn_avro_reader_next(reader, plan, arena, true, &rows[count], &more, error));
        if (!more) break;
        assert_true(count++ < 3);
        FIRN_CHECK(firn_avro_reader_count(reader, &total, error));
    }
    assert_int_equal(count, 3);
    check_first(&rows[0]);
    check_rest(&rows[1], &rows[2]);
out:
    firn_avro_reader_free(reader);
    firn_arena_free(arena);
    return status;
}

static void test_fixture_file(void **state) {
    (void)state;
    firn_error error;
    for (int variant = 0; variant < 8; variant++) {
        fx_avro how = {.schema = row_schema,
                       .codec = (variant & 1) != 0 ? "null" : NULL,
                       .records_per_block = (variant & 2) != 0 ? 1 : 0,
                       .signed_counts = (variant & 4) != 0,
                       .empty_blocks = (variant & 2) != 0};
        fx_bytes file = fx_avro_file(&how, row_values);
        check_ok(read_rows(firn_slice_of(file.data, file.size), true, &error), &error);
        check_ok(read_rows(firn_slice_of(file.data, file.size), false, &error), &error);
        free(file.data);
    }
}

static fx_bytes datums[3];

/* Before any allocation is made to fail. */
static int make_datums(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"unknown\":{\"x\":null,\"y\":\"why\"},\"any\":{\"p\":1.5,\"q\":null},"
        "\"inner\":{\"score\":0.25,\"more\":9},\"id\":-3,\"name\":\"first\",\"raw\":\"010203\","
        "\"numbers\":[1,-70000,3],\"counts\":[{\"key\":1,\"value\":-1},"
        "{\"key\":99,\"value\":5000000000}]}",
        "{\"unknown\":{},\"inner\":{\"more\":1},\"name\":\"second\",\"numbers\":[],\"counts\":[]}",
        "{\"unknown\":{},\"inner\":{\"more\":1},\"name\":\"third\"}"};
    for (size_t i = 0; i < 3; i++) datums[i] = fx_avro_datum(row_schema, texts[i], false);
    return 0;
}

static int free_datums(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++) free(datums[i].data);
    return 0;
}

/* The three rows, again and again, packed by the writer under test. */
static firn_status write_rows_with(firn_pool *pool, firn_codec codec, size_t block_bytes,
                                   size_t count, firn_buffer *out, firn_error *error) {
    firn_avro_write_options options = {codec, FIRN_CODEC_LEVEL_DEFAULT, block_bytes};
    firn_write_to to = firn_avro_to_buffer(out);
    firn_avro_writer *writer = NULL;
    firn_status status;
    uint64_t size = 0;
    FIRN_CHECK(firn_avro_writer_new(firn_slice_text(row_schema), &options, &to, &writer, error));
    firn_avro_writer_use_pool(writer, pool);
    FIRN_CHECK(firn_avro_writer_set_metadata(writer, "my-key", firn_slice_text("my value"), error));
    for (size_t i = 0; i < count; i++) {
        firn_slice datum = firn_slice_of(datums[i % 3].data, datums[i % 3].size);
        FIRN_CHECK(firn_avro_writer_add(writer, datum, error));
    }
    FIRN_CHECK(firn_avro_writer_finish(writer, &size, error));
    assert_int_equal(size, out->size);
    assert_int_equal(size, firn_avro_writer_size(writer));
    assert_int_equal(firn_avro_writer_count(writer), count);
out:
    firn_avro_writer_free(writer);
    return status;
}

static firn_status write_rows(firn_codec codec, size_t block_bytes, firn_buffer *out,
                              firn_error *error) {
    return write_rows_with(NULL, codec, block_bytes, 3, out, error);
}

static const firn_codec codecs[] = {FIRN_CODEC_UNCOMPRESSED, FIRN_CODEC_DEFLATE, FIRN_CODEC_SNAPPY,
                                    FIRN_CODEC_ZSTD};
static const char *const codec_names[] = {"null", "deflate", "snappy", "zstandard"};

static void test_round_trip(void **state) {
    (void)state;
    firn_error error;
    for (size_t i = 0; i < 8; i++) {
        firn_buffer out = firn_buffer_with_maximum(1 << 20);
        check_ok(write_rows(codecs[i / 2], i % 2 == 0 ? 1 : 0, &out, &error), &error);
        check_ok(read_rows(firn_buffer_slice(&out), i % 2 == 0, &error), &error);
        firn_memory_file memory = {out.data, out.size};
        firn_read_at file = firn_read_at_memory(&memory, "rows.avro");
        firn_avro_reader *reader = NULL;
        check_ok(firn_avro_reader_open(&file, 0, &reader, &error), &error);
        assert_string_equal(firn_avro_reader_codec(reader), codec_names[i / 2]);
        firn_slice value;
        assert_true(firn_avro_reader_metadata(reader, "my-key", &value));
        assert_true(firn_slice_equal(value, firn_slice_text("my value")));
        assert_true(firn_avro_reader_metadata(reader, "avro.schema", &value));
        assert_true(firn_slice_equal(value, firn_slice_text(row_schema)));
        assert_false(firn_avro_reader_metadata(reader, "absent", &value));
        firn_avro_reader_free(reader);
        firn_buffer_release(&out);
    }
}

/* The header ends with the marker, and so does the file. */
static void forget_marker(firn_buffer *file) {
    uint8_t marker[16];
    memcpy(marker, file->data + file->size - sizeof marker, sizeof marker);
    for (size_t i = 0; i + sizeof marker <= file->size; i++) {
        if (memcmp(file->data + i, marker, sizeof marker) == 0) {
            memset(file->data + i, 0, sizeof marker);
        }
    }
}

/* What the blocks are does not depend on who compresses them. */
static void test_pool(void **state) {
    (void)state;
    firn_error error;
    for (size_t i = 0; i < 16; i++) {
        firn_codec codec = codecs[i % 4];
        size_t rows = i < 4 ? 3 : 100 * i;
        firn_buffer alone = firn_buffer_with_maximum(1 << 20);
        check_ok(write_rows_with(NULL, codec, 1000, rows, &alone, &error), &error);
        forget_marker(&alone);
        for (size_t threads = 1; threads <= 3; threads++) {
            firn_buffer out = firn_buffer_with_maximum(1 << 20);
            firn_pool *pool = NULL;
            check_ok(firn_pool_new(threads, &pool, &error), &error);
            check_ok(write_rows_with(pool, codec, 1000, rows, &out, &error), &error);
            firn_pool_free(pool);
            if (rows == 3) {
                check_ok(read_rows(firn_buffer_slice(&out), false, &error), &error);
            }
            forget_marker(&out);
            assert_int_equal(out.size, alone.size);
            assert_memory_equal(out.data, alone.data, out.size);
            firn_buffer_release(&out);
        }
        firn_buffer_release(&alone);
    }
}

static firn_status round_trip_once(void *context, firn_error *error) {
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_status status = write_rows(*(const firn_codec *)context, 1, &out, error);
    if (status == FIRN_OK) status = read_rows(firn_buffer_slice(&out), false, error);
    firn_buffer_release(&out);
    return status;
}

static void test_allocations(void **state) {
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        firn_codec codec = codecs[i];
        check_each_allocation(round_trip_once, &codec);
    }
}

static void test_writer_refuses(void **state) {
    (void)state;
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_write_to to = firn_avro_to_buffer(&out);
    firn_avro_writer *writer = NULL;
    firn_avro_write_options options = {FIRN_CODEC_BROTLI, FIRN_CODEC_LEVEL_DEFAULT, 0};
    check_fails(firn_avro_writer_new(firn_slice_text("\"int\""), &options, &to, &writer, &error),
                FIRN_INVALID, &error, "brotli");
    check_fails(firn_avro_writer_new(firn_slice_text("\"nosuch\""), NULL, &to, &writer, &error),
                FIRN_CORRUPT, &error, "nosuch");
    check_ok(firn_avro_writer_new(firn_slice_text("\"int\""), NULL, &to, &writer, &error), &error);
    check_fails(firn_avro_writer_set_metadata(writer, "avro.codec", firn_slice_text("x"), &error),
                FIRN_INVALID, &error, "avro.codec");
    check_ok(firn_avro_writer_finish(writer, NULL, &error), &error);
    assert_memory_equal(out.data,
                        "Obj\1\4\x16"
                        "avro.schema\x0a\"int\"\x14"
                        "avro.codec\x0e"
                        "deflate\0",
                        5 + 12 + 6 + 11 + 8 + 1);
    check_fails(firn_avro_writer_set_metadata(writer, "k", firn_slice_text("x"), &error),
                FIRN_INVALID, &error, "too late");
    firn_avro_writer_free(writer);
    firn_buffer_release(&out);
}

static void open_fails(const fx_avro *how, firn_status code, const char *part) {
    firn_error error;
    fx_bytes bytes = fx_avro_file(how, "[]");
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, "rows.avro");
    firn_avro_reader *reader = NULL;
    check_fails(firn_avro_reader_open(&file, 0, &reader, &error), code, &error, part);
    assert_non_null(strstr(error.message, "rows.avro"));
    free(bytes.data);
}

static void test_codecs_by_name(void **state) {
    (void)state;
    static const char *const refused[] = {"bzip2", "xz", "lzma", "Deflate", "nul"};
    for (size_t i = 0; i < 5; i++) {
        open_fails(&(fx_avro){.schema = "\"int\"", .codec = refused[i]}, FIRN_UNSUPPORTED,
                   refused[i]);
    }
    open_fails(&(fx_avro){.schema = "[[", .encode_schema = "\"int\""}, FIRN_CORRUPT, "schema");
}

/* A plan for another schema than row_schema: what must be found, and what must be refused. */
static void plan(const char *schema, const firn_avro_target *target, firn_status code,
                 const char *part, size_t named) {
    firn_error error;
    firn_arena *arena = firn_arena_new();
    const firn_avro_schema *writer;
    const firn_avro_plan *out;
    check_ok(firn_avro_schema_parse(firn_slice_text(schema), "f.avro", arena, &writer, &error),
             &error);
    firn_status status = firn_avro_plan_new(writer, target, "f.avro", arena, &out, &error);
    if (code == FIRN_OK) {
        check_ok(status, &error);
        assert_int_equal(firn_avro_plan_named_count(out, NULL), named);
    } else {
        check_fails(status, code, &error, part);
    }
    firn_arena_free(arena);
}

#define ONE_FIELD(rest) "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{" rest "}]}"

static void test_resolution(void **state) {
    (void)state;
    static const char *const older[] = {"naam", NULL};
    firn_avro_target field = {.id = 2,
                              .name = "name",
                              .into = FIRN_AVRO_INTO_TEXT,
                              .present = FIRN_AVRO_NO_FLAG,
                              .required = true,
                              .other_names = older};
    firn_avro_target record = {.id = FIRN_AVRO_NO_ID,
                               .into = FIRN_AVRO_INTO_RECORD,
                               .present = FIRN_AVRO_NO_FLAG,
                               .children = &field,
                               .child_count = 1};
    plan(ONE_FIELD("\"name\":\"x\",\"type\":\"string\",\"field-id\":2"), &record, FIRN_OK, NULL, 0);
    plan(ONE_FIELD("\"name\":\"name\",\"type\":\"string\""), &record, FIRN_OK, NULL, 1);
    plan(ONE_FIELD("\"name\":\"naam\",\"type\":\"bytes\""), &record, FIRN_OK, NULL, 1);
    /* a field with another id is another field, whatever its name */
    plan(ONE_FIELD("\"name\":\"name\",\"type\":\"string\",\"field-id\":3"), &record, FIRN_CORRUPT,
         "field name (id 2) is missing", 0);
    plan(ONE_FIELD("\"name\":\"x\",\"type\":\"int\",\"field-id\":2"), &record, FIRN_CORRUPT,
         "has type int", 0);
    plan(ONE_FIELD("\"name\":\"x\",\"type\":[\"null\",\"int\"],\"field-id\":2"), &record,
         FIRN_CORRUPT, "has type int", 0);
    plan(ONE_FIELD("\"name\":\"x\",\"type\":\"string\",\"field-id\":2},"
                   "{\"name\":\"y\",\"type\":\"string\",\"field-id\":2"),
         &record, FIRN_CORRUPT, "occurs twice", 0);
    plan("\"int\"", &record, FIRN_CORRUPT, "has type int", 0);
    plan("[\"null\"," ONE_FIELD("\"name\":\"x\",\"type\":\"string\",\"field-id\":2") "]", &record,
         FIRN_OK, NULL, 0);
    field.required = false;
    plan(ONE_FIELD("\"name\":\"other\",\"type\":\"string\""), &record, FIRN_OK, NULL, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixture_file),   cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_allocations),    cmocka_unit_test(test_writer_refuses),
        cmocka_unit_test(test_codecs_by_name), cmocka_unit_test(test_resolution),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, make_datums, free_datums);
}
