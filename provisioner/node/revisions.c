/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The revision by which a node's order is carried out: its own, from its turn to its
 * end, whatever is applied meanwhile. Asked by the code that renders a step. Invariant:
 * besides the applied revision, only those of begun orders and of systems in memory are
 * kept in memory; each is read when it is asked for.
 */
#include "provisioner/node/revisions.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "profiles/load/load.h"

struct bu_desired *
bu_revision_load(const struct bu_fleet *fleet, const char *digest, struct bu_err *err)
{
	bu_autofree char *text = bu_store_get_blob(fleet->store, digest, err);
	bu_autojson json_t *value = NULL;
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree;

	if (!text)
		return NULL;
	value = bu_json_parse(text, strlen(text), "revision", err);
	tree = value ? bu_tree_from_json(value, err) : NULL;
	if (!tree)
		return NULL;
	desired = bu_profiles_load(tree, &findings);
	if (!desired)
		bu_findings_err(&findings, err);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

static struct bu_revision *
find(const struct bu_fleet *fleet, const char *digest)
{
	struct bu_revision *revision = fleet->revisions;

	while (revision && strcmp(revision->digest, digest) != 0)
		revision = revision->next;
	return revision;
}

void
bu_revisions_hold(struct bu_fleet *fleet, const char *digest)
{
	struct bu_revision *revision = find(fleet, digest);

	if (!revision) {
		revision = bu_xcalloc(1, sizeof(*revision));
		bu_text_copy(revision->digest, sizeof(revision->digest), digest);
		revision->next = fleet->revisions;
		fleet->revisions = revision;
	}
	revision->orders++;
}

void
bu_revisions_drop(struct bu_fleet *fleet, const char *digest)
{
	struct bu_revision **link = &fleet->revisions, *revision = find(fleet, digest);

	bu_assert(revision);
	if (--revision->orders > 0)
		return;
	while (*link != revision)
		link = &(*link)->next;
	*link = revision->next;
	bu_desired_destroy(revision->desired);
	free(revision);
}

void
bu_revisions_install(struct bu_fleet *fleet, struct bu_node *node, const char *digest)
{
	char old[65];

	BU_TEXT_COPY(old, node->installed_revision);
	if (*digest)
		bu_revisions_hold(fleet, digest);
	bu_node_set_installed_revision(node, digest);
	if (*old)
		bu_revisions_drop(fleet, old);
}

void
bu_revisions_apply(struct bu_fleet *fleet, const char *digest,
		   struct bu_desired *desired)
{
	struct bu_revision *old = find(fleet, fleet->revision);
	struct bu_revision *new = find(fleet, digest);

	if (old && old != new && !old->desired)
		old->desired = bu_steal(&fleet->desired);
	if (new)
		bu_desired_destroy(bu_steal(&new->desired));
	bu_desired_destroy(fleet->desired);
	bu_desired_destroy(bu_steal(&fleet->last));
	fleet->desired = desired;
	bu_text_copy(fleet->revision, sizeof(fleet->revision), digest);
}

/* "" = the applied revision: the order has not begun, or there is none. */
static const char *
digest_of(const struct bu_node *node)
{
	const struct bu_order *order = node->order;

	return order->open && order->begun ? order->revision : "";
}

static int
is_applied(const struct bu_fleet *fleet, const char *digest)
{
	return fleet->desired && strcmp(digest, fleet->revision) == 0;
}

/* A revision that cannot be read is not tried again: the log does not change it. */
static const struct bu_desired *
state_of(const struct bu_fleet *fleet, struct bu_revision *revision)
{
	if (is_applied(fleet, revision->digest))
		return fleet->desired;
	if (!revision->desired && revision->unread.kind == BU_ERR_NONE)
		revision->desired =
			bu_revision_load(fleet, revision->digest, &revision->unread);
	return revision->desired;
}

static const struct bu_desired *
kept(struct bu_fleet *fleet, const struct bu_node *node, struct bu_err *err)
{
	struct bu_revision *revision = find(fleet, digest_of(node));
	const struct bu_desired *desired;

	bu_assert(revision); /* held since the order began */
	desired = state_of(fleet, revision);
	if (desired)
		return desired;
	if (err)
		*err = revision->unread;
	bu_err_wrap(err, "revision %.12s, by which rollout %s changes %s",
		    revision->digest, node->order->rollout, node->name);
	return NULL;
}

int
bu_fleet_target(struct bu_fleet *fleet, const struct bu_node *node,
		struct bu_target *ret, struct bu_err *err)
{
	struct bu_target target = {.desired = fleet->desired};

	if (*digest_of(node) && !is_applied(fleet, digest_of(node))) {
		target.desired = kept(fleet, node, err);
		if (!target.desired)
			return -1;
	}
	if (target.desired)
		target.node = bu_desired_node(target.desired, node->name);
	if (!target.node)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "the %s profile has no node %s",
				  *digest_of(node) ? "ordered" : "applied", node->name);
	*ret = target;
	return 0;
}

const struct bu_desired_node *
bu_fleet_ordered(struct bu_fleet *fleet, const struct bu_node *node)
{
	struct bu_target target;

	return bu_fleet_target(fleet, node, &target, NULL) == 0 ? target.node : NULL;
}

const struct bu_desired *
bu_fleet_state(struct bu_fleet *fleet, size_t index)
{
	if (fleet->desired && index-- == 0)
		return fleet->desired;
	for (struct bu_revision *revision = fleet->revisions; revision;
	     revision = revision->next) {
		const struct bu_desired *desired = state_of(fleet, revision);

		if (desired && desired != fleet->desired && index-- == 0)
			return desired;
	}
	return NULL;
}

const struct bu_desired_image *
bu_fleet_installed_image(struct bu_fleet *fleet, const struct bu_node *node)
{
	struct bu_revision *revision = find(fleet, node->installed_revision);
	const struct bu_desired *desired =
		revision ? state_of(fleet, revision) : fleet->desired;

	return desired ? bu_desired_image(desired, node->installed_image) : NULL;
}
