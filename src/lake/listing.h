/**
 * The files of a source (design, section 9): what is there to be added to a table, by units where the source has them. Nothing is opened
 * but the source's own list or manifest.
 */
#ifndef FIRN_LAKE_LISTING_H
#define FIRN_LAKE_LISTING_H

#include "base/arena.h"
#include "base/threads.h"
#include "storage/storage.h"

typedef enum firn_lake_source_kind {
    FIRN_LAKE_PATHS,   /**< files, and folders with all that lies below */
    FIRN_LAKE_GLOB,    /**< a pattern: * and ? within a segment, ** across segments, [a-z], {a,b} */
    FIRN_LAKE_LIST,    /**< a text file with one location a line, "-": standard input */
    FIRN_LAKE_MANIFEST /**< a Parquet, CSV or JSON lines file that names complete units */
} firn_lake_source_kind;

typedef struct firn_lake_source {
    firn_lake_source_kind kind;
    /** PATHS: any number; else one: the pattern, the list, the manifest. */
    const char *const *locations;
    size_t location_count;
    /** What relative locations in lists, manifests and `unit_folder` are relative to; NULL: the working folder. */
    const char *base;
    /* MANIFEST only. Rows of one unit may be many: their row counts add up. */
    const char *unit_column; /**< NULL: "unit"; values of any scalar type, as text */
    const char *rows_column; /**< NULL: "rows" where the manifest has it, else counts are unknown */
    const char *path_column; /**< one file a row; NULL where `unit_folder` is given, else "path" */
    const char
        *unit_folder; /**< with "{unit}" in it: all that lies below it is the unit's; NULL: none */
} firn_lake_source;

#define FIRN_LAKE_NO_UNIT UINT32_MAX

typedef struct firn_lake_file {
    const char *
        location; /**< absolute, as it will be recorded; a scheme is kept as it was given, "." and ".." and double slashes are gone */
    /** The key part of the location begins here: below the folder given, the fixed part of a pattern or the folder that all files share, each cut before its first "key=value" segment. */
    size_t root_length;
    int64_t size;
    int64_t modified_ns; /**< since the epoch */
    const char *etag;    /**< NULL where the store has none */
    uint32_t unit;       /**< index, or FIRN_LAKE_NO_UNIT */
} firn_lake_file;

typedef struct firn_lake_unit {
    const char *name;
    int64_t rows; /**< that the manifest counts; -1: unknown */
    size_t first_file, file_count;
} firn_lake_unit;

/** A file that is none of the source's data. */
typedef struct firn_lake_ignored {
    const char *location;
    const char *reason; /**< static: "hidden", "empty marker", "not a regular file" … */
} firn_lake_ignored;

/** Sorted by unit (in the manifest's order), then by location; each location once, however it was spelled. */
typedef struct firn_lake_listing {
    firn_arena *arena;
    const firn_lake_file *files;
    size_t file_count;
    const firn_lake_unit *units; /**< empty where the source has none */
    size_t unit_count;
    bool has_units;
    /**
     * Found by listing, and left aside for their names or sizes: hidden (a segment below the root begins with '_' or '.', folders named key=value apart), markers ("…_$folder$", "_SUCCESS", empty files that end in no
     * .parquet), files of other endings than .parquet, .parq, .pq (or none that is known) where a folder was listed. A file named explicitly is never ignored but for being a marker.
     */
    const firn_lake_ignored *ignored;
    size_t ignored_count;
    bool
        complete; /**< the source says what is gone, too: everything but PATHS that name single files, and standard input */
} firn_lake_listing;

/**
 * Lists the source. `pool` (nullable) looks at many files at once where they are named one by one. NOT_FOUND: a file or folder that is named is not there (for units: names unit and file), as opposed to a folder or pattern that
 * holds nothing, which is an empty listing. INVALID: the manifest lacks a column (names it and those that are there), holds a null or negative count, a unit twice with a different path; a file that belongs to two units; a location that
 * is no valid one. UNSUPPORTED: a scheme that this build can't reach. Release `out` only after success.
 */
firn_status firn_lake_list(firn_storage *storage, firn_pool *pool, const firn_lake_source *source,
                           firn_lake_listing *out, firn_error *error);
void firn_lake_listing_release(firn_lake_listing *listing);

/** Whether two locations, or folders, overlap: equal, or one below the other (spelling as firn_location_key evens it out). */
bool firn_lake_locations_overlap(const char *a, const char *b);

#endif
