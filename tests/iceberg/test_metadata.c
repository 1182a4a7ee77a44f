#include "iceberg/fixture.h"

#include <dirent.h>

#include "codec/codec.h"

static void typed_view(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_json(FX_V2));
    assert_int_equal(m->format_version, 2);
    assert_string_equal(m->location, "s3://b/t");
    assert_int_equal(m->snapshot_count, 3);
    assert_int_equal(m->current_snapshot_id, 13);
    const firn_snapshot *snapshot = firn_table_metadata_snapshot(m, 12);
    assert_string_equal(snapshot->manifest_list, "s3://b/t/metadata/12.avro");
    assert_string_equal(snapshot->operation, "append");
    assert_int_equal(snapshot->sequence_number, 2);
    assert_false(snapshot->has_parent);
    assert_null(firn_table_metadata_snapshot(m, 14));
    assert_int_equal(m->ref_count, 2);
    const firn_snapshot_ref *ref = firn_table_metadata_ref(m, "main");
    assert_true(ref->is_branch);
    assert_int_equal(ref->max_snapshot_age_ms, 5);
    assert_int_equal(ref->max_ref_age_ms, -1);
    assert_false(firn_table_metadata_ref(m, "first")->is_branch);
    assert_int_equal(m->default_spec->fields[0].transform.parameter, 16);
    assert_int_equal(m->default_spec->fields[0].source_type->kind, FIRN_TYPE_LONG);
    assert_int_equal(m->default_spec->fields[0].result_type->kind, FIRN_TYPE_INT);
    assert_true(m->has_encryption_keys);
    assert_int_equal(m->snapshot_log_count, 3);
    assert_int_equal(m->metadata_log_count, 3);
    assert_string_equal(m->metadata_log[2].metadata_file, "m3");
    firn_table_metadata_free(m);
}

static void current_snapshot_spellings(void **state) {
    (void)state;
    static const char *const spellings[] = {NULL, "null", "-1"};
    for (size_t i = 0; i < 3; i++) {
        json_t *json = fx_with(FX_V2, "", "current-snapshot-id", spellings[i]);
        json_object_del(json, "refs");
        firn_table_metadata *m = fx_parse(json);
        assert_int_equal(m->current_snapshot_id, FIRN_NO_SNAPSHOT);
        assert_int_equal(m->ref_count, 0);
        firn_table_metadata_free(m);
    }
    fx_parse_fails(fx_with(FX_V2, "", "current-snapshot-id", "99"), FIRN_CORRUPT,
                   "there is no snapshot 99");
    fx_parse_fails(fx_with(FX_V2, "", "current-snapshot-id", "12"), FIRN_CORRUPT, "main");
    fx_parse_fails(fx_with(FX_V2, "", "current-snapshot-id", "null"), FIRN_CORRUPT, "main");
}

static void implicit_main(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_with(FX_V2, "", "refs", NULL));
    assert_int_equal(m->ref_count, 1);
    assert_int_equal(firn_table_metadata_ref(m, "main")->snapshot_id, 13);
    firn_table_metadata_free(m);
    fx_parse_fails(fx_with(FX_V2, "refs.first", "snapshot-id", "99"), FIRN_CORRUPT, "first");
    fx_parse_fails(fx_with(FX_V2, "refs.first", "type", "'label'"), FIRN_CORRUPT, "type");
    fx_parse_fails(fx_with(FX_V2, "refs.first", "max-ref-age-ms", "0"), FIRN_CORRUPT,
                   "max-ref-age-ms");
}

