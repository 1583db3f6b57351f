/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake Slurm: slurmctld with dynamic nodes, slurmd on the machines, jobs that come
 * and go, administrators. Invariant: slurmctld knows nothing but what registered, what
 * it was told and what answers its pings.
 */
#include "tests/sim/harm/slurm.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { PING_MS = 10000, DOWN_MS = 30000, REGISTER_MS = 3000 };

struct slurm_ctl slurm_ctls[CLUSTERS];
static int jobs_ever;
static struct {
	int cluster;
	char conf[256];
	int64_t again_ms; /* it registers once more; 0 = it did */
} daemons[MACHINES];

const char *const slurm_names[CLUSTERS] = {"hpc", "ai"};

int
slurm_cluster_of(const char *controller)
{
	return strstr(controller, "6818") ? 1 : 0;
}

struct slurm_member *
slurm_member_of(struct slurm_ctl *ctl, const char *name)
{
	for (int i = 0; i < ctl->count; i++)
		if (strcmp(ctl->members[i].name, name) == 0)
			return &ctl->members[i];
	return NULL;
}

int
slurm_drain_index(const struct slurm_ctl *ctl, const char *name)
{
	for (int i = 0; i < ctl->drains_count; i++)
		if (strcmp(ctl->drains[i].name, name) == 0)
			return i;
	return -1;
}

void
slurm_drain_forget(struct slurm_ctl *ctl, const char *name)
{
	int at = slurm_drain_index(ctl, name);

	if (at >= 0)
		ctl->drains[at] = ctl->drains[--ctl->drains_count];
}

void
slurm_forget_gone(void)
{
	for (int i = 0; i < CLUSTERS; i++) {
		struct slurm_ctl *ctl = &slurm_ctls[i];

		for (int at = ctl->drains_count; at-- > 0;)
			if (!slurm_member_of(ctl, ctl->drains[at].name))
				slurm_drain_forget(ctl, ctl->drains[at].name);
	}
}

int
slurm_admin_drained(const char *name)
{
	for (int i = 0; i < CLUSTERS; i++)
		if (slurm_drain_index(&slurm_ctls[i], name) >= 0)
			return 1;
	return 0;
}

static int
runs_job(const struct slurm_member *member)
{
	return member->job && member->machine >= 0 &&
	       sim.machines[member->machine].running == RUNS_SYSTEM &&
	       sim.machines[member->machine].boots == member->job_boot;
}

int
slurm_jobs_on(const struct machine *machine)
{
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < slurm_ctls[i].count; k++)
			if (slurm_ctls[i].members[k].machine == machine->index &&
			    runs_job(&slurm_ctls[i].members[k]))
				return slurm_ctls[i].members[k].job;
	return 0;
}

static int
takes_work(const struct slurm_ctl *ctl, const struct slurm_member *member)
{
	return !ctl->stopped && !member->drain && !member->down && !member->silent &&
	       member->machine >= 0;
}

int
slurm_gives_work(const struct machine *machine)
{
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < slurm_ctls[i].count; k++)
			if (slurm_ctls[i].members[k].machine == machine->index &&
			    takes_work(&slurm_ctls[i], &slurm_ctls[i].members[k]))
				return 1;
	return 0;
}

int
slurm_knows(const char *name)
{
	return slurm_member_of(&slurm_ctls[0], name) ||
	       slurm_member_of(&slurm_ctls[1], name);
}

const char *
slurm_unusable(const char *name)
{
	const char *why = "no cluster knows it";

	for (int i = 0; i < CLUSTERS; i++) {
		const struct slurm_member *member =
			slurm_member_of(&slurm_ctls[i], name);

		if (!member)
			continue;
		if (takes_work(&slurm_ctls[i], member))
			return NULL;
		why = slurm_ctls[i].stopped ? "slurmctld is down"
		      : member->machine < 0 ? "no slurmd answers for it"
		      : member->drain       ? "it is drained"
					    : "it is down in Slurm";
	}
	return why;
}

/* --- slurmd --- */

static void
take_word(const char *conf, const char *key, char *ret, size_t size)
{
	const char *at = strstr(conf, key);

	bu_text_copy(ret, size, at ? at + strlen(key) : "");
	if (ret[0] == '\'' || ret[0] == '"') {
		memmove(ret, ret + 1, strlen(ret));
		ret[strcspn(ret, "'\"")] = '\0';
	} else {
		ret[strcspn(ret, " ")] = '\0';
	}
}

