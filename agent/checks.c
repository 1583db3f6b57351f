// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the checks that a work item asks for and tells how far it is; called by jobs.c.
 * Invariant: the appliance is asked whether to go on at most every ASK_MS, however
 * often a group wants to know.
 */
#include "agent/checks.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/measure/checks.h"

enum { ASK_MS = 2000 };

struct run {
	struct bu_link *link;
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

int
bu_agent_checks(struct bu_link *link, const json_t *item, json_t **ret_result,
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
