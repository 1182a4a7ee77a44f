/**
 * Equality deletes by hashing: the keys of all delete files with the same equality ids go into one set, each with the largest sequence number that deletes
 * it; then one pass over the key columns of the data files tells the rows that go. Sets above the memory limit are cut by hash and take several passes. Internal to data.
 */
#ifndef FIRN_DATA_EQUALITY_DELETES_H
#define FIRN_DATA_EQUALITY_DELETES_H

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/spool.h"
#include "base/vector.h"
#include "data/deletes_internal.h"
#include "data/projection.h"
#include "parquet/convert.h"

/* ---- which columns make a key: equality_deletes_schema.c ---- */

/** Bounds of integers, for telling from a manifest that a data file has none of the keys. */
typedef struct firn_key_range {
    bool known;    /**< the column is an int, long or date: its bounds can be trusted */
    bool has_null; /**< a key has null there */
    bool any;      /**< minimum and maximum are set */
    int64_t minimum, maximum;
} firn_key_range;

/** One set of equality ids. */
typedef struct firn_equality_key {
    const int32_t *ids; /**< ascending, each once */
    size_t id_count;
    const char *name;          /**< "a, b.c": for messages */
    const firn_schema *schema; /**< the key columns and the structs around them, all optional */
    const firn_parquet_schema *output; /**< its Parquet form: one leaf per id */
    const firn_name_mapping *mapping;
    bool narrow;                 /**< one leaf of at most eight bytes: keys are integers */
    FIRN_VECTOR(size_t) deletes; /**< numbers of the delete files */
    int64_t *sequence_numbers;   /**< of the delete files, ascending, each once; owned */
    size_t sequence_number_count;
} firn_equality_key;

/**
 * Finds the columns of key->ids in the current schema, or where they were dropped in the newest wide enough older one, and fills in name, schema and output.
 * UNSUPPORTED by name: columns of float and double; CORRUPT: ids that no schema has, or that lie within a list or map.
 */
firn_status firn_equality_key_schema(const firn_table_metadata *metadata, firn_arena *arena,
                                     firn_equality_key *key, firn_error *error);

/* ---- rows of a file as keys: equality_deletes_reader.c ---- */

#define FIRN_KEY_NULL UINT32_MAX

/** A column of the key: a page at a time, in the table's physical form. */
typedef struct firn_key_column {
    const firn_parquet_leaf *output, *input; /**< input NULL: the file has no leaf for it */
    const firn_parquet_leaf_mapping *mapping;
    firn_parquet_chunk_reader *reader;
    firn_parquet_converter converter;
    firn_parquet_converter
        dictionary_converter;       /**< what it gave lasts as long as the dictionary */
    firn_parquet_values dictionary; /**< converted */
    uint64_t dictionary_id;
    bool has_dictionary;
    /* The present page. */
    firn_parquet_values values;
    bool from_dictionary;
    const uint32_t
        *index; /**< one per row: number of its value, or FIRN_KEY_NULL. NULL: row r has value r */
    size_t row_count, row; /**< rows of the page, and those that are done */
    uint32_t *index_room;
    size_t index_capacity;
    firn_slice constant_slice;
    /* Hashes of the dictionary's entries. */
    uint64_t *hashes;
    size_t hash_capacity;
} firn_key_column;

typedef struct firn_key_reader {
    const firn_equality_key *key;
    const char *location;
    const firn_parquet_file *file;
    firn_projection projection;
    firn_arena *arena;
    firn_key_column *columns;
    size_t column_count;
    int64_t rows_left; /**< of the row group */
    int64_t bytes_read;
    uint64_t dictionaries; /**< grows with each dictionary that comes */
} firn_key_reader;

/** `spec` is the file's. Release with firn_key_reader_release, also on failure. */
firn_status firn_key_reader_open(firn_key_reader *reader, const firn_equality_key *key,
                                 const firn_data_file *entry, const firn_partition_spec *spec,
                                 int format_version, const firn_parquet_file *file,
                                 firn_error *error);
