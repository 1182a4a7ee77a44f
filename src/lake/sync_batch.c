/* Batches of files, each of which becomes one snapshot together with what the ledger says of it. */
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/plural.h"
#include "lake/sync_internal.h"
#include "table/commit.h"
#include "table/manifest_batch.h"
#include "table/update.h"

/* --- what a batch adds ------------------------------------------------------------------------- */

typedef struct batch_sums {
    size_t units, files;
    int64_t rows, bytes;
    int64_t expected; /* -1: unknown */
} batch_sums;

firn_status firn_sync_refuse_for(const firn_sync_work *work, const char *location,
                                 const char *reason, firn_error *error) {
    size_t all = work->result->bad.count; /* those of later batches, too: the report names them */
    bool named = strstr(reason, location) != NULL;
    return firn_fail(error, FIRN_BLOCKED,
                     "%zu file%s can't be added, the first: %s%s%s (--skip-bad leaves %s out)", all,
                     firn_plural(all), named ? "" : location, named ? "" : ": ", reason,
                     all == 1 ? "it" : "them");
}

static firn_status refuse_bad(const firn_sync_work *work, size_t first, size_t count,
                              firn_error *error) {
    size_t bad = 0;
    size_t where = 0;
    for (size_t i = first; i < first + count; i++) {
        if (work->facts[i].state != FIRN_SYNC_BAD) continue;
        if (bad++ == 0) where = i;
    }
    if (bad == 0) return FIRN_OK;
    return firn_sync_refuse_for(work, work->files[where].location,
                                firn_sync_reason_of_bad(work, where), error);
}

/* Fails where nothing of the batch may be committed; else adds up what there is to commit. */
static firn_status check_batch(firn_sync_work *work, const firn_sync_batch *batch, batch_sums *sums,
                               firn_error *error) {
    *sums = (batch_sums){.expected = -1};
    if (!work->options->skip_bad) FIRN_TRY(refuse_bad(work, batch->first, batch->count, error));
    const firn_sync_unit *units = work->listing.has_units ? &work->units[batch->first_unit] : NULL;
    FIRN_TRY(firn_sync_refuse_unlisted(work, units, batch->unit_count, error));
    for (size_t i = 0; i < batch->unit_count; i++) {
        const firn_sync_unit *unit = &work->units[batch->first_unit + i];
        /* A unit with a bad file is left out as a whole. */
        if (work->options->skip_bad && firn_sync_has_bad_file(work, unit)) {
            firn_sync_leave_out(work, unit);
            continue;
        }
        FIRN_TRY(firn_sync_reconcile_unit(work, unit, error));
        int64_t expected = work->listing.units[unit->unit].rows;
        sums->units++;
        if (expected < 0) continue;
        if (sums->expected < 0) sums->expected = 0;
        FIRN_TRY(firn_sync_add_rows(&sums->expected, expected, error));
    }
    for (size_t i = batch->first; i < batch->first + batch->count; i++) {
        if (work->facts[i].state != FIRN_SYNC_PENDING) continue;
        sums->files++;
        FIRN_TRY(firn_sync_add_rows(&sums->rows, work->facts[i].rows, error));
        FIRN_TRY(firn_sync_add_rows(&sums->bytes, work->files[i].size, error));
    }
    return FIRN_OK;
}

firn_status firn_sync_find_refused(firn_sync_work *work, size_t *out, firn_error *error) {
    firn_error problem;
    firn_error_clear(&problem);
    for (*out = work->next_batch; *out < work->batches.count; (*out)++) {
        batch_sums sums = {0};
        firn_status status = check_batch(work, &work->batches.items[*out], &sums, &problem);
        if (status == FIRN_OK) continue;
        if (status == FIRN_BLOCKED) return FIRN_OK;
        if (error != NULL) *error = problem;
        return status;
    }
    return FIRN_OK;
}

/* What could not be committed when the plan was made is not in it; another run may have brought what was lacking. */
static firn_status check_planned(firn_sync_work *work, const firn_sync_batch *batch,
                                 batch_sums *sums, firn_error *error) {
    FIRN_TRY(check_batch(work, batch, sums, error));
    if (batch->first + batch->count <= work->planned_count) return FIRN_OK;
    FIRN_TRY(firn_sync_prepare(work, error));
    return check_batch(work, batch, sums, error);
}

/* --- the ledger's part ------------------------------------------------------------------------- */

static int64_t next_sequence_number(const firn_table_metadata *metadata) {
    return metadata->format_version == 1 ? 0 : metadata->last_sequence_number + 1;
}

