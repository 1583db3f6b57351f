/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the switches of an InfiniBand fabric and reads their counters, over libibmad.
 * Called by the agent's child for the work item "switches". Invariants: it only asks
 * (method Get) and resets nothing; each question has a deadline, and so have all of
 * them; hops, switches and links have limits.
 */
#include "checks/audit/ibfabric.h"

#include <ctype.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "checks/audit/ibfabric_impl.h"
#include "checks/audit/ibpeer.h"
#include "checks/audit/ibport.h"
#include "fabric/probe/device.h"

enum {
	ASK_MS = 500,
	RETRIES = 2,
	HOPS_MAX = 8,
	SWITCHES_MAX = 4096,
	LINKS_MAX = 65536,
	PORTS_MAX = 254,
	LINK_UP = 5, /* PortPhysicalState */
	DESCRIPTION = 64,
};

struct one_switch {
	ib_portid_t path;
	uint64_t guid;
	int ports, lid;
	char name[BU_NAME_SIZE]; /* that it was asked for by; "" = it was not */
};

struct link {
	size_t from; /* place of the switch */
	int port;
	uint64_t to; /* GUID */
};

struct walk {
	struct ibmad_port *mad;
	const json_t *names;
	int64_t until_ms;
	struct one_switch *list;
	size_t count, cap;
	struct link *links;
	size_t links_count, links_cap;
};

static int
is_late(const struct walk *walk)
{
	return bu_mono_ms(bu_clock_system()) >= walk->until_ms;
}

static int
ask(const struct walk *walk, ib_portid_t *to, unsigned attribute, unsigned modifier,
    uint8_t ret[IB_SMP_DATA_SIZE])
{
	memset(ret, 0, IB_SMP_DATA_SIZE);
	return !is_late(walk) &&
			       smp_query_via(ret, to, attribute, modifier, 0, walk->mad)
		       ? 0
		       : -1;
}

/* --- its name --- */

static int
is_asked_for(const struct walk *walk, const char *name, struct one_switch *ret)
{
	if (!json_object_get(walk->names, name) || strlen(name) >= sizeof(ret->name))
		return 0;
	strcpy(ret->name, name);
	return 1;
}

static void
find_name(const struct walk *walk, struct one_switch *one)
{
	uint8_t data[IB_SMP_DATA_SIZE];
	char description[DESCRIPTION + 1] = "";
	bu_autofree char *guid =
		bu_xasprintf("0x%016llx", (unsigned long long)one->guid);
	char inner[DESCRIPTION + 1];

	if (is_asked_for(walk, guid, one) ||
	    ask(walk, &one->path, IB_ATTR_NODE_DESC, 0, data) != 0)
		return;
	memcpy(description, data, DESCRIPTION);
	for (char *at = description; *at; at++)
		*at = isprint((unsigned char)*at) ? *at : '?';
	bu_ib_peer_name(description, inner, sizeof(inner));
	if (!is_asked_for(walk, description, one))
		is_asked_for(walk, inner, one);
}

/* --- the walk --- */

static size_t
find_switch(const struct walk *walk, uint64_t guid)
{
	size_t i = 0;

	while (i < walk->count && walk->list[i].guid != guid)
		i++;
	return i;
}

/* Adds what is at the end of the path. 0 = it is no switch, or does not answer. */
static uint64_t
visit(struct walk *walk, const ib_portid_t *path)
{
	struct one_switch one = {.path = *path};
	uint8_t data[IB_SMP_DATA_SIZE];

	if (ask(walk, &one.path, IB_ATTR_NODE_INFO, 0, data) != 0 ||
	    mad_get_field(data, 0, IB_NODE_TYPE_F) != IB_NODE_SWITCH)
		return 0;
	one.guid = mad_get_field64(data, 0, IB_NODE_GUID_F);
	one.ports = (int)mad_get_field(data, 0, IB_NODE_NPORTS_F);
	if (find_switch(walk, one.guid) < walk->count || walk->count == SWITCHES_MAX)
		return one.guid;
	if (ask(walk, &one.path, IB_ATTR_PORT_INFO, 0, data) == 0)
		one.lid = (int)mad_get_field(data, 0, IB_PORT_LID_F);
	find_name(walk, &one);
	walk->list =
		bu_xgrow(walk->list, &walk->cap, walk->count + 1, sizeof(*walk->list));
	walk->list[walk->count++] = one;
	return one.guid;
}

