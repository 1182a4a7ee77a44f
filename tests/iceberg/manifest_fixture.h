/** A table whose partition spec has a field of every type, and an entry with everything set. */
#ifndef FIRN_TESTS_ICEBERG_MANIFEST_FIXTURE_H
#define FIRN_TESTS_ICEBERG_MANIFEST_FIXTURE_H

#include "iceberg/fixture.h"
#include "iceberg/manifest_internal.h"

/*
 * Columns 1 to 16; partition field n is 1000 + n, two of them of one decimal type, names of every
 * kind.
 */
#define FX_TYPE_COUNT 16

static const char *const fx_types[FX_TYPE_COUNT] = {
    "boolean",      "int",      "long",   "float",         "double",      "decimal(9,2)",
    "decimal(9,2)", "date",     "time",   "timestamp",     "timestamptz", "string",
    "uuid",         "fixed[3]", "binary", "decimal(38,10)"};
static const char *const fx_names[FX_TYPE_COUNT] = {
    "plain", "😎",  "a.b", "9col", "é",   "a_x2Eb", "with space", "_x",
    "p8",    "p9", "p10", "p11",  "p12", "p13",    "p14",        "quote\\\"d"};

static inline firn_table_metadata *fx_every_type(int format_version) {
    firn_error error;
    firn_buffer text = firn_buffer_with_maximum(1 << 20);
    check_ok(
        firn_buffer_printf(&text, &error,
                           "{\"format-version\":%d,\"table-uuid\":"
                           "\"9c12d441-03fe-4693-9a96-a0705ddf69c1\",\"location\":\"s3://b/t\","
                           "\"last-sequence-number\":3,\"last-updated-ms\":1,"
                           "\"last-column-id\":16,\"next-row-id\":0,\"current-schema-id\":4,"
                           "\"default-spec-id\":2,\"last-partition-id\":1016,"
                           "\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,"
                           "\"fields\":[]}],\"schemas\":[{\"type\":\"struct\","
                           "\"schema-id\":4,\"fields\":[",
                           format_version),
        &error);
    for (int i = 0; i < FX_TYPE_COUNT; i++) {
        check_ok(firn_buffer_printf(&text, &error,
                                    "%s{\"id\":%d,\"name\":\"c%d\",\"required\":false,"
                                    "\"type\":\"%s\"}",
                                    i == 0 ? "" : ",", i + 1, i, fx_types[i]),
                 &error);
    }
    check_ok(firn_buffer_append_text(&text, "]}],\"partition-specs\":[{\"spec-id\":2,\"fields\":[",
                                     &error),
             &error);
    for (int i = 0; i < FX_TYPE_COUNT; i++) {
        check_ok(firn_buffer_printf(&text, &error,
                                    "%s{\"source-id\":%d,\"field-id\":%d,\"name\":\"%s\","
                                    "\"transform\":\"identity\"}",
                                    i == 0 ? "" : ",", i + 1, 1000 + i, fx_names[i]),
                 &error);
    }
    check_ok(firn_buffer_append_text(&text, "]}],\"snapshots\":[]", &error), &error);
    if (format_version == 1) {
        check_ok(firn_buffer_append_text(&text,
                                         ",\"schema\":{\"type\":\"struct\",\"fields\":[]},"
                                         "\"partition-spec\":[]",
                                         &error),
                 &error);
    }
    check_ok(firn_buffer_append_text(&text, "}", &error), &error);
    firn_table_metadata *metadata = NULL;
    check_ok(
        firn_table_metadata_parse(firn_buffer_slice(&text), "t.metadata.json", &metadata, &error),
        &error);
    firn_buffer_release(&text);
    return metadata;
}

static const int32_t fx_ids[] = {1, 999};
static const int64_t fx_counts[] = {4, -1};
static const firn_slice fx_bounds[] = {{(const uint8_t *)"\x01\x02", 2}, {(const uint8_t *)"", 0}};
static const int64_t fx_offsets[] = {4, 4000000000};
static const int32_t fx_equality[] = {3, 1};

