/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of BMCs besides power: event logs and sensors when a person asks or a node
 * has failed (the log is then part of its evidence), firmware versions once a day.
 * Called by the API and at each tick of reconcile.c. Invariants: event logs and sensors
 * are forgotten after KEEP_MS; each report of a BMC is asked for once at a time.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"

enum {
	KEEP_MS = 120000, /* of event logs and sensors */
	FIRMWARE_MS = 24 * 3600 * 1000,
	FIRMWARE_AGAIN_MS = 3600 * 1000, /* after a failure */
	FIRMWARE_AT_ONCE = 2,
	EVIDENCE_AT_ONCE = 10,
};

_Static_assert(BU_BMC_FIRMWARE + 1 == BU_REPORTS, "a report without its place");

struct bu_report_ask {
	struct bu_report_ask *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
	enum bu_bmc_report what;
	char evidence[BU_DIGEST_SIZE]; /* to add the report to; "" = a person asked */
};

static void
keep(struct bu_reconcile *rec, struct bu_node *node, enum bu_bmc_report what,
     const json_t *report, const struct bu_err *err)
{
	struct bu_report_fact *fact = &bu_node_reports(node)[what];

	fact->asking = 0;
	fact->at_ms = bu_loop_now_ms(rec->fleet->loop);
	fact->wall_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	fact->failed = err != NULL;
	bu_text_copy(fact->error, sizeof(fact->error), err ? err->text : "");
	/* Yesterday's versions are better than none. */
	if (err && what == BU_BMC_FIRMWARE)
		return;
	json_decref(fact->report);
	fact->report = report ? json_deep_copy(report) : NULL;
}

/* --- the BMC's event log, as evidence of a failure --- */

/* Evidence of a quarantine is the gate's own, and has no since_ms. Evidence that cannot
 * be read now is looked at again. */
static int
wants_events(const struct bu_reconcile *rec, struct bu_node *node,
	     int64_t *ret_since_ms)
{
	bu_autojson json_t *evidence = NULL;

	if (!bu_symptoms_are_now(node) ||
	    strcmp(node->live.symptoms, node->evidence) == 0 || node->live.appending)
		return 0;
	evidence = bu_symptoms_read(rec, node);
	if (!evidence)
		return 0;
	bu_node_set_symptoms(node, node->evidence);
	*ret_since_ms = bu_json_int(evidence, "since_ms", 0);
	return *ret_since_ms > 0 && !json_object_get(evidence, "bmc");
}

static void
add_events(struct bu_reconcile *rec, struct bu_node *node, const char *digest,
	   const json_t *report, const struct bu_err *err)
{
	bu_autojson json_t *evidence = NULL;
	bu_autofree char *text = NULL;
	char next[BU_DIGEST_SIZE];
	struct bu_event event;
	struct bu_err why;
	json_t *bmc;

	if (!bu_symptoms_are_now(node) || strcmp(node->evidence, digest) != 0 ||
	    rec->stopped)
		return;
	evidence = bu_symptoms_read(rec, node);
	if (!evidence)
		return;
	bmc = err ? json_pack("{s:s}", "error", err->text) : json_deep_copy(report);
	json_object_del(bmc, "id");
	json_object_set_new(evidence, "bmc", bmc);
	text = bu_json_canonical(evidence);
	if (bu_store_put_blob(rec->fleet->store, text, next, &why) != 0) {
		bu_error("node", "evidence of %s: %s", node->name, why.text);
		return;
	}
	BU_EVENT_MAKE(&event, BU_EVENT_EVIDENCE, node->name, evidence, .digest = next);
	bu_reconcile_append(rec, node, &event, 1);
}

static void
on_report(const json_t *report, const struct bu_err *err, void *arg)
{
	struct bu_report_ask *ask = arg, **link = &ask->rec->report_asks;
	struct bu_reconcile *rec = ask->rec;
	struct bu_report_ask done = *ask;
	struct bu_node *node = bu_fleet_node(rec->fleet, ask->node);

	while (*link != ask)
		link = &(*link)->next;
	*link = ask->next;
	free(ask);
	if (!node)
		return;
	if (done.evidence[0])
		add_events(rec, node, done.evidence, report, err);
	else
		keep(rec, node, done.what, report, err);
}

