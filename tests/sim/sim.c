/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated fabric, asked by tests, benches and the model of the rehearsal. */
#include "tests/sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fabric/judge/parts.h"

static const double healthy_share = 0.985; /* of the limit */

const char *
sim_kind_name(enum sim_kind kind)
{
	static const char *const names[] = {
#define X(id, name) [SIM_##id] = name,
		SIM_KINDS(X)
#undef X
	};

	return names[kind];
}

uint64_t
sim_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

double
sim_uniform(uint64_t *state)
{
	return (double)(sim_random(state) >> 11) * 0x1p-53;
}

static double
normal(uint64_t *state)
{
	double u = 1 - sim_uniform(state), v = sim_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static uint64_t
hash(uint64_t a, uint64_t b)
{
	uint64_t state = a * UINT64_C(0xff51afd7ed558ccd) ^ b;

	return sim_random(&state);
}

static struct bu_ids
count_ids(int count)
{
	struct bu_ids ids = {json_array(), json_object()};
	char text[16];

	for (int i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "%d", i);
		json_array_append_new(ids.list, json_integer(i));
		json_object_set_new(ids.index, text, json_integer(i));
	}
	return ids;
}

void
sim_init(struct sim *sim, int nodes, int rails, int leaf_size, int spines,
	 uint64_t seed)
{
	struct bu_topology *t = &sim->plan;
	size_t ports = (size_t)nodes * (size_t)rails;

	*sim = (struct sim){
		.seed = seed, .noise = 0.006, .outliers = 0.001, .drift = 0.01};
	*t = (struct bu_topology){.nodes = nodes,
				  .rails = rails,
				  .leaves = (nodes + leaf_size - 1) / leaf_size * rails,
				  .spines = spines,
				  .limit_gbps = 392.1,
				  .has_lldp = 1,
				  .has_switch = 1};
	t->node_ids = count_ids(nodes);
	t->leaf_ids = count_ids(t->leaves);
	t->spine_ids = count_ids(spines);
	t->leaf_of = bu_xcalloc(ports + 1, sizeof(int));
	sim->leaf_of = bu_xcalloc(ports + 1, sizeof(int));
	for (size_t i = 0; i < ports; i++) {
		int node = (int)i / rails, rail = (int)i % rails;

		t->leaf_of[i] = sim->leaf_of[i] = node / leaf_size * rails + rail;
	}
	sim->link_load =
		bu_xcalloc(2 * (size_t)(t->leaves * spines) + 1, sizeof(float));
	sim->link_bad = bu_xcalloc(2 * (size_t)(t->leaves * spines) + 1, sizeof(float));
}

void
sim_share_leaves(struct sim *sim)
{
	struct bu_topology *t = &sim->plan;

	sim->shared = 1;
	t->leaves /= t->rails;
	json_decref(t->leaf_ids.list);
	json_decref(t->leaf_ids.index);
	t->leaf_ids = count_ids(t->leaves);
	for (int port = 0; port < bu_topology_ports(t); port++)
		t->leaf_of[port] = sim->leaf_of[port] /= t->rails;
}

int
sim_leaves_of_rail(const struct sim *sim)
{
	return sim->shared ? sim->plan.leaves : sim->plan.leaves / sim->plan.rails;
}

void
sim_fini(struct sim *sim)
{
	bu_topology_fini(&sim->plan);
	free(sim->leaf_of);
	free(sim->link_load);
	free(sim->link_bad);
}

struct sim_fault *
sim_add(struct sim *sim, struct sim_fault fault)
{
	bu_assert(sim->fault_count < SIM_FAULTS_MAX);
	if (fault.share == 0)
		fault.share = 1;
	if (fault.kind == SIM_SWAP) {
		int kept = sim->leaf_of[fault.port];

		sim->leaf_of[fault.port] = sim->leaf_of[fault.port2];
		sim->leaf_of[fault.port2] = kept;
	}
	sim->faults[sim->fault_count] = fault;
	return &sim->faults[sim->fault_count++];
}

