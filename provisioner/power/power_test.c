/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd's side of bringup-power: what is asked gets an answer, whatever becomes of
 * the child. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/power/power.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

enum { PATIENCE = 1000, RESTART_MS = 1000 };

static const struct bu_power_bmc bmc = {.driver = "libvirt", .bmc = "t"};

struct site {
	char dir[64];
	char program[80];
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_power *power;
	int answers;
	struct bu_err err;
};

static void
write_program(struct site *site, const char *text)
{
	ck_assert_int_eq(bu_file_write(site->program, text, strlen(text), 0755, NULL),
			 0);
	ck_assert_int_eq(chmod(site->program, 0755), 0);
}

static void
begin(struct site *site, const char *program)
{
	struct bu_err err = {0};

	memset(site, 0, sizeof(*site));
	strcpy(site->dir, "/tmp/bringup-power-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site->dir));
	snprintf(site->program, sizeof(site->program), "%s/child", site->dir);
	write_program(site, program);
	bu_clock_fake(&site->clock, 0);
	site->loop = bu_loop_create(&site->clock);
	site->power = bu_power_create(site->loop, site->program, NULL, &err);
	ck_assert_msg(site->power != NULL, "%s", err.text);
}

static void
finish(struct site *site)
{
	bu_power_destroy(site->power);
	bu_loop_destroy(site->loop);
	ck_assert_int_eq(bu_remove_tree(site->dir, NULL), 0);
}

static void
on_answer(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct site *site = arg;

	ck_assert_int_eq(seen->state, BU_POWER_UNKNOWN);
	ck_assert_ptr_nonnull(err);
	site->err = *err;
	site->answers++;
}

static void
until_answered(struct site *site, int answers)
{
	for (int i = 0; i < PATIENCE && site->answers < answers; i++) {
		bu_clock_advance(&site->clock, 1);
		bu_loop_step(site->loop, 10);
	}
	ck_assert_int_eq(site->answers, answers);
}

START_TEST(a_child_that_dies_answers_what_it_was_asked)
{
	struct site site;

	begin(&site, "#!/bin/sh\nhead -c 1 <&3 >/dev/null\nexit 3\n");
	bu_power_status(site.power, &bmc, on_answer, &site);
	bu_power_status(site.power, &bmc, on_answer, &site);
	until_answered(&site, 2);
	ck_assert_ptr_nonnull(strstr(site.err.text, "child"));
	finish(&site);
}
END_TEST

/* Its program is gone, too (an upgrade that broke off): there is no child to ask, and
 * whoever asks is told so at once. */
START_TEST(without_a_child_whoever_asks_is_told_so)
{
	struct site site;
	struct bu_power_boot how = {.first = BU_BOOT_DISK};

	begin(&site, "#!/bin/sh\nhead -c 1 <&3 >/dev/null\n");
	unlink(site.program);
	bu_power_status(site.power, &bmc, on_answer, &site);
	until_answered(&site, 1);
	bu_clock_advance(&site.clock, RESTART_MS + 1);
	bu_loop_step(site.loop, 0);
	bu_power_boot(site.power, &bmc, &how, on_answer, &site);
	ck_assert_int_eq(site.answers, 2);
	ck_assert_int_eq(site.err.kind, BU_ERR_BUSY);
	ck_assert_str_eq(site.err.text, "bringup-power is not running");
	/* and it comes back when its program does */
	write_program(&site, "#!/bin/sh\nhead -c 1 <&3 >/dev/null\n");
	for (int i = 0; i < 3; i++) {
		bu_clock_advance(&site.clock, RESTART_MS + 1);
		bu_loop_step(site.loop, 0);
	}
	bu_power_status(site.power, &bmc, on_answer, &site);
	until_answered(&site, 3);
	ck_assert_int_ne(site.err.kind, BU_ERR_BUSY);
	finish(&site);
}
END_TEST

/* What the child was asked: a length of four bytes, then JSON. */
static json_t *
wait_for_request(struct site *site)
{
	bu_autofree char *path = bu_xasprintf("%s.said", site->program);

	for (int i = 0; i < PATIENCE; i++) {
		size_t size = 0;
		bu_autofree char *text = NULL;

		bu_loop_step(site->loop, 10);
		text = bu_file_read(path, 0, &size, NULL);
		if (text && size > 4 && text[size - 1] == '}')
			return bu_json_parse(text + 4, size - 4, "it", NULL);
	}
	ck_abort_msg("nothing was asked");
}

/* Owned. */
static char *
asked(struct site *site, const struct bu_power_bmc *of)
{
	bu_autojson json_t *request = NULL;

	bu_power_status(site->power, of, on_answer, site);
	request = wait_for_request(site);
	return bu_json_canonical(request);
}

/* All that it needs to be let in, and nothing that was not said. */
START_TEST(the_child_is_told_what_is_known_of_a_bmc)
{
	static const struct bu_power_bmc full = {.driver = "redfish",
						 .bmc = "10.0.0.7",
						 .credentials = "its-secret",
						 .before = "its-old-secret",
						 .factory = "its-first-secret",
						 .fingerprint = "its-certificate",
						 .media = "its-medium",
						 .media_dir = "its-media"};
	static const char *const words[] = {
		"\"driver\":\"redfish\"",
		"\"target\":\"10.0.0.7\"",
		"\"credentials\":\"its-secret\"",
		"\"before\":\"its-old-secret\"",
		"\"factory\":\"its-first-secret\"",
		"\"fingerprint\":\"its-certificate\"",
		"\"media\":\"its-medium\"",
		"\"media_dir\":\"its-media\"",
	};

	for (int known = 0; known < 2; known++) {
		bu_autofree char *text = NULL;
		struct site site;

		begin(&site, "#!/bin/sh\nexec cat <&3 >$0.said\n");
		text = asked(&site, known ? &full : &bmc);
		ck_assert_ptr_nonnull(text);
		for (size_t i = known ? 0 : 2; i < BU_LEN(words); i++)
			ck_assert_msg((strstr(text, words[i]) != NULL) == known, "%s",
				      text);
		ck_assert_int_eq(strstr(text, "its-") != NULL, known);
		finish(&site);
	}
}
END_TEST

static void
on_report(const json_t *report, const struct bu_err *err, void *arg)
{
	struct site *site = arg;

	site->answers++;
	site->err = err ? *err : (struct bu_err){0};
	ck_assert((report == NULL) == (err != NULL));
	ck_assert_str_eq(bu_json_str(report, "power", ""), report ? "on" : "");
}

static void
call_status(struct bu_power *power, struct site *site)
{
	bu_power_status(power, &bmc, on_answer, site);
}

static void
call_eject(struct bu_power *power, struct site *site)
{
	bu_power_eject(power, &bmc, on_answer, site);
}

static void
call_on(struct bu_power *power, struct site *site)
{
	bu_power_on(power, &bmc, BU_BOOT_NETWORK, on_answer, site);
}

static void
call_off(struct bu_power *power, struct site *site)
{
	bu_power_off(power, &bmc, on_answer, site);
}

static void
call_boot(struct bu_power *power, struct site *site)
{
	static const struct bu_power_boot how = {.first = BU_BOOT_DISK,
						 .wait_off_ms = 5000};

	bu_power_boot(power, &bmc, &how, on_answer, site);
}

static void
call_boot_anew(struct bu_power *power, struct site *site)
{
	static const struct bu_power_boot how = {.reset = 1, .bmc_reset = 1};

	bu_power_boot(power, &bmc, &how, on_answer, site);
}

static void
call_boot_legacy(struct bu_power *power, struct site *site)
{
	static const struct bu_machine machine = {.serial = "SN1"};
	static const struct bu_power_bmc known = {.driver = "libvirt",
						  .bmc = "t",
						  .machine = &machine,
						  .mode = BU_BOOT_MODE_BIOS};
	static const struct bu_power_boot how = {.first = BU_BOOT_MEDIA};

	bu_power_boot(power, &known, &how, on_answer, site);
}

static void
call_reset(struct bu_power *power, struct site *site)
{
	bu_power_reset_bmc(power, &bmc, on_answer, site);
}

static void
call_events(struct bu_power *power, struct site *site)
{
	bu_power_report(power, &bmc, BU_BMC_EVENTS, 77, on_report, site);
}

static void
call_firmware(struct bu_power *power, struct site *site)
{
	bu_power_report(power, &bmc, BU_BMC_FIRMWARE, 0, on_report, site);
}

static void
call_console(struct bu_power *power, struct site *site)
{
	bu_power_console(power, &bmc, "n1", "ipmi", on_report, site);
}

/* Each as a whole, and how long it is waited for. */
START_TEST(each_request_has_its_words_and_its_time)
{
	static const struct {
		void (*call)(struct bu_power *power, struct site *site);
		const char *request;
		int64_t within_ms;
	} rows[] = {
		{call_status, "'op':'status'", 125000},
		{call_eject, "'op':'eject'", 1080000},
		{call_on, "'op':'on','first':'network'", 1080000},
		{call_off, "'op':'off'", 1080000},
		{call_boot,
		 "'op':'boot','first':'disk','wait_off_ms':5000,'reset':false",
		 1085000},
		{call_boot_anew,
		 "'op':'boot','first':'network','wait_off_ms':0,'reset':true,"
		 "'bmc_reset':true",
		 1580000},
		{call_boot_legacy,
		 "'op':'boot','first':'network','wait_off_ms':0,'reset':false,"
		 "'mode':'bios','machine':{'serial':'SN1','uuid':'','macs':[]}",
		 1080000},
		{call_reset, "'op':'bmc-reset'", 500000},
		{call_events, "'op':'events','since_ms':77", 125000},
		{call_firmware, "'op':'firmware','since_ms':0", 125000},
		{call_console, "'op':'console','node':'n1','way':'ipmi'", 125000},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf(
			"{'driver':'libvirt','target':'t','id':1,%s}", rows[i].request);
		bu_autojson json_t *want = quoted(text), *request = NULL;
		bu_autofree char *wanted = bu_json_canonical(want), *got = NULL;
		int64_t from_ms, until_ms;
		struct site site;

		begin(&site, "#!/bin/sh\nexec cat <&3 >$0.said\n");
		from_ms = bu_mono_ms(bu_clock_system());
		rows[i].call(site.power, &site);
		request = wait_for_request(&site);
		until_ms = bu_json_int(request, "until_ms", 0);
		ck_assert_int_ge(until_ms, from_ms + rows[i].within_ms);
		ck_assert_int_le(until_ms,
				 bu_mono_ms(bu_clock_system()) + rows[i].within_ms);
		json_object_del(request, "until_ms");
		got = bu_json_canonical(request);
		ck_assert_str_eq(got, wanted);
		/* and no longer */
		bu_clock_advance(&site.clock, rows[i].within_ms - 1);
		bu_loop_step(site.loop, 0);
		ck_assert_int_eq(site.answers, 0);
		bu_clock_advance(&site.clock, 1);
		bu_loop_step(site.loop, 0);
		ck_assert_int_eq(site.answers, 1);
		ck_assert_int_eq(site.err.kind, BU_ERR_TIMEOUT);
		finish(&site);
	}
}
END_TEST

static struct bu_power_seen the_seen;

static void
on_seen(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct site *site = arg;

	ck_assert_ptr_null(err);
	the_seen = *seen;
	site->answers++;
}

/* A child that answers its first request so. */
static void
begin_answered(struct site *site, const char *answer)
{
	bu_autofree char *program = bu_xasprintf(
		"#!/bin/sh\nhead -c 1 <&3 >/dev/null\n"
		"printf '\\000\\000\\000\\%03o%s' >&3\nexec cat <&3 >/dev/null\n",
		(unsigned)strlen(answer), answer);

	begin(site, program);
}

START_TEST(what_was_seen_is_read_of_the_answer)
{
	static const struct {
		const char *answer;
		struct bu_power_seen seen;
	} rows[] = {
		{"{\"id\":1,\"power\":\"on\"}", {.state = BU_POWER_ON}},
		{"{\"id\":1,\"power\":\"off\"}", {.state = BU_POWER_OFF}},
		{"{\"id\":1,\"power\":\"unknown\"}", {.state = BU_POWER_UNKNOWN}},
		{"{\"id\":1}", {.state = BU_POWER_UNKNOWN}},
		{"{\"id\":1,\"power\":\"on\",\"identity\":\"unsaid\"}",
		 {.state = BU_POWER_ON, .unsaid = 1}},
		{"{\"id\":1,\"power\":\"on\",\"identity\":\"said\"}",
		 {.state = BU_POWER_ON}},
		{"{\"id\":1,\"power\":\"on\",\"started_ms\":700}",
		 {.state = BU_POWER_ON, .started_ms = 700}},
	};
	struct site site;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		begin_answered(&site, rows[i].answer);
		bu_power_status(site.power, &bmc, on_seen, &site);
		until_answered(&site, 1);
		ck_assert_int_eq(the_seen.state, rows[i].seen.state);
		ck_assert_int_eq(the_seen.unsaid, rows[i].seen.unsaid);
		ck_assert_int_eq(the_seen.started_ms, rows[i].seen.started_ms);
		finish(&site);
	}
	begin_answered(&site, rows[0].answer);
	call_events(site.power, &site);
	until_answered(&site, 1);
	finish(&site);
}
END_TEST

