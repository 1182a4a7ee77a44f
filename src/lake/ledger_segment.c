/** Segments of the ledger: Avro container files with field ids, so that any reader of Iceberg's own files can look into them. */
#include <stdio.h>
#include <stdlib.h>

#include "avro/encode.h"
#include "avro/reader.h"
#include "avro/writer.h"
#include "codec/codec.h"
#include "lake/ledger_internal.h"

#define MAXIMUM_FILE ((size_t)1 << 30)
/** Blocks are written with 64,000 bytes and one more entry. */
#define MAXIMUM_BLOCK ((size_t)16 << 20)
#define VERSION_KEY "firn.ledger.version"
#define COUNT_KEY "firn.ledger.entries"
static const char version[] = "1";

static const char schema[] =
    "{\"type\":\"record\",\"name\":\"ledger_entry\",\"fields\":["
    "{\"name\":\"location\",\"type\":\"string\",\"field-id\":1},"
    "{\"name\":\"unit\",\"type\":[\"null\",\"string\"],\"default\":null,\"field-id\":2},"
    "{\"name\":\"etag\",\"type\":[\"null\",\"string\"],\"default\":null,\"field-id\":3},"
    "{\"name\":\"size\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":4},"
    "{\"name\":\"modified_ns\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":5},"
    "{\"name\":\"rows\",\"type\":[\"null\",\"long\"],\"default\":null,\"field-id\":6},"
    "{\"name\":\"snapshot_id\",\"type\":\"long\",\"field-id\":7},"
    "{\"name\":\"sequence_number\",\"type\":\"long\",\"field-id\":8},"
    "{\"name\":\"removed\",\"type\":\"boolean\",\"field-id\":9},"
    "{\"name\":\"added_ms\",\"type\":\"long\",\"field-id\":10}]}";

#define FIELD(number, field, kind, need)                                                           \
    {                                                                                              \
        .id = number, .name = #field, .into = FIRN_AVRO_INTO_##kind,                               \
        .offset = offsetof(firn_ledger_item, field), .present = FIRN_AVRO_NO_FLAG,                 \
        .required = need                                                                           \
    }
static const firn_avro_target fields[] = {
    FIELD(1, location, BYTES, true),     FIELD(2, unit, BYTES, false),
    FIELD(3, etag, BYTES, false),        FIELD(4, size, INT64, false),
    FIELD(5, modified_ns, INT64, false), FIELD(6, rows, INT64, false),
    FIELD(7, snapshot_id, INT64, true),  FIELD(8, sequence_number, INT64, true),
    FIELD(9, removed, BOOL, true),       FIELD(10, added_ms, INT64, true),
};
static const firn_avro_target target = {.id = FIRN_AVRO_NO_ID,
                                        .name = "ledger_entry",
                                        .into = FIRN_AVRO_INTO_RECORD,
                                        .present = FIRN_AVRO_NO_FLAG,
                                        .required = true,
                                        .children = fields,
                                        .child_count = sizeof fields / sizeof fields[0]};

/* --- reading ------------------------------------------------------------------------------------ */

static bool has_zero(firn_slice text) {
    return text.size > 0 && memchr(text.data, 0, text.size) != NULL;
}

static firn_status check_item(const firn_ledger_item *item, int64_t position, firn_error *error) {
    const char *field = NULL;
    if (item->location.size == 0 || has_zero(item->location)) field = "location";
    if (item->unit.data != NULL && (item->unit.size == 0 || has_zero(item->unit))) field = "unit";
    if (has_zero(item->etag)) field = "etag";
    if (item->size < -1) field = "size";
    if (item->rows < -1) field = "rows";
    if (item->sequence_number < 0) field = "sequence_number";
    if (field == NULL) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "entry %lld: field %s: no such value can be",
                     (long long)position, field);
}

