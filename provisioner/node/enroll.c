/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machine may trade a token, and which certificate may speak for a node. Called
 * by api/agents.c. Invariants: the token is checked first; a certificate is signed only
 * for the machine of the applied profile (reach.c); an enrolment never takes a machine
 * from a node that has a use for it; a valid certificate is in the log by its
 * fingerprint before it is sent.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/proof.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile_impl.h"

/* Finds the step of the boot that the token is for. */
static int
step_of_token(const struct bu_reconcile *rec, const struct bu_node *node,
	      const char *token, char ret[BU_RAM_STEP_SIZE], struct bu_err *err)
{
	if (bu_ram_token(rec, node, token, ret) == 0)
		return 0;
	if (node->state != BU_STATE_INSPECTING ||
	    node->step.action != BU_ACTION_NETBOOT)
		return bu_err_set(err, BU_ERR_DENIED, 0, "no boot of %s was ordered",
				  node->name);
	if (!bu_trust_is_token(rec->trust, node->step.id, node->step.attempt, token))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "this is not the token of the present boot of %s",
				  node->name);
	bu_text_copy(ret, BU_RAM_STEP_SIZE, node->step.id);
	return 0;
}

int
bu_reconcile_check_token(const struct bu_reconcile *rec, const struct bu_node *node,
			 const char *token, struct bu_err *err)
{
	char step[BU_RAM_STEP_SIZE];

	return step_of_token(rec, node, token, step, err);
}

/* The machine must tell the value that the profile has. A filler in the profile, which
 * many machines have, is not compared. */
static int
check_word(const struct bu_node *node, const char *what, const char *wanted,
	   const char *seen, struct bu_reason *why)
{
	if (!wanted || !bu_machine_says(wanted))
		return 0;
	BU_REASON_SET(why, OTHER_MACHINE, .text = {node->name, what, wanted, seen});
	return -1;
}

static int
check_serial(const struct bu_node *node, const char *wanted,
	     const struct bu_machine *machine, struct bu_reason *why)
{
	if (wanted && bu_machine_tells(machine, wanted) != BU_MACHINE_SILENT)
		return 0;
	return check_word(node, "serial number", wanted, machine->serial, why);
}

static int
check_uuid(const struct bu_node *node, const char *wanted, const char *seen,
	   struct bu_reason *why)
{
	return wanted && bu_machine_same_uuid(wanted, seen)
		       ? 0
		       : check_word(node, "UUID", wanted, seen, why);
}

/* Does the machine tell the profile's serial number as its own, or its UUID? Then its
 * NICs may be others. Another machine may have the same chassis number. */
static int
is_told_by(const struct bu_desired_node *want, const struct bu_machine *machine)
{
	return (want->serial &&
		bu_machine_tells(machine, want->serial) == BU_MACHINE_OWN) ||
	       (want->uuid && bu_machine_same_uuid(want->uuid, machine->uuid));
}

static int
check_machine(const struct bu_node *node, const struct bu_desired_node *want,
	      const struct bu_machine *machine, struct bu_reason *why)
{
	if (want && (check_serial(node, want->serial, machine, why) != 0 ||
		     check_uuid(node, want->uuid, machine->uuid, why) != 0))
		return -1;
	if (want && ((want->mac && bu_machine_has_mac(machine, want->mac)) ||
		     is_told_by(want, machine)))
		return 0;
	BU_REASON_SET(why, OTHER_MAC,
		      .text = {node->name, want && want->mac ? want->mac : "none",
			       machine->macs_count ? machine->macs[0] : "none"});
	return -1;
}

int
bu_reconcile_lacks_mac(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want;

	if (!bu_reconcile_boots(node))
		return 0;
	want = bu_fleet_reach(rec->fleet, node);
	if (!want || !want->mac)
		return want != NULL;
	/* A machine that was never seen may boot from another of its NICs. */
	return !node->machine[0] && (want->serial || want->uuid);
}

