/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 0 over stand-ins for libibverbs and libcuda: which port is named, and what is
 * no finding. */
#include "checks/fabric/loops_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "model/work.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096 };
static const double least = 0.002; /* a loaded machine is faster by far */

static char root[] = "/tmp/bringup-loops-XXXXXX";

/* Two InfiniBand ports of one subnet that has a prefix of its own, and one of RoCE. */
static const struct fakeverbs_device own_prefix[2] = {
	{.ports = 1, .port = {{.lid = 11, .gid = {"fec0::a"}, .pkey = {0xffff}}}},
	{.ports = 1, .port = {{.lid = 12, .gid = {"fec0::b"}, .pkey = {0xffff}}}},
};
static const struct fakeverbs_device usual_prefix[2] = {
	{.ports = 1, .port = {{.lid = 11, .gid = {"fe80::a"}, .pkey = {0xffff}}}},
	{.ports = 1, .port = {{.lid = 12, .gid = {"fe80::b"}, .pkey = {0xffff}}}},
};

static json_t *
make_item(double min_gbps)
{
	static const char *const ports[] = {"fake0", "fake1", "fake2"};
	static const char *const rails[] = {"ib0", "ib1", "roce"};
	struct bu_work_probe work;

	bu_record_init(bu_work_probe_fields, &work);
	work.work = (struct bu_work){.id = "loops", .attempt = 1};
	work.role = BU_PROBE_LOOPBACK;
	strcpy(work.probe, "loops");
	strcpy(work.node[BU_END_A], "node001");
	work.message_bytes = MESSAGE;
	work.bytes = 4 * MESSAGE;
	work.runs = 2;
	work.pings = 0;
	work.duplex = 1;
	work.deadline_ms = 8000;
	work.rails_count = 3;
	for (int i = 0; i < 3; i++) {
		bu_record_init(bu_work_rail_fields, &work.rails[i]);
		strcpy(work.rails[i].rail, rails[i]);
		strcpy(work.rails[i].port, ports[i]);
		work.rails[i].min_gbps = min_gbps;
	}
	return bu_record_to_json(bu_work_probe_fields, &work);
}

static void
set_machine(const struct fakeverbs_device ports[2])
{
	static const struct fakeverbs_faults none;

	for (int i = 0; i < FAKEVERBS_DEVICES; i++)
		fakeverbs_set(i, &none);
	for (int i = 0; i < 2; i++)
		fakeverbs_device(i, ports ? &ports[i] : NULL);
}

/* The switch that fake0 and fake1 are at; NULL does not answer. */
static const char *switches[2] = {"0xa1", "0xa1"};

static int
play_peer(const char *at, const char *device, int port, int wait_ms,
	  struct bu_lldp *ret, struct bu_err *err)
{
	const char *name = switches[device[4] - '0'];

	ck_assert_str_eq(at, root);
	ck_assert_int_eq(port, 1);
	ck_assert_int_gt(wait_ms, 0);
	ret->heard = name != NULL;
	snprintf(ret->chassis, sizeof(ret->chassis), "%s", name ? name : "");
	return name ? 0 : bu_err_set(err, BU_ERR_TIMEOUT, 0, "%s is mute", device);
}

static const struct bu_loops_probes probes = {.ib_peer = play_peer};

/* expect: {"fabric"} and what the test says besides. */
static void
run(json_t *expect, const char *libs, struct bu_checks *ret)
{
	struct bu_checks_ctx ctx = {.root = root, .libs = libs, .expect = expect};
	struct bu_err err = {0};

	bu_checks_init(ret);
	ck_assert_msg(bu_loops_run_with(&ctx, &probes, ret, &err) == 0, "%s", err.text);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

static const struct bu_check *
find(const struct bu_checks *checks, const char *id, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strcmp(checks->list[i].subject, subject) == 0)
			return &checks->list[i];
	return NULL;
}

static void
row_is(const struct bu_checks *checks, const char *id, const char *subject,
       enum bu_verdict verdict, const char *says)
{
	const struct bu_check *row = find(checks, id, subject);

	ck_assert_msg(row != NULL, "no row %s of %s", id, subject);
	ck_assert_msg(row->verdict == verdict, "%s of %s: %s", id, subject, row->text);
	ck_assert_msg(strstr(row->text, says) != NULL, "%s of %s: %s", id, subject,
		      row->text);
	ck_assert_int_eq(verdict != BU_VERDICT_PASS, row->hint[0] != '\0');
}

