/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evidence of a quarantine as one blob: all results of the node in this boot, its
 * checks, its last events, the accusation, the reason and the part to swap. Asked by
 * the files that accuse, and by the API for nodes that are not accused. Invariant:
 * evidence is in the same commit as its quarantine.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/nvlink.h"
#include "provisioner/gate/task/probe.h"

enum { EVENTS_KEPT = 50 };

static int
on_event(const struct bu_event *event, void *arg)
{
	json_array_insert_new(arg, 0, bu_event_to_json(event));
	return 0;
}

/* The last ones, oldest first. */
static json_t *
events_of(const struct bu_gate *gate, const struct bu_node *node)
{
	bu_autojson json_t *names = json_pack("{s:b}", node->name, 1);
	struct bu_search search = {.nodes = names, .newest = 1, .max = EVENTS_KEPT};
	json_t *list = json_array();
	struct bu_err err;

	if (bu_store_search(gate->fleet->store, &search, on_event, list, &err) != 0)
		bu_warn("gate", "evidence of %s: %s", node->name, err.text);
	return list;
}

static json_t *
results_of(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_measurements *measurements = &gate->fleet->measurements;
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));
	json_t *list = json_array();

	for (size_t i = 0; i < measurements->count; i++) {
		const struct bu_pair_log *log = &measurements->logs[i];
		int side = strcmp(log->name[1], node->name) == 0;

		if (strcmp(log->name[side], node->name) != 0 ||
		    strcmp(log->boot[side], node->boot_id) != 0)
			continue;
		for (size_t k = 0; k < log->count; k++) {
			json_t *value;

			if (bu_probe_read(gate, log->list[k].seq, result) != 0)
				continue;
			value = bu_pair_result_to_json(result);
			json_object_set_new(value, "rail", json_string(log->rail));
			json_array_append_new(list, value);
		}
	}
	return list;
}

static json_t *
report_of(const struct bu_gate *gate, const char *digest)
{
	bu_autofree char *text =
		*digest ? bu_store_get_blob(gate->fleet->store, digest, NULL) : NULL;
	json_t *report =
		text ? bu_json_parse(text, strlen(text), "checks", NULL) : NULL;

	return report ? report : json_null();
}

static json_t *
bundle(const struct bu_gate *gate, const struct bu_node *node, const char *digest)
{
	const json_t *incidents =
		json_object_get(gate->fleet->measurements.incidents, node->machine);
	json_t *verdicts = node->verdicts_count ? json_object() : NULL;

	for (size_t i = 0; i < node->verdicts_count; i++)
		json_object_set(verdicts, node->verdicts[i].is.source,
				node->verdicts[i].body);

	return json_pack("{s:i,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o?,s:O?,s:O?}", "v", 1,
			 "node", node->name, "machine", node->machine, "boot_id",
			 node->boot_id, "inventory", node->inventory, "results",
			 results_of(gate, node), "checks", report_of(gate, digest),
			 "events", events_of(gate, node), "console",
			 bu_reconcile_console(gate->rec, node), "verdicts", verdicts,
			 "incidents", incidents, "nvlink",
			 bu_gate_nvlink_of(node) ? node->nvlink.body : NULL);
}

/* Stores the bundle, and makes its event; -1 = not stored. */
static int
keep_evidence(struct bu_gate *gate, const struct bu_node *node, const char *checks,
	      const struct bu_charge *charge, struct bu_event *ret)
{
	bu_autojson json_t *evidence = bundle(gate, node, checks);
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_err err;

	bu_reason_to_body(charge->reason, evidence);
	json_object_set_new(evidence, "hint", json_string(charge->hint));
	if (charge->accusation)
		json_object_set(evidence, "accusation", (json_t *)charge->accusation);
	text = bu_json_canonical(evidence);
	if (bu_store_put_blob(gate->fleet->store, text, digest, &err) != 0) {
		bu_error("gate", "evidence of %s: %s", node->name, err.text);
		return -1;
	}
	BU_EVENT_MAKE(ret, BU_EVENT_EVIDENCE, node->name, evidence, .digest = digest,
		      .hint = charge->hint);
	return 0;
}

void
bu_gate_accuse(struct bu_gate *gate, struct bu_node *node,
	       const struct bu_charge *charge, struct bu_event *extra, size_t count)
{
	struct bu_event events[4];
	union bu_body body;
	const char *checks = bu_body_text(node->checks.is.digest);
	struct bu_err err;

	bu_assert(count < BU_LEN(events));
	for (size_t i = 0; i < count; i++) {
		events[i] = extra[i];
		/* A report among these events is newer than the log's. */
		if (extra[i].kind == BU_EVENT_CHECKS &&
		    bu_event_read(&extra[i], &body, NULL) == 0)
			checks = body.checks.digest;
		if (extra[i].kind == BU_EVENT_SOAK &&
		    bu_event_read(&extra[i], &body, NULL) == 0)
			checks = body.soak.digest;
	}
	/* No quarantine without its evidence: the node is measured again. */
	if (node->live.appending ||
	    keep_evidence(gate, node, checks, charge, &events[count]) != 0) {
		for (size_t i = 0; i < count; i++)
			bu_event_fini(&events[i]);
		return;
	}
	count++;
	if (bu_reconcile_move(gate->rec, node,
			      &(struct bu_move){.on = BU_TRIGGER_ACCUSED,
						.reason = charge->reason,
						.extra = events,
						.count = count},
			      &err) != 0)
		bu_warn("gate", "%s", err.text);
}

json_t *
bu_gate_show(struct bu_gate *gate, const struct bu_node *node, struct bu_err *err)
{
	bu_autofree char *text = NULL;
	json_t *shown = NULL;

	if (node->state == BU_STATE_QUARANTINED && node->evidence[0]) {
		text = bu_store_get_blob(gate->fleet->store, node->evidence, err);
		return text ? bu_json_parse(text, strlen(text), "evidence", err) : NULL;
	}
	shown = bundle(gate, node, bu_body_text(node->checks.is.digest));
	json_object_set_new(shown, "state", json_string(bu_state_name(node->state)));
	json_object_set_new(shown, "remarks", bu_gate_remarks(gate, node));
	return shown;
}