/* Does a node in this state have a use for its machine? States not listed do. */
static const enum {
	USE_ALWAYS,
	USE_NONE,
	USE_SYSTEM, /* where a system is installed on it */
} uses[BU_STATE_COUNT] = {
	[BU_STATE_ENROLLED] = USE_NONE,
	[BU_STATE_RETIRED] = USE_NONE,
	[BU_STATE_FAILED] = USE_SYSTEM,
};

static int
has_use(const struct bu_node *node)
{
	if (uses[node->state] == USE_ALWAYS)
		return 1;
	/* A held system is not for other nodes to take. */
	return node->installed_step[0] &&
	       (uses[node->state] == USE_SYSTEM || node->hold->owner);
}

static void
in_use(const struct bu_node *owner, const struct bu_node *node, const char *words,
       struct bu_reason *why)
{
	BU_REASON_SET(
		why, MACHINE_IN_USE,
		.text = {words, owner->name, bu_state_name(owner->state), node->name},
		.number = {owner->hold->owner != BU_OWNER_NONE});
}

static int
check_owner(const struct bu_node *owner, const struct bu_node *node,
	    const struct bu_machine *machine, struct bu_reason *why)
{
	bu_autofree char *words = NULL;

	if (!owner || owner == node || !has_use(owner))
		return 0;
	words = bu_machine_words(machine);
	in_use(owner, node, words, why);
	return -1;
}

/* Another node in use with this MAC, by the profile or by its machine's inventory. */
static const struct bu_node *
user_of(struct bu_fleet *fleet, const struct bu_node *node, const char *mac)
{
	const struct bu_node *user = bu_fleet_node_by_mac(fleet, mac);

	if (user && user != node && has_use(user))
		return user;
	for (size_t i = 0; (user = bu_identity_index_mac_at(fleet, mac, i)); i++)
		if (user != node && has_use(user))
			return user;
	return NULL;
}

/* Other hosts can hear the token on the wire. The MAC of the host that shows it must be
 * the node's, by the profile or by its inventory. Else it must be a NIC of a machine
 * that tells the profile's serial number or UUID. That is the machine's own word alone,
 * so a MAC of another node in use is refused before. */
static int
check_card(const struct bu_reconcile *rec, const struct bu_node *node,
	   const struct bu_enrolment *host, const char *mac,
	   const struct bu_machine *cards, struct bu_reason *why)
{
	const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);
	bu_autofree char *words = NULL;
	const struct bu_node *user;
	struct bu_machine known;

	bu_node_machine(node, &known);
	if ((want && want->mac && strcmp(want->mac, mac) == 0) ||
	    (node->machine[0] && bu_machine_has_mac(&known, mac)))
		return 0;
	user = user_of(rec->fleet, node, mac);
	if (user) {
		words = bu_xasprintf("with MAC %s", mac);
		in_use(user, node, words, why);
		return -1;
	}
	if (want && is_told_by(want, cards) && bu_machine_has_mac(cards, mac))
		return 0;
	BU_REASON_SET(why, OTHER_HOST, .text = {host->address, mac, node->name});
	return -1;
}

/* The MAC of its first packet and the MAC that answers for its address must both be of
 * the node's machine. */
static int
check_host(const struct bu_reconcile *rec, const struct bu_node *node,
	   const struct bu_enrolment *host, const struct bu_machine *cards,
	   struct bu_reason *why)
{
	if (host->elsewhere) {
		BU_REASON_SET(why, OFF_ITS_WIRE, .text = {host->address, node->name});
		return -1;
	}
	if (host->mac && check_card(rec, node, host, host->mac, cards, why) != 0)
		return -1;
	return host->answers ? check_card(rec, node, host, host->answers, cards, why)
			     : 0;
}

struct bu_node *
bu_reconcile_claimed(const struct bu_reconcile *rec, const struct bu_machine *cards,
		     const char *mac, struct bu_err *err)
{
	const struct bu_enrolment host = {.address = "", .mac = mac};
	struct bu_reason why = {0};

	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];
		const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);

		if (!want || !is_told_by(want, cards))
			continue;
		if (bu_reconcile_boots(node) && !bu_medium_is(want) &&
		    check_machine(node, want, cards, &why) == 0 &&
		    check_host(rec, node, &host, cards, &why) == 0)
			return node;
		if (why.code) {
			bu_autofree char *text = bu_reason_text(&why);

			bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s", text);
		} else {
			bu_err_set(err, BU_ERR_NOTFOUND, 0,
				   "it is %s of the profile, of which no boot is "
				   "ordered",
				   node->name);
		}
		return NULL;
	}
	bu_err_set(err, BU_ERR_NOTFOUND, 0,
		   "no node of the profile has its serial number, UUID or MAC");
	return NULL;
}

