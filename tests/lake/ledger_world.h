/** A table whose metadata is made up as a test wants it, over storage in memory, and a journal that is real. */
#ifndef FIRN_TESTS_LEDGER_WORLD_H
#define FIRN_TESTS_LEDGER_WORLD_H

#include "catalog/tables.h"
#include "lake/ledger.h"

typedef struct ledger_world {
    firn_storage *storage; /**< of the segments */
    json_t *document;      /**< the table's metadata */
    firn_table_metadata *metadata;
    firn_table table;
    int format_version;
    int64_t sequence, time_ms;
    /* The journal's own table. */
    char *folder;
    firn_storage *local;
    firn_catalog *catalog;
    firn_table *real;
    firn_journal *journal;
    firn_arena *arena;
    firn_error error;
} ledger_world;

static const firn_table_name ledger_world_name = {"db", "t"};

static inline void ledger_world_open_journal(ledger_world *w) {
    firn_table_metadata *metadata = NULL;
    firn_table_pointer pointer = {0};
    w->folder = test_folder_new();
    char *database = firn_format("%s/catalog.db", w->folder);
    char *location = firn_format("%s/t", w->folder);
    char *state = firn_format("%s/state", w->folder);
    setenv("FIRN_STATE_DIR", state, 1);
    firn_sql_options options = {.path = database, .catalog_name = "c", .create = true};
    check_ok(firn_storage_local(&w->local, &w->error), &w->error);
    check_ok(firn_catalog_sql_open(&options, w->local, &w->catalog, &w->error), &w->error);
    check_ok(new_table(location, NULL, NULL, &metadata, &w->error), &w->error);
    check_ok(firn_catalog_create(w->catalog, ledger_world_name, metadata, &pointer, &w->error),
             &w->error);
    firn_table_pointer_release(&pointer);
    check_ok(
        firn_table_open(w->catalog, w->local, ledger_world_name, "db.t", NULL, &w->real, &w->error),
        &w->error);
    check_ok(firn_journal_open(w->real, 0, &w->journal, NULL, &w->error), &w->error);
    firn_free(database);
    firn_free(location);
    firn_free(state);
}

static inline ledger_world *ledger_world_new(int format_version) {
    ledger_world *w = firn_alloc_zeroed(1, sizeof *w);
    firn_table_metadata *metadata = NULL;
    w->format_version = format_version;
    w->time_ms = 1700000000000;
    w->arena = firn_arena_new();
    ledger_world_open_journal(w);
    check_ok(firn_storage_memory(&w->storage, &w->error), &w->error);
    json_t *fields = json_pack("{s:s,s:[{s:i,s:s,s:b,s:s}]}", "type", "struct", "fields", "id", 1,
                               "name", "x", "required", 0, "type", "long");
    check_ok(firn_table_metadata_create(format_version, "/t", fields, NULL, NULL, w->time_ms,
                                        &metadata, &w->error),
             &w->error);
    w->document = json_deep_copy(metadata->json);
    firn_table_metadata_free(metadata);
    (void)json_object_set_new(w->document, "snapshots", json_array());
    (void)json_object_set_new(w->document, "refs", json_object());
    (void)json_object_set_new(w->document, "properties", json_object());
    return w;
}

static inline void ledger_world_free(ledger_world *w) {
    firn_table_metadata_free(w->metadata);
    json_decref(w->document);
    firn_storage_free(w->storage);
    firn_journal_close(w->journal);
    firn_table_close(w->real);
    firn_catalog_close(w->catalog);
    firn_storage_free(w->local);
    firn_arena_free(w->arena);
    test_folder_remove(w->folder);
    firn_free(w);
}

/** The table as it is now, pinned to a branch. */
static inline firn_table *ledger_world_table(ledger_world *w, const char *ref) {
    firn_table_metadata_free(w->metadata);
    w->metadata = NULL;
    check_ok(firn_table_metadata_from_json(json_deep_copy(w->document), "metadata", &w->metadata,
                                           &w->error),
             &w->error);
    w->table = (firn_table){.storage = w->storage,
                            .display_name = (char *)(uintptr_t) "db.t",
                            .ref = (char *)(uintptr_t)ref,
                            .metadata = w->metadata};
    const firn_snapshot_ref *found = firn_table_metadata_ref(w->metadata, ref);
    if (found != NULL) {
        w->table.snapshot = firn_table_metadata_snapshot(w->metadata, found->snapshot_id);
    }
    return &w->table;
}

static inline void ledger_world_set_ref(ledger_world *w, const char *ref, int64_t snapshot_id) {
    (void)json_object_set_new(
        json_object_get(w->document, "refs"), ref,
        json_pack("{s:I,s:s}", "snapshot-id", (json_int_t)snapshot_id, "type", "branch"));
    if (strcmp(ref, "main") == 0) {
        (void)json_object_set_new(w->document, "current-snapshot-id", json_integer(snapshot_id));
    }
}

