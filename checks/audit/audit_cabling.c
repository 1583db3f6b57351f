/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about cables: what switch port is at the other end, by LLDP or by
 * asking the InfiniBand neighbour. Called by audit.c, `lldp` before `cabling`.
 * Invariant: no packet is awaited, and nothing is judged, unless the profile has
 * something about switch ports (expect.lldp).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { LLDP_WAIT_MS = 35000, IB_WAIT_MS = 1000 }; /* switches speak every 30 s */
enum { LINK_UP = 5 };                             /* of phys_state */

/* What the profile says of this end of a cable, by its name, its bond's or its network;
 * NULL. */
static const char *
expected_of(const struct bu_audit *a, const json_t *network, const char *name,
	    const struct bu_audit_nic *bond)
{
	const json_t *lldp = json_object_get(a->ctx->expect, "lldp");
	const char *want = bu_json_str(lldp, name, NULL);

	if (!want && bond)
		want = bu_json_str(lldp, bond->name, NULL);
	if (!want && network)
		want = bu_json_str(lldp, bu_audit_network_name(network), NULL);
	return want;
}

/* InfiniBand has no LLDP: it is asked. Of interfaces without a link nic-down speaks. */
static int
is_candidate(const struct bu_audit *a, const struct bu_audit_nic *nic)
{
	const char *role = bu_json_str(nic->cable, "role", "fabric");

	if (nic->is_bond ||
	    bu_sysroot_int(a->root, 1, "sys/class/net/%s/type", nic->name) != 1 ||
	    bu_sysroot_int(a->root, 0, "sys/class/net/%s/carrier", nic->name) != 1)
		return 0;
	return expected_of(a, nic->cable, nic->name, nic->bond) ||
	       (nic->cable && strcmp(role, "fabric") == 0);
}

static int
on_stop(void *arg)
{
	return bu_checks_stop(arg);
}

static struct bu_audit_end *
add_end(struct bu_audit *a, const json_t *network, const char *name, const char *label,
	const struct bu_audit_nic *bond)
{
	struct bu_audit_end *end = &a->ends[a->lldp_count];
	struct bu_lldp *port = &a->lldp[a->lldp_count++];

	memset(port, 0, sizeof(*port));
	snprintf(end->name, sizeof(end->name), "%s", name);
	snprintf(end->label, sizeof(end->label), "%s", label);
	end->want = expected_of(a, network, name, bond);
	end->bond = bond;
	return end;
}

/* What the profile says of a bond is true of one of its ports. */
static int
is_of_sibling(const struct bu_audit *a, const struct bu_audit_end *end)
{
	for (size_t i = 0; i < a->lldp_count; i++)
		if (end->bond && a->ends[i].bond == end->bond &&
		    a->ends[i].want == end->want && a->lldp[i].heard &&
		    bu_lldp_is(&a->lldp[i], end->want))
			return 1;
	return 0;
}

static void
judge_heard(struct bu_audit *a, const struct bu_audit_end *end,
	    const struct bu_lldp *port)
{
	if (port->heard)
		bu_audit_good(a, end->name, "%s:%s", bu_lldp_switch(port),
			      bu_lldp_port(port));
	else if (end->want && !is_of_sibling(a, end))
		bu_audit_bad(a, end->name, "silence", end->want,
			     "%s: no LLDP was heard, so it is unknown whether it is "
			     "cabled to %s",
			     end->label, end->want);
}

/* Over Ethernet: all ports at once, because switches speak when they like. */
static void
listen_ethernet(struct bu_audit *a)
{
	struct bu_err err = {0};

	for (size_t i = 0; i < a->nic_count && a->lldp_count < BU_LLDP_PORTS_MAX; i++) {
		const struct bu_audit_nic *nic = &a->nics[i];
		struct bu_lldp *port = &a->lldp[a->lldp_count];

		if (!is_candidate(a, nic))
			continue;
		add_end(a, nic->cable, nic->name, nic->label, nic->bond);
		snprintf(port->netdev, sizeof(port->netdev), "%s", nic->name);
	}
	if (a->lldp_count == 0 || !a->probes->lldp)
		return;
	if (a->probes->lldp(a->lldp, a->lldp_count,
			    bu_audit_threshold(a, "lldp_wait_ms", LLDP_WAIT_MS),
			    on_stop, (void *)a->ctx, &err) != 0) {
		bu_audit_unknown(a, "", "%s", err.text);
		a->lldp_count = 0;
	}
}

