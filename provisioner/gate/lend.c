/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which proven nodes are lent as partners, as `partners` of their pool says. What a
 * cluster's jobs use is asked for while a campaign runs, by a job of its own, and
 * remembered for a while. Asked by field.c. Invariant: of a cluster that does not
 * answer nobody is lent as idle. A job that begins after the answer meets a probe of a
 * few seconds: that is the price.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "profiles/nodeset.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/gate/gate_impl.h"

enum { ASK_MS = 10000, BELIEVE_MS = 30000 };

struct bu_gate_jobs {
	struct bu_gate_jobs *next;
	struct bu_gate *gate;
	char *cluster;
	const struct bu_cluster_driver *driver;
	struct bu_cluster_op *op; /* under way */
	json_t *busy;             /* names as keys; NULL = not known */
	int64_t asked_ms, told_ms;
};

static void
on_words(const char *text, void *arg)
{
	struct bu_gate_jobs *jobs = arg;
	struct bu_err err;
	/* Not ours alone: a cluster may have nodes with names that we would refuse. */
	struct bu_nodeset *busy =
		*text ? bu_nodeset_expand(text, &err) : bu_nodeset_create();

	if (!busy) {
		bu_warn("gate", "jobs of cluster %s: %s", jobs->cluster, err.text);
		return;
	}
	json_decref(jobs->busy);
	jobs->busy = json_object();
	for (size_t i = 0; i < busy->count; i++)
		json_object_set_new(jobs->busy, busy->names[i], json_true());
	jobs->told_ms = bu_loop_now_ms(jobs->gate->world->loop);
	bu_nodeset_destroy(busy);
}

static void
on_answer(const struct bu_err *err, void *arg)
{
	struct bu_gate_jobs *jobs = arg;

	jobs->op = NULL;
	if (err)
		bu_warn("gate", "jobs of cluster %s: %s", jobs->cluster, err->text);
	else
		bu_gate_kick(jobs->gate);
}

static struct bu_gate_jobs *
jobs_of(struct bu_gate *gate, const struct bu_desired_cluster *cluster)
{
	struct bu_gate_jobs *jobs = gate->jobs;

	while (jobs && strcmp(jobs->cluster, cluster->name) != 0)
		jobs = jobs->next;
	if (jobs)
		return jobs;
	jobs = bu_xcalloc(1, sizeof(*jobs));
	jobs->gate = gate;
	jobs->cluster = bu_xstrdup(cluster->name);
	jobs->driver = bu_cluster_driver(cluster->driver);
	jobs->next = gate->jobs;
	gate->jobs = jobs;
	return jobs;
}

static void
ask(struct bu_gate_jobs *jobs, const struct bu_desired_cluster *cluster, int64_t now_ms)
{
	struct bu_cluster_target target = {.conf = cluster->slurm_conf_path,
					   .words = on_words};

	if (jobs->op || !jobs->driver || !jobs->driver->busy ||
	    (jobs->asked_ms && now_ms - jobs->asked_ms < ASK_MS))
		return;
	jobs->asked_ms = now_ms;
	jobs->op =
		jobs->driver->busy(jobs->gate->world->loop, &target, on_answer, jobs);
}

static int
is_idle(struct bu_gate *gate, const struct bu_node *node,
	const struct bu_desired_cluster *cluster)
{
	struct bu_gate_jobs *jobs = jobs_of(gate, cluster);
	int64_t now_ms = bu_loop_now_ms(gate->world->loop);

	ask(jobs, cluster, now_ms);
	return jobs->busy && now_ms - jobs->told_ms <= BELIEVE_MS &&
	       !json_object_get(jobs->busy, node->name);
}

int
bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
	      const struct bu_desired_node *want)
{
	const char *partners = want->pool->partners;

	if (!want->cluster || strcmp(partners, "any") == 0)
		return 1;
	return strcmp(partners, "idle") == 0 && is_idle(gate, node, want->cluster);
}

void
bu_gate_jobs_drop(struct bu_gate *gate)
{
	while (gate->jobs) {
		struct bu_gate_jobs *next = gate->jobs->next;

		if (gate->jobs->op)
			gate->jobs->driver->cancel(gate->jobs->op);
		json_decref(gate->jobs->busy);
		free(gate->jobs->cluster);
		free(gate->jobs);
		gate->jobs = next;
	}
}
