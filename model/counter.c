/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of port counters, as struct and as JSON: part of a probe's result. Used by
 * the engine that reads them and the judge. Invariant: a count is -1 (not there) or
 * from 0 to 2^62, whoever sent it.
 */
#include "model/counter.h"

#include "base/json.h"

static const int64_t count_max = INT64_C(1) << 62;

static const struct {
	const char *name;
	enum bu_counter_kind kind;
} rows[] = {
#define X(id, name, kind) [BU_COUNTER_##id] = {name, BU_COUNTER_##kind},
	BU_COUNTERS(X)
#undef X
};

const char *
bu_counter_name(enum bu_counter counter)
{
	bu_assert(counter < BU_COUNTER_COUNT);
	return rows[counter].name;
}

enum bu_counter_kind
bu_counter_kind(enum bu_counter counter)
{
	bu_assert(counter < BU_COUNTER_COUNT);
	return rows[counter].kind;
}

void
bu_counters_init(struct bu_counters *counters)
{
	for (int i = 0; i < BU_COUNTER_COUNT; i++)
		counters->count[i] = -1;
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

int64_t
bu_counters_sum(const struct bu_counters *counters, enum bu_counter_kind kind)
{
	int64_t sum = -1;

	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		if (rows[i].kind != kind || counters->count[i] < 0)
			continue;
		if (sum < 0)
			sum = 0;
		if (sum < count_max)
			sum += counters->count[i];
	}
	return sum;
}

json_t *
bu_counters_to_json(const struct bu_counters *counters)
{
	json_t *value = json_object();

	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		if (counters->count[i] >= 0)
			json_object_set_new(value, rows[i].name,
					    json_integer(counters->count[i]));
	}
	return value;
}

int
bu_counters_from_json(const json_t *value, struct bu_counters *ret, struct bu_err *err)
{
	struct bu_counters counters;

	bu_counters_init(&counters);
	if (value && !json_is_object(value))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "counters: an object is wanted");
	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		const json_t *count = json_object_get(value, rows[i].name);

		if (!count)
			continue;
		if (!json_is_integer(count) || json_integer_value(count) < 0 ||
		    json_integer_value(count) > count_max)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "counter '%s': a whole number of 0 or more "
					  "is wanted",
					  rows[i].name);
		counters.count[i] = json_integer_value(count);
	}
	*ret = counters;
	return 0;
}
