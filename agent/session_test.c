/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation, with an appliance that is a list of answers. */
#include "agent/session.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "model/hello.h"
#include "tests/support/turns.h"

/* In the way of the linker's --wrap: what probes have left open is let go so often. */
struct bu_prober;
void __wrap_bu_prober_drop(struct bu_prober *prober);
static int drops;

void
__wrap_bu_prober_drop(struct bu_prober *prober)
{
	drops++;
}

START_TEST(its_hellos_have_what_a_crash_left)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},  {WORK, 502, "gone"}, {HELLO, 200, "{}"},
		{WORK, 403, DENIED}, {NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	char root[] = "/tmp/bringup-session-XXXXXX";

	setenv("D", mkdtemp(root), 1);
	ck_assert(system("d=$D/sys/fs/pstore && mkdir -p $d && "
			 "echo no coffee >$d/dmesg-efi-1") == 0);
	begin(&appliance, turns, &session, &identity);
	session.root = root;
	appliance.meanwhile = "rm -r $D/sys";
	appliance.meanwhile_at = 1;
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.at, 4);
	ck_assert_ptr_nonnull(strstr(appliance.bodies[0], "\"crash\":{"));
	for (int i = 0; i < 4; i += 2)
		ck_assert_ptr_nonnull(strstr(appliance.bodies[i], "[\"no coffee\"]"));
	finish(&appliance, &session, &identity);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(it_greets_asks_works_and_tells)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},  {WORK, 200, "{\"work\":null}"},
		{WORK, 200, DANCE},  {RESULT, 200, "{}"},
		{WORK, 403, DENIED}, {NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	bu_autojson json_t *hello = NULL, *asks = NULL, *result = NULL;

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_str_eq(err.text, "not any more");
	ck_assert_int_eq(appliance.at, 5);
	ck_assert_int_eq(appliance.wrong, 0);
	hello = json_loads(appliance.bodies[0], 0, NULL);
	ck_assert_int_eq(bu_json_int(hello, "protocol", 0), BU_AGENT_PROTOCOL);
	ck_assert_str_eq(bu_json_str(hello, "where", ""), "ramdisk");
	ck_assert(json_is_null(json_object_get(hello, "stamp")));
	asks = json_loads(appliance.bodies[1], 0, NULL);
	ck_assert_int_eq(bu_json_int(asks, "protocol", 0), BU_AGENT_PROTOCOL);
	ck_assert_str_ne(bu_json_str(asks, "boot_id", ""), "");
	ck_assert_str_eq(
		bu_json_str(asks, "boot_id", ""),
		bu_json_str(json_object_get(hello, "inventory"), "boot_id", "?"));
	result = json_loads(appliance.bodies[3], 0, NULL);
	ck_assert_str_eq(bu_json_str(result, "id", ""), "w1");
	ck_assert_str_eq(bu_json_str(result, "kind", ""), "dance");
	ck_assert_int_eq(bu_json_int(result, "attempt", 0), 1);
	ck_assert_str_eq(bu_json_str(json_object_get(result, "error"), "text", ""),
			 "this agent does not know work 'dance'");
	/* A ramdisk's root and certificate are not for long. */
	ck_assert_int_eq(session.confirmed, 0);
	ck_assert_int_eq(session.renew_ms, 0);
	/* The poll without work let go of what probes keep, as did the work. */
	ck_assert_int_eq(drops, 2);
	finish(&appliance, &session, &identity);
}
END_TEST

#define LIST                                                                           \
	"{\"v\":1,\"kind\":\"agent\",\"version\":\"2\",\"files\":[" FILE_OF(           \
		"agent") "," FILE_OF("bringup-agent") "," FILE_OF("ld-linux-x86-64.so.2") "]}"
#define FILE_OF(path)                                                                  \
	"{\"path\":\"" path "\",\"mode\":493,\"size_bytes\":0,\"sha256\":\"" HASH "\"}"
#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* $D: a node's slots; this agent is on trial in one, after another that failed. */
static const char new_slot[] =
	"mkdir -p $D/slots/a && printf '%s' '" LIST "' >$D/slots/a/bundle.json && "
	"echo 2 start >$D/trial && printf '" HASH " 1.9\nstart\nsilent\n' >$D/back";

