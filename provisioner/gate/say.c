/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a validating node does not go on, in its own memory: said anew at each look.
 * `waiting` stops its deadline, `trouble` does not. Asked by gate.c for who is no
 * candidate yet, and by verdicts.c for who is one. Invariants: a reason is there within
 * one look and gone within one look after its cause; who watches is told at changes
 * alone.
 */
#include <string.h>

#include "base/log.h"
#include "provisioner/gate/gate_impl.h"

void
bu_gate_say(struct bu_gate *gate, struct bu_node *node, enum bu_say kind,
	    const char *text)
{
	char waiting[sizeof(node->live.waiting)] = "",
	     trouble[sizeof(node->live.trouble)] = "";

	if (kind == BU_SAY_WAITS)
		bu_text_copy(waiting, sizeof(waiting), text);
	else if (kind == BU_SAY_TROUBLE)
		bu_text_copy(trouble, sizeof(trouble), text);
	if (strcmp(node->live.waiting, waiting) == 0 &&
	    strcmp(node->live.trouble, trouble) == 0)
		return;
	/* The time that it waited does not count. */
	if (node->live.waiting[0] && !waiting[0])
		node->live.clock_ms = bu_loop_now_ms(gate->fleet->loop);
	memcpy(node->live.waiting, waiting, sizeof(waiting));
	memcpy(node->live.trouble, trouble, sizeof(trouble));
	if (waiting[0])
		bu_info("gate", "%s waits: %s", node->name, waiting);
	else if (trouble[0])
		bu_info("gate", "%s is not measured: %s", node->name, trouble);
	bu_fleet_touch(gate->fleet, node);
}

static char *
unheard(const struct bu_node *node)
{
	char since[24];

	if (!node->live.last_seen_ms)
		return bu_xstrdup("its agent was not heard since bringupd started");
	bu_time_iso(node->live.last_seen_ms, since);
	return bu_xasprintf("its agent was last heard at %s", since);
}

/* Owned; NULL = it is a candidate of its fabric, of which verdicts.c speaks. */
static char *
before_campaign(struct bu_gate *gate, struct bu_node *node, enum bu_say *ret_kind)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	*ret_kind = BU_SAY_WAITS;
	if (!want)
		return bu_xstrdup("it is not in the applied profile");
	if (!want->validation)
		return bu_xasprintf("pool %s names no validation, and no node joins "
				    "without a certificate; add validation = NAME to "
				    "the pool",
				    node->live.pool);
	*ret_kind = BU_SAY_TROUBLE;
	if (!bu_gate_hears(gate, node))
		return unheard(node);
	return bu_gate_unchecked(gate, node, ret_kind);
}

void
bu_gate_say_all(struct bu_gate *gate)
{
	for (size_t i = 0; gate->fleet->desired && i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];
		bu_autofree char *text = NULL;
		enum bu_say kind;

		if (node->state != BU_STATE_VALIDATING)
			continue;
		text = before_campaign(gate, node, &kind);
		if (text)
			bu_gate_say(gate, node, kind, text);
	}
}