/* A missing number must never become 0: a snapshot dated 1970 is the first one that expiry would drop. */
static void required_keys(void **state) {
    (void)state;
    static const struct {
        const char *path, *key;
    } required[] = {
        {"", "format-version"},
        {"", "table-uuid"},
        {"", "location"},
        {"", "last-sequence-number"},
        {"", "last-updated-ms"},
        {"", "last-column-id"},
        {"", "schemas"},
        {"", "current-schema-id"},
        {"", "partition-specs"},
        {"", "default-spec-id"},
        {"", "last-partition-id"},
        {"", "sort-orders"},
        {"", "default-sort-order-id"},
        {"snapshots.1", "snapshot-id"},
        {"snapshots.1", "timestamp-ms"},
        {"snapshots.1", "manifest-list"},
        {"refs.main", "snapshot-id"},
        {"refs.main", "type"},
        {"snapshot-log.0", "timestamp-ms"},
        {"snapshot-log.0", "snapshot-id"},
        {"metadata-log.0", "timestamp-ms"},
        {"metadata-log.0", "metadata-file"},
        {"partition-specs.0", "spec-id"},
        {"partition-specs.0", "fields"},
        {"partition-specs.0.fields.0", "field-id"},
        {"partition-specs.0.fields.0", "source-id"},
        {"partition-specs.0.fields.0", "name"},
        {"partition-specs.0.fields.0", "transform"},
        {"sort-orders.0", "order-id"},
        {"sort-orders.0", "fields"},
        {"schemas.0", "type"},
        {"schemas.0", "fields"},
        {"schemas.0.fields.1", "id"},
        {"schemas.0.fields.1", "name"},
        {"schemas.0.fields.1", "required"},
        {"schemas.0.fields.1", "type"},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        const char *path = required[i].path;
        const char *key = required[i].key;
        fx_parse_fails(fx_with(FX_V2, path, key, NULL), FIRN_CORRUPT, key);
        fx_parse_fails(fx_with(FX_V2, path, key, "null"), FIRN_CORRUPT, key);
        fx_parse_fails(fx_with(FX_V2, path, key, "1.5e0"), FIRN_CORRUPT, key);
        json_t *original = fx_json(FX_V2);
        bool is_object = strcmp(key, "type") == 0 && strstr(path, "fields") != NULL;
        if (!is_object) fx_parse_fails(fx_with(FX_V2, path, key, "{}"), FIRN_CORRUPT, key);
        json_decref(original);
    }
    fx_parse_fails(fx_with(FX_V2, "", "snapshots", "[null]"), FIRN_CORRUPT, "snapshots[0]");
    fx_parse_fails(fx_with(FX_V2, "", "snapshots", "{}"), FIRN_CORRUPT, "snapshots");
    fx_parse_fails(fx_with(FX_V2, "", "refs", "[]"), FIRN_CORRUPT, "refs");
    fx_parse_fails(fx_with(FX_V2, "", "properties", "{'a':1}"), FIRN_CORRUPT, "properties");
}

static void optional_members(void **state) {
    (void)state;
    static const char *const summaries[] = {NULL, "null", "{}", "{'added-records':'3'}"};
    for (size_t i = 0; i < 4; i++) {
        firn_table_metadata *m = fx_parse(fx_with(FX_V2, "snapshots.1", "summary", summaries[i]));
        assert_null(firn_table_metadata_snapshot(m, 12)->operation);
        firn_table_metadata_free(m);
    }
    static const char *const optional[] = {"properties", "snapshot-log", "metadata-log",
                                           "statistics", "partition-statistics"};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        firn_table_metadata_free(fx_parse(fx_with(FX_V2, "", optional[i], NULL)));
        firn_table_metadata_free(fx_parse(fx_with(FX_V2, "", optional[i], "null")));
    }
    /* Appendix E: a snapshot that v1 left behind has the sequence number 0. */
    firn_table_metadata *m = fx_parse(fx_with(FX_V2, "snapshots.0", "sequence-number", NULL));
    assert_int_equal(firn_table_metadata_snapshot(m, 11)->sequence_number, 0);
    firn_table_metadata_free(m);
    fx_parse_fails(fx_with(FX_V2, "snapshots.0", "sequence-number", "4"), FIRN_CORRUPT,
                   "sequence-number");
    fx_parse_fails(fx_with(FX_V2, "snapshots.0", "snapshot-id", "12"), FIRN_CORRUPT,
                   "snapshot-id 12 occurs twice");
}

/* A log whose times don't rise is no reason to refuse a table. */
static void unsorted_log(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_with(FX_V2, "", "snapshot-log",
                                              "[{'timestamp-ms':1000240000,'snapshot-id':13},"
                                              "{'timestamp-ms':1000000000,'snapshot-id':11},"
                                              "{'timestamp-ms':1000120000,'snapshot-id':999}]"));
    assert_int_equal(m->snapshot_log_count, 3);
    firn_table_metadata_free(m);
}

