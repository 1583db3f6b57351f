/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A site of 1,000 nodes whose profile people edit: one typo or one changed key at a
 * time, at random. Each edit goes through the real loader, plan, rollout, reconcile and
 * log; only machines, power, cluster and gate are made up, and some of them fail.
 * Whatever is edited and whoever fails, no more nodes of a pool are out of service
 * because of a rollout than its limits say, and nothing is done to a node that is worse
 * than what its plan said and a grant allowed.
 *
 * BRINGUP_SEED=N repeats a run, BRINGUP_EDITS=N makes it longer.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "profiles/export/facets.h"
#include "provisioner/plan/plan.h"
#include "provisioner/rollout/rollout.h"
#include "tests/support/consent.h"
#include "tests/support/edits.h"
#include "tests/support/edits_paper.h"
#include "tests/support/profiles.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

/* Two ticks are more than any boot may take, its second of POST included. */
enum { SEED = 1, EDITS = 150, TICK_MS = 151 * 1000, TICKS = 45 };

/* --- the machines --- */

static void
state_event(struct bu_event *ret, const char *node, const char *to, const char *on)
{
	row_init(ret, BU_EVENT_STATE, node, json_pack("{s:s,s:s}", "to", to, "on", on));
}

static void
agent_step(struct bu_node *node, enum fate fate)
{
	struct bu_err err;
	int fails;

	may_do(node->step.action, node->name);
	if (fate == MUTE)
		return;
	fails = node->step.action == BU_ACTION_INSTALL ? fate == BAD_DISK
						       : fate == NO_CONFIG;
	bu_err_set(&err, BU_ERR_VERIFY, 0, "%s",
		   node->step.action == BU_ACTION_INSTALL ? "the disk is broken"
							  : "rolled back");
	bu_reconcile_result(sim.rec, node, node->step.id, node->step.attempt,
			    fails ? &err : NULL);
}

static void
live(struct bu_node *node, const struct fact *fact)
{
	struct bu_event events[EDITS_JOIN];

	if (node->live.appending || random_below(4) == 0)
		return;
	if (bu_reconcile_wants_agent(node)) {
		agent_step(node, fact->fate);
	} else if (node->state == BU_STATE_INSPECTING && fact->fate != MUTE &&
		   node->step.status == BU_STEP_DONE) {
		ck_assert_int_eq(bu_reconcile_fire(sim.rec, node, BU_TRIGGER_INSPECTED,
						   NULL, NULL),
				 0);
	} else if (node->state == BU_STATE_BOOTING && fact->fate != MUTE &&
		   node->step.status == BU_STEP_DONE) {
		ck_assert_int_eq(
			bu_reconcile_fire(sim.rec, node, BU_TRIGGER_BOOTED, NULL, NULL),
			0);
	} else if (node->state == BU_STATE_VALIDATING) { /* the gate and the cluster */
		if (fact->fate == SLOW)
			ck_assert_int_eq(bu_reconcile_fire(sim.rec, node,
							   BU_TRIGGER_ACCUSED, NULL,
							   NULL),
					 0);
		else {
			edits_join(events, node->name);
			bu_reconcile_note(sim.rec, events, EDITS_JOIN);
		}
	}
}

static void
turn_loop(int times)
{
	for (int i = 0; i < times; i++) {
		for (size_t k = 0; k < sim.fleet->count; k++)
			bu_reconcile_heard(sim.rec, sim.fleet->nodes[k]);
		bu_clock_advance(&sim.clock, 1);
		bu_loop_step(sim.loop, 0);
	}
}

/* --- what must hold at every moment --- */

static const struct bu_desired_pool *
pool_of(const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(sim.fleet, node);

	return want ? want->pool : NULL;
}

