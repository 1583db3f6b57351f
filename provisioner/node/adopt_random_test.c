/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1,000 pairs of what a node is and what a log says of it: none, or one that is older
 * by some of its life. With any of these logs a daemon starts in a later epoch, agents
 * speak or stay silent, days pass; nobody consents to anything. Nothing is switched,
 * drained, wiped or written, and each node in service whose agent speaks is in service
 * again. BRINGUP_SEED=N is another thousand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/anchor.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/stamp.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum {
	EPOCH = 1700000000,
	PAIRS = 1000,
	NODES = 8,
	LOGS = 12, /* of one history, and the empty one */
	VOUCH_MS = 60 * 1000,
	HOUR_MS = 3600 * 1000
};

/* A machine and its agent, as they are when the log is lost. */
struct machine {
	enum rig_stage stage;
	int boots;
	int parked, told; /* told: its agent has the stamp that says so */
	char peer[65], cert[65], boot_id[40];
	json_t *settled, *stamp, *anchor;
};

static struct rig rig;
static struct machine machines[NODES + 1];
static uint64_t dice;
static int pairs;

static int
roll(int sides)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((dice >> 33) % (uint64_t)sides);
}

/* --- a life --- */

static void
hear(int number)
{
	const struct bu_node *node = rig_node(&rig, number);
	struct machine *machine = &machines[number];
	json_t *told = bu_stamp_tell(rig.rec, node, "");

	if (told) {
		json_decref(machine->settled);
		machine->settled = told;
	}
	machine->told = machine->parked;
	if (machine->stage >= RIG_VALIDATING) {
		json_decref(machine->anchor);
		machine->anchor = bu_anchor_make(rig.fleet, rig.trust, NULL);
	}
}

static void
come_up(int number)
{
	struct machine *machine = &machines[number];
	struct bu_node *node = rig_node(&rig, number);

	snprintf(machine->boot_id, sizeof(machine->boot_id), "boot-%d-%d", number,
		 ++machine->boots);
	rig_come_up(&rig, number, machine->boot_id);
	BU_TEXT_COPY(machine->peer, node->machine);
	BU_TEXT_COPY(machine->cert, node->agent_cert);
	json_decref(machine->stamp);
	machine->stamp = rig_stamp(&rig, node);
	machine->stage = RIG_VALIDATING;
}

/* The stamp comes before the work. */
static void
join(int number)
{
	struct bu_node *node = rig_node(&rig, number);

	rig_certify(&rig, number);
	rig_write(&rig, "sinfo", "idle\n");
	rig_fire(&rig, node, BU_TRIGGER_PROVEN);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	hear(number);
	if (roll(4) == 0) {
		machines[number].stage = RIG_JOINING;
		return;
	}
	rig_joins(&rig, node);
	machines[number].stage = RIG_READY;
}

static void
park(int number)
{
	const struct bu_verb_ask ask = {
		.verb = BU_VERB_DRAIN, .by = "ann", .reason = ""};

	rig_write(&rig, "sinfo", "");
	free(bu_verb_run(rig.rec, rig_node(&rig, number), &ask, NULL));
	rig_until(&rig, rig_node(&rig, number), BU_STATE_PARKED);
	rig_write(&rig, "sinfo", "idle\n");
	machines[number].parked = 1;
}

static void
live_on(int number)
{
	struct machine *machine = &machines[number];

	if (machine->parked)
		return;
	switch (machine->stage) {
	case RIG_ENROLLED:
		rig_start(&rig, number);
		machine->stage = RIG_STARTED;
		return;
	case RIG_STARTED:
		rig_inspect(&rig, number);
		machine->stage = RIG_IMAGING;
		return;
	case RIG_IMAGING:
		rig_install(&rig, number);
		machine->stage = RIG_BOOTING;
		return;
	case RIG_BOOTING:
		come_up(number);
		return;
	case RIG_VALIDATING:
		join(number);
		break;
	case RIG_JOINING:
		rig_joins(&rig, rig_node(&rig, number));
		machine->stage = RIG_READY;
		break;
	case RIG_READY:
		if (roll(3) == 0)
			park(number);
		else
			come_up(number);
	}
	if (roll(3) || machine->stage < RIG_READY)
		hear(number);
}

/* --- another appliance --- */

static void
hello(int number)
{
	const struct machine *machine = &machines[number];
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(number, machine->boot_id);
	struct bu_node *known = bu_fleet_node_of(rig.fleet, machine->peer);
	struct bu_adopt_ask ask = {.peer = machine->peer,
				   .cert = machine->cert,
				   .node = known,
				   .settled = machine->settled,
				   .stamp = machine->stamp,
				   .inventory = inventory};
	struct bu_adoption adoption;

	ask.known = known &&
		    bu_reconcile_check_peer(rig.rec, known, machine->cert, NULL) == 0;
	bu_adopt_judge(rig.rec, &ask, &adoption);
	bu_fence_hear(rig.rec, "agent",
		      adoption.is == BU_ADOPT_GOOD ? adoption.node
		      : ask.known                  ? known
						   : NULL,
		      machine->anchor);
	if (adoption.is != BU_ADOPT_NOTHING)
		bu_ignore(bu_adopt_act(rig.rec, &ask, &adoption, NULL));
	else if (ask.known)
		bu_ignore(bu_reconcile_hello(rig.rec, known, BU_WHERE_INSTALLED,
					     machine->stamp, inventory, NULL));
	json_decref(adoption.why);
	rig_pass(&rig, 1);
	/* The client of the cluster runs already. */
	if (known && known->step.action == BU_ACTION_JOIN &&
	    bu_reconcile_wants_agent(known))
		rig_answer(&rig, known, NULL);
	rig_pass(&rig, 1);
}

