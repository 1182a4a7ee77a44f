/*
 * merge_deletes FOLDER | SQLITE-FILE TABLE: puts written deletes (data/delete_writer.h) in the place of all delete files of a table, of whatever
 * kind, and commits. A program of the tests: outside readers then say whether the same rows are left.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/random.h"
#include "data/delete_writer.h"
#include "data/deletes.h"
#include "table/commit.h"

typedef struct merge {
    firn_storage *storage;
    firn_catalog *catalog;
    firn_table *table;
    firn_journal *journal;
    firn_live_files files;
    firn_deletes deletes;
    firn_arena *arena;
    firn_data_file *written;
    size_t written_count;
} merge;

static firn_status open_table(merge *m, int argc, char **argv, firn_error *error) {
    static char room[FIRN_NAMESPACE_SIZE];
    firn_table_name name = {"", argv[1]};
    FIRN_TRY(firn_storage_local(&m->storage, error));
    if (argc == 2) {
        FIRN_TRY(firn_catalog_path_open(argv[1], m->storage, &m->catalog, error));
    } else {
        firn_sql_options options = {.path = argv[1]};
        FIRN_TRY(firn_catalog_sql_open(&options, m->storage, &m->catalog, error));
        FIRN_TRY(firn_table_name_parse(argv[2], room, &name, error));
    }
    FIRN_TRY(firn_table_open(m->catalog, m->storage, name, argv[argc - 1], NULL, &m->table, error));
    FIRN_TRY(firn_journal_open(m->table, 0, &m->journal, NULL, error));
    return firn_table_live_files(m->table, m->table->snapshot, &m->files, error);
}

static firn_status resolve(merge *m, firn_error *error) {
    size_t count = m->files.data_count;
    const firn_live_file **data = firn_arena_alloc(m->arena, count + 1, sizeof *data);
    if (data == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) data[i] = &m->files.data[i];
    firn_deletes_request request = {.table = m->table,
                                    .files = &m->files,
                                    .data = data,
                                    .data_count = count,
                                    .positions = true,
                                    .equality = true};
    return firn_deletes_resolve(&request, &m->deletes, error);
}

static firn_status write(merge *m, firn_error *error) {
    char run_id[FIRN_UUID_TEXT_SIZE];
    size_t count = m->files.data_count;
    firn_deleted_rows *items = firn_arena_alloc(m->arena, count + 1, sizeof *items);
    if (items == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < count; i++) {
        items[i] = (firn_deleted_rows){&m->files.data[i].entry.file, m->deletes.positions[i]};
    }
    FIRN_TRY(firn_uuid_random(run_id, error));
    return firn_deleted_rows_write(m->table, m->journal, run_id, 0, items, count, m->arena,
                                   &m->written, &m->written_count, error);
}

static firn_status commit(merge *m, firn_error *error) {
    firn_manifest_entry *added = firn_arena_alloc(m->arena, m->written_count + 1, sizeof *added);
    const firn_live_file **removed =
        firn_arena_alloc(m->arena, m->files.delete_count + 1, sizeof *removed);
    if (added == NULL || removed == NULL) return firn_fail_memory(error);
    for (size_t i = 0; i < m->written_count; i++) {
        added[i] = (firn_manifest_entry){.status = FIRN_ENTRY_ADDED, .file = m->written[i]};
    }
    for (size_t i = 0; i < m->files.delete_count; i++) removed[i] = &m->files.deletes[i];
    firn_file_change change = {.operation = "replace",
                               .added = added,
                               .added_count = m->written_count,
                               .removed = removed,
                               .removed_count = m->files.delete_count,
                               .files = &m->files};
    firn_commit_result result;
    FIRN_TRY(firn_table_commit_files(m->table, m->journal, &change, &result, error));
    return firn_journal_done(m->journal, error);
}

static firn_status run(merge *m, int argc, char **argv, firn_error *error) {
    m->arena = firn_arena_new();
    if (m->arena == NULL) return firn_fail_memory(error);
    FIRN_TRY(open_table(m, argc, argv, error));
    FIRN_TRY(resolve(m, error));
    FIRN_TRY(write(m, error));
    return commit(m, error);
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "merge_deletes FOLDER | SQLITE-FILE TABLE\n");
        return 2;
    }
    firn_json_setup();
    firn_error error = {0};
    merge m = {0};
    firn_status status = run(&m, argc, argv, &error);
    if (status == FIRN_OK) printf("%zu\n", m.written_count);
    if (status != FIRN_OK) fprintf(stderr, "%s\n", error.message);
    firn_deletes_release(&m.deletes);
    firn_live_files_release(&m.files);
    firn_journal_close(m.journal);
    firn_table_close(m.table);
    if (m.catalog != NULL) firn_catalog_close(m.catalog);
    if (m.storage != NULL) firn_storage_free(m.storage);
    firn_arena_free(m.arena);
    return status == FIRN_OK ? 0 : 1;
}
