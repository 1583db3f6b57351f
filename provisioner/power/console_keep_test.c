/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which consoles are kept, when a program for one begins and how it ends: against an
 * ipmitool of paper. Time is made.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/power/console.h"
#include "provisioner/power/perform.h"
#include "tests/support/ipmi_tool.h"

#define SOL "sol activate"
#define ENDS "cat >/dev/null" /* at the end of its input */

static struct {
	struct ipmi_tool tool;
	char dir[100];
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_consoles *consoles;
	const char *words;
} site;

static void
begin(void)
{
	memset(&site, 0, sizeof(site));
	unsetenv("TZ");
	ipmi_tool_begin(&site.tool);
	snprintf(site.dir, sizeof(site.dir), "%s/console", site.tool.dir);
	bu_clock_fake(&site.clock, 0);
	site.clock.fake_mono_ms = 1000000;
	site.loop = bu_loop_create(&site.clock);
	site.consoles = bu_consoles_create(site.loop, site.dir);
	ipmi_tool_does(&site.tool, SOL, "echo said; " ENDS);
}

static void
finish(void)
{
	bu_consoles_destroy(site.consoles);
	bu_loop_destroy(site.loop);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ipmi_tool_end(&site.tool);
}

static enum bu_console_state
keep(const char *node, const char *bmc)
{
	return bu_consoles_keep(site.consoles, node, bmc, 60000, &site.words);
}

static void
open_as(const char *node, const char *bmc, const char *digest)
{
	const struct bu_power_target target = {
		.bmc = bmc, .user = "root", .password = "calvin"};
	const struct bu_power_console way = {
		.way = BU_CONSOLE_IPMI, .host = "h", .port = "623", .suite = "3"};

	bu_consoles_open(site.consoles, node, &target, &way, digest);
}

#define until(what)                                                                    \
	do {                                                                           \
		for (int i_ = 0; i_ < 1000 && !(what); i_++)                           \
			bu_loop_step(site.loop, 5);                                    \
		ck_assert(what);                                                       \
	} while (0)

static void
settle(void)
{
	for (int i = 0; i < 8; i++)
		bu_loop_step(site.loop, 5);
}

static void
pass(int64_t ms)
{
	bu_clock_advance(&site.clock, ms);
	bu_loop_step(site.loop, 0);
}

/* Closed, and its program gone. */
static void
until_reaped(const char *node)
{
	until(keep(node, node) != BU_CONSOLE_OPEN);
	until((pass(20), keep(node, node)) == BU_CONSOLE_WAITS &&
	      strcmp(site.words, "its previous session is closing") != 0);
}

/* What is kept of a node, without what tells its file. Owned. */
static char *
kept(const char *node)
{
	struct bu_console_part part;
	char *text;

	if (bu_console_tail(site.dir, node, 1000, &part, NULL) != 0)
		return bu_xstrdup("");
	text = strchr(part.bytes, '\n');
	text = bu_xstrdup(text ? text + 1 : "");
	free(part.bytes);
	return text;
}

static int
has_kept(const char *node, const char *text)
{
	bu_autofree char *all = kept(node);

	return strstr(all, text) != NULL;
}

static int
has_file(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", site.tool.dir, name);

	return access(path, F_OK) == 0;
}

/* --- one program --- */

START_TEST(a_console_is_begun_with_what_is_known_of_it)
{
	static const struct bu_power_console plain = {
		.way = BU_CONSOLE_IPMI, .host = "h", .port = "623"};
	static const struct bu_power_target nobody = {.bmc = "c"};
	bu_autofree char *called = NULL, *text = NULL;

	begin();
	ck_assert_int_eq(keep("n1", "b"), BU_CONSOLE_DUE);
	open_as("n1", "b", "d");
	ck_assert_int_eq(keep("n1", "b"), BU_CONSOLE_OPEN);
	ck_assert_str_eq(site.words, "");
	until(has_kept("n1", "said\n"));
	text = kept("n1");
	ck_assert_str_eq(text, "[bringup 1970-01-01T00:00:00Z console opened]\r\n"
			       "said\n");
	/* it is not begun twice, nor for another BMC, nor where none is kept */
	open_as("n1", "b", "d");
	open_as("n9", "b", "d");
	ck_assert_int_eq(keep("n2", "c"), BU_CONSOLE_DUE);
	open_as("n2", "b", "d");
	ck_assert_int_eq(keep("n2", "c"), BU_CONSOLE_DUE);
	bu_consoles_open(site.consoles, "n2", &nobody, &plain, "");
	until(has_kept("n2", "said\n"));
	called = ipmi_tool_called(&site.tool);
	ck_assert_str_eq(called,
			 "calvin  -v -I lanplus -H h -p 623 -U root -E -C 3 " SOL "\n"
			 "  -v -I lanplus -H h -p 623 -U  -E " SOL "\n");
	finish();
}
END_TEST

