/* A hash dictionary: open addressing over indices, the values lie in the page body itself. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/map.h"
#include "parquet/dictionary.h"

#define FIRST_SLOT_COUNT 1024
/* Values whose slots are fetched from memory together: one after the other, each look-up in a large table would wait for its own. */
#define LOOKED_UP_TOGETHER 32

void firn_parquet_dictionary_init(firn_parquet_dictionary *dictionary,
                                  firn_parquet_physical_type type, uint32_t width, size_t limit) {
    *dictionary = (firn_parquet_dictionary){.type = type, .width = width, .limit = limit};
    if (dictionary->limit > INT32_MAX) dictionary->limit = INT32_MAX;
    dictionary->bytes = firn_buffer_with_maximum(INT32_MAX);
    /* The process's secret, by way of its hash: chosen values can't be made to collide. */
    dictionary->seed = firn_hash_bytes("parquet", 7);
}

void firn_parquet_dictionary_release(firn_parquet_dictionary *dictionary) {
    firn_buffer_release(&dictionary->bytes);
    firn_vector_release(&dictionary->offsets);
    firn_free(dictionary->slots);
    firn_free(dictionary->direct);
    dictionary->slots = NULL;
    dictionary->direct = NULL;
    dictionary->slot_count = 0;
    dictionary->count = 0;
}

firn_slice firn_parquet_dictionary_entry(const firn_parquet_dictionary *dictionary,
                                         uint32_t index) {
    if (dictionary->type == FIRN_PARQUET_BYTE_ARRAY) {
        const uint8_t *entry = dictionary->bytes.data + dictionary->offsets.items[index];
        return firn_slice_of(entry + 4, firn_load_le32(entry));
    }
    size_t width = dictionary->width;
    return firn_slice_of(dictionary->bytes.data + index * width, width);
}

