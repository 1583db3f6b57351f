/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder for whole fabrics. Called by the campaign after each stage. Pure; one
 * pass over the flows per question, arrays by part, no search. Invariant: a flow with a
 * doubtful instrument counts for nothing.
 */
#include "fabric/judge/parts.h"

#include <math.h>

#include "fabric/judge/stats.h"

/* Rejected: rates under of_limit of the framing limit, or under the median of the
 * cohort by more than 3 % and a modified z of 3.5. */
static const double of_limit = 0.95, of_median = 0.97, z_max = 3.5 / 0.6745;
/* Packets that a probe may lose by the scheduler's delays. A real fault loses tens. */
static const double lost_min = 4;
enum { COHORT_MIN = 8 }; /* fewer ports are no cohort */

int
bu_flow_doubt(double limit_gbps, double rate_gbps, double seconds, double seconds_dst,
	      double bytes)
{
	const double over_limit = 1.01, clocks = 0.01, arithmetic = 0.03;
	int doubt = 0;

	if (rate_gbps > limit_gbps * over_limit)
		doubt |= BU_DOUBT_LIMIT;
	if (seconds > 0 && seconds_dst > 0 &&
	    fabs(seconds - seconds_dst) > clocks * fmax(seconds, seconds_dst))
		doubt |= BU_DOUBT_CLOCK;
	if (seconds > 0 && bytes > 0 &&
	    fabs(bytes * 8e-9 / seconds - rate_gbps) > arithmetic * rate_gbps)
		doubt |= BU_DOUBT_BYTES;
	return doubt;
}

int
bu_parts_count(const struct bu_topology *t)
{
	return 2 * (bu_topology_ports(t) + t->leaves * t->spines + t->leaves);
}

int
bu_flow_parts(const struct bu_topology *t, const int *leaf_of,
	      const struct bu_flow *flow, int ret[BU_FLOW_PARTS_MAX])
{
	int links = 2 * bu_topology_ports(t), from = leaf_of[flow->src];
	int to = leaf_of[flow->dst];

	ret[0] = 2 * flow->src;
	ret[1] = 2 * flow->dst + 1;
	if (from == to)
		return 2;
	if (t->sprayed) {
		ret[2] = links + 2 * (t->leaves * t->spines + from) + BU_LINK_UP;
		ret[3] = links + 2 * (t->leaves * t->spines + to) + BU_LINK_DOWN;
		return 4;
	}
	if (flow->path < 0)
		return 0;
	ret[2] = links + 2 * (from * t->spines + flow->path) + BU_LINK_UP;
	ret[3] = links + 2 * (to * t->spines + flow->path) + BU_LINK_DOWN;
	return 4;
}

/* The best figure of each port in a tier, then the median over the ports. */
struct best {
	float *ports, *flows;
	size_t flow_count;
};

static double
median_best(const struct best *best, int ports, size_t *ret_count)
{
	bu_autofree float *kept = bu_xcalloc((size_t)ports, sizeof(*kept));
	size_t count = 0;

	for (int i = 0; i < ports; i++) {
		if (best->ports[i] > 0)
			kept[count++] = best->ports[i];
	}
	*ret_count = count;
	return bu_stats_median(kept, count);
}

enum figure { RATE, LAT, LAT99 };

static float
figure_of(const struct bu_flow *flow, enum figure figure)
{
	return figure == RATE  ? flow->rate_gbps
	       : figure == LAT ? flow->lat_us
			       : flow->lat99_us;
}

/* Sigma from the better half of the flows, which faults do not widen. */
static double
good_sigma(float *values, size_t count, int more_is_better)
{
	double median = bu_stats_median(values, count);
	double quarter = bu_stats_quarter(values, count, more_is_better ? 3 : 1);

	return fabs(quarter - median) / 0.6745;
}

/* Distance of the best of n normal values from their mean, in sigmas. */
static double
best_of(double n)
{
	double root = n > 2 ? sqrt(2 * log(n)) : 0;

	return root > 0 ? fmax(0.56, root - log(4 * M_PI * log(n)) / (2 * root)) : 0;
}

