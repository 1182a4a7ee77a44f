/** From a status to the exit code that the documentation promises (docs/exit-codes.md). */
#ifndef FIRN_CLI_EXIT_CODE_H
#define FIRN_CLI_EXIT_CODE_H

#include "base/error.h"

#define FIRN_EXIT_FAILURE 1
#define FIRN_EXIT_USAGE 2
#define FIRN_EXIT_PARTLY 6   /**< something was left out, or some of several tables failed */
#define FIRN_EXIT_PROBLEMS 8 /**< a verb that looks for problems found some */

/** CANCELLED: 128 and the signal that asked to stop. */
int firn_exit_code(firn_status status);

#endif
