/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a new report with those of machines that should be alike: faults that no
 * machine sees alone become rows of the report. Called by checks.c before the report is
 * kept. Invariant: only machines of the same class are compared that run now, with a
 * report of their present boot: a card that moved on while its former machine is off is
 * no double. Of machines in quarantine only wrong cables count: of two swapped cables
 * the first is known when the second is reported. Marks in the rows of reports say
 * which have equal unique values. The facts of a report are a blob, and those of often
 * compared reports are kept. So a report costs what the reports cost that it is
 * compared with, however many there are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "fabric/judge/cohort.h"
#include "fabric/judge/domains.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/soak.h"

/* SAMPLE: any machines, which show what most have. Others are compared only for an
 * equal unique value or a wrong cable. KEPT: reports with kept rows. */
enum { SAMPLE = 64, KEPT = SAMPLE + 16 };

/* --- facts --- */

static int
is_fact(const struct bu_check *row)
{
	return bu_cohort_compares(row) || bu_domain_is_told(row);
}

/* Values that most rows have, or that are empty in most, are left out. */
static json_t *
fact_of(const struct bu_check *row)
{
	json_t *fact = json_pack("[s,s,s]", row->id, row->subject, bu_check_value(row));

	if (row->verdict != BU_VERDICT_PASS || *row->expected)
		json_array_append_new(fact, json_string(bu_verdict_name(row->verdict)));
	if (*row->expected)
		json_array_append_new(fact, json_string(row->expected));
	return fact;
}

json_t *
bu_gate_facts(const struct bu_checks *report)
{
	json_t *facts = json_array();

	for (size_t i = 0; i < report->count; i++)
		if (is_fact(&report->list[i]))
			json_array_append_new(facts, fact_of(&report->list[i]));
	return facts;
}

int
bu_gate_is_miscabled(const struct bu_checks *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (is_fact(&report->list[i]) &&
		    strcmp(report->list[i].id, BU_CHECK_CABLING) == 0)
			return 1;
	return 0;
}

static uint64_t
add_to_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

char *
bu_gate_marks(const struct bu_checks *report)
{
	char *marks = bu_xcalloc(report->count + 1, BU_GATE_MARK), *at = marks;

	for (size_t i = 0; i < report->count; i++) {
		const struct bu_check *row = &report->list[i];
		uint64_t hash = UINT64_C(0xcbf29ce484222325);

		if (!is_fact(row) || !bu_cohort_is_unique(row->id))
			continue;
		hash = add_to_hash(add_to_hash(hash, row->id), bu_check_value(row));
		at += sprintf(at, "%016" PRIx64, hash);
	}
	return marks;
}

static const char *
member(const json_t *fact, size_t index)
{
	const char *text = json_string_value(json_array_get(fact, index));

	return text ? text : "";
}

static void
read_facts(const json_t *facts, int only_cables, struct bu_checks *ret)
{
	enum { ID, SUBJECT, VALUE, VERDICT, EXPECTED };
	size_t i;
	json_t *fact;

	bu_checks_init(ret);
	json_array_foreach (facts, i, fact) {
		const char *id = member(fact, ID);
		enum bu_verdict verdict = BU_VERDICT_PASS;
		struct bu_check *row;

		if (!bu_check_id_is_valid(id) ||
		    (only_cables && strcmp(id, BU_CHECK_CABLING) != 0) ||
		    (*member(fact, VERDICT) &&
		     bu_verdict_from_name(member(fact, VERDICT), &verdict)))
			continue;
		row = bu_checks_add(ret, "audit", id, verdict, member(fact, SUBJECT));
		BU_CHECK_SET(row->seen, "%s", member(fact, VALUE));
		BU_CHECK_SET(row->expected, "%s", member(fact, EXPECTED));
	}
}

/* The facts of a node's report, which the log has; NULL = they cannot be read. New
 * reference. */
static json_t *
load_facts(const struct bu_gate *gate, const struct bu_node *node)
{
	struct bu_err err = {0};
	bu_autofree char *text = bu_store_get_blob(
		gate->fleet->store, bu_body_text(node->checks.is.facts), &err);
	json_t *facts = text ? bu_json_parse(text, strlen(text), "facts", &err) : NULL;

	if (!facts)
		bu_warn("gate", "a report is not compared with that of %s: %s",
			node->name, err.text);
	return facts;
}

static int
is_up(const struct bu_node *node)
{
	return bu_state_info(node->state)->measured && bu_gate_has_checks(node);
}

/* The parsed facts of a report. */
struct kept {
	char facts[BU_DIGEST_SIZE]; /* "" = the place is free */
	int only_cables;
	unsigned int turn; /* the last one that used the rows */
	struct bu_checks rows;
};

