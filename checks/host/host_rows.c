/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of host checks, and how a row of it is filled. Called by the files of the
 * host checks and by the runner. Invariant: a row that is not in the table is not told.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "checks/host/host_impl.h"

/* id, what, hint */
#define ROWS(X)                                                                        \
	X("cpu-online", "CPUs that are online",                                        \
	  "look for a CPU that the firmware has switched off")                         \
	X("cpu-frequency", "frequency of the slowest CPU under load",                  \
	  "look at cooling, power limits and the firmware's power profile")            \
	X("cpu-throttle", "throttling under load",                                     \
	  "look at fans, heat sinks and power supplies")                               \
	X("cpu-arithmetic", "every CPU computes the same",                             \
	  "swap the CPU: it computes wrong")                                           \
	X("turbo", "turbo frequencies", "set them in the firmware")                    \
	X("numa-nodes", "NUMA nodes", "set nodes per socket in the firmware")          \
	X("memory-size", "memory that the kernel has",                                 \
	  "look for a DIMM that the firmware has switched off")                        \
	X("memory-modules", "memory modules are alike on all channels",                \
	  "seat or swap the DIMM that differs")                                        \
	X("memory-errors", "memory errors that could not be corrected",                \
	  "swap the DIMM that EDAC names")                                             \
	X("memory-corrected", "memory errors that were corrected",                     \
	  "soak; swap the DIMM if they grow")                                          \
	X("memory-bandwidth", "memory bandwidth, triad on all CPUs",                   \
	  "look at memory-modules and NUMA settings")                                  \
	X("memory-pattern", "memory holds what was written",                           \
	  "swap the DIMM; the address tells which")                                    \
	X("disk-health", "what the disk says of its own health", "swap the disk")      \
	X("disk-read", "direct reading", "swap the disk, or look at its link")         \
	X("disk-write", "direct writing", "swap the disk, or look at its link")        \
	X("mount", "file system of a server",                                          \
	  "try `mount PATH` on the node, then look at server, network and export; "    \
	  "an unknown kind needs its package in the image (nfs-common)")               \
	X("clock-offset", "clock against the appliance's",                             \
	  "look at chrony on the node and at [site] ntp")

static const struct bu_host_row rows[] = {
#define X(id, what, hint) {id, what, hint},
	ROWS(X)
#undef X
};

const struct bu_host_row *
bu_host_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

static const struct bu_host_row *
row_of(const char *id)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (strcmp(rows[i].id, id) == 0)
			return &rows[i];
	bu_assert(!"a row of the table");
	return NULL;
}

struct bu_check *
bu_host_add(struct bu_checks *out, const char *id, enum bu_verdict verdict,
	    const char *subject, const char *seen, const char *expected)
{
	const struct bu_host_row *kind = row_of(id);
	struct bu_check *row;

	row = bu_checks_add(out, "host", id, verdict, subject);
	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	if (verdict == BU_VERDICT_PASS)
		return row;
	BU_CHECK_SET(row->hint, "%s", kind->hint);
	BU_CHECK_SET(row->text, "%s%s%s: %s%s%s", subject, *subject ? ": " : "",
		     kind->what, seen, *expected ? "; expected " : "", expected);
	return row;
}

void
bu_host_add_least(struct bu_checks *out, const char *id, const char *subject,
		  double seen, const char *unit, double least)
{
	char text[40], expected[48] = "";

	snprintf(text, sizeof(text), "%.1f %s", seen, unit);
	if (least > 0)
		snprintf(expected, sizeof(expected), "at least %.1f %s", least, unit);
	bu_host_add(out, id, seen < least ? BU_VERDICT_FAIL : BU_VERDICT_PASS, subject,
		    text, expected);
}

double
bu_host_threshold(const struct bu_checks_ctx *ctx, const char *key, double fallback)
{
	return bu_json_real(json_object_get(ctx->expect, "thresholds"), key, fallback);
}
