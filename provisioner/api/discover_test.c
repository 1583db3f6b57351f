/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that no MAC leads to: a node that is written by its serial number boots, and
 * who is nobody's is listed and left as it is.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static const char first[] = "/boot/script/52-54-00-77-00-01";

/* node001, whose machine the profile gives a serial number and nothing else. */
static struct bu_node *
begin(struct site *site)
{
	struct bu_desired *desired;

	site_begin(site, 1);
	desired = site->rig.fleet->desired;
	desired->by_mac_count = 0;
	free(bu_steal(&desired->nodes[0].mac));
	return rig_node(&site->rig, 1);
}

/* What the agent of this machine hears. New reference. */
static json_t *
tell(struct site *site, const struct bu_inventory *inventory)
{
	bu_autojson json_t *body =
		json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
	struct bu_request request = {.body = body};
	struct bu_reply reply = {0};
	struct bu_err err = {0};

	ck_assert_msg(bu_api_agent_discover(&site->api, &request, &reply, &err) ==
			      BU_ANSWER_NOW,
		      "%s", err.text);
	return reply.json;
}

/* An appliance that may not lead gives a machine that it knows no token. */
START_TEST(behind_the_fence_there_is_no_token)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *body =
		json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
	struct bu_request request = {.body = body};
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct site site;

	begin(&site);
	rig_start(&site.rig, 1);
	site.rig.fleet->conditions[BU_CONDITION_EPOCH_BEHIND].on = 1;
	ck_assert_int_eq(bu_api_agent_discover(&site.api, &request, &reply, &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	ck_assert_ptr_null(reply.json);
	site_end(&site);
}
END_TEST

/* The host, which may be anybody, hears nothing of nodes; the operator does. */
static void
is_silent(struct site *site, const json_t *answer, const char *words)
{
	bu_autojson json_t *list =
		site_call(site, site->local, "GET", "/v1/machines", "", 200);
	const json_t *one = json_array_get(json_object_get(list, "unknown"), 0);

	ck_assert_str_eq(bu_json_str(answer, "why", ""),
			 "no boot of this machine is ordered; 'bringup node list "
			 "--unknown' says more");
	rig_text_has(bu_json_str(one, "why", ""), words);
}

static void
script_of(struct site *site, const char *path, const char *words, int has_token)
{
	bu_autofree char *text = site_text(site, site->boot, path, 200);

	rig_text_has(text, words);
	ck_assert_int_eq(strstr(text, "bringup.token") != NULL, has_token);
	ck_assert_int_eq(strstr(text, "bringup.node") != NULL, has_token);
}

static void
script_says(struct site *site, const char *words, int has_token)
{
	script_of(site, first, words, has_token);
}

START_TEST(a_node_written_by_its_serial_number_boots)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *before = NULL, *answer = NULL, *after = NULL;
	char token[BU_DIGEST_SIZE];
	struct site site;
	struct bu_node *node = begin(&site);

	/* Nobody is waited for: it boots what it has. */
	script_says(&site, "not in the inventory", 0);
	before = tell(&site, inventory); /* and was nobody's then */
	ck_assert(json_is_true(json_object_get(before, "leave")));
	is_silent(&site, before, "of which no boot is ordered");
	rig_start(&site.rig, 1);
	script_says(&site, "an unknown machine boots the agent", 0);
	answer = tell(&site, inventory);
	ck_assert_str_eq(bu_json_str(answer, "node", ""), "node001");
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	ck_assert_str_eq(bu_json_str(answer, "token", ""), token);
	/* From the trade on its cards are its own, each of them. */
	rig_inspect(&site.rig, 1);
	ck_assert_ptr_eq(bu_fleet_node_by_mac(site.rig.fleet, "52:54:00:77:00:01"),
			 node);
	ck_assert_ptr_eq(bu_fleet_node_by_mac(site.rig.fleet, "52:54:00:78:00:01"),
			 node);
	script_says(&site, "no network boot is ordered", 0);
	rig_fire(&site.rig, node, BU_TRIGGER_REPEAT);
	rig_until_step(&site.rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	script_says(&site, "node001 boots the agent", 1);
	/* The token is for one trade: who tells the same afterwards gets none. */
	rig_inspect(&site.rig, 1);
	after = tell(&site, inventory);
	ck_assert_ptr_null(json_object_get(after, "token"));
	site_end(&site);
}
END_TEST

/* The profile has the MAC of one card, and the firmware boots from another: the one
 * whose link is up. Who has the serial number alone is not that machine. */
START_TEST(a_machine_is_installed_from_any_of_its_cards)
{
	static const char second[] = "/boot/script/52-54-00-78-00-01";
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autoinventory struct bu_inventory *stranger = rig_inventory(7, "b");
	bu_autojson json_t *other = NULL, *answer = NULL;
	struct site site;

	site_begin(&site, 1);
	script_of(&site, second, "not in the inventory", 0);
	rig_start(&site.rig, 1);
	script_of(&site, first, "node001 boots the agent", 1);
	script_of(&site, second, "an unknown machine boots the agent", 0);
	other = tell(&site, stranger);
	ck_assert_ptr_null(json_object_get(other, "token"));
	answer = tell(&site, inventory);
	ck_assert_str_eq(bu_json_str(answer, "node", ""), "node001");
	ck_assert_ptr_nonnull(json_object_get(answer, "token"));
	rig_inspect(&site.rig, 1);
	script_of(&site, second, "no network boot is ordered", 0);
	site_end(&site);
}
END_TEST

/* It tells the serial number of the host that it is in, and is on one wire with it. */
START_TEST(a_dpu_is_listed_and_sent_away)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *answer = NULL, *list = NULL;
	struct site site;

	begin(&site);
	rig_start(&site.rig, 1);
	strcpy(inventory->dmi.product, "BlueField-3 SmartNIC Main Card");
	answer = tell(&site, inventory);
	ck_assert_ptr_null(json_object_get(answer, "token"));
	ck_assert(json_is_true(json_object_get(answer, "leave")));
	list = site_call(&site, site.local, "GET", "/v1/machines", "", 200);
	rig_text_has(bu_json_str(json_array_get(json_object_get(list, "unknown"), 0),
				 "why", ""),
		     "a DPU");
	site_end(&site);
}
END_TEST

