/* SPDX-License-Identifier: Apache-2.0 */
/* State is a function of the log: wherever it is cut, and whoever reads it. */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

enum { EVENTS_MAX = 200 };

struct tape {
	struct bu_event events[EVENTS_MAX];
	size_t count;
};

static int
record(const struct bu_event *event, void *arg)
{
	struct tape *tape = arg;
	struct bu_event *copy = &tape->events[tape->count++];

	ck_assert_uint_le(tape->count, EVENTS_MAX);
	*copy = *event;
	copy->body = json_incref(event->body);
	return 0;
}

static void
erase(struct tape *tape)
{
	for (size_t i = 0; i < tape->count; i++)
		bu_event_fini(&tape->events[i]);
}

static json_t *
rollouts_view(const struct bu_fleet *fleet)
{
	json_t *list = json_array();

	for (size_t i = 0; i < fleet->rollouts_count; i++) {
		const struct bu_rollout *rollout = &fleet->rollouts[i];

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:O,s:s,s:I,s:I,s:I,s:[iiii]}", "id",
				  rollout->id, "state",
				  bu_rollout_state_name(rollout->state), "applied",
				  rollout->body, "reason", rig_said(&rollout->reason),
				  "started", (json_int_t)rollout->started_ms, "ended",
				  (json_int_t)rollout->ended_ms, "resumed",
				  (json_int_t)rollout->resumed_seq, "counts",
				  rollout->total, rollout->done, rollout->failed,
				  rollout->withdrawn));
	}
	return list;
}

static json_t *
order_view(const struct bu_order *order)
{
	return json_pack(
		"{s:I,s:s,s:i,s:s,s:s,s:s,s:s,s:i,s:[iiiii],s:I,s:I,s:s}", "seq",
		(json_int_t)order->seq, "rollout", order->rollout, "class",
		(int)order->class, "image", order->image, "digest", order->image_digest,
		"facets", order->facets, "commit", order->commit, "batch", order->batch,
		"flags", order->open, order->begun, order->served, order->failed,
		order->withdrawn, "begun_ms", (json_int_t)order->begun_ms, "fault",
		(json_int_t)order->fault_seq, "reason", rig_said(&order->reason));
}

/* All that the log owns of the world, as text; owned. */
static char *
view(const struct bu_fleet *fleet)
{
	bu_autojson json_t *all = json_pack(
		"{s:I,s:s,s:s,s:o,s:O,s:[],s:f,s:o,s:[]}", "epoch",
		(json_int_t)fleet->epoch, "revision", fleet->revision, "commit",
		fleet->commit, "rollouts", rollouts_view(fleet), "brakes",
		fleet->brakes, "pairs", "minutes",
		bu_fleet_minutes(fleet, "train", BU_CLASS_INSTALL), "conditions",
		bu_conditions_to_json(fleet->conditions), "nodes");

	for (size_t i = 0; i < fleet->measurements.count; i++)
		json_array_append_new(
			json_object_get(all, "pairs"),
			bu_measurements_brief(&fleet->measurements.logs[i]));
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		json_t *json = bu_node_to_json(node);
		json_t *rest = json_pack(
			"{s:I,s:o,s:s,s:b,s:s,s:b,s:s,s:s,s:s,s:I,s:s,s:s,s:[sIsIi]}",
			"state_seq", (json_int_t)node->state_seq, "order",
			order_view(node->order), "inventory", node->inventory,
			"touched", node->disk_touched, "admitted", node->admitted_step,
			"boot_installed", node->boot_installed, "digest",
			node->installed_digest, "installed_step", node->installed_step,
			"step_error", node->step_error, "intent",
			(json_int_t)node->step.intent_seq, "facets", node->facets,
			"commit", node->commit, "agent_cert", node->agent_cert,
			(json_int_t)node->agent_cert_until_ms, node->agent_cert_next,
			(json_int_t)node->agent_cert_next_until_ms,
			node->agent_revoked);

		ck_assert_ptr_nonnull(json);
		ck_assert_ptr_nonnull(rest);
		/* What a cluster said is memory's, not the log's. */
		json_object_del(json, "cluster_words");
		json_object_update(json, rest);
		json_object_del(json, "cluster_words"); /* memory only */
		json_decref(rest);
		json_object_set_new(
			json, "joined",
			json_pack("[ssss]", node->joined->cluster, node->joined->driver,
				  node->joined->handle, node->joined->node));
		json_object_set_new(json, "full", json_string(node->full_cert));
		json_object_set_new(json, "boot", json_string(node->boot_cert));
		json_array_append_new(json_object_get(all, "nodes"), json);
	}
	return bu_json_canonical(all);
}

