#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/codec.h"
#include "puffin/format.h"
#include "puffin/puffin.h"

/* Read at once from the end: most footers are smaller. */
#define TAIL_SIZE ((uint64_t)64 * 1024)
/* A footer of a blob for each of half a million data files, about. */
#define FOOTER_MOST ((size_t)256 * 1024 * 1024)

static firn_status corrupt(const firn_read_at *file, uint64_t offset, const char *message,
                           firn_error *error) {
    return firn_fail_at(error, FIRN_CORRUPT, (int64_t)offset, "%s: %s", file->name, message);
}

/* Footer payload size, flags and magic, which end the file: *start gets where the payload begins. */
static firn_status check_end(const firn_read_at *file, const uint8_t *end, uint64_t *start,
                             bool *compressed, firn_error *error) {
    uint64_t place = file->size - FIRN_PUFFIN_END_SIZE;
    if (memcmp(end + 8, FIRN_PUFFIN_MAGIC, FIRN_PUFFIN_MAGIC_SIZE) != 0) {
        return corrupt(file, place + 8, "is no Puffin file: it does not end with PFA1", error);
    }
    uint32_t flags = firn_load_le32(end + 4);
    if ((flags & ~FIRN_PUFFIN_FLAG_COMPRESSED) != 0) {
        return corrupt(file, place + 4, "the footer has flags that are not known", error);
    }
    uint32_t size = firn_load_le32(end);
    if (size > file->size - FIRN_PUFFIN_SMALLEST) {
        return corrupt(file, place, "the footer's size is larger than the file", error);
    }
    if (size > FOOTER_MOST) {
        return firn_fail_at(error, FIRN_LIMIT, (int64_t)place,
                            "%s: a footer of %" PRIu32 " bytes is too large", file->name, size);
    }
    *compressed = (flags & FIRN_PUFFIN_FLAG_COMPRESSED) != 0;
    *start = place - size;
    return FIRN_OK;
}

/* What `text` holds before lies in memory from `from` on; makes it hold the file from `start` on. */
static firn_status read_rest(const firn_read_at *file, uint64_t start, uint64_t from,
                             firn_buffer *tail, firn_error *error) {
    size_t size = (size_t)(file->size - start);
    if (start >= from) {
        memmove(tail->data, tail->data + (start - from), size);
        tail->size = size;
        return FIRN_OK;
    }
    firn_buffer_clear(tail);
    FIRN_TRY(firn_buffer_reserve(tail, size, error));
    FIRN_TRY(firn_read_at_exact(file, start, tail->data, size, error));
    tail->size = size;
    return FIRN_OK;
}

/* The payload's bytes at the front of `out`, what follows it cut off. */
static firn_status read_payload(const firn_read_at *file, firn_buffer *out, uint64_t *start,
                                bool *compressed, firn_error *error) {
    uint8_t first[FIRN_PUFFIN_MAGIC_SIZE];
    if (file->size < FIRN_PUFFIN_SMALLEST) {
        return corrupt(file, 0, "is too short for a Puffin file", error);
    }
    FIRN_TRY(firn_read_at_exact(file, 0, first, sizeof first, error));
    if (memcmp(first, FIRN_PUFFIN_MAGIC, sizeof first) != 0) {
        return corrupt(file, 0, "is no Puffin file: it does not begin with PFA1", error);
    }
    uint64_t size = file->size < TAIL_SIZE ? file->size : TAIL_SIZE;
    uint64_t from = file->size - size;
    FIRN_TRY(firn_buffer_reserve(out, (size_t)size, error));
    FIRN_TRY(firn_read_at_exact(file, from, out->data, (size_t)size, error));
    out->size = (size_t)size;
    FIRN_TRY(check_end(file, out->data + size - FIRN_PUFFIN_END_SIZE, start, compressed, error));
    FIRN_TRY(read_rest(file, *start - FIRN_PUFFIN_MAGIC_SIZE, from, out, error));
    if (memcmp(out->data, FIRN_PUFFIN_MAGIC, FIRN_PUFFIN_MAGIC_SIZE) != 0) {
        return corrupt(file, *start - FIRN_PUFFIN_MAGIC_SIZE, "the footer does not begin with PFA1",
                       error);
    }
    out->size -= FIRN_PUFFIN_MAGIC_SIZE + FIRN_PUFFIN_END_SIZE;
    memmove(out->data, out->data + FIRN_PUFFIN_MAGIC_SIZE, out->size);
    return FIRN_OK;
}

static firn_status parse_payload(const firn_read_at *file, firn_slice payload, uint64_t start,
                                 bool compressed, json_t **out, firn_error *error) {
    firn_buffer text = firn_buffer_with_maximum(FOOTER_MOST);
    firn_status status = FIRN_OK;
    if (compressed) {
        FIRN_CHECK(firn_codec_decompress_growing(FIRN_CODEC_LZ4_FRAME, payload, &text, error));
        payload = firn_buffer_slice(&text);
    }
    FIRN_CHECK(firn_json_parse(payload, "footer", out, error));
out:
    firn_buffer_release(&text);
    return firn_error_wrap(error, status, "%s: footer at byte %" PRIu64, file->name, start);
}

static void release_json(void *value) {
    json_decref(value);
}