static void
registers(struct machine *machine)
{
	struct slurm_ctl *ctl = &slurm_ctls[daemons[machine->index].cluster];
	const char *conf = daemons[machine->index].conf;
	struct slurm_member *member = slurm_member_of(ctl, machine->slurmd_name);

	if (ctl->stopped || !machine_reaches(machine)) {
		daemons[machine->index].again_ms = now_ms() + REGISTER_MS;
		return;
	}
	daemons[machine->index].again_ms = 0;
	if (!member) {
		if (ctl->count == NODES_MAX)
			return;
		member = &ctl->members[ctl->count++];
		memset(member, 0, sizeof(*member));
		bu_text_copy(member->name, sizeof(member->name), machine->slurmd_name);
		/* slurmctld 22.05 does not take a Reason= from there. */
		member->drain = strstr(conf, "State=DRAIN") != NULL;
	}
	take_word(conf, "Feature=", member->features, sizeof(member->features));
	/* ReturnToService=2 */
	if (member->down && !member->drain)
		member->reason[0] = '\0';
	member->down = member->silent = 0;
	member->missed_ms = 0;
	if (member->machine != machine->index || !runs_job(member))
		member->job = 0;
	member->machine = machine->index;
	say("%s: slurmd of %s registers with %s%s", machine->serial,
	    machine->slurmd_name, slurm_names[daemons[machine->index].cluster],
	    member->drain ? ", drained" : "");
}

void
slurmd_starts(struct machine *machine, int cluster, const char *name, const char *conf)
{
	machine->slurmd = cluster + 1;
	bu_text_copy(machine->slurmd_name, sizeof(machine->slurmd_name), name);
	daemons[machine->index].cluster = cluster;
	bu_text_copy(daemons[machine->index].conf, sizeof(daemons[0].conf), conf);
	registers(machine);
}

void
slurmd_ends(struct machine *machine)
{
	machine->slurmd = 0;
	daemons[machine->index].again_ms = 0;
}

static int
answers(const struct slurm_member *member)
{
	const struct machine *machine =
		member->machine < 0 ? NULL : &sim.machines[member->machine];

	return machine && machine_works(machine) && machine_reaches(machine) &&
	       machine->slurmd && strcmp(machine->slurmd_name, member->name) == 0;
}

/* --- time --- */

static void
job_turn(struct slurm_ctl *ctl, struct slurm_member *member)
{
	if (member->job && member->job_ms <= now_ms()) {
		member->job = 0;
		member->job_ms = now_ms() + between(SECONDS(3), SECONDS(60));
	}
	if (member->job || !takes_work(ctl, member) || !answers(member))
		return;
	if (!member->job_ms)
		member->job_ms = now_ms() + between(SECONDS(1), SECONDS(40));
	if (member->job_ms > now_ms())
		return;
	member->job = 100 + ++jobs_ever;
	member->job_boot = sim.machines[member->machine].boots;
	member->job_ms = now_ms() + between(SECONDS(20), SECONDS(150));
	say("job %d begins on %s (%s)", member->job, member->name,
	    sim.machines[member->machine].serial);
}

static void
member_turn(struct slurm_ctl *ctl, struct slurm_member *member)
{
	if (ctl->stopped)
		return;
	if (answers(member)) {
		member->missed_ms = 0;
		if (member->silent || member->down == 2)
			member->silent = member->down = 0;
	} else {
		if (!member->missed_ms)
			member->missed_ms = now_ms();
		member->silent = now_ms() - member->missed_ms >= PING_MS;
		if (now_ms() - member->missed_ms >= DOWN_MS && !member->down) {
			member->down = 2;
			member->job = 0;
			if (!member->reason[0])
				snprintf(member->reason, sizeof(member->reason),
					 "Not responding");
		}
	}
	job_turn(ctl, member);
}

void
slurm_turn(void)
{
	for (int i = 0; i < MACHINES; i++)
		if (sim.machines[i].slurmd && daemons[i].again_ms &&
		    daemons[i].again_ms <= now_ms())
			registers(&sim.machines[i]);
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < slurm_ctls[i].count; k++)
			member_turn(&slurm_ctls[i], &slurm_ctls[i].members[k]);
	slurm_commands_turn();
}

