/* SPDX-License-Identifier: Apache-2.0 */
/* Which node gets the appliance's agent when, and what becomes of one that fails. */
#include "provisioner/rollout/agent_upgrade.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rollout.h"
#include "tests/support/row.h"

static char bundle_dir[80], key_path[80], digest[BU_DIGEST_SIZE];
static char *private_pem, *public_pem;
static struct bu_agent_upgrades *upgrades;

static const char old_digest[] =
	"0000000000000000000000000000000000000000000000000000000000000001";

/* The bundle of a version in the appliance's folder. */
static void
offer_build(struct rig *rig, const char *version, int build)
{
	bu_autofree char *text = bu_xasprintf(
		"{\"v\":1,\"kind\":\"agent\",\"version\":\"%s\",\"files\":["
		"{\"path\":\"agent\",\"mode\":493,\"size_bytes\":%d,"
		"\"sha256\":\"%s\"},{\"path\":\"bringup-agent\","
		"\"mode\":493,\"size_bytes\":1,\"sha256\":\"%s\"},"
		"{\"path\":\"ld-linux-x86-64.so.2\",\"mode\":493,"
		"\"size_bytes\":1,\"sha256\":\"%s\"}]}",
		version, build, old_digest, old_digest, old_digest);
	char sig[BU_SIG_HEX_SIZE];

	bu_sha256_hex(text, strlen(text), digest);
	ck_assert_int_eq(bu_sign(private_pem, text, strlen(text), sig, NULL), 0);
	rig_write(rig, "bundle/bundle.sig", sig);
	rig_write(rig, "bundle/bundle.json", text);
	rig_pass(rig, 3000); /* until it is looked at again */
}

static void
offer(struct rig *rig, const char *version)
{
	offer_build(rig, version, 1);
}

static void
open_upgrades(struct rig *rig)
{
	bu_agent_upgrades_destroy(upgrades);
	upgrades = bu_agent_upgrades_create(&(struct bu_agent_upgrades_opts){
		rig->fleet, rig->rec, bundle_dir, key_path, "2"});
}

/* Its agent says hello; trial and failed as bu_agent_said has them. */
static void
hello(struct rig *rig, int number, const char *its, int trial, const char *failed)
{
	bu_autojson json_t *said =
		json_pack("{s:s,s:s,s:b}", "version", its == old_digest ? "1" : "2",
			  "digest", its, "trial", trial);
	struct bu_node *node = rig_node(rig, number);
	struct bu_err err = {0};

	if (failed)
		json_object_set_new(said, "failed",
				    json_pack("{s:s,s:s,s:s}", "version", "2", "digest",
					      digest, "why", failed));
	node->live.last_seen_ms = bu_wall_ms(&rig->clock);
	ck_assert_msg(bu_agent_upgrades_hello(upgrades, node, said, &err) == 0, "%s",
		      err.text);
	rig_pass(rig, 1);
}

