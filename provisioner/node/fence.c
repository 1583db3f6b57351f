/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fence between appliances of one site. Called by the agents' API with what agents
 * show, by reconcile.c at each tick and by a person's take-over. Invariants: an anchor
 * counts only with our own signature; what an anchor of another log says is revoked is
 * revoked here before the fence opens; only rows of the log open it.
 */
#include "provisioner/node/fence.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/anchor.h"
#include "model/sentence.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/anchor.h"
#include "provisioner/node/reconcile_impl.h"

/* VOUCH: from the first agent that confirms, for others that know better. FRESH: as
 * long as an anchor is told to agents. */
enum { VOUCH_MS = 60 * 1000, FRESH_MS = 10 * 60 * 1000 };

/* detail: NULL = none. */
static void
condition_event(enum bu_condition_id id, int on, const json_t *detail, int64_t epoch,
		struct bu_event *ret)
{
	BU_EVENT_MAKE(ret, BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(id)->name, .on = on, .detail = detail,
		      .epoch = epoch);
}

/* --- what an anchor says of this log --- */

/* The present epoch ends with the log. */
int
bu_fence_has(const struct bu_fleet *fleet, int64_t epoch, int64_t seq)
{
	struct bu_chain end;

	bu_store_end(fleet->store, &end);
	for (size_t i = 0; i < fleet->epochs_count; i++) {
		int last = i + 1 == fleet->epochs_count;
		int64_t until = last ? end.seq : fleet->epochs[i + 1].seq - 1;

		if (fleet->epochs[i].epoch == epoch)
			return seq <= until;
	}
	return 0;
}

/* A log that was set back has soon as many rows as before, but others. -1 = the log
 * cannot be read now. */
static int
is_of_this_log(const struct bu_fleet *fleet, const struct bu_anchor *anchor,
	       struct bu_err *err)
{
	struct bu_chain row = {.seq = anchor->seq};

	BU_TEXT_COPY(row.hash, anchor->hash);
	return bu_fence_has(fleet, anchor->epoch, anchor->seq)
		       ? bu_store_has(fleet->store, &row, err)
		       : 0;
}

/* At once in memory, as the log may be slow or full. */
static void
shut(struct bu_reconcile *rec, const char *who, const struct bu_anchor *anchor)
{
	struct bu_fleet *fleet = rec->fleet;
	struct bu_condition *now = &fleet->conditions[BU_CONDITION_EPOCH_BEHIND];
	bu_autofree char *words = NULL;
	struct bu_event event;

	if (now->on && anchor->epoch <= fleet->epoch_heard)
		return;
	bu_condition_set(now, 1, bu_wall_ms(bu_loop_clock(fleet->loop)),
			 BU_SAID(LATER_LOG, BU_ARG("by", who),
				 BU_ARG_NUMBER("row", anchor->seq),
				 BU_ARG_NUMBER("epoch", anchor->epoch),
				 BU_ARG_NUMBER("ours", fleet->epoch)));
	fleet->epoch_heard = anchor->epoch;
	words = bu_said_text(now->detail);
	bu_error("fence",
		 "another appliance leads: %s; nothing is done until bringup "
		 "site take-over",
		 words);
	bu_fence_look(rec);
	condition_event(BU_CONDITION_EPOCH_BEHIND, 1, now->detail, anchor->epoch,
			&event);
	bu_reconcile_note(rec, &event, 1);
	bu_fleet_touch(fleet, NULL);
}

/* An agent that enrolled after this epoch began has its certificate by a person's word
 * of today. Beside a log that parted from this one within the epoch, or leads, that
 * holds from the row of its anchor on. */
static int
is_newly_admitted(const struct bu_fleet *fleet, const struct bu_node *node,
		  const struct bu_anchor *anchor)
{
	size_t count = fleet->epochs_count;

	if (anchor->epoch >= fleet->epoch)
		return node->admitted_ms > anchor->time_ms;
	return count && node->admitted_ms >= fleet->epochs[count - 1].time_ms;
}

/* A machine of the other log's list, or the certificate of its agent, still counts
 * here. */
static int
is_revoked_by(const json_t *revoked, const struct bu_node *node)
{
	return (node->machine[0] && json_object_get(revoked, node->machine)) ||
	       (node->agent_cert[0] && json_object_get(revoked, node->agent_cert));
}

static void
revoke(struct bu_reconcile *rec, const char *who, const struct bu_anchor *anchor,
       const json_t *revoked)
{
	struct bu_fleet *fleet = rec->fleet;
	bu_autofree char *reason = bu_xasprintf(
		"by the anchor that %s keeps of a log that is not this one", who);
	struct bu_event event;

	for (size_t i = 0; json_object_size(revoked) && i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];

		if (node->agent_revoked || is_newly_admitted(fleet, node, anchor) ||
		    !is_revoked_by(revoked, node))
			continue;
		bu_warn("fence", "%s: its certificate is revoked %s", node->name,
			reason);
		BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, node->name, revoked,
			      .fingerprint = node->agent_cert, .all = 1,
			      .reason = reason);
		bu_reconcile_note(rec, &event, 1);
	}
}

/* The other log's list is kept in this one: a machine that is not adopted yet may still
 * come, and the next appliance asks, too. An equal list of a later row counts as well:
 * between the two a machine may have been admitted again. */