START_TEST(a_new_agent_says_so_until_it_stays)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},  {WORK, 200, NULL},
		{HELLO, 200, "{}"},  {WORK, 200, "{\"work\":null}"},
		{WORK, 403, DENIED}, {NULL, 0, NULL},
	};
	char dir[] = "/tmp/bringup-session-XXXXXX";
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	bu_autojson json_t *first = NULL, *second = NULL;
	const json_t *agent, *failed;

	setenv("D", mkdtemp(dir), 1);
	ck_assert_int_eq(system(new_slot), 0);
	setenv("BRINGUP_SLOTS", dir, 1);
	setenv("BRINGUP_SLOT", "slots/a", 1);
	begin(&appliance, turns, &session, &identity);
	session.trial_ms = HOLD_MS / 2;
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_int_eq(appliance.at, 5);
	first = json_loads(appliance.bodies[0], 0, NULL);
	agent = json_object_get(first, "agent");
	ck_assert_str_eq(bu_json_str(agent, "version", ""), "2");
	ck_assert_uint_eq(strlen(bu_json_str(agent, "digest", "")), 64);
	ck_assert_int_eq(bu_json_bool(agent, "trial", 0), 1);
	failed = json_object_get(agent, "failed");
	ck_assert_str_eq(bu_json_str(failed, "version", ""), "1.9");
	ck_assert_str_eq(bu_json_str(failed, "digest", ""), HASH);
	ck_assert_str_eq(bu_json_str(failed, "why", ""), "silent");
	second = json_loads(appliance.bodies[2], 0, NULL);
	agent = json_object_get(second, "agent");
	ck_assert_str_eq(bu_json_str(agent, "version", ""), "2");
	ck_assert_ptr_null(json_object_get(agent, "failed"));
	ck_assert_int_eq(bu_json_bool(agent, "trial", 0), 0);
	ck_assert_int_eq(system("! ls $D/trial $D/back 2>/dev/null && rm -r $D"), 0);
	unsetenv("BRINGUP_SLOTS");
	finish(&appliance, &session, &identity);
}
END_TEST

/* The hello alone proves nothing, and neither does an item that was only begun. */
START_TEST(a_new_agent_notes_its_work)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},  {WORK, 200, DANCE}, {RESULT, 200, "{}"},
		{WORK, 403, DENIED}, {NULL, 0, NULL},
	};
	char dir[] = "/tmp/bringup-session-XXXXXX";
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};

	setenv("D", mkdtemp(dir), 1);
	ck_assert_int_eq(system(new_slot), 0);
	setenv("BRINGUP_SLOTS", dir, 1);
	setenv("BRINGUP_SLOT", "slots/a", 1);
	begin(&appliance, turns, &session, &identity);
	appliance.meanwhile_at = 2;
	appliance.meanwhile = "printf '2 start\\nwork\\n' | cmp - $D/trial";
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_int_eq(appliance.at, 4);
	ck_assert_int_eq(
		system("printf '2 start\\nwork\\nworked\\n' | cmp - $D/trial && rm -r $D"),
		0);
	unsetenv("BRINGUP_SLOTS");
	finish(&appliance, &session, &identity);
}
END_TEST

START_TEST(a_result_is_told_until_it_is_heard_and_work_is_not_done_twice)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},
		{WORK, 200, DANCE},
		{RESULT, 503, "{\"error\":{\"kind\":\"busy\",\"text\":\"wait\"}}"},
		{RESULT, 200, "{}"},
		{HELLO, 200, "{}"}, /* it may have been started anew */
		{WORK, 200, DANCE}, /* it had forgotten */
		{RESULT, 200, "{}"},
		{WORK, 403, DENIED},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	/* who is busy is left alone for a second */
	ck_assert_int_ge(bu_mono_ms(bu_clock_system()) - begin_ms, 1000);
	ck_assert_int_eq(appliance.at, 8);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_str_eq(appliance.bodies[2], appliance.bodies[3]);
	ck_assert_str_eq(appliance.bodies[2], appliance.bodies[6]);
	finish(&appliance, &session, &identity);
}
END_TEST