START_TEST(who_is_nobody_is_listed_and_left_as_it_is)
{
	bu_autoinventory struct bu_inventory *other = rig_inventory(7, "b");
	bu_autoinventory struct bu_inventory *filler = rig_inventory(8, "b");
	bu_autojson json_t *answer = NULL, *again = NULL, *third = NULL, *list = NULL;
	bu_autofree char *power = NULL, *after = NULL;
	const json_t *unknown, *one;
	struct site site;

	begin(&site);
	rig_start(&site.rig, 1);
	power = rig_read(&site.rig, "power.log");
	strcpy(other->dmi.product, "DGXH100");
	site.rig.fleet->desired->hardware[0].product = bu_xstrdup("DGXH?00");
	answer = tell(&site, other);
	ck_assert_ptr_null(json_object_get(answer, "token"));
	is_silent(&site, answer, "no node of the profile has");
	/* It may go where it came from, and is not asked again. */
	ck_assert(json_is_true(json_object_get(answer, "leave")));
	script_of(&site, "/boot/script/52-54-00-77-00-07", "not in the inventory", 0);
	script_of(&site, "/boot/script/52-54-00-77-00-09", "an unknown machine", 0);
	again = tell(&site, other);
	/* A placeholder is nobody's serial number. */
	strcpy(filler->dmi.serial, "To be filled by O.E.M.");
	strcpy(filler->dmi.product, "AS-4124GO-NART");
	free(site.rig.fleet->desired->nodes[0].serial);
	site.rig.fleet->desired->nodes[0].serial = bu_xstrdup("To be filled by O.E.M.");
	third = tell(&site, filler);
	ck_assert_ptr_null(json_object_get(third, "token"));
	list = site_call(&site, site.local, "GET", "/v1/machines", "", 200);
	unknown = json_object_get(list, "unknown");
	ck_assert_uint_eq(json_array_size(unknown), 2);
	one = json_array_get(unknown, 0);
	ck_assert_str_eq(bu_json_str(json_object_get(one, "machine"), "serial", ""),
			 "LAB-007");
	ck_assert_int_eq(bu_json_int(one, "disks", 0), 2);
	/* The class that has what it has, and not one of other products. */
	ck_assert_str_eq(bu_json_str(one, "classes", "?"), "vm");
	ck_assert_str_eq(bu_json_str(json_array_get(unknown, 1), "classes", "?"), "");
	/* Nothing is switched or written for it, and no row is in the log. */
	after = rig_read(&site.rig, "power.log");
	ck_assert_str_eq(after, power);
	/* It is gone when it is silent. */
	rig_pass(&site.rig, 16 * 60 * 1000);
	json_decref(list);
	list = site_call(&site, site.local, "GET", "/v1/machines", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(list, "unknown")), 0);
	site_end(&site);
}
END_TEST

START_TEST(a_site_may_ask_all_machines_what_they_are)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *answer = NULL;
	struct site site;
	struct bu_desired *desired;

	begin(&site);
	desired = site.rig.fleet->desired;
	script_says(&site, "not in the inventory", 0);
	free(desired->site.discover);
	desired->site.discover = bu_xstrdup("yes");
	script_says(&site, "an unknown machine boots the agent", 0);
	answer = tell(&site, inventory);
	ck_assert(json_is_false(json_object_get(answer, "leave")));
	script_says(&site, "an unknown machine boots the agent", 0);
	site_end(&site);
}
END_TEST

