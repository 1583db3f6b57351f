/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and checks a probe's payload; called by pair_phase.c between runs and by
 * transfer.c for each message. Invariant: every byte of a slot follows from the run,
 * its place and (where the source can touch its memory) the message's number. A changed
 * byte or a lost message cannot pass as good.
 */
#include <inttypes.h>
#include <string.h>

#include "fabric/probe/verbs_impl.h"

/* A word for each place of the window and each run (the finaliser of splitmix64). */
static uint64_t
pattern(uint64_t stamp, uint64_t offset)
{
	uint64_t x = stamp + (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t
bu_verbs_messages(const struct bu_verbs *verbs)
{
	uint64_t qps = (uint64_t)verbs->qps;
	uint64_t timed =
		(verbs->opts.bytes + verbs->message_bytes - 1) / verbs->message_bytes;

	return verbs->warm + (timed + qps - 1) / qps * qps;
}

uint64_t
bu_verbs_first(const struct bu_verbs *verbs, const struct bu_verbs_run *run)
{
	return (uint64_t)run->number * bu_verbs_messages(verbs);
}

size_t
bu_verbs_slot(const struct bu_verbs *verbs, uint64_t message)
{
	return (size_t)(message % verbs->slots) * verbs->message_bytes;
}

/* Not for reads, whose source does not know when it is read, nor for GPU memory, which
 * is too slow to touch for each message. */
static int
edges_numbered(const struct bu_verbs *verbs)
{
	return verbs->opts.op != BU_OP_READ && verbs->opts.gpu < 0;
}

static uint64_t
edge_number(const struct bu_verbs *verbs, uint64_t message)
{
	return edges_numbered(verbs) ? message + 1 : 0;
}

void
bu_verbs_stamp_edges(struct bu_verbs *verbs, uint64_t stamp, uint64_t message)
{
	size_t place = bu_verbs_slot(verbs, message), last = verbs->message_bytes - 8;
	uint8_t *slot;
	uint64_t word;

	if (!edges_numbered(verbs))
		return;
	slot = verbs->send.host + place;
	word = pattern(stamp, place) + edge_number(verbs, message);
	memcpy(slot, &word, 8);
	word = pattern(stamp, place + last) + edge_number(verbs, message);
	memcpy(slot + last, &word, 8);
}

void
bu_verbs_spoil_edges(struct bu_verbs *verbs, uint64_t message)
{
	uint8_t *slot;

	if (!verbs->recv.host)
		return;
	slot = verbs->recv.host + bu_verbs_slot(verbs, message);
	memset(slot, 0, 8);
	memset(slot + verbs->message_bytes - 8, 0, 8);
}

int
bu_verbs_stamp(struct bu_verbs *verbs, const struct bu_verbs_run *run,
	       struct bu_err *err)
{
	uint64_t first = bu_verbs_first(verbs, run), total = bu_verbs_messages(verbs);

	if (total > verbs->slots)
		total = verbs->slots;
	for (uint64_t i = 0; i < total; i++) {
		size_t slot = bu_verbs_slot(verbs, first + i);
		uint8_t *to =
			verbs->send.host ? verbs->send.host + slot : verbs->bounce;

		for (size_t at = 0; at < verbs->message_bytes; at += 8) {
			uint64_t word = pattern(run->stamp, slot + at);

			memcpy(to + at, &word, 8);
		}
		bu_verbs_stamp_edges(verbs, run->stamp, first + i);
		if (!verbs->send.host &&
		    bu_buffer_put(&verbs->send, slot, to, verbs->message_bytes, err))
			return -1;
	}
	return 0;
}

static int
check_message(struct bu_verbs *verbs, uint64_t stamp, uint64_t message,
	      struct bu_err *err)
{
	size_t at_slot = bu_verbs_slot(verbs, message);
	size_t last = verbs->message_bytes - 8;
	uint64_t edge = edge_number(verbs, message);
	const uint8_t *slot =
		verbs->recv.host ? verbs->recv.host + at_slot : verbs->bounce;

	if (!verbs->recv.host && bu_buffer_get(&verbs->recv, at_slot, verbs->bounce,
					       verbs->message_bytes, err))
		return -1;
	for (size_t at = 0; at < verbs->message_bytes; at += 8) {
		uint64_t wanted = pattern(stamp, at_slot + at), got;
		size_t byte = at;

		if (at == 0 || at == last)
			wanted += edge;
		memcpy(&got, slot + at, 8);
		if (got == wanted)
			continue;
		for (uint64_t diff = got ^ wanted; (diff & 0xff) == 0; diff >>= 8)
			byte++;
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "message %" PRIu64 ": byte %zu is not what was sent",
				  message, byte);
	}
	return 0;
}

int
bu_verbs_check(struct bu_verbs *verbs, const struct bu_verbs_run *run,
	       struct bu_err *err)
{
	uint64_t first = bu_verbs_first(verbs, run), total = bu_verbs_messages(verbs);

	for (uint64_t i = total > verbs->slots ? total - verbs->slots : 0; i < total;
	     i++) {
		if (check_message(verbs, run->stamp, first + i, err))
			return -1;
	}
	return 0;
}