START_TEST(each_port_is_looped_and_ports_at_one_switch_meet)
{
	for (int usual = 0; usual < 2; usual++) {
		bu_autojson json_t *expect =
			json_pack("{s:o}", "fabric", make_item(least));
		struct bu_checks checks;

		set_machine(usual ? usual_prefix : own_prefix);
		run(expect, NULL, &checks);
		ck_assert_uint_eq(checks.count, 6);
		row_is(&checks, "ports-together", "3 rails", BU_VERDICT_PASS, "");
		row_is(&checks, "port-loop", "ib0", BU_VERDICT_PASS, "");
		row_is(&checks, "port-loop", "ib1", BU_VERDICT_PASS, "");
		row_is(&checks, "port-loop", "roce", BU_VERDICT_PASS, "");
		row_is(&checks, "port-to-port", "ib0 to ib1", BU_VERDICT_PASS, "");
		row_is(&checks, "port-to-port", "ib1 to ib0", BU_VERDICT_PASS, "");
		bu_checks_fini(&checks);
	}
	set_machine(NULL);
}
END_TEST

/* What is between their switches is for all machines, and may carry less than a port
 * does: nothing is sent over it, and so no port is blamed for it. */
START_TEST(ports_at_two_switches_are_not_measured_with_each_other)
{
	static const char *const others[] = {"0xb2", NULL};

	for (size_t i = 0; i < BU_LEN(others); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:o}", "fabric", make_item(least));
		struct bu_checks checks;

		switches[1] = others[i];
		set_machine(own_prefix);
		run(expect, NULL, &checks);
		switches[1] = "0xa1";
		ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 0);
		ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), 4);
		ck_assert_ptr_null(find(&checks, "port-to-port", "ib0 to ib1"));
		ck_assert_ptr_null(find(&checks, "port-to-port", "ib0"));
		ck_assert_uint_eq(checks.count, others[i] ? 4 : 5);
		if (!others[i]) {
			row_is(&checks, "port-to-port", "ib1", BU_VERDICT_INCONCLUSIVE,
			       "rail ib1: port-to-port was not measured: it is not "
			       "known which switch it is at: fake1 is mute");
			ck_assert_str_ne(find(&checks, "port-to-port", "ib1")->seen,
					 BU_CHECK_UNDONE);
		}
		bu_checks_fini(&checks);
	}
	set_machine(NULL);
}
END_TEST

/* A sender that is slow: in its own loop, and in what it sends to the other port. The
 * other port, and what comes back, are good. */
START_TEST(a_slow_sender_is_named_and_its_neighbour_is_not)
{
	const struct fakeverbs_faults slow = {.rate_gbps = 0.0005};
	bu_autojson json_t *expect = json_pack("{s:o}", "fabric", make_item(least));
	struct bu_checks checks;

	set_machine(own_prefix);
	fakeverbs_set(0, &slow);
	run(expect, NULL, &checks);
	row_is(&checks, "port-loop", "ib0", BU_VERDICT_FAIL,
	       "rail ib0: in a loop inside the machine: ");
	row_is(&checks, "port-loop", "ib0", BU_VERDICT_FAIL, "at least 2.00 Mbit/s");
	row_is(&checks, "port-loop", "ib1", BU_VERDICT_PASS, "");
	row_is(&checks, "port-loop", "roce", BU_VERDICT_PASS, "");
	row_is(&checks, "port-to-port", "ib0 to ib1", BU_VERDICT_FAIL, "Mbit/s");
	row_is(&checks, "port-to-port", "ib1 to ib0", BU_VERDICT_PASS, "");
	bu_checks_fini(&checks);
	set_machine(NULL);
}
END_TEST

/* Below one switch that carries twice what one of them must: each is good alone, and
 * the three of them are not. Who is slow alone has no part in it. */
START_TEST(rails_that_share_too_little_are_told)
{
	const struct fakeverbs_faults shared = {.rate_gbps = 2 * least, .below = 1};
	const struct fakeverbs_faults slow = {.rate_gbps = least / 4};
	bu_autojson json_t *expect = json_pack("{s:o}", "fabric", make_item(least));
	struct bu_checks checks;

	set_machine(NULL);
	for (int i = 0; i < 3; i++)
		fakeverbs_set(i, &shared);
	run(expect, NULL, &checks);
	row_is(&checks, "port-loop", "ib0", BU_VERDICT_PASS, "");
	row_is(&checks, "ports-together", "3 rails", BU_VERDICT_WARN,
	       "3 rails together reach ");
	row_is(&checks, "ports-together", "3 rails", BU_VERDICT_WARN,
	       " of 6.00 Mbit/s in loops");
	bu_checks_fini(&checks);
	set_machine(NULL);
	fakeverbs_set(1, &slow);
	run(expect, NULL, &checks);
	row_is(&checks, "port-loop", "ib1", BU_VERDICT_FAIL, "");
	row_is(&checks, "ports-together", "2 rails", BU_VERDICT_PASS, "");
	bu_checks_fini(&checks);
	set_machine(NULL);
}
END_TEST

