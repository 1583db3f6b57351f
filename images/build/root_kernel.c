/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the kernel of a root that came from elsewhere; check_root.c calls it. Debian
 * has kernels in /boot, RPMs and image-based systems have them beside their modules.
 * Invariant: the file that is chosen is a regular one inside the root, and its own word
 * of its version, where it has one, is the name of the modules.
 */
#include "images/build/root_kernel.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "images/build/inside.h"

#define DIGITS "0123456789"

/* Two numbers of any length at *a and *b, which are left behind. */
static int
compare_numbers(const char **a, const char **b)
{
	const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
	size_t m = strspn(x, DIGITS), n = strspn(y, DIGITS);

	*a = x + m;
	*b = y + n;
	return m != n ? (m > n) - (m < n) : strncmp(x, y, m);
}

/* '~' is before the end, '-' ends what '.' goes on with, a number is newer than a word.
 */
static int
rank(char c)
{
	if (!c || c == '~')
		return c ? 0 : 1;
	if (!isalnum((unsigned char)c))
		return c == '-' ? 2 : 3;
	return isdigit((unsigned char)c) ? 5 : 4;
}

static int
compare_versions(const char *a, const char *b)
{
	while (*a || *b) {
		int order = rank(*a) - rank(*b);

		if (!order && isdigit((unsigned char)*a)) {
			order = compare_numbers(&a, &b);
		} else if (!order) {
			order = (unsigned char)*a - (unsigned char)*b;
			a++;
			b++;
		}
		if (order)
			return order;
	}
	return 0;
}

/* A candidate of a release is older than the release. */
static char *
comparable(const char *version)
{
	char *text = bu_xstrdup(version);
	char *rc = strstr(text, "-rc");

	if (rc)
		*rc = '~';
	return text;
}

int
bu_kernel_compare(const char *a, const char *b)
{
	bu_autofree char *x = comparable(a), *y = comparable(b);
	int order = compare_versions(x, y);

	return order ? order : strcmp(a, b);
}

/* "6.1.0-28-amd64" of a kernel for x86 (its boot protocol names where); "" = another
 * kind of file. */
static void
read_version(int root_fd, const char *path, char *ret, size_t size)
{
	enum { MAGIC = 0x202, POINTER = 0x20e, BASE = 0x200 };
	bu_autoclose int fd = bu_inside_open(root_fd, path, O_RDONLY);
	unsigned char head[POINTER + 2];
	char text[128] = "";
	off_t at;

	ret[0] = '\0';
	if (fd < 0 || pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head + MAGIC, "HdrS", 4) != 0)
		return;
	at = BASE + head[POINTER] + 256 * head[POINTER + 1];
	if (pread(fd, text, sizeof(text) - 1, at) > 0) {
		text[strcspn(text, " ")] = '\0';
		bu_text_copy(ret, size, text);
	}
}

static int
is_folder(int root_fd, const char *name)
{
	bu_autofree char *path = bu_xasprintf("lib/modules/%s", name);
	struct stat st;

	return !bu_inside_stat(root_fd, path, &st) && S_ISDIR(st.st_mode);
}

/* --- the versions that are there --- */

enum { VERSIONS_MAX = 64 };

struct versions {
	char *names[VERSIONS_MAX]; /* owned */
	size_t count;
};

static int
newest_first(const void *a, const void *b)
{
	return bu_kernel_compare(*(char *const *)b, *(char *const *)a);
}

/* Folders alone: a README is no kernel. */
static void
read_versions(int root_fd, struct versions *ret)
{
	DIR *dir = bu_inside_folder(root_fd, "lib/modules");
	const struct dirent *entry;

	while (dir && ret->count < VERSIONS_MAX && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && is_folder(root_fd, entry->d_name))
			ret->names[ret->count++] = bu_xstrdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(ret->names, ret->count, sizeof(ret->names[0]), newest_first);
}

static void
take_versions(const struct versions *versions, struct bu_root_kernel *ret, char **wrong)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
				      "WXYZ0123456789.-+_~";
	const char *newest = versions->count ? versions->names[0] : "";
	bu_autofree char *others = NULL;

	if (!versions->count)
		bu_text_add(wrong, "; ", "no kernel in /lib/modules: install one");
	else if (!bu_text_is(newest, allowed) || newest[0] == '-' ||
		 strlen(newest) >= sizeof(ret->version))
		bu_text_add(wrong, "; ",
			    "'%.80s' in /lib/modules is not a kernel version", newest);
	else
		BU_TEXT_COPY(ret->version, newest);
	for (size_t i = 1; i < versions->count; i++)
		bu_text_add(&others, ", ", "%.64s", versions->names[i]);
	BU_TEXT_COPY(ret->others, others ? others : "");
}

/* --- the file --- */

static int
is_file(int root_fd, const char *path, int flags)
{
	bu_autoclose int fd = bu_inside_open(root_fd, path, O_PATH | flags);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* A file before a link to one, because the build follows relative links alone. */
static void
find_file(int root_fd, struct bu_root_kernel *ret, char **wrong)
{
	bu_autofree char *boot = bu_xasprintf("boot/vmlinuz-%s", ret->version);
	bu_autofree char *beside = bu_xasprintf("lib/modules/%s/vmlinuz", ret->version);
	const char *path = is_file(root_fd, boot, O_NOFOLLOW)     ? boot
			   : is_file(root_fd, beside, O_NOFOLLOW) ? beside
			   : is_file(root_fd, boot, 0)            ? boot
								  : NULL;
	char version[80];

	if (!path) {
		bu_text_add(wrong, "; ",
			    "modules of %.64s without their kernel (/%.80s or /%.90s): "
			    "install it, or remove the modules",
			    ret->version, boot, beside);
		return;
	}
	BU_TEXT_COPY(ret->path, path);
	read_version(root_fd, path, version, sizeof(version));
	if (version[0] && strcmp(version, ret->version) != 0)
		bu_text_add(wrong, "; ",
			    "/%.90s is kernel %.60s, which takes no other's modules",
			    path, version);
}

void
bu_root_kernel(int root_fd, struct bu_root_kernel *ret, char **wrong)
{
	struct versions versions = {0};
	bu_autofree char *dep = NULL;
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	read_versions(root_fd, &versions);
	take_versions(&versions, ret, wrong);
	for (size_t i = 0; i < versions.count; i++)
		free(versions.names[i]);
	if (!ret->version[0])
		return;
	find_file(root_fd, ret, wrong);
	dep = bu_xasprintf("lib/modules/%s/modules.dep", ret->version);
	if (bu_inside_stat(root_fd, dep, &st) || !st.st_size)
		bu_text_add(wrong, "; ", "no /%.90s: run depmod", dep);
}
