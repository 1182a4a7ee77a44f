#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN_MEMORY ((int64_t)4 << 30)

/** A number in a small file; -1 when there is none ("max", absent). */
static int64_t number_in(const char *path) {
    char text[64];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return -1;
    text[got] = '\0';
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return end == text || errno != 0 || number <= 0 ? -1 : (int64_t)number;
}

int64_t firn_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGE_SIZE);
    int64_t memory = pages > 0 && page_size > 0 ? (int64_t)pages * page_size : UNKNOWN_MEMORY;
    /* Inside a container its own limit stands at the root of the mounted hierarchy. */
    const char *limits[] = {"/sys/fs/cgroup/memory.max",
                            "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int64_t limit = number_in(limits[i]);
        if (limit > 0 && limit < memory) memory = limit;
    }
    return memory;
}
