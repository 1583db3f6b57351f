/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the counters of RDMA ports say of a slice. Called by soak.c. Invariants: only
 * what was added is judged; a counter that the slice's own load moves in health has a
 * limit above that. Sources of limits: fabric reference 2.6 (NVSentinel).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/soak/soak_impl.h"
#include "fabric/probe/port.h"

static const char ib[] = "sys/class/infiniband";
enum { NDEVS = 8 };

enum { USUAL = -1 }; /* as a good cable's: bu_counter_most() */

/* A counter may grow by `count`, and by so much a second, and by that share of the
 * packets. port_xmit_wait is not judged: adapters count it in ticks of their own; nor
 * carrier_changes, which soak-link-flaps counts. */
static const struct {
	enum bu_counter counter;
	enum bu_soak_kind row;
	double count, per_second, of_packets;
} rules[] = {
	{BU_COUNTER_LINK_DOWNED, BU_SOAK_LINK_DOWNED, USUAL, 0, 0},
	{BU_COUNTER_SYMBOL_ERROR, BU_SOAK_SYMBOLS, 0, 0, 0},
	{BU_COUNTER_SYMBOL_ERROR, BU_SOAK_SYMBOL_RATE, USUAL, 0, 0},
	{BU_COUNTER_LINK_ERROR_RECOVERY, BU_SOAK_RECOVERIES, USUAL, 0, 0},
	{BU_COUNTER_LOCAL_LINK_INTEGRITY, BU_SOAK_OVERRUNS, USUAL, 0, 0},
	{BU_COUNTER_BUFFER_OVERRUN, BU_SOAK_OVERRUNS, USUAL, 0, 0},
	{BU_COUNTER_PORT_RCV_ERRORS, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_PORT_RCV_PHYSICAL, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_PORT_XMIT_DISCARDS, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_RX_CRC_ERRORS, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_RX_ERRORS, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_TX_ERRORS, BU_SOAK_LINK_ERRORS, 0, 0, 0},
	{BU_COUNTER_RNR_NAK_RETRY_ERR, BU_SOAK_RNR, 0, 0, 0},
	{BU_COUNTER_OUT_OF_BUFFER, BU_SOAK_RDMA_ERRORS, 0, 0, 0},
	/* A lap that is broken off flushes what its queues hold. */
	{BU_COUNTER_REQ_CQE_ERROR, BU_SOAK_RDMA_ERRORS, 1000, 10, 0},
	{BU_COUNTER_RESP_CQE_ERROR, BU_SOAK_RDMA_ERRORS, 1000, 10, 0},
	{BU_COUNTER_NP_CNP_SENT, BU_SOAK_CONGESTION, 0, 0, 0.01},
	{BU_COUNTER_NP_ECN_MARKED, BU_SOAK_CONGESTION, 0, 0, 0.01},
	{BU_COUNTER_RP_CNP_HANDLED, BU_SOAK_CONGESTION, 0, 0, 0.01},
	{BU_COUNTER_ROCE_SLOW_RESTART, BU_SOAK_CONGESTION, 0, 10, 0},
};

/* The first entry that has an interface tells which one it is. */
static int
gid_with_netdev(const char *root, const char *device, int port)
{
	for (int i = 0; i < NDEVS; i++)
		if (bu_sysroot_exists(root, "%s/%s/ports/%d/gid_attrs/ndevs/%d", ib,
				      device, port, i))
			return i;
	return 0;
}

static void
look_at_port(const char *number, void *arg)
{
	struct bu_soak_ports *all = arg;
	int port = (int)strtol(number, NULL, 10);
	int lone = port == 1 &&
		   !bu_sysroot_exists(all->root, "%s/%s/ports/2", ib, all->device);
	struct bu_soak_port *ret;

	if (port < 1)
		return;
	all->list = bu_xgrow(all->list, &all->cap, all->count + 1, sizeof(*all->list));
	ret = &all->list[all->count++];
	if (lone)
		bu_text_copy(ret->subject, sizeof(ret->subject), all->device);
	else
		snprintf(ret->subject, sizeof(ret->subject), "%.50s/%d", all->device,
			 port);
	bu_port_counters(all->root, all->device, port,
			 gid_with_netdev(all->root, all->device, port), &ret->count);
}

static void
look_at_device(const char *name, void *arg)
{
	struct bu_soak_ports *all = arg;

	bu_text_copy(all->device, sizeof(all->device), name);
	bu_sysroot_each(all->root, look_at_port, all, "%s/%s/ports", ib, name);
}

void
bu_soak_ports_take(const char *root, struct bu_soak_ports *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->root = root;
	bu_sysroot_each(root, look_at_device, ret, "%s", ib);
}

void
bu_soak_ports_fini(struct bu_soak_ports *ports)
{
	free(ports->list);
}

static double
packets(const struct bu_counters *added)
{
	static const enum bu_counter of[] = {
		BU_COUNTER_PORT_XMIT_PACKETS, BU_COUNTER_PORT_RCV_PACKETS,
		BU_COUNTER_SENT_PKTS, BU_COUNTER_RCVD_PKTS};
	double sum = 0;

	for (size_t i = 0; i < BU_LEN(of); i++)
		if (added->count[of[i]] > 0)
			sum += (double)added->count[of[i]];
	return sum;
}

static void
judge_port(const char *subject, const struct bu_counters *added, double seconds,
	   struct bu_checks *out)
{
	for (size_t i = 0; i < BU_LEN(rules); i++) {
		int64_t more = added->count[rules[i].counter];
		double most = rules[i].count == USUAL
				      ? bu_counter_most(rules[i].counter, seconds)
				      : rules[i].count + rules[i].per_second * seconds +
						rules[i].of_packets * packets(added);
		char seen[80], expected[32];

		if (more <= 0 || (double)more <= most)
			continue;
		snprintf(seen, sizeof(seen), "%lld more (%s)", (long long)more,
			 bu_counter_name(rules[i].counter));
		snprintf(expected, sizeof(expected), "%s%.0f more",
			 most > 0 ? "at most " : "", most);
		bu_soak_finding(out, rules[i].row, subject, seen, expected);
	}
}

void
bu_soak_ports_judge(const struct bu_soak_ports *before,
		    const struct bu_soak_ports *after, double seconds,
		    struct bu_checks *out)
{
	for (size_t i = 0; i < after->count; i++) {
		for (size_t k = 0; k < before->count; k++) {
			struct bu_counters added;

			if (strcmp(before->list[k].subject, after->list[i].subject) !=
			    0)
				continue;
			bu_counters_since(&before->list[k].count, &after->list[i].count,
					  &added);
			judge_port(after->list[i].subject, &added, seconds, out);
			break;
		}
	}
}
