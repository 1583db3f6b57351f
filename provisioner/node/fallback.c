/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the other root of a disk with two; called by agents.c and, of the
 * log's events, by replay_steps.c. What follows when a node comes up from it:
 * fallback_hello.c.
 * Invariant: the other root is one that its loader starts when the first one does not
 * come up, or it is said to be nothing.
 */
#include "provisioner/node/fallback.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/replay_impl.h"

int
bu_fallback_stays(const struct bu_node *node)
{
	return node->slot[0] && node->order.open &&
	       node->order.class == BU_CLASS_REIMAGE;
}

/* With other facets it has files that nobody would take away. */
int
bu_fallback_has(const struct bu_node *node, const char *image, const char *facets)
{
	const struct bu_other_root *other = &node->other;

	return other->step[0] && other->proven && strcmp(other->digest, image) == 0 &&
	       strcmp(other->facets, facets) == 0 &&
	       strcmp(node->installed_digest, image) != 0;
}

int
bu_fallback_reuses(const struct bu_node *node)
{
	return bu_fallback_has(node, node->order.image_digest, node->order.facets);
}

/* The certificate that counts then is that of the system that runs; of a second try it
 * would be the ramdisk's. */
void
bu_fallback_admitted(struct bu_node *node)
{
	struct bu_kept_cert *kept = &node->kept_cert;

	if (!bu_fallback_stays(node) || kept->fingerprint[0] || !node->proven)
		return;
	BU_TEXT_COPY(kept->fingerprint, node->agent_cert);
	BU_TEXT_COPY(kept->step, node->installed_step);
	kept->until_ms = node->agent_cert_until_ms;
}

void
bu_fallback_gone(struct bu_node *node)
{
	memset(&node->other, 0, sizeof(node->other));
	memset(&node->kept_cert, 0, sizeof(node->kept_cert));
}

/* What is written twice into one slot leaves the other one as it was. */
void
bu_fallback_installed(struct bu_node *node, const struct bu_body_installed *installed)
{
	const char *slot = installed->slot ? installed->slot : "";
	struct bu_other_root *other = &node->other;

	if (!installed->tried) {
		bu_fallback_gone(node);
	} else if (strcmp(slot, node->slot) != 0) {
		BU_TEXT_COPY(other->slot, node->slot);
		BU_TEXT_COPY(other->image, node->installed_image);
		BU_TEXT_COPY(other->digest, node->installed_digest);
		BU_TEXT_COPY(other->step, node->installed_step);
		BU_TEXT_COPY(other->facets, node->facets);
		other->proven = node->proven;
	}
	BU_TEXT_COPY(node->slot, slot);
	node->proven = 0;
}

/* It is the new system, or the one of before, which goes on with its certificate. */
void
bu_fallback_booted(struct bu_node *node)
{
	struct bu_kept_cert *kept = &node->kept_cert;

	node->proven = 1;
	if (kept->fingerprint[0] && strcmp(kept->step, node->installed_step) == 0) {
		BU_TEXT_COPY(node->agent_cert, kept->fingerprint);
		node->agent_cert_until_ms = kept->until_ms;
	}
	memset(kept, 0, sizeof(*kept));
}

/* What its other root holds now never came up. */
int
bu_replay_fellback(BU_REPLAY_ARGS)
{
	struct bu_other_root was = node->other;

	if (strcmp(was.step, body->fellback.step) != 0)
		return 0;
	BU_TEXT_COPY(node->installed_image, was.image);
	BU_TEXT_COPY(node->installed_digest, was.digest);
	BU_TEXT_COPY(node->installed_step, was.step);
	BU_TEXT_COPY(node->facets, was.facets);
	BU_TEXT_COPY(node->slot, was.slot);
	node->writing = node->kexecs = 0;
	node->order.written = node->order.installed = 0;
	memset(&node->other, 0, sizeof(node->other));
	return 0;
}

int
bu_fallback_is_kept(const struct bu_node *node, const char *fingerprint,
		    int64_t *ret_until_ms)
{
	const struct bu_kept_cert *kept = &node->kept_cert;

	*ret_until_ms = kept->until_ms;
	return kept->fingerprint[0] && strcmp(kept->fingerprint, fingerprint) == 0;
}
