/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a new report with those of machines that should be alike: faults that no
 * machine sees alone become rows of the report. Called by checks.c before the report is
 * kept. Invariant: only machines of the same class are compared that run now, with a
 * report of their present boot: a card that moved on while its former machine is off is
 * no double. Of machines in quarantine only wrong cables count: of two swapped cables
 * the first is known when the second is reported. An index over all reports finds those
 * with equal unique values. Parsed rows of often compared reports are kept. So a report
 * costs what the reports cost that it is compared with, however many there are.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/cohort.h"
#include "fabric/judge/domains.h"
#include "provisioner/gate/internal.h"

/* SAMPLE: any machines, which show what most have. Others are compared only for an
 * equal unique value or a wrong cable. KEPT: reports with kept rows. */
enum { SAMPLE = 64, KEPT = SAMPLE + 16 };

/* Facts are most of the memory that a report takes, so values that most rows have are
 * left out. */
static json_t *
fact_of(const struct bu_check *row)
{
	json_t *fact = json_pack("{s:s,s:s,s:s}", "id", row->id, "subject",
				 row->subject, "seen", bu_check_value(row));

	if (row->verdict != BU_VERDICT_PASS)
		json_object_set_new(fact, "verdict",
				    json_string(bu_verdict_name(row->verdict)));
	if (*row->expected)
		json_object_set_new(fact, "expected", json_string(row->expected));
	return fact;
}

json_t *
bu_gate_facts(const struct bu_checks *report)
{
	json_t *facts = json_array();

	for (size_t i = 0; i < report->count; i++)
		if (bu_cohort_compares(&report->list[i]) ||
		    bu_domain_is_told(&report->list[i]))
			json_array_append_new(facts, fact_of(&report->list[i]));
	return facts;
}

/* The value; of a GID without the index that older rows have after a blank. Owned. */
static char *
value_of(const json_t *fact)
{
	const char *seen = bu_json_str(fact, "seen", "");
	int is_gid = strcmp(bu_json_str(fact, "id", ""), BU_CHECK_GID) == 0;

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
		    (only_cables && strcmp(id, BU_CHECK_CABLING) != 0) ||
		    bu_verdict_from_name(bu_json_str(fact, "verdict", "pass"),
					 &verdict))
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
	return bu_state_info(node->state)->measured && bu_gate_has_checks(node);
}

/* --- index of reports --- */

/* The parsed rows of a report. */
struct kept {
	json_t *of; /* the checks of a node; NULL = the place is free */
	int only_cables;
	unsigned int turn; /* the last one that used the rows */
	struct bu_checks rows;
};

struct bu_peers {
	json_t *known; /* node -> its checks in the index */
	/* The same by place in the fleet, to skip unchanged nodes. */
	struct seen {
		const struct bu_node *node;
		const json_t *checks; /* borrowed from known */
	} * seen;
	size_t seen_count;
	json_t *owners; /* "guid 0x1234" -> {node: true}: of unique values */
	json_t *cables; /* {node: true}: nodes with a wrong cable */
	struct kept kept[KEPT];
	size_t next; /* replaced next, unless used in this turn */
	unsigned int turn;
};

static struct bu_peers *
peers_of(struct bu_gate *gate)
{
	if (!gate->peers) {
		gate->peers = bu_xcalloc(1, sizeof(*gate->peers));
		gate->peers->known = json_object();
		gate->peers->owners = json_object();
		gate->peers->cables = json_object();
	}
	return gate->peers;
}

static void
drop_kept(struct kept *kept)
{
	json_decref(kept->of);
	kept->of = NULL;
	bu_checks_fini(&kept->rows);
}

