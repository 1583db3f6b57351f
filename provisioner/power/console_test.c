/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consoles: the files, and serial over LAN of Debian's ipmi_sim, whose serial port is a
 * terminal of ours.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "provisioner/power/console.h"
#include "provisioner/power/console_file.h"
#include "provisioner/power/perform.h"
#include "tests/support/ipmi_sim.h"
#include "tests/support/unit.h"

static char dir[64];

static void
make_dir(void)
{
	strcpy(dir, "/tmp/bringup-console-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static struct bu_console_file *
open_file(void)
{
	struct bu_err err;
	struct bu_console_file *file = bu_console_file_open(dir, "n1", &err);

	ck_assert_msg(file != NULL, "%s", err.text);
	return file;
}

static void
write_text(struct bu_console_file *file, const char *text)
{
	bu_console_file_write(file, text, strlen(text));
}

START_TEST(the_last_lines_are_there_as_they_came)
{
	static const char raw[] = "one\r\n\033[31mtwo\r\nthr\0ee\xff\r\nlogin: ";
	struct bu_console_file *file;
	struct bu_console_part part;

	make_dir();
	ck_assert_int_ne(bu_console_tail(dir, "n1", 3, &part, NULL), 0);
	file = open_file();
	bu_console_file_write(file, raw, sizeof(raw) - 1);
	ck_assert_int_eq(bu_console_tail(dir, "n1", 3, &part, NULL), 0);
	ck_assert_uint_eq(part.size, sizeof(raw) - 1 - 5);
	ck_assert_mem_eq(part.bytes, raw + 5, part.size);
	free(part.bytes);
	/* an open line is ended before ours */
	bu_console_file_mark(file, 0, "switched on");
	ck_assert_int_eq(bu_console_tail(dir, "n1", 2, &part, NULL), 0);
	ck_assert_str_eq(part.bytes,
			 "login: \r\n[bringup 1970-01-01T00:00:00Z switched on]\r\n");
	free(part.bytes);
	bu_console_file_close(file);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* It says when it was begun, which no other file of this process does. */
START_TEST(the_first_line_tells_a_file_from_every_other_one)
{
	struct bu_console_part part;
	int year, seconds, number, pid;

	make_dir();
	bu_console_file_close(open_file());
	ck_assert_int_eq(bu_console_tail(dir, "n1", 1, &part, NULL), 0);
	ck_assert_msg(sscanf(part.bytes,
			     "[bringup %4d-%*2d-%*2dT%*2d:%*2d:%2dZ file %d of %d]",
			     &year, &seconds, &number, &pid) == 4,
		      "%s", part.bytes);
	ck_assert_int_ge(year, 2024);
	ck_assert_int_eq(number, 1);
	ck_assert_int_eq(pid, getpid());
	free(part.bytes);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* A megabyte and a half of numbered lines, read on while it is written: each line once,
 * in order, over the rotation. */
START_TEST(reading_goes_on_over_a_rotation)
{
	struct bu_console_file *file;
	struct bu_console_place at = {0};
	struct bu_console_part part;
	bu_autofree char *path = NULL;
	struct stat st;
	int seen = 0, number;

	make_dir();
	file = open_file();
	for (int i = 0; i < 100000; i++) {
		bu_autofree char *text = bu_xasprintf("line %09d\n", i);

		write_text(file, text);
		if (i % 2000 != 1999)
			continue;
		ck_assert_int_eq(bu_console_after(dir, "n1", &at, &part, NULL), 0);
		ck_assert_int_eq(part.lost, 0);
		for (char *line = strtok(part.bytes, "\n"); line;
		     line = strtok(NULL, "\n")) {
			if (*line == 0x5b)
				continue;
			ck_assert_int_eq(sscanf(line, "line %d", &number), 1);
			ck_assert_int_eq(number, seen++);
		}
		at = part.next;
		free(part.bytes);
	}
	ck_assert_int_gt(seen, 99000);
	/* whoever comes back after both files have gone is told */
	for (int i = 0; i < 200000; i++)
		write_text(file, "line 000000000\n");
	ck_assert_int_eq(bu_console_after(dir, "n1", &at, &part, NULL), 0);
	ck_assert_int_eq(part.lost, 1);
	free(part.bytes);
	/* and two files are all there is */
	path = bu_xasprintf("%s/n1.log.1", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_le(st.st_size, BU_CONSOLE_FILE_MAX);
	ck_assert_int_gt(st.st_size, BU_CONSOLE_FILE_MAX - 100);
	bu_console_file_close(file);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

static void
write_many(struct bu_console_file *file, char byte, size_t count, const char *end)
{
	bu_autofree char *text = bu_xasprintf("%*s%s", (int)count, "", end);

	memset(text, byte, count);
	write_text(file, text);
}

/* How often the byte is in the file; its last one. */
static size_t
count_in(const char *name, char byte, char *ret_last)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	size_t size = 0, count = 0;
	bu_autofree char *text =
		bu_file_read(path, 2 * BU_CONSOLE_FILE_MAX, &size, NULL);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_le(size, BU_CONSOLE_FILE_MAX);
	for (size_t i = 0; i < size; i++)
		count += text[i] == byte;
	*ret_last = text[size - 1];
	return count;
}

/* A line is cut where it is longer than half of a file, or began in it; nothing of it
 * is lost. */
START_TEST(a_file_ends_with_a_line_where_there_is_one)
{
	const size_t half = BU_CONSOLE_FILE_MAX / 2;
	struct bu_console_file *file;
	char last;

	make_dir();
	file = open_file();
	write_many(file, 'A', half + 1000, "\n");
	write_many(file, 'B', half - 2000, "\nDDD"); /* its line fits, the rest too */
	ck_assert_uint_eq(count_in("n1.log", 'D', &last), 3);
	write_many(file, 'C', 2000, "\n"); /* began here: filled up to the byte */
	ck_assert_uint_eq(count_in("n1.log.1", 'B', &last), half - 2000);
	ck_assert_int_eq(last, 'C');
	ck_assert_uint_eq(count_in("n1.log.1", 'C', &last) +
				  count_in("n1.log", 'C', &last),
			  2000);
	write_many(file, 'E', half + 1000, "\n");
	write_many(file, 'F', half, ""); /* would be cut: it begins the next one */
	ck_assert_uint_eq(count_in("n1.log.1", 'F', &last), 0);
	ck_assert_int_eq(last, '\n');
	ck_assert_uint_eq(count_in("n1.log", 'F', &last), half);
	write_text(file, "\n");
	write_many(file, 'G', 2 * half, "\n"); /* longer than any file */
	ck_assert_uint_eq(count_in("n1.log.1", 'G', &last) +
				  count_in("n1.log", 'G', &last),
			  2 * half);
	bu_console_file_close(file);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* One process goes on where the other has ended, in the same file while it has room;
 * it does not know whether the last line was ended. */
START_TEST(the_next_process_goes_on_in_the_file)
{
	struct bu_console_file *file;
	struct bu_console_part part;
	char last;

	make_dir();
	file = open_file();
	write_text(file, "one\n");
	bu_console_file_close(file);
	file = open_file();
	bu_console_file_mark(file, 0, "x");
	bu_console_file_mark(file, 0, "y");
	ck_assert_int_eq(bu_console_tail(dir, "n1", 4, &part, NULL), 0);
	ck_assert_str_eq(part.bytes, "one\n\r\n[bringup 1970-01-01T00:00:00Z x]\r\n"
				     "[bringup 1970-01-01T00:00:00Z y]\r\n");
	free(part.bytes);
	write_many(file, 'X', 2 * BU_CONSOLE_FILE_MAX, "");
	bu_console_file_close(file);
	bu_console_file_close(NULL);
	ck_assert_uint_gt(count_in("n1.log.1", 'X', &last), BU_CONSOLE_FILE_MAX / 2);
	file = open_file();
	write_text(file, "Y");
	ck_assert_uint_eq(count_in("n1.log", 'Y', &last), 1);
	ck_assert_int_eq(last, 'Y');
	bu_console_file_close(file);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* --- serial over LAN --- */

static struct {
	struct bu_ipmi_sim sim;
	struct bu_loop *loop;
	void *driver;
	struct bu_performer *performer;
	int serial; /* the machine's end */
	char state[16], words[400];
	int answered;
} site;

static void
open_serial(char ret_name[64])
{
	struct termios how;
	int fd;

	site.serial = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(site.serial, 0);
	ck_assert_int_eq(grantpt(site.serial), 0);
	ck_assert_int_eq(unlockpt(site.serial), 0);
	ck_assert_int_eq(ptsname_r(site.serial, ret_name, 64), 0);
	fd = open(ret_name, O_RDWR | O_NOCTTY);
	ck_assert_int_eq(tcgetattr(fd, &how), 0);
	cfmakeraw(&how);
	ck_assert_int_eq(tcsetattr(fd, TCSANOW, &how), 0);
	close(fd);
}

static void
begin(void)
{
	bu_autofree char *sol = NULL;
	char name[64];

	memset(&site, 0, sizeof(site));
	make_dir();
	open_serial(name);
	sol = bu_xasprintf("sol \"%s\" 115200\n", name);
	bu_ipmi_sim_start(&site.sim, sol, "");
	site.loop = bu_loop_create(NULL);
	site.driver = bu_power_ipmi.open(site.loop, "", NULL);
	site.performer = bu_performer_create(site.loop, &bu_power_ipmi, site.driver);
	bu_performer_keep_consoles(site.performer, dir);
}

static void
finish(void)
{
	bu_performer_destroy(site.performer);
	bu_power_ipmi.close(site.driver);
	bu_loop_destroy(site.loop);
	bu_ipmi_sim_end(&site.sim);
	close(site.serial);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	(void)arg;
	site.answered = 1;
	snprintf(site.state, sizeof(site.state), "%s",
		 err ? "error" : bu_json_str(reply, "console", ""));
	snprintf(site.words, sizeof(site.words), "%s",
		 err ? err->text : bu_json_str(reply, "words", ""));
}

static void
on_count(const json_t *reply, const struct bu_err *err, void *arg)
{
	(void)reply;
	(void)err;
	(void)arg;
	site.answered++;
}

static void
keep(const char *node)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:s}", "op", "console", "node", node, "target",
			  site.sim.bmc, "credentials", site.sim.reference);

	site.answered = 0;
	bu_perform(site.performer, request, on_reply, NULL);
	for (int i = 0; i < 1000 && !site.answered; i++)
		bu_loop_step(site.loop, 50);
	ck_assert_int_eq(site.answered, 1);
}

/* What its file says, once it has this in it. The machine says `said` all the while:
 * what it says before the session is up is lost. */
static char *
wait_for(const char *text, const char *said)
{
	struct bu_console_part part = {0};

	for (int i = 0; i < 400; i++) {
		free(part.bytes);
		part.bytes = NULL;
		if (i % 10 == 0)
			ck_assert_int_eq(write(site.serial, said, strlen(said)),
					 strlen(said));
		bu_loop_step(site.loop, 50);
		if (bu_console_tail(dir, "n1", 1000, &part, NULL) == 0 &&
		    strstr(part.bytes, text))
			return part.bytes;
	}
	ck_abort_msg("no '%s' in '%s'", text, part.bytes ? part.bytes : "");
}

START_TEST(serial_over_lan_is_kept)
{
	char *text;

	begin();
	keep("n1");
	ck_assert_msg(strcmp(site.state, "open") == 0, "%s: %s", site.state,
		      site.words);
	text = wait_for("Linux version 6.1\r\n", "Linux version 6.1\r\n");
	ck_assert_ptr_nonnull(strstr(text, " console opened]"));
	free(text);
	/* it is not begun twice, and nobody else gets one of this BMC */
	keep("n1");
	ck_assert_str_eq(site.state, "open");
	keep("n2");
	ck_assert_str_eq(site.state, "taken");
	ck_assert_str_eq(site.words, "n1");
	finish();
}
END_TEST

/* Sends a signal to those whose name this is; how many. */
static int
signal_children(const char *wanted, int signo)
{
	bu_autofree char *path = bu_xasprintf("/proc/self/task/%d/children", getpid());
	bu_autofree char *list = bu_file_read(path, 0, NULL, NULL);
	int count = 0;

	ck_assert_ptr_nonnull(list);
	for (char *word = strtok(list, " "); word; word = strtok(NULL, " ")) {
		bu_autofree char *comm = bu_xasprintf("/proc/%s/comm", word);
		char name[32];

		bu_file_line(comm, name, sizeof(name));
		if (strcmp(name, wanted) != 0)
			continue;
		ck_assert_int_eq(kill((pid_t)atoi(word), signo), 0);
		count++;
	}
	return count;
}

/* It is begun again after a while, not at once. */
START_TEST(a_session_that_ends_is_begun_again_later)
{
	begin();
	keep("n1");
	free(wait_for("Grub", "Grub\r\n"));
	ck_assert_int_eq(signal_children("ipmitool", SIGTERM), 1);
	free(wait_for(" console closed: ", "x"));
	keep("n1");
	ck_assert_str_eq(site.state, "waits");
	ck_assert_str_ne(site.words, "");
	for (int i = 0; i < 120 && strcmp(site.state, "open") != 0; i++) {
		bu_loop_step(site.loop, 50);
		keep("n1");
	}
	ck_assert_msg(strcmp(site.state, "open") == 0, "%s: %s", site.state,
		      site.words);
	finish();
}
END_TEST

START_TEST(a_wrong_password_is_asked_for_rarely)
{
	begin();
	bu_ipmi_sim_secret(&site.sim, "admin:wrong");
	for (int i = 0; i < 2; i++) {
		keep("n1");
		ck_assert_str_eq(site.state, i ? "waits" : "error");
	}
	ck_assert_ptr_nonnull(strstr(site.words, "RAKP 2"));
	finish();
}
END_TEST

static struct bu_power_console
way_to_sim(void)
{
	struct bu_power_console way = {.way = BU_CONSOLE_IPMI, .suite = "3"};

	strcpy(way.host, "127.0.0.1");
	strcpy(way.port, strchr(site.sim.bmc, ':') + 1);
	return way;
}

/* So often it was begun. */
static int
times_opened(void)
{
	struct bu_console_part part;
	int count = 0;

	if (bu_console_tail(dir, "n1", 1000, &part, NULL) != 0)
		return 0;
	for (const char *at = part.bytes; (at = strstr(at, " console opened]")); at++)
		count++;
	free(part.bytes);
	return count;
}

/* Tries it whether it is due or not, and waits for its end; why it is not open. */
static const char *
try(struct bu_consoles *consoles, const char *password, const char *digest)
{
	const struct bu_power_target target = {
		.bmc = site.sim.bmc, .user = "admin", .password = password};
	struct bu_power_console way = way_to_sim();
	enum bu_console_state state = BU_CONSOLE_OPEN;
	const char *words = "";

	bu_consoles_keep(consoles, "n1", site.sim.bmc, 60000, &words);
	bu_consoles_open(consoles, "n1", &target, &way, digest);
	for (int i = 0; i < 400 && state == BU_CONSOLE_OPEN; i++) {
		bu_loop_step(site.loop, 50);
		state = bu_consoles_keep(consoles, "n1", site.sim.bmc, 60000, &words);
	}
	ck_assert_int_eq(state, BU_CONSOLE_WAITS);
	for (int i = 0; i < 10; i++) /* its program is gone */
		bu_loop_step(site.loop, 20);
	bu_consoles_keep(consoles, "n1", site.sim.bmc, 60000, &words);
	return words;
}

/* Two tries, and no third one until they are others: a BMC may lock the account. */
START_TEST(refused_credentials_are_tried_twice_at_most)
{
	struct bu_consoles *consoles;
	const char *words;

	begin();
	consoles = bu_consoles_create(site.loop, dir);
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(try(consoles, "wrong", "d1"),
				 "the BMC refuses its credentials");
	ck_assert_int_eq(times_opened(), 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(
			strstr(try(consoles, "wrong", "d1"), "refused twice"));
		/* Its machine is switched on: no reason to ask sooner. */
		bu_consoles_mark(consoles, site.sim.bmc, "switched on");
		ck_assert_int_eq(
			bu_consoles_keep(consoles, "n1", site.sim.bmc, 60000, &words),
			BU_CONSOLE_WAITS);
	}
	ck_assert_int_eq(times_opened(), 2);
	try(consoles, "wrong too", "d2");
	ck_assert_int_eq(times_opened(), 3);
	/* That of a node which is let go meanwhile is nobody's. */
	bu_consoles_put_off(consoles, "n2", "no such");
	bu_consoles_keep(consoles, "n1", site.sim.bmc, 60000, &words);
	ck_assert_ptr_null(strstr(words, "no such"));
	bu_consoles_destroy(consoles);
	finish();
}
END_TEST

/* A BMC has one session: it is ended with the console, and is there for the next one.
 */
START_TEST(a_console_that_is_let_go_is_free)
{
	char *text;

	begin();
	keep("n1");
	free(wait_for("first session", "first session\r\n"));
	bu_performer_destroy(site.performer);
	site.performer = bu_performer_create(site.loop, &bu_power_ipmi, site.driver);
	bu_performer_keep_consoles(site.performer, dir);
	keep("n1");
	ck_assert_msg(strcmp(site.state, "open") == 0, "%s: %s", site.state,
		      site.words);
	text = wait_for("second session", "second session\r\n");
	ck_assert_ptr_null(strstr(text, "console closed"));
	free(text);
	finish();
}
END_TEST

/* However many do not end: whoever ends us waits for a second. */
START_TEST(all_consoles_end_within_one_bound)
{
	enum { CONSOLES = 8 };
	struct bu_consoles *consoles;
	int64_t from_ms;

	begin();
	consoles = bu_consoles_create(site.loop, dir);
	for (int i = 0; i < CONSOLES; i++) {
		bu_autofree char *name = bu_xasprintf("n%d", i);
		bu_autofree char *bmc = bu_xasprintf("127.0.0.%d", i + 2);
		const struct bu_power_target target = {.bmc = bmc, .user = "admin"};
		struct bu_power_console way = way_to_sim();
		const char *words;

		strcpy(way.host, bmc);
		bu_consoles_keep(consoles, name, bmc, 60000, &words);
		bu_consoles_open(consoles, name, &target, &way, "d");
	}
	ck_assert_int_eq(signal_children("ipmitool", SIGSTOP), CONSOLES);
	from_ms = bu_loop_now_ms(site.loop);
	bu_consoles_destroy(consoles);
	ck_assert_int_lt(bu_loop_now_ms(site.loop) - from_ms, 1000);
	finish();
}
END_TEST

/* Two that do not agree where a node's console is: both are answered. */
START_TEST(each_request_is_answered)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost"};

	begin();
	site.answered = 0;
	for (size_t i = 0; i < BU_LEN(hosts); i++) {
		bu_autofree char *bmc =
			bu_xasprintf("%s:%s", hosts[i], strchr(site.sim.bmc, ':') + 1);
		bu_autojson json_t *request =
			json_pack("{s:s,s:s,s:s,s:s}", "op", "console", "node", "n1",
				  "target", bmc, "credentials", site.sim.reference);

		bu_perform(site.performer, request, on_count, NULL);
	}
	for (int i = 0; i < 400 && site.answered < 2; i++)
		bu_loop_step(site.loop, 50);
	ck_assert_int_eq(site.answered, 2);
	finish();
}
END_TEST

BU_UNIT("console", the_last_lines_are_there_as_they_came,
	the_first_line_tells_a_file_from_every_other_one,
	reading_goes_on_over_a_rotation, serial_over_lan_is_kept,
	a_session_that_ends_is_begun_again_later, a_wrong_password_is_asked_for_rarely,
	refused_credentials_are_tried_twice_at_most, a_console_that_is_let_go_is_free,
	all_consoles_end_within_one_bound, each_request_is_answered,
	a_file_ends_with_a_line_where_there_is_one,
	the_next_process_goes_on_in_the_file)
