/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the audit asks the kernel for because no file says it: the MTU in use at an RDMA
 * port (libibverbs) and priority flow control (dcbnl over netlink). Called through
 * struct bu_audit_probes by the group `audit`; tests play these. Invariant: answers are
 * of the running system only, -1 for any other root.
 */
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "checks/audit/audit_impl.h"
#include "checks/audit/ibpeer.h"
#include "fabric/probe/device.h"

static int
ask_rdma_provider(const char *root, const char *device)
{
	int count = 0, known = 0;
	struct ibv_device **list = *root ? NULL : ibv_get_device_list(&count);

	if (!list)
		return -1;
	for (int i = 0; i < count; i++)
		known |= strcmp(ibv_get_device_name(list[i]), device) == 0;
	ibv_free_device_list(list);
	return known;
}

static int
ask_rdma_mtu(const char *root, const char *device, int port)
{
	struct ibv_context *context = *root ? NULL : bu_audit_open(device);
	struct ibv_port_attr attr;
	int mtu = -1;

	if (!context)
		return -1;
	if (ibv_query_port(context, (uint8_t)port, &attr) == 0)
		mtu = bu_mtu_bytes(attr.active_mtu);
	ibv_close_device(context);
	return mtu;
}

/* --- dcbnl --- */

struct dcb_request {
	struct nlmsghdr header;
	struct dcbmsg dcb;
	struct nlattr name;
	char ifname[IFNAMSIZ];
};

/* The attribute of this type among those in [at, end); NULL. */
static const struct nlattr *
find_attr(const char *at, const char *end, int type)
{
	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attr = (const struct nlattr *)at;

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
			return NULL;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (NLA_ALIGN(attr->nla_len) > end - at)
			return NULL;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

static int
pfc_of_answer(const char *answer, size_t size)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)answer;
	const struct nlattr *ieee, *pfc;
	struct ieee_pfc value;

	if (size < sizeof(*header) + sizeof(struct dcbmsg) ||
	    header->nlmsg_len > size || header->nlmsg_type != RTM_GETDCB)
		return -1;
	ieee = find_attr(answer + NLMSG_LENGTH(sizeof(struct dcbmsg)), answer + size,
			 DCB_ATTR_IEEE);
	if (!ieee)
		return -1;
	pfc = find_attr((const char *)ieee + NLA_HDRLEN,
			(const char *)ieee + ieee->nla_len, DCB_ATTR_IEEE_PFC);
	if (!pfc || pfc->nla_len < NLA_HDRLEN + sizeof(value))
		return -1;
	memcpy(&value, (const char *)pfc + NLA_HDRLEN, sizeof(value));
	return value.pfc_en;
}

static int
ask_pfc(const char *root, const char *netdev)
{
	struct dcb_request request = {
		.header = {.nlmsg_len = sizeof(request),
			   .nlmsg_type = RTM_GETDCB,
			   .nlmsg_flags = NLM_F_REQUEST},
		.dcb = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET},
		.name = {.nla_type = DCB_ATTR_IFNAME, .nla_len = NLA_HDRLEN + IFNAMSIZ},
	};
	struct timeval limit = {.tv_sec = 2};
	bu_autoclose int fd = -1;
	_Alignas(struct nlmsghdr) char answer[8192];
	ssize_t got;

	if (*root)
		return -1;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -1;
	snprintf(request.ifname, sizeof(request.ifname), "%s", netdev);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
		return -1;
	got = recv(fd, answer, sizeof(answer), 0);
	return got > 0 ? pfc_of_answer(answer, (size_t)got) : -1;
}

static void
pause_ms(int64_t ms)
{
	poll(NULL, 0, (int)ms);
}

int
bu_audit_run(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	static const struct bu_audit_probes probes = {.rdma_mtu = ask_rdma_mtu,
						      .rdma_provider =
							      ask_rdma_provider,
						      .pfc = ask_pfc,
						      .lock = bu_audit_lock,
						      .lldp = bu_lldp_listen,
						      .ib_peer = bu_ib_peer,
						      .pause = pause_ms};

	return bu_audit_run_with(ctx, &probes, out, err);
}
