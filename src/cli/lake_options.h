/** Options of register and sync that could have no effect beside others: refused, before anything is looked at. */
#ifndef FIRN_CLI_LAKE_OPTIONS_H
#define FIRN_CLI_LAKE_OPTIONS_H

#include "cli/invocation.h"
#include "lake/sync.h"

/** INVALID: an option of the command line is for sources of another kind. */
firn_status firn_lake_options_check_source(const firn_invocation *invocation,
                                           firn_lake_source_kind kind, firn_error *error);
/** The same for all configured tables: one of them must have a source that the option is for. */
firn_status firn_lake_options_check_all(const firn_invocation *invocation, firn_error *error);
/** INVALID: nothing that the source lacks could be missed. `by_option`: the policy is one of the command line. */
firn_status firn_lake_options_check_missing(const char *table, const firn_sync_options *options,
                                            bool by_option, firn_error *error);

#endif
