/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leftovers of partition tables, file systems, LVM, md, ZFS and of RAID controllers, so
 * that a plan can say what a grant would wipe. Called by disks.c. Invariant: it only
 * names; whether a disk is empty is decided by its bytes.
 */
#include "agent/leftovers.h"

#include <blkid.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { WORDS_MAX = 12, WORD_SIZE = 32 };

struct words {
	char list[WORDS_MAX][WORD_SIZE];
	size_t count;
};

static void
add_word(struct words *words, const char *word)
{
	char clean[WORD_SIZE];

	bu_text_copy(clean, sizeof(clean), word);
	bu_sysroot_clean(clean);
	for (size_t i = 0; i < words->count; i++)
		if (strcmp(words->list[i], clean) == 0)
			return;
	if (*clean && words->count < WORDS_MAX)
		bu_text_copy(words->list[words->count++], WORD_SIZE, clean);
}

/* A disk may have several, one over the other. */
static void
probe(const char *path, struct words *words)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	blkid_probe probe = blkid_new_probe();
	const char *word;

	if (probe && fd >= 0 && blkid_probe_set_device(probe, fd, 0, 0) == 0) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
		blkid_probe_enable_partitions(probe, 1);
		while (blkid_do_probe(probe) == 0)
			if (blkid_probe_lookup_value(probe, "TYPE", &word, NULL) == 0 ||
			    blkid_probe_lookup_value(probe, "PTTYPE", &word, NULL) == 0)
				add_word(words, word);
	}
	blkid_free_probe(probe);
}

static void
probe_partitions(const char *root, const char *name, struct words *words)
{
	bu_autofree char *dir = bu_xasprintf("%s/sys/block/%s", root, name);
	struct dirent *entry;
	DIR *list = opendir(dir);

	while (list && (entry = readdir(list))) {
		bu_autofree char *path = bu_xasprintf("%s/dev/%s", root, entry->d_name);
		bu_autofree char *is_one =
			bu_xasprintf("%s/%s/partition", dir, entry->d_name);

		for (char *p = path + strlen(root) + 5; *p; p++)
			if (*p == '!') /* sysfs' way to write '/' */
				*p = '/';
		if (bu_file_exists(is_one))
			probe(path, words);
	}
	if (list)
		closedir(list);
}

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

void
bu_leftovers_read(const char *root, const char *name, char *ret, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/dev/%s", root, name);
	struct words words = {.count = 0};
	size_t used = 0;

	for (char *p = path + strlen(root) + 5; *p; p++)
		if (*p == '!')
			*p = '/';
	probe(path, &words);
	probe_partitions(root, name, &words);
	qsort(words.list, words.count, sizeof(words.list[0]), compare);
	*ret = '\0';
	for (size_t i = 0; i < words.count; i++) {
		size_t need = strlen(words.list[i]) + (i ? 2 : 0);

		if (used + need >= size)
			return;
		used += (size_t)snprintf(ret + used, size - used, "%s%s", i ? ", " : "",
					 words.list[i]);
	}
}
