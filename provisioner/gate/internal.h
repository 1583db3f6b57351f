/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the gate; gate.c is its clockwork.
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
	/* Probes of a pair that say nothing, one after the other, before it is asked
	 * once a minute only; reports of checks that may not come. */
	BU_GATE_ERRORS = 3,
	BU_GATE_GRACE_MS = 5000, /* over a deadline; for an end that did not come */
	BU_GATE_TAKE_MS = 10000, /* for an end that idles to come for its item */
	BU_GATE_HERE_MS = 3000,  /* an agent that came so long before is there */
	BU_GATE_PORT = 18515,
	BU_GATE_RETESTS = 1000, /* rounds of tests again, and no more */
	BU_GATE_QUICK = 32,     /* of these, the ones without a rest */
	BU_GATE_SLOW_MS = 60000,
	BU_GATE_LEAF_SIZE = 160,
	BU_GATE_BUDGET_MS = 200, /* of a look; after it nothing long is begun */
	BU_GATE_LINK_QPS = 4, /* one takes one cable of a bundle, which several share */
};

/* A pair that a campaign asks for on its rail. */
struct bu_ask {
	char name[2][BU_NAME_MAX]; /* in their order */
	char rail[BU_NAME_MAX];    /* as of a probe */
	int qps, single;           /* as of its ends */
};

/* Once a minute what does not decide goes on: tests that contradict each other, and
 * pairs that gave nothing, by turns with other partners of their nodes. */
enum bu_turn { BU_TURN_NONE, BU_TURN_TIRED, BU_TURN_OTHERS };

struct bu_gate {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const struct bu_trust *trust;
	struct bu_timer *look;
	struct bu_probe *probes;
	json_t *busy;        /* node -> its probe */
	json_t *soaking;     /* node -> {"peer","id","secret"}: whose links it loads */
	json_t *soaked_with; /* node -> the neighbour of its last slice */
	/* What the looks at the rails ask for, until all of them were looked at: a pair
	 * is measured on all rails that ask for it at once. */
	struct bu_ask *asks;
	size_t asks_count, asks_cap;
	struct bu_gate_run *runs;
	struct bu_incast *incast; /* under way; NULL = none */
	struct bu_nvlinks *nvlinks;
	json_t *across;  /* fabric, rail -> [{"text","nodes":{NODE: true}}]: accused */
	int across_seen; /* since the start, and since the last run was over */
	struct bu_switches *switches; /* what they count, by fabric (switches.h) */
	int64_t incast_ms;            /* monotonic: the next one is not begun before */
	const struct bu_clock *stopwatch; /* times the looks */
	int64_t once_ms;    /* of this look: for certificates, signed and verified */
	int looking;        /* at this moment */
	int64_t due_ms;     /* monotonic: when the timer wakes it; 0 = it is not set */
	int64_t rested_ms;  /* before this it does not look */
	size_t next_fabric; /* the round of looks goes on with it */
	int64_t slow_ms;    /* when the next slow turn is due */
	int slow_turns;     /* so far */
	enum bu_turn slow_turn; /* of this round of looks */
	double usual_share; /* of its deadline that a probe takes; 0 = none ended yet */
	uint64_t seed;      /* of the schedule: the site's */
	/* Where nodes hung at the last look, by network of the profile of this digest.
	 */
	struct bu_topology *shapes;
	size_t shapes_count;
	char shapes_of[65];
	struct bu_rates rates;
	json_t *gpus;           /* data/gpus.json; NULL = none */
	json_t *events;         /* of data/events.json, as agents get them */
	struct bu_peers *peers; /* index over all reports; NULL = not made yet */
	/* Of each pair of the log, in the profile of this digest: its network and nodes
	 * there, -1 = it has none of the name. */
	struct bu_gate_pair {
		int network, node[2];
	} * pairs;
	size_t pairs_count, pairs_cap;
	char pairs_of[65];
	struct bu_role *roles; /* by place in the profile; NULL = not of this look */
	size_t verified;       /* nodes of the fleet whose certificates were */
	char verified_of[65];  /* all of them, in the profile of this digest */
};

