/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversation with the appliance: hello, work, progress, results. It goes on
 * through any outage of the appliance; a result is told until it was heard.
 */
#ifndef BU_AGENT_SESSION_H
#define BU_AGENT_SESSION_H

#include "agent/identity.h"

struct bu_session {
	const struct bu_identity *identity;
	struct bu_http *http;
	struct bu_http *progress_http; /* used from the threads of an install */
	char last_id[128]; /* last finished work item and its result: when it */
	int last_attempt;  /* is asked for again, it is not done again */
	json_t *last_result;
};

/* Never returns while there is work to wait for; -1 when the appliance refuses us. */
int bu_session_run(struct bu_session *session, struct bu_err *err);

/* For jobs: tells how far an item is; 1 when the appliance wants it cancelled. */
int bu_session_progress(struct bu_session *session, const char *id, const char *stage,
			uint64_t done_bytes, uint64_t total_bytes);

#endif
