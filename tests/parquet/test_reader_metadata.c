/* Footers, page headers and page indexes as Thrift, and the tree that comes of a schema. */
#include <string.h>

#include "support/check.h"

#include "parquet/chunk_reader.h"
#include "parquet/thrift_write.h"

static firn_parquet_schema_element group(const char *name, firn_parquet_repetition repetition,
                                         int32_t children) {
    return (firn_parquet_schema_element){
        .name = name, .has_repetition = true, .repetition = repetition, .num_children = children};
}

static firn_parquet_schema_element leaf(const char *name, firn_parquet_repetition repetition) {
    return (firn_parquet_schema_element){.name = name,
                                         .has_repetition = true,
                                         .repetition = repetition,
                                         .has_type = true,
                                         .type = FIRN_PARQUET_INT64};
}

static void same_logical_type(const firn_parquet_logical_type *a,
                              const firn_parquet_logical_type *b) {
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->scale, b->scale);
    assert_int_equal(a->precision, b->precision);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->adjusted_to_utc, b->adjusted_to_utc);
    assert_int_equal(a->bit_width, b->bit_width);
    assert_int_equal(a->is_signed, b->is_signed);
    assert_int_equal(a->specification_version, b->specification_version);
    assert_int_equal(a->edge_algorithm, b->edge_algorithm);
    assert_int_equal(a->crs == NULL, b->crs == NULL);
    if (a->crs != NULL) assert_string_equal(a->crs, b->crs);
}

/* Writes a footer with the schema and reads it back. */
static const firn_parquet_file_metadata *through_thrift(const firn_parquet_file_metadata *metadata,
                                                        firn_arena *arena) {
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum(1 << 24);
    const firn_parquet_file_metadata *again = NULL;
    check_ok(firn_parquet_write_file_metadata(metadata, &bytes, &error), &error);
    check_ok(firn_parquet_parse_file_metadata(firn_buffer_slice(&bytes), "test.parquet", arena,
                                              &again, &error),
             &error);
    firn_buffer_release(&bytes);
    return again;
}

static const firn_parquet_logical_type annotations[] = {
    {.kind = FIRN_PARQUET_LOGICAL_NONE},
    {.kind = FIRN_PARQUET_LOGICAL_STRING},
    {.kind = FIRN_PARQUET_LOGICAL_MAP},
    {.kind = FIRN_PARQUET_LOGICAL_LIST},
    {.kind = FIRN_PARQUET_LOGICAL_ENUM},
    {.kind = FIRN_PARQUET_LOGICAL_DECIMAL, .scale = 2, .precision = 38},
    {.kind = FIRN_PARQUET_LOGICAL_DATE},
    {.kind = FIRN_PARQUET_LOGICAL_TIME, .unit = FIRN_PARQUET_MICROS},
    {.kind = FIRN_PARQUET_LOGICAL_TIME, .unit = FIRN_PARQUET_NANOS, .adjusted_to_utc = true},
    {.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP, .unit = FIRN_PARQUET_MILLIS, .adjusted_to_utc = true},
    {.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP, .unit = FIRN_PARQUET_NANOS},
    {.kind = FIRN_PARQUET_LOGICAL_INTERVAL},
    {.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 8, .is_signed = true},
    {.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 64, .is_signed = false},
    {.kind = FIRN_PARQUET_LOGICAL_NULL},
    {.kind = FIRN_PARQUET_LOGICAL_JSON},
    {.kind = FIRN_PARQUET_LOGICAL_BSON},
    {.kind = FIRN_PARQUET_LOGICAL_UUID},
    {.kind = FIRN_PARQUET_LOGICAL_FLOAT16},
    {.kind = FIRN_PARQUET_LOGICAL_VARIANT, .specification_version = 1},
    {.kind = FIRN_PARQUET_LOGICAL_GEOMETRY, .crs = "EPSG:4326"},
    {.kind = FIRN_PARQUET_LOGICAL_GEOGRAPHY, .crs = "x", .edge_algorithm = 3},
    {.kind = FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE},
};
enum { ANNOTATIONS = sizeof annotations / sizeof *annotations };

