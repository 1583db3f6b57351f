/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the lifecycle hold nothing that nothing fires. Each scene brings a node
 * to a state and lets the daemon go on from there: agents speak, time passes, people
 * ask, the gate looks. What the daemon itself then writes to the log is counted.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/stamp.h"
#include "provisioner/node/verbs.h"
#include "provisioner/rollout/rollout.h"
#include "tests/support/roots.h"
#include "tests/support/unit.h"

enum { TURNS = 3000, EDGES_MAX = 160 };

static struct rig rig;
static struct bu_node *node;
static int64_t counted_from;
static int fired[EDGES_MAX];
static int speaks; /* its agent asks for work now and then */

/* --- the count --- */

static int
on_last(const struct bu_event *event, void *arg)
{
	*(int64_t *)arg = event->seq;
	return 0;
}

static int
on_event(const struct bu_event *event, void *arg)
{
	size_t count;
	const struct bu_edge *edges = bu_lifecycle_edges(&count);
	int found = 0;

	if (event->kind != BU_EVENT_STATE)
		return 0;
	for (size_t i = 0; i < count; i++) {
		int is = strcmp(bu_state_name(edges[i].from),
				bu_json_str(event->body, "from", "")) == 0 &&
			 strcmp(bu_trigger_name(edges[i].on),
				bu_json_str(event->body, "on", "")) == 0 &&
			 strcmp(bu_state_name(edges[i].to),
				bu_json_str(event->body, "to", "")) == 0;

		fired[i] += is;
		found += is;
	}
	ck_assert_int_eq(found, 1); /* the log has no other edges */
	return 0;
}

/* --- the stage --- */

static void
count_from_here(void)
{
	node = rig_node(&rig, 1);
	counted_from = 0;
	ck_assert_int_eq(bu_store_read_tail(rig.store, 1, on_last, &counted_from, NULL),
			 0);
}

static void
from(enum rig_stage stage)
{
	rig_up_to(&rig, stage);
	count_from_here();
}

static void
done(void)
{
	ck_assert_int_eq(
		bu_store_read(rig.store, counted_from, 0, on_event, NULL, NULL), 0);
	rig_end(&rig);
}

/* The scene's end: it is there by itself. */
static void
until(enum bu_state state)
{
	for (int i = 0; i < TURNS && (node->state != state || node->live.appending);
	     i++) {
		if (speaks)
			node->live.last_seen_ms = bu_wall_ms(&rig.clock);
		rig_pass(&rig, 1000);
	}
	ck_assert_msg(node->state == state, "%s (%s), not %s",
		      bu_state_name(node->state), rig_said(node->reason),
		      bu_state_name(state));
}

static void
verb(enum bu_verb verb)
{
	const struct bu_verb_ask ask = {.verb = verb, .by = "ann", .reason = ""};
	struct bu_err err = {0};
	bu_autofree char *text = bu_verb_run(rig.rec, node, &ask, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	rig_pass(&rig, 1);
}

static void
hello(const char *boot_id, int stamped)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	bu_autojson json_t *stamp = stamped ? rig_stamp(&rig, node) : NULL;

	bu_ignore(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
				     inventory, NULL));
	rig_pass(&rig, 1);
}

static void
answer(enum bu_err_kind kind)
{
	struct bu_err failure;

	bu_err_set(&failure, kind, 0, "it did not work");
	rig_answer(&rig, node, kind ? &failure : NULL);
	rig_pass(&rig, 1);
}

static void
turn(void)
{
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_pass(&rig, 1);
}

/* Its jobs have ended, or have not. */
static void
slurm_says(const char *word)
{
	rig_write(&rig, "sinfo", word);
}

/* --- scenes --- */

static void
a_whole_life(void)
{
	from(RIG_ENROLLED);
	turn();
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_inspect(&rig, 1);
	rig_install(&rig, 1);
	rig_come_up(&rig, 1, "boot-1");
	rig_check(&rig, 1);
	rig_certify(&rig, 1);
	rig_open_gate(&rig);
	speaks = 1;
	until(BU_STATE_JOINING);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	slurm_says("idle\n");
	answer(BU_ERR_NONE);
	until(BU_STATE_READY);
	/* its cluster forgets it, it restarts, its cluster forgets it while it joins */
	slurm_says("");
	until(BU_STATE_JOINING);
	hello("boot-2", 1);
	until(BU_STATE_VALIDATING);
	hello("boot-3", 1);
	speaks = 0;
	done();
}

