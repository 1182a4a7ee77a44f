/** What the verbs share that enter tables into catalogs. */
#ifndef FIRN_CLI_REGISTRATION_H
#define FIRN_CLI_REGISTRATION_H

#include "cli/invocation.h"

/** Opens the catalog for a table's new name. *absent: the SQLite file does not exist; it is made when the table is entered. */
firn_status firn_registration_open(firn_invocation *invocation, const char *table, bool acts,
                                   bool *absent, firn_error *error);
/** A name may only be given anew where what it points at is gone. *dangling: that is so, and this is it (it lives as long as the report); NULL: the name is free. EXISTS. */
firn_status firn_registration_check_name(firn_invocation *invocation, firn_table_name name,
                                         const char *argument, const char **dangling,
                                         firn_error *error);
/** Points the name at a metadata file, in place of what is gone (`dangling`, nullable). */
firn_status firn_registration_enter(firn_invocation *invocation, firn_table_name name,
                                    const char *metadata_location, const char *dangling,
                                    firn_error *error);

/** BLOCKED where the catalog has the table whose metadata file it is under another name: who commits by one of them forks the table from the other. It is known by its folder of metadata and, where `metadata` (nullable) is given, by location and uuid. */
firn_status firn_registration_check_alone(firn_invocation *invocation, firn_table_name name,
                                          const char *metadata_location,
                                          const firn_table_metadata *metadata, firn_error *error);

#endif
