#include "table/ledger_property.h"

#include <string.h>

/** The only version that there is. */
#define VERSION 1
/** Segments are merged, so that there are few; more are a damaged text. */
#define MAXIMUM_SEGMENTS ((size_t)10000)
#define MAXIMUM_TEXT ((size_t)64 << 20)

static const char what[] = "property " FIRN_LEDGER_PROPERTY;

static firn_status parse_segments(const json_t *list, firn_arena *arena, firn_ledger_property *out,
                                  firn_error *error) {
    size_t count = json_array_size(list);
    if (count > MAXIMUM_SEGMENTS) {
        return firn_fail(error, FIRN_CORRUPT, "%s: names %zu segments", what, count);
    }
    const char **segments = firn_arena_alloc(arena, count, sizeof *segments);
    if (segments == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const char *location = json_string_value(json_array_get(list, i));
        if (location == NULL || location[0] == '\0') {
            return firn_fail(error, FIRN_CORRUPT, "%s: field segments: item %zu is no location",
                             what, i);
        }
        segments[i] = firn_arena_strdup(arena, location);
        if (segments[i] == NULL) return firn_fail_memory(error);
    }
    out->segments = segments;
    out->segment_count = count;
    return FIRN_OK;
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
    FIRN_TRY(firn_json_array(object, what, "segments", &segments, error));
    return parse_segments(segments, arena, out, error);
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

static firn_status fill_object(const firn_ledger_property *property, json_t *object,
                               firn_error *error) {
    FIRN_TRY(firn_json_set_int(object, "version", VERSION, error));
    json_t *segments = json_array();
    FIRN_TRY(firn_json_set(object, "segments", segments, error));
    for (size_t i = 0; i < property->segment_count; i++) {
        FIRN_TRY(firn_json_append(segments, json_string(property->segments[i]), error));
    }
    FIRN_TRY(firn_json_set_int(object, "head", property->head, error));
    return firn_json_set_int(object, "entries", property->entries, error);
}

firn_status firn_ledger_property_write(const firn_ledger_property *property, firn_arena *arena,
                                       const char **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer text = firn_buffer_with_maximum(MAXIMUM_TEXT);
    json_t *object = json_object();
    if (object == NULL) return firn_fail_memory(error);
    FIRN_CHECK(fill_object(property, object, error));
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
