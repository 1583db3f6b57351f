/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves nodes, and nothing else does: journals intents, runs their effects through the
 * drivers, journals outcomes, watches deadlines and fires triggers of the lifecycle.
 * Rollout, gate and the agents' API ask here for a change of state.
 */
#ifndef BU_NODE_RECONCILE_H
#define BU_NODE_RECONCILE_H

#include <jansson.h>

#include "base/crypto.h"
#include "model/hello.h"
#include "model/inventory.h"
#include "model/machine.h"
#include "model/work.h"
#include "provisioner/node/fleet.h"
#include "provisioner/node/lifecycle.h"
#include "provisioner/power/power.h"
#include "provisioner/trust/trust.h"

struct bu_reconcile;

struct bu_reconcile_opts {
	struct bu_fleet *fleet;
	struct bu_power *power;
	const struct bu_trust *trust;
	/* "http://10.0.0.1:8080": BMCs fetch boot media here; borrowed, NULL = none */
	const char *media_url;
	/* By state, in seconds; 0 = the limit of the table of states. */
	int limit_s[BU_STATE_COUNT];
	/* Folder of bringup-power's consoles; borrowed; NULL = no consoles are kept. */
	const char *console_dir;
};

/* bmc.c. Does the machine boot from a medium in its BMC's virtual drive? */
int bu_medium_is(const struct bu_desired_node *want);
/* 1 = the machine has a BMC to ask. want: NULL = not known. */
int bu_bmc_is(const struct bu_desired_node *want);
/* medium.c. */
#define BU_MEDIUM_PATH "/boot/media/"
/* The present step's medium is BU_MEDIUM_PATH "NODE/SECRET.iso". */
void bu_medium_secret(const struct bu_trust *trust, const struct bu_node *node,
		      char ret[BU_DIGEST_SIZE]);

struct bu_reconcile *bu_reconcile_create(const struct bu_reconcile_opts *opts);
void bu_reconcile_destroy(struct bu_reconcile *rec);
/* Called before fleet and drivers are destroyed. Batches on their way to the log still
 * change memory, and begin nothing. */
void bu_reconcile_stop(struct bu_reconcile *rec);
/* The log is loaded: observes every open intent, then goes on. */
void bu_reconcile_start(struct bu_reconcile *rec);

/* The last lines of the machine's console as an array of texts, without control
 * characters; JSON null = none kept. New reference. */
enum { BU_SYMPTOM_LINES = 40 };
json_t *bu_reconcile_console(const struct bu_reconcile *rec,
			     const struct bu_node *node);
/* Logs the kernel crash of which a hello of this boot tells; crash NULL = none. */
void bu_reconcile_crashed(struct bu_reconcile *rec, struct bu_node *node,
			  const char *boot_id, const json_t *crash);
/* Adds the last crash, if within 30 days, as lines for `node why`. */
void bu_reconcile_crash(const struct bu_reconcile *rec, const struct bu_node *node,
			json_t *lines);
/* Adds the evidence of the present failure or hold, as lines for `node why`. */
void bu_reconcile_symptoms(const struct bu_reconcile *rec, const struct bu_node *node,
			   json_t *lines);
/* bmc_reports.c. Asks the node's BMC, unless a query is under way. The answer comes in
 * node->live.reports-> */
bu_must int bu_reconcile_report(struct bu_reconcile *rec, struct bu_node *node,
				enum bu_bmc_report what, struct bu_err *err);
/* NULL = no consoles are kept. */
const char *bu_reconcile_console_dir(const struct bu_reconcile *rec);

/* The brake (rollout/brake.c). look() is called before each look for late nodes, then
 * frozen() for each node that a ladder would move: frozen nodes stay. NULL = no brake.
 */
struct bu_freezer {
	void (*look)(void *arg);
	int (*frozen)(void *arg, const struct bu_node *node);
	void *arg;
};
void bu_reconcile_set_freezer(struct bu_reconcile *rec,
			      const struct bu_freezer *freezer);
