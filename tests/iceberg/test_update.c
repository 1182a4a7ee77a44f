#include "iceberg/fixture.h"

#define SET_PROPERTY "[{'action':'set-properties','updates':{'a':'2','b':'3'}}]"

static const char *const touched_by_properties[] = {"properties", "last-updated-ms", "metadata-log",
                                                    NULL};

static void properties_only(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'set-properties','updates':{'a':'2','b':'3'}},"
                 "{'action':'remove-properties','removals':['b','not there']}]",
                 "m4", 2000000000);
    fx_check_untouched(base, made, touched_by_properties);
    fx_check_key(made, "properties", "{'a':'2','write.metadata.previous-versions-max':'3'}");
    fx_check_key(made, "last-updated-ms", "2000000000");
    /* Three are kept, the newest of them base's own file, with base's time. */
    fx_check_key(made, "metadata-log",
                 "[{'timestamp-ms':2,'metadata-file':'m2'},{'timestamp-ms':3,'metadata-file':'m3'},"
                 "{'timestamp-ms':1000240000,'metadata-file':'m4'}]");
    assert_int_equal(made->last_updated_ms, 2000000000);
    /* Keys keep their order, so that people can compare versions. */
    assert_string_equal(json_object_iter_key(json_object_iter(made->json)), "format-version");
    firn_table_metadata_free(made);
    fx_apply_fails(base, "[{'action':'set-properties','updates':{'a':1}}]", FIRN_INVALID, "\"a\"");
    fx_apply_fails(base, "[{'action':'remove-properties','removals':[1]}]", FIRN_INVALID, "text");
    firn_table_metadata_free(base);
}

static void previous_versions_max(void **state) {
    (void)state;
    static const struct {
        const char *value;
        size_t count;
    } cases[] = {{"'1'", 1}, {"'0'", 1}, {"'-4'", 1}, {"'2'", 2}, {"'100'", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        firn_table_metadata *base = fx_parse(
            fx_with(FX_V2, "properties", "write.metadata.previous-versions-max", cases[i].value));
        firn_table_metadata *made = fx_apply(base, SET_PROPERTY, "m4", 0);
        assert_int_equal(made->metadata_log_count, cases[i].count);
        assert_string_equal(made->metadata_log[cases[i].count - 1].metadata_file, "m4");
        firn_table_metadata_free(made);
        firn_table_metadata_free(base);
    }
    firn_table_metadata *base =
        fx_parse(fx_with(FX_V2, "properties", "write.metadata.previous-versions-max", "'many'"));
    firn_table_metadata *made = NULL;
    firn_error error = {0};
    check_fails(fx_try_apply(base, SET_PROPERTY, "m4", 0, &made, &error), FIRN_INVALID, &error,
                "write.metadata.previous-versions-max");
    firn_table_metadata_free(base);
}

static void spelling_of_no_snapshot(void **state) {
    (void)state;
    static const char *const spellings[] = {NULL, "null", "-1"};
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < 3; i++) {
            json_t *json = fx_with(FX_V2, "", "current-snapshot-id", spellings[i]);
            json_object_set_new(json, "format-version", json_integer(version));
            json_object_set_new(json, "next-row-id", json_integer(0));
            json_object_set_new(json, "schema",
                                json_incref(json_array_get(json_object_get(json, "schemas"), 0)));
            json_object_del(json, "refs");
            firn_table_metadata *base = fx_parse(json);
            firn_table_metadata *made = fx_apply(base, SET_PROPERTY, NULL, 0);
            bool changes = version == 3 && i == 2;
            fx_check_key(made, "current-snapshot-id", changes ? "null" : spellings[i]);
            firn_table_metadata_free(made);
            firn_table_metadata_free(base);
        }
    }
}

