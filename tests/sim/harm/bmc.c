/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-power as a process beside the daemon: its requests are caught by --wrap, and
 * carried out by the real perform.c above a fake driver, in simulated time.
 * Invariant: what the driver is told to do happens to the machine that is in the bay,
 * whoever was meant.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "base/worker.h"
#include "provisioner/power/perform.h"
#include "tests/sim/harm/harm.h"

enum { LOOK_MS = 250 };

struct bu_service {
	struct bu_loop *loop; /* of the child */
	struct bu_performer *performer;
};

/* A request, on its way to the child, at work there, and on its way back. */
struct op {
	struct op *next;
	json_t *request, *reply;
	struct bu_err err;
	int bay;
	bu_reply_fn fn;
	void *arg;
	int64_t begins_ms, deadline_ms;
	int begun, ended;
};

/* What the BMC is asked. */
struct bu_power_call {
	struct bu_power_call *next;
	const struct bu_power_request *request;
	int bay;
	int64_t due_ms;
	bu_power_done_fn fn;
	void *arg;
};

static struct bu_service *child;
static struct op *ops;
static struct bu_power_call *calls;
static struct {
	enum verb fault;
	int64_t until_ms;
} faults[BAYS];

static int
bay_of(const char *target)
{
	const char *bay = strstr(target, "#bay");

	return bay ? (int)strtol(bay + 4, NULL, 10) % BAYS : 0;
}

static int
is_faulty(int bay, enum verb fault)
{
	return faults[bay].fault == fault && faults[bay].until_ms > now_ms();
}

/* --- the driver --- */

static void
switch_on(struct machine *machine)
{
	say("BMC %d: on (%s, boots the %s)", machine->bay, machine->serial,
	    machine->boots_network ? "network" : "disk");
	if (machine->on)
		return;
	machine_power(machine, 1);
	machine->unheard_ms = sim.clock.fake_wall_ms;
	machine->between_ms = machine->begun_ms;
}

static void
switch_off(struct machine *machine)
{
	say("BMC %d: off; it was %s", machine->bay, machine_words(machine));
	if (machine->on) {
		oracle_off(machine, "switched off");
		machine->unheard_ms = sim.clock.fake_wall_ms;
	}
	machine_power(machine, 0);
}

static void
carry_out(struct machine *machine, const struct bu_power_request *request,
	  struct bu_power_answer *ret)
{
	switch (request->op) {
	case BU_POWER_STATUS:
		ret->state = machine->on ? BU_POWER_ON : BU_POWER_OFF;
		return;
	case BU_POWER_IDENTITY:
		bu_text_copy(ret->machine.serial, sizeof(ret->machine.serial),
			     machine->serial);
		bu_text_copy(ret->machine.uuid, sizeof(ret->machine.uuid),
			     machine->uuid);
		for (; ret->machine.macs_count < 2; ret->machine.macs_count++)
			memcpy(ret->machine.macs[ret->machine.macs_count],
			       machine->mac[ret->machine.macs_count], BU_MAC_SIZE);
		return;
	case BU_POWER_BOOT_FIRST:
		machine->boots_network = request->first == BU_BOOT_NETWORK;
		return;
	case BU_POWER_SWITCH_ON:
		switch_on(machine);
		return;
	case BU_POWER_SWITCH_OFF:
		switch_off(machine);
		return;
	default:
		return;
	}
}

/* The machine that is in the bay answers. */
static void
answer_call(struct bu_power_call *call)
{
	struct machine *machine = machine_in(call->bay);
	struct bu_power_answer answer = {0};
	struct bu_err err = {0};

	if (is_faulty(call->bay, VERB_BMC_ERRORS))
		bu_err_set(&err, BU_ERR_REMOTE, 0, "BMC: no route to host");
	else if (!machine)
		bu_err_set(&err, BU_ERR_REMOTE, 0, "BMC: nobody answers");
	else
		carry_out(machine, call->request, &answer);
	call->fn(err.kind ? NULL : &answer, err.kind ? &err : NULL, call->arg);
	free(call);
}

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct bu_power_call *call = bu_xcalloc(1, sizeof(*call)), **link = &calls;

	call->request = request;
	call->bay = bay_of(request->target.bmc);
	call->due_ms = now_ms() + between(20, 300);
	call->fn = fn;
	call->arg = arg;
	while (*link)
		link = &(*link)->next;
	*link = call;
	return call;
}

static void
unlink_call(struct bu_power_call *call)
{
	struct bu_power_call **link = &calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
}

static void
paper_cancel(void *self, struct bu_power_call *call)
{
	unlink_call(call);
	free(call);
}

static const struct bu_power_driver paper = {
	.name = "paper",
	.start = paper_start,
	.cancel = paper_cancel,
};

