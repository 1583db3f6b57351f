/* SPDX-License-Identifier: Apache-2.0 */
/* How bringup apply ends, and what it sends: over a real socket, to a bringupd of
 * paper. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/render/planned.h"
#include "model/shown_status.h"
#include "tests/support/cli.h"
#include "tests/support/profiles.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define STEP                                                                           \
	"{'node':'node001','pool':'train','class':'reboot','image':'i','digest':'d',"  \
	"'facets':'f','from':'ready','why':'w','batch':0,'minutes':null,'changes':[]}"
#define HELD(node) "{'node':'" node "','why':'held by anna: a card is changed'}"
#define PLAN(base, steps, refused, unchanged)                                          \
	"{'v':2,'revision':'0123456789abcdef','base':'" base                           \
	"','commit':'','limit':'','observed':'','steps':[" steps                       \
	"],'refused':[" refused                                                        \
	"],'left':[],'pools':{},'waiting':{'r-0':2},'warnings':[],"                    \
	"'left_out':0,'unchanged':" unchanged "}"
#define APPLIED(rollout, nodes)                                                        \
	"{'rollout':'" rollout "','nodes':" nodes ",'refused':[]}"
#define NODE "'nodes':[{'name':'node001','state':'ready'}]"
#define ROLLOUT(done, state, status)                                                   \
	"{'id':'r-1','total':1,'done':" done ",'state':'" state                        \
	"','reason':'by anna','nodes':[{'node':'node001','status':'" status "'}]}"

struct paper {
	const char *applied, *rollout; /* answers */
	const char *nodes;             /* of the status; NULL: ready */
	char dir[32], socket[64], file[64];
	int fd;
	pthread_t thread;
	char *sent;    /* body of the apply */
	char *planned; /* body of the plan */
};

/* A request whole; owned. */
static char *
take(int fd)
{
	size_t used = 0, want = 0, cap = 1 << 20;
	char *text = bu_xcalloc(1, cap);
	const char *body = NULL;

	while (!body || used < want) {
		ssize_t got = read(fd, text + used, cap - used - 1);
		const char *length;

		if (got <= 0)
			break;
		used += (size_t)got;
		body = strstr(text, "\r\n\r\n");
		length = strstr(text, "Content-Length: ");
		if (body)
			want = (size_t)(body + 4 - text) +
			       (length && length < body ? strtoul(length + 16, NULL, 10)
							: 0);
	}
	return text;
}

static json_t *
status_of(const struct paper *paper)
{
	bu_autofree char *text = bu_xasprintf("{'version':1,%s,'rollout':{'id':'r-1'}}",
					      paper->nodes ? paper->nodes : NODE);

	return complete(bu_shown_status_fields, quoted(text));
}

/* Owned. */
static char *
answer_to(const struct paper *paper, const char *request)
{
	bu_autojson json_t *value = NULL;

	if (strncmp(request, "POST /v1/plan ", 14) == 0)
		return bu_file_read(paper->file, 0, NULL, NULL);
	if (strncmp(request, "POST /v1/apply ", 15) == 0)
		value = quoted(paper->applied);
	else if (strncmp(request, "GET /v1/rollouts/r-1 ", 21) == 0)
		value = complete(bu_shown_rollout_whole_fields, quoted(paper->rollout));
	else
		value = status_of(paper);
	return bu_json_canonical(value);
}

static void *
serve(void *arg)
{
	struct paper *paper = arg;
	int fd;

	while ((fd = accept(paper->fd, NULL, NULL)) >= 0) {
		bu_autofree char *request = take(fd);
		bu_autofree char *body = answer_to(paper, request);

		if (strncmp(request, "POST /v1/apply ", 15) == 0) {
			free(paper->sent);
			paper->sent = bu_xstrdup(strstr(request, "\r\n\r\n") + 4);
		}
		if (strncmp(request, "POST /v1/plan ", 14) == 0) {
			free(paper->planned);
			paper->planned = bu_xstrdup(strstr(request, "\r\n\r\n") + 4);
		}
		dprintf(fd,
			"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
			"Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
			strlen(body), body);
		close(fd);
	}
	return NULL;
}

