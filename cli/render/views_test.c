/* SPDX-License-Identifier: Apache-2.0 */
/* Views to the letter: what a person reads at night, line by line, and nothing else. */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/render/render.h"
#include "cli/render/screen.h"
#include "fabric/judge/fabcert.h"
#include "model/inventory.h"
#include "tests/support/cli.h"
#include "tests/support/profiles.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

static struct bu_net_link
link_of(const char *name, const char *kind, const char *address)
{
	struct bu_net_link link = {.mtu = 9000};

	BU_TEXT_COPY(link.name, name);
	BU_TEXT_COPY(link.kind, kind);
	BU_TEXT_COPY(link.operstate, "up");
	link.addresses_count = *address ? 2 : 0;
	for (size_t i = 0; i < link.addresses_count; i++)
		BU_TEXT_COPY(link.addresses[i], i ? "10.9.9.9/24" : address);
	return link;
}

static json_t *
machine(void)
{
	/* The second and the fourth are paths to one disk. */
	struct bu_disk disks[] = {
		{.size_bytes = INT64_C(4000000000),
		 .name = "vda",
		 .path = "/dev/vda",
		 .serial = "D1",
		 .wwn = "0x5",
		 .by_path = "pci-1",
		 .model = "M"},
		{.name = "sda",
		 .path = "/dev/sda",
		 .serial = "D2",
		 .wwn = "0x6",
		 .by_path = "pci-2"},
		{.name = "sdb", .path = "/dev/sdb", .serial = "D2", .wwn = "0x7"},
		{.name = "sdc",
		 .path = "/dev/sdc",
		 .serial = "D2",
		 .wwn = "0x6",
		 .by_path = "pci-3"},
	};
	struct bu_nic nic = {
		.name = "eth0", .mac = "52:54:00:77:00:01", .driver = "virtio_net"};
	struct bu_gpu gpus[2] = {{.pci = "0000:17:00.0", .device = "2330"},
				 {.pci = "0000:18:00.0", .device = "2330"}};
	struct bu_net_link links[3] = {link_of("eth0.7", "vlan", "10.7.0.1/24"),
				       link_of("eth1", "ethernet", ""),
				       link_of("bond0", "bond", "10.79.0.11/24")};
	struct bu_inventory inventory = {.boot_id = "b-1",
					 .memory_bytes = INT64_C(2) << 30,
					 .cpu = {.model = "TCG", .threads = 2},
					 .dmi = {.vendor = "QEMU",
						 .product = "pc",
						 .serial = "S1",
						 .uuid = "U1"},
					 .disks = disks,
					 .disks_count = BU_LEN(disks),
					 .nics = &nic,
					 .nics_count = 1,
					 .gpus = gpus,
					 .gpus_count = 2,
					 .links = links,
					 .links_count = 3};

	links[0].mtu = 1500;
	BU_TEXT_COPY(links[0].parent, "eth0");
	BU_TEXT_COPY(links[1].master, "bond0");
	BU_TEXT_COPY(links[1].operstate, "down");
	BU_TEXT_COPY(links[2].bond_mode, "active-backup");
	BU_TEXT_COPY(links[2].bond_active, "eth1");
	return bu_inventory_to_json(&inventory);
}

