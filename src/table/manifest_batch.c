/** Manifests of many added files: sorted (record_sorter.h), then written one after the other. */
#include "table/manifest_batch.h"

#include "base/alloc.h"
#include "base/random.h"
#include "table/commit_internal.h"
#include "table/record_sorter.h"

struct firn_manifest_batch {
    firn_table *table;
    firn_pool *pool; /* NULL: none */
    firn_record_sorter *sorter;
    firn_arena *arena; /* of what was written */
    FIRN_VECTOR(firn_manifest_file) manifests;
    firn_added_manifests added;
};

/** The manifest in the making, and what came last. */
typedef struct writing {
    firn_manifest_batch *batch;
    firn_journal *journal;
    firn_manifest_writer *writer; /* NULL: none is begun */
    firn_arena *arena;            /* of one data file */
    char *folder;
    char uuid[FIRN_UUID_TEXT_SIZE];
    int64_t target_bytes;
    int32_t spec_id; /* of the manifest in the making */
    firn_buffer partition;
    bool any;
} writing;

firn_status firn_manifest_batch_new(firn_table *table, size_t memory_bytes,
                                    firn_manifest_batch **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_manifest_batch *batch = firn_alloc_zeroed(1, sizeof *batch);
    if (batch == NULL) return firn_fail_memory(error);
    batch->table = table;
    batch->added.format_version = table->metadata->format_version;
    batch->arena = firn_arena_new();
    if (batch->arena == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_commit_choose_snapshot_id(table->metadata, &batch->added.snapshot_id, error));
    FIRN_CHECK(firn_record_sorter_new(memory_bytes, &batch->sorter, error));
    *out = batch;
    batch = NULL;
out:
    firn_manifest_batch_free(batch);
    return status;
}

void firn_manifest_batch_free(firn_manifest_batch *batch) {
    if (batch == NULL) return;
    firn_record_sorter_free(batch->sorter);
    firn_vector_release(&batch->manifests);
    firn_arena_free(batch->arena);
    firn_free(batch);
}

void firn_manifest_batch_use_pool(firn_manifest_batch *batch, firn_pool *pool) {
    batch->pool = pool;
}

static firn_status add_up(int64_t *total, int64_t more, const char *what,
                          const firn_data_file *file, firn_error *error) {
    if (more >= 0 && !__builtin_add_overflow(*total, more, total)) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID, "%s: %s %lld is out of range", file->path, what,
                     (long long)more);
}

firn_status firn_manifest_batch_add(firn_manifest_batch *batch, const firn_data_file *file,
                                    firn_error *error) {
    firn_added_manifests *added = &batch->added;
    if (firn_table_metadata_spec(batch->table->metadata, file->spec_id) == NULL) {
        return firn_fail(error, FIRN_INVALID, "%s: table %s has no partition spec %d", file->path,
                         batch->table->display_name, file->spec_id);
    }
    FIRN_TRY(firn_record_sorter_add(batch->sorter, file, error));
    FIRN_TRY(add_up(&added->records, file->record_count, "record_count", file, error));
    FIRN_TRY(add_up(&added->bytes, file->file_size_in_bytes, "file_size_in_bytes", file, error));
    added->files++;
    return FIRN_OK;
}

static firn_status finish_manifest(writing *w, firn_error *error) {
    firn_manifest_batch *batch = w->batch;
    if (w->writer == NULL) return FIRN_OK;
    firn_manifest_file file;
    char *path = firn_arena_format(batch->arena, "%s/%s-m%zu.avro", w->folder, w->uuid,
                                   batch->manifests.count);
    if (path == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_commit_put_manifest(batch->table, w->journal, path, w->writer, batch->arena,
                                      &file, error));
    firn_manifest_writer_free(w->writer);
    w->writer = NULL;
    return firn_vector_push(&batch->manifests, error, file);
}

static firn_status begin_manifest(writing *w, int32_t spec_id, firn_error *error) {
    const firn_table *table = w->batch->table;
    const firn_partition_spec *spec = firn_table_metadata_spec(table->metadata, spec_id);
    if (spec == NULL) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: partition spec %d was removed meanwhile; run this again",
                         table->display_name, spec_id);
    }
    w->spec_id = spec_id;
    FIRN_TRY(firn_manifest_writer_new(table->metadata, spec, false, w->batch->added.snapshot_id,
                                      &w->writer, error));
    firn_manifest_writer_use_pool(w->writer, w->batch->pool);
    return FIRN_OK;
}

/** Files come in order, so those of a partition follow each other. */
static firn_status count_partition(writing *w, firn_slice partition, firn_error *error) {
    if (w->any && firn_slice_equal(partition, firn_buffer_slice(&w->partition))) return FIRN_OK;
    w->any = true;
    w->batch->added.partitions++;
    firn_buffer_clear(&w->partition);
    return firn_buffer_append(&w->partition, partition.data, partition.size, error);
}

static firn_status write_record(writing *w, const firn_record_view *record, firn_error *error) {
    firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED};
    firn_arena_clear(w->arena);
    FIRN_TRY(firn_record_unpack(record, w->arena, &entry.file, error));
    bool full =
        w->writer != NULL && (entry.file.spec_id != w->spec_id ||
                              (int64_t)firn_manifest_writer_size(w->writer) >= w->target_bytes);
    if (full) FIRN_TRY(finish_manifest(w, error));
    if (w->writer == NULL) FIRN_TRY(begin_manifest(w, entry.file.spec_id, error));
    FIRN_TRY(count_partition(w, record->partition, error));
    return firn_manifest_writer_add(w->writer, &entry, error);
}

static firn_status write_all(writing *w, firn_error *error) {
    const firn_table_metadata *metadata = w->batch->table->metadata;
    firn_record_sorter *sorter = w->batch->sorter;
    if (metadata->format_version != w->batch->added.format_version) {
        return firn_fail(error, FIRN_CONFLICT,
                         "table %s: was upgraded to format version %d meanwhile; run this again",
                         w->batch->table->display_name, metadata->format_version);
    }
    w->arena = firn_arena_new();
    if (w->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_uuid_random(w->uuid, error));
    FIRN_TRY(firn_metadata_folder(metadata, &w->folder, error));
    FIRN_TRY(firn_commit_manifest_target(metadata, &w->target_bytes, error));
    FIRN_TRY(firn_record_sorter_start(sorter, error));
    for (;;) {
        firn_record_view record;
        bool more = false;
        FIRN_TRY(firn_record_sorter_next(sorter, &record, &more, error));
        if (!more) return finish_manifest(w, error);
        FIRN_TRY(write_record(w, &record, error));
    }
}

firn_status firn_manifest_batch_finish(firn_manifest_batch *batch, firn_journal *journal,
                                       const firn_added_manifests **out, firn_error *error) {
    if (batch->sorter == NULL) {
        return firn_fail(error, FIRN_INVALID, "a batch of manifests is finished once only");
    }
    writing w = {.batch = batch,
                 .journal = journal,
                 .partition = firn_buffer_with_maximum((size_t)UINT32_MAX)};
    firn_status status = write_all(&w, error);
    firn_manifest_writer_free(w.writer);
    firn_arena_free(w.arena);
    firn_free(w.folder);
    firn_buffer_release(&w.partition);
    firn_record_sorter_free(batch->sorter);
    batch->sorter = NULL;
    if (status != FIRN_OK) return firn_error_wrap(error, status, "manifests of added files");
    batch->added.manifests = batch->manifests.items;
    batch->added.count = batch->manifests.count;
    *out = &batch->added;
    return FIRN_OK;
}
