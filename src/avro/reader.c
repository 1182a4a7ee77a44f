#include "avro/reader.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/vector.h"
#include "codec/codec.h"

#define SYNC_SIZE 16
/** Two integers of ten bytes at most: count and size of a block. */
#define BLOCK_HEAD_SIZE 20
/** Bytes that are fetched at least, where the file does not lie in memory. */
#define WINDOW_SIZE ((size_t)256 * 1024)

typedef struct header_entry {
    firn_slice key, value; /**< in the arena */
} header_entry;

/** The head of a block. */
typedef struct block_head {
    int64_t count;
    size_t size;          /**< bytes of the compressed records */
    uint64_t data_offset; /**< of the records, in the file */
    uint64_t next_offset; /**< behind the sync marker */
} block_head;

struct firn_avro_reader {
    firn_read_at file;
    firn_arena *arena;
    FIRN_VECTOR(header_entry) entries;
    const firn_avro_schema *schema;
    const char *codec_name;
    firn_codec codec;
    bool checksum; /**< snappy: four bytes of CRC-32 behind the data */
    uint8_t sync[SYNC_SIZE];
    size_t maximum_block_bytes;
    uint64_t first_block;
    uint64_t next_block; /**< offset of the next block in the file */
    int64_t left;        /**< records of the present block that are still to come */
    int64_t position;
    firn_avro_cursor cursor; /**< in the present block */
    firn_buffer window;      /**< bytes of the file from window_offset, unless it lies in memory */
    uint64_t window_offset;
    firn_buffer content; /**< of the present block, decompressed */
};

static firn_status corrupt(const firn_avro_reader *reader, uint64_t offset, const char *message,
                           firn_error *error) {
    return firn_fail_at(error, FIRN_CORRUPT, (int64_t)offset, "%s: %s", reader->file.name, message);
}

/** Bytes of the file, which the caller has checked to lie within it. Valid until the next call. */
static firn_status file_bytes(firn_avro_reader *reader, uint64_t offset, size_t size,
                              const uint8_t **out, firn_error *error) {
    if (reader->file.borrow != NULL) {
        *out = reader->file.borrow(reader->file.context, offset, size);
        if (*out != NULL) return FIRN_OK;
    }
    firn_buffer *window = &reader->window;
    if (offset < reader->window_offset || offset - reader->window_offset > (uint64_t)window->size ||
        window->size - (size_t)(offset - reader->window_offset) < size) {
        uint64_t left = reader->file.size - offset;
        size_t wanted = size < WINDOW_SIZE ? WINDOW_SIZE : size;
        if (wanted > left) wanted = (size_t)left;
        firn_buffer_clear(window);
        FIRN_TRY(firn_buffer_reserve(window, wanted, error));
        FIRN_TRY(firn_read_at_exact(&reader->file, offset, window->data, wanted, error));
        window->size = wanted;
        reader->window_offset = offset;
    }
    *out = window->data + (size_t)(offset - reader->window_offset);
    return FIRN_OK;
}

static firn_status add_entry(firn_avro_reader *reader, firn_slice key, firn_slice value,
                             firn_error *error) {
    header_entry entry;
    /* One more byte keeps empty values from being NULL. */
    char *key_copy = firn_arena_strndup(reader->arena, (const char *)key.data, key.size);
    uint8_t *value_copy = firn_arena_alloc(reader->arena, value.size + 1, 1);
    if (key_copy == NULL || value_copy == NULL) return firn_fail_memory(error);
    if (value.size > 0) memcpy(value_copy, value.data, value.size);
    entry.key = firn_slice_of(key_copy, key.size);
    entry.value = firn_slice_of(value_copy, value.size);
    return firn_vector_push(&reader->entries, error, entry);
}

static firn_status parse_entries(firn_avro_reader *reader, firn_avro_cursor *cursor,
                                 firn_error *error) {
    static const firn_avro_schema bytes = {.kind = FIRN_AVRO_BYTES};
    static const firn_avro_schema map = {.kind = FIRN_AVRO_MAP, .items = &bytes};
    for (;;) {
        int64_t count = 0;
        int64_t byte_size = 0;
        FIRN_TRY(firn_avro_get_block(cursor, &map, &count, &byte_size, error));
        if (count == 0) return FIRN_OK;
        for (int64_t i = 0; i < count; i++) {
            firn_slice key;
            firn_slice value;
            FIRN_TRY(firn_avro_get_bytes(cursor, &key, error));
            FIRN_TRY(firn_avro_get_bytes(cursor, &value, error));
            FIRN_TRY(add_entry(reader, key, value, error));
        }
    }
}

