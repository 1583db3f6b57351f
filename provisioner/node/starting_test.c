/* SPDX-License-Identifier: Apache-2.0 */
/* A dark site is switched on in its order, and nothing is switched off on the way. */
#include "provisioner/node/starting.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* node001 is of the pool control, which comes first. */
#define TRAIN "[pool train]\nnodes = node[001-003]\n"
#define CONTROL                                                                        \
	"[pool control]\nnodes = node001\nstart = 10\nhardware = vm\n"                 \
	"image = debian12\npower = libvirt\nnetworks = boot, fabric\ncluster = hpc\n"  \
	"validation = pairs\n"
#define TIERS CONTROL "[pool train]\nnodes = node[002-003]\n"
/* All others are on no rail. */
#define ELSEWHERE                                                                      \
	"[pool far]\nnodes = node[002-003]\nhardware = vm\nimage = debian12\n"         \
	"power = libvirt\nnetworks = boot\n[pool train]\nnodes = node001\nstart = 10\n"
#define LAKE                                                                           \
	"[pool lake]\nnodes = node002\nstart = 20\nhardware = vm\n"                    \
	"image = debian12\npower = libvirt\nnetworks = boot, fabric\ncluster = hpc\n"  \
	"validation = pairs\n"
#define THREE(start) CONTROL LAKE "[pool train]\nnodes = node003\nstart = " start "\n"
#define ONE_BY_ONE "[policy]\nstart_per_rack = 1\n" TIERS

enum { ALL = 1U << 1 | 1U << 2 | 1U << 3, SKIP_S = 11 * 60 };

static struct rig rig;

static void
pass_seconds(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 1000);
}

/* The power is gone: machines, agents, and the appliance itself. */
static void
darken(void)
{
	rig.silent = ALL;
	for (int i = 1; i <= 3; i++) {
		bu_autofree char *file = bu_xasprintf("power.node%03d", i);

		rig_write(&rig, file, "off");
	}
	rig_write(&rig, "power.log", "");
	rig_away(&rig, 60000);
	pass_seconds(2);
}

/* Three nodes; those up to `ready` are ready, the others validating. */
static void
lit(const char *pools, int ready)
{
	rig_begin(&rig, 3);
	for (int i = 1; i <= 3; i++) {
		rig_to_validating(&rig, i);
		if (i <= ready)
			rig_join(&rig, i);
	}
	rig_revise(&rig, 3, TRAIN, pools);
}

static void
dark(const char *pools, int ready)
{
	lit(pools, ready);
	darken();
}

static int
ask(const char *op, int tier, struct bu_err *err)
{
	const struct bu_start_ask word = {
		.op = op, .by = "ann", .reason = "", .tier = tier};
	int rc = bu_starting_ask(rig.rec, &word, err);

	if (rc == 0)
		pass_seconds(1);
	return rc;
}

static void
begin(void)
{
	struct bu_err err = {0};

	ck_assert_msg(ask("begin", 0, &err) == 0, "%s", err.text);
}

static void
refused(const char *op, int tier, enum bu_err_kind kind, const char *says)
{
	struct bu_err err = {0};

	ck_assert_int_eq(ask(op, tier, &err), -1);
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
}

/* All that was done to machines since it was dark. */
static void
switched(const char *want)
{
	bu_autofree char *log = rig_read(&rig, "power.log");

	ck_assert_str_eq(log, want);
}

/* Its machine has booted, and it is proven anew. */
static void
becomes_ready(int number)
{
	bu_autofree char *boot = bu_xasprintf("boot-after-%d", number);

	rig.silent &= ~(1U << number);
	rig_come_up(&rig, number, boot);
	rig_join(&rig, number);
	pass_seconds(2);
}

static int
on_row(const struct bu_event *event, void *arg)
{
	char **rows = arg;

	if (event->kind == BU_EVENT_START)
		bu_text_add(rows, ", ", "%s %s %lld", bu_event_word(event, "by"),
			    bu_event_word(event, "to"),
			    (long long)bu_json_int(event->body, "tier", 0));
	return 0;
}

