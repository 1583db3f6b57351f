/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model VERDICT KIND [SPRAYED [IGNORES_VIA [GROUP]]]: a small fabric of 4 leaves a rail
 * (GROUP 1: of one leaf a rail, whose rails reach each other; 2: do not) with one fault
 * of that kind (a number of enum sim_kind; -1 = clean) that speaks the protocol of
 * `bringup fabric rehearse` on standard input and output. Writes "right N", "wrong" or
 * "none" to the file VERDICT when it is told who is accused.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/sim/sim.h"

static json_t *
plan(const struct sim *sim)
{
	const struct bu_topology *t = &sim->plan;
	json_t *leaf_of = json_array();

	for (int port = 0; port < bu_topology_ports(t); port++) {
		if (port % t->rails == 0)
			json_array_append_new(leaf_of, json_array());
		json_array_append_new(
			json_array_get(leaf_of, (size_t)(port / t->rails)),
			json_integer(t->leaf_of[port]));
	}
	return json_pack("{s:i, s:i, s:i, s:i, s:o, s:f, s:s, s:b, s:b, s:b}", "nodes",
			 t->nodes, "rails", t->rails, "leaves", t->leaves, "spines",
			 t->spines, "leaf_of", leaf_of, "limit_gbps", t->limit_gbps,
			 "routing", t->sprayed ? "sprayed" : "static", "across",
			 t->across, "lldp", t->has_lldp, "switch", t->has_switch);
}

static int
port_of(const struct sim *sim, const json_t *test, const char *end)
{
	json_int_t rail = bu_json_int(test, "rail", 0);

	if (strcmp(end, "dst") == 0)
		rail = bu_json_int(test, "dst_rail", rail);
	return (int)(bu_json_int(test, end, 0) * sim->plan.rails + rail);
}

static json_t *
result(const struct sim *sim, const struct bu_flow *flow)
{
	int crosses = sim->leaf_of[flow->src] != sim->leaf_of[flow->dst];
	json_t *path = flow->path < 0 ? json_null()
				      : json_pack("[i, i, i]", sim->leaf_of[flow->src],
						  flow->path, sim->leaf_of[flow->dst]);

	if (!crosses || sim->plan.sprayed) {
		json_decref(path);
		path = json_null();
	}
	return json_pack(
		"{s:f, s:f, s:f, s:f, s:f, s:f, s:i, s:o, s:{s:{s:i}, s:{s:i, s:i}}}",
		"rate_gbps", (double)flow->rate_gbps, "lat_us", (double)flow->lat_us,
		"lat99_us", (double)flow->lat99_us, "seconds", 2.0, "seconds_dst",
		flow->doubt & BU_DOUBT_CLOCK ? 2.06 : 2.0, "bytes",
		(double)flow->rate_gbps * 2e9 / 8, "mtu", flow->mtu, "path", path,
		"counters", "src", "local_ack_timeout_err", 0, "dst", "out_of_sequence",
		(int)flow->lost, "np_cnp_sent", 7);
}

static json_t *
round_answer(struct sim *sim, const json_t *tests)
{
	int count = (int)json_array_size(tests);
	struct bu_site site = sim_site(sim);
	bu_autofree struct bu_flow *flows =
		bu_xcalloc((size_t)count + 1, sizeof(*flows));
	json_t *list = json_array();

	for (int i = 0; i < count; i++) {
		const json_t *test = json_array_get(tests, (size_t)i);

		flows[i] = (struct bu_flow){
			.src = port_of(sim, test, "src"),
			.dst = port_of(sim, test, "dst"),
			.via = (int)bu_json_int(test, "via", -1),
			.qps = (uint8_t)bu_json_int(test, "qps", 1),
			.sport = (uint16_t)bu_json_int(test, "sport", 0)};
	}
	site.round(site.arg, flows, count, NULL);
	for (int i = 0; i < count; i++)
		json_array_append_new(list, result(sim, &flows[i]));
	return json_pack("{s:o}", "results", list);
}

static json_t *
trace_answer(struct sim *sim, const json_t *request)
{
	int spines[256], count = (int)bu_json_int(request, "count", 1);
	struct bu_site site = sim_site(sim);
	json_t *list = json_array();

	count = count > 256 ? 256 : count;
	site.trace(
		site.arg,
		&(struct bu_flow){.src = port_of(sim, request, "src"),
				  .dst = port_of(sim, request, "dst"),
				  .sport = (uint16_t)bu_json_int(request, "sport", 0)},
		count, spines, NULL);
	for (int i = 0; i < count; i++)
		json_array_append_new(list, spines[i] < 0 ? json_null()
							  : json_integer(spines[i]));
	return json_pack("{s:o}", "paths", list);
}

static json_t *
lldp_answer(const struct sim *sim)
{
	json_t *list = json_array();

	for (int port = 0; port < bu_topology_ports(&sim->plan); port++)
		json_array_append_new(list,
				      json_pack("{s:i, s:i, s:i, s:s}", "node",
						port / sim->plan.rails, "rail",
						port % sim->plan.rails, "leaf",
						sim->leaf_of[port], "port", "swp1"));
	return list;
}

