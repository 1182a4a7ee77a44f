#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "puffin/roaring_format.h"
#include "puffin/roaring_internal.h"

/* A key, a cookie and the count of no containers. */
#define SMALLEST_BITMAP ((size_t)12)

/* Bytes of a file that are in memory at a time, at least; a container of runs may need more. */
#define WINDOW_SIZE ((size_t)64 * 1024)

typedef struct cursor {
    const firn_read_at *file;
    uint64_t offset; /* of the bitmap in the file */
    size_t size, position;
    firn_buffer window; /* of what begins at window_start */
    size_t window_start;
} cursor;

/* One 32-bit bitmap as its header describes it. */
typedef struct header {
    uint64_t key;
    size_t start; /* of the cookie */
    uint32_t count;
    firn_buffer run_flags, descriptions,
        offsets; /* run_flags, offsets: empty where none are there */
    size_t descriptions_at, offsets_at;
} header;

static firn_status corrupt(const cursor *at, size_t position, const char *message,
                           firn_error *error) {
    return firn_fail_at(error, FIRN_CORRUPT, (int64_t)position, "%s: roaring bitmap: %s",
                        at->file->name, message);
}

static firn_status fill_window(cursor *at, size_t size, firn_error *error) {
    size_t left = at->size - at->position;
    if (size < WINDOW_SIZE) size = left < WINDOW_SIZE ? left : WINDOW_SIZE;
    firn_buffer_clear(&at->window);
    FIRN_TRY(firn_buffer_reserve(&at->window, size, error));
    FIRN_TRY(firn_read_at_exact(at->file, at->offset + at->position, at->window.data, size, error));
    at->window.size = size;
    at->window_start = at->position;
    return FIRN_OK;
}

/* What it gives is valid until the next call. */
static firn_status take(cursor *at, size_t size, const uint8_t **out, firn_error *error) {
    if (size > at->size - at->position) {
        return corrupt(at, at->position, "it is cut short", error);
    }
    *out = NULL;
    if (at->file->borrow != NULL) {
        *out = at->file->borrow(at->file->context, at->offset + at->position, size);
    }
    if (*out == NULL) {
        size_t end = at->window_start + at->window.size;
        bool there = at->position >= at->window_start && at->position <= end &&
                     end - at->position >= size && at->window.data != NULL;
        if (!there) FIRN_TRY(fill_window(at, size, error));
        *out = at->window.data + (at->position - at->window_start);
    }
    at->position += size;
    return FIRN_OK;
}

static firn_status keep(cursor *at, size_t size, firn_buffer *out, firn_error *error) {
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(at, size, &bytes, error));
    firn_buffer_clear(out);
    return firn_buffer_append(out, bytes, size, error);
}

static firn_status read_cookie(cursor *at, header *out, firn_error *error) {
    const uint8_t *bytes = NULL;
    out->start = at->position;
    firn_buffer_clear(&out->run_flags);
    FIRN_TRY(take(at, sizeof(uint32_t), &bytes, error));
    uint32_t cookie = firn_load_le32(bytes);
    if ((cookie & UINT16_MAX) == FIRN_ROARING_COOKIE_WITH_RUNS) {
        out->count = (cookie >> 16) + 1;
        return keep(at, (out->count + 7) / 8, &out->run_flags, error);
    }
    if (cookie != FIRN_ROARING_COOKIE_WITHOUT_RUNS) {
        return corrupt(at, out->start, "the cookie is neither 12346 nor 12347", error);
    }
    FIRN_TRY(take(at, sizeof(uint32_t), &bytes, error));
    out->count = firn_load_le32(bytes);
    if (out->count <= FIRN_ROARING_CONTAINERS_MOST) return FIRN_OK;
    return corrupt(at, at->position - sizeof(uint32_t), "more than 65536 containers", error);
}

static firn_status read_header(cursor *at, header *out, firn_error *error) {
    const uint8_t *key = NULL;
    FIRN_TRY(take(at, sizeof(uint32_t), &key, error));
    out->key = firn_load_le32(key);
    if (out->key > INT32_MAX) {
        return corrupt(at, at->position - sizeof(uint32_t), "a key is above 2^31 - 1", error);
    }
    FIRN_TRY(read_cookie(at, out, error));
    out->descriptions_at = at->position;
    FIRN_TRY(keep(at, (size_t)out->count * 4, &out->descriptions, error));
    out->offsets_at = at->position;
    firn_buffer_clear(&out->offsets);
    if (out->run_flags.size > 0 && out->count < FIRN_ROARING_NO_OFFSETS_BELOW) return FIRN_OK;
    return keep(at, (size_t)out->count * 4, &out->offsets, error);
}