static void
check_out(struct bu_node *node, struct fact *fact)
{
	const struct bu_order *order = node->order;
	const struct bu_desired_pool *pool = pool_of(node);
	int out = fact->served &&
		  (node->state != BU_STATE_READY ||
		   (order->open && order->begun && order->class > BU_CLASS_RELABEL));
	size_t index;

	if (!pool || out == fact->out)
		return;
	index = (size_t)(pool - sim.fleet->desired->pools);
	fact->out = out;
	sim.out[index] += out ? 1 : -1;
	if (sim.out[index] > sim.worst)
		sim.worst = sim.out[index];
	ck_assert_msg(sim.out[index] <= pool->canary + pool->max_unavailable,
		      "pool %s: %d are out of service, canary is %d, max_unavailable "
		      "%d",
		      pool->name, sim.out[index], pool->canary, pool->max_unavailable);
}

/* Before the canaries are done nobody else of those in service has a turn. */
static void
check_canaries(const struct bu_desired_pool *pool)
{
	int begun = 0, proven = 0;

	for (size_t i = 0; i < sim.fleet->count; i++) {
		const struct bu_node *node = sim.fleet->nodes[i];
		const struct bu_order *order = node->order;

		if (!order->begun || !order->served ||
		    order->class <= BU_CLASS_RELABEL || pool_of(node) != pool ||
		    strcmp(order->rollout, sim.rollout) != 0)
			continue;
		begun++;
		proven += !order->open && !order->failed;
	}
	ck_assert_msg(proven >= pool->canary || begun <= pool->canary,
		      "pool %s: %d have begun, and of %d canaries %d are done",
		      pool->name, begun, pool->canary, proven);
}

static void
check_begun(const struct bu_node *node, struct fact *fact)
{
	const struct bu_rollout *rollout = bu_fleet_rollout(sim.fleet, sim.rollout);

	if (!node->order->begun || fact->begun ||
	    strcmp(node->order->rollout, sim.rollout) != 0)
		return;
	fact->begun = 1;
	sim.begun++;
	sim.by_class[node->order->class]++;
	if (fact->served && pool_of(node))
		check_canaries(pool_of(node));
	ck_assert_msg(rollout->state == BU_ROLLOUT_RUNNING ||
			      rollout->state == BU_ROLLOUT_DONE,
		      "%s is begun by a rollout that is %s", node->name,
		      bu_rollout_state_name(rollout->state));
}

static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	if (node && sim.facts) {
		check_out(node, fact_of(node->name));
		check_begun(node, fact_of(node->name));
	}
	bu_rollouts_kick(sim.rollouts);
}

/* --- one edit, from the text to the end of its rollout --- */

static const struct bu_plan_image *
image_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	static struct bu_plan_image found;

	snprintf(found.digest, sizeof(found.digest), "digest-of-%s", image->name);
	return &found;
}

static json_t *
facets_of(void *arg, const char *digest)
{
	bu_autofree char *text = bu_store_get_blob(sim.store, digest, NULL);

	return text ? bu_json_parse(text, strlen(text), "facets", NULL) : NULL;
}

static enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *path)
{
	return BU_PLAN_DISK_UNKNOWN;
}

static double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	return bu_fleet_minutes(sim.fleet, pool, class);
}

/* As the API does when it keeps a plan. */
static void
keep_facets(const struct bu_desired *desired, const json_t *plan)
{
	size_t i;
	json_t *step;

	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		bu_autojson json_t *facets = bu_facets_json(
			desired,
			bu_desired_node(desired, bu_json_str(step, "node", "")));
		bu_autofree char *text = bu_json_canonical(facets);
		char digest[BU_DIGEST_SIZE];

		ck_assert_int_eq(bu_store_put_blob(sim.store, text, digest, NULL), 0);
		ck_assert_str_eq(digest, bu_json_str(step, "facets", ""));
	}
}

static json_t *
plan_of(const struct bu_desired *desired)
{
	struct bu_plan_input input = {
		.desired = desired,
		.applied = sim.fleet->desired,
		.revision = desired->digest,
		.base = sim.fleet->revision,
		.commit = "",
		.nodes = sim.fleet->nodes,
		.count = sim.fleet->count,
		.image = image_of,
		.facets = facets_of,
		.disk = disk_of,
		.minutes = minutes_of,
	};
	struct bu_err err;
	json_t *plan = bu_plan_make(&input, &err);

	ck_assert_msg(plan != NULL, "%s", err.text);
	return plan;
}

