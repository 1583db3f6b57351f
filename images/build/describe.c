/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at a tree before its image is signed; recipe.c calls it for recipes and
 * imports alike. Invariant: a version that goes into the manifest was read from the
 * tree (of the file's name, the kernel's module or the list of packages), not from what
 * somebody declared; one that nobody can tell is "".
 */
#include "images/build/describe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/text.h"
#include "images/build/inside.h"
#include "images/build/made_of.h"
#include "images/build/packages.h"
#include "images/build/sbom.h"
#include "images/build/unpack.h"
#include "images/programs.h"
#include "images/store.h"

enum {
	MODULE_MAX = 256 * 1024 * 1024,
	DEP_MAX = 16 * 1024 * 1024,
	UNPACK_MEMORY = 512 * 1024 * 1024, /* zstd's largest window takes 128 MiB */
	UNPACK_S = 60,
};

struct tree {
	int root_fd;
	const struct bu_packages *packages;
	struct bu_manifest *manifest;
	const char *work;
};

static void
hold(struct bu_manifest *manifest, const char *name, const char *version)
{
	struct bu_holding *at;

	if (manifest->holding_count == BU_IMAGE_HOLDINGS_MAX)
		return;
	at = &manifest->holdings[manifest->holding_count++];
	bu_text_copy(at->name, sizeof(at->name), name);
	bu_text_copy(at->version, sizeof(at->version),
		     bu_text_is_ascii(version) ? version : "");
}

/* "535.183.01" of "1:535.183.01-1": what both makers of packages add is left out. */
static void
upstream(const char *version, char *ret, size_t size)
{
	const char *colon = strchr(version, ':');

	version = colon ? colon + 1 : version;
	bu_text_copy_part(ret, size, version, strcspn(version, "-~+"));
}

/* --- clients of clusters --- */

static const struct {
	const char *name;
	const char *paths[4];
	const char *packages[2];
} clients[] = {
	{"kubelet", {"usr/bin/kubelet", "usr/local/bin/kubelet"}, {"kubelet"}},
	{"slurmd",
	 {"usr/sbin/slurmd", "usr/local/sbin/slurmd", "usr/bin/slurmd",
	  "opt/slurm/sbin/slurmd"},
	 {"slurmd", "slurm-slurmd"}},
};

static void
find_client(struct tree *tree, size_t row)
{
	const struct bu_package *package = NULL;
	int found = 0;

	for (size_t i = 0; i < 4 && clients[row].paths[i]; i++)
		found |= bu_inside_program(tree->root_fd, clients[row].paths[i]);
	for (size_t i = 0; i < 2 && clients[row].packages[i] && !package; i++)
		package = bu_packages_find(tree->packages, clients[row].packages[i]);
	if (found)
		hold(tree->manifest, clients[row].name,
		     package ? package->version : "");
}

/* --- programs that a profile may need --- */

static void
find_program(struct tree *tree, const struct bu_image_program_row *program)
{
	const struct bu_package *package =
		bu_packages_find(tree->packages, program->deb);

	if (!package)
		package = bu_packages_find(tree->packages, program->rpm);
	if (bu_inside_program(tree->root_fd, program->path))
		hold(tree->manifest, program->name, package ? package->version : "");
}

/* --- the NVIDIA driver --- */

/* "535.183.01" or "535.54": digits between one or two dots. */
static int
is_version(const char *text)
{
	int dots = 0;

	for (;; text++) {
		size_t digits = strspn(text, "0123456789");

		text += digits;
		if (!digits || (*text && *text != '.'))
			return 0;
		if (!*text)
			return dots == 1 || dots == 2;
		dots++;
	}
}

/* One of the folder's files; *ret is the version of those before. */
static int
take_library(DIR *dir, const char *name, char *ret, size_t size, struct bu_err *err)
{
	static const char head[] = "libnvidia-ml.so.";
	const char *version = name + sizeof(head) - 1;
	struct stat st;
	int order;

	if (strncmp(name, head, sizeof(head) - 1) != 0 || !is_version(version) ||
	    fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	order = strcmp(version, ret);
	if (*ret && order)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "libnvidia-ml is there of driver %s and of %s: keep "
				  "one of them",
				  order < 0 ? version : ret, order < 0 ? ret : version);
	bu_text_copy(ret, size, version);
	return 0;
}

