/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe of Debian and Ubuntu: where packages come from and what they are trusted
 * by, and what a crashed kernel is followed by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static char dir[40];

#define PRINT "0123456789ABCDEF0123456789ABCDEF01234567"
#define OTHER "89ABCDEF0123456789ABCDEF0123456789ABCDEF"

/* A host whose apt has what the file `targets` says, and mirrors that answer where the
 * file `answers` is. */
static const char *const programs[][2] = {
	{"bin/apt-get",
	 "case $* in *indextargets*) cat targets ;;\n"
	 "*update*) cat $APT_CONFIG >>asked; test -e answers ;;\n"
	 "*download*) : >a.deb ;;\n"
	 "*-s*) test ! -e unsolved || { cat unsolved >&2; exit 100; }\n"
	 "	lists=$(sed -n 's/.*Lists \"\\(.*\\)\";/\\1/p' $APT_CONFIG)\n"
	 "	echo Inst needed \"($(cat version) of)\"\n"
	 "	echo Inst a \"(1-${lists##*/} of)\" ;; esac"},
	{"bin/apt-config", "echo \"folder='/var/host-lists'\""},
	{"bin/dpkg", "test ! -e broken && mkdir -p $3/usr/share/keyrings"},
	{"bin/gpg", "cat $3"},
	{"bin/mmdebstrap", "for a in \"$@\"; do echo \"$a\"; done >bootstrap.args\n"
			   "test ! -e fails || { cat fails >&2; exit 25; }"},
};

static int
run(const char *commands)
{
	bu_autofree char *text = bu_xasprintf(
		"cd %s && export RECIPES=%s/images/build/recipes WORK=%s/work "
		"OUT=%s/out CACHE=%s/cache NAME=site SUITE=trixie PACKAGES='a b' "
		"NO_MODULES= SOURCES= KEYRING= KEYRING_SOURCE= DKMS= DKMS_HOOKS= LEFT_OUT= KEYS= "
		"MIRRORS='deb [signed-by=/usr/share/keyrings/x.gpg] http://own/ trixie "
		"main' PATH=%s/bin:$PATH && mkdir -p work cache && set -- none && "
		". $RECIPES/debian.sh && %s",
		dir, BU_SRCDIR, dir, dir, dir, dir, commands);

	return system(text);
}

static void
works(const char *commands)
{
	ck_assert_msg(run(commands) == 0, "%s", commands);
}

static void
refused(const char *commands, const char *why)
{
	bu_autofree char *text = bu_xasprintf("(%s) >told 2>why", commands);
	bu_autofree char *see = bu_xasprintf("grep -q -- \"%s\" why", why);

	ck_assert_msg(run(text) != 0, "%s", commands);
	works(see);
}

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-debian-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	works("mkdir bin");
	shell_programs(dir, "cd ", programs, BU_LEN(programs));
	works(": >targets && : >answers && echo 1 >version");
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

#define HOST "echo trixie main http://host/ /dev/null:1 >targets && "

#define MORE "MIRRORS='deb [signed-by=/x.gpg] http://own/ trixie main universe' && "

START_TEST(the_hosts_mirrors_come_before_the_recipes)
{
	begin();
	works("sources >told && grep -qx 'deb .signed-by=/usr/share/keyrings/x.gpg. "
	      "http://own/ trixie main' told");
	works(HOST "sources >told && test \"$(cat told)\" = "
		   "'deb http://host/ trixie main'");
	works(HOST "SOURCES='deb http://more/ ./' && sources >told && "
		   "test \"$(sed -n '2p' told)\" = 'deb http://more/ ./' && "
		   "test $(wc -l <told) = 2");
	works("echo bookworm main http://host/ /dev/null:1 >targets && "
	      "sources >told && grep -q http://own/ told && ! grep -q host told");
	works("for c in main universe other; do echo trixie $c http://host/ /dev/null:1; "
	      "done >targets && sources >told && "
	      "test \"$(cat told)\" = 'deb http://host/ trixie main'");
	/* What the host has not fetched its mirror has. */
	works(HOST MORE
	      "sources >told && test \"$(cat told)\" = "
	      "'deb http://host/ trixie main\ndeb http://host/ trixie universe'");
	works("for c in main universe other; do echo trixie $c http://host/ /dev/null:1; "
	      "done >targets");
	works("MIRRORS='deb [signed-by=/x.gpg] http://own/ trixie main universe' && "
	      "sources >told && test \"$(cat told)\" = 'deb http://host/ trixie main\n"
	      "deb http://host/ trixie universe'");
	works(": >targets");
	refused("MIRRORS= && sources", "apt has no sources of trixie");
	end();
}
END_TEST

