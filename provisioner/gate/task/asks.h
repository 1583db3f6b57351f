/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs that are asked for, until their probes begin. */
#ifndef BU_GATE_TASK_ASKS_H
#define BU_GATE_TASK_ASKS_H

#include "provisioner/gate/terms/terms.h"

/* A pair that a campaign asks for on its rail. */
struct bu_ask {
	char name[2][BU_NAME_MAX]; /* sorted */
	char rail[BU_NAME_MAX];    /* "rail0", or across rails "rail0/rail1" */
	int qps, single;           /* see struct bu_rail_ends */
};

/* asks.c. Keeps an ask until bu_gate_start_asked() starts all whose nodes are free.
 * a, b: names. */
void bu_gate_ask_for(struct bu_gate *gate, const char *a, const char *b,
		     const struct bu_rail_ends *rail);
void bu_gate_start_asked(struct bu_gate *gate);

#endif
