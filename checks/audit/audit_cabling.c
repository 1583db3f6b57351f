/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about cables: what switch port is at the other end, by LLDP or by
 * asking the InfiniBand neighbour. Called by audit.c, `lldp` before `cabling`.
 * Invariant: no packet is awaited, and nothing is judged, unless the profile has
 * something about switch ports (expect.lldp).
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { LLDP_WAIT_MS = 35000, IB_WAIT_MS = 1000 }; /* switches speak every 30 s */
enum { LINK_UP = 5 };                             /* of phys_state */
enum { PLACE_SIZE = 2 * BU_LLDP_TEXT + 2, PLACES_SIZE = 160 };

/* What the profile says of this end of a cable, by network or by name; NULL. */
static const char *
expected_of(const struct bu_audit *a, const json_t *network, const char *name)
{
	const json_t *lldp = json_object_get(a->ctx->expect, "lldp");
	const char *by_name = bu_json_str(lldp, name, NULL);

	if (by_name || !network)
		return by_name;
	return bu_json_str(lldp, bu_audit_network_name(network), NULL);
}

/* InfiniBand has no LLDP: it is asked. Of interfaces without a link nic-down speaks. */
static int
is_candidate(const struct bu_audit *a, const struct bu_audit_nic *nic)
{
	const char *role = bu_json_str(nic->network, "role", "fabric");

	if (bu_sysroot_int(a->root, 1, "sys/class/net/%s/type", nic->name) != 1 ||
	    bu_sysroot_int(a->root, 0, "sys/class/net/%s/carrier", nic->name) != 1)
		return 0;
	return expected_of(a, nic->network, nic->name) ||
	       (nic->network && strcmp(role, "fabric") == 0);
}

static int
on_stop(void *arg)
{
	return bu_checks_stop(arg);
}

static struct bu_audit_end *
add_end(struct bu_audit *a, const json_t *network, const char *name, const char *label)
{
	struct bu_audit_end *end = &a->ends[a->end_count++];

	memset(end, 0, sizeof(*end));
	end->ports = &a->lldp[a->lldp_count];
	snprintf(end->name, sizeof(end->name), "%s", name);
	snprintf(end->label, sizeof(end->label), "%s", label);
	end->want = expected_of(a, network, name);
	return end;
}

static struct bu_lldp *
add_port(struct bu_audit *a, struct bu_audit_end *end)
{
	struct bu_lldp *port = &a->lldp[a->lldp_count++];

	memset(port, 0, sizeof(*port));
	end->count++;
	return port;
}

/* --- over Ethernet --- */

struct below {
	struct bu_audit *a;
	struct bu_audit_end *end;
};

/* Each has a neighbour of its own, and a switch speaks to it in no VLAN. */
static void
add_nic(const char *name, void *arg)
{
	const struct below *of = arg;
	struct bu_lldp *port;

	of->end->nics++;
	if (of->a->lldp_count == BU_LLDP_PORTS_MAX ||
	    bu_sysroot_int(of->a->root, 0, "sys/class/net/%s/carrier", name) != 1)
		return;
	port = add_port(of->a, of->end);
	snprintf(port->netdev, sizeof(port->netdev), "%s", name);
}

/* All ports at once, because switches speak when they like. */
static void
listen_ethernet(struct bu_audit *a)
{
	struct bu_err err = {0};

	for (size_t i = 0; i < a->nic_count && a->end_count < BU_LLDP_PORTS_MAX; i++) {
		const struct bu_audit_nic *nic = &a->nics[i];
		struct below of = {.a = a};

		if (!is_candidate(a, nic))
			continue;
		of.end = add_end(a, nic->network, nic->name, nic->label);
		bu_audit_each_below(a->root, nic->name, add_nic, &of);
	}
	if (a->lldp_count == 0 || !a->probes->lldp)
		return;
	if (a->probes->lldp(a->lldp, a->lldp_count,
			    bu_audit_threshold(a, "lldp_wait_ms", LLDP_WAIT_MS),
			    on_stop, (void *)a->ctx, &err) != 0) {
		bu_audit_unknown(a, "", "%s", err.text);
		a->lldp_count = a->end_count = 0;
	}
}

/* --- over InfiniBand --- */

/* By the port itself: it has a neighbour whether or not IPoIB is up, or there at all.
 */
static int
has_link(const struct bu_audit *a, const struct bu_audit_port *port)
{
	char phys[32]; /* "5: LinkUp" */

	bu_audit_port_line(a, port, "phys_state", phys, sizeof(phys));
	return atoi(phys) == LINK_UP;
}

/* Each neighbour is asked, and answers at once. */
static void
ask_infiniband(struct bu_audit *a)
{
	for (size_t i = 0; i < a->port_count && a->end_count < BU_LLDP_PORTS_MAX &&
			   a->lldp_count < BU_LLDP_PORTS_MAX;
	     i++) {
		const struct bu_audit_port *port = &a->ports[i];
		struct bu_audit_end *end;
		struct bu_err err = {0};

		if (!a->probes->ib_peer || !port->infiniband || !port->network ||
		    !has_link(a, port))
			continue;
		end = add_end(a, port->network, bu_audit_end_name(port),
			      bu_audit_end_label(port));
		end->nics = 1;
		if (a->probes->ib_peer(a->root, port->device, port->port, IB_WAIT_MS,
				       add_port(a, end), &err) == 0)
			continue;
		a->lldp_count--;
		a->end_count--;
		if (end->want)
			bu_audit_unknown(a, end->name,
					 "%s: the neighbour is unknown: %s", end->label,
					 err.text);
	}
}

