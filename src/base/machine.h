/** What the machine, or the cgroup that holds this process, allows. Thread-safe. */
#ifndef FIRN_BASE_MACHINE_H
#define FIRN_BASE_MACHINE_H

#include <stdint.h>

/** Bytes of memory of the machine, or the smallest limit of the cgroups above this process (version 2, or 1). */
int64_t firn_machine_memory(void);

#endif
