/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of work items; called by jobs while they run. */
#include "agent/uplink.h"

#include "base/json.h"
#include "model/hello.h"

enum { PROGRESS_MS = 3000 };

int
bu_link_progress(struct bu_uplink *link, const char *id, const char *stage,
		 uint64_t done_bytes, uint64_t total_bytes)
{
	bu_autojson json_t *body =
		bu_record_to_json(bu_progress_fields,
				  &(struct bu_progress){id, stage, (int64_t)done_bytes,
							(int64_t)total_bytes});
	bu_autojson json_t *reply = NULL;

	if (bu_http_json(link->progress_http,
			 &(struct bu_http_call){"POST", "/v1/agent/progress", body,
						PROGRESS_MS},
			 &reply, NULL) != 0)
		return 0;
	return bu_json_bool(reply, "cancel", 0);
}
