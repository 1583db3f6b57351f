/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node: a name of the profile and what the log knows about it, a function of the log
 * alone, with what only memory knows apart from it in `live`.
 */
#ifndef BU_NODE_NODE_H
#define BU_NODE_NODE_H

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "model/class.h"
#include "model/condition.h"
#include "model/deed.h"
#include "model/event_body.h"
#include "model/fact.h"
#include "model/hello.h"
#include "model/machine.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/step.h"
#include "provisioner/node/hold.h"
#include "provisioner/node/lifecycle.h"

enum { BU_STAGES_MAX = 24, BU_KEPT_CERTS = 2 };

/* The body of an event that counts until the next one, as its table reads it; `is`
 * borrows its texts from `body`. body NULL: there was none. */
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

struct bu_stage {
	enum bu_state state;
	int64_t took_ms;
};

/* A disk as the inventory has it. */
struct bu_seen_disk {
	char wanted[512]; /* the profile's word that chose it */
	char path[40];
	char serial[64]; /* "" = it tells none that is its own */
	char wwn[48];    /* likewise */
	int64_t size_bytes;
	int written;    /* something is on it */
	char holds[96]; /* what, where that is known by name */
};

/* What an applied plan wants this node to become. */
struct bu_order {
	int64_t seq;       /* of the event; 0 = none */
	int64_t first_seq; /* when it was opened first; seq, unless it was retried */
	char rollout[40];
	enum bu_class class;
	char image[BU_NAME_MAX];
	char image_digest[65]; /* of the manifest */
	char facets[65];       /* digest; "" = of a plan without facets */
	char revision[65];     /* that it is carried out by */
	char commit[65];       /* of the revision; "" = not from git */
	/* What was granted to be written over; "" and 0 = the inventory had none. */
	char disk[40];
	char disk_serial[64], disk_wwn[48];
	int64_t disk_size_bytes;
	/* The second of its system, likewise; "" = it has one, or nothing was to be
	 * granted. */
	char mirror_serial[64], mirror_wwn[48];
	/* Owned: those of an array, [{"path","serial","wwn",...}], granted with it;
	 * NULL = the profile had none, or nothing was to be granted. */
	json_t *scratch;
	int batch;     /* 0 = canary */
	int open;      /* neither done, failed nor withdrawn */
	int begun;     /* it had its turn */
	int served;    /* it was ready when its turn came */
	int failed;    /* closed so; reason says why */
	int withdrawn; /* closed so: its rollout was aborted */
	int midway;    /* withdrawn when the node had left its cluster for it */
	int reset;     /* granted: a machine that is on may be switched off for it */
	int replace;   /* another machine takes this name; ends when its turn begins */
	int written;   /* its install was begun: the disk is not what it was */
	int installed; /* what it installs is what the node starts */
	int64_t begun_ms;  /* Unix time */
	int64_t fault_seq; /* event that failed it or held its node; 0 = none */
	struct bu_reason reason;
};

/* What a person had done to its machine last. */
struct bu_power_deed {
	enum bu_deed op; /* NONE = nothing yet */
	char by[BU_HOLD_BY_SIZE];
	enum bu_outcome result;
	char power[12]; /* as it was seen at the end; "" = it was not */
	char detail[200];
	int64_t seq;   /* of the event that asked */
	int64_t at_ms; /* Unix time of the last word */
};

/* What its BMC said last, when somebody asked. */
struct bu_power_fact {
	char power[12];  /* "on", "off" or "unknown"; "" = it did not say */
	char error[200]; /* why; "" = it said it */
	int64_t at_ms;   /* Unix time; 0 = nobody asked */
};

/* Where a node goes once it has left its cluster. */
struct bu_next {
	enum bu_state state;
	int again; /* it is measured anew then */
	int reset; /* its machine may be switched off then, whatever runs there */
	char by[BU_HOLD_BY_SIZE]; /* "rollout r-..." for an order */
	struct bu_reason reason;
};

