/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mounted on a node beside its system: data partitions and the array of
 * [disks]. Called by load_checks.c. Invariant: no mount hides what the system needs,
 * and no two are in one place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/language/schema.h"
#include "profiles/load/disk.h"
#include "profiles/load/load_internal.h"

enum { XFS_MIN_BYTES = 300 << 20 };

int
bu_load_is_in(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	size -= folder[size - 1] == '/';
	return strncmp(path, folder, size) == 0 && (!path[size] || path[size] == '/');
}

int
bu_load_is_system_path(const char *path)
{
	static const char *const paths[] = {"/", "/root", "/tmp", "/var", "/var/lib"};
	static const char *const trees[] = {
		"/bin",   "/boot",           "/dev",  "/etc", "/lib",  "/lib32",
		"/lib64", "/libx32",         "/proc", "/run", "/sbin", "/sys",
		"/usr",   "/var/lib/bringup"};

	for (size_t i = 0; i < BU_LEN(paths); i++)
		if (bu_load_is_in(path, paths[i]) && bu_load_is_in(paths[i], path))
			return 1;
	for (size_t i = 0; i < BU_LEN(trees); i++)
		if (bu_load_is_in(path, trees[i]))
			return 1;
	return 0;
}

/* mkfs.xfs refuses smaller ones. "lake:100MiB:xfs:/lake" */
static int
is_small_xfs(const char *part)
{
	const struct bu_key key = {.type = BU_KEY_SIZE, .max = 1e18};
	char size[32], fs[8];
	uint64_t bytes;

	return sscanf(part, "%*[^:]:%31[^:]:%7[^:]", size, fs) == 2 &&
	       strcmp(fs, "xfs") == 0 &&
	       bu_value_parse(&key, size, &bytes, NULL) == 0 && bytes < XFS_MIN_BYTES;
}

/* "scratch:500GiB:ext4:/scratch, ...": each name and each place once, and none that is
 * the system's. */
void
bu_load_check_data(struct bu_loader *ld, const struct bu_desired_pool *pool,
		   const struct bu_ini_section *section)
{
	const char *rest = pool->data;
	char *word;

	if (!rest && pool->data_keys != BU_DATA_KEYS_NONE)
		bu_load_wrong(ld, section, "data_keys",
			      "there is no data to encrypt; give data, or leave it "
			      "out");
	while (rest && (word = bu_value_next_word(&rest))) {
		bu_autofree char *part = word;
		const char *path = strrchr(part, ':') + 1;
		bu_autofree char *name =
			bu_xasprintf("%.*s:", (int)strcspn(part, ":"), part);
		const char *more = rest;
		char *other;

		if (strcmp(name, "root:") == 0 || strcmp(name, "esp:") == 0)
			bu_load_wrong(ld, section, "data",
				      "'%.*s' is the name of a partition of the system",
				      (int)strlen(name) - 1, name);
		if (bu_load_is_system_path(path))
			bu_load_wrong(ld, section, "data",
				      "'%s' is a directory of the system; allowed are "
				      "others, like /scratch",
				      path);
		if (is_small_xfs(part))
			bu_load_wrong(ld, section, "data",
				      "'%s' is too small; xfs takes 300 MiB or more",
				      part);
		while ((other = bu_value_next_word(&more))) {
			if (strncmp(other, name, strlen(name)) == 0 ||
			    strcmp(strrchr(other, ':') + 1, path) == 0)
				bu_load_wrong(
					ld, section, "data",
					"'%s' and '%s' have the same name or mount "
					"point; each needs its own",
					part, other);
			free(other);
		}
	}
}

static void
check_disks(struct bu_loader *ld, const struct bu_desired_disks *disks,
	    const struct bu_ini_section *section)
{
	if (disks->scratch && bu_disk_is_for_one(disks->scratch))
		bu_load_wrong(ld, section, "scratch",
			      "'%s' picks some of its disks; an array takes all that "
			      "it says, like path:*-nvme-* or rotational:no",
			      disks->scratch);
	if (disks->scratch_mount && bu_load_is_system_path(disks->scratch_mount))
		bu_load_wrong(ld, section, "scratch_mount",
			      "'%s' is a directory of the system; allowed are others, "
			      "like /scratch",
			      disks->scratch_mount);
	if (!disks->scratch && !disks->mirror && disks->roots == 1)
		bu_load_wrong(ld, section, "scratch",
			      "is missing, and so is mirror; without one of them, or "
			      "roots = 2, the section says nothing");
	if (disks->mirror && disks->roots == 2)
		bu_load_wrong(
			ld, section, "roots",
			"2 and mirror: of a mirrored system each disk has a loader "
			"of its own, and they would not agree on the root; take "
			"one of them out");
	if (!disks->scratch && disks->scratch_disks)
		bu_load_wrong(ld, section, "scratch_disks",
			      "there is no array; give scratch, or leave it out");
	if (!disks->scratch && disks->scratch_keys != BU_SCRATCH_KEYS_NONE)
		bu_load_wrong(ld, section, "scratch_keys",
			      "there is no array to encrypt; give scratch, or leave it "
			      "out");
}