static void
learn(struct bu_reconcile *rec, const char *who, const struct bu_anchor *anchor,
      const json_t *revoked)
{
	struct bu_fence *fence = &rec->fence;
	struct bu_event event;

	if (!json_object_size(revoked) ||
	    !bu_adopt_is_later(anchor->epoch, anchor->seq, rec->fleet->learned.epoch,
			       rec->fleet->learned.seq) ||
	    !bu_adopt_is_later(anchor->epoch, anchor->seq, fence->learning_epoch,
			       fence->learning_seq))
		return;
	fence->learning_epoch = anchor->epoch;
	fence->learning_seq = anchor->seq;
	BU_EVENT_MAKE(&event, BU_EVENT_LEARNED, "", learned, .revoked = revoked,
		      .epoch = anchor->epoch, .seq = anchor->seq, .by = who);
	bu_reconcile_note(rec, &event, 1);
}

/* The first agent that knows of no later log. Others have some time to say otherwise,
 * and to tell what was revoked. */
static void
vouch(struct bu_reconcile *rec, const struct bu_node *node)
{
	struct bu_fence *fence = &rec->fence;

	if (!rec->fleet->conditions[BU_CONDITION_EPOCH_UNCHECKED].on ||
	    fence->voucher[0])
		return;
	BU_TEXT_COPY(fence->voucher, node->name);
	fence->vouched_ms = bu_loop_now_ms(rec->fleet->loop);
	bu_info("fence", "%s knows of no later log; in %d s this appliance leads",
		node->name, VOUCH_MS / 1000);
}

void
bu_fence_hear(struct bu_reconcile *rec, const char *who, const struct bu_node *node,
	      const json_t *document)
{
	struct bu_fleet *fleet = rec->fleet;
	struct bu_anchor anchor;
	struct bu_err err;
	int ours;

	if (!document)
		return;
	if (bu_anchor_open(document, bu_trust_public_key(rec->trust), &anchor, &err) !=
	    0) {
		bu_warn("fence", "%s: %s; it is passed over", who, err.text);
		return;
	}
	ours = is_of_this_log(fleet, &anchor, &err);
	if (ours < 0) { /* the agent shows it again with its next hello */
		bu_warn("fence", "%s: its anchor is passed over: %s", who, err.text);
		return;
	}
	if (!ours) {
		revoke(rec, who, &anchor, json_object_get(document, "revoked"));
		learn(rec, who, &anchor, json_object_get(document, "revoked"));
	}
	if (!ours && anchor.epoch >= fleet->epoch)
		shut(rec, who, &anchor);
	else if (node)
		vouch(rec, node);
}

/* --- opening --- */

static void
confirm(struct bu_reconcile *rec)
{
	struct bu_fence *fence = &rec->fence;
	bu_autojson json_t *detail = BU_SAID(CONFIRMED, BU_ARG("node", fence->voucher));
	struct bu_event event;

	condition_event(BU_CONDITION_EPOCH_UNCHECKED, 0, detail, 0, &event);
	bu_reconcile_note(rec, &event, 1);
}

void
bu_fence_look(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	const struct bu_fence *fence = &rec->fence;
	int shut = bu_fence_is_shut(fleet);

	if (fleet->conditions[BU_CONDITION_EPOCH_UNCHECKED].on && fence->voucher[0] &&
	    bu_loop_now_ms(fleet->loop) - fence->vouched_ms >= VOUCH_MS &&
	    !bu_store_down(fleet->store))
		confirm(rec);
	bu_outage_fence(rec, shut);
	/* Open clusters approve requests of their nodes. */
	if (shut)
		bu_observe_drop(rec);
}

int
bu_fence_take_over(struct bu_reconcile *rec, const char *by, const char *reason,
		   int64_t *ret_epoch, struct bu_err *err)
{
	const struct bu_fleet *fleet = rec->fleet;
	int64_t known =
		fleet->epoch_heard > fleet->epoch ? fleet->epoch_heard : fleet->epoch;
	int64_t epoch = bu_wall_ms(bu_loop_clock(fleet->loop)) / 1000;
	struct bu_event events[1 + BU_FENCE_CONDITIONS];

	if (!bu_fence_is_shut(fleet))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "this appliance leads the site; there is nothing to "
				  "take over");
	if (epoch <= known)
		epoch = known + 1;
	if (epoch > BU_EPOCH_MAX)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "no epoch is above %lld: an appliance with this "
				  "site's keys had its clock beyond all years",
				  (long long)known);
	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch, .by = by,
		      .reason = *reason ? reason : NULL, .ends = 1);
	for (size_t i = 0; i < BU_FENCE_CONDITIONS; i++)
		condition_event(bu_fence_conditions[i], 0, NULL, 0, &events[i + 1]);
	bu_reconcile_note(rec, events, BU_LEN(events));
	*ret_epoch = epoch;
	return 0;
}

/* --- what agents keep --- */

static void
make_anchor(struct bu_reconcile *rec)
{
	struct bu_fence *fence = &rec->fence;
	const struct bu_fleet *fleet = rec->fleet;
	int64_t now_ms = bu_loop_now_ms(fleet->loop);
	struct bu_err err = {0};

	if (fence->anchor && fence->made_of == fleet->revoked_version &&
	    fence->made_epoch == fleet->epoch && now_ms - fence->made_ms < FRESH_MS)
		return;
	json_decref(bu_steal(&fence->anchor));
	if (!fleet->epochs_count)
		return;
	fence->anchor = bu_anchor_make(fleet, rec->trust, &err);
	if (!fence->anchor) {
		bu_warn("fence", "no anchor for agents: %s", err.text);
		return;
	}
	bu_json_digest(fleet->revoked, fence->revoked);
	fence->made_of = fleet->revoked_version;
	fence->made_epoch = fleet->epoch;
	fence->made_ms = now_ms;
}

json_t *
bu_fence_anchor(struct bu_reconcile *rec, const char *revoked)
{
	struct bu_fence *fence = &rec->fence;

	make_anchor(rec);
	if (!fence->anchor || (revoked && strcmp(revoked, fence->revoked) == 0))
		return NULL;
	return fence->anchor;
}
