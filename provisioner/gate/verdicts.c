/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probes mean for the nodes. The decoder finds; here it becomes certificates,
 * an accusation, or words about what is waited for.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/gate_impl.h"

/* The node's results that prove something, best ones alone: whole pairs that pass, else
 * those of which one direction passes (its two halves were proven by different
 * partners). Returns how many. */
static int
proofs_of(const struct bu_field *field, const struct bu_node *node,
	  const struct bu_pair_result **ret, enum bu_verdict *ret_verdict)
{
	char reason[BU_REASON_SIZE];
	int count = 0;

	*ret_verdict = BU_VERDICT_WARN;
	for (int halves = 0; halves < 2 && count == 0; halves++) {
		for (int i = 0; i < field->result_count; i++) {
			const struct bu_pair_result *result = &field->results[i];
			enum bu_verdict seen = result->verdict;

			if (strcmp(result->end[0].node, node->name) != 0 &&
			    strcmp(result->end[1].node, node->name) != 0)
				continue;
			for (int dir = 0; halves && dir < 2; dir++) {
				enum bu_verdict one = bu_expect_judge(
					&field->expect, result, dir, reason);

				if (one == BU_VERDICT_PASS || one == BU_VERDICT_WARN)
					seen = one;
			}
			if (seen != BU_VERDICT_PASS && seen != BU_VERDICT_WARN)
				continue;
			if (seen == BU_VERDICT_PASS)
				*ret_verdict = BU_VERDICT_PASS;
			ret[count++] = result;
		}
	}
	return count;
}

static char *
sign_cert(struct bu_gate *gate, const struct bu_field *field,
	  const struct bu_node *node, enum bu_fabcert_kind kind, struct bu_err *err)
{
	bu_autojson json_t *hardware = bu_world_hardware(gate->world, node);
	bu_autofree const struct bu_pair_result **mine =
		bu_xcalloc((size_t)field->result_count, sizeof(*mine));
	struct bu_fabcert cert = {
		.kind = kind,
		.node = node->name,
		.machine = node->machine,
		.hardware = hardware,
		.boot_id = node->boot_id,
		.epoch = gate->world->epoch,
		.issued_ms = bu_wall_ms(bu_loop_clock(gate->world->loop)),
		.results = mine,
		.expect = field->expect,
		.seed = gate->seed,
	};

	cert.result_count = proofs_of(field, node, mine, &cert.verdict);
	return bu_fabcert_sign(&cert, bu_trust_sign_key(gate->trust), err);
}

static int
cert_event(struct bu_gate *gate, const struct bu_field *field,
	   const struct bu_node *node, enum bu_fabcert_kind kind, struct bu_event *ret)
{
	struct bu_err err;
	bu_autofree char *text = sign_cert(gate, field, node, kind, &err);

	if (!text) {
		bu_error("gate", "certificate for %s: %s", node->name, err.text);
		return -1;
	}
	bu_event_init(ret, BU_EVENT_CERTIFICATE, node->name,
		      json_pack("{s:s,s:s}", "kind",
				kind == BU_FABCERT_FULL ? "full" : "boot", "text",
				text));
	return 0;
}

/* Certificates first; when they are in the log the next look finds them and asks for
 * the change of state, whose guard looks at them again. */
static void
prove(struct bu_gate *gate, const struct bu_field *field, struct bu_node *node)
{
	struct bu_event events[2];

	if (node->appending)
		return;
	if (bu_world_certified(gate->world, node, NULL) == 0) {
		bu_reconcile_fire(gate->rec, node, BU_TRIGGER_PROVEN, NULL, NULL, 0,
				  NULL);
		return;
	}
	if (cert_event(gate, field, node, BU_FABCERT_FULL, &events[0]) != 0)
		return;
	if (cert_event(gate, field, node, BU_FABCERT_BOOT, &events[1]) != 0) {
		bu_event_fini(&events[0]);
		return;
	}
	bu_reconcile_note(gate->rec, events, 2);
}

static int
more_to_probe(const struct bu_gate *gate, const struct bu_field *field, int node)
{
	if (bu_gate_busy(gate, field->nodes[node]->name))
		return 1;
	for (int i = 0; i < field->count; i++)
		if (bu_gate_open_pair(field, node, i))
			return 1;
	return 0;
}

static void
wait_for(struct bu_gate *gate, struct bu_node *node, const char *why)
{
	char text[sizeof(node->waiting)];

	bu_text_copy(text, sizeof(text), why);
	node->trouble[0] = '\0';
	if (strcmp(node->waiting, text) == 0)
		return;
	memcpy(node->waiting, text, sizeof(text));
	bu_info("gate", "%s waits: %s", node->name, text);
	bu_world_touch(gate->world, node);
}

/* Its deadline decides, and then says this. */
static void
note_trouble(struct bu_node *node, const char *text)
{
	bu_text_copy(node->trouble, sizeof(node->trouble), text);
}

/* Has every probe of it failed for want of a result? */
static int
only_broken(const struct bu_field *field, int node)
{
	for (int i = 0; i < field->count; i++)
		if (field->probed[node][i])
			return 0;
	return field->broken[node] != NULL;
}

static void
note_broken(struct bu_node *node, const json_t *pair)
{
	bu_autofree char *text = bu_xasprintf(
		"%lld probes %s <-> %s gave no result: %s",
		(long long)bu_json_int(pair, "errors", 1), bu_json_str(pair, "a", "?"),
		bu_json_str(pair, "b", "?"), bu_json_str(pair, "error", ""));

	note_trouble(node, text);
}

static void
judge_node(struct bu_gate *gate, const struct bu_field *field, int index,
	   const struct bu_finding *finding)
{
	struct bu_node *node = field->nodes[index];

	switch (finding->kind) {
	case BU_FINDING_CERTIFIED:
		return;
	case BU_FINDING_PROVEN:
		prove(gate, field, node);
		return;
	case BU_FINDING_ACCUSED:
		/* All evidence first: the node's neighbours may be asked, too. */
		if (!more_to_probe(gate, field, index) && !node->appending)
			bu_reconcile_fire(gate->rec, node, BU_TRIGGER_ACCUSED,
					  finding->text, NULL, 0, NULL);
		return;
	case BU_FINDING_INCONCLUSIVE:
		note_trouble(node, finding->text);
		return;
	case BU_FINDING_WAITING:
		if (only_broken(field, index))
			note_broken(node, field->broken[index]);
		else if (!more_to_probe(gate, field, index))
			wait_for(gate, node,
				 field->count == 1
					 ? "no partner: no other node of its fabric "
					   "is validating or certified"
					 : finding->text);
	}
}

void
bu_gate_judge(struct bu_gate *gate, const struct bu_field *field)
{
	struct bu_decode_node nodes[BU_GATE_NODES_MAX];
	struct bu_finding findings[BU_GATE_NODES_MAX];
	const struct bu_pair_result **results =
		bu_xcalloc((size_t)field->result_count, sizeof(*results));

	for (int i = 0; i < field->count; i++) {
		nodes[i].name = field->nodes[i]->name;
		nodes[i].certified = field->certified[i];
	}
	for (int i = 0; i < field->result_count; i++)
		results[i] = &field->results[i];
	bu_decode(nodes, field->count, results, field->result_count, &field->expect,
		  findings);
	for (int i = 0; i < field->count; i++)
		judge_node(gate, field, i, &findings[i]);
	free(results);
}
