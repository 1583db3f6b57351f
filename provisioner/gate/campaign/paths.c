/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the spine of each traced flow between leaves, for spines.c. A spine is known by
 * its addresses in the profile (spine_addresses). Invariant: a flow counts only if all
 * its queue pairs took one known spine.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/campaign/spines.h"

/* SINGLES: tests with one queue pair, of which a quarter has to be good. With fewer
 * good ones, one queue pair cannot fill a link. */
enum { SINGLES = 4 };

/* --- the profile's names --- */

static void
add_addresses(const char *name, const char *addresses, json_t *ret)
{
	bu_autofree char *text = bu_xstrdup(addresses);
	char *rest = NULL;

	for (char *one = strtok_r(text, " ", &rest); one;
	     one = strtok_r(NULL, " ", &rest)) {
		char address[INET6_ADDRSTRLEN];
		unsigned char bytes[sizeof(struct in6_addr)];
		int family = strchr(one, ':') ? AF_INET6 : AF_INET;

		/* Agents write hops in this form. */
		if (inet_pton(family, one, bytes) == 1 &&
		    inet_ntop(family, bytes, address, sizeof(address)))
			json_object_set_new(ret, address, json_string(name));
	}
}

/* {ADDRESS: SPINE}; new reference. */
static json_t *
named_spines(const struct bu_leaf_campaign *campaign)
{
	json_t *ret = json_object();

	for (int i = 0; i < campaign->topology.rails; i++) {
		bu_autojson json_t *settings = NULL;
		const char *name;
		json_t *value;

		settings = bu_gate_settings(campaign->rail[i]->spine_addresses);
		json_object_foreach (settings, name, value)
			add_addresses(name, json_string_value(value), ret);
	}
	return ret;
}

/* --- one flow --- */

/* The spine among the hops; NULL = none, or several. */
static const char *
name_on(const json_t *named, const json_t *hops)
{
	const char *found = NULL;
	size_t i;
	json_t *hop;

	json_array_foreach ((json_t *)(uintptr_t)hops, i, hop) {
		const char *name = json_string_value(
			json_object_get(named, json_string_value(hop)));

		if (!name)
			continue;
		if (found && strcmp(found, name) != 0)
			return NULL;
		found = name;
	}
	return found;
}

/* The spine that all queue pairs of a direction took; NULL = not one known spine.
 * paths: by queue pair. ret_seen: gets all spines that they took. */
static const char *
spine_of(const json_t *named, const json_t *paths, struct bu_ids *ret_seen)
{
	const char *found = NULL;
	int several = 0;
	size_t i;
	json_t *path;

	json_array_foreach ((json_t *)(uintptr_t)paths, i, path) {
		const json_t *hops = json_object_get(path, "hops");
		const char *one = name_on(named, hops);

		if (one)
			bu_ids_place(ret_seen, one);
		several |= !one || (found && strcmp(found, one) != 0);
		found = one ? one : found;
	}
	return several ? NULL : found;
}

/* --- all of them --- */

/* Port of an end of the log; -1 = the end takes no part, or its boot has ended. */
static int
port_of(const struct bu_leaf_campaign *campaign, const struct bu_pair_log *log, int end)
{
	const struct bu_topology *t = &campaign->topology;
	const json_t *place = json_object_get(t->node_ids.index, log->name[end]);
	int at = place ? (int)json_integer_value(place) : -1;
	const struct bu_role *role = at < 0 ? NULL : campaign->nodes[at].role;
	const struct bu_desired_network *network;

	if (!role || !role->node || !campaign->trusted[at] ||
	    strcmp(log->boot[end], role->node->boot_id) != 0)
		return -1;
	network = bu_rail_end(log->rail, end, role->want);
	for (int rail = 0; network && rail < t->rails; rail++)
		if (campaign->rail[rail] == network &&
		    !campaign->no_port[at * t->rails + rail])
			return at * t->rails + rail;
	return -1;
}

static void
add_crossing(struct bu_spines *spines, const struct bu_traced_path *path, int dir,
	     const int ports[2], const char *name)
{
	const struct bu_leaf_campaign *campaign = spines->campaign;
	const struct bu_measured_dir *m = &path->dir[dir];
	struct bu_crossing one = {.seq = path->seq,
				  .src = ports[dir],
				  .dst = ports[!dir],
				  .name = name,
				  .dir = dir,
				  .path = path};

	one.from = campaign->topology.leaf_of[one.src];
	one.to = campaign->topology.leaf_of[one.dst];
	one.bad =
		bu_leaf_campaign_comparable(campaign, one.src, one.dst, m->rate_gbps) <
			(float)campaign->min_gbps ||
		m->lost > 0;
	spines->list = bu_xgrow(spines->list, &spines->cap, spines->count + 1,
				sizeof(*spines->list));
	spines->list[spines->count++] = one;
}

