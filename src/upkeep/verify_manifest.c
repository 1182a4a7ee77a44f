/** Manifest lists and manifests: whether they are there, and agree with each other. */
#include <math.h>

#include "base/cancel.h"
#include "upkeep/verify_internal.h"

typedef struct manifest_walk {
    firn_verifier *verifier;
    const firn_manifest_file *manifest;
    const firn_partition_spec *spec;
    int64_t files[3], rows[3]; /* by status */
    int64_t least_sequence_number;
    bool summary_wrong, sequence_wrong; /* said already */
} manifest_walk;

static firn_status say(manifest_walk *walk, firn_error *error, const char *kind, const char *what,
                       const char *file) {
    return firn_verify_add(walk->verifier->out, error, FIRN_VERIFY_ERROR, kind,
                           walk->manifest->path, FIRN_VERIFY_WRITER, "%s (file %s)", what, file);
}

static bool is_nan(const firn_value *value) {
    return (value->kind == FIRN_TYPE_FLOAT && isnan(value->as.float32)) ||
           (value->kind == FIRN_TYPE_DOUBLE && isnan(value->as.float64));
}

/** What can't be decoded is left to the readers: they don't prune by it. */
static bool outside(const firn_type *type, firn_slice bound, const firn_value *value, int sign) {
    firn_value decoded;
    if (bound.data == NULL || type == NULL || type->kind == FIRN_TYPE_UUID) return false;
    if (firn_value_from_bytes(type, bound, &decoded, NULL) != FIRN_OK) return false;
    if (decoded.kind != value->kind || is_nan(&decoded)) return false;
    return sign * firn_value_compare(value, &decoded) > 0;
}

static const char *summary_fault(const firn_partition_summary *summary,
                                 const firn_partition_field *field, const firn_value *value) {
    if (value->is_null) {
        return summary->contains_null ? NULL
                                      : "a partition value is null, and the summary of the "
                                        "manifest list says that none is";
    }
    if (is_nan(value)) {
        bool denied = summary->has_contains_nan && !summary->contains_nan;
        return denied ? "a partition value is NaN, and the summary of the manifest list says that "
                        "none is"
                      : NULL;
    }
    if (outside(field->result_type, summary->lower_bound, value, -1) ||
        outside(field->result_type, summary->upper_bound, value, 1)) {
        return "a partition value lies outside the bounds in the manifest list's summary";
    }
    return NULL;
}

static firn_status check_summaries(manifest_walk *walk, const firn_data_file *file,
                                   firn_error *error) {
    const firn_manifest_file *manifest = walk->manifest;
    if (manifest->partitions == NULL || walk->spec == NULL || walk->summary_wrong) return FIRN_OK;
    size_t count = walk->spec->field_count;
    if (manifest->partition_count < count) count = manifest->partition_count;
    for (size_t i = 0; i < count && i < file->partition_count; i++) {
        const char *fault =
            summary_fault(&manifest->partitions[i], &walk->spec->fields[i], &file->partition[i]);
        if (fault == NULL) continue;
        walk->summary_wrong = true;
        return say(walk, error, "summaries", fault, file->path);
    }
    return FIRN_OK;
}

static firn_status check_sequence(manifest_walk *walk, const firn_manifest_entry *entry,
                                  firn_error *error) {
    if (!entry->has_sequence_number || !entry->has_file_sequence_number || walk->sequence_wrong) {
        return FIRN_OK;
    }
    const char *fault = NULL;
    if (entry->sequence_number > entry->file_sequence_number) {
        fault = "its data sequence number is above its file sequence number";
    } else if (entry->file_sequence_number > walk->manifest->sequence_number) {
        fault = "its file sequence number is above the manifest's sequence number";
    } else if (entry->sequence_number < walk->manifest->min_sequence_number) {
        fault = "its data sequence number is below min_sequence_number of the manifest list";
    }
    if (fault == NULL) return FIRN_OK;
    walk->sequence_wrong = true;
    return say(walk, error, "sequence", fault, entry->file.path);
}

static firn_status remember(manifest_walk *walk, const firn_data_file *file, firn_error *error) {
    firn_verifier *verifier = walk->verifier;
    char place[64];
    snprintf(place, sizeof place, "@%lld+%lld",
             (long long)(file->has_content_offset ? file->content_offset : 0),
             (long long)file->file_size_in_bytes);
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 20);
    firn_verify_file added = {.current = verifier->current};
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_buffer_append_text(&key, file->path, error));
    FIRN_CHECK(firn_buffer_append_text(&key, place, error));
    if (firn_map_has(verifier->paths, firn_buffer_slice(&key))) goto out;
    FIRN_CHECK(firn_map_set(verifier->paths, firn_buffer_slice(&key), verifier, error));
    const firn_data_file *like =
        verifier->files.count == 0 ? NULL : &verifier->files.items[verifier->files.count - 1].file;
    FIRN_CHECK(firn_data_file_copy_like(file, like, verifier->out->arena, &added.file, error));
    FIRN_CHECK(firn_vector_push(&verifier->files, error, added));
out:
    firn_buffer_release(&key);
    return status;
}

