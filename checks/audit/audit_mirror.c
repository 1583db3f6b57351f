/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of the audit about a system that is on two disks. Called by audit.c.
 * Invariant: the disks are those that it was installed on, by their numbers
 * (bu_disk_number()), so that one that is gone has a name, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/mdraid.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/audit/audit_impl.h"

struct half {
	const char *root, *number;
	char disk[40], part[40], array[40]; /* of the kernel's; "" = there is none */
	char state[40];
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

/* Over whichever path the array has it, or over any, where it has none. */
static void
visit_disk(const char *name, void *arg)
{
	struct half *half = arg;
	char serial[64], wwn[48];

	if (half->array[0])
		return;
	bu_sysroot_serial(half->root, serial, sizeof(serial), name);
	bu_sysroot_wwn(half->root, wwn, sizeof(wwn), name);
	if (strcmp(serial, half->number) != 0 && strcmp(wwn, half->number) != 0)
		return;
	BU_TEXT_COPY(half->disk, name);
	bu_sysroot_each(half->root, visit_part, half, "sys/block/%s", name);
}

static void
find(struct bu_audit *a, const char *number, struct half *ret)
{
	*ret = (struct half){.root = a->root, .number = number, .state = "not there"};
	bu_sysroot_each(a->root, visit_disk, ret, "sys/block");
	if (ret->disk[0])
		BU_TEXT_COPY(ret->state, "not in the array");
	if (ret->array[0])
		bu_sysroot_line(a->root, ret->state, sizeof(ret->state),
				"sys/block/%s/md/dev-%s/state", ret->array, ret->part);
}

/* Each was written when the other was gone. */
static int
have_parted(const struct half *one, const struct half *other)
{
	struct bu_md a, b;

	return bu_md_read(one->root, one->disk, one->part, &a) == 0 &&
	       bu_md_read(other->root, other->disk, other->part, &b) == 0 &&
	       bu_md_lost(&a, &b) && bu_md_lost(&b, &a);
}

static void
judge(struct bu_audit *a, const struct half *half, const struct half *other)
{
	int is_in = strncmp(half->state, "in_sync", 7) == 0;

	if (!is_in && other->array[0] && have_parted(half, other))
		bu_audit_bad(a, half->number, "has run alone", "in_sync",
			     "the system is on one disk, %s: its mirror on disk %s has "
			     "run alone, too, and they are not joined; save what you "
			     "need of either, then rebuild the node",
			     other->number, half->number);
	else
		bu_audit_judge(a, is_in, half->number, half->state, "in_sync",
			       "the system is on one disk: its mirror on disk %s is %s",
			       half->number, half->state);
}

/* The array's UUID, then the number of a disk a line. */
void
bu_audit_root_mirror(struct bu_audit *a)
{
	bu_autofree char *text =
		bu_sysroot_read(a->root, 4096, NULL, "%s", "var/lib/bringup/mirror");
	struct half halves[2];
	char *rest = text, *line;
	size_t count = 0;

	for (int i = 0; (line = strsep(&rest, "\n")); i++)
		if (i > 0 && *line && count < BU_LEN(halves))
			find(a, line, &halves[count++]);
	for (size_t i = 0; count == BU_LEN(halves) && i < count; i++)
		judge(a, &halves[i], &halves[!i]);
}