/* Together both directions must carry what one direction of the link does, and the
 * slower one tells how long they took. */
static const struct {
	double rate[2];
	enum bu_verdict verdict;
} shares[] = {
	{{50, 50}, BU_VERDICT_PASS},
	{{95, 48}, BU_VERDICT_PASS},
	{{95, 40}, BU_VERDICT_FAIL},
	{{46, 46}, BU_VERDICT_FAIL},
};

START_TEST(a_loop_is_judged_by_both_directions_together)
{
	const struct bu_work_rail rail = {.rail = "fabric0", .min_gbps = 93};

	for (size_t i = 0; i < BU_LEN(shares); i++) {
		struct bu_loop loop = {.row = BU_LOOP_SELF,
				       .subject = "fabric0",
				       .rails = {&rail, &rail}};
		struct bu_checks checks;

		bu_pair_result_init(&loop.result);
		for (int dir = 0; dir < 2; dir++) {
			loop.result.end[dir].memory_found = BU_MEMORY_HOST;
			bu_pair_dir_add(&loop.result.dir[dir], shares[i].rate[dir]);
		}
		bu_checks_init(&checks);
		bu_loop_judge(&loop, &checks);
		ck_assert_uint_eq(checks.count, 1);
		ck_assert_int_eq(checks.list[0].verdict, shares[i].verdict);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* Nine tenths of the link below a common switch; through the CPU it is no fault. */
static const struct {
	double least, gbps;
	int has_switch;
	enum bu_verdict verdict;
} gpu_loops[] = {
	{188.8, 181, 1, BU_VERDICT_PASS}, {188.8, 179, 1, BU_VERDICT_FAIL},
	{377.6, 361, 1, BU_VERDICT_PASS}, {377.6, 359, 1, BU_VERDICT_FAIL},
	{377.6, 361, 0, BU_VERDICT_PASS}, {377.6, 180, 0, BU_VERDICT_WARN},
	{0, 180, 0, BU_VERDICT_PASS},
};

START_TEST(a_loop_through_a_gpu_has_a_limit_of_its_own)
{
	for (size_t i = 0; i < BU_LEN(gpu_loops); i++) {
		const struct bu_work_rail rail = {.rail = "fabric0",
						  .min_gbps = gpu_loops[i].least};
		struct bu_loop loop = {.row = BU_LOOP_GPU,
				       .subject = "fabric0 and GPU 0 at 0000:13:00.0",
				       .rails = {&rail, &rail},
				       .has_switch = gpu_loops[i].has_switch};
		struct bu_checks checks;

		bu_pair_result_init(&loop.result);
		for (int dir = 0; dir < 2; dir++) {
			loop.result.end[dir].memory_found = BU_MEMORY_DMABUF;
			bu_pair_dir_add(&loop.result.dir[dir], gpu_loops[i].gbps / 2);
		}
		bu_checks_init(&checks);
		bu_loop_judge(&loop, &checks);
		ck_assert_uint_eq(checks.count, 1);
		ck_assert_int_eq(checks.list[0].verdict, gpu_loops[i].verdict);
		ck_assert_int_eq(gpu_loops[i].verdict == BU_VERDICT_WARN,
				 strstr(checks.list[0].hint, "switch in common") !=
					 NULL);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* What is a finding, and what only could not be measured. Warm-up, runs and the word
 * before them are 22 posts of each queue pair or more. */
static const struct {
	const char *what;
	struct fakeverbs_faults faults;
	enum bu_verdict verdict;
	const char *says;
} faults[] = {
	{"changed",
	 {.corrupt_from = 6},
	 BU_VERDICT_FAIL,
	 "in a loop inside the machine"},
	{"does not loop", {.lose_from = 1}, BU_VERDICT_INCONCLUSIVE, "not measured"},
	{"hangs", {.hang_from = 1}, BU_VERDICT_INCONCLUSIVE, "not measured"},
	{"vanished", {.vanish_from = 3}, BU_VERDICT_INCONCLUSIVE, "not measured"},
	{"down", {.port_down = 1}, BU_VERDICT_INCONCLUSIVE, "port 1 is not active"},
};

START_TEST(what_does_not_move_is_no_finding)
{
	for (size_t i = 0; i < BU_LEN(faults); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:o}", "fabric", make_item(least));
		struct bu_checks checks;

		set_machine(own_prefix);
		fakeverbs_set(2, &faults[i].faults);
		run(expect, NULL, &checks);
		row_is(&checks, "port-loop", "roce", faults[i].verdict, faults[i].says);
		row_is(&checks, "port-loop", "ib0", BU_VERDICT_PASS, "");
		bu_checks_fini(&checks);
	}
	set_machine(NULL);
}
END_TEST

/* A port that is not there, and a partition that it is not in, are named. */
START_TEST(what_the_profile_asks_for_and_is_not_there_is_named)
{
	bu_autojson json_t *item = make_item(least);
	json_t *rails = json_object_get(item, "rails");
	bu_autojson json_t *expect = NULL;
	struct bu_checks checks;

	json_object_set_new(json_array_get(rails, 0), "pkey", json_integer(0x8012));
	json_object_set_new(json_array_get(rails, 2), "port", json_string("fake9"));
	expect = json_pack("{s:O}", "fabric", item);
	set_machine(own_prefix);
	run(expect, NULL, &checks);
	row_is(&checks, "port-loop", "ib0", BU_VERDICT_INCONCLUSIVE,
	       "fake0/1 is not in partition 0x8012; it is in 0xffff");
	row_is(&checks, "port-loop", "roce", BU_VERDICT_INCONCLUSIVE,
	       "no RDMA port fake9");
	row_is(&checks, "port-loop", "ib1", BU_VERDICT_PASS, "");
	bu_checks_fini(&checks);
	set_machine(NULL);
}
END_TEST

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(full, 0644, NULL, "%s", text), 0);
}

static void
link_to(const char *path, const char *target)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(symlink(target, full), 0);
}

