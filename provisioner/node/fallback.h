/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes whose disk has two roots (images/install/roots.h): the content of the other
 * root, and the fallback of the boot loader to it.
 */
#ifndef BU_NODE_FALLBACK_H
#define BU_NODE_FALLBACK_H

#include "model/event_body.h"
#include "model/inventory.h"
#include "provisioner/node/reconcile.h"

/* 1 = the open order installs into the other root, beside the present system. */
int bu_fallback_stays(const struct bu_node *node);
/* 1 = the other root has this image and these facets and has come up before, and the
 * installed system is of another image: no image needs to be fetched.
 * bu_fallback_reuses(): the same for the image and facets of the order. */
int bu_fallback_has(const struct bu_node *node, const char *image, const char *facets);
int bu_fallback_reuses(const struct bu_node *node);

/* For replay, before the event changes the node. */
void bu_fallback_admitted(struct bu_node *node);
/* fingerprint NULL = all certificates. */
void bu_fallback_revoked(struct bu_node *node, const char *fingerprint);
/* The disk is overwritten as a whole: no other root is left. */
void bu_fallback_gone(struct bu_node *node);
void bu_fallback_installed(struct bu_node *node,
			   const struct bu_body_installed *installed);
void bu_fallback_booted(struct bu_node *node);

/* 1 = a system that may come back has this certificate; *ret_until_ms is its expiry. */
int bu_fallback_is_kept(const struct bu_node *node, const char *fingerprint,
			int64_t *ret_until_ms);
/* The certificate of the system that the loader falls back to, while the new system has
 * said hello and has not confirmed its root. NULL = confirmed, or no such system. */
const char *bu_fallback_trial(const struct bu_node *node);
/* 1 = a failed power action may have started the new system, which the loader tries
 * once. The node is not power-cycled until it is late. */
int bu_fallback_tries(const struct bu_reconcile *rec, const struct bu_node *node);
/* The agent asks for work, so its root is confirmed: revokes the certificate of the
 * system to which the loader would have fallen back. */
void bu_fallback_confirm(struct bu_reconcile *rec, struct bu_node *node,
			 const char *fingerprint);
/* A hello of the fallback system: the new system has failed. events: with room for
 * three more. */
bu_must int bu_fallback_hello(struct bu_reconcile *rec, struct bu_node *node,
			      const char *boot_id, struct bu_event *events,
			      size_t count, struct bu_err *err);

#endif