/* Borrowed until the next turn. A turn can use KEPT reports at most. */
static const struct bu_checks *
rows_of(struct bu_peers *peers, json_t *checks, int only_cables)
{
	struct kept *kept = NULL;

	for (size_t i = 0; i < KEPT && !kept; i++)
		if (peers->kept[i].of == checks &&
		    peers->kept[i].only_cables == only_cables)
			kept = &peers->kept[i];
	while (!kept) {
		struct kept *next = &peers->kept[peers->next++ % KEPT];

		if (next->of && next->turn == peers->turn)
			continue;
		drop_kept(next);
		next->of = json_incref(checks);
		next->only_cables = only_cables;
		read_facts(json_object_get(checks, "facts"), only_cables, &next->rows);
		kept = next;
	}
	kept->turn = peers->turn;
	return &kept->rows;
}

void
bu_gate_peers_drop(struct bu_gate *gate)
{
	if (!gate->peers)
		return;
	free(gate->peers->seen);
	json_decref(gate->peers->known);
	json_decref(gate->peers->owners);
	json_decref(gate->peers->cables);
	for (size_t i = 0; i < KEPT; i++)
		drop_kept(&gate->peers->kept[i]);
	free(gate->peers);
	gate->peers = NULL;
}

/* "guid 0x1234"; NULL = the value need not be unique. Owned. */
static char *
key_of(const json_t *fact)
{
	const char *id = bu_json_str(fact, "id", "");
	bu_autofree char *value = value_of(fact);

	return bu_cohort_is_unique(id) ? bu_xasprintf("%s %s", id, value) : NULL;
}

static void
put_owner(struct bu_peers *peers, const char *key, const char *node, int has)
{
	json_t *owners = json_object_get(peers->owners, key);

	if (!owners && has) {
		owners = json_object();
		json_object_set_new(peers->owners, key, owners);
	}
	if (has)
		json_object_set_new(owners, node, json_true());
	else
		json_object_del(owners, node);
	if (json_object_size(owners) == 0)
		json_object_del(peers->owners, key);
}

static void
put_facts(struct bu_peers *peers, const json_t *checks, const char *node, int has)
{
	size_t i;
	json_t *fact;

	json_array_foreach (json_object_get(checks, "facts"), i, fact) {
		bu_autofree char *key = key_of(fact);

		if (key)
			put_owner(peers, key, node, has);
		if (strcmp(bu_json_str(fact, "id", ""), BU_CHECK_CABLING) != 0)
			continue;
		if (has)
			json_object_set_new(peers->cables, node, json_true());
		else
			json_object_del(peers->cables, node);
	}
}

static void
make_seen(struct bu_peers *peers, size_t count)
{
	if (peers->seen_count == count)
		return;
	free(peers->seen);
	peers->seen = bu_xcalloc(count, sizeof(*peers->seen));
	peers->seen_count = count;
}

static void
follow(struct bu_gate *gate, struct bu_peers *peers)
{
	make_seen(peers, gate->fleet->count);
	for (size_t i = 0; i < gate->fleet->count; i++) {
		const struct bu_node *node = gate->fleet->nodes[i];
		struct seen *seen = &peers->seen[i];
		json_t *known;

		if (seen->node == node && seen->checks == node->checks.body)
			continue;
		*seen = (struct seen){node, node->checks.body};
		known = json_object_get(peers->known, node->name);
		if (known == node->checks.body)
			continue;
		put_facts(peers, known, node->name, 0);
		put_facts(peers, node->checks.body, node->name, 1);
		if (node->checks.body)
			json_object_set(peers->known, node->name, node->checks.body);
		else
			json_object_del(peers->known, node->name);
	}
}

/* --- comparison --- */

struct alike {
	struct bu_gate *gate;
	const struct bu_node *node;
	const struct bu_desired_node *want;
	struct bu_checks *report;
	json_t *names; /* {node: true}: the cohort */
};

static const char *
rack_of(const struct bu_desired_node *want)
{
	return want->rack ? want->rack : "";
}

static int
is_alike(const struct alike *alike, const struct bu_node *node)
{
	const struct bu_desired_node *its;

	if (!node || node == alike->node || !is_up(node))
		return 0;
	its = bu_fleet_desired(alike->gate->fleet, node);
	return its && its->hardware == alike->want->hardware;
}

static void
add_node(struct alike *alike, const struct bu_node *node)
{
	json_object_set_new(alike->names, node->name, json_true());
}

