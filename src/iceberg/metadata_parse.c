#include "iceberg/metadata_parse.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "codec/codec.h"

/* The newest format version that firn knows. */
#define NEWEST_VERSION 3

/* Largest metadata document, decompressed. */
#define LARGEST_DOCUMENT ((size_t)1 << 30)

firn_status firn_check_unique(const void *items, size_t count,
                              int64_t (*id_at)(const void *items, size_t index), const char *what,
                              firn_error *error) {
    if (count < 2) return FIRN_OK;
    firn_status status = FIRN_OK;
    firn_map *seen = firn_map_new();
    if (seen == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        int64_t id = id_at(items, i);
        if (firn_map_get_int(seen, id) != NULL) {
            status = firn_fail(error, FIRN_CORRUPT, "%s: %s %lld occurs twice", FIRN_METADATA_WHAT,
                               what, (long long)id);
            break;
        }
        status = firn_map_set_int(seen, id, seen, error);
        if (status != FIRN_OK) break;
    }
    firn_map_free(seen);
    return status;
}

static firn_status parse_version(firn_table_metadata *metadata, firn_error *error) {
    int32_t version = 0;
    FIRN_TRY(
        firn_json_int32(metadata->json, FIRN_METADATA_WHAT, "format-version", &version, error));
    if (version > NEWEST_VERSION) {
        return firn_fail(error, FIRN_UNSUPPORTED,
                         "format version %d is newer than firn knows (up to %d)", version,
                         NEWEST_VERSION);
    }
    if (version < 1) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field format-version: %d is no version",
                         FIRN_METADATA_WHAT, version);
    }
    metadata->format_version = version;
    return FIRN_OK;
}

/* "s3://b/t/" names the folder "s3://b/t"; the slashes of a bare scheme stay. */
static firn_status parse_location(firn_table_metadata *metadata, firn_error *error) {
    const char *text = NULL;
    FIRN_TRY(firn_json_text(metadata->json, FIRN_METADATA_WHAT, "location", &text, error));
    size_t length = strlen(text);
    if (length == 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field location: is empty", FIRN_METADATA_WHAT);
    }
    while (length > 0 && text[length - 1] == '/') {
        if (length >= 3 && memcmp(text + length - 3, "://", 3) == 0) break;
        length--;
    }
    metadata->location = firn_arena_strndup(metadata->arena, text, length);
    return metadata->location == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status parse_identity(firn_table_metadata *metadata, firn_error *error) {
    const json_t *json = metadata->json;
    const char *what = FIRN_METADATA_WHAT;
    FIRN_TRY(parse_version(metadata, error));
    FIRN_TRY(parse_location(metadata, error));
    FIRN_TRY(firn_json_int64(json, what, "last-updated-ms", &metadata->last_updated_ms, error));
    if (metadata->format_version == 1) {
        return firn_json_text_optional(json, what, "table-uuid", &metadata->table_uuid, NULL,
                                       error);
    }
    FIRN_TRY(firn_json_text(json, what, "table-uuid", &metadata->table_uuid, error));
    FIRN_TRY(firn_json_int64(json, what, "last-sequence-number", &metadata->last_sequence_number,
                             error));
    if (metadata->last_sequence_number < 0) {
        return firn_fail(error, FIRN_CORRUPT, "%s: field last-sequence-number: is negative", what);
    }
    return FIRN_OK;
}

static firn_status parse_properties(firn_table_metadata *metadata, firn_error *error) {
    json_t *object = NULL;
    FIRN_TRY(firn_json_object_optional(metadata->json, FIRN_METADATA_WHAT, "properties", &object,
                                       NULL, error));
    if (object == NULL) return FIRN_OK;
    firn_property *properties =
        firn_arena_alloc(metadata->arena, json_object_size(object), sizeof *properties);
    if (properties == NULL) return firn_fail_memory(error);
    size_t count = 0;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value) {
        /* A null says the same as no property; it stays in the document. */
        if (json_is_null(value)) continue;
        if (!json_is_string(value)) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field properties: \"%.200s\" is no string",
                             FIRN_METADATA_WHAT, key);
        }
        properties[count++] = (firn_property){key, json_string_value(value)};
    }
    metadata->properties = properties;
    metadata->property_count = count;
    return FIRN_OK;
}

