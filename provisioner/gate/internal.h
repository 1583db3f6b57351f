/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types and functions that the files of the gate share. gate.c decides when the gate
 * looks at which fabric.
 */
#ifndef BU_GATE_INTERNAL_H
#define BU_GATE_INTERNAL_H

#include "fabric/judge/expect.h"
#include "fabric/judge/localise.h"
#include "fabric/judge/rates.h"
#include "fabric/schedule.h"
#include "model/check.h"
#include "model/sizes.h"
#include "model/work.h"
#include "provisioner/gate/gate.h"
#include "provisioner/gate/probe.h"

enum {
	/* Failed probes in a row after which a pair is probed once a minute only; lost
	 * reports in a row after which a node is asked for no more checks. */
	BU_GATE_ERRORS = 3,
	BU_GATE_GRACE_MS = 5000, /* beyond a deadline, or after the peer gave up */
	BU_GATE_TAKE_MS = 10000, /* for an idle agent to fetch its item */
	BU_GATE_HERE_MS = 3000,  /* an agent idles if it asked within this time */
	BU_GATE_PORT = 18515,
	BU_GATE_RETESTS = 1000, /* rounds of retests, at most */
	BU_GATE_QUICK = 32,     /* rounds of retests before one a minute */
	BU_GATE_SLOW_MS = 60000,
	BU_GATE_LEAF_SIZE = 160,
	BU_GATE_BUDGET_MS = 200, /* a look begins no further fabric after this */
	BU_GATE_LINK_QPS = 4,    /* between leaves: several cables of a bundle */
};

/* A pair that a campaign asks for on its rail. */
struct bu_ask {
	char name[2][BU_NAME_MAX]; /* sorted */
	char rail[BU_NAME_MAX];    /* "rail0", or across rails "rail0/rail1" */
	int qps, single;           /* see struct bu_rail_ends */
};

/* A slow turn comes once a minute. Both kinds repeat undecided tests and tired pairs;
 * OTHERS also tries further partners of nodes with several tired pairs. */
enum bu_turn { BU_TURN_NONE, BU_TURN_TIRED, BU_TURN_OTHERS };

struct bu_gate {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const struct bu_trust *trust;
	struct bu_timer *look;
	struct bu_probe *probes;
	json_t *busy;    /* node -> pointer of its probe; 0 = other work */
	json_t *soaking; /* node -> {"peer","id","secret"}: loads the peer's links */
	json_t *soaked_with; /* node -> the neighbour of its last slice */
	/* Pairs that campaigns ask for, kept until all rails were looked at. A pair is
	 * measured at once on all rails that ask for it. */
	struct bu_ask *asks;
	size_t asks_count, asks_cap;
	struct bu_gate_run *runs;
	struct bu_incast *incast; /* under way; NULL = none */
	struct bu_nvlinks *nvlinks;
	json_t *across;  /* fabric, rail -> [{"text","nodes":{NODE: true}}]: accused */
	int across_seen; /* looked at since the start and since the last run's end */
	struct bu_switches *switches;     /* switch counters by fabric (switches.h) */
	int64_t incast_ms;                /* monotonic: no incast begins before */
	const struct bu_clock *stopwatch; /* times the looks */
	int64_t once_ms;                  /* spent in this look on certificates */
	int looking;                      /* a look is under way */
	int64_t due_ms;         /* monotonic: the timer's next look; 0 = not set */
	int64_t rested_ms;      /* monotonic: no kick brings a look before this */
	size_t next_fabric;     /* network at which the round of looks goes on */
	int64_t slow_ms;        /* monotonic: the next slow turn is due */
	int slow_turns;         /* so far */
	enum bu_turn slow_turn; /* of this round of looks */
	double usual_share;     /* of its deadline, used by a probe; 0 = unknown */
	uint64_t seed;          /* of the schedule, from the site's public key */
	/* Topologies of the last looks, by network of the profile with digest
	 * shapes_of. */
	struct bu_topology *shapes;
	size_t shapes_count;
	char shapes_of[65];
	struct bu_rates rates;
	json_t *gpus;           /* data/gpus.json; NULL = none */
	json_t *events;         /* of data/events.json, as agents get them */
	struct bu_peers *peers; /* facts that were read lately; NULL = none */
	/* By pair of the log: places of its network and nodes in the profile with
	 * digest pairs_of; -1 = not in the profile. */
	struct bu_gate_pair {
		int network, node[2];
	} * pairs;
	size_t pairs_count, pairs_cap;
	char pairs_of[65];
	struct bu_role *roles; /* by place in the profile; NULL = none in this look */
	size_t verified;       /* nodes whose certificates were verified so far */
	char verified_of[65];  /* profile's digest for which all were verified */
};

