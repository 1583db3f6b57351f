/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a console's two files: the last lines, and what came after a place.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/power/console_file.h"
#include "tests/support/unit.h"

enum { MAX = BU_CONSOLE_READ_MAX };

static char dir[64];

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-console-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
finish(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

/* A first line of this name, and so many bytes in all. */
static char *
long_text(const char *name, char byte, size_t size)
{
	char *text = bu_xasprintf("%s\n%*s", name, (int)(size - strlen(name) - 1), "");

	memset(text + strlen(name) + 1, byte, size - strlen(name) - 1);
	return text;
}

START_TEST(the_last_lines_are_of_both_files)
{
	static const struct {
		const char *before, *now; /* NULL: is not there */
		size_t lines;
		const char *tail;
	} rows[] = {
		{NULL, "a\nb\nc\n", 1, "c\n"},
		{NULL, "a\nb\nc\n", 2, "b\nc\n"},
		{NULL, "a\nb\nc\n", 3, "a\nb\nc\n"},
		{NULL, "a\nb\nc\n", 9, "a\nb\nc\n"},
		{NULL, "a\nb\nc", 1, "c"},
		{NULL, "a\nb\nc", 2, "b\nc"},
		{NULL, "\n\n", 1, "\n"},
		{NULL, "", 3, ""},
		{"x\ny\n", "a\nb\n", 3, "y\na\nb\n"},
		{"x\ny", "a\nb\n", 2, "ya\nb\n"},
		{"x\ny\n", "", 1, "y\n"},
		{"", "a\n", 5, "a\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_console_part part;

		begin();
		if (rows[i].before)
			put("n.log.1", rows[i].before);
		put("n.log", rows[i].now);
		ck_assert_int_eq(bu_console_tail(dir, "n", rows[i].lines, &part, NULL),
				 0);
		ck_assert_msg(strcmp(part.bytes, rows[i].tail) == 0, "row %zu: %s", i,
			      part.bytes);
		ck_assert_uint_eq(part.size, strlen(rows[i].tail));
		ck_assert_uint_eq(part.next.offset, strlen(rows[i].now));
		free(part.bytes);
		finish();
	}
}
END_TEST

/* Of both files together, the end. */
START_TEST(a_tail_is_no_longer_than_that)
{
	static const struct {
		size_t before, now, of_before;
	} rows[] = {
		{100, 200, 100},   {MAX, 200, MAX - 200}, {MAX - 200, 200, MAX - 200},
		{MAX, MAX - 1, 1}, {100, MAX, 0},         {100, MAX + 7, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *before = long_text("x", 'b', rows[i].before);
		bu_autofree char *now = long_text("y", 'n', rows[i].now);
		struct bu_console_part part;
		size_t of_now = rows[i].now < MAX ? rows[i].now : MAX;

		begin();
		put("n.log.1", before);
		put("n.log", now);
		ck_assert_int_eq(bu_console_tail(dir, "n", 1000, &part, NULL), 0);
		ck_assert_uint_eq(part.size, rows[i].of_before + of_now);
		ck_assert_mem_eq(part.bytes,
				 before + rows[i].before - rows[i].of_before,
				 rows[i].of_before);
		ck_assert_mem_eq(part.bytes + rows[i].of_before,
				 now + rows[i].now - of_now, of_now);
		ck_assert_uint_eq(part.next.offset, rows[i].now);
		free(part.bytes);
		finish();
	}
}
END_TEST

static struct bu_console_place
read_after(struct bu_console_place at, const char *wanted, int lost)
{
	struct bu_console_part part;

	ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), 0);
	ck_assert_str_eq(part.bytes, wanted);
	ck_assert_uint_eq(part.size, strlen(wanted));
	ck_assert_int_eq(part.lost, lost);
	free(part.bytes);
	return part.next;
}

/* A place is in the file that it was in, also when that has another name by now. */
START_TEST(reading_goes_on_behind_a_place)
{
	struct bu_console_place at = {0};

	begin();
	put("n.log", "one\na\n");
	at = read_after(at, "one\na\n", 0);
	at = read_after(at, "", 0);
	put("n.log", "one\na\nb\n");
	at = read_after(at, "b\n", 0);
	put("n.log.1", "one\na\nb\nc\n");
	put("n.log", "two\nd\n");
	at = read_after(at, "c\ntwo\nd\n", 0);
	at = read_after(at, "", 0);
	put("n.log.1", "two\nd\n");
	put("n.log", "three\n");
	at = read_after(at, "three\n", 0);
	/* two files later it is gone */
	put("n.log.1", "four\n");
	put("n.log", "five\n");
	at = read_after(at, "five\n", 1);
	at = read_after(at, "", 0);
	at.file++;
	at = read_after(at, "five\n", 1);
	/* a first reading begins with what is written now */
	at = read_after((struct bu_console_place){0}, "five\n", 0);
	finish();
}
END_TEST

/* In parts, without a gap; the file before is read to its end first. */
START_TEST(long_files_are_read_in_parts)
{
	bu_autofree char *before = long_text("x", 'b', MAX + 100);
	bu_autofree char *now = long_text("y", 'n', MAX);
	struct bu_console_place at = {0};
	struct bu_console_part part;

	begin();
	put("n.log", before);
	ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), 0);
	ck_assert_uint_eq(part.size, MAX);
	free(part.bytes);
	at.file = part.next.file;
	at.offset = 1;
	put("n.log.1", before);
	put("n.log", now);
	ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), 0);
	ck_assert_uint_eq(part.size, MAX);
	ck_assert_mem_eq(part.bytes, before + 1, MAX);
	ck_assert_int_eq(part.lost, 0);
	free(part.bytes);
	at = part.next;
	ck_assert_uint_eq(at.offset, MAX + 1);
	ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), 0);
	ck_assert_uint_eq(part.size, MAX);
	ck_assert_mem_eq(part.bytes, before + MAX + 1, 99);
	ck_assert_mem_eq(part.bytes + 99, now, MAX - 99);
	free(part.bytes);
	at = part.next;
	ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), 0);
	ck_assert_uint_eq(part.size, 99);
	free(part.bytes);
	finish();
}
END_TEST