/* The library's file has the version in its name; the links to it do not. */
static int
library_version(int root_fd, char *ret, size_t size, struct bu_err *err)
{
	static const char *const folders[] = {
		"usr/lib/x86_64-linux-gnu",
		"usr/lib/x86_64-linux-gnu/nvidia/current", /* Debian */
		"usr/lib64",
		"usr/lib",
	};
	int rc = 0;

	for (size_t i = 0; i < BU_LEN(folders); i++) {
		DIR *dir = bu_inside_folder(root_fd, folders[i]);
		const struct dirent *entry;

		while (!rc && dir && (entry = readdir(dir)))
			rc = take_library(dir, entry->d_name, ret, size, err);
		if (dir)
			closedir(dir);
	}
	return rc;
}

/* "nvidia.ko", or packed. */
static int
is_driver(const char *name)
{
	static const char *const names[] = {"nvidia.ko", "nvidia.ko.xz",
					    "nvidia.ko.zst", "nvidia.ko.gz"};

	for (size_t i = 0; i < BU_LEN(names); i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

/* The line of modules.dep that begins with the module's path; owned, NULL = none. */
static char *
module_path(int root_fd, const char *kernel)
{
	bu_autofree char *dep = bu_xasprintf("lib/modules/%s/modules.dep", kernel);
	bu_autofree char *text = bu_inside_read(root_fd, dep, DEP_MAX, NULL, NULL);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char *colon = strchr(line, ':');

		if (!colon)
			continue;
		*colon = '\0';
		if (is_driver(bu_path_name(line)))
			return bu_xasprintf("lib/modules/%s/%s", kernel, line);
	}
	return NULL;
}

/* Its header says how much memory a stream wants, up to 4 GiB, and the tree may be
 * anybody's. */
static int
be_unpacker(const char *packed, const char *plain)
{
	struct bu_unpack_limit limit = {.stream_bytes = MODULE_MAX};
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "re");
	char digest[BU_DIGEST_SIZE];
	struct rlimit room, cpu = {UNPACK_S, UNPACK_S}, none = {0, 0};

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		return -1;
	fclose(statm);
	room.rlim_cur = room.rlim_max =
		(rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + UNPACK_MEMORY;
	if (setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_CPU, &cpu) ||
	    setrlimit(RLIMIT_AS, &room))
		return -1;
	return bu_unpack_stream(packed, plain, &limit, digest, NULL);
}