/* What the program says before it ends | why the console is not open. */
START_TEST(the_last_words_say_why_it_is_closed)
{
	static const struct {
		const char *says, *why;
	} rows[] = {
		{"true", "it was closed"},
		{"echo one >&2; echo two >&2", "two"},
		{"printf 'one\\ntwo' >&2", "two"},
		{"printf 'one\\r\\r\\n\\n' >&2", "one"},
		{"printf 'x%0300d\\n' 0 >&2", "x0"},
		{"printf 'RAKP 2 HMAC is invalid\\nbye\\n' >&2",
		 "the BMC refuses its credentials"},
		{"echo insufficient resources >&2", "insufficient resources"},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *node = bu_xasprintf("n%zu", i);
		bu_autofree char *line =
			bu_xasprintf(" console closed: %s", rows[i].why);

		ipmi_tool_does(&site.tool, SOL, rows[i].says);
		ck_assert_int_eq(keep(node, node), BU_CONSOLE_DUE);
		open_as(node, node, "d");
		until(has_kept(node, line));
		until_reaped(node);
		if (rows[i].why[0] == 'x')
			ck_assert_uint_eq(strlen(site.words), 199);
		else
			ck_assert_str_eq(site.words, rows[i].why);
	}
	finish();
}
END_TEST

/* Its errors may end before its output does. */
START_TEST(a_program_may_close_its_errors)
{
	begin();
	ipmi_tool_does(&site.tool, SOL, "exec 2>&-; sleep 0.1; echo late; " ENDS);
	keep("n1", "b");
	open_as("n1", "b", "d");
	until(has_kept("n1", "late"));
	ck_assert_int_eq(keep("n1", "b"), BU_CONSOLE_OPEN);
	finish();
}
END_TEST

/* --- when it is begun again --- */

/* The time of its end. */
static int64_t
ends_at_once(const char *node)
{
	int64_t at_ms = site.clock.fake_mono_ms;

	open_as(node, node, "d");
	until_reaped(node);
	ck_assert_str_eq(site.words, "gone");
	return at_ms;
}

static void
pass_until(int64_t at_ms)
{
	pass(at_ms - site.clock.fake_mono_ms);
}

START_TEST(the_pauses_get_longer_up_to_ten_minutes)
{
	static const int64_t pauses_ms[] = {5000,   10000,  20000,  40000, 80000,
					    160000, 320000, 600000, 600000};

	begin();
	ipmi_tool_does(&site.tool, SOL, "echo gone >&2");
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_DUE);
	for (size_t i = 0; i < BU_LEN(pauses_ms); i++) {
		int64_t at_ms = ends_at_once("b");

		/* while it is kept, it is not forgotten */
		bu_consoles_keep(site.consoles, "b", "b", 10000000, &site.words);
		pass_until(at_ms + pauses_ms[i] - 1);
		ck_assert_msg(keep("b", "b") == BU_CONSOLE_WAITS, "pause %zu", i);
		pass(1);
		ck_assert_msg(keep("b", "b") == BU_CONSOLE_DUE, "pause %zu", i);
	}
	/* what is put off is, likewise; and one that is switched on is due at once */
	bu_consoles_put_off(site.consoles, "b", "for now");
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_WAITS);
	ck_assert_str_eq(site.words, "for now");
	bu_consoles_mark(site.consoles, "c", "another");
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_WAITS);
	bu_consoles_mark(site.consoles, "b", "switched on");
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_DUE);
	ck_assert(has_kept("b", " switched on]\r\n"));
	ck_assert(!has_kept("b", "another"));
	pass_until(ends_at_once("b") + 4999);
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_WAITS);
	pass(1);
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_DUE);
	finish();
}
END_TEST

/* Who lasted for more than a minute begins anew. */
START_TEST(a_console_that_lasted_has_a_short_pause)
{
	for (int longer = 0; longer < 2; longer++) {
		begin();
		ipmi_tool_does(&site.tool, SOL, "echo gone >&2");
		keep("b", "b");
		ends_at_once("b");
		pass(5000);
		ipmi_tool_does(&site.tool, SOL,
			       "while test ! -e $dir/go; do sleep 0.02; done; "
			       "echo gone >&2");
		open_as("b", "b", "d");
		bu_consoles_keep(site.consoles, "b", "b", 10000000, &site.words);
		pass(60000 + longer);
		ipmi_tool_put(&site.tool, "go", "");
		until_reaped("b");
		pass(5000);
		ck_assert_int_eq(keep("b", "b"),
				 longer ? BU_CONSOLE_DUE : BU_CONSOLE_WAITS);
		finish();
	}
}
END_TEST

