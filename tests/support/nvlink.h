/* SPDX-License-Identifier: Apache-2.0 */
/* A site in service of which all GPUs are one NVLink domain. */
#ifndef BU_TESTS_SUPPORT_NVLINK_H
#define BU_TESTS_SUPPORT_NVLINK_H

#include "tests/support/gate.h"

#define DOMAIN "8c3c0000-0000-0000-0000-000000000001.7"

enum { NODES_MAX = 6 };

static inline void
tell_domain(struct rig *rig, int number, const char *domain)
{
	struct bu_node *node = rig_node(rig, number);

	put_event(rig, BU_EVENT_CHECKS, node->name,
		  json_pack("{s:s,s:s,s:s,s:{s:i},s:[],s:s}", "boot_id", node->boot_id,
			    "digest", "", "verdict", "pass", "counts", "pass", 1,
			    "rows", "domain", domain));
}

/* All are in service and idle. more: sections of the profile. */
static inline void
begin_site_with(struct rig *rig, int nodes, const char *more)
{
	static const char last[] = "max_unavailable = 50 %\n";
	bu_autofree char *lines = bu_xasprintf("%s%s", last, more);

	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-nvlink", last, lines);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
	for (int i = 1; i <= nodes; i++) {
		rig_join(rig, i);
		tell_domain(rig, i, DOMAIN);
	}
}

static inline void
begin_site(struct rig *rig, int nodes)
{
	begin_site_with(rig, nodes, "");
}

#endif