static void
begin(struct paper *paper, const char *plan)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	bu_autojson json_t *value = json_pack("{s:o,s:{s:{s:s}}}", "plan",
					      complete(bu_plan_fields, quoted(plan)),
					      "tree", "files", "site.ini", "[site]\n");
	bu_autofree char *text = NULL;
	char digest[65];

	strcpy(paper->dir, "/tmp/bringup-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(paper->dir));
	snprintf(paper->socket, sizeof(paper->socket), "%s/sock", paper->dir);
	snprintf(paper->file, sizeof(paper->file), "%s/plan.json", paper->dir);
	bu_json_digest(json_object_get(value, "plan"), digest);
	json_object_set_new(value, "digest", json_string(digest));
	text = bu_json_canonical(value);
	ck_assert_int_eq(bu_file_write(paper->file, text, strlen(text), 0644, NULL), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", paper->socket);
	paper->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(paper->fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	ck_assert_int_eq(listen(paper->fd, 8), 0);
	ck_assert_int_eq(pthread_create(&paper->thread, NULL, serve, paper), 0);
}

static void
end(struct paper *paper)
{
	shutdown(paper->fd, SHUT_RDWR);
	pthread_join(paper->thread, NULL);
	close(paper->fd);
	free(paper->sent);
	free(paper->planned);
	ck_assert_int_eq(bu_remove_tree(paper->dir, NULL), 0);
}

/* Turns a stream into the file, or back. */
static int
turn(FILE *stream, const struct paper *paper, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", paper->dir, name);
	int saved;

	fflush(stream);
	saved = dup(fileno(stream));
	ck_assert_ptr_nonnull(freopen(path, "w", stream));
	return saved;
}

static void
turn_back(FILE *stream, int saved)
{
	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
}

static char *
written(const struct paper *paper, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", paper->dir, name);

	return bu_file_read(path, 0, NULL, NULL);
}

/* Applies the plan of this file or folder; what it prints, owned. What it says on
 * standard error is in the file "errs". */
static char *
run_on(const struct paper *paper, const char *path, struct bu_options options,
       int *ret_rc, struct bu_err *err)
{
	char *args[] = {(char *)(uintptr_t)path, NULL};
	int out = turn(stdout, paper, "out"), errs = turn(stderr, paper, "errs");

	options.socket = paper->socket;
	options.args = args;
	options.args_count = 1;
	*ret_rc = bu_cmd_apply(&options, err);
	turn_back(stdout, out);
	turn_back(stderr, errs);
	return written(paper, "out");
}

static char *
run(const struct paper *paper, struct bu_options options, int *ret_rc,
    struct bu_err *err)
{
	return run_on(paper, paper->file, options, ret_rc, err);
}

static void
has(const char *text, const char *part)
{
	ck_assert_msg(text && strstr(text, part), "'%s' does not say '%s'",
		      text ? text : "", part);
}

START_TEST(it_ends_as_its_plan_and_its_rollout_do)
{
	static const struct {
		const char *plan, *applied, *rollout; /* rollout NULL = no --wait */
		enum bu_err_kind kind;
		const char *says, *prints;
	} rows[] = {
		{PLAN("", STEP, "", "5"), APPLIED("r-1", "1"), NULL, BU_ERR_NONE, "",
		 "applied: rollout r-1 of 1 node\n"},
		{PLAN("", STEP, HELD("node002"), "5"), APPLIED("r-1", "1"), NULL,
		 BU_ERR_PARTLY,
		 "1 of 9 nodes was refused, nothing was ordered for it: node002: held "
		 "by anna: a card is changed",
		 "applied: rollout r-1 of 1 node\n"},
		/* one of them has a step that takes back what waits */
		{PLAN("", STEP, HELD("node001") "," HELD("node002"), "0"),
		 APPLIED("r-1", "1"), NULL, BU_ERR_PARTLY,
		 "2 of 4 nodes were refused, nothing was ordered for them: "
		 "node[001-002]; node001: held by anna",
		 "applied: rollout r-1 of 1 node\n"},
		{PLAN("0123456789abcdef", "", HELD("node001"), "0"), APPLIED("", "0"),
		 NULL, BU_ERR_PARTLY, "1 of 3 nodes was refused",
		 "applied: nothing to do\n"},
		{PLAN("0123456789abcdef", "", "", "5"), APPLIED("", "0"),
		 ROLLOUT("1", "done", "done"), BU_ERR_NONE, "",
		 "applied: nothing to do\n"},
		{PLAN("fedcba9876543210", "", "", "5"), APPLIED("", "0"), NULL,
		 BU_ERR_NONE, "",
		 "applied: revision 0123456789ab, which changes no node\n"},
		{PLAN("fedcba9876543210", "", "",
		      "5,'reach':[{'nodes':'node001','facet':'serial','old':'a',"
		      "'new':'b','file':'site.ini','line':2}]"),
		 APPLIED("", "0"), NULL, BU_ERR_NONE, "",
		 "applied: revision 0123456789ab; no node gets a step, what changes "
		 "has taken effect\n"},
		/* with --wait: what failed is worse than what was left alone */
		{PLAN("", STEP, HELD("node002"), "5"), APPLIED("r-1", "1"),
		 ROLLOUT("1", "done", "done"), BU_ERR_PARTLY,
		 "1 of 9 nodes was refused", "applied: rollout"},
		{PLAN("", STEP, HELD("node002"), "5"), APPLIED("r-1", "1"),
		 ROLLOUT("0", "done", "failed"), BU_ERR_VERIFY, "rollout r-1 ended",
		 "applied: rollout"},
		{PLAN("", STEP, HELD("node002"), "5"), APPLIED("r-1", "1"),
		 ROLLOUT("0", "aborted", "withdrawn"), BU_ERR_CANCELLED, "aborted",
		 "applied: rollout"},
		{PLAN("", STEP, "", "5"), APPLIED("r-1", "1"),
		 ROLLOUT("1", "done", "done"), BU_ERR_NONE, "", "applied: rollout"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.applied = rows[i].applied,
				      .rollout = rows[i].rollout};
		const struct bu_options options = {
			.yes = 1, .wait = rows[i].rollout != NULL, .timeout_s = 10};
		bu_autofree char *out = NULL;
		struct bu_err err = {0};
		int rc;

		begin(&paper, rows[i].plan);
		out = run(&paper, options, &rc, &err);
		ck_assert_msg(rc == (rows[i].kind ? -1 : 0) && err.kind == rows[i].kind,
			      "row %zu: %d, %s: %s", i, rc, bu_err_name(err.kind),
			      err.text);
		has(err.text, rows[i].says);
		has(out, rows[i].prints);
		end(&paper);
	}
}
END_TEST

static void
put(const char *dir, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

/* They are a part of the plan: one that was saved has them already. */
START_TEST(orders_that_begin_anew_are_asked_for_with_the_plan)
{
	struct paper paper = {.applied = APPLIED("r-1", "1")};
	const struct bu_options options = {.yes = 1, .restart = "node[001-002]"};
	bu_autofree char *tree = NULL, *out = NULL, *again = NULL;
	struct bu_err err = {0};
	int rc;

	begin(&paper, PLAN("", STEP, "", "5"));
	tree = bu_xasprintf("%s/tree", paper.dir);
	ck_assert_int_eq(bu_mkdir_p(tree, 0755, NULL), 0);
	put(tree, "site.ini", bu_testing_site);
	put(tree, "racks.csv", bu_testing_racks);
	out = run_on(&paper, tree, options, &rc, &err);
	ck_assert_msg(rc == 0, "%s", err.text);
	has(paper.planned, "\"restart\":\"node[001-002]\"");
	again = run(&paper, options, &rc, &err);
	ck_assert_int_eq(err.kind, BU_ERR_USAGE);
	has(err.text, "--restart-orders: ");
	end(&paper);
}
END_TEST

/* However it ends: who is not ready, and why, is the last that stands there. */
START_TEST(who_is_not_ready_is_named_with_the_cause)
{
	static const struct {
		const char *rollout;
		enum bu_err_kind kind;
		const char *says;
	} rows[] = {
		{ROLLOUT("0", "done", "failed"), BU_ERR_VERIFY, "rollout r-1 ended"},
		{ROLLOUT("0", "stopped", "failed"), BU_ERR_VERIFY, "stopped itself"},
		{ROLLOUT("0", "aborted", "withdrawn"), BU_ERR_CANCELLED, "aborted"},
		{ROLLOUT("0", "running", "turn"), BU_ERR_TIMEOUT,
		 "not settled after 0 s"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {
			.applied = APPLIED("r-1", "1"),
			.rollout = rows[i].rollout,
			.nodes = "'nodes':[{'name':'node001','state':'failed',"
				 "'settled':true,'reason':'no link'}]"};
		bu_autofree char *out = NULL, *errs = NULL;
		struct bu_err err = {0};
		int rc;

		begin(&paper, PLAN("", STEP, "", "5"));
		out = run(&paper, (struct bu_options){.yes = 1, .wait = 1}, &rc, &err);
		errs = written(&paper, "errs");
		ck_assert_msg(rc == -1 && err.kind == rows[i].kind, "row %zu: %s: %s",
			      i, bu_err_name(err.kind), err.text);
		has(err.text, rows[i].says);
		ck_assert_str_eq(errs, "node001: failed: no link\n");
		end(&paper);
	}
}
END_TEST

/* All that was ordered was done, and yet it is of no use. */
START_TEST(a_rollout_that_is_done_does_not_hide_who_is_away)
{
	struct paper paper = {
		.applied = APPLIED("r-1", "1"),
		.rollout = ROLLOUT("1", "done", "done"),
		.nodes = "'nodes':[{'name':'node001','state':'ready','settled':true,"
			 "'conditions':[{'name':'unreachable','away':true}]}]"};
	bu_autofree char *out = NULL, *errs = NULL;
	struct bu_err err = {0};
	int rc;

	begin(&paper, PLAN("", STEP, "", "5"));
	out = run(&paper, (struct bu_options){.yes = 1, .wait = 1}, &rc, &err);
	errs = written(&paper, "errs");
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	has(err.text, "rollout r-1 is done, but its nodes are not all ready");
	ck_assert_str_eq(errs, "node001: ready, unreachable: its agent does not "
			       "answer\n");
	end(&paper);
}
END_TEST

/* Whatever bringupd has forgotten meanwhile. */
START_TEST(a_plan_of_a_file_is_sent_whole)
{
	struct paper paper = {.applied = APPLIED("r-1", "1")};
	struct bu_planned planned;
	bu_autojson json_t *sent = NULL;
	bu_autofree char *out = NULL;
	struct bu_err err = {0};
	int rc;

	begin(&paper, PLAN("", STEP, "", "5"));
	ck_assert_int_eq(bu_planned_load(paper.file, &planned, NULL), 0);
	out = run(&paper, (struct bu_options){.yes = 1}, &rc, &err);
	ck_assert_msg(rc == 0, "%s", err.text);
	sent = json_loads(paper.sent, 0, NULL);
	ck_assert_str_eq(bu_json_str(sent, "digest", ""), planned.digest);
	ck_assert(json_equal(json_object_get(sent, "plan"), planned.plan));
	ck_assert_str_eq(
		bu_json_str(json_object_get(json_object_get(sent, "tree"), "files"),
			    "site.ini", ""),
		"[site]\n");
	ck_assert(json_is_array(json_object_get(sent, "grants")));
	/* the same after it was saved once more */
	ck_assert_int_eq(bu_planned_save(&planned, paper.file, NULL), 0);
	bu_planned_fini(&planned);
	ck_assert_int_eq(bu_planned_load(paper.file, &planned, NULL), 0);
	ck_assert(json_equal(planned.tree, json_object_get(sent, "tree")));
	bu_planned_fini(&planned);
	end(&paper);
}
END_TEST

START_TEST(a_program_reads_one_document)
{
	struct paper paper = {.applied = APPLIED("r-1", "1")};
	bu_autofree char *out = NULL, *names = NULL;
	bu_autojson json_t *value = NULL;
	struct bu_err err = {0};
	const json_t *refused;
	int rc;

	begin(&paper, PLAN("", STEP, HELD("node002"), "5"));
	out = run(&paper, (struct bu_options){.format = BU_FORMAT_JSON, .yes = 1}, &rc,
		  &err);
	ck_assert_int_eq(err.kind, BU_ERR_PARTLY);
	value = json_loads(out, 0, NULL);
	ck_assert_msg(value != NULL, "%s", out);
	ck_assert_str_eq(bu_json_str(value, "rollout", ""), "r-1");
	ck_assert_str_eq(bu_json_str(value, "revision", ""), "0123456789abcdef");
	ck_assert_int_eq(bu_json_int(value, "nodes", 0), 1);
	refused = json_array_get(json_object_get(value, "refused"), 0);
	ck_assert_str_eq(bu_json_str(refused, "node", ""), "node002");
	has(bu_json_str(refused, "why", ""), "held by anna");
	names = run(&paper, (struct bu_options){.format = BU_FORMAT_HOSTLIST, .yes = 1},
		    &rc, &err);
	ck_assert_str_eq(names, "node001\n");
	free(bu_steal(&paper.sent));
	free(run(&paper, (struct bu_options){.format = BU_FORMAT_JSON}, &rc, &err));
	ck_assert_int_eq(err.kind, BU_ERR_USAGE);
	free(run(&paper,
		 (struct bu_options){.format = BU_FORMAT_JSON, .yes = 1, .wait = 1},
		 &rc, &err));
	ck_assert_int_eq(err.kind, BU_ERR_USAGE);
	ck_assert_ptr_null(paper.sent);
	end(&paper);
}
END_TEST

BU_UNIT("cli apply", it_ends_as_its_plan_and_its_rollout_do,
	orders_that_begin_anew_are_asked_for_with_the_plan,
	who_is_not_ready_is_named_with_the_cause,
	a_rollout_that_is_done_does_not_hide_who_is_away,
	a_plan_of_a_file_is_sent_whole, a_program_reads_one_document)
