/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that moves nodes: it journals intents, runs their effects through the
 * drivers, journals outcomes, watches deadlines and fires triggers of the lifecycle.
 * Code that moves a node to another state (rollout, gate, agents' API) asks here.
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
	/* "http://10.0.0.1:8080": where BMCs fetch boot media; borrowed, NULL = none */
	const char *media_url;
	/* Seconds per state that replace the table's; 0 = the table's. */
	int limit_s[BU_STATE_COUNT];
	/* Where bringup-power keeps consoles; borrowed; NULL = it keeps none. */
	const char *console_dir;
};

/* bmc.c. Does the machine boot from a medium in its BMC's virtual drive? */
int bu_medium_is(const struct bu_desired_node *want);
/* There is a BMC to be asked. want: NULL = not known. */
int bu_bmc_is(const struct bu_desired_node *want);
/* medium.c. */
#define BU_MEDIUM_PATH "/boot/media/"
/* The medium of the present step is BU_MEDIUM_PATH "NODE/SECRET.iso". */
void bu_medium_secret(const struct bu_trust *trust, const struct bu_node *node,
		      char ret[BU_DIGEST_SIZE]);

struct bu_reconcile *bu_reconcile_create(const struct bu_reconcile_opts *opts);
void bu_reconcile_destroy(struct bu_reconcile *rec);
/* Before what it works with goes: what is on its way to the log still changes memory,
 * but begins nothing. */
void bu_reconcile_stop(struct bu_reconcile *rec);
/* After the log was loaded: every open intent is observed, then work goes on. */
void bu_reconcile_start(struct bu_reconcile *rec);

/* The last lines of its machine's console as an array of texts, made harmless; JSON
 * null when none were kept. New reference. */
enum { BU_SYMPTOM_LINES = 40 };
json_t *bu_reconcile_console(const struct bu_reconcile *rec,
			     const struct bu_node *node);
/* Adds what was kept of it when the node failed or was held, as lines for `node why`.
 */
/* What its kernel left when it crashed, as its hello of this boot has it; NULL =
 * nothing. */
void bu_reconcile_crashed(struct bu_reconcile *rec, struct bu_node *node,
			  const char *boot_id, const json_t *crash);
/* Adds that of the last weeks. */
void bu_reconcile_crash(const struct bu_reconcile *rec, const struct bu_node *node,
			char **text);
void bu_reconcile_symptoms(const struct bu_reconcile *rec, const struct bu_node *node,
			   char **text);
/* bmc_reports.c. Asks the node's BMC, unless that is under way: node->live.reports has
 * the answer then. */
bu_must int bu_reconcile_report(struct bu_reconcile *rec, struct bu_node *node,
				enum bu_bmc_report what, struct bu_err *err);
/* NULL = no consoles are kept. */
const char *bu_reconcile_console_dir(const struct bu_reconcile *rec);

/* Asked before each look at what is late, then for each node that a ladder would move:
 * frozen nodes are left as they are (rollout/brake.c). NULL = no brake. */
struct bu_freezer {
	void (*look)(void *arg);
	int (*frozen)(void *arg, const struct bu_node *node);
	void *arg;
};
void bu_reconcile_set_freezer(struct bu_reconcile *rec,
			      const struct bu_freezer *freezer);
/* Late means: a power ladder's deadline has passed, or did so less than this ago. */
enum { BU_LATE_MEMORY_MS = 15 * 60 * 1000 };
int bu_reconcile_is_late(const struct bu_reconcile *rec, const struct bu_node *node);

/* The turn of a settled node with an open order: begins what the order's class asks
 * for. Errors as of bu_reconcile_fire(). */
bu_must int bu_reconcile_begin(struct bu_reconcile *rec, struct bu_node *node,
			       struct bu_err *err);
/* Asks for a change of state; reason: NULL = it went as planned. BU_ERR_STATE when
 * there is no such edge, BU_ERR_BUSY while an earlier change of the node is on its way
 * to the log. */
bu_must int bu_reconcile_fire(struct bu_reconcile *rec, struct bu_node *node,
			      enum bu_trigger trigger, const struct bu_reason *reason,
			      struct bu_err *err);
/* The same with all that a change of state may say; a field may be 0. */
struct bu_move {
	enum bu_trigger on;
	const struct bu_reason *reason; /* NULL = it went as planned */
	const char *by;                 /* NULL = bringup */
	/* Of one that leads to draining; NULL = as the node's order says. */
	const struct bu_next *next;
	int reset; /* see bu_node.reset */
	/* Events that go into the same commit, before it; their bodies are taken in any
	 * case. */
	struct bu_event *extra;
	size_t count;
};
bu_must int bu_reconcile_move(struct bu_reconcile *rec, struct bu_node *node,
			      const struct bu_move *move, struct bu_err *err);
/* The event that does it, for a batch of several nodes. */
bu_must int bu_reconcile_moved(struct bu_reconcile *rec, struct bu_node *node,
			       const struct bu_move *move, struct bu_event *ret,
			       struct bu_err *err);
/* Whether it could be; nothing is asked for. move->extra is not looked at. */
bu_must int bu_reconcile_can(struct bu_reconcile *rec, struct bu_node *node,
			     const struct bu_move *move, enum bu_state *ret_to,
			     struct bu_err *err);
/* Journals facts that change no state. Takes the bodies. */
void bu_reconcile_note(struct bu_reconcile *rec, struct bu_event *events, size_t count);
/* A person takes a held node back into work. */
bu_must int bu_reconcile_release(struct bu_reconcile *rec, struct bu_node *node,
				 const char *by, struct bu_err *err);

/* What the agents' API passes on. */

