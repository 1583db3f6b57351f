/* SPDX-License-Identifier: Apache-2.0 */
/* The way into the log: what may be asked for, the rows that come of it, and which
 * nodes go on when they are in. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static struct rig rig;

/* What the log owes is written, and no tick is due. */
static void
write_rows(void)
{
	bu_clock_advance(&rig.clock, 1);
	while (bu_loop_step(rig.loop, 0))
		;
}

START_TEST(what_may_be_asked_of_a_node)
{
	static const struct {
		enum bu_state from;
		enum bu_trigger on;
		enum bu_class class; /* of its order; NONE: it has none */
		int begun, installed, writing;
		enum bu_state to; /* COUNT: nowhere */
		const char *refusal;
	} cases[] = {
		{BU_STATE_ENROLLED, BU_TRIGGER_START, BU_CLASS_INSTALL, 0, 0, 0,
		 BU_STATE_INSPECTING, NULL},
		{BU_STATE_ENROLLED, BU_TRIGGER_START, BU_CLASS_NONE, 0, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'start' in state enrolled: no applied plan orders its "
		 "disk to be written"},
		{BU_STATE_ENROLLED, BU_TRIGGER_START, BU_CLASS_REBOOT, 0, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'start' in state enrolled: no applied plan orders its "
		 "disk to be written"},
		{BU_STATE_ENROLLED, BU_TRIGGER_JOINED, BU_CLASS_NONE, 0, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'joined' has no effect in state enrolled"},
		{BU_STATE_READY, BU_TRIGGER_REBUILD, BU_CLASS_REBOOT, 0, 0, 0,
		 BU_STATE_DRAINING, NULL},
		{BU_STATE_READY, BU_TRIGGER_REBUILD, BU_CLASS_NONE, 0, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'rebuild' in state ready: no applied plan orders it"},
		{BU_STATE_PARKED, BU_TRIGGER_BOOT, BU_CLASS_NONE, 0, 1, 0,
		 BU_STATE_BOOTING, NULL},
		{BU_STATE_PARKED, BU_TRIGGER_BOOT, BU_CLASS_NONE, 0, 1, 1,
		 BU_STATE_COUNT,
		 "node node001: 'boot' in state parked: its disk has no system of "
		 "bringup"},
		{BU_STATE_PARKED, BU_TRIGGER_BOOT, BU_CLASS_NONE, 0, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'boot' in state parked: its disk has no system of "
		 "bringup"},
		{BU_STATE_DRAINING, BU_TRIGGER_DRAIN, BU_CLASS_REBOOT, 0, 0, 0,
		 BU_STATE_DRAINING, NULL},
		{BU_STATE_DRAINING, BU_TRIGGER_DRAIN, BU_CLASS_REBOOT, 1, 0, 0,
		 BU_STATE_COUNT,
		 "node node001: 'drain' in state draining: its order is under way"},
		{BU_STATE_DRAINING, BU_TRIGGER_DRAIN, BU_CLASS_NONE, 1, 0, 0,
		 BU_STATE_DRAINING, NULL},
		{BU_STATE_VALIDATING, BU_TRIGGER_PROVEN, BU_CLASS_NONE, 0, 1, 0,
		 BU_STATE_COUNT,
		 "node node001: 'proven' in state validating: it has no valid "
		 "certificates for this machine and this boot"},
	};
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	const struct bu_node before = *node;

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		const struct bu_move move = {.on = cases[i].on};
		enum bu_state to = BU_STATE_COUNT;
		struct bu_err err = {0};
		int can;

		node->state = cases[i].from;
		bu_node_order(node)->class = cases[i].class;
		bu_node_order(node)->open = cases[i].class != BU_CLASS_NONE;
		bu_node_order(node)->begun = cases[i].begun;
		bu_node_set_installed_digest(node, cases[i].installed ? "d" : "");
		node->writing = cases[i].writing;
		can = bu_reconcile_can(rig.rec, node, &move, &to, &err) == 0;
		ck_assert_msg(can == (cases[i].to != BU_STATE_COUNT), "case %zu: %s", i,
			      err.text);
		ck_assert_int_eq(to, cases[i].to);
		ck_assert_str_eq(err.text, cases[i].refusal ? cases[i].refusal : "");
		/* not while something else of it is on its way */
		node->live.appending = 1;
		ck_assert_int_eq(bu_reconcile_can(rig.rec, node, &move, &to, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_BUSY);
		node->live.appending = 0;
	}
	*node = before;
	rig_end(&rig);
}
END_TEST

/* A rail that its pool was given since puts none out that is in service; one that
 * validates has to be measured there. */
START_TEST(a_new_rail_counts_for_those_that_validate)
{
	static const struct {
		enum bu_state from;
		enum bu_trigger on;
		int can;
	} cases[] = {{BU_STATE_READY, BU_TRIGGER_LOST, 1},
		     {BU_STATE_JOINING, BU_TRIGGER_JOINED, 1},
		     {BU_STATE_VALIDATING, BU_TRIGGER_PROVEN, 0}};
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_give_rails(&rig, 1, 2);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		enum bu_state to;

		node->state = cases[i].from;
		ck_assert_int_eq(bu_reconcile_can(rig.rec, node,
						  &(struct bu_move){.on = cases[i].on},
						  &to, NULL),
				 cases[i].can ? 0 : -1);
	}
	bu_node_set_boot_id(node, "another"); /* nor in another boot */
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		enum bu_state to;

		node->state = cases[i].from;
		ck_assert_int_eq(bu_reconcile_can(rig.rec, node,
						  &(struct bu_move){.on = cases[i].on},
						  &to, NULL),
				 -1);
	}
	rig_end(&rig);
}
END_TEST