/* Median of the ports' best, and sigma of the flows. */
static double
learn_figure(const struct bu_flows *flows, int tier, enum figure figure,
	     double *ret_sigma, size_t *ret_cohort)
{
	const int *leaf_of = flows->leaf_of;
	int ports = bu_topology_ports(flows->topology);
	bu_autofree float *by_port = bu_xcalloc((size_t)ports, sizeof(float));
	bu_autofree float *all = bu_xcalloc(flows->count, sizeof(float));
	struct best best = {by_port, all, 0};
	double median;

	for (size_t i = 0; i < flows->count; i++) {
		const struct bu_flow *flow = &flows->list[i];
		float value = figure_of(flow, figure);

		if (flow->doubt || !(value > 0) ||
		    tier != (leaf_of[flow->src] != leaf_of[flow->dst]))
			continue;
		all[best.flow_count++] = value;
		if (by_port[flow->src] == 0 ||
		    (figure == RATE ? value > by_port[flow->src]
				    : value < by_port[flow->src]))
			by_port[flow->src] = value;
	}
	*ret_sigma = good_sigma(all, best.flow_count, figure == RATE);
	median = median_best(&best, ports, ret_cohort);
	/* The usual rate of a port: its best flow is above it by chance. */
	if (figure == RATE && *ret_cohort > 0)
		median -= fmin(*ret_sigma, 0.015 * median) *
			  best_of((double)best.flow_count / (double)*ret_cohort);
	return median;
}

static void
learn_lost(struct bu_limits *limits, const struct bu_flow *flows, size_t count)
{
	bu_autofree float *all = bu_xcalloc(count, sizeof(float));
	size_t kept = 0;
	double usual;

	for (size_t i = 0; i < count; i++) {
		if (!flows[i].doubt)
			all[kept++] = flows[i].lost;
	}
	/* The first quartile: one bad node of three spoils two flows of three. */
	usual = bu_stats_quarter(all, kept, 1);
	limits->max_lost = fmax(
		lost_min, usual > 0 ? usual + 8 * bu_stats_sigma(all, kept, usual) : 0);
}

static void
learn_mtu(struct bu_limits *limits, const struct bu_flow *flows, size_t count)
{
	bu_autofree uint32_t *seen = NULL;
	int top = 0;

	for (size_t i = 0; i < count; i++)
		if (!flows[i].doubt && flows[i].mtu > top)
			top = flows[i].mtu;
	seen = bu_xcalloc((size_t)top + 1, sizeof(*seen));
	for (size_t i = 0; i < count; i++)
		if (!flows[i].doubt)
			seen[flows[i].mtu]++;
	limits->mtu = 0;
	for (int mtu = 1; mtu <= top; mtu++) {
		if (seen[mtu] > 0 && (!limits->mtu || seen[mtu] >= seen[limits->mtu]))
			limits->mtu = mtu;
	}
}

void
bu_limits_learn(struct bu_limits *ret, const struct bu_flows *flows)
{
	double reject = ret->reject > 0 ? ret->reject : of_limit;

	for (int tier = 0; tier < 2; tier++) {
		double sigma, median, cohort;
		size_t ports;

		median = learn_figure(flows, tier, RATE, &sigma, &ports);
		cohort = fmin(of_median * median,
			      median - z_max * fmin(sigma, 0.015 * median));
		if (ports < COHORT_MIN)
			cohort = 0;
		ret->median_gbps[tier] = median;
		ret->min_gbps[tier] =
			fmax(reject * flows->topology->limit_gbps, cohort);
		median = learn_figure(flows, tier, LAT, &sigma, &ports);
		ret->median_us[tier] = median;
		ret->max_us[tier] = fmax(1.25 * median, median + 1.5 * z_max * sigma);
		if (ports < COHORT_MIN)
			ret->max_us[tier] = 0;
		if (ret->lat_limit_us > 0 &&
		    (ret->max_us[tier] <= 0 || ret->lat_limit_us < ret->max_us[tier]))
			ret->max_us[tier] = ret->lat_limit_us;
		median = learn_figure(flows, tier, LAT99, &sigma, &ports);
		ret->max99_us[tier] = fmax(2 * median, median + 2 * z_max * sigma);
		if (ports < COHORT_MIN)
			ret->max99_us[tier] = 0;
	}
	learn_lost(ret, flows->list, flows->count);
	learn_mtu(ret, flows->list, flows->count);
}

unsigned int
bu_flow_symptoms(const struct bu_limits *limits, const int *leaf_of,
		 const struct bu_flow *flow)
{
	int tier = leaf_of[flow->src] != leaf_of[flow->dst];
	unsigned int bits = 0;

	/* A flow between ports of one leaf must not cross a spine. Its other figures
	 * are those of an unplanned path. */
	if (tier == 0 && flow->path != BU_PATH_UNKNOWN)
		return 1u << BU_SYMPTOM_CABLING;
	if (flow->rate_gbps < limits->min_gbps[tier])
		bits |= 1u << BU_SYMPTOM_RATE;
	if ((limits->max_us[tier] > 0 && flow->lat_us > limits->max_us[tier]) ||
	    (limits->max99_us[tier] > 0 && flow->lat99_us > limits->max99_us[tier]))
		bits |= 1u << BU_SYMPTOM_LATENCY;
	if (flow->lost > limits->max_lost)
		bits |= 1u << BU_SYMPTOM_LOSS;
	if (flow->mtu && flow->mtu < limits->mtu)
		bits |= 1u << BU_SYMPTOM_MTU;
	return bits;
}

