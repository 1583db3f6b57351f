/* SPDX-License-Identifier: Apache-2.0 */
/* What the plan's own files share. */
#ifndef BU_PLAN_PLAN_IMPL_H
#define BU_PLAN_PLAN_IMPL_H

#include "profiles/facets.h"
#include "provisioner/plan/plan.h"

/* One node, while it is decided. */
struct bu_plan_node {
	const struct bu_desired_node *want;
	const struct bu_node *node; /* NULL = new in the profile */
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
	char why[600];
	json_t *changes; /* owned; NULL = none */
};

/* changes.c: what differs between what the node has and should have, most severe first:
 * [{"facet","class","old","new","file","line"}]; image included. New reference. */
json_t *bu_plan_changes(const struct bu_plan_input *input,
			const struct bu_plan_node *it);
enum bu_class bu_plan_changes_class(const json_t *changes);
/* "pools/train.ini:12 mtu 1500 -> 9000; and 2 more", for people. */
void bu_plan_changes_text(const json_t *changes, char *ret, size_t size);

/* decide.c */
void bu_plan_decide(const struct bu_plan_input *input, const struct bu_plan_node *it,
		    struct bu_decision *ret);
/* Of a node that this plan does not change: 1, with the decision to take it back, when
 * it has an order that has not begun and leads elsewhere. It would be carried out with
 * the files of the revision that is applied by then. */
int bu_plan_overtakes(const struct bu_plan_node *it, struct bu_decision *ret);

/* policy.c: adds what the rules of [policy] forbid to "refused" and, where it may
 * pass, to "warnings". images: by position in desired->images; digest "" = not used. */
void bu_plan_policy(const struct bu_plan_input *input,
		    const struct bu_plan_image *images, json_t *plan);

#endif
