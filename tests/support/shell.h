/* SPDX-License-Identifier: Apache-2.0 */
/* What a command of the shell prints. */
#ifndef BU_TESTS_SUPPORT_SHELL_H
#define BU_TESTS_SUPPORT_SHELL_H

#include "base/worker.h"
#include "tests/support/unit.h"

/* Run in the folder; it must succeed. Owned. */
static inline char *
shell_told(const char *folder, const char *command)
{
	bu_autofree char *line = bu_xasprintf("cd %s && %s", folder, command);
	const char *const argv[] = {"sh", "-c", line, NULL};
	const struct bu_job_opts opts = {
		.argv = argv, .deadline_ms = 60000, .output_max = 65536};
	struct bu_err err;
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s: %s", command, err.text);
	return out;
}

#endif
