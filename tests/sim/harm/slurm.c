/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm of paper: slurmctld with dynamic nodes, slurmd on the machines, jobs that come
 * and go, administrators. The daemon reaches it as it does in life, by sinfo, scontrol
 * and squeue (its jobs are caught by --wrap). Invariant: slurmctld knows nothing but
 * what registered, what it was told and what answers its pings.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/worker.h"
#include "profiles/nodeset/nodeset.h"
#include "tests/sim/harm/harm.h"

enum { PING_MS = 10000, DOWN_MS = 30000, NODES_MAX = 24, REGISTER_MS = 3000 };

struct member {
	char name[NAME_SIZE];
	int machine; /* whose slurmd answers; -1 = none */
	int drain, down, silent;
	char reason[120];
	char features[80];
	int job; /* its number; 0 = none */
	int job_boot;
	int64_t job_ms, missed_ms;
};

static struct ctl {
	int stopped;
	int64_t hangs_ms, loses_ms;
	struct member members[NODES_MAX];
	int count;
	/* What administrators want, whatever becomes of slurmctld's memory. */
	struct {
		char name[NAME_SIZE];
		int64_t at_ms;
	} drains[NODES_MAX];
	int drains_count;
} ctls[CLUSTERS];

static int jobs_ever;
static struct {
	int cluster;
	char conf[256];
	int64_t again_ms; /* it registers once more; 0 = it did */
} daemons[MACHINES];

static const char *const names[CLUSTERS] = {"hpc", "ai"};

int
slurm_cluster_of(const char *controller)
{
	return strstr(controller, "6818") ? 1 : 0;
}

static struct member *
member_of(struct ctl *ctl, const char *name)
{
	for (int i = 0; i < ctl->count; i++)
		if (strcmp(ctl->members[i].name, name) == 0)
			return &ctl->members[i];
	return NULL;
}

static int
drain_index(const struct ctl *ctl, const char *name)
{
	for (int i = 0; i < ctl->drains_count; i++)
		if (strcmp(ctl->drains[i].name, name) == 0)
			return i;
	return -1;
}

static void
drain_forget(struct ctl *ctl, const char *name)
{
	int at = drain_index(ctl, name);

	if (at >= 0)
		ctl->drains[at] = ctl->drains[--ctl->drains_count];
}

int
slurm_admin_drained(const char *name)
{
	for (int i = 0; i < CLUSTERS; i++)
		if (drain_index(&ctls[i], name) >= 0)
			return 1;
	return 0;
}

static int
runs_job(const struct member *member)
{
	return member->job && member->machine >= 0 &&
	       sim.machines[member->machine].running == RUNS_SYSTEM &&
	       sim.machines[member->machine].boots == member->job_boot;
}

int
slurm_jobs_on(const struct machine *machine)
{
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < ctls[i].count; k++)
			if (ctls[i].members[k].machine == machine->index &&
			    runs_job(&ctls[i].members[k]))
				return ctls[i].members[k].job;
	return 0;
}

static int
takes_work(const struct ctl *ctl, const struct member *member)
{
	return !ctl->stopped && !member->drain && !member->down && !member->silent &&
	       member->machine >= 0;
}

int
slurm_gives_work(const struct machine *machine)
{
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < ctls[i].count; k++)
			if (ctls[i].members[k].machine == machine->index &&
			    takes_work(&ctls[i], &ctls[i].members[k]))
				return 1;
	return 0;
}

int
slurm_knows(const char *name)
{
	return member_of(&ctls[0], name) || member_of(&ctls[1], name);
}

