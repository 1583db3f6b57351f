/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces RoCE v2 flows. Called by pair_trace.c in the probe's own process. Datagrams
 * with a flow's addresses and ports and a TTL of 1, 2, 3, ... die in the routers on its
 * path. Routers may return no more than a datagram's ports, so one TTL at a time is
 * sent, for all flows at once. Each is sent twice: where two routers answer, the hop is
 * unknown.
 *
 * Invariants: the trace ends by its deadline. No hop is guessed. No datagram reaches
 * the peer's adapter: the peer's distance is measured first, at a port that is not
 * RoCE's.
 */
#include "fabric/probe/trace.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fabric/probe/trace_socket.h"

/* CLOSED_PORT: traceroute's first port, closed on servers; plus 1 per hop. SILENT: hops
 * in a row without an answer that end the search for the peer. */
enum {
	ROCE_PORT = 4791,
	CLOSED_PORT = 33434,
	STEP_MS = 150,
	PASSES = 2,
	SILENT = 3,
	SLICE_MS = 20,
};

struct trace {
	const struct bu_trace_opts *opts;
	struct bu_wait wait;
	int fd[BU_QPS_MAX];    /* -1 = the flow's port is in use */
	int asked[BU_QPS_MAX]; /* an answer is awaited */
	struct bu_pair_way *path;
	unsigned char doubtful[BU_QPS_MAX][BU_HOPS_MAX]; /* two routers answered */
	int hops;                                        /* routers before the peer */
};

static int64_t
step_until_ns(void)
{
	return bu_raw_ns() + STEP_MS * INT64_C(1000000);
}

/* 1 = wait on, 0 = the step is over, -1 = cancelled. poll() reports socket errors
 * without an event mask. */
static int
wait_for_any(struct trace *trace, struct pollfd *fds, nfds_t count, int64_t until_ns,
	     struct bu_err *err)
{
	struct bu_err late = {.kind = BU_ERR_NONE};

	if (bu_wait_check(&trace->wait, "the trace", &late)) {
		if (late.kind == BU_ERR_TIMEOUT)
			return 0;
		return bu_err_set(err, late.kind, 0, "%s", late.text);
	}
	if (bu_raw_ns() >= until_ns)
		return 0;
	poll(fds, count, SLICE_MS);
	return 1;
}

/* --- the peer's distance --- */

enum found { NOTHING, A_ROUTER, THE_PEER };

static int
look_once(struct trace *trace, int fd, int hops, enum found *ret, struct bu_err *err)
{
	struct pollfd poll_fd = {.fd = fd};
	int64_t until_ns = step_until_ns();
	union bu_trace_address to;
	int rc;

	if (bu_trace_address(trace->opts->to, CLOSED_PORT + hops, &to) ||
	    bu_trace_send(fd, &to, hops))
		return 0;
	while ((rc = wait_for_any(trace, &poll_fd, 1, until_ns, err)) > 0) {
		struct bu_trace_answer answer;

		while (bu_trace_receive(fd, &answer)) {
			if (!answer.from[0] || answer.port != CLOSED_PORT + hops)
				continue;
			*ret = answer.reached ? THE_PEER : A_ROUTER;
			return 0;
		}
	}
	return rc;
}

static int
find_peer(struct trace *trace, int fd, struct bu_err *err)
{
	int silent = 0;

	for (int hops = 1; hops <= BU_HOPS_MAX + 1 && silent < SILENT; hops++) {
		enum found found = NOTHING;

		for (int pass = 0; pass < PASSES && found == NOTHING; pass++)
			if (look_once(trace, fd, hops, &found, err))
				return -1;
		if (found == THE_PEER) {
			trace->hops = hops - 1;
			return 0;
		}
		silent = found == NOTHING ? silent + 1 : 0;
	}
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "the peer does not answer to UDP port %d and on, so its "
			  "distance is not known; let ICMP port unreachable pass",
			  CLOSED_PORT + 1);
}

