/* SPDX-License-Identifier: Apache-2.0 */
/* What is found in trees of dpkg and rpm, what the SBOM says of it, and drivers whose
 * parts do not fit together. */
#include "images/build/describe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "images/build/packages.h"
#include "images/build/sbom.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static char dir[40];

#define RELEASE                                                                        \
	"PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n"                       \
	"VERSION_CODENAME=bookworm\n"
#define STATUS                                                                         \
	"Package: slurmd\nStatus: install ok installed\nArchitecture: amd64\n"         \
	"Source: slurm-wlm\nVersion: 22.05.8-4+deb12u2\n\n"                            \
	"Package: libc6\nStatus: install ok installed\nArchitecture: amd64\n"          \
	"Multi-Arch: same\nSource: glibc (2.36-9)\nVersion: 1:2.36-9+b1\n"             \
	"Description: GNU C\n Version: 666\n\n"                                        \
	"Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\n"        \
	"Version: 1\n\n"                                                               \
	"Package: bash\nStatus: install ok installed\nArchitecture: amd64\n"           \
	"Version: 5.2.15-2\n"

static void
put(const char *name, const char *text, size_t size, mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/root/%s", dir, name);
	bu_autofree char *folder = bu_xstrdup(path);

	*strrchr(folder, '/') = '\0';
	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, text, size, mode, NULL), 0);
}

static void
put_text(const char *name, const char *text)
{
	put(name, text, strlen(text), 0644);
}

