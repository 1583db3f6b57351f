/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/status. Called by every open page and `bringup status --watch` after each
 * change. Invariants: whoever names the version that it has gets the nodes that changed
 * since, and nothing that it cannot merge; a version is rendered once for all who have
 * the same one before it.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "model/shown_status.h"
#include "provisioner/api/api.h"
#include "provisioner/node/starting.h"

/* FRESH_MS: as long as a rendering is given to others; times in it are that old. */
enum { WAIT_MAX_S = 60, FRESH_MS = 1000, RENDERINGS_MAX = 8 };

struct rendering {
	int64_t since; /* 0 = the whole status */
	struct bu_shared *text;
};

/* Of one version. */
struct bu_renderings {
	struct bu_timer *timer;
	int64_t version;
	json_t *site; /* what is not of a node */
	struct rendering list[RENDERINGS_MAX];
	size_t count;
};

static void
drop(struct bu_renderings *renderings)
{
	while (renderings->count)
		bu_shared_unref(renderings->list[--renderings->count].text);
	json_decref(bu_steal(&renderings->site));
	bu_timer_stop(renderings->timer);
}

static void
on_old(void *arg)
{
	drop(arg);
}

void
bu_api_forget_status(struct bu_api *api)
{
	if (!api->status)
		return;
	drop(api->status);
	bu_timer_destroy(api->status->timer);
	free(bu_steal(&api->status));
}

/* {"ready": 3, "ready but unreachable": 1} */
static json_t *
counts_json(const struct bu_fleet *fleet)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const char *away = bu_conditions_first(node->conditions);
		const char *state = bu_state_name(node->state);
		bu_autofree char *key =
			away ? bu_xasprintf("%s but %s", state, away) : NULL;

		if (!bu_node_is_gone(node))
			bu_json_count_up(counts, key ? key : state);
	}
	return counts;
}

static json_t *
brakes_json(const struct bu_fleet *fleet)
{
	json_t *brakes = json_array(), *brake;
	const char *scope;

	json_object_foreach (fleet->brakes, scope, brake) {
		int64_t late = bu_json_int(brake, "late", 0);
		int64_t of = bu_json_int(brake, "of", 0);
		bu_autojson json_t *said =
			BU_SAID(LATE_TOGETHER, BU_ARG_NUMBER("late", late),
				BU_ARG_NUMBER("of", of), BU_ARG("scope", scope));

		json_array_append_new(
			brakes, bu_record_to_json(bu_shown_brake_fields,
						  &(struct bu_shown_brake){
							  scope, 1, late, of, said}));
	}
	return brakes;
}

/* [{"name":"ca","from_ms","until_ms"}] */
static json_t *
certificates_json(const struct bu_trust *trust)
{
	const struct {
		const char *name, *pem;
	} rows[] = {{"ca", bu_trust_ca(trust)},
		    {"server", bu_trust_server_cert(trust)}};
	json_t *list = json_array();
	int64_t from_s, until_s;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (bu_cert_times(rows[i].pem, &from_s, &until_s, NULL) == 0)
			json_array_append_new(
				list,
				json_pack("{s:s,s:I,s:I}", "name", rows[i].name,
					  "from_ms", (json_int_t)from_s * 1000,
					  "until_ms", (json_int_t)until_s * 1000));
	return list;
}

/* What a person must know: of the gate, and the start that runs. */
static json_t *
warnings_json(const struct bu_api *api)
{
	json_t *warnings = bu_gate_warnings(api->gate);
	json_t *start = bu_starting_said(api->rec);

	if (start)
		json_array_append_new(warnings, start);
	return warnings;
}

