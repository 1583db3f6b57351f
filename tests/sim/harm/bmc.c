/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-power as a process beside the daemon: its requests are caught by --wrap, and
 * carried out by the real perform.c above a driver of paper, one after another for each
 * connection. perform.c blocks, so each request has a thread of its own; one thread
 * runs at a time, and sleeping hands over to the simulated clock. Invariant: what the
 * driver is told to do happens to the machine that is in the bay, whoever was meant.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "base/json.h"
#include "base/worker.h"
#include "provisioner/power/power.h"
#include "tests/sim/harm/harm.h"

struct bu_service {
	int ended;
};

struct op {
	struct op *next;
	json_t *request, *reply;
	struct bu_err err;
	int bay;
	char connection[40];
	bu_reply_fn fn;
	void *arg;
	int64_t id, due_ms, until_ms, deadline_ms;
	int started, ended, killed, lost;
	pthread_t thread;
	sem_t go, back;
};

static struct op *ops;
static int64_t ids;
static __thread struct op *mine;
static struct {
	enum verb fault;
	int64_t until_ms;
} faults[BAYS];

/* --- in the thread of a request --- */

static void
pass(struct op *op, int64_t ms)
{
	if (op->killed)
		return;
	op->due_ms = now_ms() + ms;
	sem_post(&op->back);
	sem_wait(&op->go);
}

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

int
__wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	if (!mine)
		return __real_poll(fds, count, timeout_ms);
	pass(mine, timeout_ms);
	return 0;
}

/* The machine that answers for the bay; NULL and err. */
static struct machine *
reach(struct op *op, struct bu_err *err)
{
	struct machine *machine;

	pass(op, between(20, 300));
	while (!op->killed && faults[op->bay].fault == VERB_BMC_HANGS &&
	       faults[op->bay].until_ms > now_ms())
		pass(op, SECONDS(1));
	machine = machine_in(op->bay);
	if (op->killed)
		bu_err_set(err, BU_ERR_CANCELLED, 0, "bringup-power is gone");
	else if (faults[op->bay].fault == VERB_BMC_ERRORS &&
		 faults[op->bay].until_ms > now_ms())
		bu_err_set(err, BU_ERR_REMOTE, 0, "BMC: no route to host");
	else if (!machine)
		bu_err_set(err, BU_ERR_REMOTE, 0, "BMC: nobody answers");
	else
		return machine;
	return NULL;
}

static int
paper_status(void *self, const char *target, enum bu_power_state *ret,
	     struct bu_err *err)
{
	const struct machine *machine = reach(self, err);

	if (!machine)
		return -1;
	*ret = machine->on ? BU_POWER_ON : BU_POWER_OFF;
	return 0;
}

static int
paper_boot_first(void *self, const char *target, enum bu_boot_first first,
		 struct bu_err *err)
{
	struct machine *machine = reach(self, err);

	if (!machine)
		return -1;
	machine->boots_network = first == BU_BOOT_NETWORK;
	return 0;
}

static int
paper_power_on(void *self, const char *target, struct bu_err *err)
{
	struct machine *machine = reach(self, err);

	if (!machine)
		return -1;
	say("BMC %d: on (%s, boots the %s)", machine->bay, machine->serial,
	    machine->boots_network ? "network" : "disk");
	machine_power(machine, 1);
	return 0;
}

static int
paper_power_off(void *self, const char *target, struct bu_err *err)
{
	struct machine *machine = reach(self, err);

	if (!machine)
		return -1;
	say("BMC %d: off; it was %s", machine->bay, machine_words(machine));
	if (machine->on)
		oracle_off(machine, "switched off");
	machine_power(machine, 0);
	return 0;
}

static char *
paper_connection(const char *target, struct bu_err *err)
{
	return bu_xstrndup(target, strcspn(target, "#"));
}

static const struct bu_power_driver paper = {
	.name = "paper",
	.connection = paper_connection,
	.status = paper_status,
	.boot_first = paper_boot_first,
	.power_on = paper_power_on,
	.power_off = paper_power_off,
};

static void *
run(void *arg)
{
	struct op *op = arg;

	mine = op;
	sem_wait(&op->go);
	op->reply = bu_power_perform(&paper, op, op->request, &op->err);
	op->ended = 1;
	sem_post(&op->back);
	return NULL;
}

/* --- the daemon's side --- */