/* All rows of starts in the log. */
static void
log_has(const char *want)
{
	bu_autofree char *rows = bu_xstrdup("");

	ck_assert_int_eq(bu_store_read(rig.store, 0, 0, on_row, &rows, NULL), 0);
	ck_assert_str_eq(rows, want);
}

static const char *
said(void)
{
	bu_autojson json_t *line = bu_starting_said(rig.rec);

	return rig_sentence(line);
}

START_TEST(tiers_come_one_after_the_other)
{
	dark(TIERS, 3);
	pass_seconds(100);
	switched(""); /* nothing by itself */
	begin();
	refused("begin", 0, BU_ERR_BUSY, "a start by ann runs already");
	pass_seconds(60);
	switched("on node001\n");
	rig_why_says(&rig, rig_node(&rig, 2), "start = 10 comes first, its own is 50");
	rig_text_has(said(), "start = 10 are started, 0 of 1 are up; node001 not yet");
	rig.silent &= ~(1U << 1);
	rig_come_up(&rig, 1, "boot-new");
	pass_seconds(60);
	switched("on node001\n"); /* heard is not up */
	rig_why_says(&rig, rig_node(&rig, 1), "waits until it is ready");
	rig_join(&rig, 1);
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	rig_why_says(&rig, rig_node(&rig, 2), "waits for its agent");
	becomes_ready(2);
	ck_assert_int_ne(rig.fleet->start.seq, 0);
	becomes_ready(3);
	ck_assert_int_eq(rig.fleet->start.seq, 0);
	log_has("ann begun 10, bringup tier 50, bringup done 0");
	ck_assert_ptr_null(bu_starting_said(rig.rec));
	refused("abort", 0, BU_ERR_STATE, "no start runs");
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);
}
END_TEST

START_TEST(a_rack_starts_no_more_machines_at_once_than_the_profile_says)
{
	dark(ONE_BY_ONE, 3);
	begin();
	pass_seconds(60);
	becomes_ready(1);
	pass_seconds(60);
	switched("on node001\non node002\n");
	rig_why_says(&rig, rig_node(&rig, 3), "fewer than 1 machines of its rack");
	rig.silent &= ~(1U << 2);
	rig_come_up(&rig, 2, "boot-new"); /* heard is enough */
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);
}
END_TEST

/* One that never calls does not keep the others of its rack dark. */
START_TEST(a_machine_that_never_calls_gives_its_place_back)
{
	dark(ONE_BY_ONE, 3);
	begin();
	pass_seconds(60);
	becomes_ready(1);
	pass_seconds(900);
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);
}
END_TEST

START_TEST(no_clear_answer_is_not_off)
{
	dark(TIERS, 3);
	rig_write(&rig, "power.away", "no route to host");
	begin();
	pass_seconds(120);
	rig_why_says(&rig, rig_node(&rig, 1),
		     "asks its BMC whether its machine is off: ");
	ck_assert_int_eq((int)rig.fleet->start.tier, 10);
	pass_seconds(SKIP_S);
	rig_why_says(&rig, rig_node(&rig, 1), "its BMC gives no clear answer");
	ck_assert_int_eq((int)rig.fleet->start.tier, 50);
	switched("");
	rig_remove(&rig, "power.away");
	rig_write(&rig, "power.node002", "unknown");
	pass_seconds(120); /* a BMC that comes late is not forgotten */
	switched("on node001\non node003\n");
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_that_is_on_is_left)
{
	dark(TIERS, 3);
	rig_write(&rig, "power.node001", "on");
	begin();
	pass_seconds(2000);
	switched("");
	rig_why_says(&rig, rig_node(&rig, 1), "its machine is on");
	becomes_ready(1);
	pass_seconds(60);
	switched("on node002\non node003\n");
	rig_end(&rig);
}
END_TEST

