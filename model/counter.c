/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of port counters, as struct and as JSON: part of a probe's result. Used by
 * the engine that reads them and the judge. Invariant: a count is -1 (not there) or
 * from 0 to 2^62, from any sender.
 */
#include "model/counter.h"

#include <math.h>

#define COUNT_MAX (INT64_C(1) << 62)

static const struct {
	const char *name;
	enum bu_counter_kind kind;
} rows[] = {
#define X(id, name, kind) [BU_COUNTER_##id] = {name, BU_COUNTER_##kind},
	BU_COUNTERS(X)
#undef X
};

static const struct {
	enum bu_counter counter;
	const char *name;
} aliases[] = {
#define X(id, name) {BU_COUNTER_##id, name},
	BU_COUNTER_ALIASES(X)
#undef X
};

const struct bu_field bu_counter_fields[] = {
#define X(id, its_name, kind)                                                          \
	BU_FIELD_AS(its_name, INT, struct bu_counters, count[BU_COUNTER_##id],         \
		    .max = COUNT_MAX, .otherwise = -1, .need = BU_SPARSE),
	BU_COUNTERS(X)
#undef X
		BU_FIELD_END,
};

const char *
bu_counter_name(enum bu_counter counter)
{
	bu_assert(counter < BU_COUNTER_COUNT);
	return rows[counter].name;
}

const char *
bu_counter_alias(enum bu_counter counter, int index)
{
	for (size_t i = 0; i < BU_LEN(aliases); i++)
		if (aliases[i].counter == counter && index-- == 0)
			return aliases[i].name;
	return NULL;
}

enum bu_counter_kind
bu_counter_kind(enum bu_counter counter)
{
	bu_assert(counter < BU_COUNTER_COUNT);
	return rows[counter].kind;
}

double
bu_counter_most(enum bu_counter counter, double seconds)
{
	switch (counter) {
	/* As many again as 120 an hour make in ten minutes: they come in bursts. */
	case BU_COUNTER_SYMBOL_ERROR:
		return 20 + 120.0 / 3600 * seconds;
	case BU_COUNTER_LINK_ERROR_RECOVERY:
		return 5 + 5.0 / 60 * seconds;
	case BU_COUNTER_LINK_DOWNED:
	case BU_COUNTER_LOCAL_LINK_INTEGRITY:
	case BU_COUNTER_BUFFER_OVERRUN:
	case BU_COUNTER_CARRIER_CHANGES:
		return 0;
	default:
		return INFINITY;
	}
}

void
bu_counters_init(struct bu_counters *counters)
{
	bu_record_init(bu_counter_fields, counters);
}

void
bu_counters_since(const struct bu_counters *before, const struct bu_counters *after,
		  struct bu_counters *ret)
{
	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		int64_t was = before->count[i], is = after->count[i];

		ret->count[i] = was < 0 || is < was ? -1 : is - was;
	}
}