static int
measure_distance(struct trace *trace, struct bu_err *err)
{
	union bu_trace_address from;
	bu_autoclose int fd = -1;

	if (bu_trace_address(trace->opts->from, 0, &from))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "GID %s is not an address that is routed",
				  trace->opts->from);
	fd = bu_trace_socket(&from, trace->opts->netdev, err);
	return fd < 0 ? -1 : find_peer(trace, fd, err);
}

/* --- the paths of the flows --- */

static int
open_flows(struct trace *trace, struct bu_err *err)
{
	int open = 0;

	for (int i = 0; i < trace->opts->count; i++) {
		union bu_trace_address from;

		if (bu_trace_address(trace->opts->from, trace->opts->sports[i], &from))
			continue;
		trace->fd[i] = bu_trace_socket(&from, trace->opts->netdev, err);
		open += trace->fd[i] >= 0;
	}
	return open ? 0 : -1;
}

static void
take(struct trace *trace, int flow, int hops, const struct bu_trace_answer *answer)
{
	char *hop = trace->path[flow].hop[hops - 1];

	/* late answers to earlier datagrams, where the TTL is told */
	if (!answer->from[0] || answer->reached || answer->port != ROCE_PORT ||
	    (answer->ttl && answer->ttl != hops))
		return;
	trace->asked[flow] = 0;
	if (hop[0] && strcmp(hop, answer->from) != 0)
		trace->doubtful[flow][hops - 1] = 1;
	memcpy(hop, answer->from, BU_HOP_SIZE);
}

static int
is_waiting(const struct trace *trace)
{
	for (int i = 0; i < trace->opts->count; i++)
		if (trace->asked[i])
			return 1;
	return 0;
}

/* Sends one datagram of each flow, and collects the answers. */
static int
ask_hop(struct trace *trace, int hops, struct bu_err *err)
{
	struct pollfd fds[BU_QPS_MAX];
	int64_t until_ns = step_until_ns();
	union bu_trace_address to;
	int rc = 1;

	if (bu_trace_address(trace->opts->to, ROCE_PORT, &to))
		return 0;
	for (int i = 0; i < trace->opts->count; i++) {
		fds[i] = (struct pollfd){.fd = trace->fd[i]};
		trace->asked[i] = trace->fd[i] >= 0 &&
				  bu_trace_send(trace->fd[i], &to, hops) == 0;
	}
	while (is_waiting(trace) &&
	       (rc = wait_for_any(trace, fds, (nfds_t)trace->opts->count, until_ns,
				  err)) > 0) {
		for (int i = 0; i < trace->opts->count; i++) {
			struct bu_trace_answer answer;

			while (trace->fd[i] >= 0 &&
			       bu_trace_receive(trace->fd[i], &answer))
				take(trace, i, hops, &answer);
		}
	}
	return rc < 0 ? -1 : 0;
}

static int
ask_all(struct trace *trace, struct bu_err *err)
{
	if (trace->hops && open_flows(trace, err))
		return -1;
	for (int pass = 0; pass < PASSES; pass++)
		for (int hops = 1; hops <= trace->hops; hops++)
			if (ask_hop(trace, hops, err))
				return -1;
	for (int i = 0; i < trace->opts->count; i++) {
		trace->path[i].hops = trace->hops;
		for (int hop = 0; hop < trace->hops; hop++)
			if (trace->doubtful[i][hop])
				trace->path[i].hop[hop][0] = '\0';
	}
	return 0;
}

int
bu_trace_run(const struct bu_trace_opts *opts, struct bu_pair_way *ret,
	     struct bu_err *err)
{
	struct trace trace = {.opts = opts, .wait = opts->wait, .path = ret};
	int rc;

	bu_assert(opts->count <= BU_QPS_MAX);
	memset(ret, 0, (size_t)opts->count * sizeof(*ret));
	for (int i = 0; i < BU_QPS_MAX; i++)
		trace.fd[i] = -1;
	rc = measure_distance(&trace, err) || ask_all(&trace, err) ? -1 : 0;
	for (int i = 0; i < BU_QPS_MAX; i++)
		if (trace.fd[i] >= 0)
			close(trace.fd[i]);
	return rc;
}