firn_status firn_sync_ledger_properties(firn_sync_work *work, firn_ledger_entries entries,
                                        int64_t snapshot_id, firn_arena *arena, json_t **out,
                                        const char **text, firn_error *error) {
    json_t *properties = json_object();
    if (properties == NULL) return firn_fail_memory(error);
    firn_status status =
        firn_ledger_write(work->ledger, work->table, work->journal, entries, snapshot_id,
                          next_sequence_number(work->table->metadata), arena, text, error);
    if (status == FIRN_OK) {
        const char *key = firn_ledger_property_key(work->table->ref, arena);
        status = key == NULL ? firn_fail_memory(error)
                             : firn_json_set_text(properties, key, *text, error);
    }
    if (status == FIRN_OK) {
        *out = properties;
    } else {
        json_decref(properties);
    }
    return status;
}

/* --- one commit -------------------------------------------------------------------------------- */

typedef struct append_run {
    firn_sync_work *work;
    const firn_sync_batch *batch;
    firn_manifest_batch *manifests;
    const firn_added_manifests *added;
    firn_arena *arena;           /* for the commit */
    firn_arena *scratch;         /* for one entry */
    FIRN_VECTOR(uint32_t) files; /* of work->files, that the manifests have */
    FIRN_VECTOR(const char *) units;
    FIRN_VECTOR(const char *) texts; /* of the ledger, one for each time the change was built */
    json_t *properties;
    firn_summary_item summary;
} append_run;

static firn_status add_entry(void *context, const firn_lake_footer *footer, firn_error *error) {
    append_run *run = context;
    firn_sync_work *work = run->work;
    firn_data_file file = {0};
    if (work->facts[footer->index].state != FIRN_SYNC_PENDING) return FIRN_OK;
    firn_sync_tell(work, "adding files", work->result->files_added + run->files.count,
                   work->new_count);
    FIRN_TRY(firn_cancel_check(error));
    firn_status status = firn_sync_entry(work, footer, run->scratch, &file, error);
    if (status == FIRN_OK) status = firn_manifest_batch_add(run->manifests, &file, error);
    firn_arena_clear(run->scratch);
    FIRN_TRY(status);
    return firn_vector_push(&run->files, error, (uint32_t)footer->index);
}

static firn_ledger_entry ledger_entry_at(const void *context, size_t index) {
    const append_run *run = context;
    const firn_sync_work *work = run->work;
    size_t file = run->files.items[index];
    return firn_sync_entry_of(work, &work->files[file], work->facts[file].rows);
}

/* Those of the batch's units of which all files are in the table once it is committed. */
static firn_status name_units(append_run *run, firn_error *error) {
    firn_sync_work *work = run->work;
    run->units.count = 0;
    for (size_t i = 0; i < run->batch->unit_count; i++) {
        const firn_sync_unit *unit = &work->units[run->batch->first_unit + i];
        if (firn_sync_has_bad_file(work, unit)) continue;
        FIRN_TRY(firn_vector_push(&run->units, error, work->listing.units[unit->unit].name));
    }
    return FIRN_OK;
}

/* The manifests hold as long as none of their files came in by another way. */
static firn_status check_moved(append_run *run, firn_error *error) {
    firn_sync_work *work = run->work;
    size_t pending = 0;
    FIRN_TRY(firn_sync_load_ledger(work, error));
    FIRN_TRY(firn_sync_drop_taken(work, error));
    for (size_t i = 0; i < run->batch->count; i++) {
        pending += work->facts[run->batch->first + i].state == FIRN_SYNC_PENDING ? 1 : 0;
    }
    if (pending == run->files.count && firn_sync_plan_holds(work)) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT,
                     "table %s: another writer added some of the same files, or changed the table, "
                     "meanwhile; run this again",
                     work->display_name);
}

/* Called again when others committed: what they added must not be added twice. */
static firn_status build_change(void *context, firn_table *table, bool moved,
                                firn_file_change *change, firn_error *error) {
    append_run *run = context;
    firn_sync_work *work = run->work;
    (void)table;
    if (moved) FIRN_TRY(check_moved(run, error));
    json_decref(run->properties);
    run->properties = NULL;
    const char *text = NULL;
    firn_ledger_entries entries = {run->files.count, ledger_entry_at, run};
    FIRN_TRY(firn_sync_ledger_properties(work, entries, run->added->snapshot_id, run->arena,
                                         &run->properties, &text, error));
    FIRN_TRY(firn_vector_push(&run->texts, error, text));
    FIRN_TRY(name_units(run, error));
    FIRN_TRY(firn_sync_add_to_property(work, run->units.items, run->units.count, run->arena,
                                       run->properties, error));
    run->summary = (firn_summary_item){FIRN_LEDGER_PROPERTY, text};
    *change = (firn_file_change){
        .operation = "append",
        .added_manifests = run->added,
        .properties = run->properties,
        .summary = &run->summary,
        .summary_count = 1,
    };
    return FIRN_OK;
}

