/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of the programs that read consoles: at the end of its input ipmitool ends
 * its session at the BMC, and then itself; a BMC whose session stays open gives nobody
 * a console for a while. Called by console.c. Invariants: nothing waits for one of
 * them, at the end for all of them together; each is ended and waited for.
 */
#include "provisioner/power/console_end.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

enum {
	READ_MAX = 16384,
	READS_MAX = 16,
	LOGOUT_MS = 2000, /* to end its session; then TERM */
	KILL_MS = 500,    /* after that */
	REAP_MS = 20,
	ALL_MS = 400, /* what ends us waits a second, and that is not for us alone */
};

struct ending {
	struct ending *next;
	char *host;
	pid_t pid;
	int out_fd, errs_fd;
	int told; /* by TERM */
	int64_t next_ms;
};

struct bu_console_ends {
	struct bu_loop *loop;
	struct ending *list;
	struct bu_timer *timer;
};

/* What cannot write does not end. */
static void
swallow(int fd)
{
	char bytes[READ_MAX];

	for (int i = 0; i < READS_MAX && read(fd, bytes, sizeof(bytes)) > 0; i++)
		continue;
}

static void
forget(struct ending **link)
{
	struct ending *ending = *link;

	*link = ending->next;
	close(ending->out_fd);
	close(ending->errs_fd);
	free(ending->host);
	free(ending);
}

static void
reap(struct bu_console_ends *ends)
{
	int64_t now_ms = bu_loop_now_ms(ends->loop);
	struct ending **link = &ends->list, *at;

	while ((at = *link)) {
		swallow(at->out_fd);
		swallow(at->errs_fd);
		if (waitpid(at->pid, NULL, WNOHANG) != 0) {
			forget(link);
			continue;
		}
		if (now_ms >= at->next_ms) {
			kill(at->pid, at->told ? SIGKILL : SIGTERM);
			at->told = 1;
			at->next_ms = now_ms + KILL_MS;
		}
		link = &at->next;
	}
}

static void
on_timer(void *arg)
{
	struct bu_console_ends *ends = arg;

	reap(ends);
	if (ends->list)
		bu_timer_set(ends->timer, REAP_MS);
}

void
bu_console_ends_add(struct bu_console_ends *ends, const struct bu_console_end *program)
{
	struct ending *ending = bu_xcalloc(1, sizeof(*ending));

	ending->host = bu_xstrdup(program->host);
	ending->pid = program->pid;
	ending->out_fd = program->out_fd;
	ending->errs_fd = program->errs_fd;
	ending->next_ms =
		bu_loop_now_ms(ends->loop) + (program->logs_out ? LOGOUT_MS : 0);
	ending->next = ends->list;
	ends->list = ending;
	bu_timer_set(ends->timer, 0);
}

int
bu_console_ends_has(const struct bu_console_ends *ends, const char *host)
{
	const struct ending *at = ends->list;

	while (at && strcmp(at->host, host) != 0)
		at = at->next;
	return at != NULL;
}

struct bu_console_ends *
bu_console_ends_create(struct bu_loop *loop)
{
	struct bu_console_ends *ends = bu_xcalloc(1, sizeof(*ends));

	ends->loop = loop;
	ends->timer = bu_timer_create(loop, on_timer, ends);
	return ends;
}

void
bu_console_ends_destroy(struct bu_console_ends *ends)
{
	reap(ends);
	for (int waited = 0; ends->list && waited < ALL_MS; waited += REAP_MS) {
		poll(NULL, 0, REAP_MS);
		reap(ends);
	}
	for (struct ending *at = ends->list; at; at = at->next)
		kill(at->pid, SIGKILL);
	while (ends->list) {
		waitpid(ends->list->pid, NULL, 0);
		forget(&ends->list);
	}
	bu_timer_destroy(ends->timer);
	free(ends);
}
