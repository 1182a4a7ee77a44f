/** FX-JSON: metadata documents for tests, changed at one key, and updates from JSON text with single quotes. */
#ifndef FIRN_TESTS_ICEBERG_FIXTURE_H
#define FIRN_TESTS_ICEBERG_FIXTURE_H

#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "iceberg/update.h"

/** JSON from text in which ' stands for ". */
static inline json_t *fx_json(const char *text) {
    char *copy = firn_strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p != '\0'; p++) {
        if (*p == '\'') *p = '"';
    }
    json_t *json = NULL;
    firn_error error = {0};
    check_ok(firn_json_parse(firn_slice_text(copy), "fixture", &json, &error), &error);
    firn_free(copy);
    return json;
}

#define FX_SCHEMA                                                                                  \
    "{'type':'struct','schema-id':0,'fields':["                                                    \
    "{'id':1,'name':'x','required':true,'type':'long'},"                                           \
    "{'id':2,'name':'y','required':false,'type':'string','doc':'a comment'},"                      \
    "{'id':3,'name':'z','required':false,'type':'timestamptz'}]}"

#define FX_SNAPSHOT(id, seq, ms)                                                                   \
    "{'snapshot-id':" #id ",'sequence-number':" #seq ",'timestamp-ms':" #ms                        \
    ",'manifest-list':'s3://b/t/metadata/" #id ".avro','summary':{'operation':'append'},"          \
    "'schema-id':0,'odd-key':[1,2.5,null]}"

/** Three snapshots two minutes apart, main at the third, a tag at the first; every kind of list that must survive. */
#define FX_V2                                                                                      \
    "{'format-version':2,'table-uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1',"                     \
    "'location':'s3://b/t','last-sequence-number':3,'last-updated-ms':1000240000,"                 \
    "'last-column-id':3,'current-schema-id':0,'schemas':[" FX_SCHEMA "],"                          \
    "'default-spec-id':0,'partition-specs':[{'spec-id':0,'fields':[{'name':'x_bucket',"            \
    "'transform':'bucket[16]','source-id':1,'field-id':1000}]}],'last-partition-id':1000,"         \
    "'default-sort-order-id':0,'sort-orders':[{'order-id':0,'fields':[]}],"                        \
    "'properties':{'a':'1','write.metadata.previous-versions-max':'3'},"                           \
    "'current-snapshot-id':13,"                                                                    \
    "'refs':{'main':{'snapshot-id':13,'type':'branch','max-snapshot-age-ms':5,'odd':true},"        \
    "'first':{'snapshot-id':11,'type':'tag'}},'snapshots':[" FX_SNAPSHOT(                          \
        11, 1,                                                                                     \
        1000000000) "," FX_SNAPSHOT(12, 2,                                                         \
                                    1000120000) "," FX_SNAPSHOT(13, 3,                             \
                                                                1000240000) "],"                   \
                                                                            "'snapshot-log':[{'"   \
                                                                            "timestamp-ms':"       \
                                                                            "1000000000,'"         \
                                                                            "snapshot-id':11},"    \
                                                                            "{'timestamp-ms':"     \
                                                                            "1000120000,'"         \
                                                                            "snapshot-id':12},{'"  \
                                                                            "timestamp-ms':"       \
                                                                            "1000240000,'"         \
                                                                            "snapshot-id':13}],"   \
                                                                            "'metadata-log':[{'"   \
                                                                            "timestamp-ms':1,'"    \
                                                                            "metadata-file':'m1'}" \
                                                                            ",{'timestamp-ms':2,"  \
                                                                            "'metadata-file':'m2'" \
                                                                            "},{'timestamp-ms':3," \
                                                                            "'metadata-file':'m3'" \
                                                                            "}],"                  \
                                                                            "'statistics':[{'"     \
                                                                            "snapshot-id':11,'"    \
                                                                            "statistics-path':'"   \
                                                                            "s11','file-size-in-"  \
                                                                            "bytes':1,"            \
                                                                            "'file-footer-size-"   \
                                                                            "in-bytes':1,'blob-"   \
                                                                            "metadata':[]},{'"     \
                                                                            "snapshot-id':12,"     \
                                                                            "'statistics-path':'"  \
                                                                            "s12','file-size-in-"  \
                                                                            "bytes':1,'file-"      \
                                                                            "footer-size-in-"      \
                                                                            "bytes':1,"            \
                                                                            "'blob-metadata':[]}]" \
                                                                            ",'partition-"         \
                                                                            "statistics':[{'"      \
                                                                            "snapshot-id':12,'"    \
                                                                            "statistics-path':'"   \
                                                                            "p12',"                \
                                                                            "'file-size-in-bytes'" \
                                                                            ":7}],'encryption-"    \
                                                                            "keys':[{'key-id':'k'" \
                                                                            ",'encrypted-key-"     \
                                                                            "metadata':'AA=='}],"  \
                                                                            "'unknown-key':{'"     \
                                                                            "deep':[1,{'er':"      \
                                                                            "9007199254740993}]}}"

