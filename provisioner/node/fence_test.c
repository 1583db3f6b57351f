/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fence: which anchors shut it, what rests behind it, what opens it, and that what
 * another log revoked is revoked by then.
 */
#include "provisioner/node/fence.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "model/anchor.h"
#include "provisioner/node/anchor.h"
#include "provisioner/node/verbs.h"
#include "tests/support/anchors.h"
#include "tests/support/baddisk.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { EPOCH = 1700000000, HOUR_MS = 3600 * 1000, VOUCH_MS = 60 * 1000 };

static struct rig rig;

static void
note_epoch(int64_t epoch)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_EPOCH, "", epoch, .epoch = epoch);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
}

/* As bringup restore leaves the log. */
static void
restore(int64_t epoch)
{
	struct bu_event events[2];

	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch, .ends = 1);
	BU_EVENT_MAKE(&events[1], BU_EVENT_CONDITION, "", condition,
		      .name = "epoch-unchecked", .on = 1);
	bu_reconcile_note(rig.rec, events, 2);
	rig_restart(&rig);
}

static int
is_on(enum bu_condition_id id)
{
	return rig.fleet->conditions[id].on;
}

static json_t *
sign(const struct bu_trust *trust, int64_t epoch, int64_t seq, json_t *revoked)
{
	return anchor_sign(&rig, trust, epoch, seq, 0, revoked);
}

/* node001 shows it; anchor is taken. */
static void
show(json_t *anchor)
{
	bu_fence_hear(rig.rec, "node001", rig_node(&rig, 1), anchor);
	json_decref(anchor);
	rig_pass(&rig, 1);
}

static int64_t
last_seq(void)
{
	struct bu_chain end;

	bu_store_end(rig.store, &end);
	return end.seq;
}

static int64_t
take_over(void)
{
	struct bu_err err = {0};
	int64_t epoch = 0;

	ck_assert_msg(bu_fence_take_over(rig.rec, "root", "the other is off", &epoch,
					 &err) == 0,
		      "%s", err.text);
	rig_pass(&rig, 1);
	return epoch;
}

/* Work that was under way in another epoch goes on by a person's word. */
static void
release(void)
{
	struct bu_node *node = rig_node(&rig, 1);
	struct bu_err err = {0};

	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_reason_has(&node->hold->reason, "began, and what happened to it before");
	ck_assert_msg(bu_reconcile_release(rig.rec, node, "ann", &err) == 0, "%s",
		      err.text);
	rig_pass(&rig, 1);
}

static void
begin(void)
{
	rig_begin(&rig, 1);
	note_epoch(EPOCH);
}

