/* SPDX-License-Identifier: Apache-2.0 */
/* What takes effect at once, and what goes on, as a person reads it. */
#include <string.h>

#include "base/json.h"
#include "cli/render/planned.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define PLAN(more)                                                                     \
	"{'v':2,'revision':'0123456789abcdef','base':'','commit':'','limit':'',"       \
	"'observed':'','steps':[],'refused':[],'left':[],'pools':{},'waiting':{},"     \
	"'warnings':[],'left_out':0,'unchanged':5" more "}"
#define REACH(nodes, facet, old, new)                                                  \
	"{'nodes':'" nodes "','facet':'" facet "','old':'" old                         \
	"','new':'" new "','file':'site.ini','line':12}"
#define UNDER_WAY(node, reach, content)                                                \
	"{'node':'" node "','state':'imaging','rollout':'r-1','revision':"             \
	"'fedcba9876543210','commit':'','reach':[" reach "],'content':[" content "]}"
#define KARGS                                                                          \
	"{'facet':'kargs','class':'reboot','old':'','new':'quiet','file':'site.ini',"  \
	"'line':14}"

/* The text, owned; *ret_changes: whether --detailed-exitcode says so. */
static char *
shown(const char *json, int *ret_changes)
{
	bu_autojson json_t *value =
		json_pack("{s:o}", "plan", complete(bu_plan_fields, quoted(json)));
	struct bu_planned planned;
	struct bu_err err;
	char digest[65], *text;

	bu_json_digest(json_object_get(value, "plan"), digest);
	json_object_set_new(value, "digest", json_string(digest));
	ck_assert_msg(bu_planned_from_json(value, &planned, &err) == 0, "%s", err.text);
	text = WRITTEN(bu_planned_print(&planned, out));
	*ret_changes = bu_planned_changes(&planned);
	bu_planned_fini(&planned);
	return text;
}

static void
begins(const char *json, int changes, const char *want)
{
	int is;
	bu_autofree char *text = shown(json, &is);

	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	ck_assert_int_eq(is, changes);
}

START_TEST(a_correction_is_a_change_though_no_node_gets_a_step)
{
	begins(PLAN(",'reach':[" REACH("node[001-002]", "serial", "a", "b") "," REACH(
		       "node[001-002]", "rack", "", "r1") "," REACH("node003", "bmc",
								    "x", "") "]"),
	       1,
	       "no node gets a step; what changes takes effect at once\n"
	       "takes effect at once: node[001-002]\n"
	       "              site.ini:12 serial: a -> b\n"
	       "              site.ini:12 rack: (none) -> r1\n"
	       "takes effect at once: node003\n"
	       "              site.ini:12 bmc: x -> (none)\n"
	       "unchanged: 5 nodes\n"
	       "at once: 3 changes of how machines are reached and known, for orders "
	       "under way, too\n");
}
END_TEST

START_TEST(orders_under_way_say_what_stays_and_what_counts)
{
	begins(PLAN(",'reach':[" REACH(
		       "node[001-002]", "serial", "a",
		       "b") "],"
			    "'under_way':[" UNDER_WAY(
				    "node001", "'serial','bmc'",
				    KARGS) "," UNDER_WAY("node002", "'serial','bmc'",
							 KARGS) "," UNDER_WAY("node003",
									      "",
									      "") "]"),
	       1,
	       "no node gets a step; what changes takes effect at once\n"
	       "takes effect at once: node[001-002]\n"
	       "              site.ini:12 serial: a -> b\n"
	       "under way: node[001-002]: imaging, by rollout r-1 of revision "
	       "fedcba987654\n"
	       "              takes effect at once: serial, bmc\n"
	       "              stays as ordered until that has ended, or bringup apply "
	       "--restart-orders node[001-002]:\n"
	       "              site.ini:14 kargs: (none) -> quiet\n"
	       "under way: node003: imaging, by rollout r-1 of revision fedcba987654\n"
	       "unchanged: 5 nodes\n");
}
END_TEST

/* An order that goes on is no change by itself. */
START_TEST(an_order_alone_is_nothing_to_apply)
{
	begins(PLAN(",'under_way':[" UNDER_WAY("node001", "", KARGS) "]"), 0,
	       "nothing to do\nunder way: node001: imaging");
}
END_TEST

/* A person sees that something under way is taken back. */
START_TEST(a_step_that_begins_anew_says_so)
{
	int is;
	bu_autofree char *text = shown(
		"{'v':2,'revision':'0123456789abcdef','base':'','commit':'','limit':'',"
		"'observed':'','steps':[{'node':'node001','pool':'train','class':"
		"'install','image':'i','digest':'d','facets':'f','from':'inspecting',"
		"'batch':-1,'minutes':null,'why':'not installed','anew':true,"
		"'changes':[]},{'node':'node002','pool':'train','class':'install',"
		"'image':'i','digest':'d','facets':'f','from':'inspecting','batch':-1,"
		"'minutes':null,'why':'not installed','changes':[]}],"
		"'refused':[],'left':[],'pools':{'train':{'canary':1,"
		"'max_unavailable':2,'failure_budget':3,'maintenance':''}},'waiting':{},'warnings':[],"
		"'left_out':0,'unchanged':0}",
		&is);

	ck_assert_msg(strstr(text,
			     "  install     node001\n"
			     "              its order under way is withdrawn, and "
			     "begins anew\n"
			     "              not installed\n"
			     "  install     node002\n"
			     "              not installed\n") != NULL,
		      "%s", text);
	ck_assert_int_eq(is, 1);
}
END_TEST

BU_UNIT("planned beside", a_step_that_begins_anew_says_so,
	a_correction_is_a_change_though_no_node_gets_a_step,
	orders_under_way_say_what_stays_and_what_counts,
	an_order_alone_is_nothing_to_apply)
