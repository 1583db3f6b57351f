/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composite operations over a driver: observe before acting, confirm after it.
 * Called by main.c in the child that belongs to one connection. Invariants: unknown is
 * never taken for off, a machine that is on is switched off only where the request
 * allows a reset, nothing is switched behind the BMC of another machine, and of two
 * requests that change one machine, or one of which restarts the BMC of both, the
 * second waits.
 */
#include "provisioner/power/perform_impl.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/url.h"

enum { WAIT_OFF_MAX_MS = 600000 };

/* Whoever has given up meanwhile asks again, and finds it started. */
static void
on_started(struct bu_run *run)
{
	if (bu_run_check_wanted(run) == 0)
		bu_started_forget(run);
	bu_run_done(run);
}

static void
fail_undone(struct bu_run *run)
{
	bu_started_forget(run);
	bu_run_fail_loaded(run);
}

static void
on_switched_on(struct bu_run *run)
{
	if (bu_run_was_refused(run))
		fail_undone(run);
	else
		bu_run_confirm(run, BU_POWER_ON, on_started, fail_undone);
}

/* Before it, so that its first words stand behind the mark. */
static void
switch_on(struct bu_run *run)
{
	if (run->performer->consoles)
		bu_consoles_mark(run->performer->consoles, run->bmc, "switched on");
	bu_started_note(run);
	run->start_ms = bu_run_now_ms(run);
	bu_run_call(run, BU_POWER_SWITCH_ON, on_switched_on);
}

static void
on_order_set(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail_loaded(run);
	else
		switch_on(run);
}

static void
write_order(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_BOOT_FIRST, on_order_set);
}

static void
set_order(struct bu_run *run)
{
	bu_run_load(run, write_order);
}

/* It was off when we came. */
static void
start_up(struct bu_run *run)
{
	bu_run_identify(run, set_order);
}

static void
on_off_for_boot(struct bu_run *run)
{
	if (bu_run_was_refused(run))
		bu_run_fail(run);
	else
		bu_run_confirm(run, BU_POWER_OFF, set_order, bu_run_fail);
}

static void
reset(struct bu_run *run)
{
	if (bu_run_check_wanted(run) != 0)
		bu_run_fail(run);
	else {
		bu_started_forget(run);
		bu_run_call(run, BU_POWER_SWITCH_OFF, on_off_for_boot);
	}
}

/* The machine did not go off by itself: may it be switched off? Not one that is on by
 * the start that is asked for. Only one that is surely on is worth a person's consent;
 * unknown is looked at again. */
static void
on_still_on(struct bu_run *run)
{
	int allowed = bu_json_bool(run->request, "reset", 0);

	if (run->seen == BU_POWER_ON && bu_started_is(run)) {
		on_started(run);
		return;
	}
	if (!allowed && run->seen == BU_POWER_ON)
		bu_err_set(&run->err, BU_ERR_DENIED, 0,
			   "%s is on, and no grant allows switching it off", run->bmc);
	if (!allowed)
		bu_run_fail(run);
	else
		bu_run_identify(run, reset);
}

static void
read_first(struct bu_run *run, const char *fallback)
{
	const char *first = bu_json_str(run->request, "first", fallback);

	run->order.first = strcmp(first, "disk") == 0 ? BU_BOOT_DISK : BU_BOOT_NETWORK;
	if (run->order.first != BU_BOOT_DISK && strcmp(first, "network") != 0)
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "boot first from '%s'?", first);
}

static void
look_for_off(struct bu_run *run)
{
	bu_run_look_for(run, BU_POWER_OFF, bu_json_int(run->request, "wait_off_ms", 0),
			start_up, on_still_on);
}

/* The machine is booted all the same: this may be its last try. */
static void
boot_anyway(struct bu_run *run)
{
	bu_warn("power", "going on with the boot; %s", run->err.text);
	look_for_off(run);
}

static void
begin_boot(struct bu_run *run)
{
	int64_t wait_off_ms = bu_json_int(run->request, "wait_off_ms", 0);

	read_first(run, "");
	if (wait_off_ms < 0 || wait_off_ms > WAIT_OFF_MAX_MS)
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "wait_off_ms out of range");
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else if (bu_json_bool(run->request, "bmc_reset", 0))
		bu_run_reset_bmc(run, look_for_off, boot_anyway);
	else
		look_for_off(run);
}

static void
begin_bmc_reset(struct bu_run *run)
{
	bu_run_reset_bmc(run, bu_run_done, bu_run_fail);
}

static void
on_switched_off(struct bu_run *run)
{
	if (bu_run_was_refused(run))
		bu_run_fail(run);
	else
		bu_run_confirm(run, BU_POWER_OFF, bu_run_done, bu_run_fail);
}

static void
switch_off(struct bu_run *run)
{
	bu_started_forget(run);
	bu_run_call(run, BU_POWER_SWITCH_OFF, on_switched_off);
}

/* It is in the other state, or that is not known. */
static void
on_not_there_yet(struct bu_run *run)
{
	if (run->seen == BU_POWER_UNKNOWN) {
		bu_err_set(&run->err, BU_ERR_REMOTE, 0,
			   "%s: it is unknown whether it is on; nothing was done",
			   run->bmc);
		bu_run_fail(run);
	} else if (run->want == BU_POWER_ON) {
		start_up(run);
	} else {
		bu_run_identify(run, switch_off);
	}
}

