/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by perform.c (the operations, whose turn it is), run.c (what they are made
 * of), look.c (until a state is seen) and credentials.c. */
#ifndef BU_POWER_PERFORM_IMPL_H
#define BU_POWER_PERFORM_IMPL_H

#include "base/crypto.h"
#include "base/worker.h"
#include "provisioner/power/console.h"
#include "provisioner/power/perform.h"

struct bu_adopt;
struct bu_run;
typedef void (*bu_step_fn)(struct bu_run *run);

/* Borrowed from a secret that was read. */
struct bu_credentials {
	const char *user, *password;
	char digest[BU_DIGEST_SIZE];
};

/* What a look finds that is not the state that is looked for; look.c has how long each
 * is waited for. */
enum bu_view { BU_VIEW_STILL, BU_VIEW_MOVES, BU_VIEW_SILENT };

/* One request. Its timer wakes it up: in the queue, between two looks, or when a call
 * takes too long. */
struct bu_run {
	struct bu_run *next;
	struct bu_performer *performer;
	json_t *request;
	const char *bmc; /* of the request */
	bu_perform_fn fn;
	void *arg;
	struct bu_timer *timer;
	bu_step_fn on_timer;
	int begun;
	bu_step_fn begin; /* the operation */
	/* as whom (credentials.c) */
	char *secret; /* its user ends where the password begins */
	size_t secret_size;
	char digest[BU_DIGEST_SIZE];
	struct bu_job *job; /* that is asked for it */
	char *before;       /* the secret of those of before */
	size_t before_size;
	struct bu_adopt *adopt; /* while it is not known whether ours are taken */
	/* the call that is under way, and what follows its answer */
	struct bu_power_request order;
	struct bu_power_call *call;
	int starting, answered;
	struct bu_power_answer answer;
	json_t *report;    /* of the last call that had one */
	struct bu_err err; /* of the call; kind NONE = it was answered */
	int denied;        /* that was "no" to the credentials */
	int looks;         /* it changes nothing */
	int restarts;      /* its BMC, for all the machines that this has */
	bu_step_fn then;
	/* what is looked for */
	enum bu_power_state want, seen;
	enum bu_power_move move;
	int64_t look_from_ms, look_until_ms;
	enum bu_view view;     /* what the last look found, */
	int64_t view_since_ms; /* and since when */
	int switched;          /* the looks come after a switch */
	int64_t start_ms;      /* when the machine was told to start; 0 = it was not */
	int unsure;            /* whose answer was lost, */
	struct bu_err lost;    /* so */
	bu_step_fn found, late, undone;
	int silences; /* looks in a row that its BMC left without an answer */
	int was_away; /* its BMC, since it was restarted */
	/* whose it is */
	struct bu_machine expected;
	int expects, unsaid;
	char *differs; /* of it, by its BMC's word; "" = nothing; owned, NULL */
	bu_step_fn known;
	/* the boot medium (load.c) */
	int loaded;        /* this run has put it in */
	struct bu_err why; /* the start failed; for when it is out again */
};

struct bu_performer {
	struct bu_loop *loop;
	const struct bu_power_driver *driver;
	void *self;
	char *journal;                /* folder; NULL = no BMC's password is changed */
	struct bu_consoles *consoles; /* NULL = none are kept */
	struct bu_refused *refused;   /* credentials */
	struct bu_started *started;   /* by us, and not seen yet */
	struct bu_run *runs;          /* in the order in which they came */
	/* perform.c's: a run has ended. */
	void (*next)(struct bu_performer *performer);
};

/* Behind those that came before. */
struct bu_run *bu_run_create(struct bu_performer *performer, const json_t *request,
			     bu_perform_fn fn, void *arg);
int64_t bu_run_now_ms(const struct bu_run *run);
/* BU_ERR_CANCELLED when what asked has given up. */
int bu_run_check_wanted(struct bu_run *run);
/* In so many ms, unless a call or an end comes first. */
void bu_run_sleep(struct bu_run *run, int64_t in_ms, bu_step_fn fn);
/* then looks at run->err itself. */
void bu_run_call(struct bu_run *run, enum bu_power_op op, bu_step_fn then);
/* look.c: until the machine is seen in this state, and as long as it moves; then found,
 * else late, with run->err. */
void bu_run_look_for(struct bu_run *run, enum bu_power_state want, int64_t within_ms,
		     bu_step_fn found, bu_step_fn late);
/* After a switch, which was taken, or whose answer was lost (run->err): its BMC may be
 * silent, show what was, or that the machine moves. undone: its answer was lost, and it
 * was seen that nothing was done. */
void bu_run_confirm(struct bu_run *run, enum bu_power_state want, bu_step_fn found,
		    bu_step_fn undone);
/* Was the switch refused? Neither taken nor lost. */
int bu_run_was_refused(const struct bu_run *run);

/* started.c: we have told this machine to start; nobody was told yet that it did. */
void bu_started_note(struct bu_run *run);
/* Another start, or an end of it, is under way; or it was told. */
void bu_started_forget(struct bu_run *run);
/* 1: it is on as this request wants it, by a start of ours. */
int bu_started_is(const struct bu_run *run);
void bu_started_free(struct bu_performer *performer);
/* Right before the first thing that is done to a machine: behind another one's BMC the
 * run fails. */
void bu_run_identify(struct bu_run *run, bu_step_fn known);
/* The end with a reply of its own, which is stolen. */
void bu_run_tell(struct bu_run *run, json_t *reply);
/* reset.c: the BMC restarts and is there again; then goes on, or the run fails. undone:
 * it refused, or did nothing; run->err says so. */
void bu_run_reset_bmc(struct bu_run *run, bu_step_fn then, bu_step_fn undone);
void bu_run_report_events(struct bu_run *run);
void bu_run_report_sensors(struct bu_run *run);
void bu_run_report_firmware(struct bu_run *run);
/* load.c: the medium goes in, or out, as the request says; then goes on, or the run
 * fails. */
void bu_run_load(struct bu_run *run, bu_step_fn then);
/* The end with run->err, and without the medium. */
void bu_run_fail_loaded(struct bu_run *run);
void bu_run_eject(struct bu_run *run);
/* The end: with run->seen, or with run->err. */
void bu_run_done(struct bu_run *run);
void bu_run_fail(struct bu_run *run);
void bu_run_free(struct bu_run *run); /* without an answer */

/* credentials.c: reads them; then looks at run->err itself. */
void bu_run_authorize(struct bu_run *run, bu_step_fn then);
/* Cuts the secret, "USER:PASSWORD", in two. */
bu_must int bu_credentials_split(char *secret, const char *reference,
				 struct bu_credentials *ret, struct bu_err *err);
void bu_run_speak_as(struct bu_run *run, const struct bu_credentials *credentials);
/* Whether the BMC may be asked with them; if not, run->err says why. */
int bu_run_may_try(struct bu_run *run);
/* What it said to them. */
void bu_run_refused(struct bu_run *run);
void bu_run_accepted(struct bu_run *run);
void bu_refused_free(struct bu_performer *performer);

/* perform_console.c: 1 = it was answered, and none need be asked. */
int bu_console_begin(struct bu_run *run);
void bu_console_ask(struct bu_run *run);

/* adopt.c: the BMC gets our credentials where it has those of before; then goes on, or
 * the run fails. */
void bu_run_adopt(struct bu_run *run, bu_step_fn then);
/* A request to a BMC that may not have ours yet. */
int bu_adopt_may_change(const struct bu_run *run);

#endif
