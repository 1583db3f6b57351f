/* SPDX-License-Identifier: Apache-2.0 */
/* What agents tell of their nodes: how it comes into the log, and how often. */
#include "provisioner/node/drifted.h"

#include <string.h>

#include "base/json.h"
#include "model/applied.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_node *node;

static void
begin(void)
{
	memset(&rig, 0, sizeof(rig));
	node = rig_up_to(&rig, RIG_READY);
}

static void
tells(const json_t *runs)
{
	bu_drifted_tell(rig.rec, node, runs);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1);
	rig_pass(&rig, 1000);
}

static void
tells_text(const char *text)
{
	bu_autojson json_t *runs = bu_json_parse(text, strlen(text), "runs", NULL);

	ck_assert_ptr_nonnull(runs);
	tells(runs);
}

/* With so many blanks in its command line it is another word each time. */
static void
tells_number(int number)
{
	bu_autofree char *text =
		bu_xasprintf("{\"kernel\":\"6.1\",\"cmdline\":\"n=%d\"}", number);

	tells_text(text);
}

static int
rows(void)
{
	char kinds[4096];
	int count = 0;

	rig_events_after(&rig, 0, kinds);
	for (const char *at = kinds; (at = strstr(at, "runs ")); at++)
		count++;
	return count;
}

static const char good[] =
	"{\"kernel\":\"6.1\",\"cmdline\":\"ro\",\"node\":\"node001\",\"step\":\"s\","
	"\"facets\":\"f1\",\"kargs\":\"quiet\",\"loader\":\"quiet\",\"booted\":\"\","
	"\"differs\":[{\"path\":\"/etc/hosts\",\"how\":\"changed\"}],\"more\":2}";

START_TEST(a_row_is_written_when_it_changes_and_a_restart_knows_it)
{
	begin();
	tells_text(good);
	ck_assert_int_eq(rows(), 1);
	tells_text(good);
	ck_assert_int_eq(rows(), 1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->found->facets, "f1");
	ck_assert_str_eq(node->found->kargs, "quiet");
	ck_assert_str_eq(node->found->booted, "");
	ck_assert_int_eq((int)node->found->more, 2);
	ck_assert_uint_eq(json_array_size(node->found->differs), 1);
	tells_text(good);
	ck_assert_int_eq(rows(), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(an_agent_that_tells_nothing_ends_what_the_one_before_told)
{
	begin();
	tells(NULL);
	ck_assert_int_eq(rows(), 0);
	tells_text(good);
	tells(NULL);
	ck_assert_int_eq(rows(), 2);
	ck_assert_str_eq(node->found->row, "");
	ck_assert_ptr_null(node->found->differs);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->found->row, "");
	rig_end(&rig);
}
END_TEST

START_TEST(what_makes_no_sense_is_as_if_nothing_was_told)
{
	static const char *const bad[] = {
		"{}",
		"{\"kernel\":1,\"cmdline\":\"\"}",
		("{\"kernel\":\"6.1\",\"cmdline\":\"\",\"differs\":[{\"path\":\"/x\","
		 "\"how\":\"odd\"}]}"),
		"[]",
	};

	begin();
	for (size_t i = 0; i < BU_LEN(bad); i++)
		tells_text(bad[i]);
	ck_assert_int_eq(rows(), 0);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(ever_new_claims_do_not_fill_the_log_and_the_last_one_gets_there)
{
	int before;

	begin();
	for (int i = 0; i < 100; i++)
		tells_number(i);
	before = rows();
	ck_assert_int_le(before, 8);
	for (int i = 0; i < 70; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(rows(), before + 1);
	tells_number(99); /* the log has it */
	ck_assert_int_eq(rows(), before + 1);
	rig_end(&rig);
}
END_TEST

START_TEST(its_files_say_what_it_is_called)
{
	begin();
	tells_text("{\"kernel\":\"6.1\",\"cmdline\":\"ro\",\"node\":\"old\","
		   "\"step\":\"s\",\"facets\":\"f1\"}");
	ck_assert_str_eq(node->called, "old");
	tells_text(good);
	ck_assert_str_eq(node->called, "");
	rig_end(&rig);
}
END_TEST

START_TEST(what_is_written_anew_ends_what_was_told)
{
	begin();
	tells_text(good);
	ck_assert_str_ne(node->found->row, "");
	ck_assert_int_eq(node->conditions[BU_CONDITION_DRIFTED].on, 1);
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(&rig, 1);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_RELABEL, BU_STEP_DONE);
	rig_pass(&rig, 1000);
	ck_assert_str_eq(node->found->row, "");
	ck_assert_int_eq(node->conditions[BU_CONDITION_DRIFTED].on, 0);
	/* and the same word counts again */
	tells_text(good);
	ck_assert_int_eq(rows(), 2);
	rig_end(&rig);
}
END_TEST

/* It may have written nothing, and its agent tells nothing new then: without what was
 * told before the plan would find nothing to do. */
START_TEST(what_could_not_be_written_leaves_what_was_told)
{
	struct bu_err bad;

	begin();
	tells_text(good);
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(&rig, 1);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	bu_err_set(&bad, BU_ERR_STATE, 0, "no such card");
	rig_answer(&rig, node, &bad);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_FAILED);
	ck_assert_str_eq(node->found->facets, "f1");
	ck_assert_str_eq(node->found->kargs, "quiet");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("drifted", a_row_is_written_when_it_changes_and_a_restart_knows_it,
	 an_agent_that_tells_nothing_ends_what_the_one_before_told,
	 what_makes_no_sense_is_as_if_nothing_was_told,
	 ever_new_claims_do_not_fill_the_log_and_the_last_one_gets_there,
	 its_files_say_what_it_is_called, what_is_written_anew_ends_what_was_told,
	 what_could_not_be_written_leaves_what_was_told)
