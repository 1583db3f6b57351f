/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of a pair: one, or two of one switch fabric. Called by asks.c and
 * probe.c. Invariant: in the text that the log keeps, the network before the slash is
 * that of the end whose name sorts first; no network's name has a slash.
 */
#include <stdio.h>
#include <string.h>

#include "provisioner/gate/terms/terms.h"

void
bu_rail_ends_text(const struct bu_rail_ends *rail, char ret[BU_NAME_MAX])
{
	if (rail->of[0] == rail->of[1])
		snprintf(ret, BU_NAME_MAX, "%s", rail->of[0]->name);
	else
		snprintf(ret, BU_NAME_MAX, "%s/%s", rail->of[0]->name,
			 rail->of[1]->name);
}

const struct bu_desired_network *
bu_rail_end(const char *rail, int end, const struct bu_desired_node *want)
{
	const char *slash = strchr(rail, '/');
	const char *name = slash && end ? slash + 1 : rail;
	size_t length = slash && !end ? (size_t)(slash - rail) : strlen(name);

	for (size_t i = 0; want && want->validation && i < want->pool->rails_count;
	     i++) {
		const struct bu_desired_network *one = want->pool->rails[i];

		if (strlen(one->name) == length &&
		    strncmp(one->name, name, length) == 0)
			return one;
	}
	return NULL;
}

int
bu_rail_is_traced(const struct bu_desired_network *rail)
{
	return rail->spine_addresses != NULL;
}

const struct bu_desired_network *
bu_rail_slower(const struct bu_rail_ends *rail)
{
	return rail->of[1]->link_gbps < rail->of[0]->link_gbps ? rail->of[1]
							       : rail->of[0];
}

struct bu_expect
bu_rail_expect(const struct bu_gate *gate,
	       const struct bu_desired_validation *validation,
	       const struct bu_rail_ends *rail)
{
	int a = bu_gate_path_mtu(rail->of[0]), b = bu_gate_path_mtu(rail->of[1]);

	return bu_gate_expect_at(gate, validation, bu_rail_slower(rail), a < b ? a : b);
}

/* The least path MTU by the last results of the rail's pairs, without those in doubt; 0
 * = none. An expectation at the least MTU rejects no pair that is good at its own. */
static int
least_mtu(const struct bu_measurements *measurements, const char *rail)
{
	int least = 0;

	for (size_t i = 0; i < measurements->count; i++) {
		const struct bu_pair_log *log = &measurements->logs[i];
		const struct bu_measured *last =
			log->count ? &log->list[log->count - 1] : NULL;

		if (!last || strcmp(log->rail, rail) != 0 || last->mtu <= 0 ||
		    last->dir[0].doubt || last->dir[1].doubt)
			continue;
		if (least == 0 || last->mtu < least)
			least = last->mtu;
	}
	return least;
}

struct bu_expect
bu_gate_expect_all(const struct bu_gate *gate,
		   const struct bu_desired_validation *validation,
		   const struct bu_desired_network *rail)
{
	struct bu_expect expect = bu_gate_expect(gate, validation, rail);

	if (expect.mtu == 0 && rail->rdma >= BU_RDMA_HARDWARE)
		bu_expect_settle(&expect,
				 least_mtu(&gate->fleet->measurements, rail->name));
	return expect;
}

int64_t
bu_rails_deadline_ms(const struct bu_gate *gate,
		     const struct bu_desired_validation *validation,
		     const struct bu_rail_ends *rails, size_t count)
{
	int64_t longest_ms = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t ms = bu_gate_deadline_ms(gate, validation,
						 bu_rail_slower(&rails[i]));

		if (ms > longest_ms)
			longest_ms = ms;
	}
	return longest_ms;
}

struct bu_sizes
bu_rails_sizes(const struct bu_desired_validation *validation,
	       const struct bu_rail_ends *rails, size_t count, int single)
{
	const struct bu_desired_network *slowest = bu_rail_slower(&rails[0]), *next;
	struct bu_sizes sizes;
	int qps = 0;

	for (size_t i = 1; i < count; i++) {
		next = bu_rail_slower(&rails[i]);
		if (next->link_gbps < slowest->link_gbps)
			slowest = next;
	}
	for (size_t i = 0; i < count && !single; i++)
		if (rails[i].qps > qps)
			qps = rails[i].qps;
	sizes = bu_gate_sizes(validation, slowest, qps);
	if (single)
		sizes.qps = 1;
	return sizes;
}
