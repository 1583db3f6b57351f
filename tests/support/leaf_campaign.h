/* SPDX-License-Identifier: Apache-2.0 */
/* Agents of paper of nodes whose rails are of one switch fabric: the test says what the
 * way between the leaves carries, and who answers for it. */
#ifndef BU_TESTS_SUPPORT_LEAF_CAMPAIGN_H
#define BU_TESTS_SUPPORT_LEAF_CAMPAIGN_H

#include "fabric/judge/accusation.h"
#include "provisioner/gate/terms/state.h"
#include "tests/support/gate.h"

enum { RAILS = 4 };
#define SAME "switch_fabric = c\n"
static const char *const same[RAILS] = {SAME, SAME, SAME, SAME};

/* What is between the leaves, of which each rail has its own. */
struct paths {
	int slow;              /* all of it */
	const char *up, *down; /* the leaf of this rail, to and from the spines */
	int broken;            /* pairs across give no result, */
	int dead;              /* or nothing arrives */
	int mute;              /* nobody answers for one, nor for one between leaves */
	int pause_s;           /* or one of both answers in so many seconds, */
	int64_t next_ms;       /* the next one then */
	const char *mute_node; /* nor who is in one with this node */
	const char *sick;      /* "NODE RAIL": this port, in each of its pairs */
	int fast;              /* links of rail1 carry twice as much */
	int leaf[RIG_NODES_MAX + 1]; /* of a node, by its number; 0 = all at one */
	int thin; /* between leaves four queue pairs are as good as one is inside */
	json_t *sports; /* "NODE NODE SPORT" -> its probes */
	int uplink;     /* all to and from this leaf is slow, of one rail, too */
	int between;    /* pairs of one rail that were measured between leaves */
	int spines;    /* so many are between them: each flow takes one, by its ports */
	int bad_leaf;  /* the link of this leaf (0 = of all) and */
	int bad_spine; /* this spine (0 = all are good) is slow */
	int bad_dir;   /* BU_DIR_...: up, down */
	int silent;    /* this spine answers no trace; -1 = each is silent */
	int names;     /* switches answer with an address of their own, not a link's */
	int thin_one;  /* one queue pair carries less than several */
	int singles;   /* tests of one way */
	int traced;    /* pairs that were to be traced */
	int across;    /* pairs that were measured across */
	json_t *asked; /* "RAIL RAIL", "NODE RAIL NODE RAIL" -> how often */
};

static inline void
begin_fabric(struct rig *rig, int nodes, int rails, const char *const *more)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_give_rails_with(rig, nodes, rails, more);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
}

static inline const char *
rail_of(const json_t *item, size_t k)
{
	return bu_json_str(json_array_get(json_object_get(item, "rails"), k), "rail",
			   "");
}

static inline int
place_of(const char *rail)
{
	return strcmp(rail, "fabric") ? (int)strtol(rail + 4, NULL, 10) : 0;
}

/* "10.78" is of fabric, "10.79" of rail1 and on; the end that it is of node N. */
static inline void
check_end(const json_t *item, size_t k)
{
	const json_t *rail = json_array_get(json_object_get(item, "rails"), k);
	const char *name = bu_json_str(rail, "rail", "");
	bu_autofree char *net = bu_xasprintf("10.%d.", 78 + place_of(name));

	ck_assert_int_eq(strncmp(bu_json_str(rail, "address", ""), net, strlen(net)),
			 0);
	for (size_t i = 0; i < k; i++)
		ck_assert_str_ne(rail_of(item, i), name); /* no port twice */
}

/* An end of the pair sends: is its way slow? */
static inline double
rate_of(const struct paths *paths, const char *from, const char *to)
{
	int slow = paths->slow || (paths->up && strcmp(paths->up, from) == 0) ||
		   (paths->down && strcmp(paths->down, to) == 0);

	return paths->dead ? 0 : slow ? SLOW : GOOD;
}

static inline int
is_sick(const struct paths *paths, const json_t *const items[2],
	const char *const *rails)
{
	for (int i = 0; paths->sick && i < 2; i++) {
		bu_autofree char *port = bu_xasprintf(
			"%s %s", bu_json_str(items[0], i ? "b" : "a", ""), rails[i]);

		if (strcmp(port, paths->sick) == 0)
			return 1;
	}
	return 0;
}

/* Of one rail: between leaves, and one of them is slow? */
static inline int
is_uplink_slow(struct paths *paths, const json_t *item,
	       const struct bu_pair_result *result)
{
	int a = paths->leaf[number_of(result->end[0].node)];
	int b = paths->leaf[number_of(result->end[1].node)];

	paths->between += a != b;
	if (a != b && paths->thin && bu_json_int(item, "qps", 1) < 4)
		return 1;
	return a != b && paths->uplink && (a == paths->uplink || b == paths->uplink);
}

