/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small site for tests of the daemon's rooms: a clock that tests move, a real log in
 * a directory of its own, real keys, a fake bringup-power (this test program again,
 * started with "power DIR") and a fake Slurm (two scripts first in PATH).
 *
 * The paper keeps its state in files of the directory:
 *	power.NODE	"off", "on" or "unknown"; missing = off
 *	power.log	what was done, "boot network node001" a line
 *	bmc.NODE	{"fingerprint","driver",...,"serial"}: boots that ask for
 *			another one are refused
 *	power.refuse	when it is there, boots fail with its text
 *	power.away	when it is there, no state is told, with its text
 *	events.NODE	what its BMC has logged; missing = it does not answer
 *	power.hang	when it is there, boots are done and never answered
 *	sinfo		what Slurm says of all nodes, a word: "idle", "mixed",
 *"draining", "drained" (by bringup), "down*", "inval"; "" = it knows none; or "STATE
 *REASON", "IDLE+DRAIN DIMM A3" slurm.NODE	the same of one node slurm.fail	when it
 *is there, nothing is shown, with its text
 *	slurm.refuse	when it is there, nothing is changed, with its text
 *	scontrol.log	what scontrol was told, which copies sinfo.next over sinfo
 *	squeue		what squeue prints: "node[001-002]|12 (alice)"
 *	reservations	what scontrol shows of reservations
 *	features.NODE	"AvailableFeatures=a,b X=1"
 *
 * All agents are heard at each turn, but for those in rig.silent.
 */
#ifndef BU_TESTS_SUPPORT_RIG_H
#define BU_TESTS_SUPPORT_RIG_H

#include "model/sentence.h"
#include "provisioner/gate/gate.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/rollout/rollout.h"

enum { RIG_START_MS = 1700000000, RIG_NODES_MAX = 1000 };

struct rig {
	char dir[64];
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_trust *trust;
	struct bu_fleet *fleet;
	struct bu_power *power;
	struct bu_reconcile *rec;
	struct bu_rollouts *rollouts;
	struct bu_gate *gate; /* NULL until rig_open_gate() */
	char *console_dir;
	int consoles;        /* they are kept, in DIR/console, from the next start on */
	int hanging;         /* jobs that are meant to: they are not waited for */
	int64_t asked;       /* of services, before the last barrier */
	unsigned int silent; /* agents that are not heard: 1 << number of the node */
};

/* A site of so many nodes (RIG_NODES_MAX at most) of one pool, node001 and on: the good
 * profile of tests/support/profiles.h, applied with an order for each; 0 = an empty
 * log. */
void rig_begin(struct rig *rig, int nodes);
/* Ends everything and removes the directory. */
void rig_end(struct rig *rig);
/* The process ends and starts again, over the same log; gate included. */
void rig_restart(struct rig *rig);
/* The same; there is no process for so long. */
void rig_away(struct rig *rig, int64_t ms);
/* The process ends; it starts over what is there. */
void rig_halt(struct rig *rig);
void rig_go(struct rig *rig);
/* The process ends; its log is kept under this name (NULL = lost), and the one that was
 * kept as `put` takes its place (NULL = an empty one). It starts again. */
void rig_swap_log(struct rig *rig, const char *keep, const char *put);
/* This epoch begins; unchecked: behind the fence. */
void rig_epoch(struct rig *rig, int64_t epoch, int unchecked);
void rig_open_gate(struct rig *rig);
/* So many ms pass on the clock, and the few that it takes until everything has come to
 * rest: no timer is due, nothing is on its way to the log, and the fake children
 * have done what they were asked for. Real time plays no part. */
void rig_pass(struct rig *rig, int64_t ms);

/* The tree of the profile that rig_apply() applies, with `from` replaced; owned. */
struct bu_tree *rig_tree(int nodes, const char *from, const char *to);
/* Journals the profile as applied, with an order of class for each node. */
void rig_apply(struct rig *rig, int nodes, enum bu_class class, const char *digest,
	       const char *from, const char *to);
/* Journals the profile as applied, with no order for anybody. */
void rig_revise(struct rig *rig, int nodes, const char *from, const char *to);
/* Another revision is applied: nodes have so many rails, "fabric", "rail1" and on, all
 * of which are measured. */
void rig_give_rails(struct rig *rig, int nodes, int rails);
/* more: lines of each network, the first one's of `fabric`; NULL = none. */
void rig_give_rails_with(struct rig *rig, int nodes, int rails,
			 const char *const *more);
struct bu_node *rig_node(const struct rig *rig, int number);
/* "boot-2" */
static inline void
rig_set_boot(struct bu_node *node, int number)
{
	bu_autofree char *text = bu_xasprintf("boot-%d", number);

	bu_node_set_boot_id(node, text);
}