/* Nodes in service, whose agents are of version 1; the appliance has version 2. */
static void
begin_old(struct rig *rig, int nodes)
{
	begin(rig, nodes, NULL);
	snprintf(bundle_dir, sizeof(bundle_dir), "%s/bundle", rig->dir);
	snprintf(key_path, sizeof(key_path), "%s/image.pub", rig->dir);
	ck_assert_int_eq(bu_mkdir_p(bundle_dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	rig_write(rig, "image.pub", public_pem);
	offer(rig, "2");
	open_upgrades(rig);
	for (int i = 1; i <= nodes; i++) {
		rig_node(rig, i)->boot_installed = 1;
		hello(rig, i, old_digest, 0, NULL);
	}
	rig_pass(rig, 120 * 1000);
}

static void
end(struct rig *rig)
{
	bu_agent_upgrades_destroy(upgrades);
	upgrades = NULL;
	free(private_pem);
	free(public_pem);
	rig_end(rig);
}

/* How many have their turn now, by the first of them that ask: a bit for each. */
static unsigned int
turns(struct rig *rig, int nodes)
{
	unsigned int who = 0;

	for (int i = 1; i <= nodes; i++) {
		rig_pass(rig, 300);
		if (bu_agent_upgrades_turn(upgrades, rig_node(rig, i)))
			who |= 1U << i;
	}
	return who;
}

/* The item that its agent gets now, as an agent names it: "ID ATTEMPT"; owned. */
static char *
item(struct rig *rig, int number)
{
	bu_autofree char *id = NULL;
	struct bu_work work;

	ck_assert_int_eq(
		bu_agent_upgrades_work(upgrades, rig_node(rig, number), &work, &id), 0);
	return bu_xasprintf("%s %d", work.id, work.attempt);
}

static void
answer(struct rig *rig, int number, const char *its, enum bu_err_kind kind)
{
	bu_autofree char *id = bu_xstrdup(its);
	struct bu_err err = {0};

	id[strcspn(id, " ")] = '\0';
	bu_ignore(bu_err_set(&err, kind, 0, "no %s", bu_err_name(kind)));
	bu_agent_upgrades_result(upgrades, rig_node(rig, number), id, &err);
	rig_pass(rig, 1);
}

/* words "" = there is none. */
static void
trouble_is(const char *words)
{
	bu_autojson json_t *status = bu_agent_upgrades_json(upgrades);
	const char *said = rig_sentence(json_object_get(status, "trouble"));

	ck_assert_int_eq(*said != '\0', *words != '\0');
	rig_text_has(said, words);
}

static void
status_says(const char *key, const char *words)
{
	bu_autojson json_t *status = bu_agent_upgrades_json(upgrades);
	bu_autofree char *text = json_dumps(json_object_get(status, key),
					    JSON_COMPACT | JSON_ENCODE_ANY);

	ck_assert_msg(strstr(text, words) != NULL, "%s: %s", key, text);
}

START_TEST(one_goes_first_then_a_tenth_at_a_time)
{
	struct rig rig;

	begin_old(&rig, 24);
	ck_assert_uint_eq(turns(&rig, 24), 1U << 1);
	status_says("changing", "node001");
	/* The first one asks again: its answer may have been lost. */
	ck_assert_uint_eq(turns(&rig, 24), 1U << 1);
	hello(&rig, 1, digest, 1, NULL);
	ck_assert_uint_eq(turns(&rig, 24), 0);
	hello(&rig, 1, digest, 0, NULL);
	status_says("have", "1");
	status_says("others", "23");
	ck_assert_uint_eq(turns(&rig, 24), 1U << 2 | 1U << 3);
	hello(&rig, 2, digest, 1, NULL);
	ck_assert_uint_eq(turns(&rig, 24), 1U << 3);
	hello(&rig, 2, digest, 0, NULL);
	ck_assert_uint_eq(turns(&rig, 24), 1U << 3 | 1U << 4);
	for (int i = 3; i <= 24; i++) {
		hello(&rig, i, digest, 1, NULL);
		hello(&rig, i, digest, 0, NULL);
	}
	ck_assert_uint_eq(turns(&rig, 24), 0);
	status_says("others", "0");
	status_says("changing", "[]");
	end(&rig);
}
END_TEST

/* It is in the log, so a restart does not begin it again; a day later it may. */
START_TEST(one_that_fails_ends_it_for_all)
{
	struct rig rig;
	bu_autofree char *why = NULL;

	begin_old(&rig, 4);
	ck_assert_uint_eq(turns(&rig, 4), 1U << 1);
	hello(&rig, 1, old_digest, 0, "ended");
	hello(&rig, 1, old_digest, 0, "ended"); /* until it has heard that we know */
	ck_assert_uint_eq(turns(&rig, 4), 0);
	trouble_is("agent 2 failed on node001");
	why = rig_why(&rig, rig_node(&rig, 1));
	has(why, "agent 2 exited three times");
	has(why, "its agent is 1");
	rig_restart(&rig);
	watch(&rig);
	open_upgrades(&rig);
	for (int i = 1; i <= 4; i++) {
		rig_node(&rig, i)->boot_installed = 1;
		hello(&rig, i, old_digest, 0, NULL);
	}
	ck_assert_uint_eq(turns(&rig, 4), 0);
	/* One that is on trial from before. */
	offer_build(&rig, "2", 30);
	hello(&rig, 1, digest, 1, NULL);
	ck_assert_uint_eq(turns(&rig, 4), 0);
	hello(&rig, 1, old_digest, 0, NULL);
	/* Another build is another agent. */
	offer_build(&rig, "2", 20);
	ck_assert_uint_eq(turns(&rig, 4), 1U << 1);
	hello(&rig, 1, old_digest, 0, NULL);
	offer(&rig, "2");
	ck_assert_uint_eq(turns(&rig, 4), 0);
	rig_pass(&rig, BU_AGENT_UPGRADES_STOP_MS);
	ck_assert_uint_eq(turns(&rig, 4), 1U << 1);
	hello(&rig, 1, digest, 1, NULL);
	hello(&rig, 1, digest, 0, NULL);
	ck_assert_int_eq(rig_node(&rig, 1)->agent_failed->at_ms, 0);
	trouble_is("");
	end(&rig);
}
END_TEST

START_TEST(one_that_is_not_heard_again_has_failed)
{
	struct rig rig;

	begin_old(&rig, 4);
	ck_assert_uint_eq(turns(&rig, 4), 1U << 1);
	for (int i = 0; i < 9; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(bu_agent_upgrades_turn(upgrades, rig_node(&rig, 2)), 0);
	ck_assert_int_eq(rig_node(&rig, 1)->agent_failed->at_ms, 0);
	rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(bu_agent_upgrades_turn(upgrades, rig_node(&rig, 2)), 0);
	rig_pass(&rig, 1000);
	ck_assert_int_gt(rig_node(&rig, 1)->agent_failed->at_ms, 0);
	ck_assert_uint_eq(turns(&rig, 4), 0);
	end(&rig);
}
END_TEST

START_TEST(only_who_is_at_rest_changes)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_event event;

	begin_old(&rig, 1);
	node = rig_node(&rig, 1);
	move(&rig, 1, "validating", "booted", "");
	ck_assert_uint_eq(turns(&rig, 1), 0);
	move(&rig, 1, "imaging", "inspected", "");
	ck_assert_uint_eq(turns(&rig, 1), 0);
	move(&rig, 1, "servicing", "service", "");
	ck_assert_uint_eq(turns(&rig, 1), 0);
	move(&rig, 1, "ready", "joined", "");
	node->lent_ms = bu_wall_ms(&rig.clock);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	rig_pass(&rig, 60 * 1000);
	node->boot_installed = 0;
	ck_assert_uint_eq(turns(&rig, 1), 0);
	node->boot_installed = 1;
	row_init(&event, BU_EVENT_HELD, node->name,
		 json_pack("{s:s,s:s}", "owner", "anna", "reason", "a card"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	row_init(&event, BU_EVENT_RELEASED, node->name,
		 json_pack("{s:s}", "by", "anna"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_uint_eq(turns(&rig, 1), 1U << 1);
	end(&rig);
}
END_TEST

/* What could not be fetched is tried again; what is not signed is not. */
START_TEST(an_item_that_fails_is_a_word_too)
{
	struct rig rig;
	bu_autofree char *first = NULL, *same = NULL, *second = NULL, *third = NULL;

	begin_old(&rig, 1);
	ck_assert_uint_eq(turns(&rig, 1), 1U << 1);
	first = item(&rig, 1);
	/* It did not get it; this is the same one. */
	ck_assert_uint_eq(turns(&rig, 1), 1U << 1);
	same = item(&rig, 1);
	ck_assert_str_eq(first, same);
	answer(&rig, 1, first, BU_ERR_REMOTE);
	status_says("changing", "[]");
	/* Not at once; and an agent answers what it was asked before as it did then. */
	rig_pass(&rig, 50 * 1000);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	rig_pass(&rig, 10 * 1000);
	ck_assert_uint_eq(turns(&rig, 1), 1U << 1);
	second = item(&rig, 1);
	ck_assert_str_ne(first, second);
	answer(&rig, 1, second, BU_ERR_VERIFY);
	rig_pass(&rig, 60 * 1000);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	ck_assert_str_eq(rig_node(&rig, 1)->agent_failed->detail, "no verify");
	/* One that remembers the answer that it gave to another process. */
	rig.fleet->epoch++;
	third = item(&rig, 1);
	ck_assert_str_ne(second, third);
	end(&rig);
}
END_TEST

/* The ramdisk is built again while a node fetches: what it finds is not as ordered. */
START_TEST(a_list_that_came_since_is_not_to_blame)
{
	struct rig rig;
	bu_autofree char *first = NULL, *second = NULL;

	begin_old(&rig, 2);
	ck_assert_uint_eq(turns(&rig, 2), 1U << 1);
	first = item(&rig, 1);
	offer_build(&rig, "2", 20);
	answer(&rig, 1, first, BU_ERR_VERIFY);
	ck_assert_int_eq(rig_node(&rig, 1)->agent_failed->at_ms, 0);
	ck_assert_uint_eq(turns(&rig, 2), 1U << 2);
	second = item(&rig, 2);
	ck_assert_ptr_nonnull(strstr(second, "node002-agent-"));
	ck_assert_int_eq(strncmp(second + strlen("node002-agent-"), digest, 12), 0);
	/* Nor is it when who was asked for another one is not heard of. */
	offer_build(&rig, "2", 30);
	for (int i = 0; i < 11; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_uint_eq(turns(&rig, 1) | turns(&rig, 1), 1U << 1);
	ck_assert_int_eq(rig_node(&rig, 2)->agent_failed->at_ms, 0);
	end(&rig);
}
END_TEST

static void
fell_silent(struct rig *rig)
{
	for (int i = 0; i < 11; i++) {
		rig_pass(rig, 60 * 1000);
		bu_ignore(bu_agent_upgrades_turn(upgrades, rig_node(rig, 2)));
	}
}

static void
note_of(struct rig *rig, enum bu_event_kind kind, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, "node001", body);
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
}

/* Away for a person or an order: no word on its agent. */
START_TEST(who_is_taken_away_has_not_failed)
{
	for (int how = 0; how < 4; how++) {
		struct rig rig;

		begin_old(&rig, 2);
		ck_assert_uint_eq(turns(&rig, 2), 1U << 1);
		if (how == 0)
			note_of(&rig, BU_EVENT_HELD,
				json_pack("{s:s,s:s}", "owner", "anna", "reason", "x"));
		else if (how == 1)
			rig_node(&rig, 1)->boot_installed = 0;
		else if (how == 2)
			note_of(&rig, BU_EVENT_POWER,
				json_pack("{s:s,s:s,s:s}", "op", "off", "result",
					  "done", "by", "anna"));
		else
			bu_node_order(rig_node(&rig, 1))->open =
				bu_node_order(rig_node(&rig, 1))->begun = 1;
		fell_silent(&rig);
		ck_assert_int_eq(rig_node(&rig, 1)->agent_failed->at_ms, 0);
		ck_assert_int_ne(rig_node(&rig, 2)->live.agent->asked_ms, 0);
		end(&rig);
	}
}
END_TEST

/* It does not block its pool for ever, and what it falls back to is not replaced. */
START_TEST(a_trial_counts_while_it_is_heard)
{
	struct rig rig;

	begin_old(&rig, 2);
	hello(&rig, 1, digest, 1, NULL);
	ck_assert_uint_eq(turns(&rig, 2), 0);
	for (int i = 0; i < 10; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_uint_eq(turns(&rig, 2), 1U << 2);
	hello(&rig, 1, digest, 1, NULL);
	hello(&rig, 2, digest, 0, NULL);
	offer_build(&rig, "2", 20);
	hello(&rig, 1, old_digest, 1, NULL);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	hello(&rig, 1, old_digest, 0, NULL);
	ck_assert_uint_eq(turns(&rig, 1), 1U << 1);
	end(&rig);
}
END_TEST

/* Of the node that refused, not of another one; a restart does not forget it. */
START_TEST(a_person_lets_it_be_tried_again)
{
	const struct bu_verb_ask ask = {
		.verb = BU_VERB_RELEASE, .by = "ann", .reason = ""};
	struct rig rig;
	struct bu_err err = {0};
	bu_autofree char *first = NULL, *other = NULL, *said = NULL;

	begin_old(&rig, 2);
	ck_assert_uint_eq(turns(&rig, 2), 1U << 1);
	first = item(&rig, 1);
	answer(&rig, 1, first, BU_ERR_STATE);
	ck_assert_uint_eq(turns(&rig, 2), 0);
	trouble_is("bringup node release node001");
	other = bu_verb_run(rig.rec, rig_node(&rig, 2), &ask, &err);
	ck_assert_ptr_null(other);
	said = bu_verb_run(rig.rec, rig_node(&rig, 1), &ask, &err);
	ck_assert_str_eq(said, "agent 2 may be tried again");
	rig_pass(&rig, 1);
	trouble_is("");
	ck_assert_uint_eq(turns(&rig, 2), 1U << 2);
	rig_restart(&rig);
	watch(&rig);
	open_upgrades(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->agent_failed->at_ms, 0);
	end(&rig);
}
END_TEST

/* Nobody asked it to change: its word stops no other node. */
START_TEST(a_failure_that_nobody_asked_for_stops_nothing)
{
	struct rig rig;

	begin_old(&rig, 2);
	hello(&rig, 2, old_digest, 0, "ended");
	ck_assert_int_eq(rig_node(&rig, 2)->agent_failed->at_ms, 0);
	ck_assert_uint_eq(turns(&rig, 2), 1U << 1);
	end(&rig);
}
END_TEST

START_TEST(only_the_appliances_own_signed_agent_travels)
{
	struct rig rig;

	begin_old(&rig, 1);
	offer(&rig, "1.9");
	ck_assert_uint_eq(turns(&rig, 1) + turns(&rig, 1), 0);
	trouble_is("the boot ramdisk has agent 1.9, this is bringup 2");
	offer(&rig, "2");
	rig_write(&rig, "bundle/bundle.sig", "00");
	rig_pass(&rig, 5000);
	open_upgrades(&rig);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	trouble_is("no agent travels");
	end(&rig);
}
END_TEST

/* In its place and as long as before: only its times say that it is another one. */
static void
overwrite(struct rig *rig, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/bundle.json", bundle_dir);
	bu_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, text, strlen(text), 0), (ssize_t)strlen(text));
	rig_pass(rig, 3000);
	bu_ignore(bu_agent_upgrades_turn(upgrades, rig_node(rig, 1)));
}

START_TEST(a_list_that_changes_within_a_second_is_seen)
{
	struct rig rig;
	bu_autofree char *list = NULL;
	struct timespec now;

	begin_old(&rig, 1);
	list = rig_read(&rig, "bundle/bundle.json");
	clock_gettime(CLOCK_REALTIME, &now);
	usleep((useconds_t)((1000000000 - now.tv_nsec) / 1000 + 20000));
	overwrite(&rig, list);
	status_says("version", "2");
	overwrite(&rig, "not a list");
	trouble_is("no agent travels");
	end(&rig);
}
END_TEST

/* Whoever says nothing of its agent, is left alone. */
START_TEST(an_agent_of_before_is_left_alone)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};
	bu_autojson json_t *odd = json_pack("{s:s}", "version", "1");

	begin_old(&rig, 1);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_agent_upgrades_hello(upgrades, node, NULL, &err), 0);
	ck_assert_uint_eq(turns(&rig, 1), 0);
	ck_assert_int_eq(bu_agent_upgrades_hello(upgrades, node, odd, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	has(err.text, "agent: digest");
	end(&rig);
}
END_TEST

RIG_UNIT("agent_upgrade", one_goes_first_then_a_tenth_at_a_time,
	 one_that_fails_ends_it_for_all, one_that_is_not_heard_again_has_failed,
	 only_who_is_at_rest_changes, an_item_that_fails_is_a_word_too,
	 a_list_that_came_since_is_not_to_blame, who_is_taken_away_has_not_failed,
	 a_trial_counts_while_it_is_heard, a_person_lets_it_be_tried_again,
	 a_failure_that_nobody_asked_for_stops_nothing,
	 a_list_that_changes_within_a_second_is_seen,
	 only_the_appliances_own_signed_agent_travels, an_agent_of_before_is_left_alone)
