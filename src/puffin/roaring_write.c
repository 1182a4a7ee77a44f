#include <string.h>

#include "base/bytes.h"
#include "puffin/roaring_format.h"
#include "puffin/roaring_internal.h"

/* How one container lies in the file. */
static bool as_runs(const firn_container *container, uint32_t *size) {
    uint32_t flat = container->count <= FIRN_CONTAINER_ARRAY_MOST
                        ? container->count * (uint32_t)sizeof(uint16_t)
                        : (uint32_t)FIRN_CONTAINER_BITMAP_BYTES;
    uint32_t runs = (uint32_t)sizeof(uint16_t) +
                    firn_container_run_count(container) * (uint32_t)sizeof(firn_container_run);
    *size = runs < flat ? runs : flat;
    return runs < flat;
}

static firn_status put16(firn_buffer *out, uint32_t value, firn_error *error) {
    uint8_t bytes[sizeof(uint16_t)];
    firn_store_le16(bytes, (uint16_t)value);
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

static firn_status put32(firn_buffer *out, uint32_t value, firn_error *error) {
    uint8_t bytes[sizeof(uint32_t)];
    firn_store_le32(bytes, value);
    return firn_buffer_append(out, bytes, sizeof bytes, error);
}

/* The cookie and, where there are runs, one bit a container that says so. */
static firn_status write_cookie(const firn_container *containers, size_t count, bool *any_runs,
                                firn_buffer *out, firn_error *error) {
    uint8_t flags[FIRN_ROARING_CONTAINERS_MOST / 8] = {0};
    *any_runs = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t size = 0;
        if (!as_runs(&containers[i], &size)) continue;
        flags[i / 8] = (uint8_t)(flags[i / 8] | 1U << i % 8);
        *any_runs = true;
    }
    if (!*any_runs) {
        FIRN_TRY(put32(out, FIRN_ROARING_COOKIE_WITHOUT_RUNS, error));
        return put32(out, (uint32_t)count, error);
    }
    FIRN_TRY(put32(out, FIRN_ROARING_COOKIE_WITH_RUNS | (uint32_t)(count - 1) << 16, error));
    return firn_buffer_append(out, flags, (count + 7) / 8, error);
}

static firn_status write_header(const firn_container *containers, size_t count, size_t start,
                                firn_buffer *out, firn_error *error) {
    bool any_runs = false;
    FIRN_TRY(write_cookie(containers, count, &any_runs, out, error));
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(put16(out, (uint32_t)(containers[i].key & UINT16_MAX), error));
        FIRN_TRY(put16(out, containers[i].count - 1, error));
    }
    if (any_runs && count < FIRN_ROARING_NO_OFFSETS_BELOW) return FIRN_OK;
    size_t offset = out->size - start + count * sizeof(uint32_t);
    for (size_t i = 0; i < count; i++) {
        uint32_t size = 0;
        FIRN_TRY(put32(out, (uint32_t)offset, error));
        (void)as_runs(&containers[i], &size);
        offset += size;
    }
    return FIRN_OK;
}

static firn_status write_runs(const firn_container *container, firn_buffer *out,
                              firn_error *error) {
    firn_container made = {.key = container->key};
    const firn_container *runs = container;
    if (container->kind != FIRN_CONTAINER_RUNS) {
        uint64_t words[FIRN_CONTAINER_WORDS];
        firn_container_load(container, words);
        /* It chooses by the same sizes as as_runs, so that runs are what it makes. */
        FIRN_TRY(firn_container_store(&made, words, error));
        runs = &made;
    }
    firn_status status = put16(out, runs->used, error);
    for (uint32_t i = 0; status == FIRN_OK && i < runs->used; i++) {
        firn_container_run run = runs->runs[i];
        status = put16(out, run.first, error);
        if (status == FIRN_OK) status = put16(out, (uint32_t)(run.last - run.first), error);
    }
    firn_container_release(&made);
    return status;
}

static firn_status write_values(const firn_container *container, firn_buffer *out,
                                firn_error *error) {
    if (container->kind == FIRN_CONTAINER_ARRAY) {
        for (uint32_t i = 0; i < container->used; i++) {
            FIRN_TRY(put16(out, container->values[i], error));
        }
        return FIRN_OK;
    }
    uint64_t values[FIRN_CONTAINER_ARRAY_MOST];
    size_t count = firn_container_take(container, 0, UINT16_MAX, values, FIRN_CONTAINER_ARRAY_MOST);
    for (size_t i = 0; i < count; i++) {
        FIRN_TRY(put16(out, (uint32_t)(values[i] & UINT16_MAX), error));
    }
    return FIRN_OK;
}

static firn_status write_words(const firn_container *container, firn_buffer *out,
                               firn_error *error) {
    uint64_t words[FIRN_CONTAINER_WORDS];
    firn_container_load(container, words);
    FIRN_TRY(firn_buffer_reserve(out, FIRN_CONTAINER_BITMAP_BYTES, error));
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        firn_store_le64(out->data + out->size + (size_t)i * 8, words[i]);
    }
    out->size += FIRN_CONTAINER_BITMAP_BYTES;
    return FIRN_OK;
}

static firn_status write_container(const firn_container *container, firn_buffer *out,
                                   firn_error *error) {
    uint32_t size = 0;
    FIRN_TRY(firn_buffer_reserve(out, FIRN_CONTAINER_BITMAP_BYTES, error));
    if (as_runs(container, &size)) return write_runs(container, out, error);
    if (container->count <= FIRN_CONTAINER_ARRAY_MOST) return write_values(container, out, error);
    return write_words(container, out, error);
}

/* One 32-bit bitmap behind its key. */
static firn_status write_bitmap(const firn_container *containers, size_t count, firn_buffer *out,
                                firn_error *error) {
    FIRN_TRY(put32(out, (uint32_t)(containers[0].key >> 16), error));
    FIRN_TRY(write_header(containers, count, out->size, out, error));
    for (size_t i = 0; i < count; i++) FIRN_TRY(write_container(&containers[i], out, error));
    return FIRN_OK;
}

/* Where the containers that share the upper 32 bits of `from`'s key end. */
static size_t bitmap_end(const firn_roaring *set, size_t from) {
    const firn_container *items = set->containers.items;
    size_t end = from + 1;
    while (end < set->containers.count && items[end].key >> 16 == items[from].key >> 16) end++;
    return end;
}

firn_status firn_roaring_write(const firn_roaring *set, firn_buffer *out, firn_error *error) {
    uint8_t bytes[sizeof(uint64_t)];
    uint64_t bitmaps = 0;
    size_t count = set == NULL ? 0 : set->containers.count;
    for (size_t i = 0; i < count; i = bitmap_end(set, i)) bitmaps++;
    firn_store_le64(bytes, bitmaps);
    FIRN_TRY(firn_buffer_append(out, bytes, sizeof bytes, error));
    for (size_t i = 0; i < count;) {
        size_t end = bitmap_end(set, i);
        FIRN_TRY(write_bitmap(set->containers.items + i, end - i, out, error));
        i = end;
    }
    return FIRN_OK;
}

firn_status firn_roaring_write_range(const firn_roaring *set, uint64_t first, uint64_t end,
                                     firn_buffer *out, firn_error *error) {
    firn_roaring part = {0};
    size_t from = firn_roaring_search(set, first >> 16);
    size_t to = end == 0 ? 0 : firn_roaring_search(set, ((end - 1) >> 16) + 1);
    if (from < to) {
        part.containers.items = set->containers.items + from;
        part.containers.count = to - from;
    }
    return firn_roaring_write(&part, out, error);
}
