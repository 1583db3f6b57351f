/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the gate looks, and which nodes it hears. Called by all of the gate. Invariant:
 * a wake-up brings a look forward and delays none.
 */
#include "provisioner/gate/terms/terms.h"
#include "provisioner/node/over.h"

enum { HEARD_MS = 90000 };

int
bu_gate_hears(const struct bu_gate *gate, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	return !bu_over_is(node) && node->live.last_seen_ms &&
	       now_ms - node->live.last_seen_ms < HEARD_MS;
}

void
bu_gate_wake_at(struct bu_gate *gate, int64_t due_ms)
{
	if (gate->due_ms && gate->due_ms <= due_ms)
		return;
	gate->due_ms = due_ms;
	bu_timer_set(gate->look, due_ms - bu_loop_now_ms(gate->fleet->loop));
}

/* A look has seen its own changes. */
void
bu_gate_kick(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	if (!gate->looking)
		bu_gate_wake_at(gate,
				gate->rested_ms > now_ms ? gate->rested_ms : now_ms);
}