/* Put off is one that is not open; an open one goes on. */
START_TEST(an_open_console_is_not_put_off)
{
	begin();
	keep("b", "b");
	open_as("b", "b", "d");
	bu_consoles_put_off(site.consoles, "b", "for now");
	ck_assert_int_eq(keep("b", "b"), BU_CONSOLE_OPEN);
	ck_assert_str_eq(site.words, "");
	finish();
}
END_TEST

/* --- which are kept --- */

/* One for each BMC, whatever its path or port; a domain is a target of its own. */
START_TEST(a_bmc_has_one_console)
{
	static const struct {
		const char *first, *second;
		int taken;
	} rows[] = {
		{"https://b/redfish/v1/1", "https://b:8443/redfish/v1/2", 1},
		{"https://b", "https://c", 0},
		{"b", "b", 1},
		{"b:623", "b:624", 1},
		{"qemu://b/system#n1", "qemu://b/system#n2", 0},
		{"qemu:///system#n1", "qemu:///system#n1", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		begin();
		ck_assert_int_eq(keep("n1", rows[i].first), BU_CONSOLE_DUE);
		ck_assert_msg(
			keep("n2", rows[i].second) ==
				(rows[i].taken ? BU_CONSOLE_TAKEN : BU_CONSOLE_DUE),
			"row %zu", i);
		ck_assert_str_eq(site.words, rows[i].taken ? "n1" : "");
		ck_assert_int_eq(keep("n1", rows[i].first), BU_CONSOLE_DUE);
		finish();
	}
}
END_TEST

/* Its next BMC is another one: the program of the one before ends. */
START_TEST(a_node_that_moves_has_another_console)
{
	begin();
	ipmi_tool_does(&site.tool, SOL, "echo said; cat >/dev/null; : >$dir/ended");
	keep("n1", "b");
	open_as("n1", "b", "d");
	until(has_kept("n1", "said"));
	ck_assert_int_eq(keep("n1", "c"), BU_CONSOLE_DUE);
	until(has_file("ended"));
	/* and the BMC is free for another */
	pass(20);
	settle();
	pass(20);
	settle();
	ck_assert_int_eq(keep("n2", "b"), BU_CONSOLE_DUE);
	finish();
}
END_TEST

START_TEST(what_nobody_wants_is_ended)
{
	begin();
	ipmi_tool_does(&site.tool, SOL, "echo said; cat >/dev/null; : >$dir/ended");
	for (int i = 0; i < 2; i++) {
		const char *node = i ? "n2" : "n1";

		bu_consoles_keep(site.consoles, node, node, i ? 20000 : 30000,
				 &site.words);
		open_as(node, node, "d");
		until(has_kept(node, "said"));
	}
	pass(10000); /* a sweep each ten seconds */
	pass(10000);
	settle();
	ck_assert(!has_file("ended"));
	pass(10000);
	until(has_file("ended"));
	settle();
	ck_assert(!has_kept("n1", "console closed"));
	ck_assert_int_eq(keep("n1", "n1"), BU_CONSOLE_OPEN);
	finish();
}
END_TEST

START_TEST(a_console_without_a_file_waits)
{
	begin();
	ipmi_tool_put(&site.tool, "console", ""); /* is no folder */
	ck_assert_int_eq(keep("n1", "b"), BU_CONSOLE_WAITS);
	ck_assert_str_eq(site.words, "its file cannot be written");
	unlink(site.dir);
	ck_assert_int_eq(keep("n1", "b"), BU_CONSOLE_DUE);
	finish();
}
END_TEST

/* --- their ends --- */

/* Two seconds to end its session, then TERM, half a second later KILL; its BMC has no
 * other console until then, and others have. */
START_TEST(a_program_has_time_to_end_its_session)
{
	begin();
	ipmi_tool_does(&site.tool, SOL,
		       "trap ': >$dir/term' TERM; echo said; cat >/dev/null; "
		       ": >$dir/eof; while :; do sleep 0.02; done");
	keep("n1", "b");
	open_as("n1", "b", "d");
	until(has_kept("n1", "said"));
	keep("n1", "c");
	until(has_file("eof"));
	ck_assert_int_eq(keep("n2", "b"), BU_CONSOLE_WAITS);
	ck_assert_str_eq(site.words, "its previous session is closing");
	ck_assert_int_eq(keep("n3", "x"), BU_CONSOLE_DUE);
	pass(1999);
	settle();
	ck_assert(!has_file("term"));
	pass(20);
	until(has_file("term"));
	pass(479);
	settle();
	pass(20);
	settle();
	ck_assert_int_eq(keep("n2", "b"), BU_CONSOLE_WAITS);
	pass(20);
	settle();
	pass(20);
	settle();
	ck_assert_int_eq(keep("n2", "b"), BU_CONSOLE_DUE);
	finish();
}
END_TEST

/* What nobody reads any more keeps no program from its end. */
START_TEST(a_program_that_goes_on_writing_ends)
{
	for (int stream = 1; stream <= 2; stream++) {
		bu_autofree char *what = bu_xasprintf(
			"echo said; cat >/dev/null; head -c 300000 /dev/zero >&%d; "
			": >$dir/written",
			stream);

		begin();
		ipmi_tool_does(&site.tool, SOL, what);
		keep("n1", "b");
		open_as("n1", "b", "d");
		until(has_kept("n1", "said"));
		keep("n1", "c");
		for (int i = 0; i < 90 && !has_file("written"); i++) {
			pass(20); /* in all, less than it has */
			bu_loop_step(site.loop, 5);
		}
		ck_assert(has_file("written"));
		finish();
	}
}
END_TEST

/* --- the request --- */

static struct {
	struct bu_power_console way;
	enum bu_err_kind kind;
	int asked, by_ipmi;
	char state[16], words[200];
} paper;

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct bu_power_answer answer = {.console = paper.way};
	struct bu_err err = {.kind = paper.kind, .text = "not reached"};

	ck_assert_int_eq(request->op, BU_POWER_CONSOLE);
	paper.asked++;
	paper.by_ipmi = request->console_ipmi;
	fn(paper.kind ? NULL : &answer, paper.kind ? &err : NULL, arg);
	return NULL;
}