static firn_status header_count(const firn_avro_reader *reader, size_t size, size_t *out,
                                firn_error *error) {
    firn_slice value;
    char text[24] = "";
    if (!firn_avro_reader_metadata(reader, VERSION_KEY, &value)) {
        return firn_fail(error, FIRN_CORRUPT, "header: field %s is missing", VERSION_KEY);
    }
    if (!firn_slice_equal(value, firn_slice_text(version))) {
        return firn_fail(error, FIRN_UNSUPPORTED, "was written by a newer firn (%s %.*s)",
                         VERSION_KEY, (int)(value.size < 20 ? value.size : 20),
                         (const char *)value.data);
    }
    if (!firn_avro_reader_metadata(reader, COUNT_KEY, &value) || value.size == 0 ||
        value.size >= sizeof text) {
        return firn_fail(error, FIRN_CORRUPT, "header: field %s is missing", COUNT_KEY);
    }
    memcpy(text, value.data, value.size);
    if (strspn(text, "0123456789") != value.size) {
        return firn_fail(error, FIRN_CORRUPT, "header: field %s is no number", COUNT_KEY);
    }
    unsigned long long count = strtoull(text, NULL, 10);
    /* Compression of texts that are alike goes far, but not that far. */
    if (count >= UINT32_MAX / 2 || count > (unsigned long long)size * 64) {
        return firn_fail(error, FIRN_CORRUPT, "header: field %s is out of range", COUNT_KEY);
    }
    *out = (size_t)count;
    return FIRN_OK;
}

static firn_status read_items(firn_avro_reader *reader, const firn_avro_plan *plan,
                              firn_arena *arena, size_t count, firn_ledger_item_visitor visit,
                              void *context, firn_error *error) {
    for (size_t i = 0;; i++) {
        firn_ledger_item item = {.size = -1, .modified_ns = -1, .rows = -1};
        bool more = false;
        FIRN_TRY(firn_avro_reader_next(reader, plan, arena, false, &item, &more, error));
        if (more != (i < count)) {
            return firn_fail(error, FIRN_CORRUPT, "has %s entries than the %zu that it counts",
                             more ? "more" : "fewer", count);
        }
        if (!more) return FIRN_OK;
        FIRN_TRY(check_item(&item, (int64_t)i, error));
        FIRN_TRY(visit(context, &item, error));
    }
}

static firn_status read_bytes(firn_slice bytes, const char *location, size_t *count_out,
                              firn_ledger_item_visitor visit, void *context, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, location);
    firn_avro_reader *reader = NULL;
    const firn_avro_plan *plan = NULL;
    size_t count = 0;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_avro_reader_open(&file, MAXIMUM_BLOCK, &reader, error));
    FIRN_CHECK(header_count(reader, bytes.size, &count, error));
    FIRN_CHECK(firn_avro_plan_new(firn_avro_reader_schema(reader), &target, location, arena, &plan,
                                  error));
    if (count_out != NULL) *count_out = count;
    FIRN_CHECK(read_items(reader, plan, arena, count, visit, context, error));
out:
    firn_avro_reader_free(reader);
    firn_arena_free(arena);
    return status;
}

static firn_status check_bytes(firn_slice bytes, uint64_t checksum, firn_error *error) {
    if (firn_xxhash64(bytes) == checksum) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "its checksum is another one than it was written with");
}

firn_status firn_ledger_segment_read(firn_storage *storage, const char *location, uint64_t checksum,
                                     size_t *count, firn_ledger_item_visitor visit, void *context,
                                     firn_error *error) {
    firn_error cause;
    firn_error_clear(&cause);
    firn_buffer bytes = firn_buffer_with_maximum(MAXIMUM_FILE);
    firn_status status = firn_storage_read_all(storage, location, &bytes, &cause);
    if (status == FIRN_OK) status = check_bytes(firn_buffer_slice(&bytes), checksum, &cause);
    if (status == FIRN_OK) {
        status = read_bytes(firn_buffer_slice(&bytes), location, count, visit, context, &cause);
    }
    firn_buffer_release(&bytes);
    if (status == FIRN_OK) return FIRN_OK;
    if (status == FIRN_CORRUPT || status == FIRN_LIMIT || status == FIRN_NOT_FOUND) {
        if (status == FIRN_NOT_FOUND) {
            return firn_fail(error, FIRN_UNSAFE, "segment %.400s is missing; %s", location,
                             FIRN_LEDGER_HINT);
        }
        const char *reason = cause.message;
        size_t length = strlen(location);
        if (strncmp(reason, location, length) == 0 && strncmp(reason + length, ": ", 2) == 0) {
            reason += length + 2;
        }
        return firn_fail(error, FIRN_UNSAFE, "segment %.400s is damaged: %.300s; %s", location,
                         reason, FIRN_LEDGER_HINT);
    }
    if (error != NULL) *error = cause;
    if (status == FIRN_NO_MEMORY) return status;
    return firn_error_wrap(error, status, "segment %s", location);
}

