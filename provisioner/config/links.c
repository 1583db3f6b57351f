/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From networks and NICs to links; called by render.c. Invariants: no NIC is used
 * twice, a VLAN's MTU is never above that of what carries it, and what comes from the
 * machine (its MACs) has been normalized before it is written anywhere.
 */
#include "provisioner/config/links.h"

#include <stdio.h>
#include <string.h>

#include "profiles/language/schema.h"

struct maker {
	const struct bu_config_input *input;
	struct bu_links *links;
	int bonds;
};

static int
has_bond(const struct bu_desired_network *network)
{
	return network->bond != BU_BOND_NONE;
}

/* --- which NIC --- */

static int
no_nic(const struct maker *m, const struct bu_desired_network *network, const char *nic,
       struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s: network '%s' is on nic %s, but the machine has %zu "
			  "NICs%s; correct [network %s] %s or look for the card",
			  m->input->node->name, network->name, nic, m->input->nic_count,
			  strchr(nic, ':') ? ", none in this slot" : "", network->name,
			  has_bond(network)  ? "bond_nics"
			  : strchr(nic, ':') ? "pci"
					     : "nic");
}

/* By its number in PCI order or by its slot; -1 when the machine has none. */
static int
find_nic(const struct maker *m, const struct bu_desired_network *network,
	 const char *nic, size_t *ret, struct bu_err *err)
{
	const struct bu_config_input *input = m->input;

	if (!strchr(nic, ':')) {
		*ret = (size_t)atoi(nic);
		return *ret < input->nic_count ? 0 : no_nic(m, network, nic, err);
	}
	for (size_t i = 0; i < input->nic_count; i++)
		if (strcasecmp(input->nics[i].pci, nic) == 0) {
			*ret = i;
			return 0;
		}
	return no_nic(m, network, nic, err);
}

/* What `nics = fabric=52:54:...` of the node says for the network; 1 when it does. */
static int
named_mac(const struct maker *m, const struct bu_desired_network *network,
	  char ret_mac[BU_MAC_SIZE])
{
	const char *rest = m->input->node->nics;
	size_t length = strlen(network->name);
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		bu_autofree char *pair = word;

		if (strncmp(pair, network->name, length) == 0 && pair[length] == '=')
			return bu_mac_normalize(pair + length + 1, ret_mac) == 0;
	}
	return 0;
}

static int
find_named(const struct maker *m, const struct bu_desired_network *network,
	   const char *want, size_t *ret, struct bu_err *err)
{
	char mac[BU_MAC_SIZE];

	for (size_t i = 0; i < m->input->nic_count; i++)
		if (bu_mac_normalize(m->input->nics[i].mac, mac) == 0 &&
		    strcmp(mac, want) == 0) {
			*ret = i;
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s: network '%s' is on the NIC %s, which the machine does "
			  "not have; correct [node %s] nics",
			  m->input->node->name, network->name, want,
			  m->input->node->name);
}

/* --- links --- */

static struct bu_uplink *
add_link(struct maker *m, enum bu_link_kind kind, struct bu_err *err)
{
	struct bu_uplink *link = &m->links->list[m->links->count];

	if (m->links->count == BU_LINKS_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "%s: more than %d links",
			   m->input->node->name, BU_LINKS_MAX);
		return NULL;
	}
	m->links->count++;
	link->kind = kind;
	return link;
}

/* The link of this NIC, made when it is not there yet. */
static struct bu_uplink *
nic_link(struct maker *m, size_t nic, struct bu_err *err)
{
	char mac[BU_MAC_SIZE];
	struct bu_uplink *link;

	if (bu_mac_normalize(m->input->nics[nic].mac, mac) < 0) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "%s: nic %zu (%s) has no MAC address of Ethernet; name an "
			   "InfiniBand port by [network] port instead",
			   m->input->node->name, nic, m->input->nics[nic].name);
		return NULL;
	}
	for (size_t i = 0; i < m->links->count; i++)
		if (m->links->list[i].kind == BU_LINK_NIC &&
		    strcmp(m->links->list[i].mac, mac) == 0)
			return &m->links->list[i];
	link = add_link(m, BU_LINK_NIC, err);
	if (!link)
		return NULL;
	memcpy(link->mac, mac, sizeof(link->mac));
	snprintf(link->id, sizeof(link->id), "nic_%zu", nic);
	return link;
}

static struct bu_uplink *
single_nic(struct maker *m, const struct bu_desired_network *network,
	   struct bu_err *err)
{
	char text[16], mac[BU_MAC_SIZE];
	const char *nic = network->pci ? network->pci : text;
	struct bu_uplink *link;
	size_t i = 0;