/* Each time that an install begins it tells its stage: seen from there, it is done once
 * for each id and attempt, however often it is asked for. */
START_TEST(work_is_done_once_for_its_id_and_attempt)
{
/* clang-format off */
#define INSTALL(id, attempt)                                                           \
	"{\"work\":{\"id\":\"" id "\",\"attempt\":" attempt ",\"kind\":\"install\","       \
	"\"base_url\":\"\",\"image\":\"i\",\"digest\":\"\",\"image_key\":\"\","              \
	"\"appliance_key\":\"\",\"wipe\":false,\"keep\":false,\"kargs\":\"\","               \
	"\"mark\":{\"text\":\"\",\"sig\":\"\"},\"stamp\":{\"text\":\"\",\"sig\":\"\"},"      \
	"\"disk\":\"\",\"disk_serial\":\"\",\"disk_size_bytes\":0,\"data\":[],"              \
	"\"root_bytes\":0,\"files\":[]}}"
/* clang-format on */
#define PROGRESS "/v1/agent/progress"
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},
		{WORK, 200, INSTALL("w1", "1")},
		{PROGRESS, 200, "{\"cancel\":true}"},
		{RESULT, 200, "{}"},
		{WORK, 200, INSTALL("w1", "1")},
		{RESULT, 200, "{}"},
		{WORK, 200, INSTALL("w1", "2")},
		{PROGRESS, 200, "{\"cancel\":true}"},
		{RESULT, 200, "{}"},
		{WORK, 200, INSTALL("w2", "2")},
		{PROGRESS, 200, "{\"cancel\":true}"},
		{RESULT, 200, "{}"},
		{WORK, 403, DENIED},
		{NULL, 0, NULL},
	};
	static const char *const files[] = {"key.pem", "cert.pem", "ca.pem"};
	char dir[] = "/tmp/bringup-agent-XXXXXX";
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, files[i]);

		ck_assert_int_eq(bu_file_write(path, "x", 1, 0600, NULL), 0);
	}
	begin(&appliance, turns, &session, &identity);
	free(identity.dir);
	identity.dir = bu_xstrdup(dir);
	identity.url = bu_xstrdup("");
	free(identity.boot_url);
	identity.boot_url = bu_xstrdup("");
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.at, 13);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_str_eq(appliance.bodies[3], appliance.bodies[5]);
	finish(&appliance, &session, &identity);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* What it cannot tell a result of it does not do. */
START_TEST(work_without_an_attempt_is_not_done)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},
		{WORK, 200, "{\"work\":{\"id\":\"w1\",\"kind\":\"dance\"}}"},
		{HELLO, 403, DENIED},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_ptr_null(session.last_result);
	finish(&appliance, &session, &identity);
}
END_TEST

START_TEST(after_an_outage_it_greets_again)
{
	static const struct turn turns[] = {
		{HELLO, 500, "boom"}, {HELLO, 200, "{}"},  {WORK, 502, "gone"},
		{HELLO, 200, "{}"},   {WORK, 403, DENIED}, {NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.at, 5);
	ck_assert_int_eq(appliance.wrong, 0);
	/* after one second, and the next time after two */
	ck_assert_int_ge(bu_mono_ms(bu_clock_system()) - begin_ms, 3000);
	finish(&appliance, &session, &identity);
}
END_TEST

/* Not of a system that is not installed yet, and not twice what was refused once. */
START_TEST(a_result_that_is_refused_is_not_told_again)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},
		{WORK, 200,
		 "{\"work\":{\"id\":\"c1\",\"attempt\":1,\"kind\":\"configure\"}}"},
		{RESULT, 502, "gone"},
		{RESULT, 400, "{\"error\":{\"kind\":\"invalid\",\"text\":\"no\"}}"},
		{HELLO, 200, "{}"}, /* the first answer was none of it */
		{WORK, 200, DANCE},
		{RESULT, 409, "{\"error\":{\"kind\":\"wrong-state\",\"text\":\"no\"}}"},
		{WORK, 403, DENIED},
		{NULL, 0, NULL},
	};
	static const char *const stamps[] = {"stamp.json", "stamp.sig"};
	char dir[] = "/tmp/bringup-agent-XXXXXX";
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	bu_autojson json_t *hello = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(stamps); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, stamps[i]);

		ck_assert_int_eq(bu_file_write(path, "x", 1, 0600, NULL), 0);
	}
	begin(&appliance, turns, &session, &identity);
	free(identity.dir);
	identity.dir = bu_xstrdup(dir);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.at, 8);
	ck_assert_int_eq(appliance.wrong, 0);
	hello = json_loads(appliance.bodies[0], 0, NULL);
	ck_assert(json_is_null(json_object_get(hello, "stamp")));
	finish(&appliance, &session, &identity);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* The links may be others now, whatever became of the change. */