void firn_key_reader_release(firn_key_reader *reader);
firn_status firn_key_reader_start(firn_key_reader *reader, size_t row_group, firn_error *error);
/** How many rows, at most `most`, lie before all columns now: row i of them is column->row + i. 0: the row group is done. */
firn_status firn_key_reader_next(firn_key_reader *reader, size_t most, size_t *count,
                                 firn_error *error);
void firn_key_reader_advance(firn_key_reader *reader, size_t count);
/** Hashes of the next `count` rows, without their scope. */
void firn_key_reader_hash(const firn_key_reader *reader, uint64_t seed, size_t count,
                          uint64_t *out);

static inline uint32_t firn_key_value_number(const firn_key_column *column, size_t row) {
    return column->index == NULL ? (uint32_t)row : column->index[row];
}

/** A value of at most eight bytes as an integer. */
static inline uint64_t firn_key_load(const firn_parquet_values *values, uint32_t number) {
    const uint8_t *bytes = values->fixed + (size_t)number * values->width;
    if (values->width == 8) return firn_load_le64(bytes);
    if (values->width == 4) return firn_load_le32(bytes);
    uint64_t out = 0;
    memcpy(&out, bytes, values->width);
    return out;
}

/** Appends the canonical form of the row that is `row` behind the present one. */
firn_status firn_key_reader_append(const firn_key_reader *reader, size_t row, firn_buffer *out,
                                   firn_error *error);

/* ---- the set: equality_deletes_set.c ---- */

/** Keys go by the upper bits of their hash to shards, which have a lock each and are what a pass consists of. */
#define FIRN_KEY_SHARDS 64

/** Marks the scope of a narrow key that is null. */
#define FIRN_KEY_NULL_SCOPE (UINT32_C(1) << 31)

typedef struct firn_key_slot {
    uint64_t key;   /**< narrow: the value; else where the record begins in the shard's bytes */
    uint32_t rank;  /**< of the largest sequence number, from 1; 0: free */
    uint32_t scope; /**< narrow: the scope; else bits of the hash */
} firn_key_slot;

typedef struct firn_key_shard {
    pthread_mutex_t lock;
    firn_key_slot *slots;
    uint8_t *marks; /**< a byte per slot, behind them: one bit of each key whose home it is */
    size_t capacity, count;
    firn_buffer bytes; /**< wide keys: records of hash, scope, size, bytes */
    firn_spool *spool; /**< where keys wait for their pass */
    uint64_t spooled;  /**< bytes there */
} firn_key_shard;

typedef struct firn_key_set {
    bool narrow, spilling;
    uint64_t seed;
    size_t limit;         /**< bytes of slots and records */
    atomic_size_t memory; /**< what they take */
    atomic_bool outgrown; /**< the limit was met */
    firn_key_shard shards[FIRN_KEY_SHARDS];
    firn_key_range *ranges; /**< one per column of the key; guarded by `range_lock` */
    pthread_mutex_t range_lock;
} firn_key_set;

