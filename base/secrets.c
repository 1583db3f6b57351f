/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves references to secrets on the event loop: for work items, and for servers
 * that the daemon asks. Invariants: at most one program runs for a
 * reference; a secret stays in memory for KEEP_MS at most, counted from its arrival.
 */
#include "base/secrets.h"

#include <string.h>

#include "base/secret.h"
#include "base/worker.h"

enum { KEEP_MS = 5000 };

/* What one program is asked for. */
struct asked {
	struct asked *next;
	struct bu_secrets *secrets;
	char *reference;
	struct bu_job *job; /* NULL: it has answered */
	char *secret;       /* NULL: it failed */
	size_t size;
	struct bu_err err;
	struct bu_timer *forget;
};

struct bu_secrets {
	struct bu_loop *loop;
	void (*wake)(void *arg);
	void *arg;
	struct asked *asked;
};

struct bu_secrets *
bu_secrets_create(struct bu_loop *loop, void (*wake)(void *arg), void *arg)
{
	struct bu_secrets *secrets = bu_xcalloc(1, sizeof(*secrets));

	secrets->loop = loop;
	secrets->wake = wake;
	secrets->arg = arg;
	return secrets;
}

static void
forget(struct asked *asked)
{
	struct asked **link = &asked->secrets->asked;

	while (*link != asked)
		link = &(*link)->next;
	*link = asked->next;
	bu_job_cancel(asked->job);
	bu_timer_destroy(asked->forget);
	bu_secret_free(asked->secret, asked->size);
	free(asked->reference);
	free(asked);
}

static void
on_forget(void *arg)
{
	forget(arg);
}

void
bu_secrets_destroy(struct bu_secrets *secrets)
{
	if (!secrets)
		return;
	while (secrets->asked)
		forget(secrets->asked);
	free(secrets);
}

static void
on_answer(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct asked *asked = arg;

	asked->job = NULL;
	/* Its own words may hold the secret. */
	if (err)
		bu_err_set(&asked->err, err->kind, err->sys_errno,
			   "secret %s: the program failed", asked->reference);
	else
		asked->secret = bu_secret_of_output(asked->reference, result->out,
						    result->out_size, &asked->size,
						    &asked->err);
	bu_timer_set(asked->forget, KEEP_MS);
	asked->secrets->wake(asked->secrets->arg);
}

static int
ask(struct bu_secrets *secrets, const char *reference, struct bu_err *err)
{
	bu_autofree char *program = bu_secret_program(reference, err);
	const char *const argv[] = {program, NULL};
	struct asked *asked;
	struct bu_job *job;

	if (!program)
		return -1;
	asked = bu_xcalloc(1, sizeof(*asked));
	job = bu_job_start(secrets->loop,
			   &(struct bu_job_opts){.argv = argv,
						 .deadline_ms = BU_SECRET_EXEC_MS,
						 .output_max = BU_SECRET_MAX + 2,
						 .secret = 1},
			   on_answer, asked, err);
	if (!job) {
		free(asked);
		return bu_err_wrap(err, "secret %s", reference);
	}
	asked->job = job;
	asked->secrets = secrets;
	asked->reference = bu_xstrdup(reference);
	asked->forget = bu_timer_create(secrets->loop, on_forget, asked);
	asked->next = secrets->asked;
	secrets->asked = asked;
	return 0;
}

static struct asked *
find(const struct bu_secrets *secrets, const char *reference)
{
	struct asked *asked = secrets->asked;

	while (asked && strcmp(asked->reference, reference) != 0)
		asked = asked->next;
	return asked;
}

char *
bu_secrets_get(struct bu_secrets *secrets, const char *reference, size_t *ret_size,
	       struct bu_err *err)
{
	struct asked *asked;
	char *copy;

	if (!bu_secret_is_exec(reference) || !bu_secret_form_ok(reference))
		return bu_secret_resolve(reference, ret_size, err);
	asked = find(secrets, reference);
	if (!asked && ask(secrets, reference, err) != 0)
		return NULL;
	if (!asked || asked->job) {
		bu_err_set(err, BU_ERR_BUSY, 0, "secret %s: its program is asked",
			   reference);
		return NULL;
	}
	if (!asked->secret) {
		if (err)
			*err = asked->err;
		forget(asked);
		return NULL;
	}
	copy = bu_xmalloc(asked->size + 1);
	memcpy(copy, asked->secret, asked->size + 1);
	*ret_size = asked->size;
	return copy;
}