/* Nothing, one class for all, or a wipe of some. What each node was granted is noted
 * from the same dice, not from what the rollout reads. */
static json_t *
roll_grants(const json_t *plan, enum bu_class *granted)
{
	const json_t *steps = json_object_get(plan, "steps");
	unsigned int dice = random_below(8);
	bu_autofree char *names = bu_xstrdup("none");
	size_t i;
	json_t *step;

	if (dice < 2)
		return json_array();
	json_array_foreach (steps, i, step) {
		granted[i] = dice < 6 ? BU_CLASS_WIPE : BU_CLASS_REIMAGE;
		if (dice == 5 && random_below(2)) {
			granted[i] = BU_CLASS_NONE;
		} else if (dice == 5) {
			bu_autofree char *old = names;

			names = bu_xasprintf("%s,%s", old,
					     bu_json_str(step, "node", ""));
		}
	}
	if (dice == 5)
		return json_pack("[{s:s,s:s}]", "class", "wipe", "nodes", names);
	return json_pack("[{s:s}]", "class", dice < 6 ? "wipe" : "reimage");
}

static void
note_facts(const json_t *plan, const enum bu_class *granted)
{
	unsigned int percent = (unsigned int[]){0, 3, 30, 100}[random_below(4)];
	size_t i;
	json_t *step;

	free(sim.facts);
	sim.facts = bu_xcalloc(sim.fleet->count, sizeof(*sim.facts));
	memset(sim.out, 0, sizeof(sim.out));
	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		const char *name = bu_json_str(step, "node", "");
		const struct bu_node *node = bu_fleet_node(sim.fleet, name);
		struct fact *fact = fact_of(name);

		fact->planned = bu_class_from_name(bu_json_str(step, "class", ""));
		fact->granted = granted[i];
		fact->served = node->state == BU_STATE_READY;
		fact->had_data = node->installed_digest[0] != '\0';
		if (random_below(100) < percent)
			fact->fate = 1 + random_below(FATES - 1);
	}
}

static void
run_rollout(const json_t *plan)
{
	const struct bu_rollout *rollout;
	int over = 0;

	for (int tick = 0; tick < TICKS && !over; tick++) {
		size_t i;
		json_t *step;

		end_ops();
		json_array_foreach (json_object_get(plan, "steps"), i, step) {
			const char *name = bu_json_str(step, "node", "");

			live(bu_fleet_node(sim.fleet, name), fact_of(name));
		}
		turn_loop(3);
		bu_clock_advance(&sim.clock, TICK_MS);
		turn_loop(3);
		rollout = bu_fleet_rollout(sim.fleet, sim.rollout);
		over = rollout->ended_ms != 0;
		if (rollout->state == BU_ROLLOUT_STOPPED && tick < TICKS - 6)
			tick = TICKS - 6; /* and see that nothing more is begun */
	}
	rollout = bu_fleet_rollout(sim.fleet, sim.rollout);
	sim.stopped += rollout->state == BU_ROLLOUT_STOPPED;
	sim.done += rollout->state == BU_ROLLOUT_DONE;
	if (!rollout->ended_ms)
		ck_assert_int_eq(
			bu_rollouts_abort(sim.rollouts, sim.rollout, "me", NULL), 0);
	turn_loop(3);
}

/* 0 when there was nothing to do. */
static int
apply(const struct bu_desired *desired)
{
	bu_autojson json_t *plan = plan_of(desired), *grants = NULL;
	size_t count = json_array_size(json_object_get(plan, "steps"));
	bu_autofree enum bu_class *granted = bu_xcalloc(count + 1, sizeof(*granted));
	size_t before = sim.fleet->rollouts_count;
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	if (count == 0) {
		sim.empty++;
		return 0;
	}
	grants = roll_grants(plan, granted);
	bu_json_digest(plan, digest);
	if (consent_apply(sim.rollouts, plan, digest, grants, sim.rollout, &err) != 0) {
		ck_assert_msg(err.kind == BU_ERR_DENIED, "%s", err.text);
		turn_loop(3);
		ck_assert_uint_eq(sim.fleet->rollouts_count, before);
		sim.denied++;
		return 1;
	}
	keep_facets(desired, plan);
	sim.applied++;
	free(sim.facts);
	sim.facts = NULL;
	note_facts(plan, granted);
	turn_loop(2);
	run_rollout(plan);
	return 1;
}