static void clock_never_goes_back(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made = fx_apply(base, SET_PROPERTY, NULL, 7);
    assert_int_equal(made->last_updated_ms, 1000240000);
    firn_table_metadata_free(made);
    assert_int_equal(firn_table_metadata_change_time(base, 7), 1000240000);
    assert_int_equal(firn_table_metadata_change_time(base, 2000000000), 2000000000);
    /* A snapshot stamped later than the change moves it. */
    made =
        fx_apply(base, "[{'action':'add-snapshot','snapshot':" FX_SNAPSHOT(14, 4, 1000300000) "}]",
                 NULL, 1000250000);
    assert_int_equal(made->last_updated_ms, 1000300000);
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

#define COMMIT_14                                                                                  \
    "[{'action':'add-snapshot','snapshot':" FX_SNAPSHOT(                                           \
        14, 4, 1000300000) "},{'action':'set-snapshot-ref','ref-name':'main','type':'branch',"     \
                           "'snapshot-id':14,'max-snapshot-age-ms':5}]"

static void commit_of_a_snapshot(void **state) {
    (void)state;
    static const char *const touched[] = {"snapshots",
                                          "refs",
                                          "current-snapshot-id",
                                          "snapshot-log",
                                          "metadata-log",
                                          "last-updated-ms",
                                          "last-sequence-number",
                                          NULL};
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made = fx_apply(base, COMMIT_14, "m4", 1000300001);
    fx_check_untouched(base, made, touched);
    for (size_t i = 0; i < 3; i++) {
        assert_true(json_equal(json_array_get(json_object_get(base->json, "snapshots"), i),
                               json_array_get(json_object_get(made->json, "snapshots"), i)));
    }
    assert_int_equal(made->current_snapshot_id, 14);
    assert_int_equal(made->last_sequence_number, 4);
    fx_check_key(made, "refs",
                 "{'main':{'snapshot-id':14,'type':'branch','max-snapshot-age-ms':5,'odd':true},"
                 "'first':{'snapshot-id':11,'type':'tag'}}");
    assert_int_equal(made->snapshot_log_count, 4);
    assert_int_equal(made->snapshot_log[3].snapshot_id, 14);
    assert_int_equal(made->snapshot_log[3].timestamp_ms, 1000300001);
    fx_apply_fails(made, COMMIT_14, FIRN_INVALID, "already is a snapshot 14");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

static void stale_snapshot(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    fx_apply_fails(base, "[{'action':'add-snapshot','snapshot':" FX_SNAPSHOT(14, 3, 1) "}]",
                   FIRN_CONFLICT, "sequence number 3");
    fx_apply_fails(base, "[{'action':'add-snapshot','snapshot':{'snapshot-id':14}}]", FIRN_INVALID,
                   "timestamp-ms");
    firn_table_metadata_free(base);
}

/* The log says when a snapshot became current, not when it was made. */
static void rollback(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made = fx_apply(
        base, "[{'action':'set-snapshot-ref','ref-name':'main','type':'branch','snapshot-id':11}]",
        NULL, 1000360000);
    assert_int_equal(made->snapshot_log_count, 4);
    assert_int_equal(made->snapshot_log[3].snapshot_id, 11);
    assert_int_equal(made->snapshot_log[3].timestamp_ms, 1000360000);
    /* The protocol replaces the whole ref: a setting that isn't sent is gone. */
    fx_check_key(made, "refs",
                 "{'main':{'snapshot-id':11,'type':'branch','odd':true},"
                 "'first':{'snapshot-id':11,'type':'tag'}}");
    /* Expiring the middle one clears the log up to the gap. */
    firn_table_metadata *expired =
        fx_apply(made, "[{'action':'remove-snapshots','snapshot-ids':[12,99]}]", NULL, 1000370000);
    fx_check_key(expired, "snapshot-log",
                 "[{'timestamp-ms':1000240000,'snapshot-id':13},"
                 "{'timestamp-ms':1000360000,'snapshot-id':11}]");
    assert_int_equal(expired->snapshot_count, 2);
    firn_table_metadata_free(expired);
    /* main set to where it is: no entry. */
    firn_table_metadata *same = fx_apply(
        made, "[{'action':'set-snapshot-ref','ref-name':'main','type':'branch','snapshot-id':11}]",
        NULL, 1000370000);
    assert_int_equal(same->snapshot_log_count, 4);
    firn_table_metadata_free(same);
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

static void removing_snapshots(void **state) {
    (void)state;
    static const char *const touched[] = {"snapshots",  "snapshot-log",         "last-updated-ms",
                                          "statistics", "partition-statistics", NULL};
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made =
        fx_apply(base, "[{'action':'remove-snapshots','snapshot-ids':[12]}]", NULL, 0);
    fx_check_untouched(base, made, touched);
    assert_true(json_equal(json_array_get(json_object_get(base->json, "snapshots"), 2),
                           json_array_get(json_object_get(made->json, "snapshots"), 1)));
    assert_int_equal(json_array_size(json_object_get(made->json, "statistics")), 1);
    fx_check_key(made, "partition-statistics", "[]");
    assert_int_equal(made->snapshot_log_count, 1);
    firn_table_metadata_free(made);
    /* A snapshot that a ref names can only go together with the ref. */
    fx_apply_fails(base, "[{'action':'remove-snapshots','snapshot-ids':[11]}]", FIRN_INVALID,
                   "first");
    made = fx_apply(base,
                    "[{'action':'remove-snapshots','snapshot-ids':[11]},"
                    "{'action':'remove-snapshot-ref','ref-name':'first'}]",
                    NULL, 0);
    assert_int_equal(made->snapshot_count, 2);
    assert_int_equal(made->ref_count, 1);
    firn_table_metadata_free(made);
    fx_apply_fails(base, "[{'action':'remove-snapshots','snapshot-ids':['11']}]", FIRN_INVALID,
                   "snapshot-ids");
    firn_table_metadata_free(base);
}

static void refs(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_with(FX_V2, "", "refs", NULL));
    /* main becomes explicit beside the first other ref. */
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'set-snapshot-ref','ref-name':'t','type':'tag','snapshot-id':12,"
                 "'max-ref-age-ms':9}]",
                 NULL, 0);
    fx_check_key(made, "refs",
                 "{'main':{'snapshot-id':13,'type':'branch'},"
                 "'t':{'snapshot-id':12,'type':'tag','max-ref-age-ms':9}}");
    assert_int_equal(made->snapshot_log_count, 3);
    firn_table_metadata *gone =
        fx_apply(made, "[{'action':'remove-snapshot-ref','ref-name':'main'}]", NULL, 0);
    fx_check_key(gone, "current-snapshot-id", "-1");
    fx_check_key(gone, "snapshot-log", "[]");
    assert_int_equal(gone->ref_count, 1);
    firn_table_metadata_free(gone);
    fx_apply_fails(base,
                   "[{'action':'set-snapshot-ref','ref-name':'main','type':'tag',"
                   "'snapshot-id':12}]",
                   FIRN_INVALID, "branch");
    fx_apply_fails(base,
                   "[{'action':'set-snapshot-ref','ref-name':'x','type':'tag','snapshot-id':99}]",
                   FIRN_INVALID, "no snapshot 99");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* The builder sends an existing ref's settings along. */
static void builders(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_update update = {0};
    firn_error error = {0};
    check_ok(firn_table_update_init(&update, &error), &error);
    check_ok(firn_require_uuid(&update, base->table_uuid, &error), &error);
    check_ok(firn_require_uuid(&update, NULL, &error), &error);
    check_ok(firn_require_ref_snapshot(&update, "main", 13, &error), &error);
    check_ok(firn_require_ref_snapshot(&update, "new", FIRN_NO_SNAPSHOT, &error), &error);
    check_ok(firn_require_default_spec(&update, 0, &error), &error);
    check_ok(firn_require_current_schema(&update, 0, &error), &error);
    check_ok(firn_update_add_snapshot(&update, fx_json(FX_SNAPSHOT(14, 4, 1000300000)), &error),
             &error);
    check_ok(firn_update_set_snapshot_ref(&update, "main", true, 14,
                                          firn_table_metadata_ref(base, "main"), &error),
             &error);
    check_ok(firn_update_set_properties(&update, fx_json("{'p':'q'}"), &error), &error);
    check_ok(firn_update_remove_properties(&update, fx_json("['a']"), &error), &error);
    json_t *wanted = fx_json("[{'type':'assert-table-uuid',"
                             "'uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1'},"
                             "{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':13},"
                             "{'type':'assert-ref-snapshot-id','ref':'new','snapshot-id':null},"
                             "{'type':'assert-default-spec-id','default-spec-id':0},"
                             "{'type':'assert-current-schema-id','current-schema-id':0}]");
    assert_true(json_equal(update.requirements, wanted));
    json_decref(wanted);
    check_ok(firn_table_update_check(&update, base, &error), &error);
    firn_table_metadata *made = NULL;
    check_ok(firn_table_update_apply(&update, base, "m4", 1000300000, &made, &error), &error);
    assert_int_equal(firn_table_metadata_ref(made, "main")->max_snapshot_age_ms, 5);
    assert_string_equal(firn_table_metadata_property(made, "p"), "q");
    assert_null(firn_table_metadata_property(made, "a"));
    /* On top of itself the same update is a conflict. */
    check_fails(firn_table_update_check(&update, made, &error), FIRN_CONFLICT, &error,
                "\"main\" is at snapshot 14, not at 13");
    firn_table_metadata_free(made);
    firn_table_update_release(&update);
    firn_table_metadata_free(base);
}

static void requirement(const firn_table_metadata *base, const char *text, firn_status code,
                        const char *part) {
    firn_table_update update = {0};
    firn_error error = {0};
    check_ok(firn_table_update_init(&update, &error), &error);
    json_array_append_new(update.requirements, fx_json(text));
    firn_status status = firn_table_update_check(&update, base, &error);
    if (code == FIRN_OK) {
        check_ok(status, &error);
    } else {
        check_fails(status, code, &error, part);
    }
    firn_table_update_release(&update);
}

static void requirements(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    requirement(NULL, "{'type':'assert-create'}", FIRN_OK, NULL);
    requirement(base, "{'type':'assert-create'}", FIRN_CONFLICT, "exists");
    requirement(NULL, "{'type':'assert-default-spec-id','default-spec-id':0}", FIRN_CONFLICT,
                "does not exist");
    requirement(base, "{'type':'assert-table-uuid','uuid':'9C12D441-03FE-4693-9A96-A0705DDF69C1'}",
                FIRN_OK, NULL);
    requirement(base, "{'type':'assert-table-uuid','uuid':'x'}", FIRN_CONFLICT, "replaced");
    requirement(base, "{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':null}",
                FIRN_CONFLICT, "exists by now");
    requirement(base, "{'type':'assert-ref-snapshot-id','ref':'gone','snapshot-id':13}",
                FIRN_CONFLICT, "is gone");
    requirement(base, "{'type':'assert-ref-snapshot-id','ref':'main','snapshot-id':13.0}",
                FIRN_CORRUPT, "snapshot-id");
    requirement(base, "{'type':'assert-last-assigned-field-id','last-assigned-field-id':3}",
                FIRN_OK, NULL);
    requirement(base, "{'type':'assert-last-assigned-field-id','last-assigned-field-id':4}",
                FIRN_CONFLICT, "it is 3, not 4");
    requirement(base,
                "{'type':'assert-last-assigned-partition-id','last-assigned-partition-id':1000}",
                FIRN_OK, NULL);
    requirement(base, "{'type':'assert-default-sort-order-id','default-sort-order-id':1}",
                FIRN_CONFLICT, "assert-default-sort-order-id");
    requirement(base, "{'type':'assert-weather'}", FIRN_UNSUPPORTED, "assert-weather");
    firn_table_metadata_free(base);
}

static void statistics(void **state) {
    (void)state;
    static const char *const touched[] = {"statistics", "last-updated-ms", NULL};
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'set-statistics','snapshot-id':11,'statistics':{'snapshot-id':11,"
                 "'statistics-path':'new'}}]",
                 NULL, 0);
    fx_check_untouched(base, made, touched);
    const json_t *list = json_object_get(made->json, "statistics");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(list, 1), "statistics-path")), "new");
    firn_table_metadata_free(made);
    made = fx_apply(base,
                    "[{'action':'remove-statistics','snapshot-id':12},"
                    "{'action':'remove-partition-statistics','snapshot-id':12},"
                    "{'action':'set-partition-statistics','partition-statistics':"
                    "{'snapshot-id':13,'statistics-path':'p','file-size-in-bytes':1}}]",
                    NULL, 0);
    assert_int_equal(json_array_size(json_object_get(made->json, "statistics")), 1);
    fx_check_key(made, "partition-statistics",
                 "[{'snapshot-id':13,'statistics-path':'p','file-size-in-bytes':1}]");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

