/* Files of which the ledger does not tell whether they are those that were added, since it was made of history. */
#include "base/alloc.h"
#include "base/plural.h"
#include "lake/sync_internal.h"

/* --- taken out by a policy, before the ledger was lost ------------------------------------------- */

firn_status firn_sync_take_removed(firn_sync_work *work, const firn_lake_file *file,
                                   const firn_ledger_entry *entry, uint8_t *class,
                                   firn_error *error) {
    static const char reason[] = "it was taken out before the ledger was made anew, and nothing "
                                 "shows that it is another file since";
    firn_ledger_entry out = *entry;
    if (work->options->on_replaced == FIRN_LAKE_OVERWRITE) {
        *class = FIRN_SYNC_NEW_FILE;
        return FIRN_OK;
    }
    if (work->options->on_replaced != FIRN_LAKE_DELETE) {
        *class = FIRN_SYNC_REPLACED_FILE;
        out.snapshot_id = -1; /* no snapshot after that one names it */
        return firn_sync_add_replaced(work, file, &out, reason, error);
    }
    *class = FIRN_SYNC_KNOWN_FILE;
    out.location = file->location;
    if (out.unit == NULL) out.unit = firn_sync_unit_name(work, file);
    out.etag = file->etag;
    out.size = file->size;
    out.modified_ns = file->modified_ns;
    work->ledger_grew = true;
    return firn_vector_push(&work->adopted, error, out);
}

/* --- of tables that others filled ----------------------------------------------------------------- */

typedef struct asking {
    firn_sync_work *work;
    uint8_t *classes;
} asking;

static const char *reason_of(firn_sync_work *work, const firn_lake_footer *footer,
                             const firn_ledger_entry *entry) {
    if (footer->parquet == NULL) return firn_sync_keep(work, footer->error->message);
    return firn_arena_format(work->result->arena,
                             "it had %lld row%s at the same size, and has %lld",
                             (long long)entry->rows, firn_plural((uint64_t)entry->rows),
                             (long long)footer->parquet->metadata->num_rows);
}

/* Files that were copied, or moved between disks, have a new time: size and rows, which the manifest tells, are what there is to compare. */
static firn_status ask(void *context, const firn_lake_footer *footer, firn_error *error) {
    asking *run = context;
    firn_sync_work *work = run->work;
    const firn_sync_untold *untold = &work->untold.items[footer->index];
    const firn_ledger_entry *entry = firn_ledger_find(work->ledger, untold->file->location);
    bool same = footer->parquet != NULL && footer->parquet->metadata->num_rows == entry->rows;
    firn_ledger_entry known;
    (void)firn_sync_restore(work, untold->file, entry, &known);
    if (same) {
        known.modified_ns = untold->file->modified_ns;
        known.etag = untold->file->etag;
    } else {
        run->classes[untold->index] = FIRN_SYNC_REPLACED_FILE;
        FIRN_TRY(firn_sync_add_replaced(work, untold->file, &known, reason_of(work, footer, entry),
                                        error));
    }
    work->ledger_grew = true;
    return firn_vector_push(&work->adopted, error, known);
}

firn_status firn_sync_ask_footers(firn_sync_work *work, uint8_t *classes, firn_error *error) {
    size_t count = work->untold.count;
    asking run = {work, classes};
    firn_lake_footers *footers = NULL;
    if (count == 0) return FIRN_OK;
    firn_lake_file *files = firn_alloc_array(count, sizeof *files);
    if (files == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) files[i] = *work->untold.items[i].file;
    firn_status status = firn_lake_footers_new(work->storage, work->options->pool, files, count,
                                               firn_sync_memory(work, 2), &footers, error);
    if (status == FIRN_OK) {
        status = firn_lake_footers_visit(footers, 0, count, ask, &run, error);
    }
    firn_lake_footers_free(footers);
    firn_free(files);
    work->untold.count = 0;
    return status;
}
