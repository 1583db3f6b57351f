/* SPDX-License-Identifier: Apache-2.0 */
/* What a profile says of a machine reaches its checks, and what it does not say is not
 * judged. */
#include <math.h>

#include "base/json.h"
#include "model/hello.h"
#include "model/work.h"
#include "profiles/language/schema.h"
#include "provisioner/gate/terms/terms.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define PLAIN                                                                          \
	"rdma = rxe\nlink_gbps = 0.02\n[image debian12]\n[hardware vm]\n"              \
	"disk = smallest\nnics = 2\n"

static json_t *
expect_of(const char *from, const char *to)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_target target;
	json_t *expect;
	struct bu_err err;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	ck_assert_msg(bu_gate_load_data(rig.gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	ck_assert_msg(
		bu_gate_load_events(rig.gate, BU_SRCDIR "/data/events.json", &err) == 0,
		"%s", err.text);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d-expect", from, to);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_fleet_target(rig.fleet, node, &target, NULL), 0);
	expect = bu_gate_checks_expect(rig.gate, node, &target);
	rig_end(&rig);
	return expect;
}

static json_t *
fabric_of(const json_t *expect)
{
	size_t i;
	json_t *network;

	json_array_foreach (json_object_get(expect, "networks"), i, network)
		if (strcmp(bu_json_str(network, "name", ""), "fabric") == 0)
			return network;
	ck_abort_msg("no network 'fabric'");
	return NULL;
}

/* The member, as it is written on the wire. */
static void
is(const json_t *object, const char *name, const char *want)
{
	const json_t *value = json_object_get(object, name);
	bu_autofree char *text =
		value ? json_dumps(value,
				   JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS)
		      : bu_xstrdup("none");

	ck_assert_msg(strcmp(text, want) == 0, "%s: %s, not %s", name, text, want);
}

START_TEST(what_is_not_said_is_not_judged)
{
	static const char *const port[] = {"mtu",       "link_gbps", "pfc",
					   "ecn",       "dscp",      "pkeys",
					   "gid_index", "firmware"};
	bu_autojson json_t *expect = expect_of("", "");
	const json_t *fabric = fabric_of(expect);

	for (size_t i = 0; i < BU_LEN(port); i++)
		is(fabric, port[i], "none");
	is(expect, "host", "{}");
	is(expect, "gpu", "none");
}
END_TEST

START_TEST(ports_and_host_are_as_the_profile_says)
{
	bu_autojson json_t *expect = expect_of(
		PLAIN,
		"rdma = hardware\nlink_gbps = 100\nmtu = 4200\npfc = 3, 4\necn = on\n"
		"dscp = 26\npkeys = 0x8001, 0xffff\ngid_index = 0\n"
		"[image debian12]\n[hardware vm]\ndisk = smallest\nnics = 2\n"
		"nic_firmware = 28.39.1002, 28.41.1000\nsmt = off\nturbo = on\n"
		"numa_nodes = 2\ncstate_us = 2\ngovernor = performance\n"
		"hugepages = 1GiB*64, 2MiB*1024\n");
	const json_t *fabric = fabric_of(expect);
	const json_t *host = json_object_get(expect, "host");

	is(fabric, "mtu", "4200");
	is(fabric, "link_gbps", "100.0");
	is(fabric, "pfc", "[3,4]");
	is(fabric, "ecn", "true");
	is(fabric, "dscp", "26");
	is(fabric, "pkeys", "[\"0x8001\",\"0xffff\"]");
	is(fabric, "gid_index", "0");
	is(fabric, "firmware", "[\"28.39.1002\",\"28.41.1000\"]");
	is(host, "hugepages", "{\"1048576kB\":64,\"2048kB\":1024}");
	is(host, "governor", "\"performance\"");
	is(host, "smt", "false");
	is(host, "turbo", "true");
	is(host, "numa_nodes", "2");
	is(host, "cstate_us", "2");
}
END_TEST

/* Below that a shaped or virtual link is meant, whose port says another rate. */
START_TEST(a_port_is_held_against_a_rate_of_its_own)
{
	bu_autojson json_t *slow =
		expect_of("link_gbps = 0.02\n", "link_gbps = 0.999\n");
	bu_autojson json_t *fast = expect_of("link_gbps = 0.02\n", "link_gbps = 1\n");

	is(fabric_of(slow), "link_gbps", "none");
	is(fabric_of(fast), "link_gbps", "1.0");
}
END_TEST

START_TEST(a_machine_must_have_what_its_class_says)
{
	bu_autojson json_t *plain = expect_of("", "");
	bu_autojson json_t *expect = expect_of(
		PLAIN, "rdma = rxe\nlink_gbps = 0.02\n[image debian12]\n[hardware vm]\n"
		       "disk = smallest\nnics = 2\ncpus_min = 96\n"
		       "memory_min = 2 TiB\ngpus = 8\ngpu_model = h100-80gb\n");

	bu_autojson json_t *amd = expect_of(
		PLAIN, "rdma = rxe\nlink_gbps = 0.02\n[image debian12]\n[hardware vm]\n"
		       "disk = smallest\nnics = 2\ngpus = 8\ngpu_model = mi300x\n"
		       "gpu_compute_partition = CPX\ngpu_memory_partition = NPS4\n");

	is(json_object_get(amd, "gpu"), "compute_partition", "\"CPX\"");
	is(json_object_get(amd, "gpu"), "memory_partition", "\"NPS4\"");
	is(json_object_get(expect, "gpu"), "compute_partition", "none");
	is(plain, "hardware", "{\"nics\":2}");
	is(expect, "hardware",
	   "{\"cpus\":96,\"gpu_model\":\"h100-80gb\",\"gpus\":8,"
	   "\"memory_bytes\":2199023255552,\"nics\":2}");
}
END_TEST

START_TEST(what_is_mounted_is_looked_at)
{
	bu_autojson json_t *plain = expect_of("", "");
	bu_autojson json_t *expect = expect_of(
		"max_unavailable = 50 %\n",
		"max_unavailable = 50 %\nmounts = home, work\n"
		"[mount home]\nfs = nfs4\nsource = lake1:/export/home\npath = /home\n"
		"options = hard\nwrite = /home/check\n"
		"[mount work]\nfs = lustre\nsource = a@tcp:/work\npath = /work\n");

	is(plain, "mounts", "none");
	is(expect, "mounts",
	   "[{\"fs\":\"nfs4\",\"name\":\"home\",\"path\":\"/home\","
	   "\"source\":\"lake1:/export/home\",\"write\":\"/home/check\"},"
	   "{\"fs\":\"lustre\",\"name\":\"work\",\"path\":\"/work\","
	   "\"source\":\"a@tcp:/work\"}]");
}
END_TEST

START_TEST(no_priority_is_a_word_too)
{
	bu_autojson json_t *expect =
		expect_of("rdma = rxe\n", "rdma = rxe\npfc = none\necn = off\n");

	is(fabric_of(expect), "pfc", "[]");
	is(fabric_of(expect), "ecn", "false");
	/* RDMA in software has no firmware. */
	is(fabric_of(expect), "firmware", "none");
}
END_TEST

/* The limit of each link that the table knows, by its kind, rate and MTU; of others the
 * profile's own share counts. */
START_TEST(a_link_has_the_limit_of_its_kind)
{
	static const struct {
		enum bu_rdma_kind rdma;
		double link_gbps;
		int mtu;
		double least_gbps;
		int path; /* MTU; 0 = not judged */
	} rows[] = {
		{BU_RDMA_INFINIBAND, 100, 4092, 94.4, 4096},
		{BU_RDMA_INFINIBAND, 200, 4092, 188.8, 4096},
		{BU_RDMA_INFINIBAND, 400, 4092, 377.6, 4096},
		{BU_RDMA_INFINIBAND, 800, 4092, 755.21, 4096},
		{BU_RDMA_INFINIBAND, 800, 0, 755.21, 0},
		{BU_RDMA_INFINIBAND, 100, 2044, 93.81, 2048},
		{BU_RDMA_INFINIBAND, 200, 2044, 187.62, 2048},
		{BU_RDMA_INFINIBAND, 400, 2044, 375.24, 2048},
		{BU_RDMA_INFINIBAND, 800, 2044, 750.47, 2048},
		{BU_RDMA_INFINIBAND, 56, 4092, 28, 4096},
		{BU_RDMA_INFINIBAND, 0.02, 4092, 0.01, 4096},
		{BU_RDMA_HARDWARE, 400, 9000, 372.54, 4096},
		{BU_RDMA_HARDWARE, 400, 4092, 365.37, 2048},
		{BU_RDMA_HARDWARE, 800, 0, 703.65, 0},
		{BU_RDMA_INFINIBAND, 400, 0, 377.6, 0},
		{BU_RDMA_HARDWARE, 56, 9000, 28, 4096},
		{BU_RDMA_RXE, 400, 9000, 200, 4096},
	};
	const struct bu_desired_validation validation = {.bw_min_percent = 50};
	struct bu_err err;
	struct rig rig;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	ck_assert_msg(bu_gate_load_data(rig.gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_desired_network fabric = {.rdma = rows[i].rdma,
							  .link_gbps =
								  rows[i].link_gbps,
							  .mtu = rows[i].mtu};
		double least = bu_gate_least_gbps(rig.gate, &validation, &fabric);
		int mtu = bu_gate_expect(rig.gate, &validation, &fabric).mtu;

		ck_assert_msg(fabs(least - rows[i].least_gbps) < 1e-6,
			      "row %zu: %g, not %g", i, least, rows[i].least_gbps);
		ck_assert_msg(mtu == rows[i].path, "row %zu: MTU %d", i, mtu);
	}
	/* Between rails the smaller one. */
	for (int slow = 0; slow < 2; slow++) {
		const struct bu_desired_network of[2] = {
			{.rdma = BU_RDMA_HARDWARE, .link_gbps = 400, .mtu = 9000},
			{.rdma = BU_RDMA_HARDWARE,
			 .link_gbps = slow ? 100 : 800,
			 .mtu = 4092}};
		const struct bu_rail_ends ends = {.of = {&of[0], &of[1]}};
		struct bu_expect expect = bu_rail_expect(rig.gate, &validation, &ends);

		ck_assert_int_eq(expect.mtu, 2048);
		ck_assert_double_eq(expect.link_gbps, slow ? 100 : 400);
		ck_assert_double_eq_tol(bu_expect_min_gbps(&expect, 2048),
					slow ? 91.34 : 365.37, 1e-6);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(without_an_mtu_the_row_is_that_of_what_was_measured)
{
	static const struct {
		enum bu_rdma_kind rdma;
		int path;
		double least_gbps;
	} measured[] = {
		{BU_RDMA_HARDWARE, 4096, 372.54},   {BU_RDMA_HARDWARE, 2048, 365.37},
		{BU_RDMA_HARDWARE, 1024, 351.83},   {BU_RDMA_HARDWARE, 0, 351.83},
		{BU_RDMA_INFINIBAND, 2048, 375.24}, {BU_RDMA_INFINIBAND, 4096, 377.6},
		{BU_RDMA_INFINIBAND, 0, 377.6},     {BU_RDMA_RXE, 4096, 200},
	};
	const struct bu_desired_validation validation = {.bw_min_percent = 50};
	struct bu_err err;
	struct rig rig;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	ck_assert_msg(bu_gate_load_data(rig.gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	for (size_t i = 0; i < BU_LEN(measured); i++) {
		const struct bu_desired_network fabric = {.rdma = measured[i].rdma,
							  .link_gbps = 400};
		struct bu_expect expect =
			bu_gate_expect(rig.gate, &validation, &fabric);
		double least = bu_expect_min_gbps(&expect, measured[i].path);

		ck_assert_msg(fabs(least - measured[i].least_gbps) < 1e-6,
			      "measured %zu: %g", i, least);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(gpus_have_the_driver_and_the_division_of_the_profile)
{
	static const struct {
		const char *mig, *want, *instances, *hbm, *pcie;
	} rows[] = {
		{"", "none", "none", "2245.5", "52.0"},
		/* An instance has an eighth of the memory, and reaches no other GPU. */
		{"mig = 1g.10gb*7\n", "true", "7", "280.6875", "none"},
		{"mig = 0-3:1g.10gb*7,4-7:7g.80gb\n", "true", "none", "none", "none"},
		/* GPUs 4 to 7 stay whole */
		{"mig = 0-3:1g.10gb*7\n", "none", "none", "none", "none"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *site = bu_xasprintf(
			"rdma = rxe\nlink_gbps = 0.02\n[image debian12]\n"
			"driver = 550.54.15\n[hardware vm]\ndisk = smallest\n"
			"nics = 2\ngpus = 8\ngpu_model = h100-80gb\n%s",
			rows[i].mig);
		bu_autojson json_t *expect = expect_of(PLAIN, site);
		const json_t *gpu = json_object_get(expect, "gpu");

		is(gpu, "count", "8");
		is(gpu, "driver", "\"550.54.15\"");
		is(gpu, "mig", rows[i].want);
		is(gpu, "mig_instances", rows[i].instances);
		is(gpu, "hbm_gbs", rows[i].hbm);
		is(gpu, "pcie_gbs", rows[i].pcie);
	}
}
END_TEST

/* What the kernel's words mean goes with the checks, without where it is from. */
START_TEST(events_are_handed_to_the_agent)
{
	bu_autojson json_t *expect = expect_of(PLAIN, PLAIN);
	const json_t *events = json_object_get(expect, "events");

	ck_assert_uint_gt(json_array_size(events), 150);
	ck_assert(!json_object_get(json_array_get(events, 0), "source"));
}
END_TEST

/* The profile gives this key of the validation alone; "" = none. Owned. */
static struct bu_origin *
origins_of(const char *given)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	struct bu_origin *origins = bu_xcalloc(count, sizeof(*origins));

	if (*given)
		origins[bu_schema_key("validation", given) - keys].line = 7;
	return origins;
}

/* Fast links get what fills them, unless the profile says so; the links of a virtual
 * rack what they always had. */
START_TEST(sizes_are_the_links_or_the_profiles)
{
	static const struct {
		double gbps;
		const char *given;
		uint64_t bytes;
		uint32_t message_bytes;
		int qps, depth, warm, least_qps;
	} rows[] = {
		{0.02, "", 2 << 20, 65536, 1, 0, 0, 1},
		{0.02, "", 2 << 20, 8192, 4, 2, 0, 4},
		{0.005, "", 2 << 20, 10920, 3, 2, 0, 3},
		{0.005, "message_size", 2 << 20, 8192, 4, 2, 0, 4},
		{25, "", UINT64_C(625000000), 65536, 4, 32, 1, 4},
		{400, "", UINT64_C(20000000000), 131072, 4, 32, 1, 4},
		{0, "", 2 << 20, 65536, 1, 0, 0, 0},
		{400, "", UINT64_C(20000000000), 131072, 4, 32, 1, 0},
		{400, "run_size", 2 << 20, 131072, 4, 32, 0, 0},
		{400, "message_size", UINT64_C(20000000000), 65536, 4, 32, 1, 0},
		{100, "", UINT64_C(5000000000), 131072, 4, 32, 1, 0},
		{25, "", UINT64_C(625000000), 65536, 2, 32, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired_validation validation = {
			.runs = 5, .message_bytes = 65536, .run_bytes = 2 << 20};
		const struct bu_desired_network rail = {.link_gbps = rows[i].gbps};
		struct bu_sizes sizes;
		bu_autofree struct bu_origin *origins = origins_of(rows[i].given);

		validation.origins = origins;
		sizes = bu_gate_sizes(&validation, &rail, rows[i].least_qps);
		ck_assert_uint_eq(sizes.bytes, rows[i].bytes);
		ck_assert_uint_eq(sizes.message_bytes, rows[i].message_bytes);
		ck_assert_int_eq(sizes.qps, rows[i].qps);
		ck_assert_int_eq(sizes.depth, rows[i].depth);
		ck_assert_int_eq(sizes.warm_bytes > 0, rows[i].warm);
	}
}
END_TEST

/* The item of its checks. */
static json_t *
checks_of(const char *lines)
{
	struct rig rig;
	json_t *item;
	struct bu_err err;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	ck_assert_msg(bu_gate_load_data(rig.gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d-loops",
		  "rdma = rxe\nlink_gbps = 0.02\n", lines);
	rig_to_validating(&rig, 1);
	item = bu_gate_work(rig.gate, rig_node(&rig, 1));
	rig_end(&rig);
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
	return item;
}

START_TEST(ports_are_looped)
{
	bu_autojson json_t *item = checks_of("rdma = rxe\nlink_gbps = 0.02\n");
	bu_autofree char *groups =
		json_dumps(json_object_get(item, "groups"), JSON_COMPACT);

	ck_assert_ptr_nonnull(strstr(groups, "\"fabric\""));
	ck_assert_ptr_nonnull(
		json_object_get(json_object_get(item, "expect"), "fabric"));
}
END_TEST

/* Half a second of the link, against its row of the table; what is done in software is
 * held against nothing. */
START_TEST(a_loop_is_held_against_the_links_rate)
{
	static const struct {
		const char *lines;
		double least, moved_gb;
		int pkey, qps;
	} rows[] = {
		{"rdma = hardware\nlink_gbps = 400\nmtu = 4200\npkey = 0x8011\n",
		 372.54, 25, 0x8011, 4},
		{"rdma = hardware\nlink_gbps = 100\nmtu = 4200\n", 93.14, 6.25, -1, 4},
		{"rdma = rxe\nlink_gbps = 0.02\n", 0, 0.00262, -1, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = checks_of(rows[i].lines);
		const json_t *loops =
			json_object_get(json_object_get(item, "expect"), "fabric");
		struct bu_work_probe work;
		struct bu_err err;

		ck_assert_msg(bu_work_probe_from_json(loops, &work, &err) == 0, "%s",
			      err.text);
		ck_assert_int_eq(work.role, BU_PROBE_LOOPBACK);
		ck_assert_int_eq(work.duplex, 1);
		ck_assert_uint_eq(work.rails_count, 1);
		ck_assert_str_eq(work.rails[0].address, "10.78.0.11");
		ck_assert_int_eq(work.rails[0].pkey, rows[i].pkey);
		ck_assert_int_eq(work.qps, rows[i].qps);
		ck_assert_double_eq_tol(work.rails[0].min_gbps, rows[i].least, 0.001);
		ck_assert_double_eq_tol((double)work.bytes * work.runs / 1e9,
					rows[i].moved_gb, rows[i].moved_gb / 100);
	}
}
END_TEST

/* As long as it takes at half the least rate, both ways; never longer than the profile
 * says, and just that where it says so itself. */
START_TEST(a_deadline_is_that_of_a_slow_probe)
{
	static const struct {
		double gbps;
		int64_t deadline_ms;
		const char *given;
		int64_t ms;
	} rows[] = {
		{0.02, 60000, "", 43554},         {0.02, 43554, "", 43554},
		{0.02, 43553, "", 43553},         {0.02, 60000, "deadline", 60000},
		{0.02, 20000, "deadline", 20000}, {1, 60000, "", 14400},
		{1, 60000, "run_size", 10671},
	};
	struct rig rig;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired_validation validation = {.runs = 5,
							   .bw_min_percent = 50,
							   .message_bytes = 65536,
							   .run_bytes = 2 << 20,
							   .deadline_ms =
								   rows[i].deadline_ms};
		const struct bu_desired_network rail = {.link_gbps = rows[i].gbps};
		bu_autofree struct bu_origin *origins = origins_of(rows[i].given);

		validation.origins = origins;
		ck_assert_int_eq(bu_gate_deadline_ms(rig.gate, &validation, &rail),
				 rows[i].ms);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_path_has_room_for_what_its_kind_needs)
{
	static const struct {
		enum bu_rdma_kind rdma;
		int mtu, path;
	} rows[] = {{BU_RDMA_NONE, 9000, 0},
		    {BU_RDMA_RXE, 9000, 4096},
		    {BU_RDMA_HARDWARE, 0, 0},
		    {BU_RDMA_HARDWARE, 1500, 1024},
		    {BU_RDMA_INFINIBAND, 4092, 4096}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_desired_network fabric = {.rdma = rows[i].rdma,
							  .mtu = rows[i].mtu};

		ck_assert_int_eq(bu_gate_path_mtu(&fabric), rows[i].path);
	}
}
END_TEST

START_TEST(settings_are_read_as_they_are_written)
{
	bu_autojson json_t *some = bu_gate_settings("a=b, c=d:e,f,g=,=h");
	bu_autojson json_t *none = bu_gate_settings("");

	ck_assert_str_eq(bu_json_str(some, "a", ""), "b");
	ck_assert_str_eq(bu_json_str(some, "c", ""), "d:e");
	ck_assert_str_eq(bu_json_str(some, "g", "?"), "");
	ck_assert_ptr_null(json_object_get(some, "f"));
	ck_assert_uint_eq(json_object_size(none), 0);
}
END_TEST

RIG_UNIT("expect", without_an_mtu_the_row_is_that_of_what_was_measured,
	 a_deadline_is_that_of_a_slow_probe, a_path_has_room_for_what_its_kind_needs,
	 settings_are_read_as_they_are_written, a_link_has_the_limit_of_its_kind,
	 ports_are_looped, a_loop_is_held_against_the_links_rate,
	 events_are_handed_to_the_agent, sizes_are_the_links_or_the_profiles,
	 gpus_have_the_driver_and_the_division_of_the_profile,
	 a_port_is_held_against_a_rate_of_its_own,
	 a_machine_must_have_what_its_class_says, what_is_mounted_is_looked_at,
	 no_priority_is_a_word_too, ports_and_host_are_as_the_profile_says,
	 what_is_not_said_is_not_judged)
