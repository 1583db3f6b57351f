/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of OpenSSH for the host keys of nodes, made here because bringupd must
 * not wait for a program. The format is that of OpenSSH's PROTOCOL.certkeys.
 */
#ifndef BU_TRUST_SSHCERT_H
#define BU_TRUST_SSHCERT_H

#include "base/err.h"

struct bu_sshcert {
	const char *ca_key;    /* private, as ssh-keygen -t ed25519 -N '' writes it */
	const char *ca_public; /* public keys as bu_sshkey_next() reads them: the
				  key must be one of them */
	const char *host_key;  /* the node's: a line of a .pub file, Ed25519 */
	const char *id;        /* what sshd's log says */
	const char *const *names; /* whom it is good for; NULL-terminated */
};

/* A line "ssh-ed25519-cert-v01@openssh.com AAAA...", owned; it does not end, and is the
 * same each time. BU_ERR_INVAL when a key is none. */
char *bu_sshcert_make(const struct bu_sshcert *cert, struct bu_err *err);

#endif