static void exact_integers(void **state) {
    (void)state;
    static const char *const ids[] = {"9007199254740993", "9223372036854775807",
                                      "5184430069070270604"};
    for (size_t i = 0; i < 3; i++) {
        json_t *json = fx_with(FX_V2, "snapshots.1", "snapshot-id", ids[i]);
        firn_table_metadata *m = fx_parse(json);
        int64_t id = strtoll(ids[i], NULL, 10);
        assert_int_equal(m->snapshots[1].snapshot_id, id);
        assert_ptr_equal(firn_table_metadata_snapshot(m, id), &m->snapshots[1]);
        firn_table_metadata_free(m);
    }
    fx_parse_fails(fx_with(FX_V2, "snapshots.1", "snapshot-id", "4.5982866113522427e+18"),
                   FIRN_CORRUPT, "snapshots[1]: snapshot: field snapshot-id");
}

static void versions(void **state) {
    (void)state;
    fx_parse_fails(fx_with(FX_V2, "", "format-version", "4"), FIRN_UNSUPPORTED, "format version 4");
    fx_parse_fails(fx_with(FX_V2, "", "format-version", "0"), FIRN_CORRUPT, "format-version");
    fx_parse_fails(json_array(), FIRN_CORRUPT, "no JSON object");
    /* v3 needs next-row-id; snapshots from before the upgrade have no row ids. */
    fx_parse_fails(fx_with(FX_V2, "", "format-version", "3"), FIRN_CORRUPT, "next-row-id");
    json_t *json = fx_with(FX_V2, "", "format-version", "3");
    json_object_set_new(json, "next-row-id", json_integer(5));
    firn_table_metadata *m = fx_parse(json_deep_copy(json));
    assert_int_equal(m->next_row_id, 5);
    assert_false(m->snapshots[0].has_first_row_id);
    firn_table_metadata_free(m);
    /* A counter behind a range that was given out is moved. */
    json_t *snapshot = json_array_get(json_object_get(json, "snapshots"), 2);
    json_object_set_new(snapshot, "first-row-id", json_integer(4));
    json_object_set_new(snapshot, "added-rows", json_integer(6));
    m = fx_parse(json_deep_copy(json));
    assert_int_equal(m->next_row_id, 10);
    firn_table_metadata_free(m);
    json_object_set_new(snapshot, "added-rows", json_integer(INT64_MAX));
    fx_parse_fails(json, FIRN_CORRUPT, "added-rows");
}

static void repaired_counters(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_with(FX_V2, "", "last-column-id", "1"));
    assert_int_equal(m->last_column_id, 3);
    firn_table_metadata_free(m);
    m = fx_parse(fx_with(FX_V2, "", "last-partition-id", "999"));
    assert_int_equal(m->last_partition_id, 1000);
    firn_table_metadata_free(m);
    m = fx_parse(fx_with(FX_V2, "", "last-partition-id", "0"));
    assert_int_equal(m->last_partition_id, 1000);
    firn_table_metadata_free(m);
}

static void oldest_v1(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_json(FX_V1));
    assert_null(m->table_uuid);
    assert_string_equal(m->location, "s3://b/t");
    assert_int_equal(m->schema_count, 1);
    assert_int_equal(m->schema->schema_id, 0);
    assert_int_equal(m->default_spec->spec_id, 0);
    assert_int_equal(m->default_spec->fields[0].field_id, 1000);
    assert_int_equal(m->default_spec->fields[1].field_id, 1001);
    assert_int_equal(m->default_spec->fields[1].result_type->kind, FIRN_TYPE_DATE);
    assert_int_equal(m->last_partition_id, 1001);
    assert_int_equal(m->sort_order_count, 0);
    assert_int_equal(m->current_snapshot_id, FIRN_NO_SNAPSHOT);
    assert_int_equal(m->last_sequence_number, 0);
    firn_table_metadata_free(m);
    /* A manifest list may be a list of manifests. */
    m = fx_parse(fx_with(FX_V1, "", "snapshots",
                         "[{'snapshot-id':1,'timestamp-ms':5,'manifests':['a','b']}]"));
    assert_null(m->snapshots[0].manifest_list);
    assert_int_equal(m->snapshots[0].manifest_count, 2);
    assert_string_equal(m->snapshots[0].manifests[1], "b");
    firn_table_metadata_free(m);
    fx_parse_fails(fx_with(FX_V1, "", "partition-spec", NULL), FIRN_CORRUPT, "partition-spec");
    fx_parse_fails(fx_with(FX_V1, "", "schema", NULL), FIRN_CORRUPT, "schema");
}

