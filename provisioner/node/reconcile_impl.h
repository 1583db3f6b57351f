/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of reconcile, which look at each other downwards only:
 * reconcile.c (what each state asks for), agents.c, verbs.c and why.c ask late.c (the
 * ladders), effects.c (what steps do to the world), journal.c (the way into the log)
 * and deadline.c.
 */
#ifndef BU_NODE_RECONCILE_IMPL_H
#define BU_NODE_RECONCILE_IMPL_H

#include "model/limit.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/node/reconcile.h"

/* What a person asked for last. LOST: there was an answer, and the log does not have
 * it. */
enum { BU_WISH_RESTS, BU_WISH_RUNS, BU_WISH_LOST };

enum {
	BU_REPEATS_MAX = 2, /* power cycles before a ladder has run out */
	BU_RETRY_MS = 5000, /* between a failed effect and its repetition */
	/* Between the tries of a power action: a BMC that restarts takes minutes. */
	BU_POWER_RETRY_MS = 60000,
	BU_POWER_AGAIN_MS = 240000,
	BU_WAIT_OFF_MS = 30000, /* for a machine that switches itself off */
	BU_TICK_MS = 1000,
	/* An agent that has nothing to do asks for work each few seconds. */
	BU_HEARD_MS = 30 * 1000,
};

struct bu_effect;
struct bu_power_wish;
struct bu_observer;
struct bu_console_ask;
struct bu_report_ask;

struct bu_reconcile {
	struct bu_fleet *fleet;
	struct bu_power *power;
	const struct bu_trust *trust;
	int limit_s[BU_STATE_COUNT];
	struct bu_timer *tick;
	struct bu_effect *effects;           /* under way */
	struct bu_power_wish *wishes;        /* of people; under way */
	struct bu_observer *observers;       /* a list */
	const char *console_dir;             /* NULL = none are kept */
	struct bu_console_ask *console_asks; /* under way */
	struct bu_report_ask *report_asks;   /* under way */
	struct bu_medium_ask *medium_asks;   /* under way */
	const char *media_url;               /* borrowed; NULL = there are no media */
	int64_t awake_ms, ticked_ms;         /* see bu_observe_awake_ms() */
	int stopped;                         /* nothing new is begun */
	/* outage.c; monotonic times. */
	int alive;          /* the log takes rows, and has the first one of this life */
	int64_t life_seq;   /* that row; 0 = the log is empty */
	int64_t life_ms;    /* when this life began */
	int64_t lasted_ms;  /* the one before, for that row */
	int64_t lasted_seq; /* the row that began it */
	int64_t count_ms;   /* since when that row's life counts */
	int64_t offset_ms;  /* of the wall clock over the monotonic one */
	int64_t jumped_ms;  /* when it was last set */
	int64_t outage_ms;  /* since when there is no life */
	int64_t try_ms;     /* when the log is tried again */
	struct bu_freezer freezer;
	struct bu_meter *inventories; /* changes that the log takes, by node */
	char rival[16]; /* another DHCP server in the boot network; "" = none */
	char proxy[BU_MAC_SIZE]; /* a card that answers for several hosts there */
	/* Does the next thing that the node's state asks for (reconcile.c). */
	void (*drive)(struct bu_reconcile *rec, struct bu_node *node);
};

/* deadline.c. What its state or its step may take; 0 = as long as it takes. */
/* From when it counts: when its state or step began, or it last got further. */
int64_t bu_reconcile_since_ms(const struct bu_node *node);
int64_t bu_reconcile_limit_ms(const struct bu_reconcile *rec,
			      const struct bu_node *node);

/* What is late is held, and not power-cycled: so its state says, or it was promised
 * a restart without one. */
int bu_reconcile_holds(const struct bu_node *node);

/* Whether its ladder may power-cycle it: a person who took it back allowed its start,
 * and no reset of what is on. */
int bu_reconcile_cycles(const struct bu_node *node);

/* Its BMC is restarted before this try: those before failed at it, and the profile
 * allows it. */
int bu_reconcile_resets_bmc(const struct bu_node *node,
			    const struct bu_desired_node *want);

/* journal.c. Journals events of one node; when they are in, memory changes and drive()
 * follows. */
void bu_reconcile_append(struct bu_reconcile *rec, struct bu_node *node,
			 struct bu_event *events, size_t count);
/* Fires and logs a refusal; for callers that have none to tell. */
void bu_reconcile_try(struct bu_reconcile *rec, struct bu_node *node,
		      enum bu_trigger trigger, const struct bu_reason *reason,
		      struct bu_event *extra, size_t count);