/* Two GPUs, each below a switch with an adapter: the second GPU with fake0. */
static void
build_machine(void)
{
	static const char *const gpus[] = {"0000:13:00.0", "0000:93:00.0"};

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < 2; i++) {
		bu_autofree char *dir =
			bu_xasprintf("sys/devices/pci0000:%s/0000:%s:00.0/%s",
				     i ? "90" : "10", i ? "91" : "11", gpus[i]);
		bu_autofree char *vendor = bu_xasprintf("%s/vendor", dir);
		bu_autofree char *class = bu_xasprintf("%s/class", dir);
		bu_autofree char *link =
			bu_xasprintf("sys/bus/pci/devices/%s", gpus[i]);
		bu_autofree char *target = bu_xasprintf("%s/%s", root, dir);

		put(vendor, "0x10de\n");
		put(class, "0x030200\n");
		link_to(link, target);
	}
}

static void
unbuild_machine(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
}

/* The way that a GPU's memory gets to the adapter; where there is none it is said. */
static const struct {
	const char *mood, *seen, *says;
	enum bu_verdict verdict;
} moods[] = {
	{"", ", gpu dmabuf", "", BU_VERDICT_PASS},
	{"peermem", ", gpu peermem", "", BU_VERDICT_PASS},
	{"neither", "unknown", "neither as dmabuf nor by nvidia-peermem",
	 BU_VERDICT_INCONCLUSIVE},
	{"host", "unknown", "is not proven to be the GPU's", BU_VERDICT_INCONCLUSIVE},
	{"liar", "unknown", "is not proven to be the GPU's", BU_VERDICT_INCONCLUSIVE},
	{"none", "unknown", "cuInit: error 100", BU_VERDICT_INCONCLUSIVE},
};

START_TEST(gpu_memory_is_reached_or_the_row_says_why_not)
{
	bu_autofree char *libs = NULL;

	build_machine();
	link_to("libs/libcuda.so.1", BU_BUILDDIR "/tests/support/fakecuda.so");
	libs = bu_xasprintf("%s/libs", root);
	for (size_t i = 0; i < BU_LEN(moods); i++) {
		bu_autojson json_t *expect = json_pack(
			"{s:o,s:{s:i}}", "fabric", make_item(least), "gpu", "count", 2);
		const struct bu_check *row;
		struct bu_checks checks;

		setenv("FAKECUDA", moods[i].mood, 1);
		set_machine(own_prefix);
		run(expect, libs, &checks);
		row = find(&checks, "port-loop-gpu", "ib0 and GPU 0 at 0000:13:00.0");
		ck_assert_ptr_nonnull(row);
		ck_assert_msg(row->verdict == moods[i].verdict &&
				      strstr(row->seen, moods[i].seen) &&
				      strstr(row->text, moods[i].says),
			      "'%s': %s, %s", moods[i].mood, row->seen, row->text);
		ck_assert_ptr_nonnull(find(&checks, "port-loop", "ib0"));
		bu_checks_fini(&checks);
	}
	unbuild_machine();
	set_machine(NULL);
}
END_TEST