/* What a node of the profile is to all campaigns. */
struct bu_role {
	struct bu_node *node; /* NULL = not known yet */
	const struct bu_desired_node *want;
	unsigned char ready; /* checked and heard: a candidate, unless certified */
	unsigned char certified, serves, waits;
	unsigned char effort; /* enum bu_effort of a candidate */
	uint64_t proven;      /* rails of its pool that its certificates cover */
};

struct bu_wanted {
	int a, b; /* nodes of the campaign */
};

struct bu_pairs {
	struct bu_wanted *list;
	size_t count, cap;
};

/* Two that met on a rail in their present boots, by their places in the campaign, in
 * the order of their names. */
struct bu_met {
	const struct bu_pair_log *log;
	int end[2];
	int next[2];     /* 1 + the one before it of this end; 0 = none */
	size_t taken[2]; /* results that were given away, per direction */
	int is_tired;
};

/* One rail: a fabric network. All its nodes of the profile keep their places, there or
 * not, so that a round has the same pairs at each look. */
struct bu_campaign_state {
	struct bu_gate *gate;
	const struct bu_desired_network *fabric;
	const struct bu_desired_validation *validation; /* of the first candidate */
	struct bu_expect expect;
	struct bu_topology topology; /* one rail; without addresses of spines */
	struct bu_node **nodes;      /* NULL: in the profile, but not known yet */
	const struct bu_role **role;
	unsigned char *candidate, *trusted, *absent, *effort, *busy, *last, *slow_probe;
	int candidates, partners;
	int unlent;   /* could be partners, but their pools do not lend them now */
	int unproven; /* in service, but not measured on this rail since it is there */
	struct bu_met *met;        /* met.c */
	struct bu_pair *met_pairs; /* the same, as the campaign asks for them */
	size_t met_count;
	int *last_met; /* of each node: 1 + its last one in met; 0 = none */
	/* What was found of the pair that was asked for last: its directions are asked
	 * for one after the other. */
	struct bu_found {
		int a, b, dir;
		struct bu_met *met; /* NULL = there is nothing */
	} found;
	struct bu_pairs wanted; /* without the result that is asked for */
	struct bu_pairs tired;  /* gave nothing so often that they are asked seldom */
	int *tired_of;          /* such pairs of each node */
	int *failed_of;         /* pairs of each node whose last probe gave nothing */
	unsigned char *tired_doubt; /* BU_DOUBT_... of these */
	struct bu_report report;
	int over; /* the campaign has no more questions */
	int slow; /* its tests do not decide: it goes on once a minute */
};

/* parts.c. The switch of this rail that a node is cabled to; place: the node's in the
 * rail's order. 0 = it is not known, and nodes of a rack are taken together. */
int bu_gate_leaf(const struct bu_node *node, const struct bu_desired_network *rail,
		 const struct bu_desired_node *want, int place,
		 char ret[BU_GATE_LEAF_SIZE]);
/* The rail with the slowest links; of a pool that has one. */
const struct bu_desired_network *bu_gate_slowest(const struct bu_desired_pool *pool);
/* Was its agent heard a moment ago? */
int bu_gate_hears(const struct bu_gate *gate, const struct bu_node *node);
/* It looks then, if not before. */
void bu_gate_wake_at(struct bu_gate *gate, int64_t at_ms);

/* hold.c. Lemons, words of outside systems, nodes that waited too long. */
void bu_gate_hold(struct bu_gate *gate);

/* compare_peers.c */
/* What of a report is compared with those of other machines. New reference. */
json_t *bu_gate_facts(const struct bu_checks *report);
/* Adds rows for what is odd beside the machines that should be like it. */
void bu_gate_compare(struct bu_gate *gate, const struct bu_node *node,
		     struct bu_checks *report);
void bu_gate_peers_drop(struct bu_gate *gate);
/* checks.c. 1 = its checks or a slice of its soak are asked for, in this item. */
int bu_gate_checks_asked(const struct bu_gate *gate, const struct bu_node *node,
			 char ret_id[BU_NAME_SIZE]);
/* That item; with a slice its neighbour is chosen, and kept for its report. */
json_t *bu_gate_checks_work(struct bu_gate *gate, const struct bu_node *node);
void bu_gate_checks_result(struct bu_gate *gate, struct bu_node *node, const char *id,
			   const json_t *result, const struct bu_err *failure);
