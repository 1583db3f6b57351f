/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /metrics: the table of metrics, a row each with the function that reads its
 * figures. Called by routes.c; docs/monitoring.md is made from the table.
 * Invariant: a scrape changes nothing and asks nobody.
 */
#include "provisioner/api/metrics.h"

#include <math.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/api/api.h"

enum { GBPS_IN_BYTES = 1000000000 / 8 };

static const struct bu_fleet *
fleet_of(const struct bu_api *api)
{
	return api->fleet;
}

/* Of `node` in all its series. */
static const char *
pool_of(const struct bu_node *node)
{
	return node->live.pool;
}

static double
in_seconds(int64_t ms)
{
	return (double)ms / 1000;
}

static void
get_info(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	BU_METRIC(out, 1, BU_VERSION, fleet->desired ? fleet->desired->site.name : "",
		  fleet->revision, fleet->commit);
}

static void
get_up(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	BU_METRIC(out, in_seconds(bu_loop_now_ms(fleet->loop) - fleet->started_ms),
		  NULL);
}

static void
get_loop_delay(struct bu_metric_out *out, const void *arg)
{
	BU_METRIC(out, in_seconds(bu_loop_late_ms(fleet_of(arg)->loop)), NULL);
}

static void
get_image_bytes(struct bu_metric_out *out, const void *arg)
{
	const struct bu_api *api = arg;

	BU_METRIC(out, (double)api->image_bytes, NULL);
}

/* Of the appliance itself. */
static void
get_own_certificates(struct bu_metric_out *out, const void *arg)
{
	const struct bu_trust *trust = ((const struct bu_api *)arg)->trust;
	const struct {
		const char *name, *pem;
	} rows[] = {{"ca", bu_trust_ca(trust)},
		    {"server", bu_trust_server_cert(trust)}};
	int64_t from_s, until_s;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (bu_cert_times(rows[i].pem, &from_s, &until_s, NULL) == 0)
			BU_METRIC(out, (double)until_s, rows[i].name);
}

static void
get_log_rows(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	BU_METRIC(out, (double)fleet->life.row_seq, NULL);
}

static void
get_log_writable(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	BU_METRIC(out, bu_store_down(fleet->store) ? 0 : 1, NULL);
}

static void
get_nodes(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_desired *desired = fleet->desired;

	for (size_t i = 0; desired && i < desired->pools_count; i++) {
		const char *pool = desired->pools[i].name;
		int counts[BU_STATE_COUNT] = {0};

		for (size_t j = 0; j < fleet->count; j++)
			if (strcmp(pool_of(fleet->nodes[j]), pool) == 0)
				counts[fleet->nodes[j]->state]++;
		for (int state = 0; state < BU_STATE_COUNT; state++)
			BU_METRIC(out, counts[state], pool,
				  bu_state_name((enum bu_state)state));
	}
}

/* Nodes that views show. */
static const struct bu_node *
next_node(const struct bu_fleet *fleet, size_t *at)
{
	while (*at < fleet->count) {
		const struct bu_node *node = fleet->nodes[(*at)++];

		if (!bu_node_is_gone(node))
			return node;
	}
	return NULL;
}

static void
get_node_info(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;) {
		const struct bu_desired_node *want = bu_fleet_desired(fleet, node);

		BU_METRIC(out, 1, node->name, pool_of(node),
			  want && want->rack ? want->rack : "", node->serial,
			  node->installed_image);
	}
}

/* Why a person is needed and since when; NULL = nobody is. */
static const char *
needs_person(const struct bu_node *node, int64_t *ret_since_ms)
{
	int is_held = node->hold->owner != BU_OWNER_NONE;

	*ret_since_ms = is_held ? node->hold->since_ms : node->since_ms;
	if (is_held)
		return "held";
	if (node->state == BU_STATE_FAILED || node->state == BU_STATE_QUARANTINED)
		return bu_state_name(node->state);
	return NULL;
}

static void
get_needs_person(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;) {
		int64_t since_ms;
		const char *why = needs_person(node, &since_ms);

		if (why)
			BU_METRIC(out, in_seconds(since_ms), node->name, pool_of(node),
				  why);
	}
}

static void
get_conditions(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;)
		for (int id = 0; id < BU_CONDITION_COUNT; id++)
			if (node->conditions[id].on)
				BU_METRIC(out,
					  in_seconds(node->conditions[id].since_ms),
					  node->name, pool_of(node),
					  bu_condition_info((enum bu_condition_id)id)
						  ->name);
}

static void
get_site_conditions(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		if (fleet->conditions[id].on)
			BU_METRIC(out, in_seconds(fleet->conditions[id].since_ms),
				  bu_condition_info((enum bu_condition_id)id)->name);
}

static void
get_brakes(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const char *scope;
	json_t *brake;

	json_object_foreach (fleet->brakes, scope, brake)
		BU_METRIC(out, in_seconds(bu_json_int(brake, "since_ms", 0)), scope);
}

