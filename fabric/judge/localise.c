/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stages of a campaign, in their order. Called by the gate and rehearsals.
 * Invariants: only ports that were good inside their leaf measure links. A suspect is
 * accused only if it stands after stage C.
 */
#include "fabric/judge/localise.h"

#include <string.h>

#include "fabric/judge/campaign.h"

/* READINGS: least readings of the switches. EXTRA: rounds of stage D. */
enum { READINGS = 10, EXTRA = 4 };

static void
decode(struct campaign *c)
{
	struct bu_flows flows = bu_campaign_flows(c);

	bu_limits_learn(&c->limits, &flows);
	memset(c->parts, 0, (size_t)c->parts_count * sizeof(*c->parts));
	bu_parts_decode(&flows, &c->limits, c->parts);
}

static void
suspect_all(struct campaign *c)
{
	struct bu_flows flows = bu_campaign_flows(c);
	bu_autofree unsigned char *bits = bu_xcalloc((size_t)c->parts_count, 1);

	bu_parts_suspect(&flows, &c->limits, c->parts, c->trusted_parts, bits);
	for (int part = 0; part < c->parts_count; part++) {
		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			if (bits[part] >> s & 1)
				bu_campaign_suspect(c, part, s);
		}
	}
}

/* Absent ports keep their places: the other pairs of a round stay the same. */
static void
renew_order(struct campaign *c)
{
	int ports = bu_topology_ports(c->t);
	bu_autofree unsigned char *placed = bu_xcalloc((size_t)ports, 1);

	for (int port = 0; port < ports; port++)
		placed[port] =
			c->usable[port] ||
			(c->opts->absent && c->opts->absent[port / c->t->rails] &&
			 !(c->opts->no_port && c->opts->no_port[port]));
	bu_order_fini(&c->order);
	c->order = (struct bu_order){
		.leaves = c->t->leaves, .rails = c->t->rails, .spines = c->t->spines};
	bu_order_init(&c->order, c->leaf_of, ports, placed);
	bu_order_seed(&c->order, c->seed);
}

static int
is_anything_fickle(const struct campaign *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (bu_campaign_is_fickle(c, &c->flows[i]))
			return 1;
	return 0;
}

static int
wants_extra(struct campaign *c)
{
	if (!c->opts->lean)
		return 1;
	decode(c);
	return is_anything_fickle(c);
}

static int
cross_rounds(struct campaign *c, const struct bu_order *proven, struct bu_err *err)
{
	int rounds = bu_campaign_cross_rounds(c, proven), rc = 0;
	size_t before = c->count;

	c->qps_cross = 1;
	if (rounds > 0)
		rc = bu_campaign_cross_round(c, STAGE_B, proven, 0, err);
	if (rc == 0 && !bu_campaign_one_qp_is_enough(c)) {
		c->qps_cross = 4;
		c->count = before;
		memset(c->watched, 0, (size_t)bu_topology_ports(c->t));
		bu_campaign_watch(c, 0);
		rc = bu_campaign_cross_round(c, STAGE_B, proven, 0, err);
	}
	for (int round = 1; rc == 0 && round < rounds; round++)
		rc = bu_campaign_cross_round(c, STAGE_B, proven, round, err);
	return rc;
}

/* Intermittent faults show under load, so each port that can be is in a flow: some load
 * links, the others run inside their leaf. rounds: of stage A. */
static int
last_rounds(struct campaign *c, const struct bu_order *proven, int rounds,
	    struct bu_err *err)
{
	int first = bu_campaign_cross_rounds(c, proven), rc = 0;

	c->fills = 1;
	for (int round = 0; rc == 0 && round < EXTRA && rounds > 0; round++)
		rc = first > 0
			     ? bu_campaign_cross_round(c, STAGE_D, proven,
						       first + round, err)
			     : bu_campaign_leaf_round(c, STAGE_D, rounds + round, err);
	return rc;
}

