/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the table of commands in main.c calls. A command gives its exit code, or -1 and
 * err, which main.c prints and turns into the exit code of its kind.
 */
#ifndef BU_CLI_COMMANDS_COMMANDS_H
#define BU_CLI_COMMANDS_COMMANDS_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/commands/image.h"
#include "cli/options.h"

/* Exit code of `plan --detailed-exitcode` when there is something to do. */
enum { BU_EXIT_CHANGES = 2 };

bu_must int bu_cmd_cluster_manifest(const struct bu_options *options,
				    struct bu_err *err);
bu_must int bu_cmd_check(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_login(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_pool_list(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_pool_scale(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_token_create(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_token_list(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_token_revoke(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_plan(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_apply(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_export(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_import(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_status(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_audit_verify(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_init(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rekey_begin(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rekey_switch(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rekey_finish(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rekey_status(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_start(const struct bu_options *options, struct bu_err *err);
/* The plan of a start, as the daemon answered. */
void bu_start_print(const json_t *plan, FILE *out);
bu_must int bu_cmd_site_take_over(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_audit_anchor(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_backup(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_backup_keygen(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_events(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_list(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_show(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_console(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_events(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_sensors(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_firmware(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_node_why(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rollout_list(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rollout_show(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rollout_pause(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rollout_resume(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_rollout_abort(const struct bu_options *options, struct bu_err *err);
/* What an abort meant for whom, as the daemon answered. */
void bu_rollout_abort_print(const char *id, const json_t *reply, FILE *out);
bu_must int bu_cmd_fabric_show(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_fabric_run(const struct bu_options *options, struct bu_err *err);
bu_must int bu_cmd_fabric_matrix(const struct bu_options *options, struct bu_err *err);
/* fabric show NODE. */
bu_must int bu_fabric_show_node(const struct bu_options *options, struct bu_err *err);
/* The table of an answer's "pairs". */
bu_must int bu_fabric_print_pairs(const json_t *answer, struct bu_err *err);
bu_must int bu_cmd_fabric_certificate(const struct bu_options *options,
				      struct bu_err *err);
/* Has options of its own; gives the exit code. */
bu_must int bu_cmd_fabric_topology(const struct bu_options *options,
				   struct bu_err *err);
int bu_cmd_fabric_rehearse(int argc, char **argv);
/* Hands over to the program bringup-lab; returns only when that fails. */
int bu_cmd_lab(int argc, char **argv);
/* The same to bringup-backup. */
int bu_cmd_restore(int argc, char **argv);

#endif
