/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: an appliance with an empty or an older log takes nodes over by their
 * stamps, as they run; whoever shows a stamp that does not count is left alone, and
 * told.
 */
#include "provisioner/node/adopt.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/anchor.h"
#include "provisioner/node/anchor.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/stamp.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { EPOCH = 1700000000, VOUCH_MS = 60 * 1000, HOUR_MS = 3600 * 1000 };

/* An agent keeps this on its disk over the end of its appliance. */
struct agent {
	int number;
	char machine[65], cert[65], boot_id[40];
	json_t *settled, *stamp, *anchor;
};

static struct rig rig;

/* The agent hears the answer to a poll. */
static void
poll(struct agent *agent)
{
	const struct bu_node *node = rig_node(&rig, agent->number);
	json_t *told = bu_stamp_tell(rig.rec, node, agent->settled ? "of before" : "");

	if (told) {
		json_decref(agent->settled);
		agent->settled = told;
	}
	json_decref(agent->anchor);
	agent->anchor = bu_anchor_make(rig.fleet, rig.trust, NULL);
}

/* All that the agent of a node in service has. */
static void
settle(struct agent *agent, int number)
{
	const struct bu_node *node = rig_node(&rig, number);

	memset(agent, 0, sizeof(*agent));
	agent->number = number;
	BU_TEXT_COPY(agent->machine, node->machine);
	BU_TEXT_COPY(agent->cert, node->agent_cert);
	BU_TEXT_COPY(agent->boot_id, node->boot_id);
	agent->stamp = rig_stamp(&rig, node);
	poll(agent);
	ck_assert_ptr_nonnull(agent->settled);
}

static void
forget(struct agent *agent)
{
	json_decref(agent->settled);
	json_decref(agent->stamp);
	json_decref(agent->anchor);
}

/* As the API does with a hello; BU_ERR_NONE = it was greeted. */
static enum bu_err_kind
hello(const struct agent *agent)
{
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(agent->number, agent->boot_id);
	struct bu_node *known = bu_fleet_node_of(rig.fleet, agent->machine);
	struct bu_adopt_ask ask = {.peer = agent->machine,
				   .cert = agent->cert,
				   .node = known,
				   .settled = agent->settled,
				   .stamp = agent->stamp,
				   .inventory = inventory};
	struct bu_adoption adoption;
	struct bu_err err = {0};
	int rc;

	if (known && bu_reconcile_check_peer(rig.rec, known, agent->cert, &err) == 0)
		ask.known = 1;
	bu_adopt_judge(rig.rec, &ask, &adoption);
	bu_fence_hear(rig.rec, "an agent",
		      adoption.is == BU_ADOPT_GOOD ? adoption.node
		      : ask.known                  ? known
						   : NULL,
		      agent->anchor);
	if (adoption.is != BU_ADOPT_NOTHING)
		rc = bu_adopt_act(rig.rec, &ask, &adoption, &err);
	else if (!ask.known)
		rc = bu_err_set(&err, BU_ERR_DENIED, 0, "not known");
	else
		rc = bu_reconcile_hello(rig.rec, known, BU_WHERE_INSTALLED,
					agent->stamp, inventory, &err);
	json_decref(adoption.why);
	rig_pass(&rig, 1);
	return rc == 0 ? BU_ERR_NONE : err.kind;
}

/* node001 is in service, and its agent has what it was told. */
static void
begin(struct agent *agent)
{
	rig_begin(&rig, 1);
	rig_epoch(&rig, EPOCH, 0);
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	settle(agent, 1);
}

/* The disk of the appliance is gone. Another one has the keys and the profile. */
static void
lose_all(int64_t epoch)
{
	rig_swap_log(&rig, NULL, NULL);
	rig_epoch(&rig, epoch, 1);
	rig_revise(&rig, 1, NULL, NULL);
	rig_pass(&rig, 1);
	rig_remove(&rig, "power.log");
	rig_remove(&rig, "scontrol.log");
}

static void
open_fence(void)
{
	rig_pass(&rig, VOUCH_MS);
	rig_pass(&rig, 1001);
	ck_assert(!bu_fence_is_shut(rig.fleet));
}

/* Neither a BMC nor the cluster was told anything. */
static void
nothing_was_done(void)
{
	bu_autofree char *power = rig_read(&rig, "power.log");
	bu_autofree char *scontrol = rig_read(&rig, "scontrol.log");

	ck_assert_str_eq(power, "");
	ck_assert_str_eq(scontrol, "");
}

