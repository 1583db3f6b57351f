/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the tables themselves: they are the design. */
#include "provisioner/node/lifecycle.h"

#include <string.h>

#include "model/class.h"
#include "model/verb.h"
#include "tests/support/unit.h"

static const struct bu_edge *edges;
static size_t count;

/* States that can be reached from `from`, without passing `avoid` (-1 = none); who
 * avoids a state is not adopted, as the adopted node passed it under another log. */
static void
reach(enum bu_state from, int avoid, int seen[BU_STATE_COUNT])
{
	if (seen[from] || (int)from == avoid)
		return;
	seen[from] = 1;
	for (size_t i = 0; i < count; i++)
		if (edges[i].from == from &&
		    (avoid < 0 || edges[i].on != BU_TRIGGER_ADOPTED))
			reach(edges[i].to, avoid, seen);
}

static int
has_edge(enum bu_state from, enum bu_trigger on)
{
	for (size_t i = 0; i < count; i++)
		if (edges[i].from == from && edges[i].on == on)
			return 1;
	return 0;
}

START_TEST(no_state_and_trigger_leads_two_ways)
{
	edges = bu_lifecycle_edges(&count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert(edges[i].from != edges[k].from ||
				  edges[i].on != edges[k].on);
}
END_TEST

START_TEST(every_unsettled_state_has_a_deadline_and_a_way_out)
{
	edges = bu_lifecycle_edges(&count);
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		const struct bu_state_info *info = bu_state_info((enum bu_state)state);
		int seen[BU_STATE_COUNT] = {0}, settled = 0, entered = 0;

		for (size_t i = 0; i < count; i++)
			entered |= edges[i].to == (enum bu_state)state;
		if (info->settled) {
			ck_assert_int_eq(info->limit_s, 0);
			ck_assert_int_eq(info->ladder, BU_LADDER_NONE);
			continue;
		}
		ck_assert_int_ne(info->limit_s, 0);
		ck_assert_int_ne(info->ladder, BU_LADDER_NONE);
		if (!entered)
			continue;
		reach((enum bu_state)state, -1, seen);
		for (int to = 0; to < BU_STATE_COUNT; to++)
			settled |=
				seen[to] && bu_state_info((enum bu_state)to)->settled;
		ck_assert_msg(settled, "no way out of %s", info->name);
	}
}
END_TEST

START_TEST(a_power_ladder_repeats_and_ends_and_only_where_it_may)
{
	edges = bu_lifecycle_edges(&count);
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		int power =
			bu_state_info((enum bu_state)state)->ladder == BU_LADDER_POWER;

		ck_assert_int_eq(has_edge((enum bu_state)state, BU_TRIGGER_REPEAT),
				 power);
		ck_assert_int_eq(has_edge((enum bu_state)state, BU_TRIGGER_LATE),
				 power);
	}
}
END_TEST

START_TEST(nobody_joins_without_certificates)
{
	int seen[BU_STATE_COUNT] = {0};

	edges = bu_lifecycle_edges(&count);
	for (size_t i = 0; i < count; i++)
		if (edges[i].to == BU_STATE_JOINING || edges[i].to == BU_STATE_READY)
			ck_assert_msg(edges[i].guard == BU_GUARD_CERTIFIED,
				      "%s -> %s is not guarded",
				      bu_state_name(edges[i].from),
				      bu_state_name(edges[i].to));
	/* and there is no way to ready around validating */
	reach(BU_STATE_ENROLLED, BU_STATE_VALIDATING, seen);
	ck_assert_int_eq(seen[BU_STATE_READY], 0);
	ck_assert_int_eq(seen[BU_STATE_JOINING], 0);
}
END_TEST

START_TEST(no_disk_is_written_without_an_order_for_it)
{
	edges = bu_lifecycle_edges(&count);
	for (size_t i = 0; i < count; i++) {
		/* inspecting is the way to the disk; a repetition has been ordered */
		if (edges[i].to == BU_STATE_IMAGING ||
		    (edges[i].to == BU_STATE_INSPECTING &&
		     edges[i].on != BU_TRIGGER_REPEAT))
			ck_assert_msg(edges[i].guard == BU_GUARD_INSTALL,
				      "%s -> %s needs no order to write",
				      bu_state_name(edges[i].from),
				      bu_state_name(edges[i].to));
		/* a ready node is disturbed by an order, a person, or by itself */
		if (edges[i].from == BU_STATE_READY &&
		    edges[i].on != BU_TRIGGER_BOOTED &&
		    edges[i].on != BU_TRIGGER_LOADS && edges[i].on != BU_TRIGGER_LOST &&
		    edges[i].on != BU_TRIGGER_OUTDATED &&
		    edges[i].on != BU_TRIGGER_DRAIN)
			ck_assert_int_eq(edges[i].guard, BU_GUARD_ORDERED);
	}
}
END_TEST

