/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no key of a network alone can tell: two networks on one NIC, an MTU that a VLAN
 * cannot have, a gateway outside of the network. Called by
 * load_checks.c. Invariant: whatever would leave a node without its network in the
 * middle of the night is an error here. (load_addresses.c: who has which address.)
 */
#include <string.h>

#include "profiles/load/load_internal.h"

enum { MTU_DEFAULT = 1500 };

/* Neither the network's own address nor its broadcast. */
static int
is_host(const struct bu_cidr *cidr, uint32_t address)
{
	return bu_load_in_cidr(cidr, address) && address != cidr->net &&
	       address != (cidr->net | UINT32_MAX >> cidr->prefix_len);
}

static int
has_bond(const struct bu_desired_network *network)
{
	return network->bond != BU_BOND_NONE;
}

static int
mtu_of(const struct bu_desired_network *network)
{
	return network->mtu ? network->mtu : MTU_DEFAULT;
}

/* What carries the network: "0", "0000:18:00.0", "0,1"; owned. */
static char *
carrier(const struct bu_desired_network *network)
{
	if (has_bond(network) && network->bond_nics)
		return bu_xstrdup(network->bond_nics);
	if (network->port || network->pci)
		return bu_xstrdup(network->port ? network->port : network->pci);
	return bu_xasprintf("%d", network->nic);
}

/* 1 when some NIC is in both lists. */
static int
share_a_nic(const char *a, const char *b)
{
	char *word;

	while ((word = bu_value_next_word(&a))) {
		bu_autofree char *nic = word;
		const char *rest = b;
		char *other;

		while ((other = bu_value_next_word(&rest))) {
			int same = strcmp(nic, other) == 0;

			free(other);
			if (same)
				return 1;
		}
	}
	return 0;
}

static void
check_routes(struct bu_loader *ld, const struct bu_desired_network *network,
	     const struct bu_ini_section *section)
{
	const char *rest = network->routes;
	uint32_t via;

	while (rest && *rest) {
		size_t size = strcspn(rest, ",");
		bu_autofree char *route = bu_xstrndup(rest, size);
		const char *at = strstr(route, " via ");

		if (at && bu_load_ipv4(at + 5, &via) == 0 &&
		    !is_host(&network->cidr, via))
			bu_load_wrong(ld, section, "routes",
				      "%s is not in %s; a route's next hop must be "
				      "inside the network",
				      at + 5, bu_ini_entry(section, "cidr")->value);
		rest += size + (rest[size] == ',');
	}
}

/* What is no mode has its finding. */
static int
says_none(const struct bu_desired_network *network,
	  const struct bu_ini_section *section)
{
	const struct bu_ini_entry *said = bu_ini_entry(section, "bond");

	return !has_bond(network) &&
	       (!said || strcmp(said->value, bu_bond_names[BU_BOND_NONE]) == 0);
}

/* Keys that say how a bond is, and the mode that they are for (NONE = any). */
static void
check_bond_keys(struct bu_loader *ld, const struct bu_desired_network *network,
		const struct bu_ini_section *section)
{
	static const struct {
		const char *key;
		enum bu_bond mode;
	} of[] = {{"bond_miimon", BU_BOND_NONE},
		  {"bond_hash", BU_BOND_LACP},
		  {"bond_lacp_rate", BU_BOND_LACP}};

	for (size_t i = 0; i < BU_LEN(of); i++) {
		enum bu_bond mode = of[i].mode;

		if (!bu_ini_entry(section, of[i].key))
			continue;
		if (says_none(network, section))
			bu_load_wrong(ld, section, of[i].key,
				      "has no bond; give bond = %s",
				      mode ? bu_bond_names[mode]
					   : "active-backup or 802.3ad");
		else if (has_bond(network) && mode && network->bond != mode)
			bu_load_wrong(ld, section, of[i].key,
				      "is for bond = %s; this is bond = %s",
				      bu_bond_names[mode],
				      bu_bond_names[network->bond]);
	}
}

