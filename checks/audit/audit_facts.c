/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the audit is about: interfaces, RDMA ports, and the PCI endpoints that carry
 * fabric traffic, each matched with what is expected of it. Called once per audit.
 * Invariants: lists are in a fixed order; what is more than the tables hold is left out
 * (no machine has it); a card that is neither a GPU nor on the fabric is not judged.
 */
#include <ctype.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"
#include "fabric/probe/port.h"

static const char ib[] = "sys/class/infiniband";
static const char pci_dir[] = "sys/bus/pci/devices";

static void visit_port(const char *name, void *arg);

enum { LOOK_MS = 20000 };

/* The next reads ask the driver of this device, which has so much time. */
static void
look_at(const struct bu_audit *a, const char *id, const char *subject)
{
	bu_checks_doing(a->ctx, NULL,
			&(struct bu_doing){.limit_ms = LOOK_MS,
					   .id = id,
					   .subject = subject,
					   .what = "what it is",
					   .hint = "its driver hangs: the kernel's log "
						   "says more; restart the machine, or "
						   "swap the card"});
}

/* --- interfaces --- */

static int
is_network_of(const json_t *network, const struct bu_audit_nic *nic)
{
	const char *mac = bu_json_str(network, "mac", NULL);
	const char *pci = bu_json_str(network, "pci", NULL);
	const char *netdev = bu_json_str(network, "netdev", NULL);

	if (mac)
		return strcasecmp(mac, nic->mac) == 0;
	if (pci)
		return strcasecmp(pci, nic->pci) == 0;
	return netdev && strcmp(netdev, nic->name) == 0;
}

static void
name_nic(struct bu_audit_nic *nic, const char *name, const json_t *network)
{
	nic->network = network;
	bu_audit_label(nic->label, sizeof(nic->label), name, network);
}

static void
visit_nic(const char *name, void *arg)
{
	struct bu_audit *a = arg;
	struct bu_audit_nic *nic = &a->nics[a->nic_count];
	char address[16];
	size_t i;
	json_t *network;

	look_at(a, "nic-down", name);
	if (a->nic_count == AUDIT_NICS_MAX || strlen(name) >= sizeof(nic->name) ||
	    strcmp(name, "lo") == 0 ||
	    !bu_sysroot_exists(a->root, "sys/class/net/%s/address", name))
		return;
	memset(nic, 0, sizeof(*nic));
	snprintf(nic->name, sizeof(nic->name), "%s", name);
	bu_sysroot_line(a->root, nic->mac, sizeof(nic->mac), "sys/class/net/%s/address",
			name);
	bu_sysroot_link(a->root, address, sizeof(address), "sys/class/net/%s/device",
			name);
	nic->ipoib = bu_sysroot_int(a->root, 0, "sys/class/net/%s/type", name) ==
		     ARPHRD_INFINIBAND;
	nic->virtio = strncmp(address, "virtio", 6) == 0;
	if (bu_sysroot_is_pci(address))
		snprintf(nic->pci, sizeof(nic->pci), "%s", address);
	name_nic(nic, name, NULL);
	json_array_foreach (json_object_get(a->ctx->expect, "networks"), i, network) {
		/* A VLAN or a bond has the MAC of what is below it; the card counts. */
		if (!is_network_of(network, nic) ||
		    (!*address && bu_audit_nic_of(a, network)))
			continue;
		name_nic(nic, name, network);
	}
	a->nic_count++;
}

/* --- RDMA ports --- */

struct port_search {
	struct bu_audit *a;
	const char *device;
	struct bu_audit_port *port;
};

/* An interface of the same PCI function and port number. */
static void
visit_sibling(const char *name, void *arg)
{
	struct port_search *s = arg;
	int64_t port = bu_sysroot_int(s->a->root, 0, "%s/%s/device/net/%s/dev_port", ib,
				      s->device, name);

	if (!*s->port->netdev && port + 1 == s->port->port &&
	    strlen(name) < sizeof(s->port->netdev))
		snprintf(s->port->netdev, sizeof(s->port->netdev), "%s", name);
}

static void
visit_entry(const char *index, void *arg)
{
	struct port_search *s = arg;

	if (!*s->port->netdev)
		bu_sysroot_line(s->a->root, s->port->netdev, sizeof(s->port->netdev),
				"%s/%s/ports/%d/gid_attrs/ndevs/%s", ib, s->device,
				s->port->port, index);
}

/* Soft-RoCE names its interface in `parent`, RoCE in its GID table, and InfiniBand has
 * one beside it. */