/* ladder.c. One rung up the ladder: once more, or the end of it. trigger: LATE or
 * FAULT. */
void bu_reconcile_climb(struct bu_reconcile *rec, struct bu_node *node,
			enum bu_trigger last, const struct bu_reason *reason);
/* late_disks.c. What the machine does not fit for may be a disk that its adapter has
 * not found yet in this boot; 1 = err says that it is asked again. */
int bu_disks_may_come(struct bu_reconcile *rec, struct bu_node *node,
		      const char *boot_id, const struct bu_reason *reason,
		      struct bu_err *err);

/* manual.c. Nobody but a person can switch its machine. want: NULL = not known. */
int bu_manual_is(const struct bu_desired_node *want);
/* Says so where a machine is waited for, and stops when it has called. */
void bu_manual_look(struct bu_reconcile *rec, struct bu_node *node);
/* proof.c. What a machine that boots is waited for; the chain of its boot, owned, NULL
 * = there is nothing to say. */
void bu_proof_look(struct bu_reconcile *rec, struct bu_node *node);
char *bu_proof_words(const struct bu_reconcile *rec, const struct bu_node *node);

enum { BU_MEDIUM_URL_SIZE = 384 };

/* bmc.c. Whom bringup-power is asked about, by the node's reach, which it has;
 * bmc.machine is the one beside it. */
struct bu_node_bmc {
	struct bu_power_bmc bmc;
	struct bu_machine machine;
	char medium[BU_MEDIUM_URL_SIZE + 160], media_dir[BU_MEDIUM_URL_SIZE];
};
void bu_node_bmc(struct bu_fleet *fleet, const struct bu_node *node,
		 struct bu_node_bmc *ret);
/* Notes what its BMC said of the machine before it was switched; observe.c makes the
 * condition `bmc-differs` of that. */
void bu_node_bmc_says(struct bu_node *node, const struct bu_power_seen *seen);

/* symptoms.c. The evidence of a failure, for the commit that it stands in; how many
 * events: 0 = there is nothing to keep. */
size_t bu_symptoms_event(struct bu_reconcile *rec, const struct bu_node *node,
			 struct bu_event *ret);

/* symptoms.c. It speaks for a failure that is there now. */
int bu_symptoms_are_now(const struct bu_node *node);
/* What was kept; NULL = nothing that can be read. New reference. */
json_t *bu_symptoms_read(const struct bu_reconcile *rec, const struct bu_node *node);

/* bmc_reports.c */
void bu_node_reports_tick(struct bu_reconcile *rec);
void bu_node_reports_drop(struct bu_reconcile *rec);

/* consoles.c */
void bu_node_consoles_tick(struct bu_reconcile *rec);
void bu_node_consoles_drop(struct bu_reconcile *rec);

/* reach.c. Of the reach that the applied revision gives it; "" where the order's alone
 * has it, which nobody corrects. */
void bu_reach_digest(struct bu_fleet *fleet, const struct bu_node *node, char ret[65]);
/* The machine that its reach means may be the one for which its order was granted. */
int bu_reach_is_granted(struct bu_fleet *fleet, const struct bu_node *node);
/* A power action of its step is asked for by its reach. */
void bu_reach_used(const struct bu_reconcile *rec, struct bu_node *node);
/* corrected.c. What failed for its reach is done again at once when another one was
 * applied since. */
void bu_corrected_look(struct bu_reconcile *rec, struct bu_node *node);

/* medium.c. With the boot medium that the machine gets; as of bu_node_bmc(). */
void bu_medium_bmc(const struct bu_reconcile *rec, const struct bu_node *node,
		   struct bu_node_bmc *ret);
/* eject.c. Takes it out when it is not needed any more. */
void bu_medium_look(struct bu_reconcile *rec, struct bu_node *node);
/* Forgets the answers that are due. */
void bu_medium_drop(struct bu_reconcile *rec);

/* effect.c. A step's command is under way that may switch its machine on or off. */
int bu_effect_switches(const struct bu_reconcile *rec, const struct bu_node *node);
/* A command of a person to its BMC is under way. */
int bu_wish_runs(const struct bu_node *node);
/* One that restarts it. */
int bu_wish_restarts(const struct bu_node *node);
/* A command is under way that may switch its machine on or off, be it of a step that
 * the node has left behind. */
int bu_effects_switch(const struct bu_reconcile *rec, const struct bu_node *node);
/* One is under way that restarts its BMC. */
int bu_effects_restart(const struct bu_reconcile *rec, const struct bu_node *node);

/* siblings.c. Of the other nodes whose machines have the same BMC one that (NULL =
 * none) is being switched on or off, */