/* The restart of bringupd repeats no power action, and forgets no tier. */
START_TEST(a_start_outlives_bringupd)
{
	dark(ONE_BY_ONE, 3);
	begin();
	pass_seconds(60);
	becomes_ready(1);
	pass_seconds(60);
	rig_restart(&rig);
	pass_seconds(100);
	switched("on node001\non node002\n");
	ck_assert_int_eq((int)rig.fleet->start.tier, 50);
	becomes_ready(2);
	pass_seconds(60);
	becomes_ready(3);
	ck_assert_int_eq(rig.fleet->start.seq, 0);
	log_has("ann begun 10, bringup tier 50, bringup done 0");
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);
}
END_TEST

START_TEST(a_restart_while_a_machine_is_switched_on_switches_it_once)
{
	dark(TIERS, 3);
	rig_write(&rig, "power.hang", "");
	begin();
	for (int i = 0; i < 100 && !rig_count(&rig, "on node001"); i++)
		rig_pass(&rig, 1000);
	switched("on node001\n");
	ck_assert_int_eq(rig_node(&rig, 1)->power->result, BU_OUTCOME_ASKED);
	rig_remove(&rig, "power.hang");
	rig_restart(&rig);
	pass_seconds(200);
	switched("on node001\n");
	becomes_ready(1);
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);
}
END_TEST

START_TEST(a_person_goes_on_or_ends_it)
{
	dark(TIERS, 3);
	begin();
	pass_seconds(60);
	refused("next", 50, BU_ERR_STATE, "the start is at start = 10");
	ck_assert_int_eq(ask("next", 10, NULL), 0);
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	rig_end(&rig);

	dark(TIERS, 3);
	begin();
	pass_seconds(60);
	ck_assert_int_eq(ask("abort", 0, NULL), 0);
	ck_assert_int_eq(rig.fleet->start.seq, 0);
	becomes_ready(1);
	pass_seconds(100);
	switched("on node001\n");
	rig_end(&rig);
}
END_TEST

/* Its own tier was over when the profile placed it there. */
START_TEST(a_pool_that_is_placed_before_the_present_tier_is_waited_for)
{
	dark(THREE("50"), 3);
	begin();
	pass_seconds(60);
	becomes_ready(1);
	ck_assert_int_eq((int)rig.fleet->start.tier, 20);
	rig_revise(&rig, 3, TRAIN, THREE("5"));
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	becomes_ready(2);
	pass_seconds(60);
	ck_assert_int_eq((int)rig.fleet->start.tier, 20);
	rig_text_has(said(), "1 of 2 are up; node003 not yet");
	rig_restart(&rig);
	pass_seconds(60);
	ck_assert_int_eq((int)rig.fleet->start.tier, 20);
	becomes_ready(3);
	log_has("ann begun 10, bringup tier 20, bringup done 0");
	rig_end(&rig);
}
END_TEST

/* In no tier after it, and not by another process. */
START_TEST(whom_a_person_goes_on_without_is_not_waited_for)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		dark(THREE("50"), 3);
		begin();
		pass_seconds(60);
		ck_assert_int_eq(ask("next", 10, NULL), 0);
		pass_seconds(60);
		if (restarts)
			rig_restart(&rig);
		becomes_ready(2);
		pass_seconds(60);
		ck_assert_int_eq((int)rig.fleet->start.tier, 50);
		switched("on node001\non node002\non node003\n");
		becomes_ready(3);
		log_has("ann begun 10, ann tier 20, bringup tier 50, bringup done 0");
		rig_end(&rig);
	}
}
END_TEST

/* It was up: that it goes off later is a matter of its own. */
START_TEST(a_tier_that_was_up_is_not_waited_for_again)
{
	dark(THREE("50"), 3);
	begin();
	pass_seconds(60);
	becomes_ready(1);
	rig.silent |= 1U << 1;
	pass_seconds(120);
	becomes_ready(2);
	pass_seconds(60);
	ck_assert_int_eq((int)rig.fleet->start.tier, 50);
	rig_end(&rig);
}
END_TEST