/* A device comes late: while it joins, or while it serves until it is to join again. */
static void
its_hardware_changes(void)
{
	static const enum rig_stage rows[] = {RIG_JOINING, RIG_READY};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autoinventory struct bu_inventory *inventory =
			rig_inventory(1, "boot-1");
		bu_autojson json_t *stamp = NULL;

		from(rows[i]);
		stamp = rig_stamp(&rig, node);
		inventory->rdma = bu_xcalloc(1, sizeof(*inventory->rdma));
		inventory->rdma_count = 1;
		slurm_says("");
		bu_ignore(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					     inventory, NULL));
		until(BU_STATE_VALIDATING);
		done();
	}
}

static void
another_machine_than_ordered(void)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "disk = smallest\nnics = 2\n",
		  "disk = smallest\nnics = 3\n");
	count_from_here();
	turn();
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	until(BU_STATE_QUARANTINED);
	done();
}

static void
nobody_boots(void)
{
	from(RIG_STARTED);
	until(BU_STATE_FAILED);
	done();
	from(RIG_ENROLLED);
	rig_write(&rig, "power.refuse", "no sockets");
	turn();
	until(BU_STATE_FAILED);
	done();
	from(RIG_BOOTING);
	until(BU_STATE_FAILED);
	done();
	from(RIG_BOOTING);
	hello("boot-of-another", 0);
	until(BU_STATE_FAILED);
	done();
}

static void
nobody_writes(void)
{
	from(RIG_IMAGING);
	for (int i = 0; i < 2; i++) {
		until(BU_STATE_INSPECTING);
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
		rig_inspect(&rig, 1);
	}
	until(BU_STATE_FAILED);
	done();
	from(RIG_IMAGING);
	answer(BU_ERR_VERIFY);
	until(BU_STATE_FAILED);
	done();
}

static void
nobody_measures(void)
{
	from(RIG_VALIDATING);
	for (int i = 0; i < 2; i++) {
		bu_autofree char *boot_id = bu_xasprintf("boot-late-%d", i);

		until(BU_STATE_BOOTING);
		rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
		rig_come_up(&rig, 1, boot_id);
	}
	until(BU_STATE_FAILED);
	done();
}

static void
of_orders(void)
{
	static const struct {
		enum bu_class class;
		int writes;
	} rows[] = {{BU_CLASS_WIPE, 0}, {BU_CLASS_REBOOT, 1}, {BU_CLASS_RESTART, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		from(RIG_READY);
		rig_apply(&rig, 1, rows[i].class, "d1", NULL, NULL);
		slurm_says("");
		turn();
		if (rows[i].writes) {
			rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
			answer(BU_ERR_NONE);
		}
		until(rows[i].class == BU_CLASS_WIPE     ? BU_STATE_INSPECTING
		      : rows[i].class == BU_CLASS_REBOOT ? BU_STATE_BOOTING
							 : BU_STATE_JOINING);
		if (rows[i].class == BU_CLASS_WIPE) {
			ck_assert_int_eq(
				bu_rollouts_abort(rig.rollouts, "r-1", "ann", NULL), 0);
			until(BU_STATE_BOOTING);
		}
		done();
	}
	from(RIG_STARTED);
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, "r-1", "ann", NULL), 0);
	until(BU_STATE_ENROLLED);
	done();
}

/* Of a node in its cluster: each verb, and where it ends. */
static void
out_of_the_cluster(void)
{
	static const struct {
		enum bu_verb verb;
		enum bu_state to;
	} rows[] = {
		{BU_VERB_DRAIN, BU_STATE_PARKED},
		{BU_VERB_SERVICE, BU_STATE_SERVICING},
		{BU_VERB_VALIDATE, BU_STATE_VALIDATING},
		{BU_VERB_REBOOT, BU_STATE_BOOTING},
		{BU_VERB_REPLACE, BU_STATE_ENROLLED},
		{BU_VERB_RETIRE, BU_STATE_RETIRED},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		from(RIG_READY);
		slurm_says("draining\n");
		verb(BU_VERB_DRAIN);
		verb(rows[i].verb);
		slurm_says("");
		until(rows[i].to);
		done();
	}
	from(RIG_JOINING);
	verb(BU_VERB_DRAIN);
	until(BU_STATE_PARKED);
	done();
}