static void
check_nics(struct bu_loader *ld, const struct bu_desired_network *network,
	   const struct bu_ini_section *section)
{
	if (has_bond(network) && !bu_ini_entry(section, "bond_nics"))
		bu_load_wrong(ld, section, "bond_nics",
			      "is missing; bond = %s takes two NICs or more",
			      bu_bond_names[network->bond]);
	if (says_none(network, section) && network->bond_nics)
		bu_load_wrong(ld, section, "bond_nics",
			      "has no bond; give bond = active-backup or 802.3ad");
	if (has_bond(network) &&
	    (bu_ini_entry(section, "nic") || bu_ini_entry(section, "pci")))
		bu_load_wrong(ld, section, bu_ini_entry(section, "nic") ? "nic" : "pci",
			      "does not go with a bond; bond_nics names the NICs");
	else if (bu_ini_entry(section, "nic") && bu_ini_entry(section, "pci"))
		bu_load_wrong(ld, section, "pci",
			      "names the NIC, and so does nic; give one of them");
}

/* A port's interface is not set up: what says how would never be looked at. */
static void
check_port(struct bu_loader *ld, const struct bu_desired_network *network,
	   const struct bu_ini_section *section)
{
	static const char *const keys[] = {"nic",     "pci",    "bond_nics",   "vlan",
					   "gateway", "routes", "rail_gateway"};

	if (!network->port) {
		if (!bu_ini_entry(section, "cidr"))
			bu_load_wrong(ld, section, "cidr",
				      "is missing; it says: the network");
		if (network->rdma == BU_RDMA_INFINIBAND)
			bu_load_wrong(ld, section, "port",
				      "is missing; it says: the InfiniBand port, like "
				      "mlx5_3/1");
		return;
	}
	if (network->rdma < BU_RDMA_HARDWARE)
		bu_load_wrong(ld, section, "port",
			      "names an RDMA port of hardware; give rdma = infiniband "
			      "or rdma = hardware");
	if (network->role == BU_ROLE_BOOT || network->role == BU_ROLE_BMC)
		bu_load_wrong(ld, section, "port",
			      "is for role = fabric and storage; give nic or pci");
	for (size_t i = 0; i < BU_LEN(keys); i++)
		if (bu_ini_entry(section, keys[i]))
			bu_load_wrong(ld, section, keys[i],
				      "does not go with port, whose interface is left "
				      "as the image sets it up; give one of them");
}

/* What only RDMA has would never be looked at. */
static void
check_rdma_keys(struct bu_loader *ld, const struct bu_desired_network *network,
		const struct bu_ini_section *section)
{
	static const char *const keys[] = {"dscp",       "pkeys",        "gid_index",
					   "gid_family", "flow_label",   "pkey",
					   "sl",         "switch_fabric"};

	for (size_t i = 0; i < BU_LEN(keys); i++)
		if (network->rdma == BU_RDMA_NONE && bu_ini_entry(section, keys[i]))
			bu_load_wrong(ld, section, keys[i],
				      "is for RDMA, and this network has none; give "
				      "rdma = hardware, infiniband or rxe");
}

static void
check_gid(struct bu_loader *ld, const struct bu_desired_network *network,
	  const struct bu_ini_section *section)
{
	if (!network->gid_family)
		return;
	if (network->rdma == BU_RDMA_INFINIBAND)
		bu_load_wrong(ld, section, "gid_family",
			      "is for RoCE v2; InfiniBand has GUIDs");
	if (network->gid_index >= 0)
		bu_load_wrong(ld, section, "gid_family",
			      "names the GID, and so does gid_index; give one of them");
}

/* The same partition, whichever kind of member. */
static int
same_partition(const char *a, const char *b)
{
	return ((strtol(a, NULL, 16) ^ strtol(b, NULL, 16)) & 0x7fff) == 0;
}

static int
is_in_list(const char *list, const char *pkey)
{
	char *word;
	int found = 0;

	while ((word = bu_value_next_word(&list))) {
		found |= same_partition(word, pkey);
		free(word);
	}
	return found;
}

/* What is measured in another partition than its ports must be in is never measured. */
static void
check_partition(struct bu_loader *ld, const struct bu_desired_network *network,
		const struct bu_ini_section *section)
{
	const char *pkey = network->pkey;

	if (pkey && network->rdma == BU_RDMA_RXE && !same_partition(pkey, "0xffff"))
		bu_load_wrong(ld, section, "pkey",
			      "%s is not there: soft-RoCE has the partition 0xffff "
			      "alone",
			      pkey);
	else if (pkey && network->pkeys && !is_in_list(network->pkeys, pkey))
		bu_load_wrong(ld, section, "pkey",
			      "%s is none of pkeys = %s; add it there", pkey,
			      network->pkeys);
}