static void
start(struct bu_reconcile *rec, struct bu_node *node, enum bu_bmc_report what,
      int64_t since_ms, const char *evidence)
{
	struct bu_report_ask *ask = bu_xcalloc(1, sizeof(*ask));
	struct bu_node_bmc bmc;

	ask->rec = rec;
	ask->what = what;
	memcpy(ask->node, node->name, sizeof(ask->node));
	bu_text_copy(ask->evidence, sizeof(ask->evidence), evidence);
	ask->next = rec->report_asks;
	rec->report_asks = ask;
	bu_node_bmc(rec->fleet, node, &bmc);
	bu_power_report(rec->power, &bmc.bmc, what, since_ms, on_report, ask);
}

int
bu_reconcile_report(struct bu_reconcile *rec, struct bu_node *node,
		    enum bu_bmc_report what, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	struct bu_report_fact *fact;

	if (!want)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is not in the applied profile, so its BMC "
				  "is unknown",
				  node->name);
	if (bu_manual_is(want))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s has power = manual: its machine has no BMC "
				  "that is known",
				  node->name);
	if (rec->stopped)
		return bu_err_set(err, BU_ERR_STATE, 0, "bringupd is ending");
	if (bu_fence_check(rec->fleet, BU_ERR_STATE, err) != 0)
		return -1;
	fact = &bu_node_reports(node)[what];
	if (!fact->asking) {
		fact->asking = 1;
		start(rec, node, what, 0, "");
	}
	return 0;
}

/* --- at each tick --- */

static int
asked_for(const struct bu_reconcile *rec, enum bu_bmc_report what)
{
	int count = 0;

	for (const struct bu_report_ask *ask = rec->report_asks; ask; ask = ask->next)
		count += ask->what == what;
	return count;
}

static void
forget_old(struct bu_node *node, enum bu_bmc_report what, int64_t now_ms)
{
	const struct bu_report_fact *fact = &node->live.reports[what];

	if (fact->report && !fact->asking && now_ms >= fact->at_ms + KEEP_MS)
		json_decref(bu_steal(&bu_node_reports(node)[what].report));
}

/* Is the machine known and at rest? A BMC has enough to do during an install. */
static int
wants_firmware(const struct bu_node *node, int64_t now_ms)
{
	const struct bu_report_fact *fact = &node->live.reports[BU_BMC_FIRMWARE];
	int64_t again_ms = fact->failed ? FIRMWARE_AGAIN_MS : FIRMWARE_MS;

	return !fact->asking && node->machine[0] &&
	       bu_state_info(node->state)->settled &&
	       (!fact->at_ms || now_ms >= fact->at_ms + again_ms);
}

void
bu_node_reports_tick(struct bu_reconcile *rec)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int firmware = FIRMWARE_AT_ONCE - asked_for(rec, BU_BMC_FIRMWARE);
	int evidence = EVIDENCE_AT_ONCE - asked_for(rec, BU_BMC_EVENTS);

	for (size_t i = 0; !rec->stopped && i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];
		int64_t since_ms;

		forget_old(node, BU_BMC_EVENTS, now_ms);
		forget_old(node, BU_BMC_SENSORS, now_ms);
		if (!bu_bmc_is(bu_fleet_desired(rec->fleet, node)))
			continue;
		if (evidence > 0 && wants_events(rec, node, &since_ms)) {
			start(rec, node, BU_BMC_EVENTS, since_ms, node->evidence);
			evidence--;
		}
		if (firmware > 0 && wants_firmware(node, now_ms)) {
			bu_node_reports(node)[BU_BMC_FIRMWARE].asking = 1;
			start(rec, node, BU_BMC_FIRMWARE, 0, "");
			firmware--;
		}
	}
}

void
bu_node_reports_drop(struct bu_reconcile *rec)
{
	struct bu_report_ask *ask;

	while ((ask = rec->report_asks)) {
		rec->report_asks = ask->next;
		free(ask);
	}
}