const struct bu_node *bu_sibling_switched(const struct bu_reconcile *rec,
					  const struct bu_node *node);
/* is worked on, by bringup or by a person, */
const struct bu_node *bu_sibling_in_use(const struct bu_reconcile *rec,
					const struct bu_node *node);
/* or for which that BMC restarts now. */
const struct bu_node *bu_sibling_restarts(const struct bu_reconcile *rec,
					  const struct bu_node *node);
/* Whether bringup may restart the BMC by itself: no person works at another of its
 * machines, and it was not restarted for one of them lately. */
int bu_siblings_allow(const struct bu_reconcile *rec, const struct bu_node *node);
/* effects.c */
void bu_effect_start(struct bu_reconcile *rec, struct bu_node *node);
/* After a restart: finds out whether the open step was done. */
void bu_effect_observe(struct bu_reconcile *rec, struct bu_node *node);
/* Ends what a cluster is still asked for by a step that is over (a node that restarts
 * while it joins is not let in any more) or of a node that a person holds. */
void bu_effects_overtaken(struct bu_reconcile *rec, struct bu_node *node);
/* Forgets those that are under way; the log knows their intents. */
void bu_effects_drop(struct bu_reconcile *rec);
void bu_outcome_event(struct bu_event *event, const struct bu_node *node,
		      const struct bu_err *failure, const char *detail);
/* An outcome may meet another batch of the node on its way to the log (it is lent as a
 * partner, its agent was heard). It is never dropped for that: if that batch ends the
 * step, the log passes over this word on it. */
void bu_journal_outcome(struct bu_reconcile *rec, struct bu_node *node,
			const struct bu_err *failure, const char *detail);
/* A second try cannot mend it. */
int bu_failure_is_final(const struct bu_err *failure);

/* anew.c. It began to boot again in the middle, and its agent is silent since. */
int bu_anew_is(const struct bu_reconcile *rec, const struct bu_node *node);

/* outdated.c. Whose certificates are of other hardware than it has now leaves its
 * cluster and is measured anew. */
void bu_outdated_leave(struct bu_reconcile *rec, struct bu_node *node);

/* observe.c */
/* A clock that stands still while bringupd does. */
int64_t bu_observe_awake_ms(const struct bu_reconcile *rec);
/* The cluster by driver and configuration, opened when it was not; NULL when there is
 * no such driver. */
struct bu_cluster *bu_observe_cluster(struct bu_reconcile *rec,
				      const struct bu_joined *joined,
				      const struct bu_cluster_driver **ret_driver,
				      struct bu_err *err);
/* Asks those that are due, and makes conditions of what was seen. */
void bu_observe_tick(struct bu_reconcile *rec);
void bu_observe_drop(struct bu_reconcile *rec);
/* While nothing may be done: ends what clusters are asked for; what a BMC does is done.
 */
void bu_effects_pause(struct bu_reconcile *rec);
/* A node whose answer is no longer waited for is observed. */
void bu_effects_resume(struct bu_reconcile *rec);

/* outage.c */
/* The first row of this life is on its way; when it is in, every node is driven. */
void bu_outage_start(struct bu_reconcile *rec);
/* arg: rec. The store went down. */
void bu_outage_begin(void *arg);
/* Tries the log again when it is time; 1 = bringup is at work. */
int bu_outage_look(struct bu_reconcile *rec);
/* When the wall clock was set, a row ends what was counted by it. */
void bu_outage_heed_clock(struct bu_reconcile *rec);
/* Keeps for how long this life has lasted. */
void bu_outage_mark(struct bu_reconcile *rec);

/* verbs_power.c. Does, or looks at, what a person has asked for. */
void bu_wish_go(struct bu_reconcile *rec, struct bu_node *node);
void bu_wishes_drop(struct bu_reconcile *rec);

/* late.c */
/* Sets when a step that failed is done again. */
void bu_late_retry(struct bu_reconcile *rec, struct bu_node *node);
/* Before any node is moved, so that those that are late together are seen so. */
void bu_late_note(struct bu_reconcile *rec, struct bu_node *node);
/* Has a row written of a wait that is long, for the deadline after a restart. */
void bu_late_waits(struct bu_reconcile *rec, struct bu_node *node);
/* The brake has it: it is late, and its ladder does not go on. */
int bu_late_is_frozen(const struct bu_reconcile *rec, const struct bu_node *node);
/* Moves what is past its deadline, and repeats what waited for its repetition. */
void bu_late_check(struct bu_reconcile *rec, struct bu_node *node);

#endif
