/** Setting right what manifests can set right, in one commit. */
#include "lake/audit_internal.h"
#include "lake/schema_union.h"
#include "table/commit.h"
#include "table/update.h"

#include "base/alloc.h"

#define MAPPING_KEY "schema.name-mapping.default"
/** Times that everything is looked at anew because other writers were faster. */
#define ATTEMPTS 4

/** What is to be committed. */
typedef struct fix {
    const firn_auditor *auditor;
    const firn_live_file **removed;
    firn_manifest_entry *restated;
    size_t removed_count, restated_count;
    json_t *properties; /**< owned; NULL: none */
} fix;

static firn_status mapping_text(const firn_table_metadata *metadata, char **out,
                                firn_error *error) {
    const firn_name_mapping *before = NULL;
    const char *text = firn_table_metadata_property(metadata, MAPPING_KEY);
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_status status =
        text == NULL ? FIRN_OK : firn_name_mapping_parse(text, arena, &before, error);
    if (status == FIRN_OK) status = firn_name_mapping_for(metadata->schema, before, out, error);
    firn_arena_free(arena);
    return status;
}

static firn_status mapping_property(const firn_table_metadata *metadata, json_t **out,
                                    firn_error *error) {
    char *text = NULL;
    json_t *properties = json_object();
    firn_status status = properties == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) status = mapping_text(metadata, &text, error);
    if (status == FIRN_OK) status = firn_json_set_text(properties, MAPPING_KEY, text, error);
    firn_free(text);
    if (status != FIRN_OK) {
        json_decref(properties);
        return status;
    }
    *out = properties;
    return FIRN_OK;
}

static firn_status collect(const firn_auditor *auditor, fix *out, firn_error *error) {
    size_t count = auditor->files.data_count;
    firn_arena *arena = auditor->out->arena;
    *out = (fix){.auditor = auditor};
    out->removed = firn_arena_alloc(arena, count, sizeof *out->removed);
    out->restated = firn_arena_alloc(arena, count, sizeof *out->restated);
    if (out->removed == NULL || out->restated == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        const firn_audit_entry *entry = &auditor->entries[i];
        if (!entry->goes && entry->fixed == NULL) continue;
        out->removed[out->removed_count++] = entry->live;
        if (entry->goes) continue;
        firn_manifest_entry *restated = &out->restated[out->restated_count++];
        *restated = entry->live->entry;
        restated->file = *entry->fixed;
    }
    if (auditor->unmapped == 0) return FIRN_OK;
    return mapping_property(auditor->table->metadata, &out->properties, error);
}

static firn_status build_files(void *context, firn_table *table, bool moved,
                               firn_file_change *change, firn_error *error) {
    const fix *plan = context;
    if (moved) {
        return firn_fail(error, FIRN_CONFLICT, "table %s: has changed meanwhile; run this again",
                         table->display_name);
    }
    /* Rows stay what they are, unless some of them were counted twice. */
    bool same_rows = plan->restated_count == plan->removed_count;
    *change = (firn_file_change){.operation = same_rows ? "replace" : "overwrite",
                                 .properties = plan->properties,
                                 .restated = plan->restated,
                                 .restated_count = plan->restated_count,
                                 .removed = plan->removed,
                                 .removed_count = plan->removed_count,
                                 .files = &plan->auditor->files};
    return FIRN_OK;
}

/** For the schema as it is then. */
static firn_status build_mapping(void *context, const firn_table *table, firn_table_update *update,
                                 firn_error *error) {
    json_t *properties = NULL;
    const char *is = firn_table_metadata_property(table->metadata, MAPPING_KEY);
    (void)context;
    FIRN_TRY(mapping_property(table->metadata, &properties, error));
    const char *wanted = json_string_value(json_object_get(properties, MAPPING_KEY));
    if (is != NULL && strcmp(is, wanted) == 0) {
        json_decref(properties);
        return FIRN_OK;
    }
    return firn_update_set_properties(update, properties, error);
}

static firn_status commit(const fix *plan, firn_table *table, firn_journal *journal,
                          firn_audit *out, firn_error *error) {
    if (plan->removed_count == 0) {
        firn_update_source source = {build_mapping, NULL};
        return firn_table_commit_update(table, journal, &source, &out->committed, error);
    }
    firn_commit_result result = {0};
    firn_change_source source = {build_files, (void *)(uintptr_t)plan};
    FIRN_TRY(firn_table_commit_changes(table, journal, &source, &result, error));
    out->committed = true;
    out->snapshot_id = result.snapshot_id;
    out->files_fixed = plan->removed_count;
    out->manifests_written = result.manifests_written;
    return FIRN_OK;
}

/** Looks, and sets right what it found. */
static firn_status run_once(firn_table *table, const firn_audit_options *options,
                            firn_journal *journal, firn_audit *out, firn_error *error) {
    firn_auditor auditor;
    fix plan = {0};
    firn_status status = firn_auditor_run(&auditor, table, options, out, error);
    if (status == FIRN_OK) status = collect(&auditor, &plan, error);
    if (status == FIRN_OK && (plan.removed_count > 0 || plan.properties != NULL)) {
        status = commit(&plan, table, journal, out, error);
        out->mapping_written = status == FIRN_OK && plan.properties != NULL;
    }
    json_decref(plan.properties);
    firn_auditor_release(&auditor);
    return status;
}

firn_status firn_audit_fix(firn_table *table, const firn_audit_options *options, firn_audit *out,
                           firn_error *error) {
    firn_journal *journal = NULL;
    *out = (firn_audit){0};
    FIRN_TRY(firn_table_check_supported(table, "audit --fix", error));
    FIRN_TRY(firn_catalog_check_writable(table->catalog, firn_table_own_name(table), error));
    FIRN_TRY(firn_journal_open(table, options->lock_timeout_ms, &journal, NULL, error));
    firn_status status = FIRN_CONFLICT;
    for (int i = 0; i < ATTEMPTS && status == FIRN_CONFLICT; i++) {
        if (i > 0) {
            firn_audit_release(out);
            status = firn_table_reload(table, error);
            if (status != FIRN_OK) break;
        }
        status = run_once(table, options, journal, out, error);
        /* What an attempt wrote is of no use to the next one. */
        firn_journal_end(journal, table->storage, status);
    }
    firn_journal_close(journal);
    return status;
}
