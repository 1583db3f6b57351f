/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of systems that run from memory: where one runs, the node is known to run
 * it, and no disk is started instead. Asked by oracle.c at each look, and by machine.c
 * before a machine starts a disk.
 */
#include <string.h>

#include "base/json.h"
#include "tests/sim/harm/harm.h"

/* Its firmware asked what to start. */
void
oracle_to_disk(const struct machine *machine)
{
	const struct bu_node *node = daemon_node_of(machine);
	const struct row *row = node ? profile_row(&sim.applied, node->name) : NULL;

	if (row && row_machine(row) == machine->index && node->ram &&
	    node->state == BU_STATE_READY)
		broken(RULE_RAM,
		       "%s of %s, which runs from memory, is sent to its disk",
		       machine->serial, node->name);
}

/* Of the boot that the node is known to be in. */
void
oracle_memory(const struct bu_node *node)
{
	const struct machine *its = oracle_machine_of(node);
	const char *stamp =
		its && its->in_memory ? bu_json_str(its->memory.stamp, "text", "") : "";

	if (!its || !machine_works(its) || strcmp(its->boot_id, node->boot_id) != 0)
		return;
	if (!node->ram != !its->in_memory)
		broken(RULE_RAM, "%s is ready and said to run from %s; it does not",
		       node->name, node->ram ? "memory" : "a disk");
	else if (node->ram && !node->order->open && !node->order->failed &&
		 !node->order->withdrawn && node->order->class != BU_CLASS_NONE &&
		 strcmp(node->order->image_digest, node->installed_digest) != 0)
		broken(RULE_RAM,
		       "%s is done with its order to run image %.12s; it runs %.12s",
		       node->name, node->order->image_digest, node->installed_digest);
	else if (node->ram && !strstr(stamp, node->installed_digest))
		broken(RULE_RAM,
		       "%s is ready with image %.12s; in its memory is %.200s",
		       node->name, node->installed_digest, stamp);
}