static firn_status visit(void *context, const firn_manifest_entry *entry, firn_error *error) {
    manifest_walk *walk = context;
    walk->files[entry->status]++;
    if (__builtin_add_overflow(walk->rows[entry->status], entry->file.record_count,
                               &walk->rows[entry->status])) {
        return firn_fail(error, FIRN_CORRUPT, "record_count of its entries is beyond 2^63");
    }
    /* An expired snapshot may have taken its removed files along. */
    if (entry->status == FIRN_ENTRY_DELETED) return FIRN_OK;
    FIRN_TRY(check_summaries(walk, &entry->file, error));
    if (walk->verifier->table->metadata->format_version > 1) {
        FIRN_TRY(check_sequence(walk, entry, error));
    }
    return remember(walk, &entry->file, error);
}

static firn_status check_count(manifest_walk *walk, const char *what, int64_t counted,
                               int64_t found, firn_error *error) {
    if (counted < 0 || counted == found) return FIRN_OK;
    return firn_verify_add(walk->verifier->out, error, FIRN_VERIFY_ERROR, "counts",
                           walk->manifest->path, FIRN_VERIFY_WRITER,
                           "the manifest list counts %lld %s, and it has %lld", (long long)counted,
                           what, (long long)found);
}

static firn_status check_counts(manifest_walk *walk, firn_error *error) {
    const firn_manifest_file *m = walk->manifest;
    FIRN_TRY(check_count(walk, "added files", m->added_files_count, walk->files[FIRN_ENTRY_ADDED],
                         error));
    FIRN_TRY(check_count(walk, "existing files", m->existing_files_count,
                         walk->files[FIRN_ENTRY_EXISTING], error));
    FIRN_TRY(check_count(walk, "deleted files", m->deleted_files_count,
                         walk->files[FIRN_ENTRY_DELETED], error));
    FIRN_TRY(
        check_count(walk, "added rows", m->added_rows_count, walk->rows[FIRN_ENTRY_ADDED], error));
    FIRN_TRY(check_count(walk, "existing rows", m->existing_rows_count,
                         walk->rows[FIRN_ENTRY_EXISTING], error));
    return check_count(walk, "deleted rows", m->deleted_rows_count, walk->rows[FIRN_ENTRY_DELETED],
                       error);
}

firn_status firn_verify_manifest(firn_verifier *verifier, const firn_manifest_file *manifest,
                                 firn_error *error) {
    bool exists = false;
    if (firn_map_has_text(verifier->manifests, manifest->path)) return FIRN_OK;
    FIRN_TRY(firn_map_set_text(verifier->manifests, manifest->path, verifier, error));
    FIRN_TRY(firn_cancel_check(error));
    verifier->out->manifests++;
    FIRN_TRY(firn_verify_exists(verifier->table, verifier->out, "a manifest", manifest->path,
                                manifest->length, FIRN_VERIFY_ERROR, false, &exists, error));
    if (!exists) return FIRN_OK;
    manifest_walk walk = {.verifier = verifier, .manifest = manifest};
    walk.spec = firn_table_metadata_spec(verifier->table->metadata, manifest->partition_spec_id);
    firn_error problem;
    firn_error_clear(&problem);
    firn_status status =
        firn_table_read_manifest(verifier->table, manifest, NULL, visit, &walk, &problem);
    if (status != FIRN_OK) {
        return firn_verify_take(verifier->out, status, &problem, "unreadable", manifest->path,
                                FIRN_VERIFY_RESTORE, error);
    }
    return check_counts(&walk, error);
}

firn_status firn_verify_snapshot(firn_verifier *verifier, const firn_snapshot *snapshot,
                                 firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_manifest_file *manifests = NULL;
    size_t count = 0;
    bool exists = true;
    firn_error problem;
    firn_error_clear(&problem);
    if (snapshot->manifest_list != NULL) {
        verifier->out->manifest_lists++;
        FIRN_TRY(firn_verify_exists(verifier->table, verifier->out, "a manifest list",
                                    snapshot->manifest_list, -1, FIRN_VERIFY_ERROR, false, &exists,
                                    error));
    }
    if (!exists) return FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    status = firn_table_manifests(verifier->table, snapshot, arena, &manifests, &count, &problem);
    FIRN_CHECK(firn_verify_take(verifier->out, status, &problem, "unreadable",
                                snapshot->manifest_list, FIRN_VERIFY_RESTORE, error));
    for (size_t i = 0; i < count; i++) {
        if (manifests[i].sequence_number > snapshot->sequence_number) {
            FIRN_CHECK(
                firn_verify_add(verifier->out, error, FIRN_VERIFY_ERROR, "sequence",
                                snapshot->manifest_list, FIRN_VERIFY_WRITER,
                                "manifest %s has sequence number %lld, above the snapshot's %lld",
                                manifests[i].path, (long long)manifests[i].sequence_number,
                                (long long)snapshot->sequence_number));
        }
        FIRN_CHECK(firn_verify_manifest(verifier, &manifests[i], error));
    }
out:
    firn_arena_free(arena);
    return status;
}
