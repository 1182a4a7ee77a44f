/** The ending of a counted noun in a message. */
#ifndef FIRN_BASE_PLURAL_H
#define FIRN_BASE_PLURAL_H

#include <stdint.h>

/** "" for one, else "s": "%zu file%s". */
static inline const char *firn_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

#endif