/** Passes over the header's map to learn its size; false when the bytes end before it does. */
static bool header_is_whole(const uint8_t *data, size_t size, const char *name) {
    static const firn_avro_schema bytes = {.kind = FIRN_AVRO_BYTES};
    static const firn_avro_schema map = {.kind = FIRN_AVRO_MAP, .items = &bytes};
    firn_avro_cursor cursor = firn_avro_cursor_of(firn_slice_of(data, size), name);
    cursor.position = 4;
    return firn_avro_skip(&cursor, &map, NULL) == FIRN_OK &&
           firn_avro_remaining(&cursor) >= SYNC_SIZE;
}

static firn_status read_header(firn_avro_reader *reader, firn_error *error) {
    uint64_t file_size = reader->file.size;
    const uint8_t *data = NULL;
    size_t size = file_size < WINDOW_SIZE ? (size_t)file_size : WINDOW_SIZE;
    if (size < 4 + 1 + SYNC_SIZE) return corrupt(reader, 0, "too short for an Avro file", error);
    for (;;) {
        FIRN_TRY(file_bytes(reader, 0, size, &data, error));
        if (memcmp(data, "Obj\1", 4) != 0) return corrupt(reader, 0, "not an Avro file", error);
        if (size == file_size || header_is_whole(data, size, reader->file.name)) break;
        if (size >= FIRN_AVRO_MAX_HEADER_BYTES) {
            return firn_fail(error, FIRN_LIMIT, "%s: Avro header of more than %zu bytes",
                             reader->file.name, FIRN_AVRO_MAX_HEADER_BYTES);
        }
        size = file_size / 4 <= size ? (size_t)file_size : size * 4;
        if (size > FIRN_AVRO_MAX_HEADER_BYTES) size = FIRN_AVRO_MAX_HEADER_BYTES;
    }
    firn_avro_cursor cursor = firn_avro_cursor_of(firn_slice_of(data, size), reader->file.name);
    cursor.position = 4;
    FIRN_TRY(firn_error_wrap(error, parse_entries(reader, &cursor, error), "Avro header"));
    firn_slice sync;
    FIRN_TRY(firn_avro_get_fixed(&cursor, SYNC_SIZE, &sync, error));
    memcpy(reader->sync, sync.data, SYNC_SIZE);
    reader->first_block = reader->next_block = cursor.position;
    return FIRN_OK;
}

static firn_status choose_codec(firn_avro_reader *reader, firn_error *error) {
    static const struct {
        const char *name;
        firn_codec codec;
    } known[] = {{"null", FIRN_CODEC_UNCOMPRESSED},
                 {"deflate", FIRN_CODEC_DEFLATE},
                 {"snappy", FIRN_CODEC_SNAPPY},
                 {"zstandard", FIRN_CODEC_ZSTD}};
    firn_slice name = firn_slice_text("null");
    firn_avro_reader_metadata(reader, "avro.codec", &name);
    /* Some writers leave the value empty where nothing is compressed. */
    if (name.size == 0) name = firn_slice_text("null");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!firn_slice_equal(name, firn_slice_text(known[i].name))) continue;
        reader->codec_name = known[i].name;
        reader->codec = known[i].codec;
        reader->checksum = known[i].codec == FIRN_CODEC_SNAPPY;
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_UNSUPPORTED, "%s: Avro codec \"%.*s\" is not supported",
                     reader->file.name, name.size > 40 ? 40 : (int)name.size,
                     (const char *)name.data);
}

void firn_avro_known_schema_release(firn_avro_known_schema *known) {
    firn_arena_free(known->arena);
    *known = (firn_avro_known_schema){0};
}

static firn_status know(firn_avro_known_schema *known, firn_slice text, const char *name,
                        firn_error *error) {
    firn_avro_known_schema_release(known);
    known->arena = firn_arena_new();
    if (known->arena == NULL) return firn_fail_memory(error);
    const void *copy = firn_arena_memdup(known->arena, text.data, text.size);
    if (copy == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_avro_schema_parse(text, name, known->arena, &known->schema, error));
    known->text = firn_slice_of(copy, text.size);
    return FIRN_OK;
}

/* Without a text nothing is known. */
static firn_status find_schema(firn_avro_reader *reader, firn_avro_known_schema *known,
                               firn_slice text, firn_error *error) {
    const char *name = reader->file.name;
    if (known == NULL) {
        return firn_avro_schema_parse(text, name, reader->arena, &reader->schema, error);
    }
    if (known->text.data == NULL || !firn_slice_equal(known->text, text)) {
        FIRN_TRY(know(known, text, name, error));
    }
    reader->schema = known->schema;
    return FIRN_OK;
}