START_TEST(a_node_has_a_line_for_each_fact)
{
	struct bu_shown_node node;
	json_t *value = shown_as(
		bu_shown_whole_fields,
		"{'name':'node001','pool':'train','state':'imaging','since_ms':1000,"
		"'image':'debian12','machine':'ab12','root':'disk',"
		"'root_slot':'b','other_image':'debian11',"
		"'firmware':'uefi','boot_id':'b-1','last_seen_ms':61000,"
		"'in_profile':false,'commit':'fedcba9876543210',"
		"'agent':{'version':'0.2.0','digest':'0123456789abcdef','trial':true},"
		"'order':{'rollout':'r-7','class':'wipe','image':'debian13',"
		"'commit':'0123456789abcdef-dirty','status':'failed',"
		"'reason':'it did not boot'},"
		"'progress':{'stage':'write','done_bytes':1,'total_bytes':2},"
		"'step':{'id':'s-1','action':'install','attempt':2,'status':'open'},"
		"'certificates':[{'kind':'boot','text':'x'},{'kind':'full','text':'y'}],"
		"'stages':[{'state':'inspecting','ms':3000},"
		"{'state':'imaging','ms':95000}],"
		"'firmware_versions':[{'name':'BIOS\\u001b','version':'1.2'}],"
		"'conditions':[{'name':'unreachable','since_ms':61000,'away':true}],"
		"'drift':[{'said':'network x: MTU is 1, the profile says 2'}]}",
		&node);
	bu_autojson json_t *inventory = machine();
	bu_autofree char *text = NULL;

	node.inventory = inventory;
	text = WRITTEN(bu_render_node(&node, out));
	ck_assert_str_eq(
		text,
		"node          node001\n"
		"pool          train\n"
		"state         imaging, unreachable\n"
		"image         debian12\n"
		"root          disk, slot b; the other one has debian11\n"
		"machine       ab12\n"
		"firmware      uefi\n"
		"boot id       b-1\n"
		"since         1970-01-01T00:00:01Z\n"
		"condition     unreachable since 1970-01-01T00:01:01Z: its agent does not answer\n"
		"progress      write 50 %\n"
		"note          its agent does not answer; its last order (wipe) failed: it did not boot\n"
		"agent         0.2.0 (0123456789ab), on trial\n"
		"last seen     1970-01-01T00:01:01Z\n"
		"profile       the applied profile has no such node\n"
		"commit        fedcba9876543210\n"
		"rollout       r-7\n"
		"ordered       wipe to debian13 of commit 0123456789ab-dirty, failed: it did not boot\n"
		"step          install, attempt 2, open\n"
		"certificate   boot\n"
		"certificate   full\n"
		"drift         network x: MTU is 1, the profile says 2\n"
		"stages\n"
		"  inspecting  3.0 s\n"
		"  imaging     95 s\n"
		"hardware\n"
		"  product     QEMU pc\n"
		"  serial      S1\n"
		"  uuid        U1\n"
		"  cpu         TCG, 2 threads\n"
		"  memory      2.0 GiB\n"
		"  disk        /dev/vda, 4.0 GB, serial:D1, wwn:0x5, path:pci-1, model:M\n"
		"  disk        /dev/sda, 0.0 GB, wwn:0x6, path:pci-2, serial number D2 is not its own; also /dev/sdc, path:pci-3\n"
		"  disk        /dev/sdb, 0.0 GB, wwn:0x7, serial number D2 is not its own\n"
		"  nic         eth0, 52:54:00:77:00:01, driver virtio_net\n"
		"  link        eth0.7, vlan on eth0, up, mtu 1500, 10.7.0.1/24\n"
		"  link        eth1, ethernet of bond0, down, mtu 9000\n"
		"  link        bond0, bond active-backup (eth1), up, mtu 9000, 10.79.0.11/24\n"
		"  gpus        2\n"
		"firmware\n"
		"  BIOS?                            1.2\n");
	released(bu_shown_whole_fields, &node, value);
}
END_TEST

/* Not shown as a machine without memory. */
START_TEST(hardware_that_cannot_be_read_is_said_to_be_so)
{
	struct bu_shown_node node;
	json_t *value = shown_as(bu_shown_whole_fields,
				 "{'name':'node001','in_profile':true}", &node);
	bu_autojson json_t *inventory = machine();
	bu_autofree char *text = NULL;

	json_object_del(inventory, "memory_bytes");
	node.inventory = inventory;
	text = WRITTEN(bu_render_node(&node, out));
	ck_assert_msg(
		strstr(text, "\nhardware      inventory: memory_bytes: missing;") !=
			NULL,
		"%s", text);
	ck_assert_ptr_null(strstr(text, "GiB"));
	released(bu_shown_whole_fields, &node, value);
}
END_TEST