/* A node is late while its power ladder's deadline is past, and so long after that. */
enum { BU_LATE_MEMORY_MS = 15 * 60 * 1000 };
int bu_reconcile_is_late(const struct bu_reconcile *rec, const struct bu_node *node);

/* Begins the open order of a settled node, by the order's class. Errors as of
 * bu_reconcile_fire(). */
bu_must int bu_reconcile_begin(struct bu_reconcile *rec, struct bu_node *node,
			       struct bu_err *err);
/* Asks for a change of state; reason: NULL = as planned. BU_ERR_STATE: no such edge.
 * BU_ERR_BUSY: an earlier change of the node is on its way to the log. */
bu_must int bu_reconcile_fire(struct bu_reconcile *rec, struct bu_node *node,
			      enum bu_trigger trigger, const struct bu_reason *reason,
			      struct bu_err *err);
/* The same with all that a change of state may say; fields may be 0. */
struct bu_move {
	enum bu_trigger on;
	const struct bu_reason *reason; /* NULL = as planned */
	const char *by;                 /* NULL = bringup */
	/* Of a move to DRAINING; NULL = as the order says. */
	const struct bu_next *next;
	int reset; /* see bu_node.reset */
	/* Events for the same commit, before the move. Their bodies are taken in any
	 * case. */
	struct bu_event *extra;
	size_t count;
};
bu_must int bu_reconcile_move(struct bu_reconcile *rec, struct bu_node *node,
			      const struct bu_move *move, struct bu_err *err);
/* Makes the event of the move, for a batch of several nodes. */
bu_must int bu_reconcile_moved(struct bu_reconcile *rec, struct bu_node *node,
			       const struct bu_move *move, struct bu_event *ret,
			       struct bu_err *err);
/* 0 = the move is possible now, to *ret_to. Asks for nothing; ignores move->extra. */
bu_must int bu_reconcile_can(struct bu_reconcile *rec, struct bu_node *node,
			     const struct bu_move *move, enum bu_state *ret_to,
			     struct bu_err *err);
/* Journals facts that change no state. Takes the bodies. */
void bu_reconcile_note(struct bu_reconcile *rec, struct bu_event *events, size_t count);
/* A person releases a held node. */
bu_must int bu_reconcile_release(struct bu_reconcile *rec, struct bu_node *node,
				 const char *by, struct bu_err *err);

/* For the agents' API. */

/* Is this the token of the boot that was ordered for this node? The first check of an
 * enrolment. */
bu_must int bu_reconcile_check_token(const struct bu_reconcile *rec,
				     const struct bu_node *node, const char *token,
				     struct bu_err *err);
/* Trades the token for a certificate, owned, whose event is on its way to the log. NULL
 * and BU_ERR_DENIED: a wrong token, not the machine of the profile, or another node's.
 * The same request may be repeated. */
struct bu_enrolment {
	const char *token;
	const char *csr; /* PEM */
	const struct bu_inventory *inventory;
	/* The requesting host: its address, and its MAC if on a wire with us; NULL =
	 * not known. */
	const char *address, *mac;
	const char *answers; /* MAC of another card with this address; NULL */
	int elsewhere;       /* the machine is on a wire with us, and the host is not */
};
char *bu_reconcile_admit(struct bu_reconcile *rec, struct bu_node *node,
			 const struct bu_enrolment *enrolment, struct bu_err *err);
/* The node with this machine, by serial number or UUID of the profile, if its boot is
 * ordered and a trade by the host with this MAC (NULL = not known) would succeed.
 * `cards`: of bu_inventory_cards(). NULL and BU_ERR_NOTFOUND: err says why not. */
struct bu_node *bu_reconcile_claimed(const struct bu_reconcile *rec,
				     const struct bu_machine *cards, const char *mac,
				     struct bu_err *err);
/* 1 = the node's network boot is ordered, and its token was not traded. */
int bu_reconcile_boots(const struct bu_node *node);
/* The same, and the machine may ask from an unknown MAC: the profile has no MAC, or the
 * machine was never seen and the profile also has its serial number or UUID. */
