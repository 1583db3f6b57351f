/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that opens an encrypted volume, with the real cryptsetup for all that
 * needs no kernel: headers are made and read on a file. Opening, mkfs and mount are
 * paper ones, because not every machine lends device-mapper; the virtual rack has them.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/shell.h"
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
	/* Paper: what it seals is a token in the header, as systemd's is. */
	{"usr/lib/bringup/systemd-cryptenroll",
	 "case $1 in --wipe-slot=tpm2) echo wipe \"$*\" >>$PAPER/log\n"
	 "	exec cryptsetup token remove --token-id 0 \"$2\" ;; esac\n"
	 "echo seal \"$PASSWORD\" \"$*\" >>$PAPER/log; [ ! -e $PAPER/full ] || exit 1\n"
	 "echo '{\"type\":\"systemd-tpm2\",\"keyslots\":[],\"tpm2-blob\":\"AA==\","
	 "\"tpm2-pcrs\":[],\"tpm2-policy-hash\":\"00\"}' |\n"
	 "	cryptsetup token import --token-id 0 part\n"},
	{"usr/lib/bringup/systemd-cryptsetup",
	 "echo unseal \"$*\" >>$PAPER/log; [ ! -e $PAPER/cleared ] || exit 1\n"
	 ": >$PAPER/dev/mapper/$2\n"},
	{"bin/mkfs.ext4", "echo mkfs \"$*\" >>$PAPER/log; [ ! -e $PAPER/full ]\n"},
	{"bin/mkfs.xfs", "echo mkfs \"$*\" >>$PAPER/log\n"},
	{"bin/e2fsck", "echo e2fsck \"$*\" >>$PAPER/log; "
		       "exit $(cat $PAPER/errors 2>/dev/null || echo 0)\n"},
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
	shell_programs(dir, "PAPER=", programs, BU_LEN(programs));
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static const char *name = "lake", *fs = "ext4";

/* With this key; what it wrote to the log, and whether it said so. */
static void
run(const char *key, const char *log, const char *says)
{
	bu_autofree char *command = bu_xasprintf(
		"rm -f log; printf '%s' | PATH=$PWD/bin:$PATH sh "
		"%s/images/build/recipes/volume $PWD/part %s %s /lake $PWD >said 2>&1 "
		"&& echo done >>said; true",
		key, BU_SRCDIR, name, fs);
	bu_autofree char *text = NULL, *said = NULL;

	free(sh(command));
	text = sh("[ ! -e log ] || sed \"s,$PWD/,,g\" log");
	said = sh("sed \"s,$PWD/,,g\" said");
	ck_assert_str_eq(text, log);
	ck_assert_msg(strstr(said, says) != NULL, "%s", said);
}

#define OPEN "open bringup-lake\n"
#define MKFS "mkfs -q -F dev/mapper/bringup-lake\n"
#define CHECK "e2fsck -p dev/mapper/bringup-lake\n"
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
	run("cafe01", OPEN CHECK MOUNT, "done\n");
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

/* With errors that need a person it is not mounted; where e2fsck could not look, or is
 * not there, the mount decides. */
START_TEST(a_file_system_is_checked_before_it_is_mounted)
{
	static const struct {
		int code;
		const char *log, *says;
	} rows[] = {
		{1, OPEN CHECK MOUNT, "done\n"},
		{4, OPEN CHECK,
		 "the file system of lake has errors; on the node: e2fsck -f "
		 "dev/mapper/bringup-lake\n"},
		{12, OPEN CHECK, "has errors"},
		{8, OPEN CHECK MOUNT, "done\n"},
		{127, OPEN CHECK MOUNT, "done\n"},
	};

	BU_NEEDS("cryptsetup");
	begin();
	run("cafe01", "format\n" OPEN MKFS MOUNT, "done\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *next = bu_xasprintf(
			"rm -f dev/mapper/bringup-lake; echo %d >errors", rows[i].code);

		free(sh(next));
		run("cafe01", rows[i].log, rows[i].says);
	}
	end();
}
END_TEST

