/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the list of packages of a tree: dpkg's, which is text, here; rpm's, which is a
 * data base, by Debian's program rpm in a child on a copy of it (packages_rpm.c).
 * describe.c calls it. Invariant: what leaves this file is printable ASCII and sorted,
 * so that the same tree makes the same bytes.
 */
#include "images/build/packages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "images/build/inside.h"
#include "images/build/packages_impl.h"

enum { STATUS_MAX = 64 * 1024 * 1024 };

/* --- dpkg --- */

/* "gcc-12 (12.2.0-14)", or one of the two alone. */
static void
split_source(struct bu_package *package)
{
	char *blank = package->source ? strchr(package->source, ' ') : NULL;
	char *end = blank ? strchr(blank, ')') : NULL;

	if (!package->source && package->name)
		package->source = bu_xstrdup(package->name);
	if (blank)
		*blank = '\0';
	if (end && blank[1] == '(')
		package->source_version =
			bu_xstrndup(blank + 2, (size_t)(end - blank - 2));
	else if (package->version)
		package->source_version = bu_xstrdup(package->version);
}

/* 1 when the line is this field, whose value replaces *ret. */
static int
take(const char *line, const char *field, char **ret)
{
	size_t size = strlen(field);

	if (strncmp(line, field, size) != 0 || line[size] != ':')
		return 0;
	line += size + 1;
	free(*ret);
	*ret = bu_xstrdup(line + strspn(line, " \t"));
	bu_text_trim(*ret);
	return 1;
}

/* What was removed leaves its settings and a stanza; what was unpacked alone, or broke
 * off on its way, has its files in the tree. */
static int
has_files(const char *status)
{
	const char *word = status ? strrchr(status, ' ') : NULL;

	return word && strcmp(word + 1, "not-installed") != 0 &&
	       strcmp(word + 1, "config-files") != 0;
}

static int
add_stanza(struct bu_packages *packages, char *stanza, struct bu_err *err)
{
	struct bu_package package = {0};
	bu_autofree char *status = NULL;
	char *rest = stanza, *line;
	int rc = 0;

	while ((line = strsep(&rest, "\n")))
		if (!take(line, "Package", &package.name) &&
		    !take(line, "Version", &package.version) &&
		    !take(line, "Architecture", &package.arch) &&
		    !take(line, "Source", &package.source))
			take(line, "Status", &status);
	if (has_files(status)) {
		split_source(&package);
		rc = bu_packages_add(packages, &package, err);
	}
	bu_package_fini(&package);
	return rc;
}

static int
read_dpkg(int root_fd, struct bu_packages *packages, struct bu_err *err)
{
	size_t size;
	bu_autofree char *text =
		bu_inside_read(root_fd, "var/lib/dpkg/status", STATUS_MAX, &size, err);
	char *at = text;

	if (!text)
		return -1;
	if (strlen(text) != size)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "/var/lib/dpkg/status has bytes that are no text");
	while (at && *at) {
		char *end = strstr(at, "\n\n");

		if (end)
			*end = '\0';
		if (add_stanza(packages, at, err))
			return bu_err_wrap(err, "/var/lib/dpkg/status");
		at = end ? end + 2 : NULL;
	}
	packages->kind = BU_PACKAGES_DEB;
	return 0;
}

/* --- the release --- */

/* Values may be quoted; what is no plain word is left out. */
static void
take_release(const char *text, const char *key, char *ret, size_t size)
{
	bu_autofree char *copy = bu_xstrdup(text);
	char *rest = copy, *line;
	size_t length = strlen(key);

	while ((line = strsep(&rest, "\n"))) {
		char *value = line + length + 1;

		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		bu_text_trim(value);
		if (*value == '"' || *value == '\'')
			value++;
		value[strcspn(value, "\"'")] = '\0';
		if (bu_text_is(value, "abcdefghijklmnopqrstuvwxyz0123456789._-"))
			bu_text_copy(ret, size, value);
	}
}

static void
read_release(int root_fd, struct bu_packages *packages)
{
	bu_autofree char *text =
		bu_inside_read(root_fd, "etc/os-release", 65536, NULL, NULL);

	if (!text)
		return;
	take_release(text, "ID", packages->os, sizeof(packages->os));
	take_release(text, "VERSION_ID", packages->release, sizeof(packages->release));
	take_release(text, "VERSION_CODENAME", packages->codename,
		     sizeof(packages->codename));
}

int
bu_packages_read(const char *root, const char *work, struct bu_packages *ret,
		 struct bu_err *err)
{
	bu_autoclose int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bu_packages packages = {.kind = BU_PACKAGES_NONE};
	struct stat st;
	int rc = 0;

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	if (!bu_inside_stat(root_fd, "var/lib/dpkg/status", &st))
		rc = read_dpkg(root_fd, &packages, err);
	/* A system of rpm may have dpkg's program, and with it an empty list. */
	if (!rc && !packages.count)
		rc = bu_packages_rpm(root_fd, work, &packages, err);
	if (rc) {
		bu_packages_fini(&packages);
		return -1;
	}
	if (!packages.count)
		packages.kind = BU_PACKAGES_NONE;
	bu_packages_sort(&packages);
	read_release(root_fd, &packages);
	*ret = packages;
	return 0;
}