struct bu_peers {
	struct kept kept[KEPT];
	size_t next; /* replaced next, unless used in this turn */
	unsigned int turn;
};

static struct bu_peers *
peers_of(struct bu_gate *gate)
{
	if (!gate->peers)
		gate->peers = bu_xcalloc(1, sizeof(*gate->peers));
	return gate->peers;
}

static struct kept *
find_kept(struct bu_peers *peers, const char *facts, int only_cables)
{
	for (size_t i = 0; i < KEPT; i++)
		if (strcmp(peers->kept[i].facts, facts) == 0 &&
		    peers->kept[i].only_cables == only_cables)
			return &peers->kept[i];
	return NULL;
}

/* A turn can use KEPT reports at most. */
static struct kept *
find_place(struct bu_peers *peers)
{
	struct kept *next;

	do
		next = &peers->kept[peers->next++ % KEPT];
	while (next->facts[0] && next->turn == peers->turn);
	bu_checks_fini(&next->rows);
	return next;
}

/* Borrowed until the next turn. */
static const struct bu_checks *
rows_of(const struct bu_gate *gate, const struct bu_node *node, int only_cables)
{
	struct bu_peers *peers = gate->peers;
	const char *digest = bu_body_text(node->checks.is.facts);
	struct kept *kept = *digest ? find_kept(peers, digest, only_cables) : NULL;
	bu_autojson json_t *facts = NULL;

	if (!kept) {
		kept = find_place(peers);
		facts = *digest ? load_facts(gate, node) : NULL;
		read_facts(facts, only_cables, &kept->rows);
		/* Facts that cannot be read now are read again. */
		bu_text_copy(kept->facts, sizeof(kept->facts),
			     facts ? digest : "unread");
		kept->only_cables = only_cables;
	}
	kept->turn = peers->turn;
	return &kept->rows;
}

void
bu_gate_peers_drop(struct bu_gate *gate)
{
	if (!gate->peers)
		return;
	for (size_t i = 0; i < KEPT; i++)
		bu_checks_fini(&gate->peers->kept[i].rows);
	free(gate->peers);
	gate->peers = NULL;
}

/* --- marks --- */

/* The marks of a report, and which begin some of them has. */
struct marks {
	const char *list;
	size_t size;
	uint64_t begins[64]; /* a bit for each begin */
};

static unsigned int
begin_of(const char *mark)
{
	uint32_t begin;

	memcpy(&begin, mark, sizeof(begin));
	return begin * UINT32_C(2654435761) >> 20;
}

static void
marks_init(struct marks *ret, const char *list)
{
	*ret = (struct marks){.list = list, .size = strlen(list)};
	for (size_t at = 0; at + BU_GATE_MARK <= ret->size; at += BU_GATE_MARK) {
		unsigned int begin = begin_of(list + at);

		ret->begins[begin / 64] |= UINT64_C(1) << begin % 64;
	}
}

static int
has_mark(const struct marks *marks, const char *mark)
{
	unsigned int begin = begin_of(mark);

	if (!(marks->begins[begin / 64] >> begin % 64 & 1))
		return 0;
	for (size_t at = 0; at + BU_GATE_MARK <= marks->size; at += BU_GATE_MARK)
		if (memcmp(marks->list + at, mark, BU_GATE_MARK) == 0)
			return 1;
	return 0;
}

static int
share_a_mark(const struct marks *marks, const char *others)
{
	size_t size = strlen(others);

	for (size_t at = 0; at + BU_GATE_MARK <= size; at += BU_GATE_MARK)
		if (has_mark(marks, others + at))
			return 1;
	return 0;
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

/* Adds nodes with a wrong cable, or with a value that should be this node's alone. */
static void
add_suspects(struct alike *alike)
{
	bu_autofree char *list = bu_gate_marks(alike->report);
	struct marks own;

	marks_init(&own, list);
	for (size_t i = 0; i < alike->gate->fleet->count; i++) {
		const struct bu_node *node = alike->gate->fleet->nodes[i];

		if ((node->checks.is.miscabled ||
		     share_a_mark(&own, bu_body_text(node->checks.is.marks))) &&
		    is_alike(alike, node))
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
	bu_autojson json_t *facts = NULL;

	if (place < KEPT)
		return rows_of(alike->gate, node, only_cables);
	facts = load_facts(alike->gate, node);
	read_facts(facts, only_cables, own);
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
	bu_autojson json_t *own = bu_gate_facts(report), *names = json_object();
	struct alike alike = {.gate = gate,
			      .node = node,
			      .want = bu_fleet_desired(gate->fleet, node),
			      .report = report,
			      .names = names};

	if (!alike.want)
		return;
	peers_of(gate);
	add_sample(&alike);
	if (tells_domain(report))
		add_rack(&alike);
	add_suspects(&alike);
	judge(&alike, own);
}
