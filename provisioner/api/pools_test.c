/* SPDX-License-Identifier: Apache-2.0 */
/* The size of a pool, over the API: what is told, taken and refused. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct site site;

static json_t *
scale(const char *pool, const char *body, int status)
{
	bu_autofree char *path = bu_xasprintf("/v1/pools/%s/scale", pool);

	return site_call(&site, site.local, "POST", path, body, status);
}

static void
refused(const char *pool, const char *body, int status, const char *says)
{
	bu_autojson json_t *answer = scale(pool, body, status);
	bu_autofree char *text = json_dumps(answer, 0);

	ck_assert_msg(strstr(text, says) != NULL, "%s", text);
}

START_TEST(a_pool_without_limits_is_shown_and_not_scaled)
{
	bu_autojson json_t *pools = NULL;
	const json_t *first;

	site_begin(&site, 2);
	pools = site_call(&site, site.page, "GET", "/v1/pools", "", 200);
	first = json_array_get(json_object_get(pools, "pools"), 0);
	ck_assert_str_eq(bu_json_str(first, "pool", ""), "train");
	ck_assert_int_eq(bu_json_int(first, "nodes", -1), 2);
	ck_assert_int_eq(bu_json_int(first, "wanted", -1), 2);
	ck_assert_int_eq(bu_json_int(first, "max", -1), 0);
	refused("train", "{\"count\":1}", 409, "has no max in the profile");
	refused("trian", "{\"count\":1}", 404, "did you mean");
	refused("train", "{\"reason\":\"x\"}", 400, "count");
	refused("train", "{\"count\":\"1\"}", 400, "count");
	site_end(&site);
}
END_TEST

START_TEST(a_word_is_taken_kept_and_told_with_its_speaker)
{
	bu_autojson json_t *answer = NULL, *pools = NULL;
	const json_t *first;

	site_begin(&site, 2);
	rig_revise(&site.rig, 2, "max_unavailable = 50 %\n",
		   "max_unavailable = 50 %\nmax = 2\n");
	refused("train", "{\"count\":3}", 400, "has 0 to 2 nodes");
	answer = scale("train", "{\"count\":1,\"reason\":\"night\"}", 200);
	ck_assert_int_eq(bu_json_int(answer, "wanted", -1), 1);
	pools = site_call(&site, site.page, "GET", "/v1/pools", "", 200);
	first = json_array_get(json_object_get(pools, "pools"), 0);
	ck_assert_int_eq(bu_json_int(first, "wanted", -1), 1);
	ck_assert_str_ne(bu_json_str(first, "by", ""), "");
	/* Nobody scales over the page. */
	json_decref(site_call(&site, site.page, "POST", "/v1/pools/train/scale",
			      "{\"count\":2}", 404));
	site_end(&site);
}
END_TEST

RIG_UNIT("pools", a_pool_without_limits_is_shown_and_not_scaled,
	 a_word_is_taken_kept_and_told_with_its_speaker)