static void
is_as_before(const struct agent *agent)
{
	struct bu_node *node = rig_node(&rig, agent->number);
	struct bu_err err = {0};

	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_str_eq(node->machine, agent->machine);
	ck_assert_str_eq(node->boot_id, agent->boot_id);
	ck_assert_str_eq(node->agent_cert, agent->cert);
	ck_assert_str_eq(node->installed_digest, "d1");
	ck_assert(node->installed_step[0]);
	ck_assert_str_eq(node->joined->driver, "slurm");
	ck_assert(node->serves);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_msg(bu_fleet_certified(rig.fleet, node, &err) == 0, "%s", err.text);
}

static int
is_told(const char *of)
{
	bu_autojson json_t *told = bu_stamp_tell(rig.rec, rig_node(&rig, 1), of);

	return told != NULL;
}

/* Before it may run jobs, and again when something of it changes. */
START_TEST(a_stamp_is_told_before_the_join)
{
	struct bu_node *node;
	struct bu_stamp first, second;
	bu_autojson json_t *told = NULL, *again = NULL;
	struct bu_event event;

	node = rig_up_to(&rig, RIG_VALIDATING);
	rig_epoch(&rig, EPOCH, 0);
	ck_assert(!is_told(""));
	rig_certify(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_PROVEN);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	told = bu_stamp_tell(rig.rec, node, "");
	ck_assert_int_eq(bu_stamp_open(told, rig.fleet->public_pem, &first, NULL), 0);
	ck_assert_str_eq(first.state, "ready");
	ck_assert_str_eq(first.driver, "slurm");
	ck_assert_str_eq(first.boot_id, "boot-1");
	ck_assert_int_eq(first.epoch, EPOCH);
	rig_joins(&rig, node);
	ck_assert(!is_told(first.of));
	again = bu_stamp_tell(rig.rec, node, "");
	ck_assert_int_eq(bu_stamp_open(again, rig.fleet->public_pem, &second, NULL), 0);
	ck_assert_int_gt(second.seq, first.seq);
	ck_assert_str_eq(second.of, first.of);
	BU_EVENT_MAKE(&event, BU_EVENT_RENEWED, node->name, renewed,
		      .fingerprint = "another", .until_ms = INT64_MAX);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert(is_told(first.of));
	rig_end(&rig);
}
END_TEST

START_TEST(a_fresh_appliance_adopts_what_runs)
{
	struct agent agent;
	bu_autofree char *facets = NULL;

	begin(&agent);
	facets = bu_xstrdup(rig_node(&rig, 1)->facets);
	lose_all(EPOCH + 100);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_ENROLLED);
	/* Behind the fence it is known, and waits; its word opens the fence. */
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	ck_assert(bu_adopt_is_due(rig.fleet, rig_node(&rig, 1)));
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_ENROLLED);
	open_fence();
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	is_as_before(&agent);
	ck_assert_str_eq(rig_node(&rig, 1)->facets, facets);
	ck_assert_int_eq(hello(&agent), BU_ERR_NONE);
	for (int i = 0; i < 3; i++)
		rig_pass(&rig, HOUR_MS);
	is_as_before(&agent);
	rig_restart(&rig);
	is_as_before(&agent);
	nothing_was_done();
	/* The node's next stamp is of this log. */
	poll(&agent);
	ck_assert_int_eq(hello(&agent), BU_ERR_NONE);
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* Without an order, and with one that was applied before the agent was heard. */
START_TEST(an_order_does_not_come_before_the_adoption)
{
	struct agent agent;
	struct bu_node *node;

	begin(&agent);
	lose_all(EPOCH + 100);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	open_fence();
	node = rig_node(&rig, 1);
	ck_assert(node->order->open);
	bu_rollouts_kick(rig.rollouts);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 2000);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	nothing_was_done();
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	is_as_before(&agent);
	ck_assert(node->order->withdrawn);
	rig_reason_has(&node->order->reason, "adopted by its stamp");
	/* An agent that went away again keeps no order waiting for good. */
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* altered: is taken. */
static void
is_not_adopted(struct agent *agent, json_t *altered, const char *part)
{
	struct agent shows = *agent;
	bu_autofree char *words = NULL;
	struct bu_node *node;

	shows.settled = altered;
	ck_assert_int_eq(hello(&shows), BU_ERR_DENIED);
	rig_pass(&rig, VOUCH_MS + 1001);
	ck_assert_int_eq(hello(&shows), BU_ERR_DENIED);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	ck_assert(!bu_adopt_is_due(rig.fleet, node));
	ck_assert(node->conditions[BU_CONDITION_UNADOPTED].on);
	words = bu_said_text(node->conditions[BU_CONDITION_UNADOPTED].detail);
	rig_text_has(words, part);
	nothing_was_done();
	json_decref(altered);
}

