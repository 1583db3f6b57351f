/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the Redfish driver. One operation (struct rf_op) is one task (base/task.h):
 * its code reads in the order in which the BMC is spoken to. Functions that ask the BMC
 * run in that task and wait there; all of them end early when the operation is
 * cancelled or its time is over.
 *
 *   wire.c     one request: turn, pace, retries, redirects
 *   json.c     what it answers, read with patience
 *   place.c    where its words lead: to itself, or away
 *   alias.c    whether a name is its own
 *   root.c     where its sessions and systems are
 *   session.c  who we are: token, Basic, one try of a refused password
 *   pace.c     how fast it answers, and whether its connections may be kept
 *   members.c  the members of a collection
 *   tree.c     which of the BMC's systems is the machine
 *   known.c    what was learnt of a BMC: kept over operations, forgotten when wrong
 *   write.c    PATCH with ETags, actions, tasks, read-back
 *   state.c    whether it is on, and switching it
 *   boot.c     where the machine boots from
 *   console.c  how its serial console is reached
 *   media.c    a boot medium in a virtual drive
 *   account.c  whether a password is taken, and another one
 *   machine.c serial number, UUID, MACs
 *   events.c   its event logs
 *   sensors.c  sensors, firmware versions
 *   manager.c  the restart of the BMC itself
 *   quirks.c   what differs by vendor, as a table
 *   driver.c   the vtable
 */
#ifndef BU_POWER_REDFISH_REDFISH_H
#define BU_POWER_REDFISH_REDFISH_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/http_async.h"
#include "base/task.h"
#include "provisioner/power/driver.h"
#include "provisioner/power/redfish/quirks.h"

#define RF_ROOT "/redfish/v1/"

enum {
	RF_PATH_SIZE = 256,
	RF_ETAG_SIZE = 128,
	RF_TOKEN_MAX = 8192, /* bytes; some are signed documents */
	RF_URL_SIZE = 2100,
	RF_WHY_SIZE = 120,
	RF_NAME_SIZE = 64,
	RF_OP_MS = 50000,
	RF_OP_MOST_MS = 110000, /* of a slow BMC; less than BU_POWER_CALL_MS */
	RF_MEMBERS_MAX = 64,    /* of a collection, that are read */
};

/* How long the driver waits for what; a test makes it shorter. */
struct rf_times {
	int64_t op_ms;      /* one operation */
	int64_t request_ms; /* one request */
	/* the same of a BMC that is slow, at most; 0 = no longer */
	int64_t op_most_ms, request_most_ms;
	int64_t connect_ms;
	int64_t gap_ms;    /* from one request to a BMC to the next */
	int64_t open_ms;   /* from one new connection to the next, whichever BMC */
	int64_t again_ms;  /* a BMC that is busy is asked again after that */
	int64_t settle_ms; /* what was written is read again after that */
	int64_t hush_ms;   /* a connection that is not used is closed */
	int64_t logout_ms; /* a session that is not used is ended */
	int64_t tree_ms;   /* what was learnt is looked up again */
};
extern const struct rf_times rf_times_default;

enum {
	RF_KNOWS_RESETS = 1 << 0,
	RF_KNOWS_BOOT = 1 << 1,
	RF_KNOWS_FIRMWARE = 1 << 2,
};

/* What a system says that it takes, and where. Values are NULL where it does not say.
 */
struct rf_tree {
	struct rf_tree *next;
	char wanted[RF_PATH_SIZE]; /* path of the profile; "" = the only machine */
	int64_t until_ms;          /* then it is found again; 0 = not found yet */
	json_t *passed;            /* paths that are not the machine, while it is looked
				    * for: 1 = a DPU; NULL = none */
	char serial[RF_NAME_SIZE], uuid[RF_NAME_SIZE]; /* of the one that was found */
	char vendor[RF_NAME_SIZE], product[RF_NAME_SIZE], firmware[RF_NAME_SIZE];
	unsigned quirks; /* RF_QUIRK_* */
	char system[RF_PATH_SIZE];
	char settings[RF_PATH_SIZE]; /* object for what is to come; "" */
	char reset[RF_PATH_SIZE];    /* target of the action */
	char info[RF_PATH_SIZE];     /* that says what it allows; "" */
	char manager[RF_PATH_SIZE];  /* "" */
	unsigned knows;              /* RF_KNOWS_*, of what follows */
	json_t *resets;              /* array of allowed values */
	json_t *boot;                /* the object Boot that has the allowed values */
	int boot_in_settings;        /* it is the one of the settings object */
	int lasts;                   /* it shows Continuous whatever is asked for */
};