static void
resume(struct op *op)
{
	if (!op->started) {
		op->started = 1;
		sem_init(&op->go, 0, 0);
		sem_init(&op->back, 0, 0);
		bu_assert(pthread_create(&op->thread, NULL, run, op) == 0);
	}
	sem_post(&op->go);
	sem_wait(&op->back);
	if (op->ended)
		pthread_join(op->thread, NULL);
}

static void
op_free(struct op *op)
{
	struct op **link = &ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
	if (op->started) {
		op->killed = 1;
		while (!op->ended)
			resume(op);
		sem_destroy(&op->go);
		sem_destroy(&op->back);
	}
	json_decref(op->request);
	json_decref(op->reply);
	free(op);
}

struct bu_service *__wrap_bu_service_start(struct bu_loop *loop,
					   const char *const *argv,
					   bu_service_exit_fn exit_fn, void *arg,
					   struct bu_err *err);
int64_t __wrap_bu_service_call(struct bu_service *service, const json_t *request,
			       int64_t deadline_ms, bu_reply_fn fn, void *arg);
void __wrap_bu_service_cancel(struct bu_service *service, int64_t id);
void __wrap_bu_service_destroy(struct bu_service *service);

struct bu_service *
__wrap_bu_service_start(struct bu_loop *loop, const char *const *argv,
			bu_service_exit_fn exit_fn, void *arg, struct bu_err *err)
{
	return bu_xcalloc(1, sizeof(struct bu_service));
}

int64_t
__wrap_bu_service_call(struct bu_service *service, const json_t *request,
		       int64_t deadline_ms, bu_reply_fn fn, void *arg)
{
	struct op *op = bu_xcalloc(1, sizeof(*op)), **link = &ops;
	const char *target = bu_json_str(request, "target", "");
	const char *bay = strstr(target, "#bay");

	op->request = json_deep_copy(request);
	op->id = ++ids;
	op->bay = bay ? (int)strtol(bay + 4, NULL, 10) % BAYS : 0;
	snprintf(op->connection, sizeof(op->connection), "%.*s",
		 (int)strcspn(target, "#"), target);
	op->due_ms = now_ms() + 1;
	op->deadline_ms = now_ms() + deadline_ms;
	op->fn = fn;
	op->arg = arg;
	while (*link)
		link = &(*link)->next;
	*link = op;
	if (strcmp(bu_json_str(request, "op", ""), "status") != 0)
		oracle_power(op->bay, bu_json_str(request, "op", ""));
	if (strcmp(bu_json_str(request, "op", ""), "status") != 0)
		say("daemon: %s bay %d, %s", bu_json_str(request, "op", ""), op->bay,
		    bu_json_str(request, "first", ""));
	return op->id;
}

void
__wrap_bu_service_cancel(struct bu_service *service, int64_t id)
{
	for (struct op *op = ops; op; op = op->next)
		if (op->id == id)
			op->fn = NULL;
}

/* Children die with their parent. */
void
__wrap_bu_service_destroy(struct bu_service *service)
{
	while (service && ops)
		op_free(ops);
	free(service);
}

/* A connection serves one request after another. */
static int
is_its_turn(const struct op *op)
{
	for (const struct op *at = ops; at != op; at = at->next)
		if (strcmp(at->connection, op->connection) == 0)
			return 0;
	return 1;
}

static void
answer(struct op *op)
{
	bu_reply_fn fn = op->fn;

	op->fn = NULL;
	if (fn)
		fn(op->reply, op->reply ? NULL : &op->err, op->arg);
}

/* 1 = the list may be another one. */
static int
op_turn(struct op *op)
{
	struct bu_err late;

	if (!op->ended && op->due_ms <= now_ms() && (op->started || is_its_turn(op))) {
		resume(op);
		op->lost = op->ended && faults[op->bay].fault == VERB_BMC_LOSES &&
			   faults[op->bay].until_ms > now_ms() && dice(2) == 0;
		if (op->ended && !op->lost)
			answer(op);
		return 1;
	}
	if (op->fn && op->deadline_ms <= now_ms()) {
		bu_err_set(&late, BU_ERR_TIMEOUT, 0,
			   "no answer from bringup-power in time");
		json_decref(op->reply);
		op->reply = NULL;
		op->err = late;
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
	struct op *op = ops;

	while (op)
		op = op_turn(op) ? ops : op->next;
}

int64_t
bmc_due_ms(void)
{
	int64_t due_ms = INT64_MAX;

	for (const struct op *op = ops; op; op = op->next) {
		if (!op->ended && op->due_ms < due_ms &&
		    (op->started || is_its_turn(op)))
			due_ms = op->due_ms;
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
