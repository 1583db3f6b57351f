/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVLink tests: two certified nodes of one NVLink domain copy to each other
 * (checks/gpu/nvlink.h). A node is tested once in each boot; after a bad test again
 * with a good node, so that a third node tells the bad one. Called by gate.c at each
 * look. Invariants: a domain has one pair at a time; only idle nodes take part that
 * their pool lends, and whose agent reports a domain; no node is moved or accused, a
 * finding is a remark.
 */
#include "provisioner/gate/nvlink.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/hello.h"

/* TRIES: nodes for which a look searches a partner. TESTS: of a node in a boot, while
 * none is good. REST: between two tests of a node, for the log to take the first. */
enum {
	PAUSE_MS = 10000,
	REST_MS = 600000,
	TRIES = 64,
	TESTS = 3,
	RUNS = 5,
	DEADLINE_MS = 180000,
	DRIVER_MS = 100000, /* to start the driver, and to end a hung test */
};

struct pair {
	struct pair *next;
	char id[BU_NAME_SIZE], secret[65], domain[80];
	char name[2][BU_NAME_MAX]; /* a connects, b listens */
	char boot[2][40];          /* when the pair began */
	int spoke[2];
	int64_t until_ms; /* monotonic */
	json_t *said[2];  /* bu_gate_nvlink_read() */
	char error[200];
};

struct bu_nvlinks {
	struct pair *pairs;
	json_t *rest; /* node -> ms, monotonic: no test before */
	int64_t next_ms;
	size_t place; /* in the fleet: the next search begins here */
};

static void
pair_free(struct bu_gate *gate, struct pair *pair)
{
	for (int end = 0; end < 2; end++) {
		json_object_del(gate->busy, pair->name[end]);
		json_decref(pair->said[end]);
	}
	free(pair);
}

void
bu_gate_nvlink_drop(struct bu_gate *gate)
{
	struct bu_nvlinks *all = gate->nvlinks;

	while (all && all->pairs) {
		struct pair *pair = all->pairs;

		all->pairs = pair->next;
		pair_free(gate, pair);
	}
	if (all)
		json_decref(all->rest);
	free(all);
	gate->nvlinks = NULL;
}

/* --- which nodes take part --- */

static int
is_free(struct bu_gate *gate, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	return want && want->validation && !want->mig && bu_gate_nvlink_domain(node) &&
	       node->state == BU_STATE_READY && !node->hold->owner &&
	       bu_gate_hears(gate, node) && !bu_probe_busy(gate, node->name) &&
	       bu_fleet_certified(gate->fleet, node, NULL) == 0 &&
	       bu_gate_lends(gate, node, want) && !bu_gate_works(gate, node, want);
}

/* 1 = in its present boot the node has a result about the path to this peer. */
static int
was_with(const struct bu_node *node, const char *peer)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	return body && json_object_get(body->with, peer);
}

static int
was_good(const struct bu_node *node)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);
	const char *peer, *pass = bu_verdict_name(BU_VERDICT_PASS);
	json_t *word;

	json_object_foreach (body ? (json_t *)(uintptr_t)body->with : NULL, peer, word)
		if (strcmp(bu_json_str(body->with, peer, ""), pass) == 0)
			return 1;
	return 0;
}

static int64_t
tests_of(const struct bu_node *node)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	return body ? body->test : 0;
}

static int
asks(const struct bu_gate *gate, const struct bu_node *node)
{
	return !was_good(node) && tests_of(node) < TESTS &&
	       bu_loop_now_ms(gate->fleet->loop) >=
		       bu_json_int(gate->nvlinks->rest, node->name, 0);
}

/* Nodes without a rack are in one rack. */
static int
is_one_rack(const struct bu_desired_node *a, const struct bu_desired_node *b)
{
	return strcmp(a->rack ? a->rack : "", b->rack ? b->rack : "") == 0;
}

/* 1 = free, of the node's domain and rack, and not tested with the node yet. */
static int
is_partner(struct bu_gate *gate, const struct bu_node *node, struct bu_node *other)
{
	const struct bu_desired_node *own = bu_fleet_desired(gate->fleet, node);
	const struct bu_desired_node *its = bu_fleet_desired(gate->fleet, other);
	const char *domain = bu_gate_nvlink_domain(other);

	return other != node && domain && own && its &&
	       strcmp(domain, bu_gate_nvlink_domain(node)) == 0 &&
	       is_one_rack(own, its) && !was_with(node, other->name) &&
	       is_free(gate, other);
}

/* For a first test another node that asks, because the test counts for both. Else a
 * good node, so that a bad result is due to this one. The last peer comes last. */
