#include "base/alloc.h"
#include "base/bytes.h"
#include "base/random.h"
#include "data/equality_deletes.h"

/*
 * Keys that travel, in a stage's buffers and in spools. Narrow: key (8 bytes), rank, scope (4 each); the hash follows from the
 * key. Wide: hash, size of the key (8 each), rank, scope (4 each), the key.
 */
#define NARROW_RECORD 16
#define WIDE_HEAD 24

/* A wide key in a shard's bytes: hash, size (8 each), scope (4), the key. */
#define KEPT_HEAD 20

/* A stage hands a shard's keys over when there are so many bytes of them. */
#define STAGE_BYTES ((size_t)8 << 10)
#define LOAD_BYTES ((size_t)256 << 10)

#define FIRST_CAPACITY 16
/* With its mark. */
#define SLOT_BYTES (sizeof(firn_key_slot) + 1)

/* ---- making and clearing ---- */

firn_status firn_key_set_init(firn_key_set *set, const firn_equality_key *key, size_t limit,
                              firn_error *error) {
    *set = (firn_key_set){.narrow = key->narrow, .limit = limit};
    pthread_mutex_init(&set->range_lock, NULL);
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        pthread_mutex_init(&set->shards[i].lock, NULL);
        set->shards[i].bytes = firn_buffer_with_maximum(SIZE_MAX);
    }
    set->ranges = firn_alloc_zeroed(key->output->leaf_count, sizeof *set->ranges);
    if (set->ranges == NULL) return firn_fail_memory(error);
    return firn_random_bytes(&set->seed, sizeof set->seed, error);
}

void firn_key_set_clear(firn_key_set *set) {
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        firn_key_shard *shard = &set->shards[i];
        firn_free(shard->slots);
        shard->slots = NULL;
        shard->marks = NULL;
        shard->capacity = 0;
        shard->count = 0;
        firn_buffer_release(&shard->bytes);
    }
    set->memory = 0;
    set->outgrown = false;
}

void firn_key_set_release(firn_key_set *set) {
    firn_key_set_clear(set);
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        pthread_mutex_destroy(&set->shards[i].lock);
        firn_spool_free(set->shards[i].spool);
    }
    pthread_mutex_destroy(&set->range_lock);
    firn_free(set->ranges);
}

firn_status firn_key_set_spill(firn_key_set *set, firn_error *error) {
    firn_key_set_clear(set);
    set->spilling = true;
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        firn_key_shard *shard = &set->shards[i];
        firn_spool_free(shard->spool);
        shard->spool = NULL;
        shard->spooled = 0;
        FIRN_TRY(firn_spool_new(0, &shard->spool, error));
    }
    return FIRN_OK;
}

/* ---- one shard, locked by the caller ---- */

static void place(firn_key_shard *shard, uint64_t hash, firn_key_slot slot) {
    size_t at = firn_key_home(shard, hash);
    shard->marks[at] |= firn_key_mark(hash);
    while (shard->slots[at].rank != 0) at = at + 1 == shard->capacity ? 0 : at + 1;
    shard->slots[at] = slot;
}

static uint64_t hash_of_slot(const firn_key_set *set, const firn_key_shard *shard,
                             const firn_key_slot *slot) {
    if (!set->narrow) return firn_load_le64(shard->bytes.data + slot->key);
    return firn_key_narrow_hash(set, slot->key, slot->scope);
}

/* By half, so that the set is never much larger than its keys need. */
static firn_status grow(firn_key_set *set, firn_key_shard *shard, firn_error *error) {
    size_t old_capacity = shard->capacity;
    size_t capacity = old_capacity == 0 ? FIRST_CAPACITY : old_capacity + old_capacity / 2;
    firn_key_slot *old = shard->slots;
    firn_key_slot *slots = firn_alloc_zeroed(capacity, SLOT_BYTES);
    if (slots == NULL) return firn_fail_memory(error);
    shard->slots = slots;
    shard->marks = (uint8_t *)(slots + capacity);
    shard->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].rank != 0) place(shard, hash_of_slot(set, shard, &old[i]), old[i]);
    }
    firn_free(old);
    atomic_fetch_add(&set->memory, (capacity - old_capacity) * SLOT_BYTES);
    return FIRN_OK;
}

static bool is_kept(const firn_key_shard *shard, const firn_key_slot *slot, uint64_t hash,
                    firn_slice key, uint32_t scope) {
    const uint8_t *kept = shard->bytes.data + slot->key;
    return firn_load_le64(kept) == hash && firn_load_le64(kept + 8) == key.size &&
           firn_load_le32(kept + 16) == scope && memcmp(kept + KEPT_HEAD, key.data, key.size) == 0;
}

static uint32_t bits_of(uint64_t hash) {
    return (uint32_t)(hash >> 26);
}

