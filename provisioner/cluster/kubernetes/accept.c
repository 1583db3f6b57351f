/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod of the site on a node that joins, before any other. Called by admit.c after
 * each look. Invariants: its name is the node's, so there is one at most, and one of
 * another join is deleted first; the gate stays until its verdict is good.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/acceptance.h"
#include "provisioner/cluster/kubernetes/kube.h"

#define PODS "/api/v1/namespaces/bringup/pods"
#define ONCE "bringup.dev/once"

enum { QUEUE_MS = 140000 }; /* until its image is there */

static char *
path_of(const struct bu_cluster_op *op)
{
	return bu_xasprintf(PODS "/bringup-acceptance-%s", op->node);
}

/* A race is settled by the next look; the refusal of a quota or of a policy may pass.
 */
static void
changed(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 404 && answer->status != 409)
		bu_kube_op_refused(op, answer);
	else
		bu_kube_op_later(op);
}

static void
delete_pod(struct bu_cluster_op *op)
{
	bu_autofree char *path = path_of(op);
	struct bu_kube_request request = {.method = "DELETE", .path = path};

	bu_kube_op_act(op, &request, changed);
}

/* Its kubelet keeps what is written to that file, in the pod's status. */
static const char pod_script[] = "out=$({\n%s\n} 2>&1); rc=$?\n"
				 "printf %%s \"$out\" | tail -c 400 "
				 ">/dev/termination-log; exit $rc\n";

static void
create_pod(struct bu_cluster_op *op)
{
	const struct bu_kube_trial *trial = &op->trial;
	bu_autofree char *script = bu_xasprintf(pod_script, trial->command);
	bu_autofree char *name = bu_xasprintf("bringup-acceptance-%s", op->node);
	bu_autojson json_t *body = json_pack(
		"{s:s,s:s,s:{s:s,s:s,s:{s:s}},s:{s:s,s:s,s:I,s:b,s:[{s:s}],"
		"s:[{s:s,s:s,s:[s,s,s]}]}}",
		"apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
		"namespace", "bringup", "annotations", ONCE, trial->once, "spec",
		"nodeName", op->node, "restartPolicy", "Never", "activeDeadlineSeconds",
		(json_int_t)((trial->limit_ms + QUEUE_MS) / 1000),
		"automountServiceAccountToken", 0, "tolerations", "operator", "Exists",
		"containers", "name", "acceptance", "image", trial->image, "command",
		"sh", "-c", script);
	struct bu_kube_request request = {.method = "POST", .path = PODS, .body = body};

	bu_kube_op_act(op, &request, changed);
}

/* Its container, as it ended; NULL = it has not begun, or was ended from outside. */
static const json_t *
ended_container(const json_t *pod)
{
	const json_t *all = bu_kube_at(pod, "status", "containerStatuses", NULL);

	return bu_kube_at(json_array_get(all, 0), "state", "terminated", NULL);
}

static void
judge(struct bu_cluster_op *op, const json_t *pod)
{
	const json_t *ended = ended_container(pod);
	struct bu_kube_trial *trial = &op->trial;
	char words[200];
	int good = 0;

	if (ended)
		good = bu_acceptance_judge(
			trial->least, (int)bu_json_int(ended, "exitCode", -1),
			bu_json_str(ended, "message", ""), words, sizeof(words));
	else
		snprintf(words, sizeof(words), "%s",
			 bu_json_str(bu_kube_at(pod, "status", NULL), "reason",
				     "it failed and told nothing"));
	snprintf(op->detail, sizeof(op->detail), "acceptance: its pod: %s", words);
	trial->passed = good;
	trial->failed = !good;
	if (good)
		bu_kube_op_look(op);
	else
		delete_pod(op);
}

/* Why its container has not begun: "ContainerCreating", "ImagePullBackOff". */
static const char *
waits_for(const json_t *pod)
{
	const json_t *all = bu_kube_at(pod, "status", "containerStatuses", NULL);

	return bu_json_str(bu_kube_at(json_array_get(all, 0), "state", "waiting", NULL),
			   "reason", "");
}

static void
follow(struct bu_cluster_op *op, const json_t *pod)
{
	const char *phase = bu_json_str(bu_kube_at(pod, "status", NULL), "phase", "");
	const char *why = waits_for(pod);
	bu_autofree char *text =
		bu_xasprintf("acceptance: its pod is %s%s%s", *phase ? phase : "new",
			     *why ? ", " : "", why);

	if (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0) {
		judge(op, pod);
	} else if (bu_kube_now(op->cluster) > op->trial.until_ms) {
		snprintf(op->detail, sizeof(op->detail), "%s, and does not end", text);
		op->trial.failed = 1;
		delete_pod(op);
	} else {
		bu_kube_op_say(op, text);
		bu_kube_op_later(op);
	}
}

static void
looked(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	const json_t *pod = answer->body;
	struct bu_err err;

	if (answer->err.kind && answer->status != 404) {
		bu_kube_op_refused(op, answer);
	} else if (op->trial.failed && answer->status == 404) {
		bu_err_set(&err, BU_ERR_VERIFY, 0, "%s", op->detail);
		bu_kube_op_finish(op, &err);
	} else if (answer->status == 404) {
		create_pod(op);
	} else if (bu_kube_at(pod, "metadata", "deletionTimestamp", NULL)) {
		bu_kube_op_later(op);
	} else if (op->trial.failed ||
		   strcmp(bu_json_str(bu_kube_at(pod, "metadata", "annotations", NULL),
				      ONCE, ""),
			  op->trial.once) != 0) {
		delete_pod(op);
	} else {
		follow(op, pod);
	}
}

int
bu_kube_trial(struct bu_cluster_op *op)
{
	bu_autofree char *path = path_of(op);
	struct bu_kube_request request = {.method = "GET", .path = path};

	if (!op->trial.command || op->trial.passed)
		return 0;
	if (!op->trial.until_ms)
		op->trial.until_ms =
			bu_kube_now(op->cluster) + op->trial.limit_ms + QUEUE_MS;
	op->until_ms = 0; /* it has its own */
	bu_kube_op_act(op, &request, looked);
	return 1;
}

static void
swept(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 404) {
		bu_kube_op_refused(op, answer);
		return;
	}
	op->trial.swept = 1;
	bu_kube_op_look(op);
}

int
bu_kube_trial_sweep(struct bu_cluster_op *op)
{
	bu_autofree char *path = path_of(op);
	struct bu_kube_request request = {.method = "DELETE", .path = path};

	if (!op->trial.command || op->trial.swept)
		return 0;
	bu_kube_op_act(op, &request, swept);
	return 1;
}
