/** The manifests of a new snapshot: survivors and removals packed by spec and content, everything untouched by reference (design, 6.3 items 4 and 8). */
#include <string.h>

#include "base/alloc.h"
#include "table/commit_internal.h"

#define DEFAULT_TARGET_BYTES (8 << 20)

/** The entries of one spec and content, in the order in which they will stand. */
typedef struct packer {
    firn_commit_work *work;
    const firn_partition_spec *spec;
    bool deletes;
    int64_t target_bytes;
    FIRN_VECTOR(firn_packed_item) items;
    size_t at; /* the first item that is in no manifest yet */
} packer;

/* --- manifests of earlier attempts -------------------------------------------------------------- */

static bool same_numbers(const firn_manifest_file *a, const firn_manifest_file *b) {
    return a->sequence_number == b->sequence_number && a->has_first_row_id == b->has_first_row_id &&
           a->first_row_id == b->first_row_id && a->added_snapshot_id == b->added_snapshot_id;
}

/** A manifest never changes, so its path, the place in it and what its entries inherit are an entry's whole content. */
static bool same_item(const firn_packed_item *a, const firn_packed_item *b) {
    if ((a->carried == NULL) != (b->carried == NULL)) return false;
    if (a->carried != NULL) {
        return a->ordinal == b->ordinal && a->goes == b->goes &&
               strcmp(a->carried->path, b->carried->path) == 0 &&
               same_numbers(a->carried, b->carried);
    }
    if (a->restated != b->restated) return false;
    if (a->restated && a->entry->snapshot_id != b->entry->snapshot_id) return false;
    return a->entry->has_sequence_number == b->entry->has_sequence_number &&
           a->entry->sequence_number == b->entry->sequence_number &&
           firn_data_file_equal(&a->entry->file, &b->entry->file);
}

/** A manifest that holds just the next items. */
static firn_written_manifest *find_written(const packer *pack) {
    firn_commit_work *work = pack->work;
    for (size_t i = 0; i < work->written.count; i++) {
        firn_written_manifest *written = &work->written.items[i];
        if (written->used || written->deletes != pack->deletes ||
            written->file.partition_spec_id != pack->spec->spec_id ||
            written->format_version != work->format_version ||
            written->item_count > pack->items.count - pack->at) {
            continue;
        }
        size_t same = 0;
        while (same < written->item_count &&
               same_item(&written->items[same], &pack->items.items[pack->at + same])) {
            same++;
        }
        if (same == written->item_count) return written;
    }
    return NULL;
}

static firn_status remember_item(firn_commit_work *work, firn_packed_item *item,
                                 const firn_manifest_file **source, firn_error *error) {
    if (item->carried == NULL) {
        firn_manifest_entry *entry = firn_arena_alloc(work->arena, 1, sizeof *entry);
        if (entry == NULL) return firn_fail_memory(error);
        *entry = *item->entry;
        item->entry = entry;
        return firn_data_file_copy(&entry->file, work->arena, &entry->file, error);
    }
    item->entry = NULL;
    /* Entries of one manifest follow each other. */
    if (*source == NULL || strcmp((*source)->path, item->carried->path) != 0) {
        firn_manifest_file *copy =
            firn_arena_memdup(work->arena, item->carried, sizeof *item->carried);
        if (copy == NULL) return firn_fail_memory(error);
        copy->path = firn_arena_strdup(work->arena, item->carried->path);
        if (copy->path == NULL) return firn_fail_memory(error);
        *source = copy;
    }
    item->carried = *source;
    return FIRN_OK;
}

static firn_status remember_added(firn_commit_work *work, firn_error *error) {
    if (work->added_before == NULL) work->added_before = firn_map_new();
    if (work->added_before == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < work->change.added_count; i++) {
        char *path = firn_arena_strdup(work->arena, work->change.added[i].file.path);
        if (path == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_map_set_text(work->added_before, path, path, error));
    }
    return FIRN_OK;
}