static void keeps_annotations(void **state) {
    (void)state;
    firn_parquet_schema_element elements[ANNOTATIONS + 1];
    elements[0] = (firn_parquet_schema_element){.name = "root", .num_children = ANNOTATIONS};
    for (int i = 0; i < ANNOTATIONS; i++) {
        elements[i + 1] = leaf("x", FIRN_PARQUET_OPTIONAL);
        elements[i + 1].logical = annotations[i];
        elements[i + 1].has_field_id = i % 2 == 0;
        elements[i + 1].field_id = elements[i + 1].has_field_id ? i * 1000 : 0;
    }
    firn_arena *arena = firn_arena_new();
    const firn_parquet_file_metadata metadata = {
        .version = 2, .schema = elements, .schema_count = ANNOTATIONS + 1, .created_by = "a test"};
    const firn_parquet_file_metadata *again = through_thrift(&metadata, arena);
    assert_int_equal(again->schema_count, ANNOTATIONS + 1);
    assert_int_equal(again->version, 2);
    assert_string_equal(again->created_by, "a test");
    assert_false(again->schema[0].has_repetition);
    for (int i = 0; i < ANNOTATIONS; i++) {
        same_logical_type(&again->schema[i + 1].logical, &annotations[i]);
        assert_int_equal(again->schema[i + 1].has_field_id, i % 2 == 0);
        assert_int_equal(again->schema[i + 1].field_id, elements[i + 1].field_id);
    }
    firn_arena_free(arena);
}

