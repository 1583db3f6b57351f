/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composite operations over a driver: observe before acting, confirm after it.
 * Called by main.c in the child that belongs to one connection. Invariants: unknown is
 * never taken for off, a machine that is on is switched off only where the request
 * allows a reset, nothing is switched behind the BMC of another machine, and of two
 * requests that change one machine the second waits.
 */
#include "provisioner/power/perform.h"

#include <string.h>

#include "base/json.h"

enum { OBSERVE_MS = 250, CONFIRM_MS = 20000, WAIT_OFF_MAX_MS = 600000 };

static const char *const state_names[] = {"off", "on", "unknown"};

const char *
bu_power_state_name(enum bu_power_state state)
{
	return state_names[state];
}

struct run;
typedef void (*step_fn)(struct run *run);

/* One request. Its timer wakes it up: in the queue, between two looks, or when a call
 * takes too long. */
struct run {
	struct run *next;
	struct bu_performer *performer;
	json_t *request;
	const char *bmc; /* of the request */
	bu_perform_fn fn;
	void *arg;
	struct bu_timer *timer;
	step_fn on_timer;
	int begun;
	/* the call that is under way, and what follows its answer */
	struct bu_power_request order;
	struct bu_power_call *call;
	int starting, answered;
	struct bu_power_answer answer;
	struct bu_err err; /* of the call; kind NONE = it was answered */
	step_fn then;
	/* what is looked for */
	enum bu_power_state want, seen;
	int64_t look_until_ms, look_within_ms;
	int silence_ends; /* the first look without an answer ends it */
	step_fn found, late;
	/* whose it is */
	struct bu_machine expected;
	int expects, unsaid;
	step_fn known;
};

struct bu_performer {
	struct bu_loop *loop;
	const struct bu_power_driver *driver;
	void *self;
	struct run *runs; /* in the order in which they came */
};

static int64_t
now_ms(const struct run *run)
{
	return bu_loop_now_ms(run->performer->loop);
}

static void
run_free(struct run *run)
{
	struct run **link = &run->performer->runs;

	while (*link != run)
		link = &(*link)->next;
	*link = run->next;
	bu_timer_destroy(run->timer);
	json_decref(run->request);
	free(run);
}

static void begin_next(struct bu_performer *performer, const char *bmc);

/* reply is stolen. */
static void
finish(struct run *run, json_t *reply, const struct bu_err *err)
{
	struct bu_performer *performer = run->performer;
	bu_autofree char *bmc = bu_xstrdup(run->bmc);
	bu_autojson json_t *answer = reply;
	struct bu_err why = err ? *err : (struct bu_err){0};
	bu_perform_fn fn = run->fn;
	void *arg = run->arg;

	run_free(run);
	fn(answer, err ? &why : NULL, arg);
	begin_next(performer, bmc);
}

static void
fail(struct run *run)
{
	finish(run, NULL, &run->err);
}

static void
done(struct run *run)
{
	json_t *reply = json_pack("{s:s}", "power", state_names[run->seen]);

	if (run->unsaid)
		json_object_set_new(reply, "identity", json_string("unsaid"));
	finish(run, reply, NULL);
}

static void
on_timer(void *arg)
{
	struct run *run = arg;

	run->on_timer(run);
}

static void
sleep_until(struct run *run, int64_t in_ms, step_fn fn)
{
	run->on_timer = fn;
	bu_timer_set(run->timer, in_ms);
}

/* --- one call of the driver --- */

static void
take(struct run *run)
{
	bu_timer_stop(run->timer);
	run->call = NULL;
	run->then(run);
}

static void
on_answer(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct run *run = arg;

	run->err = err ? *err : (struct bu_err){0};
	if (answer)
		run->answer = *answer;
	run->answered = 1;
	if (!run->starting)
		take(run);
}

static void
on_call_late(struct run *run)
{
	run->performer->driver->cancel(run->performer->self, run->call);
	bu_err_set(&run->err, BU_ERR_TIMEOUT, 0, "%s: no answer in %d s", run->bmc,
		   BU_POWER_CALL_MS / 1000);
	take(run);
}

/* then looks at run->err itself. */
static void
call(struct run *run, enum bu_power_op op, step_fn then)
{
	struct bu_performer *performer = run->performer;

	run->order.op = op;
	run->then = then;
	run->answered = 0;
	run->starting = 1;
	sleep_until(run, BU_POWER_CALL_MS, on_call_late);
	run->call =
		performer->driver->start(performer->self, &run->order, on_answer, run);
	run->starting = 0;
	if (run->answered)
		take(run);
}

/* --- looking --- */

static void look(struct run *run);