/* The row of each move. */
START_TEST(a_move_says_all_that_is_known_of_it)
{
	static const struct bu_next next = {.state = BU_STATE_PARKED,
					    .again = 1,
					    .reset = 1,
					    .by = "ann",
					    .reason = {.code = BU_REASON_NONE}};
	static const struct {
		enum bu_state from;
		struct bu_move move;
		int reason;
		const char *body;
	} cases[] = {
		{BU_STATE_BOOTING,
		 {.on = BU_TRIGGER_BOOTED},
		 0,
		 "{'from':'booting','on':'booted','to':'validating'}"},
		{BU_STATE_BOOTING,
		 {.on = BU_TRIGGER_LATE, .by = "ann", .reset = 1},
		 1,
		 "{'args':{'words':'silent'},'by':'ann','code':'other','from':'booting',"
		 "'on':'late','reset':true,'to':'failed'}"},
		{BU_STATE_READY,
		 {.on = BU_TRIGGER_DRAIN, .next = &next, .by = "ann"},
		 0,
		 "{'by':'ann','from':'ready','next':{'again':true,'by':'ann',"
		 "'reset':true,'state':'parked'},'on':'drain',"
		 "'to':'draining'}"},
		{BU_STATE_READY,
		 {.on = BU_TRIGGER_REBUILD},
		 0,
		 "{'from':'ready','next':{'again':false,'args':{'class':'reboot',"
		 "'rollout':'r-7'},'by':'rollout r-7','code':'ordered',"
		 "'reset':false,'state':'booting'},'on':'rebuild',"
		 "'to':'draining'}"},
		{BU_STATE_DRAINING,
		 {.on = BU_TRIGGER_BOOTED, .next = &next},
		 0,
		 "{'from':'draining','on':'booted','to':'draining'}"},
	};
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	const struct bu_node before = *node;

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *wanted = quoted(cases[i].body);
		bu_autofree char *want = bu_json_canonical(wanted), *is = NULL;
		struct bu_move move = cases[i].move;
		struct bu_reason reason;
		struct bu_event event;

		node->state = cases[i].from;
		bu_node_order(node)->class = BU_CLASS_REBOOT;
		bu_node_order(node)->open = 1;
		strcpy(bu_node_order(node)->rollout, "r-7");
		BU_REASON_SET(&reason, OTHER, .text = {"silent"});
		move.reason = cases[i].reason ? &reason : NULL;
		ck_assert_int_eq(bu_reconcile_moved(rig.rec, node, &move, &event, NULL),
				 0);
		is = bu_json_canonical(event.body);
		ck_assert_str_eq(is, want);
		ck_assert_str_eq(event.node, "node001");
		ck_assert_int_eq(event.kind, BU_EVENT_STATE);
		bu_event_fini(&event);
	}
	*node = before;
	rig_end(&rig);
}
END_TEST

