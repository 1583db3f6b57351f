/* SPDX-License-Identifier: Apache-2.0 */
/* What jobs and the session share: who we are and our connections to the appliance. */
#ifndef BU_AGENT_UPLINK_H
#define BU_AGENT_UPLINK_H

#include <stdint.h>

#include "agent/identity.h"

struct bu_uplink {
	const struct bu_identity *identity;
	struct bu_http *http;
	struct bu_http
		*progress_http; /* for the threads of an install, one at a time */
};

/* Tells how far a work item is; 1 when the appliance wants it cancelled. A word that
 * does not get through is no loss: the next one comes soon. */
int bu_link_progress(struct bu_uplink *link, const char *id, const char *stage,
		     uint64_t done_bytes, uint64_t total_bytes);

#endif