enum { UNKNOWN_MAX = 1024, SILENT_MS = 15 * 60 * 1000 };

/* So many are kept: who was heard longest ago makes way, and who told a moment ago
 * stays. */
START_TEST(of_too_many_the_one_that_was_heard_longest_ago_goes)
{
	bu_autoinventory struct bu_inventory *other = rig_inventory(7, "b");
	struct site site;
	json_t *unknown;
	int64_t now_ms;

	begin(&site);
	unknown = site.rig.fleet->unknown;
	now_ms = site.rig.clock.fake_wall_ms;
	for (int i = 0; i < UNKNOWN_MAX; i++) {
		bu_autofree char *id = bu_xasprintf("m%04d", i);

		json_object_set_new(unknown, id,
				    json_pack("{s:I}", "last_ms",
					      (json_int_t)(now_ms - (i == 500))));
	}
	json_decref(tell(&site, other));
	ck_assert_uint_eq(json_object_size(unknown), UNKNOWN_MAX);
	ck_assert_ptr_null(json_object_get(unknown, "m0500"));
	json_decref(tell(&site, other)); /* it is known, and takes no other place */
	ck_assert_uint_eq(json_object_size(unknown), UNKNOWN_MAX);
	ck_assert_ptr_nonnull(json_object_get(unknown, "m0000"));
	/* To the millisecond. */
	json_object_clear(unknown);
	for (int i = 0; i < 2; i++)
		json_object_set_new(unknown, i ? "gone" : "here",
				    json_pack("{s:I}", "last_ms",
					      (json_int_t)(site.rig.clock.fake_wall_ms -
							   SILENT_MS - i)));
	ck_assert_int_eq(bu_api_discovers(&site.api, "52:54:00:77:00:99"), 0);
	ck_assert_ptr_nonnull(json_object_get(unknown, "here"));
	ck_assert_ptr_null(json_object_get(unknown, "gone"));
	site_end(&site);
}
END_TEST

/* Over the wire, from one address. */
START_TEST(one_host_has_four_places_in_the_list)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(7, "b");
	bu_autojson json_t *list = NULL;
	struct site site;
	int fd = bu_listen_tcp("127.0.0.1:0", NULL), port = talk_port(fd);

	begin(&site);
	ck_assert_int_eq(
		bu_server_listen(site.api.server, BU_LISTEN_AGENT, fd, NULL, NULL), 0);
	for (int i = 0; i < 50; i++) {
		bu_autojson json_t *body = NULL, *answer = NULL;
		bu_autofree char *text = NULL;

		snprintf(inventory->dmi.serial, sizeof(inventory->dmi.serial), "S%d",
			 i);
		snprintf(inventory->dmi.uuid, sizeof(inventory->dmi.uuid), "%s", "");
		body = json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
		text = json_dumps(body, 0);
		answer =
			site_call(&site, port, "POST", "/v1/agent/discover", text, 200);
		rig_pass(&site.rig, 10000);
	}
	list = site_call(&site, site.local, "GET", "/v1/machines", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(list, "unknown")), 4);
	site_end(&site);
}
END_TEST

/* Its minute has so many, and others are asked meanwhile. */
START_TEST(an_address_that_tells_without_end_is_asked_to_wait)
{
	static const char path[] = "/boot/script/52-54-00-77-00-09";
	struct site site;
	struct talk talk;
	int refused = 0;

	begin(&site);
	for (int i = 0; i < 290; i++) {
		ck_assert_int_eq(refused && i < 64 * 3, 0); /* as many machines */
		site_ask(&talk, site.boot, "GET", path, "");
		site_until_ended(&site, &talk);
		refused += talk.status == 503 && strstr(talk.text, "Retry-After: ");
		talk_end(&talk);
	}
	ck_assert_int_ge(refused, 20);
	rig_pass(&site.rig, 61000);
	free(site_text(&site, site.boot, path, 200));
	site_end(&site);
}
END_TEST

RIG_UNIT("discover", behind_the_fence_there_is_no_token,
	 a_machine_is_installed_from_any_of_its_cards, a_dpu_is_listed_and_sent_away,
	 a_node_written_by_its_serial_number_boots,
	 who_is_nobody_is_listed_and_left_as_it_is,
	 a_site_may_ask_all_machines_what_they_are,
	 of_too_many_the_one_that_was_heard_longest_ago_goes,
	 one_host_has_four_places_in_the_list,
	 an_address_that_tells_without_end_is_asked_to_wait)
