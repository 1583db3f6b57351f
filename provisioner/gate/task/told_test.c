/* SPDX-License-Identifier: Apache-2.0 */
/* What agents are told, to the last word: an item is laid beside the whole text that it
 * should be, so that no member of it is wrong, missing or too much. */
#include "model/hello.h"
#include "provisioner/gate/terms/terms.h"
#include "tests/support/gate.h"
#include "tests/support/quoted.h"

/* Two rails of different rates; every key that a port may have is on one of them. */
static const char two_nodes[] =
	"nic = 1\nrdma = rxe\nlink_gbps = 0.02\n[image debian12]\n[hardware vm]\n"
	"disk = smallest\nnics = 2\n[cluster hpc]\ndriver = slurm\n"
	"controller = 10.77.0.1:6817\n[validation pairs]\nfabric = fabric\n"
	"[pool train]\nnodes = node[001-002]\nhardware = vm\nimage = debian12\n"
	"power = libvirt\nnetworks = boot, fabric\n";

static const char two_rails[] =
	"pci = 0000:02:00.0\nrail = 0\nrdma = hardware\nlink_gbps = 400\nmtu = 4200\n"
	"gid_index = 3\ndscp = 26\npkey = 0x8011\nsl = 3\nflow_label = 77\n"
	"[network rail1]\nrole = fabric\ncidr = 10.79.0.0/24\n"
	"addresses = 10.79.0.[11-12]\npci = 0000:01:00.0\nvlan = 79\nrail = 1\n"
	"rdma = hardware\nlink_gbps = 100\ngid_family = ipv6\n"
	"[image debian12]\n[hardware vm]\ndisk = smallest\n"
	"[cluster hpc]\ndriver = slurm\ncontroller = 10.77.0.1:6817\n"
	"[validation pairs]\nruns = 7\n%s[pool train]\n"
	"nodes = node[001-002]\nhardware = vm\nimage = debian12\npower = libvirt\n"
	"networks = boot, fabric, rail1\n";

