/** The summary of a new snapshot (specification, "Snapshots" and "Optional Snapshot Summary Fields"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "firn/version.h"
#include "table/commit_internal.h"
#include "table/ledger_property.h"

typedef struct side_totals {
    int64_t data_files, delete_files, position_files, vectors, equality_files;
    int64_t records, position_deletes, equality_deletes, bytes;
} side_totals;

/** A file that holds many vectors counts by their parts, as Iceberg's own library counts it. */
static void count_file(side_totals *totals, const firn_data_file *file) {
    totals->bytes += firn_data_file_is_vector(file) && file->has_content_offset
                         ? file->content_size_in_bytes
                         : file->file_size_in_bytes;
    if (file->content == FIRN_CONTENT_DATA) {
        totals->data_files++;
        totals->records += file->record_count;
        return;
    }
    totals->delete_files++;
    if (file->content == FIRN_CONTENT_POSITION_DELETES) {
        totals->position_files += firn_data_file_is_vector(file) ? 0 : 1;
        totals->vectors += firn_data_file_is_vector(file) ? 1 : 0;
        totals->position_deletes += file->record_count;
    } else {
        totals->equality_files++;
        totals->equality_deletes += file->record_count;
    }
}

static firn_status count_manifests(side_totals *totals, const firn_added_manifests *added,
                                   firn_error *error) {
    if (added == NULL) return FIRN_OK;
    if (!__builtin_add_overflow(totals->data_files, added->files, &totals->data_files) &&
        !__builtin_add_overflow(totals->records, added->records, &totals->records) &&
        !__builtin_add_overflow(totals->bytes, added->bytes, &totals->bytes)) {
        return FIRN_OK;
    }
    return firn_fail(error, FIRN_INVALID, "rows or bytes of the added files are out of range");
}

static firn_status set_number(json_t *summary, const char *key, int64_t number, firn_error *error) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    return firn_json_set_text(summary, key, text, error);
}

static firn_status set_positive(json_t *summary, const char *key, int64_t number,
                                firn_error *error) {
    return number > 0 ? set_number(summary, key, number, error) : FIRN_OK;
}

/** A total is the parent's plus the change; where the parent has none it can't be known and is left out. */
static firn_status set_total(json_t *summary, const firn_snapshot *parent, const char *key,
                             int64_t change, firn_error *error) {
    int64_t before = 0;
    if (parent != NULL) {
        const char *text = json_string_value(json_object_get(parent->summary, key));
        char *end = NULL;
        if (text == NULL || *text == '\0') return FIRN_OK;
        before = strtoll(text, &end, 10);
        if (*end != '\0') return FIRN_OK;
    }
    int64_t after = 0;
    if (__builtin_add_overflow(before, change, &after) || after < 0) return FIRN_OK;
    return set_number(summary, key, after, error);
}

static firn_status partition_key(const firn_data_file *file, firn_buffer *key, firn_error *error) {
    firn_buffer_clear(key);
    FIRN_TRY(firn_buffer_append(key, &file->spec_id, sizeof file->spec_id, error));
    return firn_value_key(file->partition, file->partition_count, key, error);
}

static firn_status count_partition(firn_map *seen, const firn_data_file *file, firn_buffer *key,
                                   firn_error *error) {
    FIRN_TRY(partition_key(file, key, error));
    return firn_map_set(seen, firn_buffer_slice(key), NULL, error);
}

/** Counts those partitions of `seen` that files of the added manifests are in as well. */
typedef struct overlap {
    firn_map *seen;
    firn_buffer key;
    size_t count;
} overlap;

static firn_status count_overlap(void *context, const firn_manifest_entry *entry,
                                 firn_error *error) {
    overlap *both = context;
    bool found = false;
    FIRN_TRY(partition_key(&entry->file, &both->key, error));
    firn_slice key = firn_buffer_slice(&both->key);
    const void *counted = firn_map_get(both->seen, key, &found);
    if (!found || counted != NULL) return FIRN_OK;
    both->count++;
    return firn_map_set(both->seen, key, both, error);
}

/** Only where files of both kinds meet are manifests read again: their partitions are too many to be kept. */
static firn_status added_partitions(const firn_commit_work *work, firn_map *seen, size_t *out,
                                    firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_added_manifests *added = work->change.added_manifests;
    overlap both = {.seen = seen, .key = firn_buffer_with_maximum((size_t)1 << 30)};
    *out = 0;
    if (added == NULL) return FIRN_OK;
    for (size_t i = 0; firn_map_count(seen) > 0 && i < added->count; i++) {
        FIRN_CHECK(firn_table_read_manifest(work->table, &added->manifests[i], NULL, count_overlap,
                                            &both, error));
    }
    *out = (size_t)added->partitions - both.count;
out:
    firn_buffer_release(&both.key);
    return status;
}

static firn_status changed_partitions(const firn_commit_work *work, size_t *out,
                                      firn_error *error) {
    const firn_file_change *change = &work->change;
    size_t more = 0;
    firn_status status = FIRN_OK;
    firn_buffer key = firn_buffer_with_maximum((size_t)1 << 30);
    firn_map *seen = firn_map_new();
    if (seen == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < change->added_count; i++) {
        FIRN_CHECK(count_partition(seen, &change->added[i].file, &key, error));
    }
    for (size_t i = 0; i < change->restated_count; i++) {
        FIRN_CHECK(count_partition(seen, &change->restated[i].file, &key, error));
    }
    for (size_t i = 0; i < change->removed_count; i++) {
        FIRN_CHECK(count_partition(seen, &change->removed[i]->entry.file, &key, error));
    }
    FIRN_CHECK(added_partitions(work, seen, &more, error));
    *out = firn_map_count(seen) + more;
out:
    firn_buffer_release(&key);
    firn_map_free(seen);
    return status;
}

