/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for the inventory and the links in a child process; called by session.c.
 * Invariant: the agent goes on talking to the appliance whatever a driver does; which
 * one it is, the audit finds out.
 */
#include "agent/survey.h"

#include "agent/child_probe.h"
#include "agent/inventory.h"
#include "agent/links.h"
#include "base/json.h"
#include "base/log.h"

/* In the child. */
static json_t *
read_inventory(const json_t *ask, void **kept)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_err err = {0};

	if (!ask)
		return NULL;
	inventory = bu_json_bool(ask, "quiet", 0)
			    ? bu_inventory_collect_quietly("", &err)
			    : bu_inventory_collect("", &err);
	return inventory ? json_pack("{s:o}", "said", bu_inventory_to_json(inventory))
			 : json_pack("{s:o}", "error", bu_json_from_err(&err));
}

/* Likewise. */
static json_t *
read_links(const json_t *ask, void **kept)
{
	bu_autoinventory struct bu_inventory *now = NULL;
	bu_autojson json_t *json = NULL;

	if (!ask)
		return NULL;
	now = bu_inventory_create();
	bu_links_collect("", now);
	json = bu_inventory_to_json(now);
	return json_pack("{s:O}", "said", json_object_get(json, "links"));
}

static json_t *
ask_child(bu_child_probe_fn fn, int quiet, int64_t limit_ms, struct bu_err *err)
{
	bu_autojson json_t *ask = json_pack("{s:b}", "quiet", quiet);
	bu_autojson json_t *answer = bu_child_probe_once(fn, ask, limit_ms, err);

	if (json_object_get(answer, "error"))
		bu_json_to_err(json_object_get(answer, "error"), err);
	return json_incref(json_object_get(answer, "said"));
}

json_t *
bu_survey_inventory(int64_t limit_ms, struct bu_err *err)
{
	struct bu_err why = {0};
	json_t *said = ask_child(read_inventory, 0, limit_ms, &why);

	if (!said && why.kind == BU_ERR_TIMEOUT) {
		bu_warn("inventory",
			"a driver did not answer within %lld s; speeds, states and "
			"links of network cards are left out",
			(long long)limit_ms / 1000);
		why = (struct bu_err){0};
		said = ask_child(read_inventory, 1, limit_ms, &why);
	}
	if (!said && err)
		*err = why;
	return said;
}

json_t *
bu_survey_links(int64_t limit_ms, struct bu_err *err)
{
	return ask_child(read_links, 0, limit_ms, err);
}
