/* SPDX-License-Identifier: Apache-2.0 */
/* Discovered machines as a profile tree to start from. */
#ifndef BU_CLI_COMMANDS_IMPORT_H
#define BU_CLI_COMMANDS_IMPORT_H

#include <jansson.h>

#include "base/err.h"

/* nodes: objects of GET /v1/nodes/NAME, with their inventories. Owned texts. */
struct bu_imported {
	char *site_ini, *racks_csv;
	size_t machines; /* those with an inventory */
};
/* name: of the site. BU_ERR_NOTFOUND when no node has an inventory. */
bu_must int bu_import_make(const char *name, const json_t *nodes,
			   struct bu_imported *ret, struct bu_err *err);
void bu_imported_fini(struct bu_imported *imported);

#endif
