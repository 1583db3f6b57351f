/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about network interfaces, called by audit.c. Only interfaces of
 * networks that are expected are judged. Invariant: what a virtual card does not know
 * (its speed, its slot) is not held against it.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

static const char net[] = "sys/class/net";

/* IPoIB is as the image sets it up, and nothing that is measured needs it: it is judged
 * where the profile has an address there. */
static void
each_nic(struct bu_audit *a,
	 void (*fn)(struct bu_audit *a, const struct bu_audit_nic *nic))
{
	for (size_t i = 0; i < a->nic_count; i++)
		if (a->nics[i].network &&
		    (!a->nics[i].ipoib ||
		     json_object_get(a->nics[i].network, "address")))
			fn(a, &a->nics[i]);
}

/* Those that have a network's cable: of a bond its ports. Of InfiniBand's the rows
 * about RDMA speak. */
static void
each_cable(struct bu_audit *a,
	   void (*fn)(struct bu_audit *a, const struct bu_audit_nic *nic))
{
	for (size_t i = 0; i < a->nic_count; i++)
		if (a->nics[i].cable && !a->nics[i].ipoib)
			fn(a, &a->nics[i]);
}

/* Of networks that name their port: where its cable is, for what is heard there. Of one
 * that is not there rdma-missing speaks, and of an address that RoCE lacks gid. */
static void
tell_named(struct bu_audit *a, const json_t *network)
{
	const char *name = bu_audit_network_name(network);
	const char *address = bu_json_str(network, "address", NULL);
	const struct bu_audit_port *port = NULL;

	for (size_t i = 0; i < a->port_count && !port; i++)
		if (a->ports[i].network == network)
			port = &a->ports[i];
	if (port && port->infiniband && !port->nic && address)
		bu_audit_bad(a, name, "no IPoIB", address,
			     "network %s: InfiniBand port %s has no interface for the "
			     "address %s; is ib_ipoib loaded?",
			     name, port->name, address);
	else if (port)
		bu_audit_good(a, name, "%s", bu_audit_end_name(port));
}

void
bu_audit_nic_missing(struct bu_audit *a)
{
	size_t i;
	json_t *network;

	json_array_foreach (json_object_get(a->ctx->expect, "networks"), i, network) {
		const char *name = bu_audit_network_name(network);
		const struct bu_audit_nic *nic = bu_audit_nic_of(a, network);
		const char *mac = bu_json_str(network, "mac", NULL);
		const char *where =
			mac ? mac
			    : bu_json_str(network, "pci",
					  bu_json_str(network, "netdev", NULL));
		char expected[64];

		if (!where) {
			tell_named(a, network);
			continue;
		}
		snprintf(expected, sizeof(expected), "%s", where);
		if (nic)
			bu_audit_good(a, name, "%s", nic->name);
		else
			bu_audit_bad(a, name, a->nic_count ? "not there" : "only lo",
				     expected,
				     "network %s: no interface %s%s on this machine",
				     name, mac ? "with MAC " : "", where);
	}
}

static void
judge_slot(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	const char *want = bu_json_str(nic->network, "pci", NULL);

	if (!want || !*nic->pci)
		return;
	bu_audit_judge(a, strcasecmp(want, nic->pci) == 0, nic->name, nic->pci, want,
		       "%s is at %s, the profile has it at %s", nic->label, nic->pci,
		       want);
}

void
bu_audit_nic_slot(struct bu_audit *a)
{
	each_nic(a, judge_slot);
}

static void
judge_link(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	char state[32];
	int64_t carrier = bu_sysroot_int(a->root, -1, "%s/%s/carrier", net, nic->name);

	bu_sysroot_line(a->root, state, sizeof(state), "%s/%s/operstate", net,
			nic->name);
	/* Some drivers never say more than "unknown"; then the carrier decides. */
	if (strcmp(state, "up") == 0 || (strcmp(state, "unknown") == 0 && carrier == 1))
		bu_audit_good(a, nic->name, "%s", state);
	else
		bu_audit_bad(a, nic->name,
			     carrier == 0 ? "no carrier"
			     : *state     ? state
					  : "unknown",
			     "up", "%s is %s%s", nic->label, *state ? state : "unknown",
			     carrier == 0  ? ": no carrier"
			     : carrier < 0 ? ": the interface is switched off"
					   : "");
}

/* A bond that RDMA goes over carries less without one of its ports. */
static void
judge_port_link(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	if (!nic->network && bu_json_bool(nic->cable, "rdma", 0))
		judge_link(a, nic);
}

void
bu_audit_nic_down(struct bu_audit *a)
{
	each_nic(a, judge_link);
	each_cable(a, judge_port_link);
}

static void
judge_speed(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	int64_t mbps = bu_sysroot_int(a->root, -1, "%s/%s/speed", net, nic->name);
	double gbps = bu_json_real(nic->network, "link_gbps", 0);
	char seen[32], expected[32];

	/* Without a link there is no speed: nic-down. IPoIB's is that of rdma-rate. */
	if (gbps <= 0 || mbps <= 0 || mbps == 0xffffffff || nic->virtio || nic->ipoib)
		return;
	snprintf(seen, sizeof(seen), "%g Gbit/s", (double)mbps / 1000);
	snprintf(expected, sizeof(expected), "%g Gbit/s", gbps);
	bu_audit_judge(a, (double)mbps / 1000 + 0.001 >= gbps, nic->name, seen,
		       expected, "%s runs at %s, expected %s", nic->label, seen,
		       expected);
}

