/* SPDX-License-Identifier: Apache-2.0 */
/* What a request's body says wrongly is refused, and nothing is done. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define VERDICT "/v1/nodes/node001/verdicts/dcgm"
#define TREE "{\"tree\":{\"files\":{}},"

/* Each field of each body; read as if it were missing, most would be carried out. */
static const struct {
	const char *method, *path, *body, *says;
} mistyped[] = {
	{"POST", "/v1/verbs/replace", "[]", "expected an object"},
	{"POST", "/v1/verbs/replace", "{\"nodes\":1}", "'nodes'"},
	{"POST", "/v1/verbs/replace", "{\"nodes\":\"node001\",\"dry_run\":\"yes\"}",
	 "dry_run: expected true or false"},
	{"POST", "/v1/verbs/power",
	 "{\"nodes\":\"node001\",\"op\":\"off\",\"reason\":\"a\",\"force\":\"yes\"}",
	 "force: expected true or false"},
	{"POST", "/v1/verbs/power", "{\"nodes\":\"node001\",\"op\":true}",
	 "op: expected a text"},
	{"POST", "/v1/verbs/rebuild", "{\"nodes\":\"node001\",\"grant\":[\"wipe\"]}",
	 "grant: expected a text"},
	{"POST", "/v1/nodes/node001/replace", "{\"op\":7}", "op: expected a text"},
	{"POST", "/v1/nodes/node001/replace", "{\"reason\":null}",
	 "reason: expected a text"},
	{"POST", "/v1/nodes/node001/replace", "{\"dry_run\":1}",
	 "dry_run: expected true or false"},
	{"PUT", VERDICT, "{}", "verdict: missing"},
	{"PUT", VERDICT, "{\"verdict\":\"fail\",\"text\":7}", "text: expected a text"},
	{"PUT", VERDICT, "{\"verdict\":\"fail\",\"expires_s\":\"60\"}",
	 "expires_s: expected a whole number"},
	{"PUT", VERDICT, "{\"verdict\":\"fail\",\"expires_s\":-1}",
	 "expires_s: 0 to 31536000"},
	{"PUT", VERDICT, "{\"verdict\":\"fail\",\"expires_s\":31536001}",
	 "expires_s: 0 to 31536000"},
	{"POST", "/v1/fabric/runs", "{\"set\":[\"node001\"]}", "'set'"},
	{"POST", "/v1/plan", "{}", "tree: missing"},
	{"POST", "/v1/plan", TREE "\"commit\":7}", "commit: expected a text"},
	{"POST", "/v1/plan", TREE "\"limit\":[\"node001\"]}", "limit: expected a text"},
	{"POST", "/v1/apply", "{\"digest\":7}", "'digest'"},
	{"POST", "/v1/apply", "{\"digest\":\"00\",\"grants\":\"wipe\"}", "'grants'"},
	{"POST", "/v1/apply", "{\"digest\":\"00\",\"grants\":[{\"class\":7}]}",
	 "grants[0]: field 'class'"},
};

START_TEST(what_is_mistyped_is_refused_and_nothing_is_done)
{
	struct site site;
	int64_t seq;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_pass(&site.rig, 10);
	seq = bu_store_appended(site.rig.store);
	for (size_t i = 0; i < BU_LEN(mistyped); i++) {
		bu_autojson json_t *reply =
			site_call(&site, site.local, mistyped[i].method,
				  mistyped[i].path, mistyped[i].body, 400);
		const json_t *error = json_object_get(reply, "error");

		ck_assert_msg(strstr(bu_json_str(error, "text", ""), mistyped[i].says),
			      "%s: %s", mistyped[i].body,
			      bu_json_str(error, "text", ""));
		ck_assert_str_eq(bu_json_str(error, "kind", ""), "invalid");
	}
	rig_pass(&site.rig, 10);
	ck_assert_int_eq(bu_store_appended(site.rig.store), seq);
	ck_assert_str_eq(site.api.kept[0].digest, "");
	site_end(&site);
}
END_TEST

/* The command line says that it has no limit; a body may be left out. */
START_TEST(what_is_left_out_has_its_meaning)
{
	struct site site;
	bu_autojson json_t *none = NULL, *sold = NULL, *verdict = NULL;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	none = site_call(&site, site.local, "POST", "/v1/plan", TREE "\"limit\":null}",
			 400);
	ck_assert_ptr_null(strstr(
		bu_json_str(json_object_get(none, "error"), "text", ""), "limit"));
	verdict = site_call(&site, site.local, "PUT", VERDICT,
			    "{\"verdict\":\"fail\",\"text\":\"hot\"}", 200);
	rig_pass(&site.rig, 10);
	ck_assert_uint_eq(rig_node(&site.rig, 1)->verdicts_count, 1);
	ck_assert_int_eq(rig_node(&site.rig, 1)->verdicts[0].is.until_ms, 0);
	sold = site_call(&site, site.local, "POST", "/v1/nodes/node001/replace", "",
			 200);
	rig_reason_says(rig_node(&site.rig, 1)->reason, "replace by local");
	site_end(&site);
}
END_TEST

RIG_UNIT("api bodies", what_is_left_out_has_its_meaning,
	 what_is_mistyped_is_refused_and_nothing_is_done)
