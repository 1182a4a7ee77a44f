#include "base/map.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/vector.h"

typedef struct entry {
    firn_slice key; /* in the map's arena */
    void *value;
    uint64_t hash;
} entry;

/* Open addressing with linear probing: a slot holds the entry's index + 1, or 0. */
struct firn_map {
    firn_arena *keys;
    FIRN_VECTOR(entry) entries;
    uint32_t *slots;
    size_t slot_count; /* a power of two, or 0 */
};

static uint64_t hash_seed[2];
static pthread_once_t hash_seed_once = PTHREAD_ONCE_INIT;

static void choose_hash_seed(void) {
    if (getrandom(hash_seed, sizeof hash_seed, GRND_NONBLOCK) == (ssize_t)sizeof hash_seed) return;
    /* Early at boot the kernel may have nothing: an address and the time are better than a constant. */
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    hash_seed[0] = (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now;
    hash_seed[1] = (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)hash_seed;
}

static inline uint64_t rotate(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

static inline void sip_round(uint64_t v[4]) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

/* SipHash-1-3: keyed, so that nobody who doesn't know the seed can choose keys that collide. */
uint64_t firn_hash_bytes(const void *data, size_t size) {
    pthread_once(&hash_seed_once, choose_hash_seed);
    uint64_t v[4] = {hash_seed[0] ^ 0x736f6d6570736575U, hash_seed[1] ^ 0x646f72616e646f6dU,
                     hash_seed[0] ^ 0x6c7967656e657261U, hash_seed[1] ^ 0x7465646279746573U};
    const uint8_t *bytes = data;
    size_t whole = size / 8;
    for (size_t i = 0; i < whole; i++) {
        uint64_t word = firn_load_le64(bytes + 8 * i);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)size << 56;
    for (size_t i = 0; i < size % 8; i++) last |= (uint64_t)bytes[8 * whole + i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xFF;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

firn_map *firn_map_new(void) {
    firn_map *map = firn_alloc_zeroed(1, sizeof *map);
    if (map == NULL) return NULL;
    map->keys = firn_arena_new();
    if (map->keys == NULL) {
        firn_free(map);
        return NULL;
    }
    return map;
}

void firn_map_free(firn_map *map) {
    if (map == NULL) return;
    firn_arena_free(map->keys);
    firn_vector_release(&map->entries);
    firn_free(map->slots);
    firn_free(map);
}

size_t firn_map_count(const firn_map *map) {
    return map->entries.count;
}

/* The slot of the key, or the empty one where it belongs. The table is never full. */
static size_t find_slot(const firn_map *map, firn_slice key, uint64_t hash) {
    size_t mask = map->slot_count - 1;
    size_t slot = (size_t)hash & mask;
    while (map->slots[slot] != 0) {
        const entry *candidate = &map->entries.items[map->slots[slot] - 1];
        if (candidate->hash == hash && firn_slice_equal(candidate->key, key)) break;
        slot = (slot + 1) & mask;
    }
    return slot;
}

/* Keeps at least a quarter of the slots empty once `count` entries are in. */
static firn_status make_room(firn_map *map, size_t count, firn_error *error) {
    if (count >= UINT32_MAX / 2) return firn_fail(error, FIRN_LIMIT, "too many keys in a map");
    if (count <= map->slot_count / 4 * 3) return FIRN_OK;
    size_t slot_count = map->slot_count == 0 ? 16 : map->slot_count * 2;
    uint32_t *slots = firn_alloc_zeroed(slot_count, sizeof *slots);
    if (slots == NULL) return firn_fail_memory(error);
    firn_free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
    for (size_t i = 0; i < map->entries.count; i++) {
        size_t slot = (size_t)map->entries.items[i].hash & (slot_count - 1);
        while (slots[slot] != 0) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = (uint32_t)(i + 1);
    }
    return FIRN_OK;
}

firn_status firn_map_set(firn_map *map, firn_slice key, void *value, firn_error *error) {
    FIRN_TRY(make_room(map, map->entries.count + 1, error));
    uint64_t hash = firn_hash_bytes(key.data, key.size);
    size_t slot = find_slot(map, key, hash);
    if (map->slots[slot] != 0) {
        map->entries.items[map->slots[slot] - 1].value = value;
        return FIRN_OK;
    }
    FIRN_TRY(firn_vector_reserve(&map->entries, error, map->entries.count + 1));
    uint8_t *copy = firn_arena_memdup(map->keys, key.data, key.size);
    if (copy == NULL) return firn_fail_memory(error);
    map->entries.items[map->entries.count++] = (entry){firn_slice_of(copy, key.size), value, hash};
    map->slots[slot] = (uint32_t)map->entries.count;
    return FIRN_OK;
}

firn_status firn_map_set_text(firn_map *map, const char *key, void *value, firn_error *error) {
    return firn_map_set(map, firn_slice_text(key), value, error);
}

firn_status firn_map_set_int(firn_map *map, int64_t key, void *value, firn_error *error) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)key);
    return firn_map_set(map, firn_slice_of(bytes, sizeof bytes), value, error);
}

void *firn_map_get(const firn_map *map, firn_slice key, bool *found) {
    if (found != NULL) *found = false;
    if (map->slot_count == 0) return NULL;
    size_t slot = find_slot(map, key, firn_hash_bytes(key.data, key.size));
    if (map->slots[slot] == 0) return NULL;
    if (found != NULL) *found = true;
    return map->entries.items[map->slots[slot] - 1].value;
}

void *firn_map_get_text(const firn_map *map, const char *key) {
    return firn_map_get(map, firn_slice_text(key), NULL);
}

void *firn_map_get_int(const firn_map *map, int64_t key) {
    uint8_t bytes[8];
    firn_store_le64(bytes, (uint64_t)key);
    return firn_map_get(map, firn_slice_of(bytes, sizeof bytes), NULL);
}

bool firn_map_has(const firn_map *map, firn_slice key) {
    bool found = false;
    (void)firn_map_get(map, key, &found);
    return found;
}

bool firn_map_has_text(const firn_map *map, const char *key) {
    return firn_map_has(map, firn_slice_text(key));
}

firn_slice firn_map_key_at(const firn_map *map, size_t index) {
    return map->entries.items[index].key;
}

void *firn_map_value_at(const firn_map *map, size_t index) {
    return map->entries.items[index].value;
}