/* Checked in this boot, without a fault; soaked, where the profile asks for it. */
int bu_gate_is_checked(const struct bu_gate *gate, const struct bu_node *node);
/* What of that is missing; NONE = nothing. */
void bu_gate_unchecked(const struct bu_gate *gate, const struct bu_node *node,
		       struct bu_reason *ret);

/* soak.c. A report of this boot is there. */
int bu_gate_has_checks(const struct bu_node *node);
/* 0 = it has soaked, or need not. */
int64_t bu_gate_soak_left_ms(const struct bu_gate *gate, const struct bu_node *node);
/* The work item by which it loads the links of a neighbour that soaks, too;
 * NULL: there is none. New reference. */
json_t *bu_gate_soak_link(struct bu_gate *gate, const struct bu_node *node);

/* The neighbour of its present slice; NULL = it has none. */
const char *bu_gate_soak_peer(const struct bu_gate *gate, const struct bu_node *node);
/* Changed payload fails where enough neighbours show that it is this machine. */
void bu_gate_soak_accuse(const struct bu_gate *gate, const struct bu_node *node,
			 struct bu_checks *report);

/* say.c. Why it does not go on; NONE: it does. Held nodes say their hold besides. */
void bu_gate_say(struct bu_gate *gate, struct bu_node *node,
		 const struct bu_reason *reason);
/* The same of one rail of it: the first rail that has something to say is heard. */
void bu_gate_say_of_rail(const struct bu_campaign_state *campaign, struct bu_node *node,
			 const struct bu_reason *reason);
/* Names the rail in a reason, where the node has several. */
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
/* Of all that are validating and no candidates. */
void bu_gate_say_all(struct bu_gate *gate);

/* report.c. Body of an event: verdict, counts, the rows that do not pass. slice_ms: of
 * a soak, how long it was to be; BU_UNSAID_INT = it is none; peer: of a soak, or NULL.
 */
json_t *bu_report_body(const struct bu_checks *report, const char *digest,
		       int64_t slice_ms, const char *peer);
/* What fails, in its own words; owned. ret_hint: what to do first, borrowed from rows.
 */
char *bu_report_words(const json_t *rows, const char **ret_hint);

/* thresholds.c. What the profile expects of a pair; where it gives no share of the
 * link, the row of data/rates.json does, and without a MTU the one of the MTU that was
 * measured. */
struct bu_expect bu_gate_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_desired_network *rail);
/* The same, but for this path MTU; 0 = the profile says none. */
struct bu_expect bu_gate_expect_at(const struct bu_gate *gate,
				   const struct bu_desired_validation *validation,
				   const struct bu_desired_network *rail, int mtu);
/* The path MTU that the network's has room for; 0 = it says none. */
int bu_gate_path_mtu(const struct bu_desired_network *rail);
/* What a probe of this rail moves: from its link, where the profile does not say; by so
 * many queue pairs at least (0 = as the link wants). */
struct bu_sizes bu_gate_sizes(const struct bu_desired_validation *validation,
			      const struct bu_desired_network *rail, int qps);
/* Of one probe: as the profile says, else as long as a slow one takes. */
int64_t bu_gate_deadline_ms(const struct bu_gate *gate,
			    const struct bu_desired_validation *validation,
			    const struct bu_desired_network *rail);
/* Why a pair may pass that the table rejects, though no reason was given; owned, NULL =
 * all is well. */
char *bu_gate_bw_warning(const struct bu_gate *gate,
			 const struct bu_desired_validation *validation,
			 const struct bu_desired_network *rail);
/* {NETWORK: "leaf01:swp3"} of a node's switch_ports. New reference. */
json_t *bu_gate_settings(const char *text);
/* What its checks expect of a machine. New reference. */
json_t *bu_gate_checks_expect(struct bu_gate *gate, const struct bu_node *node,
			      const struct bu_target *target);

/* port.c. A node's port on this rail, as the profile says, without its least rate; -1
 * when it has neither a name nor an address there. */
int bu_gate_port(const struct bu_desired_node *own,
		 const struct bu_desired_network *rail, struct bu_work_rail *ret);
/* Of a direction. */
double bu_gate_least_gbps(const struct bu_gate *gate,
			  const struct bu_desired_validation *validation,
			  const struct bu_desired_network *rail);
