/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual BMCs behind real sockets of 127.0.0.1, in one loop. */
#include "lab/bmc/server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "tests/support/talk.h"
#include "tests/support/unit.h"

enum { TURNS = 1000 };

struct one {
	struct bu_bmc_tree *tree;
	struct bu_bmc *bmc;
	struct bu_bmc_server *server;
	struct bu_bmc_listen listen;
	int port;
};

static int
listen_somewhere(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	return fd;
}

static void
begin(struct one *one, struct bu_loop *loop, const char *fault)
{
	struct bu_bmc_identity identity;
	struct bu_err err = {0};

	one->tree = bu_bmc_tree_load("dell", &err);
	ck_assert_msg(one->tree != NULL, "%s", err.text);
	one->bmc = bu_bmc_create(
		&(struct bu_bmc_opts){.tree = one->tree,
				      .machine = bu_bmc_machine_paper(0, 0, &identity),
				      .identity = &identity,
				      .user = "admin",
				      .password = "secret",
				      .now_ms = bu_loop_now_ms(loop)});
	if (fault)
		ck_assert_int_eq(bu_bmc_fault(one->bmc, fault, &err), 0);
	one->listen.fd = listen_somewhere();
	one->port = talk_port(one->listen.fd);
	one->server = bu_bmc_server_create(loop, one->bmc, &one->listen, &err);
	ck_assert_msg(one->server != NULL, "%s", err.text);
}

static void
finish(struct one *one)
{
	bu_bmc_server_destroy(one->server);
	bu_bmc_destroy(one->bmc);
	bu_bmc_tree_free(one->tree);
}

static void
until_ended(struct bu_loop *loop, struct talk *talk)
{
	for (int i = 0; i < TURNS && !talk->ended; i++) {
		bu_loop_step(loop, 10);
		talk_take(talk);
	}
	ck_assert_int_eq(talk->ended, 1);
}

#define GET(path, more)                                                                \
	"GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" more "\r\n"
#define BASIC "Authorization: Basic YWRtaW46c2VjcmV0\r\n" /* admin:secret */
#define RESET "/redfish/v1/Systems/System.Embedded.1/Actions/ComputerSystem.Reset"

START_TEST(requests_arrive_whole)
{
	static const struct {
		const char *request;
		int status;
		const char *has;
	} rows[] = {
		{GET("/redfish/v1/", ""), 200, "\"Vendor\":\"Dell\""},
		{GET("/redfish/v1/", "OData-Version: 4.1\r\n"), 412, "OData-Version"},
		{GET("/redfish/v1/?$top=1", ""), 501, "$top"},
		{GET("/redfish/v1/?top=1", ""), 200, "Vendor"},
		{GET("/redfish/v1/Systems", ""), 401, "NoValidSession"},
		{GET("/redfish/v1/Systems", BASIC), 200, "System.Embedded.1"},
		{GET("/redfish/v1/$metadata", ""), 200, "EntityContainer"},
		{"POST " RESET " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" BASIC
		 "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
		 "{\"ResetType\":\"On\"}",
		 204, ""},
		{"POST " RESET " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" BASIC
		 "\r\n",
		 411, "Content-Length"},
		{"BREW /redfish/v1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" BASIC
		 "\r\n",
		 405, "OperationNotAllowed"},
	};
	struct bu_loop *loop = bu_loop_create(NULL);
	struct one one = {0};

	begin(&one, loop, NULL);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct talk talk = {0};

		talk_begin(&talk, one.port, rows[i].request, 0);
		until_ended(loop, &talk);
		ck_assert_msg(talk.status == rows[i].status, "%s: %d", rows[i].request,
			      talk.status);
		ck_assert_msg(strstr(talk.text, rows[i].has) != NULL, "%s: %s",
			      rows[i].request, talk.text);
		talk_end(&talk);
	}
	finish(&one);
	bu_loop_destroy(loop);
}
END_TEST

START_TEST(a_slow_bmc_delays_nobody_else)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct one slow = {0}, quick = {0};
	struct talk waits[2] = {{0}}, talk = {0};
	int64_t began_ms = bu_loop_now_ms(loop);

	begin(&slow, loop, "slow=300");
	begin(&quick, loop, NULL);
	for (int i = 0; i < 2; i++)
		talk_begin(&waits[i], slow.port, GET("/redfish/v1/", ""), 0);
	talk_begin(&talk, quick.port, GET("/redfish/v1/", ""), 0);
	until_ended(loop, &talk);
	ck_assert_int_eq(talk.status, 200);
	ck_assert_int_eq(waits[0].ended, 0);
	for (int i = 0; i < 2; i++) {
		until_ended(loop, &waits[i]);
		ck_assert_int_eq(waits[i].status, 200);
		talk_end(&waits[i]);
	}
	ck_assert_int_ge(bu_loop_now_ms(loop) - began_ms, 300);
	talk_end(&talk);
	/* One that waits when its BMC ends goes with it. */
	talk_begin(&talk, slow.port, GET("/redfish/v1/", ""), 0);
	for (int i = 0; i < 5; i++)
		bu_loop_step(loop, 10);
	talk_end(&talk);
	finish(&slow);
	finish(&quick);
	bu_loop_destroy(loop);
}
END_TEST

