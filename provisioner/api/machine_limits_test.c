/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with a certificate, and users of the socket, have limits of their own. */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "provisioner/api/server.h"
#include "provisioner/trust/trust.h"
#include "tests/support/sink.h"
#include "tests/support/talk.h"
#include "tests/support/unit.h"

enum { BLOB = 1 << 20, BODY = 300 << 10, ASKERS = 20, USERS = 257, MACHINES = 2 };

struct bench {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_trust *trust;
	struct bu_server *server;
	char dir[32], url[48];
	int open, asked;
};

static enum bu_answer
fill_log(void *arg, const struct bu_request *request, struct bu_reply *reply,
	 struct bu_err *err)
{
	struct bench *bench = arg;
	bu_autofree char *text = bu_xmalloc(BLOB + 1);
	char digest[BU_DIGEST_SIZE];

	memset(text, 'x', BLOB);
	text[BLOB] = '\0';
	if (bu_store_put_blob(bench->store, text, digest, err) != 0)
		return BU_ANSWER_ERROR;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

static enum bu_answer
wait_long(void *arg, const struct bu_request *request, struct bu_reply *reply,
	  struct bu_err *err)
{
	struct bench *bench = arg;

	bench->asked += request->waited_ms == 0;
	if (!bench->open)
		return BU_ANSWER_LATER;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

static const struct bu_route table[] = {
	{"POST", "/fill", BU_LISTEN_AGENT, BU_CALLER_NODE, fill_log, ""},
	{"POST", "/campaign", BU_LISTEN_AGENT, BU_CALLER_NODE, fill_log, ""},
	{"POST", "/wait", BU_LISTEN_AGENT, BU_CALLER_NODE, wait_long, ""},
	{NULL, NULL, 0, BU_CALLER_NODE, NULL, NULL},
};

static void
keep(const struct bench *bench, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", bench->dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

static void
issue(const struct bench *bench, int machine)
{
	bu_autofree char *key = NULL, *csr = NULL, *cert = NULL;
	char name[32];

	snprintf(name, sizeof(name), "machine%d", machine);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, name, &csr, NULL), 0);
	cert = bu_trust_issue(bench->trust, csr, name, NULL);
	ck_assert_ptr_nonnull(cert);
	snprintf(name, sizeof(name), "cert%d", machine);
	keep(bench, name, cert);
	snprintf(name, sizeof(name), "key%d", machine);
	keep(bench, name, key);
}

static void
begin(struct bench *bench)
{
	const char *names[] = {"IP:127.0.0.1", NULL};
	struct bu_server_tls tls;
	int fd;

	memset(bench, 0, sizeof(*bench));
	strcpy(bench->dir, "/tmp/bringup-machines-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(bench->dir));
	bench->trust = bu_trust_open(bench->dir, names, NULL);
	tls = (struct bu_server_tls){bu_trust_server_cert(bench->trust),
				     bu_trust_server_key(bench->trust),
				     bu_trust_ca(bench->trust)};
	keep(bench, "ca", tls.ca);
	for (int machine = 1; machine <= MACHINES; machine++)
		issue(bench, machine);
	bench->loop = bu_loop_create(NULL);
	bench->store = bu_store_create(bench->loop, &sink_log, bench);
	bench->server = bu_server_create(bench->loop, table, bench);
	bu_server_counts_log(bench->server, bench->store);
	fd = bu_listen_tcp("127.0.0.1:0", NULL);
	snprintf(bench->url, sizeof(bench->url), "https://127.0.0.1:%d", talk_port(fd));
	ck_assert_int_eq(
		bu_server_listen(bench->server, BU_LISTEN_AGENT, fd, &tls, NULL), 0);
}

static void
finish(struct bench *bench)
{
	bu_server_destroy(bench->server);
	bu_store_destroy(bench->store);
	bu_loop_destroy(bench->loop);
	bu_trust_destroy(bench->trust);
	bu_ignore(bu_remove_tree(bench->dir, NULL));
}

static json_t *
body_of(const char *path)
{
	bu_autofree char *text = bu_xcalloc(1, BODY + 1);

	if (strcmp(path, "/fill") != 0)
		return json_object();
	memset(text, 'x', BODY);
	return json_pack("{s:s}", "told", text);
}

/* A process that asks so often: its exit status is how often it was answered, and more
 * by 100 when it was refused as one too many. */
static pid_t
start(const struct bench *bench, int machine, const char *path, int times)
{
	bu_autofree char *ca = bu_xasprintf("%s/ca", bench->dir);
	bu_autofree char *cert = bu_xasprintf("%s/cert%d", bench->dir, machine);
	bu_autofree char *key = bu_xasprintf("%s/key%d", bench->dir, machine);
	struct bu_http_opts opts = {.base_url = bench->url, .ca_file = ca};
	int answered = 0, refused = 0;
	pid_t pid = fork();

	if (pid)
		return pid;
	opts.cert_file = cert;
	opts.key_file = key;
	for (int i = 0; i < times; i++) {
		struct bu_http *http = bu_http_create(&opts);
		bu_autojson json_t *body = body_of(path);
		struct bu_err err = {0};

		if (bu_http_json(http,
				 &(struct bu_http_call){"POST", path, body, 20000},
				 NULL, &err) == 0)
			answered++;
		refused += err.kind == BU_ERR_BUSY;
		bu_http_destroy(http);
	}
	_exit(answered + (answered + refused == times && refused ? 100 : 0));
}

static int
wait_for(struct bench *bench, pid_t pid)
{
	int status = 0;

	for (int i = 0; i < 6000 && waitpid(pid, &status, WNOHANG) == 0; i++)
		bu_loop_step(bench->loop, 5);
	ck_assert_int_eq(WIFEXITED(status), 1);
	return WEXITSTATUS(status);
}

START_TEST(a_machine_that_has_filled_its_part_of_the_log_waits_and_others_do_not)
{
	struct bench bench;
	int answered;

	begin(&bench);
	answered = wait_for(&bench, start(&bench, 1, "/fill", 10));
	ck_assert_int_ge(answered, 104);
	ck_assert_int_le(answered, 106); /* a second gives some bytes back */
	ck_assert_int_eq(wait_for(&bench, start(&bench, 2, "/fill", 3)), 3);
	/* Whatever it asks for. */
	bench.open = 1;
	ck_assert_int_eq(wait_for(&bench, start(&bench, 1, "/wait", 1)), 100);
	finish(&bench);
}
END_TEST

/* What comes of its result for others is not its own. */
START_TEST(a_small_request_is_not_charged_for_much)
{
	struct bench bench;

	begin(&bench);
	ck_assert_int_eq(wait_for(&bench, start(&bench, 1, "/campaign", 20)), 20);
	finish(&bench);
}
END_TEST

START_TEST(a_machine_has_so_many_requests_without_an_answer)
{
	struct bench bench;
	pid_t pids[ASKERS], other;
	int answered = 0, refused = 0;

	begin(&bench);
	for (int i = 0; i < ASKERS; i++)
		pids[i] = start(&bench, 1, "/wait", 1);
	for (int i = 0; i < 2000 && bench.asked < 16; i++)
		bu_loop_step(bench.loop, 5);
	for (int i = 0; i < 200; i++)
		bu_loop_step(bench.loop, 5);
	ck_assert_int_eq(bench.asked, 16);
	other = start(&bench, 2, "/wait", 1);
	for (int i = 0; i < 2000 && bench.asked < 17; i++)
		bu_loop_step(bench.loop, 5);
	ck_assert_int_eq(bench.asked, 17);
	bench.open = 1;
	for (int i = 0; i < ASKERS; i++) {
		int status = wait_for(&bench, pids[i]);

		answered += status == 1;
		refused += status == 100;
	}
	ck_assert_int_eq(answered, 16);
	ck_assert_int_eq(refused, ASKERS - 16);
	ck_assert_int_eq(wait_for(&bench, other), 1);
	/* And then again. */
	ck_assert_int_eq(wait_for(&bench, start(&bench, 1, "/wait", 3)), 3);
	finish(&bench);
}
END_TEST

START_TEST(a_user_of_the_socket_has_so_many_connections)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct bench bench;
	int fds[USERS], closed = 0;

	begin(&bench);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/sock", bench.dir);
	ck_assert_int_eq(bu_server_listen(bench.server, BU_LISTEN_LOCAL,
					  bu_listen_unix(at.sun_path, NULL), NULL,
					  NULL),
			 0);
	for (int i = 0; i < USERS; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(connect(fds[i], (struct sockaddr *)&at, sizeof(at)),
				 0);
		bu_loop_step(bench.loop, 0);
	}
	for (int i = 0; i < 100; i++)
		bu_loop_step(bench.loop, 1);
	for (int i = 0; i < USERS; i++) {
		char byte;

		closed += recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
		close(fds[i]);
	}
	ck_assert_int_eq(closed, 1);
	finish(&bench);
}
END_TEST

BU_UNIT("machine limits",
	a_machine_that_has_filled_its_part_of_the_log_waits_and_others_do_not,
	a_small_request_is_not_charged_for_much,
	a_machine_has_so_many_requests_without_an_answer,
	a_user_of_the_socket_has_so_many_connections)
