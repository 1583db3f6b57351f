/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake sinfo, scontrol and squeue, and the shell that asks both of acceptance: the
 * daemon starts them as it does in life, and its jobs are caught by --wrap. Invariant:
 * a command does all that it was asked, or says why not; whether its answer is heard is
 * another matter.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/worker.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/cluster/slurm/op.h"
#include "tests/sim/harm/slurm.h"

/* --- what the commands say --- */

static const char *
state_of(const struct slurm_member *member, int long_form)
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
	struct slurm_ctl *ctl;
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
show(const struct bu_job *job, const struct slurm_member *member)
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

/* For how long an administrator has had it drained; 0 = not. Whoever decided before
 * that cannot know: Slurm has no "only if", and the drain is gone for good. */
static int64_t
drained_ms(struct slurm_ctl *ctl, const struct slurm_member *member)
{
	int at = slurm_drain_index(ctl, member->name);

	if (at < 0 || now_ms() - ctl->drains[at].at_ms > SECONDS(1))
		return at < 0 ? 0 : now_ms() - ctl->drains[at].at_ms;
	slurm_drain_forget(ctl, member->name);
	return 0;
}

static void
resume(struct slurm_ctl *ctl, struct slurm_member *member)
{
	int64_t since_ms = drained_ms(ctl, member);

	say("scontrol of the daemon: %s of %s is resumed (it was %s, %s)", member->name,
	    slurm_names[ctl - slurm_ctls], state_of(member, 1), member->reason);
	if (since_ms)
		broken(RULE_DRAIN,
		       "%s was drained by an administrator %lld s ago and "
		       "is resumed by the daemon",
		       member->name, (long long)since_ms / 1000);
	member->drain = member->down = 0;
	member->reason[0] = '\0';
}

static void
drain(struct slurm_ctl *ctl, struct slurm_member *member, const char *reason)
{
	int64_t since_ms = drained_ms(ctl, member);

	say("scontrol of the daemon: %s of %s is drained: %s", member->name,
	    slurm_names[ctl - slurm_ctls], reason);
	if (since_ms && member->drain && strcmp(reason, "DIMM A3") != 0 &&
	    strcmp(reason, "looks bad") != 0)
		broken(RULE_DRAIN,
		       "the reason of an administrator's drain of %s (%s) "
		       "is overwritten with '%s'",
		       member->name, member->reason, reason);
	member->drain = 1;
	bu_text_copy(member->reason, sizeof(member->reason), reason);
}

static int
update(struct bu_job *job, struct slurm_member *member)
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

static int delete (struct bu_job *job, struct slurm_member *member)
{
	struct slurm_ctl *ctl = job->ctl;

	if (member->job)
		return refuse(job, "delete nodename error: Node is in use");
	drained_ms(job->ctl, member); /* a drain of this moment goes with the node */
	say("scontrol of the daemon: %s leaves %s", member->name,
	    slurm_names[ctl - slurm_ctls]);
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
		struct slurm_member *member =
			slurm_member_of(job->ctl, nodes->names[i]);

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
		const struct slurm_member *member = &job->ctl->members[i];

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
	if (strcmp(job->argv[0], "sh") ==
	    0) /* no job and no reservation of acceptance */
		return fputs("No reservations in the system\n", job->out) < 0;
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
		  strcmp(opts->argv[0], "squeue") == 0 ||
		  opts->argv == bu_slurm_trials_argv);
	if (strcmp(opts->argv[0], "scontrol") == 0 &&
	    strcmp(opts->argv[1], "-o") != 0 && strcmp(opts->argv[1], "show") != 0)
		oracle_begins("scontrol");
	job->ctl = &slurm_ctls[strstr(conf, slurm_names[1]) ? 1 : 0];
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
void
slurm_commands_turn(void)
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

int64_t
slurm_commands_due_ms(void)
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
