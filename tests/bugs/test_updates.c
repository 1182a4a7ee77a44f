/* Public reports about changes of metadata that no verb makes yet: through the function that applies updates. */
#include "iceberg/fixture.h"

#define PROPERTY "[{'action':'set-properties','updates':{'a':'b'}}]"

/* A v2 document of the reports' own shapes: fields, specs and both counters are given. */
#define DOCUMENT(version, fields, column, specs, partition, more)                                  \
    "{'format-version':" version ",'table-uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1',"           \
    "'location':'s3://b/t','last-sequence-number':2,'last-updated-ms':1000,"                       \
    "'last-column-id':" column ",'current-schema-id':0,'schemas':[{'type':'struct',"               \
    "'schema-id':0,'fields':[" fields "]}],'default-spec-id':0,'partition-specs':[" specs          \
    "],'last-partition-id':" partition ",'default-sort-order-id':0,"                               \
    "'sort-orders':[{'order-id':0,'fields':[]}]" more "}"
#define ID "{'id':1,'name':'id','required':false,'type':'long'}"
#define UNPARTITIONED "{'spec-id':0,'fields':[]}"

/* Report 2, apache/iceberg-python#1164: the spelling of "no snapshot" is kept; v3 never says -1. */
static void report_2_spelling_of_no_snapshot(void **state) {
    (void)state;
    static const struct {
        const char *document, *expected;
    } cases[] = {
        {DOCUMENT("2", ID, "1", UNPARTITIONED, "999", ",'current-snapshot-id':-1"), "-1"},
        {DOCUMENT("2", ID, "1", UNPARTITIONED, "999", ",'current-snapshot-id':null"), "null"},
        {DOCUMENT("2", ID, "1", UNPARTITIONED, "999", ""), NULL},
        {DOCUMENT("3", ID, "1", UNPARTITIONED, "999", ",'next-row-id':0"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        firn_table_metadata *base = fx_parse(fx_json(cases[i].document));
        firn_table_metadata *made = fx_apply(base, PROPERTY, NULL, 0);
        fx_check_key(made, "current-snapshot-id", cases[i].expected);
        firn_table_metadata_free(made);
        firn_table_metadata_free(base);
    }
    firn_table_metadata *base = fx_parse(fx_json(
        DOCUMENT("3", ID, "1", UNPARTITIONED, "999", ",'next-row-id':0,'current-snapshot-id':-1")));
    firn_table_metadata *made = fx_apply(base, PROPERTY, NULL, 0);
    const json_t *value = json_object_get(made->json, "current-snapshot-id");
    assert_true(value == NULL || json_is_null(value));
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* Report 3, apache/iceberg-rust PR#755: a round trip adds no id and no empty collection. */
static void report_3_round_trip(void **state) {
    (void)state;
    static const char *const documents[] = {FX_V2,
                                            DOCUMENT("2", ID, "1", UNPARTITIONED, "999", "")};
    static const char *const touched[] = {"properties", "last-updated-ms", "metadata-log", NULL};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        firn_table_metadata *base = fx_parse(fx_json(documents[i]));
        firn_table_metadata *made = fx_apply(base, PROPERTY, NULL, 0);
        fx_check_untouched(base, made, touched);
        firn_table_metadata_free(made);
        firn_table_metadata_free(base);
    }
    /* A minimal v1 document gets the lists that v1 writers of today add, and no snapshot. */
    firn_table_metadata *base = fx_parse(fx_json(FX_V1));
    firn_table_metadata *made = fx_apply(base, PROPERTY, NULL, 0);
    static const char *const absent[] = {"current-snapshot-id", "statistics", "refs",
                                         "partition-statistics"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) fx_check_key(made, absent[i], NULL);
    fx_check_key(made, "location", "'s3://b/t/'");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* Report 11, apache/iceberg-go#1987: the counter is the highest id of any spec, whatever is stored. */
static void report_11_partition_counter_that_fell_back(void **state) {
    (void)state;
    json_t *json = fx_json(DOCUMENT("2", ID, "1",
                                    "{'spec-id':0,'fields':[{'source-id':1,'field-id':1000,"
                                    "'name':'id','transform':'identity'}]},"
                                    "{'spec-id':1,'fields':[]}",
                                    "999", ""));
    json_object_set_new(json, "default-spec-id", json_integer(1));
    firn_table_metadata *base = fx_parse(json);
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'add-spec','spec':{'fields':[{'source-id':1,'name':'id_bucket',"
                 "'transform':'bucket[16]'}]}},{'action':'set-default-spec','spec-id':-1}]",
                 NULL, 0);
    assert_int_equal(made->default_spec->fields[0].field_id, 1001);
    fx_check_key(made, "last-partition-id", "1001");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

#define NESTED                                                                                     \
    ID ",{'id':2,'name':'t','required':false,'type':{'type':'struct','fields':["                   \
       "{'id':3,'name':'l','required':false,'type':{'type':'list','element-id':4,"                 \
       "'element-required':false,'element':'long'}},"                                              \
       "{'id':5,'name':'m','required':false,'type':{'type':'map','key-id':6,'key':'string',"       \
       "'value-id':7,'value-required':false,'value':'long'}}]}}"

/* Report 12, ClickHouse/ClickHouse#110877: ids of nested fields, elements, keys and values count too. */
static void report_12_column_counter_that_is_too_low(void **state) {
    (void)state;
    static const char *const stored[] = {"1", "2", "4", "7", "9"};
    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        json_t *json = fx_json(DOCUMENT("2", NESTED, "1", UNPARTITIONED, "999", ""));
        json_object_set_new(json, "last-column-id", json_integer(atoi(stored[i])));
        firn_table_metadata *base = fx_parse(json);
        firn_table_metadata *made = fx_apply(
            base,
            "[{'action':'add-schema','schema':{'type':'struct','schema-id':1,'fields':[" ID "]}}]",
            NULL, 0);
        fx_check_key(made, "last-column-id", atoi(stored[i]) > 7 ? stored[i] : "7");
        firn_table_metadata_free(made);
        firn_table_metadata_free(base);
    }
    /* A schema in which two things share an id is refused. */
    firn_table_metadata *base =
        fx_parse(fx_json(DOCUMENT("2", NESTED, "7", UNPARTITIONED, "999", "")));
    firn_table_metadata *made = NULL;
    firn_error error = {0};
    firn_status status =
        fx_try_apply(base,
                     "[{'action':'add-schema','schema':{'type':'struct','schema-id':1,'fields':[" ID
                     ",{'id':2,'name':'l','required':false,'type':{'type':'list','element-id':1,"
                     "'element-required':false,'element':'long'}}]}}]",
                     NULL, 0, &made, &error);
    assert_int_not_equal(status, FIRN_OK);
    assert_null(made);
    assert_non_null(strstr(error.message, "id 1"));
    firn_table_metadata_free(base);
}

#define DEFAULTS                                                                                   \
    ID ",{'id':2,'name':'n','required':false,'type':'string','initial-default':'foo',"             \
       "'write-default':'bar','x-unknown':{'a':[1]}},"                                             \
       "{'id':3,'name':'k','required':false,'type':'int','initial-default':null}"

/* Report 13, apache/iceberg-python#1431: defaults and unknown keys of a field survive a change of schema. */
static void report_13_defaults_survive(void **state) {
    (void)state;
    firn_table_metadata *base =
        fx_parse(fx_json(DOCUMENT("3", DEFAULTS, "3", UNPARTITIONED, "999", ",'next-row-id':0")));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'set-properties','updates':{'a':'b'}},{'action':'add-schema',"
                 "'schema':{'type':'struct','schema-id':1,'fields':[" DEFAULTS
                 ",{'id':4,'name':'new','required':false,'type':'long'}]}},"
                 "{'action':'set-current-schema','schema-id':-1}]",
                 NULL, 0);
    const json_t *before = json_object_get(base->json, "schemas");
    const json_t *after = json_object_get(made->json, "schemas");
    assert_int_equal(json_array_size(after), 2);
    assert_true(json_equal(json_array_get(before, 0), json_array_get(after, 0)));
    const json_t *fields = json_object_get(json_array_get(before, 0), "fields");
    const json_t *kept = json_object_get(json_array_get(after, 1), "fields");
    for (size_t i = 0; i < 3; i++) {
        assert_true(json_equal(json_array_get(fields, i), json_array_get(kept, i)));
    }
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* Report 16, trinodb/trino#12353: the log's time is the change's, and trimming clears all before a gap. */
static void report_16_rollback_and_expiry(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V2));
    firn_table_metadata *back = fx_apply(
        base, "[{'action':'set-snapshot-ref','ref-name':'main','type':'branch','snapshot-id':11}]",
        NULL, 1000500000);
    fx_check_key(back, "snapshot-log",
                 "[{'timestamp-ms':1000000000,'snapshot-id':11},"
                 "{'timestamp-ms':1000120000,'snapshot-id':12},"
                 "{'timestamp-ms':1000240000,'snapshot-id':13},"
                 "{'timestamp-ms':1000500000,'snapshot-id':11}]");
    /* The new document is read again, unsorted by snapshot as it is. */
    firn_table_metadata *again = fx_parse(json_deep_copy(back->json));
    assert_int_equal(again->current_snapshot_id, 11);
    firn_table_metadata *expired =
        fx_apply(again, "[{'action':'remove-snapshots','snapshot-ids':[12]}]", NULL, 1000600000);
    fx_check_key(expired, "snapshot-log",
                 "[{'timestamp-ms':1000240000,'snapshot-id':13},"
                 "{'timestamp-ms':1000500000,'snapshot-id':11}]");
    firn_table_metadata_free(expired);
    firn_table_metadata_free(again);
    firn_table_metadata_free(back);
    firn_table_metadata_free(base);
}

#define SNAPSHOT_V3                                                                                \
    "{'snapshot-id':14,'sequence-number':4,'timestamp-ms':1000300000,'manifest-list':'l',"         \
    "'summary':{'operation':'append'},'schema-id':0,'first-row-id':0,'added-rows':5}"

/* Report 17, apache/iceberg-rust#2009: an upgrade to v3 leaves old snapshots as they are; ids begin with the first v3 commit. */
static void report_17_upgrade_to_v3(void **state) {
    (void)state;
    json_t *document = fx_json(FX_V2);
    json_object_del(document, "encryption-keys");
    firn_table_metadata *base = fx_parse(document);
    firn_table_metadata *made = fx_apply(
        base, "[{'action':'upgrade-format-version','format-version':3}]", NULL, 1000300000);
    assert_int_equal(made->format_version, 3);
    fx_check_key(made, "next-row-id", "0");
    assert_true(json_equal(json_object_get(base->json, "snapshots"),
                           json_object_get(made->json, "snapshots")));
    firn_table_metadata *added =
        fx_apply(made, "[{'action':'add-snapshot','snapshot':" SNAPSHOT_V3 "}]", NULL, 1000300000);
    fx_check_key(added, "next-row-id", "5");
    assert_true(json_equal(json_array_get(json_object_get(base->json, "snapshots"), 0),
                           json_array_get(json_object_get(added->json, "snapshots"), 0)));
    firn_table_metadata_free(added);
    /* The first v3 snapshot must say which ids it takes. */
    fx_apply_fails(made,
                   "[{'action':'add-snapshot','snapshot':" FX_SNAPSHOT(14, 4, 1000300000) "}]",
                   FIRN_INVALID, "first-row-id");
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* Report 18, apache/iceberg-go#344: v1 has the old keys beside the new ones; unpartitioned is an empty list. */
static void report_18_v1_mirror_keys(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_with(FX_V1, "", "partition-spec", "[]"));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'add-schema','schema':{'type':'struct','schema-id':1,'fields':["
                 "{'id':1,'name':'x','required':true,'type':'long'},"
                 "{'id':4,'name':'w','required':false,'type':'int'}]}},"
                 "{'action':'set-current-schema','schema-id':-1}]",
                 NULL, 0);
    fx_check_key(made, "partition-spec", "[]");
    const json_t *current = json_array_get(json_object_get(made->json, "schemas"), 1);
    assert_true(json_equal(json_object_get(json_object_get(made->json, "schema"), "fields"),
                           json_object_get(current, "fields")));
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

/* Report 19, apache/iceberg-cpp PR#121: ids by position are written out when a minimal v1 table becomes v2. */
static void report_19_minimal_v1_to_v2(void **state) {
    (void)state;
    firn_table_metadata *base = fx_parse(fx_json(FX_V1));
    firn_table_metadata *made =
        fx_apply(base,
                 "[{'action':'assign-uuid','uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1'},"
                 "{'action':'upgrade-format-version','format-version':2}]",
                 NULL, 0);
    fx_check_key(made, "partition-specs",
                 "[{'spec-id':0,'fields':[{'name':'x','transform':'identity','source-id':1,"
                 "'field-id':1000},{'name':'z_day','transform':'day','source-id':3,"
                 "'field-id':1001}]}]");
    fx_check_key(made, "last-partition-id", "1001");
    fx_check_key(made, "partition-spec", NULL);
    fx_check_key(made, "schema", NULL);
    fx_check_key(made, "last-sequence-number", "0");
    assert_int_equal(json_array_size(json_object_get(made->json, "schemas")), 1);
    firn_table_metadata_free(made);
    firn_table_metadata_free(base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_2_spelling_of_no_snapshot),
        cmocka_unit_test(report_3_round_trip),
        cmocka_unit_test(report_11_partition_counter_that_fell_back),
        cmocka_unit_test(report_12_column_counter_that_is_too_low),
        cmocka_unit_test(report_13_defaults_survive),
        cmocka_unit_test(report_16_rollback_and_expiry),
        cmocka_unit_test(report_17_upgrade_to_v3),
        cmocka_unit_test(report_18_v1_mirror_keys),
        cmocka_unit_test(report_19_minimal_v1_to_v2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
