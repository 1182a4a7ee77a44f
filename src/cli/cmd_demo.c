#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/demo_rows.h"
#include "cli/demo_table.h"
#include "cli/output.h"
#include "report/format.h"

typedef struct demo {
    firn_invocation *invocation;
    char folder[PATH_MAX]; /* absolute */
    char *catalog_path, *warehouse;
    char hash_before[33], hash_after[33];
    int64_t write_ns, total_ns;
} demo;

static firn_status check_empty(const char *folder, firn_error *error) {
    DIR *directory = opendir(folder);
    if (directory == NULL) return firn_fail_errno(error, FIRN_IO, errno, "%s", folder);
    bool empty = true;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) empty = false;
    }
    closedir(directory);
    if (empty) return FIRN_OK;
    return firn_fail(error, FIRN_INVALID,
                     "%s is not empty; the demonstration wants an empty or a new folder", folder);
}

static firn_status make_folder(demo *run, firn_error *error) {
    const char *folder = run->invocation->options->arguments[0];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return firn_fail_errno(error, FIRN_IO, errno, "%s: the folder can't be made", folder);
    }
    FIRN_TRY(check_empty(folder, error));
    if (realpath(folder, run->folder) == NULL) {
        return firn_fail_errno(error, FIRN_IO, errno, "%s", folder);
    }
    run->catalog_path = firn_format("%s/catalog.db", run->folder);
    run->warehouse = firn_format("%s/warehouse", run->folder);
    if (run->catalog_path == NULL || run->warehouse == NULL) return firn_fail_memory(error);
    return FIRN_OK;
}

static firn_status write_table(demo *run, firn_error *error) {
    firn_invocation *invocation = run->invocation;
    FIRN_TRY(firn_invocation_load_storage(invocation, error));
    firn_sql_options options = {
        .path = run->catalog_path,
        .catalog_name = "default",
        .warehouse = run->warehouse,
        .create = true,
    };
    FIRN_TRY(firn_catalog_sql_open(&options, invocation->storage, &invocation->catalog, error));
    FIRN_TRY(firn_demo_write_table(invocation, run->warehouse, error));
    firn_table_close(invocation->table);
    invocation->table = NULL;
    firn_catalog_close(invocation->catalog);
    invocation->catalog = NULL;
    return FIRN_OK;
}

/* A path as a shell takes it. NULL when memory is out. */
static char *shell_word(const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    if (text[strspn(text, plain)] == '\0') return firn_strdup(text);
    firn_buffer word = firn_buffer_with_maximum((size_t)PATH_MAX * 5);
    firn_status status = firn_buffer_append_byte(&word, '\'', NULL);
    for (const char *c = text; *c != '\0' && status == FIRN_OK; c++) {
        status = *c == '\'' ? firn_buffer_append_text(&word, "'\\''", NULL)
                            : firn_buffer_append_byte(&word, (uint8_t)*c, NULL);
    }
    if (status == FIRN_OK) status = firn_buffer_append_byte(&word, '\'', NULL);
    char *result = status == FIRN_OK ? firn_buffer_take_text(&word) : NULL;
    firn_buffer_release(&word);
    return result;
}

static firn_status print_command(const demo *run, const char *verb, const char *options,
                                 firn_error *error) {
    if (run->invocation->options->json) return FIRN_OK;
    char *catalog = shell_word(run->catalog_path);
    char *line = catalog == NULL ? NULL
                                 : firn_format("\n$ firn %s demo.events --catalog %s%s\n\n", verb,
                                               catalog, options);
    firn_status status = line == NULL ? firn_fail_memory(error) : firn_print(line, error);
    firn_free(catalog);
    firn_free(line);
    return status;
}

