/**
 * Compacts one table through the installed library.
 *
 *     cc compact.c $(pkg-config --cflags --libs firn) -o compact
 *     ./compact catalog.db namespace.table
 *
 * Below a prefix that pkg-config and the loader don't search, PKG_CONFIG_PATH and LD_LIBRARY_PATH name its folders.
 */
#include <firn/firn.h>
#include <stdio.h>

static int fail(const char *doing, const firn_error *error) {
    fprintf(stderr, "%s: %s\n", doing, error->message);
    return 1;
}

static void show(const firn_compaction *plan) {
    for (size_t i = 0; i < firn_compaction_group_count(plan); i++) {
        firn_compaction_group group = firn_compaction_group_at(plan, i);
        printf("%s partition '%s': %zu files, %lld bytes: %s\n",
               group.selected ? "rewrite" : "leave", group.partition, group.input_files,
               (long long)group.input_bytes, group.reason);
    }
}

int main(int argc, char **argv) {
    firn_error error = {0};
    firn_session_options options;
    firn_session *session = NULL;
    firn_table *table = NULL;
    firn_compaction *plan = NULL;
    firn_compaction_result result;
    int code = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: compact CATALOG TABLE\n");
        return 2;
    }
    firn_session_options_init(&options);
    options.catalog = argv[1];
    if (firn_session_open(&options, &session, &error) != FIRN_OK) {
        code = fail("session", &error);
    } else if (firn_session_table(session, argv[2], NULL, &table, &error) != FIRN_OK) {
        code = fail("table", &error);
    } else if (firn_compaction_plan(table, NULL, &plan, &error) != FIRN_OK) {
        code = fail("plan", &error);
    } else {
        show(plan);
        if (firn_compaction_run(plan, &result, &error) != FIRN_OK) {
            code = fail("compact", &error);
        } else {
            printf("%zu files became %zu, %lld rows\n", result.input_files, result.output_files,
                   (long long)result.rows);
        }
    }
    firn_compaction_free(plan);
    firn_table_close(table);
    firn_session_close(session);
    return code;
}
