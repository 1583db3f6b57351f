/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of OpenSSH as people write them: a line of authorized_keys without options,
 * "ssh-ed25519 AAAA... who". And the strings of its formats (RFC 4251, section 5).
 */
#ifndef BU_MODEL_SSHKEY_H
#define BU_MODEL_SSHKEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_SSHKEY_BLOB_MAX = 1200, BU_SSHKEY_FINGERPRINT_SIZE = 51 };

struct bu_sshkey {
	char type[48];                    /* "ssh-ed25519" */
	uint8_t blob[BU_SSHKEY_BLOB_MAX]; /* as it goes over the wire */
	size_t size;
};

/* A public key that sshd of today takes. BU_ERR_INVAL says what is wrong, and never
 * shows what may be a private key. */
bu_must int bu_sshkey_parse(const char *line, struct bu_sshkey *ret,
			    struct bu_err *err);
/* The next key of a list, as it is written there, without blanks at its ends; owned,
 * NULL at the end, when *list is NULL, too. Either each key ends with a newline, or
 * commas stand between keys: a comma in a comment does not end the key unless a key
 * follows it. A reference "file:NAME" in such a list is an item like a key. */
char *bu_sshkey_next(const char **list);
/* "SHA256:..." as ssh-keygen -l prints it. */
void bu_sshkey_fingerprint(const struct bu_sshkey *key,
			   char ret[BU_SSHKEY_FINGERPRINT_SIZE]);
/* 1 when the text looks like a private key, or like a line of one. */
int bu_sshkey_is_private(const char *text);
/* 1 when the text is a key in another form than OpenSSH's: PEM, or RFC 4716. */
int bu_sshkey_is_foreign(const char *text);

/* What is left to read; left is SIZE_MAX after a string that was cut off. */
struct bu_ssh_reader {
	const uint8_t *at;
	size_t left;
};
/* The next string: its size, *ret_at points into what is read. 0 when there is none. */
size_t bu_ssh_get(struct bu_ssh_reader *reader, const uint8_t **ret_at);
/* 1 unless something was cut off. */
int bu_ssh_good(const struct bu_ssh_reader *reader);

#endif