/* Nothing yet, or a name that leads elsewhere. */
START_TEST(only_a_file_of_its_own_is_read)
{
	struct bu_console_place at = {0};
	bu_autofree char *link = NULL;
	struct bu_console_part part;
	struct bu_err err = {0};

	begin();
	link = bu_xasprintf("%s/n.log", dir);
	put("other", "secret\n");
	for (int linked = 0; linked < 2; linked++) {
		if (linked)
			ck_assert_int_eq(symlink("other", link), 0);
		ck_assert_int_eq(bu_console_tail(dir, "n", 5, &part, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_int_eq(bu_console_after(dir, "n", &at, &part, NULL), -1);
	}
	finish();
}
END_TEST

/* --- written --- */

static void
expect_file(const char *name, const char *wanted)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, wanted);
}

/* It may be full when it is opened, or lack a byte for that. */
START_TEST(a_full_file_is_put_aside)
{
	for (size_t size = BU_CONSOLE_FILE_MAX - 1; size <= BU_CONSOLE_FILE_MAX;
	     size++) {
		bu_autofree char *text = long_text("x", 'a', size), *path = NULL;
		struct bu_console_file *file;
		struct stat st;

		begin();
		path = bu_xasprintf("%s/n.log.1", dir);
		put("n.log", text);
		file = bu_console_file_open(dir, "n", NULL);
		bu_console_file_write(file, "b", 1);
		ck_assert_int_eq(stat(path, &st) == 0, size == BU_CONSOLE_FILE_MAX);
		bu_console_file_write(file, "c", 1);
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_uint_eq(st.st_size, BU_CONSOLE_FILE_MAX);
		bu_console_file_close(file);
		finish();
	}
}
END_TEST

/* What the disk does not take is lost, and what comes later is not. */
START_TEST(a_file_that_cannot_be_moved_loses_and_stops_nothing)
{
	bu_autofree char *text = NULL, *before = NULL, *path = NULL;
	struct bu_console_file *file;
	struct stat st;

	begin();
	text = long_text("x", 'a', BU_CONSOLE_FILE_MAX);
	before = bu_xasprintf("%s/n.log.1", dir);
	path = bu_xasprintf("%s/n.log", dir);
	put("n.log", text);
	ck_assert_int_eq(mkdir(before, 0700), 0);
	file = bu_console_file_open(dir, "n", NULL);
	bu_console_file_write(file, "lost", 4);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_size, BU_CONSOLE_FILE_MAX);
	unlink(path);
	bu_console_file_write(file, "kept", 4);
	bu_console_file_close(file);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(rmdir(before), 0);
	ck_assert_uint_gt(st.st_size, 4);
	ck_assert_uint_lt(st.st_size, 200);
	finish();
}
END_TEST

/* A line of ours begins one, whether the machine's was ended or not. */
START_TEST(a_mark_is_a_line_of_its_own)
{
	struct bu_console_file *file;

	begin();
	put("n.log", "x\n");
	file = bu_console_file_open(dir, "n", NULL);
	bu_console_file_write(file, "a\n", 2);
	bu_console_file_mark(file, 1000, "one");
	bu_console_file_write(file, "b", 1);
	bu_console_file_mark(file, 2000, "two");
	bu_console_file_close(file);
	expect_file("n.log", "x\na\n[bringup 1970-01-01T00:00:01Z one]\r\nb\r\n"
			     "[bringup 1970-01-01T00:00:02Z two]\r\n");
	finish();
}
END_TEST

BU_UNIT("console files", the_last_lines_are_of_both_files,
	a_tail_is_no_longer_than_that, reading_goes_on_behind_a_place,
	long_files_are_read_in_parts, only_a_file_of_its_own_is_read,
	a_full_file_is_put_aside, a_file_that_cannot_be_moved_loses_and_stops_nothing,
	a_mark_is_a_line_of_its_own)
