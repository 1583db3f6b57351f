/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins a probe of a pair: its ends, its rails, its sizes and source ports. Called by
 * asks.c and run.c. Invariant: each test of a pair has its own source ports.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/gate/task/probe.h"

enum { MESSAGE_MIN = 4096, SPORT = 0xc000, SPORTS = 0x4000 };

static void
lend(struct bu_gate *gate, const struct bu_node *node, const struct bu_probe *probe,
     const char *to)
{
	struct bu_event lease;

	BU_EVENT_MAKE(&lease, BU_EVENT_LEASE, node->name, lease,
		      .probe = probe->task.id, .to = to);
	bu_reconcile_note(gate->rec, &lease, 1);
}

static int
failures_of(const struct bu_gate *gate, const struct bu_probe *probe,
	    const struct bu_node *a, const struct bu_node *b)
{
	int most = 0, place, dir;

	for (int i = 0; i < probe->rails; i++) {
		const struct bu_pair_log *log =
			bu_gate_log(gate, probe->rail[i], a, b, &place, &dir);
		int failures = log ? bu_gate_failures(log) : 0;

		if (failures > most)
			most = failures;
	}
	return most;
}

/* Each test of a pair has its own source ports, so that tests reach all cables where
 * switches choose these by port. */
static int
sport_of(const struct bu_gate *gate, const struct bu_probe *probe,
	 const struct bu_node *a, const struct bu_node *b)
{
	int tests = 0, place, dir;

	for (int i = 0; i < probe->rails; i++) {
		const struct bu_pair_log *log =
			bu_gate_log(gate, probe->rail[i], a, b, &place, &dir);

		if (log && log->tests > tests)
			tests = log->tests;
	}
	return SPORT + (int)((int64_t)tests * probe->sizes.qps % SPORTS);
}

/* A probe after one failure keeps its message size, after two it has another, and so on
 * by turns: half the size, or twice where half is below MESSAGE_MIN. */
static uint64_t
message_bytes(const struct bu_sizes *sizes, int failures)
{
	uint64_t usual = sizes->message_bytes, other = usual / 2 & ~UINT64_C(7);

	if (failures == 0 || failures % 2 == 1)
		return usual;
	if (other >= MESSAGE_MIN)
		return other;
	return 2 * usual <= sizes->bytes ? 2 * usual : usual;
}

static void
log_start(const struct bu_probe *probe)
{
	bu_autofree char *names = NULL;

	for (int i = 0; i < probe->rails; i++)
		bu_text_add(&names, ", ", "%s", probe->rail[i]);
	bu_info("gate", "probe %s: %s <-> %s on %s", probe->task.id,
		probe->task.name[0], probe->task.name[1], names);
}

/* 1 = a rail is probed between leaves (qps), and its flows are traced. */
static int
has_paths(const struct bu_rail_ends *rails, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rails[i].qps && bu_rail_is_traced(rails[i].of[0]) &&
		    bu_rail_is_traced(rails[i].of[1]))
			return 1;
	return 0;
}

/* Sets sizes and source ports, and whether flows are traced. */
static void
set_terms(struct bu_gate *gate, const struct bu_desired_validation *validation,
	  const struct bu_rail_ends *rails, size_t count, struct bu_node *const ends[2],
	  struct bu_probe *probe)
{
	probe->traces = has_paths(rails, count);
	probe->single = probe->traces && rails[0].single;
	probe->sizes = bu_rails_sizes(validation, rails, count, probe->single);
	probe->sport = sport_of(gate, probe, ends[0], ends[1]);
	probe->sizes.message_bytes = (uint32_t)message_bytes(
		&probe->sizes, failures_of(gate, probe, ends[0], ends[1]));
}

/* Notes whose jobs and whose service are disturbed. */
static void
note_ends(struct bu_gate *gate, struct bu_node *const ends[2], struct bu_probe *probe)
{
	for (int i = 0; i < 2; i++) {
		probe->works[i] = bu_gate_works(gate, ends[i],
						bu_fleet_desired(gate->fleet, ends[i]));
		if (probe->works[i])
			ends[i]->live.disturbed_ms = probe->task.since_ms;
		if (bu_fleet_certified(gate->fleet, ends[i], NULL) == 0)
			lend(gate, ends[i], probe, ends[!i]->name);
	}
}

const char *
bu_probe_start(struct bu_gate *gate, const struct bu_desired_validation *validation,
	       const struct bu_rail_ends *rails, size_t count, struct bu_node *a,
	       struct bu_node *b)
{
	/* Ends are sorted by name, so that a pair has one name. */
	int swap = strcmp(a->name, b->name) > 0;
	struct bu_node *ends[2] = {swap ? b : a, swap ? a : b};
	struct bu_probe *probe = (struct bu_probe *)bu_task_begin(
		gate, BU_TASK_PROBE, ends, 2,
		bu_rails_deadline_ms(gate, validation, rails, count));

	probe->since_seq = gate->fleet->life.row_seq;
	for (size_t i = 0; i < count; i++)
		bu_rail_ends_text(&(struct bu_rail_ends){.of = {rails[i].of[swap],
								rails[i].of[!swap]}},
				  probe->rail[probe->rails++]);
	set_terms(gate, validation, rails, count, ends, probe);
	note_ends(gate, ends, probe);
	log_start(probe);
	return probe->task.id;
}
