/* SPDX-License-Identifier: Apache-2.0 */
/* Where the requests of agents say who holds a node's credential. */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct site site;

static void
ask(bu_handler_fn fn, const char *cert, json_t *body)
{
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site.rig, 1)->machine,
				     .peer_cert = cert};
	struct bu_err err = {0};

	fn(&site.api, &request, &reply, &err);
	json_decref(body);
	json_decref(reply.json);
	rig_pass(&site.rig, 1);
}

static void
polls(const char *cert, const char *boot)
{
	ask(bu_api_agent_work, cert,
	    json_pack("{s:i,s:i,s:s}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL,
		      "boot_id", boot));
}

static json_t *
hello_of(const char *boot)
{
	return json_pack("{s:i,s:s,s:n,s:{s:s}}", "protocol", BU_AGENT_PROTOCOL,
			 "where", "installed", "stamp", "inventory", "boot_id", boot);
}

static int
is_told(void)
{
	return rig_node(&site.rig, 1)->conditions[BU_CONDITION_CREDENTIAL_COPIED].on;
}

static void
begin(char ret_cert[65])
{
	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_join(&site.rig, 1);
	site.rig.silent = 1U << 1;
	bu_text_copy(ret_cert, 65, rig_node(&site.rig, 1)->agent_cert);
}

START_TEST(the_boots_of_questions_tell_two_holders_apart)
{
	char cert[65];

	begin(cert);
	polls(cert, "boot-a");
	polls(cert, "boot-b");
	ck_assert_int_eq(is_told(), 0);
	polls(cert, "boot-a");
	ck_assert_int_eq(is_told(), 1);
	site_end(&site);
}
END_TEST

/* One of them has renewed it; the other is refused, and said. */
START_TEST(a_hello_with_a_renewed_certificate_is_said)
{
	char cert[65], next[65];
	bu_autojson json_t *status = NULL;
	bu_autofree char *pem = NULL, *text = NULL;

	begin(cert);
	pem = bu_reconcile_renew(site.rig.rec, rig_node(&site.rig, 1), rig_request(1),
				 NULL);
	ck_assert_int_eq(bu_cert_fingerprint(pem, next, NULL), 0);
	rig_pass(&site.rig, 1);
	polls(next, "boot-b");
	polls(next, "boot-b");
	ck_assert_int_eq(is_told(), 0);
	ask(bu_api_agent_hello, cert, hello_of("boot-a"));
	ck_assert_int_eq(is_told(), 1);
	/* A person hears of it, and of the way out. */
	status = site_call(&site, site.local, "GET", "/v1/nodes/node001", "", 200);
	text = bu_said_lines(json_object_get(status, "why"));
	ck_assert_ptr_nonnull(strstr(text, "credential-copied"));
	ck_assert_ptr_nonnull(strstr(text, "bringup node rebuild"));
	site_end(&site);
}
END_TEST

RIG_UNIT("holders of credentials", the_boots_of_questions_tell_two_holders_apart,
	 a_hello_with_a_renewed_certificate_is_said)
