/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks for too much, waits for ever or means somebody else, and who is served
 * meanwhile. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/crypto.h"
#include "provisioner/trust/trust.h"
#include "tests/support/server.h"

enum { MANY = 400, BODY = 500 << 10, BODY_SENDERS = 20 };

static const char whole[] =
	"GET /later?n=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

static void
pass(struct site *site, int turns)
{
	for (int i = 0; i < turns; i++)
		bu_loop_step(site->loop, 1);
}

/* A second after the other, as far as the clock goes. */
static void
pass_seconds(struct site *site, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		ahead_ms += 1000;
		pass(site, 3);
	}
}

/* Connections that say nothing but this; addresses have `each` of them. */
static void
fill(struct site *site, struct talk *talks, int count, int each, const char *text)
{
	char from[32];

	for (int i = 0; i < count; i++) {
		snprintf(from, sizeof(from), "127.0.1.%d", 1 + i / each);
		talk_from(&talks[i], from, site->port, text, 0);
		bu_loop_step(site->loop, 0);
	}
	pass(site, 50);
}

static int
count_ended(struct talk *talks, int count)
{
	int ended = 0;

	for (int i = 0; i < count; i++) {
		talk_take(&talks[i]);
		ended += talks[i].ended;
	}
	return ended;
}

static void
end_all(struct talk *talks, int count)
{
	for (int i = 0; i < count; i++)
		talk_end(&talks[i]);
}

/* Is another one answered? */
static void
is_served(struct site *site, const char *from)
{
	struct talk talk;

	site->open = 1;
	talk_from(&talk, from, site->port, whole, 0);
	for (int i = 0; i < PATIENCE && !talk.ended; i++)
		turn(site, &talk);
	ck_assert_msg(talk.status == 200, "%s is not served", from);
	talk_end(&talk);
}

static void
begin_listener(struct site *site, enum bu_listener kind)
{
	ahead_ms = 0;
	begin(site);
	site->port = listen_on(site, kind);
}

START_TEST(an_address_has_its_connections_and_the_others_theirs)
{
	struct site site;
	struct talk talks[100];
	int boot;

	begin_listener(&site, BU_LISTEN_BOOT);
	boot = site.port;
	fill(&site, talks, 64, 64, "G");
	ck_assert_int_eq(count_ended(talks, 64), 0);
	fill(&site, talks + 64, 36, 64, "G");
	ck_assert_int_eq(count_ended(talks + 64, 36), 36);
	ck_assert_int_eq(count_ended(talks, 64), 0);
	is_served(&site, "127.0.0.9");
	/* Nor does one listener take from another. */
	site.port = listen_on(&site, BU_LISTEN_AGENT);
	is_served(&site, "127.0.1.1");
	site.port = boot;
	/* What has ended counts no more. */
	talk_end(&talks[0]);
	pass(&site, 20);
	is_served(&site, "127.0.1.1");
	end_all(talks + 1, 99);
	finish(&site);
}
END_TEST

