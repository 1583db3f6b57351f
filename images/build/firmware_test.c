/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware that goes into the boot ramdisk: what its modules ask for and the
 * appliance has. modinfo is a paper one. */
#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char dir[40];

/* What the function prints, in a folder of its own. */
static char *
gives(const char *commands)
{
	static const char head[] =
		"RECIPES=. WORK=$PWD; . " BU_SRCDIR "/images/build/recipes/lib.sh; "
		"FIRMWARE=$PWD/host; modinfo() { cat \"${3%.ko}.asks\"; }; ";
	bu_autofree char *text =
		bu_xasprintf("cd %s && { %s %s; } >said 2>&1", dir, head, commands);
	bu_autofree char *path = bu_xasprintf("%s/said", dir);
	int code = system(text);
	char *said = bu_file_read(path, 0, NULL, NULL);

	ck_assert_msg(code == 0, "%s: %s", commands, said);
	return said;
}

/* $1: what each module asks for; "host" has some of it, packed in each way. */
static const char site[] =
	"d=root/lib/modules/6.1/kernel; mkdir -p $d/net host/bnx2x host/qed; "
	"for m in bnx2x:bnx2x/e1.fw,bnx2x/e2.fw qede:qed/q.bin nfp:netronome/n.nffw "
	"ice:intel/ddp.pkg ixgbe:; do : >$d/net/${m%%:*}.ko; "
	"echo ${m#*:} | tr ',' '\\n' | sed '/^$/d' >$d/net/${m%%:*}.asks; done; "
	"echo one >host/bnx2x/e2.fw; echo two | xz >host/qed/q.bin.xz; "
	"mkdir host/intel host/other; echo three | zstd -q >host/intel/ddp.pkg.zst; "
	"echo much >host/other/unasked.bin; ";

START_TEST(the_ramdisk_has_what_its_modules_ask_for)
{
	bu_autofree char *said = NULL, *files = NULL;

	strcpy(dir, "/tmp/bringup-firm-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	{
		bu_autofree char *commands =
			bu_xasprintf("%s adapter_firmware root", site);

		said = gives(commands);
	}
	ck_assert_msg(strstr(said, "no firmware for nfp; where"), "%s", said);
	files = gives("cd root/lib/firmware && find . -type f | sort && "
		      "cat bnx2x/e2.fw qed/q.bin intel/ddp.pkg");
	ck_assert_str_eq(files, "./bnx2x/e2.fw\n./intel/ddp.pkg\n./qed/q.bin\n"
				"one\ntwo\nthree\n");
	free(said);
	/* what cannot be read is no firmware, and no ramdisk is made with it */
	said = gives("rm -r root/lib/firmware; echo broken >host/qed/q.bin.xz; "
		     "! (adapter_firmware root) && "
		     "! grep -q 'this machine has no firmware' said");
	ck_assert_msg(strstr(said, "/qed/q.bin cannot be read") != NULL, "%s", said);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* Another firmware is another ramdisk; a folder that is not there is none. */
START_TEST(a_new_firmware_makes_a_new_ramdisk)
{
	bu_autofree char *none = NULL, *before = NULL, *after = NULL;

	strcpy(dir, "/tmp/bringup-firm-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	none = gives("firmware_inputs");
	ck_assert_str_eq(none, "");
	before = gives("mkdir -p host/b host/a; echo x >host/b/f; echo y >host/a/f; "
		       "firmware_inputs");
	ck_assert_str_eq(before, "a/f 2\nb/f 2\n");
	after = gives("echo longer >host/b/f; firmware_inputs");
	ck_assert_str_eq(after, "a/f 2\nb/f 7\n");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("firmware", the_ramdisk_has_what_its_modules_ask_for,
	a_new_firmware_makes_a_new_ramdisk)
