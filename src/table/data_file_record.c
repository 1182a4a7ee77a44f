/**
 * A record: header, key, a zero that ends the key's path, then the other fields in a fixed order: numbers as zigzag varints, bytes and
 * texts with their size before them (texts with a zero behind them, which is counted).
 */
#include "table/data_file_record.h"

#include <string.h>

#include "base/bytes.h"

#define SPEC_SIZE ((size_t)4)

/* --- packing ------------------------------------------------------------------------------------ */

static firn_status put_unsigned(firn_buffer *out, uint64_t value, firn_error *error) {
    uint8_t bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (uint8_t)((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
        value >>= 7;
    } while (value != 0);
    return firn_buffer_append(out, bytes, count, error);
}

static firn_status put_signed(firn_buffer *out, int64_t value, firn_error *error) {
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    return put_unsigned(out, ((uint64_t)value << 1) ^ sign, error);
}

/** One more than the size; 0: absent. */
static firn_status put_bytes(firn_buffer *out, firn_slice bytes, firn_error *error) {
    if (bytes.data == NULL) return put_unsigned(out, 0, error);
    FIRN_TRY(put_unsigned(out, (uint64_t)bytes.size + 1, error));
    return firn_buffer_append(out, bytes.data, bytes.size, error);
}

static firn_status put_text(firn_buffer *out, const char *text, firn_error *error) {
    firn_slice bytes = {0};
    if (text != NULL) bytes = firn_slice_of((const uint8_t *)text, strlen(text) + 1);
    return put_bytes(out, bytes, error);
}

static bool has_bytes(firn_type_kind kind) {
    switch (kind) {
    case FIRN_TYPE_STRING:
    case FIRN_TYPE_UUID:
    case FIRN_TYPE_FIXED:
    case FIRN_TYPE_BINARY:
    case FIRN_TYPE_VARIANT:
    case FIRN_TYPE_GEOMETRY:
    case FIRN_TYPE_GEOGRAPHY: return true;
    default: return false;
    }
}

static firn_status put_value(firn_buffer *out, const firn_value *value, firn_error *error) {
    FIRN_TRY(put_unsigned(out, (uint64_t)value->kind << 1 | (value->is_null ? 1 : 0), error));
    if (value->is_null) return FIRN_OK;
    if (has_bytes(value->kind)) {
        static const uint8_t none[1] = {0};
        firn_slice bytes = value->as.bytes;
        return put_bytes(out, bytes.data == NULL ? firn_slice_of(none, 0) : bytes, error);
    }
    return firn_buffer_append(out, &value->as, sizeof value->as, error);
}

static firn_status put_counts(firn_buffer *out, const firn_count_map *map, firn_error *error) {
    FIRN_TRY(put_unsigned(out, map->present ? (uint64_t)map->count + 1 : 0, error));
    for (size_t i = 0; map->present && i < map->count; i++) {
        FIRN_TRY(put_signed(out, map->ids[i], error));
        FIRN_TRY(put_signed(out, map->counts[i], error));
    }
    return FIRN_OK;
}

static firn_status put_bounds(firn_buffer *out, const firn_bound_map *map, firn_error *error) {
    FIRN_TRY(put_unsigned(out, map->present ? (uint64_t)map->count + 1 : 0, error));
    for (size_t i = 0; map->present && i < map->count; i++) {
        FIRN_TRY(put_signed(out, map->ids[i], error));
        FIRN_TRY(put_bytes(out, map->bounds[i], error));
    }
    return FIRN_OK;
}

static firn_status put_key(const firn_data_file *file, firn_buffer *out, size_t *partition_size,
                           firn_error *error) {
    uint8_t spec[SPEC_SIZE];
    size_t start = out->size;
    firn_store_be32(spec, (uint32_t)file->spec_id ^ (UINT32_C(1) << 31));
    FIRN_TRY(firn_buffer_append(out, spec, sizeof spec, error));
    FIRN_TRY(firn_value_order_key(file->partition, file->partition_count, out, error));
    *partition_size = out->size - start;
    return firn_buffer_append(out, file->path, strlen(file->path) + 1, error);
}

static firn_status put_fields(const firn_data_file *file, firn_buffer *out, firn_error *error) {
    FIRN_TRY(put_unsigned(out, (uint64_t)file->format, error));
    FIRN_TRY(put_text(out, file->format_text, error));
    FIRN_TRY(put_unsigned(out, file->partition_count, error));
    for (size_t i = 0; i < file->partition_count; i++) {
        FIRN_TRY(put_value(out, &file->partition[i], error));
    }
    FIRN_TRY(put_signed(out, file->record_count, error));
    FIRN_TRY(put_signed(out, file->file_size_in_bytes, error));
    FIRN_TRY(put_counts(out, &file->column_sizes, error));
    FIRN_TRY(put_counts(out, &file->value_counts, error));
    FIRN_TRY(put_counts(out, &file->null_value_counts, error));
    FIRN_TRY(put_counts(out, &file->nan_value_counts, error));
    FIRN_TRY(put_bounds(out, &file->lower_bounds, error));
    FIRN_TRY(put_bounds(out, &file->upper_bounds, error));
    FIRN_TRY(put_bytes(out, file->key_metadata, error));
    FIRN_TRY(put_unsigned(out, file->split_offset_count, error));
    for (size_t i = 0; i < file->split_offset_count; i++) {
        FIRN_TRY(put_signed(out, file->split_offsets[i], error));
    }
    FIRN_TRY(put_unsigned(out, file->has_sort_order_id ? 1 : 0, error));
    return put_signed(out, file->sort_order_id, error);
}

firn_status firn_record_pack(const firn_data_file *file, firn_buffer *out, firn_error *error) {
    uint8_t header[FIRN_RECORD_HEADER_SIZE] = {0};
    size_t start = out->size, partition_size = 0;
    if (file->content != FIRN_CONTENT_DATA) {
        return firn_fail(error, FIRN_INVALID, "%s: is a delete file, not a data file", file->path);
    }
    FIRN_TRY(firn_buffer_append(out, header, sizeof header, error));
    FIRN_TRY(put_key(file, out, &partition_size, error));
    size_t key_size = out->size - start - sizeof header - 1;
    FIRN_TRY(put_fields(file, out, error));
    if (out->size - start > UINT32_MAX) {
        return firn_fail(error, FIRN_LIMIT, "%s: its entry is larger than 4 GiB", file->path);
    }
    firn_store_le32(out->data + start, (uint32_t)(out->size - start));
    firn_store_le32(out->data + start + 4, (uint32_t)key_size);
    firn_store_le32(out->data + start + 8, (uint32_t)partition_size);
    return FIRN_OK;
}

/* --- unpacking ---------------------------------------------------------------------------------- */

/** What is left of a record. `failed` once it was not what it must be: then everything reads as 0. */
typedef struct reader {
    const uint8_t *at, *end;
    bool failed;
} reader;

static uint64_t get_unsigned(reader *in) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return value;
    }
    in->failed = true;
    return 0;
}

