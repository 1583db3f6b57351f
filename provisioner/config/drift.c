/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the links that a profile means with those that the kernel of the node has;
 * called by the API for `node why` and `node show`. Invariant: only what the profile
 * says is compared; what it leaves open is never a finding.
 */
#include "provisioner/config/drift.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "model/shown_node.h"
#include "provisioner/config/links.h"

struct drift {
	const struct bu_inventory *now;
	const struct bu_links *links;
	json_t *findings;
};

static const struct bu_net_link *
find_name(const struct drift *drift, const char *name)
{
	for (size_t i = 0; i < drift->now->links_count; i++)
		if (strcmp(drift->now->links[i].name, name) == 0)
			return &drift->now->links[i];
	return NULL;
}

/* A NIC by its permanent address, everything else by its name. */
static const struct bu_net_link *
find_link(const struct drift *drift, const struct bu_uplink *link)
{
	if (link->kind != BU_LINK_NIC)
		return find_name(drift, link->name);
	for (size_t i = 0; i < drift->now->nics_count; i++)
		if (strcmp(drift->now->nics[i].mac, link->mac) == 0)
			return find_name(drift, drift->now->nics[i].name);
	return NULL;
}

/* have "" = nothing. */
static void
add(struct drift *drift, const struct bu_uplink *link, const char *device,
    const char *what, const char *want, const char *have)
{
	const char *network = link->network ? link->network->name : "";
	bu_autojson json_t *said =
		BU_SAID(DRIFT_LINK, BU_ARG("network", network),
			BU_ARG("link", *network ? "" : device), BU_ARG("what", what),
			BU_ARG("have", have), BU_ARG_NUMBER("missing", !*have),
			BU_ARG("want", want));

	json_array_append_new(
		drift->findings,
		bu_record_to_json(bu_shown_drift_fields,
				  &(struct bu_shown_drift){network, device, what, want,
							   have, said}));
}

static void
compare_text(struct drift *drift, const struct bu_uplink *link,
	     const struct bu_net_link *now, const char *what, const char *want,
	     const char *have)
{
	if (strcmp(want, have) != 0)
		add(drift, link, now->name, what, want, have);
}

static void
compare_number(struct drift *drift, const struct bu_uplink *link,
	       const struct bu_net_link *now, const char *what, int want, int have)
{
	char want_text[16], have_text[16];

	snprintf(want_text, sizeof(want_text), "%d", want);
	snprintf(have_text, sizeof(have_text), "%d", have);
	compare_text(drift, link, now, what, want_text, have_text);
}

static int
is_among(const char words[][BU_NET_WORD_SIZE], size_t count, const char *want)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], want) == 0)
			return 1;
	return 0;
}

static void
compare_route(struct drift *drift, const struct bu_uplink *link,
	      const struct bu_net_link *now, const char *what, const char *want)
{
	if (!is_among(now->routes, now->routes_count, want))
		add(drift, link, now->name, what, want, "");
}

/* Of 802.3ad: a partner answers, the same one on all ports. */
static void
compare_lacp(struct drift *drift, const struct bu_uplink *link,
	     const struct bu_net_link *now)
{
	if (!*now->bond_partner) {
		add(drift, link, now->name, "LACP partner", "any", "");
		return;
	}
	for (size_t i = 0; i < drift->now->links_count; i++) {
		const struct bu_net_link *port = &drift->now->links[i];

		if (strcmp(port->master, now->name) != 0 ||
		    port->bond_aggregator == now->bond_aggregator)
			continue;
		add(drift, link, port->name, "its port", "in the aggregator",
		    "out of it");
	}
}

static void
compare_bond(struct drift *drift, const struct bu_uplink *link,
	     const struct bu_net_link *now)
{
	const struct bu_desired_network *bond = link->bond;

	compare_text(drift, link, now, "bond mode", bu_bond_names[bond->bond],
		     now->bond_mode);
	compare_number(drift, link, now, "bond miimon (ms)", (int)bond->bond_miimon_ms,
		       now->bond_miimon_ms);
	if (bond->bond != BU_BOND_LACP)
		return;
	compare_text(drift, link, now, "bond hash", bond->bond_hash, now->bond_hash);
	if (strcmp(now->bond_mode, bu_bond_names[BU_BOND_LACP]) == 0)
		compare_lacp(drift, link, now);
}

/* What the link stands on. */
static void
compare_place(struct drift *drift, const struct bu_uplink *link,
	      const struct bu_net_link *now)
{
	const struct bu_net_link *parent =
		link->parent ? find_link(drift, link->parent) : NULL;

	if (!parent)
		return;
	if (link->kind == BU_LINK_NIC)
		compare_text(drift, link, now, "bond", parent->name, now->master);
	if (link->kind != BU_LINK_VLAN)
		return;
	compare_number(drift, link, now, "VLAN", link->vlan, now->vlan);
	compare_text(drift, link, now, "carrier of the VLAN", parent->name,
		     now->parent);
}

static void
compare_network(struct drift *drift, const struct bu_uplink *link,
		const struct bu_net_link *now)
{
	const struct bu_desired_network *network = link->network;
	const char *rest = network->routes;
	char to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];
	bu_autofree char *address =
		bu_xasprintf("%s/%d", link->address, network->cidr.prefix_len);

	if (!is_among(now->addresses, now->addresses_count, address))
		add(drift, link, now->name, "address", address, "");
	if (network->gateway) {
		bu_autofree char *route =
			bu_xasprintf("0.0.0.0/0 via %s", network->gateway);

		compare_route(drift, link, now, "default route", route);
	}
	while (bu_link_next_route(&rest, to, via)) {
		bu_autofree char *route = bu_xasprintf("%s via %s", to, via);

		compare_route(drift, link, now, "route", route);
	}
}

static void
compare_link(struct drift *drift, const struct bu_uplink *link)
{
	const struct bu_net_link *now = find_link(drift, link);

	if (!now) {
		add(drift, link, bu_link_handle(link), "link", bu_link_handle(link),
		    "");
		return;
	}
	if (link->mtu)
		compare_number(drift, link, now, "MTU", link->mtu, now->mtu);
	if (link->kind == BU_LINK_BOND)
		compare_bond(drift, link, now);
	compare_place(drift, link, now);
	if (link->network)
		compare_network(drift, link, now);
}

json_t *
bu_config_drift(const struct bu_config_input *input, const struct bu_inventory *now,
		struct bu_err *err)
{
	struct bu_links links;
	struct drift drift = {.now = now, .links = &links};

	if (bu_links_make(input, &links, err) != 0)
		return NULL;
	drift.findings = json_array();
	for (size_t i = 0; now->links_count && i < links.count; i++)
		compare_link(&drift, &links.list[i]);
	return drift.findings;
}
