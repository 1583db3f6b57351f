/* SPDX-License-Identifier: Apache-2.0 */
/* Asks `dnsmasq --test`, which reads a file of ours and nothing of strangers. */
#include "provisioner/boot/try.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "provisioner/boot/program.h"

enum { TRY_MS = 5000 };

/* Its words end with "at line 12 of FILE", and the line is what helps. */
static int
say_line(const char *conf_path, const char *words, struct bu_err *err)
{
	const char *at = strstr(words, " at line ");
	bu_autofree char *text = bu_file_read(conf_path, 0, NULL, NULL);
	const char *line = text;
	long number = at ? strtol(at + 9, NULL, 10) : 0;

	while (line && --number > 0 && (line = strchr(line, '\n')) != NULL)
		line++;
	if (!at || !line)
		at = line = "";
	return bu_err_set(err, BU_ERR_INVAL, 0, "%.*s%s%.*s", (int)strcspn(words, "\n"),
			  words, *at ? ": " : "", (int)strcspn(line, "\n"), line);
}

int
bu_dnsmasq_try(const char *conf_path, struct bu_err *err)
{
	const struct bu_boot_program *program = bu_boot_program("dnsmasq");
	bu_autofree char *conf_arg = bu_xasprintf("--conf-file=%s", conf_path);
	const char *argv[] = {bu_boot_path(program), "--test", conf_arg, NULL};
	struct bu_job_opts opts = {
		.argv = argv, .deadline_ms = TRY_MS, .output_max = 65536};
	struct bu_job_end end;

	int rc = 0;

	if (bu_job_wait(&opts, &end, err) != 0)
		return -1;
	if (end.timed_out)
		rc = bu_err_set(err, BU_ERR_TIMEOUT, 0, "dnsmasq --test took %d ms",
				TRY_MS);
	else if (end.exit_code != 0)
		rc = say_line(conf_path, end.errs, err);
	bu_job_end_fini(&end);
	return rc;
}
