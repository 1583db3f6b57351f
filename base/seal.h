/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals a stream to a recipient, so that only the holder of the identity opens it: for
 * backups, which leave the appliance.
 *
 * A sealed stream is a header of 80 bytes and chunks. The header: "bringup-seal", the
 * version (4 bytes, big endian, 1), the ephemeral public key of X25519, the
 * recipient's. The key of AES-256-GCM is HKDF-SHA256 of the shared secret, with both
 * public keys as salt and the header as info. Each chunk is 64 KiB of text, the last
 * one what is left, followed by the tag of 16 bytes. The nonce is 3 zero bytes, the
 * chunk's number from 0 (8 bytes, big endian), and 1 for the last chunk, else 0. So a
 * stream that was cut, put in another order, or made longer does not open.
 */
#ifndef BU_BASE_SEAL_H
#define BU_BASE_SEAL_H

#include <stddef.h>

#include "base/err.h"

enum { BU_SEAL_CHUNK = 64 * 1024, BU_SEAL_TAG = 16, BU_SEAL_HEADER = 80 };
/* "bringup-recipient-" and 72 hex digits (the last 8 check the others), with NUL. */
enum { BU_SEAL_TEXT_SIZE = 96 };

/* A new pair: the identity opens what is sealed to the recipient. */
void bu_seal_pair(char ret_identity[BU_SEAL_TEXT_SIZE],
		  char ret_recipient[BU_SEAL_TEXT_SIZE]);
/* 1 = the text is a recipient, without a typing error. */
int bu_seal_recipient_ok(const char *text);

/* Takes the next bytes of the result; -1 ends the work. */
typedef int (*bu_seal_fn)(const void *data, size_t size, void *arg, struct bu_err *err);
struct bu_seal;
/* NULL: BU_ERR_INVAL, the text is no recipient. */
struct bu_seal *bu_seal_create(const char *recipient, bu_seal_fn out, void *arg,
			       struct bu_err *err);
/* NULL: BU_ERR_INVAL, the text is no identity. */
struct bu_seal *bu_unseal_create(const char *identity, bu_seal_fn out, void *arg,
				 struct bu_err *err);
/* Opens what `seal` has made, with the secret that seal still has. */
struct bu_seal *bu_unseal_again(const struct bu_seal *seal, bu_seal_fn out, void *arg);
/* Errors of opening: BU_ERR_INVAL, no sealed stream or one of a newer version;
 * BU_ERR_DENIED, sealed to another recipient; BU_ERR_VERIFY, changed or cut. Text that
 * was handed to out is whole as far as it goes; only bu_seal_end() says that it is all.
 */
bu_must int bu_seal_add(struct bu_seal *seal, const void *data, size_t size,
			struct bu_err *err);
bu_must int bu_seal_end(struct bu_seal *seal, struct bu_err *err);
void bu_seal_destroy(struct bu_seal *seal);

#endif