static void
on_look(struct run *run)
{
	int silent = run->err.kind != BU_ERR_NONE;

	if (silent && run->silence_ends) {
		fail(run);
		return;
	}
	if (!silent) {
		run->seen = run->answer.state;
		if (run->seen == run->want) {
			run->found(run);
			return;
		}
	}
	if (now_ms(run) < run->look_until_ms) {
		sleep_until(run, OBSERVE_MS, look);
		return;
	}
	if (!silent)
		bu_err_set(&run->err, BU_ERR_TIMEOUT, 0,
			   "%s is %s, not %s after %lld ms", run->bmc,
			   state_names[run->seen], state_names[run->want],
			   (long long)run->look_within_ms);
	run->late(run);
}

static void
look(struct run *run)
{
	call(run, BU_POWER_STATUS, on_look);
}

/* Until the machine is seen in this state; then found, else late, with run->err. */
static void
look_for(struct run *run, enum bu_power_state want, int64_t within_ms, step_fn found,
	 step_fn late)
{
	run->want = want;
	run->look_within_ms = within_ms;
	run->look_until_ms = now_ms(run) + within_ms;
	run->silence_ends = 1;
	run->found = found;
	run->late = late;
	look(run);
}

/* After a switch: a BMC may be silent over it for a moment. */
static void
confirm(struct run *run, enum bu_power_state want, step_fn found)
{
	run->want = want;
	run->look_within_ms = CONFIRM_MS;
	run->look_until_ms = now_ms(run) + CONFIRM_MS;
	run->silence_ends = 0;
	run->found = found;
	run->late = fail;
	look(run);
}

/* --- whose machine it is --- */

static void
on_identity(struct run *run)
{
	const struct bu_machine *seen = &run->answer.machine;
	bu_autofree char *expected = bu_machine_words(&run->expected);
	bu_autofree char *says = bu_machine_words(seen);
	enum bu_machine_match match = bu_machine_compare(&run->expected, seen);

	if (run->err.kind == BU_ERR_NONE && match == BU_MACHINE_OTHER)
		bu_err_set(&run->err, BU_ERR_FOREIGN, 0,
			   "%s is the BMC of another machine: it says %s, expected is "
			   "%s",
			   run->bmc, says, expected);
	run->unsaid = match == BU_MACHINE_UNSAID;
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		run->known(run);
}

/* Right before the first thing that is done to it. */
static void
identify(struct run *run, step_fn known)
{
	run->known = known;
	if (run->expects)
		call(run, BU_POWER_IDENTITY, on_identity);
	else
		known(run);
}

/* --- operations --- */

/* Who asked has given up, and may have asked again since: a reset that comes now hits
 * a machine that has gone on. */
static int
check_wanted(struct run *run)
{
	int64_t until_ms = bu_json_int(run->request, "until_ms", INT64_MAX);

	if (now_ms(run) <= until_ms)
		return 0;
	return bu_err_set(&run->err, BU_ERR_CANCELLED, 0,
			  "%s: its turn came too late; the request has timed out",
			  run->bmc);
}

static void
on_switched_on(struct run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		confirm(run, BU_POWER_ON, done);
}

static void
on_order_set(struct run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		call(run, BU_POWER_SWITCH_ON, on_switched_on);
}

static void
set_order(struct run *run)
{
	call(run, BU_POWER_BOOT_FIRST, on_order_set);
}

/* It was off when we came. */
static void
start_up(struct run *run)
{
	identify(run, set_order);
}

static void
on_off_for_boot(struct run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		confirm(run, BU_POWER_OFF, set_order);
}

static void
reset(struct run *run)
{
	if (check_wanted(run) != 0)
		fail(run);
	else
		call(run, BU_POWER_SWITCH_OFF, on_off_for_boot);
}

/* The machine did not go off by itself: may it be switched off? Only one that is surely
 * on is worth a person's consent; unknown is looked at again. */
static void
on_still_on(struct run *run)
{
	int allowed = bu_json_bool(run->request, "reset", 0);

	if (!allowed && run->seen == BU_POWER_ON)
		bu_err_set(&run->err, BU_ERR_DENIED, 0,
			   "%s is on, and no grant allows switching it off", run->bmc);
	if (!allowed)
		fail(run);
	else
		identify(run, reset);
}

static void
begin_boot(struct run *run)
{
	const char *first = bu_json_str(run->request, "first", "");
	int64_t wait_off_ms = bu_json_int(run->request, "wait_off_ms", 0);

	run->order.first = strcmp(first, "disk") == 0 ? BU_BOOT_DISK : BU_BOOT_NETWORK;
	if (run->order.first != BU_BOOT_DISK && strcmp(first, "network") != 0)
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "boot first from '%s'?", first);
	else if (wait_off_ms < 0 || wait_off_ms > WAIT_OFF_MAX_MS)
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "wait_off_ms out of range");
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		look_for(run, BU_POWER_OFF, wait_off_ms, start_up, on_still_on);
}

