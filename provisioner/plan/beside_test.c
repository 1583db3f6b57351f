/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says beside its steps: what counts at once, and which orders go on. */
#include <string.h>

#include "base/json.h"
#include "provisioner/plan/plan.h"
#include "tests/support/plan.h"

#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define WITH(lines) "[node node001]\n" lines "[pool train]"

static const json_t *
entry_of(const json_t *plan, const char *member, size_t i)
{
	return json_array_get(json_object_get(plan, member), i);
}

static size_t
count_of(const json_t *plan, const char *member)
{
	return json_array_size(json_object_get(plan, member));
}

static void
is_change(const json_t *entry, const char *facet, const char *old, const char *new)
{
	ck_assert_str_eq(bu_json_str(entry, "facet", ""), facet);
	ck_assert_str_eq(bu_json_str(entry, "old", "?"), old);
	ck_assert_str_eq(bu_json_str(entry, "new", "?"), new);
	ck_assert_str_eq(bu_json_str(entry, "file", ""), "site.ini");
	ck_assert_int_gt(bu_json_int(entry, "line", 0), 0);
}

/* The order of node001 goes on by the revision that is applied. */
static void
order(struct site *site)
{
	struct bu_order *order = bu_node_order(site->nodes[0]);

	site->nodes[0]->state = BU_STATE_IMAGING;
	order->open = order->begun = 1;
	order->class = BU_CLASS_WIPE;
	strcpy(order->image, "debian12");
	strcpy(order->revision, site->applied->digest);
	strcpy(order->commit, "c0ffee");
}

START_TEST(a_correction_is_told_though_no_node_gets_a_step)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *same = NULL;

	begin(&site, "[pool train]", WITH("bmc_fingerprint = " PIN_A "\n"),
	      "[pool train]", WITH("bmc_fingerprint = " PIN_B "\nserial = S-9\n"));
	plan = make(&site);
	ck_assert_uint_eq(count_of(plan, "steps"), 0);
	ck_assert_uint_eq(count_of(plan, "reach"), 2);
	is_change(entry_of(plan, "reach", 0), "bmc_fingerprint", PIN_A, PIN_B);
	is_change(entry_of(plan, "reach", 1), "serial", "LAB-001", "S-9");
	ck_assert_str_eq(bu_json_str(entry_of(plan, "reach", 0), "nodes", ""),
			 "node001");
	/* what is applied is no news */
	site.input.applied = site.desired;
	same = make(&site);
	ck_assert_uint_eq(count_of(same, "reach"), 0);
	end(&site);
}
END_TEST

START_TEST(what_a_pool_changes_is_one_line_for_all_its_nodes)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *back = NULL;
	const struct bu_desired *is;

	begin(&site, NULL, NULL, "power = libvirt", "power = libvirt\nrack = r7");
	plan = make(&site);
	ck_assert_uint_eq(count_of(plan, "reach"), 1);
	is_change(entry_of(plan, "reach", 0), "rack", "", "r7");
	ck_assert_str_eq(bu_json_str(entry_of(plan, "reach", 0), "nodes", ""),
			 "node[001-002]");
	/* what nobody says any more is told, too */
	is = site.input.desired;
	site.input.desired = site.input.applied;
	site.input.applied = is;
	back = make(&site);
	ck_assert_str_eq(bu_json_str(entry_of(back, "reach", 0), "old", ""), "r7");
	ck_assert_str_eq(bu_json_str(entry_of(back, "reach", 0), "new", "?"), "");
	end(&site);
}
END_TEST

/* A plan for some nodes makes the revision the applied one of all. */
START_TEST(a_limit_hides_no_correction)
{
	struct site site;
	struct bu_nodeset *limit = bu_nodeset_parse("node002", NULL, NULL, NULL);
	bu_autojson json_t *plan = NULL;

	begin(&site, NULL, NULL, "[pool train]", WITH("rack = r9\n"));
	site.input.limit = limit;
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(entry_of(plan, "reach", 0), "nodes", ""),
			 "node001");
	bu_nodeset_destroy(limit);
	end(&site);
}
END_TEST

START_TEST(an_order_under_way_is_told_with_what_stays_and_what_counts)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *ended = NULL;
	const json_t *one;

	begin(&site, NULL, NULL, "[pool train]",
	      WITH("bmc_fingerprint = " PIN_B "\nkargs = quiet\n"));
	order(&site);
	plan = make(&site);
	ck_assert_uint_eq(count_of(plan, "under_way"), 1);
	one = entry_of(plan, "under_way", 0);
	ck_assert_str_eq(bu_json_str(one, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(one, "state", ""), "imaging");
	ck_assert_str_eq(bu_json_str(one, "rollout", ""), "r-1");
	ck_assert_str_eq(bu_json_str(one, "commit", ""), "c0ffee");
	ck_assert_str_eq(bu_json_str(one, "revision", ""), site.applied->digest);
	ck_assert_uint_eq(count_of(one, "reach"), 1);
	ck_assert_str_eq(json_string_value(entry_of(one, "reach", 0)),
			 "bmc_fingerprint");
	ck_assert_uint_eq(count_of(one, "content"), 1);
	is_change(entry_of(one, "content", 0), "kargs", "", "quiet");
	/* one that has ended, or has not begun, goes on by no other revision */
	bu_node_order(site.nodes[0])->begun = 0;
	ended = make(&site);
	ck_assert_uint_eq(count_of(ended, "under_way"), 0);
	end(&site);
}
END_TEST

/* Its order is compared with the plan, not what it has had before. */
START_TEST(what_the_order_makes_of_the_node_counts)
{
	struct site site;
	bu_autojson json_t *plan = NULL;
	const json_t *one;

	begin(&site, NULL, NULL, "[pool train]", WITH("rack = r9\n"));
	order(&site);
	strcpy(bu_node_order(site.nodes[0])->image_digest, "d0");
	plan = make(&site);
	one = entry_of(plan, "under_way", 0);
	ck_assert_uint_eq(count_of(one, "content"), 1);
	ck_assert_str_eq(bu_json_str(entry_of(one, "content", 0), "facet", ""),
			 "image");
	ck_assert_str_eq(bu_json_str(entry_of(one, "content", 0), "old", ""),
			 "debian12 d0");
	end(&site);
}
END_TEST

/* Its order keeps the machine that it has. */
START_TEST(a_machine_that_replaces_one_under_way_is_no_correction)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *plan = NULL;
	const json_t *why;

	begin(&site, NULL, NULL, "[pool train]",
	      WITH("serial = NEW-1\nmac = 52:54:00:99:00:01\n"
		   "bmc = \"qemu:///system#new\"\n"));
	order(&site);
	node = site.nodes[0];
	bu_node_set_machine(node, "00112233445566778");
	bu_node_set_serial(node, "LAB-001");
	plan = make(&site);
	why = json_object_get(entry_of(plan, "refused", 0), "why");
	ck_assert_str_eq(bu_json_str(why, "code", ""), "replaced-on-way");
	ck_assert_uint_eq(count_of(plan, "reach"), 0);
	ck_assert_uint_eq(count_of(entry_of(plan, "under_way", 0), "reach"), 0);
	end(&site);
}
END_TEST

BU_UNIT("beside", a_correction_is_told_though_no_node_gets_a_step,
	what_a_pool_changes_is_one_line_for_all_its_nodes, a_limit_hides_no_correction,
	an_order_under_way_is_told_with_what_stays_and_what_counts,
	what_the_order_makes_of_the_node_counts,
	a_machine_that_replaces_one_under_way_is_no_correction)