static void
check_gateway(struct bu_loader *ld, const struct bu_desired_network *network,
	      const struct bu_ini_section *section, const char *key)
{
	const struct bu_ini_entry *entry = bu_ini_entry(section, key);
	uint32_t gateway;

	if (entry && bu_load_ipv4(entry->value, &gateway) == 0 &&
	    !is_host(&network->cidr, gateway))
		bu_load_wrong(ld, section, key,
			      "%s is not in %s; a gateway must be inside the network",
			      entry->value, bu_ini_entry(section, "cidr")->value);
}

static void
check_network(struct bu_loader *ld, const struct bu_desired_network *network,
	      const struct bu_ini_section *section)
{
	check_nics(ld, network, section);
	check_port(ld, network, section);
	check_bond_keys(ld, network, section);
	check_rdma_keys(ld, network, section);
	check_gid(ld, network, section);
	check_partition(ld, network, section);
	if (network->rdma == BU_RDMA_RXE && network->vlan)
		bu_load_wrong(
			ld, section, "rdma",
			"rxe does not go with a vlan: the kernel makes soft-RoCE over "
			"NICs and bonds only");
	if (network->cidr.prefix_len) {
		check_routes(ld, network, section);
		check_gateway(ld, network, section, "gateway");
		check_gateway(ld, network, section, "rail_gateway");
	}
	if (network->rail_gateway && network->role != BU_ROLE_FABRIC)
		bu_load_wrong(ld, section, "rail_gateway",
			      "is for role = fabric; give gateway or routes");
	if (network->role == BU_ROLE_BOOT && network->vlan)
		bu_load_wrong(
			ld, section, "vlan",
			"does not go with a boot network: firmware starts without a "
			"tag; make it the native VLAN of the switch port");
	if (network->role == BU_ROLE_BOOT && network->rdma != BU_RDMA_NONE &&
	    network->mtu && network->mtu < 1024)
		bu_load_wrong(ld, section, "mtu",
			      "%d is too small for RDMA; allowed is 1024 or more",
			      network->mtu);
}

static void
check_overlap(struct bu_loader *ld, size_t i, size_t j)
{
	const struct bu_desired_network *a = &ld->desired->networks[i];
	const struct bu_desired_network *b = &ld->desired->networks[j];
	int bits = a->cidr.prefix_len < b->cidr.prefix_len ? a->cidr.prefix_len
							   : b->cidr.prefix_len;

	if (bits && (a->cidr.net ^ b->cidr.net) >> (32 - bits) == 0)
		bu_load_wrong(ld, ld->network_sections[i], "cidr",
			      "overlaps with [network %s]; each network has its own "
			      "addresses",
			      b->name);
}

/* VLANs may share a bond; what it is they must agree on. */
static int
same_bond(const struct bu_desired_network *a, const struct bu_desired_network *b)
{
	return !has_bond(a) || !has_bond(b) ||
	       (a->bond == b->bond && a->bond_miimon_ms == b->bond_miimon_ms &&
		strcmp(a->bond_hash, b->bond_hash) == 0 &&
		strcmp(a->bond_lacp_rate, b->bond_lacp_rate) == 0);
}

/* Two networks of a pool on one NIC: only as VLANs that it can carry. */
static void
check_pair(struct bu_loader *ld, const struct bu_desired_network *a,
	   const struct bu_desired_network *b, const struct bu_ini_section *section)
{
	bu_autofree char *on_a = carrier(a), *on_b = carrier(b);
	const struct bu_desired_network *tagged = a->vlan ? a : b;
	const struct bu_desired_network *plain = a->vlan ? b : a;

	if (a->rail >= 0 && a->rail == b->rail)
		bu_load_wrong(ld, section, "networks",
			      "'%s' and '%s' are both rail %d; each rail has its own "
			      "network",
			      a->name, b->name, a->rail);
	if (!share_a_nic(on_a, on_b))
		return;
	if (strcmp(on_a, on_b) != 0)
		bu_load_wrong(ld, section, "networks",
			      "'%s' is on nic %s and '%s' on nic %s; a bond has its "
			      "NICs for itself",
			      a->name, on_a, b->name, on_b);
	else if (!same_bond(a, b))
		bu_load_wrong(ld, section, "networks",
			      "'%s' and '%s' share a bond of nics %s, but not its "
			      "bond, bond_miimon, bond_hash and bond_lacp_rate",
			      a->name, b->name, on_a);
	else if (a->vlan == b->vlan)
		bu_load_wrong(ld, section, "networks",
			      "'%s' and '%s' are both on %s %s%s; give each "
			      "network a %s of its own%s",
			      a->name, b->name, a->port ? "port" : "nic", on_a,
			      a->vlan ? " in one VLAN" : "", a->port ? "port" : "NIC",
			      a->vlan ? " or another vlan" : "");
	else if (plain->vlan == 0 && mtu_of(tagged) > mtu_of(plain))
		bu_load_wrong(ld, section, "networks",
			      "'%s' has mtu %d in a VLAN over '%s' with mtu %d; the "
			      "NIC must carry the larger one",
			      tagged->name, mtu_of(tagged), plain->name, mtu_of(plain));
}

