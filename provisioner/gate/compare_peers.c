/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new report laid beside those of the machines that should be alike: what no machine
 * can see alone becomes rows of the report. Called by checks.c before it is kept.
 * Invariant: only machines of the same class that run now, with a report of their
 * present boot, are compared: a card that moved on with its owner switched off is no
 * double. Of those in quarantine only wrong cables count: of two that are swapped the
 * first is there when the second one reports.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/cohort.h"
#include "provisioner/gate/internal.h"

/* So many, whoever they are, show what most machines have; of the others only those
 * that may be a double, or have a cable of ours. */
enum { SAMPLE = 64 };

struct alike {
	const char *node;
	struct bu_checks *report;
};

json_t *
bu_gate_facts(const struct bu_checks *report)
{
	json_t *facts = json_array();

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];

		if (bu_cohort_compares(row))
			json_array_append_new(
				facts, json_pack("{s:s,s:s,s:s,s:s,s:s}", "id", row->id,
						 "subject", row->subject, "verdict",
						 bu_verdict_name(row->verdict), "seen",
						 bu_check_value(row), "expected",
						 row->expected));
	}
	return facts;
}

/* An address has no blanks; older rows tell its index behind it. Owned. */
static char *
value_of(const json_t *fact)
{
	const char *seen = bu_json_str(fact, "seen", "");
	int is_gid = strcmp(bu_json_str(fact, "id", ""), "gid") == 0;

	return bu_xstrndup(seen, is_gid ? strcspn(seen, " ") : strlen(seen));
}

static void
read_facts(const json_t *facts, int only_cables, struct bu_checks *ret)
{
	size_t i;
	json_t *fact;

	bu_checks_init(ret);
	json_array_foreach (facts, i, fact) {
		const char *id = bu_json_str(fact, "id", "");
		bu_autofree char *value = value_of(fact);
		enum bu_verdict verdict;
		struct bu_check *row;

		if (!bu_check_id_is_valid(id) ||
		    (only_cables && strcmp(id, "cabling") != 0) ||
		    bu_verdict_from_name(bu_json_str(fact, "verdict", ""), &verdict))
			continue;
		row = bu_checks_add(ret, "audit", id, verdict,
				    bu_json_str(fact, "subject", ""));
		BU_CHECK_SET(row->seen, "%s", value);
		BU_CHECK_SET(row->expected, "%s", bu_json_str(fact, "expected", ""));
	}
}

static int
is_up(const struct bu_node *node)
{
	return bu_state_info(node->state)->measured && node->checks &&
	       strcmp(bu_json_str(node->checks, "boot_id", ""), node->boot_id) == 0;
}

static int
is_related(const json_t *facts, const json_t *own)
{
	size_t i, k;
	json_t *fact, *mine;

	json_array_foreach (facts, i, fact) {
		const char *id = bu_json_str(fact, "id", "");
		bu_autofree char *value = value_of(fact);

		if (strcmp(id, "cabling") == 0)
			return 1;
		if (!bu_cohort_is_unique(id))
			continue;
		json_array_foreach (own, k, mine)
			if (strcmp(bu_json_str(mine, "id", ""), id) == 0 &&
			    strcmp(bu_json_str(mine, "seen", ""), value) == 0)
				return 1;
	}
	return 0;
}

static void
on_found(const char *node, const struct bu_check *row, void *arg)
{
	struct alike *alike = arg;

	if (strcmp(node, alike->node) == 0)
		*bu_checks_add(alike->report, row->group, row->id, row->verdict,
			       row->subject) = *row;
}

void
bu_gate_compare(struct bu_gate *gate, const struct bu_node *node,
		struct bu_checks *report)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	struct alike alike = {.node = node->name, .report = report};
	size_t most = gate->fleet->count + 1, count = 0;
	struct bu_cohort_node *cohort = bu_xcalloc(most, sizeof(*cohort));
	struct bu_checks *reports = bu_xcalloc(most, sizeof(*reports));
	bu_autojson json_t *own = bu_gate_facts(report);

	for (size_t i = 0; want && i < gate->fleet->count; i++) {
		const struct bu_node *other = gate->fleet->nodes[i];
		const struct bu_desired_node *its =
			bu_fleet_desired(gate->fleet, other);
		const json_t *facts = json_object_get(other->checks, "facts");

		if (other != node &&
		    (!its || its->hardware != want->hardware || !is_up(other) ||
		     (count >= SAMPLE && !is_related(facts, own))))
			continue;
		read_facts(other == node ? own : facts,
			   other->state == BU_STATE_QUARANTINED, &reports[count]);
		cohort[count] = (struct bu_cohort_node){other->name, &reports[count]};
		count++;
	}
	bu_cohort_judge(cohort, count, on_found, &alike);
	for (size_t i = 0; i < count; i++)
		bu_checks_fini(&reports[i]);
	free(reports);
	free(cohort);
}