static const struct bu_power_driver driver = {.name = "paper", .start = paper_start};

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	snprintf(paper.state, sizeof(paper.state), "%s",
		 err ? "error" : bu_json_str(reply, "console", ""));
	snprintf(paper.words, sizeof(paper.words), "%s",
		 err ? err->text : bu_json_str(reply, "words", ""));
}

static void
ask(struct bu_performer *performer, const char *node, const char *way,
    const char *wanted)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s?,s:s?}", "op", "console", "target", "b", "node",
			  node, "way", way);
	bu_autofree char *got = NULL;

	bu_perform(performer, request, on_reply, NULL);
	got = bu_xasprintf("%s: %s", paper.state, paper.words);
	ck_assert_str_eq(got, wanted);
}

/* A BMC that was asked in vain is not asked each time; of one that is open none is. */
START_TEST(a_bmc_is_asked_for_its_console_when_it_is_due)
{
	struct bu_performer *performer;

	begin();
	memset(&paper, 0, sizeof(paper));
	performer = bu_performer_create(site.loop, &driver, NULL);
	ask(performer, "n1", "auto", "none: no folder for it");
	bu_performer_keep_consoles(performer, site.dir);
	ask(performer, NULL, "auto", "none: no folder for it");
	paper.kind = BU_ERR_REMOTE;
	ask(performer, "n1", "auto", "error: not reached");
	ask(performer, "n1", "auto", "waits: not reached");
	ck_assert_int_eq(paper.asked, 1);
	ck_assert_int_eq(paper.by_ipmi, 0);
	pass(5000);
	paper.kind = BU_ERR_NONE;
	strcpy(paper.way.why, "it has none");
	ask(performer, "n1", "ipmi", "none: it has none");
	ck_assert_int_eq(paper.by_ipmi, 1);
	ask(performer, "n1", "ipmi", "waits: it has none");
	pass(10000);
	paper.way = (struct bu_power_console){
		.way = BU_CONSOLE_IPMI, .host = "h", .port = "623"};
	ask(performer, "n1", NULL, "open: ");
	ck_assert_int_eq(paper.by_ipmi, 0);
	ask(performer, "n1", NULL, "open: ");
	ask(performer, "n2", NULL, "taken: n1");
	ck_assert_int_eq(paper.asked, 3);
	/* kept for a minute, where it is not said for how long */
	pass(60000);
	settle();
	ask(performer, "n1", NULL, "open: ");
	pass(61000);
	pass(10000);
	ask(performer, "n2", NULL, "waits: its previous session is closing");
	bu_performer_destroy(performer);
	finish();
}
END_TEST

BU_UNIT("consoles that are kept", a_console_is_begun_with_what_is_known_of_it,
	the_last_words_say_why_it_is_closed, a_program_may_close_its_errors,
	the_pauses_get_longer_up_to_ten_minutes,
	a_console_that_lasted_has_a_short_pause, an_open_console_is_not_put_off,
	a_bmc_has_one_console, a_node_that_moves_has_another_console,
	what_nobody_wants_is_ended, a_console_without_a_file_waits,
	a_program_has_time_to_end_its_session, a_program_that_goes_on_writing_ends,
	a_bmc_is_asked_for_its_console_when_it_is_due)
