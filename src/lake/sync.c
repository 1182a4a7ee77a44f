#include "lake/sync.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/machine.h"
#include "lake/sync_internal.h"
#include "table/version_hint.h"

void firn_sync_result_release(firn_sync_result *result) {
    firn_vector_release(&result->bad);
    firn_vector_release(&result->replaced);
    firn_vector_release(&result->missing);
    firn_vector_release(&result->changed_units);
    firn_vector_release(&result->ignored);
    firn_vector_release(&result->surprises);
    firn_vector_release(&result->commits);
    firn_vector_release(&result->warnings);
    firn_table_metadata_free(result->metadata);
    firn_arena_free(result->arena);
    *result = (firn_sync_result){0};
}

void firn_sync_warn(const firn_sync_work *work, const char *format, ...) {
    char text[FIRN_ERROR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    firn_log_warning("table %s: %s", work->display_name, text);
    const char *kept = firn_arena_strdup(work->result->arena, text);
    if (kept != NULL) (void)firn_vector_push(&work->result->warnings, NULL, kept);
}

firn_status firn_sync_list(firn_sync_work *work, firn_error *error) {
    if (work->listing.arena != NULL) firn_lake_listing_release(&work->listing);
    work->result->ignored.count = 0;
    FIRN_TRY(firn_lake_list(work->storage, work->options->pool, &work->options->source,
                            &work->listing, error));
    firn_sync_result *result = work->result;
    result->files_listed = work->listing.file_count;
    result->units_listed = work->listing.unit_count;
    for (size_t i = 0; i < work->listing.ignored_count; i++) {
        firn_lake_ignored ignored = {firn_sync_keep(work, work->listing.ignored[i].location),
                                     work->listing.ignored[i].reason};
        if (ignored.location == NULL) return firn_fail_memory(error);
        FIRN_TRY(firn_vector_push(&result->ignored, error, ignored));
    }
    return FIRN_OK;
}

static firn_status prepare(firn_sync_work *work, void *context, firn_error *error) {
    (void)context;
    bool done = work->planned != NULL && firn_sync_plan_holds(work);
    return done ? FIRN_OK : firn_sync_prepare(work, error);
}

static firn_status read_footers(firn_sync_work *work, firn_error *error) {
    if (work->file_count == 0) return FIRN_OK;
    FIRN_TRY(firn_lake_footers_new(work->storage, work->options->pool, work->files,
                                   work->file_count, firn_sync_memory(work, 2), &work->footers,
                                   error));
    for (bool again = true; again;) {
        FIRN_TRY(firn_sync_cut_batches(work, error));
        FIRN_TRY(firn_sync_try(work, prepare, NULL, error));
        FIRN_TRY(firn_sync_choose_again(work, &again, error));
        if (again) firn_sync_plan_release(work);
    }
    return FIRN_OK;
}

static firn_status add(firn_sync_work *work, firn_error *error) {
    FIRN_TRY(firn_sync_classify(work, error));
    work->result->told_apart = true;
    FIRN_TRY(firn_sync_check_policies(work, error));
    FIRN_TRY(read_footers(work, error));
    work->result->creates = work->table == NULL && work->planned != NULL;
    /* What ends the run with the first batch ends it before the policies' commit. */
    FIRN_TRY(firn_sync_check_first_batch(work, error));
    FIRN_TRY(firn_sync_apply_policies(work, error));
    FIRN_TRY(firn_sync_batches(work, error));
    return firn_sync_save_ledger(work, error);
}

/* A ledger that was made anew is right whatever else the run refuses; the next one would stop without it. */
static void keep_rebuilt_ledger(firn_sync_work *work, firn_status status) {
    firn_error problem;
    firn_error_clear(&problem);
    if (status != FIRN_BLOCKED && status != FIRN_UNSAFE) return;
    if (!work->options->rebuild_ledger || work->ledger_restored || work->ledger == NULL) return;
    firn_status kept = firn_journal_discard(work->journal, work->storage, &problem);
    if (kept == FIRN_OK) kept = firn_sync_save_ledger(work, &problem);
    if (kept == FIRN_OK) {
        firn_sync_warn(work, "the ledger that was made anew was kept");
    } else {
        firn_sync_warn(work, "the ledger that was made anew can't be written: %s", problem.message);
    }
}

/* What single files don't name nobody looks for: the policy would never do anything. */
static firn_status check_missing_policy(const firn_sync_work *work, firn_error *error) {
    const firn_sync_options *options = work->options;
    bool idle = options->source.kind == FIRN_LAKE_PATHS && !work->listing.complete;
    if (options->once || !idle || options->on_missing == FIRN_LAKE_ERROR) return FIRN_OK;
    return firn_fail(
        error, FIRN_INVALID,
        "table %s: single files are named, beside which nothing is missed, so that "
        "--on-missing (on-missing in firn.yaml) could do nothing: name their folder, "
        "a pattern (--glob) or the whole list as a file (--from FILE), or leave it out",
        work->display_name);
}

/* An empty list may be all that is new; a folder or pattern without any file is more likely a slip. */
static void warn_of_nothing(const firn_sync_work *work) {
    const firn_lake_source *source = &work->options->source;
    bool listed = source->kind == FIRN_LAKE_LIST || source->kind == FIRN_LAKE_MANIFEST;
    if (work->listing.file_count > 0 || work->listing.bad_count > 0) return;
    if (work->table == NULL) {
        firn_sync_warn(work, "the source has no files, and the table is not there");
    } else if (!listed) {
        bool pattern = source->kind == FIRN_LAKE_GLOB;
        bool more = source->location_count > 1;
        firn_sync_warn(work, "there is no Parquet file %s %s%s", pattern ? "that matches" : "in",
                       source->locations[0], more ? " and the others that are named" : "");
    }
}

static firn_status run(firn_sync_work *work, firn_error *error) {
    FIRN_TRY(firn_lake_layout_new(work->options->rules, work->options->rule_count, &work->layout,
                                  error));
    FIRN_TRY(firn_sync_list(work, error));
    FIRN_TRY(check_missing_policy(work, error));
    FIRN_TRY(firn_sync_open_table(work, error));
    if (work->table != NULL) firn_sync_tell_wishes(work);
    warn_of_nothing(work);
    FIRN_TRY(firn_sync_load_ledger(work, error));
    if (work->ledger != NULL) {
        work->result->files_rolled_back = firn_ledger_rolled_back(work->ledger);
    }
    firn_status status = add(work, error);
    if (work->acts && work->table != NULL) keep_rebuilt_ledger(work, status);
    return status;
}

/* --- what the result says at the end, whatever became of the run --------------------------------- */

static size_t count_segments(const firn_sync_work *work) {
    firn_ledger_property property = {0};
    const char *key = firn_ledger_property_key(work->table->ref, work->result->arena);
    const char *text =
        key == NULL ? NULL : firn_table_metadata_property(work->table->metadata, key);
    if (text == NULL) return firn_ledger_segment_count(work->ledger);
    (void)firn_ledger_property_parse(text, work->result->arena, &property, NULL);
    return property.segment_count;
}

static void tell_table(firn_sync_work *work) {
    firn_sync_result *result = work->result;
    const firn_table_metadata *metadata = work->planned;
    if (metadata == NULL && work->table != NULL) metadata = work->table->metadata;
    if (work->acts && work->table != NULL) metadata = work->table->metadata;
    if (metadata != NULL) {
        (void)firn_table_metadata_from_json(json_incref(metadata->json), "the table",
                                            &result->metadata, NULL);
    }
    if (work->table == NULL) return;
    result->location = firn_sync_keep(work, work->table->metadata->location);
    result->metadata_location = firn_sync_keep(work, work->table->pointer.metadata_location);
    if (work->ledger == NULL) return;
    result->ledger_entries = firn_ledger_count(work->ledger) + work->unread_entries;
    result->ledger_segments = count_segments(work);
}

static void tell(firn_sync_work *work) {
    uint64_t files = 0, reads = 0;
    if (work->footers != NULL) firn_lake_footers_count(work->footers, &files, &reads);
    work->result->footers_read = (size_t)files;
    tell_table(work);
}

/* For readers that are given the table's folder; the commits stand whether or not it can be written. Without a commit of this run it may name what was current before one that a killed run made. */
static void write_hint(firn_sync_work *work) {
    firn_error problem;
    firn_error_clear(&problem);
    /* Without the journal another run has the table, and a file that a kill leaves behind would be nobody's. */
    if (!work->acts || work->table == NULL || work->journal == NULL) return;
    bool create = work->result->commits.count > 0;
    if (firn_table_refresh_version_hint(work->table, work->journal, create, &problem) == FIRN_OK)
        return;
    firn_sync_warn(work, "version-hint.text can't be written: %s", problem.message);
}

static void release(firn_sync_work *work, firn_status status) {
    if (work->journal != NULL) firn_journal_end(work->journal, work->storage, status);
    firn_journal_close(work->journal);
    firn_sync_plan_release(work);
    firn_lake_footers_free(work->footers);
    firn_lake_layout_free(work->layout);
    firn_ledger_free(work->ledger);
    firn_table_close(work->table);
    firn_map_free(work->walked);
    firn_map_free(work->acted_on);
    firn_map_free(work->bad_names);
    firn_map_free(work->bad_units);
    firn_vector_release(&work->adopted);
    firn_vector_release(&work->adopted_units);
    firn_vector_release(&work->untold);
    firn_vector_release(&work->batches);
    firn_vector_release(&work->replaced_files);
    firn_vector_release(&work->replaced_entries);
    firn_vector_release(&work->missing_entries);
    if (work->listing.arena != NULL) firn_lake_listing_release(&work->listing);
    firn_arena_free(work->arena);
}

firn_status firn_sync_run(firn_catalog *catalog, firn_storage *storage, firn_table_name name,
                          const char *display_name, const char *warehouse,
                          const firn_sync_options *options, bool acts, firn_sync_result *out,
                          firn_error *error) {
    *out = (firn_sync_result){.rows_expected = -1, .arena = firn_arena_new()};
    firn_sync_options given = *options;
    if (given.memory_bytes <= 0) given.memory_bytes = firn_machine_memory() / 4;
    firn_sync_work work = {.catalog = catalog,
                           .storage = storage,
                           .name = name,
                           .display_name = display_name,
                           .warehouse = warehouse,
                           .options = &given,
                           .acts = acts,
                           .result = out,
                           .arena = firn_arena_new()};
    firn_status status = FIRN_OK;
    /* Messages are kept as reasons: there must be one. */
    firn_error own;
    firn_error_clear(&own);
    if (out->arena == NULL || work.arena == NULL) {
        status = firn_fail_memory(&own);
    } else {
        status = run(&work, &own);
        write_hint(&work);
        tell(&work);
    }
    release(&work, status);
    if (status != FIRN_OK && error != NULL) *error = own;
    return status;
}
