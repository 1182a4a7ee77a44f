/** The order of the checks, and how a fault becomes a finding. */
#include "upkeep/verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cancel.h"
#include "base/plural.h"
#include "upkeep/verify_internal.h"

void firn_verification_release(firn_verification *verification) {
    firn_vector_release(&verification->findings);
    firn_arena_free(verification->arena);
    *verification = (firn_verification){0};
}

firn_status firn_verify_add(firn_verification *out, firn_error *error,
                            firn_verify_severity severity, const char *kind, const char *file,
                            const char *advice, const char *format, ...) {
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    firn_verify_finding finding = {severity, kind, NULL, NULL, advice};
    finding.message = firn_arena_strdup(out->arena, message);
    if (file != NULL) finding.file = firn_arena_strdup(out->arena, file);
    if (finding.message == NULL || (file != NULL && finding.file == NULL)) {
        return firn_fail_memory(error);
    }
    out->counts[severity]++;
    return firn_vector_push(&out->findings, error, finding);
}

void firn_verify_forget(firn_verification *out, size_t first) {
    for (size_t i = first; i < out->findings.count; i++)
        out->counts[out->findings.items[i].severity]--;
    if (out->findings.count > first) out->findings.count = first;
}

static bool tells_of_the_file(firn_status status) {
    return status == FIRN_NOT_FOUND || status == FIRN_CORRUPT || status == FIRN_UNSUPPORTED ||
           status == FIRN_INVALID || status == FIRN_LIMIT || status == FIRN_IO;
}

firn_status firn_verify_take(firn_verification *out, firn_status status, firn_error *problem,
                             const char *kind, const char *file, const char *advice,
                             firn_error *error) {
    if (status == FIRN_OK) return FIRN_OK;
    if (!tells_of_the_file(status)) {
        if (error != NULL) *error = *problem;
        return status;
    }
    /* What firn does not take is no fault of the table. */
    firn_verify_severity severity =
        status == FIRN_UNSUPPORTED ? FIRN_VERIFY_NOTE : FIRN_VERIFY_ERROR;
    return firn_verify_add(out, error, severity, status == FIRN_UNSUPPORTED ? "unsupported" : kind,
                           file,
                           severity == FIRN_VERIFY_NOTE ? "nothing: it was not looked at" : advice,
                           "%s", problem->message);
}

firn_status firn_verify_exists(firn_table *table, firn_verification *out, const char *what,
                               const char *path, int64_t size, firn_verify_severity severity,
                               bool is_data, bool *exists, firn_error *error) {
    const char *missing =
        is_data ? firn_ledger_advice_missing(table->metadata) : FIRN_VERIFY_RESTORE;
    const char *replaced =
        is_data ? firn_ledger_advice_replaced(table->metadata) : FIRN_VERIFY_RESTORE;
    firn_storage_stat stat = {0};
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status = firn_storage_stat_file(table->storage, path, &stat, &problem);
    *exists = status == FIRN_OK;
    if (status == FIRN_NOT_FOUND) {
        return firn_verify_add(out, error, severity, "missing", path, missing, "%s is not there",
                               what);
    }
    if (status != FIRN_OK) {
        return firn_verify_take(out, status, &problem, "unreadable", path, FIRN_VERIFY_RESTORE,
                                error);
    }
    if (size < 0 || stat.size == (uint64_t)size) return FIRN_OK;
    return firn_verify_add(out, error, severity, "size", path, replaced,
                           "%s has %llu byte%s, and %lld are recorded", what,
                           (unsigned long long)stat.size, firn_plural(stat.size), (long long)size);
}

static bool is_of_a_ref(const firn_table *table, const firn_snapshot *snapshot) {
    const firn_table_metadata *metadata = table->metadata;
    if (table->snapshot != NULL && table->snapshot->snapshot_id == snapshot->snapshot_id) {
        return true;
    }
    for (size_t i = 0; i < metadata->ref_count; i++) {
        if (metadata->refs[i].snapshot_id == snapshot->snapshot_id) return true;
    }
    return false;
}

/* Those of refs or the others. */
static firn_status verify_some(firn_verifier *verifier, bool of_refs, firn_error *error) {
    const firn_table *table = verifier->table;
    verifier->current = of_refs;
    for (size_t i = 0; i < table->metadata->snapshot_count; i++) {
        const firn_snapshot *snapshot = &table->metadata->snapshots[i];
        if (is_of_a_ref(table, snapshot) != of_refs) continue;
        FIRN_TRY(firn_verify_snapshot(verifier, snapshot, error));
    }
    return FIRN_OK;
}

static firn_status verify_snapshots(firn_verifier *verifier, firn_error *error) {
    const firn_table *table = verifier->table;
    verifier->current = true;
    if (verifier->options->one_ref) {
        return table->snapshot == NULL ? FIRN_OK
                                       : firn_verify_snapshot(verifier, table->snapshot, error);
    }
    FIRN_TRY(verify_some(verifier, true, error));
    return verify_some(verifier, false, error);
}

static firn_status verify_refs(firn_verifier *verifier, firn_error *error) {
    const firn_table *table = verifier->table;
    const firn_table_metadata *metadata = table->metadata;
    if (verifier->options->one_ref) {
        return firn_verify_live(verifier, table->snapshot, table->ref, error);
    }
    for (size_t i = 0; i < metadata->ref_count; i++) {
        const firn_snapshot_ref *ref = &metadata->refs[i];
        FIRN_TRY(firn_verify_live(
            verifier, firn_table_metadata_snapshot(metadata, ref->snapshot_id), ref->name, error));
    }
    return FIRN_OK;
}

firn_status firn_verify_table(firn_table *table, const firn_verify_options *options,
                              firn_verification *out, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_verifier verifier = {.table = table, .options = options, .out = out};
    *out = (firn_verification){0};
    out->arena = firn_arena_new();
    verifier.manifests = firn_map_new();
    verifier.paths = firn_map_new();
    if (out->arena == NULL || verifier.manifests == NULL || verifier.paths == NULL) {
        status = firn_fail_memory(error);
        goto out;
    }
    FIRN_CHECK(firn_verify_metadata(&verifier, error));
    FIRN_CHECK(verify_snapshots(&verifier, error));
    FIRN_CHECK(firn_verify_files(&verifier, error));
    FIRN_CHECK(verify_refs(&verifier, error));
out:
    firn_vector_release(&verifier.files);
    firn_map_free(verifier.manifests);
    firn_map_free(verifier.paths);
    return status;
}