/* It is told where it may write; and what is not answered at the end is not any more.
 */
START_TEST(the_child_is_told_its_folder)
{
	bu_autofree char *path = NULL, *text = NULL;
	struct site site;

	begin(&site, "#!/bin/sh\necho \"$@\" >$0.args\nexec cat <&3 >/dev/null\n");
	bu_power_destroy(site.power);
	site.power =
		bu_power_create(site.loop, site.program,
				&(struct bu_power_opts){.state = "/its/state"}, NULL);
	path = bu_xasprintf("%s.args", site.program);
	for (int i = 0; i < PATIENCE && (!text || *text != '-'); i++) {
		bu_loop_step(site.loop, 10);
		free(text);
		text = bu_file_read(path, 0, NULL, NULL);
	}
	ck_assert_str_eq(text, "--state /its/state\n");
	call_status(site.power, &site);
	call_events(site.power, &site);
	finish(&site);
	ck_assert_int_eq(site.answers, 0);
	ck_assert_ptr_null(bu_power_create(site.loop, "/no/such/program", NULL, NULL));
}
END_TEST

BU_UNIT("power", each_request_has_its_words_and_its_time,
	what_was_seen_is_read_of_the_answer, the_child_is_told_its_folder,
	a_child_that_dies_answers_what_it_was_asked,
	without_a_child_whoever_asks_is_told_so,
	the_child_is_told_what_is_known_of_a_bmc)