/* expect.fabric of checks/fabric/loops.h; NULL: nothing is looped. New reference. */
json_t *bu_gate_loops(const struct bu_gate *gate, const struct bu_desired_node *own);

/* partners.c. May this proven node be a partner now? Says no as long as its cluster was
 * not asked, and asks. */
int bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* It may have jobs of its cluster: what it shows of a link is theirs, too. */
int bu_gate_works(const struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* It has jobs, and was measured a moment ago. */
int bu_gate_rests(const struct bu_gate *gate, const struct bu_node *node);

/* met.c. Fills campaign->met and failed_of, by its topology and roles. */
void bu_gate_met_open(struct bu_campaign_state *campaign);
void bu_gate_met_close(struct bu_campaign_state *campaign);
/* NULL = they did not meet; dir: in which direction of it a sends to b. */
struct bu_met *bu_gate_met(const struct bu_campaign_state *campaign, int a, int b,
			   int *ret_dir);
void bu_gate_pairs_drop(struct bu_gate *gate);
/* Probes of the pair that said nothing, since the last one that did. */
int bu_gate_failures(const struct bu_pair_log *log);

/* answer.c */
void bu_pairs_add(struct bu_pairs *pairs, int a, int b);
/* bu_site.round, .known and .met over the log; arg: the campaign state. */
bu_must int bu_gate_answer(void *arg, struct bu_flow *flows, int count,
			   struct bu_err *err);
enum bu_known bu_gate_known(void *arg, const struct bu_flow *flow);
size_t bu_gate_pairs_met(void *arg, const struct bu_pair **ret);
/* What was measured on a rail between these two in their present boots, NULL = nothing;
 * dir: in which direction of it a sends to b. */
const struct bu_pair_log *bu_gate_log(const struct bu_gate *gate, const char *rail,
				      const struct bu_node *a, const struct bu_node *b,
				      int *ret_place, int *ret_dir);
/* Is the log of this rail, and one of its ends in its present boot this node? */
int bu_gate_is_of(const struct bu_pair_log *log, const char *rail,
		  const struct bu_node *node, int *ret_side);
/* The first result from `at` on that says something of this direction; count = none. */
size_t bu_gate_next_sound(const struct bu_pair_log *log, size_t at, int dir);
/* The figures of a result, as what the flow measured. */
void bu_gate_give(const struct bu_measured *measured, int dir, struct bu_flow *flow);
/* A node that gave nothing with two partners, did not even say so, or was slow twice
 * comes after all others; and one whose last probe was slow. */
void bu_gate_put_last(struct bu_campaign_state *campaign);
/* Those that failed least are first. */
void bu_gate_order_tired(struct bu_campaign_state *campaign);
/* The place of a node in the topology, by its name; -1 when it has none. */
int bu_gate_place(const struct bu_topology *topology, const char *name);
/* All pairs of this node that were measured are so again, once a minute. */
void bu_gate_tire(struct bu_campaign_state *campaign, int node);

/* roles.c. After a start or an apply. 1 = more certificates than fit in a look are to
 * be verified. */
int bu_gate_verify(struct bu_gate *gate);
/* Fills gate->roles for this look; 0 = no node is validating. */
int bu_gate_roles(struct bu_gate *gate);
void bu_gate_roles_drop(struct bu_gate *gate);
/* Place of this rail among those of its pool; -1 = it is none of them. */
int bu_role_place(const struct bu_role *role, const struct bu_desired_network *rail);
int bu_role_proves(const struct bu_role *role, const struct bu_desired_network *rail);

/* campaign_state.c. Runs the campaign as far as results go. 0 = there is no candidate.
 */
int bu_campaign_state_open(struct bu_gate *gate,
			   const struct bu_desired_network *fabric,
			   struct bu_campaign_state *ret);
void bu_campaign_state_close(struct bu_campaign_state *campaign);
/* parts.c. Keeps where nodes hang on this rail, and takes it over. */
void bu_gate_keep_shape(struct bu_gate *gate, const struct bu_desired_network *rail,
			struct bu_topology *topology);
void bu_gate_shapes_drop(struct bu_gate *gate);
/* NULL = it was not looked at since the start or the last apply. */
const struct bu_topology *bu_gate_shape(const struct bu_gate *gate,
					const struct bu_desired_network *rail);

/* rail_ends.c. "rail0", or across rails "rail0/rail1". */
void bu_rail_ends_text(const struct bu_rail_ends *rail, char ret[BU_NAME_MAX]);
/* The network of this end of such a text; NULL = the node is not measured there. */
const struct bu_desired_network *bu_rail_end(const char *rail, int end,
					     const struct bu_desired_node *want);
/* Its flows are traced: each takes one spine, and the profile says which addresses
 * those have. */
int bu_rail_is_traced(const struct bu_desired_network *rail);
/* Its terms are those of the slower link. */
const struct bu_desired_network *bu_rail_slower(const struct bu_rail_ends *rail);
/* As of bu_gate_expect(), for all pairs of a rail at once: without a MTU in the profile
 * by the least that their sound ones have. */
struct bu_expect bu_gate_expect_all(const struct bu_gate *gate,
				    const struct bu_desired_validation *validation,
				    const struct bu_desired_network *rail);
/* As of bu_gate_expect(): the slower link's, and the smaller path MTU. */
struct bu_expect bu_rail_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_rail_ends *rail);
/* The slowest one's. */
int64_t bu_rails_deadline_ms(const struct bu_gate *gate,
			     const struct bu_desired_validation *validation,
			     const struct bu_rail_ends *rails, size_t count);