/* In a process of its own, which has bounds. */
static int
unpack_apart(const char *packed, const char *plain)
{
	pid_t pid = fork();
	int status = 0;

	if (pid < 0)
		return -1;
	if (!pid)
		_exit(be_unpacker(packed, plain) ? 1 : 0);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* The module's bytes, unpacked and owned; NULL = it cannot be read. */
static char *
read_module(const struct tree *tree, const char *path, size_t *ret_size)
{
	bu_autofree char *packed = bu_xasprintf("%s/driver.packed", tree->work);
	bu_autofree char *plain = bu_xasprintf("%s/driver.ko", tree->work);
	bu_autofree char *bytes =
		bu_inside_read(tree->root_fd, path, MODULE_MAX, ret_size, NULL);

	if (!bytes || !strcmp(strrchr(path, '.'), ".ko"))
		return bu_steal(&bytes);
	if (bu_file_write(packed, bytes, *ret_size, 0600, NULL) ||
	    unpack_apart(packed, plain))
		return NULL;
	return bu_file_read(plain, MODULE_MAX, ret_size, NULL);
}

/* As modinfo tells it: "version=..." among the module's texts. */
static void
module_version(const struct tree *tree, char *ret, size_t size)
{
	static const char key[] = "\0version="; /* not "srcversion=" */
	bu_autofree char *path = module_path(tree->root_fd, tree->manifest->kernel);
	size_t length = 0;
	bu_autofree char *bytes = path ? read_module(tree, path, &length) : NULL;
	const char *at = bytes ? memmem(bytes, length, key, sizeof(key) - 1) : NULL;

	if (at && bu_text_is_ascii(at + sizeof(key) - 1))
		bu_text_copy(ret, size, at + sizeof(key) - 1);
}

static void
manager_version(const struct bu_packages *packages, char *ret, size_t size)
{
	static const char *const heads[] = {"nvidia-fabricmanager",
					    "nvidia-fabric-manager"};

	for (size_t i = 0; i < packages->count; i++) {
		const struct bu_package *package = &packages->list[i];

		for (size_t k = 0; k < BU_LEN(heads); k++)
			if (!strncmp(package->name, heads[k], strlen(heads[k])) &&
			    !strstr(package->name, "dev"))
				upstream(package->version, ret, size);
	}
}

/* Three parts, which refuse each other's company at run time: module, libraries, fabric
 * manager. */
static int
check_driver(struct tree *tree, struct bu_err *err)
{
	char library[40] = "", module[40] = "", manager[40] = "";
	int has_manager = bu_inside_program(tree->root_fd, "usr/bin/nv-fabricmanager");
	const char *driver;

	if (library_version(tree->root_fd, library, sizeof(library), err))
		return -1;
	module_version(tree, module, sizeof(module));
	manager_version(tree->packages, manager, sizeof(manager));
	driver = module[0] ? module : library;
	if (module[0] && library[0] && strcmp(module, library) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the kernel module nvidia is of driver %s, "
				  "libnvidia-ml of %s: install one version of both",
				  module, library);
	if (manager[0] && driver[0] && strcmp(manager, driver) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "nvidia-fabricmanager is of driver %s, the driver is "
				  "%s: the fabric manager starts with its own version "
				  "alone; install one version of both",
				  manager, driver);
	if (has_manager && !driver[0])
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "nv-fabricmanager is there, and no driver: neither a "
				  "kernel module nvidia nor libnvidia-ml");
	if (driver[0])
		hold(tree->manifest, "driver", driver);
	if (has_manager || manager[0])
		hold(tree->manifest, "fabric_manager", manager);
	return 0;
}

/* --- all of it --- */

static int
write_sbom(const struct bu_describe *what, const struct bu_packages *packages,
	   struct bu_manifest *manifest, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" BU_SBOM_FILE, what->out);
	bu_autojson json_t *sbom =
		bu_sbom_make(packages, manifest->name, manifest->created);
	bu_autofree char *text = bu_json_canonical(sbom);

	bu_sha256_hex(text, strlen(text), manifest->sbom);
	return bu_file_write(path, text, strlen(text), 0644, err);
}

int
bu_describe_tree(const struct bu_describe *what, struct bu_manifest *manifest,
		 struct bu_err *err)
{
	bu_autoclose int root_fd = open(what->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bu_packages packages;
	struct tree tree = {root_fd, &packages, manifest, what->work};
	int rc;

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", what->root);
	if (bu_packages_read(what->root, what->work, &packages, err))
		return -1;
	manifest->described = 1;
	rc = check_driver(&tree, err);
	for (size_t i = 0; i < BU_LEN(clients); i++)
		find_client(&tree, i);
	for (size_t i = 0; i < BU_PROGRAMS; i++)
		find_program(&tree, &bu_image_programs[i]);
	if (*what->mirror)
		hold(manifest, "mirror", what->mirror);
	if (*what->roots)
		hold(manifest, "roots", what->roots);
	if (!rc && packages.kind != BU_PACKAGES_NONE)
		rc = write_sbom(what, &packages, manifest, err);
	if (!rc && what->suite && packages.count)
		rc = bu_made_of_packages(what->suite, &packages, &manifest->origin,
					 err);
	if (!manifest->origin.version[0])
		bu_origin_version(&manifest->origin, packages.release);
	bu_packages_fini(&packages);
	return rc;
}
