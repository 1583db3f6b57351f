/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs of people on nodes. Called by the API. A verb is one change of state: of a node
 * in its cluster to draining, with its next state; of another one to its state at once.
 * Invariant: a refused verb changes nothing, and a dry run takes the same decisions.
 */
#include "provisioner/node/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs_impl.h"

typedef char *run_fn(struct bu_reconcile *rec, struct bu_node *node,
		     const struct bu_verb_ask *ask, struct bu_err *err);
static run_fn hold, release, move;

/* The work of a verb. If it moves the node: its next state; the trigger inside and
 * outside the cluster; again: measured anew; reset: switched off, whatever runs. A node
 * to be validated is booted first where its system does not run. */
static const struct {
	run_fn *run;
	enum bu_state to;
	enum bu_trigger inside, outside;
	int again, reset;
} deeds[BU_VERB_COUNT] = {
	[BU_VERB_HOLD] = {.run = hold},
	[BU_VERB_RELEASE] = {.run = release,
			     .to = BU_STATE_VALIDATING,
			     .inside = BU_TRIGGER_DRAIN,
			     .outside = BU_TRIGGER_VALIDATE},
	[BU_VERB_DRAIN] = {.run = move,
			   .to = BU_STATE_PARKED,
			   .inside = BU_TRIGGER_DRAIN,
			   .outside = BU_TRIGGER_PARK},
	[BU_VERB_RESUME] = {.run = move,
			    .to = BU_STATE_VALIDATING,
			    .inside = BU_TRIGGER_ABORT,
			    .outside = BU_TRIGGER_VALIDATE},
	[BU_VERB_SERVICE] = {.run = move,
			     .to = BU_STATE_SERVICING,
			     .inside = BU_TRIGGER_DRAIN,
			     .outside = BU_TRIGGER_SERVICE},
	[BU_VERB_VALIDATE] = {.run = move,
			      .to = BU_STATE_VALIDATING,
			      .inside = BU_TRIGGER_DRAIN,
			      .outside = BU_TRIGGER_VALIDATE,
			      .again = 1},
	[BU_VERB_REBOOT] = {.run = move,
			    .to = BU_STATE_BOOTING,
			    .inside = BU_TRIGGER_DRAIN,
			    .outside = BU_TRIGGER_BOOT,
			    .reset = 1},
	[BU_VERB_RETRY] = {.run = bu_verb_retry},
	[BU_VERB_REBUILD] = {.run = NULL}, /* a plan, which the API makes */
	[BU_VERB_POWER] = {.run = bu_verb_power},
	[BU_VERB_BMC_RESET] = {.run = bu_verb_bmc_reset},
	[BU_VERB_REPLACE] = {.run = move,
			     .to = BU_STATE_ENROLLED,
			     .inside = BU_TRIGGER_DRAIN,
			     .outside = BU_TRIGGER_REPLACE},
	[BU_VERB_RETIRE] = {.run = move,
			    .to = BU_STATE_RETIRED,
			    .inside = BU_TRIGGER_DRAIN,
			    .outside = BU_TRIGGER_RETIRE},
};

/* One verb on one node: decided, then logged. */
struct request {
	const struct bu_verb_ask *ask;
	struct bu_next next;
	struct bu_event extra[2];
	struct bu_move move;
};

static void
choose(struct bu_reconcile *rec, const struct bu_node *node, struct request *request)
{
	enum bu_verb verb = request->ask->verb;

	request->next.state = deeds[verb].to;
	request->next.again = deeds[verb].again;
	request->next.reset = deeds[verb].reset;
	bu_text_copy(request->next.by, sizeof(request->next.by), request->ask->by);
	if (request->ask->why)
		request->next.reason = *request->ask->why;
	else
		BU_REASON_SET(&request->next.reason, VERB,
			      .text = {bu_verb_info(verb)->name, request->ask->by,
				       request->ask->reason});
	request->move.reason = &request->next.reason;
	request->move.by = request->next.by;
	if (!bu_verb_is_out(node)) {
		request->move.on = deeds[verb].inside;
		request->move.next = &request->next;
		return;
	}
	request->move.on = deeds[verb].outside;
	request->move.reset = request->next.reset;
	if (deeds[verb].outside == BU_TRIGGER_VALIDATE && !bu_verb_runs(rec, node) &&
	    node->state != BU_STATE_VALIDATING)
		request->move.on = BU_TRIGGER_BOOT;
}

