/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a person finds it who asks something of it; what is answered, and which
 * rows are written for that. */
#ifndef BU_TESTS_SUPPORT_ASKED_H
#define BU_TESTS_SUPPORT_ASKED_H

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/revisions.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_node *node, fresh;
static char *power; /* as the profile has it */

static inline void
begin(void)
{
	struct bu_desired_node *want;

	rig_begin(&rig, 1);
	rig_pass(&rig, 5000);
	node = rig_node(&rig, 1);
	fresh = *node;
	bu_node_parts_copy(&fresh);
	bu_node_order(&fresh)->open = 0;
	want = &rig.fleet->desired->nodes[0];
	power = want->power;
	want->power = (char *)"redfish";
}

static inline void
end(void)
{
	bu_node_parts_fini(node);
	*node = fresh;
	bu_node_parts_copy(node);
	rig.fleet->desired->nodes[0].power = power;
	rig_end(&rig);
}

/* A system is on its disk, and its agent is heard. */
static inline void
runs(enum bu_state state)
{
	node->state = state;
	bu_node_set_installed_digest(node, "d1");
	node->boot_installed = 1;
	node->live.last_seen_ms = bu_wall_ms(&rig.clock) - BU_HEARD_MS;
}

static inline void
enrolled(void)
{
}

static inline void
imaging(void)
{
	node->state = BU_STATE_IMAGING;
}

static inline void
ready(void)
{
	runs(BU_STATE_READY);
}

static inline void
parked(void)
{
	runs(BU_STATE_PARKED);
}

static inline void
parked_and_silent(void)
{
	runs(BU_STATE_PARKED);
	node->live.last_seen_ms--;
}

static inline void
parked_in_the_ramdisk(void)
{
	runs(BU_STATE_PARKED);
	node->boot_installed = 0;
}

static inline void
parked_and_never_heard(void)
{
	runs(BU_STATE_PARKED);
	node->live.last_seen_ms = 0;
}

static inline void
validating_and_silent(void)
{
	runs(BU_STATE_VALIDATING);
	node->live.last_seen_ms--;
}

static inline void
servicing(void)
{
	runs(BU_STATE_SERVICING);
}

static inline void
hold(enum bu_owner owner, const char *by)
{
	bu_node_hold(node)->owner = owner;
	BU_TEXT_COPY(bu_node_hold(node)->by, by);
	BU_REASON_SET(&bu_node_hold(node)->reason, OTHER, .text = {"fan"});
}

static inline void
held_by_a_person(void)
{
	parked();
	hold(BU_OWNER_PERSON, "bob");
}

static inline void
held_by_bringup(void)
{
	parked();
	hold(BU_OWNER_BRINGUP, "bringup");
}

static inline void
ready_with_a_failed_agent(void)
{
	ready();
	strcpy(bu_node_agent_failed(node)->version, "2");
	strcpy(bu_node_agent_failed(node)->digest, "d2");
	bu_node_agent_failed(node)->at_ms = 7;
}

static inline void
frozen(void)
{
	ready_with_a_failed_agent();
	node->state = BU_STATE_IMAGING;
	node->live.late_ms = 7;
}

static inline void
gone(void)
{
	parked();
	node->live.in_profile = 0;
}

static inline void
order(enum bu_class class, int open)
{
	strcpy(bu_node_order(node)->rollout, "r-1");
	bu_node_order(node)->class = class;
	bu_node_order(node)->open = open;
	bu_node_order(node)->failed = !open;
	bu_node_order(node)->begun = 1;
	bu_node_order(node)->installed = 0;
	bu_node_order(node)->reset = 0;
	BU_TEXT_COPY(bu_node_order(node)->revision, rig.fleet->revision);
	if (open)
		bu_revisions_hold(rig.fleet, rig.fleet->revision);
}

static inline void
drains_for_an_order(void)
{
	runs(BU_STATE_DRAINING);
	order(BU_CLASS_REBOOT, 1);
	node->step.action = BU_ACTION_LEAVE;
}

static inline void
drains_before_its_order(void)
{
	drains_for_an_order();
	bu_node_order(node)->begun = 0;
}

static inline void
writes_its_files(void)
{
	drains_for_an_order();
	node->step.action = BU_ACTION_CONFIGURE;
	node->step.status = BU_STEP_OPEN;
}

static inline void
cannot_write_its_files(void)
{
	writes_its_files();
	node->step.status = BU_STEP_FAILED;
}

static inline void
left_and_gone(void)
{
	drains_for_an_order();
	bu_node_order(node)->open = 0;
	node->step.status = BU_STEP_DONE;
	node->live.in_profile = 0;
}

static inline void
leaves_and_gone(void)
{
	left_and_gone();
	node->step.status = BU_STEP_OPEN;
}

static inline void failed(enum bu_class class)
{
	runs(BU_STATE_FAILED);
	order(class, 0);
}

static inline void
failed_reboot(void)
{
	failed(BU_CLASS_REBOOT);
}

static inline void
failed_reboot_granted(void)
{
	failed(BU_CLASS_REBOOT);
	bu_node_order(node)->reset = 1;
}

static inline void
failed_reboot_and_silent(void)
{
	failed(BU_CLASS_REBOOT);
	node->live.last_seen_ms = 0;
}

