/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job of the site on nodes that join, before anybody else's. Called by driver.c and
 * decide.c. Nodes that join within some seconds get one reservation and one job; a job
 * of several that fails is followed by one on each node, which names the bad one.
 * Invariants: what there is decides, not what was done: reservation and job are looked
 * up before each act, so that it may begin anywhere. No node leaves its reservation
 * unless its job was good or it is drained.
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/text.h"
#include "provisioner/cluster/acceptance.h"
#include "provisioner/cluster/slurm/op.h"
#include "provisioner/cluster/slurm/trials.h"

enum {
	TOGETHER_MS = 20000, /* the first node waits so long for others */
	QUEUE_MS = 120000,   /* for the reservation, and for the job to begin */
	VANISHED_MAX = 3,
	OUTPUT_BYTES = 400, /* slurmctld keeps comments short */
};

const char *const bu_slurm_trials_argv[] = {
	"sh", "-c",
	"squeue -h --me -t all --name=" BU_SLURM_TRIAL_JOB
	" -o 'bringup|%i|%T|%D|%n|%r|%k' && exec scontrol -o show reservation",
	NULL};

void
bu_slurm_trial_begin(struct bu_cluster_op *op,
		     const struct bu_cluster_acceptance *acceptance)
{
	char hex[BU_DIGEST_SIZE];

	if (!acceptance)
		return;
	bu_sha256_hex(acceptance->once, strlen(acceptance->once), hex);
	bu_text_copy_part(op->trial.once, sizeof(op->trial.once), hex,
			  BU_SLURM_ONCE_SIZE - 1);
	op->trial.command = bu_xstrdup(acceptance->command);
	op->trial.least = acceptance->least;
	op->trial.limit_ms = acceptance->limit_ms;
}

void
bu_slurm_note_trials(struct bu_cluster_op *op, const char *text)
{
	bu_slurm_trial_reservation(text, op->node, op->trial.reservation,
				   sizeof(op->trial.reservation), &op->trial.members);
}

/* --- others of the same reservation --- */

static int
is_of(const struct bu_cluster_op *op, const char *reservation)
{
	return op->trial.command && strcmp(op->trial.reservation, reservation) == 0;
}

/* Those that wait together with this one, or it alone. */
static int
waits_with(const struct bu_cluster_op *op, const struct bu_cluster_op *other)
{
	return op == other || (!op->trial.alone && other->trial.command &&
			       other->trial.waits && !other->trial.alone &&
			       strcmp(other->trial.command, op->trial.command) == 0);
}

static int
is_settled(const struct bu_cluster_op *op)
{
	return op->trial.verdict == VERDICT_GOOD ||
	       (op->trial.verdict && op->drain != BU_DRAIN_NONE);
}

/* 1 = this one acts for all of its reservation. */
static int
leads(const struct bu_cluster_op *op)
{
	const struct bu_cluster_op *first = op->cluster->ops;

	while (first != op && !is_of(first, op->trial.reservation))
		first = first->next;
	return first == op;
}

struct crew {
	int members, settled, resumed;
};

static struct crew
count_crew(const struct bu_cluster_op *op)
{
	struct crew crew = {0};

	for (const struct bu_cluster_op *it = op->cluster->ops; it; it = it->next) {
		if (!is_of(it, op->trial.reservation))
			continue;
		crew.members++;
		crew.settled += is_settled(it);
		crew.resumed += it->drain == BU_DRAIN_NONE;
	}
	return crew;
}

/* --- one node --- */

static void
look_soon(struct bu_cluster_op *op)
{
	op->look_ms = BU_SLURM_LOOK_MS;
	bu_slurm_look_later(op);
}

static void
say(struct bu_cluster_op *op, const char *text)
{
	bu_autofree char *words = bu_xasprintf("Slurm: acceptance: %s", text);

	if (op->words)
		op->words(words, op->arg);
	look_soon(op);
}

/* A job of several that fails says only that one of them is bad. */
static void
settle(struct bu_cluster_op *op, int good, int nodes)
{
	struct bu_slurm_trial *trial = &op->trial;
	int again = nodes > 1 ? !good && trial->failed++ == 0 : good && trial->alone;

	trial->kind = BU_ERR_VERIFY;
	trial->verdict = again ? VERDICT_AGAIN : good ? VERDICT_GOOD : VERDICT_BAD;
	trial->alone = again && nodes > 1;
	look_soon(op);
}

