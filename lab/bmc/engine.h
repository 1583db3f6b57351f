/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the virtual BMC share. All state that a client can see is JSON:
 * the tree's resources, which are shared and never change, and the BMC's own copies of
 * those that did. A key that begins with '#' is never sent.
 */
#ifndef BU_LAB_BMC_ENGINE_H
#define BU_LAB_BMC_ENGINE_H

#include "base/json.h"
#include "lab/bmc/bmc.h"

enum { BU_BMC_ETAG_SIZE = 24 };

struct bu_bmc_tree {
	json_t *resources; /* URI to object */
	json_t *rules;     /* how it behaves; tree.c has the list */
	json_t *factory;
	char *system; /* URI of the one with power */
};

enum bu_bmc_phase {
	BU_BMC_OFF,
	BU_BMC_GOING_ON,
	BU_BMC_IN_POST,
	BU_BMC_ON,
	BU_BMC_GOING_OFF
};

struct bu_bmc {
	const struct bu_bmc_tree *tree;
	struct bu_bmc_machine *machine;
	int (*fetch)(const char *url, struct bu_err *err); /* NULL: nobody looks */
	struct bu_bmc_identity identity;
	char service[40]; /* UUID of the BMC itself */
	json_t *own;
	int64_t now_ms, wall_ms;
	int64_t away_ms;  /* it restarts until then */
	int64_t reset_ms; /* Unix time: it restarted last */
	int64_t skip;     /* of the call: entries of a log before the page */
	int64_t faults[BU_BMC_FAULT_COUNT];
	enum bu_bmc_phase phase;
	int64_t due_ms;     /* when the phase ends */
	int64_t off_ms;     /* since when it is off */
	int restarts;       /* goes on again when it is off */
	char target[32];    /* that POST ends with */
	int last[4];        /* ids given: see enum bu_bmc_id */
	int64_t watched_ms; /* when the machine was looked at */
};

struct bu_bmc_call {
	struct bu_bmc *bmc;
	const struct bu_bmc_request *request;
	char uri[256]; /* without a slash at its end */
	const json_t *resource;
	json_t *body;        /* an object */
	const char *account; /* URI; NULL = nobody is logged in */
	const char *session; /* URI; NULL = not by a session */
	struct bu_bmc_reply *reply;
};

/* --- resources.c --- */
const json_t *bu_bmc_get(const struct bu_bmc *bmc, const char *uri);
/* To change it: the BMC's own copy. */
json_t *bu_bmc_own(struct bu_bmc *bmc, const char *uri);
/* As it is sent; new reference. */
json_t *bu_bmc_render(struct bu_bmc *bmc, const char *uri);
/* "" when it has none. */
void bu_bmc_etag(struct bu_bmc *bmc, const char *uri, char ret[BU_BMC_ETAG_SIZE]);
/* "ComputerSystem" of "#ComputerSystem.v1_13_0.ComputerSystem". */
void bu_bmc_type(const json_t *resource, char *ret, size_t size);
/* A member of a collection: calls fn for each until it says other than 0. */
typedef int (*bu_bmc_member_fn)(struct bu_bmc *bmc, const char *uri,
				const json_t *resource, void *arg);
int bu_bmc_members(struct bu_bmc *bmc, const char *collection, bu_bmc_member_fn fn,
		   void *arg);
enum bu_bmc_id { BU_BMC_ID_SESSION, BU_BMC_ID_ACCOUNT, BU_BMC_ID_TASK, BU_BMC_ID_LOG };
/* Adds a member under the next number; its URI is written. Steals the resource. */
void bu_bmc_add(struct bu_bmc *bmc, const char *collection, enum bu_bmc_id id,
		json_t *resource, char ret_uri[256]);
const char *bu_bmc_rule(const struct bu_bmc *bmc, const char *name,
			const char *fallback);
int64_t bu_bmc_rule_int(const struct bu_bmc *bmc, const char *name, int64_t fallback);
int bu_bmc_rule_is(const struct bu_bmc *bmc, const char *name, const char *value);
/* The time of the call as Redfish writes it; ret holds 24 bytes. */
void bu_bmc_time(const struct bu_bmc *bmc, char ret[24]);

/* A collection of a log's entries, which may come in pages. */
int bu_bmc_is_log(const json_t *resource);

/* --- login.c --- */
/* Who asks; fills account and session. -1, and the refusal, when a login is wrong;
 * 0 also when nobody tried. */
