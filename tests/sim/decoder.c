/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder [NODES [RAILS]]: what decoding the stages A and B of a large fabric costs:
 * seconds and memory, and whether it found what was put in. tests/bench/decoder runs
 * it.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "fabric/judge/parts.h"
#include "fabric/stages.h"
#include "tests/sim/sim.h"

enum { LEAF = 32, SPINES = 32, ROUNDS = 8 };

struct field {
	struct sim sim; /* its topology alone */
	struct bu_order order;
	struct bu_flow *flows;
	size_t count;
	float *half; /* what each half can do, 1 = all */
};

static void
add_flow(struct field *f, int src, int dst, int via, uint64_t *random)
{
	float least = f->half[2 * src] < f->half[2 * dst + 1] ? f->half[2 * src]
							      : f->half[2 * dst + 1];
	double noise = 0.985 + 0.004 * sim_uniform(random);

	f->flows[f->count++] = (struct bu_flow){
		.src = src,
		.dst = dst,
		.via = via,
		.path = via,
		.mtu = 4096,
		.rate_gbps = (float)(f->sim.plan.limit_gbps * least * noise),
		.lat_us = (float)(2.5 + 0.1 * sim_uniform(random)),
		.lat99_us = (float)(4 + 0.3 * sim_uniform(random))};
}

static void
make(struct field *f, int nodes, int rails)
{
	size_t ports = (size_t)nodes * (size_t)rails;
	uint64_t random = 16384;

	sim_init(&f->sim, nodes, rails, LEAF, SPINES, 1);
	f->order = (struct bu_order){
		.leaves = f->sim.plan.leaves, .rails = rails, .spines = SPINES};
	bu_order_init(&f->order, f->sim.leaf_of, (int)ports, NULL);
	f->half = bu_xcalloc(2 * ports, sizeof(*f->half));
	for (size_t i = 0; i < 2 * ports; i++)
		f->half[i] = sim_uniform(&random) < 0.03
				     ? 0.5f + 0.4f * (float)sim_uniform(&random)
				     : 1;
	f->flows = bu_xcalloc(2 * ROUNDS * ports, sizeof(*f->flows));
	for (int round = 0; round < ROUNDS; round++) {
		bu_autofree struct bu_pair *pairs = bu_xcalloc(ports, sizeof(*pairs));
		bu_autofree struct bu_cross *cross = bu_xcalloc(ports, sizeof(*cross));
		int n = bu_stage_leaf_round(&f->order, 1, round, pairs);

		for (int i = 0; i < n; i++) {
			add_flow(f, pairs[i].a, pairs[i].b, BU_PATH_UNKNOWN, &random);
			add_flow(f, pairs[i].b, pairs[i].a, BU_PATH_UNKNOWN, &random);
		}
		n = bu_stage_cross_round(&f->order, 1, round, cross);
		for (int i = 0; i < n; i++) {
			add_flow(f, cross[i].a, cross[i].b, cross[i].spine, &random);
			add_flow(f, cross[i].b, cross[i].a, cross[i].spine, &random);
		}
	}
}

static double
peak_mib(void)
{
	char line[256];
	double kib = 0;
	FILE *in = fopen("/proc/self/status", "r");

	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtod(line + 6, NULL);
	}
	if (in)
		fclose(in);
	return kib / 1024;
}

/* A port's half is suspected for its rate when it is slow, and only then. */
static int
count_wrong(const struct field *f, const unsigned char *suspects, int *ret_missed)
{
	int wrong = 0;

	*ret_missed = 0;
	for (int i = 0; i < 2 * bu_topology_ports(&f->sim.plan); i++) {
		*ret_missed += f->half[i] < 0.95f && !suspects[i];
		wrong += f->half[i] == 1 && suspects[i];
	}
	return wrong;
}

int
main(int argc, char **argv)
{
	int nodes = argc > 1 ? atoi(argv[1]) : 16384,
	    rails = argc > 2 ? atoi(argv[2]) : 8;
	struct field f = {0};
	struct bu_limits limits = {0};
	struct bu_part *parts;
	unsigned char *suspects;
	struct bu_flows flows;
	double before_mib, seconds;
	int64_t start_ns;
	int missed, wrong;

	make(&f, nodes, rails);
	before_mib = peak_mib();
	start_ns = bu_raw_ns();
	parts = bu_xcalloc((size_t)bu_parts_count(&f.sim.plan), sizeof(*parts));
	suspects = bu_xcalloc((size_t)bu_parts_count(&f.sim.plan), 1);
	flows = (struct bu_flows){&f.sim.plan, f.sim.leaf_of, f.flows, f.count};
	bu_limits_learn(&limits, &flows);
	bu_parts_decode(&flows, &limits, parts);
	bu_parts_suspect(&flows, &limits, parts, NULL, suspects);
	seconds = (double)(bu_raw_ns() - start_ns) / 1e9;
	wrong = count_wrong(&f, suspects, &missed);
	printf("%d nodes, %d rails, %zu flows of %zu bytes, %d parts; %.0f MiB before "
	       "decoding\n",
	       nodes, rails, f.count, sizeof(*f.flows), bu_parts_count(&f.sim.plan),
	       before_mib);
	printf("slow halves missed: %d halves (goal 0)\n", missed);
	printf("good halves suspected, for stage C: %d halves\n", wrong);
	printf("memory, flows included: %.0f MiB (goal 512)\n", peak_mib());
	printf("decoding: %.2f s (goal 2)\n", seconds);
	free(parts);
	free(suspects);
	free(f.flows);
	free(f.half);
	bu_order_fini(&f.order);
	sim_fini(&f.sim);
	return missed > 0;
}
