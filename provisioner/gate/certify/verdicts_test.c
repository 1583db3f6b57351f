/* SPDX-License-Identifier: Apache-2.0 */
/* What a campaign means for a node: which words it gets, and whether it is quarantined
 * or waits. */
#include "provisioner/gate/certify/certify.h"
#include "tests/support/between.h"

enum { NODES = 4, OTHER = NODES - 1 };
#define SAME "switch_fabric = c\n"
static const char *const same[2] = {SAME, SAME};

/* A campaign of one rail that says what the test says; all nodes are candidates. */
struct judged {
	struct between b;
	struct bu_campaign_state campaign;
	struct bu_accusation said[3];
};

static void
judged_open(struct judged *j)
{
	for (int i = 1; i <= NODES; i++) {
		struct bu_node *node = rig_node(&j->b.rig, i);

		node->state = BU_STATE_VALIDATING;
		node->live.last_seen_ms = j->b.rig.clock.fake_wall_ms;
	}
	ck_assert_int_gt(bu_campaign_state_open(j->b.gate,
						between_network(&j->b, "fabric"),
						&j->campaign),
			 0);
	bu_report_fini(&j->campaign.report);
	j->campaign.report = (struct bu_report){.accusations = j->said,
						.ports = bu_xcalloc(NODES, 1)};
	j->campaign.over = 1;
}

static void
judged_close(struct judged *j)
{
	free(j->campaign.report.ports);
	j->campaign.report = (struct bu_report){.count = 0};
	bu_campaign_state_close(&j->campaign);
	between_end(&j->b);
}

static void
accuse_of(struct judged *j, struct bu_accusation one)
{
	j->said[j->campaign.report.count++] = one;
}

/* It is on its way into quarantine. */
static int
is_out(const struct judged *j, int number)
{
	return rig_node(&j->b.rig, number)->live.appending != 0;
}

static void
says_code(const struct judged *j, int number, enum bu_reason_code code, size_t row)
{
	const struct bu_reason *says = rig_node(&j->b.rig, number)->live.wait_reason;

	ck_assert_msg(says->code == code, "row %zu, node %d: %s, not %s", row, number,
		      bu_reason_info(says->code)->name, bu_reason_info(code)->name);
}

/* Node 1 of four at one leaf. */
static struct bu_accusation leaf_too[] = {{.what = BU_WHAT_ENDPOINT},
					  {.what = BU_WHAT_LEAF}},
			    witnessed[] = {{.what = BU_WHAT_ENDPOINT, .witness = 2},
					   {.what = BU_WHAT_LEAF}},
			    two[] = {{.what = BU_WHAT_ENDPOINT},
				     {.what = BU_WHAT_ENDPOINT, .port = 1}},
			    no_port[] = {{.what = BU_WHAT_LEAF},
					 {.what = BU_WHAT_LINK}};