static int
is_there(const struct sim *sim, int fault)
{
	uint64_t state = hash(sim->seed + (uint64_t)fault, (uint64_t)sim->rounds);

	return sim_uniform(&state) < sim->faults[fault].share;
}

/* Resources of the fabric: 2 * port + half, then links as in fabric/judge/parts.h. */
struct share {
	double cap, left, weight;
};

struct sub { /* one queue pair of one flow */
	int flow;
	int spine; /* -1 = none, -2 = all */
	double rate;
	int frozen;
};

struct network {
	const struct sim *sim;
	struct share *shares;
	int share_count;
	struct sub *subs;
	int sub_count;
	const struct bu_flow *flows;
};

static int
link_share(const struct sim *sim, int leaf, int spine, int dir)
{
	return 2 * (bu_topology_ports(&sim->plan) + leaf * sim->plan.spines + spine) +
	       dir;
}

static void
slow_links(struct network *net, const struct sim_fault *fault, int leaf, int spine,
	   int dirs)
{
	for (int dir = 0; dir < 2; dir++) {
		if (dirs >> dir & 1)
			net->shares[link_share(net->sim, leaf, spine, dir)].cap *=
				fault->factor;
	}
}

static void
apply_rate(struct network *net, const struct sim_fault *fault)
{
	const struct sim *sim = net->sim;

	if (fault->kind == SIM_PORT_RATE) {
		for (int half = 0; half < 2; half++) {
			if (fault->dir >> half & 1)
				net->shares[2 * fault->port + half].cap *=
					fault->factor;
		}
	} else if (fault->kind == SIM_LINK_RATE) {
		slow_links(net, fault, fault->leaf, fault->spine, fault->dir);
	} else if (fault->kind == SIM_SPINE_RATE) {
		for (int leaf = 0; leaf < sim->plan.leaves; leaf++)
			slow_links(net, fault, leaf, fault->spine, 3);
	} else if (fault->kind == SIM_LEAF_RATE) {
		for (int port = 0; port < bu_topology_ports(&sim->plan); port++) {
			if (sim->leaf_of[port] != fault->leaf)
				continue;
			net->shares[2 * port].cap *= fault->factor;
			net->shares[2 * port + 1].cap *= fault->factor;
		}
	}
}

static int
steps(const struct network *net, const struct sub *sub)
{
	return sub->spine == -1  ? 2
	       : sub->spine >= 0 ? 4
				 : 2 + 2 * net->sim->plan.spines;
}

static int
step_share(const struct network *net, const struct sub *sub, int step)
{
	const struct bu_flow *flow = &net->flows[sub->flow];
	const struct sim *sim = net->sim;
	int spine = sub->spine >= 0 ? sub->spine : (step - 2) / 2;

	if (step == 0)
		return 2 * flow->src;
	if (step == 1)
		return 2 * flow->dst + 1;
	return step % 2 == 0
		       ? link_share(sim, sim->leaf_of[flow->src], spine, BU_LINK_UP)
		       : link_share(sim, sim->leaf_of[flow->dst], spine, BU_LINK_DOWN);
}

static double
step_weight(const struct network *net, const struct sub *sub, int step)
{
	return step >= 2 && sub->spine == -2 ? 1.0 / net->sim->plan.spines : 1;
}

