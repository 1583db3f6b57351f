/* SPDX-License-Identifier: Apache-2.0 */
/* Fake nodes for the tests of the gate: what their links carry and what their
 * checks find is said by the test. */
#ifndef BU_TESTS_SUPPORT_GATE_H
#define BU_TESTS_SUPPORT_GATE_H

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/hello.h"
#include "model/result.h"
#include "provisioner/gate/gate.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

/* Of a link of 0.02 Gbit/s 80 % must arrive. */
#define GOOD 0.019
#define SLOW 0.005
#define ODD 0.02063 /* more than framing leaves */

struct links {
	/* by number of the node, Gbit/s */
	double sends[RIG_NODES_MAX + 1], receives[RIG_NODES_MAX + 1];
	double second[RIG_NODES_MAX + 1]; /* of any other rail than the first, both
					     ways; 0 = as on the first */
	int silent[RIG_NODES_MAX + 1];    /* does not answer any more */
	int erring;       /* its link goes down in each probe, and costs no time */
	int lossy;        /* to this node packets are lost in each probe,
			     and now and then a direction is slow besides */
	int every, until; /* each so-many-th probe of the first ones loses
			     packets one way */
	int late;         /* one acknowledgement of each probe is late */
	int hung;         /* hangs with each probe in its hands; who waits
			     for it says so */
	int broken;       /* no probe gives a result, or */
	int dead;         /* none with this node */
	int odd_until;    /* the instrument is in doubt in probes before this one, */
	int odd_node, odd_peer; /* of this node (0 = any), with this one (0 = any): */
	int odd_clocks;         /* the clocks of both ends disagree, else the rate is */
				/* 1.03 of the link's */
	int probes;
	int probed[RIG_NODES_MAX + 1];       /* work items that this node was given */
	json_int_t bytes[RIG_NODES_MAX + 1]; /* of a message in the last one */
};

static inline struct links
good_links(void)
{
	struct links links = {.probes = 0};

	for (int i = 0; i <= RIG_NODES_MAX; i++)
		links.sends[i] = links.receives[i] = GOOD;
	return links;
}

static inline int
number_of(const char *name)
{
	return (int)strtol(name + 4, NULL, 10);
}

static inline double
rate(const struct links *links, int rail, int from, int to)
{
	double sends = links->sends[from], receives = links->receives[to];

	if (rail > 0 && links->second[from] > 0)
		sends = links->second[from];
	if (rail > 0 && links->second[to] > 0)
		receives = links->second[to];
	return sends < receives ? sends : receives;
}

static inline int
is_odd(const struct links *links, const int number[2])
{
	int node = links->odd_node, peer = links->odd_peer;

	return (links->probes + 1) / 2 < links->odd_until &&
	       (!node || number[0] == node || number[1] == node) &&
	       (!peer || number[0] == peer || number[1] == peer);
}

/* As it was seen: one end's clock was being corrected by 8 %. */
static inline void
make_odd(const struct links *links, struct bu_pair_result *result)
{
	result->mtu = 1024;
	for (int dir = 0; dir < 2; dir++) {
		bu_pair_dir_drop(&result->dir[dir], 0);
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result->dir[dir], ODD);
		result->dir[dir].clock_seconds[0] = 1.331;
		result->dir[dir].clock_seconds[1] = links->odd_clocks ? 1.447 : 1.332;
	}
}

/* rail: place of it by its address, 10.78 is the first one. */
static inline json_t *
result_of_rail(const struct links *links, const json_t *item, int rail)
{
	struct bu_pair_result result;
	int number[2];

	bu_pair_result_init(&result);
	snprintf(result.probe, sizeof(result.probe), "%s",
		 bu_json_str(item, "probe", ""));
	for (int i = 0; i < 2; i++) {
		const char *name = bu_json_str(item, i ? "b" : "a", "");

		snprintf(result.end[i].node, sizeof(result.end[i].node), "%s", name);
		strcpy(result.end[i].device, "rxe0");
		number[i] = number_of(name);
	}
	if (links->every && links->probes < 2 * links->until &&
	    (links->probes + 1) / 2 % links->every == 1)
		result.dir[0].counters[1].count[BU_COUNTER_OUT_OF_SEQUENCE] = 20;
	if (links->late) {
		result.dir[0].counters[0].count[BU_COUNTER_COMPLETER_RETRY_ERR] = 1;
		result.dir[0].counters[0].count[BU_COUNTER_RCVD_SEQ_ERR] = 2;
		result.dir[0].counters[1].count[BU_COUNTER_OUT_OF_SEQ_REQUEST] = 2;
		result.dir[0].counters[1].count[BU_COUNTER_DUPLICATE_REQUEST] = 7;
	}
	for (int dir = 0; dir < 2; dir++) {
		int lossy = links->lossy &&
			    (number[0] == links->lossy || number[1] == links->lossy);
		int slow = lossy && links->probes / 2 % 3 == dir;

		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(
				&result.dir[dir],
				slow ? SLOW
				     : rate(links, rail, number[dir], number[!dir]));
		if (lossy && number[!dir] == links->lossy)
			result.dir[dir]
				.counters[!dir]
				.count[BU_COUNTER_OUT_OF_SEQUENCE] = 20;
		for (int end = 0; links->erring && end < 2; end++)
			if (number[end] == links->erring)
				result.dir[dir]
					.counters[end]
					.count[BU_COUNTER_LINK_DOWNED] = 1;
	}
	if (is_odd(links, number))
		make_odd(links, &result);
	return bu_pair_result_to_json(&result);
}