/* What the root of a BMC says. */
struct rf_root {
	int64_t until_ms; /* then it is read again; 0 = not read yet */
	int closed;       /* it is not read without a password */
	char vendor[RF_NAME_SIZE], product[RF_NAME_SIZE];
	char systems[RF_PATH_SIZE], updates[RF_PATH_SIZE]; /* "" = none */
	char astray[RF_NAME_SIZE * 4]; /* why there are no systems; "" */
};

/* One BMC: all that its operations share. */
struct rf_bmc {
	struct rf_bmc *next;
	struct rf_driver *driver;
	char *origin; /* "https://bmc1:443", no path */
	struct rf_root root;
	struct rf_tree *trees;
	int64_t pace_ms;                 /* how long its answers take */
	struct bu_task_lock wire;        /* one request at a time */
	int64_t next_ms;                 /* the next one not before */
	int compressed;                  /* it refuses "identity" */
	int64_t connection;              /* that is kept; 0 */
	char address[INET6_ADDRSTRLEN];  /* that it answered from last; "" */
	char alias[RF_NAME_SIZE * 4];    /* another name of that address; "" */
	char stranger[RF_NAME_SIZE * 4]; /* a name of another one, until then; "" */
	int64_t stranger_until_ms;
	int is_open;                 /* it is there, as far as we know */
	int losses;                  /* of kept connections (wire.c) */
	int64_t close_until_ms;      /* none is kept until then */
	struct bu_task_lock door;    /* one log-in at a time */
	char sessions[RF_PATH_SIZE]; /* where they are made; "" = not known, or none */
	char *token;                 /* owned; NULL = no session */
	int64_t token_number;        /* of all that there were */
	char session[RF_PATH_SIZE];  /* to end it */
	char who[BU_DIGEST_SIZE];    /* user and password of the session or of Basic */
	char fingerprint[BU_DIGEST_SIZE]; /* with which the session was made; "" */
	int64_t basic_until_ms;           /* no sessions to be had; then asked again */
	int ops;                          /* under way */
	int hushed;                       /* its connection was closed */
	struct bu_timer *idle;
};

struct rf_driver {
	struct bu_loop *loop;
	struct bu_http_async *http;
	struct rf_times times;
	int64_t next_open_ms; /* the next connection not before */
	struct rf_bmc *bmcs;
	struct rf_op *ops;
	int closing;
};

/* One operation; this is the driver's struct bu_power_call. */
struct rf_op {
	struct rf_op *next;
	struct rf_driver *driver;
	struct rf_bmc *bmc;
	struct bu_power_target target; /* owned: whoever cancels takes his away */
	enum bu_power_op op;
	enum bu_boot_first first;
	enum bu_boot_mode mode;
	char *new_password; /* owned; NULL */
	int console_ipmi;
	char *media;                 /* URL; owned; NULL */
	struct bu_machine *expected; /* owned; NULL = not known */
	int64_t since_ms;
	size_t most;
	int once;
	char wanted[RF_PATH_SIZE]; /* system of the profile; "" */
	bu_power_done_fn fn;       /* NULL = cancelled, or not asked */
	void *arg;
	struct bu_task *task;
	int *ended; /* set when it ends in start(); NULL */
	int64_t begun_ms, until_ms;
	long status;  /* of the last answer; 0 = there was none */
	int objected; /* the BMC did not take something of ours */
	int unread;   /* members of the last collection */
	struct bu_err unread_why;
	int asks;        /* requests of this operation so far, */
	int found_at;    /* and when the system was read to find it */
	json_t *found;   /* so; NULL */
	struct rf_seen { /* what was read, and not changed since */
		char path[RF_PATH_SIZE], etag[RF_ETAG_SIZE];
	} seen[2];
	int seen_next;
	int logins;  /* tried by this operation */
	int refused; /* its password */
	int cancelled;
	int deaf; /* it waits for what it must know in spite of that: a session's name
		   */
	struct bu_power_answer answer;
};

/* --- wire.c --- */

enum rf_as { RF_AS_NOBODY, RF_AS_TOKEN, RF_AS_BASIC };
struct rf_ask {
	const char *method;
	const char *path; /* as the BMC gave it */
	const json_t *body;
	const char *etag; /* If-Match; NULL = none */
	enum rf_as as;
	int *sent; /* set while it is out, and was not answered; NULL */
	int moves; /* 301 and 302 are followed, though it is no GET */
};
struct rf_reply {
	long status;
	json_t *json; /* NULL when it was none */
	char etag[RF_ETAG_SIZE];
	char location[RF_PATH_SIZE]; /* a path of this BMC; "" */
	char *token;                 /* owned; NULL */
	char *leads;                 /* the Location as it stands; owned; NULL */
	char path[RF_PATH_SIZE];     /* that answered, after redirects */
	char why[RF_WHY_SIZE];       /* it was no JSON, as the parser says; "" */
	int64_t after_ms;            /* Retry-After; 0 = not said */
};
#define rf_autoreply __attribute__((cleanup(rf_reply_fini)))
void rf_reply_fini(struct rf_reply *reply);
/* 0 with an answer of any status. GET goes out again once when the network fails; GET
 * and PATCH when the BMC says that it is busy. Nothing else is sent twice. */
