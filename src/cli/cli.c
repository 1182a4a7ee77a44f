#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/error_report.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/output.h"
#include "firn/version.h"

/* A second signal of the same kind ends the process at once (SA_RESETHAND). */
static void catch_signals(void) {
    struct sigaction action = {.sa_handler = firn_cancel_request, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* A closed pipe is an error of the write, not the end of the process. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
}

/*
 * A descriptor 0 … 2 that is closed would be given to the next file that is opened, and messages would
 * be written into a catalog. What is put in its place can't be written to.
 */
static void hold_standard_descriptors(void) {
    int descriptor = 0;
    do {
        descriptor = open("/dev/null", O_RDONLY);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor > STDERR_FILENO) close(descriptor);
}

typedef enum error_form {
    ERROR_TEXT,     /* on standard error alone */
    ERROR_DOCUMENT, /* on standard output as well */
    ERROR_LINE      /* the same behind lines of JSON: one more line */
} error_form;

static error_form form_of(const firn_verb *verb, bool json) {
    if (!json) return ERROR_TEXT;
    return verb != NULL && verb->run == firn_command_scan ? ERROR_LINE : ERROR_DOCUMENT;
}

/* The error document of --json; its own failures are not worth a further message. */
static void print_error_document(const char *verb, error_form form, firn_status status,
                                 const firn_error *error) {
    firn_report *report = NULL;
    if (firn_report_new(verb, &report, NULL) != FIRN_OK) return;
    firn_report_add_error(firn_report_root(report), status, error);
    firn_write_to out = firn_standard_output();
    if (form == ERROR_LINE) {
        firn_report_write_json_line(report, &out, NULL);
    } else {
        firn_report_write_json(report, &out, NULL);
    }
    firn_report_free(report);
}

static int fail(const char *verb, error_form form, firn_status status, firn_error *error) {
    if (error->message[0] == '\0') firn_fail(error, status, "%s", firn_status_text(status));
    firn_error_spell_options(error);
    if (form != ERROR_TEXT) print_error_document(verb, form, status, error);
    firn_print_error_line(error->message);
    return firn_exit_code(status);
}

static firn_status print_report(const firn_invocation *invocation, firn_error *error) {
    firn_write_to out = firn_standard_output();
    if (invocation->report == NULL) return FIRN_OK;
    if (invocation->options->json) return firn_report_write_json(invocation->report, &out, error);
    return firn_report_write_text(invocation->report, &out, error);
}

/* What was done stays done, even if nobody can be told on standard output. */
static int fail_printing(const firn_invocation *invocation, firn_status status, firn_error *error) {
    if (invocation->done != NULL) {
        firn_error_wrap(error, status, "%s, but the report is not complete", invocation->done);
    }
    firn_print_error_line(error->message);
    return invocation->done == NULL ? firn_exit_code(status) : FIRN_EXIT_FAILURE;
}

/* The report has the error in it. */
static int fail_telling(const firn_invocation *invocation, firn_status status, firn_error *error) {
    firn_error second;
    firn_error_clear(&second);
    if (print_report(invocation, &second) != FIRN_OK) firn_print_error_line(second.message);
    return fail(invocation->verb->name, ERROR_TEXT, status, error);
}

/* Runs that ended, but not with 0: for programs that read the document alone. */
static void add_outcome(const firn_invocation *invocation) {
    int exit_code = invocation->exit_code;
    if (exit_code == 0 || invocation->report == NULL) return;
    const char *code = "PARTLY";
    const char *message = "done in part: the report says what failed or was left out";
    if (exit_code == FIRN_EXIT_PROBLEMS) {
        code = "PROBLEMS";
        message = "problems were found: the report names them";
    } else if (exit_code != FIRN_EXIT_PARTLY) {
        code = "TABLES";
        message = "tables or catalogs failed: the report says of each one why";
    }
    firn_section *root = firn_report_root(invocation->report);
    firn_section *section = firn_section_child(root, "error", NULL);
    firn_section_add(section, "code", NULL, firn_cell_text(code));
    firn_section_add(section, "exit_code", NULL, firn_cell_integer(exit_code));
    firn_section_add(section, "message", NULL, firn_cell_text(message));
    firn_section_add(section, "retryable", NULL, firn_cell_boolean(false));
}

static int run_verb(const firn_verb *verb, const firn_options *options,
                    firn_cli_storage open_storage) {
    firn_error error;
    firn_error_clear(&error);
    firn_invocation invocation = {.options = options, .verb = verb, .open_storage = open_storage};
    firn_status status = verb->run(&invocation, &error);
    /* Who asked to stop gets no report, unless something was changed that must be told. */
    if (status == FIRN_OK && invocation.done == NULL) status = firn_cancel_check(&error);
    int exit_code = 0;
    if (status != FIRN_OK && invocation.tells_failure) {
        exit_code = fail_telling(&invocation, status, &error);
    } else if (status != FIRN_OK) {
        bool json =
            options->json || (options->format != NULL && strcmp(options->format, "json") == 0);
        exit_code = fail(verb->name, form_of(verb, json), status, &error);
    } else {
        add_outcome(&invocation);
        status = print_report(&invocation, &error);
        if (status == FIRN_OK) status = firn_close_output(&error);
        exit_code =
            status == FIRN_OK ? invocation.exit_code : fail_printing(&invocation, status, &error);
    }
    firn_invocation_close(&invocation);
    return exit_code;
}

static firn_status print_version(bool json, firn_error *error) {
    if (!json) return firn_print("firn " FIRN_VERSION "\n", error);
    firn_report *report = NULL;
    FIRN_TRY(firn_report_new("version", &report, error));
    firn_section_add(firn_report_root(report), "version", NULL, firn_cell_text(FIRN_VERSION));
    firn_write_to out = firn_standard_output();
    firn_status status = firn_report_write_json(report, &out, error);
    firn_report_free(report);
    return status;
}

/* Usage on standard error: nothing was asked for. A program is told what it lacks. */
static int run_nothing(bool json, firn_error *error) {
    if (json) {
        firn_fail(error, FIRN_INVALID, "no verb is named (firn help lists all)");
        return fail(NULL, ERROR_DOCUMENT, FIRN_INVALID, error);
    }
    firn_buffer text = firn_buffer_with_maximum((size_t)1 << 20);
    if (firn_help_append(NULL, &text, NULL) == FIRN_OK) {
        fwrite(text.data, 1, text.size, stderr);
    }
    firn_buffer_release(&text);
    return FIRN_EXIT_USAGE;
}

static firn_status print_help(const firn_verb *verb, const firn_options *options,
                              firn_error *error) {
    FIRN_TRY(firn_help_print(verb, options, error));
    return firn_close_output(error);
}

int firn_cli_main(int argc, char *const *argv, firn_cli_storage open_storage) {
    hold_standard_descriptors();
    catch_signals();
    firn_json_setup();
    firn_options options;
    const firn_verb *verb = NULL;
    firn_error error;
    firn_error_clear(&error);
    firn_status status = firn_options_parse(argc, argv, &options, &verb, &error);
    bool json = options.json || firn_options_want_json(argc, argv);
    if (status != FIRN_OK)
        return fail(verb == NULL ? NULL : verb->name, form_of(verb, json), status, &error);
    if (options.verbose > 0) {
        firn_log_set_level(options.verbose > 1 ? FIRN_LOG_DEBUG : FIRN_LOG_INFO);
    }
    if (!options.version && !options.help) {
        return verb == NULL ? run_nothing(json, &error) : run_verb(verb, &options, open_storage);
    }
    status = options.version ? print_version(json, &error) : print_help(verb, &options, &error);
    return status == FIRN_OK ? 0 : fail(NULL, ERROR_TEXT, status, &error);
}
