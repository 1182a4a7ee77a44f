/* Which columns get metrics, what chunks add up to, and bounds in the single-value form. */
#include "base/bytes.h"
#include "data/bound_text.h"
#include "data/fixture.h"
#include "data/metrics.h"
#include "data/projection.h"

#define FIELD(id, name, type)                                                                      \
    "{\"id\": " #id ", \"name\": \"" name "\", \"required\": false, \"type\": " type "}"
#define SCHEMA                                                                                     \
    "[" FIELD(1, "a", "\"long\"") "," FIELD(2, "s", "\"string\"") "," FIELD(                       \
        3, "st",                                                                                   \
        "{\"type\": \"struct\", \"fields\": [" FIELD(                                              \
            4, "x",                                                                                \
            "\"double\"") "]}") "," FIELD(5, "li",                                                 \
                                          "{\"type\": \"list\", \"element-id\": 6, "               \
                                          "\"element-required\": false, "                          \
                                          "\"element\": \"int\"}") "," FIELD(7, "d",               \
                                                                             "\"decimal(20, "      \
                                                                             "2)\"") "]"

static const int32_t ids[] = {1, 2, 4, 6, 7};
#define LEAVES (sizeof ids / sizeof *ids)

static void modes_of(const fixture *pieces, firn_metrics_mode *modes) {
    firn_error error = {0};
    firn_table_metadata *metadata = fixture_metadata(pieces);
    check_ok(firn_metrics_modes(metadata, metadata->schema, ids, LEAVES, modes, &error), &error);
    firn_table_metadata_free(metadata);
}

static void check_mode(firn_metrics_mode mode, firn_metrics_kind kind, int32_t length) {
    assert_int_equal(mode.kind, kind);
    if (kind == FIRN_METRICS_TRUNCATE) assert_int_equal(mode.truncate_length, length);
}

static void modes(void **state) {
    (void)state;
    firn_metrics_mode modes[LEAVES];
    fixture plain = {.schema = SCHEMA};
    modes_of(&plain, modes);
    check_mode(modes[0], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[2], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[3], FIRN_METRICS_COUNTS, 0);
    fixture set = {.schema = SCHEMA,
                   .properties = "{\"write.metadata.metrics.default\": \"counts\","
                                 "\"write.metadata.metrics.column.s\": \"Truncate(4)\","
                                 "\"write.metadata.metrics.column.st.x\": \"full\","
                                 "\"write.metadata.metrics.column.d\": \"nonsense\","
                                 "\"write.metadata.metrics.column.li.element\": \"none\"}",
                   .sort_fields = "[{\"transform\": \"identity\", \"source-id\": 1, "
                                  "\"direction\": \"asc\", \"null-order\": \"nulls-first\"}]"};
    modes_of(&set, modes);
    check_mode(modes[0], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[1], FIRN_METRICS_TRUNCATE, 4);
    check_mode(modes[2], FIRN_METRICS_FULL, 0);
    check_mode(modes[3], FIRN_METRICS_NONE, 0);
    check_mode(modes[4], FIRN_METRICS_COUNTS, 0);
    /* Of columns without statistics nothing is told that statistics would tell, whatever mode or sort order ask for. */
    set.properties = "{\"write.metadata.metrics.column.s\": \"full\","
                     "\"write.metadata.metrics.column.d\": \"none\","
                     "\"write.parquet.stats-enabled.column.a\": \"false\","
                     "\"write.parquet.stats-enabled.column.s\": \"False\","
                     "\"write.parquet.stats-enabled.column.st.x\": \"true\","
                     "\"write.parquet.stats-enabled.column.li.element\": \"false\","
                     "\"write.parquet.stats-enabled.column.d\": \"false\"}";
    modes_of(&set, modes);
    check_mode(modes[0], FIRN_METRICS_SIZES, 0);
    check_mode(modes[1], FIRN_METRICS_SIZES, 0);
    check_mode(modes[2], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[3], FIRN_METRICS_SIZES, 0);
    check_mode(modes[4], FIRN_METRICS_NONE, 0);
    /* Above the limit, a struct's own columns come before nested ones. */
    fixture limited = {.schema = SCHEMA,
                       .properties =
                           "{\"write.metadata.metrics.max-inferred-column-defaults\": \"3\"}"};
    modes_of(&limited, modes);
    check_mode(modes[0], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[1], FIRN_METRICS_TRUNCATE, 16);
    check_mode(modes[2], FIRN_METRICS_NONE, 0);
    check_mode(modes[3], FIRN_METRICS_NONE, 0);
    check_mode(modes[4], FIRN_METRICS_TRUNCATE, 16);
}