static const struct {
	struct bu_accusation one;
	int nodes, unlent;
	int out;
	enum bu_reason_code says;
} accusations[] = {
	{{.what = BU_WHAT_ENDPOINT}, 4, 0, 1, 0},
	{{.what = BU_WHAT_ENDPOINT, .witness = 2}, 4, 0, 0, BU_REASON_NO_THIRD},
	{{.what = BU_WHAT_ENDPOINT, .witness = 2}, 4, 1, 0, BU_REASON_NO_THIRD_IN_USE},
	{{.what = BU_WHAT_LEAF}, 4, 0, 0, BU_REASON_LEAF_ACCUSED},
	{{.what = BU_WHAT_LINK}, 4, 0, 0, BU_REASON_LEAF_ACCUSED},
	{{.what = BU_WHAT_SPINE, .leaf = 7}, 4, 0, 0, BU_REASON_LEAF_ACCUSED},
	{{.what = BU_WHAT_ANY, .of = leaf_too, .of_count = 2}, 4, 0, 1, 0},
	{{.what = BU_WHAT_ANY, .of = leaf_too, .of_count = 2}, 3, 0, 1, 0},
	{{.what = BU_WHAT_ANY, .of = leaf_too, .of_count = 2},
	 2,
	 0,
	 0,
	 BU_REASON_NO_THIRD},
	{{.what = BU_WHAT_ANY, .of = witnessed, .of_count = 2},
	 4,
	 0,
	 0,
	 BU_REASON_NO_THIRD},
	{{.what = BU_WHAT_ANY, .of = two, .of_count = 2}, 4, 0, 0, BU_REASON_NO_THIRD},
	{{.what = BU_WHAT_ANY, .of = no_port, .of_count = 2},
	 4,
	 0,
	 0,
	 BU_REASON_NO_THIRD},
	{{.what = BU_WHAT_INCONCLUSIVE}, 4, 0, 0, BU_REASON_INCONCLUSIVE},
	/* of others */
	{{.what = BU_WHAT_ENDPOINT, .port = 1}, 4, 0, 0, BU_REASON_NO_FREE_PARTNER},
	{{.what = BU_WHAT_INCONCLUSIVE, .node = 1}, 4, 0, 0, BU_REASON_NO_FREE_PARTNER},
	{{.what = BU_WHAT_LEAF, .leaf = 7}, 4, 0, 0, BU_REASON_NO_FREE_PARTNER},
	{{.what = BU_WHAT_ANY, .of = two + 1, .of_count = 1},
	 4,
	 0,
	 0,
	 BU_REASON_NO_FREE_PARTNER},
};

START_TEST(an_accusation_quarantines_who_is_alone_in_it)
{
	for (size_t i = 0; i < BU_LEN(accusations); i++) {
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

		between_begin(&j.b, NODES, 1, NODES, NULL);
		judged_open(&j);
		j.campaign.candidates = accusations[i].nodes;
		j.campaign.unlent = accusations[i].unlent;
		accuse_of(&j, accusations[i].one);
		bu_gate_judge(j.b.gate, &j.campaign);
		ck_assert_msg(is_out(&j, 1) == accusations[i].out, "row %zu", i);
		if (!accusations[i].out)
			says_code(&j, 1, accusations[i].says, i);
		judged_close(&j);
	}
}
END_TEST

/* Its own port, its instrument, then what it is a part of: whatever comes first. */
START_TEST(the_accusation_that_says_most_counts)
{
	static const struct bu_accusation port = {.what = BU_WHAT_ENDPOINT},
					  leaf = {.what = BU_WHAT_LEAF},
					  doubt = {.what = BU_WHAT_INCONCLUSIVE};

	for (int turn = 0; turn < 2; turn++) {
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

		between_begin(&j.b, NODES, 1, NODES, NULL);
		judged_open(&j);
		accuse_of(&j, turn ? leaf : port);
		accuse_of(&j, turn ? port : leaf);
		bu_gate_judge(j.b.gate, &j.campaign);
		ck_assert_int_eq(is_out(&j, 1), 1);
		says_code(&j, 2, BU_REASON_LEAF_ACCUSED, 0);
		j.campaign.report.count = 0;
		accuse_of(&j, turn ? leaf : doubt);
		accuse_of(&j, turn ? doubt : leaf);
		rig_node(&j.b.rig, 1)->live.appending = 0;
		bu_gate_judge(j.b.gate, &j.campaign);
		says_code(&j, 1, BU_REASON_INCONCLUSIVE, 0);
		judged_close(&j);
	}
}
END_TEST