static json_t *
switch_answer(struct sim *sim)
{
	int links = 2 * sim->plan.leaves * sim->plan.spines;
	struct bu_site site = sim_site(sim);
	bu_autofree struct bu_link_count *counts =
		bu_xcalloc((size_t)links + 1, sizeof(*counts));
	/* After the first time few leaves answer, by turns; each counts for long. */
	int is_patchy = getenv("MODEL_IS_PATCHY") != NULL;
	static double total[1024];
	static int times;
	int only = is_patchy && times++ ? times % 7 : -1;
	json_t *list = json_array();

	site.switches(site.arg, counts, NULL);
	for (int i = 0; i < links && i < 1024; i++) {
		total[i] += counts[i].bad;
		if (only >= 0 && i / 2 / sim->plan.spines % 7 != only)
			continue;
		json_array_append_new(list,
				      json_pack("{s:i, s:i, s:s, s:f}", "leaf",
						i / 2 / sim->plan.spines, "spine",
						i / 2 % sim->plan.spines, "dir",
						i % 2 ? "down" : "up", "xmit_discards",
						total[i] + (is_patchy ? 3e11 * i : 0)));
	}
	return list;
}

static int
is_right(const struct sim *sim, const json_t *one)
{
	const struct sim_fault *f = &sim->faults[0];
	const char *what = bu_json_str(one, "what", ""),
		   *dir = bu_json_str(one, "dir", "");
	int port = port_of(sim, one, "node");
	json_t *inner;
	size_t i;

	json_array_foreach (json_object_get(one, "of"), i, inner) {
		if (is_right(sim, inner))
			return 1;
	}
	if (strcmp(what, "endpoint") == 0)
		return (f->kind <= SIM_SWAP && port == f->port &&
			(f->kind != SIM_PORT_RATE || strcmp(dir, "tx") == 0)) ||
		       (f->kind == SIM_SWAP && port == f->port2);
	if (strcmp(what, "inconclusive") == 0)
		return (f->kind == SIM_CLOCK || f->kind == SIM_LOOPBACK ||
			f->kind == SIM_LOOPBACK_HALF) &&
		       bu_json_int(one, "node", -1) == f->node;
	if (strcmp(what, "link") == 0)
		return (f->kind == SIM_LINK_RATE || f->kind == SIM_LINK_LOSS) &&
		       bu_json_int(one, "leaf", -1) == f->leaf &&
		       bu_json_int(one, "spine", -1) == f->spine &&
		       strcmp(dir, "up") == 0;
	if (strcmp(what, "leaf") == 0)
		return f->kind == SIM_LEAF_RATE &&
		       bu_json_int(one, "leaf", -1) == f->leaf;
	return f->kind == SIM_SPINE_RATE && bu_json_int(one, "spine", -1) == f->spine;
}

static void
write_verdict(const struct sim *sim, const json_t *accusations, const char *path)
{
	FILE *out = fopen(path, "w");
	int right = 0;
	size_t i, count = json_array_size(accusations);
	json_t *one;

	json_array_foreach (accusations, i, one)
		right += is_right(sim, one) && bu_json_str(one, "cause", NULL);
	if (!out)
		return;
	if (count == 0)
		fputs("none", out);
	else if ((size_t)right == count)
		fprintf(out, "right %d", right);
	else
		fputs("wrong", out);
	fclose(out);
}

static json_t *
answer(struct sim *sim, const json_t *request, const char *verdict)
{
	const char *op = bu_json_str(request, "op", "");

	if (strcmp(op, "plan") == 0)
		return plan(sim);
	if (strcmp(op, "round") == 0)
		return round_answer(sim, json_object_get(request, "tests"));
	if (strcmp(op, "trace") == 0)
		return trace_answer(sim, request);
	if (getenv("MODEL_IS_BARE") && strcmp(op, "accuse") != 0)
		return json_null();
	if (strcmp(op, "lldp") == 0)
		return lldp_answer(sim);
	if (strcmp(op, "switch") == 0)
		return switch_answer(sim);
	if (strcmp(op, "accuse") != 0)
		return json_pack("{s:s}", "error", "no such op");
	write_verdict(sim, json_object_get(request, "accusations"), verdict);
	return json_pack("{s:b}", "ok", 1);
}

int
main(int argc, char **argv)
{
	struct sim_fault fault = {.kind = (enum sim_kind)(argc > 2 ? atoi(argv[2]) : 0),
				  .port = 9,
				  .port2 = 21,
				  .node = 5,
				  .leaf = 4,
				  .spine = 2,
				  .dir = BU_DIR_OUT,
				  .factor = 0.7};
	char *line = NULL;
	int group = argc > 5 ? atoi(argv[5]) : 0;
	size_t size = 0;
	struct sim sim;

	if (fault.kind == SIM_CLOCK || fault.kind == SIM_LOOPBACK ||
	    fault.kind == SIM_LOOPBACK_HALF)
		fault.factor = 1.03;
	if (fault.kind == SIM_PORT_LOSS || fault.kind == SIM_LINK_LOSS)
		fault.factor = 1e-4;
	if (fault.kind == SIM_PORT_LATENCY)
		fault.factor = 2;
	fault.leaf = group ? 1 : fault.leaf;
	sim_init(&sim, group ? 16 : 32, group ? 4 : 2, group ? 16 : 8, 4, 42);
	sim.plan.across = group == 1;
	sim.plan.sprayed = argc > 3 && atoi(argv[3]);
	sim.ignores_via = argc > 4 && atoi(argv[4]);
	if (argc > 2 && atoi(argv[2]) >= 0)
		sim_add(&sim, fault);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	while (getline(&line, &size, stdin) > 0) {
		bu_autojson json_t *request = json_loads(line, 0, NULL);
		bu_autojson json_t *reply =
			answer(&sim, request, argc > 1 ? argv[1] : "");

		json_dumpf(reply, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		fputc('\n', stdout);
		fflush(stdout);
	}
	free(line);
	sim_fini(&sim);
	return 0;
}
