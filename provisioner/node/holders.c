/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices a node's credential in two places: on its machine, and where it was copied
 * to. Called by api/agents.c with each request in a node's name. Invariants: a boot
 * ends once, so one that speaks again after another boot is not the only holder; an
 * agent uses a renewed certificate at once, so a holder that shows the old one did not
 * renew it. Neither holder is refused: which one is the machine cannot be told here.
 */
#include "provisioner/node/holders.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
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

/* "10.77.0.11 (boot 1f0c6a7e)" */
static char *
words_of(const struct bu_holder *holder)
{
	const char *boot = holder->boot_id;

	return bu_xasprintf("%s%s%.8s%s",
			    holder->address[0] ? holder->address : "an unknown address",
			    *boot ? " (boot " : "", boot, *boot ? ")" : "");
}

static void
tell(struct bu_reconcile *rec, struct bu_node *node, const char *detail)
{
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
	return node->agent_cert[0] && strcmp(fingerprint, node->agent_cert) == 0 &&
	       !(next[0] && strcmp(node->live.holders->fingerprint, next) == 0);
}

void
bu_holders_spoke(struct bu_reconcile *rec, struct bu_node *node,
		 const char *fingerprint, const struct bu_holder *who)
{
	struct bu_holders *holders = bu_node_holders(node);
	struct bu_holder *now = &holders->seen[0], *before = &holders->seen[1];
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	bu_autofree char *one = NULL, *other = NULL, *detail = NULL;
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
	one = words_of(before);
	other = words_of(now);
	detail = bu_xasprintf("%s and %s speak by turns with certificate %.16s", one,
			      other, fingerprint);
	tell(rec, node, detail);
}

void
bu_holders_refused(struct bu_reconcile *rec, struct bu_node *node,
		   const char *fingerprint, const struct bu_holder *who)
{
	const struct bu_holders *holders = node->live.holders;
	const struct bu_holder *now = &holders->seen[0];
	int known = strcmp(holders->fingerprint, node->agent_cert) == 0;
	bu_autofree char *one = NULL, *other = NULL, *detail = NULL;

	/* The same holder may use a connection from before the renewal once more. */
	if (!fingerprint[0] || strcmp(fingerprint, node->agent_cert_renewed) != 0 ||
	    (known && is_same(now, who)))
		return;
	one = words_of(who);
	other = known ? words_of(now) : bu_xstrdup("an unknown address");
	detail = bu_xasprintf("%s shows certificate %.16s, which was renewed; the new "
			      "one is used from %s",
			      one, fingerprint, other);
	tell(rec, node, detail);
}