/* --- writing ------------------------------------------------------------------------------------ */

static firn_status put_text_or_null(const char *text, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, text == NULL ? 0 : 1, error));
    return text == NULL ? FIRN_OK : firn_avro_put_text(out, text, error);
}

static firn_status put_number_or_null(int64_t number, firn_buffer *out, firn_error *error) {
    FIRN_TRY(firn_avro_put_long(out, number == -1 ? 0 : 1, error));
    return number == -1 ? FIRN_OK : firn_avro_put_long(out, number, error);
}

/** In the order of the schema's fields. */
static firn_status encode(const firn_ledger_entry *entry, firn_buffer *out, firn_error *error) {
    firn_buffer_clear(out);
    FIRN_TRY(firn_avro_put_text(out, entry->location, error));
    FIRN_TRY(put_text_or_null(entry->unit, out, error));
    FIRN_TRY(put_text_or_null(entry->etag, out, error));
    FIRN_TRY(put_number_or_null(entry->size, out, error));
    FIRN_TRY(put_number_or_null(entry->modified_ns, out, error));
    FIRN_TRY(put_number_or_null(entry->rows, out, error));
    FIRN_TRY(firn_avro_put_long(out, entry->snapshot_id, error));
    FIRN_TRY(firn_avro_put_long(out, entry->sequence_number, error));
    FIRN_TRY(firn_avro_put_boolean(out, entry->removed, error));
    return firn_avro_put_long(out, entry->added_ms, error);
}

static firn_status write_file(firn_ledger_entries entries, firn_buffer *file, firn_buffer *record,
                              firn_error *error) {
    firn_status status = FIRN_OK;
    firn_avro_write_options options = {.codec = FIRN_CODEC_ZSTD, .level = FIRN_CODEC_LEVEL_DEFAULT};
    firn_write_to to = firn_avro_to_buffer(file);
    firn_avro_writer *writer = NULL;
    char number[24];
    (void)snprintf(number, sizeof number, "%zu", entries.count);
    FIRN_CHECK(firn_avro_writer_new(firn_slice_text(schema), &options, &to, &writer, error));
    FIRN_CHECK(firn_avro_writer_set_metadata(writer, VERSION_KEY, firn_slice_text(version), error));
    FIRN_CHECK(firn_avro_writer_set_metadata(writer, COUNT_KEY, firn_slice_text(number), error));
    for (size_t i = 0; i < entries.count; i++) {
        firn_ledger_entry entry = entries.at(entries.context, i);
        FIRN_CHECK(encode(&entry, record, error));
        FIRN_CHECK(firn_avro_writer_add(writer, firn_buffer_slice(record), error));
    }
    FIRN_CHECK(firn_avro_writer_finish(writer, NULL, error));
out:
    firn_avro_writer_free(writer);
    return status;
}

firn_status firn_ledger_segment_write(firn_storage *storage, const char *location,
                                      firn_ledger_entries entries, uint64_t *checksum,
                                      firn_error *error) {
    firn_buffer file = firn_buffer_with_maximum(MAXIMUM_FILE);
    firn_buffer record = firn_buffer_with_maximum(MAXIMUM_BLOCK);
    firn_status status = write_file(entries, &file, &record, error);
    if (status == FIRN_OK) {
        *checksum = firn_xxhash64(firn_buffer_slice(&file));
        status = firn_storage_put(storage, location, firn_buffer_slice(&file), error);
    }
    firn_buffer_release(&file);
    firn_buffer_release(&record);
    return firn_error_wrap(error, status, "segment %s", location);
}