/* The role of a node of the profile in all campaigns. */
struct bu_role {
	struct bu_node *node; /* NULL = not known yet */
	const struct bu_desired_node *want;
	unsigned char ready; /* validating, checked, heard; candidate if uncertified */
	unsigned char certified, serves, waits;
	unsigned char effort; /* enum bu_effort of a candidate */
	uint64_t proven;      /* rails of its pool that its certificates cover */
};

struct bu_wanted {
	int a, b; /* places of nodes in the campaign */
};

struct bu_pairs {
	struct bu_wanted *list;
	size_t count, cap;
};

/* A pair measured on a rail in the present boots of both nodes. `end` holds their
 * places in the campaign, sorted by name. */
struct bu_met {
	const struct bu_pair_log *log;
	int end[2];
	int next[2];     /* by end: 1 + its previous pair in met; 0 = none */
	size_t taken[2]; /* by direction: results that the campaign was given */
	int is_tired;
};

/* The campaign of one rail (a fabric network). Absent nodes of the profile keep their
 * places, so that a round has the same pairs at each look. */
struct bu_campaign_state {
	struct bu_gate *gate;
	const struct bu_desired_network *fabric;
	const struct bu_desired_validation *validation; /* of the first ready node */
	struct bu_expect expect;
	struct bu_topology topology; /* one rail; all uplinks are one spine */
	struct bu_node **nodes;      /* NULL: in the profile, but not known yet */
	const struct bu_role **role;
	unsigned char *candidate, *trusted, *absent, *effort, *busy, *last, *slow_probe;
	int candidates, partners;
	int unlent;         /* proven nodes that their pools do not lend now */
	int unproven;       /* nodes in service whose certificates lack this rail */
	struct bu_met *met; /* met.c */
	struct bu_pair *met_pairs; /* the same pairs, for bu_site.met */
	size_t met_count;
	int *last_met; /* by node: 1 + its last pair in met; 0 = none */
	/* The pair that was looked up last. The campaign asks for both directions of a
	 * pair, one after the other. */
	struct bu_found {
		int a, b, dir;
		struct bu_met *met; /* NULL = not measured */
	} found;
	struct bu_pairs wanted;     /* pairs whose result the campaign lacks */
	struct bu_pairs tired;      /* failed BU_GATE_ERRORS times: probed seldom */
	int *tired_of;              /* by node: its tired pairs */
	int *failed_of;             /* by node: pairs whose last probe failed */
	unsigned char *tired_doubt; /* by node: BU_DOUBT_... of its tired pairs */
	struct bu_report report;
	int over; /* the campaign has no more questions */
	int slow; /* retests do not decide: the campaign goes on once a minute */
};

/* parts.c. Names the leaf of this rail that a node is cabled to. place: the node's in
 * the rail's order. 0 = no switch is known: ret is the rack, or 128 places together. */
int bu_gate_leaf(const struct bu_node *node, const struct bu_desired_network *rail,
		 const struct bu_desired_node *want, int place,
		 char ret[BU_GATE_LEAF_SIZE]);