static void partition_fields(void **state) {
    (void)state;
    /* void in place of a dropped field; a source that no schema has; several sources; an unknown transform. */
    firn_table_metadata *m =
        fx_parse(fx_with(FX_V2, "partition-specs.0", "fields",
                         "[{'name':'a','transform':'void','source-id':1,'field-id':1000},"
                         "{'name':'b','transform':'identity','source-id':77,'field-id':1001},"
                         "{'name':'c','transform':'bucket[4]','source-id':77,'field-id':1002},"
                         "{'name':'d','transform':'bucket[4]','source-ids':[1,2],'field-id':1003},"
                         "{'name':'e','transform':'zorder[2]','source-id':2,'field-id':1004}]"));
    const firn_partition_field *fields = m->default_spec->fields;
    assert_int_equal(fields[0].transform.kind, FIRN_TRANSFORM_VOID);
    assert_int_equal(fields[0].result_type->kind, FIRN_TYPE_LONG);
    assert_null(fields[1].source_type);
    assert_null(fields[1].result_type);
    assert_int_equal(fields[2].result_type->kind, FIRN_TYPE_INT);
    assert_int_equal(fields[3].transform.kind, FIRN_TRANSFORM_UNKNOWN);
    assert_int_equal(fields[3].source_id, 1);
    assert_int_equal(fields[4].transform.kind, FIRN_TRANSFORM_UNKNOWN);
    assert_string_equal(fields[4].transform.text, "zorder[2]");
    assert_false(firn_partition_spec_is_unpartitioned(m->default_spec));
    firn_table_metadata_free(m);
    m = fx_parse(fx_with(FX_V2, "partition-specs.0", "fields",
                         "[{'name':'a','transform':'void','source-id':1,'field-id':1000}]"));
    assert_true(firn_partition_spec_is_unpartitioned(m->default_spec));
    firn_table_metadata_free(m);
    fx_parse_fails(fx_with(FX_V2, "partition-specs.0", "fields",
                           "[{'name':'a','transform':'bucket[0]','source-id':1,'field-id':1}]"),
                   FIRN_CORRUPT, "bucket[0]");
    fx_parse_fails(fx_with(FX_V2, "partition-specs.0", "fields",
                           "[{'name':'a','transform':'day','source-id':1,'field-id':1000},"
                           "{'name':'b','transform':'day','source-id':1,'field-id':1000}]"),
                   FIRN_CORRUPT, "1000 occurs twice");
    fx_parse_fails(fx_with(FX_V2, "", "default-spec-id", "5"), FIRN_CORRUPT, "default-spec-id");
    fx_parse_fails(fx_with(FX_V2, "", "default-sort-order-id", "5"), FIRN_CORRUPT,
                   "default-sort-order-id");
}

/* An old order may name a column that the schema has no more. */
static void old_sort_orders(void **state) {
    (void)state;
    json_t *json = fx_with(FX_V2, "", "sort-orders",
                           "[{'order-id':1,'fields':[{'transform':'identity','source-id':77,"
                           "'direction':'asc','null-order':'nulls-first'}]},"
                           "{'order-id':2,'fields':[{'transform':'bucket[4]','source-id':1,"
                           "'direction':'desc','null-order':'nulls-last'}]}]");
    json_object_set_new(json, "default-sort-order-id", json_integer(2));
    firn_table_metadata *m = fx_parse(json);
    assert_int_equal(m->sort_order_count, 2);
    const firn_sort_order *order = firn_table_metadata_sort_order(m, 2);
    assert_true(order->fields[0].descending && order->fields[0].nulls_last);
    order = firn_table_metadata_sort_order(m, 1);
    assert_false(order->fields[0].descending || order->fields[0].nulls_last);
    firn_table_metadata *made = fx_apply(m, "[{'action':'set-properties','updates':{}}]", NULL, 0);
    assert_true(json_equal(json_object_get(m->json, "sort-orders"),
                           json_object_get(made->json, "sort-orders")));
    firn_table_metadata_free(made);
    firn_table_metadata_free(m);
}

