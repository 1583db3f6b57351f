/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of a boot: the machine's own requests since its boot was ordered, each with
 * its time. The requests say how far the machine is, not its BMC.
 */
#ifndef BU_NODE_PROOF_H
#define BU_NODE_PROOF_H

#include "model/boot_link.h"
#include "provisioner/node/reconcile.h"

_Static_assert((int)BU_PROOF_COUNT == (int)BU_BOOT_LINKS, "node.h keeps them");

/* A request of the node's machine. address "" = not known. Later links of an earlier
 * round are cleared: the boot has begun again. */
void bu_proof_note(struct bu_reconcile *rec, struct bu_node *node,
		   enum bu_proof_link link, const char *address);
/* Another host asked for the node's boot script or showed its token. */
void bu_proof_stranger(struct bu_reconcile *rec, struct bu_node *node,
		       const char *address, const char *mac);
/* A host that cannot be the node's machine claims to be it; sets a condition of the
 * node. mac "" = not seen on the boot network's wire. */
void bu_proof_claimed(struct bu_reconcile *rec, struct bu_node *node,
		      const char *address, const char *mac);
/* A bu_rival_fn; arg: struct bu_reconcile. Address of another DHCP server in the boot
 * network; "" = none. */
void bu_proof_rival(const char *address, void *arg);
/* A bu_unserved_fn; arg: struct bu_reconcile. Firmware of a machine that is being
 * booted asks for a loader that is missing. */
void bu_proof_unserved(const char *mac, const char *asks, void *arg);
/* The node whose present boot made its last request from this address; NULL = none. */
struct bu_node *bu_proof_of(const struct bu_fleet *fleet, const char *address);

#endif
