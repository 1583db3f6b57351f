/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's own ports in work items: for probes between nodes (probe.c), and for loops
 * inside a node (checks.c). Invariant: the measured port is that of the profile.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/gate/terms/terms.h"

/* A loop moves 1/LOOP_SHARE of a direction of a probe, in LOOP_RUNS runs: one run alone
 * cannot tell a loss from an adapter that does not loop. */
enum { LOOP_RUNS = 4, LOOP_SHARE = 4, LOOP_DEADLINE_MS = 15000 };

int
bu_gate_port(const struct bu_desired_node *own, const struct bu_desired_network *rail,
	     struct bu_work_rail *ret)
{
	char address[INET_ADDRSTRLEN];

	bu_record_init(bu_work_rail_fields, ret);
	if (bu_desired_node_address(own, rail, address) == 0)
		bu_text_copy(ret->address, sizeof(ret->address), address);
	else if (!rail->port)
		return -1;
	bu_text_copy(ret->rail, sizeof(ret->rail), rail->name);
	/* Software RDMA has no PCI slot and is found by address. */
	if (rail->port)
		bu_text_copy(ret->port, sizeof(ret->port), rail->port);
	else if (rail->pci && rail->rdma >= BU_RDMA_HARDWARE)
		bu_text_copy(ret->port, sizeof(ret->port), rail->pci);
	if (rail->gid_index >= 0)
		ret->gid_index = rail->gid_index;
	if (rail->gid_family)
		ret->gid_family = strcmp(rail->gid_family, "ipv6") == 0 ? 6 : 4;
	ret->flow_label = rail->flow_label;
	ret->mtu = bu_gate_path_mtu(rail);
	if (rail->dscp >= 0)
		ret->traffic_class = rail->dscp << 2;
	if (rail->pkey)
		ret->pkey = (int)strtol(rail->pkey, NULL, 16);
	ret->sl = rail->sl;
	return 0;
}

double
bu_gate_least_gbps(const struct bu_gate *gate,
		   const struct bu_desired_validation *validation,
		   const struct bu_desired_network *rail)
{
	struct bu_expect expect = bu_gate_expect(gate, validation, rail);

	return bu_expect_min_gbps(&expect, 0);
}

json_t *
bu_gate_loops(const struct bu_gate *gate, const struct bu_desired_node *own)
{
	struct bu_work_probe work;
	struct bu_sizes sizes;

	if (!own->validation || !own->pool->rails_count)
		return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	for (size_t i = 0; i < own->pool->rails_count && i < BU_RAILS_MAX; i++) {
		const struct bu_desired_network *rail = own->pool->rails[i];
		struct bu_work_rail *port = &work.rails[work.rails_count];

		if (bu_gate_port(own, rail, port) != 0)
			continue;
		/* Loops of software RDMA are as fast as the CPU, whatever the link. */
		if (rail->rdma >= BU_RDMA_HARDWARE)
			port->min_gbps =
				bu_gate_least_gbps(gate, own->validation, rail);
		work.rails_count++;
	}
	if (!work.rails_count)
		return NULL;
	/* All rails have the sizes of the slowest. */
	sizes = bu_gate_sizes(own->validation, bu_gate_slowest(own->pool), 0);
	work.work = (struct bu_work){.id = "loops", .attempt = 1};
	work.role = BU_PROBE_LOOPBACK;
	bu_text_copy(work.probe, sizeof(work.probe), "loops");
	bu_text_copy(work.node[BU_END_A], sizeof(work.node[BU_END_A]), own->name);
	work.message_bytes = sizes.message_bytes;
	work.qps = sizes.qps;
	work.depth = sizes.depth;
	work.warm_bytes = sizes.warm_bytes / LOOP_SHARE;
	work.runs = LOOP_RUNS;
	work.bytes =
		sizes.bytes * (uint64_t)own->validation->runs / LOOP_SHARE / LOOP_RUNS;
	if (work.bytes < work.message_bytes)
		work.bytes = work.message_bytes;
	work.pings = 0;
	work.duplex = 1;
	work.deadline_ms = LOOP_DEADLINE_MS;
	return bu_record_to_json(bu_work_probe_fields, &work);
}
