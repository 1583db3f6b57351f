/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CA is changed under an agent, over real TLS with the agent's own code: it takes
 * the new CA, renews its certificate, and goes on when the old one has ended. One that
 * was off is named, and is cut off by --force alone.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/renew.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { CALL_MS = 20000, HOUR_MS = 3600 * 1000, TURNS = 4000, RENEWALS = 4, FDS = 1024 };

static struct site site;
static char home[120];
static pid_t pid;
static int ask_fd, said_fd;

struct said {
	struct bu_err err; /* of the question for work */
	int renewed;
	char ca[65]; /* digest of what it trusts */
};

/* --- the agent, in a process of its own --- */

static void
poll_once(const struct bu_identity *identity, struct bu_heard *heard, struct said *ret)
{
	struct bu_http *http = bu_identity_connect(identity);
	bu_autojson json_t *body = json_pack("{s:i,s:i,s:s}", "wait_ms", 0, "protocol",
					     BU_AGENT_PROTOCOL, "ca", heard->ca);
	bu_autojson json_t *reply = NULL;

	if (bu_http_json(
		    http,
		    &(struct bu_http_call){"POST", "/v1/agent/work", body, CALL_MS},
		    &reply, &ret->err) == 0) {
		ret->err.kind = BU_ERR_NONE;
		bu_ignore(bu_heard_answer(heard, reply, &ret->err));
		snprintf(ret->ca, sizeof(ret->ca), "%s", heard->ca);
	}
	bu_http_destroy(http);
	if (heard->renew)
		ret->renewed = bu_renew(identity, heard, time(NULL), &ret->err);
}

static void
live(int ask, int said)
{
	struct bu_identity identity = {.installed = 1, .dir = home, .node = "node001"};
	struct bu_heard heard;
	int port;

	bu_heard_load(&heard, &identity);
	while (read(ask, &port, sizeof(port)) == (ssize_t)sizeof(port)) {
		struct said now = {0};

		identity.url = bu_xasprintf("https://127.0.0.1:%d", port);
		poll_once(&identity, &heard, &now);
		free(identity.url);
		if (write(said, &now, sizeof(now)) != (ssize_t)sizeof(now))
			_exit(1);
	}
	_exit(0);
}

static void
start_agent(void)
{
	int ask[2], said[2];

	ck_assert_int_eq(pipe(ask), 0);
	ck_assert_int_eq(pipe(said), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The log is another process's. */
		for (int fd = STDERR_FILENO + 1; fd < FDS; fd++)
			if (fd != ask[0] && fd != said[1])
				close(fd);
		live(ask[0], said[1]);
	}
	close(ask[0]);
	close(said[1]);
	ask_fd = ask[1];
	said_fd = said[0];
}

static struct said
polls(void)
{
	struct said said = {0};
	ssize_t got = 0;

	ck_assert_int_eq(write(ask_fd, &site.agent, sizeof(site.agent)),
			 sizeof(site.agent));
	for (int i = 0; i < TURNS && got == 0; i++) {
		fd_set ready;
		struct timeval now = {0, 5000};

		rig_pass(&site.rig, 1);
		FD_ZERO(&ready);
		FD_SET(said_fd, &ready);
		if (select(said_fd + 1, &ready, NULL, NULL, &now) == 1)
			got = read(said_fd, &said, sizeof(said));
	}
	ck_assert_int_eq(got, sizeof(said));
	return said;
}

static void
is_answered(void)
{
	struct said said = polls();

	ck_assert_msg(said.err.kind == BU_ERR_NONE, "%s", said.err.text);
}

/* --- the site --- */

static void
keep(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", home, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

/* Certificates have the system's time; what is issued from now on is later. */
static void
set_clock(void)
{
	site.rig.clock.fake_wall_ms = (int64_t)time(NULL) * 1000 - 2000;
}

/* node001 has a certificate of an hour ago. */
static void
begin(void)
{
	bu_autofree char *key = NULL, *csr = NULL, *cert = NULL;
	char fingerprint[65];
	int64_t from_s, until_s;
	struct bu_event event;

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	set_clock();
	snprintf(home, sizeof(home), "%s/home", site.rig.dir);
	ck_assert_int_eq(bu_mkdir_p(home, 0700, NULL), 0);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "node001", &csr, NULL), 0);
	cert = bu_trust_issue(site.rig.trust, csr, rig_node(&site.rig, 1)->machine,
			      NULL);
	keep("ca.pem", bu_trust_ca(site.rig.trust));
	keep("cert.pem", cert);
	keep("key.pem", key);
	ck_assert_int_eq(bu_cert_fingerprint(cert, fingerprint, NULL), 0);
	ck_assert_int_eq(bu_cert_times(cert, &from_s, &until_s, NULL), 0);
	BU_EVENT_MAKE(&event, BU_EVENT_RENEWED, "node001", renewed,
		      .fingerprint = fingerprint, .until_ms = until_s * 1000 - HOUR_MS);
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	start_agent();
	is_answered();
}

