/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of a Prometheus, one of each switch port, as counters of the links between
 * leaves and spines: the vector of a query in, the answer to `switch` of
 * docs/rehearsal.md out. Pure.
 */
#ifndef BU_GATE_SERIES_H
#define BU_GATE_SERIES_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/topology.h"

/* Labels: whose port it is, where it leads, which one it is. */
struct bu_series_labels {
	const char *device, *peer, *port;
};

/* Zeroed at first. */
struct bu_series {
	json_t *ports;   /* port -> {"link","last","sum","reading"} */
	int64_t reading; /* of how many by now */
	size_t others;   /* series of this one that are of no link, */
	char other[120]; /* and the first of them */
};

/* What is a series of: where they are looked for, and what was asked for. */
struct bu_series_of {
	const struct bu_topology *shape;
	struct bu_series_labels labels;
	int sent; /* what ports sent; 0: what they received */
};

/* One more reading. */
void bu_series_begin(struct bu_series *series);
/* Adds the answer of /api/v1/query to it. Series of other switches are passed over.
 * BU_ERR_INVAL names the series. */
bu_must int bu_series_add(struct bu_series *series, const struct bu_series_of *of,
			  const json_t *answer, struct bu_err *err);
/* Adds what an agent read: [{"switch","peer","port","received","sent"}], which labels
 * name. */
bu_must int bu_series_add_ports(struct bu_series *series,
				const struct bu_topology *shape, const json_t *ports,
				struct bu_err *err);
/* The answer of a query for timestamps below the one that is wanted:
 * BU_ERR_STATE where one of them is of a link. */
bu_must int bu_series_check_age(const struct bu_series_of *of, const json_t *answer,
				struct bu_err *err);
/* [{"leaf","spine","dir","errors"}] of the reading; a link one of whose ports was there
 * before and is missing is left out. BU_ERR_INVAL: there is no link. New reference. */
json_t *bu_series_links(const struct bu_series *series, const struct bu_series_of *of,
			struct bu_err *err);
void bu_series_fini(struct bu_series *series);

#endif
