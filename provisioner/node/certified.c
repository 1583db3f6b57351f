/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of nodes: read from the log's blobs, and verified once. Asked by the
 * gate, the reconciler, the agents' work and views. Invariant: a certificate that
 * cannot be read now is no invalid one: the store is down then, and nothing is done.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/node/fleet.h"

static const char *
digest_of(const struct bu_node *node, enum bu_fabcert_kind kind)
{
	return kind == BU_FABCERT_FULL ? node->full_cert : node->boot_cert;
}

char *
bu_fleet_certificate(const struct bu_fleet *fleet, const struct bu_node *node,
		     enum bu_fabcert_kind kind, struct bu_err *err)
{
	const char *digest = digest_of(node, kind);
	char *text;

	if (!*digest) {
		bu_err_set(err, BU_ERR_STATE, 0, "it has no %s certificate",
			   kind == BU_FABCERT_FULL ? "full" : "boot");
		return NULL;
	}
	text = bu_store_get_blob(fleet->store, digest, err);
	if (!text)
		bu_err_wrap(err, "its %s certificate",
			    kind == BU_FABCERT_FULL ? "full" : "boot");
	return text;
}

static int
is_of_machine(const struct bu_fleet *fleet, const struct bu_node *node,
	      const json_t *cert, enum bu_fabcert_kind kind, struct bu_err *err)
{
	bu_autojson json_t *hardware = bu_fleet_hardware(fleet, node);

	/* Until the turn of its rename, the node's certificates have its old name. */
	if (node->called[0] &&
	    bu_fabcert_check(cert, kind,
			     &(struct bu_fabcert_now){node->called, node->machine,
						      hardware, node->boot_id},
			     NULL) == 0)
		return 0;
	return bu_fabcert_check(cert, kind,
				&(struct bu_fabcert_now){node->name, node->machine,
							 hardware, node->boot_id},
				err);
}

/* Fills in ret. -1: there is no valid certificate, or it lacks a rail. */
static int
check_cert(const struct bu_fleet *fleet, const struct bu_node *node,
	   enum bu_fabcert_kind kind, struct bu_cert_look *ret, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	bu_autofree char *text = NULL;
	bu_autojson json_t *cert = NULL;
	int rc = 0;

	ret->holds = ret->is_ours = 0;
	ret->rails = 0;
	text = bu_fleet_certificate(fleet, node, kind, err);
	if (!text)
		return -1;
	cert = bu_fabcert_verify(text, strlen(text), fleet->public_pem, err);
	if (!cert || is_of_machine(fleet, node, cert, kind, err) != 0)
		return -1;
	ret->is_ours = 1;
	for (size_t i = 0; want && i < want->pool->rails_count; i++) {
		const char *rail = want->pool->rails[i]->name;

		if (bu_fabcert_covers(cert, rail, want->pool->rails_count == 1))
			ret->rails |= UINT64_C(1) << i;
		else
			rc = bu_err_set(err, BU_ERR_STATE, 0,
					"certificate: rail %s was not measured", rail);
	}
	ret->holds = rc == 0;
	return rc;
}

/* --- looks that are kept --- */

/* Two of FNV-1a, each with a number of its own. */
struct sum {
	uint64_t of[2];
};

/* With the NUL, so that "ab" "c" is not "a" "bc". */
static void
add_text(struct sum *sum, const char *text)
{
	do {
		sum->of[0] =
			(sum->of[0] ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
		sum->of[1] = (sum->of[1] ^ (unsigned char)*text) *
			     UINT64_C(0x9e3779b97f4a7c15);
	} while (*text++);
}

/* The sum of all that a look at a certificate depends on: another profile may change
 * the rails. */
static struct sum
sum_of(const struct bu_fleet *fleet, const struct bu_node *node,
       enum bu_fabcert_kind kind, const char *digest)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	const char *texts[] = {
		digest,          node->name,
		node->called,    node->machine,
		node->inventory, kind == BU_FABCERT_FULL ? "" : node->boot_id};
	struct sum sum = {{UINT64_C(0xcbf29ce484222325), 1}};

	for (size_t i = 0; i < BU_LEN(texts); i++)
		add_text(&sum, texts[i]);
	for (size_t i = 0; want && i < want->pool->rails_count; i++)
		add_text(&sum, want->pool->rails[i]->name);
	return sum;
}

static struct bu_cert_look *
look_of(struct bu_node *node, enum bu_fabcert_kind kind)
{
	return kind == BU_FABCERT_FULL ? &node->live.full_look : &node->live.boot_look;
}

/* Signatures are verified once per certificate and sum_of(), not at each call nor after
 * each event. */
static const struct bu_cert_look *
look_at(const struct bu_fleet *fleet, struct bu_node *node, enum bu_fabcert_kind kind)
{
	struct bu_cert_look *look = look_of(node, kind);
	struct sum sum = sum_of(fleet, node, kind, digest_of(node, kind));
	struct bu_err err = {0};

	if (memcmp(look->as, sum.of, sizeof(sum.of)) == 0)
		return look;
	memcpy(look->as, sum.of, sizeof(sum.of));
	if (check_cert(fleet, node, kind, look, &err) == 0 || err.kind != BU_ERR_IO)
		return look;
	memset(look, 0, sizeof(*look));
	bu_store_fail(fleet->store, &err);
	return look;
}

void
bu_fleet_signed(const struct bu_fleet *fleet, struct bu_node *node,
		const struct bu_event events[2])
{
	static const enum bu_fabcert_kind kinds[] = {BU_FABCERT_FULL, BU_FABCERT_BOOT};
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	size_t rails = want ? want->pool->rails_count : 0;

	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		struct sum sum = sum_of(fleet, node, kinds[i], events[i].blob.digest);
		struct bu_cert_look *look = look_of(node, kinds[i]);

		look->is_ours = look->holds = 1;
		look->rails = rails ? UINT64_MAX >> (64 - rails) : 0;
		memcpy(look->as, sum.of, sizeof(sum.of));
	}
}

int
bu_fleet_is_full(const struct bu_fleet *fleet, struct bu_node *node)
{
	return look_at(fleet, node, BU_FABCERT_FULL)->holds;
}

int
bu_fleet_may_stay(const struct bu_fleet *fleet, struct bu_node *node)
{
	return look_at(fleet, node, BU_FABCERT_FULL)->is_ours &&
	       look_at(fleet, node, BU_FABCERT_BOOT)->is_ours;
}

uint64_t
bu_fleet_proven_rails(const struct bu_fleet *fleet, struct bu_node *node)
{
	return look_at(fleet, node, BU_FABCERT_FULL)->rails &
	       look_at(fleet, node, BU_FABCERT_BOOT)->rails;
}

int
bu_fleet_certified(const struct bu_fleet *fleet, struct bu_node *node,
		   struct bu_err *err)
{
	struct bu_cert_look look = {.rails = 0};

	if (bu_fleet_is_full(fleet, node) &&
	    look_at(fleet, node, BU_FABCERT_BOOT)->holds)
		return 0;
	if (err && check_cert(fleet, node, BU_FABCERT_FULL, &look, err) == 0)
		bu_ignore(check_cert(fleet, node, BU_FABCERT_BOOT, &look, err));
	return -1;
}