const char *
slurm_unusable(const char *name)
{
	const char *why = "no cluster knows it";

	for (int i = 0; i < CLUSTERS; i++) {
		const struct member *member = member_of(&ctls[i], name);

		if (!member)
			continue;
		if (takes_work(&ctls[i], member))
			return NULL;
		why = ctls[i].stopped       ? "slurmctld is down"
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
	struct ctl *ctl = &ctls[daemons[machine->index].cluster];
	const char *conf = daemons[machine->index].conf;
	struct member *member = member_of(ctl, machine->slurmd_name);

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
		member->drain = strstr(conf, "State=DRAIN") != NULL;
		take_word(conf, "Reason=", member->reason, sizeof(member->reason));
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
	    machine->slurmd_name, names[daemons[machine->index].cluster],
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
answers(const struct member *member)
{
	const struct machine *machine =
		member->machine < 0 ? NULL : &sim.machines[member->machine];

	return machine && machine_works(machine) && machine_reaches(machine) &&
	       machine->slurmd && strcmp(machine->slurmd_name, member->name) == 0;
}

/* --- time --- */

static void
job_turn(struct ctl *ctl, struct member *member)
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
member_turn(struct ctl *ctl, struct member *member)
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

/* --- what the commands say --- */

static const char *
state_of(const struct member *member, int long_form)
{
	static char text[80];
	const char *base = member->down  ? (long_form ? "DOWN" : "down")
			   : member->job ? (long_form ? "ALLOCATED" : "allocated")
					 : (long_form ? "IDLE" : "idle");

	if (long_form)
		snprintf(text, sizeof(text), "%s%s%s+DYNAMIC_NORM", base,
			 member->drain ? "+DRAIN" : "",
			 member->silent ? "+NOT_RESPONDING" : "");
	else
		snprintf(text, sizeof(text), "%s%s",
			 !member->drain ? base
			 : member->job  ? "draining"
					: "drained",
			 member->silent ? "*" : "");
	return text;
}

struct bu_job {
	struct bu_job *next;
	struct ctl *ctl;
	char *argv[16];
	int argc;
	int64_t due_ms, until_ms;
	bu_job_fn fn;
	void *arg;
	FILE *out;
	char *text;
	size_t size;
	char errs[200];
	int ended;
};
static struct bu_job *jobs;

static int __attribute__((format(printf, 2, 3)))
refuse(struct bu_job *job, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(job->errs, sizeof(job->errs), fmt, args);
	va_end(args);
	return 1;
}

static const char *
option(const struct bu_job *job, const char *name)
{
	size_t length = strlen(name);

	for (int i = 1; i < job->argc; i++)
		if ((name[0] == '-' ? strncmp : strncasecmp)(job->argv[i], name,
							     length) == 0)
			return job->argv[i][length] ? job->argv[i] + length
			       : i + 1 < job->argc  ? job->argv[i + 1]
						    : "";
	return NULL;
}

static int
asked_for(const char *set, const char *name)
{
	struct bu_nodeset *nodes;
	int found = 0;

	if (!set || !*set)
		return 1;
	nodes = bu_nodeset_expand(set, NULL);
	for (size_t i = 0; nodes && i < nodes->count; i++)
		found |= strcmp(nodes->names[i], name) == 0;
	bu_nodeset_destroy(nodes);
	return found;
}

static int
run_sinfo(struct bu_job *job)
{
	const char *set = option(job, "-n");

	for (int i = 0; i < job->ctl->count; i++)
		if (asked_for(set, job->ctl->members[i].name))
			fprintf(job->out, "%s\n", state_of(&job->ctl->members[i], 0));
	return 0;
}

static void
show(const struct bu_job *job, const struct member *member)
{
	const char *features = member->features[0] ? member->features : "(null)";

	fprintf(job->out,
		"NodeName=%s Arch=x86_64 CoresPerSocket=1 CPUAlloc=%d CPUTot=1 "
		"CPULoad=0.00 AvailableFeatures=%s ActiveFeatures=%s Gres=(null) "
		"NodeAddr=10.77.0.9 NodeHostName=%s Version=22.05.8 State=%s "
		"ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A "
		"Partitions=all BootTime=None SlurmdStartTime=None",
		member->name, member->job != 0, features, features, member->name,
		state_of(member, 1));
	if (member->reason[0])
		fprintf(job->out, " Reason=%s [root@2026-01-01T00:00:00]",
			member->reason);
	fputc('\n', job->out);
}

static int
run_show(struct bu_job *job)
{
	const char *set = NULL;
	int shown = 0;

	for (int i = 1; i + 1 < job->argc; i++)
		if (strncmp(job->argv[i], "node", 4) == 0)
			set = job->argv[i + 1];
	for (int i = 0; i < job->ctl->count; i++)
		if (asked_for(set, job->ctl->members[i].name)) {
			show(job, &job->ctl->members[i]);
			shown++;
		}
	if (!shown && set)
		return refuse(job, "Node %s not found", set);
	if (!shown)
		fprintf(job->out, "No nodes in the system\n");
	return 0;
}

static void
resume(struct ctl *ctl, struct member *member)
{
	int at = drain_index(ctl, member->name);

	say("scontrol of the daemon: %s of %s is resumed (it was %s, %s)", member->name,
	    names[ctl - ctls], state_of(member, 1), member->reason);
	if (at >= 0 && now_ms() - ctl->drains[at].at_ms > SECONDS(1))
		broken(RULE_DRAIN,
		       "%s was drained by an administrator %lld s ago and "
		       "is resumed by the daemon",
		       member->name,
		       (long long)(now_ms() - ctl->drains[at].at_ms) / 1000);
	member->drain = member->down = 0;
	member->reason[0] = '\0';
}

static void
drain(struct ctl *ctl, struct member *member, const char *reason)
{
	int at = drain_index(ctl, member->name);

	say("scontrol of the daemon: %s of %s is drained: %s", member->name,
	    names[ctl - ctls], reason);
	if (at >= 0 && now_ms() - ctl->drains[at].at_ms > SECONDS(1) && member->drain)
		broken(RULE_DRAIN,
		       "the reason of an administrator's drain of %s (%s) "
		       "is overwritten with '%s'",
		       member->name, member->reason, reason);
	member->drain = 1;
	bu_text_copy(member->reason, sizeof(member->reason), reason);
}

static int
update(struct bu_job *job, struct member *member)
{
	const char *state = option(job, "state=");
	const char *features = option(job, "availablefeatures=");
	const char *reason = option(job, "reason=");

	if (features)
		bu_text_copy(member->features, sizeof(member->features), features);
	if (!state)
		return 0;
	if (strcasecmp(state, "drain") == 0)
		drain(job->ctl, member, reason ? reason : "");
	else if (strcasecmp(state, "resume") == 0 || strcasecmp(state, "undrain") == 0)
		resume(job->ctl, member);
	else
		return refuse(job, "slurm_update error: state '%s'", state);
	return 0;
}

static int delete (struct bu_job *job, struct member *member)
{
	struct ctl *ctl = job->ctl;

	if (member->job)
		return refuse(job, "delete nodename error: Node is in use");
	say("scontrol of the daemon: %s leaves %s", member->name, names[ctl - ctls]);
	*member = ctl->members[--ctl->count];
	return 0;
}

static int
run_change(struct bu_job *job)
{
	const char *set = option(job, "nodename=");
	struct bu_nodeset *nodes = set ? bu_nodeset_expand(set, NULL) : NULL;
	int rc = 0;

	if (!nodes)
		return refuse(job, "slurm_update error: Invalid node name specified");
	for (size_t i = 0; rc == 0 && i < nodes->count; i++) {
		struct member *member = member_of(job->ctl, nodes->names[i]);

		if (!member)
			rc = refuse(job, "slurm_update error: Invalid node name "
					 "specified");
		else if (strcmp(job->argv[1], "delete") == 0)
			rc = delete (job, member);
		else
			rc = update(job, member);
	}
	bu_nodeset_destroy(nodes);
	return rc;
}

static int
run_squeue(struct bu_job *job)
{
	const char *set = option(job, "-w"), *format = option(job, "-o");

	for (int i = 0; i < job->ctl->count; i++) {
		const struct member *member = &job->ctl->members[i];

		if (!member->job || !asked_for(set, member->name))
			continue;
		for (const char *at = format ? format : "%i"; *at; at++) {
			if (*at != '%')
				fputc(*at, job->out);
			else if (*++at == 'i' || *at == 'A')
				fprintf(job->out, "%d", member->job);
			else
				fputs(*at == 'u' ? "alice" : member->name, job->out);
		}
		fputc('\n', job->out);
	}
	return 0;
}

static int
run_command(struct bu_job *job)
{
	if (job->ctl->stopped)
		return refuse(job, "slurm_load_node error: Unable to contact slurm "
				   "controller (connect failure)");
	if (strcmp(job->argv[0], "sinfo") == 0)
		return run_sinfo(job);
	if (strcmp(job->argv[0], "squeue") == 0)
		return run_squeue(job);
	for (int i = 1; i < job->argc; i++)
		if (strcmp(job->argv[i], "show") == 0)
			return run_show(job);
	return run_change(job);
}

/* --- the daemon's jobs --- */

static void
job_free(struct bu_job *job)
{
	fclose(job->out);
	free(job->text);
	for (int i = 0; i < job->argc; i++)
		free(job->argv[i]);
	free(job);
}

struct bu_job *__wrap_bu_job_start(struct bu_loop *loop, const struct bu_job_opts *opts,
				   bu_job_fn fn, void *arg, struct bu_err *err);
void __wrap_bu_job_cancel(struct bu_job *job);

struct bu_job *
__wrap_bu_job_start(struct bu_loop *loop, const struct bu_job_opts *opts, bu_job_fn fn,
		    void *arg, struct bu_err *err)
{
	struct bu_job *job = bu_xcalloc(1, sizeof(*job)), **link = &jobs;
	const char *conf = opts->env && opts->env[0] ? opts->env[0] : "";

	bu_assert(strcmp(opts->argv[0], "sinfo") == 0 ||
		  strcmp(opts->argv[0], "scontrol") == 0 ||
		  strcmp(opts->argv[0], "squeue") == 0);
	job->ctl = &ctls[strstr(conf, names[1]) ? 1 : 0];
	for (int i = 0; opts->argv[i] && i < 16; i++)
		job->argv[job->argc++] = bu_xstrdup(opts->argv[i]);
	job->due_ms = now_ms() + between(10, 60);
	job->until_ms = now_ms() + opts->deadline_ms;
	job->fn = fn;
	job->arg = arg;
	job->out = open_memstream(&job->text, &job->size);
	while (*link)
		link = &(*link)->next;
	*link = job;
	return job;
}

void
__wrap_bu_job_cancel(struct bu_job *job)
{
	struct bu_job **link = &jobs;

	if (!job)
		return;
	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	/* What it began may be done. */
	if (!job->ended && dice(2) == 0)
		run_command(job);
	job_free(job);
}

static void
job_end(struct bu_job *job, int status, int late)
{
	struct bu_job_result result = {.exit_code = status, .errs = job->errs};
	struct bu_job **link = &jobs;
	struct bu_err err;

	while (*link != job)
		link = &(*link)->next;
	*link = job->next;
	fflush(job->out);
	result.out = job->text;
	result.out_size = job->size;
	if (late)
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "%s: no end within its time",
			   job->argv[0]);
	else if (status)
		bu_err_set(&err, BU_ERR_REMOTE, 0, "%s: exit status %d: %s",
			   job->argv[0], status, job->errs);
	job->fn(&result, late || status ? &err : NULL, job->arg);
	job_free(job);
}

/* Commands that hang do what they were asked, or not, and nobody hears of it. */
static void
jobs_turn(void)
{
	struct bu_job *job = jobs;

	while (job) {
		struct bu_job *next = job->next;
		int hangs = job->ctl->hangs_ms > now_ms();

		if (!job->ended && job->due_ms <= now_ms() && !hangs) {
			int lost = job->ctl->loses_ms > now_ms() && dice(3) == 0;
			int status = run_command(job);

			job->ended = 1;
			if (!lost) {
				job_end(job, status, 0);
				job = jobs; /* its callback may have begun others */
				continue;
			}
		} else if (job->until_ms <= now_ms()) {
			job_end(job, -1, 1);
			job = jobs;
			continue;
		}
		job = next;
	}
}

void
slurm_turn(void)
{
	for (int i = 0; i < MACHINES; i++)
		if (sim.machines[i].slurmd && daemons[i].again_ms &&
		    daemons[i].again_ms <= now_ms())
			registers(&sim.machines[i]);
	for (int i = 0; i < CLUSTERS; i++)
		for (int k = 0; k < ctls[i].count; k++)
			member_turn(&ctls[i], &ctls[i].members[k]);
	jobs_turn();
}

int64_t
slurm_due_ms(void)
{
	int64_t due_ms = INT64_MAX;

	for (const struct bu_job *job = jobs; job; job = job->next) {
		int64_t next_ms = job->ended || job->ctl->hangs_ms > now_ms()
					  ? job->until_ms
					  : job->due_ms;

		if (next_ms < due_ms)
			due_ms = next_ms;
	}
	return due_ms;
}

void
slurm_begin(void)
{
	memset(ctls, 0, sizeof(ctls));
	memset(daemons, 0, sizeof(daemons));
	jobs_ever = 0;
}

/* --- administrators --- */

static void
admin_drain(struct ctl *ctl, struct member *member)
{
	int at = drain_index(ctl, member->name);

	say("administrator: drains %s of %s: DIMM A3", member->name, names[ctl - ctls]);
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
admin_member(enum verb verb, struct ctl *ctl, struct member *member)
{
	if (verb == VERB_ADMIN_DRAIN) {
		admin_drain(ctl, member);
	} else if (verb == VERB_ADMIN_RESUME) {
		say("administrator: resumes %s of %s", member->name, names[ctl - ctls]);
		drain_forget(ctl, member->name);
		member->drain = member->down = 0;
		member->reason[0] = '\0';
	} else if (verb == VERB_ADMIN_DOWN) {
		say("administrator: sets %s of %s down", member->name,
		    names[ctl - ctls]);
		member->down = 1;
		member->job = 0;
		snprintf(member->reason, sizeof(member->reason), "looks bad");
	} else if (!member->job) {
		say("administrator: deletes %s of %s", member->name, names[ctl - ctls]);
		drain_forget(ctl, member->name);
		*member = ctl->members[--ctl->count];
	}
}

void
slurm_admin(enum verb verb, unsigned int which, unsigned int cluster)
{
	struct ctl *ctl = &ctls[cluster % (unsigned)sim.script.clusters];

	switch (verb) {
	case VERB_CTLD_STOPS:
	case VERB_CTLD_STARTS:
		ctl->stopped = verb == VERB_CTLD_STOPS;
		say("slurmctld of %s %s", names[ctl - ctls],
		    ctl->stopped ? "stops" : "starts");
		break;
	case VERB_CTLD_FORGETS:
		say("slurmctld of %s is started anew without its state",
		    names[ctl - ctls]);
		ctl->count = ctl->drains_count = ctl->stopped = 0;
		break;
	case VERB_CTLD_LOSES:
		say("slurmctld of %s %s for a minute", names[ctl - ctls],
		    which % 2 ? "hangs" : "answers late");
		*(which % 2 ? &ctl->hangs_ms : &ctl->loses_ms) = now_ms() + MINUTES(1);
		break;
	default:
		if (ctl->stopped || !ctl->count)
			say("nothing: %s has no node or does not run",
			    names[ctl - ctls]);
		else
			admin_member(verb, ctl,
				     &ctl->members[which % (unsigned)ctl->count]);
	}
}

/* The faults end: administrators take back what they did, as they said they would. */
void
slurm_mend(void)
{
	for (int i = 0; i < CLUSTERS; i++) {
		struct ctl *ctl = &ctls[i];

		ctl->stopped = 0;
		ctl->hangs_ms = ctl->loses_ms = 0;
		for (int k = 0; k < ctl->count; k++)
			if (drain_index(ctl, ctl->members[k].name) >= 0 ||
			    ctl->members[k].down == 1)
				admin_member(VERB_ADMIN_RESUME, ctl, &ctl->members[k]);
		ctl->drains_count = 0;
	}
}
