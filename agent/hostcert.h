/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of the node's host key, so that nobody who logs in has to believe it.
 */
#ifndef BU_AGENT_HOSTCERT_H
#define BU_AGENT_HOSTCERT_H

#include "base/http.h"

/* Where this system has an sshd of the profile's: shows the appliance its host key and
 * keeps what comes back. root: prefix of all paths; "" on a node. 1: the certificate is
 * another than before, and sshd should read it; 0: nothing to do; -1: no answer. */
bu_must int bu_hostcert_fetch(const char *root, struct bu_http *http,
			      struct bu_err *err);

#endif
