/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the NVLink domains of a rack. Called by the gate beside bu_cohort_judge().
 * Invariants: no machine is odd in a rack of fewer than three, or without a majority of
 * more than half; a GPU without a domain is not judged.
 */
#include "fabric/judge/domains.h"

#include <string.h>

#include "base/json.h"

enum { LEAST = 3 };

int
bu_domain_is_told(const struct bu_check *row)
{
	return strcmp(row->id, BU_CHECK_GPU_FABRIC) == 0 &&
	       row->verdict == BU_VERDICT_PASS && row->value[0];
}

/* NULL = the row has no domain. Reports from the log have it in `seen` alone. */
static const char *
domain_of(const struct bu_check *row)
{
	const char *value = bu_check_value(row), *dot = strrchr(value, '.');

	return strcmp(row->id, BU_CHECK_GPU_FABRIC) == 0 &&
			       row->verdict == BU_VERDICT_PASS && dot &&
			       !strchr(value, ' ')
		       ? value
		       : NULL;
}

/* The domain, or the domain with its clique. Owned. */
static char *
part_of(const char *value, int clique)
{
	size_t length = strlen(value);

	return bu_xstrndup(value,
			   clique ? length : (size_t)(strrchr(value, '.') - value));
}

struct rack {
	json_t *counts; /* value -> GPUs; new */
	int64_t machines, gpus, many;
	const char *most; /* of counts; NULL = no majority */
};

/* within: counts the cliques of this domain; NULL = counts the domains. */
static void
count_rack(const struct bu_cohort_node *nodes, size_t count, const char *rack,
	   const char *within, struct rack *ret)
{
	const char *value;
	json_t *number;

	*ret = (struct rack){.counts = json_object()};
	for (size_t i = 0; i < count; i++) {
		int told = 0;

		if (strcmp(nodes[i].rack, rack) != 0)
			continue;
		for (size_t k = 0; k < nodes[i].checks->count; k++) {
			const char *is = domain_of(&nodes[i].checks->list[k]);
			bu_autofree char *domain = is ? part_of(is, 0) : NULL;

			if (!is || (within && strcmp(domain, within) != 0))
				continue;
			bu_json_count_up(ret->counts, within ? is : domain);
			ret->gpus++;
			told = 1;
		}
		ret->machines += told;
	}
	json_object_foreach (ret->counts, value, number)
		if (json_integer_value(number) * 2 > ret->gpus &&
		    ret->machines >= LEAST) {
			ret->most = value;
			ret->many = json_integer_value(number);
		}
}

/* part: the domain, or the domain and clique, of the odd GPU. */
static void
fill(const struct bu_cohort_node *node, const struct bu_check *about, const char *part,
     const struct rack *rack, struct bu_check *ret)
{
	*ret = (struct bu_check){.verdict = BU_VERDICT_WARN};
	BU_CHECK_SET(ret->id, "cohort-odd");
	BU_CHECK_SET(ret->group, "audit");
	BU_CHECK_SET(ret->subject, "%s", about->subject);
	BU_CHECK_SET(ret->seen, "%s", part);
	BU_CHECK_SET(ret->expected, "%s", rack->most);
	BU_CHECK_SET(ret->hint,
		     "look at its NVLink cables, and at nvidia-fabricmanager's or "
		     "NMX's partition of the rack; it is intended where the rack was "
		     "partitioned on purpose");
	BU_CHECK_SET(ret->text,
		     "%s of %s is in NVLink %s %s, %lld of %lld GPUs of rack %s in %s",
		     about->subject, node->node,
		     strchr(part, '.') ? "clique" : "domain", part,
		     (long long)rack->many, (long long)rack->gpus, node->rack,
		     rack->most);
}

static void
judge_row(const struct bu_cohort_node *node, const struct bu_check *row,
	  const struct rack racks[2], struct bu_check *ret)
{
	const char *is = domain_of(row);

	ret->id[0] = '\0';
	for (int clique = 0; is && clique < 2 && !ret->id[0]; clique++) {
		bu_autofree char *part = part_of(is, clique);

		if (racks[clique].most && strcmp(part, racks[clique].most) != 0)
			fill(node, row, part, &racks[clique], ret);
	}
}

static void
judge_node(const struct bu_cohort_node *nodes, size_t count,
	   const struct bu_cohort_node *node,
	   void (*found)(const char *node, const struct bu_check *row, void *arg),
	   void *arg)
{
	struct rack racks[2];

	if (!node->rack[0])
		return;
	count_rack(nodes, count, node->rack, NULL, &racks[0]);
	count_rack(nodes, count, node->rack, racks[0].most ? racks[0].most : "",
		   &racks[1]);
	for (size_t k = 0; k < node->checks->count; k++) {
		struct bu_check row;

		judge_row(node, &node->checks->list[k], racks, &row);
		if (row.id[0])
			found(node->node, &row, arg);
	}
	json_decref(racks[0].counts);
	json_decref(racks[1].counts);
}

void
bu_domains_judge(const struct bu_cohort_node *nodes, size_t count, const char *only,
		 void (*found)(const char *node, const struct bu_check *row, void *arg),
		 void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (!only || strcmp(nodes[i].node, only) == 0)
			judge_node(nodes, count, &nodes[i], found, arg);
}
