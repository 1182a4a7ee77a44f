#include "table/ledger_property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"

/** The only version that there is. */
#define VERSION 1
/** Segments are merged, so that there are few; more are a damaged text. */
#define MAXIMUM_SEGMENTS ((size_t)10000)
#define MAXIMUM_TEXT ((size_t)64 << 20)

static const char what[] = "property " FIRN_LEDGER_PROPERTY;

/** 16 lower-case hexadecimal digits. */
static bool parse_checksum(const char *text, uint64_t *out) {
    *out = 0;
    if (text == NULL || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    *out = strtoull(text, NULL, 16);
    return true;
}

static firn_status parse_segments(const json_t *list, firn_arena *arena, firn_ledger_property *out,
                                  firn_error *error) {
    size_t count = json_array_size(list);
    if (count > MAXIMUM_SEGMENTS) {
        return firn_fail(error, FIRN_CORRUPT, "%s: names %zu segments", what, count);
    }
    const char **segments = firn_arena_alloc(arena, count, sizeof *segments);
    uint64_t *checksums = firn_arena_alloc(arena, count, sizeof *checksums);
    if (segments == NULL || checksums == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        const char *location = json_string_value(json_object_get(item, "location"));
        if (location == NULL || location[0] == '\0') {
            return firn_fail(error, FIRN_CORRUPT, "%s: field segments: item %zu has no location",
                             what, i);
        }
        if (!parse_checksum(json_string_value(json_object_get(item, "xxh64")), &checksums[i])) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field segments: item %zu has no xxh64", what,
                             i);
        }
        segments[i] = firn_arena_strdup(arena, location);
        if (segments[i] == NULL) return firn_fail_memory(error);
    }
    out->segments = segments;
    out->checksums = checksums;
    out->segment_count = count;
    return FIRN_OK;
}

static firn_status fill_segment(const firn_ledger_property *property, size_t index,
                                json_t *segments, firn_error *error) {
    char checksum[17];
    (void)snprintf(checksum, sizeof checksum, "%016" PRIx64, property->checksums[index]);
    json_t *segment = json_object();
    if (segment == NULL) return firn_fail_memory(error);
    firn_status status = firn_json_set_text(segment, "location", property->segments[index], error);
    if (status == FIRN_OK) status = firn_json_set_text(segment, "xxh64", checksum, error);
    if (status != FIRN_OK) {
        json_decref(segment);
        return status;
    }
    return firn_json_append(segments, segment, error);
}

static firn_status fill_object(const firn_ledger_property *property, json_t *object,
                               firn_error *error) {
    FIRN_TRY(firn_json_set_int(object, "version", VERSION, error));
    json_t *segments = json_array();
    FIRN_TRY(firn_json_set(object, "segments", segments, error));
    for (size_t i = 0; i < property->segment_count; i++) {
        FIRN_TRY(fill_segment(property, i, segments, error));
    }
    FIRN_TRY(firn_json_set_int(object, "head", property->head, error));
    if (property->partly) FIRN_TRY(firn_json_set(object, "partly", json_true(), error));
    return firn_json_set_int(object, "entries", property->entries, error);
}

/** Of the text without it: half of the ledger, put back by another program, would pass for all of it. */
static firn_status add_checksum(json_t *object, firn_buffer *text, firn_error *error) {
    char checksum[9];
    FIRN_TRY(firn_json_write(object, 0, text, error));
    (void)snprintf(checksum, sizeof checksum, "%08" PRIx32, firn_crc32(0, firn_buffer_slice(text)));
    return firn_json_set_text(object, "crc32", checksum, error);
}

static firn_status make_object(const firn_ledger_property *property, json_t **out,
                               firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer text = firn_buffer_with_maximum(MAXIMUM_TEXT);
    json_t *object = json_object();
    if (object == NULL) return firn_fail_memory(error);
    FIRN_CHECK(fill_object(property, object, error));
    FIRN_CHECK(add_checksum(object, &text, error));
    *out = object;
    object = NULL;
out:
    firn_buffer_release(&text);
    json_decref(object);
    return status;
}

static firn_status check_checksum(const json_t *object, const firn_ledger_property *property,
                                  firn_error *error) {
    json_t *right = NULL;
    const char *found = json_string_value(json_object_get(object, "crc32"));
    FIRN_TRY(make_object(property, &right, error));
    const char *wanted = json_string_value(json_object_get(right, "crc32"));
    bool same = found != NULL && wanted != NULL && strcmp(found, wanted) == 0;
    json_decref(right);
    if (same) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: field crc32 does not fit: it was changed by another program", what);
}

static firn_status parse_object(const json_t *object, firn_arena *arena, firn_ledger_property *out,
                                firn_error *error) {
    int64_t version = 0;
    json_t *segments = NULL;
    if (!json_is_object(object)) return firn_fail(error, FIRN_CORRUPT, "%s: is no object", what);
    FIRN_TRY(firn_json_int64(object, what, "version", &version, error));
    if (version != VERSION) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "%s: has version %lld; this firn knows version %d: use a newer one", what,
                         (long long)version, VERSION);
    }
    FIRN_TRY(firn_json_int64(object, what, "head", &out->head, error));
    FIRN_TRY(firn_json_int64(object, what, "entries", &out->entries, error));
    if (out->entries < 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field entries is negative", what);
    }
    out->partly = json_is_true(json_object_get(object, "partly"));
    FIRN_TRY(firn_json_array(object, what, "segments", &segments, error));
    FIRN_TRY(parse_segments(segments, arena, out, error));
    return check_checksum(object, out, error);
}