/* The cluster that it is in, as its JOIN has joined it; cluster "" = none. */
struct bu_joined {
	char cluster[BU_NAME_MAX];
	char driver[16];
	char handle[256];       /* by which the driver opens it */
	char node[BU_NAME_MAX]; /* its name there */
};

/* A certificate was verified for a node as it was then, and need not be again. */
enum { BU_CERT_AS_SIZE = 360 };
struct bu_cert_look {
	json_t *of; /* owned: no other one comes to lie where it was */
	char as[BU_CERT_AS_SIZE];
	int is_ours;    /* signed by us, of this machine and (boot) of this boot */
	int holds;      /* and of each rail that its profile gives it */
	uint64_t rails; /* bits by place in its pool's rails: it covers them */
};

/* What the machine of a node has asked for in its present boot (proof.h has the names).
 */
enum { BU_BOOT_LINKS = 7 };
struct bu_boot_proof {
	char step[112]; /* of which boot; "" = nothing was asked for */
	int attempt;
	char address[46];               /* from where it asked last */
	int64_t at_ms[BU_BOOT_LINKS];   /* Unix time; 0 = it has not */
	char stranger[46];              /* another host that asked in its name, */
	char stranger_mac[BU_MAC_SIZE]; /* and whose card answers for it */
	int64_t stranger_ms;
	char unserved[64]; /* its firmware asks for this architecture, for which there
			    * is no loader: "22 (U-Boot, arm64)"; "" = it does not */
};

/* Its machine has asked for its boot script while its ramdisk should be at work
 * (provisioner/node/anew.c). */
struct bu_anew {
	int64_t seq;      /* of the state that it was in; 0 = it has not */
	int64_t asked_ms; /* awake */
	int64_t heard_ms; /* when its agent had been heard by then */
};

/* Whether what its machine writes to its serial console is kept. */
struct bu_console_fact {
	char state[8];   /* "open", "waits", "none", "taken" or "off"; "" = not known */
	char words[200]; /* why it is not open */
	int asking;
	int64_t next_ms; /* monotonic */
};

/* What its BMC said last beside its power: of enum bu_bmc_report. */
enum { BU_REPORTS = 3 };
struct bu_report_fact {
	json_t *report; /* owned; NULL = none is kept */
	char error[200];
	int failed, asking;
	int64_t at_ms;   /* monotonic, of the answer; 0 = there was none */
	int64_t wall_ms; /* Unix time */
};

/* What only memory knows of a node: it is lost with the process, and seen anew. */
/* Who speaks with its certificate. */
struct bu_holder {
	char boot_id[40], address[46]; /* "" = it was not told */
	int64_t at_ms;                 /* last; monotonic; 0 = nobody */
};
struct bu_holders {
	char fingerprint[65];
	struct bu_holder seen[2]; /* the present one, and the one of before */
	int returns;              /* how often they took turns */
};

