#include "cli/demo_run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "cli/output.h"

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

firn_status firn_demo_make_folder(firn_demo_run *run, firn_error *error) {
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

char *firn_demo_shell_word(const char *text) {
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

firn_status firn_demo_print_command(const firn_demo_run *run, const char *verb, const char *options,
                                    firn_error *error) {
    if (run->invocation->options->json) return FIRN_OK;
    char *catalog = firn_demo_shell_word(run->catalog_path);
    char *line = catalog == NULL ? NULL
                                 : firn_format("\n$ firn %s " FIRN_DEMO_TABLE " --catalog %s%s\n\n",
                                               verb, catalog, options);
    firn_status status = line == NULL ? firn_fail_memory(error) : firn_print(line, error);
    firn_free(catalog);
    firn_free(line);
    return status;
}

firn_status firn_demo_step(const firn_demo_run *run, const char *verb, const firn_options *extra,
                           char hash[33], firn_error *error) {
    const firn_options *given = run->invocation->options;
    firn_options options = *extra;
    options.catalog = run->catalog_path;
    if (options.argument_count == 0) options.arguments[options.argument_count++] = FIRN_DEMO_TABLE;
    options.lock_timeout_ms = -1;
    options.delete_ratio_threshold = -1;
    options.retries = -1;
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

void firn_demo_run_release(firn_demo_run *run) {
    firn_free(run->catalog_path);
    firn_free(run->warehouse);
}
