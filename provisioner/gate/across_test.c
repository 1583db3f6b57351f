/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs across the rails of one switch fabric: what is asked for, what its ends are
 * told, what stands accused, and whom it delays. */
#include "fabric/judge/fabcert.h"
#include "tests/support/gate.h"

enum { RAILS = 4 };
#define SAME "switch_fabric = c\n"
static const char *const same[RAILS] = {SAME, SAME, SAME, SAME};

/* What is between the leaves, of which each rail has its own. */
struct ways {
	int slow;              /* all of it */
	const char *up, *down; /* the leaf of this rail, to and from the spines */
	int broken;            /* pairs across give no result, */
	int dead;              /* or nothing arrives */
	int mute;              /* nobody answers for one */
	const char *sick;      /* "NODE RAIL": this port, in each of its pairs */
	int fast;              /* links of rail1 carry twice as much */
	int across;            /* pairs that were measured across */
	json_t *asked;         /* "RAIL RAIL", "NODE RAIL NODE RAIL" -> how often */
};

static void
begin_fabric(struct rig *rig, int nodes, int rails, const char *const *more)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_give_rails_with(rig, nodes, rails, more);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
}

static const char *
rail_of(const json_t *item, size_t k)
{
	return bu_json_str(json_array_get(json_object_get(item, "rails"), k), "rail",
			   "");
}

/* "10.78" is of fabric, "10.79" of rail1 and on; the end that it is of node N. */
static void
check_end(const json_t *item, size_t k)
{
	const json_t *rail = json_array_get(json_object_get(item, "rails"), k);
	const char *name = bu_json_str(rail, "rail", "");
	int place = strcmp(name, "fabric") ? (int)strtol(name + 4, NULL, 10) : 0;
	bu_autofree char *net = bu_xasprintf("10.%d.", 78 + place);

	ck_assert_int_eq(strncmp(bu_json_str(rail, "address", ""), net, strlen(net)),
			 0);
	for (size_t i = 0; i < k; i++)
		ck_assert_str_ne(rail_of(item, i), name); /* no port twice */
}

static void
count(json_t *counts, const char *key)
{
	json_object_set_new(counts, key, json_integer(bu_json_int(counts, key, 0) + 1));
}

/* An end of the pair sends: is its way slow? */
static double
rate_of(const struct ways *ways, const char *from, const char *to)
{
	int slow = ways->slow || (ways->up && strcmp(ways->up, from) == 0) ||
		   (ways->down && strcmp(ways->down, to) == 0);

	return ways->dead ? 0 : slow ? SLOW : GOOD;
}

static int
is_sick(const struct ways *ways, const json_t *const items[2], const char *const *rails)
{
	for (int i = 0; ways->sick && i < 2; i++) {
		bu_autofree char *port = bu_xasprintf(
			"%s %s", bu_json_str(items[0], i ? "b" : "a", ""), rails[i]);

		if (strcmp(port, ways->sick) == 0)
			return 1;
	}
	return 0;
}

static json_t *
result_between(struct ways *ways, const json_t *const items[2], size_t k)
{
	struct bu_pair_result result;
	const char *rails[2] = {rail_of(items[0], k), rail_of(items[1], k)};
	int across = strcmp(rails[0], rails[1]) != 0;
	int sick = is_sick(ways, items, rails);
	double own = ways->fast && strcmp(rails[0], "rail1") == 0 ? 2 * GOOD : GOOD;
	bu_autofree char *leaves = NULL, *ports = NULL;

	bu_pair_result_init(&result);
	BU_TEXT_COPY(result.probe, bu_json_str(items[0], "probe", ""));
	for (int i = 0; i < 2; i++) {
		BU_TEXT_COPY(result.end[i].node,
			     bu_json_str(items[0], i ? "b" : "a", ""));
		strcpy(result.end[i].device, "rxe0");
		check_end(items[i], k);
	}
	for (int dir = 0; dir < 2; dir++) {
		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result.dir[dir],
					sick ? SLOW
					: across
						? rate_of(ways, rails[dir], rails[!dir])
						: own);
	}
	if (!across)
		return bu_pair_result_to_json(&result);
	ways->across++;
	leaves = bu_xasprintf("%s %s", rails[0], rails[1]);
	count(ways->asked, leaves);
	ports = bu_xasprintf("%s %s %s %s", result.end[0].node, rails[0],
			     result.end[1].node, rails[1]);
	count(ways->asked, ports);
	return bu_pair_result_to_json(&result);
}

