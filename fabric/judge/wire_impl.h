/* SPDX-License-Identifier: Apache-2.0 */
/* How answers of a model are read, for wire.c and wire_site.c. */
#ifndef BU_FABRIC_JUDGE_WIRE_IMPL_H
#define BU_FABRIC_JUDGE_WIRE_IMPL_H

#include <jansson.h>

#include "fabric/judge/flow.h"

/* The end that sees the event of a counter: senders see missing acknowledgements,
 * receivers see gaps and broken frames. BAD: either end. */
enum bu_wire_counter {
	BU_WIRE_IGNORED,
	BU_WIRE_SENDER,
	BU_WIRE_RECEIVER,
	BU_WIRE_BAD,
};

/* The kind of a counter, by its name. */
enum bu_wire_counter bu_wire_counter(const char *name);
/* wire_path.c. SPINE, [HOP], {"spine" or "spines"} or null; ret: a spine or
 * BU_PATH_... */
bu_must int bu_wire_path(const struct bu_topology *t, const json_t *path,
			 const struct bu_flow *flow, int *ret, struct bu_err *err);
/* The answer itself, or the one list or object in it; NULL = several, or none. */
const json_t *bu_wire_list(const json_t *answer);

#endif