/* What stands before it goes into the same commit; where it is refused nothing does. */
START_TEST(facts_go_with_their_move_or_not_at_all)
{
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	char kinds[4096];
	int64_t seq = rig.fleet->life.row_seq;

	for (int refused = 1; refused >= 0; refused--) {
		struct bu_event extra[2];

		BU_EVENT_MAKE(&extra[0], BU_EVENT_AGAIN, node->name, again,
			      .by = "ann");
		BU_EVENT_MAKE(&extra[1], BU_EVENT_LEASE, node->name, lease, .to = "x");
		bu_reconcile_try(rig.rec, node,
				 refused ? BU_TRIGGER_JOINED : BU_TRIGGER_START, NULL,
				 extra, 2);
		ck_assert_int_eq(node->live.appending, !refused);
		rig.rec->stopped = 1;
		write_rows();
		rig_events_after(&rig, seq, kinds);
		ck_assert_str_eq(kinds, refused ? "" : "again lease state ");
	}
	rig_end(&rig);
}
END_TEST

static int driven[4]; /* by number of the node */

static void
count(struct bu_reconcile *rec, struct bu_node *node)
{
	driven[node->name[6] - '0']++;
}

static void
was_driven(int one, int two, int three)
{
	ck_assert_int_eq(driven[1], one);
	ck_assert_int_eq(driven[2], two);
	ck_assert_int_eq(driven[3], three);
	memset(driven, 0, sizeof(driven));
}

static void
leases(const char *const *names, size_t count)
{
	struct bu_event events[4];

	for (size_t i = 0; i < count; i++)
		BU_EVENT_MAKE(&events[i], BU_EVENT_LEASE, names[i], lease, .to = "x");
	bu_reconcile_note(rig.rec, events, count);
}

static void
changing(int one, int two, int three)
{
	ck_assert_int_eq(rig_node(&rig, 1)->live.appending, one);
	ck_assert_int_eq(rig_node(&rig, 2)->live.appending, two);
	ck_assert_int_eq(rig_node(&rig, 3)->live.appending, three);
}

/* All that a batch is about change until it is in, and go on then. */
START_TEST(who_goes_on_when_a_batch_is_in)
{
	static const char *const some[] = {"node001", "node003", "node001"};
	struct bu_event event;
	struct bu_err err;
	int64_t version;

	rig_begin(&rig, 3);
	rig.rec->drive = count;
	leases(some, 3);
	changing(1, 0, 1);
	was_driven(0, 0, 0);
	leases(some, 1); /* another one of node001 meanwhile */
	changing(2, 0, 1);
	version = rig.fleet->version;
	write_rows();
	changing(0, 0, 0);
	was_driven(2, 0, 1);
	ck_assert_int_gt(rig.fleet->version, version);
	ck_assert_str_eq(rig_node(&rig, 3)->lent_to, "x");
	/* a profile is about all of them */
	row_init(&event, BU_EVENT_APPLIED, "",
		 json_pack("{s:s,s:i}", "revision", rig.fleet->revision, "nodes", 0));
	bu_reconcile_note(rig.rec, &event, 1);
	changing(0, 0, 0);
	write_rows();
	was_driven(1, 1, 1);
	/* of the site: none goes on */
	BU_EVENT_MAKE(&event, BU_EVENT_BRAKE, "", brake, .scope = "site", .on = 1);
	bu_reconcile_note(rig.rec, &event, 1);
	write_rows();
	was_driven(0, 0, 0);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	/* what is not in the log did not happen, and is not on its way any more */
	bu_node_set_lent_to(rig_node(&rig, 2), "");
	leases((const char *const[]){"node002"}, 1);
	bu_err_set(&err, BU_ERR_IO, 0, "full");
	bu_store_fail(rig.store, &err);
	write_rows();
	changing(0, 0, 0);
	ck_assert_str_eq(rig_node(&rig, 2)->lent_to, "");
	rig_end(&rig);
}
END_TEST