static int64_t get_signed(reader *in) {
    uint64_t value = get_unsigned(in);
    return (int64_t)((value >> 1) ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

/** A number of items that each take a byte at least. */
static size_t get_count(reader *in) {
    uint64_t count = get_unsigned(in);
    if (count <= (uint64_t)(in->end - in->at)) return (size_t)count;
    in->failed = true;
    return 0;
}

static firn_slice get_bytes(reader *in) {
    uint64_t size = get_unsigned(in);
    if (size == 0) return (firn_slice){0};
    size--;
    if (size > (uint64_t)(in->end - in->at)) {
        in->failed = true;
        return (firn_slice){0};
    }
    firn_slice bytes = firn_slice_of(in->at, (size_t)size);
    in->at += size;
    return bytes;
}

static const char *get_text(reader *in) {
    firn_slice bytes = get_bytes(in);
    if (bytes.data == NULL) return NULL;
    if (bytes.size > 0 && bytes.data[bytes.size - 1] == '\0') return (const char *)bytes.data;
    in->failed = true;
    return NULL;
}

static void get_value(reader *in, firn_value *out) {
    uint64_t tag = get_unsigned(in);
    *out = firn_value_null((firn_type_kind)(tag >> 1));
    if ((tag & 1) != 0) return;
    out->is_null = false;
    if (has_bytes(out->kind)) {
        out->as.bytes = get_bytes(in);
    } else if ((size_t)(in->end - in->at) < sizeof out->as) {
        in->failed = true;
    } else {
        memcpy(&out->as, in->at, sizeof out->as);
        in->at += sizeof out->as;
    }
}

static firn_status get_counts(reader *in, firn_arena *arena, firn_count_map *out,
                              firn_error *error) {
    uint64_t tag = get_unsigned(in);
    *out = (firn_count_map){0};
    if (tag == 0) return FIRN_OK;
    size_t count = (size_t)(tag - 1);
    if (count > (size_t)(in->end - in->at)) {
        in->failed = true;
        return FIRN_OK;
    }
    int32_t *ids = firn_arena_alloc(arena, count, sizeof *ids);
    int64_t *counts = firn_arena_alloc(arena, count, sizeof *counts);
    if (ids == NULL || counts == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)get_signed(in);
        counts[i] = get_signed(in);
    }
    *out = (firn_count_map){ids, counts, count, true};
    return FIRN_OK;
}

static firn_status get_bounds(reader *in, firn_arena *arena, firn_bound_map *out,
                              firn_error *error) {
    uint64_t tag = get_unsigned(in);
    *out = (firn_bound_map){0};
    if (tag == 0) return FIRN_OK;
    size_t count = (size_t)(tag - 1);
    if (count > (size_t)(in->end - in->at)) {
        in->failed = true;
        return FIRN_OK;
    }
    int32_t *ids = firn_arena_alloc(arena, count, sizeof *ids);
    firn_slice *bounds = firn_arena_alloc(arena, count, sizeof *bounds);
    if (ids == NULL || bounds == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)get_signed(in);
        bounds[i] = get_bytes(in);
    }
    *out = (firn_bound_map){ids, bounds, count, true};
    return FIRN_OK;
}