/* Nothing is made up of what was not said. */
START_TEST(a_node_without_facts_has_no_lines_of_them)
{
	struct bu_shown_node node;
	json_t *value =
		shown_as(bu_shown_whole_fields,
			 "{'name':'node001','pool':'train','state':'discovered',"
			 "'in_profile':true}",
			 &node);
	bu_autofree char *text = WRITTEN(bu_render_node(&node, out));

	ck_assert_str_eq(text, "node          node001\n"
			       "pool          train\n"
			       "state         discovered\n");
	released(bu_shown_whole_fields, &node, value);
}
END_TEST

START_TEST(a_certificate_names_each_rail)
{
	static const struct bu_shown_certificate cert = {
		"full",
		"{\"cert\":{\"node\":\"n1\",\"machine\":\"m\",\"boot_id\":\"b\","
		"\"issued\":\"now\",\"epoch\":7,"
		"\"rails\":[{\"rail\":\"r0\",\"verdict\":\"pass\","
		"\"expect\":{\"link_gbps\":400,\"percent\":90}},"
		"{\"rail\":\"r1\",\"verdict\":\"warn\","
		"\"expect\":{\"link_gbps\":100,\"percent\":80}}],"
		"\"results\":[{\"rail\":\"r1\",\"a\":{\"node\":\"n1\"},"
		"\"b\":{\"node\":\"n2\"},"
		"\"a_to_b\":{\"bw_gbps\":[1,2],\"bw_median_gbps\":81.5,"
		"\"lat_median_us\":4,\"lat_p99_us\":9},"
		"\"b_to_a\":{\"bw_gbps\":[1],\"bw_median_gbps\":82,"
		"\"lat_median_us\":5,\"lat_p99_us\":8}}],"
		"\"verdict\":\"warn\"},\"sig\":\"00112233445566778899\"}"};
	bu_autofree char *text = WRITTEN(bu_render_certificate(&cert, out));

	ck_assert_str_eq(
		text,
		"full certificate of n1\n"
		"  machine    m\n"
		"  boot       b\n"
		"  issued     now, epoch 7\n"
		"  rail       r0, pass\n"
		"  expected   at least 360.0000 Gbit/s (90 % of a link of 400 Gbit/s)\n"
		"  rail       r1, warn\n"
		"  measured   n1 -> n2: median 81.5000 Gbit/s of 2 runs, latency 4 us (p99 9)\n"
		"  measured   n2 -> n1: median 82.0000 Gbit/s of 1 runs, latency 5 us (p99 8)\n"
		"  expected   at least 80.0000 Gbit/s (80 % of a link of 100 Gbit/s)\n"
		"  verdict    warn\n"
		"  replayed   they do not: r0: its figures give inconclusive, the "
		"certificate says pass\n"
		"  signature  0011223344556677...\n");
}
END_TEST

/* Signed by the gate's own code, of two good directions. */
static char *
signed_text(void)
{
	static struct bu_pair_result result;
	static const struct bu_pair_result *const results[] = {&result};
	struct bu_fabcert_rail rail = {.name = "r0",
				       .results = results,
				       .result_count = 1,
				       .expect = {.link_gbps = 400, .percent = 90}};
	bu_autojson json_t *hardware = json_pack("{s:s}", "serial", "S1");
	bu_autofree char *private_pem = NULL, *public_pem = NULL;
	struct bu_fabcert_rail rails[2];
	struct bu_fabcert cert = {.kind = BU_FABCERT_FULL,
				  .node = "n1",
				  .machine = "m",
				  .hardware = hardware,
				  .boot_id = "b",
				  .rails = rails,
				  .rail_count = 2};
	struct bu_err err;
	char *text;

	bu_pair_result_init(&result);
	strcpy(result.probe, "p1");
	strcpy(result.end[0].node, "n1");
	strcpy(result.end[1].node, "n2");
	for (int dir = 0; dir < 2; dir++) {
		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result.dir[dir], 380);
	}
	result.verdict = bu_expect_judge_pair(&rail.expect, &result);
	rail.verdict = bu_fabcert_judge("n1", &rail.expect, results, 1);
	for (int i = 0; i < 2; i++) {
		rails[i] = rail;
		rails[i].name = i ? "rail1" : "rail0";
	}
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	text = bu_fabcert_sign(&cert, private_pem, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	return text;
}