static void
get_durations(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);

	for (int state = 0; state < BU_STATE_COUNT; state++)
		if (!bu_state_info((enum bu_state)state)->settled)
			bu_metric_put_histogram(out, &fleet->took[state],
						(const char *const[]){bu_state_name(
							(enum bu_state)state)});
}

static void
get_seen(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;)
		if (node->live.last_seen_ms)
			BU_METRIC(out, in_seconds(node->live.last_seen_ms), node->name,
				  pool_of(node));
}

static void
get_agent_certificates(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;)
		if (node->agent_cert_until_ms)
			BU_METRIC(out, in_seconds(node->agent_cert_until_ms),
				  node->name, pool_of(node));
}

static void
get_power_failures(struct bu_metric_out *out, const void *arg)
{
	const struct bu_fleet *fleet = fleet_of(arg);
	const struct bu_node *node;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;)
		if (node->power_failures)
			BU_METRIC(out, node->power_failures, node->name, pool_of(node));
}

/* A rail of a node in its present boot: the best of its pairs is what the node's own
 * link can do, since a slow partner or path makes only some of them slow. */
struct rail {
	double sent_gbps, received_gbps, expect_gbps;
};

static int
read_rail(const struct bu_fleet *fleet, const struct bu_node *node, const char *name,
	  struct rail *ret)
{
	struct bu_pairs_of pairs = bu_measurements_of(fleet, node->name, name);

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < pairs.count; i++) {
		const struct bu_pair_log *log =
			&fleet->measurements.logs[pairs.places[i]];
		int second = strcmp(log->name[1], node->name) == 0;
		const struct bu_pair_brief *last = &log->last;

		if (last->error || strcmp(log->boot[second], node->boot_id) != 0)
			continue;
		ret->sent_gbps =
			fmax(ret->sent_gbps, second ? last->ba_gbps : last->ab_gbps);
		ret->received_gbps = fmax(ret->received_gbps,
					  second ? last->ab_gbps : last->ba_gbps);
		ret->expect_gbps = fmax(ret->expect_gbps, last->expect_gbps);
	}
	return ret->sent_gbps > 0 || ret->received_gbps > 0;
}

typedef void (*rail_fn)(struct bu_metric_out *out, const struct rail *rail,
			const struct bu_node *node, const char *name);

static void
each_rail(struct bu_metric_out *out, const struct bu_fleet *fleet, rail_fn fn)
{
	const struct bu_node *node;
	struct rail rail;

	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;) {
		const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
		size_t rails = want ? want->pool->rails_count : 0;

		for (size_t i = 0; i < rails; i++) {
			const char *name = want->pool->rails[i]->name;

			if (read_rail(fleet, node, name, &rail))
				fn(out, &rail, node, name);
		}
	}
}

static void
put_bandwidth(struct bu_metric_out *out, const struct rail *rail,
	      const struct bu_node *node, const char *name)
{
	BU_METRIC(out, rail->sent_gbps * GBPS_IN_BYTES, node->name, pool_of(node), name,
		  "send");
	BU_METRIC(out, rail->received_gbps * GBPS_IN_BYTES, node->name, pool_of(node),
		  name, "receive");
}

static void
get_bandwidth(struct bu_metric_out *out, const void *arg)
{
	each_rail(out, fleet_of(arg), put_bandwidth);
}

static void
put_expected(struct bu_metric_out *out, const struct rail *rail,
	     const struct bu_node *node, const char *name)
{
	BU_METRIC(out, rail->expect_gbps * GBPS_IN_BYTES, node->name, pool_of(node),
		  name);
}

static void
get_expected(struct bu_metric_out *out, const void *arg)
{
	each_rail(out, fleet_of(arg), put_expected);
}

static void
get_webhooks(struct bu_metric_out *out, const void *arg)
{
	const struct bu_api *api = arg;
	const char *name;
	int64_t since_ms;

	for (size_t i = 0;
	     (since_ms = bu_webhooks_waiting(api->webhooks, i, &name)) >= 0; i++)
		if (since_ms)
			BU_METRIC(out, in_seconds(since_ms), name);
}