	snprintf(text, sizeof(text), "%d", network->nic);
	if (named_mac(m, network, mac) ? find_named(m, network, mac, &i, err)
				       : find_nic(m, network, nic, &i, err))
		return NULL;
	link = nic_link(m, i, err);
	if (link && link->parent) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "%s: network '%s' is on nic %s, which is %s, part of a "
			   "bond; give it a NIC of its own",
			   m->input->node->name, network->name, nic, link->mac);
		return NULL;
	}
	return link;
}

static int
is_used(const struct maker *m, const struct bu_uplink *nic)
{
	for (size_t i = 0; i < m->links->count; i++)
		if (m->links->list[i].parent == nic)
			return 1;
	return nic->parent || nic->network;
}

/* The NICs of the bond, which may be numbers and slots of the same cards: each must be
 * free. */
static int
enslave(struct maker *m, struct bu_uplink *bond, struct bu_err *err)
{
	const struct bu_desired_network *network = bond->bond;
	const char *rest = network->bond_nics;
	char *word;

	while ((word = bu_value_next_word(&rest))) {
		bu_autofree char *nic = word;
		struct bu_uplink *link;
		size_t i;

		if (find_nic(m, network, nic, &i, err))
			return -1;
		link = nic_link(m, i, err);
		if (!link)
			return -1;
		if (is_used(m, link))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s: nic %s of the bond of network '%s' is "
					  "%s, which is in use already; correct "
					  "[network %s] bond_nics",
					  m->input->node->name, nic, network->name,
					  link->mac, network->name);
		link->parent = bond;
		if (!bond->mac[0])
			memcpy(bond->mac, link->mac, sizeof(bond->mac));
	}
	return 0;
}

/* The bond of these NICs, made when it is not there yet: VLANs may share one. */
static struct bu_uplink *
bond_link(struct maker *m, const struct bu_desired_network *network, struct bu_err *err)
{
	struct bu_uplink *link;

	for (size_t i = 0; i < m->links->count; i++)
		if (m->links->list[i].bond &&
		    strcmp(m->links->list[i].bond->bond_nics, network->bond_nics) == 0)
			return &m->links->list[i];
	link = add_link(m, BU_LINK_BOND, err);
	if (!link)
		return NULL;
	link->bond = network;
	snprintf(link->name, sizeof(link->name), "bond%d", m->bonds);
	snprintf(link->id, sizeof(link->id), "bond_%d", m->bonds++);
	return enslave(m, link, err) ? NULL : link;
}

/* "vlan100", or "vlan100-1" where another NIC has that id, too. */
static void
name_vlan(const struct maker *m, struct bu_uplink *link)
{
	int others = 0;

	for (size_t i = 0; i < m->links->count; i++)
		others += &m->links->list[i] != link &&
			  m->links->list[i].vlan == link->vlan;
	if (others)
		snprintf(link->name, sizeof(link->name), "vlan%d-%d", link->vlan,
			 others);
	else
		snprintf(link->name, sizeof(link->name), "vlan%d", link->vlan);
}

/* The firmware's NIC keeps its address when it becomes part of a bond. */
static int
check_boot_mac(const struct maker *m, const struct bu_desired_network *network,
	       struct bu_uplink *link, struct bu_err *err)
{
	const struct bu_desired_node *node = m->input->node;

	if (network->role != BU_ROLE_BOOT || !node->mac)
		return 0;
	for (size_t i = 0; i < m->links->count; i++)
		if (m->links->list[i].parent == link && link->kind == BU_LINK_BOND &&
		    strcmp(m->links->list[i].mac, node->mac) == 0)
			memcpy(link->mac, m->links->list[i].mac, sizeof(link->mac));
	if (strcmp(node->mac, link->mac) == 0)
		return 0;
	if (link->kind == BU_LINK_BOND)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the profile has MAC %s for network '%s', which "
				  "no NIC of its bond has; correct the MAC or "
				  "[network %s] bond_nics",
				  node->name, node->mac, network->name, network->name);
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s: the profile has MAC %s for network '%s', but nic %d "
			  "has %s; correct the MAC or [network %s] nic",
			  node->name, node->mac, network->name, network->nic, link->mac,
			  network->name);
}

static int
add_network(struct maker *m, const struct bu_desired_network *network,
	    struct bu_err *err)
{
	const struct bu_desired_node *node = m->input->node;
	struct bu_uplink *link = has_bond(network) ? bond_link(m, network, err)
						   : single_nic(m, network, err);

