/* SPDX-License-Identifier: Apache-2.0 */
/*
 * localise SEED[,SEED...] FAULTY [CLEAN]: how well the campaign names faults in
 * simulated fabrics, and how two other policies do on the same ones; of each seed, then
 * of all. tests/bench/localise runs it.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/judge/stats.h"
#include "tests/sim/policies.h"

struct row {
	int faults, found;
};

struct tally {
	/* What comes and goes; absent: it spoiled nothing that was measured. */
	struct row lasting[SIM_KINDS_COUNT], blind[SIM_KINDS_COUNT],
		fickle[SIM_KINDS_COUNT], absent[SIM_KINDS_COUNT];
	int right, wrong, undecided;
	float *rounds; /* of each scenario */
	int scenarios;
	struct row policies[2];
	int policy_right[2], policy_wrong[2];
	int clean, clean_accused, clean_policy[2];
};

static int
between(uint64_t *random, int low, int high)
{
	return low + (int)(sim_random(random) % (uint64_t)(high - low + 1));
}

/* 8 to 2,000 nodes, small ones more often; two thirds of the fabrics static. Of those
 * with several rails a third have all rails of a node at one leaf. */
static void
make_fabric(struct sim *sim, uint64_t *random)
{
	static const int sizes[] = {8, 12, 16, 24, 32, 48, 64, 100, 128, 200};
	int nodes = sizes[between(random, 0, 9)], leaf_size, spines, kind;
	int rails = between(random, 1, 2);

	if (between(random, 0, 49) == 0)
		nodes = between(random, 500, 2000);
	leaf_size = between(random, 4, nodes < 64 ? 12 : 32);
	spines = between(random, 2, leaf_size < 8 ? leaf_size : 8);
	sim_init(sim, nodes, rails, leaf_size, spines, sim_random(random));
	if (rails > 1 && between(random, 0, 2) == 0)
		sim_share_leaves(sim);
	kind = between(random, 0, 9);
	sim->plan.sprayed = kind >= 7;
	sim->plan.has_switch = kind < 9;
	sim->plan.has_lldp = between(random, 0, 3) > 0;
	sim->ignores_via = kind == 0;
}

static int
other_leaf(const struct sim *sim, int port, uint64_t *random)
{
	for (int i = 0; i < 200; i++) {
		int other = between(random, 0, sim->plan.nodes - 1) * sim->plan.rails +
			    port % sim->plan.rails;

		if (sim->leaf_of[other] != sim->leaf_of[port])
			return other;
	}
	return -1;
}

/* A smaller fault under a bad leaf or spine cannot be told from it: these stand alone,
 * and nothing is bad twice. */
static int
is_masked(const struct sim *sim, const struct sim_fault *fault)
{
	int large = fault->kind == SIM_LEAF_RATE || fault->kind == SIM_SPINE_RATE;

	for (int i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *f = &sim->faults[i];
		int rails = sim->plan.rails;

		if (large || f->kind == SIM_LEAF_RATE || f->kind == SIM_SPINE_RATE ||
		    f->node == fault->node ||
		    (f->port2 >= 0 && f->port2 / rails == fault->node) ||
		    (fault->port2 >= 0 && f->node == fault->port2 / rails) ||
		    (f->leaf == fault->leaf && f->spine == fault->spine))
			return 1;
	}
	return 0;
}