START_TEST(the_machine_starts_without_being_asked_again)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_bmc_identity identity;
	struct bu_bmc_machine *machine = bu_bmc_machine_paper(0, 0, &identity);
	struct bu_bmc_tree *tree = bu_bmc_tree_load("dell", NULL);
	struct bu_bmc *bmc =
		bu_bmc_create(&(struct bu_bmc_opts){.tree = tree,
						    .machine = machine,
						    .identity = &identity,
						    .user = "admin",
						    .password = "secret",
						    .now_ms = bu_loop_now_ms(loop)});
	struct bu_bmc_listen listen = {.fd = listen_somewhere()};
	int port = talk_port(listen.fd);
	struct bu_bmc_server *server = bu_bmc_server_create(loop, bmc, &listen, NULL);
	struct talk talk = {0};

	ck_assert_int_eq(bu_bmc_fault(bmc, "post=0", NULL), 0);
	talk_begin(&talk, port,
		   "POST " RESET " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" BASIC
		   "Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
		   "{\"ResetType\":\"On\"}",
		   0);
	until_ended(loop, &talk);
	ck_assert_int_eq(talk.status, 204);
	talk_end(&talk);
	for (int i = 0; i < TURNS && !bu_bmc_machine_paper_starts(machine); i++)
		bu_loop_step(loop, 10);
	ck_assert_int_eq(bu_bmc_machine_paper_starts(machine), 1);
	bu_bmc_server_destroy(server);
	bu_bmc_destroy(bmc);
	bu_bmc_tree_free(tree);
	bu_loop_destroy(loop);
}
END_TEST

/* A self-made certificate for the key; owned. */
static char *
certificate_for(const char *key)
{
	bu_autofree char *ca_key = NULL, *ca_cert = NULL;
	const char *const names[] = {"IP:127.0.0.1", NULL};
	char *cert = NULL;

	ck_assert_int_eq(bu_tls_key_create(&ca_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create("virtual BMC", ca_key, &ca_cert, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key,
					    names, &cert, NULL),
			 0);
	return cert;
}

/* The certificate that is shown at the port now, as openssl sees it. */
static void
see_certificate(struct bu_loop *loop, int port, char ret_hex[BU_DIGEST_SIZE])
{
	bu_autofree char *command = bu_xasprintf(
		"openssl s_client -connect 127.0.0.1:%d </dev/null 2>/dev/null | "
		"openssl x509",
		port);
	FILE *pipe = popen(command, "r");
	bu_autofree char *pem = bu_xcalloc(1, 8192);
	size_t size = 0;
	ssize_t got = -1;

	fcntl(fileno(pipe), F_SETFL, O_NONBLOCK);
	for (int i = 0; i < TURNS && got != 0; i++) {
		bu_loop_step(loop, 10);
		got = read(fileno(pipe), pem + size, 8191 - size);
		size += got > 0 ? (size_t)got : 0;
	}
	ck_assert_int_eq(pclose(pipe), 0);
	ck_assert_int_eq(bu_cert_fingerprint(pem, ret_hex, NULL), 0);
}

START_TEST(another_certificate_is_shown_after_its_time)
{
	struct bu_loop *loop;
	struct bu_bmc_identity identity;
	struct bu_bmc_tree *tree;
	struct bu_bmc_server *server;
	struct bu_bmc *bmc;
	bu_autofree char *key = NULL, *first = NULL, *other = NULL;
	char want[2][BU_DIGEST_SIZE], seen[BU_DIGEST_SIZE];
	struct bu_bmc_listen listen = {.fd = listen_somewhere()};
	int port = talk_port(listen.fd);
	int64_t until_ms;

	BU_NEEDS("openssl");
	loop = bu_loop_create(NULL);
	tree = bu_bmc_tree_load("dell", NULL);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	first = certificate_for(key);
	other = certificate_for(key);
	ck_assert_int_eq(bu_cert_fingerprint(first, want[0], NULL), 0);
	ck_assert_int_eq(bu_cert_fingerprint(other, want[1], NULL), 0);
	listen.cert_pem = first;
	listen.key_pem = key;
	listen.other_pem = other;
	bmc = bu_bmc_create(
		&(struct bu_bmc_opts){.tree = tree,
				      .machine = bu_bmc_machine_paper(0, 0, &identity),
				      .identity = &identity,
				      .now_ms = bu_loop_now_ms(loop)});
	ck_assert_int_eq(bu_bmc_fault(bmc, "new-certificate=1", NULL), 0);
	server = bu_bmc_server_create(loop, bmc, &listen, NULL);
	until_ms = bu_loop_now_ms(loop) + 1100;
	see_certificate(loop, port, seen);
	/* On a machine that is this busy the first one was not seen at all. */
	if (bu_loop_now_ms(loop) < until_ms - 100)
		ck_assert_str_eq(seen, want[0]);
	while (bu_loop_now_ms(loop) < until_ms)
		bu_loop_step(loop, 50);
	see_certificate(loop, port, seen);
	ck_assert_str_eq(seen, want[1]);
	bu_bmc_server_destroy(server);
	bu_bmc_destroy(bmc);
	bu_bmc_tree_free(tree);
	bu_loop_destroy(loop);
}
END_TEST

BU_UNIT("lab bmc server", requests_arrive_whole, a_slow_bmc_delays_nobody_else,
	the_machine_starts_without_being_asked_again,
	another_certificate_is_shown_after_its_time)
