/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types and functions that the files of reconcile share. Calls go downwards only: from
 * reconcile.c (the action of each state), agents.c, verbs.c and why.c to late.c (the
 * ladders), effects.c (commands of steps), journal.c (the way into the log) and
 * deadline.c.
 */
#ifndef BU_NODE_RECONCILE_IMPL_H
#define BU_NODE_RECONCILE_IMPL_H

#include "model/limit.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/node/reconcile.h"

/* A person's last power command. LOST: its answer is not in the log. */
enum { BU_POWER_RUN_RESTS, BU_POWER_RUN_RUNS, BU_POWER_RUN_LOST };

enum {
	BU_REPEATS_MAX = 2, /* repetitions before a ladder has run out */
	BU_RETRY_MS = 5000, /* between a failed command and its repetition */
	/* Before the second and the third try of a power action: the restart of a BMC
	 * takes minutes. */
	BU_POWER_RETRY_MS = 60000,
	BU_POWER_AGAIN_MS = 240000,
	BU_WAIT_OFF_MS = 30000, /* for a machine that switches itself off */
	BU_TICK_MS = 1000,
	BU_HEARD_MS = 30 * 1000, /* an idle agent asks for work every few seconds */
};

struct bu_effect;
struct bu_gating;
struct bu_power_request_run;
struct bu_observer;
struct bu_console_ask;
struct bu_report_ask;

/* Of fence.c. */
struct bu_fence {
	int paused;                /* the engine rests behind the fence */
	int opening;               /* the first row of the next life is on its way */
	char voucher[BU_NAME_MAX]; /* first agent that confirms; "" = none */
	int64_t vouched_ms;        /* monotonic */
	json_t *anchor;            /* for agents; NULL = not made */
	char revoked[65];          /* digest of its list */
	int64_t learning_epoch,
		learning_seq; /* of the last list on its way; 0 = none */
	int64_t made_of, made_epoch, made_ms; /* the list's version; monotonic */
};

/* Of starting.c and starting_tiers.c, in this process. */
struct bu_starting {
	int64_t seq;     /* the start that it is about; 0 = none */
	int64_t from_ms; /* awake: agents count that were heard after this */
	int64_t told_ms; /* monotonic: a row that ends told_tier was made; 0 = none */
	int64_t told_tier;
	int64_t partner_ms; /* monotonic: nothing lacks but partners since; 0 = more */
};

struct bu_reconcile {
	struct bu_fleet *fleet;
	struct bu_power *power;
	const struct bu_trust *trust;
	int limit_s[BU_STATE_COUNT];
	struct bu_timer *tick;
	struct bu_effect *effects; /* commands of steps under way */
	struct bu_gating *gatings; /* clusters told before a restart */
	struct bu_power_request_run *power_requests; /* commands of people under way */
	struct bu_observer *observers;               /* one per cluster */
	const char *console_dir;                     /* NULL = no consoles are kept */
	struct bu_console_ask *console_asks;         /* under way */
	struct bu_report_ask *report_asks;           /* under way */
	struct bu_medium_ask *medium_asks;           /* under way */
	const char *media_url;       /* borrowed; NULL = there are no media */
	int64_t awake_ms, ticked_ms; /* see bu_observe_awake_ms() */
	int stopped;                 /* nothing new is begun */
	/* outage.c; monotonic times. */
	int alive;          /* the log takes rows, and has this life's first row */
	int64_t life_seq;   /* this life's first row; 0 = the log is empty */
	int64_t life_ms;    /* start of this life */
	int64_t lasted_ms;  /* length of the life before, for the first row */
	int64_t lasted_seq; /* first row of the life before */
	int64_t count_ms;   /* this life's length counts from here */
	int64_t offset_ms;  /* wall clock minus monotonic clock */
	int64_t jumped_ms;  /* when the wall clock was last set */
	int64_t outage_ms;  /* start of the time without a life */
	int64_t try_ms;     /* next try to write the log */
	int64_t scaled_ms;  /* a word of idle_off went to the log; 0 = none */
	struct bu_fence fence;
	struct bu_starting starting;
	struct bu_freezer freezer;
	struct bu_siblings *siblings; /* index of siblings.c */
	struct bu_meter *inventories; /* limits inventory changes, by node */
	char rival[16]; /* another DHCP server in the boot network; "" = none */
	char proxy[BU_MAC_SIZE]; /* a card that answers for several hosts there */
	/* Begins the next action of the node's state (reconcile.c). */
	void (*drive)(struct bu_reconcile *rec, struct bu_node *node);
};

/* deadline.c. The deadline counts from here: the start of state or step, or the last
 * progress. */
int64_t bu_reconcile_since_ms(const struct bu_node *node);
/* Time limit of the node's state or step; 0 = no limit. */
int64_t bu_reconcile_limit_ms(const struct bu_reconcile *rec,
			      const struct bu_node *node);

