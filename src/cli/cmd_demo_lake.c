/* demo lake: Parquet files as a lake has them, and the table that follows them. */
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/demo_file.h"
#include "cli/demo_rows.h"
#include "cli/demo_run.h"
#include "cli/output.h"

/* Every so many of the small table's commits become a file here. */
#define FILE_STEP 10
#define LAST_FILE (FIRN_DEMO_COMMITS - FILE_STEP)

typedef struct lake_demo {
    firn_demo_run run;
    firn_table_metadata *metadata; /* for writing: schema and settings; no table */
    char *source, *location;
} lake_demo;

static firn_status prepare(lake_demo *demo, firn_error *error) {
    demo->source = firn_format("%s/lake", demo->run.folder);
    demo->location = firn_format("%s/iceberg/events", demo->run.folder);
    if (demo->source == NULL || demo->location == NULL) return firn_fail_memory(error);
    json_t *schema = firn_demo_schema(error);
    if (schema == NULL) return firn_fail_memory(error);
    FIRN_TRY(firn_table_metadata_create(2, demo->location, schema, NULL, NULL, firn_clock_now_ms(),
                                        &demo->metadata, error));
    return firn_invocation_load_storage(demo->run.invocation, error);
}

/* lake/year=2024/month=05/day=01/part-000.parquet */
static char *location_of(const lake_demo *demo, size_t commit) {
    int64_t year = 0;
    int month = 0, day = 0;
    firn_civil_from_days(firn_demo_day(commit), &year, &month, &day);
    return firn_format("%s/year=%lld/month=%02d/day=%02d/part-%03zu.parquet", demo->source,
                       (long long)year, month, day, commit);
}

/* The file of commit `number`, with the rows of `commit`. */
static firn_status write_file(lake_demo *demo, firn_demo_rows *rows, size_t number, size_t commit,
                              firn_error *error) {
    char *location = location_of(demo, number);
    if (location == NULL) return firn_fail_memory(error);
    firn_status status = firn_storage_delete(demo->run.invocation->storage, location, error);
    if (status == FIRN_OK) status = firn_demo_rows_fill(rows, commit, error);
    if (status == FIRN_OK) {
        status = firn_demo_write_source(demo->run.invocation->storage, demo->metadata, rows,
                                        location, error);
    }
    firn_free(location);
    return status;
}

static firn_status write_files(lake_demo *demo, size_t first, size_t last, firn_error *error) {
    firn_demo_rows rows;
    firn_demo_rows_init(&rows);
    firn_status status = FIRN_OK;
    for (size_t commit = first; commit <= last && status == FIRN_OK; commit += FILE_STEP) {
        status = firn_cancel_check(error);
        if (status == FIRN_OK) status = write_file(demo, &rows, commit, commit, error);
    }
    firn_demo_rows_release(&rows);
    return status;
}

/* The first file again, with other rows of the same day. */
static firn_status replace_file(lake_demo *demo, firn_error *error) {
    firn_demo_rows rows;
    firn_demo_rows_init(&rows);
    firn_status status = write_file(demo, &rows, 0, FILE_STEP / 2, error);
    firn_demo_rows_release(&rows);
    return status;
}

static firn_status say(const lake_demo *demo, const char *text, firn_error *error) {
    return demo->run.invocation->options->json ? FIRN_OK : firn_print(text, error);
}

/* Prints "$ firn VERB demo.events --catalog … PATH OPTIONS". */
static firn_status print_step(const lake_demo *demo, const char *verb, const char *path,
                              const char *options, firn_error *error) {
    char *word = firn_demo_shell_word(path);
    char *text = word == NULL ? NULL : firn_format(" %s%s", word, options);
    firn_status status = text == NULL ? firn_fail_memory(error)
                                      : firn_demo_print_command(&demo->run, verb, text, error);
    firn_free(word);
    firn_free(text);
    return status;
}

static firn_status run_step(const lake_demo *demo, const char *verb, const char *path,
                            firn_options options, firn_error *error) {
    options.arguments[options.argument_count++] = FIRN_DEMO_TABLE;
    options.arguments[options.argument_count++] = path;
    return firn_demo_step(&demo->run, verb, &options, NULL, error);
}

static firn_status register_files(const lake_demo *demo, bool yes, firn_error *error) {
    firn_options options = {.yes = yes, .location = demo->location};
    char *location = firn_demo_shell_word(demo->location);
    char *text =
        location == NULL ? NULL : firn_format(" --location %s%s", location, yes ? " --yes" : "");
    firn_status status = text == NULL ? firn_fail_memory(error) : FIRN_OK;
    if (status == FIRN_OK) status = print_step(demo, "register", demo->source, text, error);
    if (status == FIRN_OK) status = run_step(demo, "register", demo->source, options, error);
    firn_free(location);
    firn_free(text);
    return status;
}

