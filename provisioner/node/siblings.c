/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Siblings: nodes whose machines have the same BMC, as in a chassis. A restart of the
 * BMC hits all of them. Called by reconcile.c, effects.c and verbs_power.c. Invariants:
 * bringup itself restarts no BMC while one of its machines is being switched or is in a
 * person's hands; no machine is switched while its BMC restarts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/url.h"
#include "provisioner/node/effect.h"

/* A BMC restarted within this time is not restarted for another of its machines. */
enum { LATELY_MS = 15 * 60 * 1000 };

/* The BMCs of its order and of its reach: an action begun before a correction may still
 * run on the old one. */
enum { BMCS = 2 };

static void
bmcs_of(const struct bu_reconcile *rec, const struct bu_node *node,
	const char *ret[BMCS])
{
	const struct bu_desired_node *wants[BMCS] = {bu_fleet_ordered(rec->fleet, node),
						     bu_fleet_reach(rec->fleet, node)};

	for (int i = 0; i < BMCS; i++)
		ret[i] = bu_bmc_is(wants[i]) && wants[i]->bmc ? wants[i]->bmc : "";
}

static int
is_sibling(const struct bu_reconcile *rec, const struct bu_node *node,
	   const struct bu_node *other)
{
	const char *own[BMCS], *others[BMCS];

	if (!other || other == node)
		return 0;
	bmcs_of(rec, node, own);
	bmcs_of(rec, other, others);
	for (int i = 0; i < BMCS * BMCS; i++)
		if (bu_url_same_host(own[i / BMCS], others[i % BMCS]))
			return 1;
	return 0;
}

/* --- index of the nodes by their BMCs --- */

/* A node with this BMC in a revision that a node may have. */
struct place {
	uint64_t bmc;     /* hash of the host */
	const char *node; /* interned */
};

struct bu_siblings {
	uint64_t of;        /* hash of the revisions */
	struct place *list; /* sorted */
	size_t count, cap;
};

static uint64_t
hash_of(const char *text, size_t size)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Equal for all spellings of one host; 0 = it is no URL. */
static uint64_t
hash_of_bmc(const char *bmc)
{
	bu_autofree char *key = bu_url_key(bmc);

	return key ? hash_of(key, strcspn(key, " ")) : 0;
}

static int
by_bmc(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->bmc != other->bmc)
		return one->bmc < other->bmc ? -1 : 1;
	return strcmp(one->node, other->node);
}

static void
add_places(struct bu_siblings *siblings, const struct bu_desired *desired)
{
	siblings->list = bu_xgrow(siblings->list, &siblings->cap,
				  siblings->count + desired->nodes_count,
				  sizeof(*siblings->list));
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *want = &desired->nodes[i];

		if (want->bmc && bu_bmc_is(want))
			siblings->list[siblings->count++] = (struct place){
				hash_of_bmc(want->bmc), bu_intern(want->name)};
	}
}

/* Made anew when another revision is applied or ordered. */
static struct bu_siblings *
index_of(const struct bu_reconcile *rec)
{
	struct bu_siblings *siblings = rec->siblings;
	const struct bu_desired *desired;
	uint64_t of = 1;

	for (size_t i = 0; (desired = bu_fleet_state(rec->fleet, i)); i++)
		of = of * 31 + hash_of(desired->digest, strlen(desired->digest)) +
		     (uintptr_t)desired;
	if (siblings->of == of)
		return siblings;
	siblings->of = of;
	siblings->count = 0;
	for (size_t i = 0; (desired = bu_fleet_state(rec->fleet, i)); i++)
		add_places(siblings, desired);
	if (siblings->count)
		qsort(siblings->list, siblings->count, sizeof(*siblings->list), by_bmc);
	return siblings;
}

static size_t
first_with(const struct bu_siblings *siblings, uint64_t bmc)
{
	size_t low = 0, high = siblings->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (siblings->list[mid].bmc < bmc)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct bu_siblings *
bu_siblings_create(void)
{
	return bu_xcalloc(1, sizeof(struct bu_siblings));
}

void
bu_siblings_destroy(struct bu_siblings *siblings)
{
	free(siblings->list);
	free(siblings);
}

/* The first sibling for which is() holds. */
static const struct bu_node *
find(const struct bu_reconcile *rec, const struct bu_node *node,
     int (*is)(const struct bu_reconcile *rec, const struct bu_node *node))
{
	const struct bu_siblings *siblings = index_of(rec);
	const char *own[BMCS];

	bmcs_of(rec, node, own);
	for (int i = 0; i < BMCS; i++) {
		uint64_t bmc = *own[i] ? hash_of_bmc(own[i]) : 0;

		for (size_t k = first_with(siblings, bmc);
		     bmc && k < siblings->count && siblings->list[k].bmc == bmc; k++) {
			const struct bu_node *other =
				bu_fleet_node(rec->fleet, siblings->list[k].node);

			if (other && is(rec, other) && is_sibling(rec, node, other))
				return other;
		}
	}
	return NULL;
}

/* The same for steps with a running command: each effect is looked at once, and not
 * once for each node. */
static const struct bu_node *
find_effect(const struct bu_reconcile *rec, const struct bu_node *node, int restarts)
{
	for (const struct bu_effect *effect = rec->effects; effect;
	     effect = effect->next) {
		const struct bu_node *other =
			effect->switches && (effect->restarts || !restarts)
				? bu_fleet_node(rec->fleet, effect->node)
				: NULL;

		if (is_sibling(rec, node, other))
			return other;
	}
	return NULL;
}

static int
is_wished(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return bu_power_request_runs(node);
}

static int
is_wished_restart(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return bu_power_request_restarts(node);
}

static int
is_worked_on(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return !bu_state_info(node->state)->settled;
}

static int
is_of_a_person(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return node->state == BU_STATE_SERVICING ||
	       node->hold->owner == BU_OWNER_PERSON;
}

static int
was_restarted(const struct bu_reconcile *rec, const struct bu_node *node)
{
	/* A person's restart is in the log, which outlives this process. */
	int64_t ago_ms =
		bu_wall_ms(bu_loop_clock(rec->fleet->loop)) - node->power->at_ms;

	if (node->power->op == BU_POWER_REQUEST_BMC_RESET && ago_ms >= 0 &&
	    ago_ms < LATELY_MS)
		return 1;
	return node->live.bmc_restart_ms &&
	       bu_loop_now_ms(rec->fleet->loop) - node->live.bmc_restart_ms < LATELY_MS;
}

const struct bu_node *
bu_sibling_switched(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find_effect(rec, node, 0);

	return other ? other : find(rec, node, is_wished);
}

const struct bu_node *
bu_sibling_in_use(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find(rec, node, is_of_a_person);

	return other ? other : find(rec, node, is_worked_on);
}

int
bu_siblings_allow(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return !find(rec, node, is_of_a_person) && !find(rec, node, was_restarted);
}

const struct bu_node *
bu_sibling_restarts(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find_effect(rec, node, 1);

	return other ? other : find(rec, node, is_wished_restart);
}
