/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs ipmitool for ipmi.c and ipmi_report.c, a program per question, several machines
 * at a time. Invariants: the password goes by the environment and never by the
 * arguments; cipher suite 17 (SHA-256) is asked for first, and 3 only of a BMC that
 * does not have it; a password is tried once in a call.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/power/ipmi_impl.h"
#include "provisioner/power/ipmi_text.h"

enum { PROGRAMS_MAX = 32, PROGRAM_MS = 20000 };

static const char *const suites[] = {"17", "3"};

const char *
bu_ipmi_suite(const struct bu_power_call *call)
{
	return suites[call->known->suite];
}

static void run(struct bu_power_call *call);

/* --- the end of a call --- */

static void
forget(struct bu_power_call *call)
{
	struct bu_power_call **link = &call->ipmi->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	if (call->input)
		explicit_bzero(call->input, strlen(call->input));
	free(call->input);
	free(call);
}

static void
begin_waiting(struct bu_ipmi *ipmi)
{
	for (struct bu_power_call *call = ipmi->calls;
	     call && ipmi->running < PROGRAMS_MAX; call = call->next)
		if (!call->job) {
			run(call);
			return;
		}
}

void
bu_ipmi_end(struct bu_power_call *call, const struct bu_err *err)
{
	struct bu_power_answer answer = call->answer;
	bu_power_done_fn fn = call->fn;
	void *arg = call->arg;
	struct bu_ipmi *ipmi = call->ipmi;

	if (call->ended)
		*call->ended = 1;
	forget(call);
	fn(err ? NULL : &answer, err, arg);
	json_decref(answer.report);
	begin_waiting(ipmi);
}

/* --- one program --- */

static void
on_host(struct bu_power_call *call, const struct bu_err *err)
{
	struct bu_err why;

	if (!err) {
		run(call);
		return;
	}
	why = *err;
	bu_err_wrap(&why, "IPMI of %s", call->request->target.bmc);
	bu_ipmi_end(call, &why);
}

static void
refuse(struct bu_power_call *call, const char *errs, const char *out,
       const struct bu_err *why)
{
	enum bu_err_kind kind = BU_ERR_NONE;
	const char *says = bu_ipmi_refusal(errs, out, &kind);
	struct bu_err err;

	if (says && kind == BU_ERR_NONE && call->known->suite + 1 < BU_LEN(suites)) {
		call->known->suite++;
		run(call);
		return;
	}
	if (!says && call->optional) {
		call->then(call, "");
		return;
	}
	if (says)
		bu_err_set(&err, kind ? kind : BU_ERR_REMOTE, 0, "IPMI of %s: %s",
			   call->request->target.bmc, says);
	else
		bu_err_set(&err, BU_ERR_REMOTE, 0, "IPMI of %s: %s %s: %.200s",
			   call->request->target.bmc, call->words[0],
			   call->words[1] ? call->words[1] : "", why->text);
	bu_ipmi_end(call, &err);
}

static void
on_program(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_power_call *call = arg;

	call->job = NULL;
	call->ipmi->running--;
	if (!err)
		call->then(call, result->out);
	else if (result && err->kind != BU_ERR_TIMEOUT)
		refuse(call, result->errs, result->out, err);
	else if (call->optional && err->kind == BU_ERR_TIMEOUT)
		call->then(call, "");
	else
		bu_ipmi_end(call, err);
}

static void
run(struct bu_power_call *call)
{
	const struct bu_power_target *target = &call->request->target;
	bu_autofree char *password = bu_xasprintf(
		"IPMI_PASSWORD=%s", target->password ? target->password : "");
	const char *const env[] = {password, "TZ=UTC", NULL};
	const char *argv[] = {"ipmitool",
			      call->csv ? "-c" : "-v",
			      "-I",
			      "lanplus",
			      "-H",
			      call->host,
			      "-p",
			      call->port,
			      "-U",
			      target->user ? target->user : "",
			      "-E",
			      "-C",
			      bu_ipmi_suite(call),
			      "-N",
			      "2",
			      "-R",
			      "2",
			      call->words[0],
			      call->words[1],
			      call->words[2],
			      call->words[3],
			      call->words[4],
			      NULL};
	struct bu_err err;

	if (call->ipmi->running >= PROGRAMS_MAX)
		return;
	if (!call->host[0]) {
		bu_ipmi_find_host(call, on_host);
		return;
	}
	call->job = bu_job_start(
		call->ipmi->loop,
		&(struct bu_job_opts){.argv = argv,
				      .env = env,
				      .input = call->input,
				      .deadline_ms = call->program_ms ? call->program_ms
								      : PROGRAM_MS},
		on_program, call, &err);
	explicit_bzero(password, strlen(password));
	if (call->job)
		call->ipmi->running++;
	else
		bu_ipmi_end(call, &err);
}

/* The words end with NULL. */
void
bu_ipmi_ask(struct bu_power_call *call, bu_ipmi_answer_fn then, int optional,
	    const char *const words[BU_IPMI_WORDS_MAX])
{
	memcpy(call->words, words, sizeof(call->words));
	call->then = then;
	call->optional = optional;
	run(call);
}

void
bu_ipmi_take_back(struct bu_power_call *call)
{
	struct bu_ipmi *ipmi = call->ipmi;

	if (call->job) {
		bu_job_cancel(call->job);
		ipmi->running--;
	}
	json_decref(call->answer.report);
	json_decref(call->log.rows);
	forget(call);
	begin_waiting(ipmi);
}