static void
note(struct rig *rig, enum bu_event_kind kind, const char *node, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, node, body);
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
}

static void
order(struct rig *rig, const char *rollout, const char *class)
{
	note(rig, BU_EVENT_APPLIED, "",
	     json_pack("{s:s,s:s,s:s,s:s,s:[]}", "rollout", rollout, "plan", "p2",
		       "revision", rig->fleet->revision, "by", "me", "grants"));
	note(rig, BU_EVENT_ORDER, "node001",
	     json_pack("{s:s,s:s,s:s,s:s,s:s,s:i}", "rollout", rollout, "class", class,
		       "image", "debian12", "facets", "f2", "commit", "c2", "batch",
		       1));
}

static void
becomes(struct rig *rig, const char *rollout, const char *to)
{
	note(rig, BU_EVENT_ROLLOUT, "",
	     json_pack("{s:s,s:s,s:s,s:s}", "rollout", rollout, "to", to, "by", "me",
		       "reason", "because"));
}

/* Rollouts that fail, are stopped, resumed, aborted, overtaken and done; a brake. */
static void
live_rollouts(struct rig *rig)
{
	struct bu_node *node = rig_node(rig, 1);
	struct bu_err bad;

	order(rig, "r-2", "reconfigure");
	ck_assert_int_eq(bu_reconcile_begin(rig->rec, node, NULL), 0);
	rig_until_step(rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	bu_err_set(&bad, BU_ERR_STATE, 0, "rolled back");
	rig_answer(rig, node, &bad);
	rig_until_step(rig, node, BU_ACTION_CONFIGURE, BU_STEP_FAILED);
	ck_assert_int_eq(bu_fleet_rollout(rig->fleet, "r-2")->failed, 1);
	order(rig, "r-3", "reboot");
	becomes(rig, "r-3", "stopped");
	becomes(rig, "r-3", "running");
	order(rig, "r-4", "wipe"); /* overtakes */
	ck_assert_int_eq(bu_fleet_rollout(rig->fleet, "r-3")->state, BU_ROLLOUT_DONE);
	note(rig, BU_EVENT_RENEWED, "node001",
	     json_pack("{s:s,s:i}", "fingerprint", "f2", "until_ms", 7));
	note(rig, BU_EVENT_REVOKED, "node001",
	     json_pack("{s:s,s:b}", "fingerprint", node->agent_cert, "all", 0));
	ck_assert_str_eq(node->agent_cert, "f2");
	note(rig, BU_EVENT_RENEWED, "node001",
	     json_pack("{s:s,s:i}", "fingerprint", "f3", "until_ms", 8));
	becomes(rig, "r-4", "paused");
	becomes(rig, "r-4", "aborted");
	ck_assert_int_eq(node->order->withdrawn, 1);
	order(rig, "r-5", "relabel");
	note(rig, BU_EVENT_INTENT, "node001",
	     json_pack("{s:s,s:s}", "step", "x", "action", "relabel"));
	note(rig, BU_EVENT_OUTCOME, "node001",
	     json_pack("{s:s,s:s,s:s}", "step", "x", "action", "relabel", "result",
		       "done"));
	ck_assert_str_eq(node->facets, "f2");
	ck_assert_int_eq(bu_fleet_rollout(rig->fleet, "r-5")->done, 1);
	order(rig, "r-6", "restart");
	note(rig, BU_EVENT_BRAKE, "",
	     json_pack("{s:s,s:b,s:i}", "scope", "rack r1", "on", 1, "late", 5));
	note(rig, BU_EVENT_BRAKE, "",
	     json_pack("{s:s,s:b,s:i}", "scope", "pool train", "on", 1, "late", 5));
	note(rig, BU_EVENT_BRAKE, "",
	     json_pack("{s:s,s:b}", "scope", "rack r1", "on", 0));
	note(rig, BU_EVENT_CONDITION, "node001",
	     json_pack("{s:s,s:b,s:s}", "name", "drained-by-other", "on", 1, "detail",
		       "DIMM A3"));
	note(rig, BU_EVENT_CONDITION, "node001",
	     json_pack("{s:s,s:b}", "name", "cluster-silent", "on", 1));
	note(rig, BU_EVENT_CONDITION, "node001",
	     json_pack("{s:s,s:b}", "name", "cluster-silent", "on", 0));
	note(rig, BU_EVENT_CONDITION, "",
	     json_pack("{s:s,s:b}", "name", "disk-full", "on", 1));
}

/* Two nodes with much of what may happen to nodes. */
static void
live(struct rig *rig)
{
	struct bu_node *node;
	struct bu_event event;

	rig_begin(rig, 2);
	row_init(&event, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", RIG_START_MS));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
	rig_to_validating(rig, 1);
	rig_join(rig, 1);
	rig_start(rig, 2);
	rig_pass(rig, 302 * 1000);
	node = rig_node(rig, 2);
	ck_assert_int_eq(node->repeats, 1);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_inspect(rig, 2);
	rig_install(rig, 2);
	rig_come_up(rig, 2, "boot-2");
	row_init(&event, BU_EVENT_PAIR, "",
		 json_pack("{s:s,s:s,s:i}", "a", "node001", "b", "node002", "n", 1));
	bu_reconcile_note(rig->rec, &event, 1);
	row_init(&event, BU_EVENT_PAIR, "",
		 json_pack("{s:s,s:s,s:i}", "a", "node001", "b", "node002", "n", 2));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_certify(rig, 2);
	ck_assert_int_eq(
		bu_reconcile_fire(rig->rec, node, BU_TRIGGER_PROVEN, NULL, NULL), 0);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_pass(rig, 302 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	ck_assert_int_eq(bu_reconcile_release(rig->rec, node, "me", NULL), 0);
	rig_pass(rig, 1);
	live_rollouts(rig);
}

/* The first `count` events in a log of their own, read by a new process. */
static char *
reloaded(const struct rig *rig, const struct tape *tape, size_t count, const char *path)
{
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_fleet *fleet;
	struct bu_err err = {0};
	char *text;

	bu_clock_fake(&clock, 0);
	loop = bu_loop_create(&clock);
	unlink(path);
	store = bu_store_open_sqlite(loop, path, NULL);
	ck_assert_ptr_nonnull(store);
	for (size_t i = 0; i < count; i++) {
		struct bu_event event = tape->events[i];
		const char *blobs[] = {"revision", "inventory"};

		for (size_t k = 0; k < BU_LEN(blobs); k++) {
			const char *digest = bu_json_str(event.body, blobs[k], "");
			bu_autofree char *blob =
				*digest ? bu_store_get_blob(rig->store, digest, NULL)
					: NULL;
			char same[65];

			if (blob)
				ck_assert_int_eq(
					bu_store_put_blob(store, blob, same, NULL), 0);
		}
		json_incref(event.body);
		clock.fake_wall_ms = event.time_ms;
		bu_store_append(store, &event, 1, RIG_START_MS, NULL, NULL);
		clock.fake_mono_ms += 10;
		bu_loop_step(loop, 0);
	}
	bu_store_destroy(store);
	store = bu_store_open_sqlite(loop, path, NULL);
	fleet = bu_fleet_create(loop, store);
	ck_assert_msg(bu_fleet_load(fleet, &err) == 0, "%s", err.text);
	ck_assert_int_eq(fleet->loaded_seq, (int64_t)count);
	text = view(fleet);
	bu_fleet_destroy(fleet);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	return text;
}

START_TEST(a_log_cut_anywhere_gives_the_state_of_that_moment)
{
	struct rig rig;
	struct tape tape = {.count = 0};
	struct bu_fleet *fleet;
	bu_autofree char *path = NULL, *end = NULL;

	live(&rig);
	path = bu_xasprintf("%s/cut.db", rig.dir);
	ck_assert_int_eq(bu_store_read(rig.store, 0, 0, record, &tape, NULL), 0);
	ck_assert_uint_gt(tape.count, 40);
	fleet = bu_fleet_create(rig.loop, rig.store);
	for (size_t i = 0; i < tape.count; i++) {
		bu_autofree char *before = NULL, *again = NULL;

		ck_assert_int_eq(bu_fleet_replay(fleet, &tape.events[i], NULL), 0);
		before = view(fleet);
		again = reloaded(&rig, &tape, i + 1, path);
		ck_assert_str_eq(before, again);
		if (i + 1 == tape.count)
			end = bu_steal(&before);
	}
	bu_fleet_destroy(fleet);
	erase(&tape);
	{
		/* and the live process, whose memory followed its commits, agrees */
		bu_autofree char *lived = view(rig.fleet);

		ck_assert_str_eq(lived, end);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_restart_changes_nothing_that_the_log_owns)
{
	struct rig rig;
	bu_autofree char *before = NULL, *after = NULL;

	live(&rig);
	before = view(rig.fleet);
	rig_restart(&rig);
	after = view(rig.fleet);
	ck_assert_str_eq(before, after);
	rig_end(&rig);
}
END_TEST

/* What is about nobody, or makes no sense. */
START_TEST(a_word_on_a_forgotten_rollout_is_passed_over)
{
	struct rig rig;
	struct bu_event event;

	rig_begin(&rig, 1);
	row_init(&event, BU_EVENT_ROLLOUT, "",
		 json_pack("{s:s,s:s}", "rollout", "r-0", "to", "aborted"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	rig_restart(&rig); /* it starts */
	ck_assert_int_eq(rig_node(&rig, 1)->order->open, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(what_makes_no_sense_changes_nothing)
{
	static const struct {
		enum bu_event_kind kind;
		const char *node, *body, *says;
	} rows[] = {
		{BU_EVENT_STATE, "ghost", "{'to':'ready'}",
		 "event 0 (state): no node 'ghost'"},
		{BU_EVENT_ORDER, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_BOUND, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_INTENT, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_OUTCOME, "", "{}", "no node ''"},
		{BU_EVENT_ADMITTED, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_BOOTED, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_INSTALLED, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_CERTIFICATE, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_HELD, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_RELEASED, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_LEASE, "ghost", "{}", "no node 'ghost'"},
		{BU_EVENT_STATE, "node001", "{'to':'asleep'}",
		 "unknown node state 'asleep'"},
		{BU_EVENT_EPOCH, "", "{'epoch':'x'}",
		 "event 0 (epoch): epoch: expected a whole number"},
		{BU_EVENT_ORDER, "node001", "{'disk':{'path':7}}",
		 "event 0 (order): disk.path: expected a text"},
		{BU_EVENT_STATE, "node001", "{'to':'ready','reset':1}",
		 "event 0 (state): reset: expected true or false"},
		{BU_EVENT_APPLIED, "", "{'revision':'0000','rollout':'r-9'}",
		 "no blob 0000"},
		{BU_EVENT_ROLLOUT, "", "{'rollout':'r-2','to':'done'}",
		 "a rollout cannot become 'done'"},
	};
	struct rig rig;
	bu_autofree char *before = NULL;

	live(&rig);
	before = view(rig.fleet);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *after = NULL;
		struct bu_event event;
		struct bu_err err = {0};

		row_init(&event, rows[i].kind, rows[i].node, quoted(rows[i].body));
		ck_assert_int_eq(bu_fleet_replay(rig.fleet, &event, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s", err.text);
		bu_event_fini(&event);
		after = view(rig.fleet);
		ck_assert_str_eq(before, after);
	}
	rig_end(&rig);
}
END_TEST

/* Whoever starts over it is told which row it is, and what is wrong with it; no row
 * after it is read. */
START_TEST(a_row_that_is_damaged_ends_the_start)
{
	struct rig rig;
	struct bu_fleet *fleet;
	struct bu_event events[2];
	bu_autofree char *says = NULL;
	struct bu_err err = {0};

	rig_begin(&rig, 1);
	row_init(&events[0], BU_EVENT_INTENT, "node001", quoted("{'attempt':'2'}"));
	row_init(&events[1], BU_EVENT_LEASE, "node001", quoted("{'for':'node002'}"));
	bu_reconcile_note(rig.rec, events, 2);
	rig_pass(&rig, 1);
	says = bu_xasprintf("event %lld (intent): attempt: expected a whole number",
			    (long long)rig.fleet->life.row_seq - 1);
	ck_assert_int_eq(rig_node(&rig, 1)->step.status, BU_STEP_NONE);
	fleet = bu_fleet_create(rig.loop, rig.store);
	ck_assert_int_eq(bu_fleet_load(fleet, &err), -1);
	ck_assert_str_eq(bu_fleet_node(fleet, "node001")->lent_to, "");
	ck_assert_str_eq(err.text, says);
	bu_fleet_destroy(fleet);
	rig_end(&rig);
}
END_TEST

START_TEST(a_word_on_an_old_step_is_passed_over)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_event event;
	bu_autofree char *before = NULL, *after = NULL;

	live(&rig);
	node = rig_node(&rig, 2);
	before = view(rig.fleet);
	row_init(&event, BU_EVENT_OUTCOME, node->name,
		 json_pack("{s:s,s:i,s:s,s:s}", "step", "node002.1.boot-network",
			   "attempt", 1, "result", "failed", "detail", "old"));
	ck_assert_int_eq(bu_fleet_replay(rig.fleet, &event, NULL), 0);
	bu_event_fini(&event);
	after = view(rig.fleet);
	ck_assert_str_eq(before, after);
	rig_end(&rig);
}
END_TEST

START_TEST(nodes_stay_sorted_and_leave_with_their_profile)
{
	struct rig rig;

	rig_begin(&rig, 2);
	rig_apply(&rig, 3, BU_CLASS_INSTALL, "d1", NULL, NULL);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	ck_assert_uint_eq(rig.fleet->count, 3);
	for (int i = 1; i <= 3; i++) {
		ck_assert_ptr_eq(rig.fleet->nodes[i - 1], rig_node(&rig, i));
		ck_assert_int_eq(rig_node(&rig, i)->live.in_profile, i == 1);
	}
	ck_assert_ptr_null(bu_fleet_node(rig.fleet, "node004"));
	ck_assert_ptr_null(bu_fleet_desired(rig.fleet, rig_node(&rig, 2)));
	ck_assert_ptr_null(bu_fleet_node_of(rig.fleet, ""));
	rig_end(&rig);
}
END_TEST

START_TEST(certificates_are_of_this_boot_and_this_hardware)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};

	rig_begin(&rig, 1);
	rig_to_validating(&rig, 1);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, &err), -1);
	ck_assert_str_eq(err.text, "it has no full certificate");
	rig_certify(&rig, 1);
	bu_node_set_boot_id(node, "another");
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, &err), -1);
	ck_assert_msg(strstr(err.text, "boot_id") != NULL, "%s", err.text);
	bu_node_set_boot_id(node, "boot-1");
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), 0);
	bu_node_set_machine(node, "0123456789abcdef");
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	rig_end(&rig);
}
END_TEST