const struct bu_metric bu_api_metrics[] = {
	{"bringup_info", BU_METRIC_GAUGE, "version,site,revision,commit",
	 "Version of bringupd, and what is applied; always 1.", get_info},
	{"bringup_uptime_seconds", BU_METRIC_GAUGE, "", "Time since bringupd started.",
	 get_up},
	{"bringup_loop_delay_seconds", BU_METRIC_GAUGE, "",
	 "Longest time for which bringupd answered nothing in the last minute or two.",
	 get_loop_delay},
	{"bringup_image_bytes_total", BU_METRIC_COUNTER, "",
	 "Bytes of image files that were sent to nodes since bringupd started.",
	 get_image_bytes},
	{"bringup_certificate_expiry_timestamp_seconds", BU_METRIC_GAUGE, "certificate",
	 "Unix time at which a certificate of the appliance itself ends.",
	 get_own_certificates},
	{"bringup_log_rows_total", BU_METRIC_COUNTER, "", "Rows of the log.",
	 get_log_rows},
	{"bringup_log_writable", BU_METRIC_GAUGE, "",
	 "1 while the log can be written to, 0 while the disk is full or broken.",
	 get_log_writable},
	{"bringup_nodes", BU_METRIC_GAUGE, "pool,state",
	 "Nodes of a pool in a state of the lifecycle.", get_nodes},
	{"bringup_node_info", BU_METRIC_GAUGE, "node,pool,rack,serial,image",
	 "Place, machine and installed image of a node; always 1.", get_node_info},
	{"bringup_node_needs_person_since_timestamp_seconds", BU_METRIC_GAUGE,
	 "node,pool,why",
	 "Unix time since which a node waits for a person: failed, quarantined or held.",
	 get_needs_person},
	{"bringup_node_condition_since_timestamp_seconds", BU_METRIC_GAUGE,
	 "node,pool,condition",
	 "Unix time since which a condition of a node is set; no series while it is not.",
	 get_conditions},
	{"bringup_site_condition_since_timestamp_seconds", BU_METRIC_GAUGE, "condition",
	 "Unix time since which a condition of the site is set.", get_site_conditions},
	{"bringup_brake_since_timestamp_seconds", BU_METRIC_GAUGE, "scope",
	 "Unix time since which the brake holds all power ladders of a scope.",
	 get_brakes},
	{"bringup_state_duration_seconds", BU_METRIC_HISTOGRAM, "state",
	 "How long nodes were in a state on their way, since the log began.",
	 get_durations},
	{"bringup_power_failures_total", BU_METRIC_COUNTER, "node,pool",
	 "Power actions on the BMC of a node that failed, since the log began.",
	 get_power_failures},
	{"bringup_node_last_seen_timestamp_seconds", BU_METRIC_GAUGE, "node,pool",
	 "Unix time at which the agent of a node was last heard by this bringupd.",
	 get_seen},
	{"bringup_agent_certificate_expiry_timestamp_seconds", BU_METRIC_GAUGE,
	 "node,pool", "Unix time at which the certificate of a node's agent ends.",
	 get_agent_certificates},
	{"bringup_rail_bandwidth_bytes_per_second", BU_METRIC_GAUGE,
	 "node,pool,rail,direction",
	 "Best probe of a node's link in its present boot, by direction.",
	 get_bandwidth},
	{"bringup_rail_expected_bandwidth_bytes_per_second", BU_METRIC_GAUGE,
	 "node,pool,rail", "Bandwidth that a probe of this link must reach.",
	 get_expected},
	{"bringup_webhook_waiting_since_timestamp_seconds", BU_METRIC_GAUGE, "webhook",
	 "Unix time of the oldest event that the receiver of a webhook has not taken; no "
	 "series while none waits.",
	 get_webhooks},
	{0},
};

BU_HANDLER(bu_api_metrics_get)
{
	const struct bu_api *api = arg;
	size_t size = 0;
	FILE *file = open_memstream(&reply->text, &size);

	bu_assert(file);
	bu_metrics_write(bu_api_metrics, api, file);
	fclose(file);
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	return BU_ANSWER_NOW;
}

/* Exporters that the usual images run on each node. */
static const struct {
	const char *name;
	int port;
} exporters[] = {{"node-exporter", 9100}, {"dcgm-exporter", 9400}};

static json_t *
target_json(const struct bu_desired_node *want, const struct bu_node *node, int port)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(want, BU_ROLE_BOOT);
	char address[INET_ADDRSTRLEN];

	if (!boot || bu_desired_node_address(want, boot, address) != 0)
		return NULL;
	return json_pack("{s:[o],s:{s:s,s:s,s:s,s:s}}", "targets",
			 json_sprintf("%s:%d", address, port), "labels", "node",
			 node->name, "pool", pool_of(node), "rack",
			 want->rack ? want->rack : "", "serial", node->serial);
}

BU_HANDLER(bu_api_targets)
{
	const struct bu_api *api = arg;
	const struct bu_fleet *fleet = api->fleet;
	const struct bu_node *node;
	size_t which = 0;

	while (which < BU_LEN(exporters) &&
	       strcmp(exporters[which].name, request->params[0]) != 0)
		which++;
	if (which == BU_LEN(exporters)) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "no exporter '%s'; bringup lists targets of node-exporter "
			   "and dcgm-exporter",
			   request->params[0]);
		return BU_ANSWER_ERROR;
	}
	reply->json = json_array();
	for (size_t at = 0; (node = next_node(fleet, &at)) != NULL;) {
		const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
		json_t *target =
			want ? target_json(want, node, exporters[which].port) : NULL;

		if (target)
			json_array_append_new(reply->json, target);
	}
	return BU_ANSWER_NOW;
}