/* Names of partitions are what tells them from data. */
static void
check_roots(struct bu_loader *ld, const struct bu_desired_pool *pool,
	    const struct bu_ini_section *section)
{
	static const char *const taken[] = {"root-a:", "root-b:", "esp-a:", "esp-b:"};
	const struct bu_desired_disks *disks =
		pool->hardware ? pool->hardware->disks : NULL;
	const char *rest = pool->data;
	char *word;

	while (disks && disks->roots == 2 && rest &&
	       (word = bu_value_next_word(&rest))) {
		for (size_t i = 0; i < BU_LEN(taken); i++)
			if (strncmp(word, taken[i], strlen(taken[i])) == 0)
				bu_load_wrong(
					ld, section, "data",
					"'%.*s' is the name of a partition of the "
					"system, which has two roots",
					(int)strlen(taken[i]) - 1, word);
		free(word);
	}
}

/* In other words it may be another pair. */
static void
check_pair(struct bu_loader *ld, const struct bu_desired_hardware *hardware,
	   const struct bu_ini_section *section)
{
	const char *mirror = hardware->disks ? hardware->disks->mirror : NULL;

	if (!bu_disk_is_boot_pair(hardware->disk) &&
	    !(mirror && bu_disk_is_boot_pair(mirror)))
		return;
	if (!mirror || strcmp(hardware->disk, mirror) != 0)
		bu_load_wrong(ld, section, "hardware",
			      "a boot-pair is the disk of [hardware %s] ('%s') and the "
			      "mirror of its [disks] ('%s'); both say it, in the same "
			      "words",
			      hardware->name, hardware->disk, mirror ? mirror : "none");
}

/* Both disks of a mirror are written whole, and the system alone is on both. */
static void
check_mirror(struct bu_loader *ld, const struct bu_desired_pool *pool,
	     const struct bu_ini_section *section)
{
	const struct bu_desired_hardware *hardware = pool->hardware;
	const struct bu_desired_disks *disks = hardware ? hardware->disks : NULL;

	if (!hardware || !hardware->disk)
		return;
	check_pair(ld, hardware, section);
	if (!disks || !disks->mirror)
		return;
	if (pool->data)
		bu_load_wrong(ld, section, "data",
			      "[disks %s] mirrors the system, and data partitions are "
			      "not mirrored yet; take data out, or mirror",
			      disks->name);
	if (strcmp(disks->mirror, hardware->disk) == 0 &&
	    (strstr(disks->mirror, "serial:") || strstr(disks->mirror, "wwn:")))
		bu_load_wrong(
			ld, section, "hardware",
			"[disks %s] mirror says the disk of [hardware %s] itself: "
			"'%s'; it takes another one",
			disks->name, hardware->name, disks->mirror);
}

/* "scratch:500GiB:ext4:/scratch" beside an array that is mounted there, or above or
 * below it: which of them comes first at a boot is not said. */
static void
check_mounts(struct bu_loader *ld, const struct bu_desired_pool *pool,
	     const struct bu_ini_section *section)
{
	const struct bu_desired_disks *disks =
		pool->hardware ? pool->hardware->disks : NULL;
	const char *rest = pool->data;
	char *word;

	while (disks && disks->scratch_mount && rest &&
	       (word = bu_value_next_word(&rest))) {
		bu_autofree char *part = word;
		const char *path = strrchr(part, ':') + 1;

		if (bu_load_is_in(path, disks->scratch_mount) ||
		    bu_load_is_in(disks->scratch_mount, path))
			bu_load_wrong(ld, section, "data",
				      "'%s' is mounted where [disks %s] has its array, "
				      "or above or below it; each needs its own place",
				      part, disks->name);
	}
}

/* What a node whose system runs from memory does not have yet. Its loader is iPXE,
 * because it asks for its boot script at each boot. */