/* The rail with the slowest links. The pool has at least one rail. */
const struct bu_desired_network *bu_gate_slowest(const struct bu_desired_pool *pool);
/* 1 = the agent was heard within 90 s, and no power action has ended its boot. */
int bu_gate_hears(const struct bu_gate *gate, const struct bu_node *node);
/* Looks at this time (monotonic) or earlier. */
void bu_gate_wake_at(struct bu_gate *gate, int64_t at_ms);

/* hold.c. Holds nodes: lemons, changing hardware, a wait of 24 h. Heeds outside
 * verdicts. */
void bu_gate_hold(struct bu_gate *gate);

/* compare_peers.c */
/* Rows of a report that are compared with other machines' reports:
 * [[id, subject, value, verdict?, expected?]]. New reference. */
json_t *bu_gate_facts(const struct bu_checks *report);
/* Of each value that no other machine may have, BU_GATE_MARK hexadecimal digits, of one
 * length, so that equal values are found without the facts. Owned. */
enum { BU_GATE_MARK = 16 };
char *bu_gate_marks(const struct bu_checks *report);
/* 1 = a cable of the machine is wrong. */
int bu_gate_is_miscabled(const struct bu_checks *report);
/* Adds rows for differences from machines of the same class. */
void bu_gate_compare(struct bu_gate *gate, const struct bu_node *node,
		     struct bu_checks *report);
void bu_gate_peers_drop(struct bu_gate *gate);
/* checks.c. 1 = the node's checks or a soak slice are due. ret_id: of their item. */
int bu_gate_checks_asked(const struct bu_gate *gate, const struct bu_node *node,
			 char ret_id[BU_NAME_SIZE]);
/* The item. For a slice a neighbour is chosen, and kept for the slice's report. */
json_t *bu_gate_checks_work(struct bu_gate *gate, const struct bu_node *node);
void bu_gate_checks_result(struct bu_gate *gate, struct bu_node *node, const char *id,
			   const json_t *result, const struct bu_err *failure);
/* 1 = the checks of this boot did not fail, and the profile's soak is complete. */
int bu_gate_is_checked(const struct bu_gate *gate, const struct bu_node *node);
/* The missing part of checks and soak; NONE = nothing. */
void bu_gate_unchecked(const struct bu_gate *gate, const struct bu_node *node,
		       struct bu_reason *ret);

/* soak.c. 1 = the log has a report of checks of this boot. */
int bu_gate_has_checks(const struct bu_node *node);
/* 0 = the soak is complete, or the profile asks for none. */
int64_t bu_gate_soak_left_ms(const struct bu_gate *gate, const struct bu_node *node);
/* Work item that loads the links between the node and a soaking neighbour at its leaf;
 * NULL = no neighbour. New reference. */
json_t *bu_gate_soak_link(struct bu_gate *gate, const struct bu_node *node);

/* The neighbour of the node's present slice; NULL = none. */
const char *bu_gate_soak_peer(const struct bu_gate *gate, const struct bu_node *node);
/* Fails the row of changed payload once it came changed with three neighbours, unless
 * the profile only warns. */
void bu_gate_soak_accuse(const struct bu_gate *gate, const struct bu_node *node,
			 struct bu_checks *report);

/* say.c. Sets why a node does not go on; NONE = it does. A hold is shown besides. */
void bu_gate_say(struct bu_gate *gate, struct bu_node *node,
		 const struct bu_reason *reason);
/* The same for one rail. The first of the node's rails with a reason is shown. */
void bu_gate_say_of_rail(const struct bu_campaign_state *campaign, struct bu_node *node,
			 const struct bu_reason *reason);
/* Adds the rail to a reason, where the pool has several. */
void bu_gate_name_rail(const struct bu_campaign_state *campaign,
		       const struct bu_node *node, struct bu_reason *reason);
