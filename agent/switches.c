/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the counters of switches in a child process, because a call of its driver may
 * hang; called by jobs.c. Invariant: the agent waits until the item's deadline and no
 * longer, and no child is left.
 */
#include "agent/switches.h"

#include <poll.h>
#include <string.h>

#include "agent/aside.h"
#include "base/clock.h"
#include "base/json.h"
#include "checks/audit/ibfabric.h"
#include "model/work.h"

/* EARLY: so much before the deadline the walk ends by itself, with its own words. */
enum { TICK_MS = 100, EARLY_MS = 2000, LET_GO_MS = 500 };

/* In the child. */
static json_t *
read_switches(const json_t *ask, void **kept)
{
	struct bu_work_switches work;
	struct bu_err err = {0};
	json_t *result;

	if (!ask)
		return NULL;
	if (bu_record_from_json(bu_work_switches_fields, ask, &work, &err) != 0)
		return json_pack("{s:o}", "error", bu_json_from_err(&err));
	result = bu_ib_fabric_read_of(&work.rail, work.names,
				      work.deadline_ms - EARLY_MS, &err);
	return result ? json_pack("{s:o}", "result", result)
		      : json_pack("{s:o}", "error", bu_json_from_err(&err));
}

/* New reference; NULL with an error. */
static json_t *
wait_for(struct bu_aside *aside, int64_t until_ms, struct bu_err *err)
{
	while (bu_mono_ms(bu_clock_system()) < until_ms) {
		struct pollfd fd = {.fd = aside->fd, .events = POLLIN};
		json_t *answer = NULL;

		if (poll(&fd, 1, TICK_MS) > 0)
			answer = bu_aside_take(aside, err);
		if (answer || err->kind)
			return answer;
	}
	bu_err_set(err, BU_ERR_TIMEOUT, 0, "the port's driver does not answer");
	return NULL;
}

int
bu_agent_switches(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		  struct bu_err *err)
{
	int64_t now_ms = bu_mono_ms(bu_clock_system());
	struct bu_aside aside = {.pid = 0}, *list[] = {&aside};
	bu_autojson json_t *answer = NULL;
	struct bu_work_switches work;

	if (bu_record_from_json(bu_work_switches_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "switches");
	if (bu_aside_ask(&aside, read_switches, item, err) != 0)
		return -1;
	answer = wait_for(&aside, now_ms + work.deadline_ms, err);
	if (answer)
		bu_aside_finish(&aside);
	bu_aside_end(list, 1, answer ? LET_GO_MS : 0, NULL);
	if (!answer)
		return bu_err_wrap(err, "port %s",
				   work.rail.port[0] ? work.rail.port
						     : work.rail.address);
	if (json_object_get(answer, "result")) {
		*ret_result = json_incref(json_object_get(answer, "result"));
		return 0;
	}
	bu_json_to_err(json_object_get(answer, "error"), err);
	return -1;
}
