#include "cli/demo_rows.h"

#include "base/bytes.h"
#include "base/clock.h"

#define MICROSECONDS_OF_A_DAY ((int64_t)86400000000)

const int32_t firn_demo_field_ids[FIRN_DEMO_LEAVES] = {1, 2, 3, 4, 5, 6, 7, 9};

static const char schema_text[] =
    "{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"happened_at\",\"required\":true,\"type\":\"timestamptz\"},"
    "{\"id\":3,\"name\":\"category\",\"required\":true,\"type\":\"string\"},"
    "{\"id\":4,\"name\":\"amount\",\"required\":false,\"type\":\"decimal(10, 2)\"},"
    "{\"id\":5,\"name\":\"reading\",\"required\":false,\"type\":\"double\"},"
    "{\"id\":6,\"name\":\"due\",\"required\":false,\"type\":\"date\"},"
    "{\"id\":7,\"name\":\"note\",\"required\":false,\"type\":\"string\"},"
    "{\"id\":8,\"name\":\"tags\",\"required\":false,\"type\":{\"type\":\"list\","
    "\"element-id\":9,\"element\":\"string\",\"element-required\":false}}]}";

static const char spec_text[] = "{\"spec-id\":0,\"fields\":[{\"source-id\":2,\"field-id\":1000,"
                                "\"name\":\"happened_at_day\",\"transform\":\"day\"}]}";

static json_t *parse(const char *text, const char *what, firn_error *error) {
    json_t *json = NULL;
    if (firn_json_parse(firn_slice_text(text), what, &json, error) != FIRN_OK) return NULL;
    return json;
}

json_t *firn_demo_schema(firn_error *error) {
    return parse(schema_text, "schema of the demonstration", error);
}

json_t *firn_demo_spec(firn_error *error) {
    return parse(spec_text, "partition spec of the demonstration", error);
}

int32_t firn_demo_day(size_t commit) {
    size_t day = commit * FIRN_DEMO_DAYS / FIRN_DEMO_COMMITS;
    return (int32_t)(firn_days_from_civil(2024, 5, 1) + (int64_t)day);
}

void firn_demo_rows_init(firn_demo_rows *rows) {
    *rows = (firn_demo_rows){0};
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) {
        rows->columns[i].definition = firn_buffer_with_maximum((size_t)1 << 24);
        rows->columns[i].repetition = firn_buffer_with_maximum((size_t)1 << 24);
        rows->columns[i].fixed = firn_buffer_with_maximum((size_t)1 << 24);
    }
}

void firn_demo_rows_release(firn_demo_rows *rows) {
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) {
        firn_buffer_release(&rows->columns[i].definition);
        firn_buffer_release(&rows->columns[i].repetition);
        firn_buffer_release(&rows->columns[i].fixed);
        firn_vector_release(&rows->columns[i].slices);
    }
}

static firn_status add_level(firn_demo_column *column, uint8_t definition, uint8_t repetition,
                             firn_error *error) {
    FIRN_TRY(firn_buffer_append_byte(&column->definition, definition, error));
    FIRN_TRY(firn_buffer_append_byte(&column->repetition, repetition, error));
    column->levels++;
    return FIRN_OK;
}

static firn_status add_int64(firn_demo_column *column, int64_t value, firn_error *error) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)value);
    column->values++;
    return firn_buffer_append(&column->fixed, bytes, sizeof bytes, error);
}

static firn_status add_int32(firn_demo_column *column, int32_t value, firn_error *error) {
    uint8_t bytes[4];
    firn_store_le32(bytes, (uint32_t)value);
    column->values++;
    return firn_buffer_append(&column->fixed, bytes, sizeof bytes, error);
}

static firn_status add_text(firn_demo_column *column, const char *constant, firn_error *error) {
    column->values++;
    return firn_vector_push(&column->slices, error, firn_slice_text(constant));
}