/* Whoever reads it need not take the signer's word for the verdict. */
START_TEST(a_certificate_is_judged_again)
{
	bu_autofree char *good = signed_text();
	bu_autofree char *bad =
		bu_testing_replace(good, "\"percent\":90.0", "\"percent\":99.0");
	struct bu_shown_certificate certs[] = {{"full", good}, {"full", bad}};
	bu_autofree char *first = WRITTEN(bu_render_certificate(&certs[0], out));
	bu_autofree char *second = WRITTEN(bu_render_certificate(&certs[1], out));

	ck_assert_ptr_nonnull(
		strstr(first, "\n  replayed   its schedule and its figures give this "
			      "verdict\n"));
	ck_assert_ptr_nonnull(strstr(
		first, "\n  sum        sends 760.0000, receives 760.0000 Gbit/s, of "
		       "its rails' rates in one probe, at least 720.0000\n"));
	ck_assert_ptr_nonnull(strstr(second, "\n  replayed   they do not: probe p1: "
					     "its figures give fail, it says pass\n"));
}
END_TEST

START_TEST(a_rollout_has_a_head)
{
	struct bu_shown_rollout rollout;
	json_t *value = shown_as(
		bu_shown_rollout_whole_fields,
		"{'id':'r-2','state':'done','total':1,'done':1,'reason':'by anna',"
		"'plan':'0011','revision':'2233','commit':'4455','by':'anna',"
		"'limit':'n[1-4]','started_ms':1000,'ended_ms':61000,"
		"'pools':[{'pool':'train','total':1,'done':1,'canary':1,"
		"'canary_done':1,'failure_budget':2,'max_unavailable':1}],"
		"'nodes':[{'node':'n1','pool':'train','class':'wipe','batch':-1,"
		"'status':'done','state':'ready'}]}",
		&rollout);
	bu_autofree char *text = WRITTEN(bu_render_rollout(&rollout, out));

	ck_assert_str_eq(text, "rollout   r-2\n"
			       "state     done\n"
			       "reason    by anna\n"
			       "plan      0011\n"
			       "revision  2233\n"
			       "commit    4455\n"
			       "limit     n[1-4]\n"
			       "by        anna\n"
			       "started   1970-01-01T00:00:01Z\n"
			       "ended     1970-01-01T00:01:01Z\n"
			       "\n"
			       "POOL  NODES DONE FAILED BUDGET   AWAY WAIT CANARY NOW\n"
			       "train     1    1      0 0 of 2 0 of 1    0 1 of 1 \n"
			       "\n"
			       "POOL  COUNT NODES STEP BATCH STATUS STATE REASON\n"
			       "train     1 n1    wipe     - done   ready \n");
	released(bu_shown_rollout_whole_fields, &rollout, value);
}
END_TEST

START_TEST(a_status_has_its_alarms_first)
{
	struct bu_shown_status status;
	json_t *value = shown_as(
		bu_shown_status_fields,
		"{'version':7,'site':'demo','time_ms':61000,'epoch':3,"
		"'revision':'0123456789abcdef','commit':'fedcba9876543210',"
		"'trouble':'no such image',"
		"'appliance':{'version':'0.1.0','uptime_s':75},"
		"'nodes':[{'name':'node001','pool':'train','state':'ready',"
		"'since_ms':1000}],"
		"'rollout':{'id':'r-1','total':1,'state':'running','under_way':1},"
		"'conditions':[{'name':'clock','detail':'it goes wrong\\n'},"
		"{'name':'disk-full','detail':'log.db'}],"
		"'brakes':[{'scope':'a','said':'4 of rack r1 are late'},"
		"{'scope':'b','said':'5 of rack r2 are late'}],"
		"'warnings':['bw_min is low','lat_max is high']}",
		&status);
	bu_autofree char *text = WRITTEN(bu_render_status(&status, out));

	ck_assert_str_eq(
		text,
		"site demo, epoch 3, revision 0123456789ab (commit fedcba987654); bringupd 0.1.0, up 75 s\n"
		"the applied profile cannot be read: no such image; no node is moved until a corrected one is applied\n"
		"ALARM, clock: clock: it goes wrong?\n"
		"ALARM, disk-full: the appliance's disk is full: log.db\n"
		"ALARM, the brake is on: 4 of rack r1 are late\n"
		"ALARM, the brake is on: 5 of rack r2 are late\n"
		"warning: bw_min is low\n"
		"warning: lat_max is high\n"
		"rollout r-1 of 1 node, running: 1 under way\n"
		"1/1 ready\n"
		"\n"
		"NODE    POOL  STATE  FOR PROGRESS NOTE\n"
		"node001 train ready 60 s          \n");
	released(bu_shown_status_fields, &status, value);
}
END_TEST

