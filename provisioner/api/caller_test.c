/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the log as the one who did it: over the unix socket that bringupd listens
 * on, from processes of their own.
 */
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "tests/support/desk.h"

/* OPERATORS: a group that is not of these users otherwise. */
enum { NOBODY = 65534, UNNAMED = 54321, OPERATORS = 54300, AUDITORS = 54301 };

static struct desk desk;
static char path[96];
static const struct bu_callers callers = {
	.groups = {[BU_PERSON_VIEWER] = {"lookers", -1},
		   [BU_PERSON_OPERATOR] = {"movers", OPERATORS},
		   [BU_PERSON_GRANT] = {"", -1},
		   [BU_PERSON_ADMIN] = {"", -1},
		   [BU_PERSON_AUDITOR] = {"readers", AUDITORS}},
};

static void
setup(void)
{
	struct bu_err err = {0};
	int fd;

	begin(&desk);
	snprintf(path, sizeof(path), "%s/sock", desk.site.rig.dir);
	fd = bu_listen_unix(path, &err);
	ck_assert_msg(fd >= 0, "%s", err.text);
	/* The folder is for its owner alone: not in here. */
	ck_assert_int_eq(chmod(desk.site.rig.dir, 0755), 0);
	bu_server_callers(desk.site.api.server, &callers);
	ck_assert_int_eq(
		bu_server_listen(desk.site.api.server, BU_LISTEN_LOCAL, fd, NULL, &err),
		0);
}

struct user {
	uid_t uid;
	gid_t gid, groups[2];
	size_t groups_count;
	int told; /* descriptor for the error */
};

/* In a process of this user, who is in these groups; its exit status. */
static int
speak(const struct user *as, const char *where, const char *text)
{
	bu_autojson json_t *body = text ? json_loads(text, 0, NULL) : NULL;
	struct bu_http *http = bu_http_create(&(struct bu_http_opts){
		.base_url = "http://localhost", .unix_socket = path});
	struct bu_err err = {0};

	if (as->uid != getuid() && (setgroups(as->groups_count, as->groups) != 0 ||
				    setresgid(as->gid, as->gid, as->gid) != 0 ||
				    setresuid(as->uid, as->uid, as->uid) != 0))
		return 2;
	if (bu_http_json(
		    http,
		    &(struct bu_http_call){body ? "POST" : "GET", where, body, 20000},
		    NULL, &err) == 0)
		return 0;
	if (write(as->told, err.text, strlen(err.text)) < 0)
		return 3;
	return 1;
}

/* text NULL = GET. What it was refused with, "" = nothing; owned. */
static char *
told(struct user as, const char *where, const char *text)
{
	char said[500] = "";
	int status = -1, ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	as.told = ends[1];
	pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(speak(&as, where, text));
	for (int i = 0; i < 20000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		rig_pass(&desk.site.rig, 1);
		bu_loop_step(desk.site.rig.loop, 2);
	}
	close(ends[1]);
	ck_assert_int_ge(read(ends[0], said, sizeof(said) - 1), 0);
	close(ends[0]);
	ck_assert_int_eq(status, *said ? 1 << 8 : 0);
	return bu_xstrdup(said);
}

/* An operator, unless it is this process's own user. */
static void
send_as(uid_t uid, const char *where, const char *text)
{
	bu_autofree char *said =
		told((struct user){.uid = uid, .gid = OPERATORS}, where, text);

	ck_assert_str_eq(said, "");
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

/* has: NULL = nothing was refused. */
static void
is_told(const char *text, const char *has)
{
	ck_assert_msg(has ? strstr(text, has) != NULL : !*text, "'%s', not '%s'", text,
		      has ? has : "");
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

/* A program may say what it likes. */
START_TEST(what_a_client_says_of_itself_counts_for_nothing)
{
	bu_autofree char *me = name_of(getuid());

	setup();
	apply_as(getuid(), "alice");
	is_by("applied", me);
	send_as(getuid(), "/v1/nodes/node001/hold",
		"{\"by\":\"bringup\",\"reason\":\"a look\"}");
	ck_assert_str_eq(rig_node(&desk.site.rig, 1)->hold->by, me);
	ck_assert_int_eq(rig_node(&desk.site.rig, 1)->hold->owner, BU_OWNER_PERSON);
	end(&desk);
}
END_TEST

/* By the group of the process or by one of its others; a group of another number, or
 * one that the machine has not, opens nothing. */
START_TEST(groups_say_what_a_user_may_do)
{
	static const char *const hold = "/v1/nodes/node001/hold";
	static const struct {
		struct user as;
		const char *get, *post, *audit; /* in the refusal; NULL = none */
	} rows[] = {
		{{.uid = NOBODY, .gid = OPERATORS}, NULL, NULL, "'audit'"},
		{{.uid = NOBODY, .gid = NOBODY, .groups = {7, OPERATORS}, 2, 0},
		 NULL,
		 NULL,
		 "'audit', which nobody (uid 65534) (operator) lacks"},
		{{.uid = NOBODY, .gid = NOBODY, .groups = {AUDITORS}, 1, 0},
		 NULL,
		 "'operate'",
		 NULL},
		{{.uid = UNNAMED, .gid = AUDITORS, .groups = {OPERATORS}, 1, 0},
		 NULL,
		 NULL,
		 NULL},
		{{.uid = NOBODY, .gid = NOBODY},
		 "nobody (uid 65534) is in none of the groups that may use bringup: "
		 "lookers (not there), movers, readers; root adds users",
		 "in none of the groups",
		 "in none of the groups"},
		{{.uid = UNNAMED, .gid = 0, .groups = {OPERATORS + 9}, 1, 0},
		 "uid 54321 is in none",
		 "in none",
		 "in none"},
	};

	BU_NEEDS("root");
	setup();
	apply_as(getuid(), NULL);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *get = told(rows[i].as, "/v1/nodes", NULL);
		bu_autofree char *post =
			told(rows[i].as, hold, "{\"reason\":\"x\",\"dry_run\":true}");
		bu_autofree char *audit = told(rows[i].as, "/v1/audit?max=1", NULL);

		is_told(get, rows[i].get);
		is_told(post, rows[i].post);
		is_told(audit, rows[i].audit);
	}
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
	 what_a_client_says_of_itself_counts_for_nothing, groups_say_what_a_user_may_do,
	 another_user_is_named_with_the_number, each_order_of_a_person_is_theirs)