/* node001 has called, and waits for this. */
static void
validates(enum bu_reason_code why)
{
	rig.silent &= ~(1U << 1);
	rig_come_up(&rig, 1, "boot-after-1");
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	bu_node_wait_reason(rig_node(&rig, 1))->code = why;
}

START_TEST(partners_of_a_later_tier_are_switched_on_for_who_lacks_them)
{
	dark(THREE("50"), 3);
	begin();
	pass_seconds(60);
	validates(BU_REASON_PARTNERS_AWAY);
	pass_seconds(20); /* one that comes up right now may be the partner */
	switched("on node001\n");
	pass_seconds(60);
	ck_assert_int_eq((int)rig.fleet->start.tier, 20);
	switched("on node001\non node002\n"); /* who comes up may be enough */
	becomes_ready(2);
	pass_seconds(60);
	ck_assert_int_eq((int)rig.fleet->start.tier, 50);
	becomes_ready(3);
	pass_seconds(120);
	ck_assert_int_ne(rig.fleet->start.seq, 0); /* nobody else comes */
	rig_join(&rig, 1);
	pass_seconds(2);
	log_has("ann begun 10, bringup tier 20, bringup tier 50, bringup done 0");
	rig_end(&rig);
}
END_TEST

START_TEST(who_lacks_more_than_partners_is_waited_for)
{
	static const struct {
		const char *pools;
		enum bu_reason_code why;
	} waits[] = {
		{THREE("50"), BU_REASON_NONE},
		{THREE("50"), BU_REASON_SOAKS},
		{ELSEWHERE, BU_REASON_NO_PARTNER}, /* later nodes are on no rail */
	};

	for (size_t i = 0; i < BU_LEN(waits); i++) {
		dark(waits[i].pools, 3);
		begin();
		pass_seconds(60);
		validates(waits[i].why);
		pass_seconds(300);
		ck_assert_int_eq((int)rig.fleet->start.tier, 10);
		switched("on node001\n");
		rig_end(&rig);
	}
}
END_TEST

static void
verb(int number, enum bu_verb id)
{
	const struct bu_verb_ask word = {
		.verb = id, .by = "bob", .op = "", .reason = "fan"};
	struct bu_err err = {0};
	bu_autofree char *text =
		bu_verb_run(rig.rec, rig_node(&rig, number), &word, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	pass_seconds(1);
}

START_TEST(a_held_node_is_left_alone)
{
	bu_autojson json_t *plan = NULL, *why = NULL;

	dark(TIERS, 3);
	verb(1, BU_VERB_HOLD);
	why = bu_starting_left(rig.rec, rig_node(&rig, 1));
	ck_assert_str_eq(rig_sentence(why), "held by bob");
	begin(); /* its tier is empty */
	plan = bu_starting_json(rig.rec);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "left")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "pools")), 1);
	verb(2, BU_VERB_HOLD); /* while it runs */
	pass_seconds(60);
	switched("on node003\n");
	becomes_ready(3);
	ck_assert_int_eq(rig.fleet->start.seq, 0);
	rig_end(&rig);
}
END_TEST

/* A node that had not been ready has a ladder, which would cycle it before its turn. */
START_TEST(no_ladder_climbs_before_the_turn)
{
	dark(TIERS, 1);
	begin();
	pass_seconds(3000);
	switched("on node001\n");
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_VALIDATING);
	rig_restart(&rig);
	pass_seconds(3000);
	switched("on node001\n");
	becomes_ready(1);
	pass_seconds(60);
	switched("on node001\non node002\non node003\n");
	becomes_ready(2);
	ck_assert_int_eq(rig_node(&rig, 2)->repeats, 0);
	/* The other one never calls: its ladder goes on from there. */
	pass_seconds(1500);
	ck_assert_int_ne(rig_node(&rig, 3)->state, BU_STATE_VALIDATING);
	rig_end(&rig);

	dark(TIERS, 1); /* it counts again when the start has ended */
	begin();
	pass_seconds(1000);
	ck_assert_int_eq(ask("abort", 0, NULL), 0);
	pass_seconds(500);
	switched("on node001\n");
	pass_seconds(500);
	ck_assert_int_ge(rig_count(&rig, "boot disk node002"), 1);
	rig_end(&rig);
}
END_TEST