/* Rates rise together until a resource is full; the pairs that it holds stay there. */
static int
fill_once(struct network *net)
{
	double least = INFINITY;
	int open = 0;

	for (int i = 0; i < net->share_count; i++) {
		struct share *share = &net->shares[i];

		if (share->weight > 1e-12 && share->left / share->weight < least)
			least = share->left / share->weight;
	}
	for (int i = 0; i < net->sub_count; i++) {
		struct sub *sub = &net->subs[i];
		double own = INFINITY;
		int local = 1;

		if (sub->frozen)
			continue;
		for (int k = 0; k < steps(net, sub); k++) {
			const struct share *share =
				&net->shares[step_share(net, sub, k)];

			own = fmin(own, share->left / share->weight);
			local &= share->weight < 1 + 1e-9;
		}
		/* Alone on its whole way, it need not wait for the others. */
		if (own > least * (1 + 1e-9) && !local) {
			open++;
			continue;
		}
		sub->rate = own;
		sub->frozen = 2;
	}
	for (int i = 0; i < net->sub_count; i++) {
		struct sub *sub = &net->subs[i];

		if (sub->frozen != 2)
			continue;
		sub->frozen = 1;
		for (int k = 0; k < steps(net, sub); k++) {
			struct share *share = &net->shares[step_share(net, sub, k)];
			double weight = step_weight(net, sub, k);

			share->left = fmax(0, share->left - weight * sub->rate);
			share->weight -= weight;
		}
	}
	return open;
}

static void
share_out(struct network *net)
{
	for (int i = 0; i < net->share_count; i++)
		net->shares[i].left = net->shares[i].cap;
	for (int i = 0; i < net->sub_count; i++) {
		for (int k = 0; k < steps(net, &net->subs[i]); k++)
			net->shares[step_share(net, &net->subs[i], k)].weight +=
				step_weight(net, &net->subs[i], k);
	}
	while (fill_once(net) > 0)
		;
}

static int
spine_of(const struct sim *sim, const struct bu_flow *flow, int qp)
{
	uint64_t ends = (uint64_t)flow->src << 32 | (uint32_t)flow->dst;

	if (flow->via >= 0 && !sim->ignores_via)
		return flow->via;
	return (int)(hash(ends, flow->sport + (uint64_t)qp) %
		     (uint64_t)sim->plan.spines);
}

static void
add_subs(struct network *net, int index, struct bu_flow *flow)
{
	const struct sim *sim = net->sim;
	int crosses = sim->leaf_of[flow->src] != sim->leaf_of[flow->dst];

	flow->path = BU_PATH_UNKNOWN;
	if (!crosses || sim->plan.sprayed || sim->plan.spines == 0) {
		net->subs[net->sub_count++] = (struct sub){
			.flow = index, .spine = crosses && sim->plan.sprayed ? -2 : -1};
		return;
	}
	for (int qp = 0; qp < flow->qps; qp++) {
		int spine = spine_of(sim, flow, qp);

		flow->path = qp > 0 && flow->path != spine ? BU_PATH_SEVERAL : spine;
		net->subs[net->sub_count++] =
			(struct sub){.flow = index, .spine = spine};
	}
}

static int
touches(const struct sim *sim, const struct sim_fault *fault,
	const struct bu_flow *flow)
{
	int from = sim->leaf_of[flow->src], to = sim->leaf_of[flow->dst];

	if (fault->kind == SIM_LINK_LOSS)
		return from != to &&
		       (sim->plan.sprayed || flow->path == fault->spine) &&
		       ((from == fault->leaf && fault->dir & BU_DIR_OUT) ||
			(to == fault->leaf && fault->dir & BU_DIR_IN));
	return (flow->src == fault->port && fault->dir & BU_DIR_OUT) ||
	       (flow->dst == fault->port && fault->dir & BU_DIR_IN);
}

/* Is this resource what holds its flows? */
static int
is_full(const struct share *share)
{
	return share->left < 1e-3 * share->cap;
}

