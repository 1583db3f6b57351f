/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the rates of a node's rails in one probe. Called by fabcert.c to sign a
 * certificate and to replay it. Invariant: a sum is of one probe and of every rail of
 * the certificate.
 */
#include "fabric/judge/together.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "fabric/judge/expect.h"
#include "model/result.h"

/* Returns the probe's number of results. ret_gbps: sums sent and received by the
 * node. */
static size_t
sum_of(const char *node, const char *probe, const json_t *results, double ret_gbps[2])
{
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));
	size_t count = 0, i;
	json_t *value;

	ret_gbps[0] = ret_gbps[1] = 0;
	json_array_foreach (results, i, value) {
		int own;

		if (strcmp(bu_json_str(value, "probe", ""), probe) != 0 ||
		    bu_pair_result_from_json(value, result, NULL) != 0)
			continue;
		own = strcmp(result->end[BU_END_A].node, node) != 0;
		ret_gbps[0] += result->dir[own].bw_median_gbps;
		ret_gbps[1] += result->dir[!own].bw_median_gbps;
		count++;
	}
	return count;
}

/* The path MTU of a rail in this probe; 0 = not told. */
static int
mtu_of(const char *rail, const char *probe, const json_t *results)
{
	size_t i;
	json_t *value;

	json_array_foreach (results, i, value)
		if (strcmp(bu_json_str(value, "probe", ""), probe) == 0 &&
		    strcmp(bu_json_str(value, "rail", ""), rail) == 0)
			return (int)bu_json_int(value, "mtu", 0);
	return 0;
}

static double
least_of(const json_t *rails, const char *probe, const json_t *results)
{
	struct bu_expect expect;
	double least = 0;
	size_t i;
	json_t *rail;

	json_array_foreach (rails, i, rail)
		if (bu_expect_from_json(json_object_get(rail, "expect"), &expect,
					NULL) == 0)
			least += bu_expect_min_gbps(
				&expect,
				mtu_of(bu_json_str(rail, "rail", ""), probe, results));
	return least;
}

json_t *
bu_together_of(const char *node, const json_t *rails, const json_t *results)
{
	const char *first = bu_json_str(json_array_get(rails, 0), "rail", "");
	const char *best = NULL;
	double gbps[2], most[2] = {0, 0};
	size_t i;
	json_t *value;

	if (json_array_size(rails) < 2)
		return NULL;
	json_array_foreach (results, i, value) {
		const char *probe = bu_json_str(value, "probe", "");

		if (strcmp(bu_json_str(value, "rail", ""), first) != 0 ||
		    sum_of(node, probe, results, gbps) != json_array_size(rails) ||
		    (best && fmin(gbps[0], gbps[1]) <= fmin(most[0], most[1])))
			continue;
		best = probe;
		memcpy(most, gbps, sizeof(most));
	}
	return best ? json_pack("{s:s,s:f,s:f,s:f}", "probe", best, "sends_gbps",
				most[0], "receives_gbps", most[1], "least_gbps",
				least_of(rails, best, results))
		    : NULL;
}
