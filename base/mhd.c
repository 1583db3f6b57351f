/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd in the loop: a daemon without threads whose epoll descriptor the loop
 * watches; called by the API's listeners and by virtual BMCs. Invariant: one listener
 * has RUNS_MAX runs in one turn of the loop, so that a busy one starves none.
 */
#include "base/mhd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

enum { MEMORY_PER_CONNECTION = 16 * 1024, RUNS_MAX = 16, SAY_MS = 1000 };

struct bu_mhd {
	struct bu_loop *loop;
	int64_t said_ms;
	struct MHD_Daemon *daemon;
	struct bu_watch *watch;
	struct bu_timer *timer;
};

void
bu_mhd_run(struct bu_mhd *mhd)
{
	MHD_UNSIGNED_LONG_LONG in_ms = 0;
	int more = 1;

	for (int i = 0; more && i < RUNS_MAX; i++) {
		MHD_run(mhd->daemon);
		more = MHD_get_timeout(mhd->daemon, &in_ms) == MHD_YES && in_ms == 0;
	}
	if (more || MHD_get_timeout(mhd->daemon, &in_ms) == MHD_YES)
		bu_timer_set(mhd->timer, (int64_t)in_ms);
	else
		bu_timer_stop(mhd->timer);
}

static void
on_ready(int fd, int what, void *arg)
{
	bu_mhd_run(arg);
}

static void
on_timer(void *arg)
{
	bu_mhd_run(arg);
}

/* Strangers cause most of them. */
static void __attribute__((format(printf, 2, 0)))
on_log(void *arg, const char *fmt, va_list args)
{
	struct bu_mhd *mhd = arg;
	int64_t now_ms = bu_loop_now_ms(mhd->loop);
	char text[256];

	if (mhd->said_ms && now_ms - mhd->said_ms < SAY_MS)
		return;
	mhd->said_ms = now_ms;
	vsnprintf(text, sizeof(text), fmt, args);
	text[strcspn(text, "\n")] = '\0';
	bu_warn("http", "%s", text);
}

static struct MHD_Daemon *
start_daemon(struct bu_mhd *mhd, const struct bu_mhd_opts *opts)
{
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)opts->cert_pem},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)opts->key_pem},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)opts->priorities},
		{opts->ca_pem ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		 (void *)(uintptr_t)opts->ca_pem},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	if (opts->logs)
		flags |= MHD_USE_ERROR_LOG;
	if (opts->cert_pem)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(flags, 0, opts->on_accept, opts->connections_arg,
				opts->on_access, opts->arg, MHD_OPTION_EXTERNAL_LOGGER,
				on_log, mhd, MHD_OPTION_LISTEN_SOCKET, opts->fd,
				MHD_OPTION_NOTIFY_COMPLETED, opts->on_completed, NULL,
				MHD_OPTION_NOTIFY_CONNECTION, opts->on_connection,
				opts->connections_arg, MHD_OPTION_CONNECTION_TIMEOUT,
				opts->idle_s, MHD_OPTION_CONNECTION_LIMIT,
				opts->connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)MEMORY_PER_CONNECTION, MHD_OPTION_ARRAY,
				opts->cert_pem ? options : none, MHD_OPTION_END);
}

struct bu_mhd *
bu_mhd_start(struct bu_loop *loop, const struct bu_mhd_opts *opts, struct bu_err *err)
{
	struct bu_mhd *mhd = bu_xcalloc(1, sizeof(*mhd));

	mhd->loop = loop;
	mhd->daemon = start_daemon(mhd, opts);
	if (!mhd->daemon) {
		close(opts->fd);
		free(mhd);
		bu_err_set(err, BU_ERR_IO, 0, "cannot start an HTTP listener%s",
			   opts->cert_pem ? "; is the certificate the key's?" : "");
		return NULL;
	}
	mhd->timer = bu_timer_create(loop, on_timer, mhd);
	mhd->watch = bu_watch_create(
		loop,
		MHD_get_daemon_info(mhd->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		BU_READABLE, on_ready, mhd);
	return mhd;
}

void
bu_mhd_stop(struct bu_mhd *mhd)
{
	if (!mhd)
		return;
	bu_watch_destroy(mhd->watch);
	bu_timer_destroy(mhd->timer);
	MHD_stop_daemon(mhd->daemon);
	free(mhd);
}
