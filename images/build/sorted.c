/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into mkfs.ext4 (LD_PRELOAD, by recipes/lib.sh): it copies a folder into the
 * file system in the order in which the host's file system lists it, and takes over
 * times that nobody can set. Invariant: with this, the same tree gives the same bytes
 * on any machine: names come sorted, and no time is later than $SOURCE_DATE_EPOCH.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One folder that is being read; closed ones give their place back. */
struct listing {
	struct listing *next;
	DIR *dir;
	struct dirent *entries;
	size_t count, taken;
};
static struct listing *listings;

struct dirent *readdir(DIR *dir);
int closedir(DIR *dir);
int lstat64(const char *path, struct stat64 *st);

static int
by_name(const void *a, const void *b)
{
	const struct dirent *one = a, *other = b;

	return strcmp(one->d_name, other->d_name);
}

static struct listing *
list(DIR *dir)
{
	struct dirent *(*real)(DIR *) = dlsym(RTLD_NEXT, "readdir");
	struct listing *new = calloc(1, sizeof(*new));
	const struct dirent *entry;

	while (new && (entry = real(dir))) {
		struct dirent *more =
			realloc(new->entries, (new->count + 1) * sizeof(*more));

		if (!more)
			abort();
		memcpy(&more[new->count++], entry, entry->d_reclen);
		new->entries = more;
	}
	if (!new)
		abort();
	if (new->count)
		qsort(new->entries, new->count, sizeof(*new->entries), by_name);
	new->dir = dir;
	new->next = listings;
	listings = new;
	return new;
}

struct dirent *
readdir(DIR *dir)
{
	struct listing *listing = listings;

	while (listing && listing->dir != dir)
		listing = listing->next;
	if (!listing)
		listing = list(dir);
	return listing->taken < listing->count ? &listing->entries[listing->taken++]
					       : NULL;
}

int
closedir(DIR *dir)
{
	int (*real)(DIR *) = dlsym(RTLD_NEXT, "closedir");

	for (struct listing **at = &listings; *at; at = &(*at)->next) {
		struct listing *listing = *at;

		if (listing->dir != dir)
			continue;
		*at = listing->next;
		free(listing->entries);
		free(listing);
		break;
	}
	return real(dir);
}

static void
clamp(struct timespec *when, time_t latest)
{
	if (when->tv_sec >= latest)
		*when = (struct timespec){.tv_sec = latest};
}

int
lstat64(const char *path, struct stat64 *st)
{
	int (*real)(const char *, struct stat64 *) = dlsym(RTLD_NEXT, "lstat64");
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	int rc = real(path, st);

	if (rc || !epoch)
		return rc;
	clamp(&st->st_mtim, strtoll(epoch, NULL, 10));
	/* Both are of the copy that was just made, whatever they are. */
	st->st_ctim = st->st_atim = st->st_mtim;
	return 0;
}