static void
begin_on(struct bu_run *run)
{
	read_first(run, "disk");
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		bu_run_look_for(run, BU_POWER_ON, 0, bu_run_done, on_not_there_yet);
}

static void
begin_off(struct bu_run *run)
{
	bu_run_look_for(run, BU_POWER_OFF, 0, bu_run_done, on_not_there_yet);
}

static void
on_status(struct bu_run *run)
{
	run->seen = run->answer.state;
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		bu_run_done(run);
}

static void
begin_status(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_STATUS, on_status);
}

static const struct {
	const char *name;
	bu_step_fn begin;
	int looks; /* it changes nothing, and waits for nothing */
	/* 1 = answered, without a word to the BMC. */
	int (*at_once)(struct bu_run *run);
} operations[] = {
	{"status", begin_status, 1, NULL},
	{"boot", begin_boot, 0, NULL},
	{"on", begin_on, 0, NULL},
	{"off", begin_off, 0, NULL},
	{"console", bu_console_ask, 1, bu_console_begin},
	{"eject", bu_run_eject, 0, NULL},
	{"bmc-reset", begin_bmc_reset, 0, NULL},
	{"events", bu_run_report_events, 1, NULL},
	{"sensors", bu_run_report_sensors, 1, NULL},
	{"firmware", bu_run_report_firmware, 1, NULL},
};

/* -1 = there is no such operation. */
static int
operation_of(const json_t *request)
{
	const char *op = bu_json_str(request, "op", "");

	for (size_t i = 0; i < BU_LEN(operations); i++)
		if (strcmp(operations[i].name, op) == 0)
			return (int)i;
	return -1;
}

/* --- whose turn it is --- */

static void
on_authorized(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		bu_run_adopt(run, run->begin);
}

static void
begin(struct bu_run *run)
{
	int op = operation_of(run->request);

	run->begun = 1;
	bu_timer_stop(run->timer);
	if (op < 0)
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "no power operation '%s'",
			   bu_json_str(run->request, "op", ""));
	if (op < 0 || bu_run_check_wanted(run) != 0) {
		bu_run_fail(run);
		return;
	}
	run->begin = operations[op].begin;
	if (!operations[op].at_once || !operations[op].at_once(run))
		bu_run_authorize(run, on_authorized);
}

/* Of one machine; or of one BMC, which restarts for one of its machines. */
static int
are_rivals(const struct bu_run *a, const struct bu_run *b)
{
	return !a->looks && !b->looks &&
	       (strcmp(a->bmc, b->bmc) == 0 ||
		((a->restarts || b->restarts) && bu_url_same_host(a->bmc, b->bmc)));
}

static int
may_begin(const struct bu_run *run)
{
	for (const struct bu_run *at = run->performer->runs; at != run; at = at->next)
		if (are_rivals(at, run))
			return 0;
	return 1;
}

static struct bu_run *
next_of(struct bu_performer *performer)
{
	struct bu_run *run = performer->runs;

	while (run && (run->begun || !may_begin(run)))
		run = run->next;
	return run;
}

/* After a restart several may. One that ends at once has begun those that waited for
 * it. */
static void
begin_next(struct bu_performer *performer)
{
	struct bu_run *run;

	while ((run = next_of(performer)))
		begin(run);
}

static void
on_queue_late(struct bu_run *run)
{
	if (bu_run_check_wanted(run) != 0)
		bu_run_fail(run);
	else
		bu_run_sleep(run, 1, on_queue_late);
}

void
bu_perform(struct bu_performer *performer, const json_t *request, bu_perform_fn fn,
	   void *arg)
{
	int64_t until_ms = bu_json_int(request, "until_ms", INT64_MAX);
	struct bu_run *run = bu_run_create(performer, request, fn, arg);

	int op = operation_of(request);

	run->looks = op >= 0 && operations[op].looks && !bu_adopt_may_change(run);
	run->restarts = op >= 0 && (operations[op].begin == begin_bmc_reset ||
				    bu_json_bool(request, "bmc_reset", 0));
	if (may_begin(run))
		begin(run);
	else if (until_ms != INT64_MAX)
		bu_run_sleep(run, until_ms - bu_run_now_ms(run) + 1, on_queue_late);
}

struct bu_performer *
bu_performer_create(struct bu_loop *loop, const struct bu_power_driver *driver,
		    void *self)
{
	struct bu_performer *performer = bu_xcalloc(1, sizeof(*performer));

	performer->loop = loop;
	performer->driver = driver;
	performer->self = self;
	performer->next = begin_next;
	return performer;
}

void
bu_performer_journal(struct bu_performer *performer, const char *dir)
{
	performer->journal = bu_xstrdup(dir);
}

void
bu_performer_keep_consoles(struct bu_performer *performer, const char *dir)
{
	performer->consoles = bu_consoles_create(performer->loop, dir);
}

struct bu_consoles *
bu_performer_end_consoles(struct bu_performer *performer)
{
	struct bu_consoles *consoles = performer->consoles;

	performer->consoles = NULL;
	bu_consoles_end(consoles);
	return consoles;
}

void
bu_performer_destroy(struct bu_performer *performer)
{
	if (!performer)
		return;
	while (performer->runs) {
		struct bu_run *run = performer->runs;

		if (run->call)
			performer->driver->cancel(performer->self, run->call);
		bu_run_free(run);
	}
	bu_refused_free(performer);
	bu_started_free(performer);
	bu_consoles_destroy(performer->consoles);
	free(performer->journal);
	free(performer);
}
