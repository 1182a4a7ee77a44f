/** What a running verb holds: its options, and what it opened. */
#ifndef FIRN_CLI_INVOCATION_H
#define FIRN_CLI_INVOCATION_H

#include "base/threads.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "config/config.h"
#include "report/report.h"
#include "table/table.h"

typedef struct firn_invocation {
    const firn_options *options;
    const firn_verb *verb;
    firn_cli_storage open_storage;
    /* Opened on demand, closed by firn_invocation_close. */
    firn_config *config;
    firn_storage *storage;
    firn_catalog *catalog;
    firn_table *table;
    firn_pool *pool;
    firn_report *report;   /**< printed when the verb is done, if it is not NULL */
    bool tells_failure;    /**< the report is worth printing though the verb failed */
    int exit_code;         /**< of a verb that succeeded: 0 unless it found something to tell */
    char content_hash[33]; /**< what describe --content-hash found, else "" */
    const char *done; /**< what was changed for good, for the message when printing then fails */
} firn_invocation;

void firn_invocation_close(firn_invocation *invocation);

firn_status firn_invocation_load_config(firn_invocation *invocation, firn_error *error);
firn_status firn_invocation_load_storage(firn_invocation *invocation, firn_error *error);
firn_status firn_invocation_load_pool(firn_invocation *invocation, firn_error *error);
firn_status firn_invocation_new_report(firn_invocation *invocation, firn_error *error);

/** What --catalog says, else what the configuration, which is loaded, has under `lakes` for the table (nullable); NULL: nothing, the default catalog is meant. */
const char *firn_invocation_catalog(const firn_invocation *invocation, const char *table);
/** Opens the catalog that is meant for a table. `create`: as for firn_config_open_catalog. */
firn_status firn_invocation_open_catalog(firn_invocation *invocation, const char *table,
                                         bool read_only, bool create, firn_error *error);

/** INVALID: the table is named by its path, and options name a catalog as well. */
firn_status firn_invocation_check_path(const firn_invocation *invocation, const char *argument,
                                       firn_error *error);

/** Opens the verb's table: `argument` is a path, or a name in the catalog (design, section 13). */
firn_status firn_invocation_open_table(firn_invocation *invocation, const char *argument,
                                       bool read_only, firn_error *error);

/** Opens a file that the command line names; says of a pattern that no shell took it. */
firn_status firn_invocation_open_file(firn_invocation *invocation, const char *path,
                                      firn_storage_file **out, firn_error *error);

/** Whether the verb is to act, not to preview. */
static inline bool firn_invocation_acts(const firn_invocation *invocation) {
    return invocation->options->yes && !invocation->options->dry_run;
}

#endif
