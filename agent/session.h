/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversation with the appliance: hello, work, progress, results. It goes on
 * through any outage of the appliance; a result is told until it was heard.
 */
#ifndef BU_AGENT_SESSION_H
#define BU_AGENT_SESSION_H

#include "agent/heard.h"
#include "agent/itself.h"
#include "agent/uplink.h"

struct bu_session {
	struct bu_uplink link;
	char last_id[128]; /* last finished work item and its result: when it is asked
			    */
	int last_attempt;  /* for again, it is not done again */
	json_t *last_result;
	struct bu_heard heard;   /* the greatest epoch */
	int closed;              /* a volume is: it is tried again after a poll */
	int greeted;             /* since then nothing was forgotten on either side */
	int64_t looked_ms;       /* at our links; monotonic */
	int64_t settle_ms;       /* that they are left alone for then; 0 = 5,000 */
	json_t *links;           /* as the last hello told them */
	char boot_id[40];        /* likewise */
	struct bu_itself itself; /* root is that of below */
	json_t *runs;            /* likewise: what is there of the configuration */
	int64_t runs_ms;         /* when that was looked at; monotonic */
	int links_fd;            /* the kernel tells of them; -1 = it does not */
	int links_moved;         /* it did, and it was not looked at yet */
	int clocked;             /* our clock was compared with the appliance's */
	int64_t renew_ms;        /* our certificate is looked at then; monotonic */
	char agent_version[40], agent_digest[65]; /* of our bundle; "" = of no slot */
	int64_t answered_ms; /* monotonic: our first hello was answered; 0 = none was */
	const char *root;    /* of what is looked at; NULL = this system */
	json_t *crash;       /* what the kernel left in the last one; NULL = nothing */
	int crash_read;
	int confirmed;    /* that our root is the one that starts from now on */
	int64_t trial_ms; /* that we are answered before we stay; 0 = 20,000 */
};

/* Never returns while there is work to wait for; -1 when the appliance refuses us. */
bu_must int bu_session_run(struct bu_session *session, struct bu_err *err);

#endif
