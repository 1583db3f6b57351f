/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: what a Prometheus or an agent says of switch ports. What is taken twice
 * counts nothing below zero and names links of the fabric alone. */
#include <stdint.h>

#include "base/json.h"
#include "provisioner/gate/campaign/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
read_once(struct bu_series *series, const struct bu_topology *shape,
	  const json_t *answer)
{
	struct bu_series_of of = {
		.shape = shape,
		.labels = {.device = "instance", .peer = "ifAlias", .port = "ifName"},
		.sent = 1};
	bu_autojson json_t *links = NULL;
	const json_t *link;
	size_t i;

	bu_series_begin(series);
	if (bu_series_add(series, &of, answer, NULL) != 0 &&
	    bu_series_add_ports(series, shape, json_object_get(answer, "ports"),
				NULL) != 0)
		return;
	bu_ignore(bu_series_check_age(&of, answer, NULL));
	links = bu_series_links(series, &of, NULL);
	json_array_foreach (links, i, link) {
		bu_assert(bu_json_real(link, "errors", -1) >= 0);
		bu_assert(bu_ids_find(&shape->leaf_ids,
				      json_object_get(link, "leaf")) >= 0);
		bu_assert(bu_ids_find(&shape->spine_ids,
				      json_object_get(link, "spine")) >= 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autojson json_t *answer =
		bu_json_parse((const char *)data, size, "input", NULL);
	struct bu_topology shape = {.leaves = 2,
				    .spines = 2,
				    .leaf_ids = {json_array(), json_object()},
				    .spine_ids = {json_array(), json_object()}};
	struct bu_series series = {0};

	bu_ids_place(&shape.leaf_ids, "leaf01");
	bu_ids_place(&shape.leaf_ids, "leaf02");
	bu_ids_place(&shape.spine_ids, "s1");
	bu_ids_place(&shape.spine_ids, "s2");
	for (int i = 0; answer && i < 2; i++)
		read_once(&series, &shape, answer);
	bu_series_fini(&series);
	bu_topology_fini(&shape);
	return 0;
}