/* A byte now and then does not keep it open. */
START_TEST(who_does_not_come_to_the_point_is_closed)
{
	struct site site;
	struct talk talk;
	int seconds = 0;

	begin_listener(&site, BU_LISTEN_BOOT);
	talk_begin(&talk, site.port, "GET / HTTP/1.1\r\nX-Slow: ", 0);
	for (; seconds < 300 && !talk.ended; seconds++) {
		bu_ignore(send(talk.fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0);
		pass_seconds(&site, 1);
		talk_take(&talk);
	}
	ck_assert_int_ge(seconds, 28);
	ck_assert_int_le(seconds, 33);
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(a_body_that_does_not_end_is_closed)
{
	struct site site;
	struct talk talk;
	int seconds = 0;

	begin_listener(&site, BU_LISTEN_PAGE);
	talk_begin(&talk, site.port,
		   "POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
		   "4000\r\n\r\n{",
		   0);
	for (; seconds < 300 && !talk.ended; seconds++) {
		bu_ignore(send(talk.fd, " ", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0);
		pass_seconds(&site, 1);
		talk_take(&talk);
	}
	ck_assert_int_ge(seconds, 28);
	ck_assert_int_le(seconds, 33);
	talk_end(&talk);
	finish(&site);
}
END_TEST

/* It has 3/16 of the files that may be open. */
START_TEST(a_full_listener_takes_a_new_one_for_the_oldest_that_says_nothing)
{
	const struct rlimit files = {1600, 1600};
	struct site site;
	struct talk talks[MANY];

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	begin_listener(&site, BU_LISTEN_BOOT);
	fill(&site, talks, MANY, 50, "G");
	ck_assert_int_eq(count_ended(talks, MANY), MANY - 300);
	ck_assert_int_eq(count_ended(talks, MANY - 300), MANY - 300);
	is_served(&site, "127.0.0.9");
	end_all(talks, MANY);
	finish(&site);
}
END_TEST

static char *
half_body(void)
{
	char *text = bu_xmalloc(BODY + 200);
	int head = snprintf(text, 200,
			    "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
			    "%d\r\n\r\n",
			    BODY + 1);

	memset(text + head, ' ', BODY);
	text[head + BODY] = '\0';
	return text;
}

/* Sends all of it while the server reads. */
static void
push(struct site *site, struct talk *talk, const char *from, const char *text)
{
	size_t size = strlen(text), sent = 1;

	talk_from(talk, from, site->port, text, 1);
	for (int i = 0; i < PATIENCE && sent < size && !talk->ended; i++) {
		ssize_t now = send(talk->fd, text + sent, size - sent,
				   MSG_NOSIGNAL | MSG_DONTWAIT);

		sent += now > 0 ? (size_t)now : 0;
		turn(site, talk);
	}
	pass(site, 5);
	talk_take(talk);
}

START_TEST(an_address_has_so_many_unfinished_bodies_and_all_together_so_many_bytes)
{
	struct site site;
	struct talk talks[BODY_SENDERS * 8], more;
	bu_autofree char *text = half_body();
	char from[32];
	int count = BODY_SENDERS * 8, ended;

	begin_listener(&site, BU_LISTEN_AGENT);
	for (int i = 0; i < count; i++) {
		snprintf(from, sizeof(from), "127.0.1.%d", 1 + i / 8);
		push(&site, &talks[i], from, text);
	}
	/* 64 MiB, in buffers of at most twice their content */
	ended = count_ended(talks, count);
	ck_assert_int_ge(ended, count - 128);
	ck_assert_int_le(ended, count - 60);
	ck_assert_int_eq(count_ended(talks, ended), ended);
	/* The last address has all of its own. */
	push(&site, &more, from, text);
	ck_assert_int_eq(more.status, 503);
	ck_assert_ptr_nonnull(strstr(more.text, "Retry-After: 5\r\n"));
	talk_end(&more);
	end_all(talks, count);
	finish(&site);
}
END_TEST

static int
ask(struct site *site, const char *method, const char *path, const char *headers)
{
	bu_autofree char *text = bu_xasprintf("%s %s HTTP/1.1\r\nConnection: close\r\n"
					      "%s\r\n",
					      method, path, headers);
	struct talk talk;
	int status;

	say(site, &talk, text, 0);
	status = talk.status;
	talk_end(&talk);
	return status;
}

START_TEST(a_request_means_this_appliance_by_its_host)
{
	static const struct {
		const char *host;
		int status;
	} rows[] = {
		{"localhost", 200},
		{"LocalHost:8480", 200},
		{"127.0.0.1", 200},
		{"127.0.0.1:8480", 200},
		{"page.example", 200},
		{"Page.Example.:9", 200},
		{"nodes.example", 200},
		{"evil.example", 421},
		{"page.example.evil", 421},
		{"evil.page.example", 421},
		{"age.example", 421},
		{"localhost.evil.example", 421},
		{"page.example,nodes.example", 421},
		{"203.0.113.9", 421},
		{"0.0.0.0", 421},
		{"127.0.0.1.evil.example", 421},
		{"user@localhost", 421},
		{"localhost/x", 421},
		{"", 421},
		{",", 421},
	};
	struct site site;

	begin(&site);
	bu_server_names(site.server, "page.example, nodes.example");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *header = bu_xasprintf("Host: %s\r\n", rows[i].host);
		int status = ask(&site, "GET", "/", header);

		ck_assert_msg(status == rows[i].status, "'%s': %d", rows[i].host,
			      status);
	}
	finish(&site);
}
END_TEST

START_TEST(a_page_of_another_site_changes_nothing)
{
	static const struct {
		const char *method, *origin;
		int status;
	} rows[] = {
		{"POST", "", 200},
		{"POST", "Origin: http://localhost:8480\r\n", 200},
		{"POST", "Origin: https://LOCALHOST:8480\r\n", 200},
		{"POST", "Origin: http://evil.example\r\n", 403},
		{"POST", "Origin: http://localhost:8481\r\n", 403},
		{"POST", "Origin: http://localhost:8480.evil.example\r\n", 403},
		{"POST", "Origin: null\r\n", 403},
		{"POST", "Origin: localhost:8480\r\n", 403},
		{"DELETE", "Origin: http://evil.example\r\n", 403},
		{"PUT", "Origin: null\r\n", 403},
	};
	struct site site;

	begin(&site);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *headers =
			bu_xasprintf("Host: localhost:8480\r\nContent-Length: 0\r\n%s",
				     rows[i].origin);
		int status = ask(&site, rows[i].method, "/body", headers);

		ck_assert_msg(status == rows[i].status, "%s %s: %d", rows[i].method,
			      rows[i].origin, status);
	}
	finish(&site);
}
END_TEST

/* What openssl says of a connection with these words; 1 = there is one. */
static int
agrees(struct site *site, int port, const char *words)
{
	bu_autofree char *text =
		bu_xasprintf("exec openssl s_client -connect 127.0.0.1:%d %s "
			     "</dev/null >/dev/null 2>&1",
			     port, words);
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 4000 && waitpid(pid, &status, WNOHANG) == 0; i++)
		bu_loop_step(site->loop, 5);
	ck_assert_int_eq(WIFEXITED(status), 1);
	ck_assert_int_ne(WEXITSTATUS(status), 127);
	return WEXITSTATUS(status) == 0;
}