/* Each row: what a node that has left its cluster does next. */
START_TEST(who_has_left_goes_where_it_was_sent)
{
	static const struct {
		enum bu_trigger on;
		struct bu_guard_facts facts;
		int rc;
		enum bu_state to;
	} rows[] = {
		{BU_TRIGGER_LEFT,
		 {.ordered = 1, .installs = 1},
		 0,
		 BU_STATE_INSPECTING},
		{BU_TRIGGER_LEFT, {.ordered = 1}, -1, BU_STATE_PARKED},
		{BU_TRIGGER_LEFT_REBOOT, {.installed = 1}, 0, BU_STATE_BOOTING},
		{BU_TRIGGER_LEFT_REBOOT, {.ordered = 1}, -1, BU_STATE_PARKED},
		{BU_TRIGGER_LEFT_RESTART, {.installed = 1}, 0, BU_STATE_VALIDATING},
		{BU_TRIGGER_SERVICE, {.installed = 0}, 0, BU_STATE_SERVICING},
		{BU_TRIGGER_DRAIN, {.ordered = 1, .begun = 1}, -1, BU_STATE_PARKED},
		{BU_TRIGGER_DRAIN, {.ordered = 1}, 0, BU_STATE_DRAINING},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		enum bu_state to = BU_STATE_PARKED;
		struct bu_err err;

		ck_assert_int_eq(bu_lifecycle_next(BU_STATE_DRAINING, rows[i].on,
						   &rows[i].facts, &to, &err),
				 rows[i].rc);
		ck_assert_int_eq(to, rows[i].to);
	}
}
END_TEST

/* A system in memory that loads for the first time: no release would lead back out of
 * servicing. */
START_TEST(who_has_no_system_yet_is_not_serviced)
{
	struct bu_guard_facts facts = {.ordered = 1, .begun = 1, .installs = 1};
	enum bu_state to;

	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_BOOTING, BU_TRIGGER_SERVICE, &facts,
					   &to, NULL),
			 -1);
	facts.installed = 1;
	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_BOOTING, BU_TRIGGER_SERVICE, &facts,
					   &to, NULL),
			 0);
	ck_assert_int_eq(to, BU_STATE_SERVICING);
}
END_TEST

/* So that the edges alone say on which trigger a node leaves to where it was sent. */
START_TEST(from_draining_one_edge_leads_to_each_state)
{
	int ways[BU_STATE_COUNT] = {0};

	edges = bu_lifecycle_edges(&count);
	for (size_t i = 0; i < count; i++)
		if (edges[i].from == BU_STATE_DRAINING)
			ways[edges[i].to]++;
	for (int state = 0; state < BU_STATE_COUNT; state++)
		if (state != BU_STATE_DRAINING)
			ck_assert_int_le(ways[state], 1);
	for (int class = BU_CLASS_NONE + 1; class < BU_CLASS_COUNT; class ++) {
		const struct bu_class_info *info = bu_class_info(class);

		ck_assert_int_eq(info->in_service == BU_ACTION_NONE,
				 ways[info->next] == 1);
		ck_assert_int_eq(bu_class_installs(class),
				 info->next == BU_STATE_INSPECTING);
	}
	ck_assert_int_eq(bu_lifecycle_way(BU_STATE_DRAINING, BU_STATE_PARKED),
			 BU_TRIGGER_PARK);
	ck_assert_int_eq(bu_lifecycle_way(BU_STATE_DRAINING, BU_STATE_READY),
			 BU_TRIGGER_COUNT);
}
END_TEST

/* Where a step must not happen twice the power is looked at; no other can be. */
START_TEST(the_columns_of_a_row_agree)
{
	for (int i = 0; i < BU_ACTION_COUNT; i++) {
		const struct bu_action_info *info = bu_action_info(i);

		ck_assert_int_eq(info->again == BU_AGAIN_LOOKS,
				 info->actor == BU_ACTOR_POWER);
		ck_assert_int_eq(bu_action_from_name(info->name), i);
	}
	for (int i = 0; i < BU_STATE_COUNT; i++) {
		const struct bu_state_info *info = bu_state_info(i);

		ck_assert_int_eq(info->abort != BU_ABORT_NEVER,
				 bu_lifecycle_has(i, BU_TRIGGER_ABORT));
		ck_assert_int_eq(info->late[0] == '\0', info->settled);
		ck_assert(!info->settled || info->first == BU_ACTION_NONE);
	}
	for (int on = 0; on <= BU_TRIGGER_COUNT; on++)
		ck_assert_int_eq(bu_trigger_from_name(bu_trigger_name(on)), on);
}
END_TEST

