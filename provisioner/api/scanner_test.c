/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the program of [policy] scanner, and the plan that follows from them. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/text.h"
#include "images/manifest.h"
#include "tests/support/desk.h"
#include "tests/support/shell.h"

#define SBOM "{\"spdxVersion\":\"SPDX-2.3\"}"
#define MINUTE ((int64_t)60 * 1000)

static struct desk desk;
static char program[128], site_line[256];

static char *
at(const char *rest)
{
	return bu_xasprintf("%s/%s", desk.site.rig.dir, rest);
}

/* The image of the desk, with a list of packages. */
static void
describe(void)
{
	bu_autofree char *dir = bu_xasprintf("%s/debian12", desk.site.images);
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	bu_autofree char *sig = bu_xasprintf("%s/manifest.sig", dir);
	bu_autofree char *sbom = bu_xasprintf("%s/" BU_SBOM_FILE, dir);
	bu_autojson json_t *manifest = json_load_file(path, 0, NULL);
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE], signature[129];

	bu_sha256_hex(SBOM, strlen(SBOM), digest);
	json_object_set_new(manifest, "sbom", json_string(digest));
	text = bu_json_canonical(manifest);
	ck_assert_int_eq(bu_sign(desk.private_pem, text, strlen(text), signature, NULL),
			 0);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", text), 0);
	ck_assert_int_eq(bu_file_write_text(sig, 0644, NULL, "%s", signature), 0);
	ck_assert_int_eq(bu_file_write_text(sbom, 0644, NULL, "%s", SBOM), 0);
}

static void
put_program(const char *script, mode_t mode)
{
	ck_assert_int_eq(bu_file_write_text(program, mode, NULL,
					    "#!/bin/sh\ncd '%s' || exit 9\n%s\n",
					    desk.site.rig.dir, script),
			 0);
	ck_assert_int_eq(chmod(program, mode), 0);
}

static void
setup(void)
{
	bu_autofree char *secrets = NULL;

	begin(&desk);
	secrets = at("secrets");
	ck_assert_int_eq(bu_mkdir_p(secrets, 0700, NULL), 0);
	snprintf(program, sizeof(program), "%s/scan", secrets);
	snprintf(site_line, sizeof(site_line),
		 "[policy]\nscanner = exec:%s\n[image debian12]\n", program);
	ck_assert_int_eq(
		bu_confine_begin(
			&(struct bu_confine_opts){secrets, desk.site.images, NULL},
			NULL),
		0);
}

static void
teardown(void)
{
	bu_confine_end();
	end(&desk);
}

static json_t *
planned(void)
{
	return plan(&desk, "[image debian12]\n", site_line, NULL, 200);
}

/* "" = the scanner keeps nothing out. Owned. */
static char *
kept_out(const json_t *answer)
{
	const json_t *refused =
		json_object_get(json_object_get(answer, "plan"), "refused");
	const json_t *one;
	size_t i;

	json_array_foreach (refused, i, one)
		if (!strcmp(bu_json_str(one, "rule", ""), "scanner"))
			return bu_xstrdup(rig_sentence(json_object_get(one, "why")));
	return bu_xstrdup("");
}

/* The words of the plan between the image's name and the policy's line. */
static void
expect(const char *want)
{
	bu_autojson json_t *answer = planned();
	bu_autofree char *have = kept_out(answer);
	bu_autofree char *whole =
		*want ? bu_xasprintf("[image debian12] %s; [policy] scanner = exec:%s "
				     "(site.ini:18)",
				     want, program)
		      : bu_xstrdup("");

	ck_assert_str_eq(have, whole);
}

static size_t
runs(void)
{
	bu_autofree char *path = at("runs");
	bu_autofree char *text = bu_file_read(path, 4096, NULL, NULL);

	return text ? strlen(text) / 2 : 0;
}

#define COUNT "echo x >>runs\n"

