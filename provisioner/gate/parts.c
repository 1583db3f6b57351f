/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all files of the gate stand on: its data, and the bell that wakes it. Invariant:
 * data that does not fit together changes nothing.
 */
#include "provisioner/gate/gate.h"

#include "base/json.h"
#include "fabric/judge/gpus.h"
#include "provisioner/gate/internal.h"

int
bu_gate_load_data(struct bu_gate *gate, const char *rates_path, const char *gpus_path,
		  struct bu_err *err)
{
	bu_autojson json_t *gpus = bu_json_load(gpus_path, err);
	struct bu_rates rates;

	if (!gpus || bu_rates_load(rates_path, &rates, err) != 0)
		return -1;
	if (bu_gpus_check(gpus, &rates, err) != 0) {
		bu_rates_fini(&rates);
		return bu_err_wrap(err, "%s", gpus_path);
	}
	bu_rates_fini(&gate->rates);
	json_decref(gate->gpus);
	gate->rates = rates;
	gate->gpus = json_incref(gpus);
	return 0;
}

/* The earlier of this and what is set. */
void
bu_gate_wake_at(struct bu_gate *gate, int64_t due_ms)
{
	if (gate->due_ms && gate->due_ms <= due_ms)
		return;
	gate->due_ms = due_ms;
	bu_timer_set(gate->look, due_ms - bu_loop_now_ms(gate->fleet->loop));
}

/* What a look itself changes, it has seen. */
void
bu_gate_kick(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	if (!gate->looking)
		bu_gate_wake_at(gate,
				gate->rested_ms > now_ms ? gate->rested_ms : now_ms);
}
