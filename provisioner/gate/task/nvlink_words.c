/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the results of NVLink tests, for remarks.c. Invariant: one node of a pair is
 * named as bad only if a third node tells which of the two it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/gate/task/nvlink.h"

enum { LEAST = 3 }; /* other measured nodes, to compare with */

/* The share of fabric/judge/cohort.c. */
static const double odd_share = 0.9;

/* --- compared with the others of the domain --- */

static void
add_figures(const struct bu_node *node, const char *id, double *values, int *count,
	    int cap)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);
	size_t i;
	json_t *row;

	json_array_foreach (body ? (json_t *)(uintptr_t)body->rows : NULL, i, row)
		if (*count < cap && strcmp(bu_json_str(row, "id", ""), id) == 0)
			values[(*count)++] = strtod(bu_json_str(row, "seen", ""), NULL);
}

/* Median rate of the other nodes of the domain, in GB/s; 0 = fewer than LEAST were
 * measured. */
static double
median_of(const struct bu_gate *gate, const struct bu_node *node, const char *id)
{
	enum { MANY = 4096 };
	const char *domain = bu_gate_nvlink_domain(node);
	bu_autofree double *values = bu_xcalloc(MANY, sizeof(*values));
	int count = 0, nodes = 0;

	for (size_t i = 0; domain && i < gate->fleet->count; i++) {
		const struct bu_node *other = gate->fleet->nodes[i];
		const char *its = bu_gate_nvlink_domain(other);
		int before = count;

		if (other == node || !its || strcmp(its, domain) != 0)
			continue;
		add_figures(other, id, values, &count, MANY);
		nodes += count > before;
	}
	return nodes < LEAST ? 0 : bu_quantile(values, count, 0.5);
}

/* Names a rate below odd_share of the domain's median; new reference, NULL = none. */
static json_t *
odd_rate(const struct bu_gate *gate, const struct bu_node *node)
{
	static const char *const ids[] = {"nvlink-rate", "nvlink-both"};
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);
	char reached[32];

	for (size_t k = 0; k < BU_LEN(ids); k++) {
		double median = median_of(gate, node, ids[k]);
		size_t i;
		json_t *row;

		snprintf(reached, sizeof(reached), "%.1f", median);
		json_array_foreach ((json_t *)(uintptr_t)body->rows, i, row) {
			const char *seen = bu_json_str(row, "seen", "");

			if (strcmp(bu_json_str(row, "id", ""), ids[k]) == 0 &&
			    strtod(seen, NULL) < odd_share * median)
				return BU_SAID(NVLINK_SLOW,
					       BU_ARG("subject",
						      bu_json_str(row, "subject", "")),
					       BU_ARG_NUMBER("both", k),
					       BU_ARG("seen", seen),
					       BU_ARG("median", reached));
		}
	}
	return NULL;
}

/* --- words --- */

/* Names of the peers with this verdict; new reference. */
static json_t *
names_with(const struct bu_body_nvlink *body, enum bu_verdict verdict)
{
	const char *peer, *wanted = bu_verdict_name(verdict);
	json_t *names = json_array(), *word;

	json_object_foreach ((json_t *)(uintptr_t)body->with, peer, word)
		if (strcmp(bu_json_str(body->with, peer, ""), wanted) == 0)
			json_array_append_new(names, json_string(peer));
	return names;
}

/* 1 = the node is bad with two peers or more, one of them good with another node. */
static int
is_the_one(const struct bu_gate *gate, const struct bu_body_nvlink *body)
{
	const char *peer, *bad = bu_verdict_name(BU_VERDICT_WARN);
	int count = 0, proven = 0;
	json_t *word;

	json_object_foreach ((json_t *)(uintptr_t)body->with, peer, word) {
		const struct bu_node *other = bu_fleet_node(gate->fleet, peer);
		const struct bu_body_nvlink *its =
			other ? bu_gate_nvlink_of(other) : NULL;
		bu_autojson json_t *good =
			its ? names_with(its, BU_VERDICT_PASS) : NULL;

		if (strcmp(bu_json_str(body->with, peer, ""), bad) != 0)
			continue;
		count++;
		proven += json_array_size(good) > 0;
	}
	return count >= 2 && proven > 0;
}

/* Which node of the pair is bad, as far as third nodes tell; new reference, NULL = with
 * no node it is bad. */
static json_t *
third(const struct bu_gate *gate, const struct bu_body_nvlink *body)
{
	bu_autojson json_t *bad = names_with(body, BU_VERDICT_WARN);
	bu_autojson json_t *good = names_with(body, BU_VERDICT_PASS);

	if (!json_array_size(bad))
		return NULL;
	if (json_array_size(good))
		return BU_SAID(NVLINK_OTHER, BU_ARG_SAID("good", json_incref(good)),
			       BU_ARG_SAID("bad", json_incref(bad)));
	return is_the_one(gate, body)
		       ? BU_SAID(NVLINK_THIS, BU_ARG_SAID("bad", json_incref(bad)))
		       : BU_SAID(NVLINK_UNTOLD, BU_ARG_SAID("bad", json_incref(bad)));
}

/* The text of this end's finding or error, else that the other end has one. New
 * reference. */
static json_t *
finding_of(const struct bu_body_nvlink *body)
{
	size_t i;
	json_t *row;

	json_array_foreach ((json_t *)(uintptr_t)body->rows, i, row)
		if (bu_verdict_of(row) == BU_VERDICT_WARN ||
		    bu_verdict_of(row) == BU_VERDICT_FAIL)
			return json_string(bu_json_str(row, "text", ""));
	return *body->error ? json_string(body->error) : BU_SAID_ALONE(NVLINK_FAR);
}

json_t *
bu_gate_nvlink_said(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	if (!body || !bu_gate_nvlink_domain(node))
		return NULL;
	if (body->verdict == BU_VERDICT_INCONCLUSIVE)
		return BU_SAID(NVLINK_UNMEASURED, BU_ARG("node", node->name),
			       BU_ARG("peer", body->peer),
			       BU_ARG("error", body->error));
	if (body->verdict == BU_VERDICT_PASS)
		return odd_rate(gate, node);
	if (!json_object_get(body->with, body->peer))
		return BU_SAID(NVLINK_UNUSABLE, BU_ARG("node", node->name),
			       BU_ARG_SAID("finding", finding_of(body)));
	return BU_SAID(NVLINK_BAD, BU_ARG("node", node->name),
		       BU_ARG("peer", body->peer),
		       BU_ARG_SAID("finding", finding_of(body)),
		       BU_ARG_SAID("which", third(gate, body)));
}
