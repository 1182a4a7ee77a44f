/** How the report of a verb that changes a table begins. */
#ifndef FIRN_CLI_CHANGE_REPORT_H
#define FIRN_CLI_CHANGE_REPORT_H

#include "cli/invocation.h"

/** The facts with which a report on a change of the invocation's table begins; NULL when memory is out. */
firn_section *firn_report_change_begin(firn_invocation *invocation, bool preview,
                                       firn_error *error);
/** A table that firn can only read has a preview all the same: the report then says that no run can follow, and this is true. */
bool firn_report_change_read_only(firn_invocation *invocation, firn_section *root);

/** Of a run that committed nothing: `leftovers_removed` files of an earlier, killed run are gone all the same. */
void firn_report_not_committed(firn_section *root, size_t leftovers_removed);

#endif