static void
on_switched_off(struct run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		confirm(run, BU_POWER_OFF, done);
}

static void
switch_off(struct run *run)
{
	call(run, BU_POWER_SWITCH_OFF, on_switched_off);
}

/* It is in the other state, or nobody knows. */
static void
on_not_there_yet(struct run *run)
{
	if (run->seen == BU_POWER_UNKNOWN) {
		bu_err_set(&run->err, BU_ERR_REMOTE, 0,
			   "%s: it is unknown whether it is on; nothing was done",
			   run->bmc);
		fail(run);
	} else if (run->want == BU_POWER_ON) {
		start_up(run);
	} else {
		identify(run, switch_off);
	}
}

static void
begin_on(struct run *run)
{
	run->order.first = BU_BOOT_DISK;
	look_for(run, BU_POWER_ON, 0, done, on_not_there_yet);
}

static void
begin_off(struct run *run)
{
	look_for(run, BU_POWER_OFF, 0, done, on_not_there_yet);
}

static void
on_status(struct run *run)
{
	run->seen = run->answer.state;
	if (run->err.kind != BU_ERR_NONE)
		fail(run);
	else
		done(run);
}

static void
begin_status(struct run *run)
{
	call(run, BU_POWER_STATUS, on_status);
}

static enum bu_boot_mode
mode_of(const char *name)
{
	if (strcmp(name, "uefi") == 0)
		return BU_BOOT_MODE_UEFI;
	return strcmp(name, "bios") == 0 ? BU_BOOT_MODE_BIOS : BU_BOOT_MODE_KEPT;
}

static const struct {
	const char *name;
	step_fn begin;
} operations[] = {
	{"status", begin_status},
	{"boot", begin_boot},
	{"on", begin_on},
	{"off", begin_off},
};

/* --- whose turn it is --- */

static void
begin(struct run *run)
{
	const char *op = bu_json_str(run->request, "op", "");

	run->begun = 1;
	bu_timer_stop(run->timer);
	if (check_wanted(run) != 0) {
		fail(run);
		return;
	}
	for (size_t i = 0; i < BU_LEN(operations); i++)
		if (strcmp(operations[i].name, op) == 0) {
			operations[i].begin(run);
			return;
		}
	bu_err_set(&run->err, BU_ERR_INVAL, 0, "no power operation '%s'", op);
	fail(run);
}

static int
only_looks(const struct run *run)
{
	return strcmp(bu_json_str(run->request, "op", ""), "status") == 0;
}

static int
may_begin(const struct run *run)
{
	if (only_looks(run))
		return 1;
	for (const struct run *at = run->performer->runs; at != run; at = at->next)
		if (!only_looks(at) && strcmp(at->bmc, run->bmc) == 0)
			return 0;
	return 1;
}

static void
begin_next(struct bu_performer *performer, const char *bmc)
{
	for (struct run *run = performer->runs; run; run = run->next)
		if (!run->begun && strcmp(run->bmc, bmc) == 0 && may_begin(run)) {
			begin(run);
			return;
		}
}

static void
on_queue_late(struct run *run)
{
	if (check_wanted(run) != 0)
		fail(run);
	else
		sleep_until(run, 1, on_queue_late);
}

void
bu_perform(struct bu_performer *performer, const json_t *request, bu_perform_fn fn,
	   void *arg)
{
	struct run *run = bu_xcalloc(1, sizeof(*run)), **link = &performer->runs;
	int64_t until_ms = bu_json_int(request, "until_ms", INT64_MAX);

	run->performer = performer;
	run->request = json_deep_copy(request);
	run->bmc = bu_json_str(run->request, "target", "");
	run->order.target.bmc = run->bmc;
	run->order.mode = mode_of(bu_json_str(request, "mode", ""));
	run->expects = json_object_get(request, "machine") != NULL;
	bu_machine_from_json(json_object_get(request, "machine"), &run->expected);
	run->fn = fn;
	run->arg = arg;
	run->timer = bu_timer_create(performer->loop, on_timer, run);
	while (*link)
		link = &(*link)->next;
	*link = run;
	if (may_begin(run))
		begin(run);
	else if (until_ms != INT64_MAX)
		sleep_until(run, until_ms - now_ms(run) + 1, on_queue_late);
}

struct bu_performer *
bu_performer_create(struct bu_loop *loop, const struct bu_power_driver *driver,
		    void *self)
{
	struct bu_performer *performer = bu_xcalloc(1, sizeof(*performer));

	performer->loop = loop;
	performer->driver = driver;
	performer->self = self;
	return performer;
}

void
bu_performer_destroy(struct bu_performer *performer)
{
	if (!performer)
		return;
	while (performer->runs) {
		struct run *run = performer->runs;

		if (run->call)
			performer->driver->cancel(performer->self, run->call);
		run_free(run);
	}
	free(performer);
}