static void note_ledger(const firn_sync_work *work) {
    firn_sync_result *result = work->result;
    result->ledger_written = result->ledger_made != FIRN_SYNC_LEDGER_KEPT;
}

firn_status firn_sync_note_commit(firn_sync_work *work, const firn_sync_commit *commit,
                                  firn_error *error) {
    work->adopted.count = 0;
    work->adopted_units.count = 0;
    work->ledger_grew = false;
    work->ledger_restored = true;
    note_ledger(work);
    return firn_vector_push(&work->result->commits, error, *commit);
}

static bool names_segment(const firn_ledger_property *property, const char *segment) {
    for (size_t i = 0; i < property->segment_count; i++) {
        if (strcmp(property->segments[i], segment) == 0) return true;
    }
    return false;
}

/* Segments that were written for states of the table that others then changed. What can't be deleted does no harm. */
static void remove_abandoned(const append_run *run) {
    firn_ledger_property last = {0}, earlier = {0};
    const firn_sync_work *work = run->work;
    size_t count = run->texts.count;
    if (count < 2) return;
    const char *text = run->texts.items[count - 1];
    if (firn_ledger_property_parse(text, run->arena, &last, NULL) != FIRN_OK) return;
    for (size_t i = 0; i + 1 < count; i++) {
        text = run->texts.items[i];
        if (firn_ledger_property_parse(text, run->arena, &earlier, NULL) != FIRN_OK) continue;
        for (size_t j = 0; j < earlier.segment_count; j++) {
            const char *segment = earlier.segments[j];
            bool ours = firn_journal_has(work->journal, segment);
            if (!ours || names_segment(&last, segment)) continue;
            (void)firn_storage_delete(work->storage, segment, NULL);
        }
    }
}

static firn_status append(append_run *run, const batch_sums *sums, firn_error *error) {
    firn_sync_work *work = run->work;
    firn_change_source source = {build_change, run};
    firn_commit_result result = {0};
    FIRN_TRY(
        firn_manifest_batch_new(work->table, firn_sync_memory(work, 4), &run->manifests, error));
    firn_manifest_batch_use_pool(run->manifests, work->options->pool);
    FIRN_TRY(firn_lake_footers_visit(work->footers, run->batch->first, run->batch->count, add_entry,
                                     run, error));
    FIRN_TRY(firn_manifest_batch_finish(run->manifests, work->journal, &run->added, error));
    FIRN_TRY(firn_table_commit_changes(work->table, work->journal, &source, &result, error));
    remove_abandoned(run);
    FIRN_TRY(firn_journal_done(work->journal, error));
    firn_sync_commit commit = {
        .snapshot_id = result.snapshot_id,
        .sequence_number = result.sequence_number,
        .units = sums->units,
        .files = sums->files,
        .rows = sums->rows,
        .bytes = sums->bytes,
    };
    return firn_sync_note_commit(work, &commit, error);
}

static firn_status run_append(firn_sync_work *work, const firn_sync_batch *batch,
                              const batch_sums *sums, firn_error *error) {
    append_run run = {.work = work, .batch = batch};
    firn_status status = FIRN_OK;
    run.arena = firn_arena_new();
    run.scratch = firn_arena_new();
    if (run.arena == NULL || run.scratch == NULL) {
        status = firn_fail_memory(error);
    } else {
        status = append(&run, sums, error);
    }
    firn_manifest_batch_free(run.manifests);
    firn_vector_release(&run.files);
    firn_vector_release(&run.units);
    firn_vector_release(&run.texts);
    json_decref(run.properties);
    firn_arena_free(run.arena);
    firn_arena_free(run.scratch);
    return status;
}

typedef struct batch_step {
    const firn_sync_batch *batch;
    batch_sums sums;
} batch_step;

static int64_t head_of(const firn_table *table) {
    return table == NULL || table->snapshot == NULL ? FIRN_NO_SNAPSHOT
                                                    : table->snapshot->snapshot_id;
}

/* The table is made or brought to what is planned. Whoever else found it meanwhile may have added files of ours. */
static firn_status ready_table(firn_sync_work *work, firn_error *error) {
    bool absent = work->table == NULL;
    int64_t before = head_of(work->table);
    if (absent) FIRN_TRY(firn_sync_create(work, error));
    if (!absent) FIRN_TRY(firn_sync_update_table(work, error));
    if (!absent && head_of(work->table) == before) return FIRN_OK;
    FIRN_TRY(firn_sync_follow(work, error));
    if (!work->must_update) return FIRN_OK;
    return firn_fail(error, FIRN_CONFLICT, "table %s: another writer changed it meanwhile",
                     work->display_name);
}