static void
add_flow(struct bu_spines *spines, const struct bu_traced_path *path, int dir,
	 const int ports[2], const json_t *named)
{
	const int *leaf_of = spines->campaign->topology.leaf_of;
	struct bu_ids seen = {json_array(), json_object()};
	const char *name = spine_of(named, path->paths[dir], &seen);
	size_t i;
	json_t *one;

	json_array_foreach (seen.list, i, one) {
		bu_ids_place(&spines->topology.spine_ids, json_string_value(one));
		spines->seen[leaf_of[ports[0]]] = spines->seen[leaf_of[ports[1]]] = 1;
	}
	if (name && !path->dir[dir].doubt)
		add_crossing(spines, path, dir, ports, name);
	json_decref(seen.list);
	json_decref(seen.index);
}

static void
add_paths(struct bu_spines *spines, const struct bu_pair_log *log, const json_t *named)
{
	const int *leaf_of = spines->campaign->topology.leaf_of;
	const int ports[2] = {port_of(spines->campaign, log, 0),
			      port_of(spines->campaign, log, 1)};
	int64_t after;

	if (ports[0] < 0 || ports[1] < 0 || leaf_of[ports[0]] == leaf_of[ports[1]])
		return;
	after = bu_leaf_campaign_after(spines->campaign, ports);
	for (size_t i = 0; i < log->paths_count; i++) {
		const struct bu_traced_path *path = &log->paths[i];

		if (path->seq <= after)
			continue;
		for (int end = 0; end < 2; end++)
			spines->tests[leaf_of[ports[end]]] += path->single;
		for (int dir = 0; dir < 2; dir++)
			add_flow(spines, path, dir, ports, named);
	}
}

static int
by_time(const void *x, const void *y)
{
	const struct bu_crossing *a = x, *b = y;

	return a->seq != b->seq   ? (a->seq > b->seq) - (a->seq < b->seq)
	       : a->src != b->src ? a->src - b->src
				  : a->dst - b->dst;
}

static int
by_link(const void *x, const void *y)
{
	const struct bu_crossing *const *a = x, *const *b = y;

	return (*a)->from != (*b)->from     ? (*a)->from - (*b)->from
	       : (*a)->to != (*b)->to       ? (*a)->to - (*b)->to
	       : (*a)->spine != (*b)->spine ? (*a)->spine - (*b)->spine
					    : (*a > *b) - (*a < *b);
}

/* Marks the last crossing from each leaf to each other one over each spine. */
static void
mark_newest(struct bu_spines *spines)
{
	bu_autofree struct bu_crossing **list =
		bu_xcalloc(spines->count, sizeof(*list));

	for (size_t i = 0; i < spines->count; i++)
		list[i] = &spines->list[i];
	qsort(list, spines->count, sizeof(*list), by_link);
	for (size_t i = 0; i < spines->count; i++) {
		const struct bu_crossing *next =
			i + 1 < spines->count ? list[i + 1] : NULL;

		list[i]->newest = !next || next->from != list[i]->from ||
				  next->to != list[i]->to ||
				  next->spine != list[i]->spine;
		spines->bad |= list[i]->newest && list[i]->bad;
	}
}

/* 0 = on these adapters one queue pair carries less than a link, so that its tests say
 * nothing of links. */
static int
is_one_enough(const struct bu_spines *spines)
{
	int all = 0, good = 0;

	for (size_t i = 0; i < spines->count; i++) {
		all += spines->list[i].path->single;
		good += spines->list[i].path->single && !spines->list[i].bad;
	}
	return all < SINGLES || 4 * good >= all;
}

static void
place_spines(struct bu_spines *spines)
{
	struct bu_ids *ids = &spines->topology.spine_ids;

	for (size_t i = 0; i < spines->count; i++) {
		struct bu_crossing *one = &spines->list[i];

		one->spine = bu_ids_place(ids, one->name);
		one->name = json_string_value(
			json_array_get(ids->list, (size_t)one->spine));
	}
	spines->topology.spines = (int)json_array_size(ids->list);
}

void
bu_paths_find(struct bu_leaf_campaign *campaign, struct bu_spines *ret)
{
	const struct bu_measurements *all = &campaign->gate->fleet->measurements;
	bu_autojson json_t *named = named_spines(campaign);

	ret->topology.spines = 0;
	for (size_t i = 0; i < all->count; i++)
		if (all->logs[i].paths_count)
			add_paths(ret, &all->logs[i], named);
	if (ret->count)
		qsort(ret->list, ret->count, sizeof(*ret->list), by_time);
	place_spines(ret);
	mark_newest(ret);
	if (ret->topology.spines > BU_TOPOLOGY_SPINES_MAX || !is_one_enough(ret))
		ret->topology.spines = 0;
	if (!ret->topology.spines)
		ret->count = 0;
}
