/** What the verbs share that enter tables into catalogs. */
#ifndef FIRN_CLI_REGISTRATION_H
#define FIRN_CLI_REGISTRATION_H

#include "cli/invocation.h"

/** Opens the catalog; one that --catalog names is made where the verb acts. *absent: it does not exist, which is no hindrance for a preview. */
firn_status firn_registration_open(firn_invocation *invocation, bool acts, bool *absent,
                                   firn_error *error);

#endif
