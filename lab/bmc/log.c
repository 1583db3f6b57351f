/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event log of a virtual BMC: what happened to its machine, an entry each. Called
 * by power.c and actions.c, where something happens; resources.c sends it. Invariant: a
 * log that is full takes no more, or loses its oldest entry, as the tree says.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "lab/bmc/engine.h"

/* The one collection with "#log"; NULL: the tree has no log. */
static const char *
entries_of(const struct bu_bmc *bmc)
{
	const char *uri;
	json_t *resource;

	json_object_foreach (bmc->tree->resources, uri, resource)
		if (json_object_get(resource, "#log"))
			return uri;
	return NULL;
}

static int
count_one(struct bu_bmc *bmc, const char *uri, const json_t *resource, void *arg)
{
	(void)bmc, (void)uri, (void)resource;
	++*(int *)arg;
	return 0;
}

static int
take_first(struct bu_bmc *bmc, const char *uri, const json_t *resource, void *arg)
{
	(void)bmc, (void)resource;
	bu_text_copy(arg, 256, uri);
	return 1;
}

static int
is_full(struct bu_bmc *bmc, const char *entries)
{
	int count = 0;

	bu_bmc_members(bmc, entries, count_one, &count);
	return count >= bu_bmc_rule_int(bmc, "log_max", INT64_MAX);
}

static void
add(struct bu_bmc *bmc, const char *entries, int64_t at_ms, const char *severity,
    const char *text)
{
	const char *type = bu_json_str(bu_bmc_get(bmc, entries), "#log", "Event");
	char created[24], uri[256];

	bu_time_iso(at_ms, created);
	bu_bmc_add(bmc, entries, BU_BMC_ID_LOG,
		   json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "@odata.type",
			     "#LogEntry.v1_15_0.LogEntry", "Name", "Log Entry",
			     "EntryType", type, "Created", created, "Severity",
			     severity, "Message", text),
		   uri);
}

void
bu_bmc_log(struct bu_bmc *bmc, const char *severity, const char *text)
{
	const char *entries = entries_of(bmc);
	char oldest[256];

	if (!entries || bu_bmc_fault_get(bmc, BU_BMC_FAULT_LOG_FULL) != BU_BMC_NOT)
		return;
	if (is_full(bmc, entries) &&
	    bu_bmc_members(bmc, entries, take_first, oldest) != 0)
		json_object_del(bmc->own, oldest);
	add(bmc, entries, bmc->wall_ms, severity, text);
}

void
bu_bmc_log_rows(struct bu_bmc *bmc, int64_t rows)
{
	const char *entries = entries_of(bmc);

	for (int64_t i = rows; entries && i > 0; i--) {
		char text[64];

		snprintf(text, sizeof(text), "Correctable error, DIMM A%d",
			 (int)(rows - i + 1));
		add(bmc, entries, bmc->wall_ms - i * 60000, "Warning", text);
	}
}

void
bu_bmc_clear_log(struct bu_bmc_call *call, const json_t *action, const char *resource)
{
	bu_autofree char *entries = bu_xasprintf("%s/Entries", resource);
	char oldest[256];

	(void)action;
	while (bu_bmc_members(call->bmc, entries, take_first, oldest) != 0 &&
	       json_object_get(call->bmc->own, oldest))
		json_object_del(call->bmc->own, oldest);
	call->reply->status = 204;
}
