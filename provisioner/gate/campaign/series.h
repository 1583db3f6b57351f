/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error counters of the links between leaves and spines, from one series for each
 * switch port. In: the vector of a Prometheus query, or the ports that an agent read.
 * Out: the answer to `switch` of docs/rehearsal.md. Pure.
 */
#ifndef BU_GATE_CAMPAIGN_SERIES_H
#define BU_GATE_CAMPAIGN_SERIES_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/topology.h"

/* Names of the labels that hold the switch, its peer and the port. */
struct bu_series_labels {
	const char *device, *peer, *port;
};

/* Zero it before the first reading. */
struct bu_series {
	json_t *ports;   /* port -> {"link","last","sum","reading"} */
	int64_t reading; /* number of the present one, from 1 */
	size_t others;   /* series of this reading that are of no link */
	char other[120]; /* the first of these */
};

/* The topology, labels and direction that a query is about. */
struct bu_series_of {
	const struct bu_topology *shape;
	struct bu_series_labels labels;
	int sent; /* 1 = what ports sent, 0 = what they received */
};

/* Begins the next reading. */
void bu_series_begin(struct bu_series *series);
/* Adds the answer of /api/v1/query to the reading. Series of no link are only counted,
 * in others. BU_ERR_INVAL names the series. */
bu_must int bu_series_add(struct bu_series *series, const struct bu_series_of *of,
			  const json_t *answer, struct bu_err *err);
/* Adds the ports that an agent read, with their error counts:
 * [{"switch","peer","port","received","sent"}]. */
bu_must int bu_series_add_ports(struct bu_series *series,
				const struct bu_topology *shape, const json_t *ports,
				struct bu_err *err);
/* answer: of a query for the series that were scraped before the load. BU_ERR_STATE =
 * one of them is of a link. */
bu_must int bu_series_check_age(const struct bu_series_of *of, const json_t *answer,
				struct bu_err *err);
/* [{"leaf","spine","dir","errors"}] of the reading. A link is left out if it lacks a
 * port that an earlier reading had. BU_ERR_INVAL = no link is left. New reference. */
json_t *bu_series_links(const struct bu_series *series, const struct bu_series_of *of,
			struct bu_err *err);
void bu_series_fini(struct bu_series *series);

#endif