static void
add_fault(struct sim *sim, uint64_t *random)
{
	static const enum sim_kind kinds[] = {
		SIM_PORT_RATE, SIM_PORT_RATE,    SIM_PORT_RATE,  SIM_PORT_LOSS,
		SIM_PORT_LOSS, SIM_PORT_MTU,     SIM_SWAP,       SIM_CLOCK,
		SIM_LINK_RATE, SIM_LINK_RATE,    SIM_LINK_RATE,  SIM_LINK_LOSS,
		SIM_LEAF_RATE, SIM_LOOPBACK,     SIM_SPINE_RATE, SIM_PORT_LATENCY,
		SIM_PORT_ZERO, SIM_LOOPBACK_HALF};
	enum sim_kind kind = kinds[between(random, 0, 17)];
	struct sim_fault fault = {
		.kind = kind, .dir = between(random, 1, 3), .share = 1};

	fault.port2 = -1;
	fault.node = between(random, 0, sim->plan.nodes - 1);
	fault.port =
		fault.node * sim->plan.rails + between(random, 0, sim->plan.rails - 1);
	fault.leaf = between(random, 0, sim->plan.leaves - 1);
	fault.spine = between(random, 0, sim->plan.spines - 1);
	fault.factor = kind == SIM_LINK_RATE || kind == SIM_SPINE_RATE
			       ? 0.2 + 0.6 * sim_uniform(random)
			       : 0.5 + 0.42 * sim_uniform(random);
	if (kind == SIM_PORT_LOSS || kind == SIM_LINK_LOSS)
		fault.factor = 1e-5 + 1e-3 * sim_uniform(random);
	if (kind == SIM_PORT_LATENCY)
		fault.factor = 1.6 + 2 * sim_uniform(random);
	if (kind == SIM_CLOCK)
		fault.factor = 1.03;
	if (kind == SIM_LOOPBACK || kind == SIM_LOOPBACK_HALF)
		fault.factor = 1.02;
	if (kind == SIM_LOOPBACK_HALF && fault.dir == (BU_DIR_OUT | BU_DIR_IN))
		fault.dir = BU_DIR_OUT;
	if (kind == SIM_SWAP) {
		fault.port2 = other_leaf(sim, fault.port, random);
		if (fault.port2 < 0)
			return;
	}
	if ((kind == SIM_PORT_RATE || kind == SIM_PORT_LOSS || kind == SIM_LINK_RATE ||
	     kind == SIM_LINK_LOSS) &&
	    between(random, 0, 4) == 0)
		fault.share = 0.2 + 0.4 * sim_uniform(random);
	if (!is_masked(sim, &fault))
		sim_add(sim, fault);
}

static struct bu_report
campaign(struct sim *sim, uint64_t seed)
{
	struct bu_site site = sim_site(sim);
	struct bu_localise_opts opts = {.seed = seed, .lean = 1};
	struct bu_report report;
	struct bu_err err = {0};

	if (bu_localise(&sim->plan, &site, &opts, &report, &err) != 0) {
		fprintf(stderr, "localise: %s\n", err.text);
		exit(1);
	}
	return report;
}

static void
show_wrong(const struct sim *sim, const struct bu_accusation *a)
{
	bu_autofree char *text = bu_accusation_text(&sim->plan, a);

	fprintf(stderr,
		"  wrong: what %d port %d (leaf %d) node %d leaf %d spine %d dir %d: "
		"%s\n",
		(int)a->what, a->port, sim->plan.leaf_of[a->port], a->node, a->leaf,
		a->spine, a->dir, text);
}

static void
show_fault(const char *what, const struct sim *sim, const struct sim_fault *f)
{
	fprintf(stderr,
		"  %s %s port %d (leaf %d) port2 %d node %d leaf %d spine %d dir %d "
		"factor %.5f share %.2f\n",
		what, sim_kind_name(f->kind), f->port, sim->plan.leaf_of[f->port],
		f->port2, f->node, f->leaf, f->spine, f->dir, f->factor, f->share);
}

static struct row *
row_of(struct tally *tally, const struct sim *sim, int fault)
{
	const struct sim_fault *its = &sim->faults[fault];

	return !sim_observable(sim, its) ? &tally->blind[its->kind]
	       : its->share >= 1         ? &tally->lasting[its->kind]
	       : sim->shown[fault]       ? &tally->fickle[its->kind]
					 : &tally->absent[its->kind];
}

static void
score(struct tally *tally, const struct sim *sim, const struct bu_report *report,
      int verbose)
{
	int found[SIM_FAULTS_MAX] = {0}, wrong = 0;

	for (int i = 0; i < report->count; i++) {
		int fault = sim_judge(sim, &report->accusations[i]);

		tally->right += fault >= 0;
		tally->wrong += fault < 0;
		wrong |= fault < 0;
		if (fault < 0 && verbose)
			show_wrong(sim, &report->accusations[i]);
		for (int k = 0; k < sim->fault_count; k++)
			found[k] |= sim_names(sim, &sim->faults[k],
					      &report->accusations[i]);
	}
	for (int i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *fault = &sim->faults[i];
		struct row *row = row_of(tally, sim, i);

		row->faults++;
		row->found += found[i];
		if (verbose && (wrong || !found[i]))
			show_fault(found[i] ? "found" : "missed", sim, fault);
	}
	tally->undecided += report->undecided;
	tally->rounds[tally->scenarios] =
		(float)(report->rounds[0] + report->rounds[1] + report->rounds[2] +
			report->rounds[3]);
}

static int
is_bad_node(const struct sim *sim, int node)
{
	for (int i = 0; i < sim->fault_count; i++) {
		const struct sim_fault *f = &sim->faults[i];
		int rails = sim->plan.rails;

		if (f->kind == SIM_CLOCK || f->kind == SIM_LOOPBACK ||
				    f->kind == SIM_LOOPBACK_HALF
			    ? f->node == node
			    : f->kind <= SIM_SWAP && (f->port / rails == node ||
						      (f->kind == SIM_SWAP &&
						       f->port2 / rails == node)))
			return 1;
	}
	return 0;
}

