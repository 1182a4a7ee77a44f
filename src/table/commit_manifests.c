/** The manifests of a new snapshot: survivors and removals packed by spec and content, everything untouched by reference (design, 6.3 item 8). */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "table/commit_internal.h"

#define DEFAULT_TARGET_BYTES (8 << 20)

/** The open manifest of one spec and content; rolls over at the target size. */
typedef struct packer {
    firn_commit_work *work;
    const firn_partition_spec *spec;
    bool deletes;
    int64_t target_bytes;
    firn_manifest_writer *writer;
} packer;

static firn_status packer_flush(packer *pack, firn_error *error) {
    if (pack->writer == NULL) return FIRN_OK;
    firn_commit_work *work = pack->work;
    firn_status status = FIRN_OK;
    firn_manifest_file file = {0};
    firn_buffer bytes = firn_buffer_with_maximum((size_t)4 << 30);
    char *path = firn_arena_format(work->arena, "%s/%s-m%zu.avro", work->folder, work->uuid,
                                   work->file_number++);
    if (path == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_manifest_writer_finish(pack->writer, &bytes, work->arena, &file, error));
    file.path = path;
    FIRN_CHECK(firn_journal_add(work->journal, path, error));
    FIRN_CHECK(firn_storage_put(work->table->storage, path, firn_buffer_slice(&bytes), error));
    FIRN_CHECK(firn_vector_push(&work->manifests, error, file));
    work->written++;
out:
    firn_buffer_release(&bytes);
    firn_manifest_writer_free(pack->writer);
    pack->writer = NULL;
    return status;
}

static firn_status packer_add(packer *pack, const firn_manifest_entry *entry, firn_error *error) {
    if (pack->writer != NULL &&
        (int64_t)firn_manifest_writer_size(pack->writer) >= pack->target_bytes) {
        FIRN_TRY(packer_flush(pack, error));
    }
    if (pack->writer == NULL) {
        FIRN_TRY(firn_manifest_writer_new(pack->work->table->metadata, pack->spec, pack->deletes,
                                          pack->work->snapshot_id, &pack->writer, error));
    }
    return firn_manifest_writer_add(pack->writer, entry, error);
}

/* --- added files ------------------------------------------------------------------------------- */

static firn_status pack_added(firn_commit_work *work, const firn_partition_spec *spec,
                              int64_t target_bytes, firn_error *error) {
    firn_status status = FIRN_OK;
    packer pack = {work, spec, false, target_bytes, NULL};
    for (size_t i = 0; i < work->change->added_count; i++) {
        firn_manifest_entry entry = work->change->added[i];
        if (entry.file.spec_id != spec->spec_id) continue;
        entry.status = FIRN_ENTRY_ADDED;
        entry.has_snapshot_id = true;
        entry.snapshot_id = work->snapshot_id;
        FIRN_CHECK(packer_add(&pack, &entry, error));
    }
    FIRN_CHECK(packer_flush(&pack, error));
out:
    firn_manifest_writer_free(pack.writer);
    return status;
}

/* --- touched manifests ------------------------------------------------------------------------- */

/** Which entries of which manifests go: a sorted list per manifest. */
typedef struct removal {
    size_t manifest_index, ordinal;
} removal;

