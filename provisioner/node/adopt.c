/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption by stamps of another log. Called by the agents' API, fence.c, the rollouts
 * and plans. Invariants: nothing is switched, drained or written for it; a stamp counts
 * only with our own signature, shown with the certificate that it names, and only while
 * this log knows nothing later of the node; a node that is to be adopted gets no order.
 */
#include "provisioner/node/adopt.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "fabric/judge/fabcert.h"
#include "model/sentence.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"

enum { DUE_MS = 10 * 60 * 1000 };

/* --- judging --- */

/* Does the present epoch know more of the node than any stamp of before? */
static int
is_overtaken(const struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_epoch *epoch;

	if (!fleet->epochs_count)
		return 0;
	epoch = &fleet->epochs[fleet->epochs_count - 1];
	return node->admitted_ms >= epoch->time_ms ||
	       node->adopted->forgotten_seq > epoch->seq;
}

/* In the present epoch somebody holds the node, or it was taken out of service. */
static int
stays_out(const struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_epoch *epoch = &fleet->epochs[fleet->epochs_count - 1];
	int held = node->hold->owner == BU_OWNER_PERSON ||
		   node->hold->owner == BU_OWNER_EXTERNAL;
	int out = node->state == BU_STATE_DRAINING ||
		  (bu_state_info(node->state)->settled &&
		   node->state != BU_STATE_ENROLLED && node->state != BU_STATE_READY);

	return (held && node->hold->since_ms >= epoch->time_ms) ||
	       (out && node->state_seq > epoch->seq);
}

int
bu_adopt_is_due(const struct bu_fleet *fleet, const struct bu_node *node)
{
	return node->live.adopts->epoch &&
	       bu_loop_now_ms(fleet->loop) - node->live.adopts->at_ms < DUE_MS &&
	       !is_overtaken(fleet, node);
}

static int
is_revoked(const struct bu_fleet *fleet, const struct bu_stamp *stamp, const char *cert)
{
	const json_t *learned = fleet->learned.revoked;

	if (json_object_get(fleet->revoked, cert))
		return 1;
	return (json_object_get(learned, stamp->machine) ||
		json_object_get(learned, cert)) &&
	       bu_adopt_is_later(fleet->learned.epoch, fleet->learned.seq, stamp->epoch,
				 stamp->seq);
}

/* Takes why. */
static void
refuse(const struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
       struct bu_adoption *ret, json_t *why)
{
	struct bu_machine cards;

	bu_inventory_cards(ask->inventory, &cards);
	ret->node = bu_reconcile_meant(rec, &cards);
	ret->is = BU_ADOPT_BAD;
	ret->why = why;
}

static json_t *
of_other(const char *what, const char *is, const char *has)
{
	return BU_SAID(STAMP_OF_OTHER, BU_ARG("what", what), BU_ARG("is", is),
		       BU_ARG_NUMBER("no", !*is), BU_ARG("want", has),
		       BU_ARG_NUMBER("unwanted", !*has));
}

/* NULL = the stamp is of who shows it. */
static json_t *
check_holder(const struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	     const struct bu_stamp *stamp)
{
	const struct bu_desired *desired = rec->fleet->desired;
	struct bu_err err = {0};

	if (strcmp(stamp->machine, ask->peer) != 0)
		return of_other("machine", stamp->machine, ask->peer);
	if (strcmp(stamp->cert, ask->cert) != 0 && strcmp(stamp->next, ask->cert) != 0)
		return of_other("certificate", stamp->cert, ask->cert);
	/* A site may have another name by now. */
	if (!ask->known && desired && stamp->site[0] &&
	    strcmp(stamp->site, desired->site.name) != 0)
		return of_other("site", stamp->site, desired->site.name);
	if (bu_reconcile_check_stamp(rec, ask->stamp, stamp->step, stamp->machine,
				     &err) != 0)
		return BU_SAID(STAMP_BAD, BU_ARG("error", err.text));
	return NULL;
}

/* Is it of this machine and boot? Hardware that came or went since is a condition of
 * the adopted node, as of any other. */
static int
is_certificate(const struct bu_reconcile *rec, const struct bu_stamp *stamp,
	       const char *text, enum bu_fabcert_kind kind, struct bu_err *err)
{
	bu_autojson json_t *cert =
		bu_fabcert_verify(text, strlen(text), rec->fleet->public_pem, err);
	struct bu_fabcert_now now = {stamp->called, stamp->machine,
				     json_object_get(cert, "hardware"), stamp->boot_id};

	/* Until the turn of its rename, its certificates have its old name. */
	if (cert && stamp->called[0] && bu_fabcert_check(cert, kind, &now, NULL) == 0)
		return 1;
	now.node = stamp->node;
	return cert && bu_fabcert_check(cert, kind, &now, err) == 0;
}

