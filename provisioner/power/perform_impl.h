/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by perform.c (operations and their order), run.c (their parts), look.c (waits
 * for a state) and credentials.c. */
#ifndef BU_POWER_PERFORM_IMPL_H
#define BU_POWER_PERFORM_IMPL_H

#include "base/crypto.h"
#include "base/worker.h"
#include "provisioner/power/console.h"
#include "provisioner/power/perform.h"

struct bu_adopt;
struct bu_run;
typedef void (*bu_step_fn)(struct bu_run *run);

/* Borrowed from a secret. */
struct bu_credentials {
	const char *user, *password;
	char digest[BU_DIGEST_SIZE];
};

/* Result of a look that did not find the wanted state; look.c has the time limit of
 * each. */
enum bu_view { BU_VIEW_STILL, BU_VIEW_MOVES, BU_VIEW_SILENT };

/* One request. The timer wakes it: in the queue, between two looks, or when a call
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
	/* credentials (credentials.c) */
	char *secret; /* "USER" "\0" "PASSWORD" */
	size_t secret_size;
	char digest[BU_DIGEST_SIZE];
	struct bu_job *job; /* reads the secret */
	char *before;       /* the secret of "before" or "factory" */
	size_t before_size;
	struct bu_adopt *adopt; /* while not known whether our credentials are taken */
	/* the call under way, and its continuation */
	struct bu_power_request order;
	struct bu_power_call *call;
	int starting, answered;
	struct bu_power_answer answer;
	json_t *report;    /* of the last call with a report */
	struct bu_err err; /* of the call; kind NONE = answered */
	int denied;        /* err is a refusal of the credentials */
	int looks;         /* a query */
	int restarts;      /* restarts the BMC, for all machines behind it */
	bu_step_fn then;
	/* the wanted state */
	enum bu_power_state want, seen;
	enum bu_power_move move;
	int64_t look_from_ms, look_until_ms;
	enum bu_view view;     /* of the last look */
	int64_t view_since_ms; /* since when the looks find this view */
	int switched;          /* 1 = the looks come after a switch */
	int64_t start_ms;      /* start command to the machine; 0 = none */
	int unsure;            /* the answer to the switch was lost */
	struct bu_err lost;    /* the error of that answer */
	bu_step_fn found, late, undone;
	int silences; /* looks in a row without an answer */
	int was_away; /* the BMC was silent since its restart */
	/* identity of the machine */
	struct bu_machine expected;
	int expects, unsaid;
	char *differs; /* differences from `expected`; "" = none; owned, NULL */
	bu_step_fn known;
	/* the boot medium (boot_medium.c) */
	int loaded;        /* this run inserted it */
	struct bu_err why; /* error of the start, kept while the medium is ejected */
};

struct bu_performer {
	struct bu_loop *loop;
	const struct bu_power_driver *driver;
	void *self;
	char *journal;                /* folder; NULL = no BMC's password is changed */
	struct bu_consoles *consoles; /* NULL = no consoles are captured */
	struct bu_refused *refused;   /* refused credentials */
	struct bu_started *started;   /* started by us, not reported yet */
	struct bu_run *runs;          /* oldest first */
	/* perform.c's; called when a run has ended. */
	void (*next)(struct bu_performer *performer);
};

/* Appends a run to the queue. */
struct bu_run *bu_run_create(struct bu_performer *performer, const json_t *request,
			     bu_perform_fn fn, void *arg);
int64_t bu_run_now_ms(const struct bu_run *run);
/* BU_ERR_CANCELLED: the request's until_ms has passed. */
int bu_run_check_wanted(struct bu_run *run);
/* Calls fn in in_ms, unless a call or the end comes first. */
void bu_run_sleep(struct bu_run *run, int64_t in_ms, bu_step_fn fn);
/* `then` checks run->err itself. */
void bu_run_call(struct bu_run *run, enum bu_power_op op, bu_step_fn then);
/* look.c: waits for the state within_ms, and longer while the machine moves. Then calls
 * found, or late with run->err. */
void bu_run_look_for(struct bu_run *run, enum bu_power_state want, int64_t within_ms,
		     bu_step_fn found, bu_step_fn late);
/* Confirms a switch that was taken, or whose answer was lost (run->err). The BMC may be
 * silent, show the old state, or show a move. undone: the answer was lost, and the
 * machine was seen unchanged. */
void bu_run_confirm(struct bu_run *run, enum bu_power_state want, bu_step_fn found,
		    bu_step_fn undone);
/* 1 = the switch was refused: neither taken nor lost. */
int bu_run_was_refused(const struct bu_run *run);

/* started.c: we told this machine to start, and no request was told that it did. */
void bu_started_note(struct bu_run *run);
/* Another start or a stop is under way, or the start was reported. */
void bu_started_forget(struct bu_run *run);
/* 1 = the machine was started by us as this request wants it. */
int bu_started_is(const struct bu_run *run);
void bu_started_free(struct bu_performer *performer);
/* Called before the first change to a machine. The run fails behind the BMC of another
 * machine. */
void bu_run_identify(struct bu_run *run, bu_step_fn known);
/* Ends the run with this reply; steals it. */
void bu_run_tell(struct bu_run *run, json_t *reply);
/* reset.c: restarts the BMC and waits for it, then calls `then`, or the run fails.
 * undone: the BMC refused or did nothing; run->err says so. */
void bu_run_reset_bmc(struct bu_run *run, bu_step_fn then, bu_step_fn undone);
void bu_run_report_events(struct bu_run *run);
void bu_run_report_sensors(struct bu_run *run);
void bu_run_report_firmware(struct bu_run *run);
/* boot_medium.c: inserts or ejects the medium as the request says, then calls `then`,
 * or the run fails. */
void bu_run_load(struct bu_run *run, bu_step_fn then);
/* Ejects the medium, then ends with run->err. */
void bu_run_fail_loaded(struct bu_run *run);
void bu_run_eject(struct bu_run *run);
/* Ends the run with run->seen; with run->err. */
void bu_run_done(struct bu_run *run);
void bu_run_fail(struct bu_run *run);
void bu_run_free(struct bu_run *run); /* without an answer */

/* credentials.c: reads the credentials. `then` checks run->err itself. */
void bu_run_authorize(struct bu_run *run, bu_step_fn then);
/* Splits the secret "USER:PASSWORD". */
bu_must int bu_credentials_split(char *secret, const char *reference,
				 struct bu_credentials *ret, struct bu_err *err);
void bu_run_speak_as(struct bu_run *run, const struct bu_credentials *credentials);
/* 1 = the BMC may be asked with the credentials; else run->err. */
int bu_run_may_try(struct bu_run *run);
/* The BMC's answer to the credentials. */
void bu_run_refused(struct bu_run *run);
void bu_run_accepted(struct bu_run *run);
void bu_refused_free(struct bu_performer *performer);

/* perform_console.c: 1 = answered without credentials. */
int bu_console_begin(struct bu_run *run);
void bu_console_ask(struct bu_run *run);

/* adopt.c: gives a BMC with earlier credentials ours, then calls `then`, or the run
 * fails. */
void bu_run_adopt(struct bu_run *run, bu_step_fn then);
/* 1 = the request's BMC may not have our credentials yet. */
int bu_adopt_may_change(const struct bu_run *run);

#endif