static void
find_netdev(struct port_search *s)
{
	struct bu_audit_port *port = s->port;
	const char *root = s->a->root;

	bu_sysroot_line(root, port->netdev, sizeof(port->netdev),
			"%s/%s/ports/%d/gid_attrs/ndevs/0", ib, port->device,
			port->port);
	if (!*port->netdev && port->port == 1)
		bu_sysroot_line(root, port->netdev, sizeof(port->netdev),
				"%s/%s/parent", ib, port->device);
	if (!*port->netdev)
		bu_sysroot_each(root, visit_sibling, s, "%s/%s/device/net", ib,
				port->device);
	if (!*port->netdev)
		bu_sysroot_each(root, visit_entry, s, "%s/%s/ports/%d/gid_attrs/ndevs",
				ib, port->device, port->port);
}

/* The network that names this port itself; NULL. */
static const json_t *
named_network(const struct bu_audit *a, const struct bu_audit_port *port)
{
	size_t i;
	json_t *network;

	json_array_foreach (json_object_get(a->ctx->expect, "networks"), i, network) {
		const char *name = bu_json_str(network, "port", NULL);

		if (name && bu_port_is_named(a->root, port->device, port->port, name))
			return network;
	}
	return NULL;
}

/* The network of a VLAN over this port's interface; NULL. */
static const json_t *
vlan_network(const struct bu_audit *a, const struct bu_audit_port *port)
{
	for (size_t i = 0; i < a->nic_count; i++) {
		const json_t *network = a->nics[i].network;

		if (bu_json_bool(network, "rdma", 0) &&
		    !json_object_get(network, "port") &&
		    bu_port_is_named(a->root, port->device, port->port,
				     a->nics[i].name))
			return network;
	}
	return NULL;
}

/* May the network that names this port be that of its interface? A port of the wrong
 * kind is the wrong one. */
static int
gives_network(const struct bu_audit *a, const struct bu_audit_port *port,
	      const struct bu_audit_nic *nic)
{
	return (nic->is_bond ||
		bu_sysroot_exists(a->root, "sys/class/net/%s/device", nic->name)) &&
	       (port->infiniband || !bu_json_bool(port->network, "infiniband", 0)) &&
	       !bu_audit_nic_of(a, port->network);
}

/* Where the cards have no device in common the bond is that of its active one alone. */
static int
is_of_bond(const struct bu_audit *a, const struct bu_audit_port *port, const char *bond)
{
	int found = 0;

	for (size_t i = 0; i < a->port_count; i++) {
		const struct bu_audit_port *one = &a->ports[i];
		int named = bu_port_is_named(a->root, one->device, one->port, bond);

		if (named && one == port)
			return 1;
		found |= named;
	}
	return !found;
}

/* The port's network and its interface. A network that names its port tells of no
 * interface: it is the port's. */
static void
find_network(struct bu_audit *a, struct bu_audit_port *port)
{
	struct bu_audit_nic *nic = bu_audit_nic_find(a, port->netdev);

	/* RoCE over a bond; one of IPoIB is of several RDMA ports. */
	if (nic && nic->bond && !nic->network && !port->infiniband &&
	    is_of_bond(a, port, nic->bond->name))
		nic = nic->bond;
	port->nic = nic;
	/* Of two devices over one interface only the one that is named. */
	port->network =
		nic && !json_object_get(nic->network, "port") ? nic->network : NULL;
	if (!bu_json_bool(port->network, "rdma", 0)) {
		const json_t *tagged = vlan_network(a, port);

		port->network = tagged ? tagged : port->network;
	}
	if (!port->network)
		port->network = named_network(a, port);
	if (port->network && nic && !nic->network && gives_network(a, port, nic))
		name_nic(nic, nic->name, port->network);
	bu_audit_label(port->label, sizeof(port->label), port->name, port->network);
}

const char *
bu_audit_end_name(const struct bu_audit_port *port)
{
	return port->nic ? port->nic->name : port->name;
}

const char *
bu_audit_end_label(const struct bu_audit_port *port)
{
	return port->nic ? port->nic->label : port->label;
}

static void
visit_port(const char *name, void *arg)
{
	struct port_search *s = arg;
	struct bu_audit *a = s->a;
	struct bu_audit_port *port = &a->ports[a->port_count];
	char layer[32];

	if (a->port_count == AUDIT_PORTS_MAX || !isdigit((unsigned char)name[0]) ||
	    strlen(s->device) >= sizeof(port->device))
		return;
	memset(port, 0, sizeof(*port));
	s->port = port;
	port->port = atoi(name);
	snprintf(port->device, sizeof(port->device), "%s", s->device);
	snprintf(port->name, sizeof(port->name), port->port == 1 ? "%s" : "%s/%d",
		 port->device, port->port);
	bu_sysroot_line(a->root, layer, sizeof(layer), "%s/%s/ports/%s/link_layer", ib,
			s->device, name);
	port->infiniband = strcmp(layer, "InfiniBand") == 0;
	bu_sysroot_link(a->root, port->pci, sizeof(port->pci), "%s/%s/device", ib,
			s->device);
	port->software = !*port->pci;
	if (!bu_sysroot_is_pci(port->pci))
		port->pci[0] = '\0';
	find_netdev(s);
	a->port_count++;
}

