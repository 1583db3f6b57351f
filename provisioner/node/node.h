/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: a name of the profile and its state. The state is a function of the log, but
 * for `live`, which holds the facts of this process's memory.
 */
#ifndef BU_NODE_NODE_H
#define BU_NODE_NODE_H

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "model/class.h"
#include "model/condition.h"
#include "model/event_body.h"
#include "model/fact.h"
#include "model/hello.h"
#include "model/machine.h"
#include "model/power_request.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/step.h"
#include "provisioner/node/hold.h"
#include "provisioner/node/lifecycle.h"
#include "provisioner/node/parts.h"

/* The body of the last event of a kind, and its record `is`, which borrows its texts
 * from `body`. body NULL = no such event. */
#define BU_KEPT(name)                                                                  \
	struct {                                                                       \
		json_t *body;                                                          \
		struct bu_body_##name is;                                              \
	}
#define BU_KEEP(kept, event, of)                                                       \
	do {                                                                           \
		bu_body_keep(&(kept)->body, (event)->body);                            \
		(kept)->is = (of);                                                     \
	} while (0)
#define BU_DROP(kept)                                                                  \
	do {                                                                           \
		bu_body_keep(&(kept)->body, NULL);                                     \
		memset(&(kept)->is, 0, sizeof((kept)->is));                            \
	} while (0)

static inline void
bu_body_keep(json_t **slot, json_t *body)
{
	json_t *old = *slot;

	*slot = json_incref(body);
	json_decref(old);
}

struct bu_kept_verdict {
	json_t *body;
	struct bu_body_verdict is;
};

/* Facts in memory: lost with the process, and seen anew by the next. "awake" is the
 * clock of bu_observe_awake_ms(). */
struct bu_node_live {
#define P(name, type, count) const type *name;
	BU_LIVE_PARTS(P)
#undef P
#define T(name, size, keep) const char *name;
	BU_LIVE_TEXTS(T)
#undef T
	struct bu_boot_restart boot_restart;
	int power_running;      /* BU_POWER_RUN_* */
	int bmc_said;           /* the BMC named its machine since bringupd started */
	int64_t bmc_restart_ms; /* monotonic: the BMC was told to restart; 0 = never */
	int64_t idle_ms;        /* monotonic: without a job since; 0 = not seen so */
	int64_t lost_ms;        /* awake: last sent back to its cluster; 0 = never */
	int64_t gated_seq; /* of the intent or power command before which its cluster
			      was told to give it no work (gating.c); 0 = none */
	int in_profile;
	char firmware[8];
	int checks_errors; /* reports in a row that did not come or are no good */
	int checks_told;   /* answered items of checks since bringupd started */
	int slices_lost;   /* soak slices since then that count for no time */
	struct bu_cert_look full_look, boot_look;
	uint64_t rails_good; /* as bu_cert_look.rails: good at the rail's last look */
	/* The wait for tests across rails, in the state of `state_seq`, since since_ms
	 * (monotonic). late: the certificate waits no longer, and the tests go on.
	 * Measurements between leaves count from the row `after_seq` on. */
	struct {
		int64_t since_ms, state_seq, after_seq;
		int over, late;
	} leaf_campaign;
	/* The agent's last report of its system, due to be logged; `rows` were written
	 * since `since_ms` (monotonic). */
	struct {
		json_t *runs; /* owned; NULL = an agent that tells nothing */
		int due;
		int rows;
		int64_t since_ms;
	} finds;
	int appending;      /* batches about the node on their way to the log */
	int effect_running; /* of the open step */
	int join_started;   /* the agent has started the cluster's client */
	/* The boot medium (provisioner/node/eject.c). */
	int medium, medium_asked, medium_tries;
	int64_t medium_ms;    /* monotonic: no eject is asked for before */
	int64_t clock_ms;     /* monotonic: the state's deadline counts from here */
	int64_t retry_ms;     /* monotonic: a failed step is tried again; 0 = no */
	int64_t log_clock_ms; /* clock_ms by the log; the end of a wait sets clock_ms */
	int reason_rail;      /* 1 + place of its rail in the pool; 0 = of the node */
	int wait_logged;      /* the log has the wait */
	int64_t waiting_ms;   /* monotonic: the deadline stopped; 0 = it counts */
	int64_t late_ms;      /* monotonic: last found late; 0 = not late */
	int let_go; /* released while late: the brake does not freeze the ladder */
	uint32_t turn_words;      /* hash of why it waits for its turn, as last shown */
	int64_t last_seen_ms;     /* Unix time; 0 = never */
	int64_t changed;          /* the fleet's version with the last change of it */
	struct bu_listed *listed; /* owned; NULL = none (provisioner/api/listed.c) */
	int64_t over_seen_ms;     /* the same, of the boot that a power action ended */
	int64_t came_ms;      /* monotonic: the agent last asked the gate for work */
	int unanswered;       /* no answer to the last probe in time */
	int slow_probe;       /* slow probes in a row */
	int64_t disturbed_ms; /* monotonic: last probed while it had jobs; 0 = never */
	uint64_t progress_done_bytes;
	uint64_t progress_total_bytes; /* 0 = no progress to show */
	uint64_t progress_most_bytes;  /* of this stage */
	int64_t progress_ms;           /* monotonic, of the last progress; 0 = none */
};