static firn_status get_partition(reader *in, firn_arena *arena, firn_data_file *out,
                                 firn_error *error) {
    size_t count = get_count(in);
    firn_value *values = firn_arena_alloc(arena, count, sizeof *values);
    if (values == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) get_value(in, &values[i]);
    out->partition = values;
    out->partition_count = count;
    return FIRN_OK;
}

static firn_status get_split_offsets(reader *in, firn_arena *arena, firn_data_file *out,
                                     firn_error *error) {
    size_t count = get_count(in);
    int64_t *offsets = firn_arena_alloc(arena, count, sizeof *offsets);
    if (offsets == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) offsets[i] = get_signed(in);
    out->split_offsets = count == 0 ? NULL : offsets;
    out->split_offset_count = count;
    return FIRN_OK;
}

static firn_status get_fields(reader *in, firn_arena *arena, firn_data_file *out,
                              firn_error *error) {
    out->format = (firn_file_format)get_unsigned(in);
    out->format_text = get_text(in);
    FIRN_TRY(get_partition(in, arena, out, error));
    out->record_count = get_signed(in);
    out->file_size_in_bytes = get_signed(in);
    FIRN_TRY(get_counts(in, arena, &out->column_sizes, error));
    FIRN_TRY(get_counts(in, arena, &out->value_counts, error));
    FIRN_TRY(get_counts(in, arena, &out->null_value_counts, error));
    FIRN_TRY(get_counts(in, arena, &out->nan_value_counts, error));
    FIRN_TRY(get_bounds(in, arena, &out->lower_bounds, error));
    FIRN_TRY(get_bounds(in, arena, &out->upper_bounds, error));
    out->key_metadata = get_bytes(in);
    FIRN_TRY(get_split_offsets(in, arena, out, error));
    out->has_sort_order_id = get_unsigned(in) != 0;
    out->sort_order_id = (int32_t)get_signed(in);
    return FIRN_OK;
}

static firn_status fail_damaged(firn_error *error) {
    return firn_fail(error, FIRN_CORRUPT,
                     "the temporary file of sorted entries does not hold what was written to it");
}

size_t firn_record_size(const uint8_t *header) {
    return firn_load_le32(header);
}

firn_status firn_record_look(firn_slice record, firn_record_view *out, firn_error *error) {
    if (record.size < FIRN_RECORD_HEADER_SIZE || firn_record_size(record.data) != record.size) {
        return fail_damaged(error);
    }
    size_t key_size = firn_load_le32(record.data + 4);
    size_t partition_size = firn_load_le32(record.data + 8);
    size_t room = record.size - FIRN_RECORD_HEADER_SIZE;
    const uint8_t *key = record.data + FIRN_RECORD_HEADER_SIZE;
    if (key_size >= room || key[key_size] != '\0' || partition_size > key_size ||
        partition_size < SPEC_SIZE) {
        return fail_damaged(error);
    }
    *out = (firn_record_view){record, firn_slice_of(key, key_size),
                              firn_slice_of(key, partition_size)};
    return FIRN_OK;
}

firn_status firn_record_unpack(const firn_record_view *record, firn_arena *arena,
                               firn_data_file *out, firn_error *error) {
    const uint8_t *path = record->key.data + record->partition.size;
    reader in = {.at = record->key.data + record->key.size + 1,
                 .end = record->whole.data + record->whole.size};
    *out = (firn_data_file){.content = FIRN_CONTENT_DATA, .path = (const char *)path};
    out->spec_id = (int32_t)(firn_load_be32(record->key.data) ^ (UINT32_C(1) << 31));
    FIRN_TRY(get_fields(&in, arena, out, error));
    return in.failed || in.at != in.end ? fail_damaged(error) : FIRN_OK;
}