static firn_status keep(firn_key_set *set, firn_key_shard *shard, uint64_t hash, firn_slice key,
                        uint32_t scope, uint64_t *at, firn_error *error) {
    uint8_t head[KEPT_HEAD];
    firn_store_le64(head, hash);
    firn_store_le64(head + 8, key.size);
    firn_store_le32(head + 16, scope);
    size_t before = shard->bytes.capacity;
    *at = shard->bytes.size;
    FIRN_TRY(firn_buffer_append(&shard->bytes, head, sizeof head, error));
    firn_status status = firn_buffer_append(&shard->bytes, key.data, key.size, error);
    atomic_fetch_add(&set->memory, shard->bytes.capacity - before);
    return status;
}

static void raise_rank(firn_key_slot *slot, uint32_t rank) {
    if (rank > slot->rank) slot->rank = rank;
}

static firn_status insert_narrow(firn_key_set *set, firn_key_shard *shard, uint64_t key,
                                 uint32_t rank, uint32_t scope, firn_error *error) {
    uint64_t hash = firn_key_narrow_hash(set, key, scope);
    if (shard->capacity > 0) {
        size_t at = firn_key_home(shard, hash);
        for (; shard->slots[at].rank != 0; at = at + 1 == shard->capacity ? 0 : at + 1) {
            firn_key_slot *slot = &shard->slots[at];
            if (slot->key != key || slot->scope != scope) continue;
            raise_rank(slot, rank);
            return FIRN_OK;
        }
    }
    if (shard->count + 1 > shard->capacity / 4 * 3) FIRN_TRY(grow(set, shard, error));
    place(shard, hash, (firn_key_slot){key, rank, scope});
    shard->count++;
    return FIRN_OK;
}

static firn_status insert_wide(firn_key_set *set, firn_key_shard *shard, uint64_t hash,
                               firn_slice key, uint32_t rank, uint32_t scope, firn_error *error) {
    uint32_t bits = bits_of(hash);
    if (shard->capacity > 0) {
        size_t at = firn_key_home(shard, hash);
        for (; shard->slots[at].rank != 0; at = at + 1 == shard->capacity ? 0 : at + 1) {
            firn_key_slot *slot = &shard->slots[at];
            if (slot->scope != bits || !is_kept(shard, slot, hash, key, scope)) continue;
            raise_rank(slot, rank);
            return FIRN_OK;
        }
    }
    if (shard->count + 1 > shard->capacity / 4 * 3) FIRN_TRY(grow(set, shard, error));
    uint64_t at = 0;
    FIRN_TRY(keep(set, shard, hash, key, scope, &at, error));
    place(shard, hash, (firn_key_slot){at, rank, bits});
    shard->count++;
    return FIRN_OK;
}

/* The records of a buffer; how much of it they took goes to *taken (a record may be cut off at its end). */
static firn_status insert_records(firn_key_set *set, firn_key_shard *shard, firn_slice records,
                                  size_t *taken, firn_error *error) {
    size_t at = 0;
    size_t head = set->narrow ? NARROW_RECORD : WIDE_HEAD;
    while (records.size - at >= head) {
        const uint8_t *record = records.data + at;
        if (set->narrow) {
            FIRN_TRY(insert_narrow(set, shard, firn_load_le64(record), firn_load_le32(record + 8),
                                   firn_load_le32(record + 12), error));
            at += head;
            continue;
        }
        uint64_t size = firn_load_le64(record + 8);
        if (size > records.size - at - head) break;
        FIRN_TRY(insert_wide(set, shard, firn_load_le64(record),
                             firn_slice_of(record + head, (size_t)size),
                             firn_load_le32(record + 16), firn_load_le32(record + 20), error));
        at += head + (size_t)size;
    }
    *taken = at;
    return FIRN_OK;
}

/* ---- stages ---- */

void firn_key_stage_init(firn_key_stage *stage, firn_key_set *set) {
    stage->set = set;
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        stage->shards[i] = firn_buffer_with_maximum(SIZE_MAX);
    }
}

void firn_key_stage_release(firn_key_stage *stage) {
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) firn_buffer_release(&stage->shards[i]);
}

static firn_status outgrown(firn_key_set *set, firn_error *error) {
    set->outgrown = true;
    return firn_fail(error, FIRN_LIMIT,
                     "the keys of the equality deletes need more memory than "
                     "was set aside for them");
}

static firn_status hand_over_locked(firn_key_set *set, firn_key_shard *shard, firn_buffer *records,
                                    firn_error *error) {
    if (set->spilling) {
        shard->spooled += records->size;
        return firn_spool_write(shard->spool, records->data, records->size, error);
    }
    size_t taken = 0;
    FIRN_TRY(insert_records(set, shard, firn_buffer_slice(records), &taken, error));
    return set->memory > set->limit ? outgrown(set, error) : FIRN_OK;
}

