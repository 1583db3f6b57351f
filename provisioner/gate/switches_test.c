/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of switches, from a program of the site: what they accuse that no test can,
 * and that the program delays nobody, whatever it does. */
#include <sys/stat.h>

#include "base/file.h"
#include "provisioner/gate/switches_impl.h"
#include "tests/support/across.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH };

static const char plan[] = "routing = sprayed\nspines = s1, s2, s3\n"
			   "switch_counters = %s/count\n";

/* Prints all links; its N-th call says N * 100 errors of that of leaf02 and s2, up. */
static const char bad_link[] =
	"n=$(($(cat calls 2>/dev/null || echo 0) + 1)); echo $n >calls\n"
	"cat >asked; echo '['\n"
	"for leaf in leaf01 leaf02 leaf03; do for spine in s1 s2 s3; do\n"
	"bad=0; [ $leaf$spine = leaf02s2 ] && bad=$((n * 100))\n"
	"printf '{\"leaf\":\"%s\",\"spine\":\"%s\",\"dir\":\"up\",\"symbol_errors\":%d},"
	"{\"leaf\":\"%s\",\"spine\":\"%s\",\"dir\":\"down\",\"symbol_errors\":7},' "
	"$leaf $spine $bad $leaf $spine\n"
	"done; done | sed '$s/,$//'; echo ']'\n";