/* Two are left to accuse it, and a third that has gone saw it good, twice. */
START_TEST(who_was_good_with_one_that_has_gone_waits)
{
	static const struct probed good = {1, NODES, "fabric", .gbps = {1, 1}};
	static const struct probed bad[] = {
		{1, NODES, "fabric", .gbps = {0.25, 1}},
		{1, NODES, "fabric", .gbps = {1, 0.25}},
		{1, NODES, "fabric", .gbps = {0.25, 1}, .doubt = {1, 0}},
		{1, NODES, "fabric", .gbps = {0.25, 1}, .doubt = {0, 1}},
		{1, NODES, "fabric", .gbps = {0.5, 0.5}}, /* just enough */
	};
	static const struct {
		int good, bad; /* bad: 1 + place of one */
		int away, nodes;
		int out;
	} rows[] = {
		{2, 0, 1, 3, 0}, {2, 0, 1, 2, 0}, {2, 0, 1, 4, 1}, {1, 0, 1, 3, 1},
		{2, 0, 0, 3, 1}, {2, 1, 1, 3, 1}, {2, 2, 1, 3, 1}, {2, 3, 1, 3, 0},
		{2, 4, 1, 3, 0}, {1, 3, 1, 3, 1}, {0, 0, 1, 3, 1}, {1, 5, 1, 3, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

		between_begin(&j.b, NODES, 1, NODES, NULL);
		((struct bu_desired_validation *)(uintptr_t)j.b.rig.fleet->desired
			 ->nodes[0]
			 .validation)
			->bw_min_percent = 50;
		if (rows[i].bad)
			between_log(&j.b, &bad[rows[i].bad - 1]);
		for (int k = 0; k < rows[i].good; k++)
			between_log(&j.b, &good);
		if (rows[i].away)
			j.b.gate->roles[OTHER].ready = 0;
		judged_open(&j);
		j.campaign.candidates = rows[i].nodes;
		j.campaign.partners = 0;
		accuse_of(&j, (struct bu_accusation){.what = BU_WHAT_ENDPOINT});
		bu_gate_judge(j.b.gate, &j.campaign);
		ck_assert_msg(is_out(&j, 1) == rows[i].out, "row %zu", i);
		judged_close(&j);
	}
}
END_TEST

/* Of its boot before nothing is told. */
START_TEST(what_was_good_before_its_boot_is_no_alibi)
{
	static const struct probed good = {1, NODES, "fabric", .gbps = {1, 1},
					   .boot = {"old"}};
	struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

	between_begin(&j.b, NODES, 1, NODES, NULL);
	between_log(&j.b, &good);
	between_log(&j.b, &good);
	j.b.gate->roles[OTHER].ready = 0;
	judged_open(&j);
	ck_assert_int_eq(j.campaign.candidates, 3);
	accuse_of(&j, (struct bu_accusation){.what = BU_WHAT_ENDPOINT});
	bu_gate_judge(j.b.gate, &j.campaign);
	ck_assert_int_eq(is_out(&j, 1), 1);
	judged_close(&j);
}
END_TEST

/* Neither good nor accused: why it waits. */
START_TEST(who_is_not_decided_hears_why)
{
	static const struct {
		int over, slow, nodes;
		enum bu_port_state port;
		int unlent, unproven, failed;
		enum bu_reason_code says;
	} rows[] = {
		{1, 0, 2, BU_PORT_OPEN, 0, 0, 0, BU_REASON_NO_FREE_PARTNER},
		{1, 0, 2, BU_PORT_SUSPECTED, 0, 0, 0, BU_REASON_UNDECIDED},
		{1, 0, 2, BU_PORT_SUSPECTED, 0, 0, 1, BU_REASON_PROBES_SILENT},
		{1, 0, 1, BU_PORT_OPEN, 0, 0, 0, BU_REASON_NO_PARTNER},
		{1, 0, 1, BU_PORT_OPEN, 0, 0, 1, BU_REASON_NO_PARTNER},
		{1, 0, 1, BU_PORT_OPEN, 2, 1, 0, BU_REASON_PARTNERS_IN_USE},
		{1, 0, 1, BU_PORT_OPEN, 0, 1, 0, BU_REASON_RAIL_UNPROVEN},
		{0, 0, 2, BU_PORT_OPEN, 0, 0, 0, BU_REASON_NONE},
		{0, 0, 2, BU_PORT_SUSPECTED, 0, 0, 0, BU_REASON_NONE},
		{0, 1, 2, BU_PORT_OPEN, 0, 0, 0, BU_REASON_OTHERS_UNDECIDED},
		{0, 1, 2, BU_PORT_SUSPECTED, 0, 0, 0, BU_REASON_UNDECIDED_YET},
		{0, 1, 2, BU_PORT_SUSPECTED, 0, 0, 1, BU_REASON_PROBES_SILENT},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const struct probed failed = {1, 2, "fabric", .failed = 1};
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

		between_begin(&j.b, NODES, 1, NODES, NULL);
		if (rows[i].failed)
			between_log(&j.b, &failed);
		judged_open(&j);
		j.campaign.over = rows[i].over;
		j.campaign.slow = rows[i].slow;
		j.campaign.candidates = rows[i].nodes;
		j.campaign.unlent = rows[i].unlent;
		j.campaign.unproven = rows[i].unproven;
		j.campaign.report.ports[0] = (unsigned char)rows[i].port;
		bu_gate_judge(j.b.gate, &j.campaign);
		says_code(&j, 1, rows[i].says, i);
		ck_assert_uint_eq(rig_node(&j.b.rig, 1)->live.rails_good & 1, 0);
		judged_close(&j);
	}
}
END_TEST

/* Those that validate or serve, and cannot be measured now. */
START_TEST(partners_that_are_away_are_counted)
{
	static const struct {
		enum bu_state states[3];
		int absent[3], away;
	} rows[] = {
		{{BU_STATE_VALIDATING, BU_STATE_READY, BU_STATE_IMAGING}, {1, 1, 1}, 2},
		{{BU_STATE_VALIDATING, BU_STATE_READY, BU_STATE_IMAGING}, {0, 1, 1}, 1},
		{{BU_STATE_IMAGING, BU_STATE_QUARANTINED, BU_STATE_IMAGING},
		 {1, 1, 1},
		 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};
		bu_autofree char *words = NULL;

		between_begin(&j.b, NODES, 1, NODES, NULL);
		judged_open(&j);
		j.campaign.candidates = 1;
		for (int k = 0; k < 3; k++) {
			rig_node(&j.b.rig, k + 2)->state = rows[i].states[k];
			j.campaign.absent[k + 1] = rows[i].absent[k] != 0;
			j.campaign.candidate[k + 1] = 0;
		}
		bu_gate_judge(j.b.gate, &j.campaign);
		says_code(&j, 1,
			  rows[i].away ? BU_REASON_PARTNERS_AWAY : BU_REASON_NO_PARTNER,
			  i);
		words = bu_reason_text(rig_node(&j.b.rig, 1)->live.wait_reason);
		if (rows[i].away) {
			rig_text_has(words, rows[i].absent[0] ? "node002" : "node003");
			ck_assert_ptr_null(strstr(words, "node004"));
		}
		judged_close(&j);
	}
}
END_TEST

/* Good on one rail of two; and then on both, where a fabric is between them. */
START_TEST(who_is_good_on_a_rail_waits_for_the_others)
{
	for (int row = 0; row < 3; row++) {
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};
		struct bu_node *node;

		between_begin(&j.b, NODES, 2, NODES, same);
		judged_open(&j);
		node = rig_node(&j.b.rig, 1);
		node->live.rails_good = row ? 2 : 0;
		node->live.appending = row == 2;
		j.campaign.report.ports[0] = BU_PORT_GOOD;
		bu_gate_judge(j.b.gate, &j.campaign);
		ck_assert_uint_eq(node->live.rails_good, row ? 3 : 1);
		says_code(&j, 1,
			  row == 0   ? BU_REASON_RAIL_NOT_PROVEN
			  : row == 1 ? BU_REASON_TESTED_ACROSS
				     : BU_REASON_NONE,
			  (size_t)row);
		if (row == 0)
			rig_reason_has(node->live.wait_reason, "rail1");
		judged_close(&j);
	}
}
END_TEST