static int
is_across(const json_t *const items[2])
{
	return strcmp(rail_of(items[0], 0), rail_of(items[1], 0)) != 0;
}

static void
tell(struct rig *rig, struct ways *ways, const json_t *const items[2],
     struct bu_node *const ends[2])
{
	size_t rails = json_array_size(json_object_get(items[0], "rails"));
	bu_autojson json_t *list = json_array(), *result = NULL;
	struct bu_err failure;

	ck_assert_uint_eq(json_array_size(json_object_get(items[1], "rails")), rails);
	if (ways->mute && is_across(items))
		return;
	for (size_t k = 0; k < rails; k++)
		json_array_append_new(list, result_between(ways, items, k));
	result = json_pack("{s:O}", "rails", list);
	bu_err_set(&failure, BU_ERR_IO, 0, "no route");
	for (int i = 0; i < 2; i++)
		if (ways->broken && is_across(items))
			bu_gate_result(rig->gate, ends[i],
				       bu_json_str(items[i], "id", ""), NULL, &failure);
		else
			bu_gate_result(rig->gate, ends[i],
				       bu_json_str(items[i], "id", ""), result, NULL);
}

/* The node and its peer come for their items, and do them. */
static void
work(struct rig *rig, struct ways *ways, int number)
{
	struct bu_node *one = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, one), *other = NULL;
	const char *a = bu_json_str(item, "a", ""), *b = bu_json_str(item, "b", "");
	int first = strcmp(one->name, a) == 0;
	struct bu_node *peer = item ? bu_fleet_node(rig->fleet, first ? b : a) : NULL;

	if (!peer)
		return;
	other = bu_gate_work(rig->gate, peer);
	if (other &&
	    strcmp(bu_json_str(other, "id", ""), bu_json_str(item, "id", "?")) == 0)
		tell(rig, ways,
		     (const json_t *const[]){first ? item : other,
					     first ? other : item},
		     (struct bu_node *const[]){first ? one : peer, first ? peer : one});
}

/* So many seconds of nodes 1 to count. */
static void
pass(struct rig *rig, struct ways *ways, int nodes, int seconds)
{
	ways->asked = ways->asked ? ways->asked : json_object();
	for (int second = 0; second < seconds; second++) {
		for (int i = 1; i <= nodes; i++) {
			struct bu_node *node = rig_node(rig, i);

			node->live.last_seen_ms = rig->clock.fake_wall_ms;
			node->live.agent.protocol = BU_AGENT_PROTOCOL;
			if (!check(rig, i, "nic-mtu", BU_VERDICT_PASS, ""))
				work(rig, ways, i);
		}
		rig_pass(rig, 1000);
	}
}

/* All of them are certified, and nobody was accused. */
static void
all_join(const struct rig *rig, int nodes)
{
	for (int i = 1; i <= nodes; i++)
		ck_assert_msg(rig_node(rig, i)->state == BU_STATE_JOINING, "%s is %s",
			      rig_node(rig, i)->name,
			      bu_state_name(rig_node(rig, i)->state));
}

static char *
warnings_of(const struct rig *rig)
{
	bu_autojson json_t *list = bu_gate_warnings(rig->gate);
	char *text = bu_xstrdup("");
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		bu_autofree char *before = text;

		text = bu_xasprintf("%s%s\n", before, json_string_value(one));
	}
	return text;
}

static void
end_fabric(struct rig *rig, struct ways *ways)
{
	json_decref(ways->asked);
	rig_end(rig);
}

/* The log has what was measured, and nothing else across: the network of each end in
 * the order of the nodes. */