int64_t
slurm_due_ms(void)
{
	return slurm_commands_due_ms();
}

void
slurm_begin(void)
{
	memset(slurm_ctls, 0, sizeof(slurm_ctls));
	memset(daemons, 0, sizeof(daemons));
	jobs_ever = 0;
}

/* --- administrators --- */

static void
admin_drain(struct slurm_ctl *ctl, struct slurm_member *member)
{
	int at = slurm_drain_index(ctl, member->name);

	say("administrator: drains %s of %s: DIMM A3", member->name,
	    slurm_names[ctl - slurm_ctls]);
	member->drain = 1;
	snprintf(member->reason, sizeof(member->reason), "DIMM A3");
	if (at < 0 && ctl->drains_count < NODES_MAX)
		at = ctl->drains_count++;
	if (at < 0)
		return;
	bu_text_copy(ctl->drains[at].name, NAME_SIZE, member->name);
	ctl->drains[at].at_ms = now_ms();
}

static void
admin_member(enum verb verb, struct slurm_ctl *ctl, struct slurm_member *member)
{
	if (verb == VERB_ADMIN_DRAIN) {
		admin_drain(ctl, member);
	} else if (verb == VERB_ADMIN_RESUME) {
		say("administrator: resumes %s of %s", member->name,
		    slurm_names[ctl - slurm_ctls]);
		slurm_drain_forget(ctl, member->name);
		if (member->machine >= 0)
			sim.machines[member->machine].resumed_ms = now_ms();
		member->drain = member->down = 0;
		member->reason[0] = '\0';
	} else if (verb == VERB_ADMIN_DOWN) {
		say("administrator: sets %s of %s down", member->name,
		    slurm_names[ctl - slurm_ctls]);
		member->down = 1;
		member->job = 0;
		snprintf(member->reason, sizeof(member->reason), "looks bad");
	} else if (!member->job) {
		say("administrator: deletes %s of %s", member->name,
		    slurm_names[ctl - slurm_ctls]);
		slurm_drain_forget(ctl, member->name);
		*member = ctl->members[--ctl->count];
	}
}

void
slurm_admin(enum verb verb, unsigned int which, unsigned int cluster)
{
	struct slurm_ctl *ctl = &slurm_ctls[cluster % (unsigned)sim.script.clusters];

	switch (verb) {
	case VERB_CTLD_STOPS:
	case VERB_CTLD_STARTS:
		ctl->stopped = verb == VERB_CTLD_STOPS;
		say("slurmctld of %s %s", slurm_names[ctl - slurm_ctls],
		    ctl->stopped ? "stops" : "starts");
		break;
	case VERB_CTLD_FORGETS:
		say("slurmctld of %s is started anew without its state",
		    slurm_names[ctl - slurm_ctls]);
		ctl->count = ctl->drains_count = ctl->stopped = 0;
		break;
	case VERB_CTLD_LOSES:
		say("slurmctld of %s %s for a minute", slurm_names[ctl - slurm_ctls],
		    which % 2 ? "hangs" : "answers late");
		*(which % 2 ? &ctl->hangs_ms : &ctl->loses_ms) = now_ms() + MINUTES(1);
		break;
	default:
		if (ctl->stopped || !ctl->count)
			say("nothing: %s has no node or does not run",
			    slurm_names[ctl - slurm_ctls]);
		else
			admin_member(verb, ctl,
				     &ctl->members[which % (unsigned)ctl->count]);
	}
}

/* Whatever it is called by now: its reason is an administrator's. */
static int
is_by_hand(const struct slurm_member *member)
{
	return member->down == 1 ||
	       (member->drain && (strcmp(member->reason, "DIMM A3") == 0 ||
				  strcmp(member->reason, "looks bad") == 0));
}

/* The faults end: administrators take back what they did, as they said they would. */
void
slurm_mend(void)
{
	for (int i = 0; i < CLUSTERS; i++) {
		struct slurm_ctl *ctl = &slurm_ctls[i];

		ctl->stopped = 0;
		ctl->hangs_ms = ctl->loses_ms = 0;
		for (int k = 0; k < ctl->count; k++)
			if (is_by_hand(&ctl->members[k]))
				admin_member(VERB_ADMIN_RESUME, ctl, &ctl->members[k]);
		ctl->drains_count = 0;
	}
}