/* Events that go before the change of state, in its commit. */
static void
add_extra(const struct bu_node *node, struct request *request)
{
	size_t count = 0;

	if (node->hold->owner)
		BU_EVENT_MAKE(&request->extra[count++], BU_EVENT_RELEASED, node->name,
			      released, .by = request->next.by);
	if (request->next.again && !request->move.next)
		BU_EVENT_MAKE(&request->extra[count++], BU_EVENT_AGAIN, node->name,
			      again, .by = request->next.by);
	request->move.extra = request->extra;
	request->move.count = count;
}

static char *
say(const struct bu_node *node, const struct request *request, enum bu_state to)
{
	return bu_xasprintf("%s -> %s%s%s%s", bu_state_name(node->state),
			    bu_state_name(to), to == BU_STATE_DRAINING ? ", then " : "",
			    to == BU_STATE_DRAINING ? bu_state_name(request->next.state)
						    : "",
			    node->hold->owner ? "; released" : "");
}

static char *
move(struct bu_reconcile *rec, struct bu_node *node, const struct bu_verb_ask *ask,
     struct bu_err *err)
{
	struct request request = {.ask = ask};
	bu_autofree char *text = NULL;
	enum bu_state to;

	if (bu_verb_check(node, ask->verb, err) != 0)
		return NULL;
	choose(rec, node, &request);
	if (bu_reconcile_can(rec, node, &request.move, &to, err) != 0)
		return NULL;
	text = say(node, &request, to);
	if (ask->dry_run)
		return bu_steal(&text);
	add_extra(node, &request);
	if (bu_reconcile_move(rec, node, &request.move, err) != 0)
		return NULL;
	return bu_steal(&text);
}

/* --- holds --- */

static char *
hold(struct bu_reconcile *rec, struct bu_node *node, const struct bu_verb_ask *ask,
     struct bu_err *err)
{
	bu_autofree char *text = NULL;
	struct bu_reason reason;
	struct bu_event event;

	if (!*ask->reason) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "field 'reason': say why; node why shows it");
		return NULL;
	}
	if (node->hold->owner) {
		text = bu_hold_text(node->hold);
		bu_err_set(err, BU_ERR_STATE, 0, "node %s is %s", node->name, text);
		return NULL;
	}
	if (ask->dry_run)
		return bu_xstrdup("held");
	BU_REASON_SET(&reason, PERSON, .text = {ask->reason});
	bu_hold_event(&event, node->name, BU_OWNER_PERSON, ask->by, &reason);
	bu_reconcile_note(rec, &event, 1);
	return bu_xstrdup("held");
}

/* Ends the ban of an agent whose change failed on this node. */
static char *
release_agent(struct bu_reconcile *rec, struct bu_node *node,
	      const struct bu_verb_ask *ask)
{
	const struct bu_agent_fault *fault = node->agent_failed;
	struct bu_event event;

	if (!ask->dry_run) {
		BU_EVENT_MAKE(&event, BU_EVENT_AGENT, node->name, agent,
			      .version = fault->version, .digest = fault->digest,
			      .result = BU_AGENT_RELEASED, .detail = ask->by);
		bu_reconcile_note(rec, &event, 1);
	}
	return bu_xasprintf("agent %s may be tried again", fault->version);
}

static char *
release(struct bu_reconcile *rec, struct bu_node *node, const struct bu_verb_ask *ask,
	struct bu_err *err)
{
	if (!node->hold->owner && !node->live.late_ms && node->agent_failed->at_ms &&
	    !bu_verb_takes(BU_VERB_RELEASE, node->state))
		return release_agent(rec, node, ask);
	if (!node->hold->owner && !node->live.late_ms)
		return move(rec, node, ask, err);
	if (!ask->dry_run && bu_reconcile_release(rec, node, ask->by, err) != 0)
		return NULL;
	return bu_xstrdup("released");
}

char *
bu_verb_run(struct bu_reconcile *rec, struct bu_node *node,
	    const struct bu_verb_ask *ask, struct bu_err *err)
{
	if (node->live.appending) {
		bu_err_set(err, BU_ERR_BUSY, 0,
			   "node %s is changing right now; ask again", node->name);
		return NULL;
	}
	bu_assert(deeds[ask->verb].run != NULL);
	return deeds[ask->verb].run(rec, node, ask, err);
}