static void
check_log(const struct rig *rig, const struct ways *ways)
{
	size_t logs = 0, asked = 0;
	const char *key;
	json_t *times;

	json_object_foreach (ways->asked, key, times) {
		char a[64], b[64], own[64], other[64];
		bu_autofree char *rail = NULL;

		if (sscanf(key, "%63s %63s %63s %63s", a, own, b, other) != 4)
			continue;
		rail = bu_xasprintf("%s/%s", own, other);
		ck_assert_msg(bu_measurements_find(rig->fleet, a, b, rail) >= 0, "%s",
			      key);
		asked++;
	}
	for (size_t i = 0; i < rig->fleet->measurements.count; i++)
		logs += strchr(rig->fleet->measurements.logs[i].rail, '/') != NULL;
	ck_assert_uint_eq(logs, asked);
}

/* Each two rails, each leaf four times at least, and few of them in all. */
START_TEST(each_two_leaves_of_a_group_meet)
{
	static const char *const names[RAILS] = {"fabric", "rail1", "rail2", "rail3"};
	struct ways ways = {.slow = 0};
	int of_leaf[RAILS] = {0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &ways, 6, 240);
	all_join(&rig, 6);
	for (int x = 0; x < RAILS; x++) {
		for (int y = 0; y < RAILS; y++) {
			bu_autofree char *key =
				bu_xasprintf("%s %s", names[x], names[y]);
			bu_autofree char *turned =
				bu_xasprintf("%s %s", names[y], names[x]);
			int met = (int)(bu_json_int(ways.asked, key, 0) +
					bu_json_int(ways.asked, turned, 0));

			ck_assert_msg(x == y || met > 0, "%s", key);
			of_leaf[x] += x == y ? 0 : met;
		}
		ck_assert_int_ge(of_leaf[x], 4);
	}
	ck_assert_int_le(ways.across, 40);
	check_log(&rig, &ways);
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &ways);
}
END_TEST

START_TEST(networks_are_apart_unless_the_profile_says_so)
{
	struct ways ways = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, NULL);
	pass(&rig, &ways, 6, 60);
	all_join(&rig, 6);
	ck_assert_int_eq(ways.across, 0);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++)
		ck_assert_ptr_null(strchr(rig.fleet->measurements.logs[i].rail, '/'));
	end_fabric(&rig, &ways);
}
END_TEST

/* Two of them are of one fabric, the others are none of it. */
START_TEST(only_rails_of_the_same_fabric_meet)
{
	static const char *const more[RAILS] = {"", SAME, "", SAME};
	struct ways ways = {.slow = 0};
	struct rig rig;

	begin_fabric(&rig, 4, RAILS, more);
	pass(&rig, &ways, 4, 240);
	all_join(&rig, 4);
	ck_assert_int_gt(ways.across, 0);
	ck_assert_int_eq(bu_json_int(ways.asked, "rail1 rail3", 0) +
				 bu_json_int(ways.asked, "rail3 rail1", 0),
			 ways.across);
	end_fabric(&rig, &ways);
}
END_TEST

/* The first pair across of nodes 1 and 2, which have nothing else to do. */
static void
first_across(struct rig *rig, struct ways *ways, json_t *ret[2])
{
	ways->mute = 1;
	for (int second = 0; second < 60; second++) {
		ret[0] = bu_gate_work(rig->gate, rig_node(rig, 1));
		ret[1] = bu_gate_work(rig->gate, rig_node(rig, 2));
		if (ret[0] && ret[1] &&
		    strcmp(bu_json_str(ret[0], "kind", ""), "probe") == 0 &&
		    strcmp(bu_json_str(ret[1], "kind", ""), "probe") == 0 &&
		    is_across((const json_t *const[]){ret[0], ret[1]}))
			return;
		json_decref(ret[0]);
		json_decref(ret[1]);
		pass(rig, ways, 2, 1);
	}
	ck_abort_msg("no pair across");
}

