/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's folder as the recipes make it, in roots of other distributions: empty,
 * and with libraries that nothing can load. All that the agent needs comes from its
 * folder; the verbs find every provider there, and no other one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "images/bundle.h"
#include "tests/support/unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif
/* The run time of the sanitizers wants a whole system around it. */
static const int sanitized = SANITIZED;

static char dir[] = "/tmp/bringup-folder-XXXXXX";

static const char *const providers[] = {"mlx4", "mlx5", "bnxt_re", "irdma",
					"efa",  "hns",  "rxe",     "siw"};

/* What each root has of its own; "" is none. */
static const struct {
	const char *name, *prepare;
} roots[] = {
	{"nothing", ""},
	{"debian",
	 "mkdir -p lib64 etc/libibverbs.d usr/lib/x86_64-linux-gnu/libibverbs &&"
	 "for f in libc.so.6 libm.so.6 libpthread.so.0 libibverbs.so.1 libnl-3.so.200 "
	 "libnl-route-3.so.200 libibverbs/libmlx5-rdmav34.so;"
	 "do echo no >usr/lib/x86_64-linux-gnu/$f; done &&"
	 "echo no >lib64/ld-linux-x86-64.so.2 && "
	 "echo 'driver mlx5' >etc/libibverbs.d/mlx5.driver &&"
	 "echo 'driver qedr' >etc/libibverbs.d/qedr.driver"},
	{"rpm",
	 "mkdir -p usr/lib64/libibverbs etc/libibverbs.d && ln -s usr/lib64 lib64 &&"
	 "for f in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libibverbs.so.1 "
	 "libmlx5.so.1 libmlx5-rdmav34.so libibverbs/libmlx5-rdmav58.so;"
	 "do echo no >usr/lib64/$f; done &&"
	 "echo 'driver mlx5' >etc/libibverbs.d/mlx5.driver"},
};

/* An RDMA device that no provider knows, so that all of them are loaded. */
static const char device[] =
	"mkdir -p sys/class/infiniband_verbs/uverbs0/device dev/infiniband "
	"sys/class/infiniband/odd_0/ports/1 tmp && cd sys/class/infiniband_verbs &&"
	"echo 6 >abi_version && echo odd_0 >uverbs0/ibdev && echo 1 >uverbs0/abi_version"
	"&& echo 231:192 >uverbs0/dev && echo '1: CA' >../infiniband/odd_0/node_type &&"
	": >../../../dev/infiniband/uverbs0 && cd ../../.. &&"
	"echo '{\"kind\":\"probe\",\"id\":\"w\",\"attempt\":1,\"probe\":\"p\","
	"\"role\":\"loopback\",\"a\":\"n\",\"rails\":[{\"port\":\"odd_0/1\"}],"
	"\"deadline_ms\":2000}' >item.json";

static void
run(const char *command)
{
	ck_assert_msg(system(command) == 0, "%s", command);
}

/* In the root, by the folder's own loader; what it says. Owned. */
static char *
inside(const char *root, const char *variable, const char *arguments)
{
	bu_autofree char *command = bu_xasprintf(
		"cd %s && %s chroot %s /usr/lib/bringup/current/ld-linux-x86-64.so.2 "
		"--library-path /usr/lib/bringup/current/lib %s >%s/said 2>&1",
		dir, variable, root, arguments, dir);
	bu_autofree char *said = bu_xasprintf("%s/said", dir);

	bu_ignore(system(command));
	return bu_file_read(said, 4 * 1024 * 1024, NULL, NULL);
}

static void
make_root(size_t i)
{
	bu_autofree char *command = bu_xasprintf(
		"set -e; mkdir -p %s/%s; cd %s/%s; true %s %s; mkdir -p ../work;"
		"export RECIPES=%s/images/build/recipes WORK=%s/work OUT=%s/out "
		"AGENT=%s/bringup-agent; . $RECIPES/lib.sh; agent_folder \"$PWD\"; "
		"bundle usr/lib/bringup/current $OUT/%s; %s",
		dir, roots[i].name, dir, roots[i].name, *roots[i].prepare ? "&&" : "",
		roots[i].prepare, BU_SRCDIR, dir, dir, BU_BUILDDIR, roots[i].name,
		device);

	run(command);
}

