/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the group "nvlink", and how a row of it is told. Called by nvlink.c and
 * nvlink_turns.c. Invariant: a row that is no pass says what to do. */
#include "checks/gpu/nvlink_impl.h"

/* id, what, finding, hint; in the order of enum bu_nvlink_kind */
#define ROWS(X)                                                                        \
	X("nvlink-imex", "memory can be shared with other nodes", WARN, BU_IMEX_TO_DO) \
	X("nvlink-domain", "both nodes are in one NVLink domain and clique", WARN,     \
	  "look at nvidia-fabricmanager's or NMX's partition of the rack")             \
	X("nvlink-peer", "the other node's end", INCONCLUSIVE,                         \
	  "look at the other node: bringup node why")                                  \
	X("nvlink-answers", "GPU and driver answer while memory is shared", WARN,      \
	  "look at nvidia-imex and the kernel's log of both nodes")                    \
	X("nvlink-payload", "payload comes from the other node as it was sent", FAIL,  \
	  "measure both with other nodes of the domain: one of the two changes data")  \
	X("nvlink-rate", "copies to the other node's GPU, one direction at a time",    \
	  WARN, "look at gpu-nvlink of both nodes, and at the NVLink switches")        \
	X("nvlink-both", "the same with both directions at once", WARN,                \
	  "look at gpu-nvlink of both nodes, and at the NVLink switches")

static const struct bu_nvlink_row rows[] = {
#define X(id, what, finding, hint) {id, what, BU_VERDICT_##finding, hint},
	ROWS(X)
#undef X
};

_Static_assert(BU_LEN(rows) == BU_NVLINK_BOTH + 1, "a row of each kind");

const struct bu_nvlink_row *
bu_nvlink_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

const struct bu_nvlink_row *
bu_nvlink_kind(enum bu_nvlink_kind kind)
{
	return &rows[kind];
}

void
bu_nvlink_add(struct bu_nvlink *link, enum bu_nvlink_kind kind, enum bu_verdict verdict,
	      const char *seen, const char *expected)
{
	struct bu_check *row = bu_checks_add(link->out, "nvlink", rows[kind].id,
					     verdict, link->subject);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	if (verdict == BU_VERDICT_PASS)
		return;
	BU_CHECK_SET(row->hint, "%s", rows[kind].hint);
	BU_CHECK_SET(row->text, "%s: %s%s%s", link->subject, seen,
		     *expected ? "; expected " : "", expected);
}
