/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: appliances that a person has logged in to. A context is NAME.json (url,
 * token, or paths
 * of a certificate and its key) and NAME.pem (the CA) in $XDG_CONFIG_HOME/bringup, else
 * ~/.config/bringup; both are for their owner alone.
 */
#ifndef BU_CLI_CONTEXT_H
#define BU_CLI_CONTEXT_H

#include "base/err.h"

struct bu_context {
	char *url;                  /* "https://10.0.0.1:8444" */
	char *token;                /* secret; NULL = by certificate */
	char *cert_file, *key_file; /* paths; NULL = by token */
	char *ca_file;              /* path */
};

/* BU_ERR_NOTFOUND: there is none of this name. BU_ERR_DENIED: others may read it. */
bu_must int bu_context_load(const char *name, struct bu_context *ret,
			    struct bu_err *err);
/* Writes both files; a context of this name is replaced. ca: PEM. */
bu_must int bu_context_save(const char *name, const struct bu_context *context,
			    const char *ca, struct bu_err *err);
/* Writes the CA alone to a file beside the contexts, for a login that is not verified
 * yet; the path is owned, and so is the file, which the caller removes. */
char *bu_context_draft(const char *ca, struct bu_err *err);
/* BU_ERR_DENIED: others than its owner may read this key of a certificate. */
bu_must int bu_context_check_key(const char *path, struct bu_err *err);
void bu_context_fini(struct bu_context *context);
#define bu_autocontext __attribute__((cleanup(bu_context_fini)))

#endif
