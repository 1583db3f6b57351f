/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's change over the routes: hello, the work item, the bundle, the words. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "model/hello.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000001"
#define FILE_OF(path)                                                                  \
	"{\"path\":\"" path "\",\"mode\":493,\"size_bytes\":1,\"sha256\":\"" ZEROS "\"}"

static const char list[] = "{\"v\":1,\"kind\":\"agent\",\"version\":\"" BU_VERSION
			   "\",\"files\":[" FILE_OF("agent") "," FILE_OF(
				   "bringup-agent") "," FILE_OF("ld-linux-x86-64.so."
								"2") "]}";
static char *private_pem, *public_pem;
static char key_path[96];

/* A ready node, and an appliance with a signed bundle. */
static void
begin(struct site *site)
{
	char sig[BU_SIG_HEX_SIZE];

	site_begin(site, 1);
	rig_to_validating(&site->rig, 1);
	rig_join(&site->rig, 1);
	ck_assert_int_eq(bu_mkdir_p(site->bundle, 0755, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL), 0);
	ck_assert_int_eq(bu_sign(private_pem, list, strlen(list), sig, NULL), 0);
	rig_write(&site->rig, "ramdisk/bundle/bundle.json", list);
	rig_write(&site->rig, "ramdisk/bundle/bundle.sig", sig);
	rig_write(&site->rig, "ramdisk/bundle/" ZEROS, "x");
	rig_write(&site->rig, "image.pub", public_pem);
	rig_write(&site->rig, "ramdisk/secret", "s");
	snprintf(key_path, sizeof(key_path), "%s/image.pub", site->rig.dir);
	bu_agent_upgrades_destroy(site->api.work.upgrades);
	site->api.work.upgrades = bu_agent_upgrades_create(
		&(struct bu_agent_upgrades_opts){site->rig.fleet, site->rig.rec,
						 site->bundle, key_path, BU_VERSION});
	rig_pass(&site->rig, 120 * 1000);
}

static void
end(struct site *site)
{
	site_end(site);
	free(private_pem);
	free(public_pem);
}

/* As the node's agent; what is answered, NULL when it waits. New reference. */
static json_t *
ask(struct site *site, bu_handler_fn fn, json_t *body)
{
	const struct bu_node *node = rig_node(&site->rig, 1);
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = node->machine,
				     .peer_cert = node->agent_cert};
	enum bu_answer answer = fn(&site->api, &request, &reply, &err);

	json_decref(body);
	ck_assert_msg(answer != BU_ANSWER_ERROR, "%s", err.text);
	rig_pass(&site->rig, 1);
	return reply.json;
}

static void
hello(struct site *site, json_t *agent)
{
	const struct bu_node *node = rig_node(&site->rig, 1);
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, node->boot_id);
	json_t *body =
		json_pack("{s:i,s:s,s:o,s:o}", "protocol", BU_AGENT_PROTOCOL, "where",
			  "installed", "stamp", rig_stamp(&site->rig, node),
			  "inventory", bu_inventory_to_json(inventory));

	if (agent)
		json_object_set_new(body, "agent", agent);
	json_decref(ask(site, bu_api_agent_hello, body));
}

static json_t *
work(struct site *site)
{
	bu_autojson json_t *reply = ask(
		site, bu_api_agent_work,
		json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL));

	return json_incref(json_object_get(reply, "work"));
}

START_TEST(a_node_in_service_is_told_and_tells)
{
	struct site site;
	bu_autojson json_t *item = NULL, *none = NULL, *shown = NULL, *status = NULL;
	char digest[BU_DIGEST_SIZE];
	const json_t *said;

	begin(&site);
	bu_sha256_hex(list, strlen(list), digest);
	hello(&site, json_pack("{s:s,s:s}", "version", "0.0", "digest", ZEROS));
	item = work(&site);
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "agent");
	ck_assert_str_eq(bu_json_str(item, "base_url", ""),
			 "http://10.77.0.1:8080/bundle");
	ck_assert_str_eq(bu_json_str(item, "digest", ""), digest);
	ck_assert_str_eq(bu_json_str(item, "version", ""), BU_VERSION);
	ck_assert_ptr_nonnull(strstr(public_pem, bu_json_str(item, "key", "?")));
	/* It stays in service, whatever comes of it. */
	json_decref(ask(&site, bu_api_agent_result,
			json_pack("{s:s,s:s,s:i,s:{s:s,s:s}}", "kind", "agent", "id",
				  bu_json_str(item, "id", ""), "attempt", 1, "error",
				  "kind", "verify", "text", "a wrong signature")));
	ck_assert_int_eq(rig_node(&site.rig, 1)->state, BU_STATE_READY);
	rig_pass(&site.rig, 5000);
	none = work(&site);
	ck_assert(json_is_null(none));
	shown = site_call(&site, site.local, "GET", "/v1/nodes/node001", "", 200);
	rig_text_has(rig_sentence(json_object_get(shown, "why")),
		     "agent " BU_VERSION " was not started");
	rig_text_has(rig_sentence(json_object_get(shown, "why")), "a wrong signature");
	said = json_object_get(shown, "agent");
	ck_assert_str_eq(bu_json_str(said, "version", ""), "0.0");
	status = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	ck_assert_ptr_nonnull(
		strstr(rig_sentence(json_object_get(json_object_get(status, "agents"),
						    "trouble")),
		       "failed on node001"));
	end(&site);
}
END_TEST

START_TEST(the_bundle_is_served_and_nothing_else)
{
	struct site site;
	bu_autojson json_t *got = NULL;

	begin(&site);
	got = site_call(&site, site.boot, "GET", "/bundle/bundle.json", "", 200);
	ck_assert_str_eq(bu_json_str(got, "kind", ""), "agent");
	json_decref(site_call(&site, site.boot, "GET", "/bundle/..%2fsecret", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/bundle/../secret", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/bundle/none", "", 404));
	end(&site);
}
END_TEST

RIG_UNIT("api_agent_upgrade", a_node_in_service_is_told_and_tells,
	 the_bundle_is_served_and_nothing_else)