static int
rank_of(const struct bu_gate *gate, const struct bu_node *node,
	const struct bu_node *other)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	if (!body && asks(gate, other))
		return 4;
	if (was_good(other))
		return 3;
	return body && strcmp(body->peer, other->name) == 0 ? 1 : 2;
}

static struct bu_node *
find_partner(struct bu_gate *gate, const struct bu_node *node)
{
	struct bu_node *best = NULL;
	int best_rank = 0;

	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *other = gate->fleet->nodes[i];
		int rank;

		if (!is_partner(gate, node, other))
			continue;
		rank = rank_of(gate, node, other);
		if (rank > best_rank) {
			best = other;
			best_rank = rank;
		}
	}
	return best;
}

static int
is_under_way(const struct bu_gate *gate, const char *domain)
{
	for (const struct pair *pair = gate->nvlinks->pairs; pair; pair = pair->next)
		if (strcmp(pair->domain, domain) == 0)
			return 1;
	return 0;
}

static void
start(struct bu_gate *gate, const struct bu_node *node, const struct bu_node *other)
{
	struct pair *pair = bu_xcalloc(1, sizeof(*pair));
	const struct bu_node *ends[2] = {node, other};

	snprintf(pair->id, sizeof(pair->id), "n-");
	bu_random_hex(pair->id + 2, 6);
	bu_random_hex(pair->secret, 32);
	bu_text_copy(pair->domain, sizeof(pair->domain), bu_gate_nvlink_domain(node));
	pair->until_ms = bu_loop_now_ms(gate->fleet->loop) + DEADLINE_MS + DRIVER_MS +
			 BU_GATE_GRACE_MS;
	for (int end = 0; end < 2; end++) {
		bu_text_copy(pair->name[end], BU_NAME_MAX, ends[end]->name);
		BU_TEXT_COPY(pair->boot[end], ends[end]->boot_id);
		/* The value 0 is work other than a probe. */
		json_object_set_new(gate->busy, ends[end]->name, json_integer(0));
		bu_fleet_touch(gate->fleet,
			       bu_fleet_node(gate->fleet, ends[end]->name));
	}
	pair->next = gate->nvlinks->pairs;
	gate->nvlinks->pairs = pair;
	bu_info("gate", "NVLink %s: %s and %s", pair->id, node->name, other->name);
}

/* Begins where the last look stopped. TRIES bounds the searches, because is_free() may
 * ask a node's cluster. */
static void
begin(struct bu_gate *gate)
{
	struct bu_nvlinks *all = gate->nvlinks;
	size_t count = gate->fleet->count;
	int tries = 0;

	for (size_t i = 0; i < count && tries < TRIES; i++) {
		struct bu_node *node = gate->fleet->nodes[all->place++ % count], *other;
		const char *domain = bu_gate_nvlink_domain(node);

		if (!domain || is_under_way(gate, domain) || !asks(gate, node))
			continue;
		tries++;
		other = is_free(gate, node) ? find_partner(gate, node) : NULL;
		if (other)
			start(gate, node, other);
	}
}

/* --- work items --- */

static struct pair *
pair_of(const struct bu_gate *gate, const char *name, int *ret_end)
{
	struct pair *pair = gate->nvlinks ? gate->nvlinks->pairs : NULL;

	for (; pair; pair = pair->next)
		for (int end = 0; end < 2; end++)
			if (strcmp(pair->name[end], name) == 0) {
				*ret_end = end;
				return pair;
			}
	return NULL;
}

static int
boot_address(const struct bu_gate *gate, const char *name, char ret[INET_ADDRSTRLEN])
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, name);
	const struct bu_desired_node *want =
		node ? bu_fleet_ordered(gate->fleet, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	return boot ? bu_desired_node_address(want, boot, ret) : -1;
}

/* NULL = an end has no boot address. New reference. */
static json_t *
ends_of(const struct bu_gate *gate, const struct pair *pair, int end)
{
	char address[2][INET_ADDRSTRLEN];
	struct bu_work_probe work;

	for (int i = 0; i < 2; i++)
		if (boot_address(gate, pair->name[i], address[i]) != 0)
			return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	work.work = (struct bu_work){.id = pair->id, .attempt = 1};
	work.role = end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	work.port = BU_GATE_PORT;
	work.runs = RUNS;
	work.deadline_ms = DEADLINE_MS;
	for (int i = 0; i < 2; i++)
		bu_text_copy(work.node[i], sizeof(work.node[i]), pair->name[i]);
	bu_text_copy(work.probe, sizeof(work.probe), pair->id);
	bu_text_copy(work.self, sizeof(work.self), pair->name[end]);
	bu_text_copy(work.addr, sizeof(work.addr), address[1]);
	bu_text_copy(work.peer, sizeof(work.peer), address[!end]);
	bu_text_copy(work.secret, sizeof(work.secret), pair->secret);
	bu_text_copy(work.device, sizeof(work.device), "nvlink");
	return bu_record_to_json(bu_work_probe_fields, &work);
}

