/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks before a node is measured, once in each boot, then the soak, in slices
 * that add up over restarts. Called by the agents' API and campaign_state.c. Invariant:
 * a row that fails quarantines with its own words; a node without a report of this boot
 * is no candidate.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "model/check.h"
#include "model/hello.h"
#include "model/sentence.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/soak.h"

enum {
	CHECKS_DEADLINE_MS = 240000,
	SOAK_SLICE_MS = 600000,
	SOAK_GRACE_MS = 120000,
};

/* For a node without a report of this boot. */
static void
awaits_checks(const struct bu_gate *gate, const struct bu_node *node,
	      struct bu_reason *ret)
{
	struct bu_target target;
	struct bu_err err;

	if (bu_fleet_target(gate->fleet, node, &target, &err) != 0)
		BU_REASON_SET(ret, CHECKS_UNASKABLE, .text = {err.text});
	else if (node->live.checks_errors &&
		 bu_reason_is(node->live.wait_reason, BU_REASON_KIND_TROUBLE))
		*ret = *node->live.wait_reason;
	else
		bu_reason_set(ret, BU_REASON_CHECKS_AWAITED, NULL);
}

/* For a node with BU_GATE_ERRORS lost reports: no more checks in this boot, and the
 * deadline goes on. */
static void
is_given_up(const struct bu_node *node, struct bu_reason *ret)
{
	if (node->live.wait_reason->code == BU_REASON_CHECKS_SILENT)
		*ret = *node->live.wait_reason;
	else
		bu_reason_set(ret, BU_REASON_CHECKS_AWAITED, NULL);
}

void
bu_gate_unchecked(const struct bu_gate *gate, const struct bu_node *node,
		  struct bu_reason *ret)
{
	int64_t left_ms = bu_gate_soak_left_ms(gate, node), all_ms;

	if (!bu_gate_has_checks(node)) {
		awaits_checks(gate, node, ret);
	} else if (left_ms > 0 && node->live.checks_errors >= BU_GATE_ERRORS) {
		is_given_up(node, ret);
	} else if (left_ms > 0) {
		all_ms = bu_fleet_desired(gate->fleet, node)->validation->soak_ms;
		BU_REASON_SET(ret, SOAKS,
			      .number = {(all_ms - left_ms) / 60000, all_ms / 60000});
	} else {
		bu_reason_set(ret,
			      bu_gate_is_checked(gate, node) ? BU_REASON_NONE
							     : BU_REASON_CHECK_FAILED,
			      NULL);
	}
}

/* The id changes after each answer, and when the node validates anew, because an agent
 * answers a known id from memory. A slice under way keeps its id over a restart of
 * bringupd. */
static void
name_item(const struct bu_gate *gate, const struct bu_node *node, int soak,
	  char ret[BU_NAME_SIZE])
{
	if (soak)
		snprintf(ret, BU_NAME_SIZE, "s-%.8s-%lld-%d", node->boot_id,
			 (long long)bu_json_int(gate->fleet->measurements.soaked,
						node->machine, 0),
			 node->live.slices_lost);
	else
		snprintf(ret, BU_NAME_SIZE, "c-%.8s-%lld-%d", node->boot_id,
			 (long long)node->state_seq, node->live.checks_told + 1);
}

/* The site's own checks that this node's validation runs. */
static json_t *
site_checks(const struct bu_gate *gate, const struct bu_desired_validation *validation)
{
	const struct bu_desired *desired = gate->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; i < desired->checks_count; i++) {
		const struct bu_desired_check *check = &desired->checks[i];

		if (bu_desired_check_wanted(validation, check->name))
			json_array_append_new(
				list,
				json_pack("{s:s,s:s,s:I}", "name", check->name,
					  "content", check->text, "timeout_ms",
					  (json_int_t)validation->check_timeout_ms));
	}
	return list;
}

static int64_t
slice_ms(const struct bu_gate *gate, const struct bu_node *node)
{
	int64_t left_ms = bu_gate_soak_left_ms(gate, node);

	return left_ms < SOAK_SLICE_MS ? left_ms : SOAK_SLICE_MS;
}