START_TEST(the_programs_exit_status_decides)
{
	static const struct {
		const char *script, *want;
	} rows[] = {
		{"exit 0", ""},
		{"echo nothing found", ""},
		{"echo CVE-1 in openssl; echo; echo '  CVE-2 in bash'; exit 1",
		 "is refused by the scanner: CVE-1 in openssl; CVE-2 in bash"},
		{"echo CVE-1 >&2; exit 1", "is refused by the scanner: CVE-1"},
		{"exit 1", "is refused by the scanner: it did not say why"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		setup();
		describe();
		put_program(rows[i].script, 0700);
		expect(rows[i].want);
		teardown();
	}
}
END_TEST

START_TEST(what_cannot_be_judged_is_kept_out)
{
	bu_autofree char *want = NULL;

	setup();
	put_program("exit 0", 0700);
	expect("could not be judged by the scanner: image debian12 has no list of "
	       "packages: it is a whole disk, its system has neither dpkg nor rpm, or "
	       "it was built by a version before; build or import it again");
	teardown();
	setup();
	describe();
	put_program("echo CVE-1; echo no database >&2; exit 2", 0700);
	want = bu_xasprintf("could not be judged by the scanner: '%s' ended with 2: no "
			    "database",
			    program);
	expect(want);
	teardown();
}
END_TEST

START_TEST(a_program_that_others_may_change_is_not_run)
{
	bu_autojson json_t *answer = NULL;
	bu_autofree char *why = NULL;

	setup();
	describe();
	put_program(COUNT, 0777);
	answer = planned();
	why = kept_out(answer);
	ck_assert_msg(strstr(why, "could not be judged by the scanner: ") &&
			      strstr(why, "mode 0777 lets others change it"),
		      "%s", why);
	ck_assert_uint_eq(runs(), 0);
	teardown();
}
END_TEST

START_TEST(a_program_that_is_not_there_accepts_nothing)
{
	bu_autojson json_t *answer = NULL;
	bu_autofree char *why = NULL;

	setup();
	describe();
	answer = planned();
	why = kept_out(answer);
	ck_assert_msg(strstr(why, "could not be judged by the scanner: ") &&
			      strstr(why, "No such file"),
		      "%s", why);
	teardown();
}
END_TEST

/* As rig_pass(), which waits for children, cannot. */
static void
pass(struct talk *talk, int64_t ms)
{
	bu_clock_advance(&desk.site.rig.clock, ms);
	bu_loop_step(desk.site.rig.loop, 5);
	talk_take(talk);
}

static void
ask_plan(struct talk *talk)
{
	struct bu_tree *tree = rig_tree(3, "[image debian12]\n", site_line);
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autojson json_t *request = json_pack("{s:O}", "tree", value);
	bu_autofree char *text = bu_json_canonical(request);

	bu_tree_destroy(tree);
	site_ask(talk, desk.site.local, "POST", "/v1/plan", text);
}

/* The server's other answers do not wait for it. */
START_TEST(a_program_that_hangs_is_ended)
{
	bu_autojson json_t *answer = NULL;
	bu_autofree char *why = NULL, *sig = NULL, *away = NULL;
	struct talk talk, other;

	setup();
	describe();
	put_program("trap '' TERM\n" COUNT "sleep 600", 0700);
	ask_plan(&talk);
	for (int i = 0; i < 2000 && !runs(); i++)
		pass(&talk, 1);
	ck_assert_uint_eq(runs(), 1);
	site_ask(&other, desk.site.local, "GET", "/v1/status", "");
	for (int i = 0; i < 2000 && !other.ended; i++)
		pass(&other, 1);
	ck_assert_int_eq(other.status, 200);
	talk_end(&other);
	/* Whoever read the image again could not verify it, and would answer. */
	sig = bu_xasprintf("%s/debian12/manifest.sig", desk.site.images);
	away = bu_xasprintf("%s.away", sig);
	ck_assert_int_eq(rename(sig, away), 0);
	for (int i = 0; i < 5; i++) {
		bu_fleet_touch(desk.site.rig.fleet, NULL);
		pass(&talk, 200);
	}
	ck_assert_int_eq(rename(away, sig), 0);
	ck_assert_int_eq(talk.ended, 0);
	pass(&talk, 45 * 1000);
	for (int i = 0; i < 2000 && !talk.ended; i++)
		pass(&talk, 10);
	ck_assert_int_eq(talk.status, 200);
	answer = json_loads(talk.body, 0, NULL);
	talk_end(&talk);
	why = kept_out(answer);
	ck_assert_msg(strstr(why, "could not be judged by the scanner: ") &&
			      strstr(why, "did not end within 45000 ms"),
		      "%s", why);
	teardown();
}
END_TEST

START_TEST(the_program_gets_the_list_of_packages)
{
	bu_autofree char *path = NULL, *text = NULL, *name = NULL, *where = NULL;

	setup();
	describe();
	put_program("cat \"$1\" >got; printf %s \"$1\" >where; exit 0", 0700);
	expect("");
	path = at("got");
	text = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_str_eq(text, SBOM);
	name = at("where");
	where = bu_file_read(name, 4096, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(where, "/debian12.spdx.json"));
	ck_assert_int_eq(access(where, F_OK), -1);
	*strrchr(where, '/') = '\0';
	ck_assert_int_eq(access(where, F_OK), -1);
	teardown();
}
END_TEST

START_TEST(an_answer_holds_for_a_while)
{
	setup();
	describe();
	put_program(COUNT "[ ! -e bad ]", 0700);
	rig_write(&desk.site.rig, "bad", "");
	expect("is refused by the scanner: it did not say why");
	expect("is refused by the scanner: it did not say why");
	ck_assert_uint_eq(runs(), 1);
	free(shell_told(desk.site.rig.dir, "rm bad"));
	rig_pass(&desk.site.rig, MINUTE);
	expect("");
	ck_assert_uint_eq(runs(), 2);
	rig_pass(&desk.site.rig, 59 * MINUTE);
	expect("");
	ck_assert_uint_eq(runs(), 2);
	rig_pass(&desk.site.rig, 2 * MINUTE);
	expect("");
	ck_assert_uint_eq(runs(), 3);
	/* another image has the name */
	write_image(&desk, "2026-02-02T00:00:00Z");
	describe();
	expect("");
	ck_assert_uint_eq(runs(), 4);
	teardown();
}
END_TEST

/* An apply makes its plan again, and so does a rebuild. */
START_TEST(what_is_refused_is_not_applied)
{
	bu_autojson json_t *answer = NULL, *refused = NULL, *applied = NULL;

	setup();
	describe();
	put_program("[ ! -e bad ]", 0700);
	rig_write(&desk.site.rig, "bad", "");
	refused = planned();
	json_decref(apply(&desk, refused, 403));
	free(shell_told(desk.site.rig.dir, "rm bad"));
	rig_pass(&desk.site.rig, MINUTE);
	answer = planned();
	/* no longer */
	rig_write(&desk.site.rig, "bad", "");
	rig_pass(&desk.site.rig, 61 * MINUTE);
	json_decref(apply(&desk, answer, 409));
	free(shell_told(desk.site.rig.dir, "rm bad"));
	rig_pass(&desk.site.rig, MINUTE);
	applied = apply(&desk, answer, 200);
	ck_assert_str_ne(bu_json_str(applied, "rollout", ""), "");
	teardown();
}
END_TEST

BU_UNIT("scanner", the_programs_exit_status_decides, what_cannot_be_judged_is_kept_out,
	a_program_that_others_may_change_is_not_run,
	a_program_that_is_not_there_accepts_nothing, a_program_that_hangs_is_ended,
	the_program_gets_the_list_of_packages, an_answer_holds_for_a_while,
	what_is_refused_is_not_applied)