/** A snapshot on top of `parent` (FIRN_NO_SNAPSHOT: none); `key`, nullable, and `value` go into its summary. */
static inline void ledger_world_add_snapshot(ledger_world *w, int64_t id, int64_t parent,
                                             const char *key, const char *value) {
    json_t *summary = json_pack("{s:s}", "operation", "append");
    if (key != NULL) (void)json_object_set_new(summary, key, json_string(value));
    w->sequence++;
    w->time_ms += 100000;
    json_t *snapshot = json_pack("{s:I,s:I,s:s,s:o,s:i}", "snapshot-id", (json_int_t)id,
                                 "timestamp-ms", (json_int_t)w->time_ms, "manifest-list", "/t/list",
                                 "summary", summary, "schema-id", 0);
    if (w->format_version > 1) {
        (void)json_object_set_new(snapshot, "sequence-number", json_integer(w->sequence));
        (void)json_object_set_new(w->document, "last-sequence-number", json_integer(w->sequence));
    }
    if (parent != FIRN_NO_SNAPSHOT) {
        (void)json_object_set_new(snapshot, "parent-snapshot-id", json_integer(parent));
    }
    (void)json_object_set_new(w->document, "last-updated-ms", json_integer(w->time_ms));
    (void)json_array_append_new(json_object_get(w->document, "snapshots"), snapshot);
}

static inline void ledger_world_expire(ledger_world *w, int64_t id) {
    json_t *list = json_object_get(w->document, "snapshots");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *snapshot = json_array_get(list, i);
        if (json_integer_value(json_object_get(snapshot, "snapshot-id")) != id) continue;
        (void)json_array_remove(list, i);
        return;
    }
    fail_msg("no snapshot %lld", (long long)id);
}

static inline void ledger_world_set_property(ledger_world *w, const char *key, const char *value) {
    json_t *properties = json_object_get(w->document, "properties");
    if (value == NULL) {
        (void)json_object_del(properties, key);
    } else {
        (void)json_object_set_new(properties, key, json_string(value));
    }
}

static inline const char *ledger_world_property(ledger_world *w) {
    return json_string_value(
        json_object_get(json_object_get(w->document, "properties"), FIRN_LEDGER_PROPERTY));
}

static inline firn_ledger *ledger_world_load(ledger_world *w, const char *ref) {
    firn_ledger *ledger = NULL;
    check_ok(firn_ledger_load(ledger_world_table(w, ref), &ledger, &w->error), &w->error);
    return ledger;
}

/** A commit on a branch that adds entries through a ledger that is loaded already; the text. */
static inline const char *ledger_world_commit_with(ledger_world *w, firn_ledger *ledger,
                                                   const char *ref, int64_t id,
                                                   const firn_ledger_entry *added, size_t count) {
    const char *text = NULL;
    const firn_snapshot *head = w->table.snapshot;
    int64_t parent = head == NULL ? FIRN_NO_SNAPSHOT : head->snapshot_id;
    char now[32];
    (void)snprintf(now, sizeof now, "%lld", (long long)(w->time_ms + 99000));
    setenv("FIRN_TEST_NOW_MS", now, 1);
    check_ok(firn_ledger_write(ledger, &w->table, w->journal, firn_ledger_entries_of(added, count),
                               id, w->format_version == 1 ? 0 : w->sequence + 1, w->arena, &text,
                               &w->error),
             &w->error);
    unsetenv("FIRN_TEST_NOW_MS");
    ledger_world_add_snapshot(w, id, parent, FIRN_LEDGER_PROPERTY, text);
    ledger_world_set_ref(w, ref, id);
    const char *key = firn_ledger_property_key(ref, w->arena);
    assert_non_null(key);
    ledger_world_set_property(w, key, text);
    return text;
}

/** Files "/lake/f<first>.parquet" … of a unit, 10 rows each. */
static inline const char *ledger_world_commit(ledger_world *w, const char *ref, int64_t id,
                                              const char *unit, int first, int count) {
    firn_ledger *ledger = ledger_world_load(w, ref);
    firn_ledger_entry *added = firn_arena_alloc(w->arena, (size_t)count, sizeof *added);
    for (int i = 0; i < count; i++) {
        added[i] = (firn_ledger_entry){
            .location = firn_arena_format(w->arena, "/lake/f%d.parquet", first + i),
            .unit = unit,
            .size = 100 + i,
            .modified_ns = 5,
            .rows = 10};
    }
    const char *text = ledger_world_commit_with(w, ledger, ref, id, added, (size_t)count);
    firn_ledger_free(ledger);
    return text;
}

static inline bool ledger_world_has(const firn_ledger *ledger, int file) {
    char location[64];
    (void)snprintf(location, sizeof location, "/lake/f%d.parquet", file);
    return firn_ledger_find(ledger, location) != NULL;
}

#endif
