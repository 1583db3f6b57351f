/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about RDMA devices and their ports, called by audit.c. Invariant:
 * RDMA in software (rxe, siw) has no PCI device, no firmware and a rate that means
 * nothing: those rows are not judged there.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"
#include "fabric/probe/port.h"
#include "model/mtu.h"

static const char ib[] = "sys/class/infiniband";

void
bu_audit_each_port(struct bu_audit *a,
		   void (*fn)(struct bu_audit *a, const struct bu_audit_port *port))
{
	for (size_t i = 0; i < a->port_count; i++)
		if (a->ports[i].network)
			fn(a, &a->ports[i]);
}

void
bu_audit_port_line(const struct bu_audit *a, const struct bu_audit_port *port,
		   const char *file, char *ret, size_t size)
{
	bu_sysroot_line(a->root, ret, size, "%s/%s/ports/%d/%s", ib, port->device,
			port->port, file);
}

/* A port that the profile names itself: where it is not, those that are there. */
static void
judge_named(struct bu_audit *a, const json_t *network, const char *want)
{
	const char *name = bu_audit_network_name(network);
	char *there = NULL;

	for (size_t i = 0; i < a->port_count; i++) {
		const struct bu_audit_port *port = &a->ports[i];
		bu_autofree char *before = there, *label = NULL;

		if (port->network == network &&
		    (port->infiniband || !bu_json_bool(network, "infiniband", 0))) {
			bu_audit_good(a, name, "%s", port->name);
			return;
		}
		label = bu_port_label(a->root, port->device, port->port);
		there = bu_xasprintf("%s%s%s", before ? before : "", before ? ", " : "",
				     label);
	}
	bu_audit_bad(a, name, there ? there : "none", want,
		     "network %s: no %s port %s on this machine; there are %s", name,
		     bu_json_bool(network, "infiniband", 0) ? "InfiniBand" : "RDMA",
		     want, there ? there : "none");
	free(there);
}

void
bu_audit_rdma_missing(struct bu_audit *a)
{
	size_t number;
	json_t *network;

	json_array_foreach (json_object_get(a->ctx->expect, "networks"), number,
			    network) {
		const char *want = bu_json_str(network, "port", NULL);

		if (want)
			judge_named(a, network, want);
	}
	for (size_t i = 0; i < a->nic_count; i++) {
		const struct bu_audit_nic *nic = &a->nics[i];
		const struct bu_audit_port *found = NULL;

		if (!nic->network || !bu_json_bool(nic->network, "rdma", 0) ||
		    json_object_get(nic->network, "port") ||
		    bu_audit_nic_of(a, nic->network) != nic)
			continue;
		for (size_t k = 0; k < a->port_count && !found; k++)
			if (a->ports[k].network == nic->network ||
			    bu_port_is_named(a->root, a->ports[k].device,
					     a->ports[k].port, nic->name))
				found = &a->ports[k];
		if (found)
			bu_audit_good(a, nic->name, "%s", found->name);
		else
			bu_audit_bad(a, nic->name, "none", "an RDMA device",
				     "%s has no RDMA device", nic->label);
	}
}

static void
judge_provider(struct bu_audit *a, const struct bu_audit_port *port)
{
	int known = a->probes->rdma_provider
			    ? a->probes->rdma_provider(a->root, port->device)
			    : -1;
	char driver[64];

	bu_sysroot_link(a->root, driver, sizeof(driver), "%s/%s/device/driver", ib,
			port->device);
	if (known > 0)
		bu_audit_good(a, port->name, "%s", driver[0] ? driver : "in software");
	else if (known == 0)
		bu_audit_bad(
			a, port->name, driver[0] ? driver : "unknown",
			"a provider of the agent",
			"RDMA device %s of network %s has the driver %s, for which "
			"the agent has no provider: it cannot be measured",
			port->device, bu_audit_network_name(port->network),
			driver[0] ? driver : "(none)");
}

void
bu_audit_rdma_provider(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_provider);
}

/* What sysfs says that a device is; the numbers are those of enum ibv_node_type. */
static const struct {
	int type;
	const char *name, *why;
} unmeasured[] = {
	{IBV_NODE_RNIC, "iWARP",
	 "speaks iWARP, whose connections need a connection manager"},
	{IBV_NODE_USNIC, "usNIC", "has usNIC's datagrams alone"},
	{IBV_NODE_USNIC_UDP, "usNIC", "has usNIC's datagrams alone"},
	{IBV_NODE_UNSPECIFIED, "its vendor's own",
	 "has a transport of its vendor's, without reliable connections"},
};

