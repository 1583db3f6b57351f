/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harm oracle: the daemon's real rooms in this process, above a world that is
 * written from what real things do (machines, BMCs, Slurm, links, people) and knows
 * nothing of the daemon's code. What happens is a script that a seed makes; rules
 * (oracle.c) are asked at the moments at which harm would be done.
 *
 * Everything is a function of the seed: time, random numbers and keys are handed in
 * (the program is linked with --wrap, see Makefile.inc).
 *
 *	machine.c	power, boot, disks, what runs
 *	agent.c		the program on the machine, as agent/ is
 *	wire.c		requests on their way to the daemon's routes and back
 *	bmc.c		bringup-power: the real perform.c above fake drivers
 *	slurm.c		slurmctld, slurmd, jobs, administrators; slurm_commands.c
 *			is what the daemon sees of them
 *	daemon.c	bringupd in parts: start, kill, the routes
 *	profile.c	the tree of files, and what people change in it
 *	person.c	plans, applies, commands; who consented to what
 *	operator.c	the verbs of nodes, and what they allow
 *	lost.c		another appliance, with an older log or an empty one
 *	script.c	the steps of a run
 *	oracle.c	the rules; memory.c has that of systems in memory, settled.c
 *			those for the end, replay.c that of a restart
 *	run.c		time, and the phases of a run
 */
#ifndef BU_TESTS_SIM_HARM_HARM_H
#define BU_TESTS_SIM_HARM_HARM_H

#include <jansson.h>
#include <stdio.h>

#include "agent/heard.h"
#include "provisioner/api/api.h"

enum {
	MACHINES = 14, /* in bays, and spare ones */
	BAYS = 8,
	DISKS = 2,
	CLUSTERS = 2,
	POOLS = 3,
	ROWS = 12,
	STEPS_MAX = 40,
	MIDDLE = 1000000,  /* seeds from here on: what is done within orders */
	LOST = 2 * MIDDLE, /* seeds from here on: the appliance is lost, too */
	LOG_FILES = 2,
	CONSENTS_MAX = 512,
	NAME_SIZE = 32,
};

#define WALL_MS INT64_C(1700000000000) /* when each run begins */
#define SECONDS(n) ((n)*INT64_C(1000))
#define MINUTES(n) ((n)*INT64_C(60000))

/* id, name, what must hold, whether the test asks it */
#define RULES(X)                                                                       \
	X(JOB, "job", "what runs a job is not switched off, reset or written", 1)      \
	X(SERVICE, "service", "what its cluster gives work is not touched", 1)         \
	X(FOREIGN, "foreign", "what is not ours goes off by consent alone", 1)         \
	X(READY, "ready", "the machine of a ready node is not switched off", 1)        \
	X(REMOVED, "removed", "nothing is done to what left the profile", 1)           \
	X(WRITE, "write", "what is on a disk goes by a grant for that disk alone", 1)  \
	X(VIEW, "view", "no view says ready of what is not usable for long", 1)        \
	X(DRAIN, "drain", "an administrator's drain and its reason stay", 1)           \
	X(INNOCENT, "innocent", "nobody is quarantined without a fault", 1)            \
	X(SCAPEGOAT, "scapegoat", "nobody is quarantined for another's fault", 1)      \
	X(STOLEN, "stolen", "a node in service keeps its machine", 1)                  \
	X(REPLAY, "replay", "a restart changes nothing that the log owns", 1)          \
	X(SILENT, "silent", "who waits says what ends the wait", 1)                    \
	X(DEADEND, "dead-end", "the commands that are named lead out", 1)              \
	X(RESUMED, "resumed", "an administrator resumes it while it goes", 1)          \
	X(HANDS_OFF, "hands-off", "what is in service or retired keeps its power", 1)  \
	X(KEPT, "kept", "what a person took out comes back by a person alone", 1)      \
	X(TRIAL, "trial", "a trial writes nothing", 1)                                 \
	X(FULL, "full", "a log without room begins nothing, says it, and ends", 1)     \
	X(RAM, "ram", "what runs from memory is of this boot, and off all disks", 1)   \
	X(APPLIED, "applied", "what runs is what is applied, or a plan changes it", 1) \
	X(UNHEARD, "unheard", "a node whose power changed waits for its hello", 1)     \
	X(EPOCH, "epoch", "no other epoch's word switches or writes a machine", 1)     \
	X(FENCE, "fence", "who may not lead begins nothing", 1)                        \
	X(OUT, "out", "who was retired stays out", 1)

