/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that builds a driver's modules into a new system: in a folder that plays
 * the system, with a paper chroot whose dkms builds what it is told, or does not.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static char dir[40];

/* Two drivers of one package, and the headers of the one kernel. */
static const char system_of[] =
	"mkdir -p bin root/root root/etc/dkms root/lib/modules/6.1/build/include && "
	": >root/etc/dkms/no-autoinstall && : >log && : >stays && "
	"echo linux-headers-6.1-common gcc-12 >here && "
	"for name in one two; do mkdir -p root/usr/src/$name-2.0 root/var/lib/dkms && "
	"printf 'PACKAGE_NAME=\"%s\"\\nPACKAGE_VERSION=\"2.0\"\\n' $name "
	">root/usr/src/$name-2.0/dkms.conf; done";

/* "broken" has the driver that a compiler refuses. Packed, as dkms leaves them. */
static const char *const programs[][2] = {
	{"bin/chroot",
	 "root=$1 && shift && echo \"$*\" >>log\n"
	 "modules=$root/lib/modules/6.1/updates/dkms state=$root/var/lib/dkms\n"
	 "case $1 in\n"
	 "test) test $2 $root$3 ;;\n"
	 "bash) bash -c \"$3\" - $root$5 ;;\n"
	 "cat) cat $root$2 ;;\n"
	 "find) shift; tree=$root$1; shift; find $tree \"$@\" ;;\n"
	 "dpkg-query) for p in $(cat here); do printf 'ii  %s\\n' $p; done ;;\n"
	 "apt-get) echo gcc-12-base $(cat stays) >here; ! ls $modules >/dev/null 2>&1 ;;\n"
	 "dkms) case $2 in\n"
	 "	add) mkdir -p $state/$4/$6/build ;;\n"
	 "	autoinstall) ! test -e $root/etc/dkms/no-autoinstall || exit 0\n"
	 "		mkdir -p $modules && for d in $state/*; do\n"
	 "			grep -qsx ${d##*/} broken || {\n"
	 "			printf 'ELF\\n' | xz >$modules/${d##*/}.ko.xz; continue; }\n"
	 "			echo 'one.c:1: error: no such field' >$d/2.0/build/make.log\n"
	 "		done; ! test -e broken ;;\n"
	 "	status) ! test -e $modules/$4.ko.xz || echo $4/$6, $8, x86_64: installed ;;\n"
	 "	esac ;;\n"
	 "esac\n"},
	{"bin/strip", "shift; for f; do echo stripped >>$f; done\n"},
};

static int
run(const char *command)
{
	bu_autofree char *text = bu_xasprintf("cd %s && export PATH=%s/bin:$PATH && %s",
					      dir, dir, command);

	return system(text);
}

static void
works(const char *command)
{
	ck_assert_msg(run(command) == 0, "%s", command);
}

static void
fails(const char *command, const char *why)
{
	bu_autofree char *all = bu_xasprintf("%s 2>why", command);
	bu_autofree char *see = bu_xasprintf("grep -q -- \"%s\" why", why);

	ck_assert_int_ne(run(all), 0);
	works(see);
}

#define BUILD                                                                          \
	"DKMS_HOOKS=\"$(ls $PWD/*.hook 2>/dev/null)\" sh " BU_SRCDIR                   \
	"/images/build/recipes/dkms $PWD/root driver-dkms headers "                    \
	">told 2>why"

static void
refused(const char *change, const char *why)
{
	works(change);
	fails(BUILD, why);
	works("! grep -q apt-get log");
}

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-dkms-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	works(system_of);
	shell_programs(dir, "cd ", programs, BU_LEN(programs));
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(the_modules_stay_and_what_built_them_goes)
{
	begin();
	works(BUILD);
	works("for name in one two; do test \"$(cat "
	      "root/lib/modules/6.1/updates/dkms/$name.ko)\" = 'ELF\nstripped' || exit 1; "
	      "done");
	works("! grep 'stay in the image' why");
	works("! ls root/lib/modules/6.1/build root/var/lib/dkms root/root/modules "
	      "root/etc/dkms/no-autoinstall 2>/dev/null");
	works("grep -qx 'apt-get -q -y purge dkms driver-dkms headers "
	      "linux-headers-6.1-common gcc-12' log && "
	      "test \"$(tail -n 1 log)\" = 'depmod 6.1'");
	end();
	begin();
	works("echo gcc-12 >stays");
	works(BUILD);
	works("grep -q 'dkms: gcc-12 stay in the image' why");
	end();
}
END_TEST