/* Both ends: their own port with its address, GID, class and level; the same terms. */
START_TEST(each_end_is_told_its_own_port)
{
	static const char *const more[2] = {
		SAME "pkey = 0xffff\ngid_index = 3\nsl = 1\n",
		SAME "pkey = 0xffff\ngid_index = 5\nsl = 2\nlink_gbps = 0.04\n"};
	struct ways ways = {.fast = 1};
	bu_autofree char *warnings = NULL;
	json_t *items[2];
	struct rig rig;
	int seen = 0;

	begin_fabric(&rig, 2, 2, more);
	first_across(&rig, &ways, items);
	for (int i = 0; i < 2; i++) {
		const json_t *list = json_object_get(items[i], "rails");
		const json_t *rail = json_array_get(list, 0);
		int second = strcmp(rail_of(items[i], 0), "rail1") == 0;
		bu_autofree char *address =
			bu_xasprintf("10.%d.0.%d", 78 + second, 11 + i);

		ck_assert_uint_eq(json_array_size(list), 1);
		check_end(items[i], 0);
		ck_assert_str_eq(bu_json_str(rail, "address", ""), address);
		ck_assert_int_eq(bu_json_int(rail, "gid_index", -1), second ? 5 : 3);
		ck_assert_int_eq(bu_json_int(rail, "sl", -1), second ? 2 : 1);
		ck_assert_int_eq(bu_json_int(rail, "pkey", -1), 0xffff);
		/* 80 % of the slower link. */
		ck_assert_double_eq_tol(
			json_number_value(json_object_get(rail, "min_gbps")), 0.016,
			1e-9);
		seen |= 1 << second;
	}
	ck_assert_int_eq(seen, 3);
	ck_assert_str_eq(bu_json_str(items[0], "id", ""),
			 bu_json_str(items[1], "id", "?"));
	ways.mute = 0;
	pass(&rig, &ways, 2, 2);
	json_decref(items[0]);
	json_decref(items[1]);
	/* What the slower link carries is all of it. */
	pass(&rig, &ways, 2, 60);
	all_join(&rig, 2);
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &ways);
}
END_TEST

/* Inside each rail all is good: without these pairs nobody would know. */
START_TEST(a_bad_spine_is_accused_and_no_node)
{
	struct ways ways = {.slow = 1};
	bu_autofree char *warnings = NULL, *again = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &ways, 6, 300);
	all_join(&rig, 6);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_EVIDENCE), 0);
	warnings = warnings_of(&rig);
	says(warnings, "switch fabric c: pairs across its rails accuse the spines: ");
	says(warnings, "5.00 Mbit/s");
	/* The log is its only memory. */
	rig_restart(&rig);
	rig_pass(&rig, 5000);
	again = warnings_of(&rig);
	says(again, "accuse the spines: ");
	end_fabric(&rig, &ways);
}
END_TEST

/* The links of one leaf one way; its nodes hear of it, and are certified. */
START_TEST(uplinks_are_named_with_leaf_and_rail)
{
	struct ways ways = {.up = "rail2"};
	bu_autofree char *warnings = NULL;
	bu_autojson json_t *remarks = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &ways, 6, 300);
	all_join(&rig, 6);
	warnings = warnings_of(&rig);
	says(warnings, "accuse the uplinks of ");
	says(warnings, " of rail rail2, to the spines: slow");
	ck_assert_ptr_null(strstr(warnings, "rail1"));
	ck_assert_ptr_null(strstr(warnings, "fabric)"));
	remarks = bu_gate_remarks(rig.gate, rig_node(&rig, 3));
	ck_assert_uint_eq(json_array_size(remarks), 1);
	says(json_string_value(json_array_get(remarks, 0)), "of rail rail2");
	end_fabric(&rig, &ways);
}
END_TEST

/* No routes between the rails: all is certified, and it says where to look. */
START_TEST(where_nothing_arrives_routes_are_the_first_hint)
{
	struct ways ways = {.dead = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &ways, 6, 300);
	all_join(&rig, 6);
	warnings = warnings_of(&rig);
	says(warnings, "accuse the spines: nothing arrives");
	says(warnings, "look first whether the rails are routed to each other");
	end_fabric(&rig, &ways);
}
END_TEST

