/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proof of a boot: what a machine itself has asked for since its boot was ordered,
 * each with its time. A machine is where its requests say, not where its BMC says.
 */
#ifndef BU_NODE_PROOF_H
#define BU_NODE_PROOF_H

#include "provisioner/node/reconcile.h"

/* id, what it did, what has not come after it */
#define BU_PROOF_LINKS(X)                                                              \
	X(MEDIUM, "its BMC read the boot medium", "its agent has not called")          \
	X(SCRIPT, "asked for its boot script", "it has not asked for the kernel")      \
	X(KERNEL, "asked for the kernel", "it has not asked for the ramdisk")          \
	X(RAMDISK, "asked for the ramdisk", "its agent has not called")                \
	X(TOKEN, "traded its token", "its agent has not said hello")                   \
	X(HELLO, "its agent said hello", "")                                           \
	X(DISK, "was sent to its disk", "its agent has not called")

enum bu_proof_link {
#define X(id, done, missing) BU_PROOF_##id,
	BU_PROOF_LINKS(X)
#undef X
		BU_PROOF_COUNT
};
_Static_assert((int)BU_PROOF_COUNT == (int)BU_BOOT_LINKS, "node.h keeps them");

/* A request of the machine of this node; address: from where, "" = not known. What came
 * after it in an earlier round is forgotten: it has begun again. */
void bu_proof_note(struct bu_reconcile *rec, struct bu_node *node,
		   enum bu_proof_link link, const char *address);
/* Another host has asked for its script, or shown its token. */
void bu_proof_stranger(struct bu_reconcile *rec, struct bu_node *node,
		       const char *address, const char *mac);
/* A host that cannot be its machine claims to be it, which is a condition of the node;
 * mac: "" = it was not seen on its wire. */
void bu_proof_claimed(struct bu_reconcile *rec, struct bu_node *node,
		      const char *address, const char *mac);
/* As bu_rival_fn; arg: struct bu_reconcile. Another DHCP server answers in the boot
 * network; "" = none does. */
void bu_proof_rival(const char *address, void *arg);
/* As bu_unserved_fn; arg: struct bu_reconcile. What the firmware of a machine asks for
 * while it is being booted, and there is no loader for it. */
void bu_proof_unserved(const char *mac, const char *asks, void *arg);
/* The node whose machine got its script at this address last; NULL = none. */
struct bu_node *bu_proof_of(const struct bu_fleet *fleet, const char *address);

#endif
