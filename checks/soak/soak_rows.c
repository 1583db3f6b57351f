/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a soak's findings, and how one is said. Called by the other files of the
 * soak. Pure. */
#include "base/mem.h"
#include "checks/soak/soak_impl.h"

static const struct bu_soak_row rows[] = {
#define X(id, name, verdict, what, hint) {name, what, hint, BU_VERDICT_##verdict},
	BU_SOAK_ROWS(X)
#undef X
};

const struct bu_soak_row *
bu_soak_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

const struct bu_soak_row *
bu_soak_row(enum bu_soak_kind kind)
{
	return &rows[kind];
}

void
bu_soak_finding(struct bu_checks *out, enum bu_soak_kind kind, const char *subject,
		const char *seen, const char *expected)
{
	struct bu_check *row =
		bu_checks_add(out, "soak", rows[kind].id, rows[kind].verdict, subject);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	BU_CHECK_SET(row->hint, "%s", rows[kind].hint);
	BU_CHECK_SET(row->text, "%s%s%s during the soak: %s", subject,
		     *subject ? ": " : "", rows[kind].what, seen);
}
