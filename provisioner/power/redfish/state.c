/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the machine is on, and switching it; called by driver.c. Invariant: a switch
 * that may have been done is not asked for again.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"

enum { SWITCH_TRIES = 4 };

/* What is not here is unknown, and rests: Paused, null. iLO 4 says Reset. */
static const struct {
	const char *says;
	enum bu_power_state state;
	enum bu_power_move move;
} states[] = {
	{"On", BU_POWER_ON, BU_POWER_RESTS},
	{"Off", BU_POWER_OFF, BU_POWER_RESTS},
	{"PoweringOn", BU_POWER_UNKNOWN, BU_POWER_RISES},
	{"PoweringOff", BU_POWER_UNKNOWN, BU_POWER_FALLS},
	{"Reset", BU_POWER_UNKNOWN, BU_POWER_RISES},
};

int
rf_state(struct rf_op *op, struct bu_power_answer *ret, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	const char *state = bu_json_str(system, "PowerState", "");

	if (!system)
		return -1;
	ret->state = BU_POWER_UNKNOWN;
	ret->move = BU_POWER_RESTS;
	for (size_t i = 0; i < BU_LEN(states); i++)
		if (strcmp(state, states[i].says) == 0) {
			ret->state = states[i].state;
			ret->move = states[i].move;
		}
	return 0;
}

static const char *
reset_type(const struct rf_op *op, const struct rf_tree *tree, int on,
	   struct bu_err *err)
{
	static const char *const types[2][2] = {{"ForceOff", NULL}, {"On", "ForceOn"}};
	bu_autofree char *allowed = NULL;

	for (int i = 0; i < 2 && types[on][i]; i++)
		if (rf_allows(tree->resets, types[on][i]))
			return types[on][i];
	allowed = bu_json_canonical(tree->resets);
	bu_err_set(err, BU_ERR_REMOTE, 0, "%s: the machine allows %s, and no %s",
		   op->bmc->origin, allowed, types[on][0]);
	return NULL;
}

/* Is the machine where it should be, or on its way there? -1: its BMC does not say. */
static int
obeys(struct rf_op *op, enum bu_power_state want)
{
	struct bu_power_answer seen = {0};
	struct bu_err unread;

	if (rf_go_on(op, NULL) != 0 || rf_state(op, &seen, &unread) != 0)
		return -1;
	return seen.state == want ||
	       seen.move == (want == BU_POWER_ON ? BU_POWER_RISES : BU_POWER_FALLS);
}

/* One try. BU_ERR_TIMEOUT: it may have been done; BU_ERR_BUSY: it may be asked again.
 */
static int
try_switch(struct rf_op *op, enum bu_power_state want, struct bu_err *err)
{
	struct rf_tree *tree = rf_tree(op, err);
	bu_autojson json_t *body = NULL;
	char target[RF_PATH_SIZE];
	const char *type;
	int done;

	if (!tree || rf_know_resets(op, tree, err) != 0 ||
	    !(type = reset_type(op, tree, want == BU_POWER_ON, err)))
		return -1;
	body = json_pack("{s:s}", "ResetType", type);
	if (!tree->reset[0])
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "%s: the reset of %s leads away from the BMC",
				  op->bmc->origin, tree->system);
	strcpy(target, tree->reset);
	if (rf_action(op, target, body, err) == 0)
		return 0;
	if (rf_is_gone(op->status)) {
		err->kind = BU_ERR_NOTFOUND;
		return -1;
	}
	if (err->kind == BU_ERR_TIMEOUT)
		return -1;
	done = obeys(op, want);
	if (done < 0 && err->kind == BU_ERR_BUSY)
		err->kind = BU_ERR_TIMEOUT;
	return done > 0 ? 0 : -1;
}

/* A BMC that is busy is asked again, and a refusal is none when the machine is where it
 * should be. An action that is not there any more is looked for once. What may have
 * been done is not asked for again: the caller looks. */
int
rf_switch(struct rf_op *op, enum bu_power_state want, struct bu_err *err)
{
	int gone = 0;

	for (int i = 1;; i++) {
		struct bu_err why = {0};

		if (try_switch(op, want, &why) == 0)
			return 0;
		if (why.kind == BU_ERR_NOTFOUND && !gone++) {
			rf_forget(op->bmc);
			continue;
		}
		if (why.kind != BU_ERR_BUSY || i >= SWITCH_TRIES ||
		    rf_pause(op, op->driver->times.again_ms, NULL) != 0) {
			if (why.kind == BU_ERR_BUSY || why.kind == BU_ERR_NOTFOUND)
				why.kind = BU_ERR_REMOTE;
			*err = why;
			return -1;
		}
	}
}