static void
while_it_drains(void)
{
	from(RIG_READY);
	slurm_says("draining\n");
	verb(BU_VERB_DRAIN);
	verb(BU_VERB_RESUME);
	until(BU_STATE_JOINING);
	verb(BU_VERB_DRAIN);
	hello("boot-while", 1);
	until(BU_STATE_DRAINING);
	done();
	from(RIG_READY);
	hello("boot-by-itself", 1);
	until(BU_STATE_VALIDATING);
	done();
}

/* --- of a node that is out of its cluster --- */

/* By the same ways as ever; the agent of its system is heard, or not. */
static void
rest_in(enum bu_state state, int heard)
{
	from(state == BU_STATE_FAILED ? RIG_BOOTING : RIG_VALIDATING);
	if (state == BU_STATE_FAILED) {
		hello("boot-of-another", 0);
	} else if (state == BU_STATE_QUARANTINED) {
		rig_open_gate(&rig);
		ck_assert_int_eq(
			bu_gate_external(rig.gate, node,
					 &(struct bu_external){"dcgm", "fail",
							       "a GPU fell off", 0},
					 NULL),
			0);
	} else if (state != BU_STATE_VALIDATING) {
		verb(state == BU_STATE_PARKED ? BU_VERB_DRAIN : BU_VERB_SERVICE);
	}
	until(state);
	if (heard) {
		hello("boot-1", 1);
		node->live.last_seen_ms = bu_wall_ms(&rig.clock);
	}
}

static void
back_from(enum bu_state state)
{
	static const struct {
		enum bu_verb verb;
		int heard;
		enum bu_state to;
	} rows[] = {
		{BU_VERB_VALIDATE, 1, BU_STATE_VALIDATING},
		{BU_VERB_RESUME, 1, BU_STATE_VALIDATING},
		{BU_VERB_RELEASE, 1, BU_STATE_VALIDATING},
		{BU_VERB_RELEASE, 0, BU_STATE_BOOTING},
		{BU_VERB_REBOOT, 0, BU_STATE_BOOTING},
		{BU_VERB_SERVICE, 0, BU_STATE_SERVICING},
		{BU_VERB_DRAIN, 0, BU_STATE_PARKED},
		{BU_VERB_REPLACE, 0, BU_STATE_ENROLLED},
		{BU_VERB_RETIRE, 0, BU_STATE_RETIRED},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		if (!bu_verb_takes(rows[i].verb, state))
			continue;
		rest_in(state, rows[i].heard);
		verb(rows[i].verb);
		until(rows[i].to);
		done();
	}
}

static void
installed_anew(enum bu_state state)
{
	rest_in(state, 0);
	rig_apply(&rig, 1, BU_CLASS_WIPE, "d2", NULL, NULL);
	turn();
	until(BU_STATE_INSPECTING);
	done();
}

static void
given_up(enum rig_stage stage)
{
	from(stage);
	verb(BU_VERB_RETIRE);
	until(BU_STATE_RETIRED);
	verb(BU_VERB_REPLACE);
	until(BU_STATE_ENROLLED);
	done();
	if (stage == RIG_ENROLLED)
		return;
	from(stage);
	verb(BU_VERB_REPLACE);
	until(BU_STATE_ENROLLED);
	done();
	if (stage != RIG_BOOTING)
		return;
	from(stage);
	verb(BU_VERB_DRAIN);
	done();
	from(stage);
	verb(BU_VERB_SERVICE);
	done();
}

static void
in_ramdisk(void)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-ram");
	struct bu_err err = {0};

	ck_assert_msg(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL,
					 inventory, &err) == 0,
		      "%s", err.text);
	until(BU_STATE_BOOTING);
	done();
}

/* Its system runs from memory: at its first boot, and when it boots again by itself. */
static void
from_memory(void)
{
	static const enum rig_stage stages[] = {RIG_VALIDATING, RIG_JOINING, RIG_READY};
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-ram");
	struct bu_event event;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "power = libvirt\n",
		  "power = libvirt\nroot = ram\n");
	rig_start(&rig, 1);
	count_from_here();
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&rig, 1);
	in_ramdisk();
	for (size_t i = 0; i < BU_LEN(stages); i++) {
		from(stages[i]);
		BU_EVENT_MAKE(&event, BU_EVENT_INSTALLED, node->name, installed,
			      .step = node->installed_step, .image = "debian12",
			      .digest = "d1", .ram = 1);
		bu_reconcile_note(rig.rec, &event, 1);
		rig_pass(&rig, 1);
		in_ramdisk();
	}
}

