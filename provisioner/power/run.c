/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What perform.c's operations are made of: one call of the driver, asking whose
 * machine it is, the end. Invariants: a run has one thing
 * under way (a call or its timer), every call ends, and a run ends once.
 */
#include <string.h>

#include "base/json.h"
#include "base/plain.h"
#include "base/secret.h"
#include "provisioner/power/perform_impl.h"

int64_t
bu_run_now_ms(const struct bu_run *run)
{
	return bu_loop_now_ms(run->performer->loop);
}

void
bu_run_free(struct bu_run *run)
{
	struct bu_run **link = &run->performer->runs;

	while (*link != run)
		link = &(*link)->next;
	*link = run->next;
	bu_timer_destroy(run->timer);
	bu_job_cancel(run->job);
	json_decref(run->report);
	free(run->adopt);
	free(run->differs);
	bu_secret_free(run->before, run->before_size);
	bu_secret_free(run->secret, run->secret_size);
	json_decref(run->request);
	free(run);
}

/* reply is stolen. */
static void
finish(struct bu_run *run, json_t *reply, const struct bu_err *err)
{
	struct bu_performer *performer = run->performer;
	bu_autojson json_t *answer = reply;
	struct bu_err why = err ? *err : (struct bu_err){0};
	bu_perform_fn fn = run->fn;
	void *arg = run->arg;

	bu_run_free(run);
	fn(answer, err ? &why : NULL, arg);
	performer->next(performer);
}

void
bu_run_fail(struct bu_run *run)
{
	finish(run, NULL, &run->err);
}

void
bu_run_tell(struct bu_run *run, json_t *reply)
{
	finish(run, reply, NULL);
}

void
bu_run_done(struct bu_run *run)
{
	json_t *reply = json_pack("{s:s}", "power", bu_power_state_name(run->seen));

	if (run->unsaid)
		json_object_set_new(reply, "identity", json_string("unsaid"));
	if (run->differs)
		json_object_set_new(reply, "differs", json_string(run->differs));
	if (run->start_ms)
		json_object_set_new(
			reply, "started_ms",
			json_integer(bu_run_now_ms(run) - run->start_ms + 1));
	finish(run, reply, NULL);
}

void
bu_run_sleep(struct bu_run *run, int64_t in_ms, bu_step_fn fn)
{
	run->on_timer = fn;
	bu_timer_set(run->timer, in_ms);
}

/* --- one call of the driver --- */

static void
take(struct bu_run *run)
{
	bu_timer_stop(run->timer);
	run->then(run);
}

/* Those that wait for their turn at the BMC would try what it refuses once more. */
static void
stop_others(struct bu_performer *performer)
{
	for (struct bu_run *run = performer->runs; run; run = run->next) {
		if (!run->call || bu_run_may_try(run))
			continue;
		performer->driver->cancel(performer->self, run->call);
		run->call = NULL;
		bu_run_sleep(run, 0, take);
	}
}

/* What a BMC says of its machine, and in its logs, is what others may have put there.
 */
static void
take_words(struct bu_run *run, const struct bu_power_answer *answer)
{
	struct bu_machine *machine = &run->answer.machine;

	run->answer = *answer;
	BU_PLAIN_COPY(machine->serial, answer->machine.serial);
	BU_PLAIN_COPY(machine->uuid, answer->machine.uuid);
	BU_PLAIN_COPY(run->answer.console.why, answer->console.why);
	if (!answer->report)
		return;
	json_decref(run->report);
	run->report = json_incref(answer->report);
	bu_plain_json(run->report);
}

static void
on_answer(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct bu_run *run = arg;

	run->call = NULL;
	run->err = err ? *err : (struct bu_err){0};
	run->denied = err && err->kind == BU_ERR_DENIED;
	if (answer)
		take_words(run, answer);
	/* To bringupd it is denied what a person has not granted, and nothing else. */
	if (err && err->kind == BU_ERR_DENIED) {
		run->err.kind = BU_ERR_REMOTE;
		bu_run_refused(run);
		stop_others(run->performer);
	} else if (answer) {
		bu_run_accepted(run);
	}
	run->answered = 1;
	if (!run->starting)
		take(run);
}