static void properties(void **state) {
    (void)state;
    firn_table_metadata *m =
        fx_parse(fx_with(FX_V2, "", "properties",
                         "{'n':'12','neg':'-3','bad':'12x','space':' 1','huge':"
                         "'99999999999999999999','t':'TRUE','f':'false','null':null,'empty':''}"));
    firn_error error = {0};
    int64_t number = 0;
    bool flag = false;
    assert_int_equal(m->property_count, 8);
    assert_null(firn_table_metadata_property(m, "null"));
    check_ok(firn_table_metadata_property_int(m, "n", 5, &number, &error), &error);
    assert_int_equal(number, 12);
    check_ok(firn_table_metadata_property_int(m, "neg", 5, &number, &error), &error);
    assert_int_equal(number, -3);
    check_ok(firn_table_metadata_property_int(m, "none", 5, &number, &error), &error);
    assert_int_equal(number, 5);
    static const char *const bad[] = {"bad", "space", "huge", "empty", "t"};
    for (size_t i = 0; i < 5; i++) {
        check_fails(firn_table_metadata_property_int(m, bad[i], 5, &number, &error), FIRN_INVALID,
                    &error, bad[i]);
    }
    check_ok(firn_table_metadata_property_bool(m, "t", false, &flag, &error), &error);
    assert_true(flag);
    check_ok(firn_table_metadata_property_bool(m, "f", true, &flag, &error), &error);
    assert_false(flag);
    check_fails(firn_table_metadata_property_bool(m, "n", true, &flag, &error), FIRN_INVALID,
                &error, "property n");
    firn_table_metadata_free(m);
}

static void locations(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"'s3://b/t//'", "s3://b/t"},
        {"'file:///'", "file://"},
        {"'/'", ""},
        {"'/a b/%20'", "/a b/%20"},
    };
    for (size_t i = 0; i < 4; i++) {
        firn_table_metadata *m = fx_parse(fx_with(FX_V2, "", "location", texts[i][0]));
        assert_string_equal(m->location, texts[i][1]);
        firn_table_metadata_free(m);
    }
    fx_parse_fails(fx_with(FX_V2, "", "location", "''"), FIRN_CORRUPT, "location");
    static const struct {
        const char *location;
        int64_t version;
    } versions[] = {
        {"s3://b/t/metadata/00006-9c12.metadata.json", 7},
        {"/t/metadata/v6.metadata.json", 7},
        {"v6.gz.metadata.json", 7},
        {"v0.metadata.json", 1},
        {"/v9/metadata.json", 0},
        {"6.metadata.json", 0},
        {"v6-x.metadata.json", 0},
        {"v.metadata.json", 0},
        {"", 0},
        {"99999999999999999999-x.metadata.json", 0},
    };
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        assert_int_equal(firn_metadata_location_version(versions[i].location), versions[i].version);
    }
}

static void gzip_by_its_magic(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_json(FX_V2));
    firn_buffer plain = firn_buffer_with_maximum(1 << 20);
    firn_buffer packed = firn_buffer_with_maximum(1 << 20);
    firn_error error = {0};
    check_ok(firn_table_metadata_serialize(m, false, &plain, &error), &error);
    check_ok(firn_table_metadata_serialize(m, true, &packed, &error), &error);
    assert_int_equal(packed.data[0], 0x1F);
    firn_slice texts[] = {firn_buffer_slice(&plain), firn_buffer_slice(&packed)};
    for (size_t i = 0; i < 2; i++) {
        firn_table_metadata *back = NULL;
        check_ok(firn_table_metadata_parse(texts[i], "x", &back, &error), &error);
        assert_true(json_equal(m->json, back->json));
        firn_table_metadata_free(back);
    }
    firn_table_metadata *back = NULL;
    packed.data[packed.size / 2] ^= 0x55;
    check_fails(firn_table_metadata_parse(firn_buffer_slice(&packed), "x", &back, &error),
                FIRN_CORRUPT, &error, "x: ");
    firn_buffer_release(&plain);
    firn_buffer_release(&packed);
    firn_table_metadata_free(m);
}