json_t *
bu_gate_nvlink_work(struct bu_gate *gate, const struct bu_node *node)
{
	int end;
	const struct pair *pair = pair_of(gate, node->name, &end);
	struct bu_target target;
	json_t *ends, *expect;

	if (!pair || pair->spoke[end] ||
	    bu_fleet_target(gate->fleet, node, &target, NULL) != 0)
		return NULL;
	ends = ends_of(gate, pair, end);
	if (!ends)
		return NULL;
	expect = bu_gate_checks_expect(gate, node, &target);
	json_object_set_new(expect, "nvlink", ends);
	return json_pack("{s:s,s:s,s:i,s:[s],s:o,s:I}", "kind", "checks", "id",
			 pair->id, "attempt", 1, "groups", "nvlink", "expect", expect,
			 "deadline_ms", (json_int_t)DEADLINE_MS + DRIVER_MS);
}

/* --- results --- */

static void
tell(struct bu_gate *gate, const struct pair *pair, int end, struct bu_event *ret)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, pair->name[end]);
	const struct bu_body_nvlink *before = bu_gate_nvlink_of(node);
	const json_t *own = pair->said[end], *other = pair->said[!end];
	const char *peer = pair->name[!end];
	enum bu_verdict verdict = bu_gate_nvlink_judge(own, other);
	json_t *with =
		before && before->with ? json_deep_copy(before->with) : json_object();

	if (bu_gate_nvlink_is_of_pair(own, other))
		json_object_set_new(with, peer, json_string(bu_verdict_name(verdict)));
	BU_EVENT_MAKE(ret, BU_EVENT_NVLINK, node->name, nvlink, .probe = pair->id,
		      .boot_id = node->boot_id, .peer = peer, .verdict = verdict,
		      .rows = json_object_get(own, "rows"), .with = with,
		      .error = own ? bu_json_str(own, "error", "") : pair->error,
		      .test = tests_of(node) + 1);
	json_decref(with);
	json_object_set_new(gate->nvlinks->rest, node->name,
			    json_integer(bu_loop_now_ms(gate->fleet->loop) + REST_MS));
}

/* 0 = the node rebooted meanwhile: nothing is logged, and it is tested again. */
static int
is_there(const struct bu_gate *gate, const struct pair *pair, int end)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, pair->name[end]);

	return node && strcmp(node->boot_id, pair->boot[end]) == 0;
}

static void
finish(struct bu_gate *gate, struct pair *pair)
{
	struct bu_event events[2];
	size_t count = 0;

	if (!pair->error[0])
		snprintf(pair->error, sizeof(pair->error), "no result in time");
	for (int end = 0; end < 2; end++)
		if (is_there(gate, pair, end))
			tell(gate, pair, end, &events[count++]);
	if (count)
		bu_reconcile_note(gate->rec, events, count);
	pair_free(gate, pair);
}

int
bu_gate_nvlink_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		      const json_t *result, const struct bu_err *failure)
{
	int end;
	struct pair *pair = pair_of(gate, node->name, &end);

	if (!pair || strcmp(pair->id, id) != 0)
		return 0;
	if (pair->spoke[end])
		return 1;
	pair->spoke[end] = 1;
	pair->said[end] = bu_gate_nvlink_read(result);
	if (failure)
		snprintf(pair->error, sizeof(pair->error), "%.60s: %.130s", node->name,
			 failure->text);
	bu_gate_kick(gate);
	return 1;
}

void
bu_gate_nvlink_look(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);
	struct pair **at;

	if (!gate->nvlinks) {
		gate->nvlinks = bu_xcalloc(1, sizeof(*gate->nvlinks));
		gate->nvlinks->rest = json_object();
	}
	for (at = &gate->nvlinks->pairs; *at;) {
		struct pair *pair = *at;

		if (now_ms < pair->until_ms && !(pair->spoke[0] && pair->spoke[1])) {
			at = &pair->next;
			continue;
		}
		*at = pair->next;
		finish(gate, pair);
	}
	if (now_ms < gate->nvlinks->next_ms)
		return;
	gate->nvlinks->next_ms = now_ms + PAUSE_MS;
	begin(gate);
}