static firn_status parse_document(firn_table_metadata *metadata, firn_error *error) {
    if (!json_is_object(metadata->json)) {
        return firn_fail(error, FIRN_CORRUPT, "table metadata is no JSON object");
    }
    FIRN_TRY(parse_identity(metadata, error));
    FIRN_TRY(parse_properties(metadata, error));
    FIRN_TRY(firn_metadata_parse_schemas(metadata, error));
    FIRN_TRY(firn_metadata_parse_specs(metadata, error));
    FIRN_TRY(firn_metadata_parse_sort_orders(metadata, error));
    FIRN_TRY(firn_metadata_parse_snapshots(metadata, error));
    FIRN_TRY(firn_metadata_parse_logs(metadata, error));
    metadata->has_encryption_keys =
        json_array_size(json_object_get(metadata->json, "encryption-keys")) != 0;
    return FIRN_OK;
}

firn_status firn_table_metadata_from_json(json_t *document, const char *name,
                                          firn_table_metadata **out, firn_error *error) {
    firn_table_metadata *metadata = firn_alloc_zeroed(1, sizeof *metadata);
    if (metadata == NULL) {
        json_decref(document);
        return firn_fail_memory(error);
    }
    firn_status status = FIRN_OK;
    metadata->json = document;
    metadata->arena = firn_arena_new();
    if (metadata->arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(parse_document(metadata, error));
    *out = metadata;
    metadata = NULL;
out:
    firn_table_metadata_free(metadata);
    return firn_error_wrap(error, status, "%s", name);
}

void firn_table_metadata_free(firn_table_metadata *metadata) {
    if (metadata == NULL) return;
    firn_arena_free(metadata->arena);
    json_decref(metadata->json);
    firn_free(metadata);
}

static bool is_gzip(firn_slice bytes) {
    return bytes.size >= 2 && bytes.data[0] == 0x1F && bytes.data[1] == 0x8B;
}

/* Says once where a counter in the file is below an id in use; the typed view has the right one. */
static void report_repairs(const firn_table_metadata *metadata, const char *name) {
    json_int_t column = json_integer_value(json_object_get(metadata->json, "last-column-id"));
    if (column < metadata->last_column_id) {
        firn_log_warning("%s: last-column-id is %lld, but field id %d is in use; %d is taken", name,
                         (long long)column, metadata->last_column_id, metadata->last_column_id);
    }
    const json_t *partition = json_object_get(metadata->json, "last-partition-id");
    if (json_is_integer(partition) && json_integer_value(partition) < metadata->last_partition_id &&
        metadata->last_partition_id > 999) {
        firn_log_warning(
            "%s: last-partition-id is %lld, but partition field id %d is in use; %d is taken", name,
            (long long)json_integer_value(partition), metadata->last_partition_id,
            metadata->last_partition_id);
    }
}

static firn_status from_text(json_t *document, const char *name, firn_table_metadata **out,
                             firn_error *error) {
    FIRN_TRY(firn_table_metadata_from_json(document, name, out, error));
    report_repairs(*out, name);
    return FIRN_OK;
}

static firn_status parse_gzip(firn_slice bytes, const char *name, json_t **out, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum(LARGEST_DOCUMENT);
    firn_status status = firn_codec_decompress_growing(FIRN_CODEC_GZIP, bytes, &text, error);
    if (status == FIRN_OK) {
        status = firn_json_parse(firn_buffer_slice(&text), name, out, error);
    } else {
        firn_error_wrap(error, status, "%s", name);
    }
    firn_buffer_release(&text);
    return status;
}

static firn_status parse_json(firn_slice bytes, const char *name, json_t **out, firn_error *error) {
    return is_gzip(bytes) ? parse_gzip(bytes, name, out, error)
                          : firn_json_parse(bytes, name, out, error);
}

firn_status firn_table_metadata_parse(firn_slice bytes, const char *name, firn_table_metadata **out,
                                      firn_error *error) {
    json_t *document = NULL;
    FIRN_TRY(parse_json(bytes, name, &document, error));
    return from_text(document, name, out, error);
}

firn_status firn_table_metadata_parse_buffer(firn_buffer *bytes, const char *name,
                                             firn_table_metadata **out, firn_error *error) {
    json_t *document = NULL;
    firn_status status = parse_json(firn_buffer_slice(bytes), name, &document, error);
    firn_buffer_release(bytes);
    return status == FIRN_OK ? from_text(document, name, out, error) : status;
}