/* What gives no result, and who does not answer for it, delays nobody for long. */
START_TEST(no_certificate_depends_on_them)
{
	for (int mute = 0; mute < 2; mute++) {
		struct ways ways = {.broken = !mute, .mute = mute};
		bu_autofree char *warnings = NULL;
		struct rig rig;

		begin_fabric(&rig, 4, 2, same);
		pass(&rig, &ways, 4, 30);
		if (mute) {
			ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
			rig_reason_is(&rig_node(&rig, 1)->live.says, TESTED_ACROSS);
		}
		pass(&rig, &ways, 4, 190);
		all_join(&rig, 4);
		for (size_t i = 0; i < rig.fleet->measurements.count; i++)
			ck_assert_int_le(rig.fleet->measurements.logs[i].errors, 3);
		warnings = warnings_of(&rig);
		ck_assert_ptr_null(strstr(warnings, "accuse"));
		end_fabric(&rig, &ways);
	}
}
END_TEST

/* It has the results of its rails alone, and is judged again by these. */
START_TEST(a_certificate_has_none_of_them)
{
	struct ways ways = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	pass(&rig, &ways, 4, 300);
	all_join(&rig, 4);
	for (int i = 1; i <= 4; i++) {
		const json_t *sealed = rig_node(&rig, i)->full_cert.body;
		const char *text = bu_json_str(sealed, "text", "");
		struct bu_err err;
		bu_autojson json_t *cert = bu_fabcert_verify(
			text, strlen(text), rig.fleet->public_pem, &err);

		ck_assert_msg(cert != NULL, "%s", err.text);
		ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
		ck_assert_ptr_null(strstr(text, "fabric/rail1"));
		ck_assert_ptr_null(strstr(text, "rail1/fabric"));
	}
	end_fabric(&rig, &ways);
}
END_TEST

/* What is bad on its own rail is no partner across, and blames no uplink. */
START_TEST(a_bad_port_is_none_of_them)
{
	struct ways ways = {.sick = "node002 rail1"};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, 2, same);
	pass(&rig, &ways, 6, 300);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	for (int i = 1; i <= 6; i++)
		ck_assert(i == 2 || rig_node(&rig, i)->state == BU_STATE_JOINING);
	ck_assert_int_gt(ways.across, 0);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++) {
		const struct bu_pair_log *log = &rig.fleet->measurements.logs[i];

		ck_assert(!strchr(log->rail, '/') ||
			  (strcmp(log->name[0], "node002") != 0 &&
			   strcmp(log->name[1], "node002") != 0));
	}
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &ways);
}
END_TEST

/* Each rail at the switch that the profile names. */
static void
cable(const struct rig *rig, const char *ports)
{
	struct bu_desired *desired = rig->fleet->desired;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		free(desired->nodes[i].switch_ports);
		desired->nodes[i].switch_ports = bu_xstrdup(ports);
	}
}

START_TEST(a_leaf_is_the_switch_that_is_known)
{
	struct ways ways = {.slow = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf11:p1");
	pass(&rig, &ways, 4, 300);
	all_join(&rig, 4);
	warnings = warnings_of(&rig);
	says(warnings, "the uplinks of leaf01 (rail fabric) or the uplinks of leaf11 "
		       "(rail rail1) or the spines: ");
	end_fabric(&rig, &ways);
}
END_TEST

/* One leaf for all rails: no spine is between them, and there is nothing to test. */
START_TEST(rails_of_one_leaf_are_not_tested_across)
{
	struct ways ways = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf01:p2");
	pass(&rig, &ways, 4, 60);
	all_join(&rig, 4);
	ck_assert_int_eq(ways.across, 0);
	end_fabric(&rig, &ways);
}
END_TEST

RIG_UNIT("across", a_bad_port_is_none_of_them, a_leaf_is_the_switch_that_is_known,
	 rails_of_one_leaf_are_not_tested_across, each_two_leaves_of_a_group_meet,
	 networks_are_apart_unless_the_profile_says_so,
	 only_rails_of_the_same_fabric_meet, each_end_is_told_its_own_port,
	 a_bad_spine_is_accused_and_no_node, uplinks_are_named_with_leaf_and_rail,
	 where_nothing_arrives_routes_are_the_first_hint,
	 no_certificate_depends_on_them, a_certificate_has_none_of_them)
