/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the checks that a work item asks for and tells how far it is; called by jobs.c.
 * Invariant: the appliance is asked whether to go on at most every ASK_MS, however
 * often a group wants to know.
 */
#include "agent/checks.h"

#include <stdio.h>

#include "agent/clock.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "checks/checks.h"

enum { ASK_MS = 2000, CLOCK_TRIES = 8, CLOCK_MS = 5000, SETTLE_MS = 20000 };

struct run {
	struct bu_uplink *link;
	const char *id;
	char stage[48];
	int done, total;
	int cancelled;
	int64_t asked_ms;
};

static void
ask(struct run *run)
{
	run->asked_ms = bu_mono_ms(bu_clock_system());
	if (bu_link_progress(run->link, run->id, run->stage, (uint64_t)run->done,
			     (uint64_t)run->total))
		run->cancelled = 1;
}

static void
on_progress(const char *group, int done, int total, void *arg)
{
	struct run *run = arg;

	if (done == total)
		return; /* the result says so */
	snprintf(run->stage, sizeof(run->stage), "checks: %s", group);
	run->done = done;
	run->total = total;
	ask(run);
}

static int
on_cancelled(void *arg)
{
	struct run *run = arg;

	if (!run->cancelled && bu_mono_ms(bu_clock_system()) - run->asked_ms >= ASK_MS)
		ask(run);
	return run->cancelled;
}

/* Four stamps, as NTP does it: the exchange that took the shortest time is the best
 * one, and half of that time is what it may be wrong by. A clock that is on its way to
 * the right time is waited for. */
static int
clock_offset(void *arg, int64_t *ret_offset_us, int64_t *ret_error_us)
{
	struct run *run = arg;
	bu_autojson json_t *body = json_object();
	int found = 0;

	bu_clock_settle(SETTLE_MS, on_cancelled, run);
	for (int i = 0; i < CLOCK_TRIES; i++) {
		bu_autojson json_t *reply = NULL;
		int64_t sent_us = bu_wall_us(), took_us, theirs_us;

		if (bu_http_json(run->link->http,
				 &(struct bu_http_call){"POST", "/v1/agent/clock", body,
							CLOCK_MS},
				 &reply, NULL) != 0)
			continue;
		took_us = bu_wall_us() - sent_us;
		theirs_us = bu_json_int(reply, "time_us", 0);
		if (took_us < 0 || !theirs_us ||
		    (found && took_us / 2 >= *ret_error_us))
			continue;
		*ret_offset_us = sent_us + took_us / 2 - theirs_us;
		*ret_error_us = took_us / 2;
		found = 1;
	}
	return found ? 0 : -1;
}

int
bu_agent_checks(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		struct bu_err *err)
{
	struct run run = {
		.link = link,
		.id = bu_json_str(item, "id", ""),
		.asked_ms = bu_mono_ms(bu_clock_system()),
	};
	struct bu_checks_ctx ctx = {
		.root = "",
		.expect = json_object_get(item, "expect"),
		.site = json_object_get(item, "site"),
		.cancelled = on_cancelled,
		.progress = on_progress,
		.clock_offset = clock_offset,
		.arg = &run,
	};
	int64_t limit_ms = bu_json_int(item, "deadline_ms", 0);
	struct bu_checks checks;

	if (limit_ms > 0)
		ctx.deadline_ms = bu_mono_ms(bu_clock_system()) + limit_ms;
	if (bu_checks_run(&ctx, json_object_get(item, "groups"), &checks, err) != 0)
		return -1;
	*ret_result = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return 0;
}