/* Totals of one leaf after chunks with these bounds; data NULL: none. */
typedef struct chunk_facts {
    int64_t levels, nulls, nans;
    firn_slice minimum, maximum;
} chunk_facts;

static void add(firn_leaf_totals *totals, const firn_parquet_leaf *leaf, chunk_facts facts) {
    firn_error error = {0};
    firn_parquet_chunk chunk = {0};
    chunk.metadata.total_compressed_size = 100;
    chunk.counts.level_count = facts.levels;
    chunk.counts.null_count = facts.nulls;
    chunk.counts.nan_count = facts.nans;
    chunk.counts.minimum = facts.minimum;
    chunk.counts.maximum = facts.maximum;
    check_ok(firn_leaf_totals_add(totals, leaf, &chunk, &error), &error);
}

typedef struct metric_world {
    firn_table_metadata *metadata;
    firn_arena *arena;
    const firn_parquet_schema *output;
    firn_leaf_totals totals[LEAVES];
    firn_metrics_mode modes[LEAVES];
    firn_data_file file;
} metric_world;

static void begin(metric_world *world, const char *properties) {
    firn_error error = {0};
    *world = (metric_world){0};
    fixture pieces = {.schema = SCHEMA, .properties = properties};
    world->metadata = fixture_metadata(&pieces);
    world->arena = firn_arena_new();
    const firn_parquet_schema_element *elements = NULL;
    size_t count = 0;
    check_ok(firn_parquet_elements_of_schema(world->metadata->schema, world->arena, &elements,
                                             &count, &error),
             &error);
    check_ok(firn_parquet_schema_build(elements, count, "t", world->arena, &world->output, &error),
             &error);
    assert_int_equal(world->output->leaf_count, LEAVES);
    for (size_t i = 0; i < LEAVES; i++) firn_leaf_totals_init(&world->totals[i]);
    check_ok(firn_metrics_modes(world->metadata, world->metadata->schema, ids, LEAVES, world->modes,
                                &error),
             &error);
}

static void fill(metric_world *world) {
    firn_error error = {0};
    check_ok(firn_metrics_fill(world->metadata->schema, ids, world->modes, world->totals, LEAVES,
                               world->arena, &world->file, &error),
             &error);
}

static void end(metric_world *world) {
    for (size_t i = 0; i < LEAVES; i++) firn_leaf_totals_release(&world->totals[i]);
    firn_arena_free(world->arena);
    firn_table_metadata_free(world->metadata);
}

static void check_bound(const firn_bound_map *map, int32_t id, const char *hex) {
    firn_slice bound = {NULL, 0};
    bool found = firn_bound_map_get(map, id, &bound);
    if (hex == NULL) {
        assert_false(found);
        return;
    }
    assert_true(found);
    char text[200] = "";
    for (size_t i = 0; i < bound.size && i < 90; i++) sprintf(text + 2 * i, "%02x", bound.data[i]);
    assert_string_equal(text, hex);
}