static void
look_through(struct walk *walk, size_t place, int port)
{
	ib_portid_t path = walk->list[place].path;
	uint8_t data[IB_SMP_DATA_SIZE];
	uint64_t to;

	if (ask(walk, &path, IB_ATTR_PORT_INFO, (unsigned)port, data) != 0 ||
	    mad_get_field(data, 0, IB_PORT_PHYS_STATE_F) != LINK_UP ||
	    path.drpath.cnt >= HOPS_MAX)
		return;
	path.drpath.p[++path.drpath.cnt] = (uint8_t)port;
	to = visit(walk, &path);
	if (!to || !walk->list[place].name[0] || walk->links_count == LINKS_MAX)
		return;
	walk->links = bu_xgrow(walk->links, &walk->links_cap, walk->links_count + 1,
			       sizeof(*walk->links));
	walk->links[walk->links_count++] = (struct link){place, port, to};
}

static int
find_links(struct walk *walk, struct bu_err *err)
{
	ib_portid_t path = {.lid = 0};
	uint8_t data[IB_SMP_DATA_SIZE];

	if (ask(walk, &path, IB_ATTR_NODE_INFO, 0, data) != 0)
		return bu_err_set(
			err, BU_ERR_IO, 0,
			"the port itself does not answer a management packet");
	path.drpath.cnt = 1;
	path.drpath.p[1] = (uint8_t)mad_get_field(data, 0, IB_NODE_LOCAL_PORT_F);
	visit(walk, &path);
	for (size_t i = 0; i < walk->count; i++)
		for (int port = 1; port <= walk->list[i].ports && port <= PORTS_MAX;
		     port++)
			look_through(walk, i, port);
	return 0;
}

/* --- what they count --- */

/* Errors that a port sees in what it receives, and in what it cannot send: PortXmitWait
 * is congestion, and so is none of them. */
static const struct {
	enum MAD_FIELDS plain, extended;
	int sent;
} counters[] = {
	{IB_PC_ERR_SYM_F, IB_PC_EXT_ERR_SYM_F, 0},
	{IB_PC_LINK_RECOVERS_F, IB_PC_EXT_LINK_RECOVERS_F, 0},
	{IB_PC_LINK_DOWNED_F, IB_PC_EXT_LINK_DOWNED_F, 0},
	{IB_PC_ERR_RCV_F, IB_PC_EXT_ERR_RCV_F, 0},
	{IB_PC_ERR_PHYSRCV_F, IB_PC_EXT_ERR_PHYSRCV_F, 0},
	{IB_PC_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_LOCALINTEG_F, 0},
	{IB_PC_ERR_EXCESS_OVR_F, IB_PC_EXT_ERR_EXCESS_OVR_F, 0},
	{IB_PC_VL15_DROPPED_F, IB_PC_EXT_VL15_DROPPED_F, 0},
	{IB_PC_XMT_DISCARDS_F, IB_PC_EXT_XMT_DISCARDS_F, 1},
};

/* Their bits, in the order of `counters`: at its end one stays as it is. */
static const int plain_bits[] = {16, 8, 8, 16, 16, 4, 4, 16, 16};

void
bu_ib_fabric_sums(uint8_t *data, int extended, uint64_t ret[2], const char **ret_full)
{
	ret[0] = ret[1] = 0;
	for (size_t i = 0; i < BU_LEN(counters); i++) {
		uint64_t value =
			extended ? mad_get_field64(data, 0, counters[i].extended)
				 : mad_get_field(data, 0, counters[i].plain);

		ret[counters[i].sent] += value;
		if (!extended && value == (UINT64_C(1) << plain_bits[i]) - 1)
			*ret_full = mad_field_name(counters[i].plain);
	}
}

