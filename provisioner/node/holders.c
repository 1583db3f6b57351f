/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices a node's credential in two places: on its machine, and where it was copied
 * to. Called by api/agents.c with each request in a node's name. Invariants: a boot
 * ends once, so one that speaks again after another boot is not the only holder; an
 * agent uses a renewed certificate at once, so a holder that shows the old one did not
 * renew it. Neither holder is refused: which one is the machine cannot be told here.
 */
#include "provisioner/node/holders.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"

/* An address may change to and fro; a boot may not. */
enum { RETURNS_MAX = 3, RECENT_MS = 10 * 60 * 1000 };

/* An unknown boot is not a difference. */
static int
is_other_boot(const struct bu_holder *a, const struct bu_holder *b)
{
	return a->boot_id[0] && b->boot_id[0] && strcmp(a->boot_id, b->boot_id) != 0;
}

static int
is_same(const struct bu_holder *a, const struct bu_holder *b)
{
	return strcmp(a->address, b->address) == 0 && !is_other_boot(a, b);
}

static json_t *
said_of(const struct bu_holder *holder)
{
	char boot[9];

	bu_text_copy(boot, sizeof(boot), holder->boot_id);
	return BU_SAID(HOLDER, BU_ARG("address", holder->address),
		       BU_ARG_NUMBER("unknown", !holder->address[0]),
		       BU_ARG("boot", boot));
}

/* Takes said. */
static void
tell(struct bu_reconcile *rec, struct bu_node *node, json_t *said)
{
	bu_autojson json_t *detail = said;
	struct bu_event event;

	/* During an append nothing is logged; a later request shows the same. */
	if (node->conditions[BU_CONDITION_CREDENTIAL_COPIED].on || node->live.appending)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_CONDITION, node->name, condition,
		      .name = bu_condition_info(BU_CONDITION_CREDENTIAL_COPIED)->name,
		      .on = 1, .detail = detail);
	bu_reconcile_append(rec, node, &event, 1);
}

/* Neither a kept certificate of an older system counts, nor one whose successor was
 * used and is about to end it. */
static int
is_present(const struct bu_node *node, const char *fingerprint)
{
	const char *next = node->agent_cert_next;

	if (next[0] && strcmp(fingerprint, next) == 0)
		return 1;
	return strcmp(fingerprint, node->agent_cert) == 0 &&
	       !(next[0] && strcmp(node->live.holders->fingerprint, next) == 0);
}

void
bu_holders_spoke(struct bu_reconcile *rec, struct bu_node *node,
		 const char *fingerprint, const struct bu_holder *who)
{
	struct bu_holders *holders = bu_node_holders(node);
	struct bu_holder *now = &holders->seen[0], *before = &holders->seen[1];
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	char cert[17];
	int again;

	if (!is_present(node, fingerprint))
		return;
	if (strcmp(holders->fingerprint, fingerprint) != 0) {
		memset(holders, 0, sizeof(*holders));
		BU_TEXT_COPY(holders->fingerprint, fingerprint);
	}
	if (!now->at_ms || is_same(now, who)) {
		BU_TEXT_COPY(now->address, who->address);
		if (who->boot_id[0])
			BU_TEXT_COPY(now->boot_id, who->boot_id);
		now->at_ms = now_ms;
		return;
	}
	again = before->at_ms && now_ms - before->at_ms < RECENT_MS &&
		is_same(before, who);
	holders->returns = !again                    ? 0
			   : is_other_boot(now, who) ? RETURNS_MAX
						     : holders->returns + 1;
	*before = *now;
	*now = *who;
	now->at_ms = now_ms;
	if (holders->returns < RETURNS_MAX)
		return;
	bu_text_copy(cert, sizeof(cert), fingerprint);
	tell(rec, node,
	     BU_SAID(TURNS_SHOWN, BU_ARG_SAID("one", said_of(before)),
		     BU_ARG_SAID("other", said_of(now)), BU_ARG("cert", cert)));
}

void
bu_holders_refused(struct bu_reconcile *rec, struct bu_node *node,
		   const char *fingerprint, const struct bu_holder *who)
{
	const struct bu_holders *holders = node->live.holders;
	const struct bu_holder *now = &holders->seen[0], unknown = {.at_ms = 0};
	int known = strcmp(holders->fingerprint, node->agent_cert) == 0;
	char cert[17];

	/* The same holder may use a connection from before the renewal once more. */
	if (!fingerprint[0] || strcmp(fingerprint, node->agent_cert_renewed) != 0 ||
	    (known && is_same(now, who)))
		return;
	bu_text_copy(cert, sizeof(cert), fingerprint);
	tell(rec, node,
	     BU_SAID(OLD_SHOWN, BU_ARG_SAID("one", said_of(who)), BU_ARG("cert", cert),
		     BU_ARG_SAID("other", said_of(known ? now : &unknown))));
}
