/* SPDX-License-Identifier: Apache-2.0 */
/* What a command of the shell prints, and programs that are played by such. */
#ifndef BU_TESTS_SUPPORT_SHELL_H
#define BU_TESTS_SUPPORT_SHELL_H

#include <sys/stat.h>

#include "base/file.h"
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

struct shell_asked {
	char *out;
	int ended;
};

static inline void
shell_on_answer(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct shell_asked *asked = arg;

	asked->out = bu_xstrdup(result ? result->out : err->text);
	asked->ended = 1;
}

/* $D in the script is the folder; the loop runs meanwhile, as the daemon's does. Its
 * output, or the error; owned. */
static inline char *
shell_meanwhile(struct bu_loop *loop, const char *folder, const char *text)
{
	bu_autofree char *script = bu_xasprintf("D=%s\n%s", folder, text);
	const char *argv[] = {"sh", "-c", script, NULL};
	struct bu_job_opts job = {.argv = argv, .deadline_ms = 60000};
	struct shell_asked asked = {.ended = 0};

	ck_assert_ptr_nonnull(bu_job_start(loop, &job, shell_on_answer, &asked, NULL));
	while (!asked.ended)
		bu_loop_step(loop, 100);
	return asked.out;
}

/* Programs of paper: the rows are a path in the folder and a text for sh. Each is told
 * the folder first, behind the head: "PAPER=" or "cd ". */
static inline void
shell_programs(const char *folder, const char *head, const char *const (*rows)[2],
	       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", folder, rows[i][0]);

		ck_assert_int_eq(bu_file_write_text(path, 0755, NULL,
						    "#!/bin/sh\n%s%s\n%s\n", head,
						    folder, rows[i][1]),
				 0);
		ck_assert_int_eq(chmod(path, 0755), 0);
	}
}

#endif