static void
begin(void)
{
	bu_autofree char *root = NULL, *out = NULL;

	strcpy(dir, "/tmp/bringup-sbom-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	root = bu_xasprintf("%s/root", dir);
	out = bu_xasprintf("%s/out", dir);
	ck_assert_int_eq(bu_mkdir_p(root, 0755, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(out, 0755, NULL), 0);
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static const char *mirror = "", *roots = "";

static int
describe(struct bu_manifest *ret, struct bu_err *err)
{
	bu_autofree char *root = bu_xasprintf("%s/root", dir);
	bu_autofree char *out = bu_xasprintf("%s/out", dir);

	memset(ret, 0, sizeof(*ret));
	memset(err, 0, sizeof(*err));
	strcpy(ret->name, "small");
	strcpy(ret->kernel, "6.1");
	strcpy(ret->created, "2023-11-14T22:13:20Z");
	return bu_describe_tree(
		&(struct bu_describe){root, dir, out, mirror, roots, NULL}, ret, err);
}

static void
expect_refused(const char *why)
{
	struct bu_manifest manifest;
	struct bu_err err;

	ck_assert_int_eq(describe(&manifest, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, why) != NULL, "%s: %s", why, err.text);
}

static json_t *
sbom(const struct bu_manifest *manifest)
{
	bu_autofree char *path = bu_xasprintf("%s/out/sbom.json", dir);
	char digest[BU_DIGEST_SIZE];
	json_t *value = bu_json_load(path, NULL);

	ck_assert_ptr_nonnull(value);
	ck_assert_int_eq(bu_sha256_file(path, digest, NULL), 0);
	ck_assert_str_eq(digest, manifest->sbom);
	return value;
}

/* The URLs of all packages, a line each. */
static char *
purls(const json_t *value)
{
	const json_t *package;
	char *all = NULL;
	size_t i;

	json_array_foreach (json_object_get(value, "packages"), i, package) {
		const json_t *ref =
			json_array_get(json_object_get(package, "externalRefs"), 0);

		if (ref)
			bu_text_add(&all, "", "%s\n",
				    bu_json_str(ref, "referenceLocator", "?"));
	}
	return all;
}

static const json_t *
system_of(const json_t *value)
{
	const json_t *package = json_array_get(json_object_get(value, "packages"), 1);

	ck_assert_str_eq(bu_json_str(package, "primaryPackagePurpose", ""),
			 "OPERATING-SYSTEM");
	return package;
}

START_TEST(a_debian_tree_is_listed)
{
	struct bu_manifest manifest, again;
	bu_autojson json_t *value = NULL;
	bu_autofree char *listed = NULL;
	struct bu_err err;

	begin();
	put_text("var/lib/dpkg/status", STATUS);
	put_text("usr/lib/os-release", RELEASE);
	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	free(shell_told(dir, "mkdir root/etc; "
			     "ln -s /usr/lib/os-release root/etc/os-release"));
	put("usr/sbin/slurmd", "x", 1, 0755);
	put("usr/bin/kubelet", "x", 1, 0644); /* nobody can run it */
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_int_eq(manifest.described, 1);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "slurmd"), "22.05.8-4+deb12u2");
	ck_assert_ptr_null(bu_manifest_holds(&manifest, "kubelet"));
	ck_assert_ptr_null(bu_manifest_holds(&manifest, "driver"));
	value = sbom(&manifest);
	ck_assert_str_eq(bu_json_str(value, "spdxVersion", ""), "SPDX-2.3");
	ck_assert_str_eq(bu_json_str(system_of(value), "name", ""), "debian");
	ck_assert_str_eq(bu_json_str(system_of(value), "versionInfo", ""), "12");
	ck_assert_str_eq(bu_json_str(system_of(value), "summary", ""), "bookworm");
	listed = purls(value);
	ck_assert_str_eq(
		listed,
		"pkg:deb/debian/bash@5.2.15-2?arch=amd64&distro=bookworm&"
		"upstream=bash%405.2.15-2\n"
		"pkg:deb/debian/libc6@1%3A2.36-9%2Bb1?arch=amd64&distro=bookworm&"
		"upstream=glibc%402.36-9\n"
		"pkg:deb/debian/slurmd@22.05.8-4%2Bdeb12u2?arch=amd64&"
		"distro=bookworm&upstream=slurm-wlm%4022.05.8-4%2Bdeb12u2\n");
	ck_assert_int_eq(describe(&again, &err), 0);
	ck_assert_str_eq(again.sbom, manifest.sbom);
	end();
}
END_TEST

/* A package of each kind that rpm's list may hold, in a root that rpm itself made. */
static const char make_rpms[] =
	"set -e\n"
	"mkdir -p top root/usr/sbin root/etc\n"
	"printf 'ID=\"rocky\"\\nVERSION_ID=\"9.4\"\\n' >root/etc/os-release\n"
	"build() {\n"
	"  printf 'Name: %s\\nEpoch: %s\\nVersion: 1.2\\nRelease: 3.el9\\n"
	"Summary: s\\nLicense: MIT\\n%%description\\nd\\n%%files\\n' $1 $2 >top/$1.spec\n"
	"  rpmbuild -bb --quiet --define \"_topdir $PWD/top\" top/$1.spec "
	">top/log 2>&1\n"
	"}\n"
	"build small-tool 0; build slurm-slurmd 2\n"
	"rpm --root $PWD/root --dbpath /usr/lib/sysimage/rpm -i --nodeps --noscripts "
	"top/RPMS/*/*.rpm\n"
	"find root -type f -exec sha256sum {} + | sort\n";

START_TEST(an_rpm_tree_is_listed)
{
	bu_autofree char *before = NULL, *after = NULL, *listed = NULL;
	bu_autojson json_t *value = NULL;
	struct bu_manifest manifest, again;
	struct bu_err err;

	BU_NEEDS("root", "rpm", "rpmbuild");
	begin();
	before = shell_told(dir, make_rpms);
	put("usr/sbin/slurmd", "x", 1, 0755);
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "slurmd"), "2:1.2-3.el9");
	value = sbom(&manifest);
	ck_assert_str_eq(bu_json_str(system_of(value), "name", ""), "rocky");
	listed = purls(value);
	ck_assert_str_eq(listed,
			 "pkg:rpm/rocky/slurm-slurmd@2%3A1.2-3.el9?arch=x86_64&"
			 "distro=9.4&upstream=slurm-slurmd%401.2-3.el9\n"
			 "pkg:rpm/rocky/small-tool@1.2-3.el9?arch=x86_64&distro=9.4&"
			 "upstream=small-tool%401.2-3.el9\n");
	/* Asking has changed nothing in the tree. */
	after = shell_told(dir, "rm root/usr/sbin/slurmd; "
				"find root -type f -exec sha256sum {} + | sort");
	ck_assert_str_eq(before, after);
	/* The program dpkg brings a list of its own, of nothing. */
	put_text("var/lib/dpkg/status", "");
	ck_assert_msg(!describe(&again, &err), "%s", err.text);
	ck_assert_str_eq(again.sbom, manifest.sbom);
	end();
}
END_TEST

#define STATE(name, state)                                                             \
	"Package: " name "\nStatus: install ok " state "\nArchitecture: amd64\n"       \
	"Version: 1\n\n"

