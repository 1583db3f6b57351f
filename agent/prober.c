/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a probe's work item; called by jobs.c and, by hand, by main.c. Invariant: it
 * ends within the item's deadline and a grace, whatever the verbs do.
 */
#include "agent/prober.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/probe/rails.h"

enum {
	GRACE_MS = 2000, /* less than the appliance has */
	TICK_MS = 100,
	LET_GO_MS = 2000,
};

/* --- in the child --- */

static json_t *
measure(const json_t *ask, void **kept)
{
	struct bu_work_probe work;
	struct bu_pair_result result;
	struct bu_pair_opts opts;
	struct bu_err err = {0};
	int64_t rail = bu_json_int(ask, "rail", 0);

	if (!ask) {
		if (*kept)
			bu_pair_drop(*kept);
		return NULL;
	}
	if (!*kept)
		*kept = bu_xcalloc(1, sizeof(struct bu_pair_kept));
	if (bu_work_probe_from_json(json_object_get(ask, "item"), &work, &err) == 0) {
		bu_pair_opts_of(&work, (size_t)rail, &opts);
		opts.kept = *kept;
		if (bu_pair_run(&opts, &result, &err) == 0)
			return json_pack("{s:o}", "result",
					 bu_pair_result_to_json(&result));
	}
	return json_pack("{s:o}", "error", bu_json_from_err(&err));
}

/* --- in the agent --- */

struct run {
	struct bu_prober *prober;
	struct bu_work_probe work;
	size_t count; /* of children */
	int64_t until_ms;
	json_t *answer[BU_RAILS_MAX];
	struct bu_err err[BU_RAILS_MAX];
};

static int
is_open(const struct run *run, size_t i)
{
	return !run->answer[i] && run->err[i].kind == BU_ERR_NONE;
}

static const char *
port_name(const struct bu_work_rail *rail)
{
	return rail->port[0]      ? rail->port
	       : rail->address[0] ? rail->address
				  : "unknown";
}

static void
take(struct run *run, size_t i)
{
	struct bu_pair_opts opts;

	run->answer[i] = bu_child_probe_take(&run->prober->rail[i], &run->err[i]);
	if (run->err[i].kind == BU_ERR_NONE)
		return;
	bu_pair_opts_of(&run->work, i, &opts);
	bu_err_wrap(&run->err[i], "the probe on port %s of rail %s",
		    port_name(&opts.rail), opts.rail.rail);
}

/* Kills what has not answered. */
static void
give_up(struct run *run)
{
	struct bu_child_probe *late[BU_RAILS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		if (is_open(run, i))
			late[count++] = &run->prober->rail[i];
	bu_child_probe_end(late, count, 0, NULL);
	for (size_t i = 0; i < run->count; i++) {
		struct bu_pair_opts opts;

		if (!is_open(run, i))
			continue;
		bu_pair_opts_of(&run->work, i, &opts);
		bu_err_set(&run->err[i], BU_ERR_TIMEOUT, 0,
			   "the probe on port %s of rail %s did not end within %g s",
			   port_name(&opts.rail), opts.rail.rail,
			   (double)run->work.deadline_ms / 1000);
	}
}

static void
start(struct run *run, const json_t *item)
{
	for (size_t i = 0; i < run->count; i++) {
		bu_autojson json_t *ask =
			json_pack("{s:O,s:i}", "item", item, "rail", (int)i);

		bu_ignore(bu_child_probe_ask(&run->prober->rail[i], measure, ask,
					     &run->err[i]));
	}
}

/* 0 when all have answered. */
static int
watch(struct run *run)
{
	struct pollfd fds[BU_RAILS_MAX];
	size_t place[BU_RAILS_MAX], open = 0;

	for (size_t i = 0; i < run->count; i++) {
		if (!is_open(run, i))
			continue;
		place[open] = i;
		fds[open++] = (struct pollfd){.fd = run->prober->rail[i].fd,
					      .events = POLLIN};
	}
	if (open && poll(fds, open, TICK_MS) > 0)
		for (size_t k = 0; k < open; k++)
			if (fds[k].revents)
				take(run, place[k]);
	return open > 0;
}

static int
wait_for_all(struct run *run, struct bu_err *err)
{
	struct bu_prober *prober = run->prober;

	while (watch(run)) {
		if (bu_mono_ms(bu_clock_system()) >= run->until_ms) {
			give_up(run);
			return 0;
		}
		if (prober->cancelled && prober->cancelled(prober->arg)) {
			give_up(run);
			return bu_err_set(err, BU_ERR_CANCELLED, 0, "cancelled");
		}
	}
	return 0;
}

/* New reference; NULL, and then err says why. */
static json_t *
result_of(const struct run *run, size_t i, struct bu_err *err)
{
	json_t *result = json_object_get(run->answer[i], "result");

	if (result)
		return json_incref(result);
	*err = run->err[i];
	if (run->answer[i])
		bu_json_to_err(json_object_get(run->answer[i], "error"), err);
	return NULL;
}

static json_t *
results_of(const struct run *run)
{
	json_t *results = json_array();

	for (size_t i = 0; i < run->count; i++) {
		struct bu_err err = {0};
		struct bu_pair_opts opts;
		json_t *result = result_of(run, i, &err);

		bu_pair_opts_of(&run->work, i, &opts);
		json_array_append_new(results,
				      result ? result : bu_rails_failed(&opts, &err));
	}
	return json_pack("{s:o}", "rails", results);
}

int
bu_prober_run(struct bu_prober *prober, const json_t *item, json_t **ret,
	      struct bu_err *err)
{
	int64_t grace_ms = prober->grace_ms ? prober->grace_ms : GRACE_MS;
	struct run run = {.prober = prober};
	int rc;

	if (bu_work_probe_from_json(item, &run.work, err) != 0)
		return -1;
	run.count = run.work.rails_count ? run.work.rails_count : 1;
	run.until_ms = bu_mono_ms(bu_clock_system()) + run.work.deadline_ms + grace_ms;
	start(&run, item);
	rc = wait_for_all(&run, err);
	if (rc == 0) {
		*ret = run.work.rails_count ? results_of(&run)
					    : result_of(&run, 0, err);
		rc = *ret ? 0 : -1;
	}
	for (size_t i = 0; i < run.count; i++)
		json_decref(run.answer[i]);
	return rc;
}

void
bu_prober_drop(struct bu_prober *prober)
{
	struct bu_child_probe *all[BU_RAILS_MAX];

	for (size_t i = 0; i < BU_RAILS_MAX; i++) {
		all[i] = &prober->rail[i];
		bu_child_probe_finish(all[i]);
	}
	bu_child_probe_end(all, BU_RAILS_MAX, LET_GO_MS, NULL);
}