static int
forbidden(const struct bu_event *event, void *arg)
{
	static const char *const states[] = {"inspecting", "imaging", "booting",
					     "draining"};
	const char *to = bu_json_str(event->body, "to", "");

	(void)arg;
	ck_assert_msg(event->kind != BU_EVENT_INTENT ||
			      strcmp(bu_json_str(event->body, "action", ""), "join") ==
				      0,
		      "%s: %s", event->node, bu_json_str(event->body, "action", ""));
	for (size_t i = 0; event->kind == BU_EVENT_STATE && i < BU_LEN(states); i++)
		ck_assert_msg(strcmp(to, states[i]) != 0, "%s -> %s (%s)", event->node,
			      to, bu_json_str(event->body, "on", ""));
	return 0;
}

static int
on_last(const struct bu_event *event, void *arg)
{
	*(int64_t *)arg = event->seq;
	return 0;
}

/* spoke: bits of the nodes whose agents did. */
static void
check(int64_t since, unsigned int spoke)
{
	bu_autofree char *power = rig_read(&rig, "power.log");
	bu_autofree char *scontrol = rig_read(&rig, "scontrol.log");

	ck_assert_str_eq(power, "");
	ck_assert_ptr_null(strstr(scontrol, "drain"));
	ck_assert_ptr_null(strstr(scontrol, "delete"));
	ck_assert_int_eq(bu_store_read(rig.store, since, 0, forbidden, NULL, NULL), 0);
	for (int i = 1; i <= NODES; i++) {
		const struct bu_node *node = rig_node(&rig, i);

		pairs++;
		/* An agent that was not told of the drain says what it was told. */
		if (!(spoke & 1u << i) || machines[i].stage != RIG_READY ||
		    machines[i].parked != machines[i].told)
			continue;
		ck_assert_msg(node->state == (machines[i].parked ? BU_STATE_PARKED
								 : BU_STATE_READY),
			      "%s is %s (log since %lld)", node->name,
			      bu_state_name(node->state), (long long)since);
		ck_assert_str_eq(node->boot_id, machines[i].boot_id);
	}
}

/* put: NULL = an empty log. */
static void
another(const char *put, int64_t epoch)
{
	unsigned int spoke = 0, first = 0;
	int64_t since = 0, ignored;

	rig_swap_log(&rig, "final", put);
	bu_ignore(bu_store_read_tail(rig.store, 1, on_last, &since, NULL));
	rig_epoch(&rig, epoch, 1);
	if (!put)
		rig_revise(&rig, NODES, NULL, NULL);
	rig_remove(&rig, "power.log");
	rig_remove(&rig, "scontrol.log");
	for (int i = 1; i <= NODES; i++)
		if (machines[i].stage >= RIG_VALIDATING && roll(4)) {
			spoke |= 1u << i;
			first |= (unsigned int)(roll(2) != 0) << i;
		}
	for (int i = 1; i <= NODES; i++)
		if (first & 1u << i)
			hello(i);
	rig.silent = ~spoke;
	rig_pass(&rig, VOUCH_MS + 1000);
	if (bu_fence_is_shut(rig.fleet))
		bu_ignore(bu_fence_take_over(rig.rec, "root", "", &ignored, NULL));
	rig_pass(&rig, 1001);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 1; i <= NODES; i++)
			if (spoke & 1u << i)
				hello(i);
		rig_pass(&rig, 1001);
	}
	for (int i = 0; i < 4; i++)
		rig_pass(&rig, 9 * HOUR_MS);
	check(since, spoke);
	rig.silent = 0;
	rig_swap_log(&rig, NULL, "final");
}

static void
history(void)
{
	char name[24];

	memset(machines, 0, sizeof(machines));
	rig_begin(&rig, NODES);
	rig_epoch(&rig, EPOCH, 0);
	for (int i = 0; i < LOGS; i++) {
		for (int steps = 2 + roll(8); steps > 0; steps--)
			live_on(1 + roll(NODES));
		snprintf(name, sizeof(name), "log-%d", i);
		rig_swap_log(&rig, name, NULL);
		rig_swap_log(&rig, NULL, name);
	}
	for (int i = 0; i <= LOGS && pairs < PAIRS; i++) {
		snprintf(name, sizeof(name), "log-%d", i);
		another(i < LOGS ? name : NULL, EPOCH + 1000 * (i + 1));
	}
	for (int i = 1; i <= NODES; i++) {
		json_decref(machines[i].settled);
		json_decref(machines[i].stamp);
		json_decref(machines[i].anchor);
	}
	rig_end(&rig);
}

START_TEST(no_log_harms_what_runs)
{
	const char *seed = getenv("BRINGUP_SEED");

	dice = seed ? strtoull(seed, NULL, 10) : 1;
	while (pairs < PAIRS)
		history();
	printf("%d pairs of a node and a log\n", pairs);
}
END_TEST

RIG_UNIT("adopt_random", no_log_harms_what_runs)
