/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that an image must have for its node's profile. Called by policy.c.
 * Invariants: a program is asked for only where a line of the profile needs it. Of an
 * image whose programs are unknown, none is asked for.
 */
#include <string.h>

#include "images/programs.h"
#include "model/sentence.h"
#include "profiles/language/schema.h"
#include "provisioner/plan/plan_impl.h"

struct look {
	const struct bu_desired *desired;
	const struct bu_desired_node *node;
};

static int
always(const struct look *look)
{
	return 1;
}

static int
by_networkd(const struct look *look)
{
	/* networkd also carries out netplan's configuration */
	return strcmp(look->node->image->network_config, "networkmanager") != 0;
}

static int
by_networkmanager(const struct look *look)
{
	return strcmp(look->node->image->network_config, "networkmanager") == 0;
}

static int
by_netplan(const struct look *look)
{
	return strcmp(look->node->image->network_config, "netplan") == 0;
}

static int
with_keys(const struct look *look)
{
	const struct bu_desired *desired = look->desired;

	for (size_t i = 0; i < desired->users_count; i++)
		if (desired->users[i].keys || desired->access.user_ca)
			return 1;
	return desired->access.directory_login != NULL;
}

static int
with_directory(const struct look *look)
{
	return look->desired->access.directory != NULL;
}

static int
with_sudo(const struct look *look)
{
	const struct bu_desired *desired = look->desired;

	for (size_t i = 0; i < desired->groups_count; i++)
		if (desired->groups[i].sudo)
			return 1;
	for (size_t i = 0; i < desired->users_count; i++)
		if (desired->users[i].sudo)
			return 1;
	return 0;
}

static int
with_array(const struct look *look)
{
	const struct bu_desired_disks *disks = look->node->hardware->disks;

	return disks && disks->scratch;
}

/* "scratch:500GiB:ext4:/scratch" */
static int
has_file_system(const char *item, const char *fs)
{
	const char *size = strchr(item, ':');
	const char *its = size ? strchr(size + 1, ':') : NULL;
	size_t length = strlen(fs);

	return its && strncmp(its + 1, fs, length) == 0 && its[1 + length] == ':';
}

/* Is a partition or the array of this file system? The installed system makes them. */
static int
with_file_system(const struct look *look, const char *fs)
{
	const struct bu_desired_disks *disks = look->node->hardware->disks;
	const char *rest = look->node->pool->data;
	char *item;

	while (rest && (item = bu_value_next_word(&rest))) {
		bu_autofree char *owned = item;

		if (has_file_system(owned, fs))
			return 1;
	}
	return disks && disks->scratch && strcmp(disks->scratch_fs, fs) == 0;
}

static int
with_ext4(const struct look *look)
{
	return with_file_system(look, "ext4");
}

static int
with_xfs(const struct look *look)
{
	return with_file_system(look, "xfs");
}

/* A prefix: "nfs" and "nfs4" have one program. */
static int
with_mount(const struct look *look, const char *fs)
{
	const struct bu_desired_pool *pool = look->node->pool;

	for (size_t i = 0; i < pool->mounts_count; i++)
		if (strncmp(pool->mounts[i]->fs, fs, strlen(fs)) == 0)
			return 1;
	return 0;
}

static int
with_nfs(const struct look *look)
{
	return with_mount(look, "nfs");
}

static int
with_lustre(const struct look *look)
{
	return with_mount(look, "lustre");
}

static int
with_encryption(const struct look *look)
{
	return bu_desired_encrypts(look->node);
}

static int
with_volatile_array(const struct look *look)
{
	return bu_desired_forgets_scratch(look->node);
}

static const struct {
	enum bu_image_program program;
	int (*wanted)(const struct look *look);
	enum bu_reason_code why;
	const char *fs;
} needs[] = {
	{BU_PROGRAM_NETWORKD, by_networkd, BU_REASON_FOR_NETWORKD, NULL},
	{BU_PROGRAM_NETWORKMANAGER, by_networkmanager, BU_REASON_FOR_NETWORKMANAGER,
	 NULL},
	{BU_PROGRAM_NETPLAN, by_netplan, BU_REASON_FOR_NETPLAN, NULL},
	{BU_PROGRAM_SSHD, with_keys, BU_REASON_FOR_KEYS, NULL},
	{BU_PROGRAM_SUDO, with_sudo, BU_REASON_FOR_SUDO, NULL},
	{BU_PROGRAM_SSSD, with_directory, BU_REASON_FOR_DIRECTORY, NULL},
	{BU_PROGRAM_CHRONY, always, BU_REASON_FOR_TIME, NULL},
	{BU_PROGRAM_EXT4, with_ext4, BU_REASON_FOR_FILE_SYSTEM, "ext4"},
	{BU_PROGRAM_XFS, with_xfs, BU_REASON_FOR_FILE_SYSTEM, "xfs"},
	{BU_PROGRAM_NFS, with_nfs, BU_REASON_FOR_MOUNT, "NFS"},
	{BU_PROGRAM_LUSTRE, with_lustre, BU_REASON_FOR_MOUNT, "Lustre"},
	{BU_PROGRAM_MDADM, with_array, BU_REASON_FOR_ARRAY, NULL},
	{BU_PROGRAM_CRYPTSETUP, with_encryption, BU_REASON_FOR_ENCRYPTION, NULL},
	{BU_PROGRAM_VOLATILE, with_volatile_array, BU_REASON_FOR_VOLATILE, NULL},
};

static json_t *
said_of(size_t row)
{
	const struct bu_image_program_row *program =
		&bu_image_programs[needs[row].program];
	const struct bu_arg args[] = {BU_ARG("fs", needs[row].fs), {.name = NULL}};
	json_t *why = bu_said_new(needs[row].why, needs[row].fs ? args : NULL);

	return BU_SAID(PROGRAM_MISSING, BU_ARG("program", program->name),
		       BU_ARG_SAID("why", why),
		       BU_ARG_NUMBER("again", !program->deb[0]),
		       BU_ARG("deb", program->deb), BU_ARG("rpm", program->rpm));
}

void
bu_plan_needs(const struct bu_desired *desired, const struct bu_desired_node *node,
	      uint32_t programs, json_t *ret)
{
	const struct look look = {desired, node};

	for (size_t i = 0; programs && i < BU_LEN(needs); i++)
		if (!(programs >> needs[i].program & 1) && needs[i].wanted(&look))
			json_array_append_new(ret, said_of(i));
}
