/* SPDX-License-Identifier: Apache-2.0 */
/* An appliance that is a list of answers, for a session of an agent with it. */
#ifndef BU_TESTS_SUPPORT_TURNS_H
#define BU_TESTS_SUPPORT_TURNS_H

#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/session.h"
#include "tests/support/unit.h"

/* What is asked for, in order, and what is answered; an ask of another path fails. */
struct turn {
	const char *path;
	int status;
	const char *text; /* NULL = nothing for HOLD_MS, as to a poll without work */
};
enum { HOLD_MS = 2000 };

struct appliance {
	struct MHD_Daemon *daemon;
	char url[64];
	const struct turn *turns;
	int at;
	int wrong;
	const char *meanwhile; /* a command, before this ask is answered */
	int meanwhile_at;
	char *bodies[16];
	char *body;
};

static inline enum MHD_Result
on_access(void *cls, struct MHD_Connection *connection, const char *url,
	  const char *method, const char *version, const char *data, size_t *size,
	  void **slot)
{
	struct appliance *appliance = cls;
	const struct turn *turn = &appliance->turns[appliance->at];
	struct MHD_Response *response;
	enum MHD_Result rc;
	const char *text;

	if (!*slot) {
		*slot = appliance;
		appliance->body = bu_xstrdup("");
		return MHD_YES;
	}
	if (*size) {
		bu_autofree char *old = appliance->body;

		appliance->body = bu_xasprintf("%s%.*s", old, (int)*size, data);
		*size = 0;
		return MHD_YES;
	}
	if (!turn->path || strcmp(url, turn->path) != 0)
		appliance->wrong++;
	if (appliance->meanwhile && appliance->at == appliance->meanwhile_at)
		ck_assert_int_eq(system(appliance->meanwhile), 0);
	text = turn->path ? turn->text
			  : "{\"error\":{\"kind\":\"denied\",\"text\":\"over\"}}";
	if (turn->path)
		appliance->bodies[appliance->at++] = bu_steal(&appliance->body);
	if (!text) {
		usleep(HOLD_MS * 1000);
		text = "{\"work\":null}";
	}
	response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	rc = MHD_queue_response(connection, turn->path ? (unsigned)turn->status : 403,
				response);
	MHD_destroy_response(response);
	return rc;
}

static inline void
begin(struct appliance *appliance, const struct turn *turns, struct bu_session *session,
      struct bu_identity *identity)
{
	const union MHD_DaemonInfo *info;
	struct bu_http_opts opts = {.base_url = appliance->url};

	memset(appliance, 0, sizeof(*appliance));
	memset(session, 0, sizeof(*session));
	memset(identity, 0, sizeof(*identity));
	appliance->turns = turns;
	appliance->daemon =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
				 on_access, appliance, MHD_OPTION_END);
	ck_assert_ptr_nonnull(appliance->daemon);
	info = MHD_get_daemon_info(appliance->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(appliance->url, sizeof(appliance->url), "http://127.0.0.1:%u",
		 (unsigned)info->port);
	identity->dir = bu_xstrdup("/no/such");
	identity->node = bu_xstrdup("node001");
	identity->boot_url =
		bu_xstrdup(appliance->url); /* asked for nothing but time */
	session->link.identity = identity;
	session->link.http = bu_http_create(&opts);
	session->link.progress_http = bu_http_create(&opts);
}

static inline void
finish(struct appliance *appliance, struct bu_session *session,
       struct bu_identity *identity)
{
	bu_http_destroy(session->link.http);
	bu_http_destroy(session->link.progress_http);
	json_decref(session->last_result);
	json_decref(session->links);
	json_decref(session->crash);
	json_decref(session->runs);
	bu_heard_fini(&session->heard);
	bu_identity_fini(identity);
	MHD_stop_daemon(appliance->daemon);
	for (size_t i = 0; i < BU_LEN(appliance->bodies); i++)
		free(appliance->bodies[i]);
	free(appliance->body);
}

#define HELLO "/v1/agent/hello"
#define WORK "/v1/agent/work"
#define RESULT "/v1/agent/result"
#define CONFIRM "/v1/agent/confirm"
#define DENIED "{\"error\":{\"kind\":\"denied\",\"text\":\"not any more\"}}"
#define DANCE "{\"work\":{\"id\":\"w1\",\"attempt\":1,\"kind\":\"dance\"}}"

static inline void
wait_for_asks(struct appliance *appliance, int count)
{
	for (int i = 0; i < 3000 && *(volatile int *)&appliance->at < count; i++)
		usleep(10000);
}

/* The session in a process of its own, which never ends by itself, with the appliance
 * whose URL it is told. A process without threads makes it. */
static inline pid_t
start_session(struct bu_session *session, struct bu_identity *identity, int *ret_tell)
{
	char url[64] = "";
	struct bu_http_opts opts = {.base_url = url};
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
	if (read(fds[0], url, sizeof(url)) == (ssize_t)sizeof(url)) {
		identity->url = url;
		session->link.identity = identity;
		session->link.http = bu_http_create(&opts);
		bu_ignore(bu_session_run(session, NULL));
	}
	_exit(1);
}

#endif