static inline void
failed_install(void)
{
	failed(BU_CLASS_INSTALL);
}

static inline void
failed_after_its_install(void)
{
	failed(BU_CLASS_INSTALL);
	bu_node_order(node)->installed = 1;
}

static inline void
failed_while_it_was_written(void)
{
	failed_after_its_install();
	node->writing = 1;
}

static inline void
failed_reconfigure(void)
{
	failed(BU_CLASS_RECONFIGURE);
	node->state = BU_STATE_READY;
}

static inline void
failed_without_an_order(void)
{
	failed(BU_CLASS_REBOOT);
	bu_node_order(node)->failed = 0;
}

static inline void
failed_of_a_forgotten_rollout(void)
{
	failed(BU_CLASS_INSTALL);
	strcpy(bu_node_order(node)->rollout, "r-0");
}

static inline void
aborted(void)
{
	failed(BU_CLASS_INSTALL);
	bu_fleet_rollout(rig.fleet, "r-1")->state = BU_ROLLOUT_ABORTED;
}

static inline void
stopped(void)
{
	failed(BU_CLASS_INSTALL);
	bu_fleet_rollout(rig.fleet, "r-1")->state = BU_ROLLOUT_STOPPED;
}

static inline void
power_under_way(void)
{
	parked();
	bu_node_power(node)->op = BU_POWER_REQUEST_OFF;
	bu_node_power(node)->result = BU_OUTCOME_ASKED;
	strcpy(bu_node_power(node)->by, "bob");
}

static inline void
switched(void)
{
	parked();
	node->live.power_running = BU_POWER_RUN_RUNS;
}

static inline void
changing(void)
{
	parked();
	node->live.appending = 1;
}

#define ASK(verb) BU_VERB_##verb, "", 0, "fan"

/* says: what is answered, and what a dry run says where that differs; rows: what is
 * written then. Of what is refused there are no rows. */
struct asked {
	void (*be)(void);
	enum bu_verb verb;
	const char *op;
	int force;
	const char *reason;
	const char *says, *dry;
	const char *rows; /* NULL: it is refused */
};

/* Of a reason its sentence is enough. */
static inline void
say_reason(json_t *body)
{
	bu_autofree char *text =
		bu_said_text(json_object_get(body, "code") ? body : NULL);

	if (!body)
		return;
	json_object_del(body, "args");
	json_object_del(body, "code");
	json_object_set_new(body, "reason", json_string(text));
}

static inline int
on_row(const struct bu_event *event, void *arg)
{
	bu_autojson json_t *brief = json_deep_copy(event->body);
	bu_autofree char *body = NULL;

	json_object_del(brief, "from");
	if (event->kind == BU_EVENT_STATE || event->kind == BU_EVENT_HELD) {
		say_reason(brief);
		say_reason(json_object_get(brief, "next"));
	}
	body = bu_json_canonical(brief);
	for (char *c = body; *c; c++)
		*c = *c == '"' ? '\'' : *c;
	bu_text_add(arg, "\n", "%s %s", bu_event_name(event->kind), body);
	return 0;
}

/* What was written since, and nothing that follows from it; owned. */
static inline char *
rows_after(int64_t seq)
{
	char *text = bu_xstrdup("");

	rig.rec->stopped = 1;
	bu_clock_advance(&rig.clock, 1);
	while (bu_loop_step(rig.loop, 0))
		;
	rig.rec->stopped = 0;
	ck_assert_int_eq(bu_store_read(rig.store, seq, 0, on_row, &text, NULL), 0);
	return text;
}

static inline int
is_as_told(const struct asked *asked, int dry_run)
{
	const struct bu_verb_ask ask = {.verb = asked->verb,
					.by = "ann",
					.reason = asked->reason,
					.op = asked->op,
					.force = asked->force,
					.dry_run = dry_run};
	const char *wanted = dry_run && asked->dry ? asked->dry : asked->says;
	const char *rows = dry_run || !asked->rows ? "" : asked->rows;
	int64_t seq = rig.fleet->life.row_seq;
	bu_autofree char *answer = NULL, *written = NULL;
	struct bu_err err = {0};

	bu_node_parts_fini(node);
	*node = fresh;
	bu_node_parts_copy(node);
	bu_fleet_rollout(rig.fleet, "r-1")->state = BU_ROLLOUT_RUNNING;
	asked->be();
	answer = bu_verb_run(rig.rec, node, &ask, &err);
	written = rows_after(seq);
	if ((answer != NULL) == (asked->rows != NULL) &&
	    strcmp(answer ? answer : err.text, wanted) == 0 &&
	    strcmp(written, rows) == 0)
		return 1;
	printf("%s of %s%s\n%s\n%s\n", bu_verb_info(asked->verb)->name,
	       bu_state_name(node->state), dry_run ? " dry" : "",
	       answer ? answer : err.text, written);
	fflush(stdout);
	return 0;
}

static inline void
are_as_told(const struct asked *list, size_t count)
{
	int bad = 0;

	begin();
	for (size_t i = 0; i < count; i++)
		bad += !is_as_told(&list[i], 1) + !is_as_told(&list[i], 0);
	ck_assert_int_eq(bad, 0);
	end();
}

#endif
