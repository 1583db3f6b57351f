/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: what the other end of a probe says of its queue pairs and of its port. */
#include <stdint.h>

#include "base/json.h"
#include "fabric/probe/verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autojson json_t *value =
		bu_json_parse((const char *)data, size, "input", NULL);
	struct bu_verbs_peer peer, again;
	struct bu_pair_end end;

	if (value && bu_verbs_peer_from_json(value, &peer, NULL) == 0) {
		bu_autojson json_t *json = bu_verbs_peer_to_json(&peer);

		bu_assert(bu_verbs_peer_from_json(json, &again, NULL) == 0);
		bu_assert(peer.qps >= 1 && peer.qps <= BU_QPS_MAX);
	}
	if (value && bu_record_from_json(bu_pair_end_fields, value, &end, NULL) == 0) {
		bu_autojson json_t *json = bu_record_to_json(bu_pair_end_fields, &end);

		bu_assert(bu_record_from_json(bu_pair_end_fields, json, &end, NULL) ==
			  0);
	}
	return 0;
}
