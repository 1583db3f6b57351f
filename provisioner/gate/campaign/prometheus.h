/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error counters of a fabric's switches from a Prometheus: asked over HTTP on the event
 * loop, switch_delay after the load. Answers have the form of `switch` in
 * docs/rehearsal.md.
 */
#ifndef BU_GATE_CAMPAIGN_PROMETHEUS_H
#define BU_GATE_CAMPAIGN_PROMETHEUS_H

#include <jansson.h>

#include "base/loop.h"
#include "model/topology.h"
#include "profiles/desired.h"

struct bu_prometheus; /* of one fabric; keeps the counters of each port */

struct bu_prometheus *bu_prometheus_create(struct bu_loop *loop);
/* Ends an ask without a call of fn. Not from a callback. */
void bu_prometheus_destroy(struct bu_prometheus *prometheus);

/* Either answer (borrowed) or err is NULL. */
typedef void (*bu_prometheus_fn)(const json_t *answer, const struct bu_err *err,
				 void *arg);
/* Asks for a reading, one at a time. The network's keys are copied; shape is borrowed
 * until the answer. Calls fn once, from the loop. */
void bu_prometheus_ask(struct bu_prometheus *prometheus,
		       const struct bu_desired_network *network,
		       const struct bu_topology *shape, bu_prometheus_fn fn, void *arg);
/* 1 = asked, and not answered yet. */
int bu_prometheus_is_asked(const struct bu_prometheus *prometheus);

#endif
