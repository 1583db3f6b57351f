/* SPDX-License-Identifier: Apache-2.0 */
/* A plan is what its digest names, and reads as its consequences. */
#include "cli/render/planned.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define STEP(node, class, from, batch, minutes, why, changes)                          \
	"{'node':'" node "','pool':'train','class':'" class                            \
		"','image':'debian12',"                                                \
		"'digest':'d','facets':'f','from':'" from "','batch':" batch           \
		",'minutes':" minutes ",'why':{'code':'other','args':{'words':'" why   \
		"'}},'changes':[" changes "]}"
#define CHANGE(facet, class, old, new)                                                 \
	"{'facet':'" facet                                                             \
	"','class':'" class "','old':'" old                                            \
			    "','new':'" new "','file':'site.ini','line':12}"
#define KARGS CHANGE("kargs", "reboot", "", "iommu=pt")
#define PLAN(steps, refused, left, more)                                               \
	"{'v':2,'revision':'0123456789abcdef','base':'','commit':'fedcba9876543210',"  \
	"'limit':'','observed':'','steps':[" steps "],'refused':[" refused             \
	"],'left':[" left "],'pools':{'train':{'canary':1,'max_unavailable':2,"        \
	"'failure_budget':3,'maintenance':'sat-sun 00:00-24:00'}},'waiting':{},"       \
	"'warnings':[],'left_out':0,'unchanged':5" more "}"
#define NEW(node) STEP(node, "install", "", "-1", "null", "new in the profile", "")
/* clang-format off */
#define MIXED PLAN(                                                                    \
	NEW("node001") "," NEW("node002") "," NEW("node004") ","                       \
	STEP("node007", "wipe", "failed", "-1", "null", "failed: no link", "") ","     \
	STEP("node010", "reboot", "ready", "0", "4.5", "w", KARGS) ","                 \
	STEP("node011", "reboot", "ready", "1", "4.5", "w", KARGS) ","                 \
	STEP("node012", "reboot", "ready", "1", "4.5",                                 \
	     "x','last':'it did not boot", KARGS),                                     \
	"{'node':'node008','why':{'code':'other','args':{'words':'a','x':'imaging'}}},"  \
	"{'node':'node009','why':{'code':'other','args':{'words':'a','x':'imaging'}}},"  \
	"{'node':'node003','why':{'code':'other','args':{'words':'a','x':'booting'}}}",  \
	"'old1','old2'", "")
/* clang-format on */

/* plan: is given away. */
static struct bu_planned
planned_of(json_t *plan)
{
	bu_autojson json_t *value =
		json_pack("{s:o}", "plan", complete(bu_plan_fields, plan));
	struct bu_planned result;
	struct bu_err err;
	char digest[65];

	bu_json_digest(json_object_get(value, "plan"), digest);
	json_object_set_new(value, "digest", json_string(digest));
	ck_assert_msg(bu_planned_from_json(value, &result, &err) == 0, "%s", err.text);
	ck_assert_str_eq(result.digest, digest);
	return result;
}

static struct bu_planned
planned(const char *text)
{
	return planned_of(quoted(text));
}

/* All of it: what a person reads at night is worth being compared to the letter. */
START_TEST(reads_as_its_consequences)
{
	static const char want[] =
		"pool train: node010 first, then 1 batch of 2; time unknown: no such "
		"step was done here yet\n"
		"  4 others at once: out of service, or relabelled only\n"
		"  stops itself at 3 failures; only in sat-sun 00:00-24:00\n"
		"  wipe        node007\n"
		"              failed: no link\n"
		"  install     node[001-002,004] (3 nodes)\n"
		"              new in the profile\n"
		"  reboot      node[010-011] (2 nodes)\n"
		"              site.ini:12 kargs: (none) -> iommu=pt\n"
		"  reboot      node012\n"
		"              last time: it did not boot\n"
		"              site.ini:12 kargs: (none) -> iommu=pt\n"
		"\n"
		"refused: node[008-009]: a\n"
		"refused: node003: a\n"
		"no longer in the profile, left as they are: old[1-2]\n"
		"unchanged: 5 nodes\n"
		"reboot: 3 nodes, drained, rebooted, validated, joins again\n"
		"install: 3 nodes, put on an empty disk, or into memory\n"
		"wipe: 1 node, drained; what is on the disk is lost; needs --grant "
		"wipe\n";
	struct bu_planned plan = planned(MIXED);
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	ck_assert_ptr_nonnull(
		strstr(text, " of revision 0123456789ab (commit fedcba987654)\n"));
	ck_assert_ptr_null(strstr(text, "nothing to do"));
	bu_planned_fini(&plan);
}
END_TEST

