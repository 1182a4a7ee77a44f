#include "base/alloc.h"
#include "base/bytes.h"
#include "puffin/format.h"
#include "puffin/puffin.h"

/* The footer's size is a signed integer of 4 bytes; a file larger than this is nobody's deletion vectors. */
#define FILE_MOST ((size_t)INT32_MAX)

struct firn_puffin_writer {
    firn_buffer bytes; /* the file so far: magic and blobs */
    json_t *blobs;     /* what the footer says of them */
};

firn_status firn_puffin_writer_new(firn_puffin_writer **out, firn_error *error) {
    firn_puffin_writer *writer = firn_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) return firn_fail_memory(error);
    writer->bytes = firn_buffer_with_maximum(FILE_MOST);
    writer->blobs = json_array();
    firn_status status = FIRN_OK;
    if (writer->blobs == NULL) status = firn_fail_memory(error);
    if (status == FIRN_OK)
        status = firn_buffer_append_text(&writer->bytes, FIRN_PUFFIN_MAGIC, error);
    if (status != FIRN_OK) {
        firn_puffin_writer_free(writer);
        return status;
    }
    *out = writer;
    return FIRN_OK;
}

void firn_puffin_writer_free(firn_puffin_writer *writer) {
    if (writer == NULL) return;
    firn_buffer_release(&writer->bytes);
    json_decref(writer->blobs);
    firn_free(writer);
}

static firn_status set_fields(json_t *object, const int32_t *fields, size_t count,
                              firn_error *error) {
    json_t *array = json_array();
    FIRN_TRY(firn_json_set(object, "fields", array, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(firn_json_append(array, json_integer(fields[i]), error));
    }
    return FIRN_OK;
}

firn_status firn_puffin_writer_add(firn_puffin_writer *writer, const char *type,
                                   const int32_t *fields, size_t field_count, int64_t snapshot_id,
                                   int64_t sequence_number, const json_t *properties,
                                   firn_slice bytes, int64_t *offset, firn_error *error) {
    firn_status status = FIRN_OK;
    json_t *blob = json_object();
    if (blob == NULL) return firn_fail_memory(error);
    *offset = (int64_t)writer->bytes.size;
    FIRN_CHECK(firn_json_set_text(blob, "type", type, error));
    FIRN_CHECK(set_fields(blob, fields, field_count, error));
    FIRN_CHECK(firn_json_set_int(blob, "snapshot-id", snapshot_id, error));
    FIRN_CHECK(firn_json_set_int(blob, "sequence-number", sequence_number, error));
    FIRN_CHECK(firn_json_set_int(blob, "offset", *offset, error));
    FIRN_CHECK(firn_json_set_int(blob, "length", (int64_t)bytes.size, error));
    if (properties != NULL) {
        FIRN_CHECK(firn_json_set(blob, "properties", json_deep_copy(properties), error));
    }
    FIRN_CHECK(firn_buffer_append(&writer->bytes, bytes.data, bytes.size, error));
    status = firn_json_append(writer->blobs, json_incref(blob), error);
    /* What no footer names is no blob. */
    if (status != FIRN_OK) writer->bytes.size = (size_t)*offset;
out:
    json_decref(blob);
    return status;
}

size_t firn_puffin_writer_size(const firn_puffin_writer *writer) {
    return writer->bytes.size;
}

static firn_status write_payload(const firn_puffin_writer *writer, const char *created_by,
                                 firn_buffer *out, firn_error *error) {
    firn_status status = FIRN_OK;
    json_t *root = json_object();
    json_t *properties = json_object();
    if (root == NULL || properties == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_json_set(root, "blobs", json_incref(writer->blobs), error));
    FIRN_CHECK(firn_json_set_text(properties, "created-by", created_by, error));
    FIRN_CHECK(firn_json_set(root, "properties", json_incref(properties), error));
    FIRN_CHECK(firn_json_write(root, 0, out, error));
out:
    json_decref(properties);
    json_decref(root);
    return status;
}

static firn_status append_footer(const firn_puffin_writer *writer, const char *created_by,
                                 firn_buffer *out, firn_error *error) {
    uint8_t size_and_flags[8] = {0};
    FIRN_TRY(firn_buffer_append_text(out, FIRN_PUFFIN_MAGIC, error));
    size_t before = out->size;
    FIRN_TRY(write_payload(writer, created_by, out, error));
    if (out->size - before > INT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "a Puffin footer of %zu bytes is too large",
                         out->size - before);
    }
    firn_store_le32(size_and_flags, (uint32_t)(out->size - before));
    FIRN_TRY(firn_buffer_append(out, size_and_flags, sizeof size_and_flags, error));
    return firn_buffer_append_text(out, FIRN_PUFFIN_MAGIC, error);
}

firn_status firn_puffin_writer_finish(firn_puffin_writer *writer, const char *created_by,
                                      firn_buffer *out, firn_error *error) {
    firn_status status = append_footer(writer, created_by, &writer->bytes, error);
    if (status != FIRN_OK) return status;
    firn_buffer_release(out);
    *out = writer->bytes;
    writer->bytes = firn_buffer_with_maximum(0);
    return FIRN_OK;
}