static void every_corpus_file(void **state) {
    (void)state;
    static const struct {
        const char *name, *field;
    } invalid[] = {
        {"TableMetadataUnsupportedVersion.json", "schemas"},
        {"TableMetadataV1MissingSchemaType.json", "type"},
        {"TableMetadataV1NoValidSchema.json", "schema"},
        {"TableMetadataV2CurrentSchemaNotFound.json", "current-schema-id"},
        {"TableMetadataV2MissingLastPartitionId.json", "last-partition-id"},
        {"TableMetadataV2MissingPartitionSpecs.json", "partition-specs"},
        {"TableMetadataV2MissingSchemas.json", "schemas"},
        {"TableMetadataV2MissingSortOrder.json", "sort-orders"},
        {"avro_schema_manifest_entry.json", "format-version"},
        {"avro_schema_manifest_file_v1.json", "format-version"},
        {"avro_schema_manifest_file_v2.json", "format-version"},
    };
    char *folder = firn_format("%s/metadata", test_corpus());
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    size_t refused = 0;
    size_t parsed = 0;
    for (struct dirent *entry = NULL; (entry = readdir(listing)) != NULL;) {
        if (strstr(entry->d_name, ".json") == NULL) continue;
        char *path = firn_format("%s/%s", folder, entry->d_name);
        firn_buffer text = test_read_file(path);
        const char *field = NULL;
        for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
            if (strcmp(entry->d_name, invalid[i].name) == 0) field = invalid[i].field;
        }
        firn_error error = {0};
        firn_table_metadata *m = NULL;
        firn_status status =
            firn_table_metadata_parse(firn_buffer_slice(&text), entry->d_name, &m, &error);
        if (field != NULL) {
            check_fails(status, FIRN_CORRUPT, &error, field);
            assert_non_null(strstr(error.message, entry->d_name));
            refused++;
        } else {
            check_ok(status, &error);
            bool encrypted = strcmp(entry->d_name, "TableMetadataV3ValidEncryption.json") == 0;
            assert_int_equal(m->has_encryption_keys, encrypted);
            firn_table_metadata_free(m);
            parsed++;
        }
        firn_buffer_release(&text);
        firn_free(path);
    }
    assert_int_equal(refused, sizeof invalid / sizeof invalid[0]);
    assert_true(parsed >= 14);
    closedir(listing);
    firn_free(folder);
}

static void v1_without_ids_of_the_corpus(void **state) {
    (void)state;
    char *path = firn_format("%s/metadata/TableMetadataV1PartitionSpecsWithoutDefaultId.json",
                             test_corpus());
    firn_buffer text = test_read_file(path);
    firn_error error = {0};
    firn_table_metadata *m = NULL;
    check_ok(firn_table_metadata_parse(firn_buffer_slice(&text), path, &m, &error), &error);
    assert_int_equal(m->default_spec->spec_id, 2);
    assert_int_equal(m->spec_count, 2);
    firn_table_metadata_free(m);
    firn_buffer_release(&text);
    firn_free(path);
}

static firn_status parse_text(void *context, firn_error *error) {
    firn_table_metadata *m = NULL;
    firn_status status = firn_table_metadata_parse(*(firn_slice *)context, "x", &m, error);
    if (status == FIRN_OK) firn_table_metadata_free(m);
    return status;
}

static void failing_memory(void **state) {
    (void)state;
    static const char *const documents[] = {FX_V2, FX_V1};
    for (size_t i = 0; i < 2; i++) {
        firn_buffer text = firn_buffer_with_maximum(1 << 20);
        firn_error error = {0};
        json_t *json = fx_json(documents[i]);
        check_ok(firn_json_write(json, 0, &text, &error), &error);
        json_decref(json);
        firn_slice slice = firn_buffer_slice(&text);
        check_each_allocation(parse_text, &slice);
        firn_buffer_release(&text);
    }
}

static firn_status write_packed(void *context, firn_error *error) {
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_status status = firn_table_metadata_serialize(context, true, &out, error);
    firn_buffer_release(&out);
    return status;
}

static void failing_memory_when_writing(void **state) {
    (void)state;
    firn_table_metadata *m = fx_parse(fx_json(FX_V2));
    check_each_allocation(write_packed, m);
    firn_table_metadata_free(m);
}

