/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a machine still soaks, and which links it loads meanwhile: those to a
 * neighbour at its leaf, which soaks, too, so that no third port carries their load.
 * Called by checks.c for each slice. Invariants: a node has one neighbour at a time,
 * and is the neighbour of that one; both get the same id and secret. Neighbours are
 * kept in memory: after a restart nodes find new ones with their next slices.
 * Neighbours between which payload came changed part as soon as others soak: the node
 * that sees changed payload with others, too, is the cause.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/hello.h"
#include "model/work.h"
#include "provisioner/gate/internal.h"

/* Changed payload with so many neighbours is not their fault. */
enum { CHANGED_MIN = 3 };

/* A lap has RUNS runs of RUN_MS at the rate of the slowest rail, both directions at
 * once. Its deadline is SETUP_MS for the connection, and SLOW times the runs. */
enum { RUNS = 5, RUN_MS = 2000, SETUP_MS = 10000, SLOW = 2 };

int
bu_gate_has_checks(const struct bu_node *node)
{
	return node->checks.body && strcmp(node->checks.is.boot_id, node->boot_id) == 0;
}

static const struct bu_desired_validation *
validation_of(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	return want ? want->validation : NULL;
}

int64_t
bu_gate_soak_left_ms(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_validation *validation = validation_of(gate, node);
	int64_t left_ms =
		validation ? validation->soak_ms -
				     bu_json_int(gate->fleet->measurements.soaked,
						 node->machine, 0)
			   : 0;

	return left_ms > 0 ? left_ms : 0;
}

/* 1 = the node soaks, and its agent can load links. */
static int
soaks(const struct bu_gate *gate, const struct bu_node *node)
{
	return node->state == BU_STATE_VALIDATING && !node->hold->owner &&
	       bu_gate_has_checks(node) && bu_gate_soak_left_ms(gate, node) > 0 &&
	       node->checks.is.verdict != BU_VERDICT_FAIL && bu_gate_hears(gate, node);
}

/* Neighbours are of one pool, so that they have the same rails, and at one leaf of the
 * first rail. */
static int
are_neighbours(const struct bu_gate *gate, const struct bu_node *a,
	       const struct bu_node *b)
{
	const struct bu_node *nodes[2] = {a, b};
	const struct bu_desired_node *want[2];
	char leaf[2][BU_GATE_LEAF_SIZE];

	for (int i = 0; i < 2; i++) {
		want[i] = bu_fleet_desired(gate->fleet, nodes[i]);
		if (!want[i] || !want[i]->pool->rails_count || !soaks(gate, nodes[i]))
			return 0;
		bu_gate_leaf(nodes[i], want[i]->pool->rails[0], want[i],
			     (int)want[i]->index, leaf[i]);
	}
	return a != b && want[0]->pool == want[1]->pool &&
	       strcmp(leaf[0], leaf[1]) == 0;
}

static struct bu_node *
peer_of(const struct bu_gate *gate, const struct bu_node *node)
{
	const json_t *entry = json_object_get(gate->soaking, node->name);
	const char *name = bu_json_str(entry, "peer", "");
	struct bu_node *peer = *name ? bu_fleet_node(gate->fleet, name) : NULL;

	return peer && are_neighbours(gate, node, peer) ? peer : NULL;
}

static void
part(struct bu_gate *gate, const struct bu_node *node)
{
	const json_t *entry = json_object_get(gate->soaking, node->name);
	bu_autofree char *peer = bu_xstrdup(bu_json_str(entry, "peer", ""));

	if (!entry)
		return;
	json_object_del(gate->soaking, peer);
	json_object_del(gate->soaking, node->name);
}

static void
join(struct bu_gate *gate, const struct bu_node *a, const struct bu_node *b)
{
	char id[BU_NAME_SIZE] = "soak-", secret[65];

	bu_random_hex(id + strlen(id), 6);
	bu_random_hex(secret, 32);
	json_object_set_new(gate->soaking, a->name,
			    json_pack("{s:s,s:s,s:s}", "peer", b->name, "id", id,
				      "secret", secret));
	json_object_set_new(gate->soaking, b->name,
			    json_pack("{s:s,s:s,s:s}", "peer", a->name, "id", id,
				      "secret", secret));
}

/* 1 = payload came changed between these two. */
static int
have_changed(const struct bu_gate *gate, const struct bu_node *a,
	     const struct bu_node *b)
{
	const json_t *of_a = bu_measurements_changed(gate->fleet, a->machine);
	const json_t *of_b = bu_measurements_changed(gate->fleet, b->machine);

	return json_object_get(of_a, b->name) || json_object_get(of_b, a->name);
}

/* taken: also a neighbour of another node. changed: also a node with which payload came
 * changed. */
static struct bu_node *
find_other(const struct bu_gate *gate, const struct bu_node *node, int taken,
	   int changed)
{
	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *other = gate->fleet->nodes[i];

		if (are_neighbours(gate, node, other) &&
		    (taken || !peer_of(gate, other)) &&
		    (changed || !have_changed(gate, node, other)))
			return other;
	}
	return NULL;
}

/* The present neighbour, else a free one. If payload came changed with the present one:
 * a node with which it did not, from another neighbour if need be. NULL = none. */
static struct bu_node *
find_peer(struct bu_gate *gate, const struct bu_node *node)
{
	struct bu_node *peer = peer_of(gate, node), *other;
	int changed = peer && have_changed(gate, node, peer);

	if (peer && !changed)
		return peer;
	other = find_other(gate, node, 0, 0);
	if (!other && changed)
		other = find_other(gate, node, 1, 0);
	if (!other && !peer)
		other = find_other(gate, node, 0, 1);
	if (!other)
		return peer;
	part(gate, node);
	part(gate, other);
	join(gate, node, other);
	return other;
}

