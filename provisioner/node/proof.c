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

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/reconcile_impl.h"

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

/* Advice on a NIC that answers for two hosts. New reference; NULL = it answers for one.
 */
static json_t *
proxy_said(const struct bu_reconcile *rec, const struct bu_boot_proof *proof)
{
	const struct bu_boot_proof *other = twin_of(rec, proof);

	if (!other)
		return NULL;
	return BU_SAID(PROXY_ARP, BU_ARG("mac", proof->stranger_mac),
		       BU_ARG("one", proof->stranger),
		       BU_ARG("other", other->stranger));
}

void
bu_proof_claimed(struct bu_reconcile *rec, struct bu_node *node, const char *address,
		 const char *mac)
{
	struct bu_claim *claim = bu_node_claim(node);

	claim->at_ms = bu_loop_now_ms(rec->fleet->loop);
	BU_TEXT_COPY(claim->address, address);
	BU_TEXT_COPY(claim->mac, mac);
}

void
bu_proof_stranger(struct bu_reconcile *rec, struct bu_node *node, const char *address,
		  const char *mac)
{
	struct bu_boot_proof *proof = proof_of_step(node);
	bu_autojson json_t *proxy = NULL;
	bu_autofree char *text = NULL;

	bu_text_copy(proof->stranger, sizeof(proof->stranger), address);
	bu_text_copy(proof->stranger_mac, sizeof(proof->stranger_mac), mac);
	proof->stranger_ms = wall_ms(rec);
	bu_proof_claimed(rec, node, address, mac);
	bu_fleet_touch(rec->fleet, node);
	proxy = strcmp(rec->proxy, mac) != 0 ? proxy_said(rec, proof) : NULL;
	if (!proxy)
		return;
	bu_text_copy(rec->proxy, sizeof(rec->proxy), mac);
	text = bu_said_text(proxy);
	bu_warn("boot", "%s", text);
}

struct bu_node *
bu_proof_of(const struct bu_fleet *fleet, const char *address)
{
	for (size_t i = 0; *address && i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (strcmp(node->live.boot->address, address) == 0 &&
		    is_booting(node) && is_of_step(node))
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
		memcpy(ret_ms, node->live.boot->at_ms,
		       BU_PROOF_COUNT * sizeof(*ret_ms));
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
		node = bu_identity_index_by_mac(rec->fleet, mac);
	if (!node || !is_booting(node))
		return;
	bu_text_copy(proof_of_step(node)->unserved, sizeof(node->live.boot->unserved),
		     asks);
	bu_proof_look(rec, node);
}

static int
boots_medium(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);

	return want && node->step.action == BU_ACTION_NETBOOT && bu_medium_is(want);
}

/* The row of a boot without a link so far. */
static enum bu_proof_link
nothing_yet(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (is_new_process(rec, node))
		return BU_PROOF_NEW_PROCESS;
	if (node->on == BU_TRIGGER_LOADS)
		return BU_PROOF_LOADS;
	if (node->kexecs)
		return BU_PROOF_KEXECS;
	/* A boot from disk need not fetch anything. */
	if (node->step.action == BU_ACTION_DISKBOOT)
		return BU_PROOF_FROM_DISK;
	return boots_medium(rec, node) ? BU_PROOF_NO_MEDIUM : BU_PROOF_NO_SCRIPT;
}

static void
waits_for(const struct bu_reconcile *rec, const struct bu_node *node,
	  struct bu_reason *ret)
{
	const char *unserved = is_of_step(node) ? node->live.boot->unserved : "";
	int64_t at_ms[BU_PROOF_COUNT];
	char time[24];
	int last;

	times_of(node, at_ms);
	last = last_of(at_ms);
	if (last == BU_PROOF_COUNT) {
		/* Why the machine may not have asked. */
		BU_REASON_SET(ret, NOT_CALLED,
			      .text = {bu_boot_link_name(nothing_yet(rec, node)), "",
				       unserved, *unserved ? "" : rec->rival});
		return;
	}
	bu_time_iso(at_ms[last], time);
	BU_REASON_SET(ret, NOT_CALLED,
		      .text = {bu_boot_link_name((enum bu_proof_link)last), time});
}

void
bu_proof_look(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_reason *says = node->live.wait_reason;
	struct bu_reason before = *says;
	int ours = says->code == BU_REASON_NONE || says->code == BU_REASON_NOT_CALLED ||
		   (says->code == BU_REASON_BMC_REFUSES &&
		    node->step.status != BU_STEP_FAILED);

	if (!ours)
		return;
	/* A machine that was refused has called. */
	if (is_booting(node) && !node->hold->owner && !node->live.refusal->code)
		waits_for(rec, node, bu_node_wait_reason(node));
	else
		bu_node_drop_wait_reason(node);
	if (!bu_reason_same(&before, node->live.wait_reason))
		bu_fleet_touch(rec->fleet, node);
}

static void
add_stranger(json_t *lines, const struct bu_reconcile *rec,
	     const struct bu_boot_proof *proof)
{
	json_t *proxy = proxy_said(rec, proof);

	json_array_append_new(
		lines, BU_SAID(STRANGER, BU_ARG("address", proof->stranger),
			       BU_ARG("mac", proof->stranger_mac),
			       BU_ARG_NUMBER("away", !*proof->stranger_mac),
			       BU_ARG_NUMBER("s", (wall_ms(rec) - proof->stranger_ms) /
							  1000)));
	if (proxy)
		json_array_append_new(lines, proxy);
}

static void
add_chain(json_t *lines, const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t at_ms[BU_PROOF_COUNT], now_ms = wall_ms(rec);
	json_t *chain = json_array();
	int last;

	times_of(node, at_ms);
	last = last_of(at_ms);
	for (int link = 0; link < BU_PROOF_COUNT; link++)
		if (at_ms[link])
			json_array_append_new(
				chain,
				BU_SAID(BOOT_LINK,
					BU_ARG("link", bu_boot_link_name(link)),
					BU_ARG_NUMBER("s",
						      (now_ms - at_ms[link]) / 1000)));
	if (last == BU_PROOF_COUNT) {
		json_decref(chain);
		return;
	}
	json_array_append_new(
		lines, BU_SAID(BOOT_CHAIN, BU_ARG_SAID("links", chain),
			       BU_ARG("address", node->live.boot->address),
			       BU_ARG("ends", is_booting(node) ? bu_boot_link_name(last)
							       : "")));
}

void
bu_proof_say(const struct bu_reconcile *rec, const struct bu_node *node, json_t *lines)
{
	const struct bu_boot_proof *proof = node->live.boot;

	add_chain(lines, rec, node);
	if (is_booting(node) && is_new_process(rec, node))
		json_array_append_new(lines, BU_SAID_ALONE(BOOT_UNKNOWN));
	if (proof->stranger_ms && is_of_step(node))
		add_stranger(lines, rec, proof);
}
