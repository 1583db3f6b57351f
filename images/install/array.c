/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs mdadm and reads what it says; called by scratch.c and mirror.c. Invariant: no
 * array is up when an install begins or ends, so that one name is enough.
 */
#include "images/install/array.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/worker.h"
#include "images/install/disk.h"

enum { MDADM_MS = 60 * 1000, EXAMINE_MAX = 65536, WORDS_MAX = 24 };

char *
bu_array_part(const char *disk, size_t which)
{
	struct stat st;

	return !stat(disk, &st) && S_ISREG(st.st_mode) ? bu_xstrdup(disk)
						       : bu_disk_part(disk, which);
}

/* mdadm writes an UUID as four numbers: "f0e1d2c3:...". */
static void
uuid_text(const char *uuid, char ret[36])
{
	char digits[33] = "";
	size_t count = 0;

	for (; *uuid && count < 32; uuid++)
		if (*uuid != '-')
			digits[count++] = *uuid;
	snprintf(ret, 36, "%.8s:%.8s:%.8s:%.8s", digits, digits + 8, digits + 16,
		 digits + 24);
}

static int
mdadm(const struct bu_install_opts *opts, const char **argv, char **ret_out,
      struct bu_err *err)
{
	/* Nodes and links are the kernel's: there may be no udev to wait for. */
	static const char *const env[] = {"MDADM_NO_UDEV=1", NULL};
	struct bu_job_opts job = {.argv = argv,
				  .env = env,
				  .deadline_ms = MDADM_MS,
				  .output_max = EXAMINE_MAX};

	argv[0] = opts->mdadm ? opts->mdadm : "/usr/lib/bringup/mdadm";
	return bu_job_run(&job, ret_out, err);
}

int
bu_array_create(const struct bu_install_opts *opts, const struct bu_array *array,
		char *const *parts, const char *const *more, struct bu_err *err)
{
	char uuid[36], with_uuid[48], level[24], devices[40];
	const char *argv[BU_INSTALL_SCRATCH_MAX + WORDS_MAX] = {
		NULL,    "--create", BU_ARRAY_DEVICE,
		"--run", "--force",  "--homehost=any",
		level,   with_uuid,  devices};
	size_t at = 9;

	uuid_text(array->uuid, uuid);
	snprintf(with_uuid, sizeof(with_uuid), "--uuid=%s", uuid);
	snprintf(level, sizeof(level), "--level=%s", array->level);
	snprintf(devices, sizeof(devices), "--raid-devices=%zu", array->count);
	while (*more)
		argv[at++] = *more++;
	for (size_t i = 0; i < array->count; i++)
		argv[at++] = parts[i];
	return mdadm(opts, argv, NULL, err);
}

int
bu_array_stop(const struct bu_install_opts *opts, struct bu_err *err)
{
	const char *argv[] = {NULL, "--stop", BU_ARRAY_DEVICE, NULL};

	return mdadm(opts, argv, NULL, err);
}

static int
says(const char *text, const char *key, const char *value)
{
	bu_autofree char *line = bu_xasprintf("%s=%s\n", key, value);
	const char *at = strstr(text, line);

	return at && (at == text || at[-1] == '\n');
}

int
bu_array_has(const struct bu_install_opts *opts, const struct bu_array *array,
	     const char *part)
{
	const char *argv[] = {NULL, "--examine", "--export", part, NULL};
	bu_autofree char *out = NULL;
	char uuid[36], devices[16];

	if (mdadm(opts, argv, &out, NULL))
		return 0;
	uuid_text(array->uuid, uuid);
	snprintf(devices, sizeof(devices), "%zu", array->count);
	return says(out, "MD_UUID", uuid) && says(out, "MD_LEVEL", array->level) &&
	       says(out, "MD_DEVICES", devices);
}