static inline uint64_t firn_key_mix(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** The hash under which a key stands in the set. */
static inline uint64_t firn_key_scoped_hash(const firn_key_set *set, uint64_t hash,
                                            uint32_t scope) {
    return firn_key_mix(hash ^ set->seed ^
                        (uint64_t)(scope & ~FIRN_KEY_NULL_SCOPE) * UINT64_C(0x9e3779b97f4a7c15));
}

/** The same for a narrow key. */
static inline uint64_t firn_key_narrow_hash(const firn_key_set *set, uint64_t key, uint32_t scope) {
    return firn_key_scoped_hash(set, firn_key_mix(key ^ set->seed), scope);
}

static inline size_t firn_key_shard_of(uint64_t hash) {
    return (size_t)(hash >> 58);
}

firn_status firn_key_set_init(firn_key_set *set, const firn_equality_key *key, size_t limit,
                              firn_error *error);
void firn_key_set_release(firn_key_set *set);
/** Forgets the keys in memory. */
void firn_key_set_clear(firn_key_set *set);
/** From now on keys are spooled. Forgets those in memory. */
firn_status firn_key_set_spill(firn_key_set *set, firn_error *error);
/** Bytes that a shard's spooled keys will about take in memory. */
size_t firn_key_set_expected(const firn_key_set *set, size_t shard);
/** Takes a shard's spooled keys into memory. */
firn_status firn_key_set_load(firn_key_set *set, size_t shard, firn_error *error);

/** Keys of one task on their way into the set, so that locks are taken seldom. */
typedef struct firn_key_stage {
    firn_key_set *set;
    firn_buffer shards[FIRN_KEY_SHARDS];
} firn_key_stage;

void firn_key_stage_init(firn_key_stage *stage, firn_key_set *set);
void firn_key_stage_release(firn_key_stage *stage);
/** LIMIT when the set in memory meets its limit: set->outgrown says so. */
firn_status firn_key_stage_add_narrow(firn_key_stage *stage, uint64_t hash, uint64_t key,
                                      uint32_t scope, uint32_t rank, firn_error *error);
firn_status firn_key_stage_add_wide(firn_key_stage *stage, uint64_t hash, firn_slice key,
                                    uint32_t scope, uint32_t rank, firn_error *error);
firn_status firn_key_stage_flush(firn_key_stage *stage, firn_error *error);

static inline size_t firn_key_home(const firn_key_shard *shard, uint64_t hash) {
    return (size_t)(((hash & UINT32_MAX) * (uint64_t)shard->capacity) >> 32);
}

static inline uint8_t firn_key_mark(uint64_t hash) {
    return (uint8_t)(1U << (hash >> 32 & 7));
}

/** Whether a key of this hash may be there. Few keys are, and the marks of many lie close together. */
static inline bool firn_key_is_marked(const firn_key_shard *shard, uint64_t hash) {
    return shard->count != 0 &&
           (shard->marks[firn_key_home(shard, hash)] & firn_key_mark(hash)) != 0;
}

/** The rank of a key, 0: not there. Any thread, while nothing is added. */
static inline uint32_t firn_key_set_find_narrow(const firn_key_set *set, uint64_t hash,
                                                uint64_t key, uint32_t scope) {
    const firn_key_shard *shard = &set->shards[firn_key_shard_of(hash)];
    if (!firn_key_is_marked(shard, hash)) return 0;
    for (size_t at = firn_key_home(shard, hash);; at = at + 1 == shard->capacity ? 0 : at + 1) {
        const firn_key_slot *slot = &shard->slots[at];
        if (slot->rank == 0 || (slot->key == key && slot->scope == scope)) return slot->rank;
    }
}

/** Whether a wide key may be there: its bits are. */
bool firn_key_set_may_have(const firn_key_set *set, uint64_t hash);
uint32_t firn_key_set_find_wide(const firn_key_set *set, uint64_t hash, firn_slice key,
                                uint32_t scope);

/* ---- the passes: equality_deletes_load.c, equality_deletes_probe.c ---- */

/** The scope of global deletes; the others are numbered from 1, one per spec id and tuple. */
#define FIRN_GLOBAL_SCOPE 0

typedef struct firn_equality_work {
    firn_deletes_work *deletes;
    firn_equality_key *key;
    firn_key_set *set;
    const uint32_t *scopes;      /**< of each delete file of the snapshot */
    const uint32_t *data_scopes; /**< of each data file; UINT32_MAX: no partition with deletes */
    const int64_t *newest; /**< largest sequence number of the key's deletes, per scope; -1: none */
} firn_equality_work;

/** Reads the key's delete files into the set. */
firn_status firn_equality_load(firn_equality_work *work, firn_error *error);
/** Looks the rows of the data files up in what the set holds now. */
firn_status firn_equality_probe(firn_equality_work *work, firn_error *error);

static inline uint32_t firn_equality_rank(const firn_equality_key *key, int64_t sequence_number) {
    size_t low = 0;
    size_t high = key->sequence_number_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (key->sequence_numbers[middle] <= sequence_number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return (uint32_t)low; /* how many of them are not above it */
}

#endif