/* Slurm wakes it when there are jobs. */
START_TEST(a_machine_that_its_cluster_has_put_to_sleep_stays_off)
{
	bu_autojson json_t *why = NULL;
	const struct bu_verb_ask suspend = {
		.verb = BU_VERB_POWER, .by = "slurm", .op = "suspend", .reason = ""};

	lit(TIERS, 3);
	rig_write(&rig, "sinfo", "IDLE+POWERING_DOWN\n");
	pass_seconds(30);
	free(bu_verb_run(rig.rec, rig_node(&rig, 1), &suspend, NULL));
	pass_seconds(3);
	darken();
	why = bu_starting_left(rig.rec, rig_node(&rig, 1));
	ck_assert_str_eq(rig_sentence(why),
			 "its cluster has it switched off to save power");
	begin();
	pass_seconds(60);
	switched("on node002\non node003\n");
	rig_end(&rig);
}
END_TEST

static int
is_frozen(void *arg, const struct bu_node *node)
{
	(void)node;
	return *(const int *)arg;
}

START_TEST(the_brake_holds_it)
{
	int on = 1;

	dark(TIERS, 3);
	bu_reconcile_set_freezer(rig.rec,
				 &(struct bu_freezer){.frozen = is_frozen, .arg = &on});
	begin();
	pass_seconds(120);
	switched("");
	rig_why_says(&rig, rig_node(&rig, 1), "the brake is on");
	on = 0;
	pass_seconds(60);
	switched("on node001\n");
	rig_end(&rig);
}
END_TEST

START_TEST(the_fence_holds_it)
{
	dark(TIERS, 3);
	begin();
	pass_seconds(2);
	rig_epoch(&rig, rig.fleet->epoch + 1, 1);
	pass_seconds(200);
	switched("");
	refused("begin", 0, BU_ERR_STATE, "bringup site take-over");
	rig_end(&rig);
}
END_TEST

START_TEST(nobody_takes_part)
{
	rig_begin(&rig, 2);
	rig_revise(&rig, 2, NULL, NULL);
	pass_seconds(1);
	verb(1, BU_VERB_HOLD);
	verb(2, BU_VERB_HOLD);
	refused("begin", 0, BU_ERR_STATE, "no node takes part in a start");
	refused("up", 0, BU_ERR_INVAL, "expected begin, next or abort");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("starting", tiers_come_one_after_the_other,
	 a_rack_starts_no_more_machines_at_once_than_the_profile_says,
	 a_machine_that_never_calls_gives_its_place_back, no_clear_answer_is_not_off,
	 a_machine_that_is_on_is_left, a_start_outlives_bringupd,
	 a_restart_while_a_machine_is_switched_on_switches_it_once,
	 a_person_goes_on_or_ends_it,
	 a_pool_that_is_placed_before_the_present_tier_is_waited_for,
	 whom_a_person_goes_on_without_is_not_waited_for,
	 a_tier_that_was_up_is_not_waited_for_again,
	 partners_of_a_later_tier_are_switched_on_for_who_lacks_them,
	 who_lacks_more_than_partners_is_waited_for,
	 a_machine_that_its_cluster_has_put_to_sleep_stays_off,
	 a_held_node_is_left_alone, no_ladder_climbs_before_the_turn,
	 the_brake_holds_it, the_fence_holds_it, nobody_takes_part)
