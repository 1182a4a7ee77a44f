/** Random numbers from the kernel. Thread-safe. Seeded generators for tests live in the tests. */
#ifndef FIRN_BASE_RANDOM_H
#define FIRN_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

firn_status firn_random_bytes(void *out, size_t size, firn_error *error);
/** A positive int64, never 0, as Iceberg snapshot ids are. */
firn_status firn_random_id(int64_t *out, firn_error *error);

/** Text of a UUID with its terminating zero. */
#define FIRN_UUID_TEXT_SIZE 37
/** A random UUID (version 4), lower case with dashes. */
firn_status firn_uuid_random(char text[FIRN_UUID_TEXT_SIZE], firn_error *error);

#endif
