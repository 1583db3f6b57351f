/* SPDX-License-Identifier: Apache-2.0 */
/* A start over the API: its plan, its words, and what the status says meanwhile. */
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct site site;

static json_t *
ask(const char *body, int status)
{
	return site_call(&site, site.local, "POST", "/v1/start", body, status);
}

static void
said(const char *body, int status, const char *word)
{
	bu_autojson json_t *answer = ask(body, status);
	bu_autofree char *text = bu_json_canonical(answer);

	rig_text_has(text, word);
}

/* Reasons and texts that the status warns of. */
static void
warns(size_t count)
{
	bu_autojson json_t *status =
		site_call(&site, site.local, "GET", "/v1/status", "", 200);

	ck_assert_uint_eq(json_array_size(json_object_get(status, "warnings")), count);
}

START_TEST(it_is_planned_begun_led_on_and_ended)
{
	bu_autojson json_t *plan = NULL, *running = NULL;

	site_begin(&site, 2);
	rig_to_validating(&site.rig, 1);
	site.rig.silent = 1U << 1;
	plan = site_call(&site, site.page, "GET", "/v1/start", "", 200);
	ck_assert(json_is_null(json_object_get(plan, "running")));
	ck_assert_int_eq(bu_json_int(plan, "per_rack", 0), 4);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "pools")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "left")), 1);
	warns(0);
	said("{\"op\":\"next\"}", 409, "no start runs");
	said("{\"op\":\"begin\",\"reason\":\"power is back\"}", 200, "{}");
	warns(1);
	said("{\"op\":\"begin\"}", 503, "runs already");
	said("{\"op\":\"next\",\"tier\":7}", 409, "start = 50");
	said("{\"op\":\"up\"}", 400, "expected begin, next or abort");
	running = site_call(&site, site.page, "GET", "/v1/start", "", 200);
	ck_assert_int_eq(bu_json_int(json_object_get(running, "running"), "tier", 0),
			 50);
	said("{\"op\":\"abort\"}", 200, "{}");
	warns(0);
	site_end(&site);
}
END_TEST

RIG_UNIT("start", it_is_planned_begun_led_on_and_ended)
