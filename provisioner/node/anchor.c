/* SPDX-License-Identifier: Apache-2.0 */
/* Signs what the log ends with. Called by the routes of the audit and by backups. */
#include "provisioner/node/anchor.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "model/anchor.h"

static int
take_time(const struct bu_event *event, void *arg)
{
	*(int64_t *)arg = event->time_ms;
	return 0;
}

json_t *
bu_anchor_make(const struct bu_fleet *fleet, const struct bu_trust *trust,
	       struct bu_err *err)
{
	struct bu_anchor anchor = {
		.epoch = fleet->epoch,
		.made_ms = bu_wall_ms(bu_loop_clock(fleet->loop)),
	};
	bu_autojson json_t *body = NULL;
	struct bu_chain end;
	json_t *document;

	bu_store_end(fleet->store, &end);
	if (!end.seq) {
		bu_err_set(err, BU_ERR_STATE, 0, "the log is empty; apply a profile");
		return NULL;
	}
	if (bu_store_read_tail(fleet->store, 1, take_time, &anchor.time_ms, err) != 0)
		return NULL;
	anchor.seq = end.seq;
	BU_TEXT_COPY(anchor.hash, end.hash);
	if (fleet->desired)
		BU_TEXT_COPY(anchor.site, fleet->desired->site.name);
	bu_json_digest(fleet->revoked, anchor.revoked);
	body = bu_anchor_to_json(&anchor);
	document = bu_trust_sign(trust, body, err);
	if (document)
		json_object_set_new(document, "revoked",
				    json_deep_copy(fleet->revoked));
	return document;
}
