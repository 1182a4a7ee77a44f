/** The order of an audit, and its findings. */
#include "lake/audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "lake/audit_internal.h"
#include "lake/schema_union.h"

#define MAPPING_KEY "schema.name-mapping.default"

void firn_audit_release(firn_audit *audit) {
    firn_vector_release(&audit->findings);
    firn_arena_free(audit->arena);
    *audit = (firn_audit){0};
}

firn_status firn_audit_add(firn_audit *out, firn_audit_kind kind, const char *file, bool fixable,
                           firn_error *error, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    /* The file is told beside the message. */
    size_t length = strlen(file);
    bool begins = strncmp(message, file, length) == 0 && strncmp(message + length, ": ", 2) == 0;
    const char *rest = begins ? message + length + 2 : message;
    firn_audit_finding finding = {kind, firn_arena_strdup(out->arena, file),
                                  firn_arena_strdup(out->arena, rest), fixable};
    if (finding.file == NULL || finding.message == NULL) return firn_fail_memory(error);
    out->counts[kind]++;
    return firn_vector_push(&out->findings, error, finding);
}

static bool tells_of_the_file(firn_status status) {
    return status == FIRN_NOT_FOUND || status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED ||
           status == FIRN_INVALID || status == FIRN_LIMIT || status == FIRN_IO ||
           status == FIRN_CONFLICT;
}

firn_status firn_audit_take(const firn_auditor *auditor, firn_status status,
                            const firn_error *problem, const char *file, firn_error *error) {
    firn_audit *out = auditor->out;
    const firn_table_metadata *table = auditor->table->metadata;
    if (status == FIRN_OK) return FIRN_OK;
    if (!tells_of_the_file(status)) {
        if (error != NULL) *error = *problem;
        return status;
    }
    /* What firn does not take is no fault of the table. */
    firn_audit_kind kind = status == FIRN_UNSUPPORTED ? FIRN_AUDIT_UNDECIDED : FIRN_AUDIT_MISSING;
    if (kind == FIRN_AUDIT_UNDECIDED) {
        return firn_audit_add(out, kind, file, false, error, "%s", problem->message);
    }
    return firn_audit_add(out, kind, file, false, error, "%s; %s", problem->message,
                          status == FIRN_NOT_FOUND ? firn_ledger_advice_missing(table)
                                                   : firn_ledger_advice_replaced(table));
}

static firn_status open_mappings(firn_auditor *auditor, firn_error *error) {
    const firn_table_metadata *metadata = auditor->table->metadata;
    firn_arena *arena = auditor->out->arena;
    const char *text = firn_table_metadata_property(metadata, MAPPING_KEY);
    char *whole = NULL;
    if (text != NULL) {
        firn_status status = firn_name_mapping_parse(text, arena, &auditor->mapping, error);
        FIRN_TRY(firn_error_wrap(error, status, "property %s", MAPPING_KEY));
    }
    FIRN_TRY(firn_name_mapping_for(metadata->schema, auditor->mapping, &whole, error));
    firn_status status = firn_name_mapping_parse(whole, arena, &auditor->whole, error);
    firn_free(whole);
    return status;
}

static firn_status open_deletes(firn_auditor *auditor, firn_error *error) {
    const firn_live_files *files = &auditor->files;
    const firn_manifest_entry **entries =
        firn_arena_alloc(auditor->out->arena, files->delete_count, sizeof *entries);
    if (entries == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < files->delete_count; i++) entries[i] = &files->deletes[i].entry;
    return firn_delete_index_new(auditor->table->metadata, entries, files->delete_count,
                                 &auditor->deletes, error);
}

/** One finding for all: what is to be done is one thing. */
static firn_status tell_unmapped(firn_auditor *auditor, firn_error *error) {
    if (auditor->unmapped == 0) return FIRN_OK;
    return firn_audit_add(
        auditor->out, FIRN_AUDIT_MAPPING, auditor->first_unmapped, true, error,
        "%zu file%s (this is the first one) tell%s columns by their names, and the table's %s "
        "%s: readers find nulls or nothing",
        auditor->unmapped, firn_plural(auditor->unmapped), auditor->unmapped == 1 ? "s" : "",
        MAPPING_KEY, auditor->mapping == NULL ? "is not set" : "lacks some of them");
}

firn_status firn_auditor_run(firn_auditor *auditor, firn_table *table,
                             const firn_audit_options *options, firn_audit *out,
                             firn_error *error) {
    *auditor = (firn_auditor){.table = table, .options = options, .out = out};
    *out = (firn_audit){.arena = firn_arena_new()};
    auditor->classes = firn_map_new();
    auditor->scratch = firn_arena_new();
    if (out->arena == NULL || auditor->classes == NULL || auditor->scratch == NULL) {
        return firn_fail_memory(error);
    }
    firn_status status = open_mappings(auditor, error);
    FIRN_TRY(firn_table_error_wrap(table, status, error));
    FIRN_TRY(firn_table_live_files(table, table->snapshot, &auditor->files, error));
    FIRN_TRY(open_deletes(auditor, error));
    FIRN_TRY(firn_audit_list_files(auditor, error));
    FIRN_TRY(firn_audit_look_into_files(auditor, error));
    return tell_unmapped(auditor, error);
}

void firn_auditor_release(firn_auditor *auditor) {
    firn_live_files_release(&auditor->files);
    firn_map_free(auditor->classes);
    firn_delete_index_free(auditor->deletes);
    firn_arena_free(auditor->scratch);
    *auditor = (firn_auditor){0};
}

firn_status firn_audit_table(firn_table *table, const firn_audit_options *options, firn_audit *out,
                             firn_error *error) {
    firn_auditor auditor;
    firn_status status = firn_auditor_run(&auditor, table, options, out, error);
    firn_auditor_release(&auditor);
    return status;
}
