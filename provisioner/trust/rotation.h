/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CA and the secret of tokens are changed in steps that people take: for a time the
 * old ones and the new ones count. This is what of it lies in the directory of keys;
 * trust.h has what it means.
 *
 * rotation		the step, and when it was taken; missing = NONE
 * ca.next.key, ca.next.pem, tokens.next
 *			the new ones
 * tokens.secret	the secret of tokens, since a change; missing = token.secret,
 *from which the keys of encrypted partitions come for good
 */
#ifndef BU_TRUST_ROTATION_H
#define BU_TRUST_ROTATION_H

#include <stdint.h>

#include "base/err.h"

enum bu_rotation {
	BU_ROTATION_NONE,   /* one CA */
	BU_ROTATION_TOLD,   /* both are trusted, the old one issues */
	BU_ROTATION_ISSUES, /* both are trusted, the new one issues */
};
extern const char *const bu_rotation_names[]; /* "none", "told", "issues", NULL */

/* Called before the keys are read: ends what a kill has left half done. *ret_ms: when
 * the step was taken, Unix time; 0 with NONE. */
bu_must int bu_rotation_read(const char *dir, enum bu_rotation *ret, int64_t *ret_ms,
			     struct bu_err *err);
/* Takes the step. TOLD makes new keys; NONE forgets those of before, or, of a change
 * that was only told, the new ones. Durable when it returns; a kill at any moment
 * leaves this step or the one before. BU_ERR_STATE: another step comes next. */
bu_must int bu_rotation_take(const char *dir, enum bu_rotation from,
			     enum bu_rotation to, int64_t now_ms, struct bu_err *err);

#endif