static void
add_sample(struct alike *alike)
{
	size_t count = 0;

	for (size_t i = 0; i < alike->gate->fleet->count && count < SAMPLE; i++) {
		const struct bu_node *node = alike->gate->fleet->nodes[i];

		if (!is_alike(alike, node))
			continue;
		add_node(alike, node);
		count++;
	}
}

/* Adds the nodes of the rack, which share the NVLink domain. */
static void
add_rack(struct alike *alike)
{
	for (size_t i = 0; *rack_of(alike->want) && i < alike->gate->fleet->count;
	     i++) {
		const struct bu_node *node = alike->gate->fleet->nodes[i];

		if (is_alike(alike, node) &&
		    strcmp(rack_of(bu_fleet_desired(alike->gate->fleet, node)),
			   rack_of(alike->want)) == 0)
			add_node(alike, node);
	}
}

static void
add_named(struct alike *alike, json_t *names)
{
	const char *name;
	json_t *value;

	json_object_foreach (names, name, value) {
		const struct bu_node *node = bu_fleet_node(alike->gate->fleet, name);

		if (is_alike(alike, node))
			add_node(alike, node);
	}
}

static void
on_found(const char *node, const struct bu_check *row, void *arg)
{
	struct alike *alike = arg;

	*bu_checks_add(alike->report, row->group, row->id, row->verdict, row->subject) =
		*row;
}

/* own: gets the rows of a report beyond KEPT. */
static const struct bu_checks *
rows_in(const struct alike *alike, const struct bu_node *node, size_t place,
	struct bu_checks *own)
{
	int only_cables = node->state == BU_STATE_QUARANTINED;

	if (place < KEPT)
		return rows_of(alike->gate->peers, node->checks.body, only_cables);
	read_facts(node->checks.is.facts, only_cables, own);
	return own;
}

static void
judge(struct alike *alike, const json_t *own)
{
	size_t size = json_object_size(alike->names) + 1, count = 0;
	struct bu_cohort_node *cohort = bu_xcalloc(size, sizeof(*cohort));
	struct bu_checks *reports = bu_xcalloc(size, sizeof(*reports));
	const char *name;
	json_t *value;

	alike->gate->peers->turn++;
	json_object_foreach (alike->names, name, value) {
		const struct bu_node *node = bu_fleet_node(alike->gate->fleet, name);

		cohort[count].node = node->name;
		cohort[count].checks = rows_in(alike, node, count, &reports[count]);
		cohort[count].rack =
			rack_of(bu_fleet_desired(alike->gate->fleet, node));
		count++;
	}
	read_facts(own, alike->node->state == BU_STATE_QUARANTINED, &reports[count]);
	cohort[count] = (struct bu_cohort_node){alike->node->name, &reports[count],
						rack_of(alike->want)};
	bu_cohort_judge(cohort, size, alike->node->name, on_found, alike);
	bu_domains_judge(cohort, size, alike->node->name, on_found, alike);
	for (size_t i = 0; i < size; i++)
		bu_checks_fini(&reports[i]);
	free(reports);
	free(cohort);
}

static int
tells_domain(const struct bu_checks *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (bu_domain_is_told(&report->list[i]))
			return 1;
	return 0;
}

void
bu_gate_compare(struct bu_gate *gate, const struct bu_node *node,
		struct bu_checks *report)
{
	struct bu_peers *peers = peers_of(gate);
	bu_autojson json_t *own = bu_gate_facts(report), *names = json_object();
	struct alike alike = {.gate = gate,
			      .node = node,
			      .want = bu_fleet_desired(gate->fleet, node),
			      .report = report,
			      .names = names};
	size_t i;
	json_t *fact;

	if (!alike.want)
		return;
	follow(gate, peers);
	add_sample(&alike);
	if (tells_domain(report))
		add_rack(&alike);
	add_named(&alike, peers->cables);
	json_array_foreach (own, i, fact) {
		bu_autofree char *key = key_of(fact);

		if (key)
			add_named(&alike, json_object_get(peers->owners, key));
	}
	judge(&alike, own);
}