/* One of two is not enough, and the compiler's own words are told. */
START_TEST(a_driver_that_does_not_build_is_named)
{
	begin();
	refused("echo two >broken", "dkms: two/2.0 was not built for the kernel 6.1");
	works("grep -q 'one.c:1: error: no such field' why");
	end();
}
END_TEST

START_TEST(headers_are_those_of_the_kernel)
{
	begin();
	refused("mv root/lib/modules/6.1/build build", "kernel headers are missing");
	refused("mkdir root/lib/modules/6.2 && mv build root/lib/modules/6.2/build",
		"(kernels: 6.1 6.2)");
	end();
}
END_TEST

START_TEST(hooks_come_before_the_modules)
{
	begin();
	works("echo '! grep autoinstall '$PWD/log' && echo $2 >>$1/usr/src/one-2.0/one.c' "
	      ">a.hook && cp a.hook b.hook");
	works(BUILD);
	works("test \"$(cat root/usr/src/one-2.0/one.c)\" = '6.1\n6.1'");
	end();
	begin();
	refused("echo 'exit 3' >a.hook", "a.hook ended with exit status 3");
	end();
}
END_TEST

/* The call gets its argument where the kernel has it, once, and nowhere else. */
START_TEST(drivers_learn_of_the_bars_that_stay)
{
	static const char old[] =
		"int x(int a,\n\t\tint size);\nint pci_resize_resource("
		"int i,\n\t\tint size);";
	static const char young[] = "int pci_resize_resource(int i, int size,\n\t\t\t"
				    "int exclude_bars);";
	static const char mend[] =
		"sh " BU_SRCDIR "/images/build/recipes/nvidia-bars $PWD/root 6.1";

	static const char *const odd[] = {
		"r = pci_resize_resource(dev, bar(1), size);",
		"r = pci_resize_resource(dev,\n\t1, size);",
	};

	begin();
	works("mkdir -p root/lib/modules/6.1/source/include/linux root/usr/src/nvidia-1/nvidia "
	      "&& echo '\tr = pci_resize_resource(dev, BAR1, size);' >before && "
	      "echo '\tr = pci_resize_resource(dev, BAR1, size, 0);' >after && "
	      "cp before root/usr/src/nvidia-1/nvidia/nv-pci.c");
	for (int i = 0; i < 3; i++) {
		bu_autofree char *headers = bu_xasprintf(
			"echo '%s' >root/lib/modules/6.1/source/include/linux/pci.h",
			i ? young : old);

		works(headers);
		works(mend);
		works(i ? "cmp after root/usr/src/nvidia-1/nvidia/nv-pci.c"
			: "cmp before root/usr/src/nvidia-1/nvidia/nv-pci.c");
	}
	/* Nothing is passed over that it does not understand. */
	for (size_t i = 0; i < BU_LEN(odd); i++) {
		bu_autofree char *call = bu_xasprintf(
			"printf '%s' >root/usr/src/nvidia-1/nvidia/nv-pci.c", odd[i]);

		works(call);
		fails(mend, "/usr/src/nvidia-1/nvidia/nv-pci.c calls");
	}
	works("printf 'r = pci_resize_resource(dev,\n\t1, size, 0);' "
	      ">root/usr/src/nvidia-1/nvidia/nv-pci.c");
	works(mend);
	works("rm root/lib/modules/6.1/source/include/linux/pci.h");
	fails(mend, "the kernel 6.1 have no /lib/modules/6.1/source/");
	end();
}
END_TEST

START_TEST(a_package_without_sources_is_named)
{
	begin();
	refused("rm -r root/usr/src/*", "what the key dkms names: driver-dkms headers");
	end();
}
END_TEST

BU_UNIT("dkms", the_modules_stay_and_what_built_them_goes,
	a_driver_that_does_not_build_is_named, headers_are_those_of_the_kernel,
	hooks_come_before_the_modules, drivers_learn_of_the_bars_that_stay,
	a_package_without_sources_is_named)
