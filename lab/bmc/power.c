/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power: off, going on, in POST, on, going off. The machine itself starts when POST
 * ends, so a BMC with a long POST says On while nothing runs yet, as real ones do.
 */
#include <string.h>

#include "base/log.h"
#include "lab/bmc/engine.h"

enum { WATCH_MS = 500 /* between two looks at a machine that may go off by itself */ };

static void
enter(struct bu_bmc *bmc, enum bu_bmc_phase phase, int64_t in_ms)
{
	bmc->phase = phase;
	bmc->due_ms = bmc->now_ms + in_ms;
	if (phase == BU_BMC_OFF)
		bmc->off_ms = bmc->now_ms;
}

static void
complain(const struct bu_err *err)
{
	bu_warn("bmc", "%s", err->text);
}

static int
machine_is_on(struct bu_bmc *bmc)
{
	struct bu_err err = {0};
	int is_on = bmc->phase == BU_BMC_ON;

	bmc->machine->now_ms = bmc->now_ms;
	if (bmc->machine->ops->is_on(bmc->machine, &is_on, &err) != 0)
		complain(&err);
	return is_on;
}

void
bu_bmc_power_begin(struct bu_bmc *bmc)
{
	enter(bmc, machine_is_on(bmc) ? BU_BMC_ON : BU_BMC_OFF, 0);
	bmc->off_ms = INT64_MIN / 2; /* long ago */
}

static void
go_on(struct bu_bmc *bmc)
{
	bmc->restarts = 0;
	bu_bmc_log(bmc, "OK", "The system was switched on");
	enter(bmc, BU_BMC_GOING_ON, bu_bmc_rule_int(bmc, "power_ms", 0));
}

static void
begin_post(struct bu_bmc *bmc)
{
	int64_t fault_s = bu_bmc_fault_get(bmc, BU_BMC_FAULT_POST);
	int64_t post_ms = fault_s != BU_BMC_NOT ? fault_s * 1000
						: bu_bmc_rule_int(bmc, "post_ms", 0);

	bu_bmc_apply_bios(bmc);
	bu_bmc_finish_tasks(bmc, 1);
	bu_bmc_begin_boot(bmc, bmc->target, sizeof(bmc->target));
	enter(bmc, BU_BMC_IN_POST, post_ms);
}

static void
start_machine(struct bu_bmc *bmc)
{
	struct bu_err err = {0};

	bmc->machine->now_ms = bmc->now_ms;
	if (bmc->machine->ops->start(bmc->machine, bmc->target, bu_bmc_media_image(bmc),
				     &err) == 0) {
		enter(bmc, BU_BMC_ON, 0);
		return;
	}
	complain(&err);
	bu_bmc_log(bmc, "Critical", "The system did not start");
	enter(bmc, BU_BMC_OFF, 0);
}

static void
stop_machine(struct bu_bmc *bmc)
{
	struct bu_err err = {0};

	if (machine_is_on(bmc) && bmc->machine->ops->stop(bmc->machine, &err) != 0) {
		complain(&err);
		bmc->restarts = 0;
		return;
	}
	bu_bmc_log(bmc, "OK", "The system was switched off");
	enter(bmc, BU_BMC_GOING_OFF, bu_bmc_rule_int(bmc, "power_ms", 0));
}

/* A machine may go off, or be started, without its BMC. */
static void
watch(struct bu_bmc *bmc)
{
	int is_on;

	if (bmc->now_ms < bmc->watched_ms + WATCH_MS)
		return;
	bmc->watched_ms = bmc->now_ms;
	is_on = machine_is_on(bmc);
	if (bmc->phase == BU_BMC_ON && !is_on) {
		bu_bmc_log(bmc, "OK", "The system went off");
		enter(bmc, BU_BMC_OFF, 0);
	} else if (bmc->phase == BU_BMC_OFF && is_on)
		enter(bmc, BU_BMC_ON, 0);
}

/* One step; 0 when nothing is due. */
static int
step(struct bu_bmc *bmc)
{
	if (bmc->phase == BU_BMC_OFF && bmc->restarts) {
		go_on(bmc);
		return 1;
	}
	if (bmc->phase == BU_BMC_OFF || bmc->phase == BU_BMC_ON ||
	    bmc->now_ms < bmc->due_ms)
		return 0;
	if (bmc->phase == BU_BMC_GOING_ON)
		begin_post(bmc);
	else if (bmc->phase == BU_BMC_IN_POST)
		start_machine(bmc);
	else
		enter(bmc, BU_BMC_OFF, 0);
	return 1;
}

