/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of an imported tree, a table of them; import.c calls it before a file
 * system is made. Invariant: the tree is looked at as from inside (RESOLVE_IN_ROOT):
 * its links lead nowhere else.
 */
#include "images/build/check_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/text.h"
#include "images/build/inside.h"

/* --- what must be there --- */

static const struct {
	const char *path, *why;
} programs[] = {
	{"sbin/init", "no init (sbin/init): install systemd-sysv"},
	{"bin/sh", "no shell (bin/sh)"},
	{"usr/bin/systemctl", "no systemd (usr/bin/systemctl), which runs the agent"},
	{"usr/sbin/sshd", "no sshd (usr/sbin/sshd): install openssh-server"},
};

static void
check_programs(int root_fd, char **wrong)
{
	for (size_t i = 0; i < BU_LEN(programs); i++)
		if (!bu_inside_program(root_fd, programs[i].path))
			bu_text_add(wrong, "; ", "%s", programs[i].why);
}

/* What the profile says itself; the first word counts, and behind a Match few. */
static int
is_rule(const char *line)
{
	static const char *const words[] = {"PermitRootLogin",
					    "PasswordAuthentication",
					    "KbdInteractiveAuthentication",
					    "AuthorizedKeysFile",
					    "ChallengeResponseAuthentication",
					    "Match"};

	for (size_t i = 0; i < BU_LEN(words); i++)
		if (strncasecmp(line, words[i], strlen(words[i])) == 0)
			return 1;
	return 0;
}

/* 1 when sshd reads the folder with the profile's rules before any other rule. */
static int
includes_rules(char *config)
{
	char *rest = config, *line;

	while ((line = strsep(&rest, "\n"))) {
		line += strspn(line, " \t");
		if (is_rule(line))
			return 0;
		if (strncasecmp(line, "Include", strlen("Include")) == 0 &&
		    strstr(line, "sshd_config.d/*.conf"))
			return 1;
	}
	return 0;
}

/* With rules of its own it would let in whom the profile does not know. */
static void
check_sshd(int root_fd, char **wrong)
{
	static const char path[] = "etc/ssh/sshd_config";
	enum { CONFIG_MAX = 1024 * 1024 };
	bu_autofree char *config = NULL;

	if (!bu_inside_program(root_fd, "usr/sbin/sshd"))
		return;
	config = bu_inside_read(root_fd, path, CONFIG_MAX, NULL, NULL);
	if (!config || !includes_rules(config))
		bu_text_add(wrong, "; ",
			    "/%s has no Include /etc/ssh/sshd_config.d/*.conf before "
			    "its rules, so sshd would not have the profile's: put that "
			    "line first",
			    path);
}

/* --- what must not --- */

/* Folder, end of a name ("" = any), and what that would be. */
static const struct {
	const char *folder, *begin, *end, *what;
	mode_t bits; /* that it must not have; 0 = it must not be there at all */
} secrets[] = {
	{"etc", "shadow", "", "password hashes", 0007},
	{"etc", "gshadow", "", "password hashes", 0007},
	{"root/.ssh", "id_", "", "a private key", 07777},
	{"etc/ssl/private", "", ".key", "a private key", 0007},
	{"etc/sudoers.d", "", "", "sudo rules", 0002},
	{"root", ".netrc", "", "passwords", 07777},
	{"root/.docker", "config.json", "", "passwords of registries", 07777},
};

/* Looked through for private keys. */
static const char *const key_folders[] = {"etc", "home", "opt", "root", "srv"};
enum { FOLDERS_DEEP = 8 };

static int
matches(const char *name, const char *begin, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	if (name[0] == '.' && (!name[1] || !strcmp(name, "..")))
		return 0;
	return !strncmp(name, begin, strlen(begin)) && length >= tail &&
	       !strcmp(name + length - tail, end);
}

static void
check_secret(int root_fd, size_t row, char **wrong)
{
	DIR *dir = bu_inside_folder(root_fd, secrets[row].folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct stat st;

		if (!matches(entry->d_name, secrets[row].begin, secrets[row].end) ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || !(st.st_mode & secrets[row].bits))
			continue;
		if (!strncmp(entry->d_name, "id_", 3) &&
		    matches(entry->d_name, "", ".pub"))
			continue;
		bu_text_add(wrong, "; ", "/%s/%.60s: %s%s", secrets[row].folder,
			    entry->d_name, secrets[row].what,
			    secrets[row].bits == 07777 ? " must not be in an image"
						       : ", open to everybody");
	}
	if (dir)
		closedir(dir);
}

/* 1 when everybody can read it and it has a private key in PEM. */
static int
is_open_key(int dir_fd, const char *name, const struct stat *st)
{
	enum { KEY_MAX = 65536 };
	bu_autofree char *text = NULL;
	bu_autoclose int fd = -1;
	ssize_t size;

	if (!S_ISREG(st->st_mode) || !(st->st_mode & 0004) || st->st_size > KEY_MAX)
		return 0;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	text = bu_xcalloc(1, KEY_MAX + 1);
	size = fd < 0 ? -1 : read(fd, text, KEY_MAX);
	return size > 0 && strstr(text, "-----BEGIN ") &&
	       strstr(text, "PRIVATE KEY-----");
}

/* Wherever somebody put them; a folder that is closed to others hides what is in it. */
static void
check_keys(int root_fd, const char *folder, int depth, char **wrong)
{
	DIR *dir = bu_inside_folder(root_fd, folder);
	const struct dirent *entry;
	struct stat own;
	int is_open = dir && !fstat(dirfd(dir), &own) && (own.st_mode & 0001);

	while (is_open && (entry = readdir(dir))) {
		bu_autofree char *path = bu_xasprintf("%s/%s", folder, entry->d_name);
		struct stat st;

		if (!matches(entry->d_name, "", "") ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode) && depth > 0)
			check_keys(root_fd, path, depth - 1, wrong);
		else if (is_open_key(dirfd(dir), entry->d_name, &st))
			bu_text_add(wrong, "; ",
				    "/%.120s: a private key, open to everybody", path);
	}
	if (dir)
		closedir(dir);
}

int
bu_check_root(const char *root, struct bu_root_kernel *ret, struct bu_err *err)
{
	bu_autoclose int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bu_autofree char *wrong = NULL;
	struct bu_root_kernel kernel;

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	check_programs(root_fd, &wrong);
	check_sshd(root_fd, &wrong);
	bu_root_kernel(root_fd, &kernel, &wrong);
	for (size_t i = 0; i < BU_LEN(secrets); i++)
		check_secret(root_fd, i, &wrong);
	for (size_t i = 0; i < BU_LEN(key_folders); i++)
		check_keys(root_fd, key_folders[i], FOLDERS_DEEP, &wrong);
	if (!wrong) {
		*ret = kernel;
		return 0;
	}
	return bu_err_set(err, BU_ERR_VERIFY, 0, "this root cannot run on a node: %s",
			  wrong);
}
