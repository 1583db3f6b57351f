/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brake: many nodes of a pool, a rack or a BMC subnet that are late together have a
 * common cause. Their ladders then freeze (no power cycle, no failed node), with one
 * alarm. The brake ends by itself when fewer are late. Called by reconcile at each
 * look. Invariant: an event is written only when a scope freezes or ends.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/url.h"
#include "provisioner/rollout/rollout_impl.h"

enum { LATE_MIN = 3, PERCENT_DEFAULT = 20, SCOPE_SIZE = 160 };

struct bu_brake {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	json_t *on;  /* {scope: true}; NULL until the first look */
	int outages; /* log outages seen so far; their events may be lost */
};

/* --- scopes of a node --- */

static int
pool_scope(const struct bu_desired_node *want, char *ret)
{
	snprintf(ret, SCOPE_SIZE, "pool %s", want->pool->name);
	return 1;
}

static int
rack_scope(const struct bu_desired_node *want, char *ret)
{
	if (want->rack)
		snprintf(ret, SCOPE_SIZE, "rack %.100s", want->rack);
	return want->rack != NULL;
}

/* "https://10.1.0.17/x" is in "BMC subnet 10.1.0.0/24"; host names are in none. */
static int
bmc_scope(const struct bu_desired_node *want, char *ret)
{
	char net[INET_ADDRSTRLEN];
	struct in_addr in;
	uint32_t address;

	if (!want->bmc || bu_url_ipv4(want->bmc, &address) < 0)
		return 0;
	in.s_addr = htonl(address & 0xffffff00);
	snprintf(ret, SCOPE_SIZE, "BMC subnet %s/24",
		 inet_ntop(AF_INET, &in, net, sizeof(net)));
	return 1;
}

static int (*const scopes[])(const struct bu_desired_node *want,
			     char *ret) = {pool_scope, rack_scope, bmc_scope};

const char *
bu_brake_scope(const struct bu_brake *brake, const struct bu_node *node)
{
	const struct bu_desired_node *want;
	char scope[SCOPE_SIZE];

	if (!json_object_size(brake->on))
		return NULL;
	want = bu_fleet_desired(brake->fleet, node);
	for (size_t i = 0; want && i < BU_LEN(scopes); i++)
		if (scopes[i](want, scope) && json_object_get(brake->on, scope))
			return json_object_iter_key(
				json_object_iter_at(brake->on, scope));
	return NULL;
}

/* --- late nodes --- */

static void
count_up(json_t *counts, const char *scope, const char *what)
{
	json_t *row = json_object_get(counts, scope);

	if (!row) {
		row = json_object();
		json_object_set_new(counts, scope, row);
	}
	bu_json_count_up(row, what);
}

/* {scope: {"late","of"}}; NULL = no node is late. */
static json_t *
count_late(const struct bu_brake *brake)
{
	const struct bu_fleet *fleet = brake->fleet;
	json_t *counts = NULL;
	char scope[SCOPE_SIZE];

	for (size_t i = 0; i < fleet->count && !counts; i++)
		if (bu_reconcile_is_late(brake->rec, fleet->nodes[i]))
			counts = json_object();
	for (size_t i = 0; counts && i < fleet->count; i++) {
		const struct bu_desired_node *want =
			bu_fleet_desired(fleet, fleet->nodes[i]);
		int late = bu_reconcile_is_late(brake->rec, fleet->nodes[i]);

		for (size_t k = 0; want && k < BU_LEN(scopes); k++) {
			if (!scopes[k](want, scope))
				continue;
			count_up(counts, scope, "of");
			if (late)
				count_up(counts, scope, "late");
		}
	}
	return counts;
}

static int
too_many(const struct bu_brake *brake, const json_t *row)
{
	double percent = brake->fleet->desired->policy.brake_percent;
	int64_t late = bu_json_int(row, "late", 0), of = bu_json_int(row, "of", 1);

	return late >= LATE_MIN &&
	       (double)late * 100 > (double)of * (percent ? percent : PERCENT_DEFAULT);
}

static void
tell(struct bu_brake *brake, const char *scope, int on, const json_t *row)
{
	int64_t late = bu_json_int(row, "late", 0), of = bu_json_int(row, "of", 0);
	struct bu_event event;

	bu_warn("brake", "%s: %lld of %lld nodes are late, the brake is %s", scope,
		(long long)late, (long long)of, on ? "on" : "off");
	BU_EVENT_MAKE(&event, BU_EVENT_BRAKE, "", brake, .scope = scope, .on = on,
		      .late = late, .of = of);
	bu_reconcile_note(brake->rec, &event, 1);
}

static void
look(void *arg)
{
	struct bu_brake *brake = arg;
	bu_autojson json_t *counts = NULL, *before = NULL;
	const char *scope;
	json_t *row;

	if (!brake->fleet->desired)
		return;
	if (brake->outages != brake->fleet->outages)
		json_decref(bu_steal(&brake->on));
	brake->outages = brake->fleet->outages;
	if (!brake->on) /* scopes that an earlier process left on */
		brake->on = json_copy(brake->fleet->brakes);
	counts = count_late(brake);
	if (!counts && !json_object_size(brake->on))
		return;
	before = json_copy(brake->on);
	json_object_foreach (before, scope, row) {
		const json_t *now = json_object_get(counts, scope);

		if (now && too_many(brake, now))
			continue;
		json_object_del(brake->on, scope);
		tell(brake, scope, 0, now);
	}
	json_object_foreach (counts, scope, row) {
		if (!too_many(brake, row) || json_object_get(brake->on, scope))
			continue;
		json_object_set_new(brake->on, scope, json_true());
		tell(brake, scope, 1, row);
	}
}

static int
frozen(void *arg, const struct bu_node *node)
{
	return bu_brake_scope(arg, node) != NULL;
}

struct bu_brake *
bu_brake_create(struct bu_fleet *fleet, struct bu_reconcile *rec)
{
	struct bu_brake *brake = bu_xcalloc(1, sizeof(*brake));
	struct bu_freezer freezer = {look, frozen, brake};

	brake->fleet = fleet;
	brake->rec = rec;
	bu_reconcile_set_freezer(rec, &freezer);
	return brake;
}

void
bu_brake_destroy(struct bu_brake *brake)
{
	static const struct bu_freezer none;

	bu_reconcile_set_freezer(brake->rec, &none);
	json_decref(brake->on);
	free(brake);
}
