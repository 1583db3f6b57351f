/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As whom a BMC is spoken to. Called by perform.c before a run begins, and by run.c
 * around each call. bringupd hands over a reference (base/secret.h) and nothing else;
 * the secret is "USER:PASSWORD" on one line, is read here for one run and overwritten
 * at its end. Invariant: credentials that a BMC has refused twice are not tried there
 * again until they change, whichever of its machines a run is for: it would lock the
 * account.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/url.h"
#include "base/worker.h"
#include "provisioner/power/perform_impl.h"

enum { TRIES_MAX = 2 };

struct bu_refused {
	struct bu_refused *next;
	char *bmc;
	char digest[BU_DIGEST_SIZE]; /* of what was refused */
	int tries;
};

static struct bu_refused *
refused_of(const struct bu_run *run)
{
	struct bu_refused *refused = run->performer->refused;

	while (refused && strcmp(refused->bmc, run->bmc) != 0)
		refused = refused->next;
	return refused;
}

/* A BMC with several machines has its accounts once: the path does not count. */
static int
same_account(const struct bu_refused *refused, const struct bu_run *run)
{
	return strcmp(refused->digest, run->digest) == 0 &&
	       (strcmp(refused->bmc, run->bmc) == 0 ||
		bu_url_same_host(refused->bmc, run->bmc));
}

int
bu_run_may_try(struct bu_run *run)
{
	int tries = 0;

	if (!run->secret)
		return 1;
	for (const struct bu_refused *at = run->performer->refused; at; at = at->next)
		tries += same_account(at, run) ? at->tries : 0;
	if (tries < TRIES_MAX)
		return 1;
	bu_err_set(&run->err, BU_ERR_REMOTE, 0,
		   "%s has refused the credentials of %s %d times; they are not tried "
		   "again until they change",
		   run->bmc, bu_json_str(run->request, "credentials", ""), tries);
	return 0;
}

void
bu_run_refused(struct bu_run *run)
{
	struct bu_refused *refused = refused_of(run);

	if (!run->secret)
		return;
	if (!refused) {
		refused = bu_xcalloc(1, sizeof(*refused));
		refused->bmc = bu_xstrdup(run->bmc);
		refused->next = run->performer->refused;
		run->performer->refused = refused;
	}
	if (strcmp(refused->digest, run->digest) != 0)
		refused->tries = 0;
	memcpy(refused->digest, run->digest, sizeof(refused->digest));
	refused->tries++;
}

void
bu_run_accepted(struct bu_run *run)
{
	for (struct bu_refused *at = run->performer->refused; at; at = at->next)
		if (same_account(at, run))
			at->tries = 0;
}

void
bu_refused_free(struct bu_performer *performer)
{
	struct bu_refused *refused;

	while ((refused = performer->refused)) {
		performer->refused = refused->next;
		free(refused->bmc);
		free(refused);
	}
}

int
bu_credentials_split(char *secret, const char *reference, struct bu_credentials *ret,
		     struct bu_err *err)
{
	char *colon;

	secret[strcspn(secret, "\r\n")] = '\0';
	bu_sha256_hex(secret, strlen(secret), ret->digest);
	colon = strchr(secret, ':');
	if (!colon || colon == secret || !colon[1])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "secret %s: is not USER:PASSWORD on one line",
				  reference);
	*colon = '\0';
	ret->user = secret;
	ret->password = colon + 1;
	return 0;
}

void
bu_run_speak_as(struct bu_run *run, const struct bu_credentials *credentials)
{
	run->order.target.user = credentials->user;
	run->order.target.password = credentials->password;
	memcpy(run->digest, credentials->digest, sizeof(run->digest));
}

/* Without a secret run->err says why. */
static void
go_on(struct bu_run *run)
{
	struct bu_credentials ours;

	if (run->secret &&
	    bu_credentials_split(run->secret,
				 bu_json_str(run->request, "credentials", ""), &ours,
				 &run->err) == 0)
		bu_run_speak_as(run, &ours);
	run->then(run);
}

static void
on_program(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_run *run = arg;
	const char *reference = bu_json_str(run->request, "credentials", "");

	run->job = NULL;
	/* Its own words may hold the secret. */
	if (err)
		bu_err_set(&run->err, err->kind, err->sys_errno,
			   "secret %s: the program failed", reference);
	else
		run->secret =
			bu_secret_of_output(reference, result->out, result->out_size,
					    &run->secret_size, &run->err);
	go_on(run);
}

static void
ask_program(struct bu_run *run, const char *reference)
{
	bu_autofree char *program = bu_secret_program(reference, &run->err);
	const char *const argv[] = {program, NULL};

	if (program)
		run->job = bu_job_start(
			run->performer->loop,
			&(struct bu_job_opts){.argv = argv,
					      .deadline_ms = BU_SECRET_EXEC_MS,
					      .output_max = BU_SECRET_MAX + 2,
					      .secret = 1},
			on_program, run, &run->err);
	if (!run->job)
		run->then(run);
}

void
bu_run_authorize(struct bu_run *run, bu_step_fn then)
{
	const char *reference = bu_json_str(run->request, "credentials", "");

	run->then = then;
	if (!*reference) {
		then(run);
	} else if (bu_secret_is_exec(reference) && bu_secret_form_ok(reference)) {
		ask_program(run, reference);
	} else {
		run->secret =
			bu_secret_resolve(reference, &run->secret_size, &run->err);
		go_on(run);
	}
}
