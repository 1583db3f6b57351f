/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The appliance's signed words about itself and this node: the greatest epoch
 * that this agent has heard of, as the newest anchor of the log, which proves the epoch
 * to another appliance; and the node's stamp, by which another appliance adopts the
 * node.
 */
#ifndef BU_AGENT_HEARD_H
#define BU_AGENT_HEARD_H

#include "agent/identity.h"
#include "model/anchor.h"
#include "model/stamp.h"

struct bu_heard {
	char *path;              /* owned; NULL = in memory alone */
	json_t *document;        /* as it was told; NULL = none was */
	struct bu_anchor newest; /* what it says; epoch 0 = none was told */
	char *settled_path;      /* owned; NULL = in memory alone */
	json_t *settled;         /* the stamp as it was told; NULL = none was */
	char settled_of[65];     /* `of` of that; "" = none */
	char *ca_path;           /* owned; NULL = it takes no other CA */
	char ca[65];             /* digest of the CAs that are trusted; "" = unknown */
	int renew;               /* the appliance wants our certificate renewed now */
};

/* Installed: what is kept beside the key. A file that is damaged counts as none. */
void bu_heard_load(struct bu_heard *heard, const struct bu_identity *identity);
void bu_heard_fini(struct bu_heard *heard);
/* Is this answer, with "epoch" and perhaps "anchor", "stamp", "ca" and "renew", of an
 * appliance that may give us work? BU_ERR_STATE: its epoch is lower than one that we
 * have heard of. Else its anchor, its stamp and its CAs are kept; connections that
 * begin from then on are checked by those. */
bu_must int bu_heard_answer(struct bu_heard *heard, const json_t *answer,
			    struct bu_err *err);

#endif