int bu_reconcile_lacks_mac(const struct bu_reconcile *rec, const struct bu_node *node);
/* 1 = the ramdisk should be at work: a machine that asks for its boot script has lost
 * it. */
int bu_reconcile_may_restart_boot(const struct bu_node *node);
/* Such a machine has asked for its boot script. If its agent stays silent too, the work
 * begins anew before the deadline. */
void bu_reconcile_boot_restarts(struct bu_reconcile *rec, struct bu_node *node);
/* May the holder of this certificate speak for the node's machine? The first use of a
 * renewed certificate ends the one before. BU_ERR_DENIED. */
bu_must int bu_reconcile_check_peer(struct bu_reconcile *rec, struct bu_node *node,
				    const char *fingerprint, struct bu_err *err);
/* Makes the agent's next certificate, owned; its event is on its way to the log. */
char *bu_reconcile_renew(struct bu_reconcile *rec, struct bu_node *node,
			 const char *csr, struct bu_err *err);
/* The BOOTING node with this first-boot token; NULL = none. */
struct bu_node *bu_reconcile_seed_node(const struct bu_reconcile *rec,
				       const char *token);
/* BU_ERR_NOTFOUND: the token was used, 120 s ago or more. Within these a broken
 * transfer may be repeated. */
bu_must int bu_reconcile_check_seed(const struct bu_reconcile *rec,
				    const struct bu_node *node, struct bu_err *err);
/* Logs that cloud-init of the node's first boot fetched its data. */
void bu_reconcile_seeded(struct bu_reconcile *rec, struct bu_node *node,
			 const char *address);
/* Does the machine have all that the class asks for? If not, ret is the difference.
 * ram: disks are not compared. */
int bu_class_fits(const struct bu_desired_hardware *class, int ram,
		  const struct bu_inventory *inv, struct bu_reason *ret);
/* stamp: {"text","sig"}, null or NULL. */
bu_must int bu_reconcile_hello(struct bu_reconcile *rec, struct bu_node *node,
			       enum bu_where where, const json_t *stamp,
			       const struct bu_inventory *inventory,
			       struct bu_err *err);
/* Does the node's step wait for its agent? (INSTALL, CONFIGURE, JOIN not yet started;
 * CONFIGURE in any of READY and DRAINING, and live only in READY.) */
int bu_reconcile_wants_agent(const struct bu_node *node);
/* The agent's result of a step and attempt; failure NULL = done. Results of earlier
 * steps or attempts are ignored. */
void bu_reconcile_result(struct bu_reconcile *rec, struct bu_node *node,
			 const char *step, int attempt, const struct bu_err *failure);
/* The same for a successful install, with its details. With kexec the agent starts the
 * new system by itself, after the answer to this request. */
void bu_reconcile_installed(struct bu_reconcile *rec, struct bu_node *node,
			    const char *step, int attempt,
			    const struct bu_work_installed *as);

/* The agent made a request. */
void bu_reconcile_heard(struct bu_reconcile *rec, struct bu_node *node);
/* The agent was given work, and may be silent for so long. 0 = its work has ended, or
 * it asks for work. */
void bu_reconcile_busy(struct bu_reconcile *rec, struct bu_node *node, int64_t for_ms);
/* The agent's progress in this stage of its step. The deadline counts from the last
 * advance. */
void bu_reconcile_progress(struct bu_reconcile *rec, struct bu_node *node,
			   const char *stage, uint64_t done_bytes,
			   uint64_t total_bytes);
/* 1 = the cluster said recently that no jobs run on the node. */
int bu_reconcile_is_idle(const struct bu_reconcile *rec, const struct bu_node *node);

/* Deadline of the present state, monotonic; 0 = settled, held or waiting. */
int64_t bu_reconcile_deadline(const struct bu_reconcile *rec,
			      const struct bu_node *node);
/* What the node does, since when, until when and what comes then: a list
 * of lines (model/sentence.h). New reference. */
json_t *bu_reconcile_why(const struct bu_reconcile *rec, const struct bu_node *node);

#endif