static void
add_loops(const struct bu_gate *gate, const struct bu_desired_node *own, json_t *item)
{
	json_t *loops = bu_gate_loops(gate, own);

	if (!loops)
		return;
	json_array_append_new(json_object_get(item, "groups"), json_string("fabric"));
	json_object_set_new(json_object_get(item, "expect"), "fabric", loops);
}

/* 1 = checks or a slice are due, in an item of this id. */
static int
is_asked(const struct bu_gate *gate, const struct bu_node *node,
	 struct bu_target *target, char ret_id[BU_NAME_SIZE])
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	int soak = bu_gate_has_checks(node);

	if (node->state != BU_STATE_VALIDATING || node->hold->owner ||
	    node->live.appending || !want || !want->validation ||
	    node->live.checks_errors >= BU_GATE_ERRORS ||
	    (soak && bu_gate_soak_left_ms(gate, node) == 0) ||
	    bu_fleet_target(gate->fleet, node, target, NULL) != 0)
		return 0;
	name_item(gate, node, soak, ret_id);
	return 1;
}

int
bu_gate_checks_asked(const struct bu_gate *gate, const struct bu_node *node,
		     char ret_id[BU_NAME_SIZE])
{
	struct bu_target target;

	return is_asked(gate, node, &target, ret_id);
}

json_t *
bu_gate_checks_work(struct bu_gate *gate, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	int soak = bu_gate_has_checks(node);
	struct bu_target target;
	char id[BU_NAME_SIZE];
	json_t *item;

	if (!is_asked(gate, node, &target, id))
		return NULL;
	item = json_pack("{s:s,s:s,s:i,s:o,s:I}", "kind", "checks", "id", id, "attempt",
			 1, "expect", bu_gate_checks_expect(gate, node, &target),
			 "deadline_ms",
			 (json_int_t)(soak ? slice_ms(gate, node) + SOAK_GRACE_MS
					   : CHECKS_DEADLINE_MS));
	if (soak) {
		json_object_set_new(item, "groups", json_pack("[s]", "soak"));
		json_object_set_new(json_object_get(item, "expect"), "soak",
				    json_pack("{s:I,s:o*}", "slice_ms",
					      (json_int_t)slice_ms(gate, node), "link",
					      bu_gate_soak_link(gate, node)));
	} else {
		json_object_set_new(
			item, "groups",
			json_pack("[s,s,s,s]", "audit", "gpu", "host", "site"));
		add_loops(gate, target.node, item);
		json_object_set_new(item, "site", site_checks(gate, want->validation));
	}
	return item;
}

/* why: a text or a packed reason. */
static void
no_report(struct bu_gate *gate, struct bu_node *node, const char *why)
{
	node->live.checks_errors++;
	bu_node_reason_make(gate, node, CHECKS_SILENT, .text = {why},
			    .number = {node->live.checks_errors});
}

/* Why a slice counts for no time: its first row; owned. */
static char *
unseen(const json_t *rows)
{
	struct bu_check_said row;
	bu_autofree char *name = NULL;

	if (bu_record_from_json(bu_check_said_fields, json_array_get(rows, 0), &row,
				NULL) != 0)
		return bu_said_pack(BU_SAID_ALONE(SLICE_EMPTY));
	name = bu_check_said_name(&row);
	return bu_xasprintf("%s: %s", name, row.text);
}

static void
heard(struct bu_gate *gate, struct bu_node *node, enum bu_event_kind kind)
{
	node->live.checks_errors = 0;
	if (bu_reason_is(node->live.wait_reason, BU_REASON_KIND_TROUBLE)) {
		bu_node_drop_wait_reason(node);
		bu_fleet_mark(gate->fleet, node);
	}
	if (kind == BU_EVENT_SOAK)
		node->live.clock_ms = bu_loop_now_ms(gate->fleet->loop);
}

