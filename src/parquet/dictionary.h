/**
 * The dictionary of one column chunk while it grows: entries in the order of their first appearance, already in the PLAIN
 * form of the dictionary page, and a hash table over them. Values are equal when their bytes are. Not thread-safe.
 */
#ifndef FIRN_PARQUET_DICTIONARY_H
#define FIRN_PARQUET_DICTIONARY_H

#include "base/buffer.h"
#include "base/vector.h"
#include "parquet/batch.h"

typedef struct firn_parquet_dictionary_slot {
    uint32_t hash;
    uint32_t entry; /**< entry index + 1; 0: free */
} firn_parquet_dictionary_slot;

typedef struct firn_parquet_dictionary {
    firn_parquet_physical_type type;
    uint32_t width;    /**< of a fixed-width value, 0 for BYTE_ARRAY */
    size_t limit;      /**< `bytes` never grows past it */
    firn_buffer bytes; /**< the entries in PLAIN form: the body of the dictionary page */
    uint32_t count;
    FIRN_VECTOR(uint32_t) offsets; /**< BYTE_ARRAY: where each entry's length begins in `bytes` */
    firn_parquet_dictionary_slot *slots;
    size_t
        slot_count; /**< 0 (none yet, or after a cut) or a power of two, a quarter of which is free */
    uint64_t seed;
    /* For integers of a known range: entry index + 1 by distance from the least, 0: not there yet. NULL: no range. */
    uint32_t *direct;
    int64_t direct_least;
    uint64_t direct_count;
} firn_parquet_dictionary;

void firn_parquet_dictionary_init(firn_parquet_dictionary *dictionary,
                                  firn_parquet_physical_type type, uint32_t width, size_t limit);
void firn_parquet_dictionary_release(firn_parquet_dictionary *dictionary);

/** For INT32 and INT64 that lie within least … greatest, as far as is known: they are found without hashing. */
firn_status firn_parquet_dictionary_expect_range(firn_parquet_dictionary *dictionary, int64_t least,
                                                 int64_t greatest, firn_error *error);

/** Makes room in the hash table at once, so that it need not grow step by step; no limit, and no promise. */
firn_status firn_parquet_dictionary_expect_entries(firn_parquet_dictionary *dictionary,
                                                   size_t count, firn_error *error);

/**
 * Back to the first `count` entries, or all where there are no more. The hash table goes, and is made anew when the next value is looked up.
 * Not for a dictionary that expects a range.
 */
void firn_parquet_dictionary_cut(firn_parquet_dictionary *dictionary, uint32_t count);

/**
 * Looks up values first … first + count - 1, adding the new ones, and writes their entries' indices. *done < count when the
 * next value would take the dictionary past its limit.
 */
firn_status firn_parquet_dictionary_add(firn_parquet_dictionary *dictionary,
                                        const firn_parquet_values *values, size_t first,
                                        size_t count, uint32_t *out, size_t *done,
                                        firn_error *error);

/** Marks an input entry that no value has used yet in a translation table. */
#define FIRN_PARQUET_UNTRANSLATED UINT32_MAX

/**
 * The same for values[indices[i]]: `translation`, one per entry of `values`, remembers each entry's index, so that an entry
 * is looked up once however often it is used, and an unused one is not added.
 */
firn_status firn_parquet_dictionary_translate(firn_parquet_dictionary *dictionary,
                                              const firn_parquet_values *values,
                                              const uint32_t *indices, size_t count,
                                              uint32_t *translation, uint32_t *out, size_t *done,
                                              firn_error *error);

/** Of 2^FIRN_PARQUET_SAMPLE_BITS values, by their hashes, about one is looked up and added; *taken: how many, seen before or not. */
#define FIRN_PARQUET_SAMPLE_BITS 4
firn_status firn_parquet_dictionary_sample(firn_parquet_dictionary *dictionary,
                                           const firn_parquet_values *values, size_t *taken,
                                           firn_error *error);

/** The bytes of an entry, without a length. Valid until the next call that adds. */
firn_slice firn_parquet_dictionary_entry(const firn_parquet_dictionary *dictionary, uint32_t index);

#endif