/* The guard of the edge to READY. NULL = it holds. */
static json_t *
check_certificates(const struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
		   const struct bu_stamp *stamp)
{
	struct bu_err err = {0};

	if (strcmp(stamp->state, bu_state_name(BU_STATE_READY)) != 0 ||
	    (is_certificate(rec, stamp, bu_json_str(ask->settled, "full", ""),
			    BU_FABCERT_FULL, &err) &&
	     is_certificate(rec, stamp, bu_json_str(ask->settled, "boot", ""),
			    BU_FABCERT_BOOT, &err)))
		return NULL;
	return BU_SAID(STAMP_BAD, BU_ARG("error", err.text));
}

/* NULL = this log lets the node be what the stamp says. */
static json_t *
check_node(const struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	   const struct bu_stamp *stamp, const struct bu_node *node)
{
	struct bu_machine cards;
	struct bu_reason why;

	bu_inventory_cards(ask->inventory, &cards);
	if (!bu_reconcile_is_machine(rec, node, &cards, &why)) {
		bu_autofree char *words = bu_reason_text(&why);

		return BU_SAID(STAMP_MISPLACED, BU_ARG("node", stamp->node),
			       BU_ARG("words", words));
	}
	if (is_revoked(rec->fleet, stamp, ask->cert))
		return BU_SAID_ALONE(STAMP_REVOKED);
	if (is_overtaken(rec->fleet, node) || stays_out(rec->fleet, node))
		return BU_SAID_ALONE(STAMP_OVERTAKEN);
	if (bu_adopt_is_due(rec->fleet, node) &&
	    bu_adopt_is_later(node->live.adopts->epoch, node->live.adopts->seq,
			      stamp->epoch, stamp->seq))
		return BU_SAID(STAMP_RIVAL, BU_ARG("node", node->name));
	return NULL;
}

/* A stamp of this log, or not later than that by which its node was adopted. */
static int
is_known(const struct bu_reconcile *rec, const struct bu_stamp *stamp)
{
	const struct bu_node *node = bu_fleet_node(rec->fleet, stamp->node);

	return bu_fence_has(rec->fleet, stamp->epoch, stamp->seq) ||
	       (node && node->adopted->epoch &&
		!bu_adopt_is_later(stamp->epoch, stamp->seq, node->adopted->epoch,
				   node->adopted->seq));
}

static void
judge_signed(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	     struct bu_adoption *ret)
{
	struct bu_node *node = bu_fleet_node(rec->fleet, ret->stamp.node);
	json_t *why = check_holder(rec, ask, &ret->stamp);

	if (!why)
		why = check_certificates(rec, ask, &ret->stamp);
	if (!why && node && node->live.in_profile)
		why = check_node(rec, ask, &ret->stamp, node);
	else if (!why)
		why = BU_SAID_ALONE(NODE_UNKNOWN);
	if (why) {
		refuse(rec, ask, ret, why);
		return;
	}
	ret->node = node;
	ret->is = BU_ADOPT_GOOD;
}

void
bu_adopt_judge(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	       struct bu_adoption *ret)
{
	struct bu_err err = {0};
	int opened;

	memset(ret, 0, sizeof(*ret));
	if (!*ask->peer || !rec->fleet->epochs_count)
		return;
	opened = ask->settled && bu_stamp_open(ask->settled, rec->fleet->public_pem,
					       &ret->stamp, &err) == 0;
	if (opened && is_known(rec, &ret->stamp))
		return;
	if (opened) {
		judge_signed(rec, ask, ret);
	} else if (!ask->node && !json_object_get(rec->fleet->revoked, ask->peer)) {
		/* A machine that this log has given up is no stranger. */
		refuse(rec, ask, ret,
		       ask->settled ? BU_SAID(STAMP_BAD, BU_ARG("error", err.text))
				    : BU_SAID_ALONE(NO_STAMP));
	}
}

/* --- adopting --- */

/* Once, with its first reason: who shows another one at each hello fills no log. */
static int
note_bad(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	 const struct bu_adoption *adoption, struct bu_err *err)
{
	struct bu_node *node = adoption->node;
	bu_autofree char *words = bu_said_text(adoption->why);
	const char *name = node ? node->name : "a system";
	struct bu_event event;

	bu_err_set(err, BU_ERR_DENIED, 0, "%s (machine %s) is not adopted: %s", name,
		   ask->peer, words);
	if (!node || node->machine[0] || node->live.appending ||
	    node->conditions[BU_CONDITION_UNADOPTED].on ||
	    bu_adopt_is_due(rec->fleet, node))
		return -1;
	bu_warn("adopt", "%s (machine %s) is not adopted: %s", name, ask->peer, words);
	BU_EVENT_MAKE(&event, BU_EVENT_CONDITION, node->name, condition,
		      .name = bu_condition_info(BU_CONDITION_UNADOPTED)->name, .on = 1,
		      .detail = adoption->why);
	bu_reconcile_note(rec, &event, 1);
	return -1;
}

