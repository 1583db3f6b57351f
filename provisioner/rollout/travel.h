/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which agent runs where. The appliance serves the agent of its own version
 * (images/bundle.h); nodes that have another one change over, one after the other, in
 * service and with their jobs. They do so only at rest: not while they are installed,
 * measured or soaked, have a step or an order under way, are held or in a person's
 * hands.
 *
 * Of a pool one node goes first, alone, until its trial has ended well; then a tenth of
 * them at a time. No limit of a rollout counts here, because no node leaves its
 * cluster. One node on which the new agent fails ends it for all nodes, for a day,
 * until a person releases that node or until the appliance serves another one: the log
 * knows it, and the node's `why` says it.
 */
#ifndef BU_ROLLOUT_TRAVEL_H
#define BU_ROLLOUT_TRAVEL_H

#include "images/bundle.h"
#include "model/work.h"
#include "provisioner/node/reconcile.h"

enum {
	BU_TRAVELS_SHARE = 10, /* one of so many nodes of a pool at a time */
	BU_TRAVELS_MAX = 64,
	BU_TRAVELS_ITEM_MS = 3 * 60 * 1000,  /* who is silent for longer is missed */
	BU_TRAVELS_AWAY_MS = 10 * 60 * 1000, /* who is not heard of then has failed */
	BU_TRAVELS_STOP_MS = 24 * 3600 * 1000,
};

struct bu_travels;

/* dir: the bundle's folder; key: path of the public keys that sign it; version: the
 * appliance's own. A bundle of another version is not served. Texts are borrowed. */
struct bu_travels_opts {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const char *dir, *key, *version;
};
struct bu_travels *bu_travels_create(const struct bu_travels_opts *opts);
void bu_travels_destroy(struct bu_travels *travels);

/* What is served: looked at again when it is another one on the disk. */
struct bu_offer {
	const struct bu_bundle *bundle; /* NULL: none is; why */
	const char *key;                /* public, PEM */
	const char *why;
};
void bu_travels_offer(struct bu_travels *travels, struct bu_offer *ret);

/* Its hello has said which agent it has; said may be NULL: one of before. A trial that
 * failed is on its way to the log then. BU_ERR_INVAL. */
bu_must int bu_travels_hello(struct bu_travels *travels, struct bu_node *node,
			     const json_t *said, struct bu_err *err);
/* Has it its turn? It counts as asked then. */
int bu_travels_turn(struct bu_travels *travels, struct bu_node *node);
/* Id and attempt of the item that tells it so; the id is *ret_id, owned. -1: nothing is
 * served. */
bu_must int bu_travels_work(struct bu_travels *travels, const struct bu_node *node,
			    struct bu_work *ret, char **ret_id);
/* Its word on that, before it starts the new one; NULL = it does. After a failure it
 * waits a minute. */
void bu_travels_result(struct bu_travels *travels, struct bu_node *node, const char *id,
		       const struct bu_err *failure);

/* {"version","digest" ("" = none is served),"have","others","changing":[node],
 * "trouble" ("" = none)}, of nodes that have said which they have. New reference. */
json_t *bu_travels_json(struct bu_travels *travels);

#endif