static void sums_and_bounds(void **state) {
    (void)state;
    metric_world w;
    begin(&w, "{}");
    uint8_t one[8], seven[8], nine[8];
    firn_store_le64(one, (uint64_t)INT64_C(-1));
    firn_store_le64(seven, 7);
    firn_store_le64(nine, 9);
    const firn_parquet_leaf *leaves = w.output->leaves;
    add(&w.totals[0], &leaves[0],
        (chunk_facts){10, 2, 0, firn_slice_of(one, 8), firn_slice_of(seven, 8)});
    add(&w.totals[0], &leaves[0],
        (chunk_facts){5, 0, 0, firn_slice_of(seven, 8), firn_slice_of(nine, 8)});
    add(&w.totals[0], &leaves[0], (chunk_facts){3, 3, 0, {NULL, 0}, {NULL, 0}});
    add(&w.totals[1], &leaves[1],
        (chunk_facts){4, 0, 0, firn_slice_text("abcdefghijklmnopqrst"),
                      firn_slice_text("zzzzzzzzzzzzzzzzzzzz")});
    /* Only NaN: a chunk without bounds takes nothing from the others. */
    uint8_t number[8];
    firn_store_le64(number, firn_bits_of_double(1.5));
    add(&w.totals[2], &leaves[2], (chunk_facts){3, 1, 2, {NULL, 0}, {NULL, 0}});
    add(&w.totals[2], &leaves[2],
        (chunk_facts){1, 0, 0, firn_slice_of(number, 8), firn_slice_of(number, 8)});
    add(&w.totals[3], &leaves[3], (chunk_facts){6, 1, 0, {NULL, 0}, {NULL, 0}});
    /* -996953 in nine bytes becomes three. */
    const uint8_t decimal[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0, 0xc9, 0xa7};
    const uint8_t small[] = {0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    add(&w.totals[4], &leaves[4],
        (chunk_facts){2, 0, 0, firn_slice_of(decimal, 9), firn_slice_of(small, 9)});
    fill(&w);
    assert_int_equal(firn_count_map_get(&w.file.column_sizes, 1), 300);
    assert_int_equal(firn_count_map_get(&w.file.value_counts, 1), 18);
    assert_int_equal(firn_count_map_get(&w.file.null_value_counts, 1), 5);
    assert_int_equal(firn_count_map_get(&w.file.nan_value_counts, 1), -1);
    assert_int_equal(firn_count_map_get(&w.file.nan_value_counts, 4), 2);
    assert_int_equal(firn_count_map_get(&w.file.value_counts, 6), 6);
    check_bound(&w.file.lower_bounds, 1, "ffffffffffffffff");
    check_bound(&w.file.upper_bounds, 1, "0900000000000000");
    check_bound(&w.file.lower_bounds, 2, "6162636465666768696a6b6c6d6e6f70");
    check_bound(&w.file.upper_bounds, 2, "7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7b");
    check_bound(&w.file.lower_bounds, 4, "000000000000f83f");
    check_bound(&w.file.lower_bounds, 6, NULL);
    check_bound(&w.file.lower_bounds, 7, "f0c9a7");
    check_bound(&w.file.upper_bounds, 7, "0080");
    end(&w);
}

static void unknown_bounds(void **state) {
    (void)state;
    metric_world w;
    begin(&w, "{\"write.metadata.metrics.column.a\": \"none\"}");
    uint8_t number[8];
    firn_store_le64(number, firn_bits_of_double(1.5));
    const firn_parquet_leaf *leaves = w.output->leaves;
    add(&w.totals[2], &leaves[2],
        (chunk_facts){1, 0, -1, firn_slice_of(number, 8), firn_slice_of(number, 8)});
    add(&w.totals[2], &leaves[2], (chunk_facts){1, 0, 0, {NULL, 0}, {NULL, 0}});
    fill(&w);
    assert_int_equal(firn_count_map_get(&w.file.value_counts, 4), 2);
    assert_int_equal(firn_count_map_get(&w.file.nan_value_counts, 4), -1);
    check_bound(&w.file.lower_bounds, 4, NULL);
    assert_int_equal(firn_count_map_get(&w.file.value_counts, 1), -1);
    assert_int_equal(firn_count_map_get(&w.file.column_sizes, 1), -1);
    end(&w);
}

/* Bytes and values are counted, nothing more, even where chunks tell it. */
static void sizes_only(void **state) {
    (void)state;
    metric_world w;
    begin(&w, "{\"write.parquet.stats-enabled.column.st.x\": \"false\"}");
    uint8_t number[8];
    firn_store_le64(number, firn_bits_of_double(1.5));
    add(&w.totals[2], &w.output->leaves[2],
        (chunk_facts){3, 1, 0, firn_slice_of(number, 8), firn_slice_of(number, 8)});
    fill(&w);
    assert_int_equal(firn_count_map_get(&w.file.column_sizes, 4), 100);
    assert_int_equal(firn_count_map_get(&w.file.value_counts, 4), 3);
    assert_int_equal(firn_count_map_get(&w.file.null_value_counts, 4), -1);
    assert_int_equal(firn_count_map_get(&w.file.nan_value_counts, 4), -1);
    check_bound(&w.file.lower_bounds, 4, NULL);
    check_bound(&w.file.upper_bounds, 4, NULL);
    end(&w);
}

static void check_up(firn_type_kind kind, const char *text, int32_t length, const char *expected) {
    firn_error error = {0};
    firn_arena *arena = firn_arena_new();
    firn_value value = {.kind = kind, .as.bytes = firn_slice_text(text)};
    bool exists = false;
    check_ok(firn_bound_truncate_up(&value, length, arena, &exists, &error), &error);
    assert_int_equal(exists, expected != NULL);
    if (expected != NULL) {
        assert_int_equal(value.as.bytes.size, strlen(expected));
        assert_memory_equal(value.as.bytes.data, expected, strlen(expected));
    }
    firn_arena_free(arena);
}

static void truncation(void **state) {
    (void)state;
    check_up(FIRN_TYPE_STRING, "abc", 3, "abc");
    check_up(FIRN_TYPE_STRING, "abcd", 3, "abd");
    check_up(FIRN_TYPE_STRING, "ab\x7f", 2, "ac");
    check_up(FIRN_TYPE_STRING, "a\x7fz", 2, "a\xc2\x80");
    check_up(FIRN_TYPE_STRING, "\xc3\xa9\xc3\xa9z", 2, "\xc3\xa9\xc3\xaa");
    /* U+D7FF is followed by U+E000, U+10FFFF by nothing. */
    check_up(FIRN_TYPE_STRING, "\xed\x9f\xbfz", 1, "\xee\x80\x80");
    check_up(FIRN_TYPE_STRING, "a\xf4\x8f\xbf\xbfz", 2, "b");
    check_up(FIRN_TYPE_STRING, "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbfz", 2, NULL);
    check_up(FIRN_TYPE_BINARY, "a\xff\xff\xff", 3, "b");
    check_up(FIRN_TYPE_BINARY, "\xff\xff\xff", 2, NULL);
    check_up(FIRN_TYPE_BINARY, "\xff\xff", 2, "\xff\xff");
    firn_value value = {.kind = FIRN_TYPE_STRING, .as.bytes = firn_slice_text("\xc3\xa9z!")};
    firn_bound_truncate(&value, 1);
    assert_int_equal(value.as.bytes.size, 2);
    value.as.bytes = firn_slice_text("a\xc3");
    assert_false(firn_bound_is_usable(&value));
    value.as.bytes = firn_slice_text("\xed\xa0\x80");
    assert_false(firn_bound_is_usable(&value));
    value.as.bytes = firn_slice_text("\xc0\xaf");
    assert_false(firn_bound_is_usable(&value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes),          cmocka_unit_test(sums_and_bounds),
        cmocka_unit_test(unknown_bounds), cmocka_unit_test(sizes_only),
        cmocka_unit_test(truncation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