/* Files from before LogicalType have ConvertedType alone. */
static void maps_converted_types(void **state) {
    (void)state;
    static const struct {
        int converted;
        firn_parquet_logical_type expected;
    } cases[] = {
        {0, {.kind = FIRN_PARQUET_LOGICAL_STRING}},
        {2, {.kind = FIRN_PARQUET_LOGICAL_MAP_KEY_VALUE}},
        {5, {.kind = FIRN_PARQUET_LOGICAL_DECIMAL, .scale = 3, .precision = 9}},
        {7,
         {.kind = FIRN_PARQUET_LOGICAL_TIME, .unit = FIRN_PARQUET_MILLIS, .adjusted_to_utc = true}},
        {10,
         {.kind = FIRN_PARQUET_LOGICAL_TIMESTAMP,
          .unit = FIRN_PARQUET_MICROS,
          .adjusted_to_utc = true}},
        {11, {.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 8}},
        {14, {.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 64}},
        {16, {.kind = FIRN_PARQUET_LOGICAL_INTEGER, .bit_width = 16, .is_signed = true}},
        {21, {.kind = FIRN_PARQUET_LOGICAL_INTERVAL}},
        {99, {.kind = FIRN_PARQUET_LOGICAL_UNKNOWN}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_error error = {0};
        firn_buffer bytes = firn_buffer_with_maximum(4096);
        firn_thrift_writer writer = firn_thrift_writer_of(&bytes, &error);
        firn_thrift_write_i32(&writer, 1, 1);
        firn_thrift_write_list(&writer, 2, FIRN_THRIFT_STRUCT, 1);
        firn_thrift_write_item_struct(&writer);
        firn_thrift_write_text(&writer, 4, "x");
        firn_thrift_write_i32(&writer, 6, cases[i].converted);
        firn_thrift_write_i32(&writer, 7, 3);
        firn_thrift_write_i32(&writer, 8, 9);
        firn_thrift_write_end(&writer);
        firn_thrift_write_i64(&writer, 3, 0);
        firn_thrift_write_list(&writer, 4, FIRN_THRIFT_STRUCT, 0);
        firn_thrift_write_end(&writer);
        check_ok(writer.status, &error);
        firn_arena *arena = firn_arena_new();
        const firn_parquet_file_metadata *metadata = NULL;
        check_ok(firn_parquet_parse_file_metadata(firn_buffer_slice(&bytes), "test.parquet", arena,
                                                  &metadata, &error),
                 &error);
        same_logical_type(&metadata->schema[0].logical, &cases[i].expected);
        firn_arena_free(arena);
        firn_buffer_release(&bytes);
    }
}

/* One field of every wire type under numbers that Parquet does not have. */
static void put_unknown_fields(firn_thrift_writer *writer) {
    firn_thrift_write_bool(writer, 100, true);
    firn_thrift_write_i8(writer, 101, -1);
    firn_thrift_write_i16(writer, 102, -300);
    firn_thrift_write_i64(writer, 103, INT64_MIN);
    firn_thrift_write_text(writer, 104, "text");
    firn_thrift_write_struct(writer, 105);
    firn_thrift_write_list_i64(writer, 1, (const int64_t[]){1, -2, 3}, 3);
    firn_thrift_write_list(writer, 2, FIRN_THRIFT_TRUE, 20);
    for (int i = 0; i < 20; i++) firn_thrift_write_item_bool(writer, i % 2 == 0);
    firn_thrift_write_end(writer);
    /* A double, a map from i32 to text, a set, a UUID: written by hand. */
    static const uint8_t others[] = {
        0x17, 0,    0,    0, 0, 0,   0, 0xF0, 0x3F,                                /* 106 */
        0x1B, 2,    0x58, 2, 1, 'a', 4, 0,                                         /* 107 */
        0x1A, 0x15, 6,                                                             /* 108 */
        0x1D, 1,    2,    3, 4, 5,   6, 7,    8,    9, 10, 11, 12, 13, 14, 15, 16, /* 109 */
    };
    writer->status = firn_buffer_append(writer->out, others, sizeof others, writer->error);
}

static void skips_unknown_fields(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum(4096);
    firn_thrift_writer writer = firn_thrift_writer_of(&bytes, &error);
    firn_thrift_write_i32(&writer, 1, FIRN_PARQUET_DATA_PAGE);
    firn_thrift_write_i32(&writer, 2, 10);
    firn_thrift_write_i32(&writer, 3, 11);
    firn_thrift_write_struct(&writer, 5);
    firn_thrift_write_i32(&writer, 1, 7);
    firn_thrift_write_i32(&writer, 2, FIRN_PARQUET_RLE);
    firn_thrift_write_i32(&writer, 3, 3);
    firn_thrift_write_i32(&writer, 4, 3);
    put_unknown_fields(&writer);
    firn_thrift_write_end(&writer);
    put_unknown_fields(&writer);
    firn_thrift_write_end(&writer);
    check_ok(writer.status, &error);
    firn_parquet_page_header header = {0};
    size_t consumed = 0;
    size_t size = bytes.size;
    check_ok(firn_buffer_append_text(&bytes, "body", &error), &error);
    check_ok(firn_parquet_parse_page_header(firn_buffer_slice(&bytes), "test.parquet", &header,
                                            &consumed, &error),
             &error);
    assert_int_equal(consumed, size);
    assert_int_equal(header.num_values, 7);
    assert_int_equal(header.uncompressed_size, 10);
    /* Cut anywhere it is an error, found without reading past the end. */
    for (size_t cut = 0; cut < size; cut++) {
        firn_buffer copy = firn_buffer_with_maximum(cut);
        check_ok(firn_buffer_append(&copy, bytes.data, cut, &error), &error);
        check_fails(firn_parquet_parse_page_header(firn_buffer_slice(&copy), "test.parquet",
                                                   &header, &consumed, &error),
                    FIRN_CORRUPT, &error, "at byte");
        firn_buffer_release(&copy);
    }
    firn_buffer_release(&bytes);
}

static void refuses_deep_nesting_and_long_lists(void **state) {
    (void)state;
    firn_error error = {0};
    firn_parquet_page_header header = {0};
    size_t consumed = 0;
    uint8_t deep[1000];
    memset(deep, 0x9C, sizeof deep); /* an unknown field, a struct, in a struct, in a struct … */
    check_fails(firn_parquet_parse_page_header(firn_slice_of(deep, sizeof deep), "test.parquet",
                                               &header, &consumed, &error),
                FIRN_CORRUPT, &error, "nested too deeply");
    /* A list of 2^60 structs in a few bytes. */
    static const uint8_t list[] = {0x15, 2,    0x19, 0xFC, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x80, 0x80, 0x10, 0};
    firn_arena *arena = firn_arena_new();
    const firn_parquet_file_metadata *metadata = NULL;
    check_fails(firn_parquet_parse_file_metadata(firn_slice_of(list, sizeof list), "test.parquet",
                                                 arena, &metadata, &error),
                FIRN_CORRUPT, &error, "beyond the metadata's end");
    /* Structs of one byte each, far larger in memory. */
    firn_buffer bytes = firn_buffer_with_maximum(1 << 24);
    firn_thrift_writer writer = firn_thrift_writer_of(&bytes, &error);
    firn_thrift_write_list(&writer, 4, FIRN_THRIFT_STRUCT, 3000000);
    check_ok(writer.status, &error);
    check_ok(firn_buffer_reserve(&bytes, 3000000, &error), &error);
    memset(bytes.data + bytes.size, 0, 3000000);
    bytes.size += 3000000;
    check_fails(firn_parquet_parse_file_metadata(firn_buffer_slice(&bytes), "test.parquet", arena,
                                                 &metadata, &error),
                FIRN_LIMIT, &error, NULL);
    firn_buffer_release(&bytes);
    firn_arena_free(arena);
}

static void keeps_page_headers(void **state) {
    (void)state;
    const firn_parquet_page_header headers[] = {
        {.type = FIRN_PARQUET_DATA_PAGE,
         .uncompressed_size = INT32_MAX,
         .compressed_size = 1,
         .has_crc = true,
         .crc = 0xDEADBEEF,
         .num_values = 5,
         .encoding = FIRN_PARQUET_BYTE_STREAM_SPLIT,
         .definition_level_encoding = FIRN_PARQUET_RLE,
         .repetition_level_encoding = FIRN_PARQUET_BIT_PACKED,
         .is_compressed = true},
        {.type = FIRN_PARQUET_DICTIONARY_PAGE,
         .num_values = 5,
         .encoding = FIRN_PARQUET_PLAIN,
         .is_sorted = true,
         .is_compressed = true},
        {.type = FIRN_PARQUET_DATA_PAGE_V2,
         .uncompressed_size = 100,
         .compressed_size = 90,
         .num_values = 5,
         .num_nulls = 1,
         .num_rows = 3,
         .definition_levels_size = 4,
         .repetition_levels_size = 6,
         .statistics = {.has_null_count = true,
                        .null_count = 1,
                        .min_value = firn_slice_text("a"),
                        .max_value = firn_slice_text(""),
                        .has_max_exact = true,
                        .max_exact = false}},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        firn_error error = {0};
        firn_buffer bytes = firn_buffer_with_maximum(4096);
        firn_parquet_page_header again = {0};
        size_t consumed = 0;
        check_ok(firn_parquet_write_page_header(&headers[i], &bytes, &error), &error);
        check_ok(firn_parquet_parse_page_header(firn_buffer_slice(&bytes), "test.parquet", &again,
                                                &consumed, &error),
                 &error);
        assert_int_equal(consumed, bytes.size);
        assert_int_equal(again.type, headers[i].type);
        assert_int_equal(again.uncompressed_size, headers[i].uncompressed_size);
        assert_int_equal(again.has_crc, headers[i].has_crc);
        assert_int_equal(again.crc, headers[i].crc);
        assert_int_equal(again.encoding, headers[i].encoding);
        assert_int_equal(again.repetition_level_encoding, headers[i].repetition_level_encoding);
        assert_int_equal(again.is_compressed, headers[i].is_compressed);
        assert_int_equal(again.is_sorted, headers[i].is_sorted);
        assert_int_equal(again.num_nulls, headers[i].num_nulls);
        assert_int_equal(again.num_rows, headers[i].num_rows);
        assert_int_equal(again.repetition_levels_size, headers[i].repetition_levels_size);
        bool has_bounds = headers[i].statistics.min_value.data != NULL;
        assert_int_equal(again.statistics.min_value.data != NULL, has_bounds);
        /* An empty bound is a bound. */
        assert_int_equal(again.statistics.max_value.data != NULL, has_bounds);
        firn_buffer_release(&bytes);
    }
}

static void keeps_page_indexes(void **state) {
    (void)state;
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    firn_buffer bytes = firn_buffer_with_maximum(4096);
    const firn_parquet_page_location locations[] = {{4, 10, 0}, {14, 20, INT64_MAX}};
    const firn_parquet_offset_index offsets = {locations, 2, (const int64_t[]){5, 6}};
    firn_parquet_offset_index offsets_again;
    check_ok(firn_parquet_write_offset_index(&offsets, &bytes, &error), &error);
    check_ok(firn_parquet_parse_offset_index(firn_buffer_slice(&bytes), "test.parquet", arena,
                                             &offsets_again, &error),
             &error);
    assert_int_equal(offsets_again.page_count, 2);
    assert_int_equal(offsets_again.pages[1].first_row_index, INT64_MAX);
    assert_int_equal(offsets_again.unencoded_byte_array_bytes[1], 6);
    const firn_slice minima[] = {firn_slice_text("a"), {0}};
    const firn_slice maxima[] = {firn_slice_text("b"), {0}};
    const firn_parquet_column_index columns = {.null_pages = (const bool[]){false, true},
                                               .min_values = minima,
                                               .max_values = maxima,
                                               .page_count = 2,
                                               .boundary_order = FIRN_PARQUET_DESCENDING,
                                               .null_counts = (const int64_t[]){0, 9}};
    firn_parquet_column_index columns_again;
    firn_buffer_clear(&bytes);
    check_ok(firn_parquet_write_column_index(&columns, &bytes, &error), &error);
    check_ok(firn_parquet_parse_column_index(firn_buffer_slice(&bytes), "test.parquet", arena,
                                             &columns_again, &error),
             &error);
    assert_false(columns_again.null_pages[0]);
    assert_true(columns_again.null_pages[1]);
    assert_int_equal(columns_again.boundary_order, FIRN_PARQUET_DESCENDING);
    assert_true(firn_slice_equal(columns_again.max_values[0], maxima[0]));
    assert_int_equal(columns_again.null_counts[1], 9);
    assert_null(columns_again.definition_level_histograms);
    firn_buffer_release(&bytes);
    firn_arena_free(arena);
}

static firn_status build(const firn_parquet_schema_element *elements, size_t count,
                         firn_arena *arena, const firn_parquet_schema **out, firn_error *error) {
    return firn_parquet_schema_build(elements, count, "test.parquet", arena, out, error);
}

static void counts_levels(void **state) {
    (void)state;
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    const firn_parquet_schema *schema = NULL;
    /* root { a; b (list) { repeated list { element; empty {} } } ; c } */
    const firn_parquet_schema_element elements[] = {
        {.name = "root", .num_children = 3},    leaf("a", FIRN_PARQUET_REQUIRED),
        group("b", FIRN_PARQUET_OPTIONAL, 1),   group("list", FIRN_PARQUET_REPEATED, 2),
        leaf("element", FIRN_PARQUET_OPTIONAL), group("empty", FIRN_PARQUET_REQUIRED, 0),
        leaf("c", FIRN_PARQUET_REPEATED),
    };
    check_ok(build(elements, 7, arena, &schema, &error), &error);
    assert_int_equal(schema->leaf_count, 3);
    assert_int_equal(schema->root->child_count, 3);
    assert_int_equal(schema->root->leaf_count, 3);
    const firn_parquet_leaf *element = &schema->leaves[1];
    assert_string_equal(element->dotted_path, "b.list.element");
    assert_int_equal(element->path_length, 3);
    assert_int_equal(element->maximum_definition_level, 3);
    assert_int_equal(element->maximum_repetition_level, 1);
    assert_int_equal(element->path[1]->definition_level, 2);
    assert_int_equal(element->path[1]->first_leaf, 1);
    assert_int_equal(element->path[1]->leaf_count, 1);
    assert_ptr_equal(element->path[2], element->node);
    assert_ptr_equal(element->node->parent, element->path[1]);
    assert_int_equal(element->path[1]->children[1]->leaf_count, 0);
    assert_int_equal(schema->leaves[0].maximum_definition_level, 0);
    assert_int_equal(schema->leaves[2].maximum_definition_level, 1);
    assert_int_equal(schema->leaves[2].maximum_repetition_level, 1);
    assert_int_equal(schema->leaves[2].index, 2);
    firn_arena_free(arena);
}

static void refuses_schemas_that_are_no_trees(void **state) {
    (void)state;
    firn_parquet_schema_element fixed = leaf("f", FIRN_PARQUET_REQUIRED);
    fixed.type = FIRN_PARQUET_FIXED_LEN_BYTE_ARRAY;
    firn_parquet_schema_element unrepeated = leaf("u", FIRN_PARQUET_REQUIRED);
    unrepeated.has_repetition = false;
    firn_parquet_schema_element both = leaf("b", FIRN_PARQUET_REQUIRED);
    both.num_children = 1;
    const struct {
        firn_parquet_schema_element elements[3];
        size_t count;
        const char *message;
    } cases[] = {
        {{{.name = "root"}}, 0, "ends before"},
        {{{.name = "root", .num_children = 2}, leaf("a", 0)}, 2, "more children"},
        {{{.name = "root", .num_children = 1}, leaf("a", 0), leaf("b", 0)}, 3, "after its tree"},
        {{{.name = "root", .num_children = -1}}, 1, "negative"},
        {{{.name = "root", .num_children = INT32_MAX}}, 1, "more children"},
        {{{.name = "root", .num_children = 1}, fixed}, 2, "type_length"},
        {{{.name = "root", .num_children = 1}, unrepeated}, 2, "repetition_type"},
        {{{.name = "root", .num_children = 1}, both, leaf("a", 0)}, 3, "physical type"},
        {{leaf("root", 0)}, 1, "physical type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_error error = {0};
        firn_arena *arena = firn_arena_new();
        const firn_parquet_schema *schema = NULL;
        check_fails(build(cases[i].elements, cases[i].count, arena, &schema, &error), FIRN_CORRUPT,
                    &error, cases[i].message);
        firn_arena_free(arena);
    }
}

static void limits_depth_and_size(void **state) {
    (void)state;
    enum { COUNT = 120000 };
    firn_error error = {0};
    const firn_parquet_schema *schema = NULL;
    firn_parquet_schema_element *elements = test_calloc(COUNT, sizeof *elements);
    elements[0] = (firn_parquet_schema_element){.name = "root", .num_children = 1};
    for (int depth = 249; depth <= 251; depth++) {
        for (int i = 1; i < depth; i++) elements[i] = group("g", FIRN_PARQUET_REPEATED, 1);
        elements[depth] = leaf("x", FIRN_PARQUET_REPEATED);
        firn_arena *arena = firn_arena_new();
        firn_status status = build(elements, (size_t)depth + 1, arena, &schema, &error);
        if (depth <= FIRN_PARQUET_MAX_LEVEL) {
            check_ok(status, &error);
            assert_int_equal(schema->leaves[0].maximum_repetition_level, depth);
        } else {
            check_fails(status, FIRN_LIMIT, &error, "250 levels");
        }
        firn_arena_free(arena);
    }
    /* Many leaves below a long path would multiply. */
    for (int i = 1; i < 249; i++) elements[i] = group("a long name in each", 0, 1);
    elements[248].num_children = 99000;
    for (int i = 249; i < 249 + 99000; i++) elements[i] = leaf("x", 0);
    firn_arena *arena = firn_arena_new();
    check_fails(build(elements, 249 + 99000, arena, &schema, &error), FIRN_LIMIT, &error, "paths");
    check_fails(build(elements, COUNT, arena, &schema, &error), FIRN_LIMIT, &error, "100000");
    firn_arena_free(arena);
    test_free(elements);
}

/* A plaintext footer whose only column is encrypted with a key of its own: there is no meta_data. */
static void refuses_encrypted_columns_by_name(void **state) {
    (void)state;
    firn_error error = {0};
    firn_buffer bytes = firn_buffer_with_maximum(4096);
    check_ok(firn_buffer_append_text(&bytes, "PAR1", &error), &error);
    firn_thrift_writer writer = firn_thrift_writer_of(&bytes, &error);
    firn_thrift_write_i32(&writer, 1, 1);
    firn_thrift_write_list(&writer, 2, FIRN_THRIFT_STRUCT, 2);
    firn_thrift_write_item_struct(&writer);
    firn_thrift_write_text(&writer, 4, "root");
    firn_thrift_write_i32(&writer, 5, 1);
    firn_thrift_write_end(&writer);
    firn_thrift_write_item_struct(&writer);
    firn_thrift_write_i32(&writer, 1, FIRN_PARQUET_INT64);
    firn_thrift_write_i32(&writer, 3, FIRN_PARQUET_REQUIRED);
    firn_thrift_write_text(&writer, 4, "secret");
    firn_thrift_write_end(&writer);
    firn_thrift_write_i64(&writer, 3, 5);
    firn_thrift_write_list(&writer, 4, FIRN_THRIFT_STRUCT, 1);
    firn_thrift_write_item_struct(&writer);
    firn_thrift_write_list(&writer, 1, FIRN_THRIFT_STRUCT, 1);
    firn_thrift_write_item_struct(&writer);
    firn_thrift_write_i64(&writer, 2, 4);
    firn_thrift_write_struct(&writer, 8);
    firn_thrift_write_empty(&writer, 2);
    firn_thrift_write_end(&writer);
    firn_thrift_write_text(&writer, 9, "sealed");
    firn_thrift_write_end(&writer);
    firn_thrift_write_i64(&writer, 2, 0);
    firn_thrift_write_i64(&writer, 3, 5);
    firn_thrift_write_end(&writer);
    firn_thrift_write_struct(&writer, 8);
    firn_thrift_write_empty(&writer, 1);
    firn_thrift_write_end(&writer);
    firn_thrift_write_end(&writer);
    check_ok(writer.status, &error);
    uint32_t length = (uint32_t)bytes.size - 4;
    check_ok(firn_buffer_append(&bytes, &length, 4, &error), &error);
    check_ok(firn_buffer_append_text(&bytes, "PAR1", &error), &error);
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "some.parquet");
    firn_parquet_file *file = NULL;
    firn_parquet_chunk_reader *reader = NULL;
    check_ok(firn_parquet_file_open(&source, &file, &error), &error);
    assert_true(file->metadata->encrypted);
    check_fails(firn_parquet_chunk_supported(file, 0, 0, &error), FIRN_UNSUPPORTED, &error,
                "column secret is encrypted");
    check_fails(firn_parquet_chunk_reader_open(file, 0, 0, &reader, &error), FIRN_UNSUPPORTED,
                &error, "column secret is encrypted");
    firn_parquet_file_close(file);
    firn_buffer_release(&bytes);
}

static void expect_no_file(firn_slice bytes, firn_status code, const char *part) {
    firn_error error = {0};
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at source = firn_read_at_memory(&memory, "some.parquet");
    firn_parquet_file *file = NULL;
    check_fails(firn_parquet_file_open(&source, &file, &error), code, &error, part);
    assert_non_null(strstr(error.message, "some.parquet"));
}

static void refuses_what_is_no_parquet(void **state) {
    (void)state;
    expect_no_file(firn_slice_text(""), FIRN_CORRUPT, "0 bytes");
    expect_no_file(firn_slice_text("PAR1PAR1"), FIRN_CORRUPT, "8 bytes");
    expect_no_file(firn_slice_text("PAR1....PAR2"), FIRN_CORRUPT, "cut short");
    expect_no_file(firn_slice_text("PARE....PARE"), FIRN_UNSUPPORTED, "encrypted");
    expect_no_file(firn_slice_of("PAR1\377\377\377\377PAR1", 12), FIRN_CORRUPT,
                   "longer than the file");
    expect_no_file(firn_slice_of("PAR1\1\0\0\0PAR1", 12), FIRN_CORRUPT, "longer than the file");
    expect_no_file(firn_slice_of("PAR1\0\0\0\0PAR1", 12), FIRN_CORRUPT, "ends too early");
    expect_no_file(firn_slice_of("PAR1\0\1\0\0\0PAR1", 13), FIRN_CORRUPT, "FileMetaData.version");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_annotations),
        cmocka_unit_test(maps_converted_types),
        cmocka_unit_test(skips_unknown_fields),
        cmocka_unit_test(refuses_deep_nesting_and_long_lists),
        cmocka_unit_test(keeps_page_headers),
        cmocka_unit_test(keeps_page_indexes),
        cmocka_unit_test(counts_levels),
        cmocka_unit_test(refuses_schemas_that_are_no_trees),
        cmocka_unit_test(limits_depth_and_size),
        cmocka_unit_test(refuses_encrypted_columns_by_name),
        cmocka_unit_test(refuses_what_is_no_parquet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
