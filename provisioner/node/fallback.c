/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other root of a disk with two. Called by agents.c and, for events of the log, by
 * replay_steps.c; fallback_hello.c acts on a boot from it. Invariant: node->other is
 * the root that the loader starts when the first one does not come up, or is empty.
 */
#include "provisioner/node/fallback.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/found.h"
#include "provisioner/node/over.h"

int
bu_fallback_stays(const struct bu_node *node)
{
	return node->slot[0] && node->order->open &&
	       node->order->class == BU_CLASS_REIMAGE;
}

/* A root written with other facets has files that nothing would remove. */
int
bu_fallback_has(const struct bu_node *node, const char *image, const char *facets)
{
	const struct bu_other_root *other = node->other;

	return other->step[0] && other->proven && strcmp(other->digest, image) == 0 &&
	       strcmp(other->facets, facets) == 0 &&
	       strcmp(node->installed_digest, image) != 0;
}

int
bu_fallback_reuses(const struct bu_node *node)
{
	return bu_fallback_has(node, node->order->image_digest, node->order->facets);
}

/* --- certificates --- */

static const struct bu_kept_cert *
kept_of(const struct bu_node *node, const char *step)
{
	for (int i = 0; *step && i < BU_KEPT_CERTS; i++)
		if (strcmp(node->kept_certs[i].step, step) == 0)
			return &node->kept_certs[i];
	return NULL;
}

static void
keep_only(struct bu_node *node, const char *step)
{
	for (int i = 0; i < BU_KEPT_CERTS; i++)
		if (node->kept_certs[i].fingerprint[0] &&
		    strcmp(node->kept_certs[i].step, step) != 0)
			bu_node_kept_certs(node)[i] = (struct bu_kept_cert){0};
}

/* Keeps the certificate of the system that came up last. The first admission keeps it;
 * at a second one agent_cert is the ramdisk's. */
void
bu_fallback_admitted(struct bu_node *node)
{
	struct bu_kept_cert *kept;

	if (!node->proven || node->ram || node->writing || !node->agent_cert[0] ||
	    !node->installed_step[0] || kept_of(node, node->installed_step))
		return;
	kept = bu_node_kept_certs(node);
	while (kept->fingerprint[0])
		if (++kept == node->kept_certs + BU_KEPT_CERTS)
			return;
	BU_TEXT_COPY(kept->fingerprint, node->agent_cert);
	BU_TEXT_COPY(kept->next, node->agent_cert_next);
	BU_TEXT_COPY(kept->step, node->installed_step);
	kept->until_ms = node->agent_cert_until_ms;
	kept->next_until_ms = node->agent_cert_next_until_ms;
}

void
bu_fallback_revoked(struct bu_node *node, const char *fingerprint)
{
	for (int i = 0; i < BU_KEPT_CERTS; i++)
		if (node->kept_certs[i].fingerprint[0] &&
		    (!fingerprint ||
		     strcmp(node->kept_certs[i].fingerprint, fingerprint) == 0))
			bu_node_kept_certs(node)[i] = (struct bu_kept_cert){0};
}

int
bu_fallback_is_kept(const struct bu_node *node, const char *fingerprint,
		    int64_t *ret_until_ms)
{
	for (int i = 0; i < BU_KEPT_CERTS; i++) {
		const struct bu_kept_cert *kept = &node->kept_certs[i];
		int next = kept->next[0] && strcmp(kept->next, fingerprint) == 0;

		if (!next && (!kept->fingerprint[0] ||
			      strcmp(kept->fingerprint, fingerprint) != 0))
			continue;
		*ret_until_ms = next ? kept->next_until_ms : kept->until_ms;
		return 1;
	}
	return 0;
}

const char *
bu_fallback_trial(const struct bu_node *node)
{
	const struct bu_kept_cert *kept = kept_of(node, node->other->step);

	return kept && node->proven && bu_over_was_installed(node) ? kept->fingerprint
								   : NULL;
}

/* --- events --- */

void
bu_fallback_gone(struct bu_node *node)
{
	bu_node_drop_other(node);
	bu_node_drop_kept_certs(node);
}

/* A second write into one slot leaves the other root as it was. */
void
bu_fallback_installed(struct bu_node *node, const struct bu_body_installed *installed)
{
	const char *slot = installed->slot ? installed->slot : "";
	struct bu_other_root *other;

	if (!installed->tried) {
		bu_fallback_gone(node);
	} else if (strcmp(slot, node->slot) != 0) {
		other = bu_node_other(node);
		BU_TEXT_COPY(other->slot, node->slot);
		BU_TEXT_COPY(other->image, node->installed_image);
		BU_TEXT_COPY(other->digest, node->installed_digest);
		BU_TEXT_COPY(other->step, node->installed_step);
		BU_TEXT_COPY(other->facets, node->facets);
		other->proven = node->proven;
	}
	keep_only(node, node->other->step);
	BU_TEXT_COPY(node->slot, slot);
	node->proven = 0;
}

/* The booted system goes on with its kept certificate, and with a renewed one that it
 * may have fetched but not used. The other root's certificate is kept until a new
 * system is confirmed. */
void
bu_fallback_booted(struct bu_node *node)
{
	const struct bu_kept_cert *kept = kept_of(node, node->installed_step);

	node->proven = 1;
	if (kept) {
		bu_node_set_agent_cert(node, kept->fingerprint);
		bu_node_set_agent_cert_next(node, kept->next);
		node->agent_cert_until_ms = kept->until_ms;
		node->agent_cert_next_until_ms = kept->next_until_ms;
	}
	keep_only(node, node->other->step);
}

/* The other root now has a system that never came up, so node->other is cleared. */
int
bu_replay_fellback(BU_REPLAY_ARGS)
{
	struct bu_other_root was = *node->other;

	if (strcmp(was.step, body->fellback.step) != 0)
		return 0;
	bu_node_set_installed_image(node, was.image);
	bu_node_set_installed_digest(node, was.digest);
	bu_node_set_installed_step(node, was.step);
	bu_node_set_facets(node, was.facets);
	BU_TEXT_COPY(node->slot, was.slot);
	node->writing = node->kexecs = 0;
	bu_node_order(node)->written = bu_node_order(node)->installed = 0;
	bu_node_drop_other(node);
	bu_found_forget(node);
	return 0;
}