/* 1 = the list may be another one. */
static int
call_turn(struct bu_power_call *call)
{
	if (call->due_ms > now_ms())
		return 0;
	if (is_faulty(call->bay, VERB_BMC_HANGS)) {
		call->due_ms = now_ms() + SECONDS(1);
		return 0;
	}
	unlink_call(call);
	answer_call(call);
	return 1;
}

/* --- the daemon's side --- */

struct bu_service *__wrap_bu_service_start(struct bu_loop *loop,
					   const char *const *argv,
					   bu_service_exit_fn exit_fn, void *arg,
					   struct bu_err *err);
void __wrap_bu_service_call(struct bu_service *service, const json_t *request,
			    int64_t deadline_ms, bu_reply_fn fn, void *arg);
void __wrap_bu_service_destroy(struct bu_service *service);

struct bu_service *
__wrap_bu_service_start(struct bu_loop *loop, const char *const *argv,
			bu_service_exit_fn exit_fn, void *arg, struct bu_err *err)
{
	child = bu_xcalloc(1, sizeof(*child));
	child->loop = bu_loop_create(&sim.clock);
	child->performer = bu_performer_create(child->loop, &paper, NULL);
	return child;
}

void
__wrap_bu_service_call(struct bu_service *service, const json_t *request,
		       int64_t deadline_ms, bu_reply_fn fn, void *arg)
{
	struct op *op = bu_xcalloc(1, sizeof(*op)), **link = &ops;
	const char *what = bu_json_str(request, "op", "");

	op->request = json_deep_copy(request);
	op->bay = bay_of(bu_json_str(request, "target", ""));
	op->begins_ms = now_ms() + 1;
	op->deadline_ms = now_ms() + deadline_ms;
	op->fn = fn;
	op->arg = arg;
	while (*link)
		link = &(*link)->next;
	*link = op;
	if (strcmp(what, "boot") == 0 && machine_in(op->bay))
		machine_in(op->bay)->begun_ms = now_ms();
	if (strcmp(what, "status") != 0) {
		oracle_power(op->bay, what);
		lost_power("a power action");
		say("daemon: %s bay %d, %s", what, op->bay,
		    bu_json_str(request, "first", ""));
	}
}

static void
op_free(struct op *op)
{
	struct op **link = &ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
	json_decref(op->request);
	json_decref(op->reply);
	free(op);
}

/* Children die with their parent. */
void
__wrap_bu_service_destroy(struct bu_service *service)
{
	if (!service)
		return;
	bu_performer_destroy(service->performer);
	bu_loop_destroy(service->loop);
	while (ops)
		op_free(ops);
	if (child == service)
		child = NULL;
	free(service);
}

static void
answer(struct op *op)
{
	bu_reply_fn fn = op->fn;

	op->fn = NULL;
	if (fn)
		fn(op->reply, op->reply ? NULL : &op->err, op->arg);
}

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct op *op = arg;
	int lost = is_faulty(op->bay, VERB_BMC_LOSES) && dice(2) == 0;

	op->ended = 1;
	op->reply = reply ? json_deep_copy(reply) : NULL;
	if (err)
		op->err = *err;
	if (!lost)
		answer(op);
}

/* 1 = the list may be another one. */
static int
op_turn(struct op *op)
{
	if (!op->begun && op->begins_ms <= now_ms()) {
		op->begun = 1;
		bu_perform(child->performer, op->request, on_performed, op);
		return 1;
	}
	if (op->fn && op->deadline_ms <= now_ms()) {
		json_decref(op->reply);
		op->reply = NULL;
		bu_err_set(&op->err, BU_ERR_TIMEOUT, 0,
			   "no answer from bringup-power in time");
		answer(op);
		return 1;
	}
	if (op->ended && !op->fn) {
		op_free(op);
		return 1;
	}
	return 0;
}

void
bmc_turn(void)
{
	struct bu_power_call *call = calls;
	struct op *op;

	while (call)
		call = call_turn(call) ? calls : call->next;
	if (child)
		bu_loop_step(child->loop, 0);
	op = ops;
	while (op)
		op = op_turn(op) ? ops : op->next;
}

int64_t
bmc_due_ms(void)
{
	/* What perform.c waits for by itself. */
	int64_t due_ms = ops ? now_ms() + LOOK_MS : INT64_MAX;

	for (const struct bu_power_call *call = calls; call; call = call->next)
		if (call->due_ms < due_ms)
			due_ms = call->due_ms;
	for (const struct op *op = ops; op; op = op->next) {
		if (!op->begun && op->begins_ms < due_ms)
			due_ms = op->begins_ms;
		if (op->fn && op->deadline_ms < due_ms)
			due_ms = op->deadline_ms;
	}
	return due_ms;
}

void
bmc_fault(int bay, enum verb fault, int64_t until_ms)
{
	faults[bay].fault = fault;
	faults[bay].until_ms = until_ms;
}

void
bmc_mend(void)
{
	memset(faults, 0, sizeof(faults));
}
