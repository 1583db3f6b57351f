/* SPDX-License-Identifier: Apache-2.0 */
/* The table of edges, and the walk over it. */
#include "provisioner/node/lifecycle.h"

#include <string.h>

#define EDGE(from, on, to, guard)                                                      \
	{                                                                              \
		BU_STATE_##from, BU_TRIGGER_##on, BU_STATE_##to, BU_GUARD_##guard      \
	}

/* Verbs of a person on a node that is out of its cluster. */
#define OUT_OF_SERVICE(from)                                                           \
	EDGE(from, BOOT, BOOTING, INSTALLED),                                          \
		EDGE(from, VALIDATE, VALIDATING, INSTALLED),                           \
		EDGE(from, RETIRE, RETIRED, NONE), EDGE(from, REPLACE, ENROLLED, NONE)

static const struct bu_edge edges[] = {
	EDGE(ENROLLED, START, INSPECTING, INSTALL),
	EDGE(QUARANTINED, START, INSPECTING, INSTALL),
	EDGE(FAILED, START, INSPECTING, INSTALL),
	EDGE(PARKED, START, INSPECTING, INSTALL),

	EDGE(INSPECTING, INSPECTED, IMAGING, INSTALL),
	EDGE(INSPECTING, LOADS, BOOTING, INSTALL),
	EDGE(INSPECTING, MISFIT, QUARANTINED, NONE),
	EDGE(INSPECTING, REPEAT, INSPECTING, NONE),
	EDGE(INSPECTING, LATE, FAILED, NONE),
	EDGE(INSPECTING, FAULT, FAILED, NONE),
	EDGE(INSPECTING, ABORT, ENROLLED, NONE),
	EDGE(INSPECTING, ABORT_BOOT, BOOTING, INSTALLED),
	EDGE(INSPECTING, RETIRE, RETIRED, NONE),
	EDGE(INSPECTING, REPLACE, ENROLLED, NONE),

	EDGE(IMAGING, IMAGED, BOOTING, NONE),
	EDGE(IMAGING, REPEAT, INSPECTING, NONE),
	EDGE(IMAGING, LATE, FAILED, NONE),
	EDGE(IMAGING, FAULT, FAILED, NONE),
	EDGE(IMAGING, RETIRE, RETIRED, NONE),
	EDGE(IMAGING, REPLACE, ENROLLED, NONE),

	EDGE(BOOTING, BOOTED, VALIDATING, NONE),
	EDGE(BOOTING, REPEAT, BOOTING, NONE),
	EDGE(BOOTING, LATE, FAILED, NONE),
	EDGE(BOOTING, FAULT, FAILED, NONE),
	EDGE(BOOTING, PARK, PARKED, NONE),
	EDGE(BOOTING, SERVICE, SERVICING, INSTALLED),
	EDGE(BOOTING, RETIRE, RETIRED, NONE),
	EDGE(BOOTING, REPLACE, ENROLLED, NONE),

	EDGE(VALIDATING, PROVEN, JOINING, CERTIFIED),
	EDGE(VALIDATING, ACCUSED, QUARANTINED, NONE),
	EDGE(VALIDATING, BOOTED, VALIDATING, NONE),
	EDGE(VALIDATING, LOADS, BOOTING, NONE),
	EDGE(VALIDATING, REPEAT, BOOTING, NONE),
	EDGE(VALIDATING, LATE, FAILED, NONE),
	EDGE(VALIDATING, FAULT, FAILED, NONE),
	EDGE(VALIDATING, PARK, PARKED, NONE),
	EDGE(VALIDATING, SERVICE, SERVICING, NONE),
	OUT_OF_SERVICE(VALIDATING),

	EDGE(JOINING, JOINED, READY, CERTIFIED),
	EDGE(JOINING, BOOTED, VALIDATING, NONE),
	EDGE(JOINING, LOADS, BOOTING, NONE),
	EDGE(JOINING, OUTDATED, DRAINING, NONE),
	EDGE(JOINING, DRAIN, DRAINING, NONE),

	EDGE(READY, REBUILD, DRAINING, ORDERED),
	EDGE(READY, BOOTED, VALIDATING, NONE),
	EDGE(READY, LOADS, BOOTING, NONE),
	EDGE(READY, LOST, JOINING, CERTIFIED),
	EDGE(READY, OUTDATED, DRAINING, NONE),
	EDGE(READY, DRAIN, DRAINING, NONE),

	EDGE(DRAINING, LEFT, INSPECTING, INSTALL),
	EDGE(DRAINING, LEFT_REBOOT, BOOTING, INSTALLED),
	EDGE(DRAINING, LEFT_RESTART, VALIDATING, INSTALLED),
	EDGE(DRAINING, PARK, PARKED, NONE),
	EDGE(DRAINING, SERVICE, SERVICING, NONE),
	EDGE(DRAINING, RETIRE, RETIRED, NONE),
	EDGE(DRAINING, REPLACE, ENROLLED, NONE),
	EDGE(DRAINING, DRAIN, DRAINING, FREE),
	EDGE(DRAINING, BOOTED, DRAINING, NONE),
	EDGE(DRAINING, ABORT, JOINING, CERTIFIED),

	EDGE(PARKED, SERVICE, SERVICING, NONE),
	EDGE(QUARANTINED, SERVICE, SERVICING, INSTALLED),
	EDGE(FAILED, SERVICE, SERVICING, INSTALLED),
	OUT_OF_SERVICE(SERVICING),
	OUT_OF_SERVICE(PARKED),
	OUT_OF_SERVICE(QUARANTINED),
	OUT_OF_SERVICE(FAILED),

	EDGE(ENROLLED, ADOPTED, READY, CERTIFIED),
	EDGE(ENROLLED, ADOPTED_OUT, PARKED, NONE),
	EDGE(ENROLLED, RETIRE, RETIRED, NONE),
	EDGE(RETIRED, REPLACE, ENROLLED, NONE),
};