struct bu_node_live {
	struct bu_holders holders;
	struct bu_power_fact power_seen;
	struct bu_boot_proof boot;
	int64_t claimed_ms;  /* monotonic: a host that is not its machine claimed to be;
			      */
	char claimed_by[80]; /* the last one; 0 = none did */
	struct bu_anew anew;
	struct bu_console_fact console;
	struct bu_report_fact reports[BU_REPORTS];
	char symptoms[65]; /* evidence to which the BMC's events were asked for */
	int power_running; /* BU_WISH_* */
	/* The reach that its last power action was asked by, and the revision that was
	 * applied when that was looked at last; "" = none was asked for. */
	struct {
		char digest[65], revision[65];
	} reach;
	int bmc_said;           /* whose it is, since bringupd started */
	char bmc_differs[200];  /* what it said otherwise of the machine; "" */
	int64_t bmc_restart_ms; /* when its BMC was last told to restart; 0 = never */
	struct bu_agent_fact agent;
	struct bu_cluster_fact cluster; /* of joined */
	int64_t lost_ms; /* awake: when it last was sent back to its cluster; 0 = never
			  */
	int in_profile;
	char pool[BU_NAME_MAX];
	char firmware[8];
	struct bu_seen_disk disk; /* that its profile named when it was inspected */
	/* Since when (monotonic) that boot of its ramdisk lacks disks. */
	struct {
		int64_t since_ms;
		char boot_id[40];
	} disks;
	int checks_errors; /* reports that were asked for and did not come */
	int checks_told;   /* answers to items of checks since this start; */
	int slices_lost;   /* to slices of its soak that count for nothing */
	struct bu_cert_look full_look, boot_look; /* of its certificates */
	uint64_t rails_good; /* likewise: good at the last look at the rail */
	/* Tests across its rails: since when it waits for them (monotonic), whether
	 * that is over, and in which state it was; late: its certificate waits no
	 * longer, and they go on; after_seq: what was measured by then counts no
	 * more between leaves. */
	struct {
		int64_t since_ms, state_seq, after_seq;
		int over, late;
	} across;
	/* What its agent told last and the log does not have yet, and how many rows of
	 * it were written since then (monotonic). */
	struct {
		json_t *runs; /* owned; NULL = it tells nothing */
		int due;
		int64_t since_ms;
		int rows;
	} finds;
	struct { /* what the condition `drifted` says, and of what */
		char of[200], words[240];
	} drift;
	int appending;      /* an event of it is on its way to the log */
	int effect_running; /* of the open step */
	/* The boot medium (provisioner/node/medium.c). */
	int medium, medium_asked, medium_tries;
	int64_t medium_ms; /* monotonic: it is not asked for before */
	int join_started;  /* the agent has started the cluster's client */
	int64_t clock_ms;  /* monotonic: the deadline of its state counts from here */
	int64_t retry_ms;  /* monotonic: a failed step is tried again; 0 = no */
	int64_t log_clock_ms; /* the same as the log has it: waits may set it anew */
	/* What it waits for, or why it is not measured; its table says which of these
	 * stop its deadline. */
	struct bu_reason says;
	int says_rail; /* 1 + place of the rail in its pool's that this is of; 0 = of
			  the node */
	int64_t waiting_ms; /* monotonic: since when that was seen; 0 = it is not */
	int wait_logged;    /* the log knows that it waits */
	struct bu_reason refusal; /* of a machine with its token */
	char cluster_words[400];  /* what its cluster says while it leaves */
	int64_t late_ms; /* monotonic: when it last was found late; 0 = it is not */
	int let_go;      /* by a person, once: the brake does not freeze its ladder */
	int64_t last_seen_ms; /* Unix time; 0 = never */
	int64_t over_seen_ms; /* the same, of the boot that a power action ended */
	int64_t came_ms; /* monotonic: when its agent last came for work of the gate */
	int unanswered;  /* it let its last probe's time pass without a word */
	int slow_probe;  /* so many of its last ones took longer than others do */
	int64_t disturbed_ms; /* monotonic: measured while it had jobs; 0 = never */
	char progress_stage[32];
	uint64_t progress_done_bytes;
	uint64_t progress_total_bytes; /* 0 = no progress to show */
	uint64_t progress_most_bytes;  /* of this stage */
	int64_t progress_ms; /* when it last got further, monotonic; 0 = never */
	/* Of a system that is loaded into memory (provisioner/node/ram.c). */
	int load_attempt;
	int64_t load_again_ms;     /* monotonic: not before */
	int64_t load_failed_of_ms; /* the admission in which it failed for good */
};

