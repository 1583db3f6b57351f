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

struct bu_stage {
	enum bu_state state;
	int64_t took_ms;
};

/* A disk as the inventory has it. */
struct bu_seen_disk {
	char wanted[512]; /* the profile's selector that chose it */
	char path[40];
	char serial[64]; /* "" = none, or not unique in the machine */
	char wwn[48];    /* likewise */
	int64_t size_bytes;
	int written;    /* has a signature */
	char holds[96]; /* name of its content; "" = not known */
};

/* An order of an applied plan: the change of this node. */
struct bu_order {
	int64_t seq;       /* of the event; 0 = none */
	int64_t first_seq; /* of its first event; seq, unless it was retried */
	char rollout[40];
	enum bu_class class;
	char image[BU_NAME_MAX];
	char image_digest[65]; /* of the manifest */
	char facets[65];       /* digest; "" = of a plan without facets */
	char revision[65];     /* by which the order is carried out */
	char commit[65];       /* of the revision; "" = not from git */
	/* The disk that may be overwritten; "" and 0 = the inventory had none. */
	char disk[40];
	char disk_serial[64], disk_wwn[48];
	int64_t disk_size_bytes;
	/* The second disk of a mirrored system, likewise; "" = no mirror, or no grant
	 * was needed. */
	char mirror_serial[64], mirror_wwn[48];
	/* Owned: disks of the scratch array, [{"path","serial","wwn",...}], likewise;
	 * NULL = no array, or no grant was needed. */
	json_t *scratch;
	int batch;         /* 0 = canary */
	int open;          /* neither done, failed nor withdrawn */
	int begun;         /* had its turn */
	int served;        /* the node was ready when the turn came */
	int failed;        /* closed so; reason says why */
	int withdrawn;     /* likewise */
	int midway;        /* withdrawn after the node had left its cluster */
	int reset;         /* granted: a running machine may be switched off */
	int replace;       /* another machine takes this name; ends with the turn */
	int written;       /* the install has begun to write the disk */
	int installed;     /* the node starts the ordered system */
	int64_t begun_ms;  /* Unix time */
	int64_t fault_seq; /* event that failed the order or held its node; 0 = none */
	struct bu_reason reason;
};

/* The last power action that a person asked for. */
struct bu_power_deed {
	enum bu_deed op; /* NONE = nothing yet */
	char by[BU_HOLD_BY_SIZE];
	enum bu_outcome result;
	char power[12]; /* power state at the end; "" = not seen */
	char detail[200];
	int64_t seq;   /* of the event that asked */
	int64_t at_ms; /* Unix time of the last event */
};

/* The BMC's last answer to a person's power command or query. */
struct bu_power_fact {
	char power[12];  /* "on", "off" or "unknown"; "" = error */
	char error[200]; /* "" = answered */
	int64_t at_ms;   /* Unix time; 0 = never asked */
};

/* The target of a node that drains. */
struct bu_next {
	enum bu_state state;
	int again;                /* the node is measured anew there */
	int reset;                /* a running machine may be switched off there */
	char by[BU_HOLD_BY_SIZE]; /* "rollout r-..." for an order */
	struct bu_reason reason;
};

/* The cluster that the last JOIN has joined; cluster "" = none. */
struct bu_joined {
	char cluster[BU_NAME_MAX];
	char driver[16];
	char handle[256];       /* by which the driver opens the cluster */
	char node[BU_NAME_MAX]; /* the node's name in the cluster */
};

/* The cached verification of a certificate. */
struct bu_cert_look {
	/* Sum of its digest, names, machine, inventory, rails, boot; good while all of
	 * these are the same. */
	uint64_t as[2];
	int is_ours;    /* signed by us, of this machine and (boot) of this boot */
	int holds;      /* is_ours, and covers each rail of the pool */
	uint64_t rails; /* covered, as bits by place in the pool's rails */
};

/* Requests of a node's machine in its present boot (proof.h names them). */
enum { BU_BOOT_LINKS = 7 };
struct bu_boot_proof {
	char step[112]; /* of this boot; "" = nothing was asked for */
	int attempt;
	char address[46];               /* of the last request */
	int64_t at_ms[BU_BOOT_LINKS];   /* Unix time; 0 = not asked for */
	char stranger[46];              /* another host that asked as this node */
	char stranger_mac[BU_MAC_SIZE]; /* the card that answers for that host */
	int64_t stranger_ms;            /* Unix time */
	char unserved[64]; /* architecture that the firmware asks for and that has no
			    * loader: "22 (U-Boot, arm64)"; "" = none */
};