START_TEST(a_stamp_that_does_not_count_is_told)
{
	struct agent agent;
	bu_autojson json_t *altered = NULL;
	char *text;

	begin(&agent);
	lose_all(EPOCH + 100);
	altered = json_copy(agent.settled);
	text = bu_xstrdup(bu_json_str(altered, "text", ""));
	text[strlen(text) / 2] ^= 1;
	json_object_set_new(altered, "text", json_string(text));
	free(text);
	is_not_adopted(&agent, json_incref(altered),
		       "does not count: the stamp was altered");
	/* Told once: another reason fills no log. */
	is_not_adopted(&agent, NULL, "the stamp was altered");
	/* The agent shows the right one: the fence has opened by a person's word. */
	{
		int64_t epoch;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_fence_take_over(rig.rec, "root", "", &epoch, &err),
				 0);
		rig_pass(&rig, 1001);
	}
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	is_as_before(&agent);
	ck_assert(!rig_node(&rig, 1)->conditions[BU_CONDITION_UNADOPTED].on);
	forget(&agent);
	rig_end(&rig);
}
END_TEST

START_TEST(no_stamp_is_told)
{
	struct agent agent;

	begin(&agent);
	lose_all(EPOCH + 100);
	is_not_adopted(&agent, NULL, "shows no stamp");
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* A stamp is of one machine and one certificate; a copy of the file is no credential.
 */
START_TEST(a_stamp_counts_only_for_its_holder)
{
	struct agent agent, thief;

	begin(&agent);
	lose_all(EPOCH + 100);
	thief = agent;
	strcpy(thief.machine, "0123456789abcdef");
	ck_assert_int_eq(hello(&thief), BU_ERR_DENIED);
	thief = agent;
	thief.cert[0] ^= 1;
	ck_assert_int_eq(hello(&thief), BU_ERR_DENIED);
	/* The machine of the profile is another one. */
	thief = agent;
	thief.number = 2;
	ck_assert_int_eq(hello(&thief), BU_ERR_DENIED);
	rig_pass(&rig, VOUCH_MS + 1001);
	ck_assert(bu_fence_is_shut(rig.fleet));
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_ENROLLED);
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

static void
person(struct bu_node *node, enum bu_verb verb)
{
	struct bu_err err = {0};
	struct bu_verb_ask ask = {.verb = verb, .by = "ann", .reason = "stolen"};
	bu_autofree char *says = bu_verb_run(rig.rec, node, &ask, &err);

	ck_assert_msg(says != NULL, "%s", err.text);
	rig_pass(&rig, 1);
}

/* Another agent knows that it was revoked, and that is not forgotten by the next
 * appliance either. */
START_TEST(what_was_revoked_is_not_adopted)
{
	struct agent thief, other;

	begin(&thief);
	rig_write(&rig, "sinfo", "");
	person(rig_node(&rig, 1), BU_VERB_RETIRE);
	rig_until(&rig, rig_node(&rig, 1), BU_STATE_RETIRED);
	other = thief;
	other.anchor = bu_anchor_make(rig.fleet, rig.trust, NULL);
	for (int i = 1; i < 3; i++) {
		lose_all(EPOCH + 100 * i);
		bu_fence_hear(rig.rec, "node002", NULL, other.anchor);
		rig_pass(&rig, 1);
		ck_assert_int_eq(hello(&thief), BU_ERR_DENIED);
		rig_pass(&rig, VOUCH_MS + 1001);
		ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_ENROLLED);
		/* By now all agents have the anchor of this log. */
		rig_restart(&rig);
		ck_assert_int_eq(hello(&thief), BU_ERR_DENIED);
		json_decref(other.anchor);
		other.anchor = bu_anchor_make(rig.fleet, rig.trust, NULL);
		ck_assert(json_object_size(json_object_get(other.anchor, "revoked")) >
			  0);
	}
	nothing_was_done();
	json_decref(other.anchor);
	forget(&thief);
	rig_end(&rig);
}
END_TEST

static void
take_over(void)
{
	struct bu_err err = {0};
	int64_t epoch;

	ck_assert_int_eq(
		bu_fence_take_over(rig.rec, "root", "all are off", &epoch, &err), 0);
	rig_pass(&rig, 1001);
}