/* bu_gate_says(gate, node, SOAKS, .number = {5, 25}) */
#define bu_gate_says(gate, node, id, ...)                                              \
	do {                                                                           \
		struct bu_reason bu_says;                                              \
                                                                                       \
		BU_REASON_SET(&bu_says, id, __VA_ARGS__);                              \
		bu_gate_say((gate), (node), &bu_says);                                 \
	} while (0)
/* Sets the reasons of validating nodes that are no candidates yet. */
void bu_gate_say_all(struct bu_gate *gate);

/* report.c. Body of a checks or soak event: verdict, counts, the rows that do not pass.
 * slice_ms: planned length of a slice; BU_UNSAID_INT = no soak. peer: its neighbour or
 * NULL. */
json_t *bu_report_body(const struct bu_checks *report, const char *digest,
		       int64_t slice_ms, const char *peer);
/* Texts of the failed rows; owned. ret_hint: the first hint, borrowed from rows. */
char *bu_report_words(const json_t *rows, const char **ret_hint);

/* thresholds.c. The profile's expectation of a pair. Without bw_min the share of the
 * link comes from data/rates.json, without a MTU from the row of the measured MTU. */
struct bu_expect bu_gate_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_desired_network *rail);
/* The same for this path MTU; 0 = the profile gives none. */
struct bu_expect bu_gate_expect_at(const struct bu_gate *gate,
				   const struct bu_desired_validation *validation,
				   const struct bu_desired_network *rail, int mtu);
/* The RDMA path MTU that fits the network's MTU; 0 = no MTU or no RDMA. */
int bu_gate_path_mtu(const struct bu_desired_network *rail);
/* Sizes of a probe of this rail: the profile's, else by the link's rate. qps: queue
 * pairs at least; 0 = by the link's rate. */
struct bu_sizes bu_gate_sizes(const struct bu_desired_validation *validation,
			      const struct bu_desired_network *rail, int qps);
/* Deadline of one probe: the profile's, else the shorter of its default and the time of
 * a slow probe. */
int64_t bu_gate_deadline_ms(const struct bu_gate *gate,
			    const struct bu_desired_validation *validation,
			    const struct bu_desired_network *rail);
/* Warns of a bw_min below the reject rate of data/rates.json without a bw_reason;
 * owned, NULL = no warning. */
char *bu_gate_bw_warning(const struct bu_gate *gate,
			 const struct bu_desired_validation *validation,
			 const struct bu_desired_network *rail);
/* "KEY=VALUE,..." as an object, as of switch_ports. New reference. */
json_t *bu_gate_settings(const char *text);
/* The `expect` of the checks' work item. New reference. */
json_t *bu_gate_checks_expect(struct bu_gate *gate, const struct bu_node *node,
			      const struct bu_target *target);

/* port.c. A node's port on this rail by the profile, without min_gbps; -1 = the profile
 * gives neither an address nor a port name. */
int bu_gate_port(const struct bu_desired_node *own,
		 const struct bu_desired_network *rail, struct bu_work_rail *ret);
/* The least rate that passes, of one direction. */
double bu_gate_least_gbps(const struct bu_gate *gate,
			  const struct bu_desired_validation *validation,
			  const struct bu_desired_network *rail);
/* expect.fabric of checks/fabric/loops.h; NULL: nothing is looped. New reference. */
json_t *bu_gate_loops(const struct bu_gate *gate, const struct bu_desired_node *own);

/* partners.c. May this proven node be a partner now? With partners = idle not until its
 * cluster has answered that no job runs there. */
int bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* 1 = the node may have jobs of its cluster, which load its links. */
int bu_gate_works(const struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* 1 = the node may have jobs, and was probed less than a minute ago. */
int bu_gate_rests(const struct bu_gate *gate, const struct bu_node *node);

/* met.c. Fills campaign->met, met_pairs, last_met and failed_of. */
void bu_gate_met_open(struct bu_campaign_state *campaign);
void bu_gate_met_close(struct bu_campaign_state *campaign);
/* NULL = the pair was not measured. ret_dir: the direction in which a sends to b. */
struct bu_met *bu_gate_met(const struct bu_campaign_state *campaign, int a, int b,
			   int *ret_dir);
void bu_gate_pairs_drop(struct bu_gate *gate);
/* Probes of the pair without a sound result since the last sound one. */
int bu_gate_failures(const struct bu_pair_log *log);

/* answer.c. Appends a pair, unless the last one is the same. */
void bu_pairs_add(struct bu_pairs *pairs, int a, int b);
/* bu_site.round, .known and .met over the log; arg: the campaign state. */
bu_must int bu_gate_answer(void *arg, struct bu_flow *flows, int count,
			   struct bu_err *err);
enum bu_known bu_gate_known(void *arg, const struct bu_flow *flow);
size_t bu_gate_pairs_met(void *arg, const struct bu_pair **ret);
/* Measurements of a pair on a rail in the present boots of both; NULL = none. ret_dir:
 * the direction in which a sends to b. */
const struct bu_pair_log *bu_gate_log(const struct bu_gate *gate, const char *rail,
				      const struct bu_node *a, const struct bu_node *b,
				      int *ret_place, int *ret_dir);
/* 1 = the log is of this rail, and of this node in its present boot. */
int bu_gate_is_of(const struct bu_pair_log *log, const char *rail,
		  const struct bu_node *node, int *ret_side);
/* The first result from `at` on without doubt in this direction; count = none. */
size_t bu_gate_next_sound(const struct bu_pair_log *log, size_t at, int dir);
/* Copies the figures of a result into the flow. */
void bu_gate_give(const struct bu_measured *measured, int dir, struct bu_flow *flow);
/* Fills campaign->last (nodes that failed with two partners, did not answer, or were
 * slow twice) and slow_probe (nodes whose last probe was slow). */
void bu_gate_put_last(struct bu_campaign_state *campaign);
/* Sorts campaign->tired, fewest failures first. */
void bu_gate_order_tired(struct bu_campaign_state *campaign);
/* The place of the node of this name in the topology; -1 = none. */
int bu_gate_place(const struct bu_topology *topology, const char *name);
/* Makes all measured pairs of this node tired: measured again once a minute. */
void bu_gate_tire(struct bu_campaign_state *campaign, int node);

/* roles.c. Verifies all certificates after a start or an apply, in one or more looks.
 * 1 = some are left for the next look. */
int bu_gate_verify(struct bu_gate *gate);
/* Fills gate->roles for this look; 0 = no node is validating, no test is under way. */
int bu_gate_roles(struct bu_gate *gate);
void bu_gate_roles_drop(struct bu_gate *gate);
/* Place of this rail in the node's pool; -1 = not in the pool. */
int bu_role_place(const struct bu_role *role, const struct bu_desired_network *rail);
int bu_role_proves(const struct bu_role *role, const struct bu_desired_network *rail);

/* campaign_state.c. Runs the campaign as far as results go. 0 = no node is ready. */
int bu_campaign_state_open(struct bu_gate *gate,
			   const struct bu_desired_network *fabric,
			   struct bu_campaign_state *ret);
void bu_campaign_state_close(struct bu_campaign_state *campaign);
/* parts.c. Keeps the topology of this rail; its contents are taken. */
void bu_gate_keep_shape(struct bu_gate *gate, const struct bu_desired_network *rail,
			struct bu_topology *topology);
void bu_gate_shapes_drop(struct bu_gate *gate);
/* NULL = the rail was not looked at since the start or the last apply. */
const struct bu_topology *bu_gate_shape(const struct bu_gate *gate,
					const struct bu_desired_network *rail);

/* rail_ends.c. "rail0", or across rails "rail0/rail1". */
void bu_rail_ends_text(const struct bu_rail_ends *rail, char ret[BU_NAME_MAX]);
/* The network of an end by such a text; NULL = the node is not measured on it. */
const struct bu_desired_network *bu_rail_end(const char *rail, int end,
					     const struct bu_desired_node *want);
/* 1 = flows are traced: the profile gives the addresses of the rail's spines. */
int bu_rail_is_traced(const struct bu_desired_network *rail);
/* The network with the slower link, whose terms hold for the pair. */
const struct bu_desired_network *bu_rail_slower(const struct bu_rail_ends *rail);
/* bu_gate_expect() for all pairs of a rail at once. Without a MTU in the profile the
 * least MTU of the pairs' last sound results counts. */
struct bu_expect bu_gate_expect_all(const struct bu_gate *gate,
				    const struct bu_desired_validation *validation,
				    const struct bu_desired_network *rail);
/* bu_gate_expect() by the slower link and the smaller path MTU. */
struct bu_expect bu_rail_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_rail_ends *rail);
/* The longest deadline of these rails. */
int64_t bu_rails_deadline_ms(const struct bu_gate *gate,
			     const struct bu_desired_validation *validation,
			     const struct bu_rail_ends *rails, size_t count);