/* What the log knows of a node, and what is seen besides. */
struct bu_node {
	char name[BU_NAME_MAX];
	/* What its system is called: after a rename the old name, until its files are
	 * written. "" = as the node. */
	char called[BU_NAME_MAX];
	enum bu_state state;
	int64_t state_seq;       /* of the event that led here */
	int64_t since_ms;        /* Unix time */
	struct bu_reason reason; /* why it is here; NONE: it went as planned */
	enum bu_trigger on;      /* led here; BU_TRIGGER_COUNT = none yet */
	struct bu_next next;     /* of one that is draining */
	int reset;   /* a person allowed that its machine is switched off to boot it */
	int repeats; /* rungs of the ladder used since it last was settled */
	int power_fails; /* rungs in a row that a failed power action led to */
	int outdated;    /* times that its certificates became invalid in this boot */
	struct bu_order order;
	struct bu_step step;
	char machine[65]; /* id of the bound machine; "" = none */
	char serial[64];  /* of that machine, as its firmware says it */
	char uuid[40];    /* likewise */
	char *macs;       /* "52:54:00:77:00:01 ...", its cards'; or NULL */
	char *numbers; /* its further serial numbers (bu_machine_numbers()); or NULL */
	/* The same when it was bound, or after the last install; what differs now is
	 * the condition `hardware-changed`. */
	struct bu_known_machine {
		char id[65]; /* "" = nothing is known */
		char serial[64];
		char uuid[40];
		char *macs;
		int again; /* as it tells of itself next, it is expected from then on */
	} known;
	char inventory[65]; /* digest of its inventory */
	int disk_touched;   /* an install of ours began to write */
	int writing;        /* the last one has not come to its end */
	int kexecs; /* its ramdisk starts its system by itself; in booting only */
	int ram;    /* that runs from memory: each boot is from the network */
	int raw;    /* that is a whole disk that bringup did not build */
	char admitted_step[112];   /* step whose token was traded */
	char admitted_request[65]; /* digest of the request that it was traded for */
	int64_t admitted_ms;       /* Unix time */
	int64_t booted_ms; /* when its agent said hello in this boot; Unix time */
	/* Fingerprint of its agent's certificate; "" = of a log that kept none: any of
	 * its machine counts. */
	char agent_cert[65];
	int64_t agent_cert_until_ms; /* Unix time; 0 = not known */
	char agent_cert_next[65];    /* renewed, and not used yet; "" = none */
	int64_t agent_cert_next_until_ms;
	char agent_cert_renewed[65]; /* the one that the present one came after; "" */
	int agent_revoked;           /* no certificate of its agent counts */
	/* The agent that it was to change to, and did not. */
	struct bu_agent_fault {
		char version[40], digest[65];
		enum bu_agent_change result;
		char detail[200];
		int64_t at_ms; /* Unix time; 0 = none failed since it changed */
	} agent_failed;
	char boot_id[40];
	int boot_installed; /* this boot is of the installed system */
	/* The boot before, where a power action ended it: boot_id is "" until a later
	 * one says hello (provisioner/node/over.h). */
	struct bu_over {
		int64_t seq; /* of the row that ended it; 0 = none did */
		int64_t at_ms;
		char boot_id[40];
		int installed, pending; /* that was ordered, and is not known as done */
		char how[BU_HOLD_BY_SIZE + 32];
	} over;
	char installed_image[BU_NAME_MAX];
	char installed_digest[65];
	char installed_step[112];
	/* Of a disk with two roots. */
	char slot[2]; /* which one is installed_*: "a", "b"; "" = it has one */
	int proven;   /* installed_* has come up */
	struct bu_other_root {
		char slot[2];
		char image[BU_NAME_MAX], digest[65];
		char step[112]; /* "" = there is nothing that its loader goes back to */
		char facets[65];
		int proven;
	} other;
	/* The certificates of systems on its disk that may come back: of the one that
	 * ran when another was ordered, until that is written over or the agent of the
	 * new one has confirmed its root; a second one where that was not heard. */
	struct bu_kept_cert {
		char fingerprint[65]; /* "" = none */
		int64_t until_ms;
		char next[65]; /* as agent_cert_next */
		int64_t next_until_ms;
		char step[112]; /* what installed that system */
	} kept_certs[BU_KEPT_CERTS];
	/* Of a system in memory, by which it is loaded again: held. "" = of none. */
	char installed_revision[65];
	char seeded_step[112]; /* the install whose first boot asked for its agent */
	int64_t seeded_ms;     /* Unix time */
	char facets[65];       /* digest of what it has; "" = unknown */
	/* What its agent tells of that, and of what runs (provisioner/node/found.h). */
	struct bu_runs_found {
		char row[65];    /* digest of the row's body; "" = nothing since then */
		char facets[65]; /* that its record names; "" = it has none */
		char kernel[80]; /* the release that runs */
		char *kargs;     /* as they were written; NULL = not ours */
		char *loader, *booted; /* NULL = not known */
		json_t *differs;       /* [{"path","how"}]; NULL = none do */
		int64_t more;          /* that do besides */
	} found;
	char commit[65];        /* of the order that it carried out last */
	BU_KEPT(checks) checks; /* the last report of checks */
	BU_KEPT(incast) incast; /* its last incast */
	BU_KEPT(nvlink) nvlink; /* its last copies to another node over NVLink */
	struct bu_kept_verdict *verdicts; /* of outside systems, one a source */
	size_t verdicts_count;
	char lent_to[BU_NAME_MAX]; /* as a partner, last; "" = never */
	int64_t lent_ms;           /* Unix time */
	char evidence[65];   /* digest of that of its last failure or quarantine */
	int evidence_is_now; /* of the state that it is in */
	struct {             /* what a kernel left; "" = none did */
		char digest[65];
		char kind[BU_CRASH_KIND_SIZE];
		char boot_id[40];       /* in which it was told */
		int64_t at_ms, seen_ms; /* Unix time, by its clock and by ours */
	} crash;
	BU_KEPT(certificate) full_cert, boot_cert;
	int64_t anew_seq; /* of the row with which that began last; what was asked of it
			     before counts for nothing; 0 = it never did */
	int again; /* it is measured anew, twice the rounds, until its boot certificate
		      is issued */
	char step_error[400]; /* of the last step that failed */
	struct bu_condition conditions[BU_CONDITION_COUNT];
	struct bu_joined joined;
	/* {cluster: reason} of administrators' drains in clusters that it has left, or
	 * is leaving; NULL = none. A drain there lasts until it joins there again. */
	json_t *drained;
	struct bu_power_deed power;
	struct bu_hold hold;
	/* The boot that runs is one that we have made, or that its agent has told of;
	 * nothing of others runs on it. Ends when it settles out of service. */
	int booted_by_us;
	/* It may run work of its cluster: since it began to join, in this boot. */
	int serves;
	int entering; /* a join began, and it is not known how far it came */
	struct bu_stage stages[BU_STAGES_MAX]; /* since the last order */
	int stages_count;
	struct bu_node_live live;
};

