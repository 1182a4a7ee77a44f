/** Shared by the parts of a recovery; not for other folders. */
#ifndef FIRN_LAKE_RECOVER_INTERNAL_H
#define FIRN_LAKE_RECOVER_INTERNAL_H

#include "base/map.h"
#include "base/vector.h"
#include "lake/recover.h"

/** A metadata file, with the ends of its metadata log; logs as a whole would be too much of many files. */
typedef struct firn_recover_file {
    firn_recover_candidate facts;
    const char *name;
    bool readable;
    const char *uuid;   /**< "": none (v1) */
    const char *base;   /**< name of the last file in its log, which it was made from; NULL: none */
    const char *list;   /**< current manifest list; NULL: none */
    const char *folder; /**< where its table keeps metadata */
} firn_recover_file;

typedef struct firn_recover_search {
    firn_storage *storage;
    firn_arena *arena;
    char *folder; /**< that was looked into */
    FIRN_VECTOR(firn_recover_file) files;
    firn_map *named; /**< names that some file's log has */
    const char *hint;
    const char *pointer; /**< what a catalog names; NULL */
} firn_recover_search;

/** Lists and reads the metadata files of `location`. */
firn_status firn_recover_read(firn_recover_search *search, const char *location, firn_error *error);

/** Says which file is the newest, and a verdict on each. */
firn_status firn_recover_judge(firn_recover_search *search, const firn_recover_file **newest,
                               firn_error *error);

/** Whether a claim (a hint: a file's name without its ending, or the number of a directory table's version; or a file's name) means a file of this name. */
bool firn_recover_means(const char *claim, const char *name);

static inline bool firn_recover_is_end(const firn_recover_search *search,
                                       const firn_recover_file *file) {
    return file->readable && !firn_map_has_text(search->named, file->name);
}

#endif
