/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the appliance is trusted by: its CA, its server key, the key that signs stamps,
 * marks and certificates, and the secret that install tokens come from.
 * All of it lies in one directory, mode 0700, made at the first start.
 */
#ifndef BU_TRUST_TRUST_H
#define BU_TRUST_TRUST_H

#include <jansson.h>

#include "base/err.h"
#include "provisioner/trust/rotation.h"

struct bu_trust;

/* names: of the server certificate, NULL-terminated "DNS:x" and "IP:a.b.c.d"; when they
 * change it is issued anew. */
struct bu_trust *bu_trust_open(const char *dir, const char *const *names,
			       struct bu_err *err);
void bu_trust_destroy(struct bu_trust *trust);

/* PEM, borrowed. ca: all that are trusted, the one that issues first; issuer: of the
 * server certificate, alone. */
const char *bu_trust_ca(const struct bu_trust *trust);
const char *bu_trust_issuer(const struct bu_trust *trust);
const char *bu_trust_server_cert(const struct bu_trust *trust);
const char *bu_trust_server_key(const struct bu_trust *trust);
const char *bu_trust_sign_key(const struct bu_trust *trust);
const char *bu_trust_public_key(const struct bu_trust *trust);
/* SHA-256 of the CA certificate's PEM text, hex: what a booting node checks. */
const char *bu_trust_ca_digest(const struct bu_trust *trust);

/* The step of a change of CA and token secret, as it is, and as it was when this
 * process began: its listeners and its server certificate are of then. since_ms: Unix
 * time. */
enum bu_rotation bu_trust_rotation(const struct bu_trust *trust);
enum bu_rotation bu_trust_rotation_began(const struct bu_trust *trust);
int64_t bu_trust_rotation_since_ms(const struct bu_trust *trust);
/* Takes the step, as bu_rotation_take(). What was borrowed before stays valid. */
bu_must int bu_trust_rotate(struct bu_trust *trust, enum bu_rotation to, int64_t now_ms,
			    struct bu_err *err);

/* {"text": canonical JSON of body, "sig": hex}. New reference; body is borrowed. */
json_t *bu_trust_sign(const struct bu_trust *trust, const json_t *body,
		      struct bu_err *err);
/* The body of a signed object of ours; BU_ERR_VERIFY when it is not. New reference. */
json_t *bu_trust_open_signed(const struct bu_trust *trust, const json_t *sealed,
			     struct bu_err *err);

/* The token of one ordered boot: derived, so that it needs no place to be kept and is
 * known again after a restart. That it is used once is the log's business. ret holds 65
 * bytes. */
void bu_trust_token(const struct bu_trust *trust, const char *step, int attempt,
		    char *ret);
/* Is it that? During a change tokens of both secrets count. */
int bu_trust_is_token(const struct bu_trust *trust, const char *step, int attempt,
		      const char *token);
/* The token of the first boot of what this step installs: likewise. */
void bu_trust_seed_token(const struct bu_trust *trust, const char *step, char ret[65]);
int bu_trust_is_seed_token(const struct bu_trust *trust, const char *step,
			   const char *token);
/* The key of an encrypted partition (its GUID) of a machine, as 64 hex digits: derived
 * likewise, so that it is the same after a reimage, and on no disk. */
void bu_trust_volume_key(const struct bu_trust *trust, const char *machine,
			 const char *guid, char ret[65]);
/* Client certificate for an agent, with the machine's id as its name; owned. It is
 * renewed when a third of its life is left: an agent that is off for longer than that
 * has its node installed anew. */
enum { BU_AGENT_CERT_DAYS = 90 };
char *bu_trust_issue(const struct bu_trust *trust, const char *csr_pem,
		     const char *machine, struct bu_err *err);

#endif
