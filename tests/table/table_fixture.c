#include "table/table_fixture.h"

#include "storage/fault.h"

const firn_table_name fixture_name = {"db", "t"};

/* --- the catalog that lies ---------------------------------------------------------------------- */

static firn_status lie_load(void *implementation, firn_table_name name, firn_table_pointer *out,
                            firn_error *error) {
    return firn_catalog_load(((lying_catalog *)implementation)->real, name, out, error);
}

static firn_status lie_commit(void *implementation, firn_table_name name,
                              const firn_table_pointer *base, const firn_table_update *update,
                              firn_table_pointer *out, firn_error *error) {
    lying_catalog *liar = implementation;
    lie kind = liar->lie;
    liar->lie = LIE_NONE;
    if (kind == LIE_STALE_ANSWER) return firn_catalog_load(liar->real, name, out, error);
    if (kind != LIE_LOST_REQUEST) {
        FIRN_TRY(firn_catalog_commit(liar->real, name, base, update, out, error));
        if (kind == LIE_NONE) return FIRN_OK;
        firn_table_pointer_release(out);
    }
    if (liar->meanwhile != NULL) liar->meanwhile(liar->context);
    return firn_fail(error, FIRN_COMMIT_UNKNOWN, "the reply was lost");
}

static const char *lie_describe(void *implementation) {
    return firn_catalog_describe(((lying_catalog *)implementation)->real);
}

static firn_status lie_identity(void *implementation, firn_table_name name, char **out,
                                firn_error *error) {
    return firn_catalog_identity(((lying_catalog *)implementation)->real, name, out, error);
}

static const firn_catalog_operations lies = {
    .load = lie_load, .commit = lie_commit, .describe = lie_describe, .identity = lie_identity};

/* --- the table ---------------------------------------------------------------------------------- */

static json_t *parse(const char *text) {
    firn_error error;
    json_t *json = NULL;
    check_ok(firn_json_parse(firn_slice_text(text), "fixture", &json, &error), &error);
    return json;
}

static firn_status make_metadata(const char *location, int format_version, bool partitioned,
                                 firn_table_metadata **out, firn_error *error) {
    static const char schema[] =
        "{\"type\":\"struct\",\"fields\":["
        "{\"id\":1,\"name\":\"x\",\"required\":false,\"type\":\"long\"},"
        "{\"id\":2,\"name\":\"s\",\"required\":false,\"type\":\"string\"}]}";
    static const char spec[] =
        "{\"spec-id\":0,\"fields\":["
        "{\"name\":\"s\",\"transform\":\"identity\",\"source-id\":2,\"field-id\":1000},"
        "{\"name\":\"x\",\"transform\":\"identity\",\"source-id\":1,\"field-id\":1001}]}";
    firn_json_setup();
    json_t *properties =
        json_pack("{s:s,s:s}", "commit.retry.min-wait-ms", "1", "commit.retry.max-wait-ms", "2");
    return firn_table_metadata_create(format_version, location, parse(schema),
                                      partitioned ? parse(spec) : NULL, properties, 1700000000000,
                                      out, error);
}

static firn_journal *open_journal(table_fixture *f, firn_table *table, const char *name) {
    firn_journal *journal = NULL;
    char *state = firn_format("%s/%s", f->folder, name);
    setenv("FIRN_STATE_DIR", state, 1);
    check_ok(firn_journal_open(table, 0, &journal, NULL, &f->error), &f->error);
    firn_free(state);
    return journal;
}

static table_fixture *make_fixture(int format_version, bool partitioned) {
    table_fixture *f = firn_alloc_zeroed(1, sizeof *f);
    f->folder = test_folder_new();
    f->database = firn_format("%s/catalog.db", f->folder);
    f->location = firn_format("%s/t", f->folder);
    f->arena = firn_arena_new();
    f->trace = firn_format("%s/trace", f->folder);
    firn_storage *local = NULL;
    firn_fault_plan plan = {.kind = FIRN_FAULT_NONE, .trace_path = f->trace};
    check_ok(firn_storage_local(&local, &f->error), &f->error);
    check_ok(firn_storage_with_faults(local, &plan, &f->storage, &f->error), &f->error);
    firn_sql_options options = {.path = f->database, .catalog_name = "c", .create = true};
    check_ok(firn_catalog_sql_open(&options, f->storage, &f->real, &f->error), &f->error);
    firn_table_metadata *metadata = NULL;
    check_ok(make_metadata(f->location, format_version, partitioned, &metadata, &f->error),
             &f->error);
    firn_table_pointer pointer = {0};
    check_ok(firn_catalog_create(f->real, fixture_name, metadata, &pointer, &f->error), &f->error);
    firn_table_pointer_release(&pointer);
    f->liar.real = f->real;
    f->front = (firn_catalog){&lies, &f->liar};
    check_ok(
        firn_table_open(&f->front, f->storage, fixture_name, "db.t", NULL, &f->table, &f->error),
        &f->error);
    check_ok(firn_table_open(f->real, f->storage, fixture_name, "db.t", NULL, &f->other, &f->error),
             &f->error);
    f->journal = open_journal(f, f->table, "state");
    f->other_journal = open_journal(f, f->other, "other-state");
    return f;
}