/* Of a signature that is looked at once nobody sees that it broke since; the one of an
 * event that comes later is looked at, whatever lies where it lay. */
START_TEST(a_certificate_is_verified_once)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_event event;
	const char *key;

	rig_begin(&rig, 1);
	rig_to_validating(&rig, 1);
	node = rig_node(&rig, 1);
	rig_certify(&rig, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), 0);
	key = rig.fleet->public_pem;
	rig.fleet->public_pem = "no key";
	row_init(&event, BU_EVENT_LEASE, node->name,
		 json_pack("{s:s}", "probe", "p-1"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), 0);
	rig.fleet->public_pem = key;
	row_init(&event, BU_EVENT_CERTIFICATE, node->name,
		 json_pack("{s:s}", "kind", "full"));
	bu_event_attach(&event, "digest", bu_xstrdup("{}"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	rig_end(&rig);
}
END_TEST

/* A newer bringupd may be stricter than the one that applied the profile. */
START_TEST(a_profile_that_cannot_be_read_any_more_moves_nobody)
{
	struct rig rig;
	struct bu_event event, held;
	char digest[65];
	bu_autojson json_t *tree = json_pack("{s:{s:s}}", "files", "site.ini",
					     "[site]\nformat = 1\nodd = 1\n");
	bu_autofree char *text = bu_json_canonical(tree);

	rig_begin(&rig, 1);
	rig_start(&rig, 1);
	ck_assert_int_eq(bu_store_put_blob(rig.store, text, digest, NULL), 0);
	row_init(&event, BU_EVENT_APPLIED, "",
		 json_pack("{s:s,s:s,s:i}", "revision", digest, "rollout", "r", "nodes",
			   1));
	bu_reconcile_note(rig.rec, &event, 1);
	/* a node that only that profile had, and that nobody had ordered */
	row_init(&held, BU_EVENT_HELD, "node009",
		 json_pack("{s:s,s:s}", "owner", "me", "reason", "a card"));
	bu_reconcile_note(rig.rec, &held, 1);
	rig_pass(&rig, 1);
	rig_restart(&rig);
	rig_reason_says(&bu_fleet_node(rig.fleet, "node009")->hold->reason, "a card");
	ck_assert_ptr_nonnull(bu_fleet_rollout(rig.fleet, "r"));
	ck_assert_msg(strstr(rig.fleet->trouble, "site.ini: ") != NULL, "%s",
		      rig.fleet->trouble);
	ck_assert_ptr_null(rig.fleet->desired);
	/* what has an address keeps it */
	ck_assert_ptr_nonnull(bu_desired_node(rig.fleet->last, "node001"));
	for (int hours = 0; hours < 5; hours++)
		rig_pass(&rig, 3600 * 1000);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(rig_node(&rig, 1)->repeats, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d", NULL, NULL);
	rig_pass(&rig, 1);
	ck_assert_str_eq(rig.fleet->trouble, "");
	ck_assert_ptr_nonnull(rig.fleet->desired);
	ck_assert_ptr_null(rig.fleet->last);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("replay", a_log_cut_anywhere_gives_the_state_of_that_moment,
	 a_restart_changes_nothing_that_the_log_owns,
	 what_makes_no_sense_changes_nothing, a_row_that_is_damaged_ends_the_start,
	 a_word_on_a_forgotten_rollout_is_passed_over,
	 a_word_on_an_old_step_is_passed_over,
	 nodes_stay_sorted_and_leave_with_their_profile,
	 certificates_are_of_this_boot_and_this_hardware,
	 a_certificate_is_verified_once,
	 a_profile_that_cannot_be_read_any_more_moves_nobody)