/* By the port itself: it has a neighbour whether or not IPoIB is up, or there at all.
 */
static int
has_link(const struct bu_audit *a, const struct bu_audit_port *port)
{
	char phys[32]; /* "5: LinkUp" */

	bu_audit_port_line(a, port, "phys_state", phys, sizeof(phys));
	return atoi(phys) == LINK_UP;
}

/* Over InfiniBand each neighbour is asked, and answers at once. */
static void
ask_infiniband(struct bu_audit *a)
{
	for (size_t i = 0; i < a->port_count && a->lldp_count < BU_LLDP_PORTS_MAX;
	     i++) {
		const struct bu_audit_port *port = &a->ports[i];
		struct bu_lldp *peer = &a->lldp[a->lldp_count];
		const struct bu_audit_end *end;
		struct bu_err err = {0};

		if (!a->probes->ib_peer || !port->infiniband || !port->network ||
		    !has_link(a, port))
			continue;
		end = add_end(a, port->network, bu_audit_end_name(port),
			      bu_audit_end_label(port), NULL);
		if (a->probes->ib_peer(a->root, port->device, port->port, IB_WAIT_MS,
				       peer, &err) == 0)
			continue;
		a->lldp_count--;
		if (end->want)
			bu_audit_unknown(a, end->name,
					 "%s: the neighbour is unknown: %s", end->label,
					 err.text);
	}
}

/* A bond is where its first port that heard one is. */
static void
tell_bond(struct bu_audit *a, const struct bu_audit_nic *bond)
{
	for (size_t i = 0; i < a->lldp_count; i++)
		if (a->ends[i].bond == bond && a->lldp[i].heard) {
			bu_audit_good(a, bond->name, "%s:%s",
				      bu_lldp_switch(&a->lldp[i]),
				      bu_lldp_port(&a->lldp[i]));
			return;
		}
}

void
bu_audit_lldp(struct bu_audit *a)
{
	if (!json_is_object(json_object_get(a->ctx->expect, "lldp")))
		return;
	listen_ethernet(a);
	ask_infiniband(a);
	for (size_t i = 0; i < a->lldp_count; i++)
		judge_heard(a, &a->ends[i], &a->lldp[i]);
	for (size_t i = 0; i < a->nic_count; i++)
		if (a->nics[i].is_bond && a->nics[i].network)
			tell_bond(a, &a->nics[i]);
}

/* The end that belongs where this one is cabled to, and the other way round: two cables
 * of this machine are swapped. NULL. */
static const struct bu_audit_end *
swapped_with(const struct bu_audit *a, const struct bu_lldp *port, const char *want)
{
	for (size_t i = 0; i < a->lldp_count; i++) {
		const struct bu_lldp *other = &a->lldp[i];
		const char *other_want = a->ends[i].want;

		if (other != port && other->heard && other_want &&
		    !bu_lldp_is(other, other_want) && bu_lldp_is(port, other_want) &&
		    bu_lldp_is(other, want))
			return &a->ends[i];
	}
	return NULL;
}

void
bu_audit_cabling(struct bu_audit *a)
{
	for (size_t i = 0; i < a->lldp_count; i++) {
		const struct bu_lldp *port = &a->lldp[i];
		const struct bu_audit_end *end = &a->ends[i], *other;
		char seen[160];

		if (!end->want || !port->heard)
			continue;
		snprintf(seen, sizeof(seen), "%s:%s", bu_lldp_switch(port),
			 bu_lldp_port(port));
		other = swapped_with(a, port, end->want);
		if (bu_lldp_is(port, end->want))
			bu_audit_good(a, end->name, "%s", seen);
		else if (is_of_sibling(a, end))
			continue;
		else if (other)
			bu_audit_bad(a, end->name, seen, end->want,
				     "%s is cabled to %s, the profile says %s: its "
				     "cable is swapped with that of %s",
				     end->label, seen, end->want, other->name);
		else
			bu_audit_bad(a, end->name, seen, end->want,
				     "%s is cabled to %s, the profile says %s",
				     end->label, seen, end->want);
	}
}