table_fixture *fixture_new(int format_version) {
    return make_fixture(format_version, false);
}

table_fixture *fixture_new_partitioned(int format_version) {
    return make_fixture(format_version, true);
}

void fixture_free(table_fixture *f) {
    firn_journal_close(f->journal);
    firn_journal_close(f->other_journal);
    firn_table_close(f->table);
    firn_table_close(f->other);
    firn_catalog_close(f->real);
    firn_storage_free(f->storage);
    firn_arena_free(f->arena);
    test_folder_remove(f->folder);
    firn_free(f->database);
    firn_free(f->location);
    firn_free(f->trace);
    firn_free(f);
}

firn_manifest_entry fixture_file(table_fixture *f, const char *name, firn_content content,
                                 int64_t rows) {
    firn_manifest_entry entry = {.status = FIRN_ENTRY_ADDED};
    entry.file =
        (firn_data_file){.content = content,
                         .path = firn_arena_format(f->arena, "%s/data/%s", f->location, name),
                         .format = FIRN_FILE_PARQUET,
                         .record_count = rows,
                         .file_size_in_bytes = 100};
    assert_non_null(entry.file.path);
    return entry;
}

static void commit_other(table_fixture *f, const firn_file_change *change) {
    firn_commit_result result;
    check_ok(firn_table_commit_files(f->other, f->other_journal, change, &result, &f->error),
             &f->error);
    check_ok(firn_journal_done(f->other_journal, &f->error), &f->error);
}

void fixture_append(table_fixture *f, const char *const *names) {
    firn_manifest_entry added[8];
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        added[count] = fixture_file(f, names[count], FIRN_CONTENT_DATA, 10);
    }
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    firn_file_change change = {.operation = "append", .added = added, .added_count = count};
    commit_other(f, &change);
}

const firn_live_file *fixture_find(const firn_live_files *files, const char *name) {
    for (size_t i = 0; i < files->data_count + files->delete_count; i++) {
        const firn_live_file *file =
            i < files->data_count ? &files->data[i] : &files->deletes[i - files->data_count];
        if (strcmp(strrchr(file->entry.file.path, '/') + 1, name) == 0) return file;
    }
    return NULL;
}

void fixture_remove(table_fixture *f, const char *const *names) {
    firn_live_files files;
    const firn_live_file *removed[8];
    size_t count = 0;
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    check_ok(firn_table_live_files(f->other, f->other->snapshot, &files, &f->error), &f->error);
    for (; names[count] != NULL; count++) {
        removed[count] = fixture_find(&files, names[count]);
        assert_non_null(removed[count]);
    }
    firn_file_change change = {
        .operation = "delete", .removed = removed, .removed_count = count, .files = &files};
    commit_other(f, &change);
    firn_live_files_release(&files);
}

void fixture_update(table_fixture *f,
                    firn_status (*make)(table_fixture *f, firn_table_update *update,
                                        firn_error *error)) {
    firn_table_update update;
    firn_table_pointer pointer = {0};
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    check_ok(firn_table_update_init(&update, &f->error), &f->error);
    check_ok(make(f, &update, &f->error), &f->error);
    check_ok(firn_catalog_commit(f->real, fixture_name, &f->other->pointer, &update, &pointer,
                                 &f->error),
             &f->error);
    check_ok(firn_table_adopt(f->other, &pointer, &f->error), &f->error);
    firn_table_update_release(&update);
}

size_t fixture_opened(table_fixture *f, const char *name) {
    firn_buffer text = test_read_file(f->trace);
    check_ok(firn_buffer_append_byte(&text, 0, &f->error), &f->error);
    size_t count = 0;
    for (char *line = strtok((char *)text.data, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t length = strlen(line), wanted = strlen(name);
        bool opens = strncmp(line, "open ", 5) == 0;
        count += opens && length > wanted && strcmp(line + length - wanted, name) == 0 ? 1 : 0;
    }
    firn_buffer_release(&text);
    return count;
}

char *fixture_live(table_fixture *f) {
    firn_live_files files;
    firn_buffer text = firn_buffer_with_maximum(65536);
    check_ok(firn_table_reload(f->other, &f->error), &f->error);
    check_ok(firn_table_live_files(f->other, f->other->snapshot, &files, &f->error), &f->error);
    for (size_t i = 0; i < files.data_count + files.delete_count; i++) {
        const firn_live_file *file =
            i < files.data_count ? &files.data[i] : &files.deletes[i - files.data_count];
        check_ok(firn_buffer_printf(&text, &f->error, "%s%s", i == 0 ? "" : " ",
                                    strrchr(file->entry.file.path, '/') + 1),
                 &f->error);
    }
    firn_live_files_release(&files);
    char *result = firn_strndup((const char *)text.data, text.size);
    firn_buffer_release(&text);
    return result;
}
