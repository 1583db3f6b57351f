/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch as the agent knows it. Called by the session with each answer that it acts
 * on, and by renew.c. Invariant: the epoch that is kept never falls, on the disk as in
 * memory.
 */
#include "agent/heard.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

enum { FILE_MAX = 16 * 1024 * 1024 };

void
bu_heard_load(struct bu_heard *heard, const struct bu_identity *identity)
{
	bu_autojson json_t *document = NULL;
	struct bu_err err;

	memset(heard, 0, sizeof(*heard));
	if (!identity->installed)
		return;
	heard->path = bu_identity_path(identity, "anchor.json");
	if (!bu_file_exists(heard->path))
		return;
	document = bu_anchor_load(heard->path, &err);
	if (!document || bu_anchor_read(document, &heard->newest, &err) != 0) {
		bu_warn("heard", "%s; it counts as none", err.text);
		return;
	}
	heard->document = json_incref(document);
}

void
bu_heard_fini(struct bu_heard *heard)
{
	json_decref(heard->document);
	free(heard->path);
	memset(heard, 0, sizeof(*heard));
}

static void
keep(struct bu_heard *heard, json_t *document, const struct bu_anchor *anchor)
{
	bu_autofree char *text = json_dumps(document, JSON_COMPACT);
	struct bu_err err;

	json_decref(heard->document);
	heard->document = json_incref(document);
	heard->newest = *anchor;
	/* The anchor in memory counts as long as this agent runs. */
	if (heard->path &&
	    bu_file_write(heard->path, text, strlen(text), 0600, &err) != 0)
		bu_warn("heard", "the epoch is not kept: %s", err.text);
}

int
bu_heard_answer(struct bu_heard *heard, const json_t *answer, struct bu_err *err)
{
	int64_t epoch = bu_json_int(answer, "epoch", 0);
	json_t *document = json_object_get(answer, "anchor");
	struct bu_anchor anchor;
	struct bu_err bad;

	if (epoch < heard->newest.epoch)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "this appliance has epoch %lld, and another one with "
				  "epoch %lld leads the site: no work of this one is "
				  "done",
				  (long long)epoch, (long long)heard->newest.epoch);
	if (!document)
		return 0;
	if (bu_anchor_read(document, &anchor, &bad) != 0)
		bu_warn("heard", "the appliance's anchor: %s", bad.text);
	else if (anchor.epoch == epoch)
		keep(heard, document, &anchor);
	return 0;
}