static void
comes_from_folder(const char *root, const char *file)
{
	bu_autofree char *arguments =
		bu_xasprintf("--list /usr/lib/bringup/current/%s", file);
	bu_autofree char *said = inside(root, "", arguments);
	int libraries = 0;

	ck_assert_ptr_nonnull(said);
	for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
		const char *at = strstr(line, " => ");

		if (!at && strstr(line, "linux-vdso"))
			continue;
		at = at ? at + 4 : line + strspn(line, " \t");
		ck_assert_msg(strncmp(at, "/usr/lib/bringup/", 17) == 0, "%s: %s: %s",
			      root, file, line);
		libraries++;
	}
	ck_assert_int_ge(libraries, 2);
}

static void
check_libraries(const char *root)
{
	static const char *const others[] = {"bringup-agent", "lib/libm.so.6",
					     "lib/librt.so.1", "lib/libdl.so.2",
					     "lib/libpthread.so.0"};

	for (size_t i = 0; i < BU_LEN(others); i++)
		comes_from_folder(root, others[i]);
	for (size_t i = 0; i < BU_LEN(providers); i++) {
		bu_autofree char *file =
			bu_xasprintf("verbs/lib%s-rdmav34.so", providers[i]);

		comes_from_folder(root, file);
	}
}

/* What the agent and its children load when they ask the verbs for their devices: all
 * that stands after what chroot itself has loaded. Owned. */
static char *
loaded_in(const char *root)
{
	bu_autofree char *said =
		inside(root, "LD_DEBUG=libs",
		       "/usr/lib/bringup/current/bringup-agent probe /item.json");
	const char *begun = strstr(said, "transferring control: ");

	ck_assert_msg(strstr(said, "no RDMA port odd_0/1") != NULL, "%s", said);
	ck_assert_ptr_nonnull(begun);
	return bu_xstrdup(begun);
}

static void
check_providers(const char *root)
{
	static const char init[] = "calling init: ";
	bu_autofree char *loaded = loaded_in(root);

	for (size_t i = 0; i < BU_LEN(providers); i++) {
		bu_autofree char *line = bu_xasprintf(
			"%s/usr/lib/bringup/current/verbs/lib%s-rdmav34.so", init,
			providers[i]);

		ck_assert_msg(strstr(loaded, line) != NULL, "%s: %s", root, line);
	}
	for (const char *at = loaded; (at = strstr(at, init));) {
		at += strlen(init);
		ck_assert_msg(strncmp(at, "/usr/lib/bringup/", 17) == 0, "%s: %.60s",
			      root, at);
	}
}

/* What travels is what lies in the slot, and its list says so. */
static void
check_bundle(const char *root)
{
	bu_autofree char *out = bu_xasprintf("%s/out/%s", dir, root);
	bu_autofree char *slot =
		bu_xasprintf("%s/%s/usr/lib/bringup/current", dir, root);
	struct bu_bundle bundle, same;
	struct bu_err err = {0};

	ck_assert_msg(bu_bundle_load(out, &bundle, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_bundle_load(slot, &same, &err) == 0, "%s", err.text);
	ck_assert_str_eq(bundle.digest, same.digest);
	ck_assert_str_eq(bundle.version, BU_VERSION);
	ck_assert_uint_gt(bundle.files_count, 20);
	for (size_t i = 0; i < bundle.files_count; i++) {
		const struct bu_bundle_file *file = &bundle.files[i];
		bu_autofree char *path = bu_xasprintf("%s/%s", out, file->sha256);
		bu_autofree char *here = bu_xasprintf("%s/%s", slot, file->path);
		char digest[BU_DIGEST_SIZE];
		struct stat st;

		ck_assert_int_eq(bu_sha256_file(path, digest, NULL), 0);
		ck_assert_str_eq(digest, file->sha256);
		ck_assert_int_eq(bu_sha256_file(here, digest, NULL), 0);
		ck_assert_str_eq(digest, file->sha256);
		ck_assert_int_eq(stat(here, &st), 0);
		ck_assert_int_eq(st.st_size, file->size_bytes);
		ck_assert_int_eq(st.st_mode & 07777, file->mode);
	}
	bu_bundle_fini(&bundle);
	bu_bundle_fini(&same);
}

START_TEST(nothing_comes_from_the_root)
{
	bu_autofree char *clean = NULL;

	BU_NEEDS("root", "strip", "perl",
		 "/usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	clean = bu_xasprintf("rm -rf %s", dir);
	for (size_t i = 0; i < BU_LEN(roots); i++) {
		make_root(i);
		check_bundle(roots[i].name);
		check_libraries(roots[i].name);
		if (!sanitized)
			check_providers(roots[i].name);
	}
	run(clean);
}
END_TEST

BU_UNIT("agent_folder", nothing_comes_from_the_root)