/* rounds: of stage A. */
static int
run_links(struct campaign *c, int rounds, struct bu_err *err)
{
	int switches = bu_campaign_has_switches(c), first, rc;
	struct bu_order proven;

	bu_campaign_proven_order(c, &proven);
	proven.sprayed = c->t->sprayed;
	bu_campaign_watch(c, 0);
	first = bu_campaign_cross_rounds(c, &proven);
	rc = cross_rounds(c, &proven, err);
	if (rc == 0 && switches)
		rc = bu_campaign_switches(c, &proven, READINGS, err);
	if (rc == 0 && (!switches || !first) && wants_extra(c))
		rc = last_rounds(c, &proven, rounds, err);
	if (rc == 0 && switches)
		rc = bu_campaign_decide_links(c, &proven, err);
	bu_order_fini(&proven);
	return rc;
}

static int
run_stages(struct campaign *c, int partners, struct bu_err *err)
{
	int rounds, rc;

	renew_order(c);
	rounds = bu_stage_leaf_rounds(&c->order, partners);
	rc = bu_campaign_leaf_stage(c, partners, err);
	if (rc != 0 && !c->waiting)
		return rc;
	c->leaf_done = 1;
	bu_campaign_doubt(c);
	decode(c);
	if (rc > 0) {
		suspect_all(c); /* of the results so far */
		return rc;
	}
	renew_order(c);
	rc = run_links(c, rounds, err);
	if (rc < 0)
		return rc;
	bu_campaign_doubt(c);
	decode(c);
	suspect_all(c);
	return rc != 0 ? rc : bu_campaign_retest(c, err);
}

/* Is a symptom of the port open or accused? */
static int
is_suspected(const struct campaign *c, int port)
{
	for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
		int place = c->suspect_of[2 * port * BU_SYMPTOMS_COUNT + i];

		if (place >= 0 && c->suspects[place].state >= 0)
			return 1;
	}
	return 0;
}

/* Sets the state of each port, after stage A or while it waits for results. A half is
 * good when a flow through it was good. */
static void
note_ports(const struct campaign *c, struct bu_report *report)
{
	int ports = bu_topology_ports(c->t);
	bu_autofree unsigned char *good = bu_xcalloc((size_t)ports, 1);

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];

		if (flow->doubt || bu_flow_symptoms(&c->limits, c->leaf_of, flow))
			continue;
		good[flow->src] |= BU_DIR_OUT;
		good[flow->dst] |= BU_DIR_IN;
	}
	for (int port = 0; port < ports; port++) {
		if (is_suspected(c, port))
			report->ports[port] = BU_PORT_SUSPECTED;
		else if (c->usable[port] && good[port] == (BU_DIR_OUT | BU_DIR_IN) &&
			 !c->seeks[port] && (!c->waiting || c->lacks[port] <= 0))
			report->ports[port] = BU_PORT_GOOD;
	}
}

int
bu_localise(const struct bu_topology *topology, const struct bu_site *site,
	    const struct bu_localise_opts *opts, struct bu_report *ret,
	    struct bu_err *err)
{
	size_t ports = (size_t)bu_topology_ports(topology);
	struct bu_report report = {.ports = bu_xcalloc(ports, 1)};
	struct campaign c = {.t = topology,
			     .site = site,
			     .opts = opts,
			     .seed = opts->seed,
			     .report = &report};
	int partners = opts->partners ? opts->partners
				      : bu_stage_partners((int)ports, 0.1, 0.01);
	int rc;

	bu_campaign_init(&c);
	rc = bu_campaign_lldp(&c, err);
	if (rc == 0)
		rc = run_stages(&c, partners, err);
	if (rc == 0)
		bu_campaign_accuse(&c);
	if (rc >= 0 && c.leaf_done)
		note_ports(&c, &report);
	bu_campaign_fini(&c);
	if (rc < 0)
		bu_report_fini(&report);
	else
		*ret = report;
	return rc;
}

void
bu_report_fini(struct bu_report *report)
{
	for (int i = 0; i < report->count; i++)
		free(report->accusations[i].of);
	free(report->accusations);
	free(report->ports);
	*report = (struct bu_report){0};
}
