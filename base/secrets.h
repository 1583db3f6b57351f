/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets for the event loop: read when one is about to be sent, never by a call that
 * waits. What a program prints is kept for some seconds, for those that ask at the same
 * time, and then overwritten.
 */
#ifndef BU_BASE_SECRETS_H
#define BU_BASE_SECRETS_H

#include <stddef.h>

#include "base/err.h"
#include "base/loop.h"

struct bu_secrets;

/* wake: what was asked for is there, ask again. */
struct bu_secrets *bu_secrets_create(struct bu_loop *loop, void (*wake)(void *arg),
				     void *arg);
/* Ends what it runs, overwrites what it holds. */
void bu_secrets_destroy(struct bu_secrets *secrets);
/* Owned: hand it to bu_secret_free(). BU_ERR_BUSY: a program is asked; the others are
 * those of bu_secret_resolve(), told once. */
char *bu_secrets_get(struct bu_secrets *secrets, const char *reference,
		     size_t *ret_size, struct bu_err *err);

#endif
