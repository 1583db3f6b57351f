/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of the stand-in for libibverbs: what they are asked, and what a queue pair
 * may be told of them. States and masks are the kernel's (qp_state_table of
 * drivers/infiniband/core/verbs.c, for RC). Invariant: what hardware refuses is refused
 * here, with the same errno.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/fakeverbs_impl.h"

enum { MEMBER = 0x8000 };

static struct fakeverbs_device machines[DEVICES];
static int changed[DEVICES];
static struct fakeverbs_route routes[DEVICES];

/* Link-local first, as rxe has it; then the address, and the same as RoCE v1. */
static struct fakeverbs_device
usual(int device)
{
	static const char *const locals[] = {"fe80::1", "fe80::2", "fe80::3",
					     "fe80::4"};
	static const char *const v4[] = {"::ffff:127.0.0.1", "::ffff:127.0.0.2",
					 "::ffff:127.0.0.3", "::ffff:127.0.0.4"};
	static const char *const v1[] = {"v1 ::ffff:127.0.0.1", "v1 ::ffff:127.0.0.2",
					 "v1 ::ffff:127.0.0.3", "v1 ::ffff:127.0.0.4"};

	return (struct fakeverbs_device){
		.ports = 1,
		.port = {{.gid = {locals[device], v4[device], v1[device]},
			  .pkey = {0xffff}}}};
}

struct fakeverbs_device
fake_machine(int device)
{
	struct fakeverbs_device machine;

	pthread_mutex_lock(&fake_lock);
	machine = changed[device] ? machines[device] : usual(device);
	pthread_mutex_unlock(&fake_lock);
	return machine;
}

void
fakeverbs_device(int device, const struct fakeverbs_device *value)
{
	pthread_mutex_lock(&fake_lock);
	changed[device] = value != NULL;
	if (value)
		machines[device] = *value;
	pthread_mutex_unlock(&fake_lock);
}

static long opened[DEVICES];

void
fake_count_open(int device)
{
	__atomic_add_fetch(&opened[device], 1, __ATOMIC_SEQ_CST);
}

long
fakeverbs_opened(int device)
{
	return __atomic_load_n(&opened[device], __ATOMIC_SEQ_CST);
}

struct fakeverbs_route
fakeverbs_route(int device)
{
	struct fakeverbs_route route;

	pthread_mutex_lock(&fake_lock);
	route = routes[device];
	pthread_mutex_unlock(&fake_lock);
	return route;
}

/* --- what a device is asked --- */

int
fake_is_port(const struct ibv_context *context, int port)
{
	return port >= 1 && port <= fake_machine(fake_device_of(context)).ports;
}

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct fakeverbs_device machine = fake_machine(fake_device_of(context));

	memset(attr, 0, sizeof(*attr));
	attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
	attr->phys_port_cnt = (uint8_t)machine.ports;
	attr->max_qp_wr = machine.max_qp_wr ? machine.max_qp_wr : 16384;
	attr->max_cqe = machine.max_cqe ? machine.max_cqe : 1 << 20;
	attr->max_sge = attr->max_qp = 64;
	return fake_is_gone(context) ? EIO : 0;
}

int
ibv_query_port(struct ibv_context *context, uint8_t port,
	       struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)(void *)compat;
	int device = fake_device_of(context), mtu;
	const struct fakeverbs_port at = fake_machine(device).port[(port - 1) & 1];

	if (fake_is_gone(context))
		return EIO;
	if (!fake_is_port(context, port))
		return EINVAL;
	pthread_mutex_lock(&fake_lock);
	attr->state = fake_faults[device].port_down || fake_down[device]
			      ? IBV_PORT_DOWN
			      : IBV_PORT_ACTIVE;
	mtu = fake_faults[device].mtu;
	pthread_mutex_unlock(&fake_lock);
	attr->max_mtu = IBV_MTU_4096;
	attr->active_mtu = IBV_MTU_1024;
	for (int i = IBV_MTU_256; i <= IBV_MTU_4096; i++) {
		if (mtu == 128 << i)
			attr->active_mtu = (enum ibv_mtu)i;
	}
	attr->active_speed = at.speed ? (uint8_t)at.speed : 32; /* EDR, 4x */
	attr->active_width = at.width ? (uint8_t)at.width : 2;
	attr->link_layer = at.lid ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	attr->lid = (uint16_t)at.lid;
	attr->gid_tbl_len = FAKEVERBS_GIDS;
	attr->pkey_tbl_len = FAKEVERBS_PKEYS;
	return 0;
}