/* A machine asked for its boot script while its ramdisk should be at work
 * (provisioner/node/anew.c). */
struct bu_anew {
	int64_t seq;      /* state_seq at that time; 0 = no such request */
	int64_t asked_ms; /* awake */
	int64_t heard_ms; /* when the agent had last been heard, awake */
};

/* The capture of the machine's serial console. */
struct bu_console_fact {
	char state[8];   /* "open", "waits", "none", "taken" or "off"; "" = not known */
	char words[200]; /* why the console is not open */
	int asking;
	int64_t next_ms; /* monotonic: not asked before */
};

/* The BMC's last report of a kind of enum bu_bmc_report. */
enum { BU_REPORTS = 3 };
struct bu_report_fact {
	json_t *report; /* owned; NULL = none is kept */
	char error[200];
	int failed, asking;
	int64_t at_ms;   /* monotonic, of the answer; 0 = no answer */
	int64_t wall_ms; /* Unix time of the answer */
};

/* A host that shows the node's certificate. */
struct bu_holder {
	char boot_id[40], address[46]; /* "" = not known */
	int64_t at_ms;                 /* monotonic, of the last request; 0 = none */
};
struct bu_holders {
	char fingerprint[65];
	struct bu_holder seen[2]; /* the present host and the one before */
	int returns;              /* times in a row that the two alternated */
};

/* Facts in memory: lost with the process, and seen anew by the next. "awake" is the
 * clock of bu_observe_awake_ms(). */
struct bu_node_live {
	struct bu_holders holders;
	struct bu_power_fact power_seen;
	struct bu_boot_proof boot;
	int64_t claimed_ms;  /* monotonic: a wrong host claimed to be the machine; 0 =
				none did */
	char claimed_by[46]; /* the last such host, and its card; "" = off the wire */
	char claimed_mac[BU_MAC_SIZE];
	struct bu_anew anew;
	struct bu_console_fact console;
	struct bu_report_fact reports[BU_REPORTS];
	char symptoms[65]; /* evidence for which the BMC's events were asked */
	int power_running; /* BU_WISH_* */
	/* The reach by which the last power action was asked for ("" = none), and the
	 * revision for which reach.digest was last compared. */
	struct {
		char digest[65], revision[65];
	} reach;
	int bmc_said;           /* the BMC named its machine since bringupd started */
	char bmc_differs[200];  /* difference from the expected machine; "" = none */
	int64_t bmc_restart_ms; /* monotonic: the BMC was told to restart; 0 = never */
	struct bu_agent_fact agent;
	struct bu_cluster_fact cluster; /* of joined */
	int64_t lost_ms;   /* awake: last sent back to its cluster; 0 = never */
	int64_t gated_seq; /* of the intent or power command before which its cluster
			      was told to give it no work (gating.c); 0 = none */
	int in_profile;
	char pool[BU_NAME_MAX];
	char firmware[8];
	struct bu_seen_disk disk; /* the profile's at the last inspection */
	/* The boot of the ramdisk that lacks disks, since when (monotonic). */
	struct {
		int64_t since_ms;
		char boot_id[40];
	} disks;
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
	} across;
	/* The agent's last report of its system, due to be logged; `rows` were written
	 * since `since_ms` (monotonic). */
	struct {
		json_t *runs; /* owned; NULL = an agent that tells nothing */
		int due;
		int64_t since_ms;
		int rows;
	} finds;
	struct { /* detail of the condition `drifted`, and its inputs */
		char of[200];
		json_t *said; /* owned; NULL = no drift */
	} drift;
	int appending;      /* batches about the node on their way to the log */
	int effect_running; /* of the open step */
	/* The boot medium (provisioner/node/eject.c). */
	int medium, medium_asked, medium_tries;
	int64_t medium_ms;    /* monotonic: no eject is asked for before */
	int join_started;     /* the agent has started the cluster's client */
	int64_t clock_ms;     /* monotonic: the state's deadline counts from here */
	int64_t retry_ms;     /* monotonic: a failed step is tried again; 0 = no */
	int64_t log_clock_ms; /* clock_ms by the log; the end of a wait sets clock_ms */
	/* The reason for waiting or for not being measured. Its row in the table of
	 * reasons says whether the deadline stops. */
	struct bu_reason says;
	int says_rail;      /* 1 + place of its rail in the pool; 0 = of the node */
	int64_t waiting_ms; /* monotonic: the deadline stopped; 0 = it counts */
	int wait_logged;    /* the log has the wait */
	struct bu_reason refusal; /* of a machine with the node's token */
	char cluster_words[400];  /* the cluster's text while the node leaves */
	int64_t late_ms;          /* monotonic: last found late; 0 = not late */
	int let_go; /* released while late: the brake does not freeze the ladder */
	int64_t last_seen_ms; /* Unix time; 0 = never */
	int64_t changed;      /* the fleet's version with the last change of it */
	uint32_t turn_words;  /* hash of why it waits for its turn, as last shown */
	int64_t over_seen_ms; /* the same, of the boot that a power action ended */
	int64_t came_ms;      /* monotonic: the agent last asked the gate for work */
	int unanswered;       /* no answer to the last probe in time */
	int slow_probe;       /* slow probes in a row */
	int64_t disturbed_ms; /* monotonic: last probed while it had jobs; 0 = never */
	char progress_stage[32];
	uint64_t progress_done_bytes;
	uint64_t progress_total_bytes; /* 0 = no progress to show */
	uint64_t progress_most_bytes;  /* of this stage */
	int64_t progress_ms;           /* monotonic, of the last progress; 0 = none */
	/* The load of a system into memory (provisioner/node/ram.c). */
	int load_attempt;
	int64_t load_again_ms;     /* monotonic: not before */
	int64_t load_failed_of_ms; /* admitted_ms of the load that failed for good */
};