static void
on_call_late(struct bu_run *run)
{
	run->performer->driver->cancel(run->performer->self, run->call);
	run->call = NULL;
	bu_err_set(&run->err, BU_ERR_TIMEOUT, 0, "%s: no answer in %d s", run->bmc,
		   BU_POWER_CALL_MS / 1000);
	take(run);
}

/* Who asked has given up, and may have asked again since: a reset that comes now hits
 * a machine that has gone on. */
int
bu_run_check_wanted(struct bu_run *run)
{
	int64_t until_ms = bu_json_int(run->request, "until_ms", INT64_MAX);

	if (bu_run_now_ms(run) <= until_ms)
		return 0;
	return bu_err_set(&run->err, BU_ERR_CANCELLED, 0,
			  "%s: its turn came too late; the request has timed out",
			  run->bmc);
}

/* then looks at run->err itself. */
void
bu_run_call(struct bu_run *run, enum bu_power_op op, bu_step_fn then)
{
	struct bu_performer *performer = run->performer;

	run->order.op = op;
	run->then = then;
	run->answered = run->denied = 0;
	run->err = (struct bu_err){0};
	if (!bu_run_may_try(run)) {
		then(run);
		return;
	}
	run->starting = 1;
	bu_run_sleep(run, BU_POWER_CALL_MS, on_call_late);
	run->call =
		performer->driver->start(performer->self, &run->order, on_answer, run);
	run->starting = 0;
	if (run->answered)
		take(run);
}

/* --- whose machine it is --- */

static int
fail_foreign(struct bu_run *run)
{
	bu_autofree char *expected = bu_machine_words(&run->expected);
	bu_autofree char *says = bu_machine_words(&run->answer.machine);

	return bu_err_set(
		&run->err, BU_ERR_FOREIGN, 0,
		"%s is the BMC of another machine: it says %s, expected is %s",
		run->bmc, says, expected);
}

/* "" where all is as expected. */
static char *
differences(const struct bu_run *run)
{
	char *text = bu_machine_differs(&run->expected, &run->answer.machine);

	return text ? text : bu_xstrdup("");
}

static void
on_identity(struct bu_run *run)
{
	enum bu_machine_match match =
		bu_machine_compare(&run->expected, &run->answer.machine);

	if (run->err.kind == BU_ERR_NONE && match == BU_MACHINE_OTHER)
		fail_foreign(run);
	run->unsaid = match == BU_MACHINE_UNSAID;
	free(run->differs);
	run->differs = match == BU_MACHINE_SAME ? differences(run) : NULL;
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		run->known(run);
}

/* Right before the first thing that is done to it. */
void
bu_run_identify(struct bu_run *run, bu_step_fn known)
{
	run->known = known;
	if (run->expects)
		bu_run_call(run, BU_POWER_IDENTITY, on_identity);
	else
		known(run);
}

/* --- the beginning --- */

static void
on_timer(void *arg)
{
	struct bu_run *run = arg;

	run->on_timer(run);
}

struct bu_run *
bu_run_create(struct bu_performer *performer, const json_t *request, bu_perform_fn fn,
	      void *arg)
{
	struct bu_run *run = bu_xcalloc(1, sizeof(*run)), **link = &performer->runs;

	run->performer = performer;
	run->request = json_deep_copy(request);
	run->bmc = bu_json_str(run->request, "target", "");
	run->order.target.bmc = run->bmc;
	run->order.target.fingerprint =
		json_string_value(json_object_get(run->request, "fingerprint"));
	run->order.mode = bu_boot_mode_from_name(bu_json_str(request, "mode", ""));
	run->expects = json_object_get(request, "machine") != NULL;
	bu_machine_from_json(json_object_get(request, "machine"), &run->expected);
	run->order.machine = run->expects ? &run->expected : NULL;
	run->fn = fn;
	run->arg = arg;
	run->timer = bu_timer_create(performer->loop, on_timer, run);
	while (*link)
		link = &(*link)->next;
	*link = run;
	return run;
}