	if (!link || check_boot_mac(m, network, link, err))
		return -1;
	if (network->vlan) {
		const struct bu_uplink *carrier = link;

		link = add_link(m, BU_LINK_VLAN, err);
		if (!link)
			return -1;
		link->parent = carrier;
		link->vlan = network->vlan;
		name_vlan(m, link);
	} else if (link->network) {
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the networks '%s' and '%s' are on one NIC, %s; "
				  "give each a NIC of its own or a vlan",
				  node->name, link->network->name, network->name,
				  link->mac);
	}
	if (bu_desired_node_address(node, network, link->address) < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: has no address in network '%s'; give it one in "
				  "[network %s] addresses",
				  node->name, network->name, network->name);
	link->network = network;
	link->mtu = network->mtu;
	link->is_boot = network->role == BU_ROLE_BOOT;
	snprintf(link->id, sizeof(link->id), "%s", network->name);
	return 0;
}

/* What has no network of its own carries the largest of what is on it; the NICs of a
 * bond carry what the bond does. The loader has refused VLANs above their network. */
static void
raise_mtus(struct bu_links *links)
{
	static const enum bu_link_kind below[] = {BU_LINK_VLAN, BU_LINK_NIC};

	for (size_t pass = 0; pass < BU_LEN(below); pass++) {
		for (size_t i = 0; i < links->count; i++) {
			struct bu_uplink *link = &links->list[i];
			struct bu_uplink *parent =
				link->parent ? &links->list[link->parent - links->list]
					     : NULL;

			if (!parent || link->kind != below[pass])
				continue;
			if (link->kind == BU_LINK_NIC)
				link->mtu = parent->mtu;
			else if (!parent->network && parent->mtu < link->mtu)
				parent->mtu = link->mtu;
		}
	}
}

/* Carriers first, as they were found, then what they carry. */
static void
order_links(struct bu_links *links)
{
	struct bu_links sorted = {.count = 0};
	size_t place[BU_LINKS_MAX];

	for (enum bu_link_kind kind = BU_LINK_NIC; kind <= BU_LINK_VLAN; kind++)
		for (size_t i = 0; i < links->count; i++)
			if (links->list[i].kind == kind) {
				place[i] = sorted.count;
				sorted.list[sorted.count++] = links->list[i];
			}
	for (size_t i = 0; i < sorted.count; i++)
		if (sorted.list[i].parent)
			sorted.list[i].parent =
				&links->list[place[sorted.list[i].parent -
						   links->list]];
	memcpy(links, &sorted, sizeof(*links));
}

/* Two rails may reach the same places, each by its own router: what is sent from the
 * address of a rail must leave by its NIC. */
static void
number_tables(const struct bu_desired_pool *pool, struct bu_links *links)
{
	for (size_t i = 0; i < pool->networks_count; i++)
		for (size_t k = 0; k < links->count; k++)
			if (links->list[k].network == pool->networks[i] &&
			    pool->networks[i]->rail_gateway)
				links->list[k].rail_table =
					BU_RAIL_TABLE_FIRST + (int)i;
}

int
bu_links_make(const struct bu_config_input *input, struct bu_links *ret,
	      struct bu_err *err)
{
	const struct bu_desired_pool *pool = input->node->pool;
	struct maker m = {.input = input, .links = ret};

	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < pool->networks_count; i++)
		if (!pool->networks[i]->port &&
		    add_network(&m, pool->networks[i], err) < 0)
			return -1;
	number_tables(pool, ret);
	raise_mtus(ret);
	order_links(ret);
	for (size_t i = 0; i < ret->count; i++)
		bu_config_uuid(ret->list[i].uuid, "%s/%s/link/%s",
			       input->desired->site.name, input->node->name,
			       ret->list[i].id);
	return 0;
}

const char *
bu_link_handle(const struct bu_uplink *link)
{
	return link->name[0] ? link->name : link->mac;
}

int
bu_link_next_route(const char **rest, char ret_to[BU_ROUTE_SIZE],
		   char ret_via[BU_ROUTE_SIZE])
{
	int used = 0;

	if (!*rest ||
	    sscanf(*rest, " %39[0-9./] via %39[0-9.]%n", ret_to, ret_via, &used) != 2)
		return 0;
	*rest += used;
	*rest += strspn(*rest, " ,");
	return 1;
}

void
bu_link_cidr(const struct bu_uplink *link, char ret[BU_ROUTE_SIZE])
{
	const struct bu_cidr *cidr = &link->network->cidr;

	snprintf(ret, BU_ROUTE_SIZE, "%u.%u.%u.%u/%d", cidr->net >> 24,
		 cidr->net >> 16 & 0xff, cidr->net >> 8 & 0xff, cidr->net & 0xff,
		 cidr->prefix_len);
}
