/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems of the machine's own disks that the profile wants beside the root: plain
 * data partitions and the array of the other disks. None of them keeps a machine from
 * booting, so here is where it is seen that one lacks. Called as rows of the audit.
 */
#include <stdio.h>
#include <string.h>

#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

static void
visit_process(const char *name, void *arg)
{
	static const char *const makers[] = {"fsck", "e2fsck", "mkfs", "mke2fs"};
	struct bu_audit *a = ((void **)arg)[0];
	int *found = ((void **)arg)[1];
	char comm[32];

	bu_sysroot_line(a->root, comm, sizeof(comm), "proc/%s/comm", name);
	for (size_t i = 0; i < BU_LEN(makers); i++)
		*found |= strncmp(comm, makers[i], strlen(makers[i])) == 0;
}

/* A file system is being made or checked, which takes as long as it is large. */
static int
is_at_work(struct bu_audit *a)
{
	int found = 0;

	bu_sysroot_each(a->root, visit_process, (void *[]){a, &found}, "proc");
	return found;
}

static void
judge(struct bu_audit *a, const char *what, const char *place)
{
	struct bu_sysroot_mount found;
	int mounted = bu_sysroot_mounted(a->root, place, &found) == 0 && found.fs[0];

	if (!mounted && is_at_work(a))
		bu_audit_undone(a, place,
				"%s is not mounted on %s yet: a file system "
				"is being made or checked",
				what, place);
	else
		bu_audit_judge(a, mounted, place, mounted ? "mounted" : "not mounted",
			       "mounted", "%s is not mounted on %s", what, place);
}

/* Lines that config/tuning.c has written: "PARTUUID=GUID PLACE FS OPTIONS ..." */
void
bu_audit_data_mounts(struct bu_audit *a)
{
	bu_autofree char *table =
		bu_sysroot_read(a->root, 1 << 20, NULL, "%s", "etc/fstab");
	char *rest = table, *line, place[256], options[256];

	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "PARTUUID=%*s %255s %*s %255s", place, options) == 2 &&
		    strstr(options, "x-systemd.makefs"))
			judge(a, "a data partition", place);
}

/* "FILESYSTEM PLACE" */
void
bu_audit_scratch(struct bu_audit *a)
{
	bu_autofree char *text =
		bu_sysroot_read(a->root, 65536, NULL, "%s", "etc/bringup/scratch");
	char *rest = text, *line, place[256];

	while ((line = strsep(&rest, "\n")))
		if (*line != '#' && sscanf(line, "%*s %255s", place) == 1)
			judge(a, "the array of the other disks", place);
}
