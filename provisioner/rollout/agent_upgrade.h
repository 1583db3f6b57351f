/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates of agents. The appliance serves the agent of its own version
 * (images/bundle.h). Nodes with another agent change over in service, with their jobs,
 * and only at rest: not while they are installed, measured or soaked, have a step or an
 * order under way, are held or in a person's hands.
 *
 * In each pool one node changes first, until its trial has ended well. Then a tenth of
 * the pool changes at a time. Limits of rollouts do not count: no node leaves its
 * cluster. A node on which the new agent fails stops the change for all nodes, for one
 * day, until a person releases that node, or until the appliance serves another agent.
 * The log has the failure, and the node's `why` shows it.
 */
#ifndef BU_ROLLOUT_AGENT_UPGRADE_H
#define BU_ROLLOUT_AGENT_UPGRADE_H

#include "images/bundle.h"
#include "model/work.h"
#include "provisioner/node/reconcile.h"

enum {
	BU_AGENT_UPGRADES_SHARE = 10, /* a tenth of a pool's nodes at a time */
	BU_AGENT_UPGRADES_MAX = 64,
	BU_AGENT_UPGRADES_ITEM_MS = 3 * 60 * 1000,  /* deadline of the agent's work */
	BU_AGENT_UPGRADES_AWAY_MS = 10 * 60 * 1000, /* silence that is a failure */
	BU_AGENT_UPGRADES_STOP_MS = 24 * 3600 * 1000,
};

struct bu_agent_upgrades;

/* dir: the bundle's folder. key: path of the public keys that sign the bundle. version:
 * the appliance's own; a bundle of another version is not served. Texts are borrowed.
 */
struct bu_agent_upgrades_opts {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const char *dir, *key, *version;
};
struct bu_agent_upgrades *bu_agent_upgrades_create(
	const struct bu_agent_upgrades_opts *opts);
void bu_agent_upgrades_destroy(struct bu_agent_upgrades *upgrades);

/* The served bundle; read again when it changes on disk. */
struct bu_offer {
	const struct bu_bundle *bundle; /* NULL = none; see why */
	const char *key;                /* public, PEM */
	const char *why;
};
void bu_agent_upgrades_offer(struct bu_agent_upgrades *upgrades, struct bu_offer *ret);

/* Takes the agent's version from a hello; said may be NULL: an agent that sends none.
 * Logs a trial that failed. BU_ERR_INVAL. */
bu_must int bu_agent_upgrades_hello(struct bu_agent_upgrades *upgrades,
				    struct bu_node *node, const json_t *said,
				    struct bu_err *err);
/* Is it the node's turn? Then it counts as asked. */
int bu_agent_upgrades_turn(struct bu_agent_upgrades *upgrades, struct bu_node *node);
/* Makes the id and attempt of the work that asks for the change; the id is *ret_id,
 * owned. -1 = nothing is served. */
bu_must int bu_agent_upgrades_work(struct bu_agent_upgrades *upgrades,
				   const struct bu_node *node, struct bu_work *ret,
				   char **ret_id);
/* The agent's result before it starts the new one; failure NULL = it starts. After a
 * failure the node waits for 60 s. */
void bu_agent_upgrades_result(struct bu_agent_upgrades *upgrades, struct bu_node *node,
			      const char *id, const struct bu_err *failure);

/* {"version","digest" ("" = none is served),"have","others","changing":[node],
 * "trouble" (a reason; missing = none)}, of nodes that have told their agent. New
 * reference. */
json_t *bu_agent_upgrades_json(struct bu_agent_upgrades *upgrades);

#endif
