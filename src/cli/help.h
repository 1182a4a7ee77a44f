/** The help texts, made from the tables of verbs and options. */
#ifndef FIRN_CLI_HELP_H
#define FIRN_CLI_HELP_H

#include "base/buffer.h"
#include "cli/options.h"

/** Appends the help of a verb; NULL: of firn. */
firn_status firn_help_append(const firn_verb *verb, firn_buffer *out, firn_error *error);
/** Prints the help of a verb, as text or (--json) as a document; NULL: of the verbs that the arguments name, or of firn. INVALID where they name none. */
firn_status firn_help_print(const firn_verb *verb, const firn_options *options, firn_error *error);

#endif
