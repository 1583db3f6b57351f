/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the report of checks, as a node sends it. */
#include <stdint.h>

#include "base/json.h"
#include "model/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autojson json_t *value =
		bu_json_parse((const char *)data, size, "input", NULL);
	struct bu_checks checks, again;

	if (value && bu_checks_from_json(value, &checks, NULL) == 0) {
		bu_autojson json_t *json = bu_checks_to_json(&checks);

		bu_assert(bu_checks_from_json(json, &again, NULL) == 0);
		bu_assert(bu_checks_worst(&again) == bu_checks_worst(&checks));
		bu_checks_fini(&again);
		bu_checks_fini(&checks);
	}
	return 0;
}
