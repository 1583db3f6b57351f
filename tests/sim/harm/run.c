/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: time goes from one thing that is due to the next, the script's steps come in
 * their turn, and when they are over the faults end, what is left settles by itself,
 * and then with the help of people.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tests/sim/harm/harm.h"

/* STILL: no longer than what bringupd counts of one step; else it has slept, and says
 * nothing of what it did not see. */
enum { LOOK_MS = 1000, CALM_MS = 1000, STILL_MS = 1900 };

struct sim sim;

int64_t
now_ms(void)
{
	return sim.clock.fake_mono_ms - sim.start_ms;
}

unsigned int
dice(unsigned int below)
{
	sim.dice ^= sim.dice << 13;
	sim.dice ^= sim.dice >> 7;
	sim.dice ^= sim.dice << 17;
	return below ? (unsigned int)(sim.dice >> 16) % below : 0;
}

int64_t
between(int64_t least_ms, int64_t most_ms)
{
	return least_ms + dice((unsigned int)(most_ms - least_ms) + 1);
}

void
say(const char *fmt, ...)
{
	int64_t at_ms = now_ms();
	va_list args;

	if (!sim.log)
		return;
	fprintf(sim.log, "%4lld:%02lld.%03lld ", (long long)at_ms / 60000,
		(long long)at_ms / 1000 % 60, (long long)at_ms % 1000);
	va_start(args, fmt);
	vfprintf(sim.log, fmt, args);
	va_end(args);
	fputc('\n', sim.log);
}

/* --- the daemon's own words, for the log of a run --- */

static int64_t told_seq;

static int
on_event(const struct bu_event *event, void *arg)
{
	bu_autofree char *text = bu_event_text(event);

	told_seq = event->seq;
	if (event->kind != BU_EVENT_LEASE && event->kind != BU_EVENT_REVISION &&
	    event->kind != BU_EVENT_PLAN)
		say("  log %lld: %s %s %s", (long long)event->seq, event->node,
		    bu_event_name(event->kind), text);
	return 0;
}

static void
tell_events(void)
{
	if (sim.log && daemon_runs())
		bu_ignore(bu_store_read(daemon_world()->store, told_seq, 0, on_event,
					NULL, NULL));
}

/* --- time --- */

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int
is_still(void)
{
	const struct bu_fleet *fleet = daemon_world();

	if (!daemon_runs())
		return 0;
	for (size_t i = 0; i < fleet->count; i++)
		if (!bu_state_info(fleet->nodes[i]->state)->settled ||
		    fleet->nodes[i]->order->open)
			return 0;
	return 1;
}

static int64_t
next_due_ms(void)
{
	int64_t due_ms = now_ms() + (is_still() ? STILL_MS : CALM_MS);

	due_ms = least(due_ms, least(bmc_due_ms(), slurm_due_ms()));
	due_ms = least(due_ms, wire_due_ms());
	if (sim.restart_ms)
		due_ms = least(due_ms, sim.restart_ms);
	for (int i = 0; i < MACHINES; i++) {
		const struct machine *machine = &sim.machines[i];

		if (machine->next_ms)
			due_ms = least(due_ms, machine->next_ms);
		due_ms = least(due_ms, agent_due_ms(machine));
	}
	return due_ms;
}

static void
turn(int64_t until_ms)
{
	static int64_t looked_ms;
	int64_t due_ms = least(next_due_ms(), until_ms);

	bu_clock_advance(&sim.clock, due_ms > now_ms() ? due_ms - now_ms() : 1);
	if (sim.restart_ms && sim.restart_ms <= now_ms()) {
		sim.restart_ms = 0;
		say("bringupd starts");
		daemon_start();
	}
	for (int i = 0; i < MACHINES; i++)
		machine_turn(&sim.machines[i]);
	slurm_turn();
	bmc_turn();
	wire_turn();
	daemon_turn();
	tell_events();
	if (now_ms() - looked_ms >= LOOK_MS || now_ms() < looked_ms) {
		looked_ms = now_ms();
		oracle_look();
	}
}

void
run_for(int64_t ms)
{
	int64_t until_ms = now_ms() + ms;

	while (now_ms() < until_ms && !sim.broken)
		turn(until_ms);
}

/* --- phases --- */

static const char *
settle(int helped)
{
	int64_t until_ms = now_ms() + MINUTES(45), since_ms = 0;
	const char *why = NULL;

	while (now_ms() < until_ms && !sim.broken) {
		run_for(SECONDS(10));
		/* What they drained comes back drained; they see it, and resume it. */
		if (now_ms() % MINUTES(1) < SECONDS(10))
			slurm_mend();
		why = oracle_unsettled(helped);
		if (why)
			since_ms = 0;
		else if (!since_ms)
			since_ms = now_ms();
		else if (now_ms() - since_ms >= SECONDS(60))
			return NULL;
		if (why && helped && now_ms() % MINUTES(4) < SECONDS(10))
			person_helps();
	}
	return why;
}

static void
begin(const struct script *script, FILE *log)
{
	memset(&sim.clock, 0, sizeof(sim.clock));
	bu_clock_fake(&sim.clock, WALL_MS);
	sim.script = *script;
	sim.log = log;
	sim.dice = UINT64_C(0x9e3779b97f4a7c15) ^
		   ((uint64_t)script->seed * UINT64_C(0xbf58476d1ce4e5b9));
	sim.start_ms = sim.clock.fake_mono_ms;
	told_seq = 0;
	oracle_begin();
	lost_begin();
	slurm_begin();
	machines_begin();
	profile_begin();
	daemon_start();
}

static void
end_of_faults(void)
{
	const char *why;

	if (!daemon_runs() && !sim.restart_ms)
		sim.restart_ms = now_ms() + 1;
	person_mends();
	why = settle(0);
	if (why)
		broken(RULE_SILENT, "%s", why);
	if (sim.broken)
		return;
	say("--- people do what the views say");
	sim.helping = 1;
	slurm_mend();
	profile_set_right();
	person_helps();
	why = settle(1);
	if (why)
		broken(RULE_DEADEND, "%s", why);
}

void
run_script(const struct script *script, FILE *log)
{
	bu_log_init("harm", (enum bu_log_level)0); /* say() tells it */
	begin(script, log);
	person_applies(0, 0);
	for (int i = 0; i < script->count && !sim.broken; i++) {
		run_for(script->steps[i].after_ms);
		if (!sim.broken)
			script_do(&script->steps[i]);
	}
	run_for(SECONDS(20));
	/* Of another appliance's world only what does harm is asked. */
	if (!sim.broken && sim.lost)
		run_for(MINUTES(15));
	else if (!sim.broken)
		end_of_faults();
	sim.adopted = lost_adopted();
	daemon_stop(0);
}