START_TEST(a_higher_epoch_stops_every_effect)
{
	bu_autofree char *words = NULL;
	struct bu_node *node;

	begin();
	ck_assert(!bu_fence_is_shut(rig.fleet));
	show(sign(rig.trust, EPOCH + 5, 3, NULL));
	ck_assert(is_on(BU_CONDITION_EPOCH_BEHIND));
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 3; i++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	/* As of the log. */
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, HOUR_MS);
	ck_assert(bu_fence_is_shut(rig.fleet));
	words = bu_said_text(rig.fleet->conditions[BU_CONDITION_EPOCH_BEHIND].detail);
	rig_text_has(words, "node001 shows row 3 of epoch 1700000005");
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	/* Not by a clock that is ahead of the other's. */
	ck_assert_int_gt(take_over(), EPOCH + 5);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	release();
	rig_pass(&rig, 1001);
	rig_pass(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

/* The appliance's clock may be before the epoch that it heard of. */
START_TEST(who_takes_over_is_above_all_that_was_heard_of)
{
	int64_t far = EPOCH + INT64_C(100000000);

	begin();
	show(sign(rig.trust, far, 3, NULL));
	rig_restart(&rig);
	ck_assert_int_eq(take_over(), far + 1);
	ck_assert_int_eq(rig.fleet->epoch, far + 1);
	rig_restart(&rig);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(rig.fleet->epoch, far + 1);
	/* The epoch that was taken over from is known by now. */
	show(sign(rig.trust, far, 9, NULL));
	ck_assert(!bu_fence_is_shut(rig.fleet));
	rig_end(&rig);
}
END_TEST

/* A step that was under way is looked at, as after a start, and its time stood still.
 */
START_TEST(deadlines_rest_behind_the_fence)
{
	struct bu_node *node;
	int64_t clock_ms;

	node = rig_up_to(&rig, RIG_STARTED);
	note_epoch(EPOCH);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	clock_ms = bu_loop_now_ms(rig.loop) - node->live.clock_ms;
	show(sign(rig.trust, EPOCH + 5, 3, NULL));
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	take_over();
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	release();
	rig_pass(&rig, 1001);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_lt(bu_loop_now_ms(rig.loop) - node->live.clock_ms,
			 clock_ms + 5000);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	/* Counted again from here; and a machine that is on is not reset by what was
	 * allowed in an epoch that has ended. */
	for (int i = 0; i < 5 && node->state == BU_STATE_INSPECTING; i++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_gt(node->repeats, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(only_our_own_signature_counts)
{
	static const char *const names[] = {"DNS:bringup", NULL};
	bu_autofree char *dir = NULL;
	struct bu_trust *other;
	struct bu_err err = {0};
	json_t *anchor;

	begin();
	dir = bu_xasprintf("%s/other", rig.dir);
	other = bu_trust_open(dir, names, &err);
	ck_assert_msg(other != NULL, "%s", err.text);
	show(sign(other, EPOCH + 5, 3, NULL));
	bu_trust_destroy(other);
	show(json_pack("{s:i}", "epoch", EPOCH + 5));
	show(json_string("9999999999"));
	show(json_null());
	show(json_pack("{s:s,s:s}", "text", "", "sig", ""));
	/* A signed one of another kind of text. */
	{
		bu_autojson json_t *body =
			json_pack("{s:s,s:i,s:I}", "kind", "stamp", "v", 1, "epoch",
				  (json_int_t)EPOCH + 5);

		show(bu_trust_sign(rig.trust, body, NULL));
	}
	/* Ours, with a greater number written over. */
	anchor = sign(rig.trust, EPOCH, 1, NULL);
	json_object_set_new(anchor, "text",
			    json_string("{\"epoch\":9223372036854775807,"
					"\"kind\":\"anchor\",\"seq\":1,\"v\":1}"));
	show(anchor);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(rig.fleet->epoch_heard, 0);
	rig_end(&rig);
}
END_TEST

/* Even one that our keys signed: nothing could be above it. */
START_TEST(an_absurd_epoch_is_no_epoch)
{
	struct bu_err err = {0};
	int64_t epoch;

	begin();
	show(sign(rig.trust, INT64_MAX, 3, NULL));
	show(sign(rig.trust, BU_EPOCH_MAX + 1, 3, NULL));
	ck_assert(!bu_fence_is_shut(rig.fleet));
	show(sign(rig.trust, BU_EPOCH_MAX, 3, NULL));
	ck_assert(bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(bu_fence_take_over(rig.rec, "root", "", &epoch, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	rig_text_has(err.text, "no epoch is above 9007199254740991");
	rig_end(&rig);
}
END_TEST

/* A snapshot of the disk that was put back has the same epoch, and fewer rows. */
START_TEST(a_log_that_was_cut_is_behind)
{
	json_t *now;
	int64_t seq;

	begin();
	seq = last_seq();
	now = bu_anchor_make(rig.fleet, rig.trust, NULL);
	show(now);
	show(sign(rig.trust, EPOCH, seq, NULL));
	ck_assert(!bu_fence_is_shut(rig.fleet));
	show(sign(rig.trust, EPOCH, last_seq() + 1, NULL));
	ck_assert(is_on(BU_CONDITION_EPOCH_BEHIND));
	rig_end(&rig);
}
END_TEST

/* It has the number of the anchor's row by now, of another row. */
START_TEST(a_log_that_was_set_back_and_went_on_is_behind)
{
	json_t *now, *text;

	begin();
	now = bu_anchor_make(rig.fleet, rig.trust, NULL);
	note_epoch(EPOCH);
	text = json_loads(json_string_value(json_object_get(now, "text")), 0, NULL);
	json_object_set_new(text, "hash", json_string(hash_of(&rig, last_seq())));
	json_decref(now);
	now = bu_trust_sign(rig.trust, text, NULL);
	json_decref(text);
	show(now);
	ck_assert(is_on(BU_CONDITION_EPOCH_BEHIND));
	rig_end(&rig);
}
END_TEST

START_TEST(a_restored_log_waits_for_an_agent)
{
	struct bu_node *node;
	bu_autojson json_t *anchor = NULL;

	begin();
	anchor = bu_anchor_make(rig.fleet, rig.trust, NULL);
	restore(EPOCH + 100);
	node = rig_node(&rig, 1);
	ck_assert(is_on(BU_CONDITION_EPOCH_UNCHECKED));
	/* An order of before has ended. */
	ck_assert(node->order->withdrawn);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	rig_fire(&rig, node, BU_TRIGGER_START);
	/* None of these knows anything, or may speak. */
	show(NULL);
	bu_fence_hear(rig.rec, "0123456789abcdef", NULL, anchor);
	rig_pass(&rig, HOUR_MS);
	ck_assert(bu_fence_is_shut(rig.fleet));
	show(json_incref(anchor));
	rig_pass(&rig, VOUCH_MS - 2000);
	ck_assert(bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	rig_pass(&rig, 3000);
	rig_pass(&rig, 1001);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	rig_pass(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	/* And is not asked again at the next start. */
	rig_restart(&rig);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	rig_end(&rig);
}
END_TEST

/* One agent confirms, and another one knows of a later restore. */
START_TEST(a_later_word_outweighs_the_first)
{
	begin();
	restore(EPOCH + 100);
	show(sign(rig.trust, EPOCH, 1, NULL));
	show(sign(rig.trust, EPOCH + 200, 1, NULL));
	for (int i = 0; i < 10; i++)
		rig_pass(&rig, VOUCH_MS);
	ck_assert(is_on(BU_CONDITION_EPOCH_BEHIND));
	ck_assert(bu_fence_is_shut(rig.fleet));
	rig_end(&rig);
}
END_TEST

START_TEST(where_none_answers_a_person_does)
{
	struct bu_err err = {0};
	int64_t epoch;

	begin();
	ck_assert_int_eq(bu_fence_take_over(rig.rec, "root", "", &epoch, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	restore(EPOCH + 100);
	ck_assert_int_eq(bu_fence_check(rig.fleet, BU_ERR_BUSY, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_text_has(err.text, "bringup site take-over");
	ck_assert_int_gt(take_over(), EPOCH + 100);
	ck_assert(!bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(bu_fence_check(rig.fleet, BU_ERR_BUSY, &err), 0);
	rig_end(&rig);
}
END_TEST

/* The list of a log that is not this one. */
static json_t *
list(const char *what)
{
	return json_pack("{s:s}", what, "node001");
}

START_TEST(what_another_log_revoked_is_revoked_here)
{
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	char machine[65];

	snprintf(machine, sizeof(machine), "%s", node->machine);
	note_epoch(EPOCH);
	rig_pass(&rig, 1000);
	/* A row that this log has: its list was ours, and may be outdated. */
	show(sign(rig.trust, EPOCH, 1, list(machine)));
	ck_assert_int_eq(node->agent_revoked, 0);
	/* Between the backup and the restore, by the appliance that was lost. */
	show(sign(rig.trust, EPOCH - 1, last_seq() + 50, list("no-machine-of-ours")));
	ck_assert_int_eq(node->agent_revoked, 0);
	restore(bu_wall_ms(&rig.clock) / 1000 + 100);
	node = rig_node(&rig, 1);
	show(sign(rig.trust, EPOCH, last_seq() + 50, list(machine)));
	ck_assert_int_eq(node->agent_revoked, 1);
	ck_assert(!is_on(BU_CONDITION_EPOCH_BEHIND));
	/* The machine stays revoked, and is in our own list from here on. */
	rig_restart(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->agent_revoked, 1);
	rig_end(&rig);
}
END_TEST

/* The disk of the appliance was set back within one epoch: that of the anchor's row is
 * later than the admission, or it is not. */
START_TEST(who_was_retired_after_a_snapshot_stays_out)
{
	struct bu_node *node;
	int64_t admitted_ms;

	begin();
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	node = rig_node(&rig, 1);
	admitted_ms = node->admitted_ms;
	ck_assert_int_gt(admitted_ms, 0);
	show(anchor_sign(&rig, rig.trust, EPOCH, 1000, admitted_ms - 1,
			 list(node->machine)));
	ck_assert(!rig_node(&rig, 1)->agent_revoked);
	show(anchor_sign(&rig, rig.trust, EPOCH, 1001, admitted_ms + 1,
			 list(node->machine)));
	ck_assert(rig_node(&rig, 1)->agent_revoked);
	/* Nor by taking over. */
	take_over();
	ck_assert(rig_node(&rig, 1)->agent_revoked);
	rig_end(&rig);
}
END_TEST

START_TEST(by_the_certificate_too_and_never_by_a_changed_list)
{
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	json_t *changed;
	char cert[65];

	note_epoch(EPOCH);
	rig_pass(&rig, 1000);
	restore(bu_wall_ms(&rig.clock) / 1000 + 100);
	node = rig_node(&rig, 1);
	snprintf(cert, sizeof(cert), "%s", node->agent_cert);
	changed = sign(rig.trust, EPOCH, last_seq() + 50, NULL);
	json_object_set_new(json_object_get(changed, "revoked"), cert,
			    json_string("node001"));
	show(changed);
	ck_assert_int_eq(node->agent_revoked, 0);
	show(sign(rig.trust, EPOCH, last_seq() + 50, list(cert)));
	ck_assert_int_eq(node->agent_revoked, 1);
	rig_end(&rig);
}
END_TEST

static void
learned_is(int64_t seq)
{
	ck_assert_int_eq(rig.fleet->learned.seq, seq);
	ck_assert_int_eq(rig.fleet->learned.epoch, seq ? EPOCH - 1 : 0);
}

/* A machine that was retired, admitted again and retired again is in two equal lists.
 */
START_TEST(an_equal_list_of_a_later_row_counts)
{
	begin();
	show(sign(rig.trust, EPOCH - 1, 50, list("no-machine-of-ours")));
	learned_is(50);
	show(sign(rig.trust, EPOCH - 1, 60, list("no-machine-of-ours")));
	learned_is(60);
	show(sign(rig.trust, EPOCH - 1, 55, list("no-machine-of-ours")));
	learned_is(60);
	rig_restart(&rig);
	learned_is(60);
	rig_end(&rig);
}
END_TEST

START_TEST(a_list_that_the_log_refused_is_learned_the_next_time)
{
	bad_disk_install();
	begin();
	bad_disk.full = 1;
	show(sign(rig.trust, EPOCH - 1, 50, list("no-machine-of-ours")));
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	learned_is(0);
	bad_disk_install();
	for (int i = 0; i < 10 && bu_store_down(rig.store); i++)
		rig_pass(&rig, 1001);
	ck_assert_ptr_null(bu_store_down(rig.store));
	show(sign(rig.trust, EPOCH - 1, 50, list("no-machine-of-ours")));
	learned_is(50);
	rig_end(&rig);
}
END_TEST

/* Logs of older versions have epochs after which their nodes went on. */
START_TEST(an_epoch_that_does_not_say_so_ends_nothing)
{
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);

	note_epoch(EPOCH);
	note_epoch(EPOCH + 100);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(rig.fleet->epoch, EPOCH + 100);
	ck_assert(!node->order->withdrawn);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_end(&rig);
}
END_TEST

/* A machine that a person takes back after the restore is not put out again by an agent
 * that was off for a month. */
START_TEST(who_is_admitted_after_the_restore_stays)
{
	struct bu_node *node;
	char machine[65];

	node = rig_up_to(&rig, RIG_ENROLLED);
	note_epoch(EPOCH);
	restore(EPOCH + 100);
	take_over();
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	node = rig_node(&rig, 1);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	snprintf(machine, sizeof(machine), "%s", node->machine);
	ck_assert_str_ne(machine, "");
	show(sign(rig.trust, EPOCH, last_seq() + 50, list(machine)));
	ck_assert_int_eq(node->agent_revoked, 0);
	rig_end(&rig);
}
END_TEST

/* A BMC is asked nothing: a first question may change its password. */
START_TEST(people_switch_nothing_either)
{
	static const char *const ops[] = {"on", "off", "cycle", "status"};
	struct bu_node *node;
	struct bu_err err;

	begin();
	node = rig_node(&rig, 1);
	show(sign(rig.trust, EPOCH + 5, 3, NULL));
	for (size_t i = 0; i < BU_LEN(ops); i++) {
		struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					  .op = ops[i],
					  .by = "root",
					  .reason = "now",
					  .force = 1};

		memset(&err, 0, sizeof(err));
		ck_assert_ptr_null(bu_verb_run(rig.rec, node, &ask, &err));
		rig_text_has(err.text, "bringup site take-over");
	}
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(bu_reconcile_report(rig.rec, node, BU_BMC_EVENTS, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	rig_end(&rig);
}
END_TEST

/* A new one when the list or the epoch changes, and only for who has another one. */
START_TEST(agents_get_an_anchor_of_what_is_revoked)
{
	struct bu_anchor anchor;
	struct bu_event event;
	json_t *first;

	rig_begin(&rig, 1);
	ck_assert_ptr_null(bu_fence_anchor(rig.rec, NULL));
	note_epoch(EPOCH);
	first = bu_fence_anchor(rig.rec, NULL);
	ck_assert_int_eq(
		bu_anchor_open(first, bu_trust_public_key(rig.trust), &anchor, NULL),
		0);
	ck_assert_int_eq(anchor.epoch, EPOCH);
	ck_assert_ptr_eq(bu_fence_anchor(rig.rec, ""), first);
	ck_assert_ptr_null(bu_fence_anchor(rig.rec, anchor.revoked));
	bu_node_set_agent_cert(rig_node(&rig, 1), "f-one");
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, "node001", revoked, .fingerprint = "",
		      .all = 1, .reason = "");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	first = bu_fence_anchor(rig.rec, anchor.revoked);
	ck_assert_ptr_nonnull(first);
	ck_assert_str_eq(bu_json_str(json_object_get(first, "revoked"), "f-one", ""),
			 "node001");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("fence", a_higher_epoch_stops_every_effect,
	 who_takes_over_is_above_all_that_was_heard_of, deadlines_rest_behind_the_fence,
	 only_our_own_signature_counts, an_absurd_epoch_is_no_epoch,
	 a_log_that_was_cut_is_behind, a_log_that_was_set_back_and_went_on_is_behind,
	 a_restored_log_waits_for_an_agent, a_later_word_outweighs_the_first,
	 where_none_answers_a_person_does, what_another_log_revoked_is_revoked_here,
	 by_the_certificate_too_and_never_by_a_changed_list,
	 an_equal_list_of_a_later_row_counts,
	 a_list_that_the_log_refused_is_learned_the_next_time,
	 an_epoch_that_does_not_say_so_ends_nothing,
	 who_was_retired_after_a_snapshot_stays_out,
	 who_is_admitted_after_the_restore_stays, people_switch_nothing_either,
	 agents_get_an_anchor_of_what_is_revoked)
