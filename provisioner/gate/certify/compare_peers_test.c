/* SPDX-License-Identifier: Apache-2.0 */
/* With which machines a new report is laid side by side, and what of theirs counts. */
#include "base/json.h"
#include "provisioner/gate/certify/certify.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* So many of a kind are a sample: node SAMPLE + 1 and on are none of it. */
enum { SAMPLE = 64, LAST = SAMPLE + 6 };

static void
begin(struct rig *rig, int nodes)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	for (int i = 1; i <= nodes; i++) {
		struct bu_node *node = rig_node(rig, i);

		rig_set_boot(node, i);
		node->state = BU_STATE_VALIDATING;
	}
}

/* "ID SUBJECT SEEN EXPECTED" of rows that passed; those of a cable failed. Owned. */
static json_t *
fact(const char *id, const char *subject, const char *seen, const char *expected)
{
	return json_pack("[s,s,s,s,s]", id, subject, seen,
			 strcmp(id, "cabling") == 0 ? "fail" : "pass", expected);
}

/* The log has this report of a node; facts is taken over. */
static void
reported(const struct rig *rig, int number, json_t *facts)
{
	bu_autofree char *text = bu_json_canonical(facts), *marks = NULL;
	struct bu_node *node = rig_node(rig, number);
	struct bu_checks report;
	char digest[BU_DIGEST_SIZE];
	json_t *one;
	size_t i;

	bu_checks_init(&report);
	json_array_foreach (facts, i, one) {
		const char *id = json_string_value(json_array_get(one, 0));
		enum bu_verdict verdict =
			strcmp(id, "cabling") == 0 ? BU_VERDICT_FAIL : BU_VERDICT_PASS;

		if (bu_check_id_is_valid(id))
			BU_CHECK_SET(
				bu_checks_add(&report, "audit", id, verdict, "")->seen,
				"%s", json_string_value(json_array_get(one, 2)));
	}
	ck_assert_int_eq(bu_store_put_blob(rig->store, text, digest, NULL), 0);
	marks = bu_gate_marks(&report);
	json_decref(node->checks.body);
	node->checks.body = json_pack("{s:s,s:s}", "facts", digest, "marks", marks);
	node->checks.is = (struct bu_body_checks){
		.boot_id = node->boot_id,
		.facts = bu_json_str(node->checks.body, "facts", ""),
		.marks = bu_json_str(node->checks.body, "marks", ""),
		.miscabled = bu_gate_is_miscabled(&report)};
	bu_checks_fini(&report);
	json_decref(facts);
}

static void
is_guid(const struct rig *rig, int number, const char *guid)
{
	reported(rig, number, json_pack("[o]", fact("guid", "mlx5_0", guid, "")));
}

/* A report of one row comes; what is found is added. */
static struct bu_checks
compare(const struct rig *rig, int number, const char *id, const char *seen,
	const char *expected)
{
	struct bu_checks report;
	struct bu_check *row;

	bu_checks_init(&report);
	row = bu_checks_add(&report, "audit", id,
			    strcmp(id, "cabling") == 0 ? BU_VERDICT_FAIL
						       : BU_VERDICT_PASS,
			    "mlx5_0");
	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	bu_gate_compare(rig->gate, rig_node(rig, number), &report);
	return report;
}

/* The words of what was found; "" = nothing. Owned. */
static char *
found(const struct rig *rig, int number, const char *id, const char *seen)
{
	struct bu_checks report = compare(rig, number, id, seen, "");
	char *text = bu_xstrdup(report.count > 1 ? report.list[1].text : "");

	ck_assert_uint_le(report.count, 2);
	bu_checks_fini(&report);
	return text;
}

static void
finds(const struct rig *rig, int number, const char *id, const char *seen,
      const char *want)
{
	bu_autofree char *text = found(rig, number, id, seen);

	ck_assert_str_eq(text, want);
}