/* Sizes of rails that are measured together: all move those of the slowest link.
 * single: one queue pair, whatever the ends want. */
struct bu_sizes bu_rails_sizes(const struct bu_desired_validation *validation,
			       const struct bu_rail_ends *rails, size_t count,
			       int single);

/* incast.c. Ends a complete or late incast, and begins the next. */
void bu_incast_look(struct bu_gate *gate);
void bu_incast_drop(struct bu_gate *gate);
json_t *bu_incast_work(struct bu_gate *gate, const struct bu_node *node);
/* 1 = the id is of the present incast, and the node takes part in it. */
int bu_incast_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		     const json_t *result, const struct bu_err *failure);
/* Remark about a node's last incast; owned, NULL = none. */
char *bu_incast_words(const struct bu_node *node);

/* asks.c. Keeps an ask until bu_gate_start_asked() starts all whose nodes are free.
 * a, b: names. */
void bu_gate_ask_for(struct bu_gate *gate, const char *a, const char *b,
		     const struct bu_rail_ends *rail);
void bu_gate_ask(struct bu_gate *gate, const struct bu_campaign_state *campaign,
		 const struct bu_pairs *pairs);
void bu_gate_start_asked(struct bu_gate *gate);

/* run.c. Runs that a person asked for, beside the campaigns. */
void bu_runs_look(struct bu_gate *gate);
void bu_runs_drop(struct bu_gate *gate);

/* verdicts.c. Certifies, lets in, quarantines or sets reasons for waiting. */
void bu_gate_judge(struct bu_gate *gate, struct bu_campaign_state *campaign);

/* explain.c. Why this node is accused: directions, figures, expectation, witnesses,
 * part to swap; owned. */
char *bu_explain_accused(const struct bu_campaign_state *campaign, int node,
			 const struct bu_accusation *accusation);
/* Why an accused node waits: leaf accused, suspects not told apart, or no third node.
 */
void bu_explain_waiting(const struct bu_campaign_state *campaign, int node,
			const struct bu_accusation *accusation, struct bu_reason *ret);
/* Why a node could not be measured. 0 = no probe of it failed last. */
int bu_explain_unmeasured(const struct bu_campaign_state *campaign, int node,
			  struct bu_reason *ret);

/* cert.c. Events of a full and a boot certificate. -1 = the last results do not pass,
 * or signing failed. */
bu_must int bu_gate_certify(const struct bu_gate *gate, const struct bu_node *node,
			    struct bu_event ret[2], struct bu_err *err);

/* evidence.c. Why a node is quarantined. */
struct bu_charge {
	const struct bu_reason *reason;
	const char *hint;
	/* bu_accusation_to_json(); NULL = accused by checks or an outside verdict */
	const json_t *accusation;
};
/* Quarantines, with evidence and the extra events in the same commit. */
void bu_gate_accuse(struct bu_gate *gate, struct bu_node *node,
		    const struct bu_charge *charge, struct bu_event *extra,
		    size_t count);

#endif
