/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewal against an appliance of this test: a CA, TLS, and the fingerprints that
 * count, the old one until the new one was used.
 */
#include "agent/renew.h"

#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/session.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

enum { DAY_S = 24 * 60 * 60, LIFE_DAYS = 90 };

static struct appliance {
	struct MHD_Daemon *daemon;
	char *ca_key, *ca_cert, *key, *cert;
	char own[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE]; /* that count */
	int issued;
	int confirmed; /* over the next one */
	int lose;      /* this many answers to renew */
	int busy;      /* this many confirms are answered so, after they counted */
	int forget;    /* the next one counts for nothing */
	int greeted;   /* by a session, over what counts */
} us;

static char dir[64];
static struct bu_identity identity;
static struct bu_heard heard;

static char *
issue(const char *csr)
{
	char *cert = NULL;

	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){us.ca_cert, us.ca_key}, csr,
					    "m1", LIFE_DAYS, &cert, NULL),
			 0);
	us.issued++;
	return cert;
}

static enum MHD_Result
answer(struct MHD_Connection *connection, unsigned int status, json_t *value)
{
	bu_autojson json_t *json = value;
	bu_autofree char *text = bu_json_canonical(json);
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result
answer_renew(struct MHD_Connection *connection, const char *body)
{
	bu_autojson json_t *json = json_loads(body, 0, NULL);
	bu_autofree char *cert = issue(bu_json_str(json, "csr", ""));

	ck_assert_int_eq(bu_cert_fingerprint(cert, us.next, NULL), 0);
	if (us.lose-- > 0)
		return answer(connection, 502, json_object());
	return answer(connection, 200, json_pack("{s:s}", "cert", cert));
}

static enum MHD_Result
answer_peer(struct MHD_Connection *connection, const char *url, const char *body)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	struct bu_tls_peer peer = {.name = ""};
	int next;

	bu_ignore(bu_tls_peer(info->tls_session, &peer, NULL));
	next = *us.next && strcmp(peer.fingerprint, us.next) == 0 && !us.forget;
	if (!next && strcmp(peer.fingerprint, us.own) != 0)
		return answer(connection, 403,
			      json_pack("{s:{s:s,s:s}}", "error", "kind", "denied",
					"text", "another counts"));
	if (next) {
		memcpy(us.own, us.next, sizeof(us.own));
		us.confirmed++;
	}
	if (strcmp(url, "/v1/agent/renew") == 0)
		return answer_renew(connection, body);
	if (strcmp(url, "/v1/agent/hello") == 0)
		us.greeted++;
	if (strcmp(url, "/v1/agent/confirm") != 0)
		return answer(connection, 200, json_object());
	return us.busy-- > 0 ? answer(connection, 502, json_object())
			     : answer(connection, 200, json_object());
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	char *body = *state;

	if (!body) {
		*state = bu_xcalloc(1, 8192);
		return MHD_YES;
	}
	if (*upload_size) {
		strncat(body, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	return answer_peer(connection, url, body);
}

static void
on_done(void *arg, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode code)
{
	free(*state);
}

static void
start_appliance(void)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	const union MHD_DaemonInfo *info;

	memset(&us, 0, sizeof(us));
	ck_assert_int_eq(bu_tls_key_create(&us.ca_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("x", us.ca_key, &us.ca_cert, NULL), 0);
	ck_assert_int_eq(bu_tls_key_create(&us.key, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){us.ca_cert, us.ca_key},
					    us.key, names, &us.cert, NULL),
			 0);
	us.daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_TLS, 0, NULL, NULL,
		on_request, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_done, NULL,
		MHD_OPTION_HTTPS_MEM_KEY, us.key, MHD_OPTION_HTTPS_MEM_CERT, us.cert,
		MHD_OPTION_HTTPS_MEM_TRUST, us.ca_cert, MHD_OPTION_END);
	ck_assert_ptr_nonnull(us.daemon);
	info = MHD_get_daemon_info(us.daemon, MHD_DAEMON_INFO_BIND_PORT);
	identity.url = bu_xasprintf("https://127.0.0.1:%u", (unsigned)info->port);
}