/* A sensor without a reading shows none, and no zero; an event without a time none. */
START_TEST(what_a_bmc_does_not_say_is_not_shown_as_zero)
{
	bu_autojson json_t *events =
		quoted("{'more':true,'full':true,'events':[{'at_ms':0,'log':'sel',"
		       "'text':'power lost'},{'at_ms':61000,'severity':'critical',"
		       "'log':'sel','text':'fan 1 \\u001bfailed'}]}");
	bu_autojson json_t *none = quoted("{'events':[]}");
	bu_autojson json_t *sensors = quoted(
		"{'more':true,'sensors':[{'name':'inlet','value':21.5,'unit':'C',"
		"'health':'ok'},{'name':'fan','value':0,'unit':'rpm'},"
		"{'name':'exhaust','value':null,'unit':'C'},"
		"{'name':'PSU 2','state':'absent'}]}");
	bu_autojson json_t *firmware =
		quoted("{'firmware':[{'name':'BIOS','version':'1.2'}]}");
	bu_autofree char *text = WRITTEN(bu_render_bmc_events(events, out));
	bu_autofree char *empty = WRITTEN(bu_render_bmc_events(none, out));
	bu_autofree char *read = WRITTEN(bu_render_bmc_sensors(sensors, out));
	bu_autofree char *versions = WRITTEN(bu_render_bmc_firmware(firmware, out));

	ck_assert_str_eq(empty, "its event logs are empty\n");
	ck_assert_str_eq(
		text,
		"(older ones are left out)\n"
		"no time               -         sel          power lost\n"
		"1970-01-01T00:01:01Z  critical  sel          fan 1 ?failed\n"
		"warning: its log is full and takes no more: what happened lately is not in it; clear it at the BMC\n");
	ck_assert_str_eq(read,
			 "inlet                             21.50 C           ok\n"
			 "fan                               0 rpm             -\n"
			 "exhaust                           no reading        -\n"
			 "PSU 2                             absent            -\n"
			 "(there are more)\n");
	ck_assert_str_eq(versions,
			 "BIOS                                              1.2\n");
}
END_TEST

