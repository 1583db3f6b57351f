/* SPDX-License-Identifier: Apache-2.0 */
/* A server over loopback with routes of its own, a fake log and a clock that a test
 * moves on. */
#ifndef BU_TESTS_SUPPORT_SERVER_H
#define BU_TESTS_SUPPORT_SERVER_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/api/server.h"
#include "provisioner/store/driver.h"
#include "tests/support/row.h"
#include "tests/support/talk.h"
#include "tests/support/unit.h"

enum { FILE_SIZE = 200000, PATIENCE = 1000, CLIENTS_MAX = 1300 };

struct site {
	struct bu_loop *loop;
	struct bu_server *server;
	int port, local, agent;
	char seen[CLIENTS_MAX]; /* numbers that asked the waiting handler */
	int clients;            /* of them */
	int asked;              /* how often the waiting handler was */
	int64_t waited_ms;      /* as it was told the first time */
	int open;               /* it answers now */
	char file[64];
	struct bu_store *store;
	int client;               /* who asked for /logged */
	enum bu_proposal_end end; /* what the log says to it */
	struct bu_proposal *proposed;
	int early; /* it had an answer before the log had the event */
};

static inline enum bu_answer
text_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	const char *name = bu_request_query(request, "name");

	if (bu_request_query(request, "n"))
		reply->text = bu_xasprintf(
			"%lld", (long long)bu_request_number(request, "n", 7, 60));
	else
		reply->text = bu_xasprintf("hello %s", name ? name : "world");
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
params_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	       struct bu_err *err)
{
	reply->json = json_pack("{s:s,s:s?}", "one", request->params[0], "two",
				request->params[1]);
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
rest_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	reply->text = bu_xstrdup(request->params[0]);
	reply->content_type = "text/odd";
	reply->status = 201;
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
body_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	reply->json = json_pack("{s:O?}", "body", request->body);
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
file_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	const struct site *site = arg;
	struct stat st;

	reply->has_fd = 1;
	reply->fd = open(site->file, O_RDONLY | O_CLOEXEC);
	fstat(reply->fd, &st);
	reply->fd_size = (uint64_t)st.st_size;
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
later_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	      struct bu_err *err)
{
	struct site *site = arg;
	int number;

	if (!site->asked++)
		site->waited_ms = request->waited_ms;
	number = (int)bu_request_number(request, "n", 0, CLIENTS_MAX - 1);
	site->clients += !site->seen[number];
	site->seen[number] = 1;
	if (!site->open)
		return BU_ANSWER_LATER;
	reply->json = json_pack("{s:b}", "waited", request->waited_ms > 0);
	return BU_ANSWER_NOW;
}

/* --- time that a test moves on --- */

static int64_t ahead_ms;

static inline int64_t
hasty_ms(const struct bu_clock *clock)
{
	return bu_mono_ms(bu_clock_system()) + ahead_ms;
}

static const struct bu_clock hasty = {.mono_ms = hasty_ms, .wall_ms = hasty_ms};

/* --- a fake log --- */

static inline void
paper_attach(void *driver, struct bu_store *store)
{
	((struct site *)driver)->store = store;
}

static inline void
paper_propose(void *driver, struct bu_proposal *proposal)
{
	struct site *site = driver;
	struct bu_proposal **end = &site->proposed;

	while (*end)
		end = &(*end)->next;
	proposal->next = NULL;
	*end = proposal;
}

static inline void
paper_decide(void *driver)
{
	struct site *site = driver;
	struct bu_proposal *next;
	struct bu_err err;
	char byte;

	site->early = recv(site->client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
	bu_err_set(&err, BU_ERR_IO, 0, "the disk is full; 0 bytes are free");
	if (site->end != BU_PROPOSAL_DONE)
		bu_store_fail(site->store, &err);
	for (; site->proposed; site->proposed = next) {
		next = site->proposed->next;
		bu_store_decide(site->store, site->proposed, site->end, &err);
		if (site->end == BU_PROPOSAL_UNKNOWN)
			return;
	}
}

static inline void
paper_close(void *driver)
{
}

static const struct bu_store_ops paper_log = {.name = "paper",
					      .attach = paper_attach,
					      .propose = paper_propose,
					      .decide = paper_decide,
					      .close = paper_close};

static inline enum bu_answer
logged_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	       struct bu_err *err)
{
	struct site *site = arg;
	struct bu_event event;

	site->asked++;
	row_init(&event, BU_EVENT_RELEASED, "node001", json_object());
	bu_store_append(site->store, &event, 1, 0, NULL, NULL);
	reply->text = bu_xstrdup("it is in the log");
	reply->logged = site->store;
	return BU_ANSWER_NOW;
}

