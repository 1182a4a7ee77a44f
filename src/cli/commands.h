/** What runs a verb: each fills session->report, or prints by itself. Arguments were counted before. */
#ifndef FIRN_CLI_COMMANDS_H
#define FIRN_CLI_COMMANDS_H

#include "cli/session.h"

firn_status firn_command_tables(firn_session *session, firn_error *error);
firn_status firn_command_describe(firn_session *session, firn_error *error);
firn_status firn_command_snapshots(firn_session *session, firn_error *error);
firn_status firn_command_refs(firn_session *session, firn_error *error);
firn_status firn_command_files(firn_session *session, firn_error *error);
firn_status firn_command_manifests(firn_session *session, firn_error *error);
firn_status firn_command_history(firn_session *session, firn_error *error);
firn_status firn_command_doctor(firn_session *session, firn_error *error);
firn_status firn_command_plan(firn_session *session, firn_error *error);
firn_status firn_command_compact(firn_session *session, firn_error *error);
firn_status firn_command_catalog_register(firn_session *session, firn_error *error);
firn_status firn_command_demo_small_files(firn_session *session, firn_error *error);
firn_status firn_command_config_show(firn_session *session, firn_error *error);
firn_status firn_command_config_validate(firn_session *session, firn_error *error);
firn_status firn_command_parquet_inspect(firn_session *session, firn_error *error);
firn_status firn_command_parquet_verify(firn_session *session, firn_error *error);
firn_status firn_command_parquet_merge(firn_session *session, firn_error *error);
firn_status firn_command_help(firn_session *session, firn_error *error);

#endif