firn_status firn_ledger_property_parse(const char *text, firn_arena *arena,
                                       firn_ledger_property *out, firn_error *error) {
    json_t *object = NULL;
    *out = (firn_ledger_property){0};
    FIRN_TRY(firn_json_parse(firn_slice_text(text), what, &object, error));
    firn_status status = parse_object(object, arena, out, error);
    json_decref(object);
    return status;
}

firn_status firn_ledger_property_write(const firn_ledger_property *property, firn_arena *arena,
                                       const char **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer text = firn_buffer_with_maximum(MAXIMUM_TEXT);
    json_t *object = NULL;
    FIRN_CHECK(make_object(property, &object, error));
    FIRN_CHECK(firn_json_write(object, 0, &text, error));
    *out = firn_arena_strndup(arena, (const char *)text.data, text.size);
    if (*out == NULL) status = firn_fail_memory(error);
out:
    firn_buffer_release(&text);
    json_decref(object);
    return status;
}

const char *firn_ledger_property_of_snapshot(const firn_snapshot *snapshot) {
    return json_string_value(json_object_get(snapshot->summary, FIRN_LEDGER_PROPERTY));
}

bool firn_ledger_property_is_key(const char *key) {
    static const char branch[] = FIRN_LEDGER_PROPERTY_OF_BRANCH;
    return strcmp(key, FIRN_LEDGER_PROPERTY) == 0 || strncmp(key, branch, sizeof branch - 1) == 0;
}

const char *firn_ledger_property_key(const char *ref, firn_arena *arena) {
    if (strcmp(ref, "main") == 0) return FIRN_LEDGER_PROPERTY;
    return firn_arena_format(arena, FIRN_LEDGER_PROPERTY_OF_BRANCH "%s", ref);
}

bool firn_ledger_published_by(const firn_snapshot *snapshot, int64_t *out) {
    const char *text = json_string_value(json_object_get(snapshot->summary, "source-snapshot-id"));
    char *end = NULL;
    if (text == NULL || text[0] < '0' || text[0] > '9') return false;
    long long id = strtoll(text, &end, 10);
    *out = id;
    return *end == '\0';
}

/** The branch's property, else main's, and the snapshot that it was written for. */
static firn_status property_of(const firn_table_metadata *metadata, const char *ref,
                               firn_arena *arena, const char **out, int64_t *head,
                               firn_error *error) {
    firn_ledger_property property;
    const char *key = firn_ledger_property_key(ref, arena);
    if (key == NULL) return firn_fail_memory(error);
    *head = FIRN_NO_SNAPSHOT;
    *out = firn_table_metadata_property(metadata, key);
    if (*out == NULL) *out = firn_table_metadata_property(metadata, FIRN_LEDGER_PROPERTY);
    if (*out == NULL) return FIRN_OK;
    firn_status status = firn_ledger_property_parse(*out, arena, &property, NULL);
    if (status == FIRN_OK) *head = property.head;
    return status == FIRN_NO_MEMORY ? firn_fail_memory(error) : FIRN_OK;
}

firn_status firn_ledger_property_inherited(const firn_table_metadata *metadata, const char *ref,
                                           const firn_snapshot *parent, const char **out,
                                           firn_error *error) {
    const char *property = NULL;
    int64_t head = FIRN_NO_SNAPSHOT, source = 0;
    *out = NULL;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status = property_of(metadata, ref, arena, &property, &head, error);
    firn_arena_free(arena);
    FIRN_TRY(status);
    for (size_t i = 0; parent != NULL && i < metadata->snapshot_count; i++) {
        const char *text = firn_ledger_property_of_snapshot(parent);
        if (property != NULL && parent->snapshot_id == head) text = property;
        *out = text;
        if (text != NULL || firn_ledger_published_by(parent, &source)) return FIRN_OK;
        parent = parent->has_parent
                     ? firn_table_metadata_snapshot(metadata, parent->parent_snapshot_id)
                     : NULL;
    }
    return FIRN_OK;
}

/* Of any branch: who reads one branch may read a file that a sync of another one added. */
static bool follows_a_lake(const firn_table_metadata *metadata) {
    for (size_t i = 0; i < metadata->property_count; i++) {
        if (firn_ledger_property_is_key(metadata->properties[i].key)) return true;
    }
    return false;
}

#define RESTORE                                                                                    \
    "restore the file from a copy, or roll the table back to a snapshot that does not name it"

const char *firn_ledger_advice_missing(const firn_table_metadata *metadata) {
    if (!follows_a_lake(metadata)) return RESTORE;
    return "restore the file from a copy; where its source gave it up, firn sync TABLE "
           "--on-missing "
           "delete takes its rows out";
}

const char *firn_ledger_advice_replaced(const firn_table_metadata *metadata) {
    if (!follows_a_lake(metadata)) return RESTORE;
    return "where its source replaced the file, firn sync TABLE --on-replaced overwrite takes it "
           "anew, and --on-replaced delete takes it out; else restore it from a copy";
}

const char *firn_ledger_advice_bounds(const firn_table_metadata *metadata) {
    if (!follows_a_lake(metadata)) {
        return "firn audit TABLE --fix sets the bounds right; look for the writer that made them";
    }
    return "where its source replaced the file, firn sync TABLE --on-replaced overwrite takes it "
           "anew; else firn audit TABLE --fix sets the bounds right";
}
