/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the inventory that a node sends. What is taken is written and taken again. */
#include <stdint.h>

#include "base/json.h"
#include "model/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autojson json_t *value =
		bu_json_parse((const char *)data, size, "input", NULL);
	struct bu_inventory *inventory =
		value ? bu_inventory_from_json(value, NULL) : NULL;

	if (inventory) {
		bu_autojson json_t *json = bu_inventory_to_json(inventory);
		bu_autojson json_t *json_again = NULL;
		struct bu_inventory *again = bu_inventory_from_json(json, NULL);

		bu_assert(again != NULL);
		json_again = bu_inventory_to_json(again);
		bu_assert(json_equal(json, json_again));
		bu_inventory_destroy(again);
		bu_inventory_destroy(inventory);
	}
	return 0;
}
