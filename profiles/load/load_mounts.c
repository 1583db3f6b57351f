/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems of servers, and where pools mount them. Called by load_checks.c.
 * Invariant: on no node two things are mounted in one place, nor one below the other,
 * where the order of a boot would decide what is seen.
 */
#include <string.h>

#include "profiles/load/load_internal.h"

static void
check_mount(struct bu_loader *ld, const struct bu_desired_mount *mount,
	    const struct bu_ini_section *section)
{
	if (mount->path && bu_load_is_system_path(mount->path))
		bu_load_wrong(ld, section, "path",
			      "'%s' is a directory of the system; allowed are others, "
			      "like /home",
			      mount->path);
	if (mount->path && mount->write && !bu_load_is_in(mount->write, mount->path))
		bu_load_wrong(ld, section, "write",
			      "'%s' is not in %s; the check writes to this file system "
			      "alone",
			      mount->write, mount->path);
}

struct place {
	const char *path, *what;
};

static void
check_place(struct bu_loader *ld, const struct bu_ini_section *section,
	    const struct bu_desired_mount *mount, const struct place *other)
{
	if (bu_load_is_in(mount->path, other->path) ||
	    bu_load_is_in(other->path, mount->path))
		bu_load_wrong(ld, section, "mounts",
			      "%s is mounted on %s, and %s on %s; each needs its own "
			      "place",
			      mount->name, mount->path, other->what, other->path);
}

static void
check_data(struct bu_loader *ld, const struct bu_ini_section *section,
	   const struct bu_desired_pool *pool, const struct bu_desired_mount *mount)
{
	const char *rest = pool->data;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		bu_autofree char *part = word;
		char *path = strrchr(part, ':') + 1;

		part[strcspn(part, ":")] = '\0';
		check_place(ld, section, mount, &(struct place){path, part});
	}
}

static void
check_pool(struct bu_loader *ld, const struct bu_desired_pool *pool,
	   const struct bu_ini_section *section)
{
	const struct bu_desired_disks *disks =
		pool->hardware ? pool->hardware->disks : NULL;

	for (size_t i = 0; i < pool->mounts_count; i++) {
		const struct bu_desired_mount *mount = pool->mounts[i];

		if (!mount->path)
			continue;
		for (size_t j = 0; j < i; j++)
			if (pool->mounts[j]->path)
				check_place(ld, section, mount,
					    &(struct place){pool->mounts[j]->path,
							    pool->mounts[j]->name});
		check_data(ld, section, pool, mount);
		if (disks && disks->scratch && disks->scratch_mount)
			check_place(ld, section, mount,
				    &(struct place){disks->scratch_mount,
						    "the array of [disks]"});
	}
}

void
bu_load_check_mounts(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < desired->mounts_count; i++)
		check_mount(ld, &desired->mounts[i], ld->mount_sections[i]);
	for (size_t i = 0; i < desired->pools_count; i++)
		check_pool(ld, &desired->pools[i], ld->pool_sections[i]);
}
