/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the expectation of GPU checks from a row of data. Called by the gate. */
#include "fabric/judge/gpus.h"

#include <string.h>

#include "base/json.h"

/* Rates of a row, and the member of the expectation that each becomes. */
static const struct {
	const char *what, *member;
} kinds[] = {{"host", "pcie_gbs"}, {"p2p", "p2p_gbs"}, {"hbm", "hbm_gbs"}};

enum { HOST = 0, P2P = 1 };

static const char *const copied[] = {"vendor",   "names",      "memory_bytes",
				     "nvlinks",  "xgmi_links", "fabric",
				     "pcie_gen", "pcie_width"};

/* The rate that a row names: p2p "H100 HGX-8", host "pcie gen5-x16" or "c2c grace".
 * NULL = none. */
static const struct bu_rate *
figure(const json_t *row, size_t kind, const struct bu_rates *rates)
{
	const char *what = kinds[kind].what, *sku = bu_json_str(row, what, "");
	size_t length = strcspn(sku, " ");
	char name[8] = "";

	if (strcmp(what, "host") == 0 && length < sizeof(name)) {
		memcpy(name, sku, length);
		sku += length + strspn(sku + length, " ");
		what = name;
	}
	return bu_rates_find(rates, what, sku, 0);
}

/* Where reads from the GPU have a rate of their own, rates.json has a row SKU-d2h. */
static void
add_to_host(json_t *expect, const json_t *row, const struct bu_rates *rates)
{
	const struct bu_rate *from = figure(row, HOST, rates), *to;
	bu_autofree char *sku = NULL;

	if (!from)
		return;
	sku = bu_xasprintf("%s-d2h", from->sku);
	to = bu_rates_find(rates, from->what, sku, 0);
	if (to)
		json_object_set_new(expect, "d2h_gbs", json_real(to->reject));
}

static int
check_row(const json_t *row, const struct bu_rates *rates, struct bu_err *err)
{
	const char *model = bu_json_str(row, "model", "");

	if (!*model || !*bu_json_str(row, "board", "") ||
	    !json_array_size(json_object_get(row, "names")) ||
	    bu_json_int(row, "memory_bytes", 0) <= 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU '%s': model, board, names and memory_bytes are "
				  "needed",
				  model);
	if (strlen(bu_json_str(row, "source", "")) < 10 ||
	    strlen(bu_json_str(row, "date", "")) != 10)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU '%s': a source and its date are needed", model);
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		const char *sku = bu_json_str(row, kinds[i].what, "");

		if (strcmp(sku, "unknown") != 0 && !figure(row, i, rates))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "GPU '%s': no rate %s '%s'; unknown is "
					  "allowed",
					  model, kinds[i].what, sku);
	}
	return 0;
}

int
bu_gpus_check(const json_t *gpus, const struct bu_rates *rates, struct bu_err *err)
{
	const json_t *rows = json_object_get(gpus, "gpus");
	size_t i;
	json_t *row;

	if (bu_json_int(gpus, "format", 0) != 1 || !json_array_size(rows))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "GPU models: 'format' must be 1 and 'gpus' a list");
	json_array_foreach (rows, i, row)
		if (check_row(row, rates, err) != 0)
			return -1;
	return 0;
}

/* The row with this number of GPUs, else the row of the model without a number. */
static const json_t *
find(const json_t *gpus, const char *model, int count)
{
	const json_t *other = NULL;
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(gpus, "gpus"), i, row) {
		int64_t its = bu_json_int(row, "gpus", 0);

		if (strcmp(bu_json_str(row, "model", ""), model) != 0)
			continue;
		if (its == count)
			return row;
		if (!its)
			other = row;
	}
	return other;
}

/* Adds the limit of all NVLinks of a GPU, and the sum that they must reach: the same
 * share of the limit as one pair must reach. NVSwitches do not block, and GPUs that are
 * wired to each other have links of their own for each pair. */
static void
add_sum(json_t *expect, const json_t *row, const struct bu_rate *pair)
{
	double most =
		bu_json_real(row, "link_gbs", 0) * bu_json_real(row, "nvlinks", 0);

	if (most <= 0)
		return;
	json_object_set_new(expect, "p2p_limit_gbs", json_real(most));
	if (pair && pair->limit > 0)
		json_object_set_new(expect, "p2p_all_gbs",
				    json_real(most * pair->reject / pair->limit));
}

json_t *
bu_gpus_expect(const json_t *gpus, const struct bu_rates *rates, const char *model,
	       int count, struct bu_err *err)
{
	const json_t *row = model ? find(gpus, model, count) : NULL;
	json_t *expect;

	if (model && !row) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no GPU model '%s' in the data",
			   model);
		return NULL;
	}
	expect = json_pack("{s:i}", "count", count);
	for (size_t i = 0; i < BU_LEN(copied); i++)
		if (json_object_get(row, copied[i]))
			json_object_set(expect, copied[i],
					json_object_get(row, copied[i]));
	if (row && !json_object_get(row, "vendor"))
		json_object_set_new(expect, "measure", json_true());
	for (size_t i = 0; row && i < BU_LEN(kinds); i++) {
		const struct bu_rate *rate = figure(row, i, rates);

		if (rate)
			json_object_set_new(expect, kinds[i].member,
					    json_real(rate->reject));
	}
	if (row) {
		add_to_host(expect, row, rates);
		add_sum(expect, row, figure(row, P2P, rates));
	}
	return expect;
}

void
bu_gpus_divide(json_t *expect, int instances, double memory_share)
{
	/* Rates that an instance cannot reach, or without a published figure. */
	static const char *const gone[] = {"pcie_gbs",      "d2h_gbs",     "p2p_gbs",
					   "p2p_limit_gbs", "p2p_all_gbs", "nvlinks"};
	double hbm_gbs = bu_json_real(expect, "hbm_gbs", 0) * memory_share;

	for (size_t i = 0; i < BU_LEN(gone); i++)
		json_object_del(expect, gone[i]);
	json_object_del(expect, "hbm_gbs");
	if (hbm_gbs > 0)
		json_object_set_new(expect, "hbm_gbs", json_real(hbm_gbs));
	if (instances > 0) {
		json_object_set_new(expect, "mig", json_true());
		json_object_set_new(expect, "mig_instances", json_integer(instances));
	}
}
