/* SPDX-License-Identifier: Apache-2.0 */
/* Life of dnsmasq and chronyd; used by their files alone. */
#include "provisioner/boot/child.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"

enum { RESTART_MS = 2000 };

struct bu_child {
	struct bu_loop *loop;
	char *name, *conf_path;
	bu_child_start_fn fn;
	struct bu_job *job;
	struct bu_timer *restart;
};

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_child *child = arg;

	child->job = NULL;
	bu_error(child->name, "%s; starting it again", err ? err->text : "it ended");
	bu_timer_set(child->restart, RESTART_MS);
}

static void
start(void *arg)
{
	struct bu_child *child = arg;
	struct bu_err err;

	bu_job_cancel(child->job);
	child->job = child->fn(child->loop, child->conf_path, on_ended, child, &err);
	if (child->job)
		return;
	bu_error(child->name, "%s", err.text);
	bu_timer_set(child->restart, RESTART_MS);
}

struct bu_child *
bu_child_create(struct bu_loop *loop, const char *name, const char *conf_path,
		bu_child_start_fn fn)
{
	struct bu_child *child = bu_xcalloc(1, sizeof(*child));

	child->loop = loop;
	child->name = bu_xstrdup(name);
	child->conf_path = bu_xstrdup(conf_path);
	child->fn = fn;
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
	free(child->name);
	free(child->conf_path);
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
	bu_job_cancel(child->job);
	child->job = NULL;
}

pid_t
bu_child_pid(const struct bu_child *child)
{
	return child->job ? bu_job_pid(child->job) : 0;
}

int
bu_child_put(const char *path, char **present, char **text, int *changed,
	     struct bu_err *err)
{
	if (*present && strcmp(*present, *text) == 0)
		return 0;
	if (bu_file_write(path, *text, strlen(*text), 0600, err) != 0)
		return -1;
	free(*present);
	*present = bu_steal(text);
	*changed = 1;
	return 0;
}
