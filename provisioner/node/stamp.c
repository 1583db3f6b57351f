/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes stamps of what the log knows. Called by the agents' API with each answer.
 * Invariant: the stamp of a boot is told before the node joins in that boot, so a node
 * that may run jobs has one that says so.
 */
#include "provisioner/node/stamp.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/stamp.h"
#include "provisioner/node/membership.h"
#include "provisioner/node/reconcile_impl.h"

static int
is_told(const struct bu_node *node)
{
	return (node->state == BU_STATE_JOINING ||
		bu_state_info(node->state)->settled) &&
	       node->boot_installed && node->installed_step[0] && !node->ram &&
	       node->machine[0] && node->agent_cert[0] && !node->agent_revoked;
}

/* The cluster that the node is in, or is about to join. */
static void
add_cluster(struct bu_fleet *fleet, const struct bu_node *node, struct bu_stamp *stamp)
{
	const struct bu_desired_node *want = bu_fleet_ordered(fleet, node);
	struct bu_joined joined = *node->joined;

	if (node->state == BU_STATE_JOINING && want && want->cluster)
		bu_membership_joined(want, &joined);
	if (node->called[0] && !node->joined->cluster[0])
		BU_TEXT_COPY(joined.node, node->called);
	BU_TEXT_COPY(stamp->cluster, joined.cluster);
	BU_TEXT_COPY(stamp->driver, joined.driver);
	BU_TEXT_COPY(stamp->handle, joined.handle);
	BU_TEXT_COPY(stamp->member, joined.node);
}

static void
make(struct bu_fleet *fleet, const struct bu_node *node, struct bu_stamp *ret)
{
	int joins = node->state == BU_STATE_JOINING;
	const char *revision = node->order->revision;

	*ret = (struct bu_stamp){.cert_until_ms = node->agent_cert_until_ms,
				 .next_until_ms = node->agent_cert_next_until_ms,
				 .raw = node->raw,
				 .epoch = fleet->epoch};
	if (fleet->desired)
		BU_TEXT_COPY(ret->site, fleet->desired->site.name);
#define COPY(field, text) BU_TEXT_COPY(ret->field, text)
	COPY(node, node->name);
	COPY(machine, node->machine);
	COPY(cert, node->agent_cert);
	COPY(next, node->agent_cert_next);
	COPY(state, bu_state_name(joins ? BU_STATE_READY : node->state));
	COPY(step, node->installed_step);
	COPY(image, node->installed_image);
	COPY(digest, node->installed_digest);
	COPY(slot, node->slot);
	COPY(facets, node->facets);
	COPY(commit, node->commit);
	COPY(revision, *revision ? revision : fleet->revision);
	COPY(called, node->called);
	COPY(boot_id, node->boot_id);
	COPY(full, node->full_cert);
	COPY(boot, node->boot_cert);
#undef COPY
	add_cluster(fleet, node, ret);
	bu_stamp_set_of(ret);
}

static int
attach(struct bu_fleet *fleet, json_t *document, const char *name, const char *digest,
       struct bu_err *err)
{
	bu_autofree char *text = NULL;

	if (!*digest)
		return 0;
	text = bu_store_get_blob(fleet->store, digest, err);
	return text ? json_object_set_new(document, name, json_string(text)) : -1;
}

json_t *
bu_stamp_tell(struct bu_reconcile *rec, const struct bu_node *node, const char *of)
{
	struct bu_fleet *fleet = rec->fleet;
	bu_autojson json_t *body = NULL, *document = NULL;
	struct bu_err err = {0};
	struct bu_stamp stamp;
	struct bu_chain end;

	if (!is_told(node) || !fleet->epochs_count)
		return NULL;
	make(fleet, node, &stamp);
	if (strcmp(stamp.of, of) == 0)
		return NULL;
	bu_store_end(fleet->store, &end);
	stamp.seq = end.seq;
	stamp.time_ms = bu_wall_ms(bu_loop_clock(fleet->loop));
	body = bu_stamp_to_json(&stamp);
	document = bu_trust_sign(rec->trust, body, &err);
	if (document)
		bu_ignore(attach(fleet, document, "facets", stamp.facets, &err));
	if (document && attach(fleet, document, "full", stamp.full, &err) == 0 &&
	    attach(fleet, document, "boot", stamp.boot, &err) == 0)
		return bu_steal(&document);
	bu_warn("stamp", "%s gets no stamp: %s", node->name, err.text);
	return NULL;
}