/* A grant is for one disk. */
START_TEST(what_is_lost_is_named)
{
	static const char first[] = "{'path':'/dev/sda','serial':'S1',"
				    "'size_bytes':3840755982336}";
	static const char third[] = "{'path':'/dev/sda','serial':'S3',"
				    "'holds':'LVM2_member, gpt'}";
	static const char second[] = "{'path':'/dev/sda','serial':'S2'}";
	const struct {
		const char *one, *other, *says;
	} rows[] = {
		{first, first,
		 "              disk /dev/sda, serial number S1, 3840.8 GB\n"},
		{first, second, "S1, 3840.8 GB (node001; each its own)\n"},
		{second, second, "              disk /dev/sda, serial number S2\n"},
		{third, third,
		 "disk /dev/sda, serial number S3; on it: LVM2_member, gpt\n"},
		{"{'path':'/dev/vda'}", "{'path':'/dev/vda'}",
		 "              disk /dev/vda\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *value =
			quoted(PLAN(STEP("node001", "wipe", "failed", "-1", "null", "w",
					 "") "," STEP("node002", "wipe", "failed", "-1",
						      "null", "w", ""),
				    "", "", ""));
		json_t *steps = json_object_get(value, "steps");
		bu_autofree char *text = NULL;
		struct bu_planned plan;

		json_object_set_new(json_array_get(steps, 0), "disk",
				    quoted(rows[i].one));
		json_object_set_new(json_array_get(steps, 1), "disk",
				    quoted(rows[i].other));
		plan = planned_of(value);
		text = WRITTEN(bu_planned_print(&plan, out));
		ck_assert_msg(strstr(text, rows[i].says) != NULL, "%s", text);
		ck_assert_msg(strstr(text, "wipe        node[001-002]") != NULL, "%s",
			      text);
		bu_planned_fini(&plan);
	}
}
END_TEST

/* The other disks that go with it, each with its number; a reimage keeps them. */
START_TEST(says_which_disks_an_array_is_of)
{
	static const struct {
		const char *class, *says;
		int forgets;
	} rows[] = {
		{"wipe",
		 "scratch disk /dev/vdb, serial number N1, 1.0 GB; on it: gpt\n"
		 "              scratch disk /dev/vdc, serial number N2, 2.0 GB\n",
		 0},
		{"reimage",
		 "scratch disk /dev/vdb, serial number N1, 1.0 GB; on it: gpt, kept\n",
		 0},
		{"reimage",
		 "N1, 1.0 GB; on it: gpt, emptied by the restart\n"
		 "              scratch disk /dev/vdc, serial number N2, 2.0 GB, "
		 "emptied by the restart\n",
		 1},
		{"wipe", "N1, 1.0 GB; on it: gpt\n", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *value = quoted(
			PLAN(STEP("node001", "wipe", "failed", "-1", "null", "w", ""),
			     "", "", ""));
		json_t *step = json_array_get(json_object_get(value, "steps"), 0);
		struct bu_planned plan;
		bu_autofree char *text = NULL;

		json_object_set_new(step, "class", json_string(rows[i].class));
		if (rows[i].forgets)
			json_object_set_new(step, "forgets", json_true());
		json_object_set_new(
			step, "scratch",
			quoted("[{'path':'/dev/vdb','serial':'N1','size_bytes':"
			       "1000000000,'holds':'gpt','written':true},{'path':"
			       "'/dev/vdc','serial':'N2','size_bytes':2000000000,"
			       "'holds':'','written':false}]"));
		json_object_set_new(step, "mirror",
				    quoted("{'path':'/dev/vdd','serial':'M1',"
					   "'size_bytes':3000000000,'holds':'gpt'}"));
		plan = planned_of(value);
		text = WRITTEN(bu_planned_print(&plan, out));
		ck_assert_msg(strstr(text, rows[i].says) != NULL, "%s", text);
		ck_assert_msg(strstr(text,
				     "mirror disk /dev/vdd, serial number M1, 3.0 "
				     "GB; on it: gpt\n") != NULL,
			      "%s", text);
		bu_planned_fini(&plan);
	}
}
END_TEST

/* Nodes whose other roots differ are not alike. */
START_TEST(says_which_root_stays)
{
	json_t *value = quoted(PLAN(
		STEP("node001", "reimage", "failed", "-1", "null", "w", "") "," STEP(
			"node002", "reimage", "failed", "-1", "null", "w", ""),
		"", "", ""));
	json_t *steps = json_object_get(value, "steps");
	struct bu_planned plan;
	bu_autofree char *text = NULL;

	for (size_t i = 0; i < 2; i++)
		json_object_set_new(json_array_get(steps, i), "stays",
				    json_string("debian12"));
	json_object_set_new(json_array_get(steps, 1), "there", json_true());
	plan = planned_of(value);
	text = WRITTEN(bu_planned_print(&plan, out));
	ck_assert_msg(
		strstr(text, "into the other root; debian12 stays to go back to\n"),
		"%s", text);
	ck_assert_msg(strstr(text, "into the other root; debian12 stays to go back to; "
				   "the image is there, nothing is fetched\n"),
		      "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(tells_the_time_of_batches_one_after_the_other)
{
	struct bu_planned plan = planned(PLAN(
		STEP("node010", "reboot", "ready", "0", "4.5", "w", KARGS) "," STEP(
			"node011", "reboot", "ready", "1", "5.5", "w",
			KARGS) "," STEP("node012", "reconfigure", "ready", "1", "0.5",
					"w", "") "," STEP("node013", "reboot", "ready",
							  "2", "5.0", "w", KARGS),
		"", "", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_msg(strstr(text, "node010 first, then 2 batches of 2; about 15m 00s\n"
				   "  stops itself at"),
		      "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

/* What has no batches has no canaries, no others and nothing that stops itself. */
START_TEST(what_is_out_of_service_goes_all_at_once)
{
	struct bu_planned plan =
		planned(PLAN(NEW("node001") "," NEW("node002"), "", "", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_msg(strstr(text, "pool train: all at once; time unknown: no such "
				   "step was done here yet\n"
				   "  install     node[001-002] (2 nodes)\n"),
		      "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(what_differs_by_node_is_one_group)
{
	struct bu_planned plan = planned(
		PLAN(STEP("node010", "reconfigure", "ready", "0", "null", "w",
			  CHANGE("network.a.address", "reconfigure", "10.0.0.1",
				 "10.1.0.1")) "," STEP("node011", "reconfigure",
						       "ready", "1", "null", "w",
						       CHANGE("network.a.address",
							      "reconfigure", "10.0.0.2",
							      "10.1.0.2")),
		     "", "", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_msg(strstr(text,
			     "  reconfigure node[010-011] (2 nodes)\n"
			     "              site.ini:12 network.a.address (node010; "
			     "each its own)\n"
			     "                was 10.0.0.1\n"
			     "                is  10.1.0.1\n"),
		      "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

/* A value of a profile may read like any sentence of ours. */
START_TEST(words_decide_nothing)
{
	json_t *value = quoted(PLAN(
		STEP("node010", "reboot", "ready", "0", "4.5", "w", KARGS) "," STEP(
			"node011", "reboot", "ready", "1", "4.5",
			"w; last time: it did not boot", KARGS) "," NEW("node001"),
		"", "", ""));
	struct bu_planned plan = planned_of(value);
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_msg(strstr(text, "  reboot      node[010-011] (2 nodes)\n") != NULL,
		      "%s", text);
	ck_assert_msg(strstr(text, "last time") == NULL, "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(policy_is_said_last_and_refuses)
{
	struct bu_planned plan = planned(PLAN(
		"",
		"{'node':'node[001-002]','why':'nodes node[001-002] are in zone z1; "
		"x','rule':'residency','file':'site.ini','line':4,'named':true},"
		"{'node':'node003','why':'a version does not fit','rule':"
		"'compatibility','file':'site.ini','line':7},"
		"{'node':'node004','why':'its MAC is that of node005, and node004 "
		"holds another','rule':'machines','file':'site.ini','line':8},"
		"{'node':'','why':'[image a] comes from evil','rule':'registries',"
		"'file':'site.ini','line':9}",
		"", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	const char *last = strstr(text, "This plan cannot");
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(last);
	ck_assert_str_eq(last, "This plan cannot be applied:\n"
			       "  site.ini:4: nodes node[001-002] are in zone z1; x\n"
			       "  site.ini:7: node003: a version does not fit\n"
			       "  site.ini:8: node004: its MAC is that of node005, and "
			       "node004 holds another\n"
			       "  site.ini:9: [image a] comes from evil\n");
	ck_assert_int_eq(bu_planned_allowed(&plan, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_when_there_is_nothing_to_do)
{
	struct bu_planned plan = planned(PLAN("", "", "", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	bu_autofree char *nodes = bu_planned_hostlist(&plan);

	ck_assert_msg(strncmp(text, "nothing to do\nunchanged: 5 nodes\nplan ", 38) ==
			      0,
		      "%s", text);
	ck_assert_int_eq(bu_planned_changes(&plan), 0);
	ck_assert_str_eq(nodes, "");
	ck_assert_int_eq(bu_planned_allowed(&plan, NULL), 0);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(nothing_to_do_is_not_said_of_what_is_not_as_it_should_be)
{
	struct bu_planned plan = planned(
		PLAN("", "", "",
		     ",'drift':[{'node':'node001','state':'ready',"
		     "'condition':'unreachable','said':{'code':'condition','args':"
		     "{'name':'unreachable'}}},"
		     "{'node':'node002','state':'ready','condition':'unreachable',"
		     "'said':{'code':'condition','args':{'name':'unreachable'}}}]"));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	static const char want[] =
		"nothing to apply, but some nodes are not as they should be\n"
		"drift: node[001-002]: ready, but unreachable: its agent does not "
		"answer\n"
		"unchanged: 5 nodes\n";

	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_first_who_is_adopted)
{
	struct bu_planned plan =
		planned(PLAN("", "", "", ",'adopts':['node001','node002','node007']"));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	static const char want[] =
		"adopted as they run, without a step: node[001-002,007]\n"
		"nothing to do\nunchanged: 5 nodes\n";

	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_who_stays_quarantined)
{
	struct bu_planned plan = planned(
		PLAN("", "", "", ",'quarantined':[{'node':'node001','why':'w'}]"));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	static const char want[] =
		"nothing to apply, but some nodes are not as they should be\n"
		"left as it is: node001: w\nunchanged: 5 nodes\n";

	ck_assert_msg(strncmp(text, want, strlen(want)) == 0, "%s", text);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_who_waits_and_who_is_left_out)
{
	struct bu_planned plan = planned(
		PLAN("", "", "",
		     ",'limit':'node[001-002]','left_out':7,'waiting':{'r-7':3},"
		     "'warnings':['site.ini:3: node001: a version']"));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	ck_assert_ptr_nonnull(
		strstr(text, "\nwarning: site.ini:3: node001: a version\n"
			     "ordered already: 3 nodes, see bringup rollout show r-7\n"
			     "left out by --limit node[001-002]: 7 nodes\n"
			     "unchanged: 5 nodes\n"));
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(a_changed_plan_is_refused)
{
	struct bu_planned plan = planned(MIXED), again = {0};
	bu_autojson json_t *value = bu_planned_to_json(&plan);
	json_t *steps = json_object_get(json_object_get(value, "plan"), "steps");
	struct bu_err err;

	json_array_remove(steps, 3);
	ck_assert_int_eq(bu_planned_from_json(value, &again, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_null(again.plan);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(what_is_no_plan_is_refused)
{
	static const char *const bad[] = {
		"{}",
		"{'plan':[],'digest':'x'}",
		"{'plan':{'v':1},'digest':'x'}",
		"{'plan':{'v':2,'steps':{},'refused':[],'left':[]},'digest':'x'}",
		"{'plan':{'v':2,'steps':[],'refused':[]},'digest':'x'}",
		"{'plan':{'v':2,'steps':[],'refused':[],'left':[]}}",
	};
	struct bu_planned plan;
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *value = quoted(bad[i]);

		ck_assert_msg(bu_planned_from_json(value, &plan, &err) == -1, "%s",
			      bad[i]);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
}
END_TEST

/* What is missing is named with its place; it is no 0 and no "". */
START_TEST(what_is_missing_is_named)
{
	static const struct {
		const char *list, *key, *want;
	} rows[] = {
		{"steps", "batch", "the plan: steps[1].batch: missing"},
		{"steps", "class", "the plan: steps[1].class: missing"},
		{"refused", "why", "the plan: refused[1].why: missing"},
		{NULL, "unchanged", "the plan: unchanged: missing"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *value = json_pack(
			"{s:o,s:s}", "plan", complete(bu_plan_fields, quoted(MIXED)),
			"digest", "x");
		json_t *at = json_object_get(value, "plan");
		struct bu_planned plan;
		struct bu_err err = {0};

		if (rows[i].list)
			at = json_array_get(json_object_get(at, rows[i].list), 1);
		ck_assert_int_eq(json_object_del(at, rows[i].key), 0);
		ck_assert_int_eq(bu_planned_from_json(value, &plan, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strncmp(err.text, rows[i].want, strlen(rows[i].want)) ==
				      0,
			      "%s", err.text);
		ck_assert_ptr_nonnull(strstr(err.text, "another version"));
	}
}
END_TEST

START_TEST(is_the_same_after_a_file)
{
	struct bu_planned plan = planned(MIXED), again;
	char path[] = "/tmp/planned_test.XXXXXX";
	struct bu_err err;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(bu_planned_save(&plan, path, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_planned_load(path, &again, &err) == 0, "%s", err.text);
	ck_assert_str_eq(again.digest, plan.digest);
	ck_assert(json_equal(again.plan, plan.plan));
	unlink(path);
	bu_planned_fini(&plan);
	bu_planned_fini(&again);
}
END_TEST

BU_UNIT("planned", reads_as_its_consequences, what_is_lost_is_named,
	says_which_disks_an_array_is_of, says_which_root_stays,
	tells_the_time_of_batches_one_after_the_other,
	what_is_out_of_service_goes_all_at_once, what_differs_by_node_is_one_group,
	words_decide_nothing, policy_is_said_last_and_refuses,
	says_when_there_is_nothing_to_do,
	nothing_to_do_is_not_said_of_what_is_not_as_it_should_be,
	says_first_who_is_adopted, says_who_stays_quarantined,
	says_who_waits_and_who_is_left_out, a_changed_plan_is_refused,
	what_is_no_plan_is_refused, what_is_missing_is_named, is_the_same_after_a_file)
