/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the result of a probe, as a node sends it. What is taken is written and taken
 * again. */
#include <stdint.h>

#include "base/json.h"
#include "model/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autojson json_t *value =
		bu_json_parse((const char *)data, size, "input", NULL);
	struct bu_pair_result result, again;

	if (value && bu_pair_result_from_json(value, &result, NULL) == 0) {
		bu_autojson json_t *json = bu_pair_result_to_json(&result);
		bu_autojson json_t *json_again = NULL;

		bu_assert(bu_pair_result_from_json(json, &again, NULL) == 0);
		json_again = bu_pair_result_to_json(&again);
		bu_assert(json_equal(json, json_again));
	}
	return 0;
}
