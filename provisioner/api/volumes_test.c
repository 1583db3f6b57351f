/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of encrypted partitions: who gets which. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define LINE "hardware = vm\n"
#define LAKE LINE "data = lake:1GiB:ext4:/lake, fog:1GiB:xfs:/fog\n"

/* What the agent of node001, or of another machine, is told; a new reference, or NULL
 * with err. */
static json_t *
ask(struct site *site, const char *machine, struct bu_err *err)
{
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST", .path = "", .peer = machine};

	rig_node(&site->rig, 1)->agent_cert[0] = '\0';
	if (bu_api_agent_volumes(&site->api, &request, &reply, err) != BU_ANSWER_NOW)
		return NULL;
	return reply.json;
}

static void
begin(struct site *site, const char *to)
{
	site_begin(site, 1);
	rig_revise(&site->rig, 1, LINE, to);
	rig_start(&site->rig, 1);
	rig_inspect(&site->rig, 1);
}

START_TEST(a_node_gets_the_keys_of_its_own_volumes)
{
	struct site site;
	bu_autojson json_t *first = NULL, *again = NULL;
	const json_t *keys;
	const char *guid, *before = NULL;
	char want[65];
	json_t *key;
	struct bu_err err = {0};

	begin(&site, LAKE "data_keys = appliance\n");
	first = ask(&site, rig_node(&site.rig, 1)->machine, &err);
	ck_assert_msg(first != NULL, "%s", err.text);
	keys = json_object_get(first, "keys");
	ck_assert_uint_eq(json_object_size(keys), 2);
	json_object_foreach ((json_t *)(uintptr_t)keys, guid, key) {
		bu_trust_volume_key(site.rig.trust, guid, want);
		ck_assert_str_eq(json_string_value(key), want);
		ck_assert_uint_eq(strlen(want), 64);
		ck_assert(!before || strcmp(before, json_string_value(key)) != 0);
		before = json_string_value(key);
	}
	again = ask(&site, rig_node(&site.rig, 1)->machine, &err);
	ck_assert(json_equal(first, again));
	ck_assert_ptr_null(ask(&site, "", &err));
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_null(ask(&site, "0123456789abcdef", &err));
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	site_end(&site);
}
END_TEST

START_TEST(what_is_not_encrypted_has_no_key)
{
	static const char *const rows[] = {LINE, LAKE, LAKE "data_keys = none\n",
					   LINE "data_keys = appliance\n"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		bu_autojson json_t *told = NULL;
		struct bu_err err = {0};

		begin(&site, rows[i]);
		told = ask(&site, rig_node(&site.rig, 1)->machine, &err);
		ck_assert_msg(told != NULL, "%s", err.text);
		ck_assert_uint_eq(json_object_size(json_object_get(told, "keys")), 0);
		site_end(&site);
	}
}
END_TEST

RIG_UNIT("volumes", a_node_gets_the_keys_of_its_own_volumes,
	 what_is_not_encrypted_has_no_key)
