/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel left: kept once, shown while it says something, whatever is told. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static int
count_crash(const struct bu_event *event, void *arg)
{
	*(int *)arg += event->kind == BU_EVENT_CRASH;
	return 0;
}

static int
crashes_in_log(const struct rig *rig)
{
	int found = 0;

	ck_assert_int_eq(
		bu_store_read(rig->store, 0, 100000, count_crash, &found, NULL), 0);
	return found;
}

/* crash is stolen. */
static void
tell(struct rig *rig, const char *boot_id, json_t *crash)
{
	bu_reconcile_crashed(rig->rec, rig_node(rig, 1), boot_id, crash);
	json_decref(crash);
	rig_pass(rig, 10);
}

static json_t *
crash_of(const char *line)
{
	return json_pack("{s:s,s:I,s:[s,s]}", "kind", "Panic", "at_ms",
			 (json_int_t)1700000000000, "lines", "Call Trace:", line);
}

static void
says(const struct rig *rig, const char *part, int wanted)
{
	json_t *lines = json_array();
	bu_autofree char *text = NULL;

	bu_reconcile_crash(rig->rec, rig_node(rig, 1), lines);
	text = rig_lines(lines);
	ck_assert_msg((strstr(text, part) != NULL) == wanted, "%s", text);
}

START_TEST(a_crash_is_kept_once_and_shown)
{
	struct rig rig;

	rig_up_to(&rig, RIG_READY);
	tell(&rig, "boot-2", NULL);
	ck_assert_int_eq(crashes_in_log(&rig), 0);
	says(&rig, "crashed", 0);
	for (int i = 0; i < 2; i++) {
		tell(&rig, "boot-2", crash_of("Kernel panic"));
		tell(&rig, "boot-3", crash_of("Kernel panic"));
		ck_assert_int_eq(crashes_in_log(&rig), 1);
		says(&rig,
		     "its kernel crashed (Panic), by its own clock at "
		     "2023-11-14T22:13:20Z; what it left ends with:\n  Call Trace:\n  "
		     "Kernel panic\n",
		     1);
		rig_restart(&rig);
	}
	/* a boot tells one, the next one another */
	tell(&rig, "boot-2", crash_of("another"));
	ck_assert_int_eq(crashes_in_log(&rig), 1);
	tell(&rig, "boot-4", crash_of("another"));
	ck_assert_int_eq(crashes_in_log(&rig), 2);
	says(&rig, "another", 1);
	says(&rig, "Kernel panic", 0);
	rig_end(&rig);
}
END_TEST

START_TEST(an_old_one_and_that_of_another_machine_are_not_shown)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	char machine[65];

	tell(&rig, "boot-2", crash_of("Kernel panic"));
	says(&rig, "Kernel panic", 1);
	BU_TEXT_COPY(machine, node->machine);
	bu_node_set_machine(node, "another");
	says(&rig, "Kernel panic", 0);
	bu_node_set_machine(node, machine);
	bu_node_crash(node)->seen_ms -= INT64_C(29) * 24 * 3600 * 1000;
	says(&rig, "Kernel panic", 1);
	bu_node_crash(node)->seen_ms -= INT64_C(2) * 24 * 3600 * 1000;
	says(&rig, "Kernel panic", 0);
	rig_end(&rig);
}
END_TEST

/* An agent is a program of a machine that many people use. */
START_TEST(whatever_an_agent_tells_is_harmless)
{
	static const char *const none[] = {
		"{}",
		"7",
		"[]",
		"{\"kind\":\"Panic\",\"at_ms\":1,\"lines\":7}",
		"{\"kind\":\"Panic\",\"at_ms\":\"1\",\"lines\":[\"a\"]}",
		"{\"kind\":\"Panic and much more of it\",\"at_ms\":1,\"lines\":[\"a\"]}",
		"{\"kind\":\"Panic\",\"at_ms\":1,\"lines\":[]}",
		"{\"kind\":\"Panic\",\"at_ms\":1,\"lines\":[7,null]}"};
	struct rig rig;
	bu_autofree char *wide = bu_xasprintf("%09000d", 0);
	json_t *lines = json_array();

	rig_up_to(&rig, RIG_READY);
	for (size_t i = 0; i < BU_LEN(none); i++)
		tell(&rig, "boot-2", json_loads(none[i], JSON_DECODE_ANY, NULL));
	ck_assert_int_eq(crashes_in_log(&rig), 0);
	for (int i = 0; i < 5000; i++)
		json_array_append_new(lines, json_string(wide));
	json_array_append_new(lines, json_string("a\x1b[2J\x1b]0;title\x07"
						 "b\nmachine node002 is ready"));
	tell(&rig, "boot-2",
	     json_pack("{s:s,s:I,s:o}", "kind", "\x1b[1m", "at_ms", INT64_MAX, "lines",
		       lines));
	ck_assert_int_eq(crashes_in_log(&rig), 1);
	ck_assert_str_eq(rig_node(&rig, 1)->crash->kind, "");
	says(&rig, "its kernel crashed; what it left", 1);
	says(&rig, "\x1b", 0);
	says(&rig, "\n  ab\n", 1);
	says(&rig, "node002", 0);
	says(&rig, "00000", 1);
	{
		json_t *said = json_array();
		bu_autofree char *text = NULL;

		bu_reconcile_crash(rig.rec, rig_node(&rig, 1), said);
		text = rig_lines(said);
		ck_assert_uint_lt(strlen(text), 20 * (BU_CRASH_LINE + 4) + 500);
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("crash", a_crash_is_kept_once_and_shown,
	 an_old_one_and_that_of_another_machine_are_not_shown,
	 whatever_an_agent_tells_is_harmless)