static inline enum bu_answer
error_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	      struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_DENIED, 0, "not you, %s", request->params[0]);
}

#define ANYBODY                                                                        \
	((enum bu_caller_role)(BU_CALLER_NODE | BU_CALLER_VIEW | BU_CALLER_OPERATE))

static const struct bu_route routes[] = {
	{"GET", "/", BU_LISTEN_PAGE, ANYBODY, text_handler, ""},
	{"GET", "/a/*/b/*", BU_LISTEN_PAGE, ANYBODY, params_handler, ""},
	{"GET", "/a/*", BU_LISTEN_PAGE, ANYBODY, params_handler, ""},
	{"GET", "/rest/**", BU_LISTEN_PAGE, ANYBODY, rest_handler, ""},
	{"POST", "/body", BU_LISTEN_PAGE | BU_LISTEN_LOCAL | BU_LISTEN_AGENT, ANYBODY,
	 body_handler, ""},
	{"GET", "/file", BU_LISTEN_PAGE, ANYBODY, file_handler, ""},
	{"GET", "/later", BU_LISTEN_PAGE | BU_LISTEN_BOOT | BU_LISTEN_AGENT, ANYBODY,
	 later_handler, ""},
	{"POST", "/later", BU_LISTEN_PAGE, ANYBODY, later_handler, ""},
	{"GET", "/logged", BU_LISTEN_PAGE, ANYBODY, logged_handler, ""},
	{"GET", "/deny/*", BU_LISTEN_PAGE, ANYBODY, error_handler, ""},
	{"GET", "/secret", BU_LISTEN_AGENT | BU_LISTEN_LOCAL, ANYBODY, text_handler,
	 ""},
	{"POST", "/operate", BU_LISTEN_PAGE | BU_LISTEN_LOCAL, BU_CALLER_OPERATE,
	 text_handler, ""},
	{NULL, NULL, 0, ANYBODY, NULL, NULL},
};

static inline int
listen_on(struct site *site, enum bu_listener kind)
{
	struct bu_err err = {0};
	int fd = bu_listen_tcp("127.0.0.1:0", &err), port;

	ck_assert_msg(fd >= 0, "%s", err.text);
	port = talk_port(fd);
	ck_assert_int_eq(bu_server_listen(site->server, kind, fd, NULL, &err), 0);
	return port;
}

static inline void
begin(struct site *site)
{
	bu_autofree char *data = bu_xmalloc(FILE_SIZE);
	int fd;

	memset(site, 0, sizeof(*site));
	strcpy(site->file, "/tmp/bringup-server-XXXXXX");
	fd = mkstemp(site->file);
	for (int i = 0; i < FILE_SIZE; i++)
		data[i] = (char)('a' + i % 26);
	ck_assert_int_eq(bu_write_all(fd, data, FILE_SIZE, NULL), 0);
	close(fd);
	site->loop = bu_loop_create(&hasty);
	site->server = bu_server_create(site->loop, routes, site);
	site->port = listen_on(site, BU_LISTEN_PAGE);
	site->local = listen_on(site, BU_LISTEN_LOCAL);
	site->agent = listen_on(site, BU_LISTEN_AGENT);
}

static inline void
finish(struct site *site)
{
	bu_server_destroy(site->server);
	bu_loop_destroy(site->loop);
	unlink(site->file);
}

static inline void
turn(struct site *site, struct talk *talk)
{
	bu_loop_step(site->loop, 10);
	talk_take(talk);
}

static inline void
say(struct site *site, struct talk *talk, const char *request, size_t size)
{
	talk_begin(talk, site->port, request, size);
	for (int i = 0; i < PATIENCE && !talk->ended; i++)
		turn(site, talk);
	ck_assert_msg(talk->ended, "no answer to %s", request);
}

static inline void
get(struct site *site, struct talk *talk, const char *path, const char *headers)
{
	bu_autofree char *text = bu_xasprintf(
		"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"%s\r\n",
		path, headers ? headers : "");

	say(site, talk, text, 0);
}

#endif