/* 1 = the open start (starting.c) has not come to the node's machine yet, or was not
 * looked at: no ladder climbs, and no step switches the machine. */
int bu_reconcile_start_waits(const struct bu_reconcile *rec,
			     const struct bu_node *node);

/* 1 = a late node is held, not power-cycled: by its state's ladder, or as its order
 * promised no restart. */
int bu_reconcile_holds(const struct bu_node *node);

/* 1 = the ladder may power-cycle the machine. 0 = a person took the node back without
 * allowing a reset. */
int bu_reconcile_cycles(const struct bu_node *node);

/* 1 = the BMC is restarted before this try: power actions failed twice in a row, and
 * the profile says bmc_reset = last-try. */
int bu_reconcile_resets_bmc(const struct bu_node *node,
			    const struct bu_desired_node *want);

/* enroll.c. 1 = the machine with these cards (bu_inventory_cards()) is that of the
 * profile, and no other node has a use for it; else why. */
int bu_reconcile_is_machine(const struct bu_reconcile *rec, const struct bu_node *node,
			    const struct bu_machine *cards, struct bu_reason *why);
/* The node of the profile with this machine, by serial number, UUID or MAC; NULL. */
struct bu_node *bu_reconcile_meant(const struct bu_reconcile *rec,
				   const struct bu_machine *cards);
/* agents.c. The row of a machine and its inventory, for this node. */
bu_must int bu_reconcile_bound(struct bu_reconcile *rec, struct bu_event *event,
			       const struct bu_node *node, const char *machine,
			       const struct bu_inventory *inventory,
			       struct bu_err *err);
/* 0 = this is the stamp of that install on that machine. */
bu_must int bu_reconcile_check_stamp(const struct bu_reconcile *rec,
				     const json_t *stamp, const char *step,
				     const char *machine, struct bu_err *err);

/* journal.c. Appends events of one node to the log. Once they are in, memory changes
 * and drive() is called. */
void bu_reconcile_append(struct bu_reconcile *rec, struct bu_node *node,
			 struct bu_event *events, size_t count);
/* Fires a trigger. A refusal goes to the daemon's log. */
void bu_reconcile_try(struct bu_reconcile *rec, struct bu_node *node,
		      enum bu_trigger trigger, const struct bu_reason *reason,
		      struct bu_event *extra, size_t count);

/* ladder.c. The next rung of the ladder: a repetition or a hold, or at the end of the
 * ladder the trigger `last` (LATE or FAULT). */
void bu_reconcile_climb(struct bu_reconcile *rec, struct bu_node *node,
			enum bu_trigger last, const struct bu_reason *reason);
/* late_disks.c. 1 = the machine lacks disks that its adapter may still find in this
 * boot; err says until when the machine is asked again. */
int bu_disks_may_come(struct bu_reconcile *rec, struct bu_node *node,
		      const char *boot_id, const struct bu_reason *reason,
		      struct bu_err *err);

/* manual.c. 1 = only a person can switch the machine. want: NULL = not known. */
int bu_manual_is(const struct bu_desired_node *want);
/* Sets or ends the reason BY_HAND of a node that waits for such a machine. */
void bu_manual_look(struct bu_reconcile *rec, struct bu_node *node);
/* proof.c. Sets as reason the boot request that the machine is waited for. */
void bu_proof_look(struct bu_reconcile *rec, struct bu_node *node);
/* Adds the boot requests so far, as lines. */
void bu_proof_say(const struct bu_reconcile *rec, const struct bu_node *node,
		  json_t *lines);

enum { BU_MEDIUM_URL_SIZE = 384 };

/* bmc.c. The BMC for a request to bringup-power, by the node's reach. The node has a
 * reach. bmc.machine points to `machine`. */
struct bu_node_bmc {
	struct bu_power_bmc bmc;
	struct bu_machine machine;
	char medium[BU_MEDIUM_URL_SIZE + 160], media_dir[BU_MEDIUM_URL_SIZE];
};
void bu_node_bmc(struct bu_fleet *fleet, const struct bu_node *node,
		 struct bu_node_bmc *ret);
/* Keeps the BMC's word on whose machine it has, for the condition `bmc-differs` of
 * observe.c. */
void bu_node_bmc_says(struct bu_node *node, const struct bu_power_seen *seen);

/* symptoms.c. Makes the evidence event of a failure, for the failure's commit. Returns
 * the number of events: 0 = nothing to keep. */
size_t bu_symptoms_event(struct bu_reconcile *rec, const struct bu_node *node,
			 struct bu_event *ret);

/* 1 = the evidence is of the present failure or hold. */
int bu_symptoms_are_now(const struct bu_node *node);
/* The kept evidence; NULL = none, or unreadable. New reference. */
json_t *bu_symptoms_read(const struct bu_reconcile *rec, const struct bu_node *node);

