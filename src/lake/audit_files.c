/** One file after the other: its footer against what the manifest says. */
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/machine.h"
#include "base/plural.h"
#include "lake/audit_internal.h"

static bool same_columns(const firn_lake_columns *a, const firn_lake_columns *b) {
    return a->leaf_count == b->leaf_count &&
           memcmp(a->field_ids, b->field_ids, a->leaf_count * sizeof *a->field_ids) == 0;
}

static firn_status columns_by(const firn_auditor *auditor, const firn_name_mapping *mapping,
                              const firn_lake_footer *footer, firn_lake_columns *out,
                              firn_error *error) {
    const firn_table_metadata *metadata = auditor->table->metadata;
    return firn_lake_columns_of(metadata->schema, mapping, metadata->format_version,
                                footer->parquet, footer->file->location, auditor->out->arena, out,
                                error);
}

/** The table's own mapping is asked first; where that does not do, whether a whole one would. */
static firn_status make_class(const firn_auditor *auditor, const firn_lake_footer *footer,
                              firn_audit_class *out, firn_error *error) {
    firn_lake_columns own;
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = columns_by(auditor, auditor->whole, footer, &out->columns, &problem);
    if (status == FIRN_OK) {
        status = columns_by(auditor, auditor->mapping, footer, &own, &problem);
        if (status == FIRN_NO_MEMORY) return firn_fail_memory(error);
        out->unmapped = status != FIRN_OK || !same_columns(&own, &out->columns);
        return FIRN_OK;
    }
    if (status != FIRN_INVALID && status != FIRN_UNSUPPORTED && status != FIRN_CORRUPT) {
        if (error != NULL) *error = problem;
        return status;
    }
    out->problem = firn_arena_strdup(auditor->out->arena, problem.message);
    return out->problem == NULL ? firn_fail_memory(error) : FIRN_OK;
}

static firn_status class_of(firn_auditor *auditor, const firn_lake_footer *footer,
                            const firn_audit_class **out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 30);
    FIRN_CHECK(firn_lake_columns_key(footer->parquet, &key, error));
    firn_audit_class *found = firn_map_get(auditor->classes, firn_buffer_slice(&key), NULL);
    if (found == NULL) {
        found = firn_arena_alloc(auditor->out->arena, 1, sizeof *found);
        if (found == NULL) FIRN_CHECK(firn_fail_memory(error));
        FIRN_CHECK(make_class(auditor, footer, found, error));
        FIRN_CHECK(firn_map_set(auditor->classes, firn_buffer_slice(&key), found, error));
    }
    *out = found;
out:
    firn_buffer_release(&key);
    return status;
}

/** A file that is another one than it was: nothing else that is said of it can be right. */
static firn_status check_rows(firn_auditor *auditor, const firn_lake_footer *footer,
                              const firn_data_file *file, bool *same, firn_error *error) {
    int64_t rows = footer->parquet->metadata->num_rows;
    *same = rows == file->record_count && footer->file->size == file->file_size_in_bytes;
    if (*same) return FIRN_OK;
    return firn_audit_add(auditor->out, FIRN_AUDIT_ROWS, file->path, false, error,
                          "has %lld row%s in %lld byte%s, and the table records %lld in %lld: the "
                          "file was replaced, or its writer miscounted; %s",
                          (long long)rows, firn_plural((uint64_t)rows),
                          (long long)footer->file->size, firn_plural((uint64_t)footer->file->size),
                          (long long)file->record_count, (long long)file->file_size_in_bytes,
                          firn_ledger_advice_replaced(auditor->table->metadata));
}

static void count_unmapped(firn_auditor *auditor, const char *path) {
    if (auditor->unmapped++ == 0) auditor->first_unmapped = path;
}

static firn_status keep_fixed(firn_auditor *auditor, firn_audit_file *file, firn_error *error) {
    if (!file->changed) return FIRN_OK;
    firn_arena *arena = auditor->out->arena;
    firn_data_file *fixed = firn_arena_alloc(arena, 1, sizeof *fixed);
    if (fixed == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_data_file_copy(&file->fixed, arena, fixed, error));
    file->entry->fixed = fixed;
    return FIRN_OK;
}

static firn_status check_file(firn_auditor *auditor, const firn_lake_footer *footer,
                              firn_audit_entry *entry, firn_error *error) {
    const firn_data_file *file = &entry->live->entry.file;
    const firn_audit_class *class = NULL;
    bool same = false;
    FIRN_TRY(check_rows(auditor, footer, file, &same, error));
    if (!same) return FIRN_OK;
    FIRN_TRY(class_of(auditor, footer, &class, error));
    if (class->problem != NULL) {
        return firn_audit_add(auditor->out, FIRN_AUDIT_SCHEMA, file->path, false, error, "%s",
                              class->problem);
    }
    if (class->unmapped) count_unmapped(auditor, file->path);
    firn_audit_file looked = {.file = footer->file,
                              .parquet = footer->parquet,
                              .columns = &class->columns,
                              .entry = entry,
                              .fixed = *file};
    FIRN_TRY(firn_audit_partition(auditor, &looked, error));
    FIRN_TRY(firn_audit_bounds(auditor, &looked, error));
    return keep_fixed(auditor, &looked, error);
}

static firn_status visit(void *context, const firn_lake_footer *footer, firn_error *error) {
    firn_auditor *auditor = context;
    firn_error problem;
    const char *path = footer->file->location;
    FIRN_TRY(firn_cancel_check(error));
    firn_arena_clear(auditor->scratch);
    if (footer->parquet == NULL) {
        return firn_audit_take(auditor, footer->status, footer->error, path, error);
    }
    auditor->out->footers++;
    firn_error_clear(&problem);
    firn_audit_entry *entry = &auditor->entries[auditor->heads[footer->index]];
    firn_status status = check_file(auditor, footer, entry, &problem);
    return firn_audit_take(auditor, status, &problem, path, error);
}

firn_status firn_audit_look_into_files(firn_auditor *auditor, firn_error *error) {
    firn_lake_footers *footers = NULL;
    const firn_audit_options *options = auditor->options;
    int64_t memory = options->memory_bytes > 0 ? options->memory_bytes : firn_machine_memory() / 4;
    firn_status status =
        firn_lake_footers_new(auditor->table->storage, options->pool, auditor->listed,
                              auditor->listed_count, (size_t)memory, &footers, error);
    if (status == FIRN_OK) {
        status = firn_lake_footers_visit(footers, 0, auditor->listed_count, visit, auditor, error);
    }
    firn_lake_footers_free(footers);
    return status;
}
