/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel of a root is chosen, wherever its distribution puts it. */
#include "images/build/root_kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char dir[40];

/* With these kernels; what is wrong with them is owned. */
static char *
choose(const char *commands, struct bu_root_kernel *ret)
{
	bu_autofree char *text = NULL;
	bu_autoclose int root_fd = -1;
	char *wrong = NULL;

	strcpy(dir, "/tmp/bringup-kernel-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	text = bu_xasprintf(
		"cd %s && mkdir -p boot usr/lib/modules && ln -s usr/lib lib && "
		"has() { mkdir -p lib/modules/$1 && echo x >lib/modules/$1/modules.dep; }; "
		"boot() { has $1 && echo k >boot/vmlinuz-$1; }; "
		"beside() { has $1 && echo k >usr/lib/modules/$1/vmlinuz; }; %s",
		dir, commands);
	ck_assert_int_eq(system(text), 0);
	root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bu_root_kernel(root_fd, ret, &wrong);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	return wrong;
}

START_TEST(the_newest_kernel_is_found_in_boot_or_beside_its_modules)
{
	static const struct {
		const char *commands, *version, *path, *others;
	} rows[] = {
		{"boot 6.1", "6.1", "boot/vmlinuz-6.1", ""},
		{"beside 6.1", "6.1", "lib/modules/6.1/vmlinuz", ""},
		/* no folder /boot at all */
		{"beside 6.1 && rmdir boot", "6.1", "lib/modules/6.1/vmlinuz", ""},
		{"beside 6.1 && boot 6.1", "6.1", "boot/vmlinuz-6.1", ""},
		/* links, of which the build follows relative ones */
		{"beside 6.1 && ln -s /usr/lib/modules/6.1/vmlinuz boot/vmlinuz-6.1",
		 "6.1", "lib/modules/6.1/vmlinuz", ""},
		{"has 6.1 && echo k >boot/k && ln -s k boot/vmlinuz-6.1", "6.1",
		 "boot/vmlinuz-6.1", ""},
		{"boot 6.1.0-9-amd64 && beside 6.1.0-28-amd64", "6.1.0-28-amd64",
		 "lib/modules/6.1.0-28-amd64/vmlinuz", "6.1.0-9-amd64"},
		{"beside 5.14.0-503.el9 && beside 5.14.0-503.11.1.el9 && boot 5.9",
		 "5.14.0-503.11.1.el9", "lib/modules/5.14.0-503.11.1.el9/vmlinuz",
		 "5.14.0-503.el9, 5.9"},
		{"boot 6.6.0-rc7 && boot 6.6.0", "6.6.0", "boot/vmlinuz-6.6.0",
		 "6.6.0-rc7"},
		/* what is left of an older one, and what is no version */
		{"has 6.0 && beside 6.1 && echo >lib/modules/README", "6.1",
		 "lib/modules/6.1/vmlinuz", "6.0"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_root_kernel kernel;
		bu_autofree char *wrong = choose(rows[i].commands, &kernel);

		ck_assert_msg(!wrong, "row %zu: %s", i, wrong);
		ck_assert_str_eq(kernel.version, rows[i].version);
		ck_assert_str_eq(kernel.path, rows[i].path);
		ck_assert_str_eq(kernel.others, rows[i].others);
	}
}
END_TEST

START_TEST(a_kernel_that_cannot_start_is_named)
{
	static const char *const rows[][2] = {
		{"true", "no kernel in /lib/modules"},
		{"rm lib", "no kernel in /lib/modules"},
		{"has 6.1", "modules of 6.1 without their kernel (/boot/vmlinuz-6.1 or "
			    "/lib/modules/6.1/vmlinuz)"},
		{"boot 6.1 && has 6.2", "modules of 6.2 without their kernel"},
		{"has 6.1 && ln -s /boot/vmlinuz-$(uname -r) boot/vmlinuz-6.1",
		 "without their kernel"},
		{"has 6.1 && mkdir lib/modules/6.1/vmlinuz", "without their kernel"},
		{"beside 6.1 && rm lib/modules/6.1/modules.dep", "run depmod"},
		{"boot 6.1 && mkdir 'lib/modules/7 x'", "'7 x' in /lib/modules is not"},
		{"boot 6.1 && cd lib/modules && mkdir \"$(printf '%080d' 7)\"",
		 "is not a kernel version"},
		{"boot 6.1 && cd boot && { head -c 514 /dev/zero; printf HdrS; "
		 "head -c 8 /dev/zero; printf '\\020\\001'; head -c 256 /dev/zero; "
		 "printf '6.2 (gcc)'; } >vmlinuz-6.1",
		 "/boot/vmlinuz-6.1 is kernel 6.2"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_root_kernel kernel;
		bu_autofree char *wrong = choose(rows[i][0], &kernel);

		ck_assert_msg(wrong && strstr(wrong, rows[i][1]), "row %zu: %s", i,
			      wrong ? wrong : "nothing is wrong");
	}
}
END_TEST

/* Oldest first. sort(1) judges those that it and distributions agree on. */
START_TEST(kernels_have_the_order_of_their_versions)
{
	static const char *const versions[] = {
		"5.9.16",
		"5.10.0-8-amd64",
		"5.10.0-33-amd64",
		"5.14.0-70.13.1.el9_0.x86_64",
		"5.14.0-503.11.1.el9_5.x86_64",
		"5.15.0-9-generic",
		"5.15.0-125-generic",
		"6.1.0-9-amd64",
		"6.1.0-28-amd64",
		"6.8.0-49-generic",
		"6.12.48+deb13-amd64",
		"6.12.57+deb13-amd64",
	};
	FILE *sorted;
	char line[80];

	for (size_t i = 0; i < BU_LEN(versions); i++)
		for (size_t j = 0; j < BU_LEN(versions); j++) {
			int order = bu_kernel_compare(versions[i], versions[j]);

			ck_assert_msg((order > 0) - (order < 0) == (i > j) - (i < j),
				      "%s, %s: %d", versions[i], versions[j], order);
		}
	strcpy(dir, "/tmp/bringup-kernel-XXXXXX");
	ck_assert_int_ge(mkstemp(dir), 0);
	sorted = fopen(dir, "w");
	for (size_t i = BU_LEN(versions); i-- > 0;)
		fprintf(sorted, "%s\n", versions[i]);
	fclose(sorted);
	{
		bu_autofree char *command = bu_xasprintf("sort -V %s", dir);

		sorted = popen(command, "r");
	}
	for (size_t i = 0; i < BU_LEN(versions); i++) {
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), sorted));
		line[strcspn(line, "\n")] = '\0';
		ck_assert_str_eq(line, versions[i]);
	}
	pclose(sorted);
	unlink(dir);
	/* Candidates are before their release, and so is the first build of one. */
	ck_assert_int_lt(bu_kernel_compare("6.6.0-rc7", "6.6.0"), 0);
	ck_assert_int_lt(bu_kernel_compare("6.6.0-rc7-amd64", "6.6.0-1-amd64"), 0);
	ck_assert_int_lt(bu_kernel_compare("6.5.9", "6.6.0-rc1"), 0);
	ck_assert_int_lt(bu_kernel_compare("5.14.0-503.el9", "5.14.0-503.11.1.el9"), 0);
	ck_assert_int_lt(bu_kernel_compare("6.6-2-amd64", "6.6.1"), 0);
	ck_assert_int_lt(bu_kernel_compare("6.6.0", "6.6.0-1"), 0);
	ck_assert_int_lt(bu_kernel_compare("6.6.0-09", "6.6.0-99999999999999999999"),
			 0);
}
END_TEST

BU_UNIT("root_kernel", the_newest_kernel_is_found_in_boot_or_beside_its_modules,
	a_kernel_that_cannot_start_is_named, kernels_have_the_order_of_their_versions)
