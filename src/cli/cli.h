/** The command line as a function, so that the program and its test builds differ only in their main. */
#ifndef FIRN_CLI_CLI_H
#define FIRN_CLI_CLI_H

#include "base/error.h"
#include "storage/storage.h"

/** Gives the storage that a run works on. */
typedef firn_status (*firn_cli_storage)(firn_storage **out, firn_error *error);

/** Runs one command and returns the exit code. `open_storage` is called at most once. */
int firn_cli_main(int argc, char *const *argv, firn_cli_storage open_storage);

#endif
