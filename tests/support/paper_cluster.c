/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of paper: one operation at a time, which looks twice a second. */
#include "tests/support/paper_cluster.h"

#include "provisioner/cluster/acceptance.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 500 };

struct bu_cluster_op {
	struct bu_cluster *cluster;
	char labels[64], drained[64];
	double least;     /* of an acceptance; 0 = none is wanted */
	int64_t until_ms; /* 0 = no end */
	void (*look)(struct bu_cluster_op *op);
	void (*words)(const char *text, void *arg);
	bu_cluster_fn fn;
	void *arg;
};

struct bu_cluster {
	struct bu_loop *loop;
	struct bu_timer *timer;
	bu_cluster_seen_fn seen;
	void *arg;
	struct bu_cluster_op *op;
	int asked;
};

struct paper_cluster paper_cluster;

static void
handle(const struct bu_cluster_site *site, char ret[BU_CLUSTER_HANDLE_SIZE])
{
	snprintf(ret, BU_CLUSTER_HANDLE_SIZE, "paper of %s", site->name);
}

static const char *
secret_of(const struct bu_cluster_site *site)
{
	return NULL;
}

static int
client(const struct bu_cluster_site *site, const struct bu_cluster_member *member,
       const void *secret, size_t secret_size, struct bu_cluster_client *ret,
       struct bu_err *err)
{
	*ret = (struct bu_cluster_client){.services = {"paper"}, .services_count = 1};
	bu_cluster_client_add(ret, "/etc/paper/token", 0400, "paper", secret,
			      secret_size);
	return 0;
}

static void
cancel(struct bu_cluster_op *op)
{
	op->cluster->op = NULL;
	free(op);
}

static void
finish(struct bu_cluster_op *op, const struct bu_err *err, const char *detail,
       const char *drained)
{
	const struct bu_cluster_done done = {.detail = detail, .drained = drained};
	bu_cluster_fn fn = op->fn;
	void *arg = op->arg;

	cancel(op);
	fn(err, &done, arg);
}

static void
look_later(struct bu_cluster_op *op)
{
	struct bu_err err;

	bu_timer_set(op->cluster->timer, LOOK_MS);
	if (!op->until_ms || bu_loop_now_ms(op->cluster->loop) < op->until_ms)
		return;
	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "paper has no node001");
	finish(op, &err, "", "");
}

static void
look_admit(struct bu_cluster_op *op)
{
	char words[64];
	struct bu_err err;

	if (op->least > 0 && paper_cluster.is == PAPER_OURS && !op->drained[0] &&
	    !bu_acceptance_judge(op->least, 0, paper_cluster.prints, words,
				 sizeof(words))) {
		bu_err_set(&err, BU_ERR_VERIFY, 0, "acceptance: %s", words);
		finish(op, &err, "", "");
		return;
	}
	switch (paper_cluster.is) {
	case PAPER_UNKNOWN:
	case PAPER_AWAY:
		look_later(op);
		return;
	case PAPER_OURS:
		paper_cluster.is = op->drained[0] ? PAPER_THEIRS : PAPER_SERVES;
		break;
	case PAPER_LEAVING:
		paper_cluster.is = PAPER_BUSY;
		break;
	case PAPER_SERVES:
	case PAPER_BUSY:
	case PAPER_THEIRS:
		break;
	}
	finish(op, NULL,
	       paper_cluster.is == PAPER_THEIRS ? "it stays drained: " PAPER_REASON
						: "",
	       "");
}

static void
look_leave(struct bu_cluster_op *op)
{
	int theirs = paper_cluster.is == PAPER_THEIRS;

	if (theirs && strcmp(op->drained, PAPER_REASON) != 0) {
		finish(op, NULL, "", PAPER_REASON);
	} else if (paper_cluster.is == PAPER_BUSY ||
		   paper_cluster.is == PAPER_LEAVING) {
		paper_cluster.is = PAPER_LEAVING;
		op->words("draining; jobs 12 (alice)", op->arg);
		look_later(op);
	} else {
		paper_cluster.is = PAPER_UNKNOWN;
		finish(op, NULL, "", "");
	}
}

static void
look_gate(struct bu_cluster_op *op)
{
	if (paper_cluster.is == PAPER_SERVES || paper_cluster.is == PAPER_AWAY)
		paper_cluster.is = PAPER_OURS;
	else if (paper_cluster.is == PAPER_BUSY)
		paper_cluster.is = PAPER_LEAVING;
	finish(op, NULL, "", "");
}

static void
look_relabel(struct bu_cluster_op *op)
{
	if (paper_cluster.is == PAPER_UNKNOWN) {
		look_later(op);
		return;
	}
	snprintf(paper_cluster.labels, sizeof(paper_cluster.labels), "%s", op->labels);
	finish(op, NULL, "", "");
}