static void
judge(struct bu_cluster_op *op, const struct bu_slurm_trial_job *job)
{
	bu_autofree char *output = NULL;
	struct bu_slurm_trial *trial = &op->trial;
	char words[200];
	int status = bu_slurm_trial_told(job, &output), good = 0;

	trial->judged = job->id;
	trial->seen = 0;
	if (job->cancelled && !trial->ends[0] && ++trial->vanished < VANISHED_MAX) {
		say(op, "its job was cancelled; another one follows");
		return;
	}
	if (trial->ends[0])
		bu_text_copy(words, sizeof(words), trial->ends);
	else if (strcmp(job->state, "COMPLETED") != 0 && status <= 0)
		snprintf(words, sizeof(words), "%s", job->state);
	else if (status < 0)
		snprintf(words, sizeof(words), "ended, and told nothing");
	else
		good = bu_acceptance_judge(trial->least, status, output, words,
					   sizeof(words));
	trial->ends[0] = '\0';
	snprintf(trial->text, sizeof(trial->text), "acceptance: job %ld on %.*s: %s",
		 job->id, (int)job->list_size, job->list, words);
	settle(op, good, job->nodes);
}

/* 1 = its round takes too long. */
static int
is_late(const struct bu_cluster_op *op)
{
	return bu_slurm_now(op->cluster) >
	       op->trial.since_ms + op->trial.limit_ms + QUEUE_MS + TOGETHER_MS;
}

static void
follow(struct bu_cluster_op *op, const struct bu_slurm_trial_job *job)
{
	struct bu_slurm_trial *trial = &op->trial;
	char text[120];

	trial->seen = job->id;
	snprintf(text, sizeof(text), "job %ld is %s (%.*s)", job->id, job->state,
		 (int)job->reason_size, job->reason);
	if (is_late(op)) {
		snprintf(trial->ends, sizeof(trial->ends), "did not end in time: %s",
			 text);
		snprintf(trial->job, sizeof(trial->job), "%ld", job->id);
		op->act = ACT_CANCEL;
	} else if (op->drain == BU_DRAIN_OURS) {
		op->act = ACT_RESUME;
	} else {
		say(op, text);
	}
}

/* slurmctld took no reservation or no job. */
static void
give_up(struct bu_cluster_op *op)
{
	snprintf(op->trial.text, sizeof(op->trial.text),
		 "acceptance: Slurm began no job%s%s", op->refusal[0] ? ": " : "",
		 op->refusal);
	op->trial.verdict = VERDICT_BAD;
	op->trial.kind = BU_ERR_TIMEOUT;
	look_soon(op);
}

static void
wait_for_others(struct bu_cluster_op *op)
{
	int64_t since_ms = op->trial.since_ms;
	int waiting = 0, first = 1;

	op->trial.waits = 1;
	for (const struct bu_cluster_op *it = op->cluster->ops; it; it = it->next) {
		if (!waits_with(op, it))
			continue;
		first &= waiting > 0 || it == op;
		since_ms =
			it->trial.since_ms < since_ms ? it->trial.since_ms : since_ms;
		waiting++;
	}
	if (first && (op->trial.alone || waiting >= BU_SLURM_TOGETHER_MAX ||
		      bu_slurm_now(op->cluster) - since_ms >= TOGETHER_MS))
		op->act = ACT_SET_ASIDE;
	else
		say(op, "waits for other nodes that join");
}

/* In a reservation, and no job of it is there. */
static void
begin_job(struct bu_cluster_op *op)
{
	struct crew crew = count_crew(op);
	int whole = crew.members == op->trial.members;

	if (!whole && op->drain == BU_DRAIN_NONE)
		op->act = ACT_REFUSE;
	else if (!whole && crew.resumed == 0 && leads(op))
		op->act = ACT_FREE;
	else if (whole && op->drain == BU_DRAIN_OURS)
		op->act = ACT_RESUME;
	else if (whole && crew.resumed == crew.members && leads(op))
		op->act = ACT_SUBMIT;
	else
		say(op, "its job begins");
}