static void
apply_marks(const struct sim *sim, const struct sim_fault *fault, struct bu_flow *flow,
	    double *seconds_dst)
{
	int rails = sim->plan.rails;
	int at = flow->src / rails == fault->node || flow->dst / rails == fault->node;

	if ((fault->kind == SIM_PORT_LOSS || fault->kind == SIM_LINK_LOSS) &&
	    touches(sim, fault, flow)) {
		double packets = flow->rate_gbps * 2e9 / 8 / 4096;

		if (sim->plan.sprayed && fault->kind == SIM_LINK_LOSS)
			packets /= sim->plan.spines;
		flow->lost += (float)floor(packets * fault->factor);
	}
	if (fault->kind == SIM_PORT_LATENCY && touches(sim, fault, flow)) {
		flow->lat_us *= (float)fault->factor;
		flow->lat99_us *= (float)fault->factor;
	}
	if (fault->kind == SIM_PORT_MTU &&
	    (flow->src == fault->port || flow->dst == fault->port)) {
		flow->mtu = 1024;
		flow->rate_gbps *= 0.944f;
	}
	if (fault->kind == SIM_PORT_ZERO && touches(sim, fault, flow))
		flow->rate_gbps = flow->lat_us = flow->lat99_us = 0;
	if (fault->kind == SIM_LOOPBACK_HALF &&
	    (fault->dir & BU_DIR_OUT ? flow->src : flow->dst) / rails == fault->node)
		flow->rate_gbps = (float)(sim->plan.limit_gbps * fault->factor);
	if (fault->kind == SIM_CLOCK && at)
		*seconds_dst *= fault->factor;
	if (fault->kind == SIM_LOOPBACK && at)
		flow->rate_gbps = (float)(sim->plan.limit_gbps * fault->factor);
}

static void
measure(const struct sim *sim, struct bu_flow *flow, double rate)
{
	uint64_t ends = (uint64_t)flow->src << 32 | (uint32_t)flow->dst;
	uint64_t state = hash(sim->seed ^ ends, (uint64_t)sim->rounds);
	int crosses = sim->leaf_of[flow->src] != sim->leaf_of[flow->dst];
	double drift = 1 - sim->drift * (0.5 - 0.5 * cos(sim->rounds / 20.0));
	double seconds_dst = 2;

	flow->mtu = 4096;
	flow->doubt = 0;
	flow->lost = sim_uniform(&state) < sim->outliers / 2 ? 3 : 0;
	flow->rate_gbps = (float)(rate * drift * (1 + sim->noise * normal(&state)));
	flow->lat_us = (float)((crosses ? 4 : 2.5) * exp(0.03 * normal(&state)));
	flow->lat99_us = flow->lat_us * (float)(1.6 * exp(0.08 * normal(&state)));
	if (sim_uniform(&state) < sim->outliers)
		flow->rate_gbps *= (float)(0.3 + 0.65 * sim_uniform(&state));
	if (sim_uniform(&state) < sim->outliers)
		flow->lat99_us *= 5;
	for (int i = 0; i < sim->fault_count; i++) {
		if (is_there(sim, i))
			apply_marks(sim, &sim->faults[i], flow, &seconds_dst);
	}
	flow->doubt = (uint8_t)bu_flow_doubt(sim->plan.limit_gbps, flow->rate_gbps, 2,
					     seconds_dst, 0);
}

/* What the switches count: load, and waits on links that are full or lose. */
static void
count_links(struct sim *sim, const struct network *net)
{
	int ports = 2 * bu_topology_ports(&sim->plan);

	for (int i = ports; i < net->share_count; i++) {
		const struct share *share = &net->shares[i];
		uint64_t state =
			hash(sim->seed + 77, (uint64_t)i << 24 | (uint64_t)sim->rounds);

		sim->link_load[i - ports] += (float)(share->cap - share->left);
		sim->link_bad[i - ports] += sim_uniform(&state) < sim->outliers ? 5 : 0;
		if (share->cap < 0.99 * sim->plan.limit_gbps && is_full(share))
			sim->link_bad[i - ports] += 1000;
	}
	for (int i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *fault = &sim->faults[i];

		for (int dir = 0; dir < 2 && fault->kind == SIM_LINK_LOSS; dir++) {
			int place =
				2 * (fault->leaf * sim->plan.spines + fault->spine) +
				dir;

			if (fault->dir >> dir & 1 && is_there(sim, i) &&
			    sim->link_load[place] > 0)
				sim->link_bad[place] += 200;
		}
	}
}