/* Rails that are measured together move the same: what the slowest link carries in its
 * time. single: by one queue pair, whatever the ends want. */
struct bu_sizes bu_rails_sizes(const struct bu_desired_validation *validation,
			       const struct bu_rail_ends *rails, size_t count,
			       int single);

/* incast.c. Ends and begins incasts. */
void bu_incast_look(struct bu_gate *gate);
void bu_incast_drop(struct bu_gate *gate);
json_t *bu_incast_work(struct bu_gate *gate, const struct bu_node *node);
/* 1 = the id is that of the incast, and the node is in it. */
int bu_incast_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		     const json_t *result, const struct bu_err *failure);
/* What people should hear of a node's last incast; owned, NULL = nothing. */
char *bu_incast_words(const struct bu_node *node);

/* asks.c. Kept until all rails were looked at; then what can be started is. a and b:
 * names. */
void bu_gate_ask_for(struct bu_gate *gate, const char *a, const char *b,
		     const struct bu_rail_ends *rail);
void bu_gate_ask(struct bu_gate *gate, const struct bu_campaign_state *campaign,
		 const struct bu_pairs *pairs);
void bu_gate_start_asked(struct bu_gate *gate);

/* run.c. Pairs that a person wants measured, beside the campaigns. */
void bu_runs_look(struct bu_gate *gate);
void bu_runs_drop(struct bu_gate *gate);

/* verdicts.c. Certificates and proven nodes, accusations, reasons for waiting. */
void bu_gate_judge(struct bu_gate *gate, struct bu_campaign_state *campaign);

/* explain.c. Owned texts. */
/* Why this node is accused: halves, figures, expectation, witnesses, what to swap. */
char *bu_explain_accused(const struct bu_campaign_state *campaign, int node,
			 const struct bu_accusation *accusation);
/* Why it waits: it is one of several that no test tells apart, or its leaf is accused.
 */
void bu_explain_waiting(const struct bu_campaign_state *campaign, int node,
			const struct bu_accusation *accusation, struct bu_reason *ret);
/* Why it could not be measured. 0 = nothing went wrong. */
int bu_explain_unmeasured(const struct bu_campaign_state *campaign, int node,
			  struct bu_reason *ret);

/* cert.c. Events of a full and a boot certificate; -1 and nothing when it cannot be:
 * its last results do not pass, or there is no signature. */
bu_must int bu_gate_certify(const struct bu_gate *gate, const struct bu_node *node,
			    struct bu_event ret[2], struct bu_err *err);

/* evidence.c. Why a node goes out: for people, and in codes and figures. */
struct bu_charge {
	const struct bu_reason *reason;
	const char *hint;
	/* bu_accusation_to_json(); NULL = its checks or an outside word tell */
	const json_t *accusation;
};
/* Quarantines, with the evidence in the same commit. */
void bu_gate_accuse(struct bu_gate *gate, struct bu_node *node,
		    const struct bu_charge *charge, struct bu_event *extra,
		    size_t count);

#endif
