/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: appliances that a person has logged in to. A context is NAME.json (url,
 * token, or paths of a certificate and its key) and NAME.pem (the CA) in
 * $XDG_CONFIG_HOME/bringup, else ~/.config/bringup, and NAME.issuer (CAs of the
 * identity provider) where a login named some; all are for their owner alone.
 */
#ifndef BU_CLI_CONTEXT_H
#define BU_CLI_CONTEXT_H

#include <stdint.h>

#include "base/err.h"

/* How a token of an identity provider is made anew. */
struct bu_context_oidc {
	char *token_url; /* of the issuer; NULL = the token is the appliance's own */
	char *client;
	char *refresh;   /* secret; NULL = the issuer gave none */
	char *ca_file;   /* path; NULL = the CAs of the system */
	int64_t until_s; /* end of the token, Unix time */
};

struct bu_context {
	char *url;                  /* "https://10.0.0.1:8444" */
	char *token;                /* secret; NULL = by certificate */
	char *cert_file, *key_file; /* paths; NULL = by token */
	char *ca_file;              /* path */
	struct bu_context_oidc oidc;
};

/* BU_ERR_NOTFOUND: there is none of this name. BU_ERR_DENIED: others may read it. */
bu_must int bu_context_load(const char *name, struct bu_context *ret,
			    struct bu_err *err);
/* Writes both files; a context of this name is replaced. ca: PEM. */
bu_must int bu_context_save(const char *name, const struct bu_context *context,
			    const char *ca, struct bu_err *err);
/* Writes the tokens alone anew. */
bu_must int bu_context_update(const char *name, const struct bu_context *context,
			      struct bu_err *err);
/* Keeps these CAs of the identity provider, PEM, with the context; NULL = none. */
bu_must int bu_context_save_issuer(const char *name, const char *ca,
				   struct bu_err *err);
/* A descriptor that one command has at a time, until it is closed; -1. */
bu_must int bu_context_lock(const char *name, struct bu_err *err);
/* Writes the CA alone to a file beside the contexts, for a login that is not verified
 * yet; the path is owned, and so is the file, which the caller removes. */
char *bu_context_draft(const char *ca, struct bu_err *err);
/* BU_ERR_DENIED: others than its owner may read this key of a certificate. */
bu_must int bu_context_check_key(const char *path, struct bu_err *err);
void bu_context_fini(struct bu_context *context);
#define bu_autocontext __attribute__((cleanup(bu_context_fini)))

#endif