/* Whoever looks for holes wants what has its files there, however far dpkg came. */
START_TEST(what_is_half_installed_counts)
{
	struct bu_packages packages;
	bu_autofree char *root = NULL;
	struct bu_err err = {0};

	begin();
	root = bu_xasprintf("%s/root", dir);
	put_text("var/lib/dpkg/status",
		 STATE("a", "unpacked") STATE("b", "half-configured")
			 STATE("c", "triggers-pending") STATE("d", "not-installed")
				 STATE("e", "config-files") STATE("f", "half-installed")
					 STATE("g", "installed"));
	ck_assert_msg(!bu_packages_read(root, dir, &packages, &err), "%s", err.text);
	ck_assert_uint_eq(packages.count, 5);
	ck_assert_ptr_null(bu_packages_find(&packages, "d"));
	ck_assert_ptr_null(bu_packages_find(&packages, "e"));
	bu_packages_fini(&packages);
	end();
}
END_TEST

START_TEST(an_empty_list_is_no_list)
{
	static const char *const empty[] = {
		"", "\n", STATE("d", "not-installed"),
		"Package: gone\nStatus: deinstall ok config-files\n"};
	bu_autofree char *path = NULL;
	struct bu_manifest manifest;
	struct bu_err err;

	begin();
	path = bu_xasprintf("%s/out/sbom.json", dir);
	for (size_t i = 0; i < BU_LEN(empty); i++) {
		put_text("var/lib/dpkg/status", empty[i]);
		ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
		ck_assert_str_eq(manifest.sbom, "");
		ck_assert(!bu_file_exists(path));
	}
	end();
}
END_TEST

START_TEST(lists_that_are_none_are_refused)
{
	static const char *const wrong[] = {
		"Package: x\nStatus: install ok installed\nVersion: 1\n",
		"Package: x\nStatus: install ok installed\nVersion: 1 2\n"
		"Architecture: all\n",
		"Package: x\nStatus: install ok installed\nVersion: 1\033[2J\n"
		"Architecture: all\n",
		"Status: install ok installed\nVersion: 1\nArchitecture: all\n",
	};
	bu_autofree char *outside = NULL;

	begin();
	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		put_text("var/lib/dpkg/status", wrong[i]);
		expect_refused("/var/lib/dpkg/status");
	}
	put("var/lib/dpkg/status", "Package: x\0y\n", 13, 0644);
	expect_refused("no text");
	/* A link leads to the tree's own /, not to the list of this machine. */
	free(shell_told(dir, "rm root/var/lib/dpkg/status; "
			     "ln -s ../../../../secret root/var/lib/dpkg/status"));
	outside = bu_xasprintf("%s/secret", dir);
	ck_assert_int_eq(bu_file_write_text(outside, 0644, NULL, "%s", STATUS), 0);
	{
		struct bu_manifest manifest;
		struct bu_err err;

		ck_assert_int_eq(describe(&manifest, &err), 0);
		ck_assert_str_eq(manifest.sbom, "");
	}
	end();
}
END_TEST

START_TEST(a_data_base_that_is_none_is_refused)
{
	struct bu_manifest manifest;
	struct bu_err err;

	BU_NEEDS("rpm");
	begin();
	put_text("var/lib/rpm/rpmdb.sqlite", "this is no data base, whatever it says");
	ck_assert_int_eq(describe(&manifest, &err), -1);
	ck_assert_msg(strstr(err.text, "list of packages") != NULL, "%s", err.text);
	end();
}
END_TEST

#define MODULE(v) "\177ELF\0srcversion=ABCDEF\0version=" v "\0license=NVIDIA\0"

