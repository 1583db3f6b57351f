/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan's own files share. */
#ifndef BU_PLAN_PLAN_IMPL_H
#define BU_PLAN_PLAN_IMPL_H

#include "model/reason.h"
#include "profiles/export/facets.h"
#include "provisioner/plan/input.h"

/* How the profile's word on a name and the machines that are known fit together. */
enum bu_identity_kind {
	BU_IDENTITY_SAME,     /* the node's own machine, or one that is not known */
	BU_IDENTITY_RENAMED,  /* the machine of a node that the profile has no more */
	BU_IDENTITY_REPLACED, /* another machine takes the name of a bound node */
	BU_IDENTITY_NOT_NOW,  /* refused until another node lets go; why names it */
	/* The profile contradicts what is known of machines. A revision that does is
	 * not applied: BMCs and addresses of nodes in service would follow it. */
	BU_IDENTITY_CONFLICT,
};
struct bu_identity {
	enum bu_identity_kind kind;
	const struct bu_node *node; /* whose machine it is; NULL = no node's */
	struct bu_reason why;       /* of all kinds but SAME */
};

/* One node, while it is decided. */
struct bu_plan_node {
	const struct bu_desired_node *want;
	const struct bu_node *node; /* NULL = new in the profile */
	const struct bu_identity *identity;
	const struct bu_plan_image *image;
	struct bu_facets facets; /* that it should have */
	char digest[65];         /* of them */
};

struct bu_decision {
	enum bu_class class; /* NONE: nothing to do, unless withdraw */
	int refused;         /* why says it */
	int withdraw;        /* an open order is not wanted any more */
	int waits;           /* in a rollout with the same target */
	int served;          /* the step takes it out of service, or touches it there */
	int renamed;         /* the node has the name from the profile with it */
	int stays; /* quarantined, with all that it should have; why says it */
	int reset; /* its machine is on: only a grant goes on */
	int anew;  /* its order under way is withdrawn for this one */
	struct bu_reason why;
	json_t *changes; /* owned; NULL = none */
};

/* decide.c: the second disk of the node's system, as input->mirror tells it; NULL = it
 * has one, or it is not known. New reference. */
json_t *bu_plan_mirror(const struct bu_plan_input *input,
		       const struct bu_plan_node *it);
/* decide.c: the disks of the node's array, as input->scratch tells them; NULL = it has
 * none. New reference. */
json_t *bu_plan_scratch(const struct bu_plan_input *input,
			const struct bu_plan_node *it);

/* changes.c: what differs between what the node has and should have, most severe first:
 * [{"facet","class","old","new","file","line"}]; image included. New reference. */
json_t *bu_plan_changes(const struct bu_plan_input *input,
			const struct bu_plan_node *it);
/* The same between what its order makes of the node and what it should have. */
json_t *bu_plan_content(const struct bu_plan_input *input,
			const struct bu_plan_node *it);
enum bu_class bu_plan_changes_class(const json_t *changes);
/* "pools/train.ini:12 mtu 1500 -> 9000; and 2 more", for people. */
void bu_plan_changes_text(const json_t *changes, char *ret, size_t size);

/* runs.c */
/* What its agent found lies there by another order than this revision needs. */
int bu_plan_runs_other(const struct bu_plan_node *it);
/* have: what the log says of its facets, NULL = nothing; given away. What was found
 * overrules it. NULL: what it has is in no log. New reference. */
json_t *bu_plan_runs_facets(const struct bu_plan_input *input,
			    const struct bu_plan_node *it, json_t *have);
/* Adds what was changed on the node, and what its kernel does not run with; what the
 * kernel does run with needs no reboot. */
void bu_plan_runs_changes(const struct bu_plan_node *it, json_t *changes);
/* Adds what runs there and no step of a plan would change: bu_plan_drift_fields. */
void bu_plan_runs_drift(const struct bu_plan_node *it, json_t *list);

/* identity.c */
/* {"mac 52:54:...": node, "serial x": ..., "bmc y": ...} of all that hold a machine.
 * New reference. */
json_t *bu_identity_index(const struct bu_plan_input *input);
void bu_identity_find(const struct bu_plan_input *input, const json_t *index,
		      const struct bu_desired_node *want, struct bu_identity *ret);

/* decide.c */
/* Its order under way is to begin anew. */
int bu_plan_restarts(const struct bu_plan_input *input, const struct bu_plan_node *it);
void bu_plan_decide(const struct bu_plan_input *input, const struct bu_plan_node *it,
		    struct bu_decision *ret);
/* Of a node that this plan does not change: 1, with the decision to take it back, when
 * it has an order that has not begun and leads elsewhere: that would be carried out by
 * the revision that is applied by then. */
int bu_plan_overtakes(const struct bu_plan_node *it, struct bu_decision *ret);

/* needs.c: calls fn for each program that the node needs and the image, which has
 * these, lacks: "the image has no sudo, and ..." */
void bu_plan_needs(const struct bu_desired *desired, const struct bu_desired_node *node,
		   uint32_t programs, void (*fn)(const char *text, void *arg),
		   void *arg);

/* beside.c: to "drift" what is not as its state says. */
void bu_plan_drift(json_t *plan, const struct bu_node *node);
/* To "under_way" what an order that goes on by another revision has of this one. */
void bu_plan_under_way(const struct bu_plan_input *input, const struct bu_plan_node *it,
		       json_t *plan);
/* To "reach" what is said anew of how machines are reached. */
void bu_plan_reach(const struct bu_plan_input *input, json_t *plan);

/* input->restart as a hostlist; owned. */
char *bu_plan_restart_text(const struct bu_plan_input *input);
/* To "warnings" those of it that have no order under way. */
void bu_plan_restart_warn(const struct bu_plan_input *input, json_t *plan);

/* policy.c: adds what the rules of [policy] forbid to "refused" and, where it may
 * pass, to "warnings". images: by position in desired->images; digest "" = not used. */
void bu_plan_policy(const struct bu_plan_input *input,
		    const struct bu_plan_image *images, json_t *plan);

#endif