void
bu_audit_nic_speed(struct bu_audit *a)
{
	each_nic(a, judge_speed);
}

/* IPoIB may be in its connected mode, with far more. */
static void
judge_mtu(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	int64_t mtu = bu_sysroot_int(a->root, -1, "%s/%s/mtu", net, nic->name);
	int64_t want = bu_json_int(nic->network, "mtu", 0);
	char seen[32], expected[32];

	if (want <= 0)
		return;
	if (mtu < 0) {
		bu_audit_unknown(a, nic->name, "%s: its MTU cannot be read",
				 nic->label);
		return;
	}
	snprintf(seen, sizeof(seen), "%lld", (long long)mtu);
	snprintf(expected, sizeof(expected), "%s%lld", nic->ipoib ? "at least " : "",
		 (long long)want);
	bu_audit_judge(a, nic->ipoib ? mtu >= want : mtu == want, nic->name, seen,
		       expected, "%s has MTU %s, expected %s", nic->label, seen,
		       expected);
}

void
bu_audit_nic_mtu(struct bu_audit *a)
{
	each_nic(a, judge_mtu);
}

static void
judge_flaps(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	int64_t count =
		bu_sysroot_int(a->root, -1, "%s/%s/carrier_down_count", net, nic->name);
	int64_t most = bu_audit_threshold(a, "carrier_downs", 5);
	char seen[32], expected[32];

	if (count < 0)
		return;
	snprintf(seen, sizeof(seen), "%lld", (long long)count);
	snprintf(expected, sizeof(expected), "at most %lld", (long long)most);
	bu_audit_judge(a, count <= most, nic->name, seen, expected,
		       "%s lost its link %s times since boot", nic->label, seen);
}

void
bu_audit_link_flaps(struct bu_audit *a)
{
	each_cable(a, judge_flaps);
}

/* --- priority flow control and congestion notification --- */

static int
pfc_wanted(const json_t *network)
{
	const json_t *list = json_object_get(network, "pfc");
	int bits = 0;
	size_t i;
	json_t *priority;

	json_array_foreach (list, i, priority) {
		json_int_t number = json_integer_value(priority);

		if (json_is_integer(priority) && number >= 0 && number < 8)
			bits |= 1 << number;
	}
	return json_is_array(list) ? bits : -1;
}

/* "3,4"; "none" */
static void
priorities_text(int bits, char *ret, size_t size)
{
	size_t used = 0;

	snprintf(ret, size, "none");
	for (int i = 0; i < 8 && used + 3 < size; i++)
		if (bits & 1 << i)
			used += (size_t)snprintf(ret + used, size - used, "%s%d",
						 used ? "," : "", i);
}

static void
judge_pfc(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	int want = pfc_wanted(nic->cable), have;
	char seen[32], expected[32];

	if (want < 0 || !a->probes->pfc)
		return;
	have = a->probes->pfc(a->root, nic->name);
	if (have < 0) {
		bu_audit_unknown(a, nic->name,
				 "%s: its driver does not report which priorities "
				 "have PFC (no dcbnl)",
				 nic->label);
		return;
	}
	priorities_text(have, seen, sizeof(seen));
	priorities_text(want, expected, sizeof(expected));
	bu_audit_judge(a, have == want, nic->name, seen, expected,
		       "%s has PFC on priorities %s, expected on %s", nic->label, seen,
		       expected);
}

void
bu_audit_pfc(struct bu_audit *a)
{
	each_cable(a, judge_pfc);
}

/* Both halves of DCQCN: the receiver's (np) and the sender's (rp). */
static void
judge_ecn(struct bu_audit *a, const struct bu_audit_nic *nic)
{
	static const char *const halves[] = {"roce_np", "roce_rp"};
	const json_t *value = json_object_get(nic->cable, "ecn");
	int want = json_is_true(value), bits = pfc_wanted(nic->cable), wrong = 0;

	if (!json_is_boolean(value))
		return;
	if (!bu_sysroot_exists(a->root, "%s/%s/ecn", net, nic->name)) {
		bu_audit_unknown(a, nic->name,
				 "%s: its driver does not report whether ECN is on",
				 nic->label);
		return;
	}
	for (int priority = 0; priority < 8; priority++) {
		for (size_t i = 0; i < BU_LEN(halves); i++) {
			int64_t on =
				bu_sysroot_int(a->root, -1, "%s/%s/ecn/%s/enable/%d",
					       net, nic->name, halves[i], priority);

			if ((bits > 0 && !(bits & 1 << priority)) || on == want)
				continue;
			if (!wrong++)
				bu_audit_bad(a, nic->name, on == 1 ? "on" : "off",
					     want ? "on" : "off",
					     "%s: ECN (%s) is %s on priority %d",
					     nic->label, halves[i],
					     on == 1 ? "on" : "off", priority);
		}
	}
	if (!wrong)
		bu_audit_good(a, nic->name, want ? "on" : "off");
}

void
bu_audit_ecn(struct bu_audit *a)
{
	each_cable(a, judge_ecn);
}
