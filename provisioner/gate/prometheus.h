/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a fabric's switches from a Prometheus: asked over HTTP on the event
 * loop, some time after the load, and answered in the words of docs/rehearsal.md.
 */
#ifndef BU_GATE_PROMETHEUS_H
#define BU_GATE_PROMETHEUS_H

#include <jansson.h>

#include "base/loop.h"
#include "model/topology.h"
#include "profiles/desired.h"

struct bu_prometheus; /* of one fabric; it knows each port's counter */

struct bu_prometheus *bu_prometheus_create(struct bu_loop *loop);
/* Nothing is called any more. Not from a callback. */
void bu_prometheus_destroy(struct bu_prometheus *prometheus);

/* One of answer (borrowed) and err is given. */
typedef void (*bu_prometheus_fn)(const json_t *answer, const struct bu_err *err,
				 void *arg);
/* Asks for a reading; the network's keys are copied, shape is borrowed until the
 * answer. One at a time. fn is called once, from the loop. */
void bu_prometheus_ask(struct bu_prometheus *prometheus,
		       const struct bu_desired_network *network,
		       const struct bu_topology *shape, bu_prometheus_fn fn, void *arg);
/* Between asking and the answer. */
int bu_prometheus_is_asked(const struct bu_prometheus *prometheus);

#endif