static void schemas_and_specs(void **state) {
    (void)state;
    /* Both counters are too low: new ids must not collide. */
    json_t *json = fx_with(FX_V2, "", "last-partition-id", "999");
    json_object_set_new(json, "last-column-id", json_integer(1));
    json_array_append_new(json_object_get(json, "partition-specs"),
                          fx_json("{'spec-id':1,'fields':[]}"));
    json_object_set_new(json, "default-spec-id", json_integer(1));
    firn_table_metadata *base = fx_parse(json);
    firn_table_metadata *made = fx_apply(
        base,
        "[{'action':'add-spec','spec':{'fields':[{'name':'z_day','transform':'day','source-id':3},"
        "{'name':'x_bucket','transform':'bucket[16]','source-id':1}]}},"
        "{'action':'set-default-spec','spec-id':-1}]",
        NULL, 0);
    assert_int_equal(made->default_spec->spec_id, 2);
    assert_int_equal(made->default_spec->fields[0].field_id, 1001);
    /* The equivalent field of spec 0 lends its id. */
    assert_int_equal(made->default_spec->fields[1].field_id, 1000);
    fx_check_key(made, "last-partition-id", "1001");
    firn_table_metadata_free(made);
    /* An equivalent spec is not made again. */
    made = fx_apply(
        base,
        "[{'action':'add-spec','spec':{'spec-id':9,'fields':[{'name':'x_bucket',"
        "'transform':'bucket[16]','source-id':1}]}},{'action':'set-default-spec','spec-id':-1}]",
        NULL, 0);
    assert_int_equal(made->spec_count, 2);
    assert_int_equal(made->default_spec->spec_id, 0);
    firn_table_metadata_free(made);
    fx_apply_fails(base,
                   "[{'action':'add-spec','spec':{'fields':[{'name':'a','transform':'day',"
                   "'source-id':1}]}}]",
                   FIRN_INVALID, "can't take");
    fx_apply_fails(base,
                   "[{'action':'add-spec','spec':{'fields':[{'name':'a','transform':'odd',"
                   "'source-id':1}]}}]",
                   FIRN_INVALID, "not known");
    fx_apply_fails(base,
                   "[{'action':'add-spec','spec':{'fields':[{'name':'a','transform':'day',"
                   "'source-id':9}]}}]",
                   FIRN_INVALID, "no column 9");
    fx_apply_fails(base, "[{'action':'set-default-spec','spec-id':-1}]", FIRN_INVALID,
                   "no partition spec -1");
    /* Schemas likewise. */
    made = fx_apply(base,
                    "[{'action':'add-schema','schema':{'type':'struct','schema-id':0,'fields':["
                    "{'id':5,'name':'w','required':false,'type':'int'}]}},"
                    "{'action':'set-current-schema','schema-id':-1}]",
                    NULL, 0);
    assert_int_equal(made->schema->schema_id, 1);
    fx_check_key(made, "last-column-id", "5");
    firn_table_metadata *pruned = fx_apply(made,
                                           "[{'action':'remove-schemas','schema-ids':[0]},"
                                           "{'action':'remove-partition-specs','spec-ids':[0]}]",
                                           NULL, 0);
    assert_int_equal(pruned->schema_count, 1);
    assert_int_equal(pruned->spec_count, 1);
    firn_table_metadata_free(pruned);
    fx_apply_fails(made, "[{'action':'remove-schemas','schema-ids':[1]}]", FIRN_INVALID, "in use");
    firn_table_metadata_free(made);
    made = fx_apply(base,
                    "[{'action':'add-schema','schema':" FX_SCHEMA "},"
                    "{'action':'set-current-schema','schema-id':-1}]",
                    NULL, 0);
    assert_int_equal(made->schema_count, 1);
    firn_table_metadata_free(made);
    /* Readers index fields by full name. */
    fx_apply_fails(base,
                   "[{'action':'add-schema','schema':{'type':'struct','fields':[{'id':5,'name':"
                   "'l.element','required':false,'type':'int'},{'id':6,'name':'l','required':false,"
                   "'type':{'type':'list','element-id':7,'element-required':false,"
                   "'element':'int'}}]}}]",
                   FIRN_INVALID, "two fields with the full name \"l.element\"");
    fx_apply_fails(base, "[{'action':'set-current-schema','schema-id':4}]", FIRN_INVALID,
                   "no schema 4");
    firn_table_metadata_free(base);
}