/* Its loader goes back to its other root before the new one is confirmed. */
static void
goes_back(void)
{
	ordered(&rig, "a");
	writes(&rig, "b", 1);
	rig_come_up(&rig, 1, "boot-2");
	count_from_here();
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", NULL), 0);
	until(BU_STATE_FAILED);
	done();
}

/* The appliance is lost while the node is in service, or parked. */
static void
is_adopted(enum bu_state state)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autojson json_t *stamp = NULL, *settled = NULL;
	struct bu_adopt_ask ask = {.inventory = inventory};
	struct bu_adoption adoption;
	struct bu_stamp shown;

	from(RIG_READY);
	rig_epoch(&rig, 7, 0);
	ask.stamp = stamp = rig_stamp(&rig, node);
	slurm_says("");
	if (state == BU_STATE_PARKED)
		verb(BU_VERB_DRAIN);
	until(state);
	ask.settled = settled = bu_stamp_tell(rig.rec, node, "");
	rig_swap_log(&rig, NULL, NULL);
	rig_epoch(&rig, 8, 0);
	rig_revise(&rig, 1, NULL, NULL);
	count_from_here();
	ck_assert_int_eq(bu_stamp_read(settled, &shown, NULL), 0);
	ask.peer = shown.machine;
	ask.cert = shown.cert;
	bu_adopt_judge(rig.rec, &ask, &adoption);
	ck_assert_int_eq(bu_adopt_act(rig.rec, &ask, &adoption, NULL), -1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, state);
	done();
}

START_TEST(each_edge_is_reached_by_the_daemon_itself)
{
	static const enum bu_state rests[] = {BU_STATE_PARKED, BU_STATE_SERVICING,
					      BU_STATE_QUARANTINED, BU_STATE_FAILED};
	size_t count, missing = 0;
	const struct bu_edge *edges = bu_lifecycle_edges(&count);

	ck_assert_uint_le(count, EDGES_MAX);
	a_whole_life();
	its_hardware_changes();
	another_machine_than_ordered();
	nobody_boots();
	nobody_writes();
	nobody_measures();
	from_memory();
	goes_back();
	of_orders();
	out_of_the_cluster();
	while_it_drains();
	back_from(BU_STATE_VALIDATING);
	for (size_t i = 0; i < BU_LEN(rests); i++) {
		back_from(rests[i]);
		if (rests[i] != BU_STATE_SERVICING)
			installed_anew(rests[i]);
	}
	given_up(RIG_ENROLLED);
	given_up(RIG_STARTED);
	given_up(RIG_IMAGING);
	given_up(RIG_BOOTING);
	is_adopted(BU_STATE_READY);
	is_adopted(BU_STATE_PARKED);
	for (size_t i = 0; i < count; i++) {
		if (fired[i])
			continue;
		missing++;
		fprintf(stderr, "nothing fires %s -%s-> %s\n",
			bu_state_name(edges[i].from), bu_trigger_name(edges[i].on),
			bu_state_name(edges[i].to));
	}
	ck_assert_uint_eq(missing, 0);
}
END_TEST

/* With the edges all triggers and states are reached: none stands beside them. */
START_TEST(no_trigger_and_no_state_is_without_an_edge)
{
	size_t count;
	const struct bu_edge *edges = bu_lifecycle_edges(&count);

	for (int on = 0; on < BU_TRIGGER_COUNT; on++) {
		int used = 0;

		for (size_t i = 0; i < count; i++)
			used += edges[i].on == (enum bu_trigger)on;
		ck_assert_msg(used, "%s", bu_trigger_name((enum bu_trigger)on));
	}
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		int entered = 0, left = 0;

		for (size_t i = 0; i < count; i++) {
			entered += edges[i].to == (enum bu_state)state;
			left += edges[i].from == (enum bu_state)state;
		}
		ck_assert_msg(entered && left, "%s",
			      bu_state_name((enum bu_state)state));
	}
}
END_TEST

RIG_UNIT("edges", each_edge_is_reached_by_the_daemon_itself,
	 no_trigger_and_no_state_is_without_an_edge)