bu_must int rf_wire(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
		    struct bu_err *err);
/* Waits; -1 when the operation has no time left for it, or was cancelled. */
bu_must int rf_pause(struct rf_op *op, int64_t for_ms, struct bu_err *err);
/* BU_ERR_CANCELLED, BU_ERR_TIMEOUT or BU_ERR_DENIED (its password was refused) when the
 * operation may not go on. */
bu_must int rf_go_on(const struct rf_op *op, struct bu_err *err);
/* "@odata.id" of the member `key` of an object; "" when there is none. */
void rf_link(const struct rf_op *op, const json_t *object, const char *key,
	     char ret[RF_PATH_SIZE]);
/* Is it not there (any more)? Of an HTTP status. */
int rf_is_gone(long status);
/* Does the answer hold a message whose MessageId ends so ("AccessDenied")? */
int rf_says(const struct rf_reply *reply, const char *message);
/* Its arguments; NULL when it is not said. */
const json_t *rf_says_args(const struct rf_reply *reply, const char *message);
/* "<method> <path>: status 400: what the BMC said": always -1. */
int rf_refused(const struct rf_op *op, const struct rf_ask *ask,
	       const struct rf_reply *reply, struct bu_err *err);

/* --- json.c --- */

/* New reference; NULL and why when it cannot be read. */
json_t *rf_json(const char *text, char ret_why[RF_WHY_SIZE]);

/* --- place.c --- */

/* A path that the BMC gave ("@odata.id", Location), or a URL of its own by any of its
 * names, as a path; -1 for what leads elsewhere. */
int rf_path(struct rf_bmc *bmc, const char *text, char ret[RF_PATH_SIZE]);
/* Neither is empty; case and a slash at the end do not count. */
int rf_same_path(const char *a, const char *b);
/* "another host, x (https://x/y); only bmc1 is asked": what rf_path() refuses; owned.
 */
char *rf_elsewhere(struct rf_bmc *bmc, const char *text);

/* --- alias.c --- */

/* Is this a name of the address that the BMC answered from? Waits for the resolver. */
int rf_is_alias(struct rf_bmc *bmc, const char *host);

/* --- pace.c --- */

/* An answer came, or none, after so long. */
void rf_pace_learn(struct rf_op *op, int64_t took_ms, int answered);
/* The operation waited so long for its turn. */
void rf_pace_waited(struct rf_op *op, int64_t waited_ms);
/* -1 when the time left is too short for the answer to a change: what it did would not
 * be known, and a session that it made would stay open. */
bu_must int rf_pace_check(const struct rf_op *op, const char *method, const char *path,
			  struct bu_err *err);
/* How long one request may take. */
int64_t rf_pace_request_ms(const struct rf_op *op);
/* A request went well over a connection that was kept, or was lost under it. */
void rf_keep_learn(struct rf_bmc *bmc, int lost);
/* Each connection is closed after its answer. */
int rf_keeps_none(const struct rf_bmc *bmc);

/* --- session.c --- */

/* As rf_wire(), as who the target says; ask->as is not looked at. */
bu_must int rf_call(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
		    struct bu_err *err);
/* GET of an object; anything else is an error. etag may be NULL. */
json_t *rf_get(struct rf_op *op, const char *path, char etag[RF_ETAG_SIZE],
	       struct bu_err *err);
/* The ETag of the last look at an object that was not changed since; -1 = none. */
int rf_seen_etag(const struct rf_op *op, const char *path, char ret[RF_ETAG_SIZE]);
/* Ends the session, if there is one. */
void rf_logout(struct rf_op *op);

/* --- root.c --- */

/* The root without a password: bmc->root, or bmc->root.closed. */
bu_must int rf_root_open(struct rf_op *op, struct bu_err *err);
void rf_root_take(struct rf_op *op, const json_t *root);

/* --- known.c --- */