/* Until the state is reached; the test fails when it is not within seconds. */
void rig_until(struct rig *rig, const struct bu_node *node, enum bu_state state);
/* Until nothing of the node is on its way to the log and its step has this status. */
void rig_until_step(struct rig *rig, const struct bu_node *node, enum bu_action action,
		    enum bu_step_status status);

/* What the machine of node `number` is made of, in this boot. Owned. */
struct bu_inventory *rig_inventory(int number, const char *boot_id);
/* The stamp of the node's last install. New reference. */
json_t *rig_stamp(const struct rig *rig, const struct bu_node *node);
/* A certificate request, the same one each time; number: 0 or 1. */
const char *rig_request(int number);
/* Trades the token of the node's present boot; 0 or -1 as bu_reconcile_admit(). */
int rig_admit(struct rig *rig, struct bu_node *node, const char *request,
	      const struct bu_inventory *inventory, struct bu_err *err);
/* One stage each, from the state before it: the agent's words, journaled. */
void rig_start(struct rig *rig, int number);   /* -> inspecting, booted */
void rig_inspect(struct rig *rig, int number); /* -> imaging */
void rig_install(struct rig *rig, int number); /* -> booting, booted */
void rig_come_up(struct rig *rig, int number, const char *boot_id); /* -> validating */
/* All of them. */
void rig_to_validating(struct rig *rig, int number);
/* Its checks are good, in its present boot. */
void rig_check(struct rig *rig, int number);
/* Signed certificates for the present machine and boot, as the gate issues them. */
void rig_certify(struct rig *rig, int number);
/* From validating over paper Slurm to ready. */
void rig_join(struct rig *rig, int number);

/* Fires a trigger that must mean something. */
void rig_fire(struct rig *rig, struct bu_node *node, enum bu_trigger trigger);
/* The agent's word on the open step, NULL = done. */
void rig_answer(struct rig *rig, struct bu_node *node, const struct bu_err *failure);
/* From joining to ready, over paper Slurm. */
void rig_joins(struct rig *rig, struct bu_node *node);
/* rig_begin() with one node, which is there then. */
enum rig_stage {
	RIG_ENROLLED,
	RIG_STARTED,
	RIG_IMAGING,
	RIG_BOOTING,
	RIG_VALIDATING,
	RIG_JOINING,
	RIG_READY,
};
struct bu_node *rig_up_to(struct rig *rig, enum rig_stage stage);

/* Files of the paper. */
void rig_write(const struct rig *rig, const char *name, const char *text);
void rig_remove(const struct rig *rig, const char *name);
char *rig_read(const struct rig *rig, const char *name); /* owned; "" = none */
/* How many lines of power.log are these words. */
int rig_count(const struct rig *rig, const char *line);

/* When this program was started as a fake bringup-power, its exit status; else -1. */
int rig_paper(int argc, char **argv);
/* BU_UNIT for a test program that uses a rig. */
#define RIG_UNIT(name, ...)                                                            \
	int main(int argc, char **argv)                                                \
	{                                                                              \
		const TTest *const tests[] = {__VA_ARGS__};                            \
		int paper = rig_paper(argc, argv);                                     \
                                                                                       \
		if (paper >= 0)                                                        \
			return paper;                                                  \
		return bu_unit_run(name, tests, sizeof(tests) / sizeof(tests[0]));     \
	}

/* The text, or what `node why` says, holds this part; else the test fails. */
void rig_text_has(const char *text, const char *part);
void rig_reason_has(const struct bu_reason *reason, const char *part);
/* The sentence, until the next call. */
const char *rig_said(const struct bu_reason *reason);
/* The whole sentence. */
void rig_reason_says(const struct bu_reason *reason, const char *text);
/* rig_reason_is(node->live.wait_reason, NO_PARTNER) */
#define rig_reason_is(reason, id)                                                      \
	ck_assert_str_eq(bu_reason_info((reason)->code)->name,                         \
			 bu_reason_info(BU_REASON_##id)->name)
/* The sentence, until the next one; NULL = "". */
static inline const char *
rig_sentence(const json_t *said)
{
	static char text[4096];
	bu_autofree char *sentence = bu_said_text(said);

	snprintf(text, sizeof(text), "%s", sentence);
	return text;
}
/* Lines of the list, which is taken; owned. */
static inline char *
rig_lines(json_t *list)
{
	char *text = bu_said_lines(list);

	json_decref(list);
	return text;
}
/* All that `node why` says; owned. */
char *rig_why(const struct rig *rig, const struct bu_node *node);
void rig_why_says(const struct rig *rig, const struct bu_node *node, const char *part);
/* Kinds of all events after seq with a blank after each, "-" for those of the site. */
void rig_events_after(const struct rig *rig, int64_t seq, char ret[4096]);

#endif
