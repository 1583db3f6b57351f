/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the Redfish driver. One operation (struct rf_op) is one task (base/task.h):
 * its code reads in the order in which the BMC is spoken to. Functions that ask the BMC
 * run in that task and wait there; all of them end early when the operation is
 * cancelled or its time is over.
 *
 *   wire.c     one request: turn, pace, retries, redirects
 *   session.c  who we are: token, Basic, one try of a refused password
 *   tree.c     which of the BMC's systems is the machine, and what it says it allows
 *   write.c    PATCH with ETags, actions, tasks, read-back
 *   boot.c     where the machine boots from
 *   console.c  how its serial console is reached
 *   media.c    a boot medium in a virtual drive
 *   account.c  whether a password is taken, and another one
 *   identity.c serial number, UUID, MACs
 *   events.c   its event logs
 *   sensors.c  sensors, firmware versions
 *   manager.c  the restart of the BMC itself
 *   quirks.c   what differs by vendor, as a table
 *   driver.c   the vtable
 */
#ifndef BU_POWER_REDFISH_REDFISH_H
#define BU_POWER_REDFISH_REDFISH_H

#include <jansson.h>
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
	RF_TOKEN_SIZE = 512,
	RF_NAME_SIZE = 64,
	RF_OP_MS = 50000,    /* less than BU_POWER_CALL_MS */
	RF_MEMBERS_MAX = 64, /* of a collection, that are read */
};

/* How long the driver waits for what; a test makes it shorter. */
struct rf_times {
	int64_t op_ms;      /* one operation */
	int64_t request_ms; /* one request */
	int64_t connect_ms;
	int64_t gap_ms;    /* from one request to a BMC to the next */
	int64_t open_ms;   /* from one new connection to the next, whichever BMC */
	int64_t again_ms;  /* a BMC that is busy is asked again after that */
	int64_t settle_ms; /* what was written is read again after that */
	int64_t hush_ms;   /* a connection that is not used is closed */
	int64_t logout_ms; /* a session that is not used is ended */
	int64_t tree_ms;   /* what was found in the tree is looked up again */
};
extern const struct rf_times rf_times_default;

/* What a system says that it takes, and where. Values are NULL where it does not say.
 */
struct rf_tree {
	struct rf_tree *next;
	char wanted[RF_PATH_SIZE]; /* path of the profile; "" = the only machine */
	int64_t until_ms;          /* then it is found again; 0 = not found yet */
	char vendor[RF_NAME_SIZE], product[RF_NAME_SIZE], firmware[RF_NAME_SIZE];
	unsigned quirks; /* RF_QUIRK_* */
	char system[RF_PATH_SIZE];
	char settings[RF_PATH_SIZE]; /* object for what is to come; "" */
	char reset[RF_PATH_SIZE];    /* target of the action */
	json_t *resets;              /* array of allowed values */
	json_t *boot;                /* the object Boot that has the allowed values */
	int boot_in_settings;        /* it is the one of the settings object */
};

/* One BMC: all that its operations share. */
struct rf_bmc {
	struct rf_bmc *next;
	struct rf_driver *driver;
	char *origin; /* "https://bmc1:443", no path */
	struct rf_tree *trees;
	struct bu_task_lock wire;    /* one request at a time */
	int64_t next_ms;             /* the next one not before */
	int compressed;              /* it refuses "identity" */
	int64_t connection;          /* that is kept; 0 */
	int is_open;                 /* it is there, as far as we know */
	struct bu_task_lock door;    /* one log-in at a time */
	char sessions[RF_PATH_SIZE]; /* where they are made; "" = not known, or none */
	char token[RF_TOKEN_SIZE];   /* "" = no session */
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
	char *media; /* URL; owned; NULL */
	int64_t since_ms;
	size_t most;
	int once;
	char wanted[RF_PATH_SIZE]; /* system of the profile; "" */
	bu_power_done_fn fn;       /* NULL = cancelled, or not asked */
	void *arg;
	struct bu_task *task;
	int *ended; /* set when it ends in start(); NULL */
	int64_t until_ms;
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
};
struct rf_reply {
	long status;
	json_t *json; /* NULL when it was none */
	char etag[RF_ETAG_SIZE];
	char location[RF_PATH_SIZE]; /* a path of this BMC; "" */
	char token[RF_TOKEN_SIZE];
	int64_t after_ms; /* Retry-After; 0 = not said */
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
/* A path that the BMC gave ("@odata.id", Location), or a URL of its own, as a path; -1
 * for what leads elsewhere. */
int rf_path(const struct rf_bmc *bmc, const char *text, char ret[RF_PATH_SIZE]);
/* "@odata.id" of the member `key` of an object; "" when there is none. */
void rf_link(const struct rf_op *op, const json_t *object, const char *key,
	     char ret[RF_PATH_SIZE]);
/* Does the answer hold a message whose MessageId ends so ("AccessDenied")? */
int rf_says(const struct rf_reply *reply, const char *message);
/* Its arguments; NULL when it is not said. */
const json_t *rf_says_args(const struct rf_reply *reply, const char *message);
/* "<method> <path>: status 400: what the BMC said": always -1. */
int rf_refused(const struct rf_op *op, const struct rf_ask *ask,
	       const struct rf_reply *reply, struct bu_err *err);

/* --- session.c --- */

/* As rf_wire(), as who the target says; ask->as is not looked at. */
bu_must int rf_call(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
		    struct bu_err *err);
/* GET of an object; anything else is an error. etag may be NULL. */
json_t *rf_get(struct rf_op *op, const char *path, char etag[RF_ETAG_SIZE],
	       struct bu_err *err);
/* Ends the session, if there is one. */
void rf_logout(struct rf_op *op);

/* --- tree.c --- */

/* What is known of the machine; found when it is not. Borrowed until the next call. */
struct rf_tree *rf_tree(struct rf_op *op, struct bu_err *err);
void rf_trees_free(struct rf_bmc *bmc);
/* Calls fn with each member of a collection until it does not return 0. A member that
 * cannot be read is left out. */
typedef int (*rf_member_fn)(struct rf_op *op, const char *path, const json_t *member,
			    void *arg);
bu_must int rf_members(struct rf_op *op, const char *collection, rf_member_fn fn,
		       void *arg, struct bu_err *err);
/* The ResetType values of an action, inline or of its ActionInfo; NULL: it does not
 * say. New reference. */
json_t *rf_reset_values(struct rf_op *op, const json_t *action);
/* 1 when the array allows the value, or when there is no array. */
int rf_allows(const json_t *values, const char *value);

/* --- write.c --- */

enum rf_taken { RF_TAKEN, RF_NOT_THIS, RF_FAILED };
/* PATCH with what the BMC takes as If-Match. RF_NOT_THIS: it does not take this body
 * here; another may do. */
enum rf_taken rf_patch(struct rf_op *op, const char *path, const json_t *body,
		       struct bu_err *err);
/* POST to an action, and its task's end. */
bu_must int rf_action(struct rf_op *op, const char *path, const json_t *body,
		      struct bu_err *err);

/* --- boot.c, identity.c --- */

bu_must int rf_boot_first(struct rf_op *op, struct bu_err *err);
bu_must int rf_identity(struct rf_op *op, struct bu_machine *ret, struct bu_err *err);

/* --- console.c --- */

bu_must int rf_console(struct rf_op *op, struct bu_power_console *ret,
		       struct bu_err *err);
/* The BMC that manages the machine; NULL and err when the tree names none. New
 * reference. */
json_t *rf_manager(struct rf_op *op, struct bu_err *err);

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