int bu_bmc_login(struct bu_bmc_call *call);
int bu_bmc_may(const struct bu_bmc_call *call, const char *privilege);
int bu_bmc_must_change_password(const struct bu_bmc_call *call);
void bu_bmc_create_session(struct bu_bmc_call *call);
void bu_bmc_delete_session(struct bu_bmc_call *call);
void bu_bmc_drop_sessions(struct bu_bmc *bmc);

/* --- accounts.c --- */
void bu_bmc_first_account(struct bu_bmc *bmc, const char *user, const char *password);
/* The first account may do nothing but change its password. */
void bu_bmc_demand_change(struct bu_bmc *bmc);
void bu_bmc_create_account(struct bu_bmc_call *call);
void bu_bmc_patch_account(struct bu_bmc_call *call);
void bu_bmc_delete_account(struct bu_bmc_call *call);

/* --- patch.c --- */
/* What may be written: "Boot/BootSourceOverrideMode", and its type: s, b, i, a (list),
 * o (an object, its members are rows of their own), * (an object, whatever is in it).
 * A pattern ends with {0}. */
struct bu_bmc_writable {
	const char *path;
	char type;
};
/* 0 when all of the body may be written; else the refusal is made. */
int bu_bmc_check_patch(struct bu_bmc_call *call, const struct bu_bmc_writable *rows);
/* Writes the body over the BMC's own copy. */
void bu_bmc_apply(json_t *resource, const json_t *body);
/* 200 with the resource or 204, as the tree does. */
void bu_bmc_patched(struct bu_bmc_call *call);
/* Types whose PATCH only stores: what of them may be written; NULL = none. */
const struct bu_bmc_writable *bu_bmc_stored(const char *type);

/* --- boot.c --- */
void bu_bmc_patch_system(struct bu_bmc_call *call);
/* What it boots from, spending a one-shot override; pending settings are current now.
 */
void bu_bmc_begin_boot(struct bu_bmc *bmc, char *ret_target, size_t size);

/* --- bios.c --- */
void bu_bmc_patch_bios(struct bu_bmc_call *call);
void bu_bmc_apply_bios(struct bu_bmc *bmc);

/* --- faults.c --- */
/* "post=30"; the number is INT64_MAX where the text has none. */
bu_must int bu_bmc_fault_read(const char *text, enum bu_bmc_fault *ret,
			      int64_t *ret_number, struct bu_err *err);

/* --- power.c --- */
void bu_bmc_power_begin(struct bu_bmc *bmc);
/* The ResetType is one of those allowed. 0, or the refusal is made. */
int bu_bmc_reset(struct bu_bmc_call *call, const char *type);

/* --- log.c --- */
/* An entry of now; severity: "OK", "Warning", "Critical". */
void bu_bmc_log(struct bu_bmc *bmc, const char *severity, const char *text);
/* So many that are older, one each minute. */
void bu_bmc_log_rows(struct bu_bmc *bmc, int64_t rows);
void bu_bmc_clear_log(struct bu_bmc_call *call, const json_t *action,
		      const char *resource);

/* The BMC itself: away for a while, its sessions are gone. */
void bu_bmc_restart(struct bu_bmc *bmc);

/* --- actions.c --- */
void bu_bmc_act(struct bu_bmc_call *call);
/* 1 when the path is an action that its resource has. */
int bu_bmc_is_action(const struct bu_bmc *bmc, const char *uri);

/* --- tasks.c --- */
enum { BU_BMC_AT_RESET = -1 };
/* 202 with a task that is complete after some ms, or at the next reset. */
void bu_bmc_begin_task(struct bu_bmc_call *call, const char *name, int64_t in_ms);
void bu_bmc_finish_tasks(struct bu_bmc *bmc, int at_reset);
/* GET of a task's monitor; 0 when the path is none. */
int bu_bmc_monitor(struct bu_bmc_call *call);

/* --- media.c --- */
void bu_bmc_insert_media(struct bu_bmc_call *call, const char *resource);
void bu_bmc_eject_media(struct bu_bmc_call *call, const char *resource);
void bu_bmc_patch_media(struct bu_bmc_call *call);
/* Images whose insertion was a task are in. */
void bu_bmc_finish_media(struct bu_bmc *bmc);
/* The image of a virtual CD that is inserted; NULL = none. */
const char *bu_bmc_media_image(struct bu_bmc *bmc);

#endif
