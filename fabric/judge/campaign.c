/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a campaign, and its rounds at the site. Called by every stage.
 * Invariant: flows are kept in the order in which they were asked for, so the same
 * answers lead to the same state.
 */
#include "fabric/judge/campaign.h"

#include <string.h>

/* Finds a UDP source port whose path takes the spine flow->via. */
static int
find_source_port(struct campaign *c, struct bu_flow *flow, struct bu_err *err)
{
	enum { TRIED = 64 };
	int spines[TRIED];

	if (c->site->trace(c->site->arg, flow, TRIED, spines, err) != 0)
		return -1;
	for (int i = 0; i < TRIED; i++) {
		if (spines[i] != flow->via)
			continue;
		flow->sport = (uint16_t)(flow->sport + i);
		break;
	}
	return 0;
}

/* A path in the answer wins. Without one the flow is taken to have used the spine that
 * was asked for, unless most flows ignore that. */
static void
settle_paths(struct campaign *c, struct bu_flow *flows, int count)
{
	int crossing = 0, astray = 0;

	for (int i = 0; i < count; i++) {
		if (flows[i].via < 0)
			continue;
		crossing++;
		astray += flows[i].path != BU_PATH_UNKNOWN &&
			  flows[i].path != flows[i].via;
		if (flows[i].path == BU_PATH_UNKNOWN && !c->ignores_via)
			flows[i].path = flows[i].via;
	}
	if (2 * astray > crossing)
		c->ignores_via = 1;
}

/* Flows of one round that share a link share its rate: their results do not count. */
static void
drop_collisions(struct campaign *c, struct bu_flow *flows, int count)
{
	bu_autofree unsigned char *used =
		bu_xcalloc((size_t)c->parts_count, sizeof(*used));
	int list[BU_FLOW_PARTS_MAX];

	for (int pass = 0; pass < 2 && !c->t->sprayed; pass++) {
		for (int i = 0; i < count; i++) {
			int n = bu_flow_parts(c->t, c->leaf_of, &flows[i], list);

			for (int k = 2; k < n; k++) {
				if (pass == 0 && used[list[k]] < 2)
					used[list[k]]++;
				else if (pass == 1 && used[list[k]] > 1)
					flows[i].doubt |= BU_DOUBT_NONE;
			}
		}
	}
}

int
bu_campaign_round(struct campaign *c, enum stage stage, struct bu_flow *flows,
		  int count, struct bu_err *err)
{
	uint64_t state = c->seed ^ (uint64_t)c->count;
	int rc;

	if (count == 0)
		return 0;
	for (int i = 0; i < count; i++) {
		int crosses = c->leaf_of[flows[i].src] != c->leaf_of[flows[i].dst];

		flows[i].round =
			(uint16_t)(c->report->rounds[0] + c->report->rounds[1] +
				   c->report->rounds[2] + c->report->rounds[3]);
		flows[i].sport = (uint16_t)(49152 + bu_schedule_random(&state) % 16000);
		flows[i].qps = (uint8_t)(crosses ? c->qps_cross : 4);
		flows[i].path = BU_PATH_UNKNOWN;
		if (flows[i].via >= 0 && c->ignores_via && c->site->trace &&
		    find_source_port(c, &flows[i], err) != 0)
			return -1;
	}
	rc = c->site->round(c->site->arg, flows, count, err);
	/* With `known`, stage A goes on with the results that are there. */
	if (rc < 0 || (rc > 0 && (stage != STAGE_A || !c->site->known)))
		return rc;
	settle_paths(c, flows, count);
	drop_collisions(c, flows, count);
	c->report->rounds[stage]++;
	c->report->flows += count;
	c->flows = bu_xgrow(c->flows, &c->cap, c->count + (size_t)count,
			    sizeof(*c->flows));
	memcpy(c->flows + c->count, flows, (size_t)count * sizeof(*flows));
	c->count += (size_t)count;
	return 0;
}

struct suspect *
bu_campaign_suspect(struct campaign *c, int part, int symptom)
{
	int *place = &c->suspect_of[part * BU_SYMPTOMS_COUNT + symptom];

	if (*place < 0) {
		c->suspects = bu_xgrow(c->suspects, &c->suspect_cap,
				       c->suspect_count + 1, sizeof(*c->suspects));
		*place = (int)c->suspect_count;
		c->suspects[c->suspect_count++] =
			(struct suspect){.part = part, .symptom = symptom};
	}
	return &c->suspects[*place];
}