/* 0: the entry is empty. */
static int
gid_at(const struct fakeverbs_port *port, int index, union ibv_gid *ret, int *ret_type)
{
	const char *text = index < FAKEVERBS_GIDS ? port->gid[index] : NULL;
	int v1 = text && strncmp(text, "v1 ", 3) == 0;

	memset(ret, 0, sizeof(*ret));
	*ret_type = port->lid ? IBV_GID_TYPE_IB
		    : v1      ? IBV_GID_TYPE_ROCE_V1
			      : IBV_GID_TYPE_ROCE_V2;
	return text && inet_pton(AF_INET6, text + 3 * v1, ret->raw) == 1;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
		     size_t max, uint32_t flags, size_t entry_size)
{
	const struct fakeverbs_device machine = fake_machine(fake_device_of(context));
	size_t count = 0;

	if (entry_size != sizeof(*entries))
		return -EINVAL;
	for (int port = 0; port < machine.ports; port++) {
		for (int i = 0; i < FAKEVERBS_GIDS; i++) {
			union ibv_gid gid;
			int type;

			if (!gid_at(&machine.port[port], i, &gid, &type))
				continue;
			if (count == max)
				return -EINVAL;
			entries[count++] = (struct ibv_gid_entry){
				.gid = gid,
				.gid_index = (uint32_t)i,
				.port_num = (uint32_t)port + 1,
				.gid_type = (uint32_t)type,
				.ndev_ifindex = machine.port[port].netdev[i]};
		}
	}
	return (ssize_t)count;
}

/* As libibverbs has it: a hole is all zeros, and no error. */
int
ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	const struct fakeverbs_device machine = fake_machine(fake_device_of(context));
	int type;

	if (!fake_is_port(context, port) || index >= FAKEVERBS_GIDS)
		return -1;
	gid_at(&machine.port[port - 1], index, gid, &type);
	return 0;
}

int
ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	const struct fakeverbs_device machine = fake_machine(fake_device_of(context));

	if (!fake_is_port(context, port) || index >= FAKEVERBS_PKEYS)
		return -1;
	*pkey = htons((uint16_t)machine.port[port - 1].pkey[index]);
	return 0;
}

/* --- what a queue pair is told --- */

static const struct {
	enum ibv_qp_state from, to;
	int required, allowed;
} transitions[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_INIT, 0,
	 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_INIT, IBV_QPS_RTR,
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	 IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS,
	 IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		 IBV_QP_MAX_QP_RD_ATOMIC,
	 IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
		 IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0,
	 IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH |
		 IBV_QP_PATH_MIG_STATE | IBV_QP_MIN_RNR_TIMER},
};

static int
is_transition(enum ibv_qp_state from, const struct ibv_qp_attr *attr, int mask)
{
	mask &= ~IBV_QP_STATE;
	if (attr->qp_state == IBV_QPS_RESET || attr->qp_state == IBV_QPS_ERR)
		return mask == 0;
	for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++) {
		if (transitions[i].from == from && transitions[i].to == attr->qp_state)
			return (mask & transitions[i].required) ==
				       transitions[i].required &&
			       !(mask &
				 ~(transitions[i].required | transitions[i].allowed));
	}
	return 0;
}

static int
in_table(const struct fakeverbs_port *port, int pkey)
{
	for (int i = 0; i < FAKEVERBS_PKEYS; i++)
		if (port->pkey[i] && ((port->pkey[i] ^ pkey) & ~MEMBER) == 0 &&
		    (port->pkey[i] | pkey) & MEMBER)
			return 1;
	return 0;
}

