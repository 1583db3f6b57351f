/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the switches of an InfiniBand fabric count at the links between them: found by a
 * walk along directed routes and read by performance queries. It blocks, and a driver
 * may hang: it is for a child process.
 */
#ifndef BU_CHECKS_AUDIT_IBFABRIC_H
#define BU_CHECKS_AUDIT_IBFABRIC_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/work.h"

struct bu_ib_fabric {
	const char *device; /* "mlx5_0" */
	int port;
	/* Switches that are asked for: an object of their names, each the description
	 * of the switch, the name in that ("MF0;leaf01:MQM8700/U1") or its GUID. */
	const json_t *names;
	int64_t limit_ms;
};

/* {"ports":[{"switch","peer","port","received","sent"}],"full"?}: errors at each port
 * of one of them that leads to another one, counted up; a switch that does not answer
 * is left out. full: a counter that is at its end. BU_ERR_TIMEOUT, BU_ERR_NOTFOUND: no
 * such device, or no such link; BU_ERR_DENIED; BU_ERR_IO. New reference. */
json_t *bu_ib_fabric_read(const struct bu_ib_fabric *of, struct bu_err *err);
/* The same through the port that a rail names. */
json_t *bu_ib_fabric_read_of(const struct bu_work_rail *rail, const json_t *names,
			     int64_t limit_ms, struct bu_err *err);

#endif
