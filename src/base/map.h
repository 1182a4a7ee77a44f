/** Hash map from bytes (or 64-bit integers) to pointers. Keys are copied. Iterates in insertion order. Not thread-safe. */
#ifndef FIRN_BASE_MAP_H
#define FIRN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/slice.h"

typedef struct firn_map firn_map;

/** NULL when memory is out. */
firn_map *firn_map_new(void);
void firn_map_free(firn_map *map);

size_t firn_map_count(const firn_map *map);

/** Sets or replaces. */
firn_status firn_map_set(firn_map *map, firn_slice key, void *value, firn_error *error);
firn_status firn_map_set_text(firn_map *map, const char *key, void *value, firn_error *error);
firn_status firn_map_set_int(firn_map *map, int64_t key, void *value, firn_error *error);
/** The value, or NULL. `found` (nullable) tells a NULL value from an absent key. */
void *firn_map_get(const firn_map *map, firn_slice key, bool *found);
void *firn_map_get_text(const firn_map *map, const char *key);
void *firn_map_get_int(const firn_map *map, int64_t key);
bool firn_map_has(const firn_map *map, firn_slice key);
bool firn_map_has_text(const firn_map *map, const char *key);

/** Entry `index` (0 … count-1) in insertion order; the key is borrowed. */
firn_slice firn_map_key_at(const firn_map *map, size_t index);
void *firn_map_value_at(const firn_map *map, size_t index);

/** The map's own hash of bytes, for open-addressing tables elsewhere. Seeded per process against chosen keys. */
uint64_t firn_hash_bytes(const void *data, size_t size);

#endif
