/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One probe between two nodes, run by the agents of both at the same time. The nodes
 * set it up over TCP (channel.h), then measure a->b and b->a, one after the other or
 * both at once: runs of RDMA writes, reads or sends, and latency. A direction that
 * fails is recorded and the other one is still measured.
 *
 * Its work item is struct bu_work_probe (model/work.h).
 * With the role "loopback" both ends are here: the adapter sends to itself, and of the
 * other end nothing is needed ("b", "addr", "port", "secret"). That finds a broken
 * adapter and says nothing about cable and switch; no judge passes it.
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
	int listens;                /* the TCP connection's role */
	int self;                   /* which end we are. Without "node" in the item the
				       connecting end is a, the listening one b */
	char node[2][BU_NAME_SIZE]; /* of a and b */
	char addr[48];              /* IPv4 to bind or to connect to */
	int port;
	char peer[48];            /* listener: only this IPv4 is let in; "" = any */
	char secret[129];         /* at least 16 characters */
	struct bu_work_rail rail; /* our port, and how its packets go */
	uint32_t message_bytes;
	uint64_t bytes;          /* timed in each run */
	int runs;                /* per direction, 1 to BU_RUNS_MAX */
	int64_t deadline_ms;     /* of everything, 1,000 to 3,600,000 */
	enum bu_op op, lat_op;   /* lat_op: write or send */
	int qps;                 /* queue pairs, 1 to BU_QPS_MAX */
	int duplex;              /* both directions at once */
	double min_gbps;         /* runs end when so many are under it that their median
				    is; 0 = all are made */
	int pings;               /* 0 = no latency, and so no verdict */
	int sport;               /* UDP source port of the first queue pair; 0 = any */
	uint64_t window_bytes;   /* 0 = more than the last-level cache */
	int depth;               /* per queue pair; 0 = by the message's size */
	uint64_t warm_bytes;     /* of each run, not timed; 0 = what is under way */
	int gpu;                 /* payload in the memory of this GPU; -1 = host */
	int trace;               /* the way of each flow, after the runs */
	const char *cuda, *root; /* not in the item; libcuda and sysfs, NULL = the
				    system's */
	int loopback;            /* both ends are here: the adapter sends to itself, */
	const struct bu_work_rail *other; /* or to this port; not in the item */
	int (*cancelled)(void *arg);      /* not in the item; may be NULL */
	void *arg;
	struct bu_pair_kept *kept; /* not in the item; NULL: all is closed at the end */
};
/* Device, memory and completion queues that a good probe leaves for the next one of its
 * kind, as opening them takes most of a set-up. Zeroed at first, one probe at a time;
 * to be dropped when no other is near: as much memory as the window stays registered.
 */
struct bu_pair_kept {
	struct bu_device device;
	struct bu_verbs *set[2]; /* by the direction; with both at once the first one */
	struct bu_pair_opts opts;
};
void bu_pair_drop(struct bu_pair_kept *kept);
/* Of the n-th rail; 0 where the item names none. */
void bu_pair_opts_of(const struct bu_work_probe *work, size_t rail,
		     struct bu_pair_opts *ret);

/* Blocks until both directions are done, at most deadline_ms. 0: ret holds the result,
 * the same at both ends while they could talk; what went wrong is in its errors, and
 * its verdict is still "inconclusive". -1: there is none (BU_ERR_INVAL: opts are wrong;
 * BU_ERR_CANCELLED). */
bu_must int bu_pair_run(const struct bu_pair_opts *opts, struct bu_pair_result *ret,
			struct bu_err *err);
#endif