firn_status firn_commit_remember_manifests(firn_commit_work *work, firn_error *error) {
    FIRN_TRY(remember_added(work, error));
    for (size_t i = 0; i < work->written.count; i++) {
        firn_written_manifest *written = &work->written.items[i];
        if (!written->used) continue; /* remembered before */
        written->used = false;
        const firn_manifest_file *source = NULL;
        firn_packed_item *items =
            firn_arena_memdup(work->arena, written->items, written->item_count * sizeof *items);
        if (items == NULL) return firn_fail_memory(error);
        for (size_t j = 0; j < written->item_count; j++) {
            FIRN_TRY(remember_item(work, &items[j], &source, error));
        }
        written->items = items;
    }
    return FIRN_OK;
}

/* --- writing ------------------------------------------------------------------------------------ */

firn_status firn_commit_put_manifest(firn_table *table, firn_journal *journal, const char *path,
                                     firn_manifest_writer *writer, firn_arena *arena,
                                     firn_manifest_file *file, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer bytes = firn_buffer_with_maximum((size_t)4 << 30);
    FIRN_CHECK(firn_manifest_writer_finish(writer, &bytes, arena, file, error));
    file->path = path;
    FIRN_CHECK(firn_journal_add(journal, path, error));
    FIRN_CHECK(firn_storage_put(table->storage, path, firn_buffer_slice(&bytes), error));
out:
    firn_buffer_release(&bytes);
    return status;
}

static firn_status put_manifest(const packer *pack, firn_manifest_writer *writer,
                                firn_manifest_file *file, firn_error *error) {
    firn_commit_work *work = pack->work;
    const char *path = firn_arena_format(work->arena, "%s/%s-m%zu.avro", work->folder, work->uuid,
                                         work->file_number++);
    if (path == NULL) return firn_fail_memory(error);
    return firn_commit_put_manifest(work->table, work->journal, path, writer, work->arena, file,
                                    error);
}

/** Entries are carried as resolved; added ones and removals are this snapshot's. */
static firn_status add_item(const packer *pack, firn_manifest_writer *writer,
                            const firn_packed_item *item, firn_error *error) {
    firn_manifest_entry entry = *item->entry;
    bool added = item->carried == NULL && !item->restated;
    entry.status = added ? FIRN_ENTRY_ADDED : item->goes ? FIRN_ENTRY_DELETED : FIRN_ENTRY_EXISTING;
    if (entry.status != FIRN_ENTRY_EXISTING) {
        entry.has_snapshot_id = true;
        entry.snapshot_id = pack->work->snapshot_id;
    }
    return firn_manifest_writer_add(writer, &entry, error);
}

/** A manifest of the next items, up to the target size. */
static firn_status write_next(packer *pack, firn_error *error) {
    firn_commit_work *work = pack->work;
    firn_status status = FIRN_OK;
    firn_manifest_writer *writer = NULL;
    size_t end = pack->at;
    firn_written_manifest written = {
        .deletes = pack->deletes, .format_version = work->format_version, .used = true};
    FIRN_CHECK(firn_manifest_writer_new(work->table->metadata, pack->spec, pack->deletes,
                                        work->snapshot_id, &writer, error));
    do {
        FIRN_CHECK(add_item(pack, writer, &pack->items.items[end++], error));
    } while (end < pack->items.count &&
             (int64_t)firn_manifest_writer_size(writer) < pack->target_bytes);
    FIRN_CHECK(put_manifest(pack, writer, &written.file, error));
    written.item_count = end - pack->at;
    written.items = firn_arena_memdup(work->arena, &pack->items.items[pack->at],
                                      written.item_count * sizeof *written.items);
    if (written.items == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_vector_push(&work->written, error, written));
    FIRN_CHECK(firn_vector_push(&work->manifests, error, written.file));
    pack->at = end;
out:
    firn_manifest_writer_free(writer);
    return status;
}

static firn_status pack_items(packer *pack, firn_error *error) {
    while (pack->at < pack->items.count) {
        firn_written_manifest *written = find_written(pack);
        if (written == NULL) {
            FIRN_TRY(write_next(pack, error));
            continue;
        }
        written->used = true;
        pack->at += written->item_count;
        FIRN_TRY(firn_vector_push(&pack->work->manifests, error, written->file));
    }
    return FIRN_OK;
}

