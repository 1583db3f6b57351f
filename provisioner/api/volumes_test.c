/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of encrypted partitions: who gets which. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define ONE "0a1b2c3d-1111-8222-8333-444444444444"
#define TWO "0a1b2c3d-1111-8222-8333-555555555555"

/* What the agent of this machine is told when it names these GUIDs; a new reference, or
 * NULL with err. */
static json_t *
ask(struct site *site, const char *machine, const char *guids, struct bu_err *err)
{
	bu_autojson json_t *body = json_loads(guids, 0, NULL);
	struct bu_reply reply = {0};
	const struct bu_node *node = bu_fleet_node_of(site->rig.fleet, machine);
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .peer = machine,
				     .peer_cert = node ? node->agent_cert : "",
				     .body = body};

	if (bu_api_agent_volumes(&site->api, &request, &reply, err) != BU_ANSWER_NOW)
		return NULL;
	return reply.json;
}

static void
begin(struct site *site)
{
	site_begin(site, 2);
	for (int i = 1; i <= 2; i++) {
		rig_start(&site->rig, i);
		rig_inspect(&site->rig, i);
	}
}

#define BOTH "{\"guids\":[\"" ONE "\",\"" TWO "\"]}"

/* By the machine and the GUID alone: whatever it is called, and whatever the profile
 * says by now (here: of no data). */
START_TEST(a_machine_gets_the_keys_of_what_is_on_its_disk)
{
	struct site site;
	bu_autojson json_t *first = NULL, *again = NULL, *other = NULL;
	const json_t *keys, *others;
	const char *guid;
	char want[65];
	json_t *key;
	struct bu_err err = {0};

	begin(&site);
	first = ask(&site, rig_node(&site.rig, 1)->machine, BOTH, &err);
	ck_assert_msg(first != NULL, "%s", err.text);
	other = ask(&site, rig_node(&site.rig, 2)->machine, BOTH, &err);
	ck_assert_msg(other != NULL, "%s", err.text);
	keys = json_object_get(first, "keys");
	others = json_object_get(other, "keys");
	ck_assert_uint_eq(json_object_size(keys), 2);
	json_object_foreach ((json_t *)(uintptr_t)keys, guid, key) {
		bu_trust_volume_key(site.rig.trust, rig_node(&site.rig, 1)->machine,
				    guid, want);
		ck_assert_str_eq(json_string_value(key), want);
		ck_assert_uint_eq(strlen(want), 64);
		ck_assert_str_ne(bu_json_str(others, guid, want), want);
	}
	ck_assert_str_ne(bu_json_str(keys, ONE, ""), bu_json_str(keys, TWO, ""));
	again = ask(&site, rig_node(&site.rig, 1)->machine, BOTH, &err);
	ck_assert(json_equal(first, again));
	site_end(&site);
}
END_TEST

static void
denied(struct site *site, const char *machine)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(ask(site, machine, BOTH, &err));
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
}

START_TEST(who_is_not_of_the_site_gets_none)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *none = NULL;
	struct bu_err err = {0};

	begin(&site);
	node = rig_node(&site.rig, 1);
	none = ask(&site, node->machine, "{}", &err);
	ck_assert_uint_eq(json_object_size(json_object_get(none, "keys")), 0);
	ck_assert_ptr_null(
		ask(&site, node->machine,
		    "{\"guids\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}", &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_null(
		ask(&site, node->machine, "{\"guids\":[\"" ONE "\",7]}", &err));
	ck_assert_str_eq(err.text, "guids[1]: expected a text");
	denied(&site, "");
	denied(&site, "0123456789abcdef");
	node->agent_revoked = 1;
	denied(&site, node->machine);
	node->agent_revoked = 0;
	site.pokes = 1;
	node->state = BU_STATE_RETIRED;
	denied(&site, node->machine);
	site_end(&site);
}
END_TEST

RIG_UNIT("volumes", a_machine_gets_the_keys_of_what_is_on_its_disk,
	 who_is_not_of_the_site_gets_none)
