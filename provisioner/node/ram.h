/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose system runs from memory: each boot, ordered or not, is from the network.
 */
#ifndef BU_NODE_RAM_H
#define BU_NODE_RAM_H

#include "provisioner/node/reconcile.h"

/* Its next boot is one of these: by its order, while that boots it, else by what it
 * runs. */
int bu_ram_is(const struct bu_reconcile *rec, const struct bu_node *node);

/* What a machine gets that asks for its boot script. */
enum bu_ram_script {
	BU_RAM_OTHER,  /* it is none of these nodes, or its order says what it gets */
	BU_RAM_SYSTEM, /* the ramdisk, with a token of its own */
	BU_RAM_WAIT,   /* it asks again: never its disk */
};
enum bu_ram_script bu_ram_script(const struct bu_reconcile *rec,
				 const struct bu_node *node);

enum { BU_RAM_STEP_SIZE = 112 };
/* The step that the token of a boot without an order is of; another one after each
 * trade. */
void bu_ram_step(const struct bu_node *node, char ret[BU_RAM_STEP_SIZE]);
/* The token of such a boot: of the present one, or of the one that was traded last,
 * whose answer may have been lost. 0 with its step, or -1. */
bu_must int bu_ram_token(const struct bu_reconcile *rec, const struct bu_node *node,
			 const char *token, char ret[BU_RAM_STEP_SIZE]);

/* What the ramdisk's agent of such a node says. The state follows. */
bu_must int bu_ram_hello(struct bu_reconcile *rec, struct bu_node *node,
			 struct bu_event *events, size_t count, struct bu_err *err);

struct bu_ram_image {
	const char *name, *digest;
};
/* What the node's next boot loads, or this one; borrowed. digest "" = nothing. */
void bu_ram_image(const struct bu_node *node, struct bu_ram_image *ret);
/* Its ramdisk's agent has this to do, whose id is that of the boot's step. */
int bu_ram_loads(const struct bu_reconcile *rec, const struct bu_node *node,
		 struct bu_ram_image *ret);
/* The agent's word on it; failure NULL = done. An old one is ignored. */
void bu_ram_result(struct bu_reconcile *rec, struct bu_node *node, const char *step,
		   const struct bu_err *failure);

#endif