static int
boot_address(const struct bu_gate *gate, const struct bu_node *node,
	     char ret[INET_ADDRSTRLEN])
{
	const struct bu_desired_node *want = bu_fleet_ordered(gate->fleet, node);
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	return boot ? bu_desired_node_address(want, boot, ret) : -1;
}

static int
fill_rails(const struct bu_desired_node *own, struct bu_work_probe *work)
{
	const struct bu_desired_pool *pool = own->pool;

	for (size_t i = 0; i < pool->rails_count && i < BU_RAILS_MAX; i++)
		if (bu_gate_port(own, pool->rails[i],
				 &work->rails[work->rails_count++]) != 0)
			return -1;
	return 0;
}

static void
fill_sizes(const struct bu_desired_node *own, struct bu_work_probe *work)
{
	const struct bu_desired_network *slowest = bu_gate_slowest(own->pool);
	struct bu_sizes sizes = bu_gate_sizes(own->validation, slowest, 0);

	work->message_bytes = sizes.message_bytes;
	work->qps = sizes.qps;
	work->depth = sizes.depth;
	work->bytes = (uint64_t)(slowest->link_gbps * 1e6 / 8 * RUN_MS);
	if (work->bytes < work->message_bytes)
		work->bytes = work->message_bytes;
	work->runs = RUNS;
	work->pings = 0;
	work->duplex = 1;
	work->deadline_ms = SETUP_MS + SLOW * RUNS * RUN_MS;
}

static json_t *
link_with(struct bu_gate *gate, const struct bu_node *node, const struct bu_node *peer)
{
	const struct bu_desired_node *own = bu_fleet_ordered(gate->fleet, node);
	const json_t *entry = json_object_get(gate->soaking, node->name);
	char address[2][INET_ADDRSTRLEN]; /* the node's, the peer's */
	struct bu_work_probe work;
	int end;

	if (boot_address(gate, node, address[0]) != 0 ||
	    boot_address(gate, peer, address[1]) != 0)
		return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	if (fill_rails(own, &work) != 0)
		return NULL;
	fill_sizes(own, &work);
	end = strcmp(node->name, peer->name) > 0;
	work.work = (struct bu_work){.id = bu_json_str(entry, "id", ""), .attempt = 1};
	work.role = end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	work.port = BU_GATE_PORT;
	bu_text_copy(work.probe, sizeof(work.probe), work.work.id);
	bu_text_copy(work.secret, sizeof(work.secret),
		     bu_json_str(entry, "secret", ""));
	bu_text_copy(work.node[end], sizeof(work.node[end]), node->name);
	bu_text_copy(work.node[!end], sizeof(work.node[!end]), peer->name);
	bu_text_copy(work.self, sizeof(work.self), node->name);
	bu_text_copy(work.addr, sizeof(work.addr), address[!end]);
	bu_text_copy(work.peer, sizeof(work.peer), address[1]);
	return bu_record_to_json(bu_work_probe_fields, &work);
}

json_t *
bu_gate_soak_link(struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *own = bu_fleet_ordered(gate->fleet, node);
	const struct bu_node *peer =
		own && own->validation ? find_peer(gate, node) : NULL;
	json_t *link = peer ? link_with(gate, node, peer) : NULL;

	if (link)
		json_object_set_new(gate->soaked_with, node->name,
				    json_string(peer->name));
	else
		json_object_del(gate->soaked_with, node->name);
	return link;
}

const char *
bu_gate_soak_peer(const struct bu_gate *gate, const struct bu_node *node)
{
	return bu_json_str(gate->soaked_with, node->name, NULL);
}

/* Counts the neighbours with which payload came changed. Neighbours in quarantine do
 * not count: one of them may be the cause. ret: "node002, node003"; owned. */
static int
count_changed(const struct bu_gate *gate, const struct bu_node *node, char **ret)
{
	bu_autojson json_t *with = json_object();
	const char *last = bu_gate_soak_peer(gate, node), *name;
	json_t *value;
	int count = 0;

	json_object_update(with, (json_t *)(uintptr_t)bu_measurements_changed(
					 gate->fleet, node->machine));
	if (last)
		json_object_set_new(with, last, json_true());
	json_object_foreach (with, name, value) {
		const struct bu_node *other = bu_fleet_node(gate->fleet, name);

		if (!other || other->state == BU_STATE_QUARANTINED)
			continue;
		bu_text_add(ret, ", ", "%s", name);
		count++;
	}
	return count;
}

/* 1 = the profile makes this row a warning (severity). */
static int
is_warning(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_validation *validation = validation_of(gate, node);
	bu_autojson json_t *own = bu_gate_settings(
		validation && validation->severity ? validation->severity : "");

	return strcmp(bu_json_str(own, BU_CHECK_SOAK_PAYLOAD, ""), "warn") == 0;
}

void
bu_gate_soak_accuse(const struct bu_gate *gate, const struct bu_node *node,
		    struct bu_checks *report)
{
	bu_autofree char *with = NULL;
	int count = count_changed(gate, node, &with);

	if (is_warning(gate, node))
		return;
	for (size_t i = 0; i < report->count && count >= CHANGED_MIN; i++) {
		struct bu_check *row = &report->list[i];

		if (strcmp(row->id, BU_CHECK_SOAK_PAYLOAD) != 0)
			continue;
		row->verdict = BU_VERDICT_FAIL;
		BU_CHECK_SET(row->text,
			     "payload came changed on %s, with each of %.160s",
			     row->subject, with);
		BU_CHECK_SET(row->hint, "swap its adapter on this rail, then its riser "
					"and memory");
	}
}
