/* SPDX-License-Identifier: Apache-2.0 */
/* A status document that follows from a whole one and from what changed. */
#include "cli/changes.h"

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

static void
take(json_t **status, const char *text)
{
	bu_autojson json_t *answer = quoted(text);

	bu_changes_take(status, answer);
}

static void
is(const json_t *status, const char *text)
{
	bu_autojson json_t *want = quoted(text);

	ck_assert_msg(json_equal(status, want), "%s", json_dumps(status, JSON_COMPACT));
}

START_TEST(changes_make_the_document_of_their_version)
{
	bu_autojson json_t *status = NULL;

	take(&status, "{'version':5,'site':'a','counts':{'ready':2},'nodes':["
		      "{'name':'n1','state':'ready'},{'name':'n2','state':'ready'}]}");
	take(&status,
	     "{'version':6,'since':5,'site':'a','counts':{'ready':1,"
	     "'failed':1},'nodes':[{'name':'n2','state':'failed'}],'gone':[]}");
	is(status, "{'version':6,'site':'a','counts':{'ready':1,'failed':1},'nodes':["
		   "{'name':'n1','state':'ready'},{'name':'n2','state':'failed'}]}");
	/* Nothing has changed. */
	take(&status, "{'version':6,'since':6,'site':'a','counts':{'ready':1,"
		      "'failed':1},'nodes':[],'gone':[]}");
	is(status, "{'version':6,'site':'a','counts':{'ready':1,'failed':1},'nodes':["
		   "{'name':'n1','state':'ready'},{'name':'n2','state':'failed'}]}");
	/* One goes, and another one comes. */
	take(&status, "{'version':8,'since':6,'site':'b','counts':{'failed':1,"
		      "'enrolled':1},'nodes':[{'name':'n3','state':'enrolled'}],"
		      "'gone':['n1']}");
	is(status, "{'version':8,'site':'b','counts':{'failed':1,'enrolled':1},"
		   "'nodes':[{'name':'n2','state':'failed'},"
		   "{'name':'n3','state':'enrolled'}]}");
	/* Another process answers with all. */
	take(&status,
	     "{'version':3,'site':'b','nodes':[{'name':'n9','state':'ready'}]}");
	is(status, "{'version':3,'site':'b','nodes':[{'name':'n9','state':'ready'}]}");
}
END_TEST

BU_UNIT("changes", changes_make_the_document_of_their_version)