/* The versions are those of where the packages will come from. */
START_TEST(versions_are_those_of_the_recipes_sources)
{
	begin();
	works("versions a >told && grep -qx 'a 1-lists' told");
	works("grep -q 'Dir::Etc::SourceParts \"-\"' asked && "
	      "grep -h http $CACHE/base/apt-*/sources.list | grep -q http://own/");
	works(HOST "versions a >told && grep -qx 'a 1-host-lists' told");
	works(HOST MORE "versions a >told && grep -qx 'a 1-lists' told");
	works("SOURCES='deb http://more/ ./' && versions a >told && "
	      "grep -qx 'a 1-lists' told");
	/* What a package needs counts, too. */
	works("versions a >one && echo 2 >version && versions a >two && "
	      "! cmp -s one two");
	works("echo 'E: Unable to locate package x' >unsolved");
	refused("versions a x",
		"site: apt finds no such system: Unable to locate package x");
	end();
}
END_TEST

START_TEST(without_an_answer_the_lists_of_before_count)
{
	begin();
	works(": >targets && rm answers");
	refused("versions a", "its mirrors cannot be used");
	works("for apt in $CACHE/base/apt-*; do : >$apt/lists/own_Packages; done && "
	      "versions a >told 2>why && grep -qx 'a 1-lists' told && "
	      "grep -q 'did not answer; the lists are those of before' why");
	end();
}
END_TEST

/* Ubuntu's keys are in a package that Debian has signed. */
START_TEST(a_keyring_is_unpacked_and_not_installed)
{
	static const char keyring[] =
		"KEYRING=keys && KEYRING_SOURCE='deb http://trusted/ trixie main' && ";
	bu_autofree char *take = bu_xasprintf(
		"%s sources >told && grep -q signed-by=$CACHE/base/keys-[0-9a-f]*/x.gpg "
		"told && ! grep -q /usr/share told && "
		"grep -hq http://trusted/ $CACHE/base/apt-*/sources.list",
		keyring);
	bu_autofree char *fail = bu_xasprintf("%s : >broken && sources", keyring);
	bu_autofree char *none = bu_xasprintf("%s rm answers && sources", keyring);

	begin();
	ck_assert_int_ne(run(fail), 0);
	works("rm broken && ! ls $CACHE/base/keys-* 2>/dev/null");
	refused(none, "its mirrors cannot be used");
	works(": >answers && rm -r $CACHE/base");
	works(take);
	works("test -d $CACHE/base/keys-*");
	end();
}
END_TEST

START_TEST(a_pinned_keyring_has_that_key_alone)
{
	static const char *const refusals[][2] = {
		{"echo pub:u: >keys && echo fpr:::::::::" OTHER ": >>keys",
		 "has the keys '" OTHER "', not " PRINT},
		{"(echo pub:u: && echo fpr:::::::::" PRINT ": && echo pub:u: && "
		 "echo fpr:::::::::" OTHER ":) >keys",
		 "has the keys '" PRINT " " OTHER "', not " PRINT " alone"},
		{": >keys", "has the keys ''"},
		{"rm keys", "is missing; fetch the keyring"},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(refusals); i++) {
		works(refusals[i][0]);
		refused("KEYS=\"$PWD/keys " PRINT "\" && sources", refusals[i][1]);
	}
	works("(echo pub:u: && echo fpr:::::::::" PRINT ": && echo sub:u: && "
	      "echo fpr:::::::::" OTHER ":) >keys && "
	      "KEYS=\"$PWD/keys " PRINT "\" && sources >told && grep -q own told");
	end();
}
END_TEST

START_TEST(after_a_crash_the_same_kernel_starts)
{
	begin();
	works("mkdir -p root/usr/sbin && echo initrd >initrd && "
	      "crash_kernel $PWD/root 6.1 initrd && ! test -e root/var");
	works("mkdir -p root/etc/kdump && echo kernel.panic=9 >root/etc/kdump/sysctl.conf");
	works(": >root/usr/sbin/kdump-config && chmod 755 root/usr/sbin/kdump-config && "
	      "mkdir -p root/var/lib/kdump && : >root/var/lib/kdump/initrd.img-5 && "
	      "crash_kernel $PWD/root 6.1 initrd");
	works("cmp initrd root/var/lib/kdump/initrd.img-6.1 && "
	      "test $(readlink root/var/lib/kdump/vmlinuz) = /boot/vmlinuz-6.1 && "
	      "test $(readlink root/var/lib/kdump/initrd.img) = "
	      "/var/lib/kdump/initrd.img-6.1 && "
	      "! test -e root/var/lib/kdump/initrd.img-5");
	/* Without the microcode that is in front of it. */
	works("mkdir -p root/lib/firmware/intel-ucode && "
	      "echo code >root/lib/firmware/intel-ucode/06-8f-08 && "
	      "microcode $PWD/root early && test -s early && cat early initrd >whole && "
	      "crash_kernel $PWD/root 6.1 whole && cmp initrd root/var/lib/kdump/initrd.img-6.1");
	/* As kdump-config compares it. */
	works("cmp root/etc/kdump/sysctl.conf root/var/lib/kdump/latest_sysctls-6.1");
	/* What the recipe brings names the same files. */
	works(". $RECIPES/kdump-tools.conf && "
	      "test $KDUMP_KERNEL$KDUMP_INITRD = "
	      "/var/lib/kdump/vmlinuz/var/lib/kdump/initrd.img && test $USE_KDUMP = 1");
	end();
}
END_TEST

