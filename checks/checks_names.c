/* SPDX-License-Identifier: Apache-2.0 */
/* Which names are known. Called by the runner of checks before any group. */
#include "checks/checks_names.h"

#include <string.h>

#include "checks/audit/audit.h"
#include "checks/fabric/loops.h"
#include "checks/gpu/gpu.h"
#include "checks/gpu/nvlink.h"
#include "checks/host/host.h"
#include "checks/soak/soak.h"

static const char *const limits[] = {
	"aer_correctable", "carrier_downs",    "clock_offset_us", "corrected_errors",
	"cpu_percent",     "disk_read_mbs",    "disk_write_mbs",  "gpu_pcie_width",
	"lldp_wait_ms",    "max_read_request", "memory_gbs",      "nic_pcie_width",
};

#define HAS(rows, name)                                                                \
	({                                                                             \
		size_t count_, found_ = 0;                                             \
		__auto_type list_ = rows(&count_);                                     \
		for (size_t i_ = 0; i_ < count_; i_++)                                 \
			found_ += strcmp(list_[i_].id, name) == 0;                     \
		found_ > 0;                                                            \
	})

static int
is_check(const char *name)
{
	return strncmp(name, "site:", 5) == 0 || HAS(bu_audit_rows, name) ||
	       HAS(bu_gpu_rows, name) || HAS(bu_host_rows, name) ||
	       HAS(bu_loops_rows, name) || HAS(bu_soak_rows, name) ||
	       HAS(bu_nvlink_rows, name);
}

static int
is_limit(const char *name)
{
	for (size_t i = 0; i < BU_LEN(limits); i++)
		if (strcmp(limits[i], name) == 0)
			return 1;
	return 0;
}

static void
look(const struct bu_checks_ctx *ctx, const char *member, int (*known)(const char *),
     struct bu_checks *out)
{
	json_t *own = json_object_get(ctx->expect, member), *value;
	const char *name;

	json_object_foreach (own, name, value) {
		struct bu_check *row;

		if (known(name))
			continue;
		row = bu_checks_add(out, "audit", "unknown-name", BU_VERDICT_WARN,
				    member);
		BU_CHECK_SET(row->seen, "%s", name);
		BU_CHECK_SET(row->hint,
			     "correct [validation] %s; docs/checks.md has "
			     "the names",
			     member);
		BU_CHECK_SET(row->text, "%s: unknown name '%s'; it has no effect",
			     member, name);
	}
}

void
bu_checks_name_unknown(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	look(ctx, "severity", is_check, out);
	look(ctx, "thresholds", is_limit, out);
}