/* An old stamp, from a machine that was off, takes no name from what this log did. */
START_TEST(what_this_log_did_since_counts_more)
{
	struct agent agent;
	struct bu_node *node;

	begin(&agent);
	lose_all(EPOCH + 100);
	take_over();
	node = rig_node(&rig, 1);
	person(node, BU_VERB_RETIRE);
	ck_assert_int_eq(hello(&agent), BU_ERR_DENIED);
	ck_assert_int_eq(node->state, BU_STATE_RETIRED);
	/* Another machine is to take its name, and has not called yet. */
	person(node, BU_VERB_REPLACE);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	bu_rollouts_kick(rig.rollouts);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	ck_assert_int_eq(hello(&agent), BU_ERR_DENIED);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_str_eq(node->machine, "");
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* A person holds the node after the new epoch began: it runs on, and waits for that
 * person. */
START_TEST(who_is_held_in_this_epoch_is_adopted_after_the_hold)
{
	struct agent agent;
	struct bu_node *node;

	begin(&agent);
	lose_all(EPOCH + 100);
	take_over();
	node = rig_node(&rig, 1);
	person(node, BU_VERB_HOLD);
	ck_assert_int_eq(hello(&agent), BU_ERR_DENIED);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_PERSON);
	person(node, BU_VERB_RELEASE);
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	is_as_before(&agent);
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* The node's machine is being switched for an order of this epoch. */
START_TEST(nobody_is_adopted_whose_machine_is_being_switched)
{
	struct agent agent;
	struct bu_node *node;

	begin(&agent);
	lose_all(EPOCH + 100);
	take_over();
	node = rig_node(&rig, 1);
	rig_write(&rig, "power.hang", "");
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	bu_rollouts_kick(rig.rollouts);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_pass(&rig, 2000);
	ck_assert(bu_effects_switch(rig.rec, node));
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	ck_assert_str_eq(node->machine, "");
	ck_assert_int_ne(node->state, BU_STATE_READY);
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* The log of a node that was being installed: what it is by now is in its stamp. */
START_TEST(an_older_log_learns_what_became_of_a_node)
{
	struct agent agent;
	struct bu_node *node;

	rig_begin(&rig, 1);
	rig_epoch(&rig, EPOCH, 0);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	rig_swap_log(&rig, "older", NULL);
	rig_swap_log(&rig, NULL, "older");
	rig_install(&rig, 1);
	rig_come_up(&rig, 1, "boot-1");
	rig_join(&rig, 1);
	settle(&agent, 1);
	rig_swap_log(&rig, NULL, "older");
	rig_epoch(&rig, EPOCH + 100, 1);
	rig_remove(&rig, "power.log");
	rig_remove(&rig, "scontrol.log");
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	rig_reason_has(&node->hold->reason, "epoch 1700000100 began");
	/* Nobody answers for a day. */
	take_over();
	for (int i = 0; i < 24; i++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	nothing_was_done();
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	is_as_before(&agent);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(hello(&agent), BU_ERR_NONE);
	for (int i = 0; i < 3; i++)
		rig_pass(&rig, HOUR_MS);
	is_as_before(&agent);
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* A later boot: nothing of a cluster was started in it, so it proves itself again. */
START_TEST(a_node_that_booted_since_proves_itself_again)
{
	struct agent agent;

	begin(&agent);
	lose_all(EPOCH + 100);
	strcpy(agent.boot_id, "boot-9");
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	open_fence();
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	ck_assert(!rig_node(&rig, 1)->serves);
	ck_assert_int_eq(hello(&agent), BU_ERR_NONE);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

/* A node that a person took out of service stays out. */
START_TEST(a_parked_node_is_adopted_as_parked)
{
	struct agent agent;
	struct bu_node *node;

	begin(&agent);
	node = rig_node(&rig, 1);
	rig_write(&rig, "sinfo", "");
	person(node, BU_VERB_DRAIN);
	rig_until(&rig, node, BU_STATE_PARKED);
	poll(&agent);
	lose_all(EPOCH + 100);
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	open_fence();
	ck_assert_int_eq(hello(&agent), BU_ERR_BUSY);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_PARKED);
	ck_assert(!node->serves);
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->state, BU_STATE_PARKED);
	nothing_was_done();
	forget(&agent);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("adopt", a_stamp_is_told_before_the_join, a_fresh_appliance_adopts_what_runs,
	 an_order_does_not_come_before_the_adoption,
	 a_stamp_that_does_not_count_is_told, no_stamp_is_told,
	 a_stamp_counts_only_for_its_holder, what_was_revoked_is_not_adopted,
	 what_this_log_did_since_counts_more,
	 who_is_held_in_this_epoch_is_adopted_after_the_hold,
	 nobody_is_adopted_whose_machine_is_being_switched,
	 an_older_log_learns_what_became_of_a_node,
	 a_node_that_booted_since_proves_itself_again,
	 a_parked_node_is_adopted_as_parked)