static firn_status open_reader(firn_avro_reader *reader, firn_avro_known_schema *known,
                               firn_error *error) {
    reader->arena = firn_arena_new();
    if (reader->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(read_header(reader, error));
    FIRN_TRY(choose_codec(reader, error));
    firn_slice schema;
    if (!firn_avro_reader_metadata(reader, "avro.schema", &schema)) {
        return corrupt(reader, 0, "Avro header has no avro.schema", error);
    }
    return find_schema(reader, known, schema, error);
}

firn_status firn_avro_reader_open(const firn_read_at *file, size_t maximum_block_bytes,
                                  firn_avro_reader **out, firn_error *error) {
    return firn_avro_reader_open_known(file, maximum_block_bytes, NULL, out, error);
}

firn_status firn_avro_reader_open_known(const firn_read_at *file, size_t maximum_block_bytes,
                                        firn_avro_known_schema *known, firn_avro_reader **out,
                                        firn_error *error) {
    firn_avro_reader *reader = firn_alloc_zeroed(1, sizeof *reader);
    if (reader == NULL) return firn_fail_memory(error);
    reader->file = *file;
    reader->maximum_block_bytes =
        maximum_block_bytes == 0 ? FIRN_AVRO_MAX_BLOCK_BYTES : maximum_block_bytes;
    size_t most = reader->maximum_block_bytes;
    if (most < FIRN_AVRO_MAX_HEADER_BYTES) most = FIRN_AVRO_MAX_HEADER_BYTES;
    reader->window = firn_buffer_with_maximum(most + BLOCK_HEAD_SIZE + SYNC_SIZE);
    reader->content = firn_buffer_with_maximum(reader->maximum_block_bytes);
    firn_status status = open_reader(reader, known, error);
    if (status != FIRN_OK) {
        firn_avro_reader_free(reader);
        return status;
    }
    *out = reader;
    return FIRN_OK;
}

void firn_avro_reader_free(firn_avro_reader *reader) {
    if (reader == NULL) return;
    firn_buffer_release(&reader->window);
    firn_buffer_release(&reader->content);
    firn_vector_release(&reader->entries);
    firn_arena_free(reader->arena);
    firn_free(reader);
}

const firn_avro_schema *firn_avro_reader_schema(const firn_avro_reader *reader) {
    return reader->schema;
}

const char *firn_avro_reader_codec(const firn_avro_reader *reader) {
    return reader->codec_name;
}

int64_t firn_avro_reader_position(const firn_avro_reader *reader) {
    return reader->position;
}

bool firn_avro_reader_metadata(const firn_avro_reader *reader, const char *key, firn_slice *out) {
    for (size_t i = reader->entries.count; i > 0; i--) {
        const header_entry *entry = &reader->entries.items[i - 1];
        if (!firn_slice_equal(entry->key, firn_slice_text(key))) continue;
        *out = entry->value;
        return true;
    }
    return false;
}

bool firn_avro_reader_metadata_at(const firn_avro_reader *reader, size_t index, firn_slice *key,
                                  firn_slice *value) {
    if (index >= reader->entries.count) return false;
    *key = reader->entries.items[index].key;
    *value = reader->entries.items[index].value;
    return true;
}

static firn_status read_block_head(firn_avro_reader *reader, uint64_t offset, block_head *head,
                                   firn_error *error) {
    uint64_t left = reader->file.size - offset;
    size_t size = left < BLOCK_HEAD_SIZE ? (size_t)left : BLOCK_HEAD_SIZE;
    const uint8_t *data = NULL;
    FIRN_TRY(file_bytes(reader, offset, size, &data, error));
    firn_avro_cursor cursor = firn_avro_cursor_of(firn_slice_of(data, size), reader->file.name);
    cursor.file_offset = offset;
    int64_t data_size = 0;
    FIRN_TRY(firn_avro_get_long(&cursor, &head->count, error));
    FIRN_TRY(firn_avro_get_long(&cursor, &data_size, error));
    if (head->count < 0) return corrupt(reader, offset, "negative count of a block", error);
    left -= cursor.position;
    if (data_size < 0 || (uint64_t)data_size > left || left - (uint64_t)data_size < SYNC_SIZE) {
        return corrupt(reader, offset, "block runs beyond the end of the file", error);
    }
    if ((uint64_t)data_size > reader->maximum_block_bytes) {
        return firn_fail_at(error, FIRN_LIMIT, (int64_t)offset,
                            "%s: block of %" PRId64 " bytes is above the limit of %zu",
                            reader->file.name, data_size, reader->maximum_block_bytes);
    }
    head->size = (size_t)data_size;
    head->data_offset = offset + cursor.position;
    head->next_offset = head->data_offset + (uint64_t)data_size + SYNC_SIZE;
    return FIRN_OK;
}

/** Snappy blocks end with the big-endian CRC-32 of what they decompress to. */
static firn_status check_checksum(firn_avro_reader *reader, const block_head *head,
                                  const uint8_t *stored, firn_error *error) {
    uint32_t actual = firn_crc32(0, firn_buffer_slice(&reader->content));
    if (actual == firn_load_be32(stored)) return FIRN_OK;
    return corrupt(reader, head->data_offset, "checksum of a block does not match", error);
}

static firn_status decompress(firn_avro_reader *reader, const block_head *head, const uint8_t *data,
                              firn_error *error) {
    size_t size = head->size;
    if (reader->checksum) {
        if (size < 4) return corrupt(reader, head->data_offset, "block without checksum", error);
        size -= 4;
    }
    firn_buffer_clear(&reader->content);
    firn_status status = firn_codec_decompress_growing(reader->codec, firn_slice_of(data, size),
                                                       &reader->content, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "%s: block at byte %" PRIu64, reader->file.name,
                               head->data_offset);
    }
    if (reader->checksum) FIRN_TRY(check_checksum(reader, head, data + size, error));
    return FIRN_OK;
}