/** A v1 table as the oldest writers left it: no lists, no ids, no uuid. */
#define FX_V1                                                                                      \
    "{'format-version':1,'location':'s3://b/t/','last-updated-ms':1000,'last-column-id':3,"        \
    "'schema':{'type':'struct','fields':[{'id':1,'name':'x','required':true,'type':'long'},"       \
    "{'id':2,'name':'y','required':false,'type':'string'},"                                        \
    "{'id':3,'name':'z','required':false,'type':'date'}]},"                                        \
    "'partition-spec':[{'name':'x','transform':'identity','source-id':1},"                         \
    "{'name':'z_day','transform':'day','source-id':3}]}"

/** The document with `key` (at `path`, e.g. "snapshots.0", "" for the top) set to `value`, or removed where that is NULL. */
static inline json_t *fx_with(const char *document, const char *path, const char *key,
                              const char *value) {
    json_t *json = fx_json(document);
    json_t *at = json;
    char *copy = firn_strdup(path);
    assert_non_null(copy);
    for (char *part = strtok(copy, "."); part != NULL; part = strtok(NULL, ".")) {
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(part)) : json_object_get(at, part);
        assert_non_null(at);
    }
    if (value == NULL) {
        assert_int_equal(json_object_del(at, key), 0);
    } else {
        assert_int_equal(json_object_set_new(at, key, fx_json(value)), 0);
    }
    firn_free(copy);
    return json;
}

/** Parses a document and takes it over. */
static inline firn_table_metadata *fx_parse(json_t *document) {
    firn_table_metadata *metadata = NULL;
    firn_error error = {0};
    check_ok(firn_table_metadata_from_json(document, "fixture", &metadata, &error), &error);
    return metadata;
}

static inline void fx_parse_fails(json_t *document, firn_status code, const char *part) {
    firn_table_metadata *metadata = NULL;
    firn_error error = {0};
    check_fails(firn_table_metadata_from_json(document, "fixture", &metadata, &error), code, &error,
                part);
    assert_null(metadata);
}

/** Applies a list of updates (text) to a base. */
static inline firn_status fx_try_apply(const firn_table_metadata *base, const char *updates,
                                       const char *location, int64_t now_ms,
                                       firn_table_metadata **out, firn_error *error) {
    firn_table_update update = {0};
    check_ok(firn_table_update_init(&update, error), error);
    json_decref(update.updates);
    update.updates = fx_json(updates);
    json_t *before = json_deep_copy(base->json);
    firn_status status = firn_table_update_apply(&update, base, location, now_ms, out, error);
    /* The base is immutable. */
    assert_true(json_equal(before, base->json));
    json_decref(before);
    firn_table_update_release(&update);
    return status;
}

static inline firn_table_metadata *fx_apply(const firn_table_metadata *base, const char *updates,
                                            const char *location, int64_t now_ms) {
    firn_table_metadata *made = NULL;
    firn_error error = {0};
    check_ok(fx_try_apply(base, updates, location, now_ms, &made, &error), &error);
    return made;
}

static inline void fx_apply_fails(const firn_table_metadata *base, const char *updates,
                                  firn_status code, const char *part) {
    firn_table_metadata *made = NULL;
    firn_error error = {0};
    check_fails(fx_try_apply(base, updates, NULL, 0, &made, &error), code, &error, part);
    assert_int_equal(error.code, code);
    assert_null(made);
}

/** Value of `key` as compact JSON text equals `expected` (single quotes); NULL expects that it is absent. */
static inline void fx_check_key(const firn_table_metadata *metadata, const char *key,
                                const char *expected) {
    json_t *value = json_object_get(metadata->json, key);
    if (expected == NULL) {
        assert_null(value);
        return;
    }
    json_t *wanted = fx_json(expected);
    if (!json_equal(value, wanted)) {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        fail_msg("%s is %s, not %s", key, text, expected);
    }
    json_decref(wanted);
}

/** Every key but the listed ones (NULL-terminated) is equal in both documents. */
static inline void fx_check_untouched(const firn_table_metadata *base,
                                      const firn_table_metadata *made, const char *const *touched) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(base->json, key, value) {
        bool skip = false;
        for (size_t i = 0; touched[i] != NULL; i++) skip = skip || strcmp(touched[i], key) == 0;
        if (!skip && !json_equal(value, json_object_get(made->json, key))) {
            fail_msg("%s was changed", key);
        }
    }
}

#endif
