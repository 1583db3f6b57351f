/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd's side of bringup-power: what is asked gets an answer, whatever becomes of
 * the child. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/power/power.h"
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

/* What the child was asked: a length of four bytes, then JSON. Owned. */
static char *
asked(struct site *site, const struct bu_power_bmc *of)
{
	bu_autofree char *path = bu_xasprintf("%s.said", site->program);

	bu_power_status(site->power, of, on_answer, site);
	for (int i = 0; i < PATIENCE; i++) {
		size_t size = 0;
		bu_autofree char *text = NULL;

		bu_loop_step(site->loop, 10);
		text = bu_file_read(path, 0, &size, NULL);
		if (text && size > 4 && text[size - 1] == '}')
			return bu_xstrdup(text + 4);
	}
	return NULL;
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

BU_UNIT("power", a_child_that_dies_answers_what_it_was_asked,
	without_a_child_whoever_asks_is_told_so,
	the_child_is_told_what_is_known_of_a_bmc)