/* It runs now, with a report of its present boot, and is of the same class. */
START_TEST(only_machines_that_run_are_doubles)
{
	enum { DOUBLE, UNSEEN, BOOT, AWAY, OUT, CLASS, READY, CASES };

	for (int one = DOUBLE; one < CASES; one++) {
		struct bu_desired_hardware class;
		struct bu_node *node;
		struct rig rig;

		begin(&rig, 3);
		node = rig_node(&rig, 1);
		if (one != UNSEEN)
			is_guid(&rig, 1, "0x1");
		if (one == BOOT)
			bu_node_set_boot_id(node, "another");
		if (one == BOOT)
			node->checks.is.boot_id = "boot-1";
		if (one == AWAY)
			node->state = BU_STATE_IMAGING;
		if (one == OUT)
			node->state = BU_STATE_QUARANTINED;
		if (one == READY)
			node->state = BU_STATE_READY;
		class = *rig.fleet->desired->nodes[0].hardware;
		if (one == CLASS)
			rig.fleet->desired->nodes[0].hardware = &class;
		finds(&rig, 2, "guid", "0x1",
		      one == DOUBLE || one == READY
			      ? "node002 and node001 have the same node GUID: 0x1"
			      : "");
		finds(&rig, 2, "guid", "0x2", "");
		rig_end(&rig);
	}
}
END_TEST

/* What a machine told before is its no more. */
START_TEST(what_moved_on_is_no_double)
{
	static const char twice[] = "node002 and node001 have the same node GUID: 0x1";
	struct rig rig;

	begin(&rig, 3);
	is_guid(&rig, 1, "0x1");
	finds(&rig, 2, "guid", "0x1", twice);
	is_guid(&rig, 1, "0x9");
	finds(&rig, 2, "guid", "0x1", "");
	finds(&rig, 2, "guid", "0x9",
	      "node002 and node001 have the same node GUID: 0x9");
	/* Two have it: one of them goes. */
	is_guid(&rig, 1, "0x1");
	is_guid(&rig, 3, "0x1");
	finds(&rig, 2, "guid", "0x1", twice);
	is_guid(&rig, 1, "0x9");
	finds(&rig, 2, "guid", "0x1",
	      "node002 and node003 have the same node GUID: 0x1");
	/* It reports anew itself. */
	finds(&rig, 3, "guid", "0x1", "");
	rig_end(&rig);
}
END_TEST

/* Most of a sample of so many; a double is found among all, and so is a rack. */
START_TEST(a_sample_shows_what_most_have)
{
	struct bu_checks report;
	struct rig rig;

	begin(&rig, LAST);
	for (int i = 1; i < LAST; i++)
		reported(&rig, i,
			 json_pack("[o,o]",
				   fact("nic-firmware", "mlx5_0",
					i > SAMPLE ? "1.1" : "1.0", ""),
				   fact("guid", "mlx5_0", i == LAST - 1 ? "0x1" : "",
					"")));
	finds(&rig, LAST, "nic-firmware", "1.1",
	      "firmware of mlx5_0 is 1.1, that of 64 of 65 machines like it 1.0");
	/* Who takes no part in it makes way for others. */
	rig_node(&rig, 1)->state = BU_STATE_IMAGING;
	finds(&rig, LAST, "nic-firmware", "1.1",
	      "firmware of mlx5_0 is 1.1, that of 63 of 65 machines like it 1.0");
	finds(&rig, LAST, "guid", "0x1",
	      "node070 and node069 have the same node GUID: 0x1");
	/* The rows of more machines than are kept are read each time. */
	for (int turn = 0; turn < 3; turn++) {
		report = compare(&rig, 1 + turn, "nic-firmware", "1.0", "");
		ck_assert_uint_eq(report.count, 1);
		bu_checks_fini(&report);
	}
	rig_end(&rig);
}
END_TEST