/* Whatever is cut off or flipped: an error or a table, never a crash (the sanitizers look). */
static void damaged_text(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    json_t *json = fx_json(FX_V2);
    char *text = json_dumps(json, JSON_COMPACT);
    size_t size = strlen(text);
    for (size_t cut = 0; cut < size; cut += 1 + cut / 64) {
        /* A copy of the exact size, so that a read behind the end is seen. */
        uint8_t *copy = firn_alloc(cut);
        memcpy(copy, text, cut);
        firn_slice slice = firn_slice_of(copy, cut);
        firn_error error = {0};
        check_fails(parse_text(&slice, &error), FIRN_CORRUPT, &error, "x: ");
        firn_free(copy);
    }
    for (int i = 0; i < 3000; i++) {
        char *copy = firn_strndup(text, size);
        size_t flips = 1 + test_generator_below(&random, 3);
        for (size_t j = 0; j < flips; j++) {
            copy[test_generator_below(&random, size)] ^=
                (char)(1U << test_generator_below(&random, 8));
        }
        firn_slice slice = firn_slice_of(copy, size);
        firn_error error = {0};
        firn_status status = parse_text(&slice, &error);
        assert_true(status == FIRN_OK || status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED);
        firn_free(copy);
    }
    firn_free(text);
    json_decref(json);
}

static void damaged_corpus(void **state) {
    (void)state;
    test_generator random = test_generator_new();
    char *folder = firn_format("%s/metadata", test_corpus());
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry = NULL; (entry = readdir(listing)) != NULL;) {
        if (strstr(entry->d_name, ".json") == NULL) continue;
        char *path = firn_format("%s/%s", folder, entry->d_name);
        firn_buffer text = test_read_file(path);
        for (int i = 0; i < 200; i++) {
            size_t size = text.size;
            if (i % 4 == 0) size = test_generator_below(&random, size);
            uint8_t *copy = firn_alloc(size);
            memcpy(copy, text.data, size);
            if (size != 0) {
                copy[test_generator_below(&random, size)] ^=
                    (uint8_t)(1U << test_generator_below(&random, 8));
            }
            firn_slice slice = firn_slice_of(copy, size);
            firn_error error = {0};
            firn_status status = parse_text(&slice, &error);
            assert_true(status == FIRN_OK || status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED);
            firn_free(copy);
        }
        firn_buffer_release(&text);
        firn_free(path);
    }
    closedir(listing);
    firn_free(folder);
}

/* A long history: the typed view stays smaller than the text that it comes from. */
static void many_snapshots(void **state) {
    (void)state;
    json_t *json = fx_json(FX_V2);
    json_t *snapshots = json_object_get(json, "snapshots");
    const json_t *model = json_array_get(snapshots, 0);
    enum { COUNT = 20000 };
    for (int i = 0; i < COUNT; i++) {
        json_t *copy = json_copy((json_t *)model);
        /* In an order that is neither rising nor falling. */
        int64_t id = 1000 + (int64_t)i * 7919 % COUNT;
        json_object_set_new(copy, "snapshot-id", json_integer(id));
        json_array_append_new(snapshots, copy);
    }
    size_t text_size = json_dumpb(json, NULL, 0, JSON_COMPACT);
    firn_table_metadata *m = fx_parse(json);
    assert_int_equal(m->snapshot_count, COUNT + 3);
    for (int64_t id = 1000; id < 1000 + COUNT; id += 97) {
        assert_int_equal(firn_table_metadata_snapshot(m, id)->snapshot_id, id);
    }
    assert_null(firn_table_metadata_snapshot(m, 999));
    assert_null(firn_table_metadata_snapshot(m, 1000 + COUNT));
    assert_true(firn_arena_bytes(m->arena) < text_size);
    firn_table_metadata_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_view),
        cmocka_unit_test(current_snapshot_spellings),
        cmocka_unit_test(implicit_main),
        cmocka_unit_test(required_keys),
        cmocka_unit_test(optional_members),
        cmocka_unit_test(exact_integers),
        cmocka_unit_test(unsorted_log),
        cmocka_unit_test(damaged_corpus),
        cmocka_unit_test(many_snapshots),
        cmocka_unit_test(versions),
        cmocka_unit_test(repaired_counters),
        cmocka_unit_test(oldest_v1),
        cmocka_unit_test(partition_fields),
        cmocka_unit_test(old_sort_orders),
        cmocka_unit_test(properties),
        cmocka_unit_test(locations),
        cmocka_unit_test(gzip_by_its_magic),
        cmocka_unit_test(every_corpus_file),
        cmocka_unit_test(v1_without_ids_of_the_corpus),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(failing_memory_when_writing),
        cmocka_unit_test(damaged_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
