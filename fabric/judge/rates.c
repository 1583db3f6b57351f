/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and lints expected rates. Called by the gate. Pure but for bu_rates_load().
 * Invariant: each rate that is returned can fail a slow part and pass a healthy one.
 */
#include "fabric/judge/rates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const double vacuous_share = 0.8;

static const struct kind {
	const char *what, *unit;
	double most; /* greatest plausible limit, in unit */
} kinds[] = {
	{"link", "Gbit/s", 3200}, {"p2p", "GB/s", 4000}, {"hbm", "GB/s", 40000},
	{"pcie", "GB/s", 300},    {"c2c", "GB/s", 2000},
};

static const char *const fields[] = {
	"what",    "sku",  "mtu",    "unit",   "line",
	"limit",   "warn", "reject", "mark",   "overhead_bytes",
	"healthy", "date", "source", "waiver", "method"};

static int
check_fields(const json_t *row, struct bu_err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)row, key, value) {
		int known = 0;

		for (size_t i = 0; i < BU_LEN(fields); i++)
			known |= strcmp(fields[i], key) == 0;
		if (!known)
			return bu_err_set(err, BU_ERR_INVAL, 0, "unknown field '%s'",
					  key);
	}
	return 0;
}

static int
check_origin(const json_t *row, struct bu_err *err)
{
	const char *mark = bu_json_str(row, "mark", "");
	const char *date = bu_json_str(row, "date", "");
	int year, month, day, used = 0;

	if (strlen(mark) != 1 || !strchr("STMD", *mark))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'mark': expected S, T, M or D; an "
				  "unverified rate cannot be a default");
	if (sscanf(date, "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 ||
	    used != 10 || date[used])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'date': expected YYYY-MM-DD");
	return 0;
}

static const struct kind *
find_kind(const char *what)
{
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		if (strcmp(kinds[i].what, what) == 0)
			return &kinds[i];
	}
	return NULL;
}

static int
check_units(const struct bu_rate *rate, struct bu_err *err)
{
	const struct kind *kind = find_kind(rate->what);

	if (!kind)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'what': unknown kind '%s'", rate->what);
	if (strcmp(rate->unit, kind->unit) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "field 'unit': expected %s",
				  kind->unit);
	if (!(rate->limit > 0) || rate->limit > kind->most)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field 'limit': above 0 and at most %g %s are plausible",
			kind->most, kind->unit);
	if ((strcmp(rate->what, "hbm") == 0) != (strcmp(rate->method, "copy") == 0))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field 'method': of hbm, expected copy: a figure that "
			"was made in another way judges nothing that is "
			"measured here");
	if ((rate->mtu > 0) != (strcmp(rate->what, "link") == 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'mtu': a link needs one, and only a link");
	return 0;
}

static int
check_framing(const struct bu_rate *rate, const json_t *row, struct bu_err *err)
{
	double line = bu_json_real(row, "line", 0), overhead, limit;

	if (rate->mtu == 0)
		return 0;
	overhead = bu_json_real(row, "overhead_bytes", 0);
	limit = line * rate->mtu / (rate->mtu + overhead);
	if (!(overhead > 0) || fabs(limit - rate->limit) > 0.001 * limit)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field 'limit': line x MTU / (MTU + overhead) is %.1f", limit);
	return 0;
}

/* The limits themselves: reject, healthy and warn. */
static int
check_gate(const struct bu_rate *rate, const json_t *row, struct bu_err *err)
{
	double good = rate->healthy > 0 ? rate->healthy : rate->limit;

	if (!(rate->reject > 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'reject': expected a rate above 0");
	if (rate->healthy > rate->limit)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'healthy': %g is more than the limit of %g",
				  rate->healthy, rate->limit);
	if (rate->reject > good)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'reject': %g rejects healthy ones (%g)",
				  rate->reject, good);
	if (rate->warn > 0 && (rate->warn < rate->reject || rate->warn > rate->limit))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'warn': expected a rate from reject to limit");
	if (rate->reject < vacuous_share * good && !*bu_json_str(row, "waiver", ""))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field 'reject': %g is %.1f %% of what is healthy (%g): a "
			"gate under %.0f %% is vacuous; say why in 'waiver'",
			rate->reject, 100 * rate->reject / good, good,
			100 * vacuous_share);
	return 0;
}

static int
read_rate(const json_t *row, struct bu_rate *ret, struct bu_err *err)
{
	if (!json_is_object(row))
		return bu_err_set(err, BU_ERR_INVAL, 0, "expected an object");
	ret->mtu = (int)bu_json_int(row, "mtu", 0);
	bu_text_copy(ret->method, sizeof(ret->method), bu_json_str(row, "method", ""));
	ret->limit = bu_json_real(row, "limit", 0);
	ret->healthy = bu_json_real(row, "healthy", 0);
	ret->reject = bu_json_real(row, "reject", 0);
	ret->warn = bu_json_real(row, "warn", 0);
	if (check_fields(row, err) != 0 ||
	    bu_json_copy_str(row, "what", ret->what, sizeof(ret->what), err) != 0 ||
	    bu_json_copy_str(row, "sku", ret->sku, sizeof(ret->sku), err) != 0 ||
	    bu_json_copy_str(row, "unit", ret->unit, sizeof(ret->unit), err) != 0 ||
	    bu_json_copy_str(row, "source", ret->source, sizeof(ret->source), err) != 0)
		return -1;
	if (!*ret->source)
		return bu_err_set(err, BU_ERR_INVAL, 0, "field 'source': is empty");
	if (check_origin(row, err) != 0 || check_units(ret, err) != 0 ||
	    check_framing(ret, row, err) != 0)
		return -1;
	return check_gate(ret, row, err);
}

int
bu_rates_from_json(const json_t *value, struct bu_rates *ret, struct bu_err *err)
{
	const json_t *rows = json_object_get(value, "rates");
	struct bu_rates rates = {0};
	size_t i;
	json_t *row;

	if (bu_json_int(value, "format", 0) != 1 || !json_is_array(rows))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "rates: expected {\"format\":1,\"rates\":[...]}");
	rates.list = bu_xcalloc(json_array_size(rows), sizeof(*rates.list));
	json_array_foreach (rows, i, row) {
		struct bu_rate *rate = &rates.list[rates.count];
		const char *sku = bu_json_str(row, "sku", "?");

		if (read_rate(row, rate, err) != 0) {
			bu_rates_fini(&rates);
			return bu_err_wrap(err, "rates: row %zu (%s)", i + 1, sku);
		}
		if (bu_rates_find(&rates, rate->what, rate->sku, rate->mtu)) {
			bu_rates_fini(&rates);
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "rates: row %zu (%s) is there twice", i + 1,
					  sku);
		}
		rates.count++;
	}
	*ret = rates;
	return 0;
}

int
bu_rates_load(const char *path, struct bu_rates *ret, struct bu_err *err)
{
	bu_autojson json_t *value = bu_json_load(path, err);

	if (!value)
		return -1;
	if (bu_rates_from_json(value, ret, err) != 0)
		return bu_err_wrap(err, "%s", path);
	return 0;
}

void
bu_rates_fini(struct bu_rates *rates)
{
	free(rates->list);
	*rates = (struct bu_rates){0};
}

const struct bu_rate *
bu_rates_find(const struct bu_rates *rates, const char *what, const char *sku, int mtu)
{
	for (int i = 0; i < rates->count; i++) {
		const struct bu_rate *rate = &rates->list[i];

		if (strcmp(rate->what, what) == 0 && strcmp(rate->sku, sku) == 0 &&
		    rate->mtu == mtu)
			return rate;
	}
	return NULL;
}
