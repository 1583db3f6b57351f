/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a probe with the peer. Called by the agent for a work item. The order:
 * connection, set-up (pair_open.c), one phase per direction or one for both
 * (pair_phase.c), traces (pair_trace.c), result. Invariant: every wait has a deadline
 * that both ends know.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "fabric/probe/pair_impl.h"

/* MEET_MS: from the end of this end's preparation to the other's. COME_MS: until the
 * listening end listens, as it does right after it has its item. A node that hangs has
 * this short limit; a node whose GPUs wake up slowly has the longer one. */
enum { RESERVE_MS = 4000, MEET_MS = 10000, COME_MS = 4000 };

/* The connecting end's result replaces the listening end's. */
static int
share_result(struct session *s, struct bu_err *err)
{
	bu_autojson json_t *message = NULL;
	struct bu_pair_result shared;

	s->talk = bu_pair_wait(s, s->deadline_ns);
	s->result->seconds = (double)(bu_raw_ns() - s->start_ns) / 1e9;
	if (!s->opts->listens) {
		message = bu_pair_result_to_json(s->result);
		return bu_channel_send(s->channel, message, &s->talk, err);
	}
	message = bu_channel_receive(s->channel, &s->talk, err);
	if (!message || bu_pair_result_from_json(message, &shared, err))
		return -1;
	if (strcmp(shared.probe, s->result->probe) != 0 ||
	    strcmp(shared.end[0].node, s->result->end[0].node) != 0 ||
	    strcmp(shared.end[1].node, s->result->end[1].node) != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the peer sent the result of another probe");
	*s->result = shared;
	return 0;
}

static struct bu_channel_opts
channel_opts(const struct bu_pair_opts *opts)
{
	return (struct bu_channel_opts){
		.listens = opts->listens,
		.addr = opts->addr,
		.port = opts->port,
		.peer = opts->peer[0] ? opts->peer : NULL,
		.probe = opts->probe,
		.secret = opts->secret,
		.come_ms = COME_MS,
	};
}

/* Both ends get their work at the same time. A peer that is not there soon will not
 * come, and this end has other partners. */
static int64_t
meet_until_ns(const struct session *s)
{
	int64_t until_ns = bu_raw_ns() + MEET_MS * INT64_C(1000000);

	return until_ns < s->deadline_ns ? until_ns : s->deadline_ns;
}

static int
session_run(struct session *s, struct bu_err *err)
{
	const struct bu_pair_opts *opts = s->opts;
	const struct bu_channel_opts channel = channel_opts(opts);
	struct bu_wait open = bu_pair_wait(s, meet_until_ns(s));
	int64_t left_ns, reserve_ns = RESERVE_MS * INT64_C(1000000);
	int rc;

	s->channel = s->fd >= 0 ? bu_channel_over(s->fd, &channel, &open, err)
				: bu_channel_open(&channel, s->begun, &open, err);
	if (!s->channel || bu_pair_open(s, err))
		return -1;
	left_ns = s->deadline_ns - bu_raw_ns();
	if (reserve_ns > left_ns / 4)
		reserve_ns = left_ns / 4;
	s->grace_ns = reserve_ns / 4;
	if (opts->duplex)
		rc = bu_pair_phase(s, BU_PHASE_BOTH, s->deadline_ns - reserve_ns, err);
	else /* half of the time each: a hanging direction costs the other none */
		rc = bu_pair_phase(s, BU_END_A,
				   s->deadline_ns - reserve_ns -
					   (left_ns - reserve_ns) / 2,
				   err) ||
		     bu_pair_phase(s, BU_END_B, s->deadline_ns - reserve_ns, err);
	return rc || bu_pair_trace(s, err) ? -1 : share_result(s, err);
}

static int
run(const struct bu_pair_opts *opts, int fd, struct bu_pair_result *ret,
    struct bu_err *err)
{
	int64_t start_ns = bu_raw_ns();
	const struct bu_channel_opts channel = channel_opts(opts);
	struct bu_err failure = {.kind = BU_ERR_NONE};
	struct bu_pair_result result;
	struct session s = {
		.opts = opts,
		.fd = fd,
		.result = &result,
		.start_ns = start_ns,
		.deadline_ns = start_ns + opts->deadline_ms * 1000000,
	};
	int rc;

	bu_pair_result_init(&result);
	memcpy(result.probe, opts->probe, sizeof(result.probe));
	for (int i = 0; i < 2; i++)
		memcpy(result.end[i].node, opts->node[i], sizeof(result.end[i].node));
	result.at_ms = bu_wall_ms(bu_clock_system());
	result.message_bytes = opts->message_bytes;
	result.bytes = opts->bytes;
	result.op = opts->op;
	result.lat_op = opts->lat_op;
	result.qps = opts->qps;
	result.duplex = opts->duplex;
	/* before the peer is there: preparation takes longest */
	s.begun = fd >= 0 ? -1 : bu_channel_begin(&channel);
	bu_pair_prepare(&s);
	rc = session_run(&s, &failure);
	bu_channel_destroy(s.channel);
	bu_pair_release(&s, !rc && result.dir[0].error.kind == BU_ERR_NONE &&
				    result.dir[1].error.kind == BU_ERR_NONE);
	if (rc && failure.kind == BU_ERR_CANCELLED)
		return bu_err_set(err, failure.kind, 0, "%s", failure.text);
	if (rc) {
		bu_pair_error_set(&result.error, opts->self, &failure);
		result.seconds = (double)(bu_raw_ns() - start_ns) / 1e9;
	}
	*ret = result;
	return 0;
}

struct half {
	struct bu_pair_opts opts;
	int fd, rc;
	struct bu_pair_result result;
	struct bu_err err;
};

static void *
run_half(void *arg)
{
	struct half *half = arg;

	half->rc = run(&half->opts, half->fd, &half->result, &half->err);
	return NULL;
}

/* Runs both ends in two threads over a pair of sockets. */
static int
run_loopback(const struct bu_pair_opts *opts, struct bu_pair_result *ret,
	     struct bu_err *err)
{
	bu_autofree struct half *halves = bu_xcalloc(2, sizeof(*halves));
	char secret[sizeof(opts->secret)];
	pthread_t thread;
	int fds[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds))
		return bu_err_set(err, BU_ERR_IO, errno, "loopback");
	bu_random_hex(secret, (sizeof(secret) - 1) / 2);
	for (int i = 0; i < 2; i++) {
		halves[i].opts = *opts;
		halves[i].opts.kept = NULL;
		halves[i].opts.listens = halves[i].opts.self = i;
		if (i && opts->other)
			halves[i].opts.rail = *opts->other;
		memcpy(halves[i].opts.secret, secret, sizeof(secret));
		halves[i].fd = fds[i];
	}
	rc = pthread_create(&thread, NULL, run_half, &halves[1]);
	if (rc) {
		close(fds[0]);
		close(fds[1]);
		return bu_err_set(err, BU_ERR_IO, rc, "loopback: thread");
	}
	run_half(&halves[0]);
	pthread_join(thread, NULL);
	*ret = halves[0].result;
	if (halves[0].rc == 0)
		return 0;
	if (err)
		*err = halves[0].err;
	return -1;
}

int
bu_pair_run(const struct bu_pair_opts *opts, struct bu_pair_result *ret,
	    struct bu_err *err)
{
	return opts->loopback ? run_loopback(opts, ret, err) : run(opts, -1, ret, err);
}
