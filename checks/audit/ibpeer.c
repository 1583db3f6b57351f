/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet management packets over one hop, through the kernel's umad device; called by
 * the audit for InfiniBand ports. Invariants: it only asks (method Get), waits a
 * bounded time, and reads the answer within its 256 bytes.
 */
#include "checks/audit/ibpeer.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/sysroot.h"

enum {
	MAD_SIZE = 256,
	CLASS_DIRECTED = 0x81,
	METHOD_GET = 1,
	METHOD_REPLY = 0x81,
	ATTR_DESCRIPTION = 0x10,
	ATTR_INFO = 0x11,
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_HOP_COUNT = 7,
	AT_TID = 8,
	AT_ATTRIBUTE = 16,
	AT_LIDS = 32,
	AT_DATA = 64,
	AT_PATH = 128,
	DIRECTION = 0x80, /* of the status: on its way back */
};

struct packet {
	struct ib_user_mad_hdr header;
	uint8_t mad[MAD_SIZE];
};

struct umad {
	int fd;
	uint32_t agent;
	int port, wait_ms;
};

/* --- answers --- */

static int
is_answer(const uint8_t mad[MAD_SIZE], int attribute)
{
	int status = (mad[AT_STATUS] & ~DIRECTION) << 8 | mad[AT_STATUS + 1];

	return mad[0] == 1 && mad[1] == CLASS_DIRECTED &&
	       mad[AT_METHOD] == METHOD_REPLY && status == 0 &&
	       mad[AT_ATTRIBUTE] == 0 && mad[AT_ATTRIBUTE + 1] == attribute;
}

int
bu_ib_peer_parse(const uint8_t info[MAD_SIZE], const uint8_t description[MAD_SIZE],
		 struct bu_lldp *ret, struct bu_err *err)
{
	const uint8_t *data = info + AT_DATA, *text = description + AT_DATA;
	struct bu_lldp got = *ret;
	size_t length = 0;

	if (!is_answer(info, ATTR_INFO) || !is_answer(description, ATTR_DESCRIPTION))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the neighbour's answer is not NodeInfo and "
				  "NodeDescription");
	snprintf(got.chassis, sizeof(got.chassis), "0x%02x%02x%02x%02x%02x%02x%02x%02x",
		 data[12], data[13], data[14], data[15], data[16], data[17], data[18],
		 data[19]);
	snprintf(got.port, sizeof(got.port), "%d", data[36]);
	for (; length < sizeof(got.name) - 1 && text[length]; length++)
		got.name[length] = isprint(text[length]) ? (char)text[length] : '?';
	while (length > 0 && got.name[length - 1] == ' ')
		length--;
	got.name[length] = '\0';
	got.description[0] = '\0';
	got.heard = 1;
	*ret = got;
	return 0;
}

/* --- asking --- */

static void
make_request(const struct umad *umad, int attribute, struct packet *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->header.id = umad->agent;
	ret->header.timeout_ms = (uint32_t)umad->wait_ms;
	ret->header.length = MAD_SIZE;
	ret->header.lid = htons(0xffff); /* the route leads, not the LID */
	ret->mad[0] = 1;
	ret->mad[1] = CLASS_DIRECTED;
	ret->mad[2] = 1;
	ret->mad[AT_METHOD] = METHOD_GET;
	ret->mad[AT_HOP_COUNT] = 1;
	ret->mad[AT_TID + 7] = (uint8_t)attribute;
	ret->mad[AT_ATTRIBUTE + 1] = (uint8_t)attribute;
	memset(ret->mad + AT_LIDS, 0xff, 4);
	ret->mad[AT_PATH + 1] = (uint8_t)umad->port;
}

static int
ask(const struct umad *umad, int attribute, uint8_t ret[MAD_SIZE], struct bu_err *err)
{
	struct pollfd fd = {.fd = umad->fd, .events = POLLIN};
	struct packet packet;
	ssize_t got;

	make_request(umad, attribute, &packet);
	if (write(umad->fd, &packet, sizeof(packet)) != (ssize_t)sizeof(packet))
		return bu_err_set(err, BU_ERR_IO, errno, "send a management packet");
	if (poll(&fd, 1, umad->wait_ms + 1000) <= 0)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "the neighbour does not "
				  "answer");
	got = read(umad->fd, &packet, sizeof(packet));
	if (got < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "read a management packet");
	if (packet.header.status != 0)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "the neighbour does not "
				  "answer");
	if (got < (ssize_t)sizeof(packet))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the neighbour's answer is cut off");
	memcpy(ret, packet.mad, MAD_SIZE);
	return 0;
}

struct search {
	const char *root, *device;
	int port;
	char name[32];
};

static void
visit_umad(const char *name, void *arg)
{
	struct search *s = arg;
	char device[64];

	bu_sysroot_line(s->root, device, sizeof(device),
			"sys/class/infiniband_mad/%s/ibdev", name);
	if (strcmp(device, s->device) == 0 &&
	    bu_sysroot_int(s->root, -1, "sys/class/infiniband_mad/%s/port", name) ==
		    s->port &&
	    strlen(name) < sizeof(s->name))
		snprintf(s->name, sizeof(s->name), "%s", name);
}

static int
open_umad(const char *root, const char *device, int port, struct umad *ret,
	  struct bu_err *err)
{
	struct search search = {.root = root, .device = device, .port = port};
	struct ib_user_mad_reg_req request = {.mgmt_class = CLASS_DIRECTED,
					      .mgmt_class_version = 1};
	bu_autofree char *path = NULL;

	bu_sysroot_each(root, visit_umad, &search, "sys/class/infiniband_mad");
	if (!*search.name)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "%s port %d has no device for management packets; "
				  "load ib_umad",
				  device, port);
	path = bu_xasprintf("%s/dev/infiniband/%s", root, search.name);
	ret->fd = open(path, O_RDWR | O_CLOEXEC);
	if (ret->fd < 0)
		return bu_err_set(err,
				  errno == EACCES || errno == EPERM ? BU_ERR_DENIED
				  : errno == ENOENT                 ? BU_ERR_NOTFOUND
								    : BU_ERR_IO,
				  errno, "open %s", path);
	/* Old kernels without it have a shorter header: they are not spoken to. */
	if (ioctl(ret->fd, IB_USER_MAD_ENABLE_PKEY, NULL) != 0 ||
	    ioctl(ret->fd, IB_USER_MAD_REGISTER_AGENT, &request) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "%s: register for management packets",
			   path);
		close(ret->fd);
		return -1;
	}
	ret->agent = request.id;
	ret->port = port;
	return 0;
}

int
bu_ib_peer(const char *root, const char *device, int port, int wait_ms,
	   struct bu_lldp *ret, struct bu_err *err)
{
	uint8_t info[MAD_SIZE], description[MAD_SIZE];
	struct umad umad = {.wait_ms = wait_ms};
	int rc = -1;

	if (open_umad(root, device, port, &umad, err) != 0)
		return -1;
	if (ask(&umad, ATTR_INFO, info, err) == 0 &&
	    ask(&umad, ATTR_DESCRIPTION, description, err) == 0)
		rc = bu_ib_peer_parse(info, description, ret, err);
	close(umad.fd);
	return rc ? bu_err_wrap(err, "%s port %d", device, port) : 0;
}
