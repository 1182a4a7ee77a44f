/** Which files are live, each once, and which of several entries of a file stays. */
#include "base/alloc.h"
#include "lake/audit_internal.h"

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

static firn_status tell_double(firn_auditor *auditor, size_t stays, size_t other,
                               firn_error *error) {
    const firn_manifest_entry *kept = entry_at(auditor, stays), *goes = entry_at(auditor, other);
    bool fixable = false;
    firn_arena_clear(auditor->scratch);
    FIRN_TRY(loses_nothing(auditor, kept, goes, &fixable, error));
    auditor->entries[other].goes = fixable;
    bool alike = strcmp(kept->file.path, goes->file.path) == 0;
    return firn_audit_add(
        auditor->out, FIRN_AUDIT_DUPLICATE, goes->file.path, fixable, error,
        "is live twice%s%s: its %lld rows count twice (sequence numbers %lld and %lld)%s",
        alike ? "" : ", as ", alike ? "" : kept->file.path, (long long)goes->file.record_count,
        (long long)kept->sequence_number, (long long)goes->sequence_number,
        fixable ? "" : "; delete files apply to one of the entries only: rewrite what is in them");
}

/** Entries of one file as a chain, the first one in front. */
static firn_status chain(firn_auditor *auditor, firn_map *seen, size_t *last, size_t index,
                         firn_error *error) {
    const char *path = entry_at(auditor, index)->file.path;
    const char *key = firn_location_key_within(path);
    char *made = key == NULL ? firn_location_key(path) : NULL;
    if (key == NULL) key = made;
    if (key == NULL) return firn_fail_memory(error);
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
    size_t *last = firn_alloc_array(files->data_count + 1, sizeof *last);
    firn_map *seen = firn_map_new();
    if (last == NULL || seen == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    for (size_t i = 0; i < files->data_count; i++) {
        auditor->entries[i] = (firn_audit_entry){&files->data[i], SIZE_MAX, false, NULL};
    }
    for (size_t i = 0; i < files->data_count; i++) {
        FIRN_CHECK(chain(auditor, seen, last, i, error));
    }
out:
    firn_map_free(seen);
    firn_free(last);
    return status;
}

static firn_status choose(firn_auditor *auditor, firn_error *error) {
    for (size_t i = 0; i < auditor->listed_count; i++) {
        size_t first = auditor->heads[i];
        size_t stays = oldest_of(auditor, first);
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
            FIRN_TRY(firn_audit_take(auditor->out, status, &problem, file->path, error));
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
