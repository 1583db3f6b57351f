/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of a boot, from the script to the agent's hello. api/boot.c reports files;
 * token and hello are in the log. reconcile.c asks once a second which link a node
 * waits for, why.c for the chain. Invariants: only links of the present step and
 * attempt are shown; fetched files are facts of memory, so after a restart only token
 * and hello are known, and the words say so.
 */
#include "provisioner/node/proof.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/twins.h"

static const struct {
	const char *done, *missing;
} links[BU_PROOF_COUNT] = {
#define X(id, done, missing) [BU_PROOF_##id] = {done, missing},
	BU_PROOF_LINKS(X)
#undef X
};

static int64_t
wall_ms(const struct bu_reconcile *rec)
{
	return bu_wall_ms(bu_loop_clock(rec->fleet->loop));
}

/* Is the machine being booted, or was it booted and is waited for? */
static int
is_booting(const struct bu_node *node)
{
	if (node->step.status != BU_STEP_OPEN && node->step.status != BU_STEP_DONE)
		return 0;
	return (node->state == BU_STATE_INSPECTING &&
		node->step.action == BU_ACTION_NETBOOT) ||
	       (node->state == BU_STATE_BOOTING &&
		(node->step.action == BU_ACTION_DISKBOOT ||
		 node->step.action == BU_ACTION_NETBOOT));
}

static int
is_of_step(const struct bu_node *node)
{
	const struct bu_boot_proof *proof = node->live.boot;

	return strcmp(proof->step, node->step.id) == 0 &&
	       proof->attempt == node->step.attempt;
}

/* Links from before the step began are not of this boot. */
static struct bu_boot_proof *
proof_of_step(struct bu_node *node)
{
	struct bu_boot_proof *proof = bu_node_boot(node);

	if (!is_of_step(node)) {
		memset(proof, 0, sizeof(*proof));
		bu_text_copy(proof->step, sizeof(proof->step), node->step.id);
		proof->attempt = node->step.attempt;
	}
	return proof;
}

void
bu_proof_note(struct bu_reconcile *rec, struct bu_node *node, enum bu_proof_link link,
	      const char *address)
{
	struct bu_boot_proof *proof;

	if (!is_booting(node))
		return;
	proof = proof_of_step(node);
	/* A file comes in several requests; the first one is its time. */
	if (link != BU_PROOF_SCRIPT && link != BU_PROOF_DISK && proof->at_ms[link])
		return;
	for (int after = link; after < BU_PROOF_COUNT; after++)
		proof->at_ms[after] = 0;
	proof->at_ms[link] = wall_ms(rec);
	proof->unserved[0] = '\0';
	bu_text_copy(proof->address, sizeof(proof->address), address);
	bu_proof_look(rec, node);
	bu_fleet_touch(rec->fleet, node);
}

/* Another node for which the same NIC asked from another address; NULL = none. */
static const struct bu_boot_proof *
twin_of(const struct bu_reconcile *rec, const struct bu_boot_proof *proof)
{
	for (size_t i = 0; i < rec->fleet->count; i++) {
		const struct bu_node *node = rec->fleet->nodes[i];
		const struct bu_boot_proof *other = node->live.boot;

		if (other->stranger_ms && *other->stranger_mac && is_of_step(node) &&
		    strcmp(other->stranger_mac, proof->stranger_mac) == 0 &&
		    strcmp(other->stranger, proof->stranger) != 0)
			return other;
	}
	return NULL;
}

/* Advice on a NIC that answers for two hosts; owned, NULL = it answers for one. */
static char *
proxy_words(const struct bu_reconcile *rec, const struct bu_boot_proof *proof)
{
	const struct bu_boot_proof *other = twin_of(rec, proof);

	if (!other)
		return NULL;
	return bu_xasprintf("the card with MAC %s answers for %s and %s in the boot "
			    "network: if it is a router or a switch, switch proxy ARP "
			    "off there, else look for that host",
			    proof->stranger_mac, proof->stranger, other->stranger);
}