/* bmc_reports.c */
void bu_node_reports_tick(struct bu_reconcile *rec);
void bu_node_reports_drop(struct bu_reconcile *rec);

/* consoles.c */
void bu_node_consoles_tick(struct bu_reconcile *rec);
void bu_node_consoles_drop(struct bu_reconcile *rec);

/* reach.c. Digest of the node's reach by the applied revision; "" = the reach is the
 * order's, which no apply corrects. */
void bu_reach_digest(struct bu_fleet *fleet, const struct bu_node *node, char ret[65]);
/* 1 = the reach may mean the machine for which the order was granted. */
int bu_reach_is_granted(struct bu_fleet *fleet, const struct bu_node *node);
/* Keeps the reach by which a power action is asked for. */
void bu_reach_used(const struct bu_reconcile *rec, struct bu_node *node);
/* corrected.c. Repeats a failed power action at once when another reach was applied. */
void bu_corrected_look(struct bu_reconcile *rec, struct bu_node *node);

/* medium.c. bu_node_bmc() with the address of the machine's boot medium. */
void bu_medium_bmc(const struct bu_reconcile *rec, const struct bu_node *node,
		   struct bu_node_bmc *ret);
/* eject.c. Ejects the boot medium when no ordered boot needs it. */
void bu_medium_look(struct bu_reconcile *rec, struct bu_node *node);
/* Forgets the ejects under way. */
void bu_medium_drop(struct bu_reconcile *rec);

/* effect.c. 1 = a step's command that may switch the machine is under way, or its
 * cluster is being told of it. */
int bu_effect_switches(const struct bu_reconcile *rec, const struct bu_node *node);
/* 1 = a person's command to the BMC is under way. */
int bu_power_request_runs(const struct bu_node *node);
/* 1 = a person's restart of the BMC is under way. */
int bu_power_request_restarts(const struct bu_node *node);
/* 1 = a command of a step, also of an earlier one, or of a person may switch the
 * machine. */
int bu_effects_switch(const struct bu_reconcile *rec, const struct bu_node *node);
/* 1 = a command that restarts the BMC is under way. */
int bu_effects_restart(const struct bu_reconcile *rec, const struct bu_node *node);

struct bu_siblings *bu_siblings_create(void);
void bu_siblings_destroy(struct bu_siblings *siblings);
/* siblings.c. A sibling is another node whose machine has the same BMC; NULL = none.
 * Here: one whose machine is being switched on or off. */
const struct bu_node *bu_sibling_switched(const struct bu_reconcile *rec,
					  const struct bu_node *node);
/* A sibling at which bringup or a person works. */
const struct bu_node *bu_sibling_in_use(const struct bu_reconcile *rec,
					const struct bu_node *node);
/* A sibling for which the BMC restarts now. */
const struct bu_node *bu_sibling_restarts(const struct bu_reconcile *rec,
					  const struct bu_node *node);
/* 1 = bringup may restart the BMC by itself: no person works at a sibling, and the BMC
 * was not restarted for a sibling within 15 minutes. */
int bu_siblings_allow(const struct bu_reconcile *rec, const struct bu_node *node);
/* effects.c */
void bu_effect_start(struct bu_reconcile *rec, struct bu_node *node);
/* Finds out whether the open step was done, after a restart of bringupd for example. */
void bu_effect_observe(struct bu_reconcile *rec, struct bu_node *node);
/* Cancels cluster requests of a step that is over (of a node that restarts while it
 * joins), or of a node that a person holds. */
void bu_effects_overtaken(struct bu_reconcile *rec, struct bu_node *node);
/* Forgets the commands under way; the log has their intents. */
void bu_effects_drop(struct bu_reconcile *rec);
void bu_outcome_event(struct bu_event *event, const struct bu_node *node,
		      const struct bu_err *failure, const char *detail);
/* Appends an outcome, also while another batch of the node is on its way to the log. If
 * that batch ends the step, replay passes over the outcome. */
void bu_journal_outcome(struct bu_reconcile *rec, struct bu_node *node,
			const struct bu_err *failure, const char *detail);
/* 1 = a second try would fail with the same error. */
int bu_failure_is_final(const struct bu_err *failure);

/* boot_restart.c. 1 = the machine began to boot again while its ramdisk should be at
 * work, and its agent has been silent for 60 s since. */
int bu_boot_restart_is(const struct bu_reconcile *rec, const struct bu_node *node);

/* suspend.c. 1 = the node's cluster had its machine switched off, until its next boot;
 * a machine that was woken has some time for that. */
int bu_suspend_is(const struct bu_reconcile *rec, const struct bu_node *node);
/* 1 = the node's cluster, asked since the last wake and boot, says that it powers the
 * node down, and that no jobs run on it. */
