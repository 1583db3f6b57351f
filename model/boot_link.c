/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the links of a boot. Asked by provisioner/node/proof.c, and by the
 * sentences that quote it. */
#include "model/boot_link.h"

#include <string.h>

#include "base/err.h"

static const struct row {
	const char *name, *done, *missing;
} rows[] = {
#define X(id, name, done, missing) [BU_PROOF_##id] = {name, done, missing},
	BU_PROOF_LINKS(X) BU_PROOF_NOTHING(X)
#undef X
};

static const struct row *
find(const char *name)
{
	for (int i = 0; i < BU_PROOF_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

const char *
bu_boot_link_name(enum bu_proof_link link)
{
	bu_assert(link < BU_PROOF_ROWS);
	return rows[link].name;
}

const char *
bu_boot_link_done(const char *name)
{
	const struct row *row = find(name);

	return row ? row->done : NULL;
}

const char *
bu_boot_link_missing(const char *name)
{
	const struct row *row = find(name);

	return row ? row->missing : NULL;
}
