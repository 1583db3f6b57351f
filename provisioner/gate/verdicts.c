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

enum { PARTNER_WAIT_MS = 24 * 3600 * 1000 };

static char *
sign_cert(struct bu_gate *gate, const struct bu_field *field,
	  const struct bu_node *node, int partner, enum bu_fabcert_kind kind,
	  struct bu_err *err)
{
	bu_autojson json_t *hardware = bu_world_hardware(gate->world, node);
	const struct bu_pair_result *mine = NULL;
	struct bu_fabcert cert = {
		.kind = kind,
		.node = node->name,
		.machine = node->machine,
		.hardware = hardware,
		.boot_id = node->boot_id,
		.epoch = gate->world->epoch,
		.issued_ms = bu_wall_ms(bu_loop_clock(gate->world->loop)),
		.results = &mine,
		.result_count = 1,
		.expect = field->expect,
		.seed = gate->seed,
	};

	for (int i = 0; i < field->result_count; i++) {
		const struct bu_pair_result *result = &field->results[i];
		int a = bu_gate_index(field, result->end[0].node);
		int b = bu_gate_index(field, result->end[1].node);

		if ((field->nodes[a] == node && b == partner) ||
		    (field->nodes[b] == node && a == partner))
			mine = result;
	}
	if (!mine) {
		bu_err_set(err, BU_ERR_STATE, 0, "no result proves it");
		return NULL;
	}
	cert.verdict = mine->verdict;
	return bu_fabcert_sign(&cert, bu_trust_sign_key(gate->trust), err);
}

static int
cert_event(struct bu_gate *gate, const struct bu_field *field,
	   const struct bu_node *node, int partner, enum bu_fabcert_kind kind,
	   struct bu_event *ret)
{
	struct bu_err err;
	bu_autofree char *text = sign_cert(gate, field, node, partner, kind, &err);

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
prove(struct bu_gate *gate, const struct bu_field *field, struct bu_node *node,
      int partner)
{
	struct bu_event events[2];

	if (node->appending)
		return;
	if (bu_world_certified(gate->world, node, NULL) == 0) {
		bu_reconcile_fire(gate->rec, node, BU_TRIGGER_PROVEN, NULL, NULL, 0,
				  NULL);
		return;
	}
	if (cert_event(gate, field, node, partner, BU_FABCERT_FULL, &events[0]) != 0)
		return;
	if (cert_event(gate, field, node, partner, BU_FABCERT_BOOT, &events[1]) != 0) {
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
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->world->loop));
	struct bu_event event;

	if (strcmp(node->waiting, why) != 0) {
		snprintf(node->waiting, sizeof(node->waiting), "%s", why);
		bu_info("gate", "%s waits: %s", node->name, why);
		bu_world_touch(gate->world, node);
	}
	if (node->appending || now_ms - node->since_ms < PARTNER_WAIT_MS)
		return;
	bu_event_init(&event, BU_EVENT_HELD, node->name,
		      json_pack("{s:s,s:s}", "owner", "bringup", "reason", why));
	bu_reconcile_note(gate->rec, &event, 1);
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
		prove(gate, field, node, finding->partner);
		return;
	case BU_FINDING_ACCUSED:
		/* All evidence first: the node's neighbours may be asked, too. */
		if (!more_to_probe(gate, field, index) && !node->appending)
			bu_reconcile_fire(gate->rec, node, BU_TRIGGER_ACCUSED,
					  finding->text, NULL, 0, NULL);
		return;
	case BU_FINDING_INCONCLUSIVE:
		/* Its deadline decides, and then says this. */
		snprintf(node->step_error, sizeof(node->step_error), "%s",
			 finding->text);
		return;
	case BU_FINDING_WAITING:
		if (more_to_probe(gate, field, index))
			return;
		wait_for(gate, node,
			 field->count == 1
				 ? "no partner: it is the only node here that "
				   "can be measured against"
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
