/** Standard output as a place to write that tells when it failed. */
#ifndef FIRN_CLI_OUTPUT_H
#define FIRN_CLI_OUTPUT_H

#include "base/read_at.h"

/** IO when not everything could be written: a closed pipe, a full disk. */
firn_write_to firn_standard_output(void);

/** Writes text. */
firn_status firn_print(const char *text, firn_error *error);

/** Closes standard output: some file systems report a full disk only now. */
firn_status firn_close_output(firn_error *error);
/** "firn: MESSAGE" on standard error. Control characters (names come from tables) don't reach a terminal. */
void firn_print_error_line(const char *message);

#endif