/* The rivals name nodes; of leaves, links and spines they know nothing, so only the
 * nodes with a fault of their own count for their recall. */
static void
run_policies(struct tally *tally, struct sim *sim)
{
	static void (*const policies[2])(struct sim *, unsigned char *) = {
		sim_policy_fifteen, sim_policy_one_and_one};
	bu_autofree unsigned char *accused = bu_xcalloc((size_t)sim->plan.nodes + 1, 1);

	for (int p = 0; p < 2; p++) {
		sim->rounds = 0;
		memset(accused, 0, (size_t)sim->plan.nodes);
		policies[p](sim, accused);
		for (int node = 0; node < sim->plan.nodes; node++) {
			int bad = is_bad_node(sim, node);

			tally->policies[p].faults += bad;
			tally->policies[p].found += bad && accused[node];
			tally->policy_right[p] += bad && accused[node];
			tally->policy_wrong[p] += !bad && accused[node];
			tally->clean_policy[p] +=
				sim->fault_count == 0 && accused[node];
		}
	}
}

static void
run_faulty(struct tally *tally, uint64_t seed, int verbose)
{
	uint64_t random = seed;
	struct sim sim;
	struct bu_report report;
	int faults;

	make_fabric(&sim, &random);
	faults = between(&random, 1, 3) + sim.plan.nodes / 64;
	for (int i = 0; i < faults; i++)
		add_fault(&sim, &random);
	report = campaign(&sim, seed);
	if (verbose && (report.count || sim.fault_count))
		fprintf(stderr,
			"scenario %llu: nodes %d rails %d leaves %d spines %d sprayed "
			"%d "
			"switch %d lldp %d via %d; rounds %d %d %d %d\n",
			(unsigned long long)seed, sim.plan.nodes, sim.plan.rails,
			sim.plan.leaves, sim.plan.spines, sim.plan.sprayed,
			sim.plan.has_switch, sim.plan.has_lldp, !sim.ignores_via,
			report.rounds[0], report.rounds[1], report.rounds[2],
			report.rounds[3]);
	score(tally, &sim, &report, verbose);
	bu_report_fini(&report);
	run_policies(tally, &sim);
	tally->scenarios++;
	sim_fini(&sim);
}

static void
run_clean(struct tally *tally, uint64_t seed, int verbose)
{
	uint64_t random = seed;
	struct sim sim;
	struct bu_report report;

	make_fabric(&sim, &random);
	report = campaign(&sim, seed);
	tally->clean++;
	tally->clean_accused += report.count;
	for (int i = 0; i < report.count && verbose; i++)
		show_wrong(&sim, &report.accusations[i]);
	bu_report_fini(&report);
	run_policies(tally, &sim);
	sim_fini(&sim);
}

static double
share(int good, int all)
{
	return all ? (double)good / all : 0;
}

static void
print_kinds(const char *title, const struct row *rows, struct row *sum)
{
	printf("%s\n", title);
	for (int kind = 0; kind < SIM_KINDS_COUNT; kind++) {
		if (rows[kind].faults == 0)
			continue;
		printf("  %-20s %5d of %5d  %.3f\n", sim_kind_name(kind),
		       rows[kind].found, rows[kind].faults,
		       share(rows[kind].found, rows[kind].faults));
		sum->faults += rows[kind].faults;
		sum->found += rows[kind].found;
	}
}

static void
print_policy(const struct tally *tally, int p, const char *name)
{
	int right = tally->policy_right[p], all = right + tally->policy_wrong[p];

	printf("%s: %d accusations; healthy nodes accused in clean runs: %d\n", name,
	       all, tally->clean_policy[p]);
	printf("precision, %s: %.3f share\n", name, share(right, all));
	printf("recall of nodes, %s: %.3f share\n", name,
	       share(tally->policies[p].found, tally->policies[p].faults));
}

/* The kind that is found least, for the goal that holds in each. */
static void
print_least(const struct tally *tally)
{
	const struct row *rows[] = {tally->lasting, tally->fickle};
	double least = 1;
	const char *name = "none";

	for (int i = 0; i < 2 * SIM_KINDS_COUNT; i++) {
		const struct row *row = &rows[i % 2][i / 2];

		if (row->faults == 0 || share(row->found, row->faults) >= least)
			continue;
		least = share(row->found, row->faults);
		name = sim_kind_name((enum sim_kind)(i / 2));
	}
	printf("found least: %s\n", name);
	printf("recall, kind found least: %.4f share (goal 0.97)\n", least);
}

