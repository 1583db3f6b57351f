/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts and texts of a node (provisioner/node/node.h): types, and the tables of what a
 * node has only while it is needed.
 */
#ifndef BU_NODE_PARTS_H
#define BU_NODE_PARTS_H

#include <jansson.h>
#include <stdint.h>

#include "model/class.h"
#include "model/condition.h"
#include "model/fact.h"
#include "model/hello.h"
#include "model/machine.h"
#include "model/power_request.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/step.h"
#include "provisioner/node/hold.h"

enum { BU_STAGES_MAX = 24, BU_KEPT_CERTS = 2 };

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
struct bu_node_power_request {
	enum bu_power_request_op op; /* NONE = nothing yet */
	char by[BU_HOLD_BY_SIZE];
	enum bu_outcome result;
	char power[12]; /* power state at the end; "" = not seen */
	char detail[200];
	int64_t seq;   /* of the event that asked */
	int64_t at_ms; /* Unix time of the last event */
	/* The last wake, or its cluster's word that it failed; other requests leave it,
	 * until the machine is suspended anew. */
	struct {
		int64_t seq;   /* of the event that asked; 0 = none */
		int64_t at_ms; /* Unix time of its last event */
		int failed;
	} woken;
};

/* The BMC's last answer to a person's power command or query. */
struct bu_power_fact {
	char power[12];  /* "on", "off" or "unknown"; "" = error */
	char error[200]; /* "" = answered */
	int64_t at_ms;   /* Unix time; 0 = never asked */
};

/* The load of a system into memory (ram.c). */
struct bu_load_fact {
	int attempt;
	int64_t again_ms;     /* monotonic: not before */
	int64_t failed_of_ms; /* admitted_ms of the load that failed for good */
};

/* A node's text in lists (provisioner/api/listed.c). */
struct bu_listed {
	int64_t changed; /* live.changed of its node, and the fleet's `renewed`, then */
	int64_t renewed;
	size_t seen; /* where in the text last_seen_ms begins */
	char json[];
};