static firn_status show_new_file(lake_demo *demo, firn_error *error) {
    firn_options options = {.yes = true};
    FIRN_TRY(write_files(demo, LAST_FILE, LAST_FILE, error));
    FIRN_TRY(say(demo, "\nOne more file has arrived in the lake:\n", error));
    FIRN_TRY(print_step(demo, "sync", demo->source, " --yes", error));
    return run_step(demo, "sync", demo->source, options, error);
}

static firn_status show_replaced_file(lake_demo *demo, firn_error *error) {
    firn_options options = {.yes = true, .on_replaced = "overwrite"};
    FIRN_TRY(replace_file(demo, error));
    FIRN_TRY(say(demo,
                 "\nA file was replaced. Nothing is done about that (exit code 3) unless the "
                 "command line says what:\n",
                 error));
    FIRN_TRY(print_step(demo, "sync", demo->source, " --on-replaced overwrite --yes", error));
    return run_step(demo, "sync", demo->source, options, error);
}

static firn_status show_recovery(lake_demo *demo, firn_error *error) {
    firn_options options = {.yes = true}, verify = {.ref = "main"};
    FIRN_TRY(firn_storage_delete(demo->run.invocation->storage, demo->run.catalog_path, error));
    FIRN_TRY(
        say(demo,
            "\nThe catalog file is lost. The metadata files lie with the table, and tell which "
            "of them was current:\n",
            error));
    FIRN_TRY(print_step(demo, "catalog recover", demo->location, " --yes", error));
    FIRN_TRY(run_step(demo, "catalog recover", demo->location, options, error));
    FIRN_TRY(firn_demo_print_command(&demo->run, "verify", " --ref main", error));
    return firn_demo_step(&demo->run, "verify", &verify, NULL, error);
}

static firn_status show(lake_demo *demo, firn_error *error) {
    FIRN_TRY(
        say(demo, "Wrote Parquet files as a lake has them. A table of them, in place:\n", error));
    FIRN_TRY(register_files(demo, false, error));
    FIRN_TRY(register_files(demo, true, error));
    FIRN_TRY(show_new_file(demo, error));
    FIRN_TRY(show_replaced_file(demo, error));
    return show_recovery(demo, error);
}

static firn_status print_closing(const lake_demo *demo, firn_error *error) {
    char *catalog = firn_demo_shell_word(demo->run.catalog_path);
    char *text =
        catalog == NULL
            ? NULL
            : firn_format("\nThe files lie where they were. Try next:\n\n"
                          "$ firn files " FIRN_DEMO_TABLE " --catalog %s --where \"happened_at >= "
                          "'2024-05-03'\"\n"
                          "$ firn scan " FIRN_DEMO_TABLE " --catalog %s --limit 5\n"
                          "$ duckdb -c \"INSTALL iceberg; LOAD iceberg; SELECT count(*) FROM "
                          "iceberg_scan('%s')\"\n",
                          catalog, catalog, demo->location);
    firn_status status = text == NULL ? firn_fail_memory(error) : firn_print(text, error);
    firn_free(catalog);
    firn_free(text);
    return status;
}

static firn_status fill_report(const lake_demo *demo, firn_error *error) {
    firn_invocation *invocation = demo->run.invocation;
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_report *report = invocation->report;
    firn_section *root = firn_report_root(report);
    firn_section_add(root, "directory", NULL,
                     firn_cell_text(firn_report_copy(report, demo->run.folder)));
    firn_section_add(root, "catalog", NULL,
                     firn_cell_text(firn_report_copy(report, demo->run.catalog_path)));
    firn_section_add(root, "table", NULL, firn_cell_text(FIRN_DEMO_TABLE));
    firn_section_add(root, "source", NULL, firn_cell_text(firn_report_copy(report, demo->source)));
    firn_section_add(root, "location", NULL,
                     firn_cell_text(firn_report_copy(report, demo->location)));
    firn_section_add(root, "files", NULL, firn_cell_count(FIRN_DEMO_COMMITS / FILE_STEP));
    return firn_report_status(report, error);
}

firn_status firn_command_demo_lake(firn_invocation *invocation, firn_error *error) {
    lake_demo demo = {.run = {.invocation = invocation}};
    firn_status status = FIRN_OK;
    FIRN_CHECK(firn_demo_make_folder(&demo.run, error));
    FIRN_CHECK(prepare(&demo, error));
    FIRN_CHECK(write_files(&demo, 0, LAST_FILE - FILE_STEP, error));
    FIRN_CHECK(show(&demo, error));
    status = invocation->options->json ? fill_report(&demo, error) : print_closing(&demo, error);
out:
    firn_table_metadata_free(demo.metadata);
    firn_demo_run_release(&demo.run);
    firn_free(demo.source);
    firn_free(demo.location);
    return status;
}
