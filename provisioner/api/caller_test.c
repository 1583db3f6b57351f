/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the log as the one who did it: over the unix socket that bringupd listens
 * on, from processes of their own.
 */
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "tests/support/desk.h"

enum { NOBODY = 65534, UNNAMED = 54321 };

static struct desk desk;
static char path[96];

static void
setup(void)
{
	struct bu_err err = {0};
	int fd;

	begin(&desk);
	snprintf(path, sizeof(path), "%s/sock", desk.site.rig.dir);
	fd = bu_listen_unix(path, &err);
	ck_assert_msg(fd >= 0, "%s", err.text);
	/* The folder is for its owner alone, and so is the socket: not in here. */
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(chmod(desk.site.rig.dir, 0755), 0);
	ck_assert_int_eq(
		bu_server_listen(desk.site.api.server, BU_LISTEN_LOCAL, fd, NULL, &err),
		0);
}

/* In a process of this user; its exit status. */
static int
speak(uid_t uid, const char *where, const char *text)
{
	bu_autojson json_t *body = json_loads(text, 0, NULL);
	struct bu_http *http = bu_http_create(&(struct bu_http_opts){
		.base_url = "http://localhost", .unix_socket = path});
	struct bu_err err = {0};

	if (uid != getuid() && setresuid(uid, uid, uid) != 0)
		return 2;
	if (bu_http_json(http, &(struct bu_http_call){"POST", where, body, 20000}, NULL,
			 &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.text);
	return 1;
}

static void
send_as(uid_t uid, const char *where, const char *text)
{
	pid_t pid = fork();
	int status = -1;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(speak(uid, where, text));
	for (int i = 0; i < 20000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		rig_pass(&desk.site.rig, 1);
		bu_loop_step(desk.site.rig.loop, 2);
	}
	ck_assert_int_eq(status, 0);
}

/* The newest event of this kind has it. */
static void
is_by(const char *type, const char *wanted)
{
	bu_autojson json_t *reply = site_call(&desk.site, desk.site.local, "GET",
					      "/v1/events?limit=1000", "", 200);
	const char *by = "no such event";
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(reply, "events"), i, event)
		if (strcmp(bu_json_str(event, "kind", ""), type) == 0)
			by = bu_json_str(json_object_get(event, "body"), "by", "none");
	ck_assert_msg(strcmp(by, wanted) == 0, "%s by '%s', not '%s'", type, by,
		      wanted);
}

static void
apply_as(uid_t uid, const char *says)
{
	bu_autojson json_t *planned = plan(&desk, NULL, NULL, NULL, 200);
	bu_autofree char *text = bu_xasprintf(
		"{\"digest\":\"%s\"%s%s%s}", bu_json_str(planned, "digest", ""),
		says ? ",\"by\":\"" : "", says ? says : "", says ? "\"" : "");

	send_as(uid, "/v1/apply", text);
}

/* "root", or "ann (uid 1000)"; owned. */
static char *
name_of(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (!user)
		return bu_xasprintf("uid %u", (unsigned)uid);
	return uid ? bu_xasprintf("%s (uid %u)", user->pw_name, (unsigned)uid)
		   : bu_xstrdup(user->pw_name);
}

START_TEST(the_kernel_says_who_applies)
{
	bu_autofree char *me = name_of(getuid());

	setup();
	apply_as(getuid(), NULL);
	is_by("applied", me);
	end(&desk);
}
END_TEST

/* What it says is behind it, and takes its place nowhere. */
START_TEST(a_client_that_says_another_name_is_known_all_the_same)
{
	static const char *const verbs[] = {"/v1/nodes/node001/hold",
					    "/v1/nodes/node002/hold"};
	bu_autofree char *me = name_of(getuid()), *noted = NULL;

	setup();
	noted = getuid() ? bu_xasprintf("%.*s, says alice)", (int)strlen(me) - 1, me)
			 : bu_xasprintf("%s (says alice)", me);
	apply_as(getuid(), "alice");
	is_by("applied", noted);
	send_as(getuid(), verbs[0], "{\"by\":\"alice\",\"reason\":\"a look\"}");
	ck_assert_str_eq(rig_node(&desk.site.rig, 1)->hold->by, noted);
	ck_assert_int_eq(rig_node(&desk.site.rig, 1)->hold->owner, BU_OWNER_PERSON);
	send_as(getuid(), verbs[1], "{\"by\":\"bringup\",\"reason\":\"a look\"}");
	ck_assert_int_eq(rig_node(&desk.site.rig, 2)->hold->owner, BU_OWNER_PERSON);
	ck_assert_ptr_nonnull(strstr(rig_node(&desk.site.rig, 2)->hold->by, me));
	end(&desk);
}
END_TEST

/* A user of the file of users, and one that has no name in it. */
START_TEST(another_user_is_named_with_the_number)
{
	static const uid_t users[] = {NOBODY, UNNAMED};

	BU_NEEDS("root");
	for (size_t i = 0; i < BU_LEN(users); i++) {
		bu_autofree char *name = name_of(users[i]);

		setup();
		apply_as(users[i], NULL);
		is_by("applied", name);
		end(&desk);
	}
}
END_TEST

/* All that a person changes at a rollout, and the order to measure again. */
START_TEST(each_order_of_a_person_is_theirs)
{
	static const struct {
		const char *verb, *type;
	} rows[] = {{"pause", "rollout"}, {"resume", "rollout"}, {"abort", "rollout"}};
	bu_autofree char *me = name_of(getuid());
	bu_autojson json_t *list = NULL;
	const char *id;

	setup();
	apply_as(getuid(), NULL);
	list = site_call(&desk.site, desk.site.local, "GET", "/v1/rollouts", "", 200);
	id = bu_json_str(json_array_get(json_object_get(list, "rollouts"), 0), "id",
			 "");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *where =
			bu_xasprintf("/v1/rollouts/%s/%s", id, rows[i].verb);

		send_as(getuid(), where, "{}");
		is_by(rows[i].type, me);
	}
	end(&desk);
}
END_TEST

RIG_UNIT("caller", the_kernel_says_who_applies,
	 a_client_that_says_another_name_is_known_all_the_same,
	 another_user_is_named_with_the_number, each_order_of_a_person_is_theirs)
