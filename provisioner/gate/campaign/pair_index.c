/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs that were measured on a rail in the present boots of both nodes, by places of a
 * campaign. Called by campaign_state.c and answer.c. Places of the log's pairs are kept
 * between looks, so that a look finds by name only new pairs. Invariant: kept places
 * follow from the applied profile and the names in the log alone.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/gate/campaign/campaign.h"

static int
network_of(const struct bu_desired *desired, const char *name)
{
	for (size_t i = 0; i < desired->networks_count; i++)
		if (strcmp(desired->networks[i].name, name) == 0)
			return (int)i;
	return -1;
}

static struct bu_gate_pair
pair_of(const struct bu_desired *desired, const struct bu_pair_log *log)
{
	struct bu_gate_pair pair = {.network = network_of(desired, log->rail)};

	for (int i = 0; i < 2; i++) {
		const struct bu_desired_node *want =
			bu_desired_node(desired, log->name[i]);

		pair.node[i] = want ? (int)(want - desired->nodes) : -1;
	}
	return pair;
}

/* The log never drops or moves a pair. */
static void
learn_pairs(struct bu_gate *gate)
{
	const struct bu_measurements *measurements = &gate->fleet->measurements;
	const struct bu_desired *desired = gate->fleet->desired;

	if (strcmp(gate->pairs_of, desired->digest) != 0)
		gate->pairs_count = 0;
	BU_TEXT_COPY(gate->pairs_of, desired->digest);
	gate->pairs = bu_xgrow(gate->pairs, &gate->pairs_cap, measurements->count + 1,
			       sizeof(*gate->pairs));
	while (gate->pairs_count < measurements->count) {
		gate->pairs[gate->pairs_count] =
			pair_of(desired, &measurements->logs[gate->pairs_count]);
		gate->pairs_count++;
	}
}

void
bu_gate_pairs_drop(struct bu_gate *gate)
{
	free(gate->pairs);
	gate->pairs = NULL;
	gate->pairs_count = gate->pairs_cap = 0;
}

static int
is_of_boot(const struct bu_campaign_state *campaign, const struct bu_pair_log *log,
	   int end, int place)
{
	const struct bu_node *node = place < 0 ? NULL : campaign->nodes[place];

	return node && strcmp(node->boot_id, log->boot[end]) == 0;
}

static void
add(struct bu_campaign_state *campaign, const struct bu_pair_log *log, int a, int b)
{
	struct bu_indexed_pair *indexed = &campaign->index[campaign->index_count];
	int failed = bu_gate_failures(log) > 0;

	*indexed = (struct bu_indexed_pair){.log = log, .end = {a, b}};
	campaign->index_pairs[campaign->index_count++] = (struct bu_pair){a, b};
	for (int i = 0; i < 2; i++) {
		indexed->next[i] = campaign->last_indexed[indexed->end[i]];
		campaign->last_indexed[indexed->end[i]] = (int)campaign->index_count;
		campaign->failed_of[indexed->end[i]] += failed;
	}
}

void
bu_pair_index_open(struct bu_campaign_state *campaign)
{
	struct bu_gate *gate = campaign->gate;
	const struct bu_desired *desired = gate->fleet->desired;
	const struct bu_measurements *measurements = &gate->fleet->measurements;
	size_t nodes = (size_t)campaign->topology.nodes, of_rail = 0;
	bu_autofree int *place = bu_xcalloc(desired->nodes_count, sizeof(*place));

	learn_pairs(gate);
	for (int i = 0; i < campaign->topology.nodes; i++)
		place[campaign->role[i] - gate->roles] = i + 1;
	for (size_t i = 0; i < gate->pairs_count; i++)
		of_rail += gate->pairs[i].network == (int)campaign->fabric->index;
	campaign->index = bu_xcalloc(of_rail, sizeof(*campaign->index));
	campaign->index_pairs = bu_xcalloc(of_rail, sizeof(*campaign->index_pairs));
	campaign->last_indexed = bu_xcalloc(nodes, sizeof(*campaign->last_indexed));
	campaign->failed_of = bu_xcalloc(nodes, sizeof(*campaign->failed_of));
	for (size_t i = 0; i < gate->pairs_count; i++) {
		const struct bu_gate_pair *pair = &gate->pairs[i];
		const struct bu_pair_log *log = &measurements->logs[i];
		int a, b;

		if (pair->network != (int)campaign->fabric->index ||
		    pair->node[0] < 0 || pair->node[1] < 0)
			continue;
		a = place[pair->node[0]] - 1;
		b = place[pair->node[1]] - 1;
		if (is_of_boot(campaign, log, 0, a) && is_of_boot(campaign, log, 1, b))
			add(campaign, log, a, b);
	}
}

void
bu_pair_index_close(struct bu_campaign_state *campaign)
{
	free(campaign->index);
	free(campaign->index_pairs);
	free(campaign->last_indexed);
	free(campaign->failed_of);
}

struct bu_indexed_pair *
bu_pair_index_find(const struct bu_campaign_state *campaign, int a, int b, int *ret_dir)
{
	int at = campaign->last_indexed[a];

	while (at > 0) {
		struct bu_indexed_pair *indexed = &campaign->index[at - 1];
		int own = indexed->end[1] == a;

		if (indexed->end[!own] == b && a != b) {
			*ret_dir = own;
			return indexed;
		}
		at = indexed->next[own];
	}
	return NULL;
}