static char *
path_of(const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = path_of(name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

static int
mode_of(const char *name)
{
	bu_autofree char *path = path_of(name);
	struct stat st;

	return stat(path, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

/* An enrolled agent. */
static void
begin(void)
{
	bu_autofree char *key = NULL, *csr = NULL, *cert = NULL;

	strcpy(dir, "/tmp/bringup-renew-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	start_appliance();
	identity.dir = bu_xstrdup(dir);
	identity.node = bu_xstrdup("node001");
	identity.installed = 1;
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "x", &csr, NULL), 0);
	cert = issue(csr);
	ck_assert_int_eq(bu_cert_fingerprint(cert, us.own, NULL), 0);
	put("ca.pem", us.ca_cert);
	put("cert.pem", cert);
	put("key.pem", key);
}

static void
finish(void)
{
	MHD_stop_daemon(us.daemon);
	free(us.ca_key);
	free(us.ca_cert);
	free(us.key);
	free(us.cert);
	bu_identity_fini(&identity);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* What the agent's next connection is told. */
static enum bu_err_kind
speak(void)
{
	bu_autojson json_t *body = json_object();
	struct bu_http *http = bu_identity_connect(&identity);
	struct bu_err err = {0};

	bu_ignore(bu_http_json(
		http, &(struct bu_http_call){"POST", "/v1/agent/confirm", body, 10000},
		NULL, &err));
	bu_http_destroy(http);
	return err.kind;
}

static int
renew_in(int days)
{
	struct bu_err err = {0};
	int rc = bu_renew(&identity, &heard, time(NULL) + (int64_t)days * DAY_S, &err);

	ck_assert(rc >= 0 || (err.kind && err.text[0]));
	return rc;
}

START_TEST(a_third_of_its_life_is_left)
{
	static const struct {
		int64_t from, until, now;
		int due;
	} rows[] = {
		{0, 90, 0, 0},         {0, 90, 59, 0},     {0, 90, 60, 1},
		{0, 90, 90, 1},        {0, 90, 1000, 1},   {1000, 1090, 1059, 0},
		{1000, 1090, 1060, 1}, {0, 3650, 2000, 0}, {1000, 1090, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_int_eq(
			bu_renew_is_due(rows[i].from, rows[i].until, rows[i].now),
			rows[i].due);
}
END_TEST

START_TEST(it_is_renewed_when_it_is_due_and_not_before)
{
	bu_autofree char *pair = NULL, *path = NULL, *old_path = NULL, *old = NULL;
	char first[BU_DIGEST_SIZE], second[BU_DIGEST_SIZE];

	begin();
	memcpy(first, us.own, sizeof(first));
	ck_assert_int_eq(renew_in(50), 0);
	ck_assert_int_eq(us.issued, 1);
	ck_assert_int_eq(renew_in(65), 1);
	ck_assert_int_eq(us.issued, 2);
	ck_assert_int_eq(us.confirmed, 1);
	ck_assert_str_ne(us.own, first);
	ck_assert_int_eq(mode_of("pair.pem"), 0600);
	ck_assert_int_eq(mode_of("pair.next.pem"), -1);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	/* its key is another one */
	path = path_of("pair.pem");
	old_path = path_of("key.pem");
	pair = bu_file_read(path, 0, NULL, NULL);
	old = bu_file_read(old_path, 0, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(pair, "PRIVATE KEY"));
	ck_assert_ptr_null(strstr(pair, old));
	/* the renewed one is renewed in its turn */
	memcpy(second, us.own, sizeof(second));
	ck_assert_int_eq(renew_in(50), 0);
	ck_assert_int_eq(renew_in(65), 1);
	ck_assert_str_ne(us.own, second);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	finish();
}
END_TEST

/* The appliance has issued one and nobody knows it: the old one counts, another is
 * fetched. */
START_TEST(an_answer_that_is_lost_cuts_nobody_off)
{
	begin();
	us.lose = 1;
	ck_assert_int_eq(renew_in(65), -1);
	ck_assert_int_eq(us.issued, 2);
	ck_assert_int_eq(mode_of("pair.next.pem"), -1);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	ck_assert_int_eq(renew_in(65), 1);
	ck_assert_int_eq(us.issued, 3);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	finish();
}
END_TEST

/* As after a crash: the pair is written, and whether the appliance heard of its use
 * nobody knows. It has: the old one counts no more. */
START_TEST(a_pair_that_was_written_is_tried_until_somebody_answers)
{
	struct bu_err err = {0};

	begin();
	us.busy = 1;
	ck_assert_int_eq(renew_in(65), -1);
	ck_assert_int_eq(us.confirmed, 1);
	ck_assert_int_eq(mode_of("pair.next.pem"), 0600);
	ck_assert_int_eq(mode_of("pair.pem"), -1);
	ck_assert_int_eq(speak(), BU_ERR_DENIED);
	ck_assert_int_eq(bu_renew_settle(&identity, &err), 1);
	ck_assert_int_eq(us.issued, 2);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	ck_assert_int_eq(bu_renew_settle(&identity, &err), 0);
	finish();
}
END_TEST

/* Such a certificate would count for that appliance alone, whose log is not the site's.
 */
START_TEST(a_certificate_of_a_lower_epoch_is_not_taken)
{
	begin();
	heard.newest.epoch = 9;
	ck_assert_int_eq(renew_in(65), -1);
	ck_assert_int_eq(mode_of("pair.next.pem"), -1);
	ck_assert_int_eq(mode_of("pair.pem"), -1);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	heard.newest.epoch = 0;
	ck_assert_int_eq(renew_in(65), 1);
	finish();
}
END_TEST

START_TEST(a_pair_that_is_refused_goes)
{
	struct bu_err err = {0};

	begin();
	us.forget = 1; /* its log lost its end */
	ck_assert_int_eq(renew_in(65), -1);
	ck_assert_int_eq(mode_of("pair.next.pem"), -1);
	ck_assert_int_eq(mode_of("pair.pem"), -1);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	us.forget = 0;
	ck_assert_int_eq(renew_in(65), 1);
	ck_assert_int_eq(speak(), BU_ERR_NONE);
	/* who is not heard at all keeps what it has */
	memset(us.own, 0, sizeof(us.own));
	memset(us.next, 0, sizeof(us.next));
	ck_assert_int_eq(bu_renew(&identity, &heard, time(NULL) + 65 * DAY_S, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(err.text, "renew the certificate"));
	ck_assert_int_eq(mode_of("pair.pem"), 0600);
	finish();
}
END_TEST

/* An installed agent, which never ends by itself, of the folder and the appliance that
 * it is told; a process without threads makes it. */
static pid_t
start_agent(int *ret_tell)
{
	struct bu_session session = {.link = {.identity = &identity}};
	char told[2][64];
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	*ret_tell = fds[1];
	pid = fork();
	if (pid != 0) {
		close(fds[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(fds[0], told, sizeof(told)) == (ssize_t)sizeof(told)) {
		identity = (struct bu_identity){.dir = told[0],
						.url = told[1],
						.node = (char *)"node001",
						.installed = 1};
		session.link.http = bu_identity_connect(&identity);
		bu_ignore(bu_session_run(&session, NULL));
	}
	_exit(1);
}

/* The old pair counts no more. It is seen at the start, or, when the appliance has no
 * time then, as the greeting is refused. */
START_TEST(a_session_goes_on_with_the_renewed_pair)
{
	for (int refused = 0; refused < 2; refused++) {
		char told[2][64] = {"", ""};
		int tell;
		pid_t agent = start_agent(&tell);

		begin();
		us.busy = 1 + refused;
		ck_assert_int_eq(renew_in(65), -1);
		memcpy(told[0], dir, sizeof(told[0]));
		snprintf(told[1], sizeof(told[1]), "%s", identity.url);
		ck_assert_int_eq(write(tell, told, sizeof(told)), sizeof(told));
		for (int i = 0; i < 3000 && !*(volatile int *)&us.greeted; i++)
			usleep(10000);
		kill(agent, SIGKILL);
		ck_assert_int_eq(waitpid(agent, NULL, 0), agent);
		ck_assert_int_ge(us.greeted, 1);
		ck_assert_int_eq(mode_of("pair.pem"), 0600);
		close(tell);
		finish();
	}
}
END_TEST

BU_UNIT("renew", a_certificate_of_a_lower_epoch_is_not_taken,
	a_third_of_its_life_is_left, it_is_renewed_when_it_is_due_and_not_before,
	an_answer_that_is_lost_cuts_nobody_off,
	a_pair_that_was_written_is_tried_until_somebody_answers,
	a_pair_that_is_refused_goes, a_session_goes_on_with_the_renewed_pair)
