/* SPDX-License-Identifier: Apache-2.0 */
/* An installed agent tells what it finds of itself, and anew when that is another. */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "agent/session.h"
#include "base/file.h"
#include "base/json.h"
#include "model/applied.h"
#include "tests/support/turns.h"
#include "tests/support/unit.h"

static char root[64];

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir =
		bu_xasprintf("%.*s", (int)(strrchr(full, '/') - full), full);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(full, 0644, NULL, "%s", text), 0);
}

static void
make_root(void)
{
	const struct bu_work_file file = {
		.path = "/etc/hostname", .mode = 0644, .content = "node001\n"};
	const struct bu_applied applied = {
		.node = "node001", .step = "s1", .facets = "f1", .kargs = ""};
	bu_autofree char *text = bu_applied_text(&applied, &file, 1);

	strcpy(root, "/tmp/bringup-session-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("/proc/cmdline", "ro\n");
	put("/etc/hostname", "node001\n");
	put(BU_APPLIED_PATH, text);
}

static pid_t
start_agent(int *ret_tell)
{
	struct bu_identity identity = {
		.dir = root, .node = (char *)"node001", .installed = 1};
	struct bu_session session = {.settle_ms = 100, .root = root, .confirmed = 1};

	return start_session(&session, &identity, ret_tell);
}

/* "runs" of the hello of that number. New reference. */
static json_t *
runs_of(const struct appliance *appliance, int number)
{
	bu_autojson json_t *hello = json_loads(appliance->bodies[number], 0, NULL);

	return json_incref(json_object_get(hello, "runs"));
}

START_TEST(an_edited_file_is_told_by_a_new_hello)
{
	static const struct turn turns[] = {
		{HELLO, 200, "{}"}, {WORK, 200, "{\"work\":null}"},
		{HELLO, 200, "{}"}, {WORK, 200, NULL},
		{NULL, 0, NULL},
	};
	struct appliance appliance;
	struct bu_session session;
	struct bu_identity identity;
	bu_autojson json_t *first = NULL, *second = NULL;
	pid_t agent;
	int tell;

	BU_NEEDS("root");
	ck_assert_int_eq(unshare(CLONE_NEWNET | CLONE_NEWNS), 0);
	ck_assert_int_eq(system("ip link set lo up"), 0);
	make_root();
	setenv("D", root, 1);
	agent = start_agent(&tell);
	begin(&appliance, turns, &session, &identity);
	appliance.meanwhile = "sleep 0.3; echo node666 >$D/etc/hostname";
	appliance.meanwhile_at = 1;
	ck_assert_int_eq(write(tell, appliance.url, sizeof(appliance.url)),
			 sizeof(appliance.url));
	wait_for_asks(&appliance, 3);
	kill(agent, SIGKILL);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
	ck_assert_int_ge(appliance.at, 3);
	ck_assert_int_eq(appliance.wrong, 0);
	first = runs_of(&appliance, 0);
	second = runs_of(&appliance, 2);
	ck_assert_str_eq(bu_json_str(first, "facets", ""), "f1");
	ck_assert_ptr_null(json_object_get(first, "differs"));
	ck_assert_str_eq(
		bu_json_str(json_array_get(json_object_get(second, "differs"), 0),
			    "path", ""),
		"/etc/hostname");
	close(tell);
	finish(&appliance, &session, &identity);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("session itself", an_edited_file_is_told_by_a_new_hello)