/* Is this the token of the boot that was ordered for this node? Asked before anything
 * else of an enrolment is read. */
bu_must int bu_reconcile_check_token(const struct bu_reconcile *rec,
				     const struct bu_node *node, const char *token,
				     struct bu_err *err);
/* Trades the token for a certificate, which is on its way to the log then; owned, NULL
 * and BU_ERR_DENIED when this is not the token, or not the machine that the profile
 * says, or one of another node. The same request may be shown again. */
struct bu_enrolment {
	const char *token;
	const char *csr; /* PEM */
	const struct bu_inventory *inventory;
	/* Who shows it: its address, and its MAC where it is on one wire with us; NULL
	 * = not known. */
	const char *address, *mac;
	const char
		*answers; /* another MAC of the wire to which its address leads; NULL */
	int elsewhere; /* the machine is on a wire with us, and the host is not on it */
};
char *bu_reconcile_admit(struct bu_reconcile *rec, struct bu_node *node,
			 const struct bu_enrolment *enrolment, struct bu_err *err);
/* The node whose machine this is by the serial number or UUID of the profile, and whose
 * boot is ordered: a trade of the host with this MAC (NULL = not known) would be good.
 * `cards` is of bu_inventory_cards(). NULL and BU_ERR_NOTFOUND with what stands against
 * it. */
struct bu_node *bu_reconcile_claimed(const struct bu_reconcile *rec,
				     const struct bu_machine *cards, const char *mac,
				     struct bu_err *err);
/* Its boot from the network is ordered, and its machine has not traded the token yet.
 */
int bu_reconcile_boots(const struct bu_node *node);
/* The same, and its machine may ask from a MAC that is not known: the profile gives
 * none, or gives more than the one of a machine that was never seen. */
int bu_reconcile_lacks_mac(const struct bu_reconcile *rec, const struct bu_node *node);
/* Its ramdisk should be at work: what asks for its boot script now has lost it. */
int bu_reconcile_may_begin_anew(const struct bu_node *node);
/* Its machine has asked for its boot script then. When its agent stays silent, too,
 * what it was at begins anew, before its deadline. */
void bu_reconcile_begins_anew(struct bu_reconcile *rec, struct bu_node *node);
/* May who shows the certificate of this fingerprint speak for the node's machine? A
 * renewed one ends the one before with its first use. BU_ERR_DENIED. */
bu_must int bu_reconcile_check_peer(struct bu_reconcile *rec, struct bu_node *node,
				    const char *fingerprint, struct bu_err *err);
/* The agent's next certificate, on its way to the log; owned. */
char *bu_reconcile_renew(struct bu_reconcile *rec, struct bu_node *node,
			 const char *csr, struct bu_err *err);
/* Whose first boot the token is of; NULL: nobody's who boots what was just installed.
 */
struct bu_node *bu_reconcile_seed_node(const struct bu_reconcile *rec,
				       const char *token);
/* BU_ERR_NOTFOUND once it was used, but for a moment in which what broke off is asked
 * for again. */
bu_must int bu_reconcile_check_seed(const struct bu_reconcile *rec,
				    const struct bu_node *node, struct bu_err *err);
/* Its cloud-init gets who it is: on its way to the log. */
void bu_reconcile_seeded(struct bu_reconcile *rec, struct bu_node *node,
			 const char *address);
/* Has the machine all that the class asks for? When not, ret is the difference. ram:
 * but for disks. */
int bu_class_fits(const struct bu_desired_hardware *class, int ram,
		  const struct bu_inventory *inv, struct bu_reason *ret);
/* stamp: {"text","sig"}, null or NULL. */
bu_must int bu_reconcile_hello(struct bu_reconcile *rec, struct bu_node *node,
			       enum bu_where where, const json_t *stamp,
			       const struct bu_inventory *inventory,
			       struct bu_err *err);
/* Does the node's step wait for its agent? (INSTALL, CONFIGURE, JOIN not yet started;
 * CONFIGURE in any of ready and draining: live only where it is ready.) */
int bu_reconcile_wants_agent(const struct bu_node *node);
/* The agent's word on step and attempt: failure NULL = done. An old one is ignored. */
void bu_reconcile_result(struct bu_reconcile *rec, struct bu_node *node,
			 const char *step, int attempt, const struct bu_err *failure);
/* The same of an install that went well, with what came of it. With kexec the agent
 * starts what it has installed by itself, once it has heard that this was heard. */
void bu_reconcile_installed(struct bu_reconcile *rec, struct bu_node *node,
			    const char *step, int attempt,
			    const struct bu_work_installed *as);

/* Its agent said something. */
void bu_reconcile_heard(struct bu_reconcile *rec, struct bu_node *node);
/* Its agent was given work: for so long it may say nothing. 0 = it asks for work. */
void bu_reconcile_busy(struct bu_reconcile *rec, struct bu_node *node, int64_t for_ms);
/* Its agent is so far in this stage of its step: the deadline counts from the last time
 * that it got further. */
void bu_reconcile_progress(struct bu_reconcile *rec, struct bu_node *node,
			   const char *stage, uint64_t done_bytes,
			   uint64_t total_bytes);
/* Its cluster said lately that nothing runs on it. */
int bu_reconcile_is_idle(const struct bu_reconcile *rec, const struct bu_node *node);

/* When the present state is over, monotonic; 0 when it is settled, held or waiting. */
int64_t bu_reconcile_deadline(const struct bu_reconcile *rec,
			      const struct bu_node *node);
/* "What is it doing, since when, until when, what then": several lines; owned. */
char *bu_reconcile_why(const struct bu_reconcile *rec, const struct bu_node *node);

#endif