/* --- added files -------------------------------------------------------------------------------- */

static firn_status collect_entries(packer *pack, const firn_manifest_entry *entries, size_t count,
                                   bool restated, firn_error *error) {
    for (size_t i = 0; i < count; i++) {
        const firn_data_file *file = &entries[i].file;
        if (file->spec_id != pack->spec->spec_id ||
            (file->content != FIRN_CONTENT_DATA) != pack->deletes) {
            continue;
        }
        firn_packed_item item = {.entry = &entries[i], .restated = restated};
        FIRN_TRY(firn_vector_push(&pack->items, error, item));
    }
    return FIRN_OK;
}

static firn_status collect_added(packer *pack, firn_error *error) {
    const firn_file_change *change = &pack->work->change;
    FIRN_TRY(collect_entries(pack, change->added, change->added_count, false, error));
    return collect_entries(pack, change->restated, change->restated_count, true, error);
}

/* --- touched manifests -------------------------------------------------------------------------- */

/** Which live files go, and which manifests they are in. */
typedef struct removals {
    bool *data, *deletes, *touched;
} removals;

static firn_status mark_one(const firn_live_files *files, const firn_live_file *removed,
                            removals *out, firn_error *error) {
    bool *goes = NULL;
    if (removed >= files->data && removed < files->data + files->data_count) {
        goes = &out->data[removed - files->data];
    } else if (removed >= files->deletes && removed < files->deletes + files->delete_count) {
        goes = &out->deletes[removed - files->deletes];
    }
    if (goes == NULL || *goes) {
        return firn_fail(error, FIRN_INVALID, "file %s is to be removed %s",
                         removed->entry.file.path,
                         goes == NULL ? "and is not among the live files" : "twice");
    }
    *goes = true;
    out->touched[removed->manifest_index] = true;
    return FIRN_OK;
}

static firn_status mark_removals(const firn_commit_work *work, removals *out, firn_error *error) {
    const firn_file_change *change = &work->change;
    const firn_live_files *files = change->files;
    *out = (removals){0};
    if (change->removed_count == 0) return FIRN_OK;
    if (files == NULL) return firn_fail(error, FIRN_INVALID, "files are removed from none");
    FIRN_TRY(firn_live_files_check_metrics(files, error));
    out->data = firn_arena_alloc(work->arena, files->data_count, sizeof *out->data);
    out->deletes = firn_arena_alloc(work->arena, files->delete_count, sizeof *out->deletes);
    out->touched = firn_arena_alloc(work->arena, files->manifest_count, sizeof *out->touched);
    if (out->data == NULL || out->deletes == NULL || out->touched == NULL) {
        return firn_fail_memory(error);
    }
    for (size_t i = 0; i < change->removed_count; i++) {
        FIRN_TRY(mark_one(files, change->removed[i], out, error));
    }
    return FIRN_OK;
}

/** DELETED entries of before are not among the live files, and so not carried. */
static firn_status collect_touched(packer *pack, const removals *marks, firn_error *error) {
    const firn_live_files *files = pack->work->change.files;
    if (marks->touched == NULL) return FIRN_OK;
    const firn_live_file *live = pack->deletes ? files->deletes : files->data;
    size_t count = pack->deletes ? files->delete_count : files->data_count;
    const bool *goes = pack->deletes ? marks->deletes : marks->data;
    for (size_t i = 0; i < count; i++) {
        const firn_manifest_file *manifest = &files->manifests[live[i].manifest_index];
        if (!marks->touched[live[i].manifest_index] ||
            manifest->partition_spec_id != pack->spec->spec_id) {
            continue;
        }
        firn_packed_item item = {&live[i].entry, manifest, live[i].ordinal, goes[i], false};
        FIRN_TRY(firn_vector_push(&pack->items, error, item));
    }
    return FIRN_OK;
}

/* --- untouched manifests ------------------------------------------------------------------------ */