static firn_status check_properties(const json_t *properties, const char *what, firn_error *error) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)properties, key, value) {
        if (json_is_string(value)) continue;
        return firn_fail(error, FIRN_CORRUPT, "%s: property %s is not a text", what, key);
    }
    return FIRN_OK;
}

static firn_status read_properties(const json_t *object, const char *what, const json_t **out,
                                   firn_error *error) {
    json_t *properties = NULL;
    FIRN_TRY(firn_json_object_optional(object, what, "properties", &properties, NULL, error));
    *out = properties;
    return properties == NULL ? FIRN_OK : check_properties(properties, what, error);
}

static firn_status read_fields(const json_t *object, const char *what, firn_arena *arena,
                               firn_puffin_blob *out, firn_error *error) {
    json_t *array = NULL;
    FIRN_TRY(firn_json_array(object, what, "fields", &array, error));
    out->field_count = json_array_size(array);
    int32_t *fields = firn_arena_alloc(arena, out->field_count, sizeof *fields);
    if (fields == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < out->field_count; i++) {
        const json_t *item = json_array_get(array, i);
        json_int_t id = json_integer_value(item);
        if (!json_is_integer(item) || id < INT32_MIN || id > INT32_MAX) {
            return firn_fail(error, FIRN_CORRUPT, "%s: field fields: no field id at %zu", what, i);
        }
        fields[i] = (int32_t)id;
    }
    out->fields = fields;
    return FIRN_OK;
}

/* `end`: where the footer begins. */
static firn_status check_place(const firn_puffin_blob *blob, const char *what, uint64_t end,
                               firn_error *error) {
    bool inside = blob->offset >= (int64_t)FIRN_PUFFIN_MAGIC_SIZE && blob->length >= 0 &&
                  (uint64_t)blob->offset <= end &&
                  (uint64_t)blob->length <= end - (uint64_t)blob->offset;
    if (inside) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT,
                     "%s: offset %" PRId64 " and length %" PRId64
                     " reach outside the blobs, which end at byte %" PRIu64,
                     what, blob->offset, blob->length, end);
}

static firn_status read_blob(const json_t *object, size_t index, uint64_t end, firn_arena *arena,
                             firn_puffin_blob *out, firn_error *error) {
    char what[48];
    (void)snprintf(what, sizeof what, "blob %zu", index);
    if (!json_is_object(object)) {
        return firn_fail(error, FIRN_CORRUPT, "%s: is not an object", what);
    }
    FIRN_TRY(firn_json_text(object, what, "type", &out->type, error));
    FIRN_TRY(read_fields(object, what, arena, out, error));
    FIRN_TRY(firn_json_int64(object, what, "snapshot-id", &out->snapshot_id, error));
    FIRN_TRY(firn_json_int64(object, what, "sequence-number", &out->sequence_number, error));
    FIRN_TRY(firn_json_int64(object, what, "offset", &out->offset, error));
    FIRN_TRY(firn_json_int64(object, what, "length", &out->length, error));
    FIRN_TRY(firn_json_text_optional(object, what, "compression-codec", &out->compression_codec,
                                     NULL, error));
    FIRN_TRY(read_properties(object, what, &out->properties, error));
    return check_place(out, what, end, error);
}

/* FileMetadata (Puffin specification, "Footer Payload"). */
static firn_status read_metadata(const json_t *root, uint64_t end, firn_arena *arena,
                                 firn_puffin_footer *out, firn_error *error) {
    json_t *array = NULL;
    if (!json_is_object(root)) return firn_fail(error, FIRN_CORRUPT, "footer: is not an object");
    FIRN_TRY(firn_json_array(root, "footer", "blobs", &array, error));
    FIRN_TRY(read_properties(root, "footer", &out->properties, error));
    out->blob_count = json_array_size(array);
    firn_puffin_blob *blobs = firn_arena_alloc(arena, out->blob_count, sizeof *blobs);
    if (blobs == NULL) return firn_fail_memory(error);
    out->blobs = blobs;
    for (size_t i = 0; i < out->blob_count; i++) {
        FIRN_TRY(read_blob(json_array_get(array, i), i, end, arena, &blobs[i], error));
    }
    return FIRN_OK;
}

firn_status firn_puffin_footer_read(const firn_read_at *file, firn_arena *arena,
                                    firn_puffin_footer *out, firn_error *error) {
    firn_buffer tail = firn_buffer_with_maximum(FOOTER_MOST + FIRN_PUFFIN_SMALLEST);
    firn_status status = FIRN_OK;
    json_t *root = NULL;
    uint64_t start = 0;
    bool compressed = false;
    *out = (firn_puffin_footer){0};
    FIRN_CHECK(read_payload(file, &tail, &start, &compressed, error));
    FIRN_CHECK(parse_payload(file, firn_buffer_slice(&tail), start, compressed, &root, error));
    if (firn_arena_on_free(arena, release_json, root) != 0) {
        status = firn_fail_memory(error);
        goto out;
    }
    status = firn_error_wrap(error,
                             read_metadata(root, start - FIRN_PUFFIN_MAGIC_SIZE, arena, out, error),
                             "%s: footer at byte %" PRIu64, file->name, start);
out:
    firn_buffer_release(&tail);
    return status;
}
