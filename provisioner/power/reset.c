/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The restart of a BMC itself, and what BMCs are asked for besides their machine's
 * power. Called by perform.c. Invariants: a restart that was taken is no proof: the BMC
 * was seen silent twice, and then there again; it is one of the changing operations, so
 * no power action of ours is under way at this BMC then.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/perform_impl.h"

/* A BMC that does not go away within the first never began; real ones are back after
 * one to five minutes. */
enum { LOOK_MS = 1000, AWAY_MS = 60000, BACK_MS = 420000 };
/* One look may be lost, or meet a connection that was over. */
enum { AWAY_LOOKS = 2 };

/* --- reports --- */

static void
on_report(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		bu_run_tell(run, json_incref(run->report));
}

void
bu_run_report_events(struct bu_run *run)
{
	run->order.since_ms = bu_json_int(run->request, "since_ms", 0);
	run->order.most = (size_t)bu_json_int(run->request, "most", 0);
	bu_run_call(run, BU_POWER_EVENTS, on_report);
}

void
bu_run_report_sensors(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_SENSORS, on_report);
}

void
bu_run_report_firmware(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_FIRMWARE, on_report);
}

/* --- the restart --- */

static void look(struct bu_run *run);

static void
fail_away(struct bu_run *run)
{
	run->order.once = 0;
	if (run->was_away) {
		bu_err_set(&run->err, BU_ERR_TIMEOUT, 0,
			   "%s: the BMC was restarted, and is not back after %d s; "
			   "look at its network, or take its power away",
			   run->bmc, BACK_MS / 1000);
		bu_run_fail(run);
	} else {
		bu_err_set(&run->err, BU_ERR_VERIFY, 0,
			   "%s: the BMC took its restart and was there all the time: "
			   "it did nothing (some are locked against it)",
			   run->bmc);
		run->late(run);
	}
}

static void
on_look(struct bu_run *run)
{
	int silent = run->err.kind != BU_ERR_NONE;

	if (run->denied) {
		bu_run_fail(run);
		return;
	}
	run->silences = silent ? run->silences + 1 : 0;
	if (run->silences == AWAY_LOOKS && !run->was_away) {
		run->was_away = 1;
		run->look_until_ms += BACK_MS - AWAY_MS;
	}
	if (!silent && run->was_away) {
		run->order.once = 0;
		run->seen = run->answer.state;
		run->found(run);
	} else if (bu_run_now_ms(run) >= run->look_until_ms) {
		fail_away(run);
	} else {
		bu_run_sleep(run, LOOK_MS, look);
	}
}

static void
look(struct bu_run *run)
{
	bu_run_call(run, BU_POWER_STATUS, on_look);
}

static void
on_taken(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE) {
		run->late(run);
		return;
	}
	run->was_away = run->silences = 0;
	run->order.once = 1;
	run->look_until_ms = bu_run_now_ms(run) + AWAY_MS;
	bu_run_sleep(run, LOOK_MS, look);
}

static void
restart(struct bu_run *run)
{
	if (bu_run_check_wanted(run) != 0)
		bu_run_fail(run);
	else
		bu_run_call(run, BU_POWER_BMC_RESET, on_taken);
}

void
bu_run_reset_bmc(struct bu_run *run, bu_step_fn then, bu_step_fn undone)
{
	run->found = then;
	run->late = undone;
	bu_run_identify(run, restart);
}
