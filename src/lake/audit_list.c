/** Which files are live, each once, and which of several entries of a file stays. */
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "lake/audit_internal.h"
#include "storage/local_links.h"

/** Everything that may apply to a data file, as positions among the live delete files. */
static firn_status deletes_of(const firn_auditor *auditor, const firn_manifest_entry *entry,
                              const size_t **out, size_t *count, firn_error *error) {
    *out = NULL;
    *count = 0;
    if (auditor->files.delete_count == 0) return FIRN_OK;
    return firn_delete_index_find(auditor->deletes, entry, auditor->scratch, out, count, error);
}

/** Equality deletes of an unpartitioned spec apply whatever the partition of a data file (specification, "Scan Planning"). */
static bool goes_by_partition(const firn_auditor *auditor, size_t deletes) {
    const firn_data_file *file = &auditor->files.deletes[deletes].entry.file;
    const firn_partition_spec *spec =
        firn_table_metadata_spec(auditor->table->metadata, file->spec_id);
    bool global = file->content == FIRN_CONTENT_EQUALITY_DELETES && spec != NULL &&
                  firn_partition_spec_is_unpartitioned(spec);
    return !global;
}

static firn_status has_scoped(const firn_auditor *auditor, const firn_manifest_entry *entry,
                              bool *out, firn_error *error) {
    const size_t *found = NULL;
    size_t count = 0;
    FIRN_TRY(deletes_of(auditor, entry, &found, &count, error));
    *out = false;
    for (size_t i = 0; i < count; i++) *out = *out || goes_by_partition(auditor, found[i]);
    return FIRN_OK;
}

firn_status firn_audit_may_move(firn_auditor *auditor, const firn_manifest_entry *now,
                                const firn_data_file *then, bool *out, firn_error *error) {
    firn_manifest_entry moved = *now;
    bool before = false, after = false;
    moved.file = *then;
    FIRN_TRY(has_scoped(auditor, now, &before, error));
    FIRN_TRY(has_scoped(auditor, &moved, &after, error));
    *out = !before && !after;
    return FIRN_OK;
}

/** Whether all that is deleted by way of `goes` is deleted by way of `stays` as well. */
static firn_status loses_nothing(const firn_auditor *auditor, const firn_manifest_entry *stays,
                                 const firn_manifest_entry *goes, bool *out, firn_error *error) {
    const size_t *kept = NULL, *lost = NULL;
    size_t kept_count = 0, lost_count = 0, at = 0;
    FIRN_TRY(deletes_of(auditor, stays, &kept, &kept_count, error));
    FIRN_TRY(deletes_of(auditor, goes, &lost, &lost_count, error));
    *out = true;
    for (size_t i = 0; i < lost_count && *out; i++) {
        while (at < kept_count && kept[at] < lost[i]) at++;
        *out = at < kept_count && kept[at] == lost[i];
    }
    return FIRN_OK;
}

static const firn_manifest_entry *entry_at(const firn_auditor *auditor, size_t index) {
    return &auditor->entries[index].live->entry;
}

/** Deletes are younger than what they delete from, so that the oldest entry has all that the others have. */
static size_t oldest_of(const firn_auditor *auditor, size_t first) {
    size_t oldest = first;
    for (size_t i = first; i != SIZE_MAX; i = auditor->entries[i].next) {
        if (entry_at(auditor, i)->sequence_number < entry_at(auditor, oldest)->sequence_number) {
            oldest = i;
        }
    }
    return oldest;
}

/** The oldest entry, or one of the file's own path, since links come and go. */
static firn_status choose_entry(const firn_auditor *auditor, size_t first, size_t *out,
                                firn_error *error) {
    *out = oldest_of(auditor, first);
    if (!auditor->entries[*out].linked) return FIRN_OK;
    for (size_t i = first; i != SIZE_MAX; i = auditor->entries[i].next) {
        bool fits = false;
        if (auditor->entries[i].linked) continue;
        firn_arena_clear(auditor->scratch);
        FIRN_TRY(
            loses_nothing(auditor, entry_at(auditor, i), entry_at(auditor, *out), &fits, error));
        if (!fits) continue;
        *out = i;
        return FIRN_OK;
    }
    return FIRN_OK;
}

/** Whether two entries of one file have different paths: links lead to it then. */
static firn_status are_linked(const firn_data_file *a, const firn_data_file *b, bool *out,
                              firn_error *error) {
    char *first = firn_location_key(a->path);
    char *second = firn_location_key(b->path);
    bool complete = first != NULL && second != NULL;
    *out = complete && strcmp(first, second) != 0;
    firn_free(first);
    firn_free(second);
    return complete ? FIRN_OK : firn_fail_memory(error);
}

/** A link may have led elsewhere when its entry was made: then that one is of another file, whose rows are lost if the link is set right again. */
static bool tell_alike(const firn_data_file *a, const firn_data_file *b) {
    return a->file_size_in_bytes == b->file_size_in_bytes && a->record_count == b->record_count;
}