/* Is this port where the route leads? */
static int
leads_to(const struct fakeverbs_port *own, const struct fakeverbs_port *port,
	 const struct ibv_ah_attr *route)
{
	int own_type, type;
	union ibv_gid gid;

	if (!own->lid != !port->lid)
		return 0;
	if (!route->is_global)
		return port->lid == route->dlid;
	gid_at(own, route->grh.sgid_index, &gid, &own_type);
	for (int i = 0; i < FAKEVERBS_GIDS; i++)
		if (gid_at(port, i, &gid, &type) && type == own_type &&
		    memcmp(&gid, &route->grh.dgid, sizeof(gid)) == 0)
			return 1;
	return 0;
}

/* 1: packets get to a port that takes them. */
static int
arrives(const struct fakeverbs_port *own, const struct ibv_ah_attr *route, int pkey)
{
	for (int device = 0; device < DEVICES; device++) {
		const struct fakeverbs_device machine = fake_machine(device);

		for (int i = 0; i < machine.ports; i++)
			if (leads_to(own, &machine.port[i], route))
				return in_table(&machine.port[i], pkey);
	}
	return 0;
}

static int
is_port_of(const struct fakeverbs_device *machine, int port)
{
	return port >= 1 && port <= machine->ports;
}

static int
check_init(struct fake_qp *qp, const struct ibv_qp_attr *attr)
{
	const struct fakeverbs_device machine = fake_machine(qp->device);

	if (!is_port_of(&machine, attr->port_num) ||
	    attr->pkey_index >= FAKEVERBS_PKEYS ||
	    !machine.port[attr->port_num - 1].pkey[attr->pkey_index])
		return EINVAL;
	qp->port = attr->port_num;
	qp->pkey = machine.port[attr->port_num - 1].pkey[attr->pkey_index];
	return 0;
}

static int
check_rtr(struct fake_qp *qp, const struct ibv_qp_attr *attr)
{
	const struct fakeverbs_device machine = fake_machine(qp->device);
	const struct fakeverbs_port *port = &machine.port[qp->port - 1];
	const struct ibv_ah_attr *route = &attr->ah_attr;
	union ibv_gid gid;
	int type;

	/* RoCE has no LIDs; a queue pair keeps to its port and to what that can. */
	if (route->port_num != qp->port || (!port->lid && !route->is_global) ||
	    (route->is_global && !gid_at(port, route->grh.sgid_index, &gid, &type)) ||
	    attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096 ||
	    attr->max_dest_rd_atomic > 16 || route->sl > 15)
		return EINVAL;
	qp->lost = !arrives(port, route, qp->pkey);
	/* The kernel looks for the link address of an IP address before it goes on. */
	if (qp->lost && !port->lid)
		return ETIMEDOUT;
	pthread_mutex_lock(&fake_lock);
	routes[qp->device] =
		(struct fakeverbs_route){.infiniband = port->lid != 0,
					 .grh = route->is_global,
					 .dlid = route->dlid,
					 .sl = route->sl,
					 .sgid_index = route->grh.sgid_index,
					 .traffic_class = route->grh.traffic_class,
					 .flow_label = (int)route->grh.flow_label,
					 .pkey = qp->pkey,
					 .mtu = 128 << attr->path_mtu,
					 .port = qp->port};
	pthread_mutex_unlock(&fake_lock);
	return 0;
}

int
ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)ibqp;
	int rc = 0;

	if (fake_is_gone(ibqp->context))
		return EIO;
	if (!(mask & IBV_QP_STATE) || !is_transition(ibqp->state, attr, mask))
		return EINVAL;
	if (attr->qp_state == IBV_QPS_INIT)
		rc = check_init(qp, attr);
	if (attr->qp_state == IBV_QPS_RTR)
		rc = fake_faults[qp->device].rtr_errno;
	if (rc == 0 && attr->qp_state == IBV_QPS_RTR)
		rc = check_rtr(qp, attr);
	if (attr->qp_state == IBV_QPS_RTS && attr->max_rd_atomic > 16)
		rc = EINVAL;
	if (rc)
		return rc;
	pthread_mutex_lock(&fake_lock);
	ibqp->state = attr->qp_state;
	if (attr->qp_state == IBV_QPS_RTS)
		routes[qp->device].timeout = attr->timeout;
	if (mask & IBV_QP_DEST_QPN)
		qp->dest = (uint16_t)attr->dest_qp_num;
	pthread_mutex_unlock(&fake_lock);
	return 0;
}