/* Of two rails the first one that has something to say is heard; what is only awaited
 * makes way. */
START_TEST(of_several_rails_the_first_is_heard)
{
	static const struct {
		enum bu_reason_code before;
		int rail; /* 1 + place of the one that said it; 0 = none did */
		enum bu_reason_code now; /* of the first rail, */
		enum bu_reason_code is;
	} rows[] = {
		{BU_REASON_NONE, 0, BU_REASON_UNDECIDED, BU_REASON_UNDECIDED},
		{BU_REASON_UNDECIDED, 1, BU_REASON_NONE, BU_REASON_NONE},
		{BU_REASON_UNDECIDED, 0, BU_REASON_NONE, BU_REASON_NONE},
		{BU_REASON_UNDECIDED, 2, BU_REASON_NONE, BU_REASON_UNDECIDED},
		{BU_REASON_UNDECIDED, 2, BU_REASON_NO_PARTNER, BU_REASON_NO_PARTNER},
		{BU_REASON_UNDECIDED, 2, BU_REASON_RAIL_NOT_PROVEN,
		 BU_REASON_UNDECIDED},
		{BU_REASON_RAIL_NOT_PROVEN, 2, BU_REASON_NONE,
		 BU_REASON_RAIL_NOT_PROVEN},
		{BU_REASON_RAIL_NOT_PROVEN, 2, BU_REASON_UNDECIDED,
		 BU_REASON_UNDECIDED},
		{BU_REASON_NONE, 2, BU_REASON_UNDECIDED, BU_REASON_UNDECIDED},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		for (int second = 0; second < 2; second++) {
			struct judged j = {.said = {{.what = BU_WHAT_ANY}}};
			struct bu_reason now = {.code = rows[i].now};
			struct bu_node *node;

			between_begin(&j.b, NODES, 2, NODES, NULL);
			judged_open(&j);
			node = rig_node(&j.b.rig, 1);
			*bu_node_wait_reason(node) =
				(struct bu_reason){.code = rows[i].before};
			node->live.reason_rail = rows[i].rail;
			if (second) {
				j.campaign.fabric = between_network(&j.b, "rail1");
				/* An earlier one is not outdone. */
				*bu_node_wait_reason(node) = (struct bu_reason){
					.code = BU_REASON_NO_PARTNER};
				node->live.reason_rail = 1;
				now.code = BU_REASON_UNDECIDED;
			}
			bu_node_reason_set_of_rail(&j.campaign, node, &now);
			says_code(&j, 1, second ? BU_REASON_NO_PARTNER : rows[i].is, i);
			judged_close(&j);
		}
	}
}
END_TEST