/* --- the site --- */

static struct bu_desired *
load(const char *site, const char *racks)
{
	struct bu_findings findings = {0};
	struct bu_tree *tree =
		bu_testing_tree("site.ini", site, "racks.csv", racks, NULL);
	struct bu_desired *desired = bu_profiles_load(tree, &findings);
	bu_autojson json_t *value = desired ? bu_tree_to_json(tree) : NULL;
	bu_autofree char *text = desired ? bu_json_canonical(value) : NULL;
	char digest[BU_DIGEST_SIZE];

	if (desired)
		ck_assert_int_eq(bu_store_put_blob(sim.store, text, digest, NULL), 0);
	ck_assert_msg(desired || findings.count, "refused without a word");
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

/* Who is under way ends there, and who was called back and is still on its way. */
static void
fail_open(void)
{
	bu_autofree struct bu_event *events =
		bu_xcalloc(sim.fleet->count * 2 + 1, sizeof(*events));
	size_t count = 0;

	for (size_t i = 0; i < sim.fleet->count; i++) {
		const struct bu_node *node = sim.fleet->nodes[i];

		if (node->hold->owner)
			row_init(&events[count++], BU_EVENT_RELEASED, node->name,
				 json_object());
		if (node->order->open || node->state == BU_STATE_BOOTING)
			row_init(&events[count++], BU_EVENT_STATE, node->name,
				 json_pack("{s:s,s:s}", "to", "failed", "on", "fault"));
	}
	bu_reconcile_note(sim.rec, events, count);
	turn_loop(3);
}

/* Whatever the profile wants is done, by an order that is granted all: the next edit
 * finds a site in service. */
static void
mend(const struct bu_desired *desired)
{
	bu_autojson json_t *grants = json_pack("[{s:s}]", "class", "wipe");
	bu_autofree struct bu_event *events = NULL;
	bu_autojson json_t *plan = NULL;
	const json_t *steps;
	size_t total, count = 0, i;
	char digest[BU_DIGEST_SIZE];
	json_t *step;

	fail_open();
	plan = plan_of(desired);
	steps = json_object_get(plan, "steps");
	total = json_array_size(steps);
	if (!total)
		return;
	keep_facets(desired, plan);
	events = bu_xcalloc(total * (3 + EDITS_JOIN), sizeof(*events));
	bu_json_digest(plan, digest);
	ck_assert_int_eq(
		consent_apply(sim.rollouts, plan, digest, grants, sim.rollout, NULL),
		0);
	json_array_foreach (steps, i, step) {
		const char *name = bu_json_str(step, "node", "");

		state_event(&events[count++], name, "inspecting", "start");
		row_init(&events[count++], BU_EVENT_INTENT, name,
			 json_pack("{s:s,s:s}", "step", name, "action", "install"));
		row_init(&events[count++], BU_EVENT_INSTALLED, name,
			 json_pack("{s:s,s:s}", "image", bu_json_str(step, "image", ""),
				   "digest", bu_json_str(step, "digest", "")));
		edits_join(&events[count], name);
		count += EDITS_JOIN;
	}
	bu_reconcile_note(sim.rec, events, count);
	turn_loop(3);
	ck_assert_int_eq(bu_fleet_rollout(sim.fleet, sim.rollout)->done, (int)total);
}

static void
open_site(void)
{
	struct bu_reconcile_opts opts = {.fleet = NULL};
	struct bu_desired *desired;

	sim.loop = bu_loop_create(&sim.clock);
	sim.store = bu_store_open_sqlite(sim.loop, ":memory:", NULL);
	edits_world = sim.fleet = bu_fleet_create(sim.loop, sim.store);
	ck_assert_int_eq(bu_fleet_load(sim.fleet, NULL), 0);
	opts.fleet = sim.fleet;
	sim.rec = bu_reconcile_create(&opts);
	sim.rollouts = bu_rollouts_create(sim.fleet, sim.rec);
	sim.site = edits_site();
	sim.racks = edits_racks();
	desired = load(sim.site, sim.racks);
	ck_assert_ptr_nonnull(desired);
	mend(desired);
	bu_desired_destroy(desired);
	ck_assert_uint_eq(sim.fleet->count, EDITS_NODES);
	bu_fleet_watch(sim.fleet, on_change, NULL);
	bu_reconcile_start(sim.rec);
}

static void
close_site(void)
{
	bu_reconcile_stop(sim.rec);
	bu_rollouts_destroy(sim.rollouts);
	bu_store_destroy(sim.store);
	bu_reconcile_destroy(sim.rec);
	bu_fleet_destroy(sim.fleet);
	bu_loop_destroy(sim.loop);
	while (sim.ops) {
		struct op *op = sim.ops;

		sim.ops = op->next;
		free(op);
	}
	free(sim.site);
	free(sim.racks);
	free(sim.facts);
	sim.facts = NULL;
}

static void
edit(void)
{
	bu_autofree char *text = NULL;
	unsigned int dice = random_below(10);
	struct bu_desired *desired;

	/* of ten edits, six change a key, three have a typo in the profile, one has it
	 * in the inventory */
	if (dice < 6)
		text = edits_change(&sim.seed, sim.site);
	else
		text = edits_typo(&sim.seed, dice < 9 ? sim.site : sim.racks);
	desired = dice < 9 ? load(text, sim.racks) : load(sim.site, text);
	if (!desired) {
		sim.refused++;
		return;
	}
	free(dice < 9 ? sim.site : sim.racks);
	*(dice < 9 ? &sim.site : &sim.racks) = bu_steal(&text);
	if (apply(desired)) {
		free(sim.facts);
		sim.facts = NULL;
		mend(desired);
	}
	bu_desired_destroy(desired);
}

START_TEST(no_edit_costs_more_than_its_limits_and_its_grant)
{
	const char *seed = getenv("BRINGUP_SEED"), *edits = getenv("BRINGUP_EDITS");
	unsigned int first = seed ? (unsigned int)atoi(seed) : SEED;
	int count = edits ? atoi(edits) : EDITS;

	sim.seed = first;
	printf("edits: BRINGUP_SEED=%u, %d edits\n", first, count);
	fflush(stdout);
	bu_log_init("edits", BU_LOG_ERROR);
	bu_clock_fake(&sim.clock, INT64_C(1700000000000));
	open_site();
	for (int i = 0; i < count; i++) {
		/* Many edits on top of each other are a profile of its own. */
		if (i && i % 40 == 0) {
			close_site();
			open_site();
		}
		edit();
	}
	close_site();
	printf("edits: %d refused, %d without a step, %d denied, %d applied: %d done, "
	       "%d "
	       "stopped themselves; %d nodes had a turn (%d relabel, %d reconfigure, "
	       "%d "
	       "restart, %d reboot, %d reimage, %d wipe), at most %d out at once\n",
	       sim.refused, sim.empty, sim.denied, sim.applied, sim.done, sim.stopped,
	       sim.begun, sim.by_class[BU_CLASS_RELABEL],
	       sim.by_class[BU_CLASS_RECONFIGURE], sim.by_class[BU_CLASS_RESTART],
	       sim.by_class[BU_CLASS_REBOOT], sim.by_class[BU_CLASS_REIMAGE],
	       sim.by_class[BU_CLASS_WIPE], sim.worst);
	ck_assert_int_gt(sim.refused, 0);
	ck_assert_int_gt(sim.denied, 0);
	ck_assert_int_gt(sim.stopped, 0);
	ck_assert_int_gt(sim.done, 0);
	ck_assert_int_gt(sim.by_class[BU_CLASS_WIPE], 0);
}
END_TEST

BU_UNIT("edits", no_edit_costs_more_than_its_limits_and_its_grant)