START_TEST(the_parts_of_a_driver_are_of_one_version)
{
	static const char library[] =
		"usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.183.01";
	static const char module[] = "lib/modules/6.1/updates/dkms/nvidia.ko";
	static const char old[] = MODULE("525.60.13"), new[] = MODULE("535.183.01");
	struct bu_manifest manifest;
	struct bu_err err;

	begin();
	put_text("var/lib/dpkg/status", STATUS);
	put("usr/bin/nv-fabricmanager", "x", 1, 0755);
	expect_refused("no driver");
	put_text("lib/modules/6.1/modules.dep",
		 "kernel/a/nvidia-uvm.ko: updates/dkms/nvidia.ko\n"
		 "updates/dkms/nvidia.ko:\n");
	put(module, old, sizeof(old), 0644);
	put_text(library, "x");
	free(shell_told(dir, "cd root/usr/lib/x86_64-linux-gnu; "
			     "ln -s libnvidia-ml.so.535.183.01 libnvidia-ml.so.1"));
	expect_refused("525.60.13, libnvidia-ml of 535.183.01");
	put(module, new, sizeof(new), 0644);
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "driver"), "535.183.01");
	ck_assert_str_eq(bu_manifest_holds(&manifest, "fabric_manager"), "");
	put_text("var/lib/dpkg/status",
		 STATUS "\nPackage: nvidia-fabricmanager-535\nArchitecture: amd64\n"
			"Status: install ok installed\nVersion: 535.161.08-1\n");
	expect_refused("nvidia-fabricmanager is of driver 535.161.08");
	put_text("var/lib/dpkg/status",
		 STATUS "\nPackage: nvidia-fabricmanager-535\nArchitecture: amd64\n"
			"Status: install ok installed\nVersion: 1:535.183.01-1\n");
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "fabric_manager"), "535.183.01");
	end();
}
END_TEST

/* Debian 13, Ubuntu and Rocky have packed modules; Debian has the libraries of the
 * driver in a folder of their own. */
START_TEST(packed_modules_are_read_too)
{
	static const char *const packers[][2] = {
		{"xz", "xz"}, {"zstd -q --rm", "zst"}, {"gzip", "gz"}};
	static const char library[] = "usr/lib/x86_64-linux-gnu/nvidia/current/"
				      "libnvidia-ml.so.535.183.01";
	static const char old[] = MODULE("525.60.13"), new[] = MODULE("535.183.01");
	static const char module[] = "lib/modules/6.1/updates/nvidia.ko";

	for (size_t i = 0; i < BU_LEN(packers); i++) {
		bu_autofree char *dep =
			bu_xasprintf("updates/nvidia.ko.%s:\n", packers[i][1]);
		bu_autofree char *pack =
			bu_xasprintf("cd root/lib/modules/6.1/updates; rm -f *.ko.*; "
				     "%s nvidia.ko",
				     packers[i][0]);
		struct bu_manifest manifest;
		struct bu_err err;

		begin();
		put_text("lib/modules/6.1/modules.dep", dep);
		put_text(library, "x");
		put(module, old, sizeof(old), 0644);
		free(shell_told(dir, pack));
		expect_refused("525.60.13, libnvidia-ml of 535.183.01");
		put(module, new, sizeof(new), 0644);
		free(shell_told(dir, pack));
		ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
		ck_assert_str_eq(bu_manifest_holds(&manifest, "driver"), "535.183.01");
		end();
	}
}
END_TEST

/* Its header asks for a dictionary of 1 GiB: the length of the block's header, flags,
 * filter (LZMA2), size of its properties, dictionary, three bytes of zeros, sum. */
static const char greedy[] =
	"cd root/lib/modules/6.1/updates && python3 -c '\n"
	"import lzma, zlib\n"
	"body = bytearray(lzma.compress(open(\"nvidia.ko\", \"rb\").read()))\n"
	"assert body[12:16] == bytes([2, 0, 0x21, 1]), body[12:20]\n"
	"body[16] = 36\n"
	"body[20:24] = zlib.crc32(body[12:20]).to_bytes(4, \"little\")\n"
	"open(\"nvidia.ko.xz\", \"wb\").write(body)\n"
	"assert lzma.decompress(body)'";

START_TEST(a_greedy_module_gets_no_memory)
{
	static const char module[] = MODULE("535.183.01");
	struct bu_manifest manifest;
	struct bu_err err;

	BU_NEEDS("python3");
	begin();
	put_text("lib/modules/6.1/modules.dep", "updates/nvidia.ko.xz:\n");
	put("lib/modules/6.1/updates/nvidia.ko", module, sizeof(module), 0644);
	free(shell_told(dir, greedy));
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_ptr_null(bu_manifest_holds(&manifest, "driver"));
	end();
}
END_TEST

/* What an upgrade left, and a copy that somebody made aside: none of them is guessed
 * at by the order that a folder is read in. */
