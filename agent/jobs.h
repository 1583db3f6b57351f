/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent can do for the appliance, by kind of work item. */
#ifndef BU_AGENT_JOBS_H
#define BU_AGENT_JOBS_H

#include "agent/uplink.h"

/* Does the item; *ret_result (may stay NULL) is what there is to tell. BU_ERR_INVAL for
 * a kind that this agent does not know. */
bu_must int bu_job_item(struct bu_uplink *link, const json_t *item, json_t **ret_result,
			struct bu_err *err);
/* Nothing to do for now: closes what the last probe left open for another one. */
void bu_job_idle(void);
/* After the result of the item was accepted: an install ends with the machine off. 1
 * when the item may have changed what a hello tells. */
int bu_job_after(const json_t *item, int failed);
/* At the start, before anything is asked: ends what an earlier life left half done. */
void bu_job_recover(const struct bu_identity *identity);

#endif
