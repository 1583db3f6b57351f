/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate's words to a node: checks and their reports, certificates, quarantines with
 * evidence, reasons for waiting.
 */
#ifndef BU_GATE_CERTIFY_CERTIFY_H
#define BU_GATE_CERTIFY_CERTIFY_H

#include "model/check.h"
#include "provisioner/gate/campaign/campaign.h"

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
json_t *bu_gate_checks_work(struct bu_gate *gate, struct bu_node *node);
void bu_gate_checks_result(struct bu_gate *gate, struct bu_node *node, const char *id,
			   const json_t *result, const struct bu_err *failure);
/* The missing part of checks and soak; NONE = nothing. */
void bu_gate_unchecked(const struct bu_gate *gate, const struct bu_node *node,
		       struct bu_reason *ret);

/* node_reason.c. Sets why a node does not go on; NONE = it does. A hold is shown
 * besides. */
void bu_node_reason_set(struct bu_gate *gate, struct bu_node *node,
			const struct bu_reason *reason);
/* The same for one rail. The first of the node's rails with a reason is shown. */
void bu_node_reason_set_of_rail(const struct bu_campaign_state *campaign,
				struct bu_node *node, const struct bu_reason *reason);
/* Adds the rail to a reason, where the pool has several. */
void bu_node_reason_name_rail(const struct bu_campaign_state *campaign,
			      const struct bu_node *node, struct bu_reason *reason);
/* bu_node_reason_make(gate, node, SOAKS, .number = {5, 25}) */
#define bu_node_reason_make(gate, node, id, ...)                                       \
	do {                                                                           \
		struct bu_reason bu_says;                                              \
                                                                                       \
		BU_REASON_SET(&bu_says, id, __VA_ARGS__);                              \
		bu_node_reason_set((gate), (node), &bu_says);                          \
	} while (0)
/* Sets the reasons of validating nodes that are no candidates yet. */
void bu_node_reason_set_all(struct bu_gate *gate);

/* report.c. Body of a checks or soak event: verdict, counts, the rows that do not pass.
 * slice_ms: planned length of a slice; BU_UNSAID_INT = no soak. peer: its neighbour or
 * NULL. */
json_t *bu_report_body(const struct bu_checks *report, const char *digest,
		       int64_t slice_ms, const char *peer);
/* Texts of the failed rows; owned. ret_hint: the first hint, borrowed from rows. */
char *bu_report_words(const json_t *rows, const char **ret_hint);

/* verdicts.c. Certifies, lets in, quarantines or sets reasons for waiting. */
void bu_gate_judge(struct bu_gate *gate, struct bu_campaign_state *campaign);

/* explain.c. Why this node is accused: directions, figures, expectation, witnesses,
 * part to swap. or_leaf: its leaf may be the cause, too. New reference. */
json_t *bu_explain_accused(const struct bu_campaign_state *campaign, int node,
			   const struct bu_accusation *accusation, int or_leaf);
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