static void
check_ram(struct bu_loader *ld, const struct bu_desired_pool *pool,
	  const struct bu_ini_section *section)
{
	const struct bu_desired_hardware *hardware = pool->hardware;

	if (pool->root != BU_ROOT_RAM)
		return;
	if (pool->data)
		bu_load_wrong(ld, section, "root",
			      "ram and data: nodes whose system runs from memory have "
			      "no data partitions yet; take data out, or say root = "
			      "disk");
	if (pool->root_size_bytes)
		bu_load_wrong(ld, section, "root",
			      "ram and root_size: the system is not on a disk; take "
			      "root_size out");
	if (hardware && hardware->disks)
		bu_load_wrong(ld, section, "root",
			      "ram and [hardware %s] disks: nodes whose system runs "
			      "from memory have no array yet, no disk to mirror and no "
			      "two roots",
			      hardware->name);
	if (hardware && hardware->boot_loader == BU_BOOT_LOADER_GRUB)
		bu_load_wrong(ld, section, "root",
			      "ram and [hardware %s] boot_loader = grub: such nodes "
			      "boot by themselves, for which iPXE is needed",
			      hardware->name);
	if (hardware && hardware->boot == BU_BOOT_BY_MEDIA)
		bu_load_wrong(ld, section, "root",
			      "ram and [hardware %s] boot = media: such nodes boot by "
			      "themselves, from the network",
			      hardware->name);
}

/* All of the disk is the image's, and what is mounted is its own business. */
static void
check_raw(struct bu_loader *ld, const struct bu_desired_pool *pool,
	  const struct bu_ini_section *section)
{
	if (pool->root != BU_ROOT_RAW)
		return;
	if (pool->data)
		bu_load_wrong(ld, section, "root",
			      "raw and data: the image's own partitions are all that "
			      "such a disk has; take data out");
	if (pool->root_size_bytes)
		bu_load_wrong(
			ld, section, "root",
			"raw and root_size: the image says how large its root is; "
			"take root_size out");
	if (pool->mounts_count)
		bu_load_wrong(ld, section, "root",
			      "raw and mounts: they would replace the /etc/fstab of an "
			      "image that bringup did not build; put them into the "
			      "image and take mounts out");
	if (pool->hardware && pool->hardware->disks)
		bu_load_wrong(ld, section, "root",
			      "raw and [hardware %s] disks: an image that bringup did "
			      "not build mounts no array and starts from no mirror and "
			      "no second root",
			      pool->hardware->name);
}

static int
is_console(const char *kargs)
{
	while (*(kargs += strspn(kargs, " "))) {
		if (strncmp(kargs, "console=", strlen("console=")) != 0)
			return 0;
		kargs += strcspn(kargs, " ");
	}
	return 1;
}

/* What only reaches a kernel by its boot loader, and that one is the image's own. The
 * boot ramdisk's console is said by the same key. */
static void
refuse_raw(struct bu_loader *ld, const char *who, const char *key, const char *value,
	   const struct bu_origin *at)
{
	if (!value || !at || !at->line ||
	    (strcmp(key, "kargs") == 0 && is_console(value)))
		return;
	bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file, at->line,
			"%s %s: '%.80s' does not reach a kernel that root = raw "
			"installs, because its boot loader is the image's own; put it "
			"into the image and take it out here (console=... may stay: "
			"it is for the boot ramdisk)",
			who, key, value);
}

static void
check_raw_kernels(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	size_t kargs = (size_t)(bu_schema_key("pool", "kargs") - keys);
	size_t pages = (size_t)(bu_schema_key("pool", "hugepages") - keys);

	for (size_t i = 0; i < desired->pools_count; i++) {
		const struct bu_desired_pool *pool = &desired->pools[i];
		bu_autofree char *who = bu_xasprintf("[pool %s]", pool->name);

		if (pool->root != BU_ROOT_RAW)
			continue;
		refuse_raw(ld, who, "kargs", pool->kargs, &pool->origins[kargs]);
		refuse_raw(ld, who, "hugepages", pool->hugepages,
			   &pool->origins[pages]);
	}
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		bu_autofree char *who = bu_xasprintf("[node %s]", node->name);

		if (node->pool->root != BU_ROOT_RAW)
			continue;
		if (node->kargs != node->pool->kargs)
			refuse_raw(ld, who, "kargs", node->kargs,
				   bu_desired_origin(node, "kargs"));
		if (node->hugepages != node->pool->hugepages)
			refuse_raw(ld, who, "hugepages", node->hugepages,
				   bu_desired_origin(node, "hugepages"));
	}
}

void
bu_load_check_disks(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < desired->disks_count; i++)
		check_disks(ld, &desired->disks[i], ld->disks_sections[i]);
	for (size_t i = 0; i < desired->pools_count; i++) {
		check_mounts(ld, &desired->pools[i], ld->pool_sections[i]);
		check_mirror(ld, &desired->pools[i], ld->pool_sections[i]);
		check_roots(ld, &desired->pools[i], ld->pool_sections[i]);
		check_ram(ld, &desired->pools[i], ld->pool_sections[i]);
		check_raw(ld, &desired->pools[i], ld->pool_sections[i]);
	}
	check_raw_kernels(ld);
}