/* As a switch does it: by addresses and ports of the flow. From 1. */
static inline int
spine_of(const struct paths *paths, int src, int dst, int sport)
{
	uint32_t hash = (uint32_t)sport * 65537u + (uint32_t)(src * 131 + dst * 31);

	return 1 + (int)((hash * 2654435761u >> 16) % (uint32_t)paths->spines);
}

/* The routers on the way of a flow. Spine S has 10.9.S.L to leaf L. */
static inline void
trace_flow(const struct paths *paths, int from, int to, int spine,
	   struct bu_pair_way *ret)
{
	int hops = 0;

	snprintf(ret->hop[hops++], BU_HOP_SIZE, "10.1.%d.1", from);
	if (paths->silent < 0 || paths->silent == spine)
		hops++;
	else
		snprintf(ret->hop[hops++], BU_HOP_SIZE, "10.9.%d.%d", spine,
			 paths->names ? 0 : from);
	snprintf(ret->hop[hops++], BU_HOP_SIZE, "10.2.%d.1", to);
	ret->hops = hops;
}

/* What its flows cross, each queue pair by a spine; 1 = one of them is slow. */
static inline int
cross_spines(struct paths *paths, const json_t *item, int dir, const int leaves[2],
	     struct bu_pair_result *result)
{
	int src = number_of(result->end[dir].node);
	int dst = number_of(result->end[!dir].node);
	int from = leaves[dir], to = leaves[!dir], slow = 0;
	struct bu_pair_dir *of = &result->dir[dir];

	of->qps = (int)bu_json_int(item, "qps", 1);
	for (int i = 0; i < of->qps; i++) {
		int sport = (int)bu_json_int(item, "sport", 0) + i;
		int spine = spine_of(paths, src, dst, sport);

		of->sport[i] = (uint16_t)sport;
		if (json_is_true(json_object_get(item, "trace")))
			trace_flow(paths, from, to, spine, &of->path[of->paths++]);
		slow |= spine == paths->bad_spine &&
			(!paths->bad_leaf ||
			 (paths->bad_leaf == from && paths->bad_dir & BU_DIR_OUT) ||
			 (paths->bad_leaf == to && paths->bad_dir & BU_DIR_IN));
	}
	return slow || (paths->thin_one && of->qps == 1);
}

static inline json_t *
result_between(struct paths *paths, const json_t *const items[2], size_t k)
{
	struct bu_pair_result result;
	const char *rails[2] = {rail_of(items[0], k), rail_of(items[1], k)};
	int across = strcmp(rails[0], rails[1]) != 0, between, of_leaf[2];
	int sick = is_sick(paths, items, rails);
	double own = paths->fast && strcmp(rails[0], "rail1") == 0 ? 2 * GOOD : GOOD;
	bu_autofree char *leaves = NULL, *ports = NULL;

	bu_pair_result_init(&result);
	BU_TEXT_COPY(result.probe, bu_json_str(items[0], "probe", ""));
	for (int i = 0; i < 2; i++) {
		BU_TEXT_COPY(result.end[i].node,
			     bu_json_str(items[0], i ? "b" : "a", ""));
		strcpy(result.end[i].device, "rxe0");
		check_end(items[i], k);
	}
	sick |= !across && is_uplink_slow(paths, items[0], &result);
	for (int i = 0; i < 2; i++) /* across rails each has a leaf of its own */
		of_leaf[i] = !across ? paths->leaf[number_of(result.end[i].node)]
				     : 1 + place_of(rails[i]);
	between = of_leaf[0] != of_leaf[1];
	paths->singles += between && bu_json_int(items[0], "qps", 1) == 1;
	paths->traced += json_is_true(json_object_get(items[0], "trace"));
	for (int dir = 0; dir < 2; dir++) {
		int bad = sick;

		if (paths->spines && between)
			bad |= cross_spines(paths, items[0], dir, of_leaf, &result);
		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(
				&result.dir[dir],
				bad      ? SLOW
				: across ? rate_of(paths, rails[dir], rails[!dir])
					 : own);
	}
	if (!across)
		return bu_pair_result_to_json(&result);
	paths->across++;
	leaves = bu_xasprintf("%s %s", rails[0], rails[1]);
	bu_json_count_up(paths->asked, leaves);
	ports = bu_xasprintf("%s %s %s %s", result.end[0].node, rails[0],
			     result.end[1].node, rails[1]);
	bu_json_count_up(paths->asked, ports);
	return bu_pair_result_to_json(&result);
}

static inline int
is_across(const json_t *const items[2])
{
	return strcmp(rail_of(items[0], 0), rail_of(items[1], 0)) != 0;
}