/* Does what comes and goes spoil a figure of this round? A rate does only where it is
 * what holds its flows, not under a slower part; and a flow in doubt says nothing. */
static int
shows(const struct network *net, const struct sim_fault *fault, int count)
{
	const struct sim *sim = net->sim;
	int first = fault->kind == SIM_PORT_RATE
			    ? 2 * fault->port
			    : link_share(sim, fault->leaf, fault->spine, 0);
	int full = 0;

	for (int dir = 0; dir < 2; dir++)
		full |= fault->dir >> dir & 1 && is_full(&net->shares[first + dir]);
	for (int i = 0; i < count; i++) {
		if (fault->kind == SIM_LINK_RATE)
			return full;
		if (!net->flows[i].doubt && touches(sim, fault, &net->flows[i]) &&
		    (full || fault->kind != SIM_PORT_RATE))
			return 1;
	}
	return 0;
}

static int
run_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	struct sim *sim = arg;
	int ports = bu_topology_ports(&sim->plan),
	    links = sim->plan.leaves * sim->plan.spines;
	struct network net = {
		.sim = sim, .share_count = 2 * (ports + links), .flows = flows};
	bu_autofree struct share *shares =
		bu_xcalloc((size_t)net.share_count + 1, sizeof(*shares));
	bu_autofree struct sub *subs = bu_xcalloc((size_t)count * 8 + 1, sizeof(*subs));
	bu_autofree double *rates = bu_xcalloc((size_t)count + 1, sizeof(*rates));

	(void)err;
	sim->rounds++;
	net.shares = shares;
	net.subs = subs;
	for (int i = 0; i < net.share_count; i++)
		shares[i].cap =
			sim->plan.limit_gbps * (i < 2 * ports ? healthy_share : 1);
	for (int i = 0; i < sim->fault_count; i++) {
		if (is_there(sim, i))
			apply_rate(&net, &sim->faults[i]);
	}
	for (int i = 0; i < count; i++)
		add_subs(&net, i, &flows[i]);
	share_out(&net);
	for (int i = 0; i < net.sub_count; i++)
		rates[subs[i].flow] += subs[i].rate;
	for (int i = 0; i < count; i++)
		measure(sim, &flows[i], rates[i]);
	for (int i = 0; i < sim->fault_count; i++)
		sim->shown[i] +=
			is_there(sim, i) && shows(&net, &sim->faults[i], count);
	count_links(sim, &net);
	return 0;
}

static int
trace(void *arg, const struct bu_flow *from, int count, int *ret_spines,
      struct bu_err *err)
{
	struct sim *sim = arg;

	(void)err;
	for (int i = 0; i < count; i++) {
		struct bu_flow flow = {.src = from->src,
				       .dst = from->dst,
				       .via = -1,
				       .sport = (uint16_t)(from->sport + i)};

		ret_spines[i] =
			sim->plan.sprayed ? BU_PATH_UNKNOWN : spine_of(sim, &flow, 0);
	}
	return 0;
}

static int
lldp(void *arg, int *ret_leaf_of, struct bu_err *err)
{
	struct sim *sim = arg;

	(void)err;
	memcpy(ret_leaf_of, sim->leaf_of,
	       (size_t)bu_topology_ports(&sim->plan) * sizeof(int));
	return 0;
}

static int
switches(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	struct sim *sim = arg;

	(void)err;
	for (int i = 0; i < 2 * sim->plan.leaves * sim->plan.spines; i++) {
		ret[i] = (struct bu_link_count){.bad = sim->link_bad[i], .rate = -1};
		sim->link_bad[i] = sim->link_load[i] = 0;
	}
	return 0;
}

struct bu_site
sim_site(struct sim *sim)
{
	return (struct bu_site){.round = run_round,
				.trace = trace,
				.lldp = lldp,
				.switches = switches,
				.arg = sim};
}