static void sort_orders(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'add-sort-order','sort-order':{'order-id':0,'fields':[{'source-id':1,"
                 "'transform':'identity','direction':'asc','null-order':'nulls-first'}]}},"
                 "{'action':'set-default-sort-order','sort-order-id':-1}]",
                 NULL, 0);
    assert_int_equal(made->default_sort_order_id, 1);
    assert_int_equal(made->sort_order_count, 2);
    firn_table_metadata *back =
        fx_apply(made,
                 "[{'action':'add-sort-order','sort-order':{'order-id':7,'fields':[]}},"
                 "{'action':'set-default-sort-order','sort-order-id':-1}]",
                 NULL, 0);
    assert_int_equal(back->default_sort_order_id, 0);
    assert_int_equal(back->sort_order_count, 2);
    firn_table_metadata_free(back);
    fx_apply_fails(made, "[{'action':'set-default-sort-order','sort-order-id':5}]", FIRN_INVALID,
                   "no sort order 5");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

static void v1_keeps_both_spellings(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V1));
    firn_table_metadata *made = fx_apply(base,
                                         "[{'action':'add-snapshot','snapshot':" FX_SNAPSHOT(
                                             5, 1, 2000) "},"
                                                         "{'action':'set-snapshot-ref','ref-name':'"
                                                         "main','type':'branch','snapshot-id':5}]",
                                         "v1.metadata.json", 2000);
    assert_null(json_object_get(made->json, "last-sequence-number"));
    assert_null(json_object_get(json_array_get(json_object_get(made->json, "snapshots"), 0),
                                "sequence-number"));
    fx_check_key(made, "partition-spec",
                 "[{'name':'x','transform':'identity','source-id':1,'field-id':1000},"
                 "{'name':'z_day','transform':'day','source-id':3,'field-id':1001}]");
    const json_t *spec = json_array_get(json_object_get(made->json, "partition-specs"), 0);
    assert_true(
        json_equal(json_object_get(spec, "fields"), json_object_get(made->json, "partition-spec")));
    fx_check_key(made, "current-schema-id", "0");
    fx_check_key(made, "default-spec-id", "0");
    fx_check_key(made, "last-partition-id", "1001");
    fx_check_key(made, "sort-orders", "[{'order-id':0,'fields':[]}]");
    assert_true(
        json_equal(json_object_get(base->json, "schema"), json_object_get(made->json, "schema")));
    assert_true(json_equal(
        json_object_get(json_object_get(made->json, "schema"), "fields"),
        json_object_get(json_array_get(json_object_get(made->json, "schemas"), 0), "fields")));
    /* The old keys follow the current ids. */
    firn_table_metadata *evolved = fx_apply(
        made,
        "[{'action':'add-spec','spec':{'fields':[]}},{'action':'set-default-spec','spec-id':-1},"
        "{'action':'add-schema','schema':{'type':'struct','fields':[{'id':4,'name':'n',"
        "'required':false,'type':'int'}]}},{'action':'set-current-schema','schema-id':-1}]",
        NULL, 0);
    fx_check_key(evolved, "partition-spec", "[]");
    fx_check_key(evolved, "schema",
                 "{'type':'struct','schema-id':1,'fields':[{'id':4,'name':'n','required':false,"
                 "'type':'int'}]}");
    firn_table_metadata_free(evolved);
    /* And go with v2. */
    firn_table_metadata *upgraded =
        fx_apply(base, "[{'action':'upgrade-format-version','format-version':2}]", NULL, 0);
    fx_check_key(upgraded, "schema", NULL);
    fx_check_key(upgraded, "partition-spec", NULL);
    fx_check_key(upgraded, "last-sequence-number", "0");
    assert_non_null(upgraded->table_uuid);
    assert_int_equal(upgraded->default_spec->fields[1].field_id, 1001);
    firn_table_metadata_free(upgraded);
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

#define V3_SNAPSHOT(first, rows)                                                                   \
    "[{'action':'add-snapshot','snapshot':{'snapshot-id':20,'sequence-number':9,"                  \
    "'timestamp-ms':1000300000,'manifest-list':'l','summary':{'operation':'append'},"              \
    "'first-row-id':" #first ",'added-rows':" #rows "}}]"

static void row_ids(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *v3 =
        fx_apply(base, "[{'action':'upgrade-format-version','format-version':3}]", NULL, 0);
    static const char *const touched[] = {"format-version", "last-updated-ms", NULL};
    fx_check_untouched(base, v3, touched);
    fx_check_key(v3, "next-row-id", "0");
    firn_table_metadata *made = fx_apply(v3, V3_SNAPSHOT(0, 7), NULL, 0);
    fx_check_key(made, "next-row-id", "7");
    assert_int_equal(made->next_row_id, 7);
    assert_int_equal(made->last_sequence_number, 9);
    assert_false(made->snapshots[0].has_first_row_id);
    firn_table_metadata *more =
        fx_apply(made,
                 "[{'action':'add-snapshot','snapshot':{'snapshot-id':21,'sequence-number':10,"
                 "'timestamp-ms':1000300000,'manifest-list':'l','first-row-id':7,"
                 "'added-rows':0}}]",
                 NULL, 0);
    assert_int_equal(more->next_row_id, 7);
    fx_apply_fails(more,
                   "[{'action':'add-snapshot','snapshot':{'snapshot-id':22,'sequence-number':11,"
                   "'timestamp-ms':1,'manifest-list':'l','first-row-id':6,'added-rows':1}}]",
                   FIRN_CONFLICT, "row id 6");
    fx_apply_fails(more,
                   "[{'action':'add-snapshot','snapshot':{'snapshot-id':22,'sequence-number':11,"
                   "'timestamp-ms':1,'manifest-list':'l'}}]",
                   FIRN_INVALID, "first-row-id");
    fx_apply_fails(v3, V3_SNAPSHOT(5, 9223372036854775807), FIRN_INVALID, "added-rows");
    firn_table_metadata_free(more);
    firn_table_metadata_free(made);
    firn_table_metadata_free(v3);
    fx_apply_fails(base, "[{'action':'upgrade-format-version','format-version':1}]", FIRN_INVALID,
                   "v2");
    fx_apply_fails(base, "[{'action':'upgrade-format-version','format-version':4}]",
                   FIRN_UNSUPPORTED, "4");
    firn_table_metadata_free(base);
}

static void identity_and_unknown(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    fx_apply_fails(base, "[{'action':'assign-uuid','uuid':'other'}]", FIRN_INVALID, "uuid");
    fx_apply_fails(base, "[{'action':'make-tea'}]", FIRN_UNSUPPORTED, "make-tea");
    fx_apply_fails(base, "[{}]", FIRN_INVALID, "action");
    fx_apply_fails(base, "[7]", FIRN_INVALID, "action");
    firn_table_metadata *made =
        fx_apply(base, "[{'action':'set-location','location':'s3://c/u/'}]", NULL, 0);
    assert_string_equal(made->location, "s3://c/u");
    fx_check_key(made, "location", "'s3://c/u/'");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
    base = fx_parse(fx_json(FX_V1));
    made = fx_apply(base, "[{'action':'assign-uuid','uuid':'u'}]", NULL, 0);
    assert_string_equal(made->table_uuid, "u");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
    firn_error error = {0};
    firn_table_update update = {0};
    check_ok(firn_table_update_init(&update, &error), &error);
    check_fails(firn_table_update_apply(&update, NULL, NULL, 0, &made, &error), FIRN_INVALID,
                &error, "no table");
    firn_table_update_release(&update);
}

static void new_tables(void **state) {
    (void)state;
    for (int version = 1; version <= 3; version++) {
        firn_table_metadata *made = NULL;
        firn_error error = {0};
        check_ok(firn_table_metadata_create(
                     version, "/w/t", fx_json(FX_SCHEMA),
                     fx_json("{'fields':[{'name':'d','transform':'day','source-id':3}]}"),
                     version == 2 ? NULL : fx_json("{'k':'v'}"), 77, &made, &error),
                 &error);
        assert_int_equal(made->format_version, version);
        assert_int_equal(strlen(made->table_uuid), 36);
        assert_int_equal(made->last_column_id, 3);
        assert_int_equal(made->default_spec->fields[0].field_id, 1000);
        fx_check_key(made, "current-snapshot-id", version == 3 ? "null" : "-1");
        fx_check_key(made, "next-row-id", version == 3 ? "0" : NULL);
        fx_check_key(made, "partition-spec",
                     version == 1 ? "[{'name':'d','transform':'day','source-id':3,"
                                    "'field-id':1000}]"
                                  : NULL);
        assert_int_equal(json_object_get(made->json, "schema") != NULL, version == 1);
        firn_table_metadata_free(made);
        check_ok(firn_table_metadata_create(version, "/w/t", fx_json(FX_SCHEMA), NULL, NULL, 77,
                                            &made, &error),
                 &error);
        assert_true(firn_partition_spec_is_unpartitioned(made->default_spec));
        assert_int_equal(made->last_partition_id, 999);
        firn_table_metadata_free(made);
    }
    firn_table_metadata *made = NULL;
    firn_error error = {0};
    check_fails(
        firn_table_metadata_create(4, "/w/t", fx_json(FX_SCHEMA), NULL, NULL, 77, &made, &error),
        FIRN_UNSUPPORTED, &error, "4");
    check_fails(firn_table_metadata_create(
                    2, "/w/t", fx_json(FX_SCHEMA),
                    fx_json("{'fields':[{'name':'d','transform':'day','source-id':1}]}"), NULL, 77,
                    &made, &error),
                FIRN_INVALID, &error, "can't take");
    check_fails(firn_table_metadata_create(2, "/w/t", fx_json("{}"), NULL, NULL, 77, &made, &error),
                FIRN_INVALID, &error, "type");
}

typedef struct sweep {
    const firn_table_metadata *base;
    firn_table_update update;
} sweep;

static firn_status apply_once(void *context, firn_error *error) {
    const sweep *work = context;
    firn_table_metadata *made = NULL;
    firn_status status =
        firn_table_update_apply(&work->update, work->base, "m9", 1000400000, &made, error);
    if (status == FIRN_OK) firn_table_metadata_free(made);
    return status;
}

static void sweep_over(const char *document, const char *updates) {
    firn_error error = {0};
    firn_table_metadata *base = fx_parse(fx_json(document));
    json_t *before = json_deep_copy(base->json);
    sweep work = {.base = base};
    check_ok(firn_table_update_init(&work.update, &error), &error);
    json_decref(work.update.updates);
    work.update.updates = fx_json(updates);
    json_t *given = json_deep_copy(work.update.updates);
    check_each_allocation(apply_once, &work);
    assert_true(json_equal(before, base->json));
    assert_true(json_equal(given, work.update.updates));
    json_decref(before);
    json_decref(given);
    firn_table_update_release(&work.update);
    firn_table_metadata_free(base);
}

static void failing_memory(void **state) {
    (void)state;
    sweep_over(FX_V2,
               "[{'action':'upgrade-format-version','format-version':3},"
               "{'action':'add-schema','schema':{'type':'struct','fields':[{'id':1,'name':'n',"
               "'required':false,'type':'long'},{'id':3,'name':'z','required':false,"
               "'type':'timestamptz'}]}},{'action':'set-current-schema','schema-id':-1},"
               "{'action':'add-spec','spec':{'fields':[{'name':'z_day','transform':'day',"
               "'source-id':3}]}},{'action':'set-default-spec','spec-id':-1},"
               "{'action':'add-sort-order','sort-order':{'order-id':1,'fields':[{'source-id':1,"
               "'transform':'identity','direction':'asc','null-order':'nulls-last'}]}},"
               "{'action':'set-default-sort-order','sort-order-id':-1},"
               "{'action':'add-snapshot','snapshot':{'snapshot-id':20,'sequence-number':9,"
               "'timestamp-ms':1000300000,'manifest-list':'l','first-row-id':0,'added-rows':3}},"
               "{'action':'set-snapshot-ref','ref-name':'main','type':'branch','snapshot-id':20},"
               "{'action':'remove-snapshots','snapshot-ids':[12]},"
               "{'action':'set-properties','updates':{'k':'v'}},"
               "{'action':'remove-properties','removals':['a']},"
               "{'action':'set-statistics','statistics':{'snapshot-id':13,"
               "'statistics-path':'s'}},{'action':'set-location','location':'x'}]");
    sweep_over(FX_V1, "[{'action':'set-properties','updates':{'k':'v'}}]");
    sweep_over(FX_V1, "[{'action':'upgrade-format-version','format-version':2}]");
}

static firn_status create_once(void *context, firn_error *error) {
    (void)context;
    firn_table_metadata *made = NULL;
    json_t *schema = json_pack("{s:s, s:[{s:i, s:s, s:b, s:s}]}", "type", "struct", "fields", "id",
                               1, "name", "x", "required", 1, "type", "long");
    json_t *spec = json_pack("{s:[{s:s, s:s, s:i}]}", "fields", "name", "x", "transform",
                             "identity", "source-id", 1);
    if (schema == NULL || spec == NULL) {
        json_decref(schema);
        json_decref(spec);
        return firn_fail_memory(error);
    }
    firn_status status = firn_table_metadata_create(1, "/t", schema, spec, NULL, 5, &made, error);
    if (status == FIRN_OK) firn_table_metadata_free(made);
    return status;
}

static firn_status build_once(void *context, firn_error *error) {
    (void)context;
    firn_table_update update = {0};
    firn_snapshot_ref ref = {"main", 1, true, 1, 2, 3};
    firn_status status = FIRN_OK;
    FIRN_TRY(firn_table_update_init(&update, error));
    FIRN_CHECK(firn_require_uuid(&update, "u", error));
    FIRN_CHECK(firn_require_ref_snapshot(&update, "main", 1, error));
    FIRN_CHECK(firn_require_create(&update, error));
    FIRN_CHECK(firn_update_add_snapshot(&update, json_object(), error));
    FIRN_CHECK(firn_update_set_snapshot_ref(&update, "main", true, 2, &ref, error));
    FIRN_CHECK(firn_update_set_properties(&update, json_object(), error));
    FIRN_CHECK(firn_update_remove_properties(&update, json_array(), error));
out:
    firn_table_update_release(&update);
    return status;
}

static void failing_memory_of_builders(void **state) {
    (void)state;
    firn_json_setup();
    check_each_allocation(create_once, NULL);
    check_each_allocation(build_once, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_only),
        cmocka_unit_test(previous_versions_max),
        cmocka_unit_test(spelling_of_no_snapshot),
        cmocka_unit_test(clock_never_goes_back),
        cmocka_unit_test(commit_of_a_snapshot),
        cmocka_unit_test(stale_snapshot),
        cmocka_unit_test(rollback),
        cmocka_unit_test(removing_snapshots),
        cmocka_unit_test(refs),
        cmocka_unit_test(builders),
        cmocka_unit_test(requirements),
        cmocka_unit_test(statistics),
        cmocka_unit_test(schemas_and_specs),
        cmocka_unit_test(sort_orders),
        cmocka_unit_test(v1_keeps_both_spellings),
        cmocka_unit_test(row_ids),
        cmocka_unit_test(identity_and_unknown),
        cmocka_unit_test(new_tables),
        cmocka_unit_test(failing_memory),
        cmocka_unit_test(failing_memory_of_builders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