/* --- what was heard --- */

/* The neighbour that is this one of the profile; without one, any that was heard. NULL.
 */
static const struct bu_lldp *
find_heard(const struct bu_audit_end *end, const char *want)
{
	for (size_t i = 0; i < end->count; i++)
		if (end->ports[i].heard && (!want || bu_lldp_is(&end->ports[i], want)))
			return &end->ports[i];
	return NULL;
}

static int
is_all_heard(const struct bu_audit_end *end)
{
	for (size_t i = 0; i < end->count; i++)
		if (!end->ports[i].heard)
			return 0;
	return end->count == end->nics;
}

/* Nothing more is to be said of it than one place. */
static int
is_at_one_switch(const struct bu_audit_end *end)
{
	for (size_t i = 0; i < end->count; i++)
		if (strcasecmp(bu_lldp_switch(&end->ports[i]),
			       bu_lldp_switch(&end->ports[0])) != 0)
			return 0;
	return is_all_heard(end);
}

/* "leaf01:swp3", the switch as the profile calls it: one leaf has one name, for who has
 * heard it and for who only should be there. */
static void
write_place(const struct bu_lldp *port, const char *want, char ret[PLACE_SIZE])
{
	size_t length = want ? bu_lldp_is(port, want) : 0;

	snprintf(ret, PLACE_SIZE, "%.*s:%s", length ? (int)length : BU_LLDP_TEXT,
		 length ? want : bu_lldp_switch(port), bu_lldp_port(port));
}

/* "leaf01:swp3, leaf02:swp3": of all NICs of a bond. */
static void
write_places(const struct bu_audit_end *end, char *ret, size_t size)
{
	size_t used = 0;

	*ret = '\0';
	for (size_t i = 0; i < end->count && used < size; i++) {
		char place[PLACE_SIZE];

		if (end->ports[i].heard)
			write_place(&end->ports[i], end->want, place);
		else
			snprintf(place, sizeof(place), "%s silent",
				 end->ports[i].netdev);
		used += (size_t)snprintf(ret + used, size - used, "%s%s",
					 used ? ", " : "", place);
	}
}

/* The place of a bond at two switches: the profile's, else that of its first NIC. */
static void
tell_heard(struct bu_audit *a, const struct bu_audit_end *end,
	   const struct bu_lldp *port)
{
	char place[PLACE_SIZE], places[PLACES_SIZE];
	struct bu_check *row;

	write_place(port, end->want, place);
	write_places(end, places, sizeof(places));
	if (is_at_one_switch(end)) {
		bu_audit_good(a, end->name, "%s", place);
		return;
	}
	row = bu_audit_good(a, end->name, "%s", places);
	if (row)
		BU_CHECK_SET(row->value, "%s", place);
}

static void
judge_heard(struct bu_audit *a, const struct bu_audit_end *end)
{
	const struct bu_lldp *any = find_heard(end, NULL);
	const struct bu_lldp *port = end->want ? find_heard(end, end->want) : any;
	char places[PLACES_SIZE];

	if (!port && any && is_all_heard(end))
		port = any;
	write_places(end, places, sizeof(places));
	if (port)
		tell_heard(a, end, port);
	else if (any)
		bu_audit_bad(a, end->name, places, end->want,
			     "%s: not all of its NICs heard LLDP (%s), so it is "
			     "unknown whether one is cabled to %s",
			     end->label, places, end->want);
	else if (end->want)
		bu_audit_bad(a, end->name, "silence", end->want,
			     "%s: no LLDP was heard, so it is unknown whether it is "
			     "cabled to %s",
			     end->label, end->want);
}

void
bu_audit_lldp(struct bu_audit *a)
{
	if (!json_is_object(json_object_get(a->ctx->expect, "lldp")))
		return;
	listen_ethernet(a);
	ask_infiniband(a);
	for (size_t i = 0; i < a->end_count; i++)
		judge_heard(a, &a->ends[i]);
}

/* The end that belongs where this one is cabled to, and the other way round: two cables
 * of this machine are swapped. NULL. */
static const struct bu_audit_end *
swapped_with(const struct bu_audit *a, const struct bu_audit_end *end)
{
	for (size_t i = 0; i < a->end_count; i++) {
		const struct bu_audit_end *other = &a->ends[i];

		if (other != end && other->want && !find_heard(other, other->want) &&
		    find_heard(end, other->want) && find_heard(other, end->want))
			return other;
	}
	return NULL;
}

static void
judge_cable(struct bu_audit *a, const struct bu_audit_end *end)
{
	const struct bu_lldp *right = find_heard(end, end->want);
	const struct bu_audit_end *other = swapped_with(a, end);
	char place[PLACE_SIZE], places[PLACES_SIZE];

	write_places(end, places, sizeof(places));
	if (right) {
		write_place(right, end->want, place);
		bu_audit_good(a, end->name, "%s", place);
	} else if (other) {
		bu_audit_bad(a, end->name, places, end->want,
			     "%s is cabled to %s, the profile says %s: its cable is "
			     "swapped with that of %s",
			     end->label, places, end->want, other->name);
	} else {
		bu_audit_bad(a, end->name, places, end->want,
			     "%s is cabled to %s, the profile says %s", end->label,
			     places, end->want);
	}
}

/* A NIC of a bond that heard nothing may be the one that is meant. */
void
bu_audit_cabling(struct bu_audit *a)
{
	for (size_t i = 0; i < a->end_count; i++) {
		const struct bu_audit_end *end = &a->ends[i];

		if (end->want && (find_heard(end, end->want) || is_all_heard(end)))
			judge_cable(a, end);
	}
}
