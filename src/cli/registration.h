/** What the verbs share that enter tables into catalogs. */
#ifndef FIRN_CLI_REGISTRATION_H
#define FIRN_CLI_REGISTRATION_H

#include "cli/invocation.h"

/** Opens the catalog for a table's new name. *absent: the SQLite file does not exist; it is made when the table is entered. */
firn_status firn_registration_open(firn_invocation *invocation, const char *table, bool acts,
                                   bool *absent, firn_error *error);

#endif
