/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One probe between two nodes, run by the agents of both at the same time. The nodes
 * set it up over TCP (channel.h). They measure a->b and b->a, one after the other or
 * both at once: runs of RDMA writes, reads or sends, then latency. A direction that
 * fails is recorded, and the other one is still measured.
 *
 * The work item is struct bu_work_probe (model/work.h). With the role "loopback" both
 * ends are here and the adapter sends to itself: the item needs no "b", "addr", "port"
 * or "secret". A loopback finds a broken adapter, tells nothing about cable and switch,
 * and passes no judge.
 */
#ifndef BU_FABRIC_PROBE_PAIR_H
#define BU_FABRIC_PROBE_PAIR_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/probe/device.h"
#include "fabric/probe/verbs.h"
#include "model/result.h"
#include "model/work.h"

struct bu_pair_opts {
	char probe[BU_NAME_SIZE];
	int listens; /* TCP role */
	int self;    /* this end, BU_END_A or BU_END_B. Without "self" in the item the
			connecting end is a, the listening one b */
	char node[2][BU_NAME_SIZE];
	char addr[48]; /* IPv4 to bind or to connect to */
	int port;
	char peer[48];            /* listener: the only IPv4 admitted; "" = any */
	char secret[129];         /* at least 16 characters */
	struct bu_work_rail rail; /* port of this end, and how its packets go */
	uint32_t message_bytes;
	uint64_t bytes;        /* timed bytes of each run */
	int runs;              /* per direction, 1 to BU_RUNS_MAX */
	int64_t deadline_ms;   /* for the whole probe, 1,000 to 3,600,000 */
	enum bu_op op, lat_op; /* lat_op: write or send */
	int qps;               /* queue pairs, 1 to BU_QPS_MAX */
	int duplex;            /* both directions at once */
	double min_gbps; /* runs end when so many are below it that their median is; 0 =
			    all are made */
	int pings;       /* 0 = no latency, so the result is inconclusive */
	int sport;       /* UDP source port of the first queue pair; 0 = any */
	uint64_t window_bytes;   /* 0 = twice the last-level cache */
	int depth;               /* per queue pair; 0 = by the message's size */
	uint64_t warm_bytes;     /* untimed, in each run; 0 = those under way */
	int gpu;                 /* payload in the memory of this GPU; -1 = host */
	int trace;               /* trace each flow's path after the runs */
	const char *cuda, *root; /* not in the item; libcuda and sysfs, NULL = the
				    system's */
	int loopback;            /* both ends are here: the adapter sends to itself, */
	const struct bu_work_rail *other; /* or to this port; not in the item */
	int (*cancelled)(void *arg);      /* not in the item; may be NULL */
	void *arg;
	struct bu_pair_kept *kept; /* not in the item; NULL: all is closed at the end */
};
/* Device, memory and completion queues that a good probe leaves for the next one of its
 * kind: opening these is most of the set-up. Zeroed at first, for one probe at a time.
 * Its owner drops it when no probe is near: the window's memory stays registered. */
struct bu_pair_kept {
	struct bu_device device;
	struct bu_verbs *set[2]; /* by direction; both at once: the first */
	struct bu_pair_opts opts;
};
void bu_pair_drop(struct bu_pair_kept *kept);
/* Options for the n-th rail; 0 where the item has no rails. */
void bu_pair_opts_of(const struct bu_work_probe *work, size_t rail,
		     struct bu_pair_opts *ret);

/* Blocks until both directions are done, at most deadline_ms. 0: ret has the result,
 * the same at both ends while these could talk. Failures are in its errors, and its
 * verdict is still "inconclusive". -1: no result (BU_ERR_INVAL: wrong opts;
 * BU_ERR_CANCELLED). */
bu_must int bu_pair_run(const struct bu_pair_opts *opts, struct bu_pair_result *ret,
			struct bu_err *err);
#endif