/* Weight 1 from `little` (a share) above the limit on, 0.5 up to half of `little`. */
static double
weigh(double beyond, double little)
{
	return fmin(1, fmax(0.5, beyond / little));
}

double
bu_flow_weight(const struct bu_limits *limits, const int *leaf_of,
	       const struct bu_flow *flow, enum bu_symptom symptom)
{
	const double rate = 0.04, latency = 0.2, lost = 3;
	int tier = leaf_of[flow->src] != leaf_of[flow->dst];
	double us = limits->max_us[tier] > 0 ? flow->lat_us / limits->max_us[tier] : 0;
	double us99 = limits->max99_us[tier] > 0
			      ? flow->lat99_us / limits->max99_us[tier]
			      : 0;

	switch (symptom) {
	case BU_SYMPTOM_RATE:
		return weigh(1 - flow->rate_gbps / limits->min_gbps[tier], rate);
	case BU_SYMPTOM_LATENCY:
		return weigh(fmax(us, us99) - 1, latency);
	case BU_SYMPTOM_LOSS:
		return weigh(flow->lost / limits->max_lost - 1, lost);
	default:
		return 1;
	}
}

/* Counts one flow of the part with the symptoms `bits`. */
static void
count_round(struct bu_part *part, unsigned int round, unsigned int bits)
{
	int again = part->last == round + 1;
	unsigned int gone = again ? part->last_bits & ~bits : 0;
	unsigned int came = again ? 0 : bits;

	part->rounds += !again;
	part->last = round + 1;
	part->last_bits = again ? part->last_bits & bits : bits;
	for (int s = 0; s < BU_SYMPTOMS_COUNT && (gone | came); s++) {
		part->bad_rounds[s] += came >> s & 1;
		part->bad_rounds[s] -= gone >> s & 1;
	}
}

void
bu_parts_decode(const struct bu_flows *flows, const struct bu_limits *limits,
		struct bu_part *ret)
{
	for (size_t i = 0; i < flows->count; i++) {
		const struct bu_flow *flow = &flows->list[i];
		int list[BU_FLOW_PARTS_MAX];
		int n = bu_flow_parts(flows->topology, flows->leaf_of, flow, list);
		unsigned int bits = bu_flow_symptoms(limits, flows->leaf_of, flow);
		float weight[BU_SYMPTOMS_COUNT] = {0};

		if (flow->doubt)
			continue;
		for (int s = 0; s < BU_SYMPTOMS_COUNT && bits; s++)
			if (bits >> s & 1)
				weight[s] =
					(float)bu_flow_weight(limits, flows->leaf_of,
							      flow, (enum bu_symptom)s);
		for (int k = 0; k < n; k++) {
			struct bu_part *part = &ret[list[k]];

			part->flows++;
			if (flow->rate_gbps > part->best_gbps)
				part->best_gbps = flow->rate_gbps;
			count_round(part, flow->round, bits);
			for (int s = 0; s < BU_SYMPTOMS_COUNT && bits; s++) {
				part->bad[s] += bits >> s & 1;
				part->weight[s] = fmaxf(part->weight[s], weight[s]);
			}
		}
	}
}

/* Suspects the parts of a bad flow that have no good flow; where each has one, all
 * parts with a bad round. Trusted parts are never suspected, but one without a good
 * flow explains the bad flow. */
static void
suspect_flow(const struct bu_part *parts, const int *list, int n, int symptom,
	     const unsigned char *trusted, unsigned char *ret)
{
	int lasting = 0;

	for (int k = 0; k < n; k++)
		lasting |= parts[list[k]].bad[symptom] == parts[list[k]].flows;
	for (int k = 0; k < n; k++) {
		if ((trusted && trusted[list[k]]) ||
		    parts[list[k]].bad_rounds[symptom] == 0)
			continue;
		if (!lasting || parts[list[k]].bad[symptom] == parts[list[k]].flows)
			ret[list[k]] |= (unsigned char)(1u << symptom);
	}
}

void
bu_parts_suspect(const struct bu_flows *flows, const struct bu_limits *limits,
		 const struct bu_part *parts, const unsigned char *trusted,
		 unsigned char *ret)
{
	for (size_t i = 0; i < flows->count; i++) {
		const struct bu_flow *flow = &flows->list[i];
		int list[BU_FLOW_PARTS_MAX];
		int n = bu_flow_parts(flows->topology, flows->leaf_of, flow, list);
		unsigned int bits = bu_flow_symptoms(limits, flows->leaf_of, flow);

		if (flow->doubt || !bits)
			continue;
		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			if (bits >> s & 1)
				suspect_flow(parts, list, n, s, trusted, ret);
		}
	}
}
