/**
 * The files of a source (design, section 9): what is there to be added to a table, by units where the source has them. Nothing is opened
 * but the source's own list or manifest.
 */
#ifndef FIRN_LAKE_LISTING_H
#define FIRN_LAKE_LISTING_H

#include "base/arena.h"
#include "base/map.h"
#include "base/threads.h"
#include "storage/storage.h"

typedef enum firn_lake_source_kind {
    FIRN_LAKE_PATHS, /**< files, and folders with all that lies below */
    /**
     * A pattern that files match, segment by segment: * and ? within a segment, ** for any number of whole segments, [a-z], [!x] or [^x], {a,b}. A last segment ** or nothing behind the last slash: all that
     * looks like data below. No escapes: [*] is a star. Hidden segments are matched where the pattern's begins with the same '_' or '.'.
     */
    FIRN_LAKE_GLOB,
    FIRN_LAKE_LIST, /**< a text file with one location a line, LF or CRLF, empty ones skipped; "-": standard input */
    /**
     * A file that names complete units: Parquet, JSON lines or CSV (with a line of names; an empty field without quotes is null), which is told from its content. Read once, from one handle.
     */
    FIRN_LAKE_MANIFEST
} firn_lake_source_kind;

typedef struct firn_lake_source {
    firn_lake_source_kind kind;
    /** PATHS: any number; else one: the pattern, the list, the manifest. Relative ones are against the working folder. */
    const char *const *locations;
    size_t location_count;
    /**
     * PATHS: one that is neither file nor folder is bad, as a file may be, and the others are listed. Not for whoever takes what is not listed for gone: a folder that is
     * not there may be one that is not mounted.
     */
    bool blames_paths;
    /** What relative locations in lists, manifests and `unit_folder` are relative to; NULL: the working folder. */
    const char *base;
    /* MANIFEST only. Rows of one unit may be many: their row counts add up. */
    const char *unit_column; /**< NULL: "unit"; values of any scalar type, as text */
    const char *rows_column; /**< NULL: "rows" where the manifest has it, else counts are unknown */
    /** One file a row; NULL: "path", or none where `unit_folder` is given, which excludes it. Null only in rows that count none. */
    const char *path_column;
    /** With "{unit}" in it, where a unit's name goes literally: all that looks like data below it is the unit's; NULL: none. */
    const char *unit_folder;
} firn_lake_source;

#define FIRN_LAKE_NO_UNIT UINT32_MAX

/** There may be millions: it is kept small. */
typedef struct firn_lake_file {
    /**
     * Absolute, as it will be recorded: UTF-8, literal, a scheme as it was given. On the local disk "." and ".." and double slashes are gone (".." behind a symbolic link is where the link leads); keys of object stores
     * stay as they are.
     */
    const char *location;
    /** The key part of the location begins here: below the folder given (or the unit's), the fixed part of a pattern or the folder that all files named one by one share, each cut before its first "key=value" segment. */
    uint16_t root_length;
    bool
        is_regular; /**< seen in its folder as a regular file: the last segment is no symbolic link */
    uint32_t unit; /**< index, or FIRN_LAKE_NO_UNIT */
    int64_t size;
    int64_t modified_ns; /**< since the epoch */
    const char *etag;    /**< NULL where the store has none */
} firn_lake_file;

typedef struct firn_lake_unit {
    const char *name; /**< one that is no UTF-8 as it is shown, with \xNN */
    bool
        is_unnamable; /**< its name is no UTF-8 and can't be recorded: it is bad, and has no files */
    int64_t rows;     /**< that the manifest counts; -1: unknown */
    size_t first_file, file_count;
} firn_lake_unit;

/** A file that is none of the source's data. */
typedef struct firn_lake_ignored {
    const char *location;
    const char *reason; /**< static: "hidden", "marker", "empty marker", … */
} firn_lake_ignored;

/** A file that the source names or has and that can't be listed, or a unit that has none. */
typedef struct firn_lake_bad {
    const char *
        location; /**< as it is shown: bytes that are no UTF-8 as \xNN. Of a unit its folder, or the manifest */
    const char *reason;
    uint32_t unit; /**< index, or FIRN_LAKE_NO_UNIT */
} firn_lake_bad;

/** Sorted by unit (in the manifest's order), then by location; each location once, however it was spelled. */
typedef struct firn_lake_listing {
    firn_arena *arena;
    const firn_lake_file *files;
    size_t file_count;
    const firn_lake_unit *units; /**< empty where the source has none */
    size_t unit_count;
    bool has_units;
    /**
     * Left aside, sorted by location. Found in a folder: hidden (a segment below the folder given begins with '_' or '.', folders named key=value apart), and files whose names don't end in .parquet, .parq or .pq (of a pattern only where it ends in "**"
     * or a slash); symbolic links and what is neither file nor folder, as far as a pattern means them; folders that are named like files, if none below is listed. However they were named: markers ("…_$folder$", "_SUCCESS", "_metadata", "_common_metadata") and empty files without such an ending. Names that are no UTF-8 are shown with \xNN for their bytes.
     */
    const firn_lake_ignored *ignored;
    size_t ignored_count;
    /** Sorted by unit, then by location: names, of files and units, that are no UTF-8 or too long; folders whose paths are too long; those of a list or manifest that are not there or no files; units that have rows by their counts, and no files. */
    const firn_lake_bad *bad;
    size_t bad_count;
    bool
        complete; /**< the source says what is gone, too: everything but PATHS that name single files, standard input, and a manifest with a unit that can't be named: it may be any of those that were added */
} firn_lake_listing;

/**
 * Lists the source. `pool` (nullable) looks at many files and units at once. NOT_FOUND: the list or manifest, or one of PATHS is not there, as opposed to a folder or pattern that holds nothing, which is an empty
 * listing. INVALID: the manifest lacks a column (names it, those that are there and the option); one of PATHS that is no valid location; PATHS of none. BLOCKED: the manifest holds a null, a negative or too large a count (names the row), or is empty; a unit
 * that would lead out of the units' folder; a file that belongs to two units. UNSUPPORTED: PATHS of a scheme that this build can't reach. Release `out` only after success.
 */
firn_status firn_lake_list(firn_storage *storage, firn_pool *pool, const firn_lake_source *source,
                           firn_lake_listing *out, firn_error *error);
void firn_lake_listing_release(firn_lake_listing *listing);

/**
 * The unit in whose folder a location lies, by the source's `unit_folder`; NULL: in none. A name may hold slashes, so that several may fit: one that is a key of `known` (nullable) goes before others, then the shortest.
 * In `arena`.
 */
firn_status firn_lake_unit_of(const firn_lake_source *source, const char *location,
                              const firn_map *known, firn_arena *arena, const char **out,
                              firn_error *error);

/** Whether two locations, or folders, overlap: equal, or one below the other, however they are spelled. True where it can't be told (no location, memory is out). */
bool firn_lake_locations_overlap(const char *a, const char *b);
/** The same, but for memory: that running out of it is told apart from an overlap. */
firn_status firn_lake_locations_compare(const char *a, const char *b, bool *overlap,
                                        firn_error *error);
/** The same for where symbolic links lead, as far as the paths are there. `resolved`: what firn_lake_resolved_key made of the first one. */
firn_status firn_lake_resolved_compare(const char *resolved, const char *b, bool *overlap,
                                       firn_error *error);
/** The key of a location without symbolic links: those of its deepest folder that is there are followed. Owned (firn_free). */
firn_status firn_lake_resolved_key(const char *location, char **out, firn_error *error);

#endif