static const struct bu_trigger_info triggers[] = {
#define X(id, name, fate, flags, help) {name, BU_FATE_##fate, flags, help},
	BU_TRIGGERS(X)
#undef X
		[BU_TRIGGER_COUNT] = {"", BU_FATE_STAYS, 0, ""},
};

const struct bu_edge *
bu_lifecycle_edges(size_t *ret_count)
{
	*ret_count = BU_LEN(edges);
	return edges;
}

const struct bu_trigger_info *
bu_trigger_info(enum bu_trigger trigger)
{
	bu_assert(trigger <= BU_TRIGGER_COUNT);
	return &triggers[trigger];
}

const char *
bu_trigger_name(enum bu_trigger trigger)
{
	return bu_trigger_info(trigger)->name;
}

enum bu_trigger
bu_trigger_from_name(const char *name)
{
	int on = 0;

	while (on < BU_TRIGGER_COUNT && strcmp(triggers[on].name, name) != 0)
		on++;
	return (enum bu_trigger)on;
}

/* The text of what is missing; NULL = the guard holds. */
static const char *
unmet(enum bu_guard guard, const struct bu_guard_facts *facts)
{
	static const char *const refusals[] = {
#define X(id, holds, refusal) refusal,
		BU_GUARDS(X)
#undef X
	};
	const int holds[] = {
		[BU_GUARD_NONE] = 1,
		[BU_GUARD_ORDERED] = facts->ordered,
		[BU_GUARD_INSTALL] = facts->installs,
		[BU_GUARD_CERTIFIED] = facts->certified,
		[BU_GUARD_INSTALLED] = facts->installed,
		[BU_GUARD_FREE] = !facts->begun,
	};

	return holds[guard] ? NULL : refusals[guard];
}

int
bu_lifecycle_has(enum bu_state from, enum bu_trigger on)
{
	for (size_t i = 0; i < BU_LEN(edges); i++)
		if (edges[i].from == from && edges[i].on == on)
			return 1;
	return 0;
}

int
bu_lifecycle_begins(enum bu_state state)
{
	for (size_t i = 0; i < BU_LEN(edges); i++)
		if (edges[i].from == state &&
		    triggers[edges[i].on].fate == BU_FATE_BEGINS)
			return 1;
	return 0;
}

enum bu_trigger
bu_lifecycle_way(enum bu_state from, enum bu_state to)
{
	for (size_t i = 0; i < BU_LEN(edges); i++)
		if (edges[i].from == from && edges[i].to == to)
			return edges[i].on;
	return BU_TRIGGER_COUNT;
}

enum bu_guard
bu_lifecycle_guard(enum bu_state from, enum bu_trigger on)
{
	for (size_t i = 0; i < BU_LEN(edges); i++)
		if (edges[i].from == from && edges[i].on == on)
			return edges[i].guard;
	return BU_GUARD_NONE;
}

int
bu_lifecycle_next(enum bu_state from, enum bu_trigger on,
		  const struct bu_guard_facts *facts, enum bu_state *ret_to,
		  struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(edges); i++) {
		const char *why;

		if (edges[i].from != from || edges[i].on != on)
			continue;
		why = unmet(edges[i].guard, facts);
		if (why)
			return bu_err_set(err, BU_ERR_STATE, 0, "'%s' in state %s: %s",
					  triggers[on].name, bu_state_name(from), why);
		*ret_to = edges[i].to;
		return 0;
	}
	return bu_err_set(err, BU_ERR_STATE, 0, "'%s' has no effect in state %s",
			  triggers[on].name, bu_state_name(from));
}