/* The GPU below the adapter's own switch; where several are as near, each is taken
 * once. */
START_TEST(the_gpu_next_to_the_port_is_taken)
{
	struct bu_loop_gpus gpus = {.taken = {0}};
	int below = 0;

	build_machine();
	put("sys/devices/pci0000:90/0000:91:00.0/0000:94:00.0/class", "0x020700\n");
	bu_autofree char *slot = bu_xasprintf(
		"%s/sys/devices/pci0000:90/0000:91:00.0/0000:94:00.0", root);
	link_to("sys/class/infiniband/mlx5_0/device", slot);
	put("sys/devices/virtual/x", "");
	bu_autofree char *none = bu_xasprintf("%s/sys/devices/virtual", root);
	link_to("sys/class/infiniband/far0/device", none);
	bu_gpu_list(root, BU_GPU_NVIDIA, &gpus.list);
	ck_assert_uint_eq(gpus.list.count, 2);
	ck_assert_int_eq(bu_loop_gpu_near(root, "mlx5_0", &gpus, &below), 1);
	ck_assert_int_eq(bu_loop_gpu_near(root, "mlx5_0", &gpus, &below), 1);
	ck_assert_int_eq(below, 1);
	/* Below another root port of the same CPU. */
	put("sys/devices/pci0000:90/0000:90:02.0/0000:95:00.0/class", "0x020700\n");
	bu_autofree char *beside = bu_xasprintf(
		"%s/sys/devices/pci0000:90/0000:90:02.0/0000:95:00.0", root);
	link_to("sys/class/infiniband/mlx5_1/device", beside);
	ck_assert_int_eq(bu_loop_gpu_near(root, "mlx5_1", &gpus, &below), 1);
	ck_assert_int_eq(below, 0);
	gpus.taken[1]--;
	ck_assert_int_eq(bu_loop_gpu_near(root, "far0", &gpus, &below), 0);
	ck_assert_int_eq(below, 0);
	ck_assert_int_eq(bu_loop_gpu_near(root, "far0", &gpus, &below), 0);
	ck_assert_int_eq(bu_loop_gpu_near(root, "far0", &gpus, &below), 0);
	ck_assert_int_eq(bu_loop_gpu_near(root, "far0", &gpus, &below), 1);
	gpus.list.count = 0;
	ck_assert_int_eq(bu_loop_gpu_near(root, "mlx5_0", &gpus, &below), -1);
	unbuild_machine();
}
END_TEST

/* Nobody could say which part of a GPU a port is to reach. */
START_TEST(a_gpu_that_is_divided_or_absent_is_not_looped)
{
	static const char *const gpus[] = {"{}", "{\"count\":2,\"mig\":true}",
					   "{\"count\":0}"};

	build_machine();
	for (size_t i = 0; i < BU_LEN(gpus); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:o,s:o}", "fabric", make_item(least), "gpu",
				  json_loads(gpus[i], 0, NULL));
		struct bu_checks checks;

		set_machine(own_prefix);
		run(expect, "/nowhere", &checks);
		ck_assert_uint_eq(checks.count, 6);
		bu_checks_fini(&checks);
	}
	unbuild_machine();
	set_machine(NULL);
}
END_TEST

BU_UNIT("loops", rails_that_share_too_little_are_told,
	each_port_is_looped_and_ports_at_one_switch_meet,
	ports_at_two_switches_are_not_measured_with_each_other,
	a_slow_sender_is_named_and_its_neighbour_is_not,
	a_loop_is_judged_by_both_directions_together,
	a_loop_through_a_gpu_has_a_limit_of_its_own, what_does_not_move_is_no_finding,
	what_the_profile_asks_for_and_is_not_there_is_named,
	gpu_memory_is_reached_or_the_row_says_why_not,
	the_gpu_next_to_the_port_is_taken,
	a_gpu_that_is_divided_or_absent_is_not_looped)