/* Node 2, which was good with node 1: that one is there, or with one that the profile
 * has no more. */
START_TEST(an_alibi_is_of_one_that_has_gone)
{
	for (int gone = 0; gone < 2; gone++) {
		const struct probed good = {gone ? 2 : 1, gone ? 77 : 2, "fabric",
					    .gbps = {1, 1}};
		struct judged j = {.said = {{.what = BU_WHAT_ANY}}};

		between_begin(&j.b, NODES, 1, NODES, NULL);
		between_log(&j.b, &good);
		between_log(&j.b, &good);
		j.b.gate->roles[OTHER].ready = 0;
		judged_open(&j);
		accuse_of(&j,
			  (struct bu_accusation){.what = BU_WHAT_ENDPOINT, .port = 1});
		bu_gate_judge(j.b.gate, &j.campaign);
		ck_assert_int_eq(is_out(&j, 2), !gone);
		judged_close(&j);
	}
}
END_TEST

RIG_UNIT("verdicts", an_alibi_is_of_one_that_has_gone,
	 an_accusation_quarantines_who_is_alone_in_it,
	 the_accusation_that_says_most_counts,
	 who_was_good_with_one_that_has_gone_waits,
	 what_was_good_before_its_boot_is_no_alibi, who_is_not_decided_hears_why,
	 partners_that_are_away_are_counted, who_is_good_on_a_rail_waits_for_the_others,
	 of_several_rails_the_first_is_heard)
