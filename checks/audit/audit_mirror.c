/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of the audit about a system that is on two disks. Called by audit.c.
 * Invariant: the disks are those that it was installed on, by their serial numbers, so
 * that one that is gone has a name, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/sysroot.h"
#include "base/text.h"
#include "checks/audit/audit_impl.h"

struct half {
	const char *root, *serial;
	char disk[40], part[40], array[40]; /* of the kernel's; "" = there is none */
};

static void
visit_holder(const char *name, void *arg)
{
	struct half *half = arg;

	if (strncmp(name, "md", 2) == 0)
		BU_TEXT_COPY(half->array, name);
}

static void
visit_part(const char *name, void *arg)
{
	struct half *half = arg;
	bu_autofree char *text = bu_sysroot_read(
		half->root, 4096, NULL, "sys/block/%s/%s/uevent", half->disk, name);

	if (!text || !strstr(text, "PARTNAME=bringup-root\n"))
		return;
	BU_TEXT_COPY(half->part, name);
	bu_sysroot_each(half->root, visit_holder, half, "sys/block/%s/%s/holders",
			half->disk, name);
}

static void
visit_disk(const char *name, void *arg)
{
	struct half *half = arg;
	char serial[64];

	bu_sysroot_serial(half->root, serial, sizeof(serial), name);
	if (strcmp(serial, half->serial) == 0)
		BU_TEXT_COPY(half->disk, name);
}

static void
judge(struct bu_audit *a, const char *serial)
{
	struct half half = {.root = a->root, .serial = serial};
	char state[40] = "not there";

	bu_sysroot_each(a->root, visit_disk, &half, "sys/block");
	if (half.disk[0]) {
		BU_TEXT_COPY(state, "not in the array");
		bu_sysroot_each(a->root, visit_part, &half, "sys/block/%s", half.disk);
	}
	if (half.array[0])
		bu_sysroot_line(a->root, state, sizeof(state),
				"sys/block/%s/md/dev-%s/state", half.array, half.part);
	bu_audit_judge(a, strncmp(state, "in_sync", 7) == 0, serial, state, "in_sync",
		       "the system is on one disk: its mirror on disk %s is %s", serial,
		       state);
}

/* The array's UUID, then a serial number a line. */
void
bu_audit_root_mirror(struct bu_audit *a)
{
	bu_autofree char *text =
		bu_sysroot_read(a->root, 4096, NULL, "%s", "var/lib/bringup/mirror");
	char *rest = text, *line;

	for (int i = 0; (line = strsep(&rest, "\n")); i++)
		if (i > 0 && *line)
			judge(a, line);
}
