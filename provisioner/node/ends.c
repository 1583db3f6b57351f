/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the measured pairs by their ends. Filled by measurements.c; asked by the
 * gate for each node of each look. Invariant: a pair is in the list of both of its
 * ends, once.
 */
#include <string.h>

#include "base/intern.h"
#include "provisioner/node/fleet.h"
#include "provisioner/node/measurements.h"

enum { SLOTS_MIN = 64 };

/* The slot of the end, or the empty one for it. name, rail: interned. */
static uint32_t *
slot_of(const struct bu_measurements *measurements, const char *name, const char *rail)
{
	size_t mask = measurements->end_slot_count - 1;
	uint64_t hash = ((uintptr_t)name * UINT64_C(31) + (uintptr_t)rail) *
			UINT64_C(0x9e3779b97f4a7c15);
	size_t at = hash >> 32 & mask;

	for (; measurements->end_slots[at]; at = (at + 1) & mask) {
		const struct bu_pairs_of *end =
			&measurements->ends[measurements->end_slots[at] - 1];

		if (end->name == name && end->rail == rail)
			break;
	}
	return &measurements->end_slots[at];
}

/* At most half of the slots are taken. */
static void
grow_slots(struct bu_measurements *measurements)
{
	if (2 * (measurements->ends_count + 1) <= measurements->end_slot_count)
		return;
	measurements->end_slot_count = measurements->end_slot_count
					       ? 2 * measurements->end_slot_count
					       : SLOTS_MIN;
	free(measurements->end_slots);
	measurements->end_slots = bu_xcalloc(measurements->end_slot_count,
					     sizeof(*measurements->end_slots));
	for (size_t i = 0; i < measurements->ends_count; i++)
		*slot_of(measurements, measurements->ends[i].name,
			 measurements->ends[i].rail) = (uint32_t)i + 1;
}

static struct bu_pairs_of *
add_end(struct bu_measurements *measurements, const char *name, const char *rail)
{
	uint32_t *slot;

	grow_slots(measurements);
	slot = slot_of(measurements, name, rail);
	if (!*slot) {
		measurements->ends = bu_xgrow(
			measurements->ends, &measurements->ends_cap,
			measurements->ends_count + 1, sizeof(*measurements->ends));
		measurements->ends[measurements->ends_count++] =
			(struct bu_pairs_of){.name = name, .rail = rail};
		*slot = (uint32_t)measurements->ends_count;
	}
	return &measurements->ends[*slot - 1];
}

void
bu_measurements_add_end(struct bu_measurements *measurements, const char *name,
			const char *rail, size_t place)
{
	struct bu_pairs_of *end =
		add_end(measurements, bu_intern(name), bu_intern(rail));

	/* The count says how much room there is: a power of two, or more. */
	if ((end->count & (end->count - 1)) == 0)
		end->places =
			bu_xrealloc(end->places, (end->count ? 2 * end->count : 1) *
							 sizeof(*end->places));
	end->places[end->count++] = (uint32_t)place;
}

struct bu_pairs_of
bu_measurements_of(const struct bu_fleet *fleet, const char *name, const char *rail)
{
	const struct bu_measurements *measurements = &fleet->measurements;
	uint32_t end = 0;

	if (measurements->end_slot_count)
		end = *slot_of(measurements, bu_intern(name), bu_intern(rail));
	return end ? measurements->ends[end - 1] : (struct bu_pairs_of){.count = 0};
}