/* Runs a verb on the table as the command line would, and prints its report. */
static firn_status step(const demo *run, const char *verb, const firn_options *extra, char hash[33],
                        firn_error *error) {
    const firn_options *given = run->invocation->options;
    firn_options options = *extra;
    options.catalog = run->catalog_path;
    options.arguments[0] = "demo.events";
    options.argument_count = 1;
    options.lock_timeout_ms = -1;
    options.delete_ratio_threshold = -1;
    options.memory_bytes = given->memory_bytes;
    options.threads = given->threads;
    options.config = given->config;
    options.no_progress = given->no_progress;
    firn_invocation inner = {.options = &options,
                             .verb = firn_verb_find(verb),
                             .open_storage = run->invocation->open_storage,
                             .storage = run->invocation->storage};
    firn_status status = inner.verb->run(&inner, error);
    if (status == FIRN_OK && !given->json) {
        firn_write_to out = firn_standard_output();
        status = firn_report_write_text(inner.report, &out, error);
    }
    if (hash != NULL) memcpy(hash, inner.content_hash, sizeof inner.content_hash);
    inner.storage = NULL;
    firn_invocation_close(&inner);
    return status;
}

static firn_status show(demo *run, firn_error *error) {
    const firn_options describe = {.content_hash = true};
    const firn_options plan = {0};
    const firn_options compact = {.yes = true};
    FIRN_TRY(print_command(run, "describe", " --content-hash", error));
    FIRN_TRY(step(run, "describe", &describe, run->hash_before, error));
    FIRN_TRY(print_command(run, "plan", "", error));
    FIRN_TRY(step(run, "plan", &plan, NULL, error));
    FIRN_TRY(print_command(run, "compact", " --yes", error));
    FIRN_TRY(step(run, "compact", &compact, NULL, error));
    FIRN_TRY(print_command(run, "describe", " --content-hash", error));
    FIRN_TRY(step(run, "describe", &describe, run->hash_after, error));
    if (strcmp(run->hash_before, run->hash_after) == 0) return FIRN_OK;
    return firn_fail(error, FIRN_CORRUPT, "the rows changed: content hash %s before, %s after",
                     run->hash_before, run->hash_after);
}

static firn_status print_opening(const demo *run, firn_error *error) {
    if (run->invocation->options->json) return FIRN_OK;
    char duration[FIRN_FORMAT_SIZE];
    firn_format_duration(run->write_ns, duration);
    char *text =
        firn_format("Wrote the table demo.events to %s: %d commits of %d rows each, in %s.\n"
                    "These are the commands to look at it and to compact it:\n",
                    run->folder, FIRN_DEMO_COMMITS, FIRN_DEMO_ROWS_OF_A_COMMIT, duration);
    if (text == NULL) return firn_fail_memory(error);
    firn_status status = firn_print(text, error);
    firn_free(text);
    return status;
}

static firn_status print_closing(const demo *run, firn_error *error) {
    char *catalog = shell_word(run->catalog_path);
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
    firn_invocation *invocation = run->invocation;
    FIRN_TRY(firn_invocation_new_report(invocation, error));
    firn_section *root = firn_report_root(invocation->report);
    firn_report *report = invocation->report;
    firn_section_add(root, "directory", NULL,
                     firn_cell_text(firn_report_copy(report, run->folder)));
    firn_section_add(root, "catalog", NULL,
                     firn_cell_text(firn_report_copy(report, run->catalog_path)));
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
    demo run = {.invocation = invocation};
    firn_status status = FIRN_OK;
    int64_t started = firn_clock_monotonic_ns();
    FIRN_CHECK(make_folder(&run, error));
    status = write_table(&run, error);
    if (status != FIRN_OK) {
        firn_error_wrap(error, status, "%s holds an unfinished demonstration, remove it",
                        run.folder);
        goto out;
    }
    run.write_ns = firn_clock_monotonic_ns() - started;
    FIRN_CHECK(print_opening(&run, error));
    FIRN_CHECK(show(&run, error));
    run.total_ns = firn_clock_monotonic_ns() - started;
    status = invocation->options->json ? fill_report(&run, error) : print_closing(&run, error);
out:
    firn_free(run.catalog_path);
    firn_free(run.warehouse);
    return status;
}
