/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fabric that is not there, for tests and benches of the decoder: ports, leaves,
 * spines, faults; flows share links max-min. Deterministic: the seed and the rounds so
 * far decide everything, noise included.
 */
#ifndef BU_TESTS_SIM_SIM_H
#define BU_TESTS_SIM_SIM_H

#include <math.h>

#include "fabric/judge/localise.h"

#define SIM_KINDS(X)                                                                   \
	X(PORT_RATE, "endpoint, rate")                                                 \
	X(PORT_LOSS, "endpoint, loss")                                                 \
	X(PORT_LATENCY, "endpoint, latency")                                           \
	X(PORT_MTU, "endpoint, mtu")                                                   \
	X(PORT_ZERO, "endpoint, nothing")                                              \
	X(SWAP, "swapped cables")                                                      \
	X(CLOCK, "clock of a node")                                                    \
	X(LOOPBACK, "loopback on a node")                                              \
	X(LOOPBACK_HALF, "loopback, one half")                                         \
	X(LINK_RATE, "link, rate")                                                     \
	X(LINK_LOSS, "link, loss")                                                     \
	X(LEAF_RATE, "leaf, rate")                                                     \
	X(SPINE_RATE, "spine, rate")

enum sim_kind {
#define X(id, name) SIM_##id,
	SIM_KINDS(X)
#undef X
		SIM_KINDS_COUNT
};
const char *sim_kind_name(enum sim_kind kind);

struct sim_fault {
	enum sim_kind kind;
	int port, port2; /* PORT_...; SWAP: both */
	int node;        /* CLOCK, LOOPBACK... */
	int leaf, spine;
	int dir;       /* BU_DIR_... */
	double factor; /* of the rate; of the latency; share of packets lost */
	double share;  /* of the rounds in which it is there; 1 = lasting */
};

enum { SIM_FAULTS_MAX = 128 };

struct sim {
	struct bu_topology plan; /* what is told */
	int *leaf_of;            /* what is true */
	int shared;              /* all rails of a node are at one leaf */
	uint64_t seed;
	double noise, outliers, drift; /* sigma; share of flows; of the rate */
	int ignores_via;
	struct sim_fault faults[SIM_FAULTS_MAX];
	int fault_count;
	int shown[SIM_FAULTS_MAX]; /* rounds in which what comes and goes spoiled a
				      figure */
	int rounds;
	float *link_load; /* since the last reading of the switches */
	float *link_bad;
};

/* leaf_size: ports of a rail on a leaf; the last leaf may have fewer. */
void sim_init(struct sim *sim, int nodes, int rails, int leaf_size, int spines,
	      uint64_t seed);
/* Before any fault: each leaf takes all rails of its nodes, not one. */
void sim_share_leaves(struct sim *sim);
/* Leaves that a port of a rail can be at. */
int sim_leaves_of_rail(const struct sim *sim);
void sim_fini(struct sim *sim);
struct sim_fault *sim_add(struct sim *sim, struct sim_fault fault);
/* Its rounds, traces, LLDP and switches as a site; borrowed. */
struct bu_site sim_site(struct sim *sim);

/* Random numbers of one stream. */
uint64_t sim_random(uint64_t *state);
double sim_uniform(uint64_t *state); /* [0, 1) */

/* Does it name this fault rightly, alone or among parts that no test tells apart? */
int sim_names(const struct sim *sim, const struct sim_fault *fault,
	      const struct bu_accusation *accusation);
/* Index of a fault that the accusation names rightly; -1 = it is wrong. */
int sim_judge(const struct sim *sim, const struct bu_accusation *accusation);
/* 1 when static routing or the switches' counters let it be seen. */
int sim_observable(const struct sim *sim, const struct sim_fault *fault);

/* The interval that holds the true share with 95 %, by Wilson. */
static inline void
sim_wilson(int good, int count, double *ret_low, double *ret_high)
{
	const double z = 1.959964;
	double n = count, p = count ? good / n : 0, middle, half;

	*ret_low = 0;
	*ret_high = 1;
	if (count == 0)
		return;
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	*ret_low = fmax(0, middle - half);
	*ret_high = fmin(1, middle + half);
}

#endif
