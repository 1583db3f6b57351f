/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets switch counters from the site's Prometheus (prometheus.c) or an agent
 * (switches_agent.c), and keeps their growth since the reading before. Called by
 * switches.c. Invariants: the loop waits for neither, and each has a deadline; a
 * reading is taken as a whole or not at all.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "fabric/judge/wire.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/switches_impl.h"

enum { AGAIN_MS = 60000 };

static size_t
links_of(const struct bu_switches *counters)
{
	return 2 * (size_t)counters->shape.leaves * (size_t)counters->shape.spines;
}

/* The last result before a reading. A result during a reading may be in its counts or
 * not, and counts as load of the next one. */
static int64_t
last_seq(const struct bu_measurements *all)
{
	int64_t seq = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->logs[i].last.seq > seq)
			seq = all->logs[i].last.seq;
	return seq;
}

/* err: set if there is no reading. */
static void
take(struct bu_switches *counters, const json_t *answer, struct bu_err *err)
{
	size_t links = links_of(counters);
	bu_autofree struct bu_link_count *now = bu_xcalloc(links, sizeof(*now));

	if (bu_wire_switch_answer(&counters->shape, answer, now, err) != 0)
		return;
	if (!counters->latest)
		counters->latest = bu_xcalloc(links, sizeof(*counters->latest));
	bu_wire_switch_since(&counters->shape, counters->latest, now);
	counters->list = bu_xgrow(counters->list, &counters->cap, counters->count + 1,
				  sizeof(*counters->list));
	counters->list[counters->count++] = (struct bu_reading){
		.links = bu_steal(&now), .seq = counters->begun_seq};
}

/* said is taken. */
static void
say(struct bu_switches *counters, json_t *said)
{
	bu_autofree char *text = bu_said_text(said);

	if (!json_equal(counters->failure, said))
		bu_warn("gate", "%s", text);
	json_decref(counters->failure);
	counters->failure = said;
}

static void
fail(struct bu_switches *counters, const struct bu_err *err)
{
	say(counters,
	    BU_SAID(COUNTERS_UNREAD, BU_ARG("of", counters->key),
		    BU_ARG("source", counters->named), BU_ARG("error", err->text)));
	counters->again_ms = bu_loop_now_ms(counters->gate->fleet->loop) + AGAIN_MS;
}

static void
forgive(struct bu_switches *counters)
{
	json_decref(counters->failure);
	counters->failure = NULL;
}

/* A counter at its maximum hides further errors. */
static void
warn_full(struct bu_switches *counters)
{
	say(counters, BU_SAID(COUNTER_FULL, BU_ARG("of", counters->key),
			      BU_ARG("counter", counters->agent.full)));
}

/* wrong: its kind is 0 if a reading was taken. */
static void
end_reading(struct bu_switches *counters, const struct bu_err *wrong)
{
	if (wrong->kind)
		fail(counters, wrong);
	else if (counters->agent.full[0])
		warn_full(counters);
	else
		forgive(counters);
	bu_gate_kick(counters->gate);
}

/* --- Prometheus, an agent --- */

static void
on_told(const json_t *answer, const struct bu_err *err, void *arg)
{
	struct bu_switches *counters = arg;
	struct bu_err wrong = {0};

	if (err)
		wrong = *err;
	else
		take(counters, answer, &wrong);
	end_reading(counters, &wrong);
}

static void
ask_prometheus(struct bu_switches *counters, const struct bu_desired_network *network)
{
	if (!counters->prometheus)
		counters->prometheus =
			bu_prometheus_create(counters->gate->fleet->loop);
	bu_prometheus_ask(counters->prometheus, network, &counters->shape, on_told,
			  counters);
}

/* --- all --- */

char *
bu_switches_source(const struct bu_desired_network *network)
{
	return bu_xasprintf("%s\n%s\n%s\n%s\n%s\n%s\n%s\n%lld",
			    network->switch_counters, network->switch_received,
			    network->switch_sent, network->switch_device_label,
			    network->switch_peer_label, network->switch_port_label,
			    network->switch_credentials ? network->switch_credentials
							: "",
			    (long long)network->switch_delay_ms);
}

static void
ask_agent(struct bu_switches *counters, const struct bu_desired_network *network)
{
	bu_switches_ask_agent(counters, network, on_told);
}

static void (*const sources[])(struct bu_switches *counters,
			       const struct bu_desired_network *network) = {
	[BU_COUNTERS_PROMETHEUS] = ask_prometheus,
	[BU_COUNTERS_INFINIBAND] = ask_agent,
};

void
bu_switches_read(struct bu_switches *counters, const struct bu_desired_network *network)
{
	if (bu_prometheus_is_asked(counters->prometheus) || counters->agent.task ||
	    bu_loop_now_ms(counters->gate->fleet->loop) < counters->again_ms)
		return;
	free(counters->source);
	counters->source = bu_switches_source(network);
	free(counters->named);
	counters->named = bu_xstrdup(network->switch_counters);
	counters->begun_seq = last_seq(&counters->gate->fleet->measurements);
	if (sources[bu_desired_counters(network)])
		sources[bu_desired_counters(network)](counters, network);
}

void
bu_switches_forget(struct bu_switches *counters)
{
	bu_prometheus_destroy(counters->prometheus);
	counters->prometheus = NULL;
	bu_switches_forget_agent(counters);
	for (size_t i = 0; i < counters->count; i++)
		free(counters->list[i].links);
	counters->count = 0;
	free(counters->latest);
	counters->latest = NULL;
	bu_topology_fini(&counters->shape);
	counters->shape = (struct bu_topology){0};
}
