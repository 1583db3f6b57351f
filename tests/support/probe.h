/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a probe, as its one work item has them. */
#ifndef BU_TESTS_SUPPORT_PROBE_H
#define BU_TESTS_SUPPORT_PROBE_H

#include "fabric/probe/pair.h"

static inline int
probe_opts(const json_t *item, struct bu_pair_opts *ret, struct bu_err *err)
{
	struct bu_work_probe work;

	if (bu_work_probe_from_json(item, &work, err) != 0)
		return -1;
	bu_pair_opts_of(&work, 0, ret);
	return 0;
}

#endif
