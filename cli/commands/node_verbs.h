/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of nodes: one command for each row of model/verb.h. */
#ifndef BU_CLI_COMMANDS_NODE_VERBS_H
#define BU_CLI_COMMANDS_NODE_VERBS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"
#include "model/shown_status.h"
#include "model/verb.h"

/* The exit code, or -1 and err when nothing could be asked. */
bu_must int bu_cmd_node_verb(enum bu_verb verb, const struct bu_options *options,
			     struct bu_err *err);
/* Prints the daemon's answer, refusals to errors; the exit code of the first of them,
 * 0 when all were taken. */
int bu_node_verb_print(const json_t *reply, int format, FILE *out, FILE *errors);

/* Fills what came of a power action, as the nodes tell it by now, into the answers to
 * it; how many have no outcome yet. since_ms: of the question, for status. */
int bu_node_power_take(json_t *answers, const struct bu_shown_nodes *now,
		       const char *op, int64_t since_ms);

#endif