static void
begin_rails(struct rig *rig, const char *validation)
{
	bu_autofree char *site = bu_xasprintf(two_rails, validation);
	struct bu_err err;

	rig_begin(rig, 0);
	rig_open_gate(rig);
	ck_assert_msg(bu_gate_load_data(rig->gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	rig_apply(rig, 2, BU_CLASS_INSTALL, "d-told", two_nodes, site);
	for (int i = 1; i <= 2; i++) {
		rig_to_validating(rig, i);
	}
}

/* It is this text, but for what is random, which is taken out. */
static void
is_told(const json_t *item, const char *want)
{
	bu_autojson json_t *is = json_deep_copy(item), *should = quoted(want);
	bu_autofree char *a = NULL, *b = NULL;

	ck_assert_ptr_nonnull(is);
	json_object_del(is, "id");
	json_object_del(is, "probe");
	json_object_del(is, "secret");
	a = bu_json_canonical(is);
	b = bu_json_canonical(should);
	ck_assert_str_eq(a, b);
}

/* Both rails move what the slowest one carries in its time, the hardware's is held
 * against its rate. */
START_TEST(a_loop_is_told_every_key_of_its_ports)
{
	struct rig rig;
	bu_autojson json_t *item = NULL;

	begin_rails(&rig, "");
	item = bu_gate_work(rig.gate, rig_node(&rig, 1));
	is_told(json_object_get(json_object_get(item, "expect"), "fabric"),
		"{'kind':'probe','role':'loopback','a':'node001','attempt':1,"
		"'bytes':1562499999,'warm_bytes':89285714,'runs':4,'pings':0,"
		"'message_bytes':131072,'qps':4,'depth':32,'duplex':true,"
		"'deadline_ms':15000,'min_gbps':0.0,'rails':["
		"{'rail':'fabric','port':'0000:02:00.0','address':'10.78.0.11',"
		"'gid_index':3,'traffic_class':104,'pkey':32785,'sl':3,'flow_label':77,"
		"'mtu':4096,"
		"'min_gbps':372.54},"
		"{'rail':'rail1','port':'0000:01:00.0','address':'10.79.0.11','gid_family':6,"
		"'min_gbps':87.96}]}");
	rig_end(&rig);
}
END_TEST

START_TEST(a_probe_is_told_every_key_of_its_ports)
{
	struct rig rig;
	bu_autojson json_t *item = NULL;

	begin_rails(&rig, "");
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	item = bu_gate_work(rig.gate, rig_node(&rig, 2));
	is_told(item,
		"{'kind':'probe','role':'listen','a':'node001','b':'node002',"
		"'node':'node002','attempt':1,'addr':'10.77.0.12',"
		"'peer':'10.77.0.11','port':18515,"
		"'sport':49152,'bytes':3571428571,'warm_bytes':357142857,'runs':7,"
		"'message_bytes':131072,'qps':4,'depth':32,'deadline_ms':20004,"
		"'min_gbps':372.54,'rails':["
		"{'rail':'fabric','port':'0000:02:00.0','address':'10.78.0.12',"
		"'gid_index':3,'traffic_class':104,'pkey':32785,'sl':3,'flow_label':77,"
		"'mtu':4096,"
		"'min_gbps':372.54},"
		"{'rail':'rail1','port':'0000:01:00.0','address':'10.79.0.12','gid_family':6,"
		"'min_gbps':87.96}]}");
	rig_end(&rig);
}
END_TEST

/* A port of InfiniBand is found by its slot alone; soft-RoCE stands in none. */
START_TEST(a_port_is_named_by_its_slot_where_it_has_one)
{
	static const struct {
		const char *lines, *port;
	} rows[] = {{"pci = 0000:02:00.0\nrdma = hardware\n", "0000:02:00.0"},
		    {"pci = 0000:02:00.0\nrdma = rxe\n", ""},
		    {"nic = 1\nrdma = hardware\n", ""}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_work_rail port;

		rig_begin(&rig, 0);
		rig_apply(&rig, 1, BU_CLASS_INSTALL, "d-slot", "nic = 1\nrdma = rxe\n",
			  rows[i].lines);
		const struct bu_desired_node *want =
			bu_desired_node(rig.fleet->desired, "node001");

		ck_assert_int_eq(bu_gate_port(want, want->pool->rails[0], &port), 0);
		ck_assert_str_eq(port.port, rows[i].port);
		ck_assert_str_eq(port.address, "10.78.0.11");
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_link_of_a_soak_is_told_every_key_of_its_ports)
{
	struct rig rig;
	bu_autojson json_t *item = NULL;

	begin_rails(&rig, "soak = 25 m\n");
	check_all(&rig, 2);
	item = bu_gate_work(rig.gate, rig_node(&rig, 2));
	ck_assert_int_eq(bu_json_int(item, "deadline_ms", 0), 720000);
	is_told(json_object_get(
			json_object_get(json_object_get(item, "expect"), "soak"),
			"link"),
		"{'kind':'probe','role':'listen','a':'node001','b':'node002',"
		"'node':'node002','attempt':1,'addr':'10.77.0.12',"
		"'peer':'10.77.0.11','port':18515,'bytes':25000000000,'runs':5,"
		"'pings':0,'message_bytes':131072,'qps':4,'depth':32,'duplex':true,"
		"'deadline_ms':30000,'min_gbps':0.0,'rails':["
		"{'rail':'fabric','port':'0000:02:00.0','address':'10.78.0.12',"
		"'gid_index':3,'traffic_class':104,'pkey':32785,'sl':3,'flow_label':77,"
		"'mtu':4096},"
		"{'rail':'rail1','port':'0000:01:00.0','address':'10.79.0.12','gid_family':6}]}");
	rig_end(&rig);
}
END_TEST

/* All that a profile says of a machine, and its links as the machine has them. */
/* The applied profile brings these checks of the site's own. */
static void
give_checks(const struct rig *rig)
{
	static const char *const names[] = {"nhc", "mounts"};
	struct bu_desired *desired = rig->fleet->desired;

	desired->checks = bu_xcalloc(BU_LEN(names), sizeof(*desired->checks));
	for (size_t i = 0; i < BU_LEN(names); i++)
		desired->checks[desired->checks_count++] =
			(struct bu_desired_check){.name = bu_xstrdup(names[i]),
						  .text = bu_xstrdup("#!/bin/sh\n")};
}

START_TEST(checks_are_told_all_that_the_profile_says)
{
	struct rig rig;
	bu_autojson json_t *item = NULL;

	begin_rails(&rig, "thresholds = memory_gbs=200,clock_offset_us=0.5\n"
			  "severity = ntp-offset=warn\n");
	give_checks(&rig);
	item = bu_gate_work(rig.gate, rig_node(&rig, 1));
	json_object_del(json_object_get(item, "expect"), "fabric");
	is_told(item,
		"{'kind':'checks','attempt':1,'deadline_ms':240000,"
		"'groups':['audit','gpu','host','site','fabric'],'site':["
		"{'name':'nhc','content':'#!/bin/sh\\n','timeout_ms':60000},"
		"{'name':'mounts','content':'#!/bin/sh\\n','timeout_ms':60000}],"
		"'expect':{'hardware':{},'host':{},'networks':["
		"{'name':'boot','role':'boot','rdma':false,'address':'10.77.0.11',"
		"'mac':'52:54:00:77:00:01'},"
		"{'name':'fabric','role':'fabric','rdma':true,'rail':0,'mtu':4200,"
		"'link_gbps':400.0,'pci':'0000:02:00.0','address':'10.78.0.11',"
		"'mac':'52:54:00:78:00:01','dscp':26,'gid_index':3},"
		"{'name':'rail1','role':'fabric','rdma':true,'rail':1,"
		"'link_gbps':100.0,'pci':'0000:01:00.0','address':'10.79.0.11',"
		"'netdev':'vlan79','gid_family':'ipv6'}],"
		"'thresholds':{'memory_gbs':200,'clock_offset_us':0.5},"
		"'severity':{'ntp-offset':'warn'}}}");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("told", checks_are_told_all_that_the_profile_says,
	 a_port_is_named_by_its_slot_where_it_has_one,
	 a_link_of_a_soak_is_told_every_key_of_its_ports,
	 a_probe_is_told_every_key_of_its_ports, a_loop_is_told_every_key_of_its_ports)
