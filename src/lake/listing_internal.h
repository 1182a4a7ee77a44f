/** What the parts of listing.h share. Internal to lake/listing*.c and their tests. */
#ifndef FIRN_LAKE_LISTING_INTERNAL_H
#define FIRN_LAKE_LISTING_INTERNAL_H

#include <pthread.h>

#include "base/vector.h"
#include "lake/listing.h"

/** Longest location that is taken, without its zero. */
#define FIRN_LAKE_LONGEST_LOCATION ((size_t)65535)
#define FIRN_LAKE_BAD_NAME_SIZE 128

/** A file on its way into the listing. */
typedef struct firn_lake_found {
    firn_lake_file file;
    const char *key; /**< equal for two spellings of one location */
    size_t order;    /**< of the name that it came by: line, row or position, from 1 */
    bool named;      /**< by itself, not found in a folder: looked at afterwards */
    bool bad;        /**< was looked at, and can't be listed */
} firn_lake_found;

/** All that was found so far. `lock` guards everything behind it, since folders may be listed in parallel. */
typedef struct firn_lake_collector {
    firn_storage *storage;
    firn_pool *pool;
    const char *source; /**< the list or manifest, for messages; NULL: none */
    const char *item;   /**< what `order` counts there: "line", "row" */
    bool has_unnamable; /**< a unit whose name is no UTF-8 */
    bool options_hold;  /**< a manifest is read as it was asked for: what is wrong now is its own */
    pthread_mutex_t lock;
    firn_arena *arena;
    FIRN_VECTOR(firn_lake_found) found;
    FIRN_VECTOR(firn_lake_ignored) ignored;
    FIRN_VECTOR(firn_lake_bad) bad;
    FIRN_VECTOR(firn_lake_unit) units;
} firn_lake_collector;

/* listing_location.c */

/**
 * One character of a text: its code point; for a byte that begins no character of UTF-8, 0xDC00 + that byte, which is none.
 * `size` is how many bytes it takes. `at` is not at the end of the text.
 */
uint32_t firn_lake_character(const char *at, size_t *size);
bool firn_lake_is_utf8(const char *text);
/** A text that is no UTF-8, with its wrong bytes as \xNN; in `arena`, NULL when memory is out. */
const char *firn_lake_shown(firn_arena *arena, const char *text);

/**
 * Puts into `out`, with a zero behind it that counts, the location absolute and even: a relative one against `base` (NULL: the working
 * folder); on the local disk without "." and "..", double and trailing slashes. ".." behind a symbolic link is where the link leads.
 * Keys of object stores are literal and stay as they are. INVALID for none, or one that is too long.
 */
firn_status firn_lake_location(const char *given, const char *base, firn_buffer *out,
                               firn_error *error);
/** The location's key (firn_location_key) for one that firn_lake_location made; in `arena`, or within `location`. NULL when memory is out. */
const char *firn_lake_location_key(const char *location, firn_arena *arena);
/** Where the path begins within a location: behind "file://" or "scheme://", at the slash of an absolute path. */
size_t firn_lake_path_start(const char *location);
/** Where the keys of paths below a folder begin: behind the folder (of this length, its slash included), or at its own first "key=value" segment. */
size_t firn_lake_root_length(const char *location, size_t folder_length);
/** Length of the folder that a location lies in, its slash included; 0: none. */
size_t firn_lake_folder_length(const char *location);

/* listing_glob.c */

/** A compiled pattern. Matching takes time proportional to pattern × text, whatever they are. Not thread-safe. */
typedef struct firn_lake_glob firn_lake_glob;

/** `pattern` is what follows the fixed part and its slash. With `even`, empty and "." segments are dropped. INVALID shows what is wrong. */
firn_status firn_lake_glob_new(const char *pattern, bool even, firn_lake_glob **out,
                               firn_error *error);
/** NULL is allowed. */
void firn_lake_glob_free(firn_lake_glob *glob);
/**
 * Whether the pattern matches all of `text`. With `spares_hidden` only a literal '_' or '.' matches that of a hidden segment, as
 * shells do it.
 */
bool firn_lake_glob_match(firn_lake_glob *glob, const char *text, bool spares_hidden);
/** Whether it may match something below the folder `text` (no slash at its end). */
bool firn_lake_glob_may_match_below(firn_lake_glob *glob, const char *text);
/** Whether the last segment is "**", which names no files but all of a folder. */
bool firn_lake_glob_takes_folders(const firn_lake_glob *glob);

/* listing_bad.c */

/** Notes a file, or a unit, that can't be listed; the location may be no UTF-8. Thread-safe. */
firn_status firn_lake_add_bad(firn_lake_collector *collector, const char *location, uint32_t unit,
                              const char *reason, firn_error *error);
/** Why a location can't be listed whatever is there, in `text`; NULL: it can. */
const char *firn_lake_bad_name(const char *location, char text[FIRN_LAKE_BAD_NAME_SIZE]);
/** After a failure with what was named: where it is the name's, it is noted as bad, with the line or row that it comes from; others are passed up. Thread-safe. */
firn_status firn_lake_blame_name(firn_lake_collector *collector, const firn_lake_found *found,
                                 firn_status status, firn_error *problem, firn_error *error);
/** Notes units that have rows by the manifest, and no files. `units` have theirs counted. */
firn_status firn_lake_blame_units(firn_lake_collector *collector, const firn_lake_source *source,
                                  const firn_lake_unit *units, firn_error *error);
/** Into the listing, sorted. */
firn_status firn_lake_take_bad(firn_lake_collector *collector, firn_lake_listing *out,
                               firn_error *error);

/* listing_folder.c */