static void
visit_device(const char *name, void *arg)
{
	struct port_search s = {.a = arg, .device = name};

	look_at(s.a, "rdma-state", name);
	bu_sysroot_each(s.a->root, visit_port, &s, "%s/%s/ports", ib, name);
}

/* --- PCI endpoints --- */

static struct bu_audit_pci *
add_endpoint(struct bu_audit *a, const char *address)
{
	struct bu_audit_pci *pci = &a->pci[a->pci_count];
	bu_autofree char *path = NULL;
	char *save, *part;

	for (size_t i = 0; i < a->pci_count; i++)
		if (strcmp(a->pci[i].address, address) == 0)
			return &a->pci[i];
	if (a->pci_count == AUDIT_PCI_MAX)
		return NULL;
	memset(pci, 0, sizeof(*pci));
	snprintf(pci->address, sizeof(pci->address), "%s", address);
	pci->numa =
		(int)bu_sysroot_int(a->root, -1, "%s/%s/numa_node", pci_dir, address);
	path = bu_sysroot_real(a->root, "%s/%s", pci_dir, address);
	for (part = path ? strtok_r(path, "/", &save) : NULL; part;
	     part = strtok_r(NULL, "/", &save))
		if (bu_sysroot_is_pci(part) && pci->hop_count < AUDIT_HOPS_MAX)
			snprintf(pci->hops[pci->hop_count++], 16, "%s", part);
	a->pci_count++;
	return pci;
}

/* network: whose rate its slot must carry; used: by the profile, in whatever way. */
static void
add_nic_endpoint(struct bu_audit *a, const char *address, const char *name,
		 const json_t *network, int used)
{
	struct bu_audit_pci *pci = add_endpoint(a, address);

	if (!pci)
		return;
	if (!*pci->label)
		snprintf(pci->label, sizeof(pci->label), "NIC %.40s (%s)", name,
			 address);
	pci->used |= used;
	if (pci->link_gbps == 0)
		pci->link_gbps = bu_json_real(network, "link_gbps", 0);
}

/* NVIDIA's and AMD's; not the display of a BMC or of a processor. */
static void
visit_gpu(const char *name, void *arg)
{
	struct bu_audit *a = arg;
	int64_t vendor = bu_sysroot_int(a->root, 0, "%s/%s/vendor", pci_dir, name);
	int64_t class = bu_sysroot_int(a->root, 0, "%s/%s/class", pci_dir, name) >> 8;
	struct bu_audit_pci *pci;

	if (!bu_sysroot_is_pci(name) ||
	    !((vendor == 0x10de && (class == 0x300 || class == 0x302)) ||
	      (vendor == 0x1002 && class == 0x1200)))
		return;
	pci = add_endpoint(a, name);
	if (!pci)
		return;
	pci->is_gpu = pci->used = 1;
	/* AMD has its accelerators accepted at full speed without load. */
	pci->rests = vendor == 0x10de;
	snprintf(pci->label, sizeof(pci->label), "GPU %s", name);
}

int
bu_audit_numa_nodes(const struct bu_audit *a)
{
	int count = bu_sysroot_cpu_nodes(a->root);

	return count > 0 ? count : 1;
}

/* By a network of its own, or of its interface, or of the bond over that. */
static int
is_used(const struct bu_audit_port *port)
{
	return port->network || (port->nic && (port->nic->network || port->nic->cable));
}

/* Those with a network, or those without (RDMA functions of NVSwitches are some): these
 * come last, so that a bridge that both share is one of what is used. */
static void
add_ports(struct bu_audit *a, int with_network)
{
	for (size_t i = 0; i < a->port_count; i++) {
		const struct bu_audit_port *port = &a->ports[i];

		if (*port->pci && is_used(port) == with_network)
			add_nic_endpoint(a, port->pci, port->device, port->network,
					 with_network);
	}
}

void
bu_audit_collect(struct bu_audit *a)
{
	bu_sysroot_each(a->root, visit_nic, a, "sys/class/net");
	bu_audit_find_bonds(a);
	bu_sysroot_each(a->root, visit_device, a, "%s", ib);
	for (size_t i = 0; i < a->port_count; i++) {
		look_at(a, "rdma-state", a->ports[i].device);
		find_network(a, &a->ports[i]);
	}
	bu_audit_find_cables(a);
	bu_sysroot_each(a->root, visit_gpu, a, "%s", pci_dir);
	add_ports(a, 1);
	for (size_t i = 0; i < a->nic_count; i++)
		if (a->nics[i].network && *a->nics[i].pci &&
		    bu_json_bool(a->nics[i].network, "rdma", 0))
			add_nic_endpoint(a, a->nics[i].pci, a->nics[i].name,
					 a->nics[i].network, 1);
	add_ports(a, 0);
}
