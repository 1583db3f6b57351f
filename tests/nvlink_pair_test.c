/* SPDX-License-Identifier: Apache-2.0 */
/* NVLink between two nodes from the gate to what people see: its work items are done by
 * the real checks, each in processes of its own, over the stand-in for CUDA. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "checks/checks.h"
#include "tests/support/gate.h"
#include "tests/support/port.h"

static char folder[] = "/tmp/bringup-nvpair-XXXXXX";

static void
begin_site(struct rig *rig)
{
	rig_begin(rig, 2);
	rig_open_gate(rig);
	for (int i = 1; i <= 2; i++)
		rig_to_validating(rig, i);
	for (int i = 1; i <= 2; i++) {
		rig_join(rig, i);
		put_event(rig, BU_EVENT_CHECKS, rig_node(rig, i)->name,
			  json_pack("{s:s,s:s,s:s,s:{s:i},s:[],s:s}", "boot_id",
				    rig_node(rig, i)->boot_id, "digest", "", "verdict",
				    "pass", "counts", "pass", 1, "rows", "domain",
				    "8c3c0000-0000-0000-0000-000000000001.7"));
	}
}

/* Until both are asked. New references. */
static void
find_items(struct rig *rig, json_t *ret[2])
{
	ret[0] = ret[1] = NULL;
	for (int second = 0; second < 60 && !ret[0]; second++) {
		for (int i = 0; i < 2; i++) {
			struct bu_node *node = rig_node(rig, i + 1);

			node->live.last_seen_ms = rig->clock.fake_wall_ms;
		}
		rig_pass(rig, 1000);
		for (int i = 0; i < 2; i++)
			ret[i] = bu_gate_work(rig->gate, rig_node(rig, i + 1));
	}
	ck_assert(ret[0] && ret[1]);
}

/* On the loopback address, and with small copies. */
static void
bring_here(json_t *item, int port)
{
	json_t *expect = json_object_get(item, "expect");
	json_t *ends = json_object_get(expect, "nvlink");

	json_object_set_new(ends, "addr", json_string("127.0.0.1"));
	json_object_set_new(ends, "peer", json_string("127.0.0.1"));
	json_object_set_new(ends, "port", json_integer(port));
	json_object_set_new(ends, "runs", json_integer(2));
	json_object_set_new(
		expect, "gpu",
		json_pack("{s:i,s:i}", "copy_bytes", 65536, "p2p_gbs", 671));
}

/* As an agent does it; its report is left in the folder. */
static void
play(int end, const json_t *item, const char *fault)
{
	bu_autofree char *libs = bu_xasprintf("%s/tests/support/libs", BU_BUILDDIR);
	bu_autofree char *path = bu_xasprintf("%s/report%d", folder, end);
	struct bu_checks_ctx ctx = {.root = folder,
				    .libs = libs,
				    .expect = json_object_get(item, "expect")};
	struct bu_checks checks;

	setenv("FAKEBOARD", "gb200", 1);
	setenv("FAKEFABRIC", folder, 1);
	setenv("FAKEGPU", fault, 1);
	if (bu_checks_run(&ctx, json_object_get(item, "groups"), &checks, NULL) == 0) {
		bu_autojson json_t *report = bu_checks_to_json(&checks);
		bu_autofree char *text = bu_json_canonical(report);

		bu_ignore(bu_file_write_text(path, 0600, NULL, "%s", text));
	}
	_exit(0);
}

/* fault: of the first node. */
static void
do_items(struct rig *rig, json_t *const items[2], const char *fault)
{
	bu_autofree char *dev =
		bu_xasprintf("%s/dev/nvidia-caps-imex-channels", folder);
	bu_autofree char *channel = bu_xasprintf("%s/channel0", dev);
	int port = free_port();
	pid_t pids[2];

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	memcpy(dev, folder, sizeof(folder) - 1);
	memcpy(channel, folder, sizeof(folder) - 1);
	ck_assert_int_eq(bu_mkdir_p(dev, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(channel, 0600, NULL, "\n"), 0);
	for (int i = 0; i < 2; i++) {
		bring_here(items[i], port);
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0)
			play(i, items[i], i ? "" : fault);
	}
	for (int i = 0; i < 2; i++) {
		bu_autofree char *path = bu_xasprintf("%s/report%d", folder, i);
		bu_autojson json_t *report = NULL;

		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
		report = bu_json_load(path, NULL);
		bu_gate_result(rig->gate, rig_node(rig, i + 1),
			       bu_json_str(items[i], "id", ""), report, NULL);
	}
	rig_pass(rig, 2001);
	bu_ignore(bu_remove_tree(folder, NULL));
}

/* What `bringup fabric show` has, and what it and `node why` say of it, as one text.
 * Owned. */
static char *
shown_of(struct rig *rig, int number)
{
	bu_autojson json_t *shown =
		bu_gate_show(rig->gate, rig_node(rig, number), NULL);
	bu_autofree char *json = bu_json_canonical(shown);
	bu_autofree char *lines = bu_said_lines(json_object_get(shown, "remarks"));

	return bu_xasprintf("%s\n%s", json, lines);
}

START_TEST(a_pair_goes_from_the_gate_to_what_is_shown)
{
	static const struct {
		const char *fault, *first, *second; /* what is shown of both */
	} rows[] = {
		{"", "\"seen\":\"748.0 GB/s\"", "\"seen\":\"748.0 GB/s\""},
		{"nvlink-slow", "is bad: GPU 3 to GPU 3 of node002: 200.0 GB/s",
		 "is bad: the other end saw a fault"},
		{"nvlink-changed", "node002: byte ",
		 "is bad: GPU 3 to GPU 3 of node001: byte 4096 and on came as 0x"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *first = NULL, *second = NULL;
		json_t *items[2];
		struct rig rig;

		begin_site(&rig);
		find_items(&rig, items);
		do_items(&rig, items, rows[i].fault);
		first = shown_of(&rig, 1);
		second = shown_of(&rig, 2);
		says(first, rows[i].first);
		says(second, rows[i].second);
		if (i == 0)
			ck_assert_ptr_null(strstr(first, "is bad"));
		for (int k = 0; k < 2; k++) {
			ck_assert_int_eq(rig_node(&rig, k + 1)->state, BU_STATE_READY);
			json_decref(items[k]);
		}
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("nvlink_pair", a_pair_goes_from_the_gate_to_what_is_shown)