/* A multiplication whose halves are folded together: every bit of the input reaches every bit of the low half. */
static inline uint64_t mix(uint64_t value, uint64_t seed) {
    unsigned __int128 product =
        (unsigned __int128)(value ^ seed) * (UINT64_C(0x9E3779B97F4A7C15) ^ (seed << 1));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_bytes(const uint8_t *value, size_t size, uint64_t seed) {
    uint64_t hash = seed + size;
    uint64_t word = 0;
    for (; size > 8; size -= 8, value += 8) {
        memcpy(&word, value, 8);
        hash = mix(hash ^ word, seed);
    }
    word = 0;
    if (size != 0) memcpy(&word, value, size);
    return mix(hash ^ word, seed);
}

static inline uint32_t hash_value(const uint8_t *value, size_t size, uint64_t seed) {
    uint64_t hash;
    if (size == 8) {
        uint64_t word;
        memcpy(&word, value, 8);
        hash = mix(word, seed);
    } else if (size == 4) {
        uint32_t word;
        memcpy(&word, value, 4);
        hash = mix(word, seed);
    } else {
        hash = hash_bytes(value, size, seed);
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

/* Three quarters of the slots may be taken. */
static bool is_crowded(size_t slot_count, size_t entries) {
    return entries > slot_count - slot_count / 4;
}

static void put_slot(firn_parquet_dictionary_slot *slots, size_t count,
                     firn_parquet_dictionary_slot slot) {
    size_t at = slot.hash & (count - 1);
    while (slots[at].entry != 0) at = (at + 1) & (count - 1);
    slots[at] = slot;
}

/* From the slots there were, or, where the dictionary was cut, from the entries. */
static firn_status set_slots(firn_parquet_dictionary *dictionary, size_t count, firn_error *error) {
    firn_parquet_dictionary_slot *slots = firn_alloc_zeroed(count, sizeof *slots);
    if (slots == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < dictionary->slot_count; i++) {
        firn_parquet_dictionary_slot slot = dictionary->slots[i];
        if (slot.entry != 0) put_slot(slots, count, slot);
    }
    for (uint32_t i = 0; dictionary->slot_count == 0 && i < dictionary->count; i++) {
        firn_slice value = firn_parquet_dictionary_entry(dictionary, i);
        uint32_t hash = hash_value(value.data, value.size, dictionary->seed);
        put_slot(slots, count, (firn_parquet_dictionary_slot){hash, i + 1});
    }
    firn_free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->slot_count = count;
    return FIRN_OK;
}

firn_status firn_parquet_dictionary_expect_entries(firn_parquet_dictionary *dictionary,
                                                   size_t count, firn_error *error) {
    size_t slots = dictionary->slot_count == 0 ? FIRST_SLOT_COUNT : dictionary->slot_count;
    while (is_crowded(slots, count)) slots *= 2;
    return slots == dictionary->slot_count ? FIRN_OK : set_slots(dictionary, slots, error);
}

static firn_status begin_slots(firn_parquet_dictionary *dictionary, firn_error *error) {
    if (dictionary->slot_count != 0) return FIRN_OK;
    return firn_parquet_dictionary_expect_entries(dictionary, dictionary->count, error);
}

void firn_parquet_dictionary_cut(firn_parquet_dictionary *dictionary, uint32_t count) {
    firn_free(dictionary->slots);
    dictionary->slots = NULL;
    dictionary->slot_count = 0;
    if (count >= dictionary->count) return;
    dictionary->count = count;
    if (dictionary->type != FIRN_PARQUET_BYTE_ARRAY) {
        dictionary->bytes.size = (size_t)count * dictionary->width;
        return;
    }
    dictionary->bytes.size = dictionary->offsets.items[count];
    dictionary->offsets.count = count;
}

/* Appends an entry; *full without a change where it would pass the limit. */
static firn_status add_entry(firn_parquet_dictionary *dictionary, const uint8_t *value, size_t size,
                             bool *full, firn_error *error) {
    firn_buffer *bytes = &dictionary->bytes;
    bool is_byte_array = dictionary->type == FIRN_PARQUET_BYTE_ARRAY;
    size_t needed = size + (is_byte_array ? 4 : 0);
    *full = needed > dictionary->limit - bytes->size || dictionary->count >= INT32_MAX / 2;
    if (*full) return FIRN_OK;
    if (bytes->capacity - bytes->size < needed) FIRN_TRY(firn_buffer_reserve(bytes, needed, error));
    if (is_byte_array) {
        FIRN_TRY(firn_vector_push(&dictionary->offsets, error, (uint32_t)bytes->size));
        firn_store_le32(bytes->data + bytes->size, (uint32_t)size);
    }
    if (size != 0) memcpy(bytes->data + bytes->size + needed - size, value, size);
    bytes->size += needed;
    dictionary->count++;
    return FIRN_OK;
}

static inline bool entry_equals(const firn_parquet_dictionary *dictionary, uint32_t index,
                                const uint8_t *value, size_t size, size_t width) {
    if (width != 0) return memcmp(dictionary->bytes.data + index * width, value, width) == 0;
    firn_slice entry = firn_parquet_dictionary_entry(dictionary, index);
    return firn_slice_equal(entry, firn_slice_of(value, size));
}

/* `width` is a constant in the callers that matter, so that comparing and hashing become single instructions. */
static inline __attribute__((always_inline)) firn_status
look_up_hashed(firn_parquet_dictionary *dictionary, const uint8_t *value, size_t size, size_t width,
               uint32_t hash, uint32_t *index, bool *full, firn_error *error) {
    size_t mask = dictionary->slot_count - 1;
    size_t at = hash & mask;
    for (; dictionary->slots[at].entry != 0; at = (at + 1) & mask) {
        const firn_parquet_dictionary_slot *slot = &dictionary->slots[at];
        if (slot->hash != hash) continue;
        if (!entry_equals(dictionary, slot->entry - 1, value, size, width)) continue;
        *index = slot->entry - 1;
        *full = false;
        return FIRN_OK;
    }
    FIRN_TRY(add_entry(dictionary, value, size, full, error));
    if (*full) return FIRN_OK;
    *index = dictionary->count - 1;
    dictionary->slots[at] = (firn_parquet_dictionary_slot){hash, dictionary->count};
    if (!is_crowded(dictionary->slot_count, dictionary->count)) return FIRN_OK;
    return set_slots(dictionary, 2 * dictionary->slot_count, error);
}

static inline __attribute__((always_inline)) firn_status
look_up(firn_parquet_dictionary *dictionary, const uint8_t *value, size_t size, size_t width,
        uint32_t *index, bool *full, firn_error *error) {
    uint32_t hash = hash_value(value, width != 0 ? width : size, dictionary->seed);
    return look_up_hashed(dictionary, value, size, width, hash, index, full, error);
}

static inline void fetch_slot(const firn_parquet_dictionary *dictionary, uint32_t hash) {
    __builtin_prefetch(&dictionary->slots[hash & (dictionary->slot_count - 1)]);
}

static inline size_t together(size_t left) {
    return left < LOOKED_UP_TOGETHER ? left : LOOKED_UP_TOGETHER;
}

static inline __attribute__((always_inline)) firn_status
add_fixed(firn_parquet_dictionary *dictionary, const uint8_t *values, size_t width, size_t count,
          uint32_t *out, size_t *done, firn_error *error) {
    uint32_t hashes[LOOKED_UP_TOGETHER];
    for (size_t first = 0; first < count; first += LOOKED_UP_TOGETHER) {
        size_t some = together(count - first);
        for (size_t i = 0; i < some; i++) {
            hashes[i] = hash_value(values + (first + i) * width, width, dictionary->seed);
            fetch_slot(dictionary, hashes[i]);
        }
        for (size_t i = 0; i < some; i++) {
            bool full;
            size_t at = first + i;
            FIRN_TRY(look_up_hashed(dictionary, values + at * width, width, width, hashes[i],
                                    &out[at], &full, error));
            if (full) return FIRN_OK;
            *done = at + 1;
        }
    }
    return FIRN_OK;
}

firn_status firn_parquet_dictionary_expect_range(firn_parquet_dictionary *dictionary, int64_t least,
                                                 int64_t greatest, firn_error *error) {
    uint64_t count = (uint64_t)greatest - (uint64_t)least + 1;
    dictionary->direct = firn_alloc_zeroed((size_t)count, sizeof *dictionary->direct);
    if (dictionary->direct == NULL) return firn_fail_memory(error);
    dictionary->direct_least = least;
    dictionary->direct_count = count;
    return FIRN_OK;
}

static inline int64_t load_integer(const uint8_t *value, size_t width) {
    return width == 4 ? (int64_t)(int32_t)firn_load_le32(value) : (int64_t)firn_load_le64(value);
}

/* An integer of the expected range is found by its distance from the least and never enters the hash table; others are hashed. */
static inline __attribute__((always_inline)) firn_status
find_ranged(firn_parquet_dictionary *dictionary, const uint8_t *value, size_t width,
            uint32_t *index, bool *full, firn_error *error) {
    uint64_t at = (uint64_t)load_integer(value, width) - (uint64_t)dictionary->direct_least;
    if (at >= dictionary->direct_count) {
        return look_up(dictionary, value, width, width, index, full, error);
    }
    *full = false;
    if (dictionary->direct[at] == 0) {
        FIRN_TRY(add_entry(dictionary, value, width, full, error));
        if (*full) return FIRN_OK;
        dictionary->direct[at] = dictionary->count;
    }
    *index = dictionary->direct[at] - 1;
    return FIRN_OK;
}

static inline __attribute__((always_inline)) firn_status
add_ranged(firn_parquet_dictionary *dictionary, const uint8_t *values, size_t width, size_t count,
           uint32_t *out, size_t *done, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        bool full;
        FIRN_TRY(find_ranged(dictionary, values + i * width, width, &out[i], &full, error));
        if (full) return FIRN_OK;
        *done = i + 1;
    }
    return FIRN_OK;
}

static firn_status add_slices(firn_parquet_dictionary *dictionary, const firn_slice *slices,
                              size_t count, uint32_t *out, size_t *done, firn_error *error) {
    uint32_t hashes[LOOKED_UP_TOGETHER];
    for (size_t first = 0; first < count; first += LOOKED_UP_TOGETHER) {
        size_t some = together(count - first);
        for (size_t i = 0; i < some; i++) {
            const firn_slice *slice = &slices[first + i];
            hashes[i] = hash_value(slice->data, slice->size, dictionary->seed);
            fetch_slot(dictionary, hashes[i]);
        }
        for (size_t i = 0; i < some; i++) {
            bool full;
            size_t at = first + i;
            FIRN_TRY(look_up_hashed(dictionary, slices[at].data, slices[at].size, 0, hashes[i],
                                    &out[at], &full, error));
            if (full) return FIRN_OK;
            *done = at + 1;
        }
    }
    return FIRN_OK;
}

firn_status firn_parquet_dictionary_add(firn_parquet_dictionary *dictionary,
                                        const firn_parquet_values *values, size_t first,
                                        size_t count, uint32_t *out, size_t *done,
                                        firn_error *error) {
    *done = 0;
    FIRN_TRY(begin_slots(dictionary, error));
    if (values->type == FIRN_PARQUET_BYTE_ARRAY) {
        return add_slices(dictionary, values->slices + first, count, out, done, error);
    }
    const uint8_t *fixed = values->fixed + first * values->width;
    if (dictionary->direct != NULL && (values->width == 4 || values->width == 8)) {
        return values->width == 4 ? add_ranged(dictionary, fixed, 4, count, out, done, error)
                                  : add_ranged(dictionary, fixed, 8, count, out, done, error);
    }
    switch (values->width) {
    case 4: return add_fixed(dictionary, fixed, 4, count, out, done, error);
    case 8: return add_fixed(dictionary, fixed, 8, count, out, done, error);
    default: return add_fixed(dictionary, fixed, values->width, count, out, done, error);
    }
}

static firn_status translate_entry(firn_parquet_dictionary *dictionary,
                                   const firn_parquet_values *values, uint32_t entry,
                                   uint32_t *index, bool *full, firn_error *error) {
    if (values->type == FIRN_PARQUET_BYTE_ARRAY) {
        firn_slice slice = values->slices[entry];
        return look_up(dictionary, slice.data, slice.size, 0, index, full, error);
    }
    size_t width = values->width;
    const uint8_t *value = values->fixed + entry * width;
    if (dictionary->direct != NULL) {
        return find_ranged(dictionary, value, width, index, full, error);
    }
    return look_up(dictionary, value, width, width, index, full, error);
}

firn_status firn_parquet_dictionary_translate(firn_parquet_dictionary *dictionary,
                                              const firn_parquet_values *values,
                                              const uint32_t *indices, size_t count,
                                              uint32_t *translation, uint32_t *out, size_t *done,
                                              firn_error *error) {
    *done = 0;
    FIRN_TRY(begin_slots(dictionary, error));
    for (size_t i = 0; i < count; i++) {
        uint32_t index = translation[indices[i]];
        if (index == FIRN_PARQUET_UNTRANSLATED) {
            bool full;
            FIRN_TRY(translate_entry(dictionary, values, indices[i], &index, &full, error));
            if (full) {
                *done = i;
                return FIRN_OK;
            }
            translation[indices[i]] = index;
        }
        out[i] = index;
    }
    *done = count;
    return FIRN_OK;
}

firn_status firn_parquet_dictionary_sample(firn_parquet_dictionary *dictionary,
                                           const firn_parquet_values *values, size_t *taken,
                                           firn_error *error) {
    *taken = 0;
    FIRN_TRY(begin_slots(dictionary, error));
    for (size_t i = 0; i < values->count; i++) {
        bool is_byte_array = values->type == FIRN_PARQUET_BYTE_ARRAY;
        const uint8_t *value =
            is_byte_array ? values->slices[i].data : values->fixed + i * values->width;
        size_t size = is_byte_array ? values->slices[i].size : values->width;
        uint32_t hash = hash_value(value, size, dictionary->seed);
        uint32_t index;
        bool full;
        if (hash >> (32 - FIRN_PARQUET_SAMPLE_BITS) != 0) continue;
        size_t width = is_byte_array ? 0 : size;
        FIRN_TRY(look_up_hashed(dictionary, value, size, width, hash, &index, &full, error));
        *taken += 1;
    }
    return FIRN_OK;
}
