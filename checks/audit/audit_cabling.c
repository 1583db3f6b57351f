/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about cables: what switch port is at the other end, by LLDP or by
 * asking the InfiniBand neighbour. Called
 * by audit.c, `lldp` before `cabling`. Invariant: no packet is awaited, and nothing is
 * judged, unless the profile has something about switch ports (expect.lldp).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { LLDP_WAIT_MS = 35000, IB_WAIT_MS = 1000 }; /* switches speak every 30 s */

/* What the profile says of this interface, by network or by name; NULL. */
static const char *
expected_of(const struct bu_audit *a, const struct bu_audit_nic *nic)
{
	const json_t *lldp = json_object_get(a->ctx->expect, "lldp");
	const char *by_name = bu_json_str(lldp, nic->name, NULL);

	if (by_name || !nic->network)
		return by_name;
	return bu_json_str(lldp, bu_audit_network_name(nic->network), NULL);
}

static int
is_up(const struct bu_audit *a, const struct bu_audit_nic *nic)
{
	return bu_sysroot_int(a->root, 0, "sys/class/net/%s/carrier", nic->name) == 1;
}

/* InfiniBand has no LLDP: it is asked. Of interfaces without a link nic-down speaks. */
static int
is_candidate(const struct bu_audit *a, const struct bu_audit_nic *nic)
{
	const char *role = bu_json_str(nic->network, "role", "fabric");

	if (bu_sysroot_int(a->root, 1, "sys/class/net/%s/type", nic->name) != 1 ||
	    !is_up(a, nic))
		return 0;
	return expected_of(a, nic) || (nic->network && strcmp(role, "fabric") == 0);
}

static int
on_stop(void *arg)
{
	return bu_checks_stop(arg);
}

static struct bu_audit_nic *
nic_of(struct bu_audit *a, const struct bu_lldp *port)
{
	struct bu_audit_nic *nic = bu_audit_nic_find(a, port->netdev);

	bu_assert(nic != NULL); /* the ports were made of the interfaces */
	return nic;
}

static void
judge_heard(struct bu_audit *a, const struct bu_lldp *port)
{
	const struct bu_audit_nic *nic = nic_of(a, port);
	const char *want = expected_of(a, nic);

	if (port->heard)
		bu_audit_good(a, nic->name, "%s:%s", bu_lldp_switch(port),
			      bu_lldp_port(port));
	else if (want)
		bu_audit_bad(a, nic->name, "silence", want,
			     "%s: no LLDP was heard, so it is unknown whether it is "
			     "cabled to %s",
			     nic->label, want);
}

/* Over Ethernet: all ports at once, because switches speak when they like. */
static void
listen_ethernet(struct bu_audit *a)
{
	struct bu_err err = {0};

	for (size_t i = 0; i < a->nic_count && a->lldp_count < BU_LLDP_PORTS_MAX; i++)
		if (is_candidate(a, &a->nics[i]))
			snprintf(a->lldp[a->lldp_count++].netdev,
				 sizeof(a->lldp[0].netdev), "%s", a->nics[i].name);
	if (a->lldp_count == 0 || !a->probes->lldp)
		return;
	if (a->probes->lldp(a->lldp, a->lldp_count,
			    bu_audit_threshold(a, "lldp_wait_ms", LLDP_WAIT_MS),
			    on_stop, (void *)a->ctx, &err) != 0) {
		bu_audit_unknown(a, "", "%s", err.text);
		a->lldp_count = 0;
	}
}

/* Over InfiniBand each neighbour is asked, and answers at once. */
static void
ask_infiniband(struct bu_audit *a)
{
	for (size_t i = 0; i < a->port_count && a->lldp_count < BU_LLDP_PORTS_MAX;
	     i++) {
		const struct bu_audit_port *port = &a->ports[i];
		struct bu_lldp *peer = &a->lldp[a->lldp_count];
		struct bu_err err = {0};

		if (!a->probes->ib_peer || !port->infiniband || !port->network ||
		    !is_up(a, port->nic))
			continue;
		snprintf(peer->netdev, sizeof(peer->netdev), "%s", port->nic->name);
		if (a->probes->ib_peer(a->root, port->device, port->port, IB_WAIT_MS,
				       peer, &err) == 0)
			a->lldp_count++;
		else if (expected_of(a, port->nic))
			bu_audit_unknown(a, port->nic->name,
					 "%s: the neighbour is unknown: %s",
					 port->nic->label, err.text);
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
		judge_heard(a, &a->lldp[i]);
}

/* The interface that belongs where this one is cabled to, and the other way round: two
 * cables of this machine are swapped. NULL. */
static const struct bu_audit_nic *
swapped_with(struct bu_audit *a, const struct bu_lldp *port, const char *want)
{
	for (size_t i = 0; i < a->lldp_count; i++) {
		const struct bu_lldp *other = &a->lldp[i];
		const char *other_want = expected_of(a, nic_of(a, other));

		if (other != port && other->heard && other_want &&
		    !bu_lldp_is(other, other_want) && bu_lldp_is(port, other_want) &&
		    bu_lldp_is(other, want))
			return nic_of(a, other);
	}
	return NULL;
}

void
bu_audit_cabling(struct bu_audit *a)
{
	for (size_t i = 0; i < a->lldp_count; i++) {
		const struct bu_lldp *port = &a->lldp[i];
		const struct bu_audit_nic *nic = nic_of(a, port), *other;
		const char *want = expected_of(a, nic);
		char seen[160];

		if (!want || !port->heard)
			continue;
		snprintf(seen, sizeof(seen), "%s:%s", bu_lldp_switch(port),
			 bu_lldp_port(port));
		other = swapped_with(a, port, want);
		if (bu_lldp_is(port, want))
			bu_audit_good(a, nic->name, "%s", seen);
		else if (other)
			bu_audit_bad(a, nic->name, seen, want,
				     "%s is cabled to %s, the profile says %s: its "
				     "cable is swapped with that of %s",
				     nic->label, seen, want, other->name);
		else
			bu_audit_bad(a, nic->name, seen, want,
				     "%s is cabled to %s, the profile says %s",
				     nic->label, seen, want);
	}
}