/* Measured with reliable connections that are made by hand: only fabrics are. */
static void
judge_transport(struct bu_audit *a, const struct bu_audit_port *port)
{
	char type[32];
	const char *role = bu_json_str(port->network, "role", "fabric");

	bu_sysroot_line(a->root, type, sizeof(type), "%s/%s/node_type", ib,
			port->device);
	if (!*type || strcmp(role, "fabric") != 0)
		return;
	for (size_t i = 0; i < BU_LEN(unmeasured); i++) {
		if (atoi(type) != unmeasured[i].type)
			continue;
		bu_audit_bad(a, port->name, unmeasured[i].name, "InfiniBand or RoCE",
			     "RDMA device %s of network %s %s: it cannot be measured",
			     port->device, bu_audit_network_name(port->network),
			     unmeasured[i].why);
		return;
	}
	bu_audit_good(a, port->name, "%s", port->infiniband ? "InfiniBand" : "RoCE");
}

void
bu_audit_rdma_transport(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_transport);
}

/* "4: ACTIVE" */
static const char *
after_colon(const char *text)
{
	const char *colon = strstr(text, ": ");

	return colon ? colon + 2 : text;
}

static void
judge_state(struct bu_audit *a, const struct bu_audit_port *port)
{
	const char *is, *link;
	char state[32], phys[32], seen[80];

	bu_audit_port_line(a, port, "state", state, sizeof(state));
	bu_audit_port_line(a, port, "phys_state", phys, sizeof(phys));
	is = after_colon(state);
	link = after_colon(phys);
	snprintf(seen, sizeof(seen), "%s, %s", is, link);
	bu_audit_judge(a, strcmp(is, "ACTIVE") == 0 && strcmp(link, "LinkUp") == 0,
		       port->name, seen, "ACTIVE, LinkUp",
		       "RDMA port %s of network %s is %s", port->name,
		       bu_audit_network_name(port->network), seen);
}

void
bu_audit_rdma_state(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_state);
}

static void
count_card(const char *name, void *arg)
{
	(void)name;
	*(int *)arg += 1;
}

/* NICs that carry at the same time. */
static int
cards_of(const struct bu_audit *a, const struct bu_audit_port *port)
{
	char mode[32];
	int cards = 0;

	if (!port->nic)
		return 1;
	bu_sysroot_line(a->root, mode, sizeof(mode), "sys/class/net/%s/bonding/mode",
			port->nic->name);
	bu_audit_each_below(a->root, port->nic->name, count_card, &cards);
	return strncmp(mode, "active-backup", 13) == 0 ? 1 : cards;
}

/* A port over a bond tells the rate of one of its NICs, or of all: that depends on the
 * kernel. nic-speed judges the bond. */
static void
judge_rate(struct bu_audit *a, const struct bu_audit_port *port)
{
	double want = bu_json_real(port->network, "link_gbps", 0), gbps;
	char rate[48], expected[32];

	bu_audit_port_line(a, port, "rate", rate, sizeof(rate));
	if (want <= 0 || port->software || sscanf(rate, "%lf Gb/sec", &gbps) != 1)
		return;
	want /= cards_of(a, port);
	snprintf(expected, sizeof(expected), "%g Gb/sec", want);
	bu_audit_judge(a, gbps + 0.001 >= want, port->name, rate, expected,
		       "RDMA port %s of network %s runs at %s, expected %s", port->name,
		       bu_audit_network_name(port->network), rate, expected);
}

void
bu_audit_rdma_rate(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_rate);
}

/* What of an interface's MTU is headers on this port. */
static enum bu_mtu_headers
headers_of(const struct bu_audit_port *port)
{
	if (port->infiniband)
		return BU_MTU_IPOIB;
	return port->software ? BU_MTU_SOFT_ROCE : BU_MTU_ROCE;
}

/* RoCE's follows the interface's MTU. That of InfiniBand is the subnet's, and IPoIB may
 * have less: what is measured takes as much of it as the profile says. */
