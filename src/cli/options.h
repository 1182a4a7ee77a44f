/** The options and verbs of the command line, as tables that parsing, help and tests share. */
#ifndef FIRN_CLI_OPTIONS_H
#define FIRN_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** Most words behind a verb: files, mostly. */
#define FIRN_MAX_ARGUMENTS 4096

/** Most times that an option may be repeated. */
#define FIRN_MAX_REPEATS 256

typedef struct firn_option_list {
    const char *items[FIRN_MAX_REPEATS];
    size_t count;
} firn_option_list;

/** What was asked for. Text is borrowed from argv. */
typedef struct firn_options {
    const char *catalog, *catalog_name, *config, *ref; /**< NULL: not given */
    const char *output, *compression;                  /**< likewise */
    const char *columns, *where, *format;              /**< likewise */
    bool json, yes, dry_run, rewrite_all, verify, no_progress, content_hash, help, version;
    /* register and sync */
    const char *from, *glob, *manifest, *base, *location; /**< NULL: not given */
    const char *unit_column, *rows_column, *path_column, *unit_folder, *unit_property;
    const char *on_replaced, *on_missing;
    firn_option_list partition, property;
    bool skip_bad, rebuild_ledger;
    int64_t format_version, batch; /**< 0: not given */
    int64_t retries;               /**< -1: not given */
    bool pages, force, explain, no_joined_pages, deep, partial_progress, fix;
    int64_t verbose; /**< times that it was given */
    /* 0: not given. */
    int64_t memory_bytes, threads;
    int64_t target_file_size_bytes, min_input_files, max_file_group_size_bytes;
    int64_t delete_file_threshold;
    double delete_ratio_threshold; /**< -1: not given */
    int64_t row_group_size_bytes, merge_target_bytes, limit;
    int64_t to;
    int64_t lock_timeout_ms;                   /**< -1: not given */
    const char *arguments[FIRN_MAX_ARGUMENTS]; /**< what stands behind the verb */
    size_t argument_count;
} firn_options;

/** Sets of options; a verb takes several. */
enum {
    FIRN_OPTIONS_COMMON = 1,     /**< every verb */
    FIRN_OPTIONS_CATALOG = 2,    /**< --catalog, --catalog-name */
    FIRN_OPTIONS_REF = 4,        /**< --ref */
    FIRN_OPTIONS_CHANGE = 8,     /**< --yes, --dry-run */
    FIRN_OPTIONS_PLAN = 16,      /**< what is compacted into what */
    FIRN_OPTIONS_RUN = 32,       /**< --verify */
    FIRN_OPTIONS_RESOURCES = 64, /**< --memory, --threads */
    FIRN_OPTIONS_CONTENT = 128,  /**< --content-hash */
    FIRN_OPTIONS_PAGES = 256,    /**< --pages */
    FIRN_OPTIONS_MERGE = 512,    /**< --output, --force, --compression, --target … */
    FIRN_OPTIONS_FILTER = 1024,  /**< --where */
    FIRN_OPTIONS_SCAN = 2048,    /**< --columns, --limit, --format */
    FIRN_OPTIONS_LOCK = 4096,    /**< --lock-timeout */
    FIRN_OPTIONS_UPGRADE = 8192, /**< --to */
    FIRN_OPTIONS_VERIFY = 16384, /**< --deep */
    FIRN_OPTIONS_LAKE = 32768,   /**< what is registered, and how */
    FIRN_OPTIONS_SYNC = 65536,   /**< --manifest and units, --on-missing */
    FIRN_OPTIONS_AUDIT = 131072  /**< --fix */
};

typedef enum firn_option_kind {
    FIRN_OPTION_FLAG,    /**< bool */
    FIRN_OPTION_COUNTER, /**< int64_t, counted */
    FIRN_OPTION_TEXT,    /**< const char * */
    FIRN_OPTION_TEXTS,   /**< firn_option_list; may be repeated */
    FIRN_OPTION_BYTES,   /**< int64_t above 0 */
    FIRN_OPTION_COUNT,   /**< int64_t above 0 */
    FIRN_OPTION_NUMBER,  /**< int64_t, 0 or more */
    FIRN_OPTION_SECONDS, /**< int64_t, milliseconds */
    FIRN_OPTION_RATIO    /**< double, from 0 to 1 */
} firn_option_kind;

typedef struct firn_option {
    const char *name; /**< without the dashes */
    char letter;      /**< 0: none */
    firn_option_kind kind;
    size_t offset;     /**< of the member of firn_options */
    unsigned group;    /**< one of the sets, or several */
    const char *value; /**< what the help calls the value; NULL: takes none */
    const char *help;
} firn_option;

extern const firn_option firn_option_table[];
extern const size_t firn_option_count;
/** What the option does for a verb that takes these sets. */
const char *firn_option_help(const firn_option *option, unsigned groups);

struct firn_invocation;

typedef struct firn_verb {
    const char *name;      /**< one word, or two */
    const char *arguments; /**< as the help shows them, "" for none */
    size_t least, most;    /**< number of arguments */
    unsigned options;      /**< sets */
    const char *summary;   /**< one line */
    const char *help;      /**< paragraphs */
    firn_status (*run)(struct firn_invocation *invocation, firn_error *error);
} firn_verb;

extern const firn_verb firn_verb_table[];
extern const size_t firn_verb_count;

/** Whether it has two words, and this is the first one. */
bool firn_verb_in_family(const firn_verb *verb, const char *word);
/** By its full name; NULL. */
const firn_verb *firn_verb_find(const char *name);

/**
 * Reads the command line. *verb NULL: only --help or --version were asked for, or nothing at all; where a word begins verbs
 * of two words it is the argument of --help. INVALID names the nearest known word; *verb is set where it is known still. `out` is
 * filled as far as it was read, also on failure.
 */
firn_status firn_options_parse(int argc, char *const *argv, firn_options *out,
                               const firn_verb **verb, firn_error *error);

/** Whether JSON is asked for; works on a command line that can't be parsed. */
bool firn_options_want_json(int argc, char *const *argv);

#endif