/* A slice that measured nothing counts for no time, and as a lost report. */
static void
journal(struct bu_gate *gate, struct bu_node *node, struct bu_event *event)
{
	int soak = event->kind == BU_EVENT_SOAK;
	const char *hint;
	bu_autofree char *words = NULL;
	struct bu_body_checks said;
	struct bu_reason reason;
	struct bu_err err;

	if (bu_record_from_json(bu_body_fields(BU_EVENT_CHECKS), event->body, &said,
				&err)) {
		bu_event_fini(event);
		no_report(gate, node, err.text);
		return;
	}
	if (soak && said.verdict != BU_VERDICT_FAIL && said.ms <= 0) {
		words = unseen(said.rows);
		node->live.slices_lost++;
		no_report(gate, node, words);
		bu_reconcile_note(gate->rec, event, 1);
		return;
	}
	heard(gate, node, event->kind);
	words = bu_report_words(said.rows, &hint);
	BU_REASON_SET(&reason, CHECKS_ACCUSED, .text = {words});
	if (said.verdict == BU_VERDICT_FAIL)
		bu_gate_accuse(gate, node, &(struct bu_charge){&reason, hint, NULL},
			       event, 1);
	else
		bu_reconcile_note(gate->rec, event, 1);
}

/* 0 = a group of checks broke off. */
static int
is_whole(const struct bu_checks *report, struct bu_err *err)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->list[i].verdict == BU_VERDICT_INCONCLUSIVE &&
		    strcmp(report->list[i].seen, BU_CHECK_UNDONE) == 0) {
			bu_err_set(err, BU_ERR_STATE, 0, "%s", report->list[i].text);
			return 0;
		}
	return 1;
}

/* The report's event; its facts, in a blob of their own, are read for other machines'
 * reports. A slice has none. */
static void
make_event(struct bu_gate *gate, const struct bu_node *node,
	   const struct bu_checks *report, const char *digest, int soak,
	   struct bu_event *ret)
{
	bu_autojson json_t *facts = soak ? NULL : bu_gate_facts(report);

	bu_event_init(ret, soak ? BU_EVENT_SOAK : BU_EVENT_CHECKS, node->name,
		      bu_report_body(report, digest,
				     soak ? slice_ms(gate, node) : BU_UNSAID_INT,
				     soak ? bu_gate_soak_peer(gate, node) : NULL));
	if (facts)
		bu_event_attach(ret, "facts", bu_json_canonical(facts));
}

/* Stores the report as a blob, and makes its event. */
static int
keep(struct bu_gate *gate, const struct bu_node *node, const json_t *result, int soak,
     struct bu_event *ret, struct bu_err *err)
{
	bu_autofree char *text = NULL;
	bu_autojson json_t *clean = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_checks report;
	int rc = -1;

	if (bu_checks_from_json(result, &report, err) != 0)
		return -1;
	bu_gate_compare(gate, node, &report);
	if (soak)
		bu_gate_soak_accuse(gate, node, &report);
	clean = bu_checks_to_json(&report);
	text = bu_json_canonical(clean);
	if (strcmp(report.boot_id, node->boot_id) != 0)
		bu_err_set(err, BU_ERR_INVAL, 0, "the report is of boot %s, not of %s",
			   report.boot_id, node->boot_id);
	else if (!soak && bu_checks_count(&report, BU_VERDICT_FAIL) == 0 &&
		 !is_whole(&report, err))
		rc = -1;
	else
		rc = bu_store_put_blob(gate->fleet->store, text, digest, err);
	if (rc == 0)
		make_event(gate, node, &report, digest, soak, ret);
	bu_checks_fini(&report);
	return rc;
}

void
bu_gate_checks_result(struct bu_gate *gate, struct bu_node *node, const char *id,
		      const json_t *result, const struct bu_err *failure)
{
	int soak = bu_gate_has_checks(node);
	bu_autofree char *none = bu_said_pack(BU_SAID_ALONE(NO_REPORT));
	char wanted[BU_NAME_SIZE];
	struct bu_err err = {0};
	struct bu_event event;
	int kept;

	name_item(gate, node, soak, wanted);
	if (node->state != BU_STATE_VALIDATING || node->live.appending ||
	    strcmp(id, wanted) != 0)
		return;
	if (!soak)
		node->live.checks_told++;
	kept = result && keep(gate, node, result, soak, &event, &err) == 0;
	if (soak && !kept)
		node->live.slices_lost++;
	if (kept)
		journal(gate, node, &event);
	else if (!node->hold->owner) /* a held node was told to stop */
		no_report(gate, node,
			  failure    ? failure->text
			  : err.kind ? err.text
				     : none);
	bu_gate_kick(gate);
}
