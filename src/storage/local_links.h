/** Where symbolic links lead, for many files on the local disk, most of them in the same folders. */
#ifndef FIRN_STORAGE_LOCAL_LINKS_H
#define FIRN_STORAGE_LOCAL_LINKS_H

#include <limits.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/map.h"

/** Begins as zero but for the arena. */
typedef struct firn_local_real_paths {
    firn_arena *arena;
    char folder[PATH_MAX], real[PATH_MAX]; /**< the folder that was resolved last */
} firn_local_real_paths;

/** The path without symbolic links and ".." in it: in the arena, or `path` itself where it has none, or where that can't be told. `path` is absolute; `is_regular`: its last segment is known to be no link. NULL: memory is out. */
const char *firn_local_real_path(firn_local_real_paths *paths, const char *path, bool is_regular);

/**
 * Which files of folders may be symbolic links, told by reading each folder once: as many looks at the disk as there are folders, not as there are files.
 * `maybe` begins as an empty map.
 */
typedef struct firn_local_links {
    firn_map *maybe; /**< folders that were read, and what in them may be a link */
} firn_local_links;

/** Whether the last segment may be a link: it is one, or that can't be told. `path` is absolute. */
firn_status firn_local_may_be_link(firn_local_links *links, const char *path, bool *out,
                                   firn_error *error);

#endif