enum rule {
#define X(id, name, text, on) RULE_##id,
	RULES(X)
#undef X
		RULE_COUNT
};

/* --- machines --- */

enum running { RUNS_NOTHING, RUNS_FIRMWARE, RUNS_RAMDISK, RUNS_SYSTEM, RUNS_FOREIGN };
enum content { DISK_EMPTY, DISK_FOREIGN, DISK_BEGUN, DISK_OURS };

/* What an agent shows: the name in its certificate, and that one's fingerprint. */
struct ident {
	char peer[65], cert[65];
};

struct disk {
	enum content content;
	int data;       /* a partition that people keep things on */
	char step[112]; /* that wrote it */
	char hostname[NAME_SIZE];
	json_t *stamp;   /* {"text","sig"} */
	json_t *record;  /* of its configuration (model/applied.h) */
	char loader[80]; /* kernel arguments of the next boot from it */
	struct ident ident;
	char node[NAME_SIZE];  /* that the agent was told */
	struct bu_heard heard; /* what its appliance told, beside its key */
};

struct machine {
	int index;
	int bay; /* -1: it is in no bay */
	char serial[24], uuid[40], mac[2][18];
	int on;
	enum running running;
	int boots_network;
	int boots_from;  /* disk that was installed last; -1 = the first that looks good
			  */
	int64_t next_ms; /* the boot goes on; 0 = nothing is due */
	int phase, tries; /* of the boot */
	int boots;
	char boot_id[40];
	char booted[80]; /* kernel arguments of what runs from a disk */
	char token[65], boot_node[NAME_SIZE]; /* of the script that it booted */
	struct disk disks[DISKS];
	struct disk memory; /* a system in it, for as long as it is on */
	int in_memory;      /* that is what runs */
	int told_to_wait;   /* by its boot script: it asks until it gets another */
	/* the system that runs */
	int hung;
	int64_t cut_ms; /* its network is down until then */
	int slurmd;     /* cluster + 1 */
	char slurmd_name[NAME_SIZE];
	int64_t kill_slurmd_ms;
	/* faults of its hardware */
	int slow_link, bad_memory;
	int was_faulty; /* ever in this run: a quarantine has a cause */
	int died;       /* somebody switched it off */
	int outlier; /* its next probe: 1 = 3 % over the link, 2 = clocks 8 % apart */
	/* truth for the rules */
	int64_t resumed_ms; /* an administrator gave it back to its cluster */
	int64_t begun_ms;   /* the daemon's last boot of it began; 0 = it came up */
	int64_t between_ms; /* it was switched on within the boot that began then */
	/* Unix time at which the daemon changed its power; no system has said hello
	 * since; 0 = one has. */
	int64_t unheard_ms;
	int64_t changed_ms;
	int out; /* a person retired its node, and nobody took it back */
	char out_node[NAME_SIZE];
	int64_t warned_ms; /* an agent has shown this appliance that it is out */
};

/* --- what people keep --- */

struct row {
	int present;
	char name[NAME_SIZE];
	int serial, mac, bmc; /* of which machine, machine, bay; -1 = of none */
	int pool;
};

struct profile {
	struct row rows[ROWS];
	int pool_cluster[POOLS]; /* -1 = none */
	int pool_hardware[POOLS], pool_image[POOLS];
	int disk[2]; /* of hardware class: which disk */
	int features[POOLS], sysctl[POOLS], kargs[POOLS], gres[POOLS], data[POOLS];
	int ram[POOLS]; /* its systems run from memory */
	int unavailable[POOLS], budget[POOLS], partners[POOLS];
	int address_from; /* of the lists of addresses */
	int domain;
};

struct consent {
	char rollout[40];
	char node[NAME_SIZE];
	enum bu_class class;   /* of the step */
	enum bu_class granted; /* NONE, REIMAGE or WIPE */
	int reset;             /* by that name, or by the others */
	int machine;           /* that the row means; -1 = it contradicts itself */
	int named;             /* that it names, whatever BMC it has; -1 = none */
	int disk;
	int ram; /* it is for a system that runs from memory */
	int64_t at_ms;
	char step[112]; /* of the install that it was used for; "" = none yet */
};

/* A person wants the machine in a bay switched, until then; forced: whatever it runs.
 */
struct wish {
	int64_t until_ms, forced_ms;
};

/* --- the script --- */