/* A domain is one with those of its rack, wherever they are in the profile. */
START_TEST(a_domain_is_laid_beside_its_rack)
{
	static const struct {
		const char *rack, *own;
		int odd;
	} rows[] = {{"r9", "d2.1", 1},
		    {"r9", "d1.1", 0},
		    {"r8", "d2.1", 0},
		    {"", "d2.1", 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_checks report;
		struct bu_check *row;
		struct rig rig;

		begin(&rig, LAST);
		for (int k = 1; k <= LAST; k++) {
			struct bu_desired_node *want =
				&rig.fleet->desired->nodes[k - 1];

			if (k < LAST)
				reported(&rig, k,
					 json_pack("[o]",
						   fact("gpu-fabric", "GPU 0",
							k > SAMPLE ? "d1.1" : "d3.1",
							"")));
			free(want->rack);
			want->rack = bu_xstrdup(k > SAMPLE ? "r9" : "r1");
		}
		free(rig.fleet->desired->nodes[LAST - 1].rack);
		rig.fleet->desired->nodes[LAST - 1].rack = bu_xstrdup(rows[i].rack);
		bu_checks_init(&report);
		row = bu_checks_add(&report, "gpu", "gpu-fabric", BU_VERDICT_PASS,
				    "GPU 0");
		BU_CHECK_SET(row->value, "%s", rows[i].own);
		BU_CHECK_SET(row->seen, "in domain %s", rows[i].own);
		bu_gate_compare(rig.gate, rig_node(&rig, LAST), &report);
		ck_assert_msg(report.count == (size_t)(1 + rows[i].odd), "row %zu", i);
		bu_checks_fini(&report);
		rig_end(&rig);
	}
}
END_TEST

/* Two that are swapped: the first one is in quarantine when the second one reports, and
 * of it nothing but its cables counts. */
START_TEST(of_machines_in_quarantine_cables_count)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct bu_checks report;
		struct rig rig;

		begin(&rig, LAST);
		rig_node(&rig, LAST - 1)->state = BU_STATE_QUARANTINED;
		reported(&rig, LAST - 1,
			 json_pack("[o,o]", fact("guid", "mlx5_0", "0x1", ""),
				   fact("cabling", "mlx5_0",
					swapped ? "leaf01:p2" : "leaf01:p3",
					"leaf01:p1")));
		report = compare(&rig, LAST, "cabling", "leaf01:p1", "leaf01:p2");
		ck_assert_uint_eq(report.count, (size_t)(1 + swapped));
		if (swapped)
			rig_text_has(report.list[1].text, "node069");
		bu_checks_fini(&report);
		finds(&rig, LAST, "guid", "0x1", "");
		/* It reports that all is well. */
		reported(&rig, LAST - 1, json_array());
		report = compare(&rig, LAST, "cabling", "leaf01:p1", "leaf01:p2");
		ck_assert_uint_eq(report.count, 1);
		bu_checks_fini(&report);
		rig_end(&rig);
	}
}
END_TEST

/* What is compared, as it is: id, verdict, subject, the fact and what was wanted. */
START_TEST(facts_are_what_is_compared)
{
	bu_autojson json_t *facts = NULL, *want = NULL;
	struct bu_checks report;
	struct bu_check *row;

	bu_checks_init(&report);
	row = bu_checks_add(&report, "audit", "gid", BU_VERDICT_PASS, "rxe0");
	BU_CHECK_SET(row->seen, "10.0.0.1 at 3");
	BU_CHECK_SET(row->value, "10.0.0.1");
	row = bu_checks_add(&report, "audit", "gid", BU_VERDICT_FAIL, "rxe1");
	BU_CHECK_SET(row->seen, "10.0.0.2");
	row = bu_checks_add(&report, "audit", "cabling", BU_VERDICT_FAIL, "rxe0");
	BU_CHECK_SET(row->seen, "leaf01:p1");
	BU_CHECK_SET(row->expected, "leaf01:p2");
	row = bu_checks_add(&report, "gpu", "gpu-fabric", BU_VERDICT_PASS, "GPU 0");
	BU_CHECK_SET(row->seen, "in a domain");
	BU_CHECK_SET(row->value, "d1.1");
	bu_checks_add(&report, "audit", "nic-mtu", BU_VERDICT_PASS, "rxe0");
	row = bu_checks_add(&report, "audit", "lldp", BU_VERDICT_PASS, "bond0");
	BU_CHECK_SET(row->seen, "leaf01:p1, leaf02:p1");
	BU_CHECK_SET(row->value, "leaf01:p1");
	facts = bu_gate_facts(&report);
	want = quoted("[['gid','rxe0','10.0.0.1'],['cabling','rxe0','leaf01:p1',"
		      "'fail','leaf01:p2'],['gpu-fabric','GPU 0','d1.1']]");
	ck_assert(json_equal(facts, want));
	bu_checks_fini(&report);
}
END_TEST

/* A blob may have anything. */
START_TEST(what_is_no_fact_is_passed_over)
{
	json_t *odd = fact("guid", "mlx5_0", "0x1", "");
	struct rig rig;

	begin(&rig, 2);
	json_array_set_new(odd, 3, json_string("maybe"));
	reported(&rig, 1,
		 json_pack("[o,o,o]", fact("Not An Id", "", "0x1", ""), odd,
			   fact("guid", "mlx5_0", "0x2", "")));
	finds(&rig, 2, "guid", "0x1", "");
	finds(&rig, 2, "guid", "0x2",
	      "node002 and node001 have the same node GUID: 0x2");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("compare_peers", only_machines_that_run_are_doubles,
	 what_moved_on_is_no_double, a_sample_shows_what_most_have,
	 a_domain_is_laid_beside_its_rack, of_machines_in_quarantine_cables_count,
	 facts_are_what_is_compared, what_is_no_fact_is_passed_over)
