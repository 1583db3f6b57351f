/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that opens an encrypted volume, with the real cryptsetup for all that
 * needs no kernel: headers are made and read on a file. Opening, mkfs and mount are
 * paper ones, because not every machine lends device-mapper; the virtual rack has them.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-volume-XXXXXX";

static const char site[] =
	"mkdir -p bin usr/lib/bringup dev/mapper proc && : >proc/mounts &&"
	"head -c 20000000 /dev/zero >part";

static const char *const programs[][2] = {
	{"usr/lib/bringup/cryptsetup",
	 "case $1 in\n"
	 "open) cryptsetup open --test-passphrase --key-file - \"$6\" || exit 2\n"
	 "	echo open \"$7\" >>$PAPER/log; : >$PAPER/dev/mapper/$7 ;;\n"
	 "luksFormat) echo format >>$PAPER/log; exec cryptsetup \"$@\" ;;\n"
	 "*) exec cryptsetup \"$@\" ;; esac\n"},
	{"bin/mkfs.ext4", "echo mkfs \"$*\" >>$PAPER/log; [ ! -e $PAPER/full ]\n"},
	{"bin/mount", "echo mount \"$*\" >>$PAPER/log; [ ! -e $PAPER/broken ]\n"},
	{"bin/modprobe", ":\n"},
};

static char *
sh(const char *command)
{
	bu_autofree char *whole = bu_xasprintf("cd %s && { %s; }", dir, command);
	const char *argv[] = {"sh", "-c", whole, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	struct bu_err err = {0};
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s: %s", command, err.text);
	return out;
}

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-volume-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	free(sh(site));
	for (size_t i = 0; i < BU_LEN(programs); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, programs[i][0]);

		ck_assert_int_eq(bu_file_write_text(path, 0755, NULL,
						    "#!/bin/sh\nPAPER=%s\n%s", dir,
						    programs[i][1]),
				 0);
		ck_assert_int_eq(chmod(path, 0755), 0);
	}
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* With this key; what it wrote to the log, and whether it said so. */
static void
run(const char *key, const char *log, const char *says)
{
	bu_autofree char *command = bu_xasprintf(
		"rm -f log; printf '%s' | PATH=$PWD/bin:$PATH sh "
		"%s/images/build/recipes/volume $PWD/part lake ext4 /lake $PWD >said 2>&1 "
		"&& echo done >>said; true",
		key, BU_SRCDIR);
	bu_autofree char *text = NULL, *said = NULL;

	free(sh(command));
	text = sh("[ ! -e log ] || sed \"s,$PWD/,,g\" log");
	said = sh("sed \"s,$PWD/,,g\" said");
	ck_assert_str_eq(text, log);
	ck_assert_msg(strstr(said, says) != NULL, "%s", said);
}

#define OPEN "open bringup-lake\n"
#define MKFS "mkfs -q dev/mapper/bringup-lake\n"
#define MOUNT "mount -t ext4 dev/mapper/bringup-lake lake\n"

START_TEST(an_empty_partition_is_encrypted_once)
{
	bu_autofree char *label = NULL, *type = NULL;

	BU_NEEDS("cryptsetup");
	begin();
	run("cafe01", "format\n" OPEN MKFS MOUNT,
	    "encrypting part (lake)\nlake is on /lake\n");
	label = sh(
		"cryptsetup luksDump part | grep -E '^(Label|Version)' | tr -s ' \\t' "
		"' '");
	ck_assert_str_eq(label, "Version: 2\nLabel: lake\n");
	type = sh("blkid -p -o value -s TYPE part; ! grep -c cafe01 part");
	ck_assert_str_eq(type, "crypto_LUKS\n0\n");
	/* the next start */
	free(sh("rm dev/mapper/bringup-lake"));
	run("cafe01", OPEN MOUNT, "done\n");
	/* and again, with all of it in place */
	free(sh("echo /dev/mapper/bringup-lake /lake ext4 >proc/mounts"));
	run("cafe01", "", "done\n");
	end();
}
END_TEST

START_TEST(another_key_opens_nothing)
{
	BU_NEEDS("cryptsetup");
	begin();
	run("cafe01", "format\n" OPEN MKFS MOUNT, "done\n");
	free(sh("rm dev/mapper/bringup-lake"));
	run("cafe02", "", "the key does not open part\n");
	run("", "", "there is no key\n");
	end();
}
END_TEST

/* Power went between the header and the file system. */
START_TEST(a_file_system_that_was_not_made_is_made)
{
	BU_NEEDS("cryptsetup");
	begin();
	free(sh(": >full"));
	run("cafe01", "format\n" OPEN MKFS, "mkfs.ext4 failed; is it in the image?\n");
	free(sh("rm full dev/mapper/bringup-lake"));
	run("cafe01", OPEN MKFS MOUNT, "done\n");
	end();
}
END_TEST

START_TEST(what_is_there_is_never_formatted)
{
	static const char *const things[] = {
		"printf x | dd of=part bs=1 seek=1048575 conv=notrunc status=none",
		"mkfs.ext4 -q -F part", "rm part && mkdir part"};

	BU_NEEDS("cryptsetup");
	for (size_t i = 0; i < BU_LEN(things); i++) {
		begin();
		free(sh(things[i]));
		run("cafe01", "", "is not empty and not encrypted by bringup");
		end();
	}
}
END_TEST

BU_UNIT("volume", an_empty_partition_is_encrypted_once, another_key_opens_nothing,
	a_file_system_that_was_not_made_is_made, what_is_there_is_never_formatted)
