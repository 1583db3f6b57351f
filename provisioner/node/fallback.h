/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose disk has two roots: what the other one holds, and that its loader went
 * back to it. See images/install/roots.h.
 */
#ifndef BU_NODE_FALLBACK_H
#define BU_NODE_FALLBACK_H

#include "model/event_body.h"
#include "model/inventory.h"
#include "provisioner/node/reconcile.h"

/* What its open order installs goes beside the system that it has. */
int bu_fallback_stays(const struct bu_node *node);
/* The other root is of this image and was made with these facets, it has come up
 * before, and the one that runs is of another image: nothing has to be fetched. Of what
 * was ordered likewise. */
int bu_fallback_has(const struct bu_node *node, const char *image, const char *facets);
int bu_fallback_reuses(const struct bu_node *node);

/* Of the log's events, before they change the node. */
void bu_fallback_admitted(struct bu_node *node);
/* fingerprint NULL: all of them. */
void bu_fallback_revoked(struct bu_node *node, const char *fingerprint);
/* The disk is written whole: there is no other root. */
void bu_fallback_gone(struct bu_node *node);
void bu_fallback_installed(struct bu_node *node,
			   const struct bu_body_installed *installed);
void bu_fallback_booted(struct bu_node *node);

/* 1 when this is the fingerprint of a certificate that still counts for a system that
 * may come back; *ret_until_ms when it ends. */
int bu_fallback_is_kept(const struct bu_node *node, const char *fingerprint,
			int64_t *ret_until_ms);
/* Its system has said hello, and its root is not confirmed: the fingerprint of the one
 * that its loader goes back to. NULL = it is, or there is none. */
const char *bu_fallback_trial(const struct bu_node *node);
/* A power action has failed that may have started its new system, which is tried once:
 * it is not power-cycled before it is late. */
int bu_fallback_tries(const struct bu_reconcile *rec, const struct bu_node *node);
/* Its agent asks for work, which says that its root is confirmed: the system that its
 * loader would have gone back to speaks for the node no more. */
void bu_fallback_confirm(struct bu_reconcile *rec, struct bu_node *node,
			 const char *fingerprint);
/* That system says hello: what was to come up has failed. events: with room for three
 * more. */
bu_must int bu_fallback_hello(struct bu_reconcile *rec, struct bu_node *node,
			      const char *boot_id, struct bu_event *events,
			      size_t count, struct bu_err *err);

#endif
