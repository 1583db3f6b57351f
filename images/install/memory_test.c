/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an install takes of a machine's memory: 64 MiB and 16 MiB for each of its
 * threads, however large the image is. The installer runs as a program of its own
 * (tests/support/installer), so that nothing of a test counts.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/support/unit.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
enum { FACTOR = 4 }; /* shadow and freed memory that is kept */
#else
enum { FACTOR = 1 };
#endif

enum { BASE_KIB = 64 * 1024, THREAD_KIB = 16 * 1024 };

static char dir[40];

static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && t=" BU_BUILDDIR
					      "/tests/support/installer && { %s; }",
					      dir, commands);

	return system(text);
}

/* 200 MiB that do not compress, four at a time with holes between, on a disk of 40 GiB:
 * ten thousand frames. The disk is a file, too. */
static void
install_with(int threads, long *ret_kib)
{
	bu_autofree char *commands = bu_xasprintf(
		"truncate -s 40G root.raw && for i in $(seq 50); do "
		"head -c 4M /dev/urandom | dd of=root.raw bs=4M seek=$((i * 150)) "
		"conv=notrunc status=none; done && $t pack . small root.raw >/dev/null "
		"&& { $t serve . >port & server=$!; } && "
		"until [ -s port ]; do sleep 0.02; done && truncate -s 41G disk && "
		"mkdir out && $t run . http://127.0.0.1:$(cat port) small disk "
		"threads=%d root=out >said; rc=$?; kill $server; cat said; exit $rc",
		threads);
	bu_autofree char *said = NULL, *path = NULL;
	struct stat st;
	double seconds = 0;

	strcpy(dir, "/tmp/bringup-memory-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(sh(commands), 0);
	path = bu_xasprintf("%s/said", dir);
	said = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_msg(sscanf(said, "%lf %ld", &seconds, ret_kib) == 2, "%s", said);
	free(path);
	path = bu_xasprintf("%s/disk", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_gt(st.st_blocks, 200 * 2048); /* all of it was written */
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(memory_has_a_bound)
{
	static const int threads[] = {1, 4};

	for (size_t i = 0; i < BU_LEN(threads); i++) {
		long kib = 0, most = (BASE_KIB + threads[i] * THREAD_KIB) * FACTOR;

		install_with(threads[i], &kib);
		ck_assert_msg(kib <= most, "%d threads took %ld KiB of %ld", threads[i],
			      kib, most);
	}
}
END_TEST

BU_UNIT("install_memory", memory_has_a_bound)
