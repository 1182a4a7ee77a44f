#include "cli/demo_table.h"

#include "base/cancel.h"
#include "base/clock.h"
#include "cli/demo_file.h"
#include "cli/demo_rows.h"
#include "table/commit.h"

#define LOCK_TIMEOUT_MS 1000

static firn_status create(firn_invocation *invocation, const char *warehouse, firn_table_name name,
                          firn_error *error) {
    json_t *schema = firn_demo_schema(error);
    json_t *spec = firn_demo_spec(error);
    if (schema == NULL || spec == NULL) {
        json_decref(schema);
        json_decref(spec);
        return firn_fail_memory(error);
    }
    char *location = firn_format("%s/demo/events", warehouse);
    if (location == NULL) {
        json_decref(schema);
        json_decref(spec);
        return firn_fail_memory(error);
    }
    firn_table_metadata *metadata = NULL;
    firn_status status = firn_table_metadata_create(2, location, schema, spec, NULL,
                                                    firn_clock_now_ms(), &metadata, error);
    firn_free(location);
    FIRN_TRY(status);
    firn_table_pointer pointer = {0};
    FIRN_TRY(firn_catalog_create(invocation->catalog, name, metadata, &pointer, error));
    firn_table_pointer_release(&pointer);
    return FIRN_OK;
}

static firn_status append(firn_invocation *invocation, firn_journal *journal, firn_demo_rows *rows,
                          size_t commit, firn_error *error) {
    firn_status status = FIRN_OK;
    firn_arena *arena = firn_arena_new();
    if (arena == NULL) return firn_fail_memory(error);
    firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED};
    FIRN_CHECK(firn_cancel_check(error));
    FIRN_CHECK(firn_demo_rows_fill(rows, commit, error));
    FIRN_CHECK(
        firn_demo_write_file(invocation->table, journal, rows, commit, arena, &entry.file, error));
    firn_file_change change = {.operation = "append", .added = &entry, .added_count = 1};
    firn_commit_result result = {0};
    FIRN_CHECK(firn_table_commit_files(invocation->table, journal, &change, &result, error));
    FIRN_CHECK(firn_journal_done(journal, error));
out:
    firn_arena_free(arena);
    return status;
}

firn_status firn_demo_write_table(firn_invocation *invocation, const char *warehouse,
                                  firn_error *error) {
    firn_table_name name = {"demo", "events"};
    FIRN_TRY(create(invocation, warehouse, name, error));
    FIRN_TRY(firn_table_open(invocation->catalog, invocation->storage, name, "demo.events", NULL,
                             &invocation->table, error));
    firn_journal *journal = NULL;
    FIRN_TRY(firn_journal_open(invocation->table, LOCK_TIMEOUT_MS, &journal, NULL, error));
    firn_demo_rows rows;
    firn_demo_rows_init(&rows);
    firn_status status = FIRN_OK;
    for (size_t commit = 0; commit < FIRN_DEMO_COMMITS && status == FIRN_OK; commit++) {
        status = append(invocation, journal, &rows, commit, error);
    }
    if (status != FIRN_OK && status != FIRN_COMMIT_UNKNOWN) {
        firn_journal_discard(journal, invocation->storage, NULL);
    }
    firn_demo_rows_release(&rows);
    firn_journal_close(journal);
    return status;
}
