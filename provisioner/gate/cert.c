/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates from the results in the log. Asked by verdicts.c when a node is good.
 * Invariant: what is signed passes when it is judged again from its own figures.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/internal.h"

enum { RESULTS_MAX = 12 };

struct measurements {
	struct bu_pair_result *list;
	const struct bu_pair_result *refs[RESULTS_MAX];
	int count;
};

/* Of those of which no instrument was in doubt, else of all; 0 = there is none. */
static int64_t
last_of(const struct bu_pair_log *log)
{
	size_t at = log->count;

	while (at > 0 &&
	       (log->list[at - 1].dir[0].doubt || log->list[at - 1].dir[1].doubt))
		at--;
	if (at == 0)
		at = log->count;
	return at ? log->list[at - 1].seq : 0;
}

/* The last results of the node with each partner, in the present boots; those that pass
 * before others. */
static void
collect(const struct bu_campaign_state *campaign, const struct bu_node *node,
	struct measurements *ret)
{
	const struct bu_measurements *measurements =
		&campaign->gate->fleet->measurements;

	for (int pass = 1; pass >= 0; pass--) {
		for (size_t i = 0; i < measurements->count && ret->count < RESULTS_MAX;
		     i++) {
			const struct bu_pair_log *log = &measurements->logs[i];
			int side = strcmp(log->name[1], node->name) == 0;
			struct bu_pair_result *result = &ret->list[ret->count];
			int passes;

			if (strcmp(log->name[side], node->name) != 0 ||
			    strcmp(log->boot[side], node->boot_id) != 0 ||
			    log->count == 0 ||
			    bu_probe_read(campaign->gate, last_of(log), result) != 0)
				continue;
			passes = result->verdict == BU_VERDICT_PASS ||
				 result->verdict == BU_VERDICT_WARN;
			if (passes == pass)
				ret->refs[ret->count++] = result;
		}
	}
}

/* The places of the node's leaf, as stage A has them. */
static json_t *
schedule_of(const struct bu_campaign_state *campaign, int node)
{
	const struct bu_topology *t = &campaign->topology;
	json_t *order = json_array();

	for (int i = 0; i < t->nodes; i++) {
		if (t->leaf_of[i] == t->leaf_of[node])
			json_array_append(order,
					  json_array_get(t->node_ids.list, (size_t)i));
	}
	return json_pack("{s:i,s:o}", "group", t->leaf_of[node], "order", order);
}

static json_t *
checks_of(const struct bu_node *node)
{
	return json_pack("{s:s,s:s,s:O}", "digest",
			 bu_json_str(node->checks, "digest", ""), "verdict",
			 bu_json_str(node->checks, "verdict", ""), "counts",
			 json_object_get(node->checks, "counts"));
}

static int
certify(const struct bu_fabcert *cert, const char *key, struct bu_event *ret,
	struct bu_err *err)
{
	bu_autofree char *text = bu_fabcert_sign(cert, key, err);

	if (!text)
		return bu_err_wrap(err, "its certificate");
	bu_event_init(ret, BU_EVENT_CERTIFICATE, cert->node,
		      json_pack("{s:s,s:s}", "kind",
				cert->kind == BU_FABCERT_FULL ? "full" : "boot", "text",
				text));
	return 0;
}

int
bu_gate_certify(const struct bu_campaign_state *campaign, int index,
		struct bu_event ret[2], struct bu_err *err)
{
	const struct bu_node *node = campaign->nodes[index];
	const struct bu_fleet *fleet = campaign->gate->fleet;
	const char *key = bu_trust_sign_key(campaign->gate->trust);
	bu_autojson json_t *hardware = bu_fleet_hardware(fleet, node);
	bu_autojson json_t *schedule = schedule_of(campaign, index);
	bu_autojson json_t *checks = checks_of(node);
	bu_autofree void *list = bu_xcalloc(RESULTS_MAX, sizeof(struct bu_pair_result));
	struct measurements measurements = {.list = list};
	struct bu_fabcert cert = {
		.kind = BU_FABCERT_FULL,
		.node = node->name,
		.machine = node->machine,
		.hardware = hardware,
		.boot_id = node->boot_id,
		.epoch = fleet->epoch,
		.issued_ms = bu_wall_ms(bu_loop_clock(fleet->loop)),
		.results = measurements.refs,
		.expect = campaign->expect,
		.seed = campaign->gate->seed,
		.checks = checks,
		.schedule = schedule,
	};

	collect(campaign, node, &measurements);
	cert.result_count = measurements.count;
	cert.verdict = bu_fabcert_judge(node->name, &cert.expect, measurements.refs,
					measurements.count);
	if (certify(&cert, key, &ret[0], err) != 0)
		return -1;
	cert.kind = BU_FABCERT_BOOT;
	if (certify(&cert, key, &ret[1], err) == 0)
		return 0;
	bu_event_fini(&ret[0]);
	return -1;
}