static firn_status read_values(cursor *at, firn_container *out, firn_error *error) {
    size_t start = at->position;
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(at, out->count * sizeof(uint16_t), &bytes, error));
    FIRN_TRY(firn_container_reserve(out, out->count, error));
    for (uint32_t i = 0; i < out->count; i++) {
        out->values[i] = firn_load_le16(bytes + (size_t)i * 2);
        if (i > 0 && out->values[i] <= out->values[i - 1]) {
            return corrupt(at, start + (size_t)i * 2, "the values of an array do not ascend",
                           error);
        }
    }
    out->used = (uint16_t)out->count;
    return FIRN_OK;
}

static firn_status read_words(cursor *at, firn_container *out, firn_error *error) {
    size_t start = at->position;
    const uint8_t *bytes = NULL;
    uint32_t count = 0;
    FIRN_TRY(take(at, FIRN_CONTAINER_BITMAP_BYTES, &bytes, error));
    out->kind = FIRN_CONTAINER_BITMAP;
    out->words = firn_alloc(FIRN_CONTAINER_BITMAP_BYTES);
    if (out->words == NULL) return firn_fail_memory(error);
    for (uint32_t i = 0; i < FIRN_CONTAINER_WORDS; i++) {
        out->words[i] = firn_load_le64(bytes + (size_t)i * 8);
        count += (uint32_t)__builtin_popcountll(out->words[i]);
    }
    if (count == out->count) return FIRN_OK;
    return corrupt(at, start, "a bitmap has not as many positions as its header says", error);
}

/* Run `index`; *previous_end is where the run before it ended, and is moved on. */
static firn_status read_run(const cursor *at, const uint8_t *bytes, size_t start, uint32_t index,
                            uint32_t *previous_end, firn_container_run *out, firn_error *error) {
    size_t place = (size_t)index * sizeof *out;
    uint32_t first = firn_load_le16(bytes + place);
    uint32_t end = first + firn_load_le16(bytes + place + 2) + 1;
    if (end > UINT16_MAX + 1U) {
        return corrupt(at, start + place, "a run goes beyond its container", error);
    }
    if (index > 0 && first < *previous_end) {
        return corrupt(at, start + place, "runs overlap or do not ascend", error);
    }
    *previous_end = end;
    *out = (firn_container_run){(uint16_t)first, (uint16_t)(end - 1)};
    return FIRN_OK;
}

/* Runs that touch are joined: the specification does not forbid them. */
static firn_status append_run(firn_container *out, firn_container_run run, firn_error *error) {
    if (out->used > 0 && out->runs[out->used - 1].last + 1 == run.first) {
        out->runs[out->used - 1].last = run.last;
        return FIRN_OK;
    }
    FIRN_TRY(firn_container_reserve(out, out->used + 1U, error));
    out->runs[out->used++] = run;
    return FIRN_OK;
}

static firn_status read_runs(cursor *at, firn_container *out, firn_error *error) {
    uint64_t words[FIRN_CONTAINER_WORDS];
    size_t start = at->position + sizeof(uint16_t);
    const uint8_t *bytes = NULL;
    FIRN_TRY(take(at, sizeof(uint16_t), &bytes, error));
    uint32_t count = firn_load_le16(bytes);
    FIRN_TRY(take(at, count * sizeof(firn_container_run), &bytes, error));
    /* More runs than pay are valid; they become what is smallest. */
    bool too_many = count > FIRN_CONTAINER_RUNS_MOST;
    if (too_many) memset(words, 0, sizeof words);
    out->kind = FIRN_CONTAINER_RUNS;
    uint32_t end = 0;
    uint32_t positions = 0;
    for (uint32_t i = 0; i < count; i++) {
        firn_container_run run = {0};
        FIRN_TRY(read_run(at, bytes, start, i, &end, &run, error));
        positions += run.last - run.first + 1U;
        if (too_many) {
            firn_container_set_bits(words, run.first, run.last);
        } else {
            FIRN_TRY(append_run(out, run, error));
        }
    }
    if (positions != out->count) {
        return corrupt(at, start, "runs have not as many positions as their header says", error);
    }
    return too_many ? firn_container_store(out, words, error) : FIRN_OK;
}