START_TEST(after_a_change_it_greets_again)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"},
		{WORK, 200,
		 "{\"work\":{\"id\":\"c1\",\"attempt\":1,\"kind\":\"configure\"}}"},
		{RESULT, 200, "{}"},
		{HELLO, 200, "{}"},
		{WORK, 403, DENIED},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};
	bu_autojson json_t *result = NULL;

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.at, 5);
	ck_assert_int_eq(appliance.wrong, 0);
	result = json_loads(appliance.bodies[2], 0, NULL);
	ck_assert_str_eq(bu_json_str(json_object_get(result, "error"), "text", ""),
			 "the boot ramdisk has no configuration to change");
	finish(&appliance, &session, &identity);
}
END_TEST

/* Waits until that many were asked; there is no hurry. */
static pid_t
start_agent(const char *dir, int *ret_tell)
{
	struct bu_identity identity = {.dir = (char *)(uintptr_t)dir,
				       .node = (char *)"node001",
				       .installed = 1};
	struct bu_session session = {.settle_ms = 100};

	return start_session(&session, &identity, ret_tell);
}

#define ADD_LINK "ip link add left type veth peer name right"

/* In a network of its own, where a link comes up while it greets or, with
 * `meanwhile` NULL, in the middle of a poll. */
static void
see_link_come(const char *meanwhile)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"}, {WORK, 200, NULL}, {HELLO, 200, "{}"},
		{WORK, 200, NULL},  {NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	pid_t agent;
	int tell;

	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("sysfs", "/sys", "sysfs", 0, NULL), 0);
	ck_assert_int_eq(system("ip link set lo up"), 0);
	agent = start_agent("/no/such", &tell);
	begin(&appliance, turns, &session, &identity);
	appliance.meanwhile = meanwhile;
	ck_assert_int_eq(write(tell, appliance.url, sizeof(appliance.url)),
			 sizeof(appliance.url));
	wait_for_asks(&appliance, 2);
	if (!meanwhile)
		ck_assert_int_eq(system(ADD_LINK), 0);
	wait_for_asks(&appliance, 3);
	kill(agent, SIGKILL);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	ck_assert_int_ge(appliance.at, 3);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_ptr_null(strstr(appliance.bodies[0], "\"left\""));
	ck_assert_ptr_nonnull(strstr(appliance.bodies[2], "\"left\""));
	close(tell);
	finish(&appliance, &session, &identity);
}

START_TEST(a_poll_ends_when_a_link_moves)
{
	BU_NEEDS("root");
	see_link_come(NULL);
}
END_TEST

START_TEST(a_link_that_moves_while_it_greets_is_told_next)
{
	BU_NEEDS("root");
	see_link_come(ADD_LINK);
}
END_TEST

/* What a crash left behind: at start, and when the old certificate is refused, because
 * the appliance heard of the new one and we did not hear its answer. */