/* What mmdebstrap and apt say is told, and then what helps. */
START_TEST(a_bootstrap_that_fails_says_what_helps)
{
	static const char *const reasons[][2] = {
		{"E: Failed to fetch http://m/pool/x.deb  404  Not Found [IP: 1.2.3.4 80]",
		 "its mirror lists http://m/pool/x.deb and does not have it (404): try"},
		{"tar: write error: No space left on device", "no space left for"},
		{"E: what nobody knows",
		 "site: the bootstrap failed, for the reason above"},
		{"Err:3 http://m trixie InRelease 503\nI: running apt-get update...",
		 "^image: site: running apt-get update$"},
	};

	begin();
	works("bootstrap && ! grep no-autoinstall bootstrap.args && "
	      "grep -q '^--aptopt=Acquire::Retries \"3\"' bootstrap.args && "
	      "grep -q '^--aptopt=APT::Sandbox::User \"root\"' bootstrap.args");
	for (size_t i = 0; i < BU_LEN(reasons); i++) {
		bu_autofree char *fail =
			bu_xasprintf("echo \"%s\" >fails", reasons[i][0]);

		works(fail);
		refused("bootstrap", reasons[i][1]);
		works("grep -qFf fails why && test $(grep -c '^image: ' why) -le 2 && "
		      "rm fails work/bootstrap.failed");
	}
	works("DKMS='d h' && bootstrap && grep -q '^--essential-hook=.*no-autoinstall' "
	      "bootstrap.args && grep -q \"^--customize-hook=DKMS_HOOKS='' .* d h$\" "
	      "bootstrap.args");
	end();
}
END_TEST

/* fontconfig of Ubuntu 22.04 puts a random name into each folder of fonts. */
START_TEST(font_folders_are_the_same_in_each_build)
{
	begin();
	works("forget_font_caches root && mkdir -p root/usr/share/fonts/a && "
	      ": >root/usr/share/fonts/.uuid && : >root/usr/share/fonts/a/.uuid && "
	      ": >root/usr/share/fonts/a/x.ttf && ln -s /etc root/usr/share/fonts/b && "
	      "forget_font_caches root && test \"$(find root/usr/share/fonts -type f)\" = "
	      "root/usr/share/fonts/a/x.ttf");
	end();
}
END_TEST

/* Nobody would run them, and the driver would not be what was asked for. */
START_TEST(hooks_of_dkms_are_of_a_recipe_with_dkms)
{
	begin();
	refused("DKMS_HOOKS=/x/mend build",
		"site: .dkms_hooks. runs before the modules");
	works("! test -e bootstrap.args");
	end();
}
END_TEST

/* Each of these is another system. */
START_TEST(what_is_in_it_makes_another_bootstrap)
{
	static const char *const changes[] = {
		"DKMS=d",          "LEFT_OUT=/x/*", "NO_MODULES=sound",
		"PACKAGES=a",      "SUITE=sid",     "SOURCES='deb http://more/ ./'",
		"echo 2 >version",
	};

	begin();
	works("bootstrap_inputs >first && bootstrap_inputs | cmp - first");
	for (size_t i = 0; i < BU_LEN(changes); i++) {
		bu_autofree char *change = bu_xasprintf(
			"%s && bootstrap_inputs >other && ! cmp -s first other",
			changes[i]);

		works(change);
		works("echo 1 >version");
	}
	works("DKMS=d && bootstrap_inputs >first && DKMS_HOOKS=/dev/null && "
	      "bootstrap_inputs | cmp - first && DKMS_HOOKS=/etc/passwd && "
	      "bootstrap_inputs >other && ! cmp -s first other");
	end();
}
END_TEST

/* It is kept by keep(), which waits for the disk; one that a power cut emptied is none.
 */
START_TEST(an_empty_bootstrap_is_made_again)
{
	begin();
	works("bootstrap_inputs() { echo 1; } && tar() { exit 0; } && "
	      "bootstrap() { echo t >$WORK/root.tar.zst; } && "
	      "keep() { mv $1 $2; echo kept >>kept; } && (build) && (build) && "
	      ": >$(echo cache/base/debian-*.tar.zst) && (build) && "
	      "test $(wc -l <kept) = 2");
	end();
}
END_TEST

BU_UNIT("debian_recipe", the_hosts_mirrors_come_before_the_recipes,
	versions_are_those_of_the_recipes_sources,
	without_an_answer_the_lists_of_before_count,
	a_keyring_is_unpacked_and_not_installed, a_pinned_keyring_has_that_key_alone,
	after_a_crash_the_same_kernel_starts, a_bootstrap_that_fails_says_what_helps,
	font_folders_are_the_same_in_each_build,
	hooks_of_dkms_are_of_a_recipe_with_dkms, what_is_in_it_makes_another_bootstrap,
	an_empty_bootstrap_is_made_again)