static firn_status try_batch(firn_sync_work *work, void *context, firn_error *error) {
    batch_step *step = context;
    FIRN_TRY(check_planned(work, step->batch, &step->sums, error));
    if (step->sums.files == 0) return FIRN_OK;
    FIRN_TRY(ready_table(work, error));
    FIRN_TRY(check_batch(work, step->batch, &step->sums, error));
    if (step->sums.files == 0) return FIRN_OK;
    return run_append(work, step->batch, &step->sums, error);
}

static void count_batch(firn_sync_work *work, const firn_sync_batch *batch,
                        const batch_sums *sums) {
    firn_sync_result *result = work->result;
    result->units_added += sums->units;
    result->files_added += sums->files;
    result->rows_added += sums->rows;
    result->bytes_added += sums->bytes;
    if (sums->expected >= 0) {
        if (result->rows_expected < 0) result->rows_expected = 0;
        result->rows_expected += sums->expected;
    }
    for (size_t i = batch->first; i < batch->first + batch->count; i++) {
        firn_sync_fact *fact = &work->facts[i];
        if (fact->state != FIRN_SYNC_PENDING) continue;
        fact->state = FIRN_SYNC_DONE;
        if (!fact->tuple->counted) result->partitions++;
        fact->tuple->counted = true;
        result->proved_by_footer += fact->proof == FIRN_LAKE_PROVED_BY_FOOTER ? 1 : 0;
        result->proved_by_column += fact->proof == FIRN_LAKE_PROVED_BY_COLUMN ? 1 : 0;
        result->asserted += fact->proof == FIRN_LAKE_ASSERTED ? 1 : 0;
    }
}

firn_status firn_sync_check_first_batch(firn_sync_work *work, firn_error *error) {
    batch_sums sums = {0};
    if (work->batches.count == 0) return firn_sync_refuse_unlisted(work, NULL, 0, error);
    FIRN_TRY(firn_sync_check_unit_names(work, error));
    return check_batch(work, &work->batches.items[0], &sums, error);
}

firn_status firn_sync_batches(firn_sync_work *work, firn_error *error) {
    for (size_t i = 0; i < work->batches.count; i++) {
        const firn_sync_batch *batch = &work->batches.items[i];
        batch_step step = {.batch = batch};
        work->next_batch = i;
        FIRN_TRY(firn_cancel_check(error));
        if (work->acts) {
            FIRN_TRY(firn_sync_try(work, try_batch, &step, error));
        } else {
            FIRN_TRY(check_planned(work, batch, &step.sums, error));
        }
        count_batch(work, batch, &step.sums);
        if (!work->acts || step.sums.files == 0) continue;
        /* After the last one there is nothing more to ask of the ledger. */
        work->unread_entries = step.sums.files;
        if (i + 1 < work->batches.count) FIRN_TRY(firn_sync_load_ledger(work, error));
    }
    return FIRN_OK;
}

/* --- what was adopted, when there is nothing to append ------------------------------------------ */

typedef struct ledger_update {
    firn_sync_work *work;
    firn_arena *arena;
    const char *text;
} ledger_update;

static firn_status build_ledger(void *context, const firn_table *table, firn_table_update *update,
                                firn_error *error) {
    ledger_update *run = context;
    firn_sync_work *work = run->work;
    const char *key = firn_ledger_property_key(table->ref, run->arena);
    if (key == NULL) return firn_fail_memory(error);
    const char *present = firn_table_metadata_property(table->metadata, key);
    int64_t head = table->snapshot == NULL ? 0 : table->snapshot->snapshot_id;
    json_t *properties = NULL;
    if (present != NULL && run->text != NULL && strcmp(present, run->text) == 0) return FIRN_OK;
    FIRN_TRY(firn_sync_ledger_properties(work, firn_ledger_entries_of(NULL, 0), head, run->arena,
                                         &properties, &run->text, error));
    return firn_update_set_properties(update, properties, error);
}

firn_status firn_sync_save_ledger(firn_sync_work *work, firn_error *error) {
    bool changed = false;
    if (!work->acts || !work->ledger_grew || work->table == NULL) return FIRN_OK;
    ledger_update run = {work, firn_arena_new(), NULL};
    if (run.arena == NULL) return firn_fail_memory(error);
    firn_update_source source = {build_ledger, &run};
    firn_status status =
        firn_table_commit_update(work->table, work->journal, &source, &changed, error);
    if (status == FIRN_OK) status = firn_journal_done(work->journal, error);
    if (status == FIRN_OK) {
        work->ledger_grew = false;
        work->ledger_restored = true;
        work->adopted.count = 0;
        note_ledger(work);
        status = firn_sync_load_ledger(work, error);
    }
    firn_arena_free(run.arena);
    return status;
}