/* The verdict stands; the reservation ends, and the node is drained unless it is good.
 */
static void
conclude(struct bu_cluster_op *op)
{
	struct bu_slurm_trial *trial = &op->trial;
	struct crew crew = count_crew(op);
	struct bu_err err;

	if (trial->verdict != VERDICT_GOOD && op->drain == BU_DRAIN_NONE) {
		op->act = ACT_REFUSE;
	} else if (trial->reservation[0]) {
		if (crew.settled == crew.members && leads(op))
			op->act = ACT_FREE;
		else
			look_soon(op);
	} else if (trial->verdict == VERDICT_BAD) {
		bu_err_set(&err, trial->kind, 0, "%s", trial->text);
		bu_slurm_finish(op, &err);
	} else {
		trial->passed = trial->swept = trial->verdict == VERDICT_GOOD;
		bu_text_copy(op->detail, sizeof(op->detail), trial->text);
		trial->verdict = VERDICT_NONE;
		trial->since_ms = 0;
		look_soon(op);
	}
}

static void
sweep(struct bu_cluster_op *op, const struct bu_slurm_trial_job *stale)
{
	struct bu_slurm_trial *trial = &op->trial;

	if (stale) {
		snprintf(trial->job, sizeof(trial->job), "%ld", stale->id);
		op->act = ACT_CANCEL;
	} else if (trial->reservation[0] && count_crew(op).resumed) {
		look_soon(op); /* they are drained first */
	} else if (trial->reservation[0]) {
		op->act = ACT_FREE;
	} else {
		trial->swept = 1;
		op->next_ms = bu_slurm_now(op->cluster);
	}
}

static void
vanish(struct bu_cluster_op *op)
{
	struct bu_slurm_trial *trial = &op->trial;

	trial->judged = trial->seen;
	trial->seen = 0;
	if (++trial->vanished < VANISHED_MAX) {
		say(op, "its job is gone; another one follows");
		return;
	}
	snprintf(trial->text, sizeof(trial->text),
		 "acceptance: job %ld is not in slurmctld any more, the third one",
		 trial->judged);
	settle(op, 0, 1);
}

/* In service without a job of this join. Where somebody's jobs run, it has been there
 * for long: since before a crash, or a person has resumed it. */
static void
take_back(struct bu_cluster_op *op)
{
	struct bu_slurm_trial *trial = &op->trial;

	if (op->busy && !trial->judged) {
		trial->passed = trial->swept = 1;
		look_soon(op);
	} else {
		op->act = ACT_REFUSE;
	}
}

static void
go_on(struct bu_cluster_op *op, const char *text)
{
	struct bu_slurm_trial *trial = &op->trial;
	struct bu_slurm_trial_job job;
	int mine = bu_slurm_trial_job(text, trial->once, trial->judged, &job);

	if (mine && job.active)
		follow(op, &job);
	else if (mine)
		judge(op, &job);
	else if (trial->seen)
		vanish(op);
	else if (is_late(op))
		give_up(op);
	else if (trial->reservation[0])
		begin_job(op);
	else if (op->drain == BU_DRAIN_NONE)
		take_back(op);
	else
		wait_for_others(op);
}

void
bu_slurm_decide_trials(struct bu_cluster_op *op, const char *text)
{
	struct bu_slurm_trial *trial = &op->trial;
	struct bu_slurm_trial_job stale;
	int has_stale = bu_slurm_trial_stale(text, trial->once, op->node, &stale);

	trial->waits = 0;
	op->until_ms = trial->command ? 0 : op->until_ms; /* it has its own */
	if (!trial->since_ms)
		trial->since_ms = bu_slurm_now(op->cluster);
	if (!trial->command || trial->untried || has_stale)
		sweep(op, has_stale ? &stale : NULL);
	else if (trial->verdict)
		conclude(op);
	else
		go_on(op, text);
}

/* --- commands --- */

/* Of all that act with the first one: their names, or the words of their job. Marks
 * them, and counts. Owned. */
