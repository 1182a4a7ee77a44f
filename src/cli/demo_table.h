/** The demonstration table: made in a catalog, and appended to commit by commit. */
#ifndef FIRN_CLI_DEMO_TABLE_H
#define FIRN_CLI_DEMO_TABLE_H

#include "cli/invocation.h"

/**
 * Makes the table demo.events below `warehouse` in invocation->catalog, opens it as invocation->table, and writes
 * FIRN_DEMO_COMMITS commits of one file each. Looks between commits whether a stop was asked for.
 */
firn_status firn_demo_write_table(firn_invocation *invocation, const char *warehouse,
                                  firn_error *error);

#endif