static void
adopted_event(const struct bu_adopt_ask *ask, const struct bu_adoption *adoption,
	      struct bu_event *ret)
{
	bu_autojson json_t *stamp = bu_stamp_to_json(&adoption->stamp), *told = NULL;
	const char *facets = bu_json_str(ask->settled, "facets", NULL);
	struct bu_machine machine;

	bu_inventory_machine(ask->inventory, &machine);
	told = bu_machine_to_json(&machine);
	BU_EVENT_MAKE(ret, BU_EVENT_ADOPTED, adoption->node->name, adopted,
		      .stamp = stamp, .told = told, .boot_id = ask->inventory->boot_id);
	if (facets)
		bu_event_attach(ret, "facets", bu_xstrdup(facets));
}

static size_t
certificate_events(const struct bu_adopt_ask *ask, const struct bu_adoption *adoption,
		   struct bu_event *ret)
{
	static const struct {
		const char *name;
		int kind;
	} certs[] = {{"full", BU_CERTIFICATE_FULL}, {"boot", BU_CERTIFICATE_BOOT}};
	size_t count = 0;

	for (size_t i = 0; i < BU_LEN(certs); i++) {
		const char *text = bu_json_str(ask->settled, certs[i].name, "");

		if (!*text)
			continue;
		BU_EVENT_MAKE(&ret[count], BU_EVENT_CERTIFICATE, adoption->node->name,
			      certificate, .kind = certs[i].kind, .digest = "");
		bu_event_attach(&ret[count++], "digest", bu_xstrdup(text));
	}
	return count;
}

/* The row of its adoption takes the node back to the first state. */
static void
state_event(const struct bu_adoption *adoption, struct bu_event *ret)
{
	int serves = strcmp(adoption->stamp.state, bu_state_name(BU_STATE_READY)) == 0;
	union bu_body body = {
		.state = {
			.from = bu_state_name(BU_STATE_ENROLLED),
			.to = bu_state_name(serves ? BU_STATE_READY : BU_STATE_PARKED),
			.on = bu_trigger_name(serves ? BU_TRIGGER_ADOPTED
						     : BU_TRIGGER_ADOPTED_OUT)}};

	bu_reason_set(&body.state.reason, BU_REASON_ADOPTED, NULL);
	bu_event_make(ret, BU_EVENT_STATE, adoption->node->name, &body);
}

static int
adopt(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
      const struct bu_adoption *adoption, struct bu_err *err)
{
	struct bu_node *node = adoption->node;
	struct bu_event events[5];
	size_t count = 0;

	if (bu_reconcile_bound(rec, &events[1], node, adoption->stamp.machine,
			       ask->inventory, err) != 0)
		return -1;
	adopted_event(ask, adoption, &events[0]);
	count = 2;
	count += certificate_events(ask, adoption, &events[count]);
	state_event(adoption, &events[count++]);
	bu_info("adopt",
		"%s goes on here as it runs, by its stamp of row %lld of epoch "
		"%lld",
		node->name, (long long)adoption->stamp.seq,
		(long long)adoption->stamp.epoch);
	bu_reconcile_append(rec, node, events, count);
	return bu_err_set(err, BU_ERR_BUSY, 0, "%s is being adopted; say hello again",
			  node->name);
}

int
bu_adopt_act(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
	     const struct bu_adoption *adoption, struct bu_err *err)
{
	struct bu_node *node = adoption->node;

	if (adoption->is != BU_ADOPT_GOOD)
		return note_bad(rec, ask, adoption, err);
	*bu_node_adopts(node) =
		(struct bu_adopted){adoption->stamp.epoch, adoption->stamp.seq,
				    bu_loop_now_ms(rec->fleet->loop), 0, 0};
	if (bu_fence_check(rec->fleet, BU_ERR_BUSY, err) != 0)
		return bu_err_wrap(err, "%s is to be adopted", node->name);
	/* A machine that a command may still switch is not one that runs. */
	if (node->live.appending || bu_effects_switch(rec, node) ||
	    bu_store_down(rec->fleet->store))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right now; say hello again",
				  node->name);
	return adopt(rec, ask, adoption, err);
}
