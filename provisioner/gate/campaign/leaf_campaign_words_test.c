/* SPDX-License-Identifier: Apache-2.0 */
/* How an accusation between leaves is said: its parts, its leaves, its nodes. */
#include "provisioner/gate/campaign/leaf_campaign_impl.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves. */
enum { NODES = 6, EACH = 2, BOTH = BU_DIR_OUT | BU_DIR_IN };
#define SAME "switch_fabric = c\n"
static const char *const same[2] = {SAME, SAME};

START_TEST(an_accusation_names_leaves_and_nodes)
{
	struct bu_accusation of[2] = {
		{.what = BU_WHAT_LINK, .leaf = 0, .dir = BU_DIR_OUT},
		{.what = BU_WHAT_LEAF, .leaf = 2}};
	const struct {
		struct bu_accusation one;
		const char *words, *leaves, *nodes;
	} rows[] = {
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BU_DIR_OUT},
		 "the uplinks of leaf02 (rail fabric), to the spines: ",
		 "{'leaf02':true}",
		 "{'node003':true,'node004':true}"},
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BU_DIR_IN},
		 "the uplinks of leaf02 (rail fabric), from the spines: ",
		 "{'leaf02':true}",
		 "{'node003':true,'node004':true}"},
		{{.what = BU_WHAT_LINK, .leaf = 0, .dir = BOTH},
		 "the uplinks of leaf01 (rail fabric): ",
		 "{'leaf01':true}",
		 "{'node001':true,'node002':true}"},
		{{.what = BU_WHAT_LEAF, .leaf = 2},
		 "leaf leaf03 (rail fabric): ",
		 "{'leaf03':true}",
		 "{'node005':true,'node006':true}"},
		{{.what = BU_WHAT_SPINE},
		 "the spines: ",
		 "{'leaf01':true,'leaf02':true,'leaf03':true}",
		 "{}"},
		{{.what = BU_WHAT_ANY, .of = of, .of_count = 2},
		 "the uplinks of leaf01 (rail fabric), to the spines or leaf leaf03 "
		 "(rail fabric): ",
		 "{'leaf01':true,'leaf03':true}",
		 "{'node001':true,'node002':true,'node005':true,'node006':true}"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *begins =
			bu_xasprintf("rail fabric: pairs between its leaves accuse %s",
				     rows[i].words);
		bu_autojson json_t *entry = NULL;
		struct over over;

		over_begin(&over, NODES, 1, EACH, NULL);
		entry = bu_leaf_campaign_entry(&over.b.campaign,
					       &over.b.campaign.topology, &rows[i].one);
		rig_text_has(rig_sentence(json_object_get(entry, "said")), begins);
		entry_is(entry, "leaves", rows[i].leaves);
		entry_is(entry, "nodes", rows[i].nodes);
		ck_assert(json_is_false(json_object_get(entry, "links")));
		over_end(&over);
	}
}
END_TEST

/* A port that its node does not have is at no leaf. */
START_TEST(an_accusation_names_nobody_without_a_port)
{
	static const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = 0};
	bu_autojson json_t *nodes = json_object();
	bu_autojson json_t *said = NULL;
	struct over over;

	over_begin(&over, 4, 2, 4, same);
	over.b.campaign.no_port[2] = over.b.campaign.no_port[3] = 1; /* node002 */
	over.b.campaign.topology.leaf_of[3] = 0;
	bu_leaf_campaign_add_nodes(&over.b.campaign, &one, nodes);
	ck_assert_uint_eq(json_object_size(nodes), 3);
	ck_assert_ptr_null(json_object_get(nodes, "node002"));
	said = bu_leaf_campaign_leaf_said(&over.b.campaign, 0);
	ck_assert_str_eq(rig_sentence(said), "leaf01 (rail fabric)");
	over_end(&over);
}
END_TEST

/* All rails whose ports hang at it; one that has the rail in its name says so itself.
 */
START_TEST(a_leaf_is_said_with_its_rails)
{
	bu_autojson json_t *both = NULL, *own = NULL, *none = NULL;
	struct over over;

	over_begin(&over, 4, 2, 4, same);
	over.b.campaign.topology.leaf_of[1] = 0;
	both = bu_leaf_campaign_leaf_said(&over.b.campaign, 0);
	ck_assert_str_eq(rig_sentence(both), "leaf01 (rail fabric, rail1)");
	json_object_set_new(over.b.campaign.own_leaves, "leaf11", json_true());
	own = bu_leaf_campaign_leaf_said(&over.b.campaign, 1);
	ck_assert_str_eq(rig_sentence(own), "leaf11");
	memset(over.b.campaign.no_port, 1,
	       (size_t)bu_topology_ports(&over.b.campaign.topology));
	none = bu_leaf_campaign_leaf_said(&over.b.campaign, 0);
	ck_assert_str_eq(rig_sentence(none), "leaf01 (rail unknown)");
	over_end(&over);
}
END_TEST

/* Where nothing arrives in any test, it may be no fault of a link. */
START_TEST(where_nothing_arrives_it_says_where_to_look_first)
{
	for (int row = 0; row < 6; row++) {
		const char *const *more = row % 2 ? same : NULL;
		struct bu_accusation one = {
			.what = BU_WHAT_SPINE,
			.sign_count = 2,
			.signs = {
				{.symptom = BU_SYMPTOM_RATE, .nothing = row / 2 == 1},
				{.symptom = BU_SYMPTOM_LOSS, .nothing = row / 2 == 2}}};
		bu_autojson json_t *entry = NULL;
		const char *text;
		struct over over;

		over_begin(&over, 4, 2, 2, more);
		entry = bu_leaf_campaign_entry(&over.b.campaign,
					       &over.b.campaign.topology, &one);
		text = rig_sentence(json_object_get(entry, "said"));
		rig_text_has(text, more ? "switch fabric c: pairs across its rails "
					: "rail fabric: pairs between its leaves ");
		ck_assert_int_eq(strstr(text, "look first") != NULL, row >= 2);
		if (row >= 2)
			rig_text_has(text, more ? "whether the rails are routed to "
						  "each other"
						: "whether the leaves reach each "
						  "other");
		over_end(&over);
	}
}
END_TEST

RIG_UNIT("leaf_campaign_words", an_accusation_names_leaves_and_nodes,
	 an_accusation_names_nobody_without_a_port, a_leaf_is_said_with_its_rails,
	 where_nothing_arrives_it_says_where_to_look_first)