static firn_status enter_block(firn_avro_reader *reader, firn_error *error) {
    block_head head;
    FIRN_TRY(read_block_head(reader, reader->next_block, &head, error));
    const uint8_t *data = NULL;
    FIRN_TRY(file_bytes(reader, head.data_offset, head.size + SYNC_SIZE, &data, error));
    if (memcmp(data + head.size, reader->sync, SYNC_SIZE) != 0) {
        return corrupt(reader, head.data_offset + head.size, "sync marker behind a block is wrong",
                       error);
    }
    firn_avro_cursor *cursor = &reader->cursor;
    int64_t unspent = cursor->budget;
    *cursor = firn_avro_cursor_of(firn_slice_of(data, head.size), reader->file.name);
    cursor->file_offset = head.data_offset;
    if (reader->codec != FIRN_CODEC_UNCOMPRESSED) {
        FIRN_TRY(decompress(reader, &head, data, error));
        *cursor = firn_avro_cursor_of(firn_buffer_slice(&reader->content), reader->file.name);
        cursor->file_offset = head.data_offset;
        cursor->decompressed = true;
    }
    /* What the file starts out with counts once, however many blocks there are. */
    if (reader->next_block != reader->first_block) {
        cursor->budget += unspent - FIRN_AVRO_BUDGET_BASE;
    }
    reader->left = head.count;
    reader->next_block = head.next_offset;
    if (head.count == 0 && cursor->size != 0) {
        return firn_avro_corrupt(cursor, "block without records is not empty", error);
    }
    return FIRN_OK;
}

firn_status firn_avro_reader_visit(firn_avro_reader *reader, firn_avro_datum_visitor visit,
                                   void *context, bool *more, firn_error *error) {
    while (reader->left == 0) {
        *more = reader->next_block < reader->file.size;
        if (!*more) return FIRN_OK;
        FIRN_TRY(enter_block(reader, error));
    }
    firn_status status = visit(context, &reader->cursor, error);
    if (status != FIRN_OK) {
        return firn_error_wrap(error, status, "record %" PRId64, reader->position);
    }
    reader->left--;
    reader->position++;
    if (reader->left == 0 && firn_avro_remaining(&reader->cursor) > 0) {
        return firn_avro_corrupt(&reader->cursor, "block goes on behind its last record", error);
    }
    *more = true;
    return FIRN_OK;
}

/* What one call of firn_avro_reader_next was given. */
typedef struct planned_record {
    const firn_avro_plan *plan;
    firn_arena *arena;
    bool copy;
    void *record;
} planned_record;

static firn_status decode_planned(void *context, firn_avro_cursor *cursor, firn_error *error) {
    const planned_record *planned = context;
    return firn_avro_decode(planned->plan, cursor, planned->arena, planned->copy, planned->record,
                            error);
}

firn_status firn_avro_reader_next(firn_avro_reader *reader, const firn_avro_plan *plan,
                                  firn_arena *arena, bool copy, void *record, bool *more,
                                  firn_error *error) {
    planned_record planned = {plan, arena, copy, record};
    return firn_avro_reader_visit(reader, decode_planned, &planned, more, error);
}

firn_status firn_avro_reader_count(firn_avro_reader *reader, int64_t *out, firn_error *error) {
    int64_t total = 0;
    uint64_t offset = reader->first_block;
    /*
     * With an uncompressed block the cursor lies in the window, which reading ahead would replace.
     */
    firn_buffer window = reader->window;
    uint64_t window_offset = reader->window_offset;
    reader->window = firn_buffer_with_maximum(window.maximum);
    reader->window_offset = 0;
    firn_status status = FIRN_OK;
    while (offset < reader->file.size) {
        block_head head;
        FIRN_CHECK(read_block_head(reader, offset, &head, error));
        if (__builtin_add_overflow(total, head.count, &total)) {
            FIRN_CHECK(corrupt(reader, offset, "number of records is out of range", error));
        }
        offset = head.next_offset;
    }
    *out = total;
out:
    firn_buffer_release(&reader->window);
    reader->window = window;
    reader->window_offset = window_offset;
    return status;
}