struct bu_node {
#define P(name, type, count) const type *name;
	BU_NODE_PARTS(P)
#undef P
#define T(name, size, keep) const char *name;
	BU_NODE_TEXTS(T)
#undef T
	char name[BU_NAME_MAX];
	enum bu_state state;
	int64_t state_seq;  /* of the event that led to this state */
	int64_t since_ms;   /* Unix time */
	enum bu_trigger on; /* led to this state; BU_TRIGGER_COUNT = none yet */
	int reset;          /* a person allowed to switch the running machine off */
	int repeats;        /* rungs of the ladder used since the last settled state */
	int power_fails;    /* rungs in a row that a failed power action led to */
	int power_failures; /* failed power actions, ever */
	int outdated;     /* times in this boot that the certificates became invalid */
	int disk_touched; /* an install of ours has begun to write */
	int writing;      /* the last install has not ended */
	int kexecs;       /* this boot is by kexec from the ramdisk; in booting only */
	int ram; /* the installed system runs from memory and boots by network */
	int raw; /* a whole-disk image that bringup did not build is installed */
	struct bu_step step;
	char *macs;    /* "52:54:00:77:00:01 ..." of its cards; or NULL */
	char *numbers; /* further serial numbers (bu_machine_numbers()); or NULL */
	int64_t admitted_ms;         /* Unix time */
	int64_t booted_ms;           /* Unix time of the agent's hello in this boot */
	int64_t agent_cert_until_ms; /* Unix time */
	int64_t agent_cert_next_until_ms;
	int agent_revoked;  /* no certificate of the agent counts */
	int boot_installed; /* this boot is of the installed system */
	/* A disk with two roots. */
	char slot[2]; /* root of installed_*: "a", "b"; "" = the disk has one root */
	int proven;   /* installed_* has come up */
	int64_t seeded_ms;      /* Unix time */
	BU_KEPT(checks) checks; /* the last report of checks */
	BU_KEPT(incast) incast; /* the last incast */
	BU_KEPT(nvlink) nvlink; /* the last copies to another node over NVLink */
	struct bu_kept_verdict *verdicts; /* of outside systems, one a source */
	size_t verdicts_count;
	int64_t lent_ms;  /* Unix time */
	int64_t anew_seq; /* row of the last new measurement; a probe begun before
			     counts for nothing; 0 = none */
	int again; /* measured anew, twice the rounds, until the boot certificate */
	int evidence_is_now; /* `evidence` is of the present state */
	/* {cluster: reason} of administrators' drains in clusters that the node has
	 * left or is leaving; NULL = none. A drain ends with the next join there. */
	json_t *drained;
	/* bringup started the present boot, or its agent said hello: no one else's work
	 * runs there. Ends when the node settles out of service. */
	int booted_by_us;
	/* Jobs of the cluster may run, since a join began in this boot. */
	int serves;
	int entering; /* a join began, and its outcome is not known */
	int stages_count;
	struct bu_node_live live;
};

/* 1 = the last step failed, and was a power action: the machine was not cycled. */
int bu_node_power_failed(const struct bu_node *node);

/* The error of the last step, as a reason. */
void bu_step_failure(const struct bu_node *node, struct bu_reason *ret);

/* 1 = the reason in live.wait_reason stops the deadline. */
int bu_node_stands_still(const struct bu_node *node);

/* The bound machine, as it was last reported. */
void bu_node_machine(const struct bu_node *node, struct bu_machine *ret);
/* 1 = draining, out of its cluster, and at the files of its order. */
int bu_node_has_left(const struct bu_node *node);
/* 1 = the files of the order could not be written, and are as before. */
int bu_node_keeps_files(const struct bu_node *node);
/* Can the order under way be called back? BU_ERR_STATE names the point of no return
 * that it has passed. */
bu_must int bu_node_check_recall(const struct bu_node *node, struct bu_err *err);

/* 1 = the order names the disk to wipe by serial number, WWN or size. A kernel name is
 * not enough: each boot may give it to another disk. */
int bu_order_names_disk(const struct bu_order *order);
/* "turn" (waits for its turn), "under-way", "done", "failed" or "withdrawn". */
const char *bu_order_status(const struct bu_order *order);

/* 1 = a condition puts the node out of use, in any state. */
int bu_node_is_away_by_condition(const struct bu_node *node);

/* 1 = not in the profile, without a machine or a place: views hide the node. */
int bu_node_is_gone(const struct bu_node *node);

/* parts.c. Own part of the node, to write; made, if the node has none. */
#define P(name, type, count)                                                           \
	type *bu_node_##name(struct bu_node *node);                                    \
	void bu_node_drop_##name(struct bu_node *node);
BU_NODE_PARTS(P)
BU_LIVE_PARTS(P)
#undef P
/* As bu_text_copy() into `size` bytes. text may be the present one, or lie in it. */
#define T(name, size, keep)                                                            \
	void bu_node_set_##name(struct bu_node *node, const char *text);
BU_NODE_TEXTS(T)
BU_LIVE_TEXTS(T)
#undef T
/* As bu_condition_set(). */
void bu_node_set_condition(struct bu_node *node, enum bu_condition_id id, int on,
			   int64_t time_ms, json_t *detail);
/* For bu_node_create() and bu_node_destroy(). */
void bu_node_parts_init(struct bu_node *node);
void bu_node_parts_fini(struct bu_node *node);
/* Gives a plain copy of a node parts and texts of its own. */
void bu_node_parts_copy(struct bu_node *copy);

struct bu_node *bu_node_create(const char *name);
void bu_node_destroy(struct bu_node *node);
/* nodes: sorted by name. NULL = none has this name. */
struct bu_node *bu_nodes_find(struct bu_node *const *nodes, size_t count,
			      const char *name);
/* The JSON that the command line and the web page read. New reference. */
json_t *bu_node_to_json(const struct bu_node *node);

#endif