struct bu_node {
	char name[BU_NAME_MAX];
	/* The installed system's own name: after a rename the old one, until the files
	 * are written. "" = as the node. */
	char called[BU_NAME_MAX];
	enum bu_state state;
	int64_t state_seq;       /* of the event that led to this state */
	int64_t since_ms;        /* Unix time */
	struct bu_reason reason; /* of this state; NONE = as planned */
	enum bu_trigger on;      /* led to this state; BU_TRIGGER_COUNT = none yet */
	struct bu_next next;     /* while draining */
	int reset;          /* a person allowed to switch the running machine off */
	int repeats;        /* rungs of the ladder used since the last settled state */
	int power_fails;    /* rungs in a row that a failed power action led to */
	int power_failures; /* failed power actions, ever */
	int outdated; /* times in this boot that the certificates became invalid */
	struct bu_order order;
	struct bu_step step;
	char machine[65]; /* id of the bound machine; "" = none */
	char serial[64];  /* of that machine, by its firmware; "" = unknown */
	char uuid[40];    /* likewise */
	char *macs;       /* "52:54:00:77:00:01 ..." of its cards; or NULL */
	char *numbers;    /* further serial numbers (bu_machine_numbers()); or NULL */
	/* The same at the binding or after the last install. A difference is the
	 * condition `hardware-changed`. */
	struct bu_known_machine {
		char id[65]; /* "" = nothing is known */
		char serial[64];
		char uuid[40];
		char *macs;
		int again; /* the machine's next report replaces these */
	} known;
	char inventory[65]; /* digest */
	int disk_touched;   /* an install of ours has begun to write */
	int writing;        /* the last install has not ended */
	int kexecs; /* this boot is by kexec from the ramdisk; in booting only */
	int ram;    /* the installed system runs from memory and boots by network */
	int raw;    /* a whole-disk image that bringup did not build is installed */
	char admitted_step[112];     /* step whose token was traded */
	char admitted_request[65];   /* digest of the request that traded the token */
	int64_t admitted_ms;         /* Unix time */
	int64_t booted_ms;           /* Unix time of the agent's hello in this boot */
	char agent_cert[65];         /* its fingerprint; "" = none counts */
	int64_t agent_cert_until_ms; /* Unix time */
	char agent_cert_next[65];    /* renewed, and not used yet; "" = none */
	int64_t agent_cert_next_until_ms;
	char agent_cert_renewed[65]; /* the predecessor of agent_cert; "" = none */
	int agent_revoked;           /* no certificate of the agent counts */
	/* The last change of the agent, where it failed. */
	struct bu_agent_fault {
		char version[40], digest[65];
		enum bu_agent_change result;
		char detail[200];
		int64_t at_ms; /* Unix time; 0 = the last change did not fail */
	} agent_failed;
	char boot_id[40];
	int boot_installed; /* this boot is of the installed system */
	/* The boot that a power action ended. node.boot_id is "" from then until a
	 * later boot says hello (provisioner/node/over.h). */
	struct bu_over {
		int64_t seq;   /* of the row that ended the boot; 0 = none */
		int64_t at_ms; /* Unix time */
		char boot_id[40];
		int installed, pending; /* the action's outcome is not known */
		enum bu_action
			action;      /* that ended it, NONE = deed; both 0 = seen off */
		enum bu_state state; /* that it was in */
		enum bu_deed op;
		char by[BU_HOLD_BY_SIZE];
	} over;
	char installed_image[BU_NAME_MAX];
	char installed_digest[65];
	char installed_step[112];
	/* A disk with two roots. */
	char slot[2]; /* root of installed_*: "a", "b"; "" = the disk has one root */
	int proven;   /* installed_* has come up */
	struct bu_other_root {
		char slot[2];
		char image[BU_NAME_MAX], digest[65];
		char step[112]; /* "" = nothing to which the loader can go back */
		char facets[65];
		int proven;
	} other;
	/* Certificates of systems on the disk that may come back. The first is of the
	 * system that ran when another was ordered. A certificate ends when its system
	 * is overwritten or the new system's agent confirms its root; until that is
	 * heard there may be two. */
	struct bu_kept_cert {
		char fingerprint[65]; /* "" = none */
		int64_t until_ms;     /* Unix time */
		char next[65];        /* as agent_cert_next */
		int64_t next_until_ms;
		char step[112]; /* of the install of that system */
	} kept_certs[BU_KEPT_CERTS];
	/* The revision by which a system in memory is loaded; held in memory. "" = the
	 * system is on disk. */
	char installed_revision[65];
	char seeded_step[112]; /* the install whose first boot asked for its agent */
	int64_t seeded_ms;     /* Unix time */
	char facets[65];       /* digest of the node's facets; "" = unknown */
	/* The agent's report of files and running system (provisioner/node/found.h). */
	struct bu_runs_found {
		char row[65];    /* digest of the row's body; "" = no report since */
		char facets[65]; /* of the record on disk; "" = no record */
		char kernel[80]; /* the running release */
		char *kargs;     /* as they were written; NULL = not by bringup */
		char *loader, *booted; /* NULL = not known */
		json_t *differs;       /* [{"path","how"}]; NULL = no file differs */
		int64_t more;          /* differing files beyond that list */
	} found;
	char commit[65];        /* of the order that was carried out last */
	BU_KEPT(checks) checks; /* the last report of checks */
	BU_KEPT(incast) incast; /* the last incast */
	BU_KEPT(nvlink) nvlink; /* the last copies to another node over NVLink */
	struct bu_kept_verdict *verdicts; /* of outside systems, one a source */
	size_t verdicts_count;
	char lent_to[BU_NAME_MAX]; /* as a partner, last; "" = never */
	int64_t lent_ms;           /* Unix time */
	char evidence[65];         /* digest, of the last failure, hold or quarantine */
	int evidence_is_now;       /* that is of the present state */
	struct {                   /* the last kernel crash; "" = none */
		char digest[65];
		char kind[BU_CRASH_KIND_SIZE];
		char boot_id[40];       /* of the hello that told the crash */
		int64_t at_ms, seen_ms; /* Unix time, by the node and by the log */
	} crash;
	char full_cert[65], boot_cert[65]; /* digests of their texts; "" = none */
	int64_t anew_seq; /* row of the last new measurement; a probe begun before
			     counts for nothing; 0 = none */
	int again; /* measured anew, twice the rounds, until the boot certificate */
	char step_error[400]; /* of the last step that failed */
	struct bu_condition conditions[BU_CONDITION_COUNT];
	struct bu_joined joined;
	/* {cluster: reason} of administrators' drains in clusters that the node has
	 * left or is leaving; NULL = none. A drain ends with the next join there. */
	json_t *drained;
	struct bu_power_deed power;
	struct bu_hold hold;
	/* bringup started the present boot, or its agent said hello: no one else's work
	 * runs there. Ends when the node settles out of service. */
	int booted_by_us;
	/* Jobs of the cluster may run, since a join began in this boot. */
	int serves;
	int entering; /* a join began, and its outcome is not known */
	struct bu_stage stages[BU_STAGES_MAX]; /* since the last order */
	int stages_count;
	struct bu_node_live live;
};

/* 1 = the last step failed, and was a power action: the machine was not cycled. */
int bu_node_power_failed(const struct bu_node *node);

/* The error of the last step, as a reason. */
void bu_step_failure(const struct bu_node *node, struct bu_reason *ret);

/* 1 = the reason in live.says stops the deadline. */
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

struct bu_node *bu_node_create(const char *name);
void bu_node_destroy(struct bu_node *node);
/* nodes: sorted by name. NULL = none has this name. */
struct bu_node *bu_nodes_find(struct bu_node *const *nodes, size_t count,
			      const char *name);
/* The JSON that the command line and the web page read. New reference. */
json_t *bu_node_to_json(const struct bu_node *node);

#endif