/* SplitMix64: well spread numbers from a counter, the same everywhere. */
static uint64_t next_random(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15U;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static firn_status add_required(firn_demo_rows *rows, int64_t id, int32_t day, uint64_t *random,
                                firn_error *error) {
    static const char *const categories[] = {"view", "search", "cart", "order", "refund", "login"};
    firn_demo_column *columns = rows->columns;
    int64_t in_day = (int64_t)(next_random(random) % (uint64_t)MICROSECONDS_OF_A_DAY);
    FIRN_TRY(add_level(&columns[FIRN_DEMO_ID], 0, 0, error));
    FIRN_TRY(add_int64(&columns[FIRN_DEMO_ID], id, error));
    FIRN_TRY(add_level(&columns[FIRN_DEMO_HAPPENED_AT], 0, 0, error));
    FIRN_TRY(add_int64(&columns[FIRN_DEMO_HAPPENED_AT],
                       (int64_t)day * MICROSECONDS_OF_A_DAY + in_day, error));
    FIRN_TRY(add_level(&columns[FIRN_DEMO_CATEGORY], 0, 0, error));
    return add_text(&columns[FIRN_DEMO_CATEGORY], categories[next_random(random) % 6], error);
}

/* About one in eight of each is null. */
static firn_status add_optional(firn_demo_rows *rows, int32_t day, uint64_t *random,
                                firn_error *error) {
    static const char *const notes[] = {"",
                                        "called back",
                                        "first order of this customer",
                                        "paid on delivery",
                                        "délivré à l'étranger",
                                        "address not found, tried a second time the day after",
                                        "\"gift\"",
                                        "nothing to add"};
    firn_demo_column *columns = rows->columns;
    bool present[4];
    for (size_t i = 0; i < 4; i++) {
        present[i] = next_random(random) % 8 != 0;
        FIRN_TRY(add_level(&columns[FIRN_DEMO_AMOUNT + i], present[i] ? 1 : 0, 0, error));
    }
    if (present[0]) {
        int64_t cents = (int64_t)(next_random(random) % 2000000) - 100000;
        FIRN_TRY(add_int64(&columns[FIRN_DEMO_AMOUNT], cents, error));
    }
    if (present[1]) {
        double reading = (double)(int64_t)(next_random(random) % 100000) / 1000.0 - 20.0;
        FIRN_TRY(
            add_int64(&columns[FIRN_DEMO_READING], (int64_t)firn_bits_of_double(reading), error));
    }
    if (present[2]) {
        int32_t due = day + (int32_t)(next_random(random) % 60);
        FIRN_TRY(add_int32(&columns[FIRN_DEMO_DUE], due, error));
    }
    if (!present[3]) return FIRN_OK;
    return add_text(&columns[FIRN_DEMO_NOTE], notes[next_random(random) % 8], error);
}

/* Definition levels: 0 no list, 1 an empty one, 2 a null element, 3 an element. */
static firn_status add_tags(firn_demo_column *column, uint64_t *random, firn_error *error) {
    static const char *const tags[] = {"new", "mobile", "web", "partner", "retry", "vip"};
    uint64_t choice = next_random(random) % 8;
    if (choice == 0) return add_level(column, 0, 0, error);
    uint64_t count = choice % 4;
    if (count == 0) return add_level(column, 1, 0, error);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t repetition = i == 0 ? 0 : 1;
        uint64_t tag = next_random(random);
        if (tag % 16 == 0) {
            FIRN_TRY(add_level(column, 2, repetition, error));
            continue;
        }
        FIRN_TRY(add_level(column, 3, repetition, error));
        FIRN_TRY(add_text(column, tags[tag / 16 % 6], error));
    }
    return FIRN_OK;
}

firn_status firn_demo_rows_fill(firn_demo_rows *rows, size_t commit, firn_error *error) {
    int32_t day = firn_demo_day(commit);
    for (size_t i = 0; i < FIRN_DEMO_LEAVES; i++) {
        firn_demo_column *column = &rows->columns[i];
        firn_buffer_clear(&column->definition);
        firn_buffer_clear(&column->repetition);
        firn_buffer_clear(&column->fixed);
        column->slices.count = 0;
        column->levels = column->values = 0;
    }
    rows->row_count = FIRN_DEMO_ROWS_OF_A_COMMIT;
    for (size_t row = 0; row < rows->row_count; row++) {
        int64_t id = (int64_t)(commit * FIRN_DEMO_ROWS_OF_A_COMMIT + row) + 1;
        uint64_t random = (uint64_t)id;
        FIRN_TRY(add_required(rows, id, day, &random, error));
        FIRN_TRY(add_optional(rows, day, &random, error));
        FIRN_TRY(add_tags(&rows->columns[FIRN_DEMO_TAGS], &random, error));
    }
    return FIRN_OK;
}

firn_parquet_batch firn_demo_rows_batch(const firn_demo_rows *rows, size_t leaf) {
    static const firn_parquet_physical_type types[FIRN_DEMO_LEAVES] = {
        FIRN_PARQUET_INT64,  FIRN_PARQUET_INT64, FIRN_PARQUET_BYTE_ARRAY, FIRN_PARQUET_INT64,
        FIRN_PARQUET_DOUBLE, FIRN_PARQUET_INT32, FIRN_PARQUET_BYTE_ARRAY, FIRN_PARQUET_BYTE_ARRAY};
    const firn_demo_column *column = &rows->columns[leaf];
    firn_parquet_batch batch = {.level_count = column->levels, .value_count = column->values};
    if (leaf >= FIRN_DEMO_AMOUNT) batch.definition_levels = column->definition.data;
    if (leaf == FIRN_DEMO_TAGS) batch.repetition_levels = column->repetition.data;
    batch.values.type = types[leaf];
    batch.values.width = firn_parquet_value_width(types[leaf], 0);
    batch.values.count = column->values;
    batch.values.fixed = column->fixed.data;
    batch.values.slices = column->slices.items;
    return batch;
}
