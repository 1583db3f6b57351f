/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address of the boot medium that a BMC is given, for a node whose hardware class
 * says boot = media. Called by effects.c, verbs_power.c and eject.c. Invariant: the
 * address is valid only until the ordered boot is admitted.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "provisioner/node/reconcile_impl.h"

enum { SECRET_LENGTH = 32 };

void
bu_medium_secret(const struct bu_trust *trust, const struct bu_node *node,
		 char ret[BU_DIGEST_SIZE])
{
	char token[BU_DIGEST_SIZE];
	bu_autofree char *what = NULL;

	bu_trust_token(trust, node->step.id, node->step.attempt, token);
	what = bu_xasprintf("medium|%s", token);
	bu_sha256_hex(what, strlen(what), ret);
	ret[SECRET_LENGTH] = '\0';
}

void
bu_medium_bmc(const struct bu_reconcile *rec, const struct bu_node *node,
	      struct bu_node_bmc *ret)
{
	char secret[BU_DIGEST_SIZE];

	bu_node_bmc(rec->fleet, node, ret);
	if (!rec->media_url || !bu_medium_is(bu_fleet_reach(rec->fleet, node)))
		return;
	snprintf(ret->media_dir, sizeof(ret->media_dir), "%s" BU_MEDIUM_PATH "%s/",
		 rec->media_url, node->name);
	ret->bmc.media_dir = ret->media_dir;
	if (!bu_reconcile_boots(node))
		return;
	bu_medium_secret(rec->trust, node, secret);
	snprintf(ret->medium, sizeof(ret->medium), "%s%s.iso", ret->media_dir, secret);
	ret->bmc.media = ret->medium;
}