int
bu_campaign_spoils(const struct campaign *c, int part, int symptom)
{
	int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + symptom];

	return place >= 0 &&
	       (c->suspects[place].state > 0 || c->suspects[place].with_port);
}

struct bu_flows
bu_campaign_flows(const struct campaign *c)
{
	return (struct bu_flows){c->t, c->leaf_of, c->flows, c->count};
}

int
bu_campaign_lldp(struct campaign *c, struct bu_err *err)
{
	bu_autofree int *heard = NULL;
	int ports = bu_topology_ports(c->t);

	memcpy(c->leaf_of, c->t->leaf_of, (size_t)ports * sizeof(int));
	if (!c->site->lldp || !c->t->has_lldp)
		return 0;
	heard = bu_xcalloc((size_t)ports, sizeof(*heard));
	for (int i = 0; i < ports; i++)
		heard[i] = -1;
	if (c->site->lldp(c->site->arg, heard, err) != 0)
		return -1;
	for (int i = 0; i < ports; i++) {
		if (heard[i] >= 0)
			c->leaf_of[i] = heard[i];
	}
	return 0;
}

/* Trusts the ports of trusted nodes; no link is trusted. Ports of absent nodes and
 * missing ports are not usable. */
static void
trust(struct campaign *c)
{
	const struct bu_localise_opts *opts = c->opts;

	c->trusted_parts = bu_xcalloc((size_t)c->parts_count, 1);
	for (int port = 0; port < bu_topology_ports(c->t); port++) {
		int node = port / c->t->rails;

		if (opts->trusted && opts->trusted[node])
			c->trusted_parts[2 * port] = c->trusted_parts[2 * port + 1] = 1;
		if ((opts->absent && opts->absent[node]) ||
		    (opts->no_port && opts->no_port[port]))
			c->usable[port] = 0;
	}
}

void
bu_campaign_init(struct campaign *c)
{
	size_t ports = (size_t)bu_topology_ports(c->t);

	c->parts_count = bu_parts_count(c->t);
	c->qps_cross = 1;
	c->leaf_of = bu_xcalloc(ports, sizeof(*c->leaf_of));
	c->usable = bu_xcalloc(ports, 1);
	memset(c->usable, 1, ports);
	c->watched = bu_xcalloc(ports, 1);
	c->seeks = bu_xcalloc(ports, 1);
	c->doubted = bu_xcalloc((size_t)c->t->nodes, 1);
	c->parts = bu_xcalloc((size_t)c->parts_count, sizeof(*c->parts));
	c->good_readings =
		bu_xcalloc((size_t)c->parts_count, sizeof(*c->good_readings));
	c->suspect_of = bu_xcalloc((size_t)c->parts_count * BU_SYMPTOMS_COUNT,
				   sizeof(*c->suspect_of));
	for (int i = 0; i < c->parts_count * BU_SYMPTOMS_COUNT; i++)
		c->suspect_of[i] = -1;
	c->limits.reject = c->opts->reject;
	c->limits.lat_limit_us = c->opts->lat_max_us;
	trust(c);
}

void
bu_campaign_fini(struct campaign *c)
{
	bu_order_fini(&c->order);
	free(c->leaf_of);
	free(c->usable);
	free(c->watched);
	free(c->seeks);
	free(c->doubted);
	free(c->trusted_parts);
	free(c->parts);
	free(c->good_readings);
	free(c->suspect_of);
	free(c->suspects);
	free(c->flows);
	free(c->lacks);
}

static struct bu_flow
flow_of(int src, int dst, int via)
{
	return (struct bu_flow){.src = src, .dst = dst, .via = via};
}

int
bu_campaign_pair(const struct campaign *c, int a, int b, int via, struct bu_flow *flows)
{
	if (!c->usable[a] || !c->usable[b])
		return 0;
	flows[0] = flow_of(a, b, via);
	flows[1] = flow_of(b, a, via);
	return 2;
}

int
bu_campaign_count_lacks(const struct campaign *c, size_t first, int *lacks)
{
	int lacking = 0;

	for (size_t i = first; i < c->count; i++) {
		if (!(c->flows[i].doubt & BU_DOUBT_NONE))
			lacks[c->flows[i].src]--;
	}
	for (int port = 0; port < bu_topology_ports(c->t); port++)
		lacking += c->usable[port] && lacks[port] > 0;
	return lacking;
}