static int order_removals(const void *left, const void *right) {
    const removal *a = left, *b = right;
    if (a->manifest_index != b->manifest_index) {
        return a->manifest_index < b->manifest_index ? -1 : 1;
    }
    return (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

typedef struct touched_walk {
    packer *pack;
    const removal *next, *end; /* of this manifest */
    size_t ordinal;
    int64_t snapshot_id;
} touched_walk;

/**
 * Entries are copied as resolved: EXISTING with explicit snapshot id and both sequence numbers; removals become DELETED with our snapshot id and the
 * original numbers; entries that were DELETED before are not carried.
 */
static firn_status carry_entry(void *context, const firn_manifest_entry *entry, firn_error *error) {
    touched_walk *walk = context;
    size_t ordinal = walk->ordinal++;
    bool goes = walk->next < walk->end && walk->next->ordinal == ordinal;
    if (goes) walk->next++;
    if (entry->status == FIRN_ENTRY_DELETED) {
        if (!goes) return FIRN_OK;
        return firn_fail(error, FIRN_CONFLICT, "file %s is no longer live", entry->file.path);
    }
    firn_manifest_entry carried = *entry;
    carried.status = goes ? FIRN_ENTRY_DELETED : FIRN_ENTRY_EXISTING;
    if (goes) {
        carried.has_snapshot_id = true;
        carried.snapshot_id = walk->snapshot_id;
    }
    return packer_add(walk->pack, &carried, error);
}

static firn_status pack_touched(firn_commit_work *work, const removal *removals, size_t count,
                                const firn_partition_spec *spec, bool deletes, int64_t target_bytes,
                                firn_error *error) {
    firn_status status = FIRN_OK;
    packer pack = {work, spec, deletes, target_bytes, NULL};
    const firn_live_files *files = work->change->files;
    for (size_t i = 0; i < count;) {
        size_t index = removals[i].manifest_index;
        size_t end = i;
        while (end < count && removals[end].manifest_index == index) end++;
        const firn_manifest_file *manifest = &files->manifests[index];
        if (manifest->partition_spec_id == spec->spec_id &&
            (manifest->content != FIRN_CONTENT_DATA) == deletes) {
            touched_walk walk = {&pack, &removals[i], &removals[end], 0, work->snapshot_id};
            FIRN_CHECK(firn_table_read_manifest(work->table, manifest, work->arena, carry_entry,
                                                &walk, error));
            if (walk.next != walk.end) {
                status = firn_fail(error, FIRN_CONFLICT, "manifest %s has changed", manifest->path);
                goto out;
            }
        }
        i = end;
    }
    FIRN_CHECK(packer_flush(&pack, error));
out:
    firn_manifest_writer_free(pack.writer);
    return status;
}

/* --- untouched manifests ----------------------------------------------------------------------- */

/** A manifest whose entries are all DELETED says only what an older snapshot did. */
static bool carries_nothing(const firn_manifest_file *manifest) {
    return manifest->added_files_count == 0 && manifest->existing_files_count == 0;
}

static firn_status carry_untouched(firn_commit_work *work, const firn_manifest_file *manifests,
                                   size_t manifest_count, const removal *removals, size_t count,
                                   firn_error *error) {
    size_t at = 0;
    for (size_t i = 0; i < manifest_count; i++) {
        while (at < count && removals[at].manifest_index < i) at++;
        bool touched = at < count && removals[at].manifest_index == i;
        if (touched || carries_nothing(&manifests[i])) continue;
        FIRN_TRY(firn_vector_push(&work->manifests, error, manifests[i]));
        work->kept++;
    }
    return FIRN_OK;
}

static removal *sorted_removals(const firn_commit_work *work) {
    const firn_file_change *change = work->change;
    removal *removals = firn_arena_alloc(work->arena, change->removed_count, sizeof *removals);
    if (removals == NULL) return NULL;
    for (size_t i = 0; i < change->removed_count; i++) {
        removals[i] = (removal){change->removed[i]->manifest_index, change->removed[i]->ordinal};
    }
    if (change->removed_count > 1) {
        qsort(removals, change->removed_count, sizeof *removals, order_removals);
    }
    return removals;
}

firn_status firn_commit_write_manifests(firn_commit_work *work, firn_error *error) {
    const firn_table_metadata *metadata = work->table->metadata;
    const firn_file_change *change = work->change;
    int64_t target_bytes = 0;
    FIRN_TRY(firn_table_metadata_property_int(metadata, "commit.manifest.target-size-bytes",
                                              DEFAULT_TARGET_BYTES, &target_bytes, error));
    const firn_manifest_file *manifests = NULL;
    size_t manifest_count = 0;
    if (change->files != NULL) {
        manifests = change->files->manifests;
        manifest_count = change->files->manifest_count;
    } else {
        FIRN_TRY(firn_table_manifests(work->table, work->table->snapshot, work->arena, &manifests,
                                      &manifest_count, error));
    }
    removal *removals = sorted_removals(work);
    if (removals == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < metadata->spec_count; i++) {
        FIRN_TRY(pack_added(work, metadata->specs[i], target_bytes, error));
    }
    for (size_t i = 0; i < metadata->spec_count; i++) {
        for (int deletes = 0; deletes < 2; deletes++) {
            FIRN_TRY(pack_touched(work, removals, change->removed_count, metadata->specs[i],
                                  deletes == 1, target_bytes, error));
        }
    }
    return carry_untouched(work, manifests, manifest_count, removals, change->removed_count, error);
}
