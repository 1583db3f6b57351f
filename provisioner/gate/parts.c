/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all files of the gate stand on: its data. Invariant: data that does not fit
 * together changes nothing.
 */
#include "provisioner/gate/gate.h"

#include "base/json.h"
#include "fabric/judge/gpus.h"
#include "provisioner/gate/gate_impl.h"

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