/** A manifest whose entries are all DELETED says only what an older snapshot did. */
static bool carries_nothing(const firn_manifest_file *manifest) {
    return manifest->added_files_count == 0 && manifest->existing_files_count == 0;
}

static firn_status carry_untouched(firn_commit_work *work, const bool *touched, firn_error *error) {
    const firn_live_files *files = work->change.files;
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    if (files != NULL) {
        manifests = files->manifests;
        count = files->manifest_count;
    } else {
        FIRN_TRY(firn_table_manifests(work->table, work->table->snapshot, work->arena, &manifests,
                                      &count, error));
    }
    work->kept = 0;
    work->replaced = 0;
    for (size_t i = 0; i < count; i++) {
        if (touched != NULL && touched[i]) {
            work->replaced++;
            continue;
        }
        if (carries_nothing(&manifests[i])) continue;
        FIRN_TRY(firn_vector_push(&work->manifests, error, manifests[i]));
        work->kept++;
    }
    return FIRN_OK;
}

/* --- all of them -------------------------------------------------------------------------------- */

static firn_status pack_all(firn_commit_work *work, const removals *marks, bool added,
                            int64_t target_bytes, size_t *packed, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    for (size_t i = 0; i < 2 * metadata->spec_count; i++) {
        packer pack = {.work = work,
                       .spec = metadata->specs[i / 2],
                       .deletes = i % 2 == 1,
                       .target_bytes = target_bytes};
        firn_status status =
            added ? collect_added(&pack, error) : collect_touched(&pack, marks, error);
        if (status == FIRN_OK) status = pack_items(&pack, error);
        *packed += pack.items.count;
        firn_vector_release(&pack.items);
        FIRN_TRY(status);
    }
    return FIRN_OK;
}

/** A change that was made for another snapshot would take that one's files for the table's. */
static firn_status check_state(const firn_commit_work *work, firn_error *error) {
    const firn_live_files *files = work->change.files;
    if (files == NULL || files->snapshot_id == firn_commit_head(work->table)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "the change is of snapshot %lld, the table is at %lld",
                     (long long)files->snapshot_id, (long long)firn_commit_head(work->table));
}

static size_t count_touched(const firn_live_files *files, const removals *marks) {
    size_t count = 0;
    if (marks->touched == NULL) return 0;
    for (size_t i = 0; i < files->data_count; i++) {
        count += marks->touched[files->data[i].manifest_index] ? 1 : 0;
    }
    for (size_t i = 0; i < files->delete_count; i++) {
        count += marks->touched[files->deletes[i].manifest_index] ? 1 : 0;
    }
    return count;
}

firn_status firn_commit_manifest_target(const firn_table_metadata *metadata, int64_t *bytes,
                                        firn_error *error) {
    return firn_table_metadata_property_int(metadata, "commit.manifest.target-size-bytes",
                                            DEFAULT_TARGET_BYTES, bytes, error);
}

static firn_status add_written_before(firn_commit_work *work, firn_error *error) {
    for (size_t i = 0; i < firn_commit_added_count(work); i++) {
        FIRN_TRY(
            firn_vector_push(&work->manifests, error, work->change.added_manifests->manifests[i]));
    }
    return FIRN_OK;
}

firn_status firn_commit_write_manifests(firn_commit_work *work, firn_error *error) {
    int64_t target_bytes = 0;
    removals marks;
    size_t packed = 0;
    work->manifests.count = 0;
    FIRN_TRY(check_state(work, error));
    FIRN_TRY(firn_commit_manifest_target(work->table->metadata, &target_bytes, error));
    FIRN_TRY(add_written_before(work, error));
    FIRN_TRY(mark_removals(work, &marks, error));
    FIRN_TRY(pack_all(work, &marks, true, target_bytes, &packed, error));
    FIRN_TRY(pack_all(work, &marks, false, target_bytes, &packed, error));
    size_t given = work->change.added_count + work->change.restated_count;
    if (packed != given + count_touched(work->change.files, &marks)) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: lacks a partition spec that a file of the change names",
                         work->table->display_name);
    }
    return carry_untouched(work, marks.touched, error);
}
