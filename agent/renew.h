/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new certificate before the old one ends, over the agent's own channel. In the
 * identity's directory: cert.pem and key.pem of the enrolment; pair.pem, certificate
 * and key in one file, so that they are replaced as one, when it was renewed;
 * pair.next.pem until the new pair is known to work.
 */
#ifndef BU_AGENT_RENEW_H
#define BU_AGENT_RENEW_H

#include "agent/heard.h"

/* Is a third of its life left, or less? Unix time in s. */
int bu_renew_is_due(int64_t from_s, int64_t until_s, int64_t now_s);
/* Uses a pair that was written and not used yet. 1: it works, and is ours from now on
 * (connect anew); 0: there is none; -1: it was refused and is gone, or there was no
 * answer.
 */
bu_must int bu_renew_settle(const struct bu_identity *identity, struct bu_err *err);
/* That, and if there is none, a new pair when it is due at now_s. Returns as
 * bu_renew_settle(); whatever happens on the way, one pair that counts is there. A
 * certificate of an appliance with a lower epoch than in heard is not taken.
 * heard->renew: it is due, and is reset. */
bu_must int bu_renew(const struct bu_identity *identity, struct bu_heard *heard,
		     int64_t now_s, struct bu_err *err);

#endif
