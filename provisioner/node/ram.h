/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose system runs from memory: they boot from the network each time, with or
 * without an order. */
#ifndef BU_NODE_RAM_H
#define BU_NODE_RAM_H

#include "provisioner/node/reconcile.h"

/* 1 = the next boot is of such a system: by the order while that boots the machine,
 * else by the installed system. */
int bu_ram_is(const struct bu_reconcile *rec, const struct bu_node *node);

/* Answer to a machine that asks for its boot script. */
enum bu_ram_script {
	BU_RAM_OTHER,  /* by the order, or no such node */
	BU_RAM_SYSTEM, /* the ramdisk, with a token for this boot */
	BU_RAM_WAIT,   /* asks again; never boots from disk */
};
enum bu_ram_script bu_ram_script(const struct bu_reconcile *rec,
				 const struct bu_node *node);

enum { BU_RAM_STEP_SIZE = 112 };
/* The step of the token for a boot without an order. Each trade makes another step. */
void bu_ram_step(const struct bu_node *node, char ret[BU_RAM_STEP_SIZE]);
/* Is this the token of such a boot: the present one, or the one traded last, whose
 * answer may have been lost? 0 with its step, or -1. */
bu_must int bu_ram_token(const struct bu_reconcile *rec, const struct bu_node *node,
			 const char *token, char ret[BU_RAM_STEP_SIZE]);

/* The ramdisk's agent of such a node says hello: the state follows. */
bu_must int bu_ram_hello(struct bu_reconcile *rec, struct bu_node *node,
			 struct bu_event *events, size_t count, struct bu_err *err);

struct bu_ram_image {
	const char *name, *digest;
};
/* The image of the next or present boot; borrowed. digest "" = none. */
void bu_ram_image(const struct bu_node *node, struct bu_ram_image *ret);
/* 1 = the ramdisk's agent is to load this image now; id of the work: admitted_step. */
int bu_ram_loads(const struct bu_reconcile *rec, const struct bu_node *node,
		 struct bu_ram_image *ret);
/* The agent's result of that work; failure NULL = done. Results of other steps are
 * ignored. */
void bu_ram_result(struct bu_reconcile *rec, struct bu_node *node, const char *step,
		   const struct bu_err *failure);

#endif