static void
judge_rdma_mtu(struct bu_audit *a, const struct bu_audit_port *port)
{
	int64_t mtu = bu_json_int(port->network, "mtu", 0);
	int want = bu_path_mtu(mtu, headers_of(port)), have;
	char seen[32], expected[32];

	if (want == 0 || !a->probes->rdma_mtu)
		return;
	have = a->probes->rdma_mtu(a->root, port->device, port->port);
	if (have <= 0) {
		bu_audit_unknown(a, port->name, "RDMA port %s does not report its MTU",
				 port->name);
		return;
	}
	snprintf(seen, sizeof(seen), "%d", have);
	snprintf(expected, sizeof(expected), "%s%d",
		 port->infiniband ? "at least " : "", want);
	bu_audit_judge(
		a, port->infiniband ? have >= want : have == want, port->name, seen,
		expected, "RDMA port %s of network %s uses MTU %s, expected %s",
		port->name, bu_audit_network_name(port->network), seen, expected);
}

void
bu_audit_rdma_mtu(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_rdma_mtu);
}

/* A probe takes what they count for evidence, and their silence for health. */
static void
judge_losses(struct bu_audit *a, const struct bu_audit_port *port)
{
	if (port->software ||
	    strcmp(bu_json_str(port->network, "role", "fabric"), "fabric") != 0)
		return;
	if (bu_port_tells_losses(a->root, port->device, port->port))
		bu_audit_good(a, port->name, "counted");
	else
		bu_audit_bad(a, port->name, "none", "a counter of lost packets",
			     "RDMA port %s of network %s counts no lost packets: a "
			     "probe sees its losses in its rate alone",
			     port->name, bu_audit_network_name(port->network));
}

void
bu_audit_rdma_losses(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_losses);
}

/* --- DSCP --- */

/* The value of "Global tclass=104" or of a plain number; -1 without. */
static int64_t
traffic_class(const struct bu_audit *a, const struct bu_audit_port *port)
{
	char text[64];
	const char *equals;
	int64_t tos = bu_sysroot_int(
		a->root, -1, "sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos",
		port->device, port->port);

	if (tos > 0)
		return tos;
	if (!bu_sysroot_line(a->root, text, sizeof(text), "%s/%s/tc/%d/traffic_class",
			     ib, port->device, port->port))
		return tos;
	equals = strchr(text, '=');
	return equals ? atoll(equals + 1) : atoll(text);
}

static void
judge_dscp(struct bu_audit *a, const struct bu_audit_port *port)
{
	int64_t want = bu_json_int(port->network, "dscp", -1), tclass;
	char seen[32], expected[32];

	if (want < 0 || port->infiniband)
		return;
	tclass = traffic_class(a, port);
	if (tclass < 0) {
		bu_audit_unknown(a, port->name,
				 "RDMA port %s does not report its traffic class",
				 port->name);
		return;
	}
	snprintf(seen, sizeof(seen), "%lld", (long long)(tclass >> 2));
	snprintf(expected, sizeof(expected), "%lld", (long long)want);
	bu_audit_judge(a, tclass >> 2 == want, port->name, seen, expected,
		       "RDMA port %s of network %s sends with DSCP %s, expected "
		       "%s",
		       port->name, bu_audit_network_name(port->network), seen,
		       expected);
}

void
bu_audit_dscp(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_dscp);
}

/* --- firmware --- */

static void
judge_firmware(struct bu_audit *a, const struct bu_audit_port *port)
{
	const json_t *allowed = json_object_get(port->network, "firmware");
	char version[64], expected[160] = "";
	size_t i, used = 0;
	json_t *one;

	bu_sysroot_line(a->root, version, sizeof(version), "%s/%s/fw_ver", ib,
			port->device);
	if (port->software || !*version)
		return;
	json_array_foreach (allowed, i, one) {
		const char *text = json_string_value(one);

		if (text && strcmp(text, version) == 0)
			break;
		if (text && used + strlen(text) + 5 < sizeof(expected))
			used += (size_t)snprintf(expected + used,
						 sizeof(expected) - used, "%s%s",
						 used ? " or " : "", text);
	}
	/* Without a list the version is told, for the comparison with the others. */
	bu_audit_judge(a, !json_array_size(allowed) || i < json_array_size(allowed),
		       port->name, version, expected,
		       "RDMA device %s has firmware %s, expected %s", port->device,
		       version, expected);
}

void
bu_audit_nic_firmware(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_firmware);
}