/** Of a folder that is named like a file: it is left aside where no file below it is listed. */
extern const char firn_lake_folder_reason[];
/** Whether a segment, of a folder or else of a file, is hidden. */
bool firn_lake_is_hidden(const char *segment, size_t length, bool is_folder);
/** Whether any segment of a path is. */
bool firn_lake_has_hidden(const char *path);
/** Why a file of this name is no data however it was named, or NULL. */
const char *firn_lake_marker(const char *location, uint64_t size);

/** Adds a file or, where it is a marker, leaves it aside. Thread-safe. */
firn_status firn_lake_collect(firn_lake_collector *collector, const firn_lake_found *found,
                              const firn_storage_stat *stat, firn_error *error);
/**
 * Adds all below `folder` (as firn_lake_location made it); `glob` NULL: all that looks like data. `seen` (nullable) says, also
 * after a failure, whether anything was there at all. Thread-safe without `glob`.
 */
firn_status firn_lake_collect_folder(firn_lake_collector *collector, const char *folder,
                                     firn_lake_glob *glob, uint32_t unit, size_t order, bool *seen,
                                     firn_error *error);
/** Adds what a pattern matches. */
firn_status firn_lake_collect_glob(firn_lake_collector *collector, const char *pattern,
                                   firn_error *error);

/* listing_names.c */

/** Adds a name, of line or row `order`, that firn_lake_look_at_names is to look at, or notes it as bad. A relative one is against `base`; `location` is for its use. */
firn_status firn_lake_add_name(firn_lake_collector *collector, const char *name, const char *base,
                               uint32_t unit, size_t order, firn_buffer *location,
                               firn_error *error);
/** Looks at all names, notes the bad ones, and gives the others the root that they share. */
firn_status firn_lake_look_at_names(firn_lake_collector *collector, firn_error *error);
/** Files and folders. `files` says whether any was a file. */
firn_status firn_lake_collect_paths(firn_lake_collector *collector, const firn_lake_source *source,
                                    bool *files, firn_error *error);
/** The names that a list holds; "-": standard input. */
firn_status firn_lake_collect_list(firn_lake_collector *collector, const char *list,
                                   const char *base, firn_error *error);

/* listing.c */

/** Keeps each location once, the one that was named first. INVALID where it belongs to two units. */
firn_status firn_lake_drop_duplicates(firn_lake_collector *collector, firn_error *error);

/* listing_text.c */

/** Text that is read piece by piece, a byte order mark at its beginning left out. */
typedef struct firn_lake_text {
    const firn_read_at *source; /**< NULL: standard input */
    const char *name;
    uint8_t *piece;
    size_t at, size; /**< within the piece */
    uint64_t offset; /**< of the next piece */
    size_t line;     /**< that was read last, from 1 */
} firn_lake_text;

firn_status firn_lake_text_open(firn_lake_text *text, const firn_read_at *source, const char *name,
                                firn_error *error);
void firn_lake_text_release(firn_lake_text *text);
/** Reads on until there are bytes; `size` stays equal to `at` at the end. */
firn_status firn_lake_text_fill(firn_lake_text *text, firn_error *error);
/** The next line without its end (LF or CRLF) and with a zero behind it that doesn't count. LIMIT where it is longer than `line` may be, INVALID with a zero inside. */
firn_status firn_lake_text_line(firn_lake_text *text, firn_buffer *line, bool *found,
                                firn_error *error);

/* listing_manifest.c */

typedef enum firn_lake_column {
    FIRN_LAKE_UNIT_COLUMN,
    FIRN_LAKE_ROWS_COLUMN,
    FIRN_LAKE_PATH_COLUMN,
    FIRN_LAKE_COLUMN_COUNT
} firn_lake_column;

typedef struct firn_lake_manifest {
    firn_lake_collector *collector;
    const firn_lake_source *source;
    const char *names[FIRN_LAKE_COLUMN_COUNT]; /**< NULL: not wanted */
    bool has_rows;                             /**< known once the columns are */
    size_t row;                                /**< from 1 */
    struct firn_map *units;                    /**< name to index + 1 */
    firn_buffer location, base;
} firn_lake_manifest;

firn_status firn_lake_collect_manifest(firn_lake_collector *collector,
                                       const firn_lake_source *source, firn_error *error);
/** Puts the folder of a unit into `out`, as firn_lake_location makes it. INVALID: it leads out of the template's. */
firn_status firn_lake_unit_folder(const firn_lake_source *source, const char *unit,
                                  firn_buffer *out, firn_error *error);
/** One row's values as text; NULL data: null. Also checks them. */
firn_status firn_lake_manifest_add(firn_lake_manifest *manifest,
                                   const firn_slice values[FIRN_LAKE_COLUMN_COUNT],
                                   firn_error *error);
/** Settles which columns there are: `there[i]` for each wanted one. INVALID names one that is missing, and the `count` first of those that are there. */
firn_status firn_lake_manifest_settle(firn_lake_manifest *manifest,
                                      const bool there[FIRN_LAKE_COLUMN_COUNT],
                                      const char *const *names, size_t count, firn_error *error);
/** Most names that a message shows. */
#define FIRN_LAKE_SHOWN_COLUMNS 20

/* listing_manifest_text.c, listing_manifest_parquet.c: all rows of one that is open. */
firn_status firn_lake_manifest_read_csv(firn_lake_manifest *manifest, const firn_read_at *source,
                                        firn_error *error);
firn_status firn_lake_manifest_read_json(firn_lake_manifest *manifest, const firn_read_at *source,
                                         firn_error *error);
firn_status firn_lake_manifest_read_parquet(firn_lake_manifest *manifest,
                                            const firn_read_at *source, firn_error *error);

#endif