/* Whatever it is called, and by whichever mkfs. */
START_TEST(a_file_system_is_made_once)
{
	static const char *const names[] = {"new", "bringup-new"};

	BU_NEEDS("cryptsetup");
	fs = "xfs";
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *first = NULL, *next = NULL;

		name = names[i];
		begin();
		first = bu_xasprintf("format\nopen bringup-%s\n"
				     "mkfs -q -f dev/mapper/bringup-%s\n"
				     "mount -t xfs dev/mapper/bringup-%s lake\n",
				     name, name, name);
		run("cafe01", first, "done\n");
		next = bu_xasprintf("open bringup-%s\n"
				    "mount -t xfs dev/mapper/bringup-%s lake\n",
				    name, name);
		free(sh("rm dev/mapper/*"));
		run("cafe01", next, "done\n");
		end();
	}
	name = "lake";
	fs = "ext4";
}
END_TEST

/* Power went between the header and its key; a volume in use is another thing. */
START_TEST(what_has_no_key_yet_is_encrypted_again)
{
	BU_NEEDS("cryptsetup");
	begin();
	free(sh(": >full"));
	run("cafe01", "format\n" OPEN MKFS, "mkfs.ext4 failed");
	free(sh("rm full dev/mapper/bringup-lake; cryptsetup luksErase -q part"));
	run("cafe01", "format\n" OPEN MKFS MOUNT, "done\n");
	free(sh("rm dev/mapper/bringup-lake; cryptsetup luksErase -q part"));
	run("cafe01", "", "the key does not open part\n");
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

#define SEAL "seal cafe01 --tpm2-device=auto --tpm2-pcrs= part\n"
#define WIPE "wipe --wipe-slot=tpm2 part\n"
#define UNSEAL "unseal attach bringup-lake part none tpm2-device=auto,headless\n"
#define NEXT_BOOT "rm -rf run dev/mapper/bringup-lake; "

/* Once sealed it needs no key; what the TPM forgets is sealed to it anew by the key. */
START_TEST(the_tpm_opens_what_the_key_has_made)
{
	BU_NEEDS("cryptsetup");
	begin();
	free(sh("mkdir -p etc/bringup && : >etc/bringup/volumes.tpm"));
	run("", "", "there is no key, and the TPM does not open part\n");
	run("cafe01", "format\n" OPEN MKFS MOUNT,
	    "encrypting part (lake)\nlake is on /lake\n"
	    "lake is on /lake, but there is no TPM 2.0\n");
	free(sh(NEXT_BOOT ": >dev/tpmrm0; : >full"));
	run("cafe01", OPEN CHECK MOUNT SEAL,
	    "lake is on /lake\nlake is on /lake, but the TPM does not take its key\n");
	/* again, as the agent tries: it stays open */
	free(sh("rm full; echo x /lake ext4 >proc/mounts"));
	run("cafe01", SEAL, "lake is sealed to the TPM\ndone\n");
	run("", "", "done\n");
	free(sh(NEXT_BOOT ": >proc/mounts"));
	run("", UNSEAL CHECK MOUNT, "lake is on /lake\ndone\n");
	free(sh(NEXT_BOOT ": >cleared"));
	run("", UNSEAL, "there is no key, and the TPM does not open part\n");
	run("cafe01", UNSEAL OPEN CHECK MOUNT WIPE SEAL,
	    "lake is on /lake\nlake is sealed to the TPM\ndone\n");
	/* another machine, or another way to keep keys: the TPM is not asked */
	free(sh(NEXT_BOOT "rm cleared etc/bringup/volumes.tpm"));
	run("", "", "there is no key\n");
	end();
}
END_TEST

BU_UNIT("volume", a_file_system_is_checked_before_it_is_mounted,
	the_tpm_opens_what_the_key_has_made, an_empty_partition_is_encrypted_once,
	another_key_opens_nothing, a_file_system_that_was_not_made_is_made,
	a_file_system_is_made_once, what_has_no_key_yet_is_encrypted_again,
	what_is_there_is_never_formatted)