/* bmc->root is known; with a password where it must be. */
bu_must int rf_root(struct rf_op *op, struct bu_err *err);
/* What is known of the machine; found when it is not. Borrowed until the next call. */
struct rf_tree *rf_tree(struct rf_op *op, struct bu_err *err);
/* The machine, read in this operation. What was known is found again when it is
 * not there any more, or another one. New reference. */
json_t *rf_system(struct rf_op *op, struct bu_err *err);
/* What it allows: tree->resets; tree->boot and all quirks. */
bu_must int rf_know_resets(struct rf_op *op, struct rf_tree *tree, struct bu_err *err);
bu_must int rf_know_boot(struct rf_op *op, struct rf_tree *tree, const json_t *system,
			 struct bu_err *err);
/* It turned out to be wrong: all of it; what the machines allow. */
void rf_forget(struct rf_bmc *bmc);
void rf_doubt(struct rf_bmc *bmc);
void rf_tree_fini(struct rf_tree *tree);
void rf_trees_free(struct rf_bmc *bmc);

/* --- tree.c --- */

/* The system is op->found then. */
bu_must int rf_find(struct rf_op *op, struct rf_tree *tree, const char *wanted,
		    struct bu_err *err);

/* --- members.c --- */

/* Calls fn with each member of a collection until it does not return 0. A member that
 * cannot be read is left out: op->unread counts them, op->unread_why says of the first
 * one why. */
typedef int (*rf_member_fn)(struct rf_op *op, const char *path, const json_t *member,
			    void *arg);
bu_must int rf_members(struct rf_op *op, const char *collection, rf_member_fn fn,
		       void *arg, struct bu_err *err);
/* Without those whose paths are keys of the object; NULL = none. */
bu_must int rf_members_but(struct rf_op *op, const char *collection, const json_t *but,
			   rf_member_fn fn, void *arg, struct bu_err *err);
/* Those that an ActionInfo says; NULL: it does not. New reference. */
json_t *rf_info_values(struct rf_op *op, const char *path);
/* The ResetType values of an action, inline or of its ActionInfo; NULL: it does not
 * say. New reference. */
json_t *rf_reset_values(struct rf_op *op, const json_t *action);
/* 1 when the array names a value: an empty one, or one of nothing, tells nothing. */
int rf_tells(const json_t *values);
/* 1 when the array allows the value, or tells nothing. */
int rf_allows(const json_t *values, const char *value);

/* --- write.c --- */

enum rf_taken { RF_TAKEN, RF_NOT_THIS, RF_FAILED };
/* PATCH with what the BMC takes as If-Match. RF_NOT_THIS: it does not take this body
 * here; another may do. */
enum rf_taken rf_patch(struct rf_op *op, const char *path, const json_t *body,
		       struct bu_err *err);
/* POST to an action, and its task's end. BU_ERR_BUSY: it may be asked again where a
 * look shows that it was not done; BU_ERR_TIMEOUT: it went out, and the answer was
 * lost. */
bu_must int rf_action(struct rf_op *op, const char *path, const json_t *body,
		      struct bu_err *err);

/* --- state.c, boot.c, machine.c --- */

bu_must int rf_state(struct rf_op *op, struct bu_power_answer *ret, struct bu_err *err);
bu_must int rf_switch(struct rf_op *op, enum bu_power_state want, struct bu_err *err);

bu_must int rf_boot_first(struct rf_op *op, struct bu_err *err);
bu_must int rf_identity(struct rf_op *op, struct bu_machine *ret, struct bu_err *err);

/* --- console.c --- */

bu_must int rf_console(struct rf_op *op, struct bu_power_console *ret,
		       struct bu_err *err);
/* The BMC that manages this machine; NULL and err when the tree names none. New
 * reference. */
json_t *rf_manager(struct rf_op *op, const json_t *system, struct bu_err *err);

/* --- events.c, sensors.c: reports; new references --- */

int rf_events(struct rf_op *op, json_t **ret, struct bu_err *err);
int rf_sensors(struct rf_op *op, json_t **ret, struct bu_err *err);
int rf_firmware(struct rf_op *op, json_t **ret, struct bu_err *err);

/* --- manager.c --- */

int rf_reset_manager(struct rf_op *op, struct bu_err *err);

/* --- media.c --- */

/* op->media is the image; where all of ours are. */
bu_must int rf_media_insert(struct rf_op *op, struct bu_err *err);
bu_must int rf_media_eject(struct rf_op *op, struct bu_err *err);

/* --- account.c --- */

int rf_login(struct rf_op *op, struct bu_err *err);
int rf_set_password(struct rf_op *op, struct bu_err *err);

/* --- driver.c --- */

/* The driver with times of one's own. */
void *rf_open(struct bu_loop *loop, const struct rf_times *times);

#endif
