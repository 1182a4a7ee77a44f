/* The verdict on random files, whatever their statistics, is that of looking at every value. */
#include <math.h>

#include "base/bytes.h"
#include "iceberg/decimal.h"
#include "lake/partition_kit.h"

#define MOST_ROWS 8
#define MOST_GROUPS 3

typedef struct type_case {
    const char *file_schema; /**< of one optional leaf */
    const char *type;        /**< Iceberg's */
    const char *transforms[5];
    int64_t factor;  /**< number in the file times this is the table's, 0: not a foreign unit */
    int64_t divisor; /**< likewise: floor division */
    bool is_int96, narrow; /**< narrow: int32 for a long */
} type_case;

static const type_case cases[] = {
    {"optional boolean c = 1;", "boolean", {"identity"}, 0, 0, false, false},
    {"optional int32 c = 1;", "int", {"identity", "truncate[12]", "bucket[4]"}, 0, 0, false, false},
    {"optional int64 c = 1;",
     "long",
     {"identity", "truncate[10]", "bucket[3]"},
     0,
     0,
     false,
     false},
    {"optional int32 c = 1;", "long", {"identity", "truncate[10]", "bucket[3]"}, 1, 0, false, true},
    {"optional float c = 1;", "float", {"identity"}, 0, 0, false, false},
    {"optional double c = 1;", "double", {"identity"}, 0, 0, false, false},
    {"optional int32 c (DECIMAL(7,2)) = 1;",
     "decimal(7, 2)",
     {"identity", "truncate[50]", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional int64 c (DECIMAL(15,2)) = 1;",
     "decimal(15, 2)",
     {"identity", "truncate[50]", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional fixed(16) c (DECIMAL(38,2)) = 1;",
     "decimal(38, 2)",
     {"identity", "truncate[50]", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional int32 c (DATE) = 1;",
     "date",
     {"identity", "year", "month", "day", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional int64 c (TIME(MICROS,true)) = 1;",
     "time",
     {"identity", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional int64 c (TIMESTAMP(MICROS,false)) = 1;",
     "timestamp",
     {"identity", "year", "month", "day", "hour"},
     0,
     0,
     false,
     false},
    {"optional int64 c (TIMESTAMP(MILLIS,true)) = 1;",
     "timestamptz",
     {"identity", "year", "month", "day", "hour"},
     1000,
     0,
     false,
     false},
    {"optional int64 c (TIMESTAMP(NANOS,false)) = 1;",
     "timestamp",
     {"identity", "bucket[5]", "month", "day", "hour"},
     0,
     1000,
     false,
     false},
    {"optional int64 c (TIMESTAMP(NANOS,true)) = 1;",
     "timestamptz_ns",
     {"identity", "year", "bucket[5]", "day", "hour"},
     0,
     0,
     false,
     false},
    {"optional int96 c = 1;",
     "timestamp",
     {"identity", "year", "month", "day", "hour"},
     0,
     0,
     true,
     false},
    {"optional int32 c (DATE) = 1;",
     "timestamp",
     {"identity", "year", "month", "day", "hour"},
     INT64_C(86400000000),
     0,
     false,
     true},
    {"optional int32 c (TIME(MILLIS,true)) = 1;",
     "time",
     {"identity", "bucket[4]"},
     1000,
     0,
     false,
     true},
    {"optional int32 c (DECIMAL(7,2)) = 1;",
     "decimal(15, 2)",
     {"identity", "truncate[50]", "bucket[4]"},
     1,
     0,
     false,
     true},
    {"optional binary c (STRING) = 1;",
     "string",
     {"identity", "truncate[2]", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional binary c = 1;",
     "binary",
     {"identity", "truncate[2]", "bucket[4]"},
     0,
     0,
     false,
     false},
    {"optional fixed(16) c (UUID) = 1;", "uuid", {"identity", "bucket[4]"}, 0, 0, false, false},
    {"optional fixed(5) c = 1;", "fixed[5]", {"identity", "bucket[4]"}, 0, 0, false, false},
};

/* A value of the table, and the file's form of it. */
typedef struct drawn {
    firn_value value;
    firn_slice raw;
} drawn;

static int64_t near(test_generator *random, int64_t base, int64_t spread) {
    return base + (int64_t)test_generator_below(random, (uint64_t)spread);
}

static firn_slice keep(kit *k, const void *data, size_t size) {
    return firn_slice_of(firn_arena_memdup(k->arena, data, size), size);
}

static firn_slice draw_text(kit *k, test_generator *random) {
    static const char letters[] = "aab /=%+\xC3\xA9";
    char text[100];
    size_t length = test_generator_below(random, 10) == 0 ? 70 + test_generator_below(random, 20)
                                                          : test_generator_below(random, 4);
    size_t used = 0;
    for (size_t i = 0; i < length && used + 2 < sizeof text; i++) {
        size_t pick = test_generator_below(random, 9);
        text[used++] = letters[pick];
        if (pick == 8) text[used++] = letters[9];
    }
    return keep(k, text, used);
}

static double draw_double(test_generator *random) {
    static const double odd[] = {0.0, -0.0, 1.5, -1.5, INFINITY};
    uint64_t pick = test_generator_below(random, 6);
    return pick == 5 ? (double)NAN : odd[pick];
}

/* Noon-based days are no matter: a Julian day and nanoseconds within it. */
static drawn draw_int96(kit *k, test_generator *random, int64_t base) {
    uint8_t bytes[12];
    int64_t day = near(random, base, 2);
    int64_t nanos = (int64_t)test_generator_below(random, 3) * 3600 * INT64_C(1000000000) + 999;
    firn_store_le64(bytes, (uint64_t)nanos);
    firn_store_le32(bytes + 8, (uint32_t)(day + 2440588));
    drawn d = {.value = {.kind = FIRN_TYPE_TIMESTAMP}, .raw = keep(k, bytes, 12)};
    d.value.as.int64 = day * INT64_C(86400000000) + nanos / 1000;
    return d;
}

static int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static firn_slice draw_bytes(kit *k, test_generator *random, size_t size) {
    uint8_t bytes[16];
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)test_generator_below(random, 2);
    return keep(k, bytes, size);
}

static void draw_number(const type_case *c, kit *k, const firn_type *type, test_generator *random,
                        int64_t base, drawn *d) {
    static const int64_t spreads[] = {1, 3, 20, 4000};
    int64_t spread = spreads[test_generator_below(random, 4)];
    bool is_time = type->kind >= FIRN_TYPE_TIME && type->kind <= FIRN_TYPE_TIMESTAMPTZ_NS;
    int64_t number = near(random, base, spread);
    if (is_time && !c->narrow) number *= c->factor == 1000 ? 600000 : 600000000;
    if (type->kind == FIRN_TYPE_TIME)
        number = (number < 0 ? -number : number) % INT64_C(86400000000);
    if (c->divisor != 0) number = number * 1000 - 1;
    int64_t table = c->factor != 0    ? number * c->factor
                    : c->divisor != 0 ? floor_div(number, c->divisor)
                                      : number;
    if (type->kind == FIRN_TYPE_INT || type->kind == FIRN_TYPE_DATE) {
        d->value.as.int32 = (int32_t)table;
    } else if (type->kind == FIRN_TYPE_DECIMAL) {
        d->value.as.decimal = table;
    } else {
        d->value.as.int64 = table;
    }
    if (c->factor != 0 || c->divisor != 0) d->raw = keep(k, &number, c->narrow ? 4 : 8);
}

static drawn draw(const type_case *c, kit *k, const firn_type *type, test_generator *random,
                  int64_t base) {
    drawn d = {.value = {.kind = type->kind}};
    if (c->is_int96) return draw_int96(k, random, base);
    switch (type->kind) {
    case FIRN_TYPE_BOOLEAN: d.value.as.boolean = test_generator_below(random, 2) == 1; break;
    case FIRN_TYPE_FLOAT: d.value.as.float32 = (float)draw_double(random); break;
    case FIRN_TYPE_DOUBLE: d.value.as.float64 = draw_double(random); break;
    case FIRN_TYPE_STRING: d.value.as.bytes = draw_text(k, random); break;
    case FIRN_TYPE_BINARY:
        d.value.as.bytes = draw_bytes(k, random, test_generator_below(random, 5));
        break;
    case FIRN_TYPE_UUID: d.value.as.bytes = draw_bytes(k, random, 16); break;
    case FIRN_TYPE_FIXED: d.value.as.bytes = draw_bytes(k, random, 5); break;
    default: draw_number(c, k, type, random, base, &d);
    }
    if (d.raw.data == NULL) {
        check_ok(firn_plain_from_value(type, &d.value, k->arena, &d.raw, &k->error), &k->error);
    }
    return d;
}

/* Statistics as other writers leave them: without, of few chunks, inexact. */
static void strip(void *context, size_t group, size_t leaf, firn_parquet_column_chunk *chunk,
                  firn_arena *arena) {
    (void)group;
    (void)leaf;
    (void)arena;
    test_generator *random = context;
    firn_parquet_statistics *statistics = &chunk->statistics;
    switch (test_generator_below(random, 8)) {
    case 0: *statistics = (firn_parquet_statistics){0}; break;
    case 1: statistics->has_null_count = false; break;
    case 2: statistics->min_value = statistics->max_value = (firn_slice){0}; break;
    case 3: statistics->max_value = (firn_slice){0}; break;
    case 4: statistics->has_nan_count = false; break;
    case 5:
        statistics->has_min_exact = statistics->has_max_exact = true;
        statistics->min_exact = statistics->max_exact = false;
        break;
    default: break;
    }
    if (test_generator_below(random, 4) == 0) chunk->encoding_stats_count = 0;
}

typedef struct truth {
    size_t count; /**< of different partition values, up to 2 */
    firn_value value;
} truth;

static void add_truth(kit *k, truth *t, const firn_transform *transform, const firn_type *type,
                      const firn_value *value) {
    firn_value made;
    check_ok(firn_transform_apply(transform, type, value, &made, &k->error), &k->error);
    if (t->count > 0 && firn_value_equal(&t->value, &made)) return;
    if (t->count == 0) t->value = made;
    t->count++;
}

typedef struct round_of {
    kit *k;
    test_generator *random;
    const type_case *type_case;
    const firn_schema *schema;
    const firn_partition_spec *spec;
    drawn pool[3];
    size_t pool_size;
    unsigned null_percent;
    truth truth;
    kit_group groups[MOST_GROUPS];
    const firn_slice *cells[MOST_GROUPS][1];
    size_t group_count;
} round_of;

static void fill(round_of *r) {
    const firn_type *type = r->spec->fields[0].source_type;
    r->group_count = test_generator_below(r->random, MOST_GROUPS + 1);
    for (size_t g = 0; g < r->group_count; g++) {
        size_t rows = test_generator_below(r->random, MOST_ROWS);
        firn_slice *cells = firn_arena_alloc(r->k->arena, rows + 1, sizeof *cells);
        for (size_t i = 0; i < rows; i++) {
            firn_value value = firn_value_null(type->kind);
            if (test_generator_below(r->random, 100) >= r->null_percent) {
                const drawn *d = &r->pool[test_generator_below(r->random, r->pool_size)];
                cells[i] = d->raw;
                value = d->value;
            }
            add_truth(r->k, &r->truth, &r->spec->fields[0].transform, type, &value);
        }
        r->cells[g][0] = cells;
        r->groups[g] = (kit_group){rows, r->cells[g]};
    }
}

static const char *path_of(round_of *r, const firn_value *value) {
    firn_buffer text = firn_buffer_with_maximum(SIZE_MAX);
    check_ok(firn_buffer_append_text(&text, "/lake/", &r->k->error), &r->k->error);
    if (value != NULL) {
        check_ok(firn_partition_path(r->spec, value, &text, &r->k->error), &r->k->error);
        check_ok(firn_buffer_append_text(&text, "/", &r->k->error), &r->k->error);
    }
    check_ok(firn_buffer_append_text(&text, "f.parquet", &r->k->error), &r->k->error);
    const char *path = firn_arena_strndup(r->k->arena, (const char *)text.data, text.size);
    firn_buffer_release(&text);
    return path;
}

/* What a '+' and a space are in paths can't be told apart; nor a text "null" from a null. */
static bool looks_alike(const firn_value *a, const firn_value *b) {
    if (firn_value_equal(a, b)) return true;
    if (a->is_null || b->is_null || a->kind != FIRN_TYPE_STRING) return false;
    if (a->as.bytes.size != b->as.bytes.size) return false;
    for (size_t i = 0; i < a->as.bytes.size; i++) {
        uint8_t x = a->as.bytes.data[i];
        uint8_t y = b->as.bytes.data[i];
        if (x != y && !(x == '+' && y == ' ') && !(x == ' ' && y == '+')) return false;
    }
    return true;
}

static void check_round(round_of *r, const firn_value *path_value) {
    firn_error error = {0};
    firn_lake_partition partition = {0};
    firn_lake_file file = kit_put(r->k, path_of(r, path_value), 6, r->type_case->file_schema,
                                  r->groups, r->group_count);
    firn_status status =
        kit_prove(r->k, NULL, r->schema, r->spec, &file, r->k->arena, &partition, &error);
    if (r->truth.count > 1) {
        check_fails(status, FIRN_INVALID, &error, "the file has rows of");
        return;
    }
    if (r->truth.count == 0) {
        check_ok(status, &error);
        if (path_value == NULL) assert_true(partition.values[0].is_null);
        return;
    }
    if (path_value != NULL && !looks_alike(path_value, &r->truth.value)) {
        check_fails(status, FIRN_INVALID, &error, "means");
        return;
    }
    check_ok(status, &error);
    assert_true(firn_value_equal(&partition.values[0], &r->truth.value));
    assert_int_equal(partition.values[0].kind, r->spec->fields[0].result_type->kind);
}

static void run_round(test_generator *random, const type_case *c, const char *transform) {
    kit k = kit_new();
    k.tamper = strip;
    k.tamper_context = random;
    if (test_generator_below(random, 2) == 0) k.options.dictionary_size_bytes = 0;
    k.options.page_row_limit = 1 + (int32_t)test_generator_below(random, 5);
    round_of r = {.k = &k, .random = random, .type_case = c};
    char *text =
        firn_format("{\"id\":1,\"name\":\"c\",\"required\":false,\"type\":\"%s\"}", c->type);
    r.schema = kit_schema(&k, text);
    firn_free(text);
    text = firn_format("p:%s:1", transform);
    r.spec = kit_spec(&k, r.schema, text);
    firn_free(text);
    const firn_type *type = r.spec->fields[0].source_type;
    int64_t base = (int64_t)test_generator_below(random, 40000) - 20000;
    r.pool_size = 1 + test_generator_below(random, 3);
    for (size_t i = 0; i < r.pool_size; i++) r.pool[i] = draw(c, &k, type, random, base);
    static const unsigned nulls[] = {0, 0, 0, 30, 100};
    r.null_percent = nulls[test_generator_below(random, 5)];
    fill(&r);
    firn_value other;
    check_ok(firn_transform_apply(&r.spec->fields[0].transform, type, &r.pool[0].value, &other,
                                  &k.error),
             &k.error);
    check_round(&r, NULL);
    check_round(&r, r.truth.count > 0 ? &r.truth.value : &other);
    check_round(&r, &other);
    kit_release(&k);
}

static void verdicts_are_those_of_all_values(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t j = 0; j < 5 && cases[i].transforms[j] != NULL; j++) {
            for (int round = 0; round < 120; round++) {
                run_round(&random, &cases[i], cases[i].transforms[j]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(verdicts_are_those_of_all_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