/* clang-format off */
#define VERBS(X) \
	X(APPLY) X(RENAME) X(SWAP_NAMES) X(SWAP_MACS) X(SWAP_SERIALS) X(SWAP_BMCS) \
	X(DISK) X(CLUSTER) X(POOL) X(ADDRESS) X(REMOVE) X(ADD) X(IMAGE) X(FEATURES) \
	X(SYSCTL) X(KARGS) X(GRES) X(DATA) X(TYPO_MAC) X(TYPO_SERIAL) X(LIMITS) \
	X(RIGHT) X(RESTART) X(KILL) X(DIE) X(HANG) X(REBOOT) X(CUT) X(REPLACE) \
	X(NEW_DISK) X(FOREIGN_OS) X(SLOW_LINK) X(BAD_MEMORY) X(OVER_LINK) X(CLOCKS) \
	X(AGENT_DIES) X(BMC_ERRORS) X(BMC_HANGS) X(BMC_LOSES) X(SWITCH_ON) \
	X(SWITCH_OFF) X(ADMIN_DRAIN) X(ADMIN_RESUME) X(ADMIN_DELETE) X(ADMIN_DOWN) \
	X(CTLD_STOPS) X(CTLD_STARTS) X(CTLD_FORGETS) X(CTLD_LOSES) X(LOSE_ANSWERS) \
	X(STRANGER) X(HOLD) X(RELEASE) X(AGAIN) X(ABORT) X(PAUSE) X(RESUME) \
	X(NODE_DRAIN) X(NODE_RESUME) X(NODE_SERVICE) X(NODE_RELEASE) \
	X(NODE_VALIDATE) X(NODE_RETRY) X(NODE_REBUILD) X(NODE_REBOOT) \
	X(NODE_POWER) X(NODE_REPLACE) X(NODE_RETIRE) X(DISK_FULL) X(NO_KARGS) \
	X(OLD_LOG) X(EMPTY_LOG) X(LOG_BACK) X(TAKE_OVER)
/* clang-format on */

enum verb {
#define X(id) VERB_##id,
	VERBS(X)
#undef X
		VERB_COUNT
};

struct step {
	int64_t after_ms; /* of the step before it */
	enum verb verb;
	unsigned int a, b, c; /* taken modulo what there is */
};

struct script {
	unsigned int seed;
	int nodes, bays, clusters, pools;
	struct step steps[STEPS_MAX];
	int count;
};

void script_make(struct script *script, unsigned int seed);
const char *verb_name(enum verb verb);
/* Does it to the world; says what it did in the run's log. */
void script_do(const struct step *step);

/* --- the run --- */

struct sim {
	struct script script;
	uint64_t dice;
	struct bu_clock clock;
	int64_t start_ms;
	int quiet; /* nothing is printed */
	FILE *log;
	char dir[80];
	struct machine machines[MACHINES];
	int bays[BAYS];         /* machine; -1 = empty */
	struct profile profile; /* as people have it in their tree */
	struct profile applied; /* last one that was taken */
	struct consent consents[CONSENTS_MAX];
	int consents_count;
	struct wish wishes[BAYS];
	int64_t disk_bad_ms; /* the appliance's disk takes nothing until then; 0 = it
				does */
	int64_t lose_answers_ms; /* until then some answers are lost */
	int helping;             /* people do what the views say */
	int written, loaded;     /* systems, to disks and into memory */
	int adopted;             /* nodes, at the end */
	int contradicted;        /* the last apply was refused: whose machine is it? */
	int64_t restart_ms;      /* when the daemon is started again; 0 = it runs */
	int lost;                /* how often the appliance was */
	int stale;               /* its disk was set back, and no epoch began since */
	int64_t epoch_ms;        /* another epoch began; 0 = it is the first */
	/* the verdict */
	int broken; /* a rule */
	enum rule rule;
	char words[600];
};
extern struct sim sim;