static void
end(void)
{
	kill(pid, SIGKILL); /* other children may hold its pipe */
	close(ask_fd);
	close(said_fd);
	waitpid(pid, NULL, 0);
	site_end(&site);
}

/* "words" of an error: of its answer. */
static void
step(const char *to, int force, int status, const char *says)
{
	bu_autofree char *body = bu_xasprintf("{\"to\":\"%s\",\"force\":%s}", to,
					      force ? "true" : "false");
	bu_autojson json_t *answer =
		site_call(&site, site.local, "POST", "/v1/site/rekey", body, status);
	bu_autofree char *text = json_dumps(answer, JSON_COMPACT);

	rig_text_has(text, says);
}

static void
restart(void)
{
	site_restart(&site);
	set_clock();
}

static void
waits_for(const char *names)
{
	bu_autojson json_t *shown =
		site_call(&site, site.local, "GET", "/v1/site/rekey", "", 200);
	bu_autofree char *text =
		json_dumps(json_object_get(shown, "waits"), JSON_COMPACT);

	ck_assert_str_eq(text, names);
}

START_TEST(an_agent_goes_from_one_ca_to_the_other)
{
	bu_autofree char *old = NULL;
	struct said said = {0};
	int renewals = 0;

	begin();
	old = bu_xstrdup(bu_trust_ca(site.rig.trust));
	waits_for("[]");
	step("issues", 0, 409, "does not come");
	step("told", 0, 200, "\"step\":\"told\"");
	waits_for("[\"node001\"]");
	step("issues", 0, 409, "restart it first");
	is_answered(); /* and takes both */
	said = polls();
	ck_assert_str_eq(said.ca, bu_trust_ca_digest(site.rig.trust));
	waits_for("[]");
	restart();
	step("issues", 0, 409, "1 nodes have not taken it yet: node001");
	is_answered();
	step("issues", 0, 200, "\"step\":\"issues\"");
	waits_for("[\"node001\"]");
	restart();
	step("none", 0, 409, "node001");
	while (renewals < RENEWALS && said.renewed != 1) {
		said = polls();
		renewals++;
	}
	ck_assert_int_eq(said.renewed, 1);
	is_answered();
	waits_for("[]");
	step("none", 0, 200, "\"step\":\"none\"");
	is_answered();
	restart();
	said = polls();
	ck_assert_msg(said.err.kind == BU_ERR_NONE, "%s", said.err.text);
	ck_assert_str_eq(said.ca, bu_trust_ca_digest(site.rig.trust));
	ck_assert_ptr_null(strstr(bu_trust_ca(site.rig.trust), old));
	end();
}
END_TEST

START_TEST(who_was_off_is_named_and_cut_off_by_force_alone)
{
	begin();
	step("told", 0, 200, "told");
	restart();
	step("issues", 0, 409, "bringup node rebuild");
	step("issues", 1, 200, "issues");
	restart();
	/* It knows the old CA alone, by which the server is none any more. */
	ck_assert_int_ne(polls().err.kind, BU_ERR_NONE);
	waits_for("[\"node001\"]");
	step("none", 0, 409, "node001");
	step("none", 1, 200, "none");
	end();
}
END_TEST

START_TEST(what_was_only_told_is_taken_back)
{
	bu_autofree char *old = NULL;

	begin();
	old = bu_xstrdup(bu_trust_ca(site.rig.trust));
	step("told", 0, 200, "told");
	is_answered();
	step("none", 0, 200, "none");
	ck_assert_str_eq(bu_trust_ca(site.rig.trust), old);
	restart();
	is_answered();
	end();
}
END_TEST

RIG_UNIT("rekey", an_agent_goes_from_one_ca_to_the_other,
	 who_was_off_is_named_and_cut_off_by_force_alone,
	 what_was_only_told_is_taken_back)
