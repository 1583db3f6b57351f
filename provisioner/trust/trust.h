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

struct bu_trust;

/* names: of the server certificate, NULL-terminated "DNS:x" and "IP:a.b.c.d"; when they
 * change it is issued anew. */
struct bu_trust *bu_trust_open(const char *dir, const char *const *names,
			       struct bu_err *err);
void bu_trust_destroy(struct bu_trust *trust);

/* PEM, borrowed. */
const char *bu_trust_ca(const struct bu_trust *trust);
const char *bu_trust_server_cert(const struct bu_trust *trust);
const char *bu_trust_server_key(const struct bu_trust *trust);
const char *bu_trust_sign_key(const struct bu_trust *trust);
const char *bu_trust_public_key(const struct bu_trust *trust);
/* SHA-256 of the CA certificate's PEM text, hex: what a booting node checks. */
const char *bu_trust_ca_digest(const struct bu_trust *trust);

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
/* The token of the first boot of what this step installs: likewise. */
void bu_trust_seed_token(const struct bu_trust *trust, const char *step, char ret[65]);
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