static void
look_issue(struct bu_cluster_op *op)
{
	static const char secret[] = "k3y-of-it";
	const struct bu_cluster_done done = {.detail = "",
					     .drained = "",
					     .secret = secret,
					     .secret_size = strlen(secret)};
	bu_cluster_fn fn = op->fn;
	void *arg = op->arg;

	cancel(op);
	fn(NULL, &done, arg);
}

static void
answer(struct bu_cluster *cluster)
{
	static const char job[] = "MIXED", none[] = "IDLE";
	enum paper_is is = paper_cluster.is;
	int busy = is == PAPER_BUSY || is == PAPER_LEAVING;
	struct bu_cluster_row row = {.name = "node001", .fact = {.known = 1}};
	struct bu_err err;

	cluster->asked = 0;
	bu_err_set(&err, BU_ERR_REMOTE, 0, "paper is silent");
	row.fact.responds = is != PAPER_AWAY;
	row.fact.down = is == PAPER_AWAY;
	row.fact.jobs = busy;
	row.fact.drain = is == PAPER_THEIRS                        ? BU_DRAIN_OTHER
			 : is == PAPER_OURS || is == PAPER_LEAVING ? BU_DRAIN_OURS
								   : BU_DRAIN_NONE;
	snprintf(row.fact.state, sizeof(row.fact.state), "%s", busy ? job : none);
	if (paper_cluster.silent)
		cluster->seen(NULL, 0, &err, cluster->arg);
	else
		cluster->seen(&row, is != PAPER_UNKNOWN, NULL, cluster->arg);
}

static void
on_timer(void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_cluster_op *op = cluster->op;

	if (cluster->asked)
		answer(cluster);
	if (op && paper_cluster.silent) {
		op->words("paper is silent", op->arg);
		look_later(op);
	} else if (op) {
		op->look(op);
	}
}

static struct bu_cluster *
open_paper(struct bu_loop *loop, const char *of, bu_cluster_seen_fn seen, void *arg)
{
	struct bu_cluster *cluster = bu_xcalloc(1, sizeof(*cluster));

	cluster->loop = loop;
	cluster->seen = seen;
	cluster->arg = arg;
	cluster->timer = bu_timer_create(loop, on_timer, cluster);
	memset(paper_cluster.labels, 0, sizeof(paper_cluster.labels));
	return cluster;
}

static void
close_paper(struct bu_cluster *cluster)
{
	if (cluster->op)
		cancel(cluster->op);
	bu_timer_destroy(cluster->timer);
	free(cluster);
}

static void
observe(struct bu_cluster *cluster)
{
	cluster->asked = 1;
	bu_timer_set(cluster->timer, 0);
}

static struct bu_cluster_op *
start(struct bu_cluster *cluster, const struct bu_cluster_target *target,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_xcalloc(1, sizeof(*op));

	bu_assert(!cluster->op);
	op->cluster = cluster;
	op->words = target->words;
	op->fn = fn;
	op->arg = arg;
	if (target->deadline_ms)
		op->until_ms = bu_loop_now_ms(cluster->loop) + target->deadline_ms;
	if (target->acceptance)
		op->least = target->acceptance->least;
	snprintf(op->labels, sizeof(op->labels), "%s",
		 target->member.labels ? target->member.labels : "");
	snprintf(op->drained, sizeof(op->drained), "%s",
		 target->drained ? target->drained : "");
	cluster->op = op;
	bu_timer_set(cluster->timer, 0);
	return op;
}

static struct bu_cluster_op *
issue(struct bu_cluster *cluster, const struct bu_cluster_target *target,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(cluster, target, fn, arg);

	op->look = look_issue;
	return op;
}

static struct bu_cluster_op *
admit(struct bu_cluster *cluster, const struct bu_cluster_target *target,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(cluster, target, fn, arg);

	op->look = look_admit;
	return op;
}

static struct bu_cluster_op *
leave(struct bu_cluster *cluster, const struct bu_cluster_target *target,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(cluster, target, fn, arg);

	op->look = look_leave;
	return op;
}

static struct bu_cluster_op *
gate(struct bu_cluster *cluster, const struct bu_cluster_target *target,
     bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(cluster, target, fn, arg);

	op->look = look_gate;
	return op;
}

static struct bu_cluster_op *
relabel(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(cluster, target, fn, arg);

	op->look = look_relabel;
	return op;
}

const struct bu_cluster_driver bu_paper_cluster = {
	.name = "paper",
	.needs = "paperd",
	.handle = handle,
	.secret = secret_of,
	.client = client,
	.open = open_paper,
	.close = close_paper,
	.observe = observe,
	.issue = issue,
	.admit = admit,
	.leave = leave,
	.gate = gate,
	.relabel = relabel,
	.cancel = cancel,
};