/* At its end bringup still takes in what is in the log, and begins nothing. */
START_TEST(what_has_stopped_begins_nothing)
{
	static const char *const both[] = {"node001", "node002"};

	rig_begin(&rig, 3);
	rig.rec->drive = count;
	leases(both, 2);
	rig.rec->stopped = 1;
	write_rows();
	changing(0, 0, 0);
	was_driven(0, 0, 0);
	ck_assert_str_eq(rig_node(&rig, 2)->lent_to, "x");
	rig_end(&rig);
}
END_TEST

/* Released: what is held, or what the brake froze; nothing while the log is down. */
START_TEST(what_can_be_released)
{
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err err = {0}, down;

	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", &err), -1);
	ck_assert_str_eq(err.text, "node node001 is not held");
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	node->live.late_ms = 7;
	node->live.appending = 1;
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	node->live.appending = 0;
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", &err), 0);
	write_rows();
	ck_assert_int_eq(node->live.late_ms, 0);
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", &err), 0);
	write_rows();
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	bu_err_set(&down, BU_ERR_IO, 0, "no room");
	bu_store_fail(rig.store, &down);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", &err), -1);
	rig_text_has(err.text, "no room");
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", NULL), -1);
	rig_end(&rig);
}
END_TEST

START_TEST(the_outcome_of_a_step)
{
	static const struct {
		enum bu_err_kind kind;
		int final;
	} kinds[] = {
		{BU_ERR_VERIFY, 1},  {BU_ERR_STATE, 1},    {BU_ERR_INVAL, 1},
		{BU_ERR_DENIED, 1},  {BU_ERR_IO, 0},       {BU_ERR_BUSY, 0},
		{BU_ERR_TIMEOUT, 0}, {BU_ERR_NOTFOUND, 0}, {BU_ERR_FOREIGN, 0},
	};
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
	bu_autojson json_t *done = quoted("{'action':'boot-network','attempt':1,"
					  "'detail':'on','kind':'ok','result':'done'}");
	bu_autojson json_t *failed =
		quoted("{'action':'boot-network','attempt':1,'detail':'no route',"
		       "'kind':'io','result':'failed'}");
	struct bu_err err;

	bu_err_set(&err, BU_ERR_IO, 0, "no route");
	for (int fails = 0; fails < 2; fails++) {
		json_t *want = fails ? failed : done;
		struct bu_event event;

		bu_outcome_event(&event, node, fails ? &err : NULL, "on");
		json_object_set_new(want, "step", json_string(node->step.id));
		json_object_set(want, "kind", json_object_get(event.body, "kind"));
		ck_assert_int_eq(json_equal(event.body, want), 1);
		ck_assert_str_eq(bu_json_str(event.body, "kind", "?"),
				 bu_err_name(fails ? BU_ERR_IO : BU_ERR_NONE));
		bu_event_fini(&event);
	}
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		err.kind = kinds[i].kind;
		ck_assert_int_eq(bu_failure_is_final(&err), kinds[i].final);
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("journal", what_may_be_asked_of_a_node,
	 a_new_rail_counts_for_those_that_validate, a_move_says_all_that_is_known_of_it,
	 facts_go_with_their_move_or_not_at_all, who_goes_on_when_a_batch_is_in,
	 what_has_stopped_begins_nothing, what_can_be_released, the_outcome_of_a_step)
