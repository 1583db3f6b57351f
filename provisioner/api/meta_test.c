/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/meta: all rows of the model's tables with their words; kept by its ETag. */
#include <string.h>

#include "base/json.h"
#include "model/class.h"
#include "model/sentence.h"
#include "model/verb.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* Does each row name all of these, and is each row there? */
static void
has_rows(const json_t *meta, const char *table, size_t count, const char *const *keys)
{
	const json_t *list = json_object_get(meta, table);
	size_t i;
	json_t *row;

	ck_assert_msg(json_array_size(list) == count, "%s", table);
	json_array_foreach ((json_t *)list, i, row)
		for (const char *const *key = keys; *key; key++)
			ck_assert_msg(json_object_get(row, *key) != NULL, "%s[%zu].%s",
				      table, i, *key);
}

static const json_t *
row_of(const json_t *meta, const char *table, const char *key, const char *name)
{
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(meta, table), i, row)
		if (strcmp(bu_json_str(row, key, ""), name) == 0)
			return row;
	ck_abort_msg("%s has no %s", table, name);
	return NULL;
}

START_TEST(each_row_of_the_tables_is_there_with_its_words)
{
	bu_autojson json_t *meta = NULL, *args = NULL;
	const json_t *row;
	struct site site;

	site_begin(&site, 1);
	meta = site_call(&site, site.page, "GET", "/v1/meta", "", 200);
	has_rows(meta, "states", BU_STATE_COUNT,
		 (const char *const[]){"name", "help", "place", "bad", NULL});
	has_rows(
		meta, "verbs", BU_VERB_COUNT,
		(const char *const[]){"name", "args", "help", "grant", "states", NULL});
	has_rows(meta, "classes", BU_CLASS_COUNT,
		 (const char *const[]){"name", "help", "grant", NULL});
	has_rows(meta, "conditions", BU_CONDITION_COUNT,
		 (const char *const[]){"name", "words", "set", "cleared", NULL});
	has_rows(meta, "reasons", BU_REASON_COUNT - 1,
		 (const char *const[]){"code", "kind", "sentence", "args", NULL});
	row = row_of(meta, "reasons", "code", "lemon");
	ck_assert_str_eq(bu_json_str(row, "sentence", ""),
			 bu_reason_info(BU_REASON_LEMON)->text);
	args = json_pack("[s,s,s,s]", "times", "days", "node", "why");
	ck_assert(json_equal(json_object_get(row, "args"), args));
	row = row_of(meta, "states", "name", "failed");
	ck_assert_int_eq(bu_json_bool(row, "bad", 0), 1);
	row = row_of(meta, "verbs", "name", "rebuild");
	ck_assert_int_eq(bu_json_bool(row, "grant", 0), 1);
	ck_assert_str_eq(bu_json_str(row, "args", ""), "NODESET");
	row = row_of(meta, "links", "name", "script");
	ck_assert_str_eq(bu_json_str(row, "missing", ""),
			 "it has not asked for the kernel");
	site_end(&site);
}
END_TEST

START_TEST(it_is_asked_for_once)
{
	struct site site;
	struct talk first, again;
	bu_autofree char *request = NULL;
	char etag[80] = "";
	const char *at;

	site_begin(&site, 1);
	site_ask(&first, site.page, "GET", "/v1/meta", "");
	site_until_ended(&site, &first);
	at = strstr(first.text, "ETag: ");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_nonnull(strstr(first.text, "Cache-Control: no-cache\r\n"));
	ck_assert_int_eq(sscanf(at, "ETag: %79s", etag), 1);
	talk_end(&first);
	request = bu_xasprintf("GET /v1/meta HTTP/1.1\r\nHost: localhost\r\n"
			       "Connection: close\r\nIf-None-Match: %s\r\n\r\n",
			       etag);
	talk_begin(&again, site.page, request, 0);
	site_until_ended(&site, &again);
	ck_assert_int_eq(again.status, 304);
	ck_assert_ptr_null(strstr(again.text, "reasons"));
	talk_end(&again);
	site_end(&site);
}
END_TEST

BU_UNIT("meta", each_row_of_the_tables_is_there_with_its_words, it_is_asked_for_once)