/* They hang at different leaves. */
static inline int
is_between(const struct paths *paths, struct bu_node *const ends[2])
{
	return paths->leaf[number_of(ends[0]->name)] !=
	       paths->leaf[number_of(ends[1]->name)];
}

static inline int
is_mute(const struct paths *paths, struct bu_node *const ends[2])
{
	return paths->mute_node && (strcmp(ends[0]->name, paths->mute_node) == 0 ||
				    strcmp(ends[1]->name, paths->mute_node) == 0);
}

/* Both ends have the same. */
static inline void
count_sport(struct paths *paths, const json_t *const items[2],
	    struct bu_node *const ends[2])
{
	int sport = (int)bu_json_int(items[0], "sport", 0);
	bu_autofree char *key =
		bu_xasprintf("%s %s %d", ends[0]->name, ends[1]->name, sport);

	ck_assert_int_eq(bu_json_int(items[1], "sport", 0), sport);
	ck_assert_int_ge(sport, 0xc000);
	paths->sports = paths->sports ? paths->sports : json_object();
	if (!json_object_get(paths->sports, key))
		json_object_set_new(paths->sports, key, json_object());
	bu_json_count_up(json_object_get(paths->sports, key),
			 bu_json_str(items[0], "probe", ""));
}

static inline void
tell(struct rig *rig, struct paths *paths, const json_t *const items[2],
     struct bu_node *const ends[2])
{
	size_t rails = json_array_size(json_object_get(items[0], "rails"));
	bu_autojson json_t *list = json_array(), *result = NULL;
	struct bu_err failure;

	ck_assert_uint_eq(json_array_size(json_object_get(items[1], "rails")), rails);
	count_sport(paths, items, ends);
	if ((paths->mute || is_mute(paths, ends)) &&
	    (is_across(items) || is_between(paths, ends)))
		return;
	if (is_across(items) || is_between(paths, ends)) {
		if (rig->clock.fake_wall_ms < paths->next_ms)
			return;
		paths->next_ms = rig->clock.fake_wall_ms + paths->pause_s * 1000;
	}
	for (size_t k = 0; k < rails; k++)
		json_array_append_new(list, result_between(paths, items, k));
	result = json_pack("{s:O}", "rails", list);
	bu_err_set(&failure, BU_ERR_IO, 0, "no route");
	for (int i = 0; i < 2; i++)
		if (paths->broken && is_across(items))
			bu_gate_result(rig->gate, ends[i],
				       bu_json_str(items[i], "id", ""), NULL, &failure);
		else
			bu_gate_result(rig->gate, ends[i],
				       bu_json_str(items[i], "id", ""), result, NULL);
}

/* The node and its peer come for their items, and do them. */
static inline void
work(struct rig *rig, struct paths *paths, int number)
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
		tell(rig, paths,
		     (const json_t *const[]){first ? item : other,
					     first ? other : item},
		     (struct bu_node *const[]){first ? one : peer, first ? peer : one});
}

/* So many seconds of nodes 1 to count. */
static inline void
pass(struct rig *rig, struct paths *paths, int nodes, int seconds)
{
	paths->asked = paths->asked ? paths->asked : json_object();
	for (int second = 0; second < seconds; second++) {
		for (int i = 1; i <= nodes; i++) {
			struct bu_node *node = rig_node(rig, i);

			node->live.last_seen_ms = rig->clock.fake_wall_ms;
			if (!check(rig, i, "nic-mtu", BU_VERDICT_PASS, ""))
				work(rig, paths, i);
		}
		rig_pass(rig, 1000);
	}
}

/* All of them are certified, and nobody was accused. */
static inline void
all_join(const struct rig *rig, int nodes)
{
	for (int i = 1; i <= nodes; i++)
		ck_assert_msg(rig_node(rig, i)->state == BU_STATE_JOINING, "%s is %s",
			      rig_node(rig, i)->name,
			      bu_state_name(rig_node(rig, i)->state));
}

static inline char *
warnings_of(const struct rig *rig)
{
	return rig_lines(bu_gate_warnings(rig->gate));
}

static inline void
end_fabric(struct rig *rig, struct paths *paths)
{
	json_decref(paths->asked);
	json_decref(paths->sports);
	rig_end(rig);
}

/* Also while nobody is validating. */
static inline void
look_now(struct rig *rig)
{
	rig->gate->leaves_seen = 0;
	bu_gate_kick(rig->gate);
	rig_pass(rig, 2000);
}

static inline void
give_accusation(struct rig *rig, const char *fabric, const char *leaf)
{
	json_object_set_new(rig->gate->leaf_accused, fabric,
			    json_pack("[{s:[[i,s,i]],s:s,s:{},s:{s:b}}]", "key",
				      BU_WHAT_LEAF, leaf, 0, "said", "of before",
				      "nodes", "leaves", leaf, 1));
}

#endif
