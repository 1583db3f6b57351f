/* SPDX-License-Identifier: Apache-2.0 */
/* What is said against a node: which of its results, in which direction, seen by whom.
 */
#include "provisioner/gate/certify/certify.h"
#include "tests/support/between.h"

enum { NODES = 12 };

struct told {
	struct between b;
	struct bu_campaign_state campaign;
};

/* proven: bits of nodes, from 1. */
static void
told_begin(struct told *t, const struct probed *log, size_t count, unsigned proven)
{
	struct bu_desired_validation *validation;

	between_begin(&t->b, NODES, 2, NODES, NULL);
	validation = (struct bu_desired_validation *)(uintptr_t)t->b.rig.fleet->desired
			     ->nodes[0]
			     .validation;
	validation->bw_min_percent = 50;
	for (size_t i = 0; i < count && log[i].rail; i++)
		between_log(&t->b, &log[i]);
	ck_assert_int_gt(bu_campaign_state_open(t->b.gate,
						between_network(&t->b, "fabric"),
						&t->campaign),
			 0);
	for (int i = 0; i < NODES; i++) {
		t->campaign.report.ports[i] =
			proven >> (i + 1) & 1 ? BU_PORT_GOOD : BU_PORT_OPEN;
	}
}

static void
told_end(struct told *t)
{
	bu_campaign_state_close(&t->campaign);
	between_end(&t->b);
}

static const char or_leaf[] = "; or its leaf, of which no other port was tested";
static const char hint[] = "look at the NIC, its cable and its switch port";