static char *
gather(struct bu_cluster *cluster, const struct bu_cluster_op *first, int *ret_count,
       char **ret_once)
{
	int sets = first->act == ACT_SET_ASIDE;
	char *names = NULL;

	*ret_count = 0;
	for (struct bu_cluster_op *op = cluster->ops; op; op = op->next) {
		if (*ret_count == BU_SLURM_TOGETHER_MAX ||
		    !(sets ? waits_with(first, op)
			   : is_of(op, first->trial.reservation)))
			continue;
		bu_text_add(&names, ",", "%s", op->node);
		bu_text_add(ret_once, " ", "%s", op->trial.once);
		(*ret_count)++;
	}
	return names;
}

static void
set_aside(struct bu_cluster *cluster, const struct bu_cluster_op *first,
	  void (*fn)(struct bu_cluster *, const char *const *))
{
	bu_autofree char *once = NULL;
	int count;
	bu_autofree char *names = gather(cluster, first, &count, &once);
	bu_autofree char *name = bu_xasprintf(
		"reservationname=" BU_SLURM_TRIAL_RESERVATION "%s", first->node);
	bu_autofree char *nodes = bu_xasprintf("nodes=%s", names);
	const struct passwd *self = getpwuid(geteuid());
	bu_autofree char *users =
		bu_xasprintf("users=%s", self ? self->pw_name : "root");
	const char *argv[] = {"scontrol",
			      "create",
			      "reservation",
			      name,
			      nodes,
			      "starttime=now",
			      "duration=UNLIMITED",
			      "flags=maint,ignore_jobs",
			      users,
			      NULL};

	fn(cluster, argv);
}

/* Runs on the first node of the job; what it has to tell is in the job's comment, which
 * slurmctld keeps: its output would lie on that node. */
static const char job_script[] =
	"unset SLURM_EXPORT_ENV\n"
	"out=$({\n%s\n} 2>&1); rc=$?\n"
	"end=$(printf %%s \"$out\" | tr -c ' -~' ' ' | tr -d '|' | tail -c %d)\n"
	"scontrol update jobid=$SLURM_JOB_ID comment=\"bringup %s; exit $rc; $end\"\n"
	"exit $rc\n";

static void
submit(struct bu_cluster *cluster, const struct bu_cluster_op *first,
       void (*fn)(struct bu_cluster *, const char *const *))
{
	bu_autofree char *once = NULL;
	int count;
	bu_autofree char *names = gather(cluster, first, &count, &once);
	bu_autofree char *comment = bu_xasprintf("--comment=bringup %s", once);
	bu_autofree char *list = bu_xasprintf("--nodelist=%s", names);
	bu_autofree char *nodes = bu_xasprintf("--nodes=%d", count);
	bu_autofree char *in =
		bu_xasprintf("--reservation=%s", first->trial.reservation);
	bu_autofree char *minutes = bu_xasprintf(
		"--time=%d", (int)((first->trial.limit_ms + 59999) / 60000));
	bu_autofree char *code =
		bu_xasprintf(job_script, first->trial.command, OUTPUT_BYTES, once);
	bu_autofree char *script = bu_xasprintf("--wrap=%s", code);
	const char *argv[] = {"sbatch",
			      "--parsable",
			      "--job-name=" BU_SLURM_TRIAL_JOB,
			      comment,
			      in,
			      list,
			      nodes,
			      "--exclusive",
			      "--mem=0",
			      minutes,
			      "--no-requeue",
			      "--chdir=/",
			      "--input=/dev/null",
			      "--output=/dev/null",
			      "--export=HOME=/,PATH=/usr/local/sbin:/usr/local/bin:"
			      "/usr/sbin:/usr/bin:/sbin:/bin",
			      script,
			      NULL};

	fn(cluster, argv);
}

void
bu_slurm_trial_act(struct bu_cluster *cluster, const struct bu_cluster_op *first,
		   void (*fn)(struct bu_cluster *, const char *const *))
{
	bu_autofree char *name =
		bu_xasprintf("reservationname=%s", first->trial.reservation);
	const char *cancel[] = {"scancel", first->trial.job, NULL};
	const char *end[] = {"scontrol", "delete", name, NULL};

	if (first->act == ACT_SET_ASIDE)
		set_aside(cluster, first, fn);
	else if (first->act == ACT_SUBMIT)
		submit(cluster, first, fn);
	else
		fn(cluster, first->act == ACT_CANCEL ? cancel : end);
}
