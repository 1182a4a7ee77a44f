#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNKNOWN_MEMORY ((int64_t)4 << 30)

/* The beginning of a small file as text; false when there is none. */
static bool read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t got = read(file, text, size - 1);
    close(file);
    if (got <= 0) return false;
    text[got] = '\0';
    return true;
}

/* A number in a small file; -1 when there is none ("max", absent). */
static int64_t number_in(const char *path) {
    char text[64];
    if (!read_text(path, text, sizeof text)) return -1;
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return end == text || errno != 0 || number <= 0 ? -1 : (int64_t)number;
}

/* The smallest limit of `group` and the groups above it. Within a container only the topmost may be there. */
static int64_t smallest_limit(const char *hierarchy, char *group, const char *file,
                              int64_t memory) {
    for (;;) {
        char path[PATH_MAX];
        int size = snprintf(path, sizeof path, "%s%s/%s", hierarchy, group, file);
        int64_t limit = size > 0 && (size_t)size < sizeof path ? number_in(path) : -1;
        if (limit > 0 && limit < memory) memory = limit;
        char *parent = strrchr(group, '/');
        if (parent == NULL) return memory;
        *parent = '\0';
    }
}

/* Whether a list like "cpu,memory" holds `name`. */
static bool lists(const char *list, const char *name) {
    size_t size = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0')) return true;
    }
    return false;
}

/* Lines are "id:controllers:/group"; version 2 has no controllers there (cgroups(7)). */
static int64_t limit_of_line(char *line, int64_t memory) {
    char *controllers = strchr(line, ':');
    char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL) return memory;
    controllers++;
    *group++ = '\0';
    if (*controllers == '\0') return smallest_limit("/sys/fs/cgroup", group, "memory.max", memory);
    if (!lists(controllers, "memory")) return memory;
    return smallest_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes", memory);
}

int64_t firn_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGE_SIZE);
    int64_t memory = pages > 0 && page_size > 0 ? (int64_t)pages * page_size : UNKNOWN_MEMORY;
    /* Without it, what stands at the roots of both versions. */
    char groups[4096] = "0::/\n1:memory:/";
    (void)read_text("/proc/self/cgroup", groups, sizeof groups);
    char *rest = NULL;
    for (char *line = strtok_r(groups, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        memory = limit_of_line(line, memory);
    }
    return memory;
}