/* Of node 2, by its own end of each result. */
static const struct {
	struct probed log[3];
	unsigned proven;
	int dir;
	const char *says;
} bad_ones[] = {
	/* It is the second name of one and the first of the other. */
	{{{1, 2, "fabric", .gbps = {1, 0.25}}},
	 1 << 1,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node001: slow (seen by proven node001)"},
	{{{1, 2, "fabric", .gbps = {0.25, 1}}},
	 1 << 1,
	 BU_DIR_IN,
	 "node002 receives: node001 to node002: slow (seen by proven node001)"},
	{{{2, 3, "fabric", .gbps = {0.25, 0.25}}},
	 0,
	 BU_DIR_OUT | BU_DIR_IN,
	 "node002 sends: node002 to node003: slow; node002 receives: node003 "
	 "to node002: slow"},
	/* towards who is proven first, whatever the others show */
	{{{2, 3, "fabric", .gbps = {0.375, 1}}, {2, 4, "fabric", .gbps = {0.25, 1}}},
	 1 << 4,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node004: slow (seen by proven node004)"},
	{{{2, 3, "fabric", .gbps = {0.25, 1}}, {2, 4, "fabric", .gbps = {0.375, 1}}},
	 1 << 3 | 1 << 4,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node004: slow (seen by proven node003, "
	 "node004)"},
	{{{2, 3, "fabric", .gbps = {0.375, 1}}, {2, 4, "fabric", .gbps = {0.25, 1}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
	{{{2, 3, "fabric", .gbps = {0.25, 1}}, {2, 4, "fabric", .gbps = {0.25, 1}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
	/* what is good, in doubt, of another rail or of another boot is none */
	{{{2, 3, "fabric", .gbps = {0.25, 1}},
	  {2, 4, "fabric", .gbps = {0.5, 1}},
	  {2, 5, "fabric", .gbps = {0.375, 1}, .doubt = {1, 0}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
	{{{2, 3, "fabric", .gbps = {0.25, 1}},
	  {2, 4, "rail1", .gbps = {0.375, 1}},
	  {2, 5, "fabric", .gbps = {0.375, 1}, .boot = {"old"}}},
	 1 << 4 | 1 << 5,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
	/* where nothing was bad, what was lost */
	{{{2, 3, "fabric", .gbps = {1, 1}, .lost = {7, 9}},
	  {2, 4, "fabric", .gbps = {1, 1}, .lost = {8, 0}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node004: 8 packets lost or sent again in one "
	 "probe"},
	{{{2, 3, "fabric", .gbps = {1, 1}, .lost = {7, 9}},
	  {2, 4, "fabric", .gbps = {1, 1}, .lost = {8, 0}}},
	 0,
	 BU_DIR_IN,
	 "node002 receives: node003 to node002: 9 packets lost or sent again in "
	 "one probe"},
	/* nothing ever arrived */
	{{{2, 3, "fabric", .gbps = {0, 0}}},
	 0,
	 BU_DIR_OUT,
	 "only its loopback works: with every partner and in both directions "
	 "nothing arrived; node002 sends: node002 to node003: slow"},
	{{{2, 3, "fabric", .gbps = {0, 0.25}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
	{{{2, 3, "fabric", .gbps = {0.25, 0}}},
	 0,
	 BU_DIR_OUT,
	 "node002 sends: node002 to node003: slow"},
};

START_TEST(the_best_of_what_was_bad_is_said)
{
	for (size_t i = 0; i < BU_LEN(bad_ones); i++) {
		const struct bu_accusation one = {
			.what = BU_WHAT_ENDPOINT, .port = 1, .dir = bad_ones[i].dir};
		bu_autofree char *text = NULL, *cause = NULL, *want = NULL;
		bu_autojson json_t *said = NULL;
		struct told t;

		told_begin(&t, bad_ones[i].log, 3, bad_ones[i].proven);
		cause = bu_accusation_text(&t.campaign.topology, &one);
		said = bu_explain_accused(&t.campaign, 1, &one, i % 2);
		text = bu_said_text(said);
		want = bu_xasprintf("%s; %s; %s%s", bad_ones[i].says, cause, hint,
				    i % 2 ? or_leaf : "");
		ck_assert_msg(strcmp(text, want) == 0, "row %zu: '%s', not '%s'", i,
			      text, want);
		told_end(&t);
	}
}
END_TEST

/* Both, where the accusation has both. */
START_TEST(losses_are_said_besides)
{
	static const struct probed log = {2, 3, "fabric", .gbps = {0.25, 1},
					  .lost = {7, 9}};
	static const struct bu_accusation one = {
		.what = BU_WHAT_ENDPOINT,
		.port = 1,
		.dir = BU_DIR_OUT,
		.sign_count = 1,
		.signs = {{.symptom = BU_SYMPTOM_LOSS}}};
	bu_autojson json_t *said = NULL;
	struct told t;

	told_begin(&t, &log, 1, 0);
	said = bu_explain_accused(&t.campaign, 1, &one, 0);
	rig_text_has(rig_sentence(said),
		     "node002 sends: node002 to node003: slow; node002 sends: "
		     "node002 to node003: 7 packets lost or sent again");
	told_end(&t);
}
END_TEST

/* Eight of them. */
START_TEST(so_many_witnesses_are_named)
{
	struct probed log[NODES];
	static const struct bu_accusation one = {.what = BU_WHAT_ENDPOINT,
						 .dir = BU_DIR_OUT};
	bu_autojson json_t *said = NULL;
	struct told t;

	for (int i = 0; i < NODES - 1; i++)
		log[i] = (struct probed){
			.a = 1, .b = i + 2, .rail = "fabric", .gbps = {0.25, 1}};
	log[NODES - 1].rail = NULL;
	told_begin(&t, log, NODES, ~(1u << 3));
	said = bu_explain_accused(&t.campaign, 0, &one, 0);
	rig_text_has(rig_sentence(said),
		     " (seen by proven node002, node004, node005, node006, "
		     "node007, node008, node009, node010); ");
	told_end(&t);
}
END_TEST

/* One of several that no test tells apart, by whom it met; its leaf; a lack of others.
 */
START_TEST(a_wait_names_the_pair_that_was_slow)
{
	static const struct {
		struct probed log[2];
		enum bu_what what;
		int witness, unlent;
		enum bu_reason_code code;
		const char *says;
	} rows[] = {
		{{{2, 3, "fabric", .gbps = {0.25, 1}},
		  {2, 4, "fabric", .gbps = {1, 1}}},
		 BU_WHAT_ANY,
		 0,
		 0,
		 BU_REASON_NODE_OR_LEAF,
		 "slow pair with node003 (node002 sends: node002 to node003: slow)"},
		{{{2, 3, "fabric", .gbps = {1, 0.25}}},
		 BU_WHAT_ANY,
		 0,
		 0,
		 BU_REASON_NO_THIRD,
		 "slow pair with node003 (node002 receives: node003 to node002: slow)"},
		{{{2, 3, "fabric", .gbps = {0.25, 0.25}},
		  {2, 3, "fabric", .gbps = {0.25, 0.25}}},
		 BU_WHAT_ANY,
		 0,
		 0,
		 BU_REASON_NO_THIRD,
		 "slow pair with node003 (node002 sends: node002 to node003: slow)"},
		{{{2, 3, "fabric", .gbps = {0.25, 1}}},
		 BU_WHAT_LEAF,
		 0,
		 0,
		 BU_REASON_LEAF_ACCUSED,
		 "slow pair with node003"},
		{{{2, 3, "fabric", .gbps = {0.25, 1}}},
		 BU_WHAT_ENDPOINT,
		 3,
		 2,
		 BU_REASON_NO_THIRD_IN_USE,
		 "slow pair with node003"},
		{{{2, 3, "fabric", .gbps = {0.25, 1}}},
		 BU_WHAT_ENDPOINT,
		 3,
		 0,
		 BU_REASON_NO_THIRD,
		 "slow pair with node003"},
		{{{2, 3, "fabric", .gbps = {0.25, 1}}},
		 BU_WHAT_ENDPOINT,
		 0,
		 2,
		 BU_REASON_NO_THIRD,
		 "slow pair with node003"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_accusation one = {
			.what = rows[i].what, .port = 1, .witness = rows[i].witness};
		bu_autofree char *text = NULL;
		struct bu_reason reason;
		struct told t;

		told_begin(&t, rows[i].log, 2, 0);
		t.campaign.unlent = rows[i].unlent;
		bu_explain_waiting(&t.campaign, 1, &one, &reason);
		text = bu_reason_text(&reason);
		ck_assert_msg(reason.code == rows[i].code, "row %zu: %s", i, text);
		rig_text_has(text, rows[i].says);
		told_end(&t);
	}
}
END_TEST

/* The last pair of it that gave nothing, in the boots of now. */
START_TEST(what_gave_no_result_is_said)
{
	static const struct {
		struct probed log[3];
		enum bu_reason_code code;
		const char *says;
	} rows[] = {
		{{{2, 3, "fabric", .failed = 1}}, BU_REASON_PROBES_SILENT, "node003"},
		{{{2, 3, "fabric", .failed = 1}, {2, 4, "fabric", .failed = 1}},
		 BU_REASON_PROBES_SILENT,
		 "node004"},
		{{{2, 3, "fabric", .failed = 1}, {2, 4, "fabric", .gbps = {1, 1}}},
		 BU_REASON_PROBES_SILENT,
		 "node003"},
		{{{2, 3, "fabric", .failed = 1},
		  {2, 4, "fabric", .failed = 1, .boot = {NULL, "old"}}},
		 BU_REASON_PROBES_SILENT,
		 "node003"},
		{{{2, 3, "fabric", .gbps = {1, 1}, .doubt = {1, 0}}},
		 BU_REASON_PROBES_IN_DOUBT,
		 "node003"},
		{{{2, 3, "fabric", .gbps = {1, 1}}}, BU_REASON_NONE, ""},
		{{{3, 4, "fabric", .failed = 1}}, BU_REASON_NONE, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct bu_reason reason = {.code = BU_REASON_NONE};
		struct told t;
		int is;

		told_begin(&t, rows[i].log, 3, 0);
		is = bu_explain_unmeasured(&t.campaign, 1, &reason);
		ck_assert_msg(is == (rows[i].code != BU_REASON_NONE), "row %zu", i);
		ck_assert_int_eq(reason.code, rows[i].code);
		text = bu_reason_text(&reason);
		rig_text_has(text, rows[i].says);
		if (reason.code == BU_REASON_PROBES_SILENT)
			rig_text_has(text, "no device");
		told_end(&t);
	}
}
END_TEST

RIG_UNIT("explain", the_best_of_what_was_bad_is_said, losses_are_said_besides,
	 so_many_witnesses_are_named, a_wait_names_the_pair_that_was_slow,
	 what_gave_no_result_is_said)