/* What passed speaks neither for nor against. */
START_TEST(evidence_is_what_speaks_against_a_node)
{
	bu_autojson json_t *shown = quoted(
		"{'node':'node001','code':'fabric-accused','args':{'rail':'r0','words':"
		"{'code':'node-accused','args':{'cut_off':1,'told':1,'seen':[{'code':"
		"'sends','args':{'from':'node001','to':'node002','words':'slow'}},"
		"{'code':'receives','args':{'from':'node002','to':'node001','words':"
		"{'code':'losses','args':{'lost':1,'counter':'out_of_sequence',"
		"'count':7,'node':'node001','high':9,'median':3}}}}],'by':['node002',"
		"'node003'],'cause':'rate','hint':'swap the cable'}}},"
		"'hint':'swap the cable',"
		"'checks':{'checks':[{'id':'nic-mtu','subject':'eth1',"
		"'verdict':'fail','text':'MTU is 1500','hint':'set it'},"
		"{'id':'dimm','verdict':'pass','text':'16 of 16'},"
		"{'id':'temp','verdict':'warn','text':'71 C','hint':'look'}]},"
		"'results':[{'rail':'r0','a':{'node':'node001'},"
		"'b':{'node':'node002'},'a_to_b':{'bw_median_gbps':12.5},"
		"'b_to_a':{'bw_median_gbps':389},'verdict':'fail',"
		"'error':{'text':'late'}}],"
		"'nvlink':{'rows':[{'id':'nvlink-rate','subject':'GPU 0 to GPU 0 of n2',"
		"'seen':'748.0 GB/s','verdict':'pass','expected':'at least 671.4 GB/s'}]},"
		"'remarks':['a driver is old',{'code':'nvlink-bad','args':{"
		"'node':'node001','peer':'node002','finding':{'code':'nvlink-far'},"
		"'which':{'code':'nvlink-untold','args':{'bad':['node002','node003']}"
		"}}}],'incidents':[{'reason':'it was cut'}]}");
	bu_autojson json_t *calm = quoted("{'node':'node001'}");
	bu_autofree char *text = WRITTEN(bu_render_evidence(shown, out));
	bu_autofree char *nothing = WRITTEN(bu_render_evidence(calm, out));

	ck_assert_str_eq(nothing, "node       node001\n");
	ck_assert_str_eq(
		text,
		"node       node001\n"
		"reason     rail r0: only its loopback works: with every partner and in "
		"both directions nothing arrived; node001 sends: node001 to node002: "
		"slow; node001 receives: node002 to node001: 1 packet lost or sent "
		"again in one probe, out_of_sequence 7 at node001, latency p99 9 us "
		"(median 3 us) (seen by proven node002, node003); rate; swap the "
		"cable\n"
		"to do      swap the cable\n"
		"check      fail nic-mtu (eth1): MTU is 1500; set it\n"
		"check      warn temp: 71 C; look\n"
		"probe      r0: node001 -> node002 12.5000 Gbit/s, back 389.0000 Gbit/s: fail late\n"
		"nvlink     nvlink-rate: GPU 0 to GPU 0 of n2, 748.0 GB/s: pass at least 671.4 GB/s\n"
		"warning    a driver is old\n"
		"warning    NVLink between node001 and node002 is bad: the other end "
		"saw a fault; no third node has told yet whether it is this node or "
		"node002, node003\n"
		"incident   it was cut\n");
}
END_TEST

/* However long names and states are, what is of one kind is in one column. */
START_TEST(columns_of_a_screen_are_as_wide_as_their_widest)
{
	struct bu_shown_nodes nodes;
	json_t *value = shown_as(
		bu_shown_nodes_fields,
		"{'time_ms':61000,'nodes':[{'name':'n1','state':'imaging',"
		"'since_ms':1000},{'name':'node0123','state':'ready','since_ms':1000,"
		"'settled':true,'conditions':[{'name':'unreachable','away':true}]},{'name':'n2','state':'booting','since_ms':51000}]}",
		&nodes);
	struct bu_screen screen = {0};
	bu_autofree char *text = WRITTEN({
		screen.out = out;
		bu_screen_nodes(&screen, &nodes);
	});

	ck_assert_str_eq(text,
			 "n1        imaging                60 s\033[K\n"
			 "node0123  ready, unreachable     60 s  its agent does not "
			 "answer\033[K\n"
			 "n2        booting                10 s\033[K\n"
			 "0/3 ready, 1 unreachable, 1 imaging, 1 booting\033[K\n"
			 "\033[J");
	released(bu_shown_nodes_fields, &nodes, value);
}
END_TEST

BU_UNIT("views", hardware_that_cannot_be_read_is_said_to_be_so,
	columns_of_a_screen_are_as_wide_as_their_widest,
	a_node_has_a_line_for_each_fact, a_node_without_facts_has_no_lines_of_them,
	a_certificate_names_each_rail, a_rollout_has_a_head,
	a_status_has_its_alarms_first, what_a_bmc_does_not_say_is_not_shown_as_zero,
	evidence_is_what_speaks_against_a_node, a_certificate_is_judged_again)
