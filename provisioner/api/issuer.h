/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of an issuer of OpenID Connect: fetched on the loop, kept in memory. */
#ifndef BU_API_ISSUER_H
#define BU_API_ISSUER_H

#include "base/err.h"
#include "base/jwks.h"
#include "base/loop.h"

struct bu_issuer;

/* Texts are borrowed. url: "https://..."; ca: path of certificates in PEM, "" = the
 * system's. The keys are fetched at once, and again every hour. */
struct bu_issuer *bu_issuer_create(struct bu_loop *loop, const char *url,
				   const char *ca);
void bu_issuer_destroy(struct bu_issuer *issuer);
/* The keys of the last fetch that went well; NULL = none did within a day. */
const struct bu_jwks *bu_issuer_keys(const struct bu_issuer *issuer);
/* A token is signed by a key that is not one of them. Fetches the keys anew, at most
 * every 30 seconds. Always -1. BU_ERR_BUSY: they are on their way; BU_ERR_REMOTE: they
 * cannot be fetched, err says why; BU_ERR_DENIED: the issuer has no such key. */
int bu_issuer_ask(struct bu_issuer *issuer, struct bu_err *err);

#endif