int
bu_reconcile_is_machine(const struct bu_reconcile *rec, const struct bu_node *node,
			const struct bu_machine *cards, struct bu_reason *why)
{
	const struct bu_node *owner = bu_identity_index_owner(rec->fleet, node, cards);

	return check_machine(node, bu_fleet_reach(rec->fleet, node), cards, why) == 0 &&
	       check_owner(owner, node, cards, why) == 0;
}

struct bu_node *
bu_reconcile_meant(const struct bu_reconcile *rec, const struct bu_machine *cards)
{
	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];
		const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);

		if (want && (is_told_by(want, cards) ||
			     (want->mac && bu_machine_has_mac(cards, want->mac))))
			return node;
	}
	return NULL;
}

/* A known machine keeps its id. A new one whose id is taken gets one made with its
 * node's name. */
static int
id_of(const struct bu_fleet *fleet, const struct bu_node *node,
      const struct bu_node *owner, const struct bu_machine *machine,
      char ret_id[BU_MACHINE_ID_SIZE], struct bu_err *err)
{
	bu_autofree char *both = NULL;
	char digest[BU_DIGEST_SIZE];

	if (owner) {
		bu_text_copy(ret_id, BU_MACHINE_ID_SIZE, owner->machine);
		return 0;
	}
	if (bu_machine_id(machine, ret_id, err) != 0)
		return -1;
	if (bu_fleet_node_of(fleet, ret_id)) {
		both = bu_xasprintf("%s %s", ret_id, node->name);
		bu_sha256_hex(both, strlen(both), digest);
		bu_text_copy(ret_id, BU_MACHINE_ID_SIZE, digest);
	}
	return 0;
}

/* Signs a certificate; returns its fingerprint and its end for the log. */
static char *
issue(const struct bu_reconcile *rec, const char *csr, const char *machine,
      char ret_fingerprint[BU_DIGEST_SIZE], int64_t *ret_until_ms, struct bu_err *err)
{
	bu_autofree char *cert = bu_trust_issue(rec->trust, csr, machine, err);
	int64_t from_s, until_s;

	if (!cert || bu_cert_fingerprint(cert, ret_fingerprint, err) != 0 ||
	    bu_cert_times(cert, &from_s, &until_s, err) != 0)
		return NULL;
	*ret_until_ms = until_s * 1000;
	return bu_steal(&cert);
}

/* Checks all of an enrolment but its token and its key. */
static int
check_enrolment(struct bu_reconcile *rec, struct bu_node *node,
		const struct bu_enrolment *enrolment, const struct bu_machine *machine,
		char ret_id[BU_MACHINE_ID_SIZE], struct bu_err *err)
{
	struct bu_reason *why = bu_node_refusal(node);
	const struct bu_node *owner =
		bu_identity_index_owner(rec->fleet, node, machine);
	const struct bu_desired_node *want = bu_fleet_reach(rec->fleet, node);
	bu_autofree char *text = NULL;
	struct bu_machine cards;

	bu_inventory_cards(enrolment->inventory, &cards);
	if (id_of(rec->fleet, node, owner, machine, ret_id, err) != 0) {
		BU_REASON_SET(why, NO_IDENTITY, .text = {err->text});
	} else if (check_machine(node, want, &cards, why) == 0 &&
		   check_host(rec, node, enrolment, &cards, why) == 0 &&
		   check_owner(owner, node, machine, why) == 0) {
		return 0;
	} else {
		text = bu_reason_text(why);
		bu_err_set(err, BU_ERR_DENIED, 0, "%s", text);
	}
	if (why->code == BU_REASON_OTHER_HOST || why->code == BU_REASON_OFF_ITS_WIRE ||
	    why->code == BU_REASON_MACHINE_IN_USE)
		bu_proof_claimed(rec, node, enrolment->address,
				 enrolment->mac ? enrolment->mac : "");
	bu_fleet_touch(rec->fleet, node);
	return -1;
}

