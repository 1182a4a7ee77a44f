/* PyIceberg reads what is written: FIRN_PYTHON names a Python that has it. */
#include "iceberg/manifest_fixture.h"

#include <errno.h>
#include <unistd.h>

/** The interpreter; skips the test, or fails where FIRN_CI is set, when there is none. */
static const char *python(void) {
    const char *path = getenv("FIRN_PYTHON");
    if (path != NULL && path[0] != '\0') {
        char *command = firn_format("%s -c 'import pyiceberg, pyarrow' 2>/dev/null", path);
        assert_non_null(command);
        int status = system(command);
        firn_free(command);
        if (status == 0) return path;
    }
    if (getenv("FIRN_CI") != NULL) fail_msg("FIRN_PYTHON names no Python with PyIceberg");
    print_message("skipped: FIRN_PYTHON names no Python with PyIceberg\n");
    skip();
    return NULL;
}

static firn_buffer run(const char *list) {
    char *command =
        firn_format("%s %s/tests/iceberg/read_manifests.py %s", python(), FIRN_SOURCE_DIR, list);
    assert_non_null(command);
    firn_error error;
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char line[4096];
    while (fgets(line, sizeof line, pipe) != NULL) {
        check_ok(firn_buffer_append_text(&out, line, &error), &error);
    }
    assert_int_equal(pclose(pipe), 0);
    check_ok(firn_buffer_append_byte(&out, 0, &error), &error);
    firn_free(command);
    return out;
}

static void write_table(const char *folder, int version, firn_content content, char *list_path) {
    firn_error error;
    firn_table_metadata *metadata = fx_every_type(version);
    firn_buffer out = firn_buffer_with_maximum(1 << 20);
    firn_arena *arena = firn_arena_new();
    firn_manifest_writer *writer = NULL;
    firn_manifest_file file;
    firn_value values[2][FX_TYPE_COUNT];
    check_ok(firn_manifest_writer_new(metadata, metadata->default_spec,
                                      content != FIRN_CONTENT_DATA, 88, &writer, &error),
             &error);
    for (int i = 0; i < 2; i++) {
        fx_values(values[i], i == 1);
        /* PyIceberg's compiled decoder gives doubles the range of floats. */
        values[i][4].as.float64 = -0.25;
        firn_manifest_entry entry = fx_entry(content, values[i]);
        if (i == 1) entry.status = FIRN_ENTRY_ADDED;
        if (i == 1) entry.has_sequence_number = false;
        check_ok(firn_manifest_writer_add(writer, &entry, &error), &error);
    }
    check_ok(firn_manifest_writer_finish(writer, &out, arena, &file, &error), &error);
    firn_manifest_writer_free(writer);
    char path[1000];
    snprintf(path, sizeof path, "%s/m%d.avro", folder, version);
    test_write_file(path, firn_buffer_slice(&out));
    file.path = path;
    firn_buffer_clear(&out);
    check_ok(firn_manifest_list_write(metadata, 88, true, 21, 9, &file, 1, 0, NULL, &out, &error),
             &error);
    snprintf(list_path, 1000, "%s/list%d.avro", folder, version);
    test_write_file(list_path, firn_buffer_slice(&out));
    firn_buffer_release(&out);
    firn_arena_free(arena);
    firn_table_metadata_free(metadata);
}

static void has(const firn_buffer *text, const char *line) {
    if (strstr((const char *)text->data, line) == NULL) {
        fail_msg("no \"%s\" in\n%s", line, (const char *)text->data);
    }
}

static void test_versions(void **state) {
    (void)state;
    python();
    char *folder = test_folder_new();
    for (int version = 1; version <= 3; version++) {
        char list[1000];
        bool first = version == 1;
        write_table(folder, version, first ? FIRN_CONTENT_DATA : FIRN_CONTENT_EQUALITY_DELETES,
                    list);
        firn_buffer text = run(list);
        has(&text, first ? "manifest 0 2 0 0 88 1 1 0 5 5 0 16\n"
                         : "manifest 1 2 9 2 88 1 1 0 5 5 0 16\n");
        has(&text, "summary true false fbffffff fbffffff\n");
        has(&text, "summary true false f0c9a7 f0c9a7\n");
        has(&text, first ? "entry 0 21 0 0 0 s3://b/t/data/f 1%20.parquet 5 5000000000\n"
                         : "entry 0 21 2 3 2 s3://b/t/data/f 1%20.parquet 5 5000000000\n");
        has(&text, first ? "entry 1 88 0 0 0 " : "entry 1 88 9 9 2 ");
        has(&text, "metrics {1:4 999:-1} {1:4 999:-1} {1:4 999:-1} {} {1:0102 999:} null\n");
        has(&text, first ? "more 6b6579 [4, 4000000000] None 0\n"
                         : "more 6b6579 [4, 4000000000] [3, 1] 0\n");
        has(&text,
            "partition true -5 -9223372036854775808 -0 -0.25 996953- 128+ -47 86399999999 -1 1 "
            "c3a922 30313233343536373839616263646566 000102  1000000000000000000000000-\n");
        has(&text,
            "partition null null null null null null null null null null null null null null "
            "null null\n");
        firn_buffer_release(&text);
    }
    test_folder_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