static void
write_program(const struct rig *rig, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/count", rig->dir);
	bu_autofree char *script =
		bu_xasprintf("#!/bin/sh\ncd '%s'\n%s", rig->dir, text);

	ck_assert_int_eq(bu_file_write(path, script, strlen(script), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

/* program: NULL = the profile names none. */
static void
begin_counted(struct rig *rig, struct ways *ways, const char *program)
{
	bu_autofree char *lines = NULL;
	const char *more[1];

	rig_begin(rig, NODES);
	rig_open_gate(rig);
	lines = bu_xasprintf(plan, rig->dir);
	more[0] = lines;
	if (program)
		write_program(rig, program);
	rig_give_rails_with(rig, NODES, 1, program ? more : NULL);
	for (int i = 1; i <= NODES; i++) {
		struct bu_desired_node *node = &rig->fleet->desired->nodes[i - 1];

		rig_to_validating(rig, i);
		ways->leaf[i] = (i - 1) / EACH + 1;
		free(node->switch_ports);
		node->switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d", ways->leaf[i], i);
	}
}

/* Each test is good: the readings alone name it, and no node stays out. */
START_TEST(a_bad_link_is_found_with_the_counters_alone)
{
	int between[2];

	for (int counted = 0; counted < 2; counted++) {
		struct ways ways = {.slow = 0};
		bu_autofree char *warnings = NULL, *asked = NULL;
		bu_autojson json_t *own = NULL, *others = NULL;
		struct rig rig;

		begin_counted(&rig, &ways, counted ? bad_link : NULL);
		pass(&rig, &ways, NODES, 20);
		all_join(&rig, NODES);
		pass(&rig, &ways, NODES, 300);
		all_join(&rig, NODES);
		warnings = warnings_of(&rig);
		between[counted] = ways.between;
		if (!counted) {
			ck_assert_str_eq(warnings, "");
			end_fabric(&rig, &ways);
			continue;
		}
		says(warnings, "rail fabric: what its switches count accuses the link "
			       "between leaf02 (rail fabric) and spine s2, to the "
			       "spine: slow or lossy: ");
		says(warnings, "readings of its switch; counted 100, 100, ");
		ck_assert_ptr_null(strstr(warnings, "leaf01"));
		ck_assert_ptr_null(strstr(warnings, "s1"));
		own = bu_gate_remarks(rig.gate, rig_node(&rig, EACH + 1));
		ck_assert_uint_eq(json_array_size(own), 1);
		others = bu_gate_remarks(rig.gate, rig_node(&rig, 1));
		ck_assert_uint_eq(json_array_size(others), 0);
		asked = rig_read(&rig, "asked");
		ck_assert_str_eq(asked,
				 "{\"leaves\":[\"leaf01\",\"leaf02\",\"leaf03\"],"
				 "\"op\":\"switch\",\"spines\":[\"s1\",\"s2\","
				 "\"s3\"]}");
		end_fabric(&rig, &ways);
	}
	/* A reading counts what was measured since the one before it: each of the first
	 * ten has a round of its own. */
	ck_assert_int_ge(between[1] - between[0], 10);
}
END_TEST

/* The second time leaf02 does not answer, and waits grow with the jobs of others. */
START_TEST(a_switch_that_misses_a_reading_is_read_with_the_next)
{
	static const char silent[] =
		"n=$(($(cat calls 2>/dev/null || echo 0) + 1)); echo $n >calls\n"
		"cat >asked; echo '['\n"
		"for leaf in leaf01 leaf02 leaf03; do for spine in s1 s2 s3; do\n"
		"[ $leaf$n != leaf022 ] || continue; bad=0 wait=0\n"
		"[ $leaf$spine != leaf02s2 ] || bad=$((n * 100))\n"
		"[ $leaf$spine != leaf03s1 ] || wait=$((n * 9000))\n"
		"printf '{\"leaf\":\"%s\",\"spine\":\"%s\",\"symbol_errors\":%d,"
		"\"counters\":{\"port_xmit_wait\":%d}},' "
		"$leaf $spine $bad $wait\n"
		"done; done | sed '$s/,$//'; echo ']'\n";
	struct ways ways = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_counted(&rig, &ways, silent);
	pass(&rig, &ways, NODES, 320);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings, "the link between leaf02 (rail fabric) and spine s2");
	ck_assert_ptr_null(strstr(warnings, "leaf03"));
	ck_assert_ptr_null(strstr(warnings, "could not be read"));
	end_fabric(&rig, &ways);
}
END_TEST

/* They are loaded with the others, and until then nothing is read. */
START_TEST(nodes_that_take_long_are_waited_for)
{
	struct ways ways = {.slow = 0};
	bu_autofree char *warnings = NULL, *path = NULL;
	struct rig rig;

	begin_counted(&rig, &ways, bad_link);
	path = bu_xasprintf("%s/asked", rig.dir);
	pass(&rig, &ways, NODES, 1);
	pass(&rig, &ways, NODES - EACH, 60);
	all_join(&rig, NODES - EACH);
	ck_assert_int_eq(rig_node(&rig, NODES)->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(bu_file_exists(path), 0);
	pass(&rig, &ways, NODES, 320);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings, "the link between leaf02 (rail fabric) and spine s2");
	end_fabric(&rig, &ways);
}
END_TEST

/* What was not loaded again is as it was; what was read, and is good, is not. */
START_TEST(an_accusation_stays_until_its_leaf_is_read_again)
{
	struct ways ways = {.slow = 0};
	bu_autofree char *after = NULL;
	struct rig rig;

	begin_counted(&rig, &ways, bad_link);
	pass(&rig, &ways, NODES - EACH, 20);
	all_join(&rig, NODES - EACH);
	for (int leaf = 1; leaf <= LEAVES; leaf++) {
		bu_autofree char *name = bu_xasprintf("leaf0%d", leaf);
		bu_autofree char *text = bu_xasprintf("before: %s", name);

		json_array_append_new(rig.gate->switches->accused,
				      json_pack("{s:s,s:s,s:{}}", "text", text, "leaf",
						name, "nodes"));
	}
	/* Those of the third leaf do not come. */
	pass(&rig, &ways, NODES - EACH, 320);
	after = warnings_of(&rig);
	ck_assert_ptr_null(strstr(after, "before: leaf01"));
	ck_assert_ptr_null(strstr(after, "before: leaf02"));
	says(after, "the link between leaf02 (rail fabric) and spine s2");
	says(after, "before: leaf03");
	end_fabric(&rig, &ways);
}
END_TEST

/* It is said, and costs nobody a certificate; nothing is accused by half a reading. */
START_TEST(a_program_that_fails_costs_its_words_alone)
{
	static const struct {
		const char *program, *says;
	} rows[] = {
		{"echo no route to leaf02 >&2\nexit 3\n", "no route to leaf02"},
		{"echo nonsense\n", "its output"},
		{"echo '[]'\n", "answer to switch: names no link"},
		{"echo '[{\"leaf\":\"leaf09\",\"spine\":\"s1\"}]'\n",
		 "answer to switch: entry 0: names no leaf and spine of the plan"},
		{"echo '[{\"leaf\":\"leaf01\",\"spine\":\"s1\",\"drops\":-1}]'\n",
		 "answer to switch: entry 0: counter 'drops': expected a number"},
		{"echo '['; head -c 200000 /dev/zero | tr '\\0' ' '\n",
		 "it prints more than 102400 bytes"},
		{"chmod g+w count\nexit 1\n", "lets others change it"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct ways ways = {.slow = 0};
		bu_autofree char *warnings = NULL, *path = NULL;
		struct rig rig;

		begin_counted(&rig, &ways, rows[i].program);
		path = bu_xasprintf("%s/count: ", rig.dir);
		pass(&rig, &ways, NODES, 20);
		all_join(&rig, NODES);
		pass(&rig, &ways, NODES, 100);
		warnings = warnings_of(&rig);
		says(warnings, "rail fabric: its switches' counters could not be read, "
			       "so a bad link between its leaves may stay unseen: ");
		says(warnings, path);
		says(warnings, rows[i].says);
		ck_assert_ptr_null(strstr(warnings, "accuses"));
		end_fabric(&rig, &ways);
	}
}
END_TEST

/* It runs when the last node comes, which is certified meanwhile. */
START_TEST(a_program_that_hangs_delays_nobody)
{
	struct ways ways = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_counted(&rig, &ways, "sleep 1000\n");
	pass(&rig, &ways, NODES - 1, 25);
	all_join(&rig, NODES - 1);
	rig.hanging = 1;
	pass(&rig, &ways, NODES - 1, 15);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->jobs, 1);
	pass(&rig, &ways, NODES, 15);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->jobs, 1);
	all_join(&rig, NODES);
	pass(&rig, &ways, NODES, 20);
	rig.hanging = 0;
	pass(&rig, &ways, NODES, 1);
	ck_assert_int_eq(bu_loop_awaited(rig.loop)->jobs, 0);
	warnings = warnings_of(&rig);
	says(warnings, "rail fabric: its switches' counters could not be read");
	end_fabric(&rig, &ways);
}
END_TEST

/* What it says is gone with the key; readings of other spines are none of these. */
START_TEST(they_are_forgotten_with_their_key)
{
	struct ways ways = {.slow = 0};
	bu_autofree char *before = NULL, *after = NULL;
	struct rig rig;

	begin_counted(&rig, &ways, "exit 3\n");
	pass(&rig, &ways, NODES, 60);
	before = warnings_of(&rig);
	says(before, "could not be read");
	free(rig.fleet->desired->networks[1].switch_counters);
	rig.fleet->desired->networks[1].switch_counters = NULL;
	pass(&rig, &ways, NODES, 5);
	after = warnings_of(&rig);
	ck_assert_str_eq(after, "");
	ck_assert_int_eq(bu_switches_go_on(rig.gate), 0);
	end_fabric(&rig, &ways);
}
END_TEST

/* Two rails of one switch fabric, each with leaves of its own: asked once, for all. */
static const char of_two_rails[] =
	"n=$(($(cat calls 2>/dev/null || echo 0) + 1)); echo $n >calls\n"
	"cat >asked; echo '['\n"
	"for leaf in leaf01 leaf02 leaf03 leaf11 leaf12 leaf13; do\n"
	"for spine in s1 s2 s3; do\n"
	"bad=0; [ $leaf$spine = leaf12s3 ] && bad=$((n * 100))\n"
	"printf '{\"leaf\":\"%s\",\"spine\":\"%s\",\"symbol_errors\":%d},' "
	"$leaf $spine $bad\n"
	"done; done | sed '$s/,$//'; echo ']'\n";

START_TEST(rails_of_one_fabric_are_read_together)
{
	struct ways ways = {.slow = 0};
	bu_autofree char *warnings = NULL, *asked = NULL, *lines = NULL;
	const char *more[2];
	struct rig rig;

	rig_begin(&rig, NODES);
	rig_open_gate(&rig);
	lines = bu_xasprintf("switch_fabric = clos\nrouting = sprayed\n"
			     "spines = s1, s2, s3\nswitch_counters = %s/count\n",
			     rig.dir);
	more[0] = more[1] = lines;
	write_program(&rig, of_two_rails);
	rig_give_rails_with(&rig, NODES, 2, more);
	for (int i = 1; i <= NODES; i++) {
		struct bu_desired_node *node = &rig.fleet->desired->nodes[i - 1];

		rig_to_validating(&rig, i);
		ways.leaf[i] = (i - 1) / EACH + 1;
		free(node->switch_ports);
		node->switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d,rail1=leaf1%d:p%d",
				     ways.leaf[i], i, ways.leaf[i], i);
	}
	pass(&rig, &ways, NODES, 400);
	all_join(&rig, NODES);
	asked = rig_read(&rig, "asked");
	ck_assert_str_eq(asked, "{\"leaves\":[\"leaf01\",\"leaf11\",\"leaf02\","
				"\"leaf12\",\"leaf03\",\"leaf13\"],\"op\":\"switch\","
				"\"spines\":[\"s1\",\"s2\",\"s3\"]}");
	warnings = warnings_of(&rig);
	says(warnings, "switch fabric clos: what its switches count accuses the link "
		       "between leaf12 (rail rail1) and spine s3, both ways: ");
	says(warnings, "; counted 200, 200, ");
	ck_assert_ptr_null(strstr(warnings, "leaf02"));
	ck_assert_ptr_null(strstr(warnings, "could not be read"));
	ck_assert_ptr_null(rig.gate->switches->next);
	end_fabric(&rig, &ways);
}
END_TEST

RIG_UNIT("switches", a_switch_that_misses_a_reading_is_read_with_the_next,
	 nodes_that_take_long_are_waited_for,
	 an_accusation_stays_until_its_leaf_is_read_again,
	 a_bad_link_is_found_with_the_counters_alone,
	 a_program_that_fails_costs_its_words_alone, a_program_that_hangs_delays_nobody,
	 they_are_forgotten_with_their_key, rails_of_one_fabric_are_read_together)