static firn_status read_container(cursor *at, const header *of, uint32_t index, firn_container *out,
                                  firn_error *error) {
    size_t place = (size_t)index * 4;
    const uint8_t *description = of->descriptions.data + place;
    out->key = of->key << 16 | firn_load_le16(description);
    out->count = firn_load_le16(description + 2) + 1U;
    if (index > 0 && firn_load_le16(description) <= firn_load_le16(description - 4)) {
        return corrupt(at, of->descriptions_at + place, "the containers' keys do not ascend",
                       error);
    }
    if (of->offsets.size > 0 &&
        firn_load_le32(of->offsets.data + place) != at->position - of->start) {
        return corrupt(at, of->offsets_at + place,
                       "a container does not lie where the offset header says", error);
    }
    bool runs = of->run_flags.size > 0 && (of->run_flags.data[index / 8] >> index % 8 & 1) != 0;
    if (runs) return read_runs(at, out, error);
    if (out->count <= FIRN_CONTAINER_ARRAY_MOST) return read_values(at, out, error);
    return read_words(at, out, error);
}

/* Containers come in order of their keys. The set takes over what is asked for. */
static firn_status put_container(firn_roaring *set, firn_roaring_part *part,
                                 firn_container *container, firn_error *error) {
    uint64_t first = container->key << 16;
    part->count += container->count;
    part->greatest = first | firn_container_maximum(container);
    if (first >= part->end && part->behind == UINT64_MAX) part->behind = first;
    if (first >= part->end || (first | UINT16_MAX) < part->first) {
        firn_container_release(container);
        return FIRN_OK;
    }
    return firn_vector_push(&set->containers, error, *container);
}

static firn_status read_bitmap(cursor *at, const header *of, firn_roaring *set,
                               firn_roaring_part *part, firn_error *error) {
    for (uint32_t i = 0; i < of->count; i++) {
        firn_container container = {0};
        firn_status status = read_container(at, of, i, &container, error);
        if (status == FIRN_OK) status = put_container(set, part, &container, error);
        if (status != FIRN_OK) {
            firn_container_release(&container);
            return status;
        }
    }
    return FIRN_OK;
}

static firn_status read_bitmaps(cursor *at, header *found, firn_roaring *set,
                                firn_roaring_part *part, firn_error *error) {
    const uint8_t *bytes = NULL;
    uint64_t previous = 0;
    FIRN_TRY(take(at, sizeof(uint64_t), &bytes, error));
    uint64_t count = firn_load_le64(bytes);
    if (count > (at->size - at->position) / SMALLEST_BITMAP) {
        return corrupt(at, 0, "more bitmaps are stated than there is room for", error);
    }
    for (uint64_t i = 0; i < count; i++) {
        size_t place = at->position;
        FIRN_TRY(read_header(at, found, error));
        if (i > 0 && found->key <= previous) {
            return corrupt(at, place, "the bitmaps' keys do not ascend", error);
        }
        previous = found->key;
        FIRN_TRY(read_bitmap(at, found, set, part, error));
    }
    if (at->position == at->size) return FIRN_OK;
    return corrupt(at, at->position, "bytes follow it", error);
}

firn_status firn_roaring_read_part(const firn_read_at *file, uint64_t offset, size_t size,
                                   firn_roaring_part *part, firn_roaring **out, firn_error *error) {
    cursor at = {.file = file, .offset = offset, .size = size};
    header found = {0};
    firn_roaring *set = firn_roaring_new();
    if (set == NULL) return firn_fail_memory(error);
    at.window = found.run_flags = firn_buffer_with_maximum(SIZE_MAX);
    found.descriptions = found.offsets = firn_buffer_with_maximum(SIZE_MAX);
    part->count = part->greatest = 0;
    part->behind = UINT64_MAX;
    firn_status status = read_bitmaps(&at, &found, set, part, error);
    firn_buffer_release(&at.window);
    firn_buffer_release(&found.run_flags);
    firn_buffer_release(&found.descriptions);
    firn_buffer_release(&found.offsets);
    if (status == FIRN_OK) {
        *out = set;
    } else {
        firn_roaring_free(set);
    }
    return status;
}

firn_status firn_roaring_read(firn_slice bytes, const char *name, firn_roaring **out,
                              firn_error *error) {
    firn_memory_file memory = {bytes.data, bytes.size};
    firn_read_at file = firn_read_at_memory(&memory, name);
    firn_roaring_part all = {.first = 0, .end = UINT64_MAX};
    return firn_roaring_read_part(&file, 0, bytes.size, &all, out, error);
}
