/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption: a node whose agent shows a stamp (model/stamp.h) of a log that is not this
 * one goes on here as it runs. Called by the agents' API with each hello of an
 * installed system.
 */
#ifndef BU_NODE_ADOPT_H
#define BU_NODE_ADOPT_H

#include "model/stamp.h"
#include "provisioner/node/reconcile.h"

/* A hello. */
struct bu_adopt_ask {
	const char *peer,
		*cert; /* machine and fingerprint of a certificate of our CA */
	/* Whom the log knows as this machine; NULL = none. known: and its certificate.
	 */
	struct bu_node *node;
	int known;
	const json_t *settled; /* the stamp; NULL = none */
	const json_t *stamp;   /* of the install */
	const struct bu_inventory *inventory;
};

/* NOTHING: a node of this log, or one that this log has given up. GOOD: the stamp
 * counts, and is of a later log. BAD: it does not, or is missing; why says so. */
enum bu_adopt { BU_ADOPT_NOTHING, BU_ADOPT_GOOD, BU_ADOPT_BAD };
struct bu_adoption {
	enum bu_adopt is;
	struct bu_node *node; /* BAD: NULL = of no node of the profile */
	struct bu_stamp stamp;
	json_t *why; /* owned */
};
void bu_adopt_judge(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
		    struct bu_adoption *ret);
/* GOOD or BAD: adopts the node, or notes why not. BU_ERR_BUSY: it is adopted, or will
 * be when the fence opens: the agent says hello again. BU_ERR_DENIED: it is not. */
bu_must int bu_adopt_act(struct bu_reconcile *rec, const struct bu_adopt_ask *ask,
			 const struct bu_adoption *adoption, struct bu_err *err);
/* 1 = its agent has shown a good stamp in the last 10 minutes: it is to be adopted, and
 * gets no order. */
int bu_adopt_is_due(const struct bu_fleet *fleet, const struct bu_node *node);
/* 1 = row seq of epoch is later than row than_seq of than_epoch. */
static inline int
bu_adopt_is_later(int64_t epoch, int64_t seq, int64_t than_epoch, int64_t than_seq)
{
	return epoch != than_epoch ? epoch > than_epoch : seq > than_seq;
}

#endif