int bu_suspend_may(const struct bu_reconcile *rec, const struct bu_node *node);

/* outdated.c. Drains a node whose certificates are not of its present hardware or boot,
 * for a new measurement. */
void bu_outdated_leave(struct bu_reconcile *rec, struct bu_node *node);

/* observe.c. A clock that stands still while bringupd does. */
int64_t bu_observe_awake_ms(const struct bu_reconcile *rec);
/* 1 = the cluster has answered nobody for 15 s or more. */
int bu_observe_is_silent(const struct bu_reconcile *rec,
			 const struct bu_joined *joined);
/* joining.c. Stops the deadline of a node that joins a silent cluster. 1 = drive it: it
 * may be tried again. */
int bu_joining_look(struct bu_reconcile *rec, struct bu_node *node);
/* The cluster of this driver and handle, opened if needed; NULL = no such driver. */
struct bu_cluster *bu_observe_cluster(struct bu_reconcile *rec,
				      const struct bu_joined *joined,
				      const struct bu_cluster_driver **ret_driver,
				      struct bu_err *err);
/* 1 = its agent was not heard lately, and has no work that would take so long. */
int bu_observe_misses(const struct bu_reconcile *rec, const struct bu_node *node);
/* Asks the clusters that are due, and makes conditions of answers and silence. */
void bu_observe_tick(struct bu_reconcile *rec);
/* Calls fn for each cluster that is open. */
typedef void (*bu_observe_fn)(struct bu_reconcile *rec,
			      const struct bu_cluster_driver *driver,
			      struct bu_cluster *cluster, const struct bu_joined *of);
void bu_observe_each(struct bu_reconcile *rec, bu_observe_fn fn);
void bu_observe_drop(struct bu_reconcile *rec);
/* repairs.c. Carries out and answers the requests of all clusters to repair nodes, and
 * tells them what is wrong with theirs; of one. */
void bu_repairs_tick(struct bu_reconcile *rec);
void bu_repairs_look(struct bu_reconcile *rec, const struct bu_cluster_driver *driver,
		     struct bu_cluster *cluster, const struct bu_joined *of);
/* effect.c. Cancels cluster requests, but no BMC commands, in an outage of the log. */
void bu_effects_pause(struct bu_reconcile *rec);
/* Lets open steps without a command under way be observed. */
void bu_effects_resume(struct bu_reconcile *rec);

/* outage.c. Appends the first row of this life. Once the row is in, every node is
 * driven. */
void bu_outage_start(struct bu_reconcile *rec);
/* arg: rec. The store went down. */
void bu_outage_begin(void *arg);
/* Tries the log again when a try is due; 1 = bringup is alive. */
int bu_outage_look(struct bu_reconcile *rec);
/* The fence is shut: ends this life in good order. It is open again: appends the first
 * row of the next life, and goes on when that is in the log. */
void bu_outage_fence(struct bu_reconcile *rec, int shut);
/* fence.c. Opens the fence when its time has come, and pauses or wakes the engine. */
void bu_fence_look(struct bu_reconcile *rec);
/* Writes a row `started` when the wall clock was set by 5 s or more. */
void bu_outage_heed_clock(struct bu_reconcile *rec);
/* Stores the length of this life so far. */
void bu_outage_mark(struct bu_reconcile *rec);

/* gating.c. Before a command that switches the machine: 1 = it may begin. 0 = the
 * node's cluster is told first to give the node no work until a join; drive() is called
 * when that is done, or has lasted too long. seq: of the intent or the person's
 * command. */
int bu_gating_done(struct bu_reconcile *rec, struct bu_node *node, int64_t seq);
/* effect.c. 1 = its cluster is being told. */
int bu_gating_runs(const struct bu_reconcile *rec, const struct bu_node *node);

/* verbs_power.c. Does a person's power command, or looks whether it was done. */
void bu_power_request_go(struct bu_reconcile *rec, struct bu_node *node);
void bu_power_requests_drop(struct bu_reconcile *rec);

/* late.c. Sets when a failed step is tried again. */
void bu_late_retry(struct bu_reconcile *rec, struct bu_node *node);
/* Marks a late node, before any node is moved: the brake counts all late nodes. */
void bu_late_note(struct bu_reconcile *rec, struct bu_node *node);
/* Writes a row when a wait has lasted 30 s, and when it ends, for the deadline after a
 * restart. */
void bu_late_waits(struct bu_reconcile *rec, struct bu_node *node);
/* 1 = the node is late, and the brake stops its ladder. */
int bu_late_is_frozen(const struct bu_reconcile *rec, const struct bu_node *node);
/* Moves a node past its deadline, and repeats a failed step when that is due. */
void bu_late_check(struct bu_reconcile *rec, struct bu_node *node);

#endif