int64_t now_ms(void); /* simulated, monotonic, from 0 */
unsigned int dice(unsigned int below);
int64_t between(int64_t least_ms, int64_t most_ms);
/* One line of the run's log. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A rule is broken: the run ends at the next turn. */
void broken(enum rule rule, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int rule_on(enum rule rule);
const char *rule_name(enum rule rule);

/* machine.c */
void machines_begin(void);
void machine_new(struct machine *machine, int bay, enum content content);
void machine_power(struct machine *machine, int on);
void machine_reboot(struct machine *machine);
void machine_turn(struct machine *machine);
struct machine *machine_in(int bay); /* NULL = an empty bay */
/* The disk that it boots from, NULL = none. */
struct disk *machine_boot_disk(struct machine *machine);
/* Where the system is that runs: that one, or its memory. */
struct disk *machine_system(struct machine *machine);
/* What was loaded into its memory starts, without a boot. */
void machine_goes(struct machine *machine);
int machine_disk(const char *path);
const char *disk_path(int disk);
struct bu_inventory *machine_inventory(const struct machine *machine);
void machine_id(const struct machine *machine, char ret_id[BU_MACHINE_ID_SIZE]);
/* A new key and the request for its certificate; owned. */
char *machine_request(const struct machine *machine);
int machine_reaches(const struct machine *machine);
/* Its system runs, and does what it should. */
int machine_works(const struct machine *machine);
const char *machine_words(const struct machine *machine);

/* agent.c */
void agent_starts(struct machine *machine);
void agent_ends(struct machine *machine);
void agent_turn(struct machine *machine);
int64_t agent_due_ms(const struct machine *machine);
/* What the installed system goes on with. */
void agent_leaves(const struct machine *machine, struct disk *disk);
void agent_broken_off(struct machine *machine);

/* work.c: what an agent has to do; begin: the item is borrowed until the end */
void work_begin(struct machine *machine, const json_t *item);
void work_cancel(struct machine *machine);
/* 0 = it goes on; 1 = it ended, with a result (new reference, may be NULL) or an error.
 */
int work_turn(struct machine *machine, const json_t *item, json_t **ret_result,
	      struct bu_err *err);
int64_t work_due_ms(const struct machine *machine);
/* The item that its agent works on; NULL = none. */
const json_t *agent_item(const struct machine *machine);

/* wire.c: what an agent asks; answer_fn is called once, or never after wire_forget() */
typedef void (*wire_fn)(struct machine *machine, const json_t *reply,
			const struct bu_err *err);
struct ask {
	const char *path;
	json_t *body; /* taken */
	const struct ident *ident;
	int64_t patience_ms;
	wire_fn fn;
};
void wire_ask(struct machine *machine, const struct ask *ask);
void wire_forget(struct machine *machine);
void wire_turn(void);
int64_t wire_due_ms(void);
/* Every connection breaks. */
void wire_reset(void);
void wire_settle(void);
/* A person's request: the answer, new reference; NULL and err. Waits in simulated time
 * for nothing: what is not answered at once is BU_ERR_BUSY. */
json_t *wire_call(const char *method, const char *path, json_t *body,
		  struct bu_err *err);
/* 1 = the status has this condition of the site. */
int wire_site_has(const char *name);
/* The same; is told when the route is missing (BU_ERR_NOTFOUND). Text of a script. */
char *wire_boot_script(const char *mac);
/* Somebody else's enrolment; csr is given away. */
json_t *wire_stranger(const char *node, const char *token, char *csr,
		      const json_t *inventory, struct bu_err *err);

/* bmc.c */
void bmc_turn(void);
int64_t bmc_due_ms(void);
void bmc_fault(int bay, enum verb fault, int64_t until_ms);
void bmc_mend(void);

/* slurm.c */
void slurm_begin(void);
void slurm_turn(void);
int64_t slurm_due_ms(void);
void slurmd_starts(struct machine *machine, int cluster, const char *name,
		   const char *conf);
void slurmd_ends(struct machine *machine);
int slurm_jobs_on(const struct machine *machine);
/* It may give this machine work at any moment. */
int slurm_gives_work(const struct machine *machine);
/* Of a node that left its cluster the drain stands in the log that is lost. */
void slurm_forget_gone(void);
/* Why the node of this name gets no work, NULL = it does. */
const char *slurm_unusable(const char *name);
int slurm_knows(const char *name);
void slurm_admin(enum verb verb, unsigned int which, unsigned int cluster);
void slurm_mend(void);
int slurm_admin_drained(const char *name);
int slurm_cluster_of(const char *controller);

/* daemon.c */
void daemon_begin(void); /* keys, images */
void daemon_start(void);
void daemon_stop(int kill);
void daemon_turn(void);
void daemon_end(void);
int daemon_runs(void);
int64_t daemon_due_ms(void);
struct bu_api *daemon_api(void);
struct bu_fleet *daemon_world(void);
/* The appliance's disk takes no more, in one of several ways; 0 = it has room again. */
void daemon_fill_disk(unsigned int how, int64_t until_ms);
/* Its log is out; may it begin anything? */
int daemon_is_down(void);
int daemon_woken(void); /* and forgets it */
const struct bu_node *daemon_node_of(const struct machine *machine);
/* The files of its log: their path, owned; their text, owned, NULL = none. */
char *log_path(const char *end);
void log_keep(char *texts[LOG_FILES], size_t sizes[LOG_FILES]);
void log_put_back(char *const texts[LOG_FILES], const size_t sizes[LOG_FILES]);

/* profile.c */
void profile_begin(void);
struct bu_tree *profile_tree(const struct profile *profile);
int profile_edit(const struct step *step, char *words, size_t size);
/* The machine that a row means: all that it says is of one machine. -1 = none. */
int row_machine(const struct row *row);
/* The same, where what is of nobody (a typing error) contradicts nothing. */
int row_means(const struct row *row);
/* The machine whose serial number and MAC it has: whose disk is meant, whatever its BMC
 * switches. -1 = none. */
int row_names(const struct row *row);
const struct row *profile_row(const struct profile *profile, const char *name);
void profile_set_right(void);
void profile_set_known(void);

/* person.c */
/* grants: 0 none, 1 reimage, 2 wipe, 3 wipe of some, 4 reset */
int person_applies(unsigned int grants, unsigned int which);
void person_commands(const struct step *step);
/* Asks again while the daemon is busy with the nodes, as the command line does. body is
 * borrowed. New reference. */
json_t *person_insists(const char *path, const json_t *body, struct bu_err *err);
/* Follows what the views name; 0 when there is nothing more to do. */
int person_helps(void);
const struct consent *consent_for(const struct machine *machine);
int consent_to_write(const struct machine *machine, int disk, const char *step,
		     int keeps_data);
/* What was last consented to for the node of this step is a system in memory. */
int consent_is_for_memory(const char *step);
void consent_to_reboot(const char *node);
void consent_to_rebuild(const struct row *row, enum bu_class class,
			enum bu_class granted);
void person_mends(void);
/* The answer to a plan of what is applied; new reference. */
json_t *person_plans(void);

/* lost.c */
void lost_begin(void);
/* The log as it is now may be what another appliance begins with. */
void lost_keep(void);
void lost_does(const struct step *step);
/* What was consented to before is consent no more. */
void lost_epoch(void);
/* By its stamp it serves no cluster, whatever an older profile says. */
int lost_serves_none(const struct bu_node *node);
/* This rule is not asked now. */
int lost_is_stale(enum rule rule);
/* Nodes that are here as a stamp of another log says. */
int lost_adopted(void);
/* The machine is about to be switched or written. */
void lost_look(const struct machine *machine, const char *what);
/* Power is about to be asked for. */
void lost_power(const char *what);
void lost_retired(struct machine *machine, const char *node);
/* It got an answer to its question for work. */
void lost_served(const struct machine *machine);
/* The appliance took a hello of an agent that knows this. */
void lost_heard(const struct bu_heard *heard);

/* operator.c */
void operator_types(const struct step *step);

/* oracle.c */
void oracle_begin(void);
void oracle_look(void);
/* bringupd has started: facts have their time again. */
void oracle_anew(void);
/* A person said something of the node, and it was taken. */
void said_of(const char *node);
/* Since this epoch began. */
int oracle_was_said(const char *node);
/* An apply was taken that has it in this cluster, -1 = in none. */
void ordered_for(const char *node, int cluster);
/* The daemon asks for this machine's power to be changed. */
void oracle_power(int bay, const char *op);
/* It begins something that is not to be begun while its log is out. */
void oracle_begins(const char *what);
/* The daemon is about to switch this machine off, or to reset it. */
void oracle_off(const struct machine *machine, const char *how);
void oracle_write(const struct machine *machine, int disk, const char *step,
		  int keeps_data);
/* memory.c. The daemon sends this machine to its disk; and what a ready node runs. */
void oracle_to_disk(const struct machine *machine);
void oracle_memory(const struct bu_node *node);
/* replay.c. Around a start over the same log. */
void oracle_remember(const struct bu_fleet *fleet);
/* The next start is over another log. */
void oracle_drop(void);
void oracle_compare(const struct bu_fleet *fleet);
/* From now on a second fleet follows the log of this one, and is compared after each
 * row. */
void oracle_follow(struct bu_fleet *leads);
/* When the store is gone. */
void oracle_unfollow(void);
/* Rows after which they were compared. */
long oracle_followed(void);
/* The machine that it is bound to, NULL = it is none of these. */
const struct machine *oracle_machine_of(const struct bu_node *node);
/* Why a node that is ready can run nothing; NULL = it can. */
const char *oracle_unusable(const struct bu_node *node);

/* settled.c */
/* All that the profile wants is ready, or (not helped) stands where a person is needed;
 * NULL or which one is not, and why not. */
const char *oracle_unsettled(int helped);

/* run.c */
void run_script(const struct script *script, FILE *log);
void run_for(int64_t ms);

#endif