static firn_status tell_double(firn_auditor *auditor, size_t stays, size_t other,
                               firn_error *error) {
    const firn_manifest_entry *kept = entry_at(auditor, stays), *goes = entry_at(auditor, other);
    bool linked = false, fixable = false;
    FIRN_TRY(are_linked(&kept->file, &goes->file, &linked, error));
    bool differs = linked && !tell_alike(&kept->file, &goes->file);
    firn_arena_clear(auditor->scratch);
    FIRN_TRY(loses_nothing(auditor, kept, goes, &fixable, error));
    const char *obstacle = "";
    if (!fixable) {
        obstacle = "; delete files apply to one of the entries only: rewrite what is in them";
    } else if (differs) {
        obstacle = "; their entries tell of different files, so that a link may have led elsewhere";
    }
    fixable = fixable && !differs;
    auditor->entries[other].goes = fixable;
    bool alike = strcmp(kept->file.path, goes->file.path) == 0;
    long long rows = goes->file.record_count;
    return firn_audit_add(
        auditor->out, FIRN_AUDIT_DUPLICATE, goes->file.path, fixable, error,
        "is live twice%s%s%s: its %lld row%s count%s twice (sequence numbers %lld and %lld)%s",
        alike ? "" : ", as ", alike ? "" : kept->file.path,
        linked ? ", by way of symbolic links" : "", rows, firn_plural((uint64_t)rows),
        rows == 1 ? "s" : "", (long long)kept->sequence_number, (long long)goes->sequence_number,
        obstacle);
}

/** What tells the file of an entry from others: where its path leads. Owned by `made` (firn_free), or by others. */
static firn_status file_key(firn_auditor *auditor, firn_local_real_paths *paths, size_t index,
                            const char **out, char **made, firn_error *error) {
    const char *path = entry_at(auditor, index)->file.path;
    const char *key = firn_location_key_within(path);
    *made = key == NULL ? firn_location_key(path) : NULL;
    if (key == NULL) key = *made;
    *out = key == NULL || key[0] != '/' ? key : firn_local_real_path(paths, key, false);
    if (*out == NULL) {
        firn_free(*made);
        return firn_fail_memory(error);
    }
    auditor->entries[index].linked = strcmp(*out, key) != 0;
    return FIRN_OK;
}

/** Entries of one file as a chain, the first one in front. */
static firn_status chain(firn_auditor *auditor, firn_local_real_paths *paths, firn_map *seen,
                         size_t *last, size_t index, firn_error *error) {
    const char *key = NULL;
    char *made = NULL;
    FIRN_TRY(file_key(auditor, paths, index, &key, &made, error));
    firn_status status = FIRN_OK;
    size_t found = (size_t)(uintptr_t)firn_map_get_text(seen, key);
    if (found == 0) {
        status = firn_map_set_text(seen, key, (void *)(uintptr_t)(index + 1), error);
        auditor->heads[auditor->listed_count++] = index;
        last[index] = index;
    } else {
        auditor->entries[last[found - 1]].next = index;
        last[found - 1] = index;
    }
    firn_free(made);
    return status;
}

static firn_status group(firn_auditor *auditor, firn_error *error) {
    const firn_live_files *files = &auditor->files;
    firn_status status = FIRN_OK;
    firn_local_real_paths paths = {.arena = firn_arena_new()};
    size_t *last = firn_alloc_array(files->data_count + 1, sizeof *last);
    firn_map *seen = firn_map_new();
    if (last == NULL || seen == NULL || paths.arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->data_count; i++) {
        auditor->entries[i] = (firn_audit_entry){.live = &files->data[i], .next = SIZE_MAX};
    }
    for (size_t i = 0; i < files->data_count; i++) {
        FIRN_CHECK(chain(auditor, &paths, seen, last, i, error));
    }
out:
    firn_map_free(seen);
    firn_free(last);
    firn_arena_free(paths.arena);
    return status;
}

static firn_status choose(firn_auditor *auditor, firn_error *error) {
    for (size_t i = 0; i < auditor->listed_count; i++) {
        size_t first = auditor->heads[i], stays = 0;
        FIRN_TRY(choose_entry(auditor, first, &stays, error));
        auditor->heads[i] = stays;
        for (size_t j = first; j != SIZE_MAX; j = auditor->entries[j].next) {
            if (j != stays) FIRN_TRY(tell_double(auditor, stays, j, error));
        }
    }
    return FIRN_OK;
}

/** Files that can be looked into, with their sizes as they are. */
static firn_status look_for(firn_auditor *auditor, firn_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < auditor->listed_count; i++) {
        const firn_data_file *file = &entry_at(auditor, auditor->heads[i])->file;
        firn_storage_stat stat = {0};
        firn_error problem;
        firn_error_clear(&problem);
        if (file->format != FIRN_FILE_PARQUET) {
            FIRN_TRY(firn_audit_add(auditor->out, FIRN_AUDIT_UNDECIDED, file->path, false, error,
                                    "is %s: only Parquet files are looked into",
                                    file->format_text == NULL ? "no Parquet" : file->format_text));
            continue;
        }
        firn_status status =
            firn_storage_stat_file(auditor->table->storage, file->path, &stat, &problem);
        if (status != FIRN_OK) {
            FIRN_TRY(firn_audit_take(auditor, status, &problem, file->path, error));
            continue;
        }
        auditor->listed[kept] = (firn_lake_file){.location = file->path,
                                                 .size = (int64_t)stat.size,
                                                 .modified_ns = stat.modified_ns,
                                                 .unit = FIRN_LAKE_NO_UNIT};
        auditor->heads[kept++] = auditor->heads[i];
    }
    auditor->listed_count = kept;
    return FIRN_OK;
}

firn_status firn_audit_list_files(firn_auditor *auditor, firn_error *error) {
    size_t count = auditor->files.data_count;
    firn_arena *arena = auditor->out->arena;
    auditor->entries = firn_arena_alloc(arena, count, sizeof *auditor->entries);
    auditor->listed = firn_arena_alloc(arena, count, sizeof *auditor->listed);
    auditor->heads = firn_arena_alloc(arena, count, sizeof *auditor->heads);
    if (auditor->entries == NULL || auditor->listed == NULL || auditor->heads == NULL) {
        return firn_fail_memory(error);
    }
    FIRN_TRY(group(auditor, error));
    auditor->out->data_files = auditor->listed_count;
    FIRN_TRY(choose(auditor, error));
    return look_for(auditor, error);
}
