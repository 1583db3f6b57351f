/* SPDX-License-Identifier: Apache-2.0 */
/* Life of dnsmasq and chronyd; used by their files alone. The connection to
 * bringup-boot is in connection.c. */
#include "provisioner/boot/child.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "provisioner/boot/connection.h"
#include "provisioner/boot/lines.h"
#include "provisioner/boot/program.h"

enum { RESTART_MS = 2000, SAID_MAX = 1024 };

struct bu_child {
	struct bu_loop *loop;
	const struct bu_boot_program *program;
	char *conf_path, *socket;
	bu_child_answer_fn fn;
	void *arg;
	struct bu_connection connection;
	struct bu_watch *watch;
	unsigned int run;
	char said[SAID_MAX]; /* the part of a line that has come */
	size_t size;
	struct bu_timer *restart;
};

static void
disconnect(struct bu_child *child)
{
	bu_watch_destroy(child->watch);
	child->watch = NULL;
	child->size = 0;
	bu_connection_close(&child->connection);
}

static void
on_ended(struct bu_child *child, const char *words)
{
	bu_error(child->program->name, "%s; starting it again", words);
	disconnect(child);
	bu_timer_set(child->restart, RESTART_MS);
}

/* 0 when it was the last one. */
static int
take_line(char *line, void *arg)
{
	struct bu_child *child = arg;
	char *words = line + strcspn(line, " ");

	if (*words)
		*words++ = '\0';
	if (strcmp(line, "ended") != 0) {
		if (child->fn)
			child->fn(line, words, child->arg);
		return 1;
	}
	on_ended(child, words);
	return 0;
}

/* A line that is too long loses its end. */
static void
on_said(int fd, int what, void *arg)
{
	struct bu_child *child = arg;
	ssize_t got = bu_connection_read(&child->connection, child->said + child->size,
					 SAID_MAX - 1 - child->size);

	if (got < 0)
		return;
	if (got == 0) {
		on_ended(child, "the connection to it was closed");
		return;
	}
	child->size += (size_t)got;
	if (child->size == SAID_MAX - 1)
		child->said[child->size - 1] = '\n';
	bu_lines_take(child->said, &child->size, take_line, child);
}

static void
start(void *arg)
{
	struct bu_child *child = arg;
	bu_autofree char *line = bu_xasprintf("start %s\n", child->conf_path);
	struct bu_err err;

	disconnect(child);
	if (bu_connection_open(&child->connection, child->program, child->socket,
			       child->conf_path, &err) != 0 ||
	    bu_connection_say(&child->connection, line, &err) != 0) {
		on_ended(child, err.text);
		return;
	}
	child->run++;
	child->watch = bu_watch_create(child->loop, child->connection.fd, BU_READABLE,
				       on_said, child);
}

struct bu_child *
bu_child_create(struct bu_loop *loop, const struct bu_child_opts *opts)
{
	struct bu_child *child = bu_xcalloc(1, sizeof(*child));

	child->loop = loop;
	child->program = bu_boot_program(opts->name);
	bu_assert(child->program);
	child->conf_path = bu_xstrdup(opts->conf_path);
	child->socket = opts->socket ? bu_xstrdup(opts->socket) : NULL;
	child->fn = opts->fn;
	child->arg = opts->arg;
	bu_connection_init(&child->connection);
	child->restart = bu_timer_create(loop, start, child);
	return child;
}

void
bu_child_destroy(struct bu_child *child)
{
	if (!child)
		return;
	bu_child_stop(child);
	bu_timer_destroy(child->restart);
	free(child->conf_path);
	free(child->socket);
	free(child);
}

void
bu_child_restart(struct bu_child *child)
{
	bu_timer_stop(child->restart);
	start(child);
}

void
bu_child_stop(struct bu_child *child)
{
	bu_timer_stop(child->restart);
	disconnect(child);
}

unsigned int
bu_child_run(const struct bu_child *child)
{
	return child->watch ? child->run : 0;
}

int
bu_child_reload(struct bu_child *child, struct bu_err *err)
{
	return bu_connection_say(&child->connection, "reload\n", err);
}

int
bu_child_widen(struct bu_child *child, struct bu_err *err)
{
	return bu_connection_say(&child->connection, "widen\n", err);
}

/* bringupd that is not root is in the group of the unit's user (bringup.sysusers).
 * Where that group is not ours the program runs as we do, or says that it cannot read.
 */
int
bu_child_folder(const char *name, const char *path, struct bu_err *err)
{
	const struct passwd *user = bu_boot_user(bu_boot_program(name));

	if (bu_mkdir_p(path, 0755, err) != 0)
		return -1;
	if ((user && chown(path, (uid_t)-1, user->pw_gid) != 0 && errno != EPERM) ||
	    chmod(path, 0750) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "folder '%s'", path);
	return 0;
}

int
bu_child_put(const char *path, mode_t mode, char **present, char **text, int *changed,
	     struct bu_err *err)
{
	if (*present && strcmp(*present, *text) == 0)
		return 0;
	if (bu_file_write(path, *text, strlen(*text), mode, err) != 0)
		return -1;
	free(*present);
	*present = bu_steal(text);
	*changed = 1;
	return 0;
}