/* 1 = the switch has them all with 64 bits. */
static int
has_extended(const struct walk *walk, ib_portid_t *to)
{
	enum { ADDITIONAL_COUNTERS = 1 << 1 };
	uint8_t data[IB_MAD_SIZE] = {0};

	return pma_query_via(data, to, 0, 0, CLASS_PORT_INFO, walk->mad) &&
	       (mad_get_field(data, 0, IB_CPI_CAPMASK2_F) & ADDITIONAL_COUNTERS);
}

static void
read_link(const struct walk *walk, const struct link *link, json_t *ret)
{
	const struct one_switch *from = &walk->list[link->from];
	size_t to = find_switch(walk, link->to);
	ib_portid_t at = {.lid = from->lid};
	uint8_t data[IB_MAD_SIZE] = {0};
	const char *full = NULL;
	char port[16];
	uint64_t sums[2];
	int extended;

	if (to == walk->count || !walk->list[to].name[0] || !IB_LID_VALID(from->lid) ||
	    is_late(walk))
		return;
	extended = has_extended(walk, &at);
	if (!pma_query_via(data, &at, link->port, 0,
			   extended ? IB_GSI_PORT_COUNTERS_EXT : IB_GSI_PORT_COUNTERS,
			   walk->mad))
		return;
	bu_ib_fabric_sums(data, extended, sums, &full);
	snprintf(port, sizeof(port), "%d", link->port);
	json_array_append_new(json_object_get(ret, "ports"),
			      json_pack("{s:s,s:s,s:s,s:I,s:I}", "switch", from->name,
					"peer", walk->list[to].name, "port", port,
					"received", (json_int_t)sums[0], "sent",
					(json_int_t)sums[1]));
	if (full && !json_object_get(ret, "full"))
		json_object_set_new(ret, "full",
				    json_sprintf("%s of port %d of %s", full,
						 link->port, from->name));
}

static json_t *
read_all(struct walk *walk, struct bu_err *err)
{
	json_t *ret;

	if (find_links(walk, err) != 0)
		return NULL;
	ret = json_pack("{s:[]}", "ports");
	for (size_t i = 0; i < walk->links_count; i++)
		read_link(walk, &walk->links[i], ret);
	if (is_late(walk))
		bu_err_set(err, BU_ERR_TIMEOUT, 0,
			   "%zu switches and %zu links were found, and then the time "
			   "was over",
			   walk->count, walk->links_count);
	else if (!json_array_size(json_object_get(ret, "ports")))
		bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"of %zu switches that answer, none has a link between a leaf "
			"and a spine that can be read (%zu links are of switches "
			"with these names); compare spines and switch_ports with "
			"ibswitches",
			walk->count, walk->links_count);
	else
		return ret;
	json_decref(ret);
	return NULL;
}

json_t *
bu_ib_fabric_read(const struct bu_ib_fabric *of, struct bu_err *err)
{
	struct walk walk = {.names = of->names,
			    .until_ms = bu_mono_ms(bu_clock_system()) + of->limit_ms};
	json_t *ret;

	walk.mad = bu_ib_port_open(of->device, of->port, ASK_MS, RETRIES, err);
	if (!walk.mad)
		return NULL;
	ret = read_all(&walk, err);
	mad_rpc_close_port(walk.mad);
	free(walk.list);
	free(walk.links);
	if (!ret)
		bu_ignore(bu_err_wrap(err, "%s port %d", of->device, of->port));
	return ret;
}

json_t *
bu_ib_fabric_read_of(const struct bu_work_rail *rail, const json_t *names,
		     int64_t limit_ms, struct bu_err *err)
{
	struct bu_device device;
	struct bu_ib_fabric of = {
		.device = device.name, .names = names, .limit_ms = limit_ms};

	if (bu_device_open(rail, NULL, &device, err) != 0)
		return NULL;
	of.port = device.port;
	ibv_close_device(device.context);
	return bu_ib_fabric_read(&of, err);
}