void
bu_proof_claimed(struct bu_reconcile *rec, struct bu_node *node, const char *address,
		 const char *mac)
{
	node->live.claimed_ms = bu_loop_now_ms(rec->fleet->loop);
	snprintf(node->live.claimed_by, sizeof(node->live.claimed_by), "%s (%s%s)",
		 address, *mac ? "MAC " : "not on its wire", mac);
}

void
bu_proof_stranger(struct bu_reconcile *rec, struct bu_node *node, const char *address,
		  const char *mac)
{
	struct bu_boot_proof *proof = proof_of_step(node);
	bu_autofree char *proxy = NULL;

	bu_text_copy(proof->stranger, sizeof(proof->stranger), address);
	bu_text_copy(proof->stranger_mac, sizeof(proof->stranger_mac), mac);
	proof->stranger_ms = wall_ms(rec);
	bu_proof_claimed(rec, node, address, mac);
	bu_fleet_touch(rec->fleet, node);
	proxy = strcmp(rec->proxy, mac) != 0 ? proxy_words(rec, proof) : NULL;
	if (!proxy)
		return;
	bu_text_copy(rec->proxy, sizeof(rec->proxy), mac);
	bu_warn("boot", "%s", proxy);
}

struct bu_node *
bu_proof_of(const struct bu_fleet *fleet, const char *address)
{
	for (size_t i = 0; *address && i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (strcmp(node->live.boot->address, address) == 0 && is_booting(node) &&
		    is_of_step(node))
			return node;
	}
	return NULL;
}

/* By link; 0 = not seen. Token and hello are from the log. */
static void
times_of(const struct bu_node *node, int64_t ret_ms[BU_PROOF_COUNT])
{
	int current = is_of_step(node) || !is_booting(node);

	memset(ret_ms, 0, BU_PROOF_COUNT * sizeof(*ret_ms));
	if (current)
		memcpy(ret_ms, node->live.boot->at_ms, BU_PROOF_COUNT * sizeof(*ret_ms));
	if (node->step.action == BU_ACTION_NETBOOT &&
	    strcmp(node->admitted_step, node->step.id) == 0)
		ret_ms[BU_PROOF_TOKEN] = node->admitted_ms;
	if (!is_booting(node) && node->state == BU_STATE_IMAGING) {
		ret_ms[BU_PROOF_TOKEN] = node->admitted_ms;
		ret_ms[BU_PROOF_HELLO] = node->booted_ms;
	}
}

/* The last link that was seen; BU_PROOF_COUNT = none. */
static int
last_of(const int64_t at_ms[BU_PROOF_COUNT])
{
	int last = BU_PROOF_COUNT;

	for (int link = 0; link < BU_PROOF_COUNT; link++)
		if (at_ms[link])
			last = link;
	return last;
}

static int
is_new_process(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->step.intent_seq <= rec->fleet->loaded_seq;
}

void
bu_proof_rival(const char *address, void *arg)
{
	struct bu_reconcile *rec = arg;

	bu_text_copy(rec->rival, sizeof(rec->rival), address);
}

void
bu_proof_unserved(const char *mac, const char *asks, void *arg)
{
	struct bu_reconcile *rec = arg;
	struct bu_node *node = bu_fleet_node_by_mac(rec->fleet, mac);

	if (!node)
		node = bu_twins_by_mac(rec->fleet, mac);
	if (!node || !is_booting(node))
		return;
	bu_text_copy(proof_of_step(node)->unserved, sizeof(node->live.boot->unserved),
		     asks);
	bu_proof_look(rec, node);
}

/* Why the machine may not have asked; owned. */
static char *
missing_words(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (is_of_step(node) && node->live.boot->unserved[0])
		return bu_xasprintf("its firmware asks for architecture %s, for which "
				    "there is no loader: see bringupd's log and "
				    "docs/boot.md",
				    node->live.boot->unserved);
	if (!rec->rival[0])
		return bu_xstrdup("");
	return bu_xasprintf("another DHCP server (%s) answers in the boot network and "
			    "may have sent it elsewhere",
			    rec->rival);
}

