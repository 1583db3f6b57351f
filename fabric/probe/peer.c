/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection data of both ends as JSON; called by pair_open.c. Invariant: each
 * value of bu_verbs_peer_from_json() can be given to the adapter.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "fabric/probe/device.h"
#include "fabric/probe/verbs.h"

static json_t *
memory_to_json(const struct bu_verbs_memory *memory)
{
	char addr[24];

	/* JSON integers are signed; an address may not fit. */
	snprintf(addr, sizeof(addr), "%" PRIx64, memory->addr);
	return json_pack("{s:s, s:I}", "addr", addr, "rkey", (json_int_t)memory->rkey);
}

json_t *
bu_verbs_peer_to_json(const struct bu_verbs_peer *peer)
{
	json_t *qpns = json_array();

	for (int i = 0; i < peer->qps; i++)
		json_array_append_new(qpns, json_integer(peer->qpn[i]));
	return json_pack(
		"{s:s, s:i, s:i, s:i, s:o, s:I, s:i, s:I, s:o, s:o, s:o}", "gid",
		peer->gid, "lid", peer->lid, "pkey", peer->pkey, "mtu", peer->mtu,
		"qpn", qpns, "psn", (json_int_t)peer->psn, "rd", peer->rd, "slots",
		(json_int_t)peer->slots, "recv", memory_to_json(&peer->recv), "send",
		memory_to_json(&peer->send), "ping", memory_to_json(&peer->ping));
}

static int
get_number(const json_t *object, const char *key, int64_t max, int64_t *ret,
	   struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < 0 || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': 0 to %" PRId64,
				  key, max);
	return 0;
}

static int
memory_from_json(const json_t *object, const char *key, struct bu_verbs_memory *ret,
		 struct bu_err *err)
{
	const json_t *value = json_object_get(object, key);
	char addr[24], *end;
	int64_t rkey;

	if (bu_json_copy_str(value, "addr", addr, sizeof(addr), err) ||
	    get_number(value, "rkey", UINT32_MAX, &rkey, err))
		return bu_err_wrap(err, "field '%s'", key);
	errno = 0;
	ret->addr = strtoull(addr, &end, 16);
	if (errno || end == addr || *end)
		return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': addr '%s'", key,
				  addr);
	ret->rkey = (uint32_t)rkey;
	return 0;
}

static int
qpns_from_json(const json_t *value, struct bu_verbs_peer *ret, struct bu_err *err)
{
	const json_t *qpns = json_object_get(value, "qpn");
	size_t count = json_array_size(qpns);

	if (count < 1 || count > BU_QPS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'qpn': expected an array of 1 to %d",
				  BU_QPS_MAX);
	for (size_t i = 0; i < count; i++) {
		json_int_t qpn = json_integer_value(json_array_get(qpns, i));

		if (qpn < 1 || qpn > 0xffffff)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field 'qpn': expected numbers from 1 to "
					  "%d",
					  0xffffff);
		ret->qpn[i] = (uint32_t)qpn;
	}
	ret->qps = (int)count;
	return 0;
}

int
bu_verbs_peer_from_json(const json_t *value, struct bu_verbs_peer *ret,
			struct bu_err *err)
{
	struct bu_verbs_peer peer = {0};
	int64_t lid, pkey = bu_json_int(value, "pkey", 0), mtu, psn, rd, slots;

	if (bu_json_copy_str(value, "gid", peer.gid, sizeof(peer.gid), err) ||
	    get_number(value, "lid", UINT16_MAX, &lid, err) ||
	    get_number(value, "mtu", 4096, &mtu, err) ||
	    get_number(value, "psn", 0xffffff, &psn, err) ||
	    get_number(value, "rd", 255, &rd, err) ||
	    get_number(value, "slots", UINT32_MAX, &slots, err) ||
	    qpns_from_json(value, &peer, err) ||
	    memory_from_json(value, "recv", &peer.recv, err) ||
	    memory_from_json(value, "send", &peer.send, err) ||
	    memory_from_json(value, "ping", &peer.ping, err))
		return bu_err_wrap(err, "peer's queue pairs");
	if (pkey < 0 || pkey > UINT16_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "peer's queue pairs: field 'pkey': 0 to %d",
				  UINT16_MAX);
	if (bu_mtu_enum((int)mtu) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's queue pairs: MTU %d",
				  (int)mtu);
	peer.lid = (int)lid;
	peer.pkey = (int)pkey;
	peer.mtu = (int)mtu;
	peer.psn = (uint32_t)psn;
	peer.rd = (int)rd;
	peer.slots = (uint32_t)slots;
	*ret = peer;
	return 0;
}