static firn_status set_changes(json_t *summary, const side_totals *added,
                               const side_totals *removed, firn_error *error) {
    const struct {
        const char *key;
        int64_t number;
    } numbers[] = {
        {"added-data-files", added->data_files},
        {"deleted-data-files", removed->data_files},
        {"added-delete-files", added->delete_files},
        {"removed-delete-files", removed->delete_files},
        {"added-position-delete-files", added->position_files},
        {"removed-position-delete-files", removed->position_files},
        {"added-dvs", added->vectors},
        {"removed-dvs", removed->vectors},
        {"added-equality-delete-files", added->equality_files},
        {"removed-equality-delete-files", removed->equality_files},
        {"added-position-deletes", added->position_deletes},
        {"removed-position-deletes", removed->position_deletes},
        {"added-equality-deletes", added->equality_deletes},
        {"removed-equality-deletes", removed->equality_deletes},
        {"added-records", added->records},
        {"deleted-records", removed->records},
        {"added-files-size", added->bytes},
        {"removed-files-size", removed->bytes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        FIRN_TRY(set_positive(summary, numbers[i].key, numbers[i].number, error));
    }
    return FIRN_OK;
}

/** How the manifests came about; what "processed" means is not said, so that is left out. */
static firn_status set_manifests(json_t *summary, const firn_commit_work *work, firn_error *error) {
    size_t created = firn_commit_added_count(work);
    for (size_t i = 0; i < work->written.count; i++) {
        created += work->written.items[i].used ? 1 : 0;
    }
    FIRN_TRY(set_number(summary, "manifests-created", (int64_t)created, error));
    FIRN_TRY(set_number(summary, "manifests-kept", (int64_t)work->kept, error));
    return set_number(summary, "manifests-replaced", (int64_t)work->replaced, error);
}

static firn_status set_totals(json_t *summary, const firn_snapshot *parent,
                              const side_totals *added, const side_totals *removed,
                              firn_error *error) {
    FIRN_TRY(set_total(summary, parent, "total-records", added->records - removed->records, error));
    FIRN_TRY(set_total(summary, parent, "total-files-size", added->bytes - removed->bytes, error));
    FIRN_TRY(set_total(summary, parent, "total-data-files", added->data_files - removed->data_files,
                       error));
    FIRN_TRY(set_total(summary, parent, "total-delete-files",
                       added->delete_files - removed->delete_files, error));
    FIRN_TRY(set_total(summary, parent, "total-position-deletes",
                       added->position_deletes - removed->position_deletes, error));
    return set_total(summary, parent, "total-equality-deletes",
                     added->equality_deletes - removed->equality_deletes, error);
}

/** A change that adds nothing by the ledger keeps what is known of files that were added before (lake/ledger.h), for when their snapshots are expired. */
static firn_status hand_on_ledger(const firn_commit_work *work, const firn_snapshot *parent,
                                  json_t *summary, firn_error *error) {
    const char *text = NULL;
    if (json_object_get(summary, FIRN_LEDGER_PROPERTY) != NULL) return FIRN_OK;
    FIRN_TRY(firn_ledger_property_inherited(work->table->metadata, work->table->ref, parent, &text,
                                            error));
    return text == NULL ? FIRN_OK : firn_json_set_text(summary, FIRN_LEDGER_PROPERTY, text, error);
}

firn_status firn_commit_summary(const firn_commit_work *work, const firn_snapshot *parent,
                                json_t **out, firn_error *error) {
    firn_status status = FIRN_OK;
    const firn_file_change *change = &work->change;
    side_totals added = {0}, removed = {0};
    size_t partitions = 0;
    for (size_t i = 0; i < change->added_count; i++) count_file(&added, &change->added[i].file);
    for (size_t i = 0; i < change->restated_count; i++) {
        count_file(&added, &change->restated[i].file);
    }
    for (size_t i = 0; i < change->removed_count; i++) {
        count_file(&removed, &change->removed[i]->entry.file);
    }
    FIRN_TRY(count_manifests(&added, change->added_manifests, error));
    json_t *summary = json_object();
    if (summary == NULL) return firn_fail_memory(error);
    FIRN_CHECK(firn_json_set_text(summary, "operation", change->operation, error));
    FIRN_CHECK(set_changes(summary, &added, &removed, error));
    FIRN_CHECK(changed_partitions(work, &partitions, error));
    FIRN_CHECK(set_number(summary, "changed-partition-count", (int64_t)partitions, error));
    FIRN_CHECK(set_manifests(summary, work, error));
    FIRN_CHECK(set_totals(summary, parent, &added, &removed, error));
    FIRN_CHECK(firn_json_set_text(summary, "engine-name", "firn", error));
    FIRN_CHECK(firn_json_set_text(summary, "engine-version", FIRN_VERSION, error));
    for (size_t i = 0; i < change->summary_count; i++) {
        FIRN_CHECK(
            firn_json_set_text(summary, change->summary[i].key, change->summary[i].value, error));
    }
    FIRN_CHECK(hand_on_ledger(work, parent, summary, error));
    *out = summary;
    summary = NULL;
out:
    json_decref(summary);
    return status;
}
