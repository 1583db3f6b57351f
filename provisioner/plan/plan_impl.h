/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of plan. */
#ifndef BU_PLAN_PLAN_IMPL_H
#define BU_PLAN_PLAN_IMPL_H

#include "model/reason.h"
#include "profiles/export/facets.h"
#include "provisioner/plan/input.h"

/* A name of the profile compared with the known machines. */
enum bu_machine_identity_kind {
	BU_MACHINE_IDENTITY_SAME,     /* the node's own machine, or an unknown one */
	BU_MACHINE_IDENTITY_RENAMED,  /* the machine of a node that left the profile */
	BU_MACHINE_IDENTITY_REPLACED, /* another machine takes the name of a bound node
				       */
	BU_MACHINE_IDENTITY_NOT_NOW, /* refused until another node gives the machine up;
				why names it */
	/* The profile contradicts known machines. Such a revision is not applied: BMCs
	 * and addresses of nodes in service would follow it. */
	BU_MACHINE_IDENTITY_CONFLICT,
};
struct bu_machine_identity {
	enum bu_machine_identity_kind kind;
	const struct bu_node *node; /* the machine's node; NULL = none */
	struct bu_reason why;       /* not set for SAME */
};

/* A node while its step is decided. */
struct bu_plan_node {
	const struct bu_desired_node *want;
	const struct bu_node *node; /* NULL = new in the profile */
	const struct bu_machine_identity *identity;
	const struct bu_plan_image *image;
	struct bu_facets facets; /* desired */
	char digest[65];         /* of the facets */
};

struct bu_decision {
	enum bu_class class; /* NONE = no step; see withdraw */
	int refused;         /* why has the reason */
	int withdraw;        /* the open order is obsolete */
	int waits;           /* an open order with the same target waits for its turn */
	int served;          /* the step changes a node that is in service */
	int renamed;         /* the step gives the node its new name */
	int stays;  /* stays quarantined: the node has all that is desired; why has the
		       reason */
	int adopts; /* the node is adopted as it runs, and gets no step */
	int reset;  /* the machine is on: the order goes on only by a grant */
	int anew;   /* the order under way is withdrawn for this one */
	struct bu_reason why;
	json_t *changes; /* owned; NULL = none */
};

/* decide.c: the second disk of the node's system, by input->mirror; NULL = no mirror,
 * or not known. New reference. */
json_t *bu_plan_mirror(const struct bu_plan_input *input,
		       const struct bu_plan_node *it);
/* decide.c: the disks of the node's array, by input->scratch; NULL = no array. New
 * reference. */
json_t *bu_plan_scratch(const struct bu_plan_input *input,
			const struct bu_plan_node *it);

/* changes.c: the differences between actual and desired, most severe first, the image
 * included: [{"facet","class","old","new","file","line"}]. New reference. */
json_t *bu_plan_changes(const struct bu_plan_input *input,
			const struct bu_plan_node *it);
/* The same between the target of the node's order and desired. */
json_t *bu_plan_content(const struct bu_plan_input *input,
			const struct bu_plan_node *it);
enum bu_class bu_plan_changes_class(const json_t *changes);
/* "pools/train.ini:12 mtu 1500 -> 9000; and 2 more", for people. */
void bu_plan_changes_text(const json_t *changes, char *ret, size_t size);

/* runs.c */
/* 1 = the agent reports files of another order than this revision's. */
int bu_plan_runs_other(const struct bu_plan_node *it);
/* The facets that the node has. have: by the log, NULL = unknown; taken. The agent's
 * report overrules the log. NULL = the reported facets are in no log. New reference. */
json_t *bu_plan_runs_facets(const struct bu_plan_input *input,
			    const struct bu_plan_node *it, json_t *have);
/* Adds files changed on the node, and kernel arguments that the running kernel lacks.
 * Arguments that it has already need no reboot. */
void bu_plan_runs_changes(const struct bu_plan_node *it, json_t *changes);
/* Adds the running kernel where it is not the image's and no step would change it:
 * bu_plan_drift_fields. */
void bu_plan_runs_drift(const struct bu_plan_node *it, json_t *list);

/* machine_identity.c */
/* {"mac 52:54:...": node, "serial x": ..., "bmc y": ...} of all nodes with a machine.
 * New reference. */
json_t *bu_machine_identity_index(const struct bu_plan_input *input);
void bu_machine_identity_find(const struct bu_plan_input *input, const json_t *index,
			      const struct bu_desired_node *want,
			      struct bu_machine_identity *ret);

/* decide.c */
/* 1 = the order under way is to begin anew. */
int bu_plan_restarts(const struct bu_plan_input *input, const struct bu_plan_node *it);
void bu_plan_decide(const struct bu_plan_input *input, const struct bu_plan_node *it,
		    struct bu_decision *ret);
/* For a node without a step: 1 = its open order has not begun and has another target,
 * so ret withdraws it. The order would run by the revision applied at that time. */
int bu_plan_overtakes(const struct bu_plan_node *it, struct bu_decision *ret);

/* needs.c: appends a reason (model/sentence.h) for each program that the node needs and
 * the image lacks. programs: those of the image. */
void bu_plan_needs(const struct bu_desired *desired, const struct bu_desired_node *node,
		   uint32_t programs, json_t *ret);

/* beside.c: adds the node's conditions to "drift". */
void bu_plan_drift(json_t *plan, const struct bu_node *node);
/* Adds to "under_way" the facets of this revision's reach that an order of another
 * revision takes up. */
void bu_plan_under_way(const struct bu_plan_input *input, const struct bu_plan_node *it,
		       json_t *plan);
/* Adds to "reach" each changed facet of how machines are reached. */
void bu_plan_reach(const struct bu_plan_input *input, json_t *plan);

/* input->restart as a hostlist; owned. */
char *bu_plan_restart_text(const struct bu_plan_input *input);
/* Adds nodes of input->restart without an order under way to "warnings". */
void bu_plan_restart_warn(const struct bu_plan_input *input, json_t *plan);

/* policy.c: adds violations of [policy] to "refused", or to "warnings" where the policy
 * only warns. images: by position in desired->images; digest "" = not used. */
void bu_plan_policy(const struct bu_plan_input *input,
		    const struct bu_plan_image *images, json_t *plan);

#endif