static json_t *
site_json(const struct bu_api *api)
{
	const struct bu_fleet *fleet = api->fleet;

	return json_pack(
		"{s:I,s:s,s:I,s:I,s:s,s:s,s:s,s:{s:s,s:I,s:o},s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}",
		"version", (json_int_t)fleet->version, "site",
		fleet->desired ? fleet->desired->site.name : "", "time_ms",
		(json_int_t)bu_wall_ms(bu_loop_clock(fleet->loop)), "epoch",
		(json_int_t)fleet->epoch, "revision", fleet->revision, "commit",
		fleet->commit, "trouble", fleet->trouble, "appliance", "version",
		BU_VERSION, "uptime_s",
		(json_int_t)((bu_loop_now_ms(fleet->loop) - fleet->started_ms) / 1000),
		"certificates", certificates_json(api->trust), "pairs_seq",
		(json_int_t)fleet->measurements.last_seq, "counts", counts_json(fleet),
		"rollout", bu_rollouts_json(api->rollouts), "brakes",
		brakes_json(fleet), "warnings", warnings_json(api), "conditions",
		bu_conditions_to_json(fleet->conditions), "agents",
		bu_agent_upgrades_json(api->work.upgrades), "backup",
		bu_backups_json(api->backups));
}

/* The nodes that changed after this version; the names of those that are gone since. */
static void
pick(const struct bu_fleet *fleet, int64_t since, struct bu_node **nodes,
     size_t *ret_count, json_t *gone)
{
	*ret_count = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (since && node->live.changed <= since)
			continue;
		if (bu_node_is_gone(node))
			json_array_append_new(gone, json_string(node->name));
		else
			nodes[(*ret_count)++] = node;
	}
}

static struct bu_shared *
render(const struct bu_api *api, int64_t since)
{
	const struct bu_fleet *fleet = api->fleet;
	bu_autofree struct bu_node **nodes =
		bu_xcalloc(fleet->count + 1, sizeof(struct bu_node *));
	bu_autofree char *site = json_dumps(api->status->site, JSON_COMPACT);
	bu_autojson json_t *gone = json_array();
	char *text = NULL;
	size_t count, size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out && site);
	pick(fleet, since, nodes, &count, gone);
	fprintf(out, "%.*s,\"nodes\":", (int)strlen(site) - 1, site);
	bu_api_list_nodes(api, nodes, count, out);
	if (since) {
		fprintf(out, ",\"since\":%lld,\"gone\":", (long long)since);
		json_dumpf(gone, out, JSON_COMPACT);
	}
	fputc('}', out);
	bu_assert(fclose(out) == 0);
	return bu_shared_create(text);
}

/* The renderings of the present version; empty at its first request. */
static struct bu_renderings *
present(struct bu_api *api)
{
	struct bu_renderings *renderings = api->status;

	if (!renderings) {
		renderings = api->status = bu_xcalloc(1, sizeof(*renderings));
		renderings->timer =
			bu_timer_create(api->fleet->loop, on_old, renderings);
	}
	if (renderings->version != api->fleet->version) {
		drop(renderings);
		bu_rollouts_mark(api->rollouts);
		renderings->version = api->fleet->version;
	}
	if (!renderings->site) {
		renderings->site = site_json(api);
		bu_timer_set(renderings->timer, FRESH_MS);
	}
	return renderings;
}

/* Borrowed until the version changes. */
static struct bu_shared *
rendering_of(struct bu_api *api, int64_t since)
{
	struct bu_renderings *renderings = present(api);
	struct rendering *list = renderings->list;

	for (size_t i = 0; i < renderings->count; i++)
		if (list[i].since == since)
			return list[i].text;
	if (renderings->count == RENDERINGS_MAX)
		bu_shared_unref(list[--renderings->count].text);
	list[renderings->count] = (struct rendering){since, render(api, since)};
	return list[renderings->count++].text;
}

BU_HANDLER(bu_api_status)
{
	struct bu_api *api = arg;
	const struct bu_fleet *fleet = api->fleet;
	int64_t since = bu_request_number(request, "since", 0, INT64_MAX);
	int64_t wait_ms = bu_request_number(request, "wait", 0, WAIT_MAX_S) * 1000;

	if (since == fleet->version && request->waited_ms < wait_ms)
		return BU_ANSWER_LATER;
	/* The version of another process, or from before an apply. */
	if (since < fleet->renewed || since > fleet->version)
		since = 0;
	reply->shared = bu_shared_ref(rendering_of(api, since));
	return BU_ANSWER_NOW;
}