/* What the open start (starting.c) has seen of a machine. Times are monotonic. */
struct bu_start_fact {
	int64_t of;        /* row of the start; 0 = nothing was seen */
	int64_t asked_ms;  /* its BMC was asked last; 0 = never */
	int64_t answer_ms; /* Unix time: the open question's answer counts from here
			      on; 0 = no question is open */
	int64_t seen_ms;   /* of the last answer */
	int seen;          /* by that answer: SEEN_OFF, SEEN_ON or neither */
	int64_t mute_ms;   /* first question without a good answer; 0 = answered */
	int64_t on_ms;     /* its power was last asked for; 0 = never */
	int tries;         /* times that its power was asked for */
	int waits;         /* its ladder stood still at the last look */
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
 * (provisioner/node/boot_restart.c). */
struct bu_boot_restart {
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

/* The last change of the agent, where it failed. */
struct bu_agent_fault {
	char version[40], digest[65];
	enum bu_agent_change result;
	char detail[200];
	int64_t at_ms; /* Unix time; 0 = the last change did not fail */
};

/* The boot that a power action ended. node.boot_id is "" from then until a
 * later boot says hello (provisioner/node/over.h). */
struct bu_over {
	int64_t seq;   /* of the row that ended the boot; 0 = none */
	int64_t at_ms; /* Unix time */
	char boot_id[40];
	int installed, pending; /* the action's outcome is not known */
	enum bu_action action;  /* that ended it, NONE = deed; both 0 = seen off */
	enum bu_state state;    /* that it was in */
	enum bu_power_request_op op;
	char by[BU_HOLD_BY_SIZE];
};

struct bu_other_root {
	char slot[2];
	char image[BU_NAME_MAX], digest[65];
	char step[112]; /* "" = nothing to which the loader can go back */
	char facets[65];
	int proven;
};

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
};

/* The last kernel crash. */
struct bu_kernel_crash {
	char digest[65];
	char kind[BU_CRASH_KIND_SIZE];
	char boot_id[40];       /* of the hello that told the crash */
	int64_t at_ms, seen_ms; /* Unix time, by the node and by the log */
};

/* Detail of the condition `drifted`, and its inputs. */
struct bu_drift {
	char of[200];
	json_t *said; /* owned; NULL = no drift */
};

/* The last wrong host that claimed to be the machine. */
struct bu_claim {
	int64_t at_ms; /* monotonic; 0 = none did */
	char address[46];
	char mac[BU_MAC_SIZE]; /* of its card; "" = off the wire */
};

/* The machine at the binding or after the last install. A difference is the condition
 * `hardware-changed`. */
struct bu_known_machine {
	char id[65]; /* "" = nothing is known */
	char serial[64];
	char uuid[40];
	char *macs; /* owned */
	int again;  /* the machine's next report replaces these */
};

/* The agent's report of files and running system (provisioner/node/found.h). */
struct bu_runs_found {
	char row[65];          /* digest of the row's body; "" = no report since */
	char facets[65];       /* of the record on disk; "" = no record */
	char kernel[80];       /* the running release */
	char *kargs;           /* as they were written; NULL = not by bringup */
	char *loader, *booted; /* NULL = not known */
	json_t *differs;       /* [{"path","how"}]; NULL = no file differs */
	int64_t more;          /* differing files beyond that list */
};

/* The stamp of another log by which the node was adopted. Also of `live`: the latest
 * good one that an agent has shown, until it is adopted. */
struct bu_adopted {
	int64_t epoch, seq; /* 0 = none */
	int64_t at_ms;      /* Unix time; of `live` monotonic, when it was last shown */
	/* The node has not joined or been installed in the present epoch: its machine
	 * is not power-cycled but by an order or a person. */
	int unproven;
	int64_t forgotten_seq; /* row that last took its machine away; 0 = none */
};

/* The reach by which the last power action was asked for ("" = none), and the revision
 * for which the digest was last compared. */
struct bu_reach_seen {
	char digest[65], revision[65];
};

/* The boot of the ramdisk that lacks disks, since when (monotonic). */
struct bu_disks_lack {
	int64_t since_ms;
	char boot_id[40];
};

/*
 * Parts that most nodes lack. A node without a part has the zeroed one that all share,
 * so each is read as a member. bu_node_NAME() gives the node its own, to write;
 * bu_node_drop_NAME() makes it zero again. A pointer to a part is borrowed until either
 * is called.
 *
 *	P(name, type, count)
 */
#define BU_NODE_PARTS(P)                                                               \
	P(reason, struct bu_reason, 1) /* of the state; NONE = as planned */           \
	P(next, struct bu_next, 1)     /* while draining */                            \
	P(order, struct bu_order, 1)                                                   \
	P(known, struct bu_known_machine, 1)                                           \
	P(agent_failed, struct bu_agent_fault, 1)                                      \
	P(over, struct bu_over, 1)                                                     \
	P(other, struct bu_other_root, 1)                                              \
	P(kept_certs, struct bu_kept_cert, BU_KEPT_CERTS)                              \
	P(found, struct bu_runs_found, 1)                                              \
	P(crash, struct bu_kernel_crash, 1)                                            \
	P(conditions, struct bu_condition, BU_CONDITION_COUNT)                         \
	P(joined, struct bu_joined, 1)                                                 \
	P(power, struct bu_node_power_request, 1)                                      \
	P(hold, struct bu_hold, 1)                                                     \
	P(adopted, struct bu_adopted, 1)                                               \
	P(stages, struct bu_stage, BU_STAGES_MAX) /* since the last order */
/* Of `live`. disk: the profile's at the last inspection. says: the reason for waiting
 * or for not being measured; its row in the table of reasons says whether the deadline
 * stops. refusal: of a machine with the node's token. */
#define BU_LIVE_PARTS(P)                                                               \
	P(holders, struct bu_holders, 1)                                               \
	P(power_seen, struct bu_power_fact, 1)                                         \
	P(start, struct bu_start_fact, 1)                                              \
	P(load, struct bu_load_fact, 1)                                                \
	P(boot, struct bu_boot_proof, 1)                                               \
	P(console, struct bu_console_fact, 1)                                          \
	P(reports, struct bu_report_fact, BU_REPORTS)                                  \
	P(reach, struct bu_reach_seen, 1)                                              \
	P(agent, struct bu_agent_fact, 1)                                              \
	P(cluster, struct bu_cluster_fact, 1) /* of joined */                          \
	P(disk, struct bu_seen_disk, 1)                                                \
	P(disks, struct bu_disks_lack, 1)                                              \
	P(drift, struct bu_drift, 1)                                                   \
	P(claim, struct bu_claim, 1)                                                   \
	P(adopts, struct bu_adopted, 1)                                                \
	P(wait_reason, struct bu_reason, 1)                                            \
	P(refusal, struct bu_reason, 1)

/*
 * Texts of a node, each cut to less than `size` bytes; "" = none. bu_node_set_NAME()
 * writes one. A text is borrowed until it is set again. SHARED: many nodes have the
 * same; kept as long as the process.
 *
 *	T(name, size, keep)
 */
/* called: the installed system's own name; after a rename the old one, until the files
 * are written; "" = as the node. installed_revision: by which a system in memory is
 * loaded; held in memory; "" = the system is on disk. */
#define BU_NODE_TEXTS(T)                                                               \
	T(called, BU_NAME_MAX, OWNED)                                                  \
	T(machine, 65, OWNED)            /* id of the bound machine */                 \
	T(serial, 64, OWNED)             /* of the machine, by its firmware */         \
	T(uuid, 40, OWNED)               /* likewise */                                \
	T(inventory, 65, OWNED)          /* digest */                                  \
	T(admitted_step, 112, OWNED)     /* step whose token was traded */             \
	T(admitted_request, 65, OWNED)   /* digest of that request */                  \
	T(agent_cert, 65, OWNED)         /* fingerprint; "" = none counts */           \
	T(agent_cert_next, 65, OWNED)    /* renewed, and not used yet */               \
	T(agent_cert_renewed, 65, OWNED) /* the predecessor of agent_cert */           \
	T(boot_id, 40, OWNED)                                                          \
	T(installed_image, BU_NAME_MAX, SHARED)                                        \
	T(installed_digest, 65, SHARED)                                                \
	T(installed_step, 112, OWNED)                                                  \
	T(installed_revision, 65, SHARED)                                              \
	T(seeded_step, 112, OWNED) /* install whose first boot asked for an agent */   \
	T(facets, 65, OWNED)       /* digest of the node's facets; "" = unknown */     \
	T(commit, 65, SHARED)      /* of the order that was carried out last */        \
	T(lent_to, BU_NAME_MAX, OWNED) /* as a partner, last */                        \
	T(evidence, 65, OWNED)  /* digest, of the last failure, hold or quarantine */  \
	T(full_cert, 65, OWNED) /* digest of the text */                               \
	T(boot_cert, 65, OWNED) /* likewise */                                         \
	T(step_error, 400, OWNED) /* of the last step that failed */
#define BU_LIVE_TEXTS(T)                                                               \
	T(symptoms, 65, OWNED) /* evidence for which the BMC's events were asked */    \
	T(bmc_differs, 200, OWNED) /* difference from the expected machine */          \
	T(progress_stage, 32, OWNED)                                                   \
	T(pool, BU_NAME_MAX, SHARED)                                                   \
	T(cluster_words, 400, OWNED) /* the cluster's text while the node leaves */

#endif