START_TEST(a_pair_that_was_not_used_yet_is_tried_first)
{
	static const struct turn turns[] = {
		{CONFIRM, 502, "gone"}, {HELLO, 403, DENIED}, {CONFIRM, 200, "{}"},
		{HELLO, 200, "{}"},     {WORK, 200, NULL},    {NULL, 0, NULL},
	};
	char dir[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *next = NULL, *pair = NULL;
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	pid_t agent;
	int tell;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	next = bu_xasprintf("%s/pair.next.pem", dir);
	pair = bu_xasprintf("%s/pair.pem", dir);
	ck_assert_int_eq(bu_file_write(next, "x", 1, 0600, NULL), 0);
	agent = start_agent(dir, &tell);
	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(write(tell, appliance.url, sizeof(appliance.url)),
			 sizeof(appliance.url));
	wait_for_asks(&appliance, 5);
	kill(agent, SIGKILL);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	ck_assert_int_eq(appliance.at, 5);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_int_eq(bu_file_exists(next), 0);
	ck_assert_int_eq(bu_file_exists(pair), 1);
	close(tell);
	finish(&appliance, &session, &identity);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(progress_may_be_told_to_stop_and_may_be_lost)
{
	static const struct turn turns[] = {
		{"/v1/agent/progress", 200, "{\"cancel\":false}"},
		{"/v1/agent/progress", 200, "{\"cancel\":true}"},
		{"/v1/agent/progress", 500, "boom"},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	bu_autojson json_t *said = NULL;

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_link_progress(&session.link, "w1", "root", 5, 10), 0);
	ck_assert_int_eq(bu_link_progress(&session.link, "w1", "root", 6, 10), 1);
	ck_assert_int_eq(bu_link_progress(&session.link, "w1", "root", 7, 10), 0);
	said = json_loads(appliance.bodies[0], 0, NULL);
	ck_assert_str_eq(bu_json_str(said, "stage", ""), "root");
	ck_assert_int_eq(bu_json_int(said, "done_bytes", 0), 5);
	ck_assert_int_eq(bu_json_int(said, "total_bytes", 0), 10);
	finish(&appliance, &session, &identity);
}
END_TEST

#define LOW_DANCE                                                                      \
	"{\"work\":{\"id\":\"w1\",\"attempt\":1,\"kind\":\"dance\"},\"epoch\":8}"
#define ANCHOR                                                                              \
	"{\"text\":\"{\\\"epoch\\\":9,\\\"hash\\\":\\\"\\\",\\\"kind\\\":\\\"anchor\\\","   \
	"\\\"made_ms\\\":1,\\\"revoked\\\":\\\"ff\\\",\\\"seq\\\":3,\\\"site\\\":\\\"\\\"," \
	"\\\"time_ms\\\":1,\\\"v\\\":1}\",\"sig\":\"5a\"}"

/* Another appliance has the address by now: neither its work is done nor its greeting
 * taken, and it hears of the higher epoch. */
START_TEST(work_of_a_lower_epoch_is_not_done)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{\"epoch\":9,\"anchor\":" ANCHOR "}"},
		{WORK, 200, "{\"work\":null,\"epoch\":9}"},
		{WORK, 200, LOW_DANCE},
		{HELLO, 200, "{\"epoch\":8}"},
		{HELLO, 200, "{\"epoch\":10}"},
		{WORK, 403, DENIED},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	struct bu_err err = {0};

	begin(&appliance, turns, &session, &identity);
	ck_assert_int_eq(bu_session_run(&session, &err), -1);
	ck_assert_int_eq(appliance.wrong, 0);
	ck_assert_int_eq(appliance.at, 6);
	ck_assert_ptr_null(strstr(appliance.bodies[0], "\"anchor\""));
	ck_assert_ptr_nonnull(strstr(appliance.bodies[1], "\"revoked\":\"ff\""));
	for (int i = 3; i < 5; i++)
		ck_assert_ptr_nonnull(strstr(appliance.bodies[i], "\"sig\":\"5a\""));
	finish(&appliance, &session, &identity);
}
END_TEST

BU_UNIT("session", work_of_a_lower_epoch_is_not_done, it_greets_asks_works_and_tells,
	its_hellos_have_what_a_crash_left, a_new_agent_says_so_until_it_stays,
	a_new_agent_notes_its_work,
	a_result_is_told_until_it_is_heard_and_work_is_not_done_twice,
	work_is_done_once_for_its_id_and_attempt, work_without_an_attempt_is_not_done,
	after_an_outage_it_greets_again, a_result_that_is_refused_is_not_told_again,
	after_a_change_it_greets_again, a_poll_ends_when_a_link_moves,
	a_link_that_moves_while_it_greets_is_told_next,
	a_pair_that_was_not_used_yet_is_tried_first,
	progress_may_be_told_to_stop_and_may_be_lost)
