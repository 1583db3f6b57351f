/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSH keys as people write them: a line of authorized_keys without options,
 * "ssh-ed25519 AAAA... who". Also the strings of their formats (RFC 4251, section 5).
 */
#ifndef BU_MODEL_SSHKEY_H
#define BU_MODEL_SSHKEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_SSHKEY_BLOB_MAX = 1200, BU_SSHKEY_FINGERPRINT_SIZE = 51 };

struct bu_sshkey {
	char type[48];                    /* "ssh-ed25519" */
	uint8_t blob[BU_SSHKEY_BLOB_MAX]; /* as on the wire */
	size_t size;
};

/* A public key that current sshd accepts. BU_ERR_INVAL: err says what is wrong, and
 * never shows a possible private key. */
bu_must int bu_sshkey_parse(const char *line, struct bu_sshkey *ret,
			    struct bu_err *err);
/* The next key of a list, without blanks at its ends; owned, NULL = end, and *list is
 * NULL too. Keys end with a newline, or are separated by commas: a comma in a comment
 * ends the key only before another key. A reference "file:NAME" is an item like a key.
 */
char *bu_sshkey_next(const char **list);
/* "SHA256:..." as ssh-keygen -l prints it. */
void bu_sshkey_fingerprint(const struct bu_sshkey *key,
			   char ret[BU_SSHKEY_FINGERPRINT_SIZE]);
/* 1 = looks like a private key, or like a line of one. */
int bu_sshkey_is_private(const char *text);
/* 1 = a key in another form than OpenSSH's: PEM, or RFC 4716. */
int bu_sshkey_is_foreign(const char *text);

/* Bytes still to read; left is SIZE_MAX after a truncated string. */
struct bu_ssh_reader {
	const uint8_t *at;
	size_t left;
};
/* Size of the next string, with *ret_at at its bytes; 0 = none. */
size_t bu_ssh_get(struct bu_ssh_reader *reader, const uint8_t **ret_at);
/* 0 = a string was truncated. */
int bu_ssh_good(const struct bu_ssh_reader *reader);

#endif
