/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels leave, as the kernel and systemd-pstore write it, in folders of paper.
 */
#include "agent/crash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "model/hello.h"
#include "tests/support/unit.h"

static char root[64];

static void
begin(void)
{
	strcpy(root, "/tmp/bringup-crash-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void
finish(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

static void
put(const char *name, int64_t at_s, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	bu_autofree char *folder =
		bu_xasprintf("%.*s", (int)(strrchr(path, '/') - path), path);
	struct timespec times[2] = {{.tv_sec = at_s}, {.tv_sec = at_s}};

	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", text), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* "Panic 1700000000: a|b"; "" = nothing. Owned. */
static char *
told(void)
{
	bu_autojson json_t *said = bu_crash_read(root);
	struct bu_crash_said crash;
	char *text = NULL;
	size_t size, i;
	const json_t *line;
	FILE *out = open_memstream(&text, &size);

	if (said) {
		ck_assert_int_eq(
			bu_record_from_json(bu_crash_said_fields, said, &crash, NULL),
			0);
		fprintf(out, "%s %lld: ", crash.kind, (long long)crash.at_ms / 1000);
		json_array_foreach (crash.lines, i, line)
			fprintf(out, "%s%s", i ? "|" : "", json_string_value(line));
	}
	fclose(out);
	return text;
}

static void
tells(const char *wanted)
{
	bu_autofree char *text = told();

	ck_assert_str_eq(text, wanted);
}

#define PSTORE "sys/fs/pstore/"
#define KEPT "var/lib/systemd/pstore/"

START_TEST(the_parts_of_a_crash_are_put_together)
{
	begin();
	tells("");
	put(PSTORE "dmesg-efi-170000000001001", 1700000001,
	    "Panic#1 Part1\n<0>[ 9.2] c\n"
	    "<191>[ 9.3] d\n");
	put(PSTORE "dmesg-efi-170000000002001", 1700000000,
	    "Panic#1 Part2\n<6>[ 9.1] a\n"
	    "b");
	tells("Panic 1700000001: [ 9.1] a|b|[ 9.2] c|[ 9.3] d");
	/* more than nine, and not as they are named */
	put(PSTORE "dmesg-efi-170000000010001", 1700000000, "Panic#1 Part10\nbefore\n");
	tells("Panic 1700000001: before|[ 9.1] a|b|[ 9.2] c|[ 9.3] d");
	finish();
}
END_TEST

/* An oops that became a panic is in the log of the panic. */
START_TEST(of_several_dumps_the_last_is_told)
{
	begin();
	put(PSTORE "dmesg-erst-7000000000000000001", 1700000000,
	    "Oops#1 Part1\nBUG: x\n");
	put(PSTORE "dmesg-erst-7000000000000000002", 1700000001,
	    "Panic#2 Part1\nBUG: x\nKernel panic\n");
	tells("Panic 1700000001: BUG: x|Kernel panic");
	/* nor one of last year, in whatever order they are found */
	put(PSTORE "dmesg-erst-6000000000000000001", 1600000000,
	    "Panic#9 Part1\nold\n");
	put(PSTORE "dmesg-erst-9000000000000000001", 1600000000,
	    "Panic#9 Part1\nold\n");
	tells("Panic 1700000001: BUG: x|Kernel panic");
	finish();
}
END_TEST

START_TEST(what_systemd_has_kept_is_read)
{
	begin();
	put(KEPT "1600000000/001/dmesg.txt", 1600000000, "Panic#1 Part1\nold\n");
	put(KEPT "1700000000/001/dmesg.txt", 1700000000,
	    "Oops#1 Part1\nBUG: x\nPanic#2 Part1\nKernel panic\n");
	/* the same in parts, and newer by a moment */
	put(KEPT "1700000000/001/dmesg-efi-170000000001001", 1700000002,
	    "Panic#2 Part1\nKernel panic\n");
	tells("Panic 1700000000: BUG: x|Kernel panic");
	/* and one that it has not moved yet is newer */
	put(PSTORE "dmesg-ramoops-0", 1700000900, "Panic#1 Part1\nagain\n");
	tells("Panic 1700000900: again");
	finish();
}
END_TEST

/* One that has nothing to tell, is too large or cannot be read. */
START_TEST(the_parts_stay_when_the_whole_says_nothing)
{
	bu_autofree char *large = bu_xasprintf("%01100000d\n", 0);
	const char *const texts[] = {"", "Panic#1 Part1\n\n", large};

	for (size_t i = 0; i < BU_LEN(texts); i++) {
		begin();
		put(KEPT "1700000000/dmesg-efi-170000000001001", 1700000000,
		    "Panic#1 Part1\nKernel panic\n");
		put(KEPT "1700000000/dmesg.txt", 1700000000, texts[i]);
		tells("Panic 1700000000: Kernel panic");
		/* nor does a newer record that is empty */
		put(KEPT "1700000000/dmesg-efi-170000090001001", 1700000900, "");
		tells("Panic 1700000000: Kernel panic");
		finish();
	}
}
END_TEST

START_TEST(it_is_short_and_printable)
{
	bu_autofree char *text = NULL;
	bu_autofree char *wide = bu_xasprintf("%0500d\n", 0);
	bu_autojson json_t *said = NULL;
	const json_t *lines, *line;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	begin();
	fprintf(out, "Panic#1 Part1\n");
	for (int n = 0; n < 500; n++)
		fprintf(out, "line %d \033[2J\xff\x01%s", n, wide);
	fprintf(out, "the last\n");
	fclose(out);
	put(PSTORE "dmesg-efi-1", 1700000000, text);
	said = bu_crash_read(root);
	lines = json_object_get(said, "lines");
	ck_assert_uint_eq(json_array_size(lines), BU_CRASH_LINES);
	json_array_foreach (lines, i, line) {
		const char *words = json_string_value(line);

		ck_assert_uint_le(strlen(words), BU_CRASH_LINE);
		for (const char *at = words; *at; at++)
			ck_assert(*at >= ' ' && *at < 0x7f);
	}
	ck_assert_str_eq(json_string_value(json_array_get(lines, BU_CRASH_LINES - 1)),
			 "the last");
	finish();
}
END_TEST

START_TEST(a_crash_takes_a_minute_at_most)
{
	begin();
	put(PSTORE "dmesg-1", 1700000000, "Panic#1 Part1\nc\n");
	put(PSTORE "dmesg-2", 1699999940, "Panic#1 Part2\r\nb\r\n");
	tells("Panic 1700000000: b|c");
	put(PSTORE "dmesg-3", 1700000060, "Panic#1 Part3\na\n");
	tells("Panic 1700000060: a|b|c");
	put(PSTORE "dmesg-4", 1700000121, "Panic#1 Part1\nnew\n");
	put(PSTORE "dmesg-5", 1700000060, "Panic#1 Part2\nold\n");
	tells("Panic 1700000121: new");
	put(PSTORE "dmesg-6", 1700000061, "Panic#1 Part2\nits begin\n");
	tells("Panic 1700000121: its begin|new");
	finish();
}
END_TEST

/* No crash: consoles, traces, what could not be unpacked, folders, nothing in it. */
START_TEST(what_is_no_log_of_a_crash_is_left_out)
{
	bu_autofree char *fifo = NULL;

	begin();
	put(PSTORE "console-ramoops-0", 1700000000, "login:\n");
	put(PSTORE "ftrace-ramoops-0", 1700000000, "x\n");
	put(PSTORE "dmesg-efi-1.enc.z", 1700000000, "x\n");
	put(PSTORE "dmesg-efi-2/readme", 1700000000, "x\n");
	put(PSTORE "dmesg-efi-3", 1700000000, "");
	put(PSTORE "dmesg-efi-4", 1700000000, "Panic#1 Part1\n");
	put(KEPT "1/2/3/dmesg.txt", 1700000000, "too deep\n");
	fifo = bu_xasprintf("%s/" PSTORE "dmesg-efi-8", root); /* nobody writes to it */
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	tells("");
	/* what does not say what it is, is told as it is */
	put(PSTORE "dmesg-efi-5", 1700000000,
	    "Panic#x Part1\nPanic#1 Part1 of 3\n<words\n<1234>x\n");
	tells(" 1700000000: Panic#x Part1|Panic#1 Part1 of 3|<words|<1234>x");
	finish();
	/* and headers alone have nothing to tell */
	begin();
	put(PSTORE "dmesg-efi-7", 1700000000, "Panic#1 Part1\nPanic#1 Part2\n");
	tells("");
	finish();
}
END_TEST

BU_UNIT("crash", the_parts_of_a_crash_are_put_together, a_crash_takes_a_minute_at_most,
	of_several_dumps_the_last_is_told, what_systemd_has_kept_is_read,
	the_parts_stay_when_the_whole_says_nothing, it_is_short_and_printable,
	what_is_no_log_of_a_crash_is_left_out)
