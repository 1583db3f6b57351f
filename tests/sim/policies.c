/* SPDX-License-Identifier: Apache-2.0 */
/* The rival policies, for tests/bench/localise. */
#include "tests/sim/policies.h"

#include <string.h>

static const double gate_share = 0.9;

static void
shuffle(int *order, int count, uint64_t *random)
{
	for (int i = 0; i < count; i++) {
		int j = (int)(sim_random(random) % (uint64_t)(i + 1));

		order[i] = order[j];
		order[j] = i;
	}
}

/* Runs the pairs order[0], order[1] and so on over all rails; counts per node. */
static void
run_pairs(struct sim *sim, const int *order, int count, uint64_t *random, int *tests,
	  int *fails)
{
	int rails = sim->plan.rails, n = 0;
	struct bu_site site = sim_site(sim);
	bu_autofree struct bu_flow *flows =
		bu_xcalloc((size_t)(count * rails) + 2, sizeof(*flows));

	for (int i = 0; i + 1 < count; i += 2) {
		for (int rail = 0; rail < rails; rail++) {
			int a = order[i] * rails + rail,
			    b = order[i + 1] * rails + rail;
			uint16_t sport = (uint16_t)(sim_random(random) % 60000);

			flows[n++] = (struct bu_flow){.src = a,
						      .dst = b,
						      .via = -1,
						      .qps = 4,
						      .sport = sport};
			flows[n++] = (struct bu_flow){.src = b,
						      .dst = a,
						      .via = -1,
						      .qps = 4,
						      .sport = sport};
		}
	}
	site.round(site.arg, flows, n, NULL);
	for (int i = 0; i < n; i += 2 * rails) {
		int failed = 0;

		for (int k = i; k < i + 2 * rails; k++)
			failed |=
				flows[k].rate_gbps < gate_share * sim->plan.limit_gbps;
		tests[flows[i].src / rails]++;
		tests[flows[i].dst / rails]++;
		fails[flows[i].src / rails] += failed;
		fails[flows[i].dst / rails] += failed;
	}
}

void
sim_policy_fifteen(struct sim *sim, unsigned char *ret)
{
	int nodes = sim->plan.nodes;
	bu_autofree int *order = bu_xcalloc((size_t)nodes + 1, sizeof(int));
	bu_autofree int *tests = bu_xcalloc((size_t)nodes + 1, sizeof(int));
	bu_autofree int *fails = bu_xcalloc((size_t)nodes + 1, sizeof(int));
	uint64_t random = sim->seed ^ 15;

	for (int pass = 0; pass < 15; pass++) {
		shuffle(order, nodes, &random);
		run_pairs(sim, order, nodes, &random, tests, fails);
	}
	for (int node = 0; node < nodes; node++)
		ret[node] = 2 * fails[node] > tests[node];
}

/* Each node that failed beside one that passed, the rest as they come. */
static void
pair_again(const int *failed, const int *tested, int nodes, int *order)
{
	int n = 0, good = 0, bad = 0;

	for (;;) {
		while (bad < nodes && !failed[bad])
			bad++;
		while (good < nodes && (failed[good] || !tested[good]))
			good++;
		if (bad >= nodes || good >= nodes)
			break;
		order[n++] = bad++;
		order[n++] = good++;
	}
	for (; good < nodes; good++) {
		if (!failed[good])
			order[n++] = good;
	}
	for (; bad < nodes; bad++) {
		if (failed[bad])
			order[n++] = bad;
	}
	while (n < nodes)
		order[n++] = 0;
}

void
sim_policy_one_and_one(struct sim *sim, unsigned char *ret)
{
	int nodes = sim->plan.nodes;
	size_t size = (size_t)nodes + 1;
	bu_autofree int *order = bu_xcalloc(size, sizeof(int));
	bu_autofree int *tests = bu_xcalloc(size, sizeof(int));
	bu_autofree int *first = bu_xcalloc(size, sizeof(int));
	bu_autofree int *second = bu_xcalloc(size, sizeof(int));
	uint64_t random = sim->seed ^ 11;

	shuffle(order, nodes, &random);
	run_pairs(sim, order, nodes, &random, tests, first);
	pair_again(first, tests, nodes, order);
	run_pairs(sim, order, nodes - nodes % 2, &random, tests, second);
	for (int node = 0; node < nodes; node++)
		ret[node] = first[node] && second[node];
}