static int
boots_medium(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);

	return want && node->step.action == BU_ACTION_NETBOOT && bu_medium_is(want);
}

/* Words for a boot without a link so far. */
static const char *
nothing_yet(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (is_new_process(rec, node))
		return "nothing was seen of its boot since bringupd started";
	if (node->on == BU_TRIGGER_LOADS)
		return "its ramdisk loads its system into memory";
	if (node->kexecs)
		return "its ramdisk starts the installed system by kexec";
	/* A boot from disk need not fetch anything. */
	if (node->step.action == BU_ACTION_DISKBOOT)
		return "it was started from its disk, and its agent has not called";
	if (boots_medium(rec, node))
		return "its BMC has not read the boot medium";
	return "its machine has not asked for its boot script";
}

static void
waits_for(const struct bu_reconcile *rec, const struct bu_node *node,
	  struct bu_reason *ret)
{
	bu_autofree char *seen = NULL;
	int64_t at_ms[BU_PROOF_COUNT];
	char time[24];
	int last;

	times_of(node, at_ms);
	last = last_of(at_ms);
	if (last == BU_PROOF_COUNT) {
		bu_autofree char *missing = missing_words(rec, node);

		BU_REASON_SET(ret, NOT_CALLED,
			      .text = {nothing_yet(rec, node), missing});
		return;
	}
	bu_time_iso(at_ms[last], time);
	seen = bu_xasprintf("%s at %s", links[last].done, time);
	BU_REASON_SET(ret, NOT_CALLED, .text = {seen, links[last].missing});
}

void
bu_proof_look(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_reason *says = &node->live.says;
	struct bu_reason before = *says;
	int ours = says->code == BU_REASON_NONE || says->code == BU_REASON_NOT_CALLED ||
		   (says->code == BU_REASON_BMC_REFUSES &&
		    node->step.status != BU_STEP_FAILED);

	if (!ours)
		return;
	/* A machine that was refused has called. */
	if (is_booting(node) && !node->hold->owner && !node->live.refusal.code)
		waits_for(rec, node, says);
	else
		*says = (struct bu_reason){0};
	if (!bu_reason_same(&before, says))
		bu_fleet_touch(rec->fleet, node);
}

static void
add_stranger(char **text, const struct bu_reconcile *rec,
	     const struct bu_boot_proof *proof)
{
	bu_autofree char *proxy = proxy_words(rec, proof);

	bu_text_add(text, "\n",
		    "another host, %s (%s%s), asked for its boot script or showed its "
		    "token %lld s ago and was refused",
		    proof->stranger, *proof->stranger_mac ? "MAC " : "not on its wire",
		    proof->stranger_mac,
		    (long long)(wall_ms(rec) - proof->stranger_ms) / 1000);
	if (proxy)
		bu_text_add(text, "\n", "%s", proxy);
}

char *
bu_proof_words(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t at_ms[BU_PROOF_COUNT], now_ms = wall_ms(rec);
	const struct bu_boot_proof *proof = node->live.boot;
	char *text = NULL;
	int last;

	times_of(node, at_ms);
	last = last_of(at_ms);
	for (int link = 0; link < BU_PROOF_COUNT; link++)
		if (at_ms[link])
			bu_text_add(&text, ", ", "%s%s %lld s ago",
				    text ? "" : "its boot: ", links[link].done,
				    (long long)(now_ms - at_ms[link]) / 1000);
	if (text && proof->address[0])
		bu_text_add(&text, "", " (at %s)", proof->address);
	if (text && is_booting(node) && links[last].missing[0])
		bu_text_add(&text, "", "; there it ends: %s", links[last].missing);
	if (is_booting(node) && is_new_process(rec, node))
		bu_text_add(&text, "\n",
			    "what it fetched before bringupd started is not known");
	if (proof->stranger_ms && is_of_step(node))
		add_stranger(&text, rec, proof);
	return text;
}