int64_t
bu_bmc_advance(struct bu_bmc *bmc, int64_t now_ms)
{
	bmc->now_ms = now_ms;
	if (bmc->phase == BU_BMC_ON || bmc->phase == BU_BMC_OFF)
		watch(bmc);
	while (step(bmc))
		;
	bu_bmc_finish_tasks(bmc, 0);
	bu_bmc_finish_media(bmc);
	if (bmc->phase == BU_BMC_OFF)
		return -1;
	if (bmc->phase == BU_BMC_ON)
		return bmc->restarts ? now_ms + WATCH_MS : -1;
	return bmc->due_ms;
}

/* --- ResetType --- */

enum effect { ON, OFF, ASK_OFF, RESTART, ASK_RESTART, PUSH, NOTHING };

static const struct {
	const char *type;
	enum effect effect;
} types[] = {
	{"On", ON},
	{"ForceOn", ON},
	{"ForceOff", OFF},
	{"GracefulShutdown", ASK_OFF},
	{"ForceRestart", RESTART},
	{"PowerCycle", RESTART},
	{"FullPowerCycle", RESTART},
	{"GracefulRestart", ASK_RESTART},
	{"PushPowerButton", PUSH},
	{"Nmi", NOTHING},
};

static void
ask_off(struct bu_bmc *bmc)
{
	struct bu_err err = {0};

	/* Nothing runs yet that could be asked. */
	if (bmc->phase != BU_BMC_ON)
		return;
	bmc->machine->now_ms = bmc->now_ms;
	bmc->watched_ms = bmc->now_ms;
	if (bmc->machine->ops->ask_off(bmc->machine, &err) != 0)
		complain(&err);
}

static void
do_effect(struct bu_bmc *bmc, enum effect effect)
{
	int is_off = bmc->phase == BU_BMC_OFF;

	switch (effect) {
	case ON:
		if (is_off)
			go_on(bmc);
		break;
	case OFF:
		bmc->restarts = 0;
		if (!is_off)
			stop_machine(bmc);
		break;
	case RESTART:
		bmc->restarts = 1;
		stop_machine(bmc);
		break;
	case ASK_OFF:
	case ASK_RESTART:
		bmc->restarts = effect == ASK_RESTART;
		ask_off(bmc);
		break;
	case PUSH:
		do_effect(bmc, is_off ? ON : ASK_OFF);
		break;
	case NOTHING:
		break;
	}
}

/* A machine that is off is not restarted, nor shut down; one that went off a moment ago
 * does not go on yet. */
static int
is_early(const struct bu_bmc *bmc, enum effect effect)
{
	int64_t early_ms = bu_bmc_rule_int(bmc, "early_on_ms", 0);

	if (effect == ON || effect == PUSH)
		return bmc->phase == BU_BMC_GOING_OFF ||
		       (bmc->phase == BU_BMC_OFF &&
			bmc->now_ms < bmc->off_ms + early_ms);
	return effect != OFF && bmc->phase != BU_BMC_ON && bmc->phase != BU_BMC_IN_POST;
}

void
bu_bmc_restart(struct bu_bmc *bmc)
{
	bu_bmc_drop_sessions(bmc);
	bmc->away_ms = bmc->now_ms + bu_bmc_rule_int(bmc, "manager_ms", 0);
	bmc->reset_ms = bmc->wall_ms;
	bu_bmc_log(bmc, "OK", "The management controller was restarted");
}

static void
restart_in_the_midst(struct bu_bmc *bmc)
{
	int64_t *left = &bmc->faults[BU_BMC_FAULT_RESTARTS];

	if (*left == BU_BMC_NOT || *left == 0)
		return;
	if (*left != INT64_MAX)
		--*left;
	bu_bmc_restart(bmc);
}

int
bu_bmc_reset(struct bu_bmc_call *call, const char *type)
{
	struct bu_bmc *bmc = call->bmc;
	size_t row = 0;

	while (row < BU_LEN(types) && strcmp(types[row].type, type) != 0)
		row++;
	if (row == BU_LEN(types)) {
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_VALUE, "ResetType", type);
		return -1;
	}
	if (bu_bmc_fault_get(bmc, BU_BMC_FAULT_IGNORES_POWER) != BU_BMC_NOT)
		return 0;
	if (is_early(bmc, types[row].effect)) {
		bu_bmc_refuse(call->reply, BU_BMC_CONFLICT, "ResetType", type);
		return -1;
	}
	do_effect(bmc, types[row].effect);
	bu_bmc_advance(bmc, bmc->now_ms);
	restart_in_the_midst(bmc);
	return 0;
}