char *
bu_reconcile_admit(struct bu_reconcile *rec, struct bu_node *node,
		   const struct bu_enrolment *enrolment, struct bu_err *err)
{
	char id[BU_MACHINE_ID_SIZE], request[BU_DIGEST_SIZE];
	char fingerprint[BU_DIGEST_SIZE], step[BU_RAM_STEP_SIZE];
	bu_autojson json_t *told = NULL;
	int64_t until_ms;
	struct bu_machine machine;
	struct bu_event event;
	struct bu_err why;
	char *cert;

	err = err ? err : &why;
	if (step_of_token(rec, node, enrolment->token, step, err) != 0)
		return NULL;
	bu_sha256_hex(enrolment->csr, strlen(enrolment->csr), request);
	/* The answer may have been lost: the holder of the same key may get another. */
	if (strcmp(node->admitted_step, step) == 0 &&
	    strcmp(node->admitted_request, request) != 0) {
		bu_err_set(err, BU_ERR_DENIED, 0, "the token of %s was used already",
			   node->name);
		return NULL;
	}
	bu_inventory_machine(enrolment->inventory, &machine);
	if (check_enrolment(rec, node, enrolment, &machine, id, err) != 0)
		return NULL;
	cert = issue(rec, enrolment->csr, id, fingerprint, &until_ms, err);
	if (!cert)
		return NULL;
	told = bu_machine_to_json(&machine);
	BU_EVENT_MAKE(&event, BU_EVENT_ADMITTED, node->name, admitted, .step = step,
		      .machine = id, .request = request, .told = told,
		      .fingerprint = fingerprint, .until_ms = until_ms);
	bu_reconcile_append(rec, node, &event, 1);
	return cert;
}

/* The agent uses its new certificate: the old one is revoked. */
static void
end_old(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_event event;

	/* Tried with each request until the log has it. */
	if (node->live.appending)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, node->name, revoked,
		      .fingerprint = node->agent_cert, .reason = "renewed");
	bu_reconcile_append(rec, node, &event, 1);
}

int
bu_reconcile_check_peer(struct bu_reconcile *rec, struct bu_node *node,
			const char *fingerprint, struct bu_err *err)
{
	int next = node->agent_cert_next[0] &&
		   strcmp(fingerprint, node->agent_cert_next) == 0;
	int64_t kept_ms, until_ms;
	int kept = bu_fallback_is_kept(node, fingerprint, &kept_ms);

	until_ms = next   ? node->agent_cert_next_until_ms
		   : kept ? kept_ms
			  : node->agent_cert_until_ms;

	if (node->agent_revoked)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate of %s was revoked; bringup node "
				  "rebuild %s gives it another",
				  node->name, node->name);
	if (!next && !kept && strcmp(fingerprint, node->agent_cert) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "certificate %.16s is no longer valid for %s, %s is: "
				  "it is of an older system of this machine, or a copy",
				  fingerprint, node->name,
				  node->agent_cert[0] ? node->agent_cert : "none");
	if (bu_wall_ms(bu_loop_clock(rec->fleet->loop)) >= until_ms)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "certificate %.16s of %s has ended; bringup node "
				  "rebuild %s gives it another",
				  fingerprint, node->name, node->name);
	if (next)
		end_old(rec, node);
	return 0;
}

char *
bu_reconcile_renew(struct bu_reconcile *rec, struct bu_node *node, const char *csr,
		   struct bu_err *err)
{
	char fingerprint[BU_DIGEST_SIZE];
	int64_t until_ms;
	char *cert = issue(rec, csr, node->machine, fingerprint, &until_ms, err);
	struct bu_event event;

	if (!cert)
		return NULL;
	BU_EVENT_MAKE(&event, BU_EVENT_RENEWED, node->name, renewed,
		      .fingerprint = fingerprint, .until_ms = until_ms);
	bu_reconcile_append(rec, node, &event, 1);
	return cert;
}