static firn_status hand_over(firn_key_stage *stage, size_t number, firn_error *error) {
    firn_key_shard *shard = &stage->set->shards[number];
    pthread_mutex_lock(&shard->lock);
    firn_status status = hand_over_locked(stage->set, shard, &stage->shards[number], error);
    pthread_mutex_unlock(&shard->lock);
    firn_buffer_clear(&stage->shards[number]);
    return status;
}

firn_status firn_key_stage_add_narrow(firn_key_stage *stage, uint64_t hash, uint64_t key,
                                      uint32_t scope, uint32_t rank, firn_error *error) {
    size_t number = firn_key_shard_of(hash);
    uint8_t record[NARROW_RECORD];
    firn_store_le64(record, key);
    firn_store_le32(record + 8, rank);
    firn_store_le32(record + 12, scope);
    FIRN_TRY(firn_buffer_append(&stage->shards[number], record, sizeof record, error));
    return stage->shards[number].size < STAGE_BYTES ? FIRN_OK : hand_over(stage, number, error);
}

firn_status firn_key_stage_add_wide(firn_key_stage *stage, uint64_t hash, firn_slice key,
                                    uint32_t scope, uint32_t rank, firn_error *error) {
    size_t number = firn_key_shard_of(hash);
    uint8_t head[WIDE_HEAD];
    firn_store_le64(head, hash);
    firn_store_le64(head + 8, key.size);
    firn_store_le32(head + 16, rank);
    firn_store_le32(head + 20, scope);
    firn_buffer *buffer = &stage->shards[number];
    FIRN_TRY(firn_buffer_append(buffer, head, sizeof head, error));
    FIRN_TRY(firn_buffer_append(buffer, key.data, key.size, error));
    return buffer->size < STAGE_BYTES ? FIRN_OK : hand_over(stage, number, error);
}

firn_status firn_key_stage_flush(firn_key_stage *stage, firn_error *error) {
    for (size_t i = 0; i < FIRN_KEY_SHARDS; i++) {
        if (stage->shards[i].size != 0) FIRN_TRY(hand_over(stage, i, error));
    }
    return FIRN_OK;
}

/* ---- spooled keys ---- */

/* Slots are between half and three quarters full. */
size_t firn_key_set_expected(const firn_key_set *set, size_t shard) {
    uint64_t bytes = set->shards[shard].spooled;
    return (size_t)(set->narrow ? bytes / NARROW_RECORD * 2 * SLOT_BYTES : bytes * 5 / 2);
}

firn_status firn_key_set_load(firn_key_set *set, size_t number, firn_error *error) {
    firn_key_shard *shard = &set->shards[number];
    if (shard->spooled == 0) return FIRN_OK;
    firn_read_at source = firn_spool_bytes(shard->spool, "spooled keys of equality deletes");
    firn_buffer buffer = firn_buffer_with_maximum(SIZE_MAX);
    firn_status status = FIRN_OK;
    for (uint64_t at = 0; at < source.size;) {
        size_t room = LOAD_BYTES;
        if (room > source.size - at) room = (size_t)(source.size - at);
        size_t taken = 0;
        FIRN_CHECK(firn_buffer_reserve(&buffer, room, error));
        FIRN_CHECK(firn_read_at_exact(&source, at, buffer.data + buffer.size, room, error));
        buffer.size += room;
        at += room;
        FIRN_CHECK(insert_records(set, shard, firn_buffer_slice(&buffer), &taken, error));
        buffer.size -= taken;
        if (buffer.size != 0) memmove(buffer.data, buffer.data + taken, buffer.size);
    }
out:
    firn_buffer_release(&buffer);
    return status;
}

/* ---- looking up ---- */

bool firn_key_set_may_have(const firn_key_set *set, uint64_t hash) {
    const firn_key_shard *shard = &set->shards[firn_key_shard_of(hash)];
    if (!firn_key_is_marked(shard, hash)) return false;
    uint32_t bits = bits_of(hash);
    for (size_t at = firn_key_home(shard, hash);; at = at + 1 == shard->capacity ? 0 : at + 1) {
        if (shard->slots[at].rank == 0) return false;
        if (shard->slots[at].scope == bits) return true;
    }
}

uint32_t firn_key_set_find_wide(const firn_key_set *set, uint64_t hash, firn_slice key,
                                uint32_t scope) {
    const firn_key_shard *shard = &set->shards[firn_key_shard_of(hash)];
    if (shard->count == 0) return 0;
    uint32_t bits = bits_of(hash);
    for (size_t at = firn_key_home(shard, hash);; at = at + 1 == shard->capacity ? 0 : at + 1) {
        const firn_key_slot *slot = &shard->slots[at];
        if (slot->rank == 0) return 0;
        if (slot->scope == bits && is_kept(shard, slot, hash, key, scope)) return slot->rank;
    }
}
