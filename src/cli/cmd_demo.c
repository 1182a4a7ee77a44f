#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/demo_rows.h"
#include "cli/demo_run.h"
#include "cli/demo_table.h"
#include "cli/output.h"
#include "report/format.h"

typedef struct demo {
    firn_demo_run run;
    char hash_before[33], hash_after[33];
    int64_t write_ns, total_ns;
} demo;

static firn_status write_table(demo *run, firn_error *error) {
    firn_invocation *invocation = run->run.invocation;
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    firn_sql_options options = {
        .path = run->run.catalog_path,
        .catalog_name = "default",
        .warehouse = run->run.warehouse,
        .create = true,
    };
    FIRN_TRY(firn_catalog_sql_open(&options, invocation->storage, &invocation->catalog, error));
    FIRN_TRY(firn_demo_write_table(invocation, run->run.warehouse, error));
    firn_table_close(invocation->table);
    invocation->table = NULL;
    firn_catalog_close(invocation->catalog);
    invocation->catalog = NULL;
    return FIRN_OK;
}

static firn_status show(demo *run, firn_error *error) {
    const firn_options describe = {.content_hash = true};
    const firn_options plan = {0};
    const firn_options compact = {.yes = true};
    FIRN_TRY(firn_demo_print_command(&run->run, "describe", " --content-hash", error));
    FIRN_TRY(firn_demo_step(&run->run, "describe", &describe, run->hash_before, error));
    FIRN_TRY(firn_demo_print_command(&run->run, "plan", "", error));
    FIRN_TRY(firn_demo_step(&run->run, "plan", &plan, NULL, error));
    FIRN_TRY(firn_demo_print_command(&run->run, "compact", " --yes", error));
    FIRN_TRY(firn_demo_step(&run->run, "compact", &compact, NULL, error));
    FIRN_TRY(firn_demo_print_command(&run->run, "describe", " --content-hash", error));
    FIRN_TRY(firn_demo_step(&run->run, "describe", &describe, run->hash_after, error));
    if (strcmp(run->hash_before, run->hash_after) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "the rows changed: content hash %s before, %s after",
                     run->hash_before, run->hash_after);
}

static firn_status print_opening(const demo *run, firn_error *error) {
    if (run->run.invocation->options->json) return FIRN_OK;
    char duration[FIRN_FORMAT_SIZE];
    firn_format_duration(run->write_ns, duration);
    char *text =
        firn_format("Wrote the table demo.events to %s: %d commits of %d rows each, in %s.\n"
                    "These are the commands to look at it and to compact it:\n",
                    run->run.folder, FIRN_DEMO_COMMITS, FIRN_DEMO_ROWS_OF_A_COMMIT, duration);
    if (text == NULL) return firn_fail_memory(error);
    firn_status status = firn_print(text, error);
    firn_free(text);
    return status;
}

static firn_status print_closing(const demo *run, firn_error *error) {
    char *catalog = firn_demo_shell_word(run->run.catalog_path);
    char *text =
        catalog == NULL
            ? NULL
            : firn_format("\nThe content hash is the same before and after: %s.\n\nTry next:\n\n"
                          "$ firn files demo.events --catalog %s\n"
                          "$ firn snapshots demo.events --catalog %s\n"
                          "$ firn compact demo.events --catalog %s --rewrite-all\n"
                          "$ firn doctor --catalog %s\n",
                          run->hash_after, catalog, catalog, catalog, catalog);
    firn_status status = text == NULL ? firn_fail_memory(error) : firn_print(text, error);
    firn_free(catalog);
    firn_free(text);
    return status;
}

static firn_status fill_report(const demo *run, firn_error *error) {
    firn_invocation *invocation = run->run.invocation;
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    firn_report *report = invocation->report;
    firn_section_add(root, "directory", NULL,
                     firn_cell_text(firn_report_copy(report, run->run.folder)));
    firn_section_add(root, "catalog", NULL,
                     firn_cell_text(firn_report_copy(report, run->run.catalog_path)));
    firn_section_add(root, "table", NULL, firn_cell_text("demo.events"));
    firn_section_add(root, "commits", NULL, firn_cell_count(FIRN_DEMO_COMMITS));
    firn_section_add(root, "rows", NULL,
                     firn_cell_count((int64_t)FIRN_DEMO_COMMITS * FIRN_DEMO_ROWS_OF_A_COMMIT));
    firn_section_add(root, "content_hash_before", NULL,
                     firn_cell_text(firn_report_copy(report, run->hash_before)));
    firn_section_add(root, "content_hash_after", NULL,
                     firn_cell_text(firn_report_copy(report, run->hash_after)));
    firn_section_add(root, "duration_ms", NULL, firn_cell_integer(run->total_ns / 1000000));
    return firn_report_status(report, error);
}

firn_status firn_command_demo_small_files(firn_invocation *invocation, firn_error *error) {
    demo run = {.run = {.invocation = invocation}};
    firn_status status = FIRN_OK;
    int64_t started = firn_clock_monotonic_ns();
    FIRN_CHECK(firn_demo_make_folder(&run.run, error));
    status = write_table(&run, error);
    if (status != FIRN_OK) {
        firn_error_wrap(error, status, "%s holds an unfinished demonstration, remove it",
                        run.run.folder);
        goto out;
    }
    run.write_ns = firn_clock_monotonic_ns() - started;
    FIRN_CHECK(print_opening(&run, error));
    FIRN_CHECK(show(&run, error));
    run.total_ns = firn_clock_monotonic_ns() - started;
    status = invocation->options->json ? fill_report(&run, error) : print_closing(&run, error);
out:
    firn_demo_run_release(&run.run);
    return status;
}