START_TEST(guards_refuse_and_name_what_is_missing)
{
	struct bu_guard_facts facts = {0};
	enum bu_state to = BU_STATE_PARKED;
	struct bu_err err;

	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_VALIDATING, BU_TRIGGER_PROVEN,
					   &facts, &to, &err),
			 -1);
	ck_assert_str_eq(err.text, "'proven' in state validating: it has no valid "
				   "certificates for this machine and this boot");
	ck_assert_int_eq(to, BU_STATE_PARKED);
	facts.certified = 1;
	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_VALIDATING, BU_TRIGGER_PROVEN,
					   &facts, &to, &err),
			 0);
	ck_assert_int_eq(to, BU_STATE_JOINING);
	facts.ordered = 1;
	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_ENROLLED, BU_TRIGGER_START, &facts,
					   &to, &err),
			 -1);
	ck_assert_str_eq(err.text, "'start' in state enrolled: no applied plan orders "
				   "its disk to be written");
	ck_assert_int_eq(bu_lifecycle_next(BU_STATE_RETIRED, BU_TRIGGER_IMAGED, &facts,
					   &to, &err),
			 -1);
	ck_assert_str_eq(err.text, "'imaged' has no effect in state retired");
}
END_TEST

/* Where bringup does nothing by itself, or has given up, there is something to type;
 * and whatever it does can be stopped by a person. */
START_TEST(every_state_has_a_verb_that_leads_out_of_it)
{
	edges = bu_lifecycle_edges(&count);
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		static const enum bu_trigger of_people[] = {
			BU_TRIGGER_DRAIN,    BU_TRIGGER_PARK,  BU_TRIGGER_SERVICE,
			BU_TRIGGER_VALIDATE, BU_TRIGGER_BOOT,  BU_TRIGGER_REPLACE,
			BU_TRIGGER_RETIRE,   BU_TRIGGER_ABORT,
		};
		int verbs = 0, out = 0;

		for (int verb = BU_VERB_RELEASE; verb < BU_VERB_COUNT; verb++)
			verbs +=
				bu_verb_takes((enum bu_verb)verb, (enum bu_state)state);
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < BU_LEN(of_people); k++)
				out += edges[i].from == (enum bu_state)state &&
				       edges[i].to != edges[i].from &&
				       edges[i].on == of_people[k];
		ck_assert_msg(verbs && out, "nobody gets a node out of %s",
			      bu_state_name((enum bu_state)state));
	}
}
END_TEST

START_TEST(names_of_states_lead_back)
{
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		enum bu_state back;

		ck_assert_int_eq(bu_state_from_name(bu_state_name((enum bu_state)state),
						    &back, NULL),
				 0);
		ck_assert_int_eq(back, state);
	}
}
END_TEST

/* The model: from every state, whatever is true of orders, every trigger. Without valid
 * certificates no path leads into the cluster; joining and ready are only left and
 * entered again through them. */
START_TEST(no_path_joins_without_certificates)
{
	for (int set = 0; set < 4; set++) {
		struct bu_guard_facts facts = {.ordered = set & 1,
					       .installs = set >> 1};
		unsigned char reached[BU_STATE_COUNT] = {0};
		int grew = 1;

		for (int s = 0; s < BU_STATE_COUNT; s++)
			reached[s] = s != BU_STATE_JOINING && s != BU_STATE_READY &&
				     s != BU_STATE_DRAINING;
		while (grew) {
			grew = 0;
			for (int s = 0; s < BU_STATE_COUNT; s++) {
				for (int on = 0; on < BU_TRIGGER_COUNT; on++) {
					enum bu_state to;

					if (!reached[s] ||
					    bu_lifecycle_next((enum bu_state)s,
							      (enum bu_trigger)on,
							      &facts, &to, NULL) != 0)
						continue;
					grew |= !reached[to];
					reached[to] = 1;
				}
			}
		}
		ck_assert(!reached[BU_STATE_JOINING]);
		ck_assert(!reached[BU_STATE_READY]);
	}
}
END_TEST

BU_UNIT("lifecycle", no_state_and_trigger_leads_two_ways,
	every_unsettled_state_has_a_deadline_and_a_way_out,
	a_power_ladder_repeats_and_ends_and_only_where_it_may,
	nobody_joins_without_certificates, no_disk_is_written_without_an_order_for_it,
	from_draining_one_edge_leads_to_each_state,
	who_has_no_system_yet_is_not_serviced, the_columns_of_a_row_agree,
	who_has_left_goes_where_it_was_sent, guards_refuse_and_name_what_is_missing,
	every_state_has_a_verb_that_leads_out_of_it, names_of_states_lead_back,
	no_path_joins_without_certificates)