static void
print(const struct tally *tally)
{
	int all = tally->right + tally->wrong;
	struct row lasting = {0}, blind = {0}, fickle = {0}, absent = {0};
	double low, high;

	sim_wilson(tally->right, all, &low, &high);
	print_kinds("lasting faults that can be observed", tally->lasting, &lasting);
	print_kinds("what comes and goes, and spoiled a figure", tally->fickle,
		    &fickle);
	print_kinds("what comes and goes, and was never there when it was measured",
		    tally->absent, &absent);
	print_kinds("sprayed without switch counters, or alone", tally->blind, &blind);
	printf("scenarios %d, accusations %d, wrong %d, suspects left undecided %d\n",
	       tally->scenarios, all, tally->wrong, tally->undecided);
	printf("rounds, median: %.0f (goal 32)\n",
	       bu_stats_median(tally->rounds, (size_t)tally->scenarios));
	print_policy(tally, 0, "15 random pairings");
	print_policy(tally, 1, "1 random and 1 again");
	printf("clean fabrics: %d runs\n", tally->clean);
	printf("accused in clean runs: %d parts (goal 1)\n", tally->clean_accused);
	printf("recall, unobservable: %.3f share\n", share(blind.found, blind.faults));
	printf("recall, intermittent, with those never there: %.3f share\n",
	       share(fickle.found, fickle.faults + absent.faults));
	printf("recall, intermittent: %.3f share (goal 0.97)\n",
	       share(fickle.found, fickle.faults));
	printf("recall, lasting: %.4f share (goal 0.97)\n",
	       share(lasting.found, lasting.faults));
	print_least(tally);
	printf("precision, Wilson interval from: %.4f share\n", low);
	printf("precision, Wilson interval to: %.4f share\n", high);
	printf("precision: %.4f share (goal 0.99)\n", share(tally->right, all));
}

static void
add_rows(struct row *sum, const struct row *rows, int count)
{
	for (int i = 0; i < count; i++) {
		sum[i].faults += rows[i].faults;
		sum[i].found += rows[i].found;
	}
}

static void
add(struct tally *sum, const struct tally *one)
{
	add_rows(sum->lasting, one->lasting, SIM_KINDS_COUNT);
	add_rows(sum->blind, one->blind, SIM_KINDS_COUNT);
	add_rows(sum->fickle, one->fickle, SIM_KINDS_COUNT);
	add_rows(sum->absent, one->absent, SIM_KINDS_COUNT);
	add_rows(sum->policies, one->policies, 2);
	sum->right += one->right;
	sum->wrong += one->wrong;
	sum->undecided += one->undecided;
	sum->clean += one->clean;
	sum->clean_accused += one->clean_accused;
	for (int p = 0; p < 2; p++) {
		sum->policy_right[p] += one->policy_right[p];
		sum->policy_wrong[p] += one->policy_wrong[p];
		sum->clean_policy[p] += one->clean_policy[p];
	}
	memcpy(sum->rounds + sum->scenarios, one->rounds,
	       (size_t)one->scenarios * sizeof(*sum->rounds));
	sum->scenarios += one->scenarios;
}

static void
run_seed(struct tally *tally, uint64_t seed, int faulty, int clean)
{
	int verbose = getenv("SIM_VERBOSE") != NULL;

	for (int i = 0; i < faulty; i++)
		run_faulty(tally, seed * 1000003 + (uint64_t)i, verbose);
	for (int i = 0; i < clean; i++)
		run_clean(tally, seed * 7000003 + (uint64_t)i, verbose);
}

int
main(int argc, char **argv)
{
	const char *seeds = argc > 1 ? argv[1] : "1";
	int faulty = argc > 2 ? atoi(argv[2]) : 300;
	int clean = argc > 3 ? atoi(argv[3]) : 300;
	size_t count = 1;
	struct tally sum = {0};

	for (const char *at = seeds; (at = strchr(at, ',')); at++)
		count++;
	sum.rounds = bu_xcalloc(count * (size_t)faulty + 1, sizeof(*sum.rounds));
	for (const char *at = seeds; at;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		struct tally one = {0};

		one.rounds = bu_xcalloc((size_t)faulty + 1, sizeof(*one.rounds));
		run_seed(&one, strtoull(at, NULL, 10), faulty, clean);
		if (count > 1) {
			printf("seed %llu\n", strtoull(at, NULL, 10));
			print(&one);
			printf("\n");
			fflush(stdout);
		}
		add(&sum, &one);
		free(one.rounds);
	}
	if (count > 1)
		printf("%zu seeds together\n", count);
	print(&sum);
	free(sum.rounds);
	return 0;
}