START_TEST(of_two_libraries_none_is_taken)
{
	struct bu_manifest manifest;
	struct bu_err err;

	begin();
	put_text("var/lib/dpkg/status", STATUS);
	put_text("usr/lib64/libnvidia-ml.so.550.54.14", "x");
	put_text("usr/lib64/libnvidia-ml.so.550.54.14.bak", "x");
	put_text("usr/lib64/libnvidia-ml.so.535.54.x", "x");
	put_text("usr/lib64/libnvidia-ml.so.535..1", "x");
	put_text("usr/lib64/libnvidia-ml.so.1", "x");
	free(shell_told(dir, "cd root/usr/lib64; mkdir libnvidia-ml.so.535.1; "
			     "ln -s libnvidia-ml.so.1 libnvidia-ml.so.535.54.03"));
	ck_assert_msg(!describe(&manifest, &err), "%s", err.text);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "driver"), "550.54.14");
	put_text("usr/lib/libnvidia-ml.so.550.54.14", "x");
	ck_assert_int_eq(describe(&manifest, &err), 0);
	put_text("usr/lib/libnvidia-ml.so.535.54", "x");
	expect_refused("of driver 535.54 and of 550.54.14");
	end();
}
END_TEST

/* By its path and by the package of its kind of system; a link is followed inside. */
START_TEST(programs_are_found_where_they_are)
{
	static const struct {
		const char *put, *name;
	} rows[] = {
		{"usr/lib/systemd/systemd", "systemd"},
		{"usr/lib/systemd/systemd-networkd", "systemd-networkd"},
		{"usr/sbin/NetworkManager", "networkmanager"},
		{"usr/sbin/netplan", "netplan"},
		{"usr/sbin/sshd", "sshd"},
		{"usr/bin/sudo", "sudo"},
		{"usr/sbin/sssd", "sssd"},
		{"usr/sbin/chronyd", "chrony"},
		{"usr/sbin/mkfs.ext4", "mkfs.ext4"},
		{"usr/sbin/mkfs.xfs", "mkfs.xfs"},
		{"usr/sbin/mount.nfs", "mount.nfs"},
		{"usr/sbin/mount.lustre", "mount.lustre"},
		{"usr/lib/bringup/mdadm", "mdadm"},
		{"usr/lib/bringup/cryptsetup", "cryptsetup"},
		{"usr/lib/bringup/scratch-volatile", "scratch-volatile"},
	};
	struct bu_manifest manifest;
	struct bu_err err;

	begin();
	for (size_t i = 0; i < 2; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/root/%s", dir, i ? "lib" : "sbin");

		ck_assert_int_eq(symlink(i ? "usr/lib" : "/usr/sbin", path), 0);
	}
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(describe(&manifest, &err) == 0, "%s", err.text);
		ck_assert_msg(!bu_manifest_holds(&manifest, rows[i].name), "%s",
			      rows[i].name);
		put(rows[i].put, "x", 1, 0755);
	}
	put_text("var/lib/dpkg/status",
		 "Package: sudo\nStatus: install ok installed\nVersion: 1.9\n"
		 "Architecture: amd64\n");
	ck_assert_msg(describe(&manifest, &err) == 0, "%s", err.text);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_pstr_eq(bu_manifest_holds(&manifest, rows[i].name),
				  strcmp(rows[i].name, "sudo") ? "" : "1.9");
	end();
}
END_TEST

/* As its recipe says: without a word of it, an image of before. */
START_TEST(what_its_ramdisk_starts_from_is_held)
{
	struct bu_manifest manifest;
	struct bu_err err;

	begin();
	ck_assert_msg(describe(&manifest, &err) == 0, "%s", err.text);
	ck_assert_ptr_null(bu_manifest_holds(&manifest, "mirror"));
	ck_assert_ptr_null(bu_manifest_holds(&manifest, "roots"));
	mirror = "1";
	roots = "2";
	ck_assert_msg(describe(&manifest, &err) == 0, "%s", err.text);
	ck_assert_str_eq(bu_manifest_holds(&manifest, "mirror"), "1");
	ck_assert_str_eq(bu_manifest_holds(&manifest, "roots"), "2");
	mirror = roots = "";
	end();
}
END_TEST

BU_UNIT("describe", a_debian_tree_is_listed, an_rpm_tree_is_listed,
	what_is_half_installed_counts, an_empty_list_is_no_list,
	lists_that_are_none_are_refused, a_data_base_that_is_none_is_refused,
	the_parts_of_a_driver_are_of_one_version, packed_modules_are_read_too,
	a_greedy_module_gets_no_memory, of_two_libraries_none_is_taken,
	what_its_ramdisk_starts_from_is_held, programs_are_found_where_they_are)