START_TEST(openssl_gets_no_cipher_of_128_bits)
{
	static const struct {
		const char *words;
		int agents, firmware;
	} rows[] = {
		{"-tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256", 0, 0},
		{"-tls1_3 -ciphersuites TLS_AES_128_CCM_SHA256", 0, 0},
		{"-tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384", 1, 1},
		{"-tls1_3 -ciphersuites TLS_CHACHA20_POLY1305_SHA256", 1, 1},
		{"-tls1_2", 0, 1},
		{"-tls1_2 -cipher ECDHE-ECDSA-AES128-GCM-SHA256", 0, 0},
		{"-tls1_2 -cipher ECDHE-ECDSA-AES256-SHA", 0, 0},
		{"-tls1_2 -cipher ECDHE-ECDSA-AES256-GCM-SHA384", 0, 1},
		{"-tls1_1 -cipher ALL:@SECLEVEL=0", 0, 0},
	};
	const char *names[] = {"IP:127.0.0.1", NULL};
	char dir[] = "/tmp/bringup-ciphers-XXXXXX";
	struct bu_server_tls tls = {0};
	struct bu_trust *trust;
	struct site site;
	int ports[2];

	BU_NEEDS("openssl");
	begin(&site);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	trust = bu_trust_open(dir, names, NULL);
	tls.cert = bu_trust_server_cert(trust);
	tls.key = bu_trust_server_key(trust);
	for (int firmware = 1; firmware >= 0; firmware--) {
		int fd = bu_listen_tcp("127.0.0.1:0", NULL);

		ports[firmware] = talk_port(fd);
		tls.ca = firmware ? NULL : bu_trust_ca(trust);
		ck_assert_int_eq(
			bu_server_listen(site.server,
					 firmware ? BU_LISTEN_BOOT : BU_LISTEN_AGENT,
					 fd, &tls, NULL),
			0);
	}
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(agrees(&site, ports[0], rows[i].words) == rows[i].agents,
			      "agents: %s", rows[i].words);
		ck_assert_msg(agrees(&site, ports[1], rows[i].words) ==
				      rows[i].firmware,
			      "firmware: %s", rows[i].words);
	}
	finish(&site);
	bu_trust_destroy(trust);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("server limits", an_address_has_its_connections_and_the_others_theirs,
	who_does_not_come_to_the_point_is_closed, a_body_that_does_not_end_is_closed,
	a_full_listener_takes_a_new_one_for_the_oldest_that_says_nothing,
	an_address_has_so_many_unfinished_bodies_and_all_together_so_many_bytes,
	a_request_means_this_appliance_by_its_host,
	a_page_of_another_site_changes_nothing, openssl_gets_no_cipher_of_128_bits)
