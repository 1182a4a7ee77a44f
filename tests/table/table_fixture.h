/** A table in an SQLite catalog whose data files are entries only, and a second writer for it. */
#ifndef FIRN_TESTS_TABLE_FIXTURE_H
#define FIRN_TESTS_TABLE_FIXTURE_H

#include <stdlib.h>

#include "catalog/tables.h"
#include "table/commit.h"

/** Stands before the real catalog and lies. */
typedef enum lie {
    LIE_NONE,
    LIE_LOST_REPLY,   /**< commits, and says that it does not know */
    LIE_LOST_REQUEST, /**< does not commit, and says that it does not know */
    LIE_STALE_ANSWER, /**< does not commit, says that it did and answers with what was there */
} lie;

typedef struct lying_catalog {
    firn_catalog *real;
    lie lie;
    /** Called before a lie is answered; NULL: not. */
    void (*meanwhile)(void *context);
    void *context;
} lying_catalog;

typedef struct table_fixture {
    char *folder, *database, *location;
    char *trace; /**< file that names every call of storage */
    firn_storage *storage;
    firn_catalog *real, front;
    lying_catalog liar;
    firn_table *table; /**< of the writer under test */
    firn_table *other; /**< of the other one */
    firn_journal *journal, *other_journal;
    firn_arena *arena;
    size_t files; /**< made so far */
    firn_error error;
} table_fixture;

extern const firn_table_name fixture_name;

/** A table of `format_version` without rows. */
table_fixture *fixture_new(int format_version);
/** The same by identity of s (string) and x (long). */
table_fixture *fixture_new_partitioned(int format_version);
void fixture_free(table_fixture *f);

/** A file entry that refers to no file; path "…/data/<name>". `rows` records. */
firn_manifest_entry fixture_file(table_fixture *f, const char *name, firn_content content,
                                 int64_t rows);
/** The other writer appends files of these names (a NULL ends them), 10 rows each, in one manifest. */
void fixture_append(table_fixture *f, const char *const *names);
/** The other writer removes live files whose paths end in these names. */
void fixture_remove(table_fixture *f, const char *const *names);
/** The other writer changes the table by updates made with `make`. */
void fixture_update(table_fixture *f,
                    firn_status (*make)(table_fixture *f, firn_table_update *update,
                                        firn_error *error));
/** A live file whose path ends in `name`, or NULL. */
const firn_live_file *fixture_find(const firn_live_files *files, const char *name);
/** How often a file whose location ends in `name` was opened so far. */
size_t fixture_opened(table_fixture *f, const char *name);
/** Names of the live files of the table as it is now, in order, with spaces between; free with firn_free. */
char *fixture_live(table_fixture *f);

#endif
