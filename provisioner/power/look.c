/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at a machine until a state is seen; called by perform.c, before it acts and
 * after it has. Invariants: a machine that moves is waited for and never taken for one
 * that did nothing; a switch whose answer was lost is looked at until it is decided,
 * and is not made again.
 */
#include "provisioner/power/perform_impl.h"

/* Looks get rarer: a thousand machines that go on together are looked at, too. */
enum { OBSERVE_MS = 250, OBSERVE_MAX_MS = 2000 };

/* How long what is seen may last, and what is said of the machine then. docs/redfish.md
 * has them, too. */
static const struct {
	int64_t within_ms;
	const char *says;
} views[] = {
	/* Some BMCs show the old state until the power supplies have settled. */
	[BU_VIEW_STILL] = {120000, NULL},
	/* PoweringOn and PoweringOff: boards with many GPUs take minutes. */
	[BU_VIEW_MOVES] = {BU_POWER_MOVE_MS, NULL},
	/* A BMC that restarts over the switch is back after one to five minutes. */
	[BU_VIEW_SILENT] = {BU_POWER_MOVE_MS, "its BMC is silent"},
};

static void look(struct bu_run *run);

static int64_t
next_look_ms(const struct bu_run *run)
{
	int64_t in_ms = (bu_run_now_ms(run) - run->look_from_ms) / 8;

	if (in_ms > OBSERVE_MAX_MS)
		return OBSERVE_MAX_MS;
	return in_ms > OBSERVE_MS ? in_ms : OBSERVE_MS;
}

static const char *
says(const struct bu_run *run)
{
	if (run->view == BU_VIEW_MOVES)
		return run->move == BU_POWER_RISES ? "going on" : "going off";
	return bu_power_state_name(run->seen);
}

static int64_t
waited_ms(const struct bu_run *run)
{
	return bu_run_now_ms(run) - run->look_from_ms;
}

/* --- the end of the looks --- */

static void
end_late(struct bu_run *run)
{
	if (run->view != BU_VIEW_SILENT)
		bu_err_set(&run->err, BU_ERR_TIMEOUT, 0,
			   "%s is %s, not %s after %lld ms", run->bmc, says(run),
			   bu_power_state_name(run->want), (long long)waited_ms(run));
	run->late(run);
}

/* Its answer was lost, and the looks did not show it done. */
static void
end_unsure(struct bu_run *run)
{
	int undone = run->view == BU_VIEW_STILL && run->seen != BU_POWER_UNKNOWN;
	const char *state =
		run->view == BU_VIEW_SILENT ? "its BMC is silent since" : says(run);

	bu_err_set(&run->err, BU_ERR_TIMEOUT, 0,
		   "%s: switching it %s had no answer (%.200s); after %lld s %s: %s",
		   run->bmc, bu_power_state_name(run->want), run->lost.text,
		   (long long)waited_ms(run) / 1000,
		   undone ? "it was not done" : "it is unknown whether it was done",
		   state);
	if (undone)
		run->undone(run);
	else
		run->late(run);
}

static void
end(struct bu_run *run)
{
	if (run->switched && run->unsure)
		end_unsure(run);
	else
		end_late(run);
}

/* --- a look --- */

static void
note(struct bu_run *run, enum bu_view view)
{
	if (view != run->view)
		run->view_since_ms = bu_run_now_ms(run);
	run->view = view;
}

/* Before anything was done a BMC that is silent is no reason to wait, unless it showed
 * a machine that moves. */
static int
may_look_again(const struct bu_run *run)
{
	int64_t now_ms = bu_run_now_ms(run);
	int64_t lasts_ms = now_ms - run->view_since_ms;

	if (run->switched)
		return lasts_ms < views[run->view].within_ms &&
		       now_ms < run->look_until_ms;
	if (run->view == BU_VIEW_STILL)
		return now_ms < run->look_until_ms;
	return run->move != BU_POWER_RESTS && lasts_ms < views[run->view].within_ms;
}

static void
on_look(struct bu_run *run)
{
	int silent = run->err.kind != BU_ERR_NONE;

	if (!silent) {
		run->seen = run->answer.state;
		run->move = run->answer.move;
	}
	if (!silent && run->seen == run->want) {
		run->found(run);
		return;
	}
	note(run, silent                        ? BU_VIEW_SILENT
		  : run->move != BU_POWER_RESTS ? BU_VIEW_MOVES
						: BU_VIEW_STILL);
	if (silent && !bu_run_may_try(run))
		bu_run_fail(run);
	else if (may_look_again(run))
		bu_run_sleep(run, next_look_ms(run), look);
	else if (silent && !run->switched)
		bu_run_fail(run);
	else
		end(run);
}

static void
look(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_STATUS, on_look);
}

static void
begin(struct bu_run *run, enum bu_power_state want, int64_t within_ms, bu_step_fn found,
      bu_step_fn late)
{
	run->want = want;
	run->seen = BU_POWER_UNKNOWN;
	run->move = BU_POWER_RESTS;
	run->view = BU_VIEW_STILL;
	run->look_from_ms = run->view_since_ms = bu_run_now_ms(run);
	run->look_until_ms = run->look_from_ms + within_ms;
	run->found = found;
	run->late = late;
	look(run);
}

void
bu_run_look_for(struct bu_run *run, enum bu_power_state want, int64_t within_ms,
		bu_step_fn found, bu_step_fn late)
{
	run->switched = 0;
	begin(run, want, within_ms, found, late);
}

int
bu_run_was_refused(const struct bu_run *run)
{
	return run->err.kind != BU_ERR_NONE && run->err.kind != BU_ERR_TIMEOUT;
}

void
bu_run_confirm(struct bu_run *run, enum bu_power_state want, bu_step_fn found,
	       bu_step_fn undone)
{
	run->switched = 1;
	run->unsure = run->err.kind != BU_ERR_NONE;
	run->lost = run->err;
	run->undone = undone;
	begin(run, want, BU_POWER_MOVE_MS, found, bu_run_fail);
}