/* What failed is the power action itself: that was no power cycle. */
int bu_node_power_failed(const struct bu_node *node);

/* What its last step failed with. */
void bu_step_failure(const struct bu_node *node, struct bu_reason *ret);

/* Its deadline stands still for what it says. */
int bu_node_stands_still(const struct bu_node *node);

/* Its machine, as that was told last. */
void bu_node_machine(const struct bu_node *node, struct bu_machine *ret);
/* Draining, and out of its cluster: the files of its order are written. */
int bu_node_has_left(const struct bu_node *node);
/* The files of its order could not be written: it has those that it had. */
int bu_node_keeps_files(const struct bu_node *node);
/* Can its order under way be called back? BU_ERR_STATE says which point of no return
 * it has passed. */
bu_must int bu_node_check_recall(const struct bu_node *node, struct bu_err *err);

/* Whether it says which disk may be wiped, by a number or its size: a kernel name
 * alone is of whichever disk a boot gives it to. */
int bu_order_names_disk(const struct bu_order *order);
/* "turn" (waits for it), "under-way", "done", "failed" or "withdrawn". */
const char *bu_order_status(const struct bu_order *order);

/* A condition of it says that it cannot be counted on, whatever its state is. */
int bu_node_is_away_by_condition(const struct bu_node *node);

/* It has left the profile, and nothing is left of it: views do not show it. */
int bu_node_is_gone(const struct bu_node *node);

struct bu_node *bu_node_create(const char *name);
void bu_node_destroy(struct bu_node *node);
/* Of nodes sorted by name; NULL = it is none of them. */
struct bu_node *bu_nodes_find(struct bu_node *const *nodes, size_t count,
			      const char *name);
/* The shape that the command line and the page read. New reference. */
json_t *bu_node_to_json(const struct bu_node *node);

#endif