static inline firn_count_map fx_count_map(void) {
    return (firn_count_map){fx_ids, fx_counts, 2, true};
}

static inline void fx_values(firn_value out[FX_TYPE_COUNT], bool null) {
    firn_value values[FX_TYPE_COUNT] = {
        {.kind = FIRN_TYPE_BOOLEAN, .as.boolean = true},
        {.kind = FIRN_TYPE_INT, .as.int32 = -5},
        {.kind = FIRN_TYPE_LONG, .as.int64 = INT64_MIN},
        {.kind = FIRN_TYPE_FLOAT, .as.float32 = -0.0F},
        {.kind = FIRN_TYPE_DOUBLE, .as.float64 = 1e300},
        {.kind = FIRN_TYPE_DECIMAL, .as.decimal = -996953},
        {.kind = FIRN_TYPE_DECIMAL, .as.decimal = 128},
        {.kind = FIRN_TYPE_DATE, .as.int32 = -47},
        {.kind = FIRN_TYPE_TIME, .as.int64 = 86399999999},
        {.kind = FIRN_TYPE_TIMESTAMP, .as.int64 = -1},
        {.kind = FIRN_TYPE_TIMESTAMPTZ, .as.int64 = 1},
        {.kind = FIRN_TYPE_STRING, .as.bytes = {(const uint8_t *)"é\"", 3}},
        {.kind = FIRN_TYPE_UUID, .as.bytes = {(const uint8_t *)"0123456789abcdef", 16}},
        {.kind = FIRN_TYPE_FIXED, .as.bytes = {(const uint8_t *)"\0\1\2", 3}},
        {.kind = FIRN_TYPE_BINARY, .as.bytes = {(const uint8_t *)"", 0}},
        {.kind = FIRN_TYPE_DECIMAL, .as.decimal = (firn_int128)-1000000000000 * 1000000000000},
    };
    for (size_t i = 0; i < FX_TYPE_COUNT; i++) {
        out[i] = null ? firn_value_null(values[i].kind) : values[i];
    }
}

/** An entry with everything set that its content can have. `values` must outlive it. */
static inline firn_manifest_entry fx_entry(firn_content content, const firn_value *values) {
    bool data = content == FIRN_CONTENT_DATA;
    return (firn_manifest_entry){
        .status = FIRN_ENTRY_EXISTING,
        .has_snapshot_id = true,
        .snapshot_id = 21,
        .has_sequence_number = true,
        .sequence_number = 2,
        .has_file_sequence_number = true,
        .file_sequence_number = 3,
        .file = {.content = content,
                 .path = "s3://b/t/data/f 1%20.parquet",
                 .format = FIRN_FILE_PARQUET,
                 .format_text = "PARQUET",
                 .spec_id = 2,
                 .partition = values,
                 .partition_count = FX_TYPE_COUNT,
                 .record_count = 5,
                 .file_size_in_bytes = 5000000000,
                 .column_sizes = fx_count_map(),
                 .value_counts = fx_count_map(),
                 .null_value_counts = fx_count_map(),
                 .nan_value_counts = {fx_ids, fx_counts, 0, true},
                 .lower_bounds = {fx_ids, fx_bounds, 2, true},
                 .key_metadata = {(const uint8_t *)"key", 3},
                 .split_offsets = fx_offsets,
                 .split_offset_count = 2,
                 .equality_ids = content == FIRN_CONTENT_EQUALITY_DELETES ? fx_equality : NULL,
                 .equality_id_count = content == FIRN_CONTENT_EQUALITY_DELETES ? 2 : 0,
                 .has_sort_order_id = true,
                 .sort_order_id = 0,
                 .has_first_row_id = data,
                 .first_row_id = data ? 40 : 0,
                 .referenced_data_file = data ? NULL : "s3://b/t/data/x",
                 .has_content_offset = !data,
                 .content_offset = data ? 0 : 4,
                 .content_size_in_bytes = data ? 0 : 90}};
}

#endif
