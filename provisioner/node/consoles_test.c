/* SPDX-License-Identifier: Apache-2.0 */
/* Whose console is asked for, and what is kept of it when a node fails. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/node/binding.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct bu_node *
begin(struct rig *rig)
{
	rig_begin(rig, 1);
	rig->consoles = 1;
	rig_restart(rig);
	return bu_fleet_node(rig->fleet, "node001");
}

static void
say(struct rig *rig, const char *text)
{
	bu_autofree char *dir = bu_xasprintf("%s/console", rig->dir);
	bu_autofree char *path = bu_xasprintf("%s/node001.log", dir);
	FILE *file;

	ck_assert_int_eq(bu_mkdir_p(dir, 0700, NULL), 0);
	file = fopen(path, "a");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static char *
symptoms_of(const struct rig *rig, const struct bu_node *node)
{
	json_t *lines = json_array();

	bu_reconcile_symptoms(rig->rec, node, lines);
	return rig_lines(lines);
}

START_TEST(a_console_is_asked_for_and_why_it_is_closed_is_known)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	for (int i = 0; i < 30 && !node->live.console->state[0]; i++)
		rig_pass(&rig, 1000);
	ck_assert_str_eq(node->live.console->state, "waits");
	ck_assert_str_eq(node->live.console->words, "another session has it");
	/* again before bringup-power lets it go */
	bu_node_console(node)->state[0] = '\0';
	for (int i = 0; i < 50 && !node->live.console->state[0]; i++)
		rig_pass(&rig, 1000);
	ck_assert_str_eq(node->live.console->state, "waits");
	rig_end(&rig);
}
END_TEST

START_TEST(the_last_lines_are_evidence_of_a_failure)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);
	bu_autojson json_t *lines = NULL;
	char *why = NULL, *again = NULL;
	struct bu_reason reason;
	struct bu_event held;

	for (int i = 0; i < 50; i++)
		say(&rig, "booting\r\n");
	say(&rig, "\033[31mKernel panic\033[0m - not syncing: VFS\r\n");
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 60 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 20000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	ck_assert_str_ne(node->evidence, "");
	lines = bu_reconcile_console(rig.rec, node);
	ck_assert_uint_eq(json_array_size(lines), BU_SYMPTOM_LINES);
	/* what it says afterwards is no part of it */
	say(&rig, "later\r\n");
	why = symptoms_of(&rig, node);
	ck_assert_ptr_nonnull(strstr(why, "\n  Kernel panic - not syncing: VFS\n"));
	ck_assert_ptr_null(strstr(why, "later"));
	rig_restart(&rig);
	again = symptoms_of(&rig, bu_fleet_node(rig.fleet, "node001"));
	ck_assert_str_eq(again, why);
	free(why);
	free(again);
	/* nor does it speak for what comes after that failure */
	why = NULL;
	node = rig_node(&rig, 1);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_pass(&rig, 1);
	BU_REASON_SET(&reason, PERSON, .text = {"a look"});
	bu_hold_event(&held, node->name, BU_OWNER_PERSON, "ann", &reason);
	bu_reconcile_note(rig.rec, &held, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_PERSON);
	why = symptoms_of(&rig, node);
	ck_assert_str_eq(why, "");
	free(why);
	rig_end(&rig);
}
END_TEST

/* What is under way is answered by the name of before, and would be waited for. */
START_TEST(a_node_that_is_renamed_is_asked_for_again)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	bu_node_console(node)->asking = node->live.medium_asked = 1;
	ck_assert_int_eq(bu_binding_rename(rig.fleet, node, "node009", 0, NULL), 0);
	ck_assert_int_eq(node->live.console->asking, 0);
	ck_assert_int_eq(node->live.medium_asked, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("consoles", a_console_is_asked_for_and_why_it_is_closed_is_known,
	 the_last_lines_are_evidence_of_a_failure,
	 a_node_that_is_renamed_is_asked_for_again)
