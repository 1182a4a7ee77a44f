/** What the demonstrations share: a folder of their own, and verbs that are run as the command line would. */
#ifndef FIRN_CLI_DEMO_RUN_H
#define FIRN_CLI_DEMO_RUN_H

#include <limits.h>

#include "cli/invocation.h"

#define FIRN_DEMO_TABLE "demo.events"

typedef struct firn_demo_run {
    firn_invocation *invocation;
    char folder[PATH_MAX];          /**< absolute */
    char *catalog_path, *warehouse; /**< below it; owned */
} firn_demo_run;

/** Makes the folder of the verb's argument, or takes an empty one. */
firn_status firn_demo_make_folder(firn_demo_run *run, firn_error *error);
void firn_demo_run_release(firn_demo_run *run);

/** A path as a shell takes it; owned; NULL when memory is out. */
char *firn_demo_shell_word(const char *text);
/** Prints "$ firn VERB demo.events --catalog …", with `options` behind; nothing with --json. */
firn_status firn_demo_print_command(const firn_demo_run *run, const char *verb, const char *options,
                                    firn_error *error);
/** Runs a verb on demo.events, or on the arguments that `extra` has, and prints its report. `hash` (nullable) gets the content hash. */
firn_status firn_demo_step(const firn_demo_run *run, const char *verb, const firn_options *extra,
                           char hash[33], firn_error *error);

#endif
