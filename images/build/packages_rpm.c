/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpm's data base, asked by the program rpm; packages.c calls it. Invariant: rpm works
 * on a copy in a folder of its own: it writes beside what it reads, and the tree is not
 * to change; nothing of the tree is run.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "images/build/inside.h"
#include "images/build/packages_impl.h"

enum { DB_MAX = 1024 * 1024 * 1024, FIELDS = 6, DEADLINE_MS = 120 * 1000 };

/* Newest first: after an upgrade the older one may be left over. */
static const struct {
	const char *file, *backend;
} databases[] = {
	{"rpmdb.sqlite", "sqlite"},
	{"Packages.db", "ndb"},
	{"Packages", "bdb_ro"},
};
static const char *const folders[] = {"usr/lib/sysimage/rpm", "var/lib/rpm"};

static int
copy_file(int from, int to, uint64_t size, struct bu_err *err)
{
	char buf[65536];

	for (uint64_t at = 0; at < size;) {
		size_t part =
			size - at < sizeof(buf) ? (size_t)(size - at) : sizeof(buf);

		if (bu_read_at(from, buf, part, at, err) ||
		    bu_write_all(to, buf, part, err))
			return -1;
		at += part;
	}
	return 0;
}

/* 1 when it was there and is copied. */
static int
copy_one(int root_fd, const char *path, const char *to, struct bu_err *err)
{
	bu_autoclose int in = -1, out = -1;
	struct stat st;

	if (bu_inside_stat(root_fd, path, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (st.st_size > DB_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "/%s: larger than %d MiB",
				  path, DB_MAX >> 20);
	in = bu_inside_open(root_fd, path, O_RDONLY);
	out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "copying /%s to %s", path, to);
	return copy_file(in, out, (uint64_t)st.st_size, err) ? -1 : 1;
}

/* 1 and the backend, or 0 when the tree has none. */
static int
copy_database(int root_fd, const char *dir, const char **ret_backend,
	      struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(folders) * BU_LEN(databases); i++) {
		const char *folder = folders[i / BU_LEN(databases)];
		const char *file = databases[i % BU_LEN(databases)].file;
		bu_autofree char *path = bu_xasprintf("%s/%s", folder, file);
		bu_autofree char *to = bu_xasprintf("%s/%s", dir, file);
		bu_autofree char *wal = bu_xasprintf("%s-wal", path);
		bu_autofree char *to_wal = bu_xasprintf("%s-wal", to);
		int rc = copy_one(root_fd, path, to, err);

		/* What sqlite had not yet moved into its file counts, too. */
		if (rc == 1 && copy_one(root_fd, wal, to_wal, err) < 0)
			rc = -1;
		*ret_backend = databases[i % BU_LEN(databases)].backend;
		if (rc)
			return rc;
	}
	return 0;
}

/* "name-1.2-3.el9.src.rpm" is name, 1.2-3.el9; those of old have none. */
static void
set_source(struct bu_package *package, char *rpm)
{
	static const char *const tails[] = {".src.rpm", ".nosrc.rpm"};
	char *dash;

	package->source = package->name;
	package->source_version = package->version;
	for (size_t i = 0; i < BU_LEN(tails); i++) {
		size_t size = strlen(rpm), tail = strlen(tails[i]);

		if (size > tail && !strcmp(rpm + size - tail, tails[i]))
			rpm[size - tail] = '\0';
	}
	dash = strrchr(rpm, '-');
	if (!dash || dash == rpm)
		return;
	do
		dash--;
	while (dash > rpm && *dash != '-');
	if (dash == rpm)
		return;
	*dash = '\0';
	package->source = rpm;
	package->source_version = dash + 1;
}

static int
add_line(struct bu_packages *packages, char *line, struct bu_err *err)
{
	char *fields[FIELDS], *rest = line;
	struct bu_package package = {0};
	bu_autofree char *version = NULL;
	int count = 0;

	while (count < FIELDS && (fields[count] = strsep(&rest, "\t")))
		count++;
	if (count != FIELDS || rest)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "rpm's list of packages has '%.80s'", line);
	if (!strcmp(fields[0], "gpg-pubkey")) /* a key, which rpm keeps so */
		return 0;
	version = strcmp(fields[1], "0") != 0
			  ? bu_xasprintf("%s:%s-%s", fields[1], fields[2], fields[3])
			  : bu_xasprintf("%s-%s", fields[2], fields[3]);
	package.name = fields[0];
	package.version = version;
	package.arch = fields[4];
	set_source(&package, fields[5]);
	return bu_packages_add(packages, &package, err);
}

int
bu_packages_rpm_list(char *text, struct bu_packages *packages, struct bu_err *err)
{
	while (text && *text)
		if (add_line(packages, strsep(&text, "\n"), err))
			return -1;
	packages->kind = BU_PACKAGES_RPM;
	return 0;
}

static int
ask_rpm(const char *dir, const char *backend, struct bu_packages *packages,
	struct bu_err *err)
{
	bu_autofree char *define = bu_xasprintf("_db_backend %s", backend);
	const char *const argv[] = {
		"rpm",
		"--define",
		define,
		"--dbpath",
		dir,
		"-qa",
		"--nodigest",
		"--nosignature",
		"--queryformat",
		"%{NAME}\\t%{EPOCHNUM}\\t%{VERSION}\\t%{RELEASE}\\t%{ARCH}\\t"
		"%{SOURCERPM}\\n",
		NULL};
	const char *const env[] = {"LC_ALL=C", NULL};
	const struct bu_job_opts opts = {.argv = argv,
					 .env = env,
					 .deadline_ms = DEADLINE_MS,
					 .output_max = 64 * 1024 * 1024};
	bu_autofree char *out = NULL;

	if (bu_job_run(&opts, &out, err))
		return bu_err_wrap(err, "the list of packages; the program rpm reads "
					"it: install Debian's package rpm");
	return bu_packages_rpm_list(out, packages, err);
}

int
bu_packages_rpm(int root_fd, const char *work, struct bu_packages *packages,
		struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("%s/rpmdb", work);
	const char *backend = NULL;
	int rc;

	if (bu_remove_tree(dir, err) || bu_mkdir_p(dir, 0700, err))
		return -1;
	rc = copy_database(root_fd, dir, &backend, err);
	if (rc > 0)
		rc = ask_rpm(dir, backend, packages, err);
	return bu_remove_tree(dir, rc < 0 ? NULL : err) || rc < 0 ? -1 : 0;
}
