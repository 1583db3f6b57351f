/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: an inventory as a vendor might ship it. Every row that comes out has a name
 * that may become a host name, and a MAC, if any, in the one form.
 */
#include <stdint.h>
#include <string.h>

#include "profiles/desired.h"
#include "profiles/load/inventory_csv.h"
#include "profiles/nodeset/nodeset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autofree char *text = bu_xstrndup((const char *)data, size);
	struct bu_tree_file file = {"racks.csv", text, strlen(text)};
	struct bu_findings findings = {0};
	struct bu_inventory_csv *inventory = bu_inventory_csv_parse(&file, &findings);

	for (size_t i = 0; i < inventory->count; i++) {
		char **fields = inventory->rows[i].fields, mac[18];

		bu_assert(bu_node_name_ok(fields[BU_INVENTORY_CSV_NAME]));
		if (!fields[BU_INVENTORY_CSV_MAC])
			continue;
		bu_assert(bu_mac_normalize(fields[BU_INVENTORY_CSV_MAC], mac) == 0);
		bu_assert(strcmp(mac, fields[BU_INVENTORY_CSV_MAC]) == 0);
	}
	bu_inventory_csv_destroy(inventory);
	bu_findings_clear(&findings);
	return 0;
}
