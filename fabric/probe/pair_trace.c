/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces the paths of a probe's own flows after its runs: each end traces the flows
 * that it sends, and tells the other. Called by pair.c. Invariant: a failed trace costs
 * the probe time alone; the reason is in the result.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "fabric/probe/pair_impl.h"
#include "fabric/probe/port.h"
#include "fabric/probe/trace.h"

/* LEFT_MS: time to share the result. TELL_MS: longest wait for the other end's
 * trace. */
enum { LEFT_MS = 500, TELL_MS = BU_TRACE_MS + 1500 };

/* Why the flows cannot be traced; NULL = they can. */
static const char *
why_not(const struct session *s, const struct bu_pair_dir *dir)
{
	const struct bu_pair_end *end = &s->result->end[s->opts->self];

	if (!s->open.set[0])
		return "no queue pair is open";
	if (end->infiniband)
		return "InfiniBand has no UDP ports";
	if (end->gid_type != BU_GID_ROCE_V2)
		return "its packets are not RoCE v2";
	for (int i = 0; i < dir->qps; i++)
		if (!dir->sport[i])
			return "the adapter does not tell its UDP source ports";
	return dir->qps ? NULL : "it has no flows";
}

static int
trace_own(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	const struct bu_pair_end *end = s->result->end;
	int self = s->opts->self;
	int64_t until_ns = bu_raw_ns() + BU_TRACE_MS * INT64_C(1000000);
	int64_t last_ns = s->deadline_ns - LEFT_MS * INT64_C(1000000);
	char netdev[64];
	struct bu_trace_opts opts = {.from = end[self].gid,
				     .to = end[!self].gid,
				     .netdev = netdev,
				     .sports = dir->sport,
				     .count = dir->qps};

	opts.wait = bu_pair_wait(s, until_ns < last_ns ? until_ns : last_ns);
	bu_port_netdev(s->opts->root ? s->opts->root : "", end[self].device,
		       end[self].port, end[self].gid_index, netdev, sizeof(netdev));
	if (bu_trace_run(&opts, dir->path, err))
		return -1;
	dir->paths = dir->qps;
	return 0;
}

/* Takes the peer's trace of its own direction. */
static int
hear_other(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	bu_autojson json_t *message = bu_pair_hear(s, "traced", err);
	struct bu_pair_dir heard;

	if (!message)
		return -1;
	bu_record_init(bu_pair_trace_fields, &heard);
	if (bu_record_from_json(bu_pair_trace_fields, message, &heard, err))
		return bu_err_wrap(err, "peer's trace");
	if (heard.paths && heard.paths != dir->qps)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the peer traced %d flows of %d", heard.paths,
				  dir->qps);
	dir->paths = heard.paths;
	memcpy(dir->path, heard.path, sizeof(dir->path));
	memcpy(dir->untraced, heard.untraced, sizeof(dir->untraced));
	return 0;
}

int
bu_pair_trace(struct session *s, struct bu_err *err)
{
	int self = s->opts->self;
	struct bu_pair_dir *own = &s->result->dir[self];
	const char *why = why_not(s, own);
	struct bu_err failure = {.kind = BU_ERR_NONE};
	int64_t until_ns;

	if (!s->opts->trace || s->opts->loopback)
		return 0;
	if (!why && trace_own(s, own, &failure)) {
		if (failure.kind == BU_ERR_CANCELLED)
			return bu_err_set(err, failure.kind, 0, "%s", failure.text);
		why = failure.text;
	}
	if (why)
		bu_text_copy(own->untraced, sizeof(own->untraced), why);
	until_ns = bu_raw_ns() + TELL_MS * INT64_C(1000000);
	s->talk =
		bu_pair_wait(s, until_ns < s->deadline_ns ? until_ns : s->deadline_ns);
	if (bu_pair_say(s, "traced", bu_record_to_json(bu_pair_trace_fields, own), err))
		return -1;
	return hear_other(s, &s->result->dir[!self], err);
}