static inline json_t *
result_of(const struct links *links, const json_t *item)
{
	const json_t *rails = json_object_get(item, "rails");
	json_t *results = json_array(), *rail;
	size_t i;

	json_array_foreach (rails, i, rail) {
		const char *address = bu_json_str(rail, "address", "10.78.0.1");

		json_array_append_new(
			results,
			result_of_rail(links, item,
				       (int)strtol(address + 3, NULL, 10) - 78));
	}
	return json_pack("{s:o}", "rails", results);
}

/* A report with one row of this verdict. */
static inline json_t *
report_of(const struct bu_node *node, const char *id, enum bu_verdict verdict,
	  const char *text)
{
	struct bu_checks checks;
	struct bu_check *row;
	json_t *value;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	row = bu_checks_add(&checks, strncmp(id, "site:", 5) ? "audit" : "site", id,
			    verdict, "eth1");
	BU_CHECK_SET(row->text, "%s", text);
	BU_CHECK_SET(row->hint, "set it");
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* An agent comes for its checks and tells this; 0 when it was asked for none. */
static inline int
check(struct rig *rig, int number, const char *id, enum bu_verdict verdict,
      const char *text)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *report = NULL;

	node->live.last_seen_ms = rig->clock.fake_wall_ms;
	if (!item || strcmp(bu_json_str(item, "kind", ""), "checks") != 0)
		return 0;
	report = report_of(node, id, verdict, text);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
	return 1;
}

/* Nodes 1 to count are checked, and good. */
static inline void
check_all(struct rig *rig, int count)
{
	for (int i = 1; i <= count; i++)
		check(rig, i, "nic-mtu", BU_VERDICT_PASS, "");
}

/* An agent comes for work, does it, tells the result. */
static inline void
agent(struct rig *rig, struct links *links, int number)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = NULL, *result = NULL;
	struct bu_err failure;

	if (links->silent[number])
		return;
	node->live.last_seen_ms = rig->clock.fake_wall_ms;
	if (check(rig, number, "nic-mtu", BU_VERDICT_PASS, ""))
		return;
	item = bu_gate_work(rig->gate, node);
	if (!item)
		return;
	ck_assert_str_eq(bu_json_str(item, "node", ""), node->name);
	links->probes++;
	links->probed[number]++;
	links->bytes[number] = bu_json_int(item, "message_bytes", 0);
	if (links->hung && (number_of(bu_json_str(item, "a", "")) == links->hung ||
			    number_of(bu_json_str(item, "b", "")) == links->hung)) {
		bu_err_set(&failure, BU_ERR_TIMEOUT, 0, "nobody came");
		if (number != links->hung)
			bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""),
				       NULL, &failure);
		return;
	}
	if (links->broken ||
	    (links->dead && (number_of(bu_json_str(item, "a", "")) == links->dead ||
			     number_of(bu_json_str(item, "b", "")) == links->dead))) {
		bu_err_set(&failure, BU_ERR_IO, 0, "no device rxe0");
		bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), NULL,
			       &failure);
		return;
	}
	result = result_of(links, item);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), result, NULL);
}

/* So many seconds of all agents of nodes 1 to count. */
static inline void
measure(struct rig *rig, struct links *links, int count, int seconds)
{
	for (int second = 0; second < seconds; second++) {
		for (int i = 1; i <= count; i++)
			agent(rig, links, i);
		rig_pass(rig, 1000);
	}
}

static inline void
begin(struct rig *rig, int nodes)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
}

static inline void
put_event(struct rig *rig, enum bu_event_kind kind, const char *name, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, name, body);
	bu_reconcile_note(rig->rec, &event, 1);
}

/* In the installed system, checked: in the log at once, not stage by stage. */
static inline void
put_node(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autofree char *boot_id = bu_xasprintf("boot-%d", number);
	bu_autofree char *machine = bu_xasprintf("machine-%d", number);
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(number, boot_id);
	bu_autojson json_t *value = bu_inventory_to_json(inventory);
	bu_autofree char *text = bu_json_canonical(value);
	char digest[BU_DIGEST_SIZE];
	struct bu_machine tells;

	ck_assert_int_eq(bu_store_put_blob(rig->store, text, digest, NULL), 0);
	bu_inventory_machine(inventory, &tells);
	put_event(rig, BU_EVENT_BOUND, node->name,
		  json_pack("{s:s,s:s,s:o}", "machine", machine, "inventory", digest,
			    "told", bu_machine_to_json(&tells)));
	put_event(rig, BU_EVENT_BOOTED, node->name,
		  json_pack("{s:s,s:s}", "boot_id", boot_id, "where", "installed"));
	put_event(rig, BU_EVENT_STATE, node->name,
		  json_pack("{s:s,s:s,s:s,s:s}", "from", "booting", "to", "validating",
			    "on", "booted", "reason", ""));
}

static inline void
put_checks(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autofree char *boot_id = bu_xasprintf("boot-%d", number);

	put_event(rig, BU_EVENT_CHECKS, node->name,
		  json_pack("{s:s,s:s,s:s,s:{s:i},s:[]}", "boot_id", boot_id, "digest",
			    "", "verdict", "pass", "counts", "pass", 1, "rows"));
}

static inline void
says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' does not say '%s'", text, part);
}

static inline int
count_kind(const struct bu_event *event, void *arg)
{
	int *counts = arg;

	counts[event->kind]++;
	return 0;
}

static inline int
events_of(const struct rig *rig, enum bu_event_kind kind)
{
	int counts[BU_EVENT_COUNT] = {0};

	bu_ignore(bu_store_read(rig->store, 0, 0, count_kind, counts, NULL));
	return counts[kind];
}

#endif
