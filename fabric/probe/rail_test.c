/* SPDX-License-Identifier: Apache-2.0 */
/* A rail's port is the one that its name says, and its packets go as the rail says. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "fabric/probe/device.h"
#include "fabric/probe/verbs.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/rail_test.XXXXXX";

#define IB "sys/class/infiniband/"
#define LOCAL_1 "fe80::a00:1"
#define LOCAL_2 "fe80::a00:2"

/* fake0: two ports of InfiniBand on one function; fake1: one on another; fake2, fake3:
 * RoCE with a table that has holes. */
static const struct fakeverbs_device machines[FAKEVERBS_DEVICES] = {
	{.ports = 2,
	 .port = {{.lid = 11, .gid = {LOCAL_1}, .pkey = {0x7fff, 0, 0x8012, 0x0021}},
		  {.lid = 12, .gid = {"fe80::a00:9"}, .pkey = {0xffff}}}},
	{.ports = 1,
	 .port = {{.lid = 21,
		   .gid = {LOCAL_2, NULL, "fd00::2"},
		   .pkey = {0xffff, 0x8012, 0x8021}}}},
	{.ports = 1,
	 .port = {{.gid = {"fe80::3", NULL, "v1 ::ffff:10.78.0.3", NULL, NULL,
			   "::ffff:10.78.0.3", NULL, "fd00:78::3"},
		   .pkey = {0xffff}}}},
	{.ports = 1,
	 .port = {{.gid = {NULL, "fe80::4", "::ffff:10.78.0.4", "fd00:78::4"},
		   .pkey = {0xffff}}}},
};

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xasprintf("mkdir -p $(dirname %s)", full);

	ck_assert_int_eq(system(dir), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

static void
begin(void)
{
	static const struct fakeverbs_faults none;

	ck_assert_ptr_nonnull(mkdtemp(root));
	put("sys/bus/pci/devices/0000:3b:00.0/infiniband/fake0/x", "");
	put("sys/bus/pci/devices/0000:5e:00.0/infiniband/fake1/x", "");
	put("sys/bus/pci/devices/0000:86:00.0/infiniband/fake2/x", "");
	put("sys/class/net/ib0/device/infiniband/fake0/x", "");
	put("sys/class/net/ib0/dev_port", "0\n");
	put("sys/class/net/ib1/device/infiniband/fake0/x", "");
	put("sys/class/net/ib1/dev_port", "1\n");
	put(IB "fake2/ports/1/gid_attrs/ndevs/0", "eth4\n");
	put(IB "fake2/ports/1/gid_attrs/ndevs/5", "eth4.78\n");
	put(IB "fake1/ports/1/rate", "800 Gb/sec (4X XDR)\n");
	put(IB "fake3/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	for (int i = 0; i < FAKEVERBS_DEVICES; i++) {
		fakeverbs_set(i, &none);
		fakeverbs_device(i, &machines[i]);
	}
}

static void
end(void)
{
	bu_autofree char *clean = bu_xasprintf("rm -rf %s", root);

	for (int i = 0; i < FAKEVERBS_DEVICES; i++)
		fakeverbs_device(i, NULL);
	ck_assert_int_eq(system(clean), 0);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

static struct bu_work_rail
rail_at(const char *port, const char *address, int gid_index)
{
	struct bu_work_rail rail = FAKEVERBS_RAIL("", gid_index);

	strcpy(rail.port, port);
	strcpy(rail.address, address);
	return rail;
}

/* What is named, and the port with the GID that is used; or what is said. */
static const struct {
	const char *port, *address;
	int gid_index;
	const char *device;
	int found, gid;
	const char *says[2];
} names[] = {
	{"fake0/1", "", -1, "fake0", 1, 0, {NULL}},
	{"fake0/2", "", -1, "fake0", 2, 0, {NULL}},
	{"ib0", "", -1, "fake0", 1, 0, {NULL}},
	{"ib1", "", -1, "fake0", 2, 0, {NULL}},
	{"ib1", "10.78.0.99", -1, "fake0", 2, 0, {NULL}}, /* IPoIB's */
	{"0000:5e:00.0", "", -1, "fake1", 1, 0, {NULL}},
	{"0000:5e:00.0", "", 2, "fake1", 1, 2, {NULL}},
	{"fake1", "", -1, "fake1", 1, 0, {NULL}},
	{"0000:86:00.0", "", -1, "fake2", 1, 5, {NULL}},
	{"eth4", "", -1, "fake2", 1, 5, {NULL}},
	{"eth4.78", "10.78.0.3", -1, "fake2", 1, 5, {NULL}},
	{"eth4", "fd00:78::3", -1, "fake2", 1, 7, {NULL}},
	{"eth4", "", 2, "fake2", 1, 2, {NULL}},
	{"", "10.78.0.4", -1, "fake3", 1, 2, {NULL}},
	{"", "fd00:78::4", -1, "fake3", 1, 3, {NULL}},
	{"", "10.78.0.3", 2, "fake2", 1, 2, {NULL}},
	{"", "fe80::4", -1, "fake3", 1, 1, {NULL}},

	{"fake0", "", -1, NULL, 0, 0, {"2 ports have this name", "fake0/1"}},
	{"0000:3b:00.0", "", -1, NULL, 0, 0, {"0000:3b:00.0: 2 ports", "(ib1"}},
	{"0000:3b:00.0", "10.78.0.99", -1, NULL, 0, 0, {"0000:3b:00.0: 2 ports", NULL}},
	{"fake0/3", "", -1, NULL, 0, 0, {"no RDMA port fake0/3;", "fake0/2 (ib1)"}},
	{"fake1/10", "", -1, NULL, 0, 0, {"no RDMA port fake1/10", "fake1/1"}},
	{"fake", "", -1, NULL, 0, 0, {"no RDMA port fake;", "fake3/1"}},
	{"eth9", "", -1, NULL, 0, 0, {"no RDMA port eth9", "fake2/1 (eth4)"}},
	{"0000:99:00.0", "", -1, NULL, 0, 0, {"no RDMA port 0000:99:00.0", NULL}},
	{"eth4", "10.78.0.4", -1, NULL, 0, 0, {"eth4 with the RoCE v2 address", NULL}},
	{"eth4",
	 "",
	 1,
	 NULL,
	 0,
	 0,
	 {"fake2/1 has no GID 1; it has 0: fe80::3", "(v1)"}},
	{"", "10.78.0.9", -1, NULL, 0, 0, {"RoCE v2 address 10.78.0.9", "fake3/1"}},
	{"", "fd00::2", -1, NULL, 0, 0, {"RoCE v2 address fd00::2", "is named"}},
};

START_TEST(a_port_is_the_one_that_is_named)
{
	begin();
	for (size_t i = 0; i < BU_LEN(names); i++) {
		const struct bu_work_rail rail =
			rail_at(names[i].port, names[i].address, names[i].gid_index);
		struct bu_err err = {.text = ""};
		struct bu_device device;
		int rc = bu_device_open(&rail, root, &device, &err);

		ck_assert_msg((rc == 0) == (names[i].device != NULL), "row %zu: %s", i,
			      err.text);
		if (rc == 0) {
			ck_assert_msg(strcmp(device.name, names[i].device) == 0 &&
					      device.port == names[i].found &&
					      device.gid_index == names[i].gid,
				      "row %zu: %s/%d GID %d", i, device.name,
				      device.port, device.gid_index);
			ibv_close_device(device.context);
			continue;
		}
		for (int k = 0; k < 2 && names[i].says[k]; k++)
			ck_assert_msg(strstr(err.text, names[i].says[k]) != NULL,
				      "row %zu: %s", i, err.text);
	}
	end();
}
END_TEST

/* One that hangs when it is opened costs its own rail: a port that sysfs tells apart is
 * opened alone, by its name or by its address. What sysfs has no word of is looked for
 * everywhere. */
START_TEST(only_its_own_adapter_is_opened)
{
	static const struct {
		const char *port, *address;
		int found;
		const char *opens; /* one digit per device */
	} rows[] = {
		{"eth4", "", 2, "0010"},       {"", "10.78.0.4", 3, "0001"},
		{"", "fd00:78::4", 3, "0001"}, {"", "fd00:78::3", 2, "1110"},
		{"", "10.78.0.3", 2, "1111"}, /* has gone from fake3 to it */
		{"", "10.78.0.9", -1, "1111"},
	};

	begin();
	put(IB "fake3/ports/1/gids/0", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	put(IB "fake3/ports/1/gids/2", "0000:0000:0000:0000:0000:ffff:0a4e:0004\n");
	put(IB "fake3/ports/1/gids/3", "fd00:0078:0000:0000:0000:0000:0000:0004\n");
	put(IB "fake3/ports/1/gids/5", "0000:0000:0000:0000:0000:ffff:0a4e:0003\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_work_rail rail =
			rail_at(rows[i].port, rows[i].address, -1);
		char name[] = "fake0", opens[FAKEVERBS_DEVICES + 1] = "";
		long before[FAKEVERBS_DEVICES];
		struct bu_device device;
		int rc;

		for (int k = 0; k < FAKEVERBS_DEVICES; k++)
			before[k] = fakeverbs_opened(k);
		rc = bu_device_open(&rail, root, &device, NULL);
		ck_assert_int_eq(rc == 0, rows[i].found >= 0);
		for (int k = 0; k < FAKEVERBS_DEVICES; k++)
			opens[k] = (char)('0' + fakeverbs_opened(k) - before[k]);
		ck_assert_msg(strcmp(opens, rows[i].opens) == 0, "row %zu: %s", i,
			      opens);
		if (rc)
			continue;
		name[4] = (char)('0' + rows[i].found);
		ck_assert_str_eq(device.name, name);
		ibv_close_device(device.context);
	}
	end();
}
END_TEST

/* The family of the profile, where the port was found by the other one's address, too.
 */
START_TEST(a_gid_is_of_its_family)
{
	static const struct {
		const char *port, *address;
		int family, gid; /* -1: there is none */
	} rows[] = {
		{"eth4", "", 4, 5},           {"eth4", "", 6, 7},
		{"eth4", "10.78.0.3", 4, 5},  {"eth4", "10.78.0.3", 6, 7},
		{"eth4", "fd00:78::3", 4, 5}, {"", "10.78.0.4", 6, 3},
		{"fake1", "", 4, 0}, /* InfiniBand has no family */
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_work_rail rail = rail_at(rows[i].port, rows[i].address, -1);
		struct bu_err err = {.text = ""};
		struct bu_device device;

		rail.gid_family = rows[i].family;
		ck_assert_msg(bu_device_open(&rail, root, &device, &err) == 0,
			      "row %zu: %s", i, err.text);
		ck_assert_msg(device.gid_index == rows[i].gid, "row %zu: GID %d", i,
			      device.gid_index);
		ibv_close_device(device.context);
	}
	/* Of the interface that has the address, not of a VLAN of the port. */
	fakeverbs_device(3, &(struct fakeverbs_device){
				    .ports = 1,
				    .port = {{.gid = {"fd00:79::4", "fd00:78::4",
						      "::ffff:10.78.0.4"},
					      .netdev = {9, 4, 4},
					      .pkey = {0xffff}}}});
	struct bu_work_rail vlan = rail_at("", "10.78.0.4", -1);
	struct bu_device port;

	vlan.gid_family = 6;
	ck_assert_int_eq(bu_device_open(&vlan, root, &port, NULL), 0);
	ck_assert_int_eq(port.gid_index, 1);
	ibv_close_device(port.context);
	/* One of the link alone is no address that another machine reaches. */
	fakeverbs_device(3, &(struct fakeverbs_device){
				    .ports = 1,
				    .port = {{.gid = {"fe80::4", "::ffff:10.78.0.4"},
					      .pkey = {0xffff}}}});
	struct bu_work_rail rail = rail_at("", "10.78.0.4", -1);
	struct bu_device device;
	struct bu_err err;

	rail.gid_family = 6;
	ck_assert_int_eq(bu_device_open(&rail, root, &device, &err), -1);
	ck_assert_str_eq(err.text, "RDMA port fake3/1 has no RoCE v2 GID of a global "
				   "IPv6 address; it has 0: fe80::4, 1: "
				   "::ffff:10.78.0.4");
	end();
}
END_TEST

START_TEST(partitions_are_by_value)
{
	static const struct {
		const char *port;
		int asked, index, found;
		const char *says;
	} rows[] = {
		{"fake0/1", -1, 0, 0x7fff, NULL},
		{"fake0/1", 0x8012, 2, 0x8012, NULL},
		{"fake0/1", 0x0012, 2, 0x8012, NULL},
		{"fake0/1", 0x8021, 3, 0x0021, NULL}, /* a limited member */
		{"eth4", 0xffff, 0, 0xffff, NULL},
		{"fake0/1", 0x8013, -1, 0,
		 "fake0/1 is not in partition 0x8013; it is in 0x7fff, 0x8012, 0x0021"},
		{"eth4", 0x8001, -1, 0, "it is in 0xffff"},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_work_rail rail = rail_at(rows[i].port, "", -1);
		struct bu_err err = {.text = ""};
		struct bu_device device;

		rail.pkey = rows[i].asked;
		if (bu_device_open(&rail, root, &device, &err)) {
			ck_assert_int_eq(rows[i].index, -1);
			ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s",
				      err.text);
			continue;
		}
		ck_assert_int_eq(device.pkey_index, rows[i].index);
		ck_assert_int_eq(device.pkey, rows[i].found);
		ibv_close_device(device.context);
	}
	end();
}
END_TEST

/* XDR (256) has no place in what the verbs tell. */
START_TEST(a_rate_is_the_kernels_where_that_knows_more)
{
	static const struct {
		const char *port;
		double gbps;
	} rows[] = {{"fake1", 800}, {"fake3", 100}, {"fake0/1", 100}};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_work_rail rail = rail_at(rows[i].port, "", -1);
		struct bu_device device;

		ck_assert_int_eq(bu_device_open(&rail, root, &device, NULL), 0);
		ck_assert_double_eq(device.rate_gbps, rows[i].gbps);
		ibv_close_device(device.context);
	}
	end();
}
END_TEST

/* Each speed that the verbs know, SDR to NDR, over each of their widths, on InfiniBand
 * and on Ethernet. */
START_TEST(each_speed_has_its_rate)
{
	static const double lane[] = {2.5, 5, 10, 10, 14.0625, 25, 50, 100};
	static const struct {
		int code, lanes;
	} widths[] = {{1, 1}, {16, 2}, {2, 4}, {4, 8}, {8, 12}};
	static const struct {
		int device;
		const char *port;
	} layers[] = {{0, "fake0/1"}, {2, "fake2/1"}};

	begin();
	for (size_t i = 0; i < BU_LEN(lane) * BU_LEN(widths) * BU_LEN(layers); i++) {
		size_t speed = i % BU_LEN(lane),
		       width = i / BU_LEN(lane) % BU_LEN(widths);
		size_t layer = i / BU_LEN(lane) / BU_LEN(widths);
		const struct bu_work_rail rail = rail_at(layers[layer].port, "", -1);
		struct fakeverbs_device machine = machines[layers[layer].device];
		struct bu_device device;

		machine.port[0].speed = 1 << speed;
		machine.port[0].width = widths[width].code;
		fakeverbs_device(layers[layer].device, &machine);
		ck_assert_int_eq(bu_device_open(&rail, root, &device, NULL), 0);
		ck_assert_double_eq(device.rate_gbps,
				    lane[speed] * widths[width].lanes);
		ibv_close_device(device.context);
	}
	end();
}
END_TEST

static struct bu_verbs *
open_end(const struct bu_work_rail *rail, int roles, struct bu_verbs_peer *ret)
{
	const struct bu_verbs_opts opts = {.rail = *rail,
					   .message_bytes = 4096,
					   .bytes = 65536,
					   .runs = 1,
					   .qps = 2,
					   .gpu = -1,
					   .root = root,
					   .roles = roles};
	struct bu_err err = {.text = ""};
	struct bu_verbs *verbs = bu_verbs_create(&opts, &err);

	ck_assert_msg(verbs != NULL, "%s", err.text);
	bu_verbs_local(verbs, ret);
	return verbs;
}

/* Connects both, moves a run from a to b, and says whether it came. */
static int
moves(const struct bu_work_rail rails[2], struct bu_err *err)
{
	struct bu_verbs *ends[2];
	struct bu_verbs_peer peers[2];
	struct bu_verbs_run run = {.stamp = 7, .posts = 1};
	struct bu_wait wait = {.deadline_ns = bu_raw_ns() + INT64_C(10000000000)};
	int mtu, rc = 0;

	for (int i = 0; i < 2; i++)
		ends[i] = open_end(&rails[i], i ? BU_VERBS_SINK : BU_VERBS_SOURCE,
				   &peers[i]);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = bu_verbs_connect(ends[i], &peers[!i], &mtu, err);
	if (rc == 0)
		rc = bu_verbs_stamp(ends[0], &run, err) ||
		     bu_verbs_run(ends[0], &run, &wait, err) ||
		     bu_verbs_check(ends[1], &run, err);
	bu_verbs_destroy(ends[0]);
	bu_verbs_destroy(ends[1]);
	return rc ? -1 : 0;
}

/* Both ends of a connection, and what a's queue pair is told. */
static const struct {
	struct bu_work_rail a, b;
	struct fakeverbs_route route;
} routes[] = {
	/* InfiniBand by LID, with service level, partition and path MTU. */
	{{.port = "ib0", .gid_index = -1, .pkey = 0x8012, .sl = 3, .mtu = 512},
	 {.port = "fake1", .gid_index = -1, .pkey = 0x8012},
	 {.infiniband = 1, .port = 1, .dlid = 21, .sl = 3, .pkey = 0x8012, .mtu = 512}},
	/* The second port; a limited member and a full one. */
	{{.port = "fake0/2", .gid_index = -1, .pkey = -1},
	 {.port = "fake1", .gid_index = -1, .pkey = -1},
	 {.infiniband = 1, .port = 2, .dlid = 21, .pkey = 0xffff, .mtu = 1024}},
	/* By GID where that is asked for, and into another subnet. */
	{{.port = "fake0/1",
	  .gid_index = -1,
	  .pkey = 0x8021,
	  .grh = 1,
	  .traffic_class = 9},
	 {.port = "fake1", .gid_index = -1, .pkey = 0x8021},
	 {.infiniband = 1,
	  .port = 1,
	  .grh = 1,
	  .dlid = 21,
	  .traffic_class = 9,
	  .flow_label = 77,
	  .pkey = 0x0021,
	  .mtu = 1024}},
	{{.port = "fake0/1", .gid_index = -1, .pkey = -1},
	 {.port = "fake1", .gid_index = 2, .pkey = -1},
	 {.infiniband = 1,
	  .port = 1,
	  .grh = 1,
	  .dlid = 21,
	  .flow_label = 77,
	  .pkey = 0x7fff,
	  .mtu = 1024}},
	/* RoCE v2 over IPv4 and over IPv6. */
	{{.address = "10.78.0.3", .gid_index = -1, .pkey = -1, .traffic_class = 104},
	 {.address = "10.78.0.4", .gid_index = -1, .pkey = -1},
	 {.port = 1,
	  .grh = 1,
	  .sgid_index = 5,
	  .traffic_class = 104,
	  .flow_label = 77,
	  .pkey = 0xffff,
	  .mtu = 1024}},
	{{.port = "eth4", .gid_index = 7, .pkey = 0xffff, .sl = 5},
	 {.address = "fd00:78::4", .gid_index = -1, .pkey = -1, .mtu = 256},
	 {.port = 1,
	  .grh = 1,
	  .sl = 5,
	  .sgid_index = 7,
	  .flow_label = 77,
	  .pkey = 0xffff,
	  .mtu = 256}},
};

START_TEST(packets_go_as_the_rail_says)
{
	begin();
	for (size_t i = 0; i < BU_LEN(routes); i++) {
		struct bu_work_rail rails[2] = {routes[i].a, routes[i].b};
		struct fakeverbs_route route;
		struct bu_err err = {.text = ""};

		/* The second queue pair is the last one that was told. */
		rails[0].flow_label = rails[1].flow_label = 76;
		ck_assert_msg(moves(rails, &err) == 0, "row %zu: %s", i, err.text);
		route = fakeverbs_route(routes[i].route.infiniband ? 0 : 2);
		route.timeout = 0;
		ck_assert_msg(memcmp(&route, &routes[i].route, sizeof(route)) == 0,
			      "row %zu: port %d grh %d dlid %d sl %d gid %d class %d "
			      "label %d pkey %x mtu %d",
			      i, route.port, route.grh, route.dlid, route.sl,
			      route.sgid_index, route.traffic_class, route.flow_label,
			      (unsigned int)route.pkey, route.mtu);
	}
	end();
}
END_TEST

START_TEST(partitions_that_do_not_meet_are_named)
{
	struct bu_work_rail rails[2] = {rail_at("fake0/1", "", -1),
					rail_at("fake1", "", -1)};
	struct bu_err err = {.text = ""};

	begin();
	rails[0].pkey = 0x8012;
	ck_assert_int_eq(moves(rails, &err), -1);
	ck_assert_ptr_nonnull(
		strstr(err.text, "fake0 is in partition 0x8012, the peer in 0xffff"));
	rails[1] = rail_at("fake0/1", "", -1); /* two limited members */
	rails[0].pkey = rails[1].pkey = 0x8021;
	rails[1].gid_index = 0;
	ck_assert_int_eq(moves(rails, &err), -1);
	end();
}
END_TEST

BU_UNIT("rail", a_port_is_the_one_that_is_named, only_its_own_adapter_is_opened,
	a_gid_is_of_its_family, partitions_are_by_value,
	a_rate_is_the_kernels_where_that_knows_more, each_speed_has_its_rate,
	packets_go_as_the_rail_says, partitions_that_do_not_meet_are_named)
