/** What runs a verb: each fills invocation->report, or prints by itself. Arguments were counted before. */
#ifndef FIRN_CLI_COMMANDS_H
#define FIRN_CLI_COMMANDS_H

#include "cli/invocation.h"

firn_status firn_command_tables(firn_invocation *invocation, firn_error *error);
firn_status firn_command_describe(firn_invocation *invocation, firn_error *error);
firn_status firn_command_snapshots(firn_invocation *invocation, firn_error *error);
firn_status firn_command_refs(firn_invocation *invocation, firn_error *error);
firn_status firn_command_files(firn_invocation *invocation, firn_error *error);
firn_status firn_command_manifests(firn_invocation *invocation, firn_error *error);
firn_status firn_command_scan(firn_invocation *invocation, firn_error *error);
firn_status firn_command_history(firn_invocation *invocation, firn_error *error);
firn_status firn_command_doctor(firn_invocation *invocation, firn_error *error);
firn_status firn_command_plan(firn_invocation *invocation, firn_error *error);
firn_status firn_command_compact(firn_invocation *invocation, firn_error *error);
firn_status firn_command_rewrite_deletes(firn_invocation *invocation, firn_error *error);
firn_status firn_command_remove_dangling_deletes(firn_invocation *invocation, firn_error *error);
firn_status firn_command_upgrade(firn_invocation *invocation, firn_error *error);
firn_status firn_command_register(firn_invocation *invocation, firn_error *error);
firn_status firn_command_sync(firn_invocation *invocation, firn_error *error);
firn_status firn_command_catalog_register(firn_invocation *invocation, firn_error *error);
firn_status firn_command_catalog_recover(firn_invocation *invocation, firn_error *error);
firn_status firn_command_demo_small_files(firn_invocation *invocation, firn_error *error);
firn_status firn_command_demo_lake(firn_invocation *invocation, firn_error *error);
firn_status firn_command_config_show(firn_invocation *invocation, firn_error *error);
firn_status firn_command_config_validate(firn_invocation *invocation, firn_error *error);
firn_status firn_command_parquet_inspect(firn_invocation *invocation, firn_error *error);
firn_status firn_command_parquet_verify(firn_invocation *invocation, firn_error *error);
firn_status firn_command_parquet_merge(firn_invocation *invocation, firn_error *error);
firn_status firn_command_audit(firn_invocation *invocation, firn_error *error);
firn_status firn_command_verify(firn_invocation *invocation, firn_error *error);
firn_status firn_command_help(firn_invocation *invocation, firn_error *error);

#endif
