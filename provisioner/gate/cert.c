/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes certificates from the results in the log. Called by verdicts.c for a good node.
 * Invariant: a signed certificate passes when judged again by its own figures.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/internal.h"

/* Results in a certificate: RESULTS_MAX of all rails, but RAIL_MIN of each. */
enum { RESULTS_MAX = 12, RAIL_MIN = 2 };

struct measurements {
	struct bu_pair_result *list;
	const struct bu_pair_result **refs;
	int count, max;
};

/* The row of the last sound result of the pair, else of its last; 0 = none. */
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

/* Collects the last result of the node with each partner on a rail, those that pass
 * first. The certificate's expectation judges them, because another profile may have
 * been applied since. */
static void
collect(const struct bu_gate *gate, const struct bu_node *node, const char *rail,
	const struct bu_expect *expect, struct measurements *ret)
{
	struct bu_pairs_of pairs = bu_measurements_of(gate->fleet, node->name, rail);

	for (int pass = 1; pass >= 0; pass--) {
		for (size_t i = 0; i < pairs.count && ret->count < ret->max; i++) {
			const struct bu_pair_log *log =
				&gate->fleet->measurements.logs[pairs.places[i]];
			struct bu_pair_result *result = &ret->list[ret->count];
			int passes, side;

			if (log->count == 0 || !bu_gate_is_of(log, rail, node, &side) ||
			    bu_probe_read(gate, last_of(log), result) != 0)
				continue;
			result->verdict = bu_expect_judge_pair(expect, result);
			passes = result->verdict == BU_VERDICT_PASS ||
				 result->verdict == BU_VERDICT_WARN;
			if (passes == pass)
				ret->refs[ret->count++] = result;
		}
	}
}

/* The order of the nodes at this node's leaf, as in stage A of the rail's last look;
 * NULL = no look yet. */
static json_t *
schedule_of(const struct bu_gate *gate, const struct bu_desired_network *rail,
	    const char *name)
{
	const struct bu_topology *t = bu_gate_shape(gate, rail);
	int own = t ? bu_gate_place(t, name) : -1;
	json_t *order;

	if (own < 0)
		return NULL;
	order = json_array();
	for (int i = 0; i < t->nodes; i++) {
		if (t->leaf_of[i] == t->leaf_of[own])
			json_array_append(order,
					  json_array_get(t->node_ids.list, (size_t)i));
	}
	return json_pack("{s:i,s:o}", "group", t->leaf_of[own], "order", order);
}

static json_t *
checks_of(const struct bu_node *node)
{
	return json_pack("{s:s,s:s,s:O}", "digest", node->checks.is.digest, "verdict",
			 bu_verdict_name((enum bu_verdict)node->checks.is.verdict),
			 "counts", (json_t *)node->checks.is.counts);
}

static int
certify(const struct bu_fabcert *cert, const char *key, struct bu_event *ret,
	struct bu_err *err)
{
	char *text = bu_fabcert_sign(cert, key, err);

	if (!text)
		return bu_err_wrap(err, "its certificate");
	BU_EVENT_MAKE(ret, BU_EVENT_CERTIFICATE, cert->node, certificate,
		      .kind = cert->kind == BU_FABCERT_FULL ? BU_CERTIFICATE_FULL
							    : BU_CERTIFICATE_BOOT);
	bu_event_attach(ret, "digest", text);
	return 0;
}

/* The rails of a certificate until it is signed. */
struct rails {
	struct bu_fabcert_rail *list;
	int count;
	struct bu_pair_result *results;
	const struct bu_pair_result **refs;
};

static void
rails_init(struct rails *ret, size_t count)
{
	size_t results = count * (RESULTS_MAX + RAIL_MIN);

	*ret = (struct rails){
		.list = bu_xcalloc(count, sizeof(*ret->list)),
		.results = bu_xcalloc(results, sizeof(*ret->results)),
		.refs = bu_xcalloc(results, sizeof(const void *)),
	};
}

static void
rails_fini(struct rails *rails)
{
	for (int i = 0; i < rails->count; i++)
		json_decref((json_t *)(uintptr_t)rails->list[i].schedule);
	free(rails->list);
	free(rails->results);
	free(rails->refs);
}

/* With many rails each has fewer results, because certificates are sent, and kept for
 * each node. */
static void
add_rail(const struct bu_gate *gate, const struct bu_node *node,
	 const struct bu_desired_pool *pool, size_t place, struct rails *rails)
{
	const struct bu_desired_network *rail = pool->rails[place];
	int share = RESULTS_MAX / (int)pool->rails_count;
	struct measurements of = {
		.list = rails->results + place * RESULTS_MAX,
		.refs = rails->refs + place * RESULTS_MAX,
		.max = share < RAIL_MIN ? RAIL_MIN : share,
	};
	struct bu_fabcert_rail *ret = &rails->list[rails->count++];
	struct bu_expect expect = bu_gate_expect(gate, pool->validation, rail);

	collect(gate, node, rail->name, &expect, &of);
	*ret = (struct bu_fabcert_rail){
		.name = rail->name,
		.results = of.refs,
		.result_count = of.count,
		.expect = expect,
		.schedule = schedule_of(gate, rail, node->name),
	};
	ret->verdict = bu_fabcert_judge(node->name, &ret->expect, of.refs, of.count);
}

/* One partner on each rail proves a boot, if its result passes in both directions. */
static void
shorten(const struct bu_node *node, struct rails *rails)
{
	for (int i = 0; i < rails->count; i++) {
		struct bu_fabcert_rail *rail = &rails->list[i];
		enum bu_verdict one =
			bu_fabcert_judge(node->name, &rail->expect, rail->results, 1);

		if (one != BU_VERDICT_PASS && one != BU_VERDICT_WARN)
			continue;
		rail->result_count = 1;
		rail->verdict = one;
	}
}

static int
certify_both(struct bu_fabcert *cert, const struct bu_node *node, const char *key,
	     struct rails *rails, struct bu_event ret[2], struct bu_err *err)
{
	cert->kind = BU_FABCERT_FULL;
	if (certify(cert, key, &ret[0], err) != 0)
		return -1;
	shorten(node, rails);
	cert->kind = BU_FABCERT_BOOT;
	if (certify(cert, key, &ret[1], err) == 0)
		return 0;
	bu_event_fini(&ret[0]);
	return -1;
}

int
bu_gate_certify(const struct bu_gate *gate, const struct bu_node *node,
		struct bu_event ret[2], struct bu_err *err)
{
	const struct bu_fleet *fleet = gate->fleet;
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	bu_autojson json_t *hardware = bu_fleet_hardware(fleet, node);
	bu_autojson json_t *checks = checks_of(node);
	struct rails rails;
	struct bu_fabcert cert = {
		.node = node->name,
		.machine = node->machine,
		.hardware = hardware,
		.boot_id = node->boot_id,
		.epoch = fleet->epoch,
		.issued_ms = bu_wall_ms(bu_loop_clock(fleet->loop)),
		.seed = gate->seed,
		.checks = checks,
	};
	int rc;

	rails_init(&rails, want->pool->rails_count);
	for (size_t i = 0; i < want->pool->rails_count; i++)
		add_rail(gate, node, want->pool, i, &rails);
	cert.rails = rails.list;
	cert.rail_count = rails.count;
	rc = certify_both(&cert, node, bu_trust_sign_key(gate->trust), &rails, ret,
			  err);
	rails_fini(&rails);
	return rc;
}