/* The same destination over two networks: it is unknown which one counts. */
static void
check_route_twice(struct bu_loader *ld, const struct bu_desired_network *a,
		  const struct bu_desired_network *b,
		  const struct bu_ini_section *section)
{
	const char *rest = a->routes;

	while (rest && *rest) {
		size_t size = strcspn(rest, ",");
		bu_autofree char *route = bu_xstrndup(rest, size);
		const char *to = route + strspn(route, " \t");
		bu_autofree char *start =
			bu_xasprintf("%.*s ", (int)strcspn(to, " \t"), to);
		const char *other = b->routes ? strstr(b->routes, start) : NULL;

		rest += size + (rest[size] == ',');
		if (other && (other == b->routes || strchr(", \t", other[-1])))
			bu_load_wrong(ld, section, "networks",
				      "'%s' and '%s' both have a route to %.*s; a "
				      "destination has one",
				      b->name, a->name, (int)strlen(start) - 1, start);
	}
}

static void
check_nic_number(struct bu_loader *ld, const struct bu_desired_pool *pool,
		 const struct bu_desired_network *network,
		 const struct bu_ini_section *section)
{
	int nics = pool->hardware ? pool->hardware->nics : 0;
	bu_autofree char *list = carrier(network);
	const char *rest = list;
	char *word;

	while (nics && !network->port && (word = bu_value_next_word(&rest))) {
		bu_autofree char *nic = word;

		if (!strchr(nic, ':') && atoi(nic) >= nics)
			bu_load_wrong(ld, section, "networks",
				      "'%s' is on nic %s; [hardware %s] has NICs 0 to "
				      "%d",
				      network->name, nic, pool->hardware->name,
				      nics - 1);
	}
}

void
bu_load_check_pool_networks(struct bu_loader *ld, const struct bu_desired_pool *pool,
			    const struct bu_ini_section *section)
{
	int boot = 0, gateways = 0;

	for (size_t i = 0; i < pool->networks_count; i++) {
		const struct bu_desired_network *network = pool->networks[i];

		boot += network->role == BU_ROLE_BOOT;
		gateways += network->gateway != NULL;
		if (network->role == BU_ROLE_BMC)
			bu_load_wrong(ld, section, "networks",
				      "'%s' has role = bmc, no NIC of a node is in it; "
				      "name it as bmc_network",
				      network->name);
		for (size_t j = 0; j < i; j++) {
			check_pair(ld, pool->networks[j], network, section);
			check_route_twice(ld, network, pool->networks[j], section);
		}
		check_nic_number(ld, pool, network, section);
	}
	if (pool->networks_count && boot != 1)
		bu_load_wrong(
			ld, section, "networks",
			"holds %d networks with role = boot; allowed is exactly one",
			boot);
	if (gateways > 1)
		bu_load_wrong(ld, section, "networks",
			      "holds %d networks with a gateway; a node has one "
			      "default route",
			      gateways);
	if (pool->bmc_network && pool->bmc_network->role != BU_ROLE_BMC)
		bu_load_wrong(ld, section, "bmc_network",
			      "[network %s] has another role; allowed is a network "
			      "with role = bmc",
			      pool->bmc_network->name);
}

void
bu_load_check_networks(struct bu_loader *ld)
{
	for (size_t i = 0; i < ld->desired->networks_count; i++) {
		for (size_t j = 0; j < i; j++)
			check_overlap(ld, i, j);
		check_network(ld, &ld->desired->networks[i], ld->network_sections[i]);
	}
	bu_load_check_fabrics(ld);
	bu_load_check_addresses(ld);
}
